"""The rules of a grid: houses, groups, pairs, cages and marks.

A *house* has as many cells as there are digits and holds each once; a *group* has fewer cells and
holds each digit at most once. Rules have three forms:

* `Rules` are what users say: about one grid, or about all rows of a table. They are plain data,
  from which `batchsolve.problems.grids` makes an exact cover problem;
* `OwnRules` are what the rows of a table say: their regions, marks, pairs of cells and cages;
* the core takes shared rules from `core_rules` and those of rows from `OwnRules.in_core`, to which
  it adds the sets of digits that fill each cage, and implied cages: the digits of a house have a
  known sum (``core/cages/implied.h``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import chain, combinations, pairwise, product
from math import comb
from typing import Any, NamedTuple

import numpy as np

from batchsolve.core import native
from batchsolve.core.arrays import Bools, Bytes, Ints, Shorts, Words, begins_of, lists_at, owners_of
from batchsolve.errors import InputError, ProblemError, quoted
from batchsolve.settings.arguments import names_in

Cells = tuple[int, ...]

MOST_DIGITS = 64  # a set of digits is a word

MOST_SETS = 1_000_000
"""The largest number of sets of digits that may be looked at for a cage."""

MOST_SUM = 10**9 - 1  # of the digits of a cage, far above those that digits have


RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "equal": lambda a, b: a == b,
    "consecutive": lambda a, b: abs(a - b) == 1,
    "apart": lambda a, b: abs(a - b) != 1,
    "double": lambda a, b: (a == 2 * b) | (b == 2 * a),
    "undotted": lambda a, b: (abs(a - b) != 1) & (a != 2 * b) & (b != 2 * a),
    "less": lambda a, b: a < b,
    "v": lambda a, b: a + b == 5,
    "x": lambda a, b: a + b == 10,
    "unlettered": lambda a, b: (a + b != 5) & (a + b != 10),
    **{f"gap{d}": partial(lambda d, a, b: abs(a - b) >= d, d) for d in range(2, 10)},
    **{f"within{d}": partial(lambda d, a, b: abs(a - b) < d, d) for d in range(2, 10)},
}
"""The relations of two digits a and b, or of arrays of them: dots of Kropki (white: *consecutive*,
black: *double*, none: *undotted*), marks of futoshiki and of XV (no letter: *unlettered*), lines
whose neighbours differ by d or more (*gap*), cells that differ by less than d (*within*)."""


@dataclass(frozen=True)
class Cage:
    """Cells of a killer grid, with different digits that add up to a sum.

    Attributes
    ----------
    cells : tuple of int
    total : int

    Examples
    --------
    >>> [f"{digits:04b}" for digits in Cage((0, 1), 5).digit_sets(4)]  # 1 + 4 and 2 + 3
    ['1001', '0110']
    """

    cells: Cells
    total: int

    def digit_sets(self, n_digits: int) -> tuple[int, ...]:
        """Return the sets of digits that fill the cage, as bits: bit ``d - 1`` for digit d."""
        return digit_sets(n_digits, len(self.cells), self.total)


@lru_cache(maxsize=2**14)
def digit_sets(n_digits: int, size: int, total: int) -> tuple[int, ...]:
    """Return the sets of this many digits with this sum, as bits: bit ``d - 1`` for digit d.

    Raises
    ------
    ProblemError
        If there are too many sets of this many digits to look at.

    Examples
    --------
    >>> [f"{digits:b}" for digits in digit_sets(9, 2, 16)], digit_sets(4, 3, 5)
    (['101000000'], ())
    """
    if comb(n_digits, size) > MOST_SETS:
        raise ProblemError(
            f"a cage of {size} of {n_digits} digits has too many sets of digits; "
            f"{MOST_SETS:,} can be looked at"
        )
    if not size * (size + 1) <= 2 * total <= size * (2 * n_digits + 1 - size):
        return ()
    return tuple(
        sum(1 << (d - 1) for d in digits)
        for digits in combinations(range(1, n_digits + 1), size)
        if sum(digits) == total
    )


KINDS = "houses", "groups", "pairs", "cages", "marks"
"""The kinds of rules, which are attributes of `Rules`."""


@dataclass(frozen=True)
class Rules:
    """The rules of a grid.

    Attributes
    ----------
    n_digits : int
        Number of digits, N.
    places : tuple of (int, int)
        Row and column of each cell, counted from 0, in reading order.
    houses : tuple of tuples of int
        The cells of every house, N each.
    groups : tuple of tuples of int
        The cells of every group.
    pairs : tuple of (int, int, str)
        Two cells, and the relation of their digits: one of `RELATIONS`.
    cages : tuple of Cage
    marks : tuple of (int, int)
        A cell, and the digits that it may hold: bit ``d - 1`` for digit d.

    Examples
    --------
    >>> rules = Rules.square(2, [])  # two rows and two columns
    >>> len(rules.houses), rules.cell_name(3)
    (4, 'r2c2')
    """

    n_digits: int
    places: tuple[tuple[int, int], ...]
    houses: tuple[Cells, ...]
    groups: tuple[Cells, ...] = ()
    pairs: tuple[tuple[int, int, str], ...] = ()
    cages: tuple[Cage, ...] = ()
    marks: tuple[tuple[int, int], ...] = ()

    @classmethod
    def square(cls, n: int, regions: Iterable[Cells]) -> Rules:
        """Return the rules of n rows, n columns and some regions of n cells, each house once."""
        rows = [tuple(range(n * r, n * r + n)) for r in range(n)]
        columns = [tuple(range(c, n * n, n)) for c in range(n)]
        places = tuple((r, c) for r in range(n) for c in range(n))
        lines = (*rows, *columns)
        others = dict.fromkeys(map(tuple, regions))
        return cls(n, places, (*lines, *(house for house in others if house not in lines)))

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.places)

    def cell_name(self, cell: int) -> str:
        """Return ``r1c2`` for the cell in row 1, column 2."""
        row, column = self.places[cell]
        return f"r{row + 1}c{column + 1}"

    @property
    def extent(self) -> tuple[int, int]:
        """Number of rows and columns that the cells lie in."""
        rows, columns = zip(*self.places, strict=True)
        return max(rows) + 1, max(columns) + 1

    @property
    def drawing(self) -> str:
        """Lines with ``.`` for a cell and ``#`` outside; see `batchsolve.problems.sudoku`."""
        rows, columns = self.extent
        cells = set(self.places)
        lines = ("".join("#."[(r, c) in cells] for c in range(columns)) for r in range(rows))
        return "\n".join(lines)

    def step(self, cells: Cells) -> tuple[int, int] | None:
        """Return the rows and columns from each of some cells to the next; None if they differ.

        Examples
        --------
        >>> rules = plain(2, 2)
        >>> rules.step((0, 1, 2, 3)), rules.step((0, 5, 10, 15)), rules.step((0, 1, 4, 5))
        ((0, 1), (1, 1), None)
        """
        places = sorted(self.places[cell] for cell in cells)
        steps = {(r - a, c - b) for (a, b), (r, c) in pairwise(places)}
        return steps.pop() if len(steps) == 1 else None

    @cached_property
    def regions(self) -> tuple[Cells, ...]:
        """The disjoint houses that are not lines: the regions of the grid.

        Of houses that meet, the first counts. Rows and columns of the remaining cells are regions,
        too.
        """
        regions: list[Cells] = []
        remaining = set(range(self.n_cells))
        for house in sorted(self.houses, key=lambda cells: self.step(cells) is not None):
            if remaining.issuperset(house) and (regions or not self.step(house)):
                regions.append(house)
                remaining.difference_update(house)
        return tuple(regions)

    def __add__(self, other: Rules) -> Rules:
        """Return the rules of both; the cells must be the same."""
        if (self.n_digits, self.places) != (other.n_digits, other.places):
            raise ProblemError(
                f"rules of {self.n_cells} cells and {self.n_digits} digits do not go with rules of "
                f"{other.n_cells} cells and {other.n_digits} digits"
            )
        joined: dict[str, Any] = {
            kind: tuple(dict.fromkeys((*getattr(self, kind), *getattr(other, kind))))
            for kind in KINDS
        }
        return replace(self, **joined)

    def as_sets(self, cells: Sequence[int] | None = None) -> tuple[set[Any], ...]:
        """Return sets of the rules of each of `KINDS`, perhaps with the cells renamed.

        The order in which rules or cells were named does not matter.
        """

        def renamed(group: Cells) -> Cells:
            return tuple(sorted(group if cells is None else (cells[cell] for cell in group)))

        pairs = set()
        for a, b, relation in self.pairs:
            first, second = renamed((a,)), renamed((b,))
            pairs.add(((*first, *second) if relation == "less" else renamed((a, b)), relation))
        return (
            {*map(renamed, self.houses)},
            {*map(renamed, self.groups)},
            pairs,
            {(renamed(cage.cells), cage.total) for cage in self.cages},
            {(renamed((cell,)), digits) for cell, digits in self.marks},
        )

    def beyond(self, other: Rules) -> Rules:
        """Return the houses, groups and pairs that other rules lack, and all cages and marks."""
        more: dict[str, Any] = {}
        for kind in KINDS[:3]:
            theirs = set(getattr(other, kind))
            more[kind] = tuple(rule for rule in getattr(self, kind) if rule not in theirs)
        return replace(self, **more)

    def checked(self) -> Rules:
        """Return these rules; raise `ProblemError` if a rule cannot be one of this grid."""
        n = self.n_digits
        if n > MOST_DIGITS:
            raise ProblemError(f"rules are for {MOST_DIGITS} digits or fewer, not {n}")
        try:
            hash(self)
        except TypeError as error:
            raise ProblemError(f"rules are tuples of tuples ({error})") from error
        many = (*self.groups, *(cage.cells for cage in self.cages))
        named = {*chain(*self.houses, *many), *(cell for cell, _ in self.marks)}
        named.update(cell for a, b, _ in self.pairs for cell in (a, b))
        if wrong := [cell for cell in named if not 0 <= cell < self.n_cells]:
            raise ProblemError(
                f"a rule names cell {quoted(wrong[0])}; cells are 0 to {self.n_cells - 1}"
            )
        for house in self.houses:
            if len(set(house)) != n or len(house) != n:
                raise ProblemError(
                    f"a house of {n} digits has {n} different cells, not {quoted(house)}"
                )
        for cage in self.cages:
            if not 0 <= cage.total <= MOST_SUM:
                raise ProblemError(f"a sum is 0 to {MOST_SUM:,}, not {quoted(cage.total)}")
        for group in many:
            if len(set(group)) != len(group) or not 1 <= len(group) <= n:
                raise ProblemError(
                    f"a group or a cage has 1 to {n} different cells, not {quoted(group)}"
                )
        for a, b, relation in self.pairs:
            if a == b or relation not in RELATIONS:
                raise ProblemError(
                    f"a pair is two cells and one of {', '.join(RELATIONS)}, "
                    f"not {quoted((a, b, relation))}"
                )
        return self


