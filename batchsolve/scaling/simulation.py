"""A discrete-event simulation of `TreeSearch` on any number of workers.

The tree is a line: a subtree of s nodes is s units of work in tree order. A budget that runs out
within it leaves the subtrees to the right of the path on which the search stopped. Smaller subtrees
are drawn from a `Shape`. Workers, the queue and draws follow `batchsolve.search.scheduler`; budgets
and cuts call the functions of `batchsolve.search.rules`. A stack is a pair: its size, which a
search does not know, and its weight, by which frontiers are cut.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from batchsolve.errors import InputError
from batchsolve.kernels import kernel
from batchsolve.scaling.tree_shape import GRAIN, Shape
from batchsolve.search.rules import (
    FIRST_BUDGET,
    MOST_OUT,
    MOST_STACKS,
    SPLIT_NODES,
    STACKS_PER_WORKER,
    Sizing,
    piece_bounds,
    task_nodes,
)
from batchsolve.settings import (
    MOST_FORECAST_WORKERS,
    UNLIMITED,
    check_bounds,
    setting,
    whole_number,
)
from batchsolve.workers.base import TASKS_OUT

MOST_TASKS = 1_000_000  # or 10 for every worker, if that is more; takes about 2 seconds


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
    split : float
        Seconds for every node visited in splitting, which that process does alone.
    """

    rate: float
    overhead: float = 0.0
    master: float = 0.0
    split: float = 0.0


@dataclass(frozen=True)
class Rules:
    """The rules by which a search cuts up its tree; by default those of `batchsolve.search.tree`.

    Attributes
    ----------
    split_depth : int, optional
        Levels to expand first; by default until every worker has enough stacks.
    budget : int, optional
        Nodes a task may visit; by default chosen by time and by the number of pieces that wait.
    sizing : Sizing, optional
        The sizes of tasks; by default those that the search uses for the number of workers.
    """

    split_depth: int | None = setting(None, "Levels to expand first.", least=0)
    budget: int | None = setting(None, "Nodes a task may visit.", least=1)
    sizing: Sizing | None = None

    def __post_init__(self) -> None:
        check_bounds(self)


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
    split : float
        Seconds spent splitting.
    tasks, rounds : int
    stacks : int
        Stacks that splitting made.
    share : float
        The share of the work that was simulated: 1, unless there were `MOST_TASKS` tasks. The rest
        is assumed to go on at the same pace.
    """

    workers: int
    wall: float
    work: float
    split: float
    tasks: int
    rounds: int
    stacks: int
    share: float = 1.0

    @property
    def efficiency(self) -> float:
        """The work, divided by the time of all workers."""
        return self.work / (self.workers * self.wall)


def simulate(
    sizes: npt.ArrayLike,
    workers: int,
    costs: Costs,
    shape: Shape | None = None,
    rules: Rules | None = None,
    seed: int = 0,
) -> Simulated:
    """Simulate the search of some subtrees.

    Parameters
    ----------
    sizes : array_like of float, shape (n,)
        Nodes of the subtrees to begin with, in tree order; one number is a whole tree.
    workers : int
        At most `MOST_FORECAST_WORKERS`.
    costs : Costs
    shape : Shape, optional
        Samples by which subtrees are cut into smaller ones; without them subtrees stay whole.
    rules : Rules, optional
    seed : int
        Seed of the random numbers.

    Raises
    ------
    InputError
        If `sizes` is empty or holds a number that is not positive, or `workers` is out of range.

    Examples
    --------
    >>> simulate([1e6] * 6, 4, Costs(rate=1e6)).wall  # six tasks of a second that stay whole
    2.0
    """
    workers = whole_number("the number of workers", workers, 1, MOST_FORECAST_WORKERS)
    begin = np.atleast_1d(np.asarray(sizes, np.float64))
    if not begin.size or not (begin > 0).all():
        raise InputError("there is nothing to simulate: sizes are one or more positive numbers")
    rules = rules or Rules()
    if shape is None:
        # no subtree reaches this budget, so each is one piece of work
        rules = Rules(split_depth=0, budget=UNLIMITED, sizing=Sizing(1.0, 0.0, begin.size))
        shape = Shape.even()
    tables = (shape.shares, shape.bounds, shape.first, shape.last)
    _seed(seed)
    stacks, visited = _split(begin, workers, rules, tables)
    split_seconds = visited * costs.split
    sizing = rules.sizing or Sizing.of(workers)
    wall, searched, tasks, rounds = _run(
        stacks,
        workers,
        (1 / costs.rate, costs.overhead, costs.master),
        -1.0 if rules.budget is None else float(rules.budget),
        (*sizing.bounds(costs.rate), float(FIRST_BUDGET)),
        (sizing.pieces, MOST_STACKS),
        (TASKS_OUT * workers, MOST_OUT * workers),
        max(MOST_TASKS, 10 * workers),
        tables,
    )
    work = float(begin.sum()) / costs.rate
    share = min(1.0, searched / float(stacks[:, 0].sum()))
    seconds = split_seconds + wall / share
    return Simulated(workers, seconds, work, split_seconds, tasks, rounds, len(stacks), share)


def _split(
    sizes: npt.NDArray[np.float64], workers: int, rules: Rules, tables: tuple
) -> tuple[npt.NDArray[np.float64], int]:
    """Expand the tree by levels as `TreeSearch` does; return the stacks and the nodes visited."""
    wanted, visited, level = STACKS_PER_WORKER * workers, 0, 0
    stacks = np.column_stack([sizes, np.full(sizes.size, 1 / sizes.size)])
    while stacks[:, 0].max() > GRAIN:
        if rules.split_depth is not None:
            if level >= rules.split_depth:
                break
        elif len(stacks) >= wanted or visited >= SPLIT_NODES:
            break
        visited += len(stacks)
        stacks = _expand(stacks, tables)
        level += 1
    return stacks, visited


_piece_bounds = kernel(piece_bounds)
_task_nodes = kernel(task_nodes)


@kernel
def _seed(seed):
    """Seed the random numbers of compiled code, which are separate from numpy's."""
    np.random.seed(seed)


