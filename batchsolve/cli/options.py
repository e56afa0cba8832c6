"""The options of the commands, each declared once.

What a search or a file can be told is declared by the classes of `batchsolve.settings`, with its
default, bounds and help. A command takes such a class as one parameter; on the command line it
stands for an option for each of its fields::

    @command()
    def count(problem: Problem, *, search: SearchSettings, quiet: Quiet = False) -> int:
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import click
from click import BadParameter

from batchsolve.cli.parameters import Argument, Option, click_parameter
from batchsolve.settings import FileSettings, SearchSettings, setting


@dataclass(frozen=True)
class Workers:
    """Who searches."""

    jobs: int | None = setting(None, "Number of workers; by default one for each core.")
    backend: str = setting(
        "threading",
        "Where workers run: in threads, in processes (loky), or on a cluster (dask, ray).",
        metavar="threading|loky|dask|ray",
    )
    address: str | None = setting(
        None,
        "The cluster of --backend dask (tcp://host:8786) or ray (host:6379); by default one is "
        "started on this machine.",
        metavar="ADDRESS",
    )


def box_shape(text: str) -> tuple[int, int]:
    """Return the rows and columns of a box such as ``2x3``."""
    rows, _, columns = text.lower().partition("x")
    if not (rows.isdecimal() and columns.isdecimal()):
        raise BadParameter(f"{text!r} is no box shape; write rows x columns, such as 3x3")
    return int(rows), int(columns)


def depth_or_auto(text: str) -> int | None:
    """Return a depth; None is automatic."""
    if text == "auto":
        return None
    if not text.isdecimal():
        raise BadParameter(f"{text!r} is no depth; write a number, or auto")
    return int(text)


# A metavar names the form of a value, and so the function that reads it, if its type does not.
_PARSERS: dict[str, Callable[[str], Any]] = {"RxC": box_shape, "D|auto": depth_or_auto}
_FLAGS = {"jobs": ("--jobs", "-j"), "address": ("--scheduler", "--address")}


@dataclass(frozen=True)
class _Only:
    names: tuple[str, ...]


def only(*names: str) -> _Only:
    """Annotate a class of settings: the command offers these fields, in this order."""
    return _Only(names)


@dataclass(frozen=True)
class _Meaning:
    name: str
    changes: Mapping[str, Any]


def meaning(name: str, what: str, **changes: Any) -> _Meaning:
    """Annotate a class of settings: for this command a field has another help.

    Parameters
    ----------
    name : str
        The field.
    what : str
        Its help.
    **changes
        Another ``default`` or ``metavar``.
    """
    return _Meaning(name, {"help": what, **changes})


def option_of(settings: type, name: str, **changes: Any) -> Option:
    """Return the option of one field, for an `Annotated` parameter.

    Parameters
    ----------
    settings : type
        A class of settings.
    name : str
        The field.
    **changes
        What is said otherwise: ``help``, ``metavar``.
    """
    [declared] = [declared for declared in fields(settings) if declared.name == name]
    said = {**declared.metadata, **changes}
    return Option(
        *_FLAGS.get(name, ()),
        help=said["help"],
        metavar=said["metavar"],
        parser=_PARSERS.get(said["metavar"]),
    )


@dataclass(frozen=True)
class _Group:
    """A parameter that stands for the options of a class of settings."""

    settings: type
    only: tuple[str, ...] = ()
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, hint: Any) -> _Group | None:
        """Return the group that a type stands for, or None if it is the type of one option."""
        settings, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if not is_dataclass(settings):
            return None
        assert isinstance(settings, type)
        names = [name for note in notes if isinstance(note, _Only) for name in note.names]
        changes = {note.name: note.changes for note in notes if isinstance(note, _Meaning)}
        return cls(settings, tuple(names), changes)

    @property
    def names(self) -> tuple[str, ...]:
        return self.only or tuple(declared.name for declared in fields(self.settings))

    def parameters(self) -> Iterator[click.Parameter]:
        types, defaults = get_type_hints(self.settings), self.settings()
        for name in self.names:
            changes = dict(self.changes.get(name, {}))
            default = changes.pop("default", getattr(defaults, name))
            note = option_of(self.settings, name, **changes)
            yield click_parameter(name, Annotated[types[name], note], default)

    def take(self, given: dict[str, Any]) -> Any:
        """Take the values of the options out of those given; return the settings."""
        return self.settings(**{name: given.pop(name) for name in self.names})


@dataclass(frozen=True)
class Parameters:
    """The parameters of a command: those of a function, its classes of settings taken apart."""

    shown: list[click.Parameter]
    groups: dict[str, _Group]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Parameters:
        """Return the parameters of the command that a function is to be."""
        shown: list[click.Parameter] = []
        groups: dict[str, _Group] = {}
        hints = get_type_hints(function, include_extras=True)
        for name, declared in inspect.signature(function).parameters.items():
            group = _Group.of(hints[name])
            if group is None:
                shown.append(click_parameter(name, hints[name], declared.default))
            else:
                groups[name] = group
                shown += group.parameters()
        return cls(shown, groups)

    def arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments for the function, put together from the values of the options.

        Raises
        ------
        InputError
            If a setting is out of bounds.
        """
        rest = dict(given)
        settings = {name: group.take(rest) for name, group in self.groups.items()}
        return {**rest, **settings}


def how_written(puzzles: FileSettings) -> dict[str, Any]:
    """Return what was said about how grids are written, as arguments of `read_problem`."""
    return {name: getattr(puzzles, name) for name in _HOW_WRITTEN}


# Options and arguments that several commands share

_HOW_WRITTEN = ("box", "alphabet", "blank", "column")

Problem = Annotated[
    str,
    Argument(
        metavar="PROBLEM",
        help="A grid file, a row of a corpus (corpus.csv#17, #id=…), a .dlx, .ec, .json, .npz or "
        ".tiling file, or a family such as queens:12 or sudoku:2x3.",
    ),
]
Puzzles = Annotated[FileSettings, only(*_HOW_WRITTEN)]
Address = Annotated[str | None, option_of(Workers, "address")]
Budget = Annotated[int | None, option_of(SearchSettings, "budget")]
Engine = Annotated[str, option_of(SearchSettings, "engine")]
Jobs = Annotated[int | None, option_of(Workers, "jobs")]
Json = Annotated[bool, Option("--json", help="Print a line of JSON.")]
JsonSummary = Annotated[
    bool, Option("--json", help="Print a summary line of JSON (on stderr if OUT is -).")
]
Quiet = Annotated[
    bool, Option("--quiet", "-q", help="Print no progress and no summary, only errors.")
]
