"""A corpus: tables of puzzles, with detection of the puzzle column, the notation and the size.

The column is found by its name or by the shape of its values; size and alphabet are chosen from
many rows, never from one. If a choice is not clear, an error lists the possibilities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import pyarrow as pa

from batchsolve.errors import InputError, ProblemError, counted, listed, quoted, shortened
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import Notation, usual_notation
from batchsolve.problems.overlaps import drawing_of, drawn_notation, split_layout
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.survey import AmbiguousNotationError, Survey
from batchsolve.problems.variant import grid_rules
from batchsolve.settings import checked_box
from batchsolve.tables.blocks import BlockSize, Boundary, is_list
from batchsolve.tables.inputs import Tables
from batchsolve.tables.layouts import Delimited, Lines
from batchsolve.tables.places import is_address
from batchsolve.tables.reader import Batch, Reader, as_text, in_one_line, number_kinds
from batchsolve.tables.rule_columns import COLUMNS, CONSTRAINTS, REGIONS, RULES, RuleColumns
from batchsolve.tables.sources import Source, name_of

PUZZLE_NAMES = (
    "puzzle",
    "puzzles",
    "quizzes",
    "quiz",
    "question",
    "questions",
    "grid",
    "sudoku",
    "starting_cells",
    "start",
    "unsolved",
    "problem",
    "board",
    "givens",
    "input",
)
SOLUTION_NAMES = (
    "solution",
    "solutions",
    "answer",
    "answers",
    "solved",
    "solution_grid",
    "solved_cells",
    "target",
)
SAMPLE_ROWS = 10_000  # enough to choose size and column; a doubtful alphabet is read in full


class Corpus(Tables):
    """Tables of puzzles as one stream of rows.

    Parameters
    ----------
    inputs : sequence of str or Source
        Files of the same columns, ``-`` for standard input, or a table.
    column : str, optional
        The puzzle column.
    box : (int, int), optional
        Rows and columns of a box; by default the usual ones for the size of the puzzles.
    alphabet : str, optional
        The alphabet; by default found from the whole column.
    blank : str, optional
        The characters of blank cells; by default all common ones.
    rules, regions : str, optional
        The rules and the regions of all rows; see `batchsolve.problems.variant.grid_problem`. The
        columns `COLUMNS` give rows others.
    problem : GridProblem, optional
        The problem of all rows, in place of the box, the rules and the regions.
    solution_column : str, optional
        The column of given solutions; by default found by its name.
    rule_columns : str, optional
        Those of the columns `COLUMNS` that give rows rules, with commas between them, or ``none``;
        by default all that hold texts, lists or objects.
    filename : bool
        Add a column with the name of the file that a row is from.
    size : BlockSize, optional
        The size of blocks; by default `TASKS`.

    Attributes
    ----------
    column, solution_column : str
        The puzzle column, and the solution column or None.
    problem : GridProblem
    notation : Notation
    reader : Reader
        The reader of blocks, which can be sent to workers.

    Raises
    ------
    InputError
        If the tables cannot be read, or the puzzle column is not clear.
    """

    def __init__(
        self,
        inputs: Sequence[str | Source],
        column: str | None = None,
        box: tuple[int, int] | None = None,
        alphabet: str | None = None,
        blank: str | None = None,
        rules: str | None = None,
        regions: str | None = None,
        *,
        problem: GridProblem | None = None,
        solution_column: str | None = None,
        rule_columns: str | None = None,
        filename: bool = False,
        size: BlockSize | None = None,
    ) -> None:
        named = {"column": column, "solution_column": solution_column}
        texts = {"alphabet": alphabet, "blank": blank, "rules": rules, "regions": regions}
        texts["rule_columns"] = rule_columns
        box = checked_box(box, **named, **texts)
        given = RuleColumns(0, box, rules, regions, fixed=problem)
        super().__init__(inputs, filename, size)
        self._blank = blank
        self._check_named(**named)
        self._rule_columns = self._columns_of_rules(rule_columns)
        for sample, is_last in self._samples():
            self._sample = sample
            try:
                self.column = column or self._puzzle_column(solution_column)
                self.solution_column = solution_column or self._solution_column(self.column)
                self.rules, self.notation = self._choose_notation(given, alphabet)
                break
            except InputError:
                if is_last:
                    raise
        self.problem = self.rules.main_problem
        self.reader = Reader(
            self.schema,
            self.column,
            self.solution_column,
            self.problem,
            self.notation,
            self._choose_solution_notation(),
            self.rules,
            filename,
        )

    @property
    def rule_columns(self) -> tuple[str, ...]:
        """The columns that give rows rules of their own."""
        return self.rules.names

    def batches(self, most_rows: int | None = None) -> Iterator[Batch]:
        """Yield the blocks of the corpus, parsed in this process."""
        return map(self.reader.read, self.blocks(most_rows=most_rows))

    def stacks(self) -> Iterator[Stacks]:
        """Read the corpus in this process; yield the stacks of each block, with rows as roots."""
        for batch in self.batches():
            yield from (group.stacks for group in batch.groups())

    def perhaps_numbers(self) -> list[str]:
        """Return the text columns that hold only numbers, judging by the first rows.

        The columns of puzzles and solutions stay text, and so do all columns of standard input and
        of remote files, which are not read twice.
        """
        for source in self._sources:
            is_text = isinstance(source.layout, Delimited | Lines)
            if not is_text or source.path == "-" or is_address(source.path):
                return []
        names = [name for name in self.columns if name not in (self.column, self.solution_column)]
        return [name for name, kinds in number_kinds(names, self._sample).items() if kinds]

    def _samples(self) -> Iterator[tuple[pa.Table, bool]]:
        """Yield the first rows, and True if the sample is complete.

        Only input that arrives slowly has several samples. `blocks` yields all blocks again.
        """
        tables = [self.schema.empty_table()]
        n_rows = 0
        for block in self._rest:
            self._kept.append(block)
            tables.append(block.rows().table)
            n_rows += len(tables[-1])
            if n_rows >= SAMPLE_ROWS:
                break
            if n_rows and self.waits():
                yield pa.concat_tables(tables), False
        if n_rows == 0 and isinstance(self._sources[0].layout, Lines):
            names = ", ".join(name_of(source.path) for source in self._sources)
            raise InputError(f"{names}: no puzzles, only comments or blank lines")
        yield pa.concat_tables(tables), True

    def _check_named(self, column: str | None, solution_column: str | None) -> None:
        for name in (column, solution_column):
            if name is not None and name not in self.columns:
                raise InputError(f"unknown column {quoted(name)}; choose from {self._names()}")
        if column is not None and column == solution_column:
            raise InputError(
                f"column {quoted(column)} is named as that of puzzles and of solutions; name two"
            )

    def _puzzle_column(self, taken: str | None) -> str:
        by_name = [name for name in self._named(PUZZLE_NAMES) if name != taken]
        if len(by_name) > 1:
            by_name = [name for name in by_name if self._grids(name)] or by_name
        if len(by_name) == 1:
            return by_name[0]
        others = [name for name in self.columns if name not in (taken, *COLUMNS)]
        shapes = {name: self._grids(name) for name in by_name or others}
        grids = {name: survey for name, survey in shapes.items() if survey is not None}
        if len(grids) > 1:
            grids = {name: survey for name, survey in grids.items() if survey.has_blanks()} or grids
        if len(grids) != 1:
            if grids:
                which = f"several columns hold grids ({', '.join(map(shortened, grids))})"
            else:
                which = f"no column is known as a puzzle column, nor holds grids: {self._names()}"
            raise InputError(f"{which}{self._parted()}; say which with `column`")
        return next(iter(grids))

    def _solution_column(self, taken: str) -> str | None:
        named = [name for name in self._named(SOLUTION_NAMES) if name != taken]
        grids = [name for name in named if self._grids(name)]
        return next(iter(grids or named), None)

    def _choose_solution_notation(self) -> Notation:
        """Return the notation of given solutions: that of the puzzles, unless the form differs."""
        if self.solution_column is not None:
            survey = self._grids(self.solution_column)
            if survey is not None and survey.prefers_numbers(self.notation.n_digits) == bool(
                self.notation.symbols
            ):
                try:
                    return survey.notation(self.notation.n_digits)
                except AmbiguousNotationError:
                    pass
        return self.notation

    def _grids(self, name: str) -> Survey | None:
        """Return a survey of a column if most of its values are grids of one size."""
        try:
            survey = Survey(self._blank)
            survey.add(_texts(self._sample, name))
            size = survey.size()
            if size is None:
                return None
            survey.notation(size)
        except AmbiguousNotationError:
            pass
        except InputError:
            return None
        return survey

    def _named(self, known: Sequence[str]) -> list[str]:
        plain = [name.lower().strip().replace(" ", "_") for name in self.columns]
        each = list(zip(self.columns, plain, strict=True))
        return [column for name in known for column, like in each if like == name]

    def _names(self) -> str:
        return listed(self.columns)

    def _parted(self) -> str:
        """Return the delimiter in words, because it may be the mistake."""
        names = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
        delimiter = self._sources[0].layout.delimiter
        return f" (separated by {names[delimiter]})" if delimiter else ""

    def _choose_notation(
        self, given: RuleColumns, alphabet: str | None
    ) -> tuple[RuleColumns, Notation]:
        names = tuple(filter(self._holds_rules, COLUMNS))
        if (drawn := self._drawn(given)) is not None:
            columns = replace(drawn, names=names)
            assert columns.drawing is not None
            return columns, drawn_notation(columns.n_digits, columns.drawing, alphabet, self._blank)
        survey = Survey(self._blank)
        survey.add(_texts(self._sample, self.column))
        size = given.known_digits or survey.size(
            needs_boxes=not {REGIONS, CONSTRAINTS}.intersection(names)
        )
        if not len(self._sample):  # without rows, any choice will do
            size = size or 9
            alphabet = alphabet or usual_notation(size).name
        if size is None:
            raise InputError(
                f"column {quoted(self.column)} holds no grids: {self._example()}; a 9×9 grid has "
                f"81 characters, a 16×16 grid 256"
            )
        columns = replace(given, n_digits=size, names=names)
        if alphabet is not None:
            return columns, Notation.from_name(alphabet, size, self._blank)
        try:
            return columns, survey.notation(size)
        except AmbiguousNotationError as error:
            notation = self._notation_of_whole_column(size, error)
        except InputError as error:
            raise InputError(f"column {quoted(self.column)}: {error}: {self._example()}") from error
        return columns, notation

    def _drawn(self, given: RuleColumns) -> RuleColumns | None:
        """Return the rules of grids that overlap, if most of the first values are such grids.

        Their layout is drawn in the values, or named among the rules.
        """
        values = as_text(self._sample[self.column][:100], self.column).to_pylist()
        drawing = _most_common(drawing_of(value or "") for value in values)
        name, _ = split_layout(given.rules)
        if name is None and self._holds_rules(RULES) and given.fixed is None:
            texts = _texts(self._sample, RULES)[:100].to_pylist()
            name = _most_common(_layout_in(text or "") for text in texts)
        if drawing is None and name is None:
            return None
        n = given.known_digits or 9
        if name is not None:
            given = replace(given, rules="+".join(filter(None, (name, given.rules))))
            drawing = drawing or grid_rules(n, given.box, name).drawing
        return replace(given, n_digits=n, drawing=drawing)

    def _columns_of_rules(self, named: str | None) -> list[str]:
        """Return the columns of rules that a user names, or all that can be some."""
        if named is None:
            return [name for name in COLUMNS if name in self.columns and self._has_texts(name)]
        names = [name.strip() for name in named.split(",") if name.strip() != "none"]
        if wrong := set(names).difference(COLUMNS):
            raise InputError(
                f"{quoted(min(wrong))} is no name of a column of rules; choose from "
                f"{', '.join(COLUMNS)}, or none"
            )
        if wrong := set(names).difference(self.columns):
            raise InputError(f"unknown column {quoted(min(wrong))}; choose from {self._names()}")
        return names

    def _holds_rules(self, name: str) -> bool:
        return name in self._rule_columns and name not in (self.column, self.solution_column)

    def _has_texts(self, name: str) -> bool:
        """Tell whether a column holds texts, lists or objects."""
        kind, types = self.schema.field(name).type, pa.types
        kind = kind.value_type if types.is_dictionary(kind) else kind
        is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
        return is_text or is_list(kind) or types.is_struct(kind)

    def _notation_of_whole_column(self, size: int, doubt: AmbiguousNotationError) -> Notation:
        """Read the whole column in an extra pass to find its alphabet."""
        try:
            if any(source.path == "-" for source in self._sources):
                raise doubt
            survey = Survey(self._blank)
            for block in self._blocks_from(Boundary(0, 0)):
                survey.add(_texts(block.rows().table, self.column))
            return survey.notation(size)
        except AmbiguousNotationError as error:
            raise InputError(f"column {quoted(self.column)}: {error}") from error

    def _example(self) -> str:
        values = self._sample[self.column]
        if values.null_count == len(values):
            return f"it is empty, without a value in the first {counted(len(values), 'row')}"
        value = values[0].as_py()
        if value is None:
            return "the first value is null"
        text = str(value).strip()
        return f"the first value is {text[:100]!r}, {len(text)} characters"


def _most_common(values: Iterable[str | None]) -> str | None:
    """Return the most common of some values, or None if there are none."""
    found = Counter(values).most_common(1)
    return found[0][0] if found else None


def _layout_in(rules: str) -> str | None:
    """Return the name of the layout among some rules, whatever else these are."""
    with suppress(ProblemError):
        return split_layout(rules)[0]
    return None


def _texts(table: pa.Table, column: str) -> pa.Array:
    """Return a column as texts without line ends."""
    return in_one_line(as_text(table[column], column))
