"""The rows of every dataset.

Every row has its own random stream, so that it can be made again alone. A puzzle begins as a random
solved grid; its clues are then removed in random order, each for good only if the puzzle keeps few
enough solutions. A step-by-step search continues from there to the hardest 9×9 puzzles.
"""

from __future__ import annotations

import numpy as np

from batchsolve.engines import Task
from batchsolve.problems.sudoku import Sudoku, sudoku
from batchsolve.runs.solve import solve
from puzzles.climbing import hard_puzzle
from puzzles.counting import count_solutions
from puzzles.deepening import SIXTEEN, deep_puzzle
from puzzles.digging import dig, dig_to
from puzzles.draws import Draws
from puzzles.grids import ENGINE, Grid, random_grid
from puzzles.spoiling import BROKEN, NINE, UNITS, contradict, repeat_clue

LEVELS = {"easy": (45, 36), "medium": (35, 30), "hard": (29, 26), "minimal": (0, 0)}
ROWS_PER_LEVEL = 2_500
KINDS = {"unsolvable": 50, "multiple": 70, "clashing": 30}
MOST_SOLUTIONS = (2, 5, 20, 100, 500)
MANY = (1_000, 30_000, 1_000_000)
TREES = (10_000_000, 100_000_000, 1_000_000_000)
MANY_NODES = 80_000_000  # counting the largest of these takes some seconds


def sudoku9_row(draws: Draws, index: int) -> str:
    """Return puzzle, solution, clues and level; clue numbers fall evenly within a level."""
    number, place = divmod(index, ROWS_PER_LEVEL)
    level, (most, fewest) = list(LEVELS.items())[number]
    clues = most - place * (most - fewest + 1) // ROWS_PER_LEVEL
    grid = random_grid(NINE, draws)
    puzzle = dig_to(NINE, grid, draws, clues) if clues else dig(NINE, grid, draws)
    return f"{_pair(NINE, puzzle, grid)},{np.count_nonzero(puzzle)},{level}"


def hard9_row(draws: Draws, index: int) -> str:
    """Return puzzle, solution, and the number of guesses that `lanes` needs to prove it unique."""
    puzzle, n_guesses = hard_puzzle(draws)
    text = NINE.format(puzzle)
    return f"{text},{solve(text).solution},{n_guesses}"


def sudoku16_row(draws: Draws, index: int) -> str:
    """Return puzzle and solution; its search nodes double every 29 rows, from 500 to 32,000."""
    problem = sudoku(4, 4)
    grid = random_grid(problem, draws)
    puzzle = dig(problem, grid, draws, nodes=500 << index // 29)
    return _pair(problem, puzzle, grid)


def sudoku25_row(draws: Draws, index: int) -> str:
    """Return id and puzzle; its search nodes double every 3 rows, from 1,000 to 64,000."""
    problem = sudoku(5, 5)
    puzzle = dig(problem, random_grid(problem, draws), draws, nodes=1_000 << index // 3)
    return f"{index + 1},{problem.format(puzzle, 'numbers')}"


def many16_row(draws: Draws, index: int) -> str:
    """Return a 16×16 puzzle with more solutions than `MANY[index]`, and their number."""
    problem, least = sudoku(4, 4), MANY[index]
    puzzle, count = random_grid(problem, draws), 1
    for cell in draws.permutation(problem.n_cells):
        fewer = puzzle.copy()
        fewer[cell] = 0
        # keep a clue if without it the number leaps or the search grows out of hand
        task = Task.of(problem.stacks(fewer[None]), limit=2 * least, budget=MANY_NODES)
        outcome = ENGINE.search(problem, task)
        if len(outcome.frontier) or outcome.counts[0] == 2 * least:
            continue
        puzzle, count = fewer, int(outcome.counts[0])
        if count > least:
            break
    return f"{index + 1},{problem.format(puzzle)},{count}"


def deep16_row(draws: Draws, index: int) -> str:
    """Return id, a 16×16 puzzle, its solutions, and the nodes of its tree by `cells`."""
    puzzle, n_solutions, n_nodes = deep_puzzle(draws, TREES[index])
    return f"{index + 1},{SIXTEEN.format(puzzle)},{n_solutions},{n_nodes}"


def sudoku6_row(draws: Draws, index: int) -> str:
    """Return puzzle and solution of a minimal 6×6 puzzle."""
    return _minimal(sudoku(2, 3), draws)


def sudoku4_row(draws: Draws, index: int) -> str:
    """Return puzzle and solution of a minimal 4×4 puzzle."""
    return _minimal(sudoku(2, 2), draws)


def _minimal(problem: Sudoku, draws: Draws) -> str:
    grid = random_grid(problem, draws)
    return _pair(problem, dig(problem, grid, draws), grid)


def _pair(problem: Sudoku, puzzle: Grid, grid: Grid) -> str:
    return f"{problem.format(puzzle)},{problem.format(grid)}"


def several_row(draws: Draws, index: int) -> str:
    """Return id, puzzle, and the number of its solutions, or that it is invalid."""
    kinds = [(kind, place) for kind, rows in KINDS.items() for place in range(rows)]
    kind, place = kinds[index]
    grid = random_grid(NINE, draws)
    if kind == "clashing":
        spoilt = repeat_clue(dig(NINE, grid, draws), draws, UNITS[place % len(UNITS)])
        return f"{kind}-{place + 1:02},{NINE.format(spoilt)},invalid"
    if kind == "unsolvable":
        puzzle = contradict(dig(NINE, grid, draws), draws)
        expected = count_solutions(puzzle, limit=1)
    else:
        most, expected = MOST_SOLUTIONS[place % len(MOST_SOLUTIONS)], 1
        while expected == 1:
            puzzle = dig(NINE, grid, draws, most=most)
            expected = count_solutions(puzzle, limit=most + 1)
    return f"{kind}-{place + 1:02},{NINE.format(puzzle)},{expected}"


def broken_row(draws: Draws, index: int) -> str:
    """Return an id that names the kind of row, and its puzzle or the rest of one."""
    name, spoil = list(BROKEN.items())[index]
    puzzle = dig_to(NINE, random_grid(NINE, draws), draws, clues=30)
    return name + spoil(NINE.format(puzzle), draws)
