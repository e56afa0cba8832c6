"""Chains of implications between candidates, with the ratings of Sudoku Explainer 1.2.1.

A *node* is a candidate that is *on* (the digit of its cell) or *off*. If it is on, all other
candidates of its cell, and of its digit in its houses, are off: *weak links*. If it is off, and one
other candidate of its cell, or of its digit in a house, is left, that is on: *strong links*. A
*chain* follows weak and strong links in turn:

- A *cycle* leads from A on to B off and back, for one digit: one of A and B is on, so cells that
  see both do not have the digit.
- A *forcing chain* leads from a candidate to its opposite, which therefore holds.
- *Cell* and *region forcing chains* lead from all candidates of a cell, or of a digit in a house,
  to one node, which therefore holds.

X-cycles and X-chains follow one digit; Y-cycles have strong links within cells alone.

All are chains of the least length, whose nodes are counted: each limit of length that a rating
passes adds 0.1. A chain that loses a node, because singles decide it, has its conclusion decided,
too. So the rating is still the least level up to which techniques solve the puzzle.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np

from batchsolve.engines.intrinsics import trailing_zeros
from batchsolve.kernels import inlined, kernel, part
from batchsolve.rating.board import (
    CELL,
    HOUSE,
    N_CELLS,
    N_HOUSES,
    PLACES,
    N,
    count,
    first,
    remove,
)
from batchsolve.rating.ladder import DIGITS_OF_STEP, N_PEERS, PEERS
from batchsolve.rating.nishio import UNKNOWN, refute, refuter
from batchsolve.rating.techniques import (
    CELL_CHAINS,
    CHAIN,
    CYCLE,
    GUESS,
    KINDS,
    LEVELS,
    MOST_NODES,
    NISHIO,
    NONE,
    REGION_CHAINS,
    X_CHAIN,
    X_CYCLE,
    Y_CYCLE,
)

N_CANDIDATES = N_CELLS * N
WORDS = (N_CANDIDATES + 63) // 64
FAR = 255
"""The distance of nodes that no chain reaches."""

X_LINKS, Y_LINKS, LINKS = range(3)
"""The links of one digit; all weak links, and strong links within cells; all links."""
CHAIN_OF = np.array([X_CHAIN, Y_CYCLE, CHAIN])
CYCLE_OF = np.array([X_CYCLE, Y_CYCLE, CYCLE])

CHAINS_OF_STEP = DIGITS_OF_STEP + 1
"""The place of the nodes of a step's chains, behind its cells and digits; 0 ends each chain."""
CHAIN_STEP_SIZE = CHAINS_OF_STEP + 2 * MOST_NODES

ROOM = np.dtype(
    [
        ("at", np.int64, N_CANDIDATES),  # the candidates: 9 · cell + digit
        ("number", np.int64, (N_CELLS, N)),  # their numbers
        ("weak", np.uint64, (2, N_CANDIDATES, WORDS)),  # their weak links
        ("strong", np.uint64, (3, N_CANDIDATES, WORDS)),  # their strong links
        ("reach", np.uint8, (4, N_CANDIDATES, N_CANDIDATES)),  # from on, then off, to on and to off
        ("sets", np.uint64, (4, WORDS)),
        ("found", np.int64, (N_CANDIDATES + 1, 4)),  # level, nodes, source, target; the least level
        ("sums", np.uint16, (2, N_CANDIDATES)),  # the nodes of chains to off and to on
        ("proofs", np.int64, N_CELLS),  # as of `refute`
        ("order", np.int64, (N_CELLS + 1, N + 2)),
        ("states", np.uint64, (N + 1, 6)),
    ],
    align=True,
)
"""The room that chains need."""

_NODES = np.arange(MOST_NODES + 1)
MOST = np.array([[_NODES[row <= level].max(initial=0) for level in range(GUESS)] for row in LEVELS])
"""The most nodes of a chain of each kind that each level has."""


