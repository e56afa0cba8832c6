"""Problems with bounds or costs, and problems in a random order, for scripts that measure engines.

A fixed seed draws the costs and the order.
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
SHUFFLED = " shuffled"


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


def shuffled(problem: ExactCover) -> ExactCover:
    """Return the problem with its items and its options in a random order."""
    rng = np.random.default_rng(1)
    kinds = np.arange(problem.n_items) >= problem.n_primary
    order = np.lexsort((rng.random(problem.n_items), kinds))  # primary items come first
    rank = np.argsort(order)
    rows = [np.sort(rank[problem.option(o)]) for o in rng.permutation(problem.n_options)]
    ends = np.cumsum([0, *map(len, rows)])
    return ExactCover(ends, np.concatenate(rows), problem.n_items, problem.n_primary)


KINDS: dict[str, Callable[[], ExactCover]] = {
    "bounds: 5 queens dominate 8x8": partial(dominating_queens, 8, 5),
    "bounds: cubic graphs of 10 points": partial(regular_graphs, 10, 3),
    "cheapest: langford:12": partial(with_costs, "langford:12"),
    "cheapest: pentominoes:6x10": partial(with_costs, "pentominoes:6x10"),
    "cheapest: queens:16": partial(with_costs, "queens:16"),
}


def reading_of(text: str) -> Reading:
    """Return a problem of `KINDS`, a family shuffled, or what else `batchsolve count` takes."""
    if text in KINDS:
        problem = KINDS[text]()
    elif text.endswith(SHUFFLED):
        problem = shuffled(family(text.removesuffix(SHUFFLED)))
    else:
        return read_problem(text)
    return Reading(problem, np.empty(0, np.uint32), text)
