"""The graph of all covers of a small problem, drawn in Python before its kernels are compiled.

It is the search of `batchsolve.graphs.search` with the items in a fixed order, on the matrix of
`batchsolve.engines.walk`: nodes are visited in the same order, and get the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from batchsolve.arrays import Ints, UInts
from batchsolve.engines.stand_ins import MOST_ENTRIES, TooLongError, measured
from batchsolve.engines.walk import Matrix
from batchsolve.graphs.search import FIRST_KEYS, with_items_in_order
from batchsolve.interrupts import check_interrupt
from batchsolve.problems.exact_cover import ExactCover

MOST_VISITED = FIRST_KEYS  # nodes; the kernel would not have lengthened its tables either
MOST_LEVELS = 400  # of Python's own stack


def small_graph(problem: ExactCover, items: Ints) -> SmallGraph | None:
    """Draw the graph of a problem with its primary items in an order; None if that takes long."""
    is_small = problem.n_entries <= MOST_ENTRIES and problem.n_primary <= MOST_LEVELS
    if not is_small or problem.colors is not None or not problem.n_options:
        return None
    try:
        with measured() as check_time:
            return SmallGraph(problem, items, check_time)
    except (TooLongError, RecursionError):  # the caller may be deep in its own calls
        return None


class SmallGraph(Matrix):
    """A diagram of all covers; the attributes are those of `GraphSearch`."""

    is_ordered = True

    def __init__(self, problem: ExactCover, items: Ints, check_time: Callable[[], None]) -> None:
        again, self.options = with_items_in_order(problem, items)
        super().__init__(again)
        self._check_time = check_time
        self._n_visited = 0
        self._known: dict[frozenset[int], int] = {}  # items left -> node
        self._nodes: dict[tuple[int, int, int], int] = {}  # option, low and high -> node
        self.root = self._below()

    def arrays(self) -> tuple[UInts, ...]:
        """Return option, low and high of all diagram nodes, the terminals first."""
        nodes = np.array([(0, 0, 0)] * 2 + list(self._nodes), np.uint32)
        nodes[2:, 0] = self.options[nodes[2:, 0]]
        return tuple(nodes.T.copy())

    def choices(self) -> list[int] | None:
        """Return the options of the first open item; none if an item has none."""
        left = [i for i in self._options if i < self._n_primary]
        if not left:
            return None
        return sorted(self._options[min(left)]) if all(self._options[i] for i in left) else []

    def _below(self) -> int:
        """Return the node of the covers below this partial cover."""
        check_interrupt()
        self._check_time()
        self._n_visited += 1
        if self._n_visited > MOST_VISITED:
            raise TooLongError
        choices = self.choices()
        if choices is None:
            return 1
        items = self.items_left() if len(choices) > 1 else frozenset()
        if items in self._known:
            return self._known[items]
        children = []
        for o in choices:
            self.select(o)
            children.append((o, self._below()))
            self.deselect(o)
        node = 0
        for o, child in reversed(children):
            if child:
                node = self._nodes.setdefault((o, node, child), len(self._nodes) + 2)
        if items:
            self._known[items] = node
        return node
