"""Dancing links for items with bounds, after Knuth's Algorithm M, for batches of stacks.

Such a cover is a *multiple covering with colors* (*The Art of Computer Programming* 7.2.2.1): a
primary item is in no fewer options than its *least* and in no more than its *most*. The links are
those of `batchsolve.engines.links`. An item is covered when as many options have it as may.

The branch item is, as in the book, the first of those with the fewest branches: one more than it
has options beyond those that it needs, so that an item that needs all its options has one branch,
and one that has too few has none. An item that is to be in just one more option is branched on as
in Algorithm X. For any other, the book tries the options of the item in turn, and *tweaks* those
before out of the lists. Here the first option is taken, or else *refused*, that is tweaked out, and
then an item is chosen anew. So the tree depends on the options taken and refused alone, and can be
cut anywhere: a stack holds refusals as well (`ExactCover.n_decisions`).
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from batchsolve.engines.borrowing import borrowed
from batchsolve.engines.links import (
    PURE,
    U,
    color,
    cover,
    purify,
    shared,
    uncover,
    unpurify,
)
from batchsolve.engines.stack_arrays import (
    COVERS,
    FULL,
    Choices,
    append,
    has_room,
    no_covers,
    no_stacks,
    stack_at,
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
    may_begin,
    with_room,
)
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.kernels import helper, inlined, kernel

EACH, TAKE, REFUSE = range(3)
"""What is done on a level: each option of an item is taken in turn; or one is taken; or refused."""


class Usage(NamedTuple):
    """How many options have each item, and how many must and may."""

    least: np.ndarray  # item -> as bounded; 0 for a secondary item
    most: np.ndarray  # item -> as bounded; 1 for a secondary item
    used: np.ndarray  # item -> options taken that have it; those that only share its colour aside
    decided: np.ndarray  # option -> whether the stack takes or refuses it
    n_levels: int  # options of a cover, at most


class Path(NamedTuple):
    """The branches that lead to where a search stands."""

    kind: np.ndarray  # level -> EACH, TAKE or REFUSE
    node: np.ndarray  # level -> the node of the option taken or refused
    branches: np.ndarray  # level -> how many branches the item had


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
    return Usage(least, most, used, np.zeros(problem.n_options, np.bool_), n_levels)


@inlined
def _commit(p, links, usage):
    """Count a node's option for its item, and cover or purify the item if that has enough."""
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
def _tweak(o, links):
    """Remove all nodes of an option from the lists of their items."""
    q = links.first[o]
    while links.top[q] != 0:
        if color(q, links) != PURE:
            u, d = links.up[q], links.down[q]
            links.down[u] = d
            links.up[d] = u
            links.size[links.top[q]] -= U(1)
        q = U(q + U(1))


@helper
def _untweak(o, links):
    q = U(links.first[o] + U(1))
    while links.top[q] != 0:
        q = U(q + U(1))
    q = U(q - U(1))
    while q >= links.first[o]:
        if color(q, links) != PURE:
            u, d = links.up[q], links.down[q]
            links.down[u] = q
            links.up[d] = q
            links.size[links.top[q]] += U(1)
        q = U(q - U(1))


@inlined
def choose(links, usage):
    """Return the fewest branches of an active item, and the item; 0 if every item has enough.

    Of items with equally few it is one that may be in the fewest options more than it must, and of
    those the first with the most options, as in Knuth's program DLX3.
    """
    best, least_slack, most_size = U(0xFFFFFFFF), U(0xFFFFFFFF), U(0)
    i, p = U(0), links.right[0]
    while p != 0:
        need, size = U(0), links.size[p]
        if usage.used[p] < usage.least[p]:
            need = U(usage.least[p] - usage.used[p])
        if need > 0 or size > 0:
            branches = U(0) if size < need else U(size - need + U(1))
            if branches <= best:
                slack = U(usage.most[p] - usage.used[p] - need)
                if (
                    branches < best
                    or slack < least_slack
                    or (slack == least_slack and size > most_size)
                ):
                    best, least_slack, most_size, i = branches, slack, size, p
                    if best <= 1:
                        break
        p = links.right[p]
    return best, i


@helper
def branch(i, best, path, level, links, usage):
    """Go the first way at an item."""
    p = links.down[i]
    path.node[level], path.branches[level] = p, best
    if usage.used[i] + U(1) == usage.most[i] and usage.used[i] < usage.least[i]:
        path.kind[level] = EACH
        cover(i, links)
        _commit_others(p, links, usage)
    else:
        path.kind[level] = TAKE
        _tweak(links.option[p], links)
        _commit(p, links, usage)
        _commit_others(p, links, usage)


@helper
def branch_again(path, level, links, usage):
    """Leave the way that was gone on a level, and go the next; tell whether there is one."""
    p, kind = path.node[level], path.kind[level]
    if kind == EACH:
        _uncommit_others(p, links, usage)
        p = links.down[p]
        path.node[level] = p
        if p >= links.left.size:
            _commit_others(p, links, usage)
            return True
        uncover(p, links)
        return False
    if kind == TAKE:
        _uncommit_others(p, links, usage)
        _uncommit(p, links, usage)
        if path.branches[level] > 1:
            path.kind[level] = REFUSE
            return True
    _untweak(links.option[p], links)
    return False


@helper
def undo(path, level, links, usage):
    """Undo what was done above a level."""
    while level > 0:
        level -= 1
        p, kind = path.node[level], path.kind[level]
        if kind != REFUSE:
            _uncommit_others(p, links, usage)
        if kind == EACH:
            uncover(links.top[p], links)
        else:
            if kind == TAKE:
                _uncommit(p, links, usage)
            _untweak(links.option[p], links)


