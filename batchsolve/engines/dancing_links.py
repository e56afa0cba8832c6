"""Dancing links over NumPy arrays, in plain Python: ``docs/algorithm.md`` in executable form.

The data structure is the one of *The Art of Computer Programming* 7.2.2.1, Algorithm X, under the
names of `batchsolve/core/links.h`; `walk` searches from stack to stack. Nodes ``0 .. n_items`` are
the root and the headers of the items' lists; behind them stand the nodes of the options, each
option between two spacers. Every node has an item (TOP) and its neighbours in the item's list
(ULINK, DLINK); headers also have LLINK and RLINK.
"""

from __future__ import annotations

import numpy as np

from batchsolve.engines import Outcome, Task
from batchsolve.engines.walk import PartialCover, walk
from batchsolve.problems.exact_cover import ExactCover


def search(problem: ExactCover, task: Task) -> Outcome:
    """Search a task by dancing links; see `batchsolve.engines`."""
    return walk(problem, task, Links)


class Links(PartialCover):
    """The dancing links of a problem without colours and bounds.

    The branch item is the first with at most one option, or else of those with the fewest.

    Attributes
    ----------
    top, up, down : ndarray of int64, shape (n_nodes,)
        Node -> its item, 0 for a spacer; the node above; the node below. The node above a spacer is
        the first node of the option before it, the node below it the last of the option behind it.
    left, right : ndarray of int64, shape (n_items + 1,)
        Item -> the active primary items around it.
    size : ndarray of int64, shape (n_items + 1,)
        Item -> the number of options in its list.
    first : ndarray of int64, shape (n_options,)
        Option -> its first node.
    """

    def __init__(self, problem: ExactCover) -> None:
        super().__init__()
        n_items, n_options = problem.n_items, problem.n_options
        # X1. [Initialize.]
        n_nodes = n_items + 1 + problem.n_entries + n_options + 1
        headers = np.arange(n_items + 1)
        self.top = np.zeros(n_nodes, np.int64)
        self.up, self.down, self.option = np.zeros((3, n_nodes), np.int64)
        self.up[headers] = self.down[headers] = headers
        self.left, self.right = np.tile(headers, (2, 1))
        ring = np.arange(problem.n_primary + 1)
        self.left[ring], self.right[ring] = np.roll(ring, 1), np.roll(ring, -1)
        self.size = np.zeros(n_items + 1, np.int64)
        self.first = problem.indptr[:-1] + np.arange(n_options) + n_items + 2
        for o in range(n_options):
            items = problem.indices[problem.indptr[o] : problem.indptr[o + 1]]
            self._add_option(o, 1 + items.astype(np.int64))

    def _add_option(self, o: int, items: np.ndarray) -> None:
        """Append the nodes of an option to the lists of its items, and a spacer behind them."""
        p = int(self.first[o])
        last = p + items.size - 1
        for q, i in enumerate(items, p):
            self.top[q], self.up[q], self.down[q] = i, self.up[i], i
            self.down[self.up[i]] = self.up[i] = q
            self.size[i] += 1
        self.option[p : last + 1] = o
        self.down[p - 1], self.up[last + 1] = last, p

    def choices(self) -> tuple[int, list[int]] | None:
        """Return the branch item and its options, ascending; None if this is a cover."""
        # X2. [Enter level l.]
        if self.right[0] == 0:
            return None
        # X3. [Choose i.]
        item = i = self.right[0]
        while i != 0 and self.size[item] > 1:
            if self.size[i] < self.size[item]:
                item = i
            i = self.right[i]
        options, p = [], self.down[item]
        while p != item:
            options.append(int(self.option[p]))
            p = self.down[p]
        return int(item) - 1, options

    def select(self, o: int) -> None:
        """X4. [Cover i.] X5. [Try.]: cover the items of an option."""
        for i in self._items(o):
            self._cover(i)

    def deselect(self, o: int) -> None:
        """X6. [Try again.] X7. [Backtrack.]: uncover them, the last first."""
        for i in reversed(self._items(o)):
            self._uncover(i)

    def _items(self, o: int) -> list[int]:
        p = q = int(self.first[o])
        while self.top[q] != 0:
            q += 1
        return [int(i) for i in self.top[p:q]]

    def _cover(self, i: int) -> None:
        """Hide the options of an item, and take it out of the header list."""
        p = self.down[i]
        while p != i:
            self._hide(p)
            p = self.down[p]
        left, right = self.left[i], self.right[i]
        self.right[left], self.left[right] = right, left

    def _uncover(self, i: int) -> None:
        self.right[self.left[i]] = self.left[self.right[i]] = i
        p = self.up[i]
        while p != i:
            self._unhide(p)
            p = self.up[p]

    def _hide(self, p: int) -> None:
        """Take the other nodes of p's option out of their lists."""
        q = p + 1
        while q != p:
            if self.top[q] == 0:
                q = self.up[q]
            else:
                up, down = self.up[q], self.down[q]
                self.down[up], self.up[down] = down, up
                self.size[self.top[q]] -= 1
                q += 1

    def _unhide(self, p: int) -> None:
        q = p - 1
        while q != p:
            if self.top[q] == 0:
                q = self.down[q]
            else:
                self.down[self.up[q]] = self.up[self.down[q]] = q
                self.size[self.top[q]] += 1
                q -= 1
