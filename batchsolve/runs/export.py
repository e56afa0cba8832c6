"""The solutions of a run: export to one sorted file, and reading them back.

The parts of a run hold solutions in the order in which workers found them. An external merge sort
puts them in order: more of them than fit into memory, by all workers. The parts are joined to
*loads*. A worker sorts a load and spills it to disk as a *run* of small *pages*; the main process
keeps the first and the last row of each page. Then the pages, in the order of their first rows, are
cut into *ranges*. A worker reads all pages that may hold rows of a range, drops the rows of other
ranges, sorts the rest, and encodes the sorted rows, which are written into their place. So workers
can sort loads in parallel, and then ranges, and each needs no more memory than a few loads.

The order of rows is that of `cover_table`. Workers sort *keys*: bytes that compare as the
rows do and can be turned back into rows. In Arrow, reordering lists of texts takes ten times as
long. Equal rows are identical, so the output does not depend on the division into loads.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from batchsolve import errors
from batchsolve.core.arrays import UInts
from batchsolve.core.interrupts import check_interrupt
from batchsolve.errors import InputError, JournalError, ProblemError, listed, quoted
from batchsolve.formats.render import GRIDS, LISTS
from batchsolve.formats.whole_files import loads
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem, SolvedGrids
from batchsolve.problems.notation import Notation
from batchsolve.runs.journal import Journal, Part, check_is_no_link
from batchsolve.runs.outputs import OneFile, output_at
from batchsolve.runs.reading import Reading
from batchsolve.search.scheduler import in_turn
from batchsolve.settings.arguments import JOURNAL, folder_of
from batchsolve.tables.answers import Encode, OutputRows, checksum_at, encoder_for
from batchsolve.tables.columns import arrow_stream
from batchsolve.tables.detection import open_all
from batchsolve.tables.places import name_of, split_suffixes
from batchsolve.tables.sources import Tables
from batchsolve.workers import Pool

SOLUTIONS = "solutions"  # folder of a run
CHEAPEST, COVERS = "cheapest", "covers"  # the kind of a run, and its key in the journal
PRICED = pa.schema([("cost", pa.int64()), *LISTS])  # of the cheapest solutions

EXPORTED = (".parquet", ".csv", ".tsv", ".jsonl", ".ndjson")  # suffixes of outputs
_WRITE_BYTES = 1 << 20  # text formats may take several times as much memory while encoded
_READ_BYTES, _READ_ROWS = 2 << 20, 8192
LOAD_BYTES = 10 << 20  # Arrow data sorted at once; sorting takes several times as much memory
PAGE_BYTES, LEAST_PAGE_BYTES = 128 << 10, 16 << 10  # pages are smaller if loads are many

Item = TypeVar("Item")
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
    solutions = solutions_of(directory)
    rows = 0
    encode = partial(_encoded, encoder_for(output))
    with whole.held() as folder, Pool(jobs) as pool:
        whole.open(solutions[1].schema, None, ())
        with closing(whole):
            for encoded in in_order(directory, solutions, encode, pool, folder):
                whole.take(encoded)
                rows += encoded.n_rows
            whole.finish()
    return rows


def _encoded(encode: Encode, table: pa.Table) -> OutputRows:
    """Encode rows."""
    step = max(len(table) * _WRITE_BYTES // max(table.nbytes, 1), 1)
    pieces = (table.slice(begin, step) for begin in range(0, len(table), step))
    return OutputRows(table, len(table)).encoded(b"".join(map(encode, pieces)))


def solutions_of(directory: str, problem: ExactCover | None = None) -> tuple[list[Part], pa.Table]:
    """Return the files that hold the solutions of a run, and the first solutions.

    Without files, the first solutions are all.

    Raises
    ------
    InputError
        If the run only counts, or is not of this problem.
    JournalError
        If the directory holds no run, or solutions are missing or damaged.
    """
    directory = folder_of("the directory of a run", directory)
    with Journal(os.path.join(directory, JOURNAL)) as journal:
        about, parts, state = journal.about, journal.parts(), journal.state() or {}
    kind, settings = about["kind"], about["settings"]
    if problem is not None and settings["problem"] != problem.fingerprint:
        raise InputError(
            f"{directory}: is a run of another problem, {about['name']!r}, and not of {problem}"
        )
    if kind == CHEAPEST:
        return [], pa.Table.from_pylist(state.get(COVERS, []), PRICED)
    if kind != "enumerate":
        raise InputError(f"{directory}: a run that only counts has no solutions to export")
    check_is_no_link(os.path.join(directory, SOLUTIONS))
    parts = [part for part in parts if part.rows]
    is_grid = settings.get("alphabet") is not None  # only grids have one
    return parts, next(_tables(directory, parts), (GRIDS if is_grid else LISTS).empty_table())


def in_order(
    directory: str,
    solutions: tuple[list[Part], pa.Table],
    make: Callable[[pa.Table], Made],
    pool: Pool,
    folder: str,
) -> Iterator[Made]:
    """Yield the results of `make` on the solutions of a run, in ascending order.

    The cheapest covers come in ascending order of their costs.

    Parameters
    ----------
    directory : str
    solutions : list of Part, pyarrow.Table
        The result of `solutions_of`.
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
    parts, first = solutions
    if not parts:
        yield make(first)
        return
    rows = LOAD_BYTES * len(first) // first.nbytes
    loads = list(groups_of(parts, lambda part: part.rows, rows))
    page_bytes = _page_bytes(len(loads))
    pages: list[_Page] = []
    for _, new_pages in in_turn(loads, pool, partial(_sort, directory, page_bytes, folder)):
        check_interrupt()
        pages += new_pages
    ranges = _ranges(sorted(pages), max(LOAD_BYTES // page_bytes, 1))
    for _, result in in_turn(ranges, pool, partial(_make_of_range, make, first.schema)):
        check_interrupt()
        yield result


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
        path = os.path.join(directory, SOLUTIONS, part.name)
        with open(path, "rb") as data, pq.ParquetFile(data) as file:  # Arrow's names are UTF-8
            # files may name the elements of lists differently
            schema = LISTS if file.schema_arrow.names == LISTS.names else GRIDS
            for batch in file.iter_batches(_rows_at_once(file.metadata), use_threads=False):
                yield pa.Table.from_batches([batch]).cast(schema)


def _rows_at_once(metadata: Any) -> int:
    """Estimate how many rows of a file make `_READ_BYTES`."""
    groups = (metadata.row_group(k) for k in range(metadata.num_row_groups))
    n_bytes = sum(group.total_byte_size for group in groups)
    return min(max(metadata.num_rows * _READ_BYTES // max(n_bytes, 1), 1), _READ_ROWS)


# ---- sorting --------------------------------------------------------------------------------


def groups_of(
    items: Iterable[Item], size: Callable[[Item], int], group_size: int
) -> Iterator[list[Item]]:
    """Group adjacent items until their sizes add up to `group_size`; the last group may be smaller.

    Examples
    --------
    >>> list(groups_of(["ab", "c", "d", "efgh", "i"], len, 3))
    [['ab', 'c'], ['d', 'efgh'], ['i']]
    """
    group: list[Item] = []
    total = 0
    for item in items:
        group.append(item)
        total += size(item)
        if total >= group_size:
            yield group
            group, total = [], 0
    if group:
        yield group


def _page_bytes(n_loads: int) -> int:
    """Return the size of pages; a range may read one page of each load beside its own pages.

    Examples
    --------
    >>> _page_bytes(1) >> 10, _page_bytes(400) >> 10, _page_bytes(10_000) >> 10
    (128, 51, 16)
    """
    return max(min(PAGE_BYTES, 2 * LOAD_BYTES // max(n_loads, 1)), LEAST_PAGE_BYTES)


class _Page(NamedTuple):
    """Some adjacent rows of a run, on disk; the order of pages is that of these fields."""

    first: bytes  # the key of its first row
    path: str  # the file of its run
    begin: int  # its bytes in that file
    end: int
    last: bytes  # the key of its last row


_Range = tuple[_Page | None, _Page | None, list[_Page]]
"""The rows from the beginning of a page to that of another: these two pages (None for the
beginning or the end of all rows), and the pages that may hold rows of the range.

Rows that equal the first row of a page lie before it if their own page does. So ranges can be cut
anywhere, however many rows are equal.
"""


def _keys_between(low: _Page | None, high: _Page | None, page: _Page) -> pa.BinaryArray:
    """Return the keys of the rows of a page from the beginning of one page to that of another."""
    with open(page.path, "rb", buffering=0) as file:
        data = os.pread(file.fileno(), page.end - page.begin, page.begin)
    with pa.ipc.open_stream(data) as stream:
        (batch,) = stream
    keys = batch.column(0)
    begin = _rows_before(low, page, keys) if low else 0
    end = _rows_before(high, page, keys) if high else len(keys)
    return keys.slice(begin, end - begin)


def _rows_before(bound: _Page, page: _Page, keys: pa.BinaryArray) -> int:
    """Return how many rows of a page lie before another page."""
    if page >= bound:
        return 0
    if page.last < bound.first:
        return len(keys)
    return int(pc.sum(pc.less_equal(keys, bound.first)).as_py())


def _sort(directory: str, page_bytes: int, folder: str, load: list[Part]) -> list[_Page]:
    """Sort a load and spill it, in several runs if it exceeds `LOAD_BYTES`."""
    keys = map(keys_of, _tables(directory, load))
    runs = map(pa.concat_arrays, groups_of(keys, lambda part: part.nbytes, LOAD_BYTES))
    return [page for run in runs for page in _spill(sorted_keys(run), page_bytes, folder)]


def _spill(run: pa.BinaryArray, page_bytes: int, folder: str) -> list[_Page]:
    """Write sorted keys to a new file, and return its pages."""
    pages: list[_Page] = []
    step = max(len(run) * page_bytes // max(run.nbytes, 1), 1)
    with errors.disk_errors(folder):
        number, path = tempfile.mkstemp(dir=folder)
        with open(number, "wb") as file:
            for k in range(0, len(run), step):
                piece = run.slice(k, step)
                begin = file.tell()
                end = begin + file.write(arrow_stream(pa.table({"key": piece}), "lz4"))
                pages.append(_Page(piece[0].as_py(), path, begin, end, piece[-1].as_py()))
    return pages


def _ranges(pages: list[_Page], step: int) -> Iterator[_Range]:
    """Cut sorted pages into ranges of `step` pages."""
    before: dict[str, _Page] = {}  # the last page so far of each run
    for begin in range(0, len(pages), step):
        low, high = pages[begin], pages[begin + step] if begin + step < len(pages) else None
        inside = pages[begin : begin + step]
        before = {path: page for path, page in before.items() if page.last > low.first}
        yield low if begin else None, high, [*before.values(), *inside]
        before.update((page.path, page) for page in inside)


def _make_of_range(make: Callable[[pa.Table], Any], schema: pa.Schema, range_: _Range) -> Any:
    low, high, pages = range_
    keys = sorted_keys(pa.concat_arrays([_keys_between(low, high, page) for page in pages]))
    return make(table_of(keys, schema))


# ---- keys -----------------------------------------------------------------------------------
# A text is its own key. The key of a list is its texts with two zero bytes between them, so that a
# text sorts before all texts that it begins. Zero bytes and empty texts are escaped: a zero byte
# is followed by a byte 2, and the empty text is the bytes 0 and 1.


def sorted_keys(keys: pa.BinaryArray) -> pa.BinaryArray:
    """Return keys in ascending order."""
    return keys.take(pc.sort_indices(keys))


def keys_of(table: pa.Table) -> pa.BinaryArray:
    """Return the keys of the rows of a table."""
    column = table.column(0).combine_chunks()
    if not pa.types.is_list(column.type):
        return column.cast(pa.binary())
    names = column.values.cast(pa.binary())
    empty = pc.equal(names, b"")
    if pc.any(pc.or_(empty, pc.match_substring(names, b"\0"))).as_py():
        names = pc.if_else(empty, b"\0\1", pc.replace_substring(names, b"\0", b"\0\2"))
    return pc.binary_join(pa.ListArray.from_arrays(column.offsets, names), b"\0\0")


def table_of(keys: pa.BinaryArray, schema: pa.Schema) -> pa.Table:
    """Return the rows of ascending keys; the inverse of `keys_of`."""
    kind = schema.field(0).type
    if not pa.types.is_list(kind):
        return pa.table([keys.cast(kind)], schema)
    n_empty = pc.sum(pc.equal(keys, b"")).as_py() or 0
    lists = pc.split_pattern(keys.slice(n_empty), b"\0\0")
    names = lists.values
    if pc.any(pc.match_substring(names, b"\0")).as_py():
        names = pc.replace_substring(names, b"\0\1", b"")
        names = pc.replace_substring(names, b"\0\2", b"\0")
    offsets = pa.concat_arrays([pa.array([0] * n_empty, pa.int32()), lists.offsets])
    return pa.table([pa.ListArray.from_arrays(offsets, names.cast(pa.string()))], schema)


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
        assert reading.notation is not None
        cover_of = partial(_cover_of_grid, problem, reading.notation)
    else:
        cover_of = partial(_cover_of_names, *_numbers_of_names(problem))
    with closing(_found_values(problem, path)) as values:
        for row, value in enumerate(islice(values, limit), 1):
            with errors.prefixed(f"{name}: row {row}", InputError, InputError, ProblemError):
                covers.append(cover_of(value))
                problem.verify(covers[-1].tolist())
    return covers


def _found_values(problem: ExactCover, path: str) -> Generator[object, None, None]:
    """Yield the solutions of a run, or of a file, as texts of grids or lists of names."""
    [column] = (GRIDS if isinstance(problem, GridProblem) else LISTS).names
    tables = _tables_of_run if os.path.isdir(path) else _tables_of_file
    for table in tables(problem, path):
        if table.column_names not in ([column], PRICED.names):
            raise InputError(
                f"{name_of(path)}: solutions of {problem!r} are one column called {column!r}, as "
                f"export and enumerate -o - write them, not {listed(table.column_names)}"
            )
        for batch in table.to_batches(max_chunksize=1024):
            yield from batch.column(column).to_pylist()


def _tables_of_run(problem: ExactCover, directory: str) -> Iterator[pa.Table]:
    solutions = solutions_of(directory, problem)
    with tempfile.TemporaryDirectory() as folder, Pool() as pool:
        yield from in_order(directory, solutions, lambda table: table, pool, folder)


def _tables_of_file(problem: ExactCover, path: str) -> Iterator[pa.Table]:
    for block in Tables(open_all([path])).blocks():
        table, faults = block.rows()
        for row, fault in sorted(faults.items()):
            raise InputError(f"{name_of(path)}: row {row + 1}: {fault}")
        yield table


def _cover_of_grid(problem: GridProblem, notation: Notation, value: object) -> UInts:
    """Return the cover of a solved grid; of any other, the options of its cells."""
    grid = notation.read(str(value or ""))[None]
    if problem.check(grid, grid).all():
        return SolvedGrids(problem, grid, np.zeros(1, np.int64)).options
    return problem.stack(grid[0])


def _numbers_of_names(problem: ExactCover) -> tuple[dict[str, int], set[str]]:
    """Return the number of an option by its name, and the names that options of two kinds share."""
    numbers: dict[str, int] = {}
    unclear: set[str] = set()
    for o in range(problem.n_options):
        first = numbers.setdefault(problem.option_name(o), o)
        if first != o and problem.coloring(first) != problem.coloring(o):
            unclear.add(problem.option_name(o))
    return numbers, unclear


def _cover_of_names(numbers: dict[str, int], unclear: set[str], value: object) -> UInts:
    """Return the cover of a list of option names; in CSV, such a list is JSON."""
    names = value
    if isinstance(value, str):
        with suppress(ValueError):
            names = loads(value)
    if not isinstance(names, list):
        raise InputError(f"{quoted(value)} is not a list of options")
    for name in names:
        if not isinstance(name, str) or name not in numbers:
            raise InputError(f"the problem has no option called {quoted(name)}")
        if name in unclear:
            raise InputError(f"several options of the problem are called {quoted(name)}")
    return np.array(sorted(numbers[name] for name in names), np.uint32)
