"""Opening of files: detection of the form by the beginning, and reading of files as a whole.

Arrays of NumPy, files of Arrow, JSON arrays, JSON documents and drawings cannot be cut into blocks
before they are parsed. All other files are read block by block: CSV, TSV, Parquet, JSON lines and
plain text; text formats can be compressed.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import select
import sys
import threading
import time
import zipfile
from codecs import utf_8_decode
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from math import isqrt
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from batchsolve.errors import InputError, kind_of, named_errors, prefixed, quoted, repeated
from batchsolve.formats import grid_texts
from batchsolve.formats.drawings import is_grid
from batchsolve.formats.other_programs import is_grid_document, read_grid_document
from batchsolve.formats.whole_files import compression_of, loads
from batchsolve.problems.grids import as_whole, without_minus_one
from batchsolve.problems.notation import BLANKS, default_box, from_zero, numbers, usual_notation
from batchsolve.problems.sudoku import drawing_of
from batchsolve.problems.survey import NO_FORM, forms
from batchsolve.settings.arguments import each_of, is_address, path_of
from batchsolve.tables import columns
from batchsolve.tables.frames import arrow_table, cell_columns
from batchsolve.tables.places import check_announced, facts_of, files_of, name_of, suffix_of
from batchsolve.tables.sources import (
    SKIP_BYTES,
    ParquetSource,
    Source,
    Stream,
    TableSource,
    TextSource,
    open_file,
)

DRAWN_BYTES = 16 << 10  # the beginning of a file that tells if grids are drawn in it
HEAD_BYTES = 4 << 20  # the beginning of a file that decides format, header and JSON fields
DELIMITERS = ",;\t|"
_ARRAY = re.compile(rb"\s*\[(?!\w+\]\s*\n)\s*[\[{\"\d\]]")  # not the title of a section
_DRAWN = "drawn grids"
_GAP = re.compile(r"\n\s*\n")
_ARROW_FILE, _ARROW_STREAM = b"ARROW1", b"\xff\xff\xff\xff"
_LONGEST = 4  # characters of a cell in JSON, such as 16.0
_MOST_SYMBOLS = 9  # larger grids are written as numbers
_FIRST_BYTES = 4096  # that tell the kind of a file
OPENED_AT_ONCE = 8
_NAME = re.compile(r"(?!(?:n/?an?|none|null)$)[^\W\d_](?:[^.,;|]{0,12}[^.,;|\d])?", re.IGNORECASE)


def read_document(
    suffix: str, head: bytes, content: Callable[[], bytes]
) -> tuple[pa.Table, str] | None:
    """Return the table of a file that is read as a whole, and its form; None for other files.

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
        return _numpy_table(content()), "an array"
    if head.startswith((_ARROW_FILE, _ARROW_STREAM)):
        return _arrow_table(content()), ""
    if _ARRAY.match(head) and suffix not in (".jsonl", ".ndjson"):
        return _json_table(content()), "JSON"
    if is_grid_document(head):
        return pa.table(read_grid_document(content())), "JSON"
    first_lines = head[:DRAWN_BYTES].decode(errors="replace")
    first = _GAP.split(first_lines.strip(), 1)[0]
    if drawing_of(first) and not drawing_of(first.split()[0]):  # of grids that overlap
        drawings = _GAP.split(content().removeprefix(columns.BOM).decode().strip())
        grids = ["".join(drawing.split()) for drawing in drawings]
        return pa.table({"puzzle": grids}), _DRAWN
    if form := grid_texts.form_of_drawing(first_lines):
        return _drawn_table(content().removeprefix(columns.BOM).decode(), form), _DRAWN
    return None


def _arrow_table(data: bytes) -> pa.Table:
    """Read a file or a stream of Arrow, as of Feather and of datasets that are saved to disk."""
    with prefixed("cannot be read as Arrow", InputError, Exception):
        open_it = pa.ipc.open_file if data.startswith(_ARROW_FILE) else pa.ipc.open_stream
        return columns.without_views(open_it(pa.BufferReader(data)).read_all())


