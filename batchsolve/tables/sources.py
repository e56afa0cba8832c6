"""Sources of puzzles: detection of the format of files, and cutting them into blocks.

The formats are CSV, TSV, Parquet, JSON lines and plain text; text formats can be compressed.
"""

from __future__ import annotations

import csv
import io
import os
import re
import select
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import IO, Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from batchsolve.errors import InputError, named_errors, quoted, twice
from batchsolve.file_kinds import kind_of, not_text
from batchsolve.tables.blocks import (
    GATHER_SECONDS,
    TASKS,
    Block,
    BlockSize,
    Boundary,
    PlainFile,
    Stream,
    cut,
    never_closed,
    record_end,
    slice_of,
)
from batchsolve.tables.documents import read_document
from batchsolve.tables.layouts import (
    BOM,
    MOST_RECORD_BYTES,
    Layout,
    checked_table,
    delimited,
    first_record,
    json_layout,
    lines,
    text_layout,
)
from batchsolve.tables.places import (
    check_announced,
    exists,
    facts_of,
    is_address,
    open_to_read,
)
from batchsolve.whole_files import content_of, opened

_FIRST_BYTES = 4096  # that tell the kind of a file
HEAD_BYTES = 4 << 20  # the beginning of a file that decides format, header and JSON fields
SKIP_BYTES = 1 << 20
BLOCKS_AT_LEAST = 32  # of a table, so that workers share it, unless the blocks would be small
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
DELIMITERS = ",;\t|"
MOST_SPACED = 8  # upper bound of the fields of a line with blanks between them
# a complete line, but not a comment, and not JSON, whose types need more lines
_TELLING = re.compile(rb"(?:[^\S\n]*(?:#[^\n]*)?\n)*[^\S\n]*[^\s#{\[][^\n]*\n")
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}


def name_of(path: str) -> str:
    r"""Return the name of a path in messages and tables, as UTF-8.

    Examples
    --------
    >>> print(name_of("-"), name_of(os.fsdecode(b"in\xff.csv")))
    standard input in\xff.csv
    """
    return "standard input" if path == "-" else os.fsencode(path).decode(errors="backslashreplace")


def split_suffixes(path: str) -> tuple[str, str]:
    """Return the format suffix and the compression suffix of a path, each perhaps empty.

    What follows ``?`` in an address is left out.

    Examples
    --------
    >>> split_suffixes("corpus.CSV.gz")
    ('.csv', '.gz')
    """
    name = path.partition("?")[0] if is_address(path) else path
    base, last = os.path.splitext(name.lower())
    if last in COMPRESSIONS:
        return os.path.splitext(base)[1], last
    return last, ""


def suffix_of(path: str) -> str:
    """Return the format suffix of a path, perhaps empty."""
    return split_suffixes(path)[0]


def open_source(path: str) -> Source:
    """Detect the format of a file, and return its source.

    Parameters
    ----------
    path : str
        A file, its address, or ``-`` for standard input, which can be read once.

    Raises
    ------
    InputError
        If the file does not exist, cannot be read, is empty or has no usable header.
    """
    with named_errors(name_of(path)), ExitStack() as opened:
        stream = _open_stream(path)
        if path != "-":
            opened.callback(stream.close)
        head = stream.head() if isinstance(stream, _StandardInput) else stream.read(HEAD_BYTES)
        text = head.removeprefix(BOM)
        if not text or text.isspace():
            raise InputError("is empty; expected puzzles, one a line, or a table with a header")
        if head.startswith(b"PAR1"):
            return ParquetSource.of(path, head + stream.read() if path == "-" else b"")
        table = read_document(suffix_of(path), head.removeprefix(BOM), lambda: head + stream.read())
        if table is not None:
            return TableSource(table, path)
        if _is_wide(head) or (kind_of(head) and not _is_text(head)):
            what = not_text(head, ", but a binary file")
            raise InputError(f"{what}; expected CSV, TSV, Parquet, JSON lines or text")
        return TextSource.of(path, _with_first_line(head, stream), stream)


