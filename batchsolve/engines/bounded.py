"""Dancing links for items with bounds, after Knuth's Algorithm M, for batches of stacks.

Such a cover is a *multiple covering with colors* (*The Art of Computer Programming* 7.2.2.1): a
primary item is in no fewer options than its *least* and in no more than its *most*. The links are
those of `batchsolve.engines.links`. An item is covered when it is in its *most* options.

The branch item is, as in the book, the first of those with the fewest branches. An item with *s*
options, of which it needs *n*, has *s* - *n* + 1 branches: one if it needs them all, none if it has
too few. An item that must and may be in exactly one more option is branched on as in Algorithm X.
For any other, the book tries the options of the item in turn, and *tweaks* the earlier ones out of
the lists. Here the first option is taken, or else *excluded*, that is tweaked out, and then an item
is chosen anew. So the tree depends only on the options taken and excluded, and can be cut anywhere:
a stack holds exclusions as well (`ExactCover.n_decisions`).

If all options have an item in common, its upper bound is that of the options in a cover, and
options that meet too few needs for the rest to meet the others are *dropped*.

The same search finds the cheapest covers, after Knuth's Algorithm C$, if it is given prices
(`batchsolve.engines.priced`). An option is not tried when its cost, the cost so far and the least
cost of the items left exceed the *upper bound*. Once enough covers are found, the upper bound is
below the cost of the dearest, because of covers with equal costs the first in tree order are
wanted. Kernels are compiled twice, with prices and without.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from batchsolve.engines import frame
from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.intrinsics import borrowed
from batchsolve.engines.links import (
    PURE,
    Links,
    U,
    color,
    cover,
    enough,
    hide,
    links_of,
    purify,
    shared,
    uncover,
    unhide,
    unpurify,
    with_handicap,
)
from batchsolve.engines.priced import (
    begin_to_spend,
    is_affordable,
    is_too_dear,
    is_useless,
    least_share,
    net_of_first,
    note_cover,
    prices_of,
    ranked,
    renumbered,
    spend,
)
from batchsolve.engines.recall import Recall, add_one, end_recalling, is_known, remember
from batchsolve.kernels import helper, inlined, kernel
from batchsolve.problems.exact_cover import ExactCover

EACH, TAKE, REFUSE = range(3)
"""The kinds of branches: each option of an item in turn; one option taken; that option excluded."""


class Usage(NamedTuple):
    """The number of options taken for each item, and its bounds."""

    least: np.ndarray  # item -> its lower bound; 0 for a secondary item
    most: np.ndarray  # item -> its upper bound; 1 for a secondary item
    used: np.ndarray  # item -> options taken that have it; those that only share its colour aside
    decided: np.ndarray  # option -> whether the stack takes or excludes it
    n_levels: int  # upper bound of the options in a cover, exclusions left out
    total: int  # an item that all options have, so that its bounds are those of a cover; or 0


class Trail(NamedTuple):
    """The branches that lead to the current node."""

    kind: np.ndarray  # level -> EACH, TAKE or REFUSE
    pick: np.ndarray  # level -> the node of the option taken or excluded
    branches: np.ndarray  # level -> how many branches the item had
    dropped: np.ndarray  # options that are too small, in the order in which they were dropped
    n_dropped: np.ndarray  # level -> how many the levels above dropped
    gain: np.ndarray  # option -> how many items it has that need more options


def usage_of(problem: ExactCover) -> Usage:
    """Return the usage of the items of a problem before anything is taken."""
    bounds = problem.bounds
    if bounds is None:
        bounds = np.ones((problem.n_primary, 2), np.int64)
    least, most = np.zeros((2, problem.n_items + 1), np.uint32)
    most[:] = 1
    least[1 : problem.n_primary + 1] = bounds[:, 0]
    most[1 : problem.n_primary + 1] = bounds[:, 1]
    sizes = np.bincount(problem.indices, minlength=problem.n_items)[: problem.n_primary]
    n_levels = min(problem.n_options, int(np.minimum(bounds[:, 1], sizes).sum()))
    used = np.zeros(problem.n_items + 1, np.uint32)
    totals = np.flatnonzero(sizes == problem.n_options)
    total = int(totals[np.argmin(bounds[totals, 1])]) + 1 if totals.size else 0
    return Usage(least, most, used, np.zeros(problem.n_options, np.bool_), n_levels, total)


@inlined
def _commit(p, links, usage):
    """Count a node's option for its item, and cover or purify the item if it has enough."""
    c, i = color(p, links), links.top[p]
    if c != PURE:
        usage.used[i] += U(1)
        if c != 0:
            purify(p, links)
        elif usage.used[i] == usage.most[i]:
            cover(i, links)


