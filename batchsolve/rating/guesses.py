"""The dead ends of a backtracking search, and backdoors: cells without which singles get stuck."""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np

from batchsolve.kernels import kernel, part
from batchsolve.rating.board import (
    CELL,
    CELLS,
    DIGITS,
    MISSING,
    N_CELLS,
    N_HOUSES,
    N_OPEN,
    PLACES,
    SIZE,
    N,
    begin,
    copy,
    count,
    first,
    is_single,
    place,
    remove,
)
from batchsolve.rating.ladder import locked
from batchsolve.rating.techniques import IN_BOX, IN_LINE

MOST_BACKDOOR = 3
"""The largest backdoor that is looked for; that takes a tenth of a second."""


@part
def _settle(board):
    """Fill naked and hidden singles until there are none; return False at a dead end.

    A look for dead ends beside the singles of the ladder takes a sixth longer on hard puzzles.
    """
    changed = True
    while changed:
        changed = False
        for cell in range(N_CELLS):
            digits = np.intp(board[CELLS + cell])
            if board[DIGITS + cell] == 0:
                if digits == 0:
                    return False
                if is_single(digits):
                    changed |= place(board, cell, first(digits))
        for house in range(N_HOUSES):
            digits = np.intp(board[MISSING + house])
            while digits:
                digit = first(digits)
                at = np.intp(board[PLACES + N * house + digit])
                if at == 0:
                    return False
                if is_single(at):
                    changed |= place(board, CELL[house, first(at)], digit)
                digits &= digits - 1
                digits &= np.intp(board[MISSING + house])
    return True


@part
def _fewest(board):
    """Return the first of the open cells with the fewest candidates."""
    best, least = 0, N + 1
    for cell in range(N_CELLS):
        if board[DIGITS + cell] == 0 and count(board[CELLS + cell]) < least:
            best, least = cell, count(board[CELLS + cell])
    return best


@part
def _settle_more(board):
    """Fill singles and use locked candidates while one of them helps; return False at a dead end.

    Both are what tdoku (T. Dillon, 2019), whose guesses rate sudoku-extreme, derives at each node.
    """
    changed = True
    while changed:
        if not _settle(board):
            return False
        changed = locked(board, None, IN_BOX, False)
        changed |= locked(board, None, IN_LINE, False)
    return True


@part
def _dead_ends(grid, boards, cells):
    """Return the number of dead ends of the search, or -1 unless there is one solution.

    The solution is left in ``boards[-1]``.
    """
    board, solved = boards[N_CELLS], boards[N_CELLS + 1]
    depth, n_dead, n_solutions = 0, 0, 0
    if not begin(board, grid):
        return -1
    while True:
        if not _settle_more(board):
            n_dead += 1
        elif board[N_OPEN] == 0:
            n_solutions += 1
            copy(solved, board)
        else:
            copy(boards[depth], board)
            cells[depth] = _fewest(board)
            depth += 1
        while depth and boards[depth - 1, CELLS + cells[depth - 1]] == 0:
            depth -= 1
        if depth == 0 or n_solutions > 1:
            return n_dead if n_solutions == 1 else -1
        above, cell = boards[depth - 1], cells[depth - 1]
        digit = first(np.intp(above[CELLS + cell]))
        copy(board, above)
        place(board, cell, digit)
        remove(above, cell, digit)


@part
def _backdoor(grid, boards, cells):
    """Return the least number of cells to fill so that singles solve the rest.

    It is -1 if that is more than `MOST_BACKDOOR`. The solution is in ``boards[-1]``.
    """
    for size in range(MOST_BACKDOOR + 1):
        begin(boards[0], grid)
        _settle(boards[0])
        depth = 0
        cells[0] = -1  # the last cell that was filled at each depth; those behind it are next
        while depth >= 0:
            board = boards[depth]
            if board[N_OPEN] == 0:
                return size
            cell = cells[depth] + 1
            while cell < N_CELLS and board[DIGITS + cell]:
                cell += 1
            if depth == size or cell == N_CELLS:
                depth -= 1
                continue
            cells[depth] = cell
            depth += 1
            copy(boards[depth], board)
            cells[depth] = cell
            place(boards[depth], cell, np.intp(boards[N_CELLS + 1, DIGITS + cell]) - 1)
            _settle(boards[depth])
    return -1


@kernel
def guess_grids(grids, dead_ends, backdoors):
    """Set the number of dead ends of each grid, and the size of its least backdoor.

    The search fills singles and uses locked candidates (pointing, claiming). Then it tries each
    candidate of the first cell with the fewest.

    Parameters
    ----------
    grids : ndarray of uint8, shape (n, 81)
    dead_ends : ndarray of int64, shape (n,)
        -1 for grids that have not one solution.
    backdoors : ndarray of int8, shape (n,), optional
        -1 for those, and where the least backdoor has more than `MOST_BACKDOOR` cells.
    """
    boards, cells = np.empty((N_CELLS + 2, SIZE), np.uint16), np.empty(N_CELLS, np.int64)
    for k in range(min(len(grids), len(dead_ends))):
        dead_ends[k] = _dead_ends(grids[k], boards, cells)
        if backdoors is not None:
            backdoors[k] = -1
            if dead_ends[k] >= 0:
                backdoors[k] = _backdoor(grids[k], boards, cells)
