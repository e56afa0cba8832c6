"""The report of a scaling experiment: pictures, and one self-contained HTML file.

Pictures are drawn with matplotlib (the extra ``plot``). The page is made of templates beside this;
pictures are embedded as data URIs, and tables scroll sideways on a narrow screen.
"""

from __future__ import annotations

import base64
import statistics
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from batchsolve.errors import counted
from batchsolve.formats.pictures import charts
from batchsolve.formats.pictures.charts import COLORS, GREY, MARKERS, TEXT
from batchsolve.formats.pictures.svg import filled, html_page, html_table, text_beside
from batchsolve.formats.whole_files import write_whole
from batchsolve.scaling import speedup
from batchsolve.scaling.experiment import Experiment, write_csv
from batchsolve.scaling.measure import of_workers
from batchsolve.scaling.simulation import Forecast, Point
from batchsolve.scaling.speedup import Series
from batchsolve.search.scheduler import Sizing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HOW_TO_GET = "pip install 'batchsolve[plot]'"
MOST_LINEAR = 8  # largest ratio of greatest to least value on an axis that begins at 0
DASHES = {"Amdahl": "--", "Universal Scalability": ":"}
BARS = "points: medians; bars: range of the repeats"
INTERVALS = "points: medians; bars: 95 % intervals"
MOST_NAMED = 3  # series in a note
PANEL = 0.65  # the height of a histogram, in inches
GOOD = 0.9  # the efficiency that a reference line marks


def can_draw() -> bool:
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
        ("efficiency", "Efficiency", speedup_figure(series, per_worker=True)),
        ("depth", "Time against split depth", depth_figure(series)),
        ("sizes", "Task durations", sizes_figure(experiment)),
    ]
    for k, forecast in enumerate(forecasts, 1):
        title = f"Forecast: {speedup.short_name(forecast.name)}"
        pictures.append((f"forecast{k}", title, forecast_figure(forecast)))
    drawn = []
    for name, title, figure in pictures:
        if figure is not None:
            for form in ("png", "svg", "pdf"):
                write_whole(home / f"{name}.{form}", charts.content(figure, form))
            drawn.append((name, title))
    return drawn


def speedup_figure(all_series: list[Series], *, per_worker: bool = False) -> Figure | None:
    """Draw speed-up against workers: measured with intervals, ideal, and fitted curves.

    Or that of each worker, the efficiency, joined by lines.
    """
    title, y = "Speed-up", "times one worker"
    if per_worker:
        title, y = "Efficiency", "speed-up / workers"
    drawn = [s for s in all_series if len(s.workers) > 1 and not speedup.hindrance(s)[0]]
    if not drawn:
        return None
    names, common = _names(drawn)
    curves = [[] if per_worker else speedup.fits(series) for series in drawn]
    brackets = "in brackets: 95 % intervals" if any(curves) else ""
    figure, (axes,) = charts.new_figure(title, _lines(common, _bars(drawn, INTERVALS), brackets))
    line = np.linspace(1, max(max(series.workers) for series in drawn), 200)
    if per_worker:
        axes.axhline(1, color=GREY, label="ideal")
    else:
        axes.plot(line, line, color=GREY, label="ideal")
    for k, series in enumerate(drawn):
        text, look = _label_of(k, names, series)
        column, rows = "efficiency" if per_worker else "speedup", speedup.rows_of(series)
        points = {row["workers"]: row[column] for row in rows}
        ends = [f"{column}_low", f"{column}_high"]
        ranges = {row["workers"]: tuple(row[end] or row[column] for end in ends) for row in rows}
        charts.draw_measured(axes, points, ranges, look, text, series.workers if per_worker else ())
        for fit in curves[k]:
            numbers, law = fit.speedup(line), f"{fit.law}: {fit.numbers(2)}"
            axes.plot(line, numbers, DASHES[fit.law], label=law, **{**look, "marker": ""})
    charts.begin_at_zero(axes)
    _name_workers(axes, all_series, y)
    charts.write_legend(figure, axes)
    return figure


