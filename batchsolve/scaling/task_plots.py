"""Pictures of the tasks of an experiment: a histogram of durations, and a Gantt chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from batchsolve.errors import counted
from batchsolve.scaling import drawing
from batchsolve.scaling.drawing import COLORS, DARK_GREY, TEXT
from batchsolve.scaling.experiment import Experiment, short_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BARS = 3000  # of a Gantt chart; more cannot be told apart
PANEL, ROW = 0.65, 0.22  # the heights of a histogram and of a worker's row, in inches
MOST_NAMED = 24  # rows of a Gantt chart that leave room for a number each


def sizes_figure(experiment: Experiment) -> Figure | None:
    """Draw histograms of task durations, one below the other, with both axes logarithmic."""
    seconds: dict[tuple[str, ...], list[float]] = {}
    for run, log in zip(experiment.runs, experiment.logs, strict=True):
        key = (short_name(run.problem), run.engine, counted(run.jobs, "worker"))
        seconds.setdefault(key, []).extend(log.of_workers()[1].tolist())
    positive = {key: np.array(s) for key, s in seconds.items() if max(s, default=0) > 0}
    if not positive:
        return None
    names, common = drawing.told_apart(list(positive))
    height = drawing.AROUND + PANEL * len(names)
    figure, panels = drawing.new_figure("Task durations", common, len(names), height)
    low = min(s[s > 0].min() for s in positive.values())
    high = max(s.max() for s in positive.values())
    bins = np.geomspace(low * 0.99, high * 1.01, 40)
    for axes, name, values in zip(panels, names, positive.values(), strict=True):
        axes.hist(values, bins, histtype="stepfilled", color=COLORS[0])
        axes.set(yscale="log", ylim=(0.7, None))  # so that a single task is visible
        drawing.make_logarithmic(axes, "y", between=(1,))
        drawing.write_above(axes, f"{name}: {counted(values.size, 'task')}")
    panels[-1].set(xscale="log", xlim=(bins[0], bins[-1]))
    drawing.make_logarithmic(panels[-1], "x")
    drawing.name_axes(panels[-1], "seconds of a task", "")
    figure.supylabel("tasks", fontsize=TEXT)
    return figure


def gantt_figure(experiment: Experiment) -> Figure | None:
    """Draw the times when each worker was busy, in the run with the most workers."""
    run = experiment.widest()
    log = experiment.logs[experiment.runs.index(run)]
    if not log.begin:
        return None
    begin, seconds, worker = map(np.array, (log.begin, log.seconds, log.worker))
    numbers = np.unique(worker).tolist()
    subtitle = f"{short_name(run.problem)}, {run.engine}, {run.backend}, run {run.run}"
    if begin.size > MOST_BARS:
        keep = np.argsort(seconds)[-MOST_BARS:]
        begin, seconds, worker = begin[keep], seconds[keep], worker[keep]
        subtitle += f"\nthe {MOST_BARS:,} longest of {len(log.begin):,} tasks"
    height = drawing.AROUND + ROW * max(4, min(MOST_NAMED, len(numbers)))
    figure, (axes,) = drawing.new_figure("Worker timeline", subtitle, height=height)
    for number in numbers:
        mine = worker == number
        bars = list(zip(begin[mine].tolist(), seconds[mine].tolist(), strict=True))
        colors = [DARK_GREY] if number < 0 else [COLORS[0], COLORS[5]]
        axes.broken_barh(bars, (number - 0.4, 0.8), facecolors=colors, rasterized=True)
    if len(numbers) <= MOST_NAMED:
        axes.set_yticks(numbers, ["main" if n < 0 else str(n) for n in numbers])
    axes.grid(visible=False, axis="y")
    axes.set_xlim(left=0)
    drawing.name_axes(axes, "seconds; colours alternate from task to task", "worker")
    return figure
