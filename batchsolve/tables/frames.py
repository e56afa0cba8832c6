"""Tables and columns of other libraries.

They become those of Arrow, and these become theirs again, by Arrow's PyCapsule interface, which
pandas, polars, DuckDB, `datasets` and others implement; none of them is imported here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from math import isqrt
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from batchsolve.core.arrays import is_masked
from batchsolve.errors import InputError, first_line, quoted, shortened, wrong_kind
from batchsolve.problems.notation import default_box
from batchsolve.tables.columns import check_holds_texts, is_list, is_text, no_grids, storage_of

CONVERT = "convert it, or leave it out"
_PLACE = re.compile(r"\d+|^[A-Za-z](?=\d+$)")  # of a cell, in the name of its column


class DataFrame(Protocol):
    """A data frame of pandas or polars, or a table of Arrow."""

    @property
    def columns(self) -> Any:
        """Its columns, or their names."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""


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
    is_pandas, kind = library_of(table) == "pandas", type(table)
    is_column = hasattr(kind, "__len__") and not hasattr(kind, "columns")
    if is_column or not (is_pandas or hasattr(table, "__arrow_c_stream__")):
        raise InputError(
            f"a table is one of Arrow, a data frame of pandas or polars, or has "
            f"__arrow_c_stream__, {wrong_kind(table)}"
        )
    try:
        if is_pandas:
            arrow = pa.Table.from_pandas(_for_arrow(table), preserve_index=False)
        else:
            arrow = pa.table(table)
        if any(not len(chunk) for column in arrow.columns for chunk in column.chunks):
            # Arrow cannot take rows of a column that has an empty slice
            arrow = pa.Table.from_batches(filter(len, arrow.to_batches()), arrow.schema)
    except Exception as error:  # libraries raise what they like
        cells = getattr(table, "iloc", table)
        for k, name in enumerate(getattr(table, "columns", ())):
            _series(cells[:, k], f"column {quoted(name)}", name)
        raise InputError(f"the table: {shortened(first_line(error))}; {CONVERT}") from error
    for k, (name, column) in enumerate(zip(arrow.column_names, arrow.columns, strict=True)):
        what = f"column {quoted(name)}"
        if library_of(table) == "polars" and str(table.dtypes[k]) == "Object":
            raise InputError(f"{what} holds objects of Python; {CONVERT}")
        _checked(column, what)
    return arrow


def with_columns_of(
    answered: pa.Table, original: Any, rows: Any = None, changed: Sequence[int] = ()
) -> Any:
    """Return an answered table as a table of the library of the given one.

    Parameters
    ----------
    answered : pyarrow.Table
        The columns of `original`, perhaps renamed, then the columns of answers.
    original : object
        The argument of `arrow_table`; names of files are answered by `answered` itself.
    rows : ndarray of int64, optional
        The rows of `original` that were taken; by default all.
    changed : sequence of int
        The places of the columns of `original` that hold other values now.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        A data frame of pandas keeps the index (unless rows are changed), the columns, their types
        and their labels of `original`; integers and booleans among the answers are nullable
        (``Int64``, ``boolean``), and lists are what they are in `original`: lists, tuples, or
        arrays of one or two dimensions. Columns of cells, which became one, are left out.
    """
    library = library_of(original)
    if library == "polars":
        # it takes no slice of lists of one length; derived classes may be made of other arguments
        return sys.modules[library].DataFrame(answered.combine_chunks())
    if library != "pandas":
        schema = getattr(original, "schema", None)
        return answered.replace_schema_metadata(getattr(schema, "metadata", None))
    pandas: Any = sys.modules[library]
    cells = {*cell_columns([*map(str, original.columns)])}.difference(answered.column_names)
    if cells:
        original = original.loc[:, [str(name) not in cells for name in original.columns]]
    original = original if rows is None else original.take(rows)
    original = original.reset_index(drop=True) if changed else original
    changed = [place for place in changed if place < original.shape[1]]  # others are new
    new = [*changed, *range(original.shape[1], answered.num_columns)]
    nullable = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype()}
    answers = answered.select(new).to_pandas(types_mapper=nullable.get)
    answers = _with_cells_of(original, answers, answered)
    answers.index = original.index
    names = zip(original.columns, answered.column_names, strict=False)
    labels = [c if str(c) == name else name for c, name in names]
    frame = original if labels == list(original.columns) else original.set_axis(labels, axis=1)
    for place in changed:
        kind, field = original.dtypes.iloc[place], answered.schema.field(place)
        column = answers.pop(field.name)
        is_kept = is_text(field.type) and isinstance(kind, pandas.StringDtype | pandas.ArrowDtype)
        frame.isetitem(place, column.astype(kind) if is_kept else column)
    return frame.assign(**dict(answers.items()))


