"""Grids as text: alphabets, blanks, numbers; Arrow columns ↔ arrays of digits.

A grid of N × N cells is N² characters, or N² numbers separated by blanks, commas or semicolons.
Characters come from an *alphabet*. Alphabets for N > 9 disagree (``A`` is 10 in ``1-9A-G``, 11 in
``0-9A-F`` and 1 in ``A-P``), so a whole column decides on the alphabet, never one row. A column
that fits several is refused with the choices.

The core (``core/text.h``) reads them, and writes characters. A malformed grid becomes a blank one,
so the digits that leave this module are 0 .. N.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from batchsolve.core import native
from batchsolve.core.arrays import Bools, Bytes
from batchsolve.errors import InputError
from batchsolve.settings.arguments import text_of

if TYPE_CHECKING:
    import pyarrow as pa

BLANKS = ".0*_-"  # by default
MINUS_ONE = "-1"  # a blank of numbers, which is written in lists alone
MOST_DIGITS = 255  # digits are stored as uint8, 0 is a blank cell

FINE, WRONG_LENGTH = -1, -2
"""Values in an array of faults; others are the wrong cell, or a fault that `explain` knows."""
TWO_BLANKS = -3
"""The fault of a grid with 0 and another blank, but no digit N: digits seem to begin at 0."""
_BAD = 255


@dataclass(frozen=True)
class Notation:
    """One way to write grids of N × N cells.

    Attributes
    ----------
    n_digits : int
        N.
    name : str
        The value of ``--alphabet``: ``1-9A-G``, ``A-P``, …, or ``numbers``.
    symbols : str
        The symbols of the digits 1 .. N, or an empty string for numbers.
    separator : str
        The text between two numbers.
    blank : str
        The symbol of blank cells in output; in texts of numbers, `MINUS_ONE` is ``0``, or ``-`` if
        digits begin at 0.
    blanks : str
        The symbols of blank cells in input; among numbers, 0 and -1 are blank, too.
    drawing : str
        For grids that overlap: lines with ``#`` outside; empty for N × N cells.
    in_lines : bool
        True if grids that overlap are written in the lines of their drawing, not in one.
    first : int
        The first digit of numbers, 0 or 1.
    zero_is_blank : bool
        True if a user named 0 as a blank; else a grid of `TWO_BLANKS` is malformed.
    """

    n_digits: int
    name: str
    symbols: str
    separator: str = ""
    blank: str = "."
    blanks: str = BLANKS
    drawing: str = ""
    in_lines: bool = False
    first: int = 1
    zero_is_blank: bool = False

    @classmethod
    def from_name(cls, name: str | None, n_digits: int, blanks: str | None = None) -> Notation:
        """Return the notation that ``--alphabet`` describes: ranges like ``1-9a-g``, or numbers.

        Parameters
        ----------
        name : str or None
            With N + 1 symbols, the first one is that of blank cells. ``0-15`` and ``1-16`` are
            numbers. None is the usual alphabet.
        n_digits : int
        blanks : str, optional
            The symbols of blank cells in input; the first is that of output.

        Raises
        ------
        InputError
            If the alphabet does not have N different symbols.
        """
        if name is None:
            return usual_notation(n_digits).with_blanks(blanks)
        if text_of("alphabet", name) == "numbers":
            return numbers(n_digits).with_blanks(blanks)
        if is_range(name, n_digits):
            return numbers(n_digits, first=int(name[0])).with_blanks(blanks)
        symbols = symbols_of(name)
        if len(symbols) == n_digits + 1 and blanks is None:
            blanks, symbols = symbols[0], symbols[1:]
        if len(symbols) != n_digits or not can_be_digits(symbols):
            choices = ", ".join(notation.name for notation in notations(n_digits))
            raise InputError(
                f"alphabet {name!r} has the symbols {symbols!r}; {n_digits} different ones are "
                f"needed, such as {choices}"
            )
        return cls(n_digits, name, symbols).with_blanks(blanks)

    def with_blanks(self, blanks: str | None) -> Notation:
        """Return the notation with other blanks, or unchanged for None.

        Raises
        ------
        InputError
            If a character cannot be a blank, or is a digit.
        """
        if blanks is None:
            return self
        check_blanks(blanks)
        symbols = self.symbols or "0123456789"[self.first :]
        if both := sorted(set(blanks) & {*symbols.upper(), *symbols.lower()}):
            raise InputError(f"blank {both[0]!r} is also a digit; name another, or the alphabet")
        return replace(self, blank=blanks[0], blanks=blanks, zero_is_blank="0" in blanks)

    @property
    def begins_at_zero(self) -> bool:
        """True if 0 is the first digit."""
        return self.symbols.startswith("0") or self.first == 0

    @property
    def first_number(self) -> int | None:
        """The number that the first digit is, 0 or 1; None if it is another symbol."""
        return {"0": 0, "1": 1}.get(self.names[0])

    @property
    def names(self) -> list[str]:
        """The texts of the digits 1 .. N."""
        return list(self.symbols) or list(map(str, range(self.first, self.first + self.n_digits)))

    @cached_property
    def table(self) -> Bytes:
        """Byte → digit, 0 for blanks, 255 for other bytes."""
        table = np.full(256, _BAD, np.uint8)
        for blank in self.blanks:
            table[ord(blank)] = 0
        folds = {self.symbols.lower(), self.symbols.upper()}
        for symbols in [*(s for s in folds if len(set(s)) == len(s)), self.symbols]:
            for digit, symbol in enumerate(symbols, 1):
                table[ord(symbol)] = digit
        if self.drawing:
            table[ord("#")] = self.n_digits + 1
        return table

    @cached_property
    def _is_cell(self) -> Bools:
        """For grids that overlap: true for each character of a grid that is a cell."""
        return np.array([c != "#" for c in self.drawing.replace("\n", "")])

    @cached_property
    def _around(self) -> Bytes:
        """For grids that overlap: 0 for each cell, and what `placed` writes around them."""
        drawing = self.drawing if self.in_lines else self.drawing.replace("\n", "")
        around = {"#": self.n_digits + 1, "\n": self.n_digits + 2}
        return np.array([around.get(c, 0) for c in drawing], np.uint8)

    def encode(self, column: pa.Array | str) -> tuple[Bytes, npt.NDArray[np.int32]]:
        """Read a column of grids.

        Parameters
        ----------
        column : pyarrow.StringArray, length n, or str
            One text is a column of it alone.

        Returns
        -------
        grids : ndarray of uint8, shape (n, n_cells)
            Digits 1 .. N, 0 for blank cells; a malformed value is a blank grid, so that callers
            can use its digits as indices.
        faults : ndarray of int32, shape (n,)
            -1 for a well formed value, else a fault for `explain`.
        """
        texts = buffers(column)
        size = self._is_cell.size if self.drawing else self.n_digits**2
        n = len(texts[0]) - 1
        grids, faults = np.empty((n, size), np.uint8), np.empty(n, np.int32)
        if self.symbols:
            last = self.n_digits if self.symbols[0] == "1" and not self.zero_is_blank else 0
            native.read_symbols(texts, self.table, last, grids, faults)
        else:
            numbered = self.first, self.n_digits, self.zero_is_blank
            native.read_numbers(texts, self.table, *numbered, grids, faults)
        if self.drawing:
            misplaced = (grids > self.n_digits) == self._is_cell
            wrong = misplaced.any(axis=1) & (faults == FINE)
            faults[wrong] = misplaced[wrong].argmax(axis=1)
            grids[wrong] = 0
            grids = np.ascontiguousarray(grids[:, self._is_cell])
        return grids, faults

    def read(self, text: str) -> Bytes:
        """Return the digits of one grid, shape (n_cells,); raise `InputError` for a fault."""
        grids, faults = self.encode(text)
        if faults[0] != FINE:
            raise InputError(self.explain(text, int(faults[0])))
        return grids[0]

    def placed(self, grids: Bytes) -> Bytes:
        """Return grids in their drawing, with N + 1 for characters outside and N + 2 for breaks."""
        if not self.drawing:
            return grids
        whole = np.tile(self._around, (len(grids), 1))
        whole[:, self._around == 0] = grids
        return whole

    def explain(self, text: str, fault: int) -> str:
        """Return the message about a value with a fault of `encode`."""
        n = self.n_digits
        rows, columns = n, n
        if self.drawing:
            rows, columns = len(self.drawing.splitlines()), self.drawing.index("\n")
        text = text.strip()
        if "\n" in text and not self.drawing:
            lines = [line.split() if " " in line else line for line in text.splitlines() if line]
            least, most = min(map(len, lines)), max(map(len, lines))
            width = f"{least} to {most}" if least < most else f"{most}"
            return f"{len(lines)} rows of {width} cells; a {n}×{n} grid has {n} rows of {n}"
        tokens = text.replace(",", " ").replace(";", " ").split()
        foreign = next((c for c in text if not c.isascii()), None)
        if fault == WRONG_LENGTH and self.symbols and foreign and len(text) == rows * columns:
            fault = text.index(foreign)  # several bytes long
        if fault == WRONG_LENGTH:
            unit = "characters" if self.symbols else "numbers"
            length = len(text if self.symbols else tokens)
            if length == 0:
                return f"no grid; a {rows}×{columns} grid has {rows * columns} {unit}"
            return f"{length} {unit}; a {rows}×{columns} grid has {rows * columns}"
        if fault == TWO_BLANKS:
            return (
                f"0 and blanks, but no {self.names[-1]}: do the digits begin at 0? then name the "
                f"alphabet {from_zero(n, as_numbers=not self.symbols).name}; or, if 0 is a blank "
                f"cell, too, name both as `blank`, such as .0 (null is .)"
            )
        where = f"row {fault // columns + 1}, column {fault % columns + 1}"
        if not self.symbols:
            last = self.first + n - 1
            why = f"{where}: {tokens[fault]!r} is not a number from {self.first} to {last}"
            return f"{why}, nor a blank{self._other_range(tokens[fault])}"
        bad = text.encode()[fault : fault + 4].decode(errors="replace")[:1]
        if self.drawing and (bad == "#") == self._is_cell[fault]:
            side = "a cell" if self._is_cell[fault] else "outside"
            return f"{where}: {bad!r} where the layout of the table has {side}"
        why = f"{where}: {bad!r} is not in the alphabet {self.name}, nor a blank"
        if bad in "xXoO" or not bad.isalnum():
            why += "; if it is one, name it as `blank`"
        return why + self._other_range(bad)

    def _other_range(self, digit: str) -> str:
        """Return advice for a digit N where digits begin at 0, or else an empty text."""
        n = self.n_digits
        if not self.begins_at_zero or digit != str(n):
            return ""
        return f"; digits begin at 0 here: if at 1, name the alphabet 1-{n}"

    def decode(self, grids: Bytes, where: Bools | None = None) -> pa.Array:
        """Write grids as a column: a value for each row of `where`, null where that is false.

        Parameters
        ----------
        grids : ndarray of uint8, shape (number of true values in `where`, n_cells)
        where : ndarray of bool, shape (n,), optional
            True for all grids by default.

        Returns
        -------
        pyarrow.StringArray, length n
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        grids = self.placed(grids)
        bounds = pa.py_buffer(np.arange(len(grids) + 1, dtype=np.int32) * np.int32(grids.shape[1]))
        if self.symbols:
            data = pa.py_buffer(self._in_bytes(grids))
            texts = pa.StringArray.from_buffers(len(grids), bounds, data)
        else:
            cells = pa.array(self._texts).take(pa.array(grids.reshape(-1)))
            offsets = pa.Array.from_buffers(pa.int32(), len(grids) + 1, [None, bounds])
            texts = pc.binary_join(pa.ListArray.from_arrays(offsets, cells), self.separator)
        if where is None or where.all():
            return texts
        return texts.take(pa.array(np.cumsum(where) - 1, mask=~where))

    def write(self, grid: Bytes) -> str:
        """Return one grid, of shape (n_cells,), as text."""
        placed = self.placed(grid[None])
        if self.symbols:
            return self._in_bytes(placed).decode()
        return self.separator.join(self._texts[k] for k in placed[0].tolist())

    @cached_property
    def _texts(self) -> list[str]:
        """The texts of a blank cell, of the digits, of a cell outside the grids, and of a break."""
        blank = "-0"[self.first] if self.blank == MINUS_ONE else self.blank
        return [blank, *self.names, "#", "\n"]

    def _in_bytes(self, grids: Bytes) -> bytes:
        """Return the bytes of the symbols of grids, one after another."""
        return grids.tobytes().translate(self._bytes)

    @cached_property
    def _bytes(self) -> bytes:
        """The byte of each digit, 0 for blank cells; others are blank, too."""
        return "".join(self._texts).encode().ljust(256, self._texts[0].encode())


