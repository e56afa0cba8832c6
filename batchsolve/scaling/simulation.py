"""Forecasts for more workers: a simulation of `TreeSearch` on a virtual clock.

The real scheduler hands out the tasks and cuts what they leave; the tree, the workers and the time
are simulated. The tree is a line: a subtree of s nodes is s units of work in tree order. A budget
that runs out within it leaves the subtrees to the right of the path on which the search stopped, in
ranges as an engine leaves them. Smaller subtrees are drawn from the shape of the tree.

A shape is sampled by random walks from the root of a tree. A walk moves to a child with a
probability in proportion to the child's size, like the place where a budget runs out. Small
children are counted; the sizes of large ones are estimated by Knuth's probes, and the noise of the
estimates makes the tree look less even than it is.

A forecast takes the costs from measured runs, and simulates these and others.
"""

from __future__ import annotations

import heapq
import statistics
from bisect import bisect
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, pairwise
from math import ceil
from random import Random
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Floats
from batchsolve.core.interrupts import check_interrupt
from batchsolve.engines import Engine, Task, engine_for, visits_the_same_nodes
from batchsolve.errors import BatchsolveError, InputError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.estimate import estimate, probe
from batchsolve.scaling.experiment import Experiment
from batchsolve.scaling.measure import MeasuredRun, Workload
from batchsolve.search.scheduler import Result, Scheduler, Sizing, fineness_of, piece_bounds
from batchsolve.search.tree import FIRST_NODES, SPLIT_NODES, STACKS_PER_WORKER
from batchsolve.workers import Done, result_seconds
from batchsolve.workers.base import RESULT_SECONDS, TASKS_OUT

MOST_TASKS = 200_000  # or 10 for every worker, if that is more; takes about 4 seconds
GRAIN = 64.0  # nodes; a smaller subtree is not cut in a simulation
CLASSES = 64  # subtrees of 2^c to 2^(c+1) nodes are one class
WALKS = 8  # in a batch
PROBES = 32  # of each large child
ENOUGH = 2_000  # samples; more hardly change a forecast
MOST_CHILDREN = 10_000  # of the samples; a child takes about a millisecond
COUNTED = 2_000  # nodes up to which a child is counted, which takes about as long as its probes


@dataclass(frozen=True)
class Costs:
    """The speed of a worker, and the overheads of a parallel search.

    Attributes
    ----------
    rate : float
        Nodes that a worker visits in a second.
    overhead : float
        Seconds between a worker's tasks.
    master : float
        Seconds that the process that hands out tasks needs for each result, one after another.
    assumed : float
        The same, as the search assumes it for the backend when it sizes tasks.
    split : float
        Seconds for every node visited in splitting, which that process does alone.
    """

    rate: float
    overhead: float = 0.0
    master: float = 0.0
    split: float = 0.0
    assumed: float = RESULT_SECONDS


@dataclass(frozen=True)
class Simulated:
    """The outcome of a simulated search.

    Attributes
    ----------
    workers : int
    wall : float
        Seconds from the first node to the last accepted result.
    work : float
        Seconds that one worker needs for all nodes, without any overhead.
    tasks : int
    stacks : int
        Stacks that splitting made.
    share : float
        The share of the work that was simulated: 1, unless there were `MOST_TASKS` tasks. The rest
        is assumed to go on at the pace of the second half of that time.
    """

    workers: int
    wall: float
    work: float
    tasks: int
    stacks: int
    share: float = 1.0

    @property
    def efficiency(self) -> float:
        """The work, divided by the time of all workers."""
        return self.work / (self.workers * self.wall)


