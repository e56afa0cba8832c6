"""Canonical forms of completed 9×9 grids, from a table of second rows.

`batchsolve.symmetry.canonical` defines forms, and finds those of any puzzles. If no cell is blank,
the first row of a form is 123456789, and its second row depends only on the column of the first row
in which each digit of the second row stands. That is a permutation of the columns that leaves no
column in its stack, one of 12,096. For each of them, a table holds the least second row and the
orders of columns that lead to it. All other rows follow from such an order: labels are read off the
first row, and rows and bands stand in the order of their first labels.

A grid has 36 pairs of rows that can come first, 18 of them columns. The pairs with the least second
row are tried, one or a few for most grids, and their rows compared one by one.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

from __future__ import annotations

from functools import cache
from itertools import permutations, product
from threading import Lock
from typing import Any

import numpy as np

from batchsolve.kernels import inlined, kernel

_LOCK = Lock()


@inlined
def _rank(moved):
    """Return the place of a permutation of the columns among all 9!, in lexicographic order."""
    left, rank = np.uint32(511), 0
    for x in range(9):
        below = left & ((np.uint32(1) << np.uint32(moved[x])) - np.uint32(1))
        n_below = 0
        while below:
            below &= below - np.uint32(1)
            n_below += 1
        rank = rank * (9 - x) + n_below
        left ^= np.uint32(1) << np.uint32(moved[x])
    return rank


@kernel
def _fill_table(moves, orders, places, numbers, second_rows, firsts, ways):
    """Fill the table of second rows; return the number of ways.

    Parameters
    ----------
    moves : uint8 array, shape (12096, 9)
        The permutations that leave no column in its stack.
    orders : uint8 array, shape (1296, 9)
        The orders of columns: which column stands at each position.
    places : uint8 array, shape (1296, 9)
        Their inverses.
    numbers : int16 array, shape (9!,)
        Receives the number of each permutation, by its rank.
    second_rows : int64 array, shape (12096,)
        Receives the least second row, 4 bits a label.
    firsts : int32 array, shape (12097,)
        Receives the place where the ways of each permutation begin.
    ways : int16 array
        Receives the orders that lead to the least second row.
    """
    n_ways = 0
    for n in range(moves.shape[0]):
        moved, least, first = moves[n], np.int64(1) << 62, n_ways
        for k in range(orders.shape[0]):
            row = np.int64(0)
            for y in range(9):
                row = row << 4 | places[k, moved[orders[k, y]]]
            if row < least:
                least, n_ways = row, first
            if row == least:
                ways[n_ways] = k
                n_ways += 1
        numbers[_rank(moved)] = n
        second_rows[n], firsts[n] = least, first
    firsts[moves.shape[0]] = n_ways
    return n_ways


@cache
def _table() -> tuple[Any, ...]:
    """Return the orders of columns, and the table of second rows."""
    each = list(permutations(range(3)))
    orders = np.array(
        [
            [3 * stacks[x // 3] + within[x // 3][x % 3] for x in range(9)]
            for stacks in each
            for within in product(each, repeat=3)
        ],
        np.uint8,
    )
    places = np.argsort(orders, axis=1).astype(np.uint8)
    moves = np.empty((1, 0), np.uint8)
    for x in range(9):
        others = np.array([to for to in range(9) if to // 3 != x // 3], np.uint8)
        moves = np.column_stack([np.repeat(moves, 6, axis=0), np.tile(others, len(moves))])
        moves = moves[(moves[:, :-1] != moves[:, -1:]).all(axis=1)]
    numbers, second_rows = np.full(362_880, -1, np.int16), np.empty(12_096, np.int64)
    firsts, ways = np.empty(12_097, np.int32), np.empty(12_096 * 108, np.int16)
    n_ways = _fill_table(moves, orders, places, numbers, second_rows, firsts, ways)
    return orders, numbers, second_rows, firsts, ways[:n_ways].copy()


@inlined
def _row(grid, r, order, labels):
    """Return a row of a form, 4 bits a label."""
    row = np.int64(0)
    for x in range(9):
        row = row << 4 | labels[grid[r, order[x]]]
    return row


@kernel
def _search(grids, table, forms, symmetries, transposed, rows, columns):
    orders, numbers, second_rows, firsts, ways = table
    both = np.empty((2, 9, 9), np.uint8)
    where, moved = np.empty(10, np.uint8), np.empty(9, np.uint8)
    labels, least = np.zeros(10, np.int64), np.empty(9, np.int64)
    sources, heads = np.empty(9, np.int64), np.empty(3, np.int64)
    pairs, moves = np.empty((36, 4), np.int64), 0
    for m in range(grids.shape[0]):
        for x in range(9):
            for y in range(9):
                both[0, x, y] = both[1, y, x] = grids[m, x, y]
        second, n_pairs = np.int64(1) << 62, 0
        for turned in range(2):
            grid = both[turned]
            for one in range(9):
                for x in range(9):
                    where[grid[one, x]] = x
                band = one - one % 3
                for step in range(1, 3):
                    two = band + (one - band + step) % 3
                    for x in range(9):
                        moved[x] = where[grid[two, x]]
                    moves = numbers[_rank(moved)]
                    if second_rows[moves] < second:
                        second, n_pairs = second_rows[moves], 0
                    if second_rows[moves] == second:
                        pairs[n_pairs, 0], pairs[n_pairs, 1] = turned, one
                        pairs[n_pairs, 2], pairs[n_pairs, 3] = two, moves
                        n_pairs += 1
        n_equal = 0
        for pair in range(n_pairs):
            turned, one, two, moves = pairs[pair]
            grid = both[turned]
            band = one // 3
            sources[0], sources[1], sources[2] = one, two, 9 * band + 3 - one - two
            for way in range(firsts[moves], firsts[moves + 1]):
                order = orders[ways[way]]
                for x in range(9):
                    labels[grid[one, order[x]]] = x + 1
                # rows and bands in the order of their first labels
                for other in range(2):
                    first = 3 * ((band + 1 + other) % 3)
                    for r in range(3):
                        heads[r] = labels[grid[first + r, order[0]]] * 16 + first + r
                    for r in range(2):
                        for q in range(2 - r):
                            if heads[q] > heads[q + 1]:
                                heads[q], heads[q + 1] = heads[q + 1], heads[q]
                    # the band that has the label 2 in front is the next
                    to = 3 if heads[0] < 48 else 6
                    for r in range(3):
                        sources[to + r] = heads[r] & 15
                k, row = 2, np.int64(0)
                while k < 9:
                    row = _row(grid, sources[k], order, labels)
                    if n_equal == 0 or row != least[k]:
                        break
                    k += 1
                if k == 9:
                    n_equal += 1
                elif n_equal == 0 or row < least[k]:
                    for r in range(k, 9):
                        least[r] = _row(grid, sources[r], order, labels)
                    n_equal = 1
                    transposed[m] = turned == 1
                    for x in range(9):
                        rows[m, x], columns[m, x] = sources[x], order[x]
        symmetries[m] = n_equal
        for x in range(9):
            labels[both[np.int64(transposed[m]), rows[m, 0], columns[m, x]]] = x + 1
        for x in range(9):
            for y in range(9):
                forms[m, x, y] = labels[both[np.int64(transposed[m]), rows[m, x], columns[m, y]]]


def search_grids(grids, forms, symmetries, transposed, rows, columns):
    """Find the canonical forms of completed 9×9 grids; see `search_forms`."""
    with _LOCK:  # otherwise threads would make the table several times
        table = _table()
    _search(grids, table, forms, symmetries, transposed, rows, columns)
