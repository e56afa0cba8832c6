"""Sources of rows: files, which are cut into blocks, and tables; and several of them as one stream.

The formats are CSV, TSV, Parquet, JSON lines and plain text; text formats can be compressed.
"""

from __future__ import annotations

import os
import re
import select
import sys
import threading
import time
import zipfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, chain
from queue import SimpleQueue
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from batchsolve.errors import (
    InputError,
    kind_of,
    listed,
    named_errors,
    not_text,
    quoted,
    repeated,
    shortened,
)
from batchsolve.formats.drawings import is_grid
from batchsolve.formats.whole_files import compression_of, content_of, opened, unpacked
from batchsolve.settings import each_of, path_of
from batchsolve.tables import detection
from batchsolve.tables.blocks import (
    BOM,
    MOST_RECORD_BYTES,
    TASKS,
    Block,
    BlockSize,
    Boundary,
    Layout,
    PlainFile,
    Span,
    Stream,
    checked_table,
    cut,
)
from batchsolve.tables.columns import arrow_table, without_views
from batchsolve.tables.places import (
    check_announced,
    exists,
    facts_of,
    files_of,
    is_address,
    name_of,
    open_to_read,
    suffix_of,
)

FILENAME = pa.field("filename", pa.string())
_FIRST_BYTES = 4096  # that tell the kind of a file
SKIP_BYTES = 1 << 20
OPENED_AT_ONCE = 8
BLOCKS_AT_LEAST = 32  # of a table, so that workers share it, unless the blocks would be small
# a complete line, but not a comment, and not JSON, whose types need more lines
_TELLING = re.compile(rb"(?:[^\S\n]*(?:#[^\n]*)?\n)*[^\S\n]*[^\s#{\[][^\n]*\n")


def open_source(path: str) -> Source:
    """Detect the format of a file, and return its source.

    Parameters
    ----------
    path : str
        A file, its address, or ``-`` for standard input, which can be read once. Or the text of
        a grid, if no file has this name.

    Raises
    ------
    InputError
        If the file does not exist, cannot be read, is empty or has no usable header.
    """
    if path != "-" and not is_address(path) and not os.path.exists(path) and is_grid(path):
        return TableSource(pa.table({"puzzle": [path]}), "the grid")
    with named_errors(name_of(path)), ExitStack() as opened:
        if path == "-":
            file, ahead = _standard_input()
            stream = Stream(file, has_more=partial(_arrives, file), ahead=ahead)
        else:
            file = opened.enter_context(_open_file(path))
            stream = Stream(file)
        head = _head_of(stream)
        text = head.removeprefix(BOM)
        if not text or text.isspace():
            raise InputError("is empty; expected puzzles, one a line, or a table with a header")
        if head.startswith(b"PAR1") and path != "-" and not isinstance(file, zipfile.ZipExtFile):
            return ParquetSource.of(path)
        if head.startswith(b"PAR1") or (b"\n" not in head and b"\r" in head):
            return source_of(path, head + file.read())
        table = detection.read_document(suffix_of(path), text, lambda: head + file.read())
        if table is not None:
            return TableSource(table, path)
        if kind_of(head) and not _is_text(head):
            raise InputError(f"{not_text(head)}; expected CSV, TSV, Parquet, JSON lines or text")
        is_packed = isinstance(file, pa.CompressedInputStream | zipfile.ZipExtFile)
        length = None if path == "-" or is_packed else facts_of(path).size
        if length is not None:
            check_announced(path, length)
        head = _with_first_line(head, stream)
        first = len(head) - len(head.removeprefix(BOM))
        layout, header = detection.text_layout_of(path, head[first:])
        return TextSource(path, layout, length, first + header, stream if path == "-" else None)