def simulate(
    nodes: float,
    workers: int,
    costs: Costs,
    shape: Shape,
    *,
    split_depth: int | None = None,
    budget: int | None = None,
    sizing: Sizing | None = None,
) -> Simulated:
    """Simulate the search of a tree.

    Parameters
    ----------
    nodes : float
        The size of the tree.
    workers : int
    costs : Costs
    shape : Shape
        Samples by which subtrees are cut into smaller ones.
    split_depth : int, optional
        Levels to expand first; by default until every worker has enough stacks.
    budget : int, optional
        Nodes a task may visit; by default chosen by time and by the number of pieces that wait.
    sizing : Sizing, optional
        The sizes of tasks; by default those that the search uses for the number of workers.

    Examples
    --------
    >>> even = shape_of([(1.0, np.ones(3))])  # three children of equal size at each node
    >>> round(simulate(1e9, 4, Costs(rate=1e6), even).efficiency, 3)
    1.0
    """
    check_interrupt()
    subtrees = Subtrees(shape, costs.rate)
    stacks, visited, first = split_tree(nodes, workers, split_depth, budget, subtrees)
    sizing = sizing or Sizing.of(workers, costs.assumed)
    scheduler = Scheduler(subtrees, workers, budget, sizing=sizing)
    scheduler.add(Range(stacks))
    most = max(MOST_TASKS, 10 * workers)
    now, searched = first / costs.rate, 0.0
    marks = [(now, searched)]  # after every task
    while not scheduler.is_empty and len(marks) <= most:
        for done in scheduler.run_round(_results(scheduler, workers, costs, now)):
            check_interrupt()
            now, searched = done.begin, searched + done.result.n_nodes
            marks.append((now, searched))
            if len(marks) > most:
                break
    share = 1.0
    if not scheduler.is_empty:
        then, before = marks[bisect(marks, (now / 2,))]
        pace = min(workers * costs.rate, (searched - before) / (now - then))
        whole = float(stacks[:, 0].sum())
        now, share = now + (whole - searched) / pace, searched / whole
    wall, work = now + visited * costs.split, nodes / costs.rate
    return Simulated(workers, wall, work, len(marks) - 1, len(stacks), share)


def _results(tasks: Scheduler, jobs: int, costs: Costs, now: float) -> Generator[Done]:
    """Yield the results of a round as the master takes them, on a clock that starts at `now`.

    A worker that ends a task draws the next at once. Its result waits for the master, which takes
    results in the order of their arrival. As in joblib, the first draw of a worker that finds
    nothing is its last.
    """
    at_hand = deque(islice(tasks, TASKS_OUT * jobs))
    more = (numbered for numbered in tasks)  # unlike a scheduler, it ends for good
    events: list[tuple[float, bool, int, Result]] = []  # a heap; results are taken first
    master_free = now

    def begin(now: float) -> None:
        number, result = at_hand.popleft()
        heapq.heappush(events, (now + costs.overhead + result.seconds, True, number, result))

    for _ in range(min(jobs, len(at_hand))):
        begin(now)
    while events:
        now, is_end, number, result = heapq.heappop(events)
        if is_end:
            master_free = max(master_free, now) + costs.master
            heapq.heappush(events, (master_free, False, number, result))
            at_hand.extend(islice(more, 1))
            if at_hand:
                begin(now)
        else:
            yield Done(number, None, result, now, result.seconds, "")


@dataclass(frozen=True, eq=False)
class Range:
    """A piece of the search.

    Attributes
    ----------
    stacks : ndarray of float64, shape (n, 2)
        The sizes of subtrees, in tree order, and their weights. A search does not know sizes;
        frontiers are cut by weight.
    """

    stacks: Floats
    is_fresh: ClassVar[bool] = False
    weighs: ClassVar[int] = 0

    def cut(self, n_pieces: int, most_stacks: int) -> list[Range]:
        """Cut into at most `n_pieces` of about equal weight; see `batchsolve.search.scheduler`."""
        if not len(self.stacks):
            return []
        bounds = piece_bounds(self.stacks[:, 1], n_pieces, most_stacks)
        return [Range(self.stacks[begin:end]) for begin, end in pairwise(bounds.tolist())]


