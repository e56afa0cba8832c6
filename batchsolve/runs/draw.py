"""Drawings of covers: `draw`, and the pages that the command ``draw`` writes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from batchsolve.errors import InputError, counted
from batchsolve.formats.pictures.boards import Board
from batchsolve.formats.pictures.svg import Drawing, as_svg, drawn, page, sheet
from batchsolve.formats.whole_files import write_whole
from batchsolve.problems.exact_cover import ExactCover, option_numbers
from batchsolve.problems.grids import GridProblem
from batchsolve.runs.reading import Puzzle, Reading, reading_of
from batchsolve.settings.arguments import path_of, text_of

FORMATS = ("svg", "html")
MOST_CELLS = 5_000_000  # in all drawings of a file together; some hundred megabytes


@dataclass(frozen=True, eq=False)
class Picture:
    """One or several drawings, for a notebook or a file.

    Attributes
    ----------
    title : str
        The title, by default the name of the problem.

    Examples
    --------
    >>> picture = draw("dominoes:2x2", [0, 3])
    >>> picture
    Picture('dominoes:2x2', 1 drawing, 86 x 86)
    >>> picture.svg.count("bs-piece")
    3
    """

    title: str
    _drawings: Sequence[Drawing] = field(repr=False)

    def __repr__(self) -> str:
        whole = sheet(self._drawings)
        n = counted(len(self._drawings), "drawing")
        return f"Picture({self.title!r}, {n}, {whole.width} x {whole.height})"

    @property
    def svg(self) -> str:
        """The text of an SVG file."""
        return as_svg(sheet(self._drawings), self.title)

    @property
    def html(self) -> str:
        """The text of a self-contained HTML file: a page to look through."""
        return page(self._drawings, self.title, self._drawings[0].about)

    def _repr_svg_(self) -> str:
        """Show the drawing in a notebook."""
        return self.svg

    def _repr_html_(self) -> str:
        """Show the drawing in a notebook."""
        return f"<div>{self.svg}</div>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file; it appears when it is complete.

        Parameters
        ----------
        path : str or path
            ``.svg``, or ``.html``.

        Raises
        ------
        InputError
            If the path has another suffix.
        OutputError
            If the file cannot be written.
        """
        write_whole(path, self.as_format(format_of(path)))

    def as_format(self, form: str) -> str:
        """Return the text of a file in one of `FORMATS`."""
        return self.svg if form == "svg" else self.html


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format, one of `FORMATS`, that the suffix of a file names.

    Examples
    --------
    >>> format_of("tiling.html")
    'html'
    """
    name = path_of("the picture", path)
    suffix = os.path.splitext(name.lower())[1]
    if suffix[1:] not in FORMATS:
        raise InputError(f"{name}: drawings are .svg or .html files, not {suffix or 'without end'}")
    return suffix[1:]


def draw(problem: Puzzle, cover: Iterable[int] = (), *, title: str | None = None) -> Picture:
    """Draw a cover of a problem.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    cover : iterable of int
        The options of a cover, as `solutions` yields them, or of a part of one. By default the
        clues that were read, or the empty board.
    title : str, optional
        The title; by default the name of the problem.

    Returns
    -------
    Picture
        ``svg`` is its text, ``save`` writes a file, and a notebook shows it.

    Raises
    ------
    ProblemError
        If the options are not a partial cover, or the problem cannot be drawn. Grids can be
        drawn, and so can a problem whose items have names of places: ``r2c5`` is the cell in row 2
        and column 5, and ``l3r2c5`` the one in layer 3; ``s4`` is the fourth place of a line; an
        option with a row ``r2`` and a column ``c5`` marks the square where they cross. The cells
        of an option are drawn as a piece, named after its first item that is not a cell.

    Examples
    --------
    >>> import batchsolve as bs
    >>> cover = next(bs.solutions("langford:3"))
    >>> bs.draw("langford:3", cover)
    Picture('langford:3', 1 drawing, 246 x 46)
    >>> draw(ExactCover.from_options([["a"]]))
    Traceback (most recent call last):
        ...
    batchsolve.errors.ProblemError: the problem cannot be drawn: it has no items called r1c1, ...
    """
    reading = reading_of(problem)
    options = option_numbers(cover) or reading.stack.tolist()
    drawing = drawn(reading.problem, options, reading.stack.tolist(), reading.notation)
    return Picture(text_of("a title", title or reading.name), [drawing])


def draw_all(reading: Reading, covers: Sequence[Iterable[int]], board: Board | None) -> Picture:
    """Draw several covers of a problem.

    Parameters
    ----------
    reading : Reading
    covers : sequence of iterables of int
        One or more.
    board : Board or None
        The result of `board_of`.
    """
    clues = reading.stack.tolist()
    drawings = [drawn(reading.problem, cover, clues, reading.notation, board) for cover in covers]
    return Picture(reading.name, drawings)


def board_of(problem: ExactCover, n_drawings: int = 1) -> Board | None:
    """Return the board to draw a problem on; None for a grid, which needs none.

    Parameters
    ----------
    problem : ExactCover
    n_drawings : int
        Number of drawings wanted in one file.

    Raises
    ------
    ProblemError
        If the problem cannot be drawn.
    InputError
        If the drawings are too many for one file.
    """
    if isinstance(problem, GridProblem):
        board, cells = None, problem.n_cells
    else:
        board = Board.of(problem)
        cells = len(board.places)
    if cells * n_drawings > MOST_CELLS:
        raise InputError(
            f"{counted(n_drawings, 'drawing')} of {counted(cells, 'cell')} are too many for one "
            f"file; {MOST_CELLS // cells:,} are possible"
        )
    return board
