"""The parsing of records, by workers: text formats, and tables in memory.

Every column of a text format is read as text, because type inference would turn 81 digits into a
float. Rows that break the format (too many fields, not JSON) keep their place and get a fault, so
that reports name the right row.
"""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from batchsolve.errors import counted, first_line
from batchsolve.tables.blocks import BOM, MOST_RECORD_BYTES, Layout, Rows, RowsError

_CSV_LIMIT = threading.Lock()


def lines(layout: Layout, data: bytes) -> Rows:
    """Parse lines of one grid, or of a few fields with blanks between them.

    Comments, which begin with ``#``, and blank lines are dropped. A single column holds whole
    lines.
    """
    found, n = _lines(data), len(layout.schema)
    if n == 1:
        return pa.Table.from_arrays([found], schema=layout.schema), {}
    fields = pc.split_pattern_regex(found, r"\s+")
    actual = np.asarray(pc.list_value_length(fields))
    faults = {}
    if (odd := np.flatnonzero(actual != n)).size:
        values = fields.to_pylist()
        for row in odd.tolist():
            faults[row] = f"{counted(len(values[row]), 'field')} where the first line has {n}"
            values[row] = (values[row] + [""] * n)[:n]
        fields = pa.array(values, pa.list_(pa.string()))
    flat = fields.flatten()
    columns = [flat.take(np.arange(k, len(flat), n)) for k in range(n)]
    return pa.Table.from_arrays(columns, schema=layout.schema), faults


def lines_of_cells(separator: str, gap: str, layout: Layout, data: bytes) -> Rows:
    """Parse lines of one grid, whose cells or rows a separator parts; empty cells are blank.

    Cells are joined with a gap between them, which numbers need.
    """
    parts = pc.split_pattern(_lines(data, around=" \r"), separator)
    cells = pc.ascii_trim(parts.flatten(), ' "\t')
    cells = pc.replace_substring_regex(cells, r"^([0-9]{1,3}|-1)\.0$", r"\1")
    cells = pc.if_else(pc.is_in(cells, pa.array(["", "nan", "NaN"])), ".", cells)
    joined = pc.binary_join(pa.ListArray.from_arrays(parts.offsets, cells), gap)
    return pa.Table.from_arrays([joined], schema=layout.schema), {}


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
        return layout.schema.empty_table(), {}
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
    return _with_ragged(table, ragged, layout.delimiter) if ragged else (table, {})


def _with_ragged(table: pa.Table, ragged: list[tuple[int, int, str]], delimiter: str) -> Rows:
    """Put rows with too few or too many fields back into their places."""
    n_columns = table.num_columns
    faults = {
        place: f"{counted(actual, 'field')} where the header has {n_columns}: {text[:200]!r}"
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
    return pa.concat_tables([table, extra]).combine_chunks().take(order), faults


def first_record(lines: Iterable[str], delimiter: str) -> list[str]:
    """Return the fields of the first record; a field may exceed the 128 KiB limit of `csv`."""
    with _CSV_LIMIT:  # the limit is global, and other code may rely on its value
        before = csv.field_size_limit(MOST_RECORD_BYTES)
        try:
            return next(csv.reader(lines, delimiter=delimiter), [])
        finally:
            csv.field_size_limit(before)


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
    return table, {}
