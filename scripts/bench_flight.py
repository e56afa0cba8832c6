"""Efficiency of two far workers, with tasks whose length depends on the latency or does not.

    python scripts/bench_flight.py                        # benchmarks/results/flight.json

The hosts, their network, the cluster, the pool and the scheduler of the search are real. The tree
is simulated, and workers sleep for the time of each task, so that other programs of this machine
hardly change the results.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import Any

import bench_flight  # this module: workers cannot import a class of `__main__`
from host_clusters import HEAD, REPOSITORY, Cluster
from hosts import NAMES, Hosts
from measuring import options, write

from batchsolve.engines import get_engine
from batchsolve.problems.families import family
from batchsolve.scaling.simulation import Range, Subtrees, sample_shape, split_tree
from batchsolve.search.scheduler import Scheduler, Sizing
from batchsolve.workers import Pool, result_seconds

RATE = 1e6  # nodes that a worker visits in a second
NODES = 20e6  # of the tree whose shape is used
MEGABITS = "100"


class Sleep:
    """Work that takes as long as the task was simulated to take."""

    def __call__(self, task: Any) -> Any:
        """Sleep, and return the simulated result."""
        time.sleep(task.seconds)
        return task


def searched(kind: str, address: str, seconds: float, knows_flight: bool) -> dict[str, Any]:
    """Search a tree that takes these seconds for each worker; return the efficiency."""
    shape = sample_shape(family("queens:15"), [], get_engine("dlx"), NODES)
    with Pool(None, kind, address) as pool:
        flight = pool.workers.flight_seconds()
        sizing = Sizing.of(pool.jobs, result_seconds(kind), flight if knows_flight else 0.0)
        subtrees = Subtrees(shape, RATE)
        stacks, *_ = split_tree(seconds * pool.jobs * RATE, pool.jobs, None, None, subtrees)
        scheduler = Scheduler(subtrees, pool.jobs, sizing=sizing)
        scheduler.add(Range(stacks))
        lengths: list[float] = []
        begin, work = time.perf_counter(), bench_flight.Sleep()
        while not scheduler.is_empty:
            found = scheduler.run_round(pool.start(work, scheduler))
            lengths.extend(done.result.seconds for done in found)
        wall = time.perf_counter() - begin
    return {
        "flight_seconds": round(flight, 3),
        "sizing": asdict(sizing),
        "tasks": len(lengths),
        "mean_task": round(sum(lengths) / len(lengths), 3),
        "seconds": round(wall, 2),
        "efficiency": round(seconds / wall, 3),
    }


def main() -> None:
    """Run the benchmark."""
    parser = options(__doc__, "flight")
    parser.add_argument("--kinds", default="dask,ray")
    parser.add_argument("--latencies", default="0,1,50", help="milliseconds each way")
    parser.add_argument("--seconds", default="20", help="of work for each worker")
    chosen = parser.parse_args()
    scripts = {"PYTHONPATH": f"{REPOSITORY}/scripts"}
    rows = []
    for kind in chosen.kinds.split(","):
        for latency in chosen.latencies.split(","):
            with Hosts("flight") as hosts:
                cluster = Cluster(hosts, kind, env=scripts)
                cluster.start()
                for name in NAMES if float(latency) else ():
                    hosts.fault("slow", name, latency, MEGABITS)
                for knows in ("", "yes"):
                    how = "_search", kind, cluster.address, chosen.seconds, knows
                    told = hosts.run(HEAD, sys.executable, __file__, *how, env=scripts)
                    if told.returncode:
                        raise SystemExit(told.stderr)
                    facts = {"kind": kind, "latency_ms": latency, "knows_flight": bool(knows)}
                    rows.append(facts | json.loads(told.stdout))
                    print(json.dumps(rows[-1]), flush=True)
    write(chosen, {"table": rows})


if __name__ == "__main__":
    if sys.argv[1:2] == ["_search"]:
        _, _, kind, address, seconds, knows = sys.argv
        print(json.dumps(searched(kind, address, float(seconds), bool(knows))))
    else:
        main()