@inlined
def _uncommit(p, links, usage):
    c, i = color(p, links), links.top[p]
    if c != PURE:
        if c != 0:
            unpurify(p, links)
        elif usage.used[i] == usage.most[i]:
            uncover(i, links)
        usage.used[i] -= U(1)


@helper
def _commit_others(p, links, usage):
    """Commit to the nodes of p's option, p itself excepted."""
    q = U(p + U(1))
    while q != p:
        if links.top[q] == 0:
            q = links.up[q]
        else:
            _commit(q, links, usage)
            q = U(q + U(1))


@helper
def _uncommit_others(p, links, usage):
    q = U(p - U(1))
    while q != p:
        if links.top[q] == 0:
            q = links.down[q]
        else:
            _uncommit(q, links, usage)
            q = U(q - U(1))


@helper
def _take(p, links, usage):
    """Commit to all nodes of p's option, p first."""
    _commit(p, links, usage)
    _commit_others(p, links, usage)


@helper
def _untake(p, links, usage):
    """Undo `_take`."""
    _uncommit_others(p, links, usage)
    _uncommit(p, links, usage)


@helper
def _tweak(o, links):
    """Remove all nodes of an option from the lists of their items."""
    p = links.first[o]
    hide(p, links)
    if color(p, links) != PURE:
        u, d = links.up[p], links.down[p]
        links.down[u] = d
        links.up[d] = u
        links.size[links.top[p]] -= U(1)


@helper
def _untweak(o, links):
    p = links.first[o]
    if color(p, links) != PURE:
        u, d = links.up[p], links.down[p]
        links.down[u] = p
        links.up[d] = p
        links.size[links.top[p]] += U(1)
    unhide(p, links)


@inlined
def _choose(links, usage, prices, recall):
    """Return an active item and the number of its branches, and the least cost of all items.

    The item is 0 if every item has enough. Of items with equally few branches, it is one that may
    have the fewest options beyond those it needs, and of those the first with the most options, as
    in Knuth's program DLX3; with prices, the first whose first option has the highest net cost. If
    counts are recalled, it is the first item that has options, or else one that is forced. A
    branching rule may handicap items, or choose the first that has options.
    """
    is_ordered = recall is not None
    goes_by_place = enough(links) > 1
    best, least_slack, most_size = U(0xFFFFFFFF), U(0xFFFFFFFF), U(0)
    fewest = best
    i, p, cost, most_net = U(0), links.right[0], np.int64(0), np.int64(0)
    while p != 0:
        need, size = U(0), links.size[p]
        if usage.used[p] < usage.least[p]:
            need = U(usage.least[p] - usage.used[p])
        if size < need:
            return U(0), p, np.int64(0)
        net = np.int64(0)
        if need > 0:
            cost += np.int64(need) * least_share(p, links, prices)
            net = net_of_first(p, links, prices)
        if size > 0:
            branches = U(size - need + U(1))
            rank = with_handicap(branches, p, links)
            slack = U(usage.most[p] - usage.used[p] - need)
            is_better = rank < best or (
                rank == best
                and (
                    slack < least_slack
                    or (
                        slack == least_slack
                        and (net > most_net or (net == most_net and size > most_size))
                    )
                )
            )
            if i == 0 or (
                is_better and not goes_by_place and (not is_ordered or (branches == 1 and best > 1))
            ):
                best, fewest, least_slack, most_size, i = rank, branches, slack, size, p
                most_net = net
        p = links.right[p]
    return fewest, i, cost


@inlined
def _need(i, usage):
    """Return how many more options an item needs."""
    return np.int64(usage.least[i]) - min(np.int64(usage.used[i]), np.int64(usage.least[i]))


