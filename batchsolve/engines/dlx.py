"""Dancing links over arrays: Knuth's Algorithms X and C, for batches of stacks.

The search is that of *The Art of Computer Programming* 7.2.2.1, over the links of
`batchsolve.engines.links`. It stops when its node budget is spent or it has found as many covers as
it may, and then writes the *frontier*: the stacks of every branch that it did not explore.

The branch item is the first, as the header list has them, of those with at most one option, or else
of those with the fewest. The options of an item are tried in ascending order. Both depend on the
partial cover alone, hence the tree does not depend on how it is cut into stacks, and its order is
the lexicographic order of the stacks.
"""

from __future__ import annotations

import numpy as np

from batchsolve.engines.contract import MRV_TREE, Capabilities, Outcome, Task
from batchsolve.engines.ledger import KEEP, close_page, run, turn_page
from batchsolve.engines.links import (
    U,
    commit_others,
    cover,
    leave,
    links_of,
    name_choices,
    reselect,
    uncommit_others,
    uncover,
)
from batchsolve.engines.ragged import append, no_stacks, stack_at
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.kernels import kernel

_DONE, _SPENT, _COVER, _DEEP = 0, 1, 2, 3


@kernel
def _walk(links, choice, level, entered, depth, visited, allowed, count, most, pause):
    """Search on from where the links stand until something must be written down.

    Either the node at `level` has just been entered, or that level is to be left. The walk ends

    * `_DONE` when the tree is exhausted,
    * `_SPENT` at a node that it may not visit because `visited` is `allowed`,
    * `_COVER` after a cover, if `pause` is set or `count` is `most`,
    * `_DEEP` at a node at the depth limit that is neither a cover nor a dead end.

    Nothing is stored here but the choices, which keeps the loop in registers.
    """
    down, right, size = links.down, links.right, links.size
    n_items = U(links.left.size - 1)
    while True:
        if entered:
            # X2. [Enter level l.]
            if visited == allowed:
                return _SPENT, level, visited, count
            if right[0] == 0:
                visited += 1
                count += 1
                if pause or count == most:
                    return _COVER, level, visited, count
                entered = False
            else:
                # X3. [Choose i.]
                best, i, p = U(0xFFFFFFFF), U(0), right[0]
                while p != 0:
                    if size[p] < best:
                        best = size[p]
                        i = p
                        if best <= 1:
                            break
                    p = right[p]
                if best == 0:
                    visited += 1
                    entered = False
                elif level == depth:
                    return _DEEP, level, visited, count
                else:
                    # X4. [Cover i.]
                    visited += 1
                    cover(i, links)
                    choice[level] = down[i]
        while True:
            if not entered:
                # X8. [Leave level l.]
                if level == 0:
                    return _DONE, level, visited, count
                level -= 1
                # X6. [Try again.]
                uncommit_others(choice[level], links)
                choice[level] = down[choice[level]]
            # X5. [Try x_l.]
            if choice[level] > n_items:
                commit_others(choice[level], links)
                level += 1
                entered = True
                break
            # X7. [Backtrack.]
            uncover(choice[level], links)
            entered = False


@kernel
def _search(links, ledger):
    """Search below every stack of a task; return covers and the frontier."""
    stacks, clash, depth = ledger.stacks, ledger.clash, ledger.depth
    found, front = no_stacks(), no_stacks()
    n_items = links.left.size - 1
    covered = np.zeros(n_items + 1, np.uint32)
    selected = stacks.options[:0]
    choice = np.zeros(n_items + 1, np.uint32)
    chosen = np.zeros(n_items + 1, np.uint32)
    children = np.ones(n_items + 1, np.uint64)
    for k in range(stacks.n):
        want, allowed, most = turn_page(ledger, k)
        if want == 0:
            continue
        if allowed == 0 or most == 0:
            front = append(front, stacks, k, chosen, children, 0)
            continue
        # X1. [Initialize.]
        clash[k], selected = reselect(selected, stack_at(stacks, k), links, covered)
        if clash[k] >= 0:
            continue
        visited, count, level, entered = np.int64(0), np.int64(0), 0, True
        event = _DEEP
        while event >= _COVER:
            event, level, visited, count = _walk(
                links, choice, level, entered, depth, visited, allowed, count, most,
                ledger.left[KEEP] > 0,
            )  # fmt: skip
            entered = False
            if event == _COVER:
                if ledger.left[KEEP] > 0:
                    name_choices(links, choice, level, chosen, children)
                    found = append(found, stacks, k, chosen, children, level)
                    ledger.left[KEEP] -= 1
                if count == most:
                    break
            elif event in (_DEEP, _SPENT):
                name_choices(links, choice, level, chosen, children)
                front = append(front, stacks, k, chosen, children, level)
        is_left = event == _SPENT or (event == _COVER and most < want)
        front = leave(links, choice, level, is_left, stacks, k, chosen, children, front)
        close_page(ledger, k, visited, count)
    return found, front


class DancingLinks:
    """The array-backed dancing links engine."""

    name = "dlx"
    capabilities = Capabilities(
        "dancing links over arrays (Knuth's Algorithms X and C)", colors=True, tree=MRV_TREE
    )

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search the stacks of a task; see `batchsolve.engines.contract`."""
        return run(_search, (links_of(problem),), task)
