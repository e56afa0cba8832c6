"""The engines of the native core for exact covers: problems and tasks in, outcomes out.

The searches are those of `batchsolve/core`: `links.h`, `bits.h`, `sparse.h`, `bounded.h`,
`bounded_bits.h` and `cheapest.h`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from batchsolve.core import native
from batchsolve.engines import UNLIMITED, Outcome, Task
from batchsolve.engines.item_order import handicaps_of
from batchsolve.engines.priced import ranked, renumbered, scaled_ceilings
from batchsolve.problems.exact_cover import ExactCover, prepared
from batchsolve.problems.stacks import NO_BRANCHES, Stacks

MOST_OPTIONS = 40_000  # that a stack may leave to `bits`; their conflicts take 200 MB
FREE_OPTIONS = 4_096  # whose conflicts take 3 milliseconds; more have to be worth it:
OPTIONS_A_NODE = 4  # that a task may visit
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


def core_task(task: Task) -> tuple[Any, ...]:
    """Return a task as the core takes it."""
    stacks = task.stacks
    bounds = task.budget, task.depth, task.keep, task.room
    fineness = np.full(len(stacks), task.fineness, np.int64)
    arrays = stacks.offsets, stacks.options, stacks.roots, stacks.branches.reshape(-1)
    in_core = *arrays, task.limits, task.allowances, fineness
    return in_core, *bounds, task.any_order, task.unordered


def outcome_of(found: Any, task: Task, covers_of: Callable[..., Stacks] = Stacks.made) -> Outcome:
    """Return the outcome of a task that the core has searched.

    `covers_of` makes the covers of their offsets, options and roots.
    """
    counts, nodes, clash, (*covers, rows), (offsets, options, parents), weights, branches = found
    roots = task.stacks.roots
    ranges = branches.reshape(-1, 3) if branches.size and branches.any() else NO_BRANCHES
    solutions = covers_of(*covers, roots[rows])
    frontier = Stacks.made(offsets, options, roots[parents], ranges)
    return Outcome(counts, nodes, clash, solutions, frontier, weights, parents)


def _links(problem: ExactCover, rule: str) -> Any:
    handicaps = handicaps_of(problem, rule) if rule else _NO_WORDS
    return native.links(_core_problem(problem), handicaps)


_prepared_links = prepared(lambda problem: _links(problem, ""))


def search_links(problem: ExactCover, task: Task, rule: str = "") -> Outcome:
    """Search a task by dancing links under a branching rule; see `batchsolve.engines`."""
    if task.cheapest:
        return _search_cheapest(problem, task)
    links = _links(problem, rule) if rule else _prepared_links(problem)
    return outcome_of(native.search_links(links, core_task(task)), task)


def _search_cheapest(problem: ExactCover, task: Task) -> Outcome:
    """Search for the cheapest covers, with options numbered by cost."""
    by_cost, pricing = ranked(problem)
    # of options in the order of their costs, ranges are none of option numbers
    again = replace(task, stacks=renumbered(task.stacks, pricing.rank), fineness=UNLIMITED)
    costs = pricing.scale, pricing.net, pricing.share, pricing.is_useless
    found = native.search_cheapest(
        core_problem(by_cost),
        (*costs, scaled_ceilings(problem, pricing, task), task.cheapest),
        core_task(again),
    )
    outcome = outcome_of(found, task)
    return replace(
        outcome,
        solutions=renumbered(outcome.solutions, pricing.order),
        frontier=renumbered(outcome.frontier, pricing.order),
    )


def search_bits(problem: ExactCover, task: Task) -> Outcome:
    """Search a task bit-parallel; see `batchsolve.engines`.

    Problems too large for the sets of bits, or for the nodes wanted, are left to dancing links,
    which search the same tree.
    """
    in_core, task_in_core = core_problem(problem), core_task(task)
    if problem.bounds is None:
        n_nodes = min(task.budget, int(task.allowances.max(initial=0)))
        worth = max(FREE_OPTIONS, OPTIONS_A_NODE * min(n_nodes, MOST_OPTIONS))
        found = native.search_bits(in_core, task_in_core, min(worth, MOST_OPTIONS))
    else:
        found = native.search_bounded_bits(in_core, task_in_core)
    return search_links(problem, task) if found is None else outcome_of(found, task)


def search_cells(problem: ExactCover, task: Task) -> Outcome:
    """Search a task with a cell for each item; see `batchsolve.engines`.

    Problems too large for the cells are left to dancing links, which search the same tree.
    """
    found = native.search_sparse(core_problem(problem), core_task(task))
    return search_links(problem, task) if found is None else outcome_of(found, task)
