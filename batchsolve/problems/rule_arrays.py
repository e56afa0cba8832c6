"""The rules of a grid, packed as arrays for the core.

Options are numbered as in `batchsolve.problems.variant`: those of the cells, then one that chooses
the marks if there are any, then those that choose the digits of cages.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from batchsolve.arrays import Bools, Bytes, Ints, Shorts, Words
from batchsolve.problems.rules import RELATIONS, Cells, Rules

if TYPE_CHECKING:
    from batchsolve.problems.row_rules import RowRules

RELATION_NAMES = tuple(RELATIONS)


class RuleArrays(NamedTuple):
    """The rules that all rows share, without marks and cages."""

    n_cells: int
    houses: Shorts  # the cells of each house, n_digits each
    distinct: Shorts  # two cells each that differ, and that no house has both
    related: Shorts  # two cells and the number of their relation
    relations: Words  # relation, direction, digit of a cell -> digits of the other


def arrays_of(rules: Rules) -> RuleArrays:
    """Return the arrays of rules."""
    related = [(a, b, RELATION_NAMES.index(name)) for a, b, name in rules.pairs]
    return RuleArrays(
        rules.n_cells,
        np.array(rules.houses, np.uint16).reshape(-1),
        _distinct(rules),
        np.array(related, np.uint16).reshape(-1),
        relations_of(rules.n_digits),
    )


def _distinct(rules: Rules) -> Shorts:
    """Return the pairs of cells that differ by groups and not by houses."""
    pairs = set(chain.from_iterable(combinations(sorted(cells), 2) for cells in rules.groups))
    if not pairs:
        return np.empty(0, np.uint16)
    both = np.array(sorted(pairs), np.uint16)
    return both[~_are_peers(rules.houses, rules.n_cells)[both[:, 0], both[:, 1]]].reshape(-1)


@lru_cache(maxsize=64)
def _are_peers(houses: tuple[Cells, ...], n_cells: int) -> Bools:
    """Return True for every two cells of one house, shape (n_cells, n_cells)."""
    member = members(houses, n_cells).astype(np.float32)  # products of floats are fast
    return (member.T @ member) > 0


def members(houses: Sequence[Cells], n_cells: int) -> Bools:
    """Return True for every cell of every house, shape (n_houses, n_cells)."""
    member = np.zeros((len(houses), n_cells), np.bool_)
    if houses:
        member[np.arange(len(houses))[:, None], np.array(houses)] = True
    return member


@lru_cache(maxsize=64)
def relations_of(n: int) -> Words:
    """Return the digits that each digit of one cell leaves to the other, both ways."""
    table = np.zeros((len(RELATIONS), 2, n), np.uint64)
    for k, allows in enumerate(RELATIONS.values()):
        for a in range(n):
            for b in range(n):
                if allows(a + 1, b + 1):
                    table[k, 0, a] |= np.uint64(1 << b)
                    table[k, 1, b] |= np.uint64(1 << a)
    return table.reshape(-1)


def find_digit_sets(
    rules: RowRules, grids: Bytes, first: int, options: npt.NDArray[np.uint32]
) -> None:
    """Find the options that choose the digits of cages in solved grids with the rules of row 0.

    Parameters
    ----------
    rules : RowRules
    grids : ndarray of uint8, shape (n, n_cells)
    first : int
        The first of these options.
    options : ndarray of uint32, shape (n, number of cages)
        Receives them.
    """
    for cage in range(options.shape[1]):
        cells = rules.cage_cells[rules.cells_of[cage] : rules.cells_of[cage + 1]]
        digits = grids[:, cells].astype(np.uint64) - np.uint64(1)
        held = np.bitwise_or.reduce(np.uint64(1) << digits, axis=1)
        sets = rules.digit_sets[slice(*rules.sets_of[cage])]
        order = np.argsort(sets)
        options[:, cage] = first + order[np.searchsorted(sets, held, sorter=order)]
        first += sets.size


def follow_shared(rules: RuleArrays, n_digits: int, grids: Bytes) -> Bools:
    """Return True for each full grid, whose digits are 1 .. N, that follows rules of all rows."""
    sets = np.zeros(256, np.int64)
    sets[1 : n_digits + 1] = 1 << np.arange(n_digits)
    right = np.ones(len(grids), np.bool_)
    for house in rules.houses.reshape(-1, n_digits):
        right &= np.bitwise_or.reduce(sets[grids[:, house]], axis=1) == (1 << n_digits) - 1
    for a, b in rules.distinct.reshape(-1, 2):
        right &= grids[:, a] != grids[:, b]
    for a, b, kind in rules.related.reshape(-1, 3).astype(np.int64).tolist():
        here = 2 * kind * n_digits - 1 + grids[:, a].astype(np.int64)
        right &= rules.relations[here].astype(np.int64) & sets[grids[:, b]] != 0
    return right


def follow_sums(rules: RowRules, rows: Ints, grids: Bytes, right: Bools) -> None:
    """Set to False the entries of full grids whose cages have other sums, or that marks exclude.

    Parameters
    ----------
    rules : RowRules
    rows : ndarray of int64, shape (n,)
        The row of `rules` whose rules hold for each grid.
    grids : ndarray of uint8, shape (n, n_cells)
    right : ndarray of bool, shape (n,)
        Updated. Entries that are False stay so, and their grids may hold any digits; the digits of
        cages differ in the others.
    """
    some = np.flatnonzero(right)
    if rules.allowed.shape[1]:
        digits = grids[some].astype(np.uint64) - np.uint64(1)
        right[some] = (rules.allowed[rows[some]] >> digits & np.uint64(1)).all(axis=1)
        some = some[right[some]]
    cages = parts(rules.cages_of[rows[some]], rules.n_said[rows[some]])
    grid_of = np.repeat(some, rules.n_said[rows[some]])
    begins, ends = rules.sets_of[cages].T
    cages, grid_of = cages[begins >= 0], grid_of[begins >= 0]
    begins, has_sets = begins[begins >= 0], (begins < ends)[begins >= 0]
    sizes = rules.cells_of[cages + 1] - rules.cells_of[cages]
    cells = rules.cage_cells[parts(rules.cells_of[cages], sizes)]
    held = grids[np.repeat(grid_of, sizes), cells]
    sums = np.bincount(np.repeat(np.arange(cages.size), sizes), held, cages.size)
    is_right = has_sets.copy()  # all sets of a cage have one sum
    is_right[has_sets] = sums[has_sets] == _sums_of(rules.digit_sets[begins[has_sets]])
    right[grid_of[~is_right]] = False


def parts(begins: Ints, lengths: Ints) -> Ints:
    """Return the places of some parts of an array, joined."""
    new = np.cumsum(lengths) - lengths
    return np.repeat(begins - new, lengths) + np.arange(lengths.sum())


def _sums_of(digit_sets: Words) -> Ints:
    """Return the sum of the digits of each set."""
    digits = np.arange(int(digit_sets.max(initial=0)).bit_length())
    return (digit_sets.astype(np.int64)[:, None] >> digits & 1) @ (digits + 1)
