"""The techniques without chains, as compiled kernels."""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

from __future__ import annotations

from itertools import combinations

import numpy as np

from batchsolve.kernels import helper, inlined, kernel, part
from batchsolve.rating.board import (
    ALL,
    BOXES,
    CELL,
    CELLS,
    HOUSE,
    MISSING,
    N_CELLS,
    N_HOUSES,
    N_OPEN,
    OPEN,
    PLACE,
    PLACES,
    N,
    begin,
    count,
    first,
    is_single,
    place,
    remove,
)
from batchsolve.rating.techniques import (
    FIRST_CHAIN,
    FISH,
    GUESS,
    HIDDEN,
    IN_BOX,
    INVALID,
    KINDS,
    LAST,
    LOCKED,
    NAKED,
    NAKED_SET,
    NONE,
    UNRATED,
    WING,
)

SETS = np.zeros((5, 126), np.int64)
"""The sets of 1 to 4 of nine things, as bits."""
for _k in (1, 2, 3, 4):
    _sets = [sum(1 << each for each in some) for some in combinations(range(N), _k)]
    SETS[_k, : len(_sets)] = _sets
N_SETS = np.count_nonzero(SETS, axis=1)

_VIEW, _SET, _ELEMENT = np.ogrid[:N_HOUSES, :N, :N]
_LINE, _DIGIT = N * (_VIEW % 2) + _SET, _VIEW // 2 % N
SET_AT = np.stack(
    [CELLS + CELL, PLACES + (N * _VIEW + _SET)[..., 0], PLACES + (N * _LINE + _DIGIT)[..., 0]]
)
"""The place on a board of each of nine sets, in three kinds of views of its candidates.

Naked sets: the digits of each cell of a house. Hidden sets: the places of each digit in a house.
Fish: the places of a digit in each row, or in each column.
"""
CANDIDATE = np.stack(
    [
        N * CELL[_VIEW, _SET] + _ELEMENT,
        N * CELL[_VIEW, _ELEMENT] + _SET,
        N * CELL[_LINE, _ELEMENT] + _DIGIT,
    ]
)
"""The candidate of each element of the sets: 9 · cell + digit."""
N_VIEWS = np.array([N_HOUSES, N_HOUSES, 2 * N])

SHARED = (HOUSE[CELL][..., None] == np.arange(N_HOUSES)).any(axis=2)
SHARED = (SHARED << np.arange(N)[:, None]).sum(axis=1)
"""The places of a house (first index) that lie in another."""

PEERS = np.stack([np.setdiff1d(CELL[HOUSE[cell]], [cell]) for cell in range(N_CELLS)])
"""The cells that share a house with each cell."""
N_PEERS = 20

IS_PEER = np.zeros((N_CELLS, N_CELLS), np.bool_)
"""True for cells that share a house."""
IS_PEER[np.arange(N_CELLS)[:, None], PEERS] = True

DIGITS_OF_STEP = N_CELLS
"""The place of the digits in the pattern of a step, behind a flag for each cell."""
STEP_SIZE = N_CELLS + 1

# Each technique takes a board, and perhaps an array for the pattern of a step: then it stops after
# one use, and otherwise that code is not compiled. It returns True if it has changed the board.


@part
def _note(step, house, places, digits):
    """Set the pattern of a step to cells of a house and digits."""
    step[:] = 0
    step[DIGITS_OF_STEP] = digits
    while places:
        step[CELL[house, first(places)]] = 1
        places &= places - 1


@part
def _last_cells(board, step):
    """Fill the last open cells of houses."""
    changed = False
    for house in range(N_HOUSES):
        at = np.intp(board[OPEN + house])
        if is_single(at):
            digits = np.intp(board[MISSING + house])
            changed |= place(board, CELL[house, first(at)], first(digits))
            if changed and step is not None:
                _note(step, house, at, digits)
                return True
    return changed


@inlined
def _end_of(houses):
    """Return the house behind `IN_BOX` or `IN_LINE`."""
    return N_HOUSES if houses == IN_BOX else BOXES


