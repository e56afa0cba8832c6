"""The rules of grids as arrays: the own rules of rows, and the rules that the core takes.

Rules of grids have three forms:

* `Rules` are what users say: about one grid, or about all rows of a table;
* `OwnRules` are what the rows of a table say: their regions, marks, pairs of cells and cages;
* the core takes shared rules from `core_rules` and those of rows as `RowRules`, which add the sets
  of digits that fill each cage, and implied cages: the digits of a house have a known sum
  (``core/cages/implied.h``).

Options are numbered as in `batchsolve.problems.grids`: those of the cells, then one that chooses
the marks if there are any, then those that choose the digits of cages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np

from batchsolve.core import native
from batchsolve.core.arrays import Bools, Bytes, Ints, Shorts, Words, begins_of, lists_at
from batchsolve.problems.rules import RELATIONS, Cells, Rules, digit_sets

RELATION_NAMES = tuple(RELATIONS)

MOST_IN_CORE = 32  # digits of grids with other rules than Sudoku: a set of digits is a word


@lru_cache(maxsize=64)
def core_rules(rules: Rules, box: tuple[int, int]) -> Any:
    """Return the rules that all rows share, without marks and cages, as the core takes them.

    Parameters
    ----------
    rules : Rules
    box : pair of int
        The rows and columns of the boxes, if no row has other rules than Sudoku; else 0 and 0.
    """
    related = [(a, b, RELATION_NAMES.index(name)) for a, b, name in rules.pairs]
    return native.GridRules(
        rules.n_cells,
        rules.n_digits,
        *box,
        np.array(rules.houses, np.uint16).reshape(-1),
        _distinct(rules),
        np.array(related, np.uint16).reshape(-1),
        relations_of(rules.n_digits).reshape(-1),
    )


def _distinct(rules: Rules) -> Shorts:
    """Return the pairs of cells that differ by groups and not by houses."""
    pairs = _pairs_of(rules.groups)
    if pairs:
        pairs = pairs - _pairs_of(rules.houses)
    return np.array(sorted(pairs), np.uint16).reshape(-1)


@lru_cache(maxsize=64)
def _pairs_of(cells: tuple[Cells, ...]) -> frozenset[tuple[int, int]]:
    """Return every two cells of one house or group, in ascending order."""
    return frozenset(chain.from_iterable(combinations(sorted(some), 2) for some in cells))


@lru_cache(maxsize=256)
def are_allowed(n: int, relation: str) -> Bools:
    """Return True for every two digits that a relation allows, shape (n, n)."""
    allows, digits = RELATIONS[relation], range(1, n + 1)
    return np.array([[allows(a, b) for b in digits] for a in digits])


@lru_cache(maxsize=64)
def relations_of(n: int) -> Words:
    """Return the digits that each digit of a cell leaves to the other: relation, way, digit."""
    bits = np.uint64(1) << np.arange(n, dtype=np.uint64)
    each = (are_allowed(n, relation) for relation in RELATION_NAMES)
    return np.array([[allowed @ bits, bits @ allowed] for allowed in each])


@lru_cache(maxsize=256)
def forbidden_digits(n: int, relation: str) -> Ints:
    """Return the pairs of digits that a relation forbids, counted from 0, shape (n_pairs, 2)."""
    return np.argwhere(~are_allowed(n, relation))


# ---- rules of rows --------------------------------------------------------------------------

NO_SUM = -(2**60)
"""The total of cells that differ, whatever their sum."""

_MOST_DIGITS = 12  # for more, the sets of all sizes and sums are too many to list them


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
    def of(cls, rows: Sequence[Rules], regions: Bytes) -> OwnRules:
        """Return the marks, pairs, cages and groups of rows, and these regions."""
        n_cells, all_digits = rows[0].n_cells, (1 << min(64, rows[0].n_digits)) - 1
        allowed = np.full((len(rows), n_cells if any(r.marks for r in rows) else 0), all_digits)
        allowed = allowed.astype(np.uint64)
        for row, rules in enumerate(rows):
            for cell, mask in rules.marks:
                allowed[row, cell] &= np.uint64(mask & all_digits)
        pairs = [(a, b, RELATION_NAMES.index(name)) for rules in rows for a, b, name in rules.pairs]
        cages = [each for rules in rows for each in _cages_of(rules)]
        return cls(
            regions,
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
        none, begin = np.zeros(0, np.int64), np.zeros(n_rows + 1, np.int64)
        regions, allowed = np.empty((n_rows, 0), np.uint8), np.empty((n_rows, 0), np.uint64)
        pairs, cells = np.empty((0, 3), np.uint16), np.empty(0, np.uint16)
        return cls(regions, allowed, begin, pairs, begin.copy(), none, begin[:1].copy(), cells)

    def with_more(self, other: OwnRules) -> OwnRules:
        """Append the pairs and cages of other rules, row by row."""
        pairs, cages = (
            np.argsort(np.append(_owners(mine), _owners(theirs)), kind="stable")
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
        row_of, cage_of = _owners(self.cages_of), _owners(self.cells_of)
        sums = np.bincount(cage_of, grids[row_of[cage_of], self.cage_cells], len(row_of))
        right[row_of[(self.totals != NO_SUM) & (sums != self.totals)]] = False
        return right


def _owners(begins: Ints) -> Ints:
    """Return the list of every entry of joined lists."""
    return np.repeat(np.arange(len(begins) - 1), np.diff(begins))


def _cages_of(rules: Rules) -> list[Any]:
    """Return the cages, and the groups as cages without a sum: cells and total."""
    groups = [(cells, NO_SUM) for cells in rules.groups]
    return [*((cage.cells, cage.total) for cage in rules.cages), *groups]


class RowRules(NamedTuple):
    """Per-row rules of n rows, packed for the core.

    The cages of a row are the given ones, then the implied ones.
    """

    regions: Bytes  # as in `OwnRules`
    allowed: Words
    pairs_of: Ints
    pairs: Shorts
    cages_of: Ints  # row -> the begin of its cages, and the end of the last
    n_said: Ints  # row -> the number of cages that are said
    cells_of: Ints  # cage -> its begin in `cage_cells`
    cage_cells: Shorts
    sets_of: Ints  # (cages, 2): begin and end in `digit_sets`; without a sum, `NO_SUM`
    digit_sets: Words  # sets of digits, as bits


@lru_cache(maxsize=64)
def _set_table(n_digits: int, wanted: frozenset[tuple[int, int]]) -> tuple[Ints, Any]:
    """Return the sets of N digits by size and sum; for many digits, only the wanted ones.

    Returns
    -------
    ranges : ndarray of int64
        Size, sum -> begin and end in `sets`; `NO_SUM` where no sets are listed.
    sets : ndarray of uint64
    """
    most = n_digits * (n_digits + 1) // 2
    ranges = np.full((n_digits + 1, most + 1, 2), NO_SUM, np.int64)
    every: Iterable[tuple[int, int]] = sorted(pair for pair in wanted if 0 <= pair[1] <= most)
    if n_digits <= _MOST_DIGITS:
        every = ((size, total) for size in range(1, n_digits + 1) for total in range(most + 1))
    sets: list[int] = []
    for size, total in every:
        found = digit_sets(n_digits, size, total)
        ranges[size, total] = len(sets), len(sets) + len(found)
        sets += found
    return ranges, np.array(sets, np.uint64)


def row_rules(shared: Rules, given: OwnRules) -> RowRules:
    """Pack the rules of rows for the core.

    Parameters
    ----------
    shared : Rules
        Their houses are those of all rows.
    given : OwnRules

    Raises
    ------
    ProblemError
        If there are too many sets of digits for a cage.
    """
    n = shared.n_digits
    wanted: frozenset[tuple[int, int]] = frozenset()
    if n > _MOST_DIGITS:
        sizes = np.diff(given.cells_of).tolist()
        wanted = frozenset(zip(sizes, given.totals.tolist(), strict=True))
    ranges, sets = _set_table(n, wanted)
    houses = shared.houses if (given.totals != NO_SUM).any() else ()
    cages_of, (cells_of, cage_cells), sets_of = native.complete_cages(
        given.regions,
        given.cages_of,
        given.totals,
        (given.cells_of, given.cage_cells),
        np.array(houses, np.uint16).reshape(-1),
        ranges.reshape(len(ranges), -1),
        shared.n_cells,
    )
    same = given.regions, given.allowed, given.pairs_of, given.pairs
    cages = cages_of, np.diff(given.cages_of), cells_of, cage_cells
    return RowRules(*same, *cages, sets_of, sets)