def _numpy_table(data: bytes) -> pa.Table:
    with prefixed("cannot be read as an array of NumPy", InputError, Exception):
        array = np.load(io.BytesIO(data), allow_pickle=False)
    if array.ndim == 1 and array.dtype.kind in "US":
        return pa.table({"puzzle": pa.array(array.astype(str).tolist(), pa.string())})
    return pa.table({"puzzle": _as_text(array)})


def _as_text(array: npt.NDArray[Any]) -> pa.Array:
    """Write digits as text; 0 and -1 are blanks, and other invalid numbers stay invalid."""
    are_bits, array = array.ndim == 4, as_whole(array)
    n = len(array) if array.ndim == 2 and array.shape[0] == array.shape[1] else 0
    root = isqrt(n)
    are_rows = root * root == n and default_box(root) and array.max(initial=0) <= root
    if default_box(n) and not are_rows:
        array = array[None]  # one grid
    n_rows = len(array) if array.ndim else 0
    n_cells = int(np.prod(array.shape[1:]))
    n = round(n_cells**0.5)
    fits = array.ndim in (2, 3) and array.shape[1:] in ((n_cells,), (n, n)) and n * n == n_cells
    if not fits or array.dtype.kind not in "iu" or not (n == 1 or default_box(n)):
        raise InputError(
            f"an array of {array.dtype} of the shape {array.shape} holds no puzzles; expected "
            f"whole numbers of the shape (n, N²) or (n, N, N), bits (n, N, N, N), or text (n,)"
        )
    is_from_zero = array.min(initial=0) == -1 and array.max(initial=0) < n and (array == 0).any()
    if is_from_zero:
        array = array.astype(np.int64) + 1
    digits = without_minus_one(array, n).reshape(n_rows, n_cells)
    wrong = (digits < 0) | (digits > n)
    if n_rows and wrong.any(axis=1).all():
        cell = int(wrong[0].argmax())
        value = "several bits" if are_bits else digits[0, cell]
        raise InputError(
            f"row 1 has {value} in cell {cell + 1}; digits are 1 to {n}, 0 or -1 is a blank"
        )
    notation = usual_notation(n) if n <= _MOST_SYMBOLS else numbers(n)
    if is_from_zero:  # and is read so
        notation = from_zero(n, as_numbers=n > _MOST_SYMBOLS)
    text = notation.decode(np.where(wrong, 0, digits).astype(np.uint8))
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
        grid = pa.array([grid_texts.in_one_line(data.decode("utf-8-sig", errors="replace"))])
        if forms(grid)[0] != NO_FORM:  # as Python and NumPy print it
            return pa.table({"puzzle": grid})
        raise InputError(
            f"is not JSON ({error}); expected an array, or an object a line"
        ) from error
    values = _one_grid(values) or values
    records = [value if isinstance(value, dict) else {"puzzle": value} for value in values]
    if not any(records):
        raise InputError("is an empty array; expected puzzles, or objects with puzzles")
    return _of_records(records, _common_schemas([_json_schema(records)])[0])


def _one_grid(values: list[Any]) -> list[Any] | None:
    """Return the rows of one grid as the only value; None for other arrays.

    The rows are lists or texts of N cells, or there are N² cells, perhaps objects of one field.
    """
    cells = [next(iter(v.values())) if isinstance(v, dict) and len(v) == 1 else v for v in values]
    n = isqrt(len(cells))
    if n * n == len(cells) and default_box(n) and all(map(_is_cell, cells)):
        return [cells]
    n = len(values)

    def are_rows(grid: list[Any]) -> bool:
        return all(isinstance(row, list | str) and len(row) == n for row in grid)

    if default_box(n) is None or not are_rows(values) or any(map(are_rows, values)):
        return None
    if grid_texts.are_grids("".join("." if c is None else str(c) for c in row) for row in values):
        return None
    return ["".join(values)] if isinstance(values[0], str) else [values]


def _is_cell(value: Any) -> bool:
    return value is None or (isinstance(value, str | int | float) and len(str(value)) <= _LONGEST)


