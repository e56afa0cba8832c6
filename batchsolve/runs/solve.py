"""Solving puzzles in memory: an array, a list of texts, a table, or one puzzle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from itertools import chain, count
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, Unpack, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.engines.choice import Choice
from batchsolve.errors import InputError, counted, is_unordered, not_but, quoted
from batchsolve.formats.drawings import read_grid
from batchsolve.pictures.svg import as_svg, drawn
from batchsolve.problems.answers import STATUS_NAMES, Answers
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import Notation
from batchsolve.problems.sudoku import Sudoku
from batchsolve.runs.in_memory import GridRows, batch_of, rows_of
from batchsolve.search.rows import Write, search_rows
from batchsolve.settings import (
    AUTO,
    UNLIMITED,
    FileSettings,
    SearchSettings,
    SolveFields,
    settings_of,
    whole_number,
)
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.frames import arrow_table, with_columns_of
from batchsolve.tables.inputs import Tables
from batchsolve.tables.reader import Batch
from batchsolve.tables.sources import TableSource
from batchsolve.workers.pool import Pool

if TYPE_CHECKING:
    from batchsolve.runs.destinations import RowTable

SHOWN_ROWS = 10
ROWS_OF_A_TABLE = 10_000  # that a dataset is cut into


@dataclass(frozen=True)
class Answer:
    """The answer to one puzzle.

    Attributes
    ----------
    status : str
        ``unique``, ``multiple``, ``solved``, ``unsolvable`` or ``invalid``.
    solution : str or None
        The first solution in tree order, or that of the engine ``sat``.
    n_solutions : int
        Solutions found, at most the limit.
    nodes : int
        Nodes visited.
    box : (int, int) or None
        Rows and columns of a box; None if other rules hold.
    alphabet : str
        The alphabet of the solution.
    message : str or None
        The fault of an invalid puzzle.
    problem : GridProblem
        The rules.

    Examples
    --------
    >>> answer = solve("1.....2..3.....4")
    >>> answer.status, answer.n_solutions
    ('unique', 1)
    >>> solve("11..............").message
    'digit 1 twice in a row: row 1, column 1 and row 1, column 2'
    """

    status: str
    solution: str | None
    n_solutions: int
    nodes: int
    box: tuple[int, int] | None = field(repr=False)
    alphabet: str = field(repr=False)
    message: str | None = field(repr=False)
    problem: GridProblem = field(repr=False, compare=False)

    def _repr_html_(self) -> str:
        """Return the solution as a grid, or the reason for its absence, for a notebook."""
        why = escape(self.message or counted(self.n_solutions, "solution"))
        facts = f"<p>{self.status}, {why}</p>"
        if self.solution is None:
            return facts
        cover = self.problem.stack(self.problem.parse(self.solution, self.alphabet)).tolist()
        notation = Notation.from_name(self.alphabet, self.problem.n_digits)
        return f"{facts}<div>{as_svg(drawn(self.problem, cover, (), notation), 'solution')}</div>"


@dataclass(frozen=True, eq=False)
class BatchResult:
    """The answers to many puzzles.

    Attributes
    ----------
    solutions : ndarray, shape (n, N²)
        The first solution in tree order, or that of the engine ``sat``; 0 if none was found. Of an
        array of integers, its shape and dtype; else of uint8.
    status : ndarray of str, shape (n,)
        ``unique``, ``multiple``, ``solved``, ``unsolvable``, ``unfinished`` or ``invalid``.
    n_solutions : ndarray of int64, shape (n,)
        Solutions found, at most the limit.
    nodes : ndarray of int64, shape (n,)
        Nodes visited.
    messages : dict of int to (str or None)
        The faults of invalid puzzles, and the reasons of failed searches.
    notation : Notation
        The notation of the puzzles; the usual one if they were digits.

    Examples
    --------
    >>> result = solve_batch(["1.....2..3.....4", "12.............."])
    >>> result.status.tolist(), result.n_solutions.tolist()
    (['unique', 'multiple'], [1, 2])
    >>> result.text()[0]
    '1243342143122134'
    """

    solutions: npt.NDArray[Any]
    status: npt.NDArray[np.str_]
    n_solutions: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int64]
    messages: dict[int, str | None] = field(repr=False)
    notation: Notation = field(repr=False)

    def __len__(self) -> int:
        return len(self.status)

    def __repr__(self) -> str:
        names, n = np.unique(self.status, return_counts=True)
        each = ", ".join(f"{k} {name}" for name, k in zip(names, n.tolist(), strict=True))
        return f"BatchResult({counted(len(self), 'row')}{': ' if each else ''}{each})"

    def _repr_html_(self) -> str:
        """Return a table of the first rows for a notebook."""
        few = slice(SHOWN_ROWS)
        first = replace(self, solutions=self.solutions[few], status=self.status[few])
        lines = [
            f"<tr><td>{row}</td><td>{status}</td><td>{n}</td>"
            f'<td style="font-family:monospace;text-align:left">{escape(text or "")}</td></tr>'
            for row, (status, n, text) in enumerate(
                zip(first.status.tolist(), self.n_solutions.tolist(), first.text(), strict=False)
            )
        ]
        names = ("", "status", "n_solutions", "solution")
        head = "".join(f"<th>{name}</th>" for name in names)
        return f"<p>{escape(repr(self))}</p><table><tr>{head}</tr>{''.join(lines)}</table>"

    def text(self) -> list[str | None]:
        """Return the solutions as text; None where none was found."""
        flat = self.solutions.reshape(-1, prod(self.solutions.shape[1:])).astype(np.uint8)
        solved = np.asarray(flat.any(axis=1))
        return self.notation.decode(flat[solved], solved).to_pylist()


def solve_batch(
    grids: Any,
    problem: GridProblem | Sequence[GridProblem] | None = None,
    *,
    alphabet: str | None = None,
    blank: str | None = None,
    limit: int = 2,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    engine: str = AUTO,
    node_limit: int | None = None,
) -> BatchResult:
    """Solve many puzzles, given as digits or as text.

    Parameters
    ----------
    grids : array_like of int, shape (n, N²) or (n, N, N); or n texts
        Digits 1 .. N; blank cells hold 0, -1, None or NaN, or are masked. Or a list, an Arrow
        array, or a series of pandas or polars with the puzzles as text. All have one size, because
        an array holds the solutions; `solve_table` takes texts of different sizes.
    problem : GridProblem, or sequence of GridProblem, optional
        Their rules: a `Sudoku` or a `Variant`; by default Sudoku with the usual boxes for N. Or
        the rules of each grid of an array; equal ones are searched together.
    alphabet : str, optional
        The alphabet of texts that leave it open, or of lists in Arrow arrays and series.
    blank : str, optional
        The characters of blank cells in texts; by default those of ``.0*_-`` that are not digits.
    limit : int
        Solutions to look for; 2 proves uniqueness.
    jobs : int, optional
        As in `solve_file`.
    backend : str
        As in `solve_file`.
    address : str, optional
        As in `solve_file`.
    engine : str
        As in `solve_file`.
    node_limit : int, optional
        As in `solve_file`.

    Returns
    -------
    BatchResult

    Raises
    ------
    InputError
        If the argument does not hold grids of one size; the message names the function to call. A
        malformed text is a row with the status ``invalid``.

    Examples
    --------
    >>> import numpy as np
    >>> grids = np.zeros((2, 16), np.uint8)
    >>> grids[0, [0, 6, 9, 15]] = [1, 2, 3, 4]
    >>> result = solve_batch(grids)
    >>> result.status.tolist(), result.solutions[0].tolist()
    (['unique', 'multiple'], [1, 2, 4, 3, 3, 4, 2, 1, 4, 3, 1, 2, 2, 1, 3, 4])
    >>> solve_batch(["1.....2..3.....4", "11.............."])
    BatchResult(2 rows: 1 invalid, 1 unique)
    >>> from batchsolve import Variant
    >>> from batchsolve.problems.rules import named, plain
    >>> with_diagonals = Variant(plain(2, 2) + named("x", 2, 2))
    >>> blank = np.zeros((2, 16), np.uint8)
    >>> solve_batch(blank, [Sudoku(2, 2), with_diagonals], limit=300).n_solutions.tolist()
    [288, 48]
    """
    limit = whole_number("limit", limit, 1)
    rows = rows_of(grids, problem, alphabet, blank)
    write = partial(_arrays, rows.problem, rows.notation, limit)
    settings = SearchSettings(limit=limit, node_limit=node_limit, engine=engine)
    with Pool(jobs, backend, address) as pool:
        parts = list(_answered(rows, write, settings, pool))
    if not parts:
        nothing = np.zeros((0, rows.problem.n_cells), np.uint8)
        parts = [write(batch_of(([(rows.problem, np.arange(0))], nothing)), Answers.unknown(0))]
    columns = ("solutions", "status", "n_solutions", "nodes")
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in columns
    }
    if isinstance(grids, np.ndarray) and np.issubdtype(grids.dtype, np.integer):
        found = joined["solutions"].astype(grids.dtype, copy=False)
        if found.size == grids.size:  # grids that overlap have fewer cells than their drawing
            found = found.reshape(grids.shape)
        joined["solutions"] = found
    ends = np.cumsum([len(part.status) for part in parts])
    messages = {
        int(end) - len(part.status) + row: message
        for part, end in zip(parts, ends, strict=True)
        for row, message in part.messages.items()
    }
    return BatchResult(**joined, messages=messages, notation=rows.notation)


def _answered(rows: GridRows, write: Write, settings: SearchSettings, pool: Pool) -> Iterator[Any]:
    """Yield the answers to blocks of rows, in order, as `write` renders them."""
    limit = settings.limit or UNLIMITED
    choice = Choice.for_grids(settings.engine, rows.problem, limit, rows.sizes_vary)
    for _, written in search_rows(rows.blocks, choice, pool, settings, rows.read, write):
        yield written


def _arrays(
    problem: GridProblem, notation: Notation, limit: int, batch: Batch, answers: Answers
) -> BatchResult:
    """Return the answers to a block of rows as arrays."""
    solutions = np.zeros((len(answers), problem.n_cells), np.uint8)
    covers = answers.covers
    solutions[covers.roots] = problem.digits_of(covers)
    status, messages = batch.statuses(answers, limit)
    counts = np.minimum(answers.counts, limit)
    return BatchResult(solutions, STATUS_NAMES[status], counts, answers.nodes, messages, notation)


def solve(
    text: str,
    *,
    limit: int = 2,
    box: tuple[int, int] | None = None,
    alphabet: str | None = None,
    blank: str | None = None,
    rules: str | None = None,
    regions: str | None = None,
) -> Answer:
    """Solve one puzzle.

    Parameters
    ----------
    text : str
        The puzzle, as characters or numbers, or as a drawing.
    limit : int
        Solutions to look for; 2 proves uniqueness.
    box : (int, int), optional
        Rows and columns of a box; by default the usual ones for the size of the puzzle.
    alphabet : str, optional
        The alphabet, where the text leaves it open.
    blank : str, optional
        The characters of blank cells; by default those of ``.0*_-`` that are not digits.
    rules : str, optional
        As in `solve_file`.
    regions : str, optional
        As in `solve_file`.

    Returns
    -------
    Answer
        Its status, its first solution in tree order, and the number of solutions found.

    Raises
    ------
    InputError
        If the argument is not the text of one grid; the message names the function to call.

    Examples
    --------
    >>> solve("1.....2..3.....4")
    Answer(status='unique', solution='1243342143122134', n_solutions=1, nodes=1)
    """
    problem, notation, grid = read_grid(
        text, box, alphabet, blank=blank, rules=rules, regions=regions
    )
    limit = whole_number("limit", limit, 1)
    block = [(problem, np.arange(1))], grid[None]
    rows = GridRows(problem, notation, [block], batch_of, sizes_vary=False)
    write = partial(_arrays, problem, notation, limit)
    with Pool(jobs=1) as pool:
        [result] = _answered(rows, write, SearchSettings(limit=limit), pool)
    [solution] = result.solutions
    return Answer(
        status=str(result.status[0]),
        solution=notation.write(solution) if solution.any() else None,
        n_solutions=int(result.n_solutions[0]),
        nodes=int(result.nodes[0]),
        box=(problem.box_rows, problem.box_columns) if isinstance(problem, Sudoku) else None,
        alphabet=notation.name,
        message=result.messages.get(0),
        problem=problem,
    )


# ---- tables ---------------------------------------------------------------------------------


class DataFrame(Protocol):
    """A data frame of pandas or polars."""

    @property
    def columns(self) -> Any:
        """Its columns, or their names."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        ...


