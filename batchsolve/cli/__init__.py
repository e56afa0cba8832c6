"""The command line: arguments in, exit codes out.

Heavy modules are imported when a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

import batchsolve

app = typer.Typer(
    name="batchsolve",
    help="Solve exact cover problems, Sudoku of every size first among them, in parallel.",
    add_completion=False,
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


# the modules add their commands to the app
from batchsolve.cli import problems, scale, solve, trees  # noqa: E402, F401
