"""Byte streams: files and standard input, decompressed, cut into blocks of whole records."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numba import njit

from batchsolve.errors import InputError

BLOCK_BYTES = 4 << 20
MOST_RECORD_BYTES = 64 << 20  # a longer CSV record means a quotation mark that is never closed
BOM = b"\xef\xbb\xbf"
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}


class Prefixed(io.RawIOBase):
    """A stream that gives back what was read ahead of it."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._head = head
        self._stream = stream

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the head first, whole, then what the stream gives."""
        if not self._head:
            return self._stream.read(size)
        data, self._head = self._head, b""
        return data + self._stream.read() if size < 0 else data


def open_stream(path: str) -> Any:
    """Open a file, or standard input, for reading; decompress it if it begins as such."""
    if path == "-":
        raw: Any = sys.stdin.buffer
        magic = raw.peek(4)[:4]
        compression = _compression(magic)
        return (
            pa.CompressedInputStream(pa.PythonFile(raw, "r"), compression) if compression else raw
        )
    if os.path.isdir(path):
        raise IsADirectoryError
    with open(path, "rb") as file:
        magic = file.read(4)
    return pa.input_stream(path, compression=_compression(magic))


def _compression(magic: bytes) -> str | None:
    return next((name for start, name in _MAGIC.items() if magic.startswith(start)), None)


@njit(cache=True, nogil=True)
def _last_record_end(data: Any, delimiter: int) -> tuple[int, bool]:
    """Return where the last whole CSV record ends, and whether a quoted field is still open.

    A quotation mark opens a field only where the field begins, as pyarrow has it.
    """
    end, quoted, begins = 0, False, True
    for x in range(data.size):
        c = data[x]
        if quoted:
            # a doubled mark closes and opens again, which comes to the same
            if c == 34:
                quoted = False
        elif c == 34 and (begins or data[x - 1] == 34):
            quoted, begins = True, False
        else:
            begins = c == delimiter or c == 10 or c == 13
            if c == 10:
                end = x + 1
    return end, quoted


def blocks(stream: IO[bytes], delimiter: str = "") -> Iterator[bytes]:
    """Cut a stream into blocks that end where a line (or with a delimiter: a record) ends."""
    pending = b""
    old_line_ends: bool | None = None
    quoted = False
    while data := stream.read(BLOCK_BYTES):
        if old_line_ends is None:
            old_line_ends = b"\n" not in data and b"\r" in data
        pending += data.replace(b"\r", b"\n") if old_line_ends else data
        end, quoted = pending.rfind(b"\n") + 1, False
        if delimiter and b'"' in pending:
            whole = np.frombuffer(pending, np.uint8)
            end, quoted = _last_record_end(whole, ord(delimiter))
        if end:
            yield pending[:end]
            pending = pending[end:]
        elif len(pending) > MOST_RECORD_BYTES:
            raise InputError(
                f"a record of more than {MOST_RECORD_BYTES >> 20} MB: {_begin(pending)}; is a "
                f"quotation mark never closed?"
            )
    if quoted:
        raise InputError(f"a quotation mark is never closed in the record {_begin(pending)}")
    if pending:
        yield pending


def _begin(record: bytes) -> str:
    """Return the beginning of a record, for messages."""
    return repr(record[:80].decode(errors="replace"))
