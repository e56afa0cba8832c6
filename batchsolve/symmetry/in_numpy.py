"""Canonical forms of small puzzles in NumPy, before the kernel that finds them is compiled.

A *candidate* is an order of the columns, and the rows that come first in the form so far. All that
can lead to the least first row, and to most blank cells in front of the second, are tried. Row
after row, each candidate is continued by each row that may follow, and those of a puzzle whose row
is not the least are dropped. So as many are left as the puzzle has symmetries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import permutations, product
from math import factorial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from batchsolve.arrays import Bools, Bytes, Ints, Shorts

MOST_ORDERS = 1296  # of columns: those of 9×9 grids
MOST_CANDIDATES = 20_000  # of a puzzle; some hundred are usual
AT_ONCE = 100_000  # candidates of all puzzles


class _Orders(NamedTuple):
    """The orders of columns, and the clues of rows that they move.

    The clues of a row are a number: a bit for each column, the first of them lowest.
    """

    columns: Bytes  # shape (orders, n): the column at each place
    n_behind: Bytes  # shape (orders, 2**n): the places from the first clue of a row on
    least: (
        Shorts  # shape (2**n,): the least that an order can make of a row, its first place highest
    )
    begins: Ints  # shape (2**n + 1,): where the orders begin that do so
    ways: Shorts  # those orders
    second: Bytes  # shape (2**n, 2**n): the least of `n_behind` of a row below such a row


def n_orders(n: int, width: int) -> int:
    """Return the number of orders of n columns in stacks of a width."""
    return factorial(n // width) * factorial(width) ** (n // width)


@cache
def _orders(n: int, width: int) -> _Orders:
    each = list(permutations(range(width)))
    columns = np.array(
        [
            [stack * width + x for stack, order in zip(stacks, within, strict=True) for x in order]
            for stacks in permutations(range(n // width))
            for within in product(each, repeat=n // width)
        ],
        np.uint8,
    )
    clues, moved = np.arange(2**n, dtype=np.uint16), np.zeros((len(columns), 2**n), np.uint16)
    for x in range(n):
        moved = 2 * moved + (clues >> columns[:, x, None] & 1)
    least = moved.min(axis=0)
    n_behind = np.frexp(moved.astype(np.float32))[1].astype(np.uint8)
    of, ways = np.nonzero((moved == least).T)
    begins = np.searchsorted(of, np.arange(2**n + 1))
    second = np.minimum.reduceat(n_behind[ways], begins[:-1])
    return _Orders(columns, n_behind, least, begins, ways.astype(np.uint16), second)


def least_forms(
    puzzles: Bytes, height: int, width: int, check_time: Callable[[], None]
) -> tuple[Bytes, Ints]:
    """Return the forms and the numbers of symmetries of puzzles; see `search_forms`.

    Puzzles with more than `MOST_CANDIDATES` get no form, and 0 symmetries.

    Parameters
    ----------
    puzzles : ndarray of uint8, shape (m, n, n)
    height, width : int
        Rows and columns of a box.
    check_time : callable
        Called now and then; may raise.
    """
    m, n = puzzles.shape[:2]
    orders = _orders(n, width)
    both = np.stack([puzzles, puzzles.transpose(0, 2, 1)][: 1 + (height == width)], axis=1)
    clues = (both > 0) @ (1 << np.arange(n))
    rows = permutations(range(n), 2)
    pairs = np.array([(a, b) for a, b in rows if a // height == b // height])  # the first two
    above, below = clues[:, :, pairs[:, 0]], clues[:, :, pairs[:, 1]]
    least = orders.least[above]
    is_least = least == least.min(axis=(1, 2), keepdims=True)
    n_behind = np.where(is_least, orders.second[above, below], n + 1)
    is_least = n_behind == n_behind.min(axis=(1, 2), keepdims=True)
    n_ways = np.where(is_least, np.diff(orders.begins)[above], 0)
    sizes = n_ways.sum(axis=(1, 2))
    forms, symmetries = np.zeros((m, n, n), np.uint8), np.zeros(m, np.int64)
    fits = np.flatnonzero(sizes <= MOST_CANDIDATES)
    for some in np.split(fits, np.flatnonzero(np.diff(np.cumsum(sizes[fits]) // AT_ONCE)) + 1):
        check_time()
        search = _Candidates(both[some], clues[some], height, orders)
        forms[some], symmetries[some] = search.forms(pairs, n_ways[some])
    return forms, symmetries


class _Candidates:
    """The candidates of some puzzles, in the order of the puzzles."""

    def __init__(self, both: Bytes, clues: Ints, height: int, orders: _Orders) -> None:
        self._digits, self._clues = both.ravel(), clues.ravel()
        self._height, self._orders = height, orders
        self._m, self._turns, self._n = clues.shape

    def forms(self, pairs: Ints, n_ways: Ints) -> tuple[Bytes, Ints]:
        """Return the forms, and the numbers of symmetries.

        Parameters
        ----------
        pairs : ndarray of int64, shape (p, 2)
            Rows that may be the first two.
        n_ways : ndarray of int64, shape (m, turns, p)
            The number of orders of columns to try with each of them.
        """
        n = self._n
        forms = np.zeros((self._m, n, n), np.uint8)
        own, rows, second = self._begin(pairs, n_ways.ravel())
        for k in range(n):
            puzzles, forms[puzzles, k] = self._continue(own, rows)
            if k == 0:
                rows = second
            elif k + 1 < n:
                own, rows = self._following(k + 1)
        return forms, np.bincount(self._grid // self._turns, minlength=self._m)

    def _begin(self, pairs: Ints, n_ways: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the numbers of all candidates, and the first two rows of each."""
        orders = self._orders
        which = np.repeat(np.arange(n_ways.size), n_ways)
        place = np.arange(which.size) - np.repeat(np.cumsum(n_ways) - n_ways, n_ways)
        grid, pair = np.divmod(which, len(pairs))
        above, below = (self._clues[grid * self._n + pairs[pair, x]] for x in range(2))
        order = orders.ways[orders.begins[above] + place]
        kept = np.flatnonzero(orders.n_behind[order, below] == orders.second[above, below])
        self._grid, self._order = grid[kept], order[kept]  # a grid is a puzzle, or its transpose
        self._used, self._n_labels = np.zeros((2, kept.size), np.int64)
        self._labels = np.zeros((kept.size, self._n + 1), np.uint8)  # of digits; 0: none yet
        return np.arange(kept.size), pairs[pair[kept], 0], pairs[pair[kept], 1]

    def _following(self, k: int) -> tuple[Ints, Ints]:
        """Return the rows that may follow as row k, and the candidates that they continue."""
        height, n, used = self._height, self._n, self._used[:, None]
        if k % height:  # a row of the band of the row before
            rows = (self._row // height * height)[:, None] + np.arange(height)
            is_used = used >> rows & 1
        else:
            rows = np.broadcast_to(np.arange(n), (used.size, n))
            is_used = used >> (rows // height * height) & ((1 << height) - 1)
        own, place = np.nonzero(is_used == 0)
        return own, rows[own, place]

    def _continue(self, own: Ints, rows: Ints) -> tuple[Ints, Bytes]:
        """Continue candidates by rows; return the puzzles that have any, and their least rows."""
        n, grid = self._n, self._grid[own]
        # of two rows, the one with more blank cells in front is less
        n_behind = self._orders.n_behind[self._order[own], self._clues[grid * n + rows]]
        kept = np.flatnonzero(_is_least(n_behind, grid // self._turns))
        own, rows, grid = own[kept], rows[kept], grid[kept]
        order = self._order[own]
        digits = self._digits[(grid * n + rows)[:, None] * n + self._orders.columns[order]]
        labels = np.take_along_axis(self._labels[own], digits.astype(np.intp), axis=1)
        is_new = (labels == 0) & (digits > 0)
        n_labels = self._n_labels[own, None] + np.cumsum(is_new, axis=1)
        labels = np.where(is_new, n_labels, labels)
        codes = labels @ 16 ** np.arange(n)[::-1]
        kept = np.flatnonzero(_is_least(codes, grid // self._turns))
        self._grid, self._row, self._order = grid[kept], rows[kept], order[kept]
        self._used = self._used[own[kept]] | 1 << rows[kept]
        self._labels = self._labels[own[kept]]
        self._n_labels = n_labels[kept, -1]
        at, x = np.nonzero(is_new[kept])
        self._labels[at, digits[kept[at], x]] = labels[kept[at], x]
        puzzles = self._grid // self._turns
        first = np.flatnonzero(np.diff(puzzles, prepend=-1))
        return puzzles[first], labels[kept[first]].astype(np.uint8)


def _is_least(values: npt.NDArray[np.integer], groups: Ints) -> Bools:
    """Tell which values are the least of their groups, which are adjacent."""
    if not groups.size:
        return np.zeros(0, np.bool_)
    begins = np.flatnonzero(np.diff(groups, prepend=-1))
    sizes = np.diff(begins, append=groups.size)
    return values == np.repeat(np.minimum.reduceat(values, begins), sizes)
