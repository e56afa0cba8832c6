"""Graphs of covers, symmetries, canonical forms, splits, projections, and clashes of grids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import batchsolve as bs
from answers import grids
from answers.cases import Answer, Case, digest, of_numbers, of_stacks
from answers.problems import SMALL, problem as problem_of, random_names
from batchsolve import Stacks

GRAPHS = (
    *(name for name in SMALL if name not in ("L3 4x4 holes", "latin:4")),
    *("queens:8", "dominoes:6x6", "langford:8", "matchings:7", "partitions:8", "latin:4"),
    *("pentominoes:3x20", "shuffled dominoes:6x6", "sudoku:2x2", "no items", "no options"),
    *("an item without options", "only secondary options", "a chain of 65", "same colours"),
    *random_names("plain", 3),
    *random_names("secondary", 3),
    *random_names("colours", 3),
)
STRUCTURES = (
    *("queens:5", "queens:6", "langford:5", "dominoes:4x4", "matchings:3", "partitions:4"),
    *("steiner:7", "edgecovers:4", "latin:3", "random colours 1", "random bounds 2"),
)
FORMS = {"sudoku4": 50, "sudoku6": 40, "sudoku9": 30, "hard9": 10, "sudoku16": 2}
SPLITS = ("queens:7", "langford:7", "latin:4", "edgecovers:4", "random colours 2", "dominoes:4x4")
PROJECTED = {"queens:6": "r1", "langford:7": "[123]", "dominoes:4x4": "r1c*", "latin:4": "r1*"}
PRICED = ("priced queens:7", "priced langford:7", "priced dominoes:4x4", "random costs 1")


def cases() -> Iterator[Case]:
    """Return the cases of all parts."""
    for name in GRAPHS:
        yield Case("graph", name, partial(_graph, name, True))
        yield Case("graph", f"{name}: any order", partial(_graph, name, False))
    for name in ("queens:6", "dominoes:4x4", "langford:7", "matchings:4"):
        yield Case("graph", f"{name}: restricted", partial(_restricted, name))
    for name in (*STRUCTURES, "pentominoes:3x20"):
        yield Case("symmetries", name, partial(_symmetries, bs.symmetries, name))
    for name in STRUCTURES:
        yield Case("symmetries", f"{name}: structure", partial(_structure, name))
    for name, n in FORMS.items():
        yield Case("canonical", f"{name}.csv", partial(_forms, name, n, "puzzle"))
        yield Case("canonical", f"{name}.csv: solutions", partial(_forms, name, n, "solution"))
    for name in SPLITS:
        yield Case("split", f"{name}: depth 2", partial(_split, name, 2))
        yield Case("split", f"{name}: count", partial(_count, name))
    for name in PRICED:
        yield Case("cheapest", name, partial(_cheapest, name, 4))
    for name, item in PROJECTED.items():
        yield Case("projections", f"{name} at {item}", partial(_projections, name, item))
    for name in grids.ids():
        yield Case("clashes", name, partial(_clashes, name))


def _graph(name: str, ordered: bool) -> Answer:
    """Build the graph of all covers; draw some and list the first."""
    graph = bs.solution_graph(problem_of(name), ordered=ordered)
    answer = {
        "counts": of_numbers([graph.count]),
        "nodes": of_numbers([graph.n_nodes]),
        "bytes": _of_arrays(graph.option, graph.low, graph.high),
    }
    if graph.count:
        numbers = sorted({0, graph.count - 1, graph.count // 2, graph.count // 3})
        covers = Stacks.concatenate([graph.sample(9, seed=4), graph.covers(numbers)])
        answer["covers"] = of_stacks(covers)
        answer["weights"] = of_numbers([*graph.uses(), *graph.distribution().values()])
    return answer


def _restricted(name: str) -> Answer:
    """Restrict a graph to the covers with an option, and without another."""
    graph = bs.solution_graph(problem_of(name)).with_option(3).without_option(8)
    arrays = _of_arrays(graph.option, graph.low, graph.high)
    return {"counts": of_numbers([graph.count]), "bytes": arrays}


def _symmetries(call: Callable[..., Any], name: str) -> Answer:
    return {"bytes": _of_arrays(call(problem_of(name)).images)}


def _structure(name: str) -> Answer:
    return _symmetries(bs.structure_symmetries, name)


def _forms(name: str, n: int, column: str) -> Answer:
    """Return the canonical forms of puzzles, or of their solutions."""
    problem, stacks = grids.dataset_rows(name, n)
    rows = problem.grids(stacks)
    if column == "solution":
        rows = bs.solve_batch(rows, problem=problem).solutions
    forms = bs.canonical_forms(rows, problem)
    return {"counts": of_numbers(forms.symmetries), "bytes": _of_arrays(forms.grids)}


def _split(name: str, depth: int) -> Answer:
    parts = bs.split(problem_of(name), depth=depth)
    return {
        "counts": of_numbers([parts.count]),
        "nodes": of_numbers([parts.nodes]),
        "frontier": of_stacks(parts.stacks),
    }


def _count(name: str) -> Answer:
    found = bs.count(problem_of(name), jobs=2, engine="dlx")
    return {"counts": of_numbers([found.count]), "nodes": of_numbers([found.nodes])}


def _cheapest(name: str, n: int) -> Answer:
    found = bs.cheapest(problem_of(name), n, jobs=1)
    return {"bytes": digest(repr([(each.cost, sorted(each.options)) for each in found.covers]))}


def _projections(name: str, item: str) -> Answer:
    return {"counts": of_numbers([bs.count_projections(problem_of(name), [item], jobs=1).count])}


def _clashes(name: str) -> Answer:
    """Find the clues that clash in grids with rules, and check the solutions of all."""
    problem, stacks = grids.rows_of_rules(name)
    known = stacks.options < problem.n_cells * problem.n_digits
    fine = [k for k in range(len(stacks)) if known[stacks.offsets[k] : stacks.offsets[k + 1]].all()]
    rows = problem.grids(stacks.take(fine))
    solution = np.tile(grids.solution_of(name), (len(rows), 1))
    checked = problem.check(rows, solution)
    return {"clash": of_numbers(problem.first_clashes(rows)), "counts": of_numbers(checked)}


def _of_arrays(*arrays: Any) -> str:
    """Return a digest of arrays of integers, whatever their types."""
    return digest(repr([np.asarray(array).astype(np.int64).tolist() for array in arrays]))
