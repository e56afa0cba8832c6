"""Measure augmentation: images written per processor second, and images drawn by one thread.

Each corpus is solved first, so that images are pairs of a puzzle and its solution. The command
`augment` then makes about `--images` rows of CSV, for each number of images a row. Its processor
time includes the start of Python. Results go to ``benchmarks/results/augment.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

import batchsolve
from batchsolve.scaling.machine import machine
from batchsolve.symmetry.images import group_of, images_of
from batchsolve.tables.corpus import Corpus

ROWS = 20_000  # of a corpus at most


def solved(path: str) -> tuple[Any, Any, Any, Any]:
    """Return the problem of a corpus, its puzzles, their solutions, and both as a table."""
    corpus = Corpus([path])
    grids = np.concatenate([batch.grids[0].puzzles for batch in corpus.batches()])[:ROWS]
    found = batchsolve.solve_batch(grids, corpus.problem)
    good = found.status == "unique"
    grids, solutions = grids[good], found.solutions[good]
    every = np.ones(len(grids), np.bool_)
    texts = [corpus.notation.decode(each, every) for each in (grids, solutions)]
    return corpus.problem, grids, solutions, pa.table(texts, ["puzzle", "solution"])


def drawn_per_second(problem: Any, grids: Any, solutions: Any, repeat: int) -> float:
    """Return the number of images that one thread draws per second."""
    group, numbers, seconds = group_of(problem), np.arange(len(grids)), []
    images_of(group, grids[:2], solutions[:2], numbers[:2], 1, 0)  # compiles the kernel
    for seed in range(repeat):
        begin = time.thread_time()
        images_of(group, grids, solutions, numbers, 1, seed)
        seconds.append(time.thread_time() - begin)
    return len(grids) / statistics.median(seconds)


def written(table: pa.Table, n: int, images: int, jobs: int, folder: str) -> dict[str, Any]:
    """Return the time that the command takes to write about this many images."""
    source, out = os.path.join(folder, "in.csv"), os.path.join(folder, "out.csv")
    wanted = max(1, images // n)
    pacsv.write_csv(pa.concat_tables([table] * -(-wanted // len(table))).slice(0, wanted), source)
    command = [sys.executable, "-m", "batchsolve", "augment", source, "-n", str(n), "-o", out]
    begin = time.perf_counter()
    process = subprocess.Popen([*command, "--jobs", str(jobs), "-q"])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    assert status == 0
    rows, spent = wanted * n, usage.ru_utime + usage.ru_stime
    return {
        "images of a row": n,
        "jobs": jobs,
        "rows written": rows,
        "seconds": round(seconds, 3),
        "rows per second": round(rows / seconds),
        "rows per processor second": round(rows / spent),
    }


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+", help="files of puzzles")
    parser.add_argument("--images", type=int, default=5_000_000, metavar="N")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", metavar="DIR", help="where to read and write")
    parser.add_argument("--out", default="benchmarks/results/augment.json")
    parser.add_argument("--note", help="what to keep in mind about the figures")
    arguments = parser.parse_args()

    corpora = {}
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for path in arguments.corpora:
            problem, grids, solutions, table = solved(path)
            corpora[Path(path).name] = {
                "drawn per second": round(
                    drawn_per_second(problem, grids, solutions, arguments.repeat)
                ),
                "written": [
                    statistics_of(
                        [
                            written(table, n, arguments.images, jobs, folder)
                            for _ in range(arguments.repeat)
                        ]
                    )
                    for n in (1, 8, 1000)
                    for jobs in (1, 2)
                ],
            }
    results: dict[str, Any] = {
        "command": " ".join([Path(sys.argv[0]).name, *(Path(a).name for a in sys.argv[1:])]),
        "machine": machine(),
        "corpora": corpora,
    }
    if arguments.note:
        results["note"] = arguments.note
    Path(arguments.out).write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


def statistics_of(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the run of the median processor time."""
    return sorted(runs, key=lambda run: run["rows per processor second"])[len(runs) // 2]


if __name__ == "__main__":
    main()
