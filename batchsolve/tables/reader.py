"""Reading blocks of a corpus: digits from text, numbers from text, and the faults of rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from batchsolve.errors import InputError, quoted, shortened
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import Notation, buffers
from batchsolve.problems.stacks import Group
from batchsolve.tables.blocks import Block, is_list, one_chunk, with_values
from batchsolve.tables.rule_columns import Part, RuleColumns

AS_TEXT = (
    "which do not keep leading zeros; store grids as text: pandas reads them so with dtype=str, "
    "polars with schema_overrides={'puzzle': pl.String}"
)
FILENAME = pa.field("filename", pa.string())


@dataclass(frozen=True, eq=False)
class Batch:
    """Some consecutive rows as a `Reader` returns them.

    Attributes
    ----------
    table : pyarrow.Table
        The input columns.
    puzzles : ndarray of uint8, shape (n, N²)
        Digits, all 0 in malformed rows.
    given : ndarray of uint8, shape (n, N²), or None
        The given solutions, all 0 in rows without one.
    has_given : ndarray of bool, shape (n,), or None
        True in rows whose given solution is not empty.
    faults : dict of int to str
        The faults of malformed rows.
    parts : list of (GridProblem, ndarray of int64)
        The problems of the rows, and the numbers of the rows that are their grids.
    own : dict of str to pyarrow.Array
        The columns that give rows rules of their own, as text.
    number : int
        The number of the block in the output.
    records : bytes or pyarrow.Table
        The records that were parsed.
    """

    table: pa.Table
    puzzles: npt.NDArray[np.uint8]
    given: npt.NDArray[np.uint8] | None
    has_given: npt.NDArray[np.bool_] | None
    faults: dict[int, str]
    parts: list[Part]
    own: dict[str, pa.Array] = field(default_factory=dict)
    number: int = 0
    records: bytes | pa.Table = b""

    def __len__(self) -> int:
        return len(self.puzzles)

    def groups(self) -> list[Group]:
        """Return the stacks of the well-formed rows, with row numbers as roots."""
        good = np.ones(len(self), np.bool_)
        good[list(self.faults)] = False
        groups = []
        for problem, rows in self.parts:
            if self.faults:
                rows = rows[good[rows]]
            puzzles = self.puzzles if len(rows) == len(self) else self.puzzles[rows]
            groups.append(Group(problem, problem.stacks(puzzles).with_roots(rows)))
        return groups

    def explain_clashes(self, clashes: npt.NDArray[np.int32]) -> dict[int, str | None]:
        """Return the clues that clash in some rows, given the position of a clue or -1 for each."""
        found: dict[int, str | None] = {}
        for problem, rows in self.parts:
            for row in rows[clashes[rows] >= 0].tolist():
                one = problem.of_row(row)
                stack = one.stack(self.puzzles[row]).tolist()
                found[row] = one.explain_clash(stack, int(clashes[row]))
        return found

    def first_clashes(self) -> npt.NDArray[np.int64]:
        """Return for each row the position of a clue that clashes, or -1; 0 for malformed rows."""
        clashes = np.zeros(len(self), np.int64)
        for problem, rows in self.parts:
            clashes[rows] = problem.at(rows).first_clashes(self.puzzles[rows])
        clashes[list(self.faults)] = 0
        return clashes

    def check(self, wanted: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return True for each wanted row whose given solution is right, without any engine."""
        assert self.given is not None
        right = np.zeros(len(self), np.bool_)
        is_wanted = np.zeros(len(self), np.bool_)
        is_wanted[wanted] = True
        for problem, rows in self.parts:
            some = rows[is_wanted[rows]]
            right[some] = problem.at(some).check(self.puzzles[some], self.given[some])
        return right[wanted]


