"""Heat maps: the share of all solutions that have a digit, a piece or a border at a place.

* A cell of a grid shows its digits, and a cell of a board the labels of its pieces: the stronger,
  the more solutions have them, and large if all have.
* A square where rows and columns cross is the darker the more solutions mark it, compared with the
  darkest.
* A line between two cells is the darker the more solutions have different pieces there. A cell that
  some solutions leave empty is the darker the more of them cover it.

Tooltips have the numbers of solutions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import ceil, isqrt

from batchsolve.errors import counted
from batchsolve.pictures.boards import SQUARES, Board, Place
from batchsolve.pictures.outlines import Cell, outline
from batchsolve.pictures.svg import (
    CELL,
    DIGIT,
    MARGIN,
    Drawing,
    by_layers,
    escape,
    ground,
    letters_in,
    moved,
)
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import Notation, usual_notation

FAINTEST = 0.25  # strength of a candidate that hardly any solution has
HOT = "#d2521c"
MOST_LABELS = 36  # that can be read in a cell


def heat_map(
    problem: ExactCover,
    uses: Sequence[int],
    count: int,
    clues: Iterable[int] = (),
    notation: Notation | None = None,
    board: Board | None = None,
) -> Drawing:
    """Draw a heat map of all solutions.

    Parameters
    ----------
    problem : ExactCover
    uses : sequence of int
        The number of solutions with each option.
    count : int
        The number of all solutions, 1 or more.
    clues, notation, board
        As for `drawn`.

    Examples
    --------
    >>> from batchsolve.problems.families import dominoes
    >>> heat_map(dominoes(2, 2), [1, 1, 1, 1], 2)
    Drawing(width=86, height=86, ...2 solutions on 4 cells')
    """
    if isinstance(problem, GridProblem):
        notation = notation or usual_notation(problem.n_digits)
        return _grid(problem, uses, count, {*map(int, clues)}, notation)
    return _board(board or Board.of(problem), uses, count)


def _board(board: Board, uses: Sequence[int], count: int) -> Drawing:
    held, joined = Counter[Place](), Counter[tuple[Place, Place]]()
    labels = {place: Counter[str]() for place in board.places}
    for o, n in enumerate(uses):
        for piece in board.filled([o])[0] if n else ():
            held.update(dict.fromkeys(piece.places, n))
            joined.update(dict.fromkeys(_neighbours(piece.places), n))
            for place in piece.places:
                labels[place][piece.label] += n
    is_squares = board.kind == SQUARES
    darkest = max(held.values(), default=1) if is_squares else count
    names = [] if is_squares or len(board.labels) > MOST_LABELS else list(board.labels)
    top, left = board.top_left

    def at(place: Place) -> Cell:
        return place[1] - top, place[2] - left

    def body(layer: int, cells: list[Cell]) -> str:
        places = sorted(place for place in board.places if place[0] == layer)
        frame = outline(cells, CELL)
        shapes = [f'<path class="bs-cell bs-board" d="{frame}"/>']
        for place in places:
            if is_squares or held[place] < count:
                d = outline([at(place)], CELL)
                paint = f'fill="{HOT}" fill-opacity="{held[place] / darkest:.3f}"'
                shapes.append(_with_tooltip("path", f'{paint} d="{d}"', held[place], count))
        for one, other in _neighbours(places):
            (r, c), apart = at(other), count - joined[one, other]
            line = f"M{c * CELL} {r * CELL}" + (f"h{CELL}" if one[1] < other[1] else f"v{CELL}")
            if is_squares:
                shapes.append(f'<path class="bs-line" d="{line}"/>')
            elif apart:
                stroke = f'class="bs-frame" stroke-opacity="{apart / count:.3f}"'
                shapes.append(_with_tooltip("path", f'{stroke} d="{line}"', apart, count))
        for place in places:
            shapes += _candidates(at(place), names, [labels[place][each] for each in names], count)
        return "".join([*shapes, f'<path class="bs-frame" d="{frame}"/>'])

    about = f"{counted(count, 'solution')} on {counted(len(board.places), 'cell')}"
    return by_layers(board, body, about)


def _neighbours(places: Iterable[Place]) -> list[tuple[Place, Place]]:
    """Return the pairs of places that meet in a layer: above and below, left and right."""
    known = set(places)
    pairs = [(one, (one[0], one[1] + 1, one[2])) for one in known]
    pairs += [(one, (one[0], one[1], one[2] + 1)) for one in known]
    return sorted(pair for pair in pairs if pair[1] in known)


def _grid(
    problem: GridProblem, uses: Sequence[int], count: int, clues: set[int], notation: Notation
) -> Drawing:
    """Draw the digits of a grid; clues are bold."""
    n, shapes = problem.n_digits, [ground(problem.rules)]
    for k, cell in enumerate(problem.rules.places):
        options = range(k * n, (k + 1) * n)  # one for each digit
        style = "bs-digit" if clues.isdisjoint(options) else "bs-clue"
        shapes += _candidates(cell, notation.names, [uses[o] for o in options], count, style)
    rows, columns = problem.rules.extent
    about = f"{counted(count, 'solution')} of a grid of {rows}×{columns}"
    size = columns * CELL + 2 * MARGIN, rows * CELL + 2 * MARGIN
    return Drawing(*size, moved(MARGIN, MARGIN, "".join(shapes)), about)


def _candidates(
    cell: Cell, names: Sequence[str], uses: Sequence[int], count: int, style: str = "bs-digit"
) -> Iterator[str]:
    """Yield the names that some solutions have in a cell, at different places."""
    side = isqrt(max(len(names), 1) - 1) + 1
    rows = ceil(len(names) / side)
    for k, (name, n) in enumerate(zip(names, uses, strict=True)):
        if n == count:
            yield letters_in(cell, name, DIGIT, style)
        elif n:
            size = min(0.8, 1.45 / len(name)) / side
            x = cell[1] + (k % side + 0.5) / side
            y = cell[0] + (k // side + 0.5) / rows + 0.36 * size
            strength = FAINTEST + (1 - FAINTEST) * n / count
            at = f'x="{x * CELL:g}" y="{y * CELL:g}" font-size="{size * CELL:g}"'
            shown = f'class="{style}" {at} fill-opacity="{strength:.3f}"'
            yield _with_tooltip("text", shown, n, count, name)


def _with_tooltip(element: str, attributes: str, n: int, count: int, text: str = "") -> str:
    """Return an element whose tooltip has its number of solutions."""
    title = f"<title>{n:,} of {count:,} ({n / count:.1%})</title>"
    return f"<{element} {attributes}>{title}{escape(text)}</{element}>"
