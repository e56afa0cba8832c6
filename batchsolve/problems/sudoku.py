"""Grids of Sudoku: of every box shape, with rules that users name, and with rules of each row.

A grid of N = box rows × box columns digits has N² cells. An option (see
`batchsolve.problems.grids`) covers four items: the cell, and the digit in the cell's row, column
and box.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Bytes, Ints
from batchsolve.errors import InputError, ProblemError
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import MOST_DIGITS, default_box
from batchsolve.problems.overlaps import (
    LAYOUTS,
    Grid,
    drawn_grids,
    drawn_labels,
    drawn_places,
    rules_of_grids,
    split_layout,
    square_drawing,
)
from batchsolve.problems.rules import (
    NO_SUM,
    RELATION_NAMES,
    Cage,
    OwnRules,
    Rules,
    named,
    plain,
    regions_of,
)
from batchsolve.settings import Box, checked_box, whole_number


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


# ---- rules that users name -----------------------------------------------------------------

Variant = GridProblem
"""The name of `GridProblem` for users, who make grids with other rules than those of `Sudoku`."""


def grid_problem(
    n_digits: int,
    box: Box | None = None,
    rules: str | None = None,
    regions: str | None = None,
    drawing: str | None = None,
) -> GridProblem:
    """Return the shared problem of grids with these rules.

    Parameters
    ----------
    n_digits : int
    box : (int, int), optional
        Rows and columns of a box; by default the usual ones. Where there are regions, it only
        serves rules that look at boxes.
    rules : str, optional
        Named rules, joined by ``+``: see `batchsolve.problems.rules.NAMED`. One of
        `batchsolve.problems.overlaps.LAYOUTS` among them means several grids, each of which follows
        the other rules.
    regions : str, optional
        The region of every cell, in place of the boxes: see
        `batchsolve.problems.overlaps.drawn_labels`.
    drawing : str, optional
        The cells of several grids that overlap; see `batchsolve.problems.overlaps.overlapping`.

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
    >>> grid_problem(9, rules="samurai+x")
    Variant(369 cells, 9 digits, 141 houses)
    """
    n_digits = whole_number("n_digits", n_digits, 1)
    box = checked_box(box, rules=rules, regions=regions, drawing=drawing)
    shape = box or default_box(n_digits)
    if shape and rules is None and regions is None and drawing is None:
        return sudoku(*shape)
    return _variant(grid_rules(n_digits, box, rules, regions, drawing=drawing))


_variant = lru_cache(maxsize=256)(GridProblem)  # shared


@lru_cache(maxsize=256)
def grid_rules(
    n_digits: int,
    box: tuple[int, int] | None = None,
    rules: str | None = None,
    regions: str | None = None,
    has_boxes: bool = True,
    drawing: str | None = None,
) -> Rules:
    """Return the rules of grids; see `grid_problem`.

    Without boxes and regions, they are those of rows and columns, and the named ones.
    """
    shape, (name, rules) = box or default_box(n_digits), split_layout(rules)
    grids = _grids(n_digits, shape, name, drawing)
    if grids is None and regions is not None:
        labels = drawn_labels(regions, square_drawing(n_digits))
        made = Rules.square(n_digits, regions_of(labels, n_digits))
    elif not has_boxes or regions is not None:
        made = Rules.square(n_digits, ())
    elif shape is None:
        raise InputError(f"no usual boxes for {n_digits} digits; name them with `box` or `regions`")
    else:
        made = plain(*shape)
    if rules is not None:
        made += named(rules, *(shape or (1, n_digits)))
    if grids is None:
        return made
    made = rules_of_grids(grids, made)
    if regions is None:
        return made
    houses = regions_of(drawn_labels(regions, drawing or made.drawing), n_digits)
    return made + replace(made, houses=tuple(houses))


def _grids(
    n_digits: int, box: tuple[int, int] | None, name: str | None, drawing: str | None
) -> Sequence[Grid] | None:
    """Return the grids of a layout, given its name or its drawing; None for one grid."""
    if name is None:
        return None if drawing is None else drawn_grids(drawing, box or (1, n_digits))
    if (n_digits, box) != (9, (3, 3)):
        raise ProblemError(f"the layout {name!r} has grids of 9×9 with boxes of 3×3")
    grids = LAYOUTS[name]
    places = {place for grid in grids for place in grid}
    if drawing is not None and set(drawn_places(drawing)) != places:
        raise ProblemError(f"the grids of the table are not laid out as {name!r}")
    return grids


# ---- grids whose rules differ from row to row -----------------------------------------------


class Variants(GridProblem):
    """The problems of grids that share houses and named rules, but no regions, cages or marks.

    As an exact cover problem it has the shared rules only. The root of a stack is the row whose
    rules hold, so a stack goes from task to task as stacks of one problem do.

    Parameters
    ----------
    rules : Rules
        The shared rules. If there are regions: rows, then columns, then others.
    given : OwnRules
        The rules of each row beyond them.

    Raises
    ------
    ProblemError
        If a region of some row does not have N cells, or a cage has too many sets of digits.
    """

    def __init__(self, rules: Rules, given: OwnRules) -> None:
        super().__init__(rules)
        _check_regions(given.regions, rules)
        self._given = given

    @classmethod
    def of(cls, shared: Rules, rows: Sequence[Rules], regions: Bytes | None = None) -> Variants:
        """Return the problems of rows.

        Parameters
        ----------
        shared : Rules
            The houses, groups and pairs that all rows have.
        rows : sequence of Rules
            The groups, pairs, cages and marks of each row beyond them.
        regions : ndarray of uint8, shape (n, n_cells), optional
            The region of every cell of every row: 0 .. N - 1, each in N cells.
        """
        if regions is None:
            regions = np.empty((len(rows), 0), np.uint8)
        for each in rows:
            each.checked()
        return cls(shared, OwnRules.of(rows, regions))

    @property
    def given(self) -> OwnRules:
        """The given rules of each row."""
        return self._given

    def __len__(self) -> int:
        return len(self.given.cages_of) - 1

    def __repr__(self) -> str:
        return f"Variants({self.n_cells} cells, {self.n_digits} digits, {len(self)} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        return Variants, (self.rules, self.given)

    def rows_of(self, roots: Ints) -> Ints:
        """Return the rows of `row_rules` whose rules hold for grids with these roots: the roots."""
        return roots

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the shared rules: what an engine prepares does not depend on rows."""
        kind = "regions" if self.given.regions.shape[1] else "rows"
        return hashlib.sha256(f"{kind} {super().fingerprint}".encode()).hexdigest()

    @property
    def n_options(self) -> int:
        """Number of options of the row that has the most."""
        begins, ends = self.row_rules.sets_of.T
        n_sets = int(np.maximum(ends - begins, 0).sum())
        return self.n_cells * self.n_digits + 1 + n_sets

    def at(self, roots: Ints) -> Variants:
        """Return the problem of the grids with these roots; the roots are counted anew."""
        return Variants(self.rules, self.given.take(roots))

    def of_row(self, row: int) -> GridProblem:
        """Return the problem of a row."""
        given, rules = self.given, self.rules
        one = given.take(np.array([row]))
        regions = regions_of(one.regions[0].tolist(), self.n_digits) if one.regions.size else ()
        cages, groups = [], []
        for k, total in enumerate(one.totals.tolist()):
            cells = tuple(one.cage_cells[one.cells_of[k] : one.cells_of[k + 1]].tolist())
            if total == NO_SUM:
                groups.append(cells)
            else:
                cages.append(Cage(cells, total))
        every = (1 << self.n_digits) - 1
        others = replace(
            Rules(self.n_digits, rules.places, tuple(regions)),
            groups=tuple(groups),
            pairs=tuple((a, b, RELATION_NAMES[kind]) for a, b, kind in one.pairs.tolist()),
            cages=tuple(cages),
            marks=tuple((c, m) for c, m in enumerate(one.allowed[0].tolist()) if m != every),
        )
        return GridProblem(rules + others)

    def first_clashes(self, grids: Bytes) -> Ints:
        """Return for each grid the position among its clues of the first that clashes, or -1."""
        if len(grids) != len(self):
            raise InputError(f"{len(grids)} grids for the rules of {len(self)}")
        return super().first_clashes(grids)


def _check_regions(regions: Bytes, rules: Rules) -> None:
    """Raise `ProblemError` unless each row has N regions of N cells, or none has regions."""
    n = rules.n_digits
    if not regions.shape[1]:
        return
    if regions.shape[1] != n * n or rules.n_cells != n * n:
        raise ProblemError(f"regions must have shape (n, {n * n}), not {regions.shape}")
    bucket = (n + 1) * np.arange(len(regions))[:, None] + np.minimum(regions, n)
    sizes = np.bincount(bucket.ravel(), minlength=(n + 1) * len(regions)).reshape(-1, n + 1)
    wrong = np.argwhere(sizes[:, :n] != n)  # a region above n leaves one below it too small
    if wrong.size:
        row, region = wrong[0].tolist()
        size = sizes[row, region]
        raise ProblemError(f"row {row}: region {region} has {size} cells; each region has {n}")
