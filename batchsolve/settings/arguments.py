"""Checks of arguments: each returns the value as it is kept, or raises an error that names it.

This module imports nothing heavy, so that ``--help`` answers at once.
"""

from __future__ import annotations

import logging
import operator
import os
import re
import secrets
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, Literal

from batchsolve.errors import BatchsolveError, InputError, is_table, prefixed, quoted, wrong_kind

MRV, FIRST, SHARP = "mrv", "first", "sharp"
"""The branching rules; see `checked_branch`."""

JOURNAL = "journal.sqlite"  # of a run that has a folder

UNLIMITED = 2**62
"""A limit, allowance, budget or depth that no search reaches."""

MOST_SEED = 2**128 - 1
"""The largest seed of random numbers."""

FileName = str | os.PathLike[str]
"""The name of a file or a folder."""

FileNames = FileName | Sequence[FileName]
"""One name, or several."""

Box = tuple[int, int] | str
"""The rows and columns of a box, such as ``(2, 3)`` or ``"2x3"``."""

Depth = int | Literal["auto"] | None
"""The depth to which a tree is expanded first."""

Range = tuple[float | None, float | None] | float | str
"""Bounds, such as ``(22, 26)``, ``(4.0, None)``, ``"22..26"`` or ``"4.0.."``; or one number."""


class Unfit(ValueError):  # noqa: N818
    """A reason that an argument is wrong, for the error of `argument_errors`."""


class argument_errors:  # noqa: N801  a class, as in contextlib: entering it costs little
    """Raise what goes wrong in reading an argument as one `InputError`: the rule, and the value.

    What Python says of it, such as ``'int' object is not iterable``, tells a user nothing; an
    `Unfit` does.

    Examples
    --------
    >>> with argument_errors("numbers are a sequence", 3):
    ...     list(3)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: numbers are a sequence, not 3
    """

    def __init__(self, rule: str, value: object) -> None:
        self._rule, self._value = rule, value

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        kinds = TypeError, ValueError, AttributeError, OverflowError
        if isinstance(error, kinds) and not isinstance(error, BatchsolveError):
            reason = f" ({error})" if isinstance(error, Unfit) else ""
            raise InputError(f"{self._rule}, not {quoted(self._value)}{reason}") from error


def whole_number(name: str, value: Any, least: int = 0, most: int = UNLIMITED) -> int:
    """Return an argument as an integer of Python.

    Parameters
    ----------
    name : str
        The name of the argument, for messages.
    value : object
        An integer of Python or NumPy.
    least, most : int

    Raises
    ------
    InputError
        If it is not an integer, or out of bounds.

    Examples
    --------
    >>> whole_number("jobs", 1.5)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: jobs is a whole number, not 1.5
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise InputError(f"{name} is a whole number, not {quoted(value)}")
    if not least <= number <= most:
        bound = f"at most {most:,}" if number > most else f"{least:,} or more"
        bound = f"{least:,} to {most:,}" if most < UNLIMITED else bound
        raise InputError(f"{name} is {bound}, not {number:,}")
    return number


def seed_of(name: str, seed: Any) -> int:
    """Return a seed, checked; for None draw one, and log it.

    Examples
    --------
    >>> seed_of("seed", 7), seed_of("seed", None) != seed_of("seed", None)
    (7, True)
    """
    if seed is None:
        seed = secrets.randbits(64)
        logging.getLogger("batchsolve").info("drew the seed %d", seed)
    return whole_number("a seed", seed, most=MOST_SEED)


def text_of(role: str, value: Any) -> str:
    """Return an argument that must be text; raise `InputError` if it is not.

    Examples
    --------
    >>> text_of("a family", None)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: a family is text, not None
    """
    if not isinstance(value, str):
        raise InputError(f"{role} is text, not {quoted(value)}")
    return value


def texts_in(names: Iterable[str] | None, role: str) -> tuple[str, ...] | None:
    """Return names, or None; raise `InputError` if they are not a sequence of texts."""
    if names is None:
        return None
    with argument_errors(f"{role} are a sequence of texts", names):
        texts = tuple(names)
        if wrong := [name for name in texts if not isinstance(name, str)]:
            raise Unfit(f"{quoted(wrong[0])} is not text")
    return texts


def flag_of(name: str, value: Any) -> bool:
    """Return an argument that is True or False, or None for False; raise `InputError` for others.

    Examples
    --------
    >>> flag_of("stats", "no")
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: stats is True or False, not 'no'
    """
    with argument_errors(f"{name} is True or False", value):  # arrays have no hash
        if {value} <= {None, False, True}:  # with those of NumPy
            return bool(value)
        raise TypeError


def names_in(text: str) -> list[str]:
    """Return the names that a text joins by ``+``, commas or blanks, in lower case.

    Examples
    --------
    >>> names_in("X+antiknight"), names_in("x, antiknight"), names_in("")
    (['x', 'antiknight'], ['x', 'antiknight'], [''])
    """
    return re.split(r"[+,\s]+", text.strip().lower())


def words_of(kind: str, text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return the names in a text, each once; they have to be known.

    Examples
    --------
    >>> words_of("marks", "dots+XV", ("dots", "xv"))
    ('dots', 'xv')
    """
    return tuple(word_of(kind, word, known) for word in dict.fromkeys(names_in(text)))


