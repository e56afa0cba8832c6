"""Measure canonical forms and dedupe: forms per second on one thread, rows per second, memory.

Each corpus is measured three times: its puzzles, their solutions, and its puzzles with the rows and
columns of each permuted at random. `--memory-rows` dedupes a file of that many rows, nearly all
different: the first corpus, relabelled as often as needed. Results go to
``benchmarks/results/canonical.json``.
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
import numpy.typing as npt

import batchsolve
from batchsolve.problems.grids import GridProblem
from batchsolve.scaling.machine import machine
from batchsolve.symmetry.canonical import forms_of
from batchsolve.tables.corpus import Corpus

ROWS = 20_000  # of a corpus at most
Grids = npt.NDArray[np.uint8]


def forms_per_second(problem: GridProblem, grids: Grids, repeat: int) -> float:
    """Return the number of canonical forms that one thread finds per second."""
    forms_of(problem, grids[:2])  # compiles the kernel and builds the table
    seconds = []
    for _ in range(repeat):
        begin = time.thread_time()
        forms_of(problem, grids)
        seconds.append(time.thread_time() - begin)
    return len(grids) / statistics.median(seconds)


def shuffled(problem: batchsolve.Sudoku, grids: Grids) -> Grids:
    """Return the grids with bands, stacks, rows and columns permuted at random."""
    n, rng = problem.n_digits, np.random.default_rng(1)

    def order(size: int) -> npt.NDArray[np.int64]:
        bands = [band * size + rng.permutation(size) for band in rng.permutation(n // size)]
        return np.concatenate(bands)

    squares = grids.reshape(-1, n, n)
    moved = [square[order(problem.box_rows)][:, order(problem.box_columns)] for square in squares]
    return np.array(moved).reshape(len(grids), -1)


def measured(path: str, repeat: int) -> dict[str, Any]:
    """Measure one corpus."""
    corpus = Corpus([path])
    grids = np.concatenate([batch.grids[0].puzzles for batch in corpus.batches()])[:ROWS]
    solved = batchsolve.solve_batch(grids, corpus.problem)
    good = solved.status == "unique"
    grids, solutions = grids[good], solved.solutions[good]
    problem = corpus.problem
    assert isinstance(problem, batchsolve.Sudoku)
    return {
        "rows": len(grids),
        "puzzles per second": forms_per_second(problem, grids, repeat),
        "shuffled puzzles per second": forms_per_second(problem, shuffled(problem, grids), repeat),
        "solutions per second": forms_per_second(problem, solutions, repeat),
    }


def different(path: str, rows: int, target: str) -> None:
    """Write `rows` 9×9 puzzles, one per line: a corpus, relabelled as often as needed."""
    corpus = Corpus([path])
    grids = np.concatenate([batch.grids[0].puzzles for batch in corpus.batches()])
    rng = np.random.default_rng(1)
    with open(target, "wb") as file:
        for begin in range(0, rows, len(grids)):
            symbols = np.frombuffer(
                b"." + bytes(rng.permutation(list(b"123456789")).tolist()), np.uint8
            )
            lines = np.full((min(len(grids), rows - begin), 82), ord("\n"), np.uint8)
            lines[:, :-1] = symbols[grids[: len(lines)]]
            file.write(lines.tobytes())


def memory(path: str, rows: int, folder: str) -> dict[str, Any]:
    """Return the memory and time that deduplicating `rows` rows takes."""
    source, out = os.path.join(folder, "in.txt"), os.path.join(folder, "out.csv")
    different(path, rows, source)
    command = [sys.executable, "-m", "batchsolve", "dedupe", source, "-o", out, "--json"]
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    told = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    facts = {name: json.loads(told)[name] for name in ("rows", "kept", "repeated", "invalid")}
    return {**facts, "peak MB": usage.ru_maxrss / 1024, "rows per second": rows / seconds}


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+", help="files of puzzles")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--memory-rows", type=int, nargs="*", default=[], metavar="N")
    parser.add_argument("--folder", metavar="DIR", help="where to read and write")
    parser.add_argument("--out", default="benchmarks/results/canonical.json")
    parser.add_argument("--note", help="what to keep in mind about the figures")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        results: dict[str, Any] = {
            "command": " ".join([Path(sys.argv[0]).name, *(Path(a).name for a in sys.argv[1:])]),
            "machine": machine(),
            "memory": [memory(arguments.corpora[0], n, folder) for n in arguments.memory_rows],
            "corpora": {Path(p).name: measured(p, arguments.repeat) for p in arguments.corpora},
        }
    if arguments.note:
        results["note"] = arguments.note
    Path(arguments.out).write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
