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

from batchsolve.errors import InputError, ProblemError
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import MOST_DIGITS, default_box
from batchsolve.problems.rule_arrays import have_clashes
from batchsolve.problems.rules import MOST_DIGITS as MOST_IN_WORD, Rules, plain
from batchsolve.settings import whole_number

_AT_ONCE = 500_000  # items of grids


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
        self.box = box_rows, box_columns
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
        clashes = np.full(len(grids), -1, np.int64)
        if (wrong := np.flatnonzero(~self.follow_rules(grids))).size:
            clashes[wrong] = super().first_clashes(grids[wrong])
        return clashes

    def follow_rules(self, grids: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        """Return True for each grid without a clash; blank cells clash with nothing."""
        self.check_width(grids)
        if self.n_digits > MOST_IN_WORD:
            return super().first_clashes(grids) < 0
        step = max(1, _AT_ONCE // self.n_items)
        some = (grids[begin : begin + step] for begin in range(0, max(1, len(grids)), step))
        return ~np.concatenate([have_clashes(self.rules, each) for each in some])

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


def usual_sudoku(grids: npt.NDArray[Any], box: tuple[int, int] | None = None) -> Sudoku:
    """Return the problem of an array of grids with these boxes, or the usual ones for N.

    Examples
    --------
    >>> usual_sudoku(np.zeros((1, 36)))
    Sudoku(2, 3)
    """
    cells = grids.shape[1] if grids.ndim == 2 else grids.shape[-1] ** 2 if grids.ndim == 3 else 0
    n = round(cells**0.5)
    box = (box or default_box(n)) if n * n == cells else None
    if box is None or box[0] * box[1] != n:
        raise InputError(f"grids must have shape (n, N²) or (n, N, N), not {grids.shape}")
    return sudoku(*box)
