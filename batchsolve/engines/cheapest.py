"""The cheapest covers: problems whose options are numbered by what they cost.

The search is that of `batchsolve.engines.bounded`. Options are numbered by what they cost for each
of their items (`batchsolve.problems.costs.Pricing`), so that the cheapest are tried first and the
order of the tree is that of numbers.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from batchsolve.engines.bounded import Prices, search_bounded, usage_of
from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.links import links_of
from batchsolve.engines.task_state import search_task
from batchsolve.problems.costs import Pricing
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks


class _Ranked(NamedTuple):
    """A problem whose options are numbered by what they cost."""

    problem: ExactCover
    pricing: Pricing
    total: int  # what no cover costs more than


_PREPARED: OrderedDict[str, _Ranked] = OrderedDict()
_PREPARED_MOST = 8
_PREPARED_LOCK = threading.Lock()


def _ranked(problem: ExactCover) -> _Ranked:
    """Return a problem with its options in the order in which they are tried."""
    with _PREPARED_LOCK:
        ranked = _PREPARED.get(problem.fingerprint)
        if ranked is None:
            assert problem.costs is not None
            pricing = Pricing.of(problem)
            sizes = np.diff(problem.indptr)[pricing.order]
            indptr = np.concatenate([[0], np.cumsum(sizes)])
            # entry of the new problem -> entry of the old one
            entries = np.arange(indptr[-1]) + np.repeat(
                problem.indptr[pricing.order] - indptr[:-1], sizes
            )
            again = ExactCover(
                indptr,
                problem.indices[entries],
                problem.n_items,
                problem.n_primary,
                colors=None if problem.colors is None else problem.colors[entries],
                bounds=problem.bounds,
            )
            ranked = _Ranked(again, pricing, int(problem.costs.sum()))
            _PREPARED[problem.fingerprint] = ranked
        _PREPARED.move_to_end(problem.fingerprint)
        while len(_PREPARED) > _PREPARED_MOST:
            _PREPARED.popitem(last=False)
        return ranked


def search_cheapest(problem: ExactCover, task: Task) -> Outcome:
    """Search a task for the cheapest covers."""
    assert task.ceilings is not None
    ranked, pricing, total = _ranked(problem)
    ceilings = (np.minimum(task.ceilings, total) - pricing.base) * pricing.scale
    prices = Prices(
        pricing.net[pricing.order],
        pricing.share[pricing.order],
        ceilings,
        np.zeros(task.cheapest, np.int64),
        np.zeros(2, np.int64),
        np.zeros(problem.n_options + 2, np.int64),
    )
    arrays = links_of(ranked), usage_of(ranked), prices
    outcome = search_task(
        search_bounded, arrays, replace(task, stacks=_renumbered(task.stacks, pricing.rank))
    )
    return replace(
        outcome,
        solutions=_renumbered(outcome.solutions, pricing.order),
        frontier=_renumbered(outcome.frontier, pricing.order),
    )


def _renumbered(stacks: Stacks, number: npt.NDArray[np.uint32]) -> Stacks:
    """Return stacks with other numbers of their options, also of those refused."""
    n = number.size
    table = np.concatenate([number, number + np.uint32(n)])
    # an option that does not exist is for the kernel to find
    known = stacks.options < 2 * n
    options = np.where(known, table[np.where(known, stacks.options, 0)], stacks.options)
    return replace(stacks, options=options.astype(np.uint32))
