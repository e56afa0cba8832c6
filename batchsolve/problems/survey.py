"""The size and the alphabet of a column of grids, or of single grids."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from batchsolve.core import native
from batchsolve.errors import InputError
from batchsolve.problems.notation import (
    BLANKS,
    MINUS_ONE,
    MOST_DIGITS,
    TWO_BLANKS,
    Notation,
    buffers,
    check_blanks,
    default_box,
    from_zero,
    is_range,
    notations,
    numbers,
    symbols_of,
    usual_notation,
)

if TYPE_CHECKING:
    import pyarrow as pa

_Kind = tuple[int, int, int]  # the numbers of characters and tokens, and the set of bytes
MOST_PLAIN = 9  # digits that all usual alphabets but that of letters have in common


class _Facts(NamedTuple):
    """Facts about values without surrounding white space; each field has one entry a value."""

    n_bytes: npt.NDArray[np.int64]
    n_tokens: npt.NDArray[np.int64]  # 0 without separators
    low: npt.NDArray[np.uint64]  # the set of bytes without separators: those below 64,
    high: npt.NDArray[np.uint64]  # and others; those from 127 on are bit 127
    has_long: npt.NDArray[np.uint8]  # 1 if a token has more bytes than a number

    @classmethod
    def of(cls, column: pa.Array | str) -> _Facts:
        """Return the facts about the values of a string array, or about one value."""
        return cls(*native.survey(buffers(column)))

    def kinds(self) -> Iterator[_Kind]:
        """Yield the kind of each value."""
        columns = (each.tolist() for each in self[:4])
        return ((n, k, low | high << 64) for n, k, low, high in zip(*columns, strict=True))


class Form(NamedTuple):
    """The size of a grid, and the kind of text that it is.

    Attributes
    ----------
    n_digits : int
        N.
    as_numbers : bool
        True for N² numbers, False for N² characters.
    """

    n_digits: int
    as_numbers: bool

    @property
    def code(self) -> int:
        """The number of the form in an array of `forms`."""
        return 2 * self.n_digits + self.as_numbers

    @classmethod
    def of(cls, code: int) -> Form:
        """Return the form with this number."""
        return cls(code // 2, bool(code % 2))


NO_FORM = 0
"""The number of a text that has no form."""


def forms(column: pa.Array) -> npt.NDArray[np.int64]:
    """Return the number of the `Form` of each text, or `NO_FORM`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> forms(pa.array(["1..2 is text", "1..2", "1 0 10 2", "1.."])).tolist()
    [0, 4, 5, 0]
    """
    facts = _Facts.of(column)
    tokens = facts.n_tokens
    n_cells = np.where(tokens, tokens, facts.n_bytes)
    n = np.sqrt(n_cells).astype(np.int64)
    has_cells = (facts.low | facts.high) > 0
    is_ascii = facts.high < np.uint64(1 << 63)
    fits = has_cells & is_ascii & (n * n == n_cells) & (n <= MOST_DIGITS)
    fits &= (tokens == 0) | (facts.has_long == 0)
    return np.where(fits, 2 * n + (tokens > 0), NO_FORM)


def n_words(column: pa.Array) -> npt.NDArray[np.int64]:
    """Return the number of words of each text, with blanks or commas between them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> n_words(pa.array([", 1, 10  2 ", "10", " ", ","])).tolist()
    [3, 1, 0, 0]
    """
    facts = _Facts.of(column)
    return np.where(facts.n_tokens, facts.n_tokens, (facts.low | facts.high) > 0)


class Survey:
    """A summary of the values of a column, from which size and alphabet are chosen.

    Parameters
    ----------
    blanks : str, optional
        The symbols of blank cells; by default, one of `BLANKS`.

    Examples
    --------
    >>> survey = Survey()
    >>> survey.add("1234" + "." * 12)
    >>> size = survey.size()
    >>> size, survey.notation(size).name
    (4, '1-4')
    """

    def __init__(self, blanks: str | None = None) -> None:
        check_blanks(blanks)
        self._named = blanks
        self._blanks = BLANKS if blanks is None else blanks
        self._kinds: Counter[_Kind] = Counter()
        self._separators: Counter[str] = Counter()
        self._ends: Counter[tuple[int, str]] = Counter()  # of N² numbers, by N; see `ends_of`

    def add(self, column: pa.Array | str) -> None:
        """Add the values of a string array, or one value."""
        facts = _Facts.of(column)
        self._kinds.update(facts.kinds())
        separated = np.flatnonzero(facts.n_tokens)
        if separated.size:
            text = column if isinstance(column, str) else column[int(separated[0])].as_py()
            self._separators[next((c for c in ",;\t" if c in text), " ")] += separated.size
            self._add_ends(column, separated, facts.n_tokens[separated])

    def _add_ends(self, column: pa.Array | str, rows: Any, tokens: Any) -> None:
        """Note which numbers the values of some rows begin and end with; see `ends_of`."""
        for n_cells in np.unique(tokens).tolist():
            n = isqrt(n_cells)
            if n * n != n_cells or n > MOST_DIGITS:
                continue
            some = column if isinstance(column, str) else column.take(rows[tokens == n_cells])
            one, faults = replace(numbers(n), blanks=self._blanks).encode(some)
            zero, _ = replace(numbers(n, first=0), blanks=self._blanks).encode(some)
            self._ends[n, "blanks"] += int((faults == TWO_BLANKS).sum())
            self._ends[n, "last"] += int((one == n).any(axis=1).sum())
            is_whole = (zero == 1).any(axis=1) & (zero == n).any(axis=1) & (zero > 0).all(axis=1)
            self._ends[n, "whole"] += int(is_whole.sum())

    def add_kind(self, kind: _Kind, separator: str) -> None:
        """Add a value, given its numbers of characters and tokens, and its set of bytes."""
        self._kinds[kind] += 1
        self._separators[separator] += 1

    def size(self, needs_boxes: bool = True) -> int | None:
        """Return the most frequent N of values that can be N × N grids, or None if none can."""
        votes: Counter[int] = Counter()
        for (length, tokens, _), count in self._kinds.items():
            n = isqrt(tokens or length)
            has_boxes = default_box(n) is not None or (not needs_boxes and n > 1)
            if n * n == (tokens or length) and n <= MOST_DIGITS and has_boxes:
                votes[n] += count
        return max(votes, key=lambda n: (votes[n], -n)) if votes else None

    def has_blanks(self) -> bool:
        """Return True if any value has a character that can be a blank cell."""
        blanks = _mask(self._blanks)
        return any(used & blanks for _, _, used in self._kinds)

    def first_digit(self, n_digits: int, full: Iterable[Survey] = ()) -> int:
        """Return the digit that grids begin with: 0 if some have 0 and blanks, and none has N.

        Parameters
        ----------
        n_digits : int
        full : iterable of Survey, optional
            Surveys of full grids beside these, such as solutions: the first that has 0 or N tells
            if these have neither.

        Examples
        --------
        >>> survey = Survey()
        >>> survey.add("0 . . 1 . . . . . . . . . . . .")
        >>> survey.first_digit(4)
        0
        """
        ends = self.ends_of(n_digits)
        seem_from_0, has_last = ends["blanks"], ends["last"]
        for beside in full if not (seem_from_0 or has_last) else ():
            ends = beside.ends_of(n_digits)
            seem_from_0, has_last = ends["whole"], ends["last"]
            if seem_from_0 or has_last:
                break
        is_named = self._named is not None and "0" in self._named
        return int(is_named or not seem_from_0 or has_last > 0)

    def ends_of(self, n: int) -> dict[str, int]:
        """Return the numbers of grids with 0 and blanks, with N, and with 0 to N - 1 alone.

        The first have no N.
        """
        ends = {name: self._ends[n, name] for name in ("blanks", "last", "whole")}
        if n > MOST_PLAIN:  # characters have letters there, which tell
            return ends
        zero, last, before = (_mask(str(digit)) for digit in (0, n, n - 1))
        others = _mask(self._blanks) & ~zero
        digits = _mask(string.digits[: n + 1])
        for (length, tokens, used), count in self._kinds.items():
            if tokens or length != n * n or used & ~(others | digits):
                continue
            ends["last"] += count if used & last else 0
            if used & zero and not used & last:
                ends["blanks"] += count if used & others else 0
                ends["whole"] += count if used & before and not used & others else 0
        return ends

    def notation(self, n_digits: int, like: str = "", first: int | None = None) -> Notation:
        """Return the notation that fits the most values.

        Of several alphabets that fit, one that begins as `like` does is taken. `first` is the first
        digit, if it is known; see `first_digit`.

        Raises
        ------
        AmbiguousNotationError
            If several alphabets fit equally many values and read them differently.
        InputError
            If no value fits a notation.
        """
        as_numbers = any(tokens == n_digits**2 for _, tokens, _ in self._kinds)
        rows = {k: c for k, c in self._kinds.items() if k[1] == 0 and k[0] == n_digits**2}
        if not as_numbers and not rows:
            raise InputError(
                f"no value is a {n_digits}×{n_digits} grid of {n_digits**2} characters or numbers"
            )
        first = self.first_digit(n_digits) if first is None else first
        if self.prefers_numbers(n_digits):
            separator, seen = self._separators.most_common(1)[0][0], 0
            for _, tokens, mask in self._kinds:
                seen |= mask if tokens == n_digits**2 else 0
            made = numbers(n_digits, separator, first)
            shown = (b for b in self._blanks if b != "0" and seen >> ord(b) & 1)
            blank = next(shown, ".0"[first]).replace("-", MINUS_ONE)
            return replace(made, blank=blank).with_blanks(self._named)
        if first == 0 and n_digits <= MOST_PLAIN:
            used = self._symbols_used(rows, made := from_zero(n_digits))
            blank = next((b for b in made.blanks if b in used), made.blank)
            return replace(made, blank=blank).with_blanks(self._named)
        known = notations(n_digits)
        if self._named is not None:  # then they are not digits
            taken = {*self._named.lower(), *self._named.upper()}
            known = [n.with_blanks(self._named) for n in known if not taken & set(n.symbols)]
        # of two kinds of blanks in a value, one may be a digit of another alphabet
        loose = {n: _score(n, rows, most_blanks=len(self._blanks)) for n in known}
        strict = loose if self._named else {n: _score(n, rows, most_blanks=1) for n in known}
        if any(loose.values()) and not any(strict.values()):
            raise InputError(
                "every value has several kinds of blank cells, one of which may be a digit; say "
                "which symbols are the digits with `alphabet`"
            )
        most = max(strict.values(), default=0)
        if most == 0:
            names = ", ".join(n.name for n in notations(n_digits)) or "numbers"
            raise InputError(
                f"no value fits an alphabet for {n_digits}×{n_digits} grids ({names}); "
                f"name yours with `alphabet`, or blanks of another kind with `blank`"
            )
        best = [notation for notation, score in strict.items() if score == most]
        # a column of nothing but blanks fits every alphabet; any other has to leave one
        used = self._symbols_used(rows, best[0])
        all_blanks = set(self._blanks)
        if len(best) > 1 and not used <= all_blanks - set("".join(n.symbols for n in best)):
            best = [n for n in best if len(used & all_blanks - set(n.symbols)) <= 1] or best
            best = [n for n in best if n.symbols[: len(like)] == like[: len(n.symbols)]] or best
            if len(best) > 1:
                raise AmbiguousNotationError([notation.name for notation in best])
        blanks = [b for b in self._blanks if b in used and b not in best[0].symbols]
        return replace(best[0], blank=(blanks or [self._named or "."])[0][0])

    def prefers_numbers(self, n_digits: int) -> bool:
        """Return True if at least as many values are N² numbers as are N² characters."""
        votes = Counter[bool]()
        for (length, tokens, _), count in self._kinds.items():
            if (tokens or length) == n_digits**2:
                votes[tokens > 0] += count
        return votes[True] > 0 and votes[True] >= votes[False]

    @staticmethod
    def _symbols_used(rows: Iterable[_Kind], notation: Notation) -> set[str]:
        allowed, all_used = _allowed(notation), 0
        for _, _, used in rows:
            if not used & ~allowed:
                all_used |= used
        return {chr(b) for b in range(127) if all_used >> b & 1}


@dataclass(frozen=True)
class Signs:
    """The signs of grids, as far as a user names them.

    Attributes
    ----------
    alphabet : str, optional
        The alphabet of the grids of one size, with which sizes of other alphabets may be mixed.
    blanks : str, optional
        The symbols of blank cells.
    like : str
        The first symbols of alphabets of other sizes, if several fit.
    has_blank : bool
        True if no grid has as many digits as the alphabet has symbols: the first may be the blank.
    """

    alphabet: str | None = None
    blanks: str | None = None
    like: str = ""
    has_blank: bool = False

    def names(self, n_digits: int) -> bool:
        """Return True if the alphabet has N digits, or consists of numbers."""
        if self.alphabet is None or self.alphabet == "numbers":
            return self.alphabet is not None
        if is_range(self.alphabet, n_digits):
            return True
        symbols = symbols_of(self.alphabet)
        if len(symbols) == n_digits + 1:
            return self.has_blank or symbols[0] in BLANKS
        return len(symbols) == n_digits and not set(symbols) & _NO_DIGITS

    def names_letters(self, n_digits: int) -> bool:
        """Return True if the alphabet has N digits and begins with neither 0 nor 1.

        Such an alphabet leaves open how numbers are read.
        """
        if self.alphabet is None or not self.names(n_digits):
            return False
        return Notation.from_name(self.alphabet, n_digits, self.blanks).names[0] not in ("0", "1")

    @property
    def may_name_others(self) -> bool:
        """True if the alphabet is one for a size whose grids have several usual alphabets."""
        n = len(symbols_of(self.alphabet or ""))
        return n > MOST_PLAIN and default_box(n) is not None

    def notation(self, survey: Survey, n_digits: int, first: int | None = None) -> Notation:
        """Return the notation of the grids of a size, given a survey of them.

        An alphabet that begins at 0 or 1 tells the first digit of numbers, too.

        Raises
        ------
        AmbiguousNotationError, InputError
            As `Survey.notation`.
        """
        if not self.names(n_digits):
            return survey.notation(n_digits, self.like, first)
        named = Notation.from_name(str(self.alphabet), n_digits, self.blanks)
        if not survey.prefers_numbers(n_digits):
            return named
        if self.alphabet == "numbers" or self.names_letters(n_digits):
            return survey.notation(n_digits, self.like, first)
        return survey.notation(n_digits, self.like, int(named.names[0]))

    def notation_of(self, text: str, form: Form) -> Notation:
        """Return the only notation that fits one grid; see `notations_of_each`.

        Raises
        ------
        InputError
            If there is none, or it is ambiguous.
        """
        if form.as_numbers:
            survey = Survey(self.blanks)
            survey.add(text)  # where its numbers begin, too
            return self.notation(survey, form.n_digits)
        [found] = self.notations_of_each(text, form)
        if isinstance(found, InputError):
            raise found.with_traceback(None)  # which is kept
        return found

    def notations_of_each(self, column: pa.Array | str, form: Form) -> list[Notation | InputError]:
        """Return the only notation that fits each grid, or the error that it is ambiguous.

        Parameters
        ----------
        column : pyarrow.StringArray, or str
            Grids of one form, or one grid.
        form : Form
        """
        if not form.as_numbers:
            return [_own_notation(self, form, used) for _, _, used in _Facts.of(column).kinds()]
        texts = [column] if isinstance(column, str) else column.to_pylist()
        separators = [next((c for c in ",;\t" if c in text), " ") for text in texts]
        return [_own_notation(self, form, 0, separator) for separator in separators]


_NO_DIGITS = set(BLANKS) - {"0"}


@lru_cache(maxsize=1 << 16)
def _own_notation(signs: Signs, form: Form, used: int, separator: str = " ") -> Any:
    """Return the only notation for this set of bytes, or an error if it is ambiguous."""
    survey, n = Survey(signs.blanks), form.n_digits
    survey.add_kind((n * n, n * n * form.as_numbers, used), separator)
    try:
        return signs.notation(survey, n)
    except InputError as error:
        if isinstance(error, AmbiguousNotationError) or n > MOST_PLAIN:
            return error
        return usual_notation(n).with_blanks(signs.blanks)  # its faults name the wrong symbol


class AmbiguousNotationError(InputError):
    """A column that several alphabets fit."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(f"the alphabet can be {' or '.join(names)}; say which with `alphabet`")
        self.names = names


def _score(notation: Notation, rows: dict[_Kind, int], most_blanks: int) -> int:
    """Return the number of values that fit a notation and have at most `most_blanks` blanks."""
    allowed = _allowed(notation)
    blanks = _mask("".join(set(notation.blanks) - set(notation.symbols)))
    return sum(
        count
        for (_, _, used), count in rows.items()
        if not used & ~allowed and (used & blanks).bit_count() <= most_blanks
    )


def _allowed(notation: Notation) -> int:
    return _mask(notation.blanks + notation.symbols.upper() + notation.symbols.lower())


def _mask(characters: str) -> int:
    return sum(1 << b for b in set(characters.encode()))