# ---- houses of regions, and rules that have a name -----------------------------------------


def boxes(box_rows: int, box_columns: int) -> list[Cells]:
    """Return the cells of every box of a grid, in reading order."""
    n = box_rows * box_columns
    return [
        tuple((r + i) * n + c + j for i in range(box_rows) for j in range(box_columns))
        for r in range(0, n, box_rows)
        for c in range(0, n, box_columns)
    ]


def plain(box_rows: int, box_columns: int) -> Rules:
    """Return the rules of Sudoku with boxes of this shape."""
    return Rules.square(box_rows * box_columns, boxes(box_rows, box_columns))


def n_regions(text: str) -> int:
    """Return the number of regions of a layout, given as text.

    Raises
    ------
    InputError
        If it has no letter or number for each cell, such as the name of a file.

    Examples
    --------
    >>> n_regions("AABB AABB CCDD CCDD"), n_regions("1 1 1 10 10 2 10 2 2")
    (4, 3)
    """
    words = re.split(r"[\s,;]+", text.strip())
    layouts = ["".join(words), words] if len(words) > 1 else words
    sizes = [len({*labels}) for labels in layouts]
    fits = (n for n, labels in zip(sizes, layouts, strict=True) if n * n == len(labels))
    n = next(fits, sizes[-1])
    if n * n not in map(len, layouts):
        raise InputError(
            f"the regions {quoted(text.strip())} are not the text of a letter or number for each "
            f"of N² cells"
        )
    return n


