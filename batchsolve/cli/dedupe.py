"""``batchsolve dedupe``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from batchsolve.cli.commands import EXIT_INCOMPLETE, command
from batchsolve.cli.options import JsonSummary, WorkerOptions, only
from batchsolve.cli.parameters import Argument, Option
from batchsolve.settings import FileSettings

Files = Annotated[FileSettings, only("box", "alphabet", "blank", "column", "filename", "chunk")]


@command(
    examples=(
        "batchsolve dedupe puzzles.csv -o kept.csv",
        "batchsolve dedupe 'corpora/*.parquet' -o kept.parquet --up-to-symmetry",
        "batchsolve dedupe train.csv --against test.csv -o clean.csv",
        "batchsolve dedupe train.csv --against test.csv --mark -o marked.csv",
    ),
    epilog="Exit codes: 0 every puzzle compared; 1 some row invalid or without a canonical form; "
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
            help="The file: .csv, .tsv, .jsonl (perhaps with .gz, .bz2, .zst) or .parquet; "
            "- is CSV on stdout.",
        ),
    ] = "-",
    *,
    up_to_symmetry: Annotated[
        bool,
        Option(
            heading="Search",
            help="Compare puzzles up to relabelling, permuting rows, columns, bands and stacks, "
            "and transposing.",
        ),
    ] = False,
    against: Annotated[
        tuple[str, ...],
        Option(
            heading="Input",
            metavar="FILE",
            help="Leave out the puzzles of FILE, too; can be given several times.",
        ),
    ] = (),
    mark: Annotated[
        bool,
        Option(
            help="Leave out nothing, but add a first column: the place of the first equal puzzle, "
            "such as test.csv#17.",
        ),
    ] = False,
    workers: WorkerOptions,
    files: Files,
    printing: JsonSummary,
) -> int:
    """Leave out the repeated puzzles of a table.

    The first row of every puzzle is kept with all its columns, in the order of the input, unless
    the puzzle is in a file of --against. Invalid rows are kept. The number of rows left out is
    printed on stderr.
    """
    from batchsolve.runs.dedupe import dedupe as leave_out, kept_on
    from batchsolve.runs.progress import ROW_BAR

    with printing.progress(ROW_BAR, kept_on) as on_progress:
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
    facts = {**asdict(summary), "seconds": round(summary.seconds, 3)}
    printing.summary(facts, summary, output=output)
    return 0 if summary.complete else EXIT_INCOMPLETE
