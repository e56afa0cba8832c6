"""The search for canonical forms of puzzles of any shape, row by row.

A *state* is a way to fill the first rows of the form (`batchsolve.symmetry.canonical`): it holds
the rows of the puzzle chosen for them, and as much about columns as mattered. Columns that no row
has distinguished yet are a *cell* of adjacent positions, in any order; the label of a digit that
came first in such a column is open as well, among those of the cell. A row is placed from left to
right: blank cells go to the front of their cell, and a column leaves its cell, or the column of a
digit does, where that makes the row less. States whose row is not the least are dropped. Each way
to complete a state that is left at the end leads to the form, so the number of these ways is that
of the puzzle's own symmetries.

The search is breadth first, so that states of one row are compared before any of them is followed
further. The order of stacks, of which there are few, is chosen first.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np

from batchsolve.kernels import helper, inlined, kernel

NOWHERE = np.uint8(255)  # the home of a digit that has not come yet

# A state is a line of bytes: whether the puzzle is transposed, then arrays of n bytes: the puzzle's
# row for each row of the form; the puzzle's column at each position; where the cell of a position
# begins; the position of each column; and the column, and the row of the form, where each digit
# came first. While a row is placed there follow the next position, the number of labels so far, and
# the labels of the row.


@inlined
def _single_out(line, n, x, place):
    """Make the column at a place a cell of its own, at x, where its cell begins."""
    columns, starts, places = 1 + n, 1 + 2 * n, 1 + 3 * n
    one, other = line[columns + place], line[columns + x]
    line[columns + x], line[columns + place] = one, other
    line[places + one], line[places + other] = x, place
    y = x + 1
    while y < n and line[starts + y] == x:
        line[starts + y] = x + 1
        y += 1


@inlined
def _blanks_first(line, n, x, end, row):
    """Move the columns of a cell that are blank in a row to its front; return their number."""
    columns, starts, places = 1 + n, 1 + 2 * n, 1 + 3 * n
    to = x
    for y in range(x, end):
        column = line[columns + y]
        if row[column] == 0:
            other = line[columns + to]
            line[columns + to], line[columns + y] = column, other
            line[places + column], line[places + other] = to, y
            to += 1
    if to > x:
        for y in range(to, end):
            line[starts + y] = to
    return to - x


@inlined
def _least_label(line, n, x, end, row, form, n_labels, chosen):
    """Return the least label that a cell of a row can begin with, and the number of ways to do so.

    None of its columns is blank in the row. The ways are the places in `chosen`; if all digits are
    new, there are none, and the label is a new one.
    """
    columns, starts, places = 1 + n, 1 + 2 * n, 1 + 3 * n
    home_columns, home_rows = 1 + 4 * n, 1 + 5 * n
    label, n_chosen = n_labels + 1, 0
    for y in range(x, end):
        digit = row[line[columns + y]] - 1
        home = line[home_columns + digit]
        if home == NOWHERE:
            continue
        at = np.int64(line[starts + line[places + home]])
        if at == x:  # the digit stands there, so its home can stand behind it at best
            at += 1
        lowest = np.int64(form[line[home_rows + digit], at])
        if lowest < label:
            label, n_chosen = lowest, 0
        if lowest == label:
            chosen[n_chosen] = y
            n_chosen += 1
    return label, n_chosen


@inlined
def _choose(line, n, x, place, row):
    """Put the column at a place to x, and the home of its digit to the front of its cell."""
    places, starts = 1 + 3 * n, 1 + 2 * n
    digit = row[line[1 + n + place]] - 1
    _single_out(line, n, x, place)
    home = np.int64(line[places + line[1 + 4 * n + digit]])
    _single_out(line, n, np.int64(line[starts + home]), home)


@inlined
def _compare(one, other, size):
    """Compare the first labels of two rows; return -1 if the first is less, 0 if equal, else 1."""
    for y in range(size):
        if one[y] != other[y]:
            return -1 if one[y] < other[y] else 1
    return 0


@helper
def _place_row(row, k, form, work, chosen, found, weights, weight, n_found):
    """Place a row of the puzzle as row k of the form, in each way that is not above the least.

    Row k of `form` is the least so far, if there is one, and rows before it are certain. The first
    line of `work` is the state, with what follows it. States that lead to the least row are put
    into `found`, each with the weight.

    Returns
    -------
    The number of states found, or -1 if the room is full.
    """
    n = row.size
    columns, starts = 1 + n, 1 + 2 * n
    home_columns, home_rows, cursor = 1 + 4 * n, 1 + 5 * n, 1 + 6 * n
    least = form[k]
    top = 0
    while top >= 0:
        line = work[top]
        labels = line[cursor + 2 :]
        x, n_labels = np.int64(line[cursor]), np.int64(line[cursor + 1])
        order = _compare(labels, least, x) if n_found > 0 else -1
        n_ways = 0
        while x < n and order <= 0 and n_ways < 2:
            end = x + 1
            while end < n and line[starts + end] == x:
                end += 1
            n_blank = _blanks_first(line, n, x, end, row)
            if n_blank > 0:
                for y in range(x, x + n_blank):
                    labels[y] = 0
                    if order == 0 and least[y] != 0:
                        order = -1
                x += n_blank
                continue
            label, n_ways = _least_label(line, n, x, end, row, form, n_labels, chosen)
            if n_ways > 0:
                end = x + 1
            for y in range(x, end):
                labels[y] = label + y - x
                if order == 0 and labels[y] != least[y]:
                    order = -1 if labels[y] < least[y] else 1
            if order > 0:
                break
            if n_ways == 0:
                for y in range(x, end):
                    digit = row[line[columns + y]] - 1
                    line[home_columns + digit], line[home_rows + digit] = line[columns + y], k
                n_labels += end - x
            elif n_ways > 1:
                line[cursor], line[cursor + 1] = x + 1, n_labels
                for way in range(1, n_ways):
                    for y in range(cursor + 2 + n):
                        work[top + way, y] = line[y]
                    _choose(work[top + way], n, x, chosen[way], row)
            if n_ways > 0:
                _choose(line, n, x, chosen[0], row)
            x = end
        if order <= 0 and n_ways > 1:  # each of these ways goes on
            top += n_ways - 1
            continue
        top -= 1
        if order > 0:
            continue
        if order < 0:
            n_found = 0
            for y in range(n):
                least[y] = labels[y]
        if n_found == weights.size:
            return -1
        for y in range(cursor):
            found[n_found, y] = line[y]
        weights[n_found] = weight
        n_found += 1
    return n_found


@inlined
def _rows_used(line, k):
    """Return the rows of the puzzle that are the first k of the form, a bit each."""
    used = np.int64(0)
    for j in range(1, k + 1):
        used |= np.int64(1) << np.int64(line[j])
    return used


@inlined
def _n_equal(used, k, r, box_rows, blank):
    """Return the number of rows that are like row r and can be row k; 0 if r is not the first.

    As far as a state knows, only blank rows are alike, and blank bands. If a band has been begun,
    row r is one of its rows.
    """
    n = blank.size
    band = r // box_rows
    if (used >> r) & 1:
        return 0
    if k % box_rows == 0 and (used >> (band * box_rows)) & ((1 << box_rows) - 1):
        return 0
    if not blank[r]:
        return 1
    rows = bands = 0
    for other in range(band * box_rows, (band + 1) * box_rows):
        if blank[other] and not (used >> other) & 1:
            if other < r:
                return 0
            rows += 1
    if k % box_rows or rows < box_rows:
        return rows
    for other in range(n // box_rows):
        is_blank = True
        for x in range(other * box_rows, (other + 1) * box_rows):
            is_blank &= blank[x] and not (used >> x) & 1
        if is_blank and other < band:
            return 0
        bands += is_blank
    return rows * bands


@inlined
def _begin(line, turned, order, box_columns):
    """Make the first state: it knows only the order of stacks, and if the puzzle is transposed."""
    n = order.size * box_columns
    line[0] = turned
    line[1:] = NOWHERE
    for stack in range(order.size):
        for y in range(box_columns):
            x, column = stack * box_columns + y, order[stack] * box_columns + y
            line[1 + n + x], line[1 + 3 * n + column] = column, x
            line[1 + 2 * n + x] = stack * box_columns


@inlined
def _n_orders(blank, box_columns):
    """Return the number of orders of the blank stacks."""
    n_blank, orders = 0, 1
    for first in range(0, blank.size, box_columns):
        is_blank = True
        for column in range(first, first + box_columns):
            is_blank &= blank[column]
        n_blank += is_blank
        if is_blank:
            orders *= n_blank
    return orders


@inlined
def _is_first_order(order, blank, box_columns):
    """Tell whether blank stacks, which are alike, stand in the order of the puzzle."""
    before = -1
    for stack in order:
        is_blank = True
        for column in range(stack * box_columns, (stack + 1) * box_columns):
            is_blank &= blank[column]
        if is_blank:
            if stack < before:
                return False
            before = stack
    return True


@inlined
def _can_be_first(line, row, box_columns):
    """Tell whether the stacks with more blank cells come first; if not, another order is less."""
    n = row.size
    before = 0
    for first in range(0, n, box_columns):
        n_clues = 0
        for x in range(first, first + box_columns):
            n_clues += row[line[1 + n + x]] != 0
        if n_clues < before:
            return False
        before = n_clues
    return True


@inlined
def _has_fewer_blanks(line, row, least):
    """Tell whether a row begins with fewer blank cells than the least row so far, so is above it.

    This needs no placing of the row, and is true of most rows.
    """
    n = row.size
    columns, starts = 1 + n, 1 + 2 * n
    x = 0
    while x < n:
        n_blank, end = 0, x
        while end < n and line[starts + end] == x:
            n_blank += row[line[columns + end]] == 0
            end += 1
        for y in range(x, x + n_blank):
            if least[y] != 0:
                return False
        if x + n_blank < end:
            return least[x + n_blank] == 0
        x = end
    return False


@inlined
def _n_ways(line, n):
    """Return the number of orders of the columns within the cells of a state."""
    starts = 1 + 2 * n
    ways = np.int64(1)
    for x in range(n):
        ways *= x - np.int64(line[starts + x]) + 1
    return ways


@kernel
def search_forms(
    puzzles, box_rows, box_columns, orders, most, forms, symmetries, transposed, rows, columns
):
    """Find the canonical forms of puzzles whose clues do not clash.

    Parameters
    ----------
    puzzles : uint8 array, shape (m, n, n)
    box_rows, box_columns : int
    orders : int64 array, shape (number of orders, n / box columns)
        All orders of the stacks.
    most : int
        Upper bound of the number of states at a time.
    forms : uint8 array, shape (m, n, n)
        Receives the forms.
    symmetries : int64 array, shape (m,)
        Receives the number of symmetries of each puzzle, relabelling aside; 0 if the room was full.
    transposed : bool array, shape (m,)
        Receives True where the puzzle is transposed first.
    rows, columns : uint8 arrays, shape (m, n)
        Receive the row and the column of the puzzle at each row and column of the form.
    """
    n = puzzles.shape[1]
    size = 1 + 6 * n
    ours, found = np.empty((most, size), np.uint8), np.empty((most, size), np.uint8)
    weights, new_weights = np.empty(most, np.int64), np.empty(most, np.int64)
    work = np.empty((n * n + 1, size + 2 + n), np.uint8)
    chosen = np.empty(n, np.int64)
    both, blank = np.empty((2, n, n), np.uint8), np.empty((2, n), np.bool_)
    for m in range(puzzles.shape[0]):
        form = forms[m]
        for x in range(n):
            blank[0, x] = blank[1, x] = True
            for y in range(n):
                both[0, x, y], both[1, x, y] = puzzles[m, x, y], puzzles[m, y, x]
                blank[0, x] &= both[0, x, y] == 0
                blank[1, x] &= both[1, x, y] == 0
        n_ours = 0
        for turned in range(1 + (box_rows == box_columns)):
            alike = _n_orders(blank[1 - turned], box_columns)
            for k in range(orders.shape[0]):
                if _is_first_order(orders[k], blank[1 - turned], box_columns):
                    _begin(ours[n_ours], turned, orders[k], box_columns)
                    weights[n_ours] = alike
                    n_ours += 1
        n_labels = np.int64(0)
        for k in range(n):
            n_found = 0
            for s in range(n_ours):
                line = ours[s]
                turned, used = line[0], _rows_used(line, k)
                begin, end = 0, n
                if k % box_rows:  # a row of the band of the row before
                    begin = np.int64(line[k]) // box_rows * box_rows
                    end = begin + box_rows
                for r in range(begin, end):
                    alike = _n_equal(used, k, r, box_rows, blank[turned])
                    row = both[turned, r]
                    if alike == 0 or (k == 0 and not _can_be_first(line, row, box_columns)):
                        continue
                    if n_found > 0 and _has_fewer_blanks(line, row, form[k]):
                        continue
                    for x in range(size):
                        work[0, x] = line[x]
                    work[0, 1 + k] = r
                    work[0, size], work[0, size + 1] = 0, n_labels
                    n_found = _place_row(
                        row, k, form, work, chosen, found, new_weights, weights[s] * alike, n_found
                    )
                    if n_found < 0:
                        break
                if n_found < 0:
                    break
            n_ours = n_found
            if n_ours < 0:
                break
            ours, found = found, ours
            weights, new_weights = new_weights, weights
            for x in range(n):
                n_labels = max(n_labels, np.int64(form[k, x]))
        symmetries[m] = 0
        for s in range(n_ours):
            symmetries[m] += weights[s] * _n_ways(ours[s], n)
        if n_ours < 0:
            form[:] = 0
            continue
        transposed[m] = ours[0, 0] != 0
        for x in range(n):
            rows[m, x], columns[m, x] = ours[0, 1 + x], ours[0, 1 + n + x]