def _with_cells_of(original: Any, frame: Any, answered: pa.Table) -> Any:
    """Return a data frame of pandas, its lists as cells of the types of a given one.

    Parameters
    ----------
    original : pandas.DataFrame
    frame : pandas.DataFrame
        Columns of `answered`.
    answered : pyarrow.Table
        The columns of `original`, perhaps renamed, then others.
    """
    kinds = answered.schema.types[: original.shape[1]]
    for name in frame.columns:
        kind = answered.schema.field(name).type
        if is_list(kind) and kind in kinds:
            frame[name] = _cells(answered[name], original.iloc[:, kinds.index(kind)])
    return frame


def _cells(column: pa.ChunkedArray, like: Any) -> Any:
    """Return a column of lists as cells of the type of those of a series of pandas."""
    pandas: Any = sys.modules["pandas"]
    if isinstance(like.dtype, pandas.ArrowDtype):
        return pandas.Series(pandas.arrays.ArrowExtensionArray(column))
    cell = next((cell for cell in like if isinstance(cell, list | tuple | np.ndarray)), [])
    make = partial(_array, cell.dtype) if isinstance(cell, np.ndarray) else type(cell)
    cells = [None if cell is None else make(cell) for cell in column.to_pylist()]
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
    frame = frame.copy(deep=False)
    for place, kind in enumerate(frame.dtypes):
        cells = frame.iloc[:, place] if str(kind) == "object" else ()
        # None and NaN have no length
        first = next((cell for cell in cells if hasattr(cell, "__len__")), None)
        if str(kind) == "category" and "interval" in str(kind.categories.dtype):
            frame.isetitem(place, frame.iloc[:, place].cat.rename_categories(str))
        if isinstance(first, np.ndarray) and first.ndim == 2:
            lists = [list(cell) if isinstance(cell, np.ndarray) else cell for cell in cells]
            frame.isetitem(place, lists)
    return frame


def cell_columns(names: Sequence[str]) -> list[str]:
    """Return the N² columns that can be the cells of grids, by their names; none if it is unclear.

    The names are alike but for numbers, or a letter and a number, and these are in order.

    Examples
    --------
    >>> cell_columns(["id", *(f"c{k}" for k in range(16))])[-2:]
    ['c14', 'c15']
    """
    kinds: dict[str, dict[str, list[tuple[int, str]]]] = {}
    for name in names:
        place = [(len(part), part) for part in _PLACE.findall(name)]
        kinds.setdefault(_PLACE.sub("#", name), {})[name] = place
    sets = []
    for kind in kinds.values():
        n, places = isqrt(len(kind)), list(kind.values())
        orders = places, [place[::-1] for place in places]
        if n * n == len(kind) and default_box(n) and any(o == sorted(o) for o in orders):
            sets += [list(kind)] * (len({place[0] for place in places}) in (1, n, n * n))
    return sets[0] if len(sets) == 1 and len({*names}) == len(names) else []


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
    if library_of(values) == "pandas" or hasattr(values, "__arrow_c_stream__"):
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
        if is_masked(values):
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


def library_of(value: Any) -> str:
    """Return pandas or polars if a value is of a class of theirs, or of one derived from it."""
    modules = {kind.__module__.partition(".")[0] for kind in type(value).__mro__}
    return next((name for name in ("pandas", "polars") if name in modules), "")
