"""Searching one problem to the end: every cover counted or collected, in rounds of tasks.

A worker that is free draws a few outstanding stacks; the result replaces the stacks it was given by
its frontier. A round lasts until a draw finds nothing, so most searches are one long round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from batchsolve.engines import UNLIMITED, Engine, Task, check_bounds
from batchsolve.errors import InputError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.search.pieces import Outstanding, Step
from batchsolve.search.sizing import FIRST_BUDGET, Sizing
from batchsolve.workers.pool import Done, Lost, Pool

MOST_STACKS = 4096  # in a task; those that it does not come to are copied
MOST_OUT = 8  # tasks a worker may be ahead of what was accepted
STACKS_PER_WORKER = 30  # how many subproblems an automatic split aims at
SPLIT_NODES = 20_000  # nodes that an automatic split may visit; some hundredths of a second
TRIAL_NODES = (1_000, 10_000, 40_000, 160_000)  # of each lap; some hundredths of a second
FAR_BEHIND = 2  # times slower than the fastest
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
    engines : list of Engine
        One, or several of the same tree: then the one that turns out to be fastest.
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
    rates : dict of str to float
        Nodes a second of every engine that was tried; empty if there was no choice to be made.
    failures : list of str
        Why stacks could not be searched; they stay outstanding for a later run.

    Notes
    -----
    What waits for a worker is a pile of pieces, the first in tree order on top: the search goes
    deep before it goes wide, and the pile stays low. A piece that is drawn becomes a task, and what
    its budget leaves goes back on the pile, cut up if the pile is low.
    """

    def __init__(
        self,
        problem: ExactCover,
        engines: Sequence[Engine],
        pool: Pool,
        settings: TreeSettings,
        outstanding: Outstanding,
        totals: Totals,
        keep: Callable[[Step], None],
    ) -> None:
        engine = engines[0]
        if engine.capabilities.counts_only and (settings.collect or settings.limit is not None):
            raise InputError(
                f"the engine {engine.name!r} only counts, and counts everything: for solutions, or "
                f"a limit on their number, leave out --memo or name another engine"
            )
        self._problem = problem
        self._engine = engine
        self._engines = engines
        self._pool = pool
        self._settings = settings
        self._sizing = Sizing.of(pool.jobs)
        self._keep = keep
        self.totals = totals
        self.rates: dict[str, float] = {}
        self.failures: list[str] = []
        self._pile: list[Outstanding] = []
        self._out: dict[int, tuple[Outstanding, int]] = {}  # pieces drawn, and their budgets
        self._n_drawn = 0
        self._n_failed = 0
        self._open_weight = float(outstanding.weights.sum())
        self._cover_bytes = 4 * max(1, problem.n_primary)  # at most one option an item
        self._next_number = int(outstanding.stacks.roots.max(initial=-1)) + 1
        self._step = Step()
        self._consistent = True  # whether totals and step hold the same results
        self._kept_at = time.monotonic()
        self._seconds_before = totals.seconds
        self._begin = time.monotonic()
        self._worked_nodes, self._worked_seconds = 0, 0.0
        self._put_back(outstanding)

    @property
    def engine(self) -> str:
        """The name of the engine at work."""
        return self._engine.name

    @property
    def outstanding(self) -> Outstanding:
        """What is left, but for what failed; in no certain order."""
        return Outstanding.join([*self._pile, *(piece for piece, _ in self._out.values())])

    @property
    def finished_share(self) -> float:
        """How much of the tree is finished, from 0 to 1."""
        return min(1.0, max(0.0, 1.0 - self._open_weight))

    @property
    def complete(self) -> bool:
        """Whether nothing is left to search."""
        return not self._pile and not self._out and not self._n_failed

    def run(self) -> Iterator[Done]:
        """Search until nothing is outstanding or a limit is reached; yield results as they come."""
        try:
            for depth in self._split_depths():
                yield from self._round(self._pool.start_here, self._split_tasks(depth))
            if len(self._engines) > 1:
                yield from self._try_engines()
            while self._pile and not self._at_limit():
                yield from self._round(self._pool.start, _Draws(self._draw))
        finally:
            self._at_limit()  # reads the clock
            if self._consistent:
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
        while 0 < sum(map(len, self._pile)) < wanted and self.totals.nodes < visited:
            if self._at_limit():
                return
            yield 1

    def _try_engines(self) -> Iterator[Done]:
        """Let the engines take turns at what is on top of the pile; go on with the fastest.

        The first lap loads kernels and builds arrays. In later ones tasks are longer, for what an
        engine prepares for each counts less in the search; who falls far behind drops out.
        """
        rates = dict.fromkeys(self._engines, 0.0)
        running = list(self._engines)
        for lap, most_nodes in enumerate(TRIAL_NODES):
            measured: dict[Engine, float] = {}
            for engine in running:
                if not self._pile or self._at_limit():
                    return
                self._engine = engine
                draws = _Draws(partial(self._draw, most_nodes), most=1)
                for done in self._round(self._pool.start_here, draws):
                    visited = int(done.outcome.nodes.sum())
                    if lap > 0 and 2 * visited >= most_nodes:  # fewer would tell little
                        measured[engine] = visited / max(done.timing.seconds, 1e-9)
                    yield done
            rates.update(measured)
            best = max(measured.values(), default=0.0)
            running = [e for e in running if measured.get(e, best) * FAR_BEHIND >= best]
            if len(running) == 1:
                break
        self._engine = max(running, key=lambda engine: rates[engine])
        if rates[self._engine]:
            self._worked_nodes, self._worked_seconds = int(rates[self._engine]), 1.0
        self.rates = {engine.name: rate for engine, rate in rates.items()}

    def _at_limit(self) -> bool:
        settings = self._settings
        spent = time.monotonic() - self._begin
        self.totals.seconds = self._seconds_before + spent
        return (
            (settings.limit is not None and self.totals.count >= settings.limit)
            or (settings.node_limit is not None and self.totals.nodes >= settings.node_limit)
            or (settings.time_limit is not None and spent >= settings.time_limit)
        )

    def _split_tasks(self, depth: int) -> list[Task]:
        """Make everything that waits into tasks of a split, the last in tree order first."""
        budget = SPLIT_NODES if depth == 1 else UNLIMITED
        self._out = dict(enumerate((piece, budget) for piece in self._pile))
        self._pile = []
        return [self._task(piece, depth, budget) for piece, budget in self._out.values()]

    def _draw(self, most_nodes: int = UNLIMITED) -> Task | None:
        """Make the next task of what waits, if there is any; called when a worker is free."""
        out = list(self._out.values())
        if not self._pile or len(out) >= MOST_OUT * self._pool.jobs:
            return None
        budget = min(self._budget(), most_nodes)
        if self._settings.node_limit is not None:
            promised = sum(nodes for _, nodes in out)
            budget = min(budget, self._settings.node_limit - self.totals.nodes - promised)
            if budget <= 0:
                return None
        piece = self._pile.pop()
        self._out[self._n_drawn] = (piece, budget)
        self._n_drawn += 1
        return self._task(piece, UNLIMITED, budget)

    def _budget(self) -> int:
        if self._settings.budget is not None:
            return self._settings.budget
        if self._worked_seconds == 0:
            return FIRST_BUDGET
        return self._sizing.budget(self._worked_nodes / self._worked_seconds, len(self._pile))

    def _task(self, piece: Outstanding, depth: int, budget: int) -> Task:
        settings = self._settings
        room = max(1, TASK_BYTES // self._cover_bytes) if settings.collect else UNLIMITED
        if settings.limit is not None:
            room = min(room, settings.limit - self.totals.count)
        keep = UNLIMITED if settings.collect else 0
        return Task.of(piece.stacks, depth=depth, budget=budget, keep=keep, room=room)

    def _put_back(self, part: Outstanding) -> None:
        """Lay what is left on the pile; cut it up if the pile is low, or if it is large."""
        missing = self._sizing.pieces - len(self._pile)
        self._pile.extend(reversed(part.cut(missing, MOST_STACKS)))

    def _round(
        self,
        start: Callable[[Engine, ExactCover, Iterable[Task]], Iterator[Done | Lost]],
        tasks: Iterable[Task],
    ) -> Iterator[Done]:
        """Search tasks, and lay what they leave on the pile."""
        self.totals.rounds += 1
        self._n_drawn = 0
        for result in start(self._engine, self._problem, tasks):
            if isinstance(result, Lost):
                self._n_failed += len(self._returned(result))
                self.failures.append(result.reason)
            elif self._fits(result):
                self._accept(result)
                yield result
            if self._at_limit():
                break  # what the other tasks find is left for a later run
        self._pile.extend(piece for piece, _ in reversed(self._out.values()))
        self._out = {}

    def _returned(self, result: Done | Lost) -> Outstanding:
        """Take what a result is about out of what is with the workers."""
        piece, budget = self._out[result.number]
        if len(result.task.stacks) == len(piece):
            del self._out[result.number]
            return piece
        mine = np.isin(piece.stacks.roots, result.task.stacks.roots)
        self._out[result.number] = (piece.take(np.flatnonzero(~mine)), budget)
        return piece.take(np.flatnonzero(mine))

    def _fits(self, result: Done) -> bool:
        """Whether the number of covers stays within the limit if the result is accepted."""
        limit = self._settings.limit
        return limit is None or self.totals.count + _total(result.outcome.counts) <= limit

    def _accept(self, done: Done) -> None:
        """Add a result to the sums and the step; put back what it leaves."""
        self._consistent = False
        outcome, totals = done.outcome, self.totals
        nodes = int(outcome.nodes.sum())
        totals.count += _total(outcome.counts)
        totals.nodes += nodes
        self._worked_nodes += nodes
        self._worked_seconds += done.timing.seconds
        given = self._returned(done)
        roots = given.stacks.roots
        by_root = np.argsort(roots)
        parent = by_root[np.searchsorted(roots[by_root], outcome.frontier.roots)]
        searched = outcome.nodes > 0
        totals.subproblems += int(np.count_nonzero(searched))
        is_new = searched[parent]
        numbers = roots[parent]
        numbers[is_new] = self._next_number + np.arange(np.count_nonzero(is_new))
        self._next_number += int(np.count_nonzero(is_new))
        weights = given.weights[parent] * outcome.weights
        part = Outstanding(outcome.frontier.with_roots(numbers), weights)
        self._open_weight += float(weights.sum() - given.weights.sum())
        self._put_back(part)
        self._step.add(roots[searched], part.take(np.flatnonzero(is_new)), outcome.solutions)
        self._consistent = True
        due = time.monotonic() - self._kept_at > STEP_SECONDS
        if due or self._step.n_covers * self._cover_bytes >= STEP_BYTES:
            self._flush()

    def _flush(self) -> None:
        """Have the changes since the last step kept; if that fails, it is not tried again."""
        self._consistent = False
        step, self._step = self._step, Step()
        self._keep(step)
        self._consistent = True
        self._kept_at = time.monotonic()


class _Draws:
    """An iterator that may be asked again after it had nothing to give."""

    def __init__(self, draw: Callable[[], Task | None], most: int = UNLIMITED) -> None:
        self._draw = draw
        self._most = most

    def __iter__(self) -> Iterator[Task]:
        return self

    def __next__(self) -> Task:
        task = self._draw() if self._most else None
        if task is None:
            raise StopIteration
        self._most -= 1
        return task


def _total(counts: npt.NDArray[np.int64] | npt.NDArray[np.object_]) -> int:
    """Add counts as Python integers, which do not overflow."""
    return sum(map(int, counts))
