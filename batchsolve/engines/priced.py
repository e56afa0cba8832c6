"""The cheapest covers: problems whose options are numbered by cost, and the upper bounds of costs.

The search is that of `batchsolve.engines.bounded`. Options are numbered by their cost per item (see
`batchsolve.problems.attributes.Pricing`), so that the cheapest are tried first and the order of the
tree is that of numbers.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from batchsolve.engines.contract import Task
from batchsolve.engines.frame import prepared
from batchsolve.kernels import helper, inlined
from batchsolve.problems.attributes import Pricing
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks

CEILING, FOUND = range(2)
"""The fields of `Prices.state`: the upper bound of costs; the number of costs in `Prices.best`."""


class Prices(NamedTuple):
    """The scaled costs of options, and the upper bounds of the costs of covers."""

    net: np.ndarray  # option -> as in `Pricing`
    share: np.ndarray
    ceilings: np.ndarray  # stack -> upper bound of the cost of a cover below it
    best: np.ndarray  # the costs of the cheapest covers found in this task, ascending
    state: np.ndarray
    spent: np.ndarray  # level -> the cost of the options above it


def in_order(problem: ExactCover, options: npt.NDArray[np.integer]) -> ExactCover:
    """Return a problem with all of its options in another order, without names and costs."""
    sizes = np.diff(problem.indptr)[options]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    # entry of the new problem -> entry of the old one
    entries = np.arange(indptr[-1]) + np.repeat(problem.indptr[options] - indptr[:-1], sizes)
    return ExactCover(
        indptr,
        problem.indices[entries],
        problem.n_items,
        problem.n_primary,
        colors=None if problem.colors is None else problem.colors[entries],
        bounds=problem.bounds,
    )


@prepared
def ranked(problem: ExactCover) -> tuple[ExactCover, Pricing]:
    """Return a problem with its options in the order in which they are tried, and the pricing.

    Net costs and shares are in that order too.
    """
    pricing = Pricing.of(problem)
    order = pricing.order
    by_cost = replace(pricing, net=pricing.net[order], share=pricing.share[order])
    return in_order(problem, order), by_cost


def prices_of(problem: ExactCover, pricing: Pricing, task: Task) -> Prices:
    """Return the prices for one search of a problem, its options numbered by cost."""
    assert task.ceilings is not None
    assert problem.costs is not None
    ceilings = np.minimum(task.ceilings, problem.costs.sum())  # no cover costs more
    return Prices(
        pricing.net,
        pricing.share,
        (ceilings - pricing.base) * pricing.scale,
        np.zeros(task.cheapest, np.int64),
        np.zeros(2, np.int64),
        np.zeros(problem.n_options + 2, np.int64),
    )


def renumbered(stacks: Stacks, number: npt.NDArray[np.uint32]) -> Stacks:
    """Return stacks with their options renumbered, excluded ones too."""
    n = number.size
    table = np.concatenate([number, number + np.uint32(n)])
    # the kernel reports options that do not exist
    known = stacks.options < 2 * n
    options = np.where(known, table[np.where(known, stacks.options, 0)], stacks.options)
    return replace(stacks, options=options.astype(np.uint32))


@helper
def begin_to_spend(stack, k, prices):
    """Record the cost of the options that stack `k` takes, and the upper bound below it."""
    if prices is None:
        return
    best, state, cost = prices.best, prices.state, np.int64(0)
    for o in stack:
        if o < prices.net.size:
            cost += prices.net[o]
    prices.spent[0] = cost
    state[CEILING] = prices.ceilings[k]
    if state[FOUND] == best.size:
        state[CEILING] = min(state[CEILING], best[best.size - 1] - 1)


@inlined
def least_share(i, links, prices):
    """Return the least cost share of the options of an item, which has one or more."""
    if prices is None:
        return np.int64(0)
    return prices.share[links.option[links.down[i]]]


@inlined
def is_too_dear(cost, level, prices):
    """Tell whether the cost above a level plus another cost exceeds the upper bound."""
    if prices is None:
        return False
    return prices.spent[level] + cost > prices.state[CEILING]


@helper
def note_cover(level, prices):
    """Record the cost of a cover; lower the upper bound once enough covers are found."""
    if prices is None:
        return
    cost = prices.spent[level]
    best, state = prices.best, prices.state
    at = min(state[FOUND], best.size - 1)
    if state[FOUND] == best.size and cost >= best[at]:
        return
    while at > 0 and best[at - 1] > cost:
        best[at] = best[at - 1]
        at -= 1
    best[at] = cost
    state[FOUND] = min(state[FOUND] + 1, best.size)
    if state[FOUND] == best.size:
        state[CEILING] = min(state[CEILING], best[best.size - 1] - 1)
