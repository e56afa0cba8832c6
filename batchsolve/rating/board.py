"""The board of a 9×9 puzzle in progress, as kernels see it: one array of words, and its changes.

A *house* is a row (0–8), a column (9–17) or a box (18–26). A *candidate* of an open cell is a digit
that it may still have. The board keeps candidates twice: the digits of each cell, and the places
of each digit in each house, both as bits.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np

from batchsolve.engines.intrinsics import popcount, trailing_zeros
from batchsolve.kernels import helper, inlined, part

N = 9
N_CELLS, N_HOUSES, COLUMNS, BOXES = 81, 27, 9, 18
ALL = 511
"""All digits of a cell, or all places of a house."""

# the parts of a board
CELLS = 0  # the candidates of each cell; none if it is filled
PLACES = N_CELLS  # the places of each digit in each house; none if the house has it
OPEN = PLACES + N * N_HOUSES  # the open cells of each house
MISSING = OPEN + N_HOUSES  # the digits that each house lacks
DIGITS = MISSING + N_HOUSES  # the digit of each cell; 0 if it is open
N_OPEN = DIGITS + N_CELLS  # the number of open cells
SIZE = N_OPEN + 1

_CELL = np.arange(N_CELLS)
HOUSE = np.stack([_CELL // 9, 9 + _CELL % 9, 18 + _CELL // 27 * 3 + _CELL % 9 // 3], 1)
"""The three houses of each cell."""

CELL = np.argsort(HOUSE, axis=0, kind="stable").T.reshape(N_HOUSES, N)
"""The cell at each place of each house."""

PLACE = np.stack([(CELL[HOUSE[cell]] == cell).argmax(axis=1) for cell in range(N_CELLS)])
"""The place of each cell in its three houses."""


@inlined
def first(bits):
    """Return the place of the lowest of some bits."""
    return np.intp(trailing_zeros(bits))


@inlined
def is_single(bits):
    """Return True if one bit is set."""
    return bits != 0 and bits & (bits - 1) == 0


@inlined
def count(bits):
    """Return the number of bits that are set."""
    return np.intp(popcount(bits))


@helper
def remove(board, cell, digit):
    """Remove a candidate of a cell."""
    board[cell] &= ~(1 << digit)
    for k in range(3):
        board[PLACES + N * HOUSE[cell, k] + digit] &= ~(1 << PLACE[cell, k])


@helper
def place(board, cell, digit):
    """Fill an open cell; return False if the digit is not a candidate of it."""
    if not board[cell] >> digit & 1:
        return False
    others = board[cell] & ~(1 << digit)
    board[cell] = 0
    board[DIGITS + cell] = digit + 1
    board[N_OPEN] -= 1
    for k in range(3):
        house, here = HOUSE[cell, k], 1 << PLACE[cell, k]
        board[OPEN + house] &= ~here
        board[MISSING + house] &= ~(1 << digit)
        left = others
        while left:
            board[PLACES + N * house + first(left)] &= ~here
            left &= left - 1
        left = board[PLACES + N * house + digit] & ~here
        board[PLACES + N * house + digit] = 0
        while left:
            remove(board, CELL[house, first(left)], digit)
            left &= left - 1
    return True


@part
def copy(board, other):
    """Set a board to another; numba's assignment takes ten times as much code."""
    for k in range(SIZE):
        board[k] = other[k]


@part
def begin(board, grid):
    """Set a board to a grid; return False if that has other digits than 0 to 9, or clashes."""
    for k in range(DIGITS):
        board[k] = ALL
    for cell in range(N_CELLS):
        board[DIGITS + cell] = 0
    board[N_OPEN] = N_CELLS
    for cell in range(N_CELLS):
        if grid[cell] > N or (grid[cell] and not place(board, cell, np.intp(grid[cell]) - 1)):
            return False
    return True
