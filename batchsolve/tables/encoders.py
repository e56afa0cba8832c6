"""Encoders, with which workers turn tables into bytes, and checksums of the bytes of parts.

In the text formats, the concatenated bytes of the blocks are the same however the rows are cut. If
they are compressed, each block is a stream of its own (a member in gzip, a frame in Zstandard); all
three formats allow several streams in one file. The bytes of Parquet blocks cannot be concatenated,
so they are streams of Arrow. The checksum of a file can be combined from those of its parts.
"""

from __future__ import annotations

import bz2
import io
import json
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import zip_longest
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from batchsolve.errors import InputError
from batchsolve.tables.blocks import DIGITS, JSON_TEXT, arrow_stream
from batchsolve.tables.places import open_to_read, split_suffixes
from batchsolve.tables.texts import is_list, one_chunk, storage_of

JSON_LINES = (".jsonl", ".ndjson")
_ROWS_AT_ONCE = 1 << 20  # for pyarrow, which is slower with fewer
_NUMBER = r"^(0|[1-9][0-9]*)$"  # what a column marked as `DIGITS` holds, if the mark is ours
READ_BYTES = 1 << 20
_POLYNOMIAL = 0xEDB88320  # of CRC-32, with the highest power in the lowest bit
_ONE = 1 << 31
_ESCAPED = r'[\x00-\x1f"\\]'  # characters that JSON escapes


GZIP_LEVEL = 4  # three times as fast as 6, with 5 % more bytes
GZIP_FORMAT = 31  # zlib's wbits for the widest window and a gzip header without name and time

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": partial(zlib.compress, level=GZIP_LEVEL, wbits=GZIP_FORMAT),
    ".bz2": bz2.compress,
    ".zst": partial(pa.compress, codec="zstd", asbytes=True),
}

Encode = Callable[[pa.Table], pa.Buffer | bytes]
"""Returns the bytes of the rows of a table; small, and can be sent to workers."""


def encoder_for(path: str) -> Encode:
    """Return the encoder of an output, by its name; ``-`` is CSV."""
    suffix, compression = split_suffixes(path)
    if suffix == ".parquet":  # `outputs` makes row groups of them
        return partial(arrow_stream, compression="lz4")
    if suffix == ".npy":
        return _digits
    encode = _json_lines if suffix in JSON_LINES else partial(_lines, _delimiter(suffix))
    return partial(_packed, compression, encode) if compression else encode


def _packed(compression: str, encode: Encode, table: pa.Table) -> bytes:
    """Compress the bytes of rows; no rows are no bytes."""
    data = encode(table)
    return PACKERS[compression](data) if len(data) else b""


def header_for(path: str, schema: pa.Schema) -> bytes:
    """Return the bytes of an output before the first row."""
    suffix, compression = split_suffixes(path)
    if suffix == ".npy":
        return _array_of_no_rows(schema)
    header = b""
    if suffix not in (".parquet", *JSON_LINES):
        names = [pa.array([name], pa.string()) for name in schema.names]
        header = join_lines(names, _delimiter(suffix)).to_pybytes()
    return PACKERS[compression](header) if compression else header


def _delimiter(suffix: str) -> str:
    return "\t" if suffix == ".tsv" else ","


def _lines(delimiter: str, table: pa.Table) -> pa.Buffer:
    """Write CSV or TSV with a line feed at the end of lines; quote values only where needed."""
    return join_lines(list(map(_text, table.columns, table.schema)), delimiter)


def _text(column: pa.ChunkedArray, field: pa.Field) -> pa.StringArray:
    """Return a column as text, empty for nulls; lists and the like as JSON."""
    kind = storage_of(column.type)
    if field.metadata == JSON_TEXT:  # with other values; a text is written as it is
        values = ("" if v is None else v for v in column.to_pylist())
        return pa.array((json.loads(v) if v[:1] == '"' else v for v in values), pa.string())
    if pa.types.is_nested(kind):
        values = ("" if v is None else _dumped(v, ascii_only=True) for v in column.to_pylist())
        return pa.array(values, pa.string())
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return pa.array(("" if v is None else _plain(v) for v in column.to_pylist()), pa.string())
    text = column if kind == pa.string() else column.cast(pa.string())
    if text.null_count:
        text = pc.fill_null(text, "")
    return one_chunk(text)


def _json_lines(table: pa.Table) -> pa.Buffer | bytes:
    """Write JSON objects, one per line, as Python's `json` writes them; see `_dumped`."""
    if not len(table):
        return b""
    parts: list[Any] = []
    for field, column in zip(table.schema, table.columns, strict=True):
        name = json.dumps(field.name, ensure_ascii=False)
        parts += [f"{', ' if parts else '{'}{name}: ", _json(column, field)]
    lines = pc.binary_join_element_wise(*parts, "}\n", "").combine_chunks()
    return bytes_of(lines)


