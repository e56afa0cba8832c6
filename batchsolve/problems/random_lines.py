"""Random lines that solutions obey: thermometers, whispers, renbans and palindromes.

A line is a path of cells, each beside the next by an edge or a corner; no two lines meet.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from batchsolve.core import native
from batchsolve.problems.random_layouts import Keys, Numbers

KINDS = THERMO, WHISPER, RENBAN, PALINDROME = "thermo", "whisper", "renban", "palindrome"
"""The kinds: digits that rise, that differ much, that follow one another in any order, and that
read the same from both ends."""

Line = tuple[str, tuple[int, ...]]
"""One of `KINDS`, and the cells from end to end; a thermometer from its least digit."""


def random_lines(
    keys: Keys,
    rows: Numbers,
    attempts: Numbers,
    solutions: npt.NDArray[np.uint8],
    kinds: tuple[str, ...],
    sizes: tuple[int, int],
    gap: int,
) -> list[list[Line]]:
    """Draw lines for each row, as many as fit.

    Parameters
    ----------
    keys : ndarray of uint64, shape (2,)
        The seed of the random numbers.
    rows, attempts : ndarray of int64
        The number of each row, and that of the attempt at it.
    solutions : ndarray of uint8, shape (n_rows, n²)
    kinds : tuple of str
        Some of `KINDS`.
    sizes : (int, int)
        The bounds of the number of cells; the upper one is n at most, and those of a renban are
        fewer than n.
    gap : int
        The least difference of neighbours in whispers.

    Examples
    --------
    >>> solutions, keys = np.array([[1, 2, 2, 1]], np.uint8), np.array([1, 2], np.uint64)
    >>> random_lines(keys, np.arange(1), np.zeros(1, int), solutions, ("palindrome",), (2, 2), 2)
    [[('palindrome', (2, 1)), ('palindrome', (3, 0))]]
    """
    numbers = np.array([KINDS.index(kind) for kind in kinds], np.uint8)
    drawn = native.draw_lines(keys, rows, attempts, solutions, numbers, *sizes, gap)
    return [[(KINDS[kind], cells) for kind, cells in lines] for lines in drawn]
