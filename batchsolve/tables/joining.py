"""Joining columns of text to lines of CSV.

pyarrow writes CSV as fast only if no value of a table needs quotation marks or all values are
quoted; one message with a comma would make a block seven times as slow.

The kernels take bytes and offsets of arrays that this package or Arrow has made.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from batchsolve.kernels import kernel
from batchsolve.problems.notation import buffers

_QUOTE, _LINE_FEED, _RETURN = np.uint8(34), np.uint8(10), np.uint8(13)


def join_lines(columns: Sequence[pa.StringArray], delimiter: str) -> pa.Buffer:
    r"""Write rows as lines that end in a line feed; quote values only where needed.

    Parameters
    ----------
    columns : sequence of pyarrow.StringArray, each of length n
        A null is written as an empty value.
    delimiter : str
        One ASCII character.

    Returns
    -------
    pyarrow.Buffer

    Examples
    --------
    >>> join_lines([pa.array(["a", "b"]), pa.array(['1,2"3', None])], ",").to_pybytes()
    b'a,"1,2""3"\nb,\n'
    """
    texts = [buffers(column) for column in columns]
    sizes = np.zeros(len(columns[0]), np.int64)
    quoted = [_add_sizes(data, bounds, np.uint8(ord(delimiter)), sizes) for data, bounds in texts]
    ends = np.cumsum(sizes)
    places = ends - sizes
    lines = np.empty(ends[-1] if ends.size else 0, np.uint8)
    for k, (data, bounds) in enumerate(texts):
        after = _LINE_FEED if k + 1 == len(texts) else np.uint8(ord(delimiter))
        _place(data, bounds, quoted[k], after, places, lines)
    return pa.py_buffer(lines)


@kernel
def _add_sizes(data, bounds, delimiter, sizes):
    """Add the encoded size of each value to `sizes`; return a mask of values to quote."""
    quoted = np.zeros(sizes.size, np.bool_)
    plain = not _has_special(data[bounds[0] : bounds[-1]], delimiter)
    for k in range(sizes.size):
        size = bounds[k + 1] - bounds[k]
        if not plain:
            value = data[bounds[k] : bounds[k + 1]]
            quoted[k] = _has_special(value, delimiter)
            if quoted[k]:
                size += 2
                for c in value:
                    size += c == _QUOTE
        sizes[k] += size + 1
    return quoted


@kernel
def _has_special(data, delimiter):
    """Return True if any byte must be quoted."""
    special = np.uint8(0)
    for c in data:  # to the end, so that the compiler uses vectors
        special |= np.uint8((c == delimiter) | (c == _QUOTE) | (c == _LINE_FEED) | (c == _RETURN))
    return special != 0


@kernel
def _place(data, bounds, quoted, after, places, lines):
    """Write each value, and one byte after it, at its place; advance the places."""
    for k in range(places.size):
        at = np.uintp(places[k])
        begin, end = np.uintp(bounds[k]), np.uintp(bounds[k + 1])
        if quoted[k]:
            lines[at] = _QUOTE
            at += np.uintp(1)
            for x in range(begin, end):
                lines[at] = data[x]
                at += np.uintp(1)
                if data[x] == _QUOTE:
                    lines[at] = _QUOTE
                    at += np.uintp(1)
            lines[at] = _QUOTE
            at += np.uintp(1)
        else:
            for x in range(end - begin):
                lines[at + x] = data[begin + x]
            at += end - begin
        lines[at] = after
        places[k] = at + np.uintp(1)
