"""The audit of a training and a test table: faults of rows, and leaks between the two.

A leak is a test row with the puzzle of a training row, or with its solution and other clues; each
as it is written, and up to symmetry.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

from batchsolve.errors import InWords, counted
from batchsolve.pictures.page import html_table, text_table
from batchsolve.runs.dedupe import check_same_rules
from batchsolve.runs.progress import ROW_BAR, OnProgress, Summary, note_columns, shown
from batchsolve.runs.specs import Spec, outputs_of
from batchsolve.settings import AuditFields, FileSettings, settings_of
from batchsolve.tables.answers import RowSums
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.frames import files_and_tables
from batchsolve.tables.places import is_address
from batchsolve.tables.repeats import FORM, KEYS, UNSEEN, RowKeys, Seen, solved_keys
from batchsolve.workers import Pool

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
        each = self.train, self.test
        return not (self.test.leaks or any(one.invalid or one.undecided for one in each))

    @property
    def columns(self) -> list[str]:
        """The columns that were read of each table, in words."""
        return [f"train: {self.train.columns}", f"test: {self.test.columns}"]

    @property
    def facts(self) -> dict[str, Any]:
        """The counts of both tables, in JSON types."""
        pairs = (("train", self.train), ("test", self.test))
        tables = {name: {key: getattr(one, key) for key in LINES} for name, one in pairs}
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
            numbers = [f"{getattr(one, name):,}" for one in (self.train, self.test)]
            if k >= len(LINES) - LEAKS:
                numbers[0] = ""
            lines.append([words, *numbers])
        return lines

    def __str__(self) -> str:
        files = [f"{digest}  {name}" for name, digest in self.checksums.items()]
        return "\n".join([*files, *([""] if files else []), text_table(self._lines())])

    def _repr_html_(self) -> str:
        return html_table(self._lines())


def audit(
    train: Any, test: Any, *, on_progress: OnProgress = None, **settings: Unpack[AuditFields]
) -> Audit:
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
    >>> found = audit(train, test).test
    >>> found.puzzle_up_to_symmetry, found.solution, found.multiple, found.leaks
    (1, 1, 1, 2)
    """
    begin = time.perf_counter()
    workers, files = settings_of(audit, settings, FileSettings)
    inputs = [
        files_and_tables(f"the {n} table", t, n) for n, t in (("train", train), ("test", test))
    ]
    corpora = [Corpus(each, files) for each in inputs]
    check_same_rules(*corpora)
    sums, seen = [AuditedTable(), AuditedTable()], Seen()
    with shown(on_progress, ROW_BAR) as tell, Pool(**workers) as pool:
        for corpus, totals in zip(corpora, sums, strict=True):
            note_columns(totals, corpus)
            seen.n_known = seen.n_rows  # in the end, the rows of the first table
            spec = Spec("audit", corpus, corpus.reader, totals=totals).searched()
            keys = partial(solved_keys, seen.secret, KEYS, corpus.solution_column is not None)
            for _, rows in outputs_of(spec, keys, pool, tell, files.chunk):
                _count(seen, rows, totals)
    paths = [path for each in inputs for path in each if isinstance(path, str)]
    digests = {path: _digest(path) for path in paths if path != "-" and not is_address(path)}
    return Audit(sums[0], sums[1], digests, time.perf_counter() - begin)


def _count(seen: Seen, rows: RowKeys, totals: AuditedTable) -> None:
    """Add the faults, the repeated puzzles and the leaks among the next rows."""
    counts, first = dict(rows.sums.counts), seen.first_rows(rows)
    for suffix in ("", FORM):
        puzzle, solution = (first[f"{name}{suffix}"] for name in ("puzzle", "solution"))
        same = seen.is_known(puzzle)
        found = {
            "repeated": (puzzle != UNSEEN) & ~same,
            "puzzle": same,
            "solution": seen.is_known(solution) & ~same,
        }
        counts |= {f"{name}{suffix}": int(those.sum()) for name, those in found.items()}
    totals.add(RowSums(counts))


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
