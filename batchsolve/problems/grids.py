"""Problems of grids with any rules: cells that hold one digit each; grids ↔ stacks.

Option ``cell · N + digit`` (digits counted from 0) puts a digit into a cell. So the clues of a grid
are a stack, and a cover is a solved grid. The items of an option are

* the cell, and the digit in every house of the cell: primary items;
* the digit in every group of the cell: a secondary item, because a group need not hold the digit;
* for two cells and their relation, one secondary item for each two digits that it forbids, which
  both options have (Knuth, TAOCP 7.2.2.1, has queens kept apart in this way);
* in a cage, the digit with the colour *in*, and the digit without a colour. Options that follow
  those of the cells choose the digits of a cage: each gives every digit of the cage a colour, *in*
  or *out*, and covers the primary item of the cage;
* a mark: the option of each digit that the marks exclude has a secondary item, which the one option
  of the primary item *marks* covers. It follows those of the cells.

`as_grids` and `grids` check grids and stacks of unknown origin before the core uses their digits or
options as indices.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.core import native
from batchsolve.core.arrays import Bools, Bytes, Ints, UInts, begins_of, is_masked
from batchsolve.errors import InputError, ProblemError, counted, quoted
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.notation import Notation
from batchsolve.problems.rules import KINDS, OwnRules, Rules, core_rules, forbidden_digits
from batchsolve.problems.stacks import NO_BRANCHES, Stacks
from batchsolve.problems.survey import Form, Signs
from batchsolve.settings.arguments import argument_errors, text_of

_IN, _OUT = 1, 2
_MOST_EXACT = 1 << 53  # of integers that floating-point numbers hold
MOST_IN_CORE = 32  # digits of grids with other rules than Sudoku: a set of digits is a word


def as_grids_array(grids: Any) -> npt.NDArray[Any]:
    """Return grids as an array; masked cells, None and NaN become -1, which is a blank.

    Whole numbers may be floating-point ones; bits become digits, see `as_whole`.

    Examples
    --------
    >>> grid = np.ma.array([1, 2, 2, 1], mask=[0, 1, 0, 0])
    >>> as_grids_array(grid).tolist(), as_grids_array([grid]).tolist()
    ([1, -1, 2, 1], [[1, -1, 2, 1]])
    >>> as_grids_array([1.0, float("nan")]).tolist(), as_grids_array([1, None]).tolist()
    ([1, -1], [1, -1])
    """
    with argument_errors("grids are an array, or lists of equal length", grids):
        if isinstance(grids, list | tuple) and any(map(is_masked, grids)):
            grids = [as_grids_array(grid) for grid in grids]
        if is_masked(grids):
            kind = np.float64 if grids.dtype.kind == "f" else np.int64
            grids = grids.astype(kind).filled(-1) if grids.dtype.kind in "uif" else grids.filled(-1)
        array = np.asarray(grids)
    digits = as_whole(array)
    if digits.ndim < array.ndim and digits.min(initial=0) < 0:
        grid, row, column = np.argwhere(digits < 0)[0]
        where = f"row {row + 1}, column {column + 1}"
        raise InputError(f"grid {grid} has several bits in {where}; a cell has one, or none")
    return digits


def as_whole(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array of whole numbers as one of integers, with -1 for None and NaN.

    An array of shape (n, N, N, N) with a bit for each digit becomes one of digits, with -2 for
    several bits. Other arrays are returned unchanged.
    """
    fractions = array
    if array.dtype == object:
        with suppress(TypeError, ValueError, OverflowError):
            fractions = array.astype(np.float64)
    if fractions.dtype.kind == "f":
        # as float64 at least: float16 does not hold the bound
        fractions = np.where(np.isnan(fractions), np.float64(-1), fractions)
        is_small = (np.abs(fractions) < _MOST_EXACT).all()
        if is_small and (fractions == np.trunc(fractions)).all():
            array = fractions.astype(np.int64)
    is_cube = array.ndim == 4 and len({*array.shape[1:]}) == 1
    if is_cube and array.dtype.kind in "iub" and ((array == 0) | (array == 1)).all():
        array = np.where(array.sum(axis=3) > 1, -2, array.argmax(axis=3) + array.any(axis=3))
    return array


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
    for view in (grids.reshape(1, -1), grids):  # all grids together may tell it, too
        seem_from_0 = (view == 0).any(axis=1) & (view == -1).any(axis=1)
        if (seem_from_0 & (view.max(axis=1, initial=-1) < n_digits)).any():
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
    digits: Bytes

    def __init__(self, problem: GridProblem, digits: Bytes, roots: Ints) -> None:
        self.__dict__.update(problem=problem, digits=digits, roots=roots, branches=NO_BRANCHES)

    def take(self, which: npt.ArrayLike) -> SolvedGrids:
        """See `Stacks.take`."""
        places = np.asarray(which)
        if places.dtype == np.bool_ and places.all():
            return self
        return SolvedGrids(self.problem, self.digits[places], self.roots[places])

    @cached_property
    def offsets(self) -> Ints:
        """The offsets of grids with equally many options."""
        return np.arange(len(self.digits) + 1) * self.problem.cover_size

    @cached_property
    def options(self) -> UInts:
        """The options, cell by cell."""
        n_cells, n_digits = self.problem.n_cells, self.problem.n_digits
        first = np.arange(n_cells) * n_digits - 1
        options = [(first + self.digits).astype(np.uint32), self.problem.other_options(self.digits)]
        return np.concatenate(options, axis=1).reshape(-1)


