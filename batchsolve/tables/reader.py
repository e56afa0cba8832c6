"""Reading blocks of a corpus: digits from text, numbers from text, and the faults of rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from batchsolve.arrays import Bools, Bytes, Ints
from batchsolve.errors import InputError, quoted
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import Notation, usual_notation
from batchsolve.problems.overlaps import drawing_of
from batchsolve.problems.stacks import Group
from batchsolve.problems.survey import NO_FORM, Form, forms
from batchsolve.search.answers import Answers, Status
from batchsolve.tables.blocks import Block
from batchsolve.tables.rule_columns import CAGES, CONSTRAINTS, REGIONS
from batchsolve.tables.shapes import BOX, Grids, Shape, Shapes, Texts
from batchsolve.tables.sources import FILENAME
from batchsolve.tables.texts import as_json, as_text, in_one_line

_SIZE = re.compile(r'\.Shape~([0-9]{1,2})x|^\s*\{.*"size"\s*:\s*"?([0-9]{1,2})', re.DOTALL)
_USUAL = 9  # of constraints that say no size


@dataclass(frozen=True, eq=False)
class Batch:
    """Some consecutive rows as a `Reader` returns them.

    Attributes
    ----------
    table : pyarrow.Table
        The input columns.
    grids : list of Grids
        The grids of the rows, shape by shape; every row is in one of these.
    faults : dict of int to str
        The faults of malformed rows.
    number : int
        The number of the block in the output.
    records : bytes or pyarrow.Table
        The records that were parsed.
    """

    table: pa.Table
    grids: list[Grids]
    faults: dict[int, str]
    number: int = 0
    records: bytes | pa.Table = b""

    def __len__(self) -> int:
        return sum(len(grids.rows) for grids in self.grids)

    def groups(self) -> list[Group]:
        """Return the stacks of the well-formed rows, with row numbers as roots."""
        good = np.ones(len(self), np.bool_)
        good[list(self.faults)] = False
        groups: list[Group] = []
        for grids, problem, rows in self._parts():
            if self.faults:
                rows = rows[good[rows]]
            groups.append((problem, problem.stacks_of(grids.puzzles_of(rows), rows)))
        return groups

    def statuses(self, answers: Answers, limit: int) -> tuple[Bytes, dict[int, str | None]]:
        """Return the `Status` of every row, and the messages of some."""
        status = answers.status(limit)
        status[list(self.faults)] = Status.INVALID
        return status, answers.unfinished | self.explain_clashes(answers.clash) | self.faults

    def explain_clashes(self, clashes: npt.NDArray[np.int32]) -> dict[int, str | None]:
        """Return the clues that clash in some rows, given the position of a clue or -1 for each."""
        found: dict[int, str | None] = {}
        if clashes.max(initial=-1) < 0:
            return found
        for grids, problem, rows in self._parts():
            wrong = rows[clashes[rows] >= 0]
            stacks = problem.stacks(grids.puzzles_of(wrong))
            for row, stack in zip(wrong.tolist(), stacks, strict=True):
                one = problem.of_row(row)
                found[row] = one.explain_clash(stack.tolist(), int(clashes[row]))
        return found

    def first_clashes(self) -> Ints:
        """Return for each row the position of a clue that clashes, or -1; 0 for malformed rows."""
        clashes = np.zeros(len(self), np.int64)
        for grids, problem, rows in self._parts():
            clashes[rows] = problem.at(rows).first_clashes(grids.puzzles_of(rows))
        clashes[list(self.faults)] = 0
        return clashes

    def check(self, wanted: Ints) -> Bools:
        """Return True for each wanted row whose given solution is right, without any engine."""
        right = np.zeros(len(self), np.bool_)
        is_wanted = np.zeros(len(self), np.bool_)
        is_wanted[wanted] = True
        for grids, problem, rows in self._parts():
            some = rows[is_wanted[rows]]
            assert grids.given is not None
            given = grids.given[grids.places(some)]
            right[some] = problem.at(some).check(grids.puzzles_of(some), given)
        return right[wanted]

    def row(self, row: int) -> tuple[GridProblem, Bytes, Notation]:
        """Return the problem, the puzzle and the notation of a well-formed row."""
        grids, problem = next((g, p) for g, p, rows in self._parts() if row in rows)
        [puzzle] = grids.puzzles_of(np.array([row]))
        return problem.of_row(row), puzzle, grids.shape.notation

    def _parts(self) -> Iterator[tuple[Grids, GridProblem, Ints]]:
        """Yield each problem, the rows that are its grids, and all grids of that shape."""
        for grids in self.grids:
            for problem, rows in grids.parts:
                yield grids, problem, rows


@dataclass(frozen=True)
class BlankGrids:
    """The puzzles of a table that has no column of puzzles: blank grids, in a column of their own.

    Attributes
    ----------
    name : str
        The column.
    solution_column : str, optional
        The column of solutions, whose form the grids have.
    rule_columns : tuple of str
        The columns of rules. Regions, cages and constraints tell the size of rows without solution.
    usual : int, optional
        The size of the other rows; by default, their grids are empty texts.
    """

    name: str
    solution_column: str | None
    rule_columns: tuple[str, ...]
    usual: int | None = None

    @property
    def columns(self) -> list[str]:
        """The columns that tell the sizes, the most reliable first."""
        sizing = [name for name in (REGIONS, CAGES, CONSTRAINTS) if name in self.rule_columns]
        return ([self.solution_column] if self.solution_column else []) + sizing

    def texts(self, table: pa.Table) -> pa.Array:
        """Return the blank grids of the rows of a table."""
        codes = np.full(len(table), NO_FORM)
        drawings: dict[int, str] = {}
        for name in self.columns:
            text = as_text(as_json(table[name]), name)
            if name == self.solution_column:
                each = enumerate(text.to_pylist() if "#" in "".join(text[:1].to_pylist()) else ())
                drawings = {row: drawn for row, one in each if (drawn := drawing_of(one or ""))}
                found = forms(in_one_line(text))
            else:
                found = _said(text)
                if name != CONSTRAINTS:
                    are_labels = pc.invert(pc.match_substring_regex(text, r"^\s*(\[|[0-9]+;)"))
                    are_labels = np.asarray(pc.fill_null(are_labels, False))
                    found = np.where(are_labels, forms(in_one_line(text)), found)
                found = _codes(found // 2)
            codes = np.where(codes == NO_FORM, found, codes)
        if self.usual is not None:
            codes = np.where(codes == NO_FORM, _codes(np.array([self.usual])), codes)
        kinds, which = np.unique(codes, return_inverse=True)
        made = pa.array([_blank(Form.of(code)) for code in kinds.tolist()], pa.string())
        texts = made.take(pa.array(which))
        if not drawings:
            return texts
        return pa.array([drawings.get(row, one) for row, one in enumerate(texts.to_pylist())])


def _codes(sizes: Ints) -> Ints:
    """Return the usual forms of grids of some sizes; `NO_FORM` for 0."""
    usual = [Form(n, not usual_notation(n).symbols).code if n else NO_FORM for n in sizes.tolist()]
    return np.array(usual, np.int64)


def _blank(form: Form) -> str:
    return (" " if form.as_numbers else "").join("." * form.n_digits**2)


def _said(text: pa.Array) -> Ints:
    """Return the numbers of forms of the sizes that constraints say, 0 for empty texts."""
    sizes = []
    for one in text.to_pylist():
        found = _SIZE.search(one) if one else None
        said = int(found[1] or found[2]) if found else _USUAL
        sizes.append(Form(said, False).code if one and one.strip() else NO_FORM)
    return np.array(sizes, np.int64)


@dataclass(frozen=True, eq=False)
class Reader:
    """The parser of the blocks of a corpus, as workers receive it.

    Attributes
    ----------
    input_schema : pyarrow.Schema
        The columns of the input.
    column, solution_column : str
        The puzzle column, and the solution column or None.
    shapes : Shapes
        The shapes that rows may have.
    filename : bool
        Add the column `FILENAME`.
    numbers : mapping of str to pyarrow.DataType
        Text columns to convert to numbers; see `number_types`.
    blank : BlankGrids, optional
        The puzzles of tables without a column of them; the column is added.
    """

    input_schema: pa.Schema
    column: str
    solution_column: str | None
    shapes: Shapes
    filename: bool = False
    numbers: Mapping[str, pa.DataType] = field(default_factory=dict)
    blank: BlankGrids | None = None

    @property
    def main(self) -> Shape:
        """The shape of most rows."""
        return self.shapes.main

    @property
    def schema(self) -> pa.Schema:
        """The columns of `Batch.table`."""
        schema = retyped(self.input_schema, self.numbers)
        schema = schema.append(pa.field(self.column, pa.string())) if self.blank else schema
        return schema.append(FILENAME) if self.filename else schema

    @property
    def columns_read(self) -> list[str]:
        """The names of the columns of puzzles, of solutions and of rules."""
        boxes = [BOX] if self.shapes.has_boxes else []
        solutions = [] if self.solution_column is None else [self.solution_column]
        puzzles = [] if self.blank else [self.column]
        return [*puzzles, *solutions, *boxes, *self._rule_columns]

    @property
    def _rule_columns(self) -> list[str]:
        """The columns of rules that are there: marks may be in the puzzles."""
        return [name for name in self.main.rules.names if name in self.input_schema.names]

    def read(self, block: Block) -> Batch:
        """Parse a block and decode its grids.

        Raises
        ------
        InputError
            If the block is not UTF-8 text; a `RowsError` if its JSON objects have other fields than
            the first ones of the file.
        """
        rows = block.rows()
        table, faults = rows.table, dict(rows.faults)
        if self.blank:
            table = table.append_column(self.column, self.blank.texts(table))
        texts = Texts(
            as_text(table[self.column], self.column),
            self.solution_column and as_text(table[self.solution_column], self.solution_column),
            as_text(table[BOX], BOX) if self.shapes.has_boxes else None,
            {name: as_text(as_json(table[name]), name) for name in self._rule_columns},
        )
        grids = self.shapes.grids(texts, faults)
        if self.numbers:
            table = with_numbers(table, self.numbers)
        if self.filename:
            table = table.append_column(FILENAME, pa.repeat(block.name, len(table)))
        return Batch(table, grids, faults, block.number, rows.records)


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
