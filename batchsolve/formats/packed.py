"""Files that are packed: compressed ones, archives, and matrices of problems."""

from __future__ import annotations

import io
import re
import zipfile
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.errors import InputError, prefixed, quoted
from batchsolve.formats.exact_cover_files import check_number_of_items
from batchsolve.formats.whole_files import check_size
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.notation import default_box

NUMPY = b"\x93NUMPY"  # begins a file of one array
ZIP = b"PK\x03\x04"
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_OPTIONAL = ("colors", "bounds", "costs")  # arrays


def compression_of(begin: bytes) -> str | None:
    """Return the compression of a file, by its first bytes; None for others."""
    return next((name for start, name in _COMPRESSIONS.items() if begin.startswith(start)), None)


def unpacked(file: Any) -> Any:
    """Return what a compressed file or the only file in a zip archive holds, as a stream.

    Other files, and archives of several, are returned as they are.
    """
    begin = file.read(4)
    file.seek(0)
    if begin == ZIP:
        with prefixed("cannot be read as a zip archive", InputError, zipfile.BadZipFile):
            archive = zipfile.ZipFile(file)
        members = [one for one in archive.infolist() if not one.is_dir()]
        members = [one for one in members if not one.filename.startswith("__MACOSX/")]
        if len(members) == 1:
            return archive.open(members[0])
        file.seek(0)
    elif compression := compression_of(begin):
        import pyarrow as pa

        return pa.CompressedInputStream(file, compression)
    return file


def _arrays_of(data: bytes) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an ``.npz`` file.

    Raises
    ------
    InputError
        If it is damaged, or its arrays have more than `MOST_BYTES`. The size comes from
        the directory of the file, before arrays are unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_size(sum(member.file_size for member in archive.infolist()), "unpacks to")
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {name: np.asarray(file[name]) for name in file.files}
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"not an .npz file of arrays, or a damaged one ({error})") from error


def read_npz(data: bytes) -> ExactCover:
    """Read a CSR matrix of ``scipy.sparse.save_npz``: a row per option, a column per item.

    Further arrays are optional: ``n_primary``, the number of primary columns, which come first;
    ``colors``, the colour of each entry, in the order of ``indices``, with 0 for none; ``bounds``,
    two columns, the least and the most of each primary item; ``costs``, the cost of each option.
    """
    arrays = _arrays_of(data)
    form = arrays["format"].item() if "format" in arrays and arrays["format"].size == 1 else "csr"
    form = form.decode(errors="replace") if isinstance(form, bytes) else str(form)
    if form != "csr":
        raise InputError(f"the matrix has the form {quoted(form)}; save matrix.tocsr()")
    for name in ("indptr", "indices", "data", "shape"):
        if name not in arrays:
            raise InputError(
                f"no array is called {quoted(name)}; write it with scipy.sparse.save_npz, and "
                f"grids with numpy.save, as .npy"
            )
    indptr, indices, values = (arrays[name] for name in ("indptr", "indices", "data"))
    if arrays["shape"].size != 2 or arrays["shape"].dtype.kind not in "iu":
        raise InputError("the array 'shape' must hold 2 whole numbers")
    n_options, n_items = arrays["shape"].reshape(-1).tolist()
    n_primary = arrays.get("n_primary", np.array(n_items))
    if n_primary.size != 1:
        raise InputError("the array 'n_primary' must hold one whole number")
    check_number_of_items(n_items)
    if indptr.shape != (n_options + 1,) or values.shape != indices.shape:
        raise InputError(
            f"the arrays do not fit together: {n_options} rows, indptr of shape {indptr.shape}, "
            f"indices of shape {indices.shape}, data of shape {values.shape}"
        )
    if not np.all(values == 1):
        raise InputError(
            "an entry is not 1; a matrix of an exact cover problem holds 0 and 1 only, the zeros "
            "not stored (matrix.eliminate_zeros())"
        )
    optional: dict[str, Any] = {name: arrays[name] for name in _OPTIONAL if name in arrays}
    return ExactCover(indptr, indices, n_items, n_primary.item(), **optional)


def read_matrix(data: bytes) -> ExactCover:
    r"""Read a matrix of 0 and 1: a row for each option, a column for each item.

    It is an array of NumPy, or text: a line for each row, with or without blanks and commas.

    Examples
    --------
    >>> read_matrix(b"1 0\n0 1\n1 1\n")
    ExactCover(n_items=2, n_primary=2, n_options=3)
    """
    if data.startswith(NUMPY):
        return ExactCover.from_matrix(_array_of(data))
    rows: list[str] = []
    for number, line in enumerate(data.decode("utf-8-sig").splitlines(), 1):
        row = re.sub(r"[\s,;]", "", line)
        if set(row) - {"0", "1"} or (row and rows and len(row) != len(rows[0])):
            raise InputError(f"line {number}: not a row of 0 and 1, as long as the first")
        rows += [row] if row else []
    return ExactCover.from_matrix([list(map(int, row)) for row in rows])


def is_matrix(data: bytes) -> bool:
    """Return True for an array of NumPy that is such a matrix, unless it can be one of grids."""
    array = _array_of(data) if data.startswith(NUMPY) else np.empty(0)
    if array.ndim != 2 or array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        return False
    n_rows, n_columns = array.shape
    is_grid = n_rows == n_columns and default_box(n_rows) is not None
    root = isqrt(n_columns)
    return not is_grid and (root**2 != n_columns or default_box(root) is None)


def _array_of(data: bytes) -> npt.NDArray[Any]:
    with prefixed("cannot be read as an array of NumPy", InputError, Exception):
        return np.asarray(np.load(io.BytesIO(data), allow_pickle=False))


def write_npz(problem: ExactCover) -> bytes:
    """Return a problem as a CSR matrix, without names; the inverse of `read_npz`."""
    optional = {name: getattr(problem, name) for name in _OPTIONAL}
    file = io.BytesIO()
    np.savez_compressed(
        file,
        format=np.array(b"csr"),
        shape=np.array([problem.n_options, problem.n_items]),
        indptr=problem.indptr,
        indices=problem.indices,
        data=np.ones(problem.n_entries, np.uint8),
        n_primary=np.array(problem.n_primary),
        **{name: array for name, array in optional.items() if array is not None},
    )
    return file.getvalue()
