"""Grids whose rules differ from row to row, searched side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from batchsolve.arrays import Bytes, Ints, Words
from batchsolve.errors import InputError, ProblemError
from batchsolve.problems.rule_arrays import NO_SUM, RELATION_NAMES, Given
from batchsolve.problems.rules import Cage, Rules, regions_of
from batchsolve.problems.variant import Variant


class Variants(Variant):
    """The problems of grids that share houses and named rules, but no regions, cages or marks.

    As an exact cover problem it has the shared rules only. The root of a stack is the row whose
    rules hold, so a stack goes from task to task as stacks of one problem do.

    Parameters
    ----------
    rules : Rules
        The shared rules. If there are regions: rows, then columns, then others.
    given : Given
        The rules of each row beyond them.

    Raises
    ------
    ProblemError
        If a region of some row does not have N cells, or a cage has too many sets of digits.
    """

    def __init__(self, rules: Rules, given: Given) -> None:
        super().__init__(rules)
        _check_places(given, rules)
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
        return cls(shared, Given.of(rows, regions))

    @property
    def given(self) -> Given:
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


def _check_places(given: Given, rules: Rules) -> None:
    """Raise `ProblemError` unless the arrays of rows fit together and name cells that are there."""
    n_rows = len(given.cages_of) - 1
    lists = (
        (given.pairs_of, n_rows, len(given.pairs)),
        (given.cages_of, n_rows, len(given.totals)),
        (given.cells_of, len(given.totals), len(given.cage_cells)),
    )
    fit = all(
        len(begins) == n + 1
        and begins[0] == 0
        and begins[-1] == end
        and (np.diff(begins) >= 0).all()
        for begins, n, end in lists
    )
    fit &= given.regions.dtype == np.uint8 and given.allowed.dtype == np.uint64
    fit &= len(given.regions) == len(given.allowed) == n_rows
    fit &= given.allowed.shape[1] in (0, rules.n_cells)
    fit &= int(np.diff(given.cells_of).max(initial=1)) <= rules.n_digits
    cells = max(given.cage_cells.max(initial=0), given.pairs[:, :2].max(initial=0))
    if not fit or cells >= rules.n_cells or given.pairs[:, 2].max(initial=0) >= len(RELATION_NAMES):
        raise ProblemError("the rules of rows name cells, relations or lists that are not there")
