"""A search for 9×9 puzzles that need many guesses of the engine `lanes`.

It is a local beam search. Every step takes the few hardest puzzles, gives up each of their clues in
turn, and adds every clue that makes the puzzle unique again: if exactly one of the remaining
solutions has some digit in some cell, that digit is such a clue. The hardest of the new puzzles go
on, even if they are easier than their parents; no puzzle goes on twice.
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
STEPS = 30  # at this number, a row takes half a second
MOST_SOLUTIONS = 100  # a puzzle with more, after losing a clue, is given up


def guesses(puzzles: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Return the number of guesses `lanes` needs to prove each puzzle unique.

    Parameters
    ----------
    puzzles : ndarray of uint8, shape (n, 81)
        Puzzles with one solution each.
    """
    task = Task.of(NINE.stacks(puzzles), limit=2)
    return LANES.search(NINE, task).nodes - 1


def neighbours(puzzles: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return all puzzles with one solution that differ by one clue given up and one added.

    Parameters
    ----------
    puzzles : ndarray of uint8, shape (n, 81)

    Returns
    -------
    ndarray of uint8, shape (m, 81)
        The given puzzles are among them if they can spare no clue.
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
