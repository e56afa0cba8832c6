"""Specifications of runs over rows, and what carries them out.

A run reads rows in blocks, workers find answers to the rows of a block and write it, and the sums
are added up. *Solve*, *count*, *rate*, *augment*, *generate* and *dedupe* differ in the rows that
are read, the way to the answers, the columns added and the sums: `Spec` says these. `tables_of`
makes tables in memory of it, and `FileRun` goes from file to file, with a journal to resume from,
in bounded memory: the main process cuts the input into blocks, takes the encoded rows in order, and
records its progress. *Evaluate* and lists of problems have no output table: they make the same
passes, and add up.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from batchsolve.engines.choice import Choice
from batchsolve.errors import (
    InputError,
    JournalError,
    OutputError,
    ServerError,
    counted,
    first_line,
    listed,
)
from batchsolve.formats.whole_files import check_is_no_input
from batchsolve.runs.journal import Journal, Part
from batchsolve.runs.outputs import Behind, Encoded, Output, Parts, output_at
from batchsolve.runs.progress import ROW_BAR, OnProgress, Progress, Summary, note_columns, shown
from batchsolve.search.in_order import each_with_output, in_one_pass, in_two_passes
from batchsolve.search.rows import Write, search_rows
from batchsolve.settings import (
    FileSettings,
    SearchSettings,
    each_of,
    path_of,
    paths_of,
    settings_that,
)
from batchsolve.tables.answers import RowTable
from batchsolve.tables.blocks import Block, Boundary, RowsError, numbered
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.encoders import Checksums, Written, joined, sums_of
from batchsolve.tables.frames import files_and_tables
from batchsolve.tables.places import exists, facts_of, is_address, suffix_of
from batchsolve.tables.reader import Reader
from batchsolve.tables.sources import Source, Tables
from batchsolve.tables.texts import Kinds, number_kinds, number_types
from batchsolve.workers import Pool
from batchsolve.workers.base import LOG

SAME_SEARCH = ("limit", "node_limit", "time_limit")
JOURNAL_SECONDS = 1.0

Read = Callable[[Any], Any]
"""Returns the rows of a block, which `write` takes with their answers."""

Outputs = Generator[tuple[Any, Any]]
"""Blocks in order, each with what `write` has returned."""

Pass = Callable[[Iterator[Any], Pool, Read, Write, int], Outputs]
"""A pass over blocks. Workers `read` each, find answers to its rows, and call `write` with both;
the last argument is the number of the first row, counted from 1."""


def searching(
    choice: Choice,
    search: SearchSettings,
    source: Any,
    size: int = 1,
    keep: int = 1,
) -> Pass:
    """Return the pass in which rows are searched; see `search_rows`."""

    def work(
        blocks: Iterator[Any], pool: Pool, read: Read, write: Write, first: int = 1
    ) -> Outputs:
        return search_rows(blocks, choice, pool, search, read, write, size, source.waits, keep)

    return work


def in_one_look(
    blocks: Iterator[Any], pool: Pool, read: Read, write: Write, first: int = 1
) -> Outputs:
    """Do the pass in which rows need no answers."""
    return each_with_output(blocks, pool, partial(written, read, write))


def with_numbers_of_rows(
    blocks: Iterator[Block], pool: Pool, read: Read, write: Write, first: int = 1
) -> Outputs:
    """Do the pass in which the answer to a block is the number of its first row."""

    def count(block: Block, n_rows: int) -> int:
        nonlocal first
        first += n_rows
        return first - n_rows

    yield from in_two_passes(blocks, pool, Block.n_rows, count, partial(written, read, write))


def written(read: Read, write: Write, block: Any, answers: Any = None) -> Any:
    """Read a block and write it, given the answers to its rows; workers call it."""
    return write(read(block), answers)


@dataclass(frozen=True, eq=False)
class Spec:
    """The specification of a run over rows.

    Attributes
    ----------
    kind : str
        The kind of the run, for its journal.
    source : Tables or RowNumbers
        The rows, in blocks, and the names of their columns.
    reader : Reader or InstanceReader or Maker
        The reader of blocks, which workers receive.
    table : callable
        Returns the output table, given the reader.
    work : Pass
        By default, rows need no answers.
    totals : Summary
        The sums of the run; each kind of run has its sums.
    same : mapping of str to object
        The settings that must be the same in a resumed run, in JSON types.
    engine : str
        The names of the engines; empty if rows are not searched.
    advice : str
        Advice on unfinished rows.
    """

    kind: str
    source: Any
    reader: Any
    table: Callable[[Any], RowTable]
    work: Pass = in_one_look
    totals: Any = field(default_factory=Summary)
    same: Mapping[str, Any] = field(default_factory=dict)
    engine: str = ""
    advice: str = ""

    def searched(
        self,
        choice: Choice,
        search: SearchSettings,
        size: int = 1,
        keep: int = 1,
    ) -> Spec:
        """Return a specification whose rows are searched; see `search_rows`."""
        same = {name: getattr(search, name) for name in SAME_SEARCH}
        return replace(
            self,
            work=searching(choice, search, self.source, size, keep),
            same={**same, "engine": choice.identity, **self.same},
            engine=choice.names,
            advice=choice.missing if search.node_limit is not None else "",
        )


def tables_of(
    spec: Spec,
    pool: Pool,
    most_rows: int | None = None,
    tell: Callable[[Progress], None] = lambda _: None,
) -> Iterator[pa.Table]:
    """Yield an empty output table, then those of each block, and add their sums."""
    table, totals, source = spec.table(spec.reader), spec.totals, spec.source
    yield pa.Table.from_batches([], table.schema)
    tell(Progress(0, totals))
    blocks = source.blocks(None, most_rows)
    with closing(spec.work(blocks, pool, spec.reader.read, table.rows, 1)) as outputs:
        for block, (part, sums) in outputs:
            n_before = totals.rows
            totals.add(sums)
            expected = source.expected_rows(totals.rows, block.end)
            tell(Progress(totals.rows - n_before, totals, expected))
            yield part


def table_of(
    spec: Spec,
    pool: Pool,
    most_rows: int | None = None,
    on_progress: OnProgress = None,
) -> pa.Table:
    """Return the output table; tell of the progress as `shown` says, and log the sums."""
    start = time.perf_counter()
    with shown(on_progress, ROW_BAR) as tell:
        made = pa.concat_tables(list(tables_of(spec, pool, most_rows, tell)))
    _end(spec, spec.totals, pool, start)
    LOG.info("%s", spec.totals)
    return made


def _end(spec: Spec, totals: Any, pool: Pool, start: float, rows_before: int = 0) -> None:
    """Note in the sums of a run how it was done, and its time."""
    totals.backend, totals.jobs = pool.backend, pool.jobs
    if spec.engine:
        totals.engine = spec.engine
        totals.advice = spec.advice if totals.unfinished else ""
    totals.seconds = time.perf_counter() - start
    totals.rows_per_second = (totals.rows - rows_before) / totals.seconds


def followed(
    outputs: Outputs, source: Any, totals: Any, tell: Callable[[Progress], None]
) -> Iterator[tuple[Any, Any]]:
    """Yield blocks and their outputs, which have `n_rows`; tell of the progress after each.

    Raises
    ------
    RowsError
        With row numbers counted from the beginning of the file.
    """
    place, n_rows = FilePlace(), 0
    try:
        with closing(outputs):
            for block, output in outputs:
                place.pass_by(block, output.n_rows)
                n_rows += output.n_rows
                yield block, output
                expected = source.expected_rows(n_rows, block.end)
                tell(Progress(output.n_rows, totals, expected))
    except RowsError as error:
        raise place.located(error) from None


# ---- files ----------------------------------------------------------------------------------


@dataclass
class FilePlace:
    """The current input file, its number, and how many of its rows are done."""

    name: str = ""
    source: int = -1
    rows: int = 0

    def pass_by(self, block: Block, n_rows: int) -> None:
        """Count the rows of a block as done."""
        if block.source != self.source:
            self.name, self.source, self.rows = block.name, block.source, 0
        self.rows += n_rows

    def located(self, error: RowsError) -> RowsError:
        """Return an error of the next block with its row numbers counted from the file's start."""
        return error.after(self.rows if error.name == self.name else 0)


