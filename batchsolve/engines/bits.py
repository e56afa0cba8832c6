"""Bit-parallel exact cover: the state of the search is a set of options, one bit each.

Choosing an option takes away the options that conflict with it, which is one operation on the
words of the set; nothing has to be undone, because every level has a set of its own. The number of
options that an item has left is the number of ones that its row and the set share. Every node
counts these numbers anew, for eight items at once.

The search runs on a *residual* (`batchsolve.engines.residual`): what the stack leaves of the
problem. Where at most half of its options are left further down the tree, the residual of the
residual is built and searched in its place, so that deep in the tree, where most nodes are, a few
words hold the set. If building one took longer than it saved, none that small is built again.

The tree is that of `batchsolve.engines.dlx`, node by node: the branch item is the first of those
with at most one option, or else of those with the fewest, and options are tried in ascending order.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64

from batchsolve.engines import dlx, frame
from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.intrinsics import (
    WIDTH,
    add_meet,
    at_least,
    borrowed,
    least_word,
    lesser,
    load,
    popcount,
    shift_or,
    splat,
    trailing_zeros,
)
from batchsolve.engines.residual import (
    COVERED,
    Extent,
    any_leaves_more,
    build,
    entries_of,
    fill_set,
    list_left,
    make_scratch,
    select,
)
from batchsolve.kernels import helper, inlined, kernel
from batchsolve.problems.exact_cover import ExactCover

W = uint64

MOST_OPTIONS = 40_000  # their conflicts take 200 MB

_COUNT_SHIFT = 32  # a key is the number of options of an item, shifted, and the item
_ITEM = 2**32 - 1
_NARROWER = 2  # a residual of its own is worth building for this many times fewer options
_WORTH = 24  # nodes × items, for each of its options, that make a residual worth building


_NARROW = frame.DEEP + 1
"""A walk ended at a node, not yet visited, below which another residual is to be searched."""


class Trail(NamedTuple):
    """The working memory of a walk, level by level; a set of options has `stride` words."""

    alive: np.ndarray  # flat (levels, stride): the options that are left
    left: np.ndarray  # flat (levels, stride): the children to be tried
    stride: int
    pick: np.ndarray  # level -> the option chosen there, as the residual numbers it
    children: np.ndarray  # level -> how many children the node has


class Nested(NamedTuple):
    """A residual and the node at its top; of several, the last is the one being searched."""

    place: Extent
    base: int  # the level of its topmost node
    begun: int  # the nodes that were visited before


@inlined
def _scan(arena, place, alive, at):
    """Return the least key of all uncovered items; one with `COVERED` if all are covered.

    The key of an item is the number of its options, but at least 1, before the item's number: the
    least key is that of the branch item.
    """
    words = W(place.words)
    best, x = splat(~W(0)), W(place.vectors)
    tags = W(place.tags)
    for _ in range((W(place.n_items) + W(WIDTH - 1)) // W(WIDTH)):
        met = splat(W(0))
        for w in range(words):
            met = add_meet(met, load(arena, x), alive[at + W(w)])
            x += W(WIDTH)
        key = shift_or(at_least(met, W(1)), W(_COUNT_SHIFT), load(arena, tags))
        best = lesser(best, key)
        tags += W(WIDTH)
    return least_word(best)


@helper
def _walk(arena, residual, path, position, bounds, least, stack, k, outer, found):
    """Continue the search of one residual until an event; write covers while there is room.

    Parameters
    ----------
    arena : ndarray of uint64
    residual : Nested
    path : Trail
    position : Position
    bounds : Bounds
    least : int
        The fewest options for which another residual is searched.
    stack : ndarray of uint32
        The options of stack `k`.
    k : int
    outer : ndarray of uint32
        The options chosen on the levels above the residual.
    found : GrowingCovers
        Receives covers while there is room.

    Returns
    -------
    int, Position
        The event, where `DONE` means this residual; and where to go on.
    """
    place = residual.place
    alive, left, stride, pick, children = path
    level, entered, visited, count = position
    depth, allowed, most, _ = bounds
    words = W(place.words)
    conflicts, rows, first = W(place.conflicts), W(place.rows), W(place.first)
    covers, tags = W(place.covers), W(place.tags)
    most_narrow = place.n_options // _NARROWER
    while True:
        if entered:
            # X2. [Enter level l.]
            if visited == allowed:
                return frame.SPENT, frame.Position(level, False, visited, count)
            # X3. [Choose i.]
            at = W(level) * stride
            key = _scan(arena, place, alive, at)
            if key >= COVERED:
                visited += 1
                count += 1
                is_full = count == most
                if frame.has_room(found):
                    is_full |= frame.append_cover(
                        found, stack, k, outer, residual.base, arena, place.options, pick, level
                    )
                if is_full:
                    return frame.COVER, frame.Position(level, False, visited, count)
                entered = False
            else:
                row = rows + (key & W(_ITEM)) * words
                size = W(0)
                for w in range(words):
                    meet = alive[at + W(w)] & arena[row + W(w)]
                    left[at + W(w)] = meet
                    size += popcount(meet)
                if size == W(0):
                    visited += 1
                    entered = False
                elif level == depth:
                    return frame.DEEP, frame.Position(level, False, visited, count)
                else:
                    if size > W(1) and least <= most_narrow:
                        n_alive = W(0)
                        for w in range(words):
                            n_alive += popcount(alive[at + W(w)])
                        if W(least) <= n_alive and n_alive <= W(most_narrow):
                            return _NARROW, frame.Position(level, True, visited, count)
                    visited += 1
                    children[W(level)] = size
        while True:
            if not entered:
                # X8. [Leave level l.]
                if level == residual.base:
                    return frame.DONE, frame.Position(level, False, visited, count)
                level -= 1
                # X6. [Try again.]
                o = pick[W(level)]
                for x in range(arena[first + o], arena[first + o + W(1)]):
                    arena[tags + arena[covers + W(x)]] &= ~COVERED
            # X5. [Try x_l.]
            at = W(level) * stride
            lowest = W(0)
            while lowest < words and left[at + lowest] == W(0):
                lowest += W(1)
            if lowest < words:
                rest = left[at + lowest]
                o = (lowest << W(6)) | trailing_zeros(rest)
                left[at + lowest] = rest & (rest - W(1))
                pick[W(level)] = o
                row = conflicts + o * words
                for w in range(words):
                    alive[at + stride + W(w)] = alive[at + W(w)] & ~arena[row + W(w)]
                for x in range(arena[first + o], arena[first + o + W(1)]):
                    arena[tags + arena[covers + W(x)]] |= COVERED
                level += 1
                entered = True
                break
            # X7. [Backtrack.]
            entered = False


@helper
def _list_alive(arena, place, alive, at, scratch):
    """List the options and the items that a node leaves of a residual; return both numbers."""
    n_alive, n_open = 0, 0
    for o in range(place.n_options):
        if (alive[at + (o >> 6)] >> W(o & 63)) & W(1):
            scratch.alive[n_alive] = arena[place.options + o]
            n_alive += 1
    for i in range(place.n_items):
        if arena[place.tags + i] < COVERED:
            scratch.open_items[n_open] = arena[place.items + i]
            n_open += 1
    return n_alive, n_open


@helper
def _name_choices(arena, residuals, level, pick, chosen):
    """Write the choices on all levels above `level` as options of the problem."""
    f = len(residuals) - 1
    while level > 0:
        level -= 1
        while residuals[f].base > level:
            f -= 1
        chosen[level] = arena[W(residuals[f].place.options) + pick[level]]


@helper
def _hand_back(arena, residuals, path, level, stacks, k, choices, front):
    """Write the children above `level` still to be tried to `front`; `choices` is overwritten."""
    f = len(residuals) - 1
    while level > 0:
        level -= 1
        while residuals[f].base > level:
            f -= 1
        place, at = residuals[f].place, W(level) * path.stride
        for o in range(place.n_options):
            if (path.left[at + W(o >> 6)] >> W(o & 63)) & W(1):
                choices.options[level] = arena[place.options + o]
                front = frame.append(front, stacks, k, choices, level + 1)
    return front


@kernel
def _search(entries, task):
    """Search below every stack of a task; return covers and the frontier."""
    task = borrowed(task)
    stacks, clash = task.stacks, task.clash
    found, front = frame.no_covers(), frame.no_stacks()
    held = np.empty(entries.n_items, np.int64)
    scratch = make_scratch(entries)
    arena = np.empty(1024, np.uint64)
    alive, left = np.empty(0, np.uint64), np.empty(0, np.uint64)
    pick = np.zeros(entries.n_primary + 1, np.uint64)
    choices = frame.no_choices(entries.n_primary + 1)
    least = 2 * WIDTH
    for k in range(stacks.n):
        bounds, front = frame.begin_stack(task, k, found, front)
        if not frame.may_begin(bounds):
            continue
        # X1. [Initialize.]
        stack = frame.stack_at(stacks, k)
        clash[k] = select(stack, entries, held)
        if clash[k] >= 0:
            continue
        n_alive, n_open = list_left(entries, held, scratch)
        place, arena, scratch = build(entries, n_alive, n_open, scratch, frame.ZERO, arena)
        event, position, n_levels = frame.COVER, frame.at_the_top(), n_open
        residuals = [Nested(place, position.level, position.nodes)]
        stride = W(place.words)
        if W(alive.size) < W(n_open + 1) * stride:
            alive = np.empty(W(n_open + 1) * stride, np.uint64)
            left = np.empty(W(n_open + 1) * stride, np.uint64)
        path = Trail(alive, left, stride, pick, choices.children)
        fill_set(alive, 0, n_alive)
        while event != frame.SPENT and position.covers < bounds.most:
            if event == frame.COVER:
                found = frame.with_room(task, k, n_levels, found)
            lent, here, outer, written = borrowed((arena, path, choices.options, found))
            event, position = _walk(
                lent, residuals[-1], here, position, bounds, least, stack, k, outer, written
            )
            level = position.level
            if event != frame.COVER:
                _name_choices(arena, residuals, level, pick, choices.options)
            if event == _NARROW:
                at = np.int64(W(level) * stride)
                n_alive, n_open = _list_alive(arena, residuals[-1].place, alive, at, scratch)
                place, arena, scratch = build(
                    entries, n_alive, n_open, scratch, residuals[-1].place.end, arena
                )
                residuals.append(Nested(place, level, position.nodes))
                fill_set(alive, at, n_alive)
            elif event == frame.DONE:
                done = residuals.pop()
                if len(residuals) == 0:
                    break
                n_nodes, n_options = position.nodes - done.begun, done.place.n_options
                if n_nodes * residuals[-1].place.n_items < _WORTH * n_options:
                    least = max(least, n_options + 1)
            elif event != frame.COVER:
                front = frame.append(front, stacks, k, choices, level)
        if frame.is_cut_short(event, bounds) and len(residuals) > 0:
            _name_choices(arena, residuals, position.level, pick, choices.options)
            front = _hand_back(arena, residuals, path, position.level, stacks, k, choices, front)
        frame.end_stack(task, k, position)
    return found[:], front[:]


def search(problem: ExactCover, task: Task) -> Outcome:
    """Search a task; see `batchsolve.engines.contract`.

    A task with a stack that leaves more than `MOST_OPTIONS` options is left to dancing links, which
    search the same tree: the matrix of conflicts would not fit into memory.
    """
    if problem.bounds is not None:
        from batchsolve.engines import bounded_bits  # compiled when first needed

        return bounded_bits.search(problem, task)
    if any_leaves_more(problem, task.stacks, MOST_OPTIONS):
        return dlx.search(problem, task)
    return frame.search_task(_search, (entries_of(problem),), task)
