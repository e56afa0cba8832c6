r"""Puzzles as other programs write them: rules of one grid, and documents of many puzzles.

The rules are those of Interactive Sudoku Solver, SumoCue and f-puzzles; `read_constraints` adds
them to a `RuleReader`. A constraint string of Interactive Sudoku Solver is a list of constraints: a
dot, a name, and arguments after ``~`` for each::

    .Cage~10~R1C1~R1C2.AntiKnight.~R5C5_7

A constraint without a name gives digits: ``R5C5_7``, or ``R5C5_1_2`` for one of two. See
https://github.com/sigh/Interactive-Sudoku-Solver. A puzzle of f-puzzles is an object of JSON.

A document of JSON, such as those of ``puzzlekit-dataset``, has many puzzles of one kind. It names
the kind, and has each puzzle and its solution as text: the numbers of rows and columns, a line of
words for the cells of each row, and for some kinds more such lines::

    {"name": "JigsawSudoku", "data": {"1": {"problem": "2 2\n- 1\n- -\n1 1\n2 2", "solution": ""}}}

They become columns of a table: puzzles, and rules as `batchsolve.tables.rule_columns` reads them.
Lines that do not fit become a text that makes their row invalid. See
https://github.com/SmilingWayne/puzzlekit-dataset.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from batchsolve.errors import InputError, ProblemError, malformed, prefixed, quoted
from batchsolve.formats.rule_texts import RuleReader, whole_number
from batchsolve.formats.whole_files import loads
from batchsolve.problems.notation import default_box
from batchsolve.problems.rules import digit_sets, regions_of
from batchsolve.problems.sudoku import LAYOUTS, drawn_labels

Words = Sequence[str]
Part = Mapping[str, Any]
Lines = Sequence[Sequence[str]]
Columns = dict[str, str]


def read_constraints(text: str, rules: RuleReader) -> None:
    """Read the constraints of a puzzle; its beginning tells who wrote it.

    Raises
    ------
    ProblemError
        If a constraint is malformed or unsupported.

    Examples
    --------
    >>> rules = RuleReader(9)
    >>> read_constraints(".Cage~10~R1C1~R1C2.AntiKnight.~R5C5_7", rules)
    >>> rules.cages, rules.names, rules.marks
    ([Cage(cells=(0, 1), total=10)], ['antiknight'], [(40, 64)])
    >>> rules = RuleReader(2)
    >>> read_constraints('{"size": 2, "killercage": [{"cells": ["R1C1", "R2C1"]}]}', rules)
    >>> rules.houses
    [(0, 2)]
    """
    text = text.strip()
    if text.startswith("{"):
        _read_f_puzzle(text, rules)
    elif text.startswith("3x3:"):
        _read_sumocue(text, rules)
    else:
        _read_string(text, rules)


def _read_string(text: str, rules: RuleReader) -> None:
    first, *parts = "".join(text.split()).split(".")
    if first or not parts:
        raise ProblemError(f"{quoted(text)} is not a constraint string: it begins with a dot")
    constraints = [(name or "Given", words) for name, *words in (c.split("~") for c in parts)]
    if rules.n != 9 and rules.n_cells == rules.n**2 and "Shape" not in dict(constraints):
        raise ProblemError(f"no Shape, which means 9x9, for a grid of {rules.n}x{rules.n}")
    for name, words in constraints:
        if name not in _CONSTRAINTS:
            raise ProblemError(f"constraint {quoted(name)} is not supported")
        with malformed(f"constraint {quoted('~'.join([name, *words]))}"):
            if words and name in _ALONE:
                raise ProblemError(f"nothing follows its name, but {quoted('~'.join(words))} does")
            _CONSTRAINTS[name](rules, words)


def _given(rules: RuleReader, words: Words) -> None:
    for word in words:
        name, *digits = word.split("_")
        numbers = list(map(whole_number, digits))
        if not numbers or not all(1 <= d <= rules.n for d in numbers):
            raise ProblemError(f"{quoted(word)} names no digit of 1 to {rules.n}")
        rules.mark(rules.cell(name), numbers)


def _shape(rules: RuleReader, words: Words) -> None:
    n = rules.n
    rules.check_is_square()
    if words[0] != f"{n}x{n}" or list(words[1:]) not in ([], [str(n)], [f"1-{n}"]):
        raise ProblemError(f"the grids of the table are {n}x{n}")


def _regions(rules: RuleReader, words: Words) -> None:
    rules.check_is_square()
    labels = drawn_labels(words[-1], rules.drawing)
    if len(set(labels)) > 1:  # one label alone says no regions
        rules.houses += regions_of(labels, rules.n)


def _no_boxes(rules: RuleReader, words: Words) -> None:
    rules.has_boxes = False


def _diagonal(rules: RuleReader, words: Words) -> None:
    if words not in (["1"], ["-1"]):
        raise ProblemError("a diagonal is 1 or -1")
    rules.diagonal(falls=words == ["-1"])


def _cage(rules: RuleReader, words: Words) -> None:
    total, *names = words
    if not total:
        raise ProblemError("a cage has no sum; 0 means any sum")
    rules.cage(rules.cells(names, 1), whole_number(total) or None)


def _sum(rules: RuleReader, words: Words) -> None:
    cells, total = rules.cells(words[1:], 1), whole_number(words[0])
    digit_sets(rules.n, len(cells), total)  # are not too many
    rules.sums.append((cells, total))


def _whisper(rules: RuleReader, words: Words) -> None:
    apart, cells = (whole_number(words[0]), words[1:]) if words[0].isdecimal() else (5, words)
    rules.whisper(rules.cells(cells), apart)


def _named(rule: str) -> Callable[[RuleReader, Any], None]:
    """Return the reader of a constraint that is a rule with a name."""
    return lambda rules, part: rules.names.append(rule)


_NAMED = {"AntiKnight": "antiknight", "AntiKing": "antiking", "AntiConsecutive": "nonconsecutive"}
_NAMED |= {"Windoku": "windoku", "DisjointSets": "disjoint"}
_CONSTRAINTS: dict[str, Callable[[RuleReader, Words], None]] = {
    "Given": _given,
    "Shape": _shape,
    "Jigsaw": _regions,
    "NoBoxes": _no_boxes,
    **{name: _named(rule) for name, rule in _NAMED.items()},
    "Diagonal": _diagonal,
    "Cage": _cage,
    "Sum": _sum,
    "AllDifferent": lambda rules, words: rules.cage(rules.cells(words), None),
    "Thermo": lambda rules, words: rules.line(rules.cells(words), "less"),
    "Whisper": _whisper,
    "Renban": lambda rules, words: rules.renban(rules.cells(words)),
    "Palindrome": lambda rules, words: rules.palindrome(rules.cells(words)),
    "WhiteDot": lambda rules, words: rules.beside(rules.cells(words), "consecutive"),
    "BlackDot": lambda rules, words: rules.beside(rules.cells(words), "double"),
    "X": lambda rules, words: rules.beside(rules.cells(words), "x"),
    "V": lambda rules, words: rules.beside(rules.cells(words), "v"),
    "GreaterThan": lambda rules, words: rules.beside(rules.cells(words)[::-1], "less"),
    "StrictKropki": lambda rules, words: rules.strict.append("all-dots"),
    "StrictXV": lambda rules, words: rules.strict.append("all-xv"),
    "SearchPriority": lambda rules, words: None,
}
_ALONE = {*_NAMED, "NoBoxes", "StrictKropki", "StrictXV"}
"""Constraints without arguments."""


def _read_sumocue(text: str, rules: RuleReader) -> None:
    """Read a killer of SumoCue: ``3x3:d:k:`` and a number a cell, 256 · sum + cage.

    The letter ``d`` stands for diagonals; cells of sum 0 are in no cage.
    """
    rules.check_is_square()
    n, words = rules.n, text.rstrip(":").split(":")
    beginning, numbers = words[:3], words[3:]
    if beginning not in (["3x3", "", "k"], ["3x3", "d", "k"]) or n != 9:
        raise ProblemError(f"{quoted(text)} is not a killer of 9×9: that begins with 3x3::k:")
    if len(numbers) != n * n:
        raise ProblemError(f"a killer has {n * n} numbers, not {len(numbers)}")
    if wrong := [number for number in numbers if not re.fullmatch("[0-9]{1,6}", number)]:
        raise ProblemError(f"{quoted(wrong[0])} is not a number of a killer, 256 · sum + cage")
    cages: dict[int, list[int]] = {}
    for cell, number in enumerate(map(int, numbers)):
        if number >= 256:
            cages.setdefault(number, []).append(cell)
    if len({number % 256 for number in cages}) < len(cages):
        raise ProblemError("a cage has two sums")
    for number, cells in cages.items():
        rules.cage(tuple(cells), number // 256)
    if beginning[1]:
        rules.names.append("x")


# ---- f-puzzles ------------------------------------------------------------------------------


def _read_f_puzzle(text: str, rules: RuleReader) -> None:
    """Read a puzzle of f-puzzles."""
    with prefixed("not JSON", ProblemError, ValueError):
        puzzle = loads(text)
    rules.check_is_square()
    if "cells" in puzzle and "grid" not in puzzle:
        raise ProblemError(
            "the JSON of SudokuPad, whose lines and marks are pictures without a meaning; write it "
            "as a constraint string, or as the JSON of f-puzzles"
        )
    if (size := puzzle.get("size")) != rules.n:
        raise ProblemError(
            f"a puzzle of size {quoted(size)}; the grids of the table have {rules.n}"
        )
    for name, value in puzzle.items():
        if name in _NO_RULES or not value:
            continue
        if name not in _FIELDS:
            raise ProblemError(f"constraint {quoted(name)} is not supported")
        parts = [value] if name == "grid" or value is True else value
        with malformed(f"constraint {quoted(name)}"):
            if not isinstance(parts, list):  # a text has parts, too
                raise TypeError
            for part in parts:
                _FIELDS[name](rules, part)


def _grid(rules: RuleReader, grid: Any) -> None:
    """Read given digits, marks, and regions: a number a cell, by default that of its box."""
    n = rules.n
    if [len(row) for row in grid] != n * [n]:
        raise ProblemError(f"it is not {n} rows of {n} cells, as the size says")
    cells = [cell for row in grid for cell in row]
    for k, cell in enumerate(cells):
        digits = [cell["value"]] if cell.get("given") else cell.get("givenPencilMarks")
        if digits:
            if not all(type(d) is int and 1 <= d <= n for d in digits):
                raise ProblemError(f"{quoted(digits)} in row {k // n + 1}, column {k % n + 1}")
            rules.mark(k, digits)
    labels = [cell.get("region") for cell in cells]
    if labels.count(None) < n * n:
        rows, columns = default_box(n) or (n, 1)
        boxes = [k // n // rows * rows + k % n // columns for k in range(n * n)]
        filled = [box if label is None else label for label, box in zip(labels, boxes, strict=True)]
        rules.has_boxes = False
        rules.houses += regions_of(filled, n)


def _killer_cage(rules: RuleReader, part: Part) -> None:
    cells, total = rules.cells(part["cells"], 1), part.get("value")
    # f-puzzles leaves the value out, or empty, where cells only differ
    rules.cage(cells, None if total in (None, "") else whole_number(total) or None)


def _related(relations: Mapping[str, str], usual: str = "") -> Callable[[RuleReader, Part], None]:
    """Return a reader of marks between cells, whose values tell the relation."""

    def read(rules: RuleReader, part: Part) -> None:
        value = str(part.get("value") or usual).upper()
        if value not in relations:
            raise ProblemError(f"the value is {' or '.join(relations)}, not {quoted(value)}")
        rules.line(rules.cells(part["cells"]), relations[value])

    return read


def _clone(rules: RuleReader, part: Part) -> None:
    pairs = zip(rules.cells(part["cells"], 1), rules.cells(part["cloneCells"], 1), strict=True)
    rules.pairs += [(a, b, "equal") for a, b in pairs if a != b]


def _lines(read: Callable[[RuleReader, tuple[int, ...], Part], None]) -> Any:
    def read_each(rules: RuleReader, part: Part) -> None:
        for line in part["lines"]:
            read(rules, rules.cells(line), part)

    return read_each


def _negative(rules: RuleReader, kind: Any) -> None:
    if kind != "xv":
        raise ProblemError(f"{quoted(kind)} is not supported; only xv is")
    rules.strict.append("all-xv")


_FIELDS: dict[str, Callable[[RuleReader, Any], None]] = {
    "grid": _grid,
    **{name: _named(name) for name in ("antiknight", "antiking", "nonconsecutive")},
    "disjointgroups": _named("disjoint"),
    "diagonal+": lambda rules, part: rules.diagonal(falls=False),
    "diagonal-": lambda rules, part: rules.diagonal(falls=True),
    "killercage": _killer_cage,
    "extraregion": lambda rules, part: rules.cage(rules.cells(part["cells"]), None),
    "even": lambda rules, part: rules.parity(rules.cell(part["cell"]), 0),
    "odd": lambda rules, part: rules.parity(rules.cell(part["cell"]), 1),
    "difference": _related({"1": "consecutive"}, "1"),
    "ratio": _related({"2": "double"}, "2"),
    "xv": _related({"X": "x", "V": "v"}),
    "clone": _clone,
    "thermometer": _lines(lambda rules, cells, part: rules.line(cells, "less")),
    "palindrome": _lines(lambda rules, cells, part: rules.palindrome(cells)),
    "renban": _lines(lambda rules, cells, part: rules.renban(cells)),
    "whispers": _lines(
        lambda rules, cells, part: rules.whisper(cells, whole_number(part.get("value") or 5))
    ),
    "negative": _negative,
}
_NO_RULES = {
    *("size", "title", "author", "ruleset", "customRuleset", "highlightConflicts", "metadata"),
    *("solution", "disabledlogic", "truecandidatesoptions", "text", "circle", "rectangle"),
    *("line", "cage", "fogofwar", "foglight"),
}
"""Fields that describe or decorate a puzzle."""


# ---- documents of puzzles --------------------------------------------------------------------

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
            **_KINDS[name](*_size_and_lines(_text(puzzle, "problem"))),
            "solution": _solved(name, _text(puzzle, "solution")),
        }
        for key, puzzle in puzzles.items()
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
    return ("" if max(map(len, words), default=0) == 1 else " ").join(words)


def _cells(n: int, lines: Lines) -> str:
    """Return a grid: digits as characters, numbers of more digits with blanks between them."""
    text = _joined([["." if word == "-" else word for word in line] for line in lines], n, n)
    return " ".join(text) if n > 9 and " " not in text else text


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
    texts = [f"{label}={total}" for label, totals in sums.items() for total in totals or ["?"]]
    return {"puzzle": "." * n * n, "cages": _joined(cages, n, n), "sums": " ".join(texts)}


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
    renbans = [f".Renban~{'~'.join(cells)}" for cells in areas.values() if len(cells) > 1]
    constraints = _without_boxes(n) + "".join(renbans) if _fits(lines[n:], n, n) else "/"
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
    "Sudoku": lambda n, lines: {"puzzle": _cells(n, lines)},
    "JigsawSudoku": _jigsaw,
    "KillerSudoku": _killer,
    "EvenOddSudoku": _even_odd,
    "ConsecutiveSudoku": _consecutive,
    "Renban": _renban,
    **{kind: _laid_out(layout) for kind, layout in _LAYOUT_OF.items()},
}
