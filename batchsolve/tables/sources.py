"""Sources of rows, which are files and tables, and the blocks that they are cut into.

A block is the input of one task of a worker: about a megabyte of records, cut where a record ends,
and their layout. `Tables` are several sources as one stream of rows.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from batchsolve.errors import InputError, ServerError, listed, named_errors, quoted, repeated
from batchsolve.formats.whole_files import content_of, opened, unpacked
from batchsolve.settings.arguments import is_address, real_path
from batchsolve.tables import columns
from batchsolve.tables.places import Facts, exists, facts_of, name_of, open_to_read

FILENAME = pa.field("filename", pa.string())
GATHER_SECONDS = 0.1  # input that arrives slowly is gathered for this time before it is a block
LAST_BYTES = 500_000  # in two blocks or more of the end of a file, so that workers end together
LINE_BYTES = 4096  # the tail of a block that is searched first for its last line
SKIP_BYTES = 1 << 20
BLOCKS_AT_LEAST = 32  # of a table, so that workers share it, unless the blocks would be small


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
        first, most, rows = (max(1, size // n) for size in (self.first, self.most, self.rows))
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
                    rows = parquet.read_row_groups(groups, use_threads=False)
                    return columns.without_views(rows.combine_chunks())
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
    layout: columns.Layout
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

    def rows(self) -> columns.Rows:
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
            return self.layout.parse(self.layout, records)

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
            else:
                end, _ = columns.record_end(data, begin, self.layout.delimiter, most_rows)
                end = end if end > begin else n  # the last line may lack a line end
            yield replace(self, data=data[begin:end], end=Boundary(self.source, first + end))
            begin = end


def _copied(rows: pa.Table) -> pa.Table:
    """Return a copy of a slice of a table."""
    return pa.ipc.open_stream(columns.arrow_stream(rows)).read_all()


def _is_doubly_fixed(kind: pa.DataType) -> bool:
    """Return True for fixed-size lists of fixed-size lists, also within other types."""
    is_fixed = pa.types.is_fixed_size_list
    inner = [kind.field(k).type for k in range(kind.num_fields)]
    return any((is_fixed(kind) and is_fixed(child)) or _is_doubly_fixed(child) for child in inner)


# ---- cutting --------------------------------------------------------------------------------


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
                raise columns.never_closed(source.look(begin, stop))
            end = stop
        if end > begin:
            yield source.take(begin, end), end
            begin, length = end, min(2 * length, size.most)
            if size.may_vary:
                length = min(length, max(LAST_BYTES, (source.size - begin) // 2))
        elif length > columns.MOST_RECORD_BYTES:
            raise InputError(
                f"a record of more than {columns.MOST_RECORD_BYTES >> 20} MB: "
                f"{columns.start_of(source.look(begin, stop))}; is a quotation mark never closed?"
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
            end, quoted = columns.record_end(data, 0, delimiter)
            return first + end, quoted
        if end := data.rfind(b"\n") + 1:
            return first + end, False
    return begin, False


# ---- sources --------------------------------------------------------------------------------


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
    content : bytes or None
        Its text, if it is in memory.
    """

    path: str
    layout: columns.Layout
    length: int | None
    first: int
    _stream: Stream | None = field(default=None, repr=False)  # of standard input
    content: bytes | None = field(default=None, repr=False)

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
                file = open_file(self.path) if self.content is None else io.BytesIO(self.content)
                source = self._from(opened.enter_context(file), begin)
            yield from cut(source, begin, self.layout.delimiter, size)

    def _from(self, file: Any, begin: int) -> PlainFile | Stream:
        """Return the open file from an offset on; workers read it if they can."""
        if self.length is not None:
            plain = PlainFile(self.path, file)
            if plain.is_found:
                return plain
        _skip(file, begin)
        return Stream(file, begin)


def open_file(path: str) -> Any:
    """Open a file for reading, decompressed if its first bytes say so."""
    if os.path.isdir(path):
        raise IsADirectoryError
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(
            "is not a file that can be read twice; write it to a file, or pipe it into the input -"
        )
    return unpacked(open_to_read(path))


def _skip(stream: Any, n_bytes: int) -> None:
    if stream.seekable():
        stream.seek(n_bytes)
        return
    while n_bytes and (data := stream.read(min(n_bytes, SKIP_BYTES))):
        n_bytes -= len(data)


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
    layout: columns.Layout
    length: int

    @classmethod
    def of(cls, path: str) -> ParquetSource:
        """Read the schema of a file."""
        with open_to_read(path) as opened, pq.ParquetFile(opened) as file:
            schema = columns.without_views(pa.Table.from_batches([], file.schema_arrow)).schema
            return cls(path, columns.Layout(schema, columns.checked_table), file.metadata.num_rows)

    def cut(self, offset: int, size: BlockSize) -> Iterator[Piece]:
        """See `TextSource.cut`."""
        with open_to_read(self.path) as opened, pq.ParquetFile(opened) as file:
            plain = PlainFile(self.path, opened)
            groups = [file.metadata.row_group(k) for k in range(file.num_row_groups)]
            rows = [group.num_rows for group in groups]
            n_bytes = sum(group.total_byte_size for group in groups)
            max_rows = _rows_of_a_block(sum(rows), n_bytes, size)
            end = 0
            for first, last in _runs(rows, max_rows):
                begin, end = end, end + sum(rows[first : last + 1])
                if end <= offset:
                    continue
                if offset <= begin and end - begin <= max_rows:
                    yield plain.take(first, last + 1, of_row_groups=True), end
                    continue
                for batch in file.iter_batches(max_rows, list(range(first, last + 1))):
                    table = columns.without_views(pa.Table.from_batches([batch]))
                    stop = begin + len(table)
                    if begin < offset < stop:
                        table = table.slice(offset - begin)
                    if stop > offset:
                        yield table, stop
                    begin = stop


