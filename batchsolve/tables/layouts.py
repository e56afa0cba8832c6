"""Layouts of the records of files, and the parsing of blocks of them.

Every column of a text format is read as text, because type inference would turn 81 digits into a
float. Rows that break the format (too many fields, not JSON) keep their place and get a fault, so
that reports name the right row.
"""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from batchsolve.errors import InputError, first_line, quoted
from batchsolve.json_records import loads

JSON_TEXT = {b"json": b"1"}  # marks columns whose values are JSON
DIGITS = {b"digits": b"1"}  # marks columns of integers of any size, which Arrow has only as text
BOM = b"\xef\xbb\xbf"
MOST_RECORD_BYTES = 64 << 20
_CSV_LIMIT = threading.Lock()


@dataclass(frozen=True, eq=False)
class Rows:
    """Some consecutive rows of a table.

    Attributes
    ----------
    table : pyarrow.Table
    faults : dict of int to str
        The faults of rows, counted from 0, that break the format.
    records : bytes or pyarrow.Table
        The records that were parsed, as `Block.rows` gives them.
    """

    table: pa.Table
    faults: dict[int, str] = field(default_factory=dict)
    records: bytes | pa.Table = b""


class RowsError(InputError):
    """An error in rows of a block that makes the whole block unusable.

    Parameters
    ----------
    what : str
        The fault of the rows.
    first, last : int
        Their numbers, counted from 1 in the block.
    name : str
        The name of the file in messages.
    """

    def __init__(self, what: str, first: int, last: int, name: str = "") -> None:
        super().__init__(what, first, last, name)  # the arguments for unpickling
        self.what, self.first, self.last, self.name = what, first, last, name

    def __str__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        return f"{name}rows {self.first} to {self.last}: {self.what}"

    def of(self, name: str) -> RowsError:
        """Return the same error with the name of a file."""
        return RowsError(self.what, self.first, self.last, name)

    def after(self, rows: int) -> RowsError:
        """Return the same error for a block that follows `rows` rows of its file."""
        return RowsError(self.what, rows + self.first, rows + self.last, self.name)


@dataclass(frozen=True)
class Layout:
    """The layout of the records of a file; it can be sent to a worker with every block.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns.
    parse : callable
        The function that parses whole records: `lines`, `delimited`, `json_lines`,
        `checked_table`.
    delimiter : str
        That of a CSV table, in which line ends can be quoted; else empty.
    """

    schema: pa.Schema
    parse: Callable[[Layout, Any], Rows]
    delimiter: str = ""

    def rows(self, records: bytes | pa.Table) -> Rows:
        """Parse records."""
        return self.parse(self, records)


def text_layout(
    names: Iterable[str], parse: Callable[[Layout, bytes], Rows], delimiter: str = ""
) -> Layout:
    """Return the layout of columns of text."""
    return Layout(pa.schema([(name, pa.string()) for name in names]), parse, delimiter)


def lines(layout: Layout, data: bytes) -> Rows:
    """Parse lines of one grid, or of a few fields with blanks between them.

    Comments, which begin with ``#``, and blank lines are dropped. A single column holds whole
    lines.
    """
    found, n = _lines(data), len(layout.schema)
    if n == 1:
        return Rows(pa.Table.from_arrays([found], schema=layout.schema))
    fields = pc.split_pattern_regex(found, r"\s+")
    actual = np.asarray(pc.list_value_length(fields))
    faults = {}
    if (odd := np.flatnonzero(actual != n)).size:
        values = fields.to_pylist()
        for row in odd.tolist():
            faults[row] = f"{_fields(len(values[row]))} where the first line has {n}"
            values[row] = (values[row] + [""] * n)[:n]
        fields = pa.array(values, pa.list_(pa.string()))
    flat = fields.flatten()
    columns = [flat.take(np.arange(k, len(flat), n)) for k in range(n)]
    return Rows(pa.Table.from_arrays(columns, schema=layout.schema), faults)


def lines_of_cells(separator: str, gap: str, layout: Layout, data: bytes) -> Rows:
    """Parse lines of one grid, whose cells or rows a separator parts; empty cells are blank.

    Cells are joined with a gap between them, which numbers need.
    """
    parts = pc.split_pattern(_lines(data, around=" \r"), separator)
    cells = pc.ascii_trim(parts.flatten(), ' "\t')
    cells = pc.if_else(pc.equal(cells, ""), ".", cells)
    joined = pc.binary_join(pa.ListArray.from_arrays(parts.offsets, cells), gap)
    return Rows(pa.Table.from_arrays([joined], schema=layout.schema))


def _lines(data: bytes, around: str = "") -> pa.Array:
    """Return the lines of a text, without comments and blank lines.

    Characters around them are trimmed; by default, white space.
    """
    check_text(data)
    bounds = pa.py_buffer(np.array([0, len(data)], np.int32))
    whole = pa.StringArray.from_buffers(1, bounds, pa.py_buffer(data))
    found = pc.split_pattern(whole, "\n").values
    if around:
        found = pc.utf8_trim(found, around)
    else:
        found = (pc.ascii_trim_whitespace if data.isascii() else pc.utf8_trim_whitespace)(found)
    if b"#" in data:
        found = pc.replace_substring_regex(found, pattern=r"(^|\s+)#.*", replacement="")
    return found.filter(pc.greater(pc.binary_length(found), 0))


def check_text(data: bytes) -> None:
    """Raise `UnicodeDecodeError` if bytes are not UTF-8; pyarrow would not say which bytes."""
    if not data.isascii():
        data.decode()


