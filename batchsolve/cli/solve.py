"""The command line: arguments in, exit codes out.

Heavy modules are imported when a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

import batchsolve
from batchsolve.errors import BatchsolveError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from batchsolve.filerun import Progress, Summary

EXIT_INCOMPLETE, EXIT_ERROR, EXIT_INTERRUPTED = 1, 2, 130
COMPILE_SECONDS = 1.0  # loading compiled kernels takes less; compiling them takes 5 to 20

app = typer.Typer(
    name="batchsolve",
    help="Solve exact cover problems, Sudoku of every size first among them, in parallel.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Backend(StrEnum):
    """Where workers live."""

    threading = "threading"
    loky = "loky"


class OnInvalid(StrEnum):
    """What an invalid row does to the run."""

    report = "report"
    stop = "stop"


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


def _box(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    rows, _, columns = text.lower().partition("x")
    if not (rows.isdecimal() and columns.isdecimal()):
        raise typer.BadParameter(f"{text!r} is no box shape; write rows x columns, such as 3x3")
    return int(rows), int(columns)


@app.command(
    epilog="Exit codes: 0 every row answered; 1 some row invalid, unfinished or disagreeing with "
    "its given solution; 2 wrong usage, or a file that cannot be read or written; 130 interrupted."
)
def solve(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="CSV, TSV, Parquet, JSON lines or text, perhaps .gz, .bz2 or .zst; - is stdin.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Where to write: .csv, .tsv, .jsonl (perhaps with .gz, .bz2, .zst) or .parquet; "
            "- is CSV on stdout.",
        ),
    ] = "-",
    limit: Annotated[
        int, typer.Option(metavar="N", help="Solutions to look for; 2 proves uniqueness.")
    ] = 2,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", help="Workers; all cores by default.")
    ] = None,
    backend: Annotated[Backend, typer.Option(help="Threads or processes.")] = Backend.threading,
    engine: Annotated[str, typer.Option(metavar="NAME", help="Search engine.")] = "dlx",
    box: Annotated[
        str | None, typer.Option(metavar="RxC", help="Rows and columns of a box, such as 2x3.")
    ] = None,
    alphabet: Annotated[
        str | None,
        typer.Option(metavar="A", help="Symbols of the digits: 1-9A-G, 0-9A-F, A-P, … or numbers."),
    ] = None,
    column: Annotated[str | None, typer.Option(metavar="NAME", help="The puzzle column.")] = None,
    node_limit: Annotated[
        int | None, typer.Option(metavar="N", help="Nodes after which a row is unfinished.")
    ] = None,
    split_depth: Annotated[
        int, typer.Option(metavar="D", help="Cut every row into subproblems of this depth.")
    ] = 0,
    budget: Annotated[
        int | None,
        typer.Option(metavar="N", help="Nodes a task may visit; sized by time by default."),
    ] = None,
    chunk: Annotated[int | None, typer.Option(metavar="N", help="Rows to read at a time.")] = None,
    stats: Annotated[bool, typer.Option("--stats", help="Add columns: nodes, seconds.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from OUT.partial.")] = False,
    on_invalid: Annotated[
        OnInvalid, typer.Option(help="Report invalid rows in their place, or stop at the first.")
    ] = OnInvalid.report,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary line of JSON (on stderr if OUT is -).")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress, no summary; errors only.")
    ] = False,
) -> None:
    """Solve a corpus: a table with a puzzle column in, the same table with answers out."""
    shape = _box(box)

    def run() -> int:
        from batchsolve.filerun import solve_file
        from batchsolve.rounds import SearchSettings
        from batchsolve.solve import warm_up

        search = SearchSettings(limit, node_limit, split_depth, budget, engine)
        with _told_when_compiling(quiet):
            warm_up(engine)
        with _progress(quiet) as on_progress:
            summary = solve_file(
                inputs,
                output,
                jobs=jobs,
                backend=backend.value,
                on_progress=on_progress,
                search=search,
                column=column,
                alphabet=alphabet,
                box=shape,
                chunk=chunk,
                stats=stats,
                stop_on_invalid=on_invalid is OnInvalid.stop,
                resume=resume,
            )
        _report(summary, as_json, quiet, sys.stderr if output == "-" else sys.stdout)
        return 0 if summary.complete else EXIT_INCOMPLETE

    _exit_with(run, output)


def _exit_with(run: Callable[[], int], output: str) -> None:
    """Run a command; turn what it raises into one message and an exit code."""
    # an interrupted search leaves results that nobody asks for, and joblib warns of each
    warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
    try:
        code = run()
    except BatchsolveError as error:
        print(f"batchsolve: {error}", file=sys.stderr)
        if output != "-" and os.path.exists(f"{output}.partial.journal"):
            print(
                f"batchsolve: the rows done are kept in {output}.partial; go on with --resume",
                file=sys.stderr,
            )
        code = EXIT_ERROR
    except KeyboardInterrupt:
        kept = (
            ""
            if output == "-"
            else f"; the rows done are kept in {output}.partial, go on with --resume"
        )
        print(f"\nbatchsolve: interrupted{kept}", file=sys.stderr)
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_ERROR
    raise typer.Exit(code)


def _report(summary: Summary, as_json: bool, quiet: bool, stream: Any) -> None:
    from dataclasses import asdict

    facts = asdict(summary)
    facts["seconds"] = round(summary.seconds, 3)
    facts["rows_per_second"] = round(summary.rows_per_second, 1)
    if as_json:
        print(json.dumps(facts), file=stream)
    elif not quiet:
        kinds = ("unique", "multiple", "solved", "unsolvable", "unfinished", "invalid", "disagree")
        counts = ", ".join(f"{facts[kind]:,} {kind}" for kind in kinds if facts[kind])
        print(
            f"{summary.rows:,} rows: {counts or 'none'}; {summary.seconds:.1f} s, "
            f"{summary.rows_per_second:,.0f} rows/s",
            file=sys.stderr,
        )


@contextmanager
def _told_when_compiling(quiet: bool) -> Iterator[None]:
    message = "batchsolve: compiling the search kernels; only the first run does …"
    timer = threading.Timer(COMPILE_SECONDS, lambda: print(message, file=sys.stderr))
    if not quiet:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(unit=" rows", unit_scale=True, file=sys.stderr) as bar:

        def update(progress: Progress) -> None:
            totals = progress.totals
            bar.set_postfix(unique=totals.unique, invalid=totals.invalid, refresh=False)
            bar.update(progress.new_rows)

        yield update
