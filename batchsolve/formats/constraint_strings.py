"""The constraint strings of Interactive Sudoku Solver, and killers as SumoCue writes them.

A constraint string is a list of constraints, each a dot, its name, and arguments after ``~``::

    .Cage~10~R1C1~R1C2.AntiKnight.~R5C5_7

A constraint without a name gives digits: ``R5C5_7``, or ``R5C5_1_2`` for one of two. See
https://github.com/sigh/Interactive-Sudoku-Solver.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from batchsolve.errors import ProblemError, malformed, quoted
from batchsolve.formats.rule_texts import RuleReader, whole_number
from batchsolve.problems.rules import regions_of

Words = Sequence[str]


def read_constraints(text: str, rules: RuleReader) -> None:
    """Read a constraint string.

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
    """
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
    labels = words[-1]
    if set(labels) != {labels[0]} or len(labels) != rules.n**2:  # one label alone says no regions
        rules.houses += regions_of(labels, rules.n)


def _check_is_alone(words: Words) -> None:
    if words:
        raise ProblemError(f"nothing follows its name, but {quoted('~'.join(words))} does")


def _no_boxes(rules: RuleReader, words: Words) -> None:
    _check_is_alone(words)
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


def _named(name: str) -> Callable[[RuleReader, Words], None]:
    def read(rules: RuleReader, words: Words) -> None:
        _check_is_alone(words)
        rules.names.append(name)

    return read


def _strict(word: str) -> Callable[[RuleReader, Words], None]:
    def read(rules: RuleReader, words: Words) -> None:
        _check_is_alone(words)
        rules.strict.append(word)

    return read


def _beside(relation: str) -> Callable[[RuleReader, Words], None]:
    """Return a reader of a relation of all cells that share an edge."""

    def read(rules: RuleReader, words: Words) -> None:
        rules.pairs += [(a, b, relation) for a, b in rules.neighbours(rules.cells(words))]

    return read


def _greater(rules: RuleReader, words: Words) -> None:
    rules.pairs += [(b, a, "less") for a, b in rules.neighbours(rules.cells(words))]


_CONSTRAINTS: dict[str, Callable[[RuleReader, Words], None]] = {
    "Given": _given,
    "Shape": _shape,
    "Jigsaw": _jigsaw,
    "NoBoxes": _no_boxes,
    "AntiKnight": _named("antiknight"),
    "AntiKing": _named("antiking"),
    "AntiConsecutive": _named("nonconsecutive"),
    "Windoku": _named("windoku"),
    "DisjointSets": _named("disjoint"),
    "Diagonal": _diagonal,
    "Cage": _cage,
    "Sum": _sum,
    "AllDifferent": lambda rules, words: rules.cage(rules.cells(words), None),
    "Thermo": lambda rules, words: rules.line(rules.cells(words), "less"),
    "Whisper": _whisper,
    "Renban": lambda rules, words: rules.renban(rules.cells(words)),
    "Palindrome": lambda rules, words: rules.palindrome(rules.cells(words)),
    "WhiteDot": _beside("consecutive"),
    "BlackDot": _beside("double"),
    "X": _beside("x"),
    "V": _beside("v"),
    "GreaterThan": _greater,
    "StrictKropki": _strict("all-dots"),
    "StrictXV": _strict("all-xv"),
    "SearchPriority": lambda rules, words: None,
}


def read_sumocue(text: str, rules: RuleReader) -> None:
    """Read a killer of SumoCue: ``3x3:d:k:`` and a number a cell, 256 · sum + cage.

    The letter ``d`` stands for diagonals; cells of sum 0 are in no cage.
    """
    rules.check_is_square()
    n, words = rules.n, text.strip().rstrip(":").split(":")
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
