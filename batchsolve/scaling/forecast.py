"""Forecasts for more workers: costs from measured runs, a tree shape, simulations of both."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from batchsolve.engines.choice import engine_for, visits_the_same_nodes
from batchsolve.errors import BatchsolveError, InputError
from batchsolve.runs.estimate import estimate
from batchsolve.scaling.experiment import Experiment
from batchsolve.scaling.measure import MeasuredRun, Workload, depth_or_auto
from batchsolve.scaling.simulation import Costs, Simulated, sample_shape, simulate
from batchsolve.search.scheduler import PIECES_PER_WORKER, TASK_SECONDS, Sizing
from batchsolve.workers import result_seconds

PROBES = 3000  # to estimate the size of a tree that no run has finished
DEPTHS = (None, 0, 1, 2, 3, 4, 5, 6, 7, 8)
MOST_STACKS = 300_000  # of a split; deeper splits are not tried
BUDGET_SECONDS = (None, 0.05, 0.2, 1.0, 3.0, 10.0, 30.0)
CURVE_POINTS = 17  # powers of two from 1 to 65,536
AS_IT_IS = "automatic settings"


Point = dict[str, Any]
"""One simulation of a forecast: a row of ``forecast.csv``; see `point_of`."""


def point_of(part: str, setting: str, found: Simulated, measured: float | None = None) -> Point:
    """Return a row of ``forecast.csv``.

    Parameters
    ----------
    part : {"check", "curve", "what if", "depth", "budget"}
        A measured run again; automatic settings; those and variants that change one cost each; a
        split depth with the automatic budget; a budget with the automatic depth.
    setting : str
        The depth, the budget, or the name of the variant.
    found : Simulated
    measured : float, optional
        The measured seconds of a check for the whole tree; a stopped run is assumed to go on at its
        pace. The error is the difference to them, as a share of them.
    """
    return {
        "part": part,
        "setting": setting,
        "workers": found.workers,
        "simulated_seconds": found.wall,
        "measured_seconds": measured,
        "error": None if measured is None else found.wall / measured - 1,
        "efficiency": found.efficiency,
        "tasks": found.tasks,
    }


@dataclass(frozen=True, eq=False)
class Forecast:
    """The forecast for one problem, engine and backend.

    Attributes
    ----------
    name : str
    nodes : float
        The size of the tree.
    nodes_known : bool
        True if the size was counted; otherwise it is estimated.
    costs : Costs
    points : list of Point
    """

    name: str
    nodes: float
    nodes_known: bool
    costs: Costs
    points: list[Point]

    def of(self, part: str, workers: int | None = None) -> list[Point]:
        """Return the points of a part, perhaps only those with a number of workers."""
        found = [point for point in self.points if point["part"] == part]
        return [point for point in found if workers in (None, point["workers"])]

    @property
    def workers(self) -> list[int]:
        """The numbers of workers for which depths and budgets were tried."""
        return list(dict.fromkeys(point["workers"] for point in self.of("what if")))


def forecast(
    workload: Workload,
    experiment: Experiment,
    workers: Sequence[int],
    latency: float = 0.0,
) -> tuple[list[Forecast], list[str]]:
    """Simulate the search of a workload with the measured numbers of workers, and with more.

    Parameters
    ----------
    workload : Workload
        A workload of strong scaling.
    experiment : Experiment
        The runs of the workload, among others.
    workers : sequence of int
        Numbers of workers for which to try depths and budgets.
    latency : float
        Seconds that a network adds between a worker's tasks.

    Returns
    -------
    list of Forecast, list of str
        One forecast for every engine and backend; and the reasons for those that cannot be made.
    """
    groups: dict[tuple[str, str], list[MeasuredRun]] = {}
    for run in experiment.runs:
        if run.problem == workload.name and run.kind == "strong":
            groups.setdefault((run.engine, run.backend), []).append(run)
    found, left_out = [], []
    for (engine, backend), runs in groups.items():
        name = f"{workload.name}, {engine}, {backend}"
        try:
            if not visits_the_same_nodes(engine):
                raise InputError(
                    f"the nodes of the engine {engine!r} depend on the cuts of the search, so it "
                    f"cannot be simulated"
                )
            found.append(_forecast(name, workload, runs, workers, latency))
        except BatchsolveError as error:  # the other forecasts go on
            left_out.append(f"{name}: no forecast: {error}")
    return found, left_out


def _forecast(
    name: str,
    workload: Workload,
    runs: list[MeasuredRun],
    workers: Sequence[int],
    latency: float,
) -> Forecast:
    """Simulate the runs of one engine on one backend, and the search on more workers."""
    problem, stack = workload.problem, workload.stacks[0]
    engine = engine_for(runs[0].engine, problem)
    counted = [run.nodes for run in runs if run.complete]
    if counted:
        nodes = float(counted[0])
    else:
        guess = estimate(problem, stack, probes=PROBES, engine=engine.name)
        nodes = max(guess.nodes, float(max(run.nodes for run in runs)))
    shape = sample_shape(problem, stack, engine, nodes)
    costs = measured_costs(runs)

    def simulated(jobs: int, costs: Costs, **rules: Any) -> Simulated:
        return simulate(nodes, jobs, costs, shape, **rules)

    points = []
    for run in runs:
        again = simulated(run.jobs, costs, split_depth=run.split_depth)
        whole = run.wall * nodes / run.nodes
        points.append(point_of("check", f"depth {run.depth}", again, whole))
    away = replace(costs, overhead=costs.overhead + latency)
    powers = {2**k for k in range(CURVE_POINTS) if 2**k <= max(workers, default=1)}
    points += [point_of("curve", AS_IT_IS, simulated(p, away)) for p in sorted({*powers, *workers})]
    for p in workers:
        points += _variants(p, away, simulated)
    return Forecast(name, nodes, bool(counted), costs, points)


def measured_costs(runs: Sequence[MeasuredRun]) -> Costs:
    """Derive costs from the runs of one problem; the report describes the assumptions.

    Raises
    ------
    InputError
        If no run had a task for a worker.
    """
    runs = [run for run in runs if run.tasks and run.busy > 0]
    if not runs:
        raise InputError(
            "nothing was measured: no run had a task for a worker; choose a larger problem"
        )
    least = min(run.jobs for run in runs)
    few = [run for run in runs if run.jobs == least]
    several = [run for run in runs if run.jobs > 1] or few
    split = [r.split_seconds / r.split_nodes for r in runs if r.split_nodes]
    return Costs(
        rate=statistics.median(run.rate for run in few),
        overhead=statistics.median(run.gap for run in several),
        master=max(statistics.median(run.master for run in group) for group in (few, several)),
        split=statistics.median(split) if split else 0.0,
        assumed=result_seconds(runs[0].backend),
    )


def _variants(workers: int, costs: Costs, simulated: Callable[..., Simulated]) -> Iterator[Point]:
    """Yield simulations of a number of workers: other costs, depths and budgets."""
    few = Sizing(TASK_SECONDS, 0.0, PIECES_PER_WORKER * workers)
    yield point_of("what if", AS_IT_IS, simulated(workers, costs))
    free = replace(costs, master=0.0)
    yield point_of("what if", "results cost no time", simulated(workers, free))
    gapless = replace(costs, overhead=0.0)
    yield point_of("what if", "no time between tasks", simulated(workers, gapless))
    yield point_of("what if", "tasks as for few workers", simulated(workers, costs, sizing=few))
    for depth in DEPTHS:
        found = simulated(workers, costs, split_depth=depth)
        yield point_of("depth", str(depth_or_auto(depth)), found)
        if depth is not None and found.stacks > MOST_STACKS:
            break
    for seconds in BUDGET_SECONDS:
        budget = None if seconds is None else max(1, int(seconds * costs.rate))
        setting = "auto" if seconds is None else f"{seconds:g} s"
        yield point_of("budget", setting, simulated(workers, costs, budget=budget))
