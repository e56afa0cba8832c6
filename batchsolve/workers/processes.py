"""Processes of this machine, started by loky.

loky waits for results and for the deaths of workers at once. But a worker that dies while it writes
a result leaves half of it in the pipe, and may leave the lock for writing held. Then the thread of
loky that reads waits for the other half, other workers wait for the lock, and no death is noticed.
Likewise, a thread that hands out tasks waits for ever if all workers die while it writes. A
watchdog notices both.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

from batchsolve.workers.base import Watchdog, Workers, keep_memory, keeping_ctrl_c
from batchsolve.workers.private import OwnLokyBackend, end_wait, waits_for_the_dead

GRACE_SECONDS = 5.0  # much longer than loky itself takes to notice a death
ORPHAN_SECONDS = 1.0  # between two looks of a worker process whether its parent still lives


class Processes(Workers):
    """Processes of loky, which isolate a crash."""

    share_memory = True

    def _open(self) -> Any:
        # An initializer, because a worker may be idle: if we were killed before its first task, it
        # would wait for minutes.
        self._backend = OwnLokyBackend(initializer=settle_in, initargs=(os.getpid(),))
        self._watchdog = Watchdog(self._stuck, end_wait, GRACE_SECONDS)
        return self._backend

    def _stuck(self) -> Any:
        """Return loky's executor if it waits for the dead; joblib makes another after deaths."""
        executor = self._backend.executor
        return executor if executor is not None and waits_for_the_dead(executor) else None

    def _close(self) -> None:
        self._watchdog.stop()

    def run(
        self, function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]
    ) -> Generator[Any]:
        """See `Workers.run`."""
        with keeping_ctrl_c():
            return super().run(function, arguments)


def settle_in(parent: int) -> None:
    """Prepare a process that we have started as a worker, before its first task.

    It ignores Ctrl-C, which its parent handles, and ends when its parent has ended. A process that
    the user has started never calls this, though tasks may run there.

    Parameters
    ----------
    parent : int
        The id of the process that has started it.
    """
    keep_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def follow() -> None:
        while os.getppid() == parent:
            time.sleep(ORPHAN_SECONDS)
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