def regions_of(labels: Iterable[Any], n: int) -> list[Cells]:
    """Return the cells of each region, given the label of every cell.

    Raises
    ------
    ProblemError
        If a region does not have n cells.

    Examples
    --------
    >>> regions_of("AABBAABBCCDDCCDD", 4)[1]
    (2, 3, 6, 7)
    """
    regions: dict[Any, list[int]] = {}
    for cell, label in enumerate(labels):
        regions.setdefault(label, []).append(cell)
    for label, cells in regions.items():
        if (size := len(cells)) != n:
            raise ProblemError(f"region {quoted(label)} has {size} cells; each region has {n}")
    return [tuple(cells) for cells in regions.values()]


def diagonals(box_rows: int, box_columns: int) -> Iterator[Cells]:
    """Yield the diagonal that falls from the left, then the one that rises."""
    n = box_rows * box_columns
    yield tuple(range(0, n * n, n + 1))
    yield tuple(range(n - 1, n * n - 1, n - 1)) if n > 1 else (0,)


def _windows(side: int, _: int) -> Iterator[Cells]:
    n = side * side
    begins = range(1, n - side, side + 1)
    for r in begins:
        for c in begins:
            yield tuple((r + i) * n + c + j for i in range(side) for j in range(side))


def _same_place(box_rows: int, box_columns: int) -> Iterator[Cells]:
    return zip(*boxes(box_rows, box_columns), strict=True)


