"""How a worker settles in: what it does once, before its first task, and what it is born with."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import resource_tracker

ORPHAN_SECONDS = 1.0  # how often a worker process looks whether its parent still lives
# For GNU's C library: arrays of up to so many bytes come from memory that the process has, and so
# many bytes that are freed stay with it. By default arrays of a megabyte come and go as pages of
# the system, which took a third of the time of a worker and, in a virtual machine, halted others.
M_TRIM_THRESHOLD, KEPT_BYTES = -1, 32 << 20
M_MMAP_THRESHOLD, ARRAY_BYTES = -3, 32 << 20


@cache
def keep_memory() -> None:
    """Let the C library keep the memory of arrays that are freed."""
    with suppress(OSError, AttributeError, TypeError):  # other systems have no such function
        allocator = ctypes.CDLL(None)
        allocator.mallopt(M_MMAP_THRESHOLD, ARRAY_BYTES)
        allocator.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)


@cache
def settle_in() -> None:
    """Prepare the process of a worker.

    A process of its own leaves Ctrl-C to its parent, and ends when its parent has ended.
    """
    keep_memory()
    parent = multiprocessing.parent_process()
    if parent is None or threading.current_thread() is not threading.main_thread():
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def follow() -> None:
        while os.getppid() == parent.pid:
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
