"""Solving an array of puzzles, or one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.engines.choice import engine_for_rows, handover_for_rows
from batchsolve.errors import InputError
from batchsolve.problems.answers import STATUS_NAMES, Answers
from batchsolve.problems.drawings import read_grid
from batchsolve.problems.notation import default_box
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku, sudoku
from batchsolve.search.rows import RowSearch
from batchsolve.settings import AUTO, SearchSettings
from batchsolve.workers.pool import Pool

BLOCK_CELLS = 1_000_000  # 12,000 9×9 grids


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
    """

    status: str
    solution: str | None
    n_solutions: int
    nodes: int


@dataclass(frozen=True, eq=False)
class BatchResult:
    """The answers to many puzzles.

    Attributes
    ----------
    solutions : ndarray of uint8, shape (n, N²)
        The first solution in tree order, or that of the engine ``sat``; 0 where there is none.
    status : ndarray of str, shape (n,)
        ``unique``, ``multiple``, ``solved``, ``unsolvable``, ``unfinished`` or ``invalid``.
    n_solutions : ndarray of int64, shape (n,)
        Solutions found, at most the limit.
    nodes : ndarray of int64, shape (n,)
        Nodes visited.
    """

    solutions: npt.NDArray[np.uint8]
    status: npt.NDArray[np.str_]
    n_solutions: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int64]


def solve_batch(
    grids: npt.ArrayLike,
    problem: Sudoku | None = None,
    *,
    limit: int = 2,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    engine: str = AUTO,
    node_limit: int | None = None,
) -> BatchResult:
    """Solve an array of puzzles.

    Parameters
    ----------
    grids : array_like of int, shape (n, N²) or (n, N, N)
        Digits 1 .. N, 0 for blank cells.
    problem : Sudoku, optional
        The shape of the boxes; by default the usual one for N.
    limit : int
        Solutions to look for; 2 proves uniqueness.
    jobs, backend, address, engine, node_limit
        As in `solve_file`.

    Returns
    -------
    BatchResult

    Examples
    --------
    >>> import numpy as np
    >>> grids = np.zeros((2, 16), np.uint8)
    >>> grids[0, [0, 6, 9, 15]] = [1, 2, 3, 4]
    >>> result = solve_batch(grids)
    >>> result.status.tolist(), result.solutions[0].tolist()
    (['unique', 'multiple'], [1, 2, 4, 3, 3, 4, 2, 1, 4, 3, 1, 2, 2, 1, 3, 4])
    """
    if problem is None:
        problem = _problem_of(np.asarray(grids))
    puzzles = problem.as_grids(grids)
    settings = SearchSettings(limit=limit, node_limit=node_limit, engine=engine)
    size = max(64, BLOCK_CELLS // problem.n_cells)
    blocks = (puzzles[begin : begin + size] for begin in range(0, len(puzzles), size))
    kernel = engine_for_rows(engine, problem)
    handover = handover_for_rows(engine, problem, limit)
    arrays = _Arrays(problem, limit)
    with Pool(jobs, backend, address) as pool:
        search = RowSearch(problem, kernel, pool, settings, arrays, arrays, handover)
        parts = [part for _, part in search.run(blocks)]
    if not parts:
        parts = [arrays.write(arrays.read(puzzles), Answers.unknown(0))]
    joined = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return BatchResult(*joined)


@dataclass(frozen=True, eq=False)
class _GridBatch:
    """Some consecutive grids of an array."""

    grids: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.grids)

    def stacks(self, problem: Sudoku) -> Stacks:
        return problem.stacks(self.grids)


@dataclass(frozen=True, eq=False)
class _Arrays:
    """Reads blocks that are arrays of grids, and writes answers as the columns of a result."""

    problem: Sudoku
    limit: int

    def read(self, block: npt.NDArray[np.uint8]) -> _GridBatch:
        return _GridBatch(block)

    def write(self, batch: _GridBatch, answers: Answers) -> tuple[npt.NDArray[Any], ...]:
        solutions = np.zeros_like(batch.grids)
        self.problem.write_grids(answers.covers, solutions)
        status = STATUS_NAMES[answers.status(self.limit)]
        return solutions, status, np.minimum(answers.counts, self.limit), answers.nodes


def solve(
    text: str,
    *,
    limit: int = 2,
    box: tuple[int, int] | None = None,
    alphabet: str | None = None,
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

    Returns
    -------
    Answer
        Its status, its first solution in tree order, and the number of solutions found.

    Examples
    --------
    >>> solve("1.....2..3.....4")
    Answer(status='unique', solution='1243342143122134', n_solutions=1, nodes=1)
    """
    problem, notation, grid = read_grid(text, box, alphabet)
    result = solve_batch(grid[None], problem, limit=limit, jobs=1)
    solved = np.asarray(result.solutions.any(axis=1))
    return Answer(
        status=str(result.status[0]),
        solution=notation.decode(result.solutions[solved], solved)[0].as_py(),
        n_solutions=int(result.n_solutions[0]),
        nodes=int(result.nodes[0]),
    )


def _problem_of(grids: npt.NDArray[Any]) -> Sudoku:
    cells = grids.shape[1] if grids.ndim == 2 else grids.shape[-1] ** 2 if grids.ndim == 3 else 0
    n = round(cells**0.5)
    box = default_box(n) if n * n == cells else None
    if box is None:
        raise InputError(f"grids must have shape (n, N²) or (n, N, N), not {grids.shape}")
    return sudoku(*box)
