"""Runs from file to file, with a journal to resume from, in bounded memory.

Workers read, search and write blocks of rows. The main process cuts the input into blocks, takes
the encoded rows in order, and records its progress.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from typing import Any

from batchsolve.errors import InputError, JournalError, OutputError, counted, listed
from batchsolve.runs.journal import Journal, Part
from batchsolve.runs.outputs import Behind, Encoded, Output, Parts, output_at
from batchsolve.runs.progress import ROW_BAR, Progress, rows_on, shown
from batchsolve.runs.specs import (
    FilePlace,
    Outputs,
    Spec,
    blocks_for,
    identity_of,
    reader_of_numbers,
    refuse_own_output,
    sums_before,
)
from batchsolve.settings import FileSettings, path_of, paths_of, settings_that
from batchsolve.tables.blocks import Boundary, numbered
from batchsolve.tables.checksums import Sums, Written, joined
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.layouts import RowsError
from batchsolve.tables.places import ServerError, exists, files_of, is_address, suffix_of
from batchsolve.tables.sources import Source
from batchsolve.workers.base import LOG
from batchsolve.workers.pool import Pool

JOURNAL_SECONDS = 1.0

OpenSpec = Callable[[list[str], Output], Spec]
"""Returns the specification of a run, given its input files and its output."""


def run_files(
    spec: OpenSpec,
    inputs: Any,
    output: Any,
    files: FileSettings,
    pool: Pool,
    on_progress: Callable[[Progress], None] | bool | None,
) -> Any:
    """Carry out a specification from files to an output; return its sums, and log them."""
    names = paths_of("the input", inputs), path_of("the output", output)
    with shown(on_progress, rows_on, ROW_BAR) as tell:
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
    inputs : list of str
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
    paths : list of str
        The files that the inputs stand for.
    totals : Summary
        The sums of the rows that are written.
    rows_before : int
        Rows that the resumed run had written.
    begin : Boundary or None
        The position of the next input row to read.
    read : Sums
        The checksums of the input before `begin`.
    place : FilePlace
        The current input file.
    """

    spec: Spec
    totals: Any

    def __init__(
        self,
        inputs: list[str],
        output: str,
        settings: FileSettings,
        pool: Pool,
        on_progress: Callable[[Progress], None] = lambda _: None,
        is_whole: bool = False,
    ) -> None:
        self.inputs, self.settings = inputs, settings
        self.pool, self.on_progress = pool, on_progress
        self.paths = files_of(inputs)
        self.output, self._is_whole = output_at(output, is_whole), is_whole
        self.rows_before = 0
        self.begin: Boundary | None = None
        self.read: Sums = ()
        self.place = FilePlace()
        self.unrecorded: list[Part] = []

    def run(self, open_spec: OpenSpec) -> Any:
        """Carry out a specification, or go on with an interrupted run of it."""
        start = time.perf_counter()
        self._check()
        spec = self.spec = open_spec(self.paths, self.output)
        self.totals = spec.totals
        # before a journal is made, because a cluster may be unreachable
        with self.output.held(), self.pool as pool:
            self.totals.backend, self.totals.jobs = pool.backend, pool.jobs
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
        totals, source = self.totals, spec.source
        totals.column = source.given_column
        totals.solution_column = source.solution_column
        totals.rule_columns = list(source.rule_columns)
        totals.unread_columns = list(source.unread_columns)
        if spec.engine:
            totals.engine = spec.engine
            totals.advice = spec.advice if totals.unfinished else ""
        totals.seconds = time.perf_counter() - start
        totals.rows_per_second = (totals.rows - self.rows_before) / totals.seconds
        return totals

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
        how = table.reader.read, self.output.writer(table, self.pool), self.totals.rows + 1
        rows = self.spec.work(blocks, self.pool, *how)
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
                return f"delete {left} to begin again with other wishes"
            return f"mend the input, and delete {left} or name another output, to begin again"
        return "go on with `resume`"

    def _write_rows(self, rows: Outputs, journal: Journal | None) -> None:
        self.record(journal)
        self._tell(0)
        try:
            with closing(rows), RecordsBehind(self, journal, self.output) as records:
                for block, written in rows:
                    self._take(block, written)
                    self._tell(written.n_rows)
                    records.make_if_due()
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
            Journal.read(path).close()  # raises if the run is going on in another process
            raise OutputError(
                f"{kept}: an interrupted run left its rows there; go on with `resume`, or delete "
                f"{kept} and {path} to begin again"
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
        if is_address(self.output.path):  # the name of the journal holds only its last part
            settings["output"] = self.output.path
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
        self.output.sync()
        self.note(journal, state, n_parts)

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


class RecordsBehind:
    """Checkpoints of a run, one a second; a thread waits for the disk while the run goes on."""

    def __init__(self, run: FileRun, journal: Journal | None, output: Output) -> None:
        self._run, self._journal, self._output = run, journal, output
        self._state: dict[str, Any] | None = None  # one that the disk has not finished
        self._n_parts = 0
        self._last = time.monotonic()

    def __enter__(self) -> RecordsBehind:
        self._behind = Behind()
        return self

    def __exit__(self, *_: object) -> None:
        self._behind.leave()

    def make_if_due(self) -> None:
        """Begin a checkpoint a second after the last one; end it once the disk has finished."""
        self._behind.settle()
        if self._state is not None:
            if not self._behind.n_open:
                self._run.note(self._journal, self._state, self._n_parts)
                self._state = None
        elif time.monotonic() - self._last >= JOURNAL_SECONDS:
            self._last = time.monotonic()
            self._state = self._run.state()
            self._n_parts = len(self._run.unrecorded)
            self._behind.do(self._output.sync)
