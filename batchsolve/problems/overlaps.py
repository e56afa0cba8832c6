"""Grids that overlap, such as Samurai, found from a drawing or by the name of their layout.

A drawing has a character a cell, in lines, or of a square in one line: ``#`` or a blank is outside,
every other character is a cell. In puzzles, only ``#`` is outside.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import isqrt

from batchsolve.errors import InputError, ProblemError
from batchsolve.problems.notation import Notation, usual_notation
from batchsolve.problems.rules import Cells, Rules, plain

OUTSIDE = "# "

Place = tuple[int, int]
Grid = tuple[Place, ...]
"""The places of the N × N cells of a grid, in reading order."""


def overlapping(
    drawing: str, box: tuple[int, int] = (3, 3), corners: Iterable[Place] | None = None
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
        If a cell is in no grid, or other grids have all cells of a square: then the drawing is
        ambiguous, and `corners` must name the grids.

    Examples
    --------
    >>> rules = overlapping("....##....##............##....##....", (2, 2))
    >>> rules.n_cells, len(rules.houses), len(rules.regions)
    (28, 23, 7)
    """
    return rules_of_grids(drawn_grids(drawing, box, corners), plain(*box))


def drawn_grids(
    drawing: str, box: tuple[int, int] = (3, 3), corners: Iterable[Place] | None = None
) -> list[Grid]:
    """Return the grids of a drawing; see `overlapping`."""
    places = drawn_places(drawing)
    if not places:
        raise ProblemError("a drawing of grids that overlap has no cells")
    rows, columns = box
    there, n = set(places), rows * columns
    on_boxes = (place for place in places if not (place[0] % rows or place[1] % columns))
    squares = [_square(*corner, n) for corner in (on_boxes if corners is None else corners)]
    found = list(filter(there.issuperset, squares))
    if corners is not None and len(found) < len(squares):
        top, left = next(square[0] for square in squares if square not in found)
        raise ProblemError(f"no square of {n}×{n} cells begins at row {top}, column {left}")
    times = Counter(place for grid in found for place in grid)
    none = next((place for place in places if not times[place]), None)
    if none is not None:
        raise ProblemError(
            f"the cell in row {none[0] + 1}, column {none[1] + 1} is in no grid of {n}×{n} cells"
        )
    for grid in found if corners is None else ():
        if all(times[place] > 1 for place in grid):
            top, left = grid[0]
            raise ProblemError(
                f"the square at row {top + 1}, column {left + 1} can be a grid or not, because "
                f"others have all of its cells; name the corners of the grids, or the layout: one "
                f"of {', '.join(LAYOUTS)} among the rules"
            )
    return found


def rules_of_grids(grids: Sequence[Grid], each: Rules) -> Rules:
    """Return the rules of grids that may overlap, each of which follows the same rules.

    Parameters
    ----------
    grids : sequence of tuples of (int, int)
        The places of the cells of each grid, in the order of those of `each`.
    each : Rules
    """
    places = sorted({place for grid in grids for place in grid})
    number = {place: cell for cell, place in enumerate(places)}
    cells = [[number[place] for place in grid] for grid in grids]

    def of_all(parts: Iterable[Cells]) -> tuple[Cells, ...]:
        each = list(parts)
        moved = (tuple(grid[cell] for cell in part) for grid in cells for part in each)
        return tuple(dict.fromkeys(moved))

    pairs = ((grid[a], grid[b], relation) for grid in cells for a, b, relation in each.pairs)
    return Rules(
        each.n_digits,
        tuple(places),
        of_all(each.houses),
        of_all(each.groups),
        tuple(dict.fromkeys(pairs)),
    )


def _square(top: int, left: int, n: int) -> Grid:
    """Return the places of n × n cells."""
    return tuple((top + r, left + c) for r in range(n) for c in range(n))


def _on_boxes(*corners: Place) -> tuple[Grid, ...]:
    """Return grids of 9×9 whose corners are given in boxes."""
    return tuple(_square(3 * row, 3 * column, 9) for row, column in corners)


_NINE = _on_boxes(*((row, column) for row in (0, 3, 6) for column in (0, 3, 6)))
_MIDDLE_LINES = [9 * grid + k for grid in range(3) for k in (3, 4, 5)]