@inlined
def _set(bits, k):
    """Set bit k of a row of words."""
    bits[k >> 6] |= np.uint64(1) << np.uint64(k & 63)


@inlined
def _has(bits, k):
    """Return True if bit k of a row of words is set."""
    return bits[k >> 6] >> np.uint64(k & 63) & np.uint64(1) != 0


@part
def _link(board, at, number, weak, strong):
    """Set the candidates of a board and their links; return the number of candidates.

    The weak links are those of one digit, then all; the strong links those of one digit, those
    within cells, then all.
    """
    n = 0
    for digit in range(N):
        for cell in range(N_CELLS):
            number[cell, digit] = n
            if board[cell] >> digit & 1:
                at[n] = N * cell + digit
                n += 1
    for k in range(n):
        for word in range(WORDS):
            weak[0, k, word] = weak[1, k, word] = 0
            strong[0, k, word] = strong[1, k, word] = strong[2, k, word] = 0
        cell, digit = at[k] // N, at[k] % N
        for j in range(N_PEERS):
            if board[PEERS[cell, j]] >> digit & 1:
                _set(weak[0, k], number[PEERS[cell, j], digit])
                _set(weak[1, k], number[PEERS[cell, j], digit])
        others = np.intp(board[cell]) & ~(1 << digit)
        if count(others) == 1:
            _set(strong[1, k], number[cell, first(others)])
            _set(strong[2, k], number[cell, first(others)])
        while others:
            _set(weak[1, k], number[cell, first(others)])
            others &= others - 1
        for j in range(3):
            places = np.intp(board[PLACES + N * HOUSE[cell, j] + digit])
            if count(places) == 2:
                for _ in range(2):
                    other = number[CELL[HOUSE[cell, j], first(places)], digit]
                    places &= places - 1
                    if other != k:
                        _set(strong[0, k], other)
                        _set(strong[2, k], other)
    return n


@part
def _spread(start, is_on, weak, strong, most, to_on, to_off, sets, n):
    """Set the least number of links from a node to each candidate on, and to each off.

    Parameters
    ----------
    start : int
        The candidate of the node.
    is_on : bool
        The node is on.
    weak, strong : arrays of uint64, shape (n, w)
        The links of each candidate, as bits.
    most : int
        The most links.
    to_on, to_off : arrays of uint8, shape (n,)
        `FAR` for nodes that no chain reaches.
    sets : array of uint64, shape (4, w)
        Room for sets of candidates: those on and off, those reached last, and their links.
    """
    for k in range(n):
        to_on[k] = to_off[k] = FAR
    n_words = (n + 63) >> 6
    for j in range(4):
        for word in range(n_words):
            sets[j, word] = 0
    if is_on:
        to_on[start] = 0
        _set(sets[1], start)
    else:
        to_off[start] = 0
        _set(sets[0], start)
    _set(sets[2], start)
    links, going = 0, True
    while going and links < most:
        links += 1
        going = False
        rows, reached, distances = weak, sets[0], to_off
        if not is_on:
            rows, reached, distances = strong, sets[1], to_on
        for word in range(n_words):
            sets[3, word] = 0
        for word in range(n_words):
            bits = sets[2, word]
            while bits:
                row = rows[64 * word + np.intp(trailing_zeros(bits))]
                bits &= bits - np.uint64(1)
                for j in range(n_words):
                    sets[3, j] |= row[j]
        for word in range(n_words):
            bits = sets[3, word] & ~reached[word]
            reached[word] |= bits
            sets[2, word] = bits
            while bits:
                distances[64 * word + np.intp(trailing_zeros(bits))] = links
                bits &= bits - np.uint64(1)
                going = True
        is_on = not is_on


@part
def _find(found, k, level, nodes, source, target):
    """Note that a chain of some level removes a candidate, if it is easier than the last one."""
    if level < found[k, 0] or (level == found[k, 0] and nodes < found[k, 1]):
        found[k, 0], found[k, 1], found[k, 2], found[k, 3] = level, nodes, source, target
        found[-1, 0] = min(found[-1, 0], level)


