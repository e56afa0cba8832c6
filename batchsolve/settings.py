"""What can be set, declared once: names, defaults, bounds and help, for functions and commands.

This module imports nothing heavy, so that ``--help`` answers at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from batchsolve.errors import InputError

AUTO = "auto"
"""The engine that suits the problem."""

UNLIMITED = 2**62
"""A limit, allowance, budget or depth that no search reaches."""

GRAPH_MEGABYTES = 1024
"""What a graph of covers may take by default."""


def setting(default: Any, what: str, *, least: float | None = None, metavar: str = "N") -> Any:
    """Declare a field of a class of settings.

    Parameters
    ----------
    default : object
    what : str
        What it means, as the help of a command says it.
    least : float, optional
        The least value; no bounded setting is larger than `UNLIMITED`.
    metavar : str
        What stands for its value in the help of a command.
    """
    return field(default=default, metadata={"help": what, "least": least, "metavar": metavar})


def check_bounds(settings: Any) -> None:
    """Refuse settings that are not None and lie outside the bounds of their fields.

    Raises
    ------
    InputError

    Examples
    --------
    >>> SearchSettings(limit=0)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: limit is 1 or more, not 0
    """
    for declared in fields(settings):
        least, value = declared.metadata.get("least"), getattr(settings, declared.name)
        if least is None or value is None:
            continue
        if not least <= value <= UNLIMITED:
            bound = f"at most {UNLIMITED}" if value > UNLIMITED else f"{least} or more"
            raise InputError(f"{declared.name} is {bound}, not {value}")


@dataclass(frozen=True)
class SearchSettings:
    """What to search for, and how; none but the first three and the engine changes an answer.

    Attributes
    ----------
    limit : int, optional
        Solutions wanted of each row, or of the problem. For rows 2, which proves uniqueness, is
        usual; for one problem all are wanted by default.
    node_limit : int, optional
        Nodes after which the search of a row, or of the problem, stops. Such a row is searched in
        tree order by one worker at a time, so that where it stops depends on nothing else.
    time_limit : float, optional
        Seconds after which the search of one problem stops; rows have none.
    split_depth : int, optional
        Expand the tree to this depth first; by default, that of a problem as deep as gives every
        worker enough to do, and that of a row not at all.
    budget : int, optional
        Nodes a task may visit before it hands back its frontier; sized by time by default.
    engine : str
        Name of the engine; ``auto`` is one that suits the problem.

    Examples
    --------
    >>> SearchSettings(limit=2).limit
    2
    >>> SearchSettings(time_limit=0)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: time_limit is more than 0 seconds, not 0
    """

    limit: int | None = setting(None, "Stop after N solutions.", least=1)
    node_limit: int | None = setting(None, "Stop after N nodes.", least=1)
    time_limit: float | None = setting(None, "Stop after S seconds.", metavar="S")
    split_depth: int | None = setting(
        None,
        "Expand the tree to this depth first; by default deep enough for all workers.",
        least=0,
        metavar="D|auto",
    )
    budget: int | None = setting(
        None, "Nodes a task may visit; by default set from the time that tasks take.", least=1
    )
    engine: str = setting(AUTO, "The search engine; batchsolve engines lists them.", metavar="NAME")

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"time_limit is more than 0 seconds, not {self.time_limit}")


@dataclass(frozen=True)
class FileSettings:
    """How a corpus is read and its answers are written.

    Attributes
    ----------
    column : str, optional
        The puzzle column; by default found by its name or its shape.
    alphabet : str, optional
        Symbols of the digits; by default found from the whole column.
    blank : str, optional
        The characters of blank cells; by default ``.0*_-``, as far as they are no digits.
    box : (int, int), optional
        Rows and columns of a box; by default from the size of the puzzles.
    chunk : int, optional
        Rows that a task reads at most; by default about a megabyte of text.
    filename : bool
        Write a column ``filename`` that says which file a row is from.
    stats : bool
        Write the columns ``nodes`` and ``seconds``.
    canonical : bool
        Write the column ``canonical``, the least puzzle that is the same up to symmetry.
    stop_on_invalid : bool
        Raise `InputError` at the first invalid row instead of reporting it in its place.
    resume : bool
        Go on from ``OUT.partial``, if there is one.
    """

    column: str | None = setting(
        None, "Name of the puzzle column; found by default.", metavar="NAME"
    )
    alphabet: str | None = setting(
        None,
        "Symbols of the digits: 1-9A-G, 0-9A-F, A-P, … or numbers; one more in front is the blank.",
        metavar="A",
    )
    blank: str | None = setting(
        None,
        "Characters of blank cells, such as ?x; by default .0*_- as far as they are no digits.",
        metavar="C",
    )
    box: tuple[int, int] | None = setting(
        None, "Rows and columns of a box, such as 2x3; by default from the size.", metavar="RxC"
    )
    chunk: int | None = setting(
        None, "Most rows a task reads; by default up to 1.5 MB of text.", least=1
    )
    filename: bool = setting(False, "Add a column that says which file a row is from.")
    stats: bool = setting(False, "Add the columns nodes and seconds.")
    canonical: bool = setting(
        False, "Add a column with the least puzzle that is the same up to symmetry (row-minlex)."
    )
    stop_on_invalid: bool = setting(False, "Stop at the first invalid row.")
    resume: bool = setting(False, "Go on from OUT.partial.")

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.box is not None and min(self.box) < 1:
            raise InputError(f"a box has 1 row and column or more, not {self.box}")
