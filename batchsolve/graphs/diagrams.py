"""Decision diagrams: nodes *(option, low, high)*, each made once.

A node stands for the covers of *low*, and those of *high* with the option added. Nodes have
numbers; 0 and 1 are the terminals, no cover and the empty one, and children have smaller numbers
than their parents. They are made in the core: `batchsolve/core/diagram.h`.
"""

from __future__ import annotations

from batchsolve.arrays import UInts
from batchsolve.core import native
from batchsolve.errors import InputError, counted
from batchsolve.interrupts import check_interrupt

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
