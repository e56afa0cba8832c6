"""The search of the engine `lanes` in NumPy, for tasks before its kernel is compiled.

It is the search of `batchsolve.engines.lanes.search` with hundreds of lanes, each of which searches
the stacks of one root. The deductions are those of the kernel's passes (`numpy_passes`): they are
monotone and lead to one fixpoint; so the nodes are the same, and the branch cells.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from batchsolve.arrays import Bools, Bytes, Ints, UInts
from batchsolve.engines import stand_ins
from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.lanes.memory import kind_of_lanes
from batchsolve.engines.lanes.numpy_passes import Clashes, passes_of
from batchsolve.problems.grids import GridProblem, SolvedGrids
from batchsolve.problems.stacks import Stacks

CELLS_AT_ONCE = 40_000  # of all lanes: their candidates stay in the processor's cache


def search(problem: GridProblem, task: Task) -> Outcome:
    """Search a task; see `batchsolve.engines.contract`.

    Raises
    ------
    TooLongError
        See `batchsolve.engines.stand_ins.check_time`.
    """
    return _Lanes(problem, task).outcome()


class _Lanes:
    """The lanes of a search, its results so far, and the amounts that may still be counted.

    An array `grid` of shape (n_cells, n) has the candidates of the lanes that are busy, and `lanes`
    their numbers. All other arrays have an element for each lane, or for each level and lane.
    """

    def __init__(self, problem: GridProblem, task: Task) -> None:
        self._problem, self._task = problem, task
        self._n, self._n_cells = problem.n_digits, problem.n_cells
        self._passes = passes_of(problem)
        self._clashes = cache(partial(Clashes, problem))
        self._kind = kind_of_lanes(self._n)
        roots, n = task.stacks.roots, len(task.stacks)
        self._begins = np.flatnonzero(np.diff(roots, prepend=roots[:1] - 1))
        self._ends = np.append(self._begins[1:], n)[: self._begins.size]
        self._next = 0  # the first root that no lane has taken
        width = min(max(1, CELLS_AT_ONCE // self._n_cells), self._begins.size)
        self._stack, self._end, self._level, self._root = np.zeros((4, width), np.int64)
        self._want, self._allowance, self._to_keep = np.zeros((3, width), np.int64)
        n_levels = self._n_cells + 1
        self._saved = np.empty((n_levels, width, self._n_cells), self._kind)
        self._rest = np.zeros((n_levels, width), self._kind)
        self._path = np.zeros((n_levels, width), np.int64)  # the options guessed
        self._weight = np.ones((n_levels + 1, width))
        self._budget, self._room = task.budget, task.room
        self._counts, self._nodes = np.zeros((2, n), np.int64)
        self._clash = np.full(n, -1, np.int32)
        self._covers: list[tuple[Ints, Any]] = []  # stacks, and digits or options
        self._frontier: list[tuple[int, list[int], float]] = []  # stack, options and weight

    def outcome(self) -> Outcome:
        """Search, and return all that was found."""
        begin = time.thread_time()
        lanes = np.arange(self._stack.size)
        grid = np.empty((self._n_cells, lanes.size), self._kind)
        is_busy = self._take_roots(lanes)
        is_busy[is_busy] = self._enter(grid, np.flatnonzero(is_busy), lanes[is_busy])
        while is_busy.any():
            if not is_busy.all():
                lanes, grid = lanes[is_busy], np.compress(is_busy, grid, axis=1)
            stand_ins.check_time(begin)
            grid, is_bad, is_same = self._passes.propagate(grid)
            is_busy = np.ones(lanes.size, np.bool_)
            at = np.flatnonzero(is_bad | is_same)
            if at.size:
                self._leave(grid[:, at], lanes[at], is_bad[at])
                is_busy[at] = self._enter(grid, at, lanes[at])
        return self._result()

    def _leave(self, grids: Any, lanes: Ints, is_bad: Bools) -> None:
        """Deal with the nodes of lanes that are propagated, to these grids."""
        is_bad = is_bad | (grids == 0).any(axis=0)
        bad = lanes[is_bad & (self._level[lanes] == 0)]
        if bad.size:
            self._clash[self._stack[bad]] = self._first_clashes(self._stack[bad])
            self._count(bad[self._clash[self._stack[bad]] >= 0], -1)
        grids, lanes = grids[:, ~is_bad], lanes[~is_bad]
        is_open = (grids & (grids - 1)).any(axis=0)
        solved = lanes[~is_open]
        few = solved[: self._room]
        self._found(grids[:, ~is_open][:, : few.size], few)
        stuck, grids = lanes[is_open], grids[:, is_open]
        is_deep = self._level[stuck] == self._task.depth
        for lane in [*solved[few.size :].tolist(), *stuck[is_deep].tolist()]:
            self._count(np.array([lane]), -1)
            self._hand_back(lane, int(self._level[lane]))
        if not is_deep.all():
            self._guess(grids[:, ~is_deep], stuck[~is_deep])

    def _first_clashes(self, which: Ints) -> Ints:
        """Return for some stacks the position of the first option that clashes, or -1."""
        stacks, n_places = self._task.stacks, self._n_cells * self._n
        has_more = stacks.take(which).options.max(initial=0) >= n_places  # not digits in cells
        if has_more:
            return np.array([self._problem.clash_position(stacks[k]) for k in which.tolist()])
        return self._clashes().first(stacks, which)

    def _found(self, grids: Any, lanes: Ints) -> None:
        """Count the covers of lanes, and keep the first of each root."""
        stacks = self._stack[lanes]
        self._counts[stacks] += 1
        self._want[lanes] -= 1
        self._room -= lanes.size
        keeps = self._to_keep[lanes] > 0
        self._to_keep[lanes] -= 1
        if keeps.any():
            digits = np.frexp(grids[:, keeps].T.astype(np.float32))[1].astype(np.uint8)
            of_task = digits if self._task.unordered else self._options(digits, lanes[keeps])
            self._covers.append((stacks[keeps], of_task))

    def _options(self, digits: Bytes, lanes: Ints) -> UInts:
        """Return the options of solved grids: the stack, the guesses, the others ascending."""
        cells = np.arange(self._n_cells)
        options = (cells * self._n + digits - 1).astype(np.uint32)
        place = np.tile(cells + self._n_cells, (lanes.size, 1))  # in the order of choice
        for k, lane in enumerate(lanes.tolist()):
            chosen = np.array(self._options_above(lane, int(self._level[lane])), np.int64)
            chosen = chosen[chosen < self._n_cells * self._n]  # others fill no cell
            place[k, chosen // self._n] = np.arange(chosen.size)
        options = np.take_along_axis(options, np.argsort(place, axis=1), axis=1)
        others = self._problem.other_options(digits)
        return np.concatenate([options, others], axis=1) if others.size else options

    def _options_above(self, lane: int, level: int) -> list[int]:
        """Return the stack of a lane, and the options guessed on the levels above one."""
        stack: list[int] = self._task.stacks[int(self._stack[lane])].tolist()
        return stack + self._path[:level, lane].tolist()

    def _guess(self, grids: Any, lanes: Ints) -> None:
        """Save the grids of lanes before they guess."""
        level, cells = self._level[lanes], self._passes.branch_cells(grids)
        candidates = grids[cells, np.arange(lanes.size)]
        self._saved[level, lanes] = grids.T
        self._rest[level, lanes] = candidates
        self._path[level, lanes] = cells * self._n
        self._weight[level + 1, lanes] = self._weight[level, lanes] / np.bitwise_count(candidates)
        self._level[lanes] = level + 1

    def _count(self, lanes: Ints, one: int = 1) -> None:
        """Count the nodes of lanes, or with -1 uncount them."""
        self._nodes[self._stack[lanes]] += one
        self._allowance[lanes] -= one
        self._budget -= one * lanes.size

    def _hand_back(self, lane: int, level: int) -> None:
        """Add the stack of a lane, and its guesses above a level, to the frontier."""
        weight = float(self._weight[level, lane])
        self._frontier.append((int(self._stack[lane]), self._options_above(lane, level), weight))

    def _hand_back_rest(self, lane: int) -> None:
        """Hand back all that is left to a lane: branches, deepest first, and stacks."""
        for level in range(int(self._level[lane]), 0, -1):
            cell = self._path[level - 1, lane] // self._n
            for digit in _digits(int(self._rest[level - 1, lane])):
                self._path[level - 1, lane] = cell * self._n + digit
                self._hand_back(lane, level)
        for stack in range(self._stack[lane] + 1, self._end[lane]):
            self._stack[lane] = stack
            self._hand_back(lane, 0)

    def _take_roots(self, lanes: Ints) -> Bools:
        """Give lanes the next roots; tell which have got one."""
        roots = np.arange(self._next, min(self._next + lanes.size, self._begins.size))
        self._next += roots.size
        some, first = lanes[: roots.size], self._begins[roots]
        self._stack[some], self._end[some], self._level[some] = first - 1, self._ends[roots], 0
        self._want[some], self._to_keep[some] = self._task.limits[first], self._task.keep
        self._allowance[some] = self._task.allowances[first]
        return np.arange(lanes.size) < roots.size

    def _enter(self, grid: Any, at: Ints, lanes: Ints) -> Bools:
        """Go on to the next nodes of lanes with grids at these places; tell which have one."""
        is_busy = np.ones(lanes.size, np.bool_)
        todo = np.arange(lanes.size)
        while todo.size:
            waits = self._enter_once(grid, at[todo], lanes[todo])
            todo = todo[waits]
            has_ended = self._stack[lanes[todo]] >= self._end[lanes[todo]]
            ended = todo[has_ended]
            has_root = self._take_roots(lanes[ended])
            is_busy[ended[~has_root]] = False
            todo = np.concatenate([todo[~has_ended], ended[has_root]])
        return is_busy

    def _enter_once(self, grid: Any, at: Ints, lanes: Ints) -> Bools:
        """Go on to the next nodes of lanes; tell which have not found one there."""
        level = self._level[lanes]
        while (is_done := (level > 0) & (self._rest[level - 1, lanes] == 0)).any():
            level -= is_done
        self._level[lanes] = level
        waits = np.zeros(lanes.size, np.bool_)
        # nothing is wanted any more, or nothing is left
        ends = (self._want[lanes] == 0) | (level == 0) & (
            self._stack[lanes] + 1 == self._end[lanes]
        )
        may = ~ends & (self._allowance[lanes] > 0) & (self._room > 0)
        may &= np.cumsum(may) <= self._budget
        for lane in lanes[~ends & ~may].tolist():
            self._hand_back_rest(lane)
        self._stack[lanes[~may]] = self._end[lanes[~may]]
        waits |= ~may
        below = may & (level > 0)
        self._branch(grid, at[below], lanes[below])
        fresh = np.flatnonzero(may & (level == 0))
        if fresh.size:
            self._stack[lanes[fresh]] += 1
            fits = self._fill(grid, at[fresh], lanes[fresh])
            waits[fresh[~fits]] = True
        self._count(lanes[~waits])
        return waits

    def _branch(self, grid: Any, at: Ints, lanes: Ints) -> None:
        """Try the next candidates of branch cells."""
        level = self._level[lanes] - 1
        rest = self._rest[level, lanes]
        self._rest[level, lanes] = rest & (rest - 1)
        digit = rest & ~(rest - 1)
        cell = self._path[level, lanes] // self._n
        self._path[level, lanes] = cell * self._n + np.frexp(digit.astype(np.float32))[1] - 1
        grid[:, at] = self._saved[level, lanes].T
        grid[cell, at] = digit

    def _fill(self, grid: Any, at: Ints, lanes: Ints) -> Any:
        """Put stacks into empty grids; tell where each option exists and has its own cell."""
        which = self._stack[lanes]
        stacks = self._task.stacks.take(which)
        rows, options = np.repeat(np.arange(which.size), np.diff(stacks.offsets)), stacks.options
        n_places = self._n_cells * self._n
        cells = np.minimum(options // self._n, self._n_cells)  # the last for the marks
        n_filled = np.zeros((which.size, self._n_cells + 1), np.int64)
        np.add.at(n_filled, (rows, cells), 1)
        fits = n_filled.max(axis=1) <= 1
        fits[rows[options >= n_places + self._problem.cover_size - self._n_cells]] = False
        self._clash[which[~fits]] = self._first_clashes(which[~fits])
        grid[:, at] = self._passes.blank[:, None]
        is_clue = options < n_places
        digit = np.left_shift(1, options % self._n).astype(self._kind)
        grid[cells[is_clue], at[rows[is_clue]]] &= digit[is_clue]
        return fits

    def _result(self) -> Outcome:
        """Return all that was recorded, in tree order."""
        roots = self._task.stacks.roots
        of_covers = np.concatenate([np.empty(0, np.int64), *(each for each, _ in self._covers)])
        order = np.argsort(of_covers, kind="stable")
        of_covers = roots[of_covers[order]]
        kind, width = (
            (np.uint8, self._n_cells)
            if self._task.unordered
            else (np.uint32, self._problem.cover_size)
        )
        found = np.concatenate([np.empty((0, width), kind), *(each for _, each in self._covers)])[
            order
        ]
        solutions: Stacks = (
            SolvedGrids(self._problem, found, of_covers)
            if self._task.unordered
            else Stacks.equally_long(found, of_covers)
        )
        left = sorted(self._frontier, key=lambda each: each[0])
        parents = np.array([stack for stack, _, _ in left], np.int64)
        return Outcome(
            self._counts,
            self._nodes,
            self._clash,
            solutions,
            Stacks.from_lists([options for _, options, _ in left], roots[parents]),
            np.array([weight for _, _, weight in left], np.float64),
            parents,
        )


def _digits(some: int) -> Iterator[int]:
    """Yield the digits of a set, from 0."""
    return (digit for digit in range(some.bit_length()) if some >> digit & 1)
