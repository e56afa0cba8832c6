"""What is left of a search, and what results change about it.

What is left is a set of *outstanding* stacks, each with a number and a weight, its share of the
tree. A *step* is the difference that some results make: the stacks that are done, those that are
new, and what was found. Whoever keeps the steps can resume from any of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from batchsolve.problems.stacks import Stacks


@dataclass(eq=False)
class Outstanding:
    """Stacks that are still to be searched.

    Attributes
    ----------
    stacks : Stacks
        The stacks, in tree order; their roots are their numbers.
    weights : ndarray of float64, shape (n,)
        Their shares of the whole tree, by the numbers of children above them.
    """

    stacks: Stacks
    weights: npt.NDArray[np.float64]

    @classmethod
    def whole(cls, stacks: Stacks) -> Outstanding:
        """Return stacks that make up a whole search."""
        n = len(stacks)
        return cls(stacks.with_roots(np.arange(n)), np.full(n, 1 / max(1, n)))

    def __len__(self) -> int:
        return len(self.stacks)

    @classmethod
    def join(cls, parts: list[Outstanding]) -> Outstanding:
        """Join parts, in order."""
        weights = np.concatenate([np.empty(0), *(part.weights for part in parts)])
        return cls(Stacks.concatenate([part.stacks for part in parts]), weights)

    def between(self, begin: int, end: int) -> Outstanding:
        """Return those at the places begin .. end - 1."""
        return Outstanding(self.stacks.between(begin, end), self.weights[begin:end])

    def cut(self, n: int, most_stacks: int) -> list[Outstanding]:
        """Cut into at most n pieces of about equal weight, or more if they were too long.

        A frontier holds few stacks near the root of the tree, with most of its weight, and many far
        down with hardly any; those stay together.

        Examples
        --------
        >>> stacks = Stacks.from_lists([[1], [2], [3], [4]])
        >>> [len(piece) for piece in Outstanding(stacks, np.array([4, 1, 1, 2.0])).cut(2, 99)]
        [1, 3]
        """
        if not len(self):
            return []
        weights = self.weights
        if weights.sum() < len(self) * np.finfo(np.float64).tiny:  # too far down to tell
            weights = np.ones(len(self))
        upto = np.cumsum(weights) - weights / 2  # to the middle of every stack
        n_pieces = max(1, min(n, len(self)))
        numbers = (upto / weights.sum() * n_pieces).astype(np.int64)
        long = np.arange(len(self)) // most_stacks
        cuts = np.flatnonzero(np.diff(numbers) | np.diff(long)) + 1
        bounds = [0, *cuts.tolist(), len(self)]
        return [self.between(begin, end) for begin, end in pairwise(bounds)]

    def take(self, places: npt.NDArray[np.int64]) -> Outstanding:
        """Return those at these places."""
        return Outstanding(self.stacks.take(places), self.weights[places])


@dataclass(eq=False)
class Step:
    """What some results change: all of it is kept, or nothing."""

    covers: list[Stacks] = field(default_factory=list)
    n_covers: int = 0
    _done: list[npt.NDArray[np.int64]] = field(default_factory=list)
    _new: list[Outstanding] = field(default_factory=list)

    def add(self, done: npt.NDArray[np.int64], new: Outstanding, covers: Stacks) -> None:
        """Add the changes of one result: the numbers of stacks done, new stacks, covers."""
        self._done.append(done)
        self._new.append(new)
        if len(covers):
            self.covers.append(covers)
            self.n_covers += len(covers)

    def changes(self) -> tuple[list[int], Outstanding]:
        """Return the numbers of stacks that are done, and the new stacks that are outstanding.

        Stacks that came and went within the step are in neither.
        """
        done = np.concatenate([np.empty(0, np.int64), *self._done])
        new = Outstanding.join(self._new)
        passed = np.isin(done, new.stacks.roots)
        left = np.flatnonzero(np.isin(new.stacks.roots, done, invert=True))
        return done[~passed].tolist(), new.take(left)
