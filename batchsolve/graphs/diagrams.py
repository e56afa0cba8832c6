"""Decision diagrams: nodes *(option, low, high)*, each made once.

A node stands for the covers of *low*, and those of *high* with the option added. Nodes have
numbers; 0 and 1 are the terminals, no cover and the empty one, and children have smaller numbers
than their parents. A table finds the node that is equal to one about to be made.

A diagram can be drawn anew, with options in one order on all paths. The search that branches on the
fewest options visits far fewer nodes than one in a fixed order of items where choices force others,
as in grids of Sudoku; but its paths have options in many orders. Node after node, children first,
its covers are put together anew: those of *low*, united with those of *high* after the option is
inserted into them (S. Minato, DAC 1993). The result is the one zero-suppressed decision diagram of
these covers in that order, whatever diagram they come from.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import uint32, uint64

from batchsolve.arrays import UInts
from batchsolve.errors import InputError, counted
from batchsolve.interrupts import check_interrupt
from batchsolve.kernels import inlined, kernel

U, W = uint32, uint64

MEGABYTE = 2**20
SLOTS_OF_EACH = 2  # of a table, for each of its entries
BYTES_OF_A_NODE = 4 * (3 + SLOTS_OF_EACH)
FIRST_NODES = 8192
_LEAST_GROWTH = 1.05  # less is not worth copying


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


def slots_for(n: int) -> UInts:
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


def size_of_next(n: int, least: int, free: int, bytes_of_each: int) -> int:
    """Return the next size of a table of n entries that needs `least` of them; 0 if none fits.

    Parameters
    ----------
    n, least : int
    free : int
        Bytes that it may take in addition.
    bytes_of_each : int
        The bytes that an entry takes.
    """
    most = min(n + max(free, 0) // bytes_of_each, 2**32 - 2)
    longer = min(max(2 * n, least), most)
    return longer if longer >= max(_LEAST_GROWTH * n, least) else 0


def out_of_memory(megabytes: int, n_nodes: int) -> InputError:
    """Return the error for a graph that takes more memory."""
    return InputError(
        f"the graph of all covers takes more than {counted(megabytes, 'megabyte')}, and had "
        f"{counted(n_nodes, 'node')} by then; allow it more memory"
    )


# ---- a diagram drawn anew -------------------------------------------------------------------

STEPS = 2_000_000  # of a run; some tenths of a second
CACHED = 1 << 20  # results that are remembered

A, B, TOP, LOW, STAGE = range(5)
"""The fields of a frame: the two nodes to be united, their first place, the low child of the
result, and the stage reached. To insert an option into B, A is `INSERT` + its place."""

INSERT = 2**31
_MOST_NODES = INSERT - 1

DONE, SPENT, FULL = range(3)


@kernel
def _draw(old, place, graph, work, x, n_frames, phase, result, n_nodes, steps):
    """Go on drawing old nodes until all are drawn, the steps are done, or the room is full.

    Parameters
    ----------
    old : tuple of ndarray of uint32
        Option, low and high of the old nodes.
    place : ndarray of uint32
        Option -> its place in the order, counted from 0.
    graph : Diagram
        The new one; its nodes have places instead of options.
    work : tuple of ndarray
        The working memory that one run leaves to the next: int64 frames, shape (depth, 5); uint64
        keys of what was united or inserted; uint32 results, what came of it; uint32 drawn, the new
        node of each old one.
    x : int
        The old node at hand.
    n_frames, phase, result, n_nodes, steps : int
        Phase 0: the node is not begun; 1: its option is being inserted; 2: it is being united.

    Returns
    -------
    int, int, int, int, int, int
        The event, then `x`, `n_frames`, `phase`, `result` and `n_nodes`.
    """
    option, low, high = old
    frames, keys, results, drawn = work
    last = graph.option.size
    while x < option.size:
        if n_frames == 0:
            if phase == 0:
                p, a, b = place[option[x]], drawn[low[x]], drawn[high[x]]
                if (a < U(2) or p < graph.option[a]) and (b < U(2) or p < graph.option[b]):
                    if n_nodes == last:
                        return FULL, x, 0, 0, result, n_nodes
                    y, n_nodes = make(p, a, b, graph, n_nodes)
                    drawn[x] = U(y)
                    x += 1
                    continue
                frames[0, A], frames[0, B] = INSERT + np.int64(p), np.int64(b)
                frames[0, STAGE] = 0
                n_frames, phase = 1, 1
            elif phase == 1:
                frames[0, A], frames[0, B] = np.int64(drawn[low[x]]), result
                frames[0, STAGE] = 0
                n_frames, phase = 1, 2
            else:
                drawn[x] = U(result)
                x += 1
                phase = 0
                continue
        steps -= 1
        if steps < 0:
            return SPENT, x, n_frames, phase, result, n_nodes
        f = n_frames - 1
        a, b = frames[f, A], frames[f, B]
        inserts = a >= INSERT
        if frames[f, STAGE] == 0:
            if not inserts:
                if a == b or b == 0:
                    result = a
                    n_frames -= 1
                    continue
                if a == 0:
                    result = b
                    n_frames -= 1
                    continue
                if a > b:
                    a, b = b, a
                    frames[f, A], frames[f, B] = a, b
            elif b == 0:
                result = 0
                n_frames -= 1
                continue
            key = (W(a) << W(32)) | W(b)
            h = key * W(0x9E3779B97F4A7C15)
            s = (h ^ (h >> W(32))) % W(keys.size)
            if keys[s] == key:
                result = np.int64(results[s])
                n_frames -= 1
                continue
            if inserts:
                p = a - INSERT
                if b == 1 or p < graph.option[b]:
                    if n_nodes == last:
                        return FULL, x, n_frames, phase, result, n_nodes
                    result, n_nodes = make(U(p), U(0), U(b), graph, n_nodes)
                    n_frames -= 1
                    continue
                frames[f, TOP], frames[f, STAGE] = np.int64(graph.option[b]), 1
                frames[n_frames, A], frames[n_frames, B] = a, np.int64(graph.low[b])
            else:
                # the terminal 1 comes last; of a and b, both are not 0, and not both are 1
                top_a = np.int64(graph.option[a]) if a > 1 else INSERT
                top_b = np.int64(graph.option[b]) if b > 1 else INSERT
                frames[f, TOP], frames[f, STAGE] = min(top_a, top_b), 1
                frames[n_frames, A] = np.int64(graph.low[a]) if top_a <= top_b else a
                frames[n_frames, B] = np.int64(graph.low[b]) if top_b <= top_a else b
            frames[n_frames, STAGE] = 0
            n_frames += 1
            continue
        if frames[f, STAGE] == 1:
            frames[f, LOW], frames[f, STAGE] = result, 2
            if inserts:
                frames[n_frames, A], frames[n_frames, B] = a, np.int64(graph.high[b])
            else:
                top = frames[f, TOP]
                has_a = a > 1 and np.int64(graph.option[a]) == top
                has_b = b > 1 and np.int64(graph.option[b]) == top
                frames[n_frames, A] = np.int64(graph.high[a]) if has_a else 0
                frames[n_frames, B] = np.int64(graph.high[b]) if has_b else 0
            frames[n_frames, STAGE] = 0
            n_frames += 1
            continue
        if n_nodes == last:
            return FULL, x, n_frames, phase, result, n_nodes
        result, n_nodes = make(U(frames[f, TOP]), U(frames[f, LOW]), U(result), graph, n_nodes)
        key = (W(a) << W(32)) | W(b)
        h = key * W(0x9E3779B97F4A7C15)
        s = (h ^ (h >> W(32))) % W(keys.size)
        keys[s], results[s] = key, U(result)
        n_frames -= 1
    return DONE, x, n_frames, phase, result, n_nodes


def reordered(
    option: UInts,
    low: UInts,
    high: UInts,
    root: int,
    order: UInts,
    megabytes: int,
    steps: int = STEPS,
) -> tuple[UInts, UInts, UInts, int]:
    """Draw a diagram anew with options in one order.

    Parameters
    ----------
    option, low, high : ndarray of uint32
        The nodes, as in `SolutionGraph`.
    root : int
    order : ndarray of uint32, shape (n_options,)
        The options in their new order.
    megabytes : int
        The memory that both diagrams and the tables of the new one may take.
    steps : int
        Steps between two looks for an interrupt.

    Returns
    -------
    option, low, high : ndarray of uint32
    root : int

    Raises
    ------
    InputError
        If it takes more memory.
    """
    old = option, low, high
    place = np.zeros(order.size, np.uint32)
    place[order] = np.arange(order.size)
    drawn = np.zeros(option.size, np.uint32)
    drawn[1] = 1
    work = (
        np.zeros((order.size + 3, 5), np.int64),
        np.zeros(CACHED, np.uint64),
        np.zeros(CACHED, np.uint32),
        drawn,
    )
    graph = room_for_nodes(FIRST_NODES)
    event, *standing = SPENT, 2, 0, 0, 0, 2  # x, n_frames, phase, result, n_nodes
    while event != DONE:
        check_interrupt()
        event, *standing = _draw(old, place, graph, work, *standing, steps)
        n = standing[-1]
        if event == FULL:
            taken = sum(array.nbytes for array in (*old, *graph, *work))
            free = megabytes * MEGABYTE - taken
            size = min(size_of_next(n, n + 1, free, BYTES_OF_A_NODE), _MOST_NODES)
            if size <= n:
                raise out_of_memory(megabytes, n - 2)
            graph = with_room(graph, n, size)
    new = np.zeros(n, np.uint32)
    new[2:] = order[graph.option[2:n]]
    return new, graph.low[:n], graph.high[:n], int(drawn[root])
