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

from typing import Any, NamedTuple

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
FIRST_KEYS = 4096  # likewise
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


class GraphSearch(NamedTuple):
    """A search that draws the diagram of all covers, in several runs.

    Attributes
    ----------
    core : GraphSearch of the core
        See `batchsolve/core/graph_search.h`.
    options : ndarray of int64, shape (n_options,)
        The options in the order in which paths have them, if that is fixed.
    is_ordered : bool
        True if the order of items is fixed; then options come in one order on all paths.
    """

    core: Any
    options: Ints
    is_ordered: bool

    @classmethod
    def of(cls, problem: ExactCover, items: Ints | None = None) -> GraphSearch:
        """Return the search of a problem; it has no memory yet.

        Parameters
        ----------
        problem : ExactCover
        items : ndarray of int64, shape (n_primary,), optional
            The primary items in a fixed order: the branch item is always the first uncovered one.
            By default it is the one with the fewest options.
        """
        is_ordered, options = items is not None, np.arange(problem.n_options)
        if items is not None and problem.n_options:
            problem, options = with_items_in_order(problem, items)
        core = native.GraphSearch(core_problem(problem), is_ordered, FIRST_NODES, FIRST_KEYS)
        return cls(core, options, is_ordered)

    def take(self) -> Nodes:
        """Return the diagram, of all covers if the search is done, and end it."""
        option, low, high, root = self.core.take()
        option[2:] = self.options[option[2:]]
        return option, low, high, root
