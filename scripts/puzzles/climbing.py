"""A search for 9×9 puzzles that are hard for the engine `lanes`: that need many guesses.

It is a local beam search. Every step takes the few hardest puzzles at hand, gives up each of their
clues in turn, and adds whatever clue makes the puzzle unique again: where only one of the solutions
that are then left has some digit in some cell, that digit is such a clue. Of the puzzles so found,
the hardest go on, though they be easier than those before them; none goes on twice.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from batchsolve.engines import Task, get_engine
from puzzles.digging import dig
from puzzles.draws import Draws
from puzzles.grids import Grid, random_grid
from puzzles.spoiling import NINE

LANES = get_engine("lanes")

STARTS = 8
BEAM = 4
STEPS = 30  # with these, a row takes half a second
MOST_SOLUTIONS = 100  # a puzzle with more, for want of a clue, is given up


def guesses(puzzles: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Return how many guesses of `lanes` prove each of some puzzles unique.

    Parameters
    ----------
    puzzles : ndarray of uint8, shape (n, 81)
        Each must have one solution.
    """
    task = Task.of(NINE.stacks(puzzles), limit=2)
    return LANES.search(NINE, task).nodes - 1


def neighbours(puzzles: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return all puzzles with one solution that differ in one clue given up and one added.

    Parameters
    ----------
    puzzles : ndarray of uint8, shape (n, 81)

    Returns
    -------
    ndarray of uint8, shape (m, 81)
        Those given are among them if they can spare no clue.
    """
    which, cells = np.nonzero(puzzles)
    fewer = puzzles[which]
    fewer[np.arange(len(fewer)), cells] = 0
    most = MOST_SOLUTIONS + 1
    outcome = LANES.search(NINE, Task.of(NINE.stacks(fewer), limit=most, keep=most))
    n_options = NINE.n_options
    places = np.repeat(outcome.solutions.roots, NINE.n_cells) * n_options
    n_with = np.bincount(places + outcome.solutions.options, minlength=len(fewer) * n_options)
    of_option = n_with.reshape(len(fewer), n_options)
    of_option[outcome.counts > MOST_SOLUTIONS] = 0
    which, options = np.nonzero(of_option == 1)
    found = fewer[which]
    cells, digits = np.divmod(options, NINE.n_digits)
    found[np.arange(len(found)), cells] = digits + 1
    return found


def hard_puzzle(draws: Draws) -> tuple[Grid, int]:
    """Return the hardest puzzle that a search finds, and its number of guesses."""
    beam = np.array([dig(NINE, random_grid(NINE, draws), draws) for _ in range(STARTS)])
    seen: set[bytes] = set()
    hardest, most = beam[0], -1
    for _ in range(STEPS):
        fresh = {puzzle.tobytes(): puzzle for puzzle in neighbours(beam)}
        found = np.array([puzzle for key, puzzle in fresh.items() if key not in seen])
        n_guesses = guesses(found)
        order = np.argsort(-n_guesses, kind="stable")[:BEAM]
        beam = found[order]
        seen.update(puzzle.tobytes() for puzzle in beam)
        if n_guesses[order[0]] > most:
            hardest, most = beam[0], int(n_guesses[order[0]])
    return hardest, most
