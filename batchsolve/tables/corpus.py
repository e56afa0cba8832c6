"""A corpus: tables of puzzles with their puzzle column, notation and size found out.

The column is found by its name or by the shape of its values; size and alphabet are chosen from
many rows, never from one. What cannot be decided is an error that shows the choices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from batchsolve.errors import InputError
from batchsolve.problems.notation import Notation, default_box
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku, sudoku
from batchsolve.problems.survey import AmbiguousNotationError, Survey
from batchsolve.tables.sources import Rows, open_source

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


@dataclass(frozen=True, eq=False)
class Batch:
    """Some consecutive rows, read.

    Attributes
    ----------
    table : pyarrow.Table
        The input columns.
    puzzles : ndarray of uint8, shape (n, N²)
        Digits; a row with a fault is meaningless.
    given : ndarray of uint8, shape (n, N²), or None
        The given solutions, all 0 where there is none.
    has_given : ndarray of bool, shape (n,), or None
        Where the given solution is not empty.
    faults : dict of int to str
        Malformed rows, and what is wrong with them.
    """

    table: pa.Table
    puzzles: npt.NDArray[np.uint8]
    given: npt.NDArray[np.uint8] | None
    has_given: npt.NDArray[np.bool_] | None
    faults: dict[int, str]

    def __len__(self) -> int:
        return len(self.table)

    def cut(self, n: int) -> tuple[Batch, Batch]:
        """Return the first n rows and the others."""
        halves = []
        for begin, end in ((0, n), (n, len(self))):
            halves.append(
                Batch(
                    self.table.slice(begin, end - begin),
                    self.puzzles[begin:end],
                    None if self.given is None else self.given[begin:end],
                    None if self.has_given is None else self.has_given[begin:end],
                    {k - begin: why for k, why in self.faults.items() if begin <= k < end},
                )
            )
        return halves[0], halves[1]

    def stacks(self, problem: Sudoku) -> Stacks:
        """Return the stacks of the well-formed rows, with row numbers as roots."""
        good = np.ones(len(self), np.bool_)
        good[list(self.faults)] = False
        rows = np.flatnonzero(good)
        puzzles = self.puzzles if rows.size == len(self) else self.puzzles[rows]
        return problem.stacks(puzzles).with_roots(rows)


class Corpus:
    """Tables of puzzles as one stream of rows.

    Parameters
    ----------
    paths : sequence of str
        Files of the same columns, or ``-`` for standard input.
    column : str, optional
        The puzzle column.
    box : (int, int), optional
        Rows and columns of a box; by default from the size of the puzzles.
    alphabet : str, optional
        The alphabet; by default from the whole column.

    Attributes
    ----------
    columns : list of str
        The input columns.
    column, solution_column : str
        The puzzle column, and that of given solutions or None.
    problem : Sudoku
    notation : Notation

    Raises
    ------
    InputError
        If the tables cannot be read or do not say which puzzles they hold.
    """

    def __init__(
        self,
        paths: Sequence[str],
        column: str | None = None,
        box: tuple[int, int] | None = None,
        alphabet: str | None = None,
    ) -> None:
        if not paths:
            raise InputError("no input; name a file, or - for standard input")
        self._sources = [open_source(path) for path in paths]
        self._kept, self._rest = self._peek()
        self.schema = self._kept[0].table.schema
        self.columns = list(self.schema.names)
        twice = [name for name in self.columns if self.columns.count(name) > 1]
        if twice:
            raise InputError(f"{paths[0]}: names the column {twice[0]!r} twice; rename one")
        self.column, self.solution_column = self._choose_columns(column)
        self.problem, self.notation = self._choose_notation(box, alphabet)
        self._solution_notation = self._choose_solution_notation()

    def batches(self, chunk: int, skip: int = 0) -> Iterator[Batch]:
        """Read the corpus once, in batches of `chunk` rows, after skipping some rows."""
        rest: list[Rows] = []
        waiting = 0
        failure: InputError | None = None
        stream = chain(self._kept, self._rest)
        while True:
            try:
                rows = next(stream)
            except StopIteration:
                break
            except InputError as error:
                failure = error  # what was read before it is answered all the same
                break
            if skip:
                rows, skip = _slice(rows, skip), max(0, skip - len(rows.table))
            if len(rows.table) == 0:
                continue
            rest.append(rows)
            waiting += len(rows.table)
            if waiting >= chunk:
                whole = _join(rest)
                for begin in range(0, waiting - chunk + 1, chunk):
                    yield self._batch(_slice(whole, begin, chunk))
                begin = waiting - waiting % chunk
                rest, waiting = [_slice(whole, begin)], waiting % chunk
        if waiting:
            yield self._batch(_join(rest))
        if failure is not None:
            raise failure

    def _peek(self) -> tuple[list[Rows], Iterator[Rows]]:
        """Read the first rows, and leave the others to be read."""
        stream = self._stream()
        kept: list[Rows] = []
        for rows in stream:
            kept.append(rows)
            if sum(len(r.table) for r in kept) >= SAMPLE_ROWS:
                break
        if not kept:
            names = ", ".join(source.name for source in self._sources)
            raise InputError(f"{names}: no puzzles, only comments or blank lines")
        return kept, stream

    def _stream(self) -> Iterator[Rows]:
        schema: pa.Schema | None = None
        for source in self._sources:
            for rows in source.rows():
                if schema is None:
                    schema = rows.table.schema
                if not rows.table.schema.equals(schema):
                    raise InputError(
                        f"{source.name}: has the columns {_describe(rows.table.schema)} where "
                        f"{self._sources[0].name} has {_describe(schema)}; solve them apart"
                    )
                yield rows

    def _choose_columns(self, column: str | None) -> tuple[str, str | None]:
        sample = pa.concat_tables([rows.table for rows in self._kept])
        if column is not None:
            if column not in self.columns:
                raise InputError(f"no column is called {column!r}; there is: {self._names()}")
            return column, self._solution_column({column})
        by_name = self._named(PUZZLE_NAMES)
        if len(by_name) > 1:
            by_name = [name for name in by_name if _grids(sample[name])] or by_name
        if len(by_name) == 1:
            return by_name[0], self._solution_column(set(by_name))
        shapes = {name: _grids(sample[name]) for name in by_name or self.columns}
        grids = {name: survey for name, survey in shapes.items() if survey is not None}
        if len(grids) > 1:
            grids = {name: survey for name, survey in grids.items() if survey.has_blanks()} or grids
        if len(grids) != 1:
            if grids:
                which = f"several columns hold grids ({', '.join(grids)})"
            else:
                which = f"no column is known as a puzzle column, nor holds grids: {self._names()}"
            raise InputError(f"{which}{self._parted()}; say which with --column")
        return next(iter(grids)), self._solution_column(set(grids))

    def _solution_column(self, taken: set[str]) -> str | None:
        sample = pa.concat_tables([rows.table for rows in self._kept])
        named = [name for name in self._named(SOLUTION_NAMES) if name not in taken]
        grids = [name for name in named if _grids(sample[name])]
        return next(iter(grids or named), None)

    def _choose_solution_notation(self) -> Notation:
        """Return how given solutions are written: as the puzzles, unless the form differs."""
        if self.solution_column is not None:
            sample = pa.concat_tables([rows.table for rows in self._kept])
            survey = _grids(sample[self.solution_column])
            if survey is not None and survey.prefers_numbers(self.notation.n_digits) == bool(
                self.notation.symbols
            ):
                try:
                    return survey.notation(self.notation.n_digits)
                except AmbiguousNotationError:
                    pass
        return self.notation

    def _named(self, known: Sequence[str]) -> list[str]:
        lower = {name.lower().strip().replace(" ", "_"): name for name in self.columns}
        return [lower[name] for name in known if name in lower]

    def _names(self) -> str:
        return ", ".join(map(repr, self.columns))

    def _parted(self) -> str:
        """Say what parts the columns, for that may be what is wrong."""
        names = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
        delimiter = self._sources[0].delimiter
        return f" (parted by {names[delimiter]})" if delimiter else ""

    def _choose_notation(
        self, box: tuple[int, int] | None, alphabet: str | None
    ) -> tuple[Sudoku, Notation]:
        survey = Survey()
        for rows in self._kept:
            survey.add(_as_text(rows.table[self.column], self.column))
        size = box[0] * box[1] if box else survey.size()
        if size is None:
            if not any(len(rows.table) for rows in self._kept):
                size = 9
                alphabet = alphabet or "1-9"
            else:
                raise InputError(
                    f"column {self.column!r} holds no grids: {self._example()}; a 9×9 grid has 81 "
                    f"characters, a 16×16 grid 256"
                )
        shape = box or default_box(size)
        if shape is None:
            raise InputError(f"there are no boxes for {size} digits; say --box RxC")
        problem = sudoku(*shape)
        if alphabet is not None:
            return problem, Notation.from_name(alphabet, size)
        try:
            return problem, survey.notation(size)
        except AmbiguousNotationError as error:
            notation = self._notation_of_whole_column(size, error)
        except InputError as error:
            raise InputError(f"column {self.column!r}: {error}: {self._example()}") from error
        return problem, notation

    def _notation_of_whole_column(self, size: int, doubt: AmbiguousNotationError) -> Notation:
        """Read every row once more than needed, to settle which alphabet it is."""
        try:
            if not all(source.rereadable for source in self._sources):
                raise doubt
            survey = Survey()
            for rows in self._stream():
                survey.add(_as_text(rows.table[self.column], self.column))
            return survey.notation(size)
        except AmbiguousNotationError as error:
            raise InputError(f"column {self.column!r}: {error}") from error

    def _example(self) -> str:
        values = chain.from_iterable(rows.table[self.column] for rows in self._kept)
        text = str(next(values).as_py()).strip()
        return f"the first value is {text[:100]!r}, {len(text)} characters"

    def _batch(self, rows: Rows) -> Batch:
        text = _as_text(rows.table[self.column], self.column)
        puzzles, wrong = self.notation.encode(text)
        faults = {
            k: self.notation.explain(text[k].as_py() or "", int(wrong[k]))
            for k in np.flatnonzero(wrong != -1).tolist()
        }
        given = has_given = None
        if self.solution_column is not None:
            answers = _as_text(rows.table[self.solution_column], self.solution_column)
            given, bad = self._solution_notation.encode(answers)
            given[bad != -1] = 0
            trimmed = pc.ascii_trim_whitespace(pc.fill_null(answers, ""))
            has_given = np.asarray(pc.greater(pc.binary_length(trimmed), 0))
        return Batch(rows.table, puzzles, given, has_given, faults | rows.faults)


def _describe(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in schema)


def _grids(column: pa.ChunkedArray) -> Survey | None:
    """Return a survey of a column if most of its values are grids of one size."""
    try:
        survey = Survey()
        survey.add(_as_text(column, ""))
        size = survey.size()
        if size is None:
            return None
        survey.notation(size)
    except AmbiguousNotationError:
        pass
    except InputError:
        return None
    return survey


def _as_text(column: pa.ChunkedArray, name: str) -> pa.Array:
    """Return a column as one string array; lists of numbers become numbers with blanks."""
    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        joined = [" ".join(map(str, _flat(value))) for value in column.to_pylist()]
        return pa.array(joined, pa.string())
    is_view = pa.types.is_string_view(kind)
    if pa.types.is_dictionary(kind) or pa.types.is_large_string(kind) or is_view:
        column = column.cast(pa.string())
    elif not pa.types.is_string(kind):
        raise InputError(
            f"column {name!r} holds {kind}, which does not keep leading zeros; store grids as text"
        )
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def _flat(value: object) -> Iterator[object]:
    if isinstance(value, list):
        for part in value:
            yield from _flat(part)
    else:
        yield "." if value is None else value


def _slice(rows: Rows, begin: int, length: int | None = None) -> Rows:
    table = rows.table.slice(begin, length)
    inside = range(begin, begin + len(table))
    return Rows(table, {k - begin: why for k, why in rows.faults.items() if k in inside})


def _join(parts: list[Rows]) -> Rows:
    faults: dict[int, str] = {}
    first = 0
    for part in parts:
        faults |= {first + k: why for k, why in part.faults.items()}
        first += len(part.table)
    return Rows(pa.concat_tables([part.table for part in parts]), faults)
