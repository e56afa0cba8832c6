"""Columns: as texts in one line, the form in which grids are read; as numbers; of other libraries.

Tables and columns of other libraries become those of Arrow, and these become theirs again, by
Arrow's PyCapsule interface, which pandas, polars, DuckDB, `datasets` and others implement; none of
them is imported here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from batchsolve.core.arrays import Bools, Ints
from batchsolve.errors import InputError, first_line, prefixed, quoted, shortened, wrong_kind
from batchsolve.formats import grid_texts
from batchsolve.problems.survey import MOST_PLAIN, NO_FORM, Form, forms, n_words


def one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; a column of one chunk is not copied."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


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
    trimmed = pc.ascii_trim_whitespace(pc.fill_null(column, ""))
    return np.asarray(pc.not_equal(trimmed, ""))


def as_json(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return objects, or lists of them, as JSON without null values; other columns as they are."""
    kind = column.type.value_type if is_list(column.type) else column.type
    if not pa.types.is_struct(kind):
        return column
    texts = [
        None if each is None else json.dumps(_without_nulls(each)) for each in column.to_pylist()
    ]
    return pa.chunked_array([pa.array(texts, pa.string())])


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return {k: v for k, v in value.items() if v is not None} if isinstance(value, dict) else value


def as_text(column: pa.ChunkedArray, name: str) -> pa.Array:
    """Return a column as one string array; lists become text with blanks between the elements.

    Raises
    ------
    InputError
        If the column holds neither texts nor lists; the message calls it `name`.
    """
    kind = storage_of(column.type)
    if column.null_count == len(column):
        return pa.nulls(len(column), pa.string())
    check_holds_texts(column.type, f"column {quoted(name)}", name)
    if is_list(kind):
        # a cast damages lists of nulls
        return _joined(column if kind == column.type else column.cast(kind), name)
    if pa.types.is_dictionary(kind):  # polars uses string views, which Arrow cannot decode
        column = column.cast(pa.dictionary(kind.index_type, pa.string())).cast(pa.string())
    elif pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        column = column.cast(pa.string())
    return one_chunk(column)


