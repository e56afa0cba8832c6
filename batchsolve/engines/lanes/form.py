"""The form of a problem for the engine `lanes`: what its search is compiled for, and its data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from batchsolve.engines.residual import Entries, entries_of
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.jigsaws import Jigsaws
from batchsolve.problems.rules import RELATIONS, Rules
from batchsolve.problems.sudoku import Sudoku
from batchsolve.problems.variant import Variant

MOST_CELLS = 2**16 - 1  # a lane of 16 bits holds the number of its branch cell


class Shape(NamedTuple):
    """The numbers that a search is compiled for: the lengths of tuples, and the number of cells.

    Grids with boxes are told by the shape of a box alone. For other grids, it is empty.
    """

    lanes: tuple[int, ...]
    digits: tuple[int, ...]
    box_rows: tuple[int, ...]
    box_columns: tuple[int, ...]
    free: tuple[int, ...]  # not empty if the regions differ from stack to stack
    n_cells: int


class RuleArrays(NamedTuple):
    """The rules of a grid, as arrays."""

    allowed: np.ndarray  # cell -> the digits that it may hold
    houses: np.ndarray  # the cells of each house, as many as there are digits
    meets: np.ndarray  # three begins for two houses that meet: their parts in `parts`
    parts: np.ndarray  # the cells that two houses share, those only in one, those only in the other
    distinct: np.ndarray  # two cells each that differ
    related: np.ndarray  # two cells and the number of their relation
    relations: np.ndarray  # relation, direction, digit of one cell -> digits of the other
    cages: np.ndarray  # cage -> its begin in `cage_cells`
    cage_cells: np.ndarray
    sets: np.ndarray  # cage -> its begin in `digit_sets`
    digit_sets: np.ndarray  # the sets of digits that fill a cage
    chosen_for: np.ndarray  # options that fill no cell -> the cage, or -1 for the marks


class Form(NamedTuple):
    """A problem, as the search takes it.

    It is three arguments of the search, because compiled code passes a tuple part by part. Grids
    with boxes have no `rules`: then numba leaves out the code that looks at them.
    """

    shape: Shape
    rules: RuleArrays | None
    entries: Entries  # the options

    @property
    def n_cages(self) -> int:
        """Number of cages."""
        return 0 if self.rules is None else self.rules.cages.size - 1


def form_of(problem: ExactCover, width: int) -> Form:
    """Return the form of a grid problem for this number of lanes."""
    lanes, entries = (0,) * width, entries_of(problem)
    if isinstance(problem, Sudoku):
        box = (0,) * problem.box_rows, (0,) * problem.box_columns
        shape = Shape(lanes, (0,) * problem.n_digits, *box, (), problem.n_cells)
        return Form(shape, None, entries)
    assert isinstance(problem, Variant)
    free = (0,) * isinstance(problem, Jigsaws)
    shape = Shape(lanes, (0,) * problem.n_digits, (), (), free, problem.n_cells)
    return Form(shape, _arrays_of(problem), entries)


def _arrays_of(problem: Variant) -> RuleArrays:
    rules, sets = problem.rules, problem.sets
    meets, parts = _meets(rules.houses)
    kinds = sorted({relation for _, _, relation in rules.pairs})
    cage_of_set = np.repeat(np.arange(len(sets)), [len(some) for some in sets])
    return RuleArrays(
        allowed=problem.allowed,
        houses=_cells(cell for house in rules.houses for cell in house),
        meets=meets,
        parts=parts,
        distinct=_cells(cell for pair in _distinct(rules) for cell in pair),
        related=_cells(x for a, b, kind in rules.pairs for x in (a, b, kinds.index(kind))),
        relations=_relations(kinds, problem.n_digits),
        cages=_begins([cage.cells for cage in rules.cages]),
        cage_cells=_cells(cell for cage in rules.cages for cell in cage.cells),
        sets=_begins(sets),
        digit_sets=np.array([x for some in sets for x in some], np.uint32),
        chosen_for=np.concatenate([np.full(problem.n_marks, -1), cage_of_set]).astype(np.int64),
    )


def _cells(cells: Iterable[int]) -> np.ndarray:
    return np.array(list(cells), np.uint16)


def _begins(lists: Sequence[Sequence[int]]) -> np.ndarray:
    return np.cumsum([0, *map(len, lists)]).astype(np.int64)


def _meets(houses: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return where two houses meet in two cells or more, without being the same."""
    parts: list[list[int]] = []
    for one, other in combinations(map(set, houses), 2):
        if 2 <= len(one & other) < len(one):
            parts += [sorted(one & other), sorted(one - other), sorted(other - one)]
    return _begins(parts), _cells(cell for part in parts for cell in part)


def _distinct(rules: Rules) -> list[tuple[int, int]]:
    """Return two cells that differ, of groups and cages, unless a house has both."""
    peers = {pair for house in rules.houses for pair in combinations(sorted(house), 2)}
    together = [*rules.groups, *(cage.cells for cage in rules.cages)]
    pairs = {pair for cells in together for pair in combinations(sorted(cells), 2)}
    return sorted(pairs - peers)


def _relations(kinds: Sequence[str], n: int) -> np.ndarray:
    """Return the digits that each digit of one cell leaves to the other, both ways."""
    table = np.zeros((len(kinds), 2, n), np.uint32)
    for k, kind in enumerate(kinds):
        for a in range(n):
            for b in range(n):
                if RELATIONS[kind](a + 1, b + 1):
                    table[k, 0, a] |= 1 << b
                    table[k, 1, b] |= 1 << a
    return table.reshape(-1)
