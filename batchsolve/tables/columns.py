"""Columns of a block: parsed from its records, and as the texts and numbers that they hold.

Every column of a text format is read as text, because type inference would turn 81 digits into a
float. Rows that break the format (too many fields, not JSON) keep their place and get a fault, so
that reports name the right row. Grids are read from texts in one line.
"""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from batchsolve.core import native
from batchsolve.core.arrays import Bools, Ints
from batchsolve.errors import InputError, counted, first_line, prefixed, quoted, shortened
from batchsolve.formats import grid_texts
from batchsolve.problems.survey import MOST_PLAIN, NO_FORM, Form, forms, n_words

JSON_TEXT = {b"json": b"1"}  # marks columns whose values are JSON
DIGITS = {b"digits": b"1"}  # marks columns of integers of any size, which Arrow has only as text
BOM = b"\xef\xbb\xbf"
MOST_RECORD_BYTES = 64 << 20
Rows = tuple[pa.Table, dict[int, str]]
"""Consecutive rows of a table; and the faults of those, counted from 0, that break the format."""


class RowsError(InputError):
    """An error in rows of a block that makes the whole block unusable.

    Parameters
    ----------
    fault : str
        The fault of the rows.
    first, last : int
        Their numbers, counted from 1 in the block.
    name : str
        The name of the file in messages.
    """

    def __init__(self, fault: str, first: int, last: int, name: str = "") -> None:
        super().__init__(fault, first, last, name)  # the arguments for unpickling
        self.fault, self.first, self.last, self.name = fault, first, last, name

    def __str__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        is_one = self.first == self.last
        rows = f"row {self.first}" if is_one else f"rows {self.first} to {self.last}"
        return f"{name}{rows}: {self.fault}"

    def of(self, name: str) -> RowsError:
        """Return the same error with the name of a file."""
        return RowsError(self.fault, self.first, self.last, name)

    def after(self, rows: int) -> RowsError:
        """Return the same error for a block that follows `rows` rows of its file."""
        return RowsError(self.fault, rows + self.first, rows + self.last, self.name)


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
        Of a CSV table, in which line ends can be quoted; else empty.
    """

    schema: pa.Schema
    parse: Callable[[Layout, Any], Rows]
    delimiter: str = ""


def text_layout(
    names: Iterable[str], parse: Callable[[Layout, bytes], Rows], delimiter: str = ""
) -> Layout:
    """Return the layout of columns of text."""
    return Layout(pa.schema([(name, pa.string()) for name in names]), parse, delimiter)


# ---- records as rows ------------------------------------------------------------------------

_CSV_LIMIT = threading.Lock()


def lines(layout: Layout, data: bytes) -> Rows:
    """Parse lines of one grid, or of a few fields with blanks between them.

    Comments, which begin with ``#``, and blank lines are dropped. A single column holds whole
    lines.
    """
    texts, n = _lines(data), len(layout.schema)
    if n == 1:
        return pa.Table.from_arrays([texts], schema=layout.schema), {}
    fields = pc.split_pattern_regex(texts, r"\s+")
    faults = {}
    if (odd := np.flatnonzero(np.asarray(pc.list_value_length(fields)) != n)).size:
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
    cells = pa.ListArray.from_arrays(parts.offsets, _bare_cells(parts.flatten()))
    return pa.Table.from_arrays([pc.binary_join(cells, gap)], schema=layout.schema), {}


def _bare_cells(texts: pa.Array) -> pa.Array:
    """Return cells of a spreadsheet without marks around them; empty ones and NaN become ``.``."""
    cells = pc.ascii_trim(texts, ' "\t')
    cells = pc.replace_substring_regex(cells, r"^([0-9]{1,3}|-1)\.0$", r"\1")
    return pc.if_else(pc.is_in(cells, pa.array(["", "nan", "NaN"])), ".", cells)


def _lines(data: bytes, around: str = "") -> pa.Array:
    """Return the lines of a text, without comments and blank lines.

    Characters around them are trimmed; by default, white space.
    """
    data.decode()  # raises an error that says which bytes are not UTF-8; pyarrow's does not
    bounds = pa.py_buffer(np.array([0, len(data)], np.int32))
    text = pa.StringArray.from_buffers(1, bounds, pa.py_buffer(data))
    texts = pc.split_pattern(text, "\n").values
    texts = pc.utf8_trim(texts, around) if around else pc.utf8_trim_whitespace(texts)
    if b"#" in data:
        texts = pc.replace_substring_regex(texts, pattern=r"(^|\s+)#.*", replacement="")
    return texts.filter(pc.greater(pc.binary_length(texts), 0))


def delimited(layout: Layout, data: bytes) -> Rows:
    """Parse records of CSV, TSV and similar formats; skip blank lines."""
    ragged: list[tuple[int, int, str]] = []

    def keep(row: Any) -> str:
        ragged.append((row.number - 1, row.actual_columns, row.text))
        return "skip"

    data.decode()  # as in `_lines`
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
        records.append((first_record([text], delimiter) + [""] * n_columns)[:n_columns])
    values = zip(*records, strict=True)
    extra = pa.table([pa.array(v, pa.string()) for v in values], table.column_names)
    places = {place: len(table) + k for k, (place, _, _) in enumerate(ragged)}
    regular = iter(range(len(table)))
    order = [places[k] if k in places else next(regular) for k in range(len(table) + len(extra))]
    return pa.concat_tables([table, extra]).combine_chunks().take(order), faults


def first_record(lines: Iterable[str], delimiter: str) -> list[str]:
    """Return the fields of the first record; a field may exceed the 128 KiB limit of `csv`."""
    with _CSV_LIMIT:  # the limit is global, and other code may rely on its value
        limit = csv.field_size_limit(MOST_RECORD_BYTES)
        try:
            return next(csv.reader(lines, delimiter=delimiter), [])
        finally:
            csv.field_size_limit(limit)


def record_end(data: bytes, begin: int, delimiter: str, number: int = 0) -> tuple[int, bool]:
    """Find the end of the last complete record, or of record `number` from `begin` on if not 0.

    Returns
    -------
    end : int
        The offset of the next record; `begin` if no record is complete.
    quoted : bool
        True if a quotation mark is open at the end of the search.
    """
    return native.record_end(np.frombuffer(data, np.uint8), begin, ord(delimiter or "\0"), number)


def never_closed(record: bytes) -> InputError:
    """Return the error for a record whose quotation mark is never closed."""
    return InputError(f"a quotation mark is never closed in the record {start_of(record)}")


def start_of(record: bytes) -> str:
    """Return the beginning of a record, for messages."""
    return repr(record[:80].decode(errors="replace"))


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


# ---- kinds of columns -----------------------------------------------------------------------


def is_list(kind: pa.DataType) -> bool:
    """Return True for a type of lists, of any or of one length."""
    types = pa.types
    return types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)


def is_text(kind: pa.DataType) -> bool:
    """Return True for a type of texts."""
    types = pa.types
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def is_number(kind: pa.DataType) -> bool:
    """Return True for a type of numbers."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def storage_of(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of an extension type, such as a tensor; others as they are."""
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def nested(kind: pa.DataType) -> tuple[list[int | None], pa.DataType]:
    """Return the lengths of lists in lists, None for any length, and the type of their values.

    Examples
    --------
    >>> nested(pa.list_(pa.list_(pa.int8(), 4))), nested(pa.string())
    (([None, 4], DataType(int8)), ([], DataType(string)))
    """
    sizes, leaf = [], storage_of(kind)
    while is_list(leaf):
        sizes.append(leaf.list_size if pa.types.is_fixed_size_list(leaf) else None)
        leaf = leaf.value_type
    return sizes, leaf