def symbols_of(name: str) -> str:
    """Return the symbols of an alphabet.

    Examples
    --------
    >>> symbols_of("0-9A-F"), symbols_of("xyz")
    ('0123456789ABCDEF', 'xyz')
    """

    def between(ends: re.Match[str]) -> str:
        return "".join(map(chr, range(ord(ends[1]), ord(ends[2]) + 1)))

    return re.sub("(.)-(.)", between, name, flags=re.DOTALL)


def can_be_digits(symbols: str) -> bool:
    """Return True if symbols differ, and none of them can separate numbers."""
    taken = set(string.whitespace + ",;")
    return symbols.isascii() and not taken & set(symbols) and len(set(symbols)) == len(symbols)


def is_range(name: str, n_digits: int) -> bool:
    """Return True for a range of N numbers, some of which have two characters or more.

    Examples
    --------
    >>> is_range("0-15", 16), is_range("1-16", 16), is_range("0-8", 9), is_range("0-9", 10)
    (True, True, False, False)
    """
    return name in (f"0-{n_digits - 1}", f"1-{n_digits}") and len(name) > 3


def check_blanks(blanks: str | None) -> None:
    """Raise `InputError` for blanks that cannot stand for a cell; those by default, None, can."""
    if blanks is None:
        return
    taken = set(string.whitespace + ",;|#")
    wrong = [c for c in blanks if not (c.isascii() and c.isprintable()) or c in taken]
    if wrong or blanks == "":
        raise InputError(
            f"blank {(wrong or [''])[0]!r} cannot stand for a cell; name visible ASCII "
            f"characters that do not separate fields or begin comments, such as ? or x"
        )