def _drawn_table(text: str, form: grid_texts.DrawnForm) -> pa.Table:
    """Read grids that are drawn over several lines; titles are in the column ``id``."""
    if len(text) > DRAWN_BYTES and any(mark in text for mark in ",;\t"):
        # of a spreadsheet, all rows are needed to tell which of the empty ones are gaps
        form = form._replace(has_gaps=(grid_texts.form_of_drawing(text) or form).has_gaps)
    drawn = grid_texts.drawn_grids(text, form)
    grids = [(title or None, grid_texts.text_of(rows)) for title, rows in drawn]
    titles, puzzles = (pa.array([grid[k] for grid in grids], pa.string()) for k in (0, 1))
    table = pa.table({"puzzle": puzzles})
    return table if titles.null_count == len(titles) else table.add_column(0, "id", titles)


# ---- text -----------------------------------------------------------------------------------


def text_layout_of(path: str, head: bytes) -> tuple[columns.Layout, int]:
    """Return the layout of a file, and the number of bytes of its header."""
    suffix = suffix_of(path)
    is_table = suffix in (".csv", ".tsv", ".tab")
    first, second = _first_lines(head)
    if re.fullmatch(r"sep=.", first, re.IGNORECASE):
        raise InputError(
            f"begins with {first!r}, which only spreadsheets read; take this line away"
        )
    if suffix in (".jsonl", ".ndjson", ".json") or first.startswith("{"):
        return json_layout(head), 0
    mark, cells = grid_texts.cells_of_line(first)
    has_header = bool(cells and cell_columns(cells))  # numbers, as pandas writes it
    # other lines of N² numbers are grids as they are
    if (is_table and cells) or has_header or "" in cells:
        are_numbers = len(cells) > _MOST_SYMBOLS**2 and not any(map(str.isalpha, cells))
        header = head.index(first.encode()) + len(first) if has_header else 0
        parse = partial(columns.lines_of_cells, mark, " " if are_numbers else "")
        return columns.text_layout(("puzzle",), parse), header
    if grid_texts.looks_like_grid("".join(grid_texts.rows_of_line(first))):
        return columns.text_layout(("puzzle",), columns.lines), 0
    has_name, has_words = _names_a_grid(first, second), _has_words(first)
    is_table |= bool(cell_columns(_fields(first, _delimiter(first))))
    fields = _line_columns(first.partition(" #")[0].split())
    if len(fields) > 1 and not any(mark in first for mark in DELIMITERS):
        is_table = False  # but lines of fields with blanks between them
    if is_table or has_name or has_words or _has_grid(first):
        n_bytes = _comments(head, first, is_header=has_name or has_words) if first else 0
        head = head[n_bytes:]
        titles = io.BytesIO(head.lstrip(b"\r\n")).readline().decode(errors="replace")
        delimiter = "\t" if suffix in (".tsv", ".tab") else _delimiter(titles)
        names, header = _header(head, delimiter)
        if len(names) == 1 and not (is_table or has_words):  # a title of lines
            return columns.text_layout(names, columns.lines), n_bytes + header
        return columns.text_layout(names, columns.delimited, delimiter), n_bytes + header
    return columns.text_layout(fields, columns.lines), 0


def _first_lines(head: bytes) -> tuple[str, str]:
    """Return the first two lines that are neither empty nor a comment; empty ones if they lack."""
    # the end of the head may cut a character, which is left out
    decoded = (utf_8_decode(line)[0].strip(" \r\n") for line in io.BytesIO(head))
    lines = (line for line in decoded if line.strip() and not line.startswith("#"))
    return next(lines, ""), next(lines, "")


def _comments(head: bytes, first: str, is_header: bool) -> int:
    """Return the bytes of the comments above a table, whose first other line is known.

    The last one is the header if it has as many fields as that line, and that is not a header.
    """
    n_bytes = last_offset = 0
    last, delimiter = "", _delimiter(first)
    for line in io.BytesIO(head):
        text = line.decode(errors="replace").strip(" \r\n")
        if text and not text.startswith("#"):
            break
        if text:
            last, last_offset = text, n_bytes
        n_bytes += len(line)
    is_last = last and not is_header and last.count(delimiter) == first.count(delimiter)
    return last_offset if is_last else n_bytes


def _has_grid(line: str) -> bool:
    """Return True if a line of plain text has a grid among fields that no blanks part."""
    delimiter = _delimiter(line)
    fields = line.split(delimiter) if delimiter != "\t" else []
    return len(fields) > 1 and any(grid_texts.looks_like_grid(field.strip()) for field in fields)