def source_of(path: str, data: bytes) -> Source:
    """Return the source of the content of a file, as `open_source` that of the file.

    Lines may end in a carriage return alone.
    """
    if data.startswith(b"PAR1"):
        return TableSource(pq.read_table(pa.BufferReader(data)), path)
    text = data.removeprefix(BOM)
    if b"\n" not in text:
        text = text.replace(b"\r", b"\n")
    table = detection.read_document(suffix_of(path), text, lambda: text)
    if table is None:
        layout, header = detection.text_layout_of(path, text)
        table, faults = layout.rows(text[header:])
        if faults:
            raise InputError(next(iter(faults.values())))
    return TableSource(table, path)


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
    """

    path: str
    layout: Layout
    length: int | None
    first: int
    _stream: Stream | None = field(default=None, repr=False)  # of standard input

    def waits(self) -> bool:
        """Return True if the next records of standard input have not arrived yet."""
        return self._stream is not None and self._stream.waits()

    def cut(self, offset: int, size: BlockSize) -> Iterator[Piece]:
        """Cut the file into blocks from an offset on; yield their records and ends.

        Raises
        ------
        Exception
            After the last block that could be read, if the file is damaged.
        """
        begin = max(offset, self.first)
        with ExitStack() as opened:
            source: PlainFile | Stream
            if self._stream is not None:
                source = self._stream
                source.fills_blocks = not size.may_vary
                source.take(0, begin)
            else:
                source = self._from(opened.enter_context(_open_file(self.path)), begin)
            yield from cut(source, begin, self.layout.delimiter, size)

    def _from(self, file: Any, begin: int) -> PlainFile | Stream:
        """Return the open file from an offset on; workers read it if they can."""
        if self.length is not None:
            plain = PlainFile(self.path, file)
            if plain.is_found:
                return plain
        _skip(file, begin)
        return Stream(file, begin)


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

    @classmethod
    def of(cls, path: str) -> ParquetSource:
        """Read the schema of a file."""
        with open_to_read(path) as opened, pq.ParquetFile(opened) as file:
            return cls(path, Layout(file.schema_arrow, checked_table), file.metadata.num_rows)

    def cut(self, offset: int, size: BlockSize) -> Iterator[Piece]:
        """See `TextSource.cut`."""
        with open_to_read(self.path) as opened, pq.ParquetFile(opened) as file:
            plain = PlainFile(self.path, opened)
            groups = [file.metadata.row_group(k) for k in range(file.num_row_groups)]
            rows = [group.num_rows for group in groups]
            n_bytes = sum(group.total_byte_size for group in groups)
            most = _rows_of_a_block(sum(rows), n_bytes, size)
            end = 0
            for first, last in _runs(rows, most):
                begin, end = end, end + sum(rows[first : last + 1])
                if end <= offset:
                    continue
                if offset <= begin and end - begin <= most:
                    yield plain.take(first, last + 1, of_row_groups=True), end
                    continue
                for batch in file.iter_batches(most, list(range(first, last + 1))):
                    table = pa.Table.from_batches([batch])
                    stop = begin + len(table)
                    if begin < offset < stop:
                        table = table.slice(offset - begin)
                    if stop > offset:
                        yield table, stop
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

    def cut(self, offset: int, size: BlockSize) -> Iterator[Piece]:
        """See `TextSource.cut`."""
        most = _rows_of_a_block(self.length, self.table.nbytes, size)
        for begin in range(offset, self.length, most):
            rows = self.table.slice(begin, most)
            yield rows, begin + len(rows)


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
    folder: str = field(default_factory=os.getcwd)

    schema: ClassVar[pa.Schema] = pa.schema(
        [("name", pa.string()), ("content", pa.large_binary()), ("fault", pa.string())]
    )
    layout: ClassVar[Layout] = Layout(schema, checked_table)
    path: ClassVar[str] = "the files"

    @property
    def length(self) -> int:
        """The number of files."""
        return len(self.names)

    def cut(self, offset: int, size: BlockSize) -> Iterator[Piece]:
        """See `TextSource.cut`."""
        n_bytes = sum(map(_size_of, map(self.path_of, self.names)))
        most = _rows_of_a_block(self.length, n_bytes, size)
        for begin in range(offset, self.length, most):
            some = replace(self, names=self.names[begin : begin + most])
            yield some, begin + some.length

    def read(self) -> pa.Table:
        """Read the files; one that cannot be read is a row with its fault."""
        return pa.Table.from_pylist(list(map(self._row, self.names)), self.schema)

    def path_of(self, name: str) -> str:
        """Return the path of a file for any directory."""
        return name if is_address(name) else os.path.join(self.folder, name)

    def _row(self, name: str) -> dict[str, Any]:
        path, row = self.path_of(name), {"name": name_of(name)}
        if not exists(path):
            return row
        try:
            open_file = open_to_read if is_address(path) else opened
            with named_errors(name_of(name)), open_file(path) as file:
                return row | {"content": content_of(file)}
        except InputError as error:
            return row | {"fault": str(error)}


Piece = tuple[Span | Files | bytes | pa.Table, int]
"""The records of a block, and the offset of its end in its source."""


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


def _standard_input() -> tuple[Any, bytes]:
    """Return standard input, decompressed if its first bytes say so, and what was read of it."""
    buffered: Any = sys.stdin.buffer
    ahead = buffered.peek(4)
    if compression := compression_of(ahead[:4]):
        return pa.CompressedInputStream(pa.PythonFile(buffered, "r"), compression), b""
    return buffered.raw, buffered.read(len(ahead))


def _arrives(file: Any, deadline: float) -> bool:
    """Wait until a time for more bytes of a file or its end; return False if neither arrives."""
    try:
        seconds = max(0.0, deadline - time.monotonic())
        return bool(select.select([file], [], [], seconds)[0])
    except (OSError, ValueError, TypeError):  # it does not support that, so reading will wait
        return True


def _open_file(path: str) -> Any:
    """Open a file for reading, decompressed if its first bytes say so."""
    if os.path.isdir(path):
        raise IsADirectoryError
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"is not a file that can be read twice; read it by: - < {path}")
    return unpacked(open_to_read(path))


def _head_of(stream: Stream) -> bytes:
    """Return the beginning: all that arrives soon, and at least a line that tells the format."""
    while True:
        end = stream.end_by(detection.HEAD_BYTES)
        head = stream.look(0, end)
        if end == detection.HEAD_BYTES or stream.has_ended:
            return head
        if _TELLING.match(head.removeprefix(BOM)):
            return head


def _with_first_line(head: bytes, stream: Stream) -> bytes:
    """Return the beginning of a file, or more of it if its first line is longer.

    Raises
    ------
    InputError
        If that line has more than `MOST_RECORD_BYTES`.
    """
    while not (stream.has_ended or any(end in head.lstrip() for end in (b"\n", b"\r"))):
        if len(head) > MOST_RECORD_BYTES:
            raise InputError(f"its first line has more than {MOST_RECORD_BYTES >> 20} MB")
        head = stream.look(0, stream.end_by(len(head) + SKIP_BYTES))
    return head


def _is_text(head: bytes) -> bool:
    """Return True if the first bytes of a file are UTF-8 text without zero bytes."""
    try:
        return b"\0" not in head and bool(head[:_FIRST_BYTES].decode())
    except UnicodeDecodeError as error:
        return error.start >= _FIRST_BYTES - 3  # a character is cut


def _skip(stream: Any, n_bytes: int) -> None:
    if stream.seekable():
        stream.seek(n_bytes)
        return
    while n_bytes and (data := stream.read(min(n_bytes, SKIP_BYTES))):
        n_bytes -= len(data)


# ---- tables as one stream -------------------------------------------------------------------


class Tables:
    """Tables with the same columns, as one stream of rows.

    Parameters
    ----------
    inputs : sequence of str or Source
        Files, ``-`` for standard input, or tables that are already open.
    filename : bool
        Rows get a column with the name of the file that they are from.
    size : BlockSize, optional
        The size of blocks; by default `TASKS`.

    Attributes
    ----------
    schema : pyarrow.Schema
        The input columns.

    Raises
    ------
    InputError
        If the tables cannot be read.
    """

    column: str  # of kinds that have one

    def __init__(
        self, inputs: Sequence[str | Source], filename: bool = False, size: BlockSize | None = None
    ) -> None:
        if not inputs:
            raise InputError("no input; name a file, or - for standard input")
        self._size = size or TASKS
        self._sources = open_all(inputs)
        self.schema = self._sources[0].layout.schema
        self._check_schemas()
        known = [source.length for source in self._sources if source.length is not None]
        self._ends = list(accumulate(known)) if len(known) == len(self._sources) else []
        first = name_of(self._sources[0].path)
        if (name := repeated(self.columns)) is not None:
            raise InputError(f"{first}: names the column {quoted(name)} twice; rename one")
        if filename and FILENAME.name in self.columns:
            raise InputError(f"{first}: has a column filename; rename it, or leave out `filename`")
        self._kept: list[Block] = []
        self._rest = self._blocks_from(Boundary(0, 0))

    @property
    def names(self) -> str:
        """The names of the tables, for messages."""
        return ", ".join(name_of(source.path) for source in self._sources)

    @property
    def columns(self) -> list[str]:
        """Names of the input columns."""
        return list(self.schema.names)

    @property
    def given_column(self) -> str | None:
        """The column of puzzles or problems; empty for fields or files, None for blank grids."""
        return self.column if self.column in ("", *self.columns) else None

    def check_column(self, name: str) -> None:
        """Raise `InputError` unless an input column has this name."""
        if name not in self.columns:
            raise InputError(f"unknown column {quoted(name)}; choose from {listed(self.columns)}")

    def blocks(
        self, begin: Boundary | None = None, most_rows: int | None = None
    ) -> Iterator[Block]:
        """Cut the corpus into blocks; standard input can be cut once.

        Parameters
        ----------
        begin : Boundary, optional
            The end of an earlier block; by default the first record.
        most_rows : int, optional
            Upper bound of the records of a block; by default a block has about a megabyte.

        Raises
        ------
        InputError
            After the last block that could be read, if a file is damaged.
        """
        whole = chain(self._kept, self._rest) if begin is None else self._blocks_from(begin)
        self._kept, self._rest = [], self._blocks_from(Boundary(0, 0))
        for block in whole:
            if most_rows is None:
                yield block
            else:
                yield from block.parts(most_rows)

    def blocks_before(self, end: Boundary) -> Iterator[Block]:
        """Cut the records before the end of an earlier block; the last block may go beyond it."""
        for block in self._blocks_from(Boundary(0, 0)):
            if block.source > end.source:
                break
            yield block
            if block.end >= end:
                break

    def _blocks_from(self, begin: Boundary) -> Iterator[Block]:
        for number, source in enumerate(self._sources[begin.source :], begin.source):
            offset = begin.offset if number == begin.source else 0
            layout, name = source.layout, name_of(source.path)
            with named_errors(name):
                for records, end in source.cut(offset, self._size):
                    yield Block(records, layout, name, Boundary(number, end))

    def expected_rows(self, n_rows: int, position: Boundary | None) -> int | None:
        """Estimate the number of all rows from those before a position; None if unknown."""
        if position is None or not self._ends:
            return None
        before = position.offset + (self._ends[position.source - 1] if position.source else 0)
        return round(n_rows * self._ends[-1] / before) if before else None

    def _check_schemas(self) -> None:
        """Raise an error if files have different columns."""
        for source in self._sources:
            if not source.layout.schema.equals(self.schema):
                raise InputError(
                    f"{name_of(source.path)}: has the columns {_describe(source.layout.schema)} "
                    f"where {name_of(self._sources[0].path)} has {_describe(self.schema)}; solve "
                    f"them apart"
                )

    def waits(self) -> bool:
        """Return True if the next rows of standard input have not arrived yet."""
        return any(isinstance(each, TextSource) and each.waits() for each in self._sources)


def _describe(schema: pa.Schema) -> str:
    return shortened(", ".join(f"{field.name} ({field.type})" for field in schema))


def open_all(inputs: Sequence[str | Source]) -> list[Source]:
    """Open tables.

    Parameters
    ----------
    inputs : sequence of str or Source
        Paths, and tables that are already open.

    Returns
    -------
    list of Source

    Raises
    ------
    InputError
        If tables cannot be opened; the error is that of the first one.

    Notes
    -----
    Ctrl-C ends the wait at any moment. An executor would not do: within the code of a `Future`,
    Ctrl-C can leave a lock taken; a thread would wait for it forever, and the executor for the
    thread.
    """
    if len(inputs) == 1:
        return [_source(inputs[0])]
    waiting = iter(list(enumerate(inputs)))  # from which several threads may draw
    opened: list[SimpleQueue[Source | Exception]] = [SimpleQueue() for _ in inputs]

    def open_some() -> None:
        for k, one in waiting:
            try:
                opened[k].put(_source(one))
            except Exception as error:
                opened[k].put(error)

    sources = []
    try:
        for _ in range(min(OPENED_AT_ONCE, len(inputs))):
            threading.Thread(target=open_some, daemon=True).start()
        for each in opened:
            source = each.get()
            if isinstance(source, Exception):
                raise source
            sources.append(source)
    finally:
        deque(waiting, maxlen=0)  # after an error, no other table is opened
    return sources


def _source(one: str | Source) -> Source:
    return open_source(one) if isinstance(one, str) else one


def files_and_tables(what: str, inputs: Any, name: str = "the table") -> list[str | TableSource]:
    """Return the files that names stand for, and the sources of tables.

    Parameters
    ----------
    what : str
        The name of the argument, for messages.
    inputs : table, str or path, or an iterable of them
    name : str
        The name of a table; those of several tables are numbered.

    Examples
    --------
    >>> some = files_and_tables("the input", ["a.csv", pa.table({"puzzle": []})], "against")
    >>> some[0], some[1].path
    ('a.csv', 'against[1]')
    """
    found: list[str | TableSource] = []
    for k, one in enumerate(each_of(inputs)):
        if isinstance(one, str | bytes | os.PathLike):
            found += files_of([path_of(what, one)])
        else:
            which = name if one is inputs else f"{name}[{k}]"
            found.append(TableSource(without_views(arrow_table(one)), which))
    return found
