"""Bit-parallel exact cover for items with bounds.

As in `batchsolve.engines.bits`, the state is the set of options that are left, one bit each, in a
set of its own on every level. Two options that share an item conflict if the item may be in just
one more option; the options of any other item are taken away together once it is in its upper
bound of them. An option that is excluded or dropped is taken away alone.

The tag of an item says how many options it needs, and how many more than those it may have. Added
to the number of options that are left, it is the key by which the branch item is the least.

The tree is that of `batchsolve.engines.bounded`, node by node.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from batchsolve.engines import bounded, frame
from batchsolve.engines.bounded import (
    EACH,
    REFUSE,
    TAKE,
    append_cover,
    name_choices,
    name_refusal,
)
from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.intrinsics import (
    WIDTH,
    add_meet,
    borrowed,
    branch_keys,
    least_word,
    lesser,
    load,
    popcount,
    splat,
    trailing_zeros,
)
from batchsolve.engines.residual import (
    COVERED,
    W,
    any_leaves_more,
    build,
    entries_of,
    fill_set,
    is_barred,
    list_left,
    make_scratch,
)
from batchsolve.kernels import helper, inlined, kernel
from batchsolve.problems.exact_cover import ExactCover

MOST_OPTIONS = 16_000  # a key has 14 bits for branches; the sets of all levels take 32 MB
MOST_ITEMS = MOST_BOUND = 2**16 - 1

_NEED, _SLACK, _SIZE = 48, 32, 16  # the places in a tag; the number of the item is at place 0
_FIELD = W(2**16 - 1)
_ENOUGH = COVERED  # the least tag of an item that needs no more options
_FULL = COVERED >> W(_SLACK)  # the upper half of the tag of an item that may have no more
_NO_BRANCH = COVERED | COVERED >> W(1)  # the least key of an item that has and needs no options


class Needs(NamedTuple):
    """The needs of the items of a residual; `tags` are in the arena."""

    slack: np.ndarray  # item -> how many options it may have beyond those it needs, at the top
    is_wide: np.ndarray  # item -> whether it may have several options, at the top
    needy: np.ndarray  # the items that need more options: a set of words
    members: np.ndarray  # flat (options, words): the items of each option, without `total`
    total: int  # the item that all options have; -1 if none does
    words: int  # of a set of items


class Trail(NamedTuple):
    """The working memory of a walk, level by level; a set of options has `stride` words."""

    alive: np.ndarray  # flat (levels, stride): the options that are left
    stride: int
    kind: np.ndarray  # level -> EACH, TAKE or REFUSE
    pick: np.ndarray  # level -> the option taken or excluded there, as the residual numbers it
    row: np.ndarray  # level -> the offset of the options of the item branched on
    branches: np.ndarray  # level -> how many branches the item had
    needs: np.ndarray  # level -> the options that items need, together, without `total`
    gain: np.ndarray  # option -> how many items it has that need more options


@inlined
def _scan(arena, place, alive, at):
    """Return the least key of all items; see `branch_keys`."""
    words = W(place.words)
    best, x = splat(~W(0)), W(place.vectors)
    tags = W(place.tags)
    for _ in range((W(place.n_items) + W(WIDTH - 1)) // W(WIDTH)):
        met = splat(W(0))
        for w in range(words):
            met = add_meet(met, load(arena, x), alive[at + W(w)])
            x += W(WIDTH)
        best = lesser(best, branch_keys(met, load(arena, tags)))
        tags += W(WIDTH)
    return least_word(best)


@inlined
def _drop_small(arena, place, needs, path, level):
    """Drop options as `bounded` does; tell whether the others can meet all needs."""
    missing = path.needs[level]
    tag = arena[W(place.tags) + W(needs.total)]
    more = ((tag >> W(_SLACK)) & _FIELD) + (COVERED >> W(_NEED)) - (tag >> W(_NEED))
    if missing == W(0) or more == W(0):
        return missing == W(0)
    alive, at = path.alive, W(level) * path.stride
    most_gain = W(0)
    for w in range(W(place.words)):
        rest = alive[at + w]
        while rest != W(0):
            o = (w << W(6)) | trailing_zeros(rest)
            rest &= rest - W(1)
            gain, x = W(0), o * W(needs.words)
            for y in range(W(needs.words)):
                gain += popcount(needs.members[x + y] & needs.needy[y])
            path.gain[o] = gain
            most_gain = max(most_gain, gain)
    if more * most_gain < missing:
        return False
    enough = missing - min(missing, (more - W(1)) * most_gain)
    for w in range(W(place.words)):
        rest = alive[at + w]
        while rest != W(0):
            bit = rest & (~rest + W(1))
            if path.gain[(w << W(6)) | trailing_zeros(rest)] < enough:
                alive[at + w] &= ~bit
            rest ^= bit
    return True


@inlined
def _take(o, arena, place, needs, path, level):
    """Write the set of the next level, in which an option of this one is taken."""
    alive, words = path.alive, W(place.words)
    at = W(level) * path.stride
    below, row = at + path.stride, W(place.conflicts) + o * words
    for w in range(words):
        alive[below + w] = alive[at + w] & ~arena[row + w]
    missing, first = path.needs[level], W(place.first) + o
    for x in range(arena[first], arena[first + W(1)]):
        i = arena[W(place.covers) + x]
        tag = arena[W(place.tags) + i]
        if tag < _ENOUGH:
            tag += W(1) << W(_NEED)
            missing -= W(np.int64(i) != needs.total)
            if tag >= _ENOUGH:
                needs.needy[i >> W(6)] &= ~(W(1) << (i & W(63)))
        else:
            tag -= W(1) << W(_SLACK)
        arena[W(place.tags) + i] = tag
        if tag >> W(_SLACK) == _FULL and needs.is_wide[i]:
            row = W(place.rows) + i * words
            for w in range(words):
                alive[below + w] &= ~arena[row + w]
    path.needs[level + 1] = missing


@inlined
def _untake(o, arena, place, needs):
    """Give the items of an option their tags back."""
    first = W(place.first) + o
    for x in range(arena[first], arena[first + W(1)]):
        i = arena[W(place.covers) + x]
        tag = arena[W(place.tags) + i]
        if (tag >> W(_SLACK)) & _FIELD < needs.slack[i]:
            tag += W(1) << W(_SLACK)
        else:
            tag -= W(1) << W(_NEED)
            needs.needy[i >> W(6)] |= W(1) << (i & W(63))
        arena[W(place.tags) + i] = tag


@inlined
def _exclude(o, path, level):
    """Write the set of the next level, in which an option of this one is excluded."""
    at = W(level) * path.stride
    for w in range(path.stride):
        path.alive[at + path.stride + w] = path.alive[at + w]
    path.alive[at + path.stride + (o >> W(6))] &= ~(W(1) << (o & W(63)))
    path.needs[level + 1] = path.needs[level]


@inlined
def _first_from(o, arena, place, path, level):
    """Return the first option of a level's item, from one on; `n_options` if there is none."""
    at, w = W(level) * path.stride, o >> W(6)
    mask = ~W(0) << (o & W(63))
    while w < W(place.words):
        rest = path.alive[at + w] & arena[path.row[level] + w] & mask
        if rest != W(0):
            return (w << W(6)) | trailing_zeros(rest)
        mask = ~W(0)
        w += W(1)
    return W(place.n_options)