def refuse_own_output(inputs: Any, paths: Sequence[Any], output: str) -> None:
    """Raise an error if the output is among the inputs.

    Parameters
    ----------
    inputs : table, str or path, or a sequence of them
        The argument; tables are in no file.
    paths : sequence
        The files and tables that they stand for.
    output : str

    Raises
    ------
    InputError
    """
    check_is_no_input(output, _files_among(paths))
    for folder in filter(os.path.isdir, _files_among(each_of(inputs))):
        if _lies_in(output, folder):
            raise InputError(
                f"{output}: lies in {folder}, all of which is input; write elsewhere, or "
                f"name the files, as in '{os.path.join(folder, '*.csv')}'"
            )


def _files_among(inputs: Sequence[Any]) -> Iterator[str]:
    return (os.fsdecode(one) for one in inputs if isinstance(one, str | bytes | os.PathLike))


def _lies_in(path: str, folder: str) -> bool:
    if path == "-" or is_address(path):
        return False
    inner, outer = os.path.realpath(path), os.path.realpath(folder)
    return os.path.commonpath([inner, outer]) == outer


def identity_of(path: Any) -> str:
    """Return the name, size and time of a file for the journal; a name of no file as it is.

    Of a table, the names and the sums of its columns.
    """
    if not isinstance(path, str):
        return f"{path.path} of {path.table.column_names}, {sums_of(path.table)}"
    if not exists(path):
        return path
    try:
        facts = facts_of(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or first_line(error)}") from error
    changed = str(np.datetime64(facts.changed, "ns")).replace("T", " ")
    return f"{path} of {facts.size:,} bytes, changed {changed} UTC"


