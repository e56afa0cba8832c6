"""Export of all solutions of a run to one sorted file, by all workers, in bounded memory.

The parts of a run hold solutions in the order in which workers found them. Workers sort them
(`batchsolve.runs.sorting`), encode the sorted rows and write them into their place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from batchsolve.errors import InputError, JournalError, quoted
from batchsolve.formats.render import GRID, OPTIONS
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.runs.journal import Journal, Part
from batchsolve.runs.sorting import LOAD_BYTES, groups_of, sorted_rows
from batchsolve.tables.checksums import checksum_at
from batchsolve.tables.encoders import Encoder, encoder_for
from batchsolve.tables.in_place import NUMBERS, Encoded, InPlace
from batchsolve.tables.outputs import check_output, folder_beside, whole_output
from batchsolve.workers.pool import Pool

JOURNAL, SOLUTIONS = "journal.sqlite", "solutions"
CHEAPEST, COVERS = "cheapest", "covers"  # the kind of a run, and its key in the journal

_WRITE_BYTES = 1 << 20  # text formats may take several times as much memory while encoded
_READ_BYTES, _READ_ROWS = 2 << 20, 8192

Made = TypeVar("Made")


def export_run(
    directory: str,
    output: str,
    jobs: int | None = None,
) -> int:
    """Write all solutions of a run to one sorted file, in bounded memory.

    A folder beside the output holds temporary files and is always removed. The files take at most
    about as much space as the solutions take as CSV.

    Parameters
    ----------
    directory : str
        The directory of a run that enumerates.
    output : str
        ``.parquet``, ``.csv``, ``.tsv`` or ``.jsonl``; text formats can be compressed.
    jobs : int, optional
        Number of threads; the number of cores by default.

    Returns
    -------
    int
        The number of solutions.

    Raises
    ------
    InputError
        If the run only counts, or the format of the output is unknown.
    JournalError
        If the directory holds no run, or solutions are missing or damaged.
    OutputError
        If the output cannot be written, for example because the disk is full.
    """
    output = check_output(output)
    if output == "-":
        raise InputError("name a file to export to; enumerate -o - prints solutions")
    solutions = Solutions.of(directory)
    rows = 0
    with (
        folder_beside(output) as folder,
        Pool(jobs) as pool,
        whole_output(output, folder, solutions.schema, pool.numbers(NUMBERS), pool.jobs) as whole,
    ):
        encode = partial(_encoded, encoder_for(output), whole.in_place)
        for encoded in solutions.in_order(encode, pool, folder):
            whole.take(encoded)
            rows += encoded.n_rows
    return rows


def _encoded(encoder: Encoder, in_place: InPlace | None, number: int, table: pa.Table) -> Encoded:
    """Encode rows, and write them into their place if workers can."""
    step = max(len(table) * _WRITE_BYTES // max(table.nbytes, 1), 1)
    pieces = (table.slice(begin, step) for begin in range(0, len(table), step))
    data = b"".join(map(encoder.rows, pieces))
    return Encoded.of(data, number, in_place, n_rows=len(table))


@dataclass(frozen=True)
class Solutions:
    """The solutions of a run.

    Attributes
    ----------
    directory : str
        The directory of the run.
    parts : list of Part
        The files that hold them; empty if `first` holds all.
    first : pyarrow.Table
        The first of them, or all.
    """

    directory: str
    parts: list[Part]
    first: pa.Table

    @classmethod
    def of(cls, directory: str) -> Solutions:
        """Find the solutions of a run.

        Raises
        ------
        InputError
            If the run only counts.
        JournalError
            If the directory holds no run, or solutions are missing or damaged.
        """
        with Journal.read(os.path.join(directory, JOURNAL)) as journal:
            about, parts, state = journal.about, journal.parts(), journal.state() or {}
        kind = about["kind"]
        if kind == CHEAPEST:
            return cls(directory, [], _table_of_cheapest(state.get(COVERS, [])))
        if kind != "enumerate":
            raise InputError(f"{directory}: a run that only counts has no solutions to export")
        parts = [part for part in parts if part.rows]
        is_grid = about["settings"].get("alphabet") is not None  # only grids have one
        nothing = _schema(GRID if is_grid else OPTIONS).empty_table()
        return cls(directory, parts, next(_tables(directory, parts), nothing))

    @property
    def schema(self) -> pa.Schema:
        """The schema: ``grid`` or ``options``; of the cheapest, ``cost`` and ``options``."""
        return self.first.schema

    def in_order(
        self,
        make: Callable[[int, pa.Table], Made],
        pool: Pool,
        folder: str,
    ) -> Iterator[Made]:
        """Yield the results of `make` on the solutions, in ascending order.

        The cheapest covers come in ascending order of their costs.

        Parameters
        ----------
        make : callable
            Takes a number, counted from 0, and the next solutions as a table; workers call it.
        pool : Pool
            Threads; already entered.
        folder : str
            The folder of temporary files.

        Raises
        ------
        JournalError
            If solutions are missing or damaged.
        """
        if not self.parts:
            return iter([make(0, self.first)])
        rows = LOAD_BYTES * len(self.first) // self.first.nbytes
        loads = list(groups_of(self.parts, lambda part: part.rows, rows))
        read = partial(_tables, self.directory)
        return sorted_rows(loads, read, make, self.schema, folder, pool)


def check_problem(directory: str, problem: ExactCover) -> None:
    """Raise `InputError` unless the run in a directory is of this problem."""
    with Journal.read(os.path.join(directory, JOURNAL)) as journal:
        about = journal.about
    if about["settings"]["problem"] != problem.fingerprint:
        name = quoted(about.get("notes", {}).get("name"))
        raise InputError(f"{directory}: is a run of another problem, {name}, and not of {problem}")


def _table_of_cheapest(covers: list[dict[str, Any]]) -> pa.Table:
    """Return the cheapest covers as a table, in the order of the journal."""
    schema = pa.schema([("cost", pa.int64()), ("options", pa.list_(pa.string()))])
    return pa.table([[cover[name] for cover in covers] for name in schema.names], schema)


# ---- parts ----------------------------------------------------------------------------------


def check_part(directory: str, part: Part) -> None:
    """Raise `JournalError` unless a file of solutions has its recorded checksum."""
    path = os.path.join(directory, SOLUTIONS, part.name)
    if checksum_at(path) != part.checksum:
        raise JournalError(
            f"{path}: is missing or damaged, and {part.rows:,} solutions with it; the other files "
            f"there can be read as they are; delete {directory} to begin again"
        )


def _tables(directory: str, parts: Iterable[Part]) -> Iterator[pa.Table]:
    """Yield the solutions in parts of a run as tables."""
    for part in parts:
        check_part(directory, part)
        with pq.ParquetFile(os.path.join(directory, SOLUTIONS, part.name)) as file:
            schema = _schema(*file.schema_arrow.names)
            for batch in file.iter_batches(_rows_at_once(file.metadata), use_threads=False):
                yield pa.Table.from_batches([batch]).cast(schema)


def _schema(*names: str) -> pa.Schema:
    """Return the schema of `CoverRenderer`; files may name the elements of lists differently."""
    if names == (OPTIONS,):
        return pa.schema([(OPTIONS, pa.list_(pa.string()))])
    return pa.schema([(GRID, pa.string())])


def _rows_at_once(metadata: Any) -> int:
    """Estimate how many rows of a file make `_READ_BYTES`."""
    groups = (metadata.row_group(k) for k in range(metadata.num_row_groups))
    n_bytes = sum(group.total_byte_size for group in groups)
    return min(max(metadata.num_rows * _READ_BYTES // max(n_bytes, 1), 1), _READ_ROWS)
