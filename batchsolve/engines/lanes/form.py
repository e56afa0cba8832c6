"""The form of a problem for the engine `lanes`: what its search is compiled for, and its data."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.jigsaws import Jigsaws
from batchsolve.problems.rule_arrays import arrays_of, members
from batchsolve.problems.rules import Cells, plain
from batchsolve.problems.sudoku import Sudoku
from batchsolve.problems.variant import Variant

MOST_CELLS = 2**16 - 1  # a lane of 16 bits holds the number of its branch cell


class Form(NamedTuple):
    """A problem, as the search takes it.

    The lengths of tuples are known when code is compiled. Grids with boxes are told by the shape of
    a box alone; other grids have boxes without rows and columns, and their rules as arrays.
    """

    lanes: tuple[int, ...]
    digits: tuple[int, ...]
    box_rows: tuple[int, ...]
    box_columns: tuple[int, ...]
    free: tuple[int, ...]  # not empty if the regions differ from stack to stack
    n_cells: int
    allowed: np.ndarray  # these are the fields of `RuleArrays`
    houses: np.ndarray
    distinct: np.ndarray
    related: np.ndarray
    relations: np.ndarray
    cages: np.ndarray
    cage_cells: np.ndarray
    sets: np.ndarray
    digit_sets: np.ndarray
    chosen_for: np.ndarray
    meets: np.ndarray  # three begins for two houses that meet: their parts in `parts`
    parts: np.ndarray  # the cells that two houses share, those only in one, those only in the other

    @property
    def width(self) -> int:
        """Number of lanes."""
        return len(self.lanes)


def form_of(problem: ExactCover, width: int) -> Form:
    """Return the form of a grid problem for this number of lanes."""
    assert isinstance(problem, Sudoku | Variant)
    n = problem.n_digits
    houses: tuple[Cells, ...] = ()
    if isinstance(problem, Sudoku):
        shape = problem.box_rows, problem.box_columns
        arrays, box = arrays_of(plain(*shape)), ((0,) * shape[0], (0,) * shape[1])
    else:
        arrays, box, houses = problem.arrays, ((), ()), problem.rules.houses
    meets, parts = _meets(houses, problem.n_cells)
    return Form(
        lanes=(0,) * width,
        digits=(0,) * n,
        box_rows=box[0],
        box_columns=box[1],
        free=(0,) * isinstance(problem, Jigsaws),
        **{name: _in_32_bits(array) for name, array in arrays._asdict().items()},
        meets=meets,
        parts=parts,
    )


def _in_32_bits(array: Any) -> Any:
    """Return sets of digits as the search takes them; other arrays as they are."""
    is_sets = isinstance(array, np.ndarray) and array.dtype == np.uint64
    return array.astype(np.uint32) if is_sets else array


@lru_cache(maxsize=64)
def _meets(houses: tuple[Cells, ...], n_cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where two houses meet in two cells or more, without being the same."""
    member = members(houses, n_cells)
    shared = member.astype(np.float32) @ member.T.astype(np.float32)
    meets = np.nonzero(np.triu((shared >= 2) & (shared < np.diag(shared)[:, None]), 1))
    one, other = member[meets[0]], member[meets[1]]
    parts = np.stack([one & other, one & ~other, other & ~one], axis=1).reshape(-1, n_cells)
    begins = np.append(0, np.cumsum(parts.sum(axis=1)))
    return begins.astype(np.int64), np.nonzero(parts)[1].astype(np.uint16)
