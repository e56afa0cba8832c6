"""The search of the engine `lanes`, compiled.

Helpers are compiled into the search (`forceinline`), and so is the number of lanes ``n``: the cells
of a lane are a constant distance apart. The search returns whenever an array has to grow and is
called again after that, because only arrays that stay in place may be borrowed (see `borrowed`).
"""

from __future__ import annotations

import numpy as np
from numba import uint32

from batchsolve.engines.intrinsics import borrowed, popcount
from batchsolve.engines.lanes.form import has_boxes, is_filled, lowest_bits, n_cells_of, n_digits_of
from batchsolve.engines.lanes.memory import (
    BAD,
    BUDGET,
    BUSY,
    EVENTS,
    FOUND,
    HANDED_BACK,
    NEW,
    NEXT,
    ROOM,
    ROOT,
    SEGMENTS,
    SOLVED,
)
from batchsolve.engines.lanes.steps import find_events, keep_vectors_aligned, lowest_bit
from batchsolve.engines.residual import select
from batchsolve.kernels import helper, inlined, kernel
from batchsolve.problems.rule_arrays import chosen_by, first_clash
from batchsolve.settings import UNLIMITED

U = uint32
_OPEN_ENDED = UNLIMITED // 2  # limits and allowances above this will not be reached
LONG = 64  # nodes of a root; most grids with several solutions reach a limit earlier


@helper
def _clash(form, rules, entries, task, k):
    """Return -1, or the position of an option of a stack that clashes or does not exist."""
    stack = task.options[task.offsets[k] : task.offsets[k + 1]]
    if rules is not None:
        return first_clash(rules, task.own, task.rows[k], n_digits_of(form), stack)
    return select(stack, entries, np.empty(entries.n_items, np.int64))


