"""Clusters of three hosts: the cost of the network, in fair and in foul weather.

    python scripts/bench_hosts.py                         # benchmarks/results/hosts.json
    python scripts/bench_hosts.py --kinds dask --threads 1 --weather fair,50ms-10Mbit

A corpus is solved from S3 to S3, and a search is counted and listed (a run), on the two nodes of
`hosts`; and, for comparison, by two processes of the head. Weather is the latency of each host's
packets and its rate in each direction. Bytes are those of the cables of both nodes. The efficiency
is the time of those processes, which have to start, divided by that of the cluster; the busy share
is that of the workers' time in which they do tasks, which depends less on other programs.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from host_clusters import HEAD, NODES, Cluster, put, stored
from hosts import NAMES, Hosts, address
from measuring import options, write

from batchsolve.runs.augment import augment_file

FAIR = "fair"
CORPUS = "datasets/sudoku9.csv"
FILES = 4
LOCAL = "/root/in.csv"
JOBS = ("solve", "solve by value", "count", "enumerate")
# the command, but it notes in a file the seconds of each task that has come back
COUNTED = """
import batchsolve.__main__ as program
from batchsolve.search.scheduler import Scheduler
take, file = Scheduler.take, open("tasks", "w", buffering=1)
def counted(scheduler, done):
    print(getattr(done, "seconds", 0.0), file=file)
    return take(scheduler, done)
Scheduler.take = counted
program.main()
"""


def slow_down(hosts: Hosts, weather: str) -> None:
    """Slow all cables down, if they are to be."""
    if weather != FAIR:
        latency, rate = weather.removesuffix("Mbit").split("ms-")
        for name in NAMES:
            hosts.fault("slow", name, latency, rate)


def node_bytes(hosts: Hosts) -> int:
    """Return the bytes that the nodes have sent and received."""
    traffic = hosts.traffic()
    return sum(traffic[node][f"{way}_bytes"] for node in NODES for way in ("sent", "received"))


def measured(hosts: Hosts, job: str, problem: str, workers: Sequence[str]) -> dict[str, Any]:
    """Run a job; return its time, its traffic and its result."""
    hosts.run(HEAD, "rm", "-rf", "run", "out.parquet")
    out = f"out-{time.time_ns()}"
    how = "--json", "--quiet", *workers
    commands = {
        "solve": ["solve", address("in"), "-o", address(out)],
        "solve by value": ["solve", LOCAL, "-o", "out.parquet"],
        "count": ["count", problem, "--engine", "dlx"],
        "enumerate": ["enumerate", problem, "--engine", "dlx", "-o", "run"],
    }
    before, begin = node_bytes(hosts), time.perf_counter()
    done = hosts.run(HEAD, sys.executable, "-c", COUNTED, *commands[job], *how)
    seconds, n_bytes = time.perf_counter() - begin, node_bytes(hosts) - before
    if done.returncode:
        return {"job": job, "error": done.stderr.strip().splitlines()[-1]}
    facts = json.loads(done.stdout)
    parts = stored(hosts, out) if job == "solve" else {}
    tasks = [float(line) for line in hosts.run(HEAD, "cat", "tasks").stdout.split()]
    n_tasks, jobs = len(tasks), facts["jobs"]
    result = "".join(parts.values()) or facts.get("count", facts.get("unique"))
    return {
        "job": job,
        "seconds": round(seconds, 2),
        "own_seconds": round(facts["seconds"], 2),
        "busy_share": round(sum(tasks) / (jobs * facts["seconds"]), 3),
        "bytes": n_bytes,
        "tasks": n_tasks,
        "bytes_per_task": round(n_bytes / n_tasks),
        **({"bytes_per_row": round(n_bytes / facts["rows"], 1)} if "rows" in facts else {}),
        "result": hash_of(result),
    }


def hash_of(result: str | int) -> str:
    """Return a short form of a result, which equal results share."""
    return hashlib.sha256(str(result).encode()).hexdigest()[:12]


def corpus(rows: int) -> str:
    """Return the text of a corpus of `rows` rows, all different."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        whole = Path(folder) / "all.csv"
        augment_file(CORPUS, whole, rows // 10_000, column="puzzle")
        lines = whole.read_text().splitlines()
    return "\n".join(line.partition(",")[0] for line in lines) + "\n"


def put_corpus(hosts: Hosts, text: str) -> None:
    """Put a corpus into the store, and onto the disk of the head."""
    pipe, none = subprocess.PIPE, subprocess.DEVNULL
    with hosts.popen(HEAD, "tee", LOCAL, stdin=pipe, stdout=none, text=True) as tee:
        tee.communicate(text)
    put(hosts, Path(LOCAL), "in", FILES)


def main() -> None:
    """Measure what the command line says."""
    parser = options(__doc__, "hosts")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--problem", default="queens:16", help="that takes some 20 s of one core")
    parser.add_argument("--kinds", default="dask,ray")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--weather", default=FAIR)
    parser.add_argument("--jobs", default=",".join(JOBS))
    chosen = parser.parse_args()
    rows: list[dict[str, Any]] = []
    alone: dict[str, float] = {}  # the seconds of each job on one host, which comes first

    def note(hosts: Hosts, workers: Sequence[str], **facts: Any) -> None:
        for job in chosen.jobs.split(","):
            row = {**facts, **measured(hosts, job, chosen.problem, workers)}
            if "own_seconds" in row:
                alone.setdefault(job, row["own_seconds"])
                row["efficiency"] = round(alone[job] / row["own_seconds"], 3)
            rows.append(row)
            print(json.dumps(rows[-1]), flush=True)

    def all_of_them(kind: str, threads: int, weather: str) -> None:
        with Hosts("bench") as hosts:
            put_corpus(hosts, text)
            if not kind:
                note(hosts, ["--backend", "loky", "--jobs", "2"], kind="one host", threads=1)
                return
            cluster = Cluster(hosts, kind, threads)
            cluster.start()
            slow_down(hosts, weather)
            note(hosts, cluster.options, kind=kind, threads=threads, weather=weather)

    text = corpus(chosen.rows)
    all_of_them("", 1, FAIR)
    for weather in chosen.weather.split(","):
        for kind in chosen.kinds.split(","):
            for threads in map(int, chosen.threads.split(",")):
                all_of_them(kind, threads, weather)
    write(chosen, {"rows": chosen.rows, "bytes": len(text), "table": rows})


if __name__ == "__main__":
    main()
