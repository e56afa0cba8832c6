"""Algorithm X on a dict of sets, after Ali Assaf's “Algorithm X in 30 lines”.

The matrix is kept as a dict from each open item to the options that could still cover it. The
branch item is the first of those with the fewest options. An item with a colour stays in the dict,
with the options that give it that colour.
"""

from __future__ import annotations

from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.registry import registered
from batchsolve.engines.walk import PartialCover, walk
from batchsolve.problems.exact_cover import ExactCover


class AlgorithmX:
    """Algorithm X on Python's own dict and set: short, and the same idea as dancing links."""

    name = "algorithm-x"
    capabilities = registered(name).capabilities

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search the stacks of a task; see `batchsolve.engines.contract`."""
        return walk(problem, task, _Matrix(problem))


class _Matrix(PartialCover):
    def __init__(self, problem: ExactCover) -> None:
        super().__init__()
        self._n_primary = problem.n_primary
        self._items = [problem.coloring(o) for o in range(problem.n_options)]
        self._options: dict[int, set[int]] = {i: set() for i in range(problem.n_items)}
        for o, items in enumerate(self._items):
            for i in items:
                self._options[i].add(o)
        self._removed: list[set[int]] = []

    def choices(self) -> list[int] | None:
        # The dict forgets the order of its items, so the item itself breaks ties.
        sizes = [(len(some), i) for i, some in self._options.items() if i < self._n_primary]
        return sorted(self._options[min(sizes)[1]]) if sizes else None

    def select(self, o: int) -> None:
        for i, color in self._items[o].items():
            options = self._options[i]
            removed = {other for other in options if not 0 < color == self._items[other][i]}
            for other in removed:
                for j in self._items[other]:
                    if j != i:
                        self._options[j].remove(other)
            if color:
                options -= removed
            else:
                del self._options[i]
            self._removed.append(removed)

    def deselect(self, o: int) -> None:
        for i in reversed(self._items[o]):
            removed = self._removed.pop()
            self._options.setdefault(i, set()).update(removed)
            for other in removed:
                for j in self._items[other]:
                    if j != i:
                        self._options[j].add(other)
