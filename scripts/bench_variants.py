"""Measure grids with per-row rules: `lanes`, `dlx`, CP-SAT and a program in C++, in turn.

Puzzles are made by `generate`; ``--corpus`` measures tables of puzzles, too. Each contender proves
that every puzzle has one solution, on one thread; medians of puzzles per second are compared.
CP-SAT, if the package ortools is installed, and `dlx` solve a sample. ``--houses`` names a program
in C++ for jigsaws, which takes a file of puzzles and a number of rounds. Then one and two workers
solve files of 100,000 rows. Results go to ``benchmarks/results/variants.json``, and ``--page``
writes them into ``docs/performance.md``.
"""

from __future__ import annotations

import csv
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import measuring
import numpy as np
import pyarrow as pa
from measuring import Grids

import batchsolve
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.rules import RELATIONS
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.sources import TableSource
from batchsolve.workers.base import keep_memory

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
LAYOUT = "CCCCAAABBCCCCAAABBDEECAAABBDEEEFFBBBDDEEFFFFFDDDEEFIFGHDDIIIIGGHHHHIIIGGHHHHIGGGG"
KINDS: dict[str, dict[str, Any]] = {  # of puzzles, and the wishes of `generate`
    "x": {"rules": "x", "clues": (23, 24)},
    "windoku": {"rules": "windoku", "clues": (24, 24)},
    "antiknight": {"rules": "antiknight", "clues": (22, 22)},
    "jigsaw, one layout": {"regions": LAYOUT, "clues": (24, 24)},
    "jigsaw, a layout a row": {"jigsaw": True, "clues": (27, 28)},
    "jigsaw, a layout a row, minimal": {"jigsaw": True, "minimal": True},
    "killer, without clues": {"cages": (1, 4), "clues": (0, 0)},
    "Samurai": {"rules": "samurai", "clues": (127, 128)},
}
IN_FILES = ("x", "jigsaw, a layout a row", "killer, without clues")
LEAST_SECONDS = 0.5  # of a turn of `lanes`
MOST_ROWS = 50_000  # of a turn


@dataclass(frozen=True)
class Kind:
    """Puzzles of one kind, each with one solution.

    Attributes
    ----------
    groups : list of (GridProblem, ndarray of uint8)
        Problems, and their grids.
    table : pyarrow.Table
        The columns of the same puzzles.
    """

    groups: list[tuple[GridProblem, Grids]]
    table: pa.Table

    def __len__(self) -> int:
        return sum(len(grids) for _, grids in self.groups)

    def rows(self) -> Iterator[tuple[GridProblem, Grids]]:
        """Yield each puzzle with its problem."""
        for problem, grids in self.groups:
            for row, grid in enumerate(grids):
                yield problem.of_row(row), grid


