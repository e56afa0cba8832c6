"""Cages that follow from the cages of a grid, because the digits of a house have a known sum.

The cages within some disjoint houses tell the sum of the cells that they leave there, and the cages
that cover them the sum of the cells that stick out. Solvers of killers know them as *innies* and
*outies*. If their digits differ, such cells are a cage. They say nothing new, but a search that
propagates them visits a fortieth of the nodes on published killers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from batchsolve.kernels import helper, inlined, kernel

NO_SUM = -(2**60)
"""The total of cells that differ, whatever their sum."""

LONGEST_RUN = 3
"""The largest number of houses that are looked at together."""

_MOST_SETS = 24  # of a cage that follows from others; those with more exclude little


@kernel
def complete_cages(
    given: Any, made: Any, ranges: Any, houses: Any, runs: Any, n_regions: int, n_cells: int
) -> int:
    """Write the cages of all rows, those that follow behind those that are given.

    Parameters
    ----------
    given : Given
    made : RowRules
        Its cages are written, in room for all that may follow.
    ranges : ndarray of int64, shape (N + 1, most + 1, 2)
        Begin and end of the sets of digits, by size and sum; `NO_SUM` if they are not known.
    houses : ndarray of int64, shape (n_houses, N)
        The houses of all rows, then room for the regions of a row.
    runs : ndarray of int64, shape (n_houses,)
        For each house, how many from it on are disjoint.
    n_regions : int
        The number of regions of a row.
    n_cells : int

    Returns
    -------
    int
        The number of cages of all rows.
    """
    n_rows, n_shared = given.cages_of.size - 1, houses.shape[0] - n_regions
    houses_of = _houses_of(houses[:n_shared], n_cells, (houses.shape[0] + 63) // 64)
    most = 0
    for row in range(n_rows):
        most = max(most, given.cages_of[row + 1] - given.cages_of[row])
    row_cages = _RowCages(
        np.empty(most + 1, np.int64),
        np.empty(most + 1, np.int64),
        np.empty(n_cells, np.int64),
        np.empty((houses.shape[0], most + 1), np.int64),
        np.empty(most + 1, np.int64),
        np.empty(n_cells, np.int64),
    )
    n_made = 0
    for row in range(n_rows):
        first, last = given.cages_of[row], given.cages_of[row + 1]
        made.cages_of[row] = n_made
        for cage in range(first, last):
            x = made.cells_of[n_made]
            for y in range(given.cells_of[cage], given.cells_of[cage + 1]):
                made.cage_cells[x] = given.cage_cells[y]
                x += 1
            n_made = _end_cage(made, n_made, x, given.totals[cage], ranges)
        if houses.shape[0] > 0 and first < last:
            if n_regions:
                _write_regions(given.regions[row], houses, n_shared)
                houses_of = _houses_of(houses, n_cells, houses_of.shape[1])
            _take_cages(given, first, last, houses, row_cages)
            n_made = _follow(
                made, made.cages_of[row], n_made, ranges, houses, runs, houses_of, row_cages
            )
    made.cages_of[n_rows] = n_made
    return n_made


class _RowCages(NamedTuple):
    """The cages of a row that have a sum and no cell of one before them, and room to work.

    The last cage stands for the cells without one; it has no size.
    """

    size: Any  # cage -> number of cells; 0 if it is not one of them
    total: Any
    cage_of: Any  # cell -> cage
    in_house: Any  # house, cage -> number of cells
    here: Any  # cage -> number of cells in the houses at hand
    is_inside: Any  # cell -> the first of the houses, counted from 1, in which it was seen last


@helper
def _take_cages(given: Any, first: int, last: int, houses: Any, cages: Any) -> None:
    """Take over the cages of a row."""
    none = cages.size.size - 1
    cages.size[:] = 0
    cages.total[:] = 0
    cages.cage_of[:] = none
    cages.is_inside[:] = 0
    for cage in range(first, last):
        begin, end = given.cells_of[cage], given.cells_of[cage + 1]
        is_free = given.totals[cage] != NO_SUM
        for x in range(begin, end):
            is_free &= cages.cage_of[given.cage_cells[x]] == none
        if is_free:
            cages.size[cage - first], cages.total[cage - first] = end - begin, given.totals[cage]
            for x in range(begin, end):
                cages.cage_of[given.cage_cells[x]] = cage - first
    cages.in_house[:] = 0
    for house in range(houses.shape[0]):
        for k in range(houses.shape[1]):
            cages.in_house[house, cages.cage_of[houses[house, k]]] += 1


@helper
def _follow(
    made: Any,
    first: int,
    n_made: int,
    ranges: Any,
    houses: Any,
    runs: Any,
    houses_of: Any,
    cages: Any,
) -> int:
    """Add the cages that follow in a row, whose cages begin at `first`; return the next cage."""
    n, n_cells = houses.shape[1], cages.cage_of.size
    for house in range(houses.shape[0]):
        cages.here[:] = 0
        for length in range(1, runs[house] + 1):
            last = house + length - 1
            for k in range(n):
                cages.is_inside[houses[last, k]] = house + 1
            n_left = n_out = length * n
            left = out = length * (n * (n + 1) // 2)
            for cage in range(cages.here.size - 1):
                here = cages.here[cage] = cages.here[cage] + cages.in_house[last, cage]
                is_whole, meets = here == cages.size[cage], here > 0
                n_left -= cages.size[cage] * is_whole
                left -= cages.total[cage] * is_whole
                n_out -= cages.size[cage] * meets
                out -= cages.total[cage] * meets
            none = cages.here.size - 1
            cages.here[none] += cages.in_house[last, none]
            if 1 <= n_left < n and _is_worth(ranges, n_left, left):
                x = made.cells_of[n_made]
                for h in range(house, last + 1):
                    for k in range(n):
                        cage = cages.cage_of[houses[h, k]]
                        if cages.here[cage] != cages.size[cage]:
                            made.cage_cells[x] = houses[h, k]
                            x += 1
                n_made = _add_if_new(made, n_made, first, x, left, ranges, houses_of, cages)
            if cages.here[none] == 0 and -n <= n_out <= -1 and _is_worth(ranges, -n_out, -out):
                x = made.cells_of[n_made]
                for cell in range(n_cells):
                    cage = cages.cage_of[cell]
                    if cages.here[cage] > 0 and cages.is_inside[cell] != house + 1:
                        made.cage_cells[x] = cell
                        x += 1
                n_made = _add_if_new(made, n_made, first, x, -out, ranges, houses_of, cages)
    return n_made


@helper
def _houses_of(houses: Any, n_cells: int, n_words: int) -> Any:
    """Return the houses of every cell, as bits, shape (n_cells, n_words)."""
    houses_of = np.zeros((n_cells, n_words), np.uint64)
    for house in range(houses.shape[0]):
        for cell in houses[house]:
            houses_of[cell, house // 64] |= np.uint64(1) << np.uint64(house % 64)
    return houses_of


@helper
def _write_regions(region: Any, houses: Any, first: int) -> None:
    """Write the regions of a row as houses from the first on."""
    n = houses.shape[1]
    size = np.zeros(n, np.int64)
    for cell in range(region.size):
        r = region[cell]
        if size[r] < n:
            houses[first + r, size[r]] = cell
            size[r] += 1


@inlined
def _is_worth(ranges: Any, size: int, total: int) -> bool:
    """Tell whether the sets of digits of a cage are known and few."""
    if not 0 <= total < ranges.shape[1]:
        return True
    begin, end = ranges[size, total, 0], ranges[size, total, 1]
    return begin >= 0 and end - begin <= _MOST_SETS


@inlined
def _end_cage(made: Any, cage: int, end: int, total: int, ranges: Any) -> int:
    """Write where the cells of a cage end, and its sets of digits; return the next cage."""
    size = end - made.cells_of[cage]
    made.cells_of[cage + 1] = end
    made.sets_of[cage, 0] = made.sets_of[cage, 1] = 0  # none, if the sum is out of reach
    if total == NO_SUM:
        made.sets_of[cage, 0] = made.sets_of[cage, 1] = NO_SUM
    elif 0 <= total < ranges.shape[1]:
        made.sets_of[cage, 0] = ranges[size, total, 0]
        made.sets_of[cage, 1] = ranges[size, total, 1]
    return cage + 1


@inlined
def _add_if_new(
    made: Any, new: int, first: int, end: int, total: int, ranges: Any, houses_of: Any, cages: Any
) -> int:
    """Keep a cage that follows if its digits differ and no cage from `first` on says the same.

    Its cells are written, up to the end. They differ if all lie in one house or in one cage.

    Returns
    -------
    int
        The next cage.
    """
    begin = made.cells_of[new]
    cells = made.cage_cells
    for x in range(begin + 1, end):  # in ascending order
        cell, y = cells[x], x
        while y > begin and cells[y - 1] > cell:
            cells[y] = cells[y - 1]
            y -= 1
        cells[y] = cell
    cage = cages.cage_of[cells[begin]]
    is_together = cages.size[cage] > 0
    for x in range(begin + 1, end):
        is_together &= cages.cage_of[cells[x]] == cage
    for word in range(houses_of.shape[1]):
        shared = houses_of[cells[begin], word]
        for x in range(begin + 1, end):
            shared &= houses_of[cells[x], word]
        is_together |= shared != 0
    if not is_together:
        return new
    _end_cage(made, new, end, total, ranges)
    for cage in range(first, new):
        if made.sets_of[cage, 0] != made.sets_of[new, 0]:
            continue
        is_same = made.cells_of[cage + 1] - made.cells_of[cage] == end - begin
        y = made.cells_of[cage]
        for x in range(begin, end if is_same else begin):
            is_same &= cells[y] == cells[x]
            y += 1
        if is_same:
            return new
    return new + 1