@helper
def _drop_small(path, level, links, usage):
    """Drop the options that meet too few needs; tell whether the others can meet all of them.

    Every option has the item `total`, so a cover takes at most *r* more. If none of them meets more
    than *g* needs, an option has to meet those that *r* - 1 options leave over.
    """
    t = U(usage.total)
    more, needs = np.int64(usage.most[t] - usage.used[t]), np.int64(0)
    p = links.right[0]
    while p != 0:
        if p != t:
            needs += _need(p, usage)
        p = links.right[p]
    if needs == 0 or more == 0:
        return needs == 0
    most_gain = np.int64(0)
    p = links.down[t]
    while p != t:
        gain = np.int64(0)
        q = links.first[links.option[p]]
        while links.top[q] != 0:
            if links.top[q] != t and _need(links.top[q], usage) > 0:
                gain += 1
            q = U(q + U(1))
        path.gain[links.option[p]] = gain
        most_gain = max(most_gain, gain)
        p = links.down[p]
    if more * most_gain < needs:
        return False
    n = path.n_dropped[level]
    p = links.down[t]
    while p != t:
        o = links.option[p]
        if path.gain[o] + (more - 1) * most_gain < needs:
            _tweak(o, links)
            path.dropped[n] = o
            n += 1
        p = links.down[p]
    path.n_dropped[level + 1] = n
    return True


@inlined
def _restore(path, level, links):
    """Undo `_drop_small` at a level."""
    n = path.n_dropped[level + 1]
    while n > path.n_dropped[level]:
        n -= 1
        _untweak(path.dropped[n], links)
    path.n_dropped[level + 1] = n


@inlined
def _branch(i, best, path, level, links, usage, prices):
    """Enter the first branch of an item; tell whether there is one."""
    p = links.down[i]
    path.pick[level], path.branches[level] = p, best
    if usage.used[i] + U(1) == usage.most[i] and usage.used[i] < usage.least[i]:
        path.kind[level] = EACH
        cover(i, links)
        return _try_each(p, path, level, links, usage, prices)
    may_take = is_affordable(p, level, links, usage, prices)
    _tweak(links.option[p], links)
    if may_take:
        path.kind[level] = TAKE
        _take(p, links, usage)
        _go_down(p, path, level, links, prices)
        return True
    return _refuse(p, path, level, links, prices)


@inlined
def _try_each(p, path, level, links, usage, prices):
    """Take the first option of a covered item, from a node on, that is not too dear."""
    while p >= links.left.size and not is_affordable(p, level, links, usage, prices):
        p = links.down[p]
    path.pick[level] = p
    if p < links.left.size:
        uncover(p, links)
        return False
    _commit_others(p, links, usage)
    _go_down(p, path, level, links, prices)
    return True


@inlined
def _refuse(p, path, level, links, prices):
    """Exclude an option that is out of its lists, unless the item needs all of its options."""
    if path.branches[level] == 1:
        _untweak(links.option[p], links)
        return False
    path.kind[level] = REFUSE
    _go_down(U(0), path, level, links, prices)
    return True


@inlined
def _go_down(p, path, level, links, prices):
    """Begin the records of the level below, where a node's option is taken; none if it is 0."""
    path.n_dropped[level + 2] = path.n_dropped[level + 1]
    spend(p, level, links, prices)


@inlined
def _branch_again(path, level, links, usage, prices):
    """Leave the branch of a level and enter the next; tell whether there is one."""
    p, kind = path.pick[level], path.kind[level]
    if kind == EACH:
        _uncommit_others(p, links, usage)
        return _try_each(links.down[p], path, level, links, usage, prices)
    if kind == TAKE:
        _untake(p, links, usage)
        return _refuse(p, path, level, links, prices)
    _untweak(links.option[p], links)
    return False


@helper
def _undo(path, level, links, usage):
    """Undo the node at a level, and the branches above it."""
    _restore(path, level, links)
    while level > 0:
        level -= 1
        p, kind = path.pick[level], path.kind[level]
        if kind == EACH:
            _uncommit_others(p, links, usage)
            uncover(links.top[p], links)
        else:
            if kind == TAKE:
                _untake(p, links, usage)
            _untweak(links.option[p], links)
        _restore(path, level, links)


