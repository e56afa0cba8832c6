"""Speed-up: the runs of a series, their speed-up, doubts about them, and fitted curves.

Amdahl's law has a serial share s: S(P) = 1 / (s + (1 - s) / P) (G. M. Amdahl, AFIPS 1967). The
Universal Scalability Law has contention α and coherency β: S(P) = P / (1 + α (P - 1) + β P (P - 1))
(N. J. Gunther, *Guerrilla Capacity Planning*, 2007). With β = 0 it is Amdahl's law with s = α.

Speeds are measured, and those of the fewest workers as roughly as others: so a curve is fitted to
speeds, with that of one worker as a parameter, by the least squares of their logarithms. It needs
one more measurement than it has parameters; otherwise it would go through all of them. The laws are
of problems of one size, so weak scaling has no curve.

The intervals of a speed-up are those of a bootstrap (B. Efron, *The Annals of Statistics* 7, 1979):
the repetitions are drawn anew, with the same random numbers in every report.

As in hyperfine, outliers are found by their distance from the median, in units of the median
absolute deviation (B. Iglewicz and D. C. Hoaglin, *How to Detect and Handle Outliers*, 1993).
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Floats
from batchsolve.engines import visits_the_same_nodes
from batchsolve.errors import counted
from batchsolve.scaling.measure import MeasuredRun

Range = tuple[float, float]
LAWS = {  # law -> parameter -> its upper bound
    "Amdahl": {"serial share": 1.0},
    "Universal Scalability": {"contention": 1.0, "coherency": np.inf},
}
CONFIDENCE = 0.95
RESAMPLES = 2000  # of a bootstrap; the ends of its interval move by less than the times do
LEAST_SECONDS = 0.5  # of a run; starts of threads and page faults distort shorter ones
MOST_DEVIATIONS = 14.826  # ten standard deviations, if times were normally distributed
STEADY = 0.05  # a run within this share of the median is never an outlier
LEAST_OF_CPU = 0.9  # the least share of the tasks' time in which they had processors
TINY = 1e-9  # smaller parameters are shown as 0
KNOWN_CPU = 0.3  # a smaller share may mean that the processor time of workers is unknown


@dataclass(eq=False)
class Series:
    """Runs that differ only in the number of workers.

    Attributes
    ----------
    runs : list of MeasuredRun
    problem : str
        The name of the problem in the report; by default that of the runs.
    """

    runs: list[MeasuredRun]
    problem: str = ""

    def __post_init__(self) -> None:
        self.problem = self.problem or self.first.problem

    @property
    def first(self) -> MeasuredRun:
        """The first run; the fields other than times and workers hold for all runs."""
        return self.runs[0]

    @property
    def name(self) -> str:
        """The name of the series: problem, kind, engine, backend and split depth."""
        run = self.first
        weak = ", weak" if run.kind == "weak" else ""
        return f"{self.problem}{weak}, {run.engine}, {run.backend}, depth {run.depth}"

    @property
    def workers(self) -> list[int]:
        """The numbers of workers, ascending."""
        return sorted({run.jobs for run in self.runs})

    def at(self, jobs: int) -> list[MeasuredRun]:
        """Return the runs with this number of workers."""
        return [run for run in self.runs if run.jobs == jobs]

    def wall(self, jobs: int) -> float:
        """Return the median time with this number of workers."""
        return statistics.median(run.wall for run in self.at(jobs))

    @property
    def work_is_known(self) -> bool:
        """True if the work of every run is known: it is complete, or its nodes measure the work."""
        return visits_the_same_nodes(self.first.engine) or all(run.complete for run in self.runs)

    def speeds(self, jobs: int) -> list[float]:
        """Return the work done per second in each run with this number of workers.

        Work is counted in nodes if they are reproducible, else in stacks.
        """
        by_nodes = visits_the_same_nodes(self.first.engine)
        return [(run.nodes if by_nodes else run.stacks) / run.wall for run in self.at(jobs)]

    @property
    def unit(self) -> float:
        """The median speed of one worker, or of the fewest workers, divided by their number."""
        least = self.workers[0]
        return statistics.median(self.speeds(least)) / least

    def speedups(self) -> dict[int, float]:
        """Return the median speed at every number of workers, in units of that of one worker.

        The work of the runs must be known.
        """
        return {jobs: statistics.median(self.speeds(jobs)) / self.unit for jobs in self.workers}


def short_name(problem: str) -> str:
    """Return the name of a problem without the folders of its file.

    Examples
    --------
    >>> short_name("datasets/many16.csv#3")
    'many16.csv#3'
    """
    return problem.rpartition("/")[2]


def short_names(problems: Iterable[str]) -> dict[str, str]:
    """Return the short name of each problem, or the whole one if two problems share the short one.

    Examples
    --------
    >>> short_names(["a/x.dlx", "b/x.dlx", "b/y.dlx"])
    {'a/x.dlx': 'a/x.dlx', 'b/x.dlx': 'b/x.dlx', 'b/y.dlx': 'y.dlx'}
    """
    short = {name: short_name(name) for name in problems}
    times = Counter(short.values())
    return {name: brief if times[brief] == 1 else name for name, brief in short.items()}


def speedup_intervals(series: Series) -> dict[int, Range]:
    """Return the interval of the speed-up, where there were several runs of both numbers.

    The fewest workers are the unit, so they have none.
    """
    least, *more = series.workers
    speeds = {jobs: series.speeds(jobs) for jobs in series.workers}
    ratios = {jobs: ratio_interval(speeds[jobs], speeds[least]) for jobs in more}
    return {jobs: (least * ratio[0], least * ratio[1]) for jobs, ratio in ratios.items() if ratio}


def rows_of(series: Series) -> list[dict[str, Any]]:
    """Return a row of ``speedup.csv`` for each number of workers of a series."""
    rows = []
    run, (why, _) = series.first, hindrance(series)
    speedups = {} if why else series.speedups()
    intervals = {} if why else speedup_intervals(series)
    for jobs in series.workers:
        runs = series.at(jobs)
        walls, nodes = [run.wall for run in runs], [run.nodes for run in runs]
        low, high = intervals.get(jobs, (None, None))
        estimate = {"": speedups.get(jobs), "_low": low, "_high": high}
        about = {"series": series.name, "problem": run.problem, "kind": run.kind}
        about |= {"engine": run.engine, "backend": run.backend, "split_depth": str(run.depth)}
        sums = {"workers": jobs, "runs": len(runs), "median_seconds": series.wall(jobs)}
        sums |= {"least_seconds": min(walls), "greatest_seconds": max(walls)}
        sums |= {"least_nodes": min(nodes), "greatest_nodes": max(nodes)}
        ratios = {f"speedup{end}": value for end, value in estimate.items()}
        ratios |= {f"efficiency{end}": value and value / jobs for end, value in estimate.items()}
        rows.append({**about, **sums, **ratios, "no_speedup": why})
    return rows


def ratio_interval(ones: Sequence[float], others: Sequence[float]) -> Range | None:
    """Return the interval of the ratio of two medians; None unless both are of several numbers.

    Examples
    --------
    >>> ratio_interval([2.0, 2.2, 2.1], [1.0, 1.0, 1.0])
    (2.0, 2.2)
    """
    if min(len(ones), len(others)) < 2:
        return None
    rng = np.random.default_rng(0)
    drawn = [rng.choice(np.asarray(values), (RESAMPLES, len(values))) for values in (ones, others)]
    ratios = np.median(drawn[0], axis=1) / np.median(drawn[1], axis=1)
    low, high = np.quantile(ratios, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def not_told_apart(all_series: Sequence[Series]) -> Iterator[str]:
    """Yield pairs of settings whose speeds do not differ by more than repetitions do.

    Numbers of workers are compared with the next in their series, and series with the fastest one
    of the same problem and number of workers.
    """
    groups: dict[tuple[str, str, int], list[tuple[str, list[float]]]] = {}
    for series in filter(lambda series: not hindrance(series)[0], all_series):
        for few, many in pairwise(series.workers):
            if _is_alike(ratio_interval(series.speeds(many), series.speeds(few))):
                yield f"{series.name}: {counted(few, 'worker')} and {counted(many, 'worker')}"
        for jobs in series.workers:
            if all(run.complete for run in series.at(jobs)):
                key = series.first.problem, series.first.kind, jobs
                walls = [run.wall for run in series.at(jobs)]
                groups.setdefault(key, []).append((series.name, walls))
    for (*_, jobs), rivals in groups.items():
        (fastest, least), *others = sorted(rivals, key=lambda rival: statistics.median(rival[1]))
        for name, walls in others:
            if _is_alike(ratio_interval(walls, least)):
                yield f"{counted(jobs, 'worker')}: {fastest}, and {name}"


def _is_alike(ratio: Range | None) -> bool:
    """Return True if equal speeds are within an interval."""
    return ratio is not None and ratio[0] <= 1 <= ratio[1]


def hindrance(series: Series) -> tuple[str, str]:
    """Return why runs show no speed-up, in a few words, and advice; nothing if they show one."""
    shortest = min(series.wall(jobs) for jobs in series.workers)
    if shortest < LEAST_SECONDS:
        return (
            "too short",
            f"its runs end within {shortest:.3g} s, so a speed-up would mean nothing; "
            f"measure a problem that takes one worker {2 * LEAST_SECONDS:g} s or more for each "
            f"of the most workers",
        )
    if not all(run.nodes for jobs in series.workers for run in series.at(jobs)):
        return "no nodes", "a run of it visited no node; measure a problem that is searched"
    if not series.work_is_known:
        return (
            "stopped",
            f"a run was stopped, and nodes of the engine {series.first.engine!r} do not show how "
            f"much of the work it did, so its speed-up is unknown; raise the time limit, or take "
            f"another engine",
        )
    return "", ""


def doubts(series: Series) -> Iterator[tuple[str, str]]:
    """Yield the doubts about the runs of a series: the kind in a few words, and advice."""
    backend, (why, advice) = series.first.backend, hindrance(series)
    if why:
        yield why, advice
        return
    for jobs in series.workers:
        runs = series.at(jobs)
        walls = [run.wall for run in runs]
        odd = outliers(walls)
        if odd:
            times = ", ".join(f"{walls[k]:.3g} s" for k in odd)
            yield (
                "outliers",
                f"with {counted(jobs, 'worker')}, {len(odd)} of {len(walls)} runs took much longer "
                f"or shorter than the median of {statistics.median(walls):.3g} s: {times}; measure "
                f"again on an idle machine",
            )
        share = cpu_share(runs)
        is_known = backend == "threading" or (backend == "loky" and find_spec("psutil"))
        if (0 if is_known else KNOWN_CPU) < share < LEAST_OF_CPU:
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


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted curve.

    Attributes
    ----------
    law : str
    parameters : ndarray of float64, shape (n,)
        Those that `LAWS` names, in order.
    low, high : ndarray of float64, shape (n,)
        Their confidence intervals of about 95 %.
    unit : float
        The speed of one worker, in units of the measured speed-up.
    error : float
        Root mean square of the residuals of the speed-up.
    """

    law: str
    parameters: Floats
    low: Floats
    high: Floats
    unit: float
    error: float

    def numbers(self, digits: int) -> str:
        """Return the parameters with their intervals, each to this number of digits."""
        parts = []
        for name, *values in zip(LAWS[self.law], self.parameters, self.low, self.high, strict=True):
            value, low, high = ("0" if n < TINY else f"{n:.{digits}g}" for n in values)
            parts.append(f"{name} {value} ({low} – {high})")
        return ", ".join(parts)

    def speedup(self, workers: npt.ArrayLike) -> Floats:
        """Return the measured speed-up by the curve at these numbers of workers."""
        return self.unit * _speedup(np.asarray(workers, np.float64), *self.parameters)


