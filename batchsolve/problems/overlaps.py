"""Grids that overlap, such as Samurai, found from a drawing.

A drawing has a character a cell, in lines, or of a square in one line: ``#`` or a blank is outside,
every other character is a cell. In puzzles, only ``#`` is outside.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from math import isqrt
from typing import cast

from batchsolve.errors import InputError, ProblemError
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import Notation, usual_notation
from batchsolve.problems.rules import Rules, plain
from batchsolve.problems.variant import Variant

OUTSIDE = "# "


def overlapping(
    drawing: str, box: tuple[int, int] = (3, 3), corners: Iterable[tuple[int, int]] | None = None
) -> Rules:
    """Return the rules of several grids that overlap, such as Samurai, found from a drawing.

    Parameters
    ----------
    drawing : str
        Lines with a character a cell, or a square in one line: ``#`` or a blank is outside, every
        other character is a cell. Empty rows and columns around the cells do not count.
    box : (int, int)
        Rows and columns of a box; each grid has N × N cells.
    corners : iterable of (int, int), optional
        Row and column, from 0, of the cell at the top left of each grid. By default, the grids are
        all squares of N × N cells that lie on whole boxes, counted from the top left.

    Raises
    ------
    ProblemError
        If a cell is in no grid, or a square has no cell of its own: then there are several ways to
        read the drawing, and `corners` must say which.

    Examples
    --------
    >>> rules = overlapping("....##....##............##....##....", (2, 2))
    >>> rules.n_cells, len(rules.houses), len(rules.regions)
    (28, 23, 7)
    """
    places = drawn_places(drawing)
    if not places:
        raise ProblemError("a drawing of grids that overlap has no cells")
    number = {place: cell for cell, place in enumerate(places)}
    rows, columns = box
    n = rows * columns
    wanted = places if corners is None else list(corners)
    squares = {}
    for top, left in wanted:
        if corners is None and (top % rows or left % columns):
            continue
        cells = [number.get((top + r, left + c)) for r in range(n) for c in range(n)]
        if None not in cells:
            squares[top, left] = cast(list[int], cells)
        elif corners is not None:
            raise ProblemError(f"no square of {n}×{n} cells begins at row {top}, column {left}")
    times = Counter(cell for square in squares.values() for cell in square)
    none = next((places[cell] for cell in range(len(places)) if not times[cell]), None)
    if none is not None:
        raise ProblemError(
            f"the cell in row {none[0] + 1}, column {none[1] + 1} is in no grid of {n}×{n} cells"
        )
    for (top, left), square in squares.items() if corners is None else ():
        if all(times[cell] > 1 for cell in square):
            raise ProblemError(
                f"the square at row {top + 1}, column {left + 1} can be a grid or not, because "
                f"others have all of its cells; name the corners of the grids"
            )
    houses = [
        tuple(square[cell] for cell in house)
        for square in squares.values()
        for house in plain(*box).houses
    ]
    return Rules(n, tuple(places), tuple(dict.fromkeys(houses)))


def drawn_places(drawing: str) -> list[tuple[int, int]]:
    """Return row and column of each cell of a drawing; see `overlapping`.

    Examples
    --------
    >>> drawn_places("#.." + chr(10) + "#..")
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    lines = drawn_lines(drawing)
    found = [
        (r, c)
        for r, line in enumerate(lines)
        for c, character in enumerate(line)
        if character not in OUTSIDE
    ]
    top, left = (min((place[k] for place in found), default=0) for k in range(2))
    return [(r - top, c - left) for r, c in found]


def drawn_lines(drawing: str) -> list[str]:
    """Return the lines of a drawing; a square in one line is cut.

    Examples
    --------
    >>> drawn_lines("..#..#...")
    ['..#', '..#', '...']
    """
    lines = drawing.splitlines()
    if len(lines) != 1:
        return lines
    side = isqrt(len(drawing))
    if side * side != len(drawing):
        raise ProblemError(
            f"a drawing in one line is a square, such as 441 characters for 21×21, not "
            f"{len(drawing)}; begin a line for each row"
        )
    return [drawing[k : k + side] for k in range(0, len(drawing), side)]


def drawing_of(text: str) -> str | None:
    r"""Return the drawing that a puzzle is, or None for other puzzles.

    It is one if its lines have the same length and no blanks, and ``#`` stands behind a cell. One
    line is a square.

    Examples
    --------
    >>> drawing_of("12..## ......".replace(" ", chr(10)))
    '....##\n......'
    """
    text = text.strip()
    lines = text.splitlines()
    is_even = len({len(line) for line in lines}) == 1 and not re.search(r"[^\S\n]", text)
    is_square = len(lines) > 1 or isqrt(len(text)) ** 2 == len(text)
    if not (is_even and is_square and re.search(r"[^#\s]#", text)):
        return None
    return re.sub(r"[^#\n]", ".", text)


def drawn_problem(
    drawing: str,
    box: tuple[int, int] | None = None,
    alphabet: str | None = None,
    blank: str | None = None,
    problem: GridProblem | None = None,
) -> tuple[GridProblem, Notation]:
    """Return the problem of a drawing, unless it is known, and the notation of its puzzles."""
    problem = problem or Variant(overlapping(drawing, box or (3, 3)))
    n = problem.n_digits
    notation = usual_notation(n).with_blanks(blank)
    if alphabet is not None:
        notation = Notation.from_name(alphabet, n, blank)
    if not notation.symbols:
        raise InputError(f"grids of {n} digits that overlap have no alphabet of {n} characters")
    return problem, replace(notation, drawing="\n".join(drawn_lines(drawing)))
