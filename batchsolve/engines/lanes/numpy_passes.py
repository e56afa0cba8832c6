"""Propagation over many grids at once in NumPy; an array has a grid in each place of its last axis.

The deductions are those of `passes` for grids with boxes, and of `houses` for others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.arrays import Bools, Ints
from batchsolve.engines.lanes.form import meets_of
from batchsolve.engines.lanes.memory import kind_of_lanes
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.rule_arrays import RELATION_NAMES, relations_of
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku
from batchsolve.problems.variant import Variant

Sets = npt.NDArray[Any]  # of digits, a bit each


def passes_of(problem: GridProblem) -> _Boxes | _Houses:
    """Return the rules of a problem, and the candidates of its blank cells."""
    if isinstance(problem, Sudoku):
        return _Boxes(problem)
    assert isinstance(problem, Variant)
    return _Houses(problem)


def _any(sets: Sets, axis: Any) -> Sets:
    return np.bitwise_or.reduce(sets, axis=axis)


def _once_and_twice(sets: Sets, axis: int) -> tuple[Sets, Sets]:
    """Return the digits that are in one or more sets along an axis, and those in two or more."""
    before: Any = (slice(None),) * axis
    first, second = sets[*before, 0], sets[*before, 1]
    once, twice = first | second, first & second
    for k in range(2, sets.shape[axis]):
        here = sets[*before, k]
        twice |= once & here
        once |= here
    return once, twice


def _along(sets: Sets, axis: int) -> Sets:
    """Return sets with an axis on which they stay the same."""
    return sets[(slice(None),) * axis + (None,)]


class _Boxes:
    """The rules of Sudoku; `batchsolve.engines.lanes.passes` explains the deductions.

    A grid has the axes band, row of the band, stack, column of the stack, and grid.
    """

    def __init__(self, problem: Sudoku) -> None:
        self._n, self._rows, self._columns = problem.n_digits, problem.box_rows, problem.box_columns
        self._kind = kind_of_lanes(self._n)
        self._all = self._kind.type((1 << self._n) - 1)
        self.blank = np.full(problem.n_cells, self._all)

    def _shaped(self, grid: Sets) -> Sets:
        return grid.reshape(self._columns, self._rows, self._rows, self._columns, -1)

    def propagate(self, grid: Sets) -> tuple[Sets, Bools, Bools]:
        """Make one pass; return the grids after it, those that are bad, and those unchanged."""
        before = self._shaped(grid)
        naked = np.where(before & (before - 1) == 0, before, 0)
        in_segments = _any(naked, 3)
        row, box, column = _any(in_segments, 2), _any(in_segments, 1), _any(naked, (0, 1))
        taken = (row[:, :, None] | box[:, None])[:, :, :, None] | column
        after = before & ~taken
        np.copyto(after, before, where=after == 0)  # naked singles, and cells that contradict them
        chutes = _Chutes(after, self._all)
        in_row = chutes.review(2, row)
        in_box = chutes.review(1, box)
        after &= ~chutes.locked_out()[:, :, :, None]
        in_rows_and_boxes = in_row[:, :, None] & in_box[:, None]
        across = after.transpose(2, 3, 0, 1, 4)
        stacks = _Chutes(across, self._all)
        in_column = stacks.review(2, column)
        across &= ~stacks.locked_out()[:, :, :, None]
        hidden = after & ~(in_rows_and_boxes[:, :, :, None] & in_column)
        np.copyto(after, hidden, where=hidden != 0)
        after = after.reshape(grid.shape)
        is_same = ~(after != grid).any(axis=0)
        bad = chutes.bad | stacks.bad
        bad |= np.where(is_same, chutes.lone | stacks.lone, 0)
        return after, bad != 0, is_same

    def branch_cells(self, grid: Sets) -> Ints:
        """Return the branch cell of each grid; see `batchsolve.engines.lanes.passes.BoxChoice`."""
        cells = self._shaped(grid)
        size = np.bitwise_count(cells)
        pairs = np.where(size == 2, cells, 0)
        in_rows = _once_and_twice(pairs.reshape(self._columns, self._rows, self._n, -1), 2)[1]
        in_columns = _once_and_twice(pairs.reshape(self._n, self._rows, self._columns, -1), 0)[1]
        boxes = cells.transpose(0, 2, 1, 3, 4).reshape(self._columns, self._rows, self._n, -1)
        one = two = three = np.zeros_like(boxes[:, :, 0])
        for here in np.moveaxis(boxes, 2, 0):
            one, two, three = one | here, two | one & here, three | two & here
        around = in_rows[:, :, None, None], in_columns, three[:, None, :, None]
        counts = sum(np.bitwise_count(cells & those).astype(np.int16) for those in around)
        rank = np.where(size > 1, np.int16(4 * self._n) * size - counts, np.int16(2**15 - 1))
        by_column = rank.reshape(self._n, self._n, -1).swapaxes(0, 1)  # ties go to the first
        column, row = divmod(by_column.reshape(self._n**2, -1).argmin(axis=0), self._n)
        return np.asarray(row * self._n + column)


class _Chutes:
    """The bands of grids, or the stacks: lines that pass through as many boxes.

    Parameters
    ----------
    cells : ndarray
        The candidates, by chute, line, box, cell of the line in the box, and grid.
    every : integer
        All digits.

    Attributes
    ----------
    bad, lone : ndarray
        Digits of each grid without a place in a unit, or that are a naked single there and possible
        elsewhere; and digits with one place, in a cell with other candidates.
    """

    def __init__(self, cells: Sets, every: Any) -> None:
        self._length, self._every = cells.shape[3], every
        self._once, self._twice = _once_and_twice(cells, 3)
        self._in_line = _once_and_twice(self._once, 2)
        self._in_box = _once_and_twice(self._once, 1)
        self.bad, self.lone = np.zeros((2, cells.shape[-1]), cells.dtype)

    def review(self, axis: int, naked: Sets) -> Sets:
        """Look at lines (axis 2) or boxes (axis 1); return the digits with several places."""
        once, in_two = self._in_line if axis == 2 else self._in_box
        several = in_two | _any(self._twice, axis)
        self.bad |= _any(self._every & ~once | naked & several, (0, 1))
        self.lone |= _any(self._every & ~(naked | several), (0, 1))
        return several

    def locked_out(self) -> Sets:
        """Return for every segment the digits that are needed elsewhere."""
        single = ~self._in_line[1][:, :, None] | ~self._in_box[1][:, None]
        needed = self._once & single
        must = np.where(np.bitwise_count(self._once) == self._length, self._once, needed)
        out = np.where(np.bitwise_count(needed) == self._length, ~needed, 0)
        for axis in (1, 2):
            once, twice = _once_and_twice(must, axis)
            out |= _along(twice, axis) | _along(once, axis) & ~must  # of the other segments
        return out


class _Houses:
    """Houses and pairs of cells; `batchsolve.engines.lanes.houses` has the deductions.

    Each leaves digits in some cells; what all of them leave in a cell remains.
    """

    def __init__(self, problem: Variant) -> None:
        n, n_cells, kind = problem.n_digits, problem.n_cells, kind_of_lanes(problem.n_digits)
        _, houses, distinct, related, relations = problem.arrays
        self._all = kind.type((1 << n) - 1)
        self.blank = np.full(n_cells, self._all)
        if problem.n_marks:
            self.blank = problem.own.allowed[0].astype(kind)
        self._houses = houses.reshape(-1, n)
        one, other, which = related.reshape(-1, 3).T.astype(np.int64)
        self._given = np.concatenate([one, other])
        which = np.concatenate([2 * which, 2 * which + 1])
        self._relations = relations.reshape(-1, n)[which].astype(kind)
        begins, parts = meets_of(problem.rules.houses, n_cells)
        lists = [part.tolist() for part in np.split(parts, begins[1:-1])] if parts.size else []
        self._meets = _table(lists).reshape(-1, 3, max(map(len, lists), default=0))
        # the rows of all that is left, each with the cells in which it is left
        pairs = distinct.reshape(-1, 2).tolist()
        around: list[list[int]] = [[] for _ in range(n_cells)]
        for a, b in pairs:
            around[a].append(b)
            around[b].append(a)
        in_parts = [part for k, part in enumerate(lists) if k % 3]
        where = [
            *([cell] for cell in houses.tolist()),
            *around,
            *([cell] for cell in np.concatenate([other, one]).tolist()),
            *in_parts,
        ]
        rows_of: list[list[int]] = [[] for _ in range(n_cells)]
        for row, cells in enumerate(where):
            for cell in cells:
                rows_of[cell].append(row)
        self._rows = _table(rows_of)

    def propagate(self, grid: Sets) -> tuple[Sets, Bools, Bools]:
        """Make one pass; return the grids after it, those that are bad, and those unchanged."""
        naked = np.where(grid & (grid - 1) == 0, grid, 0)
        cells, singles = grid[self._houses], naked[self._houses]
        once, twice = _once_and_twice(cells, 1)
        taken, clash = _once_and_twice(singles, 1)
        left = cells & (~taken[:, None] | singles)
        hidden = left & (once & ~twice)[:, None]
        np.copyto(left, hidden, where=hidden != 0)
        parts = [_any(grid[self._meets[:, k]], 1) for k in range(3)]
        shared, *others = parts
        locked = np.stack([shared & ~others[1], shared & ~others[0]], axis=1)
        allowed = np.zeros((len(self._given), grid.shape[1]), grid.dtype)
        given = grid[self._given]
        for digit, those in enumerate(self._relations.T):
            allowed |= np.where(given & (1 << digit) == 0, 0, those[:, None])
        n = grid.shape[1]
        all_left = [left.reshape(-1, n), ~naked, allowed, ~locked.reshape(-1, n)]
        rows = np.concatenate(all_left)
        after = grid.copy()
        for each in self._rows.T:
            after &= rows[each]
        is_same = ~(after != grid).any(axis=0)
        bad = _any(self._all & ~once | clash, 0)
        bad |= np.where(is_same, _any(once & ~twice & ~taken, 0), 0)
        return after, bad != 0, is_same

    def branch_cells(self, grid: Sets) -> Ints:
        """Return the branch cell of each grid: the first with the fewest candidates."""
        size = np.bitwise_count(grid)
        return np.where(size > 1, size, 64).argmin(axis=0)


class Clashes:
    """The search for the first option of a stack that clashes with one before it."""

    def __init__(self, problem: GridProblem) -> None:
        self._problem, self._n, rules = problem, problem.n_digits, problem.rules
        around: list[set[int]] = [set() for _ in range(problem.n_cells)]
        for cells in (*rules.houses, *rules.groups):
            for cell in cells:
                around[cell].update(cells)
        self._around = _table([sorted({*cells, cell}) for cell, cells in enumerate(around)])
        # cell, number -> another cell, and the digits that it may hold beside each digit of this
        every = (1 << self._n) - 1
        n_related = max(np.bincount([c for a, b, _ in rules.pairs for c in (a, b)]), default=0)
        self._others = np.tile(np.arange(problem.n_cells)[:, None], n_related)
        self._beside = np.full((*self._others.shape, self._n), every)
        n_of = [0] * problem.n_cells
        sets = relations_of(self._n).reshape(-1, 2, self._n)
        for a, b, name in rules.pairs:
            here, back = sets[RELATION_NAMES.index(name)]
            for cell, other, beside in ((a, b, here), (b, a, back)):
                self._others[cell, n_of[cell]] = other
                self._beside[cell, n_of[cell]] = beside
                n_of[cell] += 1

    def first(self, stacks: Stacks, which: Ints) -> Ints:
        """Return for some stacks the position of the first option that clashes, or -1."""
        begins, n_cells = stacks.offsets[which], self._problem.n_cells
        sizes = stacks.offsets[which + 1] - begins
        positions = np.full(which.size, -1)
        left = np.full((which.size, n_cells), (1 << self._n) - 1)
        for x in range(int(sizes.max(initial=0))):
            rows = np.flatnonzero((x < sizes) & (positions < 0))
            cells, digits = np.divmod(stacks.options[begins[rows] + x].astype(np.int64), self._n)
            is_wrong = (cells < n_cells) & (
                left[rows, np.minimum(cells, n_cells - 1)] >> digits & 1 == 0
            )
            positions[rows[is_wrong]] = x
            fits = ~is_wrong & (cells < n_cells)
            rows, cells, digits = rows[fits], cells[fits], digits[fits]
            left[rows[:, None], self._around[cells]] &= ~(1 << digits)[:, None]
            left[rows, cells] = 0
            for others, beside in zip(self._others.T, self._beside.swapaxes(0, 1), strict=True):
                left[rows, others[cells]] &= beside[cells, digits]
        return positions


def _table(lists: Sequence[Sequence[int]]) -> Ints:
    """Return lists as the rows of an array; short ones go on with their last number."""
    longest = max(map(len, lists), default=0)
    rows = [[*some, *[some[-1]] * (longest - len(some))] for some in lists]
    return np.array(rows, np.int64).reshape(len(lists), longest)
