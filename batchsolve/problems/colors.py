"""Colours of secondary items, as numbers.

A colour is an integer from 1. Only the equality of colours matters.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from batchsolve.errors import ProblemError, quoted

MOST_COLORS = 2**32 - 2  # dancing links mark entries with 0 and with 2**32 - 1


def number_colors(
    rows: Sequence[Sequence[Hashable]], colors: Sequence[Mapping[Hashable, Hashable]]
) -> tuple[list[int], list[str]]:
    """Return the colour of every entry of the options, and the names of the colours."""
    if len(colors) != len(rows):
        raise ProblemError(f"colours of {len(colors)} options for {len(rows)} options")
    number: dict[Hashable, int] = {}
    entries = []
    for o, (row, given) in enumerate(zip(rows, colors, strict=True)):
        if not isinstance(given, Mapping):
            raise ProblemError(
                f"the colours of option {o} must be a mapping of items, not {given!r}"
            )
        if absent := [item for item in given if item not in row]:
            raise ProblemError(
                f"option {o} gives the item {quoted(absent[0])} a colour, but does not have "
                f"that item"
            )
        entries += [number.setdefault(given[i], len(number) + 1) if i in given else 0 for i in row]
    return entries, list(map(str, number))


def in_order_of_use(colors: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """Renumber colours in the order of their first use; 0 stays."""
    known, first, inverse = np.unique(colors, return_index=True, return_inverse=True)
    used = known > 0
    rank = np.zeros(known.size, np.int64)
    rank[np.flatnonzero(used)[np.argsort(first[used])]] = np.arange(1, used.sum() + 1)
    return rank[inverse]
