"""Problems of grids: cells that hold one digit each; grids ↔ stacks.

Option ``cell · N + digit`` (digits counted from 0) puts a digit into a cell. So the clues of a grid
are a stack, and a cover is a solved grid. Some rules need options that fill no cell (see
`batchsolve.problems.variant`); they follow the others.

`as_grids` and `grids` check grids and stacks of unknown origin before the core uses their digits or
options as indices.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.core import native
from batchsolve.core.arrays import Ints
from batchsolve.errors import InputError, ProblemError, argument_errors, quoted
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.notation import Notation, usual_notation
from batchsolve.problems.rule_arrays import (
    MOST_IN_CORE,
    OwnRules,
    RowRules,
    core_rules,
    row_rules,
)
from batchsolve.problems.rules import Rules
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.survey import Form, Signs
from batchsolve.settings import text_of

_MOST_EXACT = 1 << 53  # of integers that floating-point numbers hold


def as_grids_array(grids: Any) -> npt.NDArray[Any]:
    """Return grids as an array; masked cells, None and NaN become -1, which is a blank.

    Whole numbers may be floating-point ones.

    Examples
    --------
    >>> grid = np.ma.array([1, 2, 2, 1], mask=[0, 1, 0, 0])
    >>> as_grids_array(grid).tolist(), as_grids_array([grid]).tolist()
    ([1, -1, 2, 1], [[1, -1, 2, 1]])
    >>> as_grids_array([1.0, float("nan")]).tolist(), as_grids_array([1, None]).tolist()
    ([1, -1], [1, -1])
    """
    with argument_errors("grids are an array, or lists of equal length", grids):
        if isinstance(grids, list | tuple) and any(map(np.ma.isMaskedArray, grids)):
            grids = [as_grids_array(grid) for grid in grids]
        if np.ma.is_masked(grids):
            kind = np.float64 if grids.dtype.kind == "f" else np.int64
            grids = grids.astype(kind).filled(-1) if grids.dtype.kind in "uif" else grids.filled(-1)
        array = np.asarray(grids)
    return as_whole(array)


def as_whole(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array of whole numbers as one of integers, with -1 for None and NaN.

    Other arrays are returned unchanged.
    """
    fractions = array
    if array.dtype == object:
        with suppress(TypeError, ValueError, OverflowError):
            fractions = array.astype(np.float64)
    if fractions.dtype.kind != "f":
        return array
    # as float64 at least: float16 does not hold the bound
    fractions = np.where(np.isnan(fractions), np.float64(-1), fractions)
    is_whole = (np.abs(fractions) < _MOST_EXACT).all() and (fractions == np.trunc(fractions)).all()
    return fractions.astype(np.int64) if is_whole else array


def without_minus_one(array: npt.NDArray[Any], n_digits: int) -> npt.NDArray[Any]:
    """Return digits with 0 for blanks that are -1.

    Raises
    ------
    InputError
        If the array, or one of its grids, holds 0 and -1, but not the largest digit, so that its
        digits seem to begin at 0: each would be taken for another.

    Examples
    --------
    >>> without_minus_one(np.array([-1, 1, 2, -1]), 2).tolist()
    [0, 1, 2, 0]
    """
    if array.dtype.kind == "u" or not (is_blank := array == -1).any():
        return array
    grids = array.reshape(len(array) if array.ndim > 1 else 1, -1)
    for some in (grids.reshape(1, -1), grids):  # all grids together may tell it, too
        seem_from_0 = (some == 0).any(axis=1) & (some == -1).any(axis=1)
        if (seem_from_0 & (some.max(axis=1, initial=-1) < n_digits)).any():
            raise InputError(
                f"grids hold 0 and blanks, but no {n_digits}: do the digits begin at 0? then add 1 "
                f"to all cells; or, if 0 is a blank cell, too, write 0 for all blanks"
            )
    return np.where(is_blank, 0, array)


