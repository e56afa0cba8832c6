"""Files that are read as a whole: NumPy arrays, JSON arrays, JSON documents, titled grids.

All other files are read block by block; these cannot be cut without parsing them.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from batchsolve.errors import InputError, prefixed
from batchsolve.formats.grid_documents import is_grid_document, read_grid_document
from batchsolve.json_records import loads
from batchsolve.problems.grids import as_whole, without_minus_one
from batchsolve.problems.notation import default_box, from_zero, numbers, usual_notation
from batchsolve.tables.layouts import json_layout

_TITLE = re.compile(rb"\s*grid[ \t]*\d+[ \t]*\r?\n", re.IGNORECASE)
_ARRAY = re.compile(rb"\s*\[\s*[\[{\"\d\]]")  # not the title of a section
_MOST_SYMBOLS = 9  # larger grids are written as numbers


def read_document(suffix: str, head: bytes, content: Callable[[], bytes]) -> pa.Table | None:
    """Return the table of a file that is read as a whole, or None for other files.

    Parameters
    ----------
    suffix : str
        The suffix of its name, which excludes JSON lines.
    head : bytes
        The beginning of the file.
    content : callable
        Returns the whole file.

    Raises
    ------
    InputError
        If the file holds no puzzles.
    """
    if head.startswith(b"\x93NUMPY"):
        return _numpy_table(content())
    if _ARRAY.match(head) and suffix not in (".jsonl", ".ndjson"):
        return _json_table(content())
    if is_grid_document(head):
        return pa.table(read_grid_document(content()))
    if _TITLE.match(head):
        return _titled_table(content().decode())
    return None


def _numpy_table(data: bytes) -> pa.Table:
    with prefixed("cannot be read as an array of NumPy", InputError, Exception):
        array = np.load(io.BytesIO(data), allow_pickle=False)
    if array.ndim == 1 and array.dtype.kind in "US":
        return pa.table({"puzzle": pa.array(array.astype(str).tolist(), pa.string())})
    return pa.table({"puzzle": _as_text(array)})


def _as_text(array: npt.NDArray[Any]) -> pa.Array:
    """Write digits as text; 0 and -1 are blanks, and other invalid numbers stay invalid."""
    array = as_whole(array)
    n_rows = len(array) if array.ndim else 0
    n_cells = int(np.prod(array.shape[1:]))
    n = round(n_cells**0.5)
    fits = array.ndim in (2, 3) and array.shape[1:] in ((n_cells,), (n, n)) and n * n == n_cells
    if not fits or array.dtype.kind not in "iu" or not (n == 1 or default_box(n)):
        raise InputError(
            f"an array of {array.dtype} of the shape {array.shape} holds no puzzles; expected "
            f"whole numbers of the shape (n, N²) or (n, N, N), or text of the shape (n,)"
        )
    is_from_zero = array.min(initial=0) == -1 and array.max(initial=0) < n and (array == 0).any()
    if is_from_zero:
        array = array.astype(np.int64) + 1
    digits = without_minus_one(array, n).reshape(n_rows, n_cells)
    wrong = (digits < 0) | (digits > n)
    if n_rows and wrong.any(axis=1).all():
        cell = int(wrong[0].argmax())
        raise InputError(
            f"row 1 has {digits[0, cell]} in cell {cell + 1}; digits are 1 to {n}, 0 or -1 is a "
            f"blank"
        )
    notation = usual_notation(n) if n <= _MOST_SYMBOLS else numbers(n)
    if is_from_zero:  # and is read so
        notation = from_zero(n, as_numbers=n > _MOST_SYMBOLS)
    text = notation.decode(np.where(wrong, 0, digits).astype(np.uint8), np.ones(n_rows, np.bool_))
    bad, gap = wrong.any(axis=1), notation.separator
    rows = [
        gap.join(str(digit) if gap or 0 <= digit <= 9 else "?" for digit in row)
        for row in digits[bad].tolist()
    ]
    return pc.replace_with_mask(text, pa.array(bad), pa.array(rows, pa.string()))


def _json_table(data: bytes) -> pa.Table:
    try:
        values = loads(data.decode("utf-8-sig"))
    except Exception as error:
        raise InputError(
            f"is not JSON ({error}); expected an array, or an object a line"
        ) from error
    records = [value if isinstance(value, dict) else {"puzzle": value} for value in values]
    if not records:
        raise InputError("is an empty array; expected puzzles, or objects with puzzles")
    lines = "\n".join(json.dumps(record, ensure_ascii=False) for record in records).encode()
    return json_layout(lines).rows(lines).table


def _titled_table(text: str) -> pa.Table:
    """Read grids of several lines, each below a title, as in Project Euler."""
    titles: list[str] = []
    grids: list[list[str]] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if _TITLE.match(f"{line}\n".encode()):
            titles.append(line)
            grids.append([])
        else:
            grids[-1].append(line)
    puzzles = ["".join(lines) for lines in grids]
    return pa.table({"id": pa.array(titles, pa.string()), "puzzle": pa.array(puzzles, pa.string())})
