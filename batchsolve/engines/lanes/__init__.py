"""9×9 Sudoku, many grids side by side in the lanes of vector registers.

Every lane searches one root: it propagates its grid with all the others (`passes`), and where
that leads no further it guesses: it puts its candidates aside and tries the candidates of the
branch cell in ascending order. A lane that is done takes the next root. Adjacent stacks of one root
go through one lane, one after another, for they share a limit.

A *node* is a partial cover that is propagated: the stack itself, and every guess. Propagation ends
in the one fixpoint that the options selected so far lead to, on which the branch cell depends; so
the tree depends on the partial cover alone, and its order is the lexicographic order of the stacks.
Lanes share the task's budget and room, hence what is left of which root depends on the number of
lanes; sums do not.

The width of a vector is chosen for the machine at hand. That propagation in SIMD lanes pays for
Sudoku was shown by tdoku (Dillon, 2019), which uses the lanes within one grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from llvmlite import binding

from batchsolve.engines.contract import Capabilities, Outcome, Task, check_support
from batchsolve.engines.lanes.memory import (
    FOUND,
    HANDED_BACK,
    Covers,
    Frontier,
    Result,
    TaskArrays,
    Written,
    kind_of_lanes,
    room_for_covers,
    room_for_frontier,
    workspace,
)
from batchsolve.engines.lanes.passes import Form
from batchsolve.engines.lanes.search import search_on
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks

WIDTHS = (8, 16, 32)


@lru_cache
def best_width(n_digits: int) -> int:
    """Return the number of lanes that suits the machine's registers best."""
    features = binding.get_host_cpu_features()
    n_bits = 512 if features.get("avx512bw") else 256 if features.get("avx2") else 128
    return n_bits // (8 * kind_of_lanes(n_digits).itemsize)


@dataclass(frozen=True)
class SudokuLanes:
    """The engine of 9×9 Sudoku in SIMD lanes.

    Parameters
    ----------
    width : int, optional
        Number of lanes: 8, 16 or 32; by default what suits the machine. Only the time depends on
        it, and under a budget, which stacks are left.
    """

    width: int | None = None

    name = "lanes"
    capabilities = Capabilities(
        "9×9 Sudoku, many grids at once in SIMD lanes",
        secondary_items=False,
        sudoku_only=True,
        suits_grids_from=9,
    )

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search the stacks of a task; see `batchsolve.engines.contract`."""
        check_support(self, problem)
        rows, columns = problem.box_rows, problem.box_columns
        n_cells = problem.n_cells
        form = Form.of(self.width or best_width(problem.n_digits), rows, columns)
        stacks = task.stacks
        memory = workspace(form, task.budget, task.room)
        arrays = TaskArrays(
            stacks.offsets,
            stacks.options,
            stacks.roots,
            task.limits,
            task.allowances,
            task.depth,
            task.keep,
        )
        longest = int(np.diff(stacks.offsets).max(initial=0))
        written = Written(
            Result.zeros(len(stacks)),
            room_for_covers(len(stacks) if task.keep else 0, n_cells),
            room_for_frontier(longest, n_cells),
        )
        while not search_on(form, memory, arrays, written):
            written = written.with_more_room(memory.left[FOUND], memory.left[HANDED_BACK])
        return Outcome(
            *written.result,
            _solutions(stacks, written.covers, memory.left[FOUND]),
            *_left(stacks, written.frontier, memory.left[HANDED_BACK]),
        )


def _solutions(stacks: Stacks, covers: Covers, n: int) -> Stacks:
    """Return the covers found, in the order of the stacks above them."""
    origins = covers.origins[:n]
    order = np.argsort(origins, kind="stable")
    options = covers.options.take(order, axis=0).astype(np.uint32)
    offsets = np.arange(n + 1) * options.shape[1]
    return Stacks(offsets, options.reshape(-1), stacks.roots[origins[order]])


def _left(stacks: Stacks, frontier: Frontier, n: int) -> tuple[Stacks, np.ndarray, np.ndarray]:
    """Return the stacks to hand back, their weights and their parents, in the parents' order."""
    origins = frontier.origins[:n]
    order = np.argsort(origins, kind="stable")
    offsets = frontier.offsets[: n + 1]
    left = Stacks(offsets, frontier.options[: offsets[-1]], stacks.roots[origins])
    return left.take(order), frontier.weights[order], origins[order]
