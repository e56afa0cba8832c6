"""The commands of tables of puzzles: solve, dedupe and generate."""

from __future__ import annotations

from typing import Annotated

from batchsolve.cli import answered, command
from batchsolve.cli.options import (
    Inputs,
    JsonSummary,
    TableOutput,
    WorkerOptions,
    argument,
    meaning,
    output_to,
    search_option,
)
from batchsolve.settings import (
    DedupeFields,
    DedupeSettings,
    FileSettings,
    GenerateFileFields,
    PuzzleSettings,
    SearchSettings,
    SolveFileFields,
)

RowSearch = Annotated[
    SearchSettings,
    SolveFileFields,
    meaning("limit", default=2),
    meaning("split_depth", default=0, metavar="D", type=int),
]
MadeFiles = Annotated[
    FileSettings,
    GenerateFileFields,
    meaning("box", help="Rows and columns of a box, such as 2x3; 3x3 by default."),
    meaning("rules", help="Rules beyond rows, columns and boxes, such as x+antiknight."),
    meaning("regions", help="File with the region of each cell, in place of boxes."),
    meaning("alphabet", help="Symbols of the digits: 1-9A-G, 0-9A-F, A-P, … or numbers."),
    meaning("blank", help="The character of blank cells."),
    meaning("chunk", help="Rows of a task; by default those of about 0.1 s."),
]


@command(
    examples=(
        "batchsolve solve puzzles.csv -o solved.csv",
        "batchsolve solve 'corpora/*.parquet' -o solved/ --filename",
        "batchsolve solve puzzles.csv -o solved.csv --canonical",
        "batchsolve solve 'instances/*.dlx' -o covers.csv",
    ),
    codes={
        0: "every row answered",
        1: "some row invalid, unfinished or disagreeing with its given solution",
    },
)
def solve(
    inputs: Annotated[
        tuple[str, ...],
        argument(
            metavar="INPUT...",
            help="CSV, TSV, Parquet, JSON lines or text, perhaps .gz, .bz2 or .zst; - is stdin. A "
            "folder, a pattern ('corpora/*.csv') or an address (s3://bucket/corpora) stands for "
            "all its files. Or the text of a grid; or exact cover problems, as of count.",
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
    files: Annotated[FileSettings, SolveFileFields],
    printing: JsonSummary,
) -> int:
    """Solve a table of puzzles, and write it with their answers.

    The output has the columns of the input, then solution, status, n_solutions, agrees (if the
    input has solutions) and message; it has a row for every row of the input, in the same order.
    Of exact cover problems, it has the items, the options and the first cover.
    """
    from batchsolve.runs.solve_tables import solve_file

    summary = printing.rows_of(solve_file, workers, inputs, output, search=search, files=files)
    columns = [summary.columns] if summary.column != "" else []  # files of problems have none
    code = answered(summary, printing, *columns, output=output)
    if summary.advice:
        printing.note(f"{summary.unfinished:,} unfinished: {summary.advice}")
    return code


@command(
    examples=(
        "batchsolve dedupe puzzles.csv -o kept.csv",
        "batchsolve dedupe 'corpora/*.parquet' -o kept.parquet --up-to-symmetry",
        "batchsolve dedupe train.csv --against test.csv -o clean.csv",
        "batchsolve dedupe train.csv --against test.csv --mark -o marked.csv",
    ),
    codes={0: "every puzzle compared", 1: "some row invalid or without a canonical form"},
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
    wanted: DedupeSettings,
    workers: WorkerOptions,
    files: Annotated[FileSettings, DedupeFields],
    printing: JsonSummary,
) -> int:
    """Leave out the repeated puzzles of a table.

    The first row of every puzzle is kept with all its columns, in the order of the input, unless
    the puzzle is in a file of --against. Invalid rows are kept. The number of rows left out is
    printed on stderr.
    """
    from batchsolve.runs.dedupe import dedupe as leave_out

    summary = printing.rows_of(leave_out, workers, inputs, output, **vars(wanted), files=files)
    return answered(summary, printing, output=output)


@command(
    examples=(
        "batchsolve generate -n 1000 --seed 7 --minimal -o puzzles.csv",
        "batchsolve generate -n 10 --box 4x4 --clues 110..120",
        "batchsolve generate -n 10 --rules x --symmetry rotation --clues 24..30",
        "batchsolve generate -n 10 --cages 1..4 --clues 0",
    ),
    codes={0: "all puzzles made", 2: "no puzzle found for a row"},
)
def generate(
    output: TableOutput = "-",
    number: Annotated[
        int, search_option("--number", "-n", metavar="N", help="Number of puzzles.")
    ] = 1,
    *,
    wanted: PuzzleSettings,
    workers: WorkerOptions,
    files: MadeFiles,
    printing: JsonSummary,
) -> int:
    """Make puzzles, each with one solution, which is proved.

    The output has the columns puzzle, solution and clues; then those of the rules, if others than
    the usual ones were asked for: box, rules, regions, cages, sums, marks, pairs and
    constraints. Row I depends on the seed and on I alone, not on the number of workers.
    """
    from batchsolve.runs.generate import generate_file

    summary = printing.rows_of(generate_file, workers, output, number, wanted=wanted, files=files)
    return answered(summary, printing, output=output)
