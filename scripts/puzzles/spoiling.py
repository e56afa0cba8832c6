"""Puzzles that are not proper Sudoku, and rows with every kind of defect."""

from __future__ import annotations

from collections.abc import Callable

from batchsolve.problems.sudoku import sudoku
from batchsolve.runs.solve import solve
from puzzles.digging import dig_to
from puzzles.draws import Draws
from puzzles.grids import Grid, has_at_most, random_grid

NINE = sudoku(3, 3)
UNITS = ("row", "column", "box")


def _shared_units(a: int, b: int) -> list[str]:
    """Return the units that two cells of a 9×9 grid share."""
    rows, columns = (a // 9, b // 9), (a % 9, b % 9)
    boxes = [row // 3 * 3 + column // 3 for row, column in zip(rows, columns, strict=True)]
    same = (rows[0] == rows[1], columns[0] == columns[1], boxes[0] == boxes[1])
    return [unit for unit, shared in zip(UNITS, same, strict=True) if shared]


def repeat_clue(puzzle: Grid, draws: Draws, unit: str) -> Grid:
    """Repeat a clue of a 9×9 puzzle in the same row, column or box only."""
    order = draws.permutation(81).tolist()
    pairs = (
        (cell, other)
        for cell in order
        for other in order
        if puzzle[cell] == 0 and puzzle[other] != 0 and _shared_units(cell, other) == [unit]
    )
    cell, other = next(pairs)
    spoilt = puzzle.copy()
    spoilt[cell] = puzzle[other]
    return spoilt


def contradict(puzzle: Grid, draws: Draws) -> Grid:
    """Add a clue that clashes with no other and leaves a 9×9 puzzle without a solution."""
    while True:
        spoilt = puzzle.copy()
        cell = next(c for c in draws.permutation(81).tolist() if puzzle[c] == 0)
        spoilt[cell] = 1 + draws.permutation(9)[0]
        peers = [c for c in range(81) if c != cell and _shared_units(c, cell)]
        if spoilt[cell] not in puzzle[peers] and has_at_most(NINE, spoilt, 0):
            return spoilt


def _clashing(text: str, draws: Draws, unit: str) -> str:
    return "," + NINE.format(repeat_clue(NINE.parse(text), draws, unit))


def _sixteen(text: str, draws: Draws) -> str:
    problem = sudoku(4, 4)
    return "," + problem.format(dig_to(problem, random_grid(problem, draws), draws, clues=130))


def _fullwidth(text: str, draws: Draws) -> str:
    """Replace the first clue by a Unicode digit that is not a Sudoku digit."""
    clue = text.strip(".")[0]
    return "," + text.replace(clue, chr(ord(clue) - ord("0") + ord("０")), 1)


BROKEN: dict[str, Callable[[str, Draws], str]] = {
    "good": lambda text, draws: f",{text}",
    "too-few-fields": lambda text, draws: "",
    "zeros-for-blanks": lambda text, draws: f",{text.replace('.', '0')}",
    "too-many-fields": lambda text, draws: f",{text},{text}",
    "too-short": lambda text, draws: f",{text[:-1]}",
    "too-long": lambda text, draws: f",{text}.",
    "blanks-around": lambda text, draws: f",  {text} ",
    "bad-character": lambda text, draws: f",{text[::-1].replace('.', 'x', 1)[::-1]}",
    "question-marks": lambda text, draws: f",{text.replace('.', '?')}",
    "empty": lambda text, draws: ",",
    "white-space": lambda text, draws: ",   ",
    "quoted": lambda text, draws: f',"{text}"',
    "sixteen": _sixteen,
    "solved-grid": lambda text, draws: f",{solve(text).solution}",
    "clash-in-row": lambda text, draws: _clashing(text, draws, "row"),
    "clash-in-column": lambda text, draws: _clashing(text, draws, "column"),
    "clash-in-box": lambda text, draws: _clashing(text, draws, "box"),
    "mixed-blanks": lambda text, draws: f",{text[:27].replace('.', '*')}{text[27:]}",
    "fullwidth-digit": _fullwidth,
    "numbers": lambda text, draws: f",{' '.join(text)}",
    "rounded-number": lambda text, draws: f",{text.strip('.')[0]}.30070000600195E+80",
    "no-solution": lambda text, draws: f",{NINE.format(contradict(NINE.parse(text), draws))}",
    "empty-band": lambda text, draws: f",{'.' * 27}{text[27:]}",
    "word": lambda text, draws: ",NULL",
    "good-again": lambda text, draws: f",{text}",
}
"""Functions that return the rest of a row after its id, comma included, given a good puzzle."""
