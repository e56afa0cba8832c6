"""The form of a problem for the engine `lanes`: what its search is compiled for, and its data."""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import uint32, uint64

from batchsolve.engines.residual import Entries, entries_of
from batchsolve.kernels import inlined
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.rule_arrays import members
from batchsolve.problems.rules import Cells
from batchsolve.problems.sudoku import Sudoku, sudoku
from batchsolve.problems.variant import Variant
from batchsolve.problems.variants import Variants

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


class SearchRules(NamedTuple):
    """The shared rules: the fields of `RuleArrays`, with sets of 32 bits, and two more."""

    n_cells: int
    houses: np.ndarray
    distinct: np.ndarray
    related: np.ndarray
    relations: np.ndarray
    meets: np.ndarray  # three begins for two houses that meet: their parts in `parts`
    parts: np.ndarray  # the cells that two houses share, those only in one, those only in the other


class Form(NamedTuple):
    """A problem, as the search takes it.

    It is three arguments of the search, because compiled code passes a tuple part by part. Grids
    with boxes have no `rules`: then numba leaves out the code that looks at them. Other grids have
    no use for `entries`, and those of some grid in their place.
    """

    shape: Shape
    rules: SearchRules | None
    entries: Entries  # the options


def form_of(problem: ExactCover, width: int) -> Form:
    """Return the form of a grid problem for this number of lanes."""
    lanes = (0,) * width
    if isinstance(problem, Sudoku):
        box = (0,) * problem.box_rows, (0,) * problem.box_columns
        shape = Shape(lanes, (0,) * problem.n_digits, *box, (), problem.n_cells)
        return Form(shape, None, entries_of(problem))
    assert isinstance(problem, Variant)
    free = (0,) * (isinstance(problem, Variants) and problem.given.regions.shape[1] > 0)
    shape = Shape(lanes, (0,) * problem.n_digits, (), (), free, problem.n_cells)
    meets = meets_of(problem.rules.houses, problem.n_cells)
    rules = SearchRules._make([*map(_in_32_bits, problem.arrays), *meets])
    return Form(shape, rules, entries_of(sudoku(1, 1)))


@inlined
def lowest_bits(n):
    """Return a word of 32 bits whose lowest n are ones."""
    return uint32((uint64(1) << uint64(n)) - uint64(1))


@inlined
def n_digits_of(form):
    """Return the number of digits of a `Shape`, in compiled code."""
    return uint32(len(form.digits))


@inlined
def has_boxes(form):
    """Tell whether rows, columns and boxes are all the rules; known when code is compiled."""
    return len(form.box_rows) > 0


@inlined
def n_cells_of(form):
    """Return the number of cells; known when code is compiled if there are boxes."""
    return len(form.digits) ** 2 if has_boxes(form) else form.n_cells


@inlined
def is_filled(form, n, grid, lane):
    """Tell whether every cell of a lane, one of n, has a candidate."""
    every = True
    for cell in range(n_cells_of(form)):
        every &= grid[uint32(cell) * n + lane] != 0
    return every


def _in_32_bits(array: Any) -> Any:
    """Return sets of digits as the search takes them; other arrays as they are."""
    is_sets = isinstance(array, np.ndarray) and array.dtype == np.uint64
    return array.astype(np.uint32) if is_sets else array


@lru_cache(maxsize=64)
def meets_of(houses: tuple[Cells, ...], n_cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where two houses meet in two cells or more, without being the same."""
    member = members(houses, n_cells)
    shared = member.astype(np.float32) @ member.T.astype(np.float32)
    meets = np.nonzero(np.triu((shared >= 2) & (shared < np.diag(shared)[:, None]), 1))
    one, other = member[meets[0]], member[meets[1]]
    parts = np.stack([one & other, one & ~other, other & ~one], axis=1).reshape(-1, n_cells)
    begins = np.append(0, np.cumsum(parts.sum(axis=1)))
    return begins.astype(np.int64), np.nonzero(parts)[1].astype(np.uint16)
