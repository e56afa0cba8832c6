"""Measure the corpus pipeline: engine speed, two workers, reading and writing, memory.

The C yardstick (`--yardstick`, a program that prints "covers nodes seconds" for an .ec file) tells
how fast the machine is; engines and workers are timed in turn within one run, and medians are
compared. Results go to ``benchmarks/results/corpus.json``.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import batchsolve
from batchsolve.engines import Task
from batchsolve.engines.choice import AUTO, engine_for_rows
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku
from batchsolve.scaling.machine import machine
from batchsolve.search.collector import Sheet
from batchsolve.search.rounds import SearchSettings, answer_rows
from batchsolve.tables.answers import AnswerTable
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.outputs import open_sink
from batchsolve.workers.pool import Pool

CHUNK = 32_000


def interleaved(runs: dict[str, Callable[[], object]], repeat: int) -> dict[str, dict[str, float]]:
    """Time functions in turn; return minimum, median and maximum of each in seconds."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeat):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - begin)
    return {
        name: {"min": min(t), "median": statistics.median(t), "max": max(t)}
        for name, t in times.items()
    }


def search_with(problem: Sudoku, batches: list[tuple[int, Stacks]], jobs: int) -> None:
    """Search batches that were read before the clock started, on a pool of workers."""
    with Pool(jobs) as pool:
        for _ in answer_rows(problem, batches, SearchSettings(), pool):
            pass


def read_parse_write(path: str, out: str) -> None:
    """Do everything that `batchsolve solve` does except the search."""
    corpus = Corpus([path])
    table = AnswerTable(corpus, limit=2, stats=False)
    sink = open_sink(out, table.schema)
    for batch in corpus.batches(CHUNK):
        stacks = batch.stacks(corpus.problem)
        sheet = Sheet.of(0, len(batch))
        sheet.found.append(stacks)
        sink.write(table.rows(batch, sheet)[0])
    sink.finish()


def speed(path: str, repeat: int) -> dict[str, Any]:
    """Measure one corpus."""
    corpus = Corpus([path])
    problem = corpus.problem
    batches = [(len(b), b.stacks(problem)) for b in corpus.batches(CHUNK)]
    rows = sum(n for n, _ in batches)
    engine = engine_for_rows(AUTO, problem)
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.csv")
        times = interleaved(
            {
                "kernel": lambda: [
                    engine.search(problem, Task.of(part, limit=2, keep=1)) for _, part in batches
                ],
                "one worker": lambda: search_with(problem, batches, 1),
                "two workers": lambda: search_with(problem, batches, 2),
                "read, parse, write": lambda: read_parse_write(path, out),
                "file to file, one worker": lambda: batchsolve.solve_file(path, out, jobs=1),
                "file to file, two workers": lambda: batchsolve.solve_file(path, out, jobs=2),
            },
            repeat,
        )
    median = {name: t["median"] for name, t in times.items()}
    return {
        "rows": rows,
        "engine": engine.name,
        "rows per second, file to file, two workers": rows / median["file to file, two workers"],
        "seconds": times,
        "kernel puzzles per second": rows / median["kernel"],
        "two workers against one": median["one worker"] / median["two workers"],
        "read, parse, write as a share of file to file": median["read, parse, write"]
        / median["file to file, one worker"],
    }


def yardstick(program: str, instance: str, repeat: int) -> float:
    """Return the median search seconds of the C yardstick on an instance."""
    command = [program, instance]
    seconds = []
    for _ in range(repeat):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds.append(float(done.stdout.split()[2]))
    return statistics.median(seconds)


def memory(path: str, sizes: list[int]) -> list[dict[str, float]]:
    """Return the peak memory of runs over the first rows of a corpus, repeated to each size."""
    rows = csv.DictReader(Path(path).read_text().splitlines()) if path.endswith(".csv") else None
    lines = [row["puzzle"] for row in rows] if rows else Path(path).read_text().split()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.txt"), os.path.join(folder, "out.csv")
        for size in sizes:
            with open(source, "w") as file:
                for begin in range(0, size, len(lines)):
                    file.write("\n".join(lines[: size - begin]) + "\n")
            command = [sys.executable, "-m", "batchsolve", "solve", source, "-o", out, "-q"]
            begin_time = time.perf_counter()
            process = subprocess.Popen(command)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - begin_time
            results.append(
                {
                    "rows": size,
                    "exit status": status,
                    "peak MB": usage.ru_maxrss / 1024,
                    "rows per second": size / seconds,
                }
            )
            with open(out, newline="") as file:
                written = sum(1 for _ in csv.reader(file)) - 1
            if written != size:
                raise SystemExit(f"{written} rows written for {size} read")
    return results


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+", help="files of 9×9 puzzles")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--yardstick", nargs=2, metavar=("PROGRAM", "EC_FILE"))
    parser.add_argument("--memory-rows", type=int, nargs="*", default=[], metavar="N")
    parser.add_argument("--out", default="benchmarks/results/corpus.json")
    arguments = parser.parse_args()

    # first, for a process that is started counts the memory of this one as its own
    peaks = memory(arguments.corpora[0], arguments.memory_rows) if arguments.memory_rows else []
    results: dict[str, Any] = {
        "command": " ".join([Path(sys.argv[0]).name, *(Path(a).name for a in sys.argv[1:])]),
        "machine": machine(),
        "memory": peaks,
        "corpora": {Path(p).name: speed(p, arguments.repeat) for p in arguments.corpora},
    }
    if arguments.yardstick:
        program, instance = arguments.yardstick
        results["yardstick seconds"] = yardstick(program, instance, arguments.repeat)
    Path(arguments.out).write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