def delimited(layout: Layout, data: bytes) -> Rows:
    """Parse records of CSV, TSV and similar formats; skip blank lines."""
    ragged: list[tuple[int, int, str]] = []

    def keep(row: Any) -> str:
        ragged.append((row.number - 1, row.actual_columns, row.text))
        return "skip"

    check_text(data)
    if not data or (data.isspace() and not data.strip(b"\r\n")):
        return Rows(layout.schema.empty_table())
    if data.startswith(BOM):  # not the mark of the file, but a character at a block's beginning
        data = b"\n" + data
    names = layout.schema.names
    table = pacsv.read_csv(
        pa.py_buffer(data),
        pacsv.ReadOptions(use_threads=False, column_names=names, block_size=len(data) + 1),
        pacsv.ParseOptions(
            delimiter=layout.delimiter, newlines_in_values=b'"' in data, invalid_row_handler=keep
        ),
        pacsv.ConvertOptions(column_types=layout.schema),
    ).combine_chunks()
    return _with_ragged(table, ragged, layout.delimiter) if ragged else Rows(table)


def _with_ragged(table: pa.Table, ragged: list[tuple[int, int, str]], delimiter: str) -> Rows:
    """Put rows with too few or too many fields back into their places."""
    n_columns = table.num_columns
    faults = {
        place: f"{_fields(actual)} where the header has {n_columns}: {text[:200]!r}"
        for place, actual, text in ragged
    }
    records = []
    for _, _, text in ragged:
        fields = first_record([text], delimiter)
        records.append((fields + [""] * n_columns)[:n_columns])
    values = zip(*records, strict=True)
    extra = pa.table([pa.array(v, pa.string()) for v in values], table.column_names)
    places = {place: len(table) + k for k, (place, _, _) in enumerate(ragged)}
    regular = iter(range(len(table)))
    n_rows = len(table) + len(extra)
    order = [places[k] if k in places else next(regular) for k in range(n_rows)]
    return Rows(pa.concat_tables([table, extra]).combine_chunks().take(order), faults)


def first_record(lines: Iterable[str], delimiter: str) -> list[str]:
    """Return the fields of the first record; a field may exceed the 128 KiB limit of `csv`."""
    with _CSV_LIMIT:  # the limit is global, and other code may rely on its value
        before = csv.field_size_limit(MOST_RECORD_BYTES)
        try:
            return next(csv.reader(lines, delimiter=delimiter), [])
        finally:
            csv.field_size_limit(before)


def _fields(n: int) -> str:
    return "1 field" if n == 1 else f"{n} fields"


def json_layout(data: bytes) -> Layout:
    """Choose columns and types from the first lines of a file of JSON objects.

    Values that Arrow has no type for become JSON text in marked columns.
    """
    records, why = [], ""
    for line in data.decode(errors="replace").split("\n"):
        try:
            records.append(_json_object(line))
        except ValueError as error:  # `json_lines` reports it
            why = why or (line.strip() and f" ({error})")
    keys = list(dict.fromkeys(key for record in records for key in record))
    if not keys:
        raise InputError(f"no line is a JSON object{why}; expected one on every line")
    return Layout(_json_schema(records, keys), json_lines)


def json_lines(layout: Layout, data: bytes) -> Rows:
    """Parse JSON objects, one per line, all with the same fields.

    Python parses them one by one: the reader of pyarrow 26 takes a third of the time, but it
    crashes on some lines that are not JSON, and reads two objects on a line as two lines.
    """
    records: list[dict[str, Any]] = []
    faults: dict[int, str] = {}
    for line in data.decode().split("\n"):
        if not line.strip():
            continue
        try:
            record = _json_object(line)
        except ValueError as error:
            faults[len(records)] = f"not a JSON object ({error}): {line[:200]!r}"
            record = {}
        records.append(record)
    known = set(layout.schema.names)
    for number, record in enumerate(records, 1):
        if extra := record.keys() - known:
            raise RowsError(
                f"the field {quoted(sorted(extra)[0])} is new; give every object of the file "
                f"the same fields",
                number,
                number,
            )
    columns = [_json_column(records, field) for field in layout.schema]
    return Rows(pa.Table.from_arrays(columns, schema=layout.schema), faults)


def _json_object(line: str) -> dict[str, Any]:
    record = loads(line)
    if not isinstance(record, dict):
        raise ValueError("another kind of value")
    return record


def _json_schema(records: list[dict[str, Any]], keys: list[str]) -> pa.Schema:
    """Choose types; columns that Arrow has no type for become marked columns of JSON text."""
    fields = []
    for key in keys:
        values = [record.get(key) for record in records]
        try:
            kind = pa.array(values).type
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            kind = None
        if kind is None or pa.types.is_struct(kind):
            fields.append(pa.field(key, pa.string(), metadata=JSON_TEXT))
        else:
            fields.append(pa.field(key, pa.string() if pa.types.is_null(kind) else kind))
    return pa.schema(fields)


def _json_column(records: list[dict[str, Any]], field: pa.Field) -> pa.Array:
    values = [record.get(field.name) for record in records]
    if field.metadata == JSON_TEXT:
        texts = (None if v is None else json.dumps(v, ensure_ascii=False) for v in values)
        return pa.array(texts, pa.string())
    try:
        column = pa.array(values)
        if pa.types.is_string(field.type) and not pa.types.is_string(column.type):
            column.cast(pa.null())  # a number is not text
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        raise RowsError(
            f"the field {quoted(field.name)} has values of another type than in the first rows "
            f"({field.type}); give it one type",
            1,
            len(records),
        ) from None


def checked_table(layout: Layout, table: pa.Table) -> Rows:
    """Return a table after a check of its text, which Arrow's reader of Parquet does not make."""
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        raise RowsError(
            f"the file is damaged, or has text that is not UTF-8 ({first_line(error)}); write it "
            f"again",
            1,
            len(table),
        ) from error
    return Rows(table)