@part
def _conclude(board, at, number, found, level, nodes, source, target):
    """Note the candidates that a chain to a node removes."""
    k = target >> 1
    if target & 1 == 0:
        _find(found, k, level, nodes, source, target)
        return
    cell, digit = at[k] // N, at[k] % N
    others = np.intp(board[cell]) & ~(1 << digit)
    while others:
        _find(found, number[cell, first(others)], level, nodes, source, target)
        others &= others - 1


@inlined
def _least(found, n):
    """Return the candidate that the easiest chain removes."""
    best = 0
    for k in range(1, n):
        if found[k, 0] < found[best, 0] or (
            found[k, 0] == found[best, 0] and found[k, 1] < found[best, 1]
        ):
            best = k
    return best


@part
def _follow(links, board, room, n, limit):
    """Find the cycles and forcing chains of some links, as far as they may be the easiest.

    Parameters
    ----------
    links : int
        `X_LINKS`, `Y_LINKS` or `LINKS`.
    board : array of `SIZE`
    room : tuple of arrays
        As `room_for_chains` makes it; `_link` has set the links.
    n : int
        The number of candidates.
    limit : int
        Chains up to this level are as good as the easiest.
    """
    at, number, reach, found = room.at, room.number, room.reach, room.found
    weak, strong = room.weak[min(links, 1)], room.strong[links]
    chain, cycle = CHAIN_OF[links], CYCLE_OF[links]
    for k in range(n):
        bound = min(max(limit, found[-1, 0]), GUESS - 1)
        most = max(MOST[chain, bound], MOST[cycle, bound]) - 1
        _spread(k, True, weak, strong, most, reach[0, k], reach[1, k], room.sets, n)
        _spread(k, False, weak, strong, most, reach[2, k], reach[3, k], room.sets, n)
        if links != Y_LINKS:
            for is_on in range(2):  # from off to on, and from on to off
                nodes = np.intp(reach[2 - is_on, k, k]) + 1
                if nodes <= most + 1:
                    node = 2 * k + is_on
                    _conclude(board, at, number, found, LEVELS[chain, nodes], nodes, node, node ^ 1)
    for one in range(n):
        for two in range(one + 1, n):
            if at[two] % N != at[one] % N:
                break
            if not _has(weak[one], two):
                continue
            nodes = 1 + np.intp(reach[2, two, one])
            if nodes <= MOST_NODES and LEVELS[cycle, nodes] <= max(limit, found[-1, 0]):
                _cross(one, two, LEVELS[cycle, nodes], nodes, room, n, found)
                if links != LINKS and nodes > 4:
                    _cross_all(one, two, cycle, nodes, room, n)


@part
def _cross(one, two, level, nodes, room, n, found):
    """Note the candidates that see both of two of their digit, one of which is on."""
    weak = room.weak
    for word in range((n + 63) >> 6):
        bits = weak[0, one, word] & weak[0, two, word]
        while bits:
            k = 64 * word + np.intp(trailing_zeros(bits))
            bits &= bits - np.uint64(1)
            _find(found, k, level, nodes, 2 * one + 1, 2 * two)


@part
def _cross_all(one, two, cycle, nodes, room, n):
    """Use all least cycles through a weak link: their nodes, in turn on and off.

    The cycles lead from `one` on to `two` off, and back.
    """
    at, reach, found = room.at, room.reach, room.found
    level = LEVELS[cycle, nodes]
    for on in range(n):
        before, behind = np.intp(reach[2, two, on]), np.intp(reach[0, on, one])
        if on == one or before + behind != nodes - 1:
            continue
        for off in range(n):
            if at[on] % N != at[off] % N or on == off:
                continue
            if before + np.intp(reach[1, on, off]) + np.intp(reach[2, off, one]) == nodes - 1:
                _cross(on, off, level, nodes, room, n, found)
            if np.intp(reach[3, two, off]) + np.intp(reach[2, off, on]) + behind == nodes - 1:
                _cross(on, off, level, nodes, room, n, found)