def _line_columns(fields: list[str]) -> tuple[str, ...]:
    """Return the columns of lines with a few fields, one or two of them grids; else of grids."""
    grids = [k for k, field in enumerate(fields) if grid_texts.looks_like_grid(field)]
    if not 2 <= len(fields) <= grid_texts.MOST_SPACED or not 1 <= len(grids) <= 2:
        return ("puzzle",)
    if [len(fields), *grids] == [3, 1]:
        return "hash", "puzzle", "rating"  # the format of Sudoku Exchange
    return tuple(_headless_names(len(fields), grids))


def _headless_names(n_columns: int, grids: list[int]) -> list[str]:
    """Return names for columns without a header, given the indices of grid columns."""
    known = {grids[0]: "puzzle"} | ({grids[1]: "solution"} if len(grids) == 2 else {})
    return [known.get(k, f"column_{k + 1}") for k in range(n_columns)]


def _has_words(line: str) -> bool:
    """Return True if a line of an unnamed format is the header of CSV: words, not a grid."""
    fields = _fields(line, _delimiter(line))
    words = [f for f in fields if f.replace("_", "").isalpha() and f.lower() == f and len(f) > 2]
    return bool(words) and len(words) >= len(fields) / 2


def _names_a_grid(line: str, below: str) -> bool:
    """Return True if a line, without numbers, has a name above a grid of the line below."""
    delimiter = _delimiter(line)
    fields, texts = ([f.strip(' "') for f in text.split(delimiter)] for text in (line, below))
    are_alike = len(fields) == len(texts) and not any(map(str.isdecimal, fields))
    return are_alike and any(map(_is_name, fields, texts))


def _is_name(field: str, below: str) -> bool:
    """Return True if a field names the grid below it, rather than be one that lacks characters."""
    is_cut = set(field.upper()) <= set(below.upper())
    return bool(_NAME.fullmatch(field)) and not is_cut and grid_texts.looks_like_grid(below)


def _is_faulty(field: str, below: str) -> bool:
    """Return True if a field above a grid seems to be one, too, with more than half its cells."""
    known = {*below.upper(), *BLANKS}
    alike = sum(c in known or c.isdecimal() for c in field.upper())
    return 2 * alike > len(below) and grid_texts.looks_like_grid(below)


def _delimiter(line: str) -> str:
    return max(DELIMITERS, key=lambda d: (line.count(d), -DELIMITERS.index(d)))


def _header(head: bytes, delimiter: str) -> tuple[list[str], int]:
    """Return the names of the columns and the bytes before the first record.

    A first record that holds a grid, even a faulty one, is not a header: then the columns are named
    ``puzzle``, ``column_2``, ….
    """
    begin = len(head) - len(head.lstrip(b"\r\n"))
    end, is_open = columns.record_end(head, begin, delimiter, number=1)
    if end == begin:
        if is_open:
            raise columns.never_closed(head[begin:])
        if len(head) >= HEAD_BYTES - len(columns.BOM):
            raise InputError(f"the header has more than {HEAD_BYTES >> 20} MB; shorten its names")
        end = len(head)
    names, below = _fields(head[begin:end].decode(), delimiter), list[str]()
    with suppress(InputError):  # of the second record, which is not the header
        below = _fields(head[end:].decode(errors="replace"), delimiter)
    bare_names = map(grid_texts.without_fields, names)
    grids = {k for k, name in enumerate(bare_names) if grid_texts.looks_like_grid(name)}
    if grids or any(map(_is_faulty, names, below)):
        numbered = enumerate(below[: len(names)])
        grids |= {k for k, field in numbered if grid_texts.looks_like_grid(field)}
        return _headless_names(len(names), sorted(grids)), begin
    if (name := repeated(names)) is not None:
        raise InputError(
            f"the header names column {quoted(name)} twice; rename one, or, if these are cells of "
            f"a grid, give each of its N rows N of them, with 0 for those that are empty"
        )
    return names, end


def _fields(header: str, delimiter: str) -> list[str]:
    try:
        return list(map(str.strip, columns.first_record(io.StringIO(header), delimiter)))
    except csv.Error as error:
        raise InputError(
            f"the header cannot be read, because it holds a carriage return that ends no line: "
            f"{header[:80]!r}; end all lines alike"
        ) from error