def values_as_text(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return a column of texts, numbers or the like as texts.

    Raises
    ------
    InputError
        If the column holds lists or the like; the message calls it `name`.
    """
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        kind = shortened(str(column.type))
        raise InputError(f"column {quoted(name)} has values of {kind}, not one a row") from error


# what characters and numbers in one line do not have: lines, brackets, fields, empty cells, points
_OTHER_FORMS = r"[\n\[:]|[,;\t][ \t]*[,;\t]|^[,;]|[,;]$|[0-9]\.0[ ,;\t]|[Nn]a[Nn]\b"
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
    other = pa.array(is_other)
    lines = [grid_texts.in_one_line(each) for each in text.filter(other).to_pylist()]
    return pc.replace_with_mask(text, other, pa.array(lines, pa.string()))


def _with_lists(text: pa.Array) -> pa.Array:
    """Write lists of N² whole numbers, or of N such rows, in one line; the core reads these."""
    if not (are_lists := _match(text, _LIST)).any():
        return text
    lists = written = text.filter(pa.array(are_lists))
    for old, new in (("null", "."), ("None", "."), ("[", " "), ("\n", " ")):
        lists = pc.replace_substring(lists, old, new)
    rows = pc.split_pattern(lists, "]")
    owners, sizes = np.asarray(pc.list_parent_indices(rows)), n_words(rows.flatten())
    are_square = _are_square(owners, sizes, len(lists))
    lists = pc.replace_substring(lists, "]", " ")
    are_square &= forms(lists) != NO_FORM
    lists = pc.if_else(are_square, pc.ascii_trim(lists, " "), written)
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


def pencil_marks(text: pa.Array, lines: pa.Array) -> dict[int, str]:
    """Return the marks of the grids of pencil marks among texts, by their places.

    Only texts are looked at that are others in `lines`, where all are in one line.
    """
    if lines is text:
        return {}
    some = np.flatnonzero(pc.fill_null(pc.not_equal(text, lines), False))
    some = some[_match(text.take(pa.array(some)), _SEVERAL)]
    marks = map(grid_texts.pencil_marks, text.take(pa.array(some)).to_pylist())
    return {k: each for k, each in zip(some.tolist(), marks, strict=True) if each}


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
    values, rows = one_chunk(column), np.arange(len(column))
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
    if pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
        texts = _of_fractions(values.cast(pa.float64()))
    elif pa.types.is_integer(values.type):
        texts = values.cast(pa.string())
    else:
        texts = as_text(pa.chunked_array([values]), name)
        texts = pc.if_else(pc.equal(pc.ascii_trim_whitespace(texts), ""), None, texts)
    texts = pc.fill_null(texts, ".")
    are_square = _are_square(owners, sizes, len(column))
    if not are_square.all():
        is_last = np.isin(np.arange(len(rows)), np.cumsum(sizes) - 1) & ~are_square[rows]
        texts = pc.if_else(is_last, pc.binary_join_element_wise(texts, "", "\n"), texts)
    offsets = np.zeros(len(column) + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=len(column)), out=offsets[1:])
    return pc.binary_join(pa.ListArray.from_arrays(offsets, texts), " ")


# ---- texts as numbers ----------------------------------------------------------------------

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
    found = {}
    for name in names:
        values = table[name].filter(pc.not_equal(table[name], ""))
        found[name] = [kind for kind in _KINDS if _holds(values, kind)]
    return found


def number_types(found: Iterable[Kinds]) -> dict[str, pa.DataType]:
    """Return the types of the columns that hold only numbers in all parts of a table.

    Examples
    --------
    >>> parts = pa.table({"id": ["7"]}), pa.table({"id": ["1.5"]}), pa.table({"id": [""]})
    >>> number_types(number_kinds(["id"], part) for part in parts)
    {'id': DataType(double)}
    """
    common: Kinds = {}
    for kinds in found:
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
    schema = retyped(table.schema, types)
    return pa.Table.from_arrays(list(columns.values()), schema=schema)


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


# ---- tables of other libraries --------------------------------------------------------------

CONVERT = "convert it, or leave it out"


class DataFrame(Protocol):
    """A data frame of pandas or polars, or a table of Arrow."""

    @property
    def columns(self) -> Any:
        """Its columns, or their names."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        ...


Frame = TypeVar("Frame", bound=DataFrame)


def arrow_table(table: Any) -> pa.Table:
    """Return a table of another library as an Arrow table, without a copy where possible.

    Parameters
    ----------
    table : pyarrow.Table, pandas or polars data frame, or anything with ``__arrow_c_stream__``
        An index of pandas is left out.

    Raises
    ------
    InputError
        If the argument is not a table, or has a column that Arrow has no type for.

    Examples
    --------
    >>> arrow_table(pa.record_batch({"puzzle": ["1.....2..3.....4"]})).num_rows
    1
    """
    is_pandas, kind = _library(table) == "pandas", type(table)
    is_column = hasattr(kind, "__len__") and not hasattr(kind, "columns")
    if is_column or not (is_pandas or hasattr(table, "__arrow_c_stream__")):
        raise InputError(
            f"a table is one of Arrow, a data frame of pandas or polars, or has "
            f"__arrow_c_stream__, {wrong_kind(table)}"
        )
    try:
        if is_pandas:
            made = pa.Table.from_pandas(_for_arrow(table), preserve_index=False)
        else:
            made = pa.table(table)
    except Exception as error:  # libraries raise what they like
        cells = getattr(table, "iloc", table)
        for k, name in enumerate(getattr(table, "columns", ())):
            _series(cells[:, k], f"column {quoted(name)}", name)
        raise InputError(f"the table: {shortened(first_line(error))}; {CONVERT}") from error
    for k, (name, column) in enumerate(zip(made.column_names, made.columns, strict=True)):
        what = f"column {quoted(name)}"
        if _library(table) == "polars" and str(table.dtypes[k]) == "Object":
            raise InputError(f"{what} holds objects of Python; {CONVERT}")
        _checked(column, what)
    return made


def with_columns_of(
    answered: pa.Table, given: Any, rows: Any = None, changed: Sequence[int] = ()
) -> Any:
    """Return an answered table as a table of the library of the given one.

    Parameters
    ----------
    answered : pyarrow.Table
        The columns of `given`, perhaps renamed, then the columns of answers.
    given : object
        The argument of `arrow_table`; names of files are answered by `answered` itself.
    rows : ndarray of int64, optional
        The rows of `given` that were taken; by default all.
    changed : sequence of int
        The places of the columns of `given` that hold other values now.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        A data frame of pandas keeps the index (unless rows are changed), the columns, their types
        and their labels of `given`; integers and booleans among the answers are nullable
        (``Int64``, ``boolean``), and lists are what they are in `given`: lists, tuples, or arrays
        of one or two dimensions.
    """
    library = _library(given)
    if library == "polars":
        return type(given)(answered)
    if library != "pandas":
        schema = getattr(given, "schema", None)
        return answered.replace_schema_metadata(getattr(schema, "metadata", None))
    pandas: Any = sys.modules[library]
    given = given if rows is None else given.take(rows)
    given = given.reset_index(drop=True) if changed else given
    new = [*changed, *range(given.shape[1], answered.num_columns)]
    nullable = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype()}
    answers = answered.select(new).to_pandas(types_mapper=nullable.get)
    answers = _with_cells_of(given, answers, answered)
    answers.index = given.index
    names = zip(given.columns, answered.column_names, strict=False)
    frame = given.set_axis([c if str(c) == name else name for c, name in names], axis=1)
    for place in changed:
        kind, field = given.dtypes.iloc[place], answered.schema.field(place)
        column = answers.pop(field.name)
        is_kept = is_text(field.type) and isinstance(kind, pandas.StringDtype | pandas.ArrowDtype)
        frame.isetitem(place, column.astype(kind) if is_kept else column)
    return frame.assign(**dict(answers.items()))


