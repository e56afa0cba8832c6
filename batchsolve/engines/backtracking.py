"""Sudoku cell by cell: put into the first blank cell, in reading order, every digit that fits.

This engine knows the rules of Sudoku; of exact covers it knows only how options are numbered.
"""

from __future__ import annotations

from typing import cast

from batchsolve.engines.contract import Outcome, Task, check_support
from batchsolve.engines.registry import registered
from batchsolve.engines.walk import PartialCover, walk
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.sudoku import Sudoku


class Backtracking:
    """The backtracking that most people write first."""

    name = "backtracking"
    capabilities = registered(name).capabilities

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search the stacks of a task; see `batchsolve.engines.contract`."""
        check_support(self, problem)
        return walk(problem, task, _Grid(cast(Sudoku, problem)))


class _Grid(PartialCover):
    def __init__(self, problem: Sudoku) -> None:
        super().__init__()
        self._n = n = problem.n_digits
        self._cells = [0] * (n * n)
        rows: list[set[int]] = [set() for _ in range(n)]
        columns: list[set[int]] = [set() for _ in range(n)]
        boxes: list[set[int]] = [set() for _ in range(n)]
        height, width = problem.box_rows, problem.box_columns
        self._units = [  # of every cell, the digits in its row, column and box
            (rows[r], columns[c], boxes[r // height * height + c // width])
            for r in range(n)
            for c in range(n)
        ]

    def choices(self) -> list[int] | None:
        if 0 not in self._cells:
            return None
        cell = self._cells.index(0)
        taken = set().union(*self._units[cell])
        return [cell * self._n + d - 1 for d in range(1, self._n + 1) if d not in taken]

    def select(self, o: int) -> None:
        cell, digit = o // self._n, o % self._n + 1
        self._cells[cell] = digit
        for unit in self._units[cell]:
            unit.add(digit)

    def deselect(self, o: int) -> None:
        cell, digit = o // self._n, o % self._n + 1
        self._cells[cell] = 0
        for unit in self._units[cell]:
            unit.remove(digit)
