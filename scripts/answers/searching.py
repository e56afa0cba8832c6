"""Calls of an engine, and the records of their outcomes.

Only the contract of engines is used (`batchsolve.engines`), so that a case says the same of every
engine that keeps it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice
from typing import Any

import numpy as np

from answers.cases import Answer, of_floats, of_numbers, of_stacks
from batchsolve import ExactCover, Stacks
from batchsolve.engines import UNLIMITED, Engine, Outcome, Task, get_engine

ONLY_COUNTS = ("sat",)
"""Engines of whose outcomes only counts and clashes are recorded."""

WIDE = ("lanes",)
"""Engines that search many stacks at once: where a budget or a room cuts them depends on the
machine, and so does the order of roots."""

MOST_ROUNDS = 100_000


def prepared(name: str) -> Engine:
    """Return an engine that begins without knowledge from earlier searches."""
    return get_engine(name).for_run()


def can(engine: str, what: str) -> Any:
    """Return a capability of an engine; its module is not imported."""
    return getattr(get_engine(engine), what)


def once(engine: str, problem: ExactCover, task: Task) -> Answer:
    """Search a task, and return its outcome."""
    return recorded(engine, prepared(engine).search(problem, task))


def recorded(engine: str, outcome: Outcome) -> Answer:
    """Return the parts of an outcome."""
    answer = {"counts": of_numbers(outcome.counts), "clash": of_numbers(outcome.clash)}
    if engine in ONLY_COUNTS:
        return answer
    answer["nodes"] = of_numbers(outcome.nodes)
    if len(outcome.solutions):
        answer["covers"] = of_stacks(outcome.solutions, by_root=engine in WIDE)
    if len(outcome.frontier):
        order = np.arange(len(outcome.frontier))
        if engine in WIDE:
            order = np.argsort(outcome.frontier.roots, kind="stable")
        answer["frontier"] = of_stacks(outcome.frontier.take(order))
        answer["weights"] = of_floats(outcome.weights[order])
        answer["parents"] = of_numbers(outcome.parents[order])
    if outcome.tree_nodes is not None:
        answer["tree_nodes"] = of_floats(outcome.tree_nodes)
    return answer


def to_the_end(
    engine: str,
    problem: ExactCover,
    task: Task,
    budgets: Sequence[int],
    depths: Sequence[int] = (UNLIMITED,),
) -> Answer:
    """Search from frontier to frontier, with budgets and depths in turn; return sums for each root.

    The covers are in the order in which they were found, or sorted for engines that are `WIDE`.
    The limits, `keep`, `room` and `cheapest` are those of the task.
    """
    search, found, stacks = prepared(engine), list[Stacks](), task.stacks
    counts, nodes = Counter[int](), Counter[int]()
    limits = dict(zip(stacks.roots.tolist(), task.limits.tolist(), strict=True))
    for budget, depth in islice(zip(cycle(budgets), cycle(depths), strict=False), MOST_ROUNDS):
        outcome = search.search(problem, _rest(task, stacks, limits, counts, budget, depth))
        found.append(outcome.solutions)
        for k, root in enumerate(stacks.roots.tolist()):
            counts[root] += int(outcome.counts[k])
            nodes[root] += int(outcome.nodes[k])
        stacks = outcome.frontier
        if not len(stacks):
            break
    assert not len(stacks), f"not at its end after {MOST_ROUNDS:,} rounds"
    answer = {"counts": of_numbers([counts[root] for root in limits])}
    if engine not in ONLY_COUNTS:
        answer["nodes"] = of_numbers([nodes[root] for root in limits])
    if task.keep:
        answer["covers"] = of_stacks(Stacks.concatenate(found), as_sets=engine in WIDE)
    return answer


def _rest(
    task: Task,
    stacks: Stacks,
    limits: dict[int, int],
    counts: Counter[int],
    budget: int,
    depth: int,
) -> Task:
    """Return the task of the remaining stacks of another, with the covers still wanted."""
    left = [
        UNLIMITED if limits[root] == UNLIMITED else limits[root] - counts[root]
        for root in stacks.roots.tolist()
    ]
    ceilings = None if task.ceilings is None else np.full(len(stacks), UNLIMITED)
    each = Task.of(stacks, budget=budget, depth=depth, keep=task.keep, room=task.room)
    return replace(each, limits=np.array(left, np.int64), cheapest=task.cheapest, ceilings=ceilings)