def _centers(box_rows: int, box_columns: int) -> Iterator[Cells]:
    middle = box_rows * box_columns // 2
    yield tuple(box[middle] for box in boxes(box_rows, box_columns))


def _argyle(box_rows: int, box_columns: int) -> Iterator[Cells]:
    falling = (0, 1, 8), (1, 0, 8), (0, 4, 5), (4, 0, 5)  # row and column of the first cell, length
    for row, column, length in falling:
        yield tuple((row + i) * 9 + column + i for i in range(length))
        yield tuple((row + i) * 9 + 8 - column - i for i in range(length))


def _apart(*moves: tuple[int, int]) -> Callable[[int, int], Iterator[Cells]]:
    """Return a function that yields every two cells that are one of these moves apart."""

    def steps(box_rows: int, box_columns: int) -> Iterator[Cells]:
        n = box_rows * box_columns
        for r in range(n):
            for c in range(n):
                for down, right in moves:
                    if r + down < n and 0 <= c + right < n:
                        yield r * n + c, (r + down) * n + c + right

    return steps


def _nonconsecutive(box_rows: int, box_columns: int) -> Iterator[tuple[int, int, str]]:
    return ((a, b, "apart") for a, b in _apart((0, 1), (1, 0))(box_rows, box_columns))


def _any(box_rows: int, box_columns: int) -> bool:
    return True


def _blocks(box_rows: int, box_columns: int) -> bool:
    """Return True if boxes are more than parts of a line, as they are where a grid has none."""
    return min(box_rows, box_columns) > 1


_Make = Callable[[int, int], Iterator[Any]]
_Fits = Callable[[int, int], bool]
NAMED: dict[str, tuple[str, str, _Make, _Fits]] = {
    "x": ("each diagonal holds every digit once", "houses", diagonals, _any),
    "windoku": ("windows between boxes are houses", "houses", _windows, lambda r, c: r == c > 1),
    "disjoint": ("cells at the same place in their boxes differ", "houses", _same_place, _blocks),
    "centerdot": (
        *("the cells in the middle of boxes differ", "houses", _centers),
        lambda r, c: r % 2 == c % 2 == 1 and _blocks(r, c),
    ),
    "argyle": (
        "four diagonal lines of 8 cells and four of 5, in 9×9, hold a digit at most once",
        *("groups", _argyle, lambda r, c: (r, c) == (3, 3)),
    ),
    "antiknight": (
        "cells a knight's move apart differ",
        *("groups", _apart((1, -2), (1, 2), (2, -1), (2, 1)), _any),
    ),
    "antiking": ("cells a king's move apart differ", "groups", _apart((1, -1), (1, 1)), _any),
    "nonconsecutive": ("neighbours are not consecutive", "pairs", _nonconsecutive, _any),
}
"""The rules that ``--rules`` names: a description; their kind, one of `KINDS`; a function that
yields them for boxes of a shape; and one that tells whether boxes of this shape can have them."""


