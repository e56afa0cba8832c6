"""A watchdog for processes of loky: it notices that nobody is left who could answer.

loky waits for results and for the deaths of workers at once. But a worker that dies while it writes
a result leaves half of it in the pipe, and perhaps the lock for writing held. Then the thread of
loky that reads waits for the other half, other workers wait for the lock, and no death is noticed.
Likewise a thread that hands out tasks waits for ever if all workers die while it writes.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any

LOOK_SECONDS = 1.0
GRACE_SECONDS = 5.0  # what loky itself takes to notice a death, many times over


class Watchdog:
    """Looks at an executor of loky; ends a wait for workers that have died.

    Parameters
    ----------
    executor : callable
        Returns the executor at work, or None; it is another one after workers have died.
    """

    def __init__(self, executor: Callable[[], Any]) -> None:
        self._executor = executor
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        stuck, since = None, 0.0  # an executor whose workers have died, and when that was seen
        while not self._over.wait(LOOK_SECONDS):
            executor = self._executor()
            if executor is None or not _waits_for_the_dead(executor):
                stuck = None
            elif executor is not stuck:
                stuck, since = executor, time.monotonic()
            elif time.monotonic() - since >= GRACE_SECONDS:
                _end(executor)


def _waits_for_the_dead(executor: Any) -> bool:
    """Whether a worker is dead, or all were given up, and the thread of the executor goes on."""
    manager = executor._executor_manager_thread
    if manager is None or not manager.is_alive():
        return False
    if executor._flags.broken is not None:
        return True
    with suppress(OSError):  # loky has just noticed a death, and closed what it is noticed by
        return bool(wait([process.sentinel for process in list(executor._processes.values())], 0))
    return False


def _end(executor: Any) -> None:
    """Kill the other workers, and close the ends of pipes that keep threads waiting for them."""
    for process in list(executor._processes.values()):
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    with suppress(OSError, AttributeError):  # an executor that has ended has no queues
        executor._result_queue._writer.close()  # so the reader finds the end of the pipe
        executor._call_queue._reader.close()  # so the writer finds that nobody reads