def _with_cells_of(given: Any, frame: Any, made: pa.Table) -> Any:
    """Return a data frame of pandas, its lists as cells of the types of a given one.

    Parameters
    ----------
    given : pandas.DataFrame
    frame : pandas.DataFrame
        Columns of `made`.
    made : pyarrow.Table
        The columns of `given`, perhaps renamed, then others.
    """
    kinds = made.schema.types[: given.shape[1]]
    for name in frame.columns:
        kind = made.schema.field(name).type
        if is_list(kind) and kind in kinds:
            frame[name] = _cells(made[name], given.iloc[:, kinds.index(kind)])
    return frame


def _cells(column: pa.ChunkedArray, like: Any) -> Any:
    """Return a column of lists as cells of the type of those of a series of pandas."""
    pandas: Any = sys.modules["pandas"]
    if isinstance(like.dtype, pandas.ArrowDtype):
        return pandas.Series(pandas.arrays.ArrowExtensionArray(column))
    cell = next((each for each in like if isinstance(each, list | tuple | np.ndarray)), [])
    make = partial(_array, cell.dtype) if isinstance(cell, np.ndarray) else type(cell)
    cells = [None if each is None else make(each) for each in column.to_pylist()]
    return pandas.Series(cells, dtype=object)


def _array(kind: np.dtype[Any], values: list[Any]) -> np.ndarray[Any, Any]:
    """Return a cell as an array; whole numbers with null among them are floating-point ones."""
    array = np.array(values, object)
    has_null = any(value is None for value in array.flat)
    return array.astype(np.float64 if has_null and kind.kind in "iu" else kind)


def _for_arrow(frame: Any) -> Any:
    """Return a data frame of pandas that Arrow takes.

    Arrays of two dimensions are lists of arrays, and categories that are intervals are texts.
    """
    squares: dict[int, Any] = {}
    for place, kind in enumerate(frame.dtypes):
        cells = frame.iloc[:, place] if str(kind) == "object" else ()
        first = next((cell for cell in cells if cell is not None), None)
        if str(kind) == "category" and "interval" in str(kind.categories.dtype):
            squares[place] = frame.iloc[:, place].cat.rename_categories(str)
        if isinstance(first, np.ndarray) and first.ndim == 2:
            squares[place] = [None if cell is None else list(cell) for cell in cells]
    if squares:
        frame = frame.copy(deep=False)
    for place, lists in squares.items():
        frame.isetitem(place, lists)
    return frame


