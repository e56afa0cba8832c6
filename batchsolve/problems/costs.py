"""Costs of options: integers, 0 or more. The cost of a cover is the sum over its options.

Covers with costs are those of Knuth's Algorithm 7.2.2.1C$ and his program DLX5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from batchsolve.errors import ProblemError
from batchsolve.problems.masks import refuse_masked

if TYPE_CHECKING:
    from batchsolve.problems.exact_cover import ExactCover

MOST_COST = 2**48  # of all options together, so that fractions of costs fit into 64 bits
_MOST_SCALED = 2**61


def checked_costs(values: Sequence[Any] | npt.ArrayLike, n_options: int) -> npt.NDArray[np.int64]:
    """Return the costs of options as an array.

    Raises
    ------
    ProblemError
        If their number is wrong, or one is not an integer or out of bounds.
    """
    refuse_masked(values, "costs")
    costs = np.array(values)
    if costs.shape != (n_options,):
        raise ProblemError(f"costs of shape {costs.shape} for {n_options} options; give one each")
    if costs.size and not np.issubdtype(costs.dtype, np.integer):
        raise ProblemError(f"costs must be whole numbers up to {MOST_COST:,}, not {costs.dtype}")
    below = np.flatnonzero(costs < 0)
    if below.size:
        o = int(below[0])
        raise ProblemError(f"option {o} has the cost {costs[o]}; a cost is 0 or more")
    if sum(costs.tolist()) > MOST_COST:  # Python integers do not overflow
        raise ProblemError(f"the costs come to more than {MOST_COST:,}; divide them")
    return costs.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Pricing:
    """The costs of options in a form for a search for the cheapest covers.

    If every primary item is in one option of a cover, a *tax* on an item can be taken off the cost
    of every option that has it: all covers become cheaper by the same amount (Knuth, 7.2.2.1). The
    rest of the cost of an option is its *net* cost. Its *share* is the net cost divided by the
    number of its primary items. A partial cover needs at least the sum of the least shares of its
    uncovered items.

    Attributes
    ----------
    base : int
        The sum of the taxes.
    scale : int
        The factor of net costs and shares, by which shares are integers or little is lost by
        rounding down.
    net, share : ndarray of int64, shape (n_options,)
    order : ndarray of uint32, shape (n_options,)
        The options by share, then by number: the order in which they are tried.
    rank : ndarray of uint32, shape (n_options,)
        The place of each option in that order.
    """

    base: int
    scale: int
    net: npt.NDArray[np.int64]
    share: npt.NDArray[np.int64]
    order: npt.NDArray[np.uint32]
    rank: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, problem: ExactCover) -> Pricing:
        """Return the pricing of a problem with costs."""
        assert problem.costs is not None
        owner = np.repeat(np.arange(problem.n_options), np.diff(problem.indptr))
        is_primary = problem.indices < problem.n_primary
        n_primary = np.bincount(owner[is_primary], minlength=problem.n_options)
        base, net = 0, problem.costs.copy()
        if problem.bounds is None:
            base = _tax(problem, owner, net)
        scale = lcm(*np.unique(n_primary[n_primary > 0]).tolist())
        scale = min(scale, _MOST_SCALED // max(1, int(net.sum())))
        net *= scale
        share = net // np.maximum(n_primary, 1)
        order = np.lexsort([np.arange(problem.n_options), share]).astype(np.uint32)
        rank = np.empty_like(order)
        rank[order] = np.arange(problem.n_options)
        return cls(base, scale, net, share, order, rank)

    def path(self, decisions: Sequence[int] | npt.NDArray[np.uint32]) -> tuple[int, ...]:
        """Return the ranks of the options taken and excluded; they compare in tree order."""
        n = self.rank.size
        return tuple(
            int(self.rank[d]) if d < n else n + int(self.rank[d - n]) for d in map(int, decisions)
        )


def _tax(problem: ExactCover, owner: npt.NDArray[np.int64], net: npt.NDArray[np.int64]) -> int:
    """Subtract the least net cost from the options of each primary item in turn; return the sum."""
    base = 0
    by_item = np.argsort(problem.indices, kind="stable")
    ends = np.cumsum(np.bincount(problem.indices, minlength=problem.n_items)).tolist()
    for begin, end in pairwise([0, *ends[: problem.n_primary]]):
        options = owner[by_item[begin:end]]
        if options.size:
            tax = int(net[options].min())
            net[options] -= tax
            base += tax
    return base
