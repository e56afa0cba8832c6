"""The report of a scaling experiment: one self-contained HTML file, from templates beside this.

Pictures are embedded as data URIs; tables scroll sideways on a narrow screen.
"""

from __future__ import annotations

import base64
import statistics
from collections.abc import Mapping, Sequence
from html import escape
from operator import itemgetter
from pathlib import Path
from typing import Any

from batchsolve.formats.whole_files import write_whole
from batchsolve.pictures.svg import filled, html_page, html_table, text_beside
from batchsolve.scaling import plots
from batchsolve.scaling.experiment import Experiment, write_csv
from batchsolve.scaling.forecast import Forecast, Point
from batchsolve.scaling.speedup import (
    LAWS,
    Series,
    can_fit,
    doubts,
    fits,
    missing,
    not_told_apart,
    short_name,
    speedup_rows,
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
    rows = [row for series in experiment.series() for row in speedup_rows(series)]
    write_csv(home / "speedup.csv", rows)
    if forecasts:
        each = ((found.name, point) for found in forecasts for point in found.points)
        write_csv(home / "forecast.csv", [{"forecast": name, **point} for name, point in each])
    pictures = plots.draw_all(experiment, forecasts, home) if plots.available() else []
    write_whole(path, render(home, experiment, forecasts, pictures))
    return path


def render(
    home: Path, experiment: Experiment, forecasts: list[Forecast], pictures: list[tuple[str, str]]
) -> str:
    """Render the report as HTML."""
    problems = dict.fromkeys(short_name(run.problem) for run in experiment.runs)
    title = "Scaling of " + ", ".join(problems)
    facts = {"command": "", "plan": {}, "packages": {}, **experiment.about}
    command, _, packages = (facts.pop(name) for name in ("command", "plan", "packages"))
    facts["packages"] = ", ".join(f"{name} {version}" for name, version in packages.items())
    series = experiment.series()
    notes = [f"{one.name}: {doubt}." for one in series for _, doubt in doubts(one)]
    notes += [f"Cannot be told apart: {pair}." for pair in not_told_apart(series)]
    runs = [{name: getattr(run, name) for name in RUN_COLUMNS} for run in experiment.runs]
    body = filled(
        __file__,
        "report.html",
        title=escape(title),
        command=escape(str(command)),
        machine=_table([{"machine": name, "": value} for name, value in facts.items()], "facts"),
        pictures=_pictures(home, pictures),
        notes="\n".join(map(_note, notes)),
        speedups=_table([_speedup(row) for one in series for row in speedup_rows(one)]),
        curves=_curves(series),
        runs=_table([{**run, "problem": short_name(run["problem"])} for run in runs]),
        forecasts="\n".join(map(_forecast, forecasts)),
    )
    return html_page(title, STYLE, body)


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def _pictures(home: Path, pictures: list[tuple[str, str]]) -> str:
    if not pictures:
        return _note(f"Pictures are left out; they need {plots.HOW_TO_GET}.")
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


def _curves(series: list[Series]) -> str:
    rows = [
        {
            "": one.name,
            "law": fit.law,
            "parameters (95 % interval)": fit.numbers(4),
            "rms error of the speed-up": fit.error,
        }
        for one in series
        for fit in fits(one)
    ]
    table = _table(rows) if rows else ""
    if not can_fit():
        return table + _note(f"Curves are left out; they need {plots.HOW_TO_GET}.")
    workers = {jobs for one in series for jobs in one.workers}
    few = [f"{law}: {n} more" for law in LAWS if (n := missing(law, [*workers]))]
    if few:
        table += (
            "<p>A curve needs one more number of workers above 1 than it has parameters; otherwise "
            f"it would go through every point. Still to be measured: {'; '.join(few)}.</p>"
        )
    return table


def _forecast(found: Forecast) -> str:
    costs = found.costs
    errors = [abs(point["error"]) for point in found.of("check")]
    return filled(
        __file__,
        "forecast.html",
        name=escape(short_name(found.name)),
        nodes=f"{found.nodes:,.0f}",
        known="counted" if found.nodes_known else "estimated by Knuth's probes",
        work=_shown(found.nodes / costs.rate),
        rate=f"{costs.rate:,.0f}",
        overhead=_micro(costs.overhead),
        master=_micro(costs.master),
        assumed=_micro(costs.assumed),
        split=_micro(costs.split),
        greatest_error=f"{max(errors):.1%}",
        median_error=f"{statistics.median(errors):.1%}",
        checks=_points(found.of("check")),
        curve=_points(found.of("curve")),
        variants="\n".join(line for n in found.workers for line in _variants(found, n)),
    )


def _variants(found: Forecast, workers: int) -> list[str]:
    sizing = Sizing.of(workers, found.costs.assumed)
    what_if, depths, budgets = (found.of(part, workers) for part in ("what if", "depth", "budget"))
    depth, budget = (
        min(points, key=itemgetter("simulated_seconds"))["setting"] for points in (depths, budgets)
    )
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