@part
def _join(kind, source, places, house, board, room, n, limit):
    """Find the nodes to which chains lead from all candidates of a cell or region.

    Parameters
    ----------
    kind : int
        `CELL_CHAINS` or `REGION_CHAINS`.
    source : int
        The cell, or the digit.
    places : int
        The digits of the cell, or the places of the digit in `house`.
    """
    at, number, reach, found, sums = room.at, room.number, room.reach, room.found, room.sums
    for target in range(n):
        sums[0, target] = sums[1, target] = 0
    left = places
    while left:
        if kind == CELL_CHAINS:
            k = number[source, first(left)]
        else:
            k = number[CELL[house, first(left)], source]
        left &= left - 1
        for target in range(n):
            sums[0, target] += reach[1, k, target] + 1
            sums[1, target] += reach[0, k, target] + 1
    for target in range(n):
        for is_on in range(2):
            nodes = np.intp(sums[is_on, target])
            if nodes <= MOST_NODES and LEVELS[kind, nodes] <= max(limit, found[-1, 0]):
                start = source if kind == CELL_CHAINS else N * house + source
                level, node = LEVELS[kind, nodes], 2 * target + is_on
                _conclude(board, at, number, found, level, nodes, start, node)


@part
def _refute(board, room, n):
    """Find the candidates that the shortest proofs refute, if these are the easiest chains."""
    at, found = room.at, room.found
    proofs, order, states = room.proofs, room.order, room.states
    for level in range(LEVELS[NISHIO, 0], GUESS):
        if found[-1, 0] <= level:
            return
        if KINDS[level, 0] == NISHIO:
            most = MOST[NISHIO, level]
            for k in range(n):
                nodes = refute(board, at[k] // N, at[k] % N, most, proofs, order, states)
                if nodes < UNKNOWN:
                    _find(found, k, LEVELS[NISHIO, nodes], nodes, 2 * k + 1, 2 * k)


@part
def _find_chains(board, room, limit):
    """Find the easiest chain for each candidate, as far as it may be the easiest of all.

    Return the number of candidates.
    """
    n = _link(board, room.at, room.number, room.weak, room.strong)
    found = room.found
    for k in range(len(found)):
        found[k, 0] = GUESS
    _follow(X_LINKS, board, room, n, limit)
    if found[-1, 0] <= limit:
        return n
    _follow(Y_LINKS, board, room, n, limit)
    if found[-1, 0] <= limit or found[-1, 0] < LEVELS[CYCLE, 0]:
        return n
    _follow(LINKS, board, room, n, limit)
    if found[-1, 0] <= limit:
        return n
    if found[-1, 0] < LEVELS[NISHIO, 0]:
        return n
    for cell in range(N_CELLS):
        digits = np.intp(board[cell])
        if count(digits) > 2:
            _join(CELL_CHAINS, cell, digits, 0, board, room, n, limit)
    for house in range(N_HOUSES):
        for digit in range(N):
            places = np.intp(board[PLACES + N * house + digit])
            if count(places) > 2:
                _join(REGION_CHAINS, digit, places, house, board, room, n, limit)
    _refute(board, room, n)
    return n


@part
def _trace(links, start, end, room, n, step, at_step):
    """Write the nodes of a least chain into a step; return the place behind them."""
    at, reach = room.at, room.reach
    weak, strong = room.weak[min(links, 1)], room.strong[links]
    to_on, to_off = reach[0, start >> 1], reach[1, start >> 1]
    _spread(start >> 1, start & 1 == 1, weak, strong, MOST_NODES, to_on, to_off, room.sets, n)
    here, is_on = np.intp(end >> 1), end & 1 == 1
    left = np.intp(to_on[here]) if is_on else np.intp(to_off[here])
    behind = at_step + left + 1
    while True:
        step[at[here] // N] = 1
        step[DIGITS_OF_STEP] |= 1 << at[here] % N
        step[at_step + left] = 2 * at[here] + is_on + 1
        if left == 0:
            return behind
        left -= 1
        rows, distances = (strong, to_off) if is_on else (weak, to_on)
        before = np.intp(0)
        while distances[before] != left or not _has(rows[before], here):
            before += 1
        here, is_on = before, not is_on


@part
def _write_proofs(board, candidate, room, step):
    """Write the proofs that refute a candidate into a step: nodes on, and a last one off."""
    proofs, order, at_step = room.proofs, room.order, CHAINS_OF_STEP
    digit = candidate % N
    refute(board, candidate // N, digit, MOST_NODES, proofs, order, room.states)
    best = 0
    for cell in range(1, N_CELLS):
        nodes, least = proofs[cell], proofs[best]
        if nodes + proofs[refuter(proofs, cell)] < least + proofs[refuter(proofs, best)]:
            best = cell
    for cell in (best, refuter(proofs, best)):
        i = 0
        while order[cell, i] >= 0:
            step[order[cell, i]] = 1
            step[at_step] = 2 * (N * order[cell, i] + digit) + 2
            at_step += 1
            i += 1
        at_step += 1
    step[best] = 1
    step[at_step - 1] = 2 * (N * best + digit) + 1
    step[DIGITS_OF_STEP] = 1 << digit


@part
def _explain(level, source, target, room, n, board, step):
    """Write the chains of a row of `found` into a step."""
    step[:] = 0
    kind, at_step = KINDS[level, 0], CHAINS_OF_STEP
    links = LINKS
    if kind in (X_CHAIN, X_CYCLE):
        links = X_LINKS
    elif kind == Y_CYCLE:
        links = Y_LINKS
    if kind == NISHIO:
        _write_proofs(board, room.at[source >> 1], room, step)
    elif kind in (CELL_CHAINS, REGION_CHAINS):
        places = board[source] if kind == CELL_CHAINS else board[PLACES + source]
        left = np.intp(places)
        while left:
            if kind == CELL_CHAINS:
                k = room.number[source, first(left)]
            else:
                k = room.number[CELL[source // N, first(left)], source % N]
            left &= left - 1
            at_step = _trace(links, 2 * k + 1, target, room, n, step, at_step) + 1
    else:
        at_step = _trace(links, source, target, room, n, step, at_step)
        if kind in (X_CYCLE, Y_CYCLE, CYCLE):
            _trace(links, target, source, room, n, step, at_step - 1)


@part
def _use_chains(board, step, limit, room):
    """Use the easiest chains, and all others up to a level; return the level of the easiest."""
    n, found = _find_chains(board, room, limit), room.found
    level = found[-1, 0]
    if level == GUESS:
        return level
    best = _least(found, n)
    if step is not None:
        _explain(level, found[best, 2], found[best, 3], room, n, board, step)
    for k in range(n):
        fits = found[k, 0] <= max(level, limit)
        if step is not None:
            fits = found[k, 1] == found[best, 1] and found[k, 0] == level
            fits &= found[k, 2] == found[best, 2] and found[k, 3] == found[best, 3]
        if fits:
            remove(board, room.at[k] // N, room.at[k] % N)
    return level


@kernel
def use_chains(boards, levels, rows, used, room, step):
    """Use the easiest chain on each of some boards, and all others up to the hardest level.

    Parameters
    ----------
    boards, levels, rows, used, step : as of `climb`
        The level is `GUESS`, too, if no chain helps. With `step`, one chain is used.
    room : tuple of arrays
        As `room_for_chains` makes it.
    """
    for k in rows:
        hardest = 0 if levels[k] == NONE else np.intp(levels[k])
        used[k] = _use_chains(boards[k], step, hardest, room[0])
        if levels[k] == NONE or used[k] > levels[k]:
            levels[k] = used[k]


def room_for_chains():
    """Return the room that `use_chains` needs."""
    return np.zeros(1, ROOM)
