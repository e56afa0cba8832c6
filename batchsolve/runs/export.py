"""The solutions of a run: export to one sorted file, and reading them back.

The parts of a run hold solutions in the order in which workers found them. Workers sort them in
bounded memory (`batchsolve.runs.sorting`), encode the sorted rows and write them into their place.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from batchsolve.core.arrays import UInts
from batchsolve.errors import InputError, JournalError, ProblemError, listed, prefixed, quoted
from batchsolve.formats.json_records import loads
from batchsolve.formats.render import GRIDS, LISTS
from batchsolve.formats.whole_files import JOURNAL, check_is_no_link
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import Notation, usual_notation
from batchsolve.runs.journal import Journal, Part
from batchsolve.runs.outputs import Encoded, OneFile, output_at
from batchsolve.runs.reading import Reading
from batchsolve.runs.sorting import LOAD_BYTES, groups_of, sorted_rows
from batchsolve.tables.encoders import Encode, checksum_at, encoder_for
from batchsolve.tables.places import name_of, split_suffixes
from batchsolve.tables.sources import Tables
from batchsolve.workers import Pool

SOLUTIONS = "solutions"  # folder of a run
CHEAPEST, COVERS = "cheapest", "covers"  # the kind of a run, and its key in the journal

EXPORTED = (".parquet", ".csv", ".tsv", ".jsonl", ".ndjson")  # suffixes of outputs
_WRITE_BYTES = 1 << 20  # text formats may take several times as much memory while encoded
_READ_BYTES, _READ_ROWS = 2 << 20, 8192

Made = TypeVar("Made")


def export_run(directory: str, output: str, jobs: int | None = None) -> int:
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
    whole = output_at(output, is_whole=True)
    if not isinstance(whole, OneFile) or split_suffixes(output)[0] not in EXPORTED:
        raise InputError(
            f"{output}: export writes one file, .parquet, or .csv, .tsv or .jsonl (each perhaps "
            f"with .gz, .bz2 or .zst); name such a file (enumerate -o - prints solutions)"
        )
    whole.check()
    solutions = Solutions.of(directory)
    rows = 0
    encode = partial(_encoded, encoder_for(output))
    with whole.written_whole(solutions.first.schema) as folder, Pool(jobs) as pool:
        for encoded in solutions.in_order(encode, pool, folder):
            whole.take(encoded)
            rows += encoded.n_rows
    return rows


def _encoded(encode: Encode, table: pa.Table) -> Encoded:
    """Encode rows."""
    step = max(len(table) * _WRITE_BYTES // max(table.nbytes, 1), 1)
    pieces = (table.slice(begin, step) for begin in range(0, len(table), step))
    data = b"".join(map(encode, pieces))
    return Encoded.of(data, len(table))


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
    def of(cls, directory: str, problem: ExactCover | None = None) -> Solutions:
        """Find the solutions of a run.

        Raises
        ------
        InputError
            If the run only counts, or is not of this problem.
        JournalError
            If the directory holds no run, or solutions are missing or damaged.
        """
        with Journal.read(os.path.join(directory, JOURNAL)) as journal:
            about, parts, state = journal.about, journal.parts(), journal.state() or {}
        kind, settings = about["kind"], about["settings"]
        if problem is not None and settings["problem"] != problem.fingerprint:
            raise InputError(
                f"{directory}: is a run of another problem, {about['name']!r}, and not of {problem}"
            )
        if kind == CHEAPEST:
            schema = pa.schema([("cost", pa.int64()), *LISTS])
            return cls(directory, [], pa.Table.from_pylist(state.get(COVERS, []), schema))
        if kind != "enumerate":
            raise InputError(f"{directory}: a run that only counts has no solutions to export")
        check_is_no_link(os.path.join(directory, SOLUTIONS))
        parts = [part for part in parts if part.rows]
        is_grid = settings.get("alphabet") is not None  # only grids have one
        nothing = (GRIDS if is_grid else LISTS).empty_table()
        return cls(directory, parts, next(_tables(directory, parts), nothing))

    def in_order(self, make: Callable[[pa.Table], Made], pool: Pool, folder: str) -> Iterator[Made]:
        """Yield the results of `make` on the solutions, in ascending order.

        The cheapest covers come in ascending order of their costs.

        Parameters
        ----------
        make : callable
            Takes the next solutions as a table; workers call it.
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
            return iter([make(self.first)])
        rows = LOAD_BYTES * len(self.first) // self.first.nbytes
        loads = list(groups_of(self.parts, lambda part: part.rows, rows))
        read = partial(_tables, self.directory)
        return sorted_rows(loads, read, make, self.first.schema, folder, pool)


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
            # files may name the elements of lists differently
            schema = LISTS if file.schema_arrow.names == LISTS.names else GRIDS
            for batch in file.iter_batches(_rows_at_once(file.metadata), use_threads=False):
                yield pa.Table.from_batches([batch]).cast(schema)


