"""The commands of tables of puzzles: solve and dedupe."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated

import click

from batchsolve.cli.commands import EXIT_INCOMPLETE, command
from batchsolve.cli.options import (
    HOW_WRITTEN,
    Inputs,
    JsonSummary,
    WorkerOptions,
    argument,
    meaning,
    only,
    option,
    output_to,
)
from batchsolve.settings import FileSettings, SearchSettings

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
    only(*HOW_WRITTEN, "solution_column", "filename", "chunk", "stats", "canonical", "resume"),
]
KeptFiles = Annotated[FileSettings, only(*HOW_WRITTEN, "filename", "chunk")]


@command(
    examples=(
        "batchsolve solve puzzles.csv -o solved.csv",
        "batchsolve solve 'corpora/*.parquet' -o solved/ --filename",
        "batchsolve solve puzzles.csv -o solved.csv --canonical",
        "batchsolve solve 'instances/*.dlx' -o covers.csv",
    ),
    epilog="Exit codes: 0 every row answered; 1 some row invalid, unfinished or disagreeing with "
    "its given solution; 2 wrong usage, a file that cannot be read or written, or no worker left; "
    "130 interrupted, 143 terminated.",
)
def solve(
    inputs: Annotated[
        tuple[str, ...],
        argument(
            metavar="INPUT...",
            help="CSV, TSV, Parquet, JSON lines or text, perhaps .gz, .bz2 or .zst; - is stdin. A "
            "folder, a pattern ('corpora/*.csv') or an address (s3://bucket/corpora) stands for "
            "all its files. Or exact cover problems, as of count.",
        ),
    ],
    output: Annotated[
        str,
        output_to(
            "OUT",
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
        str,
        option(
            heading="Input",
            metavar="report|stop",
            type=click.Choice(["report", "stop"]),
            help="Report invalid rows in their place, or stop at the first.",
        ),
    ] = "report",
    printing: JsonSummary,
) -> int:
    """Solve a table of puzzles, and write it with their answers.

    The output has the columns of the input, then solution, status, n_solutions, agrees (if the
    input has solutions) and message; it has a row for every row of the input, in the same order.
    Of exact cover problems, it has the items, the options and the first cover.
    """
    from batchsolve.runs.solve_file import solve_file

    files = replace(files, stop_on_invalid=on_invalid == "stop")
    how = {**asdict(workers), "search": search, "files": files}
    summary = printing.rows_of(solve_file, inputs, output, **how)
    columns = [summary.columns] if summary.column else []  # files of problems have none
    printing.summary(summary.facts, summary, *columns, output=output)
    if summary.advice:
        printing.note(f"{summary.unfinished:,} unfinished: {summary.advice}")
    return 0 if summary.complete else EXIT_INCOMPLETE


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
    inputs: Inputs,
    output: Annotated[
        str,
        output_to(
            "OUT",
            help="The file: .csv, .tsv, .jsonl (perhaps with .gz, .bz2, .zst) or .parquet; "
            "- is CSV on stdout.",
        ),
    ] = "-",
    *,
    up_to_symmetry: Annotated[
        bool,
        option(
            heading="Search",
            help="Compare puzzles up to relabelling, permuting rows, columns, bands and stacks, "
            "and transposing.",
        ),
    ] = False,
    against: Annotated[
        tuple[str, ...],
        option(
            heading="Input",
            metavar="FILE",
            help="Leave out the puzzles of FILE, too; can be given several times.",
        ),
    ] = (),
    mark: Annotated[
        bool,
        option(
            help="Leave out nothing, but add a first column: the place of the first equal puzzle, "
            "such as test.csv#17."
        ),
    ] = False,
    workers: WorkerOptions,
    files: KeptFiles,
    printing: JsonSummary,
) -> int:
    """Leave out the repeated puzzles of a table.

    The first row of every puzzle is kept with all its columns, in the order of the input, unless
    the puzzle is in a file of --against. Invalid rows are kept. The number of rows left out is
    printed on stderr.
    """
    from batchsolve.runs.dedupe import dedupe as leave_out

    wanted = {"up_to_symmetry": up_to_symmetry, "against": against, "mark": mark}
    how = {**wanted, **asdict(workers), "files": files}
    summary = printing.rows_of(leave_out, inputs, output, **how)
    facts = {**asdict(summary), "seconds": round(summary.seconds, 3)}
    printing.summary(facts, summary, output=output)
    return 0 if summary.complete else EXIT_INCOMPLETE
