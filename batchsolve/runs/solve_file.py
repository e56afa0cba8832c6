"""Solving a corpus from file to file: journalled, resumable, in bounded memory."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import pyarrow as pa

from batchsolve.engines.choice import engine_for_rows
from batchsolve.errors import InputError, JournalError, OutputError
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.journal import Journal
from batchsolve.runs.solve_batch import chunk_rows, warm_up
from batchsolve.search.collector import Sheet
from batchsolve.search.rounds import SearchSettings, answer_rows
from batchsolve.tables.answers import AnswerTable
from batchsolve.tables.corpus import Batch, Corpus
from batchsolve.tables.outputs import Sink, check_output, open_sink, partial_path
from batchsolve.workers.pool import Pool

JOURNAL_SECONDS = 1.0


@dataclass
class Summary:
    """What a run over a corpus came to: its ``--json`` line."""

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

    @property
    def complete(self) -> bool:
        """Whether every row is answered and no given solution disagrees."""
        return not (self.unfinished or self.invalid or self.disagree)


@dataclass(frozen=True)
class Progress:
    """What a progress callback is told: rows answered since the last call, and totals."""

    new_rows: int
    totals: Summary


@dataclass(frozen=True)
class FileSettings:
    """How `solve_file` reads and writes; the search itself is set by `SearchSettings`.

    Attributes
    ----------
    column, alphabet, box
        As in `Corpus`.
    chunk : int, optional
        Rows to read at a time.
    stats : bool
        Write the columns ``nodes`` and ``seconds``.
    stop_on_invalid : bool
        Raise `InputError` at the first invalid row instead of reporting it in its place.
    resume : bool
        Go on from ``OUT.partial``, if there is one.
    """

    column: str | None = None
    alphabet: str | None = None
    box: tuple[int, int] | None = None
    chunk: int | None = None
    stats: bool = False
    stop_on_invalid: bool = False
    resume: bool = False

    def __post_init__(self) -> None:
        if self.chunk is not None and self.chunk < 1:
            raise InputError(f"chunk is 1 or more, not {self.chunk}")
        if self.box is not None and min(self.box) < 1:
            raise InputError(f"a box has 1 row and column or more, not {self.box}")


def solve_file(
    inputs: str | Sequence[str],
    output: str,
    *,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    while_compiling: Callable[[], AbstractContextManager[None]] = nullcontext,
    search: SearchSettings | None = None,
    **settings: Any,
) -> Summary:
    r"""Solve a corpus of puzzles from table to table.

    Parameters
    ----------
    inputs : str or sequence of str
        CSV, TSV, Parquet, JSON lines or text files, perhaps compressed; ``-`` is standard input.
    output : str
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
    while_compiling : callable, optional
        Makes the context in which the search kernels are loaded, or compiled if they are new.
    search : SearchSettings, optional
        What to search for.
    **settings
        The fields of `FileSettings`.

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
    paths = [inputs] if isinstance(inputs, str) else list(inputs)
    return _FileRun(
        paths,
        output,
        search or SearchSettings(),
        FileSettings(**settings),
        Pool(jobs, backend, address),
        on_progress or (lambda progress: None),
        while_compiling,
    ).run()


