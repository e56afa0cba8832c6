"""Sorting of more solutions than fit into memory, by all workers: an external merge sort.

The rows come in *loads*. A worker sorts a load and spills it to disk as a *run* of small *pages*;
the main process keeps the first and the last row of each page. Then the pages, in the order of
their first rows, are cut into *ranges*. A worker reads all pages that may hold rows of a range,
drops the rows of other ranges, sorts the rest, and passes the sorted rows on. So workers can sort
loads in parallel, and then ranges, and each needs no more memory than a few loads.

The order of rows is that of `CoverRenderer.table`. Workers sort *keys*: bytes that compare as the
rows do and can be turned back into rows. In Arrow, reordering lists of texts takes ten times as
long. Equal rows are identical, so the output does not depend on the division into loads.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from batchsolve.core.interrupts import check_interrupt
from batchsolve.errors import disk_errors
from batchsolve.search.in_order import in_one_pass
from batchsolve.tables.blocks import arrow_stream
from batchsolve.tables.texts import one_chunk
from batchsolve.workers import Pool

LOAD_BYTES = 10 << 20  # Arrow data sorted at once; sorting takes several times as much memory
PAGE_BYTES, LEAST_PAGE_BYTES = 128 << 10, 16 << 10  # pages are smaller if loads are many

Item = TypeVar("Item")
Load = TypeVar("Load")
Made = TypeVar("Made")


def sorted_rows(
    loads: Sequence[Load],
    read: Callable[[Load], Iterator[pa.Table]],
    make: Callable[[pa.Table], Made],
    schema: pa.Schema,
    folder: str,
    pool: Pool,
) -> Iterator[Made]:
    """Sort rows; yield the results of `make` on each range, in ascending order.

    Parameters
    ----------
    loads : sequence
    read : callable
        Yields the rows of a load as tables; workers call it.
    make : callable
        Takes the sorted rows of a range; workers call it.
    schema : pyarrow.Schema
        The schema of the tables: one column of texts or of lists of texts.
    folder : str
        The folder for runs, on this machine.
    pool : Pool
        Already entered; its workers are threads, or see the folder.
    """
    page_bytes = _page_bytes(len(loads))
    pages: list[_Page] = []
    for _, pages_of_load in in_one_pass(loads, pool, partial(_sort, read, page_bytes, folder)):
        check_interrupt()
        pages += pages_of_load
    ranges = _ranges(sorted(pages), max(LOAD_BYTES // page_bytes, 1))
    for _, made in in_one_pass(ranges, pool, partial(_make_of_range, make, schema)):
        check_interrupt()
        yield made


def groups_of(
    items: Iterable[Item], size: Callable[[Item], int], enough: int
) -> Iterator[list[Item]]:
    """Group adjacent items until their sizes add up to enough; the last group may be smaller.

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
        if total >= enough:
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


def _rows_before(other: _Page, page: _Page, keys: pa.BinaryArray) -> int:
    """Return how many rows of a page lie before another page."""
    if page >= other:
        return 0
    if page.last < other.first:
        return len(keys)
    return int(pc.sum(pc.less_equal(keys, other.first)).as_py())


def _sort(
    read: Callable[[Any], Iterator[pa.Table]], page_bytes: int, folder: str, load: Any
) -> list[_Page]:
    """Sort a load and spill it, in several runs if it exceeds `LOAD_BYTES`."""
    keys = map(keys_of, read(load))
    runs = map(pa.concat_arrays, groups_of(keys, lambda some: some.nbytes, LOAD_BYTES))
    return [page for run in runs for page in _spill(sorted_keys(run), page_bytes, folder)]


def _spill(run: pa.BinaryArray, page_bytes: int, folder: str) -> list[_Page]:
    """Write sorted keys to a new file, and return its pages."""
    pages: list[_Page] = []
    step = max(len(run) * page_bytes // max(run.nbytes, 1), 1)
    with disk_errors(folder):
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
    column = one_chunk(table.column(0))
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
