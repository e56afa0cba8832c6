"""The cheapest covers: problems whose options are numbered by cost, and the upper bounds of costs.

The search is that of `batchsolve/core/cheapest.h`. Options are numbered by their cost per item (see
`Pricing`), so that the cheapest are tried first and the order of the tree is that of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.core import native
from batchsolve.core.arrays import begins_of
from batchsolve.engines import Task
from batchsolve.problems.exact_cover import ExactCover, owners_of, prepared
from batchsolve.problems.stacks import Stacks

SWEEPS = 30  # over the items, to find taxes; 100 sweeps make the sum of taxes 1 % larger
FRACTIONS = 1024  # of a unit of cost, for taxes
MOST_BYTES = 10**8  # read in one round that looks for useless options; 0.05 s
_MOST_SCALED = 2**61


@dataclass(frozen=True, eq=False)
class Pricing:
    """The costs of options in a form for a search for the cheapest covers.

    If every cover has a primary item in a fixed number of options, a *tax* on the item can be taken
    off the cost of every option that has it: all covers become cheaper by the same amount (Knuth,
    7.2.2.1). The rest of the cost of an option is its *net* cost. Its *share* is the net cost
    divided by the number of its primary items. A partial cover needs at least the sum of the least
    shares of its uncovered items.

    Attributes
    ----------
    base : int
        The sum of the taxes of a cover, scaled.
    scale : int
        The factor of taxes, net costs and shares, by which they are integers or little is lost by
        rounding down.
    net, share : ndarray of int64, shape (n_options,)
    is_useless : ndarray of bool, shape (n_options,)
        See `useless_options`.
    order : ndarray of uint32, shape (n_options,)
        The options by share, then by number: the order in which they are tried.
    rank : ndarray of uint32, shape (n_options,)
        The place of each option in that order.
    """

    base: int
    scale: int
    net: npt.NDArray[np.int64]
    share: npt.NDArray[np.int64]
    is_useless: npt.NDArray[np.bool_]
    order: npt.NDArray[np.uint32]
    rank: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, problem: ExactCover) -> Pricing:
        """Return the pricing of a problem with costs."""
        assert problem.costs is not None
        owner = owners_of(problem)
        n_primary = np.bincount(
            owner[problem.indices < problem.n_primary], minlength=problem.n_options
        )
        scale = lcm(*np.unique(n_primary[n_primary > 0]).tolist()) * FRACTIONS
        # taxes are at most the highest cost, and net costs (n + 1) ** 2 times that
        highest = max(1, int(problem.costs.max(initial=0)))
        most = _MOST_SCALED // (highest * (int(n_primary.max(initial=0)) + 1) ** 2)
        n_sweeps = SWEEPS
        if most < problem.n_options:
            n_sweeps, most = 0, _MOST_SCALED // max(1, int(problem.costs.sum()))
        else:
            most //= max(1, problem.n_options)
        scale = min(scale, most)
        net = problem.costs * scale
        fixed = np.ones(problem.n_primary, np.int64)
        if problem.bounds is not None:
            least, most_of = problem.bounds.T
            fixed = np.where(least == most_of, least, 0)
        is_useless = useless_options(problem)
        is_used = ~is_useless[owner]
        by_item = owner[is_used][np.argsort(problem.indices[is_used], kind="stable")]
        ends = begins_of(np.bincount(problem.indices[is_used], minlength=problem.n_items))
        base = native.take_taxes(by_item, ends, fixed, net, highest * scale, n_sweeps)
        share = net // np.maximum(n_primary, 1)
        order = np.lexsort([np.arange(problem.n_options), share]).astype(np.uint32)
        rank = np.empty_like(order)
        rank[order] = np.arange(problem.n_options)
        return cls(base, scale, net, share, is_useless, order, rank)

    def path(self, decisions: Sequence[int] | npt.NDArray[np.uint32]) -> tuple[int, ...]:
        """Return the ranks of the options taken and excluded; they compare in tree order."""
        n = self.rank.size
        return tuple(
            int(self.rank[d]) if d < n else n + int(self.rank[d - n]) for d in map(int, decisions)
        )


def useless_options(problem: ExactCover) -> npt.NDArray[np.bool_]:
    """Tell which options are in no cover, as far as each of them shows by itself.

    An option is *useless* if an item that it lacks has no option without a conflict with it that is
    not useless itself. Knuth's program DLX-PRE removes such options. Two options conflict if they
    share an item without colours that has an upper bound of 1.

    Returns
    -------
    ndarray of bool, shape (n_options,)
        All False if the matrix of conflicts would be too large.
    """
    n, n_primary = problem.n_options, problem.n_primary
    is_useless: npt.NDArray[np.bool_] = np.zeros(n, np.bool_)
    if n * problem.n_entries > MOST_BYTES:
        return is_useless
    order = np.argsort(problem.indices, kind="stable")
    ends = np.cumsum(np.bincount(problem.indices, minlength=problem.n_items))[:-1]
    by_item = np.split(owners_of(problem)[order], ends) if problem.n_items else []
    bounds = np.ones((n_primary, 2), np.int64) if problem.bounds is None else problem.bounds
    excludes = np.ones(problem.n_items, np.bool_)
    excludes[:n_primary] = bounds[:, 1] == 1
    if problem.colors is not None:
        excludes[problem.indices[problem.colors > 0]] = False
    conflicts = np.zeros((n, n), np.bool_)
    for i in np.flatnonzero(excludes):
        conflicts[np.ix_(by_item[i], by_item[i])] = True
    needed = [by_item[i] for i in np.flatnonzero(bounds[:, 0] > 0)]
    n_before = -1
    while n_before < is_useless.sum():
        n_before = int(is_useless.sum())
        for options in needed:
            is_blocked = np.logical_and.reduce(conflicts[options[~is_useless[options]]])
            is_blocked[options] = False
            is_useless |= is_blocked
    return is_useless


def in_order(problem: ExactCover, options: npt.NDArray[np.integer], **more: Any) -> ExactCover:
    """Return the problem of some options in an order, with no names and costs but those given."""
    indptr, entries = problem.entries_of(options)
    return ExactCover(
        indptr,
        problem.indices[entries],
        problem.n_items,
        problem.n_primary,
        colors=None if problem.colors is None else problem.colors[entries],
        bounds=problem.bounds,
        **more,
    )


pricing_of = prepared(Pricing.of)


@prepared
def ranked(problem: ExactCover) -> tuple[ExactCover, Pricing]:
    """Return a problem with its options in the order in which they are tried, and the pricing.

    The arrays of the pricing are in that order too.
    """
    pricing = pricing_of(problem)
    order = pricing.order
    net, share, is_useless = pricing.net[order], pricing.share[order], pricing.is_useless[order]
    by_cost = replace(pricing, net=net, share=share, is_useless=is_useless)
    return in_order(problem, order), by_cost


def scaled_ceilings(problem: ExactCover, pricing: Pricing, task: Task) -> npt.NDArray[np.int64]:
    """Return the upper bounds of the costs of covers below the stacks of a task, as net costs."""
    assert task.ceilings is not None
    assert problem.costs is not None
    ceilings = np.minimum(task.ceilings, problem.costs.sum())  # no cover costs more
    scaled: npt.NDArray[np.int64] = ceilings * pricing.scale - pricing.base
    return scaled


def renumbered(stacks: Stacks, number: npt.NDArray[np.uint32]) -> Stacks:
    """Return stacks with their options renumbered, excluded ones too."""
    n = number.size
    table = np.concatenate([number, number + np.uint32(n)])
    # the core reports options that do not exist
    known = stacks.options < 2 * n
    options = np.where(known, table[np.where(known, stacks.options, 0)], stacks.options)
    return replace(stacks, options=options.astype(np.uint32))