def word_of(kind: str, word: str, known: Sequence[str]) -> str:
    """Return a word that has to be known; raise `InputError` for others.

    Examples
    --------
    >>> word_of("symmetry", "rotations", ("none", "rotation"))
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: unknown symmetry 'rotations'; choose from none, rotation
    """
    if word not in known:
        raise InputError(f"unknown {kind} {quoted(word)}; choose from {', '.join(known)}")
    return word


def checked_branch(rule: str) -> str:
    """Return a branching rule: ``mrv``, ``first``, ``sharp``, or ``sharp:`` and a pattern of items.

    Raises
    ------
    InputError
        If the rule is unknown.

    Examples
    --------
    >>> checked_branch("sharp:r1c*")
    'sharp:r1c*'
    >>> checked_branch("last")
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: unknown branching rule 'last'; choose from mrv, first, sharp, ...
    """
    if rule in (MRV, FIRST, SHARP) or (rule.startswith(f"{SHARP}:") and rule != f"{SHARP}:"):
        return rule
    raise InputError(
        f"unknown branching rule {rule!r}; choose from {MRV}, {FIRST}, {SHARP}, {SHARP}:ITEMS"
    )


def path_of(role: str, path: Any) -> str:
    """Return the name of a file or a directory as text.

    Raises
    ------
    InputError
        If it is not a name, or is empty, as from a script with an unset variable, or has a NUL or
        another character that no file has in its name here.

    Examples
    --------
    >>> path_of("the output", "")
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: the output needs a name, not ''
    """
    if isinstance(path, str | bytes | os.PathLike) and path and "\0" not in os.fsdecode(path):
        with prefixed(f"{role} needs a name that files can have", InputError, UnicodeEncodeError):
            return os.fsdecode(os.fsencode(path))  # os.walk takes a name of NumPy for bytes
    fault = f"not {quoted(path)}" if isinstance(path, str | bytes) else wrong_kind(path)
    raise InputError(f"{role} needs a name, {fault}")


def is_address(path: str) -> bool:
    """Return True if a path is an address, which every machine can open.

    Examples
    --------
    >>> is_address("s3://bucket/corpus.csv"), is_address("corpora/corpus.csv")
    (True, False)
    """
    return re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://", path) is not None


def real_path(path: str) -> str:
    """Return the path without links; raise `InputError` if the folder that it begins in is gone."""
    with prefixed(f"{path}: the current folder no longer exists", InputError, FileNotFoundError):
        return os.path.realpath(path)


def is_of_run(folder: str) -> bool:
    """Return True if a folder, which may be missing, is that of a run, or lies in it."""
    home = real_path(folder)
    return any(os.path.exists(os.path.join(one, JOURNAL)) for one in (home, os.path.dirname(home)))


def folder_of(role: str, path: Any) -> str:
    """Return the name of a folder of this machine as text; refuse addresses and ``-``.

    Nor is a folder within that of a run.

    Examples
    --------
    >>> folder_of("the folder of a run", "s3://bucket/run")
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: s3://bucket/run: the folder of a run is on disk; name one there
    """
    name = path_of(role, path)
    if name == "-" or is_address(name):
        raise InputError(f"{name}: {role} is on disk; name one there")
    if is_of_run(os.path.join(name, os.pardir)):
        raise InputError(f"{name}: lies in the folder of a run; name one elsewhere")
    return name


