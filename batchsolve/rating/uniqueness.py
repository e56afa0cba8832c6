"""Patterns that a puzzle with one solution cannot have: unique rectangles, unique loops, and BUG.

A *loop* has two digits in each of its cells, and two of its cells in each house that it visits.
With these digits alone its cells have two solutions or none. So one of its cells has another digit,
an *extra*. A *bivalue universal grave* (BUG) is a board with two candidates in each open cell, and
two places of each digit in each house that lacks it; it has two solutions or none, too.

The patterns need not help any more when there are fewer candidates. So all that those of the least
level remove is removed at once, when nothing else helps up to that level: the rating does not
depend on the order of cells and digits.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np

from batchsolve.kernels import kernel, part
from batchsolve.rating.board import (
    CELL,
    DIGITS,
    HOUSE,
    N_CELLS,
    N_HOUSES,
    OPEN,
    PLACE,
    PLACES,
    N,
    count,
    first,
    remove,
)
from batchsolve.rating.ladder import (
    DIGITS_OF_STEP,
    IS_PEER,
    N_PEERS,
    N_SETS,
    PEERS,
    SETS,
)
from batchsolve.rating.techniques import BUG, GUESS, LEVELS, UNIQUE_LOOP, UNIQUE_RECTANGLE

LONGEST = 18
"""The most cells of a loop: two in each of nine houses."""

HOUSES_OF = (1 << HOUSE).sum(axis=1)
"""The houses of each cell, as bits."""

FIRST_PATTERN = min(LEVELS[kind, 0] for kind in (UNIQUE_RECTANGLE, UNIQUE_LOOP, BUG))
"""The level below which all techniques come before patterns."""

LEAST, GONE, PATTERN = 0, 1, 1 + N_CELLS
"""The places of the least level, the digits that each cell loses, and flags of the
cells of the patterns, with the digits behind them."""
FOUND_SIZE = PATTERN + N_CELLS + 1


@part
def _note(found, board, level, cell, digits, pattern):
    """Note that a pattern of some level removes digits of a cell."""
    digits &= np.intp(board[cell])
    if digits == 0 or level > found[LEAST]:
        return
    if level < found[LEAST]:
        found[:] = 0
        found[LEAST] = level
    found[GONE + cell] |= digits
    for k in range(len(pattern)):
        found[PATTERN + pattern[k]] = 1
        found[PATTERN + DIGITS_OF_STEP] |= digits


@part
def _note_house(found, board, level, house, places, digits, pattern):
    """Note that a pattern of some level removes digits at places of a house."""
    while places:
        _note(found, board, level, CELL[house, first(places)], digits, pattern)
        places &= places - 1


@part
def _note_seen(found, board, level, extra_cells, digit, pattern):
    """Note that a pattern of some level removes a digit of the cells that see all of some."""
    for cell in range(N_CELLS):
        sees = True
        for other in extra_cells:
            sees &= IS_PEER[cell, other]
        if sees:
            _note(found, board, level, cell, digit, pattern)


@part
def _naked(found, board, kind, added, house, mine, others, extras, own, pattern):
    """Use cells that form a naked set with the extras, of which one is at the places `mine`."""
    for k in range(2, 5):
        for j in range(N_SETS[k - 1]):
            cells = SETS[k - 1, j]
            if cells & ~others:
                continue
            digits, left = np.intp(0), cells
            while left:
                digits |= np.intp(board[CELL[house, first(left)]])
                left &= left - 1
            if count(digits | extras) == k and count(digits | own) == k:
                away = np.intp(board[OPEN + house]) & ~(cells | mine)
                level = LEVELS[kind, added + k - 1]
                _note_house(found, board, level, house, away, digits | extras, pattern)


@part
def _use_loop(found, board, loop, both, extras):
    """Note what a loop of two digits removes, whose other candidates are `extras`."""
    n, n_extra = len(loop), 0
    extra_cells = np.empty(n, np.int64)
    for k in range(n):
        if count(board[loop[k]]) > 2:
            extra_cells[n_extra] = loop[k]
            n_extra += 1
    kind, added = (UNIQUE_RECTANGLE, 0) if n == 4 else (UNIQUE_LOOP, 0 if n == 6 else 1)
    if n > 8:
        added = 4
    level = LEVELS[kind, added]
    if n_extra == 1:
        _note(found, board, level, extra_cells[0], both, loop)
    elif n_extra and count(extras) == 1:
        _note_seen(found, board, level, extra_cells[:n_extra], extras, loop)
    if n_extra != 2:
        return
    one, two = extra_cells[0], extra_cells[1]
    for j in range(3):
        house = HOUSE[one, j]
        if HOUSE[two, j] != house:
            continue
        mine = (1 << PLACE[one, j]) | (1 << PLACE[two, j])
        left = both
        while left:  # one of the digits has no other place
            digit = first(left)
            left &= left - 1
            if board[PLACES + N * house + digit] == mine:
                _note(found, board, level, one, both & ~(1 << digit), loop)
                _note(found, board, level, two, both & ~(1 << digit), loop)
        if count(extras) == 1:
            continue
        n_open, others = count(board[OPEN + house]), np.intp(board[OPEN + house]) & ~mine
        shared = extras & np.intp(board[one]) & np.intp(board[two])
        _naked(found, board, kind, added, house, mine, others, extras, shared, loop)
        for k in range(2, 5):
            if 2 * k >= n_open:
                break
            for i in range(N_SETS[k]):
                digits = SETS[k, i]
                if digits & both != both or digits & extras:
                    continue
                places, left, complete = np.intp(0), digits, True
                while left:
                    at = np.intp(board[PLACES + N * house + first(left)])
                    complete &= at & ~(1 << PLACE[two, j]) != 0
                    places |= at
                    left &= left - 1
                if complete and count(places & ~mine) == k - 1:
                    level_here = LEVELS[kind, added + k - 2]
                    _note_house(found, board, level_here, house, places & ~mine, ~digits, loop)


@part
def _find_loops(found, board, room):
    """Find all loops, from the first of their cells with two candidates."""
    path, links, extras, n_extra, visited = room[0], room[1], room[2], room[3], room[4]
    for start in range(N_CELLS):
        if count(board[start]) != 2:
            continue
        both = np.intp(board[start])
        path[0], links[0], extras[0], n_extra[0], n = start, -1, 0, 0, 1
        visited[0], visited[1] = HOUSES_OF[start], 0
        while n:
            links[n - 1] += 1
            if links[n - 1] == N_PEERS:
                n -= 1
                visited[n & 1] &= ~HOUSES_OF[path[n]]
                continue
            cell = PEERS[path[n - 1], links[n - 1]]
            if cell == start and n >= 4 and visited[0] == visited[1]:
                _use_loop(found, board, path[:n], both, extras[n - 1])
            size = count(board[cell])
            if n == LONGEST or np.intp(board[cell]) & both != both:
                continue
            if visited[n & 1] & HOUSES_OF[cell] or cell == start or (size == 2 and cell < start):
                continue
            is_new = True
            for k in range(n):
                is_new &= path[k] != cell
            others = extras[n - 1] | (np.intp(board[cell]) & ~both)
            more = n_extra[n - 1] + (size > 2)
            if is_new and (size == 2 or more <= 2 or count(others) == 1):
                path[n], links[n], extras[n], n_extra[n] = cell, -1, others, more
                visited[n & 1] |= HOUSES_OF[cell]
                n += 1


@part
def _find_bug(found, board, extras):
    """Find a board that would be a BUG without some extras."""
    extras[:] = 0
    digits_of_extras = 0
    for house in range(N_HOUSES):
        for digit in range(N):
            places = np.intp(board[PLACES + N * house + digit])
            if count(places) in (0, 2):
                continue
            big, left = np.intp(0), places
            while left:
                if count(board[CELL[house, first(left)]]) > 2:
                    big |= left & -left
                left &= left - 1
            if big == 0:
                return
            digits_of_extras |= 1 << digit
            if count(big) == 1:
                extras[CELL[house, first(big)]] |= 1 << digit
    if count(digits_of_extras) == 1:  # several extras may lie in one house
        for cell in range(N_CELLS):
            if count(board[cell]) > 2:
                extras[cell] = np.intp(board[cell]) & digits_of_extras
    for cell in range(N_CELLS):
        if board[DIGITS + cell] == 0 and count(np.intp(board[cell]) & ~extras[cell]) != 2:
            return
    for house in range(N_HOUSES):
        for digit in range(N):
            n = 0
            for j in range(N):
                cell = CELL[house, j]
                n += (np.intp(board[cell]) & ~extras[cell]) >> digit & 1
            if n not in (0, 2):
                return
    _use_bug(found, board, extras, digits_of_extras)


@part
def _use_bug(found, board, extras, digits):
    """Note what a BUG with extras of these digits removes."""
    n = 0
    cells = np.empty(N_CELLS, np.int64)
    for cell in range(N_CELLS):
        if extras[cell]:
            cells[n] = cell
            n += 1
    some = cells[:n]
    if n == 1:
        _note(found, board, LEVELS[BUG, 0], cells[0], ~digits, some)
    elif count(digits) == 1:
        _note_seen(found, board, LEVELS[BUG, 1], some, digits, some)
    for j in range(3):
        house, mine = HOUSE[cells[0], j], 0
        for cell in some:
            if HOUSE[cell, j] == house:
                mine |= 1 << PLACE[cell, j]
        if n < 2 or count(mine) != n:
            continue
        common = np.intp(board[cells[0]]) & np.intp(board[cells[1]]) & ~digits
        if n == 2 and count(common) == 1:  # the house has no other place for that digit
            for cell in some:
                _note(found, board, LEVELS[BUG, 1], cell, ~(extras[cell] | common), some)
        if count(digits) > 1:
            others = np.intp(board[OPEN + house]) & ~mine
            _naked(found, board, BUG, 1, house, mine, others, digits, 0, some)


@kernel
def find_patterns(boards, rows, ends, found, room):
    """Find what the patterns of the least level remove from each of some boards.

    Parameters
    ----------
    boards, rows : as of `climb`
    ends : ndarray of uint8, shape (n,)
        Set to that level, or `GUESS`.
    found : ndarray of int64, shape (n, `FOUND_SIZE`)
        Set.
    room : ndarray of int64, shape (6, `FOUND_SIZE`)
    """
    for k in rows:
        found[k, LEAST] = GUESS
        _find_loops(found[k], boards[k], room)
        _find_bug(found[k], boards[k], room[5])
        ends[k] = found[k, LEAST]


@kernel
def use_patterns(boards, rows, found, step):
    """Remove what was found from some boards; write the last pattern into `step`, if given."""
    for k in rows:
        for cell in range(N_CELLS):
            digits = found[k, GONE + cell]
            while digits:
                remove(boards[k], cell, first(digits))
                digits &= digits - 1
        if step is not None:
            step[:] = 0
            for cell in range(N_CELLS + 1):
                step[cell] = found[k, PATTERN + cell]
