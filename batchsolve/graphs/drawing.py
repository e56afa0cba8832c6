"""The graph of all covers, drawn by the fastest of several searches.

The stack and the choices that it forces leave a problem of its own, smaller than the first. Three
searches of it take turns: one that branches on the item with the fewest options, and two that take
the items in a fixed order, that of the problem and a narrow one. Their times can differ by any
factor: a fixed order suits tilings, and branching on the fewest options suits problems in which
choices force others. After some turns the searches far behind wait, and then all but the one in
front, until it has no memory left. Turns are measured in nodes, not in time, so that the winner is
the same on every machine.

A narrow order has a narrow frontier. Once the first items of an order are covered, what is left
depends on the others that have an option in common with them: the *frontier*. There are at most as
many different remainders as the frontier has subsets. To make the widest frontier narrow is to find
the vertex separation, or the path-width, of the graph of items; that is NP-hard, so the order is
made greedily, as in frontier-based search (J. Kawahara, T. Inoue, H. Iwashita and S. Minato,
*Frontier-based search for enumerating all constrained subgraphs with compressed representation*,
IEICE Transactions, 2017).
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import uint64

from batchsolve.engines.intrinsics import popcount, trailing_zeros
from batchsolve.graphs.diagrams import MEGABYTE, out_of_memory, reordered
from batchsolve.graphs.search import GraphSearch
from batchsolve.graphs.solution_graph import SolutionGraph
from batchsolve.interrupts import check_interrupt
from batchsolve.kernels import kernel
from batchsolve.problems.exact_cover import ExactCover

W = uint64

MOST_ITEMS = 4096  # whose neighbours are listed in 2 MB, and ordered within a second
FIRST_TURN = 2**14  # nodes
LONGEST_TURN = 2**20  # about a second
TURNS_OF_ALL, TURNS_OF_MANY = 3, 10  # then those far behind wait, and then all but one
FAR_BEHIND = 1e-3  # of the share that the one in front has done


class Remainder(NamedTuple):
    """The part of a problem that a stack leaves.

    Attributes
    ----------
    chosen : ndarray of int64
        The options of the stack, and those that they force, ascending.
    problem : ExactCover or None
        The problem that is left; None if the stack is in no cover.
    options : ndarray of int64
        For each option left, its number in the whole problem.
    """

    chosen: npt.NDArray[np.int64]
    problem: ExactCover | None
    options: npt.NDArray[np.int64]


def remainder(problem: ExactCover, stack: npt.NDArray[np.uint32]) -> Remainder:
    """Return the part of a problem that a stack leaves once the forced options are chosen."""
    indptr, items = problem.indptr, problem.indices.astype(np.int64)
    colors = (
        np.zeros(items.size, np.int64) if problem.colors is None else problem.colors.astype(int)
    )
    owner = np.repeat(np.arange(problem.n_options), np.diff(indptr))
    held = np.full(problem.n_items, -1)  # the colour that an item has; 0: covered; -1: neither
    chosen: list[int] = []
    following = sorted(set(map(int, stack)))
    while True:
        for o in following:
            entries = slice(indptr[o], indptr[o + 1])
            if np.any(_is_barred(held[items[entries]], colors[entries])):
                return Remainder(np.array(chosen), None, np.empty(0, np.int64))
            held[items[entries]] = colors[entries]
        chosen += following
        is_left = np.ones(problem.n_options, np.bool_)
        is_left[owner[_is_barred(held[items], colors)]] = False
        is_left[chosen] = False
        sizes = np.bincount(items[is_left[owner]], minlength=problem.n_items)[: problem.n_primary]
        is_open = held[: problem.n_primary] < 0
        if np.any(is_open & (sizes == 0)):
            return Remainder(np.array(chosen), None, np.empty(0, np.int64))
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
    return Remainder(np.array(sorted(chosen), np.int64), left, options)


def _is_barred(held: npt.NDArray[np.int64], colors: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Tell for each entry whether its item is covered, or has another colour."""
    return (held == 0) | ((held > 0) & (held != colors))


def draw(
    problem: ExactCover,
    stack: npt.NDArray[np.uint32],
    *,
    megabytes: int,
    ordered: bool,
) -> SolutionGraph:
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
    left = remainder(problem, stack)
    every = np.arange(problem.n_options)
    if left.problem is None:
        none = np.zeros(2, np.uint32)
        return SolutionGraph(problem, none, none, none, 0, every.astype(np.uint32))
    search, order = _race(left.problem, megabytes * MEGABYTE)
    (option, low, high), root, is_ordered = search.arrays(), search.root, search.is_ordered
    if ordered and not is_ordered:
        search.forget_tables()
        is_ordered = True
        option, low, high, root = reordered(
            option, low, high, root, order.astype(np.uint32), megabytes
        )
    in_order = None
    if is_ordered:
        in_order = np.concatenate([left.chosen, left.options[order]])
        in_order = np.concatenate([in_order, np.setdiff1d(every, in_order)]).astype(np.uint32)
    option = np.concatenate([option[:2], left.options[option[2:]].astype(np.uint32)])
    nodes = _below(left.chosen, option, low, high, root)
    return SolutionGraph(problem, *nodes, in_order)