def _rows_at_once(metadata: Any) -> int:
    """Estimate how many rows of a file make `_READ_BYTES`."""
    groups = (metadata.row_group(k) for k in range(metadata.num_row_groups))
    n_bytes = sum(group.total_byte_size for group in groups)
    return min(max(metadata.num_rows * _READ_BYTES // max(n_bytes, 1), 1), _READ_ROWS)


# ---- reading back ---------------------------------------------------------------------------


def found_covers(reading: Reading, path: str, limit: int) -> list[UInts]:
    """Read the first covers of a problem from the output of an enumeration.

    Parameters
    ----------
    reading : Reading
        The problem.
    path : str
        The directory of a run, whose covers are read in the order of `export_run`; a file that
        `export_run` has written; or JSON lines of ``enumerate -o -``, where ``-`` is standard
        input.
    limit : int
        The largest number of covers to read.

    Raises
    ------
    InputError
        If the path is none of these, or a row is not a cover of the problem.
    JournalError
        If a run is damaged.

    Examples
    --------
    >>> import tempfile
    >>> import batchsolve as bs
    >>> directory = tempfile.mkdtemp() + "/run"
    >>> with bs.Run(directory, "langford:3", collect=True) as run:
    ...     run.search(jobs=1).count
    2
    >>> [cover.tolist() for cover in found_covers(bs.read_problem("langford:3"), directory, 1)]
    [[1, 6, 7]]
    """
    covers: list[UInts] = []
    problem, name = reading.problem, name_of(path)
    if isinstance(problem, GridProblem):
        notation = reading.notation or usual_notation(problem.n_digits)
        cover_of = partial(_cover_of_grid, problem, notation)
    else:
        cover_of = partial(_cover_of_names, *_numbers_of_names(problem))
    with closing(_found_values(problem, path)) as values:
        for row, value in enumerate(islice(values, limit), 1):
            with prefixed(f"{name}: row {row}", InputError, InputError, ProblemError):
                covers.append(cover_of(value))
                problem.verify(covers[-1].tolist())
    return covers


def _found_values(problem: ExactCover, path: str) -> Generator[object, None, None]:
    """Yield the solutions of a run, or of a file, as texts of grids or lists of names."""
    [column] = (GRIDS if isinstance(problem, GridProblem) else LISTS).names
    tables = _tables_of_run if os.path.isdir(path) else _tables_of_file
    for table in tables(problem, path):
        if table.column_names != [column]:
            raise InputError(
                f"{name_of(path)}: solutions of {problem!r} are one column called {column!r}, as "
                f"export and enumerate -o - write them, not {listed(table.column_names)}"
            )
        for batch in table.to_batches(max_chunksize=1024):
            yield from batch.column(0).to_pylist()


def _tables_of_run(problem: ExactCover, directory: str) -> Iterator[pa.Table]:
    solutions = Solutions.of(directory, problem)
    with tempfile.TemporaryDirectory() as folder, Pool() as pool:
        yield from solutions.in_order(_as_it_is, pool, folder)


def _as_it_is(table: pa.Table) -> pa.Table:
    return table


def _tables_of_file(problem: ExactCover, path: str) -> Iterator[pa.Table]:
    for block in Tables([path]).blocks():
        table, faults = block.rows()
        for row, fault in sorted(faults.items()):
            raise InputError(f"{name_of(path)}: row {row + 1}: {fault}")
        yield table


def _cover_of_grid(problem: GridProblem, notation: Notation, value: object) -> UInts:
    """Return the cover of a solved grid."""
    return problem.stack(notation.read(str(value or "")))


def _numbers_of_names(problem: ExactCover) -> tuple[dict[str, int], set[str]]:
    """Return the number of an option by its name, and the names that options of two kinds share."""
    numbers: dict[str, int] = {}
    unclear: set[str] = set()
    for o in range(problem.n_options):
        other = numbers.setdefault(problem.option_name(o), o)
        if other != o and problem.coloring(other) != problem.coloring(o):
            unclear.add(problem.option_name(o))
    return numbers, unclear


def _cover_of_names(numbers: dict[str, int], unclear: set[str], value: object) -> UInts:
    """Return the cover of a list of option names; in CSV, such a list is JSON."""
    names = value
    if isinstance(value, str):
        try:
            names = loads(value)
        except ValueError:
            names = None
    if not isinstance(names, list):
        raise InputError(f"{quoted(value)} is not a list of options")
    for name in names:
        if not isinstance(name, str) or name not in numbers:
            raise InputError(f"the problem has no option called {quoted(name)}")
        if name in unclear:
            raise InputError(f"several options of the problem are called {quoted(name)}")
    return np.array(sorted(numbers[name] for name in names), np.uint32)
