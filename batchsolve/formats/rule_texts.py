"""The rules of one grid, as read from texts: cages and their sums, marks, pairs of cells.

`RuleReader` collects rules kind by kind; other modules read other formats into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

from batchsolve.errors import ProblemError, prefixed, quoted
from batchsolve.formats.whole_files import loads
from batchsolve.problems.notation import usual_notation
from batchsolve.problems.rules import KINDS, Cage, Cells, Rules, diagonals
from batchsolve.problems.sudoku import Place, drawn_labels, drawn_places, square_drawing

PAIR_SIGNS = {"<": "less", "-": "consecutive", ":": "double", "x": "x", "v": "v", "=": "equal"}
"""The signs of `read_pairs` between two cells, and their relations; ``>`` is ``<`` reversed."""

STRICT = {
    "all-consecutive": ("consecutive", "apart"),
    "all-dots": ("consecutive", "double", "undotted"),
    "all-xv": ("x", "v", "unlettered"),
}
"""The words that say that all marks are shown: the marks, and the relation of other neighbours."""


@dataclass
class RuleReader:
    """The reader of the rules of a square grid, or of grids that overlap; `on` returns `Rules`.

    Attributes
    ----------
    n : int
        Number of digits.
    drawing : str
        The cells of grids that overlap; by default, the grid is square.
    places : tuple of (int, int)
        Row and column of each cell, counted from 0, in reading order.
    n_cells : int
    names : list of str
        Named rules; see `batchsolve.problems.rules.NAMED`.
    has_boxes : bool
        False if the grid has neither boxes nor regions in place of them.
    houses, groups, pairs, cages, marks
        As in `Rules`.
    sums : list of (tuple of int, int)
        Cells that add up to a sum; they must lie in a house or group, so that they differ.
    strict : list of str
        The words of `STRICT` that hold.
    """

    n: int
    drawing: str = ""
    names: list[str] = field(default_factory=list)
    has_boxes: bool = True
    houses: list[Cells] = field(default_factory=list)
    groups: list[Cells] = field(default_factory=list)
    pairs: list[tuple[int, int, str]] = field(default_factory=list)
    cages: list[Cage] = field(default_factory=list)
    marks: list[tuple[int, int]] = field(default_factory=list)
    sums: list[tuple[Cells, int]] = field(default_factory=list)
    strict: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.drawing = self.drawing or square_drawing(self.n)
        self.places = drawn_places(self.drawing)
        self.n_cells = len(self.places)

    @cached_property
    def _cells(self) -> dict[Place, int]:
        return {place: cell for cell, place in enumerate(self.places)}

    def key(self, *names: str) -> tuple[bool, list[list[Any]]]:
        """Return all that was read, and these names: the same in whatever order it was written."""
        rules = [tuple(getattr(self, kind)) for kind in KINDS]
        sums = {(tuple(sorted(cells)), total) for cells, total in self.sums}
        names_of = {*names, *self.names} - {""}
        sets = *Rules(self.n, self.places, *rules).as_sets(), sums, names_of, set(self.strict)
        return self.has_boxes, [sorted(values) for values in sets]

    def check_is_square(self) -> None:
        """Raise `ProblemError` if the grids overlap."""
        if self.n_cells != self.n**2:
            raise ProblemError("is for one square grid, and the grids of the table overlap")

    def cell(self, name: str) -> int:
        """Return the cell with a name such as ``R1C2``; letters stand for 10 and more, from A on.

        Raises
        ------
        ProblemError
            If the name is malformed, or the grid has no such cell.
        """
        match = re.fullmatch(r"r([0-9]+|[a-z])c([0-9]+|[a-z])", name.strip().lower())
        if match is None:
            raise ProblemError(f"{quoted(name)} is not a cell; write R1C2 for row 1, column 2")
        row, column = (int(part, 36 if part.isalpha() else 10) for part in match.groups())
        cell = self._cells.get((row - 1, column - 1))
        if cell is None:
            raise ProblemError(f"the grid has no cell {quoted(name)}")
        return cell

    def cells(self, names: Iterable[str], min_cells: int = 2) -> Cells:
        """Return the cells with these names, which must be different and not too few."""
        cells = tuple(map(self.cell, names))
        if len(cells) < min_cells:
            raise ProblemError(f"{len(cells)} cells, where {min_cells} or more are needed")
        if len(set(cells)) < len(cells):
            raise ProblemError("a cell is named twice")
        return cells

    def line(self, cells: Sequence[int], relation: str) -> None:
        """Add a relation of every cell to the next."""
        self.pairs += [(a, b, relation) for a, b in pairwise(cells)]

    def beside(self, cells: Cells, relation: str) -> None:
        """Add a relation of all of these cells that share an edge, each to a later one."""
        self.pairs += [(a, b, relation) for a, b in self.neighbours(cells)]

    def whisper(self, cells: Cells, apart: int) -> None:
        """Add a line whose neighbours differ by at least a number."""
        if not 2 <= apart <= 9:
            raise ProblemError(f"a difference of {apart}; 2 to 9 are possible")
        self.line(cells, f"gap{apart}")

    def renban(self, cells: Cells) -> None:
        """Add cells whose digits follow one another, in any order: different, and close by."""
        self.cage(cells, None)
        if 9 < len(cells) < self.n:
            raise ProblemError(f"a line of {len(cells)} digits that follow one another; 9 at most")
        if len(cells) < self.n:
            self.pairs += [(a, b, f"within{len(cells)}") for a, b in combinations(cells, 2)]

    def palindrome(self, cells: Cells) -> None:
        """Add a line that reads the same from both ends."""
        half = len(cells) // 2
        self.pairs += [(a, b, "equal") for a, b in zip(cells[:half], cells[::-1], strict=False)]

    def cage(self, cells: Cells, total: int | None) -> None:
        """Add cells with different digits and, unless it is None, a sum."""
        if len(cells) > self.n:
            raise ProblemError(f"{len(cells)} cells with different digits; there are {self.n}")
        if total is None:
            (self.houses if len(cells) == self.n else self.groups).append(cells)
        else:
            self.cages.append(Cage(cells, total))
            self.cages[-1].digit_sets(self.n)  # are not too many

    def mark(self, cell: int, digits: Iterable[int]) -> None:
        """Add the digits that a cell may hold."""
        self.marks.append((cell, sum({1 << (d - 1) for d in digits})))

    def parity(self, cell: int, remainder: int) -> None:
        """Add a cell that holds an even, or an odd, digit."""
        self.mark(cell, (d for d in range(1, self.n + 1) if d % 2 == remainder))

    def diagonal(self, falls: bool) -> None:
        """Add a diagonal as a house."""
        self.check_is_square()
        falling, rising = diagonals(1, self.n)
        self.houses.append(falling if falls else rising)

    def neighbours(self, cells: Cells) -> list[tuple[int, int]]:
        """Return the pairs of these cells that share an edge, each in the order of `cells`."""
        pairs = combinations([(cell, *self.places[cell]) for cell in cells], 2)
        near = [
            (a, b) for (a, r, c), (b, row, column) in pairs if abs(r - row) + abs(c - column) == 1
        ]
        if not near:
            raise ProblemError("none of the cells share an edge")
        return near

    def on(self, base: Rules) -> Rules:
        """Return rules together with these.

        Raises
        ------
        ProblemError
            If cells that add up to a sum might hold equal digits.
        """
        cages = list(self.cages)
        for cells, total in self.sums:
            if not any(set(cells) <= set(h) for h in (*base.houses, *self.houses, *self.groups)):
                raise ProblemError("a sum of cells that are in no house together")
            cages.append(Cage(cells, total))
        pairs = list(self.pairs)
        for word in sorted(set(self.strict)):
            *shown, hidden = STRICT[word]
            marked = {frozenset((a, b)) for a, b, relation in pairs if relation in shown}
            all_pairs = self.neighbours(tuple(range(self.n_cells)))
            pairs += [(a, b, hidden) for a, b in all_pairs if frozenset((a, b)) not in marked]
        houses, groups, marks = tuple(self.houses), tuple(self.groups), tuple(self.marks)
        return base + Rules(self.n, base.places, houses, groups, tuple(pairs), tuple(cages), marks)


def whole_number(value: object) -> int:
    """Return a text, or a value of JSON, as an integer.

    Raises
    ------
    ProblemError
        If it is not a whole number of 1 to 9 digits.
    """
    text = str(value).strip()
    if isinstance(value, float | bool) or not re.fullmatch("[0-9]{1,9}", text):
        raise ProblemError(f"{quoted(value)} is not a whole number of 1 to 9 digits")
    return int(text)


def read_cages(labels: str, sums: str, rules: RuleReader) -> None:
    """Read cages: a label a cell, a dot for none; and the sum of each label. Or lists of cells.

    Parameters
    ----------
    labels : str
        As for `batchsolve.problems.sudoku.drawn_labels`. Or lists of cells, with row and column
        from 0 or 1: JSON, ``[{"sum": 3, "cells": [[0, 0]]}]``, or lines ``3;0,0;0,1``.
    sums : str
        ``A=10 B=7``, with ``?`` for a cage without a sum; or the sums in the order of the labels,
        ``10 7``; or a JSON object. Empty for lists of cells.

    Examples
    --------
    >>> rules = RuleReader(2)
    >>> read_cages("AA.B", "A=3 B=?", rules)
    >>> rules.cages, rules.groups
    ([Cage(cells=(0, 1), total=3)], [(3,)])
    >>> read_cages("3;0,0;1,0", "", rules)
    >>> rules.cages[1]
    Cage(cells=(0, 2), total=3)
    """
    if labels.startswith("[") or _CAGE_LINES.fullmatch(labels):
        _read_listed_cages(labels, sums, rules)
        return
    cells: dict[str, list[int]] = {}
    for cell, label in enumerate(drawn_labels(labels, rules.drawing)):
        if label != ".":
            cells.setdefault(label, []).append(cell)
    totals = _sums(sums, list(cells))
    for label in [*cells, *totals]:
        if label not in totals:
            raise ProblemError(f"cage {quoted(label)} has no sum; write {label}=10, or {label}=?")
        if label not in cells:
            raise ProblemError(f"there is a sum for {quoted(label)}, but no such cage")
    for label, members in cells.items():
        with prefixed(f"cage {quoted(label)}", ProblemError):
            rules.cage(tuple(members), totals[label])


_CAGE_LINES = re.compile(r"(?:\s*[0-9]+(?:;[0-9]+,[0-9]+)+)+\s*")


def _read_listed_cages(text: str, sums: str, rules: RuleReader) -> None:
    """Read cages that have a sum and a list of their cells."""
    if sums:
        raise ProblemError("lists of cells have their sums; leave out the column 'sums'")
    rules.check_is_square()
    if text.startswith("["):
        with prefixed("is not JSON", ProblemError, ValueError):
            listed = loads(text)
    else:
        lines = (line.split(";") for line in text.split())
        listed = [{"sum": line[0], "cells": [c.split(",") for c in line[1:]]} for line in lines]
    cages = []
    for k, cage in enumerate(listed, 1):
        try:
            if not cage.keys() <= {"sum", "cells"}:
                raise ValueError("a sum of another name would be lost")
            places = [(whole_number(row), whole_number(column)) for row, column in cage["cells"]]
            total = None if cage.get("sum") is None else whole_number(cage["sum"])
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise ProblemError(
                f'cage {k} is not an object such as {{"sum": 10, "cells": [[0, 0], [1, 0]]}}'
            ) from error
        cages.append((places, total))
    numbers = {number for places, _ in cages for place in places for number in place}
    if not {0, rules.n} & numbers:
        raise ProblemError(f"rows and columns may begin at 0 or 1; none is 0 or {rules.n}")
    first = 0 if 0 in numbers else 1
    for k, (places, total) in enumerate(cages, 1):
        with prefixed(f"cage {k}", ProblemError):
            names = [f"R{row - first + 1}C{column - first + 1}" for row, column in places]
            rules.cage(rules.cells(names, min_cells=1), total)


def _sums(text: str, labels: Sequence[str]) -> dict[str, int | None]:
    """Return the sum of each label; sums alone are in the order of the labels."""
    if text.strip().startswith("{"):
        with prefixed("sums are not a JSON object", ProblemError, ValueError):
            fields = loads(text)
        # what was an object of Arrow has nulls for the labels of other rows
        sums = {k: v for k, v in fields.items() if v is not None or k in labels}
        pairs = [(label, "?" if value is None else str(value)) for label, value in sums.items()]
    else:
        words = [word for word in re.split(r"[\s,;]+", text.strip("[] \t\n")) if word]
        if "=" not in text and words:
            if len(words) != len(labels):
                raise ProblemError(f"{len(words)} sums for {len(labels)} cages; write A=10 B=7")
            words = list(map("{}={}".format, labels, words))
        pairs = [word.partition("=")[::2] for word in words]
    totals: dict[str, int | None] = {}
    for label, value in pairs:
        if not label or not re.fullmatch(r"\?|[0-9]{1,9}", value):
            wrong = label if not value else f"{label}={value}"
            raise ProblemError(f"{quoted(wrong)} is not a sum; write A=10 B=7")
        if label in totals:
            raise ProblemError(f"cage {quoted(label)} has two sums")
        totals[label] = None if value == "?" else int(value)
    return totals


def read_marks(text: str, rules: RuleReader) -> None:
    """Read marks: N characters a cell, one for each digit; or one a cell.

    The characters for digits are the digits themselves or, where a cell must not hold the digit, a
    dot or a zero. One character a cell is ``e`` or ``o`` for even or odd, or a dot.

    Examples
    --------
    >>> rules = RuleReader(2)
    >>> read_marks("12 1. .2 12", rules)
    >>> rules.marks
    [(1, 1), (2, 2)]
    """
    n, n_cells, marks = rules.n, rules.n_cells, "".join(text.split())
    if len(marks) in (n_cells, len(rules.drawing.replace("\n", ""))):
        for cell, mark in enumerate(drawn_labels(marks.lower(), rules.drawing)):
            if mark not in "eo.":
                raise ProblemError(f"{quoted(mark)} is not a mark of a cell: e is even, o is odd")
            if mark != ".":
                rules.parity(cell, "eo".index(mark))
        return
    symbols = usual_notation(n).symbols
    if not symbols or len(marks) != n_cells * n:
        raise ProblemError(
            f"{len(marks)} characters; {n_cells} cells have {n_cells} marks e, o or ., or "
            f"{n_cells * n} marks of {n} digits each"
        )
    for cell, (row, column) in enumerate(rules.places):
        digits = []
        for d, mark in enumerate(marks[n * cell : n * cell + n], 1):
            if mark.upper() == symbols[d - 1].upper():
                digits.append(d)
            elif mark not in ".0":
                raise ProblemError(
                    f"{quoted(mark)} at the place of digit {symbols[d - 1]} of cell "
                    f"r{row + 1}c{column + 1}; write {symbols[d - 1]}, or . to exclude it"
                )
        if len(digits) < n:
            rules.mark(cell, digits)


_CELL = r"r[0-9]+c[0-9]+"
_SIGNS = (">", *PAIR_SIGNS)
_SIGN = "(?:" + "|".join(map(re.escape, _SIGNS)) + ")"
_CHAIN = re.compile(rf"[\s,;]*({'|'.join(STRICT)}|{_CELL}(?:\s*{_SIGN}\s*{_CELL})+)(?=[\s,;]|$)")


def read_pairs(text: str, rules: RuleReader) -> None:
    """Read relations of cells: chains such as ``r1c1<r1c2<r2c2 r5c5-r5c6``.

    Examples
    --------
    >>> rules = RuleReader(4)
    >>> read_pairs("r1c1>r1c2-r1c3, r2c1xr2c2", rules)
    >>> rules.pairs
    [(1, 0, 'less'), (1, 2, 'consecutive'), (4, 5, 'x')]
    """
    text, at = text.lower().rstrip(" \t\r\n,;"), 0
    while at < len(text):
        match = _CHAIN.match(text, at)
        if match is None:
            raise ProblemError(
                f"{quoted(text[at:].strip())} is not a pair of cells; write r1c1<r1c2 with one of "
                f"the signs {' '.join(_SIGNS)}, or one of {', '.join(STRICT)}"
            )
        at, chain = match.end(), match[1]
        if chain in STRICT:
            rules.strict.append(chain)
            continue
        cells = list(map(rules.cell, re.findall(_CELL, chain)))
        signs = re.findall(_SIGN, re.sub(_CELL, " ", chain))
        for (a, b), sign in zip(pairwise(cells), signs, strict=True):
            if a == b:
                raise ProblemError(f"{quoted(chain)} names a cell and itself")
            rules.pairs.append((b, a, "less") if sign == ">" else (a, b, PAIR_SIGNS[sign]))
