"""The report of a scaling experiment: one self-contained HTML file.

Pictures are embedded as data URIs; tables scroll sideways on a narrow screen.
"""

from __future__ import annotations

import base64
import statistics
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from batchsolve.formats.whole_files import write_whole
from batchsolve.pictures.page import html_page, html_table
from batchsolve.pictures.svg import text_beside
from batchsolve.scaling import plots
from batchsolve.scaling.experiment import Experiment, write_csv
from batchsolve.scaling.forecast import Forecast, Point
from batchsolve.scaling.speedup import (
    LAWS,
    can_fit,
    doubts,
    fits,
    missing,
    not_told_apart,
    short_name,
    speedup_rows,
    why_no_speedup,
)
from batchsolve.search.scheduler import PIECES_PER_WORKER, TASK_SECONDS, Sizing

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
    write_csv(home / "speedup.csv", _speedups(experiment))
    if forecasts:
        write_csv(home / "forecast.csv", forecast_rows(forecasts))
    pictures = plots.draw_all(experiment, forecasts, home) if plots.available() else []
    write_whole(path, render(home, experiment, forecasts, pictures))
    return path


def _speedups(experiment: Experiment) -> list[dict[str, Any]]:
    return [row for series in experiment.series() for row in speedup_rows(series)]


def forecast_rows(forecasts: list[Forecast]) -> list[dict[str, Any]]:
    """Return a row of ``forecast.csv`` for each simulation."""
    return [{"forecast": found.name, **_row_of(p)} for found in forecasts for p in found.points]


def _row_of(point: Point) -> dict[str, Any]:
    run = point.simulated
    return {
        "part": point.part,
        "setting": point.setting,
        "workers": run.workers,
        "simulated_seconds": run.wall,
        "measured_seconds": point.measured,
        "error": point.error,
        "efficiency": run.efficiency,
        "tasks": run.tasks,
    }


def render(
    home: Path, experiment: Experiment, forecasts: list[Forecast], pictures: list[tuple[str, str]]
) -> str:
    """Render the report as HTML."""
    problems = dict.fromkeys(short_name(run.problem) for run in experiment.runs)
    title = "Scaling of " + ", ".join(problems)
    parts = [
        f"<h1>{escape(title)}</h1>",
        *_command(experiment),
        *_pictures(home, experiment, pictures),
        *_summary(experiment),
        *_curves(experiment),
        *_runs(experiment),
    ]
    for found in forecasts:
        parts += _forecast(found)
    return html_page(title, STYLE, "\n".join([*parts, ""]))


def _command(experiment: Experiment) -> list[str]:
    about = experiment.about
    facts = {
        name: value for name, value in about.items() if name not in ("command", "plan", "packages")
    }
    packages = ", ".join(f"{name} {v}" for name, v in about.get("packages", {}).items())
    facts["packages"] = packages
    rows = [{"machine": name, "": value} for name, value in facts.items()]
    return [
        f"<pre>{escape(str(about.get('command', '')))}</pre>",
        _table(rows, "facts"),
        "<p>Beside this page lie <code>runs.csv</code>, <code>subproblems.parquet</code> and "
        "<code>machine.json</code>, from which every number here comes; "
        "<code>speedup.csv</code> and <code>forecast.csv</code> hold the tables below.</p>",
    ]


def _pictures(home: Path, experiment: Experiment, pictures: list[tuple[str, str]]) -> list[str]:
    if not pictures:
        extra = escape(plots.HOW_TO_GET)
        return [f'<p class="note">Pictures are left out; they need <code>{extra}</code>.</p>']
    parts = ["<h2>Pictures</h2>"]
    none = any(len(one.workers) > 1 and why_no_speedup(one) for one in experiment.series())
    if none and "speedup" not in dict(pictures):
        parts.append(
            '<p class="note">No speed-up is drawn, because the runs show none; see below why, and '
            "what to measure instead.</p>"
        )
    parts.append('<div class="pictures">')
    for name, title in pictures:
        data = base64.b64encode((home / f"{name}.svg").read_bytes()).decode()
        source = f"data:image/svg+xml;base64,{data}"
        parts.append(f'<figure><img alt="{escape(title)}" src="{source}"></figure>')
    return [*parts, "</div>"]


def _summary(experiment: Experiment) -> list[str]:
    rows = [
        {
            **{name: row[name] for name in SPEEDUP_COLUMNS},
            "speed-up": row["no_speedup"] or _with_interval(row, "speedup", 2),
            "efficiency": row["no_speedup"] or _with_interval(row, "efficiency", 3),
        }
        for row in _speedups(experiment)
    ]
    alike = list(not_told_apart(experiment.series()))
    return [
        "<h2>Speed-up</h2>",
        "<p>Medians over the runs of a row, and in brackets 95 % intervals: a bootstrap of the "
        "runs, which for two or three runs is little more than their range, and which one run does "
        "not have. Speed is nodes in a second (stacks, where an engine's "
        "nodes are not reproducible), so that weak scaling and runs that were stopped can be "
        "compared as well. The counts and nodes of complete runs of the same work were compared, "
        "and agree.</p>",
        *(
            f'<p class="note">{escape(series.name)}: {escape(doubt)}.</p>'
            for series in experiment.series()
            for _, doubt in doubts(series)
        ),
        *(f'<p class="note">Cannot be told apart: {escape(pair)}.</p>' for pair in alike),
        _table(rows),
    ]


