"""The datasets: their columns, rows and descriptions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from puzzles.deepening import MOST_SOLUTIONS as MOST_SOLUTIONS_OF_DEEP
from puzzles.draws import Draws
from puzzles.rows import (
    KINDS,
    LEVELS,
    MANY,
    MOST_SOLUTIONS,
    ROWS_PER_LEVEL,
    TREES,
    broken_row,
    deep16_row,
    hard9_row,
    many16_row,
    several_row,
    sudoku4_row,
    sudoku6_row,
    sudoku9_row,
    sudoku16_row,
    sudoku25_row,
)
from puzzles.spoiling import BROKEN

SEED = 20_250_101


@dataclass(frozen=True)
class Dataset:
    """A file of puzzles.

    Attributes
    ----------
    name : str
        The file name.
    number : int
        The first part of its seeds; never reuse it for another file.
    header : str
        Its column names.
    rows : int
        The number of rows, without the header.
    make : callable
        Returns the text of a row, given its `Draws` and its index.
    what, answers : str
        Its contents, and the facts known about the answers.
    """

    name: str
    number: int
    header: str
    rows: int
    make: Callable[[Draws, int], str]
    what: str
    answers: str

    def row(self, index: int) -> str:
        """Return the text of a row; the first after the header has index 0."""
        return self.make(Draws(SEED, self.number, index), index)


def _describe_levels() -> str:
    parts = [f"{level} ({most} to {fewest} clues)" for level, (most, fewest) in LEVELS.items()]
    parts[-1] = f"{list(LEVELS)[-1]} (no clue can be spared)"
    return f"{ROWS_PER_LEVEL:,} each of {', '.join(parts)}, in this order"


DATASETS = [
    Dataset(
        "sudoku9.csv",
        9,
        "puzzle,solution,clues,level",
        len(LEVELS) * ROWS_PER_LEVEL,
        sudoku9_row,
        f"9×9: {_describe_levels()}",
        "all unique; solutions given",
    ),
    Dataset(
        "hard9.csv",
        5,
        "puzzle,solution,guesses",
        500,
        hard9_row,
        "9×9 that need many guesses of the engine `lanes`, 307 on average; `guesses` counts them",
        "all unique; solutions given",
    ),
    Dataset(
        "sudoku16.csv",
        16,
        "puzzle,solution",
        200,
        sudoku16_row,
        "16×16 in the alphabet 1-9A-G, easy to hard: at most 500 nodes to 32,000",
        "all unique; solutions given",
    ),
    Dataset(
        "sudoku25.csv",
        25,
        "id,puzzle",
        20,
        sudoku25_row,
        "25×25 in numbers, easy to hard: at most 1,000 nodes to 64,000",
        "all unique",
    ),
    Dataset(
        "sudoku6.csv",
        6,
        "puzzle,solution",
        200,
        sudoku6_row,
        "6×6 with boxes of 2×3; no clue can be spared",
        "all unique; solutions given",
    ),
    Dataset(
        "sudoku4.csv",
        4,
        "puzzle,solution",
        50,
        sudoku4_row,
        "4×4; no clue can be spared",
        "all unique; solutions given",
    ),
    Dataset(
        "several.csv",
        1,
        "id,puzzle,expected",
        sum(KINDS.values()),
        several_row,
        "9×9 that are not proper Sudoku; `expected` counts solutions, or is `invalid`",
        f"{KINDS['unsolvable']} have none, {KINDS['multiple']} have 2 to {MOST_SOLUTIONS[-1]}, "
        f"{KINDS['clashing']} have clashing clues",
    ),
    Dataset(
        "many16.csv",
        3,
        "id,puzzle,expected",
        len(MANY),
        many16_row,
        "16×16 in the alphabet 1-9A-G with many solutions; `expected` counts them",
        f"more than {', '.join(f'{least:,}' for least in MANY)} solutions",
    ),
    Dataset(
        "deep16.csv",
        7,
        "id,puzzle,expected,nodes",
        len(TREES),
        deep16_row,
        "16×16 in the alphabet 1-9A-G with few solutions and large trees: `expected` counts the "
        "solutions, and `nodes` the tree of the engine `cells`",
        f"at most {MOST_SOLUTIONS_OF_DEEP} solutions; more than "
        f"{', '.join(f'{least:,}' for least in TREES)} nodes",
    ),
    Dataset(
        "broken.csv",
        2,
        "id,puzzle",
        len(BROKEN),
        broken_row,
        "9×9 mixed with rows broken in every way; the id says what a row shows",
        "some good, most invalid; `batchsolve solve` exits with 1",
    ),
]
