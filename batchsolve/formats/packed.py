"""Files that are unpacked whole, up to a bound."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.errors import InputError

MOST_UNPACKED = 1 << 30  # bytes; the search of such a problem takes tens of gigabytes
_AT_ONCE = 1 << 20


def unpacked(data: bytes, compression: str) -> bytes:
    """Return the content of compressed data.

    Raises
    ------
    InputError
        If that is more than `MOST_UNPACKED` bytes; the rest is not unpacked.
    """
    content = bytearray()
    with pa.input_stream(pa.py_buffer(data), compression=compression) as stream:
        while some := stream.read(_AT_ONCE):  # memory for that is taken before unpacking
            content += some
            _check_size(len(content))
    return bytes(content)


def arrays_of(data: bytes) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an ``.npz`` file.

    Raises
    ------
    InputError
        If it is damaged, or its arrays have more than `MOST_UNPACKED` bytes. The size comes from
        the directory of the file, before arrays are unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_size(sum(member.file_size for member in archive.infolist()))
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {name: np.asarray(file[name]) for name in file.files}
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"not an .npz file of arrays, or a damaged one ({error})") from error


def _check_size(n_bytes: int) -> None:
    if n_bytes > MOST_UNPACKED:
        raise InputError(
            f"unpacks to more than {MOST_UNPACKED >> 20:,} MiB, the most that is read as one file"
        )