def named(names: str, box_rows: int, box_columns: int) -> Rules:
    """Return named rules, joined by ``+``, of a grid with boxes of this shape; without the boxes.

    Raises
    ------
    ProblemError
        If a rule is unknown or does not fit boxes of this shape.

    Examples
    --------
    >>> rules = named("x+antiking", 2, 2)
    >>> len(rules.houses), len(rules.groups)
    (10, 18)
    """
    rules = Rules.square(box_rows * box_columns, ())
    for name in names_in(names):
        if name not in NAMED:
            raise ProblemError(f"unknown rule {quoted(name)}; choose from {', '.join(NAMED)}")
        description, kind, make, fits = NAMED[name]
        if not fits(box_rows, box_columns):
            raise ProblemError(
                f"no rule {name!r} for boxes of {box_rows}×{box_columns}: {description}"
            )
        more: dict[str, Any] = {kind: tuple(make(box_rows, box_columns))}
        rules += replace(rules, **more)
    return rules


# ---- as the core takes them -----------------------------------------------------------------

RELATION_NAMES = tuple(RELATIONS)


@lru_cache(maxsize=256)
def core_rules(rules: Rules, box: tuple[int, int]) -> Any:
    """Return the rules that all rows share, without marks and cages, as the core takes them.

    Parameters
    ----------
    rules : Rules
    box : pair of int
        The rows and columns of the boxes, if no row has other rules than Sudoku; else 0 and 0.
    """
    distinct = sorted(_pairs_of(rules.groups) - _pairs_of(rules.houses))
    related = [(a, b, RELATION_NAMES.index(name)) for a, b, name in rules.pairs]
    return native.GridRules(
        rules.n_cells,
        rules.n_digits,
        *box,
        np.array(rules.houses, np.uint16).reshape(-1, rules.n_digits),
        np.array(distinct, np.uint16).reshape(-1, 2),
        np.array(related, np.uint16).reshape(-1, 3),
        relations_of(rules.n_digits).astype(np.uint32).reshape(-1, rules.n_digits),
    )


@lru_cache(maxsize=64)
def _pairs_of(cells: tuple[Cells, ...]) -> frozenset[tuple[int, int]]:
    """Return every two cells of one house or group, in ascending order."""
    return frozenset(chain.from_iterable(combinations(sorted(group), 2) for group in cells))


@lru_cache(maxsize=256)
def are_allowed(n: int, relation: str) -> Bools:
    """Return True for every two digits that a relation allows, shape (n, n)."""
    digits = np.arange(1, n + 1)
    return RELATIONS[relation](digits[:, None], digits)


@lru_cache(maxsize=64)
def relations_of(n: int) -> Words:
    """Return the digits that each digit of a cell leaves to the other: relation, way, digit."""
    bits = np.uint64(1) << np.arange(n, dtype=np.uint64)
    tables = (are_allowed(n, relation) for relation in RELATION_NAMES)
    return np.array([[allowed @ bits, bits @ allowed] for allowed in tables])


@lru_cache(maxsize=256)
def forbidden_digits(n: int, relation: str) -> Ints:
    """Return the pairs of digits that a relation forbids, counted from 0, shape (n_pairs, 2)."""
    return np.argwhere(~are_allowed(n, relation))


# ---- rules of rows --------------------------------------------------------------------------

NO_SUM = -(2**60)
"""The total of cells that differ, whatever their sum."""

_MOST_LISTED = 12  # digits; for more, the sets of all sizes and sums are too many to list them
_FEW_CELLS = 3  # of a cage, up to which the sets of all sums are listed nevertheless


