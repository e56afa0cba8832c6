"""Measure first answers: short commands, calls and short searches.

Each command is a process. Calls and searches are made in one process, in turns.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import measuring

import batchsolve as bs
from batchsolve.problems.grids import GridProblem
from batchsolve.runs.reading import read_problem

COMMANDS = {
    "10,000 rows": "solve datasets/sudoku9.csv -o {folder}/solved.csv",
    "25x25": "solve datasets/sudoku25.csv -o {folder}/solved.csv",
    "rules": "solve datasets/sudoku9.csv --rules antiknight -o {folder}/solved.csv",
    "dedupe": "dedupe datasets/sudoku9.csv --up-to-symmetry -o {folder}/kept.csv",
    "rate": "rate datasets/sudoku9.csv -o {folder}/rated.csv",
    "augment": "augment datasets/sudoku9.csv -n 8 --seed 1 -o {folder}/images.parquet",
    "counts": "count queens:6 queens:8 -o {folder}/counts.csv",
    "covers": "solve queens:6 queens:8 -o {folder}/covers.csv",
    "queens": "count queens:8",
    "pentominoes": "count pentominoes:6x10",
    "16x16": "count datasets/many16.csv#3",
    "memo": "count dominoes:8x8 --memo",
    "enumerate": "enumerate queens:8 -o {folder}/solutions",
    "sample": "sample queens:8 -n 3 --seed 1",
}
PUZZLE = "..3.2.6..9..3.5..1..18.64....81.29..7.......8..67.82....26.95..8..2.3..9..5.1.3.."
CALLS: dict[str, Callable[[int], object]] = {
    "solve, one puzzle": lambda jobs: bs.solve(PUZZLE),
    "count queens:6": lambda jobs: bs.count("queens:6", jobs=jobs),
    "count queens:8": lambda jobs: bs.count("queens:8", jobs=jobs),
    "solutions queens:6": lambda jobs: list(bs.solutions("queens:6", jobs=jobs)),
}
OF_ONE_TREE = ("dlx", "bits", "cells")
SEARCHES = ["queens:12", "queens:14", "langford:12", "pentominoes:6x10", "datasets/many16.csv#3"]


def run(command: str) -> measuring.Used:
    """Run a command."""
    with tempfile.TemporaryDirectory() as folder:
        words = command.format(folder=folder).split()
        used = measuring.run(measuring.batchsolve_command(*words))
    if used.code not in (0, 1):  # 1: some rows have no solution
        raise SystemExit(f"{command}: {used.err}")
    return used


def commands(names: list[str], repeat: int) -> dict[str, Any]:
    """Measure whole commands: medians of their time, time of the processor and memory."""
    found = {}
    for name in names:
        runs = [run(COMMANDS[name]) for _ in range(repeat)]
        found[name] = {
            "command": COMMANDS[name],
            "s": round(statistics.median(used.seconds for used in runs), 2),
            "s of the processor": round(statistics.median(used.processor for used in runs), 2),
            "MB": round(statistics.median(used.peak_mb for used in runs)),
        }
        print(f"{name:12} {list(found[name].values())[1:]}", flush=True)
    return found


def median_ms(call: Callable[[], object], seconds: float) -> float:
    """Return the median time of a call, in milliseconds."""
    call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return 1000 * statistics.median(times)


def calls(seconds: float) -> dict[str, Any]:
    """Measure calls, with one worker and two."""
    found = {}
    for name, call in CALLS.items():
        found[name] = [round(median_ms(partial(call, jobs), seconds), 3) for jobs in (1, 2)]
        print(f"{name:20} {found[name]} ms", flush=True)
    return found


def searches(texts: list[str], repeat: int) -> dict[str, Any]:
    """Measure searches by each engine, and by `auto` with one worker and two."""
    found = {}
    for text in texts:
        problem = read_problem(text)
        engines = () if isinstance(problem.problem, GridProblem) else OF_ONE_TREE
        ways = [*((name, 1) for name in engines), ("auto", 1), ("auto", 2)]
        counts = set[int]()

        def count(name: str, jobs: int, problem: Any = problem, seen: Any = counts) -> None:
            seen.add(bs.count(problem, engine=name, jobs=jobs).count)

        times = measuring.in_turns(
            {f"{name}, {jobs}": partial(count, name, jobs) for name, jobs in ways}, repeat
        )
        assert len(counts) == 1, counts
        found[text] = {way: round(each, 3) for way, each in measuring.medians(times).items()}
        print(f"{text:24} {found[text]}", flush=True)
    return found


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = measuring.options(__doc__, "first")
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS), choices=COMMANDS)
    parser.add_argument("--searches", nargs="*", default=SEARCHES)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each call")
    chosen = parser.parse_args()
    results = {
        "commands": commands(chosen.commands, chosen.repeat),
        "calls, ms, by one worker and by two": calls(chosen.seconds),
        "searches, s, by engine and workers": searches(chosen.searches, chosen.repeat),
    }
    measuring.write(chosen, results)


if __name__ == "__main__":
    main()
