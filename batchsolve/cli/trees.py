"""The commands count and enumerate, and those of runs and parts of one problem."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from click import BadParameter

import batchsolve as bs
from batchsolve.cli import EXIT_INCOMPLETE, answered, command, options
from batchsolve.cli.problems import Query, draw_to_file, print_distribution, read, read_in_time
from batchsolve.cli.terminal import interrupts
from batchsolve.errors import InputError, counted, listed, named_errors, printable
from batchsolve.formats.whole_files import text_of
from batchsolve.settings import AUTO, GRAPH_MEGABYTES, FileSettings, Option, SearchSettings, setting
from batchsolve.settings.arguments import MRV
from batchsolve.settings.keywords import CountFileFields, NotationFields

if TYPE_CHECKING:
    from batchsolve.problems.symmetries import Symmetries
    from batchsolve.runs.count import Count
    from batchsolve.runs.reading import Reading

_GOES_WITH = {
    "--graph": "--memo, --memo-size and --time-limit only: one search draws the whole graph",
    "--by": "--memo-size and --time-limit only: it takes sums over all solutions",
    "--project": "--engine, --time-limit and options of workers only: it counts all that solutions "
    "have",
}
CountedFiles = Annotated[FileSettings, NotationFields, CountFileFields, options.NOTATION_LAST]
Problems = Annotated[
    Sequence[str],
    Option(
        "PROBLEM...",
        f"{options.PROBLEM} Several of these, a folder, a pattern, or with -o a table with a "
        "column problem, give a row each.",
        "Input",
    ),
]


@dataclass(frozen=True)
class TreeOptions:
    """The part of a tree to search, and the solutions that count as one.

    Attributes
    ----------
    stacks : str, optional
        Search only the stacks in this file; see split.
    up_to_symmetry : bool
        Count solutions that are equal up to turning and reflecting the board as one.
    symmetries : str, optional
        Count solutions that are equal up to these symmetries as one: a JSON list of objects that
        map items to items and colours (:red) to colours; or structure, for all symmetries of the
        items and options.
    """

    stacks: str | None = setting(metavar="FILE", heading="Input")
    up_to_symmetry: bool = setting(False, heading="Search")
    symmetries: str | None = setting(metavar="FILE|structure", heading="Search")

    def group_of(self, reading: Reading) -> bool | Symmetries:
        """Return the group: of the board, and of the structure or a file."""
        if self.symmetries is None:
            return self.up_to_symmetry
        from batchsolve.problems.symmetries import read_generators

        if self.symmetries == "structure":
            group = bs.structure_symmetries(reading.problem, reading.stack)
        else:
            with named_errors(self.symmetries):
                generators = read_generators(text_of(self.symmetries))
                group = bs.Symmetries.generated(reading.problem, generators)
        return group.joined(bs.symmetries(reading.problem)) if self.up_to_symmetry else group


def search_tree(
    query: Query,
    tree: TreeOptions,
    *,
    output: str = "",
    directory: str | None = None,
    resume: bool = False,
    best: int | None = None,
) -> int:
    """Search the tree of a problem, and print its result; return the exit code.

    Parameters
    ----------
    query : Query
    tree : TreeOptions
    output : str
        The output of enumerate; solutions are only counted without one.
    directory : str, optional
        The directory of the run in which the search is kept.
    resume : bool
        Go on with that run.
    best : int, optional
        The number of cheapest solutions that enumerate wants.
    """
    from batchsolve.runs.count import count as count_problem, write_cheapest, write_covers
    from batchsolve.runs.split import check_list, read_part

    session = query.session
    with read_in_time(query, nothing_of(session), output) as (reading, remaining):
        begin: Any = ()  # the clues
        header: dict[str, Any] = {}
        if tree.stacks is not None:
            begin, header = read_part(tree.stacks, reading.problem, reading.stack)
            if output:
                check_list(tree.stacks, header)
        group = tree.group_of(reading)
        search = remaining()
    with interrupts():
        file = sys.stdout.buffer
        keywords = session.workers | {"on_progress": session.on_progress, "search": search}
        if directory is not None:
            from batchsolve.workers import get_workers

            get_workers(**session.workers)  # raises an error while no run is kept
            of_run: dict[str, Any] = {"cheapest": best, "collect": bool(output and best is None)}
            of_run |= {"engine": search.engine, "up_to_symmetry": group, "resume": resume}
            keywords["search"] = replace(search, engine=AUTO, branch=MRV)  # those of the run
            with bs.Run(directory, reading, begin, **of_run) as run:
                result = run.search(**keywords)
        elif best is not None:
            result = write_cheapest(reading, begin, best, file, **keywords)
        elif output:
            result = write_covers(reading, begin, file, up_to_symmetry=group, **keywords)
        else:
            result = count_problem(reading, begin, up_to_symmetry=group, **keywords)
    return report(result, session, output, header=header)


@command
def count(
    problems: Problems,
    /,
    output: options.Written | None = None,
    run: options.Written | None = None,
    *,
    tree: TreeOptions,
    search: SearchSettings,
    memo: bool = False,
    memo_size: int | None = None,
    graph: options.Written | None = None,
    by: Literal["cost", "options"] | None = None,
    project: Sequence[str] = (),
    puzzles: CountedFiles,
    session: options.Session,
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
        a limit was reached first, or one of several problems cannot be read
    """
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
        output = "-" if output is None else output
        task = bs.count_file, problems, output
        summary = session.rows_of(*task, search=search, files=puzzles)
        return answered(summary, session, summary, output=output)
    of_tables = "chunk", "stats", "filename", "stop_on_invalid"
    if unfit := [name for name in of_tables if getattr(puzzles, name)]:
        option = unfit[0].replace("_", "-")
        raise InputError(f"--{option} is for a table of counts; name it with -o")
    [problem] = problems
    megabytes = GRAPH_MEGABYTES if memo_size is None else memo_size
    query = Query(problem, search, puzzles, session)
    if goal := next((name for name in _GOES_WITH if name in given), ""):
        whole = SearchSettings(engine=search.engine, time_limit=search.time_limit)
        fits = {"--graph": memo, "--by": not memo and search.engine == AUTO, "--project": not memo}
        fits_workers = goal == "--project" or session.workers == options.Session().workers
        fits_search = search == whole and fits[goal]
        if given[1:] or puzzles.resume or not (fits_search and fits_workers):
            raise InputError(f"{goal} goes with {_GOES_WITH[goal]}")
        if graph is not None:
            return draw_to_file(query, graph, megabytes)
        if by is not None:
            return print_distribution(query, by, megabytes)
        return _count_projections(query, project)
    if puzzles.resume and run is None:
        raise InputError("--resume needs --run DIR, the run to go on with")
    if run is not None and tree.stacks is not None:
        raise InputError("--stacks and --run do not go together; a part is one short search")

    return search_tree(query, tree, directory=run, resume=puzzles.resume)


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
    if engine not in (AUTO, "memo"):
        raise BadParameter(f"--memo chooses the engine; leave out --engine, --branch: {engine}")
    return "memo" if size is None else f"memo:{size}"