# ---- JSON lines -----------------------------------------------------------------------------


def json_layout(data: bytes) -> columns.Layout:
    """Choose columns and types from the first lines of a file of JSON objects.

    Values that Arrow has no type for become JSON text in marked columns.
    """
    records, faults = _objects(data.decode(errors="replace"))
    if not any(records):
        why = next(iter(faults.values()), "objects without fields")
        raise InputError(f"{why}; write each object on one line, or all in one array")
    return columns.Layout(_json_schema(records), json_lines)


def json_lines(layout: columns.Layout, data: bytes) -> columns.Rows:
    """Parse JSON objects, one per line, all with the same fields."""
    records, faults = _objects(data.decode())
    known = set(layout.schema.names)
    for number, record in enumerate(records, 1):
        if extra := record.keys() - known:
            why = f"the field {quoted(min(extra))} is new; give all objects the same fields"
            raise columns.RowsError(why, number, number)
    return _of_records(records, layout.schema), faults


def _objects(text: str) -> tuple[list[dict[str, Any]], dict[int, str]]:
    """Return the JSON objects of lines, empty ones for other lines; and the faults of these.

    Python parses them one by one: the reader of pyarrow 26 takes a third of the time, but it
    crashes on some lines that are not JSON, and reads two objects on a line as two lines.
    """
    records: list[dict[str, Any]] = []
    faults: dict[int, str] = {}
    for line in filter(str.strip, text.split("\n")):
        try:
            record = loads(line)
            if not isinstance(record, dict):
                raise ValueError("another kind of value")
        except ValueError as error:
            faults[len(records)] = f"not a JSON object ({error}): {line[:200]!r}"
            record = {}
        records.append(record)
    return records, faults


