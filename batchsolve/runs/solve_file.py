"""Solving a corpus from file to file: journalled, resumable, in bounded memory.

Workers read, search and write blocks of rows (`batchsolve.search.rows`). This process cuts the
input, puts what they have written in order into the output, and records how far that is.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.engines import Engine
from batchsolve.engines.choice import Handover, engine_for_rows, handover_for_rows, missing_for_rows
from batchsolve.errors import InputError, JournalError, OutputError
from batchsolve.problems.answers import Answers, Status
from batchsolve.runs.journal import Journal
from batchsolve.search.rows import RowSearch
from batchsolve.settings import UNLIMITED, FileSettings, SearchSettings
from batchsolve.tables.answers import AnswerTable
from batchsolve.tables.blocks import Block, Position
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.encoders import Encoder, encoder_for
from batchsolve.tables.layouts import RowsError
from batchsolve.tables.outputs import Output, Written, check_output, open_output, partial_path
from batchsolve.tables.reader import Batch
from batchsolve.workers.pool import Pool

JOURNAL_SECONDS = 1.0
SAME_FILES = ("column", "alphabet", "blank", "stats")  # settings that a resumed run must have
PROVES_UNIQUENESS = 2  # solutions to look for, unless --limit says otherwise


@dataclass
class Summary:
    """What a run over a corpus came to: its ``--json`` line, advice aside.

    Attributes
    ----------
    engine : str
        The engine; and, if rows of many nodes are handed over, the other one: ``cells, sat``.
    advice : str
        What would help with rows that met their node limit; empty if nothing is known to.
    """

    rows: int = 0
    unique: int = 0
    multiple: int = 0
    solved: int = 0
    unsolvable: int = 0
    unfinished: int = 0
    invalid: int = 0
    disagree: int = 0
    nodes: int = 0
    seconds: float = 0.0
    rows_per_second: float = 0.0
    engine: str = ""
    backend: str = "threading"
    jobs: int = 1
    advice: str = ""

    @property
    def complete(self) -> bool:
        """Whether every row is answered and no given solution disagrees."""
        return not (self.unfinished or self.invalid or self.disagree)


@dataclass(frozen=True)
class Progress:
    """What a progress callback is told: rows answered since the last call, and totals."""

    new_rows: int
    totals: Summary


def solve_file(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    search: SearchSettings | None = None,
    files: FileSettings | None = None,
    **settings: Any,
) -> Summary:
    r"""Solve a corpus of puzzles from table to table.

    Parameters
    ----------
    inputs : str or path, or a sequence of them
        CSV, TSV, Parquet, JSON lines or text files, perhaps compressed; ``-`` is standard input.
    output : str or path
        ``.csv``, ``.tsv``, ``.jsonl`` (perhaps with ``.gz``, ``.bz2``, ``.zst``), ``.parquet``, or
        ``-`` for CSV on standard output. It holds all input columns, then ``solution``,
        ``status``, ``n_solutions``, ``agrees`` (if solutions are given) and ``message``.
    jobs : int, optional
        Workers; the number of cores by default.
    backend : {"threading", "loky", "dask", "ray"}
        Threads, processes, or the workers of a cluster.
    address : str, optional
        The scheduler of the cluster; by default a cluster on this machine is started.
    on_progress : callable, optional
        Called with a `Progress` as rows are written.
    search : SearchSettings, optional
        What to search for; a ``limit`` of 2 is the default.
    files : FileSettings, optional
        How to read and write.
    **settings
        The same two, field by field: ``limit=1``, ``column="puzzle"``, ….

    Returns
    -------
    Summary

    Raises
    ------
    InputError, OutputError, JournalError
        See `batchsolve.errors`; rows written before are kept in ``OUT.partial``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "in.txt").write_text("1.....2..3.....4\n")
    >>> summary = solve_file(str(folder / "in.txt"), str(folder / "out.csv"))
    >>> summary.rows, summary.unique
    (1, 1)
    >>> print((folder / "out.csv").read_text())
    puzzle,solution,status,n_solutions,message
    1.....2..3.....4,1243342143122134,unique,1,
    <BLANKLINE>
    """
    several = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
    names = {declared.name for declared in fields(SearchSettings)}
    wanted = {name: value for name, value in settings.items() if name in names}
    others = {name: value for name, value in settings.items() if name not in names}
    chosen = search or SearchSettings(**wanted)
    if chosen.time_limit is not None:
        raise InputError("rows have no time_limit; their node_limit does not depend on the machine")
    return FileRun(
        [os.fspath(path) for path in several],
        os.fspath(output),
        replace(chosen, limit=chosen.limit or PROVES_UNIQUENESS),
        files or FileSettings(**others),
        Pool(jobs, backend, address),
        on_progress or (lambda progress: None),
    ).run()


@dataclass(frozen=True, eq=False)
class _Written:
    """The finished rows of a block, and what they add to the sums."""

    data: pa.Buffer | bytes
    n_rows: int
    tally: npt.NDArray[np.int64]
    disagree: int
    nodes: int
    first_invalid: tuple[int, str] | None


@dataclass(frozen=True, eq=False)
class _Writer:
    """Makes the finished rows of a block, in a worker."""

    table: AnswerTable
    encoder: Encoder

    def write(self, batch: Batch, answers: Answers) -> _Written:
        rows = self.table.rows(batch, answers)
        data = self.encoder.rows(rows.table)
        return _Written(data, len(batch), rows.tally, rows.disagree, rows.nodes, rows.first_invalid)


@dataclass
class FileRun:
    """One run of `solve_file`; its parameters are those of that function, checked.

    Attributes
    ----------
    totals : Summary
        The sums of the rows that are written.
    begin : Position or None
        Where in the input the rows still to be read begin.
    file_name, rows_of_file : str, int
        The input file at hand, and how many of its rows are done.
    """

    paths: list[str]
    output: str
    search: SearchSettings
    settings: FileSettings
    pool: Pool
    on_progress: Callable[[Progress], None]
    totals: Summary = field(default_factory=Summary)
    begin: Position | None = None
    file_name: str = ""
    rows_of_file: int = 0

    def run(self) -> Summary:
        """Solve the corpus, or go on with it."""
        start = time.perf_counter()
        check_output(self.output)
        if self.settings.resume and "-" in (*self.paths, self.output):
            raise InputError("--resume needs files; standard input or output cannot be resumed")
        self.totals.backend = self.pool.backend
        self._refuse_leftovers()
        for path in self.paths:
            if path != "-" and os.path.exists(path) and _same_file(path, self.output):
                raise InputError(f"{path}: is both input and output; write to another file")
        settings = self.settings
        corpus = Corpus(
            self.paths, settings.column, settings.box, settings.alphabet, settings.blank
        )
        engine = engine_for_rows(self.search.engine, corpus.problem)
        limit = self.search.limit or UNLIMITED
        handover = handover_for_rows(self.search.engine, corpus.problem, limit)
        missing = missing_for_rows(self.search.engine, corpus.problem, limit)
        names = [engine.name] if handover is None else [engine.name, handover.engine.name]
        self.search = replace(self.search, engine=", ".join(names))
        with self.pool as pool:  # before any file is made, for a cluster may not be there
            self.totals.jobs = pool.jobs
            if self.output == "-":
                self._solve(corpus, engine, handover, None)
            else:
                with self._journal(handover) as journal:
                    self._solve(corpus, engine, handover, journal)
        self.totals.engine = self.search.engine
        met_limit = self.totals.unfinished and self.search.node_limit is not None
        self.totals.advice = missing if met_limit else ""
        self.totals.seconds = time.perf_counter() - start
        self.totals.rows_per_second = self.totals.rows / self.totals.seconds
        return self.totals

    def _solve(
        self, corpus: Corpus, engine: Engine, handover: Handover | None, journal: Journal | None
    ) -> None:
        written, finished = self._restore(journal) if journal else (None, False)
        if journal and finished and not os.path.exists(partial_path(self.output)):
            journal.remove()  # the run was stopped between its last two steps
            return
        table = AnswerTable(corpus, self.search.limit or PROVES_UNIQUENESS, self.settings.stats)
        output = open_output(self.output, table.schema, written)
        writer = _Writer(table, encoder_for(self.output))
        rows = RowSearch(
            corpus.problem, engine, self.pool, self.search, corpus.reader, writer, handover
        )
        try:
            if not finished:
                self._write_answers(corpus, rows, output, journal)
            self.record(journal, output, finished=True)
            output.finish()
        except BaseException as error:
            partial = partial_path(self.output)
            if journal and "-" not in self.paths and os.path.exists(partial):
                error.add_note(f"the rows done are kept in {partial}; go on with --resume")
            raise
        finally:
            output.close()
        if journal:
            journal.remove()

    def _write_answers(
        self, corpus: Corpus, rows: RowSearch, output: Output, journal: Journal | None
    ) -> None:
        blocks = corpus.blocks(self.begin, self.settings.chunk)
        if not self.pool.sees_files:
            blocks = map(Block.read, blocks)
        self.record(journal, output)
        try:
            with _RecordsBehind(self, journal, output) as records:
                for block, written in rows.run(blocks):
                    self._take(block, written, output)
                    records.make_if_due()
        except InputError as error:
            self.record(journal, output)  # the rows before the fault are good
            if isinstance(error, RowsError):
                rows_before = self.rows_of_file if error.name == self.file_name else 0
                raise error.after(rows_before) from None
            raise

    def _take(self, block: Block, written: _Written, output: Output) -> None:
        """Put the rows of a block into the output, and add them to the sums."""
        totals = self.totals
        if written.first_invalid and self.settings.stop_on_invalid:
            place, why = written.first_invalid
            raise InputError(f"row {totals.rows + place + 1}: {why}")
        output.write(written.data)
        for status, n in zip(Status, written.tally.tolist(), strict=True):
            name = status.name.lower()
            setattr(totals, name, getattr(totals, name) + n)
        totals.disagree += written.disagree
        totals.nodes += written.nodes
        totals.rows += written.n_rows
        if block.name != self.file_name:
            self.file_name, self.rows_of_file = block.name, 0
        self.rows_of_file += written.n_rows
        self.begin = block.end
        self.on_progress(Progress(written.n_rows, totals))

    def _refuse_leftovers(self) -> None:
        """Refuse to overwrite what an interrupted run left, unasked."""
        partial = partial_path(self.output)
        path = partial + ".journal"
        begun = os.path.exists(path) and os.path.getsize(path) > 0  # nothing: the disk was full
        if begun and not self.settings.resume:
            Journal.read(path).close()  # raises if the run is going on in another process
            raise OutputError(
                f"{partial}: an interrupted run left its rows there; go on with --resume, or "
                f"delete {partial} and {path} to begin again"
            )
        if os.path.exists(partial) and not begun:
            raise OutputError(
                f"{partial}: is in the way, and has no journal ({path}) to be resumed with; move "
                f"it or delete it"
            )

    def _journal(self, handover: Handover | None) -> Journal:
        path = partial_path(self.output) + ".journal"
        search = {name: getattr(self.search, name) for name in ("limit", "node_limit", "engine")}
        same = {name: getattr(self.settings, name) for name in SAME_FILES}
        if handover is not None:
            search["engine"] += f" after {handover.after} nodes"
        box = list(self.settings.box) if self.settings.box else None
        inputs = [] if "-" in self.paths else [_identity(p) for p in self.paths]
        return Journal(path, "solve", {**search, **same, "box": box, "inputs": inputs})

    def _restore(self, journal: Journal) -> tuple[Written | None, bool]:
        """Take up the sums of an interrupted run; return what it wrote and whether it finished."""
        state = journal.state()
        if state is None:
            return None, False
        try:
            self.totals = Summary(**state["totals"])
            written, finished = Written(*map(int, state["written"])), bool(state["finished"])
            self.begin = None if state["begin"] is None else Position(*map(int, state["begin"]))
            self.file_name, self.rows_of_file = state["file_name"], int(state["rows_of_file"])
        except (KeyError, TypeError, ValueError) as error:
            raise journal.damaged(error) from error
        partial = partial_path(self.output)
        if not finished and not os.path.exists(partial):
            raise JournalError(f"{partial}: is gone; delete {journal.path} to begin again")
        return written, finished

    def record(self, journal: Journal | None, output: Output, finished: bool = False) -> None:
        """Make what is written durable, and note how far that is."""
        state = self.state(output, finished)
        output.sync()
        if journal is not None:
            journal.record(state)

    def state(self, output: Output, finished: bool = False) -> dict[str, Any]:
        """Return what a journal has to know of what is written so far."""
        return {
            "written": output.written(),
            "begin": self.begin,
            "file_name": self.file_name,
            "rows_of_file": self.rows_of_file,
            "totals": asdict(self.totals),
            "finished": finished,
        }


class _RecordsBehind:
    """Records a run every second, while a thread waits for the disk and the run goes on."""

    def __init__(self, run: FileRun, journal: Journal | None, output: Output) -> None:
        self._run, self._journal, self._output = run, journal, output
        self._thread = ThreadPoolExecutor(1)
        self._syncing: Future[None] | None = None
        self._state: dict[str, Any] = {}
        self._last = time.monotonic()

    def __enter__(self) -> _RecordsBehind:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()

    def make_if_due(self) -> None:
        """Begin a record if a second has passed since the last; end it once the disk has done."""
        if self._syncing is not None:
            if self._syncing.done():
                self._syncing.result()
                self._syncing = None
                if self._journal is not None:
                    self._journal.record(self._state)
        elif time.monotonic() - self._last >= JOURNAL_SECONDS:
            self._last = time.monotonic()
            self._state = self._run.state(self._output)
            self._syncing = self._thread.submit(self._output.sync)


def _same_file(one: str, two: str) -> bool:
    return os.path.exists(two) and os.path.samefile(one, two)


def _identity(path: str) -> list[Any]:
    try:
        facts = os.stat(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    return [path, facts.st_size, facts.st_mtime_ns]
