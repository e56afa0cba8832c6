"""Problems with bounds and problems with costs, for `bench_engines.py`.

A fixed seed draws the costs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations, product
from random import Random

import numpy as np

from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.families import family
from batchsolve.runs.reading import Reading, read_problem

MOST_COST = 99


def dominating_queens(n: int, queens: int) -> ExactCover:
    """Return the problem of `queens` queens that attack or occupy every square of a board."""
    squares = [f"r{row}c{column}" for row, column in product(range(n), repeat=2)]

    def reaches(a: int, b: int) -> bool:
        rows, columns = abs(a // n - b // n), abs(a % n - b % n)
        return rows == 0 or columns == 0 or rows == columns

    options = [
        ["queens", *(square for b, square in enumerate(squares) if reaches(a, b))]
        for a in range(n * n)
    ]
    bounds = dict.fromkeys(squares, (1, queens)) | {"queens": (queens, queens)}
    return ExactCover.from_options(options, ["queens", *squares], bounds=bounds)


def regular_graphs(n: int, degree: int) -> ExactCover:
    """Return the problem of the graphs of n labelled points, each of degree `degree`."""
    bounds = dict.fromkeys(range(n), (degree, degree))
    return ExactCover.from_options(combinations(range(n), 2), list(range(n)), bounds=bounds)


def with_costs(name: str) -> ExactCover:
    """Return a problem of a family, with random costs of its options."""
    problem, random = family(name), Random(1)
    costs = [random.randint(0, MOST_COST) for _ in range(problem.n_options)]
    return ExactCover(
        problem.indptr, problem.indices, problem.n_items, problem.n_primary, costs=costs
    )


KINDS: dict[str, Callable[[], ExactCover]] = {
    "bounds: 5 queens dominate 8x8": partial(dominating_queens, 8, 5),
    "bounds: cubic graphs of 10 points": partial(regular_graphs, 10, 3),
    "cheapest: langford:12": partial(with_costs, "langford:12"),
    "cheapest: pentominoes:6x10": partial(with_costs, "pentominoes:6x10"),
    "cheapest: queens:16": partial(with_costs, "queens:16"),
}


def reading_of(text: str) -> Reading:
    """Return a problem of `KINDS`, or any that `batchsolve count` takes."""
    if text not in KINDS:
        return read_problem(text)
    problem = KINDS[text]()
    return Reading(problem, np.empty(0, np.uint32), text)