def _json(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """Return a column as JSON texts; Arrow writes simple types, Python writes all others."""
    kind = column.type
    if pa.types.is_null(kind) or pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return pc.fill_null(column.cast(pa.string()), "null")
    if field.metadata == DIGITS and pc.all(pc.match_substring_regex(column, _NUMBER)).as_py():
        return pc.fill_null(column, "null")
    plain = pa.types.is_string(kind) and field.metadata != JSON_TEXT
    if plain and not pc.any(pc.match_substring_regex(column, _ESCAPED)).as_py():
        return pc.fill_null(pc.binary_join_element_wise('"', column, '"', ""), "null")
    values = column.to_pylist()
    if field.metadata == JSON_TEXT:
        values = [None if value is None else json.loads(value) for value in values]
    texts = (_dumped(value, ascii_only=False) for value in values)
    return pa.chunked_array([pa.array(texts, pa.string())])


def _dumped(value: object, ascii_only: bool) -> str:
    """Encode a value as JSON, with null for numbers that JSON does not have."""
    dumps = partial(json.dumps, ensure_ascii=ascii_only, default=_plain, allow_nan=False)
    try:
        return dumps(value)
    except ValueError:  # NaN or an infinity
        return dumps(_finite(value))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value


def _plain(value: object) -> str:
    """Return a value that JSON cannot encode as text; bytes that are not UTF-8 become escapes."""
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


def _array_of_no_rows(schema: pa.Schema) -> bytes:
    """Return the header of a NumPy file, which says 0 rows until their number is known.

    Raises
    ------
    InputError
        If the schema has no solutions as digits.
    """
    kind = schema.field("solution").type if "solution" in schema.names else pa.null()
    if not pa.types.is_fixed_size_list(kind):
        raise InputError(".npy holds nothing but solved grids; name a table instead")
    return array_header(0, kind.list_size)


def _digits(table: pa.Table) -> bytes:
    """Write the column ``solution`` as the digits of each row; 0 for null."""
    column = one_chunk(table["solution"])
    n_cells = column.type.list_size
    digits = np.zeros((len(column), n_cells), np.uint8)
    digits[np.asarray(column.is_valid())] = np.asarray(column.flatten()).reshape(-1, n_cells)
    return digits.tobytes()


def array_header(n_rows: int, n_cells: int) -> bytes:
    """Return the header of a NumPy file, whose length is always the same.

    Examples
    --------
    >>> len(array_header(0, 81)), len(array_header(10**12, 625))
    (128, 128)
    """
    header = io.BytesIO()
    about = {"descr": "|u1", "fortran_order": False, "shape": (n_rows, n_cells)}
    np.lib.format.write_array_header_1_0(header, about)
    return header.getvalue()


def join_lines(columns: Sequence[pa.StringArray], delimiter: str) -> pa.Buffer:
    r"""Write rows as lines that end in a line feed; quote values only where needed.

    pyarrow's writer can quote no value, or all.

    Parameters
    ----------
    columns : sequence of pyarrow.StringArray, each of length n
    delimiter : str
        One ASCII character.

    Examples
    --------
    >>> join_lines([pa.array(["a", "b"]), pa.array(['1,2"3', ""])], ",").to_pybytes()
    b'a,"1,2""3"\nb,\n'
    """
    lines = pa.BufferOutputStream()
    table = pa.table(columns, list(map(str, range(len(columns)))))
    how = {"delimiter": delimiter, "quoting_style": "none", "batch_size": _ROWS_AT_ONCE}
    try:
        pacsv.write_csv(table, lines, pacsv.WriteOptions(include_header=False, **how))
        return lines.getvalue()
    except pa.ArrowInvalid:  # a value needs quotation marks
        *most, last = (_quoted(column, delimiter) for column in columns)
        ended = pc.binary_join_element_wise(last, "\n", "")
        return bytes_of(pc.binary_join_element_wise(*most, ended, delimiter))


def _quoted(column: pa.StringArray, delimiter: str) -> pa.StringArray:
    """Return texts with quotation marks around those that need them."""
    data = bytes_of(column).to_pybytes()
    if not any(special in data for special in (delimiter.encode(), b'"', b"\n", b"\r")):
        return column
    is_odd = pc.match_substring_regex(column, f'[{delimiter}"\n\r]')
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(column, '"', '""'), '"', "")
    return pc.if_else(is_odd, quoted, column)


def bytes_of(column: pa.Array) -> pa.Buffer:
    """Return the bytes of texts, one after another."""
    _, offsets, data = column.buffers()
    if data is None:
        return pa.py_buffer(b"")
    is_large = pa.types.is_large_string(column.type)
    bounds = np.frombuffer(offsets, np.int64 if is_large else np.int32)
    begin, end = bounds[column.offset], bounds[column.offset + len(column)]
    return data.slice(begin, end - begin)


# ---- lengths and checksums ------------------------------------------------------------------


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
