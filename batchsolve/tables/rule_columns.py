"""Columns that give rows rules of their own: named rules, regions, cages, marks, pairs of cells.

A block of rows falls into parts, each with its problem. Rows whose regions differ are one part,
because an engine can search them side by side; rows whose cages, marks or pairs differ are a part
each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.errors import InputError, ProblemError
from batchsolve.formats.constraint_strings import read_constraints, read_sumocue
from batchsolve.formats.f_puzzles import read_f_puzzle
from batchsolve.formats.grid_rules import GridRules, read_cages, read_marks, read_pairs
from batchsolve.kernels import kernel
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.jigsaws import Jigsaws
from batchsolve.problems.notation import buffers
from batchsolve.problems.overlaps import drawn_labels
from batchsolve.problems.rules import (
    Cells,
    Rules,
    houses_of,
    layout,
    n_regions,
    plain,
    regions_of,
)
from batchsolve.problems.sudoku import Sudoku
from batchsolve.problems.variant import Variant, grid_problem, grid_rules

RULES, REGIONS = "rules", "regions"
OWN = CAGES, SUMS, MARKS, PAIRS, CONSTRAINTS = "cages", "sums", "marks", "pairs", "constraints"
COLUMNS = RULES, REGIONS, *OWN
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
    drawing : str, optional
        The cells of grids that overlap; by default, grids are square.
    fixed : GridProblem, optional
        The problem of rows without rules of their own, in place of those above.
    names : tuple of str
        The columns that give rows others: some of `COLUMNS`.
    """

    n_digits: int
    box: tuple[int, int] | None = None
    rules: str | None = None
    regions: str | None = None
    drawing: str | None = None
    fixed: GridProblem | None = None
    names: tuple[str, ...] = ()

    @property
    def known_digits(self) -> int | None:
        """Number of digits, as far as the box, the regions or the problem tell it."""
        if self.fixed is not None:
            return self.fixed.n_digits
        if self.box is not None:
            return self.box[0] * self.box[1]
        if self.drawing is not None:
            return 9
        return None if self.regions is None else n_regions(self.regions)

    @property
    def key_width(self) -> int:
        """Number of digits that tell a row from others: its grid, its regions and its rules."""
        n_cells = self.main_problem.n_cells
        n_grids = 1 + (REGIONS in self.names and REGIONS not in self._hashed)
        return n_cells * n_grids + _RULE_DIGITS * bool(self._hashed)

    @property
    def _hashed(self) -> list[str]:
        """The columns whose values tell rows apart by a hash."""
        return [name for name in self.names if name != REGIONS or self.drawing is not None]

    @property
    def kind(self) -> tuple[str, tuple[str, ...]]:
        """What the rows of two corpora must share if they are to be compared."""
        return self.main_problem.fingerprint, self.names

    def key_digits(
        self, puzzles: npt.NDArray[np.uint8], columns: dict[str, pa.Array]
    ) -> npt.NDArray[np.uint8]:
        """Return the digits that tell rows apart, shape (n, key_width)."""
        digits = [puzzles]
        hashed = self._hashed
        if REGIONS in self.names and REGIONS not in hashed:
            digits.append(_regions(columns[REGIONS], self.n_digits, {}))
        if hashed:
            each = np.zeros((len(puzzles), _RULE_DIGITS), np.uint8)
            own_columns = {name: columns[name] for name in hashed}
            found = _by_texts(own_columns, (RULES, REGIONS, *OWN), np.arange(len(puzzles)))
            for (rules, regions, *own), rows in found:
                names = sorted(name.strip() for name in rules.lower().split("+"))
                with suppress(ProblemError):  # rows with wrong rules are not compared
                    houses = self._drawn_regions(regions) if regions else []
                    said = names, houses, own_rules(self.n_digits, tuple(own), self.drawing or "")
                    digest = hashlib.sha256(repr(said).encode()).digest()
                    each[rows] = np.frombuffer(digest, np.uint8)
            digits.append(each)
        return np.concatenate(digits, axis=1) if len(digits) > 1 else puzzles

    @property
    def main_problem(self) -> GridProblem:
        """The problem of rows without rules of their own; of rows and columns if none has boxes."""
        try:
            return self.problem()
        except InputError:
            if not {REGIONS, CONSTRAINTS}.intersection(self.names):
                raise
            return Variant(self._rules(self.rules, has_boxes=False))

    def _rules(
        self, rules: str | None, regions: str | None = None, has_boxes: bool = True
    ) -> Rules:
        """Return the rules of a row with these names and regions."""
        return grid_rules(self.n_digits, self.box, rules, regions, has_boxes, self.drawing)

    def _drawn_regions(self, text: str) -> list[Cells]:
        """Return the regions of grids that overlap."""
        assert self.drawing is not None
        return houses_of(drawn_labels(text, self.drawing), self.n_digits)

    def problem(self, rules: str = "", regions: str | None = None) -> GridProblem:
        """Return the problem of rows with these rules, and regions, of their own."""
        if self.fixed is not None:
            return self.fixed
        names, regions = self._all(rules), regions or self.regions
        return grid_problem(self.n_digits, self.box, names, regions, self.drawing)

    def _all(self, *rules: str) -> str | None:
        """Return the named rules of all rows and these."""
        return "+".join(filter(None, (self.rules, *map(str.strip, rules)))) or None

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
        if REGIONS in columns and self.drawing is None:
            regions = _regions(columns[REGIONS], self.n_digits, faults)
        parts: list[Part] = []
        for (rules, *own), rows in _by_texts(columns, (RULES, *OWN), np.arange(n)):
            good = np.array([row for row in rows.tolist() if row not in faults], np.int64)
            if not good.size:
                continue
            try:
                if any(own) or self.drawing is not None:
                    parts += self._parts_of_own(rules, tuple(own), good, columns)
                else:
                    with _column_named(RULES):
                        parts += self._parts_of(rules, good, columns.get(REGIONS), regions)
            except (InputError, ProblemError) as error:
                faults |= dict.fromkeys(good.tolist(), str(error))
        return parts

    def _parts_of_own(
        self,
        rules: str,
        own: tuple[str, ...],
        rows: npt.NDArray[np.int64],
        columns: dict[str, pa.Array],
    ) -> list[Part]:
        """Return the parts of rows with the same rules of their own."""
        said = own_rules(self.n_digits, own, self.drawing or "")
        parts: list[Part] = []
        for (text,), some in _by_texts(columns, (REGIONS,), rows):
            if isinstance(self.fixed, Variant):
                base = self.fixed.rules
            elif isinstance(self.fixed, Sudoku):
                base = plain(self.fixed.box_rows, self.fixed.box_columns)
            else:
                names, regions = self._all(rules, *said.names), text or self.regions
                with _column_named(RULES):
                    base = self._rules(names, regions, said.has_boxes)
            with _column_named(CONSTRAINTS):
                parts.append((Variant(said.on(base)), some))
        return parts

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
        shared = self._rules(self._all(rules), has_boxes=False)
        whole = regions.copy()
        whole[regions[:, 0] == _NONE] = regions[own[0]]  # rows that this part does not have
        return [*parts, (Jigsaws(shared, whole), own)]


