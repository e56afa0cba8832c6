"""Propagation of the rules of single rows: marks aside, pairs of cells and cages, lane by lane.

Lanes whose rows have rules of their own reach different cells at a time, so this is scalar code. It
is called where propagation in all lanes leads no further. It deduces

* in related cells, the digits that no digit of the other cell allows;
* in cages, naked singles; the digits of no set that the cells can still hold; and the only cell for
  a digit that all such sets have.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from numba import uint32

from batchsolve.kernels import helper
from batchsolve.problems.rule_arrays import RELATION_NAMES

U = uint32
SAME, CHANGED, WRONG = 0, 1, 2
N_RELATIONS = len(RELATION_NAMES)


@helper
def review_row(own, row, relations, n, grid, lane):
    """Apply the rules of a row to the grid of a lane; tell what they have done.

    Parameters
    ----------
    own : RowRules
    row : int
    relations : ndarray of uint32
        As in `RuleArrays`.
    n : int
        Number of lanes.
    grid : ndarray
        As in `Lanes`; updated.
    lane : int

    Returns
    -------
    int
        `SAME`, `CHANGED` or `WRONG`.
    """
    found = SAME
    for x in range(own.pairs_of[row], own.pairs_of[row + 1]):
        found = max(found, _review_pair(own.pairs[x], relations, n, grid, lane))
    for cage in range(own.cages_of[row], own.cages_of[row + 1]):
        found = max(found, _review_cage(own, cage, n, grid, lane))
        if found == WRONG:
            break
    return found


@helper
def _review_pair(pair, relations, n, grid, lane):
    found = SAME
    one, other = U(pair[0]) * n + lane, U(pair[1]) * n + lane
    n_digits = relations.size // (2 * N_RELATIONS)
    first = pair[2] * 2 * n_digits
    for given, place in ((one, other), (other, one)):
        allowed = U(0)
        for digit in range(n_digits):
            if grid[given] >> U(digit) & U(1):
                allowed |= relations[first + digit]
        left = U(grid[place] & allowed)
        if left == 0:
            return WRONG
        if left != grid[place]:
            grid[place] = left
            found = CHANGED
        first += n_digits
    return found


@helper
def _review_cage(own, cage, n, grid, lane):
    begin, end = own.cells_of[cage], own.cells_of[cage + 1]
    union = several = naked = U(0)
    for y in range(begin, end):
        x = U(grid[U(own.cage_cells[y]) * n + lane])
        several |= union & x
        union |= x
        if x & U(x - U(1)) == 0:
            if naked & x:
                return WRONG
            naked |= x
    may, alone = union, U(0)
    first, last = own.sets_of[cage]
    if first >= 0:
        may, alone = U(0), ~several
        for place in range(first, last):
            digits = U(own.digit_sets[place])
            if digits & ~union == 0 and naked & ~digits == 0:
                fits = True
                for y in range(begin, end):
                    fits &= U(grid[U(own.cage_cells[y]) * n + lane]) & digits != 0
                if fits:
                    may |= digits
                    alone &= digits
    found = SAME
    for y in range(begin, end):
        at = U(own.cage_cells[y]) * n + lane
        x = U(grid[at])
        left = U(x & may)
        if x & U(x - U(1)):
            left &= ~naked
        if left & alone:
            left &= alone
            if left & U(left - U(1)):  # two digits that the cage needs have no other cell
                return WRONG
        if left == 0:
            return WRONG
        if left != x:
            grid[at] = left
            found = CHANGED
    return found
