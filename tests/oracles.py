"""Slow, obvious solvers that check the fast ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, permutations, product

import numpy as np

from batchsolve import ExactCover
from batchsolve.problems.rules import RELATIONS


def covers(problem: ExactCover, stack: tuple[int, ...] = ()) -> set[frozenset[int]]:
    """Return all covers that contain a stack, by Algorithm X on a dict of sets."""
    columns: dict[int, set[int]] = {i: set() for i in range(problem.n_items)}
    options = {o: problem.coloring(o) for o in range(problem.n_options)}
    for o, items in options.items():
        for i in items:
            columns[i].add(o)
    for o in stack:
        _select(columns, options, o)
    return {frozenset(cover) for cover in _search(columns, options, problem.n_primary, list(stack))}


def _search(columns, options, n_primary, chosen) -> Iterator[list[int]]:
    open_items = [i for i in columns if i < n_primary]
    if not open_items:
        yield list(chosen)
        return
    item = min(open_items, key=lambda i: len(columns[i]))
    for o in sorted(columns[item]):
        rest = {i: set(members) for i, members in columns.items()}
        _select(rest, options, o)
        yield from _search(rest, options, n_primary, [*chosen, o])


def _select(columns, options, o) -> None:
    for i, color in options[o].items():
        for other in list(columns[i]):
            if color == 0 or options[other][i] != color:
                for j in options[other]:
                    if j in columns:
                        columns[j].discard(other)
    for i, color in options[o].items():
        if color == 0:
            del columns[i]


def sudoku_solutions(grid, box_rows, box_columns) -> list[tuple[int, ...]]:
    """Return all solutions of a grid, found cell by cell."""
    n = box_rows * box_columns
    cells = list(grid)

    def fits(cell: int, digit: int) -> bool:
        row, column = divmod(cell, n)
        top, left = row - row % box_rows, column - column % box_columns
        unit = {row * n + c for c in range(n)} | {r * n + column for r in range(n)}
        unit |= {(top + r) * n + left + c for r in range(box_rows) for c in range(box_columns)}
        return all(cells[other] != digit for other in unit if other != cell)

    found = []

    def fill(cell: int) -> None:
        if cell == n * n:
            found.append(tuple(cells))
        elif cells[cell]:
            fill(cell + 1)
        else:
            for digit in range(1, n + 1):
                if fits(cell, digit):
                    cells[cell] = digit
                    fill(cell + 1)
            cells[cell] = 0

    if all(not d or fits(cell, d) for cell, d in enumerate(cells)):
        fill(0)
    return found


def bounded_covers(
    problem: ExactCover, taken: tuple[int, ...] = (), refused: tuple[int, ...] = ()
) -> set[frozenset[int]]:
    """Return all covers by definition, also with bounds: try every set of options."""
    useful = [o for o in range(problem.n_options) if min(problem.option(o)) < problem.n_primary]
    free = [o for o in useful if o not in taken and o not in refused]
    sets = chain.from_iterable(combinations(free, size) for size in range(len(free) + 1))
    return {frozenset([*taken, *some]) for some in sets if _is_cover(problem, [*taken, *some])}


def cheapest_costs(problem: ExactCover, wanted: int) -> list[int]:
    """Return the costs of the cheapest covers."""
    return sorted(int(problem.costs[list(c)].sum()) for c in bounded_covers(problem))[:wanted]


def _is_cover(problem: ExactCover, chosen: list[int]) -> bool:
    colors = [problem.coloring(o) for o in chosen]
    for i in range(problem.n_items):
        mine = [coloring[i] for coloring in colors if i in coloring]
        if i >= problem.n_primary:
            if len(mine) > 1 and (0 in mine or len(set(mine)) > 1):
                return False
        else:
            least, most = (1, 1) if problem.bounds is None else problem.bounds[i]
            if not least <= len(mine) <= most:
                return False
    return True


def tilings(cells, pieces, fill=True) -> int:
    """Count the tilings of a board, cell by cell.

    `pieces` are lists: the shapes of a piece, and the minimum and the maximum of its uses
    (None is any number).
    """
    board = sorted(cells)

    def count(left: frozenset, used: tuple[int, ...]) -> int:
        cell = next((cell for cell in board if cell in left), None)
        if cell is None:
            return all(n >= least for n, (_, least, _) in zip(used, pieces, strict=True))
        total = 0 if fill else count(left - {cell}, used)
        for k, (shapes, _, most) in enumerate(pieces):
            if most is not None and used[k] >= most:
                continue
            more = (*used[:k], used[k] + 1, *used[k + 1 :])
            for shape in shapes:
                for corner in shape:
                    step = [a - b for a, b in zip(cell, corner, strict=True)]
                    where = frozenset(
                        tuple(a + b for a, b in zip(square, step, strict=True)) for square in shape
                    )
                    if where <= left:
                        total += count(left - where, more)
        return total

    return count(frozenset(board), (0,) * len(pieces))


def lines_in_all_orders(n, size):
    """Yield all orders of n lines that keep the lines of a band, or of a stack, together."""
    bands = [range(first, first + size) for first in range(0, n, size)]
    for order in permutations(bands):
        for within in product(*map(permutations, order)):
            yield list(chain.from_iterable(within))


def canonical_form(grid, box_rows, box_columns) -> tuple[tuple[int, ...], int]:
    """Return the lexicographic minimum of a grid's orbit, and the number of symmetries to it."""
    n = box_rows * box_columns
    least, ways = None, 0
    squares = [np.asarray(grid).reshape(n, n)]
    if box_rows == box_columns:
        squares.append(squares[0].T)
    for square in squares:
        for rows in lines_in_all_orders(n, box_rows):
            for columns in lines_in_all_orders(n, box_columns):
                labels = {0: 0}
                moved = square[np.ix_(rows, columns)].reshape(-1).tolist()
                form = tuple(labels.setdefault(digit, len(labels)) for digit in moved)
                if least is None or form < least:
                    least, ways = form, 0
                ways += form == least
    return least, ways