class OwnRules(NamedTuple):
    """The rules that n rows have beyond those that they share."""

    regions: Bytes  # (n, n_cells) or (n, 0): region of every cell, 0 .. N - 1
    allowed: Words  # (n, n_cells) or (n, 0): digits that marks leave, as bits
    pairs_of: Ints  # row -> its begin in `pairs`, and the end of the last
    pairs: Shorts  # two cells each, and the number of their relation
    cages_of: Ints  # row -> its begin in `totals`
    totals: Ints  # cage -> its sum, or `NO_SUM`
    cells_of: Ints  # cage -> its begin in `cage_cells`
    cage_cells: Shorts

    @classmethod
    def of(cls, rows: Sequence[Rules], regions: Bytes | None = None) -> OwnRules:
        """Return the marks, pairs, cages and groups of rows, and these regions, or none."""
        n_cells, all_digits = rows[0].n_cells, (1 << min(64, rows[0].n_digits)) - 1
        allowed = np.full((len(rows), n_cells if any(r.marks for r in rows) else 0), all_digits)
        allowed = allowed.astype(np.uint64)
        for row, rules in enumerate(rows):
            for cell, mask in rules.marks:
                allowed[row, cell] &= np.uint64(mask & all_digits)
        pairs = [(a, b, RELATION_NAMES.index(name)) for rules in rows for a, b, name in rules.pairs]
        cages = [cage for rules in rows for cage in _cages_of(rules)]
        return cls(
            np.empty((len(rows), 0), np.uint8) if regions is None else regions,
            allowed,
            begins_of([len(rules.pairs) for rules in rows]),
            np.array(pairs, np.uint16).reshape(-1, 3),
            begins_of([len(rules.cages) + len(rules.groups) for rules in rows]),
            np.array([total for _, total in cages], np.int64),
            begins_of([len(cells) for cells, _ in cages]),
            np.array([cell for cells, _ in cages for cell in cells], np.uint16),
        )

    @classmethod
    def blank(cls, n_rows: int) -> OwnRules:
        """Return n rows without rules."""
        totals, begin = np.zeros(0, np.int64), np.zeros(n_rows + 1, np.int64)
        regions, allowed = np.empty((n_rows, 0), np.uint8), np.empty((n_rows, 0), np.uint64)
        pairs, cells = np.empty((0, 3), np.uint16), np.empty(0, np.uint16)
        return cls(regions, allowed, begin, pairs, begin.copy(), totals, begin[:1].copy(), cells)

    def of_row(self, row: int, shared: Rules) -> Rules:
        """Return the rules of a row, of grids with the cells of these rules; see `of`."""
        rules, n = self.take(np.array([row])), shared.n_digits
        regions = regions_of(rules.regions[0].tolist(), n) if rules.regions.size else ()
        ends = zip(rules.cells_of[:-1], rules.cells_of[1:], strict=True)
        groups = [tuple(rules.cage_cells[begin:end].tolist()) for begin, end in ends]
        cages = list(zip(groups, rules.totals.tolist(), strict=True))
        return Rules(
            n,
            shared.places,
            tuple(regions),
            tuple(cells for cells, total in cages if total == NO_SUM),
            tuple((a, b, RELATION_NAMES[kind]) for a, b, kind in rules.pairs.tolist()),
            tuple(Cage(cells, total) for cells, total in cages if total != NO_SUM),
            tuple((c, m) for c, m in enumerate(rules.allowed[0].tolist()) if m != (1 << n) - 1),
        )

    def with_too_many_sets(self, n_digits: int) -> Ints:
        """Return the rows with a cage that `digit_sets` refuses."""
        sizes = np.diff(self.cells_of)
        refused = [size for size in np.unique(sizes).tolist() if comb(n_digits, size) > MOST_SETS]
        return owners_of(self.cages_of)[np.isin(sizes, refused)]

    def with_more(self, other: OwnRules) -> OwnRules:
        """Append the pairs and cages of other rules, row by row."""
        pairs, cages = (
            np.argsort(np.append(owners_of(mine), owners_of(theirs)), kind="stable")
            for mine, theirs in ((self.pairs_of, other.pairs_of), (self.cages_of, other.cages_of))
        )
        all_cells_of = np.append(self.cells_of, self.cells_of[-1] + other.cells_of[1:])
        cells_of, cells = lists_at(all_cells_of, cages)
        return self._replace(
            pairs_of=self.pairs_of + other.pairs_of,
            pairs=np.concatenate([self.pairs, other.pairs])[pairs],
            cages_of=self.cages_of + other.cages_of,
            totals=np.append(self.totals, other.totals)[cages],
            cells_of=cells_of,
            cage_cells=np.append(self.cage_cells, other.cage_cells)[cells],
        )

    def take(self, rows: Ints) -> OwnRules:
        """Return the rules of these rows."""
        pairs_of, which_pairs = lists_at(self.pairs_of, rows)
        cages_of, which_cages = lists_at(self.cages_of, rows)
        cells_of, which_cells = lists_at(self.cells_of, which_cages)
        return OwnRules(
            self.regions[rows],
            self.allowed[rows],
            pairs_of,
            self.pairs[which_pairs],
            cages_of,
            self.totals[which_cages],
            cells_of,
            self.cage_cells[which_cells],
        )

    def follow(self, grids: Bytes) -> Bools:
        """Return True for each full grid, one a row, that has the sums and no excluded digit."""
        right: Bools = np.ones(len(grids), np.bool_)
        if self.allowed.shape[1]:
            digits = grids.astype(np.uint64) - np.uint64(1)
            right &= (self.allowed >> digits & np.uint64(1)).all(axis=1)
        row_of, cage_of = owners_of(self.cages_of), owners_of(self.cells_of)
        sums = np.bincount(cage_of, grids[row_of[cage_of], self.cage_cells], len(row_of))
        right[row_of[(self.totals != NO_SUM) & (sums != self.totals)]] = False
        return right

    def in_core(self, shared: Any, n: int) -> Any:
        """Return the rules as the core takes them; see ``core/lanes/rules.h``.

        Parameters
        ----------
        shared : GridRules of the core
            The rules of all rows.
        n : int
            Number of digits.

        Raises
        ------
        ProblemError
            If there are too many sets of digits for a cage.
        """
        has_sums = (self.totals != NO_SUM).any()
        most_cells = 0 if not has_sums else n if n <= _MOST_LISTED else _FEW_CELLS
        wanted: frozenset[tuple[int, int]] = frozenset()
        if n > most_cells > 0:
            sizes = np.diff(self.cells_of).tolist()
            wanted = frozenset(zip(sizes, self.totals.tolist(), strict=True))
        ranges, sets = _set_table(n, most_cells, wanted)
        # copies, because the core checks them once and reads them from then on
        arrays = tuple(np.array(field, order="C") for field in self)
        return native.RowRules(shared, arrays, ranges, sets, most_cells)


