"""Lines that each row of a run gets, written as constraint strings (see `read_constraints`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from batchsolve.errors import InputError
from batchsolve.formats.grid_rules import GridRules
from batchsolve.problems.random_layouts import Keys, Numbers
from batchsolve.problems.random_lines import (
    KINDS,
    PALINDROME,
    RENBAN,
    THERMO,
    WHISPER,
    Line,
    random_lines,
)
from batchsolve.problems.row_rules import Given
from batchsolve.problems.rules import Rules
from batchsolve.settings import PuzzleSettings, words_of

_USUAL = (3, 5)  # cells of a line
_GAPS = range(2, 10)  # the differences that a whisper can have
_MOST_RENBAN = 9  # cells; rules of pairs say how far apart digits are


@dataclass(frozen=True)
class DrawnLines:
    """The lines of its own that each row gets.

    Attributes
    ----------
    rules : Rules
        The cells and digits, without a rule.
    kinds : tuple of str
        Some of `KINDS`.
    sizes : (int, int)
        The bounds of the number of cells of a line.
    """

    rules: Rules
    kinds: tuple[str, ...]
    sizes: tuple[int, int]

    @classmethod
    def of(cls, rules: Rules, wanted: PuzzleSettings) -> DrawnLines | None:
        """Return the lines that settings describe, or None.

        Raises
        ------
        InputError
            If they cannot be drawn.
        """
        if wanted.lines is None:
            return None
        n = rules.n_digits
        sizes = wanted.line_cells or (min(_USUAL[0], n), min(_USUAL[1], n))
        kinds = words_of("lines", wanted.lines, KINDS)
        drawn = cls(Rules(n, rules.places, ()), kinds, sizes)
        if not 2 <= sizes[0] <= sizes[1] <= n:
            raise InputError(f"no lines of {sizes[0]} to {sizes[1]} cells for {n} digits")
        if RENBAN in kinds and sizes[1] > _MOST_RENBAN:
            raise InputError(f"a renban has {_MOST_RENBAN} cells or fewer, not {sizes[1]}")
        if WHISPER in kinds and drawn._gap not in _GAPS:
            raise InputError(f"no whispers for {n} digits, whose neighbours differ by {drawn._gap}")
        return drawn

    @property
    def _gap(self) -> int:
        """The least difference of neighbours in a whisper: half of the digits, 5 for 9×9."""
        return (self.rules.n_digits + 1) // 2

    def draw(
        self, keys: Keys, rows: Numbers, attempts: Numbers, solutions: npt.NDArray[np.uint8]
    ) -> list[list[Line]]:
        """Return the lines of rows with these solutions; see `random_lines`."""
        return random_lines(keys, rows, attempts, solutions, self.kinds, self.sizes, self._gap)

    def given(self, drawn: list[list[Line]]) -> Given:
        """Return the rules of rows with these lines, of which there is one or more."""
        each = [self._rules_of(lines) for lines in drawn]
        return Given.of(each, np.empty((len(each), 0), np.uint8))

    def _rules_of(self, lines: list[Line]) -> Rules:
        said = GridRules(self.rules.n_digits)
        for kind, cells in lines:
            if kind == RENBAN:
                said.renban(cells)
            elif kind == PALINDROME:
                said.palindrome(cells)
            else:
                said.line(cells, "less" if kind == THERMO else f"gap{self._gap}")
        return said.on(self.rules)

    def texts(self, drawn: list[list[Line]]) -> list[str]:
        """Return the constraint string of each row."""
        n = self.rules.n_digits
        names = [self.rules.cell_name(cell).upper() for cell in range(self.rules.n_cells)]
        begins = {kind: f".{kind.capitalize()}" for kind in self.kinds}
        if WHISPER in begins:
            begins[WHISPER] += f"~{self._gap}"
        shape = f".Shape~{n}x{n}" if n != 9 else ""
        return [
            shape
            + "".join("~".join([begins[kind], *(names[c] for c in cells)]) for kind, cells in lines)
            for lines in drawn
        ]
