"""Masked arrays of NumPy; `numpy.asarray` would return the values below the mask."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.errors import InputError


def as_grids_array(grids: Any) -> npt.NDArray[Any]:
    """Return grids as an array; masked cells are blank.

    Examples
    --------
    >>> grid = np.ma.array([1, 2, 2, 1], mask=[0, 1, 0, 0])
    >>> as_grids_array(grid).tolist(), as_grids_array([grid]).tolist()
    ([1, 0, 2, 1], [[1, 0, 2, 1]])
    """
    if isinstance(grids, list | tuple) and any(map(np.ma.isMaskedArray, grids)):
        grids = [as_grids_array(grid) for grid in grids]
    return np.asarray(grids.filled(0) if np.ma.isMaskedArray(grids) else grids)


def refuse_masked(values: Any, what: str) -> None:
    """Raise `InputError` if some of the values are masked: nobody knows what they stand for.

    Examples
    --------
    >>> refuse_masked(np.ma.array([0, 1], mask=[0, 1]), "indices")
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: indices has masked values; fill them, as with numpy.ma.filled
    """
    if np.ma.is_masked(values):
        raise InputError(f"{what} has masked values; fill them, as with numpy.ma.filled")
