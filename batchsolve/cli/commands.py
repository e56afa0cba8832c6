"""What makes a function a command: its options, its exit code, one message for an error."""

from __future__ import annotations

import inspect
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import batchsolve
from batchsolve.cli.options import Parameters
from batchsolve.cli.terminal import Terminated, TimeIsUp
from batchsolve.errors import BatchsolveError

EXIT_INCOMPLETE, EXIT_ERROR, EXIT_INTERRUPTED, EXIT_TERMINATED = 1, 2, 130, 143

# In the order of the list of commands: rows, one problem, its runs, job arrays, scaling.
ORDER = (
    *("solve", "dedupe", "count", "enumerate", "export", "runs", "graph", "sample"),
    *("show", "draw", "estimate", "engines", "split", "merge", "scale", "report"),
)


class Commands(TyperGroup):
    """The commands, listed by what one needs first."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands in the order of `ORDER`."""
        return sorted(super().list_commands(ctx), key=ORDER.index)


app = typer.Typer(
    name="batchsolve",
    cls=Commands,
    help="Solve exact cover problems, Sudoku of every size first among them, in parallel.",
    epilog="batchsolve COMMAND --help shows the options of a command and examples.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"batchsolve {batchsolve.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


Function = Callable[..., int]


def command(
    name: str | None = None, *, examples: tuple[str, ...] = (), epilog: str | None = None
) -> Callable[[Function], Function]:
    """Make a function a command of the app.

    Parameters
    ----------
    name : str, optional
        That of the function by default.
    examples : tuple of str
        Commands to try, in its help below the options.
    epilog : str, optional
        What stands below them.

    Returns
    -------
    callable
        Takes the function and returns it as it is. Its parameters become arguments and options, a
        class of settings among them one for each field; it returns the exit code.
    """

    def add(function: Function) -> Function:
        parameters = Parameters.of(function)

        def run(**given: Any) -> None:
            raise typer.Exit(_exit_code(lambda: function(**parameters.arguments(given))))

        # what typer looks at, to find out the options
        signature = inspect.Signature(parameters.shown)
        run.__signature__ = signature  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters.shown}
        named = name or function.__name__
        below = "\n\n".join([_shown(examples), epilog or ""])
        app.command(named, epilog=below, help=inspect.getdoc(function))(run)
        return function

    return add


def _shown(examples: tuple[str, ...]) -> str:
    """Return examples as a paragraph that is not wrapped; the character in front says so."""
    return "\n".join(["\b", "Examples:", *(f"  $ {example}" for example in examples)])


def _exit_code(run: Callable[[], int]) -> int:
    """Run a command; turn what it raises into one message and an exit code."""
    # an interrupted search leaves results that nobody asks for, and joblib warns of each
    warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
    # where Dask's event loops tell, at any time until the end, what came of connections to workers
    # that are gone; what this means for the command is raised as well
    for name in ("asyncio", "tornado.application"):
        logging.getLogger(name).disabled = True
    try:
        with _warnings_on_stderr():
            return run()
    except KeyboardInterrupt as error:
        how, code = "interrupted", EXIT_INTERRUPTED
        if isinstance(error, Terminated):
            how, code = "terminated", EXIT_TERMINATED
        print("\n" + "; ".join([f"batchsolve: {how}", *_notes(error)]), file=sys.stderr)
        return code
    except TimeIsUp:
        print("batchsolve: the time limit was reached before the search began", file=sys.stderr)
        return EXIT_INCOMPLETE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_ERROR
    except (BatchsolveError, OSError) as error:
        for line in [str(error), *_notes(error)]:
            print(f"batchsolve: {line}", file=sys.stderr)
        return EXIT_ERROR


@contextmanager
def _warnings_on_stderr() -> Iterator[None]:
    """Print what the package warns of as other messages of a command are printed."""
    log, handler = logging.getLogger("batchsolve"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("batchsolve: %(message)s"))
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def _notes(error: BaseException) -> list[str]:
    """Return what was noted on an error: how an interrupted run can go on."""
    return getattr(error, "__notes__", [])
