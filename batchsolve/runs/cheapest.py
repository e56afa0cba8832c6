"""The cheapest covers of a problem."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, BinaryIO, Unpack

from batchsolve.engines.choice import engine_for_cheapest
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.runs.count import Count, Stack, summary
from batchsolve.runs.progress import TREE_BAR, shown, tree_on
from batchsolve.runs.reading import Puzzle, problem_and_stack
from batchsolve.search.cheapest_goal import Cheapest, CheapestGoal, cheapest_of
from batchsolve.search.pieces import Changes, Piece
from batchsolve.search.tree import TreeSearch
from batchsolve.search.tree_goal import Totals
from batchsolve.settings import SearchFields, SearchSettings, settings_of, whole_number
from batchsolve.workers.pool import Pool

MOST_WANTED = 100_000  # every checkpoint of a run records all of them


@dataclass(frozen=True)
class PricedCover:
    """A cover and its cost.

    Attributes
    ----------
    cost : int
        The sum of the costs of its options.
    options : list of int
        Its options, ascending.

    Examples
    --------
    >>> problem = ExactCover.from_options([["a", "b"], ["a"], ["b"]], costs=[25, 20, 2])
    >>> cheapest(problem).covers[0].cost
    22
    """

    cost: int
    options: list[int]


@dataclass(frozen=True)
class CheapestCovers:
    """The cheapest covers of a problem.

    Attributes
    ----------
    covers : list of PricedCover
        Ascending by cost; of equal ones, the first in tree order.
    count : Count
        The result of the search. If it is not complete, cheaper covers may exist. With several
        workers, the number of nodes depends on the order in which they find covers.

    Examples
    --------
    >>> options = [["a", "b"], ["a"], ["b"]]
    >>> problem = ExactCover.from_options(options, costs=[25, 20, 2])
    >>> found = cheapest(problem, 2)
    >>> found.covers
    [PricedCover(cost=22, options=[1, 2]), PricedCover(cost=25, options=[0])]
    >>> found.count.complete
    True
    """

    covers: list[PricedCover]
    count: Count


def cheapest(
    problem: Puzzle,
    wanted: int = 1,
    stack: Stack = (),
    *,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    on_progress: Callable[[TreeSearch], None] | bool | None = None,
    search: SearchSettings | None = None,
    **settings: Unpack[SearchFields],
) -> CheapestCovers:
    """Find the cheapest covers of a problem with costs.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`; its options have costs.
    wanted : int
        Number of covers, 1 to `MOST_WANTED`.
    stack : sequence of int
        The options that the covers must contain.
    jobs : int, optional
        As for `count`.
    backend : str
        As for `count`.
    address : str, optional
        As for `count`.
    on_progress : callable or True, optional
        As for `count`.
    search : SearchSettings, optional
        As for `count`.
    **settings
        As for `count`, except ``limit``, which is not allowed.

    Returns
    -------
    CheapestCovers

    Raises
    ------
    InputError
        If the problem has no costs.

    Examples
    --------
    >>> options = [["a", "b"], ["a"], ["b"]]
    >>> problem = ExactCover.from_options(options, costs=[25, 20, 2])
    >>> cheapest(problem).covers
    [PricedCover(cost=22, options=[1, 2])]
    """
    chosen = settings_of(cheapest, SearchSettings, search, settings)
    problem, begin = problem_and_stack(problem, stack)
    best = the_cheapest(problem, wanted)
    with Pool(jobs, backend, address) as pool, shown(on_progress, tree_on, TREE_BAR) as tell:
        tree = search_for_cheapest(best, pool, chosen, Piece.whole(begin))
        for _ in tree.run():
            tell(tree)
        return CheapestCovers(covers_of(best), summary(tree, pool))


def write_cheapest(
    problem: ExactCover, stack: Stack, wanted: int, file: BinaryIO, **how: Any
) -> Count:
    """Write the cheapest covers of a problem to a file as JSON lines, once they are found.

    Parameters
    ----------
    problem, stack, wanted, **how
        As for `cheapest`.
    file : binary file

    Returns
    -------
    Count
    """
    found = cheapest(problem, wanted, stack, **how)
    for cover in found.covers:
        names = [problem.option_name(o) for o in cover.options]
        file.write((json.dumps({"cost": cover.cost, "options": names}) + "\n").encode())
    file.flush()
    return found.count


def the_cheapest(problem: ExactCover, wanted: int) -> Cheapest:
    """Return an empty list for the `wanted` cheapest covers."""
    number = whole_number("the number of cheapest covers", wanted, 1, MOST_WANTED)
    return Cheapest.of(problem, number)


def search_for_cheapest(
    best: Cheapest,
    pool: Pool,
    settings: SearchSettings,
    begin: Piece,
    totals: Totals | None = None,
    keep: Callable[[Changes], None] = lambda changes: None,
) -> TreeSearch:
    """Return the search that adds to the cheapest covers found so far."""
    goal = CheapestGoal(best, settings, begin, totals, keep)
    engine = engine_for_cheapest(settings.engine, best.problem)
    return TreeSearch(goal, [engine], pool, partial(cheapest_of, replace(best, covers=[])))


def covers_of(best: Cheapest) -> list[PricedCover]:
    """Return the covers that were found."""
    return [PricedCover(c.cost, c.options(best.problem.n_options)) for c in best.covers]