def _of_records(records: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_arrays([_json_column(records, field) for field in schema], schema=schema)


def _json_schema(records: list[dict[str, Any]]) -> pa.Schema:
    """Choose types; columns that Arrow has no type for become marked columns of JSON text.

    A column without a value is null; `_common_schemas` chooses its type.
    """
    fields = []
    for key in dict.fromkeys(key for record in records for key in record):
        try:
            kind = pa.array([record.get(key) for record in records]).type
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            kind = None
        if kind is None or pa.types.is_struct(kind):
            fields.append(pa.field(key, pa.string(), metadata=columns.JSON_TEXT))
        else:
            fields.append(pa.field(key, kind))
    return pa.schema(fields)


def _common_schemas(schemas: Sequence[pa.Schema]) -> list[pa.Schema]:
    """Return schemas of JSON objects: a field has one type if its values have, or are numbers.

    A field that has values in no table is text.
    """
    fields: dict[str, pa.Field] = {}
    for field in (field for schema in schemas for field in schema):
        known = fields.setdefault(field.name, field)
        if pa.types.is_null(known.type) or (known.type, field.type) == (pa.int64(), pa.float64()):
            fields[field.name] = field
    texts = {name: field.with_type(pa.string()) for name, field in fields.items()}
    common = {n: texts[n] if pa.types.is_null(field.type) else field for n, field in fields.items()}

    def fitting(field: pa.Field) -> pa.Field:
        other = common[field.name]
        is_number = (field.type, other.type) == (pa.int64(), pa.float64())
        return other if is_number or pa.types.is_null(field.type) else field

    return [pa.schema(map(fitting, schema)) for schema in schemas]


def _json_column(records: list[dict[str, Any]], field: pa.Field) -> pa.Array:
    values = [record.get(field.name) for record in records]
    if field.metadata == columns.JSON_TEXT:
        texts = (None if v is None else json.dumps(v, ensure_ascii=False) for v in values)
        return pa.array(texts, pa.string())
    try:
        column = pa.array(values)
        if pa.types.is_string(field.type) and not pa.types.is_string(column.type):
            column.cast(pa.null())  # a number is not text
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        types = "text, or no value" if pa.types.is_string(field.type) else field.type
        raise columns.RowsError(
            f"the field {quoted(field.name)} has values of another type than in the first rows "
            f"({types}); give it one type, or both in the first rows",
            1,
            len(records),
        ) from None


# ---- opening --------------------------------------------------------------------------------


def open_source(path: str) -> Source:
    """Detect the format of a file, and return its source.

    Parameters
    ----------
    path : str
        A file, its address, or ``-`` for standard input, which can be read once. Or the text of
        a grid, if no file has this name.

    Raises
    ------
    InputError
        If the file does not exist, cannot be read, is empty or has no usable header.
    """
    if path != "-" and not is_address(path) and not os.path.exists(path) and is_grid(path):
        return TableSource(pa.table({"puzzle": [path]}), "the grid")
    with named_errors(name_of(path)), ExitStack() as opened:
        if path == "-":
            file, ahead = _standard_input()
            stream = Stream(file, has_more=partial(_arrives, file), ahead=ahead)
        else:
            file = opened.enter_context(open_file(path))
            stream = Stream(file)
        head = _head_of(stream)
        text = head.removeprefix(columns.BOM)
        if not text or text.isspace():
            raise InputError("is empty; expected puzzles, one a line, or a table with a header")
        name = file.name if isinstance(file, zipfile.ZipExtFile) else path
        is_packed = isinstance(file, pa.CompressedInputStream | zipfile.ZipExtFile)
        if head.startswith(b"PAR1") and path != "-" and not is_packed:
            return ParquetSource.of(path)
        if head.startswith(b"PAR1") or (b"\n" not in head and b"\r" in head):
            return replace(source_of(name, head + file.read()), path=path)
        document = read_document(suffix_of(name), text, lambda: head + file.read())
        if document is not None:
            return TableSource(document[0], path, document[1])
        if (kind := kind_of(head)) and not _is_text(head):
            why = f"not UTF-8 text, but {kind}"
            raise InputError(f"{why}; expected CSV, TSV, Parquet, JSON lines or text")
        length = None if path == "-" or is_packed else facts_of(path).size
        check_announced(path, length or 0)
        head = _with_first_line(head, stream)
        first = len(head) - len(head.removeprefix(columns.BOM))
        layout, header = text_layout_of(name, head[first:])
        return TextSource(path, layout, length, first + header, stream if path == "-" else None)


def source_of(path: str, data: bytes) -> TableSource | TextSource:
    """Return the source of the content of a file, as `open_source` that of the file.

    Lines may end in a carriage return alone.
    """
    if data.startswith(b"PAR1"):
        return TableSource(columns.without_views(pq.read_table(pa.BufferReader(data))), path)
    text = data.removeprefix(columns.BOM)
    if b"\n" not in text:
        text = text.replace(b"\r", b"\n")
    document = read_document(suffix_of(path), text, lambda: text)
    if document is None:
        layout, header = text_layout_of(path, text)
        return TextSource(path, layout, None, header, content=text)
    return TableSource(document[0], path, document[1])


def _standard_input() -> tuple[Any, bytes]:
    """Return standard input, decompressed if its first bytes say so, and the bytes read of it."""
    buffered: Any = sys.stdin.buffer
    ahead = buffered.peek(4)
    if compression := compression_of(ahead[:4]):
        return pa.CompressedInputStream(pa.PythonFile(buffered, "r"), compression), b""
    return buffered.raw, buffered.read(len(ahead))


def _arrives(file: Any, deadline: float) -> bool:
    """Wait until a time for more bytes of a file or its end; return False if neither arrives."""
    try:
        return bool(select.select([file], [], [], max(0.0, deadline - time.monotonic()))[0])
    except (OSError, ValueError, TypeError):  # it does not support that, so reading will wait
        return True


def _head_of(stream: Stream) -> bytes:
    """Return the beginning: all that arrives soon, and at least the lines that tell the format."""
    while True:
        end = stream.end_by(HEAD_BYTES)
        head = stream.look(0, end)
        if end == HEAD_BYTES or stream.has_ended or _tells(head.removeprefix(columns.BOM)):
            return head


def _tells(head: bytes) -> bool:
    """Return True if the complete lines tell the format; JSON needs more of them for its types."""
    first, second = _first_lines(head[: head.rfind(b"\n") + 1])
    if not first or first.startswith(("{", "[")):
        return False
    fields = (field.strip(' "') for field in first.split(_delimiter(first)))
    return bool(second) or not any(map(_NAME.fullmatch, fields))  # it may be a header


def _with_first_line(head: bytes, stream: Stream) -> bytes:
    """Return the beginning of a file, or more of it if its first line is longer.

    Raises
    ------
    InputError
        If that line has more than `MOST_RECORD_BYTES`.
    """
    while not (stream.has_ended or any(end in head.lstrip() for end in (b"\n", b"\r"))):
        if len(head) > columns.MOST_RECORD_BYTES:
            raise InputError(f"its first line has more than {columns.MOST_RECORD_BYTES >> 20} MB")
        head = stream.look(0, stream.end_by(len(head) + SKIP_BYTES))
    return head


def _is_text(head: bytes) -> bool:
    """Return True if the first bytes of a file are UTF-8 text without zero bytes."""
    with suppress(UnicodeDecodeError):
        return b"\0" not in head and bool(utf_8_decode(head[:_FIRST_BYTES]))
    return False


def open_all(inputs: Sequence[str | Source]) -> list[Source]:
    """Open tables.

    Parameters
    ----------
    inputs : sequence of str or Source
        Paths, and tables that are already open.

    Returns
    -------
    list of Source

    Raises
    ------
    InputError
        If there are none, or tables cannot be opened; the error is that of the first one.

    Notes
    -----
    Ctrl-C ends the wait at any moment. An executor would not do: within the code of a `Future`,
    Ctrl-C can leave a lock taken; a thread would wait for it forever, and the executor for the
    thread.
    """
    if not inputs:
        raise InputError("no input; name a file, or - for standard input")
    if len(inputs) == 1:
        return _with_common_types([_source(inputs[0])])
    waiting = iter(list(enumerate(inputs)))  # from which several threads may draw
    opened: list[SimpleQueue[Source | Exception]] = [SimpleQueue() for _ in inputs]

    def open_some() -> None:
        for k, table in waiting:
            try:
                opened[k].put(_source(table))
            except Exception as error:
                opened[k].put(error)

    sources = []
    try:
        for _ in range(min(OPENED_AT_ONCE, len(inputs))):
            threading.Thread(target=open_some, daemon=True).start()
        for queue in opened:
            source = queue.get()
            if isinstance(source, Exception):
                raise source
            sources.append(source)
    finally:
        deque(waiting, maxlen=0)  # after an error, no other table is opened
    return _with_common_types(sources)


def _with_common_types(sources: list[Source]) -> list[Source]:
    """Return the tables; of those of JSON lines, the same field has the same type if it can."""
    tables = {
        k: source
        for k, source in enumerate(sources)
        if isinstance(source, TextSource) and source.layout.parse is json_lines
    }
    schemas = _common_schemas([source.layout.schema for source in tables.values()])
    for (k, source), schema in zip(tables.items(), schemas, strict=True):
        sources[k] = replace(source, layout=replace(source.layout, schema=schema))
    return sources


def _source(table: str | Source) -> Source:
    return open_source(table) if isinstance(table, str) else table


def files_and_tables(what: str, inputs: Any, name: str = "the table") -> list[str | TableSource]:
    """Return the files that names stand for, and the sources of tables.

    Parameters
    ----------
    what : str
        The name of the argument, for messages.
    inputs : table, str or path, or an iterable of them
    name : str
        The name of a table; those of several tables are numbered.

    Examples
    --------
    >>> sources = files_and_tables("the input", ["a.csv", pa.table({"puzzle": []})], "against")
    >>> sources[0], sources[1].path
    ('a.csv', 'against[1]')
    """
    sources: list[str | TableSource] = []
    for k, table in enumerate(each_of(inputs)):
        if isinstance(table, str | bytes | os.PathLike):
            sources += files_of([path_of(what, table)])
        else:
            label = name if table is inputs else f"{name}[{k}]"
            sources.append(TableSource(columns.without_views(arrow_table(table)), label))
    check_read_once(sources)
    return sources


def check_read_once(*inputs: Sequence[str | TableSource]) -> None:
    """Raise `InputError` if several inputs are standard input."""
    if sum(files.count("-") for files in inputs) > 1:
        raise InputError("standard input can be read once; name a file")
