"""A memoised search that keeps its covers: dancing links that draw a decision diagram.

The covers below a node are the union, over the options of its branch item, of the covers below each
child with that option added. So the search, on leaving a node, makes a chain of diagram nodes:
*(option, low, high)* stands for the covers of *low*, and those of *high* with the option added.
If two partial covers leave the same items (`batchsolve.engines.links`), the second has the
diagram of the first. M. Nishino, N. Yasuda, S. Minato and M. Nagata, *Dancing with Decision
Diagrams: A Combined Approach to Exact Cover*, AAAI 2017, call this DXZ; Knuth has it in TAOCP
7.2.2.1.

Equal diagram nodes are made once, found in a table of their own. Sets of covers in one chain are
disjoint, because each contains another option of the branch item. So no option occurs twice on a
path, and paths to the terminal 1 are covers, each of them one path.

If the branch item is always the first that is uncovered, options come in a fixed order on every
path: by the first item of each. Then the diagram is a zero-suppressed decision diagram (S. Minato,
*Zero-suppressed BDDs for set manipulation in combinatorial problems*, DAC 1993).
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64

from batchsolve.arrays import Ints, UInts
from batchsolve.engines.item_order import entries_in_order
from batchsolve.engines.links import (
    Links,
    U,
    choose,
    commit_others,
    cover,
    flip,
    hash_of,
    links_of,
    uncommit_others,
    uncover,
    words_of_key,
    write_key,
)
from batchsolve.engines.priced import in_order
from batchsolve.graphs.diagrams import (
    BYTES_OF_A_NODE,
    FIRST_NODES,
    SLOTS_OF_EACH,
    lengthened,
    make,
    place_of,
    put,
    room_for_nodes,
    size_of_next,
    slots_for,
    with_room,
)
from batchsolve.kernels import helper, inlined, kernel
from batchsolve.problems.exact_cover import ExactCover

W = uint64

FIRST_KEYS = 4096

DONE, SPENT, NODES_FULL, KEYS_FULL = range(4)
"""The events that end a walk: the search is over, all nodes allowed are visited, or the room for
diagram nodes, or for keys, is full."""


class Memory(NamedTuple):
    """The keys of the nodes searched, with the diagram node of each."""

    keys: np.ndarray  # uint64, shape (n, words)
    nodes: np.ndarray  # uint32; key -> diagram node
    slots: np.ndarray  # uint32; hash -> number of the key, counted from 1, or 0


class Pending(NamedTuple):
    """The children with covers of the nodes on the current path, level after level."""

    option: np.ndarray
    node: np.ndarray
    begin: np.ndarray  # level -> its first child
    is_kept: np.ndarray  # level -> whether its key is to be kept


class Standing(NamedTuple):
    """The position of a walk."""

    level: int
    entered: bool
    visited: int
    n_nodes: int  # of the diagram
    n_keys: int
    n_pending: int
    result: int  # the diagram node of the node left last


@inlined
def _find(key, memory):
    """Return the number of a key, counted from 1; 0 if it is not there."""
    slots, keys = memory.slots, memory.keys
    s = place_of(hash_of(key), slots)
    while True:
        x = slots[s]
        if x == U(0):
            return U(0)
        w = 0
        while w < key.size and keys[x - U(1), w] == key[w]:
            w += 1
        if w == key.size:
            return x
        s += W(1)
        if s == W(slots.size):
            s = W(0)


@kernel
def _fill_slots_of_keys(memory, n_keys):
    for x in range(n_keys):
        put(U(x + 1), hash_of(memory.keys[x]), memory.slots)


@helper
def _first_item(links):
    """Return the options of the first active item, or of one that has none; and the item."""
    right, size = links.right, links.size
    p = right[0]
    while p != 0:
        if size[p] == U(0):
            return U(0), p
        p = right[p]
    return size[right[0]], right[0]


@kernel
def _walk(
    links, n_primary, is_ordered, uncovered, key, choice, pending, memory, diagram, here, most
):
    """Continue the search until an event.

    Parameters
    ----------
    links : Links
    n_primary : int
    is_ordered : bool
        True if the branch item is always the first; else it is the one with the fewest options.
    uncovered, key : ndarray of uint64
        The items not covered, and room for a key.
    choice : ndarray of uint32, shape (n_levels,)
    pending : Pending
    memory : Memory
    diagram : Diagram
    here : Standing
    most : int
        The upper bound of the nodes visited when it ends.

    Returns
    -------
    int, tuple
        The event, and the fields of a `Standing`.
    """
    level, entered, visited, n_nodes, n_keys, n_pending, result = here
    down, right = links.down, links.right
    n_items = U(links.left.size - 1)
    while True:
        if entered:
            # X2. [Enter level l.]
            if visited >= most:
                return SPENT, (level, True, visited, n_nodes, n_keys, n_pending, result)
            visited += 1
            if right[0] == 0:
                result = 1
                entered = False
            else:
                # X3. [Choose i.]
                if is_ordered:
                    best, i = _first_item(links)
                else:
                    best, i = choose(links)
                if best == 0:
                    result = 0
                    entered = False
                else:
                    pending.is_kept[level] = best > 1
                    if best > 1:  # a node with one child is left to that child
                        write_key(key, uncovered, links, n_primary)
                        x = _find(key, memory)
                        if x != U(0):
                            result = np.int64(memory.nodes[x - U(1)])
                            entered = False
                    if entered:
                        # X4. [Cover i.]
                        cover(i, links)
                        choice[level] = down[i]
                        pending.begin[level] = n_pending
        while True:
            if not entered:
                # X8. [Leave level l.]
                if level == 0:
                    return DONE, (0, False, visited, n_nodes, n_keys, n_pending, result)
                level -= 1
                # X6. [Try again.]
                if choice[level] > n_items:
                    if result != 0:
                        pending.option[n_pending] = links.option[choice[level]]
                        pending.node[n_pending] = result
                        n_pending += 1
                    flip(choice[level], links, uncovered)
                    uncommit_others(choice[level], links)
                    choice[level] = down[choice[level]]
            # X5. [Try x_l.]
            if choice[level] > n_items:
                commit_others(choice[level], links)
                flip(choice[level], links, uncovered)
                level += 1
                entered = True
                break
            # X7. [Backtrack.]
            full = DONE
            if n_nodes + n_pending - pending.begin[level] > diagram.option.size:
                full = NODES_FULL
            elif n_keys == memory.nodes.size:
                full = KEYS_FULL
            if full != DONE:  # the walk comes back to this step, as if a level below were left
                return full, (level + 1, False, visited, n_nodes, n_keys, n_pending, result)
            uncover(choice[level], links)
            result = 0
            while n_pending > pending.begin[level]:
                n_pending -= 1
                result, n_nodes = make(
                    pending.option[n_pending], result, pending.node[n_pending], diagram, n_nodes
                )
            if pending.is_kept[level]:
                write_key(key, uncovered, links, n_primary)
                memory.keys[n_keys] = key
                memory.nodes[n_keys] = result
                n_keys += 1
                put(U(n_keys), hash_of(key), memory.slots)
            entered = False


@kernel
def _share(links, choice, level):
    """Return the share of the tree before the current node; siblings have equal shares."""
    share, of_node = 0.0, 1.0
    n_items = U(links.left.size - 1)
    for s in range(level):
        i = choice[s]
        if i > n_items:
            i = links.top[i]
        place, n_children = 0, 0
        p = links.down[i]
        while p != i:
            place += n_children if p == choice[s] else 0
            n_children += 1
            p = links.down[p]
        if choice[s] == i:
            place = n_children
        of_node /= n_children
        share += place * of_node
    return share


def with_items_in_order(problem: ExactCover, items: Ints) -> tuple[ExactCover, Ints]:
    """Return a problem with its primary items in this order and its options sorted by first item.

    Also returns the old number of each of its options.
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
    is_done : bool
    is_out_of_memory : bool
        True if it ended because it may take no more memory.
    """

    def __init__(self, problem: ExactCover, items: Ints | None = None) -> None:
        self.is_ordered = items is not None
        self.options = np.arange(problem.n_options)
        if items is not None and problem.n_options:
            problem, self.options = with_items_in_order(problem, items)
        self._most_bytes = 0
        words, n_levels = words_of_key(problem), problem.n_items + 2
        is_item = np.zeros(64 * words, np.bool_)
        is_item[1 : problem.n_items + 1] = True
        self._links: Links = links_of(problem)
        self._choice = np.zeros(n_levels, np.uint32)
        self._walked = (
            self._links,
            problem.n_primary,
            self.is_ordered,
            np.packbits(is_item, bitorder="little").view(np.uint64),
            np.zeros(words, np.uint64),
            self._choice,
            Pending(
                np.zeros(problem.indices.size + 1, np.uint32),
                np.zeros(problem.indices.size + 1, np.uint32),
                np.zeros(n_levels, np.int64),
                np.zeros(n_levels, np.bool_),
            ),
        )
        self._diagram = room_for_nodes(FIRST_NODES)
        self._memory = Memory(
            np.zeros((FIRST_KEYS, words), np.uint64),
            np.zeros(FIRST_KEYS, np.uint32),
            slots_for(FIRST_KEYS),
        )
        self._here = Standing(0, True, 0, 2, 0, 0, 0)
        self.is_done = self.is_out_of_memory = False

    @property
    def n_nodes(self) -> int:
        """Diagram nodes made so far."""
        return self._here.n_nodes - 2

    @property
    def root(self) -> int:
        """The diagram node of all covers; valid when the search is done."""
        return self._here.result

    @property
    def share(self) -> float:
        """The share of the tree that is searched, from 0 to 1."""
        if self.is_done:
            return 1.0
        return float(_share(self._links, self._choice, self._here.level))

    def may_take(self, most_bytes: int) -> None:
        """Set the upper bound of the memory of the diagram and its tables; it is 0 at first."""
        self.is_out_of_memory &= most_bytes <= self._most_bytes
        self._most_bytes = most_bytes

    def forget_tables(self) -> None:
        """Free the tables that only the search needs; it cannot go on afterwards."""
        self._diagram = self._diagram._replace(slots=slots_for(0))
        self._memory = Memory(np.zeros((0, 1), np.uint64), *np.zeros((2, 0), np.uint32))

    def run(self, nodes: int) -> None:
        """Visit that many more nodes, or fewer if the search ends or may take no more memory."""
        most = self._here.visited + nodes
        while not (self.is_done or self.is_out_of_memory):
            event, here = _walk(*self._walked, self._memory, self._diagram, self._here, most)
            self._here = Standing(*here)
            if event == SPENT:
                return
            if event == DONE:
                self.is_done = True
            elif event == NODES_FULL:
                self.is_out_of_memory = not self._lengthen_diagram()
            else:
                self.is_out_of_memory = not self._lengthen_memory()

    def arrays(self) -> tuple[UInts, ...]:
        """Return option, low and high of all diagram nodes, the terminals first."""
        n = self._here.n_nodes
        option = np.zeros(n, np.uint32)
        option[2:] = self.options[self._diagram.option[2:n]]
        return option, self._diagram.low[:n], self._diagram.high[:n]

    @property
    def _free(self) -> int:
        """Bytes that the diagram and its tables may take in addition."""
        taken = sum(array.nbytes for array in (*self._diagram, *self._memory))
        return self._most_bytes - taken

    def _lengthen_diagram(self) -> bool:
        n, here = self._diagram.option.size, self._here
        least = here.n_nodes + here.n_pending  # a chain may be longer than the diagram
        size = size_of_next(n, least, self._free, BYTES_OF_A_NODE)
        if size:
            self._diagram = with_room(self._diagram, here.n_nodes, size)
        return size > 0

    def _lengthen_memory(self) -> bool:
        old, n = self._memory, self._here.n_keys
        bytes_of_each = 8 * old.keys.shape[1] + 4 * (1 + SLOTS_OF_EACH)
        size = size_of_next(n, n + 1, self._free, bytes_of_each)
        if size:
            keys, nodes = (lengthened(part, n, size) for part in old[:2])
            self._memory = Memory(keys, nodes, slots_for(size))
            _fill_slots_of_keys(self._memory, n)
        return size > 0