Frame = TypeVar("Frame", bound=DataFrame)


@overload
def solve_table(table: Frame, **settings: Unpack[SolveFields]) -> Frame: ...


@overload
def solve_table(table: Any, **settings: Unpack[SolveFields]) -> pa.Table: ...


def solve_table(table: Any, **settings: Unpack[SolveFields]) -> Any:
    """Solve a column of puzzles; return the table with columns of answers.

    Puzzles may have different sizes: each is what its length, or a column ``box``, says.

    Parameters
    ----------
    table : pyarrow.Table, pandas or polars data frame, or anything with ``__arrow_c_stream__``
    **settings
        As in `solve_file`, but for ``chunk``, ``filename``, ``stop_on_invalid`` and ``resume``:
        ``column``, ``alphabet``, ``rules``, …; ``stats`` and ``canonical``; ``limit``,
        ``node_limit``, ``engine``, …; ``jobs``, ``backend``, ``address``.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        A table of the same library, or else of Arrow: all columns of `table`, then ``solution``,
        ``status``, ``n_solutions``, ``agrees`` (if solutions are given) and ``message``. In pandas,
        integers and booleans are nullable: ``Int64`` and ``boolean``. If the puzzles are lists, so
        are the solutions.

    Raises
    ------
    InputError
        If the argument is not a table, or its puzzle column cannot be found.
    ProblemError
        If canonical forms are wanted of grids that are too large; see `canonical_forms`.

    Examples
    --------
    >>> table = pa.table({"id": [7, 8], "puzzle": ["1.....2..3.....4", "11.............."]})
    >>> solved = solve_table(table)
    >>> solved.column_names
    ['id', 'puzzle', 'solution', 'status', 'n_solutions', 'message']
    >>> solved["solution"].to_pylist(), solved["status"].to_pylist()
    (['1243342143122134', None], ['unique', 'invalid'])
    """
    search, files, workers = _in_memory(solve_table, settings)
    sources = [TableSource(arrow_table(table))]
    corpus = Corpus(sources, files)
    with workers as pool:
        return with_columns_of(_solved(corpus, corpus, search, files, pool), table)


