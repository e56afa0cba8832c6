"""Searches of grids: boxes of every shape, other rules, overlapping grids, and shipped tables.

Plain grids are made here from a pattern. Grids with other rules are read from ``grids/``: rows that
`batchsolve generate` made, with their solutions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

import numpy as np

from answers.cases import Answer, Case
from answers.searching import WIDE, can, once, to_the_end
from batchsolve import InputError, Stacks, Sudoku
from batchsolve.engines import UNLIMITED, Task, check_support, get_engine
from batchsolve.problems.grids import GridProblem
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.reader import Batch

HERE = Path(__file__).parent / "grids"
DATASETS = Path(__file__).resolve().parents[2] / "datasets"

SHAPES = {
    **{(1, 1): 0, (1, 2): 0, (3, 1): 2, (2, 2): 4, (2, 3): 9, (3, 2): 9, (2, 4): 19, (4, 2): 20},
    **{(3, 3): 24, (2, 5): 34, (5, 2): 34, (3, 4): 54, (4, 3): 54, (4, 4): 105, (4, 5): 190},
    **{(5, 5): 330, (6, 6): 800},
}
"""The clues of grids with boxes of each shape: few of them need large trees."""

ENGINES = ("lanes", "dlx", "bits", "cells", "memo:16")
IN_PYTHON = ("algorithm-x", "sat")
MOST_CELLS_IN_PYTHON = 81
MOST_CELLS = {"memo:16": 160, "cells": 625}
"""The cells of the largest grids for some engines, which prepare them for long."""
MOST_NODES = 1500
ROWS = {"limit": 20, "allowance": MOST_NODES, "keep": 3}
CUT = {"budget": 300, "depth": 9, "limit": 40, "keep": 2}
MOST_CELLS_IN_PIECES = 144
DATASET_ROWS = {
    **{"sudoku4": 50, "sudoku6": 60, "sudoku9": 80, "hard9": 12, "several": 60, "many16": 3},
    **{"sudoku16": 12, "sudoku25": 3, "deep16": 3},
}
"""Rows that are searched of each table in ``datasets/``."""
WITH_FEW_COVERS = ("sudoku4", "sudoku6", "sudoku9", "hard9", "several", "sudoku16")


class Rows(NamedTuple):
    """Grids over one problem, as stacks to search below."""

    problem: GridProblem
    stacks: Stacks


def cases() -> Iterator[Case]:
    """Return the cases of all chapters."""
    for shape in SHAPES:
        yield from _of_shape(*shape)
    for k, name in enumerate(ids()):
        yield from _of_rules(name, with_python=k % 4 == 0)
    for name, n in DATASET_ROWS.items():
        yield from _of_dataset(name, n)
    for k in range(len(_groups())):
        yield from _of_group(k)


# ---- the cases of some rows -----------------------------------------------------------------


def _of_shape(box_rows: int, box_columns: int) -> Iterator[Case]:
    """Return the searches of grids with boxes of a shape."""
    name, rows = f"{box_rows}x{box_columns}", partial(_plain_rows, box_rows, box_columns)
    problem = rows().problem
    for engine in _engines_for(problem, with_python=True):
        yield from _of_rows(engine, name, rows)
        if engine in ENGINES and engine not in WIDE:
            yield _case(engine, f"{name}: cut", rows, _fitting(engine, CUT))
            if problem.n_cells <= MOST_CELLS_IN_PIECES and not can(engine, "counts_only"):
                yield Case(engine, f"{name}: pieces", partial(_in_pieces, engine, rows))


def _of_rules(name: str, with_python: bool) -> Iterator[Case]:
    """Return the searches of grids with other rules."""
    rows = partial(rows_of_rules, name)
    for engine in _engines_for(rows().problem, with_python):
        yield from _of_rows(engine, name, rows)


def _of_rows(engine: str, name: str, rows: Callable[[], Rows]) -> Iterator[Case]:
    """Return the searches of some rows by an engine."""
    yield _case(engine, f"{name}: rows", rows, _fitting(engine, ROWS))
    if can(engine, "whole_stacks"):
        yield Case(engine, f"{name}: whole", partial(_searched_whole, engine, rows))
    if engine in WIDE:
        yield _case(engine, f"{name}: depth 1", rows, {**ROWS, "depth": 1})
        yield _case(engine, f"{name}: any order", rows, {"limit": 20, "any_order": True})
        yield Case(engine, f"{name}: pieces", partial(_in_pieces, engine, rows))


def _of_dataset(name: str, n: int) -> Iterator[Case]:
    rows = partial(dataset_rows, name, n)
    for engine in ENGINES:
        few = min(n, 6) if can(engine, "counts_only") else n
        problem = dataset_rows(name, few).problem
        if problem.n_cells > MOST_CELLS.get(engine, problem.n_cells):
            continue
        some = partial(dataset_rows, name, few)
        yield _case(engine, f"{name}.csv: {few} rows", some, _fitting(engine, ROWS))
    yield Case("lanes", f"{name}.csv: pieces", partial(_in_pieces, "lanes", rows))
    if name in WITH_FEW_COVERS:
        yield Case("lanes", f"{name}.csv: all pieces", partial(_in_all_pieces, "lanes", rows))


def _of_group(k: int) -> Iterator[Case]:
    """Return the searches of rows with own rules, side by side."""
    rows = _groups()[k]
    name = f"rows with rules, group {k}"
    yield _case("lanes", f"{name}: rows", lambda: rows, ROWS)
    yield Case("lanes", f"{name}: pieces", partial(_in_pieces, "lanes", lambda: rows))


def _case(engine: str, name: str, rows: Callable[[], Rows], way: dict[str, Any]) -> Case:
    return Case(engine, name, partial(_searched, engine, rows, way))


def _searched(engine: str, rows: Callable[[], Rows], way: dict[str, Any]) -> Answer:
    problem, stacks = rows()
    answer = once(engine, problem, Task.of(stacks, **way))
    if "any_order" in way:  # which nodes are visited depends on the machine
        return {part: answer[part] for part in ("counts", "clash")}
    return answer


def _searched_whole(engine: str, rows: Callable[[], Rows]) -> Answer:
    """Search rows of which each has a root, without cutting any."""
    problem, stacks = rows()
    own = stacks.with_roots(np.arange(len(stacks)))
    return once(engine, problem, Task.of(own, limit=2, whole=True))


def _in_pieces(engine: str, rows: Callable[[], Rows]) -> Answer:
    """Search rows with budgets in turn, up to a limit."""
    problem, stacks = rows()
    task = Task.of(stacks, limit=12, keep=UNLIMITED, room=200)
    return to_the_end(engine, problem, task, (25, 160, 6))


def _in_all_pieces(engine: str, rows: Callable[[], Rows]) -> Answer:
    """Search rows with budgets and depths in turn; a limit would end them in no fixed place."""
    problem, stacks = rows()
    task = Task.of(stacks, keep=UNLIMITED, room=200)
    return to_the_end(engine, problem, task, (25, 160, 900), (UNLIMITED, 3, UNLIMITED))


def _fitting(engine: str, way: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a way that an engine takes."""
    if can(engine, "counts_only"):
        return {word: way[word] for word in ("allowance", "budget", "depth") if word in way}
    return {"limit": way["limit"]} if engine == "sat" else way


