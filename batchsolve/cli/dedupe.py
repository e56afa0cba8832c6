"""``batchsolve dedupe``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Annotated

from batchsolve.cli.commands import EXIT_INCOMPLETE, command
from batchsolve.cli.options import JsonSummary, Quiet, Workers, only
from batchsolve.cli.parameters import Argument, Option
from batchsolve.cli.terminal import progress
from batchsolve.settings import FileSettings

Files = Annotated[FileSettings, only("box", "alphabet", "blank", "column", "filename", "chunk")]


@command(
    examples=(
        "batchsolve dedupe puzzles.csv -o kept.csv",
        "batchsolve dedupe 'corpora/*.parquet' -o kept.parquet --up-to-symmetry",
        "batchsolve dedupe train.csv --against test.csv -o clean.csv",
        "batchsolve dedupe train.csv --against test.csv --mark -o marked.csv",
    ),
    epilog="Exit codes: 0 every puzzle compared; 1 some row invalid, or without a canonical form; "
    "2 wrong usage, a file that cannot be read or written, or no worker left; 130 interrupted, 143 "
    "terminated.",
)
def dedupe(
    inputs: Annotated[
        tuple[str, ...],
        Argument(metavar="INPUT...", help="Files, folders, patterns or addresses, as of solve."),
    ],
    output: Annotated[
        str,
        Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Where to write: .csv, .tsv, .jsonl (perhaps with .gz, .bz2, .zst) or .parquet; "
            "- is CSV on stdout.",
        ),
    ] = "-",
    *,
    up_to_symmetry: Annotated[
        bool,
        Option(
            "--up-to-symmetry",
            help="Puzzles are the same if relabelling, permuting rows, columns, bands and stacks, "
            "and transposing make one of the other.",
        ),
    ] = False,
    against: Annotated[
        tuple[str, ...],
        Option(metavar="FILE", help="Leave out what is in FILE, too; can be given several times."),
    ] = (),
    mark: Annotated[
        bool,
        Option(
            "--mark",
            help="Leave out nothing, but add a column first: where the same puzzle stands first, "
            "such as test.csv#17.",
        ),
    ] = False,
    workers: Workers,
    files: Files,
    as_json: JsonSummary = False,
    quiet: Quiet = False,
) -> int:
    """Leave out the repeated puzzles of a table.

    The first row of every puzzle is kept with all its columns, in the order of the input, unless
    the puzzle is in a file of --against. Rows that are invalid are kept. How many rows were left
    out is said on stderr.
    """
    from batchsolve.runs.dedupe import dedupe as leave_out, kept_on
    from batchsolve.runs.progress import ROW_BAR

    with progress(quiet, ROW_BAR, kept_on) as on_progress:
        summary = leave_out(
            inputs,
            output,
            up_to_symmetry=up_to_symmetry,
            against=against,
            mark=mark,
            **asdict(workers),
            on_progress=on_progress,
            files=files,
        )
    if as_json:
        facts = {**asdict(summary), "seconds": round(summary.seconds, 3)}
        print(json.dumps(facts), file=sys.stderr if output == "-" else sys.stdout)
    elif not quiet:
        print(summary, file=sys.stderr)
    return 0 if summary.complete else EXIT_INCOMPLETE
