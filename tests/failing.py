"""Failures on purpose: engines on chosen rows, and files that grow beyond some bytes."""

import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection

from batchsolve.engines import get_engine


def is_first(path):
    """Return True to the first process that asks; it makes a file."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        return True
    return False


class Failing:
    """Dancing links that fail on every task with a stack whose first option is marked."""

    def __init__(self, marked, how, once=None):
        self.marked, self.how, self.once = set(marked), how, once
        vars(self).update(vars(get_engine("dlx")), name="failing")

    def for_run(self, shared=False):
        return self

    def search(self, problem, task):
        if any(len(stack) and int(stack[0]) in self.marked for stack in task.stacks):
            self.fail()
        return get_engine("dlx").search(problem, task)

    def fail(self):
        if self.once is not None and not is_first(self.once):
            return
        if self.how in ("kill", "terminate"):
            os.kill(os.getpid(), signal.SIGKILL if self.how == "kill" else signal.SIGTERM)
        raise self.how if isinstance(self.how, Exception) else RuntimeError("a bug in the search")


class KillsWhereItIsBrought:
    """Work that kills the first process that unpickles it."""

    def __init__(self, work, once):
        self.work, self.once = work, once

    def __reduce__(self):
        return _brought, (self.work, self.once)


def _brought(work, once):
    if is_first(once):
        os.kill(os.getpid(), signal.SIGKILL)
    return work


class HalfAnswered:
    """Work whose first worker dies after half of its answer is written, while it holds the lock."""

    def __init__(self, once):
        self.once = once

    def __call__(self, task):
        if is_first(self.once):
            Connection._send = die_halfway
        return bytes(100_000)


def die_halfway(connection, data):
    whole = len(data) < 1000  # a header: the length of the data that follow
    os.write(connection.fileno(), bytes(data)[: None if whole else len(data) // 2])
    if not whole:
        os.kill(os.getpid(), signal.SIGKILL)


def with_small_files(most, *words, **how):
    """Run Python with these words in a process that writes no file of more bytes than these."""
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))
    # -B: within that limit Python would write compiled modules in part, for all that come after
    command = [sys.executable, "-B", *words]
    return subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, **how)
