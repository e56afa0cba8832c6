"""Repeated puzzles: `dedupe` leaves them out of a table; `audit` counts them in two.

Workers compute the keys of the rows of a block: hashes of puzzles or of their canonical forms.
The main process looks the keys up in a table, block after block in the order of the input. Then
workers write the rows that are kept (`batchsolve.search.rows`). Memory holds only the keys.

The audit is of a training and a test table: faults of rows, and leaks between the two. A leak is a
test row with the puzzle of a training row, or with its solution and other clues; each as it is
written, and up to symmetry.

A key is a hash of 128 bits, drawn from a *universal* family: any two different grids collide with
probability 2⁻¹²⁸ over the random choice of the hash (multilinear hashing, Carter and Wegman 1979;
Lemire and Kaser 2014). Every run draws a secret, from which SHAKE-256 makes a hash for each kind
of grids, so no file can be made to collide: among ten million puzzles, two collide in one of 10²⁴
runs.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from typing import Any, ClassVar, Unpack, overload

import numpy as np
import pyarrow as pa

from batchsolve.core import native
from batchsolve.core.arrays import Bools, Bytes, Ints, Words
from batchsolve.errors import InputError, InWords, counted, listed
from batchsolve.problems.grid_symmetries import check_shape
from batchsolve.runs.outputs import Parts, output_at
from batchsolve.runs.progress import Summary, Sums, note_columns
from batchsolve.runs.specs import Spec, Tell, outputs_of, refuse_own_output, run_with, table_or_file
from batchsolve.search.rows import Answers, Status, Write
from batchsolve.settings import PROVES_UNIQUENESS, DedupeSettings, FileSettings
from batchsolve.settings.arguments import FileName, each_of, path_of, table_or_each
from batchsolve.settings.keywords import AuditFields, DedupeFields, settings_of
from batchsolve.tables.answers import Found, OutputRows, RowSums, RowTable, RowValues
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.detection import check_read_once, files_and_tables
from batchsolve.tables.frames import Frame, with_columns_of
from batchsolve.tables.places import name_of
from batchsolve.tables.reader import Batch, Reader, Shape, forms_of_shape
from batchsolve.tables.sources import Block
from batchsolve.workers import LOG, Pool

FIRST = "first"
"""The column of the first row with the same puzzle."""

# ---- keys of rows ---------------------------------------------------------------------------

UNSEEN = -1
"""The row number of an empty slot."""

FORM = "_up_to_symmetry"
"""The end of the names of keys of canonical forms."""

PUZZLE_FORM = f"puzzle{FORM}"
KEYS = ("puzzle", "solution", PUZZLE_FORM, f"solution{FORM}")
"""The names of the keys of solved rows."""

_FIRST_SLOTS = 1 << 16
_MOST_LOAD = 0.7  # of the slots, so that a look-up probes only a few
_HASHES = 4  # of 32 bits each


def grid_keys(secret: bytes, kind: object, grids: Bytes) -> Words:
    """Return the keys, shape (n, 2), of grids of shape (n, number of cells).

    A key is a hash of 128 bits, drawn from a universal family (multilinear hashing: L. Carter and
    M. Wegman, Universal classes of hash functions, 1979; D. Lemire and O. Kaser, Strongly universal
    string hashing is fast, 2014): four sums of a factor and of the words of a grid, each times a
    factor, of which the upper halves count. The hash of each kind of grids has other factors.

    Examples
    --------
    >>> grids = np.array([[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 4, 3]], np.uint8)
    >>> keys = grid_keys(b"secret", "2x2", grids).tolist()
    >>> keys[0] == keys[1], keys[0] == keys[2]
    (True, False)
    """
    shape = (_HASHES, 1 + -(-grids.shape[1] // 4))  # a word is four cells
    data = hashlib.shake_256(secret + repr(kind).encode()).digest(8 * shape[0] * shape[1])
    factors = np.frombuffer(data, np.uint64).reshape(shape).T
    cells = np.zeros((len(grids), 4 * (shape[1] - 1)), np.uint8)
    cells[:, : grids.shape[1]] = grids
    sums = cells.view(np.uint32).astype(np.uint64) @ factors[1:] + factors[0]
    return np.ascontiguousarray(sums.view(np.uint32)[:, 1::2]).view(np.uint64)


def _empty_table(slots: int) -> tuple[Words, Ints]:
    return np.empty((slots, 2), np.uint64), np.full(slots, UNSEEN, np.int64)


Keys = dict[str, tuple[Words, Bools]]
"""The keys of rows by their names, some of `KEYS`: of shape (n, 2), and True for rows with one."""


@dataclass
class Seen:
    """The keys of all rows so far. Known rows, with which others are compared, come first.

    Attributes
    ----------
    secret : bytes
        A random text, from which the factors of hashes come.
    n_rows, n_known : int
        Numbers of rows so far, and of known ones among them.

    Notes
    -----
    For each name, a hash table holds the keys, each with the number of its first row. A slot takes
    24 bytes, and at most 0.7 of the slots are used; ten million rows take 403 MB, and half as much
    again while the table doubles.

    Examples
    --------
    >>> seen, grids = Seen(), np.array([[1, 2], [2, 1], [1, 2], [0, 0]], np.uint8)
    >>> keys = grid_keys(seen.secret, "1x2", grids), np.array([True, True, True, False])
    >>> [seen.first_rows({"puzzle": keys})["puzzle"].tolist() for _ in range(2)]
    [[-1, -1, 0, -1], [0, 1, 0, -1]]
    """

    secret: bytes = field(default_factory=partial(secrets.token_bytes, 32))
    n_rows: int = 0
    n_known: int = 0
    _tables: dict[str, tuple[Words, Ints, int]] = field(default_factory=dict)

    def first_rows(self, keys: Keys) -> dict[str, Ints]:
        """Add the keys of the next rows; return the first row with each, or `UNSEEN`."""
        first = {name: self._add(name, *pair) for name, pair in keys.items()}
        self.n_rows += len(next(iter(first.values())))
        return first

    def _add(self, name: str, keys: Words, counted: Bools) -> Ints:
        """Add the keys of the next rows to the table of a name; return the first row with each.

        Rows that are not `counted` have no key, and stay unseen.
        """
        table, firsts, n = self._tables.get(name) or (*_empty_table(_FIRST_SLOTS), 0)
        slots = len(firsts)
        while n + len(keys) > _MOST_LOAD * slots:
            slots *= 2
        if slots > len(firsts):
            old_table, old_firsts = table, firsts
            table, firsts = _empty_table(slots)
            native.add_keys(table, firsts, old_table, old_firsts != UNSEEN, old_firsts)
        rows = np.arange(self.n_rows, self.n_rows + len(keys))
        found: Ints = native.add_keys(table, firsts, keys, counted, rows)
        self._tables[name] = table, firsts, n + int(np.count_nonzero(counted & (found == UNSEEN)))
        return found

    def is_known(self, first: Ints) -> Bools:
        """Return True for each row whose first row is a known one."""
        return (first != UNSEEN) & (first < self.n_known)


def row_keys(secret: bytes, names: Sequence[str], batch: Batch, answers: None = None) -> OutputRows:
    """Return the `Keys` of rows that are not solved, by their puzzles and given solutions.

    Invalid rows have none. The sums are ``invalid`` and ``undecided`` rows.

    Parameters
    ----------
    secret : bytes
        See `Seen`.
    names : sequence of str
        Some of `KEYS`; those of solutions only if there are given ones.
    batch : Batch
    answers : None
    """
    is_valid = batch.first_clashes() < 0
    sums = RowSums({"invalid": int(np.count_nonzero(~is_valid))})
    return _row_keys(secret, names, batch, is_valid, [grids.given for grids in batch.grids], sums)


def solved_keys(secret: bytes, names: Sequence[str], batch: Batch, answers: Answers) -> OutputRows:
    """Return the `Keys` of solved rows, by their puzzles and solutions.

    Invalid rows have none, even if they have a given solution.

    Parameters
    ----------
    secret : bytes
        See `Seen`.
    names : sequence of str
        Some of `KEYS`.
    batch : Batch
        A given solution that is right is the solution of a puzzle that has several; that of other
        puzzles is the one that was found.
    answers : Answers
    """
    values = RowValues(batch, answers, PROVES_UNIQUENESS)
    sums, is_valid = values.sums, values.status != Status.INVALID
    is_unique = values.status == Status.UNIQUE
    if batch.has_given:
        _, sums.counts["disagree"] = values.agreement()
    solutions = []
    for grids, (digits, places, _) in zip(batch.grids, values.solved, strict=True):
        solution = np.zeros_like(grids.puzzles)
        solution[places] = digits
        solution[~is_unique[grids.rows]] = 0
        if batch.has_given:
            right = is_valid[grids.rows] & ~is_unique[grids.rows]
            right[right] = batch.check(grids.rows[right])
            solution[right] = grids.given[right]
        solutions.append(solution)
    return _row_keys(secret, names, batch, is_valid, solutions, sums)


def _row_keys(
    secret: bytes,
    names: Sequence[str],
    batch: Batch,
    is_valid: Bools,
    solutions: Sequence[Bytes],
    sums: RowSums,
) -> OutputRows:
    """Return the `Keys` of valid rows, and of their solutions, which are 0 where there is none.

    The sums have the ``undecided`` rows, whose canonical form was not found: they are compared as
    they are written. They name the first row that is invalid or undecided.
    """
    n, undecided = len(batch), list[int]()
    keys = {name: (np.zeros((n, 2), np.uint64), np.zeros(n, np.bool_)) for name in names}
    for grids, solution in zip(batch.grids, solutions, strict=True):
        rules, problem, rows = grids.shape.rules, grids.shape.problem, grids.rows
        for name in names:
            cells, has = grids.puzzles, is_valid[rows]
            is_puzzle = name.startswith("puzzle")
            if not is_puzzle:
                cells, has = solution, has & (solution > 0).all(axis=1)
            if name.endswith(FORM):  # of solutions, also of rows with own rules
                may_have = grids.are_plain if is_puzzle else problem.first_clashes(solution) < 0
                cells, places = _with_forms(grids.shape, cells, np.flatnonzero(has & may_have))
                without = np.setdiff1d(np.flatnonzero(has), places)
                undecided += rows[without].tolist() if is_puzzle else []
            kind: object = "solution", cells.shape[1]
            if is_puzzle:  # equal puzzles have the same kind
                kind, cells = (problem.fingerprint, rules.names), rules.key_digits(cells, grids.own)
            keys[name][0][rows] = grid_keys(secret, kind, cells)
            keys[name][1][rows] = has
    faulty = [*np.flatnonzero(~is_valid)[:1].tolist(), *undecided]
    first = (min(faulty), "invalid, or without a canonical form") if faulty else None
    counts = sums.counts | {"undecided": len(undecided)}
    return OutputRows(keys, n, sums._replace(counts=counts, first_invalid=first))


def _with_forms(shape: Shape, cells: Bytes, places: Ints) -> tuple[Bytes, Ints]:
    """Return grids with the canonical forms of some, and the places of those that have one.

    A grid whose form was not found is not the form of another.
    """
    found, forms, _ = forms_of_shape(shape, cells, places)
    cells = cells.copy()
    cells[found] = forms
    return cells, found


# ---- dedupe ---------------------------------------------------------------------------------


@dataclass(repr=False)
class DedupeSummary(Sums):
    """The result of `dedupe`; see `Sums`. Invalid rows are kept.

    Attributes
    ----------
    kept : int
        Rows with a new puzzle, and invalid rows.
    repeated : int
        Rows whose puzzle an earlier row has.
    known : int
        Rows whose puzzle is in the files of ``against``; no other field counts them.
    undecided : int
        Rows whose canonical form was not found; only exact copies of them are left out.
    known_rows, known_invalid : int
        Rows of the files of ``against``, and how many of them are invalid.
    same_solution : int
        Rows that are kept although a row of ``against`` has their solution, with other clues: in
        the column of given solutions.

    Examples
    --------
    >>> counts = {"rows": 5, "kept": 3, "repeated": 1, "known": 1, "invalid": 1}
    >>> print(DedupeSummary(**counts, seconds=0.5, rows_per_second=10))
    5 rows: 3 kept (1 of them invalid), 1 repeated, 1 known; 0.5 s, 10 rows/s
    """

    kept: int = 0
    repeated: int = 0
    known: int = 0
    undecided: int = 0
    known_rows: int = 0
    known_invalid: int = 0
    same_solution: int = 0
    in_bar: ClassVar[tuple[str, ...]] = ("kept",)

    @property
    def complete(self) -> bool:
        """True if every puzzle was compared, those of ``against`` included."""
        return not (self.invalid or self.undecided or self.known_invalid)

    def __str__(self) -> str:
        doubts = {"invalid": self.invalid, "without a canonical form": self.undecided}
        notes = ", ".join(f"{n:,} of them {words}" for words, n in doubts.items() if n)
        parts = [f"{self.kept:,} kept" + (f" ({notes})" if notes else "")]
        counts = {"repeated": self.repeated, "known": self.known}
        counts["invalid in the files of --against"] = self.known_invalid
        parts += [f"{n:,} {words}" for words, n in counts.items() if n]
        alike = ""
        if self.same_solution:
            rules = " --rule-columns none" if self.rule_columns else ""
            alike = (
                f"; same solution, other clues: {self.same_solution:,} "
                f"(--column {self.solution_column}{rules} finds them)"
            )
        return f"{self.said(parts)}{alike}"


@overload
def dedupe(inputs: Any, output: FileName, **settings: Unpack[DedupeFields]) -> DedupeSummary: ...


@overload
def dedupe(inputs: Frame, output: None = None, **settings: Unpack[DedupeFields]) -> Frame: ...


@overload
def dedupe(inputs: Any, output: None = None, **settings: Unpack[DedupeFields]) -> pa.Table: ...


def dedupe(inputs: Any, output: FileName | None = None, **settings: Unpack[DedupeFields]) -> Any:
    r"""Leave out the rows whose puzzle is in an earlier row or in another table.

    Puzzles are equal if their digits and their rules are equal, in any order and form; but houses
    of a named rule, of ``regions`` and of ``constraints`` are told apart. The first row of each
    puzzle is kept with all its columns, in the order of the input. Invalid rows are kept too.

    Parameters
    ----------
    inputs : table, str or path, or a sequence of them
        A table as of `solve_table`, or files as of `solve_file`.
    output : str or path, optional
        ``.csv``, ``.tsv``, ``.jsonl`` (perhaps with ``.gz``, ``.bz2``, ``.zst``), ``.parquet``, or
        ``-`` for CSV on standard output. By default the rows are returned as a table.
    on_progress : callable or True, optional
        See `Progress`.
    **settings
        ``up_to_symmetry=True`` treats puzzles as equal if their canonical forms are equal
        (`canonical_forms`). ``against`` is a table, or the name of a file, folder or pattern, or a
        sequence of them: rows whose puzzle is in one of them are left out too. Rows that share only
        the solution with them are kept, and counted if both have a solution column;
        ``column="solution"`` compares solutions. ``mark=True`` keeps all rows, and adds a column
        ``first`` that names the first row with the same puzzle, such as ``test.csv#17``; it is
        empty in that row itself.
        ``jobs``, ``backend`` and ``address`` as in `solve_file`; and the settings of reading, whole
        as ``files``, or field by field: ``column``, ``solution_column``, ``alphabet``, ``blank``,
        ``box``, ``rules``, ``regions``, ``rule_columns``, ``chunk``, ``filename``.

    Returns
    -------
    DedupeSummary, or pandas.DataFrame, polars.DataFrame or pyarrow.Table
        Without an output, the rows that are kept, as a table of the library of `inputs`, or else of
        Arrow; the summary is logged.

    Raises
    ------
    InputError, OutputError
        See `batchsolve.errors`; then nothing is written.
    ProblemError
        If grids of this shape have no canonical form.

    Notes
    -----
    Puzzles are compared by hashes of 128 bits, drawn anew for each run: see
    `batchsolve.runs.repeats`. Ten million different puzzles take 403 MB, and half as much again
    while the table doubles; so do solutions, if those of ``against`` are compared.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> puzzles = ["1.....2..3.....4", "1000002003000004", "4.....3..1.....2"]
    >>> _ = (folder / "in.txt").write_text("\n".join(puzzles))
    >>> summary = dedupe(folder / "in.txt", folder / "out.csv")
    >>> summary.kept, summary.repeated
    (2, 1)
    >>> dedupe(folder / "in.txt", folder / "out.csv", up_to_symmetry=True).kept
    1
    """
    pool_settings, wanted, files = settings_of(dedupe, settings, DedupeSettings, FileSettings)
    others, role = each_of(wanted.against), "a file to compare with"
    inputs = table_or_each(inputs)
    sources = files_and_tables("the input", inputs)
    known = [files_and_tables(role, table, f"against[{k}]") for k, table in enumerate(others)]
    check_read_once(sources, *known)
    target = None if output is None else path_of("the output", output)
    if target is not None:
        if isinstance(output_at(target), Parts):
            raise InputError(f"{target}: name one file to write to, such as kept.parquet")
        for argument, paths in zip([inputs, *others], [sources, *known], strict=True):
            refuse_own_output(argument, paths, target)
    search = _Repeats(wanted, files)
    corpora = [Corpus(names, replace(files, filename=False), more_tables=True) for names in known]
    spec = search.over(Corpus(sources, files, more_tables=bool(known)), corpora)
    rows = table_or_file(spec, inputs, target, files, pool_settings)
    LOG.info("%s", search.totals)
    if rows is None:
        return search.totals
    is_kept = np.concatenate([np.zeros(0, np.bool_), *search.kept])
    return with_columns_of(rows, inputs, np.flatnonzero(is_kept | wanted.mark))


def check_same_rules(corpus: Corpus, other: Corpus) -> None:
    """Raise `InputError` if another corpus has other columns of rules."""
    ours, theirs = corpus.reader.main.rules.names, other.reader.main.rules.names
    if ours != theirs:
        raise InputError(
            f"{other.names}: the columns of rules are {listed(theirs) or 'none'}, and those of "
            f"{corpus.names} {listed(ours) or 'none'}; add what is missing, if need be empty: "
            f"to lines of text, a first line 'puzzle,{min({*ours} ^ {*theirs})}' and a comma after "
            f"each grid"
        )


Decision = tuple[Ints, dict[int, str] | None]
"""For each row of a block, the first row with the same puzzle, or `UNSEEN` if that is the row; and
the names of these rows, if rows are marked."""


def kept_table(mark: bool, reader: Reader) -> RowTable:
    """Return the output table: the rows that are kept, or all with a column ``first``.

    Raises
    ------
    InputError
        If the input has such a column.
    """
    if mark and FIRST in reader.schema.names:
        raise InputError(f"the input has a column {FIRST} already; rename it, or leave out `mark`")
    return RowTable(reader.schema, pa.schema({FIRST: pa.string()} if mark else {}), _kept)


def _kept(batch: Batch, decision: Decision) -> Found:
    """Return the rows of a batch that are kept; all of them if they are marked."""
    first, names = decision
    columns, table = {}, batch.table
    if names is not None:
        columns[FIRST] = pa.array(map(names.get, first.tolist()), pa.string())
    elif (first != UNSEEN).any():
        table = table.filter(pa.array(first == UNSEEN))
    return table, RowSums({"rows": len(batch)}), columns


@dataclass
class _Repeats:
    """The search for repeated puzzles of a run of `dedupe`."""

    wanted: DedupeSettings
    settings: FileSettings
    totals: DedupeSummary = field(default_factory=DedupeSummary)
    seen: Seen = field(default_factory=Seen)
    kept: list[Bools] = field(default_factory=list)  # True for each new row, block by block
    files: list[tuple[int, str]] = field(default_factory=list)  # first row and name of each
    source: int = -1  # the number of the file whose keys were looked up last

    def over(self, corpus: Corpus, others: Sequence[Corpus]) -> Spec:
        """Return the specification of *dedupe* over a corpus, given those of ``against``."""
        for other in others:
            check_same_rules(corpus, other)
        if self.wanted.up_to_symmetry:
            for table in (corpus, *others):
                check_shape(table.reader.main.problem)
        note_columns(self.totals, corpus)  # also where no run does it at its end
        given = [None not in (corpus.solution_column, other.solution_column) for other in others]
        learned = list(zip(others, map(self._keys, given), strict=True))
        begin, look = partial(self._learn, learned), self._keys(any(given))
        fields = "dedupe", corpus, corpus.reader, partial(kept_table, self.wanted.mark), self.totals
        return Spec(*fields, begin=begin, look=look, decide=self._decide)

    def _keys(self, with_solutions: bool) -> Write:
        """Return the function that makes the keys of a batch."""
        names = ("puzzle", "solution") if with_solutions else ("puzzle",)
        end = FORM if self.wanted.up_to_symmetry else ""
        return partial(row_keys, self.seen.secret, [f"{name}{end}" for name in names])

    def _learn(self, pairs: list[tuple[Corpus, Write]], pool: Pool, tell: Tell) -> None:
        """Add the keys of the files and tables of ``against``."""
        for corpus, write in pairs:
            spec = Spec("dedupe", corpus, corpus.reader, totals=self.totals)
            for block, output in outputs_of(spec, write, pool, tell, self.settings.chunk):
                self._look_up(block, output)
                self.totals.known_invalid += output.sums.counts["invalid"]
            self.source = -1
        self.totals.known_rows = self.seen.n_known = self.seen.n_rows

    def _decide(self, n_before: int, block: Block, findings: OutputRows) -> Decision:
        """Decide which rows of a block are kept, and count them."""
        first, *solutions = self._look_up(block, findings)
        is_new, is_known = first == UNSEEN, self.seen.is_known(first)
        masks = {"kept": [is_new], "known": [is_known], "repeated": [~is_new & ~is_known]}
        masks |= {"same_solution": [is_new & self.seen.is_known(rows) for rows in solutions]}
        counts = {name: int(np.count_nonzero(mask)) for name, mask in masks.items()}
        self.totals.add(RowSums(counts | findings.sums.counts))
        self.kept.append(is_new)
        if not self.wanted.mark:
            return first, None
        return first, {row: self._name_of(row) for row in np.unique(first[~is_new]).tolist()}

    def _look_up(self, block: Block, findings: OutputRows) -> Iterable[Ints]:
        """Return the first rows with the same keys, for the rows of the next block."""
        if block.source != self.source:
            self.source = block.source
            self.files.append((self.seen.n_rows, block.name))
        return self.seen.first_rows(findings.data).values()

    def _name_of(self, row: int) -> str:
        """Return the name of a row for `batchsolve show`."""
        first, name = self.files[bisect_right(self.files, row, key=itemgetter(0)) - 1]
        return f"{name}#{row - first + 1}"


# ---- audits ---------------------------------------------------------------------------------

LINES = {
    "rows": "rows",
    "invalid": "malformed, or with clues that clash",
    "unsolvable": "without a solution",
    "multiple": "with several solutions",
    "disagree": "given solution wrong",
    "undecided": "without a canonical form, compared as written",
    "repeated": "puzzle of an earlier row",
    "repeated_up_to_symmetry": "puzzle of an earlier row, up to symmetry",
    "puzzle": "puzzle of a training row",
    "puzzle_up_to_symmetry": "puzzle of a training row, up to symmetry",
    "solution": "solution of a training row, other clues",
    "solution_up_to_symmetry": "solution of a training row, up to symmetry",
}
LEAKS = 4  # lines of the test table alone


@dataclass(repr=False)
class AuditedTable(Summary):
    """The sums of one table of an `Audit`; see `Summary`.

    Attributes
    ----------
    undecided : int
        Rows whose canonical form was not found; they are compared as they are written.
    repeated, repeated_up_to_symmetry : int
        Rows whose puzzle an earlier row of this table has, and no training row.
    puzzle, puzzle_up_to_symmetry : int
        Test rows whose puzzle a training row has.
    solution, solution_up_to_symmetry : int
        Test rows whose solution a training row has, with other clues.

    Examples
    --------
    >>> AuditedTable(rows=9, puzzle_up_to_symmetry=2, solution_up_to_symmetry=1).leaks
    3
    """

    undecided: int = 0
    repeated: int = 0
    repeated_up_to_symmetry: int = 0
    puzzle: int = 0
    puzzle_up_to_symmetry: int = 0
    solution: int = 0
    solution_up_to_symmetry: int = 0

    @property
    def leaks(self) -> int:
        """Test rows with the puzzle or the solution of a training row, up to symmetry."""
        return self.puzzle_up_to_symmetry + self.solution_up_to_symmetry


@dataclass(frozen=True, repr=False)
class Audit(InWords):
    """The result of `audit`; ``str`` of it is a table.

    Attributes
    ----------
    train, test : AuditedTable
    checksums : dict of str to str
        The SHA-256 of each file.
    seconds : float

    Examples
    --------
    >>> train, test = AuditedTable(rows=9), AuditedTable(rows=2, puzzle_up_to_symmetry=1)
    >>> Audit(train, test, {}, 0.0)
    Audit(9 rows to train with, 2 to test; 1 test row leaks)
    """

    train: AuditedTable
    test: AuditedTable
    checksums: dict[str, str]
    seconds: float

    @property
    def complete(self) -> bool:
        """True if every row was compared, and no test row leaks."""
        tables = self.train, self.test
        return not (self.test.leaks or any(table.invalid or table.undecided for table in tables))

    @property
    def columns(self) -> list[str]:
        """The columns that were read of each table, in words."""
        return [f"train: {self.train.columns}", f"test: {self.test.columns}"]

    @property
    def facts(self) -> dict[str, Any]:
        """The counts of both tables, in JSON types."""
        pairs = (("train", self.train), ("test", self.test))
        tables = {name: {key: getattr(table, key) for key in LINES} for name, table in pairs}
        return {**tables, "leaks": self.test.leaks, "checksums": self.checksums}

    @property
    def in_short(self) -> str:
        """See `InWords`."""
        leaks = f"{counted(self.test.leaks, 'test row')} leak{'s' * (self.test.leaks == 1)}"
        return (
            f"{counted(self.train.rows, 'row')} to train with, {self.test.rows:,} to test; {leaks}"
        )

    def _lines(self) -> list[list[str]]:
        """Return the cells of the table, the heads first."""
        lines = [["", "train", "test"]]
        for k, (name, words) in enumerate(LINES.items()):
            numbers = [f"{getattr(table, name):,}" for table in (self.train, self.test)]
            if k >= len(LINES) - LEAKS:
                numbers[0] = ""
            lines.append([words, *numbers])
        return lines

    def __str__(self) -> str:
        from batchsolve.formats.pictures.svg import text_table  # only now: dedupe shows no table

        files = [f"{digest}  {name}" for name, digest in self.checksums.items()]
        return "\n".join([*files, *([""] if files else []), text_table(self._lines())])

    def _repr_html_(self) -> str:
        from batchsolve.formats.pictures.svg import html_table

        return html_table(self._lines())


def audit(train: Any, test: Any, **settings: Unpack[AuditFields]) -> Audit:
    """Count the faults of a training and a test table, and the leaks between them.

    Every puzzle is solved. A test row leaks if a training row has its puzzle, or its solution with
    other clues; both are counted as they are written, and up to symmetry.

    Parameters
    ----------
    train, test : table, or str or path, or a sequence of them
        Tables as of `solve_table`, or files as of `solve_file`.
    on_progress : callable or True, optional
        See `Progress`.
    **settings
        ``jobs``, ``backend`` and ``address`` as in `solve_file`; and the settings of reading, whole
        as ``files``, or field by field: ``column``, ``solution_column``, ``alphabet``, ``blank``,
        ``box``, ``rules``, ``regions``, ``rule_columns``, ``chunk``.

    Returns
    -------
    Audit

    Raises
    ------
    InputError
        If a table cannot be read, or the two have different columns of rules.

    Notes
    -----
    The solution of a row is the one that solving finds, if there is one only; otherwise the given
    one, if it is right. Malformed rows, and those with clues that clash, are compared with none.
    Grids with other rules have no canonical form, and are compared as they are written.

    Examples
    --------
    >>> import pyarrow as pa
    >>> train = pa.table({"puzzle": ["1.....2..3.....4"]})
    >>> test = pa.table({"puzzle": ["4.....3..2.....1", "12....2..3.....4", "12.............."]})
    >>> sums = audit(train, test).test
    >>> sums.puzzle_up_to_symmetry, sums.solution, sums.multiple, sums.leaks
    (1, 1, 1, 2)
    """
    begin = time.perf_counter()
    pool_settings, files = settings_of(audit, settings, FileSettings)
    tables = (("train", train), ("test", test))
    inputs = [files_and_tables(f"the {name} table", table, name) for name, table in tables]
    check_read_once(*inputs)
    corpora = [Corpus(sources, files, more_tables=True) for sources in inputs]
    check_same_rules(*corpora)
    sums, seen = [AuditedTable(), AuditedTable()], Seen()
    pool, told = run_with(**pool_settings)
    with told as tell, pool:
        for corpus, totals in zip(corpora, sums, strict=True):
            note_columns(totals, corpus)
            seen.n_known = seen.n_rows  # in the end, the rows of the first table
            spec = Spec("audit", corpus, corpus.reader, totals=totals).searched()
            keys = partial(solved_keys, seen.secret, KEYS)
            for _, rows in outputs_of(spec, keys, pool, tell, files.chunk):
                _count(seen, rows, totals)
    paths = [path for sources in inputs for path in sources if isinstance(path, str)]
    digests = {
        name_of(path): _digest(path) for path in paths if path != "-" and os.path.isfile(path)
    }
    return Audit(sums[0], sums[1], digests, time.perf_counter() - begin)


def _count(seen: Seen, rows: OutputRows, totals: AuditedTable) -> None:
    """Add the faults, the repeated puzzles and the leaks among the next rows."""
    counts, first = dict(rows.sums.counts), seen.first_rows(rows.data)
    for suffix in ("", FORM):
        puzzle, solution = (first[f"{name}{suffix}"] for name in ("puzzle", "solution"))
        same = seen.is_known(puzzle)
        masks = {
            "repeated": (puzzle != UNSEEN) & ~same,
            "puzzle": same,
            "solution": seen.is_known(solution) & ~same,
        }
        counts |= {f"{name}{suffix}": int(mask.sum()) for name, mask in masks.items()}
    totals.add(RowSums(counts))


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
