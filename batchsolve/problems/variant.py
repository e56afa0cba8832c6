"""Grids with any rules as exact cover problems.

Option ``cell · N + digit`` (digits counted from 0) puts a digit into a cell, as in
`batchsolve.problems.sudoku`. Its items are

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

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Bytes, Ints, Words, begins_of
from batchsolve.errors import InputError, ProblemError, counted
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import default_box
from batchsolve.problems.overlaps import (
    LAYOUTS,
    Grid,
    drawn_grids,
    drawn_labels,
    drawn_places,
    rules_of_grids,
    split_layout,
)
from batchsolve.problems.rule_arrays import (
    NO_SUM,
    RELATION_NAMES,
    OwnRules,
    have_clashes,
    relations_of,
)
from batchsolve.problems.rules import (
    KINDS,
    RELATIONS,
    Cage,
    Rules,
    houses_of,
    layout,
    named,
    plain,
    regions_of,
)
from batchsolve.problems.sudoku import sudoku
from batchsolve.settings import Box, checked_box, whole_number

_IN, _OUT = 1, 2


class Variant(GridProblem):
    """The exact cover problem of the empty grid with these rules.

    Parameters
    ----------
    rules : Rules

    Raises
    ------
    ProblemError
        If the rules contradict themselves.

    Examples
    --------
    >>> from batchsolve import count
    >>> from batchsolve.problems.rules import plain
    >>> count(Variant(plain(2, 2) + named("x", 2, 2))).count
    48
    """

    item_names = option_names = color_names = bounds = costs = None

    def __init__(self, rules: Rules) -> None:
        self.rules = rules.checked()
        self.n_digits = rules.n_digits
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

        def options_of(cells: Sequence[int]) -> npt.NDArray[np.int64]:
            return np.asarray(cells)[:, None] * n + digits

        def new_items(n_new: int) -> int:
            nonlocal n_items
            n_items += n_new
            return n_items - n_new

        def add(options: npt.ArrayLike, items: npt.ArrayLike, color: npt.ArrayLike = 0) -> None:
            """Give options items, perhaps with a colour."""
            entries.append([each.ravel() for each in np.broadcast_arrays(options, items, color)])

        add(np.arange(n_cells * n), np.repeat(np.arange(n_cells), n))
        new_items(n_cells)
        for house in rules.houses:
            add(options_of(house), new_items(n) + digits)
        # before the items that are secondary: those of cages and of marks
        cages = new_items(len(rules.cages))
        excluded = np.flatnonzero(self._marks[:, None] >> digits.astype(np.uint64) & 1 == 0)
        marks = new_items(self.n_marks)
        n_primary = n_items
        for group in rules.groups:
            add(options_of(group), new_items(n) + digits)
        for a, b, relation in rules.pairs:
            allows = RELATIONS[relation]
            forbidden = [
                (a * n + x, b * n + y)
                for x in range(n)
                for y in range(n)
                if not allows(x + 1, y + 1)
            ]
            items = new_items(len(forbidden)) + np.arange(len(forbidden))
            for one in zip(*forbidden, strict=True):
                add(one, items)
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
                has = digit_set >> digits & 1
                add(n_options, first + digits, np.where(has, _IN, _OUT))
                n_options += 1
        options, items, colors = (np.concatenate(each) for each in zip(*entries, strict=True))
        order = np.lexsort((items, options))
        indptr = begins_of(np.bincount(options, minlength=n_options))
        in_order = colors[order] if rules.cages else None
        return ExactCover(indptr, items[order], n_items, n_primary, colors=in_order)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the rules, 64 hexadecimal digits."""
        return hashlib.sha256(repr(self.rules).encode()).hexdigest()

    @property
    def n_options(self) -> int:
        """Number of options."""
        return self.n_cells * self.n_digits + self.n_marks + sum(self._n_sets)

    @cached_property
    def n_entries(self) -> int:
        """Number of items in all options together."""
        n, rules = self.n_digits, self.rules
        once = self.n_cells + sum(map(len, (*rules.houses, *rules.groups)))
        excluded = n * len(self._marks) - sum(map(int.bit_count, self._marks.tolist()))
        relations = relations_of(n)[:, 0].tolist()
        kinds = (relations[RELATION_NAMES.index(name)] for _, _, name in rules.pairs)
        forbidden = [n * n - sum(map(int.bit_count, allowed)) for allowed in kinds]
        n_of_cages = sum(len(cage.cells) for cage in rules.cages)
        of_cages = n * 2 * n_of_cages + (n + 1) * sum(self._n_sets)
        return n * once + 2 * sum(forbidden) + 2 * excluded + self.n_marks + of_cages

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.rules.n_cells

    @property
    def n_marks(self) -> int:
        """Number of options of the item *marks*: 1 if marks exclude a digit, else 0."""
        return int((self._marks != (1 << self.n_digits) - 1).any())

    @property
    def _marks(self) -> npt.NDArray[np.uint64]:
        """The digits that each cell may hold, as bits; empty if there are no marks."""
        return self.row_rules.allowed[0]

    @cached_property
    def _n_sets(self) -> list[int]:
        """The number of sets of digits of each cage."""
        return [len(cage.digit_sets(self.n_digits)) for cage in self.rules.cages]

    @property
    def cover_size(self) -> int:
        """Number of options of every cover: those of the cells, of the marks and of the cages."""
        return self.n_cells + self.n_marks + len(self.rules.cages)

    def other_options(self, grids: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
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

    def follow_rules(self, grids: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        """Return True for each full grid that follows the rules; its digits are 1 .. N."""
        own = self.given
        if not any(each.size for each in (own.regions, own.allowed, own.pairs, own.totals)):
            return ~have_clashes(self.rules, grids)
        right = super().follow_rules(grids)  # all rules but sums and marks
        some = np.flatnonzero(right)
        right[some] = own.take(self.rows_of(some)).follow(grids[some])
        return right

    def __repr__(self) -> str:
        names = "house", "group", "pair", "cage", "marked cell"
        sizes = zip(names, (len(getattr(self.rules, kind)) for kind in KINDS), strict=True)
        parts = [counted(n, name) for name, n in sizes if n or name == "house"]
        return f"Variant({self.n_cells} cells, {self.n_digits} digits, {', '.join(parts)})"

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

    @property
    def token(self) -> str:
        """The fingerprint: copies are made anew, and rows share what does not depend on them."""
        return self.fingerprint

    def __reduce__(self) -> tuple[Any, ...]:
        return Variant, (self.rules,)


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
        The region of every cell, in place of the boxes: see `batchsolve.problems.rules.layout`, and
        `batchsolve.problems.overlaps.drawn_labels` for several grids.
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


_variant = lru_cache(maxsize=256)(Variant)  # shared


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
        made = Rules.square(n_digits, regions_of(layout(regions, n_digits), n_digits))
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
    houses = houses_of(drawn_labels(regions, drawing or made.drawing), n_digits)
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


class Variants(Variant):
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

    @property
    def _marks(self) -> Words:
        """No marks: the shared rules have none."""
        return np.empty(0, np.uint64)

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

    def of_row(self, row: int) -> Variant:
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
        return Variant(rules + others)

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
