"""Dancing links over arrays: Knuth's Algorithms X and C, for batches of stacks.

The search is that of *The Art of Computer Programming* 7.2.2.1, over the links of
`batchsolve.engines.links`. It stops when its node budget is spent or it has found as many covers as
it may, and then writes the *frontier*: the stacks of every branch that it did not explore.

The branch item is the first, as the header list has them, of those with at most one option, or else
of those with the fewest, or the one that another branching rule chooses
(`batchsolve.engines.branching`). The options of an item are tried in ascending order. Both depend
on the partial cover alone, hence the tree does not depend on how it is cut into stacks, and its
order is the lexicographic order of the stacks.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import numpy as np

from batchsolve.engines import frame
from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.intrinsics import borrowed
from batchsolve.engines.links import (
    U,
    choose,
    commit_others,
    cover,
    hand_back,
    links_at,
    links_of,
    links_of_each,
    name_choices,
    reselect,
    starts_of,
    uncommit_others,
    uncover,
    undo,
)
from batchsolve.kernels import helper, kernel
from batchsolve.problems.small import SmallProblems
from batchsolve.problems.stacks import Searchable


@helper
def _walk(links, choice, position, bounds, stack, k, found):
    """Continue the search from the state of the links until an event.

    Parameters
    ----------
    links : Links
    choice : ndarray of uint32, shape (n_levels,)
        The node chosen on each level.
    position : Position
    bounds : Bounds
    stack : ndarray of uint32
        The options of stack `k`.
    k : int
    found : GrowingCovers
        Receives covers while there is room.

    Returns
    -------
    int, Position
        The event, and where to go on.
    """
    level, entered, visited, count = position
    depth, allowed, most, _ = bounds
    down, right = links.down, links.right
    n_items = U(links.left.size - 1)
    while True:
        if entered:
            # X2. [Enter level l.]
            if visited == allowed:
                return frame.SPENT, frame.Position(level, False, visited, count)
            if right[0] == 0:
                visited += 1
                count += 1
                is_full = count == most
                if frame.has_room(found):
                    is_full |= frame.append_cover(
                        found, stack, k, stack, 0, links.option, 0, choice, level
                    )
                if is_full:
                    return frame.COVER, frame.Position(level, False, visited, count)
                entered = False
            else:
                # X3. [Choose i.]
                best, i = choose(links)
                if best == 0:
                    visited += 1
                    entered = False
                elif level == depth:
                    return frame.DEEP, frame.Position(level, False, visited, count)
                else:
                    # X4. [Cover i.]
                    visited += 1
                    cover(i, links)
                    choice[level] = down[i]
        while True:
            if not entered:
                # X8. [Leave level l.]
                if level == 0:
                    return frame.DONE, frame.Position(level, False, visited, count)
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
def _search(links, starts, problem_of, task):
    """Search below every stack of a task; return covers and the frontier.

    Stack `k` is of problem ``problem_of[k]``, whose links begin at `starts`.
    """
    links, starts, task = borrowed(links), borrowed(starts), borrowed(task)
    stacks, clash = task.stacks, task.clash
    found, front = frame.no_covers(), frame.no_stacks()
    n_levels = 0
    for x in range(starts.items.size - 1):
        n_levels = max(n_levels, starts.items[x + 1] - starts.items[x])
    covered = np.zeros(n_levels, np.uint32)
    choice = np.zeros(n_levels, np.uint32)
    choices = frame.no_choices(n_levels)
    selected = stacks.options[:0]
    problem, own, n_primary = -1, links, U(0)
    for k in range(stacks.n):
        bounds, front = frame.begin_stack(task, k, found, front)
        if not frame.may_begin(bounds):
            continue
        # X1. [Initialize.]
        if problem_of[k] != problem:
            selected = reselect(selected, selected[:0], own, covered)[1]
            problem = problem_of[k]
            own = links_at(links, starts, problem)
            n_primary = own.left[0]  # nothing is covered yet
        stack = frame.stack_at(stacks, k)
        clash[k], selected = reselect(selected, stack, own, covered)
        if clash[k] >= 0:
            continue
        event, position = frame.COVER, frame.at_the_top()
        while event in (frame.COVER, frame.DEEP) and position.covers < bounds.most:
            if event == frame.COVER:
                found = frame.with_room(task, k, n_primary, found)
            lent, written = borrowed((choice, found))
            event, position = _walk(own, lent, position, bounds, stack, k, written)
            if event in (frame.DEEP, frame.SPENT):
                name_choices(own, choice, position.level, choices)
                front = frame.append(front, stacks, k, choices, position.level)
        if frame.is_cut_short(event, bounds):
            name_choices(own, choice, position.level, choices)
            front = hand_back(own, choice, position.level, stacks, k, choices, front)
        undo(own, choice, position.level)
        frame.end_stack(task, k, position)
    return found[:], front[:]


def search(problem: Searchable, task: Task, rule: str = "") -> Outcome:
    """Search a task under a branching rule; see `batchsolve.engines.contract`."""
    if isinstance(problem, SmallProblems):
        links, starts = links_of_each(problem.problems, rule)
        places = problem.places_of(task.stacks.roots)
        return frame.search_task(_search, (links, starts, places), task)
    if task.cheapest or problem.bounds is not None:
        from batchsolve.engines import bounded  # compiled when first needed

        return bounded.search(problem, task, rule)
    places = np.zeros(len(task.stacks), np.int64)
    return frame.search_task(_search, (links_of(problem, rule), starts_of(problem), places), task)
