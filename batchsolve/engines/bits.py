"""Bit-parallel exact cover: the state of the search is a set of options, one bit each.

Choosing an option takes away the options that conflict with it, which is one operation on the
words of the set; nothing has to be undone, because every level has a set of its own. The number of
options that an item has left is the number of ones that its row and the set share. These numbers
are counted afresh at every node, for eight items at once.

The search runs on a *residual* (`batchsolve.engines.residual`): what the stack leaves of the
problem. Where half of that or less is left further down the tree, the residual of the residual is
built and searched in its place, so that deep in the tree, where most nodes are, a few words hold
the set. If that took longer than it saved, it is not done for so few options again.

The tree is that of `batchsolve.engines.dlx`, node by node: the branch item is the first of those
with at most one option, or else of those with the fewest, and options are tried in ascending order.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from batchsolve.engines.contract import MRV_TREE, Capabilities, Outcome, Task
from batchsolve.engines.dlx import DancingLinks
from batchsolve.engines.intrinsics import (
    LANES,
    add_meet,
    at_least,
    least_lane,
    lesser,
    load,
    popcount,
    shift_or,
    splat,
    trailing_zeros,
)
from batchsolve.engines.ledger import KEEP, close_page, run, turn_page
from batchsolve.engines.ragged import append, arrays_of, no_stacks, stack_at
from batchsolve.engines.residual import (
    COVERED,
    build,
    entries_of,
    fill_set,
    list_left,
    make_scratch,
    most_left,
    select,
)
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.kernels import kernel

W = uint64

MOST_OPTIONS = 40_000  # their conflicts take 200 MB

_COUNT_SHIFT = 32  # a key is the number of options of an item, shifted, and the item
_ITEM = 2**32 - 1
_NARROWER = 2  # how many times fewer options are worth a residual of their own
_WORTH = 24  # nodes × items, for each of its options, that make a residual worth building


@njit(inline="always")
def _scan(arena, place, alive, at):
    """Return the least key of all uncovered items; one with `COVERED` if there is none.

    The key of an item is the number of its options, but at least 1, before the item's number: the
    least key is that of the branch item.
    """
    words = W(place.words)
    best, x = splat(~W(0)), W(place.lanes)
    tags = W(place.tags)
    for _ in range((W(place.n_items) + W(LANES - 1)) // W(LANES)):
        met = splat(W(0))
        for w in range(words):
            met = add_meet(met, load(arena, x), alive[at + W(w)])
            x += W(LANES)
        key = shift_or(at_least(met, W(1)), W(_COUNT_SHIFT), load(arena, tags))
        best = lesser(best, key)
        tags += W(LANES)
    return least_lane(best)


_DONE, _SPENT, _COVER, _DEEP, _NARROW = 0, 1, 2, 3, 4


@kernel
def _walk(
    arena, place, alive, left, stride, pick, children, base, level, entered, depth, visited,
    allowed, count, most, pause, least,
):  # fmt: skip
    """Search one residual on from a level until something must be written down.

    Either the node at `level` has just been entered, or that level is to be left. The walk ends

    * `_DONE` when the residual, whose topmost node is on level `base`, is exhausted,
    * `_SPENT` at a node that it may not visit because `visited` is `allowed`,
    * `_COVER` after a cover, if `pause` is set or `count` is `most`,
    * `_DEEP` at a node at the depth limit that is neither a cover nor a dead end,
    * `_NARROW` at a node, not yet visited, below which another residual shall be searched; it
      leaves `least` options or more.
    """
    words = W(place.words)
    conflicts, rows, first = W(place.conflicts), W(place.rows), W(place.first)
    covers, tags = W(place.covers), W(place.tags)
    most_narrow = place.n_options // _NARROWER
    while True:
        if entered:
            # X2. [Enter level l.]
            if visited == allowed:
                return _SPENT, level, visited, count
            # X3. [Choose i.]
            at = W(level) * stride
            key = _scan(arena, place, alive, at)
            if key >= COVERED:
                visited += 1
                count += 1
                if pause or count == most:
                    return _COVER, level, visited, count
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
                    return _DEEP, level, visited, count
                else:
                    if size > W(1) and least <= most_narrow:
                        n_alive = W(0)
                        for w in range(words):
                            n_alive += popcount(alive[at + W(w)])
                        if W(least) <= n_alive and n_alive <= W(most_narrow):
                            return _NARROW, level, visited, count
                    visited += 1
                    children[W(level)] = size
        while True:
            if not entered:
                # X8. [Leave level l.]
                if level == base:
                    return _DONE, level, visited, count
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


@kernel
def _list_alive(arena, place, alive, at, scratch):
    """List the options and the items that a node leaves of a residual; return how many."""
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


@kernel
def _name_choices(arena, places, bases, level, pick, chosen):
    """Write the numbers that the choices on all levels above `level` have in the problem."""
    f = len(places) - 1
    while level > 0:
        level -= 1
        while bases[f] > level:
            f -= 1
        chosen[level] = arena[W(places[f].options) + pick[level]]


@kernel
def _hand_back(arena, places, bases, level, left, stride, stacks, k, chosen, children, front):
    """Write what is left of every level above `level`; `chosen` is overwritten."""
    f = len(places) - 1
    while level > 0:
        level -= 1
        while bases[f] > level:
            f -= 1
        place = places[f]
        for o in range(place.n_options):
            if (left[W(level) * stride + W(o >> 6)] >> W(o & 63)) & W(1):
                chosen[level] = arena[place.options + o]
                front = append(front, stacks, k, chosen, children, level + 1)
    return front


@kernel
def _search(entries, ledger):
    """Search below every stack of a task; return covers and the frontier."""
    stacks, clash, depth = ledger.stacks, ledger.clash, ledger.depth
    found, front = no_stacks(), no_stacks()
    held = np.empty(entries.n_items, np.int64)
    scratch = make_scratch(entries)
    arena = np.empty(1024, np.uint64)
    alive, left = np.empty(0, np.uint64), np.empty(0, np.uint64)
    pick = np.zeros(entries.n_primary + 1, np.uint64)
    children = np.ones(entries.n_primary + 1, np.uint64)
    chosen = np.zeros(entries.n_primary + 1, np.uint32)
    least = 2 * LANES
    for k in range(stacks.n):
        want, allowed, most = turn_page(ledger, k)
        if want == 0:
            continue
        if allowed == 0 or most == 0:
            front = append(front, stacks, k, chosen, children, 0)
            continue
        # X1. [Initialize.]
        clash[k] = select(stack_at(stacks, k), entries, held)
        if clash[k] >= 0:
            continue
        n_alive, n_open = list_left(entries, held, scratch)
        place, arena, scratch = build(entries, n_alive, n_open, scratch, 0, arena)
        places, bases, begun = [place], [0], [np.int64(0)]
        stride = W(place.words)
        if W(alive.size) < W(n_open + 1) * stride:
            alive = np.empty(W(n_open + 1) * stride, np.uint64)
            left = np.empty(W(n_open + 1) * stride, np.uint64)
        fill_set(alive, 0, n_alive)
        visited, count, level, entered = np.int64(0), np.int64(0), 0, True
        while True:
            event, level, visited, count = _walk(
                arena, places[-1], alive, left, stride, pick, children, bases[-1], level, entered,
                depth, visited, allowed, count, most, ledger.left[KEEP] > 0, least,
            )  # fmt: skip
            entered = False
            if event == _NARROW:
                at = np.int64(W(level) * stride)
                n_alive, n_open = _list_alive(arena, places[-1], alive, at, scratch)
                place, arena, scratch = build(
                    entries, n_alive, n_open, scratch, places[-1].end, arena
                )
                places.append(place)
                bases.append(level)
                begun.append(visited)
                fill_set(alive, at, n_alive)
                entered = True
            elif event == _DONE:
                n_options = places.pop().n_options
                bases.pop()
                if len(places) == 0:
                    break
                if (visited - begun.pop()) * places[-1].n_items < _WORTH * n_options:
                    least = max(least, n_options + 1)
            else:
                _name_choices(arena, places, bases, level, pick, chosen)
                if event == _COVER:
                    if ledger.left[KEEP] > 0:
                        found = append(found, stacks, k, chosen, children, level)
                        ledger.left[KEEP] -= 1
                    if count == most:
                        break
                else:
                    front = append(front, stacks, k, chosen, children, level)
                    if event == _SPENT:
                        break
        if len(places) > 0 and (event == _SPENT or most < want):
            front = _hand_back(
                arena, places, bases, level, left, stride, stacks, k, chosen, children, front
            )
        close_page(ledger, k, visited, count)
    return found, front


class BitParallel:
    """The bit-parallel engine.

    A task with a stack that leaves more than `MOST_OPTIONS` options is left to dancing links, which
    search the same tree: the matrix of conflicts would not fit into memory.
    """

    name = "bits"
    capabilities = Capabilities(
        "bit-parallel search of residual problems", colors=True, tree=MRV_TREE
    )

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search the stacks of a task; see `batchsolve.engines.contract`."""
        entries = entries_of(problem)
        if (
            problem.n_options > MOST_OPTIONS
            and most_left(entries, arrays_of(task.stacks)) > MOST_OPTIONS
        ):
            return DancingLinks().search(problem, task)
        return run(_search, (entries,), task)
