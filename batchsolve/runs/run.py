"""Resumable searches: a directory with a journal and files of solutions.

Every step of a search is kept whole or not at all. New solutions are first written to a file of
their own; then one transaction of the journal records the file, the sums, and which stacks are
outstanding. A file that no transaction records is a step that did not happen, and is removed when
the run is resumed.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from batchsolve.engines.choice import AUTO, engines_for
from batchsolve.errors import InputError, JournalError, OutputError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.notation import Notation
from batchsolve.problems.render import covers_table
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.count import Count, Stack, summary
from batchsolve.runs.journal import Journal
from batchsolve.search.pieces import Outstanding, Step
from batchsolve.search.tree_search import Totals, TreeSearch, TreeSettings
from batchsolve.tables.outputs import check_output, open_sink
from batchsolve.workers.pool import Pool

JOURNAL, SOLUTIONS = "journal.sqlite", "solutions"
EXPORT_ROWS = 65_536


class Run:
    """A search that can be interrupted at any moment and resumed.

    Parameters
    ----------
    directory : str
        Where the run is kept.
    problem : ExactCover
    stack : sequence of int
        The options that every cover must contain.
    collect : bool
        Keep the covers, in ``solutions/*.parquet``, instead of only counting them.
    resume : bool
        Go on with the run in `directory`, if there is one; without it an existing one is refused.
    engine : str
    notation : Notation, optional
        How grids are written.

    Raises
    ------
    OutputError
        If the directory holds something, and `resume` is not set.
    JournalError
        If the journal is damaged, of another problem, or in use by another process.

    Notes
    -----
    Use it as a context manager.

    Examples
    --------
    >>> import tempfile
    >>> from batchsolve.problems.sudoku import Sudoku
    >>> directory = tempfile.mkdtemp() + "/run"
    >>> with Run(directory, Sudoku(2, 2)) as run:
    ...     run.search(limit=100, jobs=1).count
    100
    >>> with Run(directory, Sudoku(2, 2), resume=True) as run:
    ...     run.search().count
    288
    """

    def __init__(
        self,
        directory: str,
        problem: ExactCover,
        stack: Stack = (),
        *,
        collect: bool = False,
        resume: bool = False,
        engine: str = AUTO,
        notation: Notation | None = None,
    ) -> None:
        self._directory = os.fspath(directory)
        self._problem = problem
        self._collect = collect
        self._engine = engine
        self._notation = notation
        self._stack: list[int] = np.asarray(stack, np.int64).tolist()
        problem.check_stack(self._stack)
        self._make_directory(resume)
        self._journal = Journal(
            os.path.join(self._directory, JOURNAL),
            "enumerate" if collect else "count",
            {
                "problem": problem.fingerprint,
                "stack": self._stack,
                "engine": engine,
                "alphabet": notation.name if notation else None,
            },
        )
        try:
            self._begin: tuple[Outstanding, Totals] | None = self._load()
            self._remove_unrecorded_parts()
        except BaseException:
            self._journal.close()
            raise

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def search(
        self,
        *,
        jobs: int | None = None,
        backend: str = "threading",
        address: str | None = None,
        on_progress: Callable[[TreeSearch], None] | None = None,
        **settings: Any,
    ) -> Count:
        """Search until the tree is finished or a limit is reached.

        Parameters
        ----------
        jobs, backend, address
            Workers, and where they live.
        on_progress : callable, optional
            Called with the running `TreeSearch` as results come.
        **settings
            The fields of `TreeSettings`; ``limit`` counts the covers of earlier searches too.

        Returns
        -------
        Count
            The sums of this and all earlier searches of the run.
        """
        chosen = TreeSettings(collect=self._collect, **settings)
        outstanding, self._totals = self._begin or self._load()
        with Pool(jobs, backend, address) as pool:
            search = TreeSearch(
                self._problem,
                engines_for(self._engine, self._problem),
                pool,
                chosen,
                outstanding,
                self._totals,
                self._keep,
            )
            try:
                for _ in search.run():
                    if on_progress is not None:
                        on_progress(search)
            except BaseException as error:
                error.add_note(f"what is done is kept in {self._directory}; go on with --resume")
                self._begin = None  # what is left is what the journal says
                raise
            self._begin = search.outstanding, search.totals
            return summary(search, pool)

    def _make_directory(self, resume: bool) -> None:
        try:
            if os.path.isdir(self._directory) and os.listdir(self._directory):
                begun = os.path.exists(os.path.join(self._directory, JOURNAL))
                if not (begun and resume):
                    what = "a run is kept there; go on with --resume" if begun else "is not empty"
                    raise OutputError(f"{self._directory}: {what}, or name another directory")
            os.makedirs(os.path.join(self._directory, SOLUTIONS), exist_ok=True)
        except OutputError:
            raise
        except FileExistsError as error:
            raise OutputError(f"{self._directory}: is no directory; name another") from error
        except OSError as error:
            raise _cannot_write(self._directory, error) from error

    def _load(self) -> tuple[Outstanding, Totals]:
        """Read the outstanding stacks and the sums, or begin."""
        state = self._journal.state()
        if state is None:
            begin = Outstanding.whole(Stacks.from_lists([self._stack]))
            self._journal.record(asdict(Totals()), new=[_as_record(0, begin.stacks[0], 1.0)])
            return begin, Totals()
        rows = [(np.frombuffer(b, "<u4").tolist(), k, w) for k, b, w in self._journal.stacks()]
        rows.sort()
        stacks = Stacks.from_lists([row[0] for row in rows], [row[1] for row in rows])
        weights = np.array([row[2] for row in rows], np.float64)
        totals = Totals(**state)
        recorded = sum(self._journal.parts().values())
        if self._collect and recorded != totals.count:
            raise JournalError(
                f"{self._journal.path}: the journal is damaged (its files hold {recorded} "
                f"solutions, its sum is {totals.count}); delete {self._directory} to begin again"
            )
        return Outstanding(stacks, weights), totals

    def _remove_unrecorded_parts(self) -> None:
        folder = os.path.join(self._directory, SOLUTIONS)
        parts = self._journal.parts()
        present = set(os.listdir(folder))
        for name in present - parts.keys():
            os.remove(os.path.join(folder, name))
        for name, rows in parts.items():
            path = os.path.join(folder, name)
            if name not in present or pq.read_metadata(path).num_rows != rows:
                raise JournalError(
                    f"{path}: is missing or damaged; delete {self._directory} to begin again"
                )

    def _keep(self, step: Step) -> None:
        """Write a step down, all of it or nothing."""
        part = None
        if step.covers:
            part = self._write_part(Stacks.concatenate(step.covers))
        done, new = step.changes()
        records = map(_as_record, new.stacks.roots.tolist(), new.stacks, new.weights.tolist())
        self._journal.record(asdict(self._totals), done, records, part)

    def _write_part(self, covers: Stacks) -> tuple[str, int]:
        folder = os.path.join(self._directory, SOLUTIONS)
        name = f"{len(self._journal.parts()):08d}.parquet"
        path = os.path.join(folder, name)
        try:
            table = covers_table(self._problem, covers, self._notation)
            with open(path + ".tmp", "wb") as file:
                pq.write_table(table, file, compression="zstd")
                file.flush()
                os.fsync(file.fileno())
            os.replace(path + ".tmp", path)
            sync_directory(folder)
        except OSError as error:
            raise _cannot_write(path, error) from error
        return name, len(covers)


def _as_record(
    number: int, stack: np.ndarray[Any, np.dtype[np.uint32]], weight: float
) -> tuple[int, bytes, float]:
    return number, stack.astype("<u4").tobytes(), weight


def _cannot_write(path: str, error: OSError) -> OutputError:
    reason = error.strerror or str(error).splitlines()[0]
    return OutputError(f"{path}: cannot be written: {reason}")


def sync_directory(path: str) -> None:
    """Make the names in a directory durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def describe_run(directory: str) -> dict[str, Any]:
    """Return what a run has done and has left."""
    with Journal.read(os.path.join(directory, JOURNAL)) as journal:
        state: dict[str, Any] = journal.state() or asdict(Totals())
        about, stacks, parts = journal.about, journal.stacks(), journal.parts()
    left = sum(weight for _, _, weight in stacks)
    return {
        "kind": about["kind"],
        **about["settings"],
        **state,
        "complete": not stacks,
        "outstanding": len(stacks),
        "finished_share": min(1.0, max(0.0, 1.0 - left)),
        "parts": len(parts),
    }


def export_run(directory: str, output: str) -> int:
    """Write all solutions of a run to one sorted file, in bounded memory.

    Parameters
    ----------
    directory : str
        The run of an enumeration.
    output : str
        ``.parquet``, ``.csv``, ``.tsv`` or ``.jsonl``, the text formats perhaps compressed.

    Returns
    -------
    int
        The number of solutions.
    """
    check_output(output)
    if output == "-":
        raise InputError("name a file to export to; enumerate -o - prints solutions")
    with Journal.read(os.path.join(directory, JOURNAL)) as journal:
        if journal.about["kind"] != "enumerate":
            raise InputError(f"{directory}: a run that only counts has no solutions to export")
        paths = [os.path.join(directory, SOLUTIONS, name) for name in journal.parts()]
    schema = pq.read_schema(paths[0]) if paths else pa.schema([("grid", pa.string())])
    sink = open_sink(output, schema)
    rows = 0
    try:
        for values in _batched(heapq.merge(*map(_values, paths)), EXPORT_ROWS):
            sink.write(pa.table([pa.array(values, schema.field(0).type)], schema))
            rows += len(values)
            sink.flush()
        sink.finish()
    finally:
        sink.close()
    return rows


def _values(path: str) -> Iterator[Any]:
    """Yield the solutions of a part, which is sorted, a few at a time."""
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(1000):
            yield from batch.column(0).to_pylist()


def _batched(values: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Yield lists of `size` values, the last perhaps shorter."""
    source = iter(values)
    while batch := list(islice(source, size)):
        yield batch
