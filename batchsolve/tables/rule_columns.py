"""Columns that give rows own rules: named rules, regions, cages, marks, pairs of cells.

A block of rows falls into parts, each with its problem. Rows that share houses and named rules are
one part, because an engine can search them side by side: each may have its own regions, cages,
marks and pairs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa

from batchsolve.core import native
from batchsolve.core.arrays import Bools, Bytes, Ints
from batchsolve.errors import InputError, ProblemError, malformed
from batchsolve.formats.other_programs import read_constraints
from batchsolve.formats.rule_texts import RuleReader, read_cages, read_marks, read_pairs
from batchsolve.problems import sudoku
from batchsolve.problems.exact_cover import check_kind
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import buffers, default_box
from batchsolve.problems.rules import NO_SUM, OwnRules, Rules, boxes, n_regions, regions_of
from batchsolve.settings.arguments import names_in
from batchsolve.tables.columns import have_text

RULES, REGIONS = "rules", "regions"
OWN = CAGES, SUMS, MARKS, PAIRS, CONSTRAINTS = "cages", "sums", "marks", "pairs", "constraints"
COLUMNS = RULES, REGIONS, *OWN
"""The names of the columns."""
ARITHMETIC = SUMS, MARKS, PAIRS, CONSTRAINTS
"""Those whose rules speak of the values of digits, which are 1 to N."""
SIZED = REGIONS, CAGES, CONSTRAINTS
"""Those that tell the size of a grid, the most reliable first."""

Part = tuple[GridProblem, Ints]
"""A problem, and the rows of a block that are its grids."""


OwnTexts = dict[str, pa.Array]
"""Columns as text, by name."""


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
        The problem of rows without own rules, in place of those above.
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
            check_kind(self.fixed, GridProblem)
            return self.fixed.n_digits
        if self.box is not None:
            return self.box[0] * self.box[1]
        return None if self.regions is None else n_regions(self.regions)

    @property
    def need_boxes(self) -> bool:
        """True if grids without boxes have no rules: no column gives them regions."""
        return not {REGIONS, CONSTRAINTS}.intersection(self.names)

    def key_digits(self, puzzles: Bytes, columns: OwnTexts) -> Bytes:
        """Return digits that tell rows apart: the grid, the regions and a hash of other rules."""
        digits, every = [puzzles], np.arange(len(puzzles))
        hashed = list(self.names)
        if REGIONS in hashed and self.drawing is None:
            hashed.remove(REGIONS)
            digits.append(self._regions(columns[REGIONS], every, {}))
        if hashed:
            hashes = np.zeros((len(puzzles), _RULE_DIGITS), np.uint8)
            present = {name: columns[name] for name in hashed if name in columns}
            for (rules, regions, *texts), rows in _by_texts(present, (RULES, REGIONS, *OWN), every):
                with suppress(ProblemError):  # rows with wrong rules are not compared
                    drawing = self.drawing or ""
                    labels = sudoku.drawn_labels(regions, drawing) if regions.strip() else []
                    houses = regions_of(labels, self.n_digits)
                    key = own_rules(self.n_digits, tuple(texts), drawing).key(*names_in(rules))
                    digest = hashlib.sha256(repr((houses, key)).encode()).digest()
                    hashes[rows] = np.frombuffer(digest, np.uint8)
            digits.append(hashes)
        return np.concatenate(digits, axis=1) if len(digits) > 1 else puzzles

    def problem(self, rules: str = "", regions: str | None = None) -> GridProblem:
        """Return the problem of rows with these own rules and regions."""
        named = self.box, self._all(rules), regions or self.regions, self.drawing
        return sudoku.chosen_problem(self.fixed, self.n_digits, *named)

    def _all(self, *rules: str) -> str | None:
        """Return the named rules of all rows and these."""
        names = "+".join(filter(None, map(str.strip, rules)))
        layout, _ = sudoku.split_layout(names)
        if layout is not None and self.drawing is None:
            sudoku.check_layout(layout, sudoku.square_drawing(self.n_digits))
        return "+".join(filter(None, (self.rules, names))) or None

    def parts(self, rows: Ints, columns: OwnTexts, faults: dict[int, str]) -> list[Part]:
        """Return the parts of some rows of a block; add the faults of rows with wrong rules.

        Parameters
        ----------
        rows : ndarray of int64
        columns : dict of str to pyarrow.Array
            The columns that are there, one or more, as text, with all rows of the block.
        faults : dict of int to str
            The faults of rows of the block; those rows are in no part.
        """
        n = len(next(iter(columns.values())))
        regions = np.empty((n, 0), np.uint8)
        if REGIONS in columns and self.drawing is None:
            regions = self._regions(columns[REGIONS], rows, faults)
        is_good = np.ones(n, np.bool_)
        is_good[list(faults)] = False
        has_own = _have_any_text(columns, OWN, n) | (self.drawing is not None)
        has_regions = (regions != _NONE).any(axis=1)
        parts: list[Part] = []
        for (rules,), alike in _by_texts(columns, (RULES,), rows[is_good[rows]]):
            for with_regions in (False, True):
                subset = alike[has_regions[alike] == with_regions]
                given = regions if with_regions else regions[:, :0]
                own_rows, plain = subset[has_own[subset]], subset[~has_own[subset]]
                if own_rows.size:
                    parts += self._parts_of_own(rules, own_rows, columns, given, faults)
                if plain.size:
                    with _faults_of(plain, faults), _column_named(rules=rules):
                        parts.append((self._problem_of(rules, plain, columns, given), plain))
        return parts

    def _regions(self, column: pa.Array, rows: Ints, faults: dict[int, str]) -> Bytes:
        """Return the region of each cell of every row; add the faults of rows with wrong regions.

        Only the values of `rows` are read. Rows whose regions are their boxes have none.
        """
        n, texts = self.n_digits, column.take(pa.array(rows))
        regions, wrong = _numbered_regions(texts, n)
        for place in np.flatnonzero(wrong).tolist():  # labels with separators, or a fault
            regions[place] = _NONE
            with _faults_of(rows[place : place + 1], faults), malformed(f"column {REGIONS!r}"):
                labels = sudoku.drawn_labels(texts[place].as_py(), sudoku.square_drawing(n))
                for region, cells in enumerate(regions_of(labels, n)):
                    regions[place, list(cells)] = region
        if self.regions is None and (box := self.box or default_box(n)):
            usual = np.empty(n * n, np.uint8)
            for region, cells in enumerate(boxes(*box)):
                usual[list(cells)] = region
            regions[(regions == usual).all(axis=1)] = _NONE
        all_regions = np.full((len(column), n * n), _NONE, np.uint8)
        all_regions[rows] = regions
        return all_regions

    def _problem_of(self, rules: str, rows: Ints, columns: OwnTexts, regions: Bytes) -> GridProblem:
        """Return the problem of rows whose own rules are regions, or none."""
        if not regions.size:
            return self.problem(rules)
        if (regions[rows] == regions[rows[0]]).all():
            return self.problem(rules, columns[REGIONS][int(rows[0])].as_py())
        row_rules = OwnRules.blank(len(regions))._replace(regions=_filled(regions, rows))
        return sudoku.Variants(self.base(rules, has_regions=True), row_rules)

    def base(
        self,
        rules: str = "",
        reader: RuleReader | None = None,
        text: str | None = None,
        has_regions: bool = False,
    ) -> Rules:
        """Return the rules of rows without what their own columns say.

        Parameters
        ----------
        rules : str
            The named rules of the rows.
        reader : RuleReader, optional
            Its names hold, too.
        text : str, optional
            The regions of all of them.
        has_regions : bool
            True if each has its own regions, which are not among the rules returned.
        """
        names = self._all(rules, *(reader.names if reader else ()))
        regions = None if has_regions else text or self.regions
        has_boxes = not has_regions and (reader is None or reader.has_boxes)
        if self.fixed is not None:
            named = self.box, names, regions if has_boxes else "", self.drawing
            return sudoku.chosen_problem(self.fixed, self.n_digits, *named).rules
        return sudoku.grid_rules(self.n_digits, self.box, names, regions, has_boxes, self.drawing)

    def _parts_of_own(
        self, rules: str, rows: Ints, columns: OwnTexts, regions: Bytes, faults: dict[int, str]
    ) -> list[Part]:
        """Return the parts of rows whose own columns say something; add the faults of others.

        The texts are read one by one, except for simple cages.
        """
        parts: list[Part] = []
        if CAGES in columns and SUMS in columns and self.drawing is None:
            simple = rows[~_have_any_text(columns, (MARKS, PAIRS, CONSTRAINTS), len(regions))[rows]]
            with _faults_of(simple, faults):
                with _column_named(rules=rules):
                    base = self.base(rules, has_regions=regions.size > 0)
                cages, is_read = _simple_cages(columns[CAGES], columns[SUMS], self.n_digits, simple)
                if is_read.any() and not (base.cages or base.marks):
                    read, rows = rows[is_read[rows]], rows[~is_read[rows]]
                    row_rules = cages._replace(regions=_filled(regions, read))
                    parts.append((sudoku.Variants(base, row_rules), read))
        alike: dict[Rules, list[tuple[Rules, Rules, Ints]]] = {}
        for (*texts, row_regions), members in _by_texts(columns, (*OWN, REGIONS), rows):
            row_regions = "" if row_regions.isspace() else row_regions
            with _faults_of(members, faults):
                reader = own_rules(self.n_digits, tuple(texts), self.drawing or "")
                with _column_named(rules=rules, regions=row_regions, constraints=texts[-1]):
                    base = self.base(rules, reader, row_regions)
                    shared = self.base(rules, reader, has_regions=True) if regions.size else base
                with _column_named(constraints=texts[-1]):
                    merged = reader.on(base).checked()
                beyond = merged.beyond(base)
                shared = replace(shared, houses=shared.houses + beyond.houses, cages=(), marks=())
                alike.setdefault(shared, []).append((merged, replace(beyond, houses=()), members))
        return parts + [_part_of(shared, entries, regions) for shared, entries in alike.items()]


def _simple_cages(cages: pa.Array, sums: pa.Array, n: int, rows: Ints) -> tuple[OwnRules, Bools]:
    """Return the cages of some rows of a block; True for each row that is read.

    The core reads those where each label is one character. Other rows are written in another way,
    or wrong, or have a cage with too many sets of digits: `read_cages` tells.

    Parameters
    ----------
    cages, sums : pyarrow.Array
        The texts of all rows of the block.
    n : int
        Number of digits.
    rows : ndarray of int64
        The rows to read; all others get no cages.

    Examples
    --------
    >>> rules, is_read = _simple_cages(pa.array(["AA.B"]), pa.array(["A=3 B=?"]), 2, np.arange(1))
    >>> rules.totals[0], rules.cells_of.tolist(), rules.cage_cells.tolist()
    (np.int64(3), [0, 2, 3], [0, 1, 3])
    """
    is_wanted = np.zeros(len(cages), np.uint8)
    is_wanted[rows] = 1
    result = native.read_cages(buffers(cages), buffers(sums), n, is_wanted, NO_SUM)
    cages_of, totals, (cells_of, cells), is_read = result
    row_rules = OwnRules.blank(len(cages))._replace(
        cages_of=cages_of, totals=totals, cells_of=cells_of, cage_cells=cells
    )
    if (too_large := row_rules.with_too_many_sets(n)).size:
        return _simple_cages(cages, sums, n, np.setdiff1d(rows, too_large))
    return row_rules, is_read.view(np.bool_)


def _part_of(shared: Rules, entries: list[tuple[Rules, Rules, Ints]], regions: Bytes) -> Part:
    """Return the part of rows of a block with these regions whose houses are the same but for them.

    Each entry has all rules of some rows, those beyond the shared ones, and the rows.
    """
    if len(entries) == 1:
        merged, _, rows = entries[0]
        return GridProblem(merged), rows
    row_rules = [Rules(shared.n_digits, shared.places, ())] * len(regions)
    for _, beyond, rows in entries:
        for row in rows.tolist():
            row_rules[row] = beyond
    rows = np.sort(np.concatenate([rows for _, _, rows in entries]))
    return sudoku.Variants(shared, OwnRules.of(row_rules, _filled(regions, rows))), rows


def _have_any_text(columns: OwnTexts, names: Sequence[str], n: int) -> Bools:
    """Return True for each row that has a text in one of these columns."""
    have_texts = (have_text(columns[name]) for name in names if name in columns)
    return np.logical_or.reduce([np.zeros(n, np.bool_), *have_texts])


def _filled(regions: Bytes, rows: Ints) -> Bytes:
    """Return regions in which all rows but these have those of the first of these."""
    filled = np.broadcast_to(regions[rows[0]], regions.shape).copy()
    filled[rows] = regions[rows]
    return filled


@contextmanager
def _faults_of(rows: Ints, faults: dict[int, str]) -> Iterator[None]:
    """Make an error the fault of these rows, unless they have one."""
    try:
        yield
    except (InputError, ProblemError) as error:
        for row in rows.tolist():
            faults.setdefault(row, str(error))


def _column_named(**texts: str) -> AbstractContextManager[None]:
    """Name the first of these columns that has a text in errors that come of any of them."""
    names = [name for name, text in texts.items() if text.strip()]
    return malformed(f"column {names[0]!r}") if names else nullcontext()


_READERS = {MARKS: read_marks, PAIRS: read_pairs, CONSTRAINTS: read_constraints}


@lru_cache(maxsize=4096)
def own_rules(n: int, texts: tuple[str, ...], drawing: str = "") -> RuleReader:
    """Return the rules of a row, given the texts of the columns `OWN`; see `RuleReader`.

    Raises
    ------
    ProblemError
        If a text is malformed, or says what rules here cannot say; it names the column.

    Examples
    --------
    >>> own_rules(2, ("AA..", "A=3", "", "r1c1<r1c2", "")).pairs
    [(0, 1, 'less')]
    """
    rules = RuleReader(n, drawing)
    cages, sums, *others = map(str.strip, texts)
    if cages or sums:
        with malformed(f"column {CAGES!r}"):
            read_cages(cages, sums, rules)
    for (name, add), text in zip(_READERS.items(), others, strict=True):
        if text:
            with malformed(f"column {name!r}"):
                add(text, rules)
    return rules


def _by_texts(
    columns: OwnTexts, names: Sequence[str], rows: Ints
) -> list[tuple[tuple[str, ...], Ints]]:
    """Return the different texts of some rows in some columns, and the rows that have them.

    A column that is not there has empty texts.
    """
    if not len(rows):
        return []
    present = {
        name: columns[name].take(pa.array(rows)).fill_null("") for name in names if name in columns
    }
    if not present:
        return [(("",) * len(names), rows)]
    table = pa.table({**present, "row": rows}).group_by(list(present), use_threads=False)
    groups = table.aggregate([("row", "list")])
    texts = [groups[name].to_pylist() if name in present else [""] * len(groups) for name in names]
    lists = groups["row_list"].combine_chunks()
    members = np.split(lists.values.to_numpy(), lists.offsets.to_numpy()[1:-1])
    return sorted(zip(zip(*texts, strict=True), members, strict=True), key=lambda pair: pair[1][0])


_RULE_DIGITS = 32  # of the hash of rules
_NONE = 255  # the region of the cells of a row that gives none


def _numbered_regions(texts: pa.Array, n: int) -> tuple[Bytes, Bools]:
    """Return the regions of grids of n × n labels of a byte, numbered by their first cells.

    Returns
    -------
    regions : ndarray of uint8, shape (number of texts, n * n)
        `_NONE` in rows that are blank or wrong.
    wrong : ndarray of bool
        True for texts that are not blank, and do not have n labels of n cells each.
    """
    offsets, data = buffers(texts)
    wrong = have_text(texts)
    places = np.flatnonzero(np.diff(offsets) == n * n)
    labels = data[offsets[places, None] + np.arange(n * n)]
    numbers = np.full(labels.shape, _NONE, np.uint8)
    right = (labels < 128).all(axis=1)  # others are parts of characters
    for region in range(n):
        first = (numbers == _NONE).argmax(axis=1)
        is_in = labels == np.take_along_axis(labels, first[:, None], axis=1)
        right &= np.count_nonzero(is_in, axis=1) == n
        np.copyto(numbers, np.uint8(region), where=is_in)
    regions = np.full((len(texts), n * n), _NONE, np.uint8)
    regions[places[right]] = numbers[right]
    wrong[places[right]] = False
    return regions, wrong
