"""Lines at random that solutions obey: thermometers, whispers, renbans and palindromes.

A line is a path of cells, each beside the next by an edge or a corner; no two lines meet.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from batchsolve.kernels import helper, inlined, kernel
from batchsolve.problems.random_layouts import Keys, Numbers
from batchsolve.splitmix import below, shuffle, stream_of

KINDS = THERMO, WHISPER, RENBAN, PALINDROME = "thermo", "whisper", "renban", "palindrome"
"""The kinds: digits that rise, that differ much, that follow one another in any order, and that
read the same from both ends."""

_THERMO, _WHISPER, _RENBAN, _PALINDROME = range(len(KINDS))
_NONE, _GOES_ON = -2, -1  # behind the last line, and a cell that is not the first of its line

Line = tuple[str, tuple[int, ...]]
"""One of `KINDS`, and the cells from end to end; a thermometer from its least digit."""


@inlined
def _king_move(cell, side, n):
    """Return the cell in one of eight directions from a cell of n columns, or -1."""
    side += side >= 4
    row, column = cell // n + side // 3 - 1, cell % n + side % 3 - 1
    return row * n + column if 0 <= row < n and 0 <= column < n else -1


def random_lines(
    keys: Keys,
    rows: Numbers,
    attempts: Numbers,
    solutions: npt.NDArray[np.uint8],
    kinds: tuple[str, ...],
    sizes: tuple[int, int],
    gap: int,
) -> list[list[Line]]:
    """Draw lines for each row, as many as fit.

    Parameters
    ----------
    keys : ndarray of uint64, shape (2,)
        The seed of the random numbers.
    rows, attempts : ndarray of int64
        The number of each row, and that of the attempt at it.
    solutions : ndarray of uint8, shape (n_rows, n²)
    kinds : tuple of str
        Some of `KINDS`.
    sizes : (int, int)
        The bounds of the number of cells; the upper one is n at most, and those of a renban are
        fewer than n.
    gap : int
        The least difference of neighbours in whispers.

    Examples
    --------
    >>> solutions, keys = np.array([[1, 2, 2, 1]], np.uint8), np.array([1, 2], np.uint64)
    >>> random_lines(keys, np.arange(1), np.zeros(1, int), solutions, ("palindrome",), (2, 2), 2)
    [[('palindrome', (2, 1)), ('palindrome', (3, 0))]]
    """
    n_rows, n_cells = solutions.shape
    cells, starts = np.empty((n_rows, n_cells), np.uint16), np.empty((n_rows, n_cells), np.int8)
    numbers = np.array([KINDS.index(kind) for kind in kinds])
    _draw_lines(keys, rows, attempts, solutions, numbers, *sizes, gap, cells, starts)
    return [
        [(KINDS[kind], tuple(of_row[first:last])) for kind, first, last in _spans(kinds_of_row)]
        for of_row, kinds_of_row in zip(cells.tolist(), starts.tolist(), strict=True)
    ]


def _spans(starts: list[int]) -> list[tuple[int, int, int]]:
    """Return the kind, the begin and the end of the lines of a row."""
    n = starts.index(_NONE) if _NONE in starts else len(starts)
    begins = [x for x in range(n) if starts[x] != _GOES_ON]
    return [(starts[x], x, y) for x, y in pairwise([*begins, n])]


@kernel
def _draw_lines(keys, rows, attempts, solutions, kinds, least, most, gap, cells, starts):
    """Let lines grow from the cells, in random order, to random sizes; drop those too short."""
    n_cells = solutions.shape[1]
    n = np.int64(np.sqrt(n_cells))
    state, order = np.empty(1, np.uint64), np.arange(n_cells)
    line, is_free = np.empty(most, np.int64), np.empty(n_cells, np.bool_)
    starts[:] = _NONE
    for k in range(rows.size):
        state[0] = stream_of(keys, rows[k], attempts[k])
        is_free[:] = True
        for x in range(n_cells):
            order[x] = x
        shuffle(state, 0, order)
        n_used = 0
        for cell in order:
            if not is_free[cell]:
                continue
            kind = kinds[below(state, 0, kinds.size)]
            wanted = least + below(state, 0, most - least + 1)
            if kind == _RENBAN:
                wanted = min(wanted, n - 1)
            line[0], is_free[cell] = cell, False
            size = _grow(state, solutions[k], is_free, line, kind, wanted, gap, n)
            if size < least or (kind == _RENBAN and _spread(solutions[k], line[:size]) != size):
                for x in range(size):
                    is_free[line[x]] = True
                continue
            for x in range(size):
                cells[k, n_used] = line[x]
                starts[k, n_used] = _GOES_ON if x else kind
                n_used += 1


@helper
def _grow(state, digits, is_free, line, kind, wanted, gap, n):
    """Add random cells that fit to a line of one cell; return its size.

    A palindrome grows at both ends, from its middle.
    """
    size = 1
    while size < wanted:
        is_turned = kind == _PALINDROME and (wanted - size) % 2 == 0
        end, begin, n_found = -1, -1, 0
        for side in range(8):
            near = _king_move(line[size - 1], side, n)
            if near < 0 or not is_free[near]:
                continue
            if not is_turned and _fits(digits, line[:size], near, kind, wanted, gap):
                n_found += 1
                if below(state, 0, n_found) == 0:
                    end = near
            for other in range(8 if is_turned else 0):
                far = _king_move(line[0], other, n)
                if far >= 0 and far != near and is_free[far] and digits[far] == digits[near]:
                    n_found += 1
                    if below(state, 0, n_found) == 0:
                        end, begin = near, far
        if end < 0:
            break
        if begin >= 0:
            for x in range(size, 0, -1):
                line[x] = line[x - 1]
            line[0], is_free[begin] = begin, False
            size += 1
        line[size], is_free[end] = end, False
        size += 1
    return size


@inlined
def _fits(digits, line, cell, kind, wanted, gap):
    """Return True if a cell may follow the last one of a line."""
    digit, last = np.int64(digits[cell]), np.int64(digits[line[-1]])
    if kind == _THERMO:
        return digit > last
    if kind == _WHISPER:
        return abs(digit - last) >= gap
    if kind == _PALINDROME:
        return digit == last
    for other in line:
        if digit == digits[other] or abs(digit - np.int64(digits[other])) >= wanted:
            return False
    return True


@inlined
def _spread(digits, line):
    """Return the number of digits from the least to the greatest of a line."""
    least, most = digits[line[0]], digits[line[0]]
    for cell in line:
        least, most = min(least, digits[cell]), max(most, digits[cell])
    return np.int64(most) - np.int64(least) + 1