@dataclass(frozen=True, eq=False)
class Reader:
    """The parser of the blocks of a corpus, as workers receive it.

    Attributes
    ----------
    input_schema : pyarrow.Schema
        The columns of the input.
    column, solution_column : str
        The puzzle column, and the solution column or None.
    problem : GridProblem
    notation, solution_notation : Notation
        The notations of puzzles and given solutions.
    filename : bool
        Add the column `FILENAME`.
    rules : RuleColumns
        The rules of all rows, and the columns of their own rules.
    numbers : mapping of str to pyarrow.DataType
        Text columns to convert to numbers; see `number_types`.
    """

    input_schema: pa.Schema
    column: str
    solution_column: str | None
    problem: GridProblem
    notation: Notation
    solution_notation: Notation
    rules: RuleColumns
    filename: bool = False
    numbers: Mapping[str, pa.DataType] = field(default_factory=dict)

    @property
    def schema(self) -> pa.Schema:
        """The columns of `Batch.table`."""
        schema = retyped(self.input_schema, self.numbers)
        return schema.append(FILENAME) if self.filename else schema

    def read(self, block: Block) -> Batch:
        """Parse a block and decode its grids.

        Raises
        ------
        InputError
            If the block is not UTF-8 text; a `RowsError` if its JSON objects have other fields than
            the first ones of the file.
        """
        records = block.records()
        rows = replace(block, data=records).rows()
        text = as_text(rows.table[self.column], self.column)
        puzzles, wrong = _encoded(self.notation, text)
        faults = {
            k: self.notation.explain(text[k].as_py() or "", int(wrong[k]))
            for k in np.flatnonzero(wrong != -1).tolist()
        }
        given = has_given = None
        if self.solution_column is not None:
            answers = as_text(rows.table[self.solution_column], self.solution_column)
            given, bad = _encoded(self.solution_notation, answers)
            has_given = bad == -1
            if not has_given.all():
                trimmed = pc.ascii_trim_whitespace(pc.fill_null(answers, ""))
                has_given = np.asarray(pc.greater(pc.binary_length(trimmed), 0))
        own = {name: as_text(_as_json(rows.table[name]), name) for name in self.rules.names}
        faults |= rows.faults
        parts = self.rules.parts(len(text), own, faults)
        table = with_numbers(rows.table, self.numbers) if self.numbers else rows.table
        if self.filename:
            table = table.append_column(FILENAME, pa.repeat(block.name, len(table)))
        return Batch(table, puzzles, given, has_given, faults, parts, own, block.number, records)


def _as_json(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return objects as JSON, without their null values; other columns as they are."""
    if not pa.types.is_struct(column.type):
        return column
    texts = [
        None if each is None else json.dumps({k: v for k, v in each.items() if v is not None})
        for each in column.to_pylist()
    ]
    return pa.chunked_array([pa.array(texts, pa.string())])


def _encoded(
    notation: Notation, text: pa.Array
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Encode a column of grids; join lines only if a grid fails, because line ends are rare."""
    grids, wrong = notation.encode(text)
    if (wrong != -1).any() and (lines := in_one_line(text)) is not text:
        return notation.encode(lines)
    return grids, wrong


def as_text(column: pa.ChunkedArray, name: str) -> pa.Array:
    """Return a column as one string array; lists become text with blanks between the elements.

    Raises
    ------
    InputError
        If the column holds neither texts nor lists; the message calls it `name`.
    """
    kind = column.type
    if column.null_count == len(column):
        return pa.nulls(len(column), pa.string())
    if is_list(kind):
        return _joined(column)
    if pa.types.is_dictionary(kind):  # polars uses string views, which Arrow cannot decode
        column = column.cast(pa.dictionary(kind.index_type, pa.string())).cast(pa.string())
    elif pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        column = column.cast(pa.string())
    elif not pa.types.is_string(kind):
        values = "integers" if pa.types.is_integer(kind) else f"values of {shortened(str(kind))}"
        raise InputError(f"column {quoted(name)} holds {values}, {AS_TEXT}")
    return one_chunk(column)


def in_one_line(text: pa.Array) -> pa.Array:
    """Join the lines of every value, and drop the brackets and quotes of lists.

    A grid in a quoted field can have one line per row, or be a list of JSON or Python.
    """
    data, _ = buffers(text)
    if np.any(data == ord("[")):
        bare = pc.replace_substring_regex(text, r"[\[\]\"']", " ")
        text = pc.if_else(pc.match_substring_regex(text, r"(?s)^\s*\[.*\]\s*$"), bare, text)
    if not np.any(data == ord("\n")):
        return text
    has_words = pc.match_substring_regex(text, r"\S[ \t,;]+\S")
    as_words = pc.replace_substring_regex(text, r"\s*\n\s*", " ")
    as_characters = pc.replace_substring_regex(text, r"\s*\n\s*", "")
    return pc.if_else(has_words, as_words, as_characters)


def _joined(column: pa.ChunkedArray) -> pa.Array:
    """Return lists as texts with blanks between the elements; null elements become ``.``."""
    inner = column.type.value_type
    if not (pa.types.is_integer(inner) or pa.types.is_string(inner)):  # lists of lists, and others
        texts = (" ".join(map(str, _flat(value))) if value else "" for value in column.to_pylist())
        return pa.array(texts, pa.string())
    lists = one_chunk(column).cast(pa.list_(pa.string()))
    whole = with_values(lists, pc.fill_null(lists.flatten(), "."))
    return pc.fill_null(pc.binary_join(whole, " "), "")


def _flat(value: object) -> Iterator[object]:
    if isinstance(value, list):
        for part in value:
            yield from _flat(part)
    else:
        yield "." if value is None else value


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


def number_kinds_of_block(names: Sequence[str], block: Block) -> Kinds:
    """Parse a block, and return the types that hold the values of its text columns."""
    return number_kinds(names, block.rows().table)


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
        text = columns[name]
        try:
            columns[name] = pc.if_else(pc.equal(text, ""), None, text).cast(kind)
        except pa.ArrowInvalid as error:
            raise InputError(
                f"the column {quoted(name)} held only numbers when it was read before ({error}); "
                f"begin again once nothing writes to the input"
            ) from error
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