def _engines_for(problem: GridProblem, with_python: bool) -> Iterator[str]:
    """Return the engines that search grids, those in Python only if these are small."""
    is_small = problem.n_cells <= MOST_CELLS_IN_PYTHON
    for engine in (*ENGINES, *(IN_PYTHON if is_small and with_python else ())):
        if problem.n_cells > MOST_CELLS.get(engine, problem.n_cells):
            continue
        try:
            check_support(get_engine(engine), problem)
        except InputError:
            continue
        yield engine


# ---- rows -----------------------------------------------------------------------------------


@cache
def _plain_rows(box_rows: int, box_columns: int) -> Rows:
    """Return grids with boxes of a shape."""
    problem = Sudoku(box_rows, box_columns)
    rng, n_clues = Random(f"{box_rows}x{box_columns}"), SHAPES[box_rows, box_columns]
    stacks = []
    for k in range(5):
        solution = _solved(box_rows, box_columns, rng)
        cells = rng.sample(range(problem.n_cells), n_clues + k * (problem.n_cells - n_clues) // 12)
        stacks += _altered(problem, solution, cells, rng)
    return Rows(problem, _with_roots(stacks))


def _solved(box_rows: int, box_columns: int, rng: Random) -> list[int]:
    """Return a solved grid: a pattern whose digits, rows and columns are permuted."""
    n = box_rows * box_columns
    rows = _permuted(box_columns, box_rows, rng)
    columns = _permuted(box_rows, box_columns, rng)
    digits = rng.sample(range(1, n + 1), n)
    return [
        digits[(box_columns * (r % box_rows) + r // box_rows + c) % n]
        for r in rows
        for c in columns
    ]


def _permuted(n_bands: int, height: int, rng: Random) -> list[int]:
    """Return lines, permuted within bands, and the bands."""
    bands = rng.sample(range(n_bands), n_bands)
    return [height * band + line for band in bands for line in rng.sample(range(height), height)]


@cache
def _records() -> dict[str, tuple[Batch, int, dict[str, Any]]]:
    """Return the rows of the tables here: each table as it is read, and the row in it."""
    found = {}
    for path in sorted(HERE.glob("*.jsonl")):
        [batch] = Corpus([str(path)]).batches()
        for k, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            record = json.loads(line)
            found[record["id"]] = batch, k, record
    return found


def ids() -> list[str]:
    """Return the names of all rows with rules."""
    return list(_records())


def solution_of(name: str) -> list[int]:
    """Return the digits of the solution of a row with rules."""
    problem = rows_of_rules(name).problem
    return list(map(int, problem.parse(_records()[name][2]["solution"])))


@cache
def rows_of_rules(name: str) -> Rows:
    """Return a puzzle with own rules, with fewer and more clues, and with wrong ones."""
    batch, row, record = _records()[name]
    problem, puzzle, _ = batch.row(row)
    solution = problem.parse(record["solution"]).tolist()
    rng, given = Random(name), (problem.stack(puzzle) // problem.n_digits).tolist()
    given = [cell for cell in given if cell < problem.n_cells]
    fewer = rng.sample(given, len(given) - len(given) // 4)
    blank = sorted({*range(problem.n_cells)} - {*given})
    more = given + rng.sample(blank, len(blank) // 3)
    stacks = [_stack(problem, solution, given), _stack(problem, solution, fewer)]
    stacks += _altered(problem, solution, more, rng)
    return Rows(problem, _with_roots(stacks))


def _altered(
    problem: GridProblem, solution: Sequence[int], cells: Sequence[int], rng: Random
) -> list[list[int]]:
    """Return the stack of some cells, and stacks with one wrong digit or one option too many."""
    right = _stack(problem, solution, cells)
    stacks = [right]
    if cells:
        wrong = list(right)
        place, n = rng.randrange(len(cells)), problem.n_digits
        wrong[place] = wrong[place] // n * n + rng.randrange(n)
        stacks += [wrong, [*right[:4], problem.n_options + rng.randrange(2), *right[4:]]]
        stacks.append([*right, rng.randrange(problem.n_cells * n)])
    return stacks


def _stack(problem: GridProblem, grid: Sequence[int], cells: Iterable[int]) -> list[int]:
    """Return the options of some cells of a grid."""
    return [cell * problem.n_digits + grid[cell] - 1 for cell in cells]


def _with_roots(stacks: list[list[int]]) -> Stacks:
    """Return stacks of which each third has the root of the one before."""
    return Stacks.from_lists(stacks, np.cumsum([k % 3 > 0 for k in range(len(stacks))]))


@cache
def dataset_rows(name: str, n: int) -> Rows:
    """Return n rows of a shipped table, equally far apart."""
    problem, parts = Corpus([str(DATASETS / f"{name}.csv")], one_shape=True).stacks()
    return Rows(problem, parts[""].take(np.arange(n) * len(parts[""]) // n))


@cache
def _groups() -> list[Rows]:
    """Return the rows with rules as a table has them: grouped by the rules they share."""
    batches = Corpus([str(HERE / "rules.jsonl")]).batches()
    groups = (group for batch in batches for group in batch.groups())
    return [Rows(cast(GridProblem, problem), stacks) for problem, stacks in groups if len(stacks)]