def without_views(table: pa.Table) -> pa.Table:
    """Return a table without views of texts, from which Arrow cannot take rows.

    Examples
    --------
    >>> table = pa.table({"id": pa.array(["a"], pa.string_view())})
    >>> without_views(table)["id"].type
    DataType(string)
    """
    return table.cast(pa.schema([field.with_type(_no_view(field.type)) for field in table.schema]))


def _no_view(kind: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_string_view(kind):
        return pa.string()
    if types.is_binary_view(kind):
        return pa.binary()
    if types.is_large_list(kind):
        return pa.large_list(_no_view(kind.value_type))
    if types.is_struct(kind):
        return pa.struct([field.with_type(_no_view(field.type)) for field in kind])
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _no_view(kind.value_type), kind.ordered)
    return kind


def text_column(values: Any) -> pa.ChunkedArray | None:
    """Return texts as an Arrow column, or None if the values are not texts.

    Parameters
    ----------
    values : list of str, Arrow array, or series of pandas or polars
        Arrays and series may also hold a list of numbers for each grid.

    Examples
    --------
    >>> text_column(["1.....2..3.....4", None]).type, text_column([[1, 2], [2, 1]])
    (DataType(string), None)
    """
    if isinstance(values, pa.Array):
        values = pa.chunked_array([values])
    if _library(values) == "pandas" or hasattr(values, "__arrow_c_stream__"):
        what = "the array" if isinstance(values, pa.ChunkedArray) else "the series"
        if (column := _series(values, what)) is None:
            return None
        check_holds_texts(column.type, what)
        return column
    if not isinstance(values, Sequence | np.ndarray) or getattr(values, "ndim", 1) != 1:
        return None
    array = values
    if isinstance(values, np.ndarray):
        array = np.array(values, dtype=object)
        if np.ma.is_masked(values):
            array[np.ma.getmaskarray(values)] = None
    if all(isinstance(value, list | tuple) for value in array):
        are_rows = [value and all(isinstance(row, str) for row in value) for value in array]
        array = ["\n".join(value) for value in array] if any(are_rows) else array
    has_text = any(isinstance(value, str) for value in array)
    if has_text or all(value is None or isinstance(value, float) for value in array):
        return pa.chunked_array([_texts(array)])
    return None


def _texts(values: Any) -> pa.Array:
    """Return texts as an Arrow array; None and NaN become null."""
    try:
        return pa.array(values, pa.string(), from_pandas=True)
    except (pa.ArrowException, UnicodeEncodeError) as error:
        row = next(row for row, value in enumerate(values) if not _is_utf8(value))
        raise InputError(
            f"grid {row}: {quoted(values[row])} is not text of UTF-8; give all puzzles as text, or "
            f"all as digits"
        ) from error


def _is_utf8(value: Any) -> bool:
    with suppress(pa.ArrowException, UnicodeEncodeError):
        return len(pa.array([value], pa.string(), from_pandas=True)) == 1
    return False


def _series(values: Any, what: str, name: str | None = None) -> pa.ChunkedArray | None:
    """Return a series as an Arrow column; None for values of several dimensions."""
    if getattr(values, "ndim", 1) != 1:
        return None
    try:
        if hasattr(values, "__arrow_c_stream__"):
            column = pa.chunked_array(values)
        else:
            column = pa.chunked_array([pa.Array.from_pandas(values)])
    except Exception as error:  # libraries raise what they like
        if isinstance(error, OverflowError) or str(values.dtype).endswith("Int128"):
            raise no_grids(what, "integers of more than 64 bits", name) from error
        raise InputError(f"{what}: {shortened(first_line(error))}; {CONVERT}") from error
    return _checked(column, what)


def _checked(column: pa.ChunkedArray, what: str) -> pa.ChunkedArray:
    """Return a column unchanged; raise if it is damaged or its type does not fit a table."""
    try:
        column.validate(full=True)
        pa.schema([("", storage_of(column.type))]).empty_table()
    except pa.ArrowException as error:
        raise InputError(f"{what}: {shortened(first_line(error))}; {CONVERT}") from error
    return column


def _library(value: Any) -> str:
    """Return the name of the library of a value."""
    return type(value).__module__.partition(".")[0]
