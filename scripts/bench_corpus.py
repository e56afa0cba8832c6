"""Measure the corpus pipeline: engine speed, workers, reading and writing, memory.

The C yardstick (`--yardstick`, a program that prints "covers nodes seconds" for an .ec file) shows
the speed of the machine; everything else is timed in turn within one run, and medians are compared.
`--folder` is the folder for all files; choose one in memory to keep the disk out of the figures,
because every run ends with a sync. Results go to ``benchmarks/results/corpus.json``.
"""

from __future__ import annotations

import csv
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import measuring

import batchsolve
from batchsolve.engines import Task, engine_for
from batchsolve.search.rows import Answers
from batchsolve.settings import AUTO, FileSettings
from batchsolve.tables.answers import answer_table, encoder_for
from batchsolve.tables.corpus import Corpus


def read_and_write(path: str) -> None:
    """Do everything a worker does except the search."""
    corpus = Corpus([path])
    table, encoder = answer_table(corpus.reader, 2, FileSettings()), encoder_for("x.csv")
    for batch in corpus.batches():
        answers = Answers.unknown(len(batch))
        [(_, stacks)] = batch.groups()
        answers.first_covers = [stacks]
        encoder(table.rows(batch, answers).data)


def repeated(path: str, rows: int | None, folder: Path) -> str:
    """Return a file of `rows` puzzles, one per line: those of a corpus, repeated."""
    if rows is None:
        return path
    lines = puzzles(path)
    copy = folder / "in.txt"
    with copy.open("w") as file:
        for begin in range(0, rows, len(lines)):
            file.write("\n".join(lines[: rows - begin]) + "\n")
    return str(copy)


def puzzles(path: str) -> list[str]:
    """Return the puzzles of a corpus."""
    text = Path(path).read_text()
    if path.endswith(".csv"):
        return [row["puzzle"] for row in csv.DictReader(text.splitlines())]
    return text.split()


def speed(path: str, rows: int | None, repeat: int, folder: Path) -> dict[str, Any]:
    """Measure one corpus."""
    path = repeated(path, rows, folder)
    corpus = Corpus([path])
    problem, parts = corpus.stacks()
    engine = engine_for(AUTO, problem)
    stacks = list(parts.values())
    n = sum(map(len, stacks))
    solve = partial(batchsolve.solve_file, path, folder / "out.csv")
    main_seconds: list[float] = []

    def two_workers() -> None:
        begin = time.thread_time()
        solve(jobs=2)
        main_seconds.append(time.thread_time() - begin)

    times = measuring.in_turns(
        {
            "kernel": lambda: [
                engine.search(problem, Task.of(part, limit=2, keep=1)) for part in stacks
            ],
            "read and write": lambda: read_and_write(path),
            "one worker": partial(solve, jobs=1),
            "two workers": two_workers,
            "two workers, loky": partial(solve, jobs=2, backend="loky"),
        },
        repeat,
        tidy=lambda: (folder / "out.csv").unlink(missing_ok=True),  # replacing it takes time too
    )
    median = measuring.medians(times)
    return {
        "rows": n,
        "engine": engine.name,
        "rows per second, file to file, two workers": n / median["two workers"],
        "rows per second, file to file, one worker": n / median["one worker"],
        "kernel puzzles per second": n / median["kernel"],
        "two workers against one": median["one worker"] / median["two workers"],
        "two workers against one, loky": median["one worker"] / median["two workers, loky"],
        "main thread, as a share of two workers": statistics.median(main_seconds[1:])
        / median["two workers"],
        "reading and writing as a share of one worker": median["read and write"]
        / median["one worker"],
        "seconds": {
            name: {"min": min(each), "median": median[name], "max": max(each)}
            for name, each in times.items()
        },
    }


def memory(path: str, sizes: list[int], folder: Path) -> list[dict[str, float]]:
    """Return the peak memory of runs over the first rows of a corpus, repeated to each size."""
    results = []
    out = folder / "out.csv"
    for size in sizes:
        words = ["solve", repeated(path, size, folder), "-o", out, "-q"]
        used = measuring.run(measuring.batchsolve_command(*words))
        results.append(
            {
                "rows": size,
                "exit status": used.code,
                "peak MB": used.peak_mb,
                "rows per second": size / used.seconds,
            }
        )
        with out.open(newline="") as file:
            written = sum(1 for _ in csv.reader(file)) - 1
        if written != size:
            raise SystemExit(f"{written} rows written for {size} read")
    return results


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = measuring.options(__doc__, "corpus")
    parser.add_argument("corpora", nargs="+", help="files of 9×9 puzzles")
    parser.add_argument("--yardstick", nargs=2, metavar=("PROGRAM", "EC_FILE"))
    parser.add_argument("--memory-rows", type=int, nargs="*", default=[], metavar="N")
    parser.add_argument("--rows", type=int, metavar="N", help="repeat every corpus to N rows")
    parser.add_argument("--folder", metavar="DIR", help="where to read and write")
    chosen = parser.parse_args()
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        folder = Path(name)
        # first, because a new process counts the memory of this one as its own
        results["memory"] = memory(chosen.corpora[0], chosen.memory_rows, folder)
        results["corpora"] = {
            Path(path).name: speed(path, chosen.rows, chosen.repeat, folder)
            for path in chosen.corpora
        }
    if chosen.yardstick:
        seconds = [measuring.yardstick(*chosen.yardstick)[2] for _ in range(chosen.repeat)]
        results["yardstick seconds"] = statistics.median(seconds)
    measuring.write(chosen, results)


if __name__ == "__main__":
    main()
