"""The start of a worker process: the steps before its first task, and the signals it inherits.

Nothing here touches a process that the user has started: tasks may run there, but they do not call
this. Each backend prepares only the processes that it starts: loky by an initializer, Dask and Ray
when they deliver work.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

from batchsolve.memory import keep_memory

ORPHAN_SECONDS = 1.0  # between two looks of a worker process whether its parent still lives


def settle_in(parent: int) -> None:
    """Prepare a process that we have started as a worker, before its first task.

    It ignores Ctrl-C, which its parent handles, and ends when its parent has ended.

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


@contextmanager
def keeping_ctrl_c() -> Iterator[None]:
    """Block Ctrl-C; threads and processes that are started meanwhile never see it.

    A worker ignores Ctrl-C by itself, but only after its imports; until then Ctrl-C would end it
    with a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    resource_tracker.ensure_running()  # beforehand, because its start unblocks Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
