"""Data that are prepared from a problem, and kept for the next search of it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from batchsolve.problems.exact_cover import ExactCover

MOST_PROBLEMS = 8  # whose data are kept

Made = TypeVar("Made")


def prepared(make: Callable[[ExactCover], Made]) -> Callable[[ExactCover], Made]:
    """Return a function that keeps the data prepared from the last problems, in each process.

    Threads that ask for one problem wait until it is prepared; those that ask for others do not.
    """
    kept: OrderedDict[str, _Prepared[Made]] = OrderedDict()
    lock = threading.Lock()

    def of(problem: ExactCover) -> Made:
        name = problem.token
        with lock:
            if name in kept:
                kept.move_to_end(name)
            elif len(kept) >= MOST_PROBLEMS:
                idle = (each for each, other in kept.items() if not other.lock.locked())
                kept.pop(next(idle, ""), None)
            own = kept.setdefault(name, _Prepared())
        with own.lock:
            if not own.data:
                own.data.append(make(problem))
            return own.data[0]

    return of


class _Prepared(Generic[Made]):
    """The data of one problem, once a thread has made them under the lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.data: list[Made] = []