def _cages_of(rules: Rules) -> list[Any]:
    """Return the cages, and the groups as cages without a sum: cells and total."""
    groups = [(cells, NO_SUM) for cells in rules.groups]
    return [*((cage.cells, cage.total) for cage in rules.cages), *groups]


@lru_cache(maxsize=64)
def _set_table(
    n_digits: int, most_cells: int, wanted: frozenset[tuple[int, int]]
) -> tuple[Ints, Any]:
    """Return the sets of N digits by size and sum: all up to a size, and the wanted ones.

    Returns
    -------
    ranges : ndarray of int64, shape (N + 1, 2 * sums)
        Size, sum -> begin and end in `sets`; `NO_SUM` where no sets are listed.
    sets : ndarray of uint64
    """
    most = n_digits * (n_digits + 1) // 2
    ranges = np.full((n_digits + 1, most + 1, 2), NO_SUM, np.int64)
    every = product(range(1, most_cells + 1), range(most + 1))
    sets: list[int] = []
    for size, total in sorted(wanted.union(every)):
        if 0 <= total <= most:
            new = digit_sets(n_digits, size, total)
            ranges[size, total] = len(sets), len(sets) + len(new)
            sets += new
    return ranges.reshape(n_digits + 1, -1), np.array(sets, np.uint64)
