"""The rules of a grid as arrays, for compiled code; the first option of a stack that breaks them.

Options are numbered as in `batchsolve.problems.variant`: those of the cells, then one that chooses
the marks if there are any, then those that choose the digits of cages.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from batchsolve.arrays import Bools, Bytes, Ints, Shorts, Words
from batchsolve.kernels import helper, inlined, kernel
from batchsolve.problems.rules import RELATIONS, Cells, Rules

RELATION_NAMES = tuple(RELATIONS)


class RuleArrays(NamedTuple):
    """The rules that all rows share, but for marks and cages."""

    n_cells: int
    houses: Shorts  # the cells of each house, as many as there are digits
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
    """Return two cells that differ, of groups, unless a house has both."""
    pairs = set(chain.from_iterable(combinations(sorted(cells), 2) for cells in rules.groups))
    if not pairs:
        return np.empty(0, np.uint16)
    both = np.array(sorted(pairs), np.uint16)
    return both[~_are_peers(rules.houses, rules.n_cells)[both[:, 0], both[:, 1]]].reshape(-1)


@lru_cache(maxsize=64)
def _are_peers(houses: tuple[Cells, ...], n_cells: int) -> Bools:
    """Tell of every two cells whether a house has both."""
    member = members(houses, n_cells).astype(np.float32)  # products of floats are fast
    return (member.T @ member) > 0


def members(houses: Sequence[Cells], n_cells: int) -> Bools:
    """Tell of every house and every cell whether the house has the cell."""
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


@helper
def n_marks_of(own: Any, n_digits: Any, row: Any) -> int:
    """Return the number of options of the marks of a row: 1 if they exclude a digit, else 0."""
    all_digits = ~np.uint64(0) >> np.uint64(64 - n_digits)
    n_marks = 0
    for cell in range(own.allowed.shape[1]):
        if own.allowed[row, cell] != all_digits:
            n_marks = 1
    return n_marks


@helper
def chosen_by(own: Any, n_digits: Any, row: Any, option: Any) -> tuple[int, int]:
    """Return the place that an option fills which fills no cell, and its set of digits.

    Parameters
    ----------
    own : RowRules
    n_digits : int
    row : int
    option : int
        The number of the option, counted from the first that fills no cell.

    Returns
    -------
    place : int
        0 for the marks, 1 and more for the cages of the row, -1 if the option does not exist.
    digits : int
        The place of the set in `own.digit_sets`, for a cage.
    """
    option -= n_marks_of(own, n_digits, row)
    if option < 0:
        return 0, 0
    first = own.cages_of[row]
    for cage in range(first, first + own.n_said[row]):
        begin, end = own.sets_of[cage]
        if option < end - begin:
            return 1 + cage - first, begin + option
        option -= end - begin
    return -1, 0


@helper
def first_clash(rules: Any, own: Any, row: Any, n_digits: Any, stack: Any) -> int:
    """Return -1, or the position of an option that clashes with one before it or does not exist.

    Parameters
    ----------
    rules : RuleArrays
        Or another named tuple with its fields.
    own : RowRules
    row : int
        The row of `own` whose rules hold.
    n_digits : int
    stack : ndarray of uint32
    """
    n_digits = np.int64(n_digits)
    n_cells, first_cage = rules.n_cells, own.cages_of[row]
    n_places = n_cells * n_digits
    # cell, marks, cage -> the position of the option that fills it
    position = np.full(n_cells + 1 + own.n_said[row], -1, np.int64)
    end = stack.size
    for x in range(stack.size):
        option = np.int64(stack[x])
        place = option // n_digits
        if option >= n_places:
            place = chosen_by(own, n_digits, row, option - n_places)[0]
            if place < 0:
                end = x
                break
            place += n_cells
        if position[place] >= 0:
            end = x
            break
        position[place] = x
    digit = np.full(n_cells, -1, np.int64)
    for cell in range(n_cells):
        if position[cell] >= 0:
            digit[cell] = stack[position[cell]] % n_digits
            if position[n_cells] >= 0 and not _has(own.allowed[row, cell], digit[cell]):
                end = min(end, max(position[cell], position[n_cells]))
    for begin in range(0, rules.houses.size, n_digits):
        end = _first_repeat(rules.houses[begin : begin + n_digits], digit, position, end)
    for r in range(n_digits if own.regions.shape[1] > 0 else 0):
        cells = np.flatnonzero(own.regions[row] == r)
        end = _first_repeat(cells, digit, position, end)
    for x in range(0, rules.distinct.size, 2):
        end = _first_repeat(rules.distinct[x : x + 2], digit, position, end)
    for x in range(0, rules.related.size, 3):
        end = _first_break(rules, rules.related[x : x + 3], n_digits, digit, position, end)
    for x in range(own.pairs_of[row], own.pairs_of[row + 1]):
        end = _first_break(rules, own.pairs[x], n_digits, digit, position, end)
    for cage in range(first_cage, first_cage + own.n_said[row]):
        cells = own.cage_cells[own.cells_of[cage] : own.cells_of[cage + 1]]
        end = _first_repeat(cells, digit, position, end)
        chosen = position[n_cells + 1 + cage - first_cage]
        if chosen >= 0:
            option = np.int64(stack[chosen]) - n_places
            digits = own.digit_sets[chosen_by(own, n_digits, row, option)[1]]
            for cell in cells:
                if digit[cell] >= 0 and not _has(digits, digit[cell]):
                    end = min(end, max(position[cell], chosen))
    return end if end < stack.size else -1


@inlined
def _has(digits: Any, digit: Any) -> bool:
    """Tell whether a set of digits, as bits, has a digit, counted from 0."""
    return np.uint64(digits) >> np.uint64(digit) & np.uint64(1) != 0


@helper
def _first_repeat(cells: Any, digit: Any, position: Any, end: int) -> int:
    """Return the first position at which two of these cells hold a digit, or `end` if earlier."""
    for i in range(cells.size):
        for j in range(i):
            if digit[cells[i]] >= 0 and digit[cells[i]] == digit[cells[j]]:
                end = min(end, max(position[cells[i]], position[cells[j]]))
    return end


@helper
def _first_break(rules: Any, pair: Any, n: Any, digit: Any, position: Any, end: int) -> int:
    """Return the first position at which two cells break their relation, or `end` if earlier."""
    a, b, kind = pair[0], pair[1], np.int64(pair[2])
    both = digit[a] >= 0 and digit[b] >= 0
    if both and not _has(rules.relations[2 * kind * n + digit[a]], digit[b]):
        end = min(end, max(position[a], position[b]))
    return end


@kernel
def find_clashes(rules: Any, own: Any, rows: Any, n_digits: int, grids: Any, clashes: Any) -> None:
    """Find the first clue of each grid that clashes with one before it, or whose digit is too high.

    Parameters
    ----------
    rules : RuleArrays
    own : RowRules
    rows : ndarray of int64, shape (n,)
        The row of `own` whose rules hold for each grid.
    n_digits : int
    grids : ndarray of uint8, shape (n, n_cells)
    clashes : ndarray of int64, shape (n,)
        Receives the position among the clues, or -1.
    """
    stack = np.empty(grids.shape[1], np.uint32)
    for k in range(grids.shape[0]):
        n = 0
        for cell in range(grids.shape[1]):
            digit = grids[k, cell]
            if digit > 0:
                is_digit = digit <= n_digits
                stack[n] = cell * n_digits + digit - 1 if is_digit else np.uint32(2**32 - 1)
                n += 1
        clashes[k] = first_clash(rules, own, rows[k], n_digits, stack[:n])


def find_digit_sets(own: Any, grids: Bytes, first: int, options: npt.NDArray[np.uint32]) -> None:
    """Find the options that choose the digits of cages in solved grids with the rules of row 0.

    Parameters
    ----------
    own : RowRules
    grids : ndarray of uint8, shape (n, n_cells)
    first : int
        The first of these options.
    options : ndarray of uint32, shape (n, number of cages)
        Receives them.
    """
    for cage in range(options.shape[1]):
        cells = own.cage_cells[own.cells_of[cage] : own.cells_of[cage + 1]]
        digits = grids[:, cells].astype(np.uint64) - np.uint64(1)
        held = np.bitwise_or.reduce(np.uint64(1) << digits, axis=1)
        sets = own.digit_sets[slice(*own.sets_of[cage])]
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


def follow_sums(own: Any, rows: Ints, grids: Bytes, right: Bools) -> None:
    """Set to False the entries of full grids whose cages have other sums, or that marks exclude.

    Parameters
    ----------
    own : RowRules
    rows : ndarray of int64, shape (n,)
        The row of `own` whose rules hold for each grid.
    grids : ndarray of uint8, shape (n, n_cells)
    right : ndarray of bool, shape (n,)
        Updated. Entries that are False stay so, and their grids may hold any digits; the digits of
        cages differ in the others.
    """
    some = np.flatnonzero(right)
    if own.allowed.shape[1]:
        digits = grids[some].astype(np.uint64) - np.uint64(1)
        right[some] = (own.allowed[rows[some]] >> digits & np.uint64(1)).all(axis=1)
        some = some[right[some]]
    cages = parts(own.cages_of[rows[some]], own.n_said[rows[some]])
    grid_of = np.repeat(some, own.n_said[rows[some]])
    begins, ends = own.sets_of[cages].T
    cages, grid_of = cages[begins >= 0], grid_of[begins >= 0]
    begins, has_sets = begins[begins >= 0], (begins < ends)[begins >= 0]
    sizes = own.cells_of[cages + 1] - own.cells_of[cages]
    cells = own.cage_cells[parts(own.cells_of[cages], sizes)]
    held = grids[np.repeat(grid_of, sizes), cells]
    sums = np.bincount(np.repeat(np.arange(cages.size), sizes), held, cages.size)
    is_right = has_sets.copy()  # all sets of a cage have one sum
    is_right[has_sets] = sums[has_sets] == _sums_of(own.digit_sets[begins[has_sets]])
    right[grid_of[~is_right]] = False


def parts(begins: Ints, lengths: Ints) -> Ints:
    """Return the places of some parts of an array, joined."""
    new = np.cumsum(lengths) - lengths
    return np.repeat(begins - new, lengths) + np.arange(lengths.sum())


def _sums_of(digit_sets: Words) -> Ints:
    """Return the sum of the digits of each set."""
    digits = np.arange(int(digit_sets.max(initial=0)).bit_length())
    return (digit_sets.astype(np.int64)[:, None] >> digits & 1) @ (digits + 1)
