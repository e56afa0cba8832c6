"""Narrow orders of items, for searches that look up what partial covers leave.

A *narrow* order has a narrow frontier. Once the first items of an order are covered, what is left
depends on the others that have an option in common with them: the *frontier*. There are at most as
many different remainders as the frontier has subsets. To make the widest frontier narrow is to find
the vertex separation, or the path-width, of the graph of items; that is NP-hard, so the order is
made greedily, as in frontier-based search (J. Kawahara, T. Inoue, H. Iwashita and S. Minato,
*Frontier-based search for enumerating all constrained subgraphs with compressed representation*,
IEICE Transactions, 2017).
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import uint64

from batchsolve.engines.intrinsics import popcount, trailing_zeros
from batchsolve.kernels import kernel
from batchsolve.problems.exact_cover import ExactCover

W = uint64

MOST_ITEMS = 4096  # whose neighbours are listed in 2 MB, and ordered within a second


@kernel
def _neighbours(indptr, indices, n_items):
    """Return the items with which each has an option in common, a bit each."""
    words = (n_items + 63) // 64
    near = np.zeros((n_items, words), np.uint64)
    for o in range(indptr.size - 1):
        for x in range(indptr[o], indptr[o + 1]):
            for y in range(indptr[o], indptr[o + 1]):
                if x != y:
                    near[indices[x], indices[y] >> 6] |= W(1) << W(indices[y] & 63)
    return near


@kernel
def _greedy(near, n_primary, first):
    """Return the primary items from a first one on; the next widens the frontier least.

    Ties go to the item that has been in the frontier for longest, then to the first.
    """
    n_items, words = near.shape
    met = np.zeros(words, np.uint64)  # placed, or in the frontier
    since = np.full(n_items, n_items, np.int64)  # when an item came into the frontier
    more = np.zeros(n_primary, np.int64)  # by how much an item would widen the frontier
    for i in range(n_primary):
        for w in range(words):
            more[i] += popcount(near[i, w])
    placed = np.zeros(n_primary, np.bool_)
    order = np.zeros(n_primary, np.int64)
    item = first
    for n in range(n_primary):
        if n > 0:
            item = -1
            for i in range(n_primary):
                if not placed[i] and (
                    item < 0
                    or more[i] < more[item]
                    or (more[i] == more[item] and since[i] < since[item])
                ):
                    item = i
        order[n] = item
        placed[item] = True
        for w in range(words):
            new = near[item, w]
            if w == item >> 6:
                new |= W(1) << W(item & 63)
            new &= ~met[w]
            met[w] |= new
            while new:
                j = 64 * w + trailing_zeros(new)
                new &= new - W(1)
                since[j] = n
                if j < n_primary:
                    more[j] -= 1
                for v in range(words):
                    others = near[j, v]
                    while others:
                        i = 64 * v + trailing_zeros(others)
                        others &= others - W(1)
                        if i < n_primary:
                            more[i] -= 1
    return order


@kernel
def _widths(near, order):
    """Return the number of items in the frontier after each item of an order."""
    n_items, words = near.shape
    begin, end = np.full(n_items, order.size, np.int64), np.zeros(n_items, np.int64)
    for n in range(order.size):
        end[order[n]] = n  # a primary item stays until its turn, others until that of the last
    for n in range(order.size):
        for w in range(words):
            others = near[order[n], w]
            while others:
                j = 64 * w + trailing_zeros(others)
                others &= others - W(1)
                begin[j] = min(begin[j], n)
                if j >= order.size:
                    end[j] = n
    widths = np.zeros(order.size + 1, np.int64)
    for j in range(n_items):
        if begin[j] < end[j]:
            widths[begin[j]] += 1
            widths[end[j]] -= 1
    return np.cumsum(widths)[:-1]


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
    near = _neighbours(problem.indptr, problem.indices, problem.n_items)
    fewest = int(np.argmin([np.bitwise_count(row).sum() for row in near[: problem.n_primary]]))
    firsts = dict.fromkeys([0, fewest, problem.n_primary - 1])
    orders = [given, *(_greedy(near, problem.n_primary, first) for first in firsts)]
    return min(orders, key=lambda order: _subsets(_widths(near, order)))


def _subsets(widths: npt.NDArray[np.int64]) -> float:
    """Return the logarithm of the number of subsets of all frontiers."""
    return float(np.logaddexp2.reduce(widths.astype(np.float64)))
