"""Reading blocks of a corpus: the shapes of their grids, their digits, and the faults of rows.

A `Reader` is what is found out about a corpus; workers receive it. The *shape* of a row is the size
of its grid, its box, and the notation: one for most rows, and others that rows may have. The length
of a text says the size, and a column `BOX` may say the box. The shape depends on the row and on the
first rows of the corpus, never on the block or on the worker that reads the row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from batchsolve.core.arrays import Bools, Bytes, Ints
from batchsolve.errors import InputError, ProblemError, counted, quoted
from batchsolve.problems.grid_symmetries import NO_ROOM, NO_SYMMETRY, check_shape, forms_of
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import (
    FINE,
    MOST_DIGITS,
    TWO_BLANKS,
    WRONG_LENGTH,
    Notation,
    default_box,
    from_zero,
    usual_notation,
)
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku, Variants, drawing_of
from batchsolve.problems.survey import MOST_PLAIN, NO_FORM, Form, Signs, forms
from batchsolve.search.rows import Answers, Status
from batchsolve.tables import columns, rule_columns
from batchsolve.tables.sources import FILENAME, Block

BOX = "box"
"""The name of the column of boxes."""

_SIZE = re.compile(r'\.Shape~([0-9]{1,2})x|^\s*\{.*"size"\s*:\s*"?([0-9]{1,2})', re.DOTALL)
_USUAL = 9  # of constraints that say no size
_LISTED_SUM = r'^\s*[0-9]+;[0-9]+,|"sum"\s*:\s*"?[0-9]'  # in lists of cages, not in labels
_PLACE = re.compile(r'([0-9]{1,9})"?\s*,\s*"?([0-9]{1,9})')  # of a cell in lists of cages


class Texts(NamedTuple):
    """The columns of a block that say what its grids are, as texts.

    Attributes
    ----------
    puzzles : pyarrow.StringArray
    solutions, boxes : pyarrow.StringArray or None
    rules : dict of str to pyarrow.StringArray
        The columns of rules, by name.
    """

    puzzles: pa.Array
    solutions: pa.Array | None
    boxes: pa.Array | None
    rules: dict[str, pa.Array]


@dataclass(frozen=True, eq=False)
class Grids:
    """The grids of a block that have one shape.

    Attributes
    ----------
    shape : Shape
    rows : ndarray of int64, shape (n,)
        Their rows, in ascending order.
    puzzles : ndarray of uint8, shape (n, N²)
        Digits, all 0 in malformed rows.
    given : ndarray of uint8, shape (n, N²)
        The given solutions, all 0 in rows without one; of shape (n, 0) if no column has any.
    has_given : ndarray of bool, shape (n,)
        True in rows whose given solution is not empty.
    parts : list of (GridProblem, ndarray of int64)
        The problems, and the rows that are their grids.
    own : dict of str to pyarrow.Array
        The columns that give each row its own rules, as text.
    """

    shape: Shape
    rows: Ints
    puzzles: Bytes
    given: Bytes
    has_given: Bools
    parts: list[rule_columns.Part]
    own: dict[str, pa.Array] = field(default_factory=dict)

    def places(self, rows: Ints) -> Ints:
        """Return the places of rows among those of the shape."""
        has_all = len(self.rows) == 0 or self.rows[-1] == len(self.rows) - 1
        return rows if has_all else np.searchsorted(self.rows, rows)

    def holds(self, rows: Ints) -> Bools:
        """Return True for each row that is one of the shape's."""
        if not self.rows.size:
            return np.zeros(len(rows), np.bool_)
        places = np.minimum(self.places(rows), len(self.rows) - 1)
        return np.asarray(self.rows[places] == rows)

    @property
    def are_plain(self) -> Bools:
        """True for each row with the rules of rows, columns and boxes alone."""
        plain = np.zeros(len(self.rows), np.bool_)
        for problem, rows in self.parts:
            plain[self.places(rows)] = isinstance(problem, Sudoku)
        return plain

    def puzzles_of(self, rows: Ints) -> Bytes:
        """Return the puzzles of some rows; all of them are not copied."""
        return self.puzzles if len(rows) == len(self.rows) else self.puzzles[self.places(rows)]

    def check(self, solutions: Bytes, is_wanted: Bools | None = None) -> Bools:
        """Return True for each grid, or each wanted one, that solves its puzzle.

        No engine is needed.
        """
        right = np.zeros(len(self.rows), np.bool_)
        for problem, rows in self.parts:
            chosen = rows if is_wanted is None else rows[is_wanted[self.places(rows)]]
            places = self.places(chosen)
            right[places] = problem.at(chosen).check(self.puzzles_of(chosen), solutions[places])
        return right

    def one_by_one(self) -> Iterator[rule_columns.Part]:
        """Yield the parts; each row with own rules is one."""
        for problem, rows in self.parts:
            if isinstance(problem, Variants):
                yield from ((problem.of_row(row), np.array([row])) for row in rows.tolist())
            else:
                yield problem, rows


