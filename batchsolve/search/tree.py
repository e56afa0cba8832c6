"""The search of one problem to the end: every cover is counted or written.

A search first visits some nodes in this process, and then splits the rest of the tree until there
are stacks for all workers. Rounds of tasks follow; most searches are one long round. `TreeGoal`
decides what is wanted of a piece and adds up results; `TreeWork` is the work of a worker; the
scheduler does the rest. In a `Trial`, engines that search the same tree take turns, and the fastest
goes on.

A count of all covers may go over to another engine, the *counter*, which counts equal subtrees
once. After some nodes, and again after ten times as many, the counter visits a few at the top of
the tree, while workers go on. If these stand for many more nodes of the tree, the count begins
again with the counter. Nodes decide, and no clock, so every run of a problem makes the same choice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from batchsolve.engines import Engine, Outcome, Sharing, Task, get_engine
from batchsolve.engines.contract import new_run
from batchsolve.errors import InputError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.search.pieces import SPLIT_NODES, STACKS_PER_WORKER, Piece, first_budget
from batchsolve.search.scheduler import Result, Scheduler, run_round
from batchsolve.search.tree_goal import TreeGoal
from batchsolve.settings import UNLIMITED
from batchsolve.symmetry.symmetries import Symmetries
from batchsolve.workers.pool import Done, Pool

FIRST_NODES = 2_000  # visited before the tree is split, in a millisecond; many have no more
UNTRIED_SECONDS = 0.02  # of a task shortly before the trial, which waits for all tasks
TRIAL_SECONDS = 0.5  # of a search before its trial; that takes a tenth
TRIAL_NODES = (1_000, 10_000, 40_000, 160_000)  # of each lap; hundredths of a second
FAR_BEHIND = 2  # times slower than the fastest
WEIGH_AFTER = 300_000  # nodes; some tenths of a second, as loading an engine takes
WEIGH_AGAIN = 10  # times as many nodes later, because some subtrees repeat only lower in the tree
WEIGH_SHARE = 150  # of the nodes are weighed; the counter takes up to 8 times as long for each
WEIGHED_A_MEGABYTE = 2_500  # of its table
LEAST_GAIN = 6  # nodes of the tree for each of the counter
COUNTER_NODES = 20_000  # visited by a counter before its tree is split

Render = Callable[[Stacks], Any]


@dataclass(frozen=True, eq=False)
class TreeWork:
    """The work of a worker on tasks of a tree: it searches, and renders the covers.

    Attributes
    ----------
    engine : Engine
    problem : ExactCover
    render : callable, optional
        Renders covers for output; by default covers stay as they are.
    symmetries : Symmetries, optional
        If given, only the canonical cover of each orbit is wanted.
    """

    engine: Engine
    problem: ExactCover
    render: Render | None = None
    symmetries: Symmetries | None = None

    def do(self, task: Task) -> Result:
        """Search a task."""
        begin = time.perf_counter()
        if self.render is not None and not task.cheapest:  # the renderer sorts by itself
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
        n_nodes, sums = int(outcome.nodes.sum()), replace(outcome, solutions=Stacks.empty())
        return Result(output, n_nodes, seconds, sums, n_covers)


def _for_run(engine: Engine, folder: str, problem: ExactCover) -> Engine:
    """Return an engine with an empty table, if it has one, which processes share if they can."""
    if isinstance(engine, Sharing):
        return engine.for_run(new_run(), folder, problem)
    return engine


def _counter_of(name: str, goal: TreeGoal, megabytes: int) -> Engine:
    return _for_run(get_engine(f"{name}:{megabytes}"), "", goal.problem)


def _weighed(name: str, goal: TreeGoal, n_nodes: int) -> Outcome:
    """Return what an engine finds in a few nodes at the top."""
    engine = _counter_of(name, goal, 1 + n_nodes // WEIGHED_A_MEGABYTE)
    return engine.search(goal.problem, Task.of(goal.start.stacks, budget=n_nodes))


def gain_of(outcome: Outcome) -> float:
    """Return for how many nodes of the tree each node of the counter stands."""
    assert outcome.tree_nodes is not None
    return float(outcome.tree_nodes.sum() / outcome.nodes.sum())


class Trial:
    """Engines that take turns until it is known which is the fastest.

    An iterator of the engine of the next task, and how many nodes the task may visit. The first lap
    loads kernels and builds arrays. Later laps have longer tasks, because in the search the
    preparation of a task counts less. Engines that fall far behind drop out.

    Parameters
    ----------
    engines : sequence of Engine
    budget : int, optional
        Nodes that any task may visit.

    Attributes
    ----------
    rates : dict of str to float
        Nodes per second of each engine, by its name; 0 while unknown.
    """

    def __init__(self, engines: Sequence[Engine], budget: int | None = None) -> None:
        self._running, self._budget = list(engines), budget or UNLIMITED
        self.rates = {engine.name: 0.0 for engine in engines}
        self._turn: tuple[Engine, int] | None = None
        self._measured: dict[str, float] = {}  # in this lap

    def __iter__(self) -> Iterator[tuple[Engine, int]]:
        for lap, most_nodes in enumerate(TRIAL_NODES):
            if len(self._running) == 1:
                break
            self._measured = {}
            for engine in self._running:
                nodes = min(most_nodes, self._budget)
                self._turn = (engine, nodes) if lap > 0 else None
                yield engine, nodes
            self._turn = None
            self.rates |= self._measured
            best = max(self._measured.values(), default=0.0)
            self._running = [
                engine
                for engine in self._running
                if self._measured.get(engine.name, best) * FAR_BEHIND >= best
            ]

    def learn(self, n_nodes: int, seconds: float) -> None:
        """Take the nodes and the time of the task that was last asked for."""
        if self._turn is not None:
            engine, most_nodes = self._turn
            if 2 * n_nodes >= most_nodes:  # fewer would tell little
                self._measured[engine.name] = n_nodes / max(seconds, 1e-9)

    @property
    def fastest(self) -> Engine:
        """The fastest engine, as far as is known."""
        return max(self._running, key=lambda engine: self.rates[engine.name])


class TreeSearch:
    """A search of one tree.

    Parameters
    ----------
    goal : TreeGoal
    engines : list of Engine
        One engine, or several that walk the same tree; a trial picks the fastest.
    pool : Pool
        Entered already.
    render : callable, optional
        Renders covers for output, in workers.
    symmetries : Symmetries, optional
        If given, only the canonical cover of each orbit is wanted.
    counter : str
        The engine that may take over a count of all covers; empty if none may.

    Attributes
    ----------
    totals : Totals
        The sums so far.
    failures : list of str
        The reasons why stacks could not be searched; they stay outstanding for a later run.
    rates : dict of str to float
        Nodes per second of every engine tried; empty if no trial was made.
    hint : str
        Advice on the engine, once the search has found that another would count faster.
    """

    def __init__(
        self,
        goal: TreeGoal,
        engines: Sequence[Engine],
        pool: Pool,
        render: Render | None = None,
        symmetries: Symmetries | None = None,
        counter: str = "",
    ) -> None:
        problem, settings = goal.problem, goal.settings
        engines = [_for_run(engine, pool.folder, problem) for engine in engines]
        engine = engines[0]
        if engine.capabilities.counts_only and (goal.collect or settings.limit is not None):
            raise InputError(
                f"the engine {engine.name!r} only counts, and counts everything: for solutions, a "
                f"limit on their number, or their number up to symmetry, name another "
                f"engine"
            )
        self._goal, self._engines, self._pool = goal, engines, pool
        # one object, so that it is sent once
        self._work = TreeWork(engine, problem, render, symmetries)
        self.totals, self.failures = goal.totals, goal.failures
        self._first_budget = first_budget(problem.n_entries)
        self._scheduler = Scheduler(goal, pool.jobs, settings.budget, self._first_budget)
        self._scheduler.add(goal.start)
        self.rates: dict[str, float] = {}
        self._counter, self._successor, self.hint = counter, "", ""
        self._weigh_at = WEIGH_AFTER
        self._begin = time.monotonic()

    @property
    def engine(self) -> str:
        """The name of the engine in use."""
        return self._work.engine.name

    @property
    def n_symmetries(self) -> int:
        """The number of symmetries under which covers are counted once: the order of the group."""
        return 1 if self._work.symmetries is None else len(self._work.symmetries)

    @property
    def outstanding(self) -> Piece:
        """The stacks left to search, without those that failed; in any order."""
        return Piece.join(self._scheduler.left())

    @property
    def finished_share(self) -> float:
        """The share of the tree that is finished, from 0 to 1."""
        return min(1.0, max(0.0, 1.0 - self._goal.open_weight))

    @property
    def complete(self) -> bool:
        """True if nothing is left to search."""
        return self._scheduler.is_empty and not self.failures

    def run(self) -> Iterator[Done]:
        """Search until nothing is outstanding or a limit is reached; yield results as they come."""
        goal, scheduler = self._goal, self._scheduler
        try:
            yield from self._split()
            scheduler.set_rate()  # the split includes the preparation of the engine
            self._begin = time.monotonic()
            untried = len(self._engines) > 1
            while not goal.enough:
                if self._goes_over():
                    untried = False
                    yield from self._begin_again()
                if scheduler.is_empty:
                    break
                scheduler.most_nodes = UNLIMITED
                for done in self._round():
                    yield done
                    if scheduler.most_nodes:
                        scheduler.most_nodes = self._most_nodes(untried)
                if scheduler.most_nodes == 0 and not self._goes_over():
                    untried = False
                    yield from self._try_engines()
        finally:
            goal.enough  # noqa: B018  reads the clock
            goal.keep_rest()

    def _round(
        self, tasks: Iterator[tuple[int, Task]] | None = None, here: bool = False
    ) -> Iterator[Done]:
        self.totals.rounds += 1
        start = self._pool.start_here if here else self._pool.start
        results = start(self._work, self._scheduler if tasks is None else tasks)
        for done in run_round(self._scheduler, results):
            self._goal.keep_if_due()
            yield done

    def _split(self) -> Iterator[Done]:
        """Expand the tree in this process, to a depth or until there are enough stacks."""
        goal, budget = self._goal, SPLIT_NODES
        depth = goal.settings.split_depth
        if goal.settings.node_limit is not None or depth == 0 or goal.enough:
            return
        if depth is not None:
            yield from self._expand(depth, UNLIMITED)
            return
        wanted = STACKS_PER_WORKER * self._pool.jobs
        if 0 < len(self.outstanding) < wanted:
            few = COUNTER_NODES if self._work.engine.capabilities.counts_only else FIRST_NODES
            few = min(few, self._first_budget, goal.settings.budget or UNLIMITED)
            yield from self._expand(UNLIMITED, few)
        while 0 < len(self.outstanding) < wanted and budget > 0 and not goal.enough:
            before = self.totals.nodes
            yield from self._expand(1, budget)
            visited = self.totals.nodes - before
            budget -= visited or budget  # an engine that fails visits nothing

    def _expand(self, depth: int, budget: int) -> Iterator[Done]:
        """Expand all waiting pieces as one task."""
        piece = Piece.join(self._scheduler.take_all())
        begun = self._goal.begin(piece, budget, 0)
        assert begun is not None, "a limit is reached, so there is nothing to expand"
        task = self._scheduler.hand_out(piece, budget), replace(begun[1], depth=depth)
        yield from self._round(iter([task]), here=True)

    def _goes_over(self) -> bool:
        """Tell whether the counter takes over; weigh it when the search has visited enough nodes.

        Give a hint instead if the counter cannot do what is wanted.
        """
        while self._counter and self._goal.n_nodes > self._weigh_at:
            outcome = _weighed(self._counter, self._goal, self._weigh_at // WEIGH_SHARE)
            self._weigh_at *= WEIGH_AGAIN
            if gain_of(outcome) >= LEAST_GAIN:
                self._take_counter()
        return bool(self._successor) and not self.failures

    def _take_counter(self) -> None:
        goal, settings = self._goal, self._goal.settings
        name, self._counter = self._counter, ""
        if goal.collect or (settings.limit, settings.node_limit) != (None, None):
            self.hint = f"many subproblems are equal; --engine {name} would count them once"
        else:
            self._successor = name

    def _begin_again(self) -> Iterator[Done]:
        """Begin the search anew with the counter."""
        engine = _for_run(get_engine(self._successor), self._pool.folder, self._goal.problem)
        self._successor, self._engines = "", [engine]
        self._work = replace(self._work, engine=engine)
        again = self._goal.begin_again(self.outstanding)
        self._scheduler.clear()
        self._scheduler.add(again)
        yield from self._split()
        self._scheduler.set_rate()

    def _most_nodes(self, untried: bool) -> int:
        """Return the nodes of a task at most; with 0, a round ends without losing a task.

        It ends before another engine takes over, and before a trial of untried engines: that waits
        for all tasks, so they are to end when it is due.
        """
        if self._goes_over():
            return 0
        if not untried:
            return UNLIMITED
        now = time.monotonic()
        left = self._begin + TRIAL_SECONDS - now
        if left <= 0:
            return 0
        speed = self._goal.n_nodes / (now - self._begin + 1e-3) / self._pool.jobs
        return max(1, int(speed * max(UNTRIED_SECONDS, left)))

    def _try_engines(self) -> Iterator[Done]:
        """Let the engines take turns at the top of the queue; go on with the fastest."""
        trial = Trial(self._engines, self._goal.settings.budget)
        for engine, most_nodes in trial:
            if not self._scheduler.n_waiting or self._goal.enough:
                return
            self._work = replace(self._work, engine=engine)
            self._scheduler.most_nodes = most_nodes
            begin = time.thread_time()  # other programs do not count
            for done in self._round(islice(self._scheduler, 1), here=True):
                trial.learn(done.result.n_nodes, time.thread_time() - begin)
                yield done
        self._work = replace(self._work, engine=trial.fastest)
        self._scheduler.set_rate(trial.rates[trial.fastest.name])
        self.rates = trial.rates
