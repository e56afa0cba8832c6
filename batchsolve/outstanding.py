"""What is left of a search, and what results change about it.

What is left is a set of *outstanding* stacks, each with a number and a weight, its share of the
tree. A *step* is the difference that some results make: the stacks that are done, those that are
new, and what was found. Whoever keeps the steps can resume from any of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from batchsolve.stacks import Stacks


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

    def take(self, places: npt.NDArray[np.int64]) -> Outstanding:
        """Return those at these places."""
        return Outstanding(self.stacks.take(places), self.weights[places])


@dataclass(eq=False)
class Step:
    """What some results change: all of it is kept, or nothing."""

    done: set[int] = field(default_factory=set)
    new: dict[int, tuple[npt.NDArray[np.uint32], float]] = field(default_factory=dict)
    covers: list[Stacks] = field(default_factory=list)
    n_covers: int = 0

    def add(self, done: list[int], new: Outstanding, covers: Stacks) -> None:
        """Add the changes of one result."""
        for number in done:
            if self.new.pop(number, None) is None:
                self.done.add(number)
        numbers = new.stacks.roots.tolist()
        for number, stack, weight in zip(numbers, new.stacks, new.weights.tolist(), strict=True):
            self.new[number] = (stack, weight)
        if len(covers):
            self.covers.append(covers)
            self.n_covers += len(covers)
