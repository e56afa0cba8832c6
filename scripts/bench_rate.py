"""Measure ratings: puzzles rated per second by one thread, and rows per second from file to file.

The puzzles of each corpus are solved first. One thread then rates all of them, and those that
singles solve, those that need more without chains, those that need chains, and those beyond the
ladder, apart. `rate_file` reads,
solves, rates and writes rows of CSV. Results go to ``benchmarks/results/rate.json``.
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
from typing import Any

import numpy as np

import batchsolve
from batchsolve.rating.ratings import SINGLES, ratings_of, steps_text
from batchsolve.rating.techniques import GUESS, NAMES, WITHOUT_CHAINS
from batchsolve.scaling.machine import machine
from batchsolve.tables.corpus import Corpus

ROWS = 20_000  # of a corpus at most
STEPS = 300  # puzzles whose steps are written


def per_second(n: int, work: Callable[[], Any], clock: Callable[[], float], repeat: int) -> int:
    """Return how many of n things some work does per second: the median of some runs."""
    seconds = []
    for _ in range(repeat):
        begin = clock()
        work()
        seconds.append(clock() - begin)
    return round(n / statistics.median(seconds))


def rated(path: str, repeat: int) -> dict[str, Any]:
    """Return the figures of one corpus."""
    grids = np.concatenate([batch.grids[0].puzzles for batch in Corpus([path]).batches()])[:ROWS]
    grids = grids[batchsolve.solve_batch(grids).status == "unique"]
    ratings = ratings_of(grids)  # compiles the kernels
    by_singles = np.isin(ratings.levels, [NAMES.index(name) for name in SINGLES])
    by_steps, beyond = ratings.levels < len(WITHOUT_CHAINS), ratings.levels == GUESS
    kinds = {
        "all": np.ones(len(grids), np.bool_),
        "by singles": by_singles,
        "more without chains": ~by_singles & by_steps,
        "by chains": ~by_steps & ~beyond,
        "beyond the ladder": beyond,
    }
    thread, figures = time.thread_time, {}
    for kind, which in kinds.items():
        if n := int(which.sum()):
            some = np.tile(grids[which], (1 + 2000 // n, 1))
            rate, size = partial(ratings_of, some), len(some)
            figures[kind] = {
                "puzzles": n,
                "rated per second": per_second(size, rate, thread, repeat),
                "with backdoors": per_second(size, partial(rate, backdoor=True), thread, repeat),
            }
    some = grids[:: max(1, len(grids) // STEPS)]
    steps = per_second(len(some), lambda: list(map(steps_text, some)), thread, repeat)
    with tempfile.TemporaryDirectory() as folder:
        write = partial(batchsolve.rate_file, path, Path(folder) / "out.csv")
        rows = write().rows
        files = {
            "one worker, per processor second": per_second(
                rows, partial(write, jobs=1), time.process_time, repeat
            ),
            "two workers": per_second(rows, partial(write, jobs=2), time.perf_counter, repeat),
        }
    return {"one thread": figures, "steps per second": steps, "rows from file to file": files}


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+", help="files of 9×9 puzzles")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", default="benchmarks/results/rate.json")
    parser.add_argument("--note", help="what to keep in mind about the figures")
    arguments = parser.parse_args()
    results = {
        "command": " ".join([Path(sys.argv[0]).name, *(Path(a).name for a in sys.argv[1:])]),
        "machine": machine(),
        "corpora": {Path(path).name: rated(path, arguments.repeat) for path in arguments.corpora},
    }
    if arguments.note:
        results["note"] = arguments.note
    Path(arguments.out).write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