@inlined
def _branch_again(arena, place, needs, path, level):
    """Leave the branch of a level and enter the next; tell whether there is one."""
    o, kind = path.pick[level], path.kind[level]
    if kind == REFUSE:
        return False
    _untake(o, arena, place, needs)
    if kind == TAKE:
        if path.branches[level] == W(1):
            return False
        path.kind[level] = REFUSE
        _exclude(o, path, level)
        return True
    o = _first_from(o + W(1), arena, place, path, level)
    if o == W(place.n_options):
        return False
    path.pick[level] = o
    _take(o, arena, place, needs, path, level)
    return True


@helper
def _walk(arena, place, needs, path, position, bounds, stack, k, n_options, found):
    """Continue the search of a residual until an event, as `bounded` does."""
    level, entered, visited, count = position
    depth, allowed, most, _ = bounds
    while True:
        if entered:
            # M2. [Enter level l.]
            if visited == allowed:
                return frame.SPENT, frame.Position(level, False, visited, count)
            # M3. [Choose i.]
            key = W(0)
            if needs.total < 0 or _drop_small(arena, place, needs, path, level):
                key = _scan(arena, place, path.alive, W(level) * path.stride)
            if key < _ENOUGH:
                visited += 1
            elif key >= _NO_BRANCH:
                visited += 1
                count += 1
                is_full = count == most
                if frame.has_room(found):
                    is_full |= append_cover(
                        found, stack, k, arena, place.options, path, level, n_options, None
                    )
                if is_full:
                    return frame.COVER, frame.Position(level, False, visited, count)
            elif level == depth:
                return frame.DEEP, frame.Position(level, False, visited, count)
            else:
                # M4, M5, M6. [Prepare to branch on i. Possibly tweak x_l. Try x_l.]
                visited += 1
                i = key & _FIELD
                tag = arena[W(place.tags) + i] >> W(_SLACK)
                path.row[level] = W(place.rows) + i * W(place.words)
                path.branches[level] = ((key - _ENOUGH) >> W(_NEED)) + W(1)
                path.kind[level] = EACH if tag + (W(1) << W(_NEED - _SLACK)) == _FULL else TAKE
                o = _first_from(W(0), arena, place, path, level)
                path.pick[level] = o
                _take(o, arena, place, needs, path, level)
                level += 1
                continue
        # M9, M7. [Leave level l. Try again.]
        entered = False
        while not entered:
            if level == 0:
                return frame.DONE, frame.Position(level, False, visited, count)
            entered = _branch_again(arena, place, needs, path, level - 1)
            if not entered:
                level -= 1


