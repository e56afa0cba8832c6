"""Keys of partial covers: below equal keys, the subtrees are equal.

The set of items that are not yet covered determines the subtree below a partial cover. The *key* is
this whole set, a bit per item, and is compared as a whole. A secondary item without options left
counts as covered, because it rules nothing out. One that was purified counts as uncovered, and the
key has its colour too.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from numba import uint64

from batchsolve.engines.links import U, color
from batchsolve.kernels import helper, inlined
from batchsolve.problems.exact_cover import ExactCover

W = uint64


def words_of_set(problem: ExactCover) -> int:
    """Return the number of words in a set of items; bit i stands for item i, counted from 1."""
    return (problem.n_items + 64) // 64


def words_of_key(problem: ExactCover) -> int:
    """Return the number of words in a key."""
    words = words_of_set(problem)
    if problem.colors is not None:
        words += (problem.n_items - problem.n_primary + 1) // 2  # a colour is half a word
    return words


@inlined
def flip(p, links, uncovered):
    """Flip the bits of the items to which p's option gives no colour."""
    top, up = links.top, links.up
    q = p
    while True:
        j = top[q]
        if j == 0:
            q = up[q]
        else:
            if color(q, links) == 0:
                uncovered[W(j) >> W(6)] ^= W(1) << (W(j) & W(63))
            q = U(q + U(1))
        if q == p:
            break


@helper
def write_key(key, uncovered, links, n_primary):
    """Write the key of the current node: the uncovered items that still matter."""
    for w in range(key.size):
        key[w] = uncovered[w]
    n_items = links.size.size - 1
    words = W(n_items + 64) >> W(6)
    for j in range(n_primary + 1, n_items + 1):
        if links.size[j] == 0:
            key[W(j) >> W(6)] &= ~(W(1) << (W(j) & W(63)))
        elif color(j, links) != 0:
            k = W(j - n_primary - 1)
            key[words + (k >> W(1))] |= W(color(j, links)) << (W(32) * (k & W(1)))


@inlined
def hash_of(key):
    """Return a hash of a key."""
    h = W(0x9E3779B97F4A7C15)
    for w in range(key.size):
        h = (h ^ key[w]) * W(0xFF51AFD7ED558CCD)
        h ^= h >> W(32)
    return h


@helper
def list_uncovered(links, covered, uncovered):
    """Write the items that the selected stack leaves uncovered, a bit each."""
    uncovered[:] = 0
    for j in range(1, links.size.size):
        if covered[j] == 0 or color(j, links) != 0:
            uncovered[W(j) >> W(6)] |= W(1) << (W(j) & W(63))