def without_views(table: pa.Table) -> pa.Table:
    """Return a table without views of texts or bytes, from which Arrow cannot take rows.

    Nor do dictionaries hold nulls, which Parquet does not have.

    Examples
    --------
    >>> table = pa.table({"id": pa.array([["a"]], pa.list_(pa.string_view()))})
    >>> without_views(table)["id"].type
    ListType(list<item: string>)
    """
    for k, field in enumerate(table.schema):
        if (kind := _no_view(field.type)) != field.type:
            table = table.set_column(k, field.with_type(kind), table[k].cast(kind))
        can_decode = pa.types.is_dictionary(kind) and not pa.types.is_nested(kind.value_type)
        if can_decode and any(chunk.dictionary.null_count for chunk in table[k].chunks):
            column = table[k].cast(kind.value_type).dictionary_encode().cast(kind)
            table = table.set_column(k, field.with_type(kind), column)
    return table


def _no_view(kind: pa.DataType) -> pa.DataType:
    types, inner = pa.types, [kind.field(k) for k in range(kind.num_fields)]
    fields = [field.with_type(_no_view(field.type)) for field in inner]
    if types.is_string_view(kind):
        return pa.string()
    if types.is_binary_view(kind):
        return pa.binary()
    if types.is_large_list(kind):
        return pa.large_list(*fields)
    if is_list(kind):
        return pa.list_(*fields, getattr(kind, "list_size", -1))  # -1 is any
    if types.is_map(kind):
        return pa.map_(_no_view(kind.key_type), _no_view(kind.item_type), kind.keys_sorted)
    if types.is_struct(kind):
        return pa.struct(fields)
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _no_view(kind.value_type), kind.ordered)
    return kind


