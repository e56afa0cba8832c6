"""Measure ratings: puzzles rated per second by one thread, and rows per second from file to file.

The puzzles of each corpus are solved first. One thread then rates all of them, and those that
singles solve, those that need more without chains, those that need chains, and those beyond the
ladder, apart. `rate_file` reads,
solves, rates and writes rows of CSV. Results go to ``benchmarks/results/rate.json``.
"""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import measuring
import numpy as np
from measuring import per_second

import batchsolve
from batchsolve.runs.rate import NAMES, ratings_of, steps_text

SINGLES = ("last cell", "hidden single in box", "hidden single in line")
STEPS = 300  # puzzles whose steps are written


def rated(path: str, repeat: int) -> dict[str, Any]:
    """Return the figures of one corpus."""
    _, grids, _ = measuring.solved(path)
    levels, *_ = ratings_of(grids)
    by_singles = np.isin(levels, [NAMES.index(name) for name in SINGLES])
    by_steps, beyond = (
        levels < NAMES.index("x-cycle"),
        levels == NAMES.index("guess"),
    )
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
    parser = measuring.options(__doc__, "rate")
    parser.add_argument("corpora", nargs="+", help="files of 9×9 puzzles")
    chosen = parser.parse_args()
    corpora = {Path(path).name: rated(path, chosen.repeat) for path in chosen.corpora}
    measuring.write(chosen, {"corpora": corpora})


if __name__ == "__main__":
    main()
