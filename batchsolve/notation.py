"""How grids are written as text: alphabets, blanks, numbers; Arrow columns ↔ arrays of digits.

A grid of N × N cells is written either as N² characters or as N² numbers separated by blanks,
commas or semicolons. Characters come from an *alphabet*; those for N > 9 clash (``A`` is 10 in
``1-9A-G``, 11 in ``0-9A-F`` and 1 in ``A-P``), so the alphabet is chosen from a whole column,
never from one row, and a column that leaves several possible is refused with the choices.
"""

from __future__ import annotations

import string
from collections import Counter
from dataclasses import dataclass
from math import isqrt

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import njit

from batchsolve.errors import InputError

BLANKS = ".0*_"
MOST_DIGITS = 255  # digits are stored as uint8, 0 is a blank cell

_FINE, _WRONG_LENGTH = -1, -2  # in an array of faults; otherwise the cell that is wrong
_BAD = 255


@njit(cache=True, nogil=True)
def _trim(data, begin, end):
    """Return the bounds of a value without the white space around it."""
    while begin < end and data[begin] <= 32:
        begin += 1
    while begin < end and data[end - 1] <= 32:
        end -= 1
    return begin, end


@njit(cache=True, nogil=True)
def _survey(data, offsets):
    """For each value: its characters, its tokens (0 without separators), the set of its bytes.

    Separators are not part of the set. Bytes of 127 and more all set bit 127.
    """
    n = offsets.size - 1
    facts = np.zeros((n, 4), np.uint64)
    one = np.uint64(1)
    for k in range(n):
        begin, end = _trim(data, offsets[k], offsets[k + 1])
        tokens, inside, separated = 0, False, False
        for x in range(begin, end):
            c = data[x]
            if c == 32 or c == 44 or c == 59 or c == 9:
                separated, inside = True, False
                continue
            if not inside:
                inside = True
                tokens += 1
            if c < 64:
                facts[k, 2] |= one << np.uint64(c)
            else:
                facts[k, 3] |= one << np.uint64(min(c, 127) - 64)
        facts[k, 0] = end - begin
        if separated:
            facts[k, 1] = tokens
    return facts


@njit(cache=True, nogil=True)
def _encode_symbols(data, offsets, table, grids, faults):
    n_cells = grids.shape[1]
    for k in range(faults.size):
        begin, end = _trim(data, offsets[k], offsets[k + 1])
        if end - begin != n_cells:
            faults[k] = _WRONG_LENGTH
            continue
        for cell in range(n_cells):
            digit = table[data[begin + cell]]
            if digit == _BAD and faults[k] == _FINE:
                faults[k] = cell
            grids[k, cell] = digit


@njit(cache=True, nogil=True)
def _encode_numbers(data, offsets, n_digits, grids, faults):
    n_cells = grids.shape[1]
    for k in range(faults.size):
        begin, end = _trim(data, offsets[k], offsets[k + 1])
        cell, x = 0, begin
        while x < end:
            first = x
            number, numeric = 0, True
            while x < end and not (data[x] == 32 or data[x] == 44 or data[x] == 59 or data[x] == 9):
                if 48 <= data[x] <= 57:
                    number = min(10 * number + data[x] - 48, 100_000)
                else:
                    numeric = False
                x += 1
            size = x - first
            if size > 0:
                if not numeric:
                    c = data[first]
                    blank = size == 1 and (c == 46 or c == 42 or c == 95)
                    blank = blank or (size == 2 and c == 45 and data[first + 1] == 49)
                    number = 0 if blank else 100_000
                if number > n_digits and faults[k] == _FINE:
                    faults[k] = cell
                if cell < n_cells:
                    grids[k, cell] = number if number <= n_digits else 0
                cell += 1
            x += 1
        if cell != n_cells:
            faults[k] = _WRONG_LENGTH


@njit(cache=True, nogil=True)
def _decode_numbers(grids, separator, blank):
    n, n_cells = grids.shape
    data = np.empty(n * n_cells * 4, np.uint8)
    offsets = np.zeros(n + 1, np.int32)
    x = 0
    for k in range(n):
        for cell in range(n_cells):
            if cell > 0:
                data[x] = separator
                x += 1
            digit = grids[k, cell]
            if digit == 0:
                data[x] = blank
                x += 1
                continue
            if digit >= 100:
                data[x] = 48 + digit // 100
                x += 1
            if digit >= 10:
                data[x] = 48 + digit // 10 % 10
                x += 1
            data[x] = 48 + digit % 10
            x += 1
        offsets[k + 1] = x
    return data[:x], offsets