def orbits(found: set[frozenset[int]], images) -> set[frozenset[frozenset[int]]]:
    """Return the orbits of covers under symmetries, as sets."""
    return {
        frozenset(frozenset(int(image[o]) for o in cover) for image in images) for cover in found
    }


def orbits_by_burnside(problem: ExactCover, images) -> int:
    """Count the orbits: the mean, over all symmetries, of the number of covers that each fixes.

    A cover that a symmetry fixes consists of cycles of options. These cycles are the options of
    another problem, unless two options of a cycle share an item.
    """
    fixed = 0
    for image in images:
        left, options = set(range(problem.n_options)), []
        while left:
            cycle = [left.pop()]
            while (after := int(image[cycle[-1]])) != cycle[0]:
                left.remove(after)
                cycle.append(after)
            items = [int(i) for o in cycle for i in problem.option(o)]
            if len(set(items)) == len(items):
                options.append(items)
        offsets = np.cumsum([0, *map(len, options)])
        indices = [i for items in options for i in items]
        fixed += len(covers(ExactCover(offsets, indices, problem.n_items, problem.n_primary)))
    assert fixed % len(images) == 0
    return fixed // len(images)


def grids_by_rules(rules, clues) -> set[tuple[int, ...]]:
    """Return all grids with these clues (0: blank) that follow the rules, filled cell by cell."""
    cells = list(map(int, clues))  # of NumPy, differences would wrap around
    digits = range(1, rules.n_digits + 1)
    together = [*rules.houses, *rules.groups, *(cage.cells for cage in rules.cages)]
    found = set()

    def follows() -> bool:
        for some in together:
            known = [cells[c] for c in some if cells[c]]
            if len(set(known)) < len(known):
                return False
        for a, b, relation in rules.pairs:
            if cells[a] and cells[b] and not RELATIONS[relation](cells[a], cells[b]):
                return False
        for cage in rules.cages:
            known = [cells[c] for c in cage.cells]
            if 0 not in known and sum(known) != cage.total:
                return False
        return all(not cells[c] or mask >> (cells[c] - 1) & 1 for c, mask in rules.marks)

    def fill(cell: int) -> None:
        if not follows():
            return
        if cell == len(cells):
            found.add(tuple(cells))
        elif cells[cell]:
            fill(cell + 1)
        else:
            for digit in digits:
                cells[cell] = digit
                fill(cell + 1)
            cells[cell] = 0

    fill(0)
    return found
