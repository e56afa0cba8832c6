"""The memory of arrays that are freed, in commands and workers."""

from __future__ import annotations

import ctypes
from contextlib import suppress

# For GNU's C library: arrays of up to so many bytes come from memory that the process has, and so
# many bytes that are freed stay with it. By default arrays of a megabyte come and go as pages of
# the system, which took a third of the time of a worker and, in a virtual machine, halted others.
M_TRIM_THRESHOLD, KEPT_BYTES = -1, 32 << 20
M_MMAP_THRESHOLD, ARRAY_BYTES = -3, 32 << 20


def keep_memory() -> None:
    """Let the C library keep the memory of arrays that are freed.

    It cannot be undone: call it only in processes of our own, which are commands and workers.
    """
    with suppress(OSError, AttributeError, TypeError):  # other systems have no such function
        allocator = ctypes.CDLL(None)
        allocator.mallopt(M_MMAP_THRESHOLD, ARRAY_BYTES)
        allocator.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
