"""A second, independent search for 9×9 puzzles."""

from __future__ import annotations

import numpy as np

from puzzles.grids import Grid


def count_solutions(puzzle: Grid, limit: int) -> int:
    """Count the solutions of a 9×9 puzzle, up to a limit, by trying digits cell by cell.

    It shares no code with the engines of the package, so its counts can test theirs.

    Examples
    --------
    >>> count_solutions(np.zeros(81, np.uint8), limit=10)
    10
    """
    used = [0] * 27  # bit sets of the digits in every row, column and box
    units = [(c // 9, 9 + c % 9, 18 + c // 27 * 3 + c % 9 // 3) for c in range(81)]
    for cell in np.flatnonzero(puzzle).tolist():
        for unit in units[cell]:
            used[unit] |= 1 << int(puzzle[cell])

    def free(cell: int) -> int:
        row, column, box = units[cell]
        return ~(used[row] | used[column] | used[box]) & 0b1111111110

    def count(blanks: frozenset[int], limit: int) -> int:
        if not blanks:
            return 1
        cell = min(blanks, key=lambda c: free(c).bit_count())
        digits, found = free(cell), 0
        while digits and found < limit:
            digit = digits & -digits
            digits ^= digit
            for unit in units[cell]:
                used[unit] ^= digit
            found += count(blanks - {cell}, limit - found)
            for unit in units[cell]:
                used[unit] ^= digit
        return found

    return count(frozenset(np.flatnonzero(puzzle == 0).tolist()), limit)
