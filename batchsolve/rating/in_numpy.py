"""The levels of puzzles that singles solve, in NumPy, before the kernel of the ladder is compiled.

All puzzles are filled together. An array has a column for each of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from batchsolve.arrays import Bytes
from batchsolve.rating.board import ALL, BOXES, CELL, HOUSE, N_HOUSES, N
from batchsolve.rating.techniques import NONE, UNRATED

_HIDDEN_FROM = (N_HOUSES, BOXES, 0)
"""The first house for hidden singles, for each level of singles; last cells are in all houses."""


def levels_by_singles(grids: Bytes) -> Bytes:
    """Return the levels of grids that last cells and hidden singles solve.

    Parameters
    ----------
    grids : ndarray of uint8, shape (n, 81)

    Returns
    -------
    ndarray of uint8, shape (n,)
        `UNRATED` for other grids.

    Examples
    --------
    >>> from batchsolve.rating.techniques import NAMES
    >>> solved = [(3 * r + r // 3 + c) % 9 + 1 for r in range(9) for c in range(9)]
    >>> solved = np.array(solved, np.uint8)
    >>> easy = np.append(np.uint8(0), solved[1:])
    >>> [NAMES[level] for level in levels_by_singles(np.stack([solved, easy]))]
    ['none', 'last cell']
    """
    levels = np.full(len(grids), UNRATED, np.uint8)
    rows = np.flatnonzero((grids <= N).all(axis=1))
    digits = ((1 << grids[rows].T.astype(np.int16)) >> 1).astype(np.int16)  # as bits
    for level, hidden_from in [(NONE, None), *enumerate(_HIDDEN_FROM)]:
        if hidden_from is not None:
            _fill(digits, hidden_from)
        houses = digits[CELL]
        is_solved = (houses.sum(axis=1) == ALL) & (np.bitwise_or.reduce(houses, axis=1) == ALL)
        done = is_solved.all(axis=0) & digits.all(axis=0)
        levels[rows[done]] = level
        rows, digits = rows[~done], digits[:, ~done]
    return levels


def _fill(digits: npt.NDArray[np.int16], hidden_from: int) -> None:
    """Fill the last cells of houses, and hidden singles of houses from one on."""
    active = np.arange(digits.shape[1])
    while active.size:
        some = digits[:, active]
        used = np.bitwise_or.reduce(some[CELL], axis=1)
        candidates = ~(used[HOUSE[:, 0]] | used[HOUSE[:, 1]] | used[HOUSE[:, 2]]) & ALL
        candidates[some != 0] = 0
        singles = np.where((some == 0)[CELL].sum(axis=1) == 1, ALL, 0)
        once, twice = np.zeros((2, N_HOUSES - hidden_from, active.size), np.int16)
        for k in range(N):
            each = candidates[CELL[hidden_from:, k]]
            twice |= once & each
            once |= each
        singles[hidden_from:] |= once & ~twice
        fills = candidates & np.bitwise_or.reduce(singles[HOUSE], axis=1)
        digits[:, active] |= fills.astype(np.int16)
        active = active[fills.any(axis=0)]