@part
def hidden_singles(board, step, houses):
    """Fill cells that are the only place of a digit in a house."""
    changed = False
    for house in range(houses, _end_of(houses)):
        digits = np.intp(board[MISSING + house])
        while digits:
            digit = first(digits)
            digits &= digits - 1
            at = np.intp(board[PLACES + N * house + digit])
            if is_single(at):
                changed |= place(board, CELL[house, first(at)], digit)
                if changed and step is not None:
                    _note(step, house, at, 1 << digit)
                    return True
    return changed


@part
def naked_singles(board, step):
    """Fill cells with one candidate."""
    changed = False
    for cell in range(N_CELLS):
        digits = np.intp(board[CELLS + cell])
        if is_single(digits):
            changed |= place(board, cell, first(digits))
            if changed and step is not None:
                _note(step, HOUSE[cell, 0], 1 << PLACE[cell, 0], digits)
                return True
    return changed


@part
def _remove_at(board, house, places, digit):
    """Remove a digit from places of a house; return True if it had any of them."""
    places &= np.intp(board[PLACES + N * house + digit])
    changed = places != 0
    while places:
        remove(board, CELL[house, first(places)], digit)
        places &= places - 1
    return changed


@part
def _fill_third(board, house, other, digit):
    """Fill the only place of a digit in a house beside `house` that is not in `other`."""
    kind = house // N * N
    for third in range(kind, kind + N):
        at = np.intp(board[PLACES + N * third + digit])
        left = at & ~SHARED[third, other]
        if third != house and left != at and is_single(left):
            return place(board, CELL[third, first(left)], digit)
    return False


@part
def locked(board, step, houses, direct):
    """Use digits whose places in a house all lie in a second one: pointing and claiming.

    The digit has no other place in the second house. If `direct`, fill the only place that this
    leaves in a third house, of the kind of the first.
    """
    changed = False
    for house in range(houses, _end_of(houses)):
        digits = np.intp(board[MISSING + house])
        while digits:
            digit = first(digits)
            digits &= digits - 1
            at = np.intp(board[PLACES + N * house + digit])
            if count(at) < 2 or count(at) > 3:
                continue
            for k in range(3):
                other = HOUSE[CELL[house, first(at)], k]
                if other == house or at & ~SHARED[house, other]:
                    continue
                if direct:
                    changed |= _fill_third(board, house, other, digit)
                else:
                    changed |= _remove_at(board, other, ALL & ~SHARED[other, house], digit)
                if changed and step is not None:
                    _note(step, house, at, 1 << digit)
                    return True
    return changed


@helper
def _union(sets, chosen):
    """Return the union of some sets."""
    union = 0
    while chosen:
        union |= sets[first(chosen)]
        chosen &= chosen - 1
    return union


@helper
def _next_sets(sets, k, j):
    """Return the place in `SETS[k]`, from j on, of k sets whose union has k elements, or N_SETS[k].

    Each of them has two elements or more.
    """
    wanted = 0
    for i in range(N):
        if count(sets[i]) >= 2 and count(sets[i]) <= k:
            wanted |= 1 << i
    while j < N_SETS[k] and (SETS[k, j] & ~wanted or count(_union(sets, SETS[k, j])) != k):
        j += 1
    return j


