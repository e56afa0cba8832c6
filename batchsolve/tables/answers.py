"""Output tables: the input columns, then new ones; those of solved puzzles; and their bytes.

Workers turn tables into bytes. In the text formats, the concatenated bytes of the blocks are the
same however the rows are cut. If they are compressed, each block is a whole stream (a member in
gzip, a frame in Zstandard); all three formats allow several streams in one file. The bytes of
Parquet blocks cannot be concatenated, so they are streams of Arrow. The checksum of a file can be
combined from those of its parts.
"""

from __future__ import annotations

import io
import json
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib import import_module
from itertools import chain, count, zip_longest
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from batchsolve.core.arrays import Bools, Bytes, Ints
from batchsolve.errors import InputError, quoted
from batchsolve.problems.grid_symmetries import NO_SYMMETRY, check_shape
from batchsolve.problems.notation import MINUS_ONE, Notation, buffers, numbers
from batchsolve.search.rows import STATUS_NAMES, Answers, Status, rows_of_each
from batchsolve.settings import FileSettings
from batchsolve.tables.columns import (
    DIGITS,
    JSON_TEXT,
    arrow_stream,
    is_list,
    is_number,
    is_text,
    nested,
    storage_of,
    unquoted,
)
from batchsolve.tables.places import open_to_read, split_suffixes
from batchsolve.tables.reader import Batch, Grids, Reader, Shape, forms_of_shape


class RowSums(NamedTuple):
    """The sums of some consecutive rows.

    Attributes
    ----------
    counts : dict of str to int
        The numbers to add to the sums of a run, by the names of its fields.
    first_invalid : (int, str) or None
        The first invalid row, counted from 0, and its fault.
    techniques : dict of str to int, optional
        The rows whose hardest technique each is.
    """

    counts: dict[str, int]
    first_invalid: tuple[int, str] | None = None
    techniques: dict[str, int] | None = None


def grid_type(kind: pa.DataType, n_digits: int) -> pa.DataType:
    """Return the type of a column of grids beside puzzles: their own, if it can hold grids; text.

    Lists of numbers or texts can, of all cells or of rows.
    """
    sizes, leaf = nested(kind)
    shape = {1: (n_digits**2,), 2: (n_digits, n_digits)}.get(len(sizes), ())
    fits = all(size in (None, length) for size, length in zip(sizes, shape, strict=False))
    return kind if shape and fits and (is_number(leaf) or is_text(leaf)) else pa.string()


def grid_column(kind: pa.DataType, notation: Notation, grids: Bytes, where: Bools) -> pa.Array:
    """Return a column of a `grid_type` with the grids where `where` is true, else null."""
    if is_text(kind):
        return notation.decode(grids, where)
    storage, names = storage_of(kind), notation.names
    sizes, leaf = nested(kind)
    symbols = pa.array([notation.blank, *names])
    if not is_text(leaf):
        usual = MINUS_ONE if "0" in names else "0"
        blank = {".": None, MINUS_ONE: MINUS_ONE}.get(notation.blank, usual)
        symbols = pa.array([blank, *names]).cast(leaf)
    digits = np.zeros((len(where), grids.shape[1]), np.uint8)
    digits[where] = grids
    column, n_rows = symbols.take(pa.array(digits.reshape(-1))), grids.shape[1]
    if len(sizes) > 1:
        n_rows = notation.n_digits
        column = pa.FixedSizeListArray.from_arrays(column, n_rows)
    column = pa.FixedSizeListArray.from_arrays(column, n_rows, mask=pa.array(~where))
    column = column.cast(storage)
    return column if storage is kind else kind.wrap_array(column)


Found = tuple[pa.Table, Any, dict[str, pa.Array]]
"""The rows of a block of the input, as they are written; their sums; and columns by name, among
them the new ones."""


class RowTable:
    """An output table: the input columns of rows, then the columns of their results.

    The names of its columns are those of `with_new_columns`. Workers receive it.

    Parameters
    ----------
    old : pyarrow.Schema
        The input columns, as they are written.
    new : pyarrow.Schema
        The new columns.
    find : callable
        Takes a batch and the answers to it; returns what is `Found`.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns of the output.
    """

    def __init__(self, old: pa.Schema, new: pa.Schema, find: Callable[[Any, Any], Found]) -> None:
        self._find, self._new = find, new.names
        self.schema = with_new_columns(old, list(new))

    def rows(self, batch: Any, answers: Any) -> OutputRows:
        """Return the output rows of a batch, and their sums."""
        inputs, sums, columns = self._find(batch, answers)
        new = [columns[name] for name in self._new]
        table = pa.Table.from_arrays([*inputs.columns, *new], schema=self.schema)
        return OutputRows(table, len(batch), sums)


