"""Nishio: a candidate is refuted by what follows for its digit alone.

If the candidate is on, those of its digit that see it are off. A house with one place left has the
digit there, and so on, until some candidate is both on and off. The *proof* that one is on has the
nodes on, and those off, that it needs; the rating counts the nodes of the two shortest proofs.
Shortest proofs do not depend on the order of search, and are no longer when candidates are fewer.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np

from batchsolve.engines.intrinsics import popcount, trailing_zeros
from batchsolve.kernels import inlined, part
from batchsolve.rating.board import CELL, N_CELLS, N_HOUSES, N
from batchsolve.rating.ladder import N_PEERS, PEERS

_CELLS = np.arange(N_CELLS)
_BITS = np.uint64(1) << (_CELLS % 64).astype(np.uint64)
_BITS = np.where(np.arange(2) == _CELLS[:, None] // 64, _BITS[:, None], np.uint64(0))
HOUSE_BITS = np.bitwise_or.reduce(_BITS[CELL], axis=1)
PEER_BITS = np.bitwise_or.reduce(_BITS[PEERS], axis=1)
CELL_BITS = _BITS
"""Sets of cells, as two words: those of a house, the peers of a cell, and the cell."""

ON, DEAD, OFF = 0, 2, 4
"""The words of a state: the cells that are on, those that are off, and those off that are used."""

UNKNOWN = 1 << 20
"""The nodes of proofs that do not exist."""


@inlined
def _size(one, two):
    """Return the size of a set of cells."""
    return np.intp(popcount(one) + popcount(two))


@part
def _is_refuted(state, one, two):
    """Return True if what follows from a state, for the places of a digit, is a contradiction."""
    going = True
    while going:
        going = False
        for house in range(N_HOUSES):
            a, b = HOUSE_BITS[house, 0], HOUSE_BITS[house, 1]
            if a & state[ON] | b & state[ON + 1] or a & one | b & two == 0:
                continue
            a, b = a & one & ~state[DEAD], b & two & ~state[DEAD + 1]
            if _size(a, b) > 1:
                continue
            if a | b == 0:
                return True
            cell = np.intp(trailing_zeros(a)) if a else 64 + np.intp(trailing_zeros(b))
            for j in range(2):
                state[ON + j] |= CELL_BITS[cell, j]
                state[DEAD + j] |= PEER_BITS[cell, j]
            going = True
    return state[ON] & state[DEAD] | state[ON + 1] & state[DEAD + 1] != 0


@part
def refute(board, cell, digit, most, proofs, order, states):
    """Return the least nodes of two proofs that refute a candidate, or `UNKNOWN`.

    Parameters
    ----------
    board : array of `SIZE`
    cell, digit : int
        The candidate.
    most : int
        The most nodes.
    proofs : array of int64, shape (81,)
        Set to the least nodes of a proof that each cell has the digit.
    order : array of int64, shape (81, 11)
        Set to the cells that are on in this proof, in order; -1 is behind them.
    states : array of uint64, shape (10, 6)
        Room for a state at each depth.
    """
    one = two = np.uint64(0)
    for other in range(N_CELLS):
        proofs[other] = UNKNOWN
        if board[other] >> digit & 1:
            one |= CELL_BITS[other, 0]
            two |= CELL_BITS[other, 1]
    for j in range(2):
        states[0, ON + j], states[0, DEAD + j] = CELL_BITS[cell, j], PEER_BITS[cell, j]
    if not _is_refuted(states[0], one, two):
        return UNKNOWN
    houses = np.empty(N + 1, np.int64)
    depth, houses[0] = 0, -1
    for j in range(2):
        states[0, ON + j], states[0, DEAD + j] = CELL_BITS[cell, j], PEER_BITS[cell, j]
        states[0, OFF + j] = 0
    proofs[cell], order[cell, 0], order[cell, 1] = 1, cell, -1
    while depth >= 0:
        houses[depth] += 1
        house, state = houses[depth], states[depth]
        if house == N_HOUSES:
            depth -= 1
            continue
        a, b = HOUSE_BITS[house, 0], HOUSE_BITS[house, 1]
        if a & state[ON] | b & state[ON + 1]:
            continue
        a, b = a & one, b & two
        left = _size(a & ~state[DEAD], b & ~state[DEAD + 1])
        if left > 1 or a | b == 0:
            continue
        if left and depth and house < houses[depth - 1]:
            above = states[depth - 1]
            if _size(a & ~above[DEAD], b & ~above[DEAD + 1]) < 2:
                continue  # the two houses come in the other order, too
        for j in range(N):
            other = CELL[house, j]
            c, d = CELL_BITS[other, 0], CELL_BITS[other, 1]
            if (a & c | b & d) == 0 or (left and c & state[DEAD] | d & state[DEAD + 1]):
                continue
            c, d = state[OFF] | a & ~c, state[OFF + 1] | b & ~d
            nodes = depth + 2 + _size(c, d)
            if nodes + 2 > most:
                continue
            if nodes < proofs[other]:
                proofs[other] = nodes
                order[other, 0] = cell
                for i in range(depth):
                    order[other, i + 1] = order[N_CELLS, i]
                order[other, depth + 1], order[other, depth + 2] = other, -1
            if left and depth < N - 1:
                order[N_CELLS, depth] = other
                below = states[depth + 1]
                for i in range(2):
                    below[ON + i] = state[ON + i] | CELL_BITS[other, i]
                    below[DEAD + i] = state[DEAD + i] | PEER_BITS[other, i]
                below[OFF], below[OFF + 1] = c, d
                depth += 1
                houses[depth] = -1
                break
    least = UNKNOWN
    for other in range(N_CELLS):
        if proofs[other] < UNKNOWN:
            least = min(least, proofs[other] + 1 + proofs[refuter(proofs, other)])
    return least if least <= most else UNKNOWN


@part
def refuter(proofs, cell):
    """Return the cell with the shortest proof of those that see a cell."""
    best = PEERS[cell, 0]
    for j in range(1, N_PEERS):
        if proofs[PEERS[cell, j]] < proofs[best]:
            best = PEERS[cell, j]
    return best
