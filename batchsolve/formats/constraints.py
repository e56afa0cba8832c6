"""Constraints as other programs write them: Interactive Sudoku Solver, SumoCue and f-puzzles.

A constraint string of Interactive Sudoku Solver is a list of constraints: a dot, a name, and
arguments after ``~`` for each::

    .Cage~10~R1C1~R1C2.AntiKnight.~R5C5_7

A constraint without a name gives digits: ``R5C5_7``, or ``R5C5_1_2`` for one of two. See
https://github.com/sigh/Interactive-Sudoku-Solver. A puzzle of f-puzzles is an object of JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from batchsolve.errors import ProblemError, malformed, prefixed, quoted
from batchsolve.formats.json_records import loads
from batchsolve.formats.rule_texts import RuleReader, whole_number
from batchsolve.problems.notation import default_box
from batchsolve.problems.rules import regions_of
from batchsolve.problems.sudoku import drawn_labels

Words = Sequence[str]
Part = Mapping[str, Any]


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
    first, *constraints = "".join(text.split()).split(".")
    if first or not constraints:
        raise ProblemError(f"{quoted(text)} is not a constraint string: it begins with a dot")
    each = [(name or "Given", words) for name, *words in (c.split("~") for c in constraints)]
    if rules.n != 9 and "Shape" not in dict(each):
        raise ProblemError(f"no Shape, which means 9x9, for a grid of {rules.n}x{rules.n}")
    for name, words in each:
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


def _jigsaw(rules: RuleReader, words: Words) -> None:
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
    rules.sums.append((rules.cells(words[1:], 1), whole_number(words[0])))


def _whisper(rules: RuleReader, words: Words) -> None:
    apart, cells = (whole_number(words[0]), words[1:]) if words[0].isdecimal() else (5, words)
    rules.whisper(rules.cells(cells), apart)


_CONSTRAINTS: dict[str, Callable[[RuleReader, Words], None]] = {
    "Given": _given,
    "Shape": _shape,
    "Jigsaw": _jigsaw,
    "NoBoxes": _no_boxes,
    "AntiKnight": lambda rules, words: rules.names.append("antiknight"),
    "AntiKing": lambda rules, words: rules.names.append("antiking"),
    "AntiConsecutive": lambda rules, words: rules.names.append("nonconsecutive"),
    "Windoku": lambda rules, words: rules.names.append("windoku"),
    "DisjointSets": lambda rules, words: rules.names.append("disjoint"),
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
_ALONE = {
    *("NoBoxes", "AntiKnight", "AntiKing", "AntiConsecutive", "Windoku", "DisjointSets"),
    *("StrictKropki", "StrictXV"),
}
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
    if any("region" in cell for cell in cells):
        rows, columns = default_box(n) or (n, 1)
        boxes = [k // n // rows * rows + k % n // columns for k in range(n * n)]
        regions = [c.get("region", box) for c, box in zip(cells, boxes, strict=True)]
        rules.has_boxes = False
        rules.houses += regions_of(regions, n)


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
    "antiknight": lambda rules, part: rules.names.append("antiknight"),
    "antiking": lambda rules, part: rules.names.append("antiking"),
    "nonconsecutive": lambda rules, part: rules.names.append("nonconsecutive"),
    "disjointgroups": lambda rules, part: rules.names.append("disjoint"),
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
