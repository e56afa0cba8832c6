"""Puzzles from solved grids, by taking clues away."""

from __future__ import annotations

import numpy as np

from batchsolve.engines import Engine
from batchsolve.engines.contract import UNLIMITED
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
    """Take clues away from a grid, in random order.

    Parameters
    ----------
    problem : Sudoku
    grid : ndarray of uint8, shape (N²,)
    draws : Draws
    clues : int
        How many clues to leave; more are left if none can be spared before.
    most : int
        How many solutions the puzzle may have.
    nodes : int
        Nodes within which this must be proved of the puzzle.
    engine : Engine
        What proves it.

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
    """Return a puzzle of exactly so many clues; a grid that cannot spare them is dug again."""
    while True:
        puzzle = dig(problem, grid, draws, clues=clues)
        if np.count_nonzero(puzzle) == clues:
            return puzzle