@dataclass(frozen=True)
class Notation:
    """One way to write grids of N × N cells.

    Attributes
    ----------
    n_digits : int
        N.
    name : str
        What ``--alphabet`` calls it: ``1-9A-G``, ``A-P``, …, or ``numbers``.
    symbols : str
        The symbols of the digits 1 .. N, or an empty string for numbers.
    separator : str
        What stands between two numbers.
    blank : str
        What blank cells are written as.
    """

    n_digits: int
    name: str
    symbols: str
    separator: str = ""
    blank: str = "."

    @classmethod
    def from_name(cls, name: str, n_digits: int) -> Notation:
        """Return the notation that ``--alphabet`` describes: ranges like ``1-9a-g``, or numbers.

        Raises
        ------
        InputError
            If the alphabet has not N different symbols.
        """
        if name == "numbers":
            return numbers(n_digits)
        symbols, x = "", 0
        while x < len(name):
            if name[x + 1 : x + 2] == "-" and x + 2 < len(name):
                symbols += "".join(map(chr, range(ord(name[x]), ord(name[x + 2]) + 1)))
                x += 3
            else:
                symbols += name[x]
                x += 1
        fits = len(symbols) == len(set(symbols)) == n_digits and symbols.isascii()
        if not fits or set(symbols) & set(string.whitespace + ",;"):
            choices = ", ".join(notation.name for notation in notations(n_digits))
            raise InputError(
                f"alphabet {name!r} has the symbols {symbols!r}; {n_digits} different ones are "
                f"needed, such as {choices}"
            )
        return cls(n_digits, name, symbols)

    @property
    def table(self) -> npt.NDArray[np.uint8]:
        """Byte → digit, 0 for blanks, 255 for bytes that are no symbol."""
        table = np.full(256, _BAD, np.uint8)
        for blank in BLANKS:
            table[ord(blank)] = 0
        folds = {self.symbols.lower(), self.symbols.upper()}
        for symbols in [*(s for s in folds if len(set(s)) == len(s)), self.symbols]:
            for digit, symbol in enumerate(symbols, 1):
                table[ord(symbol)] = digit
        return table

    def encode(self, column: pa.Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
        """Read a column of grids.

        Parameters
        ----------
        column : pyarrow.StringArray, length n

        Returns
        -------
        grids : ndarray of uint8, shape (n, N²)
            Digits 1 .. N, 0 for blank cells.
        faults : ndarray of int32, shape (n,)
            -1 where a value is well formed; see `explain` otherwise.
        """
        data, offsets = _buffers(column)
        grids = np.zeros((len(column), self.n_digits**2), np.uint8)
        faults = np.full(len(column), _FINE, np.int32)
        if self.symbols:
            _encode_symbols(data, offsets, self.table, grids, faults)
        else:
            _encode_numbers(data, offsets, self.n_digits, grids, faults)
        return grids, faults

    def explain(self, text: str, fault: int) -> str:
        """Say what is wrong with a value that `encode` found fault with."""
        n = self.n_digits
        text = text.strip()
        tokens = text.replace(",", " ").replace(";", " ").split()
        foreign = next((c for c in text if not c.isascii()), None)
        if fault == _WRONG_LENGTH and self.symbols and foreign and len(text) == n * n:
            fault = text.index(foreign)  # several bytes long
        if fault == _WRONG_LENGTH:
            what = "characters" if self.symbols else "numbers"
            length = len(text if self.symbols else tokens)
            if length == 0:
                return f"no grid; a {n}×{n} grid has {n * n} {what}"
            return f"{length} {what}; a {n}×{n} grid has {n * n}"
        where = f"row {fault // n + 1}, column {fault % n + 1}"
        if not self.symbols:
            return f"{where}: {tokens[fault]!r} is not a number from 1 to {n}, nor a blank"
        bad = text.encode()[fault : fault + 4].decode(errors="replace")[:1]
        return f"{where}: {bad!r} is not in the alphabet {self.name}, nor a blank"

    def decode(self, grids: npt.NDArray[np.uint8], where: npt.NDArray[np.bool_]) -> pa.Array:
        """Write grids as a column with one value a row of `where`, null where that is false.

        Parameters
        ----------
        grids : ndarray of uint8, shape (number of true values in `where`, N²)
        where : ndarray of bool, shape (n,)

        Returns
        -------
        pyarrow.StringArray, length n
        """
        if self.symbols:
            table = np.frombuffer((self.blank + self.symbols).encode(), np.uint8)
            data = table[grids].reshape(-1)
            starts = np.arange(len(grids) + 1, dtype=np.int32) * np.int32(self.n_digits**2)
        else:
            data, starts = _decode_numbers(grids, ord(self.separator), ord(self.blank))
        offsets = np.concatenate([[0], starts[np.cumsum(where)]]).astype(np.int32)
        valid = pa.py_buffer(np.packbits(where, bitorder="little"))
        return pa.StringArray.from_buffers(
            len(where), pa.py_buffer(offsets), pa.py_buffer(data), valid, int((~where).sum())
        )


def numbers(n_digits: int, separator: str = " ") -> Notation:
    """Return the notation of N² separated numbers."""
    return Notation(n_digits, "numbers", "", separator)


def notations(n_digits: int) -> list[Notation]:
    """Return the known alphabets of N symbols, the most usual first."""
    letters = string.ascii_uppercase
    known: list[Notation] = []
    for digits in ("123456789"[:n_digits], "0123456789", ""):
        symbols = (digits + letters)[:n_digits]
        if len(symbols) < n_digits or (digits == "0123456789" and n_digits < 10):
            continue
        rest = symbols[len(digits) :]
        name = f"{digits[0]}-{digits[-1]}" if digits else ""
        name += f"{rest[0]}-{rest[-1]}" if len(rest) > 1 else rest
        known.append(Notation(n_digits, name, symbols))
    return known


def usual_notation(n_digits: int) -> Notation:
    """Return the most usual notation for N digits: characters as far as they go, else numbers."""
    return (notations(n_digits) or [numbers(n_digits)])[0]


def default_box(n_digits: int) -> tuple[int, int] | None:
    """Return the usual box shape (rows, columns) for N digits, or None for a prime N."""
    for rows in range(isqrt(n_digits), 1, -1):
        if n_digits % rows == 0:
            return rows, n_digits // rows
    return None


class Survey:
    """What the values of a column look like: enough to choose the size and the alphabet.

    Examples
    --------
    >>> survey = Survey()
    >>> survey.add(pa.array(["1234" + "." * 12]))
    >>> size = survey.size()
    >>> size, survey.notation(size).name
    (4, '1-4')
    """

    def __init__(self) -> None:
        self._kinds: Counter[tuple[int, int, int, int]] = Counter()
        self._separators: Counter[str] = Counter()

    def add(self, column: pa.Array) -> None:
        """Take the values of a string array into account."""
        facts = _survey(*_buffers(column))
        kinds, times = np.unique(facts, axis=0, return_counts=True)
        for kind, count in zip(kinds.tolist(), times.tolist(), strict=True):
            self._kinds[tuple(kind)] += count
        separated = np.flatnonzero(facts[:, 1])
        if separated.size:
            text = column[int(separated[0])].as_py()
            self._separators[next((c for c in ",;\t" if c in text), " ")] += separated.size

    def size(self) -> int | None:
        """Return the N of most values that can be N × N grids, or None if none can."""
        votes: Counter[int] = Counter()
        for (length, tokens, _, _), count in self._kinds.items():
            n = isqrt(tokens or length)
            if n * n == (tokens or length) and n <= MOST_DIGITS and default_box(n):
                votes[n] += count
        return max(votes, key=lambda n: (votes[n], -n)) if votes else None

    def has_blanks(self) -> bool:
        """Return whether any value holds a character that can be a blank cell."""
        blanks, _ = _mask(BLANKS)
        return any(low & blanks for _, _, low, _ in self._kinds)

    def notation(self, n_digits: int) -> Notation:
        """Return the one notation that fits the most values.

        Raises
        ------
        AmbiguousNotationError
            If several alphabets fit equally many values and read them differently.
        InputError
            If no value fits any.
        """
        as_numbers = any(t == n_digits**2 for _, t, _, _ in self._kinds)
        rows = {k: c for k, c in self._kinds.items() if k[1] == 0 and k[0] == n_digits**2}
        if not as_numbers and not rows:
            raise InputError(
                f"no value is a {n_digits}×{n_digits} grid of {n_digits**2} characters or numbers"
            )
        if self.prefers_numbers(n_digits):
            return numbers(n_digits, self._separators.most_common(1)[0][0])
        strict = {n: _score(n, rows, most_blanks=1) for n in notations(n_digits)}
        loose = {n: _score(n, rows, most_blanks=len(BLANKS)) for n in notations(n_digits)}
        if any(loose.values()) and not any(strict.values()):
            raise InputError(
                "every value has several kinds of blank cells, one of which may be a digit; say "
                "which symbols are the digits with --alphabet"
            )
        scores = strict
        most = max(scores.values(), default=0)
        if most == 0:
            known = ", ".join(n.name for n in notations(n_digits)) or "numbers"
            raise InputError(
                f"no value fits an alphabet for {n_digits}×{n_digits} grids ({known}); "
                f"name yours with --alphabet"
            )
        best = [notation for notation, score in scores.items() if score == most]
        used = self._symbols_used(rows, best[0])
        if len(best) > 1 and not used <= set(BLANKS) - set("".join(n.symbols for n in best)):
            best = [n for n in best if len(used & set(BLANKS) - set(n.symbols)) <= 1] or best
            if len(best) > 1:
                raise AmbiguousNotationError([notation.name for notation in best])
        blanks = [b for b in BLANKS if b in used and b not in best[0].symbols]
        blank = blanks[0] if blanks else "."
        return Notation(n_digits, best[0].name, best[0].symbols, blank=blank)

    def prefers_numbers(self, n_digits: int) -> bool:
        """Whether more values are N² numbers than are N² characters."""
        votes = Counter[bool]()
        for (length, tokens, _, _), count in self._kinds.items():
            if (tokens or length) == n_digits**2:
                votes[tokens > 0] += count
        return votes[True] > 0 and votes[True] >= votes[False]

    @staticmethod
    def _symbols_used(rows: dict[tuple[int, int, int, int], int], notation: Notation) -> set[str]:
        low, high = _allowed(notation)
        used: set[str] = set()
        for _, _, lo, hi in rows:
            if not (lo & ~low or hi & ~high):
                used |= {chr(b) for b in range(127) if (lo, hi)[b // 64] >> b % 64 & 1}
        return used


class AmbiguousNotationError(InputError):
    """A column that several alphabets fit."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(f"the alphabet can be {' or '.join(names)}; say which with --alphabet")
        self.names = names


def _score(notation: Notation, rows: dict[tuple[int, int, int, int], int], most_blanks: int) -> int:
    """Return how many values fit a notation and use no more than so many kinds of blank."""
    low, high = _allowed(notation)
    blanks = _mask("".join(set(BLANKS) - set(notation.symbols)))
    return sum(
        count
        for (_, _, lo, hi), count in rows.items()
        if not (lo & ~low or hi & ~high)
        and (lo & blanks[0]).bit_count() + (hi & blanks[1]).bit_count() <= most_blanks
    )


def _allowed(notation: Notation) -> tuple[int, int]:
    return _mask(BLANKS + notation.symbols.upper() + notation.symbols.lower())


def _mask(characters: str) -> tuple[int, int]:
    low = high = 0
    for b in characters.encode():
        if b < 64:
            low |= 1 << b
        else:
            high |= 1 << (b - 64)
    return low, high


def _buffers(column: pa.Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Return the bytes and the offsets of a string array; a null is an empty value."""
    _, offsets, data = column.buffers()
    first = column.offset
    if offsets is None or data is None:
        return np.zeros(0, np.uint8), np.zeros(len(column) + 1, np.int32)
    bounds = np.frombuffer(offsets, np.int32)[first : first + len(column) + 1]
    return np.frombuffer(data, np.uint8), bounds
