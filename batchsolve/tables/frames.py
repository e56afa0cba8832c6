"""Tables and columns of other libraries: from them to Arrow, and back.

They come through Arrow's PyCapsule interface, which pandas, polars, DuckDB, `datasets` and others
speak; none of them is imported here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from batchsolve.errors import InputError, first_line, listed, not_but, shortened

INT64_BITS = 63
TOO_LARGE = (
    "holds integers of more than 64 bits, which do not keep leading zeros; store grids as text: "
    "pandas.read_csv reads them so with dtype=str"
)


def arrow_table(table: Any) -> pa.Table:
    """Return a table of another library as one of Arrow, sharing its memory where possible.

    Parameters
    ----------
    table : pyarrow.Table, pandas or polars data frame, or anything with ``__arrow_c_stream__``
        An index of pandas is left out.

    Raises
    ------
    InputError
        If it is no table, or has a column that Arrow has no type for.

    Examples
    --------
    >>> arrow_table(pa.record_batch({"puzzle": ["1.....2..3.....4"]})).num_rows
    1
    """
    try:
        if _library(table) == "pandas" and hasattr(table, "columns"):
            return pa.Table.from_pandas(table, preserve_index=False)
        if isinstance(table, pa.RecordBatch):
            return pa.Table.from_batches([table])
        if hasattr(table, "__arrow_c_stream__"):
            return pa.table(table)
    except OverflowError as error:
        names = (name for name, column in table.items() if max(map(_bits, column)) > INT64_BITS)
        raise InputError(f"column {listed(names)} {TOO_LARGE}") from error
    except (pa.ArrowException, ValueError) as error:
        raise InputError(f"the table: {first_line(error)}") from error
    raise InputError(
        f"a table is one of Arrow, a data frame of pandas or polars, or has __arrow_c_stream__, "
        f"{not_but(table)}"
    )


def with_columns_of(answered: pa.Table, given: Any) -> Any:
    """Return an answered table in the form of the one it was made from.

    Parameters
    ----------
    answered : pyarrow.Table
        The columns of `given`, perhaps renamed, and others behind them.
    given : object
        What `arrow_table` was given.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        That of pandas has the index and the very columns that were given; integers and booleans
        beside them are nullable ones (``Int64``, ``boolean``).
    """
    library = _library(given)
    if library == "polars":
        return type(given)(answered)
    if library != "pandas":
        return answered
    pandas: Any = sys.modules[library]
    n_given = given.shape[1]
    nullable = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype()}
    answers = answered.select(range(n_given, answered.num_columns)).to_pandas(
        types_mapper=nullable.get
    )
    answers.index = given.index
    return given.set_axis(answered.column_names[:n_given], axis=1).assign(**dict(answers.items()))


def text_column(values: Any) -> pa.ChunkedArray | None:
    """Return texts as a column of Arrow, or None if the values are no texts.

    Parameters
    ----------
    values : list of str, Arrow array, or series of pandas or polars
        Those of Arrow and series may also hold lists of numbers, one for each grid.

    Examples
    --------
    >>> text_column(["1.....2..3.....4", None]).type, text_column([[1, 2], [2, 1]])
    (DataType(string), None)
    """
    if isinstance(values, pa.Array):
        return pa.chunked_array([values])
    if isinstance(values, pa.ChunkedArray):
        return values
    if _library(values) == "pandas" or hasattr(values, "__arrow_c_stream__"):
        column = _series(values)
        return None if pa.types.is_struct(column.type) else column
    if not isinstance(values, Sequence | np.ndarray):
        return None
    array = values
    if isinstance(values, np.ndarray):
        array = np.array(values, dtype=object)
        if np.ma.is_masked(values):
            array[np.ma.getmaskarray(values)] = None
    is_column = getattr(array, "ndim", 1) == 1
    if is_column and all(value is None or isinstance(value, str) for value in array):
        return pa.chunked_array([pa.array(array, pa.string())])
    return None


def _series(values: Any) -> pa.ChunkedArray:
    if getattr(values, "ndim", 1) != 1:
        return pa.chunked_array([], pa.struct([]))
    try:
        if hasattr(values, "__arrow_c_stream__"):
            return pa.chunked_array(values)
        return pa.chunked_array([pa.Array.from_pandas(values)])
    except OverflowError as error:
        raise InputError(f"the series {TOO_LARGE}") from error
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"the series: {shortened(first_line(error))}") from error


def _bits(value: Any) -> int:
    """Return the bits of an integer of Python, or 0 for any other value."""
    return value.bit_length() if isinstance(value, int) else 0


def _library(value: Any) -> str:
    """Return the name of the library that a value is of."""
    return type(value).__module__.partition(".")[0]
