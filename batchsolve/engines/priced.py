"""The cheapest covers: problems whose options are numbered by cost.

The search is that of `batchsolve.engines.bounded`. Options are numbered by their cost per item (see
`batchsolve.problems.attributes.Pricing`), so that the cheapest are tried first and the order of the
tree is that of numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from batchsolve.engines import frame
from batchsolve.engines.bounded import Prices, search_bounded, usage_of
from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.links import links_of
from batchsolve.engines.prepared import Prepared
from batchsolve.problems.attributes import Pricing
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks


class _Ranked(NamedTuple):
    """A problem whose options are numbered by cost, with their costs in that order."""

    problem: ExactCover
    pricing: Pricing
    net: npt.NDArray[np.int64]
    share: npt.NDArray[np.int64]
    total: int  # upper bound of the cost of a cover


def _ranked(problem: ExactCover) -> _Ranked:
    """Return a problem with its options in the order in which they are tried."""
    assert problem.costs is not None
    pricing = Pricing.of(problem)
    order = pricing.order
    sizes = np.diff(problem.indptr)[order]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    # entry of the new problem -> entry of the old one
    entries = np.arange(indptr[-1]) + np.repeat(problem.indptr[order] - indptr[:-1], sizes)
    again = ExactCover(
        indptr,
        problem.indices[entries],
        problem.n_items,
        problem.n_primary,
        colors=None if problem.colors is None else problem.colors[entries],
        bounds=problem.bounds,
    )
    total = int(problem.costs.sum())
    return _Ranked(again, pricing, pricing.net[order], pricing.share[order], total)


_RANKED = Prepared(_ranked)


def search_cheapest(problem: ExactCover, task: Task) -> Outcome:
    """Search a task for the cheapest covers."""
    assert task.ceilings is not None
    ranked, pricing, net, share, total = _RANKED.of(problem)
    prices = Prices(
        net,
        share,
        (np.minimum(task.ceilings, total) - pricing.base) * pricing.scale,
        np.zeros(task.cheapest, np.int64),
        np.zeros(2, np.int64),
        np.zeros(problem.n_options + 2, np.int64),
    )
    arrays = links_of(ranked), usage_of(ranked), prices
    stacks = _renumbered(task.stacks, pricing.rank)
    outcome = frame.search_task(search_bounded, arrays, replace(task, stacks=stacks))
    return replace(
        outcome,
        solutions=_renumbered(outcome.solutions, pricing.order),
        frontier=_renumbered(outcome.frontier, pricing.order),
    )


def _renumbered(stacks: Stacks, number: npt.NDArray[np.uint32]) -> Stacks:
    """Return stacks with their options renumbered, excluded ones too."""
    n = number.size
    table = np.concatenate([number, number + np.uint32(n)])
    # the kernel reports options that do not exist
    known = stacks.options < 2 * n
    options = np.where(known, table[np.where(known, stacks.options, 0)], stacks.options)
    return replace(stacks, options=options.astype(np.uint32))
