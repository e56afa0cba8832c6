"""Pictures of a scaling experiment, with matplotlib (the extra ``plot``)."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from batchsolve.engines.choice import visits_the_same_nodes
from batchsolve.errors import counted
from batchsolve.scaling import drawing, fits as curves
from batchsolve.scaling.doubts import kinds_of_doubt, why_no_speedup
from batchsolve.scaling.drawing import COLORS, DARK_GREY, GREY, MARKERS, Label, Range, Style
from batchsolve.scaling.experiment import Experiment, Series, short_name
from batchsolve.scaling.fits import Fit
from batchsolve.scaling.task_plots import gantt_figure, sizes_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from batchsolve.scaling.forecast import Forecast

HOW_TO_GET = "pip install 'batchsolve[plot]'"
MOST_LINEAR = 8  # largest ratio of greatest to least value on an axis that begins at 0
DASHES = {"Amdahl": ("--", "╌"), "Universal Scalability": (":", "┈")}  # style of line and label
BARS = "points: medians; bars: range of the repeats"
MOST_NAMED = 3  # series in a note
TINY = 1e-9  # smaller parameters are shown as 0
GOOD = 0.9  # the efficiency that a reference line marks
IDEAL = Style(GREY, "", DARK_GREY)


def available() -> bool:
    """Return True if matplotlib is installed."""
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
        The folder to write to.

    Returns
    -------
    list of (str, str)
        The name of each picture's files, and its title.
    """
    import matplotlib

    matplotlib.use("Agg")
    drawn = []
    for name, title, figure in _figures(experiment, forecasts):
        if figure is not None:
            drawing.save(figure, home / f"{name}.png")
            drawing.save(figure, home / f"{name}.svg")
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
        ("sizes", "Task durations", sizes_figure(experiment)),
        ("gantt", "Worker timeline", gantt_figure(experiment)),
    ]
    for k, found in enumerate(forecasts, 1):
        title = f"Forecast: {short_name(found.name)}"
        pictures.append((f"forecast{k}", title, forecast_figure(found)))
    return pictures


def fits(series: Series) -> list[Fit]:
    """Return the curves that can be fitted to a series."""
    if not curves.available() or why_no_speedup(series):
        return []
    speedups = series.speedups()
    workers, values = list(speedups), list(speedups.values())
    found = [curves.fit(law, workers, values) for law in curves.LAWS]
    return [fit for fit in found if fit is not None]


def speedup_ranges(series: Series) -> dict[int, Range]:
    """Return the least and the greatest speed-up of a run at every number of workers."""
    by_nodes = visits_the_same_nodes(series.first.engine)

    def speeds(jobs: int) -> list[float]:
        return [(r.nodes if by_nodes else r.stacks) / r.wall for r in series.at(jobs)]

    least = series.workers[0]
    unit = statistics.median(speeds(least)) / least
    return {jobs: (min(speeds(jobs)) / unit, max(speeds(jobs)) / unit) for jobs in series.workers}


def speedup_figure(series: list[Series]) -> Figure | None:
    """Draw speed-up against workers: measured with ranges, ideal, and fitted curves."""
    drawn = _scalable(series)
    if not drawn:
        return None
    names, common = _names(drawn)
    found = [fits(one) for one in drawn]
    brackets = "in brackets: 95 % intervals" if any(found) else ""
    figure, (axes,) = drawing.new_figure("Speed-up", _lines(common, _bars(drawn), brackets))
    most = max(max(one.workers) for one in drawn)
    line = np.linspace(1, most, 200)
    axes.plot(line, line, color=GREY, label="ideal")
    labels = [Label("ideal", most, most, IDEAL)]
    for k, (one, name) in enumerate(zip(drawn, names, strict=True)):
        text, style = _told(k, names, one)
        points = one.speedups()
        drawing.draw_measured(axes, points, speedup_ranges(one), style, name)
        for fit in found[k]:
            dash, sample = DASHES[fit.law]
            numbers = fit.speedup(line)
            axes.plot(line, numbers, dash, color=style.color, alpha=style.alpha, label=fit.law)
            text += f"\n{sample} {fit.law}" + _numbers(fit)
        end = max(points)
        labels.append(Label(text, end, points[end], style))
    drawing.begin_at_zero(axes)
    _name_workers(axes, series, drawn, "times one worker")
    drawing.write_labels(axes, labels)
    return figure


def efficiency_figure(series: list[Series]) -> Figure | None:
    """Draw efficiency, the speed-up divided by the number of workers, with ranges."""
    drawn = _scalable(series)
    if not drawn:
        return None
    names, common = _names(drawn)
    figure, (axes,) = drawing.new_figure("Efficiency", _lines(common, _bars(drawn)))
    axes.axhline(1, color=GREY, label="ideal")
    most = max(max(one.workers) for one in drawn)
    labels = [Label("ideal", most, 1.0, IDEAL)]
    for k, (one, name) in enumerate(zip(drawn, names, strict=True)):
        text, style = _told(k, names, one)
        shares = {jobs: value / jobs for jobs, value in one.speedups().items()}
        ranges = {j: (low / j, high / j) for j, (low, high) in speedup_ranges(one).items()}
        drawing.draw_measured(axes, shares, ranges, style, name, joined=list(shares))
        end = max(shares)
        labels.append(Label(text, end, shares[end], style))
    drawing.begin_at_zero(axes)
    _name_workers(axes, series, drawn, "speed-up / workers")
    drawing.write_labels(axes, labels)
    return figure