@dataclass(frozen=True, eq=False)
class TextSource:
    """A text file, perhaps compressed.

    Attributes
    ----------
    path : str
        The file, or ``-`` for standard input.
    layout : Layout
        The layout of its records.
    length : int or None
        The offset of its end; None if unknown before it is read.
    first : int
        The offset of the first record, after a byte order mark and a header.
    old_line_ends : bool
        True if lines end in a carriage return alone.
    """

    path: str
    layout: Layout
    length: int | None
    first: int
    old_line_ends: bool
    _standard_input: Any = field(default=None, repr=False)

    def waits(self) -> bool:
        """Return True if the next records of standard input have not arrived yet."""
        return self._standard_input is not None and not self._standard_input.has_more(0)

    @classmethod
    def of(cls, path: str, head: bytes, stream: IO[bytes]) -> TextSource:
        """Detect the layout from the beginning of a file."""
        old_line_ends = b"\n" not in head and b"\r" in head
        text = head.removeprefix(BOM)
        first = len(head) - len(text)
        if old_line_ends:
            text = text.replace(b"\r", b"\n")
        layout, header = _text_layout(path, text)
        standard_input = _StandardInput(head, stream) if path == "-" else None
        is_packed = isinstance(stream, pa.CompressedInputStream)
        length = None if path == "-" or is_packed else facts_of(path).size
        if length is not None:
            check_announced(path, length)
        return cls(path, layout, length, first + header, old_line_ends, standard_input)

    def blocks(self, number: int = 0, offset: int = 0, size: BlockSize = TASKS) -> Iterator[Block]:
        """Cut the file into blocks from an offset on, as source `number` of a corpus.

        Raises
        ------
        InputError
            After the last block that could be read, if the file is damaged.
        """
        name, begin = name_of(self.path), max(offset, self.first)
        with named_errors(name), self._standard_input or _open_stream(self.path) as stream:
            source: PlainFile | Stream | None = None
            if self.length is not None and not self.old_line_ends:
                file = PlainFile(self.path, stream)
                source = file if file.is_found else None
            if source is None:
                _skip(stream, begin)
                by_and_by = size.may_vary and stream is self._standard_input
                has_more = stream.has_more if by_and_by else None
                source = Stream(stream, begin, self.old_line_ends, has_more)
            for data, end in cut(source, begin, self.layout.delimiter, size):
                yield Block(data, self.layout, name, Boundary(number, end))


@dataclass(frozen=True, eq=False)
class ParquetSource:
    """A Parquet file; offsets are rows.

    Workers read row groups that are no larger than a block. The main process reads larger ones,
    because each worker would have to read the whole group to get some of its rows.

    Attributes
    ----------
    path : str
    layout : Layout
    length : int
        The number of rows.
    """

    path: str
    layout: Layout
    length: int
    _content: bytes = field(repr=False)  # of standard input: Parquet is read from its end

    @classmethod
    def of(cls, path: str, content: bytes) -> ParquetSource:
        """Read the schema of a file."""
        with _opened(path, content) as opened, pq.ParquetFile(opened) as file:
            return cls(
                path, Layout(file.schema_arrow, checked_table), file.metadata.num_rows, content
            )

    def blocks(self, number: int = 0, offset: int = 0, size: BlockSize = TASKS) -> Iterator[Block]:
        """See `TextSource.blocks`."""
        name = name_of(self.path)
        with (
            named_errors(name),
            _opened(self.path, self._content) as opened,
            pq.ParquetFile(opened) as file,
        ):
            plain = PlainFile(self.path, opened) if not self._content else None
            groups = [file.metadata.row_group(k) for k in range(file.num_row_groups)]
            rows = [group.num_rows for group in groups]
            n_bytes = sum(group.total_byte_size for group in groups)
            most = _rows_of_a_block(sum(rows), n_bytes, size)
            end = 0
            for first, last in _runs(rows, most):
                begin, end = end, end + sum(rows[first : last + 1])
                if end <= offset:
                    continue
                if plain is not None and offset <= begin and end - begin <= most:
                    data = plain.take(first, last + 1, of_row_groups=True)
                    yield Block(data, self.layout, name, Boundary(number, end))
                    continue
                for batch in file.iter_batches(most, list(range(first, last + 1))):
                    table = pa.Table.from_batches([batch])
                    stop = begin + len(table)
                    if begin < offset < stop:
                        table = slice_of(table, offset - begin, len(table))
                    if stop > offset:
                        yield Block(table, self.layout, name, Boundary(number, stop))
                    begin = stop


