"""Counts of equal subtrees, as dancing links recall them: a table, the sums, and the keys.

The walks of `batchsolve.engines.memo` and, for items with bounds, of `batchsolve.engines.bounded`
count with a `Recall`.

* The *key* of a partial cover is compared as a whole: the hash only says where to look. Without
  bounds, it is the set of items that are left (`batchsolve.engines.links`). With bounds, it is the
  options that are left, and how many more of them each item needs and may have.
* A row of the *table* is a *version*, a key, a count of some words, and the *size*, the nodes of
  the whole subtree; version 0 marks an empty row. A key may lie in any row of a short window; when
  all those are taken, the row of the least size gives way.
* The sizes of subtrees, visited or looked up, add up to the size of the tree that was searched. So
  a short search tells how often subtrees repeat: `Outcome.tree_nodes` by `Outcome.nodes`.
* No thread waits for a row. A thread that writes one makes its version odd first, and even again
  when all words are there; if another thread has made it odd, it does not write. A thread that
  reads one looks at the version before and after, and takes what it read only if both are the same
  even number: then no word of it was written in between (a *sequence lock*, here with the fences
  that H.-J. Boehm, *Can seqlocks get along with programming language memory models?*, MSPC 2012,
  shows to be needed). So a count that is found was stored with exactly this key.
* A count enters the table when nothing below its node was handed back. Covers counted below an
  interrupted node are in the sum of its stack; the others are left in the frontier.

The sum of a stack has a word more than a count. It cannot overflow: a node adds less than the words
of a count can hold, and no search visits 2**64 nodes. The count of a node is the difference of that
sum on leaving and on entering. If that of a node below the stack is too large for the words of a
row, the search ends, and the caller drops its results and searches the task again with wider rows.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64

from batchsolve.engines.intrinsics import (
    fence_acquire,
    fence_release,
    load_acquire,
    load_relaxed,
    replace_word,
    store_relaxed,
    store_release,
)
from batchsolve.engines.links import hash_of
from batchsolve.kernels import helper, inlined

W = uint64

BESIDE_KEY = 2  # words of a row beside its key and its count: the version first, the size last
_WINDOW = 8  # rows in which a key may lie
MOST_SIZE = 2.0**63


class Recall(NamedTuple):
    """The table and the working memory of a search that counts equal subtrees once."""

    table: np.ndarray
    key: np.ndarray  # room for a key
    covers: np.ndarray  # room for a count of covers, lowest word first
    n_primary: int
    uncovered: np.ndarray  # the items not covered, a bit each; without bounds
    counted: np.ndarray  # the items that may be in several options; with bounds
    totals: np.ndarray  # (stacks, words of a count + 1): stack -> its sum, lowest word first
    tree_nodes: np.ndarray  # stack -> the nodes of the tree that was searched
    sums: np.ndarray  # (levels, as many): level -> the sum on entering its node
    sizes: np.ndarray  # level -> the nodes of its node's subtree, as far as it was searched
    handed: np.ndarray  # level -> the stacks handed back by then; -1 if it was not looked up
    n_handed: np.ndarray  # one number: the stacks handed back so far
    beyond: np.ndarray  # one number: 1 if a count had too many words, else 0


@inlined
def _first_row(key, table):
    """Return where the window of a key begins."""
    return hash_of(key) % W(table.shape[0])


@inlined
def find(key, count, table):
    """Look a key up; return whether it was found, and its size. Its count is written to `count`.

    A row that another thread writes meanwhile is skipped.
    """
    n_rows, width, words = W(table.shape[0]), W(table.shape[1]), W(key.size)
    flat = table.reshape(table.size)
    row = _first_row(key, table)
    for _ in range(_WINDOW):
        at = row * width
        version = load_acquire(flat, at)
        if version == W(0):
            break
        if version & W(1) == W(0):
            at += W(1)
            w = W(0)
            while w < words and load_relaxed(flat, at + w) == key[w]:
                w += W(1)
            if w == words:
                at += words
                for c in range(W(count.size)):
                    count[c] = load_relaxed(flat, at + c)
                size = load_relaxed(flat, at + W(count.size))
                fence_acquire()
                if load_relaxed(flat, row * width) == version:
                    return True, size
        row += W(1)
        if row == n_rows:
            row = W(0)
    return False, W(0)


@inlined
def store(key, count, size, table):
    """Write a count into the first empty row of its window, or over the one of least size.

    If another thread is writing that row, the count is not kept.
    """
    n_rows, width, words = W(table.shape[0]), W(table.shape[1]), W(key.size)
    flat = table.reshape(table.size)
    row = _first_row(key, table)
    place, least = row, ~W(0)
    for _ in range(_WINDOW):
        is_empty = load_relaxed(flat, row * width) == W(0)
        kept = W(0) if is_empty else load_relaxed(flat, row * width + width - W(1))
        if kept < least:
            place, least = row, kept
        if is_empty:
            break
        row += W(1)
        if row == n_rows:
            row = W(0)
    at = place * width
    version = load_relaxed(flat, at)
    if version & W(1) == W(0) and replace_word(flat, at, version, version + W(1)):
        fence_release()
        for w in range(words):
            store_relaxed(flat, at + W(1) + w, key[w])
        for c in range(W(count.size)):
            store_relaxed(flat, at + W(1) + words + c, count[c])
        store_relaxed(flat, at + width - W(1), size)
        store_release(flat, at, version + W(2))


@inlined
def add_one(total):
    """Add a cover to a sum."""
    c = W(0)
    total[c] += W(1)
    while total[c] == W(0):
        c += W(1)
        total[c] += W(1)


@inlined
def add(total, count):
    """Add a count to a sum, which has a word more."""
    carry = W(0)
    for c in range(W(count.size)):
        low = total[c] + count[c]
        carried = W(low < count[c])
        total[c] = low + carry
        carry = carried + W(total[c] < carry)
    total[count.size] += carry


@inlined
def difference(total, before, count):
    """Write a sum less an earlier one to `count`; tell whether it has room for that."""
    borrow = W(0)
    for c in range(W(count.size)):
        low = total[c] - before[c]
        borrowed = W(total[c] < before[c])
        count[c] = low - borrow
        borrow = borrowed + W(low < borrow)
    return total[count.size] - before[count.size] == borrow


@inlined
def _write_key(links, usage, recall):
    """Write the key of a node with bounds; an item without options needs none."""
    key = recall.key
    for w in range(key.size):
        key[w] = W(0)
    p = links.right[0]
    while p != 0:
        q = links.down[p]
        while q != p:
            o = W(links.option[q])
            key[o >> W(6)] |= W(1) << (o & W(63))
            q = links.down[q]
        p = links.right[p]
    at = key.size - recall.counted.size
    for x in range(recall.counted.size):
        i = recall.counted[x]
        size, used = links.size[i], usage.used[i]
        if used < usage.most[i] and size > 0:
            need = usage.least[i] - min(used, usage.least[i])
            key[at + x] = W(need) << W(32) | W(min(usage.most[i] - used, size))


@inlined
def is_known(branches, level, links, usage, total, recall):
    """Tell whether the covers below a node were counted before; add them if so."""
    recall.handed[level] = -1
    if branches == 1:  # a node with one child is left to that child
        return False
    _write_key(links, usage, recall)
    found, size = find(recall.key, recall.covers, recall.table)
    if found:
        add(total, recall.covers)
        recall.sizes[level] = float(size)
    else:
        recall.sums[level] = total
        recall.handed[level] = recall.n_handed[0]
    return found


@inlined
def remember(level, links, usage, total, recall):
    """Store the covers below a node that is to be left, unless some were handed back."""
    if recall.handed[level] == recall.n_handed[0]:
        if difference(total, recall.sums[level], recall.covers):
            _write_key(links, usage, recall)
            size = W(min(recall.sizes[level], MOST_SIZE))
            store(recall.key, recall.covers, size, recall.table)
        elif level > 0:  # that of the stack itself is in its sum
            recall.beyond[0] = 1


@helper
def end_recalling(k, level, recall):
    """Record the nodes of the tree below stack `k`, whose search ended at a level."""
    for above in range(max(level, 1)):  # those below were added to their parents
        recall.tree_nodes[k] += recall.sizes[above]