class RowValues:
    """The answers to the rows of a batch, and the messages about them.

    Parameters
    ----------
    batch : Batch or Instances
    answers : Answers
    limit : int
        The limit of solutions.
    """

    def __init__(self, batch: Any, answers: Answers, limit: int) -> None:
        self.batch, self.answers, self.limit = batch, answers, limit
        self.status, self.messages = batch.statuses(answers, limit)

    @property
    def sums(self) -> RowSums:
        """The sums of the rows."""
        counts = {"rows": len(self.status), "nodes": int(self.answers.nodes.sum()), "disagree": 0}
        counts |= rows_of_each(self.status)
        invalid = np.flatnonzero(self.status == Status.INVALID)[:1].tolist()
        first = (invalid[0], str(self.messages[invalid[0]])) if invalid else None
        return RowSums(counts, first)

    @cached_property
    def solved(self) -> list[Solutions]:
        """The solutions of the grids of the batch, shape by shape."""
        return [solved_among(grids, self.answers) for grids in self.batch.grids]

    def agreement(self) -> tuple[pa.Array, int]:
        """Check given solutions against the unique solution, or else the rules and the clues.

        Returns
        -------
        agrees : pyarrow.BooleanArray
            True where the given solution is right; null where a valid row has none.
        n_wrong : int
            The number of rows whose given solution is wrong.
        """
        batch, status = self.batch, self.status
        agrees, has_given = np.zeros((2, len(status)), np.bool_)
        for grids, (digits, places, _) in zip(batch.grids, self.solved, strict=True):
            solutions = grids.given if len(places) == len(grids.rows) else grids.given[places]
            wrong = np.flatnonzero(digits != solutions) // solutions.shape[1]
            agrees[np.delete(grids.rows[places], wrong)] = True
            has_given[grids.rows] = grids.has_given
        others = np.flatnonzero(status != Status.UNIQUE)
        if others.size:
            agrees[others] = batch.check(others)
            agrees &= status != Status.UNSOLVABLE
        is_known = has_given & (status != Status.INVALID)
        return pa.array(agrees, mask=~is_known), int(np.count_nonzero(is_known & ~agrees))

    def columns(self) -> dict[str, pa.Array]:
        """Return the columns that solved rows have, and those of `STATS`."""
        answers = self.answers
        counts = np.minimum(answers.counts, self.limit)
        return {
            "status": pa.array(STATUS_NAMES.tolist()).take(pa.array(self.status)),
            "n_solutions": pa.array(counts, mask=self.status == Status.INVALID),
            "message": sparse_text(self.messages, len(self.status)),
            "nodes": pa.array(answers.nodes),
            "seconds": pa.array(np.round(answers.seconds, 6)),
        }


STATS = {"nodes": pa.int64(), "seconds": pa.float64()}
"""The columns of ``stats``."""


def answer_table(
    reader: Reader, limit: int, files: FileSettings, as_digits: bool = False
) -> RowTable:
    """Return the output table of solved puzzles.

    Parameters
    ----------
    reader : Reader
    limit : int
        The limit of solutions.
    files : FileSettings
        ``stats`` and ``canonical``.
    as_digits : bool
        Write solutions as lists of digits, whatever the form of the puzzles.

    Raises
    ------
    ProblemError
        If canonical forms are wanted, and grids of this shape have none.
    """
    if files.canonical:
        check_shape(reader.main.problem)
    kind = reader.schema.field(reader.column).type
    grids = grid_type(kind, reader.main.notation.n_digits)
    if as_digits:
        kind, grids = None, pa.list_(pa.uint8(), reader.main.problem.n_cells)
    new = {"solution": grids, "status": pa.string(), "n_solutions": pa.int64()}
    new |= {"agrees": pa.bool_()} if reader.solution_column is not None else {}
    new |= {"message": pa.string()}
    new |= {"canonical": grids} if files.canonical else {}
    new |= STATS if files.stats else {}
    return RowTable(reader.schema, pa.schema(new), partial(_solved, limit, kind, files.canonical))


