"""Measure grids with rules of their own: `lanes`, `dlx`, CP-SAT and a program in C++, in turn.

Puzzles are made here: a full grid that follows the rules, with clues taken away as long as there is
one solution; ``--corpus`` measures tables of puzzles, too. Each contender proves that every puzzle
has one solution, on one thread; medians of puzzles per second are compared. CP-SAT, if the package
ortools is installed, and `dlx` solve a sample. ``--houses`` names a program in C++ for jigsaws,
which takes a file of puzzles and a number of rounds. Then one and two workers solve files of
100,000 rows. Results go to ``benchmarks/results/variants.json``, and ``--page`` writes them into
``docs/performance.md``.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import statistics
import string
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

import numpy as np
import numpy.typing as npt

import batchsolve
from batchsolve.memory import keep_memory
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.overlaps import overlapping
from batchsolve.problems.row_rules import Given
from batchsolve.problems.rules import RELATIONS, Cage, Rules, named, plain
from batchsolve.problems.variant import Variant
from batchsolve.problems.variants import Variants
from batchsolve.scaling.machine import machine
from batchsolve.tables.corpus import Corpus

Grids = npt.NDArray[np.uint8]
PLAIN = plain(3, 3)
LABELS = string.ascii_letters + string.digits + "!$%&*+/<>@^_~|"
PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
LEAST_SECONDS = 0.5  # of a turn of `lanes`
MOST_ROWS = 50_000  # of a turn
SAMURAI = [("." * 9, "###", "." * 9)] * 6 + [("." * 21,)] * 3
SAMURAI += [("######", "." * 9, "######")] * 3 + SAMURAI[::-1]


@dataclass(frozen=True)
class Kind:
    """Puzzles of one kind.

    Attributes
    ----------
    groups : list of (GridProblem, ndarray)
        Problems, each with its grids, as an engine searches them.
    columns : dict of str to list
        The columns of their rules, as tables have them.
    """

    groups: list[tuple[GridProblem, Grids]]
    columns: dict[str, list[str]]

    def __len__(self) -> int:
        return sum(len(grids) for _, grids in self.groups)

    def rows(self) -> Iterator[tuple[GridProblem, Grids]]:
        """Yield each puzzle with its problem."""
        for problem, grids in self.groups:
            for row, grid in enumerate(grids):
                yield problem.of_row(row), grid


def statuses(problem: GridProblem, grids: Grids, limit: int = 2, node_limit: int = 10**5) -> Any:
    """Return the answers to grids; rows of more nodes than the limit get none."""
    return batchsolve.solve_batch(grids, problem, limit=limit, jobs=1, node_limit=node_limit)


def full_grids(problem: GridProblem, n: int, rng: np.random.Generator, rounds: int = 100) -> Grids:
    """Return a full grid for each of n rows: the first one below random clues that leave any.

    Rows for which none is found in this many rounds are 0.
    """
    full = np.zeros((n, problem.n_cells), np.uint8)
    for _ in range(rounds):
        open_rows = np.flatnonzero(full[:, 0] == 0)
        if not open_rows.size:
            break
        rows = np.repeat(open_rows, 20)
        grids = np.zeros((len(rows), problem.n_cells), np.uint8)
        for grid in grids:
            cells = rng.choice(problem.n_cells, 6, replace=False)
            grid[cells] = rng.integers(1, problem.n_digits + 1, 6)
        answers = statuses(problem.at(rows), grids, limit=1, node_limit=1000)
        found = answers.status == "solved"
        full[rows[found]] = answers.solutions[found]
    return full


def dug(problem: GridProblem, full: Grids, n_tries: int, rng: np.random.Generator) -> Grids:
    """Take clues away in random order as long as there is one solution, in all grids at once."""
    grids, each = full.copy(), np.arange(len(full))
    for cells in rng.permuted(np.tile(np.arange(full.shape[1]), (len(full), 1)), axis=1).T[
        :n_tries
    ]:
        fewer = grids.copy()
        fewer[each, cells] = 0
        is_unique = statuses(problem.at(each), fewer).status == "unique"
        grids[is_unique] = fewer[is_unique]
    return grids


def random_regions(rng: np.random.Generator, n_swaps: int = 60) -> npt.NDArray[np.uint8]:
    """Return nine connected regions of nine cells: boxes whose cells are exchanged at random."""
    labels = np.array([cell // 27 * 3 + cell % 9 // 3 for cell in range(81)], np.uint8)
    swaps = 0
    while swaps < n_swaps:
        one, other = rng.choice(81, 2, replace=False)
        if labels[one] == labels[other]:
            continue
        labels[[one, other]] = labels[[other, one]]
        if is_connected(labels, labels[one]) and is_connected(labels, labels[other]):
            swaps += 1
        else:
            labels[[one, other]] = labels[[other, one]]
    return labels


def is_connected(labels: npt.NDArray[np.uint8], region: int) -> bool:
    """Tell whether the cells of a region hang together by their sides."""
    cells = set(np.flatnonzero(labels == region).tolist())
    reached, ends = set(), [min(cells)]
    while ends:
        cell = ends.pop()
        if cell in cells and cell not in reached:
            reached.add(cell)
            ends += [cell - 9, cell + 9] + [cell - 1] * (cell % 9 > 0) + [cell + 1] * (cell % 9 < 8)
    return reached == cells


def random_cages(full: Grids, rng: np.random.Generator) -> tuple[Cage, ...]:
    """Return cages of one to four cells with different digits, which cover a full grid."""
    left, cages = set(range(81)), []
    while left:
        cells = [min(left)]
        for _ in range(int(rng.integers(1, 4))):
            near = [c + step for c in cells for step in (1, 9) if step == 9 or c % 9 < 8]
            free = [c for c in near if c in left and full[c] not in full[cells] and c not in cells]
            if free:
                cells.append(int(rng.choice(free)))
        left -= set(cells)
        cages.append(Cage(tuple(sorted(cells)), int(full[cells].sum())))
    return tuple(cages)


def made_kinds(n: int, rng: np.random.Generator) -> Iterator[tuple[str, Kind]]:
    """Yield kinds of puzzles, n of each, with their names."""
    rules = {name: PLAIN + named(name, 3, 3) for name in ("x", "windoku", "antiknight")}
    one = "".join(LABELS[label] for label in random_regions(rng))
    shared: dict[str, Variant] = {name: Variant(each) for name, each in rules.items()}
    layout = batchsolve.grid_problem(9, regions=one)
    for name, problem in (*shared.items(), ("jigsaw, one layout", layout)):
        grids = dug(problem, full_grids(problem, n, rng), 60, rng)
        columns = {"regions": [one] * n} if problem is layout else {"rules": [name] * n}
        yield name, Kind([(problem, grids)], columns)
    for name, tries in (("jigsaw, a layout a row", 55), ("jigsaw, a layout a row, minimal", 81)):
        layouts = np.array([random_regions(rng) for _ in range(2 * n)])
        own = Variants(Rules.square(9, ()), Given.blank(2 * n)._replace(regions=layouts))
        full = full_grids(own, 2 * n, rng, rounds=10)
        have = np.flatnonzero(full[:, 0])[:n]  # some layouts have no grid
        own, layouts = own.at(have), layouts[have]
        grids = dug(own, full[have], tries, rng)
        texts = ["".join(LABELS[label] for label in each) for each in layouts]
        yield name, Kind([(own, grids)], {"regions": texts})
    yield "killer, without clues", killers(n, rng)
    samurai = Variant(overlapping("\n".join(map("".join, SAMURAI))))
    few = max(1, n // 5)
    grids = dug(samurai, full_grids(samurai, few, rng), 260, rng)
    yield "Samurai", Kind([(samurai, grids)], {})


def killers(n: int, rng: np.random.Generator) -> Kind:
    """Return grids without clues whose cages leave one solution."""
    found: list[tuple[Cage, ...]] = []
    while len(found) < n:
        full = full_grids(batchsolve.Sudoku(3, 3), n, rng)
        cages = [random_cages(grid, rng) for grid in full]
        answers = statuses(with_cages(cages), np.zeros((n, 81), np.uint8))
        found += [cages[k] for k in np.flatnonzero(answers.status == "unique")]
    found = found[:n]
    labels, sums = [], []
    for cages_of_row in found:
        text = ["."] * 81
        for label, cage in zip(LABELS, cages_of_row, strict=False):
            for cell in cage.cells:
                text[cell] = label
        labels.append("".join(text))
        each = zip(LABELS, cages_of_row, strict=False)
        sums.append(" ".join(f"{label}={cage.total}" for label, cage in each))
    grids = np.zeros((n, 81), np.uint8)
    return Kind([(with_cages(found), grids)], {"cages": labels, "sums": sums})


def with_cages(cages: list[tuple[Cage, ...]]) -> Variants:
    """Return the problems of plain grids with these cages."""
    return Variants.of(PLAIN, [Rules(9, PLAIN.places, (), cages=each) for each in cages])


def published(path: str) -> Kind:
    """Return the puzzles of a table that have one solution."""
    groups: list[tuple[GridProblem, Grids]] = []
    n_rows = 0
    for batch in Corpus([path]).batches():
        n_rows += len(batch)
        for problem, stacks in batch.groups():
            assert isinstance(problem, GridProblem)
            rows = stacks.roots
            grids = problem.digits_of(stacks)
            unique = statuses(problem.at(rows), grids).status == "unique"
            if unique.any():
                groups.append((problem.at(rows[unique]), grids[unique]))
    kind = Kind(groups, {})
    print(f"{path}: {len(kind)} of {n_rows} rows have one solution", file=sys.stderr)
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
        """Tell whether puzzles are jigsaws of 9×9 without other rules."""
        _, grids = kind.groups[0]
        return set(kind.columns) == {"regions"} and grids.shape[1] == 81

    def seconds(self, kind: Kind) -> float:
        """Return the seconds that the puzzles take."""
        grids = np.concatenate([grids for _, grids in kind.groups])
        lines = []
        for grid, text in zip(grids, kind.columns["regions"], strict=True):
            number = {label: str(k) for k, label in enumerate(dict.fromkeys(text), 1)}
            puzzle = "".join(".123456789"[digit] for digit in grid)
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


def rows_of(kind: Kind) -> list[dict[str, str]]:
    """Return the puzzles of a kind as rows of a table."""
    grids = np.concatenate([grids for _, grids in kind.groups])
    puzzles = ["".join(".123456789"[digit] for digit in grid) for grid in grids]
    columns = {"puzzle": puzzles, **kind.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def by_workers(
    rows: list[dict[str, str]], n_rows: int, repeat: int, folder: Path
) -> dict[str, Any]:
    """Return the rows per second of one worker and of two, from file to file, in turn."""
    source = folder / "rows.csv"
    with source.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(chain.from_iterable(rows))))
        writer.writeheader()
        writer.writerows(rows[k % len(rows)] for k in range(n_rows))
    times: dict[int, list[float]] = {1: [], 2: []}
    for k in range(1 + repeat):
        for jobs, some in times.items():
            out = folder / f"out{jobs}.csv"
            out.unlink(missing_ok=True)
            spent = seconds(partial(batchsolve.solve_file, source, out, jobs=jobs))
            some += [spent] if k else []  # the first run meets fresh memory
    assert (folder / "out1.csv").read_bytes() == (folder / "out2.csv").read_bytes()
    one, two = (statistics.median(times[jobs]) for jobs in (1, 2))
    return {"1": round(n_rows / one), "2": round(n_rows / two), "ratio": round(one / two, 2)}


def tables(record: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the tables that the page of performance has."""
    yield "| puzzles | clues | `lanes` | `dlx` | CP-SAT | C++ | `lanes` ÷ CP-SAT |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name, found in record["puzzles per second"].items():
        rates = [found.get(each) for each in ("lanes", "dlx", "CP-SAT", "C++")]
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
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--puzzles", type=int, default=100, help="puzzles of each kind")
    parser.add_argument("--sample", type=int, default=10, help="puzzles for dlx and CP-SAT")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--rows", type=int, default=100_000, help="of the files; 0 for none")
    parser.add_argument("--corpus", action="append", default=[], help="a table of puzzles")
    parser.add_argument("--houses", help="source of a program in C++ for jigsaws")
    parser.add_argument("--seed", type=int, default=38)
    parser.add_argument("--page", action="store_true", help="write results there into the page")
    parser.add_argument("-o", "--output", default="benchmarks/results/variants.json")
    options = parser.parse_args()
    keep_memory()  # as the command does
    if options.page:
        write_page(json.loads(Path(options.output).read_text()))
        return
    rng = np.random.default_rng(options.seed)
    results: dict[str, dict[str, float]] = {}
    rows: dict[str, list[dict[str, str]]] = {}
    files: dict[str, dict[str, Any]] = {}
    with TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        houses = Houses(options.houses, folder) if options.houses else None
        corpora = ((Path(path).stem, published(path)) for path in options.corpus)
        for name, kind in (*made_kinds(options.puzzles, rng), *corpora):
            clues = sum(int((grids > 0).sum()) for _, grids in kind.groups) / len(kind)
            rates = measured(kind, options.repeat, options.sample, houses)
            results[name] = {"clues": round(clues, 1), **rates}
            print(name, results[name], file=sys.stderr)
            if name in ("x", "jigsaw, a layout a row", "killer, without clues"):
                rows[name] = rows_of(kind)
        rows["these three in turn"] = list(chain.from_iterable(zip(*rows.values(), strict=True)))
        for name, each in rows.items() if options.rows else ():
            files[name] = by_workers(each, options.rows, options.repeat, folder)
            print(name, files[name], file=sys.stderr)
    record = {
        "command": " ".join(sys.argv),
        "machine": machine(),
        "puzzles per second": results,
        "rows per second": files,
    }
    Path(options.output).write_text(json.dumps(record, indent=2) + "\n")
    print("\n".join(tables(record)))


if __name__ == "__main__":
    main()
