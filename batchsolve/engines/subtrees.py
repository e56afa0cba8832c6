"""A table of subtrees that were counted before, for the search of dancing links.

What is left of a problem below a partial cover is determined by the set of items that are not yet
covered. Where two partial covers leave the same set, their subtrees are alike, and the covers below
the second are looked up.

* The *key* is the whole set, a bit an item, and is compared as a whole: the hash only says where to
  look. A secondary item that no option is left for counts as covered, for it rules nothing out.
  One that was purified counts as uncovered, and the key has its colour too.
* The *table* is one array of a bounded size. A row is a key, a count of 128 bits, and the *effort*,
  the nodes visited to find it; effort 0 marks an empty row. A key may lie in any row of a short
  window; when all those are taken, the row with the least effort gives way.
* A count enters the table when nothing below its node was handed back. What was counted below an
  interrupted node is in the sum of its stack, and what was not is in the frontier.

The sum of a stack has 192 bits. It cannot overflow: it grows by less than 2**128 a node, and no
search visits 2**64 nodes. The count of a node is the difference of that sum on leaving and on
entering; one of more than 128 bits is not stored.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, uint64

from batchsolve.engines.links import U, color
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.kernels import kernel

W = uint64

_WINDOW = 8  # rows in which a key may lie
_AFTER_KEY = 3  # words of a row behind the key: a count of two, and the effort


class Subtrees(NamedTuple):
    """A table, and what a search that uses it notes down; sums begin with the lowest word."""

    table: np.ndarray  # (rows, words of a key + 3)
    n_primary: int
    uncovered: np.ndarray  # the items not covered, a bit each
    key: np.ndarray  # room for a key
    total: np.ndarray  # (3,): the sum of the stack at hand
    totals: np.ndarray  # (stacks, 3): the sums of the stacks of the task
    sums: np.ndarray  # (levels, 3): level -> the sum on entering its node
    nodes: np.ndarray  # level -> the nodes visited by then
    is_whole: np.ndarray  # level -> whether the count of its node can enter the table


def row_length(problem: ExactCover) -> int:
    """Return how many words a row of the table has."""
    words = (problem.n_items + 64) // 64  # bits 1 .. n_items
    if problem.colors is not None:
        words += (problem.n_items - problem.n_primary + 1) // 2  # a colour is half a word
    return words + _AFTER_KEY


def subtrees_of(
    problem: ExactCover, table: npt.NDArray[np.uint64], totals: npt.NDArray[np.uint64]
) -> Subtrees:
    """Return a table with what one search needs.

    Parameters
    ----------
    problem : ExactCover
    table : ndarray of uint64, shape (n_rows, row_length(problem))
        Zeros, or what other searches of the problem left there.
    totals : ndarray of uint64, shape (n_stacks, 3)
        Gets the number of covers below each stack.
    """
    words, n_levels = table.shape[1] - _AFTER_KEY, problem.n_items + 1
    return Subtrees(
        table,
        problem.n_primary,
        np.zeros(words, np.uint64),
        np.zeros(words, np.uint64),
        np.zeros(3, np.uint64),
        totals,
        np.zeros((n_levels, 3), np.uint64),
        np.zeros(n_levels, np.int64),
        np.zeros(n_levels, np.bool_),
    )


@kernel
def begin_total(subtrees, links, covered):
    """Begin to count below a stack that is selected."""
    uncovered = subtrees.uncovered
    uncovered[:] = 0
    for j in range(1, links.size.size):
        if covered[j] == 0 or color(j, links) != 0:
            uncovered[W(j) >> W(6)] |= W(1) << (W(j) & W(63))
    subtrees.total[:] = 0


@njit(inline="always")
def end_total(subtrees, k):
    """Note down what was counted below stack `k`."""
    subtrees.totals[k] = subtrees.total


@njit(inline="always")
def count_cover(subtrees):
    """Count a cover."""
    _add(subtrees.total, W(1), W(0))


@njit(inline="always")
def flip(subtrees, p, links):
    """Flip the bits of the items of p's option that it gives no colour."""
    top, up, uncovered = links.top, links.up, subtrees.uncovered
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


