"""The size and the alphabet of grids, as their texts show them and as users name them.

The core tells the `Form` of each text. Grids of one form show which symbols they have, and where
their digits begin (`Shown`). From that and from the names that a user gives (`Signs`), one notation
follows, or an error that says what to name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import repeat
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from batchsolve.core import native
from batchsolve.core.arrays import Bools, Bytes, Ints, Words
from batchsolve.errors import InputError
from batchsolve.problems.notation import (
    BLANKS,
    MINUS_ONE,
    MOST_DIGITS,
    TWO_BLANKS,
    Notation,
    buffers,
    can_be_digits,
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

MOST_PLAIN = 9  # digits that all usual alphabets but that of letters have in common
_ZERO = 1 << ord("0")  # the set of bytes with 0 alone


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

    @property
    def other(self) -> Form:
        """The other form of grids of this size."""
        return Form(self.n_digits, not self.as_numbers)

    @classmethod
    def of(cls, code: int) -> Form:
        """Return the form with this number."""
        return cls(code // 2, bool(code % 2))


NO_FORM = 0
"""The number of a text that has no form."""


def survey(column: pa.Array | str) -> tuple[Ints, Ints, Words, Words, Bytes]:
    """Return facts about the values of a string array, or about one, without white space around.

    Returns
    -------
    n_bytes, n_tokens : ndarray of int64
        Tokens are 0 without separators.
    low, high : ndarray of uint64
        The set of bytes without separators: those below 64, and others; those from 127 on are one.
    has_long : ndarray of uint8
        1 if a token has more bytes than a number.
    """
    return native.survey(buffers(column))


def forms(column: pa.Array) -> Ints:
    """Return the number of the `Form` of each text, or `NO_FORM`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> forms(pa.array(["1..2 is text", "1..2", "1 0 10 2", "1.."])).tolist()
    [0, 4, 5, 0]
    """
    n_bytes, n_tokens, low, high, has_long = survey(column)
    n_cells = np.where(n_tokens, n_tokens, n_bytes)
    n = np.sqrt(n_cells).astype(np.int64)
    is_ascii = high < np.uint64(1 << 63)
    fits = ((low | high) > 0) & is_ascii & (n * n == n_cells) & (n <= MOST_DIGITS)
    fits &= (n_tokens == 0) | (has_long == 0)
    return np.where(fits, 2 * n + (n_tokens > 0), NO_FORM)


def most_frequent_size(codes: Ints, needs_boxes: bool = True) -> int | None:
    """Return the most frequent N of some `forms`, the least of several; None if there is none."""
    votes = {
        n: count
        for n, count in enumerate(np.bincount(codes // 2).tolist())
        if count and (default_box(n) or (n > 1 and not needs_boxes))
    }
    return max(votes, key=lambda n: votes[n], default=None)


def most_frequent_form(codes: Ints, n_digits: int) -> Form:
    """Return the form that most grids of a size have, among some `forms`; numbers of equally many.

    Without such grids, it is that of characters.
    """
    as_numbers = Form(n_digits, True)
    n_numbers, n_characters = (
        np.count_nonzero(codes == form.code) for form in (as_numbers, as_numbers.other)
    )
    return as_numbers if 0 < n_numbers >= n_characters else as_numbers.other


def n_words(column: pa.Array) -> Ints:
    """Return the number of words of each text, with blanks or commas between them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> n_words(pa.array([", 1, 10  2 ", "10", " ", ","])).tolist()
    [3, 1, 0, 0]
    """
    _, n_tokens, low, high, _ = survey(column)
    return np.where(n_tokens, n_tokens, (low | high) > 0)


class Shown(NamedTuple):
    """The notation of grids of one form, as far as they show it.

    Attributes
    ----------
    form : Form
    sets : tuple of (int, int)
        The sets of their bytes, a bit for each byte, and the number of grids with each set.
    separator : str
        The text between the numbers of the first grid.
    first : int
        The digit that they begin with: 0 if some have 0 and blanks, and none has N.
    full : tuple of tuples of (int, int)
        The sets of grids with N symbols beside these, such as solutions, column by column.
    """

    form: Form
    sets: tuple[tuple[int, int], ...]
    separator: str
    first: int
    full: tuple[tuple[tuple[int, int], ...], ...] = ()

    @property
    def symbols(self) -> set[str]:
        """The characters of all grids."""
        return _characters(used for used, _ in self.sets)


def shown(
    column: pa.Array, form: Form, blanks: str | None = None, full: Iterable[pa.Array] = ()
) -> Shown:
    """Return what grids of one form show together.

    Parameters
    ----------
    column : pyarrow.StringArray
        Grids of this form.
    form : Form
    blanks : str, optional
        The symbols of blank cells that a user names; by default, `BLANKS` can be some.
    full : iterable of pyarrow.StringArray
        Columns of full grids beside these, such as solutions. If several alphabets fit these grids,
        they tell which; the first that has 0 or N tells where digits begin if these have neither.

    Examples
    --------
    >>> import pyarrow as pa
    >>> shown(pa.array(["0 . . 1 . . . . . . . . . . . ."]), Form(4, True)).first
    0
    """
    _, _, low, high, _ = survey(column)
    two_blanks, has_last, _ = (flags.any() for flags in _ends(column, low, form, blanks))
    others = [(beside, forms(beside)) for beside in full]
    for beside, codes in others if not (two_blanks or has_last) else ():
        kinds = [(beside.filter(codes == kind.code), kind) for kind in (form, form.other)]
        ends = (_ends(grids, survey(grids)[2], kind, blanks) for grids, kind in kinds)
        joined = map(np.concatenate, zip(*ends, strict=True))
        _, has_last, two_blanks = (flags.any() for flags in joined)
        if two_blanks or has_last:
            break
    first = int(not two_blanks or has_last)
    separator = _separator(column[0].as_py()) if form.as_numbers and len(column) else " "
    alike = (survey(beside.filter(codes == form.code)) for beside, codes in others)
    counted = (_counted(low, high) for _, _, low, high, _ in alike)
    with_all = (tuple(s for s in sets if _n_symbols(s[0]) == form.n_digits) for sets in counted)
    return Shown(form, _counted(low, high), separator, first, tuple(with_all))


def shown_by_each(column: pa.Array | str, form: Form, blanks: str | None) -> list[Shown]:
    """Return what each grid of a column shows alone, or one grid; see `shown`."""
    _, _, low, high, _ = survey(column)
    sets = _sets(low, high)
    firsts: Iterable[int] = repeat(1)
    if reduce(or_, sets, 0) & _ZERO:
        two_blanks, has_last, _ = _ends(column, low, form, blanks)
        firsts = np.where(two_blanks & ~has_last, 0, 1).tolist()
    texts = [column] if isinstance(column, str) else column.to_pylist() if form.as_numbers else ()
    separators = map(_separator, texts) if form.as_numbers else repeat(" ")
    facts = zip(sets, separators, firsts, strict=False)
    return [Shown(form, ((used, 1),), separator, first) for used, separator, first in facts]


def _sets(lows: Words, highs: Words) -> list[int]:
    """Return the set of bytes of each grid, given both halves."""
    return [low | high << 64 for low, high in zip(lows.tolist(), highs.tolist(), strict=True)]


def _counted(lows: Words, highs: Words) -> tuple[tuple[int, int], ...]:
    """Return the different sets of bytes of grids, and their numbers."""
    return tuple(Counter(_sets(lows, highs)).items())


def _n_symbols(used: int) -> int:
    """Return the number of symbols in a set of bytes; letters of both cases are one."""
    return len({symbol.upper() for symbol in _characters([used])})


def _separator(text: str) -> str:
    return next((c for c in ",;\t" if c in text), " ")


def _ends(
    column: pa.Array | str, low: Words, form: Form, blanks: str | None
) -> tuple[Bools, Bools, Bools]:
    """Return True for grids with 0 and another blank but no N; with N; with 0 to N - 1 alone.

    If 0 is named as a blank, no grid seems to begin with it.
    """
    n, as_numbers = form
    is_clear = blanks is not None and "0" in blanks
    if is_clear or (n > MOST_PLAIN and not as_numbers):  # characters have letters there, which tell
        nothing = np.zeros(len(low), np.bool_)
        return nothing, nothing, nothing
    if not as_numbers:
        has_zero, has_last = (low & np.uint64(1 << ord(d)) > 0 for d in ("0", str(n)))
        if not has_zero.any():
            return has_zero, has_last, has_zero
    from_one, zero = _from_one_and_zero(form, BLANKS.replace("0", "") if blanks is None else blanks)
    grids, faults = from_one.encode(column)
    from_0, _ = zero.encode(column)
    is_full = (from_0 == 1).any(axis=1) & (from_0 == n).any(axis=1) & (from_0 > 0).all(axis=1)
    return faults == TWO_BLANKS, (grids == n).any(axis=1), is_full


@lru_cache(maxsize=64)  # with their tables of bytes
def _from_one_and_zero(form: Form, blanks: str) -> tuple[Notation, Notation]:
    """Return the notations of grids of one form whose digits begin at 1 and at 0."""
    n, as_numbers = form
    from_one = numbers(n) if as_numbers else usual_notation(n)
    return replace(from_one, blanks=f"{blanks}0"), replace(from_zero(n, as_numbers), blanks=blanks)


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
        if not can_be_digits(symbols):
            return False
        if len(symbols) == n_digits + 1:
            return self.has_blank or symbols[0] in BLANKS
        return len(symbols) == n_digits and not set(symbols) & _NO_DIGITS

    @property
    def may_name_others(self) -> bool:
        """True if the alphabet is one for a size whose grids have several usual alphabets."""
        n = len(symbols := symbols_of(self.alphabet or ""))
        return n > MOST_PLAIN and default_box(n) is not None and can_be_digits(symbols)

    def notation(self, seen: Shown) -> Notation:
        """Return the notation of grids of one form.

        An alphabet that begins at 0 or 1 tells the first digit of numbers, too.

        Raises
        ------
        AmbiguousNotationError
            If several alphabets fit equally many grids and read them differently.
        InputError
            If no grid fits a notation.
        """
        n, are_any = seen.form.n_digits, self.alphabet == "numbers"
        named = None
        if self.alphabet is not None and self.names(n):
            named = Notation.from_name(self.alphabet, n, self.blanks)
        if not (seen.form.as_numbers or are_any):
            return named or _alphabet(seen, self.blanks, self.like)
        first = None if named is None or are_any else named.first_number
        return _numbers(seen if first is None else seen._replace(first=first), self.blanks)

    def notation_of(self, text: str, form: Form) -> Notation:
        """Return the only notation that fits one grid; see `notations_of_each`.

        Raises
        ------
        InputError
            If there is none, or it is ambiguous.
        """
        [notation] = self.notations_of_each(text, form)
        if isinstance(notation, InputError):
            raise notation.with_traceback(None)  # which is kept
        return notation

    def notations_of_each(self, column: pa.Array | str, form: Form) -> list[Notation | InputError]:
        """Return the only notation that fits each grid, or the error that it is ambiguous.

        Parameters
        ----------
        column : pyarrow.StringArray, or str
            Grids of one form, or one grid.
        form : Form
        """
        return [_own_notation(self, seen) for seen in shown_by_each(column, form, self.blanks)]


_NO_DIGITS = set(BLANKS) - {"0"}


@lru_cache(maxsize=1 << 16)
def _own_notation(signs: Signs, seen: Shown) -> Notation | InputError:
    """Return the only notation of a grid, or an error if it is ambiguous."""
    n = seen.form.n_digits
    try:
        return signs.notation(seen)
    except InputError as error:
        if isinstance(error, AmbiguousNotationError) or n > MOST_PLAIN:
            return error
        return usual_notation(n).with_blanks(signs.blanks)  # its faults name the wrong symbol


class AmbiguousNotationError(InputError):
    """Grids that several alphabets fit."""


def _numbers(seen: Shown, named: str | None) -> Notation:
    """Return the notation of grids of numbers, with the blank that they have."""
    others = (b for b in named or BLANKS if b != "0" and b in seen.symbols)
    blank = next(others, ".0"[seen.first]).replace("-", MINUS_ONE)
    notation = numbers(seen.form.n_digits, seen.separator, seen.first)
    return replace(notation, blank=blank).with_blanks(named)


def _alphabet(seen: Shown, named: str | None, like: str) -> Notation:
    """Return the alphabet that fits the most grids; of several, one that begins as `like` does.

    Raises
    ------
    AmbiguousNotationError, InputError
        As `Signs.notation`.
    """
    n = seen.form.n_digits
    if not seen.sets:
        raise InputError(f"no value is a {n}×{n} grid of {n**2} characters or numbers")
    known = [from_zero(n)] if seen.first == 0 and n <= MOST_PLAIN else notations(n)
    if named is not None:  # then they are not digits
        taken = {*named.lower(), *named.upper()}
        known = [each.with_blanks(named) for each in known if not taken & set(each.symbols)]
    # of two kinds of blanks in a value, one may be a digit of another alphabet
    blanks, is_clear = named or BLANKS, named is not None or len(known) == 1
    most_blanks = len(blanks) if is_clear else 1
    scores = {notation: _score(notation, seen.sets, most_blanks) for notation in known}
    most = max(scores.values(), default=0)
    if most == 0:
        names = ", ".join(notation.name for notation in notations(n)) or "numbers"
        raise InputError(
            f"no value fits an alphabet for {n}×{n} grids ({names}) and has blank cells of one "
            f"kind; name your alphabet with `alphabet`, or your blanks with `blank`"
        )
    best = [notation for notation, score in scores.items() if score == most]
    for sets in seen.full:
        fitting = {notation: _score(notation, sets) for notation in best}
        best = [notation for notation in best if fitting[notation] == max(fitting.values())]
    # grids of nothing but blanks fit every alphabet; any others have to leave one
    allowed = _allowed(best[0])
    used = _characters(used for used, _ in seen.sets if not used & ~allowed)
    if len(best) > 1 and not used <= set(blanks) - set("".join(each.symbols for each in best)):
        best = [each for each in best if len(used & set(blanks) - set(each.symbols)) <= 1] or best
        best = [notation for notation in best if notation.symbols[: len(like)] == like[:n]] or best
        if len(best) > 1:
            names = " or ".join(notation.name for notation in best)
            raise AmbiguousNotationError(f"the alphabet can be {names}; say which with `alphabet`")
    shown_blanks = [b for b in blanks if b in used and b not in best[0].symbols]
    return replace(best[0], blank=(shown_blanks or blanks)[0])


def _score(notation: Notation, sets: tuple[tuple[int, int], ...], most_blanks: int = 0) -> int:
    """Return the number of grids that fit a notation and have at most `most_blanks` blanks."""
    allowed = _allowed(notation)
    blanks = _mask("".join(set(notation.blanks) - set(notation.symbols)))
    return sum(
        count
        for used, count in sets
        if not used & ~allowed and (used & blanks).bit_count() <= most_blanks
    )


@lru_cache(maxsize=256)
def _allowed(notation: Notation) -> int:
    return _mask(notation.blanks + notation.symbols.upper() + notation.symbols.lower())


def _mask(characters: str) -> int:
    return sum(1 << b for b in set(characters.encode()))


def _characters(sets: Iterable[int]) -> set[str]:
    """Return the characters of sets of bytes."""
    used = reduce(or_, sets, 0)
    return {chr(b) for b in range(127) if used >> b & 1}
