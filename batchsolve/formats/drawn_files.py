"""Grids drawn over several lines of a file: one or many, with titles, frames and sections.

A *row* of a drawing is a line of N cells: characters, or numbers with blanks or commas between
them. N rows make a grid. Lines of a frame, blank lines and comments part nothing; other lines are
titles. Of files in sections, as SadMan's, the section ``[Puzzle]`` has the grid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from batchsolve.formats.drawings import SECTION, can_be_several, row_of_cells
from batchsolve.problems.notation import default_box

_CELL = re.compile(r"\d{1,3}|[A-Z]|[.*_?·x-]")
_MOST = 36  # cells of a row; longer lines are grids of their own
_PUZZLE = "[puzzle]"


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


def side_of_drawn(text: str) -> int:
    r"""Return N if a text begins with a drawn grid, and 0 if it does not.

    Examples
    --------
    >>> side_of_drawn("Grid 01\n12..\n3...\n....\n...4\n")
    4
    >>> side_of_drawn("1.....2..3.....4\n" * 16)  # grids of one line each
    0
    """
    dashes, n = _has_dashes(text), 0
    rows: list[tuple[str, ...]] = []
    for line in text.splitlines():
        if SECTION.fullmatch(line) or (words := row_of_cells(line, dashes)) is None:
            continue
        before, n = n, len(_cells(words))
        if rows and n != before:
            if len(rows) > 1:
                return 0
            rows.clear()  # a title may look like a row
        if n:
            rows.append(words)
            if len(rows) == n:
                return 0 if can_be_several(rows) else n
    return 0


def drawn_grids(text: str, n: int) -> Iterator[DrawnGrid]:
    r"""Yield the grids of N × N cells that are drawn in a text, in their order.

    Nothing is left out: rows of another length, and grids with too few rows, are malformed grids.

    Examples
    --------
    >>> text = "Grid 01\n+--+--+\n|12|..|\n|3.|..|\n+--+--+\n|..|..|\n|..|.4|\n"
    >>> [grid] = drawn_grids(text, 4)
    >>> grid.title, grid.text
    ('Grid 01', '12..3.........4')
    """
    dashes, here, is_puzzle = _has_dashes(text), DrawnGrid(), True
    for line in text.splitlines():
        if SECTION.fullmatch(line):
            is_puzzle = line.strip().lower() == _PUZZLE
        elif is_puzzle and (words := row_of_cells(line, dashes)) is not None:
            cells = _cells(words)
            if not cells or (not here.rows and len(cells) != n):
                if here.rows:
                    yield here
                here = DrawnGrid(line.strip())
                continue
            here.rows.append(cells)
            if len(here.rows) == n:
                yield here
                here = DrawnGrid()
    if here.rows:
        yield here


def _has_dashes(text: str) -> bool:
    """Return True if a dash stands among cells: then lines of dashes are rows of blank cells."""
    rows = map(row_of_cells, text.splitlines())
    return any("-" in word for row in rows for word in row or ())


def _cells(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the cells of a row: its words, or their characters; none of another line."""
    are_even = len({len(word) for word in words}) == 1  # or they are fields of a table
    for cells in (words, tuple("".join(words)) if are_even else ()):
        fits = 0 < len(cells) <= _MOST and default_box(len(cells)) is not None
        if fits and all(map(_CELL.fullmatch, cells)):
            return cells
    return ()