def _runs(rows: list[int], max_rows: int) -> Iterator[tuple[int, int]]:
    """Divide row groups into runs of up to `max_rows` rows, or of one group; yield first and last.

    Examples
    --------
    >>> list(_runs([10, 10, 10, 99, 5], 20))
    [(0, 1), (2, 2), (3, 3), (4, 4)]
    """
    first = n_rows = 0
    for k, more in enumerate(rows):
        if k > first and n_rows + more > max_rows:
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
    form : str
        The form of the grids in that file, in words; empty for a table.
    """

    table: pa.Table
    path: str = "the table"
    form: str = ""

    @property
    def layout(self) -> columns.Layout:
        """The layout of its records."""
        return columns.Layout(self.table.schema, columns.checked_table)

    @property
    def length(self) -> int:
        """The number of rows."""
        return len(self.table)

    def cut(self, offset: int, size: BlockSize) -> Iterator[Piece]:
        """See `TextSource.cut`."""
        max_rows = _rows_of_a_block(self.length, self.table.nbytes, size)
        for begin in range(offset, self.length, max_rows):
            rows = self.table.slice(begin, max_rows)
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
    folder: str = field(default_factory=lambda: real_path("."))

    schema: ClassVar[pa.Schema] = pa.schema(
        [("name", pa.string()), ("content", pa.large_binary()), ("fault", pa.string())]
    )
    layout: ClassVar[columns.Layout] = columns.Layout(schema, columns.checked_table)
    path: ClassVar[str] = "the files"

    @property
    def length(self) -> int:
        """The number of files."""
        return len(self.names)

    def cut(self, offset: int, size: BlockSize) -> Iterator[Piece]:
        """See `TextSource.cut`."""
        n_bytes = sum(map(_size_of, map(self.path_of, self.names)))
        max_rows = _rows_of_a_block(self.length, n_bytes, size)
        for begin in range(offset, self.length, max_rows):
            files = replace(self, names=self.names[begin : begin + max_rows])
            yield files, begin + files.length

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
        except ServerError:  # nothing is wrong with the file that is known
            raise
        except InputError as error:
            return row | {"fault": str(error)}


Piece = tuple[Span | Files | bytes | pa.Table, int]
"""The records of a block, and the offset of its end in its source."""
Source = TextSource | ParquetSource | TableSource | Files
"""A table to read."""


def _size_of(path: str) -> int:
    try:
        return facts_of(path).size
    except OSError:  # its row says why
        return 0


def _rows_of_a_block(n_rows: int, n_bytes: int, size: BlockSize) -> int:
    row_bytes = max(1, n_bytes // max(1, n_rows))
    most = max(size.first // row_bytes, n_rows // BLOCKS_AT_LEAST)
    return max(1, min(most, size.most // row_bytes, size.rows))


class Tables:
    """Tables with the same columns, as one stream of rows.

    Parameters
    ----------
    sources : sequence of Source
    filename : bool
        Rows get a column with the name of the file that they are from.
    size : BlockSize, optional
        The size of blocks; by default `TASKS`.

    Attributes
    ----------
    schema : pyarrow.Schema
        The input columns.
    columns : list of str
        Their names.

    Raises
    ------
    InputError
        If the tables cannot be read.
    """

    def __init__(
        self, sources: Sequence[Source], filename: bool = False, size: BlockSize | None = None
    ) -> None:
        self._size = size or TASKS
        self._sources = sources
        self.schema = self._sources[0].layout.schema
        self.columns = list(self.schema.names)
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
    def form(self) -> str:
        """The form of the grids in the first file, in words; empty for a table with names."""
        source = self._sources[0]
        if isinstance(source, TableSource):
            return source.form
        has_lines = source.layout.parse is columns.lines and len(self.columns) == 1
        return "a grid a line" if has_lines else ""

    @property
    def names(self) -> str:
        """The names of the tables, for messages."""
        return ", ".join(name_of(source.path) for source in self._sources)

    def check_column(self, name: str) -> None:
        """Raise `InputError` unless an input column has this name."""
        if name not in self.columns:
            first = name_of(self._sources[0].path)
            raise InputError(
                f"{first}: unknown column {quoted(name)}; choose from {listed(self.columns)}"
            )

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
        blocks = chain(self._kept, self._rest) if begin is None else self._blocks_from(begin)
        if begin is not None:
            self._rest.close()  # the garbage collector, which would do it, swallows Ctrl-C
        self._kept, self._rest = [], self._blocks_from(Boundary(0, 0))
        for block in blocks:
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

    def _blocks_from(self, begin: Boundary) -> Generator[Block]:
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
            schema = source.layout.schema
            if not schema.equals(self.schema) or _kinds(schema) != _kinds(self.schema):
                raise InputError(
                    f"{name_of(source.path)}: has the columns {_describe(schema)} "
                    f"where {name_of(self._sources[0].path)} has {_describe(self.schema)}; give "
                    f"all tables the same columns, or solve them apart"
                )

    def waits(self) -> bool:
        """Return True if the next rows of standard input have not arrived yet."""
        return any(isinstance(source, TextSource) and source.waits() for source in self._sources)


def _kinds(schema: pa.Schema) -> list[tuple[str, Any]]:
    """Return the name and the type of each column; that of values of several kinds is JSON."""
    return [(f.name, "JSON" if f.metadata == columns.JSON_TEXT else f.type) for f in schema]


def _describe(schema: pa.Schema) -> str:
    return quoted(", ".join(f"{name} ({kind})" for name, kind in _kinds(schema)))
