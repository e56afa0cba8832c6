"""Solving puzzles in memory: an array, a list of texts, or one puzzle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.engines.choice import engines_for_rows
from batchsolve.errors import InputError, counted, is_table, not_but, quoted
from batchsolve.formats.drawings import html_grid, read_grid
from batchsolve.problems.answers import STATUS_NAMES, Answers, Status
from batchsolve.problems.grids import as_grids_array
from batchsolve.problems.notation import Notation, default_box, usual_notation
from batchsolve.problems.stacks import Group
from batchsolve.problems.sudoku import Sudoku, sudoku
from batchsolve.search.rows import Writer, search_rows
from batchsolve.settings import AUTO, UNLIMITED, SearchSettings, whole_number
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.frames import text_column
from batchsolve.tables.reader import Batch
from batchsolve.tables.sources import TableSource
from batchsolve.workers.pool import Pool

BLOCK_CELLS = 1_000_000  # 12,000 9×9 grids
SHOWN_ROWS = 10


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
    box : (int, int)
        Rows and columns of a box.
    alphabet : str
        The alphabet of the solution.
    message : str or None
        The fault of an invalid puzzle.

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
    box: tuple[int, int] = field(repr=False)
    alphabet: str = field(repr=False)
    message: str | None = field(default=None, repr=False)

    def _repr_html_(self) -> str:
        """Return the solution as a grid, or the reason for its absence, for a notebook."""
        why = escape(self.message or counted(self.n_solutions, "solution"))
        facts = f"<p>{self.status}, {why}</p>"
        if self.solution is None:
            return facts
        problem, notation, grid = read_grid(self.solution, self.box, self.alphabet)
        return facts + html_grid(problem, notation, grid)


@dataclass(frozen=True, eq=False)
class BatchResult:
    """The answers to many puzzles.

    Attributes
    ----------
    solutions : ndarray of uint8, shape (n, N²)
        The first solution in tree order, or that of the engine ``sat``; 0 if none was found.
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

    solutions: npt.NDArray[np.uint8]
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
        solved = np.asarray(self.solutions.any(axis=1))
        texts: list[str | None] = self.notation.decode(self.solutions[solved], solved).to_pylist()
        return texts


