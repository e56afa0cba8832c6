"""The engine `lanes`: Sudoku and its variants, many grids side by side in SIMD lanes.

Puzzles are dug out of solved grids in the same lanes (``core/lanes/dig.h``).

Each lane searches below one stack; see ``core/lanes/search.h``. The width of a vector is that of
the machine's registers. Only the time depends on it and, under a budget, the frontier.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from batchsolve.core import native
from batchsolve.core.arrays import Ints, UInts
from batchsolve.engines import Outcome, Task
from batchsolve.engines.native import core_task, outcome_of, search_links
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem, SolvedGrids
from batchsolve.problems.stacks import Stacks


def search(problem: ExactCover, task: Task) -> Outcome:
    """Search the stacks of a task; see `batchsolve.engines`.

    Stacks with branches come from other engines, and are left to dancing links.
    """
    if task.stacks.branches.size:
        return search_links(problem, task)
    grids = cast(GridProblem, problem)
    outcome = _search(grids, task)
    return _with_first_covers(outcome, grids, task) if task.any_order else outcome


def _search(grids: GridProblem, task: Task) -> Outcome:
    rules = grids.rules_in_core(task.stacks.roots)
    found, digits = native.search_grids(*rules, core_task(task))

    def covers_of(offsets: Ints, options: UInts, roots: Ints) -> Stacks:
        if task.unordered:
            return SolvedGrids(grids, digits.reshape(-1, grids.n_cells), roots)
        return _covers(grids, Stacks.made(offsets, options, roots))

    return outcome_of(found, task, covers_of)


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
    found = _search(grids, replace(again, unordered=False))
    counts, nodes = outcome.counts.copy(), outcome.nodes.copy()
    counts[rows], nodes[rows] = found.counts, found.nodes
    others = ~np.isin(outcome.parents, rows)
    covers = outcome.solutions.take(~np.isin(outcome.solutions.roots, stacks.roots))
    return Outcome(
        counts,
        nodes,
        outcome.clash,
        Stacks.concatenate([covers, found.solutions]),
        Stacks.concatenate([outcome.frontier.take(others), found.frontier]),
        np.concatenate([outcome.weights[others], found.weights]),
        np.concatenate([outcome.parents[others], rows[found.parents]]),
    )


def _covers(problem: GridProblem, covers: Stacks) -> Stacks:
    """Return covers, given their options that fill cells."""
    if problem.cover_size == problem.n_cells:
        return covers
    others = problem.other_options(problem.grids(covers))
    options = np.concatenate([covers.options.reshape(-1, problem.n_cells), others], axis=1)
    return Stacks.equally_long(options, covers.roots)


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
        The bounds of the number of clues.
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
        Where rows have rules of their own, the digits that are there before fill the grids.
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


def dig_rows(
    problem: GridProblem,
    wish: Wish,
    keys: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.int64],
    made: Made,
) -> int:
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
