"""Make the puzzles in ``datasets/``: the same bytes on every machine, for any number of workers.

Every row is made from a random stream of its own, seeded with the dataset's number and the row's,
so that any row can be made again alone. A puzzle begins as a random solved grid; its clues are
then taken away in random order, each for good only if the puzzle keeps few enough solutions.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from tqdm import tqdm

from batchsolve.engines import Task, get_engine
from batchsolve.engines.contract import UNLIMITED
from batchsolve.stacks import Stacks
from batchsolve.sudoku import Sudoku, sudoku

Grid = npt.NDArray[np.uint8]

SEED = 20_250_101
HOME = Path(__file__).resolve().parent.parent / "datasets"
ENGINE = get_engine("dlx")
NINE = sudoku(3, 3)

STEP = 2  # options chosen at a time when a grid is filled; more makes larger frontiers
FILL_NODES = 20_000  # a search that needs more has lost its way, and another order is quicker

LEVELS = {"easy": (45, 36), "medium": (35, 30), "hard": (29, 26), "minimal": (0, 0)}
ROWS_PER_LEVEL = 2_500
KINDS = {"unsolvable": 50, "multiple": 70, "clashing": 30}
MOST_SOLUTIONS = (2, 5, 20, 100, 500)
MANY = (1_000, 30_000, 1_000_000)
MANY_NODES = 80_000_000  # the count of the largest of these takes some seconds
UNITS = ("row", "column", "box")


class Draws:
    """The random permutations that one row of a dataset is made with.

    They are sorted raw output of a bit generator, because NumPy promises that this stays the same
    from version to version, and promises it of nothing else that is random.

    Parameters
    ----------
    *seed : int
        What tells this stream from all others.

    Examples
    --------
    >>> Draws(1, 2).permutation(5).tolist() == Draws(1, 2).permutation(5).tolist()
    True
    """

    def __init__(self, *seed: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(seed))

    def permutation(self, n: int) -> npt.NDArray[np.intp]:
        """Return 0 .. n - 1 in random order."""
        return np.argsort(self._bits.random_raw(n), kind="stable")


def random_grid(problem: Sudoku, draws: Draws) -> Grid:
    """Return a random solved grid.

    From each partial grid, all ways to choose a few more options are tried in random order; the
    first that can be completed is the next partial grid. So every choice on the way is random,
    and not just where the search begins.

    Parameters
    ----------
    problem : Sudoku
    draws : Draws

    Returns
    -------
    ndarray of uint8, shape (N²,)
    """
    stack = problem.stack(_diagonal(problem, draws))
    cover = stack
    while True:
        start = Stacks.from_lists([stack.tolist()])
        ways = ENGINE.search(problem, Task.of(start, depth=STEP)).frontier
        if len(ways) == 0:
            return problem.grids(Stacks.from_lists([cover.tolist()]))[0]
        cover = _completion(problem, ways, draws)
        stack = cover[: stack.size + STEP]


def _diagonal(problem: Sudoku, draws: Draws) -> Grid:
    """Fill boxes that share no row or column at random; dancing links can complete the rest.

    From an empty 25×25 grid they often cannot, in reasonable time. Two boxes of a 4×4 grid may
    leave no way to complete it; then others are drawn.
    """
    n, rows, columns = problem.n_digits, problem.box_rows, problem.box_columns
    grid = np.zeros((n, n), np.uint8)
    while True:
        for k in range(n // max(rows, columns)):
            box = grid[k * rows : (k + 1) * rows, k * columns : (k + 1) * columns]
            box[:] = 1 + draws.permutation(n).reshape(rows, columns)
        if not has_at_most(problem, grid.reshape(-1), 0, FILL_NODES):
            return grid


def _completion(problem: Sudoku, ways: Stacks, draws: Draws) -> npt.NDArray[np.uint32]:
    """Return a cover below the first stack, in random order, that has one."""
    while True:
        shuffled = ways.take(draws.permutation(len(ways)))
        task = Task.of(shuffled, limit=1, keep=1, budget=FILL_NODES)
        covers = ENGINE.search(problem, task).solutions
        if len(covers):
            return covers[0]


def has_at_most(problem: Sudoku, puzzle: Grid, most: int, nodes: int = UNLIMITED) -> bool:
    """Return whether a search of so many nodes proves that a puzzle has at most `most` solutions.

    Parameters
    ----------
    problem : Sudoku
    puzzle : ndarray of uint8, shape (N²,)
    most : int
    nodes : int
        Nodes that the search may visit.
    """
    task = Task.of(problem.stacks(puzzle[None]), limit=most + 1, budget=nodes)
    outcome = ENGINE.search(problem, task)
    return bool(outcome.counts[0] <= most) and len(outcome.frontier) == 0


def dig(
    problem: Sudoku,
    grid: Grid,
    draws: Draws,
    *,
    clues: int = 0,
    most: int = 1,
    nodes: int = UNLIMITED,
) -> Grid:
    """Take clues away from a grid, in random order.

    Parameters
    ----------
    problem : Sudoku
    grid : ndarray of uint8, shape (N²,)
    draws : Draws
    clues : int
        How many clues to leave; more are left if none can be spared before.
    most : int
        How many solutions the puzzle may have.
    nodes : int
        Nodes within which this must be proved of the puzzle.

    Returns
    -------
    ndarray of uint8, shape (N²,)
    """
    puzzle = grid.copy()
    for cell in draws.permutation(problem.n_cells):
        if np.count_nonzero(puzzle) == clues:
            break
        digit, puzzle[cell] = puzzle[cell], 0
        if not has_at_most(problem, puzzle, most, nodes):
            puzzle[cell] = digit
    return puzzle


def dig_to(problem: Sudoku, grid: Grid, draws: Draws, clues: int) -> Grid:
    """Return a puzzle of exactly so many clues; a grid that cannot spare them is dug again."""
    while True:
        puzzle = dig(problem, grid, draws, clues=clues)
        if np.count_nonzero(puzzle) == clues:
            return puzzle


def count_solutions(puzzle: Grid, limit: int) -> int:
    """Count the solutions of a 9×9 puzzle, up to a limit, by trying digits cell by cell.

    This shares nothing with the engines of the package, so that its counts can test theirs.

    Examples
    --------
    >>> count_solutions(np.zeros(81, np.uint8), limit=10)
    10
    """
    used = [0] * 27  # the set of digits in every row, column and box
    units = [(c // 9, 9 + c % 9, 18 + c // 27 * 3 + c % 9 // 3) for c in range(81)]
    for cell in np.flatnonzero(puzzle).tolist():
        for unit in units[cell]:
            used[unit] |= 1 << int(puzzle[cell])

    def free(cell: int) -> int:
        row, column, box = units[cell]
        return ~(used[row] | used[column] | used[box]) & 0b1111111110

    def count(blanks: frozenset[int], limit: int) -> int:
        if not blanks:
            return 1
        cell = min(blanks, key=lambda c: free(c).bit_count())
        digits, found = free(cell), 0
        while digits and found < limit:
            digit = digits & -digits
            digits ^= digit
            for unit in units[cell]:
                used[unit] ^= digit
            found += count(blanks - {cell}, limit - found)
            for unit in units[cell]:
                used[unit] ^= digit
        return found

    return count(frozenset(np.flatnonzero(puzzle == 0).tolist()), limit)


def _shared_units(a: int, b: int) -> list[str]:
    """Return which units two cells of a 9×9 grid have in common."""
    rows, columns = (a // 9, b // 9), (a % 9, b % 9)
    boxes = [row // 3 * 3 + column // 3 for row, column in zip(rows, columns, strict=True)]
    same = (rows[0] == rows[1], columns[0] == columns[1], boxes[0] == boxes[1])
    return [unit for unit, shared in zip(UNITS, same, strict=True) if shared]


def repeat_clue(puzzle: Grid, draws: Draws, unit: str) -> Grid:
    """Write a clue of a 9×9 puzzle a second time, into the same row, column or box only."""
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


def sudoku9_row(draws: Draws, index: int) -> str:
    """Return puzzle, solution, clues and level; clues fall evenly within a level."""
    number, place = divmod(index, ROWS_PER_LEVEL)
    level, (most, fewest) = list(LEVELS.items())[number]
    clues = most - place * (most - fewest + 1) // ROWS_PER_LEVEL
    grid = random_grid(NINE, draws)
    puzzle = dig_to(NINE, grid, draws, clues) if clues else dig(NINE, grid, draws)
    return f"{_pair(NINE, puzzle, grid)},{np.count_nonzero(puzzle)},{level}"


def sudoku16_row(draws: Draws, index: int) -> str:
    """Return puzzle and solution; the nodes to search double every 29 rows, from 500 to 32,000."""
    problem = sudoku(4, 4)
    grid = random_grid(problem, draws)
    puzzle = dig(problem, grid, draws, nodes=500 << index // 29)
    return _pair(problem, puzzle, grid)


def sudoku25_row(draws: Draws, index: int) -> str:
    """Return id and puzzle; the nodes to search double every 3 rows, from 1,000 to 64,000."""
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
        # a clue whose loss lets the number leap, or the search grow out of hand, is kept
        task = Task.of(problem.stacks(fewer[None]), limit=2 * least, budget=MANY_NODES)
        outcome = ENGINE.search(problem, task)
        if len(outcome.frontier) or outcome.counts[0] == 2 * least:
            continue
        puzzle, count = fewer, int(outcome.counts[0])
        if count > least:
            break
    return f"{index + 1},{problem.format(puzzle)},{count}"


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
    """Return id, puzzle, and how many solutions it has or that it is invalid."""
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


def _clashing(text: str, draws: Draws, unit: str) -> str:
    return "," + NINE.format(repeat_clue(NINE.parse(text), draws, unit))


def _sixteen(text: str, draws: Draws) -> str:
    problem = sudoku(4, 4)
    return "," + problem.format(dig_to(problem, random_grid(problem, draws), draws, clues=130))


def _fullwidth(text: str, draws: Draws) -> str:
    """Write the first clue as a digit that is a digit to Unicode, but not to a Sudoku."""
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
    "solved-grid": lambda text, draws: f",{NINE.solve(text).solution}",
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
"""What follows the id, a comma included, given a good puzzle."""


def broken_row(draws: Draws, index: int) -> str:
    """Return an id that says what the row shows, and the row's puzzle or what is left of it."""
    name, spoil = list(BROKEN.items())[index]
    puzzle = dig_to(NINE, random_grid(NINE, draws), draws, clues=30)
    return name + spoil(NINE.format(puzzle), draws)


