"""Removal of repeated puzzles, and of puzzles that other files hold, in one stream.

Workers compute the keys of the rows of a block: hashes of puzzles or of their canonical forms.
The main process looks the keys up in a table, block after block in the order of the input. Then
workers write the rows that are kept (`batchsolve.search.in_order`). Memory holds only the keys.
"""

from __future__ import annotations

import os
import secrets
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Any, ClassVar, Unpack

import numpy as np
import pyarrow as pa

from batchsolve.arrays import Words
from batchsolve.errors import InputError
from batchsolve.runs.corpora import blocks_for, reader_of_numbers, refuse_own_output
from batchsolve.runs.destinations import Parts, destination_of
from batchsolve.runs.progress import ROW_BAR, Progress, rows_on, shown, summary_of
from batchsolve.runs.specs import followed
from batchsolve.search.in_order import in_two_passes
from batchsolve.settings import DedupeFields, FileSettings, path_of, paths_of, settings_of
from batchsolve.tables.blocks import Block
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.encoders import Encode, encoder_for
from batchsolve.tables.outputs import Encoded, Output, open_output, whole_output
from batchsolve.tables.places import files_of
from batchsolve.tables.reader import Reader
from batchsolve.tables.repeats import (
    UNSEEN,
    RowKeys,
    SeenKeys,
    output_rows,
    output_schema,
    row_keys,
)
from batchsolve.tables.sources import suffix_of
from batchsolve.whole_files import folder_beside
from batchsolve.workers.pool import Pool


@dataclass
class DedupeSummary:
    """The result of `dedupe`.

    Attributes
    ----------
    rows : int
        Rows of the input.
    kept : int
        Rows with a new puzzle, and invalid rows.
    repeated : int
        Rows whose puzzle an earlier row has.
    known : int
        Rows whose puzzle is in the files of ``against``; no other field counts them.
    invalid : int
        Rows that are malformed or have clues that clash; they are kept.
    undecided : int
        Rows whose canonical form was not found; only exact copies of them are left out.
    known_rows, known_invalid : int
        Rows of the files of ``against``, and how many of them are invalid.
    same_solution : int
        Rows that are kept although a row of ``against`` has their solution, with other clues.
    solution_column : str or None
        The column of given solutions, in which these are found.
    seconds : float

    Examples
    --------
    >>> print(DedupeSummary(rows=5, kept=3, repeated=1, known=1, invalid=1, seconds=0.5))
    5 rows: 3 kept (1 of them invalid), 1 repeated, 1 known; 0.5 s, 10 rows/s
    """

    rows: int = 0
    kept: int = 0
    repeated: int = 0
    known: int = 0
    invalid: int = 0
    undecided: int = 0
    known_rows: int = 0
    known_invalid: int = 0
    same_solution: int = 0
    solution_column: str | None = None
    seconds: float = 0.0
    backend: str = "threading"
    jobs: int = 1
    in_bar: ClassVar[tuple[str, ...]] = ("kept",)

    @property
    def complete(self) -> bool:
        """True if every puzzle was compared, those of ``against`` included."""
        return not (self.invalid or self.undecided or self.known_invalid)

    @property
    def rows_per_second(self) -> float:
        """The rows that were compared, those of ``against`` included, by the time."""
        return (self.rows + self.known_rows) / max(self.seconds, 1e-9)

    def __str__(self) -> str:
        doubts = {"invalid": self.invalid, "without a canonical form": self.undecided}
        said = ", ".join(f"{n:,} of them {what}" for what, n in doubts.items() if n)
        parts = [f"{self.kept:,} kept" + (f" ({said})" if said else "")]
        dropped = {"repeated": self.repeated, "known": self.known}
        parts += [f"{n:,} {what}" for what, n in dropped.items() if n]
        if self.known_invalid:
            parts.append(f"{self.known_invalid:,} invalid in the files of --against")
        alike = ""
        if self.same_solution:
            alike = (
                f"; same solution, other clues: {self.same_solution:,} "
                f"(--column {self.solution_column} finds them)"
            )
        return f"{summary_of(self, parts)}{alike}"


