"""The graph of all covers, drawn by the fastest of several searches.

The stack and the choices that it forces leave a smaller problem. Three searches of it take turns:
one that branches on the item with the fewest options, and two that take the items in a fixed order,
that of the problem and a narrow one (`batchsolve.engines.item_order`).
Their times can differ by any factor: a fixed order suits tilings, and branching on the fewest
options suits problems in which choices force others. After some turns the searches far behind wait,
and then all but the leader, until it runs out of memory. Turns are measured in nodes, not in time,
so that the winner is the same on every machine.
"""

from __future__ import annotations

import numpy as np

from batchsolve.arrays import Bools, Ints, UInts
from batchsolve.engines.item_order import narrow_order
from batchsolve.graphs.diagrams import MEGABYTE, GraphSearch, Nodes, out_of_memory, reordered
from batchsolve.graphs.frontier import draw_by_frontier, order_of_options
from batchsolve.graphs.solution_graph import SolutionGraph
from batchsolve.interrupts import check_interrupt
from batchsolve.problems.exact_cover import ExactCover, owners_of

FIRST_TURN = 2**14  # nodes
LONGEST_TURN = 2**20  # about a second
TURNS_OF_ALL, TURNS_OF_MANY = 3, 10  # then those far behind wait, and then all but one
FAR_BEHIND = 1e-3  # of the share of the tree that the leader has searched


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
    indptr, items = problem.indptr, problem.indices.astype(np.int64)
    colors = (
        np.zeros(items.size, np.int64) if problem.colors is None else problem.colors.astype(int)
    )
    owner = owners_of(problem)
    held = np.full(problem.n_items, -1)  # the colour that an item has; 0: covered; -1: neither
    chosen: list[int] = []
    following = sorted(set(map(int, stack)))
    while True:
        for o in following:
            entries = slice(indptr[o], indptr[o + 1])
            if np.any(_is_barred(held[items[entries]], colors[entries])):
                return np.array(chosen), None, np.empty(0, np.int64)
            held[items[entries]] = colors[entries]
        chosen += following
        is_left = np.ones(problem.n_options, np.bool_)
        is_left[owner[_is_barred(held[items], colors)]] = False
        is_left[chosen] = False
        sizes = np.bincount(items[is_left[owner]], minlength=problem.n_items)[: problem.n_primary]
        is_open = held[: problem.n_primary] < 0
        if np.any(is_open & (sizes == 0)):
            return np.array(chosen), None, np.empty(0, np.int64)
        forced = is_open & (sizes == 1)
        if not forced.any():
            break
        is_forced = np.zeros(problem.n_items, np.bool_)
        is_forced[: problem.n_primary] = forced
        following = np.unique(owner[is_forced[items] & is_left[owner]]).tolist()
    number = np.cumsum(held < 0) - 1
    # an entry whose colour its item has already rules nothing out any more
    kept = is_left[owner] & (held[items] < 0)
    sizes = np.bincount(owner[kept], minlength=problem.n_options)
    options = np.flatnonzero(sizes)
    left = ExactCover(
        np.concatenate([[0], np.cumsum(sizes[options])]),
        number[items[kept]],
        int((held < 0).sum()),
        int(is_open.sum()),
        colors=colors[kept],
    )
    return np.array(sorted(chosen), np.int64), left, options


def _is_barred(held: Ints, colors: Ints) -> Bools:
    """Return True for each entry whose item is covered, or has another colour."""
    return (held == 0) | ((held > 0) & (held != colors))


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
    if problem.bounds is not None:
        nodes = draw_by_frontier(problem, stack, megabytes)
        return SolutionGraph(problem, *nodes, order_of_options(problem).astype(np.uint32))
    chosen, left, options = remainder(problem, stack)
    every = np.arange(problem.n_options)
    if left is None:
        none = np.zeros(2, np.uint32)
        return SolutionGraph(problem, none, none, none, 0, every.astype(np.uint32))
    search, order = _race(left, megabytes * MEGABYTE)
    found = search.take()
    if ordered and not search.is_ordered:
        found = reordered(found, order.astype(np.uint32), megabytes)
    in_order = None
    if ordered or search.is_ordered:
        in_order = np.concatenate([chosen, options[order]])
        in_order = np.concatenate([in_order, np.setdiff1d(every, in_order)]).astype(np.uint32)
    option, low, high, root = found
    option[2:] = options[option[2:]]
    return SolutionGraph(problem, *_below(chosen, option, low, high, root), in_order)


def _race(problem: ExactCover, most_bytes: int) -> tuple[GraphSearch, Ints]:
    """Run the searches in turns; return the first to finish, and an order of the options.

    A search that has used up its share of the memory waits; when all wait, the last gives up its
    memory to the others.
    """
    natural, narrow = np.arange(problem.n_primary), narrow_order(problem)
    racers = [GraphSearch(problem, natural), GraphSearch(problem)]
    if not np.array_equal(natural, narrow):
        racers.insert(0, GraphSearch(problem, narrow))
    fixed = [racer for racer in racers if racer.is_ordered]
    turn, n_turns = FIRST_TURN, 0
    while True:
        for racer in racers:
            racer.may_take(most_bytes // len(racers))
        for racer in _active(racers, n_turns):
            racer.run(turn)
            check_interrupt()
            if racer.is_done:
                best = max(fixed, key=lambda each: each.share)
                return racer, (racer if racer.is_ordered else best).options
        if all(racer.is_out_of_memory for racer in racers):
            if len(racers) == 1:
                raise out_of_memory(most_bytes // MEGABYTE, racers[0].n_nodes)
            last = min(racers, key=lambda each: each.share)
            racers.remove(last)
            last.give_up()
        turn, n_turns = min(2 * turn, LONGEST_TURN), n_turns + 1


def _active(racers: list[GraphSearch], n_turns: int) -> list[GraphSearch]:
    """Return the searches that run in a turn; none if all have used up their memory."""
    able = [racer for racer in racers if not racer.is_out_of_memory]
    if n_turns < TURNS_OF_ALL or not able:
        return able
    front = max(able, key=lambda each: each.share)
    if n_turns >= TURNS_OF_MANY:
        return [front]
    return [each for each in able if each.share >= FAR_BEHIND * front.share]


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