def arrow_stream(table: pa.Table, compression: str | None = None) -> pa.Buffer:
    """Return a table as a stream of Arrow."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue()


# ---- columns as texts -----------------------------------------------------------------------


def no_grids(what: str, values: str, name: str | None = None) -> InputError:
    """Return the error that something holds values of a kind that grids are not.

    Parameters
    ----------
    what : str
        The column in words.
    values : str
        The kind of values.
    name : str, optional
        The name of the column, for advice.
    """
    if "integers" not in values and "numbers" not in values:
        return InputError(f"{what} holds {values}; a grid is text, or a list of digits")
    polars = f"schema_overrides={{{quoted(name)}: pl.String}}" if name else "pl.String"
    return InputError(
        f"{what} holds {values}, which do not keep leading zeros; store grids as text: pandas "
        f"reads them so with dtype=str, polars with {polars}"
    )


def check_holds_texts(kind: pa.DataType, what: str, name: str | None = None) -> None:
    """Raise `InputError` for a type that holds neither texts nor lists of texts or numbers."""
    axes = list(getattr(kind, "permutation", None) or ())
    if axes != sorted(axes):
        raise InputError(
            f"{what} holds tensors with their axes in the order {axes}; store a copy "
            f"(numpy.ascontiguousarray)"
        )
    types, (is_in_list, leaf) = pa.types, nested(kind)
    leaf = leaf.value_type if types.is_dictionary(leaf) else leaf
    if is_text(leaf) or types.is_null(leaf) or (is_in_list and _is_number(leaf)):
        return
    if is_in_list and types.is_struct(leaf) and leaf.num_fields == 1:
        return check_holds_texts(pa.list_(leaf.field(0).type), what, name)
    values = f"values of {shortened(str(leaf))}"
    if types.is_struct(leaf):
        values = f"{'lists of ' if is_in_list else ''}objects ({', '.join(leaf.names)})"
    elif _is_number(leaf):
        values = "integers" if types.is_integer(leaf) else f"numbers ({leaf})"
    raise no_grids(what, shortened(values), name)


def _is_number(kind: pa.DataType) -> bool:
    return is_number(kind) or pa.types.is_decimal(kind)


def have_text(column: pa.Array) -> Bools:
    """Return True for each text that is not blank."""
    return np.asarray(pc.not_equal(pc.ascii_trim_whitespace(pc.fill_null(column, "")), ""))


def as_json(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return objects, or lists of them, as JSON without null values, and numbers as texts.

    Other columns are returned as `_values_of` does.
    """
    column = _values_of(table, name)
    if is_number(column.type):
        return column.cast(pa.string())
    kind = column.type.value_type if is_list(column.type) else column.type
    if not pa.types.is_struct(kind):
        return column
    texts = [
        None if value is None else json.dumps(_without_nulls(value)) for value in column.to_pylist()
    ]
    return pa.chunked_array([pa.array(texts, pa.string())])


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value]
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    return value


