"""The graph of all covers, drawn by the fastest of several searches.

A diagram has nodes *(option, low, high)*, each made once. A node stands for the covers of *low*,
and those of *high* with the option added. Nodes have numbers; 0 and 1 are the terminals, no cover
and the empty one, and children have smaller numbers than their parents. They are made in the core:
`batchsolve/core/diagram.h`.

`GraphSearch` is a memoised search that keeps its covers: dancing links that draw a diagram
(`batchsolve/core/graph_search.h`, which names the source of the idea). If the branch item is always
the first that is uncovered, options come in a fixed order on every path: by the first item of each.
Then the diagram is a zero-suppressed decision diagram (S. Minato, *Zero-suppressed BDDs for set
manipulation in combinatorial problems*, DAC 1993).

The stack and the choices that it forces leave a smaller problem. Three searches of it take turns:
one that branches on the item with the fewest options, and two that take the items in a fixed order,
that of the problem and a narrow one (`batchsolve.engines.memo`).
Their times can differ by any factor: a fixed order suits tilings, and branching on the fewest
options suits problems in which choices force others. After some turns the searches far behind wait,
and then all but the leader, until it runs out of memory. Turns are measured in nodes, not in time,
so that the winner is the same on every machine.

Graphs of problems with bounds are drawn option by option: each is in the cover, or not. The
remaining choices depend on the *frontier*, the items that decided and undecided options share: on
the number of options that each has so far, or on its colour. So the states of the frontier are the
nodes of a layer, and equal states are one node. This is frontier-based search (J. Kawahara, T.
Inoue, H. Iwashita and S. Minato, *Frontier-based search for enumerating all constrained subgraphs
with compressed representation*, IEICE Transactions, 2017), for items in any number of options.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from batchsolve.core import native
from batchsolve.core.arrays import Bools, Ints, UInts, begins_of, owners_of
from batchsolve.core.interrupts import check_interrupt
from batchsolve.engines.memo import MEGABYTE, entries_in_order, narrow_order
from batchsolve.engines.native import core_problem, in_order
from batchsolve.errors import InputError, counted
from batchsolve.problems.exact_cover import ExactCover, fitting
from batchsolve.search.graphs import Nodes, SolutionGraph

FIRST_NODES = 8192  # for which a diagram has room at first
FIRST_KEYS = 4096  # likewise
STEPS = 2_000_000  # of a redrawing; some tenths of a second
FIRST_TURN = 2**14  # nodes
LONGEST_TURN = 2**20  # about a second
TURNS_OF_ALL, TURNS_OF_MANY = 3, 10  # then those far behind wait, and then all but one
FAR_BEHIND = 1e-3  # of the share of the tree that the leader has searched


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
    again = native.Redrawing(nodes, order, FIRST_NODES, megabytes * MEGABYTE)
    while not again.is_done:
        check_interrupt()
        again.run(steps)
        if again.is_out_of_memory:
            raise out_of_memory(megabytes, again.n_nodes)
    return again.take()


def with_items_in_order(problem: ExactCover, items: Ints) -> tuple[ExactCover, Ints]:
    """Return a problem with its primary items in this order and its options sorted by first item.

    Also return the old number of each of its options.
    """
    entries = entries_in_order(problem, items)
    options = np.argsort(np.minimum.reduceat(entries, problem.indptr[:-1]), kind="stable")
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


def remainder(problem: ExactCover, stack: UInts) -> tuple[Ints, ExactCover | None, Ints]:
    """Return the part of a problem that a stack leaves once the forced options are chosen.

    Returns
    -------
    chosen : ndarray of int64
        The options of the stack, and those that they force, ascending.
    problem : ExactCover or None
        The remaining problem; None if the stack is in no cover.
    options : ndarray of int64
        The number in the whole problem of each remaining option.
    """
    items, owner = problem.indices.astype(np.int64), owners_of(problem.indptr)
    is_primary = np.arange(problem.n_items) < problem.n_primary
    chosen = sorted(set(map(int, stack)))
    while True:
        in_no_cover = np.array(chosen), None, np.empty(0, np.int64)
        if problem.clash_position(chosen) >= 0:
            return in_no_cover
        fits, held = fitting(problem, chosen)
        sizes = np.bincount(items[fits[owner]], minlength=problem.n_items)
        is_open = is_primary & (held < 0)
        if np.any(sizes[is_open] == 0):
            return in_no_cover
        is_forced = is_open & (sizes == 1)
        if not is_forced.any():
            break
        chosen = np.union1d(chosen, owner[is_forced[items] & fits[owner]]).astype(int).tolist()
    number = np.cumsum(held < 0) - 1
    # an entry whose colour its item has already rules nothing out any more
    kept = fits[owner] & (held[items] < 0)
    sizes = np.bincount(owner[kept], minlength=problem.n_options)
    options = np.flatnonzero(sizes)
    rest = ExactCover(
        begins_of(sizes[options]),
        number[items[kept]],
        int((held < 0).sum()),
        int(is_open.sum()),
        colors=None if problem.colors is None else problem.colors[kept],
    )
    return np.array(chosen, np.int64), rest, options


def draw(problem: ExactCover, stack: UInts, *, megabytes: int, ordered: bool) -> SolutionGraph:
    """Draw the graph of the covers that contain a stack.

    Parameters
    ----------
    problem : ExactCover
    stack : ndarray of uint32
        A partial cover.
    megabytes : int
        The memory that diagrams and tables may take.
    ordered : bool
        True if options must come in the same order on all paths.

    Raises
    ------
    InputError
        If the graph takes more memory.
    """
    graph_of = partial(SolutionGraph, problem, stack=stack.tolist())
    if problem.bounds is not None:
        nodes = draw_by_frontier(problem, stack, megabytes)
        return graph_of(*nodes, order_of_options(problem).astype(np.uint32))
    chosen, rest, options = remainder(problem, stack)
    every = np.arange(problem.n_options)
    if rest is None:
        terminals = np.zeros(2, np.uint32)
        return graph_of(terminals, terminals, terminals, 0, every.astype(np.uint32))
    search, order = _race(rest, megabytes * MEGABYTE)
    nodes = search.take()
    if ordered and not search.is_ordered:
        nodes = reordered(nodes, order.astype(np.uint32), megabytes)
    full_order = None
    if ordered or search.is_ordered:
        full_order = np.concatenate([chosen, options[order]])
        full_order = np.concatenate([full_order, np.setdiff1d(every, full_order)]).astype(np.uint32)
    option, low, high, root = nodes
    option[2:] = options[option[2:]]
    return graph_of(*_below(chosen, option, low, high, root), full_order)


def _race(problem: ExactCover, most_bytes: int) -> tuple[GraphSearch, Ints]:
    """Run the searches in turns; return the first to finish, and an order of the options.

    A search that has used up its share of the memory waits; when all wait, the last gives up its
    memory to the others.
    """
    natural, narrow = np.arange(problem.n_primary), narrow_order(problem)
    racers = [GraphSearch.of(problem, natural), GraphSearch.of(problem)]
    if not np.array_equal(natural, narrow):
        racers.insert(0, GraphSearch.of(problem, narrow))
    fixed = [racer for racer in racers if racer.is_ordered]
    turn, n_turns = FIRST_TURN, 0
    while True:
        for racer in racers:
            racer.core.may_take(most_bytes // len(racers))
        for racer in _active(racers, n_turns):
            racer.core.run(turn)
            check_interrupt()
            if racer.core.is_done:
                best = max(fixed, key=lambda racer: racer.core.share)
                return racer, (racer if racer.is_ordered else best).options
        if all(racer.core.is_out_of_memory for racer in racers):
            if len(racers) == 1:
                raise out_of_memory(most_bytes // MEGABYTE, racers[0].core.n_nodes)
            last = min(racers, key=lambda racer: racer.core.share)
            racers.remove(last)
            last.core.end()
        turn, n_turns = min(2 * turn, LONGEST_TURN), n_turns + 1


def _active(racers: list[GraphSearch], n_turns: int) -> list[GraphSearch]:
    """Return the searches that run in a turn; none if all have used up their memory."""
    able = [racer for racer in racers if not racer.core.is_out_of_memory]
    if n_turns < TURNS_OF_ALL or not able:
        return able
    front = max(able, key=lambda racer: racer.core.share)
    if n_turns >= TURNS_OF_MANY:
        return [front]
    return [racer for racer in able if racer.core.share >= FAR_BEHIND * front.core.share]


def _below(chosen: Ints, option: UInts, low: UInts, high: UInts, root: int) -> Nodes:
    """Put options that all covers have on top of a diagram, in their order."""
    if root == 0 or not chosen.size:
        return option, low, high, root
    n = option.size
    above = np.arange(n, n + chosen.size)
    return (
        np.concatenate([option, chosen[::-1]]).astype(np.uint32),
        np.concatenate([low, np.zeros(chosen.size)]).astype(np.uint32),
        np.concatenate([high, [root], above[:-1]]).astype(np.uint32),
        int(above[-1]),
    )


# ---- option by option -----------------------------------------------------------------------


_FREE, _TAKEN = 0, 1  # states of a secondary item; its colour and 1 if it has one
_BYTES_OF_A_NODE = 56  # its children in a layer, and the node itself twice
_BYTES_OF_A_STATE = 112  # both of its children, and their places


def order_of_options(problem: ExactCover) -> Ints:
    """Return the options by their first item in a narrow order, then by their last."""
    entries = entries_in_order(problem, narrow_order(problem))
    begins = problem.indptr[:-1]
    first, last = np.minimum.reduceat(entries, begins), np.maximum.reduceat(entries, begins)
    return np.lexsort([last, first])


def draw_by_frontier(problem: ExactCover, stack: UInts, megabytes: int) -> Nodes:
    """Return the nodes of the graph, and its root.

    Parameters
    ----------
    problem : ExactCover
        With bounds.
    stack : ndarray of uint32
        The options that the covers contain, and the exclusions.
    megabytes : int
        The memory that nodes may take.

    Raises
    ------
    InputError
        If they take more.
    """
    order = order_of_options(problem)
    low_places, high_places, n_last = _layers(problem, order, stack, megabytes)
    option, low, high = ([np.zeros(2, np.int64)] for _ in range(3))
    n = 2
    places = np.ones(n_last, np.int64)  # node of the next layer -> its number
    for t in range(order.size - 1, -1, -1):
        numbers = np.append(places, 0)  # -1 stands for the terminal 0
        children = np.stack([numbers[low_places[t]], numbers[high_places[t]]], 1)
        pairs, place_of = np.unique(children, axis=0, return_inverse=True)
        has_node = pairs[:, 1] != 0
        number_of = np.where(has_node, n - 1 + np.cumsum(has_node), pairs[:, 0])
        places = number_of[place_of.ravel()]
        option.append(np.full(has_node.sum(), order[t]))
        low.append(pairs[has_node, 0])
        high.append(pairs[has_node, 1])
        n += int(has_node.sum())
    nodes = [np.concatenate(parts).astype(np.uint32) for parts in (option, low, high)]
    return nodes[0], nodes[1], nodes[2], int(places[0]) if places.size else 0


def _layers(
    problem: ExactCover, order: Ints, stack: UInts, megabytes: int
) -> tuple[list[Ints], list[Ints], int]:
    """Decide one option after another; return the nodes of all layers.

    Returns
    -------
    low, high : list of ndarray of int64
        The places of the children of a layer's nodes in the next layer; -1 if none.
    n_last : int
        Nodes behind the last layer: 1 if there is a cover.
    """
    bounds = problem.bounds
    assert bounds is not None
    undecided = np.bincount(problem.indices, minlength=problem.n_items)  # options of each item
    decided = set(map(int, stack))
    frontier: list[int] = []
    states = np.zeros((1, 0), np.uint32)
    if np.any(undecided[: len(bounds)] < bounds[:, 0]):
        states = states[:0]
    low, high, n_nodes = [], [], 0
    for o in map(int, order):
        check_interrupt()
        coloring = problem.coloring(o)
        new = [i for i in coloring if i not in frontier]
        frontier += new
        # six copies of both children of all states
        most = len(states) * (_BYTES_OF_A_STATE + 12 * states.itemsize * len(frontier))
        if n_nodes * _BYTES_OF_A_NODE + most > megabytes * MEGABYTE:
            raise out_of_memory(megabytes, n_nodes)
        states = np.concatenate([states, np.zeros((len(states), len(new)), np.uint32)], 1)
        undecided[list(coloring)] -= 1
        may_take = o in decided or min(coloring) < len(bounds)
        taken, can_take = _take(states, [frontier.index(i) for i in coloring], coloring, bounds)
        can_take &= may_take and o + problem.n_options not in decided
        can_leave = np.full(len(states), o not in decided)
        both = np.concatenate([states, taken])
        open_ = _settle(both, frontier, list(coloring), undecided, bounds)
        open_ &= np.append(can_leave, can_take)
        kept = [f for f, i in enumerate(frontier) if undecided[i]]
        frontier = [frontier[f] for f in kept]
        n = len(states)
        states, child = _distinct(both[open_][:, kept])
        places = np.full(2 * n, -1)
        places[open_] = child
        low.append(places[:n])
        high.append(places[n:])
        n_nodes += n
    return low, high, len(states)


def _take(
    states: UInts, columns: list[int], coloring: dict[int, int], bounds: Ints
) -> tuple[UInts, Bools]:
    """Return the states after an option with these items and colours, and a mask of valid ones."""
    after, can_take = states.copy(), np.ones(len(states), np.bool_)
    for f, (i, color) in zip(columns, coloring.items(), strict=True):
        if i < len(bounds):
            after[:, f] += 1
            can_take &= after[:, f] <= bounds[i, 1]
        else:
            state = color + 1 if color else _TAKEN
            can_take &= (after[:, f] == _FREE) | (after[:, f] == (state if color else _FREE))
            after[:, f] = state
    return after, can_take


def _settle(
    states: UInts, frontier: list[int], items: list[int], undecided: Any, bounds: Ints
) -> Bools:
    """Make states that leave the same choices equal; return a mask of those that meet all needs."""
    is_open = np.ones(len(states), np.bool_)
    for i in items:
        if i < len(bounds):
            used, n_left = states[:, frontier.index(i)], undecided[i]
            least, most = bounds[i]
            is_open &= used + n_left >= least
            used[(used >= least) & (used + n_left <= most)] = least
    return is_open


def _distinct(states: UInts) -> tuple[UInts, Ints]:
    """Return the distinct states, and the place of each among them."""
    if not states.shape[1]:
        return states[:1], np.zeros(len(states), np.int64)
    rows = np.ascontiguousarray(states).view(np.dtype((np.void, 4 * states.shape[1]))).ravel()
    _, first, place = np.unique(rows, return_index=True, return_inverse=True)
    return states[first], place
