"""One Sudoku grid as text: characters, numbers, drawings with frames.

A grid is a line of N² characters or numbers, or N lines of N of them. Frames and comments, which
begin with ``#``, are ignored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from math import isqrt

import numpy as np
import numpy.typing as npt

from batchsolve.arrays import Bytes
from batchsolve.errors import InputError
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import (
    BLANKS,
    FINE,
    Notation,
    default_box,
    numbers,
    usual_notation,
)
from batchsolve.problems.overlaps import drawing_of, drawn_notation, split_layout
from batchsolve.problems.rules import n_regions
from batchsolve.problems.survey import MOST_PLAIN, Signs, Survey
from batchsolve.problems.variant import grid_problem
from batchsolve.settings import checked_box, text_of

_COMMENT = re.compile(r"(^|\s+)#.*")
SECTION = re.compile(r"\s*\[\w*\]\s*")
_BARS = re.compile(r"[|!+\u2500-\u257f]")
# a line of a frame has no cells; if it has a run of dashes, dots and the like can be its corners
_RULE = re.compile(r"[-=+|!\s\u2500-\u257f]*|(?=.*[-=─━═]{2})[-=+|!:.*'`,\s\u2500-\u257f]*")
_LONGEST_NUMBER = 3  # digits, because N is at most 255; longer words are rows of characters


class NoGridError(InputError):
    """The text has no grid, or several."""


Row = tuple[int, tuple[str, ...]]
"""The number of a line of a drawing, from 1, and its texts between blanks, commas and bars; the
frame is left out."""


def read_grid(
    text: str,
    box: tuple[int, int] | None = None,
    alphabet: str | None = None,
    name: str = "FILE",
    blank: str | None = None,
    rules: str | None = None,
    regions: str | None = None,
) -> tuple[GridProblem, Notation, Bytes]:
    r"""Read the one grid of a text.

    Parameters
    ----------
    text : str
    box : (int, int), optional
        Rows and columns of a box; by default from the size of the grid.
    alphabet : str, optional
        The alphabet; by default from the symbols of the grid.
    name : str
        The name of the text, which messages use to name one of its rows.
    blank : str, optional
        The characters of blank cells; by default, all of `BLANKS`.
    rules, regions : str, optional
        Rules beyond the usual; see `batchsolve.problems.variant.grid_problem`.

    Returns
    -------
    problem : GridProblem
    notation : Notation
    grid : ndarray of uint8, shape (N²,)
        Digits, 0 for blank cells.

    Raises
    ------
    NoGridError
        If the text has no grid, or several.
    InputError
        If a cell is wrong, or the alphabet cannot be decided.

    Examples
    --------
    >>> drawing = "+---+---+\n|1 .|. .|\n|. .|. 2|\n+---+---+\n|3 .|. .|\n|. .|. .|\n+---+---+"
    >>> problem, notation, grid = read_grid(drawing)
    >>> problem, notation.name, grid.tolist()
    (Sudoku(2, 2), '1-4', [1, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0, 0, 0, 0, 0])
    """
    text_of("a puzzle", text)
    box = checked_box(box, alphabet=alphabet, blank=blank, rules=rules, regions=regions)
    name_of_layout = split_layout(rules)[0]
    if (drawing := drawing_of(text)) is not None or name_of_layout:
        n = box[0] * box[1] if box else 9
        problem = grid_problem(n, box, rules, regions, drawing)
        notation = drawn_notation(n, drawing or problem.rules.drawing, alphabet, blank)
        written = "".join(text.split())
        grid, fault = notation.read(written)
        if fault != FINE:
            raise InputError(notation.explain(written, fault))
        return problem, notation, grid
    rows = _rows(text)
    # if a dash stands among cells, lines of dashes are rows of blank cells, not frames
    if any("-" in word for _, words in rows for word in words):
        rows = _rows(text, dashes_are_cells=True)
    size = box[0] * box[1] if box else n_regions(regions) if regions else None
    cells, are_words = _find_cells(rows, size, alphabet, name)
    n = isqrt(len(cells))
    notation, written = _notation(cells, are_words, n, alphabet, blank)
    # an alphabet takes one byte per cell, and control characters are trimmed like blanks
    longest = 1 if notation.symbols else _LONGEST_NUMBER
    wrong = {c for c in {*cells} if len(c) > longest or not (c.isascii() and c.isprintable())}
    if wrong:
        k = next(k for k, cell in enumerate(cells) if cell in wrong)
        raise InputError(
            f"line {_line(rows, n, k)}: row {k // n + 1}, column {k % n + 1}: "
            f"{cells[k][:20]!r} is not in the alphabet {notation.name}, nor a blank"
        )
    grid, fault = notation.read(written)
    if fault != FINE:
        where = f"line {_line(rows, n, fault)}: " if fault >= 0 else ""
        raise InputError(where + notation.explain(written, fault))
    return grid_problem(n, box, rules, regions), notation, grid


def draw_grid(problem: GridProblem, notation: Notation, grid: npt.ArrayLike) -> str:
    """Return a drawing of a grid, which `read_grid` can read if it is square.

    Lines separate the regions.

    Examples
    --------
    >>> print(draw_grid(grid_problem(4), usual_notation(4), [1, 0, 0, 0] * 4), end="")
    +-----+-----+
    | 1 . | . . |
    | 1 . | . . |
    +-----+-----+
    | 1 . | . . |
    | 1 . | . . |
    +-----+-----+
    >>> jigsaw = grid_problem(3, regions="AAB ACB CCB")
    >>> print(draw_grid(jigsaw, usual_notation(3), [1, 0, 0] * 3), end="")
    +-------+---+
    | 1   . | . |
    |   +---+   |
    | 1 | . | . |
    +---+   |   |
    | 1   . | . |
    +-------+---+
    """
    rules = problem.rules
    n_rows, n_columns = rules.extent
    blank = notation.blank if "." in notation.symbols else "."  # zeros hide the clues
    symbols = [blank, *notation.names]
    longest = max(map(len, symbols))
    digits = problem.as_grids(np.atleast_2d(grid))[0].tolist()
    written = np.full((n_rows, n_columns), " " * longest, object)
    region = np.full((n_rows + 2, n_columns + 2), -1)  # with a rim that is outside
    for cell, (r, c) in enumerate(rules.places):
        written[r, c], region[r + 1, c + 1] = symbols[digits[cell]].rjust(longest), 0
    for k, cells in enumerate(rules.regions, 1):
        for r, c in (rules.places[cell] for cell in cells):
            region[r + 1, c + 1] = k
    lying = (region[1:] != region[:-1]).tolist()
    upright = (region[:, 1:] != region[:, :-1]).tolist()
    is_open = list(map(any, zip(*upright, strict=True)))  # before a column: a line somewhere
    drawing = ""
    for r in range(n_rows + 1):
        if any(lying[r]):
            for c in range(n_columns + 1):
                if is_open[c]:
                    meeting = lying[r][c], lying[r][c + 1], upright[r][c], upright[r + 1][c]
                    drawing += " -"[lying[r][c]] * (c > 0) + _JOINTS.get(meeting, "+")
                if c < n_columns:
                    drawing += " -"[lying[r][c + 1]] * (longest + 1)
            drawing += "\n"
        if r < n_rows:
            for c in range(n_columns + 1):
                drawing += (" " * (c > 0) + " |"[upright[r + 1][c]]) * is_open[c]
                drawing += f" {written[r, c]}" if c < n_columns else "\n"
    return drawing


# lines that meet at a corner of cells, on the left, on the right, above and below
_JOINTS = {
    (False, False, False, False): " ",
    (True, True, False, False): "-",
    (False, False, True, True): "|",
}


def _rows(text: str, dashes_are_cells: bool = False) -> list[Row]:
    """Return the lines with cells, without comments and frames.

    If a dash is a blank cell, a line of dashes and bars without corners is a row of blank cells.
    """
    rows: list[Row] = []
    for number, line in enumerate(text.splitlines(), 1):
        if SECTION.fullmatch(_COMMENT.sub("", line)):
            if rows:
                break  # sections after the puzzle, such as [State], do not belong to it
            continue
        if (words := row_of_cells(line, dashes_are_cells)) is not None:
            rows.append((number, words))
    return rows


def row_of_cells(line: str, dashes_are_cells: bool = False) -> tuple[str, ...] | None:
    """Return the texts of a line between blanks, commas and bars; None for a frame or a comment."""
    line = _COMMENT.sub("", line)
    is_blank = dashes_are_cells and "-" in line and not set(line) - set("-|! \t,;")
    if not is_blank and _RULE.fullmatch(line):
        return None
    fields = re.split("[,;]", _BARS.sub(" ", line))
    # a spreadsheet leaves blank cells empty
    return tuple(chain.from_iterable(field.split() or ["."] for field in fields))


def _find_cells(
    rows: Sequence[Row], size: int | None, alphabet: str | None, name: str
) -> tuple[list[str], bool]:
    """Return the N² cells, and True if they are words, False if they are characters."""
    if not rows:
        raise NoGridError("no grid, only comments, frames or blank lines")
    words = [words for _, words in rows]
    characters = [tuple("".join(line)) for line in words]
    is_short = all(len(word) <= _LONGEST_NUMBER for line in words for word in line)
    for lines in (words, characters) if is_short else (characters,):
        n = _size(lines)
        if n is None or not (n == size if size else default_box(n)):
            continue
        if lines is words or alphabet is not None or usual_notation(n).symbols:
            if size is None and _can_be_several(words):
                raise NoGridError(
                    f"one grid of {n}×{n} cells, or {n} smaller ones, one a line; name its `box`, "
                    f"or name one by its row, as in {name}#1"
                )
            return list(chain.from_iterable(lines)), lines is words
    n_words, n_characters = (sum(map(len, lines)) for lines in (words, characters))
    lines = words if n_characters < 2 * n_words else characters
    _check_widths(rows, lines, size)
    raise NoGridError(_why_no_grid(lines, size, name))


def _can_be_several(lines: Sequence[Sequence[str]]) -> bool:
    """Return True if the digits of N lines of N characters allow N smaller grids, too."""
    root = isqrt(len(lines))
    if any(len(line) > 1 for line in lines) or root**2 != len(lines) or not default_box(root):
        return False
    used = {symbol for line in lines for word in line for symbol in word} - set(BLANKS)
    return bool(used) and used <= set(usual_notation(root).symbols)


def _size(lines: Sequence[Sequence[str]]) -> int | None:
    """Return N for N lines of N cells or one line of N², otherwise None."""
    width = len(lines[0])
    if any(len(line) != width for line in lines):
        return None
    if len(lines) == width:
        return width
    return isqrt(width) if len(lines) == 1 and isqrt(width) ** 2 == width else None


def _check_widths(rows: Sequence[Row], lines: Sequence[Sequence[str]], size: int | None) -> None:
    """Raise `InputError` if one line of a grid is too short or too long."""
    width = _usual_width(lines)
    if len(lines) == width and size in (None, width):
        for (number, _), line in zip(rows, lines, strict=True):
            if len(line) != width:
                raise InputError(f"line {number}: {len(line)} cells where most lines have {width}")


def _usual_width(lines: Sequence[Sequence[str]]) -> int:
    return Counter(map(len, lines)).most_common(1)[0][0]


def _why_no_grid(lines: Sequence[Sequence[str]], size: int | None, name: str) -> str:
    """Return the reason why lines of cells do not form a grid of N × N cells."""
    n_lines = len(lines)
    width = _usual_width(lines)
    root = isqrt(width)
    if n_lines > 1 and root**2 == width and (root == size if size else default_box(root)):
        return f"{n_lines:,} grids, one a line; name one by its row, as in {name}#1"
    n = _size(lines)
    if n is not None and size is not None:
        return f"a grid of {n}×{n} cells; boxes of {size} cells make {size}×{size}"
    if n is not None:
        return f"a grid of {n}×{n} cells has no usual boxes; name its `box`"
    shape = f"a line of {width} cells" if n_lines == 1 else f"{n_lines} lines of {width} cells"
    cells = f"N = {size}" if size else "such as 9 or 16"
    return f"no grid: {shape}; expected N lines of N cells, or a line of N², {cells}"


def _notation(
    cells: Sequence[str], are_words: bool, n: int, alphabet: str | None, blanks: str | None
) -> tuple[Notation, str]:
    """Choose the notation of one grid; return it, and the cells as text in that notation."""
    n_letters = sum(len(cell) == 1 and cell.isalpha() for cell in cells) if are_words else 0
    n_long = sum(len(cell) > 1 for cell in cells) if are_words else 0
    are_numbers = are_words and (n_long > n_letters or (n > 9 and n_letters == 0))
    text = " ".join(cells)
    if alphabet is not None:
        notation = Notation.from_name(alphabet, n, blanks)
        if notation.symbols and are_words and n_long > n_letters:
            return Signs(alphabet, blanks).notation(_survey_of(text, blanks), n), text
        return notation, "".join(cells) if notation.symbols else text
    if are_numbers:
        first = _survey_of(text, blanks).first_digit(n)
        return numbers(n, first=first).with_blanks(blanks), text
    # the caller reports cells that no alphabet has
    symbols = {c if len(c) == 1 and c.isascii() else "." for c in {*cells}}
    return _notation_with("".join(sorted(symbols)), n, blanks), "".join(cells)


@lru_cache
def _notation_with(symbols: str, n: int, blanks: str | None) -> Notation:
    """Return the notation of a grid with these symbols, one for each cell."""
    survey = _survey_of(symbols.ljust(n * n, symbols[-1]), blanks)
    return survey.notation_or_usual(n, most=MOST_PLAIN)


def _survey_of(text: str, blanks: str | None) -> Survey:
    survey = Survey(blanks)
    survey.add(text)
    return survey


def _line(rows: Sequence[Row], n: int, cell: int) -> int:
    return rows[0 if len(rows) == 1 else cell // n][0]