def _race(problem: ExactCover, most_bytes: int) -> tuple[GraphSearch, npt.NDArray[np.int64]]:
    """Run the searches in turns; return the one that is done first, and an order of the options.

    A search that has used up its share of the memory waits; when all of them wait, the one furthest
    behind gives up, and its memory goes to the others.
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
        for racer in _whose_turn_it_is(racers, n_turns):
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
            last.forget_tables()
        turn, n_turns = min(2 * turn, LONGEST_TURN), n_turns + 1


def _whose_turn_it_is(racers: list[GraphSearch], n_turns: int) -> list[GraphSearch]:
    """Return the searches that go on in a turn; none if all have used up their memory."""
    able = [racer for racer in racers if not racer.is_out_of_memory]
    if n_turns < TURNS_OF_ALL or not able:
        return able
    front = max(able, key=lambda each: each.share)
    if n_turns >= TURNS_OF_MANY:
        return [front]
    return [each for each in able if each.share >= FAR_BEHIND * front.share]


def _below(
    chosen: npt.NDArray[np.int64],
    option: npt.NDArray[np.uint32],
    low: npt.NDArray[np.uint32],
    high: npt.NDArray[np.uint32],
    root: int,
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.uint32], int]:
    """Put options that all covers have on top of a diagram; the first comes first."""
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


# ---- a narrow order of the items -------------------------------------------------------------


@kernel
def _neighbours(indptr, indices, n_items):
    """Return the items with which each has an option in common, a bit each."""
    words = (n_items + 63) // 64
    near = np.zeros((n_items, words), np.uint64)
    for o in range(indptr.size - 1):
        for x in range(indptr[o], indptr[o + 1]):
            for y in range(indptr[o], indptr[o + 1]):
                if x != y:
                    near[indices[x], indices[y] >> 6] |= W(1) << W(indices[y] & 63)
    return near


@kernel
def _greedy(near, n_primary, first):
    """Return the primary items from a first one on; the next widens the frontier least.

    Ties go to the item that has been in the frontier for longest, then to the first.
    """
    words = near.shape[1]
    n_items = near.shape[0]
    met = np.zeros(words, np.uint64)  # placed, or in the frontier
    since = np.full(n_items, n_items, np.int64)  # when an item came into the frontier
    placed = np.zeros(n_primary, np.bool_)
    order = np.zeros(n_primary, np.int64)
    item = first
    for n in range(n_primary):
        if n > 0:
            item, least = -1, 0
            for i in range(n_primary):
                if not placed[i]:
                    more = 0
                    for w in range(words):
                        more += popcount(near[i, w] & ~met[w])
                    if since[i] < n_items:
                        more -= 1
                    if item < 0 or more < least or (more == least and since[i] < since[item]):
                        item, least = i, more
        order[n] = item
        placed[item] = True
        met[item >> 6] |= W(1) << W(item & 63)
        for w in range(words):
            new = near[item, w] & ~met[w]
            met[w] |= new
            while new:
                since[64 * w + trailing_zeros(new)] = n
                new &= new - W(1)
    return order


@kernel
def _widths(near, order):
    """Return the number of items in the frontier after each item of an order."""
    n_items = near.shape[0]
    begin, end = np.full(n_items, order.size, np.int64), np.zeros(n_items, np.int64)
    for n in range(order.size):
        end[order[n]] = n  # a primary item stays until its turn, others until that of the last
    for n in range(order.size):
        for j in range(n_items):
            if (near[order[n], j >> 6] >> W(j & 63)) & W(1):
                begin[j] = min(begin[j], n)
                if j >= order.size:
                    end[j] = n
    widths = np.zeros(order.size, np.int64)
    for j in range(n_items):
        for n in range(begin[j], end[j]):
            widths[n] += 1
    return widths


def narrow_order(problem: ExactCover) -> npt.NDArray[np.int64]:
    """Return the primary items in an order with a narrow frontier.

    Parameters
    ----------
    problem : ExactCover
        If it has more than `MOST_ITEMS` items, they keep their order.

    Returns
    -------
    ndarray of int64, shape (n_primary,)

    Examples
    --------
    >>> from batchsolve.problems.families import family
    >>> board = family("dominoes:2x4")
    >>> [board.item_names[i] for i in narrow_order(board)]  # not row by row
    ['r1c1', 'r2c1', 'r1c2', 'r2c2', 'r1c3', 'r2c3', 'r1c4', 'r2c4']
    """
    given = np.arange(problem.n_primary)
    if not 0 < problem.n_primary <= problem.n_items <= MOST_ITEMS:
        return given
    near = _neighbours(problem.indptr, problem.indices, problem.n_items)
    fewest = int(np.argmin([np.bitwise_count(row).sum() for row in near[: problem.n_primary]]))
    firsts = dict.fromkeys([0, fewest, problem.n_primary - 1])
    orders = [given, *(_greedy(near, problem.n_primary, first) for first in firsts)]
    return min(orders, key=lambda order: _subsets(_widths(near, order)))


def _subsets(widths: npt.NDArray[np.int64]) -> float:
    """Return the logarithm of the number of subsets of all frontiers."""
    return float(np.logaddexp2.reduce(widths.astype(np.float64)))
