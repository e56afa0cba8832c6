"""The options and arguments of the commands, each declared once.

They are notes of `Annotated` parameters, whose types and defaults say the rest::

    def count(problem: Annotated[str, argument(metavar="PROBLEM", help="…")],
              probes: Annotated[int, option(metavar="N", help="…")] = 1000) -> int:

The classes of `batchsolve.settings` declare the settings of searches and files, with default,
bounds and meaning. A command takes such a class as one parameter; on the command line it stands for
an option for each field, or for those that a function of Python takes, too::

    @command()
    def rate(inputs: Inputs, *, files: Annotated[FileSettings, RateFileFields]) -> int:
"""

from __future__ import annotations

import inspect
import json
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import click
from click import BadParameter
from click.shell_completion import CompletionItem

from batchsolve.cli.terminal import interrupts
from batchsolve.core.interrupts import check_interrupt
from batchsolve.errors import InputError, printable
from batchsolve.formats.whole_files import text_of
from batchsolve.settings import (
    SYMMETRIES,
    FileSettings,
    NotationFields,
    PartSettings,
    Plan,
    PuzzleSettings,
    SearchSettings,
    meanings_of,
    setting,
)

if TYPE_CHECKING:
    from batchsolve.runs.progress import Bar

Note = Callable[[str, Any, Any], click.Parameter]
"""The declaration of a parameter: it makes click's of a name, a type and a default."""

HEADINGS = ("Input", "Search", "Solutions", "Workers", "Output", "Notation of grids")
"""The headings of a help text, in order."""

_PLACES = ("FILE", "OUT", "DIR")  # metavars of options that name a file or a directory


def argument(metavar: str, help: str) -> Note:
    """Declare an argument of a command; of the type ``tuple[str, ...]`` it takes several words."""

    def parameter(name: str, kind: Any, default: Any) -> click.Parameter:
        many = get_origin(kind) is tuple
        return click.Argument(
            [name],
            type=get_args(kind)[0] if many else kind,
            nargs=-1 if many else 1,
            help=help,
            metavar=metavar,
            shell_complete=_files,
            **_unless_given(default),
        )

    return parameter


def option(*flags: str, help: str, heading: str = "Output", **declared: Any) -> Note:
    """Declare an option of a command.

    One of the type ``tuple[str, ...]`` can be given several times, and a bool is a flag.

    Parameters
    ----------
    *flags : str
        By default the name of the parameter with dashes.
    help : str
    heading : str
        One of `HEADINGS`.
    **declared
        Other arguments of `click.Option`: ``metavar``, and a ``type`` if that of the parameter does
        not tell how to convert the text.
    """

    def parameter(name: str, kind: Any, default: Any) -> click.Parameter:
        many = "type" not in declared and get_origin(kind) is tuple
        usual = {"type": get_args(kind)[0] if many else kind, "multiple": many}
        if declared.get("metavar") in _PLACES:
            usual["shell_complete"] = _files
        made = click.Option(
            [*(flags or (f"--{name.replace('_', '-')}",)), name],
            is_flag=kind is bool or None,  # False would make the value optional
            help=help,
            **{**usual, **declared, **_unless_given(default)},
        )
        vars(made)["heading"] = heading  # for `by_heading`
        return made

    return parameter


