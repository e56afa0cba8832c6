"""Grids of Sudoku: of every box shape, with rules that users name, and with rules of each row.

A grid of N = box rows × box columns digits has N² cells. An option (see
`batchsolve.problems.grids`) covers four items: the cell, and the digit in the cell's row, column
and box.

Grids that overlap, such as Samurai, are found from a drawing or by the name of their layout. A
drawing has a character a cell, in lines, or of a square in one line: ``#`` or a blank is outside,
every other character is a cell. In puzzles, only ``#`` is outside.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Bytes, Ints
from batchsolve.errors import InputError, ProblemError
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import MOST_DIGITS, Notation, default_box
from batchsolve.problems.rules import Cells, OwnRules, Rules, named, plain, regions_of
from batchsolve.settings.arguments import Box, checked_box, names_in, whole_number

OUTSIDE = "# "

Place = tuple[int, int]
Grid = tuple[Place, ...]
"""The places of the N × N cells of a grid, in reading order."""


class Sudoku(GridProblem):
    """The exact cover problem of the empty grid.

    Parameters
    ----------
    box_rows, box_columns : int
        Shape of a box; the grid has N = box_rows · box_columns rows, columns and digits.

    Raises
    ------
    InputError
        If a box has no rows or no columns.
    ProblemError
        If N is more than 255.

    Examples
    --------
    >>> Sudoku(2, 3)
    Sudoku(2, 3)
    >>> Sudoku(2, 2).stack([1, 0, 0, 0, 0, 0, 0, 2] + [0] * 8).tolist()
    [0, 29]
    """

    _other_unit = "box"

    def __init__(self, box_rows: int = 3, box_columns: int = 3) -> None:
        box_rows = whole_number("box_rows", box_rows, 1)
        box_columns = whole_number("box_columns", box_columns, 1)
        n = box_rows * box_columns
        if n > MOST_DIGITS:
            raise ProblemError(
                f"a box of {box_rows}×{box_columns} gives {n} digits; "
                f"1 to {MOST_DIGITS} are possible"
            )
        self.box_rows, self.box_columns = box_rows, box_columns
        self.n_digits, self.n_cells = n, n * n
        self.box = box_rows, box_columns
        self._is_frozen = True

    def __repr__(self) -> str:
        return f"Sudoku({self.box_rows}, {self.box_columns})"

    def __reduce__(self) -> tuple[Any, ...]:
        return sudoku, (self.box_rows, self.box_columns)

    @cached_property
    def rules(self) -> Rules:  # type: ignore[override]
        """The rules of the grid."""
        return plain(self.box_rows, self.box_columns)

    @property
    def token(self) -> str:
        """The shape of the boxes: all grids of a shape are one problem."""
        return repr(self)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the arrays of the exact cover problem, 64 hexadecimal digits."""
        return self._cover.fingerprint

    def item_name(self, i: int) -> str:
        """Return ``r1c2`` for a cell, ``r1#3``, ``c2#3`` or ``b1#3`` for a digit in a unit."""
        kind, rest = divmod(i, self.n_cells)
        first, second = divmod(rest, self.n_digits)
        return f"{'rrcb'[kind]}{first + 1}{'c' if kind == 0 else '#'}{second + 1}"


@lru_cache(maxsize=16)
def sudoku(box_rows: int, box_columns: int) -> Sudoku:
    """Return a shared `Sudoku`; each process builds the problem of a shape once."""
    return Sudoku(box_rows, box_columns)


def usual_sudoku(grids: npt.NDArray[Any], box: tuple[int, int] | None = None) -> Sudoku:
    """Return the problem of an array of grids with these boxes, or the usual ones for N.

    Examples
    --------
    >>> import numpy as np
    >>> usual_sudoku(np.zeros((1, 36)))
    Sudoku(2, 3)
    """
    cells = grids.shape[1] if grids.ndim == 2 else grids.shape[-1] ** 2 if grids.ndim == 3 else 0
    n = round(cells**0.5)
    box = (box or default_box(n)) if n * n == cells else None
    if box is None or box[0] * box[1] != n:
        raise InputError(f"grids must have shape (n, N²) or (n, N, N), not {grids.shape}")
    return sudoku(*box)


# ---- rules that users name -----------------------------------------------------------------

Variant = GridProblem
"""The name of `GridProblem` for users, who make grids with other rules than those of `Sudoku`."""