@kernel
def _sample(size, tables):
    """Draw the children of a subtree; return the bounds of their shares among all shares."""
    bounds, first, last = tables[1], tables[2], tables[3]
    c = min(first.size - 1, max(0, int(np.log2(max(1.0, size)))))
    k = np.random.randint(first[c], last[c])
    return bounds[k], bounds[k + 1]


@kernel
def _expand(stacks, tables):
    """Replace every subtree by the subtrees of its children."""
    shares, out, n = tables[0], np.empty((2 * len(stacks), 2)), 0
    for s in range(len(stacks)):
        size, weight = stacks[s]
        if size <= GRAIN:
            out = _appended(out, n, size, weight)
            n += 1
            continue
        begin, end = _sample(size, tables)
        for x in range(begin, end):
            if shares[x] > 0.0:
                out = _appended(out, n, shares[x] * size, weight / (end - begin))
                n += 1
    return out[:n]


@kernel
def _appended(stacks, n, size, weight):
    """Write a stack after the first n; return the array, or a longer copy of it."""
    if n == len(stacks):
        longer = np.empty((2 * n, 2))
        longer[:n] = stacks
        stacks = longer
    stacks[n] = size, weight
    return stacks


@kernel
def _cut(size, weight, visited, tables):
    """Return the stacks left of a subtree after some of its nodes, the last in tree order first."""
    shares, right, n = tables[0], np.empty((16, 2)), 0
    while size > GRAIN:
        begin, end = _sample(size, tables)
        weight /= end - begin
        x, passed = begin, 0.0
        while x < end - 1 and passed + shares[x] * size <= visited:
            passed += shares[x] * size
            x += 1
        for y in range(end - 1, x, -1):
            if shares[y] > 0.0:
                right = _appended(right, n, shares[y] * size, weight)
                n += 1
        visited, size = visited - passed, shares[x] * size
    if size > visited:
        right = _appended(right, n, size - visited, weight)
        n += 1
    return right[:n]


@kernel
def _search(stacks, budget, tables):
    """Search stacks, the first in tree order last; return the nodes visited and the stacks left."""
    visited, n = 0.0, len(stacks)
    while n and visited + stacks[n - 1, 0] <= budget:
        n -= 1
        visited += stacks[n, 0]
    left = budget - visited
    if n == 0 or left <= 0.0:
        return visited, stacks[:n].copy()
    size, weight = stacks[n - 1]
    return budget, np.concatenate((stacks[: n - 1], _cut(size, weight, left, tables)))