@dataclass(frozen=True)
class Dataset:
    """A file of puzzles.

    Attributes
    ----------
    name : str
        The file.
    number : int
        What its seeds begin with; never used again for another file.
    header : str
        Its columns.
    rows : int
        Its length, without the header.
    make : callable
        Returns the text of a row, given its `Draws` and its index.
    what, answers : str
        What it holds, and what is known about the answers.
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
        "broken.csv",
        2,
        "id,puzzle",
        len(BROKEN),
        broken_row,
        "9×9 mixed with rows broken in every way; the id says what a row shows",
        "some good, most invalid; `batchsolve solve` exits with 1",
    ),
]

README = """\
# Datasets

Puzzles to try and to test batchsolve with. All were made here; none is copied from elsewhere.

| File | Rows | What | Known answers | Bytes | SHA-256 |
|---|---:|---|---|---:|---|
{table}

Blank cells are dots. "Nodes" are those that the engine `dlx` visits to prove a puzzle unique.
Levels go by the number of clues, not by what a person finds hard.

A puzzle is a random solved grid from which clues are taken away in random order, as long as it
stays unique. The solutions in `several.csv` are counted by a second, independent search.

Every row has a seed of its own. To make the files and this page again, byte for byte, or to check
them against the table:

    python scripts/make_datasets.py
    python scripts/make_datasets.py --check
