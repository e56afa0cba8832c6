"""Pieces of a search: stacks that are still to be searched, their sizes, and what results change.

The *outstanding* stacks of a tree each have a number and a weight, their share of the tree.
`Changes` hold the difference that some results make: stacks done, new stacks, and output. A search
can resume from the changes that were kept.

The collecting process takes results one after another. A *turn* is its time for one result from
every worker; if tasks were shorter than a turn, workers would wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks

if TYPE_CHECKING:
    from batchsolve.engines import Engine

TASK_SECONDS = 0.2  # of a task while many pieces wait; less when few do
RESULT_SECONDS = 0.0003  # to collect a result; measured: 0.07 to 0.2 ms
FULL_TURNS, LEAST_TURNS = 5, 1  # shortest task while many pieces wait, and few
PIECES_PER_WORKER = 15  # that should wait, so that all workers run out of work together
# Few workers need fewer each, as they wait less for one another; so do more than MANY_PIECES.
FEW_PIECES, MANY_PIECES = 4, 240
FIRST_BUDGET = 50_000  # before the speed of a worker is known
FIRST_ENTRIES = 10**9  # nodes × entries of the problem: large problems begin with fewer nodes
LEAST_BUDGET = 5_000  # makes a task worth sending, unless these nodes take long
MOST_STACKS = 4096  # in a task; those it does not reach are copied
MOST_OUT = 8  # tasks that a worker may be ahead of the collected results
STACKS_PER_WORKER = 30  # subproblems that an automatic split aims at
SPLIT_NODES = 20_000  # nodes that an automatic split may visit; some hundredths of a second


@dataclass(frozen=True, eq=False)
class Piece:
    """Stacks that are searched together.

    Attributes
    ----------
    stacks : Stacks
        In tree order.
    weights : ndarray of float64, shape (n,)
        Their shares of the whole tree: products of 1 / (number of children) on the way to them.
    ids : ndarray of int64, shape (n,)
        Keys for the goal: each stack's own number, or the number of the block of its row.
    keeps_roots : bool
        True if stacks of one root must stay together.
    problem : ExactCover, optional
        Their problem, where one search is of several.
    engine : Engine, optional
        The engine that took them over from that of the search.
    """

    stacks: Stacks
    weights: npt.NDArray[np.float64]
    ids: npt.NDArray[np.int64]
    keeps_roots: bool = False
    problem: ExactCover | None = None
    engine: Engine | None = None
    is_fresh: ClassVar[bool] = False

    @classmethod
    def whole(cls, stacks: Stacks) -> Piece:
        """Return the piece of a whole search; its stacks are numbered from 0."""
        n = len(stacks)
        return cls(stacks, np.full(n, 1 / max(1, n)), np.arange(n))

    @classmethod
    def join(cls, pieces: Sequence[Piece]) -> Piece:
        """Join pieces, in order."""
        if len(pieces) == 1:
            return pieces[0]
        return cls(
            Stacks.concatenate([piece.stacks for piece in pieces]),
            np.concatenate([np.empty(0), *(piece.weights for piece in pieces)]),
            np.concatenate([np.empty(0, np.int64), *(piece.ids for piece in pieces)]),
        )

    def __len__(self) -> int:
        return len(self.stacks)

    def between(self, begin: int, end: int) -> Self:
        """Return the stacks at the places begin .. end - 1."""
        stacks, there = self.stacks.between(begin, end), slice(begin, end)
        return replace(self, stacks=stacks, weights=self.weights[there], ids=self.ids[there])

    def take(self, which: npt.NDArray[Any]) -> Self:
        """Return the stacks at these places, or where a mask is true."""
        stacks = self.stacks.take(which)
        return replace(self, stacks=stacks, weights=self.weights[which], ids=self.ids[which])

    def cut(self, n_pieces: int, most_stacks: int) -> list[Self]:
        """Cut into at most `n_pieces` of about equal weight; see `piece_bounds`.

        Stacks that an engine took over and searches whole are pieces each.
        """
        if len(self) < 2:
            return [self][: len(self)]
        if self.engine is not None and self.engine.capabilities.whole_stacks:
            most_stacks = 1
        bounds = piece_bounds(self.weights, n_pieces, most_stacks)
        if self.keeps_roots:
            firsts = np.flatnonzero(np.diff(self.stacks.roots, prepend=-1))
            firsts = np.append(firsts, len(self))
            bounds = np.unique(firsts[np.searchsorted(firsts, bounds)])
        return [self.between(begin, end) for begin, end in pairwise(bounds.tolist())]


@dataclass(eq=False)
class Changes:
    """The changes that some results make to a tree; they are kept together or not at all.

    Attributes
    ----------
    outputs : list of (object, int)
        Rendered covers, and the number of covers in each.
    """

    outputs: list[tuple[Any, int]] = field(default_factory=list)
    _done: list[npt.NDArray[np.int64]] = field(default_factory=list)
    _new: list[Piece] = field(default_factory=list)

    def add(self, done: npt.NDArray[np.int64], new: Piece) -> None:
        """Add the changes of one result: the numbers of the stacks done, and new stacks."""
        self._done.append(done)
        self._new.append(new)

    def balance(self) -> tuple[list[int], Piece]:
        """Return the numbers of the stacks done, and the new outstanding stacks.

        Stacks that came and went within these changes are in neither.
        """
        done = np.concatenate([np.empty(0, np.int64), *self._done])
        new = Piece.join(self._new)
        passed = np.isin(done, new.ids)
        left = np.flatnonzero(np.isin(new.ids, done, invert=True))
        return done[~passed].tolist(), new.take(left)


@dataclass(frozen=True)
class Sizing:
    """The sizes of tasks.

    Attributes
    ----------
    full_seconds, least_seconds : float
        Seconds of a task while many pieces wait, and while none does.
    pieces : int
        Number of pieces from which on many wait.
    """

    full_seconds: float
    least_seconds: float
    pieces: int

    @classmethod
    def of(cls, jobs: int) -> Sizing:
        """Return the sizes for a number of workers.

        Examples
        --------
        >>> Sizing.of(2)
        Sizing(full_seconds=0.2, least_seconds=0.0006, pieces=12)
        """
        turn = RESULT_SECONDS * jobs
        pieces = min(PIECES_PER_WORKER, 2 + 2 * jobs, max(FEW_PIECES, MANY_PIECES // jobs))
        return cls(max(TASK_SECONDS, FULL_TURNS * turn), LEAST_TURNS * turn, jobs * pieces)

    def budget(self, rate: float, waiting: int) -> int:
        """Return the nodes that a task may visit.

        Parameters
        ----------
        rate : float
            Nodes that a worker visits per second.
        waiting : int
            Number of waiting pieces.

        Examples
        --------
        >>> [Sizing.of(2).budget(1e6, n) for n in (12, 6, 0)]  # nodes of a microsecond
        [200000, 100000, 5000]
        >>> Sizing.of(2).budget(1e3, 0)  # slow nodes
        200
        """
        full = max(1.0, self.full_seconds * rate)
        least = max(self.least_seconds * rate, min(LEAST_BUDGET, full))
        return int(max(least, full * min(1.0, waiting / self.pieces)))


def first_budget(n_entries: int) -> int:
    """Return the nodes of a task before the speed of a worker is known.

    Parameters
    ----------
    n_entries : int
        Items of all options of the problem; the more, the longer a node takes.

    Examples
    --------
    >>> first_budget(2_916), first_budget(4_000_000)  # 9×9 Sudoku, and 1,000 queens
    (50000, 250)
    """
    return min(FIRST_BUDGET, nodes_at_once(n_entries))


def nodes_at_once(n_entries: int) -> int:
    """Return the nodes that may take a second, of a problem with this many items in all options."""
    return max(1, FIRST_ENTRIES // max(1, n_entries))


_LEAST_WEIGHT = np.finfo(np.float64).tiny


def piece_bounds(
    weights: npt.NDArray[np.float64], n_pieces: int, most_stacks: int
) -> npt.NDArray[np.int64]:
    """Return where to cut stacks into at most `n_pieces` of about equal weight.

    A frontier holds few stacks near the root, with most of its weight, and many deep stacks with
    almost none; those stay together. If pieces would be longer than `most_stacks`, there are more.

    Parameters
    ----------
    weights : ndarray of float64, shape (m,)
        Shares of the tree, in tree order; m is 1 or more.
    n_pieces, most_stacks : int

    Returns
    -------
    ndarray of int64, shape (number of pieces + 1,)
        Piece ``k`` is the stacks ``bounds[k] .. bounds[k + 1] - 1``.

    Examples
    --------
    >>> piece_bounds(np.array([4, 1, 1, 2.0]), 2, 99).tolist()
    [0, 1, 4]
    """
    m = weights.size
    whole = weights.sum()
    if whole < m * _LEAST_WEIGHT:  # too deep for weights to tell
        weights, whole = np.ones(m), float(m)
    middles = np.cumsum(weights) - weights / 2
    n = max(1, min(n_pieces, m))
    numbers = (middles / whole * n).astype(np.int64)
    numbers[numbers >= n] = n - 1  # the last stacks may weigh nothing
    begins = numbers[1:] != numbers[:-1]
    begins[most_stacks - 1 :: most_stacks] = True
    return np.concatenate(([0], np.flatnonzero(begins) + 1, [m]))
