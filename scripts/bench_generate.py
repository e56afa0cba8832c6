"""Measure the generation of puzzles: speed, the draw of solved grids, the weights.

Speeds are rows per second of processor time of one worker. The draw of grids is judged by their
small rectangles, the weights by the published distribution of clues in minimal 9×9 puzzles.
`--qqwing` is the program of Debian's package, for comparison; py-sudoku is compared if it is
installed. A quick look: ``--repeat 1 --rows 50 --draws 2000 --weighted 500 -o /tmp/generate.json``.
"""

from __future__ import annotations

import time
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from typing import Any

import measuring
import numpy as np
from numpy.typing import NDArray

import batchsolve as bs
from batchsolve.runs import generate
from batchsolve.settings import FileSettings, PuzzleSettings

WISHES: dict[str, tuple[int, dict[str, Any]]] = {
    "9x9 minimal": (20_000, {"minimal": True}),
    "9x9 minimal, weights": (5_000, {"minimal": True, "weights": True}),
    "9x9 minimal, 22 or 23 clues": (1_000, {"minimal": True, "clues": (22, 23)}),
    "9x9, 30 clues": (20_000, {"clues": (30, 30)}),
    "9x9, rotation": (10_000, {"symmetry": "rotation"}),
    "9x9 minimal, diagonals": (2_000, {"minimal": True, "rules": "x"}),
    "16x16 minimal": (512, {"minimal": True, "box": (4, 4)}),
    "9x9, cages of 2 to 5 cells": (400, {"cages": (2, 5)}),
    "9x9, cages of 1 to 4 cells, no clue": (1_000, {"cages": (1, 4), "clues": (0, 0)}),
    "9x9, cages of 2 to 5 cells, no clue": (50, {"cages": (2, 5), "clues": (0, 0)}),
    "9x9 minimal, jigsaw": (1_000, {"minimal": True, "jigsaw": True}),
    "9x9, dots": (400, {"marks": "dots"}),
    "9x9, thermometers": (400, {"lines": "thermo"}),
    "9x9, renbans and palindromes": (200, {"lines": "renban+palindrome"}),
    "25x25, 300 clues": (32, {"box": (5, 5), "clues": (300, 300)}),
}
SHAPES = {"4x4": (2, 2), "6x6": (2, 3), "9x9": (3, 3), "16x16": (4, 4)}


def speeds(repeat: int, most_rows: int) -> dict[str, Any]:
    """Time each wish in turn; return rows per second, and the mean number of clues."""
    rows = {name: min(n, most_rows) for name, (n, _) in WISHES.items()}
    clues: dict[str, float] = {}

    def make(name: str) -> None:
        table = bs.generate_table(rows[name], jobs=1, **WISHES[name][1])
        clues[name] = float(np.mean(table["clues"]))

    ways = {name: partial(make, name) for name in rows}
    times = measuring.medians(measuring.in_turns(ways, repeat, time.process_time))
    return {
        name: {
            "rows": n,
            "rows_per_second": round(n / times[name], 1),
            "mean_clues": round(clues[name], 2),
        }
        for name, n in rows.items()
    }


def draws(n: int) -> dict[str, dict[str, float]]:
    """Draw 9×9 grids, one of several fills; return their mean number of small rectangles.

    Such a rectangle has two digits, each in two corners, in two boxes; it stands for all that
    depends on grids. ``equal`` is the weighted mean, as if all grids had the same chance.
    """
    found = {}
    for n_fills in (1, 2, 4, 8, 16, 32):
        generate.N_FILLS = n_fills
        begin = time.process_time()
        drawn = solved((3, 3), n)
        seconds = time.process_time() - begin
        counts = rectangles(drawn.solutions.reshape(-1, 9, 9))
        found[str(n_fills)] = {
            "mean": round(float(counts.mean()), 3),
            "standard_error": round(float(counts.std() / n**0.5), 3),
            "equal": round(float((counts * drawn.weights).sum() / drawn.weights.sum()), 3),
            "microseconds": round(seconds / n * 1e6, 2),
        }
    return found