"""


def write_dataset(dataset: Dataset, folder: Path, jobs: int) -> None:
    """Make all rows of a dataset and write its file."""
    with Parallel(n_jobs=jobs, return_as="generator") as parallel:
        rows = parallel(delayed(dataset.row)(index) for index in range(dataset.rows))
        # disable=None shows the bar on a terminal only
        lines = [dataset.header, *tqdm(rows, dataset.name, dataset.rows, disable=None)]
    (folder / dataset.name).write_bytes("".join(f"{line}\n" for line in lines).encode())


def write_readme(folder: Path) -> None:
    """Write the page that describes the files of a folder."""
    table = []
    for dataset in DATASETS:
        path = folder / dataset.name
        if path.exists():
            data = path.read_bytes()
            facts = f"{dataset.rows:,} | {dataset.what} | {dataset.answers} | {len(data):,}"
            table.append(f"| `{dataset.name}` | {facts} | {hashlib.sha256(data).hexdigest()} |")
    page = README.format(table="\n".join(table))
    (folder / "README.md").write_bytes(page.encode())


def read_checksums(folder: Path) -> dict[str, str]:
    """Return the checksums in the table of a folder's ``README.md``, by file."""
    page = (folder / "README.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `([^`]+)` \|.*\| ([0-9a-f]{64}) \|$", page, re.MULTILINE))


def damaged(folder: Path) -> list[str]:
    """Return the files that are missing or differ from the table of ``README.md``."""
    return [
        name
        for name, checksum in read_checksums(folder).items()
        if not (folder / name).exists()
        or hashlib.sha256((folder / name).read_bytes()).hexdigest() != checksum
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Make the puzzles in datasets/.")
    names = [dataset.name for dataset in DATASETS]
    parser.add_argument("--out", type=Path, default=HOME, metavar="DIR", help="where to write")
    parser.add_argument("--only", choices=names, metavar="NAME", help="make one file: %(choices)s")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="workers; 1 by default")
    parser.add_argument(
        "--check", action="store_true", help="make nothing; compare the files with README.md"
    )
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"--jobs is 1 or more, not {options.jobs}")
    if options.check:
        if not (options.out / "README.md").exists():
            parser.error(f"{options.out} has no README.md to check against")
        wrong = damaged(options.out)
        print(f"differ from README.md: {', '.join(wrong)}" if wrong else "all files are as made")
        return 1 if wrong else 0
    options.out.mkdir(parents=True, exist_ok=True)
    for dataset in DATASETS:
        if options.only in (None, dataset.name):
            write_dataset(dataset, options.out, options.jobs)
    write_readme(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
