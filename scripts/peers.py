"""Counting all covers with other programs: the peers of our engines in `bench_engines.py`.

Each takes an exact cover problem whose items are all primary; a secondary item becomes primary with
the help of a *slack* option that covers only this item. Most peers can count only by listing;
graphillion counts with a decision diagram, as our `memo` does, but only knows graphs.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measuring
import numpy as np

from batchsolve.formats.exact_cover_files import write_ec
from batchsolve.problems.exact_cover import ExactCover

Rows = list[list[int]]


def with_slack(problem: ExactCover) -> Rows:
    """Return the options as lists of items, with a slack option for every secondary item."""
    rows = [problem.option(o).tolist() for o in range(problem.n_options)]
    return rows + [[item] for item in range(problem.n_primary, problem.n_items)]


def _matrix(problem: ExactCover) -> np.ndarray:
    rows = with_slack(problem)
    matrix = np.zeros((len(rows), problem.n_items), np.int32)
    for k, row in enumerate(rows):
        matrix[k, row] = 1
    return matrix


def exact_cover(problem: ExactCover) -> int:
    """Count with the package exact-cover: dancing links in C."""
    import exact_cover as peer

    return int(peer.get_solution_count(_matrix(problem)))


def exact_cover_py(problem: ExactCover) -> int:
    """Count with the package exact-cover-py: dancing links in numba, as a generator."""
    import exact_cover_py as peer

    return sum(1 for _ in peer.exact_covers(_matrix(problem).astype(np.int8)))


def xcover(problem: ExactCover) -> int:
    """Count with the package xcover: dancing cells in numba, as a generator."""
    import xcover as peer

    rows = [problem.option(o).tolist() for o in range(problem.n_options)]
    primary = list(range(problem.n_primary))
    secondary = list(range(problem.n_primary, problem.n_items))
    return sum(1 for _ in peer.covers(rows, primary=primary, secondary=secondary))


def ortools(problem: ExactCover) -> int:
    """Count with CP-SAT of the package ortools, listing all solutions on one worker.

    For a problem with costs, return the cost of the cheapest cover.
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    chosen = [model.new_bool_var("") for _ in range(problem.n_options)]
    users: list[list[cp_model.IntVar]] = [[] for _ in range(problem.n_items)]
    for o, variable in enumerate(chosen):
        for item in problem.option(o):
            users[item].append(variable)
    for item, variables in enumerate(users):
        if item >= problem.n_primary:
            model.add_at_most_one(variables)
        elif problem.bounds is None:
            model.add_exactly_one(variables)
        else:
            model.add_linear_constraint(sum(variables), *problem.bounds[item].tolist())
    if problem.costs is not None:
        return _least_cost(model, chosen, problem.costs.tolist())

    class Counter(cp_model.CpSolverSolutionCallback):
        count = 0

        def on_solution_callback(self) -> None:
            self.count += 1

    solver, counter = cp_model.CpSolver(), Counter()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    solver.solve(model, counter)
    return counter.count


def _least_cost(model: Any, chosen: list[Any], costs: list[int]) -> int:
    """Return the least total cost of the variables that are true."""
    from ortools.sat.python import cp_model

    model.minimize(sum(cost * variable for cost, variable in zip(costs, chosen, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    if solver.solve(model) != cp_model.OPTIMAL:
        raise ValueError("no cheapest cover was found")
    return round(solver.objective_value)


def graphillion(problem: ExactCover) -> int:
    """Count with the package graphillion: items are nodes, and options the edges of a graph.

    A subgraph is a cover if the degree of every node is within the bounds of its item.
    """
    from graphillion import GraphSet

    edges = [tuple(problem.option(o).tolist()) for o in range(problem.n_options)]
    degrees = {item: range(1, 2) for item in range(problem.n_primary)}
    if problem.bounds is not None:
        degrees = {v: range(low, high + 1) for v, (low, high) in enumerate(problem.bounds.tolist())}
    GraphSet.set_universe(edges)
    return int(GraphSet.graphs(degree_constraints=degrees).len())


def is_graph(problem: ExactCover) -> bool:
    """Return True if every option has two primary items and no two options are equal."""
    edges = {tuple(problem.option(o).tolist()) for o in range(problem.n_options)}
    two_each = all(len(edge) == 2 for edge in edges)
    return two_each and problem.n_primary == problem.n_items and len(edges) == problem.n_options


KNOW_BOUNDS = ("ortools", "graphillion")
KNOW_COSTS = ("ortools",)

PEERS: dict[str, Callable[[ExactCover], int]] = {
    "exact-cover": exact_cover,
    "exact-cover-py": exact_cover_py,
    "xcover": xcover,
    "ortools": ortools,
    "graphillion": graphillion,
}


def yardstick(program: str, problem: ExactCover) -> tuple[int, float]:
    """Count with a program in C; see `measuring.yardstick`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.ec"
        path.write_text(write_ec(problem))
        covers, _, seconds = measuring.yardstick(program, path)
    return covers, seconds


if __name__ == "__main__":
    sys.exit(__doc__)
