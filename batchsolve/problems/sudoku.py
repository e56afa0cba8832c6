"""Sudoku of every box shape as an exact cover problem.

A grid of N = box rows × box columns digits has N² cells. An option (see
`batchsolve.problems.grids`) covers four items: the cell, and the digit in the cell's row, column
and box.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.arrays import Bytes, Ints, UInts
from batchsolve.errors import ProblemError
from batchsolve.kernels import with_counterpart
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import MOST_DIGITS
from batchsolve.problems.rules import Rules, plain
from batchsolve.settings import whole_number

ROWS_AT_ONCE = 4096  # in NumPy


def _find_in_numpy(
    grids: Bytes, n_digits: int, indptr: Ints, indices: UInts, n_items: int, clashes: Ints
) -> None:
    """Do as `_find_clashes`."""
    clashes[:] = -1
    for begin in range(0, len(grids), ROWS_AT_ONCE):
        some, found = grids[begin : begin + ROWS_AT_ONCE], clashes[begin : begin + ROWS_AT_ONCE]
        is_covered = np.zeros((len(some), n_items), np.bool_)
        n_clues = np.zeros(len(some), np.int64)
        for cell, column in enumerate(some.T):
            at = np.flatnonzero((column > 0) & (found < 0))
            clash = column[at] > n_digits
            fit, option = at[~clash], cell * n_digits + column[at[~clash]].astype(np.int64) - 1
            sizes = indptr[option + 1] - indptr[option]
            for x in range(int(sizes.max(initial=0))):
                own = x < sizes
                items = indices[indptr[option[own]] + x]
                found[fit[own][is_covered[fit[own], items]]] = 0
                is_covered[fit[own], items] = True
            clash[~clash] = found[fit] == 0
            found[at[clash]] = n_clues[at[clash]]
            n_clues[at] += 1


@with_counterpart(_find_in_numpy)
def _find_clashes(grids, n_digits, indptr, indices, n_items, clashes):
    """Find the first clue of each grid that clashes with one before it, or whose digit is too high.

    ``n_items`` is the number of items.
    """
    is_covered = np.zeros(n_items, np.bool_)
    for k in range(grids.shape[0]):
        is_covered[:] = False
        clashes[k] = -1
        n_clues = 0
        for cell in range(grids.shape[1]):
            digit = np.int64(grids[k, cell])
            if digit == 0:
                continue
            clash = digit > n_digits
            if not clash:
                option = cell * n_digits + digit - 1
                for x in range(indptr[option], indptr[option + 1]):
                    clash |= is_covered[indices[x]]
                    is_covered[indices[x]] = True
            if clash:
                clashes[k] = n_clues
                break
            n_clues += 1


class Sudoku(GridProblem):
    """The exact cover problem of the empty grid.

    Parameters
    ----------
    box_rows, box_columns : int
        Shape of a box; the grid has N = box_rows · box_columns rows, columns and digits.

    Raises
    ------
    InputError
        If a box has no rows or no columns.
    ProblemError
        If N is more than 255.

    Examples
    --------
    >>> Sudoku(2, 3)
    Sudoku(2, 3)
    >>> Sudoku(2, 2).stack([1, 0, 0, 0, 0, 0, 0, 2] + [0] * 8).tolist()
    [0, 29]
    """

    def __init__(self, box_rows: int = 3, box_columns: int = 3) -> None:
        box_rows = whole_number("box_rows", box_rows, 1)
        box_columns = whole_number("box_columns", box_columns, 1)
        n = box_rows * box_columns
        if n > MOST_DIGITS:
            raise ProblemError(
                f"a box of {box_rows}×{box_columns} gives {n} digits; "
                f"1 to {MOST_DIGITS} are possible"
            )
        self.box_rows, self.box_columns, self.n_digits = box_rows, box_columns, n
        option = np.arange(n**3)
        cell, digit = np.divmod(option, n)
        row, column = np.divmod(cell, n)
        box = row // box_rows * box_rows + column // box_columns
        kinds = [cell, row * n + digit, column * n + digit, box * n + digit]
        items = np.stack([kind + k * n * n for k, kind in enumerate(kinds)], axis=1)
        super().__init__(np.arange(n**3 + 1) * 4, items.reshape(-1), 4 * n * n)

    def __repr__(self) -> str:
        return f"Sudoku({self.box_rows}, {self.box_columns})"

    def __reduce__(self) -> tuple[Any, ...]:
        return sudoku, (self.box_rows, self.box_columns)

    @cached_property
    def rules(self) -> Rules:  # type: ignore[override]
        """The rules of the grid."""
        return plain(self.box_rows, self.box_columns)

    def first_clashes(self, grids: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """Return for each grid the position among its clues of the first that clashes, or -1."""
        self.check_width(grids)
        clashes = np.empty(len(grids), np.int64)
        _find_clashes(grids, self.n_digits, self.indptr, self.indices, self.n_items, clashes)
        return clashes

    def item_name(self, i: int) -> str:
        """Return ``r1c2`` for a cell, ``r1#3``, ``c2#3`` or ``b1#3`` for a digit in a unit."""
        kind, rest = divmod(i, self.n_cells)
        first, second = divmod(rest, self.n_digits)
        return f"{'rrcb'[kind]}{first + 1}{'c' if kind == 0 else '#'}{second + 1}"

    def option_name(self, o: int) -> str:
        """Return ``r1c2#3``: digit 3 in row 1, column 2."""
        cell, digit = divmod(o, self.n_digits)
        return f"{self.item_name(cell)}#{digit + 1}"

    def explain_clash(self, stack: Sequence[int], position: int) -> str:
        """Return the digit, the unit and the places of two clues that clash."""
        if not 0 <= stack[position] < self.n_options:
            return super().explain_clash(stack, position)
        n = self.n_digits
        cell, digit = divmod(int(stack[position]), n)
        mine = set(map(int, self.option(int(stack[position]))))
        for other in map(int, stack[:position]):
            shared = mine.intersection(map(int, self.option(other)))
            if shared:
                unit = ("cell", "row", "column", "box")[min(shared) // self.n_cells]
                places = [self.cell_name(other // n), self.cell_name(cell)]
                return f"digit {digit + 1} twice in a {unit}: {places[0]} and {places[1]}"
        raise ValueError(f"the clue at position {position} clashes with nothing before it")


@lru_cache(maxsize=16)
def sudoku(box_rows: int, box_columns: int) -> Sudoku:
    """Return a shared `Sudoku`; each process builds the problem of a shape once."""
    return Sudoku(box_rows, box_columns)
