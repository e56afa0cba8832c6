"""The report of a scaling experiment: one self-contained HTML file.

Pictures are embedded as data URIs; tables scroll sideways on a narrow screen.
"""

from __future__ import annotations

import base64
import statistics
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from batchsolve.errors import disk_errors
from batchsolve.scaling import fits, plots
from batchsolve.scaling.doubts import doubts, why_no_speedup
from batchsolve.scaling.experiment import Experiment, short_name
from batchsolve.scaling.forecast import Forecast
from batchsolve.search.pieces import PIECES_PER_WORKER, RESULT_SECONDS, TASK_SECONDS, Sizing

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 0 1rem 3rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; } h3 { font-size: 1rem; }
.pictures { columns: 27rem 2; column-gap: 1rem; }
figure { margin: 0 0 1.5rem; break-inside: avoid; }
img { display: block; width: 100%; height: auto; background: #fff; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #8886; padding: .25rem .6rem; }
th, td { text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 6rem; }
.facts td:last-child { text-align: left; white-space: normal; overflow-wrap: anywhere; }
pre { overflow-x: auto; background: #8882; padding: .6rem; }
.note { border-left: 4px solid #d80; padding: .2rem .8rem; }
"""

Cells = Sequence[Any]


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
    with disk_errors(str(home)):
        pictures = plots.draw_all(experiment, forecasts, home) if plots.available() else []
        path.write_text(render(home, experiment, forecasts, pictures), encoding="utf-8")
    return path


def render(
    home: Path,
    experiment: Experiment,
    forecasts: list[Forecast],
    pictures: list[tuple[str, str]],
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
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            "<body>",
            *parts,
            "</body>",
            "</html>",
            "",
        ]
    )


def _command(experiment: Experiment) -> list[str]:
    about = experiment.about
    facts = {
        name: value for name, value in about.items() if name not in ("command", "plan", "packages")
    }
    packages = ", ".join(f"{name} {v}" for name, v in about.get("packages", {}).items())
    rows = [(name, "–" if value is None else value) for name, value in facts.items()]
    return [
        f"<pre>{escape(str(about.get('command', '')))}</pre>",
        _table(("machine", ""), [*rows, ("packages", packages)], "facts"),
        "<p>Beside this page lie <code>runs.csv</code>, <code>subproblems.parquet</code> and "
        "<code>machine.json</code>, from which every number here comes.</p>",
    ]


def _pictures(home: Path, experiment: Experiment, pictures: list[tuple[str, str]]) -> list[str]:
    if not pictures:
        how = escape(plots.HOW_TO_GET)
        return [f'<p class="note">Pictures are left out; they need <code>{how}</code>.</p>']
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
    rows = []
    for series in experiment.series():
        why = why_no_speedup(series)
        speedups = {} if why else series.speedups()
        for jobs in series.workers:
            runs = series.at(jobs)
            walls = [run.wall for run in runs]
            rows.append(
                (
                    series.name,
                    jobs,
                    len(runs),
                    _seconds(statistics.median(walls)),
                    f"{_seconds(min(walls))} – {_seconds(max(walls))}",
                    why or f"{speedups[jobs]:.2f}",
                    why or f"{speedups[jobs] / jobs:.3f}",
                    _nodes(run.nodes for run in runs),
                )
            )
    head = ("", "workers", "runs", "median s", "range s", "speed-up", "efficiency", "nodes")
    return [
        "<h2>Speed-up</h2>",
        "<p>Medians over the runs of a row. Speed is nodes in a second (stacks, where an engine's "
        "nodes are not reproducible), so that weak scaling and runs that were stopped can be "
        "compared as well. The counts and nodes of complete runs of the same work were compared, "
        "and agree.</p>",
        *(
            f'<p class="note">{escape(series.name)}: {escape(doubt)}.</p>'
            for series in experiment.series()
            for doubt in doubts(series)
        ),
        _table(head, rows),
    ]


def _nodes(nodes: Iterable[int]) -> str:
    """Return the nodes of runs, or their range if runs were stopped or are not reproducible."""
    values = sorted(set(nodes))
    return f"{values[0]:,}" if len(values) == 1 else f"{values[0]:,} – {values[-1]:,}"


def _curves(experiment: Experiment) -> list[str]:
    rows = []
    for series in experiment.series():
        for fit in plots.fits(series):
            numbers = ", ".join(
                f"{name} {value:.4g} ({low:.4g} – {high:.4g})"
                for (name, value), (low, high) in zip(
                    fit.parameters.items(), fit.intervals.values(), strict=True
                )
            )
            rows.append((series.name, fit.law, numbers, f"{fit.error:.3g}"))
    parts = ["<h2>Fitted curves</h2>"]
    if rows:
        head = ("", "law", "parameters (95 % interval)", "rms error of the speed-up")
        parts.append(_table(head, rows))
    if not fits.available():
        how = escape(plots.HOW_TO_GET)
        return [*parts, f'<p class="note">Curves are left out; they need <code>{how}</code>.</p>']
    workers = {run.jobs for run in experiment.runs}
    few = [f"{law}: {n} more" for law in fits.LAWS if (n := fits.missing(law, [*workers]))]
    if few:
        parts.append(
            "<p>A curve needs one more number of workers above 1 than it has parameters; otherwise "
            f"it would go through every point. Still to be measured: {'; '.join(few)}.</p>"
        )
    return parts


def _runs(experiment: Experiment) -> list[str]:
    head = (
        "run",
        "problem",
        "engine",
        "backend",
        "workers",
        "depth",
        "wall s",
        "CPU s",
        "count",
        "subproblems",
        "tasks",
        "rounds",
        "median task s",
        "99 % s",
        "longest s",
        "idle",
        "serial",
        "peak MB",
    )
    rows = [
        (
            run.run,
            short_name(run.problem) + ("" if run.complete else " (stopped)"),
            run.engine,
            run.backend,
            run.jobs,
            "auto" if run.split_depth is None else run.split_depth,
            _seconds(run.wall),
            _seconds(run.cpu),
            f"{run.count:,}",
            f"{run.subproblems:,}",
            f"{run.tasks:,}",
            run.rounds,
            _seconds(run.task_median),
            _seconds(run.task_p99),
            _seconds(run.task_max),
            _percent(run.idle_share),
            _percent(run.serial_share),
            f"{run.peak_mb:.0f}",
        )
        for run in experiment.runs
    ]
    return [
        "<h2>Runs</h2>",
        "<p><b>Idle</b> is the share of the workers' time that no task took. <b>Serial</b> is the "
        "share of the time in which no worker was busy, because the tree was being split or "
        "results collected.</p>",
        _table(head, rows),
    ]


def _forecast(found: Forecast) -> list[str]:
    known = "counted" if found.nodes_known else "estimated by Knuth's probes"
    work = found.nodes / found.costs.rate
    errors = [abs(check.error) for check in found.checks]
    checks = [
        (
            check.run.run,
            check.run.jobs,
            "auto" if check.run.split_depth is None else check.run.split_depth,
            _seconds(check.measured),
            _seconds(check.simulated),
            f"{check.error:+.1%}",
            f"{check.run.tasks:,}" if check.run.complete else "–",
            f"{check.simulated_tasks:,}",
        )
        for check in found.checks
    ]
    head = ("run", "workers", "depth", "measured s", "simulated s", "error", "tasks", "simulated")
    curve = [
        (f"{p.workers:,}", _seconds(p.wall), f"{p.efficiency:.3f}", f"{p.tasks:,}", p.rounds)
        for p in found.curve
    ]
    parts = [
        f"<h2>Forecast: {escape(short_name(found.name))}</h2>",
        f"<p>{found.nodes:,.0f} nodes, {known}: {_seconds(work)} s of one core. The simulation "
        f"follows the events of a search on any number of workers.</p>",
        *_assumptions(found),
        "<h3>Beside the measured runs</h3>",
        f"<p>The simulated time differs from the measured one by {_percent(max(errors))} at most "
        f"and by {_percent(statistics.median(errors))} in the median.</p>",
        _table(head, checks),
        "<h3>More workers, automatic settings</h3>",
        _table(("workers", "simulated s", "efficiency", "tasks", "rounds"), curve),
    ]
    for choice in found.choices:
        parts += _choice(choice)
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
        f"{_micro(RESULT_SECONDS)}, and makes tasks long enough for the process to keep up.",
        f"Splitting takes {_micro(costs.split)} a node.",
        "The tree splits as it did along random walks, where the sizes of children were counted or "
        "estimated; the noise of the estimates makes the tree look less even than it is.",
        "Budgets, pieces and draws follow the constants of "
        "<code>batchsolve/search/rules.py</code>. No worker is lost, and all are equally fast.",
    ]
    return [
        "<h3>Assumptions</h3>",
        "<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>",
    ]


def _choice(choice: Any) -> list[str]:
    sizing = Sizing.of(choice.workers)
    depth = "auto" if choice.best_depth is None else choice.best_depth
    budget = choice.best_budget
    said = "automatic" if budget is None else f"{budget:g} s of nodes"
    what_if = [
        (name, _seconds(run.wall), f"{run.efficiency:.3f}", f"{run.tasks:,}")
        for name, run in choice.what_if.items()
    ]
    depths = [
        ("auto" if d is None else d, _seconds(run.wall), f"{run.efficiency:.3f}")
        for d, run in choice.depths
    ]
    budgets = [
        ("auto" if b is None else f"{b:g} s", _seconds(run.wall), f"{run.efficiency:.3f}")
        for b, run in choice.budgets
    ]
    return [
        f"<h3>{choice.workers:,} workers</h3>",
        f"<p>Best depth: {depth}. Best budget: {said}. The first table changes one thing at a "
        f"time, to show what limits the efficiency. Tasks take {sizing.least_seconds:.3g} to "
        f"{sizing.full_seconds:.3g} s, the longest while {sizing.pieces:,} pieces wait; in the "
        f"last row up to {TASK_SECONDS:g} s and {PIECES_PER_WORKER * choice.workers:,}.</p>",
        _table(("", "simulated s", "efficiency", "tasks"), what_if),
        _table(("depth", "simulated s", "efficiency"), depths),
        _table(("budget", "simulated s", "efficiency"), budgets),
    ]


def _table(head: Cells, rows: Iterable[Cells], kind: str = "numbers") -> str:
    def row(tag: str, cells: Cells) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(c))}</{tag}>" for c in cells) + "</tr>"

    body = "\n".join(row("td", cells) for cells in rows)
    return (
        f'<div class="scroll {kind}"><table><thead>{row("th", head)}</thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _seconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _micro(value: float) -> str:
    return f"{value * 1e6:,.3g} µs"


def _percent(value: float) -> str:
    return f"{value:.1%}"
