"""``batchsolve scale``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from batchsolve.cli.commands import command
from batchsolve.cli.options import Address, Budget, Puzzles, Quiet, how_written, option
from batchsolve.cli.terminal import interrupts, told_when_compiling
from batchsolve.errors import InputError
from batchsolve.settings import SearchSettings

if TYPE_CHECKING:
    from batchsolve.scaling.measure import Run


MOST_NUMBERS = 1000  # in a list


def numbers(text: str, what: str) -> tuple[int, ...]:
    """Return the numbers of a list such as ``1,2,4..8``.

    Examples
    --------
    >>> numbers("1,4..6", "--jobs")
    (1, 4, 5, 6)
    """
    found: list[int] = []
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        ends = (first, last if dots else first)
        if not all(end.isascii() and end.isdecimal() and len(end) < 10 for end in ends):
            raise typer.BadParameter(f"{what}: {part!r} is no number; write 1,2,4 or 1..4")
        more = range(int(ends[0]), int(ends[1]) + 1)
        if not more:
            raise typer.BadParameter(f"{what}: {part!r} goes down; write {ends[1]}..{ends[0]}")
        if len(found) + len(more) > MOST_NUMBERS:
            raise typer.BadParameter(
                f"{what}: {part!r} is more than {MOST_NUMBERS} runs; name some"
            )
        found += more
    return tuple(dict.fromkeys(found))


def depths(text: str) -> tuple[int | None, ...]:
    """Return the depths of a list such as ``0..3,auto``; None is automatic.

    Examples
    --------
    >>> depths("0..2,auto")
    (0, 1, 2, None)
    """
    found: list[int | None] = []
    for part in text.split(","):
        found += [None] if part.strip() == "auto" else numbers(part, "--split-depth")
    return tuple(dict.fromkeys(found))


def names(text: str) -> tuple[str, ...]:
    """Return the names of a list such as ``threading,loky``."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",")))


@command(
    epilog="Exit codes: 0 all runs were made; 2 wrong usage, runs of one problem that disagree, a "
    "file that cannot be read or written, or no worker left; 130 interrupted, 143 terminated."
)
def scale(
    problems: Annotated[
        list[str],
        typer.Argument(
            metavar="PROBLEM...",
            help="As for count; each is searched alone. With --weak also a corpus.",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="DIR", help="A new directory for the results.")
    ],
    jobs: Annotated[
        str | None,
        typer.Option(
            "--jobs",
            "-j",
            metavar="LIST",
            help="Workers, such as 1,2,4..8; 1,2 by default, but all of a cluster.",
        ),
    ] = None,
    split_depth: Annotated[
        str, typer.Option("--split-depth", metavar="LIST", help="Depths, such as 0..8,auto.")
    ] = "auto",
    backend: Annotated[
        str, typer.Option("--backend", metavar="LIST", help="Backends, such as threading,loky.")
    ] = "threading",
    address: Address = None,
    engine: Annotated[
        str, typer.Option("--engine", metavar="LIST", help="Engines, such as auto,dlx.")
    ] = "auto",
    repeat: Annotated[int, typer.Option(metavar="N", help="Runs of every combination.")] = 3,
    weak: Annotated[
        int | None,
        typer.Option(
            "--weak",
            metavar="N",
            help="Weak scaling: N rows of the corpus, or N times the problem, for each worker.",
        ),
    ] = None,
    budget: Budget = None,
    time_limit: Annotated[
        float | None, option(SearchSettings, "time_limit", help="Stop each run after S seconds.")
    ] = None,
    forecast_workers: Annotated[
        str | None,
        typer.Option(
            "--forecast-workers",
            metavar="LIST",
            help="Simulate the search on so many workers, such as 1024,100000.",
        ),
    ] = None,
    latency: Annotated[
        float,
        typer.Option("--latency", metavar="S", help="Forecast: seconds a network adds to a task."),
    ] = 0.0,
    *,
    puzzles: Puzzles,
    quiet: Quiet = False,
) -> int:
    """Measure how searches scale with workers; write tables, pictures and a report."""
    workers, levels = _workers(jobs, address), depths(split_depth)
    more = numbers(forecast_workers, "--forecast-workers") if forecast_workers else ()

    from batchsolve.scaling.experiment import (
        Experiment,
        about,
        new_directory,
        write_experiment,
    )
    from batchsolve.scaling.forecast import forecast
    from batchsolve.scaling.measure import Plan, read_workload, run_plan
    from batchsolve.scaling.plots import HOW_TO_GET, available
    from batchsolve.scaling.report import write_report

    if weak is not None and weak < 1:
        raise InputError(f"--weak is 1 or more, not {weak}")
    if weak is not None and more:
        raise InputError("a forecast is of one problem: leave out --weak, or the forecast")
    if not latency >= 0:
        raise InputError(f"--latency is 0 seconds or more, not {latency}")
    plan = Plan(
        jobs=workers,
        split_depths=levels,
        backends=names(backend),
        engines=names(engine),
        address=address,
        repeat=repeat,
        budget=budget,
        time_limit=time_limit,
    )
    workloads = [
        read_workload(text, weak, **how_written(puzzles)) for text in dict.fromkeys(problems)
    ]
    home = new_directory(output)
    facts = about(sys.argv[1:])

    def tell(run: Run) -> None:
        check()
        _tell(run, quiet)

    with told_when_compiling(quiet), interrupts() as check:
        made = list(run_plan(workloads, plan, tell))
    experiment = Experiment([run for run, _ in made], [log for _, log in made], facts)
    write_experiment(home, experiment)
    forecasts = []
    if more:
        for workload in workloads:
            if not quiet:
                print(f"batchsolve: simulating {workload.name} …", file=sys.stderr)
            forecasts += forecast(workload, experiment, more, latency=latency)
    report = write_report(home, experiment, forecasts)
    if not quiet:
        if not available():
            print(f"batchsolve: no pictures; they need {HOW_TO_GET}", file=sys.stderr)
        print(report)
    return 0


def _workers(jobs: str | None, address: str | None) -> tuple[int | None, ...]:
    if jobs is None and address is not None:
        return (None,)
    return numbers(jobs or "1,2", "--jobs")


def _tell(run: Run, quiet: bool) -> None:
    if quiet:
        return
    depth = "auto" if run.split_depth is None else run.split_depth
    print(
        f"{run.problem}: {run.engine}, {run.backend}, {run.jobs} workers, depth {depth}: "
        f"{run.wall:.3f} s, {run.nodes:,} nodes, idle {run.idle_share:.1%}",
        file=sys.stderr,
    )
