"""The search of one problem to the end: every cover is counted or written.

A search first visits some nodes in this process, and then splits the rest of the tree until there
are stacks for all workers. Rounds of tasks follow; most searches are one long round.

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
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from batchsolve.core.arrays import Bools, Floats, Ints, owners_of
from batchsolve.engines import Choice, Engine, Outcome, Task, counter_for, engine_for, get_engine
from batchsolve.errors import InputError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.symmetries import Symmetries
from batchsolve.search.scheduler import Changes, Piece, Result, Scheduler, Sizing, first_budget
from batchsolve.settings import AUTO, SearchSettings
from batchsolve.settings.arguments import UNLIMITED
from batchsolve.workers import Done, Pool, attempt

STEP_SECONDS = 1.0
TASK_BYTES = 12 << 20  # of covers in a result, each counted as long as possible
STEP_RESULTS = 5  # full results that may wait for a checkpoint
FIRST_NODES = 2_000  # visited before the tree is split, in a millisecond; many have no more
STACKS_PER_WORKER = 15  # stacks that an automatic split aims at; those with branches can be cut
SPLIT_NODES = 20_000  # nodes that an automatic split may visit; some hundredths of a second
WEIGH_AFTER = 300_000  # nodes; some tenths of a second, as loading an engine takes
WEIGH_SOONER = 10_000  # nodes at least, where nodes are wide
WIDE_ENTRIES = 4_000  # of options that conflict with one, where nodes are wide
WEIGHED_NODES, MOST_WEIGHED = 2_000, 600_000  # of the counter; each takes up to 8 times as long
WEIGH_AGAIN = 10  # times as many nodes later, because some subtrees repeat only lower in the tree
WEIGHED_A_MEGABYTE = 2_500  # of its table
LEAST_GAIN = 6  # nodes of the tree for each of the counter
LEAST_GAIN_OF_GRIDS = 300  # whose own engine has a tree of 2 to 20 times fewer nodes
COUNTER_NODES = 20_000  # visited by a counter before its tree is split
WHOLE_NODES = 200_000  # that suffice for a task of a counter, however many options there are
HINT = "many subproblems are equal; count --engine {}, without a limit, counts them once"

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

    def __call__(self, task: Task) -> Result:
        """Search a task."""
        begin = time.perf_counter()
        if self.render is not None and not task.cheapest:  # the renderer sorts by itself
            task = replace(task, unordered=True)
        outcome = self.engine.search(self.problem, task)
        seconds = time.perf_counter() - begin
        covers = outcome.solutions
        n_covers = sum(outcome.counts.tolist())  # Python integers do not overflow
        if self.symmetries is not None:
            covers = covers.take(self.symmetries.are_least(covers))
            n_covers = len(covers)
        output = None
        if len(covers):
            output = covers if self.render is None else self.render(covers)
        if len(outcome.solutions):  # they are output now
            outcome = replace(outcome, solutions=Stacks.empty())
        return Result(output, int(outcome.nodes.sum()), seconds, outcome, n_covers)


def weighing(problem: ExactCover, k: int) -> tuple[int, int]:
    """Return the nodes of the tree after which a counter is weighed, and those that it visits.

    It is weighed for the k-th time, counted from 0; the first time the sooner, the wider the nodes
    of the problem.
    """
    wide = problem.entries_of_a_node / WIDE_ENTRIES
    first = max(WEIGH_AFTER / max(1.0, wide), min(WEIGH_SOONER, WEIGH_AFTER))
    return int(first) * WEIGH_AGAIN**k, min(WEIGHED_NODES * WEIGH_AGAIN**k, MOST_WEIGHED)


def small_counter(name: str, n_nodes: int) -> Engine:
    """Return a counter with an empty table for a few nodes; of wide ones it visits fewer."""
    engine = get_engine(f"{name}:{1 + n_nodes // WEIGHED_A_MEGABYTE}")
    return engine.for_run(entries=n_nodes * WIDE_ENTRIES)


def whole_nodes(problem: ExactCover) -> int:
    """Return the least budget of a counter: a subtree that is cut is not in its table."""
    return min(problem.n_options, WHOLE_NODES)


def gain_of(outcome: Outcome) -> float:
    """Return for how many nodes of the tree each node of the counter stands."""
    assert outcome.tree_nodes is not None
    return float(outcome.tree_nodes.sum() / outcome.nodes.sum())


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


def check_can_count(engine: Engine | Choice, everything: bool) -> None:
    """Raise `InputError` if an engine only counts everything, and something else is wanted."""
    if engine.counts_only and not everything:
        raise InputError(
            f"the engine {engine.name!r} only counts, and counts everything: for solutions, a "
            f"limit on their number, or their number up to symmetry, name another engine"
        )


class TreeSearch:
    """A search of one tree: all its covers, or as many as the limits allow.

    It is the goal of a scheduler: it decides what is wanted of a piece, and adds up results.

    Parameters
    ----------
    problem : ExactCover
    settings : SearchSettings
    start : Piece
        The stacks to search.
    pool : Pool
        Entered already.
    engine : Engine, optional
        By default that of the settings. If these leave it open, a counter may take over a count of
        all covers.
    totals : Totals, optional
        Sums of earlier searches; results are added to them.
    keep : callable, optional
        Called with each `Changes`; when it returns, the changes are kept.
    collect : bool
        True if covers are wanted, False if only their number is.
    render : callable, optional
        Renders covers for output, in workers.
    symmetries : Symmetries, optional
        If given, only the canonical cover of each orbit is wanted.

    Attributes
    ----------
    failures : list of str
        The reasons why stacks could not be searched; they stay outstanding for a later run.
    hint : str
        Advice on the engine, once the search has found that another would count faster.
    """

    def __init__(
        self,
        problem: ExactCover,
        settings: SearchSettings,
        start: Piece,
        pool: Pool,
        *,
        engine: Engine | None = None,
        totals: Totals | None = None,
        keep: Callable[[Changes], None] = lambda changes: None,
        collect: bool = False,
        render: Render | None = None,
        symmetries: Symmetries | None = None,
    ) -> None:
        may_go_over = engine is None and settings.engine == AUTO and symmetries is None
        engine = engine or engine_for(settings.engine, problem)
        if symmetries is not None and not collect:  # workers check covers and then drop them
            collect, render = True, _forget
        check_can_count(engine, everything=not collect and settings.limit is None)
        self._problem, self._settings, self._start, self._pool = problem, settings, start, pool
        engine = engine.for_run(shared=pool.workers.share_memory)
        self._work = TreeWork(engine, problem, render, symmetries)  # one object, sent once
        self.totals = totals or Totals()
        self._before = self.totals.count, self.totals.nodes
        self._keep, self._collect = keep, collect
        self._finished = FinishedShare(problem, start)
        self._next_id = int(start.ids.max(initial=-1)) + 1
        self._changes = Changes()
        self._waiting = 0  # covers
        self._consistent = True  # True if totals and changes hold the same results
        self._kept_at = now = time.monotonic()
        self._begin = now - self.totals.seconds
        self._started = now
        self.failures: list[str] = []
        self._first_budget = first_budget(problem.n_entries)
        self._scheduler = Scheduler(self, pool.jobs, settings.budget, self._first_budget)
        self._scheduler.least_budget = self._least_budget()
        self._scheduler.add(start)
        self._successor, self.hint = "", ""
        self._n_weighed = 0 if may_go_over else None  # counters so far; None to weigh no more

    def _least_budget(self) -> int:
        return whole_nodes(self._problem) if self._work.engine.counts_only else 0

    @property
    def engine(self) -> str:
        """The name of the engine in use."""
        return self._work.engine.name

    @property
    def symmetries(self) -> int:
        """The number of symmetries under which covers are counted once: the order of the group."""
        return 1 if self._work.symmetries is None else len(self._work.symmetries)

    @property
    def nodes_before(self) -> int:
        """The nodes that were visited before this search began: those of the resumed run."""
        return self._before[1]

    @property
    def outstanding(self) -> Piece:
        """The stacks left to search, without those that failed; in any order."""
        return Piece.join(self._scheduler.left())

    @property
    def finished_share(self) -> float:
        """An estimate of the share of the nodes of the tree that were visited, from 0 to 1."""
        return self._finished.by_levels(self.totals.nodes)

    @property
    def finished_between(self) -> tuple[float, float]:
        """The range of such estimates, also of earlier ones; it is wide in an uneven tree."""
        return self._finished.between(self.totals.nodes)

    @property
    def complete(self) -> bool:
        """True if nothing is left to search, and this search did not reach the limit of covers."""
        limited = self._before[0] < self.totals.count == self._settings.limit  # whatever was left
        return self._scheduler.is_empty and not self.failures and not limited

    def run(self) -> Iterator[Done]:
        """Search until nothing is outstanding or a limit is reached; yield results as they come."""
        scheduler = self._scheduler
        try:
            yield from self._split()
            scheduler.set_rate()  # the split includes the preparation of the engine
            if not (self.has_enough or scheduler.is_empty):  # small searches need no workers
                scheduler.sizing = Sizing.of_pool(self._pool)
            while not self.has_enough:
                if self._goes_over():
                    yield from self._begin_again()
                if scheduler.is_empty:
                    break
                scheduler.is_held = False
                self.totals.rounds += 1
                for done in scheduler.run_round(self._pool.start(self._work, scheduler)):
                    self._keep_if_due()
                    yield done
                    scheduler.is_held = scheduler.is_held or self._goes_over()
        finally:
            self.totals.seconds = time.monotonic() - self._begin
            if self._consistent:
                self._flush()

    def _split(self) -> Iterator[Done]:
        """Expand the tree in this process, to a depth or until there are enough stacks."""
        budget, depth = SPLIT_NODES, self._settings.split_depth
        if self._settings.node_limit is not None or depth == 0 or self.has_enough:
            return
        if depth is not None:
            yield from self._expand(UNLIMITED, depth=depth)
            return
        wanted = STACKS_PER_WORKER * self._pool.jobs
        if 0 < len(self.outstanding) < wanted:
            n_nodes = COUNTER_NODES if self._work.engine.counts_only else FIRST_NODES
            n_nodes = min(n_nodes, self._first_budget, self._settings.budget or UNLIMITED)
            yield from self._expand(n_nodes, fineness=2 * wanted)  # some weight is searched already
        quota = 1  # nodes of each stack
        while not self._scheduler.is_empty and budget > 0 and not self.has_enough:
            if (n := len(self.outstanding)) >= wanted:
                break
            before = self.totals.nodes
            yield from self._expand(budget, quota, fineness=1 + wanted // n)
            visited = self.totals.nodes - before
            budget -= visited or budget  # an engine that fails visits nothing
            quota = 1 if len(self.outstanding) > n else 2 * quota  # chains have no other branches

    def _expand(self, budget: int, quota: int = UNLIMITED, **others: Any) -> Iterator[Done]:
        """Expand all waiting pieces as one task, without workers; small problems end here.

        At most `quota` nodes of each stack are visited; `others` are more attributes of the task.
        """
        piece = Piece.join(self._scheduler.take_all())
        begun = self.begin(piece, budget, 0, **others)
        assert begun is not None, "a limit is reached, so there is nothing to expand"
        task = begun[1]
        if quota < UNLIMITED:  # roots share allowances, and mean nothing else here
            stacks = task.stacks.with_roots(np.arange(len(piece)))
            task = replace(task, stacks=stacks, allowances=np.full(len(piece), quota))
        self.totals.rounds += 1
        done = attempt(self._work, self._scheduler.hand_out(piece, budget), task)
        if self._scheduler.take(done) and isinstance(done, Done):
            self._keep_if_due()
            yield done

    def _goes_over(self) -> bool:
        """Return whether the counter takes over; weigh it when the search has visited enough nodes.

        Give a hint instead if the counter cannot do what is wanted.
        """
        settings = self._settings
        while (k := self._n_weighed) is not None:
            after, n_nodes = weighing(self._problem, k)
            if self.totals.nodes - self.nodes_before <= after:
                break
            counter = counter_for(AUTO, self._problem, is_row=False)
            self._n_weighed = k + 1 if counter else None
            least = LEAST_GAIN if self._work.engine.tree else LEAST_GAIN_OF_GRIDS
            if counter and self._gain(counter, n_nodes) >= least:
                self._n_weighed = None
                if self._collect or (settings.limit, settings.node_limit) != (None, None):
                    self.hint = HINT.format(counter)
                else:
                    self._successor = counter
        return bool(self._successor) and not self.failures

    def _gain(self, counter: str, n_nodes: int) -> float:
        """Return the gain of a counter in a few nodes at the top of the tree."""
        engine = small_counter(counter, n_nodes)
        return gain_of(engine.search(self._problem, Task.of(self._start.stacks, budget=n_nodes)))

    def _begin_again(self) -> Iterator[Done]:
        """Begin the search anew with the counter, and drop all results since it began."""
        engine = get_engine(self._successor).for_run(shared=self._pool.workers.share_memory)
        self._successor = ""
        self._work = replace(self._work, engine=engine)
        start = self._start
        again = replace(start, ids=self._next_id + np.arange(len(start)))
        self._consistent = False
        self._next_id += len(start)
        self.totals.count, self.totals.nodes = self._before
        self._finished = FinishedShare(self._problem, start)
        self._changes.add(self.outstanding.ids, again)
        self._consistent = True
        self._scheduler.clear()
        self._scheduler.least_budget = self._least_budget()
        self._scheduler.add(again)
        yield from self._split()
        self._scheduler.set_rate()

    @cached_property
    def _most_covers(self) -> int:
        """The covers of a task at most."""
        return max(1, TASK_BYTES // (4 * longest_cover(self._problem)))

    @property
    def has_enough(self) -> bool:
        """True if a limit is reached."""
        settings, totals = self._settings, self.totals
        return (
            (settings.limit is not None and totals.count >= settings.limit)
            or (settings.node_limit is not None and totals.nodes >= settings.node_limit)
            or time.monotonic() - self._started >= (settings.time_limit or inf)
        )

    def begin(
        self, piece: Piece, budget: int, promised: int, **others: Any
    ) -> tuple[Piece, Task] | None:
        """Return a piece and its task; None if the tasks that are out may reach a limit.

        `others` are more attributes of the task.
        """
        settings, totals = self._settings, self.totals
        if settings.node_limit is not None:
            budget = min(budget, settings.node_limit - totals.nodes - promised)
            if budget <= 0:
                return None
        room = self._most_covers if self._collect else UNLIMITED
        if settings.limit is not None:
            room = min(room, settings.limit - totals.count)
            if room <= 0:
                return None
        if "fineness" not in others:
            others["fineness"] = piece.fineness
        keep = UNLIMITED if self._collect else 0
        return piece, Task.of(piece.stacks, budget=budget, keep=keep, room=room, **others)

    def accept(self, piece: Piece, result: Result) -> list[Piece] | None:
        """Add a result to the sums; return the pieces left, or None if it exceeds the limit."""
        outcome, totals = result.outcome, self.totals
        assert outcome is not None
        n_covers = result.n_covers
        limit = self._settings.limit
        if limit is not None and totals.count + n_covers > limit:
            return None
        self._consistent = False
        searched = outcome.begun(piece.stacks)
        is_new = searched[outcome.parents]
        remaining = self._left_of(piece, outcome, is_new)
        totals.count += n_covers
        totals.nodes += result.n_nodes
        totals.subproblems += int(np.count_nonzero(outcome.nodes))
        self._finished.add(piece, outcome, searched, remaining)
        self._changes.add(piece.ids[searched], remaining.take(is_new))
        if result.output is not None:
            self._changes.outputs.append((result.output, n_covers))
            self._waiting += n_covers
        self._consistent = True
        return [remaining]

    def lose(self, piece: Piece, reason: str) -> list[Piece]:
        """Record that a piece cannot be searched; it is left for a later run."""
        self.failures.append(reason)
        return []

    def _keep_if_due(self) -> None:
        """Note the time; keep the changes if a second has passed or much output waits."""
        now = time.monotonic()
        self.totals.seconds = now - self._begin
        if now - self._kept_at > STEP_SECONDS or self._waiting >= STEP_RESULTS * self._most_covers:
            self._flush()

    def _left_of(self, piece: Piece, outcome: Outcome, is_new: Bools) -> Piece:
        """Return the frontier as a piece; stacks not searched keep their numbers."""
        ids = piece.ids[outcome.parents]
        n_new = int(np.count_nonzero(is_new))
        ids[is_new] = self._next_id + np.arange(n_new)
        self._next_id += n_new
        return Piece(outcome.frontier, piece.weights[outcome.parents] * outcome.weights, ids)

    def _flush(self) -> None:
        """Keep the changes; after a failure they are not kept later."""
        self._consistent = False
        changes, self._changes, self._waiting = self._changes, Changes(), 0
        self._keep(changes)
        self._consistent = True
        self._kept_at = time.monotonic()


def _forget(covers: Stacks) -> None:
    """Drop covers that are only counted."""


def longest_cover(problem: ExactCover) -> int:
    """Return the largest number of options in a cover; each option has a primary item."""
    if problem.bounds is not None:
        return max(1, min(problem.n_options, int(problem.bounds[:, 1].sum())))
    sizes = np.diff(problem.indptr)
    if problem.n_primary == problem.n_items and sizes.size:
        return max(1, problem.n_items // int(sizes.min()))
    return max(1, problem.n_primary)


# ---- the finished share ---------------------------------------------------------------------

LEVELS = 256  # two for each number of options; deeper ones are taken as one
HUGE = 1e100  # nodes of a subtree; a larger one is finished as little
STALE = 1.01  # times as many nodes, after which the share is estimated again
REMEMBERED = 4  # estimates count until this many times as many nodes are visited


class FinishedShare:
    """The finished share of a tree, estimated in two ways that rarely are wrong together.

    *By levels*, stacks of one level are alike (P. C. Chen, *Heuristic sampling: a method for
    predicting the performance of tree searching programs*, SIAM J. Comput. 21, 1992): the nodes
    below one are the mean of those that tasks have searched there, with their remains. *By
    weights*, as in Knuth's probes, the children of a node are alike, so a stack has the product of
    1 / (number of children). In trees with long chains, small subtrees near the root hold most of
    the weight. Where no task has been yet, weights stand for levels, too.

    Stacks with branches make levels between those of the others, whose nodes are options of a
    branch. Options that are not possible any more are counted, too: they are as many everywhere.

    Both are wrong where a few subtrees hold most of the nodes, as below grids of 16×16. That shows
    in their earlier estimates: the nodes of the whole tree, as estimated in the last part of the
    search, differ then. The doubt is the range of all these.

    Parameters
    ----------
    problem : ExactCover
    start : Piece
        The stacks that are open when the search begins.
    """

    def __init__(self, problem: ExactCover, start: Piece) -> None:
        self._problem, self._start = problem, start
        self._n_open = len(start)
        self._known_at, self._known = -1.0, 0.0
        self._estimates: list[tuple[int, float, float]] = []  # nodes, two estimates of all nodes

    def add(self, piece: Piece, outcome: Outcome, searched: Bools, remaining: Piece) -> None:
        """Add the result of a task: its piece, the stacks it began, and the remaining piece."""
        self._n_open += len(remaining) - len(piece)
        if not self._n_open:
            return
        at, below = self._levels(piece.stacks), self._levels(remaining.stacks)
        sizes, sizes_left = self._sizes(piece.stacks), self._sizes(remaining.stacks)
        new = searched[outcome.parents]
        pairs = at[outcome.parents[new]] * LEVELS + below[new]
        np.add.at(self._transitions.reshape(-1), pairs, sizes_left[new])
        sums = self._sums
        sums[:2] -= _by_level(at, sizes, piece.weights)
        sums[:2] += _by_level(below, sizes_left, remaining.weights)
        sums[2] += np.bincount(at[searched], sizes[searched], LEVELS)
        sums[3] += np.bincount(at, outcome.nodes, LEVELS)

    @cached_property
    def _sums(self) -> Floats:
        """The sums of each level: open stacks, their weights, stacks searched, and their nodes."""
        start = self._start.stacks
        sums = np.zeros((4, LEVELS))
        sums[:2] = _by_level(self._levels(start), self._sizes(start), self._start.weights)
        return sums

    @cached_property
    def _transitions(self) -> Floats:
        """The stacks that tasks at a level left at another; most searches leave none."""
        return np.zeros((LEVELS, LEVELS))

    @property
    def by_weights(self) -> float:
        """The share by weights, from 0 to 1."""
        return min(1.0, max(0.0, 1.0 - float(self._sums[1].sum())))

    def by_levels(self, nodes: int) -> float:
        """Return the share of the visited nodes by levels, from 0 to 1."""
        if not self._n_open:
            return 1.0
        if not self._known_at <= nodes < STALE * self._known_at:
            self._known_at, self._known = nodes, nodes / max(1.0, nodes + self._nodes_left(nodes))
            self._estimates = [past for past in self._estimates if past[0] * REMEMBERED >= nodes]
            by_levels, by_weights = self._known, self.by_weights
            wholes = nodes / max(1 / HUGE, by_levels), nodes / max(1 / HUGE, by_weights)
            self._estimates.append((nodes, *wholes))
        return self._known

    def between(self, nodes: int) -> tuple[float, float]:
        """Return the lowest and the highest share that the estimates so far leave possible."""
        if self.by_levels(nodes) == 1.0:
            return 1.0, 1.0
        then = self._known_at  # so that `by_levels` is in the range
        wholes = [max(1.0, then, whole) for _, *both in self._estimates for whole in both]
        return then / max(wholes, default=1.0), then / min(wholes, default=1.0)

    def _nodes_left(self, nodes: int) -> float:
        """Estimate the nodes below the open stacks, level by level from the deepest."""
        n_open, weights, searched, visited = self._sums
        is_known = searched > np.diagonal(self._transitions)
        sizes = np.full(LEVELS, visited.sum() / max(1.0, searched.sum()))
        for k in np.flatnonzero(is_known)[::-1]:
            below = self._transitions[k, k + 1 :] @ sizes[k + 1 :]
            whole = (visited[k] + below) / (searched[k] - self._transitions[k, k])
            sizes[: k + 1] = min(HUGE, whole)
        rest = nodes * weights[~is_known].sum() / max(1 / HUGE, self.by_weights)
        return float(n_open[is_known] @ sizes[is_known] + rest)

    @cached_property
    def _first(self) -> int:
        """The fewest options of a stack at the begin."""
        return int(np.diff(self._start.stacks.offsets).min(initial=0))

    def _levels(self, stacks: Stacks) -> Ints:
        levels = 2 * (np.diff(stacks.offsets) - self._first) + stacks.has_branch
        return np.clip(levels, 0, LEVELS - 1)

    def _sizes(self, stacks: Stacks) -> Floats:
        """Return how many options the branches of stacks have; 1 without a branch."""
        sizes = np.ones(len(stacks))
        if stacks.branches.size:
            which = stacks.has_branch
            items, *bounds = stacks.branches[which].astype(np.int64).T
            places = (items - 1) * self._problem.n_options + np.array(bounds)
            first, last = np.searchsorted(self._entries, places)
            sizes[which] = np.maximum(1, last - first)
        return sizes

    @cached_property
    def _entries(self) -> Ints:
        """The entries of the problem by item, and of each item by option."""
        problem = self._problem
        items = problem.indices.astype(np.int64)
        return np.sort(items * problem.n_options + owners_of(problem.indptr))


def _by_level(at: Ints, *arrays: Floats) -> Floats:
    """Return the sums of some numbers of stacks at each level, given the level of each stack."""
    return np.array([np.bincount(at, numbers, LEVELS) for numbers in arrays])
