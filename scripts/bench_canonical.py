"""Measure canonical forms and dedupe: forms per second on one thread, rows per second, memory.

Each corpus is measured three times: its puzzles, their solutions, and its puzzles with the rows and
columns of each permuted at random. `--memory-rows` dedupes a file of that many rows, nearly all
different: the first corpus, relabelled as often as needed. Results go to
``benchmarks/results/canonical.json``.
"""

from __future__ import annotations

import json
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import measuring
import numpy as np
import numpy.typing as npt
from measuring import Grids

import batchsolve
from batchsolve.problems.grid_symmetries import forms_of
from batchsolve.problems.grids import GridProblem
from batchsolve.tables.corpus import Corpus


def forms_per_second(problem: GridProblem, grids: Grids, repeat: int) -> float:
    """Return the number of canonical forms that one thread finds per second."""
    return measuring.per_second(
        len(grids), partial(forms_of, problem, grids), time.thread_time, repeat
    )


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
    corpus, grids, solutions = measuring.solved(path)
    problem = corpus.problem
    assert isinstance(problem, batchsolve.Sudoku)
    return {
        "rows": len(grids),
        "puzzles per second": forms_per_second(problem, grids, repeat),
        "shuffled puzzles per second": forms_per_second(problem, shuffled(problem, grids), repeat),
        "solutions per second": forms_per_second(problem, solutions, repeat),
    }


def different(path: str, rows: int, target: Path) -> None:
    """Write `rows` 9×9 puzzles, one per line: a corpus, relabelled as often as needed."""
    grids = measuring.grids_of(Corpus([path]))
    rng = np.random.default_rng(1)
    with target.open("wb") as file:
        for begin in range(0, rows, len(grids)):
            symbols = np.frombuffer(
                b"." + bytes(rng.permutation(list(b"123456789")).tolist()), np.uint8
            )
            lines = np.full((min(len(grids), rows - begin), 82), ord("\n"), np.uint8)
            lines[:, :-1] = symbols[grids[: len(lines)]]
            file.write(lines.tobytes())


def memory(path: str, rows: int, folder: Path) -> dict[str, Any]:
    """Return the memory and time that deduplicating `rows` rows takes."""
    different(path, rows, folder / "in.txt")
    words = ["dedupe", folder / "in.txt", "-o", folder / "out.csv", "--json"]
    used = measuring.run(measuring.batchsolve_command(*words))
    told = json.loads(used.out)
    facts = {name: told[name] for name in ("rows", "kept", "repeated", "invalid")}
    return {**facts, "peak MB": used.peak_mb, "rows per second": rows / used.seconds}


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = measuring.options(__doc__, "canonical")
    parser.add_argument("corpora", nargs="+", help="files of puzzles")
    parser.add_argument("--memory-rows", type=int, nargs="*", default=[], metavar="N")
    parser.add_argument("--folder", metavar="DIR", help="where to read and write")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        peaks = [memory(chosen.corpora[0], n, Path(folder)) for n in chosen.memory_rows]
    corpora = {Path(path).name: measured(path, chosen.repeat) for path in chosen.corpora}
    measuring.write(chosen, {"memory": peaks, "corpora": corpora})


if __name__ == "__main__":
    main()
