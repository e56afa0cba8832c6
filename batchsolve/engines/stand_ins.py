"""Engines in Python that stand in for engines whose kernels have to be compiled.

Compiling takes seconds. A process of its own does it, and meanwhile an engine in Python that visits
the same nodes searches: a small tree is done before. If a tree is not small, an engine that is
compiled in a second and has the same tree searches the task (`Registered.meanwhile`); or else the
kernel does, from the start.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from batchsolve.kernels import AWAITS

MOST_ENTRIES = 65_000  # of a problem; an engine in Python prepares them in 0.04 s
MOST_SECONDS = 2.0 * (not AWAITS)  # in all; longer searches wait for their kernels
MOST_BITS = 2**28  # of the sets of an engine that searches meanwhile; prepared in 0.1 s
DELAY = 3.0  # seconds of its search before another is compiled beside it; most end before
NICENESS = 5  # of compiling beside a search that goes on; it gets a third of the time

_SEEN: set[tuple[str, int, int]] = set()  # engines, and the cells and digits of grids
_REPLACED: set[str] = set()  # engines in whose place another one searches meanwhile
_seconds_spent = 0.0


class TooLongError(Exception):
    """A stand-in has had its time."""


def check_time(begin: float) -> None:
    """Raise `TooLongError` if stand-ins have had their time, and one of them since `begin`."""
    if _seconds_spent + time.thread_time() - begin >= MOST_SECONDS:
        raise TooLongError


@contextmanager
def measured() -> Iterator[Callable[[], None]]:
    """Count the time in the block as that of a stand-in; the value is `check_time` for it.

    Raises
    ------
    TooLongError
        At once in workers: they compile, or wait for each other.
    """
    global _seconds_spent
    begin = time.thread_time()
    if multiprocessing.parent_process() is not None:
        raise TooLongError
    try:
        yield partial(check_time, begin)
    finally:
        _seconds_spent += time.thread_time() - begin
