"""The commands that search one problem, and those of its runs and parts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

from click import BadParameter, Choice

from batchsolve.cli.commands import EXIT_INCOMPLETE, command
from batchsolve.cli.graphs import draw_to_file, print_distribution
from batchsolve.cli.options import (
    HOW_WRITTEN,
    PROBLEM,
    Engine,
    Json,
    Printing,
    Problem,
    Puzzles,
    WorkerOptions,
    argument,
    meaning,
    only,
    option,
    output_to,
)
from batchsolve.cli.problems import read
from batchsolve.cli.terminal import TimeIsUp, interrupts, time_limited
from batchsolve.errors import InputError, counted, listed, named_errors, printable
from batchsolve.settings import AUTO, FileSettings, SearchSettings

if TYPE_CHECKING:
    from batchsolve.runs.count import Count
    from batchsolve.runs.reading import Reading
    from batchsolve.symmetry.symmetries import Symmetries

UpToSymmetry = Annotated[
    bool,
    option(
        heading="Search",
        help="Count solutions that are equal up to turning and reflecting the board as one.",
    ),
]
Generators = Annotated[
    str | None,
    option(
        heading="Search",
        metavar="FILE|structure",
        help="Count solutions that are equal up to these symmetries as one: a JSON list of "
        "objects, each of which maps items to items, and colours (:red) to colours; or structure, "
        "for all symmetries that the items and options have, whatever their names.",
    ),
]
Resume = Annotated[bool, option(help="Go on with the run in DIR, or start it.")]

CountedFiles = Annotated[
    FileSettings,
    only(*HOW_WRITTEN, "filename", "chunk", "stats"),
    meaning("column", help="Name of the puzzle column; found by default. Of a table: problem."),
    meaning(
        "chunk", help="Most rows of a table that a task reads; by default 16 to 128 kB of text."
    ),
]

EPILOG = (
    "Exit codes: 0 the whole tree was searched; 1 a limit was reached first; 2 wrong usage, a "
    "file that cannot be read or written, or no worker left; 130 interrupted, 143 terminated."
)


@command(
    examples=(
        "batchsolve count queens:12",
        "batchsolve count puzzles.csv#17 --run counting",
        "batchsolve count dominoes:12x12 --memo --graph tilings.zdd",
        "batchsolve count partitions:8 --by options",
        "batchsolve count dominoes:8x8 --project 'r1c*'",
        "batchsolve count 'instances/*.dlx' -o counts.csv",
    ),
    epilog=EPILOG,
)
def count(
    problems: Annotated[
        tuple[str, ...],
        argument(
            metavar="PROBLEM...",
            help=f"{PROBLEM} Several of these, a folder, a pattern, or with -o a table with a "
            "column problem: a row of output for each.",
        ),
    ],
    output: Annotated[
        str | None,
        output_to(
            "OUT",
            help="Write a table with a row for each problem: a file as of solve, or a folder; - is "
            "CSV on stdout, and the default for several problems.",
        ),
    ] = None,
    run: Annotated[
        str | None, option(metavar="DIR", help="Keep the run in DIR, to resume it.")
    ] = None,
    resume: Annotated[
        bool, option(help="Go on with the run in DIR, or start it; or go on from OUT.partial.")
    ] = False,
    stacks: Annotated[
        str | None,
        option(
            heading="Input", metavar="FILE", help="Search only the stacks in this file; see split."
        ),
    ] = None,
    *,
    up_to_symmetry: UpToSymmetry = False,
    symmetries: Generators = None,
    search: SearchSettings,
    memo: Annotated[
        bool, option(heading="Search", help="Count equal subproblems once (--engine memo:MB).")
    ] = False,
    memo_size: Annotated[
        int | None,
        option(
            heading="Search",
            metavar="MB",
            help="Megabytes of the table of --memo; 256 by default, 1024 for --graph and --by.",
        ),
    ] = None,
    graph: Annotated[
        str | None,
        option(metavar="FILE", help="With --memo: write the graph of all solutions; see graph."),
    ] = None,
    by: Annotated[
        str | None,
        option(
            metavar="cost|options",
            type=Choice(["cost", "options"]),
            help="Print the number of solutions of each cost, or with each number of options; the "
            "graph of all solutions has to fit into memory.",
        ),
    ] = None,
    project: Annotated[
        tuple[str, ...],
        option(
            metavar="ITEM",
            help="Count the different sets of options that solutions have at these items, each "
            "once: a name or a pattern such as 'r1c*'; may be repeated.",
        ),
    ] = (),
    workers: WorkerOptions,
    puzzles: CountedFiles,
    printing: Printing,
) -> int:
    """Count every solution of one problem, or of each of many.

    Limits are those of a row if there are many.
    """
    from batchsolve.runs import count as counting
    from batchsolve.runs.progress import TREE_BAR, tree_on
    from batchsolve.runs.run import Run
    from batchsolve.runs.split import read_part, result_of_part

    plain = search == SearchSettings(engine=search.engine) and run is None and stacks is None
    plain = plain and not (resume or up_to_symmetry or symmetries is not None)
    search = replace(search, engine=_with_memo(search.engine, memo, None if by else memo_size))
    if output is not None or _are_many(problems):
        alone = {"--run": run, "--stacks": stacks, "--graph": graph, "--by": by}
        alone |= {"--symmetries": symmetries, "--project": project[0] if project else None}
        unfit = [name for name, value in alone.items() if value is not None]
        if unfit or up_to_symmetry:
            unfit = unfit or ["--up-to-symmetry"]
            raise InputError(f"{listed(unfit)}: for one problem, without -o; count them one by one")
        files = replace(puzzles, resume=resume)
        return _count_each(problems, output or "-", search, workers, files, printing)
    if unfit := [name for name in ("chunk", "stats", "filename") if getattr(puzzles, name)]:
        raise InputError(f"--{unfit[0]} is for a table of counts; name it with -o")
    [problem] = problems
    if graph is not None:
        if not (memo and plain) or by is not None or project:
            raise InputError(
                "--graph goes with --memo and --memo-size only: one search draws the whole graph"
            )
        return draw_to_file(problem, graph, memo_size, puzzles, printing)
    if by is not None:
        if project or memo or not plain or search.engine != AUTO:
            raise InputError("--by goes with --memo-size only: it takes sums over all solutions")
        return print_distribution(problem, by, memo_size, puzzles, printing)
    if project:
        if memo or not plain:
            raise InputError("--project goes with --engine only: it counts all that solutions have")
        return _count_projections(problem, project, search, workers, puzzles, printing)
    if resume and run is None:
        raise InputError("--resume needs --run DIR, the run to go on with")
    if stacks is not None and run is not None:
        raise InputError("--stacks and --run do not go together; a part is one short search")
    header: dict[str, Any] = {}
    with _nothing_as_json(printing, workers), time_limited(search) as rest:
        reading = read(problem, puzzles)
        begin: Any = reading.stack
        if stacks is not None:
            begin, header = read_part(stacks, reading.problem)
        group = _group(reading, up_to_symmetry, symmetries)
        search = rest()
    with printing.progress(TREE_BAR, tree_on) as on_progress:
        how: dict[str, Any] = {**asdict(workers), "on_progress": on_progress, "search": search}
        if run is None:
            result = counting.count(reading.problem, begin, up_to_symmetry=group, **how)
        else:
            with Run(
                run,
                reading.problem,
                begin,
                resume=resume,
                up_to_symmetry=group,
                engine=search.engine,
                name=reading.name,
            ) as kept:
                result = kept.search(**how)
    if not printing.as_json:
        print(result.count)
    of_part = result_of_part(header, asdict(result)) if header else {}
    return _report(result, printing, **of_part)


def _are_many(problems: Sequence[str]) -> bool:
    """Return True for several problems, a folder, or a pattern of names of files."""
    [first, *others] = problems
    is_pattern = bool(set("*?[") & set(first)) and not os.path.exists(first.partition("#")[0])
    return bool(others) or os.path.isdir(first) or is_pattern


def _count_each(
    problems: Sequence[str],
    output: str,
    search: SearchSettings,
    workers: WorkerOptions,
    files: FileSettings,
    printing: Printing,
) -> int:
    """Write a row of output for each problem."""
    from batchsolve.runs.count_file import count_file
    from batchsolve.runs.progress import ROW_BAR, rows_on

    with printing.progress(ROW_BAR, rows_on) as on_progress:
        how: dict[str, Any] = {**asdict(workers), "on_progress": on_progress}
        summary = count_file(problems, output, search=search, files=files, **how)
    printing.summary(summary.facts, summary, output=output)
    return 0 if summary.complete else EXIT_INCOMPLETE


def _count_projections(
    problem: str,
    items: Sequence[str],
    search: SearchSettings,
    workers: WorkerOptions,
    puzzles: FileSettings,
    printing: Printing,
) -> int:
    """Count the projections of the solutions of a problem."""
    from batchsolve.runs.progress import ROW_BAR, rows_on
    from batchsolve.runs.projections import count_projections

    with printing.progress(ROW_BAR, rows_on) as on_progress:
        how: dict[str, Any] = {**asdict(workers), "on_progress": on_progress}
        result = count_projections(read(problem, puzzles), items, engine=search.engine, **how)
    if not printing.as_json:
        print(result.count)
    said = f"{counted(result.count, 'projection')} of {counted(result.subproblems, 'candidate')}"
    return _report(result, printing, said=f"{said}; {result.seconds:.1f} s by {result.engine}")


def _group(reading: Reading, found: bool, path: str | None) -> bool | Symmetries:
    """Return the group of two options: of the board, and of the structure or a file."""
    if path is None:
        return found
    from batchsolve.symmetry.structure import structure_symmetries
    from batchsolve.symmetry.symmetries import Symmetries, read_generators, symmetries

    if path == "structure":
        group = structure_symmetries(reading.problem, reading.stack)
    else:
        with named_errors(path), open(path, encoding="utf-8") as file:
            group = Symmetries.generated(reading.problem, read_generators(file.read()))
    return group.joined(symmetries(reading.problem)) if found else group


def _with_memo(engine: str, memo: bool, size: int | None) -> str:
    """Return the name of the engine of these options."""
    if not memo:
        if size is not None:
            raise BadParameter("--memo-size needs --memo")
        return engine
    if engine.partition(":")[0] not in (AUTO, "memo"):
        raise BadParameter(f"--memo chooses the engine; leave out --engine {engine}")
    return "memo" if size is None else f"memo:{size}"


@command(
    "enumerate",
    examples=(
        "batchsolve enumerate grid.txt -o solutions",
        "batchsolve enumerate queens:6 -o -",
        "batchsolve enumerate costs.dlx --best 10 -o -",
    ),
    epilog=EPILOG,
)
def enumerate_(
    problem: Problem,
    output: Annotated[
        str,
        output_to(
            "DIR",
            help="The directory of the run and its solutions; - prints JSON lines instead.",
        ),
    ],
    resume: Resume = False,
    best: Annotated[
        int | None,
        option(
            heading="Search",
            metavar="K",
            help="Find only the K cheapest, by the costs of options; K is 100,000 at most.",
        ),
    ] = None,
    *,
    up_to_symmetry: UpToSymmetry = False,
    symmetries: Generators = None,
    search: SearchSettings,
    workers: WorkerOptions,
    puzzles: Puzzles,
    printing: Printing,
) -> int:
    """Write every solution of one problem."""
    from batchsolve.runs.count import write_cheapest, write_covers
    from batchsolve.runs.progress import TREE_BAR, tree_on
    from batchsolve.runs.run import Run

    streams = output == "-"
    if resume and streams:
        raise InputError("--resume needs a directory; a search that prints cannot be resumed")
    with _nothing_as_json(printing, workers, output), time_limited(search) as rest:
        reading = read(problem, puzzles)
        group = _group(reading, up_to_symmetry, symmetries)
        search = rest()
    if best is not None and group is not False:
        raise BadParameter("--best does not go with --up-to-symmetry or --symmetries")
    task = reading.problem, reading.stack
    with printing.progress(TREE_BAR, tree_on) as on_progress:
        how: dict[str, Any] = {**asdict(workers), "on_progress": on_progress, "search": search}
        if streams and best is not None:
            result = write_cheapest(*task, best, sys.stdout.buffer, **how)
        elif streams:
            out = sys.stdout.buffer
            result = write_covers(
                *task, out, notation=reading.notation, up_to_symmetry=group, **how
            )
        else:
            with Run(
                output,
                *task,
                collect=best is None,
                cheapest=best,
                up_to_symmetry=group,
                resume=resume,
                engine=search.engine,
                notation=reading.notation,
                name=reading.name,
            ) as kept:
                result = kept.search(**how)
    return _report(result, printing, output)


def _report(
    result: Count, printing: Printing, output: str = "", said: str = "", **extra: Any
) -> int:
    facts = {**asdict(result), "seconds": round(result.seconds, 3), **extra}
    printing.summary(facts, said or result, output=output)
    for reason in result.failures:
        print(printable(f"batchsolve: a subproblem was left out: {reason}"), file=sys.stderr)
    return 0 if result.complete else EXIT_INCOMPLETE


@contextmanager
def _nothing_as_json(
    printing: Printing, workers: WorkerOptions, output: str = ""
) -> Iterator[None]:
    """Print the line of JSON of a search without solutions if its time is up before it begins."""
    from batchsolve.runs.count import Count

    try:
        yield
    except TimeIsUp:
        nothing = Count(0, False, 0, 0, 0, 0.0, "", {}, workers.backend, workers.jobs or 0, [])
        printing.summary(asdict(nothing), output=output)
        raise


@command(
    examples=("batchsolve export solutions -o solutions.parquet",),
    epilog="Exit codes: 0 the run is complete; 1 it is not, and the file holds what was found so "
    "far; 2 wrong usage, or a file that cannot be read or written.",
)
def export(
    directory: Annotated[str, argument(metavar="DIR", help="A run of enumerate.")],
    output: Annotated[
        str,
        output_to("FILE", help=".parquet, .csv, .tsv or .jsonl"),
    ],
    *,
    workers: Annotated[WorkerOptions, only("jobs")],
) -> int:
    """Write the solutions of a run to one sorted file."""
    from batchsolve.runs.export import export_run
    from batchsolve.runs.run import describe_run

    with interrupts():
        rows = export_run(directory, output, workers.jobs)
    if describe_run(directory)["complete"]:
        return 0
    found = counted(rows, "solution")
    print(f"batchsolve: the run is not complete: {found} so far", file=sys.stderr)
    return EXIT_INCOMPLETE


@command(examples=("batchsolve runs counting", "batchsolve runs counting --json"))
def runs(
    directory: Annotated[str, argument(metavar="DIR", help="A run.")], *, printing: Json
) -> int:
    """Print the finished and the remaining work of a run."""
    from batchsolve.runs.run import describe_run

    facts = describe_run(directory)
    facts["seconds"] = round(facts["seconds"], 3)
    printing.facts(facts)
    return 0


@command(
    examples=(
        "batchsolve split queens:14 --depth 3 --files 20 -o parts",
        "batchsolve count queens:14 --stacks parts/0007.jsonl --json > 0007.json",
    )
)
def split(
    problem: Problem,
    depth: Annotated[
        int, option(metavar="D", heading="Search", help="The depth to which the tree is expanded.")
    ],
    output: Annotated[str, output_to("DIR", help="The directory of the files.")],
    files: Annotated[
        int | None, option(metavar="N", help="Number of files; by default one for each stack.")
    ] = None,
    *,
    search: Engine,
    puzzles: Puzzles,
    printing: Json,
) -> int:
    """Split one problem into files that can be counted anywhere.

    merge adds up the counts of the files.
    """
    from batchsolve.runs.split import write_parts

    reading = read(problem, puzzles)
    with interrupts():
        task = reading.problem, output, reading.stack
        facts = write_parts(*task, depth=depth, files=files, engine=search.engine)
    printing.facts(facts)
    return 0


@command(
    examples=("batchsolve merge results/*.json",),
    epilog="Exit codes: 0 all parts are there and complete; 1 some are missing or "
    "unfinished; 2 wrong usage, or a file that is not such a result.",
)
def merge(
    results: Annotated[
        tuple[str, ...],
        argument(metavar="RESULT...", help="The output of count --stacks PART --json."),
    ],
    *,
    printing: Json,
) -> int:
    """Add up the counts of the files of one split.

    It names parts that are missing, unfinished or counted twice.
    """
    from batchsolve.runs.split import merge_results

    facts = merge_results(results)
    printing.facts(facts)
    return 0 if facts["complete"] else EXIT_INCOMPLETE