def _values_of(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column, in which texts among other values of JSON have no quotation marks."""
    column = table[name]
    if table.schema.field(name).metadata == JSON_TEXT:
        return pa.chunked_array([unquoted(column)])
    return column


def as_text(table: pa.Table, name: str) -> pa.Array:
    """Return a column as one string array; lists become text with blanks between the elements.

    Raises
    ------
    InputError
        If the column holds neither texts nor lists.
    """
    return texts_of(_values_of(table, name), name)


def texts_of(column: pa.ChunkedArray, name: str) -> pa.Array:
    """Return values as `as_text` does; a message calls their column `name`."""
    kind = storage_of(column.type)
    if column.null_count == len(column):
        return pa.nulls(len(column), pa.string())
    check_holds_texts(column.type, f"column {quoted(name)}", name)
    if kind != column.type:  # a cast damages lists of nulls
        column = column.cast(kind)
    if is_list(kind):
        return _joined(column, name)
    if pa.types.is_dictionary(kind):  # polars uses string views, which Arrow cannot decode
        column = column.cast(pa.dictionary(kind.index_type, pa.string())).cast(pa.string())
    elif pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        column = column.cast(pa.string())
    return column.combine_chunks()


def without_brackets(text: pa.Array) -> pa.Array:
    """Return texts with lists of JSON as `as_text` returns lists: with blanks between the elements.

    Examples
    --------
    >>> without_brackets(pa.array(['["A", "B"]', '[{"sum": 3}]', "[]"])).to_pylist()
    ['A B', '[{"sum": 3}]', '']
    """
    if not (are_lists := _match(text, r"^\s*\[[^{}]*\]\s*$")).any():
        return text
    plain = pc.utf8_trim(pc.replace_substring_regex(text, r'[\[\]",\s]+', " "), " ")
    return pc.if_else(pa.array(are_lists), plain, text)


def unquoted(column: pa.ChunkedArray) -> pa.Array:
    """Return values of JSON, of which those that are texts lose their quotation marks."""
    values = (json.loads(v) if v and v[0] == '"' else v for v in column.to_pylist())
    return pa.array(values, pa.string())


def values_as_text(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column of texts, numbers or the like as texts.

    Raises
    ------
    InputError
        If the column holds lists or the like.
    """
    column = _values_of(table, name)
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        kind = shortened(str(column.type))
        raise InputError(f"column {quoted(name)} has values of {kind}, not one a row") from error


# what characters and numbers in one line do not have: lines, brackets, fields, empty cells, points
_OTHER_FORMS = r"[\n\[:]|\S\|\S|[,;\t][ \t]*[,;\t]|^[,;]|[,;]$|[0-9]\.0[ ,;\t]|[Nn]a[Nn]\b"
_SEVERAL = "[1-9]{2}[^0-9]"  # candidates of a cell
_LIST = r"^\s*\[[\[\]\s,]*(([0-9]+|-1|null|None)[\[\]\s,]+)*$"  # of whole numbers


def in_one_line(text: pa.Array) -> pa.Array:
    """Write every grid in one line; see `batchsolve.formats.grid_texts`."""
    is_other = _match(text, _OTHER_FORMS)
    if is_other.any() and (plain := _with_lists(text)) is not text:
        text, is_other = plain, _match(plain, _OTHER_FORMS)
    codes = forms(text)
    is_other |= codes == NO_FORM
    if (numbered := (codes % 2 == 1) & (codes <= Form(MOST_PLAIN, True).code)).any():
        is_other |= numbered & _match(text, _SEVERAL)  # perhaps pencil marks
    if is_other.any():  # but values that are empty or null
        is_other &= np.asarray(pc.fill_null(pc.greater(pc.binary_length(text), 0), False))
    if not is_other.any():
        return text
    mask = pa.array(is_other)
    lines = [grid_texts.in_one_line(grid) for grid in text.filter(mask).to_pylist()]
    return pc.replace_with_mask(text, mask, pa.array(lines, pa.string()))


def _with_lists(text: pa.Array) -> pa.Array:
    """Write lists of N² whole numbers, or of N such rows, in one line; the core reads these."""
    if not (are_lists := _match(text, _LIST)).any():
        return text
    lists = originals = text.filter(pa.array(are_lists))
    for old, new in (("null", "."), ("None", "."), ("[", " "), ("\n", " ")):
        lists = pc.replace_substring(lists, old, new)
    rows = pc.split_pattern(lists, "]")
    owners, sizes = np.asarray(pc.list_parent_indices(rows)), n_words(rows.flatten())
    are_square = _are_square(owners, sizes, len(lists))
    lists = pc.replace_substring(lists, "]", " ")
    are_square &= forms(lists) != NO_FORM
    lists = pc.if_else(are_square, pc.ascii_trim(lists, " "), originals)
    return pc.replace_with_mask(text, pa.array(are_lists), lists)


def _are_square(owners: Ints, sizes: Ints, n: int) -> Bools:
    """Return True for each of n texts with one list of cells, or as many lists as each has cells.

    Parameters
    ----------
    owners, sizes : ndarray
        The text, and the number of cells, of each list; empty ones do not count.
    """
    n_lists = np.bincount(owners[sizes > 0], minlength=n)[owners]
    odd = owners[(sizes > 0) & (n_lists > 1) & (sizes != n_lists)]
    return np.bincount(odd, minlength=n) == 0


def pencil_marks(text: pa.Array, lines: pa.Array | None = None) -> dict[int, str]:
    """Return the marks of the grids of pencil marks among texts, by their places.

    Only texts are looked at that are others in `lines`, where all are in one line.
    """
    lines = in_one_line(text) if lines is None else lines
    if lines is text:
        return {}
    places = np.flatnonzero(pc.fill_null(pc.not_equal(text, lines), False))
    places = places[_match(text.take(pa.array(places)), _SEVERAL)]
    marks = map(grid_texts.pencil_marks, text.take(pa.array(places)).to_pylist())
    return {place: mark for place, mark in zip(places.tolist(), marks, strict=True) if mark}


def _match(text: pa.Array, pattern: str) -> Bools:
    """Return True for each text that holds a pattern."""
    return np.asarray(pc.fill_null(pc.match_substring_regex(text, pattern), False))


def _of_fractions(values: pa.Array) -> pa.Array:
    """Return floating-point numbers as texts, whole ones as such; NaN becomes null."""
    values = pc.if_else(pc.is_nan(values), None, values)
    is_whole = pc.and_(pc.equal(values, pc.trunc(values)), pc.less(pc.abs(values), 1e6))
    whole = pc.if_else(is_whole, values, None).cast(pa.int32()).cast(pa.string())
    return pc.if_else(pc.fill_null(is_whole, False), whole, values.cast(pa.string()))


def _joined(column: pa.ChunkedArray, name: str) -> pa.Array:
    """Return lists as texts with blanks between the elements; empty elements become ``.``.

    Inner lists that are not the rows of a square stay lines, so that none makes up for another.
    """
    values, rows = column.combine_chunks(), np.arange(len(column))
    owners = sizes = np.array([], np.int64)  # of the innermost lists of several elements
    while is_list(values.type):
        parents = np.asarray(pc.list_parent_indices(values))
        n_elements = np.bincount(parents, minlength=len(values))
        if (n_elements != 1).any():
            owners, sizes = rows, n_elements
        rows = rows[parents]
        values = pc.list_flatten(values)
    if pa.types.is_struct(values.type):
        values = pc.struct_field(values, 0)
    texts = _cells(values, name)
    are_square = _are_square(owners, sizes, len(column))
    if not are_square.all():
        is_last = np.isin(np.arange(len(rows)), np.cumsum(sizes) - 1) & ~are_square[rows]
        texts = pc.if_else(is_last, pc.binary_join_element_wise(texts, "", "\n"), texts)
    offsets = np.zeros(len(column) + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=len(column)), out=offsets[1:])
    return pc.binary_join(pa.ListArray.from_arrays(offsets, texts), " ")


