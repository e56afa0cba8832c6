"""Doubts about measurements: runs that are too short, outliers, shared processors.

As in hyperfine, outliers are found by their distance from the median, in units of the median
absolute deviation (B. Iglewicz and D. C. Hoaglin, *How to Detect and Handle Outliers*, 1993).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from batchsolve.errors import counted
from batchsolve.scaling.experiment import Series
from batchsolve.scaling.measure import MeasuredRun

LEAST_SECONDS = 0.5  # of a run; starts of threads and page faults distort shorter ones
MOST_DEVIATIONS = 14.826  # ten standard deviations, if times were normally distributed
STEADY = 0.05  # a run within this share of the median is never an outlier
LEAST_OF_CPU = 0.9  # the least share of the tasks' time in which they had processors
KNOWN_CPU = 0.3  # a smaller share means that workers run on other machines


def is_too_short(series: Series) -> bool:
    """Return True if runs are too short for their times to show how the search scales."""
    return min(series.wall(jobs) for jobs in series.workers) < LEAST_SECONDS


def why_no_speedup(series: Series) -> str:
    """Return a few words on why runs show no speed-up; an empty text if they show one."""
    if is_too_short(series):
        return "too short"
    return "" if series.work_is_known else "stopped"


def doubts(series: Series) -> Iterator[str]:
    """Yield the doubts about the runs of a series, each with advice."""
    return (advice for _, advice in _found(series))


def kinds_of_doubt(series: Series) -> list[str]:
    """Return the kinds of doubt about the runs of a series, each once and in a few words."""
    return list(dict.fromkeys(kind for kind, _ in _found(series)))


def _found(series: Series) -> Iterator[tuple[str, str]]:
    """Yield the kind of every doubt, and advice."""
    shortest = min(series.wall(jobs) for jobs in series.workers)
    if is_too_short(series):
        yield (
            "too short",
            f"its runs end within {shortest:.3g} s, so that a speed-up would say nothing; "
            f"measure a problem that takes one worker {2 * LEAST_SECONDS:g} s or more for each "
            f"of the most workers",
        )
        return
    if not series.work_is_known:
        yield (
            "stopped",
            f"a run was stopped, and nodes of the engine {series.first.engine!r} do not show how "
            f"much of the work it did, so its speed-up is unknown; raise the time limit, or take "
            f"another engine",
        )
        return
    for jobs in series.workers:
        runs = series.at(jobs)
        walls = [run.wall for run in runs]
        odd = outliers(walls)
        if odd:
            each = ", ".join(f"{walls[k]:.3g} s" for k in odd)
            yield (
                "outliers",
                f"with {counted(jobs, 'worker')}, {len(odd)} of {len(walls)} runs took much longer "
                f"or shorter than the median of {statistics.median(walls):.3g} s: {each}; measure "
                f"again on an idle machine",
            )
        share = cpu_share(runs)
        if KNOWN_CPU < share < LEAST_OF_CPU:
            yield (
                "processors shared",
                f"with {counted(jobs, 'worker')}, tasks had processors for {share:.0%} of the time "
                f"that they took, because something else ran beside them or there are fewer cores; "
                f"measure again on an idle machine, with no more workers than cores",
            )


def outliers(walls: Sequence[float]) -> list[int]:
    """Return the indices of times that are far from the median.

    Examples
    --------
    >>> outliers([1.0, 1.01, 0.99, 1.02, 1.9])
    [4]
    """
    if len(walls) < 3:
        return []
    middle = statistics.median(walls)
    deviation = statistics.median(abs(wall - middle) for wall in walls)
    far = max(MOST_DEVIATIONS * deviation, STEADY * middle)
    return [k for k, wall in enumerate(walls) if abs(wall - middle) > far]


def cpu_share(runs: Sequence[MeasuredRun]) -> float:
    """Return the share of the tasks' time in which they had processors: the median over runs."""
    return statistics.median(run.cpu / run.busy if run.busy else 1.0 for run in runs)
