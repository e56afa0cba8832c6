"""Drawings as SVG: a board with its pieces, a grid with its digits, several of them on a sheet.

A drawing follows the light or dark colours of the page that it stands on. It needs no fonts, no
scripts and no network, and is as wide as its container, up to `WIDEST` pixels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape as escape_marks
from math import ceil, sqrt

import numpy as np

from batchsolve.errors import counted
from batchsolve.pictures.boards import Board, BoardPiece, Filling, Place, PlaceKind, colored
from batchsolve.pictures.outlines import Cell, inner_lines, middle, outline, parts
from batchsolve.problems.exact_cover import ExactCover, option_numbers
from batchsolve.problems.notation import Notation, usual_notation
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku

CELL = 40  # units; a unit is a pixel, unless the drawing is scaled
MARGIN = 3  # for half an outline
GAP = 24  # between layers, and between drawings on a sheet
CAPTION = 26  # height
WIDEST = 720  # pixels; upper bound of the width of a drawing
MOST_TOOLTIPS = 200  # pieces; more names would be most of a file
SIDE_BY_SIDE = 18  # cells of layers in a row
DIGIT, LABEL, SMALLEST = 0.56, 0.46, 0.18  # sizes of letters, as parts of a cell

_Part = tuple[BoardPiece, str, list[Cell]]  # a piece, its colour, its cells in one layer

_UNFIT = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")

STYLE = (
    ".bs-cell{fill:#fff}.bs-empty{fill:#e9ecf0}.bs-dark{fill:#d5dae1}.bs-mark{fill:#b4461e;stroke:#4d1c09}"
    ".bs-line{fill:none;stroke:#a5abb3}.bs-seam{fill:none;stroke:#000;stroke-opacity:.16}"
    ".bs-piece{stroke:#1b1f24;stroke-width:3;stroke-linejoin:round;fill-rule:evenodd}"
    ".bs-board{fill-rule:evenodd}"
    ".bs-frame{fill:none;stroke:#1b1f24;stroke-width:3;stroke-linejoin:round}"
    ".bs-text{fill:#111}.bs-digit{fill:#1358b8}.bs-clue{fill:#111;font-weight:700}"
    ".bs-note{fill:#767c85}"
    "@media(prefers-color-scheme:dark){"
    ".bs-cell{fill:#20252b}.bs-empty{fill:#2a3037}.bs-dark{fill:#39414a}.bs-mark{fill:#f0915c;stroke:#4d1c09}"
    ".bs-line{stroke:#59616b}.bs-frame{stroke:#c3c9d1}.bs-digit{fill:#8cbcff}.bs-clue{fill:#f2f4f6}"
    "}"
)


@dataclass(frozen=True)
class Drawing:
    """The shapes of a drawing.

    Attributes
    ----------
    width, height : int
        In units.
    shapes : str
        Elements of SVG.
    about : str
        A description of the picture, for screen readers.
    """

    width: int
    height: int
    shapes: str
    about: str


def drawn(
    problem: ExactCover,
    cover: Iterable[int] = (),
    clues: Iterable[int] = (),
    notation: Notation | None = None,
    board: Board | None = None,
) -> Drawing:
    """Draw a cover, or a part of one.

    Parameters
    ----------
    problem : ExactCover
    cover : iterable of int
        Options; none draws the empty board.
    clues : iterable of int
        For a grid: those of the options that were given.
    notation : Notation, optional
        For a grid: how digits are written.
    board : Board, optional
        The board of the problem, if it is known already.

    Raises
    ------
    ProblemError
        If the options are not a partial cover, or the problem cannot be drawn; see `Board.of`.

    Examples
    --------
    >>> from batchsolve.problems.families import dominoes
    >>> drawn(dominoes(2, 2), [0, 3])
    Drawing(width=86, height=86, ...2 pieces on 4 cells')
    """
    options = option_numbers(cover)
    problem.check_stack(options)
    if isinstance(problem, Sudoku):
        return _grid(problem, options, clues, notation or usual_notation(problem.n_digits))
    board = board or Board.of(problem)
    return _board(board, board.filled(options))


def as_svg(drawing: Drawing, title: str, *, style: bool = True) -> str:
    """Return a drawing as SVG.

    Parameters
    ----------
    drawing : Drawing
    title : str
        The title, which only screen readers and tooltips show.
    style : bool
        True to include the colours; a page with many drawings needs them once.
    """
    width = min(drawing.width, WIDEST)
    height = round(drawing.height * width / drawing.width, 2)
    said = escape(f"{title}: {drawing.about}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawing.width} {drawing.height}" '
        f'width="{width}" height="{height:g}" style="max-width:100%;height:auto" role="img" '
        f'font-family="sans-serif" text-anchor="middle"><title>{said}</title>'
        f"{f'<style>{STYLE}</style>' if style else ''}{drawing.shapes}</svg>\n"
    )


def sheet(drawings: Sequence[Drawing]) -> Drawing:
    """Return several drawings of one size as one, with a number above each.

    Examples
    --------
    >>> one = Drawing(100, 50, "", "a board")
    >>> sheet([one] * 4).about
    '4 drawings, each a board'
    """
    if len(drawings) == 1:
        return drawings[0]
    width = max(drawing.width for drawing in drawings)
    height = max(drawing.height for drawing in drawings) + CAPTION
    columns = max(1, min(len(drawings), round(sqrt(len(drawings) * height / width))))
    rows = ceil(len(drawings) / columns)
    shapes = []
    for k, drawing in enumerate(drawings):
        row, column = divmod(k, columns)
        x, y = column * (width + GAP), row * (height + GAP)
        shapes.append(_note(x + drawing.width / 2, y + 18, str(k + 1)))
        shapes.append(_moved(x, y + CAPTION, drawing.shapes))
    about = f"{len(drawings)} drawings, each {drawings[0].about}"
    return Drawing(columns * (width + GAP) - GAP, rows * (height + GAP), "".join(shapes), about)


# ---- boards ---------------------------------------------------------------------------------


def _board(board: Board, filling: Filling) -> Drawing:
    """Draw a board layer by layer."""
    n_layers, wide, high = len(board.layers), board.columns * CELL, board.rows * CELL
    is_line = board.kind is PlaceKind.PLACES
    across = 1 if is_line else max(1, min(n_layers, SIDE_BY_SIDE // (board.columns + 1)))
    captions = n_layers > 1 and not is_line
    step_x, step_y = wide + GAP, high + (GAP if n_layers > 1 else 0) + captions * CAPTION
    tooltips = len(filling.pieces) <= MOST_TOOLTIPS
    cells = _by_layer(board, board.places)
    pieces: dict[int, list[_Part]] = {layer: [] for layer in board.layers}
    for piece, fill in zip(filling.pieces, colored(filling.pieces, board.labels), strict=True):
        for layer, its in _by_layer(board, piece.places).items():
            pieces[layer].append((piece, fill, its))
    letters = {layer: dict[Cell, str]() for layer in board.layers}
    for place, letter in filling.letters.items():
        [(layer, [cell])] = _by_layer(board, [place]).items()
        letters[layer][cell] = letter
    shapes = []
    for k, layer in enumerate(board.layers):
        row, column = divmod(k, across)
        if board.kind is PlaceKind.SQUARES:
            body = _marks(cells[layer], pieces[layer])
        else:
            body = _layer(cells[layer], pieces[layer], letters[layer], tooltips)
        x, y = MARGIN + column * step_x, MARGIN + row * step_y
        if captions:
            shapes.append(_note(x + wide / 2, y + 18, f"layer {layer}"))
        shapes.append(_moved(x, y + captions * CAPTION, body))
    n_rows = ceil(n_layers / across)
    width = across * step_x - GAP + 2 * MARGIN
    height = n_rows * step_y - (GAP if n_layers > 1 else 0) + 2 * MARGIN
    about = f"{counted(len(filling.pieces), 'piece')} on {counted(len(board.places), 'cell')}"
    return Drawing(width, height, "".join(shapes), about)


def _by_layer(board: Board, places: Iterable[Place]) -> dict[int, list[Cell]]:
    """Return the cells of each layer, from 0."""
    top, left = board.top_left
    found: dict[int, list[Cell]] = {}
    for layer, row, column in places:
        found.setdefault(layer, []).append((row - top, column - left))
    return found


def _layer(cells: list[Cell], pieces: list[_Part], letters: dict[Cell, str], tooltips: bool) -> str:
    covered = {cell for *_, its in pieces for cell in its}
    frame = outline(cells, CELL)
    seams = "".join(inner_lines(its, CELL) for *_, its in pieces)
    return "".join(
        [
            f'<path class="bs-empty bs-board" d="{frame}"/>',
            _path("bs-line", inner_lines([cell for cell in cells if cell not in covered], CELL)),
            *(_piece(fill, its, piece.name if tooltips else "") for piece, fill, its in pieces),
            _path("bs-frame", frame),
            _path("bs-seam", seams),
            *(
                _letters(middle(part), piece.label, LABEL, "bs-text")
                for piece, _, its in pieces
                for part in parts(its)
            ),
            *(_letters(cell, letter, LABEL, "bs-clue") for cell, letter in sorted(letters.items())),
        ]
    )


def _piece(fill: str, cells: list[Cell], name: str) -> str:
    """Return a piece as one path, so that no seam is seen between its cells."""
    shape = f'<path class="bs-piece" fill="{fill}" d="{outline(cells, CELL)}"'
    return f"{shape}><title>{escape(name)}</title></path>" if name else f"{shape}/>"


def _marks(cells: list[Cell], pieces: list[_Part]) -> str:
    """Return squares, every other one darker, and marks on some of them."""
    frame = outline(cells, CELL)
    dark = "".join(outline([cell], CELL) for cell in sorted(cells) if sum(cell) % 2)
    discs = [
        f'<circle class="bs-mark" cx="{c * CELL + CELL // 2}" cy="{r * CELL + CELL // 2}" '
        f'r="{CELL * 0.32:g}" stroke-width="2"/>'
        for *_, its in pieces
        for r, c in its
    ]
    squares = [f'<path class="bs-cell bs-board" d="{frame}"/>', _path("bs-dark", dark)]
    return "".join([*squares, _path("bs-frame", frame), *discs])


# ---- grids ----------------------------------------------------------------------------------


def _grid(problem: Sudoku, options: list[int], clues: Iterable[int], notation: Notation) -> Drawing:
    """Draw the digits of a grid, clues bold."""
    n, side = problem.n_digits, problem.n_digits * CELL
    symbols = ["", *notation.names]
    digits = problem.grids(Stacks.from_lists([options]))[0].reshape(n, n)
    given = problem.grids(Stacks.from_lists([[*map(int, clues)]]))[0].reshape(n, n) > 0
    n_clues = int(np.count_nonzero(given))
    lines, boxes = "", ""
    for k in range(1, n):
        across, down = f"M0 {k * CELL}h{side}", f"M{k * CELL} 0v{side}"
        lines += (across if k % problem.box_rows else "") + (
            down if k % problem.box_columns else ""
        )
        boxes += ("" if k % problem.box_rows else across) + (
            "" if k % problem.box_columns else down
        )
    shapes = [
        f'<path class="bs-cell" d="M0 0h{side}v{side}h-{side}z"/>',
        _path("bs-line", lines),
        _path("bs-frame", f"{boxes}M0 0h{side}v{side}h-{side}z"),
    ]
    for r, c in np.argwhere(digits).tolist():
        how = "bs-clue" if given[r, c] else "bs-digit"
        shapes.append(_letters((r, c), symbols[digits[r, c]], DIGIT, how))
    size = side + 2 * MARGIN
    about = f"a grid of {n}×{n} with {counted(len(options), 'digit')}"
    about += f", {n_clues} of them given" if n_clues else ""
    return Drawing(size, size, _moved(MARGIN, MARGIN, "".join(shapes)), about)


# ---- elements -------------------------------------------------------------------------------


def escape(text: str) -> str:
    r"""Return a text escaped for XML; characters that XML cannot hold are replaced.

    Examples
    --------
    >>> escape("a<b") + escape("\0").replace("\ufffd", "?")
    'a&lt;b?'
    """
    return escape_marks(_UNFIT.sub("\ufffd", text))


def _path(how: str, d: str) -> str:
    return f'<path class="{how}" d="{d}"/>' if d else ""


def _letters(cell: Cell, text: str, size: float, how: str) -> str:
    """Return a text in a cell; nothing if it is too long to be read."""
    size = min(size, 1.45 / max(len(text), 1))
    if not text or size < SMALLEST:
        return ""
    x, y = (cell[1] + 0.5) * CELL, (cell[0] + 0.5 + 0.36 * size) * CELL
    return (
        f'<text class="{how}" x="{x:g}" y="{y:g}" font-size="{size * CELL:g}">{escape(text)}</text>'
    )


def _note(x: float, y: float, text: str) -> str:
    return f'<text class="bs-note" x="{x:g}" y="{y:g}" font-size="16">{escape(text)}</text>'


def _moved(x: float, y: float, shapes: str) -> str:
    return f'<g transform="translate({x:g} {y:g})">{shapes}</g>'
