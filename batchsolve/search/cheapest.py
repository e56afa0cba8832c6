"""The cheapest covers of a tree: branch and bound over its stacks and budgets.

Every stack has an upper bound: covers below it that cost more are not wanted. Among covers of equal
cost, the first in the order of this tree are wanted, in which the options of an item go by their
share of the cost. So the answer does not depend on when a worker finds which cover; only the number
of nodes does.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from batchsolve.core.arrays import Ints
from batchsolve.engines import Task, engine_for
from batchsolve.engines.native import pricing_of
from batchsolve.errors import InputError
from batchsolve.problems.attributes import costs_of
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.search.scheduler import Piece, Result
from batchsolve.search.tree import TreeSearch
from batchsolve.settings import SearchSettings
from batchsolve.settings.arguments import UNLIMITED, whole_number
from batchsolve.workers import Pool

MOST_WANTED = 100_000  # cheapest covers; every checkpoint of a run records all of them


@dataclass(frozen=True, order=True)
class PricedCover:
    """A cover and its cost; sorting puts the cheapest first, of equal ones the first in tree order.

    Attributes
    ----------
    cost : int
        The sum of the costs of its options.
    options : list of int
        Its options, ascending.
    path : tuple of int
        Its place in tree order: the ranks of its decisions.
    decisions : tuple of int
        The options taken, in the order of choice, and the exclusions.

    Examples
    --------
    >>> import batchsolve as bs
    >>> options = [["a", "b"], ["a"], ["b"]]
    >>> bs.cheapest(bs.ExactCover.from_options(options, costs=[25, 20, 2])).covers[0].cost
    22
    """

    cost: int
    options: list[int] = field(compare=False)
    path: tuple[int, ...] = field(repr=False)
    decisions: tuple[int, ...] = field(repr=False, compare=False)


def checked_wanted(problem: ExactCover, wanted: int) -> int:
    """Return the number of cheapest covers wanted of a problem, if it is valid.

    Raises
    ------
    InputError
        If the number is out of bounds, or the problem has no costs.
    """
    wanted = whole_number("the number of cheapest covers", wanted, 1, MOST_WANTED)
    costs_of(problem)
    return wanted


def priced(problem: ExactCover, decisions: Iterable[int]) -> PricedCover:
    """Return a cover of a problem with its cost."""
    entries = tuple(map(int, decisions))
    taken = sorted(d for d in entries if d < problem.n_options)
    cost = int(costs_of(problem)[taken].sum())
    return PricedCover(cost, taken, pricing_of(problem).path(entries), entries)


def as_json(problem: ExactCover, cover: PricedCover) -> dict[str, Any]:
    """Return a cover as an object of JSON: its cost, and the names of its options."""
    return {"cost": cover.cost, "options": [problem.option_name(o) for o in cover.options]}


def cheapest_of(problem: ExactCover, wanted: int, covers: Stacks) -> list[PricedCover]:
    """Return the cheapest of the covers of a task, in ascending order; workers call it."""
    return sorted(priced(problem, cover) for cover in covers)[:wanted]


class CheapestSearch(TreeSearch):
    """The search for the cheapest covers of a tree.

    Parameters
    ----------
    problem : ExactCover
        With costs.
    wanted : int
        Number of covers wanted, see `checked_wanted`.
    covers : list of PricedCover
        The cheapest covers found before, ascending; the list is kept up to date.
    settings, start, pool, **others
        As for `TreeSearch`.
    """

    def __init__(
        self,
        problem: ExactCover,
        wanted: int,
        covers: list[PricedCover],
        settings: SearchSettings,
        start: Piece,
        pool: Pool,
        **others: Any,
    ) -> None:
        if settings.limit is not None:
            raise InputError("a limit and the cheapest covers do not go together; name one of them")
        engine = engine_for(settings.engine, problem, has_costs=True)
        keywords = {"collect": True, "render": partial(cheapest_of, problem, wanted), **others}
        super().__init__(problem, settings, start, pool, engine=engine, **keywords)
        self._wanted, self._covers = wanted, covers

    def _ceilings(self, stacks: Stacks) -> Ints:
        """Return the upper bound of each stack: the highest cost that is still wanted below it."""
        if len(self._covers) < self._wanted:
            return np.full(len(stacks), UNLIMITED, np.int64)
        last, path = self._covers[-1], pricing_of(self._problem).path
        # a stack that is a prefix of the path compares as less, too
        return last.cost - np.array([path(stack) > last.path for stack in stacks], np.int64)

    def begin(
        self, piece: Piece, budget: int, promised: int, **others: Any
    ) -> tuple[Piece, Task] | None:
        """Return a piece and its task, with the upper bounds of its stacks."""
        begun = super().begin(piece, budget, promised, **others)
        if begun is None:
            return None
        ceilings = self._ceilings(piece.stacks)
        return piece, replace(begun[1], cheapest=self._wanted, ceilings=ceilings)

    def accept(self, piece: Piece, result: Result) -> list[Piece] | None:
        """Add a result to the sums and the cheapest covers; return the pieces it leaves."""
        remaining = super().accept(piece, replace(result, output=None))
        self._consistent = False
        for cover in result.output or []:
            insort(self._covers, cover)
        del self._covers[self._wanted :]
        self.totals.count = len(self._covers)
        self._consistent = True
        return remaining
