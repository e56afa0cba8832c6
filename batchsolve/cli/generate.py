"""The command that makes puzzles: generate."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from batchsolve.cli.commands import command
from batchsolve.cli.options import (
    JsonSummary,
    TableOutput,
    WorkerOptions,
    meaning,
    only,
    option,
)
from batchsolve.settings import FileSettings, PuzzleSettings

MadeFiles = Annotated[
    FileSettings,
    only("box", "rules", "regions", "alphabet", "blank", "chunk", "resume"),
    meaning("box", help="Rows and columns of a box, such as 2x3; 3x3 by default."),
    meaning("rules", help="Rules beyond rows, columns and boxes, such as x+antiknight."),
    meaning("regions", help="File with the region of each cell, in place of boxes."),
    meaning("alphabet", help="Symbols of the digits: 1-9A-G, 0-9A-F, A-P, … or numbers."),
    meaning("blank", help="Character of blank cells.", metavar="C"),
    meaning("chunk", help="Rows of a task; by default those of about 0.1 s."),
]


@command(
    examples=(
        "batchsolve generate -n 1000 --seed 7 --minimal -o puzzles.csv",
        "batchsolve generate -n 10 --box 4x4 --clues 110..120",
        "batchsolve generate -n 10 --rules x --symmetry rotation --clues 24..30",
        "batchsolve generate -n 10 --cages 1..4 --clues 0",
    ),
    epilog="Exit codes: 0 all puzzles made; 2 wrong usage, no puzzle found for a row, or a file "
    "that cannot be read or written; 130 interrupted, 143 terminated.",
)
def generate(
    output: TableOutput = "-",
    number: Annotated[
        int, option("--number", "-n", metavar="N", heading="Search", help="Number of puzzles.")
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

    how = {**asdict(workers), "wanted": wanted, "files": files}
    summary = printing.rows_of(generate_file, output, number, **how)
    printing.summary(summary.facts, summary, output=output)
    return 0
