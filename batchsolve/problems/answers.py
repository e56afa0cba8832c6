"""The answers to consecutive rows of puzzles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from batchsolve.problems.stacks import Stacks


class Status(IntEnum):
    """The result of the search for a puzzle."""

    UNIQUE = 0
    MULTIPLE = 1
    SOLVED = 2
    UNSOLVABLE = 3
    UNFINISHED = 4
    INVALID = 5


STATUS_NAMES = np.array([status.name.lower() for status in Status])
_OF_FEW = np.array([Status.UNSOLVABLE, Status.UNIQUE, Status.MULTIPLE], np.uint8)


@dataclass(eq=False)
class Answers:
    """The answers to n consecutive rows.

    Attributes
    ----------
    counts : ndarray of int64 or of Python integers, shape (n,)
        Covers found, at most the limit when the search has ended; Python integers without a limit.
    nodes : ndarray of int64, shape (n,)
        Nodes visited.
    seconds : ndarray of float64, shape (n,)
        The row's share of the time of its tasks, in proportion to nodes.
    clash : ndarray of int32, shape (n,)
        -1, or the place in the row's stack of a clue that clashes with an earlier one.
    found : list of Stacks
        The first cover, in tree order, of every row that has one; any cover if the row was searched
        whole. Roots are rows.
    unfinished : dict of int to (str or None)
        Rows whose search failed, with the reason; None for rows that met their node limit.
    counters : dict of int to str
        Rows whose count began again with another engine, and the name of that engine.
    """

    counts: npt.NDArray[np.int64] | npt.NDArray[np.object_]
    nodes: npt.NDArray[np.int64]
    seconds: npt.NDArray[np.float64]
    clash: npt.NDArray[np.int32]
    found: list[Stacks] = field(default_factory=list)
    unfinished: dict[int, str | None] = field(default_factory=dict)
    counters: dict[int, str] = field(default_factory=dict)

    @classmethod
    def unknown(cls, n: int) -> Answers:
        """Return the answers to n rows before their search."""
        return cls(np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n), np.full(n, -1, "i4"))

    def __len__(self) -> int:
        return self.counts.size

    @property
    def covers(self) -> Stacks:
        """The covers of all rows, in ascending order of their rows."""
        return _in_order(self.found)

    def covers_where(
        self, holds: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.bool_]]
    ) -> Stacks:
        """Return the covers of the rows where `holds` is true, in ascending order of rows."""
        return _in_order([covers.take(holds(covers.roots)) for covers in self.found])

    def status(self, limit: int) -> npt.NDArray[np.uint8]:
        """Return the `Status` of every row of a search for `limit` solutions."""
        enough = Status.SOLVED if limit == 1 else Status.MULTIPLE
        status = _OF_FEW[np.minimum(self.counts, 2).astype(np.int64)]
        status[self.counts >= limit] = enough
        status[self.clash >= 0] = Status.INVALID
        for row in self.unfinished:
            if self.counts[row] < limit:
                status[row] = Status.UNFINISHED
        return status


def _in_order(parts: Sequence[Stacks]) -> Stacks:
    """Join covers in ascending order of their roots."""
    covers = Stacks.concatenate([part for part in parts if len(part)])
    is_sorted = (np.diff(covers.roots) > 0).all()
    return covers if is_sorted else covers.take(np.argsort(covers.roots))