@part
def _use_sets(board, step, kind, k, direct):
    """Use k sets whose union has k elements: the other sets have none of those.

    If `direct`, fill the only place that this leaves to another digit in a house.
    """
    changed, which = False, kind - NAKED_SET
    sets = np.zeros(N, np.int64)
    for view in range(N_VIEWS[which]):
        for i in range(N):
            sets[i] = board[SET_AT[which, view, i]]
        j = _next_sets(sets, k, 0)
        while j < N_SETS[k]:
            chosen = SETS[k, j]
            union, helps = _union(sets, chosen), False
            for i in range(N):
                others = np.intp(board[SET_AT[which, view, i]]) & ~union
                lost = np.intp(board[SET_AT[which, view, i]]) & union
                if chosen >> i & 1 or lost == 0:
                    continue
                if not direct:
                    helps = True
                    while lost:
                        candidate = CANDIDATE[which, view, i, first(lost)]
                        remove(board, candidate // N, candidate % N)
                        lost &= lost - 1
                elif is_single(others) and not (helps and step is not None):
                    candidate = CANDIDATE[which, view, i, first(others)]
                    helps |= place(board, candidate // N, candidate % N)
            changed |= helps
            if helps and step is not None:
                step[:] = 0
                for i in range(N):
                    left = sets[i] if chosen >> i & 1 else 0
                    while left:
                        candidate = CANDIDATE[which, view, i, first(left)]
                        step[candidate // N] = 1
                        step[DIGITS_OF_STEP] |= 1 << candidate % N
                        left &= left - 1
                return True
            j = _next_sets(sets, k, j + 1)
    return changed


@part
def _remove_seen(board, one, two, three, digit):
    """Remove a digit from the cells that see all of these; return True if one had it."""
    changed = False
    for k in range(N_PEERS):
        cell = PEERS[one, k]
        if board[cell] >> digit & 1 and IS_PEER[two, cell] and IS_PEER[three, cell]:
            remove(board, cell, digit)
            changed = True
    return changed


@part
def _wings(board, step, size):
    """Use a cell with candidates xy (or xyz) that sees a cell with xz and one with yz.

    One of the two (or of the three) has the digit z, so cells that see them all do not.
    """
    changed = False
    for pivot in range(N_CELLS):
        if count(board[pivot]) != size:
            continue
        for j in range(N_PEERS):
            one = PEERS[pivot, j]
            digits = np.intp(board[pivot]) | np.intp(board[one])
            if count(board[one]) != 2 or count(digits) != 3:
                continue
            for i in range(j):
                two = PEERS[pivot, i]
                z = np.intp(board[one]) & np.intp(board[two])
                if count(board[two]) != 2 or board[two] & ~digits or not is_single(z):
                    continue
                if size == 2 and z & board[pivot]:
                    continue
                helps = _remove_seen(board, one, two, one if size == 2 else pivot, first(z))
                changed |= helps
                if helps and step is not None:
                    _note(step, 0, 0, digits)
                    step[pivot] = step[one] = step[two] = 1
                    return True
    return changed


@part
def use(level, board, step):
    """Use the technique of a level; return True if it has changed the board."""
    kind, which, direct = KINDS[level, 0], KINDS[level, 1], KINDS[level, 2] == 1
    if kind == LAST:
        return _last_cells(board, step)
    if kind == HIDDEN:
        return hidden_singles(board, step, which)
    if kind == NAKED:
        return naked_singles(board, step)
    if kind == LOCKED:
        return locked(board, step, which, direct)
    if NAKED_SET <= kind <= FISH:
        return _use_sets(board, step, kind, which, direct)
    if kind == WING:
        return _wings(board, step, which)
    return False


@kernel
def climb(grids, boards, levels, rows, ends, used, most_uses, step):
    """Use the easiest technique that helps, again and again, for some rows of many.

    Parameters
    ----------
    grids : ndarray of uint8, shape (n, 81)
    boards : ndarray of uint16, shape (n, `SIZE`)
    levels : ndarray of uint8, shape (n,)
        The hardest level that each has needed; `UNRATED` for grids whose boards are to be begun.
    rows : ndarray of int64, shape (m,)
    ends : ndarray of uint8, shape (n,)
        The level below which techniques are used, and those that are no harder than the hardest.
    used : ndarray of uint8, shape (n,)
        Set to the level of the last use; `GUESS` if nothing helps further, `INVALID` for a grid
        that has other digits than 0 to 9, or clashes.
    most_uses : int
    step : ndarray of uint16, shape (`STEP_SIZE` or more,), optional
        The pattern of a step; a technique then removes or fills no more than it says.
    """
    for k in rows:
        board = boards[k]
        if levels[k] == UNRATED:
            levels[k] = NONE if begin(board, grids[k]) else INVALID
        used[k] = levels[k]
        n_uses = 0
        while n_uses < most_uses and used[k] not in (GUESS, INVALID) and board[N_OPEN]:
            hardest = -1 if levels[k] == NONE else np.intp(levels[k])
            level, end = 0, min(max(np.intp(ends[k]), hardest + 1), FIRST_CHAIN)
            while level < end and not use(level, board, step):
                level += 1
            used[k] = level if level < end else GUESS
            if hardest < level < end:
                levels[k] = level
            n_uses += 1
