"""Solving a corpus from file to file, with a journal to resume from, in bounded memory.

Workers read, search and write blocks of rows (`batchsolve.search.rows`). The main process cuts the
input into blocks, takes the encoded rows in order, and records its progress.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from queue import SimpleQueue
from typing import Any, ClassVar, Unpack

from batchsolve.engines.choice import Choice
from batchsolve.errors import InputError, JournalError, OutputError, counted, listed
from batchsolve.problems.answers import STATUS_NAMES
from batchsolve.runs.corpora import (
    FilePlace,
    blocks_for,
    identity_of,
    reader_of_numbers,
    refuse_own_output,
    sums_before,
)
from batchsolve.runs.destinations import Parts, RowTable, destination_of
from batchsolve.runs.instance_answers import CountTable, CoverTable
from batchsolve.runs.instances import (
    BLOCKS,
    PARTS,
    InstanceTables,
    check_engine,
    hold_problems,
    is_problem_file,
    of_files,
)
from batchsolve.runs.journal import Journal, Part
from batchsolve.runs.progress import ROW_BAR, Progress, Summary, rows_on, shown
from batchsolve.runs.reading import TABLE_SUFFIXES
from batchsolve.search.rows import Write, search_rows
from batchsolve.settings import (
    TEXTS_OF_CORPUS,
    UNLIMITED,
    CountFileFields,
    FileSettings,
    SearchSettings,
    SolveFileFields,
    path_of,
    paths_of,
    settings_of,
)
from batchsolve.tables.answers import AnswerTable
from batchsolve.tables.blocks import TASKS, Block, Boundary, numbered
from batchsolve.tables.checksums import Sums, Written, joined
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.in_place import Encoded
from batchsolve.tables.inputs import Tables, open_all
from batchsolve.tables.layouts import RowsError
from batchsolve.tables.outputs import Output
from batchsolve.tables.places import ServerError, exists, files_of, is_address
from batchsolve.tables.reader import Reader
from batchsolve.tables.sources import Source, suffix_of
from batchsolve.workers.base import LOG
from batchsolve.workers.pool import Pool

JOURNAL_SECONDS = 1.0
SAME_SEARCH = ("limit", "node_limit", "time_limit", "engine")
NO_ARRAY = ("filename", "stats", "canonical")  # settings that add columns
SAME_FILES = (*TEXTS_OF_CORPUS, *NO_ARRAY)  # settings that must be the same in a resumed run


def solve_file(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    on_progress: Callable[[Progress], None] | bool | None = None,
    **settings: Unpack[SolveFileFields],
) -> Summary:
    r"""Solve a corpus of puzzles from table to table.

    Puzzles may have different sizes: each is what its length, or a column ``box``, says.

    Parameters
    ----------
    inputs : str or path, or a sequence of them
        CSV, TSV, Parquet, JSON lines or text files, perhaps compressed; ``-`` is standard input.
        Folders, patterns such as ``corpora/*.csv``, and addresses such as ``s3://bucket/corpora``
        stand for all their files. Or exact cover problems: problem files and names of families, or
        tables whose column ``problem`` holds them, as of `count_file`.
    output : str or path
        ``.csv``, ``.tsv``, ``.jsonl`` (perhaps with ``.gz``, ``.bz2``, ``.zst``), ``.parquet``, or
        ``-`` for CSV on standard output. It holds all input columns, then ``solution``,
        ``status``, ``n_solutions``, ``agrees`` (if solutions are given) and ``message``. In JSON
        lines, numbers that JSON does not have (NaN, infinity) are null. Or ``.npy`` for the
        solutions alone: an array of uint8, shape (n, N²), zeros where no solution was found; rows
        of another size than most are invalid there.
        Or a folder (``out/``) or an address (``s3://bucket/out``) for Parquet files whose names
        give their order; the workers write them. For exact cover problems, the columns of answers
        are ``items``, ``options``, ``cover`` (the names of the options of the first cover),
        ``status``, ``n_solutions``, ``engine`` and ``message``.
    jobs : int, optional
        Workers; the number of cores by default.
    backend : {"threading", "loky", "dask", "ray"}
        Threads, processes, or the workers of a cluster.
    address : str, optional
        The scheduler of the cluster; by default a cluster is started on this machine.
    on_progress : callable or True, optional
        Called with a `Progress` as rows are written; True draws a progress bar.
    search : SearchSettings, optional
        The settings of the search; the default ``limit`` is 2.
    files : FileSettings, optional
        The settings of reading and writing.
    **settings
        The fields of `search` and `files`, in their place: ``limit=1``, ``column="puzzle"``, ….

    Returns
    -------
    Summary

    Raises
    ------
    InputError, OutputError, JournalError
        See `batchsolve.errors`; ``OUT.partial`` keeps the rows written before.

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
    workers, search, files = settings_of(solve_file, settings, SearchSettings, FileSettings)
    how = search.of_rows(), files, Pool(**workers)
    summary = run_files(FileRun, inputs, output, *how, on_progress=on_progress)
    if summary.advice:
        LOG.info("%s unfinished: %s", f"{summary.unfinished:,}", summary.advice)
    return summary


def count_file(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    on_progress: Callable[[Progress], None] | bool | None = None,
    **settings: Unpack[CountFileFields],
) -> Summary:
    r"""Count the covers of many problems, and write a table with a row for each.

    Small problems are searched side by side; a large one is split over all workers while they go on
    with the others.

    Parameters
    ----------
    inputs : str or path, or a sequence of them
        Files with a problem each (``.dlx``, ``.ec``, ``.json``, ``.npz``, ``.tiling``, or a grid),
        and names of families. Folders and patterns such as ``inst/*.dlx`` stand for all their
        files. Or tables (CSV, TSV, Parquet, JSON lines; ``-`` is standard input) with a column
        ``problem``, which holds names of families or texts of ``.dlx``. JSON lines may have the
        fields of problems in ``.json`` instead: ``options``, ``items``, ….
    output : str or path
        As of `solve_file`. It holds the ``name`` of each file, or all input columns but the fields
        of problems; then ``items``, ``options``, ``count``, ``complete``, ``engine`` and
        ``message``. Counts have any size: JSON has them as numbers, Parquet as text. ``auto`` is
        named by its first engine, or by ``memo`` if that took over. A problem that cannot be read
        is a row with a message.
    on_progress : callable or True, optional
        As of `solve_file`.
    **settings
        As of `solve_file`: ``jobs``, ``backend``, ``address``, ``limit``, ``stats``, …, but for the
        notation of grids. Limits are those of a row: one that meets its ``limit`` has that count,
        and is not complete. ``time_limit`` is the time that workers spend on a row, together.
        ``column`` is the column of problems.

    Returns
    -------
    Summary
        Problems without, with one and with several covers are ``unsolvable``, ``unique`` and
        ``multiple``; those whose count is not complete are ``unfinished``.

    Raises
    ------
    InputError, OutputError, JournalError
        As of `solve_file`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> summary = count_file(["queens:6", "dominoes:4x4", "queens:x"], folder / "counts.csv")
    >>> print((folder / "counts.csv").read_text())
    name,items,options,count,complete,engine,message
    queens:6,34,36,4,true,dlx,
    dominoes:4x4,16,24,36,true,dlx,
    queens:x,,,,,,"queens:x: 'x' is not a size; write queens:N, such as queens:8"
    <BLANKLINE>
    """
    workers, *how = settings_of(count_file, settings, SearchSettings, FileSettings)
    pool = Pool(**workers)
    return run_files(CountRun, inputs, output, *how, pool, on_progress=on_progress)


def run_files(
    kind: Callable[..., FileRun],
    inputs: Any,
    output: Any,
    *how: Any,
    on_progress: Callable[[Progress], None] | bool | None,
    **own: Any,
) -> Any:
    """Make a run of a kind, and log its summary; the other arguments are those of `FileRun`."""
    files = paths_of("the input", inputs), path_of("the output", output)
    with shown(on_progress, rows_on, ROW_BAR) as tell:
        summary = kind(*files, *how, tell, **own).run()
    LOG.info("%s", summary)
    return summary


@dataclass
class FileRun:
    """One run of `solve_file`; its parameters are those of that function, checked.

    Attributes
    ----------
    inputs, paths : list of str
        The arguments, and the files that they stand for.
    own : dict of str to object
        Settings that only runs of this kind have, in JSON types.
    totals : Summary
        The sums of the rows that are written; other kinds of runs have sums of their own.
    rows_before : int
        Rows that the resumed run had written.
    begin : Boundary or None
        The position of the next input row to read.
    read : Sums
        The checksums of the input before `begin`.
    place : FilePlace
        The current input file.
    """

    inputs: list[str]
    output: str
    search: SearchSettings
    settings: FileSettings
    pool: Pool
    on_progress: Callable[[Progress], None]
    own: dict[str, Any] = field(default_factory=dict)
    totals: Any = field(default_factory=Summary)
    rows_before: int = 0
    begin: Boundary | None = None
    read: Sums = ()
    place: FilePlace = field(default_factory=FilePlace)
    kind: ClassVar[str] = "solve"
    keep: ClassVar[int] = 1  # first covers of a row that its answer needs

    def __post_init__(self) -> None:
        self.paths = files_of(self.inputs)
        self.destination = destination_of(self.output)
        self.output = self.destination.path
        self.unrecorded: list[Part] = []

    def run(self) -> Any:
        """Solve the corpus, or resume an interrupted run of it."""
        start = time.perf_counter()
        self.destination.check()
        if self.settings.resume and "-" in (*self.paths, self.output):
            raise InputError("`resume` needs files; standard input or output cannot be resumed")
        if self.settings.chunk is not None and isinstance(self.destination, Parts):
            raise InputError(f"{self.output}: a part is a block of the input; leave out the chunk")
        more = [name for name in NO_ARRAY if getattr(self.settings, name)]
        if suffix_of(self.output) == ".npy" and more:
            raise InputError(f"{self.output}: holds solutions alone; leave out {listed(more)}")
        self.totals.backend = self.pool.backend
        self._refuse_leftovers()
        refuse_own_output(self.inputs, self.paths, self.output)
        corpus, choice = self.begun()
        if choice:
            self.search = replace(self.search, engine=choice.names)
        # before a journal is made, because a cluster may be unreachable
        with self.destination.held(), self.pool as pool:
            self.totals.jobs = pool.jobs
            table = self.table(corpus, pool)
            if self.output == "-":
                self._solve(corpus, table, choice, None)
            else:
                with self._journal(corpus, choice) as journal:
                    self._solve(corpus, table, choice, journal)
        self.totals.column = corpus.given_column
        self.totals.solution_column = corpus.solution_column
        self.totals.rule_columns = list(corpus.rule_columns)
        self.totals.unread_columns = list(corpus.unread_columns)
        if choice:
            self.totals.engine = self.search.engine
            met_limit = self.totals.unfinished and self.search.node_limit is not None
            self.totals.advice = choice.missing if met_limit else ""
        self.totals.seconds = time.perf_counter() - start
        new_rows = self.totals.rows - self.rows_before
        self.totals.rows_per_second = new_rows / self.totals.seconds
        return self.totals

    def begun(self) -> tuple[Any, Choice | None]:
        """Open the corpus, and choose the engines for it; None if it is not searched."""
        settings = self.settings
        are_files = any(map(is_problem_file, self.paths))
        sources = of_files(self.paths) if are_files else open_all(self.paths)
        if hold_problems(sources, settings.column):
            return self.of_problems(sources)
        corpus = self.corpus(sources, one_shape=suffix_of(self.output) == ".npy")
        limit = self.search.limit or UNLIMITED
        return corpus, Choice.for_grids(self.search.engine, corpus.problem, limit)

    def corpus(self, sources: Sequence[Source], share: int = 1, **more: Any) -> Corpus:
        """Return the corpus in some sources, in blocks that are `share` times as small as usual."""
        size = self.destination.block_size.divided_by(share)
        return Corpus(sources, self.settings, filename=self.settings.filename, size=size, **more)

    def of_problems(self, sources: Sequence[Source]) -> tuple[InstanceTables, Choice]:
        """Return the corpus of problems in some sources, and their engine."""
        choice = Choice(self.search.engine)
        check_engine(choice, self.search, self.keep)
        size = PARTS if isinstance(self.destination, Parts) else BLOCKS
        return InstanceTables(sources, choice, self.settings, size), choice

    def table(self, corpus: Any, pool: Pool) -> RowTable:
        """Return the output table of the corpus."""
        if isinstance(corpus, InstanceTables):
            return CoverTable(corpus.reader, self.search, self.settings.stats)
        how = self.search.limit or UNLIMITED, self.settings.stats, self.settings.canonical
        as_digits = suffix_of(self.output) == ".npy"
        return AnswerTable(self.reader(corpus, pool), *how, as_digits=as_digits)

    def reader(self, corpus: Any, pool: Pool) -> Reader:
        """Return the reader of the corpus; for Parquet, one that reads numbers as numbers."""
        is_parquet = suffix_of(self.output) == ".parquet"
        is_parquet |= isinstance(self.destination, Parts)
        return reader_of_numbers(corpus, pool) if is_parquet else corpus.reader

    def _solve(self, corpus: Any, table: RowTable, choice: Any, journal: Journal | None) -> None:
        written, finished = self._restore(journal) if journal else (None, False)
        if journal and finished and self.destination.is_finished():
            journal.remove()  # the run was stopped between its last two steps
            return
        self.check_read(corpus)
        parts = journal.parts() if journal else []
        try:
            write, output = self.destination.open(table, written, parts, self.pool)
        except BaseException:
            if journal and written is None and not exists(self.destination.kept):
                journal.remove()  # nothing was written
            raise
        rows = self.rows(corpus, table, choice, write, len(parts))
        try:
            if not finished:
                self._write_answers(corpus, rows, output, journal)
            self.record(journal, output, finished=True)
            output.finish()
        except BaseException as error:
            if journal and "-" not in self.paths and exists(self.destination.kept):
                kept = self.destination.kept
                error.add_note(f"the rows done are kept in {kept}; {self.how_to_go_on(error)}")
            raise
        finally:
            output.close()
        if journal:
            journal.remove()

    def rows(
        self, corpus: Any, table: RowTable, choice: Any, write: Write, n_parts: int
    ) -> Generator[tuple[Any, Encoded]]:
        """Return the blocks from `begin` on, each encoded by a worker, in order."""
        blocks = blocks_for(self.pool, corpus, self.begin, self.settings.chunk)
        how = choice, self.pool, self.search, table.reader.read, write
        size = max(1, self.destination.block_size.most // TASKS.most)
        return search_rows(numbered(blocks, n_parts), *how, size, corpus.waits, self.keep)

    def check_read(self, corpus: Tables) -> None:
        """Raise `JournalError` if the input that the interrupted run has read was changed."""
        if self.begin is not None and sums_before(corpus, self.begin, self.pool) != self.read:
            several = counted(len(self.paths), "input file")
            raise JournalError(
                f"{self.paths[0] if len(self.paths) == 1 else several}: the rows that the "
                f"interrupted run has read were changed; put back the input as it was, or delete "
                f"{self.destination.kept} and {self.destination.journal} to begin again"
            )

    def how_to_go_on(self, error: BaseException) -> str:
        """Return advice after an error; a corrected input cannot be resumed, because it differs."""
        if isinstance(error, InvalidRowError):
            return "go on with `resume`, and without `stop_on_invalid`"
        if isinstance(error, InputError) and not isinstance(error, ServerError):
            left = f"{self.destination.kept} and {self.destination.journal}"
            return f"mend the input, and delete {left} or name another output, to begin again"
        return "go on with `resume`"

    def _write_answers(
        self,
        corpus: Tables,
        rows: Generator[tuple[Block, Encoded]],
        output: Output,
        journal: Journal | None,
    ) -> None:
        self.record(journal, output)
        expected = corpus.expected_rows(self.totals.rows, self.begin)
        self.on_progress(Progress(0, self.totals, expected))
        try:
            with closing(rows), RecordsBehind(self, journal, output) as records:
                for block, written in rows:
                    self._take(block, written, output)
                    expected = corpus.expected_rows(self.totals.rows, self.begin)
                    self.on_progress(Progress(written.n_rows, self.totals, expected))
                    records.make_if_due()
        except InputError as error:
            self.record(journal, output)  # keeps the rows before the fault
            if isinstance(error, RowsError):
                raise self.place.located(error) from None
            raise

    def _take(self, block: Block, written: Encoded, output: Output) -> None:
        """Write the rows of a block to the output, and add them to the sums."""
        totals, sums = self.totals, written.sums
        if sums.first_invalid and self.settings.stop_on_invalid:
            place, why = sums.first_invalid
            raise InvalidRowError(f"row {totals.rows + place + 1}: {why}")
        output.take(written)
        self.unrecorded += self.destination.parts_of(block.number, written)
        self.add(sums)
        totals.rows += written.n_rows
        self.place.pass_by(block, written.n_rows)
        self.begin, self.read = block.end, joined(self.read, written.read)

    def add(self, sums: Any) -> None:
        """Add the sums of a block to those of the run."""
        totals = self.totals
        for name, n in zip(STATUS_NAMES.tolist(), sums.tally.tolist(), strict=True):
            setattr(totals, name, getattr(totals, name) + n)
        totals.disagree += sums.disagree
        totals.nodes += sums.nodes

    def _refuse_leftovers(self) -> None:
        """Raise an error if an interrupted run left files and is not to be resumed."""
        kept, path = self.destination.kept, self.destination.journal
        begun = os.path.exists(path) and os.path.getsize(path) > 0  # it is empty after a full disk
        if begun and not self.settings.resume:
            Journal.read(path).close()  # raises if the run is going on in another process
            raise OutputError(
                f"{kept}: an interrupted run left its rows there; go on with `resume`, or delete "
                f"{kept} and {path} to begin again"
            )
        if not begun:
            self.destination.check_unused(self.settings.resume)

    def same(self, corpus: Any, choice: Any) -> dict[str, Any]:
        """Return the settings of the run that must be the same when it is resumed."""
        search = {name: getattr(self.search, name) for name in SAME_SEARCH}
        search["engine"] = choice.identity if choice else None
        inputs = [] if "-" in self.paths else list(map(identity_of, self.paths))
        return {**search, "inputs": inputs, "columns": corpus.columns, **self.own}

    def _journal(self, corpus: Any, choice: Any) -> Journal:
        box = list(self.settings.box) if self.settings.box else None
        files = {name: getattr(self.settings, name) for name in SAME_FILES}
        settings = {**self.same(corpus, choice), **files, "box": box}
        if is_address(self.output):  # the name of the journal holds only its last part
            settings["output"] = self.output
        return Journal(self.destination.journal, self.kind, settings)

    def _restore(self, journal: Journal) -> tuple[Written | None, bool]:
        """Restore the state of an interrupted run; return its output and whether it finished."""
        state = journal.state()
        if state is None:
            return None, False
        try:
            self.totals = type(self.totals)(**state["totals"])
            self.rows_before = self.totals.rows
            LOG.info("%s goes on after %s", self.output, counted(self.rows_before, "row"))
            written, finished = Written(*map(int, state["written"])), bool(state["finished"])
            self.begin = None if state["begin"] is None else Boundary(*map(int, state["begin"]))
            self.read = tuple(Written(*map(int, each)) for each in state["read"])
            self.place = FilePlace(**state["place"])
        except Exception as error:
            raise journal.damaged(error) from error
        return written, finished

    def record(self, journal: Journal | None, output: Output, finished: bool = False) -> None:
        """Sync the output to disk, and record the state in the journal."""
        state, n_parts = self.state(output, finished), len(self.unrecorded)
        output.sync()
        self.note(journal, state, n_parts)

    def note(self, journal: Journal | None, state: dict[str, Any], n_parts: int) -> None:
        """Record a state in the journal, with the first `n_parts` of the unrecorded parts."""
        if journal is not None:
            journal.record(state, parts=self.unrecorded[:n_parts])
        del self.unrecorded[:n_parts]

    def state(self, output: Output, finished: bool = False) -> dict[str, Any]:
        """Return the state of the rows written so far, for the journal."""
        return {
            "written": output.written(),
            "begin": self.begin,
            "read": self.read,
            "place": asdict(self.place),
            "totals": asdict(self.totals),
            "finished": finished,
        }


class CountRun(FileRun):
    """One run of `count_file`; see `FileRun`."""

    kind: ClassVar[str] = "count of rows"
    keep: ClassVar[int] = 0

    def begun(self) -> tuple[Any, Choice]:
        """See `FileRun`."""
        are_tables = all(path == "-" or suffix_of(path) in TABLE_SUFFIXES for path in self.paths)
        return self.of_problems(open_all(self.paths) if are_tables else of_files(self.paths))

    def table(self, corpus: Any, pool: Pool) -> CountTable:
        """See `FileRun`."""
        return CountTable(corpus.reader, self.search, self.settings.stats)


class InvalidRowError(InputError):
    """An invalid row that stopped a run; the run can be resumed without ``stop_on_invalid``."""


class RecordsBehind:
    """Checkpoints of a run, one a second; a thread waits for the disk while the run goes on.

    The thread and the run communicate through queues written in C. Within the Python code of a
    `Future` or a `threading.Condition`, Ctrl-C can leave a lock taken, and the thread would wait
    for it forever.
    """

    def __init__(self, run: FileRun, journal: Journal | None, output: Output) -> None:
        self._run, self._journal, self._output = run, journal, output
        self._asked: SimpleQueue[bool] = SimpleQueue()  # False ends the thread
        self._answered: SimpleQueue[Exception | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._sync, daemon=True)
        self._is_asked = False
        self._state: dict[str, Any] = {}
        self._n_parts = 0
        self._last = time.monotonic()

    def __enter__(self) -> RecordsBehind:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._asked.put(False)
        self._thread.join()

    def _sync(self) -> None:
        while self._asked.get():
            try:
                self._output.sync()
            except Exception as error:
                self._answered.put(error)
            else:
                self._answered.put(None)

    def make_if_due(self) -> None:
        """Begin a checkpoint a second after the last one; end it once the disk has finished."""
        if self._is_asked:
            if not self._answered.empty():
                self._is_asked = False
                error = self._answered.get()
                if error is not None:
                    raise error
                self._run.note(self._journal, self._state, self._n_parts)
        elif time.monotonic() - self._last >= JOURNAL_SECONDS:
            self._last = time.monotonic()
            self._state = self._run.state(self._output)
            self._n_parts = len(self._run.unrecorded)
            self._is_asked = True
            self._asked.put(True)
