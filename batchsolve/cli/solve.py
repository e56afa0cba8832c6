"""``batchsolve solve``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from batchsolve.cli import app
from batchsolve.cli.common import (
    EXIT_INCOMPLETE,
    Address,
    Alphabet,
    Backend,
    Box,
    Budget,
    Column,
    EngineName,
    Jobs,
    Quiet,
    Where,
    box_shape,
    exit_with,
    interrupts,
    shows_progress,
    told_when_compiling,
)

if TYPE_CHECKING:
    from batchsolve.runs.solve_file import Progress, Summary


class OnInvalid(StrEnum):
    """What an invalid row does to the run."""

    report = "report"
    stop = "stop"


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
    jobs: Jobs = None,
    backend: Where = Backend.threading,
    address: Address = None,
    engine: EngineName = "auto",
    box: Box = None,
    alphabet: Alphabet = None,
    column: Column = None,
    node_limit: Annotated[
        int | None, typer.Option(metavar="N", help="Nodes after which a row is unfinished.")
    ] = None,
    split_depth: Annotated[
        int, typer.Option(metavar="D", help="Cut every row into subproblems of this depth.")
    ] = 0,
    budget: Budget = None,
    chunk: Annotated[int | None, typer.Option(metavar="N", help="Rows to read at a time.")] = None,
    stats: Annotated[bool, typer.Option("--stats", help="Add columns: nodes, seconds.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from OUT.partial.")] = False,
    on_invalid: Annotated[
        OnInvalid, typer.Option(help="Report invalid rows in their place, or stop at the first.")
    ] = OnInvalid.report,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary line of JSON (on stderr if OUT is -).")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Solve a corpus: a table with a puzzle column in, the same table with answers out."""
    shape = box_shape(box)

    def run() -> int:
        from batchsolve.runs.solve_file import solve_file
        from batchsolve.search.rounds import SearchSettings

        search = SearchSettings(limit, node_limit, split_depth, budget, engine)
        with _progress(quiet) as on_progress:
            summary = solve_file(
                inputs,
                output,
                jobs=jobs,
                backend=backend.value,
                address=address,
                on_progress=on_progress,
                while_compiling=partial(told_when_compiling, quiet),
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

    exit_with(run)


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
def _progress(quiet: bool) -> Iterator[Callable[[Progress], None]]:
    with interrupts() as check, _bar(quiet) as bar:

        def update(progress: Progress) -> None:
            check()
            totals = progress.totals
            bar.set_postfix(unique=totals.unique, invalid=totals.invalid, refresh=False)
            bar.update(progress.new_rows)

        yield update


def _bar(quiet: bool) -> Any:
    from tqdm import tqdm

    hidden = not shows_progress(quiet)
    return tqdm(unit=" rows", unit_scale=True, file=sys.stderr, disable=hidden)