def solve_stream(
    tables: Iterable[Any],
    **settings: Unpack[SolveFields],
) -> Iterator[Any]:
    """Solve tables one after another, as they come; see `solve_table`.

    A table is answered before the next one is asked for, so tables are not gathered.

    Parameters
    ----------
    tables : iterable of tables, or a reader of Arrow
        Tables that `solve_table` takes: of Arrow, data frames, …. Or a `pyarrow.RecordBatchReader`
        or another object with ``__arrow_c_stream__``, whose batches are the tables; or a dataset of
        the package `datasets`, which is cut into tables of 10,000 rows.
    **settings
        As in `solve_table`.

    Yields
    ------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        For each table, what `solve_table` returns. The first table with rows tells the columns of
        puzzles and of solutions, and the notation, for all.

    Raises
    ------
    InputError
        As in `solve_table`; also if a later table lacks a column that is read.

    Examples
    --------
    >>> tables = (pa.table({"puzzle": [text]}) for text in ["1.....2..3.....4", "12.............."])
    >>> [table["status"].to_pylist() for table in solve_stream(tables)]
    [['unique'], ['multiple']]
    """
    return _solved_one_by_one(_each_table(tables), *_in_memory(solve_stream, settings))


def _in_memory(
    caller: Callable[..., object], each: Mapping[str, Any]
) -> tuple[SearchSettings, FileSettings, Pool]:
    """Return the settings of a function of tables, and its workers."""
    workers, search, files = settings_of(caller, each, SearchSettings, FileSettings)
    return search.of_rows(), files, Pool(**workers)


