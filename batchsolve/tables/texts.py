"""Columns of a table as texts in one line, the form in which grids are read; and as numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from batchsolve.core.arrays import Bools, Ints
from batchsolve.errors import InputError, prefixed, quoted, shortened
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


def bytes_of(column: pa.Array) -> pa.Buffer:
    """Return the bytes of texts, one after another."""
    _, offsets, data = column.buffers()
    if data is None:
        return pa.py_buffer(b"")
    is_large = pa.types.is_large_string(column.type)
    bounds = np.frombuffer(offsets, np.int64 if is_large else np.int32)
    begin, end = bounds[column.offset], bounds[column.offset + len(column)]
    return data.slice(begin, end - begin)


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