def _cells(values: pa.Array, name: str) -> pa.Array:
    """Return cells of grids as texts; empty ones become ``.``."""
    if pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
        texts = _of_fractions(values.cast(pa.float64()))
    elif pa.types.is_integer(values.type):
        texts = values.cast(pa.string())
    else:
        texts = texts_of(pa.chunked_array([values]), name)
        texts = pc.if_else(pc.equal(pc.ascii_trim_whitespace(texts), ""), None, texts)
    return pc.fill_null(texts, ".")


class CellColumns(NamedTuple):
    """The columns that hold the cells of grids, in their order, and the text between cells."""

    names: Sequence[str] = ()
    gap: str = ""

    def grids(self, table: pa.Table) -> pa.Array:
        """Return the grids of a table as texts."""
        values = (_values_of(table, name).combine_chunks() for name in self.names)
        cells = map(_bare_cells, map(_cells, values, self.names))
        return pc.binary_join_element_wise(*cells, self.gap)


# ---- texts as numbers -----------------------------------------------------------------------
# A column gets the first kind that holds all its values; empty columns get null, and stay text.
Kinds = dict[str, list[pa.DataType]]
_KINDS = [pa.null(), pa.int64(), pa.float64()]


def number_kinds(names: Sequence[str], table: pa.Table) -> Kinds:
    """Return the types that hold the values of text columns without a change of their text.

    A value must be empty, or a number as Arrow writes it, with or without ``.0``: ``007`` and
    ``1.50`` are text, and so are integers of 16 or more digits, which can be grids.

    Examples
    --------
    >>> table = pa.table({"id": ["7", ""], "zip": ["007", "8"], "rating": ["1.5", "7.0"]})
    >>> number_kinds(["id", "zip", "rating"], table)["rating"]
    [DataType(double)]
    """
    kinds = {}
    for name in names:
        values = table[name].filter(pc.not_equal(table[name], ""))
        kinds[name] = [kind for kind in _KINDS if _holds(values, kind)]
    return kinds


