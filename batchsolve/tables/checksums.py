"""Lengths and checksums of files; that of a file can be combined from those of its parts."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from batchsolve.tables.blocks import bytes_of, is_list
from batchsolve.tables.places import open_to_read

READ_BYTES = 1 << 20
_POLYNOMIAL = 0xEDB88320  # of CRC-32, with the highest power in the lowest bit
_ONE = 1 << 31


class Written(NamedTuple):
    """The length and the checksum of the contents of a file.

    Attributes
    ----------
    n_bytes : int
    checksum : int
        CRC-32 of these bytes.
    """

    n_bytes: int = 0
    checksum: int = 0

    @classmethod
    def of(cls, data: pa.Buffer | bytes) -> Written:
        """Return the length and the checksum of bytes."""
        return cls(len(data), zlib.crc32(data))

    def plus(self, other: Written) -> Written:
        """Return the length and the checksum of these contents followed by others.

        Examples
        --------
        >>> Written.of(b"some ").plus(Written.of(b"rows")) == Written.of(b"some rows")
        True
        """
        checksum = _with_zeros(self.checksum, other.n_bytes) ^ other.checksum
        return Written(self.n_bytes + other.n_bytes, checksum)


Checksums = tuple[Written, ...]


def written_to(file: IO[bytes], most: int | None = None) -> Written:
    """Return the length and checksum of a file from its position on, of at most `most` bytes."""
    n_bytes = checksum = 0
    left = sys.maxsize if most is None else most
    while left and (data := file.read(min(READ_BYTES, left))):
        checksum = zlib.crc32(data, checksum)
        n_bytes += len(data)
        left -= len(data)
    return Written(n_bytes, checksum)


def sums_of(content: bytes | pa.Table) -> Checksums:
    """Return the sums of records: of their bytes, or of the columns of a table.

    Examples
    --------
    >>> table = pa.table({"puzzle": ["1...", None, "..2."], "clues": [[1], [], [2, 3]]})
    >>> first, rest = sums_of(table[:1]), sums_of(table[1:])
    >>> joined(first, rest) == sums_of(table)
    True
    """
    if isinstance(content, bytes):
        return (Written.of(content),)
    chunks = (column.combine_chunks() for column in content.columns)
    return tuple(Written.of(data) for chunk in chunks for data in _bytes_of(chunk))


def joined(first: Checksums, second: Checksums) -> Checksums:
    """Return the sums of records and of those that follow."""
    pairs = zip_longest(first, second, fillvalue=Written())
    return tuple(one.plus(other) for one, other in pairs)


def _bytes_of(column: pa.Array) -> Iterator[pa.Buffer | bytes]:
    """Yield the contents of a column as bytes; appending to the column appends to the bytes."""
    types = pa.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    elif types.is_string_view(column.type):
        column = column.cast(pa.string())
    yield np.asarray(column.is_valid()).tobytes()
    column, kind = column.drop_null(), column.type
    if types.is_struct(kind):
        for each in column.flatten():
            yield from _bytes_of(each)
    elif is_list(kind):
        yield np.asarray(pc.list_value_length(column)).tobytes()
        yield from _bytes_of(column.flatten())
    elif types.is_string(kind) or types.is_large_string(kind):
        yield np.asarray(pc.binary_length(column)).tobytes()
        yield bytes_of(column)
    elif types.is_primitive(kind) and kind.bit_width % 8 == 0:
        n_bytes = kind.bit_width // 8
        yield column.buffers()[1].slice(column.offset * n_bytes, len(column) * n_bytes)
    else:
        yield "".join(map(repr, column.to_pylist())).encode()


def checksum_at(path: str) -> int | None:
    """Return the checksum of a file at a path or address; None if it cannot be read."""
    try:
        with open_to_read(path) as file:
            return written_to(file).checksum
    except OSError:
        return None


def _with_zeros(checksum: int, n_bytes: int) -> int:
    """Return the CRC of bytes followed by `n_bytes` zeros.

    A CRC is the remainder of a polynomial over GF(2). A zero byte multiplies it by x⁸. Python does
    not offer zlib's function crc32_combine, which does the same.
    """
    for k in range(n_bytes.bit_length()):
        if n_bytes >> k & 1:
            checksum = _product(checksum, _zeros(k))
    return checksum


@cache
def _zeros(k: int) -> int:
    """Return the remainder that 2ᵏ zero bytes multiply by."""
    return _product(_zeros(k - 1), _zeros(k - 1)) if k else _ONE >> 8


def _product(one: int, other: int) -> int:
    """Multiply two remainders."""
    product = 0
    while one:
        if one & _ONE:
            product ^= other
        one = (one << 1) & 0xFFFFFFFF
        other = (other >> 1) ^ (_POLYNOMIAL if other & 1 else 0)
    return product