def grid_problem(
    n_digits: int,
    box: Box | None = None,
    rules: str | None = None,
    regions: str | None = None,
    drawing: str | None = None,
) -> GridProblem:
    """Return the shared problem of grids with these rules.

    Parameters
    ----------
    n_digits : int
    box : (int, int), optional
        Rows and columns of a box; by default the usual ones. Where there are regions, it only
        serves rules that look at boxes.
    rules : str, optional
        Named rules, joined by ``+``: see `batchsolve.problems.rules.NAMED`. One of
        `batchsolve.problems.sudoku.LAYOUTS` among them means several grids, each of which follows
        the other rules.
    regions : str, optional
        The region of every cell, in place of the boxes: see
        `batchsolve.problems.sudoku.drawn_labels`.
    drawing : str, optional
        The cells of several grids that overlap; see `batchsolve.problems.sudoku.overlapping`.

    Raises
    ------
    InputError
        If there are neither boxes nor regions, or the box gives another number of digits.
    ProblemError
        If a rule is unknown or does not fit, or the regions do not have N cells each.

    Examples
    --------
    >>> grid_problem(4), grid_problem(4, rules="x")
    (Sudoku(2, 2), Variant(16 cells, 4 digits, 14 houses))
    >>> grid_problem(4, rules=" ", regions="AABB AABB CCDD CCDD")  # which are the usual boxes
    Sudoku(2, 2)
    >>> grid_problem(3, regions="AAB ACB CCB")  # of which B is a column
    Variant(9 cells, 3 digits, 8 houses)
    >>> grid_problem(9, rules="samurai+x")
    Variant(369 cells, 9 digits, 141 houses)
    """
    n_digits = whole_number("n_digits", n_digits, 1)
    box = checked_box(box, rules=rules, regions=regions, drawing=drawing)
    if box is not None and box[0] * box[1] != n_digits:
        raise InputError(f"a box of {box[0]}×{box[1]} does not give {n_digits} digits")
    shape = box or default_box(n_digits)
    if shape and rules is None and regions is None and drawing is None:
        return sudoku(*shape)
    made = grid_rules(n_digits, box, rules, regions, drawing=drawing)
    return sudoku(*shape) if shape and made == sudoku(*shape).rules else _variant(made)


_variant = lru_cache(maxsize=256)(GridProblem)  # shared


def check_alone(problem: object, *rules: object) -> None:
    """Raise `InputError` if a problem is given and a box, rules or regions beside it."""
    if problem is not None and any(rule is not None for rule in rules):
        raise InputError("the problem has its box, rules and regions; leave these out")


def chosen_problem(problem: GridProblem | None, n_digits: int, *named: Any) -> GridProblem:
    """Return a given problem, or else `grid_problem` of the other arguments.

    Raises
    ------
    InputError
        If the problem is given, and rules beside it, or if it has other cells.
    """
    if problem is None:
        return grid_problem(n_digits, *named)
    *rules, drawing = named
    check_alone(problem, *rules)
    if drawn_places(drawing or square_drawing(n_digits)) != problem.rules.places:
        raise InputError(f"the grid has other cells than {problem!r}")
    return problem


@lru_cache(maxsize=256)
def grid_rules(
    n_digits: int,
    box: tuple[int, int] | None = None,
    rules: str | None = None,
    regions: str | None = None,
    has_boxes: bool = True,
    drawing: str | None = None,
) -> Rules:
    """Return the rules of grids; see `grid_problem`.

    Without boxes and regions, they are those of rows and columns, and the named ones.
    """
    shape, (name, rules) = box or default_box(n_digits), split_layout(rules)
    grids = _grids(n_digits, shape, name, drawing)
    if grids is None and regions is not None:
        labels = drawn_labels(regions, square_drawing(n_digits))
        made = Rules.square(n_digits, regions_of(labels, n_digits))
    elif not has_boxes or regions is not None:
        made = Rules.square(n_digits, ())
    elif shape is None:
        raise InputError(f"no usual boxes for {n_digits} digits; name them with `box` or `regions`")
    else:
        made = plain(*shape)
    if rules is not None:
        made += named(rules, *(shape or (1, n_digits)))
    if grids is None:
        return made
    made = rules_of_grids(grids, made)
    if regions is None:
        return made
    houses = regions_of(drawn_labels(regions, drawing or made.drawing), n_digits)
    return made + replace(made, houses=tuple(houses))


def _grids(
    n_digits: int, box: tuple[int, int] | None, name: str | None, drawing: str | None
) -> Sequence[Grid] | None:
    """Return the grids of a layout, given its name or its drawing; None for one grid."""
    if name is None:
        return None if drawing is None else drawn_grids(drawing, box or (1, n_digits))
    if (n_digits, box) != (9, (3, 3)):
        raise ProblemError(f"the layout {name!r} has grids of 9×9 with boxes of 3×3")
    if drawing is not None:
        check_layout(name, drawing)
    return LAYOUTS[name]


def check_layout(name: str, drawing: str) -> None:
    """Raise `ProblemError` if the cells of a drawing are not those of a layout."""
    if set(drawn_places(drawing)) != {place for grid in LAYOUTS[name] for place in grid}:
        raise ProblemError(f"the grids of the table are not laid out as {name!r}")


# ---- grids that overlap ---------------------------------------------------------------------


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
    grids = list(filter(there.issuperset, squares))
    if corners is not None and len(grids) < len(squares):
        top, left = next(square[0] for square in squares if square not in grids)
        raise ProblemError(f"no square of {n}×{n} cells begins at row {top}, column {left}")
    times = Counter(place for grid in grids for place in grid)
    stray = next((place for place in places if not times[place]), None)
    if stray is not None:
        raise ProblemError(
            f"the cell in row {stray[0] + 1}, column {stray[1] + 1} is in no grid of {n}×{n} cells"
        )
    for grid in grids if corners is None else ():
        if all(times[place] > 1 for place in grid):
            top, left = grid[0]
            raise ProblemError(
                f"the square at row {top + 1}, column {left + 1} can be a grid or not, because "
                f"others have all of its cells; name the corners of the grids, or the layout: one "
                f"of {', '.join(LAYOUTS)} among the rules"
            )
    return grids