def numbers(n_digits: int, separator: str = " ", first: int = 1) -> Notation:
    """Return the notation of N² separated numbers, the first of which is 0 or 1."""
    if first:
        return Notation(n_digits, "numbers", "", separator)
    name, blanks = f"0-{n_digits - 1}", BLANKS.replace("0", "")
    return Notation(n_digits, name, "", separator, blanks=blanks, first=0)


def from_zero(n_digits: int, as_numbers: bool = False) -> Notation:
    """Return the notation whose first digit is 0, of characters if there are enough.

    Examples
    --------
    >>> [from_zero(9).name, from_zero(16).name, from_zero(16, as_numbers=True).name]
    ['0-8', '0-9A-F', '0-15']
    """
    symbols = (string.digits + string.ascii_uppercase)[:n_digits]
    if as_numbers or len(symbols) < n_digits:
        return numbers(n_digits, first=0)
    return Notation(n_digits, _range_of(symbols), symbols, blanks=BLANKS.replace("0", ""))


def notations(n_digits: int) -> list[Notation]:
    """Return the known alphabets of N symbols, the most usual first."""
    starts = ["123456789", "0123456789", ""] if n_digits > 9 else ["123456789", ""]
    known = [(digits + string.ascii_uppercase)[:n_digits] for digits in starts]
    return [Notation(n_digits, _range_of(s), s) for s in known if len(s) == n_digits]


