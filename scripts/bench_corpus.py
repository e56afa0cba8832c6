"""Measure the corpus pipeline: engine speed, workers, reading and writing, memory.

The C yardstick (`--yardstick`, a program that prints "covers nodes seconds" for an .ec file) shows
the speed of the machine; everything else is timed in turn within one run, and medians are compared.
`--folder` is the folder for all files; choose one in memory to keep the disk out of the figures,
because every run ends with a sync. Results go to ``benchmarks/results/corpus.json``.
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
from batchsolve.engines.choice import engine_for_rows
from batchsolve.problems.answers import Answers
from batchsolve.scaling.machine import machine
from batchsolve.settings import AUTO
from batchsolve.tables.answers import AnswerTable
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.encoders import encoder_for


def interleaved(
    runs: dict[str, Callable[[], object]], repeat: int, tidy: Callable[[], object]
) -> dict[str, dict[str, float]]:
    """Time functions in turn; return minimum, median and maximum of each in seconds.

    The function `tidy` runs after each of them, untimed.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeat):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - begin)
            tidy()
    return {
        name: {"min": min(t), "median": statistics.median(t), "max": max(t)}
        for name, t in times.items()
    }


def read_and_write(path: str) -> None:
    """Do everything a worker does except the search."""
    corpus = Corpus([path])
    table, encoder = AnswerTable(corpus.reader, limit=2, stats=False), encoder_for("x.csv")
    for batch in corpus.batches():
        answers = Answers.unknown(len(batch))
        [group] = batch.groups()
        answers.found = [group.stacks]
        encoder(table.rows(batch, answers)[0])


def repeated(path: str, rows: int | None, folder: str) -> str:
    """Return a file of `rows` puzzles, one per line: those of a corpus, repeated."""
    if rows is None:
        return path
    lines = puzzles(path)
    copy = os.path.join(folder, "in.txt")
    with open(copy, "w") as file:
        for begin in range(0, rows, len(lines)):
            file.write("\n".join(lines[: rows - begin]) + "\n")
    return copy


def puzzles(path: str) -> list[str]:
    """Return the puzzles of a corpus."""
    text = Path(path).read_text()
    if path.endswith(".csv"):
        return [row["puzzle"] for row in csv.DictReader(text.splitlines())]
    return text.split()


def speed(path: str, rows: int | None, repeat: int, folder: str) -> dict[str, Any]:
    """Measure one corpus."""
    path = repeated(path, rows, folder)
    corpus = Corpus([path])
    problem = corpus.problem
    engine = engine_for_rows(AUTO, problem)
    stacks = list(corpus.stacks())
    n = sum(map(len, stacks))
    out = os.path.join(folder, "out.csv")
    main_seconds: list[float] = []

    def solve(jobs: int, backend: str = "threading") -> None:
        batchsolve.solve_file(path, out, jobs=jobs, backend=backend)

    def two_workers() -> None:
        begin = time.thread_time()
        solve(2)
        main_seconds.append(time.thread_time() - begin)

    solve(2, "loky")  # starts the processes; they stay
    times = interleaved(
        {
            "kernel": lambda: [
                engine.search(problem, Task.of(part, limit=2, keep=1)) for part in stacks
            ],
            "read and write": lambda: read_and_write(path),
            "one worker": lambda: solve(1),
            "two workers": two_workers,
            "two workers, loky": lambda: solve(2, "loky"),
        },
        repeat,
        tidy=lambda: Path(out).unlink(missing_ok=True),  # because replacing it takes time too
    )
    median = {name: t["median"] for name, t in times.items()}
    return {
        "rows": n,
        "engine": engine.name,
        "rows per second, file to file, two workers": n / median["two workers"],
        "rows per second, file to file, one worker": n / median["one worker"],
        "kernel puzzles per second": n / median["kernel"],
        "two workers against one": median["one worker"] / median["two workers"],
        "two workers against one, loky": median["one worker"] / median["two workers, loky"],
        "main thread, as a share of two workers": statistics.median(main_seconds)
        / median["two workers"],
        "reading and writing as a share of one worker": median["read and write"]
        / median["one worker"],
        "seconds": times,
    }


def yardstick(program: str, instance: str, repeat: int) -> float:
    """Return the median search seconds of the C yardstick on an instance."""
    command = [program, instance]
    seconds = []
    for _ in range(repeat):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds.append(float(done.stdout.split()[2]))
    return statistics.median(seconds)


def memory(path: str, sizes: list[int], folder: str) -> list[dict[str, float]]:
    """Return the peak memory of runs over the first rows of a corpus, repeated to each size."""
    results = []
    out = os.path.join(folder, "out.csv")
    for size in sizes:
        source = repeated(path, size, folder)
        command = [sys.executable, "-m", "batchsolve", "solve", source, "-o", out, "-q"]
        begin = time.perf_counter()
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
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
    parser.add_argument("--rows", type=int, metavar="N", help="repeat every corpus to N rows")
    parser.add_argument("--folder", metavar="DIR", help="where to read and write")
    parser.add_argument("--out", default="benchmarks/results/corpus.json")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        # first, because a new process counts the memory of this one as its own
        peaks = memory(arguments.corpora[0], arguments.memory_rows, folder)
        results: dict[str, Any] = {
            "command": " ".join([Path(sys.argv[0]).name, *(Path(a).name for a in sys.argv[1:])]),
            "machine": machine(),
            "memory": peaks,
            "corpora": {
                Path(p).name: speed(p, arguments.rows, arguments.repeat, folder)
                for p in arguments.corpora
            },
        }
    if arguments.yardstick:
        program, instance = arguments.yardstick
        results["yardstick seconds"] = yardstick(program, instance, arguments.repeat)
    Path(arguments.out).write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
