"""Data that are made from a problem once, for all that use it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

from batchsolve.problems.exact_cover import ExactCover

MOST_PROBLEMS = 8  # whose data are kept

Data = TypeVar("Data")


def prepared(make: Callable[[ExactCover], Data]) -> Callable[[ExactCover], Data]:
    """Return a function that keeps the data prepared from the last problems, in each process.

    Threads that ask for one problem wait until it is prepared; those that ask for others do not.
    """
    # the data of each problem, once a thread has made them under the lock
    kept: OrderedDict[str, tuple[threading.Lock, list[Data]]] = OrderedDict()
    lock = threading.Lock()

    def of(problem: ExactCover) -> Data:
        name = problem.token
        with lock:
            if name in kept:
                kept.move_to_end(name)
            elif len(kept) >= MOST_PROBLEMS:
                idle = (each for each, (other, _) in kept.items() if not other.locked())
                kept.pop(next(idle, ""), None)
            own, data = kept.setdefault(name, (threading.Lock(), []))
        with own:
            if not data:
                data.append(make(problem))
            return data[0]

    return of