def blocks_for(
    pool: Pool, corpus: Tables, begin: Boundary | None = None, most_rows: int | None = None
) -> Iterator[Block]:
    """Cut a corpus into blocks (see `Corpus.blocks`) that the workers of a pool can read."""
    return _for_workers(pool, corpus.blocks(begin, most_rows))


def _for_workers(pool: Pool, blocks: Iterator[Block]) -> Iterator[Block]:
    return blocks if pool.sees_files else (block.carried() for block in blocks)


def sums_before(corpus: Tables, end: Boundary, pool: Pool) -> Checksums:
    """Read the records before the end of an earlier block again; return their checksums.

    Raises
    ------
    InputError
        If they cannot be read.
    """
    blocks = _for_workers(pool, corpus.blocks_before(end))
    with closing(in_one_pass(blocks, pool, partial(_sums_until, end))) as found:
        return reduce(joined, found, ())


def _sums_until(end: Boundary, block: Block) -> Checksums:
    """Return the checksums of the records of a block before a point."""
    records = block.records()
    if block.end > end:
        records = records[: max(0, len(records) - (block.end.offset - end.offset))]
    return sums_of(records)


def reader_of_numbers(corpus: Corpus, pool: Pool) -> Reader:
    """Return the reader of a corpus that reads text columns of numbers as numbers.

    A Parquet column has one type, so workers first look at all rows.
    """
    names = corpus.perhaps_numbers()
    if not names:
        return corpus.reader
    blocks = blocks_for(pool, corpus, Boundary(0, 0))
    try:
        with closing(in_one_pass(blocks, pool, partial(_number_kinds, names))) as found:
            return replace(corpus.reader, numbers=number_types(found))
    except InputError:  # the run will meet the same error and report it
        return corpus.reader


def _number_kinds(names: Sequence[str], block: Block) -> Kinds:
    """Return the types that hold the values of text columns of a block."""
    return number_kinds(names, block.rows()[0])


# ---- from file to file ----------------------------------------------------------------------

OpenSpec = Callable[[list[Any], Output], Spec]
"""Returns the specification of a run, given its input files and tables and its output."""


def run_files(
    spec: OpenSpec,
    inputs: Any,
    output: Any,
    files: FileSettings,
    pool: Pool,
    on_progress: OnProgress,
) -> Any:
    """Carry out a specification from files to an output; return its sums, and log them."""
    names = paths_of("the input", inputs), path_of("the output", output)
    with shown(on_progress, ROW_BAR) as tell:
        summary = FileRun(*names, files, pool, tell).run(spec)
    LOG.info("%s", summary)
    return summary


def corpus_of(
    sources: list[Source],
    files: FileSettings,
    output: Output,
    share: int = 1,
    one_shape: bool = False,
) -> Corpus:
    """Return the corpus in some sources, in blocks that are `share` times as small as usual."""
    size = output.block_size.divided_by(share)
    return Corpus(sources, files, filename=files.filename, size=size, one_shape=one_shape)


