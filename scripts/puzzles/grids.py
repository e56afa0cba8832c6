"""Random solved grids of every size."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from batchsolve.engines import UNLIMITED, Engine, Task, get_engine
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku
from puzzles.draws import Draws

Grid = npt.NDArray[np.uint8]

ENGINE = get_engine("dlx")

STEP = 2  # options chosen at a time to fill a grid; more makes larger frontiers
FILL_NODES = 20_000  # beyond this limit, trying another order is quicker


def random_grid(problem: Sudoku, draws: Draws) -> Grid:
    """Return a random solved grid.

    Each step tries all ways to choose a few more options of a partial grid, in random order; the
    first that can be completed is the next partial grid. So every choice on the way is random, not
    only the starting point of the search.

    Parameters
    ----------
    problem : Sudoku
    draws : Draws

    Returns
    -------
    ndarray of uint8, shape (N²,)
    """
    stack = problem.stack(_diagonal(problem, draws))
    cover = stack
    while True:
        start = Stacks.from_lists([stack.tolist()])
        ways = ENGINE.search(problem, Task.of(start, depth=STEP)).frontier
        if len(ways) == 0:
            return problem.grids(Stacks.from_lists([cover.tolist()]))[0]
        cover = _completion(problem, ways, draws)
        stack = cover[: stack.size + STEP]


def _diagonal(problem: Sudoku, draws: Draws) -> Grid:
    """Fill boxes that share no row or column at random; dancing links can complete the rest.

    From an empty 25×25 grid they often cannot, in reasonable time. Two boxes of a 4×4 grid may have
    no completion; then others are drawn.
    """
    n, rows, columns = problem.n_digits, problem.box_rows, problem.box_columns
    grid = np.zeros((n, n), np.uint8)
    while True:
        for k in range(n // max(rows, columns)):
            box = grid[k * rows : (k + 1) * rows, k * columns : (k + 1) * columns]
            box[:] = 1 + draws.permutation(n).reshape(rows, columns)
        if not has_at_most(problem, grid.reshape(-1), 0, FILL_NODES):
            return grid


def _completion(problem: Sudoku, ways: Stacks, draws: Draws) -> npt.NDArray[np.uint32]:
    """Return a cover below a stack: of the first, in random order, that has one."""
    while True:
        shuffled = ways.take(draws.permutation(len(ways)))
        task = Task.of(shuffled, limit=1, keep=1, budget=FILL_NODES)
        covers = ENGINE.search(problem, task).solutions
        if len(covers):
            return covers[0]


def has_at_most(
    problem: Sudoku, puzzle: Grid, most: int, nodes: int = UNLIMITED, engine: Engine = ENGINE
) -> bool:
    """Return True if a search within a node limit proves at most `most` solutions of a puzzle.

    Parameters
    ----------
    problem : Sudoku
    puzzle : ndarray of uint8, shape (N²,)
    most : int
    nodes : int
        The node limit.
    engine : Engine
    """
    task = Task.of(problem.stacks(puzzle[None]), limit=most + 1, budget=nodes)
    outcome = engine.search(problem, task)
    return bool(outcome.counts[0] <= most) and len(outcome.frontier) == 0
