"""``batchsolve solve``."""

from __future__ import annotations

from dataclasses import asdict, replace
from enum import StrEnum
from typing import Annotated

from batchsolve.cli.commands import EXIT_INCOMPLETE, command
from batchsolve.cli.options import JsonSummary, WorkerOptions, meaning, only
from batchsolve.cli.parameters import Argument, Option
from batchsolve.settings import FileSettings, SearchSettings


class OnInvalid(StrEnum):
    """The effect of an invalid row on the run."""

    report = "report"
    stop = "stop"


RowSearch = Annotated[
    SearchSettings,
    only("limit", "node_limit", "split_depth", "budget", "engine"),
    meaning("limit", help="Solutions to look for; 2 proves uniqueness.", default=2),
    meaning("node_limit", help="Nodes after which a row is unfinished."),
    meaning(
        "split_depth", default=0, metavar="D", type=int, help="Expand every row to this depth."
    ),
]
Files = Annotated[
    FileSettings,
    only(
        *("box", "alphabet", "blank", "column", "solution_column", "filename", "chunk", "stats"),
        *("canonical", "resume"),
    ),
]


@command(
    examples=(
        "batchsolve solve puzzles.csv -o solved.csv",
        "batchsolve solve 'corpora/*.parquet' -o solved/ --filename",
        "batchsolve solve puzzles.csv -o solved.csv --canonical",
    ),
    epilog="Exit codes: 0 every row answered; 1 some row invalid, unfinished or disagreeing with "
    "its given solution; 2 wrong usage, a file that cannot be read or written, or no worker left; "
    "130 interrupted, 143 terminated.",
)
def solve(
    inputs: Annotated[
        tuple[str, ...],
        Argument(
            metavar="INPUT...",
            help="CSV, TSV, Parquet, JSON lines or text, perhaps .gz, .bz2 or .zst; - is stdin. A "
            "folder, a pattern ('corpora/*.csv') or an address (s3://bucket/corpora) stands for "
            "all its files.",
        ),
    ],
    output: Annotated[
        str,
        Option(
            "--output",
            "-o",
            metavar="OUT",
            help="The file: .csv, .tsv, .jsonl (perhaps with .gz, .bz2, .zst), .parquet, or .npy "
            "for the solutions alone; - is CSV on stdout; out/ or s3://bucket/out is a folder of "
            "Parquet files.",
        ),
    ] = "-",
    *,
    search: RowSearch,
    workers: WorkerOptions,
    files: Files,
    on_invalid: Annotated[
        OnInvalid,
        Option(
            heading="Input",
            metavar="report|stop",
            help="Report invalid rows in their place, or stop at the first.",
        ),
    ] = OnInvalid.report,
    printing: JsonSummary,
) -> int:
    """Solve a table of puzzles, and write it with their answers.

    The output has the columns of the input, then solution, status, n_solutions, agrees (if the
    input has solutions) and message; it has a row for every row of the input, in the same order.
    """
    from batchsolve.runs.progress import ROW_BAR, rows_on
    from batchsolve.runs.solve_file import solve_file

    with printing.progress(ROW_BAR, rows_on) as on_progress:
        summary = solve_file(
            inputs,
            output,
            **asdict(workers),
            on_progress=on_progress,
            search=search,
            files=replace(files, stop_on_invalid=on_invalid is OnInvalid.stop),
        )
    facts = asdict(summary)
    advice = facts.pop("advice")
    facts["seconds"] = round(summary.seconds, 3)
    facts["rows_per_second"] = round(summary.rows_per_second, 1)
    printing.summary(facts, summary, summary.columns, output=output)
    if advice:
        printing.note(f"{summary.unfinished:,} unfinished: {advice}")
    return 0 if summary.complete else EXIT_INCOMPLETE
