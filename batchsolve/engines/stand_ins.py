"""Engines in Python that stand in for engines whose kernels have to be compiled.

Compiling takes seconds. A process of its own does it, and meanwhile an engine in Python that visits
the same nodes searches: a small tree is done before. If a tree is not small, an engine that is
compiled in a second and has the same tree searches the task (`Registered.meanwhile`); or else the
kernel does, from the start.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

import numpy as np

from batchsolve import rehearsals
from batchsolve.engines.contract import (
    MRV_TREE,
    Engine,
    Outcome,
    Registered,
    Task,
    check_support,
    registered,
)
from batchsolve.errors import InputError
from batchsolve.kernels import AWAITS, NotAtHandError, at_hand
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.stacks import Searchable, Stacks
from batchsolve.settings import UNLIMITED

MOST_ENTRIES = 65_000  # of a problem; an engine in Python prepares them in 0.04 s
MOST_SECONDS = 2.0 * (not AWAITS)  # in all; longer searches wait for their kernels
MOST_BITS = 2**28  # of the sets of an engine that searches meanwhile; prepared in 0.1 s
DELAY = 3.0  # seconds of its search before another is compiled beside it; most end before
NICENESS = 5  # of compiling beside a search that goes on; it gets a third of the time

_SEEN: set[tuple[str, int, int]] = set()  # engines, and the cells and digits of grids
_REPLACED: set[str] = set()  # engines in whose place another one searches meanwhile
_seconds_spent = 0.0


class TooLongError(Exception):
    """A stand-in has had its time."""


def check_time(begin: float) -> None:
    """Raise `TooLongError` if stand-ins have had their time, and one of them since `begin`."""
    if _seconds_spent + time.thread_time() - begin >= MOST_SECONDS:
        raise TooLongError


@contextmanager
def measured() -> Iterator[Callable[[], None]]:
    """Count the time in the block as that of a stand-in; the value is `check_time` for it.

    Raises
    ------
    TooLongError
        At once in workers: they compile, or wait for each other.
    """
    global _seconds_spent
    begin = time.thread_time()
    if multiprocessing.parent_process() is not None:
        raise TooLongError
    try:
        yield partial(check_time, begin)
    finally:
        _seconds_spent += time.thread_time() - begin


def search(
    name: str,
    by_kernel: Callable[[Searchable, Task], Outcome],
    stand_in: Registered,
    problem: Searchable,
    task: Task,
    meanwhile: str = "",
) -> Outcome:
    """Search a task by the kernel of an engine, or by its stand-in if that finishes before.

    Parameters
    ----------
    name : str
        The name of the engine.
    by_kernel : callable
    stand_in : Registered
        Visits the same nodes.
    problem : ExactCover or SmallProblems
    task : Task
    meanwhile : str
        The engine that searches a task that the stand-in does not finish; empty if none does.
    """
    if not _is_replaced(name):
        with suppress(NotAtHandError), at_hand():
            return by_kernel(problem, task)
    other = None if task.cheapest else _other(meanwhile, problem)
    may_search = _may_search(stand_in, problem, task) and not (other and _is_replaced(name))
    if other or may_search:
        first_node = partial(by_kernel, problem, replace(task, budget=1))
        begins_late = other is not None
        rehearsals.begin(name, first_node, NICENESS * begins_late, DELAY * begins_late)
    if may_search:
        few = replace(task, budget=min(task.budget, stand_in.few_nodes))
        with suppress(TooLongError), measured():
            outcome = stand_in.search(problem, few)
            is_within = outcome.nodes.sum() < few.budget
            if is_within or few.budget == task.budget:
                has_room = outcome.counts.sum() < task.room
                if stand_in.in_turn or (has_room and (is_within or task.unordered)):
                    return outcome
    if other and rehearsals.state_of(name) == "running":
        _REPLACED.add(name)
        return other.search(problem, task)
    return by_kernel(problem, task)


def _is_replaced(name: str) -> bool:
    """Tell whether another engine searches in the place of one that is being compiled."""
    return name in _REPLACED and rehearsals.state_of(name) == "running"


def _other(meanwhile: str, problem: Searchable) -> Registered | None:
    """Return the engine that searches meanwhile, if it takes a problem."""
    if (
        not meanwhile
        or MOST_SECONDS == 0
        or multiprocessing.parent_process() is not None
        or not isinstance(problem, ExactCover)
        or problem.bounds is not None
        or (8 * problem.n_items + problem.n_entries) * problem.n_options > MOST_BITS
    ):
        return None
    return registered(meanwhile)


def is_at_hand(
    engine: Engine,
    problem: ExactCover,
    stacks: Stacks,
    *,
    compiles: bool = True,
    niceness: int = NICENESS,
) -> bool:
    """Tell whether an engine can search a problem now.

    Parameters
    ----------
    engine : Engine
    problem : ExactCover
    stacks : Stacks
        Some stacks over the problem.
    compiles : bool
        True if a process of its own is to compile an engine that is not at hand.
    niceness : int
        The lower the priority of compiling, the higher.
    """
    if rehearsals.state_of(engine.name) == "running":
        return False
    search = getattr(engine, "compiled", engine.search)
    first_node = partial(search, problem, Task.of(stacks.between(0, 1), budget=1))
    try:
        with at_hand():
            first_node()
    except NotAtHandError:
        if compiles:
            rehearsals.begin(engine.name, first_node, niceness)
        return False
    return True


def at_once(engine: Engine, problem: ExactCover, task: Task) -> Outcome | None:
    """Search a task by an engine, or by its stand-in, but compile nothing.

    Return None if neither is possible.
    """
    compiled, stand_in = getattr(engine, "compiled", engine.search), _stand_in_of(engine)
    with suppress(NotAtHandError), at_hand():
        return compiled(problem, task)
    if stand_in and task.budget <= stand_in.few_nodes and _may_search(stand_in, problem, task):
        with suppress(TooLongError):
            return stand_in.search(problem, task)
    return None


def nodes_at_hand(engine: Engine, problem: ExactCover) -> int:
    """Return the nodes of a task that an engine can search without waiting for the compiler."""
    stand_in = _stand_in_of(engine)
    if (
        stand_in
        and stand_in.in_turn
        and rehearsals.state_of(engine.name) == "running"
        and not _other(getattr(engine, "meanwhile", ""), problem)
    ):
        return stand_in.few_nodes
    return UNLIMITED


def name_in_use(engine: Engine) -> str:
    """Return the name of an engine, or of one with another tree that has searched in its place."""
    if engine.capabilities.tree != MRV_TREE and _is_replaced(engine.name):
        return getattr(engine, "meanwhile", "") or engine.name
    return engine.name


def _stand_in_of(engine: Engine) -> Registered | None:
    stand_in = getattr(engine, "stand_in", None)
    return registered(stand_in) if isinstance(stand_in, str) and stand_in else stand_in or None


def compile_ahead(engine: Engine, problem: GridProblem) -> None:
    """Begin to compile an engine elsewhere, if it has to be, before the first rows are read."""
    form = engine.name, problem.n_cells, problem.n_digits
    if form not in _SEEN and multiprocessing.parent_process() is None:
        is_at_hand(engine, problem, Stacks.from_lists([[]]), niceness=0)
    _SEEN.add(form)


def _may_search(stand_in: Registered, problem: Searchable, task: Task) -> bool:
    """Tell whether a stand-in takes a task, which may be short, and has time for it."""
    roots = task.stacks.roots
    if (
        _seconds_spent >= MOST_SECONDS
        or problem.n_entries > MOST_ENTRIES
        or len(roots) > stand_in.few_nodes
        or task.cheapest
        or (task.any_order and len(roots) > len(np.unique(roots)))
        or multiprocessing.parent_process() is not None
    ):
        return False
    try:
        check_support(stand_in, problem)
    except InputError:
        return False
    return True