LAYOUTS: dict[str, tuple[Grid, ...]] = {
    "butterfly": _on_boxes((0, 0), (0, 1), (1, 0), (1, 1)),
    "samurai": _on_boxes((0, 0), (0, 4), (2, 2), (4, 0), (4, 4)),
    "sohei": _on_boxes((0, 2), (2, 0), (2, 4), (4, 2)),
    "windmill": _on_boxes((0, 1), (1, 4), (2, 2), (3, 0), (4, 3)),
    "gattai8": _on_boxes((0, 0), (0, 4), (0, 8), (2, 2), (2, 6), (4, 0), (4, 4), (4, 8)),
    "shogun": _on_boxes(
        *((0, 0), (0, 4), (0, 8), (0, 12), (2, 2), (2, 6), (2, 10)),
        *((4, 0), (4, 4), (4, 8), (4, 12)),
    ),
    "sumo": _on_boxes(
        *((0, 0), (0, 4), (0, 8), (2, 2), (2, 6), (4, 0), (4, 4), (4, 8)),
        *((6, 2), (6, 6), (8, 0), (8, 4), (8, 8)),
    ),
    # nine grids side by side; the middle cells of all boxes, or the middle boxes, are a tenth
    "clueless1": (*_NINE, tuple((3 * r + 1, 3 * c + 1) for r in range(9) for c in range(9))),
    "clueless2": (*_NINE, tuple((r, c) for r in _MIDDLE_LINES for c in _MIDDLE_LINES)),
}
"""Layouts of several grids of 9×9 that have a name."""


def split_layout(names: str | None) -> tuple[str | None, str | None]:
    """Return the name of a layout among rules joined by ``+``, and the other rules.

    Examples
    --------
    >>> split_layout("x+samurai"), split_layout("x"), split_layout(None)
    (('samurai', 'x'), (None, 'x'), (None, None))
    """
    if names is None:
        return None, None
    each = [name.strip() for name in names.lower().split("+")]
    found = sorted(set(each) & LAYOUTS.keys())
    if len(found) > 1:
        raise ProblemError(f"grids are laid out as {' or '.join(found)}, not both")
    rest = "+".join(name for name in each if name and name not in found)
    return (found[0] if found else None), (rest or None)


def square_drawing(n: int) -> str:
    """Return the drawing of one grid of n × n cells, in one line."""
    return "." * n**2


@lru_cache(maxsize=64)
def drawn_places(drawing: str) -> tuple[Place, ...]:
    """Return row and column of each cell of a drawing; see `overlapping`.

    Examples
    --------
    >>> drawn_places("#.." + chr(10) + "#..")
    ((0, 0), (0, 1), (1, 0), (1, 1))
    """
    found = [
        (r, c)
        for r, line in enumerate(drawn_lines(drawing))
        for c, character in enumerate(line)
        if character not in OUTSIDE
    ]
    top, left = (min((place[k] for place in found), default=0) for k in range(2))
    return tuple((r - top, c - left) for r, c in found)


def drawn_labels(text: str, drawing: str) -> list[str]:
    """Return the label of every cell of a drawing: of regions, cages or marks, given as text.

    Parameters
    ----------
    text : str
        A character, or a label with spaces, commas or semicolons between them, for each cell; or
        for each character of the drawing, of which those outside do not count. Lines may end
        anywhere.
    drawing : str
        See `square_drawing` for one grid.

    Raises
    ------
    ProblemError
        If there are too many or too few labels.

    Examples
    --------
    >>> drawn_labels("AB#C", "..#."), drawn_labels("A B CC", "..#.")
    (['A', 'B', 'C'], ['A', 'B', 'CC'])
    >>> drawn_labels("AB CC", square_drawing(2))
    ['A', 'B', 'C', 'C']
    """
    shown = [c not in OUTSIDE for c in "".join(drawn_lines(drawing))]
    words = re.split(r"[\s,;]+", text.strip())
    for labels in (words, list("".join(words))):
        if len(labels) == sum(shown):
            return labels
        if len(labels) == len(shown):
            return [label for label, is_cell in zip(labels, shown, strict=True) if is_cell]
    outside = f" (or {len(shown)}, with those outside)" if len(shown) > sum(shown) else ""
    raise ProblemError(
        f"{sum(shown)} cells have {sum(shown)} labels{outside}, not {len(''.join(words))}"
    )


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

    It is one if its lines have the same length, without blanks or marks between fields, and ``#``
    stands behind a cell. One line is a square.

    Examples
    --------
    >>> drawing_of("12..## ......".replace(" ", chr(10)))
    '....##\n......'
    """
    if "#" not in text:
        return None
    text = text.strip()
    lines = text.splitlines()
    is_even = len({len(line) for line in lines}) == 1 and not re.search(r"[^\S\n]|[,;|]", text)
    is_square = len(lines) > 1 or isqrt(len(text)) ** 2 == len(text)
    if not (is_even and is_square and re.search(r"[^#\s]#", text)):
        return None
    return re.sub(r"[^#\n]", ".", text)


def drawn_notation(
    n_digits: int, drawing: str, alphabet: str | None = None, blank: str | None = None
) -> Notation:
    """Return the notation of puzzles of a drawing."""
    notation = usual_notation(n_digits).with_blanks(blank)
    if alphabet is not None:
        notation = Notation.from_name(alphabet, n_digits, blank)
    if not notation.symbols:
        raise InputError(
            f"grids of {n_digits} digits that overlap have no alphabet of {n_digits} characters"
        )
    return replace(notation, drawing="\n".join(drawn_lines(drawing)))
