"""Colours, bounds and costs: the optional attributes of an exact cover problem.

A *colour* of a secondary item is an integer from 1; only the equality of colours matters.

*Bounds* are the lower and the upper bound of the number of options of a cover that have a primary
item, as in Knuth's *multiple covering with colors*, MCC (*The Art of Computer Programming*
7.2.2.1). Items without bounds are in exactly one option.

*Costs* of options are integers, 0 or more; the cost of a cover is the sum over its options. Covers
with costs are those of Knuth's Algorithm 7.2.2.1C$ and his program DLX5.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Ints, UInts, is_masked
from batchsolve.errors import InputError, ProblemError, counted, quoted
from batchsolve.settings.arguments import argument_errors

if TYPE_CHECKING:
    from batchsolve.problems.exact_cover import ExactCover

MOST_COLORS = 2**32 - 2  # dancing links mark entries with 0 and with 2**32 - 1
MOST_BOUND = 2**31 - 1
MOST_COST = 2**48  # of all options together, so that fractions of costs fit into 64 bits


def array_of(values: Any, what: str) -> npt.NDArray[Any]:
    """Return a copy of values as an array.

    Raises
    ------
    InputError
        If some values are masked, or lengths differ.

    Examples
    --------
    >>> array_of(np.ma.array([0, 1], mask=[0, 1]), "indices")
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: indices has masked values; fill them, as with numpy.ma.filled
    """
    if is_masked(values):
        raise InputError(f"{what} has masked values; fill them, as with numpy.ma.filled")
    with argument_errors(f"{what} is an array, or lists of equal length", values):
        return np.array(values)


def whole_numbers(values: npt.ArrayLike, what: str, n_dimensions: int = 1) -> Ints:
    """Return a copy of values as an array of integers; raise if some are not integers."""
    array = array_of(values, what)
    if array.ndim != n_dimensions:
        raise ProblemError(
            f"{what} must have {counted(n_dimensions, 'dimension')}, not {array.ndim}"
        )
    if array.size and (array.dtype.kind not in "iu" or array.max() >= 2**63):
        raise ProblemError(f"{what} must hold whole numbers of 63 bits, not {quoted(values)}")
    return array.astype(np.int64, copy=False)


def number_colors(
    rows: Sequence[Sequence[Hashable]], colors: Sequence[Mapping[Hashable, Hashable]]
) -> tuple[list[int], list[str]]:
    """Return the colour of every entry of the options, and the names; None means no colour."""
    with argument_errors("colors are a list with a mapping for each option", colors):
        if len(colors) != len(rows):
            raise ProblemError(f"colours of {len(colors)} options for {len(rows)} options")
    number: dict[Hashable, int] = {}
    entries = []
    for o, (row, coloring) in enumerate(zip(rows, colors, strict=True)):
        if not isinstance(coloring, Mapping):
            raise ProblemError(
                f"the colours of option {o} must be a mapping of items, not {coloring!r}"
            )
        if absent := [item for item in coloring if item not in row]:
            raise ProblemError(
                f"option {o} gives the item {quoted(absent[0])} a colour, but does not have "
                f"that item"
            )
        names = (coloring.get(item) for item in row)
        entries += [0 if c is None else number.setdefault(c, len(number) + 1) for c in names]
    return entries, list(map(str, number))


def in_order_of_use(colors: UInts) -> Ints:
    """Renumber colours in the order of their first use; 0 stays."""
    known, first, inverse = np.unique(colors, return_index=True, return_inverse=True)
    used = known > 0
    rank = np.zeros(known.size, np.int64)
    rank[np.flatnonzero(used)[np.argsort(first[used])]] = np.arange(1, used.sum() + 1)
    return rank[inverse]


def check_bounds(least: int, most: int) -> str:
    """Return the fault of the bounds of one item, or an empty text."""
    if not 0 <= least <= most:
        return "the lower bound is 0 or more and not above the upper"
    if not 1 <= most <= MOST_BOUND:
        return f"the upper bound is 1 to {MOST_BOUND:,}"
    return ""


def checked_bounds(
    values: npt.ArrayLike, n_primary: int, names: Sequence[str] | None
) -> Ints | None:
    """Return the bounds of the primary items, or None if all are (1, 1).

    Raises
    ------
    ProblemError
        If the shape or the bounds of an item are wrong.
    """
    bounds = whole_numbers(values, "bounds", 2)
    if bounds.shape != (n_primary, 2):
        raise ProblemError(
            f"bounds of shape {bounds.shape}; a lower and an upper one for each of the "
            f"{n_primary} primary items have the shape {(n_primary, 2)}"
        )
    for i, (least, most) in enumerate(bounds.tolist()):
        if wrong := check_bounds(least, most):
            name = i if names is None else quoted(names[i])
            raise ProblemError(f"item {name} has the bounds {least} and {most}; {wrong}")
    return None if np.all(bounds == 1) else bounds


def bounds_by_name(
    bounds: Mapping[Any, Sequence[int]], primary: Sequence[Hashable]
) -> npt.ArrayLike:
    """Return the bounds of the primary items, by default (1, 1), for `checked_bounds`."""
    if not isinstance(bounds, Mapping):
        raise ProblemError(f"bounds are a mapping of items to pairs, not {quoted(bounds)}")
    pairs: dict[Hashable, Sequence[int]] = dict.fromkeys(primary, (1, 1))
    for item, values in bounds.items():
        if item not in pairs:
            raise ProblemError(
                f"bounds are given to {quoted(item)}, which is not a primary item; only those have "
                f"bounds"
            )
        pair = list(values) if isinstance(values, Sequence | np.ndarray) else [values]
        if len(pair) != 2 or not all(type(b) is int or isinstance(b, np.integer) for b in pair):
            raise ProblemError(
                f"the bounds of item {quoted(item)} are a least and a most, two whole numbers, not "
                f"{quoted(values)}"
            )
        pairs[item] = pair
    return list(pairs.values()) or np.zeros((0, 2), np.int64)


def costs_of(problem: ExactCover) -> Ints:
    """Return the costs of the options of a problem.

    Raises
    ------
    InputError
        If it has none.
    """
    if problem.costs is None:
        raise InputError(
            "the options have no costs; write |$25 behind their items in a .dlx file, or a "
            'list "costs" in JSON'
        )
    return problem.costs


def checked_costs(values: Sequence[Any] | npt.ArrayLike, n_options: int) -> Ints:
    """Return the costs of options as an array.

    Raises
    ------
    ProblemError
        If their number is wrong, or one is not an integer or out of bounds.
    """
    costs = whole_numbers(values, "costs")
    if costs.shape != (n_options,):
        raise ProblemError(f"costs of shape {costs.shape} for {n_options} options; give one each")
    below = np.flatnonzero(costs < 0)
    if below.size:
        o = int(below[0])
        raise ProblemError(f"option {o} has the cost {costs[o]}; a cost is 0 or more")
    if sum(costs.tolist()) > MOST_COST:  # Python integers do not overflow
        raise ProblemError(f"the costs come to more than {MOST_COST:,}; divide them")
    return costs
