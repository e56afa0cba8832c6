"""The engines of the native core: problems and tasks in, outcomes out.

The searches of exact covers are those of `batchsolve/core`: `links.h`, `bits.cpp`, `sparse.cpp`,
`bounded.h` and `bounded_bits.cpp`; that of the cheapest covers is `cheapest.h`. Its options are
numbered by their net cost per primary item (see `Pricing`), so that the cheapest are tried first
and the order of the tree is that of numbers. Grids are searched, and puzzles dug out of solved
grids, in the lanes of `core/lanes`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import lcm
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from batchsolve.core import native
from batchsolve.core.arrays import Bools, Ints, UInts, Words, begins_of, owners_of
from batchsolve.engines import UNLIMITED, Outcome, Task, handicaps_of
from batchsolve.problems.exact_cover import ExactCover, prepared
from batchsolve.problems.grids import GridProblem, SolvedGrids
from batchsolve.problems.stacks import NO_BRANCHES, Stacks

MOST_OPTIONS = 40_000  # that a stack may leave to `bits`; their conflicts take 200 MB
FREE_OPTIONS = 4_096  # whose conflicts take 3 milliseconds; more have to be worth it:
OPTIONS_A_NODE = 4  # that a task may visit
_NO_WORDS = np.empty(0, np.uint32)
_NO_BOUNDS = np.empty(0, np.int64)


def _core_problem(problem: ExactCover) -> Any:
    """Return a problem as the core takes it."""
    return native.Problem(
        problem.indptr,
        problem.indices,
        _NO_WORDS if problem.colors is None else problem.colors,
        _NO_BOUNDS if problem.bounds is None else problem.bounds.reshape(-1),
        problem.n_items,
        problem.n_primary,
    )


core_problem = prepared(_core_problem)
"""`_core_problem`, which keeps the last few."""


def core_task(task: Task) -> tuple[Any, ...]:
    """Return a task as the core takes it."""
    stacks = task.stacks
    bounds = task.budget, task.depth, task.keep, task.room
    arrays = stacks.offsets, stacks.options, stacks.roots, stacks.branches.reshape(-1)
    in_core = *arrays, task.limits, task.allowances, np.full(len(stacks), task.fineness, np.int64)
    return in_core, *bounds, task.any_order, task.unordered, task.excluded


def outcome_of(result: Any, task: Task, covers_of: Callable[..., Stacks] = Stacks.made) -> Outcome:
    """Return the outcome of a task that the core has searched.

    `covers_of` makes the covers of their offsets, options and roots.
    """
    counts, nodes, clash, (*covers, rows), (offsets, options, parents), weights, branches = result
    roots = task.stacks.roots
    ranges = branches.reshape(-1, 3) if branches.size and branches.any() else NO_BRANCHES
    # of the core's type of 64 bits, long long, NumPy takes 30 times as long to add numbers up
    counts, nodes = counts.view(np.int64), nodes.view(np.int64)
    solutions = covers_of(*covers, roots[rows])
    frontier = Stacks.made(offsets, options, roots[parents], ranges)
    return Outcome(counts, nodes, clash, solutions, frontier, weights, parents)


def _links(problem: ExactCover, rule: str) -> Any:
    return native.links(_core_problem(problem), handicaps_of(problem, rule) if rule else _NO_WORDS)


_prepared_links = prepared(lambda problem: _links(problem, ""))


def search_links(problem: ExactCover, task: Task, rule: str = "") -> Outcome:
    """Search a task by dancing links under a branching rule; see `batchsolve.engines`."""
    if task.cheapest:
        return _search_cheapest(problem, task)
    links = _links(problem, rule) if rule else _prepared_links(problem)
    return outcome_of(native.search_links(links, core_task(task)), task)


def search_bits(problem: ExactCover, task: Task) -> Outcome:
    """Search a task bit-parallel; see `batchsolve.engines`.

    Problems too large for the sets of bits, or for the nodes wanted, are left to dancing links,
    which search the same tree.
    """
    in_core, task_in_core = core_problem(problem), core_task(task)
    if problem.bounds is None:
        n_nodes = min(task.budget, int(task.allowances.max(initial=0)))
        worth = max(FREE_OPTIONS, OPTIONS_A_NODE * min(n_nodes, MOST_OPTIONS))
        result = native.search_bits(in_core, task_in_core, min(worth, MOST_OPTIONS))
    else:
        result = native.search_bounded_bits(in_core, task_in_core)
    return search_links(problem, task) if result is None else outcome_of(result, task)


def search_cells(problem: ExactCover, task: Task) -> Outcome:
    """Search a task with a cell for each item; see `batchsolve.engines`.

    Problems too large for the cells are left to dancing links, which search the same tree.
    """
    result = native.search_sparse(core_problem(problem), core_task(task))
    return search_links(problem, task) if result is None else outcome_of(result, task)


# ---- grids side by side ---------------------------------------------------------------------


def search_grids(problem: ExactCover, task: Task) -> Outcome:
    """Search the grids of a task, many side by side in SIMD lanes; see `batchsolve.engines`.

    Each lane searches below one stack; see ``core/lanes/search.cpp``. The width of a vector is that
    of the machine's registers. Only the time depends on it and, under a budget, the frontier.
    Stacks with branches come from other engines, and are left to dancing links.
    """
    if task.stacks.branches.size:
        return search_links(problem, task)
    grids = cast(GridProblem, problem)
    outcome = _search_grids(grids, task)
    return _with_first_covers(outcome, grids, task) if task.any_order else outcome


def _search_grids(grids: GridProblem, task: Task) -> Outcome:
    result, digits = native.search_grids(*grids.rules_in_core(task.stacks.roots), core_task(task))

    def covers_of(offsets: Ints, options: UInts, roots: Ints) -> Stacks:
        if task.unordered:
            return SolvedGrids(grids, digits.reshape(-1, grids.n_cells), roots)
        return _covers(grids, Stacks.made(offsets, options, roots))

    return outcome_of(result, task, covers_of)


def _with_first_covers(outcome: Outcome, grids: GridProblem, task: Task) -> Outcome:
    """Search stacks again, in order, whose limit was reached while earlier branches were left.

    Their first covers may be in these branches. Such stacks are few, and their searches short: that
    takes less time than to search each branch. Roots with several stacks are left as they are.
    """
    if not outcome.parents.size:
        return outcome
    rows = np.unique(outcome.parents)
    rows = rows[outcome.counts[rows] >= task.limits[rows]]
    if not rows.size or not np.diff(task.stacks.roots).all():
        return outcome
    stacks = task.stacks.take(rows)
    limits, allowances = task.limits[rows], task.allowances[rows]
    again = replace(task, stacks=stacks, limits=limits, allowances=allowances, any_order=False)
    ordered = _search_grids(grids, replace(again, unordered=False))
    counts, nodes = outcome.counts.copy(), outcome.nodes.copy()
    counts[rows], nodes[rows] = ordered.counts, ordered.nodes
    others = ~np.isin(outcome.parents, rows)
    covers = outcome.solutions.take(~np.isin(outcome.solutions.roots, stacks.roots))
    return Outcome(
        counts,
        nodes,
        outcome.clash,
        Stacks.concatenate([covers, ordered.solutions]),
        Stacks.concatenate([outcome.frontier.take(others), ordered.frontier]),
        np.concatenate([outcome.weights[others], ordered.weights]),
        np.concatenate([outcome.parents[others], rows[ordered.parents]]),
    )


def _covers(problem: GridProblem, covers: Stacks) -> Stacks:
    """Return covers, given their options that fill cells."""
    if problem.cover_size == problem.n_cells:
        return covers
    others = problem.other_options(problem.grids(covers))
    options = np.concatenate([covers.options.reshape(-1, problem.n_cells), others], axis=1)
    return Stacks.equally_long(options, covers.roots)


# ---- the cheapest covers --------------------------------------------------------------------

SWEEPS = 30  # over the items, to find taxes; 100 sweeps make the sum of taxes 1 % larger
FRACTIONS = 1024  # of a unit of cost, for taxes
MOST_BYTES = 10**8  # read in one round that looks for useless options; 0.05 s
_MOST_SCALED = 2**61


def _search_cheapest(problem: ExactCover, task: Task) -> Outcome:
    """Search for the cheapest covers, with options numbered by cost."""
    pricing = pricing_of(problem)
    # in the order of their costs, a range of options is not a range of their numbers
    stacks = renumbered(task.stacks, pricing.rank)
    again = replace(task, stacks=stacks, fineness=UNLIMITED, excluded=True)
    costs = pricing.scale, pricing.net, pricing.share, pricing.is_useless
    result = native.search_cheapest(
        _core_by_cost(problem),
        (*costs, scaled_ceilings(problem, pricing, task), task.cheapest),
        core_task(again),
    )
    outcome = outcome_of(result, task)
    return replace(
        outcome,
        solutions=renumbered(outcome.solutions, pricing.order),
        frontier=renumbered(outcome.frontier, pricing.order),
    )


@dataclass(frozen=True, eq=False)
class Pricing:
    """The costs of options in a form for a search for the cheapest covers.

    If every cover has a primary item in a fixed number of options, a *tax* on the item can be taken
    off the cost of every option that has it: all covers become cheaper by the same amount (Knuth,
    7.2.2.1). The rest of the cost of an option is its *net* cost. Its *share* is the net cost
    divided by the number of its primary items. A partial cover needs at least the sum of the least
    shares of its uncovered items.

    Attributes
    ----------
    base : int
        The sum of the taxes of a cover, scaled.
    scale : int
        The factor of taxes, net costs and shares, by which they are integers or little is lost by
        rounding down.
    net, share : ndarray of int64, shape (n_options,)
        Of the options in the order in which they are tried.
    is_useless : ndarray of bool, shape (n_options,)
        Likewise; see `useless_options`.
    order : ndarray of uint32, shape (n_options,)
        The options by share, then by number: the order in which they are tried.
    rank : ndarray of uint32, shape (n_options,)
        The place of each option in that order.
    """

    base: int
    scale: int
    net: Ints
    share: Ints
    is_useless: Bools
    order: UInts
    rank: UInts

    @classmethod
    def of(cls, problem: ExactCover) -> Pricing:
        """Return the pricing of a problem with costs."""
        assert problem.costs is not None
        owner = owners_of(problem.indptr)
        n_primary = np.bincount(
            owner[problem.indices < problem.n_primary], minlength=problem.n_options
        )
        scale = lcm(*np.unique(n_primary[n_primary > 0]).tolist()) * FRACTIONS
        # taxes are at most the highest cost, and net costs (n + 1) ** 2 times that
        highest = max(1, int(problem.costs.max(initial=0)))
        most = _MOST_SCALED // (highest * (int(n_primary.max(initial=0)) + 1) ** 2)
        n_sweeps = SWEEPS
        if most < problem.n_options:
            n_sweeps, most = 0, _MOST_SCALED // max(1, int(problem.costs.sum()))
        else:
            most //= max(1, problem.n_options)
        scale = min(scale, most)
        net = problem.costs * scale
        fixed = np.ones(problem.n_primary, np.int64)
        if problem.bounds is not None:
            least, most_of = problem.bounds.T
            fixed = np.where(least == most_of, least, 0)
        is_useless = useless_options(problem)
        ends, by_item = _by_item(problem, ~is_useless[owner])
        base = native.take_taxes(by_item, ends, fixed, net, highest * scale, n_sweeps)
        share = net // np.maximum(n_primary, 1)
        order = np.argsort(share, kind="stable").astype(np.uint32)
        rank = np.argsort(order).astype(np.uint32)
        return cls(base, scale, net[order], share[order], is_useless[order], order, rank)

    def path(self, decisions: Sequence[int] | UInts) -> tuple[int, ...]:
        """Return the ranks of the options taken and excluded; they compare in tree order."""
        n = self.rank.size
        return tuple(
            int(self.rank[d]) if d < n else n + int(self.rank[d - n]) for d in map(int, decisions)
        )


def useless_options(problem: ExactCover) -> Bools:
    """Return True for options that are seen to be in no cover.

    An option is *useless* if it lacks an item of which every option conflicts with it, useless ones
    aside. Knuth's program DLX-PRE removes such options. Two options conflict if they share an item
    without colours that has an upper bound of 1.

    Returns
    -------
    ndarray of bool, shape (n_options,)
        All False if the matrix of conflicts would be too large.
    """
    n, n_primary = problem.n_options, problem.n_primary
    is_useless: Bools = np.zeros(n, np.bool_)
    if n * problem.n_entries > MOST_BYTES:
        return is_useless
    begins, options_of = _by_item(problem, np.ones(problem.n_entries, np.bool_))
    by_item = np.split(options_of, begins[1:-1])
    bounds = np.ones((n_primary, 2), np.int64) if problem.bounds is None else problem.bounds
    excludes = np.ones(problem.n_items, np.bool_)
    excludes[:n_primary] = bounds[:, 1] == 1
    if problem.colors is not None:
        excludes[problem.indices[problem.colors > 0]] = False
    conflicts = np.zeros((n, n), np.bool_)
    for i in np.flatnonzero(excludes):
        conflicts[np.ix_(by_item[i], by_item[i])] = True
    needed = [by_item[i] for i in np.flatnonzero(bounds[:, 0] > 0)]
    n_before = -1
    while n_before < is_useless.sum():
        n_before = int(is_useless.sum())
        for options in needed:
            is_blocked = np.logical_and.reduce(conflicts[options[~is_useless[options]]])
            is_blocked[options] = False
            is_useless |= is_blocked
    return is_useless


def _by_item(problem: ExactCover, which: Bools) -> tuple[Ints, Ints]:
    """Return the options of each item as joined lists, by some of the entries."""
    items, owners = problem.indices[which], owners_of(problem.indptr)[which]
    begins = begins_of(np.bincount(items, minlength=problem.n_items))
    return begins, owners[np.argsort(items, kind="stable")]


def in_order(problem: ExactCover, options: npt.NDArray[np.integer], **more: Any) -> ExactCover:
    """Return the problem of some options in an order, with no names and costs but those given."""
    indptr, entries = problem.entries_of(options)
    return ExactCover(
        indptr,
        problem.indices[entries],
        problem.n_items,
        problem.n_primary,
        colors=None if problem.colors is None else problem.colors[entries],
        bounds=problem.bounds,
        **more,
    )


pricing_of = prepared(Pricing.of)


@prepared
def _core_by_cost(problem: ExactCover) -> Any:
    """Return a problem as the core takes it, its options in the order in which they are tried."""
    return _core_problem(in_order(problem, pricing_of(problem).order))


def scaled_ceilings(problem: ExactCover, pricing: Pricing, task: Task) -> Ints:
    """Return the upper bounds of the costs of covers below the stacks of a task, as net costs."""
    assert task.ceilings is not None
    assert problem.costs is not None
    ceilings = np.minimum(task.ceilings, problem.costs.sum())  # no cover costs more
    return ceilings * pricing.scale - pricing.base


def renumbered(stacks: Stacks, number: UInts) -> Stacks:
    """Return stacks with their options renumbered, excluded ones too."""
    n = number.size
    table = np.concatenate([number, number + np.uint32(n)])
    # the core reports options that do not exist
    known = stacks.options < 2 * n
    options = np.where(known, table[np.where(known, stacks.options, 0)], stacks.options)
    return replace(stacks, options=options.astype(np.uint32))


# ---- puzzles dug out of solved grids --------------------------------------------------------

# The reasons why an attempt fails: clues only where they may stand leave several solutions; the
# number of clues; a clue that could be taken away, or the search for that was too long; no solved
# grid was found in time; and two that callers find: the puzzle is known already, or has another
# rating than wished.
SEVERAL, NUMBER, SPARE, EMPTY, KNOWN, RATED = range(6)


class Wish(NamedTuple):
    """The puzzles that are wanted.

    Attributes
    ----------
    units : pair of ndarrays
        The cells of units, whose clues are taken away together, as lists: where each begins, of
        int64 and shape (n_units + 1,), and the cells, of uint16, unit by unit.
    outside : ndarray of uint16
        The other cells: no clue may stand there.
    free : ndarray of uint16
        The cells of houses that no rule joins, house by house. A fill begins with all digits in
        each of them, in random orders.
    fewest, most : int
        The bounds of the number of clues; `most` is unlimited where no number is aimed at.
    is_minimal : bool
        No clue can be taken away.
    is_weighed : bool
        Find the weights of puzzles, which are minimal, with a unit for each cell.
    n_fills : int
        Solved grids from which an attempt takes one.
    is_single : bool
        Make one attempt at each row; if it fails, the row has no puzzle, and the weight 0.
    row_nodes, trial_nodes, fill_nodes : int
        Nodes after which a row has failed; after which clues stay although no second solution was
        found; and after which an attempt does with the grids filled by then. If there is none, a
        single attempt has failed, and others go back at contradictions.
    """

    units: tuple[np.ndarray, np.ndarray]
    outside: np.ndarray
    free: np.ndarray
    fewest: int
    most: int
    is_minimal: bool
    is_weighed: bool
    n_fills: int
    is_single: bool
    row_nodes: int
    trial_nodes: int
    fill_nodes: int


class Made(NamedTuple):
    """The puzzles of rows.

    Attributes
    ----------
    puzzles : ndarray of uint8, shape (n, n_cells)
    solutions : ndarray of uint8, shape (n, n_cells)
        With per-row rules, the solved grids that were given.
    attempts : ndarray of int64, shape (n,)
        The first attempt to make; then the one that succeeded.
    nodes : ndarray of int64, shape (n,)
        Nodes of all attempts.
    reasons : ndarray of int64, shape (n, 6)
        The number of attempts that failed for each reason.
    fewest, most : ndarray of int64, shape (n,)
        The fewest and the most clues of those that failed by their number.
    weights : ndarray of float64, shape (n,)
        The mean weight of the grids filled: 1 / (the chance of the one that is taken), on average.
        If puzzles are weighed, times 1 / (the chance to be dug out of that), on average.
    """

    puzzles: np.ndarray
    solutions: np.ndarray
    attempts: np.ndarray
    nodes: np.ndarray
    reasons: np.ndarray
    fewest: np.ndarray
    most: np.ndarray
    weights: np.ndarray

    @classmethod
    def of_rows(cls, n: int, n_cells: int) -> Made:
        """Return rows that are not made yet."""
        puzzles, solutions = np.zeros((2, n, n_cells), np.uint8)
        attempts, nodes, fewest, most = np.zeros((4, n), np.int64)
        fewest[:] = n_cells
        reasons = np.zeros((n, RATED + 1), np.int64)
        return cls(puzzles, solutions, attempts, nodes, reasons, fewest, most, np.zeros(n))


def dig_rows(problem: GridProblem, wish: Wish, keys: Words, rows: Ints, made: Made) -> int:
    """Make the puzzles of some rows.

    Parameters
    ----------
    problem : GridProblem
        A `Sudoku`, a `Variant`, or the `Variants` of the rows.
    wish : Wish
    keys : ndarray of uint64, shape (2,)
        The seed of the random numbers.
    rows : ndarray of int64, shape (n,)
        The numbers of the rows.
    made : Made
        Receives the puzzles.

    Returns
    -------
    int
        The place of the first row for which no puzzle was found, or n.
    """
    in_core = problem.rules_in_core(np.arange(len(rows)))
    return int(native.dig_grids(*in_core, wish, made, keys, rows))