@contextmanager
def _column_named(name: str) -> Iterator[None]:
    """Name a column in errors of its values."""
    try:
        yield
    except ProblemError as error:
        raise ProblemError(f"column {name!r}: {error}") from error


@lru_cache(maxsize=4096)
def own_rules(n: int, texts: tuple[str, ...], drawing: str = "") -> GridRules:
    """Return the rules of a row, given the texts of the columns `OWN`; see `GridRules`.

    Raises
    ------
    ProblemError
        If a text is malformed, or says what rules here cannot say; it names the column.

    Examples
    --------
    >>> own_rules(2, ("AA..", "A=3", "", "r1c1<r1c2", "")).pairs
    [(0, 1, 'less')]
    """
    rules = GridRules(n, drawing)
    cages, sums, marks, pairs, constraints = map(str.strip, texts)
    if cages or sums:
        with _column_named(CAGES):
            read_cages(cages, sums, rules)
    read = read_f_puzzle if constraints.startswith("{") else read_constraints
    for name, text, add in (
        (MARKS, marks, read_marks),
        (PAIRS, pairs, read_pairs),
        (CONSTRAINTS, constraints, read_sumocue if constraints.startswith("3x3:") else read),
    ):
        if text:
            with _column_named(name):
                add(text, rules)
    return rules


def _by_texts(
    columns: dict[str, pa.Array], names: Sequence[str], rows: npt.NDArray[np.int64]
) -> list[tuple[tuple[str, ...], npt.NDArray[np.int64]]]:
    """Return the different texts of some rows in some columns, and the rows that have them.

    A column that is not there has empty texts.
    """
    there = [name for name in names if name in columns]
    if not there:
        return [(("",) * len(names), rows)]
    texts = [columns[name].fill_null("").take(pa.array(rows)).to_pylist() for name in there]
    found: dict[tuple[str, ...], list[int]] = {}
    for row, each in zip(rows.tolist(), zip(*texts, strict=True), strict=True):
        found.setdefault(each, []).append(row)
    return [
        (tuple(dict(zip(there, each, strict=True)).get(name, "") for name in names), np.array(some))
        for each, some in found.items()
    ]


_RULE_DIGITS = 32  # of the hash of rules
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