class SolvedGrids(Stacks):
    """Covers that are solved grids: their digits, and their options on demand.

    Parameters
    ----------
    problem : GridProblem
    digits : ndarray of uint8, shape (n, n_cells)
    roots : ndarray of int64, shape (n,)
    """

    problem: GridProblem
    digits: npt.NDArray[np.uint8]

    def __init__(
        self,
        problem: GridProblem,
        digits: npt.NDArray[np.uint8],
        roots: npt.NDArray[np.int64],
    ) -> None:
        plain = Stacks.empty().branches
        self.__dict__.update(problem=problem, digits=digits, roots=roots, branches=plain)

    def take(self, which: npt.ArrayLike) -> SolvedGrids:
        """See `Stacks.take`."""
        places = np.asarray(which)
        if places.dtype == np.bool_ and places.all():
            return self
        return SolvedGrids(self.problem, self.digits[places], self.roots[places])

    @cached_property
    def offsets(self) -> npt.NDArray[np.int64]:
        """The offsets of grids with equally many options."""
        return np.arange(len(self.digits) + 1) * self.problem.cover_size

    @cached_property
    def options(self) -> npt.NDArray[np.uint32]:
        """The options, cell by cell."""
        n_cells, n_digits = self.problem.n_cells, self.problem.n_digits
        first = np.arange(n_cells) * n_digits - 1
        options = [(first + self.digits).astype(np.uint32), self.problem.other_options(self.digits)]
        return np.concatenate(options, axis=1).reshape(-1)


