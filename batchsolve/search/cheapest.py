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
from batchsolve.engines.native import Pricing, pricing_of
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


@dataclass(eq=False)
class Cheapest:
    """The cheapest covers found so far.

    Attributes
    ----------
    problem : ExactCover
        With costs.
    wanted : int
        Number of covers wanted.
    pricing : Pricing
    covers : list of PricedCover
        In ascending order, at most `wanted`.
    """

    problem: ExactCover
    wanted: int
    pricing: Pricing
    covers: list[PricedCover] = field(default_factory=list)

    @classmethod
    def of(cls, problem: ExactCover, wanted: int) -> Cheapest:
        """Return an empty collection for the `wanted` cheapest covers of a problem.

        Raises
        ------
        InputError
            If the number is out of bounds, or the problem has no costs.
        """
        wanted = whole_number("the number of cheapest covers", wanted, 1, MOST_WANTED)
        costs_of(problem)
        return cls(problem, wanted, pricing_of(problem))

    def priced(self, decisions: Iterable[int]) -> PricedCover:
        """Return a cover with its cost."""
        all_of_them = tuple(map(int, decisions))
        taken = sorted(d for d in all_of_them if d < self.problem.n_options)
        cost = int(costs_of(self.problem)[taken].sum())
        return PricedCover(cost, taken, self.pricing.path(all_of_them), all_of_them)

    def add(self, covers: Iterable[PricedCover]) -> None:
        """Add covers; drop those that are no longer among the cheapest."""
        for cover in covers:
            insort(self.covers, cover)
        del self.covers[self.wanted :]

    def ceilings(self, stacks: Stacks) -> Ints:
        """Return the upper bound of each stack: the highest cost that is still wanted below it."""
        if len(self.covers) < self.wanted:
            return np.full(len(stacks), UNLIMITED, np.int64)
        last = self.covers[-1]
        # a stack that is a prefix of the path compares as less, too
        after = [self.pricing.path(stack) > last.path for stack in stacks]
        return last.cost - np.array(after, np.int64)


def cheapest_of(room: Cheapest, covers: Stacks) -> list[PricedCover]:
    """Return the cheapest of the covers of a task, in ascending order; workers call it."""
    found = replace(room, covers=[])
    found.add(map(room.priced, covers))
    return found.covers


class CheapestSearch(TreeSearch):
    """The search for the cheapest covers of a tree.

    Parameters
    ----------
    cheapest : Cheapest
        The covers found before; results are added to it.
    settings, start, pool, **others
        As for `TreeSearch`.
    """

    def __init__(
        self, cheapest: Cheapest, settings: SearchSettings, start: Piece, pool: Pool, **others: Any
    ) -> None:
        if settings.limit is not None:
            raise InputError("a limit and the cheapest covers do not go together; name one of them")
        engine = engine_for(settings.engine, cheapest.problem, has_costs=True)
        render = partial(cheapest_of, replace(cheapest, covers=[]))
        how = {"collect": True, "render": render, **others}
        super().__init__(cheapest.problem, settings, start, pool, engine=engine, **how)
        self._cheapest = cheapest

    def begin(
        self, piece: Piece, budget: int, promised: int, **how: Any
    ) -> tuple[Piece, Task] | None:
        """Return a piece and its task, with the upper bounds of its stacks."""
        begun = super().begin(piece, budget, promised, **how)
        if begun is None:
            return None
        wanted, ceilings = self._cheapest.wanted, self._cheapest.ceilings(piece.stacks)
        return piece, replace(begun[1], cheapest=wanted, ceilings=ceilings)

    def accept(self, piece: Piece, result: Result) -> list[Piece] | None:
        """Add a result to the sums and the cheapest covers; return the pieces it leaves."""
        left = super().accept(piece, replace(result, output=None))
        self._consistent = False
        self._cheapest.add(result.output or [])
        self.totals.count = len(self._cheapest.covers)
        self._consistent = True
        return left