def _runs(rows: list[int], most: int) -> Iterator[tuple[int, int]]:
    """Divide row groups into runs of at most `most` rows, or of one group; yield first and last.

    Examples
    --------
    >>> list(_runs([10, 10, 10, 99, 5], 20))
    [(0, 1), (2, 2), (3, 3), (4, 4)]
    """
    first = n_rows = 0
    for k, more in enumerate(rows):
        if k > first and n_rows + more > most:
            yield first, k - 1
            first, n_rows = k, 0
        n_rows += more
    if rows:
        yield first, len(rows) - 1


@dataclass(frozen=True, eq=False)
class TableSource:
    """A table in memory; offsets are rows.

    Attributes
    ----------
    table : pyarrow.Table
    path : str
        The file that it was read from, if any.
    """

    table: pa.Table
    path: str = "the table"

    @property
    def layout(self) -> Layout:
        """The layout of its records."""
        return Layout(self.table.schema, checked_table)

    @property
    def length(self) -> int:
        """The number of rows."""
        return len(self.table)

    def blocks(self, number: int = 0, offset: int = 0, size: BlockSize = TASKS) -> Iterator[Block]:
        """See `TextSource.blocks`."""
        n_rows = len(self.table)
        most = _rows_of_a_block(n_rows, self.table.nbytes, size)
        for begin in range(offset, n_rows, most):
            end = min(begin + most, n_rows)
            data = slice_of(self.table, begin, end)
            yield Block(data, self.layout, name_of(self.path), Boundary(number, end))


@dataclass(frozen=True)
class Files:
    """Whole files that the worker reads itself; each is a row, and offsets are numbers of files.

    Attributes
    ----------
    names : tuple of str
        The names as they were given; what names no file, such as ``queens:8``, has no content.
    folder : str
        The directory that relative names start from, because workers may run in another.
    """

    names: tuple[str, ...]
    folder: str

    schema: ClassVar[pa.Schema] = pa.schema(
        [("name", pa.string()), ("content", pa.large_binary()), ("fault", pa.string())]
    )
    layout: ClassVar[Layout] = Layout(schema, checked_table)
    path: ClassVar[str] = "the files"

    @property
    def length(self) -> int:
        """The number of files."""
        return len(self.names)

    def blocks(self, number: int = 0, offset: int = 0, size: BlockSize = TASKS) -> Iterator[Block]:
        """See `TextSource.blocks`."""
        n_bytes = sum(map(_size_of, map(self.path_of, self.names)))
        most = _rows_of_a_block(self.length, n_bytes, size)
        for begin in range(offset, self.length, most):
            some = replace(self, names=self.names[begin : begin + most])
            yield Block(some, self.layout, self.path, Boundary(number, begin + some.length))

    def read(self) -> pa.Table:
        """Read the files; one that cannot be read is a row with its fault."""
        rows = [(name_of(name), *self._content(name)) for name in self.names]
        columns = zip(*rows, strict=True)
        arrays = [pa.array(c, field.type) for c, field in zip(columns, self.schema, strict=True)]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def path_of(self, name: str) -> str:
        """Return the path of a file for any directory."""
        return name if is_address(name) else os.path.join(self.folder, name)

    def _content(self, name: str) -> tuple[bytes | None, str | None]:
        path = self.path_of(name)
        if not exists(path):
            return None, None
        try:
            open_file = open_to_read if is_address(path) else opened
            with named_errors(name_of(name)), open_file(path) as file:
                return content_of(file), None
        except InputError as error:
            return None, str(error)


def _size_of(path: str) -> int:
    try:
        return facts_of(path).size
    except OSError:  # its row says why
        return 0


Source = TextSource | ParquetSource | TableSource | Files
"""A table to read."""


