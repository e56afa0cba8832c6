"""``batchsolve scale``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from batchsolve.cli import command
from batchsolve.cli.options import Puzzles, Quiet, Session, Written, notation_settings
from batchsolve.cli.terminal import interrupts
from batchsolve.core.interrupts import check_interrupt
from batchsolve.errors import InputError, WorkersError, counted, printable
from batchsolve.settings import MOST_FORECAST_WORKERS, MOST_LATENCY, Plan, setting
from batchsolve.settings.arguments import whole_number
from batchsolve.settings.keywords import NotationFields

if TYPE_CHECKING:
    from batchsolve.scaling.experiment import Experiment
    from batchsolve.scaling.measure import Workload


@dataclass(frozen=True)
class ForecastOptions:
    """The search that a forecast simulates.

    Attributes
    ----------
    forecast_workers : sequence of int, optional
        Simulate the search on these numbers of workers, such as 1024,100000; up to 250,000.
    latency : float
        Forecast: seconds a network adds to a task.
    """

    forecast_workers: tuple[int, ...] | None = setting(metavar="LIST", heading="Search")
    latency: float = setting(0.0, metavar="S", heading="Search")

    def __post_init__(self) -> None:
        if not 0 <= self.latency <= MOST_LATENCY:
            raise InputError(f"--latency is 0 to {MOST_LATENCY:,} seconds, not {self.latency}")
        for workers in self.forecast_workers or ():
            whole_number("--forecast-workers", workers, 1, MOST_FORECAST_WORKERS)
        if self.latency and not self.forecast_workers:
            raise InputError("--latency is for a forecast; give it --forecast-workers")


@command
def scale(
    problems: Sequence[str],
    /,
    output: Written,
    *,
    plan: Plan,
    weak: int | None = None,
    by: str | None = None,
    wanted: ForecastOptions,
    resume: bool = False,
    puzzles: Puzzles,
    session: Quiet,
) -> int:
    """Measure how searches scale with the number of workers.

    It runs every combination of jobs, split depths, backends and engines --repeat times. The
    directory holds tables of all runs and tasks, pictures, and a report in one HTML file.

    Input
    -----
    problems : PROBLEM...
        Problems as of count, each searched alone; with --weak also a corpus.

    Search
    ------
    weak : N
        Weak scaling: for each worker N rows of the corpus, or N times the problem.
    by : NAME
        With --weak: measure the rows of each value of this column apart.

    Output
    ------
    output : DIR
        A new directory for the results.
    resume
        Go on with an interrupted experiment.

    Examples
    --------
    batchsolve scale queens:13 --jobs 1,2,4 -o scaling
    batchsolve scale puzzles.csv --weak 5000 --jobs 1,2 -o weak

    Exit codes
    ----------
    0
        all runs were made
    2
        runs of one problem that disagree
    """
    from batchsolve.scaling import experiment as experiments
    from batchsolve.scaling.measure import check_plan, read_workloads, run_plan

    if weak is not None and weak < 1:
        raise InputError(f"--weak is 1 or more, not {weak}")
    if by is not None and weak is None:
        raise InputError("--by is for the rows of a corpus; give their number with --weak")
    if weak is not None and wanted.forecast_workers:
        raise InputError("a forecast simulates one problem; leave out --weak or --forecast-workers")
    problems, notation = list(dict.fromkeys(problems)), notation_settings(puzzles)
    workloads = [one for text in problems for one in read_workloads(text, weak, by, **notation)]
    check_plan(workloads, plan)
    home = experiments.directory_for(output, resume)
    planned = {"problems": problems, "weak": weak, "by": by, **notation, **asdict(plan)}
    for workload in workloads:  # a file may have changed before the experiment is resumed
        fingerprint = workload.problem.fingerprint[:8] + workload.stacks.fingerprint
        planned[f"contents of {workload.name}"] = fingerprint
    about = experiments.about(sys.argv[1:], planned)
    experiment = experiments.begin_experiment(home, about)
    with interrupts():
        try:
            for run, log in run_plan(workloads, plan, experiment.runs):
                experiment.runs.append(run)
                experiment.logs.append(log)
                experiments.write_experiment(home, experiment)
                check_interrupt()
                session.note(run)
        except (KeyboardInterrupt, WorkersError) as error:
            n_runs = counted(len(experiment.runs), "run")
            error.add_note(
                f"{n_runs} made so far; go on with --resume, or draw the report of these: "
                f"batchsolve report {home}"
            )
            raise
        _report(home, experiment, workloads, wanted, session)
    return 0


@command
def report(directory: str, /, wanted: ForecastOptions, *, session: Quiet) -> int:
    """Draw the report of a scaling experiment again.

    An interrupted experiment has a report of its runs so far. A forecast reads problems as the
    experiment did.

    Input
    -----
    directory : DIR
        The results of scale, complete or not.

    Examples
    --------
    batchsolve report scaling --forecast-workers 64,1024

    Exit codes
    ----------
    0
        the report was written
    """
    from batchsolve.scaling.experiment import read_experiment
    from batchsolve.scaling.measure import read_workloads

    experiment = read_experiment(directory)
    if not experiment.runs:
        raise InputError(f"{directory}: no run was made yet; go on with scale --resume")
    more, plan = wanted.forecast_workers or (), experiment.about.get("plan", {})
    names = dict.fromkeys(run.problem for run in experiment.runs if run.kind == "strong")
    if more and not names:
        _say("no forecast: it needs runs of one problem, and these are of weak scaling")
    with interrupts():
        notation = {name: plan.get(name) for name in NotationFields.__annotations__}
        workloads = [one for name in names if more for one in read_workloads(name, **notation)]
        _report(Path(directory), experiment, workloads, wanted, session)
    return 0


def _report(
    home: Path,
    experiment: Experiment,
    workloads: list[Workload],
    wanted: ForecastOptions,
    session: Session,
) -> None:
    """Simulate the workloads on more workers, write the report, and print doubts about the runs."""
    from batchsolve.scaling.report import HOW_TO_GET, can_draw, write_report
    from batchsolve.scaling.simulation import forecast
    from batchsolve.scaling.speedup import can_fit, doubts

    more, forecasts = wanted.forecast_workers or (), []
    for workload in workloads if more else []:
        session.note(f"batchsolve: simulating {workload.name} …")
        simulated, left_out = forecast(workload, experiment, more, latency=wanted.latency)
        forecasts += simulated
        for reason in left_out:
            _say(reason)  # even if quiet, because the user asked for the forecast
    path = write_report(home, experiment, forecasts)
    for series in experiment.series():
        for _, doubt in doubts(series):
            session.note(f"batchsolve: {series.name}: {doubt}")
    if not (can_draw() and can_fit()):
        session.note(f"batchsolve: no pictures or no curves; they need {HOW_TO_GET}")
    if not session.quiet:
        print(printable(str(path)))


def _say(message: str) -> None:
    print(printable(f"batchsolve: {message}"), file=sys.stderr)
