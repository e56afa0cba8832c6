"""The arrays that `batchsolve.engines.lanes.digging` reads and writes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from batchsolve.engines.lanes.form import Form
from batchsolve.engines.lanes.memory import aligned, kind_of_lanes

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


class Diggers(NamedTuple):
    """The working memory of n lanes."""

    grid: np.ndarray  # n · cell + lane -> candidates
    regions: np.ndarray  # n · cell + lane -> region, if regions differ from row to row
    branch: np.ndarray  # lane -> its branch cell, where it is stuck
    saved: np.ndarray  # level, lane, cell -> candidates before the guess of that level
    rest: np.ndarray  # level, lane -> candidates of the branch cell that are still to be tried
    guessed: np.ndarray  # level, lane -> that cell
    level: np.ndarray  # lane -> number of guesses
    phase: np.ndarray
    row: np.ndarray  # lane -> the place of its row among those of the task
    random: np.ndarray  # lane -> the state of its random numbers
    goes_back: np.ndarray  # lane -> the fills of its row go back to the last guess
    n_filled: np.ndarray  # lane -> grids filled in this attempt
    weight: np.ndarray  # lane -> of the grid that it fills
    weights: np.ndarray  # lane -> the sum over the grids filled before
    solution: np.ndarray  # lane, cell -> digit, from 0
    gone: np.ndarray  # lane, cell -> the place in the order at which its clue has gone; or `_STAYS`
    order: np.ndarray  # lane, place -> unit
    begin: np.ndarray  # lane -> the place of the first unit of the trial
    end: np.ndarray  # lane -> the place after its last unit
    stays: np.ndarray  # lane -> the unit at `end` stays if the trial succeeds
    n_clues: np.ndarray  # lane -> clues, without those of the trial
    target: np.ndarray  # lane -> the number of clues at which it stops
    place: np.ndarray  # lane -> the place in the order at which it searches
    without: np.ndarray  # lane -> the cell that holds another digit in its search, or -1
    trial_nodes: np.ndarray  # lane -> nodes of the trial
    n_blocked: np.ndarray  # lane, place -> clues that have to stay from that place on
    own_rows: np.ndarray  # place of a row -> the row of `RowRules` whose rules hold
    bits: np.ndarray  # one bit a lane: the sets of lanes that `Lanes.bits` has


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


def diggers_of(form: Form, n_units: int, n_rows: int) -> Diggers:
    """Return memory for lanes."""
    kind, n = kind_of_lanes(len(form.shape.digits)), len(form.shape.lanes)
    n_cells, n_levels = form.shape.n_cells, form.shape.n_cells + 1
    names = "level phase row n_filled begin end stays n_clues target place without trial_nodes"
    return Diggers(
        **{name: np.zeros(n, np.int64) for name in names.split()},
        grid=aligned(n * n_cells, kind),
        regions=aligned(n * n_cells * len(form.shape.free), kind),
        branch=aligned(n, kind),
        saved=np.empty((n_levels, n, n_cells), kind),
        rest=np.zeros((n_levels, n), kind),
        guessed=np.zeros((n_levels, n), np.uint16),
        random=np.zeros(n, np.uint64),
        goes_back=np.zeros(n, np.bool_),
        weight=np.zeros(n),
        weights=np.zeros(n),
        solution=np.zeros((n, n_cells), np.uint8),
        gone=np.zeros((n, n_cells), np.int32),
        order=np.zeros((n, n_units), np.int64),
        n_blocked=np.zeros((n, n_units + 1), np.int64),
        own_rows=np.arange(n_rows),
        bits=np.array([2**n - 1, 0, 0, 2**n - 1, 0, 0], np.uint32),
    )
