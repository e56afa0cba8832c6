"""Polyominoes and polycubes: connected squares or cubes, their orientations and their names.

Sets are generated from their definition: a shape of n squares is one of n - 1 squares and a square
beside it. A kind of pieces determines the shapes that are the same piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations, permutations, product

from batchsolve.errors import InputError

Cell = tuple[int, int, int]
"""Layer, row and column."""

Shape = tuple[Cell, ...]
"""Squares or cubes in ascending order; the first layer, row and column are 0."""

PENTOMINOES = {
    "F": ".XX XX. .X.",
    "I": "XXXXX",
    "L": "X. X. X. XX",
    "N": ".X .X XX X.",
    "P": "XX XX X.",
    "T": "XXX .X. .X.",
    "U": "X.X XXX",
    "V": "X.. X.. XXX",
    "W": "X.. XX. .XX",
    "X": ".X. XXX .X.",
    "Y": ".X XX .X .X",
    "Z": "XX. .X. .XX",
}
"""The twelve pieces of five squares, row by row."""

_LETTERS = {
    1: {"I1": "X"},
    2: {"I2": "XX"},
    3: {"I3": "XXX", "V3": "X. XX"},
    4: {"I4": "XXXX", "L4": "X. X. XX", "O4": "XX XX", "S4": ".XX XX.", "T4": "XXX .X."},
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


def drawn_shape(drawing: str) -> Shape:
    """Return the flat shape drawn by rows of ``X`` and ``.``, separated by blanks.

    Examples
    --------
    >>> drawn_shape("XX .X")
    ((0, 0, 0), (0, 0, 1), (0, 1, 1))
    """
    rows = enumerate(drawing.split())
    return moved_to_corner((0, r, c) for r, row in rows for c, x in enumerate(row) if x == "X")


def moved_to_corner(cells: Iterable[Cell]) -> Shape:
    """Return cells in ascending order, moved so that layers, rows and columns begin with 0."""
    each = list(cells)
    first = [min(axis) for axis in zip(*each, strict=True)]
    return tuple(sorted((a - first[0], b - first[1], c - first[2]) for a, b, c in each))


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
    >>> [len(orientations(drawn_shape("X. X. XX"), kind, False)) for kind in KINDS]
    [8, 4, 1]
    """
    return sorted({moved_to_corner(_moved(c, move) for c in shape) for move in _moves(kind, solid)})


_Move = tuple[tuple[int, ...], tuple[int, ...]]
"""A symmetry of the grid of cubes: the axes in their new places, and a sign for each."""


def _moved(cell: Cell, move: _Move) -> Cell:
    x, y, z = (sign * cell[axis] for axis, sign in zip(*move, strict=True))
    return x, y, z


def _reflects(axes: tuple[int, ...], signs: tuple[int, ...]) -> bool:
    swaps = sum(one > other for one, other in combinations(axes, 2))
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
    smaller = fixed_shapes(size - 1, solid)
    return frozenset(
        moved_to_corner([*shape, cell])
        for shape in smaller
        for cell in _beside(shape, solid)
        if cell not in shape
    )


def _beside(shape: Shape, solid: bool) -> Iterator[Cell]:
    for a, b, c in shape:
        yield from ((a, b - 1, c), (a, b + 1, c), (a, b, c - 1), (a, b, c + 1))
        if solid:
            yield from ((a - 1, b, c), (a + 1, b, c))


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
    found: list[Shape] = []
    seen: set[Shape] = set()
    for shape in sorted(fixed_shapes(size, cubes)):
        if shape not in seen:
            found.append(shape)
            seen.update(orientations(shape, kind, cubes))
    return found


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
    first = _first_shapes(size, cubes)
    for base, drawn in first.items():
        same = {orientations(s, kind, solid)[0] for s in orientations(drawn, FREE, cubes)}
        whole = orientations(drawn, kind, solid)[0]
        each = sorted(same, key=lambda shape: (shape != whole, shape))
        if kind == FIXED and len(each) > 1:
            named |= {f"{base}.{k}": shape for k, shape in enumerate(each, 1)}
        else:
            named |= dict(zip((base, f"{base}'"), each, strict=False))
    return named


@cache
def _first_shapes(size: int, cubes: bool) -> dict[str, Shape]:
    """Return the free pieces of a size by name, in the orientation of their drawing."""
    if size in _LETTERS and not cubes:
        return {name: drawn_shape(drawing) for name, drawing in _LETTERS[size].items()}
    each = pieces(size, FREE, cubes=cubes)
    return {f"{size}-{k}": shape for k, shape in enumerate(each, 1)}
