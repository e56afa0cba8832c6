"""Measure grids with rules of their own: `lanes` beside `dlx` and CP-SAT, in turn.

Puzzles are made here: a full grid that follows the rules, with clues taken away as long as there is
one solution. Each contender proves that every puzzle has one solution, on one thread; medians of
puzzles per second are compared. CP-SAT (the package ortools) solves a sample. Results go to
``benchmarks/results/variants.json``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import batchsolve
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.jigsaws import Jigsaws
from batchsolve.problems.rules import RELATIONS, Cage, Rules, named, plain, regions_of
from batchsolve.problems.variant import Variant
from batchsolve.scaling.machine import machine

Grids = npt.NDArray[np.uint8]
PLAIN = plain(3, 3)


def solved(problem: GridProblem, rng: np.random.Generator) -> Grids:
    """Return a full grid: the first one below random clues that leave any."""
    while True:
        grids = np.zeros((200, problem.n_cells), np.uint8)
        for grid in grids:
            cells = rng.choice(problem.n_cells, 6, replace=False)
            grid[cells] = rng.integers(1, problem.n_digits + 1, 6)
        answers = batchsolve.solve_batch(grids, problem, limit=1, jobs=1, node_limit=1000)
        found = np.flatnonzero(answers.status == "solved")
        if found.size:
            return np.asarray(answers.solutions[rng.choice(found)])


def dug(problem: GridProblem, full: Grids, n_tries: int, rng: np.random.Generator) -> Grids:
    """Take clues away in random order as long as there is one solution."""
    grid = full.copy()
    for cell in rng.permutation(problem.n_cells)[:n_tries]:
        fewer = grid.copy()
        fewer[cell] = 0
        if batchsolve.solve_batch(fewer[None], problem, jobs=1).status[0] == "unique":
            grid = fewer
    return grid


def random_regions(rng: np.random.Generator, n_swaps: int = 60) -> npt.NDArray[np.uint8]:
    """Return nine connected regions of nine cells: boxes whose cells are exchanged at random."""
    labels = np.array([cell // 27 * 3 + cell % 9 // 3 for cell in range(81)], np.uint8)
    swaps = 0
    while swaps < n_swaps:
        one, other = rng.choice(81, 2, replace=False)
        if labels[one] == labels[other]:
            continue
        labels[[one, other]] = labels[[other, one]]
        if is_connected(labels, labels[one]) and is_connected(labels, labels[other]):
            swaps += 1
        else:
            labels[[one, other]] = labels[[other, one]]
    return labels


def is_connected(labels: npt.NDArray[np.uint8], region: int) -> bool:
    """Tell whether the cells of a region hang together by their sides."""
    cells = set(np.flatnonzero(labels == region).tolist())
    reached, ends = set(), [min(cells)]
    while ends:
        cell = ends.pop()
        if cell in cells and cell not in reached:
            reached.add(cell)
            ends += [cell - 9, cell + 9] + [cell - 1] * (cell % 9 > 0) + [cell + 1] * (cell % 9 < 8)
    return reached == cells


def random_cages(full: Grids, rng: np.random.Generator) -> tuple[Cage, ...]:
    """Return cages of one to four cells with different digits, which cover a full grid."""
    left, cages = set(range(81)), []
    while left:
        cells = [min(left)]
        for _ in range(int(rng.integers(1, 4))):
            near = [c + step for c in cells for step in (1, 9) if step == 9 or c % 9 < 8]
            free = [c for c in near if c in left and full[c] not in full[cells] and c not in cells]
            if free:
                cells.append(int(rng.choice(free)))
        left -= set(cells)
        cages.append(Cage(tuple(sorted(cells)), int(full[cells].sum())))
    return tuple(cages)


def kinds(n: int, rng: np.random.Generator) -> Iterator[tuple[str, list[GridProblem], Grids, Any]]:
    """Yield kinds of puzzles: a name, the problem of each, the grids, and all in one problem."""
    layout = random_regions(rng)
    shared = {
        "x": Variant(PLAIN + named("x", 3, 3)),
        "windoku": Variant(PLAIN + named("windoku", 3, 3)),
        "antiknight": Variant(PLAIN + named("antiknight", 3, 3)),
        "jigsaw, one layout": Variant(Rules.square(9, regions_of(layout.tolist(), 9))),
    }
    for name, problem in shared.items():
        grids = [dug(problem, solved(problem, rng), 60, rng) for _ in range(n)]
        yield name, [problem] * n, np.array(grids), problem
    for name, tries in (("jigsaw, a layout a row", 55), ("jigsaw, a layout a row, minimal", 81)):
        layouts = np.array([random_regions(rng) for _ in range(n)])
        own = [Variant(Rules.square(9, regions_of(each.tolist(), 9))) for each in layouts]
        grids = [dug(problem, solved(problem, rng), tries, rng) for problem in own]
        yield name, list(own), np.array(grids), Jigsaws(Rules.square(9, ()), layouts)
    killers: list[GridProblem] = []
    while len(killers) < n:
        full = solved(batchsolve.Sudoku(3, 3), rng)
        rules = Rules(9, PLAIN.places, PLAIN.houses, cages=random_cages(full, rng))
        problem = Variant(rules)
        blank = np.zeros((1, 81), np.uint8)
        if batchsolve.solve_batch(blank, problem, jobs=1, node_limit=10**5).status[0] == "unique":
            killers.append(problem)
    yield "killer, without clues", killers, np.zeros((n, 81), np.uint8), None


def by_batches(problems: list[GridProblem], grids: Grids, whole: Any, engine: str) -> None:
    """Prove that each puzzle has one solution, all that share a problem in one call."""
    calls = (
        [(grids, whole)] if whole else [(g[None], p) for g, p in zip(grids, problems, strict=True)]
    )
    for some, problem in calls:
        answers = batchsolve.solve_batch(some, problem, jobs=1, engine=engine)
        assert (answers.status == "unique").all()


def by_cp_sat(problems: list[GridProblem], grids: Grids) -> None:
    """Prove the same with CP-SAT."""
    for problem, grid in zip(problems, grids, strict=True):
        prove_with_cp_sat(problem, grid)


def prove_with_cp_sat(problem: GridProblem, grid: Grids) -> None:
    """Find one solution with CP-SAT, and then no other."""
    from ortools.sat.python import cp_model

    rules, n = problem.rules, problem.n_digits
    model = cp_model.CpModel()
    cells = [model.new_int_var(1, n, "") for _ in range(problem.n_cells)]
    for some in (*rules.houses, *rules.groups, *(cage.cells for cage in rules.cages)):
        model.add_all_different([cells[c] for c in some])
    for cage in rules.cages:
        model.add(sum(cells[c] for c in cage.cells) == cage.total)
    for a, b, relation in rules.pairs:
        both = [
            (x, y) for x in range(1, n + 1) for y in range(1, n + 1) if RELATIONS[relation](x, y)
        ]
        model.add_allowed_assignments([cells[a], cells[b]], both)
    for cell, digit in enumerate(grid.tolist()):
        if digit:
            model.add(cells[cell] == digit)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    others = []
    for cell in cells:
        differs = model.new_bool_var("")
        model.add(cell != solver.value(cell)).only_enforce_if(differs)
        others.append(differs)
    model.add_bool_or(others)
    assert solver.solve(model) == cp_model.INFEASIBLE


def seconds(run: Callable[[], None]) -> float:
    """Return how long a call takes."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def measured(
    problems: list[GridProblem], grids: Grids, whole: Any, copies: int, repeat: int, sample: int
) -> dict[str, float]:
    """Return the median rate of each contender, in puzzles per second."""
    if whole is not None:
        many = np.tile(grids, (copies, 1))
        all_of_them = whole.at(np.tile(np.arange(len(grids)), copies))
    else:
        many, all_of_them = grids, None
    few = problems[:sample]
    runs = {
        "lanes": (len(many), lambda: by_batches(problems, many, all_of_them, "lanes")),
        "dlx": (len(few), lambda: by_batches(few, grids[:sample], None, "dlx")),
    }
    if find_spec("ortools"):
        runs["CP-SAT"] = len(few), lambda: by_cp_sat(few, grids[:sample])
    for _, run in runs.values():
        run()  # compiles, and prepares problems
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeat):
        for name, (_, run) in runs.items():
            times[name].append(seconds(run))
    return {name: round(n / statistics.median(times[name]), 1) for name, (n, _) in runs.items()}


def main() -> None:
    """Measure all kinds, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--puzzles", type=int, default=100, help="puzzles of each kind")
    parser.add_argument("--copies", type=int, default=50, help="copies of each in a batch")
    parser.add_argument("--sample", type=int, default=20, help="puzzles for dlx and CP-SAT")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seed", type=int, default=38)
    parser.add_argument("-o", "--output", default="benchmarks/results/variants.json")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    results = {}
    for name, problems, grids, whole in kinds(options.puzzles, rng):
        rates = measured(problems, grids, whole, options.copies, options.repeat, options.sample)
        results[name] = {"clues": round(float((grids > 0).sum(axis=1).mean()), 1), **rates}
        print(name, results[name], file=sys.stderr)
    record = {"command": " ".join(sys.argv), "machine": machine(), "puzzles per second": results}
    Path(options.output).write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
