"""Drawings as SVG: a board with its pieces, a grid with its digits, several on a sheet or a page.

A drawing follows the light or dark colours of the page that it stands on. It needs no fonts, no
scripts and no network, and is as wide as its container, up to `WIDEST` pixels.

A page of HTML needs no network either. A page of drawings shows one of them large and all of them
small; arrow keys and buttons go from one to the next. Without scripts it is a list of all drawings.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape as escape_marks
from math import atan2, ceil, degrees, sqrt
from pathlib import Path
from string import Template
from unicodedata import east_asian_width

from batchsolve.errors import counted, printable
from batchsolve.formats.pictures.boards import (
    PLACES,
    SQUARES,
    Board,
    BoardPiece,
    Cell,
    Place,
    colored,
    inner_lines,
    middle,
    outline,
    parts,
)
from batchsolve.problems.exact_cover import ExactCover, option_numbers
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import Notation, usual_notation
from batchsolve.problems.rules import Rules
from batchsolve.problems.stacks import Stacks

CELL = 40  # units; a unit is a pixel, unless the drawing is scaled
MARGIN = 3  # for half an outline
INSET = 4  # of the lines around cages
GAP = 24  # between layers, and between drawings on a sheet
CAPTION = 26  # height
WIDEST = 720  # pixels; upper bound of the width of a drawing
MOST_TOOLTIPS = 200  # pieces; more names would be most of a file
SIDE_BY_SIDE = 18  # cells of layers in a row
DIGIT, LABEL, SMALLEST = 0.56, 0.46, 0.18  # sizes of letters, as parts of a cell

UNMARKED = ("apart", "undotted", "unlettered")  # relations where no mark stands

_Part = tuple[BoardPiece, str, list[Cell]]  # a piece, its colour, its cells in one layer

_UNFIT = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def text_beside(module: str, name: str) -> str:
    """Return the text of a file that lies beside a module."""
    return Path(module).with_name(name).read_text(encoding="utf-8")


def filled(module: str, template: str, **parts: str) -> str:
    """Return the text of a template that lies beside a module, with its blanks filled."""
    return Template(text_beside(module, template)).substitute(parts)


STYLE = "".join(text_beside(__file__, "drawing.css").splitlines())
"""The colours of drawings."""

PAGE_STYLE = f"{STYLE}\n{text_beside(__file__, 'page.css')}"
"""The style of pages with drawings."""


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
        For a grid: the given options.
    notation : Notation, optional
        For a grid: the symbols of digits.
    board : Board, optional
        The board of the problem; by default it is found from the names of items.

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
    if isinstance(problem, GridProblem):
        return _grid(problem, options, clues, notation or usual_notation(problem.n_digits))
    board = board or Board.of(problem)
    return _board(board, *board.filled(options))


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
    description = escape(f"{title}: {drawing.about}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawing.width} {drawing.height}" '
        f'width="{width}" height="{height:g}" style="max-width:100%" role="img" '
        f'font-family="sans-serif" text-anchor="middle"><title>{description}</title>'
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
    width, height = drawings[0].width, drawings[0].height + CAPTION
    across = max(1, min(len(drawings), round(sqrt(len(drawings) * height / width))))
    about = f"{len(drawings)} drawings, each {drawings[0].about}"
    return _side_by_side(drawings, [str(k + 1) for k in range(len(drawings))], across, about)


def _side_by_side(
    drawings: Sequence[Drawing], captions: Sequence[str], across: int, about: str
) -> Drawing:
    """Return drawings of one size as one, some in a row, each below its caption, if it has one."""
    if len(drawings) == 1:
        return drawings[0]
    above = CAPTION if captions else 0
    width, height = drawings[0].width + GAP, drawings[0].height + above + GAP
    shapes = []
    for k, drawing in enumerate(drawings):
        row, column = divmod(k, across)
        x, y = column * width, row * height
        if captions:
            shapes.append(_text("bs-note", x + drawing.width / 2, y + 18, 16, captions[k]))
        shapes.append(_moved(x, y + above, drawing.shapes))
    rows = ceil(len(drawings) / across)
    return Drawing(across * width - GAP, rows * height - GAP, "".join(shapes), about)


# ---- boards ---------------------------------------------------------------------------------


def _board(board: Board, filling: list[BoardPiece], marks: dict[Place, str]) -> Drawing:
    """Draw the pieces and letters of a board."""
    tooltips = len(filling) <= MOST_TOOLTIPS
    pieces: dict[int, list[_Part]] = {layer: [] for layer in board.layers}
    for piece, fill in zip(filling, colored(filling, board.labels), strict=True):
        for layer, its in _by_layer(board, piece.places).items():
            pieces[layer].append((piece, fill, its))
    letters = {layer: dict[Cell, str]() for layer in board.layers}
    for place, letter in marks.items():
        [(layer, [cell])] = _by_layer(board, [place]).items()
        letters[layer][cell] = letter

    about = f"{counted(len(filling), 'piece')} on {counted(len(board.places), 'cell')}"
    size = board.columns * CELL + 2 * MARGIN, board.rows * CELL + 2 * MARGIN
    layers = []
    for layer, cells in sorted(_by_layer(board, board.places).items()):
        if board.kind == SQUARES:
            shapes = _marks(cells, pieces[layer])
        else:
            shapes = _layer(cells, pieces[layer], letters[layer], tooltips)
        layers.append(Drawing(*size, _moved(MARGIN, MARGIN, shapes), about))
    if board.kind == PLACES:
        return _side_by_side(layers, (), 1, about)
    across = max(1, min(len(layers), SIDE_BY_SIDE // (board.columns + 1)))
    return _side_by_side(layers, [f"layer {layer}" for layer in board.layers], across, about)


def _by_layer(board: Board, places: Iterable[Place]) -> dict[int, list[Cell]]:
    """Return the cells of each layer, from 0."""
    top, left = board.top_left
    cells: dict[int, list[Cell]] = {}
    for layer, row, column in places:
        cells.setdefault(layer, []).append((row - top, column - left))
    return cells


def _layer(cells: list[Cell], pieces: list[_Part], letters: dict[Cell, str], tooltips: bool) -> str:
    covered = {cell for *_, its in pieces for cell in its}
    frame, seams = outline(cells, CELL), "".join(inner_lines(its, CELL) for *_, its in pieces)
    empty = inner_lines([cell for cell in cells if cell not in covered], CELL)
    shapes = [f'<path class="bs-empty bs-board" d="{frame}"/>', _path("bs-line", empty)]
    shapes += [_piece(fill, its, piece.name if tooltips else "") for piece, fill, its in pieces]
    shapes += [_path("bs-frame", frame), _path("bs-seam", seams)]
    for piece, _, its in pieces:
        shapes += [_letters_in(middle(part), piece.label, LABEL, "bs-text") for part in parts(its)]
    for cell, letter in sorted(letters.items()):
        short = letter if _fitting_size(letter) >= SMALLEST else f"{letter[:4]}…"
        shapes.append(_letters_in(cell, short, LABEL, "bs-clue"))
    return "".join(shapes)


def _piece(fill: str, cells: list[Cell], name: str) -> str:
    """Return a piece as one path, without seams between its cells."""
    shape = f'<path class="bs-piece" fill="{fill}" d="{outline(cells, CELL)}"'
    return f"{shape}><title>{escape(name)}</title></path>" if name else f"{shape}/>"


def _marks(cells: list[Cell], pieces: list[_Part]) -> str:
    """Return squares, every other one darker, and marks on some of them."""
    frame = outline(cells, CELL)
    dark = "".join(outline([cell], CELL) for cell in sorted(cells) if sum(cell) % 2)
    discs = [
        _disc("bs-mark", (c + 0.5) * CELL, (r + 0.5) * CELL, 0.32)
        for *_, its in pieces
        for r, c in its
    ]
    squares = [f'<path class="bs-cell bs-board" d="{frame}"/>', _path("bs-dark", dark)]
    return "".join([*squares, _path("bs-frame", frame), *discs])


# ---- grids ----------------------------------------------------------------------------------


def _grid(
    problem: GridProblem, options: list[int], clues: Iterable[int], notation: Notation
) -> Drawing:
    """Draw the digits of a grid, clues bold, over its rules."""
    digits, given = problem.grids(Stacks.from_lists([options, [*map(int, clues)]])).tolist()
    return grid_drawing(problem, digits, given, notation)


def grid_drawing(
    problem: GridProblem,
    digits: Sequence[int],
    given: Sequence[int],
    notation: Notation,
    wrong: Collection[int] = (),
) -> Drawing:
    """Draw the digits of a grid over its rules, which the digits may violate.

    Parameters
    ----------
    problem : GridProblem
    digits, given : sequence of int
        The digit and the clue of each cell, or 0.
    notation : Notation
    wrong : collection of int
        Cells to mark.
    """
    symbols = ["", *notation.names]
    n_digits, n_clues = (sum(digit > 0 for digit in values) for values in (digits, given))
    shapes = [_ground(problem.rules, tuple(notation.names))]
    places = problem.rules.places
    for cell, (place, digit, clue) in enumerate(zip(places, digits, given, strict=True)):
        if cell in wrong:
            d = outline([place], CELL, INSET)
            shapes.append(f'<path fill="#b4461e" fill-opacity=".25" d="{d}"/>')
        shapes.append(_letters_in(place, symbols[digit], DIGIT, "bs-clue" if clue else "bs-digit"))
    rows, columns = problem.rules.extent
    about = f"a grid of {rows}×{columns} with {counted(n_digits, 'digit')}"
    about += f", {n_clues} of them given" if n_clues else ""
    about += f", {len(wrong)} of them wrong" if wrong else ""
    size = columns * CELL + 2 * MARGIN, rows * CELL + 2 * MARGIN
    return Drawing(*size, _moved(MARGIN, MARGIN, "".join(shapes)), about)


@lru_cache(maxsize=16)
def _ground(rules: Rules, names: Sequence[str]) -> str:
    """Draw the rules of a grid.

    Regions have thick outlines, other houses and groups are shaded, or a line if they are
    diagonal. Two cells that differ and lie apart, and relations that hold where there is *no* mark,
    are not drawn.
    """

    def places(cells: Iterable[int]) -> list[Cell]:
        return [rules.places[cell] for cell in cells]

    regions = set(rules.regions)
    groups = [group for group in rules.groups if len(group) > 2 or len(parts(places(group))) == 1]
    areas, diagonals = [], ""
    for cells in [*rules.houses, *groups]:
        step = rules.step(cells)
        if step in ((1, 1), (1, -1)):
            diagonals += _diagonal(sorted(places(cells)))
        elif cells not in regions and (step is None or cells not in rules.houses):
            areas.append(places(cells))
    # cells that lie apart are known by their hue
    labels = [str(k) if len(parts(area)) > 1 else "" for k, area in enumerate(areas)]
    pieces = [
        BoardPiece(tuple((0, *place) for place in area), label, "")
        for area, label in zip(areas, labels, strict=True)
    ]
    colors = colored(pieces, {label: k for k, label in enumerate(labels)})
    border = outline(rules.places, CELL)
    shapes = [f'<path class="bs-cell bs-board" d="{border}"/>']
    for area, color in zip(areas, colors, strict=True):
        shapes.append(f'<path class="bs-shade" fill="{color}" d="{outline(area, CELL)}"/>')
    shapes += _marked(rules, names)
    cages = [places(cage.cells) for cage in rules.cages]
    frames = [outline(places(region), CELL) for region in rules.regions]
    shapes += [
        _path("bs-line", inner_lines(rules.places, CELL)),
        _path("bs-diagonal", diagonals),
        _path("bs-cage", "".join(outline(cage, CELL, INSET) for cage in cages)),
        _path("bs-frame", "".join(frames) + border),
    ]
    for cage in rules.cages:
        shapes.append(_small(min(places(cage.cells)), 0.14, 0.29, "start", str(cage.total)))
    shapes += [_sign(rules.places[a], rules.places[b], kind) for a, b, kind in rules.pairs]
    return "".join(shapes)


def _diagonal(places: list[Cell]) -> str:
    """Return the line through diagonal cells, from corner to corner."""
    (top, begin), (bottom, end) = places[0], places[-1]
    columns = (begin, end + 1) if begin < end else (begin + 1, end)
    return f"M{columns[0] * CELL} {top * CELL}L{columns[1] * CELL} {(bottom + 1) * CELL}"


def _marked(rules: Rules, names: Sequence[str]) -> Iterator[str]:
    """Yield the marks of cells: a square for even digits, a disc for odd ones, or the digits."""
    all_digits = (1 << rules.n_digits) - 1
    odd = sum(1 << digit for digit in range(0, rules.n_digits, 2))
    allowed: dict[int, int] = {}
    for cell, mask in rules.marks:
        allowed[cell] = allowed.get(cell, all_digits) & mask
    for cell, mask in allowed.items():
        r, c = rules.places[cell]
        if mask == all_digits & ~odd:
            yield _path("bs-dark", outline([(r, c)], CELL, 6))
        elif mask == odd:
            yield _disc("bs-dark", (c + 0.5) * CELL, (r + 0.5) * CELL, 0.38)
        elif mask != all_digits:
            digits = "".join(name for d, name in enumerate(names) if mask >> d & 1)
            yield _small((r, c), 0.5, 0.93, "middle", digits)


def _sign(first: Cell, second: Cell, relation: str) -> str:
    """Return the mark between two cells for the relation of their digits; a line for others."""
    if relation in UNMARKED:
        return ""
    (r, c), (down, right) = first, (second[0] - first[0], second[1] - first[1])
    x, y = (c + right / 2 + 0.5) * CELL, (r + down / 2 + 0.5) * CELL
    mark = ""
    if relation in ("consecutive", "double"):
        mark = _disc("bs-white" if relation == "consecutive" else "bs-black", x, y, 0.13)
    elif relation in ("v", "x"):
        mark = _disc("bs-cell", x, y, 0.2) + _text("bs-clue", x, y + 5, 14, relation.upper())
    elif relation == "less":
        turned = f"translate({x:g} {y:g}) rotate({degrees(atan2(down, right)):g})"
        sign = f'<path class="bs-sign" transform="{turned}" d="M4 -6L-4 0L4 6"/>'
        mark = _disc("bs-cell", x, y, 0.2) + sign
    if mark and abs(down) + abs(right) == 1:
        return mark
    ends = f"M{(c + 0.5) * CELL:g} {(r + 0.5) * CELL:g}l{right * CELL} {down * CELL}"
    return _path("bs-diagonal", ends) + mark


# ---- pages of HTML --------------------------------------------------------------------------


def page(drawings: Sequence[Drawing], title: str, note: str) -> str:
    """Return a page of HTML that shows drawings.

    Parameters
    ----------
    drawings : sequence of Drawing
        One or more.
    title : str
        The subject of the drawings.
    note : str
        A line below the title.

    Examples
    --------
    >>> text = page([Drawing(80, 40, "", "a board")] * 2, "dominoes:1x2", "both")
    >>> text.count("<figure>"), "http" in text.replace("http://www.w3.org/2000/svg", "")
    (2, False)
    """
    several = len(drawings) > 1
    figures = "".join(
        f"<figure>{as_svg(drawing, f'{title}, drawing {k}' if several else title, style=False)}"
        f"{f'<figcaption>{k}</figcaption>' if several else ''}</figure>\n"
        for k, drawing in enumerate(drawings, 1)
    )
    script = f"<script>\n{text_beside(__file__, 'page.js')}</script>\n" if several else ""
    return html_page(
        f"{title}: {counted(len(drawings), 'drawing')}",
        PAGE_STYLE,
        f"<h1>{escape(title)}</h1>\n<p>{escape(note)}</p>\n"
        f"{text_beside(__file__, 'viewer.html') if several else ''}"
        f'<main id="{"all" if several else "one"}">\n{figures}</main>\n'
        f"{script}",
    )


def html_page(title: str, style: str, body: str) -> str:
    """Return a page of HTML that needs no other file: a title in plain text, CSS, and its body."""
    return filled(__file__, "page.html", title=escape(title), style=style, body=body)


def text_table(lines: Sequence[Sequence[str]]) -> str:
    """Return a table as text: the first column on the left, all others on the right.

    Examples
    --------
    >>> print(text_table([["", "rows"], ["train", "1,000"], ["test", "7"]]))
            rows
    train  1,000
    test       7
    """
    cells = [list(map(printable, line)) for line in lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if k else text.ljust(width)
            for k, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def html_table(lines: Sequence[Sequence[str]]) -> str:
    """Return a table as HTML; the first line holds the heads."""
    heads, *rows = ([escape(text) for text in line] for line in lines)
    body = "".join(f"<tr>{''.join(f'<td>{text}</td>' for text in row)}</tr>\n" for row in rows)
    head = "".join(f"<th>{text}</th>" for text in heads)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>\n"


# ---- elements -------------------------------------------------------------------------------


def escape(text: str) -> str:
    r"""Return a text escaped for XML; characters that XML cannot hold are replaced.

    Examples
    --------
    >>> escape("a<b") + escape("\0").replace("\ufffd", "?")
    'a&lt;b?'
    """
    return escape_marks(_UNFIT.sub("\ufffd", text))


def _path(style: str, d: str) -> str:
    return f'<path class="{style}" d="{d}"/>' if d else ""


def _text(style: str, x: float, y: float, size: float, text: str, anchor: str = "") -> str:
    """Return a text whose foot stands at a point."""
    place = f'x="{x:g}" y="{y:g}" font-size="{size:g}"'
    place += f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{style}" {place}>{escape(text)}</text>'


def _letters_in(cell: Cell, text: str, size: float, style: str) -> str:
    """Return a text in a cell; nothing if it is too long to be read."""
    size = min(size, _fitting_size(text))
    if not text or size < SMALLEST:
        return ""
    y = (cell[0] + 0.5 + 0.36 * size) * CELL
    return _text(style, (cell[1] + 0.5) * CELL, y, size * CELL, text)


def _small(cell: Cell, x: float, y: float, anchor: str, text: str) -> str:
    """Return a small text at a point of a cell, in parts of its side."""
    size = min(0.22, _fitting_size(text))
    return _text("bs-small", (cell[1] + x) * CELL, (cell[0] + y) * CELL, size * CELL, text, anchor)


def _fitting_size(text: str) -> float:
    """Return the largest size of letters, as a part of a cell, at which a text fits into one."""
    are_wide = (letter in "MW@mw" or east_asian_width(letter) in "WF" for letter in text)
    return 1 / max(1, sum(1 if is_wide else 0.69 for is_wide in are_wide))


def _disc(style: str, x: float, y: float, radius: float) -> str:
    return f'<circle class="{style}" cx="{x:g}" cy="{y:g}" r="{radius * CELL:g}"/>'


def _moved(x: float, y: float, shapes: str) -> str:
    """Return shapes moved to the right and down."""
    return f'<g transform="translate({x:g} {y:g})">{shapes}</g>'