def _count_projections(query: Query, items: Sequence[str]) -> int:
    """Count the projections of the solutions of a problem."""
    session = query.session
    with read_in_time(query, nothing_of(session)) as (reading, remaining):
        search = remaining()
    task = bs.count_projections, reading, items
    result = session.rows_of(*task, engine=search.engine, time_limit=search.time_limit)
    words = f"{counted(result.count, 'projection')} of {counted(result.subproblems, 'candidate')}"
    words += "" if result.complete else ", not complete"
    return report(result, session, words=f"{words}; {result.seconds:.1f} s by {result.engine}")


@command
def enumerate_(
    problem: options.Problem,
    /,
    output: options.Written,
    resume: bool = False,
    best: int | None = None,
    *,
    tree: TreeOptions,
    search: SearchSettings,
    puzzles: options.Puzzles,
    session: options.Session,
) -> int:
    """Write every solution of one problem.

    Search
    ------
    best : K
        Find only the K solutions of least cost; K is 100,000 at most.

    Output
    ------
    output : DIR
        The directory of the run and its solutions; - prints JSON lines instead.
    resume
        Go on with the run in DIR, or start it.

    Examples
    --------
    batchsolve enumerate grid.txt -o solutions
    batchsolve enumerate queens:6 -o -
    batchsolve enumerate costs.dlx --best 10 -o -

    Exit codes
    ----------
    0
        the whole tree was searched
    1
        a limit was reached first
    """
    streams = output == "-"
    if resume and streams:
        raise InputError("--resume needs a directory; a search that prints cannot be resumed")
    if best is not None and (tree.up_to_symmetry or tree.symmetries is not None):
        raise BadParameter("--best does not go with --up-to-symmetry or --symmetries")
    if best is not None and tree.stacks is not None:
        raise BadParameter("--best does not go with --stacks: the best of parts are not merged")
    query, directory = Query(problem, search, puzzles, session), None if streams else output
    target: dict[str, Any] = {"output": output, "directory": directory, "resume": resume}
    return search_tree(query, tree, best=best, **target)


