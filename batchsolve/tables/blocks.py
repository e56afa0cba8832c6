"""Cutting an input into blocks: a block ends where a record ends, and nothing is parsed.

A block is what a worker is given: some megabyte of records, and how they are laid out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.errors import InputError
from batchsolve.problems.kernels import kernel
from batchsolve.tables.layouts import MOST_RECORD_BYTES, Layout, Rows, named_errors

BLOCK_BYTES = 1 << 20  # some 10 ms of reading and writing, and as much of search
FIRST_BYTES = 64 << 10  # blocks double from here on, so that workers share a small file as well


class Position(NamedTuple):
    """A point between two records of an input: where a block ends, and the next one begins.

    Attributes
    ----------
    source : int
        Which file, counted from 0.
    offset : int
        Bytes of the file before the point, once decompressed; rows for Parquet.
    """

    source: int
    offset: int


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive records of one file, not parsed yet.

    Attributes
    ----------
    data : bytes or pyarrow.Table
        The records without a header; a table if the file was Parquet.
    layout : Layout
        How they are laid out.
    name : str
        What messages call the file.
    end : Position
        Where the next block begins.
    """

    data: bytes | pa.Table
    layout: Layout
    name: str
    end: Position

    @property
    def source(self) -> int:
        """Which file the block is from, counted from 0."""
        return self.end.source

    def rows(self) -> Rows:
        """Parse the block.

        Raises
        ------
        InputError
            If it cannot be read; a `RowsError` if that is due to certain rows.
        """
        with named_errors(self.name):
            return self.layout.rows(self.data)

    def parts(self, most_rows: int) -> Iterator[Block]:
        """Cut the block into smaller ones of at most so many records."""
        begin, n = 0, len(self.data)
        first = self.end.offset - n
        while begin < n:
            end = self._record_end(begin, most_rows)
            if isinstance(self.data, pa.Table):
                data = slice_of(self.data, begin, end)
            else:
                data = self.data[begin:end]
            yield replace(self, data=data, end=Position(self.source, first + end))
            begin = end

    def _record_end(self, begin: int, most: int) -> int:
        if isinstance(self.data, pa.Table):
            return min(begin + most, len(self.data))
        end, _ = record_end(self.data, begin, self.layout.delimiter, most)
        return end if end > begin else len(self.data)  # the last line may have no line end


def slice_of(table: pa.Table, begin: int, end: int) -> pa.Table:
    """Copy some rows; what pyarrow calls a slice is sent to workers with the whole table."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.slice(begin, end - begin))
    return pa.ipc.open_stream(sink.getvalue()).read_all()


def cut(stream: IO[bytes], delimiter: str = "", old_line_ends: bool = False) -> Iterator[bytes]:
    """Cut a stream into blocks that end where a line (or with a delimiter: a record) ends.

    Parameters
    ----------
    stream : binary file
    delimiter : str
        What parts the fields of a CSV table, where line ends can be quoted.
    old_line_ends : bool
        Whether lines end in a carriage return alone; it becomes a line feed.

    Raises
    ------
    InputError
        After the last whole record, if a quotation mark is never closed.
    """
    pending, quoted = b"", False
    size = min(FIRST_BYTES, BLOCK_BYTES)
    # a record that does not end is read on in ever larger steps, for it is looked through again
    while data := stream.read(max(size, len(pending))):
        pending += data.replace(b"\r", b"\n") if old_line_ends else data
        end, quoted = pending.rfind(b"\n") + 1, False
        if delimiter and b'"' in pending:
            end, quoted = record_end(pending, 0, delimiter)
        if end:
            yield pending[:end]
            pending = pending[end:]
            size = min(2 * size, BLOCK_BYTES)
        elif len(pending) > MOST_RECORD_BYTES:
            raise InputError(
                f"a record of more than {MOST_RECORD_BYTES >> 20} MB: {start_of(pending)}; is a "
                f"quotation mark never closed?"
            )
    if quoted:
        raise InputError(f"a quotation mark is never closed in the record {start_of(pending)}")
    if pending:
        yield pending


def record_end(data: bytes, begin: int, delimiter: str, most: int = 0) -> tuple[int, bool]:
    """Find the end of the last whole record, or of number `most` from `begin` on if that is not 0.

    Returns
    -------
    end : int
        Where the next record begins; `begin` if no record is whole.
    quoted : bool
        Whether a quotation mark is open where the search ended.
    """
    return _record_end(np.frombuffer(data, np.uint8), begin, ord(delimiter or "\0"), most)


@kernel
def _record_end(
    data: npt.NDArray[np.uint8], begin: int, delimiter: int, most: int
) -> tuple[int, bool]:
    """See `record_end`; nothing is quoted if the delimiter is 0.

    As in pyarrow, a quotation mark opens a field only where the field begins, and a second one
    right behind the one that closes it opens it again.
    """
    end, quoted, closed = begin, False, -1
    for x in range(begin, data.size):
        c = data[x]
        if c > 34:  # most bytes: neither a line end nor a quotation mark
            continue
        if quoted:
            if c == 34:
                quoted, closed = False, x
        elif c == 34:
            before = data[x - 1] if x > begin else 10
            begins = before == delimiter or before == 10 or before == 13
            quoted = delimiter != 0 and (begins or closed == x - 1)
        elif c == 10:
            end = x + 1
            most -= 1
            if most == 0:
                break
    return end, quoted


def start_of(record: bytes) -> str:
    """Return the beginning of a record, for messages."""
    return repr(record[:80].decode(errors="replace"))
