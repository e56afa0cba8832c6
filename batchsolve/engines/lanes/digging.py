"""Puzzles dug out of solved grids, many side by side in the lanes of vector registers.

A lane makes one puzzle after another. An *attempt* at a row is a solved grid, filled at random, and
an order of the cells. The lane takes clues away in that order, one after another, and keeps each
clue without which the puzzle would have a second solution. A *trial* takes several clues at once:
if the puzzle still has one solution, so has it with any of them. If it has a second one, this tells
the first clue of the trial that has to stay, should all before it go: the last one where the
solutions differ. So trials save searches, and change no puzzle.

An attempt depends on the seed, the row and its number alone. A lane searches as in `search`, with
the same propagation and the same branch cells; a fill guesses at random and begins again at a
contradiction, so the chance of a grid is known: the product of 1 / (number of candidates) over its
guesses. Of `Wish.n_fills` grids the attempt takes one, with chances that make up for this. After
`Wish.fill_nodes` nodes it takes one of those filled by then. If there is none, the fills of the row
go back to the last guess at a contradiction, and begin again only after `_PATIENCE` nodes a cell.
Then an attempt takes the first grid, whose chance is not known.

Rows may have rules of their own, as `Variants`, and solutions from which these were drawn. Then an
attempt begins with the solution, and a row whose attempt fails is left to the caller.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import uint32, uint64

from batchsolve.engines.intrinsics import borrowed, popcount
from batchsolve.engines.lanes import best_width
from batchsolve.engines.lanes.digging_memory import (
    EMPTY,
    NUMBER,
    SEVERAL,
    SPARE,
    Made,
    Wish,
    diggers_of,
)
from batchsolve.engines.lanes.form import (
    Form,
    form_of,
    is_filled,
    lowest_bits,
    n_cells_of,
    n_digits_of,
)
from batchsolve.engines.lanes.memory import BAD, BUSY, EVENTS, SOLVED
from batchsolve.engines.lanes.steps import find_events, keep_vectors_aligned, lowest_bit
from batchsolve.engines.prepared import prepared
from batchsolve.kernels import inlined, kernel
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.variant import Variant
from batchsolve.splitmix import GOLDEN, below, mixed, stream_of

U, W = uint32, uint64

_NEW, _FILL, _BEGIN, _DIG, _REVIEW, _WEIGH = range(6)  # the phases of an attempt
# what a lane does next; `_FAIL` and more is to fail for a reason
_WAIT, _SEARCH, _REFILL, _RETRY, _NEXT, _IDLE, _FAIL = range(7)
_LEAST_WEIGHT = 1e-300  # of a grid without guesses, so that those of large grids are floats, too
_PATIENCE = 16  # nodes a cell, after which a fill that goes back begins again
_STAYS = 2**30  # the place in the order of a clue that is still there
_OPEN, _ONE, _TWO, _LONG = range(4)  # the state of a search for a second solution


# ---- attempts -----------------------------------------------------------------------------------


@inlined
def _fraction(w, lane):
    """Return a random number from 0 to 1."""
    w.random[lane] += GOLDEN
    return np.float64(mixed(w.random[lane]) >> W(11)) / 2.0**53


@inlined
def _begin_attempt(w, keys, rows, made, lane):
    k = w.row[lane]
    w.random[lane] = stream_of(keys, rows[k], made.attempts[k])
    w.n_filled[lane], w.weights[lane] = 0, 0.0
    w.phase[lane], w.trial_nodes[lane] = _FILL, 0


@inlined
def _fail(w, wish, made, lane, reason):
    k = w.row[lane]
    made.reasons[k, reason] += 1
    if wish.is_single:
        return _NEXT
    made.attempts[k] += 1
    return _RETRY


@inlined
def _blank(form, own, w, lane, cell):
    """Return the candidates of a cell without a clue."""
    candidates = lowest_bits(n_digits_of(form))
    if own is not None and own.allowed.shape[1] > 0:
        candidates &= U(own.allowed[w.own_rows[w.row[lane]], cell])
    return candidates


@inlined
def _begin_fill(form, own, n, w, wish, made, lane):
    w.weight[lane], w.level[lane] = _LEAST_WEIGHT, 0
    if w.trial_nodes[lane] > wish.fill_nodes:
        w.goes_back[lane], w.trial_nodes[lane] = True, 0
    for cell in range(n_cells_of(form)):
        w.grid[U(cell) * n + lane] = _blank(form, own, w, lane, cell)
    if own is not None:
        row = w.own_rows[w.row[lane]]
        for cell in range(n_cells_of(form)):
            if len(form.free) > 0:
                w.regions[U(cell) * n + lane] = own.regions[row, cell]
            if made.solutions[w.row[lane], cell] > 0:
                w.grid[U(cell) * n + lane] = U(1) << U(made.solutions[w.row[lane], cell] - 1)
    n_digits = np.int64(n_digits_of(form))
    n_free = min(wish.free.size, n_digits) if w.goes_back[lane] else wish.free.size
    for x in range(n_free):
        first = x - x % n_digits  # of the house; each cell trades places with one of those before
        other = first + below(w.random, lane, x - first + 1)
        cell, from_cell = U(wish.free[x]), U(wish.free[other])
        w.grid[cell * n + lane] = w.grid[from_cell * n + lane]
        w.grid[from_cell * n + lane] = U(1) << U(x - first)


@inlined
def _take_filled(form, n, w, lane):
    """Take a filled grid as the solution, with a chance by its weight."""
    w.n_filled[lane] += 1
    w.weights[lane] += w.weight[lane]
    if w.n_filled[lane] == 1 or _fraction(w, lane) * w.weights[lane] < w.weight[lane]:
        for cell in range(n_cells_of(form)):
            w.solution[lane, cell] = lowest_bit(U(w.grid[U(cell) * n + lane]))


# ---- digging ------------------------------------------------------------------------------------


@inlined
def _begin_digging(form, w, wish, lane):
    """Draw the order of units and the number of clues; leave the clues that may stand."""
    for x in range(wish.begins.size - 1):
        y = below(w.random, lane, x + 1)
        w.order[lane, x] = w.order[lane, y]
        w.order[lane, y] = x
    w.target[lane] = 0 if wish.is_minimal else wish.fewest
    if not wish.is_minimal and wish.most < n_cells_of(form):
        w.target[lane] += below(w.random, lane, wish.most - wish.fewest + 1)
    w.gone[lane, :] = _STAYS
    for cell in wish.outside:
        w.gone[lane, cell] = -1
    w.begin[lane] = w.end[lane] = w.stays[lane] = 0
    w.n_clues[lane] = n_cells_of(form) - wish.outside.size


@inlined
def _begin_trial(form, w, wish, lane, size):
    """Take away the clues of the next units, `size` of them or as many as a trial should.

    Returns False if none is left to take.
    """
    n_units = wish.begins.size - 1
    fewest = 0 if wish.is_minimal else wish.fewest
    if size == 0:
        size = max(1, (w.n_clues[lane] * 16 - n_cells_of(form) * 7) // 16)
    begin = x = w.begin[lane]
    while x < n_units and x < begin + size and w.n_clues[lane] > w.target[lane]:
        unit = w.order[lane, x]
        n_cells = wish.begins[unit + 1] - wish.begins[unit]
        if w.n_clues[lane] - n_cells >= fewest:
            for y in range(wish.begins[unit], wish.begins[unit + 1]):
                w.gone[lane, wish.cells[y]] = x
            w.n_clues[lane] -= n_cells
        elif x == begin:
            begin += 1  # the unit is larger than the number of clues that may go
        else:
            break
        x += 1
    w.begin[lane], w.end[lane], w.stays[lane] = begin, x, 0
    return x > begin


@inlined
def _single_of_trial(w, wish, lane):
    """Return the cell of a trial that takes one clue away, else -1."""
    begin = w.begin[lane]
    unit = w.order[lane, begin]
    first, last = wish.begins[unit], wish.begins[unit + 1]
    is_single = w.end[lane] == begin + 1 and last == first + 1
    return np.int64(wish.cells[first]) if is_single else -1


@inlined
def _end_trial(n, w, wish, lane, found):
    """Draw the conclusion from a trial.

    Returns the size of the next one, 0 if that is open, or -1 if the trial goes on with fewer
    units.
    """
    begin, end = w.begin[lane], w.end[lane]
    if found == _ONE:
        w.begin[lane] = end + w.stays[lane]
        return 0
    last = begin
    if found == _TWO:
        last = _last_difference(n, w, wish, lane)
    for x in range(last, end):
        unit = w.order[lane, x]
        for y in range(wish.begins[unit], wish.begins[unit + 1]):
            w.gone[lane, wish.cells[y]] = _STAYS
        w.n_clues[lane] += wish.begins[unit + 1] - wish.begins[unit]
    w.end[lane] = last
    if last > begin:
        w.stays[lane] = 1
        return -1
    if found == _TWO or end == begin + 1:
        w.begin[lane] += 1
        return 0
    return (end - begin) // 2


@inlined
def _last_difference(n, w, wish, lane):
    """Return the place of the last unit of the trial where the second solution differs."""
    for x in range(w.end[lane] - 1, w.begin[lane], -1):
        unit = w.order[lane, x]
        for y in range(wish.begins[unit], wish.begins[unit + 1]):
            if _differs(n, w, lane, np.int64(wish.cells[y])):
                return x
    return w.begin[lane]


@inlined
def _differs(n, w, lane, cell):
    """Tell whether the solution that is found has another digit in a cell."""
    return U(w.grid[U(cell) * n + lane]) != U(1) << U(w.solution[lane, cell])


# ---- the search for a second solution -----------------------------------------------------------


@inlined
def _begin_search(form, own, n, w, lane):
    """Fill the grid with the clues that are still there at `place`, in the order of units.

    The cell `without`, unless it is -1, holds another digit than in the solution.
    """
    place, without = w.place[lane], w.without[lane]
    for cell in range(n_cells_of(form)):
        clue = U(1) << U(w.solution[lane, cell])
        blank = _blank(form, own, w, lane, cell)
        w.grid[U(cell) * n + lane] = clue if w.gone[lane, cell] >= place else blank
    if without >= 0:
        others = _blank(form, own, w, lane, without)
        w.grid[U(without) * n + lane] = others & ~(U(1) << U(w.solution[lane, without]))
    w.level[lane] = w.trial_nodes[lane] = 0


@inlined
def _judge(form, n, w, wish, lane, is_solved):
    """Return the state of the search at a node that is propagated."""
    w.trial_nodes[lane] += 1
    if is_solved:
        for cell in range(n_cells_of(form)):
            if _differs(n, w, lane, cell):
                return _TWO
    return _LONG if w.trial_nodes[lane] > wish.trial_nodes else _OPEN


@inlined
def _branch(form, n, w, lane, is_over, is_fill, is_kept):
    """Guess in the branch cell or, where a node is over, go back to the last guess.

    A fill guesses at random. Guesses that are not kept are those without a way back. Returns `_ONE`
    if nothing is left to guess.
    """
    level = w.level[lane]
    if not is_over:
        chosen = U(w.branch[lane])
        w.guessed[level, lane] = chosen
        w.rest[level, lane] = w.grid[chosen * n + lane]
        if is_kept:
            for cell in range(n_cells_of(form)):
                w.saved[level, lane, cell] = w.grid[U(cell) * n + lane]
    else:
        level -= 1
        while level >= 0 and w.rest[level, lane] == 0:
            level -= 1
        if level < 0:
            return _ONE
        for cell in range(n_cells_of(form)):
            w.grid[U(cell) * n + lane] = w.saved[level, lane, cell]
    candidates = U(w.rest[level, lane])
    guess = candidates
    if is_fill:
        n_candidates = np.int64(popcount(candidates))
        if not is_kept:
            w.weight[lane] *= n_candidates
        for _ in range(below(w.random, lane, n_candidates)):
            guess &= U(guess - U(1))
    bit = U(1) << lowest_bit(guess)
    w.rest[level, lane] = U(candidates & ~bit)
    w.grid[U(w.guessed[level, lane]) * n + lane] = bit
    w.level[lane] = level + 1 if is_kept else 0
    return _OPEN


# ---- weights ------------------------------------------------------------------------------------


@inlined
def _bound(form, n, w, lane, found):
    """Narrow the bounds of the place from which on the clue of `begin` has to stay.

    It is above `stays` and at most `end`. Returns True while these are apart.
    """
    if found == _ONE:
        w.stays[lane] = w.place[lane]
    else:  # the clue has to stay as soon as all others that tell the solutions apart have gone
        last = np.int64(-1)
        for cell in range(n_cells_of(form)):
            if cell != w.begin[lane] and _differs(n, w, lane, cell):
                last = max(last, np.int64(w.gone[lane, cell]))
        w.end[lane] = last + 1
    w.place[lane] = (w.stays[lane] + w.end[lane]) // 2
    if w.end[lane] - w.stays[lane] > 1:
        return True
    w.n_blocked[lane, w.end[lane]] += 1
    return False


@inlined
def _weight(w, wish, lane):
    """Return an estimate of 1 / (the chance of a minimal puzzle to be dug out of its grid).

    Its mean over all ways to dig the puzzle is exact: C(n, k) times the product, over all steps, of
    the share of the clues that could go. Berthier's controlled-bias generator (2009)
    takes away any clue and gives up where that leaves several solutions, so it makes each minimal
    puzzle of k clues with the chance 1 / C(n, k). This one takes away one of those that can go.
    """
    n_units = wish.begins.size - 1
    weight, n_clues, n_blocked = 1.0, n_units, 0
    for x in range(n_units):
        n_blocked += w.n_blocked[lane, x]
        if w.gone[lane, wish.cells[w.order[lane, x]]] != _STAYS:
            weight *= (n_clues - n_blocked) / n_clues
            n_clues -= 1
    for x in range(1, n_clues + 1):
        weight *= (n_units - n_clues + x) / x
    return weight


# ---- the control of a lane ----------------------------------------------------------------------


@inlined
def _go_on(form, own, n, w, wish, made, left, lane, is_bad, is_solved):
    """Go on with a lane whose grid is propagated; return what it does next."""
    if w.phase[lane] == _NEW:
        return _NEXT
    size = 0
    k = w.row[lane]
    made.nodes[k] += 1
    if k >= left[1]:  # a row before it has failed
        return _IDLE
    if made.nodes[k] > wish.row_nodes:
        left[1] = k
        return _IDLE
    w.without[lane] = -1
    is_fill, found = w.phase[lane] == _FILL, _OPEN
    if is_fill:
        w.trial_nodes[lane] += 1
        if w.trial_nodes[lane] > wish.fill_nodes and wish.is_single:
            return _FAIL + EMPTY
        if is_solved:
            _take_filled(form, n, w, lane)
        if is_solved or (w.goes_back[lane] and w.n_filled[lane] > 0):
            found = _TWO
        elif w.goes_back[lane] and w.trial_nodes[lane] % (_PATIENCE * n_cells_of(form)) == 0:
            return _REFILL
    else:
        found = _judge(form, n, w, wish, lane, is_solved)
    if found == _OPEN:
        is_kept = not is_fill or w.goes_back[lane]
        found = _branch(form, n, w, lane, is_bad or is_solved, is_fill, is_kept)
        if found == _OPEN:
            return _WAIT
    if is_fill:
        if found == _ONE or (w.n_filled[lane] < wish.n_fills and not w.goes_back[lane]):
            return _REFILL
        _begin_digging(form, w, wish, lane)
        w.phase[lane], w.place[lane] = _DIG, _STAYS
        if wish.outside.size > 0:
            w.phase[lane] = _BEGIN
            return _SEARCH
    else:
        if w.phase[lane] == _DIG:
            if found == _LONG and wish.is_minimal and w.end[lane] == w.begin[lane] + 1:
                return _FAIL + SPARE  # a clue that may be one too many
            size = _end_trial(n, w, wish, lane, found)
        elif w.phase[lane] == _BEGIN:
            if found != _ONE:
                return _FAIL + SEVERAL
            w.phase[lane] = _DIG
        elif found == _LONG or (w.phase[lane] == _REVIEW and found == _ONE):
            return _FAIL + SPARE
        elif w.phase[lane] == _WEIGH and _bound(form, n, w, lane, found):
            w.without[lane] = w.begin[lane]
            return _SEARCH
        else:
            w.begin[lane] += 1
    if w.phase[lane] == _DIG:
        if size < 0 or _begin_trial(form, w, wish, lane, size):
            w.without[lane] = _single_of_trial(w, wish, lane)
            return _SEARCH
        n_clues = w.n_clues[lane]
        if not wish.fewest <= n_clues <= wish.most:
            made.fewest[k] = min(made.fewest[k], n_clues)
            made.most[k] = max(made.most[k], n_clues)
            return _FAIL + NUMBER
        w.phase[lane], w.begin[lane] = _WEIGH if wish.is_weighed else _REVIEW, 0
        w.n_blocked[lane, :] = 0
        if not wish.is_weighed and (not wish.is_minimal or wish.begins.size > wish.cells.size):
            w.begin[lane] = n_cells_of(form)  # there is nothing to review
    for cell in range(w.begin[lane], n_cells_of(form)):
        if w.gone[lane, cell] == _STAYS:
            w.begin[lane] = w.without[lane] = cell
            if w.phase[lane] == _WEIGH:
                w.stays[lane], w.end[lane] = -1, wish.begins.size - 1
                w.place[lane] = (w.end[lane] - 1) // 2
            return _SEARCH
    for cell in range(n_cells_of(form)):
        digit = w.solution[lane, cell] + 1
        made.solutions[k, cell] = digit
        made.puzzles[k, cell] = digit if w.gone[lane, cell] == _STAYS else 0
    made.weights[k] = w.weights[lane] / _LEAST_WEIGHT / wish.n_fills
    if wish.is_weighed:
        made.weights[k] *= _weight(w, wish, lane)
    return _NEXT


@kernel
def _dig(form, rules, own, w, wish, keys, rows, made, left):
    """Make puzzles.

    ``left`` holds the next row that no lane has taken, and the end of the rows: the first row that
    has failed, if any has.
    """
    keep_vectors_aligned()
    rules, w, wish, made = borrowed(rules), borrowed(w), borrowed(wish), borrowed(made)
    own = borrowed(own)
    n = U(len(form.lanes))
    bits = w.bits
    while True:
        bad, solved, events, busy = bits[BAD], bits[SOLVED], bits[EVENTS], bits[BUSY]
        while events != 0:
            lane = lowest_bit(events)
            bit = U(U(1) << lane)
            events &= U(events - U(1))
            is_solved = solved & bit != 0
            is_bad = bad & bit != 0 or (is_solved and not is_filled(form, n, w.grid, lane))
            is_solved &= not is_bad
            what = _go_on(form, own, n, w, wish, made, left, lane, is_bad, is_solved)
            if what >= _FAIL:
                what = _fail(w, wish, made, lane, what - _FAIL)
            if what == _NEXT:
                what = _IDLE
                if left[0] < left[1]:
                    w.row[lane], w.goes_back[lane] = left[0], False
                    left[0] += 1
                    what = _RETRY
            if what == _RETRY:
                _begin_attempt(w, keys, rows, made, lane)
                what = _REFILL
            if what == _REFILL:
                _begin_fill(form, own, n, w, wish, made, lane)
            elif what == _SEARCH:
                _begin_search(form, own, n, w, lane)
            elif what == _IDLE:
                busy &= ~bit
        if busy == 0:
            break
        bits[BUSY] = busy
        find_events(form, rules, own, w.own_rows, w.row, w, bits)


def dig_rows(
    problem: GridProblem,
    wish: Wish,
    keys: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.int64],
    made: Made,
) -> int:
    """Make the puzzles of some rows.

    Parameters
    ----------
    problem : GridProblem
        A `Sudoku`, a `Variant`, or the `Variants` of the rows.
    wish : Wish
    keys : ndarray of uint64, shape (2,)
        The seed of the random numbers.
    rows : ndarray of int64, shape (n,)
        The numbers of the rows.
    made : Made
        Receives the puzzles.

    Returns
    -------
    int
        The place of the first row for which no puzzle was found, or n.
    """
    form = _form_of(problem)
    left = np.array([0, len(rows)], np.int64)
    w = diggers_of(form, len(wish.begins) - 1, len(rows))
    own = None
    if isinstance(problem, Variant):
        own = problem.own
        w.own_rows[:] = problem.rows_of(w.own_rows)
    _dig(form.shape, form.rules, own, w, wish, keys, rows, made, left)
    return int(left[1])


@prepared
def _form_of(problem: ExactCover) -> Form:
    assert isinstance(problem, GridProblem)
    return form_of(problem, best_width(problem.n_digits))
