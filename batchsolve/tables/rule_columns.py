"""Columns that give rows rules of their own: named rules, and regions.

A block of rows falls into parts, each with its problem. Rows whose regions differ are one part,
because an engine can search them side by side.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.errors import InputError, ProblemError
from batchsolve.kernels import kernel
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.jigsaws import Jigsaws
from batchsolve.problems.notation import buffers
from batchsolve.problems.rules import layout, n_regions, regions_of
from batchsolve.problems.variant import Variant, grid_problem, shared_rules

RULES, REGIONS = "rules", "regions"
"""The names of the columns."""

Part = tuple[GridProblem, npt.NDArray[np.int64]]
"""A problem, and the rows of a block that are its grids."""


@dataclass(frozen=True)
class RuleColumns:
    """The rules of the rows of a corpus.

    Attributes
    ----------
    n_digits : int
    box : (int, int), optional
    rules, regions : str, optional
        The rules and the regions of all rows; see `grid_problem`.
    fixed : GridProblem, optional
        The problem of rows without rules of their own, in place of the four above.
    has_rules, has_regions : bool
        True if the column `RULES`, or `REGIONS`, gives rows others.
    """

    n_digits: int
    box: tuple[int, int] | None = None
    rules: str | None = None
    regions: str | None = None
    fixed: GridProblem | None = None
    has_rules: bool = False
    has_regions: bool = False

    @property
    def names(self) -> list[str]:
        """The columns."""
        return [RULES] * self.has_rules + [REGIONS] * self.has_regions

    @property
    def known_digits(self) -> int | None:
        """Number of digits, as far as the box, the regions or the problem tell it."""
        if self.fixed is not None:
            return self.fixed.n_digits
        if self.box is not None:
            return self.box[0] * self.box[1]
        return None if self.regions is None else n_regions(self.regions)

    @property
    def key_width(self) -> int:
        """Number of digits that tell a row from others: its grid, its regions and its rules."""
        n_cells = self.main_problem.n_cells
        return n_cells * (1 + self.has_regions) + _RULE_DIGITS * self.has_rules

    @property
    def kind(self) -> tuple[str, bool, bool]:
        """What the rows of two corpora must share if they are to be compared."""
        return self.main_problem.fingerprint, self.has_rules, self.has_regions

    def key_digits(
        self, puzzles: npt.NDArray[np.uint8], columns: dict[str, pa.Array]
    ) -> npt.NDArray[np.uint8]:
        """Return the digits that tell rows apart, shape (n, key_width)."""
        digits = [puzzles]
        if self.has_regions:
            digits.append(_regions(columns[REGIONS], self.n_digits, {}))
        if self.has_rules:
            each = np.zeros((len(puzzles), _RULE_DIGITS), np.uint8)
            for rules, rows in self._by_rules(len(puzzles), columns[RULES]):
                names = sorted(name.strip() for name in rules.lower().split("+"))
                each[rows] = np.frombuffer(
                    hashlib.sha256("+".join(names).encode()).digest(), np.uint8
                )
            digits.append(each)
        return np.concatenate(digits, axis=1) if len(digits) > 1 else puzzles

    @property
    def main_problem(self) -> GridProblem:
        """The problem of rows without rules of their own; of rows and columns if none has boxes."""
        try:
            return self.problem()
        except InputError:
            if not self.has_regions:
                raise
            return Variant(shared_rules(self.n_digits, self.box, self.rules or ""))

    def problem(self, rules: str = "", regions: str | None = None) -> GridProblem:
        """Return the problem of rows with these rules, and regions, of their own."""
        if self.fixed is not None:
            return self.fixed
        all_rules = "+".join(filter(None, (self.rules, rules.strip()))) or None
        return grid_problem(self.n_digits, self.box, all_rules, regions or self.regions)

    def parts(self, n: int, columns: dict[str, pa.Array], faults: dict[int, str]) -> list[Part]:
        """Return the parts of a block of n rows; add the faults of rows with wrong rules.

        Parameters
        ----------
        n : int
        columns : dict of str to pyarrow.Array
            The columns that are there, as text.
        faults : dict of int to str
            The faults of rows; those rows are in no part.
        """
        if not columns:
            return [(self.problem(), np.arange(n))]
        regions = None
        if REGIONS in columns:
            regions = _regions(columns[REGIONS], self.n_digits, faults)
        parts: list[Part] = []
        for rules, rows in self._by_rules(n, columns.get(RULES)):
            good = np.array([row for row in rows.tolist() if row not in faults], np.int64)
            if not good.size:
                continue
            try:
                parts += self._parts_of(rules, good, columns.get(REGIONS), regions)
            except ProblemError as error:
                faults |= dict.fromkeys(good.tolist(), f"column {RULES!r}: {error}")
        return parts

    def _by_rules(self, n: int, column: pa.Array | None) -> list[tuple[str, npt.NDArray[np.int64]]]:
        """Return the different rules, and the rows that have them."""
        if column is None:
            return [("", np.arange(n))]
        coded = column.fill_null("").dictionary_encode()
        numbers = coded.indices.to_numpy()
        return [
            (rules, np.flatnonzero(numbers == k))
            for k, rules in enumerate(coded.dictionary.to_pylist())
        ]

    def _parts_of(
        self,
        rules: str,
        rows: npt.NDArray[np.int64],
        texts: pa.Array | None,
        regions: npt.NDArray[np.uint8] | None,
    ) -> list[Part]:
        """Return the parts of rows with the same rules."""
        if regions is None or texts is None:
            return [(self.problem(rules), rows)]
        has_regions = regions[rows, 0] != _NONE
        own = rows[has_regions]
        parts: list[Part] = []
        if len(own) < len(rows):
            parts.append((self.problem(rules), rows[~has_regions]))
        if not own.size:
            return parts
        if (regions[own] == regions[own[0]]).all():
            return [*parts, (self.problem(rules, texts[int(own[0])].as_py()), own)]
        shared = shared_rules(self.n_digits, self.box, "+".join(filter(None, (self.rules, rules))))
        whole = regions.copy()
        whole[regions[:, 0] == _NONE] = regions[own[0]]  # rows that this part does not have
        return [*parts, (Jigsaws(shared, whole), own)]


_RULE_DIGITS = 32  # of the hash of named rules
_NONE = 255  # the region of the cells of a row that gives none


def _regions(column: pa.Array, n: int, faults: dict[int, str]) -> npt.NDArray[np.uint8]:
    """Return the region of each cell of every row; add the faults of rows with wrong regions."""
    regions = np.full((len(column), n * n), _NONE, np.uint8)
    wrong = np.zeros(len(column), np.bool_)
    _number_regions(*buffers(column), n, regions, wrong)
    for row in np.flatnonzero(wrong).tolist():  # labels with separators, or a fault
        try:
            labels = layout(column[row].as_py() or "", n)
            for region, cells in enumerate(regions_of(labels, n)):
                regions[row, list(cells)] = region
        except ProblemError as error:
            regions[row] = _NONE
            faults.setdefault(row, f"column {REGIONS!r}: {error}")
    return regions


@kernel
def _number_regions(data: Any, offsets: Any, n: int, regions: Any, wrong: Any) -> None:
    """Write the numbers of regions, in the order of their first cells, of rows of a byte a cell.

    Empty rows keep their regions; other rows whose regions do not have n cells each are `wrong`.
    """
    number, sizes = np.empty(256, np.int64), np.empty(256, np.int64)
    for row in range(offsets.size - 1):
        begin, end = offsets[row], offsets[row + 1]
        if begin == end:
            continue
        wrong[row] = end - begin != n * n
        if wrong[row]:
            continue
        number[:], sizes[:] = -1, 0
        n_regions = 0
        for cell in range(n * n):
            label = data[begin + cell]
            if number[label] < 0:
                number[label] = n_regions
                n_regions += 1
            region = number[label]
            regions[row, cell] = region
            sizes[region] += 1
        for region in range(n_regions):
            wrong[row] |= sizes[region] != n
