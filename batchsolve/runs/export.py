"""One sorted file of all solutions of a run: an external merge sort, in bounded memory.

Solutions lie in parts, in the order in which workers found them. Where everything fits into one
*load*, it is sorted and written. Otherwise every load is sorted and spilled to disk as a *run* of
small *pages*, and of each page the first key is remembered. Then pages are read back in the order
of these keys. Rows that are not greater than the first key of the next page are final, and are
written. What is left over comes from the last page read of each run, and waits for the next pages.

Rows are sorted as `CoverRenderer.table` sorts them. Equal rows cannot be told apart, so the order
is unique, and the output does not depend on what is in which part.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from batchsolve.errors import InputError, JournalError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.render import GRID, OPTIONS
from batchsolve.runs.journal import Journal, Part
from batchsolve.tables.checksums import checksum_at
from batchsolve.tables.encoders import ArrowStreams
from batchsolve.tables.outputs import check_output, disk_errors, open_sink

JOURNAL, SOLUTIONS = "journal.sqlite", "solutions"
CHEAPEST, COVERS = "cheapest", "covers"  # the kind of a run, and where its journal has them

LOAD_BYTES = 16 << 20  # Arrow data sorted at once; sorting takes several times as much
PAGE_BYTES = 64 << 10  # all runs together have one page each in memory: 4 MB for 1 GB of data
_WRITE_BYTES = 1 << 20  # text formats may take many times as much while they are written
_READ_BYTES, _READ_ROWS = 2 << 20, 8192


def export_run(directory: str, output: str) -> int:
    """Write all solutions of a run to one sorted file, in bounded memory.

    Temporary files are kept in a folder beside the output, and removed in any event; they take
    about as much room as the output.

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

    Raises
    ------
    InputError
        If the run only counts, or the format of the output is unknown.
    JournalError
        If there is no run, or solutions are missing or damaged.
    OutputError
        If the output cannot be written, because the disk is full for example.
    """
    check_output(output)
    if output == "-":
        raise InputError("name a file to export to; enumerate -o - prints solutions")
    parent, name = os.path.split(output)
    with (
        disk_errors(output),
        tempfile.TemporaryDirectory(prefix=name + ".", dir=parent or ".") as folder,
    ):
        finished = os.path.join(folder, name)
        rows = _write(finished, sorted_solutions(directory, folder))
        os.replace(finished, output)
    return rows


def sorted_solutions(directory: str, folder: str) -> Iterator[pa.Table]:
    """Return all solutions of a run in ascending order, as tables, of which there is at least one.

    The cheapest are in ascending order of their costs, which the table has as well.

    Parameters
    ----------
    directory : str
        The run of an enumeration.
    folder : str
        Where to keep temporary files.

    Raises
    ------
    InputError
        If the run only counts.
    JournalError
        If there is no run, or solutions are missing or damaged.
    """
    with Journal.read(os.path.join(directory, JOURNAL)) as journal:
        kind, parts, state = journal.about["kind"], journal.parts(), journal.state() or {}
    if kind == CHEAPEST:
        return iter([_table_of_cheapest(state.get(COVERS, []))])
    if kind != "enumerate":
        raise InputError(f"{directory}: a run that only counts has no solutions to export")
    return _sorted(_batches(directory, parts), folder)


def check_problem(directory: str, problem: ExactCover) -> None:
    """Raise `InputError` unless a run is of this problem."""
    with Journal.read(os.path.join(directory, JOURNAL)) as journal:
        its = str(journal.about["settings"]["problem"])
    if its != problem.fingerprint:
        raise InputError(
            f"{directory}: is a run of another problem: its fingerprint is {its[:16]}…, that of "
            f"the problem at hand {problem.fingerprint[:16]}…"
        )


def _table_of_cheapest(covers: list[dict[str, Any]]) -> pa.Table:
    """Return the cheapest covers as a table, as they are sorted in the journal."""
    schema = pa.schema([("cost", pa.int64()), ("options", pa.list_(pa.string()))])
    return pa.table([[cover[name] for cover in covers] for name in schema.names], schema)


def sorted_table(table: pa.Table) -> pa.Table:
    """Return a table of solutions, sorted as `CoverRenderer.table` sorts it, in one chunk."""
    return table.take(pc.sort_indices(_keys(table))).combine_chunks()


def _write(output: str, tables: Iterator[pa.Table]) -> int:
    """Write tables, of which there is at least one, to an output; return the number of rows."""
    first = next(tables)
    sink = open_sink(output, first.schema)
    rows = 0
    try:
        for table in chain([first], tables):
            for piece in _pieces(table, _WRITE_BYTES):
                sink.write(piece)
            rows += len(table)
        sink.finish()
    finally:
        sink.close()
    return rows


def _pieces(table: pa.Table, n_bytes: int) -> Iterator[pa.Table]:
    """Cut a table into pieces of about so many bytes."""
    step = max(len(table) * n_bytes // max(table.nbytes, 1), 1)
    return (table.slice(begin, step) for begin in range(0, len(table), step))


# ---- parts ----------------------------------------------------------------------------------


def check_part(directory: str, part: Part) -> None:
    """Raise `JournalError` unless a file of solutions is what was written."""
    path = os.path.join(directory, SOLUTIONS, part.name)
    if checksum_at(path) != part.checksum:
        raise JournalError(
            f"{path}: is missing or damaged, and {part.rows:,} solutions with it; the other files "
            f"there can be read as they are; delete {directory} to begin again"
        )


def _batches(directory: str, parts: list[Part]) -> Iterator[pa.Table]:
    """Read the parts of a run; yield one table at least."""
    schema = None
    for part in parts:
        check_part(directory, part)
        with pq.ParquetFile(os.path.join(directory, SOLUTIONS, part.name)) as file:
            schema = schema or _schema(file.schema_arrow)
            for batch in file.iter_batches(_rows_at_once(file.metadata), use_threads=False):
                yield pa.Table.from_batches([batch]).cast(schema)
    if not any(part.rows for part in parts):
        yield (schema or pa.schema([(GRID, pa.string())])).empty_table()


def _schema(found: pa.Schema) -> pa.Schema:
    """Return the schema of `CoverRenderer`; files may name what is in lists differently."""
    if found.names == [OPTIONS]:
        return pa.schema([(OPTIONS, pa.list_(pa.string()))])
    return pa.schema([(GRID, pa.string())])


def _rows_at_once(metadata: Any) -> int:
    """Return how many rows of a file make about `_READ_BYTES`, as far as one can know."""
    groups = (metadata.row_group(k) for k in range(metadata.num_row_groups))
    n_bytes = sum(group.total_byte_size for group in groups)
    return min(max(metadata.num_rows * _READ_BYTES // max(n_bytes, 1), 1), _READ_ROWS)


# ---- sorting --------------------------------------------------------------------------------


class _Page(NamedTuple):
    """Some adjacent rows of a run, on disk."""

    first: bytes  # the key of its first row
    begin: int  # where it begins in the file
    n_bytes: int  # there


def _keys(table: pa.Table) -> pa.ChunkedArray:
    """Return for every row bytes that compare as the row does.

    A grid is its own key. That of a list is its names with two zero bytes between them, so that a
    name that ends is less than one that goes on. Names that would be in the way of this are written
    differently: a zero byte has a byte 2 behind it, and the empty name is the bytes 0 and 1.
    """
    column = table.column(0)
    if not pa.types.is_list(column.type):
        return column.cast(pa.binary())
    lists = column.combine_chunks()
    names = lists.values.cast(pa.binary())
    empty = pc.equal(names, b"")
    if pc.any(pc.or_(empty, pc.match_substring(names, b"\0"))).as_py():
        names = pc.if_else(empty, b"\0\1", pc.replace_substring(names, b"\0", b"\0\2"))
    return pc.binary_join(pa.ListArray.from_arrays(lists.offsets, names), b"\0\0")


def _sorted(batches: Iterator[pa.Table], folder: str) -> Iterator[pa.Table]:
    """Yield the rows of all tables in ascending order, as tables, of which there is at least one.

    Parameters
    ----------
    batches : iterator of pyarrow.Table
    folder : str
        Where to spill to.
    """
    loads = _loads(batches)
    ahead = list(islice(loads, 2))
    if len(ahead) == 1:
        yield sorted_table(ahead.pop())
        return
    path = os.path.join(folder, "runs")
    with disk_errors(path), open(path, "w+b") as file:
        pages: list[_Page] = []
        while ahead:
            pages += _spill(sorted_table(ahead.pop(0)), file)
            ahead += islice(loads, 1)
        yield from _merge(pages, file)


def _loads(batches: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Join tables to larger ones of about `LOAD_BYTES`, the last one perhaps smaller."""
    waiting: list[pa.Table] = []
    n_bytes = 0
    for batch in batches:
        waiting.append(batch)
        n_bytes += batch.nbytes
        if n_bytes >= LOAD_BYTES:
            yield pa.concat_tables(waiting)
            waiting, n_bytes = [], 0
    if waiting:
        yield pa.concat_tables(waiting)


def _spill(run: pa.Table, file: IO[bytes]) -> Iterator[_Page]:
    """Append a sorted table to a file; yield its pages."""
    for piece in _pieces(run, PAGE_BYTES):
        first = _keys(piece.slice(0, 1))[0].as_py()
        begin = file.tell()
        yield _Page(first, begin, file.write(ArrowStreams().rows(piece)))


def _merge(pages: list[_Page], file: IO[bytes]) -> Iterator[pa.Table]:
    """Yield the rows of all pages in ascending order, as tables."""
    pages.sort()
    waiting: list[pa.Table] = []
    n_bytes = 0
    for page, following in zip(pages, [*pages[1:], None], strict=True):
        file.seek(page.begin)
        with pa.ipc.open_stream(file.read(page.n_bytes)) as stream:
            waiting.append(stream.read_all())
        n_bytes += waiting[-1].nbytes
        if following is None:
            yield sorted_table(pa.concat_tables(waiting))
        elif n_bytes >= LOAD_BYTES:
            table = sorted_table(pa.concat_tables(waiting))
            final = pc.sum(pc.less_equal(_keys(table), following.first)).as_py()
            waiting, n_bytes = [table.slice(final)], 0
            yield table.slice(0, final)