def can_fit() -> bool:
    """Return True if scipy is installed, which fits the curves."""
    return find_spec("scipy") is not None


def missing(law: str, workers: npt.ArrayLike) -> int:
    """Count the numbers of workers still to be measured before a law can be fitted.

    Examples
    --------
    >>> missing("Amdahl", [1, 2]), missing("Universal Scalability", [1, 2, 4, 8])
    (1, 0)
    """
    return max(0, len(LAWS[law]) + 2 - np.unique(np.asarray(workers)).size)


def fits(series: Series) -> list[Fit]:
    """Return the curves that can be fitted to a series."""
    if not can_fit() or hindrance(series)[0] or series.first.kind == "weak":
        return []
    speedups = series.speedups()
    curves = [fit(law, list(speedups), list(speedups.values())) for law in LAWS]
    return [curve for curve in curves if curve is not None]


def fit(law: str, workers: npt.ArrayLike, speedup: npt.ArrayLike) -> Fit | None:
    """Fit a law to the speed-up at some numbers of workers; return None if there are too few.

    Examples
    --------
    >>> curve = fit("Amdahl", [1, 2, 4, 8], [1, 1 / 0.55, 1 / 0.325, 1 / 0.2125])
    >>> round(float(curve.parameters[0]), 6)
    0.1
    """
    if missing(law, workers):
        return None
    from scipy.optimize import curve_fit
    from scipy.stats import t

    p, s = np.asarray(workers, np.float64), np.asarray(speedup, np.float64)
    most = np.array(list(LAWS[law].values()))
    terms = _terms(most.size, p)
    # P / S - 1 is linear in the parameters: linear least squares give the starting point
    start = np.clip(np.linalg.lstsq(terms, p / s - 1, rcond=None)[0], 0.0, most)
    curve = lambda p, log, *parameters: log + np.log(_speedup(p, *parameters))  # noqa: E731
    bounds = [-np.inf, *(0.0 for _ in most)], [np.inf, *most]
    fitted, covariance = curve_fit(curve, p, np.log(s), [0, *start], bounds=bounds, x_scale="jac")
    best, unit = fitted[1:], float(np.exp(fitted[0]))
    half = t.ppf((1 + CONFIDENCE) / 2, p.size - fitted.size) * np.sqrt(np.diag(covariance)[1:])
    low, high = np.clip(best - half, 0.0, most), np.clip(best + half, 0.0, most)
    error = np.sqrt(np.mean((unit * _speedup(p, *best) - s) ** 2))
    return Fit(law, best, low, high, unit, float(error))


def _speedup(workers: Floats, *parameters: float) -> Floats:
    return workers / (1 + _terms(len(parameters), workers) @ np.array(parameters))


def _terms(n: int, workers: Floats) -> Floats:
    return np.stack([workers - 1, workers * (workers - 1)][:n], axis=-1)