def _rows_of_a_block(n_rows: int, n_bytes: int, size: BlockSize) -> int:
    row_bytes = max(1, n_bytes // max(1, n_rows))
    most = max(size.first // row_bytes, n_rows // BLOCKS_AT_LEAST)
    return max(1, min(most, size.most // row_bytes, size.rows))


class _StandardInput(io.RawIOBase):
    """Standard input, which may arrive slowly, after the bytes that were read ahead."""

    def __init__(self, ahead: bytes, stream: IO[bytes]) -> None:
        self._ahead = ahead
        self._stream = stream

    def readable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the file descriptor, for `select`."""
        return self._stream.fileno()

    def read(self, size: int = -1) -> bytes:
        """Return bytes that were read ahead, then bytes that have arrived; none at the end."""
        if not self._ahead:
            return self._stream.read(size)
        size = len(self._ahead) if size < 0 else size
        data, self._ahead = self._ahead[:size], self._ahead[size:]
        return data

    def has_more(self, deadline: float) -> bool:
        """Wait until a time for more bytes or the end; return False if neither has arrived."""
        if self._ahead:
            return True
        try:
            seconds = max(0.0, deadline - time.monotonic())
            return bool(select.select([self._stream], [], [], seconds)[0])
        except (OSError, ValueError):  # select does not support it, so reading will wait
            return True

    def head(self) -> bytes:
        """Read the beginning: all that arrives soon, and at least a line that tells the format."""
        head = bytearray(self.read(HEAD_BYTES))
        deadline = time.monotonic() + GATHER_SECONDS
        while len(head) < HEAD_BYTES:
            if not self.has_more(deadline) and _TELLING.match(head.removeprefix(BOM)):
                break
            data = self.read(HEAD_BYTES - len(head))
            if not data:
                break
            head += data
        return bytes(head)


def _open_stream(path: str) -> Any:
    """Open a file or standard input for reading, decompressed if its first bytes say so."""
    if path == "-":
        buffered: Any = sys.stdin.buffer
        ahead = buffered.peek(4)
        if compression := _compression(ahead[:4]):
            return pa.CompressedInputStream(pa.PythonFile(buffered, "r"), compression)
        return _StandardInput(buffered.read(len(ahead)), buffered.raw)
    if os.path.isdir(path):
        raise IsADirectoryError
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"is not a file that can be read twice; read it by: - < {path}")
    file = open_to_read(path)
    compression = _compression(file.read(4))
    file.seek(0)
    return pa.CompressedInputStream(file, compression) if compression else file


def _with_first_line(head: bytes, stream: Any) -> bytes:
    """Return the beginning of a file, or more of it if its first line is longer.

    Raises
    ------
    InputError
        If that line has more than `MOST_RECORD_BYTES`.
    """
    parts, n_bytes = [head], len(head)
    if n_bytes < HEAD_BYTES or any(end in head.lstrip() for end in (b"\n", b"\r")):
        return head
    while more := stream.read(SKIP_BYTES):
        parts.append(more)
        n_bytes += len(more)
        if b"\n" in more:
            break
        if n_bytes > MOST_RECORD_BYTES:
            raise InputError(f"its first line has more than {MOST_RECORD_BYTES >> 20} MB")
    return b"".join(parts)


def _is_text(head: bytes) -> bool:
    """Return True if the first bytes of a file are UTF-8 text without zero bytes."""
    try:
        return b"\0" not in head and bool(head[:_FIRST_BYTES].decode())
    except UnicodeDecodeError as error:
        return error.start >= _FIRST_BYTES - 3  # a character is cut


def _is_wide(head: bytes) -> bool:
    r"""Return True if a file is UTF-16 (by its mark) or another binary file (by many zero bytes).

    A few zero bytes are faults of the rows that hold them.

    Examples
    --------
    >>> _is_wide("id,puzzle".encode("utf-16-le")), _is_wide(b"id,puzzle\n1,1\0.")
    (True, False)
    """
    begin = head[:4096]
    return begin[:2] in (b"\xff\xfe", b"\xfe\xff") or begin.count(0) > len(begin) // 8


def _opened(path: str, content: bytes) -> Any:
    return pa.BufferReader(content) if content else open_to_read(path)


def _compression(magic: bytes) -> str | None:
    return next((name for start, name in _MAGIC.items() if magic.startswith(start)), None)


def _skip(stream: Any, n_bytes: int) -> None:
    if stream.seekable():
        stream.seek(n_bytes)
        return
    while n_bytes and (data := stream.read(min(n_bytes, SKIP_BYTES))):
        n_bytes -= len(data)


def _text_layout(path: str, head: bytes) -> tuple[Layout, int]:
    """Return the layout of a file, and the number of bytes of its header."""
    suffix = suffix_of(path)
    each = (line.decode(errors="replace").strip() for line in io.BytesIO(head))
    first = next((line for line in each if line and not line.startswith("#")), "")
    if suffix in (".jsonl", ".ndjson", ".json") or first.startswith("{"):
        return json_layout(head), 0
    if suffix in (".csv", ".tsv", ".tab") or _looks_like_header(first):
        line = io.BytesIO(head.lstrip(b"\r\n")).readline()
        names = line.removesuffix(b"\n").decode(errors="replace")
        delimiter = "\t" if suffix in (".tsv", ".tab") else _delimiter(names)
        columns, header = _header(head, delimiter)
        return text_layout(columns, delimited, delimiter), header
    return text_layout(_line_columns(first.partition(" #")[0].split()), lines), 0


def _line_columns(fields: list[str]) -> tuple[str, ...]:
    """Return the columns of lines with a few fields, one or two of them grids; else of grids."""
    grids = [k for k, field in enumerate(fields) if looks_like_grid(field)]
    if not 2 <= len(fields) <= MOST_SPACED or not 1 <= len(grids) <= 2:
        return ("puzzle",)
    if [len(fields), *grids] == [3, 1]:
        return "hash", "puzzle", "rating"  # the format of Sudoku Exchange
    return tuple(_headless_names(len(fields), grids))


def _headless_names(n_columns: int, grids: list[int]) -> list[str]:
    """Return names for columns without a header, given the indices of grid columns."""
    names = [f"column_{k + 1}" for k in range(n_columns)]
    names[grids[0]] = "puzzle"
    if len(grids) == 2:
        names[grids[1]] = "solution"
    return names


def _looks_like_header(line: str) -> bool:
    """Return True if a line of an unnamed format is the header of CSV: words, not a grid."""
    fields = _fields(line, _delimiter(line))
    words = [f for f in fields if f.replace("_", "").isalpha() and f.lower() == f and len(f) > 2]
    return bool(words) and len(words) >= len(fields) / 2


def _delimiter(line: str) -> str:
    return max(DELIMITERS, key=lambda d: (line.count(d), -DELIMITERS.index(d)))


def _header(head: bytes, delimiter: str) -> tuple[list[str], int]:
    """Return the names of the columns and the bytes before the first record.

    A first record that holds a grid is not a header: then the columns are named ``puzzle``,
    ``column_2``, ….
    """
    begin = len(head) - len(head.lstrip(b"\r\n"))
    end, is_open = record_end(head, begin, delimiter, most=1)
    if end == begin:
        if is_open:
            raise never_closed(head[begin:])
        if len(head) >= HEAD_BYTES - len(BOM):
            raise InputError(f"the header has more than {HEAD_BYTES >> 20} MB; shorten its names")
        end = len(head)
    names = [name.strip() for name in _fields(head[begin:end].decode(), delimiter)]
    grids = [k for k, name in enumerate(names) if looks_like_grid(name)]
    if grids:
        return _headless_names(len(names), grids), begin
    if (name := twice(names)) is not None:
        raise InputError(f"the header names column {quoted(name)} twice; rename one")
    return names, end


def _fields(header: str, delimiter: str) -> list[str]:
    try:
        return first_record(io.StringIO(header), delimiter)
    except csv.Error as error:
        raise InputError(
            f"the header cannot be read, because it holds a carriage return that ends no line: "
            f"{header[:80]!r}; end all lines alike"
        ) from error


def looks_like_grid(text: str) -> bool:
    """Return True if a field is a grid written as characters, rather than a name."""
    size = len(text)
    square = size in (16, 36, 64, 81, 100, 144, 225, 256, 400, 625)
    symbols = set(text)
    return (
        square
        and symbols <= set("0123456789.*_ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        and (len(symbols) > 2 or bool(symbols & set("0.*_")))
    )
