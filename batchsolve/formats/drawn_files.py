"""Grids drawn over several lines of a file: one or many, with titles, frames and sections.

A *row* of a drawing is a line of N cells: characters, or numbers with blanks or commas between
them. N rows make a grid. Frames and comments are left out; other lines are titles. Of files in
sections, as SadMan's, the section ``[Puzzle]`` has the grid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import isqrt
from typing import NamedTuple

from batchsolve.formats.drawings import SECTION, row_of_cells
from batchsolve.problems.notation import BLANKS, default_box, usual_notation

CELL = re.compile(r"\d{1,3}|[A-Z]|[.*_?·x-]")
"""The text of a cell that is not empty."""

_MOST = 36  # cells of a row; longer lines are grids of their own
_MOST_IN_BOX = 6  # cells of a row of a box
_OTHER_BLANKS = "?x·"  # which an option has to name
_PUZZLE = "[puzzle]"


class DrawnForm(NamedTuple):
    """The form of the drawings of a file, as the first of them has it.

    Attributes
    ----------
    n : int
        The cells of a row, and the rows of a grid.
    has_dashes : bool
        True if dashes are blank cells, and not frames alone.
    has_gaps : bool
        True if blank lines stand below each row of boxes of a grid; otherwise they end one.
    """

    n: int
    has_dashes: bool
    has_gaps: bool


@dataclass
class DrawnGrid:
    """One grid of a file: its title, empty if it has none, and the cells of its rows."""

    title: str = ""
    rows: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The cells, as text in one line."""
        are_long = any(len(cell) > 1 for row in self.rows for cell in row)
        return (" " if are_long else "").join(cell for row in self.rows for cell in row)


def form_of_drawing(text: str) -> DrawnForm | None:
    r"""Return the form of the grids of a text that begins with a drawn one, else None.

    Examples
    --------
    >>> form_of_drawing("Grid 01\n12..\n3...\n....\n...4\n").n
    4
    >>> form_of_drawing("1.....2..3.....4\n" * 16)  # grids of one line each
    """
    lines = text.splitlines()
    has_dashes = any("-" in word for line in lines for word in row_of_cells(line) or ())
    n, gaps = 0, set[int]()  # the rows above blank lines
    rows: list[tuple[str, ...]] = []
    for line in lines:
        if SECTION.fullmatch(line):
            continue
        if (words := row_of_cells(line, has_dashes)) is None:
            gaps |= {len(rows)} if not line.strip() else set()
            continue
        before, n = n, len(_cells_below(words, n) if rows else _cells(words))
        if rows and n != before:
            if len(rows) > 1:
                return None
            rows.clear()  # a title may look like a row
            gaps.clear()
        if n:
            rows.append(words)
            if len(rows) == n:
                if are_grids("".join(words) for words in rows):
                    return None
                height, _ = default_box(n) or (1, n)
                return DrawnForm(n, has_dashes, gaps.issuperset(range(height, n, height)))
    return None


def drawn_grids(text: str, form: DrawnForm) -> Iterator[DrawnGrid]:
    r"""Yield the grids that are drawn in a text, in their order.

    Nothing is left out: a row with other than N cells, or a grid with too few rows, is in a
    malformed grid. A row with a wrong cell stays a row, so that the next grid begins where it does.

    Examples
    --------
    >>> text = "Grid 01\n+--+--+\n|12|..|\n|3.|..|\n+--+--+\n|..|..|\n|..|.4|\n"
    >>> [grid] = drawn_grids(text, form_of_drawing(text))
    >>> grid.title, grid.text
    ('Grid 01', '12..3.........4')
    """
    here, is_puzzle = DrawnGrid(), True
    for line in text.splitlines():
        if SECTION.fullmatch(line):
            is_puzzle = line.strip().lower() == _PUZZLE
            continue
        words = row_of_cells(line, form.has_dashes) if is_puzzle else None
        cells: tuple[str, ...] = ()
        if words:
            cells = _cells_below(words, form.n) if here.rows else _cells(words)
        is_row = bool(here.rows and cells) or len(cells) == form.n
        is_title = words is not None and not is_row
        is_gap = not form.has_gaps and not line.strip()
        if here.rows and (is_title or is_gap):
            yield here
            here = DrawnGrid()
        if is_title:
            here = DrawnGrid(line.strip())
        elif is_row:
            here.rows.append(cells)
            if len(here.rows) == form.n:
                yield here
                here = DrawnGrid()
    if here.rows:
        yield here


def are_grids(rows: Iterable[str]) -> bool:
    """Return True if each of N rows of N cells has only digits of a smaller grid, or blanks.

    Then it is such a grid, in one line.

    Examples
    --------
    >>> are_grids(["1.....2..3.....4"] * 16), are_grids(["53..7...."] * 9)
    (True, False)
    """
    lines = list(rows)
    n = isqrt(len(lines))
    blanks = set(BLANKS + _OTHER_BLANKS)
    return n * n == len(lines) and set("".join(lines)) - blanks <= set(usual_notation(n).symbols)


def _cells(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the cells of a row of any usual length; none of another line."""
    for cells in _ways_to_read(words):
        if len(cells) <= _MOST and default_box(len(cells)) and all(map(CELL.fullmatch, cells)):
            return cells
    return ()


def _cells_below(words: tuple[str, ...], n: int) -> tuple[str, ...]:
    """Return the cells of a row below others, which may have wrong ones or another length."""
    for cells in _ways_to_read(words):
        if len(cells) == n or all(map(CELL.fullmatch, cells)):
            return cells
    return ()


def _ways_to_read(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the words of a line, and its characters if it is one word or the rows of boxes."""
    yield words
    # rows of boxes are short and equally long; others are fields of a table
    are_of_boxes = len({len(word) for word in words}) == 1 and len(words[0]) <= _MOST_IN_BOX
    if len(words) == 1 or are_of_boxes:
        yield tuple("".join(words))