@dataclass(frozen=True, eq=False)
class Shape:
    """One shape of grids.

    Attributes
    ----------
    rules : RuleColumns
        The rules of its rows, and the columns of their own rules.
    notation, solution_notation : Notation
        The notations of puzzles and given solutions.
    read_as : str
        Words before the faults of its rows.
    """

    rules: rule_columns.RuleColumns
    notation: Notation
    solution_notation: Notation
    read_as: str = ""

    @classmethod
    def usual(cls, problem: GridProblem) -> Shape:
        """Return the shape of grids in memory, which are in no notation."""
        n = problem.n_digits
        drawing = None if problem.n_cells == n * n else problem.rules.drawing
        rules = rule_columns.RuleColumns(n, drawing=drawing, fixed=problem)
        return cls(rules, usual_notation(n), usual_notation(n))

    @cached_property
    def problem(self) -> GridProblem:
        """The problem of rows without own rules; that of lines alone if none has boxes."""
        try:
            return self.rules.problem()
        except InputError:
            if self.rules.need_boxes:
                raise
            return GridProblem(self.rules.base(has_regions=True))

    @property
    def box(self) -> tuple[int, int] | None:
        """Rows and columns of a box, if there are boxes."""
        return self.rules.box or default_box(self.rules.n_digits)

    def grids(self, texts: Texts, rows: Ints, grids: EncodedGrids, faults: dict[int, str]) -> Grids:
        """Return the grids of some rows of a block; add the faults of malformed rows.

        Parameters
        ----------
        texts : Texts
            The columns of the whole block.
        rows : ndarray of int64
            The rows, in ascending order.
        grids : EncodedGrids
            Their puzzles.
        faults : dict of int to str
            The faults of rows of the block.
        """
        n, (lines, puzzles, wrong) = len(texts.puzzles), grids
        for k in np.flatnonzero(wrong != FINE).tolist():
            text = lines[k].as_py() or ""
            faults.setdefault(int(rows[k]), self.read_as + self.notation.explain(text, wrong[k]))
        given, has_given = puzzles[:, :0], np.zeros(len(rows), np.bool_)
        rules, solutions = texts.rules, texts.solutions
        if len(rows) < n:
            indices = pa.array(rows)
            rules = {name: column.take(indices) for name, column in rules.items()}
            solutions = None if solutions is None else solutions.take(indices)
        if solutions is not None:
            given, bad = self.solutions_of(solutions)
            has_given = bad == FINE
            if not has_given.all():
                has_given = columns.have_text(solutions)
        if self.notation.begins_at_zero:
            self._refuse_arithmetic(rows, texts.rules, faults)
        parts = [(self.problem, rows)]
        if texts.rules:
            parts = self.rules.parts(rows, texts.rules, faults)
        return Grids(self, rows, puzzles, given, has_given, parts, rules)

    def solutions_of(self, solutions: pa.Array) -> tuple[Bytes, npt.NDArray[np.int32]]:
        """Return solutions or predictions, and their faults.

        Those that are not written as most are tell their notation, each alone.
        """
        _, digits, wrong = encoded(self.solution_notation, solutions)
        n, odd = self.rules.n_digits, np.flatnonzero((wrong != FINE) & (wrong != TWO_BLANKS))
        lines = columns.in_one_line(solutions.take(pa.array(odd)))
        codes = forms(lines)
        for form in (Form(n, True), Form(n, False)):
            places, alike = odd[codes == form.code], lines.filter(pa.array(codes == form.code))
            signs = _signs_beside(self.notation.begins_at_zero, form)
            notations = signs.notations_of_each(alike, form)
            for notation in {notation for notation in notations if isinstance(notation, Notation)}:
                indices = np.flatnonzero([other == notation for other in notations])
                read, faults = notation.encode(alike.take(pa.array(indices)))
                fine = places[indices[faults == FINE]]
                digits[fine], wrong[fine] = read[faults == FINE], FINE
        return digits, wrong

    def _refuse_arithmetic(
        self, rows: Ints, rules: Mapping[str, pa.Array], faults: dict[int, str]
    ) -> None:
        """Add a fault for rows whose rules have values of digits: these are 1 to N."""
        present = (name for name in rule_columns.ARITHMETIC if name in rules)
        has_values = {name: columns.have_text(rules[name]) for name in present}
        if rule_columns.CAGES in rules:
            listed = pc.match_substring_regex(rules[rule_columns.CAGES], _LISTED_SUM)
            has_values[rule_columns.CAGES] = np.asarray(pc.fill_null(listed, False))
        for name, has_value in has_values.items():
            why = (
                f"{self.read_as}{name} need digits from 1, and those of the alphabet "
                f"{self.notation.name} begin at 0; write 1 to N"
            )
            for row in rows[has_value[rows]].tolist():
                faults.setdefault(row, why)


