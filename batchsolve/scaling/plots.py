"""Pictures of a scaling experiment, with matplotlib (the extra ``plot``)."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from batchsolve.errors import counted
from batchsolve.pictures import charts
from batchsolve.pictures.charts import COLORS, GREY, MARKERS, TEXT
from batchsolve.scaling.experiment import Experiment
from batchsolve.scaling.measure import of_workers
from batchsolve.scaling.speedup import Series, doubts, fits, hindrance, short_name, speedup_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from batchsolve.scaling.forecast import Forecast

HOW_TO_GET = "pip install 'batchsolve[plot]'"
MOST_LINEAR = 8  # largest ratio of greatest to least value on an axis that begins at 0
DASHES = {"Amdahl": "--", "Universal Scalability": ":"}
BARS = "points: medians; bars: range of the repeats"
INTERVALS = "points: medians; bars: 95 % intervals"
MOST_NAMED = 3  # series in a note
PANEL = 0.65  # the height of a histogram, in inches
GOOD = 0.9  # the efficiency that a reference line marks


def available() -> bool:
    """Return True if matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw_all(
    experiment: Experiment, forecasts: list[Forecast], home: Path
) -> list[tuple[str, str]]:
    """Draw all pictures for which there are data, as PNG, SVG and PDF.

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
    series = experiment.series()
    pictures = [
        ("speedup", "Speed-up", speedup_figure(series)),
        ("efficiency", "Efficiency", efficiency_figure(series)),
        ("depth", "Time against split depth", depth_figure(series)),
        ("sizes", "Task durations", sizes_figure(experiment)),
    ]
    for k, found in enumerate(forecasts, 1):
        title = f"Forecast: {short_name(found.name)}"
        pictures.append((f"forecast{k}", title, forecast_figure(found)))
    drawn = []
    for name, title, figure in pictures:
        if figure is not None:
            for form in ("png", "svg", "pdf"):
                charts.save(figure, home / f"{name}.{form}")
            drawn.append((name, title))
    return drawn


def speedup_figure(series: list[Series]) -> Figure | None:
    """Draw speed-up against workers: measured with intervals, ideal, and fitted curves."""
    return _against_workers(series, "Speed-up", "times one worker")


def efficiency_figure(series: list[Series]) -> Figure | None:
    """Draw efficiency, the speed-up divided by the number of workers, with intervals."""
    return _against_workers(series, "Efficiency", "speed-up / workers", per_worker=True)


def _against_workers(
    series: list[Series], title: str, y: str, *, per_worker: bool = False
) -> Figure | None:
    """Draw speed-up against workers with curves; or that of each worker, joined by lines."""
    drawn = [one for one in series if len(one.workers) > 1 and not hindrance(one)[0]]
    if not drawn:
        return None
    names, common = _names(drawn)
    found = [[] if per_worker else fits(one) for one in drawn]
    brackets = "in brackets: 95 % intervals" if any(found) else ""
    figure, (axes,) = charts.new_figure(title, _lines(common, _bars(drawn, INTERVALS), brackets))
    most = max(max(one.workers) for one in drawn)
    line = np.linspace(1, most, 200)
    if per_worker:
        axes.axhline(1, color=GREY, label="ideal")
    else:
        axes.plot(line, line, color=GREY, label="ideal")
    for k, one in enumerate(drawn):
        text, look = _label_of(k, names, one)
        what, rows = "efficiency" if per_worker else "speedup", speedup_rows(one)
        points = {row["workers"]: row[what] for row in rows}
        ends = [f"{what}_low", f"{what}_high"]
        ranges = {row["workers"]: tuple(row[end] or row[what] for end in ends) for row in rows}
        joined = one.workers if per_worker else ()
        charts.draw_measured(axes, points, ranges, look, text, joined)
        for fit in found[k]:
            numbers, law = fit.speedup(line), f"{fit.law}: {fit.numbers(2)}"
            axes.plot(line, numbers, DASHES[fit.law], label=law, **{**look, "marker": ""})
    charts.begin_at_zero(axes)
    _name_workers(axes, series, y)
    charts.write_legend(figure, axes)
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
    names, common = charts.distinct_names(list(lines))
    subtitle = _lines(common, _bars(one for line in lines.values() for one in line.values()))
    figure, (axes,) = charts.new_figure("Time against split depth", subtitle)
    depths = sorted({depth for line in lines.values() for depth in line if depth is not None})
    auto = max(depths) + 1
    for k, line in enumerate(lines.values()):
        at = {auto if depth is None else depth: one for depth, one in line.items()}
        walls = {place: [run.wall for run in at[place].runs] for place in sorted(at)}
        points = {place: statistics.median(times) for place, times in walls.items()}
        ranges = {place: (min(times), max(times)) for place, times in walls.items()}
        text, look = _label_of(k, names, *at.values())
        fixed = [place for place in points if place != auto]
        charts.draw_measured(axes, points, ranges, look, text, joined=fixed)
    low, high = axes.dataLim.y0, axes.dataLim.y1
    if high > MOST_LINEAR * low:
        charts.make_logarithmic(axes, "y")
    else:
        charts.begin_at_zero(axes)
    axes.set_xticks([*depths, auto], [*map(str, depths), "auto"])
    charts.name_axes(axes, "split depth", "seconds")
    charts.write_legend(figure, axes)
    return figure


def forecast_figure(found: Forecast) -> Figure:
    """Draw simulated efficiency against workers, beside measurements."""
    name, _, settings = found.name.partition(", ")
    title = f"Forecast: {short_name(name)}"
    figure, (axes,) = charts.new_figure(title, settings)
    curve = ((point["workers"], point["efficiency"]) for point in found.of("curve"))
    workers, simulated = zip(*curve, strict=True)
    axes.plot(workers, simulated, ".-", color=COLORS[0], label="simulated, automatic settings")
    measured = [
        (p["workers"], p["efficiency"] * p["simulated_seconds"] / p["measured_seconds"])
        for p in found.of("check")
        if p["measured_seconds"] and p["setting"] == "depth auto"
    ]
    if measured:
        axes.plot(*zip(*measured, strict=True), "kx", markersize=8, label="measured")
    variants: dict[str, list[tuple[int, float]]] = {}
    for point in found.of("what if"):
        variants.setdefault(point["setting"], []).append((point["workers"], point["efficiency"]))
    for k, (name, points) in enumerate(list(variants.items())[1:], 1):
        marks = {"color": COLORS[k], "marker": MARKERS[k], "markersize": 5 + 2 * k}
        axes.plot(*zip(*points, strict=True), linestyle="", fillstyle="none", label=name, **marks)
    axes.axhline(GOOD, color=GREY, linestyle=":", label=f"{GOOD:.0%} of all workers' time")
    charts.make_logarithmic(axes, "x", base=8)
    axes.set_ylim(0, 1.1 * max(1.0, axes.dataLim.y1))
    charts.name_axes(axes, "workers", "efficiency")
    charts.write_legend(figure, axes)
    return figure


def sizes_figure(experiment: Experiment) -> Figure | None:
    """Draw histograms of task durations, one below the other, with both axes logarithmic."""
    seconds: dict[tuple[str, ...], list[float]] = {}
    for run, log in zip(experiment.runs, experiment.logs, strict=True):
        key = (short_name(run.problem), run.engine, counted(run.jobs, "worker"))
        seconds.setdefault(key, []).extend(of_workers(log)["seconds"].tolist())
    positive = {key: np.array(s) for key, s in seconds.items() if max(s, default=0) > 0}
    if not positive:
        return None
    names, common = charts.distinct_names(list(positive))
    height = charts.AROUND + PANEL * len(names)
    figure, panels = charts.new_figure("Task durations", common, len(names), height)
    low = min(s[s > 0].min() for s in positive.values())
    high = max(s.max() for s in positive.values())
    bins = np.geomspace(low * 0.99, high * 1.01, 40)
    for axes, name, values in zip(panels, names, positive.values(), strict=True):
        axes.hist(values, bins, histtype="stepfilled", color=COLORS[0])
        axes.set(yscale="log", ylim=(0.7, None))  # so that a single task is visible
        charts.make_logarithmic(axes, "y", between=(1,))
        charts.write_above(axes, f"{name}: {counted(values.size, 'task')}")
    panels[-1].set(xscale="log", xlim=(bins[0], bins[-1]))
    charts.make_logarithmic(panels[-1], "x")
    charts.name_axes(panels[-1], "seconds of a task", "")
    figure.supylabel("tasks", fontsize=TEXT)
    return figure


def _names(series: list[Series]) -> tuple[list[str], str]:
    """Return a name for each series, made of its differences, and the common properties."""
    return charts.distinct_names(
        [
            (
                short_name(run.problem),
                "weak scaling" if run.kind == "weak" else "",
                run.engine,
                run.backend,
                f"depth {run.depth}",
            )
            for run in (one.first for one in series)
        ]
    )


def _bars(series: Iterable[Series], said: str = BARS) -> str:
    """Return the legend of points and bars if a run was repeated, else an empty text."""
    return said if any(len(one.at(jobs)) > 1 for one in series for jobs in one.workers) else ""


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _label_of(k: int, names: list[str], *series: Series) -> tuple[str, dict[str, Any]]:
    """Return the label and the look of the k-th line; a doubtful one is pale and has a reason."""
    kinds = dict.fromkeys(kind for one in series for kind, _ in doubts(one))
    why = f", doubtful: {', '.join(kinds)}" if kinds else ""
    return f"{names[k]}{why}", charts.look_of(k, pale=bool(kinds))


def _name_workers(axes: Axes, series: list[Series], y: str) -> None:
    """Name the axes of a picture against workers, and list the omitted series."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    left_out: dict[str, list[str]] = {}
    for one in series:
        why, _ = hindrance(one)
        if why and len(one.workers) > 1:
            left_out.setdefault(why, []).append(one.name)
    notes = []
    for why, names in left_out.items():
        which = "; ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} series"
        notes.append(f"Not drawn, because the runs are {why}: {which}")
    charts.name_axes(axes, "workers", y, _lines(*notes))
