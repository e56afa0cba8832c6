"""Tilings: boards of squares or cubes, filled with polyominoes or polycubes.

The drawing of a board has ``.`` (or ``X``) for cells, and ``#`` or blanks for holes. The drawing of
a piece has ``X`` for squares, and ``.`` or blanks around them. Blank lines separate layers. The
items of a tiling are its pieces and its cells, ``r1c1`` or ``l1r1c1``; an option is a placement of
a piece. A kind of pieces determines the shapes that are the same piece. Sets of pieces are
generated from their definition: a shape of n squares has one of n - 1 squares, and a square beside
it.

A file of a tiling has these drawings in sections:

::

    | twelve pentominoes on a chessboard, its middle left out
    board:
    ........
    ........
    ........
    ...##...
    ...##...
    ........
    ........
    ........
    pieces: pentominoes

Every line with a colon begins a section: ``board``, ``pieces``, ``piece NAME``, ``kind`` or
``fill``. Its content follows the colon or stands on the lines below. Lines that begin with ``|``
are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.errors import InputError, ProblemError, counted, prefixed, quoted
from batchsolve.problems.attributes import array_of
from batchsolve.problems.exact_cover import ExactCover, named_place
from batchsolve.settings.arguments import argument_errors, flag_of, text_of

MOST_OPTIONS = 1_000_000  # their names are Python strings, which take seconds and 1 GB
MOST_CELLS = 1_000_000

Cell = tuple[int, int, int]
"""Layer, row and column."""

Shape = tuple[Cell, ...]
"""Squares or cubes in ascending order; the first layer, row and column are 0."""

PENTOMINOES = {
    "F": ".XX/XX./.X.",
    "I": "XXXXX",
    "L": "X./X./X./XX",
    "N": ".X/.X/XX/X.",
    "P": "XX/XX/X.",
    "T": "XXX/.X./.X.",
    "U": "X.X/XXX",
    "V": "X../X../XXX",
    "W": "X../XX./.XX",
    "X": ".X./XXX/.X.",
    "Y": ".X/XX/.X/.X",
    "Z": "XX./.X./.XX",
}
"""The twelve pieces of five squares."""

_LETTERS = {
    1: {"I1": "X"},
    2: {"I2": "XX"},
    3: {"I3": "XXX", "V3": "X./XX"},
    4: {"I4": "XXXX", "L4": "X./X./XX", "O4": "XX/XX", "S4": ".XX/XX.", "T4": "XXX/.X."},
    5: PENTOMINOES,
}


KINDS = FREE, ONE_SIDED, FIXED = "free", "one-sided", "fixed"
"""The moves that a piece allows; shapes that moves turn into each other are one piece."""

_FLAT = ("monominoes", "dominoes", "trominoes", "tetrominoes", "pentominoes", "hexominoes")
_SOLID = ("tricubes", "tetracubes", "pentacubes")
SETS = {
    **{name: (size, False) for size, name in enumerate((*_FLAT, "heptominoes"), 1)},
    **{name: (size, True) for size, name in enumerate(_SOLID, 3)},
}
"""The named sets of pieces: the number of squares, and True if they are cubes."""

Drawing = str | npt.ArrayLike
"""Rows of characters, separated by line ends or ``/``, or a boolean array of 2 or 3 dimensions."""

_SIZES = re.compile(r"\s*([0-9]{1,9})x([0-9]{1,9})(?:x([0-9]{1,9}))?\s*", re.IGNORECASE)
_NAME = re.compile(r"[^\s:|/]+")


EMPTY = "(empty)"
"""The name of the piece that fills cells that stay empty; it is not drawn."""

Use = tuple[int, int | None]
"""The lower and the upper bound of the number of times that a piece is used."""

USES: dict[str, Use] = {"once": (1, 1), "at most once": (0, 1), "any number": (0, None)}
"""The named uses; others are ``2..3``, ``2`` and ``2..`` times."""

_TIMES = re.compile(r"([0-9]{1,99})(\.\.([0-9]{1,99})?)?")


Tile = tuple[str, Shape, Use]
"""A piece of a tiling: its name, its shape and its use."""


def tiling(
    board: Drawing,
    pieces: str | Mapping[str, Drawing] | Sequence[str | Mapping[str, Drawing]],
    *,
    kind: str | None = None,
    use: str | int | Mapping[str, str | int] = "once",
    fill: bool = True,
) -> ExactCover:
    r"""Return the problem of tiling a board with pieces.

    Parameters
    ----------
    board : str or array_like of bool
        Sizes, ``6x10`` (rows and columns) or ``3x3x3`` (layers, too), or a drawing with ``.`` or
        ``X`` for cells and ``#`` or blanks for holes. Line ends or ``/`` separate rows, blank lines
        layers.
    pieces : str, mapping of str to drawings, or a sequence of both
        Names of sets, ``"pentominoes"`` or ``"trominoes, I4"``, or pieces by name, each drawn with
        ``X`` for its squares and ``.`` or blanks around them.
    kind : {"free", "one-sided", "fixed"}, optional
        Free pieces may be turned and reflected, one-sided ones turned, fixed ones neither. Named
        sets have all pieces of the kind. The default is that of pieces of wood: free on a board of
        one layer, else one-sided.
    use : str or int, or mapping of str to these
        ``once``, ``at most once``, ``any number``, or a number of times, ``2..3``, ``2`` or
        ``2..``: for all pieces, or for named ones, while the others are used once.
    fill : bool
        True if every cell has to be covered; otherwise cells may stay empty. If fewer do than there
        are pieces, and their number is known, the piece `EMPTY` of one cell fills them.

    Returns
    -------
    ExactCover
        Its items are the pieces and the cells. A piece for any number of uses has no item if every
        cell has to be covered. Rotations and reflections of a tiling are different covers.

    Raises
    ------
    ProblemError, InputError
        If a drawing cannot be read, a name is unknown or appears twice, or the squares of the
        pieces are not as many as the cells of the board.

    Examples
    --------
    >>> tiling("6x10", "pentominoes")
    ExactCover(n_items=72, n_primary=72, n_options=2056)
    >>> problem = tiling("..#/...", {"long": "XXX", "short": "XX"})
    >>> [problem.option_name(o) for o in range(problem.n_options)][0]
    'long r2c1 r2c2 r2c3'
    """
    cells = board_cells(board)
    solid = is_solid(cells)
    chosen = kind_of(kind, solid)
    shapes: dict[str, Shape] = {}
    with argument_errors("pieces are names of sets, drawings by name, or a list of both", pieces):
        for part in [pieces] if isinstance(pieces, str | Mapping) else pieces:
            new = named_pieces(part, chosen, solid) if isinstance(part, str) else _drawn(part)
            add_pieces(shapes, new)
    uses = dict(use) if isinstance(use, Mapping) else dict.fromkeys(shapes, use)
    for name in uses:
        if name not in shapes:
            raise ProblemError(f"use names the unknown piece {quoted(name)}")
    placed = [(name, shape, use_of(uses.get(name, "once"))) for name, shape in shapes.items()]
    return placements(cells, placed, chosen, fill=flag_of("fill", fill))


def placements(
    cells: Sequence[Cell], pieces: Sequence[Tile], kind: str, *, fill: bool
) -> ExactCover:
    """Return the problem of putting pieces on the cells of a board.

    Options are ordered by piece, then by orientation, then by cell.

    Raises
    ------
    ProblemError
        If there are too many options, or the sizes of the pieces do not fit the board.
    """
    pieces, fill = _with_fillers(len(cells), pieces, fill)
    solid = is_solid(cells)
    name_of = {(a, b, c): f"l{a}r{b}c{c}" if solid else f"r{b}c{c}" for a, b, c in cells}
    options: list[list[str]] = []
    names: list[str] = []
    for name, piece, use in pieces:
        item = [] if fill and use == USES["any number"] else [name]
        for shape in orientations(piece, kind, solid):
            for squares in _places(shape, cells, name_of):
                options.append(item + squares)
                names.append(" ".join([name, *squares]))
            if len(options) > MOST_OPTIONS:
                raise ProblemError(
                    f"more than {MOST_OPTIONS:,} options; take fewer pieces, or a smaller board"
                )
    # Only some engines take bounds, so pieces have them only if they need them.
    bounds, primary, secondary = {}, [], []
    for name, _, use in pieces:
        if use == USES["once"]:
            primary.append(name)
        elif fill and use == USES["at most once"]:
            secondary.append(name)
        elif not fill or use != USES["any number"]:
            primary.append(name)  # an option without a primary item would be in no cover
            least, most = use
            bounds[name] = least, max(1, len(cells) if most is None else most)
    (primary if fill else secondary).extend(name_of.values())
    return ExactCover.from_options(options, primary, secondary, names, bounds=bounds)


def _with_fillers(n_cells: int, pieces: Sequence[Tile], fill: bool) -> tuple[Sequence[Tile], bool]:
    """Add pieces of one cell for the empty cells of a board; return True if all cells are covered.

    They are added if the sizes fix the number of empty cells, and there are fewer of these than
    pieces. Sizes that do not fit the board raise `ProblemError`.

    With them, a search notices cells that nothing fits: with the pieces of
    tests/problems/test_tilings.py, 78 squares on 81 cells, the first tiling takes 25 nodes instead
    of 189,057. Many empty cells would take a node each.
    """
    if not pieces:
        raise ProblemError("a tiling needs pieces")
    needed = sum(least * len(shape) for _, shape, (least, _) in pieces)
    empty, n_pieces = n_cells - needed, sum(least for _, _, (least, _) in pieces)
    are_known = all(least == most for _, _, (least, most) in pieces)
    if empty < 0 or (fill and are_known and empty > 0):
        advice = "use some at most once" if empty < 0 else "add pieces, or let cells stay empty"
        raise ProblemError(
            f"pieces of {counted(needed, 'square')} do not fill a board of "
            f"{counted(n_cells, 'cell')}; {advice}"
        )
    if fill or not are_known or empty >= n_pieces or EMPTY in (name for name, _, _ in pieces):
        return pieces, fill
    return ([*pieces, (EMPTY, ((0, 0, 0),), (empty, empty))] if empty else pieces), True


def _places(
    shape: Shape, cells: Iterable[Cell], name_of: Mapping[Cell, str]
) -> Iterable[list[str]]:
    """Yield the cells of every placement of a shape, in the order of its first square."""
    first, *others = shape
    steps = [(a - first[0], b - first[1], c - first[2]) for a, b, c in others]
    for cell in cells:
        a, b, c = cell
        squares = [name_of[cell]]
        for da, db, dc in steps:
            name = name_of.get((a + da, b + db, c + dc))
            if name is None:
                break
            squares.append(name)
        else:
            yield squares


# ---- descriptions of boards and pieces ------------------------------------------------------


def is_solid(cells: Iterable[Cell]) -> bool:
    """Return True if a board has several layers."""
    return any(layer > 1 for layer, _, _ in cells)


def kind_of(text: str | None, solid: bool) -> str:
    """Return the named kind, or by default that of pieces of wood."""
    if text is None:
        return ONE_SIDED if solid else FREE
    if text_of("a kind of pieces", text) not in KINDS:
        raise InputError(f"unknown kind of pieces {text[:60]!r}; choose from {', '.join(KINDS)}")
    return text


def use_of(text: str | int) -> Use:
    """Return the use that a text describes, or a number of times."""
    if isinstance(text, bool) or not isinstance(text, str | int | np.integer):
        raise InputError(f'use is a text such as "2..3", or a number, not {quoted(text)}')
    words = " ".join(str(text).split())
    if words in USES:
        return USES[words]
    match = _TIMES.fullmatch(words.removesuffix(" times"))
    if match is None:
        raise InputError(
            f"unknown use of a piece {words[:60]!r}; choose from {', '.join(USES)}, 2..3 times"
        )
    least = int(match[1])
    most = least if match[2] is None else int(match[3]) if match[3] else None
    if not max(1, least) <= (MOST_CELLS if most is None else most) <= MOST_CELLS:
        raise InputError(
            f"{words[:60]!r}: the upper bound is 1 to {MOST_CELLS:,}, and not below the lower"
        )
    return least, most


def board_cells(board: Drawing) -> list[Cell]:
    """Return the cells of a board, counted from 1, layer by layer and row by row.

    Examples
    --------
    >>> board_cells(".#/..")
    [(1, 1, 1), (1, 2, 1), (1, 2, 2)]
    """
    match = _SIZES.fullmatch(board) if isinstance(board, str) else None
    if match:
        sizes = [int(size) for size in match.groups() if size]
        layers, rows, columns = sizes if len(sizes) == 3 else (1, *sizes)
        n = layers * rows * columns
        if not 1 <= n <= MOST_CELLS:
            raise ProblemError(f"a board of {n:,} cells; 1 to {MOST_CELLS:,} are possible")
        return list(product(range(1, layers + 1), range(1, rows + 1), range(1, columns + 1)))
    cells = moved_to_corner(_marked(board, _board_mark(board), "# ", "board"))
    if len(cells) > MOST_CELLS:
        raise ProblemError(f"a board of {len(cells):,} cells; {MOST_CELLS:,} are possible")
    return [(a + 1, b + 1, c + 1) for a, b, c in cells]


def _board_mark(board: Drawing) -> str:
    """Return the character of a cell in the drawing of a board."""
    if isinstance(board, str) and "." in board:
        if "X" in board.upper():
            raise InputError("the board has both . and X; cells are one of them, and # is a hole")
        return "."
    return "X"


def piece_shape(drawing: Drawing) -> Shape:
    """Return the shape in the drawing of a piece.

    Examples
    --------
    >>> piece_shape("XX/.X")
    ((0, 0, 0), (0, 0, 1), (0, 1, 1))
    """
    return moved_to_corner(_marked(drawing, "X", ". ", "piece"))


def _marked(drawing: Drawing, mark: str, others: str, what: str) -> list[Cell]:
    """Return the marked cells of a drawing; raise for other characters than marks and blanks."""
    cells: list[Cell] = []
    if not isinstance(drawing, str):
        cells = _true_cells(drawing, what)
    else:
        layer, row = 0, 0
        for line in drawing.replace("/", "\n").replace("x", "X").splitlines():
            if not line.strip():
                layer, row = (layer + 1, 0) if row else (layer, 0)
                continue
            for column, character in enumerate(line):
                if character == mark:
                    cells.append((layer, row, column))
                elif character not in others:
                    raise InputError(f"{quoted(character)} cannot be in a {what}: {_MARKS[what]}")
            row += 1
    if not cells:
        raise InputError(f"the {what} is empty: {_MARKS[what]}")
    return cells


def _true_cells(values: npt.ArrayLike, what: str) -> list[Cell]:
    """Return where an array of 2 or 3 dimensions is true."""
    array = array_of(values, f"the {what}")
    if any(isinstance(value, str) for value in array.flat):
        raise InputError(f"a {what} is one text, or an array of booleans, not of texts")
    if array.ndim not in (2, 3):
        raise InputError(f"a {what} has 2 or 3 dimensions, not {array.ndim}")
    places: list[Any] = np.argwhere(array if array.ndim == 3 else array[None]).tolist()
    return [(a, b, c) for a, b, c in places]


_MARKS = {
    "board": "cells are . or X, holes # or blanks; or write sizes, such as 6x10",
    "piece": "squares are X, and . or blanks stand around them",
}


def named_pieces(text: str, kind: str, solid: bool) -> dict[str, Shape]:
    """Return the pieces of sets, and single pieces, named in a text with blanks or commas."""
    shapes: dict[str, Shape] = {}
    for word in text.replace(",", " ").split():
        add_pieces(shapes, known_pieces(word, kind, solid))
    return shapes


def known_pieces(word: str, kind: str, solid: bool) -> dict[str, Shape]:
    """Return the pieces of a set, or the piece of that name.

    Examples
    --------
    >>> list(known_pieces("trominoes", FREE, False))
    ['I3', 'V3']
    >>> known_pieces("I3", FREE, False)
    {'I3': ((0, 0, 0), (0, 0, 1), (0, 0, 2))}
    """
    if word in SETS:
        return named_set(word, kind, solid)
    for name, (_, cubes) in SETS.items():
        if not cubes or solid:
            pieces = named_set(name, kind, solid)
            if word in pieces:
                return {word: pieces[word]}
    raise InputError(
        f"no piece or set of pieces is called {word[:60]!r}; sets are "
        f"{', '.join(SETS)}, and pieces F, I, …, Z (of five squares), I1 to T4, 6-1, …, "
        f"reflections L4', fixed ones L4.1; draw others"
    )


def _drawn(pieces: Mapping[str, Drawing]) -> dict[str, Shape]:
    shapes: dict[str, Shape] = {}
    for name, drawing in pieces.items():
        check_name(name)
        with prefixed(f"piece {name}", InputError):
            shapes[name] = piece_shape(drawing)
    return shapes


def check_name(name: str) -> None:
    """Raise `InputError` for the name of a place, and for a text that is not a word."""
    at, rest = named_place(name)
    if not _NAME.fullmatch(name) or rest or {"r", "c"} <= at.keys():
        raise InputError(
            f"{quoted(name)} cannot name a piece: write a word without : | /, unlike r1c1 and r1#2"
        )


def add_pieces(known: dict[str, Shape], new: Mapping[str, Shape]) -> None:
    """Add pieces with new names to others."""
    for name in new:
        if name in known:
            raise InputError(f"two pieces are called {quoted(name)}; give them different names")
    known.update(new)


# ---- shapes -------------------------------------------------------------------------------


def moved_to_corner(cells: Iterable[Cell]) -> Shape:
    """Return cells in ascending order, moved so that layers, rows and columns begin with 0."""
    cells = list(cells)
    first = [min(axis) for axis in zip(*cells, strict=True)]
    return tuple(sorted((a - first[0], b - first[1], c - first[2]) for a, b, c in cells))


def orientations(shape: Shape, kind: str, solid: bool) -> list[Shape]:
    """Return the different orientations of a piece, in ascending order.

    Parameters
    ----------
    shape : Shape
    kind : str
        ``free`` pieces are turned and reflected, ``one-sided`` ones are turned, ``fixed`` ones have
        one orientation.
    solid : bool
        True to turn and reflect in space, False in the plane.

    Examples
    --------
    >>> [len(orientations(piece_shape("X./X./XX"), kind, False)) for kind in KINDS]
    [8, 4, 1]
    """
    return sorted({moved_to_corner(_moved(c, move) for c in shape) for move in _moves(kind, solid)})


_Move = tuple[tuple[int, ...], tuple[int, ...]]
"""A symmetry of the grid of cubes: the axes in their new places, and a sign for each."""


def _moved(cell: Cell, move: _Move) -> Cell:
    x, y, z = (sign * cell[axis] for axis, sign in zip(*move, strict=True))
    return x, y, z


def _reflects(axes: tuple[int, ...], signs: tuple[int, ...]) -> bool:
    swaps = sum(a > b for a, b in combinations(axes, 2))
    return (swaps + signs.count(-1)) % 2 == 1


@cache
def _moves(kind: str, solid: bool) -> list[_Move]:
    every = list(product(permutations(range(3)), product((1, -1), repeat=3)))
    if kind == FIXED:
        return [every[0]]
    allowed = [(a, s) for a, s in every if solid or (a[0], s[0]) == (0, 1)]  # flat ones
    return [move for move in allowed if kind == FREE or not _reflects(*move)]


@cache
def fixed_shapes(size: int, solid: bool) -> frozenset[Shape]:
    """Return all connected shapes of `size` squares or cubes; turned shapes are different ones.

    Examples
    --------
    >>> [len(fixed_shapes(size, False)) for size in range(1, 6)]
    [1, 2, 6, 19, 63]
    """
    if size == 1:
        return frozenset([((0, 0, 0),)])
    return frozenset(
        moved_to_corner([*shape, beside])
        for shape in fixed_shapes(size - 1, solid)
        for cell in shape
        for beside in neighbours(cell)[: 6 if solid else 4]
        if beside not in shape
    )


def neighbours(cell: Cell) -> list[Cell]:
    """Return the cells that have a side in common with a cell: first the four of its layer."""
    a, b, c = cell
    flat = [(a, b - 1, c), (a, b + 1, c), (a, b, c - 1), (a, b, c + 1)]
    return [*flat, (a - 1, b, c), (a + 1, b, c)]


def pieces(size: int, kind: str, *, cubes: bool = False) -> list[Shape]:
    """Return one shape for every piece of `size` squares or cubes, in ascending order.

    Parameters
    ----------
    size : int
    kind : str
    cubes : bool
        Polycubes, which are turned in space, instead of polyominoes.

    Examples
    --------
    >>> [len(pieces(4, kind)) for kind in KINDS]
    [5, 7, 19]
    >>> kinds = FREE, ONE_SIDED
    >>> [len(pieces(4, kind, cubes=True)) for kind in kinds]
    [7, 8]
    """
    shapes: list[Shape] = []
    seen: set[Shape] = set()
    for shape in sorted(fixed_shapes(size, cubes)):
        if shape not in seen:
            shapes.append(shape)
            seen.update(orientations(shape, kind, cubes))
    return shapes


def named_set(name: str, kind: str, solid: bool) -> dict[str, Shape]:
    """Return the pieces of a set, by name.

    Up to five squares, names are the usual letters, with the number of squares unless it is five:
    ``I4`` and ``I``. Larger pieces are numbered, ``6-1``, ``6-2``, …. If a reflection is another
    piece, one of the two has a dash, ``L4'``. Fixed pieces are numbered, ``L4.1``, ``L4.2``, ….

    Parameters
    ----------
    name : str
        One of `SETS`.
    kind : str
    solid : bool
        True for a board of several layers.

    Raises
    ------
    InputError
        If the set has cubes and the board is flat.

    Examples
    --------
    >>> list(named_set("tetrominoes", FREE, False))
    ['I4', 'L4', 'O4', 'S4', 'T4']
    >>> list(named_set("tetrominoes", ONE_SIDED, False))
    ['I4', 'L4', "L4'", 'O4', 'S4', "S4'", 'T4']
    """
    size, cubes = SETS[name]
    if cubes and not solid:
        raise InputError(f"{name} do not fit a board of one layer; name sets of squares")
    named: dict[str, Shape] = {}
    for base, drawn in _first_shapes(size, cubes).items():
        same = {orientations(s, kind, solid)[0] for s in orientations(drawn, FREE, cubes)}
        whole = orientations(drawn, kind, solid)[0]
        shapes = sorted(same, key=lambda shape: (shape != whole, shape))
        if kind == FIXED and len(shapes) > 1:
            named |= {f"{base}.{k}": shape for k, shape in enumerate(shapes, 1)}
        else:
            named |= dict(zip((base, f"{base}'"), shapes, strict=False))
    return named


@cache
def _first_shapes(size: int, cubes: bool) -> dict[str, Shape]:
    """Return the free pieces of a size by name, in the orientation of their drawing."""
    if size in _LETTERS and not cubes:
        return {name: piece_shape(drawing) for name, drawing in _LETTERS[size].items()}
    return {f"{size}-{k}": shape for k, shape in enumerate(pieces(size, FREE, cubes=cubes), 1)}


# ---- files ----------------------------------------------------------------------------------


SUFFIX = ".tiling"
BEGINNING = re.compile(r"^board\s*:", re.MULTILINE)
"""A line that no other file of a problem has."""

_HEAD = re.compile(r"(\w+)\b([^:]*):(.*)")
_KNOWN = "board, pieces, piece NAME, kind and fill"


_Section = tuple[int, str, str, str]
"""The number of the line of a section, its first word, the rest up to the colon, and the content
behind the colon or on the lines below."""


def read_tiling(text: str) -> ExactCover:
    r"""Read a board and its pieces.

    * ``board: 6x10``, or a drawing on the lines below;
    * ``pieces: pentominoes``, sets or single pieces by name, each used once unless the line is
      ``pieces at most once: …``, ``pieces any number: …`` or ``pieces 2..3 times: …``;
    * ``piece NAME:`` and a drawing, perhaps ``piece NAME at most once:``; the drawing can follow
      the colon, its rows separated by ``/``;
    * ``kind: free``, ``one-sided`` or ``fixed``, see `tiling`;
    * ``fill: no`` if cells may stay empty.

    Raises
    ------
    InputError
        If something is wrong; the message names the line.

    Examples
    --------
    >>> read_tiling("board: 2x3\npieces any number: I2\n")
    ExactCover(n_items=6, n_primary=6, n_options=7)
    >>> read_tiling("board:\n..\n.\npiece corner: XX/X\n").option_name(0)
    'corner r1c1 r1c2 r2c1'
    """
    single: dict[str, tuple[int, str]] = {}
    of_pieces: list[_Section] = []
    for line, word, rest, content in _parts(text):
        if word in ("piece", "pieces"):
            of_pieces.append((line, word, rest, content))
            continue
        if word not in ("board", "kind", "fill") or rest:
            raise InputError(
                f"line {line}: unknown keyword {f'{word} {rest}'.strip()[:60]!r}; choose from "
                f"{_KNOWN}"
            )
        if word in single:
            raise InputError(f"line {line}: a second {word}; say it once")
        single[word] = line, content
    if "board" not in single:
        raise InputError("no line is 'board:'; a tiling has a board and pieces")
    line, board = single["board"]
    with _at(line):
        cells = board_cells(board)
    solid = is_solid(cells)
    line, name = single.get("kind", (line, None))
    with _at(line):
        kind = kind_of(None if name is None else name.strip(), solid)
    line, fill = single.get("fill", (line, "yes"))
    if (fill := fill.strip()) not in ("yes", "no"):
        raise InputError(f"line {line}: fill is yes or no, not {fill[:60]!r}")
    shapes: dict[str, Shape] = {}
    pieces: list[Tile] = []
    for line, word, rest, content in of_pieces:
        with _at(line):
            if word == "piece":
                name, _, rest = rest.partition(" ")
                check_name(name)
                new = {name: piece_shape(content)}
            else:
                new = named_pieces(content, kind, solid)
                if not new:
                    raise InputError("no pieces are named")
            add_pieces(shapes, new)
            use = use_of(rest) if rest else USES["once"]
            pieces += [(name, shape, use) for name, shape in new.items()]
    return placements(cells, pieces, kind, fill=fill == "yes")


def _at(line: int) -> AbstractContextManager[None]:
    """Prefix the errors of a block with the line of a section."""
    return prefixed(f"line {line}", InputError, InputError, ProblemError)


def _parts(text: str) -> list[_Section]:
    """Return the sections of a file, each with the lines of its drawing."""
    sections: list[tuple[int, str, str, list[str]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("|"):
            continue
        if match := _HEAD.fullmatch(line.rstrip()):
            sections.append((number, match[1], " ".join(match[2].split()), [match[3].strip()]))
            continue
        if "\t" in line:
            raise InputError(f"line {number}: a tab; draw with blanks, or with # for holes")
        before, word, _, lines = sections[-1] if sections else (0, "", "", [""])
        if line.strip() and not word:
            raise InputError(
                f"line {number}: {line.strip()[:60]!r} stands before any of {_KNOWN}; "
                f"a file begins with 'board:'"
            )
        if line.strip() and lines[0]:
            raise InputError(
                f"line {number}: {line.strip()[:60]!r} follows {word!r}, which line {before} has "
                f"said already"
            )
        lines.append(line.rstrip())
    return [(number, word, rest, "\n".join(lines)) for number, word, rest, lines in sections]
