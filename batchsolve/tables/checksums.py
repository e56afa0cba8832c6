"""What a file holds, told by its length and a checksum that can be put together from its parts."""

from __future__ import annotations

import sys
import zlib
from typing import IO, NamedTuple

import pyarrow as pa

from batchsolve.problems.kernels import helper, kernel
from batchsolve.tables.places import open_to_read

READ_BYTES = 1 << 20
_POLYNOMIAL = 0xEDB88320  # of CRC-32, the highest power in the lowest bit
_ONE = 1 << 31


class Written(NamedTuple):
    """What a file held when it was recorded.

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
        """Return what a file of these bytes holds."""
        return cls(len(data), zlib.crc32(data))

    def plus(self, other: Written) -> Written:
        """Return what a file holds once another is appended.

        Examples
        --------
        >>> Written.of(b"some ").plus(Written.of(b"rows")) == Written.of(b"some rows")
        True
        """
        checksum = _with_zeros(self.checksum, other.n_bytes) ^ other.checksum
        return Written(self.n_bytes + other.n_bytes, checksum)


def written_to(file: IO[bytes], most: int | None = None) -> Written:
    """Return what a file holds, from where it stands to its end, or so many bytes of it."""
    n_bytes = checksum = 0
    left = sys.maxsize if most is None else most
    while left and (data := file.read(min(READ_BYTES, left))):
        checksum = zlib.crc32(data, checksum)
        n_bytes += len(data)
        left -= len(data)
    return Written(n_bytes, checksum)


def checksum_at(path: str) -> int | None:
    """Return the checksum of the file of a path or address; None if it cannot be read."""
    try:
        with open_to_read(path) as file:
            return written_to(file).checksum
    except OSError:
        return None


@kernel
def _with_zeros(checksum: int, n_bytes: int) -> int:
    """Return the CRC of bytes to which so many zeros are appended.

    A CRC is the remainder of a polynomial over two elements. A byte of zeros multiplies it by x⁸,
    as in the function crc32_combine of zlib, which Python does not offer.
    """
    power = _ONE >> 8
    while n_bytes:
        if n_bytes & 1:
            checksum = _product(checksum, power)
        power = _product(power, power)
        n_bytes >>= 1
    return checksum


@helper
def _product(one: int, other: int) -> int:
    """Multiply two remainders."""
    product = 0
    while one:
        if one & _ONE:
            product ^= other
        one = (one << 1) & 0xFFFFFFFF
        other = (other >> 1) ^ (_POLYNOMIAL if other & 1 else 0)
    return product