def depth_figure(all_series: list[Series]) -> Figure | None:
    """Draw time against split depth, with ranges and a line for every number of workers."""
    lines: dict[tuple[str, ...], dict[int | None, Series]] = {}
    for series in all_series:
        run = series.first
        if run.kind == "strong":
            for jobs in series.workers:
                key = (series.problem, run.engine, run.backend, counted(jobs, "worker"))
                lines.setdefault(key, {})[run.split_depth] = Series(series.at(jobs))
    lines = {key: line for key, line in lines.items() if len(line) > 1}
    if not lines:
        return None
    names, common = charts.distinct_names(list(lines))
    subtitle = _lines(common, _bars(series for line in lines.values() for series in line.values()))
    figure, (axes,) = charts.new_figure("Time against split depth", subtitle)
    depths = sorted({depth for line in lines.values() for depth in line if depth is not None})
    auto = max(depths) + 1
    ticks: dict[int, str] = {}
    for k, line in enumerate(lines.values()):
        at = {auto if depth is None else depth: series for depth, series in line.items()}
        walls = {place: [run.wall for run in at[place].runs] for place in sorted(at)}
        points = {place: statistics.median(times) for place, times in walls.items()}
        ranges = {place: (min(times), max(times)) for place, times in walls.items()}
        ticks |= {place: str(series.first.depth) for place, series in at.items()}
        text, look = _label_of(k, names, *at.values())
        fixed = [place for place in points if place != auto]
        charts.draw_measured(axes, points, ranges, look, text, joined=fixed)
    low, high = axes.dataLim.y0, axes.dataLim.y1
    if high > MOST_LINEAR * low:
        charts.make_logarithmic(axes, "y")
    else:
        charts.begin_at_zero(axes)
    axes.set_xticks(list(ticks), list(ticks.values()))
    charts.name_axes(axes, "split depth", "seconds")
    charts.write_legend(figure, axes)
    return figure


def forecast_figure(forecast: Forecast) -> Figure:
    """Draw simulated efficiency against workers, beside measurements."""
    name, _, settings = forecast.name.partition(", ")
    figure, (axes,) = charts.new_figure(f"Forecast: {speedup.short_name(name)}", settings)
    curve = ((point["workers"], point["efficiency"]) for point in forecast.of("curve"))
    workers, simulated = zip(*curve, strict=True)
    axes.plot(workers, simulated, ".-", color=COLORS[0], label="simulated, automatic settings")
    measured = [
        (p["workers"], p["efficiency"] * p["simulated_seconds"] / p["measured_seconds"])
        for p in forecast.of("check")
        if p["measured_seconds"] and p["setting"] == "depth auto"
    ]
    if measured:
        axes.plot(*zip(*measured, strict=True), "kx", markersize=8, label="measured")
    variants: dict[str, list[tuple[int, float]]] = {}
    for point in forecast.of("what if"):
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
    shown, seconds = experiment.names, dict[tuple[str, ...], list[float]]()
    for run, log in zip(experiment.runs, experiment.logs, strict=True):
        setting = run.engine, run.backend, counted(run.jobs, "worker")
        of_run = seconds.setdefault((shown[run.problem], *setting), [])
        of_run.extend(of_workers(log)["seconds"].tolist())
    positive = {key: np.array(s) for key, s in seconds.items() if max(s, default=0) > 0}
    if not positive:
        return None
    names, common = charts.distinct_names(list(positive))
    counts = zip(names, map(len, positive.values()), strict=True)
    heads = [charts.wrapped(f"{name}: {counted(n, 'task')}", charts.ABOVE) for name, n in counts]
    height = charts.AROUND + PANEL * len(names)
    height += charts.LINE_HEIGHT * "".join(heads).count("\n")
    figure, panels = charts.new_figure("Task durations", common, len(names), height)
    low = min(s[s > 0].min() for s in positive.values())
    bins = np.geomspace(low * 0.99, max(s.max() for s in positive.values()) * 1.01, 40)
    for axes, head, values in zip(panels, heads, positive.values(), strict=True):
        axes.hist(values, bins, histtype="stepfilled", color=COLORS[0])
        axes.set(yscale="log", ylim=(0.7, None))  # so that a single task is visible
        charts.make_logarithmic(axes, "y", whole=True)
        charts.write_above(axes, head)
    panels[-1].set(xscale="log", xlim=(bins[0], bins[-1]))
    charts.make_logarithmic(panels[-1], "x")
    charts.name_axes(panels[-1], "seconds of a task", "")
    figure.supylabel("tasks", fontsize=TEXT)
    return figure


def _names(all_series: list[Series]) -> tuple[list[str], str]:
    """Return a name for each series, made of its differences, and the common properties."""
    parts = []
    for series in all_series:
        run = series.first
        weak = "weak scaling" if run.kind == "weak" else ""
        parts.append((series.problem, weak, run.engine, run.backend, f"depth {run.depth}"))
    return charts.distinct_names(parts)


