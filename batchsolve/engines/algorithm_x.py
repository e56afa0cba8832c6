"""Algorithm X on a dict of sets, after Ali Assaf's “Algorithm X in 30 lines”.

The matrix is kept as a dict from each open item to the options that could still cover it. The
branch item is the first of those with the fewest options.
"""

from __future__ import annotations

from batchsolve.cover import ExactCover
from batchsolve.engines.contract import Capabilities, Outcome, Task
from batchsolve.engines.walk import PartialCover, walk


class AlgorithmX:
    """Algorithm X on Python's own dict and set: short, and the same idea as dancing links."""

    name = "algorithm-x"
    capabilities = Capabilities("Knuth's Algorithm X on a dict of sets, in Python")

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search the stacks of a task; see `batchsolve.engines.contract`."""
        return walk(problem, task, _Matrix(problem))


class _Matrix(PartialCover):
    def __init__(self, problem: ExactCover) -> None:
        super().__init__()
        self._n_primary = problem.n_primary
        self._items = [problem.option(o).tolist() for o in range(problem.n_options)]
        self._options: dict[int, set[int]] = {i: set() for i in range(problem.n_items)}
        for o, items in enumerate(self._items):
            for i in items:
                self._options[i].add(o)
        self._covered: list[set[int]] = []

    def choices(self) -> list[int] | None:
        # The dict forgets the order of its items, so the item itself breaks ties.
        sizes = [(len(some), i) for i, some in self._options.items() if i < self._n_primary]
        return sorted(self._options[min(sizes)[1]]) if sizes else None

    def select(self, o: int) -> None:
        for i in self._items[o]:
            for other in self._options[i]:
                for j in self._items[other]:
                    if j != i:
                        self._options[j].remove(other)
            self._covered.append(self._options.pop(i))

    def deselect(self, o: int) -> None:
        for i in reversed(self._items[o]):
            self._options[i] = self._covered.pop()
            for other in self._options[i]:
                for j in self._items[other]:
                    if j != i:
                        self._options[j].add(other)
