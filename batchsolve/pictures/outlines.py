"""Outlines of sets of cells, as paths of SVG."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import groupby

Cell = tuple[int, int]  # row and column
Point = tuple[int, int]  # x and y


def outline(cells: Collection[Cell], size: int, inset: int = 0) -> str:
    """Return the boundary of a set of cells as the ``d`` of a path, holes included.

    Parameters
    ----------
    cells : collection of (int, int)
        Row and column, from 0.
    size : int
        The side of a cell.
    inset : int
        Distance of the line from the boundary, inside.

    Examples
    --------
    >>> outline([(0, 0), (0, 1), (1, 0)], 10), outline([(0, 0), (0, 1)], 10, inset=2)
    ('M0 0h20v10h-10v10h-10z', 'M2 2h16v6h-16z')
    """
    return "".join(_path(loop, size, inset) for loop in _loops(set(cells)))


def _loops(cells: set[Cell]) -> Iterator[list[Point]]:
    """Yield the closed lines between cells that are in the set and cells that are not.

    Each has the set on its right, and runs from its first corner to the one before it closes.
    """
    steps: dict[Point, list[Point]] = {}
    for r, c in sorted(cells):
        sides = (
            ((r - 1, c), (c, r), (c + 1, r)),
            ((r, c + 1), (c + 1, r), (c + 1, r + 1)),
            ((r + 1, c), (c + 1, r + 1), (c, r + 1)),
            ((r, c - 1), (c, r + 1), (c, r)),
        )
        for neighbour, begin, end in sides:
            if neighbour not in cells:
                steps.setdefault(begin, []).append(end)
    for start in list(steps):
        while steps[start]:
            loop, point = [start], steps[start].pop()
            while point != start:
                x, y = loop[-1]
                loop.append(point)
                # where two cells meet at a corner only, to the right: round the same cell
                to_right = point[0] - point[1] + y, point[1] + point[0] - x
                ways = steps[point]
                point = ways.pop(ways.index(to_right) if len(ways) > 1 else 0)
            yield loop


def _path(loop: list[Point], size: int, inset: int) -> str:
    """Return a closed line, its straight parts joined."""
    n = len(loop)
    path, last = "", (0, 0)
    for k in range(n):
        (a, b), (x, y), (c, d) = loop[k - 1], loop[k], loop[k + 1 - n]
        if a == x == c or b == y == d:
            continue
        # both sides of the corner move to their right
        at = x * size + inset * (b - d), y * size + inset * (c - a)
        if not path:
            path = f"M{at[0]} {at[1]}"
        elif at[1] == last[1]:
            path += f"h{at[0] - last[0]}"
        else:
            path += f"v{at[1] - last[1]}"
        last = at
    return path + "z"


def inner_lines(cells: Collection[Cell], size: int) -> str:
    """Return the lines between cells of a set as the ``d`` of a path.

    Examples
    --------
    >>> inner_lines([(0, 0), (0, 1), (0, 2), (1, 0)], 10)
    'M0 10h10M10 0v10M20 0v10'
    """
    known = set(cells)
    lying = {(r, c) for r, c in known if (r - 1, c) in known}
    upright = {(c, r) for r, c in known if (r, c - 1) in known}
    across = "".join(f"M{a * size} {r * size}h{n * size}" for r, a, n in _runs(lying))
    down = "".join(f"M{c * size} {a * size}v{n * size}" for c, a, n in _runs(upright))
    return across + down


def _runs(steps: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Join steps that follow each other on a line: line, first step, number of steps."""
    # in such a run, numbers and places in the order differ by the same
    numbered = enumerate(sorted(steps))
    for (line, _), run in groupby(numbered, lambda each: (each[1][0], each[1][1] - each[0])):
        (_, (_, first)), *others = run
        yield line, first, 1 + len(others)


def parts(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Return the connected parts of a set of cells, each ascending.

    Examples
    --------
    >>> parts([(0, 0), (0, 1), (0, 3)])
    [[(0, 0), (0, 1)], [(0, 3)]]
    """
    left = set(cells)
    found = []
    for first in sorted(left):
        if first not in left:
            continue
        left.discard(first)
        part = [first]
        for r, c in part:  # grows while it is walked
            for near in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
                if near in left:
                    left.discard(near)
                    part.append(near)
        found.append(sorted(part))
    return found


def middle(part: Collection[Cell]) -> Cell:
    """Return the cell of a part that is nearest to its middle; of several, the first.

    Examples
    --------
    >>> middle([(0, 0), (0, 1), (0, 2), (1, 0)])
    (0, 1)
    """
    n = len(part)
    row, column = sum(r for r, _ in part), sum(c for _, c in part)
    return min(
        part, key=lambda cell: ((n * cell[0] - row) ** 2 + (n * cell[1] - column) ** 2, cell)
    )