def _solved(
    limit: int, kind: pa.DataType | None, canonical: bool, batch: Batch, answers: Answers
) -> Found:
    """Return the new columns of solved puzzles.

    Parameters
    ----------
    limit : int
    kind : pyarrow.DataType or None
        The type of the column of puzzles; None for solutions as lists of digits.
    canonical : bool
        True if canonical forms are wanted; messages say where none is found.
    batch : Batch
    answers : Answers
    """
    values, columns = RowValues(batch, answers, limit), {}
    pairs = zip(batch.grids, values.solved, strict=True)
    solutions = [_column(kind, grids.shape, digits, where) for grids, (digits, _, where) in pairs]
    columns["solution"] = _in_order(solutions, batch)
    sums = values.sums
    if batch.has_given:
        columns["agrees"], sums.counts["disagree"] = values.agreement()
    if canonical:
        # a search that failed has not checked the clues
        valid = (values.status != Status.INVALID) & (batch.first_clashes() < 0)
        forms = [_forms(kind, grids, valid[grids.rows], values.messages) for grids in batch.grids]
        columns["canonical"] = _in_order(forms, batch)
    return batch.table, sums, columns | values.columns()


def _column(kind: pa.DataType | None, shape: Shape, grids: Bytes, where: Bools) -> pa.Array:
    """Return a column of grids of a shape; see `_solved`."""
    n = shape.problem.n_digits
    if kind is None:
        digits = numbers(n, first=0 if shape.notation.begins_at_zero else 1)
        return grid_column(pa.list_(pa.uint8(), shape.problem.n_cells), digits, grids, where)
    return grid_column(grid_type(kind, n), shape.notation, grids, where)


def _forms(
    kind: pa.DataType | None, grids: Grids, is_valid: Bools, messages: dict[int, str | None]
) -> pa.Array:
    """Return the canonical forms of valid puzzles; add a message if one was not found."""
    has_form, are_plain = np.zeros(len(is_valid), np.bool_), grids.are_plain
    places = np.flatnonzero(is_valid & are_plain)
    places, forms, why = forms_of_shape(grids.shape, grids.puzzles, places)
    has_form[places] = True
    for place in np.flatnonzero(is_valid & ~has_form).tolist():
        row = int(grids.rows[place])
        messages[row] = messages.get(row) or (why if are_plain[place] else NO_SYMMETRY)
    return _column(kind, grids.shape, forms, has_form)


Solutions = tuple[Bytes, Ints, Bools]
"""The digits of the solutions of the grids of one shape; the places of the solved grids among all
of the shape; and True for each grid with a solution."""


def solved_among(grids: Grids, answers: Answers) -> Solutions:
    """Return the solutions of grids among the answers to the rows of a block."""
    has_all = len(grids.rows) == len(answers)
    digits, rows = answers.grids(grids.shape.problem, None if has_all else grids.holds)
    places = grids.places(rows)
    has_solution = np.zeros(len(grids.rows), np.bool_)
    has_solution[places] = True
    return digits, places, has_solution


def _in_order(columns: list[pa.Array], batch: Batch) -> pa.Array:
    """Join columns of the grids of each shape, in the order of the rows of the block."""
    if len(columns) == 1:
        return columns[0]
    places = np.empty(len(batch), np.int64)
    places[np.concatenate([grids.rows for grids in batch.grids])] = np.arange(len(batch))
    return pa.concat_arrays(columns).take(pa.array(places))


def sparse_text(values: dict[int, str | None], n: int) -> pa.Array:
    """Return a column of n texts, null where `values` has none."""
    places = np.full(n, -1)
    places[list(values)] = np.arange(len(values))
    return pa.array(values.values(), pa.string()).take(pa.array(places, mask=places < 0))


