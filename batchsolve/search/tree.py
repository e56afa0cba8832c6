"""Searching one problem to the end: every cover counted or written down.

A search is split first, until there are stacks for all workers; then it is one round of tasks after
another, and most searches are one long round. `TreeGoal` says what is wanted of a piece of the tree
and adds up what was found; `TreeWork` is what a worker does; the scheduler does the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from batchsolve.engines import Engine, Outcome, Sharing, Task
from batchsolve.errors import InputError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.symmetry import Symmetries
from batchsolve.search.pieces import Changes, Piece
from batchsolve.search.rules import SPLIT_NODES, STACKS_PER_WORKER, first_budget
from batchsolve.search.scheduler import Scheduler, run_round
from batchsolve.settings import UNLIMITED, SearchSettings
from batchsolve.workers.pool import Done, Pool

TRIAL_NODES = (1_000, 10_000, 40_000, 160_000)  # of each lap; some hundredths of a second
UNTRIED_NODES = 10_000  # of a task before that, for all wait for the last that is out
TRIAL_SECONDS = 0.05  # what loading the kernels of an engine takes at least
FAR_BEHIND = 2  # times slower than the fastest
STEP_SECONDS = 1.0
TASK_BYTES = 12 << 20  # covers that a task may hand back, taking each as long as can be
STEP_BYTES = 64 << 20  # of what was made of covers that may wait to be kept

Render = Callable[[Stacks], Any]


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


@dataclass(frozen=True, eq=False)
class Found:
    """What a worker found in a task of stacks.

    Attributes
    ----------
    outcome : Outcome
        Without the covers, if they were rendered.
    output : object
        What was made of the covers; None if there are none.
    seconds : float
        How long the search took, rendering aside.
    n_covers : int
        How many covers there are, of all that are wanted.
    """

    outcome: Outcome
    output: Any
    seconds: float
    n_covers: int

    @property
    def n_nodes(self) -> int:
        """Nodes visited."""
        return int(self.outcome.nodes.sum())


@dataclass(frozen=True, eq=False)
class TreeWork:
    """What a worker does with a task of a tree: it searches, and renders the covers.

    Attributes
    ----------
    engine : Engine
    problem : ExactCover
    render : callable, optional
        Makes of covers what is to be kept; by default it is the covers themselves.
    symmetries : Symmetries, optional
        Of covers that these make of one another only the least is wanted.
    """

    engine: Engine
    problem: ExactCover
    render: Render | None = None
    symmetries: Symmetries | None = None

    def do(self, task: Task) -> Found:
        """Search a task."""
        begin = time.perf_counter()
        if self.render is not None and not task.cheapest:  # the renderer has an order of its own
            task = replace(task, unordered=True)
        outcome = self.engine.search(self.problem, task)
        seconds = time.perf_counter() - begin
        covers = outcome.solutions
        n_covers = sum(map(int, outcome.counts))  # Python integers do not overflow
        if self.symmetries is not None:
            covers = covers.take(self.symmetries.are_least(covers))
            n_covers = len(covers)
        output = None
        if len(covers):
            output = covers if self.render is None else self.render(covers)
        return Found(replace(outcome, solutions=Stacks.empty()), output, seconds, n_covers)


class TreeGoal:
    """The goal of a tree: all its covers, or as many as the limits allow.

    Parameters
    ----------
    problem : ExactCover
    settings : SearchSettings
    collect : bool
        Whether covers are wanted, or only their number.
    begin : Piece
        What is to be searched.
    totals : Totals
        Sums so far; added to as results come.
    keep : callable
        Called with `Changes`; when it returns, they are kept.

    Attributes
    ----------
    failures : list of str
        Why stacks could not be searched; they stay outstanding for a later run.
    open_weight : float
        The share of the tree that is not finished, but for rounding.
    """

    def __init__(
        self,
        problem: ExactCover,
        settings: SearchSettings,
        collect: bool,
        begin: Piece,
        totals: Totals,
        keep: Callable[[Changes], None],
    ) -> None:
        self._settings = settings
        self._collect = collect
        self._keep = keep
        self._cover_bytes = 4 * longest_cover(problem)
        self.open_weight = float(begin.weights.sum())
        self._next_id = int(begin.ids.max(initial=-1)) + 1
        self._changes = Changes()
        self._waiting = 0  # bytes
        self._consistent = True  # whether totals and changes hold the same results
        self._kept_at = self._begin = time.monotonic()
        self._seconds_before = totals.seconds
        self.totals = totals
        self.failures: list[str] = []

    @property
    def enough(self) -> bool:
        """Whether a limit is reached; reads the clock."""
        settings, totals = self._settings, self.totals
        spent = time.monotonic() - self._begin
        totals.seconds = self._seconds_before + spent
        return (
            (settings.limit is not None and totals.count >= settings.limit)
            or (settings.node_limit is not None and totals.nodes >= settings.node_limit)
            or (settings.time_limit is not None and spent >= settings.time_limit)
        )

    def begin(self, piece: Piece, budget: int, promised: int) -> tuple[Piece, Task] | None:
        """Return a piece and its task; None if other tasks may visit all nodes that are left."""
        settings, totals = self._settings, self.totals
        if settings.node_limit is not None:
            budget = min(budget, settings.node_limit - totals.nodes - promised)
            if budget <= 0:
                return None
        room = max(1, TASK_BYTES // self._cover_bytes) if self._collect else UNLIMITED
        if settings.limit is not None:
            room = min(room, settings.limit - totals.count)
            if room <= 0:
                return None
        keep = UNLIMITED if self._collect else 0
        return piece, Task.of(piece.stacks, budget=budget, keep=keep, room=room)

    def accept(self, piece: Piece, found: Found) -> list[Piece] | None:
        """Add a result to the sums; return what it leaves, or None if it exceeds the limit."""
        outcome, totals = found.outcome, self.totals
        n_covers = found.n_covers
        limit = self._settings.limit
        if limit is not None and totals.count + n_covers > limit:
            return None
        self._consistent = False
        searched = outcome.nodes > 0
        left = self._left_of(piece, outcome)
        totals.count += n_covers
        totals.nodes += found.n_nodes
        totals.subproblems += int(np.count_nonzero(searched))
        self.open_weight += float(left.weights.sum() - piece.weights.sum())
        is_new = searched[outcome.parents]
        self._changes.add(piece.ids[searched], left.take(is_new))
        if found.output is not None:
            self._changes.outputs.append((found.output, n_covers))
            self._waiting += _bytes_of(found.output)
        self._consistent = True
        return [left]

    def lose(self, piece: Piece, reason: str) -> list[Piece]:
        """Note that a piece cannot be searched; it is left for a later run."""
        self.failures.append(reason)
        return []

    def keep_if_due(self) -> None:
        """Have the changes kept, if a second has passed or much waits."""
        seconds = time.monotonic() - self._kept_at
        if seconds > STEP_SECONDS or self._waiting >= STEP_BYTES:
            self._flush()

    def keep_rest(self) -> None:
        """Have the last changes kept, unless what was interrupted left them half made."""
        if self._consistent:
            self._flush()

    def _left_of(self, piece: Piece, outcome: Outcome) -> Piece:
        """Return the frontier as a piece; stacks that were not searched keep their numbers."""
        ids = piece.ids[outcome.parents]
        is_new = outcome.nodes[outcome.parents] > 0
        n_new = int(np.count_nonzero(is_new))
        ids[is_new] = self._next_id + np.arange(n_new)
        self._next_id += n_new
        weights = piece.weights[outcome.parents] * outcome.weights
        return Piece(outcome.frontier, weights, ids)

    def _flush(self) -> None:
        """Have the changes kept; if that fails, it is not tried again."""
        self._consistent = False
        changes, self._changes, self._waiting = self._changes, Changes(), 0
        self._keep(changes)
        self._consistent = True
        self._kept_at = time.monotonic()


def _bytes_of(output: Stacks | pa.Buffer) -> int:
    """Return how much memory an output takes."""
    return int(output.options.nbytes if isinstance(output, Stacks) else output.size)


def _shared(engine: Engine, folder: str, problem: ExactCover) -> Engine:
    """Return an engine that shares with other processes what it remembers, if it can."""
    return engine.shared_in(folder, problem) if isinstance(engine, Sharing) else engine


def longest_cover(problem: ExactCover) -> int:
    """Return how many options a cover can have at most: each has one primary item or more."""
    if problem.bounds is not None:
        return max(1, min(problem.n_options, int(problem.bounds[:, 1].sum())))
    sizes = np.diff(problem.indptr)
    if problem.n_primary == problem.n_items and sizes.size:
        return max(1, problem.n_items // int(sizes.min()))
    return max(1, problem.n_primary)


class TreeSearch:
    """A search of one tree.

    Parameters
    ----------
    problem : ExactCover
    engines : list of Engine
        One, or several of the same tree: then the one that turns out to be fastest.
    pool : Pool
        Entered already.
    settings : SearchSettings
        Its engine is not looked at.
    begin : Piece
        What is to be searched.
    totals : Totals, optional
        Sums of earlier searches; added to as results come.
    keep : callable, optional
        Called with each `Changes`; when it returns, they are kept.
    collect : bool
        Whether covers are wanted, or only their number.
    render : callable, optional
        What workers make of covers.
    symmetries : Symmetries, optional
        Of covers that these make of one another only the least is wanted.
    goal : callable, optional
        Makes the goal, of the arguments of `TreeGoal` from ``begin`` on, if it is another.

    Attributes
    ----------
    totals : Totals
        The sums so far.
    failures : list of str
        Why stacks could not be searched; they stay outstanding for a later run.
    rates : dict of str to float
        Nodes a second of every engine that was tried; empty if there was no choice to be made.
    """

    def __init__(
        self,
        problem: ExactCover,
        engines: Sequence[Engine],
        pool: Pool,
        settings: SearchSettings,
        begin: Piece,
        totals: Totals | None = None,
        keep: Callable[[Changes], None] = lambda changes: None,
        *,
        collect: bool = False,
        render: Render | None = None,
        symmetries: Symmetries | None = None,
        goal: Callable[[Piece, Totals, Callable[[Changes], None]], TreeGoal] | None = None,
    ) -> None:
        if pool.folder:
            engines = [_shared(engine, pool.folder, problem) for engine in engines]
        engine = engines[0]
        if engine.capabilities.counts_only and (collect or settings.limit is not None):
            raise InputError(
                f"the engine {engine.name!r} only counts, and counts everything: for solutions, a "
                f"limit on their number, or their number up to symmetry, leave out --memo or name "
                f"another engine"
            )
        self._engines = engines
        self._pool = pool
        self._settings = settings
        # one object, so that it is sent once
        self._work = TreeWork(engine, problem, render, symmetries)
        make = goal or partial(TreeGoal, problem, settings, collect)
        self._goal = make(begin, totals or Totals(), keep)
        self.totals, self.failures = self._goal.totals, self._goal.failures
        first = first_budget(problem.indices.size)
        self._scheduler = Scheduler(self._goal, pool.jobs, settings.budget, first)
        self._scheduler.add(begin)
        self.rates: dict[str, float] = {}

    @property
    def engine(self) -> str:
        """The name of the engine at work."""
        return self._work.engine.name

    @property
    def outstanding(self) -> Piece:
        """What is left, but for what failed; in no certain order."""
        return Piece.join(self._scheduler.left())

    @property
    def finished_share(self) -> float:
        """How much of the tree is finished, from 0 to 1."""
        return min(1.0, max(0.0, 1.0 - self._goal.open_weight))

    @property
    def complete(self) -> bool:
        """Whether nothing is left to search."""
        return self._scheduler.is_empty and not self.failures

    def run(self) -> Iterator[Done]:
        """Search until nothing is outstanding or a limit is reached; yield results as they come."""
        goal, scheduler = self._goal, self._scheduler
        begin = time.monotonic()
        try:
            yield from self._split()
            scheduler.set_rate()  # what an engine prepares at first counted in it
            try_at = time.monotonic() + max(TRIAL_SECONDS, time.monotonic() - begin)
            untried = len(self._engines) > 1
            while not scheduler.is_empty and not goal.enough:
                scheduler.most_nodes = UNTRIED_NODES if untried else UNLIMITED
                for done in self._round():
                    yield done
                    # the round ends, and no task is lost, when draws find nothing
                    scheduler.paused = untried and time.monotonic() >= try_at
                if scheduler.paused:
                    scheduler.paused = untried = False
                    yield from self._try_engines()
        finally:
            goal.enough  # noqa: B018  reads the clock
            goal.keep_rest()

    def _round(
        self, tasks: Iterator[tuple[int, Task]] | None = None, here: bool = False
    ) -> Iterator[Done]:
        self.totals.rounds += 1
        for done in run_round(self._scheduler, self._pool, self._work, tasks, here):
            self._goal.keep_if_due()
            yield done

    def _split(self) -> Iterator[Done]:
        """Expand the tree, here, to a depth, or for as long as it pays."""
        goal, scheduler, settings = self._goal, self._scheduler, self._settings
        if settings.node_limit is not None or settings.split_depth == 0 or goal.enough:
            return
        if settings.split_depth is not None:
            yield from self._expand(settings.split_depth, UNLIMITED)
            return
        wanted = STACKS_PER_WORKER * self._pool.jobs
        visited = self.totals.nodes + SPLIT_NODES
        before = -1
        while (
            0 < sum(map(len, scheduler.left())) < wanted
            and before < self.totals.nodes < visited  # nothing is visited where an engine fails
            and not goal.enough
        ):
            before = self.totals.nodes
            yield from self._expand(1, SPLIT_NODES)

    def _expand(self, depth: int, budget: int) -> Iterator[Done]:
        """Expand everything that waits, as one task."""
        piece = Piece.join(self._scheduler.take_all())
        begun = self._goal.begin(piece, budget, 0)
        assert begun is not None, "a limit is reached, so there is nothing to expand"
        task = self._scheduler.hand_out(piece, budget), replace(begun[1], depth=depth)
        yield from self._round(iter([task]), here=True)

    def _try_engines(self) -> Iterator[Done]:
        """Let the engines take turns at what is on top of the queue; go on with the fastest.

        The first lap loads kernels and builds arrays. In later ones tasks are longer, for what an
        engine prepares for each counts less in the search; who falls far behind drops out.
        """
        rates = dict.fromkeys(self._engines, 0.0)
        running = list(self._engines)
        for lap, most_nodes in enumerate(TRIAL_NODES):
            measured: dict[Engine, float] = {}
            for engine in running:
                if not self._scheduler.n_waiting or self._goal.enough:
                    return
                self._work = replace(self._work, engine=engine)
                self._scheduler.most_nodes = most_nodes
                for done in self._round(islice(self._scheduler, 1), here=True):
                    visited = done.result.n_nodes
                    if lap > 0 and 2 * visited >= most_nodes:  # fewer would tell little
                        measured[engine] = visited / max(done.result.seconds, 1e-9)
                    yield done
            rates.update(measured)
            best = max(measured.values(), default=0.0)
            running = [e for e in running if measured.get(e, best) * FAR_BEHIND >= best]
            if len(running) == 1:
                break
        fastest = max(running, key=lambda engine: rates[engine])
        self._work = replace(self._work, engine=fastest)
        self._scheduler.set_rate(rates[fastest])
        self.rates = {engine.name: rate for engine, rate in rates.items()}
