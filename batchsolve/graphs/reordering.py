"""A diagram drawn anew, with options in one order on all paths.

The search that branches on the fewest options visits far fewer nodes than one in a fixed order of
items where choices force others, as in grids of Sudoku; but its paths have options in many orders.
Node after node, children first, its covers are put together anew: those of *low*, united
with those of *high* after the option is inserted into them (S. Minato, DAC 1993). The result is the
one zero-suppressed decision diagram of these covers in that order, whatever diagram they come from.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import uint32, uint64

from batchsolve.graphs.diagrams import (
    BYTES_OF_A_NODE,
    Diagram,
    make,
    room_for_nodes,
    with_room,
)
from batchsolve.kernels import kernel

U, W = uint32, uint64

STEPS = 2_000_000  # of a run; some tenths of a second
FIRST_NODES = 8192
CACHED = 1 << 20  # results that are remembered
_OPERATION = np.uint64(2**63)

A, B, TOP, LOW, STAGE = range(5)
"""The fields of a frame: the two nodes to be united, their first place, the low child of the
result, and the stage reached. To insert an option into B, A is `INSERT` + its place."""

INSERT = 2**31
_MOST_NODES = INSERT - 1

DONE, SPENT, FULL = range(3)


class WorkArrays(NamedTuple):
    """The working memory that one run leaves to the next."""

    frames: np.ndarray  # int64, shape (depth, 5)
    keys: np.ndarray  # uint64; what was united or inserted
    results: np.ndarray  # uint32; and what came of it
    drawn: np.ndarray  # uint32; old node -> new node


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
    work : WorkArrays
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


class Reordering:
    """A diagram that is drawn anew with options in one order, in several runs.

    Parameters
    ----------
    option, low, high : ndarray of uint32
        The nodes, as in `SolutionGraph`.
    root : int
    order : ndarray of uint32, shape (n_options,)
        The options in their new order.
    most_bytes : int
        The memory that the new diagram and its tables may take.

    Attributes
    ----------
    is_done : bool
    is_out_of_memory : bool
        True if it ended because it may take no more memory.
    """

    def __init__(
        self,
        option: npt.NDArray[np.uint32],
        low: npt.NDArray[np.uint32],
        high: npt.NDArray[np.uint32],
        root: int,
        order: npt.NDArray[np.uint32],
        most_bytes: int,
    ) -> None:
        self._old = option, low, high
        self._old_root = root
        self._order = order
        self._place = np.zeros(order.size, np.uint32)
        self._place[order] = np.arange(order.size, dtype=np.uint32)
        self._most_bytes = most_bytes
        drawn = np.zeros(option.size, np.uint32)
        drawn[1] = 1
        self._work = WorkArrays(
            np.zeros((order.size + 3, 5), np.int64),
            np.zeros(CACHED, np.uint64),
            np.zeros(CACHED, np.uint32),
            drawn,
        )
        self._graph: Diagram = room_for_nodes(FIRST_NODES)
        self._standing = 2, 0, 0, 0, 2  # x, n_frames, phase, result, n_nodes
        self.is_done = self.is_out_of_memory = False

    @property
    def n_bytes(self) -> int:
        """The memory that the new diagram and its tables take."""
        return sum(array.nbytes for array in (*self._graph, *self._work))

    @property
    def n_nodes(self) -> int:
        """Nodes made so far."""
        return self._standing[-1] - 2

    @property
    def root(self) -> int:
        """The new node of all covers; valid when it is done."""
        return int(self._work.drawn[self._old_root])

    def run(self, steps: int = STEPS) -> None:
        """Do that many steps, or fewer if it is done or may take no more memory."""
        while not (self.is_done or self.is_out_of_memory):
            event, *standing = _draw(
                self._old, self._place, self._graph, self._work, *self._standing, steps
            )
            self._standing = tuple(standing)
            if event == SPENT:
                return
            if event == DONE:
                self.is_done = True
            else:
                self.is_out_of_memory = not self._lengthen()

    def arrays(self) -> tuple[npt.NDArray[np.uint32], ...]:
        """Return option, low and high of all new nodes."""
        n = self._standing[-1]
        option = np.zeros(n, np.uint32)
        option[2:] = self._order[self._graph.option[2:n]]
        return option, self._graph.low[:n], self._graph.high[:n]

    def _lengthen(self) -> bool:
        n = self._graph.option.size
        free = self._most_bytes - self.n_bytes
        size = min(2 * n, n + free // BYTES_OF_A_NODE, _MOST_NODES)
        if size < 1.05 * n:
            return False
        self._graph = with_room(self._graph, self._standing[-1], size)
        return True