@helper
def _hand_back(arena, place, path, level, n_options, stacks, k, choices, front):
    """Write the branches above `level` still to be searched; `choices` is overwritten."""
    while level > 0:
        level -= 1
        if path.kind[level] == EACH:
            o = _first_from(path.pick[level] + W(1), arena, place, path, level)
            while o < W(place.n_options):
                choices.options[level] = arena[W(place.options) + o]
                front = frame.append(front, stacks, k, choices, level + 1)
                o = _first_from(o + W(1), arena, place, path, level)
        elif path.kind[level] == TAKE and path.branches[level] > W(1):
            name_refusal(choices, level, n_options)
            front = frame.append(front, stacks, k, choices, level + 1)
    return front


@helper
def _select(stack, entries, usage, held):
    """Record what a stack takes and excludes; return -1, or the position of an option that clashes.

    ``held[i]`` is as in `residual.select`; a primary item that may have more options is not held.
    """
    n_options, colored = entries.indptr.size - 1, entries.colors.size > 0
    for i in range(entries.n_items):
        held[i], usage.used[i + 1] = -1, 0
    usage.decided[:] = False
    for s in range(stack.size):
        if stack[s] >= 2 * n_options:
            return s
        o = stack[s] % n_options
        if usage.decided[o]:
            return s
        begin, end = entries.indptr[o], entries.indptr[o + 1]
        for x in range(begin, end):
            if is_barred(x, entries, held, colored):
                return s
        usage.decided[o] = True
        if stack[s] < n_options:
            for x in range(begin, end):
                i = entries.indices[x]
                usage.used[i + 1] += 1
                if usage.used[i + 1] >= usage.most[i + 1]:
                    held[i] = entries.colors[x] if colored else 0
    return -1


@helper
def _list_undecided(n_alive, usage, scratch):
    """Keep the options listed that a stack neither takes nor excludes; return how many."""
    n = 0
    for x in range(n_alive):
        if not usage.decided[scratch.alive[x]]:
            scratch.alive[n] = scratch.alive[x]
            n += 1
    return n


