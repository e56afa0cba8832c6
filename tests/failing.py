"""Engines that fail on chosen rows, to try out the pool."""

import os
import signal

from batchsolve.engines import get_engine


class Failing:
    """Dancing links that fail on every task with a stack that begins with a marked option."""

    def __init__(self, marked, how, once=None):
        self.marked, self.how, self.once = set(marked), how, once
        self.name = "failing"
        self.capabilities = get_engine("dlx").capabilities

    def search(self, problem, task):
        if any(len(stack) and int(stack[0]) in self.marked for stack in task.stacks):
            self.fail()
        return get_engine("dlx").search(problem, task)

    def fail(self):
        if self.once is not None:
            try:
                os.close(os.open(self.once, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise RuntimeError("a bug in the search")