class GridProblem(ExactCover):
    """An exact cover problem whose covers are solved grids.

    Attributes
    ----------
    n_digits : int
        Number of digits, N.
    rules : Rules
        The rules of the grid.
    box : pair of int
        The rows and columns of the boxes, if it has the rules of Sudoku and no more; else 0 and 0.
    """

    n_digits: int
    rules: Rules
    box: tuple[int, int] = (0, 0)
    _core_rules: Any = None
    _row_rules: RowRules | None = None

    @property
    def n_cells(self) -> int:
        """Number of cells; N² unless a class says otherwise."""
        return self.n_digits**2

    @property
    def cover_size(self) -> int:
        """Number of options of every cover."""
        return self.n_cells

    def of_row(self, row: int) -> GridProblem:
        """Return the problem of the grid with this root."""
        return self

    def at(self, roots: npt.NDArray[np.int64]) -> GridProblem:
        """Return the problem of the grids with these roots; the roots are counted anew."""
        return self

    @property
    def given(self) -> OwnRules:
        """The marks and the cages, as the rules of one row."""
        none = np.empty((1, 0), np.uint8)
        return OwnRules.of([replace(self.rules, groups=(), pairs=())], none)

    @property
    def row_rules(self) -> RowRules:
        """Per-row rules, packed for the core.

        Not a `cached_property`, because threads wait for one another there in Python 3.11.
        """
        if self._row_rules is None:
            self._row_rules = row_rules(self.rules, self.given)
        return self._row_rules

    def rows_of(self, roots: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the rows of `row_rules` whose rules hold for grids with these roots."""
        return np.zeros(len(roots), np.int64)

    def rules_in_core(self, roots: Ints) -> tuple[Any, RowRules, Ints]:
        """Return the rules as the core takes them: of all rows, of each, and the row of each root.

        The core takes rules of `MOST_IN_CORE` digits or fewer.
        """
        if self._core_rules is None:
            self._core_rules = core_rules(self.rules, self.box)
        return self._core_rules, self.row_rules, self.rows_of(roots)

    def other_options(self, grids: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
        """Return the options of solved grids that fill no cell, shape (n, cover_size - n_cells)."""
        return np.empty((len(grids), 0), np.uint32)

    def cell_name(self, cell: int) -> str:
        """Return the row and the column of a cell, in words."""
        row, column = self.rules.places[cell]
        return f"row {row + 1}, column {column + 1}"

    def stack(self, grid: npt.ArrayLike) -> npt.NDArray[np.uint32]:
        """Return the stack of a grid's clues; `grid` has a digit a cell, 0 for blanks."""
        return self.stacks(as_grids_array(grid).reshape(1, -1))[0]

    def stacks(self, grids: npt.ArrayLike) -> Stacks:
        """Return the stacks of many grids.

        Parameters
        ----------
        grids : array_like of int, shape (n, n_cells) or (n, rows, columns)
            Digits 1 .. N; 0, -1 and masked cells are blank. Of rows and columns, only cells count.

        Returns
        -------
        Stacks
            n stacks; the root of each is its place.
        """
        array = self.as_grids(grids)
        return self.stacks_of(array, np.arange(len(array)))

    def stacks_of(self, grids: npt.NDArray[np.uint8], roots: npt.NDArray[np.int64]) -> Stacks:
        """Return the stacks of grids that `as_grids` returned, or a notation."""
        offsets, options = native.stacks_of_grids(grids, self.n_digits)
        return Stacks(offsets, options, roots)

    def as_grids(self, grids: npt.ArrayLike) -> npt.NDArray[np.uint8]:
        """Return grids as a uint8 array of shape (n, n_cells); check shape and digits."""
        array = as_grids_array(grids)
        n, n_cells = self.n_digits, self.n_cells
        if array.shape == (0,):  # an empty list of grids
            array = np.empty((0, n_cells), np.uint8)
        if array.ndim == 3 and array.shape[1:] == self.rules.extent:
            array = array.reshape(len(array), -1)
            if array.shape[1] != n_cells:
                columns = self.rules.extent[1]
                array = array[:, [r * columns + c for r, c in self.rules.places]]
        if array.ndim != 2 or array.shape[1] != n_cells:
            texts = "; parse makes an array of a text" if array.dtype.kind in "US" else ""
            raise InputError(f"grids must have shape (n, {n_cells}), not {array.shape}{texts}")
        if array.dtype.kind in "US":
            raise InputError(
                "grids must hold whole numbers, not characters; join those of each grid to a text: "
                "[''.join(grid.flat) for grid in grids.astype(str)]"
            )
        if array.dtype.kind not in "iu":
            raise InputError(
                f"grids must hold whole numbers; those of an array of {array.dtype} are not all "
                f"whole; round them if need be, and convert them: grids.astype('uint8')"
            )
        array = without_minus_one(array, n)
        if array.size and not 0 <= array.min() <= array.max() <= n:
            k, cell = map(int, np.argwhere((array < 0) | (array > n))[0])
            raise InputError(
                f"grid {k} has {array[k, cell]} in {self.cell_name(cell)}; "
                f"digits are 1 to {n}, 0 or -1 is a blank"
            )
        return np.ascontiguousarray(array, np.uint8)

    def grids(self, stacks: Stacks) -> npt.NDArray[np.uint8]:
        """Return the grids of stacks, shape (n, n_cells): the inverse of `stacks`.

        Raises
        ------
        ProblemError
            If an option does not exist.
        """
        if not isinstance(stacks, Stacks):
            raise InputError(
                f"stacks are Stacks, not {quoted(stacks)}; Stacks.from_lists makes them of lists"
            )
        is_solved = isinstance(stacks, SolvedGrids)
        if not is_solved and stacks.options.size and stacks.options.max() >= self.n_options:
            raise ProblemError(
                f"option {stacks.options.max()} does not exist: {self!r} has {self.n_options}"
            )
        return self.digits_of(stacks)

    def digits_of(self, covers: Stacks) -> npt.NDArray[np.uint8]:
        """Return the grids of covers, whatever rules these follow, shape (n, n_cells)."""
        if isinstance(covers, SolvedGrids):
            return covers.digits
        size = self.n_cells, self.n_digits
        stacks = covers.offsets, covers.options
        grids: npt.NDArray[np.uint8] = native.grids_of_stacks(stacks, *size)
        return grids

    def first_clashes(self, grids: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """Return for each grid the position among its clues of the first that clashes, or -1.

        A digit above N clashes as well.

        Parameters
        ----------
        grids : ndarray of uint8, shape (n, n_cells)
        """
        self.check_width(grids)
        if self.n_digits > MOST_IN_CORE:
            found = [_first_clash(self.of_row(row), grid) for row, grid in enumerate(grids)]
            return np.array(found, np.int64)
        rules = self.rules_in_core(np.arange(len(grids)))
        clashes: Ints = native.first_clashes(*rules, grids)
        return clashes

    def check_width(self, grids: npt.NDArray[np.uint8]) -> None:
        """Raise `InputError` if an array does not hold grids of this problem."""
        if grids.shape[1:] != (self.n_cells,):
            raise InputError(f"grids must have shape (n, {self.n_cells}), not {grids.shape}")

    def check(
        self, puzzles: npt.NDArray[np.uint8], solutions: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.bool_]:
        """Return True for each pair whose second grid solves the first, without any engine.

        Raises
        ------
        InputError
            If the arrays are not both of shape (n, n_cells).
        """
        if puzzles.shape != solutions.shape or puzzles.shape[1:] != (self.n_cells,):
            raise InputError(
                f"puzzles {puzzles.shape} and solutions {solutions.shape} must both have shape "
                f"(n, {self.n_cells})"
            )
        full = ((solutions > 0) & (solutions <= self.n_digits)).all(axis=1)
        right = full & ((puzzles == 0) | (puzzles == solutions)).all(axis=1)
        some = np.flatnonzero(right)
        right[some] = self.at(some).follow_rules(solutions[some])
        return right

    def follow_rules(self, grids: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        """Return True for each full grid that follows the rules; its digits are 1 .. N."""
        return self.first_clashes(grids) < 0

    def parse(self, text: str, alphabet: str | None = None) -> npt.NDArray[np.uint8]:
        """Return the digits of a grid, shape (n_cells,), written in any form that `solve` takes.

        Examples
        --------
        >>> from batchsolve import Sudoku
        >>> Sudoku(2, 2).parse("12.. 34.. .... ....").tolist()[:6]
        [1, 2, 0, 0, 3, 4]
        """
        from batchsolve.formats.grid_texts import in_one_line  # it reads alphabets of this room

        text, n = in_one_line(text_of("a grid", text)), self.n_digits
        as_numbers = len(re.split(r"[\s,;]+", text.strip())) == n * n > 1
        if as_numbers or alphabet is None:
            notation = Signs(alphabet).notation_of(text, Form(n, as_numbers))
        else:
            notation = Notation.from_name(alphabet, n)
        return self._drawn(notation).read(text)

    def format(self, grid: npt.ArrayLike, alphabet: str | None = None) -> str:
        """Return a grid as text; by default in the usual alphabet, with ``.`` for blanks."""
        n = self.n_digits
        notation = Notation.from_name(alphabet, n) if alphabet else usual_notation(n)
        array = self.as_grids(as_grids_array(grid).reshape(1, -1))
        return self._drawn(notation).write(array[0])

    def _drawn(self, notation: Notation) -> Notation:
        """Return the notation of these grids: with ``#`` outside, if they are not square."""
        is_square = self.n_cells == self.n_digits**2
        return notation if is_square else replace(notation, drawing=self.rules.drawing)


def _first_clash(problem: GridProblem, grid: npt.NDArray[np.uint8]) -> int:
    """Return the position among the clues of a grid of the first that clashes, or -1."""
    cells = np.flatnonzero(grid)
    digits = grid[cells].astype(np.int64)
    options = cells * problem.n_digits + digits - 1
    options[digits > problem.n_digits] = problem.n_options  # which does not exist
    return problem.clash_position(options)