@helper
def _needs_of(usage, arena, place):
    """Write the tags of the items of a residual; return its needs, and how many there are."""
    n, words = place.n_items, (place.n_items + 63) // 64
    slack, is_wide = np.zeros(n, np.uint64), np.zeros(n, np.bool_)
    needy, total, missing = np.zeros(words, np.uint64), -1, W(0)
    for i in range(n):
        j = arena[place.items + i] + W(1)
        used, least, most = W(usage.used[j]), W(usage.least[j]), W(usage.most[j])
        need = least - min(used, least)
        slack[i], is_wide[i] = most - used - need, most - used > W(1)
        arena[place.tags + i] = (
            COVERED - (need << W(_NEED)) + (slack[i] << W(_SLACK)) + (_FIELD << W(_SIZE)) + W(i)
        )
        if need > W(0):
            needy[i >> 6] |= W(1) << W(i & 63)
        if j == W(usage.total):
            total = i
        else:
            missing += need
    members = np.zeros(0 if total < 0 else place.n_options * words, np.uint64)
    if total >= 0:
        for o in range(place.n_options):
            for x in range(arena[place.first + o], arena[place.first + o + 1]):
                i = arena[place.covers + np.int64(x)]
                if i != W(total):
                    members[W(o * words) + (i >> W(6))] |= W(1) << (i & W(63))
    return Needs(slack, is_wide, needy, members, total, words), missing


@kernel
def _search(entries, usage, task):
    """Search below every stack of a task; return covers and the frontier."""
    task, usage = borrowed(task), borrowed(usage)
    stacks, clash = task.stacks, task.clash
    found, front = frame.no_covers(), frame.no_stacks()
    n_options = entries.indptr.size - 1
    held, scratch = np.empty(entries.n_items, np.int64), make_scratch(entries)
    arena, alive = np.empty(1024, np.uint64), np.empty(0, np.uint64)
    words = np.zeros((5, n_options + 1), np.uint64)
    kind = np.zeros(n_options + 1, np.uint8)
    choices = frame.Choices(np.zeros(n_options + 1, np.uint32), np.ones(n_options + 1, np.float64))
    for k in range(stacks.n):
        bounds, front = frame.begin_stack(task, k, found, front)
        if not frame.may_begin(bounds):
            continue
        # M1. [Initialize.]
        stack = frame.stack_at(stacks, k)
        clash[k] = _select(stack, entries, usage, held)
        if clash[k] >= 0:
            continue
        n_alive, n_open = list_left(entries, held, scratch)
        n_alive = _list_undecided(n_alive, usage, scratch)
        place, arena, scratch = build(entries, n_alive, n_open, scratch, frame.ZERO, arena, usage)
        needs, missing = _needs_of(usage, arena, place)
        stride = W(place.words)
        if W(alive.size) < W(n_alive + 1) * stride:
            alive = np.empty(W(n_alive + 1) * stride, np.uint64)
        path = Trail(alive, stride, kind, words[0], words[1], words[2], words[3], words[4])
        path.needs[0] = missing
        fill_set(alive, 0, n_alive)
        event, position = frame.COVER, frame.at_the_top()
        while event in (frame.COVER, frame.DEEP) and position.covers < bounds.most:
            if event == frame.COVER:
                found = frame.with_room(task, k, usage.n_levels, found)
            lent, place_needs, here, written = borrowed((arena, needs, path, found))
            event, position = _walk(
                lent, place, place_needs, here, position, bounds, stack, k, n_options, written
            )
            if event in (frame.DEEP, frame.SPENT):
                name_choices(arena, place.options, path, position.level, n_options, choices)
                front = frame.append(front, stacks, k, choices, position.level)
        if frame.is_cut_short(event, bounds):
            name_choices(arena, place.options, path, position.level, n_options, choices)
            front = _hand_back(
                arena, place, path, position.level, n_options, stacks, k, choices, front
            )
        frame.end_stack(task, k, position)
    return found[:], front[:]


def search(problem: ExactCover, task: Task) -> Outcome:
    """Search a task; dancing links search problems that are too large for keys of 64 bits."""
    assert problem.bounds is not None
    fits = problem.n_primary <= MOST_ITEMS and problem.bounds.max() <= MOST_BOUND
    if not fits or any_leaves_more(problem, task.stacks, MOST_OPTIONS):
        return bounded.search(problem, task)
    arrays = entries_of(problem), bounded.usage_of(problem)
    return frame.search_task(_search, arrays, task)
