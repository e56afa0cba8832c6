"""The places of items on a board, the colours of pieces, and the outlines of sets of cells.

Places depend on the names of items only, so problems from files can be drawn, too:

* ``r2c5`` is the cell in row 2 and column 5, and ``l3r2c5`` that of layer 3;
* without cells, ``s4`` is the fourth place of a line;
* without either, ``r2`` is a row and ``c5`` a column, and an option that has both marks the square
  where they cross.

The cells that an option covers are a *piece*. Its label is the option's first item that is not a
cell; of a name with ``#``, only the part behind it is shown: ``r1#3`` is a 3. Without such an item,
the label is the first word of the option's name, unless that is a cell. A cell to which an option
gives a colour shows the name of the colour, and is not part of the piece.

Labels have different colours, and so have pieces that meet. There are twelve hues in six shades,
all light enough for black letters and strong enough for a dark page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

from batchsolve.errors import ProblemError, counted
from batchsolve.problems.exact_cover import ExactCover, named_place
from batchsolve.problems.tilings import EMPTY, neighbours

Place = tuple[int, int, int]
"""Layer, row and column."""

Cell = tuple[int, int]
"""Row and column of a place in its layer."""

Point = tuple[int, int]
"""The x and the y of a corner of cells."""

RULE = (
    "it has no items called r1c1, r1c2, … (cells; l1r1c1 in layers), none called s1, s2, … "
    "(places), and none called r1, … and c1, … (rows and columns)"
)
MOST_CELLS = 100_000
MOST_SIDE = 5_000  # rows or columns, empty ones included
LINE_LENGTH = 12  # places side by side; a longer line goes on below

# Shade by shade, twelve hues of Oklch (B. Ottosson, *A perceptual color space for image
# processing*, 2020), in which equal steps look equally large. They begin at 250 degrees, a blue,
# and follow each other in steps of 150, far apart. A shade is a lightness and a chroma: 0.83 and
# 0.11, 0.67 and 0.14, 0.92 and 0.06, 0.75 and 0.08, 0.87 and 0.03, 0.62 and 0.08.
COLORS = [
    shade.split()
    for shade in """\