class Subtrees:
    """The goal of a simulated search: random subtrees of a shape, which are known by their sizes.

    Stacks, in tree order, are arrays of shape (n, 2): sizes and weights. Subtrees of `GRAIN` nodes
    or fewer stay whole. Several children of a node are a range, which is cut like a subtree of
    their size.
    """

    has_enough: ClassVar[bool] = False

    def __init__(self, shape: Shape, rate: float) -> None:
        self._shape, self._rate = shape, rate
        self._random = Random(0)

    def begin(self, piece: Range, budget: int, promised: int) -> tuple[Range, Result]:
        """Search a piece, and return the result, which is known at once."""
        visited, rest = self.search(piece.stacks, float(budget), fineness_of(piece.stacks[:, 1]))
        return piece, Result(None, int(visited), visited / self._rate, left=[Range(rest)])

    def accept(self, piece: Range, result: Result) -> list[Any]:
        """Return the remaining pieces of a piece."""
        return result.left

    def lose(self, piece: Range, reason: str) -> list[Range]:
        """Fail, because simulated workers lose nothing."""
        raise AssertionError(reason)

    def expand(self, stacks: Floats, most: float) -> Floats:
        """Replace every subtree by its children, as `most` ranges at most."""
        expanded: list[tuple[float, float]] = []
        for size, weight in stacks.tolist():
            shares = self._children_of(size) if size > GRAIN else [1.0]
            expanded += _ranges(shares, size, weight, most)
        return np.array(expanded)

    def search(self, stacks: Floats, budget: float, fineness: Floats) -> tuple[float, Floats]:
        """Search stacks in tree order; return the nodes visited, and the stacks left.

        The fineness of each stack is that of `Task`.
        """
        ends = np.cumsum(stacks[:, 0])
        n = int(np.searchsorted(ends, budget, "right"))  # those that are searched to their ends
        visited = float(ends[n - 1]) if n else 0.0
        if n == len(stacks) or visited == budget:
            return visited, stacks[n:]
        size, weight = stacks[n].tolist()
        rest = self._cut(size, budget - visited, float(fineness[n]))
        rest = [(nodes, share * weight) for nodes, share in rest]
        return budget, np.concatenate([rest, stacks[n + 1 :]])

    def _cut(self, size: float, visited: float, fineness: float) -> list[tuple[float, float]]:
        """Return what is left of a subtree after some of its nodes, in tree order.

        It consists of sizes, and shares of the weight of the subtree.
        """
        rest: list[tuple[float, float]] = []
        weight = 1.0
        while size > GRAIN:
            shares = self._children_of(size)
            x, passed = 0, 0.0
            while x + 1 < len(shares) and passed + shares[x] * size <= visited:
                passed += shares[x] * size
                x += 1
            after = shares[x + 1 :]
            of_after = weight * len(after) / len(shares)
            rest = _ranges(after, size, of_after, ceil(of_after * fineness)) + rest
            visited -= passed
            size *= shares[x]
            weight /= len(shares)
        return [(max(0.0, size - visited), weight), *rest]

    def _children_of(self, size: float) -> list[float]:
        """Draw the children of a subtree; return their shares, in tree order."""
        samples = self._shape[_class_of(size)]
        return samples[int(self._random.random() * len(samples))]


