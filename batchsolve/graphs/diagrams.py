"""Decision diagrams: nodes *(option, low, high)*, each made once.

A node stands for the covers of *low*, and those of *high* with the option added. Nodes have
numbers; 0 and 1 are the terminals, no cover and the empty one, and children have smaller numbers
than their parents. They are made in the core: `batchsolve/core/diagram.h`.

`GraphSearch` is a memoised search that keeps its covers: dancing links that draw a diagram
(`batchsolve/core/graph_search.h`, which names the source of the idea). If the branch item is always
the first that is uncovered, options come in a fixed order on every path: by the first item of each.
Then the diagram is a zero-suppressed decision diagram (S. Minato, *Zero-suppressed BDDs for set
manipulation in combinatorial problems*, DAC 1993).
"""

from __future__ import annotations

import numpy as np

from batchsolve.arrays import Ints, UInts
from batchsolve.core import native
from batchsolve.engines.item_order import entries_in_order
from batchsolve.engines.native import core_problem
from batchsolve.engines.priced import in_order
from batchsolve.errors import InputError, counted
from batchsolve.interrupts import check_interrupt
from batchsolve.problems.exact_cover import ExactCover

MEGABYTE = 2**20
FIRST_NODES = 8192  # for which a diagram has room at first
STEPS = 2_000_000  # of a redrawing; some tenths of a second

Nodes = tuple[UInts, UInts, UInts, int]
"""Option, low and high of all nodes, and the root."""


def out_of_memory(megabytes: int, n_nodes: int) -> InputError:
    """Return the error of a graph that exceeds the memory."""
    return InputError(
        f"the graph of all covers takes more than {counted(megabytes, 'megabyte')}, and had "
        f"{counted(n_nodes, 'node')} by then; allow it more memory"
    )


def reordered(nodes: Nodes, order: UInts, megabytes: int, steps: int = STEPS) -> Nodes:
    """Reorder a diagram to one order of options; see `batchsolve/core/redrawing.h`.

    Parameters
    ----------
    nodes : tuple
    order : ndarray of uint32, shape (n_options,)
        The options in their new order.
    megabytes : int
        The memory that both diagrams and the tables of the new one may take.
    steps : int
        Steps between two looks for an interrupt.

    Raises
    ------
    InputError
        If it takes more memory.
    """
    *old, root = nodes
    again = native.Redrawing(tuple(old), order, FIRST_NODES, megabytes * MEGABYTE)
    while not again.is_done:
        check_interrupt()
        again.run(steps)
        if again.is_out_of_memory:
            raise out_of_memory(megabytes, again.n_nodes)
    drawn: Nodes = again.take(root)
    return drawn


# ---- the search that draws them -------------------------------------------------------------

FIRST_KEYS = 4096  # for which there is room at first


def with_items_in_order(problem: ExactCover, items: Ints) -> tuple[ExactCover, Ints]:
    """Return a problem with its primary items in this order and its options sorted by first item.

    Also return the old number of each of its options.
    """
    entries = entries_in_order(problem, items)
    first = np.minimum.reduceat(entries, problem.indptr[:-1])
    options = np.argsort(first, kind="stable")
    n_items, n_primary = problem.n_items, problem.n_primary
    again = ExactCover(problem.indptr, entries, n_items, n_primary, colors=problem.colors)
    return in_order(again, options), options


class GraphSearch:
    """A search that draws the diagram of all covers, in several runs.

    Parameters
    ----------
    problem : ExactCover
    items : ndarray of int64, shape (n_primary,), optional
        The primary items in a fixed order: the branch item is always the first uncovered one. By
        default it is the one with the fewest options.

    Attributes
    ----------
    is_ordered : bool
        True if the order of items is fixed; then options come in one order on all paths.
    options : ndarray of int64, shape (n_options,)
        The options in that order.
    """

    def __init__(self, problem: ExactCover, items: Ints | None = None) -> None:
        self.is_ordered = items is not None
        self.options = np.arange(problem.n_options)
        if items is not None and problem.n_options:
            problem, self.options = with_items_in_order(problem, items)
        in_core = core_problem(problem)
        self._search = native.GraphSearch(in_core, self.is_ordered, FIRST_NODES, FIRST_KEYS)

    @property
    def is_done(self) -> bool:
        """True if the tree is exhausted."""
        return bool(self._search.is_done)

    @property
    def is_out_of_memory(self) -> bool:
        """True if the search has used up its memory."""
        return bool(self._search.is_out_of_memory)

    @property
    def n_nodes(self) -> int:
        """Diagram nodes made so far."""
        return int(self._search.n_nodes)

    @property
    def share(self) -> float:
        """The searched share of the tree, from 0 to 1."""
        return float(self._search.share)

    def may_take(self, most_bytes: int) -> None:
        """Set the upper bound of the memory of the diagram and its tables; it is 0 at first."""
        self._search.may_take(most_bytes)

    def run(self, nodes: int) -> None:
        """Visit that many more nodes, or fewer if the search ends or uses up its memory."""
        self._search.run(nodes)

    def give_up(self) -> None:
        """Free the memory of a search that does not go on."""
        self._search.end()

    def take(self) -> Nodes:
        """Return the diagram, of all covers if the search is done, and end it."""
        option, low, high, root = self._search.take()
        option[2:] = self.options[option[2:]]
        return option, low, high, root