def made_kinds(n: int, seed: int) -> Iterator[tuple[str, Kind]]:
    """Yield kinds of puzzles, n of each, and fewer of large grids, with their names."""
    for name, wish in KINDS.items():
        few = n if name != "Samurai" else max(1, n // 5)
        table = batchsolve.generate_table(few, seed=seed, **wish)
        yield name, kind_of(TableSource(table.drop_columns(["solution", "clues"]), name))


def kind_of(source: str | TableSource) -> Kind:
    """Return the puzzles of a table that have one solution."""
    groups: list[tuple[GridProblem, Grids]] = []
    tables, n_rows = [], 0
    for batch in Corpus([source]).batches():
        n_rows += len(batch)
        for problem, stacks in batch.groups():
            rows, grids = stacks.roots, problem.digits_of(stacks)
            found = batchsolve.solve_batch(grids, problem.at(rows), jobs=1, node_limit=10**5)
            unique = found.status == "unique"
            if unique.any():
                groups.append((problem.at(rows[unique]), grids[unique]))
                tables.append(batch.table.take(pa.array(rows[unique])))
    kind = Kind(groups, pa.concat_tables(tables))
    if len(kind) < n_rows:
        print(f"{source}: {len(kind)} of {n_rows} rows have one solution", file=sys.stderr)
    return kind


def by_engine(groups: list[tuple[GridProblem, Grids]], engine: str) -> None:
    """Prove that each puzzle has one solution, all that share a problem in one call."""
    for problem, grids in groups:
        answers = batchsolve.solve_batch(grids, problem, jobs=1, engine=engine)
        assert (answers.status == "unique").all()


def by_cp_sat(rows: list[tuple[GridProblem, Grids]]) -> None:
    """Prove the same with CP-SAT."""
    for problem, grid in rows:
        prove_with_cp_sat(problem, grid)


def prove_with_cp_sat(problem: GridProblem, grid: Grids) -> None:
    """Find one solution with CP-SAT, and then no other."""
    from ortools.sat.python import cp_model

    rules, n = problem.rules, problem.n_digits
    model = cp_model.CpModel()
    cells = [model.new_int_var(1, n, "") for _ in range(problem.n_cells)]
    for some in (*rules.houses, *rules.groups, *(cage.cells for cage in rules.cages)):
        model.add_all_different([cells[c] for c in some])
    for cage in rules.cages:
        model.add(sum(cells[c] for c in cage.cells) == cage.total)
    for a, b, relation in rules.pairs:
        both = [
            (x, y) for x in range(1, n + 1) for y in range(1, n + 1) if RELATIONS[relation](x, y)
        ]
        model.add_allowed_assignments([cells[a], cells[b]], both)
    for cell, digit in enumerate(grid.tolist()):
        if digit:
            model.add(cells[cell] == digit)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    others = []
    for cell in cells:
        differs = model.new_bool_var("")
        model.add(cell != solver.value(cell)).only_enforce_if(differs)
        others.append(differs)
    model.add_bool_or(others)
    assert solver.solve(model) == cp_model.INFEASIBLE


def seconds(run: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


class Houses:
    """The program in C++ for jigsaws; it prints how many puzzles a second it solves."""

    def __init__(self, source: str, folder: Path) -> None:
        self._program, self._puzzles = folder / "houses", folder / "puzzles.txt"
        command = ["g++", "-O3", "-march=native", "-w", "-o", str(self._program), source]
        subprocess.run(command, check=True)

    @staticmethod
    def takes(kind: Kind) -> bool:
        """Return whether puzzles are jigsaws of 9×9 without other rules."""
        _, grids = kind.groups[0]
        return kind.table.column_names == ["puzzle", "regions"] and grids.shape[1] == 81

    def seconds(self, kind: Kind) -> float:
        """Return the seconds that the puzzles take."""
        lines = []
        for puzzle, text in zip(
            *(column.to_pylist() for column in kind.table.columns), strict=True
        ):
            number = {label: str(k) for k, label in enumerate(dict.fromkeys(text), 1)}
            lines.append(puzzle + " " + "".join(number[label] for label in text))
        self._puzzles.write_text("\n".join(lines) + "\n")
        command = [str(self._program), str(self._puzzles), "1"]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = re.search(r"unique (\d+), (\d+) puzzles/s", told)
        assert found is not None, told
        assert int(found[1]) == len(kind), told
        return len(kind) / max(1, int(found[2]))


def measured(kind: Kind, repeat: int, sample: int, houses: Houses | None) -> dict[str, float]:
    """Return the median rate of each contender, in puzzles per second."""
    by_engine(kind.groups, "lanes")  # compiles
    once = seconds(lambda: by_engine(kind.groups, "lanes"))
    copies = max(1, min(int(LEAST_SECONDS / once), MOST_ROWS // len(kind)))
    many = [
        (problem.at(np.tile(np.arange(len(grids)), copies)), np.tile(grids, (copies, 1)))
        for problem, grids in kind.groups
    ]
    few = [row for row, _ in zip(kind.rows(), range(sample), strict=False)]
    alone = [(problem, grid[None]) for problem, grid in few]
    runs: dict[str, tuple[int, Callable[[], float]]] = {
        "lanes": (copies * len(kind), lambda: seconds(lambda: by_engine(many, "lanes"))),
        "dlx": (len(few), lambda: seconds(lambda: by_engine(alone, "dlx"))),
    }
    if find_spec("ortools"):
        runs["CP-SAT"] = len(few), lambda: seconds(lambda: by_cp_sat(few))
    if houses is not None and houses.takes(kind):
        runs["C++"] = len(kind), lambda: houses.seconds(kind)
    by_engine(alone[:1], "dlx")  # compiles
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeat):
        for name, (_, run) in runs.items():
            if name == "lanes" or len(times[name]) < repeat // 2 + 1:
                times[name].append(run())
    return {name: round(n / statistics.median(times[name]), 1) for name, (n, _) in runs.items()}


def by_workers(
    rows: list[dict[str, str]], n_rows: int, repeat: int, folder: Path
) -> dict[str, Any]:
    """Return the rows per second of one worker and of two, from file to file, in turn."""
    source, out = folder / "rows.csv", folder / "out.csv"
    with source.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(chain.from_iterable(rows))))
        writer.writeheader()
        writer.writerows(rows[k % len(rows)] for k in range(n_rows))
    ways = {str(jobs): partial(batchsolve.solve_file, source, out, jobs=jobs) for jobs in (1, 2)}
    times = measuring.medians(measuring.in_turns(ways, repeat, tidy=out.unlink))
    rates = {jobs: round(n_rows / seconds) for jobs, seconds in times.items()}
    return {**rates, "ratio": round(times["1"] / times["2"], 2)}


def tables(record: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the tables that the page of performance has."""
    kinds = record["puzzles per second"]
    others = [each for each in ("CP-SAT", "C++") if any(each in found for found in kinds.values())]
    yield f"| puzzles | clues | `lanes` | `dlx` | {' | '.join(others)} | `lanes` ÷ CP-SAT |"
    yield f"|---|---:|---:|---:|{'---:|' * len(others)}---:|"
    for name, found in kinds.items():
        rates = [found.get(each) for each in ("lanes", "dlx", *others)]
        texts = ["–" if rate is None else f"{rate:,.0f}" for rate in rates]
        cp_sat = found.get("CP-SAT")
        ratio = f"{found['lanes'] / cp_sat:,.0f}" if cp_sat else "–"
        yield f"| {name} | {found['clues']} | {' | '.join(texts)} | {ratio} |"
    yield ""
    yield "| rows, file to file | one worker | two workers | ratio |"
    yield "|---|---:|---:|---:|"
    for name, found in record["rows per second"].items():
        yield f"| {name} | {found['1']:,} | {found['2']:,} | {found['ratio']} |"


def write_page(record: dict[str, Any]) -> None:
    """Put the tables between the two comments of the page of performance."""
    before, begin, rest = PAGE.read_text("utf-8").partition("-->\n")
    _, end, behind = rest.partition("<!-- end of tables")
    lines = "\n".join(["", *tables(record), "", ""])
    PAGE.write_text(before + begin + lines + end + behind, "utf-8")


def main() -> None:
    """Measure all kinds, and write the results."""
    parser = measuring.options(__doc__.partition("\n")[0], "variants")
    parser.add_argument("--puzzles", type=int, default=100, help="puzzles of each kind")
    parser.add_argument("--sample", type=int, default=10, help="puzzles for dlx and CP-SAT")
    parser.add_argument("--rows", type=int, default=100_000, help="of the files; 0 for none")
    parser.add_argument("--corpus", action="append", default=[], help="a table of puzzles")
    parser.add_argument("--houses", help="source of a program in C++ for jigsaws")
    parser.add_argument("--seed", type=int, default=38)
    parser.add_argument("--page", action="store_true", help="write results there into the page")
    chosen = parser.parse_args()
    keep_memory()  # as the command does
    if chosen.page:
        write_page(json.loads(Path(chosen.out).read_text()))
        return
    results: dict[str, dict[str, float]] = {}
    rows: dict[str, list[dict[str, str]]] = {}
    files: dict[str, dict[str, Any]] = {}
    with TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        houses = Houses(chosen.houses, folder) if chosen.houses else None
        corpora = ((Path(path).stem, kind_of(path)) for path in chosen.corpus)
        for name, kind in (*made_kinds(chosen.puzzles, chosen.seed), *corpora):
            clues = sum(int((grids > 0).sum()) for _, grids in kind.groups) / len(kind)
            rates = measured(kind, chosen.repeat, chosen.sample, houses)
            results[name] = {"clues": round(clues, 1), **rates}
            print(name, results[name], file=sys.stderr)
            if name in IN_FILES:
                rows[name] = kind.table.to_pylist()
        rows["these three in turn"] = list(chain.from_iterable(zip(*rows.values(), strict=True)))
        for name, each in rows.items() if chosen.rows else ():
            files[name] = by_workers(each, chosen.rows, chosen.repeat, folder)
            print(name, files[name], file=sys.stderr)
    record = {"puzzles per second": results, "rows per second": files}
    measuring.write(chosen, record)
    print("\n".join(tables(record)))


if __name__ == "__main__":
    main()
