"""Rounds: feed a stream of rows to the pool and hand their answers back in order.

Each round deals out everything that waits: new rows, and the frontiers of rows whose tasks spent
their node budget. So a hard puzzle is spread over all workers while the corpus flows on, and no
worker waits longer than one budget for another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from batchsolve.engines import UNLIMITED, Task, check_bounds
from batchsolve.engines.choice import AUTO, engine_for_rows
from batchsolve.errors import InputError
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku
from batchsolve.search.collector import Collector, Sheet
from batchsolve.workers.pool import Done, Lost, Pool, deal

TASK_SECONDS = 0.2  # what a task is sized for; handing one out costs about 0.0002 s
BUDGET_SECONDS = 1.0  # what a task may take before it hands its frontier back
MOST_OPEN_SHEETS = 8  # how far reading may run ahead of a row that is still searched
FIRST_TASK_STACKS = 256
FIRST_BUDGET = 100_000


@dataclass(frozen=True)
class SearchSettings:
    """What to search for, and how; none but the first two changes an answer.

    Attributes
    ----------
    limit : int
        Solutions wanted of each row; 2 proves uniqueness.
    node_limit : int, optional
        Nodes the search of a row may visit. Such a row is searched in tree order by one worker
        at a time, so that where it stops does not depend on the other settings.
    split_depth : int
        Cut every row into the stacks of this depth before its search (not under a node limit).
    budget : int, optional
        Nodes a task may visit before it hands back its frontier; sized by time by default.
    engine : str
        Name of the engine; ``auto`` is the one for the shape of the grids.
    """

    limit: int = 2
    node_limit: int | None = None
    split_depth: int = 0
    budget: int | None = None
    engine: str = AUTO

    def __post_init__(self) -> None:
        check_bounds(self, {"limit": 1, "node_limit": 1, "split_depth": 0, "budget": 1})


class _Pace:
    """How long stacks and nodes take, learned from the results of earlier rounds."""

    def __init__(self, budget: int | None) -> None:
        self._fixed = budget
        self._seconds = 0.0
        self._stacks = 0.0
        self._nodes = 0.0

    def learn(self, done: Done) -> None:
        fade = 0.98
        self._seconds = fade * self._seconds + done.timing.seconds
        self._stacks = fade * self._stacks + np.count_nonzero(done.outcome.nodes)
        self._nodes = fade * self._nodes + int(done.outcome.nodes.sum())

    def budget(self) -> int:
        if self._fixed is not None:
            return self._fixed
        if self._seconds == 0:
            return FIRST_BUDGET
        return max(FIRST_BUDGET, int(BUDGET_SECONDS * self._nodes / self._seconds))

    def n_tasks(self, n_stacks: int, jobs: int) -> int:
        if self._stacks == 0:
            return ceil(n_stacks / FIRST_TASK_STACKS)
        expected = n_stacks * self._seconds / self._stacks
        per_worker = max(4 if jobs > 1 else 1, ceil(expected / TASK_SECONDS / jobs))
        return min(n_stacks, jobs * per_worker)


class _Rounds:
    def __init__(self, problem: Sudoku, settings: SearchSettings, pool: Pool) -> None:
        self._problem = problem
        self._settings = settings
        self._pool = pool
        self._engine = engine_for_rows(settings.engine, problem)
        self._collector = Collector(settings.limit, settings.node_limit or UNLIMITED)
        self._pace = _Pace(settings.budget)
        self._fresh = Stacks.empty()
        self._waiting = Stacks.empty()

    def answers(self, batches: Iterable[tuple[int, Stacks]]) -> Iterator[Sheet]:
        source = iter(batches)
        exhausted = False
        failure: InputError | None = None
        while True:
            running = self._start()
            if not exhausted and self._has_room():
                try:
                    batch = next(source, None)
                except InputError as error:
                    batch, failure = None, error  # rows read before it are answered all the same
                exhausted = batch is None
                if batch is not None:
                    fresh = self._collector.open(*batch)
                    self._fresh = Stacks.concatenate([self._fresh, fresh])
            while (sheet := self._collector.settled()) is not None:
                yield sheet
            self._take(running)
            if exhausted and not self._collector.n_open:
                if failure is not None:
                    raise failure
                return

    def _has_room(self) -> bool:
        return self._collector.n_open < MOST_OPEN_SHEETS

    def _start(self) -> Iterator[Done | Lost]:
        """Deal out all that waits, and return the results to come."""
        waiting, limits, allowances = self._collector.wanted(self._waiting)
        tasks = self._tasks(waiting, limits, allowances)
        if len(self._fresh):
            n = len(self._fresh)
            limited = self._settings.node_limit is not None
            depth = UNLIMITED if limited else self._settings.split_depth or UNLIMITED
            limits = np.full(n, self._settings.limit)
            allowances = np.full(n, self._settings.node_limit or UNLIMITED)
            fresh = self._tasks(self._fresh, limits, allowances)
            tasks += [replace(task, depth=depth) for task in fresh]
        self._fresh = self._waiting = Stacks.empty()
        return self._pool.start(self._engine, self._problem, tasks)

    def _tasks(self, stacks: Stacks, limits: np.ndarray, allowances: np.ndarray) -> list[Task]:
        if len(stacks) == 0:
            return []
        groups = np.arange(len(stacks))
        if self._settings.node_limit is not None:
            groups[1:] = np.cumsum(np.diff(stacks.roots) != 0)
        n_tasks = self._pace.n_tasks(len(stacks), self._pool.jobs)
        budget = self._pace.budget()
        tasks = deal(stacks, limits, allowances, groups, n_tasks)
        return [replace(task, budget=budget, keep=1) for task in tasks]

    def _take(self, running: Iterator[Done | Lost]) -> None:
        """Wait for the results of a round; keep their frontiers in the order of rows and tree.

        That order makes the search go deep before it goes wide: what waits stays short, and the
        first solution of a row is found early.
        """
        frontiers: list[tuple[tuple[int, list[int]], Stacks]] = []
        for result in running:
            self._collector.add(result)
            if isinstance(result, Done):
                self._pace.learn(result)
                begin = (int(result.task.stacks.roots[0]), result.task.stacks[0].tolist())
                frontiers.append((begin, result.outcome.frontier))
        frontiers.sort(key=lambda place: place[0])
        self._waiting = Stacks.concatenate([frontier for _, frontier in frontiers])


def answer_rows(
    problem: Sudoku,
    batches: Iterable[tuple[int, Stacks]],
    settings: SearchSettings,
    pool: Pool,
) -> Iterator[Sheet]:
    """Search rows that arrive in batches; yield their answers in order, a sheet a batch.

    Parameters
    ----------
    problem : Sudoku
    batches : iterable of (int, Stacks)
        Number of rows, and stacks whose roots lie in 0 .. number of rows - 1. A row without a
        stack is not searched.
    settings : SearchSettings
    pool : Pool

    Yields
    ------
    Sheet
        While results of the next rows are computed.
    """
    return _Rounds(problem, settings, pool).answers(batches)
