"""The engine `lanes`: Sudoku and its variants, many grids side by side in SIMD lanes.

Each lane searches below one stack; see ``core/lanes/search.h``. The width of a vector is that of
the machine's registers. Only the time depends on it and, under a budget, the stacks that are left.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from batchsolve.core import native
from batchsolve.engines.contract import Outcome, Task, check_support, registered
from batchsolve.engines.prepared import prepared
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem, SolvedGrids
from batchsolve.problems.stacks import Searchable, Stacks
from batchsolve.problems.sudoku import Sudoku
from batchsolve.problems.variant import Variant


def search(problem: Searchable, task: Task) -> Outcome:
    """Search the stacks of a task; see `batchsolve.engines.contract`."""
    check_support(registered("lanes"), problem)
    grids, stacks = cast(GridProblem, problem), task.stacks
    given = native.LanesTask(
        stacks.offsets,
        stacks.options,
        stacks.roots,
        task.limits,
        task.allowances,
        task.budget,
        task.depth,
        task.keep,
        task.room,
        task.any_order,
        task.unordered,
    )
    if isinstance(grids, Sudoku):
        found = native.search_boxes(grids.box_rows, grids.box_columns, given)
    else:
        found = native.search_houses(*rules_of(grids, stacks.roots), given)
    counts, nodes, clash, digits, options, roots, offsets, left, parents, weights = found
    if task.unordered:
        solutions: Stacks = SolvedGrids(grids, digits.reshape(-1, grids.n_cells), roots)
    else:
        solutions = _covers(grids, options.reshape(-1, grids.n_cells), roots)
    frontier = Stacks(offsets, left, stacks.roots[parents])
    return Outcome(counts, nodes, clash, solutions, frontier, weights, parents)


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
    return _shared_rules(problem), native.RowRules(*problem.own), problem.rows_of(roots)


@prepared
def _shared_rules(problem: ExactCover) -> Any:
    assert isinstance(problem, Variant)
    _, *arrays = problem.arrays
    return native.GridRules(problem.n_cells, problem.n_digits, *arrays)


def _covers(
    problem: GridProblem, options: npt.NDArray[np.uint32], roots: npt.NDArray[np.int64]
) -> Stacks:
    """Return covers, given their options that fill cells."""
    covers = Stacks.equally_long(options, roots)
    if problem.cover_size == problem.n_cells:
        return covers
    others = problem.other_options(problem.grids(covers))
    return Stacks.equally_long(np.concatenate([options, others], axis=1), roots)