def report(
    result: Count,
    session: options.Session,
    output: str = "",
    words: str = "",
    header: dict[str, Any] | None = None,
) -> int:
    """Print the result of a search, and without an output its count; return the exit code."""
    from batchsolve.runs.split import result_of_part

    part = result_of_part(header, asdict(result)) if header else {}
    facts = {**asdict(result), "seconds": round(result.seconds, 3), **part}
    session.summary(facts, words or result, output=output, answer=None if output else result.count)
    for reason in result.failures:
        print(printable(f"batchsolve: a subproblem was left out: {reason}"), file=sys.stderr)
    return 0 if result.complete else EXIT_INCOMPLETE


def nothing_of(session: options.Session) -> dict[str, Any]:
    """Return the facts of a search that has found nothing yet."""
    from batchsolve.runs.count import Count

    return asdict(Count(0, False, 0, 0, 0, 0.0, "", session.backend, session.jobs or 0, []))


@command
def export(
    directory: str, /, output: options.Written, *, session: Annotated[options.Session, ("jobs",)]
) -> int:
    """Write the solutions of a run to one sorted file.

    Input
    -----
    directory : DIR
        A run of enumerate.

    Output
    ------
    output : FILE
        .parquet, .csv, .tsv or .jsonl

    Examples
    --------
    batchsolve export solutions -o solutions.parquet

    Exit codes
    ----------
    0
        the run is complete
    1
        it is not, and the file holds what was found so far
    """
    from batchsolve.runs.export import export_run
    from batchsolve.runs.run import describe_run

    complete = describe_run(directory)["complete"]  # beforehand: the run may be going on
    with interrupts():
        rows = export_run(directory, output, session.jobs)
    if complete:
        return 0
    solutions = counted(rows, "solution")
    print(f"batchsolve: the run is not complete: {solutions} so far", file=sys.stderr)
    return EXIT_INCOMPLETE


@command
def runs(directory: str, /, *, session: options.Json) -> int:
    """Print the finished and the remaining work of a run.

    Input
    -----
    directory : DIR
        A run.

    Examples
    --------
    batchsolve runs counting
    batchsolve runs counting --json
    """
    from batchsolve.runs.run import describe_run

    facts = describe_run(directory)
    facts["seconds"] = round(facts["seconds"], 3)
    session.facts(facts)
    return 0


@command
def split(
    problem: options.Problem,
    /,
    depth: int,
    output: options.Written,
    files: int | None = None,
    *,
    search: options.Engine,
    puzzles: options.Puzzles,
    session: options.JsonOrQuiet,
) -> int:
    """Split one problem into files that can be counted or listed anywhere.

    merge adds up the counts of the files.

    Search
    ------
    depth : D
        The depth to which the tree is expanded.

    Output
    ------
    output : DIR
        The directory of the files.
    files : N
        Number of files; by default one for each stack.

    Examples
    --------
    batchsolve split queens:14 --depth 3 --files 20 -o parts
    batchsolve count queens:14 --stacks parts/0007.jsonl --json > 0007.json
    batchsolve enumerate queens:14 --stacks parts/0007.jsonl -o solutions7
    """
    from batchsolve.runs.split import write_parts

    reading = read(problem, puzzles)
    with interrupts():
        facts = write_parts(reading, output, depth=depth, files=files, engine=search.engine)
    if session.as_json or not session.quiet:
        session.facts(facts)
    if files is not None and facts["files"] < files:
        n_files = counted(facts["files"], "file")
        print(
            f"batchsolve: {n_files}, not {files:,}: no more than one for each stack at depth "
            f"{depth}; a larger --depth may have more stacks",
            file=sys.stderr,
        )
    return 0


@command
def merge(results: Sequence[str], /, *, session: options.Json) -> int:
    """Add up the counts of the files of one split.

    It names parts that are missing, unfinished or counted twice.

    Input
    -----
    results : RESULT...
        The output of count or enumerate with --stacks PART --json.

    Examples
    --------
    batchsolve merge results/*.json

    Exit codes
    ----------
    0
        all parts are there and complete
    1
        some are missing or unfinished
    2
        a file that is not such a result
    """
    from batchsolve.runs.split import merge_results

    facts = merge_results(results)
    session.facts(facts)
    return 0 if facts["complete"] else EXIT_INCOMPLETE
