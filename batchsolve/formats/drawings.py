"""One Sudoku grid: read from a text, and drawn as one.

See `batchsolve.formats.grid_texts` for the forms of texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from math import isqrt

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Bytes
from batchsolve.errors import BatchsolveError, InputError, wrong_kind
from batchsolve.formats import grid_texts
from batchsolve.formats.rule_texts import RuleReader
from batchsolve.problems.exact_cover import check_kind
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import FINE, Notation, check_blanks, default_box
from batchsolve.problems.rules import n_regions
from batchsolve.problems.sudoku import chosen_problem, drawing_of, drawn_notation, split_layout
from batchsolve.problems.survey import Form, Signs
from batchsolve.settings.arguments import Box, checked_box


def read_grid(
    text: str,
    box: Box | None = None,
    alphabet: str | None = None,
    name: str = "",
    blank: str | None = None,
    rules: str | None = None,
    regions: str | None = None,
    problem: GridProblem | None = None,
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
        The name of the file, which messages use to name one of its rows.
    blank : str, optional
        The characters of blank cells; by default, all of `BLANKS`.
    rules, regions : str, optional
        Rules beyond the usual; see `batchsolve.problems.sudoku.grid_problem`.
    problem : GridProblem, optional
        The problem of the empty grid, in place of the box, the rules and the regions.

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
    if not isinstance(text, str):
        raise InputError(f"a puzzle is text, {wrong_kind(text)}")
    box = checked_box(box, alphabet=alphabet, blank=blank, rules=rules, regions=regions)
    check_blanks(blank)
    size = box[0] * box[1] if box else None
    if problem is not None:
        check_kind(problem, GridProblem)
        size = problem.n_digits
    name_of_layout = split_layout(rules)[0]
    if (drawing := drawing_of(text)) is not None or name_of_layout:
        n = size or 9
        problem = chosen_problem(problem, n, box, rules, regions, drawing)
        notation = drawn_notation(n, drawing or problem.rules.drawing, alphabet, blank)
        return problem, notation, notation.read("".join(text.split()))
    size = size or (n_regions(regions) if regions else None)
    rows = grid_texts.rows_of(grid_texts.without_fields(text), size, name)
    if groups := grid_texts.candidates_of(rows):
        rows = [(1, tuple(grid_texts.clues_of(groups)))]
    cells, are_words = _find_cells(rows, size, alphabet, name)
    n = isqrt(len(cells))
    notation, written = _notation(cells, are_words, n, alphabet, blank)
    # an alphabet takes one byte per cell, and control characters are trimmed like blanks
    longest = 1 if notation.symbols else grid_texts.LONGEST_NUMBER
    wrong = {c for c in {*cells} if len(c) > longest or not (c.isascii() and c.isprintable())}
    if wrong:
        k = next(k for k, cell in enumerate(cells) if cell in wrong)
        raise InputError(
            f"{_line(rows, n, k)}row {k // n + 1}, column {k % n + 1}: "
            f"{cells[k][:20]!r} is not in the alphabet {notation.name}, nor a blank"
        )
    [grid], [fault] = notation.encode(written)
    if fault != FINE:
        where = _line(rows, n, fault) if fault >= 0 else ""
        raise InputError(where + notation.explain(written, fault))
    problem = chosen_problem(problem, n, box, rules, regions, None)
    if groups:
        reader = RuleReader(n)
        for cell in np.flatnonzero(grid == 0).tolist():
            reader.mark(cell, map(int, groups[cell]))
        problem = GridProblem(reader.on(problem.rules))
    return problem, notation, grid


def is_grid(text: str) -> bool:
    """Return True if a text that names no file is that of one grid, perhaps with a wrong cell.

    Examples
    --------
    >>> is_grid("1.....2..3.....4"), is_grid("1.....2..3.....5"), is_grid("puzzles_2024.csv")
    (True, True, False)
    """
    try:
        read_grid(text)
    except grid_texts.NoGridError:
        return False
    except BatchsolveError:
        # a name has two letters side by side that differ; one letter may be the blank
        return not re.search(r"([a-z])(?!\1)[a-z]", text)
    return True


def draw_grid(problem: GridProblem, notation: Notation, grid: npt.ArrayLike) -> str:
    """Return a drawing of a grid, which `read_grid` can read if it is square.

    Lines separate the regions.

    Examples
    --------
    >>> from batchsolve.problems.notation import usual_notation
    >>> from batchsolve.problems.sudoku import grid_problem
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
    texts = np.full((n_rows, n_columns), " " * longest, object)
    region = np.full((n_rows + 2, n_columns + 2), -1)  # with a rim that is outside
    for cell, (r, c) in enumerate(rules.places):
        texts[r, c], region[r + 1, c + 1] = symbols[digits[cell]].rjust(longest), 0
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
                drawing += f" {texts[r, c]}" if c < n_columns else "\n"
    return drawing