def _bars(all_series: Iterable[Series], legend: str = BARS) -> str:
    """Return the legend of points and bars if a run was repeated, else an empty text."""
    return legend if any(len(s.at(jobs)) > 1 for s in all_series for jobs in s.workers) else ""


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _label_of(k: int, names: list[str], *all_series: Series) -> tuple[str, dict[str, Any]]:
    """Return the label and the look of the k-th line; a doubtful one is pale and has a reason."""
    kinds = dict.fromkeys(kind for s in all_series for kind, _ in speedup.doubts(s))
    why = f", doubtful: {', '.join(kinds)}" if kinds else ""
    return f"{names[k]}{why}", charts.look_of(k, pale=bool(kinds))


def _name_workers(axes: Axes, all_series: list[Series], y: str) -> None:
    """Name the axes of a picture against workers, and list the omitted series."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    left_out: dict[str, list[str]] = {}
    for series in all_series:
        why, _ = speedup.hindrance(series)
        if why and len(series.workers) > 1:
            left_out.setdefault(why, []).append(series.name)
    notes = []
    for why, names in left_out.items():
        which = "; ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} series"
        notes.append(f"Not drawn, because the runs are {why}: {which}")
    charts.name_axes(axes, "workers", y, _lines(*notes))


# ---- the page -------------------------------------------------------------------------------

STYLE = f"\n{text_beside(__file__, 'report.css')}"
SPEEDUP_COLUMNS = (
    *("series", "workers", "runs", "median_seconds", "least_seconds", "greatest_seconds"),
    *("least_nodes", "greatest_nodes"),  # they differ if runs were stopped or vary
)
RUN_COLUMNS = (
    *("run", "problem", "engine", "backend", "jobs", "depth", "complete", "wall", "cpu", "count"),
    *("subproblems", "tasks", "rounds", "task_median", "task_p99", "task_max", "idle_share"),
    *("serial_share", "peak_mb"),
)


def write_report(home: Path, experiment: Experiment, forecasts: list[Forecast]) -> Path:
    """Draw the pictures of an experiment, if matplotlib is installed, and write its report.

    Parameters
    ----------
    home : Path
        The directory of the experiment.
    experiment : Experiment
    forecasts : list of Forecast

    Returns
    -------
    Path
        The report.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    path = home / "report.html"
    rows = [row for series in experiment.series() for row in speedup.rows_of(series)]
    write_csv(home / "speedup.csv", rows)
    if forecasts:
        points = ((forecast.name, point) for forecast in forecasts for point in forecast.points)
        write_csv(home / "forecast.csv", [{"forecast": name, **point} for name, point in points])
    pictures = draw_all(experiment, forecasts, home) if can_draw() else []
    write_whole(path, render(home, experiment, forecasts, pictures))
    return path


def render(
    home: Path, experiment: Experiment, forecasts: list[Forecast], pictures: list[tuple[str, str]]
) -> str:
    """Render the report as HTML."""
    names = experiment.names
    title = "Scaling of " + ", ".join(names.values())
    facts = {"command": "", "plan": {}, "packages": {}, **experiment.about}
    command, _, packages = (facts.pop(name) for name in ("command", "plan", "packages"))
    facts["packages"] = ", ".join(f"{name} {version}" for name, version in packages.items())
    all_series = experiment.series()
    notes = [f"{s.name}: {doubt}." for s in all_series for _, doubt in speedup.doubts(s)]
    notes += [f"Cannot be told apart: {pair}." for pair in speedup.not_told_apart(all_series)]
    runs = [{name: getattr(run, name) for name in RUN_COLUMNS} for run in experiment.runs]
    body = filled(
        __file__,
        "report.html",
        title=escape(title),
        command=escape(str(command)),
        machine=_table([{"machine": name, "": value} for name, value in facts.items()], "facts"),
        pictures=_pictures(home, pictures),
        notes="\n".join(map(_note, notes)),
        speedups=_table([_speedup(row) for s in all_series for row in speedup.rows_of(s)]),
        curves=_curves(all_series),
        runs=_table([{**run, "problem": names[run["problem"]]} for run in runs]),
        forecasts="\n".join(map(_forecast, forecasts)),
    )
    return html_page(title, STYLE, body)


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def _pictures(home: Path, pictures: list[tuple[str, str]]) -> str:
    if not pictures:
        return _note(f"Pictures are left out; they need {HOW_TO_GET}.")
    parts = ["<h2>Pictures</h2>", '<div class="pictures">']
    for name, title in pictures:
        data = base64.b64encode((home / f"{name}.svg").read_bytes()).decode()
        source = f"data:image/svg+xml;base64,{data}"
        parts.append(f'<figure><img alt="{escape(title)}" src="{source}"></figure>')
    return "\n".join([*parts, "</div>"])


