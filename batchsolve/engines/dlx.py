"""Dancing links over arrays: Knuth's Algorithms X and C, for batches of stacks.

The search is that of *The Art of Computer Programming* 7.2.2.1, over the links of
`batchsolve.engines.links`. It stops when its node budget is spent or it has found as many covers as
it may, and then writes the *frontier*: the stacks of every branch that it did not explore.

The branch item is the first, as the header list has them, of those with at most one option, or else
of those with the fewest. The options of an item are tried in ascending order. Both depend on the
partial cover alone, hence the tree does not depend on how it is cut into stacks, and its order is
the lexicographic order of the stacks.

The engine `memo` is the same search with a table of counts (`batchsolve.engines.subtrees`). Where
that is None, the compiler drops all that concerns it.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import numpy as np

from batchsolve.engines.contract import MRV_TREE, Capabilities, Outcome, Task
from batchsolve.engines.links import (
    U,
    commit_others,
    cover,
    links_of,
    reselect,
    uncommit_others,
    uncover,
)
from batchsolve.engines.stack_arrays import append, no_choices, no_stacks, stack_at
from batchsolve.engines.subtrees import (
    begin_total,
    count_cover,
    end_total,
    flip,
    look_up,
    remember,
    spoil,
)
from batchsolve.engines.task_state import (
    COVER,
    DEEP,
    DONE,
    SPENT,
    Position,
    at_the_top,
    begin_stack,
    end_stack,
    is_cut_short,
    keeps_covers,
    may_begin,
    search_task,
    write_down,
)
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.kernels import kernel


@kernel
def _walk(links, choice, position, bounds, pause, subtrees):
    """Search on from where the links stand until something must be written down.

    Nothing is stored here but the choices, which keeps the loop in registers.

    Parameters
    ----------
    links : Links
    choice : ndarray of uint32, shape (n_levels,)
        The node chosen on each level.
    position : Position
    bounds : Bounds
    pause : bool
        Whether to end after every cover, not only after the last that may be found.
    subtrees : Subtrees or None

    Returns
    -------
    int, Position
        Why it ended; and where to go on.
    """
    level, entered, visited, count = position
    depth, allowed, most, _ = bounds
    down, right, size = links.down, links.right, links.size
    n_items = U(links.left.size - 1)
    while True:
        if entered:
            # X2. [Enter level l.]
            if visited == allowed:
                return SPENT, Position(level, False, visited, count)
            if right[0] == 0:
                visited += 1
                count += 1
                if subtrees is not None:
                    count_cover(subtrees)
                if pause or count == most:
                    return COVER, Position(level, False, visited, count)
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
                    return DEEP, Position(level, False, visited, count)
                else:
                    visited += 1
                    if subtrees is not None:
                        entered = not look_up(subtrees, links, level, best, visited)
                    if entered:
                        # X4. [Cover i.]
                        cover(i, links)
                        choice[level] = down[i]
        while True:
            if not entered:
                # X8. [Leave level l.]
                if level == 0:
                    return DONE, Position(level, False, visited, count)
                level -= 1
                # X6. [Try again.]
                if subtrees is not None:
                    flip(subtrees, choice[level], links)
                uncommit_others(choice[level], links)
                choice[level] = down[choice[level]]
            # X5. [Try x_l.]
            if choice[level] > n_items:
                commit_others(choice[level], links)
                if subtrees is not None:
                    flip(subtrees, choice[level], links)
                level += 1
                entered = True
                break
            # X7. [Backtrack.]
            uncover(choice[level], links)
            entered = False
            if subtrees is not None:
                remember(subtrees, links, level, visited)


@kernel
def _name_choices(links, choice, level, choices):
    """Write the options of the nodes chosen above `level`, and how many children there were.

    A covered item's list keeps the size that it had when it was covered.
    """
    for s in range(level):
        choices.options[s] = links.option[choice[s]]
        choices.children[s] = links.size[links.top[choice[s]]]


@kernel
def _hand_back(links, choice, level, stacks, k, choices, front):
    """Write the children above `level` that are still to be tried; `choices` is overwritten."""
    n_items = U(links.left.size - 1)
    while level > 0:
        level -= 1
        p = links.down[choice[level]]
        while p > n_items:
            choices.options[level] = links.option[p]
            front = append(front, stacks, k, choices, level + 1)
            p = links.down[p]
    return front


@kernel
def _undo(links, choice, level):
    """Undo the choices above `level`."""
    while level > 0:
        level -= 1
        uncommit_others(choice[level], links)
        uncover(links.top[choice[level]], links)


@kernel
def search(links, subtrees, task):
    """Search below every stack of a task; return covers and the frontier.

    Parameters
    ----------
    links : Links
    subtrees : Subtrees or None
        The table in which to look up counts, and where to leave those of the stacks; if there is
        one, all covers are wanted and none is kept.
    task : TaskState
    """
    stacks, clash = task.stacks, task.clash
    found, front = no_stacks(), no_stacks()
    n_items = links.left.size - 1
    covered = np.zeros(n_items + 1, np.uint32)
    selected = stacks.options[:0]
    choice = np.zeros(n_items + 1, np.uint32)
    choices = no_choices(n_items + 1)
    for k in range(stacks.n):
        bounds, front = begin_stack(task, k, front)
        if not may_begin(bounds):
            continue
        # X1. [Initialize.]
        clash[k], selected = reselect(selected, stack_at(stacks, k), links, covered)
        if clash[k] >= 0:
            continue
        if subtrees is not None:
            begin_total(subtrees, links, covered)
        event, position = DEEP, at_the_top()
        while event in (COVER, DEEP) and position.covers < bounds.most:
            event, position = _walk(links, choice, position, bounds, keeps_covers(task), subtrees)
            if event != DONE:
                _name_choices(links, choice, position.level, choices)
                found, front = write_down(event, task, k, choices, position.level, found, front)
                if subtrees is not None:
                    spoil(subtrees, position.level)
        if is_cut_short(event, bounds):
            front = _hand_back(links, choice, position.level, stacks, k, choices, front)
        _undo(links, choice, position.level)
        end_stack(task, k, position)
        if subtrees is not None:
            end_total(subtrees, k)
    return found, front


class DancingLinks:
    """The array-backed dancing links engine."""

    name = "dlx"
    capabilities = Capabilities(
        "dancing links over arrays (Knuth's Algorithms X and C)",
        colors=True,
        tree=MRV_TREE,
        suits_grids_from=1,
    )

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search the stacks of a task; see `batchsolve.engines.contract`."""
        return search_task(search, (links_of(problem), None), task)
