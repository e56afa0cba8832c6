"""The rows of a block while some of them are searched: what is known of them, and what is wanted.

Stacks of one row may be searched by many workers, in any order. The row's first cover is
nevertheless the first in tree order, because that order can be read off the stacks: engines try
the options of an item in ascending order, so tree order is the lexicographic order of stacks.

A row that has taken many nodes may be *handed over*: what was found is forgotten, and another
engine begins anew with the row's own stack. Until then the row is searched as under a node limit,
in tree order: whether it is handed over depends on nothing but its tree.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from batchsolve.engines import Outcome, Task
from batchsolve.problems.answers import Answers
from batchsolve.problems.stacks import Stacks
from batchsolve.search.pieces import Piece
from batchsolve.settings import UNLIMITED, SearchSettings


class LatePiece(Piece):
    """Own stacks of rows that are handed over, each to be searched in a task of its own."""

    is_fresh: ClassVar[bool] = True

    def cut(self, n_pieces: int, most_stacks: int) -> list[Self]:
        """Return each stack as a piece."""
        return [self.between(k, k + 1) for k in range(len(self))]


class OpenRows:
    """The rows of a block while some of them are searched.

    Parameters
    ----------
    n : int
        Number of rows.
    stacks : Stacks
        A stack for every row that is searched, in order.
    settings : SearchSettings
    after : int
        Nodes after which a row is handed over; `UNLIMITED` if none is.
    """

    def __init__(self, n: int, stacks: Stacks, settings: SearchSettings, after: int) -> None:
        self._limit = settings.limit or UNLIMITED  # covers wanted of each row
        self._node_limit = node_limit = settings.node_limit or UNLIMITED
        self._answers = Answers.unknown(n)
        self._own = stacks if after < node_limit else Stacks.empty()  # of rows that may yet go
        self._most_nodes = np.full(n, min(after, node_limit))  # of each row, by its present engine
        self._pending = np.zeros(n, np.int32)  # stacks that are not searched yet
        self._pending[stacks.roots] = 1
        self._shared = np.zeros(n, np.bool_)  # whether a row was searched in several tasks
        self._best: dict[int, npt.NDArray[np.uint32]] = {}  # the first cover of such a row, so far
        self._covers: list[Stacks] = []

    @property
    def is_settled(self) -> bool:
        """Whether no row is open."""
        return not self._pending.any()

    def answers(self) -> Answers:
        """Return the answers, once all rows are settled."""
        covers = list(self._covers)
        if self._best:
            rows = list(self._best)
            covers.append(Stacks.from_lists([self._best[row].tolist() for row in rows], rows))
        self._answers.covers = Stacks.concatenate(covers)
        return self._answers

    def add(self, piece: Piece, outcome: Outcome, seconds: float) -> list[Piece]:
        """Take what was found in a piece into account; return what is left to be searched."""
        answers, rows = self._answers, piece.stacks.roots
        _tally(answers.counts, rows, outcome.counts)
        _tally(answers.nodes, rows, outcome.nodes)
        _tally(answers.seconds, rows, outcome.nodes * (seconds / max(1, outcome.nodes.sum())))
        answers.clash[rows] = outcome.clash
        left, covers = outcome.frontier.roots, outcome.solutions
        _tally(self._pending, rows, -1)
        if left.size:
            np.add.at(self._pending, left, 1)
            self._shared[left] |= (self._pending[left] > 1) | (answers.nodes[left] > 0)
        alone = ~self._shared[covers.roots]
        if alone.any():
            self._covers.append(covers.take(alone))
        for k in np.flatnonzero(~alone).tolist():
            row, cover = int(covers.roots[k]), covers[k]
            if row not in self._best or cover.tolist() < self._best[row].tolist():
                self._best[row] = cover
        weights = piece.weights[outcome.parents] * outcome.weights
        ids = piece.ids[outcome.parents]
        pieces = self._hand_over(Piece(outcome.frontier, weights, ids, piece.keeps_roots))
        return [piece for piece in pieces if len(piece)]

    def _hand_over(self, left: Piece) -> list[Piece]:
        """Return the own stacks of rows handed over now, and what is wanted of the others."""
        self._own = self._own.take(self._pending[self._own.roots] > 0)
        rows = left.stacks.roots
        counts, nodes = self._answers.counts[rows], self._answers.nodes[rows]
        late = (nodes >= self._most_nodes[rows]) & (counts < self._limit)
        goes = np.isin(self._own.roots, rows[late])
        if not goes.any():
            return [self.drop_unwanted(left)]
        own = self._own.take(goes)
        self._own = self._own.take(~goes)
        self._forget(own.roots)
        self._pending[own.roots] = 1
        self._most_nodes[own.roots] = self._node_limit
        handed_over = LatePiece(own, np.ones(len(own)), np.full(len(own), left.ids[0]))
        stay = left.take(np.isin(rows, own.roots, invert=True))
        return [handed_over, self.drop_unwanted(stay)]

    def _forget(self, rows: npt.NDArray[np.int64]) -> None:
        """Forget what was found of some rows, but not how many nodes that took."""
        self._answers.counts[rows] = 0
        self._shared[rows] = False
        self._covers = [covers.take(~np.isin(covers.roots, rows)) for covers in self._covers]
        for row in rows.tolist():
            self._best.pop(row, None)

    def lose(self, stacks: Stacks, reason: str) -> None:
        """Note that the search of some rows failed."""
        _tally(self._pending, stacks.roots, -1)
        self._answers.unfinished.update(dict.fromkeys(stacks.roots.tolist(), reason))

    def drop_unwanted(self, piece: Piece) -> Piece:
        """Return the stacks of a piece that an answer still depends on."""
        rows = piece.stacks.roots
        counts, nodes = self._answers.counts[rows], self._answers.nodes[rows]
        doubtful = (counts >= self._limit) | (nodes >= self._most_nodes[rows])
        if self._answers.unfinished:
            doubtful |= np.isin(rows, list(self._answers.unfinished))
        if not doubtful.any():
            return piece
        wanted = ~doubtful
        for k in np.flatnonzero(doubtful).tolist():
            wanted[k] = self._is_wanted(int(rows[k]), piece.stacks[k])
        _tally(self._pending, rows[~wanted], -1)
        return piece.take(wanted)

    def task_of(self, stacks: Stacks, budget: int, whole: bool) -> Task:
        """Return the task that searches stacks which are wanted, perhaps each of them whole."""
        rows = stacks.roots
        limits = np.maximum(self._limit - self._answers.counts[rows], 1)
        allowances = self._most_nodes[rows] - self._answers.nodes[rows]
        any_order = bool((self._most_nodes[rows] == UNLIMITED).all())
        return Task(stacks, limits, allowances, budget, keep=1, any_order=any_order, whole=whole)

    def _is_wanted(self, row: int, stack: npt.NDArray[np.uint32]) -> bool:
        answers = self._answers
        if row in answers.unfinished:
            return False
        if answers.counts[row] >= self._limit:  # a cover before the first is all that matters
            return stack.tolist() < self._best[row].tolist()
        answers.unfinished[row] = None
        return False


def _tally(sums: npt.NDArray[Any], rows: npt.NDArray[np.int64], values: Any) -> None:
    """Add values to the sums of their rows, which ascend."""
    if (np.diff(rows) > 0).all():
        sums[rows] += values  # ten times as fast as where a row is there twice
    else:
        np.add.at(sums, rows, values)