def depth_figure(series: list[Series]) -> Figure | None:
    """Draw time against split depth, with ranges and a line for every number of workers."""
    lines: dict[tuple[str, ...], dict[int | None, Series]] = {}
    for one in series:
        run = one.first
        if run.kind == "strong":
            for jobs in one.workers:
                key = (short_name(run.problem), run.engine, run.backend, counted(jobs, "worker"))
                lines.setdefault(key, {})[run.split_depth] = Series(one.at(jobs))
    lines = {key: line for key, line in lines.items() if len(line) > 1}
    if not lines:
        return None
    names, common = drawing.told_apart(list(lines))
    subtitle = _lines(common, _bars(one for line in lines.values() for one in line.values()))
    figure, (axes,) = drawing.new_figure("Time against split depth", subtitle)
    depths = sorted({depth for line in lines.values() for depth in line if depth is not None})
    auto = max(depths) + 1
    labels = []
    for k, (name, line) in enumerate(zip(names, lines.values(), strict=True)):
        at = {auto if depth is None else depth: one for depth, one in line.items()}
        walls = {place: [run.wall for run in at[place].runs] for place in sorted(at)}
        points = {place: statistics.median(times) for place, times in walls.items()}
        ranges = {place: (min(times), max(times)) for place, times in walls.items()}
        text, style = _told(k, names, *at.values())
        fixed = [place for place in points if place != auto]
        drawing.draw_measured(axes, points, ranges, style, name, joined=fixed)
        end = max(points)
        labels.append(Label(text, end, points[end], style))
    low, high = axes.dataLim.y0, axes.dataLim.y1
    if high > MOST_LINEAR * low:
        drawing.make_logarithmic(axes, "y")
    else:
        drawing.begin_at_zero(axes)
    axes.set_xticks([*depths, auto], [*map(str, depths), "auto"])
    drawing.name_axes(axes, "split depth", "seconds")
    drawing.write_labels(axes, labels)
    return figure


def forecast_figure(found: Forecast) -> Figure:
    """Draw simulated efficiency against workers, beside measurements."""
    name, _, settings = found.name.partition(", ")
    title = f"Forecast: {short_name(name)}"
    figure, (axes,) = drawing.new_figure(title, settings)
    workers = [point.workers for point in found.curve]
    simulated = [point.efficiency for point in found.curve]
    axes.plot(workers, simulated, ".-", color=COLORS[0], label="simulated, automatic settings")
    measured = [
        (check.run.jobs, found.nodes / found.costs.rate / (check.run.jobs * check.measured))
        for check in found.checks
        if check.run.split_depth is None
    ]
    if measured:
        axes.plot(*zip(*measured, strict=True), "kx", markersize=8, label="measured")
    names = list(found.choices[0].what_if)[1:] if found.choices else []
    for k, name in enumerate(names, 1):
        points = [(c.workers, c.what_if[name].efficiency) for c in found.choices]
        marks = {"color": COLORS[k], "marker": MARKERS[k], "markersize": 5 + 2 * k}
        axes.plot(*zip(*points, strict=True), linestyle="", fillstyle="none", label=name, **marks)
    axes.axhline(GOOD, color=GREY, linestyle=":", label=f"{GOOD:.0%} of all workers' time")
    drawing.make_logarithmic(axes, "x", base=8)
    axes.set_ylim(0, 1.1 * max(1.0, axes.dataLim.y1))
    drawing.name_axes(axes, "workers", "efficiency")
    drawing.write_legend(figure, axes)
    return figure


def _scalable(series: list[Series]) -> list[Series]:
    return [one for one in series if len(one.workers) > 1 and not why_no_speedup(one)]


def _names(series: list[Series]) -> tuple[list[str], str]:
    """Return a name for each series by its differences, and the properties that all share."""
    runs = [one.first for one in series]
    depths = ["auto" if run.split_depth is None else run.split_depth for run in runs]
    return drawing.told_apart(
        [
            (
                short_name(run.problem),
                "weak scaling" if run.kind == "weak" else "",
                run.engine,
                run.backend,
                f"depth {depth}",
            )
            for run, depth in zip(runs, depths, strict=True)
        ]
    )


def _bars(series: Iterable[Series]) -> str:
    """Return the legend of points and bars if a run was repeated, else an empty text."""
    return BARS if any(len(one.at(jobs)) > 1 for one in series for jobs in one.workers) else ""


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _told(k: int, names: list[str], *series: Series) -> tuple[str, Style]:
    """Return the label and the style of the k-th line; a doubtful one is pale and says why."""
    kinds = dict.fromkeys(kind for one in series for kind in kinds_of_doubt(one))
    why = f"doubtful: {', '.join(kinds)}" if kinds else ""
    return drawing.wrapped(_lines(names[k], why)), Style.of(k, len(names), pale=bool(kinds))


def _numbers(fit: Fit) -> str:
    """Return the parameters of a curve with their intervals, each on its own lines."""
    return "".join(
        f"\n    {name} {_short(value)}\n    ({_short(low)} – {_short(high)})"
        for (name, value), (low, high) in zip(
            fit.parameters.items(), fit.intervals.values(), strict=True
        )
    )


def _short(value: float) -> str:
    return "0" if value < TINY else f"{value:.2g}"


def _name_workers(axes: Axes, series: list[Series], drawn: list[Series], y: str) -> None:
    """Name the axes of a picture against workers, and list the series that are left out."""
    axes.set_xticks(drawing.apart(sorted({jobs for one in drawn for jobs in one.workers})))
    left_out: dict[str, list[str]] = {}
    for one in series:
        why = why_no_speedup(one)
        if why and len(one.workers) > 1:
            left_out.setdefault(why, []).append(one.name)
    notes = []
    for why, names in left_out.items():
        which = "; ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} series"
        notes.append(f"Not drawn, because the runs are {why}: {which}")
    drawing.name_axes(axes, "workers", y, _lines(*notes))
