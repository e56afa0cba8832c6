"""The start of a worker process: what it does before its first task, and what it inherits.

Nothing here touches a process that the user has started; tasks may run there, but they do not call
this. Whoever starts a process says so: loky by an initializer, Dask and Ray as they bring work.
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

ORPHAN_SECONDS = 1.0  # how often a worker process looks whether its parent still lives


def settle_in(parent: int) -> None:
    """Prepare a process that we have started as a worker, before its first task.

    It leaves Ctrl-C to its parent, and ends when its parent has ended.

    Parameters
    ----------
    parent : int
        The process that has started it.
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
    """Hold Ctrl-C back; threads and processes that are started meanwhile never see it.

    A worker says itself that it does not hear Ctrl-C, but only once it has imported what it needs;
    until then it would end with a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    resource_tracker.ensure_running()  # for its start lets Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
