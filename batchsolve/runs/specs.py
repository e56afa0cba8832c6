"""Specifications of runs over rows, and the one way in which they are carried out.

A run reads rows in blocks, workers find answers to the rows of a block and write it, and the sums
are added up. *Solve*, *count*, *rate*, *augment*, *generate*, *dedupe*, *partition*, *audit* and
*evaluate* differ in the rows that are read, the way to the answers, the columns added and the sums:
`Spec` says these. `outputs_of` makes the pass over the rows, for all of them. `tables_of` makes
tables in memory of it, and `FileRun` goes from file to file, with a journal to resume from, in
bounded memory: the main process cuts the input into blocks, takes the encoded rows in order, and
records its progress.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from batchsolve import errors
from batchsolve.engines import Choice
from batchsolve.errors import InputError, JournalError, OutputError, ServerError, counted, listed
from batchsolve.formats.whole_files import check_is_no_input
from batchsolve.runs.journal import Journal, Part
from batchsolve.runs.outputs import Behind, Output, Parts, check_parquet, output_at
from batchsolve.runs.progress import ROW_BAR, OnProgress, Progress, Summary, note_columns, shown
from batchsolve.search.rows import RowWork, Write
from batchsolve.search.scheduler import in_turn
from batchsolve.settings import PROVES_UNIQUENESS, FileSettings, SearchSettings, settings_that
from batchsolve.settings.arguments import UNLIMITED, each_of, is_address, path_of, real_path
from batchsolve.tables.answers import Checksums, OutputRows, RowTable, Written, joined_sums, sums_of
from batchsolve.tables.columns import Kinds, RowsError, number_kinds, number_types
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.detection import files_and_tables
from batchsolve.tables.places import exists, facts_of, suffix_of
from batchsolve.tables.sources import TASKS, Block, Boundary, Tables
from batchsolve.workers import LOG, Pool

SAME_SEARCH = ("limit", "node_limit", "time_limit")
JOURNAL_SECONDS = 1.0
PROOF = SearchSettings(limit=PROVES_UNIQUENESS)

Tell = Callable[[Progress], None]
"""Tells of the progress of a run."""

Told = AbstractContextManager[Tell]
"""A context that yields a function to tell."""


@dataclass(frozen=True, eq=False)
class Spec:
    """The specification of a run over rows.

    The answers to the rows of a block are found by a search, or decided on in the order of the
    input by `decide`; without either, rows need none.

    Attributes
    ----------
    kind : str
        The kind of the run, for its journal.
    source : Tables
        The rows, in blocks, and the names of their columns.
    reader : Reader or InstanceReader or Maker
        The reader of blocks, which workers receive.
    table : callable, optional
        Returns the output table, given the reader.
    totals : Sums
        The sums of the run; each kind of run has its sums.
    same : mapping of str to object
        The settings that must be the same in a resumed run, in JSON types.
    choice : Choice, optional
        The engines of a search.
    search : SearchSettings
    size, keep : int
        See `RowWork`.
    begin : callable
        Called before the first block is read, with the pool and the function that tells of the
        progress.
    look : callable, optional
        Returns the findings on a batch that `decide` needs, given the batch and None; workers call
        it. By default, they are the number of rows.
    decide : callable, optional
        Returns the answers to a block, given the number of rows before it, the block, and the
        findings on it; called block after block.
    """

    kind: str
    source: Any
    reader: Any
    table: Callable[[Any], RowTable] | None = None
    totals: Any = field(default_factory=Summary)
    same: Mapping[str, Any] = field(default_factory=dict)
    choice: Choice | None = None
    search: SearchSettings = PROOF
    size: int = 1
    keep: int = 1
    begin: Callable[[Pool, Tell], None] = lambda pool, tell: None
    look: Write | None = None
    decide: Callable[[int, Block, Any], Any] | None = None

    def searched(
        self, search: SearchSettings = PROOF, choice: Choice | None = None, keep: int = 1
    ) -> Spec:
        """Return a specification whose rows are searched; by default, they are grids."""
        if choice is None:
            problem, limit = self.reader.main.problem, search.limit or UNLIMITED
            choice = Choice.for_grids(search.engine, problem, limit)
        same = {name: getattr(search, name) for name in SAME_SEARCH}
        same = {**same, "engine": choice.identity, **self.same}
        return replace(self, same=same, choice=choice, search=search, keep=keep)

    def end(self, pool: Pool, start: float, rows_before: int = 0) -> None:
        """Note in the sums how the run was done, and its time."""
        totals = self.totals
        totals.backend, totals.jobs = pool.backend, pool.jobs
        if self.choice is not None:
            is_limited = self.search.node_limit is not None and totals.unfinished
            totals.engine = self.choice.names
            totals.advice = self.choice.missing if is_limited else ""
        totals.seconds = time.perf_counter() - start
        totals.rows_per_second = (totals.rows - rows_before) / totals.seconds


@dataclass
class Place:
    """The place that a pass over rows has come to.

    Attributes
    ----------
    name : str
        The name of the current input file.
    source : int
        Its number.
    rows : int
        Its rows before the place.
    end : Boundary or None
        The position of the next row.
    n_rows, n_blocks : int
        All rows and blocks before the place.
    """

    name: str = ""
    source: int = -1
    rows: int = 0
    end: Boundary | None = None
    n_rows: int = 0
    n_blocks: int = 0

    def pass_by(self, block: Block, n_rows: int) -> None:
        """Count the rows of a block as done."""
        if block.source != self.source:
            self.name, self.source, self.rows = block.name, block.source, 0
        self.rows += n_rows
        self.end = block.end
        self.n_rows += n_rows
        self.n_blocks += 1


Outputs = Generator[tuple[Any, Any]]
"""Blocks in order, each with what `write` has returned."""


def outputs_of(
    spec: Spec,
    write: Write,
    pool: Pool,
    tell: Tell = lambda progress: None,
    most_rows: int | None = None,
    place: Place | None = None,
) -> Outputs:
    """Pass over the rows of a specification; yield blocks in order, each with its output.

    Parameters
    ----------
    spec : Spec
    write : callable
        Returns the output of a batch and the answers to it, which has ``n_rows``; workers call it.
    pool : Pool
        Entered already.
    tell : callable
        Called at the beginning, and after each block.
    most_rows : int, optional
        The upper bound of the rows of a block.
    place : Place, optional
        The place to begin at, which moves on; by default the first row.

    Raises
    ------
    RowsError
        With row numbers counted from the beginning of the file.
    """
    place, source = place or Place(), spec.source
    spec.begin(pool, tell)
    tell(Progress(0, spec.totals, source.expected_rows(place.n_rows, place.end)))
    blocks = readable(source.blocks(place.end, most_rows), pool)
    try:
        blocks = (replace(block, number=k) for k, block in enumerate(blocks, place.n_blocks))
        with closing(_passed(spec, blocks, write, pool, place.n_rows)) as outputs:
            for block, output in outputs:
                yield block, output
                place.pass_by(block, output.n_rows)
                expected = source.expected_rows(place.n_rows, place.end)
                tell(Progress(output.n_rows, spec.totals, expected))
    except RowsError as error:
        raise error.after(place.rows if error.name == place.name else 0) from None


def _passed(
    spec: Spec, blocks: Iterator[Block], write: Write, pool: Pool, n_before: int
) -> Outputs:
    """Find the answers to the rows of blocks, and write them."""
    read, source = spec.reader.read, spec.source
    if spec.choice is not None:
        work = RowWork(spec.choice, spec.search, read, write, spec.keep)
        return work.search(blocks, pool, spec.size, source.waits)
    write_rows = partial(_written, read, write)
    answers_to = spec.decide
    if answers_to is None:
        return in_turn(blocks, pool, write_rows)

    def decide(block: Block, findings: Any) -> Any:
        nonlocal n_before
        first, n_before = n_before, n_before + (findings.n_rows if spec.look else findings)
        return answers_to(first, block, findings)

    look = partial(_written, read, spec.look) if spec.look else Block.n_rows
    return in_turn(blocks, pool, look, decide, write_rows)


def _written(read: Callable[[Any], Any], write: Write, block: Any, answers: Any = None) -> Any:
    """Read a block and write it, given the answers to its rows; workers call it."""
    return write(read(block), answers)


def tables_of(
    spec: Spec, pool: Pool, tell: Tell, most_rows: int | None = None
) -> Iterator[pa.Table]:
    """Yield an empty output table, then those of each block, and add their sums."""
    assert spec.table is not None
    table = spec.table(spec.reader)
    yield pa.Table.from_batches([], table.schema)
    with closing(outputs_of(spec, table.rows, pool, tell, most_rows)) as outputs:
        for _, rows in outputs:
            spec.totals.add(rows.sums)
            yield rows.data


def run_with(on_progress: OnProgress = None, **workers: Any) -> tuple[Pool, Told]:
    """Return the workers of a run over rows, and the context in which it tells of its progress."""
    return Pool(**workers), shown(on_progress, ROW_BAR)


def in_memory(spec: Spec, pool_settings: dict[str, Any], most_rows: int | None = None) -> pa.Table:
    """Return the output table of a specification; the settings of the pool are for `run_with`."""
    start = time.perf_counter()
    pool, told = run_with(**pool_settings)
    with told as tell, pool:
        table = pa.concat_tables(list(tables_of(spec, pool, tell, most_rows)))
        spec.end(pool, start)
    return table


def table_of(spec: Spec, pool_settings: dict[str, Any]) -> pa.Table:
    """Return the output table as `in_memory`, and log the sums."""
    table = in_memory(spec, pool_settings)
    LOG.info("%s", spec.totals)
    return table


def table_or_file(
    spec: Spec, inputs: Any, target: str | None, files: FileSettings, pool_settings: dict[str, Any]
) -> pa.Table | None:
    """Return the output table, unless it is to be written to a file.

    Parameters
    ----------
    spec : Spec
    inputs : table, or list of str or table
        The inputs of its source.
    target : str, optional
        The file; an unfinished one is removed.
    files : FileSettings
    pool_settings : dict
        The arguments of `run_with`.
    """
    if target is None:
        return in_memory(spec, pool_settings, files.chunk)
    FileRun(inputs, output_at(target, is_whole=True), files, pool_settings).run(lambda *_: spec)
    return None


# ---- files ----------------------------------------------------------------------------------


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
    files, arguments = (
        [os.fsdecode(path) for path in names if isinstance(path, str | bytes | os.PathLike)]
        for names in (paths, each_of(inputs))
    )
    check_is_no_input(output, files)
    is_local = output != "-" and not is_address(output)
    for folder in filter(os.path.isdir, arguments if is_local else []):
        inner, outer = real_path(output), real_path(folder)
        if os.path.commonpath([inner, outer]) == outer:
            raise InputError(
                f"{output}: lies in {folder}, all of which is input; write elsewhere, or "
                f"name the files, as in '{os.path.join(folder, '*.csv')}'"
            )


def identity_of(path: Any) -> str:
    """Return the name, size and time of a file for the journal; a name of no file as it is.

    Of a table, the names and the sums of its columns.
    """
    if not isinstance(path, str):
        return f"{path.path} of {path.table.column_names}, {sums_of(path.table)}"
    if not exists(path):
        return path
    with errors.named_errors(path):
        facts = facts_of(path)
    changed = str(np.datetime64(facts.changed, "ns")).replace("T", " ")
    return f"{path} of {facts.size:,} bytes, changed {changed} UTC"


def readable(blocks: Iterator[Block], pool: Pool) -> Iterator[Block]:
    """Return blocks that the workers of a pool can read."""
    return blocks if pool.workers.sees_files else (block.carried() for block in blocks)


def sums_before(corpus: Tables, end: Boundary, pool: Pool) -> Checksums:
    """Read the records before the end of an earlier block again; return their checksums.

    Raises
    ------
    InputError
        If they cannot be read.
    """
    blocks = readable(corpus.blocks_before(end), pool)
    with closing(in_turn(blocks, pool, partial(_sums_until, end))) as results:
        return reduce(joined_sums, (sums for _, sums in results), ())


def _sums_until(end: Boundary, block: Block) -> Checksums:
    """Return the checksums of the records of a block before a point."""
    records = block.records()
    if block.end > end:
        records = records[: max(0, len(records) - (block.end.offset - end.offset))]
    return sums_of(records)


def numbers_of(corpus: Corpus, pool: Pool) -> Mapping[str, pa.DataType]:
    """Return the types of text columns of numbers, which are written as numbers.

    A Parquet column has one type, so workers first look at all rows.
    """
    names = corpus.perhaps_numbers()
    if not names:
        return {}
    blocks = readable(corpus.blocks(Boundary(0, 0)), pool)
    try:
        with closing(in_turn(blocks, pool, partial(_number_kinds, names))) as results:
            return number_types(kinds for _, kinds in results)
    except InputError:  # the run will meet the same error and report it
        return {}


def _number_kinds(names: Sequence[str], block: Block) -> Kinds:
    """Return the types that hold the values of text columns of a block."""
    return number_kinds(names, block.rows()[0])


# ---- from file to file ----------------------------------------------------------------------

OpenSpec = Callable[[list[Any], Output], Spec]
"""Returns the specification of a run, given its input files and tables and its output."""


def run_files(
    spec: OpenSpec, inputs: Any, output: Any, files: FileSettings, pool_settings: dict[str, Any]
) -> Any:
    """Carry out a specification from files to an output; return its sums, and log them.

    The `pool_settings` are the arguments of `run_with`.
    """
    names = [path_of("the input", path) for path in each_of(inputs)]
    target = output_at(path_of("the output", output))
    summary = FileRun(names, target, files, pool_settings).run(spec)
    LOG.info("%s", summary)
    return summary


class FileRun:
    """One run from file to file.

    Parameters
    ----------
    inputs : table, or list of str or table
        Names of files, and tables.
    output : Output
    settings : FileSettings
    pool_settings : dict
        The arguments of `run_with`.

    Attributes
    ----------
    pool : Pool
    tell : callable
        Tells of the progress.
    spec : Spec
        With the sums of the rows that are written.
    workers : ExitStack
        Ends the workers of the pool.
    paths : list of str or TableSource
        The files that the inputs stand for, and the tables.
    journal : Journal or None
        The journal; None if the run cannot be resumed.
    place : Place
        The place that the run has come to.
    rows_before : int
        Rows that the resumed run had written.
    read : Checksums
        The checksums of the input before the place.
    unrecorded : list of Part
    last_recorded : float
        The time of the last checkpoint, by the monotonic clock.
    """

    def __init__(
        self, inputs: Any, output: Output, settings: FileSettings, pool_settings: dict[str, Any]
    ) -> None:
        self.pool, self._told = run_with(**pool_settings)
        self.inputs, self.output, self.settings = inputs, output, settings
        self.paths = files_and_tables("the input", inputs)
        self.journal: Journal | None = None
        self.place, self.rows_before = Place(), 0
        self.read: Checksums = ()
        self.unrecorded: list[Part] = []
        self.last_recorded = 0.0

    def run(self, open_spec: OpenSpec) -> Any:
        """Carry out a specification, or go on with an interrupted run of it."""
        start = time.perf_counter()
        self._check()
        n_tasks = self.output.block_size.most // TASKS.most
        self.spec = replace(open_spec(self.paths, self.output), size=n_tasks)
        # before a journal is made, because a cluster may be unreachable
        with self._told as self.tell, self.output.held(), ExitStack() as self.workers:
            self.workers.enter_context(self.pool)
            is_parquet = isinstance(self.output, Parts) or suffix_of(self.output.path) == ".parquet"
            if is_parquet and isinstance(self.spec.source, Corpus):
                reader = replace(self.spec.reader, numbers=numbers_of(self.spec.source, self.pool))
                self.spec = replace(self.spec, reader=reader)
            assert self.spec.table is not None
            table = self.spec.table(self.spec.reader)
            if is_parquet:
                check_parquet(table.schema)
            with self._opened_journal() if self.output.journal else nullcontext() as self.journal:
                self._write(table)
            if isinstance(self.spec.source, Corpus):
                note_columns(self.spec.totals, self.spec.source)
            self.spec.end(self.pool, start, self.rows_before)
        return self.spec.totals

    def _check(self) -> None:
        """Raise an error if nothing can be read or written as the settings say."""
        path = self.output.path
        self.output.check()
        if self.settings.resume and "-" in (*self.paths, path):
            raise InputError("`resume` needs files; standard input or output cannot be resumed")
        if self.settings.chunk is not None and isinstance(self.output, Parts):
            raise InputError(f"{path}: a part is a block of the input; leave out the chunk")
        added = [name for name in settings_that("adds") if getattr(self.settings, name)]
        if suffix_of(path) == ".npy" and added:
            raise InputError(f"{path}: holds solutions alone; leave out {listed(added)}")
        if self.output.journal:
            self._refuse_leftovers()
        refuse_own_output(self.inputs, self.paths, path)

    def _write(self, table: RowTable) -> None:
        journal, (written, finished) = self.journal, self._restored()
        if journal and finished and not exists(self.output.kept):
            journal.remove()  # the run was stopped between its last two steps
            return
        self.check_read()
        try:
            self.output.open(table.schema, written, journal.parts() if journal else [])
        except BaseException:
            if journal and written is None and not exists(self.output.kept):
                journal.remove()  # nothing was written
            raise
        try:
            if not finished:
                self._write_rows(self.output.writer(table, self.pool))
            self.workers.close()  # before the end of the run: until then, Ctrl-C lets it be resumed
            self.record(finished=True)
            self.output.finish()
        except BaseException as error:
            with suppress(OutputError):  # a disk that is still full must not hide the first error
                self.output.close()
            is_told = isinstance(error, OutputError | ServerError) or _must_be_mended(error)
            kept = self.output.kept
            if journal and is_told and not self.spec.totals.rows:
                with suppress(OSError):  # of the disk or the server that has failed
                    self.workers.close()  # they may still write parts
                    journal.remove()
                    self.output.discard()
            elif journal and "-" not in self.paths and exists(kept) and exists(journal.path):
                error.add_note(f"the rows done are kept in {kept}; {self._how_to_go_on(error)}")
            raise
        finally:
            self.output.close()
        if journal:
            journal.remove()

    def check_read(self) -> None:
        """Raise `JournalError` if the input that the interrupted run has read was changed."""
        if self.place.end is None or not self.paths:
            return
        if sums_before(self.spec.source, self.place.end, self.pool) != self.read:
            inputs = counted(len(self.paths), "input file")
            raise JournalError(
                f"{self.paths[0] if len(self.paths) == 1 else inputs}: the rows that the "
                f"interrupted run has read were changed; put back the input as it was, or delete "
                f"{self.output.kept} and {self.output.journal} to begin again"
            )

    def _how_to_go_on(self, error: BaseException) -> str:
        """Return advice after an error."""
        if isinstance(error, InvalidRowError):
            return "go on with `resume`, and without `stop_on_invalid`"
        if _must_be_mended(error):
            paths = f"{self.output.kept} and {self.output.journal}"
            return f"mend that, and delete {paths} or name another output, to begin again"
        return "go on with `resume`"

    def _write_rows(self, write: Write) -> None:
        self.record()
        chunk = self.settings.chunk
        try:
            with Behind() as behind:

                def told(progress: Progress) -> None:
                    self.tell(progress)
                    self.record_behind(behind)

                pairs = outputs_of(self.spec, write, self.pool, told, chunk, self.place)
                with closing(pairs) as outputs:
                    for _, written in outputs:
                        self._take(written)
        except InputError:
            self.record()  # keeps the rows before the fault
            raise

    def _take(self, written: OutputRows) -> None:
        """Write the rows of a block to the output, and add them to the sums."""
        totals, sums = self.spec.totals, written.sums
        if self.settings.stop_on_invalid and sums.first_invalid:
            place, fault = sums.first_invalid
            raise InvalidRowError(f"row {totals.rows + place + 1}: {fault}")
        self.unrecorded += self.output.take(written)
        totals.add(sums)
        self.read = joined_sums(self.read, written.read)

    def _refuse_leftovers(self) -> None:
        """Raise an error if an interrupted run left files and is not to be resumed."""
        kept, path = self.output.kept, self.output.journal
        begun = Journal.is_begun(path)
        if begun and not self.settings.resume:
            with self.output.held(), Journal(path) as journal:  # the run may be going on
                kind = journal.about["kind"]
            raise OutputError(
                f"{kept}: an interrupted run ({kind}) left its rows there; go on with that run "
                f"and `resume`, or delete {kept} and {path} to begin again"
            )
        if not begun and (fault := self.output.leftovers(self.settings.resume)):
            raise OutputError(
                f"{kept}: {fault}, and has no journal ({path}) to be resumed with, as after the "
                f"end of a run; move it or delete it, or name another output"
            )

    def _opened_journal(self) -> Journal:
        """Open the journal; its settings must be the same when the run is resumed."""
        settings = dict(self.spec.same)
        if self.paths:
            settings["inputs"] = [] if "-" in self.paths else list(map(identity_of, self.paths))
            settings["columns"] = self.spec.source.columns
        settings |= {name: getattr(self.settings, name) for name in settings_that("same")}
        settings["output"] = self.output.form  # the name of the journal does not tell
        return Journal(self.output.journal, self.spec.kind, settings)

    def _restored(self) -> tuple[Written | None, bool]:
        """Restore the state of an interrupted run; return its output and whether it finished."""
        journal = self.journal
        if journal is None or (state := journal.state()) is None:
            return None, False
        totals = type(self.spec.totals)(**state["totals"])
        end = None if state["begin"] is None else Boundary(*state["begin"])
        counts = {"n_rows": totals.rows, "n_blocks": len(journal.parts())}
        self.place = Place(**state["place"], end=end, **counts)
        self.read = tuple(Written(*fields) for fields in state["read"])
        self.spec, self.rows_before = replace(self.spec, totals=totals), totals.rows
        LOG.info("%s goes on after %s", self.output.path, counted(totals.rows, "row"))
        return Written(*state["written"]), state["finished"]

    def record(self, finished: bool = False) -> None:
        """Sync the output to disk, and record the state in the journal."""
        state, n_parts = self.state(finished), len(self.unrecorded)
        self.last_recorded = time.monotonic()
        self.output.sync()
        self.note(state, n_parts)

    def record_behind(self, behind: Behind) -> None:
        """Record what the disk has finished; begin a checkpoint a second after the last one.

        A thread waits for the disk while the run goes on.
        """
        behind.settle()
        if not behind.is_busy and time.monotonic() - self.last_recorded >= JOURNAL_SECONDS:
            self.last_recorded = time.monotonic()
            behind.do(self.output.sync, partial(self.note, self.state(), len(self.unrecorded)))

    def note(self, state: dict[str, Any], n_parts: int) -> None:
        """Record a state in the journal, with the first `n_parts` of the unrecorded parts."""
        if self.journal is not None:
            self.journal.record(state, parts=self.unrecorded[:n_parts])
        del self.unrecorded[:n_parts]

    def state(self, finished: bool = False) -> dict[str, Any]:
        """Return the state of the rows written so far; empty without a journal."""
        if self.journal is None:
            return {}
        place = self.place
        return {
            "written": self.output.written(),
            "begin": place.end,
            "read": self.read,
            "place": {"name": place.name, "source": place.source, "rows": place.rows},
            "totals": asdict(self.spec.totals),
            "finished": finished,
        }


def _must_be_mended(error: BaseException) -> bool:
    """Return True for an error of the input, which cannot be resumed: it differs once mended."""
    return isinstance(error, InputError) and not isinstance(error, InvalidRowError | ServerError)


class InvalidRowError(InputError):
    """An invalid row that stopped a run; the run can be resumed without ``stop_on_invalid``."""