@njit(inline="always")
def look_up(subtrees, links, level, n_children, visited):
    """Add the count of the node at a level, which was just visited, if it is known; tell whether.

    A node with one child is not looked up, for its child is.
    """
    subtrees.is_whole[level] = False
    is_known = False
    if n_children > 1:
        table, key, total = subtrees.table, subtrees.key, subtrees.total
        _write_key(subtrees, links)
        row, words = _find(key, table), W(key.size)
        is_known = row < W(table.shape[0])
        if is_known:
            _add(total, table[row, words], table[row, words + W(1)])
        else:
            subtrees.sums[level] = total
            subtrees.nodes[level] = visited
            subtrees.is_whole[level] = True
    return is_known


@njit(inline="always")
def remember(subtrees, links, level, visited):
    """Store the count of the node at a level, which was just left, if it is whole."""
    if subtrees.is_whole[level]:
        low, high, beyond = _difference(subtrees.total, subtrees.sums[level])
        if beyond == 0:
            _write_key(subtrees, links)
            effort = W(visited - subtrees.nodes[level] + 1)
            _store(subtrees.key, low, high, effort, subtrees.table)


@njit(inline="always")
def spoil(subtrees, level):
    """Note that a node at a level is handed back: the counts of those above it are not whole."""
    subtrees.is_whole[:level] = False


@kernel
def _write_key(subtrees, links):
    """Write the key of the node at hand: the items uncovered that still matter."""
    key, uncovered, n_primary = subtrees.key, subtrees.uncovered, subtrees.n_primary
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


@njit(inline="always")
def _first_row(key, table):
    """Return where the window of a key begins."""
    h = W(0x9E3779B97F4A7C15)
    for w in range(key.size):
        h = (h ^ key[w]) * W(0xFF51AFD7ED558CCD)
        h ^= h >> W(32)
    return h % W(table.shape[0])


@kernel
def _find(key, table):
    """Return the row of a key, or the number of rows if it is in none."""
    n_rows, words = W(table.shape[0]), W(key.size)
    row = _first_row(key, table)
    for _ in range(_WINDOW):
        if table[row, words + W(2)] == 0:
            break
        w = W(0)
        while w < words and table[row, w] == key[w]:
            w += W(1)
        if w == words:
            return row
        row += W(1)
        if row == n_rows:
            row = W(0)
    return n_rows


@kernel
def _store(key, low, high, effort, table):
    """Write a count into the first empty row of its window, or over the one of least effort."""
    n_rows, words = W(table.shape[0]), W(key.size)
    row = _first_row(key, table)
    place, least = row, table[row, words + W(2)]
    for _ in range(_WINDOW):
        if table[row, words + W(2)] < least:
            place, least = row, table[row, words + W(2)]
        row += W(1)
        if row == n_rows:
            row = W(0)
    for w in range(words):
        table[place, w] = key[w]
    table[place, words] = low
    table[place, words + W(1)] = high
    table[place, words + W(2)] = effort


@njit(inline="always")
def _add(total, low, high):
    """Add a number of 128 bits to one of 192."""
    total[0] += low
    carry = W(total[0] < low)
    total[1] += high
    carry_on = W(total[1] < high)
    total[1] += carry
    carry_on += W(total[1] < carry)
    total[2] += carry_on


@njit(inline="always")
def _difference(total, before):
    """Subtract a number of 192 bits from one that is no less; return the words."""
    low = total[0] - before[0]
    borrow = W(total[0] < before[0])
    middle = total[1] - before[1]
    borrow_on = W(total[1] < before[1]) + W(middle < borrow)
    return low, middle - borrow, total[2] - before[2] - borrow_on