def is_tabular(value: Any) -> bool:
    """Return True for a table of any library, and for what is meant as one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> is_tabular(pa.table({"puzzle": ["1.....2..3.....4"]})), is_tabular("puzzles.csv")
    (True, False)
    """
    return is_table(value) or hasattr(value, "__arrow_c_stream__")


def each_of(values: Any) -> list[Any]:
    """Return one name or table as a list, and an iterable of them as a list of each.

    Examples
    --------
    >>> each_of("a.csv"), each_of(("a.csv", "b.csv"))
    (['a.csv'], ['a.csv', 'b.csv'])
    """
    is_one = isinstance(values, str | bytes) or not isinstance(values, Iterable)
    # NumPy calls an array without dimensions iterable
    is_one = is_one or hasattr(values, "read") or getattr(values, "ndim", 1) == 0
    return [values] if is_one or is_tabular(values) else list(values)


def table_or_each(inputs: Any) -> Any:
    """Return a table as it is, and other inputs as a list, which can be gone through twice."""
    return inputs if is_tabular(inputs) else each_of(inputs)


def checked_box(box: Any, **texts: Any) -> tuple[int, int] | None:
    """Check the settings of the notation of grids; return the rows and columns of a box.

    Parameters
    ----------
    box : (int, int) or str or None
    **texts : str or None
        Other settings, by name.

    Raises
    ------
    InputError
        If a text is not text, or the box is not two integers of at least 1.

    Examples
    --------
    >>> checked_box("2x3")
    (2, 3)
    """
    for name, text in texts.items():
        if text is not None:
            text_of(name, text)
    if box is None:
        return None
    with argument_errors("box is a pair, such as (2, 3) or 2x3", box):
        rows, columns = map(integer, box.lower().split("x") if isinstance(box, str) else box)
    if min(rows, columns) < 1:
        raise InputError(f"a box has 1 row and column or more, not {box}")
    return rows, columns


def integer(value: Any) -> int:
    """Return an integer that may be written as text, in the digits 0 to 9.

    Examples
    --------
    >>> integer("12"), integer(12)
    (12, 12)
    """
    if not isinstance(value, str):
        return operator.index(value)
    if not value.isascii():  # int reads the digits of all scripts
        raise Unfit(f"{value!r} has digits other than 0 to 9")
    return int(value)


def bounds_of(
    kind: str, bounds: Any, number: Any = integer, least: Any = 0, most: Any = UNLIMITED
) -> Any:
    """Return the two bounds of a `Range`.

    Parameters
    ----------
    kind : str
        The meaning of the range, for messages.
    bounds : Range
    number : callable
        Converts a bound; by default they are whole.
    least, most : int or float
        The bounds where the range has none.

    Raises
    ------
    InputError
        If it is not a range, or its lower bound exceeds the upper one.

    Examples
    --------
    >>> bounds_of("clues are a range", "22..26", int, 0, 81)
    (22, 26)
    """
    with argument_errors(kind, bounds):
        pair = bounds
        if isinstance(bounds, str):
            first, dots, last = bounds.partition("..")
            pair = (first or None, last or None) if dots else (first, first)
        elif isinstance(bounds, Real) and not isinstance(bounds, bool):
            pair = bounds, bounds
        low, high = pair
        low = least if low is None else number(low)
        high = most if high is None else number(high)
    if not least <= low <= high:
        raise InputError(f"{kind}, not {quoted(bounds) if isinstance(bounds, str) else bounds}")
    return low, high


def columns_of(by: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the columns of strata, or the values of a stratum."""
    return (by,) if isinstance(by, str) else texts_in(by, "columns") or ()


def number_of(value: Any) -> float:
    """Return a number, perhaps of a text; whole numbers as an int, with all their digits.

    Examples
    --------
    >>> number_of("1152921504606846977"), number_of("1e3")
    (1152921504606846977, 1000.0)
    """
    try:
        return int(str(value))
    except ValueError:
        return float(value)
