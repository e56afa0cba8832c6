"""The command count: of one problem or of many, and the questions that follow a count."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from click import BadParameter

from batchsolve.cli import answered, command
from batchsolve.cli.graphs import draw_to_file, print_distribution
from batchsolve.cli.options import NOTATION_LAST, PROBLEM, Printing, Said, WorkerOptions, Written
from batchsolve.cli.problems import Asked, in_time, read
from batchsolve.cli.trees import TreeOptions, nothing_of, report, search_in_run, search_tree
from batchsolve.errors import InputError, counted, listed
from batchsolve.settings import (
    AUTO,
    GRAPH_MEGABYTES,
    CountFileFields,
    FileSettings,
    NotationFields,
    SearchSettings,
)

if TYPE_CHECKING:
    from batchsolve.runs.count import Count
    from batchsolve.runs.reading import Reading
    from batchsolve.symmetry.symmetries import Symmetries

_GOES_WITH = {
    "--graph": "--memo, --memo-size and --time-limit only: one search draws the whole graph",
    "--by": "--memo-size and --time-limit only: it takes sums over all solutions",
    "--project": "--engine, --time-limit and options of workers only: it counts all that solutions "
    "have",
}
CountedFiles = Annotated[
    FileSettings,
    NotationFields,
    CountFileFields,
    NOTATION_LAST,
]
Problems = Annotated[
    Sequence[str],
    Said(
        "PROBLEM...",
        f"{PROBLEM} Several of these, a folder, a pattern, or with -o a table with a column "
        "problem, give a row each.",
        "Input",
    ),
]


@command
def count(
    problems: Problems,
    /,
    output: Written | None = None,
    run: Written | None = None,
    *,
    tree: TreeOptions,
    search: SearchSettings,
    memo: bool = False,
    memo_size: int | None = None,
    graph: Written | None = None,
    by: Literal["cost", "options"] | None = None,
    project: Sequence[str] = (),
    workers: WorkerOptions,
    puzzles: CountedFiles,
    printing: Printing,
) -> int:
    """Count every solution of one problem, or of each of many.

    Limits hold for each problem.

    Input
    -----
    column
        The puzzle column, found by default; of a table of problems: problem.
    chunk
        The upper bound of rows that a task reads; by default 16 to 128 kB of text.

    Search
    ------
    memo
        Count equal subproblems once (--engine memo:MB).
    memo_size : MB
        Megabytes of the table of --memo; 256 by default, 1024 for --graph and --by.

    Output
    ------
    output : OUT
        Write a row for each problem: a file or a folder, as of solve; - is CSV on stdout, the
        default for several problems.
    run : DIR
        Keep the run in DIR, to resume it.
    graph : FILE
        With --memo: write the graph of all solutions; see graph.
    by : cost|options
        Print how many solutions have each cost, or each number of options; the graph of all
        solutions has to fit into memory.
    project : ITEM
        Count the different sets of options that solutions have at this item; a pattern such as
        'r1c*' names several, and so does repeating the option.
    resume
        Go on with the run in DIR, or start it; or go on from OUT.partial.

    Examples
    --------
    batchsolve count queens:12
    batchsolve count puzzles.csv#17 --run counting
    batchsolve count dominoes:12x12 --memo --graph tilings.zdd
    batchsolve count partitions:8 --by options
    batchsolve count dominoes:8x8 --project 'r1c*'
    batchsolve count 'instances/*.dlx' -o counts.csv

    Exit codes
    ----------
    0
        the whole tree was searched
    1
        a limit was reached first
    """
    from batchsolve.runs.count import count as count_problem

    of_one = {
        "--run": run,
        "--stacks": tree.stacks,
        "--symmetries": tree.symmetries,
        "--up-to-symmetry": tree.up_to_symmetry or None,
        "--graph": graph,
        "--by": by,
        "--project": project or None,
    }
    given = [name for name, value in of_one.items() if value is not None]
    search = replace(search, engine=_with_memo(search.engine, memo, None if by else memo_size))
    if output is not None or _are_many(problems):
        if given:
            raise InputError(f"{listed(given)}: for one problem, without -o; count them one by one")
        from batchsolve.runs.solve_tables import count_file

        output = output or "-"
        task = count_file, workers, problems, output
        summary = printing.rows_of(*task, search=search, files=puzzles)
        return answered(summary, printing, output=output)
    of_tables = "chunk", "stats", "filename", "stop_on_invalid"
    if unfit := [name for name in of_tables if getattr(puzzles, name)]:
        option = unfit[0].replace("_", "-")
        raise InputError(f"--{option} is for a table of counts; name it with -o")
    [problem] = problems
    megabytes = GRAPH_MEGABYTES if memo_size is None else memo_size
    asked = Asked(problem, search, puzzles, printing)
    if question := next((name for name in _GOES_WITH if name in given), ""):
        whole = SearchSettings(engine=search.engine, time_limit=search.time_limit)
        fits = {"--graph": memo, "--by": not memo and search.engine == AUTO, "--project": not memo}
        fits_workers = question == "--project" or workers == WorkerOptions()
        fits_search = search == whole and fits[question]
        if given[1:] or puzzles.resume or not (fits_search and fits_workers):
            raise InputError(f"{question} goes with {_GOES_WITH[question]}")
        if graph is not None:
            return draw_to_file(asked, graph, megabytes)
        if by is not None:
            return print_distribution(asked, by, megabytes)
        return _count_projections(asked, project, workers)
    if puzzles.resume and run is None:
        raise InputError("--resume needs --run DIR, the run to go on with")
    if run is not None and tree.stacks is not None:
        raise InputError("--stacks and --run do not go together; a part is one short search")

    def count_one(reading: Reading, begin: Any, group: bool | Symmetries, **how: Any) -> Count:
        if run is None:
            return count_problem(reading.problem, begin, up_to_symmetry=group, **how)
        return search_in_run(run, reading, begin, group, how, resume=puzzles.resume)

    return search_tree(asked, tree, workers, count_one)


def _are_many(problems: Sequence[str]) -> bool:
    """Return True for several problems, a folder, or a pattern of names of files."""
    [first, *others] = problems
    is_pattern = bool(set("*?[") & set(first)) and not os.path.exists(first.partition("#")[0])
    return bool(others) or os.path.isdir(first) or is_pattern


def _with_memo(engine: str, memo: bool, size: int | None) -> str:
    """Return the name of the engine of these options."""
    if not memo:
        if size is not None:
            raise BadParameter("--memo-size needs --memo")
        return engine
    if engine.partition(":")[0] not in (AUTO, "memo"):
        raise BadParameter(f"--memo chooses the engine; leave out --engine {engine}")
    return "memo" if size is None else f"memo:{size}"


def _count_projections(asked: Asked, items: Sequence[str], workers: WorkerOptions) -> int:
    """Count the projections of the solutions of a problem."""
    from batchsolve.runs.projections import count_projections

    printing = asked.printing
    with in_time(asked, nothing_of(workers)) as rest:
        reading = read(asked.problem, asked.puzzles)
        search = rest()
    task = count_projections, workers, reading, items
    result = printing.rows_of(*task, engine=search.engine, time_limit=search.time_limit)
    said = f"{counted(result.count, 'projection')} of {counted(result.subproblems, 'candidate')}"
    said += "" if result.complete else ", not complete"
    return report(result, printing, said=f"{said}; {result.seconds:.1f} s by {result.engine}")
