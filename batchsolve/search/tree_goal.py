"""The goals of a tree: the tasks for its pieces, and the sums of the results.

`CheapestGoal` is branch and bound over the stacks and budgets of a tree. Every stack has an upper
bound: covers below it that cost more are not wanted. Among covers of equal cost, the first in tree
order are wanted. So the answer does not depend on when a worker finds which cover; only the number
of nodes does.
"""

from __future__ import annotations

import time
from bisect import insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Bools
from batchsolve.engines import Outcome, Task
from batchsolve.engines.priced import Pricing, pricing_of
from batchsolve.errors import InputError
from batchsolve.problems.attributes import costs_of
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.search.finished import FinishedShare
from batchsolve.search.scheduler import Changes, Piece, Result
from batchsolve.settings import UNLIMITED, SearchSettings, whole_number

STEP_SECONDS = 1.0
TASK_BYTES = 12 << 20  # of covers in a result, each counted as long as possible
STEP_BYTES = 64 << 20  # of rendered covers that may wait for a checkpoint
MOST_WANTED = 100_000  # cheapest covers; every checkpoint of a run records all of them


@dataclass
class Totals:
    """The sums of a search.

    Attributes
    ----------
    count : int
        Covers found.
    nodes : int
        Nodes visited.
    subproblems : int
        Stacks searched.
    rounds : int
        Rounds of tasks.
    seconds : float
        Time spent searching.
    """

    count: int = 0
    nodes: int = 0
    subproblems: int = 0
    rounds: int = 0
    seconds: float = 0.0


