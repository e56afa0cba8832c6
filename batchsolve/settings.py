"""Settings of functions and commands, declared once: names, defaults, bounds and help.

Checks of arguments are here, too: a value that is not an integer, or not text, raises one error
that names the argument.

This module imports nothing heavy, so that ``--help`` answers at once.
"""

from __future__ import annotations

import inspect
import logging
import operator
import os
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from functools import cache
from itertools import pairwise
from math import inf
from numbers import Real
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar, get_args, get_type_hints, overload

from batchsolve.errors import InputError, argument_errors, is_table, listed, quoted, wrong_kind

AUTO = "auto"
"""The name of the engine that suits the problem."""

MRV, FIRST, SHARP = "mrv", "first", "sharp"
"""The branching rules; see `checked_branch`."""

UNLIMITED = 2**62
"""A limit, allowance, budget or depth that no search reaches."""

MOST_SEED = 2**128 - 1
"""The largest seed of random numbers."""

PROVES_UNIQUENESS = 2
"""The limit of solutions that tells unique ones from others."""

Box = tuple[int, int] | str
"""The rows and columns of a box, such as ``(2, 3)`` or ``"2x3"``."""

Range = tuple[float | None, float | None] | float | str
"""Bounds, such as ``(22, 26)``, ``(4.0, None)``, ``"22..26"`` or ``"4.0.."``; or one number."""

GRAPH_MEGABYTES = 1024
"""The default memory of a graph of covers, in megabytes."""

SYMMETRIES = ("none", "rotation", "quarter-turn", "mirror", "diagonal")
"""The symmetries that the places of clues can have."""

MOST_FORECAST_WORKERS = 250_000
"""The upper bound of simulated workers; the simulation then takes two minutes and 2 GB."""

PARTS = "train=0.8,test=0.2"
"""The default shares of the parts of a table."""

MOST_LATENCY = 1_000_000
"""The upper bound of the seconds that a forecast adds to every task."""


class Option(NamedTuple):
    """The form of an option in a help text, and on the command line.

    Attributes
    ----------
    metavar : str or None
        The placeholder of its value; ``A|B`` are the values themselves.
    help : str
        Its meaning.
    heading : str
        The heading that it stands under.
    flags : tuple of str
        By default its name with dashes.
    file : str
        For the name of a file with the text of the value: what the file holds.
    """

    metavar: str | None = None
    help: str = ""
    heading: str = ""
    flags: tuple[str, ...] = ()
    file: str = ""


def setting(
    default: Any = None,
    *,
    check: Callable[[str, Any], Any] | None = None,
    metavar: str = "N",
    heading: str = "",
    flags: tuple[str, ...] = (),
    file: str = "",
    of_grids: bool = False,
    adds: bool = False,
    same: bool = True,
) -> Any:
    """Declare a field of a class of settings; the docstring of the class says what it means.

    Parameters
    ----------
    default : object
    check : callable, optional
        Returns a value as it is kept, given the name and the value, or raises `InputError`. Where
        None is the default, it is not called with None. By default texts and flags are checked.
    metavar, heading, flags, file : str or tuple of str
        Those of its `Option`; by default the heading is the one of its class.
    of_grids : bool
        Tables of exact cover problems have no use for it.
    adds : bool
        It adds columns to an output.
    same : bool
        A run can only be resumed with the same value.
    """
    uses = {"of_grids": of_grids, "adds": adds, "same": same}
    option = Option("FILE" if file else metavar, "", heading, flags, file)
    return field(default=default, metadata={"check": check, "option": option, "uses": uses})


def one_or_more(name: str, value: Any) -> int:
    """Return a whole number that is 1 or more."""
    return whole_number(name, value, 1)


def ranging(rule: str, number: Callable[[Any], Any], least: float, most: float) -> Any:
    """Declare a setting that is a `Range`; see `bounds_of`."""
    check = lambda name, value: bounds_of(rule, value, number, least, most)  # noqa: E731
    return setting(check=check, metavar="A..B")


def settings_that(use: str) -> list[str]:
    """Return the names of the `FileSettings` with a use: ``of_grids``, ``adds`` or ``same``.

    Examples
    --------
    >>> settings_that("adds")
    ['filename', 'stats', 'canonical']
    """
    return [declared.name for declared in fields(FileSettings) if declared.metadata["uses"][use]]


