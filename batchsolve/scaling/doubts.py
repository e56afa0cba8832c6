"""What makes measurements doubtful: runs that are too short, outliers, processors shared.

Outliers are found as hyperfine finds them, by the distance from the median in units of the median
absolute deviation (B. Iglewicz and D. C. Hoaglin, *How to Detect and Handle Outliers*, 1993).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from batchsolve.errors import counted
from batchsolve.scaling.experiment import Series
from batchsolve.scaling.measure import Run

LEAST_SECONDS = 0.5  # of a run; a thread's start and a page fault take some per cent of less
MOST_DEVIATIONS = 14.826  # ten standard deviations, were times normal
STEADY = 0.05  # a run so near the median is none, however near the others are
LEAST_OF_CPU = 0.9  # of the time that tasks took
KNOWN_CPU = 0.3  # less is counted only where workers are on other machines


def is_too_short(series: Series) -> bool:
    """Whether runs end so soon that their times say nothing about how the search scales."""
    return min(series.wall(jobs) for jobs in series.workers) < LEAST_SECONDS


def why_no_speedup(series: Series) -> str:
    """Return in a few words why runs show no speed-up; nothing if they do."""
    if is_too_short(series):
        return "too short"
    return "" if series.work_is_known else "stopped"


def doubts(series: Series) -> Iterator[str]:
    """Yield what is doubtful about the runs of a series, each with what to do about it."""
    return (advice for _, advice in _found(series))


def kinds_of_doubt(series: Series) -> list[str]:
    """Return what is doubtful about the runs of a series, each kind once and in a few words."""
    return list(dict.fromkeys(kind for kind, _ in _found(series)))


def _found(series: Series) -> Iterator[tuple[str, str]]:
    """Yield every doubt: its kind, and what to do about it."""
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
            f"much of the work it did, so that there is no speed-up; let the time limit be longer, "
            f"or take another engine",
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
                f"that they took, for something else ran beside them or there are fewer cores; "
                f"measure again on an idle machine, with no more workers than cores",
            )


def outliers(walls: Sequence[float]) -> list[int]:
    """Return the places of times that are far from the median.

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


def cpu_share(runs: Sequence[Run]) -> float:
    """Return for what share of the time of their tasks runs had processors, in the median."""
    return statistics.median(run.cpu / run.busy if run.busy else 1.0 for run in runs)
