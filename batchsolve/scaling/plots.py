"""Pictures of a scaling experiment, with matplotlib (the extra ``plot``)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from batchsolve.scaling import fits as curves
from batchsolve.scaling.doubts import is_too_short
from batchsolve.scaling.experiment import Experiment, Series, short_name
from batchsolve.scaling.fits import Fit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from batchsolve.scaling.forecast import Forecast

HOW_TO_GET = "pip install 'batchsolve[plot]'"
MOST_BARS = 3000  # of a Gantt chart; more are no longer seen
WIDTH, HEIGHT = 5.0, 3.4  # inches, so that the text is legible on a phone
LINE = 0.16  # inches that a line of the legend takes


def available() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw_all(
    experiment: Experiment, forecasts: list[Forecast], home: Path
) -> list[tuple[str, str]]:
    """Draw every picture that the experiment has data for, as PNG and as SVG.

    Parameters
    ----------
    experiment : Experiment
    forecasts : list of Forecast
    home : Path
        Where to write.

    Returns
    -------
    list of (str, str)
        The name of each picture's files, and what it shows.
    """
    import matplotlib

    matplotlib.use("Agg")
    drawn = []
    for name, title, figure in _figures(experiment, forecasts):
        if figure is None:
            continue
        figure.savefig(home / f"{name}.png", dpi=150)
        # neither a date nor random names: the same data give the same file
        with matplotlib.rc_context({"svg.hashsalt": "batchsolve"}):
            figure.savefig(home / f"{name}.svg", metadata={"Date": None})
        drawn.append((name, title))
    return drawn


def _figures(
    experiment: Experiment, forecasts: list[Forecast]
) -> list[tuple[str, str, Figure | None]]:
    series = experiment.series()
    pictures = [
        ("speedup", "Speed-up", speedup_figure(series)),
        ("efficiency", "Efficiency", efficiency_figure(series)),
        ("depth", "Time against split depth", depth_figure(series)),
        ("sizes", "How long subproblems take", sizes_figure(experiment)),
        ("gantt", "What the workers did", gantt_figure(experiment)),
    ]
    for k, found in enumerate(forecasts, 1):
        title = f"Forecast: {short_name(found.name)}"
        pictures.append((f"forecast{k}", title, forecast_figure(found)))
    return pictures


def fits(series: Series) -> list[Fit]:
    """Return the curves that can be fitted to a series."""
    if not curves.available() or is_too_short(series):
        return []
    speedups = series.speedups()
    workers, values = list(speedups), list(speedups.values())
    found = [curves.fit(law, workers, values) for law in curves.LAWS]
    return [fit for fit in found if fit is not None]


def _new(title: str, x: str, y: str) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    return figure, axes


def _explain(figure: Figure, axes: Any) -> None:
    """Write the legend below the picture, and make room for it."""
    lines, names = axes.get_legend_handles_labels()
    figure.set_figheight(HEIGHT + LINE * len(names))
    figure.legend(lines, names, loc="outside lower left", fontsize=7.5, frameon=False)


def _scalable(series: list[Series]) -> list[Series]:
    return [one for one in series if len(one.workers) > 1 and not is_too_short(one)]


def speedup_figure(series: list[Series]) -> Figure | None:
    """Draw speed-up over workers: measured, ideal, and fitted curves."""
    series = _scalable(series)
    if not series:
        return None
    figure, axes = _new("Speed-up", "workers", "times one worker")
    most = max(max(one.workers) for one in series)
    line = np.linspace(1, most, 200)
    axes.plot(line, line, color="0.6", label="ideal")
    for k, one in enumerate(series):
        speedups = one.speedups()
        color = f"C{k % 10}"
        axes.plot(list(speedups), list(speedups.values()), "o", color=color, label=one.name)
        for fit, style in zip(fits(one), ("--", ":"), strict=False):
            numbers = ", ".join(f"{n} {v:.3g}" for n, v in fit.parameters.items())
            label = f"{fit.law}: {numbers}" if len(series) <= 3 else None
            axes.plot(line, fit.speedup(line), style, color=color, label=label)
    axes.set_ylim(bottom=0)
    axes.set_xticks(sorted({jobs for one in series for jobs in one.workers}))
    _explain(figure, axes)
    return figure


def efficiency_figure(series: list[Series]) -> Figure | None:
    """Draw speed-up over the number of workers."""
    series = _scalable(series)
    if not series:
        return None
    figure, axes = _new("Efficiency", "workers", "speed-up / workers")
    axes.axhline(1, color="0.6", label="ideal")
    for one in series:
        speedups = one.speedups()
        shares = [value / jobs for jobs, value in speedups.items()]
        axes.plot(list(speedups), shares, "o-", label=one.name)
    axes.set_ylim(bottom=0)
    axes.set_xticks(sorted({jobs for one in series for jobs in one.workers}))
    _explain(figure, axes)
    return figure


def depth_figure(series: list[Series]) -> Figure | None:
    """Draw the time over the split depth, a line for every number of workers."""
    lines: dict[str, dict[int | None, float]] = {}
    for one in series:
        run = one.first
        if run.kind == "strong":
            for jobs in one.workers:
                name = f"{short_name(run.problem)}, {run.engine}, {run.backend}, {jobs} workers"
                lines.setdefault(name, {})[run.split_depth] = one.wall(jobs)
    lines = {name: line for name, line in lines.items() if len(line) > 1}
    if not lines:
        return None
    figure, axes = _new("Time against split depth", "split depth", "seconds")
    depths = sorted({depth for line in lines.values() for depth in line if depth is not None})
    auto = max(depths, default=-1) + 1
    for k, (name, line) in enumerate(lines.items()):
        color = f"C{k % 10}"
        fixed = sorted((depth, wall) for depth, wall in line.items() if depth is not None)
        axes.plot(*zip(*fixed, strict=True), "o-", color=color, label=name)
        if None in line:
            axes.plot([auto], [line[None]], "s", color=color)
    axes.set_xticks([*depths, auto], [*map(str, depths), "auto"])
    axes.set_yscale("log")
    _explain(figure, axes)
    return figure


def sizes_figure(experiment: Experiment) -> Figure | None:
    """Draw how many tasks took how long, both axes logarithmic."""
    seconds: dict[str, list[float]] = {}
    for run, log in zip(experiment.runs, experiment.logs, strict=True):
        name = f"{short_name(run.problem)}, {run.jobs} workers"
        seconds.setdefault(name, []).extend(log.of_workers()[1].tolist())
    positive = {name: np.array(s) for name, s in seconds.items() if max(s, default=0) > 0}
    if not positive:
        return None
    figure, axes = _new("How long subproblems take", "seconds of a task", "tasks")
    low = min(s[s > 0].min() for s in positive.values())
    high = max(s.max() for s in positive.values())
    bins = np.geomspace(low * 0.99, high * 1.01, 40)
    for name, values in positive.items():
        axes.hist(values, bins, histtype="step", label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    _explain(figure, axes)
    return figure


def gantt_figure(experiment: Experiment) -> Figure | None:
    """Draw when each worker was busy, in the run with the most workers."""
    run = experiment.widest()
    log = experiment.logs[experiment.runs.index(run)]
    if not log.begin:
        return None
    figure, axes = _new(
        f"Workers of run {run.run}: {short_name(run.problem)}, {run.jobs} workers",
        "seconds",
        "worker",
    )
    begin, seconds, worker = map(np.array, (log.begin, log.seconds, log.worker))
    if begin.size > MOST_BARS:
        keep = np.argsort(seconds)[-MOST_BARS:]
        begin, seconds, worker = begin[keep], seconds[keep], worker[keep]
        axes.set_xlabel(f"seconds (the {MOST_BARS:,} longest of {len(log.begin):,} tasks)")
    for number in np.unique(worker).tolist():
        mine = worker == number
        bars = list(zip(begin[mine].tolist(), seconds[mine].tolist(), strict=True))
        colors = ["0.4"] if number < 0 else ["C0", "C9"]
        axes.broken_barh(bars, (number - 0.4, 0.8), facecolors=colors, rasterized=True)
    numbers = sorted(set(worker.tolist()))
    if len(numbers) <= 24:
        names = ["master" if number < 0 else str(number) for number in numbers]
        axes.set_yticks(numbers, names)
    axes.set_xlim(left=0)
    return figure


def forecast_figure(found: Forecast) -> Figure:
    """Draw simulated efficiency over workers, beside what was measured."""
    title = f"Forecast: {short_name(found.name)}"
    figure, axes = _new(title, "workers", "efficiency")
    workers = [point.workers for point in found.curve]
    simulated = [point.efficiency for point in found.curve]
    axes.plot(workers, simulated, ".-", label="simulated, automatic settings")
    measured = [
        (check.run.jobs, found.nodes / found.costs.rate / (check.run.jobs * check.measured))
        for check in found.checks
        if check.run.split_depth is None
    ]
    if measured:
        axes.plot(*zip(*measured, strict=True), "kx", label="measured")
    names = list(found.choices[0].what_if)[1:] if found.choices else []
    for name in names:
        points = [(c.workers, c.what_if[name].efficiency) for c in found.choices]
        axes.plot(*zip(*points, strict=True), "o", fillstyle="none", label=name)
    axes.axhline(0.9, color="0.6", linestyle=":")
    axes.set_xscale("log", base=2)
    axes.set_ylim(0, 1.1)
    _explain(figure, axes)
    return figure
