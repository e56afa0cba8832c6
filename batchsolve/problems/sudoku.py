"""Sudoku of every box shape as an exact cover problem.

A grid of N = box rows × box columns digits has N² cells. An option (see
`batchsolve.problems.grids`) covers four items: the cell, and the digit in the cell's row, column
and box.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy.typing as npt

from batchsolve.errors import InputError, ProblemError
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import MOST_DIGITS, default_box
from batchsolve.problems.rules import Rules, plain
from batchsolve.settings import whole_number


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

    _other_unit = "box"

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
        self.box = box_rows, box_columns
        self._is_frozen = True

    def __repr__(self) -> str:
        return f"Sudoku({self.box_rows}, {self.box_columns})"

    def __reduce__(self) -> tuple[Any, ...]:
        return sudoku, (self.box_rows, self.box_columns)

    @cached_property
    def rules(self) -> Rules:  # type: ignore[override]
        """The rules of the grid."""
        return plain(self.box_rows, self.box_columns)

    @property
    def token(self) -> str:
        """The shape of the boxes: all grids of a shape are one problem."""
        return repr(self)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the arrays of the exact cover problem, 64 hexadecimal digits."""
        return self._cover.fingerprint

    def item_name(self, i: int) -> str:
        """Return ``r1c2`` for a cell, ``r1#3``, ``c2#3`` or ``b1#3`` for a digit in a unit."""
        kind, rest = divmod(i, self.n_cells)
        first, second = divmod(rest, self.n_digits)
        return f"{'rrcb'[kind]}{first + 1}{'c' if kind == 0 else '#'}{second + 1}"


@lru_cache(maxsize=16)
def sudoku(box_rows: int, box_columns: int) -> Sudoku:
    """Return a shared `Sudoku`; each process builds the problem of a shape once."""
    return Sudoku(box_rows, box_columns)


def usual_sudoku(grids: npt.NDArray[Any], box: tuple[int, int] | None = None) -> Sudoku:
    """Return the problem of an array of grids with these boxes, or the usual ones for N.

    Examples
    --------
    >>> import numpy as np
    >>> usual_sudoku(np.zeros((1, 36)))
    Sudoku(2, 3)
    """
    cells = grids.shape[1] if grids.ndim == 2 else grids.shape[-1] ** 2 if grids.ndim == 3 else 0
    n = round(cells**0.5)
    box = (box or default_box(n)) if n * n == cells else None
    if box is None or box[0] * box[1] != n:
        raise InputError(f"grids must have shape (n, N²) or (n, N, N), not {grids.shape}")
    return sudoku(*box)