@inlined
def _fill(form, rules, n, w, lane, task, k):
    """Put a stack into an empty grid; return whether each option exists and has its own cell."""
    n_digits = n_digits_of(form)
    if rules is not None:
        return _fill_by_rules(form, rules, n, w, lane, task, k)
    all_digits = lowest_bits(n_digits)
    for cell in range(n_cells_of(form)):
        w.grid[U(cell) * n + lane] = all_digits
    for x in range(task.offsets[k], task.offsets[k + 1]):
        o = task.options[x]
        if o >= U(n_cells_of(form)) * n_digits:
            return False
        cell = U(o // n_digits)
        if w.grid[cell * n + lane] != all_digits:
            return False
        w.grid[cell * n + lane] = U(1) << U(o - cell * n_digits)
    return True


@helper
def _fill_by_rules(form, rules, n, w, lane, task, k):
    """Put a stack into an empty grid, as `_fill`; the digits of cages may be chosen, too."""
    n_digits = n_digits_of(form)
    own, row = task.own, task.rows[k]
    all_digits = lowest_bits(n_digits)
    for cell in range(form.n_cells):
        allowed = own.allowed[row, cell] if own.allowed.shape[1] > 0 else np.uint64(all_digits)
        w.grid[U(cell) * n + lane] = allowed
        if len(form.free) > 0:
            w.regions[U(cell) * n + lane] = own.regions[row, cell]
    n_places = form.n_cells * n_digits
    w.is_open[:] = 1
    for x in range(task.offsets[k], task.offsets[k + 1]):
        o = task.options[x]
        if o < n_places:
            cell = U(o // n_digits)
            if w.is_open[cell] == 0:
                return False
            w.is_open[cell] = 0
            w.grid[cell * n + lane] &= U(1) << U(o - cell * n_digits)
            continue
        place, digits = chosen_by(own, n_digits, row, np.int64(o) - n_places)
        if place < 0 or w.is_open[form.n_cells + place] == 0:
            return False
        w.is_open[form.n_cells + place] = 0
        if place > 0:
            cage = own.cages_of[row] + place - 1
            for y in range(own.cells_of[cage], own.cells_of[cage + 1]):
                w.grid[U(own.cage_cells[y]) * n + lane] &= own.digit_sets[digits]
    return True


@inlined
def _write_cover(form, n, w, task, covers, lane, k, level):
    """Write the digits of a solved grid: the stack, the guesses, the others in ascending order.

    If any order will do, write digits, which takes a quarter of the time. The next cover overwrites
    an option written past the end of this one; the array has a cover to spare.
    """
    n_digits = n_digits_of(form)
    row = w.left[FOUND]
    covers.origins[row] = w.segment[lane]
    w.left[FOUND] = row + 1
    if task.unordered:
        for cell in range(n_cells_of(form)):
            digit = lowest_bit(U(w.grid[U(cell) * n + lane]))
            covers.digits[row, cell] = digit + U(1)
        return
    for cell in range(n_cells_of(form)):
        w.is_open[cell] = 1
    x = np.uintp(row * n_cells_of(form))
    for y in range(task.offsets[k], task.offsets[k + 1]):
        if not has_boxes(form) and task.options[y] >= n_cells_of(form) * n_digits:
            continue  # the digits of a cage
        covers.options[x] = task.options[y]
        w.is_open[task.options[y] // n_digits] = 0
        x += np.uintp(1)
    for s in range(level):
        covers.options[x] = w.path[lane, s]
        w.is_open[w.path[lane, s] // n_digits] = 0
        x += np.uintp(1)
    for cell in range(n_cells_of(form)):
        digit = lowest_bit(U(w.grid[U(cell) * n + lane]))
        covers.options[x] = U(cell) * n_digits + digit
        x += np.uintp(w.is_open[cell])


@inlined
def _hand_back(w, task, frontier, lane, k, level):
    """Write a stack and the options guessed below it; the node is not counted."""
    n = w.left[HANDED_BACK]
    x = frontier.offsets[n]
    for y in range(task.offsets[k], task.offsets[k + 1]):
        frontier.options[x] = task.options[y]
        x += 1
    for s in range(level):
        frontier.options[x] = w.path[lane, s]
        x += 1
    frontier.offsets[n + 1] = x
    frontier.origins[n] = w.segment[lane]
    frontier.weights[n] = w.weight[level, lane]
    w.left[HANDED_BACK] = n + 1


@inlined
def _count_node(w, out, lane, k, one):
    """Count a node, or with -1 uncount it."""
    out.nodes[k] += one
    w.allowance[w.root[lane]] -= one
    w.left[BUDGET] -= one


@inlined
def _count_cover(form, n, w, task, out, lane, k, level):
    """Count the cover of a lane, and write it if it is to be kept."""
    out.counts[k] += 1
    w.left[ROOM] -= 1
    w.want[w.root[lane]] -= 1
    if w.to_keep[lane] > 0:
        w.to_keep[lane] -= 1
        _write_cover(form, n, w, task, out.covers, lane, k, level)


@inlined
def _guess(form, n, w, lane, level):
    """Save the grid of a lane before it guesses; return its new level."""
    n_digits = n_digits_of(form)
    chosen = U(w.branch[lane])
    candidates = U(w.grid[chosen * n + lane])
    w.rest[level, lane] = candidates
    w.path[lane, level] = chosen * n_digits
    for cell in range(n_cells_of(form)):
        w.saved[level, lane, cell] = w.grid[U(cell) * n + lane]
    w.weight[level + 1, lane] = w.weight[level, lane] / popcount(candidates)
    return level + 1


@inlined
def _leave_node(form, rules, entries, n, w, task, out, lane, k, level):
    """Deal with a node that is propagated; return the level at which the search goes on."""
    bit = U(U(1) << lane)
    hands_back = False
    if w.bits[BAD] & bit != 0:
        if level == 0:
            out.clash[k] = _clash(form, rules, entries, task, k)
            if out.clash[k] >= 0:
                _count_node(w, out, lane, k, -1)
    elif w.bits[SOLVED] & bit != 0:
        if is_filled(form, n, w.grid, lane):
            if w.left[ROOM] != 0 and w.want[w.root[lane]] != 0:
                _count_cover(form, n, w, task, out, lane, k, level)
            else:
                hands_back = True
    elif level == task.depth:
        hands_back = True
    else:
        level = _guess(form, n, w, lane, level)
    if hands_back:
        _count_node(w, out, lane, k, -1)
        _hand_back(w, task, out.frontier, lane, k, level)
    return level


@inlined
def _is_shared(task, k):
    """Tell whether several lanes may search below the stacks of a root, of which k is the first."""
    is_open_ended = task.limits[k] >= _OPEN_ENDED
    return task.allowances[k] >= _OPEN_ENDED and (is_open_ended or task.any_order)


@inlined
def _take_stacks(w, task, lane):
    """Give a lane the next stacks; return the first of them, or -1 if none is left."""
    k = w.left[NEXT]
    if k == task.roots.size:
        return -1
    if k == 0 or task.roots[k] != task.roots[k - 1]:
        w.left[ROOT] = k
    else:
        w.is_split[w.left[ROOT]] = True
    end = k + 1
    if not _is_shared(task, w.left[ROOT]):
        while end < task.roots.size and task.roots[end] == task.roots[k]:
            end += 1
    w.left[NEXT], w.end[lane], w.root[lane] = end, end, w.left[ROOT]
    w.to_keep[lane] = task.keep
    return k


@inlined
def _may_give(w, task, k):
    """Tell whether a lane may take over branches below the stacks of a root, of which k is first.

    Lanes that share a root may reach its limit before they have searched all earlier branches, and
    these must be searched later: only long searches are worth it.
    """
    is_open_ended = task.limits[k] >= _OPEN_ENDED
    return _is_shared(task, k) and (is_open_ended or task.allowances[k] - w.allowance[k] >= LONG)


@helper
def _find_donor(w, task, busy):
    """Return the lane with the largest branch that another may take over; -1 if none has one."""
    donor, most = -1, 0.0
    for lane in range(w.level.size):
        if busy >> U(lane) & U(1) == 0 or not _may_give(w, task, w.root[lane]):
            continue
        s = w.lowest[lane]
        while s < w.level[lane] and w.rest[s, lane] == 0:
            s += 1
        w.lowest[lane] = s
        if s < w.level[lane] and w.weight[s + 1, lane] > most:
            donor, most = lane, w.weight[s + 1, lane]
    return donor


@helper
def _give(w, task, following, donor, lane):
    """Give a lane the later half of the branches at the lowest level of another."""
    s = w.lowest[donor]
    taken = U(w.rest[s, donor])
    for _ in range(popcount(taken) // 2):
        taken &= U(taken - U(1))
    w.rest[s, donor] ^= taken
    w.rest[s, lane] = taken
    for t in range(s):
        w.rest[t, lane] = 0
    for t in range(s + 1):
        w.path[lane, t] = w.path[donor, t]
    w.weight[s + 1, lane] = w.weight[s + 1, donor]
    for cell in range(w.saved.shape[2]):
        w.saved[s, lane, cell] = w.saved[s, donor, cell]
    if w.regions.size > 0:
        n = w.level.size
        for cell in range(w.saved.shape[2]):
            w.regions[cell * n + lane] = w.regions[cell * n + donor]
    w.level[lane], w.lowest[lane] = s + 1, s
    w.stack[lane], w.root[lane] = w.stack[donor], w.root[donor]
    w.end[lane] = w.stack[donor] + 1
    w.is_split[w.root[lane]] = True
    w.to_keep[lane] = task.keep
    new, before = w.left[SEGMENTS], w.segment[donor]
    following[new], following[before] = following[before], new
    w.segment[lane] = new
    w.left[SEGMENTS] = new + 1


@helper
def _share_out(w, task, following, idle, busy):
    """Give branches of busy lanes to idle ones; return the bits of the latter."""
    given = U(0)
    while idle != 0 and w.left[SEGMENTS] < following.size:
        donor = _find_donor(w, task, busy)
        if donor < 0:
            break
        lane = lowest_bit(idle)
        _give(w, task, following, donor, lane)
        idle &= U(idle - U(1))
        given |= U(1) << lane
        busy |= U(1) << lane
    return given


_ENTERED, _IDLE, _FULL = 0, 1, 2


@inlined
def _enter_node(form, rules, entries, n, w, task, out, lane, level, is_saved):
    """Go on to the next node of a lane; `is_saved` says that the lane has just guessed.

    Returns `_ENTERED`, `_IDLE` if no node is left, or `_FULL` if the frontier is full.
    """
    n_digits = n_digits_of(form)
    k, frontier = w.stack[lane], out.frontier
    while True:
        w.stack[lane], w.level[lane] = k, level
        if w.left[HANDED_BACK] == frontier.origins.size:
            return _FULL
        while level > 0 and w.rest[level - 1, lane] == 0:
            level -= 1
        digit = U(0)
        if level > 0:
            if w.want[w.root[lane]] == 0 and not w.is_split[w.root[lane]]:
                level = 0
                continue
            candidates = U(w.rest[level - 1, lane])
            digit = lowest_bit(candidates)
            w.rest[level - 1, lane] = U(candidates & U(candidates - U(1)))
            guessed = w.path[lane, level - 1]
            w.path[lane, level - 1] = guessed // n_digits * n_digits + digit
        else:
            k += 1
            if k == w.end[lane]:
                k = _take_stacks(w, task, lane)
                if k < 0:
                    return _IDLE
            w.segment[lane], w.lowest[lane] = k, 0
            if w.want[w.root[lane]] == 0 and not w.is_split[w.root[lane]]:
                continue
        root = w.root[lane]
        if 0 in (w.left[BUDGET], w.left[ROOM], w.allowance[root], w.want[root]):
            _hand_back(w, task, frontier, lane, k, level)
            continue
        if level > 0:
            if not is_saved:
                for cell in range(n_cells_of(form)):
                    w.grid[U(cell) * n + lane] = w.saved[level - 1, lane, cell]
            w.grid[w.path[lane, level - 1] // n_digits * n + lane] = U(1) << digit
        elif not _fill(form, rules, n, w, lane, task, k):
            out.clash[k] = _clash(form, rules, entries, task, k)
            continue
        _count_node(w, out, lane, k, 1)
        w.stack[lane], w.level[lane] = k, level
        return _ENTERED


@kernel
def search_on(form, rules, entries, w, task, out):
    """Search below every stack of a task, from where the lanes stand.

    Parameters
    ----------
    form : Shape
    rules : RuleArrays or None
    entries : Entries
    w : Lanes
    task : TaskArrays
    out : Written

    Returns
    -------
    bool
        True if all is done; otherwise some array of `out` is full and must grow.
    """
    keep_vectors_aligned()
    rules, entries, w = borrowed(rules), borrowed(entries), borrowed(w)
    task, out = borrowed(task), borrowed(out)
    n_covers, n_stacks = out.covers.origins.size, out.frontier.origins.size
    bits = w.bits
    n = U(len(form.lanes))
    all_lanes = lowest_bits(n)
    has_guessed = False
    while True:
        while bits[EVENTS] != 0:
            if w.left[FOUND] == n_covers or w.left[HANDED_BACK] == n_stacks:
                return False
            events = bits[EVENTS]
            bad, solved = U(events & bits[BAD]), U(events & bits[SOLVED])
            # events of one kind together, which branch prediction likes
            lane = lowest_bit(bad if bad != 0 else solved if solved != 0 else events)
            bit = U(U(1) << lane)
            before = level = w.level[lane]
            if bits[NEW] & bit != 0:
                bits[NEW] &= ~bit
                k = w.stack[lane]
                level = _leave_node(form, rules, entries, n, w, task, out, lane, k, level)
            is_saved = level > before
            entered = _enter_node(form, rules, entries, n, w, task, out, lane, level, is_saved)
            if entered == _FULL:
                return False
            has_guessed |= is_saved
            bits[BUSY] = bits[BUSY] | bit if entered == _ENTERED else bits[BUSY] & ~bit
            bits[EVENTS] &= ~bit
        busy = bits[BUSY]
        if has_guessed and busy != all_lanes and w.left[BUDGET] != 0 and w.left[ROOM] != 0:
            if w.left[SEGMENTS] == out.following.size:
                return False
            bits[EVENTS] = _share_out(w, task, out.following, U(all_lanes & ~busy), busy)
            has_guessed = False
            continue
        if busy == 0:
            return True
        find_events(form, rules, task.own, task.rows, w.stack, w, bits)
        bits[NEW] = bits[EVENTS]