class TreeGoal:
    """The goal of a tree: all its covers, or as many as the limits allow.

    Parameters
    ----------
    problem : ExactCover
    settings : SearchSettings
        The engine is ignored.
    start : Piece
        The stacks to search.
    totals : Totals, optional
        Sums of earlier searches; results are added to them.
    keep : callable, optional
        Called with each `Changes`; when it returns, the changes are kept.
    collect : bool
        True if covers are wanted, False if only their number is.

    Attributes
    ----------
    failures : list of str
        The reasons why stacks could not be searched; they stay outstanding for a later run.
    """

    def __init__(
        self,
        problem: ExactCover,
        settings: SearchSettings,
        start: Piece,
        totals: Totals | None = None,
        keep: Callable[[Changes], None] = lambda changes: None,
        collect: bool = False,
    ) -> None:
        self.problem, self.settings, self.start, self.collect = problem, settings, start, collect
        self.totals = totals or Totals()
        self._before = self.totals.count, self.totals.nodes
        self._keep = keep
        self._finished = FinishedShare(problem, start)
        self._next_id = int(start.ids.max(initial=-1)) + 1
        self._changes = Changes()
        self._waiting = 0  # bytes
        self._consistent = True  # True if totals and changes hold the same results
        self._kept_at = self._begin = time.monotonic()
        self._seconds_before = self.totals.seconds
        self.failures: list[str] = []

    @cached_property
    def _most_covers(self) -> int:
        """The covers of a task at most."""
        return max(1, TASK_BYTES // (4 * longest_cover(self.problem)))

    @property
    def enough(self) -> bool:
        """True if a limit is reached; reads the clock."""
        settings, totals = self.settings, self.totals
        spent = time.monotonic() - self._begin
        totals.seconds = self._seconds_before + spent
        return (
            (settings.limit is not None and totals.count >= settings.limit)
            or (settings.node_limit is not None and totals.nodes >= settings.node_limit)
            or (settings.time_limit is not None and spent >= settings.time_limit)
        )

    def begin(self, piece: Piece, budget: int, promised: int) -> tuple[Piece, Task] | None:
        """Return a piece and its task; None if the tasks that are out may reach a limit."""
        settings, totals = self.settings, self.totals
        if settings.node_limit is not None:
            budget = min(budget, settings.node_limit - totals.nodes - promised)
            if budget <= 0:
                return None
        room = self._most_covers if self.collect else UNLIMITED
        if settings.limit is not None:
            room = min(room, settings.limit - totals.count)
            if room <= 0:
                return None
        keep = UNLIMITED if self.collect else 0
        how = {"budget": budget, "keep": keep, "room": room}
        return piece, Task.of(piece.stacks, fineness=piece.fineness, **how)

    def accept(self, piece: Piece, result: Result) -> list[Piece] | None:
        """Add a result to the sums; return the pieces left, or None if it exceeds the limit."""
        outcome, totals = result.outcome, self.totals
        assert outcome is not None
        n_covers = result.n_covers
        limit = self.settings.limit
        if limit is not None and totals.count + n_covers > limit:
            return None
        self._consistent = False
        searched = outcome.begun(piece.stacks)
        left = self._left_of(piece, outcome, searched)
        totals.count += n_covers
        totals.nodes += result.n_nodes
        totals.subproblems += int(np.count_nonzero(outcome.nodes))
        self._finished.add(piece, outcome, searched, left)
        is_new = searched[outcome.parents]
        self._changes.add(piece.ids[searched], left.take(is_new))
        if result.output is not None:
            self._changes.outputs.append((result.output, n_covers))
            self._waiting += _bytes_of(result.output)
        self._consistent = True
        return [left]

    def lose(self, piece: Piece, reason: str) -> list[Piece]:
        """Record that a piece cannot be searched; it is left for a later run."""
        self.failures.append(reason)
        return []

    @property
    def finished_share(self) -> float:
        """An estimate of the share of the nodes of the tree that were visited, from 0 to 1."""
        return self._finished.by_levels(self.totals.nodes)

    @property
    def finished_between(self) -> tuple[float, float]:
        """The range of such estimates, also of earlier ones; it is wide in an uneven tree."""
        return self._finished.between(self.totals.nodes)

    @property
    def n_nodes(self) -> int:
        """Nodes visited since the search began, without those of earlier searches."""
        return self.totals.nodes - self._before[1]

    def begin_again(self, outstanding: Piece) -> Piece:
        """Drop all results since the search began; return its first stacks, now outstanding.

        Parameters
        ----------
        outstanding : Piece
            The stacks that are outstanding instead of them. None may have failed.
        """
        start = self.start
        again = replace(start, ids=self._next_id + np.arange(len(start)))
        self._consistent = False
        self._next_id += len(start)
        self.totals.count, self.totals.nodes = self._before
        self._finished = FinishedShare(self.problem, start)
        self._changes.add(outstanding.ids, again)
        self._consistent = True
        return again

    def keep_if_due(self) -> None:
        """Keep the changes if a second has passed or much output waits."""
        seconds = time.monotonic() - self._kept_at
        if seconds > STEP_SECONDS or self._waiting >= STEP_BYTES:
            self._flush()

    def keep_rest(self) -> None:
        """Keep the last changes, unless an interruption left them incomplete."""
        if self._consistent:
            self._flush()

    def _left_of(self, piece: Piece, outcome: Outcome, searched: Bools) -> Piece:
        """Return the frontier as a piece; stacks not searched keep their numbers."""
        ids = piece.ids[outcome.parents]
        is_new = searched[outcome.parents]
        n_new = int(np.count_nonzero(is_new))
        ids[is_new] = self._next_id + np.arange(n_new)
        self._next_id += n_new
        weights = piece.weights[outcome.parents] * outcome.weights
        return Piece(outcome.frontier, weights, ids)

    def _flush(self) -> None:
        """Keep the changes; after a failure they are not kept later."""
        self._consistent = False
        changes, self._changes, self._waiting = self._changes, Changes(), 0
        self._keep(changes)
        self._consistent = True
        self._kept_at = time.monotonic()


def _bytes_of(output: Stacks | Any) -> int:
    """Return the bytes of memory that an output takes: covers, or a buffer of Arrow."""
    return int(output.options.nbytes if isinstance(output, Stacks) else output.size)


def longest_cover(problem: ExactCover) -> int:
    """Return the largest number of options in a cover; each option has a primary item."""
    if problem.bounds is not None:
        return max(1, min(problem.n_options, int(problem.bounds[:, 1].sum())))
    sizes = np.diff(problem.indptr)
    if problem.n_primary == problem.n_items and sizes.size:
        return max(1, problem.n_items // int(sizes.min()))
    return max(1, problem.n_primary)


# ---- the cheapest covers --------------------------------------------------------------------


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
        assert self.problem.costs is not None
        all_of_them = tuple(map(int, decisions))
        taken = sorted(d for d in all_of_them if d < self.problem.n_options)
        cost = int(self.problem.costs[taken].sum())
        return PricedCover(cost, taken, self.pricing.path(all_of_them), all_of_them)

    def add(self, covers: Iterable[PricedCover]) -> None:
        """Add covers; drop those that are no longer among the cheapest."""
        for cover in covers:
            insort(self.covers, cover)
        del self.covers[self.wanted :]

    def ceilings(self, stacks: Stacks) -> npt.NDArray[np.int64]:
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


class CheapestGoal(TreeGoal):
    """The goal of finding the cheapest covers of a tree.

    Parameters
    ----------
    cheapest : Cheapest
        The covers found before; results are added to it.
    settings, start, totals, keep
        As for `TreeGoal`.
    """

    def __init__(
        self,
        cheapest: Cheapest,
        settings: SearchSettings,
        start: Piece,
        totals: Totals | None,
        keep: Callable[[Changes], None],
    ) -> None:
        if settings.limit is not None:
            raise InputError("a limit and the cheapest covers do not go together; name one of them")
        super().__init__(cheapest.problem, settings, start, totals, keep, collect=True)
        self._cheapest = cheapest

    def begin(self, piece: Piece, budget: int, promised: int) -> tuple[Piece, Task] | None:
        """Return a piece and its task, as `TreeGoal` does, with the upper bounds of its stacks."""
        begun = super().begin(piece, budget, promised)
        if begun is None:
            return None
        wanted, ceilings = self._cheapest.wanted, self._cheapest.ceilings(piece.stacks)
        return piece, replace(begun[1], cheapest=wanted, ceilings=ceilings)

    def accept(self, piece: Piece, result: Result) -> list[Piece] | None:
        """Add a result to the sums and the cheapest covers; return the pieces it leaves."""
        covers: list[Any] = result.output or []
        left = super().accept(piece, replace(result, output=None))
        self._consistent = False
        self._cheapest.add(covers)
        self.totals.count = len(self._cheapest.covers)
        self._consistent = True
        return left