def forms_of_shape(shape: Shape, cells: Bytes, places: Ints) -> tuple[Ints, Bytes, str]:
    """Return the canonical forms of the valid grids of a shape at some places.

    Returns
    -------
    found : ndarray of int64
        The places of the grids whose form was found.
    forms : ndarray of uint8, shape (number of those, N²)
    why : str
        The reason why the form of the others was not found.
    """
    try:
        check_shape(shape.problem)
    except ProblemError as error:
        return places[:0], cells[:0], str(error)
    forms = forms_of(shape.problem, cells[places])
    return places[forms.found], forms.grids[forms.found], NO_ROOM


EncodedGrids = tuple[pa.Array, Bytes, npt.NDArray[np.int32]]
"""A column of grids, their digits, and faults as of `Notation.encode`."""


def encoded(notation: Notation, text: pa.Array) -> EncodedGrids:
    """Encode a column of grids; return it, too, with other forms than the notation's in one line.

    Those forms are rare.
    """
    grids, wrong = notation.encode(text)
    if (odd := wrong != FINE).any():
        lines = columns.in_one_line(text.filter(pa.array(odd)))
        text = pc.replace_with_mask(text, pa.array(odd), lines)
        grids[odd], wrong[odd] = notation.encode(lines)
    return text, grids, wrong


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
    block : Block or None
        The block, with its records; None for grids in memory.
    """

    table: pa.Table
    grids: list[Grids]
    faults: dict[int, str]
    block: Block | None = None

    def __len__(self) -> int:
        return sum([len(grids.rows) for grids in self.grids])

    @property
    def has_given(self) -> bool:
        """True if a column has given solutions."""
        return self.grids[0].given.shape[1] > 0

    def groups(self) -> list[tuple[GridProblem, Stacks]]:
        """Return the stacks of the well-formed rows, with row numbers as roots."""
        parts = self._parts()
        if self.faults:
            good = np.ones(len(self), np.bool_)
            good[list(self.faults)] = False
            parts = ((grids, problem, rows[good[rows]]) for grids, problem, rows in parts)
        return [
            (problem, problem.stacks_of(grids.puzzles_of(rows), rows))
            for grids, problem, rows in parts
        ]

    def statuses(self, answers: Answers, limit: int) -> tuple[Bytes, dict[int, str]]:
        """Return the `Status` of every row, and the messages of some."""
        status = answers.status(limit)
        if self.faults:
            status[list(self.faults)] = Status.INVALID
        stopped = {
            row: why or f"stopped after {counted(int(answers.nodes[row]), 'node')}"
            for row, why in answers.unfinished.items()
        }
        return status, stopped | self.explain_clashes(answers.clash) | self.faults

    def explain_clashes(self, clashes: npt.NDArray[np.signedinteger]) -> dict[int, str]:
        """Return the clues that clash in some rows, given the position of a clue or -1 for each."""
        messages: dict[int, str] = {}
        if clashes.max(initial=-1) < 0:
            return messages
        for grids, problem, rows in self._parts():
            wrong = rows[clashes[rows] >= 0]
            stacks = problem.stacks(grids.puzzles_of(wrong))
            for row, stack in zip(wrong.tolist(), stacks, strict=True):
                messages[row] = problem.of_row(row).explain_clash(stack.tolist(), int(clashes[row]))
        return messages

    def first_clashes(self) -> Ints:
        """Return for each row the position of a clue that clashes, or -1; 0 for malformed rows."""
        clashes = np.zeros(len(self), np.int64)
        for grids, problem, rows in self._parts():
            clashes[rows] = problem.at(rows).first_clashes(grids.puzzles_of(rows))
        clashes[list(self.faults)] = 0
        return clashes

    def invalid_rows(self) -> dict[int, str]:
        """Return the rows that are malformed or have clues that clash, and why."""
        clashes = self.first_clashes()
        clashes[list(self.faults)] = -1
        return self.explain_clashes(clashes) | self.faults

    def check_plain(self, first: int) -> None:
        """Raise `ProblemError` if a grid, the first of which is number `first`, has other rules."""
        for grids in self.grids:
            if not (are_plain := grids.are_plain).all():
                row = first + grids.rows[are_plain.argmin()]
                raise ProblemError(f"grid {row}: {NO_SYMMETRY}")

    def check(self, wanted: Ints) -> Bools:
        """Return True for each wanted row whose given solution is right, without any engine."""
        right, is_wanted = np.zeros((2, len(self)), np.bool_)
        is_wanted[wanted] = True
        for grids in self.grids:
            right[grids.rows] = grids.check(grids.given, is_wanted[grids.rows])
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


@dataclass(frozen=True, eq=False)
class Reader:
    """The parser of the blocks of a corpus, as workers receive it.

    Attributes
    ----------
    input_schema : pyarrow.Schema
        The columns of the input.
    column, solution_column : str
        The puzzle column, and the solution column or None. A puzzle column that is not in the input
        is added, with the grids of `cells` or blank ones.
    main : Shape
        The shape of most of the first rows.
    signs : Signs
        The signs of grids, as far as they are named.
    is_one : bool
        True if all rows have the main shape.
    has_boxes : bool
        True if the column `BOX` gives rows their boxes.
    box_is_named : bool
        True if a user names the box of rows that name none.
    known : mapping of Form to (Notation, Notation)
        The notations of puzzles and solutions of other shapes of the first rows; those of other
        rows must be clear from the row itself.
    filename : bool
        Add the column `FILENAME`.
    numbers : mapping of str to pyarrow.DataType
        Text columns to convert to numbers; see `number_types`.
    sizing : tuple of str
        The columns that tell the sizes of blank grids; see `blank_grids`.
    cells : CellColumns
        The columns of the cells of grids, which the puzzle column replaces; by default none.
    """

    input_schema: pa.Schema
    column: str
    solution_column: str | None
    main: Shape
    signs: Signs = field(default_factory=Signs)
    is_one: bool = True
    has_boxes: bool = False
    box_is_named: bool = False
    known: Mapping[Form, tuple[Notation, Notation]] = field(default_factory=dict)
    filename: bool = False
    numbers: Mapping[str, pa.DataType] = field(default_factory=dict)
    sizing: tuple[str, ...] = ()
    cells: columns.CellColumns = field(default_factory=columns.CellColumns)

    @property
    def schema(self) -> pa.Schema:
        """The columns of `Batch.table`."""
        schema = columns.retyped(self.input_schema, self.numbers)
        if self._is_added:
            kept = [field for field in schema if field.name not in self.cells.names]
            schema = pa.schema([*kept, (self.column, pa.string())], schema.metadata)
        return schema.append(FILENAME) if self.filename else schema

    @property
    def columns_read(self) -> list[str]:
        """The names of the columns of puzzles, of solutions and of rules."""
        box = BOX if self.has_boxes else None
        read = (self.column, self.solution_column, box, *self.main.rules.names, *self.cells.names)
        return [name for name in read if name is not None and name in self.input_schema.names]

    @property
    def _is_added(self) -> bool:
        """True if there is no column of puzzles."""
        return self.column not in self.input_schema.names

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
        block = block.loaded()
        table, faults = block.rows()
        if self._is_added:
            cells, usual = self.cells, self.main.rules.n_digits
            grids = cells.grids(table) if cells.names else blank_grids(table, self.sizing, usual)
            table = table.drop_columns(list(cells.names)).append_column(self.column, grids)
        solution_column = self.solution_column
        texts = Texts(
            columns.as_text(table, self.column),
            solution_column and columns.as_text(table, solution_column),
            columns.as_text(table, BOX) if self.has_boxes else None,
            {name: rule_texts(table, name) for name in self._rule_columns},
        )
        grids = self._grids(texts, faults)
        table = columns.with_numbers(table, self.numbers)
        if self.filename:
            table = table.append_column(FILENAME, pa.repeat(block.name, len(table)))
        return Batch(table, grids, faults, block)

    def _grids(self, texts: Texts, faults: dict[int, str]) -> list[Grids]:
        """Return the grids of a block, shape by shape; add the faults of malformed rows."""
        lines, puzzles, wrong = encoded(self.main.notation, texts.puzzles)
        if marks := columns.pencil_marks(texts.puzzles, lines):
            texts = self._marked(texts, marks, faults)
        texts = texts._replace(puzzles=lines)
        others = self._others(texts, wrong, faults)
        rows = np.arange(len(lines))
        if others:
            rows = np.delete(rows, np.concatenate([other_rows for _, other_rows in others]))
            lines, puzzles, wrong = lines.take(pa.array(rows)), puzzles[rows], wrong[rows]
        grids = [self.main.grids(texts, rows, (lines, puzzles, wrong), faults)]
        for shape, other_rows in others:
            other_grids = encoded(shape.notation, texts.puzzles.take(pa.array(other_rows)))
            grids.append(shape.grids(texts, other_rows, other_grids, faults))
        return grids

    def _marked(self, texts: Texts, marks: dict[int, str], faults: dict[int, str]) -> Texts:
        """Add the pencil marks of puzzles, by row, to the column of marks."""
        name = rule_columns.MARKS
        nothing = pa.repeat(pa.scalar("", pa.string()), len(texts.puzzles))
        column = texts.rules.get(name, nothing).to_pylist()
        for row, text in marks.items():
            if name not in self.main.rules.names:
                why = "pencil marks, which no puzzle of the first rows has; begin with such a row"
                faults.setdefault(row, why)
            elif column[row]:
                why = f"pencil marks, and marks in the column {name!r}; leave out one of them"
                faults.setdefault(row, why)
            column[row] = text
        return texts._replace(rules={**texts.rules, name: pa.array(column, pa.string())})

    def _others(
        self, texts: Texts, wrong: npt.NDArray[np.int32], faults: dict[int, str]
    ) -> list[tuple[Shape, Ints]]:
        """Return the other shapes that rows have, and those rows; add the faults of boxes."""
        is_other = wrong == WRONG_LENGTH
        boxes = None
        if texts.boxes is not None:
            boxes = _boxes(texts.boxes, faults)
            differ = (boxes != (self.main.box or 0)).any(axis=1)
            if self.box_is_named or default_box(self.main.rules.n_digits) == self.main.box:
                differ &= boxes.any(axis=1)
            is_other |= differ
        is_other[list(faults)] = False
        rows = np.flatnonzero(is_other)
        if boxes is not None and self.is_one:
            for row in rows[differ[rows]].tolist():
                box = _of_box(boxes[row]) if boxes[row].any() else f"column {BOX!r}: no box"
                faults[row] = f"{box}, but all rows have the same rules"
        if self.is_one or not rows.size:
            return []
        lines = texts.puzzles.take(pa.array(rows))
        codes = forms(lines)
        if self.signs.alphabet == "numbers":
            codes[codes % 2 == 0] = NO_FORM
        boxes = np.zeros((len(rows), 2), np.int64) if boxes is None else boxes[rows]
        kinds = np.column_stack([codes, boxes])
        shapes: dict[Shape, list[Ints]] = {}
        for kind in np.unique(kinds, axis=0).tolist():
            indices = np.flatnonzero((kinds == kind).all(axis=1))
            alike = lines.take(pa.array(indices)), rows[indices]
            for shape, members in self._shapes_of(kind, *alike, texts.solutions):
                if isinstance(shape, Shape):
                    shapes.setdefault(shape, []).append(members)
                else:
                    faults |= dict.fromkeys(members.tolist(), shape)
        return [(shape, np.sort(np.concatenate(members))) for shape, members in shapes.items()]

    def _shapes_of(
        self, kind: list[int], lines: pa.Array, rows: Ints, solutions: pa.Array | None
    ) -> Iterator[tuple[Shape | str, Ints]]:
        """Yield the shapes of lines of one kind, and their rows.

        The kind is the number of a form, and the rows and columns of a box, 0×0 for the usual one.
        Of rows without a shape, yield their fault; of those that have no grid, the size is one.
        """
        form, box = Form.of(kind[0]), (kind[1], kind[2])
        n, size = form.n_digits, box[0] * box[1]
        if size not in (0, n):
            why = f"{_of_box(box)} are for a {size}×{size} grid, which has {size * size}"
            yield f"{why} characters or numbers", rows
            return
        rules = replace(self.main.rules, n_digits=n, box=box if size else default_box(n))
        if n == 0 or (rules.box is None and rules.need_boxes):
            if n and self.has_boxes:
                yield f"a {n}×{n} grid has no usual boxes; say which in the column {BOX!r}", rows
            return
        if form in self.known:
            yield _shape(rules, *self.known[form]), rows
            return
        alike: dict[Any, list[int]] = {}
        notations = self.signs.notations_of_each(lines, form)
        of_solutions = notations
        if solutions is not None:
            solution_lines = columns.in_one_line(solutions.take(pa.array(rows)))
            of_solutions = _notations_beside(notations, form, solution_lines)
        pairs = zip(notations, of_solutions, strict=True)
        for row, pair in zip(rows.tolist(), pairs, strict=True):
            alike.setdefault(pair, []).append(row)
        for (notation, solution), members in alike.items():
            if isinstance(notation, Notation):
                yield _shape(rules, notation, solution), np.array(members)
            else:
                yield _read_as(form) + str(notation), np.array(members)


def _notations_beside(
    notations: list[Notation | InputError], form: Form, solutions: pa.Array
) -> list[Notation | InputError]:
    """Return the notation of each solution: that of its puzzle, unless the form differs."""
    places_of: dict[bool, list[int]] = {}  # by the first digit of their puzzles
    for place in np.flatnonzero(forms(solutions) == form.other.code).tolist():
        if isinstance(puzzle := notations[place], Notation):
            places_of.setdefault(puzzle.begins_at_zero, []).append(place)
    result = list(notations)
    for begins_at_zero, places in places_of.items():
        signs = _signs_beside(begins_at_zero, form.other)
        alike = signs.notations_of_each(solutions.take(pa.array(places)), form.other)
        for place, solution in zip(places, alike, strict=True):
            result[place] = solution if isinstance(solution, Notation) else result[place]
    return result


def _signs_beside(begins_at_zero: bool, form: Form) -> Signs:
    """Return what the first digit of a puzzle tells of a solution in some form."""
    n = form.n_digits
    if begins_at_zero and not form.as_numbers and n > MOST_PLAIN:  # which may have letters alone
        return Signs(like=from_zero(n, as_numbers=False).symbols)
    return Signs(f"0-{n - 1}" if begins_at_zero else None)


def rule_texts(table: pa.Table, name: str) -> pa.Array:
    """Return a column of rules as text; constraints are not lists."""
    text = columns.texts_of(columns.as_json(table, name), name)
    return text if name == rule_columns.CONSTRAINTS else columns.without_brackets(text)


@lru_cache(maxsize=1024)
def _shape(rules: rule_columns.RuleColumns, notation: Notation, solution: Notation) -> Shape | str:
    """Return a shape, or the fault of its rows that the rules do not fit the size."""
    read_as = _read_as(Form(rules.n_digits, not notation.symbols))
    shape = Shape(rules, notation, solution, read_as)
    try:
        assert shape.problem
    except (InputError, ProblemError) as error:
        return f"{read_as}{error}"
    return shape


def _read_as(form: Form) -> str:
    numbers = " of numbers" if form.as_numbers else ""
    return f"as a {form.n_digits}×{form.n_digits} grid{numbers}: "


_SHAPE_OF_BOX = re.compile(r"([1-9][0-9]{0,2})\s*[xX×]\s*([1-9][0-9]{0,2})")


def box_of(text: str) -> tuple[int, int] | None:
    """Return the rows and columns of a box, or None if the text is not one.

    Examples
    --------
    >>> box_of("2x3"), box_of("2 × 3"), box_of("2"), box_of("99x99")
    ((2, 3), (2, 3), None, None)
    """
    match = _SHAPE_OF_BOX.fullmatch(text.strip())
    box = None if match is None else (int(match[1]), int(match[2]))
    return None if box is None or box[0] * box[1] > MOST_DIGITS else box


def _of_box(box: npt.ArrayLike) -> str:
    height, width = np.asarray(box).tolist()
    return f"column {BOX!r}: boxes of {height}×{width}"


def _boxes(column: pa.Array, faults: dict[int, str]) -> Ints:
    """Return the boxes of rows, shape (n, 2), 0 where there is none; add the faults of texts."""
    coded = column.fill_null("").dictionary_encode()
    texts = [text.strip() for text in coded.dictionary.to_pylist()]
    boxes = [box_of(text) or (0, 0) for text in texts]
    of_row = np.asarray(coded.indices)
    for k, text in enumerate(texts):
        if text and not boxes[k][0]:
            why = f"column {BOX!r}: {quoted(text)} is not a box; write rows x columns, such as 2x3"
            for row in np.flatnonzero(of_row == k).tolist():
                faults.setdefault(row, why)
    return np.array(boxes, np.int64).reshape(-1, 2)[of_row]


# ---- blank grids ----------------------------------------------------------------------------


def blank_grids(table: pa.Table, sizing: Sequence[str], usual: int | None = None) -> pa.Array:
    """Return blank grids for the rows of a table that has no column of puzzles.

    Parameters
    ----------
    table : pyarrow.Table
    sizing : sequence of str
        The columns that tell the sizes, the most reliable first: solutions, whose form the grids
        have; regions, cages, constraints and boxes.
    usual : int, optional
        The size of the other rows; by default, their grids are empty texts.
    """
    codes = np.full(len(table), NO_FORM)
    drawings: dict[int, str] = {}
    for name in sizing:
        if name in (*rule_columns.COLUMNS, BOX):
            column_codes = _codes(_sizes_told(name, rule_texts(table, name)))
        else:
            text = columns.texts_of(columns.as_json(table, name), name)
            marked = np.flatnonzero(pc.fill_null(pc.match_substring(text, "#"), False)).tolist()
            pairs = ((row, drawing_of(text[row].as_py())) for row in marked)
            drawings = {row: drawn for row, drawn in pairs if drawn}
            column_codes = forms(columns.in_one_line(text))
        codes = np.where(codes == NO_FORM, column_codes, codes)
    if usual is not None:
        codes = np.where(codes == NO_FORM, _codes(np.array([usual])), codes)
    kinds, kind_of = np.unique(codes, return_inverse=True)
    sizes = map(Form.of, kinds.tolist())
    blank = [(" " if as_numbers else "").join("." * n**2) for n, as_numbers in sizes]
    texts = pa.array(blank, pa.string()).take(pa.array(kind_of))
    if not drawings:
        return texts
    return pa.array([drawings.get(row, grid) for row, grid in enumerate(texts.to_pylist())])


def _codes(sizes: Ints) -> Ints:
    """Return the usual forms of grids of some sizes; `NO_FORM` for 0."""
    usual = [Form(n, not usual_notation(n).symbols).code if n else NO_FORM for n in sizes.tolist()]
    return np.array(usual, np.int64)


def _sizes_told(name: str, text: pa.Array) -> Ints:
    """Return the size of the grid that each text of a column of rules or boxes tells, or 0."""
    if name == BOX:
        return _boxes(text, {}).prod(axis=1)
    if name == rule_columns.CONSTRAINTS:
        return np.array(list(map(_size_of_constraints, text.to_pylist())), np.int64)
    sizes = forms(columns.in_one_line(text)) // 2
    if name == rule_columns.CAGES:
        are_lists = pc.fill_null(pc.match_substring_regex(text, r"^\s*(\[|[0-9]+;[0-9]+,)"), False)
        sizes[np.asarray(are_lists)] = list(map(_size_of_cages, text.filter(are_lists).to_pylist()))
    return sizes


def _size_of_constraints(text: str | None) -> int:
    """Return the size that constraints say; 0 for an empty text."""
    match = _SIZE.search(text or "")
    usual = _USUAL if text and text.strip() else 0
    return int(match[1] or match[2]) if match else usual


def _size_of_cages(text: str) -> int:
    """Return the size of the grid of a list of cages; 0 if cages from 0 on leave it open.

    Examples
    --------
    >>> list(map(_size_of_cages, ["3;0,0;0,1 3;1,0;1,1", "3;0,0;0,1", "3;1,1;1,4", "9;0,0;0,8"]))
    [2, 0, 4, 9]
    """
    places = {(int(row), int(column)) for row, column in _PLACE.findall(text)}
    numbers = set(chain.from_iterable(places))
    n = max(numbers, default=0) + (0 in numbers)
    is_known = 0 not in numbers or n == _USUAL or len(places) == n * n
    return n if is_known and n <= MOST_DIGITS else 0
