"""The collector: sums counts and nodes per root, settles each row's answer, keeps input order.

Stacks of one row may be searched by many workers, in any order. The row's first solution is
nevertheless the first in tree order, because that order can be read off the stacks: engines try
the options of an item in ascending order, so tree order is the lexicographic order of stacks.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt
from numba import njit

from batchsolve.problems.stacks import Stacks
from batchsolve.workers.pool import Done, Lost


class Status(IntEnum):
    """What is known about a puzzle after its search."""

    UNIQUE = 0
    MULTIPLE = 1
    SOLVED = 2
    UNSOLVABLE = 3
    UNFINISHED = 4
    INVALID = 5


STATUS_NAMES = np.array([status.name.lower() for status in Status])


@dataclass(eq=False)
class Sheet:
    """The answers to some consecutive rows.

    Attributes
    ----------
    first : int
        Number of the first row, counted from 0.
    counts, nodes : ndarray of int64, shape (n,)
        Covers found (at most the limit once settled) and nodes visited.
    seconds : ndarray of float64, shape (n,)
        The row's part of its tasks' time, in proportion to nodes.
    clash : ndarray of int32, shape (n,)
        -1, or the place in the row's stack of a clue that clashes with one before it.
    lost : dict of int to str
        Rows whose search failed, and why.
    """

    first: int
    counts: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int64]
    seconds: npt.NDArray[np.float64]
    clash: npt.NDArray[np.int32]
    pending: npt.NDArray[np.int32]
    shared: npt.NDArray[np.bool_]
    lost: dict[int, str] = field(default_factory=dict)
    cut_short: set[int] = field(default_factory=set)
    best: dict[int, npt.NDArray[np.uint32]] = field(default_factory=dict)
    found: list[Stacks] = field(default_factory=list)

    @classmethod
    def of(cls, first: int, n: int) -> Sheet:
        """Return the sheet of n rows about which nothing is known."""
        whole = np.zeros(n, np.int64)
        clash = np.full(n, -1, np.int32)
        pending, shared = np.zeros(n, np.int32), np.zeros(n, np.bool_)
        return cls(first, whole, whole.copy(), np.zeros(n), clash, pending, shared)

    def __len__(self) -> int:
        return self.counts.size

    def cut(self, n: int) -> tuple[Sheet, Sheet]:
        """Return the sheet of the first n rows and that of the others."""
        everything = Stacks.concatenate(self.found)
        halves = []
        for begin, end in ((0, n), (n, len(self))):
            inside = (everything.roots >= begin) & (everything.roots < end)
            found = everything.take(inside)
            halves.append(
                Sheet(
                    self.first + begin,
                    self.counts[begin:end],
                    self.nodes[begin:end],
                    self.seconds[begin:end],
                    self.clash[begin:end],
                    self.pending[begin:end],
                    self.shared[begin:end],
                    {row - begin: why for row, why in self.lost.items() if begin <= row < end},
                    {row - begin for row in self.cut_short if begin <= row < end},
                    {row - begin: stack for row, stack in self.best.items() if begin <= row < end},
                    [found.with_roots(found.roots - begin)],
                )
            )
        return halves[0], halves[1]

    def solutions(self) -> list[Stacks]:
        """Return the first solution of every row that has one, as stacks in no certain order."""
        rows = list(self.best)
        return [*self.found, Stacks.from_lists([self.best[row].tolist() for row in rows], rows)]

    def status(self, limit: int) -> npt.NDArray[np.uint8]:
        """Return the `Status` of every row when `limit` solutions were asked for."""
        enough = Status.SOLVED if limit == 1 else Status.MULTIPLE
        status = np.select(
            [self.clash >= 0, self.counts >= limit, self.counts == 0, self.counts == 1],
            [Status.INVALID, enough, Status.UNSOLVABLE, Status.UNIQUE],
            Status.MULTIPLE,
        ).astype(np.uint8)
        for row in [*self.lost, *self.cut_short]:
            if self.counts[row] < limit:
                status[row] = Status.UNFINISHED
        return status


class Collector:
    """Takes results in any order and hands back sheets in the order of the rows.

    Parameters
    ----------
    limit : int
        Solutions wanted of each row.
    node_limit : int
        Nodes that the search of a row may visit.
    """

    def __init__(self, limit: int, node_limit: int) -> None:
        self._limit = limit
        self._node_limit = node_limit
        self._sheets: deque[Sheet] = deque()
        self._next_row = 0

    def open(self, n_rows: int, stacks: Stacks) -> Stacks:
        """Begin a sheet of n rows; return its stacks with row numbers as roots.

        Rows without a stack are settled from the beginning.
        """
        sheet = Sheet.of(self._next_row, n_rows)
        _tally(sheet.pending, stacks.roots, np.ones_like(stacks.roots))
        self._sheets.append(sheet)
        self._next_row += n_rows
        return stacks.with_roots(stacks.roots + sheet.first)

    @property
    def n_open(self) -> int:
        """Number of sheets not yet handed back."""
        return len(self._sheets)

    def settled(self) -> Sheet | None:
        """Hand back the next rows up to the first still searched; None if there are none."""
        if not self._sheets:
            return None
        sheet = self._sheets[0]
        still = np.flatnonzero(sheet.pending)
        if still.size == 0:
            return self._sheets.popleft()
        if still[0] == 0:
            return None
        head, self._sheets[0] = sheet.cut(int(still[0]))
        return head

    def add(self, result: Done | Lost) -> None:
        """Take a result into account."""
        for sheet in self._sheets:
            rows = result.task.stacks.roots - sheet.first
            mine = (rows >= 0) & (rows < len(sheet))
            if not mine.any():
                continue
            _tally(sheet.pending, rows[mine], -np.ones_like(rows[mine]))
            if isinstance(result, Lost):
                sheet.lost.update(dict.fromkeys(rows[mine].tolist(), result.reason))
            else:
                _add_outcome(sheet, result, rows, mine)

    def wanted(self, stacks: Stacks) -> tuple[Stacks, npt.NDArray, npt.NDArray]:
        """Drop the stacks that no answer depends on any more.

        Returns
        -------
        stacks : Stacks
        limits, allowances : ndarray of int64, shape (len(stacks),)
            As in `batchsolve.engines.Task`.
        """
        limits = np.full(len(stacks), self._limit, np.int64)
        allowances = np.full(len(stacks), self._node_limit, np.int64)
        keep = np.ones(len(stacks), np.bool_)
        for sheet in self._sheets:
            rows = stacks.roots - sheet.first
            mine = np.flatnonzero((rows >= 0) & (rows < len(sheet)))
            rows = rows[mine]
            limits[mine] -= sheet.counts[rows]
            allowances[mine] -= sheet.nodes[rows]
            doubtful = (limits[mine] <= 0) | (allowances[mine] <= 0)
            touched = mine[doubtful | np.isin(rows, list(sheet.lost))]
            for k in touched.tolist():
                row = int(stacks.roots[k]) - sheet.first
                keep[k] = self._is_wanted(sheet, row, stacks[k])
            dropped = stacks.roots[mine[~keep[mine]]] - sheet.first
            _tally(sheet.pending, dropped, -np.ones_like(dropped))
        kept = np.flatnonzero(keep)
        return stacks.take(kept), np.maximum(limits[kept], 1), allowances[kept]

    def _is_wanted(self, sheet: Sheet, row: int, stack: npt.NDArray[np.uint32]) -> bool:
        if row in sheet.lost:
            return False
        if sheet.counts[row] >= self._limit:
            return stack.tolist() < sheet.best[row].tolist()
        if sheet.nodes[row] >= self._node_limit:
            sheet.cut_short.add(row)
            return False
        return True


@njit(cache=True, nogil=True)
def _tally(sums, rows, values):
    """Add values to the sums of their rows."""
    for k in range(rows.size):
        sums[rows[k]] += values[k]


def _add_outcome(
    sheet: Sheet, done: Done, rows: npt.NDArray[np.int64], mine: npt.NDArray[np.bool_]
) -> None:
    outcome = done.outcome
    _tally(sheet.counts, rows[mine], outcome.counts[mine])
    _tally(sheet.nodes, rows[mine], outcome.nodes[mine])
    share = done.timing.seconds / max(1, int(outcome.nodes.sum()))
    _tally(sheet.seconds, rows[mine], outcome.nodes[mine] * share)
    sheet.clash[rows[mine]] = outcome.clash[mine]

    left = outcome.frontier.roots - sheet.first
    left = left[(left >= 0) & (left < len(sheet))]
    _tally(sheet.pending, left, np.ones_like(left))
    sheet.shared[left] |= (sheet.pending[left] > 1) | (sheet.nodes[left] > 0)

    found = outcome.solutions.roots - sheet.first
    here = (found >= 0) & (found < len(sheet))
    alone = here.copy()
    alone[here] = ~sheet.shared[found[here]]
    solutions = outcome.solutions.with_roots(found)
    sheet.found.append(solutions.take(alone))
    for k in np.flatnonzero(here & ~alone).tolist():
        row, cover = int(found[k]), solutions[k]
        if row not in sheet.best or cover.tolist() < sheet.best[row].tolist():
            sheet.best[row] = cover
