"""Searching one problem to the end: every cover counted or collected, in rounds of tasks.

What is left of a search is a set of *outstanding* stacks, each with a number and a weight, its
share of the tree. A round deals stacks out to the workers; a result replaces the stacks it was
given by its frontier. A *step* is the difference that some results make: the stacks that are done,
those that are new, and what was found. Whoever keeps the steps can resume from any of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from batchsolve.cover import ExactCover
from batchsolve.engines import UNLIMITED, Engine, Task, check_bounds, check_support
from batchsolve.errors import InputError
from batchsolve.pool import Done, Lost, Pool, deal
from batchsolve.stacks import Stacks

TASK_SECONDS = 0.05  # what a task may take; a worker that is done early idles for less than that
ROUND_TASKS = 40  # tasks a worker gets in a round, so that it idles for less than 1 / 40 of it
STACKS_PER_WORKER = 30  # how many subproblems an automatic split aims at
SPLIT_NODES = 20_000  # nodes that an automatic split may visit; some hundredths of a second
FIRST_BUDGET = 50_000
LEAST_BUDGET = 5_000  # so that a task is worth handing out
STEP_SECONDS = 1.0
TASK_BYTES = 8 << 20  # covers that a task may hand back, taking each as long as can be
STEP_BYTES = 64 << 20  # covers that may wait to be kept


@dataclass(frozen=True)
class TreeSettings:
    """What to search for, and how.

    Attributes
    ----------
    collect : bool
        Hand covers back instead of only counting them.
    limit, node_limit : int, optional
        Stop after so many covers or nodes.
    time_limit : float, optional
        Stop after so many seconds.
    split_depth : int, optional
        Expand the tree to this depth first; by default as deep as gives every worker enough to do.
    budget : int, optional
        Nodes a task may visit; sized by time by default.
    """

    collect: bool = False
    limit: int | None = None
    node_limit: int | None = None
    time_limit: float | None = None
    split_depth: int | None = None
    budget: int | None = None

    def __post_init__(self) -> None:
        check_bounds(self, {"limit": 1, "node_limit": 1, "split_depth": 0, "budget": 1})
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"time_limit is more than 0 seconds, not {self.time_limit}")


@dataclass(eq=False)
class Outstanding:
    """Stacks that are still to be searched.

    Attributes
    ----------
    stacks : Stacks
        The stacks, in tree order; their roots are their numbers.
    weights : ndarray of float64, shape (n,)
        Their shares of the whole tree, by the numbers of children above them.
    """

    stacks: Stacks
    weights: npt.NDArray[np.float64]

    @classmethod
    def whole(cls, stacks: Stacks) -> Outstanding:
        """Return stacks that make up a whole search."""
        n = len(stacks)
        return cls(stacks.with_roots(np.arange(n)), np.full(n, 1 / max(1, n)))

    def __len__(self) -> int:
        return len(self.stacks)

    @classmethod
    def join(cls, parts: list[Outstanding]) -> Outstanding:
        """Join parts, in order."""
        weights = np.concatenate([part.weights for part in parts])
        return cls(Stacks.concatenate([part.stacks for part in parts]), weights)

    def take(self, places: npt.NDArray[np.int64]) -> Outstanding:
        """Return those at these places."""
        return Outstanding(self.stacks.take(places), self.weights[places])


@dataclass(eq=False)
class Step:
    """What some results change: all of it is kept, or nothing."""

    done: set[int] = field(default_factory=set)
    new: dict[int, tuple[npt.NDArray[np.uint32], float]] = field(default_factory=dict)
    covers: list[Stacks] = field(default_factory=list)
    n_covers: int = 0

    def add(self, done: list[int], new: Outstanding, covers: Stacks) -> None:
        """Add the changes of one result."""
        for number in done:
            if self.new.pop(number, None) is None:
                self.done.add(number)
        numbers = new.stacks.roots.tolist()
        for number, stack, weight in zip(numbers, new.stacks, new.weights.tolist(), strict=True):
            self.new[number] = (stack, weight)
        if len(covers):
            self.covers.append(covers)
            self.n_covers += len(covers)


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


class TreeSearch:
    """A search of outstanding stacks, in rounds.

    Parameters
    ----------
    problem : ExactCover
    engine : Engine
    pool : Pool
        Entered already.
    settings : TreeSettings
    outstanding : Outstanding
        What is to be searched.
    totals : Totals
        Sums so far; added to as results come.
    keep : callable
        Called with each `Step`; when it returns, the step is kept.

    Attributes
    ----------
    failures : list of str
        Why stacks could not be searched; they stay outstanding.
    """

    def __init__(
        self,
        problem: ExactCover,
        engine: Engine,
        pool: Pool,
        settings: TreeSettings,
        outstanding: Outstanding,
        totals: Totals,
        keep: Callable[[Step], None],
    ) -> None:
        check_support(engine, problem)
        if engine.capabilities.counts_only and (settings.collect or settings.limit is not None):
            raise InputError(
                f"the engine {engine.name!r} only counts, and counts everything: for solutions, or "
                f"a limit on their number, leave out --memo or name another engine"
            )
        self._problem = problem
        self._engine = engine
        self._pool = pool
        self._settings = settings
        self._keep = keep
        self.outstanding = outstanding
        self.totals = totals
        self.failures: list[str] = []
        self._n_failed = 0
        self._open_weight = float(outstanding.weights.sum())
        self._cover_bytes = 4 * max(1, problem.n_primary)  # at most one option an item
        self._next_number = int(outstanding.stacks.roots.max(initial=-1)) + 1
        self._step = Step()
        self._kept_at = time.monotonic()
        self._seconds_before = totals.seconds
        self._begin = time.monotonic()
        self._worked_nodes, self._worked_seconds = 0, 0.0

    @property
    def finished_share(self) -> float:
        """How much of the tree is finished, from 0 to 1."""
        return min(1.0, max(0.0, 1.0 - self._open_weight))

    @property
    def complete(self) -> bool:
        """Whether nothing is left to search."""
        return not len(self.outstanding) and not self._n_failed

    def run(self) -> Iterator[None]:
        """Search until nothing is outstanding or a limit is reached; yields as results come."""
        try:
            for depth in self._split_depths():
                tasks = self._tasks(depth, SPLIT_NODES if depth == 1 else UNLIMITED)
                yield from self._round(map(self._search_here, tasks))
            while len(self.outstanding) and not self._at_limit():
                tasks = self._tasks(UNLIMITED, self._budget())
                yield from self._round(self._pool.start(self._engine, self._problem, tasks))
        finally:
            self._at_limit()  # reads the clock
            self._flush()

    def _split_depths(self) -> Iterator[int]:
        """Yield depths to expand to, while expanding pays."""
        if self._settings.node_limit is not None:
            return
        if self._settings.split_depth is not None:
            if self._settings.split_depth > 0:
                yield self._settings.split_depth
            return
        wanted = STACKS_PER_WORKER * self._pool.jobs
        visited = self.totals.nodes + SPLIT_NODES
        while 0 < len(self.outstanding) < wanted and self.totals.nodes < visited:
            if self._at_limit():
                return
            yield 1

    def _search_here(self, task: Task) -> Done:
        """Search a task in this process: a split is over before a worker would have begun."""
        begin = time.perf_counter()
        outcome = self._engine.search(self._problem, task)
        return Done(task, outcome, time.perf_counter() - begin)

    def _at_limit(self) -> bool:
        settings = self._settings
        spent = time.monotonic() - self._begin
        self.totals.seconds = self._seconds_before + spent
        return (
            (settings.limit is not None and self.totals.count >= settings.limit)
            or (settings.node_limit is not None and self.totals.nodes >= settings.node_limit)
            or (settings.time_limit is not None and spent >= settings.time_limit)
        )

    def _budget(self) -> int:
        if self._settings.budget is not None:
            return self._settings.budget
        if self._worked_seconds == 0:
            return FIRST_BUDGET
        rate = self._worked_nodes / self._worked_seconds
        return max(LEAST_BUDGET, int(rate * TASK_SECONDS))

    def _tasks(self, depth: int, budget: int) -> list[Task]:
        n = len(self.outstanding)
        n_tasks = min(n, self._pool.jobs * ROUND_TASKS)
        settings = self._settings
        if settings.node_limit is not None:
            left = settings.node_limit - self.totals.nodes
            n_tasks = min(n_tasks, left)
            budget = min(budget, left // n_tasks)
        room = max(1, TASK_BYTES // self._cover_bytes) if settings.collect else UNLIMITED
        if settings.limit is not None:
            room = min(room, settings.limit - self.totals.count)
        unlimited = np.full(n, UNLIMITED)
        tasks = deal(self.outstanding.stacks, unlimited, unlimited, np.arange(n), n_tasks)
        keep = UNLIMITED if settings.collect else 0
        return [replace(t, depth=depth, budget=budget, keep=keep, room=room) for t in tasks]

    def _round(self, results: Iterable[Done | Lost]) -> Iterator[None]:
        """Replace everything outstanding, which was dealt out, by what the results leave."""
        given = self.outstanding
        place_of = {int(root): place for place, root in enumerate(given.stacks.roots)}
        parts: list[Outstanding] = []
        parents: list[npt.NDArray[np.int64]] = []
        waiting = np.ones(len(given), np.bool_)
        self.totals.rounds += 1
        for result in results:
            places = np.array([place_of[root] for root in result.task.stacks.roots.tolist()])
            if isinstance(result, Lost):
                waiting[places] = False
                self._n_failed += places.size
                self.failures.append(result.reason)
            elif self._fits(result):
                waiting[places] = False
                part, parent = self._accept(result, given.weights[places])
                parts.append(part)
                parents.append(places[parent])
                yield
            if self._at_limit():
                break  # what the other tasks find is left for a later run
        rest = np.flatnonzero(waiting)
        joined = Outstanding.join([*parts, given.take(rest)])
        order = np.argsort(np.concatenate([*parents, rest]), kind="stable")
        self.outstanding = joined.take(order)

    def _fits(self, result: Done) -> bool:
        """Whether the number of covers stays within the limit if the result is accepted."""
        limit = self._settings.limit
        return limit is None or self.totals.count + _total(result.outcome.counts) <= limit

    def _accept(
        self, done: Done, weights: npt.NDArray[np.float64]
    ) -> tuple[Outstanding, npt.NDArray[np.int64]]:
        """Add a result to the sums and the step.

        Returns
        -------
        part : Outstanding
            What the result leaves, in tree order.
        parent : ndarray of int64, shape (len(part),)
            For each stack that is left, the place in the task of the stack that it descends from.
        """
        outcome, roots = done.outcome, done.task.stacks.roots
        by_root = np.argsort(roots)
        parent = by_root[np.searchsorted(roots[by_root], outcome.frontier.roots)]
        searched = outcome.nodes > 0
        is_new = searched[parent]
        numbers = roots[parent]
        numbers[is_new] = self._next_number + np.arange(np.count_nonzero(is_new))
        self._next_number += int(np.count_nonzero(is_new))
        part = Outstanding(outcome.frontier.with_roots(numbers), weights[parent] * outcome.weights)
        self._open_weight += float(part.weights.sum() - weights.sum())
        totals = self.totals
        totals.count += _total(outcome.counts)
        totals.nodes += int(outcome.nodes.sum())
        totals.subproblems += int(np.count_nonzero(searched))
        self._worked_nodes += int(outcome.nodes.sum())
        self._worked_seconds += done.seconds
        self._step.add(
            roots[searched].tolist(), part.take(np.flatnonzero(is_new)), outcome.solutions
        )
        due = time.monotonic() - self._kept_at > STEP_SECONDS
        if due or self._step.n_covers * self._cover_bytes >= STEP_BYTES:
            self._flush()
        return part, parent

    def _flush(self) -> None:
        """Have the changes since the last step kept."""
        step, self._step = self._step, Step()
        self._keep(step)
        self._kept_at = time.monotonic()


def _total(counts: npt.NDArray[np.int64] | npt.NDArray[np.object_]) -> int:
    """Add counts as Python integers, which do not overflow."""
    return sum(map(int, counts))
