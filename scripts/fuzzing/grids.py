"""Puzzles with known answers: made from solved grids, and solved by a slow second search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from random import Random
from typing import NamedTuple

BLANKS = ".0*_"
SHAPES = {16: (2, 2), 36: (2, 3), 81: (3, 3)}  # cells -> rows and columns of a box


class Known(NamedTuple):
    """A puzzle, the answer that `solve` must give, and its solution if it is unique."""

    puzzle: str
    status: str
    solution: str


def solutions(puzzle: Sequence[int]) -> Iterator[list[int]]:
    """Yield all solutions of a grid, cell by cell, the cell with the fewest digits first.

    Examples
    --------
    >>> sum(1 for _ in solutions([0] * 16))
    288
    """
    cells = list(puzzle)
    peers = _peers(len(cells))
    if any(cells[k] and cells[k] == cells[j] for k in range(len(cells)) for j in peers[k]):
        return
    digits = set(range(1, round(len(cells) ** 0.5) + 1))

    def fill() -> Iterator[list[int]]:
        free = {k: digits - {cells[j] for j in peers[k]} for k, c in enumerate(cells) if not c}
        if not free:
            yield list(cells)
            return
        k = min(free, key=lambda k: len(free[k]))
        for digit in sorted(free[k]):
            cells[k] = digit
            yield from fill()
        cells[k] = 0

    yield from fill()


@cache
def _peers(n_cells: int) -> list[set[int]]:
    """Return for every cell the other cells of its row, column and box."""
    n, (rows, columns) = round(n_cells**0.5), SHAPES[n_cells]

    def units(k: int) -> tuple[int, int, int]:
        row, column = divmod(k, n)
        return row, n + column, 2 * n + row // rows * rows + column // columns

    cells = range(n_cells)
    return [{j for j in cells if j != k and set(units(j)) & set(units(k))} for k in cells]


@cache
def known_puzzles(n_cells: int, n: int = 24) -> tuple[Known, ...]:
    """Return different puzzles: most unique, some with several solutions or none."""
    rng = Random(n_cells)
    found: dict[str, Known] = {}
    while len(found) < n:
        grid = _random_grid(n_cells, rng)
        puzzle = list(grid)
        for k in rng.sample(range(n_cells), n_cells * rng.randrange(30, 55) // 100):
            puzzle[k] = 0
        if rng.random() < 0.1:  # most changed clues clash or leave no solution
            k = rng.choice([k for k, digit in enumerate(puzzle) if digit])
            puzzle[k] = puzzle[k] % round(n_cells**0.5) + 1
            if any(puzzle[k] == puzzle[j] for j in _peers(n_cells)[k]):
                continue
        answer = judge(puzzle)
        found[text_of(puzzle)] = answer
    return tuple(found.values())


@cache
def known_by_text() -> dict[str, Known]:
    """Return all known puzzles."""
    return {known.puzzle: known for n_cells in SHAPES for known in known_puzzles(n_cells)}


def judge(puzzle: Sequence[int]) -> Known:
    """Return a puzzle with its right answer."""
    found = list(islice(solutions(puzzle), 2))
    status = ("unsolvable", "unique", "multiple")[len(found)]
    return Known(text_of(puzzle), status, text_of(found[0]) if len(found) == 1 else "")


def text_of(grid: Sequence[int]) -> str:
    """Return a grid as characters."""
    return "".join(".123456789"[digit] for digit in grid)


def digits_of(text: str) -> list[int] | None:
    """Return the digits of a grid of a known size; None for any other text."""
    digits = [0 if c in BLANKS else int(c) if c in "123456789" else -1 for c in text.strip()]
    if len(digits) not in SHAPES or not 0 <= min(digits) <= max(digits) <= len(digits) ** 0.5:
        return None
    return digits


def solves(solution: str, puzzle: Sequence[int]) -> bool:
    """Return True if a text is a solved grid with the clues of a puzzle."""
    grid = digits_of(solution)
    if grid is None or len(grid) != len(puzzle) or 0 in grid:
        return False
    peers = _peers(len(grid))
    return all(clue in (0, digit) for clue, digit in zip(puzzle, grid, strict=True)) and not any(
        grid[k] == grid[j] for k in range(len(grid)) for j in peers[k]
    )


def _random_grid(n_cells: int, rng: Random) -> list[int]:
    """Return a solved grid with a random first row."""
    n = round(n_cells**0.5)
    first = rng.sample(range(1, n + 1), n)
    grid = next(solutions([*first, *[0] * (n_cells - n)]))
    return grid
