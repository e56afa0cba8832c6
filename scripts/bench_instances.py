"""Measure many small exact cover problems: in memory, in a table, in files, one by one.

The problems are jigsaw grids with their clues, as exact covers: 324 items, and the options that
agree with the clues. All is done by one worker; the medians of processor time are printed as
problems per second.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import measuring
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

import batchsolve
from batchsolve.formats.exact_cover_files import read_dlx, write_dlx
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.runs.convert import converted


def jigsaws(n: int, folder: Path) -> list[ExactCover]:
    """Return jigsaw grids with their clues; options that clash with a clue are left out."""
    table = batchsolve.generate_table(n, seed=1, jigsaw=True, clues=(27, 28))
    path = folder / "jigsaws.csv"
    pacsv.write_csv(table, path)
    readings = (batchsolve.read_problem(f"{path}#{k + 1}") for k in range(n))
    return [read_dlx(converted(reading, "dlx").decode()) for reading in readings]


def one_by_one(problems: list[ExactCover]) -> None:
    """Count each problem by one call."""
    for problem in problems:
        batchsolve.count(problem, jobs=1, engine="dlx")


def from_options(options: list[list[list[str]]]) -> None:
    """Build problems from lists of names, and count them."""
    batchsolve.count(list(map(ExactCover.from_options, options)), jobs=1)


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = measuring.options(__doc__, "instances")
    parser.add_argument("--puzzles", type=int, default=50)
    parser.add_argument("--copies", type=int, default=20)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = jigsaws(chosen.puzzles, folder)
        problems = [  # different objects
            ExactCover(p.indptr, p.indices, p.n_items, item_names=p.item_names)
            for p in made * chosen.copies
        ]
        n_nodes = statistics.mean(each.nodes for each in batchsolve.count(made, jobs=1))
        n_options = statistics.mean(problem.n_options for problem in made)
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
        times = measuring.medians(measuring.in_turns(ways, chosen.repeat, time.process_time))
    results = {
        "items": 324,
        "options": n_options,
        "nodes": n_nodes,
        "problems per second": {
            way: round(len(problems) / seconds) for way, seconds in times.items()
        },
    }
    measuring.write(chosen, results)


if __name__ == "__main__":
    main()