@kernel
def _put_back(part, waiting, lengths, wanted, most_stacks):
    """Push stacks, the last in tree order first, on the queue, cut up as the scheduler does."""
    n = len(part)
    if n == 0:
        return
    for x in range(n):
        waiting.append((part[x, 0], part[x, 1]))
    bounds = _piece_bounds(part[::-1, 1].copy(), wanted - len(lengths), most_stacks)
    for k in range(bounds.size - 1, 0, -1):
        lengths.append(bounds[k] - bounds[k - 1])


@kernel
def _draw(waiting, lengths):
    """Pop the piece on top of the queue."""
    n = lengths.pop()
    piece = np.empty((n, 2))
    for x in range(n - 1, -1, -1):
        piece[x] = waiting.pop()
    return piece


@kernel
def _run(sizes, workers, seconds, fixed, budgets, pieces, out_bounds, most_tasks, tables):
    """Run the events of a search; return its seconds, nodes, tasks and rounds.

    A worker that ends a task draws the next at once. Its result waits for the master, which takes
    results in the order in which they arrive and puts the stacks left back into the queue. As in
    joblib, the first draw that finds nothing ends the round: the next draw comes after all results.
    """
    per_node, overhead, master = seconds
    full_budget, least, first_budget = budgets
    wanted, most_stacks = pieces
    ahead, most_out = out_bounds
    waiting, lengths = [(0.0, 0.0) for _ in range(0)], [0 for _ in range(0)]
    _put_back(sizes[::-1].copy(), waiting, lengths, wanted, most_stacks)
    # slot of a task -> the stacks that it leaves
    leaves = [np.empty((0, 2)) for _ in range(most_out)]
    free_slots = list(range(most_out - 1, -1, -1))
    ends = [(0.0, 0) for _ in range(0)]  # a heap: when a running task ends, and its slot
    results = np.empty(most_out, np.int64)  # a ring of slots whose results wait for the master
    arrived = np.empty(most_out)
    head, n_results = 0, 0
    queue = np.empty(most_out, np.int64)  # a ring of slots whose tasks wait for a worker
    lasts = np.empty(most_out)  # slot of a task -> its duration
    q_head, n_queue = 0, 0
    idle, out, tasks, rounds = workers, 0, 0, 0
    now, master_free, accepted_any, searched = 0.0, 0.0, False, 0.0
    while len(lengths) and tasks < most_tasks:
        rounds += 1
        drawing, begins, to_draw = True, True, ahead
        while True:
            # draw `ahead` tasks at the beginning of a round, then one for every task that ends
            while to_draw and drawing:
                if not len(lengths) or out >= most_out:
                    drawing = begins
                    break
                if fixed >= 0.0:
                    budget = fixed
                elif not accepted_any:
                    budget = first_budget
                else:
                    budget = _task_nodes(len(lengths) / wanted, full_budget, least)
                visited, rest = _search(_draw(waiting, lengths), budget, tables)
                slot = free_slots.pop()
                leaves[slot] = rest
                place = (q_head + n_queue) % most_out
                queue[place] = slot
                lasts[slot] = visited * per_node
                n_queue += 1
                out += 1
                tasks += 1
                searched += visited
                to_draw -= 1
            begins, to_draw = False, 0
            # start a task on every idle worker
            while idle and n_queue:
                slot = queue[q_head]
                q_head = (q_head + 1) % most_out
                n_queue -= 1
                idle -= 1
                heapq.heappush(ends, (now + overhead + lasts[slot], slot))
            if out == 0 or tasks >= most_tasks:
                break
            # the next event: the master accepts a result, or a worker ends a task
            next_end = ends[0][0] if len(ends) else np.inf
            if n_results:
                accept_at = max(master_free, arrived[results[head]]) + master
            else:
                accept_at = np.inf
            if accept_at <= next_end:
                now = master_free = accept_at
                slot = results[head]
                head = (head + 1) % most_out
                n_results -= 1
                _put_back(leaves[slot], waiting, lengths, wanted, most_stacks)
                leaves[slot] = np.empty((0, 2))
                free_slots.append(slot)
                out -= 1
                accepted_any = True
            else:
                now, slot = heapq.heappop(ends)
                results[(head + n_results) % most_out] = slot
                arrived[slot] = now
                n_results += 1
                idle += 1
                to_draw = 1
    return now, searched, tasks, rounds
