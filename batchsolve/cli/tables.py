"""The commands of tables of puzzles, also of those that models learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import batchsolve as bs
from batchsolve import settings
from batchsolve.cli import answered, command
from batchsolve.cli.options import Inputs, Session, TableOutput, Written
from batchsolve.settings import keywords

RowSearch = Annotated[
    settings.SearchSettings, keywords.SolveFileFields, {"limit": 2, "split_depth": 0}
]


def from_files(session: Session, *task: Any, **arguments: Any) -> int:
    """Call a function of inputs and an output; print its sums, and the columns that it read."""
    summary = session.rows_of(*task, **arguments)
    columns = [summary.columns] if summary.column != "" else []  # files of problems have none
    return answered(summary, session, summary, *columns, output=task[2])


@command
def solve(
    inputs: Sequence[str],
    /,
    output: Written = "-",
    *,
    search: RowSearch,
    files: Annotated[settings.FileSettings, keywords.SolveFileFields],
    session: Session,
) -> int:
    """Solve a table of puzzles, and write it with their answers.

    The output has a row for every row of the input, in the same order, with its columns and then
    solution, status, n_solutions, agrees (if the input has solutions) and message. Of exact cover
    problems, it has the items, the options and the first cover.

    Input
    -----
    inputs : INPUT...
        CSV, TSV, Parquet, JSON lines or text, perhaps .gz, .bz2 or .zst; - is stdin. A folder,
        a pattern ('corpora/*.csv') or an address (s3://bucket/corpora) stands for its files. Or
        the text of a grid, or exact cover problems.

    Search
    ------
    split_depth : D
        Expand trees to this depth first.

    Output
    ------
    output : OUT
        The file: .csv, .tsv, .jsonl (perhaps with .gz, .bz2, .zst), .parquet, or .npy for the
        solutions alone; - is CSV on stdout; out/ or s3://bucket/out is a folder of Parquet
        files.

    Examples
    --------
    batchsolve solve puzzles.csv -o solved.csv
    batchsolve solve 'corpora/*.parquet' -o solved/ --filename
    batchsolve solve puzzles.csv -o solved.csv --canonical
    batchsolve solve 'instances/*.dlx' -o covers.csv

    Exit codes
    ----------
    0
        every row answered
    1
        some row invalid, unfinished or disagreeing with its given solution
    """
    return from_files(session, bs.solve_file, inputs, output, search=search, files=files)


@command
def dedupe(
    inputs: Inputs,
    /,
    output: Written = "-",
    *,
    wanted: settings.DedupeSettings,
    files: Annotated[settings.FileSettings, keywords.DedupeFields],
    session: Session,
) -> int:
    """Leave out the repeated puzzles of a table.

    The first row of every puzzle is kept, unless a file of --against has the puzzle. Invalid rows
    are kept.

    Output
    ------
    output : OUT
        The file: .csv, .tsv, .jsonl (perhaps with .gz, .bz2, .zst) or .parquet; - is CSV on
        stdout.

    Examples
    --------
    batchsolve dedupe puzzles.csv -o kept.csv
    batchsolve dedupe 'corpora/*.parquet' -o kept.parquet --up-to-symmetry
    batchsolve dedupe train.csv --against test.csv -o clean.csv
    batchsolve dedupe train.csv --against test.csv --mark -o marked.csv

    Exit codes
    ----------
    0
        every puzzle compared
    1
        some row invalid or without a canonical form
    """
    return from_files(session, bs.dedupe, inputs, output, **vars(wanted), files=files)


@command
def generate(
    output: TableOutput = "-",
    number: int = 1,
    *,
    wanted: settings.PuzzleSettings,
    files: Annotated[settings.FileSettings, keywords.GenerateFileFields],
    session: Session,
) -> int:
    """Make puzzles, each with one solution, which is proved.

    The output has the columns puzzle, solution and clues, then those of other rules, such as cages
    and sums. Row I depends on the seed and on I alone, not on the number of workers.

    Input
    -----
    box
        Rows and columns of a box, such as 2x3; 3x3 by default.
    rules
        Rules beyond rows, columns and boxes, such as x+antiknight.
    regions
        File with the region of each cell, in place of boxes.
    alphabet
        Symbols of the digits: 1-9A-G, 0-9A-F, A-P, … or numbers.
    blank
        The character of blank cells.
    chunk
        Rows of a task; by default those of about 0.1 s.

    Search
    ------
    number : N
        Number of puzzles.

    Examples
    --------
    batchsolve generate -n 1000 --seed 7 --minimal -o puzzles.csv
    batchsolve generate -n 10 --box 4x4 --clues 110..120
    batchsolve generate -n 10 --rules x --symmetry rotation --clues 24..30
    batchsolve generate -n 10 --cages 1..4 --clues 0

    Exit codes
    ----------
    0
        all puzzles made
    2
        no puzzle found for a row
    """
    summary = session.rows_of(bs.generate_file, output, number, wanted=wanted, files=files)
    return answered(summary, session, summary, output=output)


@command
def augment(
    inputs: Inputs,
    /,
    output: TableOutput = "-",
    *,
    number: int = 1,
    wanted: settings.ImageSettings,
    files: Annotated[settings.FileSettings, keywords.AugmentFileFields],
    session: Session,
) -> int:
    """Write random images of puzzles, relabelled and permuted.

    Every image of a puzzle is equally likely, and none comes twice. Solutions are moved with their
    puzzles, and source_row is the number of the source row. Grids with other rules are moved as far
    as that keeps the rules. The same seed gives the same bytes.

    Solutions
    ---------
    number : K
        Images of each row.

    Examples
    --------
    batchsolve augment train.csv -n 8 --seed 1 -o augmented.parquet
    batchsolve augment 'train/*.parquet' -n 1000 --original -o augmented/

    Exit codes
    ----------
    0
        every row has images
    1
        some row is invalid and has none
    2
        no symmetry keeps the rules that all rows have
    """
    task = session, bs.augment_file, inputs, output, number
    return from_files(*task, **vars(wanted), files=files)


@command
def rate(
    inputs: Inputs,
    /,
    output: TableOutput = "-",
    *,
    wanted: settings.RateSettings,
    files: Annotated[settings.FileSettings, keywords.RateFileFields],
    session: Session,
) -> int:
    """Rate 9×9 puzzles by the hardest technique that they need.

    The output has the columns of the input, then technique (guess if the techniques do not solve
    the puzzle), rating (that of Sudoku Explainer 1.2.1; for guess a lower bound), backtracks (the
    dead ends of a search), status and message. Only puzzles with one solution are rated. From 4.0
    on, the ratings of other programs differ.

    Examples
    --------
    batchsolve rate puzzles.csv -o rated.csv
    batchsolve rate puzzles.csv --backdoor --steps -o rated.jsonl
    batchsolve rate puzzles.csv --uniqueness -o rated.csv

    Exit codes
    ----------
    0
        every row rated or answered
    1
        some row invalid or unfinished
    2
        grids that are not rated
    """
    return from_files(session, bs.rate_file, inputs, output, **vars(wanted), files=files)


@command
def audit(
    train: str,
    test: str,
    /,
    *,
    files: Annotated[settings.FileSettings, keywords.AuditFields],
    session: Session,
) -> int:
    """Count the leaks between a training and a test table.

    A test row leaks if a training row has its puzzle, or its solution with other clues, as written
    or up to symmetry. Faults are counted, too: malformed and repeated rows, puzzles with no or
    several solutions, and wrong given solutions.

    Input
    -----
    train : TRAIN
        The training table: a file, folder or pattern.
    test : TEST
        The test table.

    Examples
    --------
    batchsolve audit train.csv test.csv
    batchsolve audit 'train/*.parquet' test.parquet --json

    Exit codes
    ----------
    0
        no test row leaks
    1
        some does, or a row cannot be compared
    """
    result = session.rows_of(bs.audit, train, test, files=files)
    return answered(result, session, *result.columns, answer=result)


@command
def partition(
    inputs: Inputs,
    /,
    output: Written,
    *,
    wanted: settings.PartSettings,
    files: Annotated[settings.FileSettings, keywords.AuditFields],
    session: Session,
) -> int:
    """Divide a table into parts without a leak between them.

    Puzzles that are equal, or have the same solution, up to symmetry, come into the same part. The
    parts depend on the seed and the rows alone, and keep the order of the input.

    Output
    ------
    output : DIR
        The folder for a file of each part, in the format of the input, or in CSV; it
        holds no other tables.

    Examples
    --------
    batchsolve partition puzzles.csv -o parts
    batchsolve partition puzzles.parquet --parts train=0.9,test=0.1 -o parts
    batchsolve partition puzzles.parquet --by rating --bins 2,4 -o parts

    Exit codes
    ----------
    0
        every row compared, and no part empty
    1
        some row malformed or without a canonical form, or a part empty
    """
    return from_files(session, bs.partition, inputs, output, **vars(wanted), files=files)


@command
def evaluate(
    inputs: Sequence[str],
    /,
    *,
    wanted: settings.EvaluateSettings,
    html: Written | None = None,
    rows: Written | None = None,
    plot: Written | None = None,
    files: Annotated[settings.FileSettings, keywords.EvaluateFields],
    session: Session,
) -> int:
    """Count rows, cells, clues and houses that predictions have right.

    A prediction is right if it is equal to the truth, or without a column of truths, if it solves
    its puzzle. Malformed and missing predictions are wrong in every cell.

    Input
    -----
    inputs : PREDICTIONS...
        Tables with puzzles and predictions, as of solve.

    Output
    ------
    html : FILE
        Write a page with the table and pictures of wrong rows.
    rows : FILE
        Write the rows with two columns more: right, and the number of wrong_cells.
    plot : FILE
        Draw the share of right rows of each stratum, with intervals: .svg, .png or .pdf; needs
        matplotlib.

    Examples
    --------
    batchsolve evaluate predictions.csv
    batchsolve evaluate predictions.parquet --by rating --bins 1,10,100
    batchsolve evaluate predictions.csv --truth none --html report.html
    batchsolve evaluate predictions.csv --by technique --plot accuracy.pdf

    Exit codes
    ----------
    0
        every row judged, right or wrong
    1
        some row has no truth
    """
    from batchsolve.formats.pictures.charts import plot_format_of
    from batchsolve.formats.whole_files import check_is_no_input, whole_target_of
    from batchsolve.tables.places import files_of

    for path in filter(None, (html, plot)):  # before the work is done
        whole_target_of(path)
        check_is_no_input(path, files_of(inputs))
    if plot is not None:
        plot_format_of(plot)
    result = session.rows_of(bs.evaluate, inputs, **vars(wanted), rows=rows or False, files=files)
    if html is not None:
        result.save(html)
    if plot is not None:
        result.plot(plot)
    lines = result.columns, *result.notes
    return answered(result, session, *lines, answer=result.table)
