"""Orders of items: branching rules, and narrow orders.

The branch item is the first of those with the fewest options (MRV). A *branching rule* changes this
order by handicaps, which are added to the numbers of options: an item with two options or more
seems to have as many more as its handicap. An item with one option or none comes first under every
rule but ``first``, which takes the first item, whatever it has.

Searches that look up what partial covers leave want a fixed order. A *narrow* order has a narrow
frontier. Once the first items of an order are covered, what is left depends on the others that have
an option in common with them: the *frontier*. There are at most as many different remainders as the
frontier has subsets. To make the widest frontier narrow is to find the vertex separation, or the
path-width, of the graph of items; that is NP-hard, so the order is made greedily, as in
frontier-based search (J. Kawahara, T. Inoue, H. Iwashita and S. Minato, *Frontier-based search for
enumerating all constrained subgraphs with compressed representation*, IEICE Transactions, 2017).
"""

from __future__ import annotations

from fnmatch import fnmatchcase

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Bools, Ints
from batchsolve.problems.exact_cover import ExactCover, owners_of
from batchsolve.settings import FIRST

ENOUGH = 0
"""The place, among the handicaps, of the number of options at which the choice ends."""

_SHARP_NAMES = "[#]*"


def is_sharp(problem: ExactCover, rule: str) -> npt.NDArray[np.bool_]:
    """Return, for each primary item, whether ``sharp`` or ``sharp:ITEMS`` prefers it.

    Examples
    --------
    >>> is_sharp(ExactCover.from_options([["#a", "b"]]), "sharp").tolist()
    [True, False]
    """
    pattern = rule.partition(":")[2] or _SHARP_NAMES
    names = map(problem.item_name, range(problem.n_primary))
    return np.array([fnmatchcase(name, pattern) for name in names], np.bool_)


def handicaps_of(problem: ExactCover, rule: str) -> npt.NDArray[np.uint32]:
    """Return the handicaps of the items, counted from 1, under a rule.

    The number at place `ENOUGH` is 1, or the largest under ``first``.

    Parameters
    ----------
    problem : ExactCover
    rule : str
        As `batchsolve.settings.checked_branch` takes it; empty for ``mrv``.

    Returns
    -------
    ndarray of uint32, shape (n_items + 1,)
    """
    handicaps = np.zeros(problem.n_items + 1, np.uint32)
    handicaps[ENOUGH] = 2**32 - 1 if rule == FIRST else 1
    if rule not in ("", FIRST):
        handicaps[1 : problem.n_primary + 1] = ~is_sharp(problem, rule) * problem.n_options
    return handicaps


MOST_ITEMS = 4096  # whose neighbours take 16 MB, and which are ordered within a second


def _neighbours(problem: ExactCover) -> Bools:
    """Return for each two items whether an option has both."""
    near = np.zeros((problem.n_items, problem.n_items), np.bool_)
    items, owner = problem.indices, owners_of(problem)
    for apart in range(1, int(np.diff(problem.indptr).max(initial=0))):
        pairs = np.flatnonzero(owner[apart:] == owner[:-apart])
        near[items[pairs], items[pairs + apart]] = True
    return near | near.T


def _greedy(near: Bools, n_primary: int, first: int) -> Ints:
    """Return the primary items from a first one on; the next widens the frontier least.

    Ties go to the item that has been in the frontier for longest, then to the first.
    """
    n_items = len(near)
    is_met = np.zeros(n_items, np.bool_)  # placed, or in the frontier
    since = np.full(n_items, n_items)  # when an item came into the frontier
    more = near[:n_primary].sum(axis=1)  # by how much an item would widen the frontier
    is_placed = np.zeros(n_primary, np.bool_)
    order = np.zeros(n_primary, np.int64)
    item = first
    for n in range(n_primary):
        if n > 0:
            rank = more * (n_items + 1) + since[:n_primary]
            item = int(np.argmin(np.where(is_placed, rank.max() + 1, rank)))
        order[n], is_placed[item] = item, True
        is_new = near[item] & ~is_met
        is_new[item] = not is_met[item]
        is_met |= is_new
        since[is_new] = n
        more -= near[is_new, :n_primary].sum(axis=0)
        more -= is_new[:n_primary]
    return order


def _widths(near: Bools, order: Ints) -> Ints:
    """Return the number of items in the frontier after each item of an order."""
    n = order.size
    met = near[order]
    is_met = met.any(axis=0)
    begin = np.where(is_met, met.argmax(axis=0), n)
    # a primary item stays until its turn, others until that of the last
    end = np.where(is_met, n - 1 - met[::-1].argmax(axis=0), 0)
    end[order] = np.arange(n)
    stays = begin < end
    changes = np.bincount(begin[stays], minlength=n) - np.bincount(end[stays], minlength=n)
    widths: Ints = np.cumsum(changes)
    return widths


def narrow_order(problem: ExactCover) -> npt.NDArray[np.int64]:
    """Return the primary items in an order with a narrow frontier.

    Parameters
    ----------
    problem : ExactCover
        If it has more than `MOST_ITEMS` items, they keep their order.

    Returns
    -------
    ndarray of int64, shape (n_primary,)

    Examples
    --------
    >>> from batchsolve.problems.families import family
    >>> board = family("dominoes:2x4")
    >>> [board.item_names[i] for i in narrow_order(board)]  # not row by row
    ['r1c1', 'r2c1', 'r1c2', 'r2c2', 'r1c3', 'r2c3', 'r1c4', 'r2c4']
    """
    given = np.arange(problem.n_primary)
    if not 0 < problem.n_primary <= problem.n_items <= MOST_ITEMS:
        return given
    near = _neighbours(problem)
    fewest = int(np.argmin(near[: problem.n_primary].sum(axis=1)))
    firsts = dict.fromkeys([0, fewest, problem.n_primary - 1])
    orders = [given, *(_greedy(near, problem.n_primary, first) for first in firsts)]
    return min(orders, key=lambda order: _subsets(_widths(near, order)))


def entries_in_order(problem: ExactCover, order: Ints) -> Ints:
    """Return the items of all options, the primary ones numbered by their place in an order."""
    rank = np.arange(problem.n_items)
    rank[order] = np.arange(problem.n_primary)
    entries: Ints = rank[problem.indices]
    return entries


def _subsets(widths: npt.NDArray[np.int64]) -> float:
    """Return the logarithm of the number of subsets of all frontiers."""
    return float(np.logaddexp2.reduce(widths.astype(np.float64)))
