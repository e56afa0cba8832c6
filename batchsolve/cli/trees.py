"""The commands enumerate and export, and those of runs and parts of one problem."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

from click import BadParameter

from batchsolve.cli import EXIT_INCOMPLETE, command
from batchsolve.cli.options import (
    Engine,
    Json,
    Printing,
    Problem,
    Puzzles,
    Said,
    WorkerOptions,
    Written,
)
from batchsolve.cli.problems import read
from batchsolve.cli.terminal import TimeIsUp, interrupts, time_limited
from batchsolve.errors import InputError, counted, named_errors, printable
from batchsolve.formats.whole_files import text_of
from batchsolve.settings import AUTO, MRV, SearchSettings

if TYPE_CHECKING:
    from batchsolve.runs.count import Count
    from batchsolve.runs.reading import Reading
    from batchsolve.symmetry.symmetries import Symmetries

UpToSymmetry = Annotated[
    bool,
    Said(
        None,
        "Count solutions that are equal up to turning and reflecting the board as one.",
        "Search",
    ),
]
Generators = Annotated[
    str | None,
    Said(
        "FILE|structure",
        "Count solutions that are equal up to these symmetries as one: a JSON list of objects that "
        "map items to items and colours (:red) to colours; or structure, for all symmetries of the "
        "items and options.",
        "Search",
    ),
]
Part = Annotated[
    str | None, Said("FILE", "Search only the stacks in this file; see split.", "Input")
]


def group_of(reading: Reading, found: bool, path: str | None) -> bool | Symmetries:
    """Return the group of two options: of the board, and of the structure or a file."""
    if path is None:
        return found
    from batchsolve.symmetry.structure import structure_symmetries
    from batchsolve.symmetry.symmetries import Symmetries, read_generators, symmetries

    if path == "structure":
        group = structure_symmetries(reading.problem, reading.stack)
    else:
        with named_errors(path):
            group = Symmetries.generated(reading.problem, read_generators(text_of(path)))
    return group.joined(symmetries(reading.problem)) if found else group


@command
def enumerate_(
    problem: Problem,
    /,
    output: Written,
    resume: bool = False,
    best: int | None = None,
    stacks: Part = None,
    *,
    up_to_symmetry: UpToSymmetry = False,
    symmetries: Generators = None,
    search: SearchSettings,
    workers: WorkerOptions,
    puzzles: Puzzles,
    printing: Printing,
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
    from batchsolve.runs.count import write_cheapest, write_covers
    from batchsolve.runs.progress import TREE_BAR
    from batchsolve.runs.run import Run
    from batchsolve.runs.split import check_list

    streams = output == "-"
    if resume and streams:
        raise InputError("--resume needs a directory; a search that prints cannot be resumed")
    with nothing_as_json(printing, workers, output), time_limited(search) as rest:
        reading = read(problem, puzzles)
        group = group_of(reading, up_to_symmetry, symmetries)
        search = rest()
    if best is not None and group is not False:
        raise BadParameter("--best does not go with --up-to-symmetry or --symmetries")
    if best is not None and stacks is not None:
        raise BadParameter("--best does not go with --stacks: the best of parts are not merged")
    begin, header = part_of(reading, stacks)
    if stacks is not None:
        check_list(stacks, header)
    task = reading.problem, begin
    with printing.progress(TREE_BAR) as on_progress:
        keywords: dict[str, Any] = {**asdict(workers), "search": search}
        keywords["on_progress"] = on_progress
        if streams and best is not None:
            result = write_cheapest(*task, best, sys.stdout.buffer, **keywords)
        elif streams:
            out = sys.stdout.buffer
            result = write_covers(
                *task, out, notation=reading.notation, up_to_symmetry=group, **keywords
            )
        else:
            said: dict[str, Any] = {"resume": resume, "name": reading.name, "engine": search.engine}
            kind = {"collect": True, "notation": reading.notation} if best is None else {}
            said |= {"cheapest": best, **kind}
            with Run(output, *task, up_to_symmetry=group, **said) as kept:
                result = kept.search(**keywords | {"search": without_engine(search)})
    return report(result, printing, output, header=header)


def without_engine(search: SearchSettings) -> SearchSettings:
    """Return the settings of a search of a `Run`, which has the engine."""
    return replace(search, engine=AUTO, branch=MRV)


def part_of(reading: Reading, path: str | None) -> tuple[Any, dict[str, Any]]:
    """Return the stacks to begin with, and the header of the part that holds them."""
    if path is None:
        return reading.stack, {}
    from batchsolve.runs.split import read_part

    return read_part(path, reading.problem)


def report(
    result: Count,
    printing: Printing,
    output: str = "",
    said: str = "",
    header: dict[str, Any] | None = None,
) -> int:
    """Print the result of a search, perhaps of a part; return the exit code."""
    from batchsolve.runs.split import result_of_part

    part = result_of_part(header, asdict(result)) if header else {}
    facts = {**asdict(result), "seconds": round(result.seconds, 3), **part}
    printing.summary(facts, said or result, output=output)
    for reason in result.failures:
        print(printable(f"batchsolve: a subproblem was left out: {reason}"), file=sys.stderr)
    return 0 if result.complete else EXIT_INCOMPLETE


@contextmanager
def nothing_as_json(printing: Printing, workers: WorkerOptions, output: str = "") -> Iterator[None]:
    """Print the line of JSON of a search without solutions if its time is up before it begins."""
    from batchsolve.runs.count import Count

    try:
        yield
    except TimeIsUp:
        nothing = Count(0, False, 0, 0, 0, 0.0, "", workers.backend, workers.jobs or 0, [])
        printing.summary(asdict(nothing), output=output)
        raise


@command
def export(
    directory: str, /, output: Written, *, workers: Annotated[WorkerOptions, ("jobs",)]
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

    with interrupts():
        rows = export_run(directory, output, workers.jobs)
    if describe_run(directory)["complete"]:
        return 0
    found = counted(rows, "solution")
    print(f"batchsolve: the run is not complete: {found} so far", file=sys.stderr)
    return EXIT_INCOMPLETE


@command
def runs(directory: str, /, *, printing: Json) -> int:
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
    printing.facts(facts)
    return 0


@command
def split(
    problem: Problem,
    /,
    depth: int,
    output: Written,
    files: int | None = None,
    *,
    search: Engine,
    puzzles: Puzzles,
    printing: Printing,
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
        task = reading.problem, output, reading.stack
        facts = write_parts(*task, depth=depth, files=files, engine=search.engine)
    if printing.as_json or not printing.quiet:
        printing.facts(facts)
    if files is not None and facts["files"] < files:
        made = counted(facts["files"], "file")
        print(
            f"batchsolve: {made}, not {files:,}: no more than one for each stack at depth "
            f"{depth}; a larger --depth may have more stacks",
            file=sys.stderr,
        )
    return 0


@command
def merge(results: Sequence[str], /, *, printing: Json) -> int:
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
    printing.facts(facts)
    return 0 if facts["complete"] else EXIT_INCOMPLETE
