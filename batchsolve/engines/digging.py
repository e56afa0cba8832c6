"""Puzzles dug out of solved grids, many side by side in SIMD lanes; see ``core/lanes/dig.h``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from batchsolve.core import native
from batchsolve.engines.lanes import rules_of
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.sudoku import Sudoku

# The reasons why an attempt fails: clues only where they may stand leave several solutions; the
# number of clues; a clue that could be taken away, or the search for that was too long; no solved
# grid was found in time; and two that callers find: the puzzle is known already, or has another
# rating than wished.
SEVERAL, NUMBER, SPARE, EMPTY, KNOWN, RATED = range(6)


class Wish(NamedTuple):
    """The puzzles that are wanted.

    Attributes
    ----------
    begins : ndarray of int64, shape (n_units + 1,)
        The place in `cells` where each unit begins.
    cells : ndarray of uint16
        The cells of units, whose clues are taken away together, unit by unit.
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

    begins: np.ndarray
    cells: np.ndarray
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
    given = wish, made, keys, rows
    if isinstance(problem, Sudoku):
        return int(native.dig_boxes(problem.box_rows, problem.box_columns, *given))
    return int(native.dig_houses(*rules_of(problem, np.arange(len(rows))), *given))
