"""Data that engines prepare from a problem once in each process, for all later searches."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from batchsolve.problems.exact_cover import ExactCover

MOST_PROBLEMS = 8  # whose data are kept

Made = TypeVar("Made")


class Prepared(Generic[Made]):
    """A cache of the data prepared from the last problems.

    Parameters
    ----------
    make : callable
        Prepares the data of a problem.
    """

    def __init__(self, make: Callable[[ExactCover], Made]) -> None:
        self._make = make
        self._made: OrderedDict[str, Made] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, problem: ExactCover) -> Made:
        """Return the data of a problem; prepare them if they are not cached."""
        with self._lock:
            if problem.fingerprint not in self._made:
                self._made[problem.fingerprint] = self._make(problem)
            self._made.move_to_end(problem.fingerprint)
            while len(self._made) > MOST_PROBLEMS:
                self._made.popitem(last=False)
            return self._made[problem.fingerprint]