def _ranges(
    shares: list[float], size: float, weight: float, most: float
) -> list[tuple[float, float]]:
    """Return the children of a subtree as `most` ranges at most; `weight` is that of all."""
    n = len(shares)
    n_ranges = int(min(max(most, 1), n))
    bounds = [part * n // n_ranges for part in range(n_ranges)] + [n] if n else []
    spans = ((sum(shares[begin:end]), end - begin) for begin, end in pairwise(bounds))
    return [(share * size, weight * width / n) for share, width in spans if share > 0]


def split_tree(
    nodes: float, workers: int, split_depth: int | None, budget: int | None, subtrees: Subtrees
) -> tuple[Floats, int, float]:
    """Split the tree as `TreeSearch` does.

    Return the stacks, the nodes that were visited one by one to split, and those before.
    """
    wanted, visited = STACKS_PER_WORKER * workers, 0
    stacks = np.array([[nodes, 1.0]])
    if split_depth is not None:
        for _ in range(split_depth):
            if stacks[:, 0].max() <= GRAIN:
                break
            visited += len(stacks)
            stacks = subtrees.expand(stacks, float("inf"))
        return stacks, visited, 0.0
    first = 0.0
    if nodes > GRAIN:
        first_budget = float(min(FIRST_NODES, budget or FIRST_NODES))
        first, stacks = subtrees.search(stacks, first_budget, np.array([2.0 * wanted]))
    while 0 < len(stacks) < wanted and visited < SPLIT_NODES and stacks[:, 0].max() > GRAIN:
        visited += len(stacks)
        stacks = subtrees.expand(stacks, 1.0 + wanted // len(stacks))
    return stacks, visited, first


# ---- shapes ---------------------------------------------------------------------------------

Shape = list[list[list[float]]]
"""The shape of a tree, as `shape_of` builds it."""


def shape_of(samples: list[tuple[float, Floats]]) -> Shape:
    """Build a shape from samples: the size of a subtree, and the sizes of its children.

    Returns
    -------
    list of list of list of float
        The samples of subtrees of 2^c to 2^(c+1) nodes, for each c: the shares of a node's
        children, in tree order; they add to 1. A class in which no sample branches has the samples
        of the nearest class in which one does; otherwise it would never split a subtree.

    Raises
    ------
    InputError
        If no sample has two children.
    """
    if not any(len(children) > 1 for _, children in samples):
        raise InputError(
            "the tree hardly branches where it was sampled, so it has no shape to simulate"
        )
    by_class = defaultdict[int, list[list[float]]](list)
    for nodes, children in samples:
        by_class[_class_of(nodes)].append((children / children.sum()).tolist())
    present = [k for k, shares in by_class.items() if any(len(of) > 1 for of in shares)]
    near = (min(present, key=lambda k: (abs(k - c), k)) for c in range(CLASSES))
    return [by_class[k] for k in near]


def _class_of(nodes: float) -> int:
    return min(CLASSES - 1, max(1, int(nodes)).bit_length() - 1)


def sample_shape(problem: ExactCover, stack: npt.ArrayLike, engine: Engine, nodes: float) -> Shape:
    """Sample the shape of the tree below a stack; the samples do not depend on the time it takes.

    Parameters
    ----------
    problem : ExactCover
    stack : array_like of int
    engine : Engine
        One with reproducible nodes.
    nodes : float
        The size of the whole tree, counted or estimated.

    Returns
    -------
    Shape

    Raises
    ------
    InputError
        If the tree is too small to have a shape.

    Examples
    --------
    >>> from batchsolve.engines import get_engine
    >>> from batchsolve.problems.sudoku import Sudoku
    >>> shape = sample_shape(Sudoku(2, 2), [], get_engine("dlx"), 1000)
    >>> shape[-1][0]
    [0.25, 0.25, 0.25, 0.25]
    """
    rng = np.random.default_rng(0)
    root = Stacks.from_lists([np.asarray(stack).tolist()])
    samples: list[tuple[float, Floats]] = []
    while len(samples) <= ENOUGH and sum(len(shares) for _, shares in samples) <= MOST_CHILDREN:
        new = _walk(problem, root.take(np.zeros(WALKS, np.int64)), engine, nodes, rng)
        if not new:
            break
        samples += new
    return shape_of(samples)


def _walk(
    problem: ExactCover, walkers: Stacks, engine: Engine, nodes: float, rng: np.random.Generator
) -> list[tuple[float, Floats]]:
    """Walk from the root to small subtrees; return the samples seen on the way."""
    samples = []
    sizes = np.full(len(walkers), nodes)
    while len(walkers):
        walkers = walkers.with_roots(np.arange(len(walkers)))
        children = engine.search(problem, Task.of(walkers, depth=1)).frontier
        below = _sizes(problem, children, engine, rng)
        begins = np.searchsorted(children.roots, np.arange(len(walkers) + 1))
        picked, picked_sizes = [], []
        for k, size in enumerate(sizes.tolist()):
            child_sizes = below[begins[k] : begins[k + 1]]
            if child_sizes.size == 0:
                continue
            shares = child_sizes / child_sizes.sum()
            samples.append((size, shares))
            child = int(rng.choice(child_sizes.size, p=shares))
            if shares[child] * size > GRAIN:
                picked.append(begins[k] + child)
                picked_sizes.append(shares[child] * size)
        walkers = children.take(np.array(picked, np.int64))
        sizes = np.array(picked_sizes)
    return samples


def _sizes(problem: ExactCover, stacks: Stacks, engine: Engine, rng: np.random.Generator) -> Floats:
    """Return the number of nodes below each stack, counted if small and estimated otherwise."""
    n = len(stacks)
    if n == 0:
        return np.empty(0)
    counted = engine.search(problem, Task.of(stacks.with_roots(np.arange(n)), allowance=COUNTED))
    sizes = counted.nodes.astype(np.float64)
    large = np.unique(counted.frontier.roots)
    if large.size:
        nodes = probe(engine, problem, stacks.take(np.repeat(large, PROBES)), rng)[0]
        sizes[large] = np.maximum(nodes.reshape(-1, PROBES).mean(axis=1), COUNTED)
    return sizes


# ---- forecasts ------------------------------------------------------------------------------

TREE_PROBES = 3000  # to estimate the size of a tree that no run has finished
DEPTHS = (None, 0, 1, 2, 3, 4, 5, 6, 7, 8)
MOST_STACKS = 300_000  # of a split; deeper splits are not tried
BUDGET_SECONDS = (None, 0.05, 0.2, 1.0, 3.0, 10.0, 30.0)
CURVE_POINTS = 17  # powers of two from 1 to 65,536
AS_IT_IS = "automatic settings"


Point = dict[str, Any]
"""One simulation of a forecast: a row of ``forecast.csv``; see `point_of`."""


def point_of(part: str, setting: str, outcome: Simulated, measured: float | None = None) -> Point:
    """Return a row of ``forecast.csv``.

    Parameters
    ----------
    part : {"check", "curve", "what if", "depth", "budget"}
        A measured run again; automatic settings; those and variants that change one cost each; a
        split depth with the automatic budget; a budget with the automatic depth.
    setting : str
        The depth, the budget, or the name of the variant.
    outcome : Simulated
    measured : float, optional
        The measured seconds of a check for the whole tree; a stopped run is assumed to go on at its
        pace. The error is the difference to them, as a share of them.
    """
    return {
        "part": part,
        "setting": setting,
        "workers": outcome.workers,
        "simulated_seconds": outcome.wall,
        "measured_seconds": measured,
        "error": None if measured is None else outcome.wall / measured - 1,
        "efficiency": outcome.efficiency,
        "tasks": outcome.tasks,
    }


@dataclass(frozen=True, eq=False)
class Forecast:
    """The forecast for one problem, engine and backend.

    Attributes
    ----------
    name : str
    nodes : float
        The size of the tree.
    nodes_known : bool
        True if the size was counted; otherwise it is estimated.
    costs : Costs
    points : list of Point
    """

    name: str
    nodes: float
    nodes_known: bool
    costs: Costs
    points: list[Point]

    def of(self, part: str, workers: int | None = None) -> list[Point]:
        """Return the points of a part, perhaps only those with a number of workers."""
        points = [point for point in self.points if point["part"] == part]
        return [point for point in points if workers in (None, point["workers"])]

    @property
    def workers(self) -> list[int]:
        """The numbers of workers for which depths and budgets were tried."""
        return list(dict.fromkeys(point["workers"] for point in self.of("what if")))


def forecast(
    workload: Workload, experiment: Experiment, workers: Sequence[int], latency: float = 0.0
) -> tuple[list[Forecast], list[str]]:
    """Simulate the search of a workload with the measured numbers of workers, and with more.

    Parameters
    ----------
    workload : Workload
        A workload of strong scaling.
    experiment : Experiment
        The runs of the workload, among others.
    workers : sequence of int
        Numbers of workers for which to try depths and budgets.
    latency : float
        Seconds that a network adds between a worker's tasks.

    Returns
    -------
    list of Forecast, list of str
        One forecast for every engine and backend; and the reasons for those that cannot be made,
        or not be trusted.
    """
    budget = experiment.about.get("plan", {}).get("budget")
    groups: dict[tuple[str, str], list[MeasuredRun]] = {}
    for run in experiment.runs:
        if run.problem == workload.name and run.kind == "strong":
            groups.setdefault((run.engine, run.backend), []).append(run)
    forecasts, why = [], list[str]()
    for (engine, backend), runs in groups.items():
        name = f"{workload.name}, {engine}, {backend}"
        try:
            if not visits_the_same_nodes(engine):
                raise InputError(
                    f"the nodes of the engine {engine!r} depend on the cuts of the search, so it "
                    f"cannot be simulated"
                )
            result, doubt = _forecast(name, workload, runs, workers, latency, budget)
            forecasts.append(result)
            if doubt:
                why.append(f"{name}: do not trust the forecast, nor its number of nodes: {doubt}")
        except BatchsolveError as error:  # the other forecasts go on
            why.append(f"{name}: no forecast: {error}")
    return forecasts, why


def _forecast(
    name: str,
    workload: Workload,
    runs: list[MeasuredRun],
    workers: Sequence[int],
    latency: float,
    budget: int | None,
) -> tuple[Forecast, str]:
    """Simulate the runs of one engine on one backend, and the search on more workers.

    Return the reason to doubt the size of the tree, too; it is empty if there is none.
    """
    problem, stack = workload.problem, workload.stacks[0]
    engine = engine_for(runs[0].engine, problem)
    counted = [run.nodes for run in runs if run.complete]
    if counted:
        nodes, doubt = float(counted[0]), ""
    else:
        guess = estimate(problem, stack, probes=TREE_PROBES, engine=engine.name)
        nodes, doubt = max(guess.nodes, float(max(run.nodes for run in runs))), guess.doubt
    shape = sample_shape(problem, stack, engine, nodes)
    costs = measured_costs(runs)

    @cache
    def made(jobs: int, costs: Costs, **rules: Any) -> Simulated:
        return simulate(nodes, jobs, costs, shape, **rules)

    def simulated(jobs: int, costs: Costs, **rules: Any) -> Simulated:
        """Simulate a search once, whether rules are None or left out."""
        return made(jobs, costs, **{name: rule for name, rule in rules.items() if rule is not None})

    points = []
    for run in runs:
        again = simulated(run.jobs, costs, split_depth=run.split_depth, budget=budget)
        points.append(point_of("check", f"depth {run.depth}", again, run.wall * nodes / run.nodes))
    away = replace(costs, overhead=costs.overhead + latency)
    powers = {2**k for k in range(CURVE_POINTS) if 2**k <= max(workers, default=1)}
    points += [point_of("curve", AS_IT_IS, simulated(p, away)) for p in sorted({*powers, *workers})]
    for p in workers:
        points += _variants(p, away, simulated)
    return Forecast(name, nodes, bool(counted), costs, points), doubt


def measured_costs(runs: Sequence[MeasuredRun]) -> Costs:
    """Derive costs from the runs of one problem; the report describes the assumptions.

    Raises
    ------
    InputError
        If no run had a task for a worker.
    """
    runs = [run for run in runs if run.tasks and run.busy > 0]
    if not runs:
        raise InputError(
            "nothing was measured: no run had a task for a worker; choose a larger problem"
        )
    least = min(run.jobs for run in runs)
    few = [run for run in runs if run.jobs == least]
    several = [run for run in runs if run.jobs > 1] or few
    split = [r.split_seconds / r.split_nodes for r in runs if r.split_nodes]
    return Costs(
        rate=statistics.median(run.busy_nodes / run.busy for run in few),
        overhead=statistics.median(run.gap for run in several),
        master=max(statistics.median(run.master for run in group) for group in (few, several)),
        split=statistics.median(split) if split else 0.0,
        assumed=result_seconds(runs[0].backend),
    )


def _variants(workers: int, costs: Costs, simulated: Callable[..., Simulated]) -> Iterator[Point]:
    """Yield simulations of a number of workers: other costs, depths and budgets."""
    few = Sizing.as_for_few(workers)
    yield point_of("what if", AS_IT_IS, simulated(workers, costs))
    free = replace(costs, master=0.0)
    yield point_of("what if", "results cost no time", simulated(workers, free))
    gapless = replace(costs, overhead=0.0)
    yield point_of("what if", "no time between tasks", simulated(workers, gapless))
    yield point_of("what if", "tasks as for few workers", simulated(workers, costs, sizing=few))
    for depth in DEPTHS:
        outcome = simulated(workers, costs, split_depth=depth)
        yield point_of("depth", "auto" if depth is None else str(depth), outcome)
        if depth is not None and outcome.stacks > MOST_STACKS:
            break
    for seconds in BUDGET_SECONDS:
        budget = None if seconds is None else max(1, int(seconds * costs.rate))
        setting = "auto" if seconds is None else f"{seconds:g} s"
        yield point_of("budget", setting, simulated(workers, costs, budget=budget))
