"""Rules that each row of a run gets: regions at random; cages, marks and lines of its solution.

The columns in which they are written are those that `batchsolve.tables.rule_columns` reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from string import ascii_letters, digits

import numpy as np
import numpy.typing as npt

from batchsolve.core import native
from batchsolve.core.arrays import Bytes, Ints, Shorts, Words, begins_of
from batchsolve.errors import InputError, ProblemError, prefixed
from batchsolve.formats.other_programs import read_constraints
from batchsolve.formats.rule_texts import PAIR_SIGNS, STRICT, RuleReader
from batchsolve.problems.rules import MOST_SETS, RELATION_NAMES, OwnRules, Rules, relations_of
from batchsolve.problems.sudoku import drawn_labels
from batchsolve.settings import PuzzleSettings
from batchsolve.settings.arguments import words_of
from batchsolve.tables.rule_columns import CAGES, CONSTRAINTS, MARKS, PAIRS, REGIONS, SUMS

GREATER, PARITY = "greater", "parity"
KINDS = *(word.removeprefix("all-") for word in STRICT), GREATER, PARITY
"""The kinds of marks. Where one has a word of `STRICT`, the word says that all are shown."""

LINES = THERMO, WHISPER, RENBAN, PALINDROME = "thermo", "whisper", "renban", "palindrome"
"""The kinds of lines: digits that rise, that differ much, that follow one another in any order, and
that read the same from both ends. The core numbers them in this order."""

Line = tuple[str, tuple[int, ...]]
"""One of `LINES`, and the cells from end to end; a thermometer from its least digit."""

Keys = Words
"""The seed of random numbers, two words."""
Texts = dict[str, npt.NDArray[np.object_]]
"""The texts of columns, by name."""

_USUAL_LINE = (3, 5)  # cells
_GAPS = range(2, 10)  # the differences that a whisper can have
_MOST_RENBAN = 9  # cells; rules of pairs say how far apart digits are
_LABELS = ascii_letters[26:] + ascii_letters[:26] + digits
_SIGNS = {relation: sign for sign, relation in PAIR_SIGNS.items()}


@dataclass(frozen=True, eq=False)
class DrawnRules:
    """The own rules that each row gets.

    Attributes
    ----------
    rules : Rules
        The rules that all rows share, with cages of a layout as groups.
    has_regions : bool
        True if regions are drawn for each row; then `rules` have rows and columns alone, and what
        names say.
    sizes : (int, int), optional
        The bounds of the number of cells of cages, which are drawn for each row.
    layout : ndarray of int16, shape (n_cells,), optional
        The cage of every cell in all rows, or -1.
    kinds : tuple of str
        Some of `KINDS`.
    lines : (tuple of str, (int, int)), optional
        The kinds of lines that are drawn for each row, and the bounds of their numbers of cells.
    """

    rules: Rules
    has_regions: bool
    sizes: tuple[int, int] | None
    layout: npt.NDArray[np.int16] | None
    kinds: tuple[str, ...]
    lines: tuple[tuple[str, ...], tuple[int, int]] | None

    @classmethod
    def of(cls, rules: Rules, wanted: PuzzleSettings) -> DrawnRules:
        """Return the rules that settings describe.

        Raises
        ------
        InputError
            If they cannot be drawn.
        """
        n, layout = rules.n_digits, None
        if rules.n_cells != n * n:
            raise InputError("cages, marks, lines and regions are drawn in one square grid")
        if rules.cages or rules.marks:
            raise InputError("`constraints` with sums or digits of cells go with no drawn rules")
        kinds = () if wanted.marks is None else words_of("marks", wanted.marks, KINDS)
        if wanted.cages is not None:
            min_cells, max_cells = wanted.cages
            if not 1 <= min_cells <= max_cells <= n or any(
                comb(n, size) > MOST_SETS for size in range(min_cells, max_cells + 1)
            ):
                raise InputError(f"no cages of {min_cells} to {max_cells} cells for {n} digits")
        if wanted.cage_layout is not None:
            layout, rules = _with_layout(wanted.cage_layout, rules)
        lines = None if wanted.lines is None else _checked_lines(wanted.lines, wanted.line_cells, n)
        return cls(rules, wanted.jigsaw, wanted.cages, layout, kinds, lines)

    @property
    def follow(self) -> bool:
        """True if some of the rules follow from solutions."""
        return self.names not in ((), (REGIONS,))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.texts(OwnRules.blank(0)))

    def regions(self, keys: Keys, rows: Ints, attempts: Ints) -> OwnRules:
        """Return the rules of rows before they have solutions: their regions."""
        rules = OwnRules.blank(len(rows))
        if not self.has_regions:
            return rules
        regions = native.draw_regions(keys, rows, attempts, self.rules.n_digits)
        return rules._replace(regions=regions)

    def drawn(
        self, rules: OwnRules, keys: tuple[Keys, Keys], rows: Ints, attempts: Ints, solutions: Bytes
    ) -> tuple[OwnRules, Texts]:
        """Return the rules of rows and the texts of their columns, given regions and solutions.

        The keys are those of cages and of lines.
        """
        if self.sizes is not None:
            cages = native.draw_cages(keys[0], rows, attempts, solutions, *self.sizes)
            rules = _with_cages(rules, cages, solutions)
        elif self.layout is not None:
            rules = _with_cages(rules, np.tile(self.layout, (len(rows), 1)), solutions)
        if PARITY in self.kinds:
            odd = sum(1 << (d - 1) for d in range(1, self.rules.n_digits + 1, 2))
            even = (1 << self.rules.n_digits) - 1 & ~odd
            rules = rules._replace(allowed=np.where(solutions % 2, np.uint64(odd), np.uint64(even)))
        pairs = [self._pairs(kind, solutions) for kind in self.kinds if kind != PARITY]
        if pairs:
            joined = np.concatenate(pairs, axis=1)
            rules = rules._replace(
                pairs_of=np.arange(len(rows) + 1) * joined.shape[1], pairs=joined.reshape(-1, 3)
            )
        if self.lines is None:
            return rules, self.texts(rules)
        kinds, sizes = self.lines
        numbers = np.array([LINES.index(kind) for kind in kinds], np.uint8)
        lines_of, of_kind, (begins, cells) = native.draw_lines(
            keys[1], rows, attempts, solutions, numbers, *sizes, _gap_of(self.rules.n_digits)
        )
        paths = [tuple(path.tolist()) for path in np.split(cells, begins[1:-1])]
        drawn = list(zip([LINES[kind] for kind in of_kind], paths, strict=False))
        lines = _line_texts([drawn[a:b] for a, b in pairwise(lines_of)], self.rules)
        parsed = [_rules_in(text, self.rules) for text in lines]
        more = OwnRules.of(parsed) if parsed else OwnRules.blank(0)
        return rules.with_more(more), self.texts(rules, lines)

    def _pairs(self, kind: str, solutions: Bytes) -> Shorts:
        """Return the relations of all neighbours, shape (n, n_pairs, 3)."""
        n = self.rules.n_digits
        cells = np.arange(n * n).reshape(n, n)
        beside = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
        below = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)
        both = np.concatenate([beside, below])
        pairs = np.empty((len(solutions), len(both), 3), np.uint16)
        pairs[:, :, :2] = both
        first, second = solutions[:, both[:, 0]], solutions[:, both[:, 1]]
        if kind == GREATER:
            pairs[:, :, :2] = np.where((first < second)[:, :, None], both, both[:, ::-1])
            pairs[:, :, 2] = RELATION_NAMES.index("less")
        else:
            numbers = np.array([RELATION_NAMES.index(name) for name in STRICT[f"all-{kind}"]])
            masks = relations_of(n)[numbers, 0][:, first - 1]
            holds = masks >> (second - 1).astype(np.uint64) & np.uint64(1)
            pairs[:, :, 2] = numbers[holds.argmax(axis=0)]  # the first relation that holds
        return pairs

    def texts(self, rules: OwnRules, lines: Sequence[str] = ()) -> Texts:
        """Return the texts of the columns of rows with these rules, and with those of lines."""
        columns: dict[str, Sequence[str]] = {}
        if self.has_regions:
            columns[REGIONS] = ["".join(_LABELS[k] for k in row) for row in rules.regions.tolist()]
        if self.sizes is not None or self.layout is not None:
            columns[CAGES], columns[SUMS] = _cage_texts(rules, self.rules.n_cells)
        if PARITY in self.kinds:
            odd = (rules.allowed & np.uint64(1)).tolist()
            columns[MARKS] = ["".join("eo"[k] for k in row) for row in odd]
        if any(kind != PARITY for kind in self.kinds):
            columns[PAIRS] = self._pair_texts(rules)
        if self.lines is not None:
            columns[CONSTRAINTS] = lines
        return {name: np.array(texts, object) for name, texts in columns.items()}

    def _pair_texts(self, rules: OwnRules) -> list[str]:
        """Return the pairs of each row that have a sign, behind the words that hold."""
        words = [word for kind in self.kinds if (word := f"all-{kind}") in STRICT]
        names = [self.rules.cell_name(cell) for cell in range(self.rules.n_cells)]
        signs = [_SIGNS.get(name, "") for name in RELATION_NAMES]
        texts = []
        for first, last in pairwise(rules.pairs_of.tolist()):
            row = rules.pairs[first:last].tolist()
            shown = (names[a] + signs[kind] + names[b] for a, b, kind in row if signs[kind])
            texts.append(" ".join([*words, *shown]))
        return texts


def _with_layout(text: str, rules: Rules) -> tuple[npt.NDArray[np.int16], Rules]:
    """Return the cage of every cell of a layout, or -1; and rules with cages without a sum."""
    reader = RuleReader(rules.n_digits)
    with prefixed("a layout of cages", InputError, ProblemError):
        labels = drawn_labels(text, reader.drawing)
        numbers: dict[str, int] = {}
        cages = [-1 if x == "." else numbers.setdefault(x, len(numbers)) for x in labels]
        for cage in range(len(numbers)):
            reader.cage(tuple(cell for cell, c in enumerate(cages) if c == cage), None)
    return np.array(cages, np.int16), reader.on(rules)


def _with_cages(rules: OwnRules, cages: npt.NDArray[np.int16], solutions: Bytes) -> OwnRules:
    """Add cages with the sums of solutions, those of a row in the order of their first cells."""
    row, cell = np.nonzero(cages >= 0)
    of_cell = row * cages.shape[1] + cages[row, cell]
    _, first, cage = np.unique(of_cell, return_index=True, return_inverse=True)
    order = np.argsort(first[cage], kind="stable")
    row, cell = row[order], cell[order]
    begins = np.flatnonzero(np.diff(first[cage][order], prepend=-1))
    digits_of_cages = solutions[row, cell].astype(np.int64)
    return rules._replace(
        cages_of=begins_of(np.bincount(row[begins], minlength=len(cages))),
        totals=np.add.reduceat(digits_of_cages, begins) if len(begins) else np.empty(0, np.int64),
        cells_of=np.append(begins, len(cell)),
        cage_cells=cell.astype(np.uint16),
    )


def _cage_texts(rules: OwnRules, n_cells: int) -> tuple[list[str], list[str]]:
    """Return the label of every cell, and the sums, of the cages of each row."""
    cages, sums = [], []
    for first, last in pairwise(rules.cages_of.tolist()):
        is_short = last - first <= len(_LABELS)
        names = _LABELS if is_short else [str(k) for k in range(1, last - first + 1)]
        labels = ["."] * n_cells
        for cage in range(first, last):
            for cell in rules.cage_cells[rules.cells_of[cage] : rules.cells_of[cage + 1]].tolist():
                labels[cell] = names[cage - first]
        cages.append(("" if is_short else " ").join(labels))
        totals = rules.totals[first:last].tolist()
        sums.append(" ".join(f"{names[k]}={total}" for k, total in enumerate(totals)))
    return cages, sums


def _checked_lines(
    kinds: str, sizes: tuple[int, int] | None, n: int
) -> tuple[tuple[str, ...], tuple[int, int]]:
    """Return the kinds of lines and the bounds of their cells; raise if they cannot be drawn."""
    wanted, gap = words_of("lines", kinds, LINES), _gap_of(n)
    min_cells, max_cells = sizes or (min(_USUAL_LINE[0], n), min(_USUAL_LINE[1], n))
    if not 2 <= min_cells <= max_cells <= n:
        raise InputError(f"lines have 2 to {n} cells, not {min_cells} to {max_cells}")
    if RENBAN in wanted and max_cells > _MOST_RENBAN:
        raise InputError(f"a renban has {_MOST_RENBAN} cells or fewer, not {max_cells}")
    if WHISPER in wanted and gap not in _GAPS:
        raise InputError(f"no whispers for {n} digits, whose neighbours differ by {gap}")
    return wanted, (min_cells, max_cells)


def _gap_of(n: int) -> int:
    """Return the least difference of neighbours in a whisper: half of the digits, 5 for 9×9."""
    return (n + 1) // 2


def _rules_in(constraints: str, base: Rules) -> Rules:
    """Return the rules of the lines of a row, as they are read from its text."""
    reader = RuleReader(base.n_digits)
    if constraints:
        read_constraints(constraints, reader)
    return reader.on(Rules(base.n_digits, base.places, ()))


def _line_texts(drawn: Sequence[list[Line]], rules: Rules) -> list[str]:
    """Return the lines of each row as a constraint string; see `read_constraints`."""
    n, begins = rules.n_digits, {kind: f".{kind.capitalize()}" for kind in LINES}
    begins[WHISPER] += f"~{_gap_of(n)}"
    names = [rules.cell_name(cell).upper() for cell in range(rules.n_cells)]
    shape = f".Shape~{n}x{n}" if n != 9 else ""
    return [
        shape
        + "".join("~".join([begins[kind], *(names[c] for c in cells)]) for kind, cells in lines)
        for lines in drawn
    ]
