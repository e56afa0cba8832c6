"""The command line: commands made of functions, their exit codes, one message for an error.

Commands and heavy modules are imported when a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import groupby
from operator import itemgetter
from typing import Any

import click
from click.exceptions import Exit

import batchsolve
from batchsolve.cli import options
from batchsolve.cli.terminal import Terminated
from batchsolve.core.interrupts import TimeIsUp
from batchsolve.errors import BatchsolveError, InputError, disk_errors, first_line, printable
from batchsolve.formats.whole_files import check_is_no_input, is_in_memory
from batchsolve.settings.arguments import real_path

EXIT_INCOMPLETE, EXIT_ERROR, EXIT_INTERRUPTED, EXIT_TERMINATED = 1, 2, 130, 143
COLUMN = 24  # characters, of the flags in a help text
LINE = 80  # characters, of a line in the list of commands
_NO_THREAD = re.compile("can't start new thread|launch worker thread")  # of Python, and of Arrow
_OF_WRITING = (errno.EBADF, errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)
MOST_DIGITS = 100_000  # of a number that is printed or read; Python takes a tenth of a second then

# Heading in the list of commands, module, and its commands in order.
_LIST = (
    ("Tables of puzzles", "tables", "solve dedupe generate"),
    ("Learning", "tables", "partition rate augment audit evaluate"),
    ("One problem", "trees", "count enumerate export runs"),
    ("One problem", "problems", "graph sample show draw convert estimate engines"),
    ("Trees in parts", "trees", "split merge"),
    ("Scaling", "scale", "scale report"),
)
_MODULES = {name: module for _, module, names in _LIST for name in names.split()}


class Commands(click.Group):
    """The commands, the usual ones first; each is imported when it is used."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run the program; print one message if the help or the version cannot be printed."""
        sys.set_int_max_str_digits(MOST_DIGITS)
        try:
            return super().main(*args, **settings)
        except OSError as error:
            sys.exit(_fail(error, f"standard output: cannot be written: {error.strerror or error}"))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; escape its arguments where an error shows them.

        For an error at the end of a file, click would print only that the command was aborted.
        """
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            error.message = printable(error.message)  # type: ignore[misc]  # final for others
            raise
        except EOFError as error:  # of a module that Python could not write in full, for instance
            fault = f"a file is cut off ({first_line(error)}); if it is none of yours, delete the"
            raise Exit(_fail(error, f"{fault} folders __pycache__ of this installation")) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(_MODULES)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under the headings of their tasks."""
        commands, width = all_commands(), max(map(len, _MODULES))
        for heading, rows in groupby(_LIST, itemgetter(0)):
            with formatter.section(heading):
                names = (name for *_, words in rows for name in words.split())
                shown = {name: commands[name].get_short_help_str(LINE) for name in names}
                formatter.write_dl([(f"{name:{width}}", text) for name, text in shown.items()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name, or None."""
        if cmd_name in _MODULES:
            import_module(f"batchsolve.cli.{_MODULES[cmd_name]}")  # which adds its commands
        else:
            all_commands()  # so that click can suggest similar names
        return super().get_command(ctx, cmd_name)


app = Commands(
    name="batchsolve",
    help="Solve exact cover problems, Sudoku of every size first among them, in parallel.",
    epilog="batchsolve COMMAND --help shows the options of a command and examples.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
click.version_option(
    batchsolve.__version__, message="batchsolve %(version)s", help="Print the version."
)(app)


def all_commands() -> dict[str, click.Command]:
    """Import all commands; return them by their names, in the order of their list."""
    for module in set(_MODULES.values()):
        import_module(f"batchsolve.cli.{module}")
    return {name: app.commands[name] for name in _MODULES}


class _Command(click.Command):
    """A command whose help has its arguments and options under headings."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse a second value of an option that takes one; click would ignore the first."""
        if not ctx.resilient_parsing:  # parsing is resilient while a word is completed
            words, _, order = self.make_parser(ctx).parse_args(list(args))
            ctx.obj = words  # as typed, for `_refuse_lost_files`
            single = [o for o in order if isinstance(o, click.Option)]
            single = [o for o in single if not (o.is_flag or o.multiple or o.count)]
            if again := next((o for k, o in enumerate(single) if o in single[:k]), None):
                raise click.UsageError(f"{again.opts[0]} takes one value; give it once", ctx)
        return super().parse_args(ctx, args)

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write nothing: `format_options` writes them."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments and options, aligned under their headings."""
        for heading, parameters in options.by_heading(self.get_params(ctx)).items():
            records = filter(None, (parameter.get_help_record(ctx) for parameter in parameters))
            with formatter.section(heading):
                formatter.write_dl([(f"{flags:{COLUMN}}", text) for flags, text in records], COLUMN)


def command(function: Callable[..., int]) -> Callable[..., int]:
    """Make a function a command of the app; return the function unchanged.

    Its parameters become arguments and options, a class of settings one for each field; it returns
    the exit code. The docstring is the help text; see `batchsolve.cli.options`. Its section
    "Examples" has commands to try, and "Exit codes" the meanings of 0 and 1 for this command, and
    errors of it alone, of code 2.
    """
    parameters, groups = options.parameters_of(function)
    texts = options.sections_of(function)

    def run(**values: Any) -> None:
        def answer() -> int:
            _refuse_lost_files(parameters, click.get_current_context().obj)
            for name, (settings, offered) in groups.items():
                values[name] = settings(**{field: values.pop(field) for field in offered})
            words = [values.pop(p.name) for p in parameters if isinstance(p, click.Argument)]
            return function(*words, **values)

        raise Exit(_exit_code(answer))

    ends = options.entries_of(texts.get("Exit codes", ""))
    codes = {int(code): text for code, (_, text) in ends.items()}
    has_workers = any(parameter.name == "address" for parameter in parameters)
    app.add_command(
        _Command(
            function.__name__.strip("_"),
            callback=run,
            params=parameters,
            help=texts[""],
            epilog="\n\n".join([_shown(texts.get("Examples", "")), _said_of(codes, has_workers)]),
        )
    )
    return function


def _refuse_lost_files(parameters: Sequence[click.Parameter], words: Mapping[str, Any]) -> None:
    """Raise `InputError` if an output would replace an input, or another output, or end with us.

    Inputs are all words that name a file, such as the rules of an option or the problem of a name
    like ``puzzles.csv#17`` or ``dlx:problem.txt``; commands see to folders and patterns.
    """
    written: dict[str, str] = {}
    inputs: list[str] = []
    for parameter in parameters:
        flag, value = parameter.opts[0], words.get(parameter.name or "")
        if getattr(parameter, "is_output", False) and isinstance(value, str) and value != "-":
            if is_in_memory(value):
                raise InputError(f"{value}: memory ends with the command; name a file or a folder")
            place = real_path(value)
            if place in written:
                raise InputError(f"{value}: is both {written[place]} and {flag}; name two")
            written[place] = flag
        else:
            values = value if isinstance(value, list | tuple) else [value]
            inputs += [text for text in values if isinstance(text, str)]
    inputs += [part for text in inputs for part in (text.partition("#")[0], text.partition(":")[2])]
    for output in written:
        check_is_no_input(output, filter(os.path.isfile, inputs))


def answered(
    result: Any, session: options.Session, *lines: object, output: str = "", answer: object = None
) -> int:
    """Print the facts of a result, or an answer and lines; return the exit code."""
    facts = {**result.facts, "seconds": round(result.seconds, 3)}
    session.summary(facts, *lines, output=output, answer=answer)
    return 0 if result.complete else EXIT_INCOMPLETE


def _shown(examples: str) -> str:
    """Return examples as a paragraph that click does not wrap, because of its first character."""
    lines = examples.strip().splitlines()
    return "\n".join(["\b", "Examples:", *(f"  $ {example}" for example in lines)])


def _said_of(codes: Mapping[int, str], has_workers: bool) -> str:
    """Return what a help text says of exit codes."""
    if not codes:
        return ""
    errors = ["wrong usage", "a file that cannot be read or written"]
    errors[1:1] = [codes[2]] if 2 in codes else []
    errors += ["no worker left"] if has_workers else []
    shown = [f"{code} {codes[code]}" for code in (0, 1) if code in codes]
    shown += [f"2 {', '.join(errors[:-1])}, or {errors[-1]}", "130 interrupted, 143 terminated."]
    return f"Exit codes: {'; '.join(shown)}"


def _exit_code(run: Callable[[], int]) -> int:
    """Run a command; turn an exception into one message and an exit code."""
    # joblib warns of workers that have stopped; the pool repeats their tasks
    warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
    # Dask logs lost workers and their results at any time; it raises the errors that matter as well
    for name in ("asyncio", "tornado.application", "distributed.client"):
        logging.getLogger(name).disabled = True
    log, handler = logging.getLogger("batchsolve"), _BesideBars()
    log.addHandler(handler)
    try:
        code = run()
        with disk_errors("standard output"):
            sys.stdout.flush()
        return code
    except KeyboardInterrupt as error:
        end, code = "interrupted", EXIT_INTERRUPTED
        if isinstance(error, Terminated):
            end, code = "terminated", EXIT_TERMINATED
        print("\n" + printable("; ".join([f"batchsolve: {end}", *_notes(error)])), file=sys.stderr)
        return code
    except TimeIsUp:
        print("batchsolve: the time limit was reached before there was a result", file=sys.stderr)
        return EXIT_INCOMPLETE
    except BrokenPipeError:
        return EXIT_ERROR
    except Exception as error:
        if isinstance(error, BatchsolveError | OSError):
            return _fail(error, _said(error))
        if isinstance(error, MemoryError) or _NO_THREAD.search(str(error)):
            return _fail(error, "out of memory; give fewer --jobs, or more memory")
        error.__notes__ = _notes(error)  # for the traceback
        raise
    finally:
        log.removeHandler(handler)


def _fail(error: Exception, message: str) -> int:
    """Print a message for an error, and its notes; return the exit code."""
    for line in [message, *_notes(error)]:
        print(printable(f"batchsolve: {line}"), file=sys.stderr)
    return EXIT_ERROR


def _said(error: BatchsolveError | OSError) -> str:
    """Return the message of an error, in the form of the package's messages."""
    if isinstance(error, BatchsolveError) or not error.strerror:
        return options.as_options(str(error))
    if error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    is_printed = error.errno in _OF_WRITING  # others come from a fork, for instance
    return f"{'standard output: cannot be written: ' if is_printed else ''}{error.strerror}"


class _BesideBars(logging.Handler):
    """A handler that prints warnings of the package as messages of a command, above a bar."""

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm import tqdm

        tqdm.write(printable(f"batchsolve: {record.getMessage()}"), file=sys.stderr)


def _notes(error: BaseException) -> list[str]:
    """Return the notes of an error: commands that go on with an interrupted run."""
    return list(map(options.as_options, getattr(error, "__notes__", [])))