def dedupe(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    up_to_symmetry: bool = False,
    against: Sequence[str | os.PathLike[str]] = (),
    mark: bool = False,
    on_progress: Callable[[Progress], None] | bool | None = None,
    **settings: Unpack[DedupeFields],
) -> DedupeSummary:
    r"""Leave out the rows of a corpus whose puzzle is in an earlier row or in another file.

    Puzzles are equal if their digits and their rules are equal, however they are written. The first
    row of each puzzle is kept with all its columns, in the order of the input. Invalid rows are
    kept too.

    Parameters
    ----------
    inputs : str or path, or a sequence of them
        As in `solve_file`.
    output : str or path
        ``.csv``, ``.tsv``, ``.jsonl`` (perhaps with ``.gz``, ``.bz2``, ``.zst``), ``.parquet``, or
        ``-`` for CSV on standard output.
    up_to_symmetry : bool
        Treat puzzles as equal if their canonical forms are equal (`canonical_forms`).
    against : sequence of str or path
        Files, folders or patterns. Rows whose puzzle is in one of them are left out too. Rows that
        share only the solution with them are kept, and counted if both have a solution column;
        ``column="solution"`` compares solutions.
    mark : bool
        Keep all rows, and add a column ``first`` that names the first row with the same puzzle,
        such as ``test.csv#17``; it is empty in that row itself.
    on_progress : callable or True, optional
        Called with a `Progress` after every block; or True for a progress bar.
    **settings
        ``jobs``, ``backend`` and ``address`` as in `solve_file`; and the settings of reading, whole
        as ``files``, or field by field: ``column``, ``solution_column``, ``alphabet``, ``blank``,
        ``box``, ``rules``, ``regions``, ``rule_columns``, ``chunk``, ``filename``.

    Returns
    -------
    DedupeSummary

    Raises
    ------
    InputError, OutputError
        See `batchsolve.errors`; then nothing is written.
    ProblemError
        If grids of this shape have no canonical form.

    Notes
    -----
    Puzzles are compared by hashes of 128 bits, drawn anew for each run: see
    `batchsolve.tables.repeats`. Ten million different puzzles take 403 MB, and half as much again
    while the table doubles.

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
    workers, files = settings_of(dedupe, settings, FileSettings)
    given, others = paths_of("the input", inputs), paths_of("a file to compare with", against)
    target, pool = path_of("the output", output), Pool(**workers)
    with shown(on_progress, rows_on, ROW_BAR) as tell:
        return _Dedupe(given, others, target, up_to_symmetry, mark, files, pool, tell).run()


_Decision = tuple[Any, dict[int, str] | None]  # the arguments of `output_rows`


def _kept(reader: Reader, encode: Encode, block: Block, decision: _Decision) -> Encoded:
    """Encode the rows of a block that are kept."""
    data = encode(output_rows(reader.read(block), *decision))
    return Encoded.of(data, n_rows=decision[0].size)


def _nothing(block: Block, n_rows: int) -> Encoded:
    """Return no rows: those of the files of ``against`` are not written."""
    return Encoded.of(b"", n_rows=n_rows)


@dataclass
class _Dedupe:
    """One run of `dedupe`; its parameters are those of that function, checked."""

    inputs: list[str]
    against: list[str]
    output: str
    up_to_symmetry: bool
    mark: bool
    settings: FileSettings
    pool: Pool
    on_progress: Callable[[Progress], None]
    totals: DedupeSummary = field(default_factory=DedupeSummary)
    seen: SeenKeys = field(default_factory=SeenKeys)
    files: list[tuple[int, str]] = field(default_factory=list)  # first row and name of each
    n_rows: int = 0  # rows of all files whose keys were looked up
    solutions: Words = field(default_factory=lambda: np.zeros(0, np.uint64))  # of `against`
    learned: list[Words] = field(default_factory=list)  # the same, block by block
    secret: bytes = field(default_factory=partial(secrets.token_bytes, 32))  # of hashes

    def run(self) -> DedupeSummary:
        start = time.perf_counter()
        destination = destination_of(self.output)
        if isinstance(destination, Parts):
            raise InputError(f"{self.output}: name one file to write to, such as kept.parquet")
        destination.check()
        self.output = destination.path
        paths = files_of(self.inputs)
        known = [files_of([other]) for other in self.against]
        if [path for some in (paths, *known) for path in some].count("-") > 1:
            raise InputError("standard input can be read once; name a file")
        refuse_own_output(self.inputs, paths, self.output)
        for other, theirs in zip(self.against, known, strict=True):
            refuse_own_output([other], theirs, self.output)
        corpus = Corpus(paths, self.settings, filename=self.settings.filename)
        if self.up_to_symmetry:
            corpus.reader.main.check_has_forms()
        self.totals.solution_column = corpus.solution_column
        self.on_progress(Progress(0, self.totals))
        with self.pool as pool:
            self.totals.backend, self.totals.jobs = pool.backend, pool.jobs
            for theirs in known:
                self._learn(theirs, corpus)
            self.solutions = np.unique(np.concatenate([self.solutions, *self.learned]))
            self.totals.known_rows, self.totals.undecided = self.n_rows, 0
            is_parquet = suffix_of(self.output) == ".parquet"
            reader = reader_of_numbers(corpus, pool) if is_parquet else corpus.reader
            with self._opened(output_schema(reader, self.mark)) as output:
                write = partial(_kept, reader, encoder_for(self.output))
                self._keep(corpus, reader, write, output)
        self.totals.seconds = time.perf_counter() - start
        return self.totals

    def _learn(self, paths: list[str], corpus: Corpus) -> None:
        """Add the keys of files of ``against``."""
        other = Corpus(paths, self.settings)
        ours, theirs = corpus.reader.main.rules.names, other.reader.main.rules.names
        if ours != theirs:
            which = [" and ".join(names) or "none" for names in (theirs, ours)]
            raise InputError(
                f"{', '.join(paths)}: has {which[0]} of the columns of rules, and the input "
                f"{which[1]}; add those that are missing, if need be empty"
            )
        if self.up_to_symmetry:
            other.reader.main.check_has_forms()

        def learn(block: Block, found: RowKeys) -> int:
            self._look_up(found)
            self.totals.known_invalid += int(np.count_nonzero(~found.is_valid))
            self.learned.append(np.unique(found.solutions[found.solutions > 0]))
            return found.is_valid.size

        compares = None not in (corpus.solution_column, other.solution_column)
        for _ in self._pass_over(other, other.reader, compares, learn, _nothing):
            pass

    @contextmanager
    def _opened(self, schema: pa.Schema) -> Iterator[Output]:
        """Open the output; the file appears when it is complete."""
        if self.output == "-":
            output = open_output(self.output, schema)
            yield output
            output.finish()
            return
        with (
            folder_beside(self.output) as folder,
            whole_output(self.output, folder, schema) as output,
        ):
            yield output

    def _keep(
        self, corpus: Corpus, reader: Reader, write: Callable[..., Encoded], output: Output
    ) -> None:
        """Write the new rows of the input, or all rows with the column ``first``."""
        totals, n_known = self.totals, self.n_rows

        def decide(block: Block, found: RowKeys) -> _Decision:
            first = self._look_up(found)
            is_new, is_known = first == UNSEEN, (first != UNSEEN) & (first < n_known)
            totals.rows += first.size
            totals.kept += int(np.count_nonzero(is_new))
            totals.known += int(np.count_nonzero(is_known))
            totals.repeated += int(np.count_nonzero(~is_new & ~is_known))
            totals.invalid += int(np.count_nonzero(~found.is_valid))
            totals.undecided += found.n_undecided
            totals.same_solution += int(np.count_nonzero(is_new & self._is_known_solution(found)))
            if not self.mark:
                return first, None
            return first, {row: self._name_of(row) for row in np.unique(first[~is_new]).tolist()}

        for encoded in self._pass_over(corpus, reader, self.solutions.size > 0, decide, write):
            output.take(encoded)

    def _name_of(self, row: int) -> str:
        """Return the name of a row for `batchsolve show`."""
        first, name = self.files[bisect_right(self.files, row, key=itemgetter(0)) - 1]
        return f"{name}#{row - first + 1}"

    def _look_up(self, found: RowKeys) -> Any:
        first = self.seen.add(found.keys, found.is_valid, self.n_rows)
        self.n_rows += first.size
        return first

    def _is_known_solution(self, found: RowKeys) -> Any:
        """Return True for each row whose solution a row of the files of ``against`` has."""
        if not self.solutions.size:
            return np.zeros(len(found.solutions), np.bool_)
        places = np.searchsorted(self.solutions, found.solutions)
        return self.solutions[np.minimum(places, self.solutions.size - 1)] == found.solutions

    def _pass_over(
        self,
        corpus: Corpus,
        reader: Reader,
        with_solutions: bool,
        decide: Callable[[Block, RowKeys], Any],
        write: Callable[..., Encoded],
    ) -> Iterator[Encoded]:
        """Yield the encoded blocks of a corpus in order."""
        blocks = blocks_for(self.pool, corpus, most_rows=self.settings.chunk)
        looked_at = -1

        def decided(block: Block, found: RowKeys) -> Any:
            nonlocal looked_at
            if block.source != looked_at:
                looked_at = block.source
                self.files.append((self.n_rows, block.name))
            return decide(block, found)

        keys = partial(row_keys, reader, self.up_to_symmetry, with_solutions, self.secret)
        outputs = in_two_passes(blocks, self.pool, keys, decided, write)
        return followed(outputs, corpus, self.totals, self.on_progress)
