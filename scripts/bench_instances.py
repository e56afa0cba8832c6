"""Measure many small exact cover problems: in memory, in a table, in files, one by one.

The problems are jigsaw grids with their clues, as exact covers: 324 items, and the options that
agree with the clues. All is done by one worker; the medians of processor time are printed as
problems per second.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench_variants import dug, random_regions

import batchsolve
from batchsolve.formats.exact_cover_files import write_dlx
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.rules import Rules, regions_of
from batchsolve.problems.variant import Variant
from batchsolve.scaling.machine import machine

N_SWAPS = 20  # of cells between boxes, which make the regions


def jigsaw(rng: np.random.Generator) -> ExactCover:
    """Return a jigsaw grid with its clues; options that clash with a clue are left out."""
    while True:
        rules = Rules.square(9, regions_of(random_regions(rng, N_SWAPS).tolist(), 9))
        grid_problem = Variant(rules)
        blank = np.zeros((1, grid_problem.n_cells), np.uint8)
        one = batchsolve.solve_batch(blank, grid_problem, limit=1, jobs=1, node_limit=1000)
        if one.status[0] == "solved":  # some layouts have no full grid
            break
    [grid] = dug(grid_problem, one.solutions, 55, rng)
    clues = grid_problem.stack(grid)
    holder = np.full(grid_problem.n_items, -1)  # item -> the clue that has it
    for o in clues.tolist():
        holder[grid_problem.option(o)] = o
    rows = [grid_problem.option(o) for o in range(grid_problem.n_options)]
    kept = [r for o, r in enumerate(rows) if (holder[r] < 0).all() or (holder[r] == o).all()]
    names = [f"i{i}" for i in range(grid_problem.n_items)]
    bounds, items = np.cumsum([0, *map(len, kept)]), np.concatenate(kept)
    return ExactCover(bounds, items, grid_problem.n_items, item_names=names)


def one_by_one(problems: list[ExactCover]) -> None:
    """Count each problem by a call of its own."""
    for problem in problems:
        batchsolve.count(problem, jobs=1, engine="dlx")


def from_options(options: list[list[list[str]]]) -> None:
    """Build problems from lists of names, and count them."""
    batchsolve.count(list(map(ExactCover.from_options, options)), jobs=1)


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--puzzles", type=int, default=50)
    parser.add_argument("--copies", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("-o", "--output", default="benchmarks/results/instances.json")
    chosen = parser.parse_args()
    rng = np.random.default_rng(1)
    made = [jigsaw(rng) for _ in range(chosen.puzzles)]
    problems = [  # objects of their own
        ExactCover(p.indptr, p.indices, p.n_items, item_names=p.item_names)
        for p in made * chosen.copies
    ]
    n_nodes = statistics.mean(each.nodes for each in batchsolve.count(made, jobs=1))
    n_options = statistics.mean(problem.n_options for problem in made)
    print(
        f"{len(problems)} problems of 324 items, {n_options:.0f} options, {n_nodes:.0f} nodes",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = list(map(write_dlx, problems))
        pq.write_table(pa.table({"problem": texts}), folder / "table.parquet")
        (folder / "files").mkdir()
        for k, text in enumerate(texts):
            (folder / "files" / f"{k:06d}.dlx").write_text(text)
        options = [
            [[p.item_name(i) for i in p.option(o)] for o in range(p.n_options)] for p in problems
        ]
        out = folder / "out.parquet"
        ways: dict[str, Callable[[], object]] = {
            "a list": partial(batchsolve.count, problems, jobs=1),
            "one by one": partial(one_by_one, problems),
            "from_options, a list": partial(from_options, options),
            "a table of .dlx": partial(
                batchsolve.count_file, folder / "table.parquet", out, jobs=1
            ),
            "files of .dlx": partial(batchsolve.count_file, folder / "files", out, jobs=1),
            "first covers, a table": partial(
                batchsolve.solve_file, folder / "table.parquet", out, jobs=1
            ),
        }
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(chosen.repeat + 1):  # the first turn loads kernels
            for way, run in ways.items():
                begin = time.process_time()
                run()
                seconds[way].append(time.process_time() - begin)
    rates = {way: len(problems) / statistics.median(each[1:]) for way, each in seconds.items()}
    for way, rate in rates.items():
        print(f"{way:22} {rate:10,.0f} problems/s")
    record = {
        "command": " ".join(sys.argv),
        "machine": machine(),
        "items": 324,
        "options": n_options,
        "nodes": n_nodes,
        "problems per second": {way: round(rate) for way, rate in rates.items()},
    }
    Path(chosen.output).write_text(json.dumps(record, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
