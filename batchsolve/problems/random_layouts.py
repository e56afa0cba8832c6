"""Random regions and cages, seeded by the numbers of rows; see ``core/draw``."""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

from batchsolve.core import native

Keys = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]


def random_regions(keys: Keys, rows: Numbers, attempts: Numbers, n: int) -> npt.NDArray[np.uint8]:
    """Draw n connected regions of n cells for each row.

    Parameters
    ----------
    keys : ndarray of uint64, shape (2,)
        The seed of the random numbers.
    rows, attempts : ndarray of int64
        The number of each row, and that of the attempt at it.
    n : int

    Returns
    -------
    ndarray of uint8, shape (n_rows, n²)
        The region of every cell, 0 .. n - 1.

    Examples
    --------
    >>> regions = random_regions(np.array([1, 2], np.uint64), np.arange(3), np.zeros(3, int), 5)
    >>> np.bincount(regions[2]).tolist()
    [5, 5, 5, 5, 5]
    """
    return cast("npt.NDArray[np.uint8]", native.draw_regions(keys, rows, attempts, n))


def random_cages(
    keys: Keys,
    rows: Numbers,
    attempts: Numbers,
    solutions: npt.NDArray[np.uint8],
    sizes: tuple[int, int],
) -> npt.NDArray[np.int16]:
    """Draw cages of solved square grids: connected cells with different digits.

    Parameters
    ----------
    keys, rows, attempts
        As for `random_regions`.
    solutions : ndarray of uint8, shape (n_rows, n_cells)
    sizes : (int, int)
        The bounds of the number of cells of a cage.

    Returns
    -------
    ndarray of int16, shape (n_rows, n_cells)
        The cage of every cell, or -1 if it has none.
    """
    cages = native.draw_cages(keys, rows, attempts, solutions, *sizes)
    return cast("npt.NDArray[np.int16]", cages)
