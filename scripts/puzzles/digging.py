"""Puzzles made from solved grids by removing clues."""

from __future__ import annotations

import numpy as np

from batchsolve.engines import UNLIMITED, Engine
from batchsolve.problems.sudoku import Sudoku
from puzzles.draws import Draws
from puzzles.grids import ENGINE, Grid, has_at_most


def dig(
    problem: Sudoku,
    grid: Grid,
    draws: Draws,
    *,
    clues: int = 0,
    most: int = 1,
    nodes: int = UNLIMITED,
    engine: Engine = ENGINE,
) -> Grid:
    """Remove clues from a grid, in random order.

    Parameters
    ----------
    problem : Sudoku
    grid : ndarray of uint8, shape (N²,)
    draws : Draws
    clues : int
        The number of clues to keep; more stay if none can be spared.
    most : int
        The upper bound on solutions of the puzzle.
    nodes : int
        Node limit of the search that proves this.
    engine : Engine
        The engine of that search.

    Returns
    -------
    ndarray of uint8, shape (N²,)
    """
    puzzle = grid.copy()
    for cell in draws.permutation(problem.n_cells):
        if np.count_nonzero(puzzle) == clues:
            break
        digit, puzzle[cell] = puzzle[cell], 0
        if not has_at_most(problem, puzzle, most, nodes, engine):
            puzzle[cell] = digit
    return puzzle


def dig_to(problem: Sudoku, grid: Grid, draws: Draws, clues: int) -> Grid:
    """Return a puzzle of exactly `clues` clues; a grid that cannot spare enough is dug again."""
    while True:
        puzzle = dig(problem, grid, draws, clues=clues)
        if np.count_nonzero(puzzle) == clues:
            return puzzle
