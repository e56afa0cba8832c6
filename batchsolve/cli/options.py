"""The options of the commands, each declared once.

The classes of `batchsolve.settings` declare the settings of searches and files, with default,
bounds and help. A command takes such a class as one parameter; on the command line it stands for an
option for each field::

    @command()
    def count(problem: Problem, *, search: SearchSettings, printing: Printing) -> int:
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import click
from click import BadParameter

from batchsolve.cli.parameters import Argument, Option, click_parameter
from batchsolve.cli.terminal import interrupts
from batchsolve.errors import printable
from batchsolve.interrupts import check_interrupt
from batchsolve.settings import FileSettings, SearchSettings, setting


@dataclass(frozen=True)
class WorkerOptions:
    """The workers of a search."""

    jobs: int | None = setting(None, "Number of workers; by default one for each core.")
    backend: str = setting(
        "threading",
        "The kind of workers: threads, processes (loky), or those of a cluster (dask, ray).",
        metavar="threading|loky|dask|ray",
    )
    address: str | None = setting(
        None,
        "The cluster of --backend dask (tcp://host:8786) or ray (host:6379); by default one is "
        "started on this machine.",
        metavar="ADDRESS",
    )


@dataclass(frozen=True)
class Printing:
    """The form of facts and summaries, and all that a command prints beside its answer."""

    as_json: bool = setting(False, "Print a line of JSON.")
    quiet: bool = setting(False, "Print no progress and no summary, only errors.")

    def facts(self, facts: Mapping[str, Any]) -> None:
        """Print facts, a line each or as JSON."""
        if self.as_json:
            print(json.dumps(facts))
            return
        for name, value in facts.items():
            counts = isinstance(value, int) and not isinstance(value, bool)
            print(printable(f"{name}: {value:,}" if counts else f"{name}: {value}"))

    def summary(self, facts: Mapping[str, Any], *lines: object, output: str = "") -> None:
        """Print facts as JSON, on standard error if the output is ``-``; or lines, as a note."""
        if self.as_json:
            print(json.dumps(facts), file=sys.stderr if output == "-" else sys.stdout)
        else:
            self.note(*lines)

    def note(self, *lines: object) -> None:
        """Print lines on standard error, unless quiet."""
        for line in lines:
            if not self.quiet:
                print(printable(str(line)), file=sys.stderr)

    @contextmanager
    def progress(
        self, how: Mapping[str, Any], follow: Callable[[Any], Callable[..., None]]
    ) -> Iterator[Callable[..., None]]:
        """Yield a callback that draws a bar on a terminal, unless quiet, and checks for Ctrl-C.

        Parameters
        ----------
        how, follow
            As for `batchsolve.runs.progress.shown`.
        """
        from tqdm import tqdm

        is_hidden = self.quiet or not sys.stderr.isatty()
        with interrupts(), tqdm(file=sys.stderr, disable=is_hidden, **how) as bar:
            draw = follow(bar)

            def update(*state: Any) -> None:
                check_interrupt()
                draw(*state)

            yield update


def box_shape(text: str) -> tuple[int, int]:
    """Return the rows and columns of a box such as ``2x3``."""
    rows, _, columns = text.lower().partition("x")
    if not (rows.isdecimal() and columns.isdecimal()):
        raise BadParameter(f"{text!r} is not a box shape; write rows x columns, such as 3x3")
    return int(rows), int(columns)


def depth_or_auto(text: str) -> int | None:
    """Return a depth; None is automatic."""
    if text == "auto":
        return None
    if not text.isdecimal():
        raise BadParameter(f"{text!r} is not a depth; write a number, or auto")
    return int(text)


_HEADINGS = {
    FileSettings: "Input",
    SearchSettings: "Search",
    WorkerOptions: "Workers",
    Printing: "Output",
}
# Arguments of the `Option` of a field, beside its declaration and the heading of its class.
_ADDED: dict[str, dict[str, Any]] = {
    "jobs": {"flags": ("--jobs", "-j")},
    "address": {"flags": ("--scheduler", "--address")},
    "as_json": {"flags": ("--json",)},
    "quiet": {"flags": ("--quiet", "-q")},
    "box": {"type": box_shape},
    "split_depth": {"type": depth_or_auto},
    **{name: {"heading": "Output"} for name in ("filename", "stats", "canonical", "resume")},
}


def only(*names: str) -> tuple[str, ...]:
    """Annotate a class of settings: the command offers these fields, in this order."""
    return names


def meaning(name: str, **changes: Any) -> dict[str, dict[str, Any]]:
    """Annotate a class of settings: in this command a field has another ``help`` or ``default``.

    Parameters
    ----------
    name : str
        The field.
    **changes
        Its default, or other arguments of its `Option`.
    """
    return {name: changes}


@dataclass(frozen=True)
class _Group:
    """A parameter that stands for the options of a class of settings."""

    settings: type
    names: list[str]
    changes: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, hint: Any) -> _Group | None:
        """Return the group that a type stands for, or None if it is the type of one option."""
        settings, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if not is_dataclass(settings):
            return None
        assert isinstance(settings, type)
        names = [name for note in notes if isinstance(note, tuple) for name in note]
        changes = {name: note[name] for note in notes if isinstance(note, dict) for name in note}
        return cls(settings, names or [declared.name for declared in fields(settings)], changes)

    def parameters(self) -> Iterator[click.Parameter]:
        types = get_type_hints(self.settings)
        declared = {each.name: each for each in fields(self.settings)}
        for name in self.names:
            said = {
                "default": declared[name].default,
                "flags": (),
                "heading": _HEADINGS[self.settings],
                **declared[name].metadata,
                **_ADDED.get(name, {}),
                **self.changes.get(name, {}),
            }
            default, flags, _ = (said.pop(each) for each in ("default", "flags", "least"))
            yield click_parameter(name, Annotated[types[name], Option(*flags, **said)], default)

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
        """Return the parameters of the command that a function becomes."""
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
    """Return the settings of the notation of grids, as arguments of `read_problem`."""
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
Engine = Annotated[SearchSettings, only("engine"), meaning("engine", default="dlx")]
Json = Annotated[Printing, only("as_json")]
Quiet = Annotated[Printing, only("quiet")]
JsonSummary = Annotated[
    Printing, meaning("as_json", help="Print a summary line of JSON (on stderr if OUT is -).")
]
