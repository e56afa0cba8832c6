"""A corpus: tables of puzzles, with detection of the puzzle column, the notation and the sizes.

The column is found by its name or by the shape of its values; the alphabet of each size is chosen
from many rows if the first rows have that size. If a choice is not clear, an error lists the
possibilities.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import isqrt, prod
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from batchsolve.core.arrays import Ints
from batchsolve.errors import InputError, ProblemError, counted, listed, prefixed, quoted, shortened
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import (
    BLANKS,
    FINE,
    MINUS_ONE,
    WRONG_LENGTH,
    Notation,
    check_blanks,
    default_box,
    from_zero,
    symbols_of,
    usual_notation,
)
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import (
    Variants,
    drawing_of,
    drawn_notation,
    grid_problem,
    split_layout,
)
from batchsolve.problems.survey import (
    MOST_PLAIN,
    NO_FORM,
    AmbiguousNotationError,
    Form,
    Shown,
    Signs,
    forms,
    most_frequent_form,
    most_frequent_size,
    shown,
)
from batchsolve.settings import FileSettings
from batchsolve.settings.arguments import is_address
from batchsolve.tables import columns
from batchsolve.tables.detection import open_all
from batchsolve.tables.frames import cell_columns
from batchsolve.tables.reader import BOX, Batch, Reader, Shape, blank_grids, box_of, rule_texts
from batchsolve.tables.rule_columns import CAGES, COLUMNS, MARKS, RULES, SIZED, SUMS, RuleColumns
from batchsolve.tables.sources import BlockSize, Source, Tables, TableSource

PUZZLE_NAMES = (
    *("puzzle", "puzzles", "quizzes", "quiz", "question", "questions", "grid", "sudoku"),
    *("starting_cells", "start", "unsolved", "problem", "board", "givens", "input"),
)
SOLUTION_NAMES = (
    *("solution", "solutions", "answer", "answers"),
    *("solved", "solution_grid", "solved_cells", "target"),
)
T = TypeVar("T")
MOST_STRATA = 100  # values of a column by which stacks are parted
MIN_CELLS = 16  # columns that may be those of a grid
FEW_ROWS = 100  # enough to see that a column holds grids
SAMPLE_ROWS = 10_000  # enough to choose column, size and alphabet


class Corpus(Tables):
    """Tables of puzzles as one stream of rows.

    Parameters
    ----------
    inputs : sequence of str or Source
        Files of the same columns, ``-`` for standard input, or a table.
    files : FileSettings, optional
        The notation: ``column``, ``solution_column``, ``box``, ``alphabet``, ``blank``, ``rules``,
        ``regions`` and ``rule_columns``. The columns `COLUMNS` give rows other rules. With
        ``filename``, rows get a column with the name of the file that they are from.
    problem : GridProblem, optional
        The problem of all rows, in place of their box, rules and regions, also in columns.
    size : BlockSize, optional
        The size of blocks; by default `TASKS`.
    one_shape : bool
        Rows of another shape than most are malformed, as they are if the box, the regions or the
        problem is given.
    other_columns : sequence of str
        Names of columns that hold no puzzles, such as those of predictions.
    more_tables : bool
        True if others have the same settings: an alphabet may be one for the size of their rows.

    Attributes
    ----------
    column, solution_column : str
        The puzzle column, and the solution column or None. A column known as one of solutions is
        never found as that of puzzles; a table with rules but without puzzles has blank grids, in
        a column that the reader adds; so are those of a table with a column for each cell.
    rule_columns : sequence of str
        The columns that give each row its own rules.
    problem : GridProblem
        The problem of most rows.
    notation : Notation
        The notation of most rows.
    reader : Reader
        The reader of blocks, which can be sent to workers.
    has_more_rows : bool
        True if rows may follow those that the shapes are chosen from, perhaps in other tables.

    Raises
    ------
    InputError
        If the tables cannot be read, or the puzzle column is not clear.
    """

    def __init__(
        self,
        inputs: Sequence[str | Source],
        files: FileSettings | None = None,
        *,
        problem: GridProblem | None = None,
        size: BlockSize | None = None,
        one_shape: bool = False,
        other_columns: Sequence[str] = (),
        more_tables: bool = False,
    ) -> None:
        files = files or FileSettings()
        check_blanks(files.blank)
        rules = RuleColumns(0, files.box, files.rules, files.regions, fixed=problem)
        super().__init__(open_all(inputs), files.filename, size)
        self._blank, self._filename = files.blank, files.filename
        self._new_name = next((name for name in PUZZLE_NAMES if name not in self.columns), "blank")
        self._check_named(files.column, files.solution_column)
        self._rule_columns = self._columns_of_rules(files.rule_columns)
        self._predictions = {*self._named(other_columns), *other_columns}
        for sample, is_last in self._samples():
            self._sample, self._cells = sample, columns.CellColumns()
            self.has_more_rows = more_tables or len(sample) >= SAMPLE_ROWS or not is_last
            try:
                column = files.column or self._puzzle_column(files.solution_column)
                self.solution_column = files.solution_column or self._solution_column(column or "")
                self.column = column or self._blank_column(rules.known_digits)
                self.reader = self._choose_shapes(rules, files.alphabet, one_shape)
                break
            except InputError:
                if is_last:
                    raise
        main = self.reader.main
        self.problem, self.notation = main.problem, main.notation
        self.rule_columns = (BOX, *main.rules.names) if self.reader.has_boxes else main.rules.names

    def batches(self) -> Iterator[Batch]:
        """Yield the blocks of the corpus, parsed in this process."""
        return map(self.reader.read, self.blocks())

    def move_to(self, source: TableSource, rule_columns: str | None) -> None:
        """Read another table as this one; it may have more columns of rules.

        Raises
        ------
        InputError
            If the table lacks a column that is read.
        """
        super().__init__([source])
        if lacks := set(self.reader.columns_read).difference(self.columns):
            raise InputError(f"{source.path}: has no column {quoted(min(lacks))}")
        self._sample = source.table
        with prefixed(source.path, InputError):
            self._rule_columns = self._columns_of_rules(rule_columns)
        main = self.reader.main
        names = tuple(n for n in COLUMNS if n in main.rules.names or self._holds_rules(n))
        self.reader = replace(
            self.reader,
            input_schema=self.schema,
            main=replace(main, rules=replace(main.rules, names=names)),
            has_boxes=self.reader.has_boxes or self._boxes() is not None,
        )

    def stacks(self, by: str | None = None) -> tuple[GridProblem, dict[str, Stacks]]:
        """Read the corpus in this process; return the problem and the stacks, with rows as roots.

        Parameters
        ----------
        by : str, optional
            A column: its values group the stacks, in the order of first rows. By default all stacks
            are those of the empty text.

        Raises
        ------
        InputError
            If rows have several problems, because their stacks are not over one; if the column does
            not exist, or has more than `MOST_STRATA` values.
        """
        if by is not None:
            self.check_column(by)
        parts: dict[str, list[Stacks]] = {}
        first = self.problem  # until there is a row
        for batch in self.batches():
            for problem, stacks in batch.groups():
                if not parts and not isinstance(problem, Variants):
                    first = problem
                if len(stacks) and problem.fingerprint != first.fingerprint:
                    raise InputError(
                        f"{self.names}: its rows have several problems, such as {first!r} and "
                        f"{problem!r}; here, all need the same (rule_columns says which columns of "
                        f"rules to read)"
                    )
                values = pa.repeat("", len(stacks))
                if by is not None:
                    texts = columns.as_text(batch.table, by)
                    values = texts.take(pa.array(stacks.roots)).fill_null("")
                codes = values.dictionary_encode()
                indices = codes.indices.to_numpy()
                for k, value in enumerate(codes.dictionary.to_pylist()):
                    parts.setdefault(value, []).append(stacks.take(indices == k))
            if len(parts) > MOST_STRATA:
                raise InputError(f"column {quoted(by)} has more than {MOST_STRATA} values")
        return first, {value: Stacks.concatenate(group) for value, group in parts.items()}

    @property
    def given_column(self) -> str | None:
        """The column of puzzles; None for blank grids, which have none."""
        return self.column if self.column in self.columns or self._cells.names else None

    @property
    def unread_columns(self) -> list[str]:
        """Names of columns with grids of the puzzles' size that are not read, by the first rows."""
        read, n = (self.column, self.solution_column, *COLUMNS), self.problem.n_digits
        others = [name for name in self.columns if name not in read and self._has_texts(name)]
        return [name for name in others if self._size_in(name, FEW_ROWS, min_bytes=n * n) == n]

    def perhaps_numbers(self) -> list[str]:
        """Return the text columns that hold only numbers, judging by the first rows.

        The columns of puzzles and solutions stay text, and so do all columns of standard input and
        of remote files, which are not read twice.
        """
        for source in self._sources:
            is_plain = source.layout.parse in (columns.delimited, columns.lines)
            if not is_plain or source.path == "-" or is_address(source.path):
                return []
        grids = {self.column, self.solution_column, *self._predictions, *self._cells.names}
        names = [name for name in self.columns if name not in grids]
        return [name for name, kinds in columns.number_kinds(names, self._sample).items() if kinds]

    def _samples(self) -> Iterator[tuple[pa.Table, bool]]:
        """Yield the first rows, and True if the sample is complete.

        Only input that arrives slowly has several samples. `blocks` yields all blocks again.
        """
        tables = [pa.Table.from_batches([], self.schema)]  # empty_table refuses permuted tensors
        n_rows = 0
        for block in self._rest:
            self._kept.append(block)
            tables.append(block.rows()[0])
            n_rows += len(tables[-1])
            if n_rows >= SAMPLE_ROWS:
                break
            if n_rows and self.waits():
                yield pa.concat_tables(tables), False
        if n_rows == 0 and self._sources[0].layout.parse is columns.lines:
            raise InputError(f"{self.names}: no puzzles, only comments or blank lines")
        yield pa.concat_tables(tables), True

    def _check_named(self, column: str | None, solution_column: str | None) -> None:
        for name in (column, solution_column):
            if name is not None:
                self.check_column(name)
        if column is not None and column == solution_column:
            raise InputError(
                f"column {quoted(column)} is named as that of puzzles and of solutions; name two"
            )

    def _puzzle_column(self, solution_column: str | None) -> str | None:
        """Return the puzzle column, or None if only rules and solutions are there."""
        by_name = [name for name in self._named(PUZZLE_NAMES) if name != solution_column]
        if len(by_name) > 1:
            by_name = [name for name in by_name if self._size_in(name)] or by_name
        if len(by_name) == 1:
            return by_name[0]
        no_puzzles = {solution_column, *self._no_puzzles}
        others = [name for name in self.columns if name not in no_puzzles]
        grids = [name for name in by_name or others if self._size_in(name)]
        if len(grids) > 1:
            grids = list(filter(self._has_blanks, grids)) or grids
        # beside rules, such columns may be features of blank grids
        if not grids and not by_name:
            if self._rule_columns:
                return None
            if added := self._column_of_cells():
                return added
        if len(grids) != 1:
            cells = ""
            if grids:
                why = f"several columns hold grids ({', '.join(map(shortened, grids))})"
            else:
                names = listed(self.columns)
                why = f"no column is known as a puzzle column, nor holds grids: {names}"
                if len(others) >= MIN_CELLS:
                    cells = ", or write the cells of each grid into one column"
            if {"sum", "cells"}.issubset(others):
                advice = (
                    'put those of a grid into a column: [{"cages": [{"sum": 3, "cells": …}, …]}]'
                )
                raise InputError(f"each row is a cage, not a grid; {advice}")
            raise InputError(f"{why}{self._delimiter_in_words()}; say which with `column`{cells}")
        [column] = grids
        if self._rule_columns and not by_name and self._holds_full_grids(column):
            raise InputError(
                f"column {quoted(column)} holds full grids beside rules: if they are solutions, "
                f"name it as `solution_column`, and if puzzles, as `column`"
            )
        return column

    def _holds_full_grids(self, name: str) -> bool:
        """Return True if every value of a column has each digit N times, whatever the first is."""
        texts = _texts(self._sample, name)
        seen = _shown_in(texts, self._blank)
        assert seen is not None
        n, as_numbers = seen.form
        kinds = [from_zero(n, as_numbers)]
        with suppress(InputError):
            kinds.append(Signs(blanks=self._blank).notation(seen))
        is_given = np.asarray(pc.greater(pc.fill_null(pc.binary_length(texts), 0), 0))
        grids = (np.sort(notation.encode(texts)[0][is_given], axis=1) for notation in kinds)
        return any((digits == np.repeat(np.arange(1, n + 1), n)).all() for digits in grids)

    def _has_blanks(self, name: str) -> bool:
        """Return True if any value of a column has a character that can be a blank cell."""
        blanks = re.escape(BLANKS if self._blank is None else self._blank)
        has_blanks = pc.match_substring_regex(_texts(self._sample, name), f"[{blanks}]")
        return bool(pc.any(has_blanks).as_py())

    @property
    def _no_puzzles(self) -> set[str]:
        """The columns that are known to hold no puzzles."""
        return {BOX, *COLUMNS, *self._named(SOLUTION_NAMES), *self._predictions}

    @property
    def _sizing(self) -> tuple[str, ...]:
        """The columns that tell the sizes of blank grids; see `blank_grids`."""
        rules = (name for name in SIZED if name in self._rule_columns)
        boxes = [BOX] if BOX in self.columns and self._has_texts(BOX) else []
        return tuple(dict.fromkeys(filter(None, (self.solution_column, *rules, *boxes))))

    def _column_of_cells(self) -> str | None:
        """Add to the first rows the column of grids that columns of cells make; return it."""
        if not (names := cell_columns(self.columns)):
            return None
        n, is_small, sample = isqrt(len(names)), len(names) <= MOST_PLAIN**2, self._sample
        with suppress(InputError):
            # digits to 9, and those among letters, are characters; others, and -1, are numbers
            signs = columns.CellColumns(names, " ").grids(sample)
            odd = pc.match_substring_regex(signs, MINUS_ONE if is_small else "[A-Za-z]")
            are_numbers = bool(pc.any(odd).as_py()) == is_small
            cells = columns.CellColumns(names, " " if are_numbers else "")
            self._sample = sample.append_column(self._new_name, cells.grids(sample))
            are_cells = self._size_in(self._new_name) == n and self._may_be_grids(n)
            if are_cells or not len(sample):
                self._cells = cells
                return self._new_name
        self._sample = sample
        return None

    def _may_be_grids(self, n: int) -> bool:
        """Return True if some cells that columns hold do not clash; they may be other numbers."""
        texts = _texts(self._sample, self._new_name)
        seen = _shown_in(texts, self._blank)
        with suppress(InputError):
            assert seen is not None
            digits, wrong = Signs(blanks=self._blank).notation(seen).encode(texts)
            return bool(((grid_problem(n).first_clashes(digits) < 0) & (wrong == FINE)).any())
        return True

    def _blank_column(self, known_digits: int | None) -> str:
        """Add a column of blank grids to the first rows of a table without puzzles; return it."""
        blank = blank_grids(self._sample, self._sizing, known_digits)
        size = Form.of(_most_common(code for code in forms(blank).tolist() if code) or 0).n_digits
        no_puzzles = {self.solution_column, *self._no_puzzles}
        for name in self.columns:
            may_have = size and name not in no_puzzles and self._has_texts(name)
            if may_have and most_frequent_size(forms(_texts(self._sample, name))) == size:
                raise InputError(
                    f"no column is known as a puzzle column, but {quoted(name)} may be one; "
                    f"say so with `column`, or leave it out of the table"
                )
        if not size and len(self._sample):
            rules = [name for name in self._rule_columns if name != self.solution_column]
            raise InputError(
                f"no column is known as a puzzle column, and {listed(rules)} may be rules of blank "
                f"grids of an unknown size: {listed(self.columns)}; say which with `column`, or "
                f"name the `box` of blank grids"
            )
        blank = blank_grids(self._sample, self._sizing, known_digits or size or 9)
        self._sample = self._sample.append_column(self._new_name, blank)
        return self._new_name

    def _solution_column(self, puzzle_column: str) -> str | None:
        names = [name for name in self._named(SOLUTION_NAMES) if name != puzzle_column]
        return next(filter(self._size_in, names), next(iter(names), None))

    def _size_in(self, name: str, max_rows: int = SAMPLE_ROWS, min_bytes: int = 0) -> int | None:
        """Return the size of the grids that most values of a column are; None if they are none.

        Columns whose values all have fewer than `min_bytes` bytes are not read.
        """
        with suppress(InputError):
            column = self._sample.select([name])  # a table would be cut column by column
            texts = columns.as_text(column.slice(0, max_rows), name)
            is_long = (pc.max(pc.binary_length(texts)).as_py() or 0) >= min_bytes
            if is_long and (seen := _shown_in(columns.in_one_line(texts), self._blank)) is not None:
                with suppress(AmbiguousNotationError):
                    Signs(blanks=self._blank).notation(seen)
                return seen.form.n_digits
        return None

    def _named(self, names: Sequence[str]) -> list[str]:
        return [column for name in names for column in self.columns if _plain(column) == name]

    def _delimiter_in_words(self) -> str:
        """Return the delimiter in words, because it may be the mistake."""
        names = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
        delimiter = self._sources[0].layout.delimiter
        return f" (separated by {names[delimiter]})" if delimiter else ""

    def _choose_shapes(self, rules: RuleColumns, alphabet: str | None, one_shape: bool) -> Reader:
        names, boxes = tuple(filter(self._holds_rules, COLUMNS)), self._boxes()
        reader = partial(
            Reader,
            self.schema,
            self.column,
            self.solution_column,
            has_boxes=boxes is not None,
            box_is_named=rules.box is not None,
            filename=self._filename,
            sizing=self._sizing,
            cells=self._cells,
        )
        has_boxes = any(boxes or ())
        if (drawn := self._drawn(rules)) is not None:
            assert drawn.drawing is not None
            if has_boxes:
                raise InputError(
                    f"grids that overlap have the same boxes; leave out the column {BOX!r}"
                )
            notation = drawn_notation(drawn.n_digits, drawn.drawing, alphabet, self._blank)
            lines = notation.drawing.split()
            # in one line, only squares and layouts with a name can be read again
            has_lines = split_layout(drawn.rules)[0] is None and len(lines) != len(lines[0])
            notation = replace(notation, in_lines=has_lines)
            return reader(main=Shape(replace(drawn, names=names), notation, notation))
        # solutions tell the notation of blank grids
        name = self.given_column or self.solution_column or self.column
        written = columns.as_text(self._sample, name)
        texts = columns.in_one_line(written)
        if self.given_column and columns.pencil_marks(written, texts):
            names = tuple(name for name in COLUMNS if name in (*names, MARKS))
        if self._rule_columns and not pc.max(pc.binary_length(texts)).as_py():
            # no row has a grid, and the rules tell their size
            texts = blank_grids(self._sample, self._sizing)
        codes = forms(texts)
        rules = replace(rules, names=names)
        need_boxes = rules.need_boxes and not has_boxes
        size = rules.known_digits or most_frequent_size(codes, need_boxes)
        if not len(self._sample):  # without rows, any choice will do
            size = size or 9
            alphabet = usual_notation(size).name
        if size is None:
            why = "a 9×9 grid has 81 characters, a 16×16 grid 256"
            if "\n" in (first := texts[0].as_py() or ""):
                why = usual_notation(9).explain(first, WRONG_LENGTH)
            raise InputError(
                f"column {quoted(self.column)} holds no grids: {self._example()}; {why}"
            )
        usual = rules.box
        if boxes is not None and rules.box is None:
            sizes = (codes // 2).tolist()
            of_size = (box for box, n in zip(boxes, sizes, strict=True) if n in (0, size))
            usual = _most_common(box for box in of_size if box is None or prod(box) == size)
        main = replace(rules, n_digits=size, box=usual)
        is_one = one_shape or rules.known_digits is not None or self._has_one_size()
        form, others = most_frequent_form(codes, size), list[Form]()
        if not is_one:
            rarer = map(Form.of, np.unique(codes[~np.isin(codes, [NO_FORM, form.code])]).tolist())
            others = [other for other in rarer if not need_boxes or default_box(other.n_digits)]
        has_blank = len(symbols_of(alphabet or "")) not in codes // 2
        signs = Signs(alphabet, self._blank, has_blank=has_blank)
        is_for_others = any(signs.names(other.n_digits) for other in others)
        is_for_others |= not is_one and self.has_more_rows and signs.may_name_others
        notation = self._notation(self._shown(texts, codes, form), signs, is_for_others)
        if signs.names(size):
            signs = replace(signs, like=notation.symbols)
        elif alphabet and alphabet[0] not in BLANKS:
            signs = replace(signs, like=symbols_of(alphabet))
        known = {}
        for other in others:
            with suppress(InputError):  # rows of this form must tell theirs
                other_notation = signs.notation(self._shown(texts, codes, other))
                known[other] = other_notation, self._solution_notation(codes, other, other_notation)
        return reader(
            main=Shape(main, notation, self._solution_notation(codes, form, notation)),
            signs=signs,
            is_one=is_one,
            known=known,
        )

    def _shown(self, texts: pa.Array, codes: Ints, form: Form) -> Shown:
        """Return what the grids of a form show, with the solutions and predictions beside them."""
        rows = pa.array(np.flatnonzero(codes == form.code))
        others = (name for name in self.columns if name in self._predictions)
        names = [self.solution_column, *others]
        full = (self._beside(name, rows) for name in names if name is not None)
        return shown(texts.take(rows), form, self._blank, full)

    def _beside(self, name: str, rows: pa.Array) -> pa.Array:
        """Return the texts of some of the first rows in another column; none if it holds none."""
        with suppress(InputError):
            return _texts(self._sample, name).take(rows)
        return pa.array([], pa.string())

    def _notation(self, seen: Shown, signs: Signs, is_for_others: bool) -> Notation:
        """Return the notation of the grids of the most frequent size."""
        size = seen.form.n_digits
        if signs.alphabet is not None and not is_for_others:
            named = Notation.from_name(signs.alphabet, size, self._blank)
            if not signs.names(size):
                return named
            if seen.form.as_numbers and named.first_number is None:
                raise InputError(
                    f"column {quoted(self.column)} holds grids of numbers, and the alphabet "
                    f"{quoted(signs.alphabet)} is one of letters; name numbers, 0-{size - 1} or "
                    f"1-{size}, or none: {self._example()}"
                )
        try:
            return signs.notation(seen)
        except InputError as error:
            raise InputError(f"column {quoted(self.column)}: {error}: {self._example()}") from error

    def _solution_notation(self, codes: Ints, form: Form, notation: Notation) -> Notation:
        """Return the notation of given solutions: that of the puzzles, unless the form differs."""
        if self.solution_column is None:
            return notation
        solutions = self._beside(self.solution_column, pa.array(np.flatnonzero(codes == form.code)))
        solution_codes = forms(solutions)
        are_other = solution_codes == form.other.code
        if not are_other.any() or most_frequent_form(solution_codes, form.n_digits) == form:
            return notation
        seen = shown(solutions.filter(pa.array(are_other)), form.other, self._blank, [solutions])
        if notation.first_number is not None:
            seen = seen._replace(first=notation.first_number)
        with suppress(InputError):
            return Signs(blanks=self._blank).notation(seen)
        return notation

    def _drawn(self, rules: RuleColumns) -> RuleColumns | None:
        """Return the rules of grids that overlap, if most of the first values are such grids.

        Their layout is drawn in the values, or named among the rules.
        """
        sample = self._sample.select([self.column])[:100]
        values = columns.as_text(sample, self.column).to_pylist()
        drawing = _most_common(drawing_of(value or "") for value in values)
        name, _ = split_layout(rules.rules)
        if name is None and self._holds_rules(RULES) and rules.fixed is None:
            texts = rule_texts(self._sample[:100], RULES).to_pylist()
            name = _most_common(_layout_in(text or "") for text in texts)
        if drawing is None and name is None:
            return None
        rules = replace(rules, n_digits=rules.known_digits or 9)
        if name is not None:
            rules = replace(rules, rules="+".join(filter(None, (name, rules.rules))))
            drawing = drawing or rules.base().drawing
        return replace(rules, drawing=drawing)

    def _columns_of_rules(self, named: str | None) -> list[str]:
        """Return the columns of rules that a user names, or all that can be some."""
        if named is None:
            self._refuse_likely_rules()
            names = [name for name in COLUMNS if name in self.columns and self._has_texts(name)]
        else:
            names = [name.strip() for name in named.split(",") if name.strip() != "none"]
        if wrong := set(names).difference(COLUMNS):
            raise InputError(
                f"{quoted(min(wrong))} is not a column of rules; choose from "
                f"{', '.join(COLUMNS)}, or none"
            )
        for name in sorted(names):
            self.check_column(name)
        if SUMS in names and CAGES not in names:
            raise InputError(
                f"the column {SUMS!r} has the sums of cages; add or name the column {CAGES!r}, or "
                f"name other columns of rules, or none, with `rule_columns`"
            )
        return names

    def _refuse_likely_rules(self) -> None:
        """Raise `InputError` if a column seems to hold rules that would not be read."""
        unnamed = {*COLUMNS, BOX}.difference(self.columns)
        for name in self.columns:
            plain = _plain(name)
            if plain in unnamed and self._has_texts(name):
                raise InputError(
                    f"column {quoted(name)} may hold rules of the rows; rename it {plain!r}, or "
                    f"name the columns of rules, or none, with `rule_columns`"
                )

    def _holds_rules(self, name: str) -> bool:
        return name in self._rule_columns and name not in (self.column, self.solution_column)

    def _boxes(self) -> list[tuple[int, int] | None] | None:
        """Return the boxes of the first rows, or None if no column has them.

        An empty column is one of boxes, which later rows may have.
        """
        is_taken = BOX in (self.column, self.solution_column)
        if BOX not in self.columns or is_taken or not self._has_texts(BOX):
            return None
        texts = _texts(self._sample, BOX)
        boxes = [box_of(text or "") for text in texts.to_pylist()]
        return boxes if any(boxes) or not columns.have_text(texts).any() else None

    def _has_one_size(self) -> bool:
        """Return True if puzzles are lists, some but not all of which have a fixed length."""
        sizes, _ = columns.nested(self._sample.schema.field(self.column).type)
        return None in sizes and any(sizes)

    def _has_texts(self, name: str) -> bool:
        """Return whether a column holds texts, lists or objects; or rules, if only to refuse them.

        Numbers are not rules, unless they are sums.
        """
        kind = columns.storage_of(self.schema.field(name).type)
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if name in (*COLUMNS, BOX):
            are_sums = name == SUMS and CAGES in self.columns and columns.is_number(kind)
            is_binary = "binary" in str(kind)
            return columns.is_text(kind) or pa.types.is_nested(kind) or is_binary or are_sums
        return columns.is_text(kind) or columns.is_list(kind) or pa.types.is_struct(kind)

    def _example(self) -> str:
        values = self._sample[self.column]
        if values.null_count == len(values):
            return f"it is empty, without a value in the first {counted(len(values), 'row')}"
        text = str(next(value for value in values if value.is_valid).as_py()).strip()
        return f"the first value is {text[:100]!r}, {len(text)} characters"


def _plain(name: str) -> str:
    """Return the name of a column in small letters, without blanks."""
    return name.lower().strip().replace(" ", "_")


def _most_common(values: Iterable[T]) -> T | None:
    """Return the most common of some values, or None if there are none."""
    top = Counter(values).most_common(1)
    return top[0][0] if top else None


def _shown_in(texts: pa.Array, blank: str | None) -> Shown | None:
    """Return what the grids of the most frequent form in a column show; None without grids."""
    codes = forms(texts)
    if (size := most_frequent_size(codes)) is None:
        return None
    form = most_frequent_form(codes, size)
    return shown(texts.filter(pa.array(codes == form.code)), form, blank)


def _layout_in(rules: str) -> str | None:
    """Return the name of the layout among some rules, whatever else these are."""
    with suppress(ProblemError):
        return split_layout(rules)[0]
    return None


def _texts(table: pa.Table, column: str) -> pa.Array:
    """Return a column as texts without line ends."""
    return columns.in_one_line(columns.as_text(table, column))