# lines that meet at a corner of cells, on the left, on the right, above and below
_JOINTS = {
    (False, False, False, False): " ",
    (True, True, False, False): "-",
    (False, False, True, True): "|",
}


def _find_cells(
    rows: Sequence[grid_texts.Row], size: int | None, alphabet: str | None, name: str
) -> tuple[list[str], bool]:
    """Return the N² cells, and True if they are words, False if they are characters."""
    if not rows:
        raise grid_texts.NoGridError("no grid, only comments, frames or blank lines")
    lines, are_words, n = grid_texts.cells_of(rows, size, any_size=alphabet is not None)
    if n is None:
        raise _why_no_grid(rows, lines, size, name)
    are_single = len(rows) > 1 and all(len(words) == 1 for _, words in rows)
    if size is None and are_single and grid_texts.are_grids(words[0] for _, words in rows):
        raise grid_texts.SeveralGridsError(
            f"one grid of {n}×{n} cells, or {n} smaller ones, one a line; name its `box`, "
            f"or {grid_texts.one_of(name)}"
        )
    return list(chain.from_iterable(lines)), are_words


def _why_no_grid(
    rows: Sequence[grid_texts.Row], lines: Sequence[Sequence[str]], size: int | None, name: str
) -> InputError:
    """Return the error that lines of cells do not form a grid of N × N cells."""
    n_lines = len(lines)
    width = Counter(map(len, lines)).most_common(1)[0][0]
    if n_lines == width and (width == size if size else width > 3):  # fewer have no usual boxes
        for (number, _), line in zip(rows, lines, strict=True):
            if len(line) != width:
                return InputError(f"line {number}: {len(line)} cells where most lines have {width}")
    names = (cell for cell in lines[0] if len(cell) > 1 and not cell.lstrip("-").isdecimal())
    root = 0 if any(names) else isqrt(width)
    if n_lines > 1 and root**2 == width and (root == size if size else default_box(root)):
        several = f"{n_lines:,} grids, one a line; {grid_texts.one_of(name)}"
        return grid_texts.SeveralGridsError(several)
    n = grid_texts.size_of(lines)
    if n is not None and size is not None:
        return grid_texts.NoGridError(
            f"a grid of {n}×{n} cells; boxes of {size} cells make {size}×{size}"
        )
    if n is not None:
        return grid_texts.NoGridError(f"a grid of {n}×{n} cells has no usual boxes; name its `box`")
    shape = f"a line of {width} cells" if n_lines == 1 else f"{n_lines} lines of {width} cells"
    cells = f"N = {size}" if size else "such as 9 or 16"
    advice = "" if name or n_lines > 1 else "; solve_file reads files"
    return grid_texts.NoGridError(
        f"no grid: {shape}; expected N lines of N cells, or a line of N², {cells}{advice}"
    )


def _notation(
    cells: Sequence[str], are_words: bool, n: int, alphabet: str | None, blanks: str | None
) -> tuple[Notation, str]:
    """Choose the notation of one grid; return it, and the cells as text in that notation."""
    are_numbered, signs = are_words and grid_texts.are_numbers(cells), Signs(alphabet, blanks)
    if alphabet is not None:
        notation = Notation.from_name(alphabet, n, blanks)
        if not (notation.symbols and are_numbered and any(len(cell) > 1 for cell in cells)):
            return notation, ("" if notation.symbols else " ").join(cells)
    text = known = (" " if are_numbered else "").join(cells)
    if not are_numbered and (len(text) != len(cells) or not text.isascii()):
        # the caller reports cells that no alphabet has
        known = "".join(cell if len(cell) == 1 and cell.isascii() else "." for cell in cells)
    return signs.notation_of(known, Form(n, are_numbered)), text


def _line(rows: Sequence[grid_texts.Row], n: int, cell: int) -> str:
    """Return the line of a cell, as a message begins; none of a grid in one line."""
    return f"line {rows[cell // n][0]}: " if len(rows) > 1 else ""
