"""Text columns that hold numbers only: they are found, and made columns of numbers."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

# the first that fits is chosen
_FORMS = {pa.int64(): r"^(0|-?[1-9][0-9]{0,17})$", pa.float64(): r"^-?[0-9]+(\.[0-9]+)?$"}


def number_types(tables: Iterable[pa.Table], names: Iterable[str]) -> dict[str, pa.DataType]:
    """Return the types of text columns that hold only numbers, in all of some tables.

    Each value must be empty, or a number as Arrow writes it, with or without ``.0``: ``007`` and
    ``1.50`` are text, and so are 81 digits. Tables are read while some column may hold numbers.

    Examples
    --------
    >>> table = pa.table({"id": ["7", ""], "zip": ["007", "8"], "rating": ["1.5", "7.0"]})
    >>> number_types([table], table.column_names)
    {'id': DataType(int64), 'rating': DataType(double)}
    """
    forms = {name: list(_FORMS) for name in names}
    has_values = set()
    for table in tables if forms else ():
        for name, kinds in list(forms.items()):
            values = table[name].filter(pc.not_equal(table[name], ""))
            if len(values):
                has_values.add(name)
                forms[name] = [kind for kind in kinds if _holds(values, kind)]
        forms = {name: kinds for name, kinds in forms.items() if kinds}
        if not forms:
            break
    return {name: kinds[0] for name, kinds in forms.items() if name in has_values}


def as_numbers(text: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Return a column that `number_types` has found as one of numbers, null where it is empty."""
    return pc.if_else(pc.equal(text, ""), None, text).cast(kind)


def _holds(values: pa.ChunkedArray, kind: pa.DataType) -> bool:
    if not pc.all(pc.match_substring_regex(values, _FORMS[kind])).as_py():
        return False
    plain = pc.replace_substring_regex(values, r"\.0$", "")
    return bool(values.cast(kind).cast(pa.string()).equals(plain))