def solve_batch(
    grids: Any,
    problem: Sudoku | None = None,
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
        Digits 1 .. N; blank cells hold 0 or -1, or are masked. Or a list, an Arrow array, or a
        series of pandas or polars with the puzzles as text.
    problem : Sudoku, optional
        The shape of the boxes; by default the usual one for N.
    alphabet : str, optional
        The alphabet of texts that leave it open.
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
        If the argument does not hold grids of one size; the message names the function to call.

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
    """
    limit = whole_number("limit", limit, 1)
    corpus = _corpus_of(grids, problem, alphabet, blank)
    settings = SearchSettings(limit=limit, node_limit=node_limit, engine=engine)
    writer = _Arrays(corpus.problem, limit)
    with Pool(jobs, backend, address) as pool:
        parts = list(answered(corpus, writer, settings, pool))
    if not parts:
        nothing = _GridBatch(corpus.problem, np.zeros((0, corpus.problem.n_cells), np.uint8))
        parts = [writer.write(nothing, Answers.unknown(0))]
    columns = ("solutions", "status", "n_solutions", "nodes")
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in columns
    }
    ends = np.cumsum([len(part.status) for part in parts])
    messages = {
        int(end) - len(part.status) + row: message
        for part, end in zip(parts, ends, strict=True)
        for row, message in part.messages.items()
    }
    return BatchResult(**joined, messages=messages, notation=corpus.notation)


def answered(
    corpus: Corpus | _GridArray, writer: Writer, settings: SearchSettings, pool: Pool
) -> Iterator[Any]:
    """Yield the answers to the blocks of a corpus, in order, as a writer renders them."""
    engines = engines_for_rows(settings.engine, corpus.problem, settings.limit or UNLIMITED)
    how = engines.engine, pool, settings, corpus.reader, writer, engines.handover
    for _, written in search_rows(corpus.blocks(), *how):
        yield written


def _corpus_of(
    grids: Any, problem: Sudoku | None, alphabet: str | None, blank: str | None
) -> Corpus | _GridArray:
    if problem is not None and not isinstance(problem, Sudoku):
        raise InputError(f"the problem is a Sudoku, such as Sudoku(3, 3), not {quoted(problem)}")
    if isinstance(grids, str | bytes) or is_table(grids) or not _is_column(grids):
        raise InputError(f"grids are an array, or texts in a list, {not_but(grids)}")
    texts = text_column(grids)
    if texts is None:
        array = _array_of(grids)
        problem = problem or _problem_of(array)
        return _GridArray(problem, problem.as_grids(array))
    box = (problem.box_rows, problem.box_columns) if problem else None
    return Corpus([TableSource(pa.table({"puzzle": texts}))], "puzzle", box, alphabet, blank)


@dataclass(frozen=True, eq=False)
class _GridBatch:
    """Some consecutive grids of an array."""

    problem: Sudoku
    puzzles: npt.NDArray[np.uint8]
    faults: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.puzzles)

    def groups(self) -> list[Group]:
        return [Group(self.problem, self.problem.stacks(self.puzzles))]


@dataclass(frozen=True)
class _ReadAlready:
    """A reader of blocks that are arrays of grids."""

    problem: Sudoku

    def read(self, block: npt.NDArray[np.uint8]) -> _GridBatch:
        return _GridBatch(self.problem, block)


@dataclass(frozen=True, eq=False)
class _GridArray:
    """An array of grids."""

    problem: Sudoku
    grids: npt.NDArray[np.uint8]

    @property
    def reader(self) -> _ReadAlready:
        return _ReadAlready(self.problem)

    @property
    def notation(self) -> Notation:
        return usual_notation(self.problem.n_digits)

    def blocks(self) -> Iterator[npt.NDArray[np.uint8]]:
        size = max(64, BLOCK_CELLS // self.problem.n_cells)
        return (self.grids[begin : begin + size] for begin in range(0, len(self.grids), size))


class _AnswerArrays(NamedTuple):
    """The columns of a result for some consecutive rows."""

    solutions: npt.NDArray[np.uint8]
    status: npt.NDArray[np.str_]
    n_solutions: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int64]
    messages: dict[int, str | None]


@dataclass(frozen=True, eq=False)
class _Arrays:
    """A writer of answers as arrays."""

    problem: Sudoku
    limit: int

    def write(self, batch: _GridBatch | Batch, answers: Answers) -> _AnswerArrays:
        solutions = np.zeros((len(answers), self.problem.n_cells), np.uint8)
        solutions[answers.covers.roots] = self.problem.grids(answers.covers)
        status = answers.status(self.limit)
        status[list(batch.faults)] = Status.INVALID
        counts = np.minimum(answers.counts, self.limit)
        messages = answers.messages(self.problem, batch.puzzles) | batch.faults
        return _AnswerArrays(solutions, STATUS_NAMES[status], counts, answers.nodes, messages)


def solve(
    text: str,
    *,
    limit: int = 2,
    box: tuple[int, int] | None = None,
    alphabet: str | None = None,
    blank: str | None = None,
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
    problem, notation, grid = read_grid(text, box, alphabet, blank=blank)
    result = solve_batch(grid[None], problem, limit=limit, jobs=1)
    return Answer(
        status=str(result.status[0]),
        solution=replace(result, notation=notation).text()[0],
        n_solutions=int(result.n_solutions[0]),
        nodes=int(result.nodes[0]),
        box=(problem.box_rows, problem.box_columns),
        alphabet=notation.name,
        message=result.messages.get(0),
    )


def _is_column(grids: Any) -> bool:
    return any(hasattr(grids, name) for name in ("__getitem__", "__array__", "__arrow_c_stream__"))


def _array_of(grids: Any) -> npt.NDArray[Any]:
    """Return grids, given as digits, as an array."""
    array = as_grids_array(grids)
    if array.ndim == 1 and array.size:
        raise InputError(
            f"grids must have shape (n, N²) or (n, N, N), or be texts (str), not {array.shape}; "
            f"the first is {quoted(array[0].item() if array.dtype != object else array[0])}"
        )
    return array


def _problem_of(grids: npt.NDArray[Any]) -> Sudoku:
    cells = grids.shape[1] if grids.ndim == 2 else grids.shape[-1] ** 2 if grids.ndim == 3 else 0
    n = round(cells**0.5)
    box = default_box(n) if n * n == cells else None
    if box is None:
        raise InputError(f"grids must have shape (n, N²) or (n, N, N), not {grids.shape}")
    return sudoku(*box)
