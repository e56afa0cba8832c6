"""The rules of a grid as arrays, for compiled code; the first option of a stack that breaks them.

Options are numbered as in `batchsolve.problems.variant`: those of the cells, then one that chooses
the marks if there are any, then those that choose the digits of cages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from batchsolve.kernels import helper, inlined, kernel
from batchsolve.problems.rules import RELATIONS, Cells, Rules


class RuleArrays(NamedTuple):
    """The rules of a grid."""

    n_cells: int
    allowed: npt.NDArray[np.uint64]  # cell -> the digits that marks leave, as bits
    houses: npt.NDArray[np.uint16]  # the cells of each house, as many as there are digits
    distinct: npt.NDArray[np.uint16]  # two cells each that differ, and that no house has both
    related: npt.NDArray[np.uint16]  # two cells and the number of their relation
    relations: npt.NDArray[np.uint64]  # relation, direction, digit of a cell -> digits of the other
    cages: npt.NDArray[np.int64]  # cage -> its begin in `cage_cells`
    cage_cells: npt.NDArray[np.uint16]
    sets: npt.NDArray[np.int64]  # cage -> its begin in `digit_sets`
    digit_sets: npt.NDArray[np.uint64]  # the sets of digits that fill a cage
    chosen_for: npt.NDArray[np.int64]  # options that fill no cell -> the cage, or -1 for the marks


def arrays_of(rules: Rules) -> RuleArrays:
    """Return the arrays of rules."""
    n, all_digits = rules.n_digits, (1 << rules.n_digits) - 1
    allowed = np.full(rules.n_cells, all_digits, np.uint64)
    for cell, mask in rules.marks:
        allowed[cell] &= np.uint64(mask & all_digits)
    sets = [cage.digit_sets(n) for cage in rules.cages]
    kinds = sorted({relation for _, _, relation in rules.pairs})
    cage_of_set = np.repeat(np.arange(len(sets)), [len(some) for some in sets])
    return RuleArrays(
        rules.n_cells,
        allowed,
        np.array(rules.houses, np.uint16).reshape(-1),
        _distinct(rules),
        np.array([(a, b, kinds.index(k)) for a, b, k in rules.pairs], np.uint16).reshape(-1),
        _relations(tuple(kinds), n),
        _begins([cage.cells for cage in rules.cages]),
        _flat((cage.cells for cage in rules.cages), np.uint16),
        _begins(sets),
        _flat(sets, np.uint64),
        np.append(np.full(int((allowed != all_digits).any()), -1), cage_of_set).astype(np.int64),
    )


def _flat(lists: Iterable[Sequence[int]], kind: Any) -> npt.NDArray[Any]:
    return np.fromiter(chain.from_iterable(lists), kind)


def _begins(lists: Sequence[Sequence[int]]) -> npt.NDArray[np.int64]:
    """Return the begins of lists that are joined, and the end of the last."""
    return np.cumsum([0, *map(len, lists)]).astype(np.int64)


def _distinct(rules: Rules) -> npt.NDArray[np.uint16]:
    """Return two cells that differ, of groups and cages, unless a house has both."""
    together = [*rules.groups, *(cage.cells for cage in rules.cages)]
    pairs = set(chain.from_iterable(combinations(sorted(cells), 2) for cells in together))
    if not pairs:
        return np.empty(0, np.uint16)
    both = np.array(sorted(pairs), np.uint16)
    return both[~_are_peers(rules.houses, rules.n_cells)[both[:, 0], both[:, 1]]].reshape(-1)


@lru_cache(maxsize=64)
def _are_peers(houses: tuple[Cells, ...], n_cells: int) -> npt.NDArray[np.bool_]:
    """Tell of every two cells whether a house has both."""
    member = members(houses, n_cells).astype(np.float32)  # products of floats are fast
    return (member.T @ member) > 0


def members(houses: Sequence[Cells], n_cells: int) -> npt.NDArray[np.bool_]:
    """Tell of every house and every cell whether the house has the cell."""
    member = np.zeros((len(houses), n_cells), np.bool_)
    if houses:
        member[np.arange(len(houses))[:, None], np.array(houses)] = True
    return member


@lru_cache(maxsize=64)
def _relations(kinds: tuple[str, ...], n: int) -> npt.NDArray[np.uint64]:
    """Return the digits that each digit of one cell leaves to the other, both ways."""
    table = np.zeros((len(kinds), 2, n), np.uint64)
    for k, kind in enumerate(kinds):
        for a in range(n):
            for b in range(n):
                if RELATIONS[kind](a + 1, b + 1):
                    table[k, 0, a] |= np.uint64(1 << b)
                    table[k, 1, b] |= np.uint64(1 << a)
    return table.reshape(-1)


@helper
def first_clash(rules: Any, n_digits: Any, region: Any, stack: Any) -> int:
    """Return -1, or the position of an option that clashes with one before it or does not exist.

    Parameters
    ----------
    rules : RuleArrays
        Or another named tuple with its fields.
    n_digits : int
    region : ndarray, shape (n_cells,) or (0,)
        The region of every cell, for regions beyond the houses.
    stack : ndarray of uint32
    """
    n_digits = np.int64(n_digits)
    n_cells, n_marks = rules.n_cells, rules.chosen_for.size - rules.digit_sets.size
    n_places = n_cells * n_digits
    # place of a cell, of the marks, of a cage -> the position of the option that fills it
    position = np.full(n_cells + rules.cages.size, -1, np.int64)
    end = stack.size
    for x in range(stack.size):
        option = np.int64(stack[x])
        place = option // n_digits
        if option >= n_places:
            if option >= n_places + rules.chosen_for.size:
                end = x
                break
            place = n_cells + 1 + rules.chosen_for[option - n_places]
        if position[place] >= 0:
            end = x
            break
        position[place] = x
    digit = np.full(n_cells, -1, np.int64)
    for cell in range(n_cells):
        if position[cell] >= 0:
            digit[cell] = stack[position[cell]] % n_digits
            if position[n_cells] >= 0 and not _has(rules.allowed[cell], digit[cell]):
                end = min(end, max(position[cell], position[n_cells]))
    for begin in range(0, rules.houses.size, n_digits):
        end = _first_repeat(rules.houses[begin : begin + n_digits], digit, position, end)
    for r in range(n_digits if region.size > 0 else 0):
        end = _first_repeat(np.flatnonzero(region == r), digit, position, end)
    for x in range(0, rules.distinct.size, 2):
        end = _first_repeat(rules.distinct[x : x + 2], digit, position, end)
    for x in range(0, rules.related.size, 3):
        a, b, kind = rules.related[x], rules.related[x + 1], rules.related[x + 2]
        both = digit[a] >= 0 and digit[b] >= 0
        if both and not _has(rules.relations[2 * kind * n_digits + digit[a]], digit[b]):
            end = min(end, max(position[a], position[b]))
    for cage in range(rules.cages.size - 1):
        chosen = position[n_cells + 1 + cage]
        if chosen >= 0:
            digits = rules.digit_sets[stack[chosen] - n_places - n_marks]
            for x in range(rules.cages[cage], rules.cages[cage + 1]):
                cell = rules.cage_cells[x]
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


@kernel
def find_clashes(rules: Any, n_digits: int, regions: Any, grids: Any, clashes: Any) -> None:
    """Find the first clue of each grid that clashes with one before it, or whose digit is too high.

    Parameters
    ----------
    rules : RuleArrays
    n_digits : int
    regions : ndarray of uint8, shape (n, n_cells) or (n, 0)
        The region of every cell of every grid, for regions beyond the houses.
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
        clashes[k] = first_clash(rules, n_digits, regions[k], stack[:n])
