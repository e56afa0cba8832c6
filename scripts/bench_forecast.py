"""Forecast a search of an hour on a thousand and on a hundred thousand workers of Dask.

The costs are measured on a cluster of two workers and a scheduler process; the tree has the
shape of that of 24 queens. Beside each simulation stands a model on paper: the scheduler takes r
seconds for a task, so N workers keep it busy if tasks are shorter than N r; and a worker waits for
the latency and for its next task after each.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from bench_tasks import dask
from measuring import options, write

from batchsolve.engines import engine_for
from batchsolve.runs.estimate import estimate
from batchsolve.scaling.measure import Plan, read_workloads, run_plan
from batchsolve.scaling.simulation import Costs, measured_costs, sample_shape, simulate
from batchsolve.search.scheduler import Sizing
from batchsolve.workers.base import RESULT_SECONDS

PROBLEM = "queens:24"
LATENCIES = 0.001, 0.05
SECONDS = 3600.0  # of the search, with all workers and no loss
AS_FOR_THREADS = "as for threads"


def row(workers: int, latency: float, costs: Costs, shape: Any) -> dict[str, Any]:
    """Return a simulation and the model."""
    sizing = Sizing.of(workers, costs.assumed)
    away = replace(costs, overhead=costs.overhead + latency)
    found = simulate(workers * SECONDS * costs.rate, workers, away, shape)
    task = found.work / found.tasks * found.share  # seconds, on average
    kept_busy = min(1.0, task / (workers * costs.master))
    return {
        "workers": workers,
        "latency": latency,
        "sizes": AS_FOR_THREADS if costs.assumed == RESULT_SECONDS else "of Dask",
        "shortest and longest task": [sizing.least_seconds, sizing.full_seconds],
        "mean task": round(task, 3),
        "tasks/s": round(found.tasks / found.share / found.wall),
        "simulated efficiency": round(float(found.efficiency), 3),
        "simulated share": round(found.share, 3),
        "efficiency on paper": round(float(min(kept_busy, task / (task + away.overhead))), 3),
    }


def main() -> None:
    """Run the benchmark."""
    parser = options(__doc__, "forecast", repeat=2)
    parser.add_argument("--workers", type=int, nargs="+", default=[1000, 100_000])
    parser.add_argument("--time-limit", type=float, default=15.0)
    chosen = parser.parse_args()
    (workload,) = read_workloads(PROBLEM)
    with dask(2) as how:
        where = {"backends": ("dask",), "jobs": (None,), "address": how["address"]}
        plan = Plan(repeat=chosen.repeat, time_limit=chosen.time_limit, **where)
        runs = [run for run, _ in run_plan([workload], plan)]
    costs = measured_costs(runs)
    engine = engine_for(runs[0].engine, workload.problem)
    nodes = estimate(workload.problem, workload.stacks[0], engine=engine.name).nodes
    shape = sample_shape(workload.problem, workload.stacks[0], engine, nodes)
    rows = []
    for workers in chosen.workers:
        rows += [row(workers, latency, costs, shape) for latency in LATENCIES]
        rows.append(row(workers, LATENCIES[0], replace(costs, assumed=RESULT_SECONDS), shape))
        print(*rows[-3:], sep="\n", flush=True)
    busy = {f"{task} s": round(task / costs.master) for task in (0.2, 1.0, 10.0)}
    measured = {"costs": asdict(costs), "engine": engine.name, "nodes of the tree": nodes}
    write(chosen, {**measured, "workers that keep the scheduler busy": busy, "forecasts": rows})


if __name__ == "__main__":
    main()