def _files(context: click.Context, parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """Have the shell complete the name of a file."""
    return [CompletionItem(word, type="file")]


input_option, search_option, solution_option = (
    partial(option, heading=heading) for heading in HEADINGS[:3]
)


def output_to(metavar: str, help: str) -> Note:
    """Declare the option of the file or directory that a command writes."""
    return option("--output", "-o", metavar=metavar, help=help)


def is_output(parameter: click.Parameter) -> bool:
    """Return True for an option that names a file or a directory to write."""
    return getattr(parameter, "heading", "") == "Output" and parameter.metavar in _PLACES


def by_heading(parameters: Iterable[click.Parameter]) -> dict[str, list[click.Parameter]]:
    """Return parameters under their headings; arguments are input, and ``--help`` is output."""
    found: dict[str, list[click.Parameter]] = {heading: [] for heading in HEADINGS}
    for each in parameters:
        default = "Input" if isinstance(each, click.Argument) else "Output"
        found[getattr(each, "heading", default)].append(each)
    return {heading: those for heading, those in found.items() if those}


def _unless_given(default: Any) -> dict[str, Any]:
    return {"required": True} if default is inspect.Parameter.empty else {"default": default}


def click_parameter(name: str, hint: Any, default: Any) -> click.Parameter:
    """Return the parameter of click for a parameter that has one of these notes.

    Examples
    --------
    >>> from typing import Annotated
    >>> hint = Annotated[int | None, option("--number", "-n", help="Number of solutions.")]
    >>> click_parameter("n", hint, None).opts
    ['--number', '-n']
    """
    kind, note = get_args(hint)
    if type(None) in get_args(kind):
        kind, *_ = (each for each in get_args(kind) if each is not type(None))
    return note(name, kind, default)


@dataclass(frozen=True)
class WorkerOptions:
    """The workers of a search.

    Attributes
    ----------
    jobs : int, optional
        The number of workers; by default one for each core.
    backend : str
        The kind of workers: threads, processes (loky), or those of a cluster (dask, ray).
    address : str, optional
        The cluster of --backend dask (tcp://host:8786) or ray (host:6379); by default one is
        started on this machine.
    """

    jobs: int | None = setting(flags=("--jobs", "-j"))
    backend: str = setting("threading", metavar="threading|loky|dask|ray")
    address: str | None = setting(metavar="ADDRESS", flags=("--scheduler", "--address"))


@dataclass(frozen=True)
class Printing:
    """The form of facts and summaries, and all that a command prints beside its answer.

    Attributes
    ----------
    as_json : bool
        Print the answer or the summary as JSON, on stderr if stdout has the output.
    quiet : bool
        Print no progress and no summary, only errors.
    """

    as_json: bool = setting(False, flags=("--json",))
    quiet: bool = setting(False, flags=("--quiet", "-q"))

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
        for line in chain.from_iterable(str(one).splitlines() for one in lines):
            if not self.quiet:
                print(printable(line), file=sys.stderr)

    @contextmanager
    def progress(self, bar: Bar) -> Iterator[Callable[..., None]]:
        """Yield a callback that draws a bar on a terminal, unless quiet, and checks for Ctrl-C."""
        if self.quiet or not sys.stderr.isatty():
            with interrupts():
                yield lambda *state: check_interrupt()
            return
        from tqdm import tqdm

        follow, how = bar
        with interrupts(), tqdm(file=sys.stderr, **how) as drawn:
            draw = follow(drawn)

            def update(*state: Any) -> None:
                check_interrupt()
                draw(*state)

            yield update

    def rows_of(
        self, run: Callable[..., Any], workers: WorkerOptions, *arguments: Any, **how: Any
    ) -> Any:
        """Return the summary of a function of files, with a bar of its rows."""
        from batchsolve.runs.progress import ROW_BAR

        with self.progress(ROW_BAR) as on_progress:
            return run(*arguments, on_progress=on_progress, **asdict(workers), **how)


def text_of_file(what: str) -> dict[str, Any]:
    """Declare an option that names a file with the text of a setting, such as ``the rules``."""

    def read(name: str) -> str:
        try:
            return text_of(name)
        except (OSError, UnicodeDecodeError, InputError) as error:
            not_text = isinstance(error, UnicodeDecodeError)
            why = "is not UTF-8 text" if not_text else getattr(error, "strerror", None) or error
            raise BadParameter(f"{name}: {why}; name a file with {what}") from error

    return {"type": read, "metavar": "FILE"}


def depth_or_auto(text: str) -> int | None:
    """Return a depth; None is automatic."""
    if text == "auto":
        return None
    if not (text.isascii() and text.isdecimal()):
        raise BadParameter(f"{text!r} is not a depth; write a number, or auto")
    return int(text)


_HEADINGS = {
    FileSettings: "Input",
    SearchSettings: "Search",
    PuzzleSettings: "Search",
    PartSettings: "Search",
    Plan: "Search",
    WorkerOptions: "Workers",
}


def only(*names: str) -> tuple[str, ...]:
    """Annotate a class of settings: the command offers these fields alone.

    The keywords of a function of Python, such as `batchsolve.settings.RateFileFields`, say the same
    of a command that calls it: it offers the fields that are among them.
    """
    return names


def meaning(name: str, **changes: Any) -> dict[str, dict[str, Any]]:
    """Annotate a class of settings: in this command a field has another ``help`` or ``default``.

    Parameters
    ----------
    name : str
        The field.
    **changes
        Its default, or other arguments of its `option`.
    """
    return {name: changes}


Groups = dict[str, tuple[type, list[str]]]
"""Parameters that stand for a class of settings: the class, and the fields that are options."""


def parameters_of(function: Callable[..., Any]) -> tuple[list[click.Parameter], Groups]:
    """Return the parameters of the command that a function becomes, and its classes of settings."""
    shown: list[click.Parameter] = []
    groups: Groups = {}
    hints = get_type_hints(function, include_extras=True)
    for name, declared in inspect.signature(function).parameters.items():
        hint = hints[name]
        kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if is_dataclass(kind):
            assert isinstance(kind, type)
            named = [field for note in notes for field in _names_in(note)]
            offered = [each.name for each in fields(kind) if not named or each.name in named]
            changes = ChainMap(*(note for note in notes if isinstance(note, dict)))
            groups[name] = kind, offered
            shown += _options_of(kind, offered, changes)
        else:
            shown.append(click_parameter(name, hint, declared.default))
    return shown, groups


def _names_in(note: Any) -> Iterable[str]:
    """Return the fields that a note of a class of settings names."""
    if isinstance(note, type):  # the keywords of a function
        return note.__annotations__
    return note if isinstance(note, tuple) else ()


def _options_of(
    settings: type, names: list[str], changes: Mapping[str, Mapping[str, Any]]
) -> Iterator[click.Parameter]:
    """Yield the options of fields of a class of settings."""
    types = get_type_hints(settings)
    declared = {each.name: each for each in fields(settings)}
    meanings = meanings_of(settings)
    for name in names:
        default = declared[name].default
        if isinstance(default, tuple):
            default = ",".join(default) or None
        said = {
            "default": default,
            "help": meanings.get(name, ""),  # python -OO leaves no docstrings
            **_converted(types[name], **declared[name].metadata["option"]),
        }
        said["heading"] = said["heading"] or _HEADINGS.get(settings, "Output")
        said |= changes.get(name, {})
        default, flags = said.pop("default"), said.pop("flags")
        yield click_parameter(name, Annotated[types[name], option(*flags, **said)], default)


def _converted(kind: Any, file: str, metavar: str, **others: Any) -> dict[str, Any]:
    """Return the declaration of the option of a field, with its conversion of the given text."""
    said = {"metavar": metavar, **others}
    origins = {get_origin(each) for each in (kind, *get_args(kind))}
    if file:
        said |= text_of_file(file)
    elif metavar == "D|auto":
        said["type"] = depth_or_auto
    elif metavar == "|".join(SYMMETRIES):
        said["type"] = click.Choice(SYMMETRIES)
    elif origins & {tuple, Sequence}:  # the settings take them as text, or several times
        said |= {"type": str, "multiple": Sequence in origins}
    return said


def how_written(puzzles: FileSettings) -> dict[str, Any]:
    """Return the settings of the notation of grids, as arguments of `read_problem`."""
    return {name: getattr(puzzles, name) for name in NotationFields.__annotations__}


# Options and arguments that several commands share

PROBLEM = (
    "A grid, as a file or as text; a row of a corpus (corpus.csv#17, #id=…); a .dlx, .ec, .sets, "
    ".json, .npz, .tiling, .matrix or .rows file, or one of another name behind its form "
    "(dlx:problem.txt, dlx:-); or a family such as queens:12 or sudoku:2x3."
)
Problem = Annotated[str, argument(metavar="PROBLEM", help=PROBLEM)]
Inputs = Annotated[
    tuple[str, ...],
    argument(metavar="INPUT...", help="Files, folders, patterns or addresses, as of solve."),
]
TableOutput = Annotated[
    str,
    output_to(
        "OUT",
        help="The file: .csv, .tsv, .jsonl (perhaps with .gz, .bz2, .zst) or .parquet; - is "
        "CSV on stdout; out/ or s3://bucket/out is a folder of Parquet files.",
    ),
]
NOTATION_LAST = {name: {"heading": HEADINGS[-1]} for name in NotationFields.__annotations__}
"""A note of a command of one problem, which may be no grid."""

Puzzles = Annotated[FileSettings, NotationFields, NOTATION_LAST]
Engine = Annotated[SearchSettings, only("engine", "branch"), meaning("engine", default="dlx")]
Json = Annotated[Printing, only("as_json")]
Quiet = Annotated[Printing, only("quiet")]
