"""A simulation of `TreeSearch` on any number of workers, on a virtual clock.

The real scheduler hands out the tasks and cuts what they leave; the tree, the workers and the time
are simulated. The tree is a line: a subtree of s nodes is s units of work in tree order. A budget
that runs out within it leaves the subtrees to the right of the path on which the search stopped, in
ranges as an engine leaves them. Smaller subtrees are drawn from a `Shape`.
"""

from __future__ import annotations

import heapq
from bisect import bisect
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, ClassVar

import numpy as np

from batchsolve.core.arrays import Floats
from batchsolve.core.interrupts import check_interrupt
from batchsolve.scaling.tree_shape import GRAIN, Shape, Subtrees
from batchsolve.search.scheduler import (
    SPLIT_NODES,
    STACKS_PER_WORKER,
    Result,
    Scheduler,
    Sizing,
    fineness_of,
    piece_bounds,
    run_round,
)
from batchsolve.search.tree import FIRST_NODES
from batchsolve.workers import Done
from batchsolve.workers.base import RESULT_SECONDS, TASKS_OUT

MOST_TASKS = 200_000  # or 10 for every worker, if that is more; takes about 4 seconds


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
    >>> even = Shape.of([(1.0, np.ones(3))])  # three children of equal size at each node
    >>> round(simulate(1e9, 4, Costs(rate=1e6), even).efficiency, 3)
    1.0
    """
    check_interrupt()
    subtrees = Subtrees(shape)
    tree = _Tree(subtrees, costs.rate)
    stacks, visited, first = _split(nodes, workers, split_depth, budget, subtrees)
    sizing = sizing or Sizing.of(workers, costs.assumed)
    scheduler = Scheduler(tree, workers, budget, sizing=sizing)
    scheduler.add(_Subtrees(stacks))
    most = max(MOST_TASKS, 10 * workers)
    now, searched = first / costs.rate, 0.0
    marks = [(now, searched)]  # after every task
    while not scheduler.is_empty and len(marks) <= most:
        for done in run_round(scheduler, _results(scheduler, workers, costs, now)):
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
        number, found = at_hand.popleft()
        heapq.heappush(events, (now + costs.overhead + found.seconds, True, number, found))

    for _ in range(min(jobs, len(at_hand))):
        begin(now)
    while events:
        now, is_end, number, found = heapq.heappop(events)
        if is_end:
            master_free = max(master_free, now) + costs.master
            heapq.heappush(events, (master_free, False, number, found))
            at_hand.extend(islice(more, 1))
            if at_hand:
                begin(now)
        else:
            yield Done(number, None, found, now, found.seconds, "")


@dataclass(frozen=True, eq=False)
class _Subtrees:
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

    def cut(self, n_pieces: int, most_stacks: int) -> list[_Subtrees]:
        """Cut into at most `n_pieces` of about equal weight; see `batchsolve.search.scheduler`."""
        if not len(self.stacks):
            return []
        bounds = piece_bounds(self.stacks[:, 1], n_pieces, most_stacks)
        return [_Subtrees(self.stacks[begin:end]) for begin, end in pairwise(bounds.tolist())]


class _Tree:
    """The goal of a simulated search; it finds the results, too."""

    enough: ClassVar[bool] = False

    def __init__(self, subtrees: Subtrees, rate: float) -> None:
        self._subtrees, self._rate = subtrees, rate

    def begin(self, piece: _Subtrees, budget: int, promised: int) -> tuple[_Subtrees, Result]:
        """Search a piece."""
        fineness = fineness_of(piece.stacks[:, 1])
        visited, left = self._subtrees.search(piece.stacks, float(budget), fineness)
        return piece, Result(None, int(visited), visited / self._rate, left=[_Subtrees(left)])

    def accept(self, piece: _Subtrees, result: Result) -> list[Any]:
        """Return the remaining pieces of a piece."""
        return result.left

    def lose(self, piece: _Subtrees, reason: str) -> list[_Subtrees]:
        """Fail, because simulated workers lose nothing."""
        raise AssertionError(reason)


def _split(
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
    if len(stacks) < wanted and stacks[:, 0].max() > GRAIN:
        few = float(min(FIRST_NODES, budget or FIRST_NODES))
        first, stacks = subtrees.search(stacks, few, np.full(len(stacks), 2.0 * wanted))
    while 0 < len(stacks) < wanted and visited < SPLIT_NODES and stacks[:, 0].max() > GRAIN:
        visited += len(stacks)
        stacks = subtrees.expand(stacks, 1.0 + wanted // len(stacks))
    return stacks, visited, first
