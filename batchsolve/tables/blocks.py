"""Blocks of an input: cut where a record ends, and parsed by workers.

A block is the input of one task of a worker: about a megabyte of records, and their layout.

Every column of a text format is read as text, because type inference would turn 81 digits into a
float. Rows that break the format (too many fields, not JSON) keep their place and get a fault, so
that reports name the right row.
"""

from __future__ import annotations

import csv
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from batchsolve.core import native
from batchsolve.errors import InputError, counted, first_line, named_errors
from batchsolve.tables.places import Facts, facts_of, is_address, open_to_read

if TYPE_CHECKING:
    from batchsolve.tables.sources import Files

JSON_TEXT = {b"json": b"1"}  # marks columns whose values are JSON
DIGITS = {b"digits": b"1"}  # marks columns of integers of any size, which Arrow has only as text
BOM = b"\xef\xbb\xbf"
MOST_RECORD_BYTES = 64 << 20
GATHER_SECONDS = 0.1  # input that arrives slowly is gathered for this time before it is a block
LAST_BYTES = 500_000  # in two blocks or more of the end of a file, so that workers end together
LINE_BYTES = 4096  # the tail of a block that is searched first for its last line


@dataclass(frozen=True)
class BlockSize:
    """The size of blocks.

    Attributes
    ----------
    first, most : int
        Bytes of the first block of a file, and the upper bound; sizes double up to it.
    rows : int
        Upper bound of the rows of a block of a table.
    may_vary : bool
        Allow smaller blocks at the end of a file, and if the input arrives slowly.
    """

    first: int
    most: int
    rows: int
    may_vary: bool = False

    def divided_by(self, n: int) -> BlockSize:
        """Return the size of blocks that are n times smaller, because their rows take longer.

        Examples
        --------
        >>> BlockSize(64, 1024, 8).divided_by(16)
        BlockSize(first=4, most=64, rows=1, may_vary=False)
        """
        first, most, rows = (max(1, each // n) for each in (self.first, self.most, self.rows))
        return replace(self, first=first, most=most, rows=rows)


# about 10 ms of reading and writing, and as much of search; small files are shared, too
TASKS = BlockSize(64 << 10, 7 << 18, 24_576, may_vary=True)
# for blocks that become files; blocks are the same wherever the cutting begins
PARTS = BlockSize(8 << 20, 8 << 20, 131_072)


class Boundary(NamedTuple):
    """A point between two records of an input, at the end of a block.

    Attributes
    ----------
    source : int
        The number of the file, counted from 0.
    offset : int
        Decompressed bytes of the file before the point; rows for Parquet.
    """

    source: int
    offset: int


@dataclass(frozen=True)
class Span:
    """A part of a file that the worker reads itself.

    Attributes
    ----------
    path : str
        An address, or an absolute path, because workers may run in another directory.
    facts : Facts
        The facts about the file when it was cut.
    begin, end : int
        The offsets of the bytes in the file; of a Parquet file, numbers of row groups.
    of_row_groups : bool
    """

    path: str
    facts: Facts
    begin: int
    end: int
    of_row_groups: bool = False

    def read(self) -> bytes | pa.Table:
        """Read the part.

        Raises
        ------
        InputError
            If the file was changed or replaced.
        """
        with open_to_read(self.path) as file:
            if facts_of(self.path, file) != self.facts:
                raise changed()
            if self.of_row_groups:
                groups = list(range(self.begin, self.end))
                with pq.ParquetFile(file) as parquet:
                    return parquet.read_row_groups(groups, use_threads=False).combine_chunks()
            return _between(file, self.begin, self.end)


def _between(file: Any, begin: int, stop: int) -> bytes:
    """Return the bytes of an open file between two offsets; raise `InputError` if some lack."""
    file.seek(begin)
    data: bytes = file.read(stop - begin)
    if len(data) < stop - begin:
        raise changed()
    return data


def changed() -> InputError:
    """Return the error for a file that was changed after it was cut into blocks."""
    return InputError("was changed while it was read; leave a file alone until the run has ended")


Rows = tuple[pa.Table, dict[int, str]]
"""Consecutive rows of a table; and the faults of those, counted from 0, that break the format."""


class RowsError(InputError):
    """An error in rows of a block that makes the whole block unusable.

    Parameters
    ----------
    what : str
        The fault of the rows.
    first, last : int
        Their numbers, counted from 1 in the block.
    name : str
        The name of the file in messages.
    """

    def __init__(self, what: str, first: int, last: int, name: str = "") -> None:
        super().__init__(what, first, last, name)  # the arguments for unpickling
        self.what, self.first, self.last, self.name = what, first, last, name

    def __str__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        is_one = self.first == self.last
        rows = f"row {self.first}" if is_one else f"rows {self.first} to {self.last}"
        return f"{name}{rows}: {self.what}"

    def of(self, name: str) -> RowsError:
        """Return the same error with the name of a file."""
        return RowsError(self.what, self.first, self.last, name)

    def after(self, rows: int) -> RowsError:
        """Return the same error for a block that follows `rows` rows of its file."""
        return RowsError(self.what, rows + self.first, rows + self.last, self.name)


@dataclass(frozen=True)
class Layout:
    """The layout of the records of a file; it can be sent to a worker with every block.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns.
    parse : callable
        The function that parses whole records: `lines`, `delimited`, `json_lines`,
        `checked_table`.
    delimiter : str
        That of a CSV table, in which line ends can be quoted; else empty.
    """

    schema: pa.Schema
    parse: Callable[[Layout, Any], Rows]
    delimiter: str = ""

    def rows(self, records: bytes | pa.Table) -> Rows:
        """Parse records."""
        return self.parse(self, records)


def text_layout(
    names: Iterable[str], parse: Callable[[Layout, bytes], Rows], delimiter: str = ""
) -> Layout:
    """Return the layout of columns of text."""
    return Layout(pa.schema([(name, pa.string()) for name in names]), parse, delimiter)


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive records of one file, not parsed yet.

    Attributes
    ----------
    data : Span, Files, bytes or pyarrow.Table
        The records without a header; rows of a table for Parquet and for whole files.
    layout : Layout
        The layout of the records.
    name : str
        The name of the file in messages.
    end : Boundary
        The position after the block, where the next block begins.
    number : int
        The number of the block in the output.
    """

    data: Span | Files | bytes | pa.Table
    layout: Layout
    name: str
    end: Boundary
    number: int = 0

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields to pickle: pyarrow pickles a slice with the whole table, so copy it."""
        fields = dict(self.__dict__)
        if isinstance(self.data, pa.Table):
            fields["data"] = _copied(self.data)
        return fields

    @property
    def source(self) -> int:
        """The number of the file that the block is from, counted from 0."""
        return self.end.source

    def rows(self) -> Rows:
        """Parse the block.

        Raises
        ------
        InputError
            If the block cannot be read; a `RowsError` if certain rows are the cause.
        """
        records = self.records()
        # pyarrow 26 takes wrong values of such lists from a slice, without an error
        if isinstance(records, pa.Table) and any(map(_is_doubly_fixed, records.schema.types)):
            records = _copied(records)
        with named_errors(self.name):
            return self.layout.rows(records)

    def n_rows(self) -> int:
        """Return the number of rows; lines of a table without quoted values are only counted."""
        records = self.records()
        if isinstance(records, pa.Table):
            return len(records)
        is_plain = self.layout.delimiter and not records.startswith(b"\n")
        if not is_plain or any(odd in records for odd in (b'"', b"\r", b"\n\n")):
            return len(replace(self, data=records).rows()[0])
        return records.count(b"\n") + (not records.endswith(b"\n"))

    def carried(self) -> Block:
        """Return the block with its records, for workers that do not see this machine's files."""
        is_seen = isinstance(self.data, Span) and is_address(self.data.path)
        return self if is_seen else self.loaded()

    def loaded(self) -> Block:
        """Return the block with its unparsed records; raises `InputError` if they lack."""
        return replace(self, data=self.records())

    def records(self) -> bytes | pa.Table:
        """Return the unparsed records; raises `InputError` if they cannot be read."""
        with named_errors(self.name):
            return self.data if isinstance(self.data, bytes | pa.Table) else self.data.read()

    def parts(self, most_rows: int) -> Iterator[Block]:
        """Cut the block into smaller ones of at most `most_rows` records."""
        data = self.records()
        begin, n = 0, len(data)
        first = self.end.offset - n
        while begin < n:
            if isinstance(data, pa.Table):
                end = min(begin + most_rows, n)
                part = data.slice(begin, end - begin)
            else:
                end, _ = record_end(data, begin, self.layout.delimiter, most_rows)
                end = end if end > begin else n  # the last line may lack a line end
                part = data[begin:end]
            yield replace(self, data=part, end=Boundary(self.source, first + end))
            begin = end


def _copied(rows: pa.Table) -> pa.Table:
    """Return a slice of a table as a table of its own."""
    return pa.ipc.open_stream(arrow_stream(rows)).read_all()


def _is_doubly_fixed(kind: pa.DataType) -> bool:
    """Return True for fixed-size lists of fixed-size lists, also within other types."""
    is_fixed = pa.types.is_fixed_size_list
    inner = [kind.field(k).type for k in range(kind.num_fields)]
    return any((is_fixed(kind) and is_fixed(each)) or _is_doubly_fixed(each) for each in inner)


def arrow_stream(table: pa.Table, compression: str | None = None) -> pa.Buffer:
    """Return a table as a stream of Arrow."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue()


class PlainFile:
    """A file that workers can read themselves.

    Parameters
    ----------
    path : str
        Its path or address.
    file : binary file
        The open file.

    Attributes
    ----------
    size : int
        Number of bytes.
    """

    has_ended = True

    def __init__(self, path: str, file: Any) -> None:
        self._path, self._file = path if is_address(path) else os.path.realpath(path), file
        self._facts = facts_of(path, file)
        self.size = self._facts.size

    @property
    def is_found(self) -> bool:
        """True if workers find the file at its path; false if it was deleted or replaced."""
        try:
            return facts_of(self._path).place == self._facts.place
        except OSError:
            return False

    def end_by(self, stop: int) -> int:
        """Return `stop`, or the end of the bytes that have arrived if it comes first."""
        return min(stop, self.size)

    def look(self, begin: int, stop: int) -> bytes:
        """Return the bytes between two offsets; none of them may be taken yet."""
        return _between(self._file, begin, stop)

    def take(self, begin: int, end: int, of_row_groups: bool = False) -> Span:
        """Return the data of a block; the bytes before its end are not needed again."""
        return Span(self._path, self._facts, begin, end, of_row_groups)


class Stream:
    """Bytes that can be read once.

    Parameters
    ----------
    stream : binary file
        A call of its `read` may return fewer bytes than asked for.
    begin : int
        Its current offset.
    has_more : callable, optional
        Called with a time of `time.monotonic`: waits until then for more bytes, and returns False
        if none have arrived; then the block ends. By default the stream waits for full blocks.
    ahead : bytes
        Bytes that were read already.

    Attributes
    ----------
    has_ended : bool
        True if no bytes follow those that `end_by` has found.
    fills_blocks : bool
        True to wait for full blocks in any case.
    """

    size = sys.maxsize  # unknown

    def __init__(
        self,
        stream: Any,
        begin: int = 0,
        has_more: Callable[[float], bool] = lambda deadline: True,
        ahead: bytes = b"",
    ) -> None:
        self._stream, self._begin, self._has_more = stream, begin, has_more
        self._read = ahead  # from `begin` on
        self.has_ended = self.fills_blocks = False

    def waits(self) -> bool:
        """Return True if the next line has not arrived yet."""
        return not (self.has_ended or b"\n" in self._read or self._has_more(0))

    def end_by(self, stop: int) -> int:
        """See `PlainFile`."""
        parts, end = [self._read], self._begin + len(self._read)
        soon = time.monotonic() + GATHER_SECONDS
        deadline = soon if b"\n" in self._read else None  # else set when the first bytes arrive
        while end < stop and not self.has_ended:
            if deadline and not self.fills_blocks and not self._has_more(deadline):
                break
            data = self._stream.read(stop - end)
            self.has_ended = not data
            parts.append(data)
            end += len(data)
            deadline = deadline or time.monotonic() + GATHER_SECONDS
        self._read = b"".join(parts)
        return min(end, stop)

    def look(self, begin: int, stop: int) -> bytes:
        """See `PlainFile`."""
        return self._read[begin - self._begin : stop - self._begin]

    def take(self, begin: int, end: int) -> bytes:
        """See `PlainFile`."""
        data = self.look(begin, end)
        self._read, self._begin = self._read[end - self._begin :], end
        return data


def cut(
    source: PlainFile | Stream, begin: int, delimiter: str = "", size: BlockSize = TASKS
) -> Iterator[tuple[Span | bytes, int]]:
    """Cut bytes into blocks that end at the end of a line, or with a delimiter, of a record.

    Parameters
    ----------
    source : PlainFile or Stream
    begin : int
        The offset to begin at.
    delimiter : str
        The delimiter of a CSV table, in which line ends can be quoted; else empty.
    size : BlockSize

    Yields
    ------
    (Span or bytes, int)
        A block, and the offset of its end.

    Raises
    ------
    InputError
        After the last complete record, if a quotation mark is never closed.
    """
    length = size.first
    while (stop := source.end_by(begin + length)) > begin:
        end, quoted = _last_record_end(source, begin, stop, delimiter)
        if end == begin and stop < begin + length:  # the last line may lack a line end
            if not source.has_ended:
                continue
            if quoted:
                raise never_closed(source.look(begin, stop))
            end = stop
        if end > begin:
            yield source.take(begin, end), end
            begin, length = end, min(2 * length, size.most)
            if size.may_vary:
                length = min(length, max(LAST_BYTES, (source.size - begin) // 2))
        elif length > MOST_RECORD_BYTES:
            raise InputError(
                f"a record of more than {MOST_RECORD_BYTES >> 20} MB: "
                f"{_start_of(source.look(begin, stop))}; is a quotation mark never closed?"
            )
        else:
            length *= 2  # growing steps, because each one searches the record from its beginning


def _last_record_end(
    source: PlainFile | Stream, begin: int, stop: int, delimiter: str
) -> tuple[int, bool]:
    """See `record_end`; without a delimiter, search the last lines first."""
    tail = begin if delimiter else max(begin, stop - LINE_BYTES)
    for first in (tail, begin):
        data = source.look(first, stop)
        if delimiter and b'"' in data:
            end, quoted = record_end(data, 0, delimiter)
            return first + end, quoted
        if end := data.rfind(b"\n") + 1:
            return first + end, False
    return begin, False


def never_closed(record: bytes) -> InputError:
    """Return the error for a record whose quotation mark is never closed."""
    return InputError(f"a quotation mark is never closed in the record {_start_of(record)}")


def record_end(data: bytes, begin: int, delimiter: str, most: int = 0) -> tuple[int, bool]:
    """Find the end of the last complete record, or of record `most` from `begin` on if not 0.

    Returns
    -------
    end : int
        The offset of the next record; `begin` if no record is complete.
    quoted : bool
        True if a quotation mark is open at the end of the search.
    """
    end, quoted = native.record_end(
        np.frombuffer(data, np.uint8), begin, ord(delimiter or "\0"), most
    )
    return end, quoted


def _start_of(record: bytes) -> str:
    """Return the beginning of a record, for messages."""
    return repr(record[:80].decode(errors="replace"))


# ---- records as rows ------------------------------------------------------------------------

_CSV_LIMIT = threading.Lock()


def lines(layout: Layout, data: bytes) -> Rows:
    """Parse lines of one grid, or of a few fields with blanks between them.

    Comments, which begin with ``#``, and blank lines are dropped. A single column holds whole
    lines.
    """
    found, n = _lines(data), len(layout.schema)
    if n == 1:
        return pa.Table.from_arrays([found], schema=layout.schema), {}
    fields = pc.split_pattern_regex(found, r"\s+")
    actual = np.asarray(pc.list_value_length(fields))
    faults = {}
    if (odd := np.flatnonzero(actual != n)).size:
        values = fields.to_pylist()
        for row in odd.tolist():
            faults[row] = f"{counted(len(values[row]), 'field')} where the first line has {n}"
            values[row] = (values[row] + [""] * n)[:n]
        fields = pa.array(values, pa.list_(pa.string()))
    flat = fields.flatten()
    columns = [flat.take(np.arange(k, len(flat), n)) for k in range(n)]
    return pa.Table.from_arrays(columns, schema=layout.schema), faults


def lines_of_cells(separator: str, gap: str, layout: Layout, data: bytes) -> Rows:
    """Parse lines of one grid, whose cells or rows a separator parts; empty cells are blank.

    Cells are joined with a gap between them, which numbers need.
    """
    parts = pc.split_pattern(_lines(data, around=" \r"), separator)
    cells = pc.ascii_trim(parts.flatten(), ' "\t')
    cells = pc.replace_substring_regex(cells, r"^([0-9]{1,3}|-1)\.0$", r"\1")
    cells = pc.if_else(pc.is_in(cells, pa.array(["", "nan", "NaN"])), ".", cells)
    joined = pc.binary_join(pa.ListArray.from_arrays(parts.offsets, cells), gap)
    return pa.Table.from_arrays([joined], schema=layout.schema), {}


def _lines(data: bytes, around: str = "") -> pa.Array:
    """Return the lines of a text, without comments and blank lines.

    Characters around them are trimmed; by default, white space.
    """
    check_text(data)
    bounds = pa.py_buffer(np.array([0, len(data)], np.int32))
    whole = pa.StringArray.from_buffers(1, bounds, pa.py_buffer(data))
    found = pc.split_pattern(whole, "\n").values
    if around:
        found = pc.utf8_trim(found, around)
    else:
        found = (pc.ascii_trim_whitespace if data.isascii() else pc.utf8_trim_whitespace)(found)
    if b"#" in data:
        found = pc.replace_substring_regex(found, pattern=r"(^|\s+)#.*", replacement="")
    return found.filter(pc.greater(pc.binary_length(found), 0))


def check_text(data: bytes) -> None:
    """Raise `UnicodeDecodeError` if bytes are not UTF-8; pyarrow would not say which bytes."""
    if not data.isascii():
        data.decode()


def delimited(layout: Layout, data: bytes) -> Rows:
    """Parse records of CSV, TSV and similar formats; skip blank lines."""
    ragged: list[tuple[int, int, str]] = []

    def keep(row: Any) -> str:
        ragged.append((row.number - 1, row.actual_columns, row.text))
        return "skip"

    check_text(data)
    if not data or (data.isspace() and not data.strip(b"\r\n")):
        return layout.schema.empty_table(), {}
    if data.startswith(BOM):  # not the mark of the file, but a character at a block's beginning
        data = b"\n" + data
    names = layout.schema.names
    table = pacsv.read_csv(
        pa.py_buffer(data),
        pacsv.ReadOptions(use_threads=False, column_names=names, block_size=len(data) + 1),
        pacsv.ParseOptions(
            delimiter=layout.delimiter, newlines_in_values=b'"' in data, invalid_row_handler=keep
        ),
        pacsv.ConvertOptions(column_types=layout.schema),
    ).combine_chunks()
    return _with_ragged(table, ragged, layout.delimiter) if ragged else (table, {})


def _with_ragged(table: pa.Table, ragged: list[tuple[int, int, str]], delimiter: str) -> Rows:
    """Put rows with too few or too many fields back into their places."""
    n_columns = table.num_columns
    faults = {
        place: f"{counted(actual, 'field')} where the header has {n_columns}: {text[:200]!r}"
        for place, actual, text in ragged
    }
    records = []
    for _, _, text in ragged:
        fields = first_record([text], delimiter)
        records.append((fields + [""] * n_columns)[:n_columns])
    values = zip(*records, strict=True)
    extra = pa.table([pa.array(v, pa.string()) for v in values], table.column_names)
    places = {place: len(table) + k for k, (place, _, _) in enumerate(ragged)}
    regular = iter(range(len(table)))
    n_rows = len(table) + len(extra)
    order = [places[k] if k in places else next(regular) for k in range(n_rows)]
    return pa.concat_tables([table, extra]).combine_chunks().take(order), faults


def first_record(lines: Iterable[str], delimiter: str) -> list[str]:
    """Return the fields of the first record; a field may exceed the 128 KiB limit of `csv`."""
    with _CSV_LIMIT:  # the limit is global, and other code may rely on its value
        before = csv.field_size_limit(MOST_RECORD_BYTES)
        try:
            return next(csv.reader(lines, delimiter=delimiter), [])
        finally:
            csv.field_size_limit(before)


def checked_table(layout: Layout, table: pa.Table) -> Rows:
    """Return a table after a check of its text, which Arrow's reader of Parquet does not make."""
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        raise RowsError(
            f"the file is damaged, or has text that is not UTF-8 ({first_line(error)}); write it "
            f"again",
            1,
            len(table),
        ) from error
    return table, {}