def rectangles(grids: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Count the rectangles of two digits in two boxes, shape (n,), of grids of shape (n, 9, 9)."""
    counts = np.zeros(len(grids), np.int64)
    for turned in (grids, grids.transpose(0, 2, 1)):
        for r, s in combinations(range(9), 2):
            for c, d in combinations(range(9), 2):
                if r // 3 == s // 3 and c // 3 != d // 3:
                    one = turned[:, r, c] == turned[:, s, d]
                    counts += one & (turned[:, r, d] == turned[:, s, c])
    return counts


def solved(box: tuple[int, int], n: int) -> generate.Made:
    """Return solved grids."""
    cells = (box[0] * box[1]) ** 2
    wanted = PuzzleSettings(clues=(cells, cells))
    maker = generate.Maker(n, FileSettings(box=box, chunk=n), wanted)
    made, _ = maker.made(np.arange(n))
    return made


def chances(n: int) -> dict[str, float]:
    """Return the spread of the chances with which grids are filled, for each shape.

    This is 1 / (1 + variance of weights / mean²): the share of independent draws that n fills are
    worth, 1 if all grids have the same chance.
    """
    generate.N_FILLS = 1
    found = {}
    for name, box in SHAPES.items():
        weights = solved(box, n).weights
        weights = weights / weights.max()
        found[name] = round(float(weights.mean() ** 2 / (weights**2).mean()), 4)
    return found


def weighted_clues(n: int) -> dict[str, Any]:
    """Return the distribution of clues of minimal 9×9 puzzles, as made and weighted."""
    table = bs.generate_table(n, minimal=True, weights=True)
    clues, weights = np.array(table["clues"]), np.array(table["weight"])
    weights = weights / solved((3, 3), n).weights.mean()
    shares = {
        str(k): {
            "made": round(float((clues == k).mean()), 5),
            "weighted": round(float(weights[clues == k].sum() / weights.sum()), 5),
        }
        for k in range(clues.min(), clues.max() + 1)
    }
    return {
        "rows": n,
        "mean_made": round(float(clues.mean()), 3),
        "mean_weighted": round(float((clues * weights).sum() / weights.sum()), 3),
        "effective_rows": round(float(weights.sum() ** 2 / (weights**2).sum())),
        "minimal_puzzles_of_a_grid": float(weights.mean()),
        "standard_error": float(weights.std() / n**0.5),
        "shares": shares,
    }


def of_qqwing(program: str, n: int) -> float:
    """Return the puzzles per second of processor time that qqwing makes."""
    used = measuring.run([program, "--generate", str(n), "--one-line"])
    return round(n / used.processor, 1)


def of_py_sudoku(n: int) -> dict[str, Any]:
    """Return the puzzles per second that py-sudoku makes, and how many have one solution."""
    begin = time.process_time()
    made = [import_module("sudoku").Sudoku(3, seed=k).difficulty(0.6) for k in range(n)]
    seconds = time.process_time() - begin
    grids = np.array([[digit or 0 for row in each.board for digit in row] for each in made])
    statuses = bs.solve_batch(grids.astype(np.uint8), limit=2).status
    return {"per_second": round(n / seconds, 1), "unique": f"{sum(statuses == 'unique')} of {n}"}


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = measuring.options(__doc__, "generate")
    parser.add_argument("--rows", type=int, default=20_000, help="most rows of a wish")
    parser.add_argument("--draws", type=int, default=200_000)
    parser.add_argument("--weighted", type=int, default=1_000_000)
    parser.add_argument("--qqwing", help="the program, to compare speeds with")
    chosen = parser.parse_args()
    results: dict[str, Any] = {"batchsolve": bs.__version__}
    results["speeds"] = speeds(chosen.repeat, chosen.rows)
    results["weighted_clues"] = weighted_clues(chosen.weighted)
    if chosen.qqwing:
        results["qqwing_per_second"] = of_qqwing(chosen.qqwing, 2_000)
    if find_spec("sudoku"):
        results["py-sudoku"] = of_py_sudoku(500)
    results["draws"] = draws(chosen.draws)
    results["chances"] = chances(chosen.draws // 2)
    measuring.write(chosen, results)


if __name__ == "__main__":
    main()
