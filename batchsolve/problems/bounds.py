"""Bounds of primary items: the least and the most number of options of a cover that have an item.

Covers with bounds are those of Knuth's *multiple covering with colors*, MCC (*The Art of Computer
Programming* 7.2.2.1). Items without bounds are in exactly one option.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.errors import ProblemError, quoted

MOST_BOUND = 2**31 - 1


def check_bounds(least: int, most: int) -> str:
    """Return the fault of the bounds of one item, or an empty text."""
    if not 0 <= least <= most:
        return "the least is 0 or more and not above the most"
    if not 1 <= most <= MOST_BOUND:
        return f"the most is 1 to {MOST_BOUND:,}"
    return ""


def checked_bounds(
    bounds: npt.NDArray[np.int64], n_primary: int, names: Sequence[str] | None
) -> npt.NDArray[np.int64] | None:
    """Return the bounds of the primary items, or None if all of them are 1 and 1.

    Raises
    ------
    ProblemError
        If the shape is wrong, or the bounds of an item are.
    """
    if bounds.shape != (n_primary, 2):
        raise ProblemError(
            f"bounds of shape {bounds.shape}; a least and a most for each of the {n_primary} "
            f"primary items have the shape {(n_primary, 2)}"
        )
    for i, (least, most) in enumerate(bounds.tolist()):
        if wrong := check_bounds(least, most):
            name = i if names is None else quoted(names[i])
            raise ProblemError(f"item {name} has the bounds {least} and {most}; {wrong}")
    if np.all(bounds == 1):
        return None
    return bounds.copy()


def bounds_by_name(
    bounds: Mapping[Any, Sequence[int]], primary: Sequence[Hashable]
) -> npt.NDArray[np.int64]:
    """Return the bounds of the primary items, by default 1 and 1."""
    number = {item: i for i, item in enumerate(primary)}
    array = np.ones((len(primary), 2), np.int64)
    for item, pair in bounds.items():
        if item not in number:
            raise ProblemError(
                f"bounds are given to {quoted(item)}, which is not a primary item; only those have "
                f"bounds"
            )
        pair = list(pair) if isinstance(pair, Sequence | np.ndarray) else [pair]
        if len(pair) != 2 or not all(isinstance(b, int | np.integer) for b in pair):
            raise ProblemError(
                f"the bounds of item {quoted(item)} are a least and a most, two whole numbers"
            )
        if wrong := check_bounds(*map(int, pair)):
            raise ProblemError(
                f"item {quoted(item)} has the bounds {pair[0]} and {pair[1]}; {wrong}"
            )
        array[number[item]] = pair
    return array