def _each_table(tables: Any) -> Iterator[Any]:
    """Return an iterator over the tables of the argument of `solve_stream`."""
    if hasattr(tables, "__arrow_c_stream__"):
        return iter(pa.RecordBatchReader.from_stream(tables))
    if hasattr(tables, "with_format") and hasattr(tables, "iter"):
        return iter(tables.with_format("arrow").iter(batch_size=ROWS_OF_A_TABLE))
    if not is_unordered(tables) and not isinstance(tables, Sequence):
        raise InputError(f"tables are an iterable of them, or a reader of Arrow, {not_but(tables)}")
    return iter(tables)


def _solved_one_by_one(
    tables: Iterator[Any], search: SearchSettings, files: FileSettings, pool: Pool
) -> Iterator[Any]:
    """Yield tables with columns of answers."""
    names = map("table {:,}".format, count(1))
    sources = ((each, TableSource(arrow_table(each), next(names))) for each in tables)
    first = []
    for each, source in sources:
        first.append((each, source))
        if source.length:
            break
    if not first:
        return
    corpus = Corpus([first[-1][1]], files)
    wanted = corpus.reader.columns_read
    with pool:
        for each, source in chain(first, sources):
            read = corpus if source is first[-1][1] else Tables([source])
            if missing := [name for name in wanted if name not in read.columns]:
                raise InputError(f"{source.path}: has no column {quoted(missing[0])}")
            yield with_columns_of(_solved(read, corpus, search, files, pool), each)


def _solved(
    read: Tables, corpus: Corpus, search: SearchSettings, files: FileSettings, pool: Pool
) -> pa.Table:
    """Return a table with columns of answers; its puzzles are written as those of a corpus."""
    from batchsolve.tables.answers import AnswerTable  # loads pandas, if that is installed

    assert search.limit is not None
    reader = replace(corpus.reader, input_schema=read.schema)
    answers = AnswerTable(reader, search.limit, files.stats, files.canonical)
    rows = GridRows(corpus.problem, corpus.notation, read.blocks(), reader.read)
    return answered_table(rows, answers, search, pool)


def answered_table(
    rows: GridRows, table: RowTable, settings: SearchSettings, pool: Pool
) -> pa.Table:
    """Return an output table of the answers to rows."""
    parts = [part for part, _ in _answered(rows, table.rows, settings, pool)]
    return pa.concat_tables([table.schema.empty_table(), *parts])