def _range_of(symbols: str) -> str:
    """Return the name of an alphabet of digits and capital letters; see `symbols_of`."""
    digits = symbols.rstrip(string.ascii_uppercase)
    letters = symbols[len(digits) :]
    name = f"{digits[0]}-{digits[-1]}" if digits else ""
    return name + (f"{letters[0]}-{letters[-1]}" if len(letters) > 1 else letters)


@cache
def usual_notation(n_digits: int) -> Notation:
    """Return the most usual notation for N digits: characters if there are enough, else numbers."""
    return (notations(n_digits) or [numbers(n_digits)])[0]


def default_box(n_digits: int) -> tuple[int, int] | None:
    """Return the usual box shape (rows, columns) for N digits, or None for a prime N."""
    for rows in range(isqrt(n_digits), 1, -1):
        if n_digits % rows == 0:
            return rows, n_digits // rows
    return None


def buffers(column: pa.Array | str) -> tuple[npt.NDArray[np.signedinteger], Bytes]:
    """Return the offsets and the bytes of a string array, or of one text; a null is empty.

    Examples
    --------
    >>> import pyarrow as pa
    >>> buffers(pa.array(["1.", None, "34"]))[0].tolist()
    [0, 2, 2, 4]
    """
    if isinstance(column, str):
        encoded = np.frombuffer(column.encode(), np.uint8)
        return np.array([0, encoded.size], np.int32), encoded
    _, offsets, data = column.buffers()
    first = column.offset
    if offsets is None or data is None:
        return np.zeros(len(column) + 1, np.int32), np.zeros(0, np.uint8)
    bounds = np.frombuffer(offsets, "i8" if column.type == "large_string" else "i4")
    return bounds[first : first + len(column) + 1], np.frombuffer(data, np.uint8)
