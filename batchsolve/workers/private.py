"""All code that uses undocumented parts of joblib, Dask and Ray.

A new version may change them without notice. tests/workers/test_private.py lists them and looks
for them in the installed versions; the reason for each stands where it is used. Names with a
leading underscore in this file are those of the libraries.
"""

from __future__ import annotations

import os
import signal
import weakref
from contextlib import suppress
from multiprocessing import util
from multiprocessing.connection import wait
from typing import Any

from joblib.externals.loky import ProcessPoolExecutor

BEFORE_QUEUES = 20  # a priority at exit; queues are closed later, with priority 10


BEFORE_QUEUES = 20  # a priority at exit; queues are closed later, with priority 10


class Executor(ProcessPoolExecutor):
    """An executor of loky, which joblib brings along; it ends at exit."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        util.Finalize(self, end_at_exit, [weakref.ref(self)], exitpriority=BEFORE_QUEUES)

    def kill_workers(self) -> None:
        """Kill the workers; loky notices."""
        for process in list(self._processes.values()):
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)

    def kill(self) -> None:
        """Kill the workers; all calls fail.

        loky's own way fails in its thread if a call is handed out at the same time.
        """
        self.kill_workers()
        self.shutdown()


def end_at_exit(reference: weakref.ref[Executor]) -> None:
    """End workers; a process that `multiprocessing` has started would wait for them for ever.

    loky ends them too, but only after that wait.
    """
    executor = reference()
    if executor is not None:
        executor.kill()


def is_broken(executor: Any) -> bool:
    """Return True if an executor takes no more calls."""
    return executor._flags.broken is not None or executor._flags.shutdown


def waits_for_the_dead(executor: Any) -> bool:
    """Return True if a worker of loky died or the executor broke, but its thread goes on.

    loky misses the death of a worker that held a lock or had sent half of a result.
    """
    manager = executor._executor_manager_thread
    if manager is None or not manager.is_alive():
        return False
    if executor._flags.broken is not None:
        return True
    with suppress(OSError):  # loky has just noticed a death, and closed a sentinel
        return bool(wait([process.sentinel for process in list(executor._processes.values())], 0))
    return False


def end_wait(executor: Any) -> None:
    """Kill the other workers of loky, and close the ends of pipes that keep threads waiting."""
    executor.kill_workers()
    with suppress(OSError, AttributeError):  # an executor that has ended has no queues
        executor._result_queue._writer.close()  # so that the reader finds the end of the pipe
        executor._call_queue._reader.close()  # so that the writer finds a pipe without reader


def dask_cores(client: Any, seconds: float | None = None) -> dict[str, int]:
    """Return the threads of each worker of a cluster; raise an error if no answer comes in time."""
    return dict(client.ncores(callback_timeout=seconds))


def leave_at_exit(cluster: Any) -> None:
    """Keep Dask from closing a cluster at exit: it prints a traceback if that has not started."""
    cluster.shutdown_on_close = False


def asks_for_a_token() -> bool:
    """Return True if Ray requires a token; old versions cannot, and lack the function to ask."""
    try:
        from ray._private.authentication.authentication_utils import is_token_auth_enabled
    except ImportError:
        return False
    return bool(is_token_auth_enabled())
