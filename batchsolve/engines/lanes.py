"""The engine `lanes`: Sudoku and its variants, many grids side by side in SIMD lanes.

Each lane searches below one stack; see ``core/lanes/search.h``. The width of a vector is that of
the machine's registers. Only the time depends on it and, under a budget, the stacks that are left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from batchsolve.core import native
from batchsolve.engines.contract import Outcome, Task, check_support, registered
from batchsolve.engines.native import core_task, outcome_of
from batchsolve.engines.prepared import prepared
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem, SolvedGrids
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku
from batchsolve.problems.variant import Variant


def search(problem: ExactCover, task: Task) -> Outcome:
    """Search the stacks of a task; see `batchsolve.engines.contract`."""
    check_support(registered("lanes"), problem)
    grids = cast(GridProblem, problem)
    outcome = _search(grids, task)
    return _with_first_covers(outcome, grids, task) if task.any_order else outcome


def _search(grids: GridProblem, task: Task) -> Outcome:
    given = core_task(task)
    if isinstance(grids, Sudoku):
        found, digits = native.search_boxes(grids.box_rows, grids.box_columns, given)
    else:
        found, digits = native.search_houses(*rules_of(grids, task.stacks.roots), given)
    outcome = outcome_of(found, task)
    if task.unordered:
        digits = digits.reshape(-1, grids.n_cells)
        return replace(outcome, solutions=SolvedGrids(grids, digits, outcome.solutions.roots))
    return replace(outcome, solutions=_covers(grids, outcome.solutions))


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


def rules_of(problem: GridProblem, roots: npt.NDArray[np.int64]) -> tuple[Any, Any, Any]:
    """Return the rules of a `Variant` as the core takes them.

    Returns
    -------
    shared, own : GridRules, RowRules
        The rules of all rows, and those of each.
    rows : ndarray of int64
        The row of `own` for each root.
    """
    assert isinstance(problem, Variant)
    return _shared_rules(problem), problem.row_rules, problem.rows_of(roots)


@prepared
def _shared_rules(problem: ExactCover) -> Any:
    assert isinstance(problem, Variant)
    _, *arrays = problem.arrays
    return native.GridRules(problem.n_cells, problem.n_digits, *arrays)


def _covers(problem: GridProblem, covers: Stacks) -> Stacks:
    """Return covers, given their options that fill cells."""
    if problem.cover_size == problem.n_cells:
        return covers
    others = problem.other_options(problem.grids(covers))
    options = np.concatenate([covers.options.reshape(-1, problem.n_cells), others], axis=1)
    return Stacks.equally_long(options, covers.roots)
