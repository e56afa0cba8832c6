"""Measure augmentation: images written per processor second, and images drawn by one thread.

Each corpus is solved first, so that images are pairs of a puzzle and its solution. The command
`augment` then makes about `--images` rows of CSV, for each number of images a row. Its processor
time includes the start of Python. Results go to ``benchmarks/results/augment.json``.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import measuring
import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from measuring import Grids

from batchsolve.problems.grid_symmetries import group_of, images_of
from batchsolve.tables.corpus import Corpus


def as_table(corpus: Corpus, grids: Grids, solutions: Grids) -> pa.Table:
    """Return puzzles and solutions as text."""
    every = np.ones(len(grids), np.bool_)
    texts = [corpus.notation.decode(each, every) for each in (grids, solutions)]
    return pa.table(texts, ["puzzle", "solution"])


def written(table: pa.Table, n: int, images: int, jobs: int, folder: Path) -> dict[str, Any]:
    """Return the time that the command takes to write about this many images."""
    source, out = folder / "in.csv", folder / "out.csv"
    wanted = max(1, images // n)
    pacsv.write_csv(pa.concat_tables([table] * -(-wanted // len(table))).slice(0, wanted), source)
    how = ["-n", n, "-o", out, "--jobs", jobs, "-q"]
    used = measuring.run(measuring.batchsolve_command("augment", source, *how))
    assert used.code == 0, used.err
    rows = wanted * n
    return {
        "images of a row": n,
        "jobs": jobs,
        "rows written": rows,
        "seconds": round(used.seconds, 3),
        "rows per second": round(rows / used.seconds),
        "rows per processor second": round(rows / used.processor),
    }


def measured(path: str, images: int, repeat: int, folder: Path) -> dict[str, Any]:
    """Measure one corpus; of the runs of a command, take that of the median processor time."""
    corpus, grids, solutions = measuring.solved(path)
    table, numbers = as_table(corpus, grids, solutions), np.arange(len(grids))
    draw = partial(images_of, group_of(corpus.problem), grids, solutions, numbers, 1, 0)
    drawn = measuring.per_second(len(grids), draw, time.thread_time, repeat)
    found = []
    for n in (1, 8, 1000):
        for jobs in (1, 2):
            runs = [written(table, n, images, jobs, folder) for _ in range(repeat)]
            rates = [run["rows per processor second"] for run in runs]
            found.append(runs[rates.index(statistics.median_low(rates))])
    return {"drawn per second": round(drawn), "written": found}


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = measuring.options(__doc__, "augment", repeat=3)
    parser.add_argument("corpora", nargs="+", help="files of puzzles")
    parser.add_argument("--images", type=int, default=5_000_000, metavar="N")
    parser.add_argument("--folder", metavar="DIR", help="where to read and write")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        how = chosen.images, chosen.repeat, Path(folder)
        corpora = {Path(path).name: measured(path, *how) for path in chosen.corpora}
    measuring.write(chosen, {"corpora": corpora})


if __name__ == "__main__":
    main()