def sections_of(documented: Any) -> dict[str, str]:
    """Return the sections of a docstring by their headings; what stands above them has none, "".

    Examples
    --------
    >>> list(sections_of(sections_of))
    ['', 'Examples']
    """
    text = inspect.getdoc(documented) or ""  # python -OO leaves no docstrings
    begin, *parts = re.split(r"^(.+)\n-{3,}\n", text, flags=re.MULTILINE)
    return {"": begin.strip(), **dict(zip(parts[::2], parts[1::2], strict=True))}


def entries_of(section: str) -> dict[str, tuple[str, str]]:
    r"""Return the entries of a section: what follows the name and a colon, and the text below.

    Examples
    --------
    >>> entries_of("n : int\n    The number of\n    solutions.\n")
    {'n': ('int', 'The number of solutions.')}
    """
    found = re.findall(r"^(\w+)(?: : (.*))?\n((?:    .*\n?)+)", section, re.MULTILINE)
    return {name: (form, " ".join(text.replace("`", "").split())) for name, form, text in found}


def meanings_of(settings: type) -> dict[str, str]:
    """Return the meaning of each field: the attributes of the docstring, as plain text.

    Examples
    --------
    >>> meanings_of(SearchSettings)["node_limit"]
    'Nodes after which the search of a row, or of the problem, stops.'
    """
    attributes = entries_of(sections_of(settings).get("Attributes", ""))
    return {name: text for name, (_, text) in attributes.items()}


class Settings:
    """A class of settings, which are checked one by one and then together.

    Examples
    --------
    >>> SearchSettings(limit=0)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: limit is 1 or more, not 0
    """

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for name, default, check in _checks_of(kind):
            value = getattr(self, name)
            if not (value is None is default):
                object.__setattr__(self, name, check(name, value))
        self.check_all()

    def check_all(self) -> None:
        """Raise `InputError` if settings do not go together."""


@cache
def _declared(kind: Any) -> dict[str, Field[Any]]:
    """Return the fields of a class of settings by name."""
    return {declared.name: declared for declared in fields(kind)}


@cache
def _checks_of(kind: Any) -> list[tuple[str, Any, Callable[[str, Any], Any]]]:
    """Return the name, the default and the check of each field that has a check."""
    usual = {"str | None": text_of, "bool": lambda name, value: bool(value)}
    each = _declared(kind).values()
    checks = ((one, one.metadata["check"] or usual.get(str(one.type))) for one in each)
    return [(one.name, one.default, check) for one, check in checks if check]


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
        if most < UNLIMITED:
            raise InputError(f"{name} is {least:,} to {most:,}, not {number:,}")
        bound = f"at most {most}" if number > most else f"{least} or more"
        raise InputError(f"{name} is {bound}, not {number}")
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


def text_of(what: str, value: Any) -> str:
    """Return an argument that must be text; raise `InputError` if it is not.

    Examples
    --------
    >>> text_of("a family", None)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: a family is text, not None
    """
    if not isinstance(value, str):
        raise InputError(f"{what} is text, {wrong_kind(value)}")
    return value