@helper
def _walk(links, usage, path, position, bounds, stack, k, found):
    """Search on from where the links stand; as `batchsolve.engines.dlx` does."""
    level, entered, visited, count = position
    depth, allowed, most, _ = bounds
    while True:
        if entered:
            # M2. [Enter level l.]
            if visited == allowed:
                return SPENT, Position(level, False, visited, count)
            # M3. [Choose i.]
            best, i = choose(links, usage)
            if i == 0:
                visited += 1
                count += 1
                is_full = count == most
                if has_room(found):
                    is_full |= append_taken(found, stack, k, path, level, links)
                if is_full:
                    return COVER, Position(level, False, visited, count)
            elif best == 0:
                visited += 1
            elif level == depth:
                return DEEP, Position(level, False, visited, count)
            else:
                # M4, M5, M6. [Prepare to branch on i. Possibly tweak x_l. Try x_l.]
                visited += 1
                branch(i, best, path, level, links, usage)
                level += 1
                continue
        # M9, M7. [Leave level l. Try again.]
        entered = False
        while not entered:
            if level == 0:
                return DONE, Position(level, False, visited, count)
            level -= 1
            entered = branch_again(path, level, links, usage)
        level += 1


@helper
def append_taken(covers, stack, k, path, level, links):
    """Append the options that stack `k` and the levels above `level` take, not those refused.

    Returns whether there is no room for another cover.
    """
    offsets, options, parents, state = covers
    n, n_options = state[COVERS], links.first.size
    at = offsets[n]
    for o in stack:
        if o < n_options:
            options[at] = o
            at += 1
    for s in range(level):
        if path.kind[s] != REFUSE:
            options[at] = links.option[path.node[s]]
            at += 1
    offsets[n + 1] = at
    parents[n] = k
    state[COVERS] = n + 1
    return n + 1 == state[FULL]


@helper
def name_choices(path, level, links, choices):
    """Write what the stack of a node above `level` has for every level.

    An option that is taken has the share of one branch, and its refusal that of all others.
    """
    for s in range(level):
        choices.options[s] = links.option[path.node[s]]
        choices.children[s] = path.branches[s]
        if path.kind[s] == REFUSE:
            _name_refusal(path, s, links, choices)


@inlined
def _name_refusal(path, s, links, choices):
    choices.options[s] = U(links.option[path.node[s]] + U(links.first.size))
    choices.children[s] = path.branches[s] / (path.branches[s] - 1.0)


@helper
def hand_back(path, level, links, stacks, k, choices, front):
    """Write the branches above `level` that are still to be gone; `choices` is overwritten."""
    while level > 0:
        level -= 1
        if path.kind[level] == EACH:
            p = links.down[path.node[level]]
            while p >= links.left.size:
                choices.options[level] = links.option[p]
                front = append(front, stacks, k, choices, level + 1)
                p = links.down[p]
        elif path.kind[level] == TAKE and path.branches[level] > 1:
            _name_refusal(path, level, links, choices)
            front = append(front, stacks, k, choices, level + 1)
    return front


@helper
def select(stack, begin, links, usage):
    """Take and refuse the options of a stack from place `begin` on, up to the first that clashes.

    Returns -1, or where in the stack that is.
    """
    n_options = U(links.first.size)
    for s in range(begin, stack.size):
        if stack[s] >= U(2) * n_options:
            return s
        is_taken = stack[s] < n_options
        o = stack[s] if is_taken else U(stack[s] - n_options)
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
            _commit(links.first[o], links, usage)
            _commit_others(links.first[o], links, usage)
    return -1


@helper
def deselect(stack, begin, links, usage):
    """Undo `_select`, from place `begin` of a stack on."""
    n_options = U(links.first.size)
    for s in range(stack.size - 1, begin - 1, -1):
        is_taken = stack[s] < n_options
        o = stack[s] if is_taken else U(stack[s] - n_options)
        if is_taken:
            _uncommit_others(links.first[o], links, usage)
            _uncommit(links.first[o], links, usage)
        _untweak(o, links)
        usage.decided[o] = False


@kernel
def search_bounded(links, usage, task):
    """Search below every stack of a task; return covers and the frontier."""
    links, usage, task = borrowed(links), borrowed(usage), borrowed(task)
    stacks, clash = task.stacks, task.clash
    found, front = no_covers(), no_stacks()
    n_options = links.first.size
    selected = stacks.options[:0]
    path = Path(
        np.zeros(n_options + 1, np.uint8),
        np.zeros(n_options + 1, np.uint32),
        np.zeros(n_options + 1, np.uint32),
    )
    choices = Choices(np.zeros(n_options + 1, np.uint32), np.ones(n_options + 1, np.float64))
    for k in range(stacks.n):
        bounds, front = begin_stack(task, k, found, front)
        if not may_begin(bounds):
            continue
        # M1. [Initialize.]
        stack = stack_at(stacks, k)
        begin = shared(stack, selected)
        deselect(selected, begin, links, usage)
        clash[k] = select(stack, begin, links, usage)
        selected = stack if clash[k] < 0 else stack[: clash[k]]
        if clash[k] >= 0:
            continue
        event, position = COVER, at_the_top()
        while event in (COVER, DEEP) and position.covers < bounds.most:
            if event == COVER:
                found = with_room(task, k, usage.n_levels, found)
            lent, written = borrowed((path, found))
            event, position = _walk(links, usage, lent, position, bounds, stack, k, written)
            if event in (DEEP, SPENT):
                name_choices(path, position.level, links, choices)
                front = append(front, stacks, k, choices, position.level)
        if is_cut_short(event, bounds):
            name_choices(path, position.level, links, choices)
            front = hand_back(path, position.level, links, stacks, k, choices, front)
        undo(path, position.level, links, usage)
        end_stack(task, k, position)
    return found, front