#8fcdff #ffaf91 #64ded7 #f8abde #b0d689 #b9c0ff #f5bb75 #6ad8f9 #ffa9b7 #84deaf #ddb3fd #d8c972
#499ae7 #dc744f #00afa8 #cd70b0 #78a641 #858ae9 #cb8315 #00a8d0 #dc6d81 #29af77 #b07bd5 #aa9600
#c7e9ff #ffd8c7 #b7f2ed #ffd6f1 #d7edc3 #dce1ff #ffdeba #b9efff #ffd5db #c3f2d7 #f1daff #ede6b9
#87b2df #db9d88 #6ebfb9 #d19abe #9db983 #a3a9e0 #cfa576 #71bad1 #db99a2 #80be9d #bea0d4 #b9b074
#c6d6e8 #e7cec6 #bfdbd8 #e3cdda #ced9c4 #d0d3e8 #e1d1c0 #c0d9e2 #e7cdd0 #c4dbcd #dacfe3 #d8d5bf
#608ab5 #b07661 #449691 #a77395 #76905c #7c81b6 #a57e4f #4892a8 #b0727b #599576 #9579ab #91874d
""".splitlines()
]
N_SHADES, N_HUES = len(COLORS), len(COLORS[0])

_Named = Mapping[int, Mapping[str, int]]
"""The place that the name of each item says, axis by axis."""

CELLS, PLACES, SQUARES = "cells", "places", "squares"
"""The kinds of places that the items of a board name."""


@dataclass(frozen=True)
class BoardPiece:
    """The places that an option covers.

    Attributes
    ----------
    places : tuple of (int, int, int)
        Ascending.
    label : str
        The text on the piece; may be empty.
    name : str
        The name of the option.
    """

    places: tuple[Place, ...]
    label: str
    name: str


@dataclass(frozen=True, eq=False)
class Board:
    """The places of a problem.

    Attributes
    ----------
    problem : ExactCover
    kind : str
        One of `CELLS`, `PLACES` and `SQUARES`.
    place_of : dict of int to (int, int, int)
        Item to place, for cells and places; for squares, rows have column -1, and columns row -1.

    Examples
    --------
    >>> board = Board.of(ExactCover.from_options([["A", "r1c1", "r1c2"], ["r2c1"]]))
    >>> sorted(board.places)
    [(0, 1, 1), (0, 1, 2), (0, 2, 1)]
    >>> board.filled([0])[0]
    [BoardPiece(places=((0, 1, 1), (0, 1, 2)), label='A', name='A r1c1 r1c2')]
    """

    problem: ExactCover
    kind: str
    place_of: Mapping[int, Place]

    @classmethod
    def of(cls, problem: ExactCover) -> Board:
        """Return the board of a problem.

        Raises
        ------
        ProblemError
            If the names of its items do not say where they lie, or it is too large to be drawn.
        """
        pairs = ((i, named_place(name)) for i, name in enumerate(problem.item_names or ()))
        named = {i: place for i, (place, rest) in pairs if not rest}
        kinds = ((CELLS, _cells), (PLACES, _places), (SQUARES, _lines))
        boards = (cls(problem, kind, places_of(named)) for kind, places_of in kinds)
        board = next((board for board in boards if board.place_of), None)
        if board is None or not board.places:
            raise ProblemError(f"the problem cannot be drawn: {RULE}")
        if len(board.places) > MOST_CELLS or max(board.rows, board.columns) > MOST_SIDE:
            raise ProblemError(
                f"the board is too large to be drawn: {counted(len(board.places), 'cell')}, "
                f"{board.rows:,} x {board.columns:,}; {MOST_CELLS:,} cells and {MOST_SIDE:,} rows "
                f"and columns are possible"
            )
        return board

    @cached_property
    def places(self) -> frozenset[Place]:
        """All places of the board, empty ones too."""
        place_of = self._squares if self.kind == SQUARES else self.place_of
        return frozenset(place_of.values())

    @cached_property
    def layers(self) -> list[int]:
        """The numbers of the layers, ascending."""
        return sorted({layer for layer, _, _ in self.places})

    @cached_property
    def top_left(self) -> tuple[int, int]:
        """The first row and the first column."""
        return min(r for _, r, _ in self.places), min(c for _, _, c in self.places)

    @cached_property
    def rows(self) -> int:
        """The number of rows from the first to the last."""
        return max(r for _, r, _ in self.places) - self.top_left[0] + 1

    @cached_property
    def columns(self) -> int:
        """The number of columns from the first to the last."""
        return max(c for _, _, c in self.places) - self.top_left[1] + 1

    @cached_property
    def labels(self) -> dict[str, int]:
        """The labels that pieces may have, and a number for each, the same for all covers."""
        names = self.problem.item_names or ()
        texts = [_label(name) for i, name in enumerate(names) if i not in self.place_of]
        if not texts and self.problem.option_names is not None:
            texts = [word for name in self.problem.option_names if (word := self._first_word(name))]
        return {label: k for k, label in enumerate(dict.fromkeys(texts)) if label != EMPTY}

    def filled(self, cover: Iterable[int]) -> tuple[list[BoardPiece], dict[Place, str]]:
        """Return the pieces and letters of a cover, or of a part of one.

        Pieces are in the order of their options; letters are the names of the colours of cells.
        """
        pieces: list[BoardPiece] = []
        letters: dict[Place, str] = {}
        for o in sorted(map(int, cover)):
            places, label = [], ""
            if self.kind == SQUARES:
                places = [self._squares[o]] if o in self._squares else []
            else:
                for item, color in self.problem.coloring(o).items():
                    if item not in self.place_of:
                        label = label or _label(self.problem.item_name(item))
                    elif color:
                        letters[self.place_of[item]] = self.problem.color_name(color)
                    else:
                        places.append(self.place_of[item])
                label = label or self._first_word(self.problem.option_name(o))
            if places and label != EMPTY:
                pieces.append(BoardPiece(tuple(sorted(places)), label, self.problem.option_name(o)))
        return pieces, letters

    @cached_property
    def _squares(self) -> dict[int, Place]:
        """The square that each option with one row and one column marks."""
        problem, squares = self.problem, dict[int, Place]()
        for o in range(problem.n_options):
            lines = [self.place_of.get(i, (0, -1, -1)) for i in problem.option(o).tolist()]
            rows = [row for _, row, _ in lines if row >= 0]
            columns = [column for _, _, column in lines if column >= 0]
            if len(rows) == len(columns) == 1:
                squares[o] = 0, rows[0], columns[0]
        return squares

    def _first_word(self, name: str) -> str:
        """Return the first word of the name of an option, unless it is the name of a cell."""
        word = name.partition(" ")[0]
        return "" if word in self._names_of_places or not word else _label(word)

    @cached_property
    def _names_of_places(self) -> frozenset[str]:
        return frozenset(self.problem.item_name(i) for i in self.place_of)


def _cells(named: _Named) -> dict[int, Place]:
    return {i: (p.get("l", 0), p["r"], p["c"]) for i, p in named.items() if {"r", "c"} <= p.keys()}


def _places(named: _Named) -> dict[int, Place]:
    """Return the places of a line; a long one continues in the next layer."""
    numbers = {i: place["s"] for i, place in named.items() if "s" in place}
    first = min(numbers.values(), default=0)
    lines = {i: divmod(number - first, LINE_LENGTH) for i, number in numbers.items()}
    return {i: (line, 0, column) for i, (line, column) in lines.items()}


def _lines(named: _Named) -> dict[int, Place]:
    """Return rows, in column -1, and columns, in row -1."""
    lines = {i: place for i, place in named.items() if place.keys() in ({"r"}, {"c"})}
    return {i: (0, place.get("r", -1), place.get("c", -1)) for i, place in lines.items()}


def _label(name: str) -> str:
    return name.rpartition("#")[2] or name


def colored(pieces: Sequence[BoardPiece], labels: dict[str, int]) -> list[str]:
    """Return a colour for every piece, as ``#rrggbb``.

    A label has the same hue in every cover, and its own unless there are more labels than hues.
    Pieces of one hue that meet have different shades. Pieces without labels have few hues,
    different ones where they meet. If all six shades or all hues are taken, only outlines separate
    two pieces that meet.

    Parameters
    ----------
    pieces : sequence of BoardPiece
    labels : dict of str to int
        The number of every label.

    Examples
    --------
    >>> left, right = BoardPiece(((0, 1, 1),), "A", "A"), BoardPiece(((0, 1, 2),), "A", "A")
    >>> one, other = colored([left, right], {"A": 0})
    >>> one != other
    True
    """
    owner = {place: k for k, piece in enumerate(pieces) for place in piece.places}
    chosen: list[tuple[int, int]] = []  # hue and shade
    for k, piece in enumerate(pieces):
        beside = (near for place in piece.places for near in neighbours(place))
        meets = {owner[near] for near in beside if near in owner}
        taken = {chosen[other] for other in meets if other < k}
        number = labels.get(piece.label, 0)
        if piece.label:
            first = number // N_HUES + number % 2
            choices = [(number % N_HUES, (first + n) % N_SHADES) for n in range(N_SHADES)]
        else:
            choices = [(hue, hue % 2) for hue in range(N_HUES)]
        chosen.append(next((choice for choice in choices if choice not in taken), choices[0]))
    return [COLORS[shade][hue] for hue, shade in chosen]


# ---- outlines, as paths of SVG --------------------------------------------------------------


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
                ends = steps[point]
                point = ends.pop(ends.index(to_right) if len(ends) > 1 else 0)
            yield loop


def _path(loop: list[Point], size: int, inset: int) -> str:
    """Return a closed line, its straight parts joined."""
    corners = []
    for (a, b), (x, y), (c, d) in zip([loop[-1], *loop], loop, [*loop[1:], loop[0]], strict=False):
        if not (a == x == c or b == y == d):
            # both sides of the corner move to their right
            corners.append((x * size + inset * (b - d), y * size + inset * (c - a)))
    sides = (f"h{x - a}" if b == y else f"v{y - b}" for (a, b), (x, y) in pairwise(corners))
    return f"M{corners[0][0]} {corners[0][1]}{''.join(sides)}z"


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
    for (line, _), run in groupby(numbered, lambda pair: (pair[1][0], pair[1][1] - pair[0])):
        (_, (_, first)), *others = run
        yield line, first, 1 + len(others)


def parts(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Return the connected parts of a set of cells, each ascending.

    Examples
    --------
    >>> parts([(0, 0), (0, 1), (0, 3)])
    [[(0, 0), (0, 1)], [(0, 3)]]
    """
    remaining = set(cells)
    components = []
    for first in sorted(remaining):
        if first not in remaining:
            continue
        remaining.discard(first)
        part = [first]
        for r, c in part:  # grows while it is walked
            for near in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
                if near in remaining:
                    remaining.discard(near)
                    part.append(near)
        components.append(sorted(part))
    return components


def middle(part: Collection[Cell]) -> Cell:
    """Return the cell of a part that is nearest to its middle; of several, the first.

    Examples
    --------
    >>> middle([(0, 0), (0, 1), (0, 2), (1, 0)])
    (0, 1)
    """
    n = len(part)
    row, column = sum(r for r, _ in part), sum(c for _, c in part)
    return min(part, key=lambda at: ((n * at[0] - row) ** 2 + (n * at[1] - column) ** 2, at))
