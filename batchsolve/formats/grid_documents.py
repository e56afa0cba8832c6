r"""JSON documents of many puzzles of one kind, such as those of ``puzzlekit-dataset``.

A document names its kind, and has each puzzle and its solution as text: the numbers of rows and
columns, a line of words for the cells of each row, and for some kinds more such lines::

    {"name": "JigsawSudoku", "data": {"1": {"problem": "2 2\n- 1\n- -\n1 1\n2 2", "solution": ""}}}

They become columns of a table: puzzles, and rules as `batchsolve.tables.rule_columns` reads them.
Lines that do not fit become a text that makes their row invalid. See
https://github.com/SmilingWayne/puzzlekit-dataset.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from batchsolve.errors import InputError, prefixed, quoted
from batchsolve.formats.json_records import loads
from batchsolve.problems.sudoku import LAYOUTS

Lines = Sequence[Sequence[str]]
Columns = dict[str, str]

_BEGINNING = re.compile(
    rb'\s*\{(?:[^{}\[\]]*,)?\s*"data"\s*:\s*\{\s*"[^"]*"\s*:\s*\{\s*"problem"\s*:\s*"'
)


def is_grid_document(head: bytes) -> bool:
    """Return True if this is the beginning of a document of puzzles."""
    return _BEGINNING.match(head) is not None


def read_grid_document(data: bytes) -> dict[str, list[str]]:
    """Return the puzzles of a document as columns of a table; see `is_grid_document`.

    Raises
    ------
    InputError
        If the content is not such a document, or its kind is not supported.

    Examples
    --------
    >>> grid = "2 2 / 1 E / - -".replace(" / ", chr(10))
    >>> puzzles = {"a": {"problem": grid, "solution": ""}}
    >>> import json
    >>> read_grid_document(json.dumps({"name": "EvenOddSudoku", "data": puzzles}).encode())
    {'id': ['a'], 'puzzle': ['1...'], 'marks': ['.e..'], 'solution': ['']}
    """
    text = data.decode("utf-8-sig")
    with prefixed("is not JSON", InputError, ValueError):
        document = loads(text)
    name, puzzles = document.get("name"), document["data"]
    if not isinstance(name, str) or name not in _KINDS:
        raise InputError(
            f"holds puzzles of the kind {quoted(name)}, which is not supported; supported kinds: "
            f"{', '.join(_KINDS)}"
        )
    rows = [
        {
            "id": key,
            **_KINDS[name](*_size_and_lines(_text(one, "problem"))),
            "solution": _solved(name, _text(one, "solution")),
        }
        for key, one in puzzles.items()
    ]
    names = list(dict.fromkeys(column for row in rows for column in row if column != "solution"))
    return {column: [row.get(column, "") for row in rows] for column in (*names, "solution")}


def _text(puzzle: Any, field: str) -> str:
    """Return a field of a puzzle of a document; empty if it is missing."""
    return str(puzzle[field]) if isinstance(puzzle, dict) and field in puzzle else ""


def _size_and_lines(text: str) -> tuple[int, Lines]:
    """Return the number of rows, or 0, and the words of the lines below it."""
    head, *lines = [line.split() for line in text.strip().splitlines()] or [[]]
    is_size = len(head) == 2 and all(re.fullmatch("[0-9]{1,3}", word) for word in head)
    return (int(head[0]) if is_size else 0), lines


def _solved(name: str, text: str) -> str:
    if not text.strip():
        return ""
    n, lines = _size_and_lines(text)
    layout = _LAYOUT_OF.get(name)
    return _in_layout(layout, lines) if layout else _cells(n, lines)


def _fits(lines: Lines, n_rows: int, n_columns: int) -> bool:
    return len(lines) == n_rows and all(len(line) == n_columns for line in lines)


def _joined(lines: Lines, n_rows: int, n_columns: int) -> str:
    """Return the words of lines as one text; lines that do not fit become a malformed grid."""
    if not _fits(lines, n_rows, n_columns):
        return " / ".join(map(" ".join, lines)) or "/"
    words = [word for line in lines for word in line]
    is_short = max(map(len, words), default=0) == 1
    return ("" if is_short else " ").join(words)


def _cells(n: int, lines: Lines) -> str:
    """Return a grid: digits as characters, numbers of more digits with blanks between them."""
    text = _joined([["." if word == "-" else word for word in line] for line in lines], n, n)
    return " ".join(text) if n > 9 and " " not in text else text


def _sudoku(n: int, lines: Lines) -> Columns:
    return {"puzzle": _cells(n, lines)}


def _jigsaw(n: int, lines: Lines) -> Columns:
    return {"puzzle": _cells(n, lines[:n]), "regions": _joined(lines[n:], n, n)}


def _killer(n: int, lines: Lines) -> Columns:
    """Read a sum in one cell of each cage, then the cages."""
    numbers, cages = lines[:n], [["." if a == "-" else a for a in line] for line in lines[n:]]
    if not _fits(numbers, n, n):
        return {"puzzle": _cells(n, numbers), "cages": "", "sums": ""}
    sums: dict[str, list[str]] = {}
    for labels, words in zip(cages, numbers, strict=False):
        for label, word in zip(labels, words, strict=False):
            if label != "." or word != "-":  # a sum outside of cages is one for a cage "."
                sums.setdefault(label, []).extend([] if word == "-" else [word])
    each = [f"{label}={total}" for label, found in sums.items() for total in found or ["?"]]
    return {"puzzle": "." * n * n, "cages": _joined(cages, n, n), "sums": " ".join(each)}


def _even_odd(n: int, lines: Lines) -> Columns:
    """Read digits, and ``E`` or ``O`` for even or odd."""
    marks = [[word.lower() if word in ("E", "O") else "." for word in line] for line in lines]
    clues = [["-" if word in ("E", "O") else word for word in line] for line in lines]
    return {"puzzle": _cells(n, clues), "marks": _joined(marks, n, n)}


def _consecutive(n: int, lines: Lines) -> Columns:
    """Read digits, then for each cell the sides on which its neighbour is consecutive.

    They are the sum of 1 for right, 2 for below, 4 for left and 8 for above. Every consecutive pair
    is shown. These grids have no boxes.
    """
    masks, pairs = lines[n:], ""
    if _fits(masks, n, n) and all(re.fullmatch("[0-9]|1[0-5]", w) for line in masks for w in line):
        sides = {(r, c, int(word)) for r, line in enumerate(masks) for c, word in enumerate(line)}
        after = {(r, c, bit) for r, c, mask in sides for bit in (1, 2) if mask & bit}
        before = {(r, c - 1, 1) for r, c, mask in sides if mask & 4}
        before |= {(r - 1, c, 2) for r, c, mask in sides if mask & 8}
        if before == after:  # both cells of each pair say so
            names = (
                (r + 1, c + 1, r + bit // 2 + 1, c + bit % 2 + 1) for r, c, bit in sorted(after)
            )
            pairs = "".join(f"r{r}c{c}-r{y}c{x} " for r, c, y, x in names) + "all-consecutive"
    return {
        "puzzle": _cells(n, lines[:n]),
        "pairs": pairs or _joined(masks, n, n),
        "constraints": _without_boxes(n),
    }


def _without_boxes(n: int) -> str:
    return f".Shape~{n}x{n}.NoBoxes"


def _renban(n: int, lines: Lines) -> Columns:
    """Read digits, then areas of consecutive digits in any order, of a grid without boxes."""
    areas: dict[str, list[str]] = {}
    for r, line in enumerate(lines[n:], 1):
        for c, label in enumerate(line, 1):
            areas.setdefault(label, []).append(f"R{r}C{c}")
    areas.pop("-", None)
    said = [f".Renban~{'~'.join(cells)}" for cells in areas.values() if len(cells) > 1]
    constraints = _without_boxes(n) + "".join(said) if _fits(lines[n:], n, n) else "/"
    return {"puzzle": _cells(n, lines[:n]), "constraints": constraints}


def _in_layout(layout: str, lines: Lines) -> str:
    """Return grids of a layout as a drawing in one line."""
    places = {place for grid in LAYOUTS[layout] for place in grid}
    n_rows, n_columns = (max(place[k] for place in places) + 1 for k in range(2))
    drawn = [
        [word if word != "-" else "." if (r, c) in places else "#" for c, word in enumerate(line)]
        for r, line in enumerate(lines)
    ]
    return _joined(drawn, n_rows, n_columns)


def _laid_out(layout: str) -> Callable[[int, Lines], Columns]:
    return lambda n, lines: {"puzzle": _in_layout(layout, lines), "rules": layout}


_LAYOUT_OF = {f"{layout.capitalize()}Sudoku": layout for layout in LAYOUTS}
_KINDS: dict[str, Callable[[int, Lines], Columns]] = {
    "Sudoku": _sudoku,
    "JigsawSudoku": _jigsaw,
    "KillerSudoku": _killer,
    "EvenOddSudoku": _even_odd,
    "ConsecutiveSudoku": _consecutive,
    "Renban": _renban,
    **{kind: _laid_out(layout) for kind, layout in _LAYOUT_OF.items()},
}