def with_new_columns(schema: pa.Schema, new: Sequence[pa.Field]) -> pa.Schema:
    """Return the schema of an output: the input columns, then new ones.

    An input column with the name of a new column is renamed to ``given_…``, or to ``given_…_2``
    (``_3`` and so on) if that name is taken.

    Examples
    --------
    >>> schema = pa.schema([("nodes", pa.string()), ("id", pa.string())])
    >>> with_new_columns(schema, [pa.field("nodes", pa.int64())]).names
    ['given_nodes', 'id', 'nodes']
    """
    new_names, fields = {field.name for field in new}, list(schema)
    taken = new_names.union(schema.names)
    for k, name in enumerate(schema.names):
        if name in new_names:
            choices = chain([f"given_{name}"], (f"given_{name}_{n}" for n in count(2)))
            free = next(choice for choice in choices if choice not in taken)
            taken.add(free)
            fields[k] = fields[k].with_name(free)
    return pa.schema([*fields, *new])


# ---- bytes of rows --------------------------------------------------------------------------

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
    ".bz2": lambda data: import_module("bz2").compress(data),  # which some Pythons lack
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
    """Compress the bytes of rows; without rows, return none."""
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
    types, kind = pa.types, storage_of(column.type)
    if types.is_dictionary(kind):
        kind = kind.value_type
    if field.metadata == JSON_TEXT:  # with other values; a text is written as it is
        return unquoted(column).fill_null("")
    if types.is_nested(kind) or types.is_interval(kind):
        values = ("" if v is None else _dumped(v, ascii_only=True) for v in _values(column, field))
        return pa.array(values, pa.string())
    if kind in (pa.binary(), pa.large_binary()) or types.is_fixed_size_binary(kind):
        return pa.array(("" if v is None else _plain(v) for v in column.to_pylist()), pa.string())
    text = column.cast(pa.string())
    if types.is_temporal(kind) and pc.any(pc.match_substring(text, "out of range")).as_py():
        raise _not_held(field)
    if text.null_count:
        text = pc.fill_null(text, "")
    return text.combine_chunks()


def _json_lines(table: pa.Table) -> pa.Buffer | bytes:
    """Write JSON objects, one per line, as Python's `json` writes them; see `_dumped`."""
    if not len(table):
        return b""
    parts: list[Any] = []
    for field, column in zip(table.schema, table.columns, strict=True):
        name = json.dumps(field.name, ensure_ascii=False)
        parts += [f"{', ' if parts else '{'}{name}: ", _json(column, field)]
    return bytes_of(pc.binary_join_element_wise(*parts, "}\n", "").combine_chunks())


def _json(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """Return a column as JSON texts; Arrow writes simple types, Python writes all others."""
    if pa.types.is_date(column.type) or column.type == pa.time64("ns"):
        # Python has no years after 9999 and no nanoseconds; zeros are left out as it does
        column = pc.replace_substring_regex(column.cast(pa.string()), r"(\.000000)?000$", "")
    kind = column.type
    if pa.types.is_null(kind) or pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return pc.fill_null(column.cast(pa.string()), "null")
    if field.metadata == DIGITS and pc.all(pc.match_substring_regex(column, _NUMBER)).as_py():
        return pc.fill_null(column, "null")
    plain = pa.types.is_string(kind) and field.metadata != JSON_TEXT
    if plain and not pc.any(pc.match_substring_regex(column, _ESCAPED)).as_py():
        return pc.fill_null(pc.binary_join_element_wise('"', column, '"', ""), "null")
    values = _values(column, field)
    if field.metadata == JSON_TEXT:
        values = [None if value is None else json.loads(value) for value in values]
    texts = (_dumped(value, ascii_only=False) for value in values)
    return pa.chunked_array([pa.array(texts, pa.string())])


def _values(column: pa.ChunkedArray, field: pa.Field) -> list[Any]:
    """Return a column as values of Python; raise `InputError` for some that Python lacks."""
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError) as error:
        raise _not_held(field) from error


