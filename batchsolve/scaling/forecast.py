"""Forecasts for more workers: costs from measured runs, a tree shape, simulations of both."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from batchsolve.engines.choice import engine_for, visits_the_same_nodes
from batchsolve.errors import BatchsolveError, InputError
from batchsolve.runs.estimate import estimate
from batchsolve.scaling.experiment import Experiment
from batchsolve.scaling.measure import MeasuredRun, Workload
from batchsolve.scaling.simulation import Costs, Simulated, simulate
from batchsolve.scaling.tree_shape import sample_shape
from batchsolve.search.scheduler import PIECES_PER_WORKER, TASK_SECONDS, Sizing
from batchsolve.workers import result_seconds

PROBES = 3000  # to estimate the size of a tree that no run has finished
DEPTHS = (None, 0, 1, 2, 3, 4, 5, 6, 7, 8)
MOST_STACKS = 300_000  # of a split; deeper splits are not tried
BUDGET_SECONDS = (None, 0.05, 0.2, 1.0, 3.0, 10.0, 30.0)
CURVE_POINTS = 17  # powers of two from 1 to 65,536
ALIKE = "tasks as for few workers"


@dataclass(frozen=True, eq=False)
class Check:
    """A run beside its simulation.

    Attributes
    ----------
    run : MeasuredRun
    measured, simulated : float
        Seconds for the whole tree; a stopped run is assumed to go on at its pace.
    simulated_tasks : int
    """

    run: MeasuredRun
    measured: float
    simulated: float
    simulated_tasks: int

    @property
    def error(self) -> float:
        """The error of the simulated time, as a share of the measured time."""
        return self.simulated / self.measured - 1


@dataclass(frozen=True, eq=False)
class Choice:
    """The simulations for one number of workers.

    Attributes
    ----------
    workers : int
    what_if : dict of str to Simulated
        The search as it is, and variants that change one thing each.
    depths, budgets : list of (setting, Simulated)
        Every depth with the automatic budget, every budget (in seconds) with the automatic depth.
    """

    workers: int
    what_if: dict[str, Simulated]
    depths: list[tuple[int | None, Simulated]]
    budgets: list[tuple[float | None, Simulated]]

    @property
    def best_depth(self) -> int | None:
        """The split depth of the shortest simulated run; None is automatic."""
        return min(self.depths, key=lambda tried: tried[1].wall)[0]

    @property
    def best_budget(self) -> float | None:
        """The budget of the shortest simulated run, in seconds; None is automatic."""
        return min(self.budgets, key=lambda tried: tried[1].wall)[0]


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
    checks : list of Check
    curve : list of Simulated
        Simulations with the automatic settings, by number of workers.
    choices : list of Choice
    """

    name: str
    nodes: float
    nodes_known: bool
    costs: Costs
    checks: list[Check]
    curve: list[Simulated]
    choices: list[Choice]


def forecast(
    workload: Workload,
    experiment: Experiment,
    workers: Sequence[int],
    *,
    latency: float = 0.0,
    shape_seconds: float = 10.0,
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
    shape_seconds : float
        Time in which to sample the shape of the tree.

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
            found.append(_forecast(name, workload, runs, workers, latency, shape_seconds))
        except BatchsolveError as error:  # the other forecasts go on
            left_out.append(f"{name}: no forecast: {error}")
    return found, left_out


def _forecast(
    name: str,
    workload: Workload,
    runs: list[MeasuredRun],
    workers: Sequence[int],
    latency: float,
    shape_seconds: float,
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
    shape = sample_shape(problem, stack, engine, nodes, seconds=shape_seconds)
    costs = measured_costs(runs)

    def simulated(jobs: int, costs: Costs, **rules: Any) -> Simulated:
        return simulate(nodes, jobs, costs, shape, **rules)

    checks = []
    for run in runs:
        again = simulated(run.jobs, costs, split_depth=run.split_depth)
        checks.append(Check(run, run.wall * nodes / run.nodes, again.wall, again.tasks))
    away = replace(costs, overhead=costs.overhead + latency)
    powers = [2**k for k in range(CURVE_POINTS) if 2**k <= max(workers, default=1)]
    points = sorted({*powers, *workers})
    curve = [simulated(p, away) for p in points]
    choices = [_choice(p, away, simulated) for p in workers]
    return Forecast(name, nodes, bool(counted), costs, checks, curve, choices)


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


def _choice(workers: int, costs: Costs, simulated: Callable[..., Simulated]) -> Choice:
    few = Sizing(TASK_SECONDS, 0.0, PIECES_PER_WORKER * workers)
    what_if = {
        "automatic settings": simulated(workers, costs),
        "results cost no time": simulated(workers, replace(costs, master=0.0)),
        "no time between tasks": simulated(workers, replace(costs, overhead=0.0)),
        ALIKE: simulated(workers, costs, sizing=few),
    }
    depths: list[tuple[int | None, Simulated]] = []
    for depth in DEPTHS:
        depths.append((depth, simulated(workers, costs, split_depth=depth)))
        if depth is not None and depths[-1][1].stacks > MOST_STACKS:
            break
    nodes = {s: None if s is None else max(1, int(s * costs.rate)) for s in BUDGET_SECONDS}
    budgets = [(s, simulated(workers, costs, budget=budget)) for s, budget in nodes.items()]
    return Choice(workers, what_if, depths, budgets)
