"""The commands that search one problem: count, enumerate, and what goes with their runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from batchsolve.cli import app
from batchsolve.cli.common import (
    EXIT_INCOMPLETE,
    Address,
    Alphabet,
    Backend,
    Box,
    Budget,
    Column,
    EngineName,
    Jobs,
    Quiet,
    Where,
    box_shape,
    exit_with,
    interrupts,
    shows_progress,
    told_when_compiling,
)
from batchsolve.errors import InputError

if TYPE_CHECKING:
    from batchsolve.problems.exact_cover import ExactCover
    from batchsolve.runs.count import Count
    from batchsolve.search.tree_search import TreeSearch

Problem = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM",
        help="A grid file, a row of a corpus (corpus.csv#17, #id=…), a .dlx, .ec, .json or .npz "
        "file, or a family such as queens:12 or sudoku:2x3.",
    ),
]
Limit = Annotated[int | None, typer.Option("--limit", metavar="N", help="Stop after N solutions.")]
TimeLimit = Annotated[
    float | None, typer.Option("--time-limit", metavar="S", help="Stop after S seconds.")
]
NodeLimit = Annotated[
    int | None, typer.Option("--node-limit", metavar="N", help="Stop after N nodes.")
]
SplitDepth = Annotated[
    str,
    typer.Option("--split-depth", metavar="D|auto", help="Expand the tree to this depth first."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in DIR, or begin it.")]
Json = Annotated[bool, typer.Option("--json", help="Print a line of JSON.")]


def _depth(text: str) -> int | None:
    if text == "auto":
        return None
    if not text.isdecimal():
        raise typer.BadParameter(f"{text!r} is no depth; write a number, or auto")
    return int(text)


EPILOG = (
    "Exit codes: 0 the whole tree was searched; 1 a limit was reached first; 2 wrong usage, or a "
    "file that cannot be read or written; 130 interrupted."
)


@app.command(epilog=EPILOG)
def count(
    problem: Problem,
    run: Annotated[
        str | None, typer.Option("--run", metavar="DIR", help="Keep the run there, to resume it.")
    ] = None,
    resume: Resume = False,
    stacks: Annotated[
        str | None,
        typer.Option("--stacks", metavar="FILE", help="Search only these stacks; see split."),
    ] = None,
    limit: Limit = None,
    time_limit: TimeLimit = None,
    node_limit: NodeLimit = None,
    split_depth: SplitDepth = "auto",
    budget: Budget = None,
    jobs: Jobs = None,
    backend: Where = Backend.threading,
    address: Address = None,
    engine: EngineName = "auto",
    memo: Annotated[
        bool,
        typer.Option("--memo", help="Count what is left over alike once: --engine memo:MB."),
    ] = False,
    memo_size: Annotated[
        int | None,
        typer.Option(
            "--memo-size", metavar="MB", help="Memory of each worker for --memo; 256 by default."
        ),
    ] = None,
    box: Box = None,
    alphabet: Alphabet = None,
    column: Column = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Count every solution of one problem."""
    settings: dict[str, Any] = {
        "limit": limit,
        "time_limit": time_limit,
        "node_limit": node_limit,
        "split_depth": _depth(split_depth),
        "budget": budget,
    }
    shape = box_shape(box)
    chosen = _with_memo(engine, memo, memo_size)

    def command() -> int:
        from batchsolve.runs import count as counting
        from batchsolve.runs import run as runs
        from batchsolve.runs.job_array import read_part
        from batchsolve.tables.reading import read_problem

        if resume and run is None:
            raise InputError("--resume needs --run DIR, the run to go on with")
        if stacks is not None and run is not None:
            raise InputError("--stacks and --run do not go together; a part is one short search")
        reading = read_problem(problem, box=shape, alphabet=alphabet, column=column)
        _warm_up(chosen, reading.problem, quiet)
        workers: dict[str, Any] = {"jobs": jobs, "backend": backend.value, "address": address}
        extra: dict[str, Any] = {}
        with _progress(quiet) as on_progress:
            if run is not None:
                kept = runs.Run(run, reading.problem, reading.stack, resume=resume, engine=chosen)
                with kept:
                    result = kept.search(on_progress=on_progress, **workers, **settings)
            else:
                begin: Any = reading.stack
                if stacks is not None:
                    begin, header = read_part(stacks, reading.problem)
                    extra = _part_facts(header)
                result = counting.count(
                    reading.problem,
                    begin,
                    engine=chosen,
                    on_progress=on_progress,
                    **workers,
                    **settings,
                )
        if not as_json:
            print(result.count)
        return _report(result, extra, as_json, quiet, sys.stdout)

    exit_with(command)


