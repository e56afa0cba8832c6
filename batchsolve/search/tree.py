"""The search of one problem to the end: every cover is counted or written.

A search first visits some nodes in this process, and then splits the rest of the tree until there
are stacks for all workers. Rounds of tasks follow; most searches are one long round. `TreeGoal`
decides what is wanted of a piece and adds up results; `TreeWork` is the work of a worker; the
scheduler does the rest.

A count of all covers may go over to another engine, the *counter*, which counts equal subtrees
once. After some nodes, fewer where they are wide, and again after ten times as many, the counter
visits a few at the top of the tree, while workers go on. If these stand for many more nodes of the
tree, the count begins again with the counter. Nodes decide, and no clock, so every run of a problem
makes the same choice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from batchsolve.engines import Engine, Outcome, Task, get_engine
from batchsolve.engines.choice import counter_for, entries_of_a_node, with_empty_table
from batchsolve.errors import InputError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.search.scheduler import (
    SPLIT_NODES,
    STACKS_PER_WORKER,
    Piece,
    Result,
    Scheduler,
    Sizing,
    first_budget,
    run_round,
)
from batchsolve.search.tree_goal import TreeGoal
from batchsolve.settings import AUTO, UNLIMITED
from batchsolve.symmetry.symmetries import Symmetries
from batchsolve.workers import Done, Pool, attempt

FIRST_NODES = 2_000  # visited before the tree is split, in a millisecond; many have no more
WEIGH_AFTER = 300_000  # nodes; some tenths of a second, as loading an engine takes
WEIGH_SOONER = 10_000  # nodes at least, where nodes are wide
WIDE_ENTRIES = 4_000  # of options that conflict with one, where nodes are wide
WEIGHED_NODES = 2_000  # of the counter, fewer if they are wide; it takes up to 8 times as long
WEIGH_AGAIN = 10  # times as many nodes later, because some subtrees repeat only lower in the tree
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
        if len(outcome.solutions):  # they are output now
            outcome = replace(outcome, solutions=Stacks.empty())
        return Result(output, int(outcome.nodes.sum()), seconds, outcome, n_covers)


@dataclass(frozen=True)
class Weighing:
    """A comparison of the counter with the engine in use.

    Attributes
    ----------
    after : int
        The nodes of the tree after which it is due.
    n_nodes : int
        The nodes that the counter visits.
    """

    after: int
    n_nodes: int

    @classmethod
    def first_of(cls, problem: ExactCover) -> Weighing:
        """Return the first weighing of a problem: the wider its nodes, the sooner."""
        wide = entries_of_a_node(problem) / WIDE_ENTRIES
        after = max(WEIGH_AFTER / max(1.0, wide), min(WEIGH_SOONER, WEIGH_AFTER))
        return cls(int(after), WEIGHED_NODES)

    @property
    def next(self) -> Weighing:
        """The weighing that follows if this one leaves the engine as it is."""
        return Weighing(WEIGH_AGAIN * self.after, WEIGH_AGAIN * self.n_nodes)


def small_counter(name: str, problem: ExactCover, n_nodes: int) -> Engine:
    """Return a counter with an empty table for a few nodes; of wide ones it visits fewer."""
    engine = get_engine(f"{name}:{1 + n_nodes // WEIGHED_A_MEGABYTE}")
    return with_empty_table(engine, problem, entries=n_nodes * WIDE_ENTRIES)


def _weighed(name: str, goal: TreeGoal, n_nodes: int) -> Outcome:
    """Return what an engine finds in a few nodes at the top."""
    engine = small_counter(name, goal.problem, n_nodes)
    return engine.search(goal.problem, Task.of(goal.start.stacks, budget=n_nodes))


def gain_of(outcome: Outcome) -> float:
    """Return for how many nodes of the tree each node of the counter stands."""
    assert outcome.tree_nodes is not None
    return float(outcome.tree_nodes.sum() / outcome.nodes.sum())


class TreeSearch:
    """A search of one tree.

    Parameters
    ----------
    goal : TreeGoal
    engine : Engine
    pool : Pool
        Entered already.
    render : callable, optional
        Renders covers for output, in workers.
    symmetries : Symmetries, optional
        If given, only the canonical cover of each orbit is wanted.
    may_go_over : bool
        True if a counter may take over a count of all covers.

    Attributes
    ----------
    totals : Totals
        The sums so far.
    failures : list of str
        The reasons why stacks could not be searched; they stay outstanding for a later run.
    hint : str
        Advice on the engine, once the search has found that another would count faster.
    """

    def __init__(
        self,
        goal: TreeGoal,
        engine: Engine,
        pool: Pool,
        render: Render | None = None,
        symmetries: Symmetries | None = None,
        may_go_over: bool = False,
    ) -> None:
        problem, settings = goal.problem, goal.settings
        if engine.capabilities.counts_only and (goal.collect or settings.limit is not None):
            raise InputError(
                f"the engine {engine.name!r} only counts, and counts everything: for solutions, a "
                f"limit on their number, or their number up to symmetry, name another "
                f"engine"
            )
        self._goal, self._pool = goal, pool
        engine = with_empty_table(engine, problem, pool.folder)
        # one object, so that it is sent once
        self._work = TreeWork(engine, problem, render, symmetries)
        self.totals, self.failures = goal.totals, goal.failures
        self._first_budget = first_budget(problem.n_entries)
        self._scheduler = Scheduler(goal, pool.jobs, settings.budget, self._first_budget)
        self._scheduler.add(goal.start)
        self._may_go_over, self._successor, self.hint = may_go_over, "", ""
        self._weighing = Weighing.first_of(problem)

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
        """An estimate of the share of the nodes of the tree that were visited, from 0 to 1."""
        return self._goal.finished_share

    @property
    def finished_between(self) -> tuple[float, float]:
        """The range of such estimates, also of earlier ones; it is wide in an uneven tree."""
        return self._goal.finished_between

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
            if not (goal.enough or scheduler.is_empty):  # small searches need no workers
                scheduler.sizing = Sizing.of_pool(self._pool)
            while not goal.enough:
                if self._goes_over():
                    yield from self._begin_again()
                if scheduler.is_empty:
                    break
                scheduler.is_held = False
                for done in self._round():
                    yield done
                    scheduler.is_held = scheduler.is_held or self._goes_over()
        finally:
            goal.enough  # noqa: B018  reads the clock
            goal.keep_rest()

    def _round(self) -> Iterator[Done]:
        self.totals.rounds += 1
        for done in run_round(self._scheduler, self._pool.start(self._work, self._scheduler)):
            self._goal.keep_if_due()
            yield done

    def _split(self) -> Iterator[Done]:
        """Expand the tree in this process, to a depth or until there are enough stacks."""
        goal, budget = self._goal, SPLIT_NODES
        depth = goal.settings.split_depth
        if goal.settings.node_limit is not None or depth == 0 or goal.enough:
            return
        if depth is not None:
            yield from self._expand(UNLIMITED, depth=depth)
            return
        wanted = STACKS_PER_WORKER * self._pool.jobs
        if 0 < len(self.outstanding) < wanted:
            few = COUNTER_NODES if self._work.engine.capabilities.counts_only else FIRST_NODES
            few = min(few, self._first_budget, goal.settings.budget or UNLIMITED)
            yield from self._expand(few, fineness=2 * wanted)  # some weight is searched already
        each = 1  # nodes of each stack
        while 0 < (n := len(self.outstanding)) < wanted and budget > 0 and not goal.enough:
            before = self.totals.nodes
            yield from self._expand(budget, each, fineness=1 + wanted // n)
            visited = self.totals.nodes - before
            budget -= visited or budget  # an engine that fails visits nothing
            each = 1 if len(self.outstanding) > n else 2 * each  # chains have no other branches

    def _expand(self, budget: int, each: int = UNLIMITED, **how: Any) -> Iterator[Done]:
        """Expand all waiting pieces as one task, without workers; small problems end here.

        At most `each` nodes of each stack are visited; `how` are more attributes of the task.
        """
        piece = Piece.join(self._scheduler.take_all())
        begun = self._goal.begin(piece, budget, 0)
        assert begun is not None, "a limit is reached, so there is nothing to expand"
        task = replace(begun[1], **how)
        if each < UNLIMITED:  # roots share allowances, and mean nothing else here
            stacks = task.stacks.with_roots(np.arange(len(piece)))
            task = replace(task, stacks=stacks, allowances=np.full(len(piece), each))
        self.totals.rounds += 1
        done = attempt(self._work.do, self._scheduler.hand_out(piece, budget), task)
        if self._scheduler.take(done) and isinstance(done, Done):
            self._goal.keep_if_due()
            yield done

    def _goes_over(self) -> bool:
        """Tell whether the counter takes over; weigh it when the search has visited enough nodes.

        Give a hint instead if the counter cannot do what is wanted.
        """
        while self._may_go_over and self._goal.n_nodes > self._weighing.after:
            counter = counter_for(AUTO, self._goal.problem)
            if not counter:
                self._may_go_over = False
                break
            outcome = _weighed(counter, self._goal, self._weighing.n_nodes)
            self._weighing = self._weighing.next
            if gain_of(outcome) >= LEAST_GAIN:
                self._take_counter(counter)
        return bool(self._successor) and not self.failures

    def _take_counter(self, name: str) -> None:
        goal, settings = self._goal, self._goal.settings
        self._may_go_over = False
        if goal.collect or (settings.limit, settings.node_limit) != (None, None):
            self.hint = f"many subproblems are equal; --engine {name} would count them once"
        else:
            self._successor = name

    def _begin_again(self) -> Iterator[Done]:
        """Begin the search anew with the counter."""
        engine = get_engine(self._successor)
        engine = with_empty_table(engine, self._goal.problem, self._pool.folder)
        self._successor = ""
        self._work = replace(self._work, engine=engine)
        again = self._goal.begin_again(self.outstanding)
        self._scheduler.clear()
        self._scheduler.add(again)
        yield from self._split()
        self._scheduler.set_rate()
