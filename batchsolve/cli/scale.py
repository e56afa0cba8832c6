"""``batchsolve scale``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from click import BadParameter

from batchsolve.cli.commands import command
from batchsolve.cli.options import Address, Budget, Puzzles, Quiet, how_written, option_of
from batchsolve.cli.parameters import Argument, Option
from batchsolve.cli.terminal import interrupts
from batchsolve.errors import InputError, WorkersError, counted, printable
from batchsolve.interrupts import check_interrupt
from batchsolve.settings import (
    MOST_FORECAST_WORKERS,
    MOST_LATENCY,
    SearchSettings,
    whole_number,
)

if TYPE_CHECKING:
    from batchsolve.scaling.experiment import Experiment
    from batchsolve.scaling.measure import Workload


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
            raise BadParameter(f"{what}: {part!r} is no number; write 1,2,4 or 1..4")
        more = range(int(ends[0]), int(ends[1]) + 1)
        if not more:
            raise BadParameter(f"{what}: {part!r} goes down; write {ends[1]}..{ends[0]}")
        if len(found) + len(more) > MOST_NUMBERS:
            raise BadParameter(f"{what}: {part!r} is more than {MOST_NUMBERS} runs; name some")
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


ForecastWorkers = Annotated[
    str | None,
    Option(
        "--forecast-workers",
        metavar="LIST",
        help="Simulate the search on so many workers, such as 1024,100000; 250,000 at most.",
    ),
]
Latency = Annotated[
    float,
    Option("--latency", metavar="S", help="Forecast: seconds a network adds to a task."),
]


@command(
    examples=(
        "batchsolve scale queens:13 --jobs 1,2,4 -o scaling",
        "batchsolve scale puzzles.csv --weak 5000 --jobs 1,2 -o weak",
    ),
    epilog="Exit codes: 0 all runs were made; 2 wrong usage, runs of one problem that disagree, a "
    "file that cannot be read or written, or no worker left; 130 interrupted, 143 terminated.",
)
def scale(
    problems: Annotated[
        tuple[str, ...],
        Argument(
            metavar="PROBLEM...",
            help="As for count; each is searched alone. With --weak also a corpus.",
        ),
    ],
    output: Annotated[
        str, Option("--output", "-o", metavar="DIR", help="A new directory for the results.")
    ],
    jobs: Annotated[
        str | None,
        Option(
            "--jobs",
            "-j",
            metavar="LIST",
            help="Workers, such as 1,2,4..8; 1,2 by default, but all of a cluster.",
        ),
    ] = None,
    split_depth: Annotated[
        str, Option("--split-depth", metavar="LIST", help="Depths, such as 0..8,auto.")
    ] = "auto",
    backend: Annotated[
        str, Option("--backend", metavar="LIST", help="Backends, such as threading,loky.")
    ] = "threading",
    address: Address = None,
    engine: Annotated[
        str, Option("--engine", metavar="LIST", help="Engines, such as auto,dlx.")
    ] = "auto",
    repeat: Annotated[int, Option(metavar="N", help="Runs of every combination.")] = 3,
    weak: Annotated[
        int | None,
        Option(
            "--weak",
            metavar="N",
            help="Weak scaling: N rows of the corpus, or N times the problem, for each worker.",
        ),
    ] = None,
    budget: Budget = None,
    time_limit: Annotated[
        float | None, option_of(SearchSettings, "time_limit", help="Stop each run after S seconds.")
    ] = None,
    forecast_workers: ForecastWorkers = None,
    latency: Latency = 0.0,
    resume: Annotated[
        bool, Option("--resume", help="Go on with an experiment that was interrupted.")
    ] = False,
    *,
    puzzles: Puzzles,
    quiet: Quiet = False,
) -> int:
    """Measure how searches scale with the number of workers.

    Every combination of jobs, split depths, backends and engines is run several times. The
    directory holds tables of all runs and tasks, pictures, and a report in one HTML file.
    """
    workers, levels = _workers(jobs, address), depths(split_depth)
    more = _forecast_workers(forecast_workers, latency)

    from batchsolve.scaling.experiment import (
        Experiment,
        about,
        begin_experiment,
        directory_for,
        write_experiment,
    )
    from batchsolve.scaling.measure import Plan, read_workload, run_plan

    if weak is not None and weak < 1:
        raise InputError(f"--weak is 1 or more, not {weak}")
    if weak is not None and more:
        raise InputError("a forecast is of one problem: leave out --weak, or the forecast")
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
    several = list(dict.fromkeys(problems))
    workloads = [read_workload(text, weak, **how_written(puzzles)) for text in several]
    home = directory_for(output, resume)
    planned = {"problems": several, "weak": weak, **how_written(puzzles), **asdict(plan)}
    experiment = begin_experiment(home, Experiment([], [], about(sys.argv[1:], planned)))
    with interrupts():
        try:
            for run, log in run_plan(workloads, plan, experiment.runs):
                experiment.runs.append(run)
                experiment.logs.append(log)
                write_experiment(home, experiment)
                check_interrupt()
                if not quiet:
                    print(printable(str(run)), file=sys.stderr)
        except (KeyboardInterrupt, WorkersError) as error:
            n_runs = counted(len(experiment.runs), "run")
            error.add_note(
                f"{n_runs} made so far; go on with --resume, or have the report of these: "
                f"batchsolve report {home}"
            )
            raise
        _report(home, experiment, workloads if more else [], more, latency, quiet)
    return 0


@command(
    examples=("batchsolve report scaling --forecast-workers 64,1024",),
    epilog="Exit codes: 0 the report was written; 2 wrong usage, or a file that cannot be read or "
    "written; 130 interrupted, 143 terminated.",
)
def report(
    directory: Annotated[
        str, Argument(metavar="DIR", help="What scale has written, perhaps interrupted.")
    ],
    forecast_workers: ForecastWorkers = None,
    latency: Latency = 0.0,
    *,
    puzzles: Puzzles,
    quiet: Quiet = False,
) -> int:
    """Draw the report of a scaling experiment again.

    It is made from what was measured, also if the experiment was interrupted.
    """
    more = _forecast_workers(forecast_workers, latency)

    from batchsolve.scaling.experiment import read_experiment
    from batchsolve.scaling.measure import read_workload

    experiment = read_experiment(directory)
    if not experiment.runs:
        raise InputError(f"{directory}: no run was made yet; go on by scale with --resume")
    names = dict.fromkeys(run.problem for run in experiment.runs if run.kind == "strong")
    if more and not names:
        _say("no forecast: one is of one problem, and these runs are of weak scaling")
    with interrupts():
        workloads = [read_workload(name, **how_written(puzzles)) for name in names if more]
        _report(Path(directory), experiment, workloads, more, latency, quiet)
    return 0


def _forecast_workers(text: str | None, latency: float) -> tuple[int, ...]:
    """Return the numbers of workers to simulate, and check what is asked of a forecast."""
    if not 0 <= latency <= MOST_LATENCY:
        raise InputError(f"--latency is 0 to {MOST_LATENCY:,} seconds, not {latency}")
    found = numbers(text, "--forecast-workers") if text else ()
    for workers in found:
        whole_number("--forecast-workers", workers, 1, MOST_FORECAST_WORKERS)
    return found


def _report(
    home: Path,
    experiment: Experiment,
    workloads: list[Workload],
    more: tuple[int, ...],
    latency: float,
    quiet: bool,
) -> None:
    """Simulate the workloads on more workers, write the report, and say what is doubtful."""
    from batchsolve.scaling import fits, plots
    from batchsolve.scaling.doubts import doubts
    from batchsolve.scaling.forecast import forecast
    from batchsolve.scaling.report import write_report

    def say(what: str) -> None:
        if not quiet:
            _say(what)

    forecasts = []
    for workload in workloads:
        say(f"simulating {workload.name} …")
        found, left_out = forecast(workload, experiment, more, latency=latency)
        forecasts += found
        for what in left_out:
            _say(what)  # quiet or not, for it was asked for
    path = write_report(home, experiment, forecasts)
    for series in experiment.series():
        for doubt in doubts(series):
            say(f"{series.name}: {doubt}")
    if not (plots.available() and fits.available()):
        say(f"no pictures or no curves; they need {plots.HOW_TO_GET}")
    if not quiet:
        print(printable(str(path)))


def _say(what: str) -> None:
    print(printable(f"batchsolve: {what}"), file=sys.stderr)


def _workers(jobs: str | None, address: str | None) -> tuple[int | None, ...]:
    if jobs is None and address is not None:
        return (None,)
    return numbers(jobs or "1,2", "--jobs")
