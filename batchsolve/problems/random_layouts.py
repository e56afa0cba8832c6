"""Regions and cages at random, drawn for the numbers of rows.

Regions are drawn by *recombination* (DeFord, Duchin and Solomon, "Recombination: A Family of Markov
Chains for Redistricting", 2021): two regions that meet are joined, a random tree spans their cells,
and it is cut at a random one of the edges that leave two halves. So regions are connected at all
times.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import uint64

from batchsolve.kernels import helper, inlined, kernel
from batchsolve.splitmix import below, shuffle, stream_of

W = uint64
Keys = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]

_JOINS = 8  # of regions, for each cell; see docs/decisions/generate.md


@inlined
def _neighbour(cell, side, n):
    """Return the cell above, left, right or below of a cell of n columns, or -1."""
    row, column = cell // n, cell % n
    if side % 3 == 0:
        row += 1 if side == 3 else -1
    else:
        column += 1 if side == 2 else -1
    return row * n + column if 0 <= row < n and 0 <= column < n else -1


def random_regions(keys: Keys, rows: Numbers, attempts: Numbers, n: int) -> npt.NDArray[np.uint8]:
    """Draw n connected regions of n cells for each row.

    Parameters
    ----------
    keys : ndarray of uint64, shape (2,)
        The seed of the random numbers.
    rows, attempts : ndarray of int64
        The number of each row, and that of the attempt at it.
    n : int

    Returns
    -------
    ndarray of uint8, shape (n_rows, n²)
        The region of every cell, 0 .. n - 1.

    Examples
    --------
    >>> regions = random_regions(np.array([1, 2], np.uint64), np.arange(3), np.zeros(3, int), 5)
    >>> np.bincount(regions[2]).tolist()
    [5, 5, 5, 5, 5]
    """
    regions = np.empty((len(rows), n * n), np.uint8)
    _draw_regions(keys, rows, attempts, n, _JOINS * n * n, regions)
    return regions


@kernel
def _draw_regions(keys, rows, attempts, n, n_joins, regions):
    """Begin with rows, or columns, as regions; then recombine two of them again and again."""
    state = np.empty(1, np.uint64)
    room = np.empty((4, 8 * n + 4), np.int64)
    parent = np.empty(n * n, np.int64)
    for k in range(rows.size):
        state[0] = stream_of(keys, rows[k], attempts[k])
        has_columns = below(state, 0, 2) == 1
        for cell in range(n * n):
            regions[k, cell] = cell % n if has_columns else cell // n
        for _ in range(n_joins):
            cell = below(state, 0, n * n)
            other = _neighbour(cell, below(state, 0, 4), n)
            if other >= 0 and regions[k, cell] != regions[k, other]:
                _recombine(state, regions[k], cell, regions[k, other], n, room, parent)


@helper
def _recombine(state, region, root, other, n, room, parent):
    """Draw the regions of a cell and `other` anew, if a tree from that cell has a fitting edge.

    The tree grows by a random edge at a time. ``room`` is working space.
    """
    one = region[root]
    begins, ends, tree, size = room[0], room[1], room[2], room[3]
    parent[:] = -2  # not in the tree
    begins[0], ends[0], n_edges, n_tree = -1, root, 1, 0
    while n_edges > 0:
        edge = below(state, 0, n_edges)
        cell, before = ends[edge], begins[edge]
        n_edges -= 1
        begins[edge], ends[edge] = begins[n_edges], ends[n_edges]
        if parent[cell] != -2:
            continue
        parent[cell] = before
        tree[n_tree], size[n_tree] = cell, 1
        n_tree += 1
        for side in range(4):
            near = _neighbour(cell, side, n)
            if near >= 0 and parent[near] == -2 and (region[near] in (one, other)):
                begins[n_edges], ends[n_edges] = n_tree - 1, near
                n_edges += 1
    n_fitting, top = 0, -1
    for x in range(n_tree - 1, 0, -1):  # those below a cell come after it
        size[parent[tree[x]]] += size[x]
        if size[x] == n:
            n_fitting += 1
            if below(state, 0, n_fitting) == 0:
                top = x
    if top < 0:
        return
    for x in range(n_tree):
        size[x] = x == top or (x > 0 and size[parent[tree[x]]] == 1)
        region[tree[x]] = other if size[x] else one


def random_cages(
    keys: Keys,
    rows: Numbers,
    attempts: Numbers,
    solutions: npt.NDArray[np.uint8],
    sizes: tuple[int, int],
) -> npt.NDArray[np.int16]:
    """Draw cages of solved square grids: connected cells with different digits.

    Parameters
    ----------
    keys, rows, attempts
        As for `random_regions`.
    solutions : ndarray of uint8, shape (n_rows, n_cells)
    sizes : (int, int)
        The bounds of the number of cells of a cage.

    Returns
    -------
    ndarray of int16, shape (n_rows, n_cells)
        The cage of every cell, or -1 if it has none.
    """
    cages = np.full(solutions.shape, -1, np.int16)
    n = round(solutions.shape[1] ** 0.5)
    _draw_cages(keys, rows, attempts, solutions, n, *sizes, cages)
    return cages


@kernel
def _draw_cages(keys, rows, attempts, solutions, n, least, most, cages):
    """Let cages grow from the cells, in random order, to random sizes.

    Those that stay too small are given up; then each cell without a cage joins one beside it where
    it may.
    """
    state = np.empty(1, np.uint64)
    order, members = np.arange(n * n), np.empty(n * n, np.int64)
    digits = np.zeros(n * n, np.uint64)  # of the solution, as a bit; of a cage, all
    sizes = np.empty(n * n, np.int64)
    held = np.empty(n * n, np.uint64)
    for k in range(rows.size):
        state[0] = stream_of(keys, rows[k], attempts[k])
        cage = cages[k]
        for x in range(n * n):
            digits[x] = W(1) << W(solutions[k, x] - 1)
            order[x] = x
        shuffle(state, 0, order)
        n_cages = 0
        for cell in order:
            if cage[cell] >= 0:
                continue
            wanted = least + below(state, 0, most - least + 1)
            size, added = 0, cell
            held[n_cages] = 0
            while added >= 0:
                cage[added], members[size] = n_cages, added
                held[n_cages] |= digits[added]
                size += 1
                added = -1
                if size < wanted:
                    added = _cell_beside(state, cage, members[:size], digits, held[n_cages], n)
            sizes[n_cages] = size
            n_cages += 1
            if size < least:
                cage[members[:size]] = -1
                n_cages -= 1
        for cell in order:
            if cage[cell] < 0:
                cage[cell] = _cage_beside(state, cage, cell, sizes, digits[cell], held, most, n)
                if cage[cell] >= 0:
                    sizes[cage[cell]] += 1
                    held[cage[cell]] |= digits[cell]


@helper
def _cell_beside(state, cage, members, digits, held, n):
    """Return a random cell beside a cage that may join it, or -1."""
    found, n_found = -1, 0
    for cell in members:
        for side in range(4):
            near = _neighbour(cell, side, n)
            if near >= 0 and cage[near] < 0 and digits[near] & held == 0:
                n_found += 1
                if below(state, 0, n_found) == 0:
                    found = near
    return found


@helper
def _cage_beside(state, cage, cell, sizes, digit, held, most, n):
    """Return a random cage beside a cell that it may join, or -1."""
    found, n_found = -1, 0
    for side in range(4):
        near = _neighbour(cell, side, n)
        if near >= 0 and cage[near] >= 0:
            c = cage[near]
            if sizes[c] < most and held[c] & digit == 0:
                n_found += 1
                if below(state, 0, n_found) == 0:
                    found = c
    return found