def number_types(parts: Iterable[Kinds]) -> dict[str, pa.DataType]:
    """Return the types of the columns that hold only numbers in all parts of a table.

    Examples
    --------
    >>> parts = pa.table({"id": ["7"]}), pa.table({"id": ["1.5"]}), pa.table({"id": [""]})
    >>> number_types(number_kinds(["id"], part) for part in parts)
    {'id': DataType(double)}
    """
    common: Kinds = {}
    for kinds in parts:
        common = {
            name: [kind for kind in common.get(name, _KINDS) if kind in kinds[name]]
            for name in kinds
        }
        if not any(common.values()):
            break
    return {
        name: kinds[0] for name, kinds in common.items() if kinds and not pa.types.is_null(kinds[0])
    }


def with_numbers(table: pa.Table, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Return a table with text columns converted to numbers; empty values become null.

    Raises
    ------
    InputError
        If a column now holds other values than numbers.
    """
    columns = dict(zip(table.column_names, table.columns, strict=True))
    for name, kind in types.items():
        why = f"the column {quoted(name)} held only numbers when it was read before"
        with prefixed(why, InputError, pa.ArrowInvalid):  # something writes to the input
            text = columns[name]
            columns[name] = pc.if_else(pc.equal(text, ""), None, text).cast(kind)
    return pa.Table.from_arrays(list(columns.values()), schema=retyped(table.schema, types))


def retyped(schema: pa.Schema, types: Mapping[str, pa.DataType]) -> pa.Schema:
    """Return a schema with the types of some columns replaced."""
    fields = [field.with_type(types.get(field.name, field.type)) for field in schema]
    return pa.schema(fields, schema.metadata)


def _holds(values: pa.ChunkedArray, kind: pa.DataType) -> bool:
    if not len(values) or pa.types.is_null(kind):
        return not len(values)
    if pc.any(pc.match_substring_regex(values, r"^-?[0-9]{16}")).as_py():
        return False
    try:
        numbers = values.cast(kind)
    except pa.ArrowInvalid:
        return False
    if pa.types.is_floating(kind):
        values = pc.replace_substring_regex(values, r"^(-?[0-9]+)\.0$", r"\1")
        if not pc.all(pc.is_finite(numbers)).as_py():
            return False
    return bool(values.equals(numbers.cast(pa.string())))