def rules_of_grids(grids: Sequence[Grid], rules: Rules) -> Rules:
    """Return the rules of grids that may overlap, each of which follows the same rules.

    Parameters
    ----------
    grids : sequence of tuples of (int, int)
        The places of the cells of each grid, in the order of those of `rules`.
    rules : Rules
    """
    places = sorted({place for grid in grids for place in grid})
    number = {place: cell for cell, place in enumerate(places)}
    cells = [[number[place] for place in grid] for grid in grids]

    def of_all(parts: Iterable[Cells]) -> tuple[Cells, ...]:
        groups = list(parts)
        moved = (tuple(grid[cell] for cell in part) for grid in cells for part in groups)
        return tuple(dict.fromkeys(moved))

    pairs = ((grid[a], grid[b], relation) for grid in cells for a, b, relation in rules.pairs)
    return Rules(
        rules.n_digits,
        tuple(places),
        of_all(rules.houses),
        of_all(rules.groups),
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
    words = names_in(names)
    layouts = sorted(set(words) & LAYOUTS.keys())
    if len(layouts) > 1:
        raise ProblemError(f"grids are laid out as {' or '.join(layouts)}, not both")
    rest = "+".join(name for name in words if name and name not in layouts)
    return (layouts[0] if layouts else None), (rest or None)


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
    places = [
        (r, c)
        for r, line in enumerate(drawn_lines(drawing))
        for c, character in enumerate(line)
        if character not in OUTSIDE
    ]
    top, left = (min((place[k] for place in places), default=0) for k in range(2))
    return tuple((r - top, c - left) for r, c in places)


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
    notation = Notation.from_name(alphabet, n_digits, blank)
    if not notation.symbols:
        raise InputError(
            f"grids of {n_digits} digits that overlap have no alphabet of {n_digits} characters"
        )
    return replace(notation, drawing="\n".join(drawn_lines(drawing)))


# ---- grids whose rules differ from row to row -----------------------------------------------


class Variants(GridProblem):
    """The problems of grids that share houses and named rules, but no regions, cages or marks.

    As an exact cover problem it has the shared rules only. The root of a stack is the row whose
    rules hold, so a stack goes from task to task as stacks of one problem do.

    Parameters
    ----------
    rules : Rules
        The shared rules. If there are regions: rows, then columns, then others.
    given : OwnRules
        The rules of each row beyond them.

    Raises
    ------
    ProblemError
        If a region of some row does not have N cells, or a cage has too many sets of digits.
    """

    def __init__(self, rules: Rules, given: OwnRules) -> None:
        self.given = given
        super().__init__(rules)
        _check_regions(given.regions, rules)

    def __len__(self) -> int:
        return len(self.given.cages_of) - 1

    def __repr__(self) -> str:
        return f"Variants({self.n_cells} cells, {self.n_digits} digits, {len(self)} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        return Variants, (self.rules, self.given)

    def rows_of(self, roots: Ints) -> Ints:
        """Return the rows of `row_rules` whose rules hold for grids with these roots: the roots."""
        return roots

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the shared rules: what an engine prepares does not depend on rows."""
        kind = "regions" if self.given.regions.shape[1] else "rows"
        return hashlib.sha256(f"{kind} {super().fingerprint}".encode()).hexdigest()

    def at(self, roots: Ints) -> Variants:
        """Return the problem of the grids with these roots; the roots are counted anew."""
        return Variants(self.rules, self.given.take(roots))

    def of_row(self, row: int) -> GridProblem:
        """Return the problem of a row."""
        return GridProblem(self.rules + self.given.of_row(row, self.rules))

    def first_clashes(self, grids: Bytes) -> Ints:
        """Return for each grid the position among its clues of the first that clashes, or -1."""
        if len(grids) != len(self):
            raise InputError(f"{len(grids)} grids for the rules of {len(self)}")
        return super().first_clashes(grids)


def _check_regions(regions: Bytes, rules: Rules) -> None:
    """Raise `ProblemError` unless each row has N regions of N cells, or none has regions."""
    n = rules.n_digits
    if not regions.shape[1]:
        return
    if regions.shape[1] != n * n or rules.n_cells != n * n:
        raise ProblemError(f"regions must have shape (n, {n * n}), not {regions.shape}")
    bucket = (n + 1) * np.arange(len(regions))[:, None] + np.minimum(regions, n)
    sizes = np.bincount(bucket.ravel(), minlength=(n + 1) * len(regions)).reshape(-1, n + 1)
    wrong = np.argwhere(sizes[:, :n] != n)  # a region above n leaves one below it too small
    if wrong.size:
        row, region = wrong[0].tolist()
        size = sizes[row, region]
        raise ProblemError(f"row {row}: region {region} has {size} cells; each region has {n}")