def _speedup(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of ``speedup.csv`` as the report shows it."""
    shown = {name: row[name] for name in SPEEDUP_COLUMNS}
    shown["speed-up"] = row["no_speedup"] or _with_interval(row, "speedup", 2)
    return shown | {"efficiency": row["no_speedup"] or _with_interval(row, "efficiency", 3)}


def _with_interval(row: Mapping[str, Any], name: str, decimals: int) -> str:
    """Return a number with its interval, if it has one."""
    value, *ends = (row[name + end] for end in ("", "_low", "_high"))
    interval = " – ".join(f"{end:.{decimals}f}" for end in ends if end is not None)
    return f"{value:.{decimals}f}{interval and f' ({interval})'}"


def _curves(all_series: list[Series]) -> str:
    strong = [series for series in all_series if series.first.kind == "strong"]
    if not strong:
        return "<p>Curves are of problems of one size.</p>"
    rows = [
        {
            "": series.name,
            "law": fit.law,
            "parameters (95 % interval)": fit.numbers(4),
            "rms error of the speed-up": fit.error,
        }
        for series in strong
        for fit in speedup.fits(series)
    ]
    table = _table(rows) if rows else ""
    if not speedup.can_fit():
        return table + _note(f"Curves are left out; they need {HOW_TO_GET}.")
    workers = {jobs for series in strong for jobs in series.workers}
    few = [f"{law}: {n} more" for law in speedup.LAWS if (n := speedup.missing(law, [*workers]))]
    if few:
        table += (
            "<p>A curve needs two more numbers of workers than it has parameters; otherwise it "
            f"would go through every point. Still to be measured: {'; '.join(few)}.</p>"
        )
    return table


def _forecast(forecast: Forecast) -> str:
    costs = forecast.costs
    errors = [abs(point["error"]) for point in forecast.of("check")]
    return filled(
        __file__,
        "forecast.html",
        name=escape(speedup.short_name(forecast.name)),
        nodes=f"{forecast.nodes:,.0f}",
        known="counted" if forecast.nodes_known else "estimated by Knuth's probes",
        work=_shown(forecast.nodes / costs.rate),
        rate=f"{costs.rate:,.0f}",
        overhead=_micro(costs.overhead),
        master=_micro(costs.master),
        assumed=_micro(costs.assumed),
        split=_micro(costs.split),
        greatest_error=f"{max(errors):.1%}",
        median_error=f"{statistics.median(errors):.1%}",
        checks=_points(forecast.of("check")),
        curve=_points(forecast.of("curve")),
        variants="\n".join(line for n in forecast.workers for line in _variants(forecast, n)),
    )


def _variants(forecast: Forecast, workers: int) -> list[str]:
    sizing, few = Sizing.of(workers, forecast.costs.assumed), Sizing.as_for_few(workers)
    what_if, depths, budgets = (forecast.of(p, workers) for p in ("what if", "depth", "budget"))
    depth, budget = (
        min(points, key=itemgetter("simulated_seconds"))["setting"] for points in (depths, budgets)
    )
    return [
        f"<h3>{workers:,} workers</h3>",
        f"<p>Best depth: {depth}. Best budget of a task: {budget}. The first table changes one "
        f"thing at a time, to show what limits the efficiency. Tasks take "
        f"{sizing.least_seconds:.3g} to {sizing.full_seconds:.3g} s, the longest while "
        f"{sizing.pieces:,} pieces wait; in the last row up to {few.full_seconds:g} s and "
        f"{few.pieces:,}.</p>",
        *map(_points, (what_if, depths, budgets)),
    ]


def _points(points: list[Point]) -> str:
    """Return a table of simulations of one part."""
    names = [name for name in points[0] if name != "part" and points[0][name] is not None]
    return _table([{name: point[name] for name in names} for point in points])


def _table(rows: Sequence[Mapping[str, object]], kind: str = "numbers") -> str:
    """Return a table; its rows, one or more, have the heads of the columns as keys."""
    heads = [name.replace("_", " ") for name in rows[0]]
    lines = [heads, *(list(map(_shown, row.values())) for row in rows)]
    return f'<div class="scroll {kind}">{html_table(lines)}</div>'


def _shown(value: object) -> str:
    """Return a value as tables show it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _micro(value: float) -> str:
    return f"{value * 1e6:,.3g} µs"
