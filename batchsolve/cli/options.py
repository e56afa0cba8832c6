"""The options and arguments of the commands, made of the functions that run them.

The docstring of such a function is the help text of its command, and the sections are the headings
of the options::

    @command
    def estimate(problem: Problem, /, probes: int = 1000, *, search: Engine) -> int:
        '''Estimate the size of a search tree by random probes.

        Search
        ------
        probes : N
            Number of random probes.
        '''

Parameters before the slash are arguments. A bool is a flag, a `Literal` a choice of words, and a
sequence is an argument of several words, or an option that can be given several times.

The classes of `batchsolve.settings` declare the settings of searches and files, with default,
bounds and meaning. A command takes such a class as one parameter; on the command line it stands for
an option for each field. Its notes in `Annotated` say more: a tuple names the fields that are
options, and so does a class of `batchsolve.settings.keywords`, such as `RateFileFields`; a dict
gives fields other defaults; and a text is the heading of the notation of grids. An entry in the
docstring of the command gives a field another meaning.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import chain
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import click
from click import BadParameter
from click.shell_completion import CompletionItem

from batchsolve.cli.terminal import interrupts
from batchsolve.errors import InputError, named_errors, printable
from batchsolve.formats.whole_files import text_of
from batchsolve.settings import AUTO, FileSettings, Option, SearchSettings, setting
from batchsolve.settings.keywords import NotationFields

HEADINGS = ("Input", "Search", "Solutions", "Workers", "Output", "Notation of grids")
"""The headings of a help text, in order."""

MAX_NUMBERS = 1000  # in a list
_PLACES = ("FILE", "OUT", "DIR")  # metavars of options that name a file or a directory
_SHORT = {"output": "-o", "number": "-n", "jobs": "-j", "quiet": "-q"}  # other flags

Written = Annotated[str, "a file or a directory to write"]
"""The type of such an option; no input may be lost by it."""


def by_heading(parameters: Iterable[click.Parameter]) -> dict[str, list[click.Parameter]]:
    """Return parameters under their headings; ``--help`` is output."""
    sections: dict[str, list[click.Parameter]] = {heading: [] for heading in HEADINGS}
    for parameter in parameters:
        sections[getattr(parameter, "heading", "Output")].append(parameter)
    return {heading: members for heading, members in sections.items() if members}


def _files(context: click.Context, parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """Have the shell complete the name of a file."""
    return [CompletionItem(word, type="file")]


@dataclass(frozen=True)
class Session:
    """The workers of a command, the form of its facts, and all that it prints beside its answer.

    Attributes
    ----------
    jobs : int, optional
        The number of workers; by default one for each core.
    backend : str
        The kind of workers: threads, processes (loky), or those of a cluster (dask, ray).
    address : str, optional
        The cluster of --backend dask (tcp://host:8786) or ray (host:6379); by default one is
        started on this machine.
    as_json : bool
        Print the answer or the summary as JSON, on stderr if stdout has the output.
    quiet : bool
        Print no progress and no summary, only errors and warnings.
    """

    jobs: int | None = setting(heading="Workers")
    backend: str = setting("threading", metavar="threading|loky|dask|ray", heading="Workers")
    address: str | None = setting(
        metavar="ADDRESS", flags=("--scheduler", "--address"), heading="Workers"
    )
    as_json: bool = setting(False, flags=("--json",))
    quiet: bool = setting(False)

    @property
    def workers(self) -> dict[str, Any]:
        """The workers, as keywords of functions."""
        return {"jobs": self.jobs, "backend": self.backend, "address": self.address}

    def facts(self, facts: Mapping[str, Any]) -> None:
        """Print facts, a line each or as JSON."""
        if self.as_json:
            print(json.dumps(facts))
            return
        for name, value in facts.items():
            counts = isinstance(value, int) and not isinstance(value, bool)
            print(printable(f"{name}: {value:,}" if counts else f"{name}: {value}"))

    def summary(
        self, facts: Mapping[str, Any], *lines: object, output: str = "", answer: object = None
    ) -> None:
        """Print facts as JSON, on standard error if the output is ``-``.

        Without JSON, print the answer on standard output, if it is not written elsewhere, and lines
        as a note.
        """
        if self.as_json:
            print(json.dumps(facts), file=sys.stderr if output == "-" else sys.stdout)
            return
        if answer is not None:
            print(answer)
        self.note(*lines)

    def note(self, *lines: object) -> None:
        """Print lines on standard error, unless quiet."""
        for line in chain.from_iterable(str(text).splitlines() for text in lines):
            if not self.quiet:
                print(printable(as_options(line)), file=sys.stderr)

    @property
    def on_progress(self) -> bool:
        """True to draw progress bars: on a terminal, unless quiet."""
        return not self.quiet and sys.stderr.isatty()

    def rows_of(self, run: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Return the summary of a function of files, with a bar of its rows."""
        with interrupts():
            return run(*arguments, on_progress=self.on_progress, **self.workers, **keywords)


# ---- conversions ----------------------------------------------------------------------------


def _reader(content: str) -> Callable[[str], str]:
    """Return a function that reads a file with the text of a setting, such as ``the rules``."""

    def read(name: str) -> str:
        try:
            with named_errors(name):
                return text_of(name)
        except InputError as error:
            raise BadParameter(f"{error}; name a file with {content}") from error

    return read


def list_of(kind: Any) -> Callable[[str], tuple[Any, ...]]:
    """Return a function that reads a list: of names, or of numbers and ranges of numbers.

    Examples
    --------
    >>> list_of(tuple[str, ...])("threading,loky"), list_of(tuple[int, ...])("1,4..6")
    (('threading', 'loky'), (1, 4, 5, 6))
    >>> list_of(tuple[int | None, ...])("0..2,auto")
    (0, 1, 2, None)
    """
    element = get_args(kind)[0]

    def read(text: str) -> tuple[Any, ...]:
        values: list[Any] = []
        for part in map(str.strip, text.split(",")):
            if element is str:
                values.append(part)
            elif part == AUTO and type(None) in get_args(element):
                values.append(None)
            else:
                values += _numbers(part, MAX_NUMBERS - len(values))
        return tuple(dict.fromkeys(values))

    return read


def _numbers(part: str, most: int) -> range:
    """Return the numbers of a part of a list: one, or a range such as ``4..8``."""
    first, dots, last = part.partition("..")
    ends = (first, last if dots else first)
    if not all(end.isascii() and end.isdecimal() and len(end) < 10 for end in ends):
        raise BadParameter(f"{part!r} is not a number; write 1,2,4 or 1..4")
    numbers = range(int(ends[0]), int(ends[1]) + 1)
    if not numbers:
        raise BadParameter(f"{part!r} goes down; write {ends[1]}..{ends[0]}")
    if len(numbers) > most:
        raise BadParameter(f"{part!r} is more than {MAX_NUMBERS} numbers; name some")
    return numbers


def _conversion(kind: Any, metavar: str | None) -> Any:
    """Return click's type of a parameter."""
    if metavar == "LIST":
        return list_of(kind)
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    # settings read these texts themselves
    return str if get_origin(kind) in (tuple, Sequence) or metavar == "D|auto" else kind


# ---- docstrings as help texts ----------------------------------------------------------------


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
    entries = re.findall(r"^(\w+)(?: : (.*))?\n((?:    .*\n?)+)", section, re.MULTILINE)
    return {name: (form, " ".join(text.replace("`", "").split())) for name, form, text in entries}


def meanings_of(settings: type) -> dict[str, str]:
    """Return the meaning of each field: the attributes of the docstring, as plain text.

    Examples
    --------
    >>> meanings_of(SearchSettings)["node_limit"]
    'Nodes after which the search of a row, or of the problem, stops.'
    """
    attributes = entries_of(sections_of(settings).get("Attributes", ""))
    return {name: text for name, (_, text) in attributes.items()}


# ---- parameters -----------------------------------------------------------------------------

Groups = dict[str, tuple[type, list[str]]]
"""Parameters that stand for a class of settings: the class, and the fields that are options."""


def parameters_of(function: Callable[..., Any]) -> tuple[list[click.Parameter], Groups]:
    """Return the parameters of the command that a function becomes, and its classes of settings.

    Examples
    --------
    >>> def show(problem: Problem, /, number: int = 1) -> int:
    ...     pass
    >>> [parameter.opts for parameter in parameters_of(show)[0]]
    [['problem'], ['--number', '-n']]
    """
    shown: list[click.Parameter] = []
    groups: Groups = {}
    documented = {
        name: Option(metavar or None, text, heading)
        for heading, section in sections_of(function).items()
        if heading in HEADINGS
        for name, (metavar, text) in entries_of(section).items()
    }
    hints = get_type_hints(function, include_extras=True)
    for name, declared in inspect.signature(function).parameters.items():
        kind, notes = _plain(hints[name])
        if is_dataclass(kind):
            assert isinstance(kind, type)
            every = [field.name for field in fields(kind)]
            chosen = [field for note in notes for field in _names_in(note)] or every
            groups[name] = kind, [field for field in every if field in chosen]
            shown += _options_of(*groups[name], notes, documented)
            continue
        shared = (note for note in notes if isinstance(note, Option))
        option = documented.get(name) or next(shared, Option())
        is_argument = declared.kind is inspect.Parameter.POSITIONAL_ONLY
        parameter = _parameter(name, kind, declared.default, option, is_argument=is_argument)
        vars(parameter)["is_output"] = get_args(Written)[1] in notes
        shown.append(parameter)
    return shown, groups


def _plain(hint: Any) -> tuple[Any, list[Any]]:
    """Return a type without None, and its notes."""
    if get_origin(hint) is Annotated:
        kind, *notes = get_args(hint)
        plain, others = _plain(kind)
        return plain, [*notes, *others]
    if type(None) in get_args(hint):
        return _plain(next(kind for kind in get_args(hint) if kind is not type(None)))
    return hint, []


def _names_in(note: Any) -> Iterable[str]:
    """Return the fields that a note of a class of settings names."""
    if isinstance(note, type):  # the keywords of a function
        return note.__annotations__
    return note if isinstance(note, tuple) else ()


def _options_of(
    settings: type, names: list[str], notes: list[Any], documented: Mapping[str, Option]
) -> Iterator[click.Parameter]:
    """Yield the options of fields of a class of settings."""
    types, meanings = get_type_hints(settings), meanings_of(settings)
    declared = {field.name: field for field in fields(settings)}
    defaults = ChainMap(*(note for note in notes if isinstance(note, dict)))
    of_notation = [note for note in notes if isinstance(note, str)]
    for name in names:
        default, option = declared[name].default, declared[name].metadata["option"]
        if isinstance(default, tuple):
            default = ",".join(default) or None
        metavar, text, heading = option.metavar, meanings.get(name, ""), option.heading
        if name in documented:
            metavar, text, heading = documented[name].metavar or metavar, *documented[name][1:3]
        elif of_notation and name in NotationFields.__annotations__:
            heading = of_notation[0]
        heading = heading or getattr(settings, "heading", "")
        option = option._replace(metavar=metavar, help=text, heading=heading)
        kind, _ = _plain(types[name])
        yield _parameter(name, kind, defaults.get(name, default), option)


def _parameter(
    name: str, kind: Any, default: Any, option: Option, *, is_argument: bool = False
) -> click.Parameter:
    """Return click's parameter of a type and a default."""
    is_sequence = get_origin(kind) is Sequence
    is_place = is_argument or option.metavar in _PLACES
    keywords: dict[str, Any] = {
        "type": _reader(option.file) if option.file else _conversion(kind, option.metavar),
        "help": option.help,
        "metavar": option.metavar,
        "shell_complete": _files if is_place else None,
        **({"required": True} if default is inspect.Parameter.empty else {"default": default}),
    }
    parameter: click.Parameter
    if is_argument:
        parameter = click.Argument([name], nargs=-1 if is_sequence else 1, **keywords)
    else:
        flag = f"--{name.strip('_').replace('_', '-')}"
        flags = option.flags or (flag, *filter(None, [_SHORT.get(name)]))
        is_flag = kind is bool or None  # False would make the value optional
        parameter = click.Option([*flags, name], is_flag=is_flag, multiple=is_sequence, **keywords)
    vars(parameter)["heading"] = option.heading or "Output"  # for `by_heading`
    return parameter


def notation_settings(puzzles: FileSettings) -> dict[str, Any]:
    """Return the settings of the notation of grids, as arguments of `read_problem`."""
    return {name: getattr(puzzles, name) for name in NotationFields.__annotations__}


# ---- parameters that several commands share -------------------------------------------------

PROBLEM = (
    "A grid, as a file or as text; a row of a corpus (corpus.csv#17, #id=…); a .dlx, .ec, .sets, "
    ".json, .npz, .tiling, .matrix or .rows file, or one of another name behind its form "
    "(dlx:problem.txt, dlx:-); or a family such as queens:12 or sudoku:2x3."
)
Problem = Annotated[str, Option("PROBLEM", PROBLEM, "Input")]
Inputs = Annotated[
    Sequence[str],
    Option("INPUT...", "Files, folders, patterns or addresses, as of solve.", "Input"),
]
TableOutput = Annotated[
    Written,
    Option(
        "OUT",
        "The file: .csv, .tsv, .jsonl (perhaps with .gz, .bz2, .zst) or .parquet; - is "
        "CSV on stdout; out/ or s3://bucket/out is a folder of Parquet files.",
    ),
]
NOTATION_LAST = HEADINGS[-1]
"""A note of a command of one problem, which may be no grid."""

Puzzles = Annotated[FileSettings, NotationFields, NOTATION_LAST]
Engine = Annotated[SearchSettings, ("engine", "branch"), {"engine": "dlx"}]
Json = Annotated[Session, ("as_json",)]
Quiet = Annotated[Session, ("quiet",)]
JsonOrQuiet = Annotated[Session, ("as_json", "quiet")]


def as_options(message: str) -> str:
    """Return a message that names arguments of functions as one that names options.

    Examples
    --------
    >>> as_options("say which with `up_to_symmetry`")
    'say which with --up-to-symmetry'
    >>> as_options("count_file() takes no `box`; leave it out")
    'with these arguments, this command takes no --box; leave it out'
    """
    message = re.sub(r"^\w+\(\)(?= takes no `)", "with these arguments, this command", message)
    named = "(?<!')`([a-z_]+)`(?!')"  # what is quoted comes from the user
    return re.sub(named, lambda match: f"--{match[1].replace('_', '-')}", message)