def _with_interval(row: Mapping[str, Any], name: str, decimals: int) -> str:
    """Return a number with its interval, if it has one."""
    value, *ends = (row[name + end] for end in ("", "_low", "_high"))
    interval = " – ".join(f"{end:.{decimals}f}" for end in ends if end is not None)
    return f"{value:.{decimals}f}{interval and f' ({interval})'}"


def _curves(experiment: Experiment) -> list[str]:
    rows = [
        {
            "": series.name,
            "law": fit.law,
            "parameters (95 % interval)": fit.numbers(4),
            "rms error of the speed-up": fit.error,
        }
        for series in experiment.series()
        for fit in fits(series)
    ]
    parts = ["<h2>Fitted curves</h2>"]
    if rows:
        parts.append(_table(rows))
    if not can_fit():
        extra = escape(plots.HOW_TO_GET)
        return [*parts, f'<p class="note">Curves are left out; they need <code>{extra}</code>.</p>']
    workers = {run.jobs for run in experiment.runs}
    few = [f"{law}: {n} more" for law in LAWS if (n := missing(law, [*workers]))]
    if few:
        parts.append(
            "<p>A curve needs one more number of workers above 1 than it has parameters; otherwise "
            f"it would go through every point. Still to be measured: {'; '.join(few)}.</p>"
        )
    return parts


def _runs(experiment: Experiment) -> list[str]:
    runs = [{name: getattr(run, name) for name in RUN_COLUMNS} for run in experiment.runs]
    return [
        "<h2>Runs</h2>",
        "<p>Times are in seconds. <b>Idle</b> is the share of the workers' time that no task took. "
        "<b>Serial</b> is the share of the time in which no worker was busy, because the tree was "
        "being split or results collected.</p>",
        _table([{**run, "problem": short_name(run["problem"])} for run in runs]),
    ]


def _forecast(found: Forecast) -> list[str]:
    known = "counted" if found.nodes_known else "estimated by Knuth's probes"
    work = found.nodes / found.costs.rate
    errors = [abs(point.error) for point in found.of("check") if point.error is not None]
    parts = [
        f"<h2>Forecast: {escape(short_name(found.name))}</h2>",
        f"<p>{found.nodes:,.0f} nodes, {known}: {_shown(work)} s of one core. The simulation "
        f"follows the events of a search on any number of workers.</p>",
        *_assumptions(found),
        "<h3>Beside the measured runs</h3>",
        f"<p>The simulated time differs from the measured one by {max(errors):.1%} at most "
        f"and by {statistics.median(errors):.1%} in the median.</p>",
        _points(found.of("check")),
        "<h3>More workers, automatic settings</h3>",
        _points(found.of("curve")),
    ]
    for workers in found.workers:
        parts += _variants(found, workers)
    return parts


def _assumptions(found: Forecast) -> list[str]:
    costs = found.costs
    lines = [
        f"A worker visits {costs.rate:,.0f} nodes a second, as the fewest workers did, whatever "
        f"else runs on its machine.",
        f"{_micro(costs.overhead)} pass between a worker's tasks: the median measured with several "
        f"workers, plus the latency asked for. A network has no other cost.",
        f"The process that hands out tasks is busy for {_micro(costs.master)} with each result, "
        f"one after another, as measured with short tasks that keep it busy. The search assumes "
        f"{_micro(costs.assumed)}, and makes tasks long enough for the process to keep up.",
        f"Splitting takes {_micro(costs.split)} a node.",
        "The tree splits as it did along random walks, where the sizes of children were counted or "
        "estimated; the noise of the estimates makes the tree look less even than it is.",
        "Budgets, pieces and draws follow the constants of "
        "<code>batchsolve.search.scheduler.py</code>. No worker is lost, and all are equally fast.",
    ]
    return [
        "<h3>Assumptions</h3>",
        "<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>",
    ]


def _variants(found: Forecast, workers: int) -> list[str]:
    sizing = Sizing.of(workers, found.costs.assumed)
    what_if, depths, budgets = (found.of(part, workers) for part in ("what if", "depth", "budget"))
    depth, budget = (min(of, key=lambda p: p.simulated.wall).setting for of in (depths, budgets))
    return [
        f"<h3>{workers:,} workers</h3>",
        f"<p>Best depth: {depth}. Best budget of a task: {budget}. The first table changes one "
        f"thing at a time, to show what limits the efficiency. Tasks take "
        f"{sizing.least_seconds:.3g} to {sizing.full_seconds:.3g} s, the longest while "
        f"{sizing.pieces:,} pieces wait; in the last row up to {TASK_SECONDS:g} s and "
        f"{PIECES_PER_WORKER * workers:,}.</p>",
        *map(_points, (what_if, depths, budgets)),
    ]


def _points(points: list[Point]) -> str:
    """Return a table of simulations of one part."""
    rows = [_row_of(point) for point in points]
    names = [name for name in rows[0] if name != "part" and rows[0][name] is not None]
    return _table([{name: row[name] for name in names} for row in rows])


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