class GridProblem(ExactCover):
    """The exact cover problem of the empty grid with some rules; its covers are solved grids.

    Parameters
    ----------
    rules : Rules

    Attributes
    ----------
    n_digits, n_cells : int
        Number of digits, N, and of cells.
    box : pair of int
        The rows and columns of the boxes, if it has the rules of Sudoku and no more; else 0 and 0.

    Raises
    ------
    ProblemError
        If the rules contradict themselves.

    Examples
    --------
    >>> from batchsolve import count
    >>> from batchsolve.problems.rules import named, plain
    >>> count(GridProblem(plain(2, 2) + named("x", 2, 2))).count
    48
    """

    rules: Rules
    box: tuple[int, int] = (0, 0)
    _row_rules: Any = None
    item_names = option_names = color_names = bounds = costs = None
    _other_unit = "house"  # for messages: neither a row nor a column

    def __init__(self, rules: Rules) -> None:
        self.rules = rules.checked()
        self.n_digits, self.n_cells = rules.n_digits, rules.n_cells
        self._is_frozen = True

    def __getattr__(self, name: str) -> Any:
        """Return an array of the exact cover problem, which few searches need."""
        if name not in ("indptr", "indices", "colors", "n_items", "n_primary"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._cover, name)

    @cached_property
    def _cover(self) -> ExactCover:
        """The exact cover problem."""
        rules, n, n_cells = self.rules, self.n_digits, self.n_cells
        digits, entries, n_items = np.arange(n), list[Any](), 0

        def options_of(cells: Sequence[int]) -> Ints:
            return np.asarray(cells)[:, None] * n + digits

        def new_items(n_new: int) -> int:
            nonlocal n_items
            n_items += n_new
            return n_items - n_new

        def add(options: npt.ArrayLike, items: npt.ArrayLike, color: npt.ArrayLike = 0) -> None:
            """Give options items, perhaps with a colour."""
            arrays = np.broadcast_arrays(options, items, color)
            entries.append([array.astype(np.uint32).ravel() for array in arrays])

        add(np.arange(n_cells * n), np.repeat(np.arange(n_cells), n))
        new_items(n_cells)
        for house in rules.houses:
            add(options_of(house), new_items(n) + digits)
        # before the items that are secondary: those of cages and of marks
        cages = new_items(len(rules.cages))
        excluded = self._excluded
        marks = new_items(self.n_marks)
        n_primary = n_items
        for group in rules.groups:
            add(options_of(group), new_items(n) + digits)
        for a, b, relation in rules.pairs:
            forbidden = forbidden_digits(n, relation)
            items = new_items(len(forbidden)) + np.arange(len(forbidden))
            for cell, digit in zip((a, b), forbidden.T, strict=True):
                add(cell * n + digit, items)
        n_options = n_cells * n
        if self.n_marks:
            items = new_items(excluded.size) + np.arange(excluded.size)
            add(n_options, [marks])
            add(n_options, items)
            add(excluded, items)
            n_options += 1
        for k, cage in enumerate(rules.cages):
            add(options_of(cage.cells), new_items(n) + digits)
            add(options_of(cage.cells), (first := new_items(n)) + digits, _IN)
            for digit_set in cage.digit_sets(n):
                add(n_options, [cages + k])
                add(n_options, first + digits, np.where(digit_set >> digits & 1, _IN, _OUT))
                n_options += 1
        options, items, colors = (np.concatenate(parts) for parts in zip(*entries, strict=True))
        order = np.lexsort((items, options))
        indptr = begins_of(np.bincount(options, minlength=n_options))
        in_order = colors[order] if rules.cages else None
        return ExactCover(indptr, items[order], n_items, n_primary, colors=in_order)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the rules, 64 hexadecimal digits."""
        return hashlib.sha256(repr(self.rules).encode()).hexdigest()

    @property
    def token(self) -> str:
        """The fingerprint: copies are made anew, and rows share what does not depend on them."""
        return self.fingerprint

    def __reduce__(self) -> tuple[Any, ...]:
        return GridProblem, (self.rules,)

    def __repr__(self) -> str:
        names = "house", "group", "pair", "cage", "marked cell"
        sizes = zip(names, (len(getattr(self.rules, kind)) for kind in KINDS), strict=True)
        parts = [counted(n, name) for name, n in sizes if n or name == "house"]
        return f"Variant({self.n_cells} cells, {self.n_digits} digits, {', '.join(parts)})"

    @property
    def n_options(self) -> int:
        """Number of options."""
        return self.n_cells * self.n_digits + self.n_marks + sum(self._n_sets)

    @cached_property
    def n_entries(self) -> int:
        """Number of items in all options together."""
        n, rules = self.n_digits, self.rules
        once = self.n_cells + sum(map(len, (*rules.houses, *rules.groups)))
        forbidden = sum(len(forbidden_digits(n, relation)) for _, _, relation in rules.pairs)
        n_of_cages = sum(len(cage.cells) for cage in rules.cages)
        of_cages = n * 2 * n_of_cages + (n + 1) * sum(self._n_sets)
        return n * once + 2 * forbidden + 2 * self._excluded.size + self.n_marks + of_cages

    @property
    def n_marks(self) -> int:
        """Number of options of the item *marks*: 1 if marks exclude a digit, else 0."""
        return int(self._excluded.size > 0)

    @cached_property
    def _excluded(self) -> Ints:
        """The options that marks exclude."""
        n = self.n_digits
        options = (c * n + d for c, mask in self.rules.marks for d in range(n) if not mask >> d & 1)
        return np.array(sorted({*options}), np.int64)

    @cached_property
    def _n_sets(self) -> list[int]:
        """The number of sets of digits of each cage."""
        return [len(cage.digit_sets(self.n_digits)) for cage in self.rules.cages]

    @property
    def cover_size(self) -> int:
        """Number of options of every cover: those of the cells, of the marks and of the cages."""
        return self.n_cells + self.n_marks + len(self.rules.cages)

    def of_row(self, row: int) -> GridProblem:
        """Return the problem of the grid with this root."""
        return self

    def at(self, roots: Ints) -> GridProblem:
        """Return the problem of the grids with these roots; the roots are counted anew."""
        return self

    @cached_property
    def given(self) -> OwnRules:
        """The rules of rows: the marks and the cages, as those of one row."""
        return OwnRules.of([replace(self.rules, groups=(), pairs=())])

    @property
    def row_rules(self) -> Any:
        """The rules of all rows and of each, as the core takes them.

        Not a `cached_property`, because threads wait for one another there in Python 3.11.
        """
        if self._row_rules is None:
            self._row_rules = self.given.in_core(core_rules(self.rules, self.box), self.n_digits)
        return self._row_rules

    def rows_of(self, roots: Ints) -> Ints:
        """Return the rows of `row_rules` whose rules hold for grids with these roots."""
        return np.zeros(len(roots), np.int64)

    def rules_in_core(self, roots: Ints) -> tuple[Any, Ints]:
        """Return the rules as the core takes them, and the row of each root.

        The core takes rules of `MOST_IN_CORE` digits or fewer.
        """
        return self.row_rules, self.rows_of(roots)

    def other_options(self, grids: Bytes) -> UInts:
        """Return the options of solved grids that fill no cell, shape (n, cover_size - n_cells)."""
        first = self.n_cells * self.n_digits
        marks = np.full((len(grids), self.n_marks), first, np.uint32)
        chosen, first = [marks], first + self.n_marks
        for cage in self.rules.cages:
            sets = np.array(cage.digit_sets(self.n_digits), np.uint64)
            digits = grids[:, cage.cells].astype(np.uint64) - np.uint64(1)
            held = np.bitwise_or.reduce(np.uint64(1) << digits, axis=1)
            order = np.argsort(sets)
            chosen.append((first + order[np.searchsorted(sets, held, sorter=order)])[:, None])
            first += sets.size
        return np.concatenate(chosen, axis=1).astype(np.uint32)

    def cell_name(self, cell: int) -> str:
        """Return the row and the column of a cell, in words."""
        row, column = self.rules.places[cell]
        return f"row {row + 1}, column {column + 1}"

    def item_name(self, i: int) -> str:
        """Return ``r1c2`` for a cell, ``h1#3`` for a digit in a house, ``cage1`` or ``marks``.

        Secondary items have a number.
        """
        if i < self.n_cells:
            return self.rules.cell_name(i)
        house, digit = divmod(i - self.n_cells, self.n_digits)
        if house < len(self.rules.houses):
            return f"h{house + 1}#{digit + 1}"
        cage = i - self.n_cells - len(self.rules.houses) * self.n_digits
        if cage < len(self.rules.cages):
            return f"cage{cage + 1}"
        return "marks" if i < self.n_primary else str(i)

    def option_name(self, o: int) -> str:
        """Return ``r1c2#3`` for a digit in a cell, ``marks``, or the digits of a cage."""
        cell, digit = divmod(o, self.n_digits)
        if cell < self.n_cells:
            return f"{self.rules.cell_name(cell)}#{digit + 1}"
        o -= self.n_cells * self.n_digits + self.n_marks
        if o < 0:
            return "marks"
        for cage in self.rules.cages:
            sets = cage.digit_sets(self.n_digits)
            if o < len(sets):
                digits = [str(d + 1) for d in range(self.n_digits) if sets[o] >> d & 1]
                return f"{self.rules.cell_name(cage.cells[0])}…={'+'.join(digits)}"
            o -= len(sets)
        raise IndexError(o)

    def explain_clash(self, stack: Sequence[int], position: int) -> str:
        """Return why a clue clashes with the first that it clashes with; see `ExactCover`.

        Rows with wrong clues can be many, so the clues behind that one are not looked at.
        """
        o = int(stack[position])
        mine = self.coloring(o) if 0 <= o < self.n_options else {}
        for other in map(int, stack[:position] if mine else ()):
            theirs = self.coloring(other)
            shared = mine.keys() & theirs.keys()
            if barred := [i for i in shared if mine[i] == 0 or mine[i] != theirs[i]]:
                return self._why_barred(min(barred), other, o)
        return super().explain_clash(stack, position)

    def _why_barred(self, i: int, other: int, o: int) -> str:
        """Return the two clues that clash, or the digit, the unit and the places of both."""
        if not (unit := self._unit_of(i)):
            return f"{self.option_name(other)} and {self.option_name(o)} clash by the rules"
        (a, first), (b, digit) = (divmod(option, self.n_digits) for option in (other, o))
        places = self.cell_name(a), self.cell_name(b)
        if unit == "cell" and first != digit:
            return f"digits {first + 1} and {digit + 1} in one cell: {places[0]}"
        return f"digit {digit + 1} twice in a {unit}: {places[0]} and {places[1]}"

    def _unit_of(self, item: int) -> str:
        """Return the kind of the cell or house of an item, empty for items of other rules."""
        if item < self.n_cells:
            return "cell"
        number = (item - self.n_cells) // self.n_digits
        if number >= len(self.rules.houses):
            return ""
        step = self.rules.step(self.rules.houses[number])
        return {(0, 1): "row", (1, 0): "column"}.get(step or (0, 0), self._other_unit)

    def stack(self, grid: npt.ArrayLike) -> UInts:
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

    def stacks_of(self, grids: Bytes, roots: Ints) -> Stacks:
        """Return the stacks of grids that `as_grids` returned, or a notation."""
        offsets, options = native.stacks_of_grids(grids, self.n_digits)
        return Stacks.made(offsets, options, roots)

    def as_grids(self, grids: npt.ArrayLike) -> Bytes:
        """Return grids as a uint8 array of shape (n, n_cells); check shape and digits."""
        array = as_grids_array(grids)
        n, n_cells = self.n_digits, self.n_cells
        if array.shape == (0,):  # an empty list of grids
            array = np.empty((0, n_cells), np.uint8)
        if array.ndim == 3 and array.shape[1:] == self.rules.extent:
            array = array.reshape(len(array), prod(self.rules.extent))
            if array.shape[1] != n_cells:
                columns = self.rules.extent[1]
                array = array[:, [r * columns + c for r, c in self.rules.places]]
        if array.ndim != 2 or array.shape[1] != n_cells:
            texts = "; parse makes an array of a text" if array.dtype.kind in "US" else ""
            raise InputError(f"grids must have shape (n, {n_cells}), not {array.shape}{texts}")
        kind = array.dtype.kind
        if kind in "US" or (kind == "O" and any(isinstance(cell, str) for cell in array.flat)):
            cells = array if kind == "O" else array.astype(str)
            gap = " " * any(len(str(cell)) > 1 for cell in cells.flat if cell)
            raise InputError(
                f"grids must hold whole numbers, not characters; join those of each grid to a "
                f"text: [{gap!r}.join(str(cell or '.') for cell in grid.flat) for grid in "
                f"numpy.array(grids, {'object' if kind == 'O' else 'str'})]"
            )
        if kind not in "iu":
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

    def grids(self, stacks: Stacks) -> Bytes:
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

    def digits_of(self, covers: Stacks) -> Bytes:
        """Return the grids of covers, whatever rules these follow, shape (n, n_cells)."""
        if isinstance(covers, SolvedGrids):
            return covers.digits
        return native.grids_of_stacks((covers.offsets, covers.options), self.n_cells, self.n_digits)

    def first_clashes(self, grids: Bytes) -> Ints:
        """Return for each grid the position among its clues of the first that clashes, or -1.

        A digit above N clashes as well.

        Parameters
        ----------
        grids : ndarray of uint8, shape (n, n_cells)
        """
        array = as_grids_array(grids)
        if array.shape[1:] != (self.n_cells,):
            raise InputError(f"grids must have shape (n, {self.n_cells}), not {array.shape}")
        grids = array.astype(np.uint8, copy=False)
        if grids is not array and (grids != array).any():
            raise InputError(f"grids hold digits, 0 for blanks, not {quoted(array)}")
        if self.n_digits > MOST_IN_CORE:
            clashes = [_first_clash(self.of_row(row), grid) for row, grid in enumerate(grids)]
            return np.array(clashes, np.int64)
        return native.first_clashes(*self.rules_in_core(np.arange(len(grids))), grids)

    def check(self, puzzles: Bytes, solutions: Bytes) -> Bools:
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
        rows = np.flatnonzero(right)
        right[rows] = self.at(rows).follow_rules(solutions[rows])
        return right

    def follow_rules(self, grids: Bytes) -> Bools:
        """Return True for each full grid that follows the rules; its digits are 1 .. N."""
        rules = self.given
        right: Bools = self.first_clashes(grids) < 0
        if rules.allowed.size or rules.totals.size:  # which clashes of clues leave out
            rows = np.flatnonzero(right)
            right[rows] = rules.take(self.rows_of(rows)).follow(grids[rows])
        return right

    def parse(self, text: str, alphabet: str | None = None) -> Bytes:
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
        notation = Notation.from_name(alphabet, self.n_digits)
        array = self.as_grids(as_grids_array(grid).reshape(1, -1))
        return self._drawn(notation).write(array[0])

    def _drawn(self, notation: Notation) -> Notation:
        """Return the notation of these grids: with ``#`` outside, if they are not square."""
        is_square = self.n_cells == self.n_digits**2
        return notation if is_square else replace(notation, drawing=self.rules.drawing)


def _first_clash(problem: GridProblem, grid: Bytes) -> int:
    """Return the position among the clues of a grid of the first that clashes, or -1."""
    cells = np.flatnonzero(grid)
    digits = grid[cells].astype(np.int64)
    options = cells * problem.n_digits + digits - 1
    options[digits > problem.n_digits] = problem.n_options  # which does not exist
    return problem.clash_position(options)