@helper
def _walk(links, usage, prices, recall, path, position, bounds, stack, k, found):
    """Continue the search from the state of the links until an event, as `dlx` does."""
    level, entered, visited, count = position
    depth, allowed, most, _ = bounds
    n_options = links.first.size
    if recall is not None:
        total = recall.totals[k]
    while True:
        if entered:
            # M2. [Enter level l.]
            if visited == allowed:
                return frame.SPENT, frame.Position(level, False, visited, count)
            if recall is not None:
                recall.sizes[level] = 1.0
            # M3. [Choose i.]
            branches, i, cost = U(0), U(usage.total), np.int64(0)
            if usage.total == 0 or _drop_small(path, level, links, usage):
                branches, i, cost = _choose(links, usage, prices, recall)
            if branches == 0 or is_too_dear(level, cost, prices):
                visited += 1
            elif i == 0:
                visited += 1
                count += 1
                is_full = count == most
                if recall is not None:
                    add_one(total)
                elif frame.has_room(found):
                    is_full |= append_cover(
                        found, stack, k, links.option, 0, path, level, n_options, prices
                    )
                note_cover(level, prices)
                if is_full:
                    return frame.COVER, frame.Position(level, False, visited, count)
            elif level == depth:
                if recall is not None:
                    recall.sizes[level] = 0.0
                return frame.DEEP, frame.Position(level, False, visited, count)
            else:
                # M4, M5, M6. [Prepare to branch on i. Possibly tweak x_l. Try x_l.]
                visited += 1
                if recall is not None:
                    entered = not is_known(branches, level, links, usage, total, recall)
                if entered and _branch(i, branches, path, level, links, usage, prices):
                    level += 1
                    continue
        # M9, M7. [Leave level l. Try again.]
        entered = False
        _restore(path, level, links)
        while not entered:
            if level == 0:
                return frame.DONE, frame.Position(level, False, visited, count)
            if recall is not None:
                recall.sizes[level - 1] += recall.sizes[level]
            entered = _branch_again(path, level - 1, links, usage, prices)
            if not entered:
                level -= 1
                if recall is not None:
                    remember(level, links, usage, total, recall)
                    if recall.beyond[0]:
                        allowed = visited
                _restore(path, level, links)


@helper
def append_cover(covers, stack, k, names, first, path, level, n_options, prices):
    """Append the options that stack `k` and the levels above `level` take.

    The option of a level is ``names[first + path.pick[level]]``. With prices, append excluded
    options as well, which give the place of the cover in tree order. Returns whether the room is
    full now.
    """
    offsets, options, parents, state = covers
    n = state[frame.COVERS]
    at = offsets[n]
    for o in stack:
        if o < n_options or prices is not None:
            options[at] = o
            at += 1
    for s in range(level):
        is_refused = path.kind[s] == REFUSE
        if not is_refused or prices is not None:
            o = names[np.uintp(first) + np.uintp(path.pick[s])]
            options[at] = o + n_options if is_refused else o
            at += 1
    offsets[n + 1] = at
    parents[n] = k
    state[frame.COVERS] = n + 1
    return n + 1 == state[frame.FULL]


@helper
def name_choices(names, first, path, level, n_options, choices):
    """Write the choices on all levels above `level` as a stack has them; see `append_cover`."""
    for s in range(level):
        choices.options[s] = names[np.uintp(first) + np.uintp(path.pick[s])]
        choices.children[s] = path.branches[s]
        if path.kind[s] == REFUSE:
            name_refusal(choices, s, n_options)


@inlined
def name_refusal(choices, s, n_options):
    """Exclude the option of a level, which is written as taken.

    An option that is taken has the share of one branch, and its exclusion that of all others.
    """
    choices.options[s] += U(n_options)
    choices.children[s] /= choices.children[s] - 1.0


@helper
def _hand_back(path, level, links, stacks, k, choices, front):
    """Write the branches above `level` still to be searched; `choices` is overwritten."""
    while level > 0:
        level -= 1
        if path.kind[level] == EACH:
            p = links.down[path.pick[level]]
            while p >= links.left.size:
                choices.options[level] = links.option[p]
                front = frame.append(front, stacks, k, choices, level + 1)
                p = links.down[p]
        elif path.kind[level] == TAKE and path.branches[level] > 1:
            name_refusal(choices, level, links.first.size)
            front = frame.append(front, stacks, k, choices, level + 1)
    return front


@helper
def _select(stack, begin, links, usage, prices):
    """Take or exclude the options of a stack from place `begin` on, up to the first that clashes.

    A useless option that is taken counts as one. Returns -1, or the position of that option.
    """
    n_options = U(links.first.size)
    for s in range(begin, stack.size):
        if stack[s] >= U(2) * n_options:
            return s
        is_taken = stack[s] < n_options
        o = stack[s] if is_taken else U(stack[s] - n_options)
        if is_useless(o, prices):
            if is_taken:
                return s
            continue
        clashes = usage.decided[o]
        q = links.first[o]
        while links.top[q] != 0:
            i = links.top[q]
            clashes |= color(q, links) != PURE and usage.used[i] == usage.most[i]
            q = U(q + U(1))
        if clashes:
            return s
        usage.decided[o] = True
        _tweak(o, links)
        if is_taken:
            _take(links.first[o], links, usage)
    return -1


