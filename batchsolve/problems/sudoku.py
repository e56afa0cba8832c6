"""Sudoku of every box shape as an exact cover problem; grids ↔ stacks.

A grid of N = box rows × box columns digits has N² cells. Option ``cell · N + digit`` (digits
counted from 0) puts a digit into a cell and covers four items: the cell, and the digit in the
cell's row, column and box. So the clues of a grid are a stack, and a cover is a solved grid.

`as_grids`, `grids` and `check` check grids and stacks of unknown origin before a kernel uses their
digits or options as indices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.errors import InputError, ProblemError, argument_errors, quoted
from batchsolve.kernels import kernel
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.notation import MOST_DIGITS, Notation, usual_notation
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.survey import AmbiguousNotationError, Survey
from batchsolve.settings import text_of, whole_number


@kernel
def _stacks_of(grids, n_digits):
    """Return the offsets and the options of the stacks of many grids."""
    offsets = np.zeros(grids.shape[0] + 1, np.int64)
    for k in range(grids.shape[0]):
        n_clues = 0
        for cell in range(grids.shape[1]):
            n_clues += grids[k, cell] != 0
        offsets[k + 1] = offsets[k] + n_clues
    options = np.empty(offsets[-1] + 1, np.uint32)
    x = np.uintp(0)
    for k in range(grids.shape[0]):
        first = np.uint32(0)  # option of the cell's first digit
        for cell in range(grids.shape[1]):
            digit = grids[k, cell]
            options[x] = first + digit - np.uint32(1)  # overwritten if the cell is blank
            x += np.uintp(digit != 0)
            first += np.uint32(n_digits)
    return offsets, options[:-1]


@kernel
def _fill_grids(offsets, options, cells, digits, grids):
    for k in range(grids.shape[0]):
        for option in options[offsets[k] : offsets[k + 1]]:
            grids[k, cells[option]] = digits[option]


@kernel
def _check_solutions(puzzles, solutions, box_rows, box_columns, right):
    n = box_rows * box_columns
    # the last grid, counted from 1, with a digit in a row, column or box
    seen = np.zeros((3, n, n + 1), np.int64)
    for k in range(puzzles.shape[0]):
        good, cell = True, 0
        for row in range(n):
            first_box = row // box_rows * box_rows
            for column in range(n):
                digit, clue = solutions[k, cell], puzzles[k, cell]
                cell += 1
                if digit == 0 or digit > n or (clue != 0 and clue != digit):
                    good = False
                    break
                box = first_box + column // box_columns
                if max(seen[0, row, digit], seen[1, column, digit], seen[2, box, digit]) == k + 1:
                    good = False
                    break
                seen[0, row, digit] = seen[1, column, digit] = seen[2, box, digit] = k + 1
            if not good:
                break
        right[k] = good


def as_grids_array(grids: Any) -> npt.NDArray[Any]:
    """Return grids as an array; masked cells are blank.

    Examples
    --------
    >>> grid = np.ma.array([1, 2, 2, 1], mask=[0, 1, 0, 0])
    >>> as_grids_array(grid).tolist(), as_grids_array([grid]).tolist()
    ([1, 0, 2, 1], [[1, 0, 2, 1]])
    """
    with argument_errors("grids are an array, or lists of equal length", grids):
        if isinstance(grids, list | tuple) and any(map(np.ma.isMaskedArray, grids)):
            grids = [as_grids_array(grid) for grid in grids]
        return np.asarray(grids.filled(0) if np.ma.isMaskedArray(grids) else grids)


def without_minus_one(array: npt.NDArray[Any], n_digits: int) -> npt.NDArray[Any]:
    """Return digits with 0 for blanks that are -1.

    Raises
    ------
    InputError
        If the array holds 0 and -1, but not the largest digit, so that its digits seem to begin at
        0: each would be taken for another.

    Examples
    --------
    >>> without_minus_one(np.array([-1, 1, 2, -1]), 2).tolist()
    [0, 1, 2, 0]
    """
    if array.dtype.kind == "u" or not (is_blank := array == -1).any():
        return array
    if array.max() < n_digits and (array == 0).any():
        raise InputError(
            f"grids hold 0 and -1, but no {n_digits}: do the digits begin at 0? then add 1 to all "
            f"cells"
        )
    return np.where(is_blank, 0, array)


class SolvedGrids(Stacks):
    """Covers that are solved grids: their digits, and their options on demand.

    Parameters
    ----------
    digits : ndarray of uint8, shape (n, N²)
    roots : ndarray of int64, shape (n,)

    Examples
    --------
    >>> solved = SolvedGrids(np.array([[1, 2, 2, 1]], np.uint8), np.array([7]))
    >>> solved, solved.options.tolist()  # of two digits in each of four cells
    (Stacks(1 stack of 4 options), [0, 3, 5, 6])
    """

    digits: npt.NDArray[np.uint8]

    def __init__(self, digits: npt.NDArray[np.uint8], roots: npt.NDArray[np.int64]) -> None:
        self.__dict__.update(digits=digits, roots=roots)

    def take(self, which: npt.ArrayLike) -> SolvedGrids:
        """See `Stacks.take`."""
        places = np.asarray(which)
        if places.dtype == np.bool_ and places.all():
            return self
        return SolvedGrids(self.digits[places], self.roots[places])

    @cached_property
    def offsets(self) -> npt.NDArray[np.int64]:
        """The offsets of grids with equally many options."""
        return np.arange(len(self.digits) + 1) * self.digits.shape[1]

    @cached_property
    def options(self) -> npt.NDArray[np.uint32]:
        """The options, cell by cell."""
        first = np.arange(self.digits.shape[1]) * isqrt(self.digits.shape[1]) - 1
        return (first + self.digits).astype(np.uint32).reshape(-1)


class Sudoku(ExactCover):
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
        self._cells, self._digits = cell.astype(np.uint16), (digit + 1).astype(np.uint8)
        row, column = np.divmod(cell, n)
        box = row // box_rows * box_rows + column // box_columns
        kinds = [cell, row * n + digit, column * n + digit, box * n + digit]
        items = np.stack([kind + k * n * n for k, kind in enumerate(kinds)], axis=1)
        super().__init__(np.arange(n**3 + 1) * 4, items.reshape(-1), 4 * n * n)

    def __repr__(self) -> str:
        return f"Sudoku({self.box_rows}, {self.box_columns})"

    def __reduce__(self) -> tuple[Any, ...]:
        return sudoku, (self.box_rows, self.box_columns)

    @property
    def n_cells(self) -> int:
        """Number of cells, N²."""
        return self.n_digits**2

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
                places = [f"row {c // n + 1}, column {c % n + 1}" for c in (other // n, cell)]
                return f"digit {digit + 1} twice in a {unit}: {places[0]} and {places[1]}"
        raise ValueError(f"the clue at position {position} clashes with nothing before it")

    def stack(self, grid: npt.ArrayLike) -> npt.NDArray[np.uint32]:
        """Return the stack of a grid's clues; `grid` has N² digits, 0 for blank cells."""
        return self.stacks(as_grids_array(grid).reshape(1, -1))[0]

    def stacks(self, grids: npt.ArrayLike) -> Stacks:
        """Return the stacks of many grids.

        Parameters
        ----------
        grids : array_like of int, shape (n, N²) or (n, N, N)
            Digits 1 .. N; 0, -1 and masked cells are blank.

        Returns
        -------
        Stacks
            n stacks; the root of each is its place.
        """
        array = self.as_grids(grids)
        offsets, options = _stacks_of(array, self.n_digits)
        return Stacks(offsets, options, np.arange(len(array)))

    def as_grids(self, grids: npt.ArrayLike) -> npt.NDArray[np.uint8]:
        """Return grids as a uint8 array of shape (n, N²); check shape and digits."""
        array = as_grids_array(grids)
        n = self.n_digits
        if array.shape == (0,):  # an empty list of grids
            array = np.empty((0, n * n), np.uint8)
        if array.ndim == 3 and array.shape[1:] == (n, n):
            array = array.reshape(len(array), -1)
        if array.ndim != 2 or array.shape[1] != n * n:
            texts = "; parse makes an array of a text" if array.dtype.kind in "US" else ""
            raise InputError(f"grids must have shape (n, {n * n}), not {array.shape}{texts}")
        if not np.issubdtype(array.dtype, np.integer):
            raise InputError(
                f"grids must hold whole numbers, not {array.dtype}; round them if need be, and "
                f"convert them: grids.astype('uint8')"
            )
        array = without_minus_one(array, n)
        if array.size and not 0 <= array.min() <= array.max() <= n:
            k, cell = map(int, np.argwhere((array < 0) | (array > n))[0])
            raise InputError(
                f"grid {k} has {array[k, cell]} in row {cell // n + 1}, column {cell % n + 1}; "
                f"digits are 1 to {n}, 0 or -1 is a blank"
            )
        return np.ascontiguousarray(array, np.uint8)

    def grids(self, stacks: Stacks) -> npt.NDArray[np.uint8]:
        """Return the grids of stacks, shape (n, N²): the inverse of `stacks`.

        Raises
        ------
        ProblemError
            If an option does not exist.
        """
        if isinstance(stacks, SolvedGrids):
            return stacks.digits
        if not isinstance(stacks, Stacks):
            raise InputError(
                f"stacks are Stacks, not {quoted(stacks)}; Stacks.from_lists makes them of lists"
            )
        if stacks.options.size and stacks.options.max() >= self.n_options:
            raise ProblemError(
                f"option {stacks.options.max()} does not exist: {self!r} has {self.n_options}"
            )
        grids = np.zeros((len(stacks), self.n_cells), np.uint8)
        _fill_grids(stacks.offsets, stacks.options, self._cells, self._digits, grids)
        return grids

    def check(
        self, puzzles: npt.NDArray[np.uint8], solutions: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.bool_]:
        """Return True for each pair whose second grid solves the first, without any engine.

        Raises
        ------
        InputError
            If the arrays are not both of shape (n, N²).
        """
        if puzzles.shape != solutions.shape or puzzles.shape[1:] != (self.n_cells,):
            raise InputError(
                f"puzzles {puzzles.shape} and solutions {solutions.shape} must both have shape "
                f"(n, {self.n_cells})"
            )
        right = np.zeros(len(puzzles), np.bool_)
        _check_solutions(puzzles, solutions, self.box_rows, self.box_columns, right)
        return right

    def parse(self, text: str, alphabet: str | None = None) -> npt.NDArray[np.uint8]:
        """Return the digits of a grid, shape (N²,).

        Examples
        --------
        >>> Sudoku(2, 2).parse("12..  34..  ....  ....".replace(" ", "")).tolist()[:6]
        [1, 2, 0, 0, 3, 4]
        """
        notation = self.notation_of(text_of("a grid", text), alphabet)
        grids, faults = notation.encode(pa.array([text]))
        if faults[0] != -1:
            raise InputError(notation.explain(text, int(faults[0])))
        return grids[0]

    def format(self, grid: npt.ArrayLike, alphabet: str | None = None) -> str:
        """Return a grid as text; by default in the usual alphabet, with ``.`` for blanks."""
        n = self.n_digits
        notation = Notation.from_name(alphabet, n) if alphabet else usual_notation(n)
        array = self.as_grids(as_grids_array(grid).reshape(1, -1))
        return str(notation.decode(array, np.ones(1, np.bool_))[0].as_py())

    def notation_of(self, text: str, alphabet: str | None = None) -> Notation:
        """Return the notation of a grid: the named alphabet, or one that fits."""
        if alphabet is not None:
            return Notation.from_name(alphabet, self.n_digits)
        survey = Survey()
        survey.add(pa.array([text]))
        try:
            return survey.notation(self.n_digits)
        except AmbiguousNotationError:
            raise
        except InputError:
            return usual_notation(self.n_digits)


@lru_cache(maxsize=16)
def sudoku(box_rows: int, box_columns: int) -> Sudoku:
    """Return a shared `Sudoku`; each process builds the problem of a shape once."""
    return Sudoku(box_rows, box_columns)
