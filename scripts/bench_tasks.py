"""Benchmark how many tasks a second one scheduler of a cluster hands out.

    unshare -rn sh -c 'ip link set lo up; python scripts/bench_tasks.py'

The tasks are searches of some microseconds. A core that other programs use
slows the tasks, but not the seconds of a core that each kind of process spends on a task: a process
that does one thing at a time, as the command and Dask's scheduler do, takes at most one task in
these seconds. In a network of its own, as above, the bytes on loopback are those of the tasks.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from measuring import options, write

from batchsolve.engines import Task, get_engine
from batchsolve.problems.families import family
from batchsolve.problems.stacks import Stacks
from batchsolve.search.tree import TreeWork
from batchsolve.workers import Done, Pool

N_TASKS = 2000
WORK = TreeWork(get_engine("dlx"), family("queens:4"))
TASK = Task.of(Stacks.from_lists([[0]]))
KINDS = {  # a mark in the command line of a process -> its kind
    "dask scheduler": "scheduler",
    "dask worker": "workers",
    "spawn_main": "workers",
    "popen_loky": "workers",
    "ray::": "workers",
    "raylet": "scheduler",
    "gcs_server": "scheduler",
}


def kind_of(process: psutil.Process) -> str:
    """Return the kind of a process."""
    command = " ".join(process.cmdline())
    return next((kind for mark, kind in KINDS.items() if mark in command), "other")


def processor_seconds() -> dict[str, float]:
    """Return the seconds of a core that this process and its descendants have spent, by kind."""
    spent = {"command": time.process_time()}
    for process in psutil.Process().children(recursive=True):
        times = process.cpu_times()
        kind = kind_of(process)
        spent[kind] = spent.get(kind, 0.0) + times.user + times.system
    return spent


def loopback_bytes() -> int:
    """Return the bytes that loopback has carried."""
    return int(psutil.net_io_counters(pernic=True)["lo"].bytes_sent)


@contextmanager
def dask(workers: int) -> Iterator[dict[str, Any]]:
    """Start a scheduler and workers, each a process; yield the options of a pool."""
    with tempfile.TemporaryDirectory() as folder:
        found = ["--scheduler-file", f"{folder}/scheduler.json"]
        program = [str(Path(sys.executable).parent / "dask")]
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        scheduler = ["scheduler", "--host", "127.0.0.1", "--port", "8786", *found]
        each = ["worker", *found, "--nworkers", str(workers), "--nthreads", "1"]
        begun = [subprocess.Popen([*program, *words], **quiet) for words in (scheduler, each)]
        try:
            wait_for(workers)
            yield {"backend": "dask", "address": "tcp://127.0.0.1:8786"}
        finally:
            for process in reversed(begun):
                process.terminate()
                process.wait()


def wait_for(workers: int) -> None:
    """Wait until a scheduler has its workers."""
    import distributed

    while True:
        try:
            with distributed.Client("tcp://127.0.0.1:8786", timeout=1) as client:
                client.wait_for_workers(workers, 60)
                return
        except OSError:
            time.sleep(0.1)


@contextmanager
def here(backend: str, workers: int) -> Iterator[dict[str, Any]]:
    """Yield the options of a pool that starts its own workers."""
    yield {"backend": backend, "jobs": workers}


def measured(pool: Pool, n_tasks: int) -> dict[str, float]:
    """Run tasks that take no time; return what one takes."""
    spent, carried, begin = processor_seconds(), loopback_bytes(), time.perf_counter()
    n_done = sum(
        isinstance(each, Done) for each in pool.start(WORK, ((k, TASK) for k in range(n_tasks)))
    )
    seconds = time.perf_counter() - begin
    after = processor_seconds()
    assert n_done == n_tasks
    by_kind = {
        f"{kind} ms": round(1000 * (after[kind] - spent.get(kind, 0.0)) / n_tasks, 4)
        for kind in sorted(after)
    }
    carried = loopback_bytes() - carried
    return {"tasks/s": round(n_tasks / seconds), "bytes": carried // n_tasks, **by_kind}


def best(options_of_pool: dict[str, Any], n_tasks: int, repeat: int) -> dict[str, float]:
    """Return the fastest of some measurements, of which a first is extra."""
    with Pool(**options_of_pool) as pool:
        measured(pool, n_tasks // 10)
        found = [measured(pool, n_tasks) for _ in range(repeat)]
    return max(found, key=lambda each: each["tasks/s"])


def main() -> None:
    """Run the benchmark."""
    parser = options(__doc__, "tasks", repeat=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 8])
    parser.add_argument("--tasks", type=int, default=N_TASKS)
    parser.add_argument("--backends", nargs="+", default=["threading", "loky", "dask", "ray"])
    chosen = parser.parse_args()
    results: dict[str, Any] = {}
    for backend in chosen.backends:
        for workers in chosen.workers:
            with dask(workers) if backend == "dask" else here(backend, workers) as how:
                results[f"{backend}, {workers} workers"] = best(how, chosen.tasks, chosen.repeat)
    write(chosen, {"tasks": chosen.tasks, "results": results})


if __name__ == "__main__":
    main()