@helper
def _deselect(stack, begin, links, usage, prices):
    """Undo `_select`, from place `begin` of a stack on."""
    n_options = U(links.first.size)
    for s in range(stack.size - 1, begin - 1, -1):
        is_taken = stack[s] < n_options
        o = stack[s] if is_taken else U(stack[s] - n_options)
        if is_useless(o, prices):
            continue
        if is_taken:
            _untake(links.first[o], links, usage)
        _untweak(o, links)
        usage.decided[o] = False


@kernel
def _search(links, usage, prices, recall, task):
    """Search below every stack of a task; return covers and the frontier."""
    links, usage, task = borrowed(links), borrowed(usage), borrowed(task)
    prices, recalled = borrowed(prices), borrowed(recall)
    stacks, clash = task.stacks, task.clash
    found, front = frame.no_covers(), frame.no_stacks()
    n_options = links.first.size
    n_levels = usage.n_levels if prices is None else n_options
    selected = stacks.options[:0]
    path = Trail(
        np.zeros(n_options + 1, np.uint8),
        np.zeros(n_options + 1, np.uint32),
        np.zeros(n_options + 1, np.uint32),
        np.zeros(n_options, np.uint32),
        np.zeros(n_options + 3, np.int64),
        np.zeros(n_options, np.int64),
    )
    choices = frame.Choices(np.zeros(n_options + 1, np.uint32), np.ones(n_options + 1, np.float64))
    for o in range(n_options):
        if is_useless(o, prices):
            _tweak(o, links)
    for k in range(stacks.n):
        bounds, front = frame.begin_stack(task, k, found, front)
        if not frame.may_begin(bounds):
            continue
        if recall is not None and recall.beyond[0]:
            continue
        # M1. [Initialize.]
        stack = frame.stack_at(stacks, k)
        begin = shared(stack, selected)
        _deselect(selected, begin, links, usage, prices)
        clash[k] = _select(stack, begin, links, usage, prices)
        selected = stack if clash[k] < 0 else stack[: clash[k]]
        if clash[k] >= 0:
            continue
        begin_to_spend(stack, k, prices)
        event, position = frame.COVER, frame.at_the_top()
        while event in (frame.COVER, frame.DEEP) and position.covers < bounds.most:
            if event == frame.COVER:
                found = frame.with_room(task, k, n_levels, found)
            lent, written = borrowed((path, found))
            if recall is not None:
                recall.n_handed[0] = front.n
            event, position = _walk(
                links, usage, prices, recalled, lent, position, bounds, stack, k, written
            )
            if event in (frame.DEEP, frame.SPENT):
                name_choices(links.option, 0, path, position.level, n_options, choices)
                front = frame.append(front, stacks, k, choices, position.level)
        if frame.is_cut_short(event, bounds):
            name_choices(links.option, 0, path, position.level, n_options, choices)
            front = _hand_back(path, position.level, links, stacks, k, choices, front)
        _undo(path, position.level, links, usage)
        frame.end_stack(task, k, position)
        if recall is not None:
            end_recalling(k, position.level, recall)
    return found[:], front[:]


def search(
    problem: ExactCover,
    task: Task,
    rule: str = "",
    links: Links | None = None,
    recall: Recall | None = None,
) -> Outcome:
    """Search a task of a problem with bounds, or for the cheapest covers, which takes no rule."""
    if not task.cheapest:
        arrays: Any = links or links_of(problem, rule), usage_of(problem), None, recall
        return frame.search_task(_search, arrays, task)
    by_cost, pricing = ranked(problem)
    prices = prices_of(problem, pricing, task)
    stacks = renumbered(task.stacks, pricing.rank)
    arrays = links_of(by_cost), usage_of(by_cost), prices, None
    outcome = frame.search_task(_search, arrays, replace(task, stacks=stacks))
    return replace(
        outcome,
        solutions=renumbered(outcome.solutions, pricing.order),
        frontier=renumbered(outcome.frontier, pricing.order),
    )
