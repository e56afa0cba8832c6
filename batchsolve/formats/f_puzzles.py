"""Puzzles in the JSON of f-puzzles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from batchsolve.errors import ProblemError, malformed, prefixed, quoted
from batchsolve.formats.json_records import loads
from batchsolve.formats.rule_texts import RuleReader, whole_number
from batchsolve.problems.notation import default_box
from batchsolve.problems.rules import regions_of

Part = Mapping[str, Any]


def read_f_puzzle(text: str, rules: RuleReader) -> None:
    """Read a puzzle.

    Raises
    ------
    ProblemError
        If the text is not such a puzzle, or has an unsupported constraint.

    Examples
    --------
    >>> import json
    >>> rules, grid = RuleReader(2), [[{}, {"value": 2, "given": True}], [{}, {}]]
    >>> cages = [{"cells": ["R1C1", "R2C1"], "value": "3"}]
    >>> read_f_puzzle(json.dumps({"size": 2, "grid": grid, "killercage": cages}), rules)
    >>> rules.marks, rules.cages
    ([(1, 2)], [Cage(cells=(0, 2), total=3)])
    """
    with prefixed("not JSON", ProblemError, ValueError):
        puzzle = loads(text)
    rules.check_is_square()
    if isinstance(puzzle, dict) and "cells" in puzzle and "grid" not in puzzle:
        raise ProblemError(
            "the JSON of SudokuPad, whose lines and marks are pictures without a meaning; write it "
            "as a constraint string, or as the JSON of f-puzzles"
        )
    size = puzzle.get("size") if isinstance(puzzle, dict) else None
    if size != rules.n:
        raise ProblemError(
            f"a puzzle of size {quoted(size)}; the grids of the table have {rules.n}"
        )
    for name, value in puzzle.items():
        if name in _NO_RULES or not value:
            continue
        if name not in _RULES:
            raise ProblemError(f"constraint {quoted(name)} is not supported")
        parts = [value] if name == "grid" or value is True else value
        with malformed(f"constraint {quoted(name)}"):
            if not isinstance(parts, list):  # a text has parts, too
                raise TypeError
            for part in parts:
                _RULES[name](rules, part)


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


def _cage(rules: RuleReader, part: Part) -> None:
    cells, total = rules.cells(part["cells"], 1), part.get("value")
    # f-puzzles leaves the value out, or empty, where cells only differ
    rules.cage(cells, None if total in (None, "") else whole_number(total) or None)


def _dots(relation: str, usual: str) -> Callable[[RuleReader, Part], None]:
    def read(rules: RuleReader, part: Part) -> None:
        if str(part.get("value") or usual) != usual:
            raise ProblemError(f"{quoted(part['value'])} is not supported; only {usual} is")
        rules.line(rules.cells(part["cells"]), relation)

    return read


def _letters(rules: RuleReader, part: Part) -> None:
    rules.line(rules.cells(part["cells"]), {"X": "x", "V": "v"}[part["value"].upper()])


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


def _named(name: str) -> Callable[[RuleReader, Any], None]:
    return lambda rules, part: rules.names.append(name)


_RULES: dict[str, Callable[[RuleReader, Any], None]] = {
    "grid": _grid,
    "antiknight": _named("antiknight"),
    "antiking": _named("antiking"),
    "nonconsecutive": _named("nonconsecutive"),
    "disjointgroups": _named("disjoint"),
    "diagonal+": lambda rules, part: rules.diagonal(falls=False),
    "diagonal-": lambda rules, part: rules.diagonal(falls=True),
    "killercage": _cage,
    "extraregion": lambda rules, part: rules.cage(rules.cells(part["cells"]), None),
    "even": lambda rules, part: rules.parity(rules.cell(part["cell"]), 0),
    "odd": lambda rules, part: rules.parity(rules.cell(part["cell"]), 1),
    "difference": _dots("consecutive", "1"),
    "ratio": _dots("double", "2"),
    "xv": _letters,
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
