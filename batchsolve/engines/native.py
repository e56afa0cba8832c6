"""The engines of the native core for exact covers: problems and tasks in, outcomes out.

The searches are those of `batchsolve/core`: `links.h`, `bits.h` and `sparse.h`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from batchsolve.core import native
from batchsolve.engines.branching import handicaps_of
from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.frame import prepared
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.small import SmallProblems
from batchsolve.problems.stacks import Searchable, Stacks

MOST_OPTIONS = 40_000  # that a stack may leave to `bits`; their conflicts take 200 MB
_NO_WORDS = np.empty(0, np.uint32)
_NO_BOUNDS = np.empty(0, np.int64)


def _core_problem(problem: ExactCover) -> Any:
    """Return a problem as the core takes it."""
    return native.Problem(
        problem.indptr,
        problem.indices,
        _NO_WORDS if problem.colors is None else problem.colors,
        _NO_BOUNDS if problem.bounds is None else problem.bounds.reshape(-1),
        problem.n_items,
        problem.n_primary,
    )


core_problem = prepared(_core_problem)
"""`_core_problem`, which keeps the last few."""


def core_task(task: Task) -> Any:
    """Return a task as the core takes it."""
    stacks = task.stacks
    return native.Task(
        stacks.offsets,
        stacks.options,
        stacks.roots,
        task.limits,
        task.allowances,
        task.budget,
        task.depth,
        task.keep,
        task.room,
    )


def outcome_of(found: Any, task: Task) -> Outcome:
    """Return the outcome of a task that the core has searched."""
    counts, nodes, clash, covers, frontier, weights = found
    roots = task.stacks.roots
    solutions, left = (
        Stacks(offsets, options, roots[parents]) for offsets, options, parents in (covers, frontier)
    )
    return Outcome(counts, nodes, clash, solutions, left, weights, frontier[2])


def _links(problem: ExactCover, rule: str) -> Any:
    handicaps = handicaps_of(problem, rule) if rule else _NO_WORDS
    return native.links(_core_problem(problem), handicaps)


_prepared_links = prepared(lambda problem: _links(problem, ""))


def search_links(problem: Searchable, task: Task, rule: str = "") -> Outcome:
    """Search a task by dancing links under a branching rule; see `batchsolve.engines.contract`."""
    if isinstance(problem, SmallProblems):
        each = [_links(one, rule) for one in problem.problems]
        places = problem.places_of(task.stacks.roots)
    elif task.cheapest or problem.bounds is not None:
        from batchsolve.engines import bounded  # compiled when first needed

        return bounded.search(problem, task, rule)
    else:
        each = [_links(problem, rule) if rule else _prepared_links(problem)]
        places = np.zeros(len(task.stacks), np.int64)
    return outcome_of(native.search_links(each, places, core_task(task)), task)


def search_bits(problem: ExactCover, task: Task) -> Outcome:
    """Search a task bit-parallel; see `batchsolve.engines.contract`.

    A task with a stack that leaves more than `MOST_OPTIONS` options is left to dancing links, which
    search the same tree: the matrix of conflicts would not fit into memory.
    """
    if problem.bounds is not None:
        from batchsolve.engines import bounded_bits  # compiled when first needed

        return bounded_bits.search(problem, task)
    return _search_residuals(native.search_bits, problem, task, MOST_OPTIONS)


def search_cells(problem: ExactCover, task: Task) -> Outcome:
    """Search a task with a cell for each item; see `batchsolve.engines.contract`.

    A task with a stack that leaves too many options, or a problem with too many primary items, is
    left to dancing links, which search the same tree.
    """
    if problem.n_primary >= native.MOST_SPARSE_ITEMS:
        return search_links(problem, task)
    return _search_residuals(native.search_sparse, problem, task, native.MOST_SPARSE_OPTIONS - 1)


def _search_residuals(search: Any, problem: ExactCover, task: Task, most_options: int) -> Outcome:
    in_core, task_in_core = core_problem(problem), core_task(task)
    if native.leaves_more(in_core, task_in_core, most_options):
        return search_links(problem, task)
    return outcome_of(search(in_core, task_in_core), task)