def words_of(what: str, text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a text that ``+`` joins, each once; they have to be known.

    Examples
    --------
    >>> words_of("marks", "dots+XV", ("dots", "xv"))
    ('dots', 'xv')
    """
    words = tuple(dict.fromkeys(word.strip() for word in text.lower().split("+")))
    for word in words:
        if word not in known:
            raise InputError(f"unknown {what} {quoted(word)}; choose from {', '.join(known)}")
    return words


def checked_branch(rule: Any) -> str:
    """Return a branching rule: ``mrv``, ``first``, ``sharp``, or ``sharp:`` and a pattern of items.

    Raises
    ------
    InputError
        If there is no such rule.

    Examples
    --------
    >>> checked_branch("sharp:r1c*")
    'sharp:r1c*'
    >>> checked_branch("last")
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: unknown branching rule 'last'; choose from mrv, first, sharp, ...
    """
    text = text_of("a branching rule", rule)
    if text in (MRV, FIRST, SHARP) or (text.startswith(f"{SHARP}:") and text != f"{SHARP}:"):
        return text
    raise InputError(
        f"unknown branching rule {rule!r}; choose from {MRV}, {FIRST}, {SHARP}, {SHARP}:ITEMS"
    )


def path_of(what: str, path: Any) -> str:
    """Return the name of a file or a directory as text.

    Raises
    ------
    InputError
        If it is not a name, or is empty, as from a script with an unset variable, or has a NUL.

    Examples
    --------
    >>> path_of("the output", "")
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: the output needs a name, not ''
    """
    if isinstance(path, str | bytes | os.PathLike) and path and "\0" not in os.fsdecode(path):
        return os.fsdecode(path)
    given = f"not {quoted(path)}" if isinstance(path, str | bytes) else wrong_kind(path)
    raise InputError(f"{what} needs a name, {given}")


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
    is_one = is_one or hasattr(values, "read") or is_tabular(values)
    return [values] if is_one else list(values)


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
        rows, columns = map(_whole, box.lower().split("x") if isinstance(box, str) else box)
    if min(rows, columns) < 1:
        raise InputError(f"a box has 1 row and column or more, not {box}")
    return rows, columns


def bounds_of(kind: str, given: Any, number: Callable[[Any], Any], least: Any, most: Any) -> Any:
    """Return the two bounds of a `Range`.

    Parameters
    ----------
    kind : str
        The meaning of the range, for messages.
    given : Range
    number : callable
        Converts a bound.
    least, most : int or float
        The bounds where the range has none.

    Raises
    ------
    InputError
        If it is none, or the lower bound is the larger one.

    Examples
    --------
    >>> bounds_of("clues are a range", "22..26", int, 0, 81)
    (22, 26)
    """
    with argument_errors(kind, given):
        pair = given
        if isinstance(given, str):
            first, dots, last = given.partition("..")
            pair = (first or None, last or None) if dots else (first, first)
        elif isinstance(given, Real):
            pair = given, given
        low, high = pair
        low = least if low is None else number(low)
        high = most if high is None else number(high)
    if not least <= low <= high:
        raise InputError(f"{kind}, not {quoted(given) if isinstance(given, str) else given}")
    return low, high


def _whole(value: Any) -> int:
    if not isinstance(value, str):
        return operator.index(value)
    if not value.isascii():  # int reads the digits of all scripts
        raise ValueError(f"{value!r} has digits other than 0 to 9")
    return int(value)


_One = TypeVar("_One")
_Other = TypeVar("_Other")


@overload
def settings_of(
    caller: Callable[..., object], each: Mapping[str, Any], kind: type[_One], /
) -> tuple[dict[str, Any], _One]: ...


@overload
def settings_of(
    caller: Callable[..., object], each: Mapping[str, Any], kind: type[_One], other: type[_Other], /
) -> tuple[dict[str, Any], _One, _Other]: ...


def settings_of(caller: Callable[..., object], each: Mapping[str, Any], *kinds: Any) -> Any:
    """Return the settings among the keywords of a function: those of workers, then of each kind.

    The function declares its keywords once: they are the fields of the class that its parameter
    ``settings`` unpacks, such as `RateFields`. Settings of a kind are given whole
    (``search=SearchSettings(…)``), or else field by field.

    Raises
    ------
    InputError
        If they are given in both ways, or the function does not take one of them: it would be
        ignored.
    TypeError
        If there is no such setting.

    Examples
    --------
    >>> from batchsolve import solve_table
    >>> settings_of(solve_table, {"search": SearchSettings(), "limit": 1}, SearchSettings)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: settings are given whole, and beside them 'limit'; ...
    >>> settings_of(solve_table, {"search": SearchSettings(time_limit=1)}, SearchSettings)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: solve_table() takes no `time_limit`; ...
    """
    taken = _keywords_of(caller)
    of_kind = {kind: _declared(kind) for kind in kinds}
    for name in each:
        if name not in taken:
            is_known = any(name in declared for declared in of_kind.values())
            raise _not_taken(caller, name) if is_known else _no_keyword(caller, name)
    found = [{name: each[name] for name in WorkerFields.__annotations__ if name in each}]
    for kind, declared in of_kind.items():
        own = {name: each[name] for name in declared if name in each}
        whole = each.get(_WHOLE[kind]) if kind in _WHOLE else None
        if whole is not None and own:
            raise InputError(
                f"settings are given whole, and beside them {listed(own)}; change the whole ones "
                f"with dataclasses.replace"
            )
        if whole is not None and not isinstance(whole, kind):
            raise InputError(f"settings are a {kind.__name__}, not {quoted(whole)}")
        whole = kind(**own) if whole is None else whole
        for name in sorted(declared.keys() - taken):  # the branch, which changes the engine, first
            if getattr(whole, name) != declared[name].default:
                raise _not_taken(caller, name)
        found.append(whole)
    return tuple(found)


@cache
def _keywords_of(caller: Callable[..., object]) -> frozenset[str]:
    """Return the names of the settings that a function takes."""
    [declared] = get_args(get_type_hints(caller)["settings"])
    return frozenset(declared.__annotations__)


_INSTEAD = {
    "time_limit": ("node_limit", "`node_limit` does not depend on the machine"),
    "solution_column": ("truth", "name it with `truth`"),
    "engine": ("self", "name it where the run begins: Run(…, engine=…)"),
    "branch": ("self", "name it with the engine where the run begins: Run(…, engine='dlx:first')"),
}
"""For settings that some functions do not take, another argument, and advice to take that."""


def _not_taken(caller: Callable[..., object], name: str) -> InputError:
    """Return the error of a setting that other functions take."""
    from inspect import signature

    other, advice = _INSTEAD.get(name, ("", ""))
    if other not in {*_keywords_of(caller), *signature(caller).parameters}:
        advice = "leave it out"
    return InputError(f"{caller.__qualname__}() takes no `{name}`; {advice}")


def _no_keyword(caller: Callable[..., object], name: str) -> TypeError:
    """Return Python's error of a keyword that a function lacks, with the one that may be meant."""
    from difflib import get_close_matches

    hints = get_type_hints(caller)
    del hints["settings"]
    near = get_close_matches(name, [*hints, *_keywords_of(caller)], 1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    called = f"{caller.__qualname__}()"
    return TypeError(f"{called} got an unexpected keyword argument {name!r}{meant}")


def _box(name: str, value: Any) -> tuple[int, int] | None:
    return checked_box(value)


def _seconds(name: str, value: Any) -> Any:
    is_number = isinstance(value, Real)  # which float() may not hold
    if is_number and value > 0:
        return value
    raise InputError(f"{name} is more than 0 seconds, not {quoted(value)}")


def _depth(name: str, value: Any) -> int | None:
    if value == AUTO:
        return None
    if isinstance(value, str):
        with argument_errors(f"{name} is a whole number, or 'auto'", value):
            value = _whole(value)
    return whole_number(name, value)


@dataclass(frozen=True)
class SearchSettings(Settings):
    """The goal and the method of a search; only the first three and the engine affect answers.

    Attributes
    ----------
    limit : int, optional
        The upper bound of solutions of a row, or of the problem; by default 2 for rows of grids,
        which proves uniqueness.
    node_limit : int, optional
        Nodes after which the search of a row, or of the problem, stops.
    time_limit : float, optional
        Seconds after which the search of a problem stops.
    split_depth : int or "auto", optional
        Expand the tree to this depth first; by default, or with auto, deep enough for all workers,
        and 0 for rows.
    budget : int, optional
        Nodes a task may visit before it hands back its frontier; by default set from the time that
        tasks take.
    engine : str
        The search engine; batchsolve engines lists them.
    branch : str
        The item to branch on: the one with the fewest options (mrv), the first, or preferably one
        whose name begins with # (sharp) or matches ITEMS, such as r1c*.

    Examples
    --------
    >>> SearchSettings(limit=2).limit
    2
    >>> SearchSettings(branch="sharp").engine
    'dlx:sharp'
    >>> SearchSettings(time_limit=0)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: time_limit is more than 0 seconds, not 0
    """

    limit: int | None = setting(check=one_or_more)
    node_limit: int | None = setting(check=one_or_more)
    time_limit: float | None = setting(check=_seconds, metavar="S")
    split_depth: int | Literal["auto"] | None = setting(check=_depth, metavar="D|auto")
    budget: int | None = setting(check=one_or_more)
    engine: str = setting(AUTO, metavar="NAME")
    branch: str = setting(MRV, metavar="mrv|first|sharp[:ITEMS]")

    def check_all(self) -> None:
        """See `Settings`; the branching rule of an engine is part of its name."""
        if checked_branch(self.branch) != MRV:
            base, colon, _ = str(self.engine).partition(":")
            engine = f"{'dlx' if base == AUTO else base}:{self.branch}"
            if colon and self.engine != engine:
                raise InputError(
                    f"the engine {self.engine!r} and the branching rule {self.branch!r} do not go "
                    f"together; leave out one of them, or name the engine 'dlx' with the rule"
                )
            object.__setattr__(self, "engine", engine)

    def of_rows(self) -> SearchSettings:
        """Return the settings of a search of rows; without a limit, it proves uniqueness."""
        return replace(self, limit=self.limit or PROVES_UNIQUENESS)


@dataclass(frozen=True)
class FileSettings(Settings):
    """The notation of a corpus, and the output of its answers.

    Attributes
    ----------
    column : str, optional
        The puzzle column; by default found by its name or its shape.
    solution_column : str, optional
        The column of given solutions; by default found by its name.
    alphabet : str, optional
        Symbols of the digits: 0-8, 1-9A-G, A-P, 0-15, … or numbers; one more in front is the blank.
        By default the column shows them.
    blank : str, optional
        Characters of blank cells, such as ?x; by default those of .0*_- that are not digits.
    box : (int, int) or str, optional
        Rows and columns of a box, such as 2x3; by default from the size of each grid, or from a
        column box.
    rules : str, optional
        Rules beyond rows, columns and boxes, such as x+antiknight; a column rules gives rows more.
    regions : str, optional
        A letter or number for each cell: its region, in place of boxes; a column regions gives rows
        others.
    rule_columns : str, optional
        Columns of rules to read, such as cages,sums, or none; by default all of rules, regions,
        cages, sums, marks, pairs and constraints that hold text.
    chunk : int, optional
        The upper bound of rows that a task reads; by default up to 1.75 MB of text.
    filename : bool
        Add a column with the file of each row.
    stats : bool
        Add the columns nodes and seconds.
    canonical : bool
        Add the canonical form: the least puzzle that is equal up to symmetry (row-minlex).
    stop_on_invalid : bool
        Stop at the first invalid row, instead of reporting it in its place.
    resume : bool
        Go on from OUT.partial, if there is one.

    Examples
    --------
    >>> FileSettings(box=(2, 3), stats=True).box
    (2, 3)
    """

    column: str | None = setting(metavar="NAME")
    solution_column: str | None = setting(metavar="NAME", of_grids=True)
    alphabet: str | None = setting(metavar="A", of_grids=True)
    blank: str | None = setting(metavar="C", of_grids=True)
    box: tuple[int, int] | None = setting(check=_box, metavar="RxC", of_grids=True)
    rules: str | None = setting(metavar="NAMES", of_grids=True)
    regions: str | None = setting(file="the region of each cell", of_grids=True)
    rule_columns: str | None = setting(metavar="NAMES", of_grids=True)
    chunk: int | None = setting(check=one_or_more, same=False)
    filename: bool = setting(False, heading="Output", adds=True)
    stats: bool = setting(False, heading="Output", adds=True)
    canonical: bool = setting(False, heading="Output", of_grids=True, adds=True)
    stop_on_invalid: bool = setting(False, same=False)
    resume: bool = setting(False, heading="Output", same=False)


@dataclass(frozen=True)
class PuzzleSettings(Settings):
    """The puzzles that `generate` makes.

    Attributes
    ----------
    seed : int
        Seed of the random numbers.
    clues : (int, int), optional
        The bounds of the number of clues; by default, clues are removed as long as one solution is
        left.
    rating : (float, float), optional
        The bounds of the rating, as of rate; it is 8.6 where guesses are needed.
    minimal : bool
        Make puzzles of which no clue can be left out.
    cages : (int, int), optional
        Draw cages for each row, with their sums; the bounds of their number of cells.
    cage_layout : str, optional
        The cage of each cell in all rows, or a dot; the sums are those of each row's solution.
    marks : str, optional
        Give all marks of these kinds: consecutive, dots, xv, greater or parity, joined by +.
    lines : str, optional
        Draw lines of these kinds for each row, as many as fit: thermo, whisper, renban or
        palindrome, joined by +.
    line_cells : (int, int), optional
        The bounds of the number of cells of a line; 3 to 5 by default.
    jigsaw : bool
        Draw connected regions for each row, in place of boxes.
    constraints : str, optional
        Rules of all rows: a string of Interactive Sudoku Solver, the JSON of f-puzzles, or a killer
        of SumoCue.
    pattern : str, optional
        A character for each cell: no clue stands at one of .0_-.
    symmetry : str
        The symmetry of the places of clues.
    weights : bool
        Add the column weight, for means over all minimal puzzles that exist.
    unlike : sequence of str
        Files; no puzzle is equal up to symmetry to one in them.
    columns : (str, str)
        The names of the columns of puzzles and solutions, such as quizzes,solutions.
    node_limit : int
        Nodes after which a row fails, and with it the run.

    Examples
    --------
    >>> PuzzleSettings(clues=(30, 24))
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: clues are a range such as 22..26 or (22, 26), fewest ...
    """

    seed: int = setting(0, check=seed_of)
    clues: tuple[int, int] | None = ranging(
        "clues are a range such as 22..26 or (22, 26), fewest first", _whole, 0, UNLIMITED
    )
    rating: tuple[float, float] | None = ranging(
        "a rating is a range such as 2.6..4.4 or (5.0, None)", float, -inf, inf
    )
    minimal: bool = setting(False)
    cages: tuple[int, int] | None = ranging(
        "sizes of cages are a range such as 2..5 or (2, 5), smallest first", _whole, 0, UNLIMITED
    )
    cage_layout: str | None = setting(file="the cage of each cell")
    marks: str | None = setting(metavar="KIND")
    lines: str | None = setting(metavar="KIND")
    line_cells: tuple[int, int] | None = ranging(
        "sizes of lines are a range such as 3..5, smallest first", _whole, 0, UNLIMITED
    )
    jigsaw: bool = setting(False)
    constraints: str | None = setting(file="constraints, as of a column of tables")
    pattern: str | None = setting(file="a character for each cell")
    symmetry: str = setting("none", metavar="|".join(SYMMETRIES))
    weights: bool = setting(False)
    unlike: Sequence[Any] = setting((), metavar="FILE")
    columns: tuple[str, str] = setting(("puzzle", "solution"), metavar="NAMES", heading="Output")
    node_limit: int = setting(1_000_000, check=one_or_more)

    def check_all(self) -> None:
        """See `Settings`."""
        if self.symmetry not in SYMMETRIES:
            raise InputError(
                f"unknown symmetry {quoted(self.symmetry)}; choose from {', '.join(SYMMETRIES)}"
            )
        if self.weights and not (self.minimal and self.symmetry == "none"):
            raise InputError("`weights` are those of `minimal` puzzles without a symmetry")
        if self.weights and self.has_drawn_rules:
            raise InputError("`weights` are those of puzzles whose rules are not drawn")
        if self.cages is not None and self.cage_layout is not None:
            raise InputError("`cages` are drawn, and `cage_layout` gives them; leave out one")
        if self.line_cells is not None and self.lines is None:
            raise InputError("`line_cells` are of `lines`; name their kinds, such as thermo")
        if self.lines is not None and self.constraints is not None:
            raise InputError("`lines` are drawn, and `constraints` gives them; leave out one")
        given: Any = self.columns
        what = "columns are two names, such as quizzes,solutions"
        with argument_errors(what, given):
            names = tuple(given.split(",") if isinstance(given, str) else given)
        if len(set(names)) != 2 or not all(isinstance(name, str) and name for name in names):
            raise InputError(f"{what}, not {quoted(given)}")
        object.__setattr__(self, "columns", names)
        what = "a file to compare with"
        known = (one if is_tabular(one) else path_of(what, one) for one in each_of(self.unlike))
        object.__setattr__(self, "unlike", tuple(known))

    @property
    def has_values(self) -> bool:
        """True if rules speak of the values of digits, as sums do."""
        given = (self.cages, self.cage_layout, self.marks, self.lines, self.constraints)
        return any(each is not None for each in given)

    @property
    def has_drawn_rules(self) -> bool:
        """True if the rules of each row are drawn."""
        given = (self.cages, self.cage_layout, self.marks, self.lines)
        return self.jigsaw or any(each is not None for each in given)


@dataclass(frozen=True)
class ImageSettings(Settings):
    """The images that `augment` draws.

    Attributes
    ----------
    seed : int
        Seed of the random numbers.
    original : bool
        Write each row itself before its images.
    """

    seed: int = setting(0, check=seed_of, heading="Solutions")
    original: bool = setting(False, heading="Solutions")


@dataclass(frozen=True)
class RateSettings(Settings):
    """The columns that `rate` adds beside ratings, and its techniques.

    Attributes
    ----------
    backdoor : bool
        Add the least number of cells to fill so that singles solve the rest, up to 3.
    steps : bool
        Add the steps that solve the puzzle, as JSON.
    uniqueness : bool
        Use patterns that assume a unique solution, too: unique rectangles, loops and BUG.
    """

    backdoor: bool = setting(False)
    steps: bool = setting(False)
    uniqueness: bool = setting(False)


@dataclass(frozen=True)
class DedupeSettings(Settings):
    """The puzzles that `dedupe` takes as equal, and what becomes of them.

    Attributes
    ----------
    up_to_symmetry : bool
        Compare puzzles up to relabelling, permuting rows, columns, bands and stacks, and
        transposing.
    against : sequence of str, path or table
        Leave out the puzzles of FILE, too; can be given several times.
    mark : bool
        Keep all rows, and put a column before the others: the place of the first equal puzzle, such
        as test.csv#17.
    """

    up_to_symmetry: bool = setting(False, heading="Search")
    against: Sequence[Any] = setting((), metavar="FILE", heading="Input")
    mark: bool = setting(False)


def columns_of(by: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns of strata, or the values of a stratum."""
    return () if by is None else (by,) if isinstance(by, str) else tuple(by)


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


def _check_strata(settings: Any) -> None:
    """Convert the columns of strata, and the bounds of ranges, which ascend."""
    by: Any = columns_of(settings.by)
    bins: Any = () if settings.bins is None else settings.bins
    with argument_errors("bins are numbers, such as 1,10,100", bins):
        edges = tuple(map(number_of, bins.split(",") if isinstance(bins, str) else bins))
    if edges and len(by) != 1:
        raise InputError("`bins` are of the values of one column; name it with `by`")
    if not all(-inf < edge < inf for edge in edges) or any(a >= b for a, b in pairwise(edges)):
        raise InputError(f"bins ascend, such as 1, 10, 100; not {listed(edges)}")
    object.__setattr__(settings, "by", by)
    object.__setattr__(settings, "bins", edges)


@dataclass(frozen=True)
class EvaluateSettings(Settings):
    """The columns that `evaluate` reads, and its strata.

    Attributes
    ----------
    prediction : str, optional
        Name of the column of predictions; found by default.
    truth : str, optional
        Name of the column of true solutions, or none to solve the puzzles; by default the column of
        solutions, if there is one.
    by : str or sequence of str
        Count each value of this column apart, or each combination of the values of several.
    bins : sequence of float
        Count ranges of numbers instead of values: 1,10,100 make four.
    """

    prediction: str | None = setting(metavar="NAME", heading="Input")
    truth: str | None = setting(metavar="NAME", heading="Input")
    by: Sequence[str] = setting((), metavar="NAME")
    bins: tuple[float, ...] = setting((), metavar="BOUNDS")

    check_all = _check_strata


@dataclass(frozen=True)
class PartSettings(Settings):
    """The parts that `partition` makes.

    Attributes
    ----------
    parts : str or dict of str to float
        The share of each part; they add up to 1.
    by : str or sequence of str
        Keep the shares for each value of this column, or combination of the values of several.
    bins : sequence of float
        Keep them for ranges of numbers instead of values: 1,10,100 make four.
    seed : int
        Seed of the random numbers.
    """

    parts: str = setting(PARTS, metavar="SHARES")
    by: Sequence[str] = setting((), metavar="NAME")
    bins: tuple[float, ...] = setting((), metavar="BOUNDS")
    seed: int = setting(0, check=seed_of)

    check_all = _check_strata


@dataclass(frozen=True)
class Plan(Settings):
    """A grid of runs of a scaling experiment: every combination, `repeat` times.

    Attributes
    ----------
    jobs : sequence of (int or None)
        Numbers of workers, such as 1,2,4..8; by default 1,2 or all of a cluster.
    backends : sequence of str
        Backends, such as threading,loky.
    address : str, optional
        The cluster of --backend dask (tcp://host:8786) or ray (host:6379); by default one is
        started on this machine.
    split_depths : sequence of (int or None)
        Depths, such as 0..8,auto; by default auto.
    engines : sequence of str
        Engines, such as auto,dlx.
    budget : int, optional
        Nodes a task may visit before it hands back its frontier; by default set from the time that
        tasks take.
    time_limit : float, optional
        Stop each run after S seconds.
    repeat : int
        Runs of every combination.
    """

    jobs: tuple[int | None, ...] = setting(
        (), metavar="LIST", flags=("--jobs", "-j"), heading="Workers"
    )
    backends: tuple[str, ...] = setting(
        ("threading",), metavar="LIST", flags=("--backend",), heading="Workers"
    )
    address: str | None = setting(
        metavar="ADDRESS", flags=("--scheduler", "--address"), heading="Workers"
    )
    split_depths: tuple[int | None, ...] = setting((), metavar="LIST", flags=("--split-depth",))
    engines: tuple[str, ...] = setting((AUTO,), metavar="LIST", flags=("--engine",))
    budget: int | None = setting(check=one_or_more)
    time_limit: float | None = setting(check=_seconds, metavar="S")
    repeat: int = setting(3, check=one_or_more)

    def check_all(self) -> None:
        """See `Settings`."""
        jobs = self.jobs or ((None,) if self.address else (1, 2))
        object.__setattr__(self, "jobs", jobs)
        object.__setattr__(self, "split_depths", self.split_depths or (None,))
        for number in jobs:
            if number is not None:
                whole_number("the number of jobs", number, 1)
        for depth in self.split_depths:
            self.settings(depth)

    def settings(self, depth: int | None) -> SearchSettings:
        """Return the settings of a search with this split depth."""
        return SearchSettings(split_depth=depth, budget=self.budget, time_limit=self.time_limit)


_WHOLE: dict[type, str] = {
    SearchSettings: "search",
    FileSettings: "files",
    PuzzleSettings: "wanted",
}
"""The keywords of settings that are given whole."""


class WorkerFields(TypedDict, total=False):
    """The workers of a function: the arguments of `batchsolve.workers.Pool`."""

    jobs: int | None
    backend: str
    address: str | None


class _BoundFields(WorkerFields, total=False):
    """Workers, and the `SearchSettings` of every search, whole or field by field."""

    search: SearchSettings | None
    limit: int | None
    node_limit: int | None
    split_depth: int | Literal["auto"] | None
    budget: int | None


class RowFields(_BoundFields, total=False):
    """Workers, and the `SearchSettings` of rows."""

    engine: str
    branch: str


class RunSearchFields(_BoundFields, total=False):
    """Workers, and the `SearchSettings` of a run, whose engine and branching rule stay the same."""

    time_limit: float | None


class SearchFields(RowFields, RunSearchFields, total=False):
    """Workers, and all `SearchSettings`."""


class RunFields(TypedDict, total=False):
    """The `FileSettings` of functions that go from file to file."""

    chunk: int | None
    filename: bool
    stop_on_invalid: bool
    resume: bool


class SignFields(TypedDict, total=False):
    """The `FileSettings` of the signs and the size of grids."""

    alphabet: str | None
    blank: str | None
    box: Box | None


class NotationFields(SignFields, total=False):
    """The `FileSettings` of grids with any rules: the keywords of `read_problem`."""

    column: str | None
    rules: str | None
    regions: str | None
    rule_columns: str | None


class RateFields(WorkerFields, SignFields, total=False):
    """The keywords of `rate`: workers, and the `FileSettings` of grids with the usual rules."""

    backdoor: bool
    steps: bool
    uniqueness: bool
    files: FileSettings | None
    column: str | None
    rule_columns: str | None


class RateFileFields(RateFields, RunFields, total=False):
    """The keywords of `rate_file`."""


class RuledFields(WorkerFields, NotationFields, total=False):
    """Workers, and the `FileSettings` of grids with any rules."""

    files: FileSettings | None


class EvaluateFields(RuledFields, total=False):
    """The keywords of `evaluate`."""

    chunk: int | None


class GivenFields(RuledFields, total=False):
    """Workers, and the `FileSettings` of grids with any rules and given solutions."""

    solution_column: str | None


class AugmentFields(GivenFields, total=False):
    """The keywords of `augment`."""

    seed: int | None
    original: bool


class AugmentFileFields(AugmentFields, RunFields, total=False):
    """The keywords of `augment_file`."""


class AuditFields(GivenFields, total=False):
    """The keywords of `audit` and `partition`."""

    chunk: int | None


class DedupeFields(AuditFields, total=False):
    """The keywords of `dedupe`."""

    up_to_symmetry: bool
    against: Any
    mark: bool
    filename: bool


class SolveFields(RowFields, GivenFields, total=False):
    """The keywords of `solve_table` and `solve_stream`."""

    stats: bool
    canonical: bool


class SolveFileFields(SolveFields, RunFields, total=False):
    """The keywords of `solve_file`."""


class CountFileFields(SearchFields, RunFields, total=False):
    """The keywords of `count_file`."""

    files: FileSettings | None
    column: str | None
    stats: bool


class GenerateFields(WorkerFields, SignFields, total=False):
    """The keywords of `generate`: workers, `PuzzleSettings`, and grids."""

    wanted: PuzzleSettings | None
    seed: int | None
    clues: Range | None
    rating: Range | None
    cages: Range | None
    cage_layout: str | None
    marks: str | None
    lines: str | None
    line_cells: Range | None
    jigsaw: bool
    constraints: str | None
    minimal: bool
    pattern: str | None
    symmetry: str
    weights: bool
    unlike: Sequence[Any]
    node_limit: int
    files: FileSettings | None
    rules: str | None
    regions: str | None
    chunk: int | None


class GenerateTableFields(GenerateFields, total=False):
    """The keywords of `generate_table`."""

    columns: tuple[str, str] | str


class GenerateFileFields(GenerateTableFields, total=False):
    """The keywords of `generate_file`."""

    resume: bool
