"""Arrays from the user: masked cells, for which `numpy.asarray` returns any value, and blanks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.errors import InputError, argument_errors


def as_grids_array(grids: Any) -> npt.NDArray[Any]:
    """Return grids as an array; masked cells are blank.

    Examples
    --------
    >>> grid = np.ma.array([1, 2, 2, 1], mask=[0, 1, 0, 0])
    >>> as_grids_array(grid).tolist(), as_grids_array([grid]).tolist()
    ([1, 0, 2, 1], [[1, 0, 2, 1]])
    """
    with argument_errors("grids are an array, or lists of equal length", grids):
        if isinstance(grids, list | tuple) and any(map(np.ma.isMaskedArray, grids)):
            grids = [as_grids_array(grid) for grid in grids]
        return np.asarray(grids.filled(0) if np.ma.isMaskedArray(grids) else grids)


def without_minus_one(array: npt.NDArray[Any], n_digits: int) -> npt.NDArray[Any]:
    """Return digits with 0 for blanks that are -1.

    Raises
    ------
    InputError
        If the array holds 0 and -1, but not the largest digit, so that its digits seem to begin at
        0: each would be taken for another.

    Examples
    --------
    >>> without_minus_one(np.array([-1, 1, 2, -1]), 2).tolist()
    [0, 1, 2, 0]
    """
    if array.dtype.kind == "u" or not (is_blank := array == -1).any():
        return array
    if array.max() < n_digits and (array == 0).any():
        raise InputError(
            f"grids hold 0 and -1, but no {n_digits}: do the digits begin at 0? then add 1 to all "
            f"cells"
        )
    return np.where(is_blank, 0, array)


def array_of(values: Any, what: str) -> npt.NDArray[Any]:
    """Return a copy of values as an array.

    Raises
    ------
    InputError
        If some of them are masked, so that what they stand for is unknown, or lengths differ.

    Examples
    --------
    >>> array_of(np.ma.array([0, 1], mask=[0, 1]), "indices")
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: indices has masked values; fill them, as with numpy.ma.filled
    """
    if np.ma.is_masked(values):
        raise InputError(f"{what} has masked values; fill them, as with numpy.ma.filled")
    with argument_errors(f"{what} is an array, or lists of equal length", values):
        return np.array(values)