def _not_held(field: pa.Field) -> InputError:
    return InputError(
        f"column {quoted(field.name)} has a value that this format cannot hold, such as a time "
        f"after the year 9999, or with nanoseconds; write .parquet, or leave the column out"
    )


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
        return {name: _finite(inner) for name, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value


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
    column = table["solution"].combine_chunks()
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

    A blank line is not a row, so an empty value without others beside it is quoted:

    >>> join_lines([pa.array(["a", ""])], ",").to_pybytes()
    b'a\n""\n'
    """
    has_blank_line = len(columns) == 1 and pc.any(pc.equal(columns[0], "")).as_py()
    if not has_blank_line:
        lines = pa.BufferOutputStream()
        table = pa.table(columns, list(map(str, range(len(columns)))))
        options = {"delimiter": delimiter, "quoting_style": "none", "batch_size": _ROWS_AT_ONCE}
        with suppress(pa.ArrowInvalid):  # a value needs quotation marks
            pacsv.write_csv(table, lines, pacsv.WriteOptions(include_header=False, **options))
            return lines.getvalue()
    *texts, last = (_quoted(column, delimiter) for column in columns)
    if not texts:
        last = pc.if_else(pc.equal(last, ""), '""', last)
    ended = pc.binary_join_element_wise(last, "\n", "")
    return bytes_of(pc.binary_join_element_wise(*texts, ended, delimiter))


def _quoted(column: pa.StringArray, delimiter: str) -> pa.StringArray:
    """Return texts with quotation marks around those that need them."""
    data = bytes_of(column).to_pybytes()
    if not any(special in data for special in (delimiter.encode(), b'"', b"\n", b"\r")):
        return column
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(column, '"', '""'), '"', "")
    return pc.if_else(pc.match_substring_regex(column, f'[{delimiter}"\n\r]'), quoted, column)


def bytes_of(column: pa.Array) -> pa.Buffer:
    """Return the bytes of texts, one after another."""
    bounds, data = buffers(column)
    return pa.py_buffer(data[bounds[0] : bounds[-1]])


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


NOTHING = Written()
Checksums = tuple[Written, ...]


@dataclass(frozen=True, eq=False)
class OutputRows:
    """The output of a block, as a worker returns it.

    Attributes
    ----------
    data : object
        The rows as a table, or the bytes that are still to be written; None if the worker has
        written them. Rows that are compared have their `Keys` in place of a table.
    n_rows : int
        The rows of the block that they were made of.
    sums : object
        The addition of the rows to the sums of the run.
    written : Written
        The bytes of a file of the block alone.
    read : Checksums
        The checksums of the records that they were made of.
    """

    data: Any
    n_rows: int = 0
    sums: Any = None
    written: Written = NOTHING
    read: Checksums = ()

    def encoded(self, data: pa.Buffer | bytes) -> OutputRows:
        """Return the same rows as bytes, with their checksum."""
        return replace(self, data=data, written=Written.of(data))


def written_to(file: IO[bytes], max_bytes: int | None = None) -> Written:
    """Return the length and checksum of a file from its position on, up to `max_bytes`."""
    n_bytes = checksum = 0
    remaining = sys.maxsize if max_bytes is None else max_bytes
    while remaining and (data := file.read(min(READ_BYTES, remaining))):
        checksum = zlib.crc32(data, checksum)
        n_bytes += len(data)
        remaining -= len(data)
    return Written(n_bytes, checksum)


def sums_of(content: bytes | pa.Table) -> Checksums:
    """Return the sums of records: of their bytes, or of the columns of a table.

    Examples
    --------
    >>> table = pa.table({"puzzle": ["1...", None, "..2."], "clues": [[1], [], [2, 3]]})
    >>> first, rest = sums_of(table[:1]), sums_of(table[1:])
    >>> joined_sums(first, rest) == sums_of(table)
    True
    """
    if isinstance(content, bytes):
        return (Written.of(content),)
    chunks = (column.combine_chunks() for column in content.columns)
    return tuple(Written.of(data) for chunk in chunks for data in _bytes_of(chunk))


def joined_sums(first: Checksums, second: Checksums) -> Checksums:
    """Return the sums of records and of those that follow."""
    return tuple(a.plus(b) for a, b in zip_longest(first, second, fillvalue=NOTHING))


def _bytes_of(column: pa.Array) -> Iterator[pa.Buffer | bytes]:
    """Yield the contents of a column as bytes; appending to the column appends to the bytes."""
    types = pa.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    yield np.asarray(column.is_valid()).tobytes()
    column, kind = column.drop_null(), column.type
    if types.is_struct(kind):
        for field in column.flatten():
            yield from _bytes_of(field)
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


def _product(a: int, b: int) -> int:
    """Multiply two remainders."""
    product = 0
    while a:
        if a & _ONE:
            product ^= b
        a = (a << 1) & 0xFFFFFFFF
        b = (b >> 1) ^ (_POLYNOMIAL if b & 1 else 0)
    return product