class FileRun:
    """One run from file to file.

    Parameters
    ----------
    inputs : table, or list of str or table
        Names of files, and tables.
    output : str
    settings : FileSettings
    pool : Pool
    on_progress : callable
    is_whole : bool
        Remove the output of an unfinished run, which cannot be resumed.

    Attributes
    ----------
    spec : Spec
    output : Output
    paths : list of str or TableSource
        The files that the inputs stand for, and the tables.
    totals : Summary
        The sums of the rows that are written.
    rows_before : int
        Rows that the resumed run had written.
    begin : Boundary or None
        The position of the next input row to read.
    read : Checksums
        The checksums of the input before `begin`.
    place : FilePlace
        The current input file.
    """

    spec: Spec
    totals: Any

    def __init__(
        self,
        inputs: Any,
        output: str,
        settings: FileSettings,
        pool: Pool,
        on_progress: Callable[[Progress], None] = lambda _: None,
        is_whole: bool = False,
    ) -> None:
        self.inputs, self.settings = each_of(inputs), settings
        self.pool, self.on_progress = pool, on_progress
        self.paths = files_and_tables("the input", inputs)
        self.output, self._is_whole = output_at(output, is_whole), is_whole
        self.rows_before = 0
        self.begin: Boundary | None = None
        self.read: Checksums = ()
        self.place = FilePlace()
        self.unrecorded: list[Part] = []
        self.last_recorded = 0.0  # by the monotonic clock

    def run(self, open_spec: OpenSpec) -> Any:
        """Carry out a specification, or go on with an interrupted run of it."""
        start = time.perf_counter()
        self._check()
        spec = self.spec = open_spec(self.paths, self.output)
        self.totals = spec.totals
        # before a journal is made, because a cluster may be unreachable
        with self.output.held(), self.pool as pool:
            is_parquet = isinstance(self.output, Parts) or suffix_of(self.output.path) == ".parquet"
            reader = spec.reader
            if is_parquet and isinstance(spec.source, Corpus):
                reader = reader_of_numbers(spec.source, pool)
            table = spec.table(reader)
            if self._is_whole or self.output.path == "-":
                self._write(table, None)
            else:
                with self._journal() as journal:
                    self._write(table, journal)
            note_columns(self.totals, spec.source)
            _end(spec, self.totals, pool, start, self.rows_before)
        return self.totals

    def _check(self) -> None:
        """Raise an error if nothing can be read or written as the settings say."""
        path = self.output.path
        self.output.check()
        if self.settings.resume and "-" in (*self.paths, path):
            raise InputError("`resume` needs files; standard input or output cannot be resumed")
        if self.settings.chunk is not None and isinstance(self.output, Parts):
            raise InputError(f"{path}: a part is a block of the input; leave out the chunk")
        more = [name for name in settings_that("adds") if getattr(self.settings, name)]
        if suffix_of(path) == ".npy" and more:
            raise InputError(f"{path}: holds solutions alone; leave out {listed(more)}")
        if not self._is_whole:
            self._refuse_leftovers()
        refuse_own_output(self.inputs, self.paths, path)

    def _write(self, table: Any, journal: Journal | None) -> None:
        written, finished = self._restore(journal) if journal else (None, False)
        if journal and finished and self.output.is_finished():
            journal.remove()  # the run was stopped between its last two steps
            return
        self.check_read()
        parts = journal.parts() if journal else []
        try:
            self.output.open(table.schema, written, parts)
        except BaseException:
            if journal and written is None and not exists(self.output.kept):
                journal.remove()  # nothing was written
            raise
        blocks = blocks_for(self.pool, self.spec.source, self.begin, self.settings.chunk)
        blocks = numbered(blocks, len(parts))
        read, write = table.reader.read, self.output.writer(table, self.pool)
        rows = self.spec.work(blocks, self.pool, read, write, self.totals.rows + 1)
        try:
            if not finished:
                self._write_rows(rows, journal)
            self.record(journal, finished=True)
            self.output.finish()
        except BaseException as error:
            if journal and "-" not in self.paths and exists(self.output.kept):
                kept = self.output.kept
                error.add_note(f"the rows done are kept in {kept}; {self._how_to_go_on(error)}")
            raise
        finally:
            self.output.close()
        if journal:
            journal.remove()

    def check_read(self) -> None:
        """Raise `JournalError` if the input that the interrupted run has read was changed."""
        if self.begin is None or not self.paths:
            return
        if sums_before(self.spec.source, self.begin, self.pool) != self.read:
            several = counted(len(self.paths), "input file")
            raise JournalError(
                f"{self.paths[0] if len(self.paths) == 1 else several}: the rows that the "
                f"interrupted run has read were changed; put back the input as it was, or delete "
                f"{self.output.kept} and {self.output.journal} to begin again"
            )

    def _how_to_go_on(self, error: BaseException) -> str:
        """Return advice after an error; a corrected input cannot be resumed, because it differs."""
        if isinstance(error, InvalidRowError):
            return "go on with `resume`, and without `stop_on_invalid`"
        if isinstance(error, InputError) and not isinstance(error, ServerError):
            left = f"{self.output.kept} and {self.output.journal}"
            if not self.paths:
                held = counted(self.totals.rows, "row")
                return f"it has {held}; delete {left} to begin again with other wishes"
            return f"mend the input, and delete {left} or name another output, to begin again"
        return "go on with `resume`"

    def _write_rows(self, rows: Outputs, journal: Journal | None) -> None:
        self.record(journal)
        self._tell(0)
        try:
            with closing(rows), Behind() as behind:
                for block, written in rows:
                    self._take(block, written)
                    self._tell(written.n_rows)
                    self.record_behind(behind, journal)
        except InputError as error:
            self.record(journal)  # keeps the rows before the fault
            if isinstance(error, RowsError):
                raise self.place.located(error) from None
            raise

    def _tell(self, n_rows: int) -> None:
        expected = self.spec.source.expected_rows(self.totals.rows, self.begin)
        self.on_progress(Progress(n_rows, self.totals, expected))

    def _take(self, block: Any, written: Encoded) -> None:
        """Write the rows of a block to the output, and add them to the sums."""
        totals, sums = self.totals, written.sums
        if self.settings.stop_on_invalid and sums.first_invalid:
            place, why = sums.first_invalid
            raise InvalidRowError(f"row {totals.rows + place + 1}: {why}")
        self.output.take(written)
        self.unrecorded += self.output.parts_of(block.number, written)
        totals.add(sums)
        self.place.pass_by(block, written.n_rows)
        self.begin, self.read = block.end, joined(self.read, written.read)

    def _refuse_leftovers(self) -> None:
        """Raise an error if an interrupted run left files and is not to be resumed."""
        kept, path = self.output.kept, self.output.journal
        begun = Journal.is_begun(path)
        if begun and not self.settings.resume:
            with Journal.read(path) as journal:  # raises if the run is going on elsewhere
                kind = journal.about["kind"]
            raise OutputError(
                f"{kept}: an interrupted run ({kind}) left its rows there; go on with "
                f"`resume`, or delete {kept} and {path} to begin again"
            )
        if not begun:
            self.output.check_unused(self.settings.resume)

    def _journal(self) -> Journal:
        """Open the journal; its settings must be the same when the run is resumed."""
        settings = dict(self.spec.same)
        if self.paths:
            settings["inputs"] = [] if "-" in self.paths else list(map(identity_of, self.paths))
            settings["columns"] = self.spec.source.columns
        for name in settings_that("same"):
            value = getattr(self.settings, name)
            settings[name] = list(value) if isinstance(value, tuple) else value  # as in JSON
        settings["output"] = self.output.form  # the name of the journal does not tell
        return Journal(self.output.journal, self.spec.kind, settings)

    def _restore(self, journal: Journal) -> tuple[Written | None, bool]:
        """Restore the state of an interrupted run; return its output and whether it finished."""
        state = journal.state()
        if state is None:
            return None, False
        try:
            self.totals = type(self.totals)(**state["totals"])
            self.rows_before = self.totals.rows
            LOG.info("%s goes on after %s", self.output.path, counted(self.rows_before, "row"))
            written, finished = Written(*map(int, state["written"])), bool(state["finished"])
            self.begin = None if state["begin"] is None else Boundary(*map(int, state["begin"]))
            self.read = tuple(Written(*map(int, each)) for each in state["read"])
            self.place = FilePlace(**state["place"])
        except Exception as error:
            raise journal.damaged(error) from error
        return written, finished

    def record(self, journal: Journal | None, finished: bool = False) -> None:
        """Sync the output to disk, and record the state in the journal."""
        state, n_parts = self.state(finished), len(self.unrecorded)
        self.last_recorded = time.monotonic()
        self.output.sync()
        self.note(journal, state, n_parts)

    def record_behind(self, behind: Behind, journal: Journal | None) -> None:
        """Record what the disk has finished; begin a checkpoint a second after the last one.

        A thread waits for the disk while the run goes on.
        """
        behind.settle()
        if not behind.n_open and time.monotonic() - self.last_recorded >= JOURNAL_SECONDS:
            self.last_recorded = time.monotonic()
            note = partial(self.note, journal, self.state(), len(self.unrecorded))
            behind.do(self.output.sync, note)

    def note(self, journal: Journal | None, state: dict[str, Any], n_parts: int) -> None:
        """Record a state in the journal, with the first `n_parts` of the unrecorded parts."""
        if journal is not None:
            journal.record(state, parts=self.unrecorded[:n_parts])
        del self.unrecorded[:n_parts]

    def state(self, finished: bool = False) -> dict[str, Any]:
        """Return the state of the rows written so far, for the journal."""
        return {
            "written": self.output.written(),
            "begin": self.begin,
            "read": self.read,
            "place": asdict(self.place),
            "totals": asdict(self.totals),
            "finished": finished,
        }


class InvalidRowError(InputError):
    """An invalid row that stopped a run; the run can be resumed without ``stop_on_invalid``."""
