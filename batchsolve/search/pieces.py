"""Pieces of a search: stacks that are still to be searched, and the changes that results make.

The *outstanding* stacks of a tree each have a number and a weight, their share of the tree.
`Changes` hold the difference that some results make: stacks done, new stacks, and output. A search
can resume from the changes that were kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.search.rules import piece_bounds


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
    """

    stacks: Stacks
    weights: npt.NDArray[np.float64]
    ids: npt.NDArray[np.int64]
    keeps_roots: bool = False
    problem: ExactCover | None = None
    is_fresh: ClassVar[bool] = False

    @classmethod
    def whole(cls, stacks: Stacks) -> Piece:
        """Return the piece of a whole search; its stacks are numbered from 0."""
        n = len(stacks)
        return cls(stacks, np.full(n, 1 / max(1, n)), np.arange(n))

    @classmethod
    def join(cls, pieces: Sequence[Piece]) -> Piece:
        """Join pieces, in order."""
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
        """Cut into at most `n_pieces` of about equal weight; see `batchsolve.search.rules`."""
        if not len(self):
            return []
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
