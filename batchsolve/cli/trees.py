"""The commands enumerate and export, and those of runs and parts of one problem."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from click import BadParameter

from batchsolve.cli import EXIT_INCOMPLETE, command
from batchsolve.cli.options import Engine, Json, Printing, Problem, Puzzles, WorkerOptions, Written
from batchsolve.cli.problems import Asked, in_time, read
from batchsolve.cli.terminal import interrupts
from batchsolve.errors import InputError, counted, named_errors, printable
from batchsolve.formats.whole_files import text_of
from batchsolve.settings import AUTO, MRV, SearchSettings, setting

if TYPE_CHECKING:
    from batchsolve.runs.count import Count
    from batchsolve.runs.reading import Reading
    from batchsolve.symmetry.symmetries import Symmetries


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

    def part_of(self, reading: Reading) -> tuple[Any, dict[str, Any]]:
        """Return the stacks to begin with, and the header of the part that holds them."""
        if self.stacks is None:
            return reading.stack, {}
        from batchsolve.runs.split import read_part

        return read_part(self.stacks, reading.problem)

    def group_of(self, reading: Reading) -> bool | Symmetries:
        """Return the group: of the board, and of the structure or a file."""
        if self.symmetries is None:
            return self.up_to_symmetry
        from batchsolve.symmetry.symmetries import (
            Symmetries,
            read_generators,
            structure_symmetries,
            symmetries,
        )

        if self.symmetries == "structure":
            group = structure_symmetries(reading.problem, reading.stack)
        else:
            with named_errors(self.symmetries):
                generators = read_generators(text_of(self.symmetries))
                group = Symmetries.generated(reading.problem, generators)
        return group.joined(symmetries(reading.problem)) if self.up_to_symmetry else group


def search_tree(
    asked: Asked,
    tree: TreeOptions,
    workers: WorkerOptions,
    search: Callable[..., Count],
    output: str = "",
) -> int:
    """Search the tree of a problem by a function, and print its result; return the exit code.

    The function takes the problem, the stacks to begin with, the group and, as keywords, those of
    `batchsolve.count`. The output is that of enumerate.
    """
    from batchsolve.runs.progress import TREE_BAR
    from batchsolve.runs.split import check_list

    printing = asked.printing
    with in_time(asked, nothing_of(workers), output) as rest:
        reading = read(asked.problem, asked.puzzles)
        begin, header = tree.part_of(reading)
        if output and tree.stacks is not None:
            check_list(tree.stacks, header)
        group = tree.group_of(reading)
        settings = rest()
    with printing.progress(TREE_BAR) as on_progress:
        how = {**asdict(workers), "search": settings, "on_progress": on_progress}
        result = search(reading, begin, group, **how)
    return report(result, printing, output, header=header)


def search_in_run(
    path: str,
    reading: Reading,
    begin: Any,
    group: bool | Symmetries,
    how: dict[str, Any],
    **kind: Any,
) -> Count:
    """Search a problem in a run, which is kept in a directory and has the engine."""
    from batchsolve.runs.run import Run

    search = how["search"]
    kind |= {"name": reading.name, "engine": search.engine, "up_to_symmetry": group}
    with Run(path, reading.problem, begin, **kind) as run:
        return run.search(**how | {"search": replace(search, engine=AUTO, branch=MRV)})


@command
def enumerate_(
    problem: Problem,
    /,
    output: Written,
    resume: bool = False,
    best: int | None = None,
    *,
    tree: TreeOptions,
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

    streams = output == "-"
    if resume and streams:
        raise InputError("--resume needs a directory; a search that prints cannot be resumed")
    if best is not None and (tree.up_to_symmetry or tree.symmetries is not None):
        raise BadParameter("--best does not go with --up-to-symmetry or --symmetries")
    if best is not None and tree.stacks is not None:
        raise BadParameter("--best does not go with --stacks: the best of parts are not merged")

    def listed(reading: Reading, begin: Any, group: bool | Symmetries, **how: Any) -> Count:
        task, out = (reading.problem, begin), sys.stdout.buffer
        if streams and best is not None:
            return write_cheapest(*task, best, out, **how)
        if streams:
            how["up_to_symmetry"] = group
            return write_covers(*task, out, notation=reading.notation, **how)
        kind: dict[str, Any] = {"collect": True, "notation": reading.notation}
        kind = kind if best is None else {"cheapest": best}
        return search_in_run(output, reading, begin, group, how, resume=resume, **kind)

    return search_tree(Asked(problem, search, puzzles, printing), tree, workers, listed, output)


def report(
    result: Count,
    printing: Printing,
    output: str = "",
    said: str = "",
    header: dict[str, Any] | None = None,
) -> int:
    """Print the result of a search, and its count if there is no output; return the exit code."""
    from batchsolve.runs.split import result_of_part

    part = result_of_part(header, asdict(result)) if header else {}
    facts = {**asdict(result), "seconds": round(result.seconds, 3), **part}
    answer = None if output else result.count
    printing.summary(facts, said or result, output=output, answer=answer)
    for reason in result.failures:
        print(printable(f"batchsolve: a subproblem was left out: {reason}"), file=sys.stderr)
    return 0 if result.complete else EXIT_INCOMPLETE


def nothing_of(workers: WorkerOptions) -> dict[str, Any]:
    """Return the facts of a search that has found nothing yet."""
    from batchsolve.runs.count import Count

    return asdict(Count(0, False, 0, 0, 0, 0.0, "", workers.backend, workers.jobs or 0, []))


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

    complete = describe_run(directory)["complete"]  # beforehand: the run may be going on
    with interrupts():
        rows = export_run(directory, output, workers.jobs)
    if complete:
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
