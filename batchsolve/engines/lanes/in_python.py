"""The tree of the engine `lanes` in Python, for small searches before its kernel is compiled.

It makes the deductions of `batchsolve.engines.lanes.passes`, one grid after another. They are
monotone and lead to one fixpoint; so the nodes are the same, and the branch cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.walk import PartialCover, walk
from batchsolve.problems.sudoku import Sudoku


def search(problem: Sudoku, task: Task) -> Outcome:
    """Search a task; see `batchsolve.engines.contract`."""
    return walk(problem, task, _Candidates)


def _once_and_twice(sets: Sequence[int]) -> tuple[int, int]:
    """Return the digits that are in one or more sets, and those in two or more."""
    once = twice = 0
    for some in sets:
        twice |= once & some
        once |= some
    return once, twice


class _Candidates(PartialCover):
    """The candidates of every cell, a bit for each digit, after each option of a stack.

    Those after the last option are propagated when the choices are asked for.
    """

    def __init__(self, problem: Sudoku) -> None:
        super().__init__()
        self._n = n = problem.n_digits
        rows, columns = problem.box_rows, problem.box_columns
        self._units = [[*unit] for unit in problem.rules.houses]
        # chutes: segments by line and box, and the cells of each
        bands = [
            {
                (i, k): [(b * rows + i) * n + k * columns + x for x in range(columns)]
                for i, k in product(range(rows), repeat=2)
            }
            for b in range(columns)
        ]
        stacks = [
            {
                (i, k): [(k * rows + y) * n + s * columns + i for y in range(rows)]
                for i, k in product(range(columns), repeat=2)
            }
            for s in range(rows)
        ]
        self._chutes = [*bands, *stacks]
        self._boxes = [
            [cell for (_, k), cells in band.items() for cell in cells if k == box]
            for band in bands
            for box in range(rows)
        ]
        self._all = (1 << n) - 1
        self._states = [[self._all] * (n * n)]

    def select(self, o: int) -> None:
        cell, digit = divmod(o, self._n)
        grid = [*self._states[-1]]
        grid[cell] &= 1 << digit
        self._states.append(grid)

    def deselect(self, o: int) -> None:
        self._states.pop()

    def choices(self) -> list[int] | None:
        grid = self._states[-1]
        if not self._propagate(grid):
            return []
        open_cells = [cell for cell, some in enumerate(grid) if some & (some - 1)]
        if not open_cells:
            return None
        cell = self._branch_cell(grid, open_cells)
        return [cell * self._n + d for d in range(self._n) if grid[cell] >> d & 1]

    def cover(self, stack: list[int]) -> list[int]:
        chosen = {o // self._n for o in stack}
        digits = (some.bit_length() - 1 for some in self._states[-1])
        others = (c * self._n + d for c, d in enumerate(digits) if c not in chosen)
        return [*stack, *others]

    def _propagate(self, grid: list[int]) -> bool:
        """Deduce all that can be; return False if the grid contradicts itself."""
        before: list[int] = []
        while before != grid:
            before = [*grid]
            if not all(self._review(grid, unit) for unit in self._units):
                return False
            for chute in self._chutes:
                self._lock_out(grid, chute)
            if 0 in grid:
                return False
        return True

    def _review(self, grid: list[int], unit: list[int]) -> bool:
        """Find naked and hidden singles in a unit."""
        once, twice = _once_and_twice([grid[cell] for cell in unit])
        singles = [grid[cell] for cell in unit if not grid[cell] & (grid[cell] - 1)]
        naked, clash = _once_and_twice(singles)
        if once != self._all or clash:
            return False
        for cell in unit:
            some = grid[cell]
            if some & (some - 1):
                some &= ~naked
                hidden = some & ~twice
                grid[cell] = some = hidden or some
                if not some or hidden & (hidden - 1):
                    return False
        return True

    def _lock_out(self, grid: list[int], chute: dict[tuple[int, int], list[int]]) -> None:
        """Find locked candidates and full segments."""
        once = {s: _once_and_twice([grid[cell] for cell in cells])[0] for s, cells in chute.items()}
        n_lines = max(line for line, _ in chute) + 1
        units = [[(line, box) for box in range(n_lines)] for line in range(n_lines)]
        units += [[(line, box) for line in range(n_lines)] for box in range(n_lines)]
        needed, must, out = dict.fromkeys(chute, 0), {}, {}
        for unit in units:
            _, twice = _once_and_twice([once[s] for s in unit])
            for s in unit:
                needed[s] |= once[s] & ~twice
        for s, cells in chute.items():
            must[s] = once[s] if once[s].bit_count() == len(cells) else needed[s]
            out[s] = ~needed[s] if needed[s].bit_count() == len(cells) else 0
        for unit in units:
            for s in unit:
                for other in unit:
                    out[s] |= must[other] if other != s else 0
        for s, cells in chute.items():
            for cell in cells:
                grid[cell] &= ~out[s]

    def _branch_cell(self, grid: list[int], open_cells: list[int]) -> int:
        """Return the cell that `batchsolve.engines.lanes.passes.BoxChoice` chooses."""
        n = self._n
        lines = [*([*range(r * n, r * n + n)] for r in range(n))]
        lines += [[*range(c, n * n, n)] for c in range(n)]
        in_two_pairs = [
            _once_and_twice([grid[cell] for cell in line if grid[cell].bit_count() == 2])[1]
            for line in lines
        ]
        in_three: dict[int, int] = {}
        for box in self._boxes:
            one = two = three = 0
            for cell in box:
                three |= two & grid[cell]
                two |= one & grid[cell]
                one |= grid[cell]
            in_three |= dict.fromkeys(box, three)

        def rank(cell: int) -> tuple[int, int, int, int]:
            r, c = divmod(cell, n)
            around = in_two_pairs[r], in_two_pairs[n + c], in_three[cell]
            counts = sum((grid[cell] & those).bit_count() for those in around)
            return -grid[cell].bit_count(), counts, -c, -r

        return max(open_cells, key=rank)