def _with_memo(engine: str, memo: bool, size: int | None) -> str:
    """Return the name of the engine that these options ask for."""
    if not memo:
        if size is not None:
            raise typer.BadParameter("--memo-size needs --memo")
        return engine
    if engine.partition(":")[0] not in ("auto", "memo"):
        raise typer.BadParameter(f"--memo is an engine of its own; leave out --engine {engine}")
    return "memo" if size is None else f"memo:{size}"


def _part_facts(header: dict[str, Any]) -> dict[str, Any]:
    facts = {key: header.get(key) for key in ("problem", "split", "part", "of")}
    return {**facts, "above": {"count": header.get("count"), "nodes": header.get("nodes")}}


@app.command("enumerate", epilog=EPILOG)
def enumerate_(
    problem: Problem,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Where to keep the run and its solutions; - prints JSON lines instead.",
        ),
    ],
    resume: Resume = False,
    limit: Limit = None,
    time_limit: TimeLimit = None,
    node_limit: NodeLimit = None,
    split_depth: SplitDepth = "auto",
    budget: Budget = None,
    jobs: Jobs = None,
    backend: Where = Backend.threading,
    address: Address = None,
    engine: EngineName = "auto",
    box: Box = None,
    alphabet: Alphabet = None,
    column: Column = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write down every solution of one problem."""
    settings: dict[str, Any] = {
        "limit": limit,
        "time_limit": time_limit,
        "node_limit": node_limit,
        "split_depth": _depth(split_depth),
        "budget": budget,
    }
    shape = box_shape(box)
    streams = output == "-"

    def command() -> int:
        from batchsolve.runs import run as runs
        from batchsolve.runs.count import stream
        from batchsolve.tables.reading import read_problem

        if resume and streams:
            raise InputError("--resume needs a directory; what was printed cannot be resumed")
        reading = read_problem(problem, box=shape, alphabet=alphabet, column=column)
        _warm_up(engine, reading.problem, quiet)
        workers: dict[str, Any] = {"jobs": jobs, "backend": backend.value, "address": address}
        with _progress(quiet) as on_progress:
            if streams:
                result = stream(
                    reading.problem,
                    reading.stack,
                    sys.stdout,
                    notation=reading.notation,
                    engine=engine,
                    on_progress=on_progress,
                    **workers,
                    **settings,
                )
            else:
                kept = runs.Run(
                    output,
                    reading.problem,
                    reading.stack,
                    collect=True,
                    resume=resume,
                    engine=engine,
                    notation=reading.notation,
                )
                with kept:
                    result = kept.search(on_progress=on_progress, **workers, **settings)
        return _report(result, {}, as_json, quiet, sys.stderr if streams else sys.stdout)

    exit_with(command)


def _warm_up(engine: str, problem: ExactCover, quiet: bool) -> None:
    from batchsolve.engines.choice import engines_for
    from batchsolve.runs.solve_batch import warm_up

    with told_when_compiling(quiet):
        for one in engines_for(engine, problem):
            warm_up(one, problem)


def _report(result: Count, extra: dict[str, Any], as_json: bool, quiet: bool, stream: Any) -> int:
    from dataclasses import asdict

    facts = {**asdict(result), "seconds": round(result.seconds, 3), **extra}
    if as_json:
        print(json.dumps(facts), file=stream)
    elif not quiet:
        state = "complete" if result.complete else "not complete"
        print(
            f"{result.count:,} solutions, {state}; {result.nodes:,} nodes in "
            f"{result.subproblems:,} subproblems, {result.rounds:,} rounds; {result.seconds:.1f} s",
            file=sys.stderr,
        )
    for reason in result.failures:
        print(f"batchsolve: a subproblem was left out: {reason}", file=sys.stderr)
    return 0 if result.complete else EXIT_INCOMPLETE


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[TreeSearch], None]]:
    """Draw the share of the tree that is finished, by the weights of the stacks outstanding."""
    with interrupts() as check, _bar(quiet) as bar:

        def update(search: TreeSearch) -> None:
            check()
            totals = search.totals
            rate = totals.nodes / max(totals.seconds, 1e-9)
            bar.set_postfix_str(f"{totals.count:,} solutions, {rate:,.0f} nodes/s", refresh=False)
            bar.update(search.finished_share - bar.n)

        yield update


def _bar(quiet: bool) -> Any:
    from tqdm import tqdm

    form = "{percentage:6.2f}% of the tree|{bar}| [{elapsed}<{remaining}{postfix}]"
    hidden = not shows_progress(quiet)
    return tqdm(total=1.0, bar_format=form, file=sys.stderr, disable=hidden)


@app.command()
def export(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="The run of an enumerate.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help=".parquet, .csv, .tsv or .jsonl"),
    ],
) -> None:
    """Make one sorted file of the solutions of a run."""

    def command() -> int:
        from batchsolve.runs.run import describe_run, export_run

        rows = export_run(directory, output)
        if not describe_run(directory)["complete"]:
            print(
                f"batchsolve: the run is not complete: {rows:,} solutions so far", file=sys.stderr
            )
            return EXIT_INCOMPLETE
        return 0

    exit_with(command)


@app.command()
def runs(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="A run.")],
    as_json: Json = False,
) -> None:
    """Show what a run has done and has left."""

    def command() -> int:
        from batchsolve.runs.run import describe_run

        return print_facts(describe_run(directory), as_json)

    exit_with(command)


@app.command()
def split(
    problem: Problem,
    depth: Annotated[int, typer.Option(metavar="D", help="How deep to expand the tree.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="DIR", help="Where to write the files.")
    ],
    files: Annotated[
        int | None, typer.Option(metavar="N", help="Files to write; one a stack by default.")
    ] = None,
    engine: EngineName = "dlx",
    box: Box = None,
    alphabet: Alphabet = None,
    column: Column = None,
    as_json: Json = False,
) -> None:
    """Split one problem into files of stacks, to be counted anywhere and merged."""
    shape = box_shape(box)

    def command() -> int:
        from batchsolve.runs.job_array import write_parts
        from batchsolve.tables.reading import read_problem

        if files is not None and files < 1:
            raise InputError(f"the number of files is 1 or more, not {files}")
        reading = read_problem(problem, box=shape, alphabet=alphabet, column=column)
        facts = write_parts(
            reading.problem, output, reading.stack, depth=depth, files=files, engine=engine
        )
        return print_facts(facts, as_json)

    exit_with(command)


@app.command()
def merge(
    results: Annotated[
        list[str],
        typer.Argument(metavar="RESULT...", help="What count --stacks PART --json printed."),
    ],
    as_json: Json = False,
) -> None:
    """Add up the counts of the parts of one split; say what is missing or doubled."""

    def command() -> int:
        from batchsolve.runs.job_array import merge_results

        facts = merge_results(results)
        print_facts(facts, as_json)
        return 0 if facts["complete"] else EXIT_INCOMPLETE

    exit_with(command)


def print_facts(facts: dict[str, Any], as_json: bool) -> int:
    """Print facts, a line each or as JSON."""
    if as_json:
        print(json.dumps(facts))
    else:
        for name, value in facts.items():
            shown = f"{value:,}" if isinstance(value, int) and value is not True else value
            print(f"{name}: {shown}")
    return 0
