"""Sudoku, many grids side by side in the lanes of vector registers.

Every lane searches below one stack: it propagates its grid with all the others (`passes`), and
where that leads no further it guesses: it saves its grid and tries the candidates of the branch
cell in ascending order. A lane that is done takes the next stacks or, if none is left, branches of
another lane. To keep a limit or an allowance exactly, one lane searches the stacks of one root, one
after another.

A *node* is a partial cover that is propagated: the stack itself, and every guess. The options
selected so far determine the fixpoint in which propagation ends, and that determines the branch
cell; so the tree depends on the partial cover alone, and its order is the lexicographic order of
the stacks. Lanes share the task's budget and room, so the frontier of a root depends on the number
of lanes; sums do not.

The width of a vector is chosen for the machine at hand. tdoku (Dillon, 2019), which uses the lanes
within one grid, showed that propagation in SIMD lanes pays for Sudoku.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import cast

import numpy as np
from llvmlite import binding

from batchsolve.engines import stand_ins
from batchsolve.engines.contract import (
    Capabilities,
    Outcome,
    Registered,
    Task,
    check_support,
    registered,
)
from batchsolve.engines.lanes.form import form_of
from batchsolve.engines.lanes.memory import (
    LaneOutput,
    TaskArrays,
    free,
    kind_of_lanes,
    room_for_covers,
    room_for_frontier,
    workspace,
)
from batchsolve.engines.lanes.results import outcome_of
from batchsolve.engines.lanes.search import search_on
from batchsolve.engines.prepared import prepared
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.stacks import Searchable
from batchsolve.problems.variant import Variant
from batchsolve.problems.variants import Variants
from batchsolve.settings import UNLIMITED

WIDTHS = (8, 16, 32)
_FORMS = {width: prepared(partial(form_of, width=width)) for width in WIDTHS}


@lru_cache
def best_width(n_digits: int) -> int:
    """Return the number of lanes that suits the machine's registers best."""
    features = binding.get_host_cpu_features()
    n_bits = 512 if features.get("avx512bw") else 256 if features.get("avx2") else 128
    return n_bits // (8 * kind_of_lanes(n_digits).itemsize)


@dataclass(frozen=True)
class SudokuLanes:
    """The engine of Sudoku in SIMD lanes.

    Parameters
    ----------
    width : int, optional
        Number of lanes: 8, 16 or 32; by default the one that suits the machine. Only the time
        depends on it and, under a budget, the stacks that are left.
    meanwhile : str
        The engine that may count in its own tree until this one is compiled; empty for none.
    """

    width: int | None = None
    meanwhile: str = ""

    name = "lanes"
    capabilities = registered(name).capabilities

    def search(self, problem: Searchable, task: Task) -> Outcome:
        """Search the stacks of a task; see `batchsolve.engines.contract`."""
        check_support(self, problem)
        grids = cast(GridProblem, problem)
        width = self.width or best_width(grids.n_digits)
        form = _FORMS[width](grids)
        stacks = task.stacks
        own = problem.own if isinstance(problem, Variant) else None
        memory = workspace(form, task, 0 if own is None else int(own.n_said.max(initial=0)))
        # lanes that share a root go broad before one goes deep: a small budget would end there,
        # with a large frontier and no cover
        any_order = task.any_order and task.budget >= width * grids.n_cells
        arrays = TaskArrays(
            stacks.offsets,
            stacks.options,
            stacks.roots,
            own,
            problem.rows_of(stacks.roots) if isinstance(problem, Variant) else stacks.roots,
            task.limits,
            task.allowances,
            task.depth,
            task.keep,
            any_order,
            task.unordered,
        )
        longest = int(np.diff(stacks.offsets).max(initial=0))
        counts, nodes = np.zeros((2, len(stacks)), np.int64)
        written = LaneOutput(
            counts,
            nodes,
            np.full(len(stacks), -1, np.int32),
            room_for_covers(len(stacks) if task.keep else 0, grids.n_cells),
            room_for_frontier(longest, grids.n_cells),
            np.full(len(stacks) + 1024, -1),  # more than most tasks need
        )
        while not search_on(*form, memory, arrays, written):
            written = written.with_more_room(memory.left)
        outcome = outcome_of(grids, task, written, memory.left)
        free(memory, written.covers)
        return outcome
