"""Grids with rules of their own as exact cover problems.

Option ``cell · N + digit`` (digits counted from 0) puts a digit into a cell, as in
`batchsolve.problems.sudoku`. Its items, each with its source, are

* the cell, and the digit in every house of the cell: primary items, as in Sudoku;
* the digit in every group of the cell: a secondary item, because a group need not hold the digit;
* for two cells and their relation, one secondary item for each two digits that it forbids, which
  both options have (Knuth, TAOCP 7.2.2.1, has queens kept apart in this way);
* in a cage, the digit with the colour *in*, and the digit without a colour. Options that follow
  those of the cells choose the digits of a cage: each gives every digit of the cage a colour, *in*
  or *out*, and covers the primary item of the cage;
* a mark: the option of each digit that the marks exclude has a secondary item, which the one option
  of the primary item *marks* covers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.errors import InputError, ProblemError, counted
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import default_box
from batchsolve.problems.rules import RELATIONS, Rules, layout, named, plain, regions_of
from batchsolve.problems.sudoku import sudoku

MOST_SETS = 1_000_000
"""The largest number of sets of digits that may be looked at for a cage."""

_IN, _OUT = 1, 2


class _Entries:
    """Entries of options: items, some with colours, given kind by kind."""

    def __init__(self) -> None:
        self.options: list[npt.NDArray[np.int64]] = []
        self.items: list[npt.NDArray[np.int64]] = []
        self.colors: list[npt.NDArray[np.int64]] = []
        self.n_items = 0

    def new_items(self, n: int) -> int:
        """Add items; return the first."""
        self.n_items += n
        return self.n_items - n

    def add(self, options: npt.ArrayLike, items: npt.ArrayLike, color: npt.ArrayLike = 0) -> None:
        """Give options these items."""
        options, items, color = np.broadcast_arrays(
            np.asarray(options, np.int64), np.asarray(items, np.int64), np.asarray(color, np.int64)
        )
        for kept, new in ((self.options, options), (self.items, items), (self.colors, color)):
            kept.append(new.reshape(-1))

    def arrays(self, n_options: int) -> tuple[Any, Any, Any]:
        """Return the arrays of a problem: `indptr`, `indices` and `colors`."""
        options, items = np.concatenate(self.options), np.concatenate(self.items)
        order = np.lexsort((items, options))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(options, minlength=n_options))])
        return indptr, items[order], np.concatenate(self.colors)[order]


class Variant(GridProblem):
    """The exact cover problem of the empty grid with these rules.

    Parameters
    ----------
    rules : Rules

    Raises
    ------
    ProblemError
        If the rules contradict themselves.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules.checked()
        n, n_cells = rules.n_digits, rules.n_cells
        self.n_digits = n
        digits, entries = np.arange(n), _Entries()

        def options_of(cells: Sequence[int]) -> npt.NDArray[np.int64]:
            return np.asarray(cells)[:, None] * n + digits

        entries.add(np.arange(n_cells * n), np.repeat(np.arange(n_cells), n))
        entries.new_items(n_cells)
        for house in rules.houses:
            entries.add(options_of(house), entries.new_items(n) + digits)
        self.sets = sets = [self._sets(k) for k in range(len(rules.cages))]
        # before the items that are secondary: those of cages and of marks
        cages = entries.new_items(len(rules.cages))
        excluded = np.array(
            [cell * n + d for cell, mask in rules.marks for d in range(n) if not mask >> d & 1],
            np.int64,
        )
        marks = entries.new_items(int(excluded.size > 0))
        n_primary = entries.n_items
        for group in rules.groups:
            entries.add(options_of(group), entries.new_items(n) + digits)
        for a, b, relation in rules.pairs:
            allows = RELATIONS[relation]
            forbidden = [
                (a * n + x, b * n + y)
                for x in range(n)
                for y in range(n)
                if not allows(x + 1, y + 1)
            ]
            items = entries.new_items(len(forbidden)) + np.arange(len(forbidden))
            for options in zip(*forbidden, strict=True):
                entries.add(options, items)
        n_options = n_cells * n
        if excluded.size:
            items = entries.new_items(excluded.size) + np.arange(excluded.size)
            entries.add(n_options, [marks])
            entries.add(n_options, items)
            entries.add(excluded, items)
            n_options += 1
        for k, cage in enumerate(rules.cages):
            entries.add(options_of(cage.cells), entries.new_items(n) + digits)
            entries.add(options_of(cage.cells), (first := entries.new_items(n)) + digits, _IN)
            for digit_set in sets[k]:
                entries.add(n_options, [cages + k])
                has = digit_set >> digits & 1
                entries.add(n_options, first + digits, np.where(has, _IN, _OUT))
                n_options += 1
        indptr, items, colors = entries.arrays(n_options)
        colors = colors if rules.cages else None
        super().__init__(indptr, items, entries.n_items, n_primary, colors=colors)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.rules.n_cells

    @property
    def n_marks(self) -> int:
        """Number of options of the item *marks*: 1 if marks exclude a digit, else 0."""
        return self.n_options - self.n_cells * self.n_digits - sum(map(len, self.sets))

    @property
    def cover_size(self) -> int:
        """Number of options of every cover: those of the cells, of the marks and of the cages."""
        return self.n_cells + self.n_marks + len(self.sets)

    def other_options(self, grids: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
        """Return the options of solved grids that fill no cell, shape (n, cover_size - n_cells)."""
        others = np.empty((len(grids), self.cover_size - self.n_cells), np.uint32)
        first = self.n_cells * self.n_digits
        others[:, : self.n_marks] = first
        first += self.n_marks
        for k, (cage, sets) in enumerate(zip(self.rules.cages, self.sets, strict=True)):
            bits = np.left_shift(1, grids[:, list(cage.cells)].astype(np.int64) - 1).sum(axis=1)
            order = np.argsort(sets)
            places = order[np.searchsorted(sets, bits, sorter=order)]
            others[:, self.n_marks + k] = first + places
            first += len(sets)
        return others

    def follow_rules(self, grids: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        """Return True for each full grid that follows the rules; its digits are 1 .. N."""
        right = super().follow_rules(grids)  # sees all rules but sums and marks
        for cage in self.rules.cages:
            right &= grids[:, list(cage.cells)].sum(axis=1) == cage.total
        for cell, mask in self.rules.marks:
            right &= (mask >> (grids[:, cell].astype(np.int64) - 1) & 1).astype(np.bool_)
        return right

    def cell_name(self, cell: int) -> str:
        """Return the row and the column of a cell, in words."""
        row, column = self.rules.places[cell]
        return f"row {row + 1}, column {column + 1}"

    def _sets(self, k: int) -> list[int]:
        cage = self.rules.cages[k]
        if comb(self.n_digits, len(cage.cells)) > MOST_SETS:
            raise ProblemError(
                f"a cage of {len(cage.cells)} of {self.n_digits} digits has too many sets of "
                f"digits; {MOST_SETS:,} can be looked at"
            )
        return cage.digit_sets(self.n_digits)

    def __repr__(self) -> str:
        rules = self.rules
        parts = [
            counted(len(rules.houses), "house"),
            *(
                counted(len(many), name)
                for many, name in (
                    (rules.groups, "group"),
                    (rules.pairs, "pair"),
                    (rules.cages, "cage"),
                    (rules.marks, "marked cell"),
                )
                if many
            ),
        ]
        return f"Variant({self.n_cells} cells, {self.n_digits} digits, {', '.join(parts)})"

    def option_name(self, o: int) -> str:
        """Return ``r1c2#3`` for a digit in a cell, ``marks``, or the digits of a cage."""
        cell, digit = divmod(o, self.n_digits)
        if cell < self.n_cells:
            return f"{self.rules.cell_name(cell)}#{digit + 1}"
        o -= self.n_cells * self.n_digits + self.n_marks
        if o < 0:
            return "marks"
        for cage, sets in zip(self.rules.cages, self.sets, strict=True):
            if o < len(sets):
                digits = [str(d + 1) for d in range(self.n_digits) if sets[o] >> d & 1]
                return f"{self.rules.cell_name(cage.cells[0])}…={'+'.join(digits)}"
            o -= len(sets)
        raise IndexError(o)

    def explain_clash(self, stack: Sequence[int], position: int) -> str:
        """Return the two clues that clash."""
        o = int(stack[position])
        if 0 <= o < self.n_options:
            mine = self.coloring(o)
            for other in map(int, stack[:position]):
                theirs = self.coloring(other)
                if any(mine[i] == 0 or mine[i] != theirs[i] for i in mine.keys() & theirs.keys()):
                    names = self.option_name(other), self.option_name(o)
                    return f"{names[0]} and {names[1]} clash by the rules"
        return super().explain_clash(stack, position)

    def __reduce__(self) -> tuple[Any, ...]:
        return Variant, (self.rules,)

    @cached_property
    def allowed(self) -> npt.NDArray[np.uint32]:
        """The digits that marks leave to each cell, as bits."""
        allowed = np.full(self.n_cells, (1 << self.n_digits) - 1, np.uint32)
        for cell, mask in self.rules.marks:
            allowed[cell] &= mask
        return allowed


def grid_problem(
    n_digits: int,
    box: tuple[int, int] | None = None,
    rules: str | None = None,
    regions: str | None = None,
) -> GridProblem:
    """Return the shared problem of square grids with these rules.

    Parameters
    ----------
    n_digits : int
    box : (int, int), optional
        Rows and columns of a box; by default the usual ones. Where there are regions, it only
        serves rules that look at boxes.
    rules : str, optional
        Named rules, joined by ``+``: see `batchsolve.problems.rules.NAMED`.
    regions : str, optional
        The region of every cell, in place of the boxes: see `batchsolve.problems.rules.layout`.

    Raises
    ------
    InputError
        If there are neither boxes nor regions.
    ProblemError
        If a rule is unknown or does not fit, or the regions do not have N cells each.

    Examples
    --------
    >>> grid_problem(4), grid_problem(4, rules="x")
    (Sudoku(2, 2), Variant(16 cells, 4 digits, 14 houses))
    >>> grid_problem(3, regions="AAB ACB CCB")
    Variant(9 cells, 3 digits, 9 houses)
    """
    shape = box or default_box(n_digits)
    if regions is None:
        if shape is None:
            raise InputError(
                f"there are no boxes for {n_digits} digits; say which with `box` or `regions`"
            )
        if rules is None:
            return sudoku(*shape)
    return _variant(n_digits, shape or (1, n_digits), rules, regions)


@lru_cache(maxsize=256)
def _variant(
    n_digits: int, box: tuple[int, int], rules: str | None, regions: str | None
) -> Variant:
    if regions is None:
        made = plain(*box)
    else:
        made = Rules.square(n_digits, regions_of(layout(regions, n_digits), n_digits))
    return Variant(made if rules is None else made + named(rules, *box))


def shared_rules(n_digits: int, box: tuple[int, int] | None, rules: str) -> Rules:
    """Return the rules of rows and columns, and of named rules, of grids whose regions differ."""
    lines = Rules.square(n_digits, ())
    shape = box or default_box(n_digits) or (1, n_digits)
    return lines + named(rules, *shape) if rules else lines
