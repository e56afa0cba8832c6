"""The first covers of a problem, in tree order."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from batchsolve.engines import Task
from batchsolve.engines.choice import engines_for
from batchsolve.errors import InputError, counted
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.runs.reading import problem_and_stack
from batchsolve.search.tree import Trial
from batchsolve.settings import UNLIMITED, SearchSettings

BUDGET = 100_000  # nodes per task: less than a second, so that Ctrl-C and limits are noticed


@dataclass(frozen=True, eq=False)
class FirstCovers:
    """The result of a search for the first covers.

    Attributes
    ----------
    covers : list of ndarray of uint32
        In tree order.
    complete : bool
        True if all wanted covers were found, or all that exist.
    nodes : int
        Nodes visited.
    seconds : float
    engine : str
        The engine that searched last.
    """

    covers: list[npt.NDArray[np.uint32]]
    complete: bool
    nodes: int
    seconds: float
    engine: str

    def __str__(self) -> str:
        state = "" if self.complete else ", not complete"
        found = counted(len(self.covers), "solution")
        return f"{found}{state}; {counted(self.nodes, 'node')}; {self.seconds:.1f} s"


def first_covers(
    problem: ExactCover,
    stack: Sequence[int] | npt.NDArray[np.uint32] = (),
    *,
    limit: int,
    on_progress: Callable[[int, int], None] = lambda covers, nodes: None,
    search: SearchSettings | None = None,
) -> FirstCovers:
    """Find the first covers of a problem, in tree order.

    One worker searches, because a cover is known to be among the first only once everything before
    it was searched. Engines that search the same tree take turns until the fastest is known.

    Parameters
    ----------
    problem : ExactCover
    stack : sequence of int
        The options that the covers must contain.
    limit : int
        The largest number of covers to find.
    on_progress : callable
        Called with the number of covers and the number of nodes so far.
    search : SearchSettings, optional
        Limits on nodes and time, the budget, and the engine.

    Raises
    ------
    ProblemError
        If the stack is not a partial cover.
    InputError
        If the engine is unknown or only counts.

    Examples
    --------
    >>> from batchsolve.problems.families import dominoes
    >>> [sorted(cover.tolist()) for cover in first_covers(dominoes(2, 3), limit=2).covers]
    [[0, 4, 5], [1, 2, 6]]
    """
    settings = search or SearchSettings()
    engines = engines_for(settings.engine, problem)
    if engines[0].capabilities.counts_only:
        raise InputError(f"the engine {engines[0].name!r} only counts; name another")
    problem, left = problem_and_stack(problem, stack)
    most_nodes = UNLIMITED if settings.node_limit is None else settings.node_limit
    seconds = float("inf") if settings.time_limit is None else settings.time_limit
    begin = time.monotonic()
    covers: list[npt.NDArray[np.uint32]] = []
    nodes = 0
    trial, engine = Trial(engines, settings.budget), engines[0]
    turns = iter(trial)
    while len(left) and len(covers) < limit:
        spent = time.monotonic() - begin
        if nodes >= most_nodes or spent >= seconds:
            break
        turn = next(turns, None)  # ends the trial before the fastest is asked for
        engine, budget = turn or (trial.fastest, settings.budget or BUDGET)
        wanted = limit - len(covers)
        # with one root, all stacks share the limit and are searched in order
        task = Task.of(
            left.with_roots(np.zeros(len(left), np.int64)),
            limit=wanted,
            budget=min(budget, most_nodes - nodes),
            keep=wanted,
        )
        outcome = engine.search(problem, task)
        visited = int(outcome.nodes.sum())
        trial.learn(visited, time.monotonic() - begin - spent)
        nodes += visited
        covers += [cover.copy() for cover in outcome.solutions]
        left = outcome.frontier
        on_progress(len(covers), nodes)
    complete = len(covers) >= limit or not len(left)
    return FirstCovers(covers, complete, nodes, time.monotonic() - begin, engine.name)