@dataclass
class _FileRun:
    paths: list[str]
    output: str
    search: SearchSettings
    settings: FileSettings
    pool: Pool
    on_progress: Callable[[Progress], None]
    while_compiling: Callable[[], AbstractContextManager[None]]
    totals: Summary = field(default_factory=Summary)

    def run(self) -> Summary:
        begin = time.perf_counter()
        check_output(self.output)
        if self.settings.resume and "-" in (*self.paths, self.output):
            raise InputError("--resume needs files; standard input or output cannot be resumed")
        self.totals.backend = self.pool.backend
        self._refuse_leftovers()
        for path in self.paths:
            if path != "-" and os.path.exists(path) and _same_file(path, self.output):
                raise InputError(f"{path}: is both input and output; write to another file")
        settings = self.settings
        corpus = Corpus(self.paths, settings.column, settings.box, settings.alphabet)
        engine = engine_for_rows(self.search.engine, corpus.problem)
        self.search = replace(self.search, engine=engine.name)
        with self.while_compiling():
            warm_up(engine, corpus.problem)
        with self.pool as pool:  # before any file is made, for a cluster may not be there
            self.totals.jobs = pool.jobs
            if self.output == "-":
                self._solve(corpus, None)
            else:
                with self._journal() as journal:
                    self._solve(corpus, journal)
        self.totals.engine = self.search.engine
        self.totals.seconds = time.perf_counter() - begin
        self.totals.rows_per_second = self.totals.rows / self.totals.seconds
        return self.totals

    def _solve(self, corpus: Corpus, journal: Journal | None) -> None:
        position, finished = self._restore(journal) if journal else (None, False)
        if journal and finished and not os.path.exists(partial_path(self.output)):
            journal.remove()  # the run was stopped between its last two steps
            return
        table = AnswerTable(corpus, self.search.limit, self.settings.stats)
        sink = open_sink(self.output, table.schema, position)
        try:
            self._write_answers(corpus, table, sink, journal)
            self._record(journal, sink, finished=True)
            sink.finish()
        except BaseException as error:
            if journal and "-" not in self.paths:
                partial = partial_path(self.output)
                error.add_note(f"the rows done are kept in {partial}; go on with --resume")
            raise
        finally:
            sink.close()
        if journal:
            journal.remove()

    def _write_answers(
        self, corpus: Corpus, table: AnswerTable, sink: Sink, journal: Journal | None
    ) -> None:
        read: deque[Batch] = deque()
        chunk = self.settings.chunk or chunk_rows(corpus.problem)

        def batches() -> Iterator[tuple[int, Stacks]]:
            for batch in corpus.batches(chunk, skip=self.totals.rows):
                read.append(batch)
                yield len(batch), batch.stacks(corpus.problem)

        last = time.monotonic()
        self._record(journal, sink)
        try:
            for sheet in answer_rows(corpus.problem, batches(), self.search, self.pool):
                rows, message = table.rows(_take(read, len(sheet)), sheet)
                if message and self.settings.stop_on_invalid:
                    place, why = message
                    raise InputError(f"row {self.totals.rows + place + 1}: {why}")
                sink.write(rows)
                self._count(rows, sheet)
                if time.monotonic() - last > JOURNAL_SECONDS:
                    self._record(journal, sink)
                    last = time.monotonic()
        except InputError:
            self._record(journal, sink)  # the rows before the fault are good
            raise

    def _refuse_leftovers(self) -> None:
        """Refuse to overwrite what an interrupted run left, unasked."""
        partial = partial_path(self.output)
        path = partial + ".journal"
        begun = os.path.exists(path)
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

    def _journal(self) -> Journal:
        path = partial_path(self.output) + ".journal"
        search = {name: getattr(self.search, name) for name in ("limit", "node_limit", "engine")}
        same = {name: getattr(self.settings, name) for name in ("column", "alphabet", "stats")}
        box = list(self.settings.box) if self.settings.box else None
        inputs = [] if "-" in self.paths else [_identity(p) for p in self.paths]
        return Journal(path, "solve", {**search, **same, "box": box, "inputs": inputs})

    def _restore(self, journal: Journal) -> tuple[int | None, bool]:
        """Take up the sums of an interrupted run; return its position and whether it finished."""
        state = journal.state()
        if state is None:
            return None, False
        try:
            self.totals = Summary(**state["totals"])
            position, finished = int(state["position"]), bool(state["finished"])
        except (KeyError, TypeError, ValueError) as error:
            raise journal.damaged(error) from error
        partial = partial_path(self.output)
        if not finished and not os.path.exists(partial):
            raise JournalError(f"{partial}: is gone; delete {journal.path} to begin again")
        return position, finished

    def _record(self, journal: Journal | None, sink: Sink, finished: bool = False) -> None:
        position = sink.flush()
        if journal is not None:
            totals = asdict(self.totals)
            journal.record({"position": position, "totals": totals, "finished": finished})

    def _count(self, rows: pa.Table, sheet: Sheet) -> None:
        totals = self.totals
        for entry in rows["status"].value_counts().to_pylist():
            name = entry["values"]
            setattr(totals, name, getattr(totals, name) + entry["counts"])
        if "agrees" in rows.column_names:
            agrees = Counter(rows["agrees"].to_pylist())
            totals.disagree += agrees[False]
        totals.rows += len(rows)
        totals.nodes += int(sheet.nodes.sum())
        self.on_progress(Progress(len(rows), totals))


def _take(read: deque[Batch], n: int) -> Batch:
    """Take the next n rows from the batches read; a sheet never spans two of them."""
    batch = read[0]
    if len(batch) == n:
        return read.popleft()
    head, read[0] = batch.cut(n)
    return head


def _same_file(one: str, two: str) -> bool:
    return os.path.exists(two) and os.path.samefile(one, two)


def _identity(path: str) -> list[Any]:
    try:
        facts = os.stat(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    return [path, facts.st_size, facts.st_mtime_ns]
