"""Decision diagrams: nodes *(option, low, high)*, each made once.

A node stands for the covers of *low*, and those of *high* with the option added. Nodes have
numbers; 0 and 1 are the terminals, no cover and the empty one, and children have smaller numbers
than their parents. A table finds the node that is equal to one about to be made.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import uint32, uint64

from batchsolve.kernels import inlined, kernel

U, W = uint32, uint64

SLOTS_OF_EACH = 2  # of a table, for each of its entries
BYTES_OF_A_NODE = 4 * (3 + SLOTS_OF_EACH)


class Diagram(NamedTuple):
    """Diagram nodes, the terminals among them, and their table."""

    option: np.ndarray  # uint32; node -> its option
    low: np.ndarray  # uint32
    high: np.ndarray  # uint32
    slots: np.ndarray  # uint32; hash -> node, or 0


@inlined
def place_of(h, slots):
    """Return the slot of a hash: its high half counts, its low half is mixed less."""
    return (h ^ (h >> W(29))) % W(slots.size)


@inlined
def hash_of_node(option, low, high):
    """Return a hash of a node."""
    h = (W(option) * W(0x9E3779B97F4A7C15)) ^ (W(low) << W(32) | W(high))
    h ^= h >> W(31)
    h *= W(0xBF58476D1CE4E5B9)
    h ^= h >> W(27)
    return h * W(0x94D049BB133111EB)


@inlined
def make(option, low, high, diagram, n_nodes):
    """Return the node (option, low, high), whose high is not 0, and how many nodes there are now.

    There must be room for one more.
    """
    slots = diagram.slots
    s = place_of(hash_of_node(option, low, high), slots)
    while True:
        x = slots[s]
        if x == U(0):
            diagram.option[n_nodes] = option
            diagram.low[n_nodes] = low
            diagram.high[n_nodes] = high
            slots[s] = U(n_nodes)
            return n_nodes, n_nodes + 1
        if diagram.option[x] == option and diagram.low[x] == low and diagram.high[x] == high:
            return np.int64(x), n_nodes
        s += W(1)
        if s == W(slots.size):
            s = W(0)


@inlined
def put(x, h, slots):
    """Put the number of an entry into the first free slot of its hash."""
    s = place_of(h, slots)
    while slots[s] != U(0):
        s += W(1)
        if s == W(slots.size):
            s = W(0)
    slots[s] = x


@kernel
def fill_slots(diagram, n_nodes):
    """Enter all nodes of a diagram into its empty table."""
    for x in range(2, n_nodes):
        h = hash_of_node(diagram.option[x], diagram.low[x], diagram.high[x])
        put(U(x), h, diagram.slots)


def slots_for(n: int) -> npt.NDArray[np.uint32]:
    """Return an empty table for n entries."""
    return np.zeros(SLOTS_OF_EACH * n + 1, np.uint32)


def room_for_nodes(n: int) -> Diagram:
    """Return a diagram of only the terminals, with room for n nodes in all."""
    option, low, high = np.zeros((3, n), np.uint32)
    return Diagram(option, low, high, slots_for(n))


def with_room(diagram: Diagram, n_nodes: int, room: int) -> Diagram:
    """Return the first `n_nodes` nodes of a diagram as one with room for `room` nodes."""
    option, low, high = (lengthened(part, n_nodes, room) for part in diagram[:3])
    longer = Diagram(option, low, high, slots_for(room))
    fill_slots(longer, n_nodes)
    return longer


def lengthened(array: npt.NDArray[Any], n: int, size: int) -> npt.NDArray[Any]:
    """Return an array of `size` rows that begins with the first n of another."""
    longer = np.zeros((size, *array.shape[1:]), array.dtype)
    longer[:n] = array[:n]
    return longer
