"""Reuse of the memory of freed arrays, in commands and workers."""

from __future__ import annotations

import ctypes
from contextlib import suppress

# For GNU's C library: arrays of up to ARRAY_BYTES come from the heap of the process, and up to
# KEPT_BYTES of freed memory stay in it. By default the library maps and unmaps pages for every
# array of a megabyte; that took a third of a worker's time and halted others in a virtual machine.
M_TRIM_THRESHOLD, KEPT_BYTES = -1, 32 << 20
M_MMAP_THRESHOLD, ARRAY_BYTES = -3, 32 << 20


def keep_memory() -> None:
    """Make the C library keep the memory of freed arrays.

    This cannot be undone: call it only in processes of our own, commands and workers.
    """
    with suppress(OSError, AttributeError, TypeError):  # other systems have no such function
        allocator = ctypes.CDLL(None)
        allocator.mallopt(M_MMAP_THRESHOLD, ARRAY_BYTES)
        allocator.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
