"""The jobs of a soak: commands so small that it can kill a thousand, and clusters for them."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from kinds import graphs, with_costs

from batchsolve.formats.exact_cover_files import write_dlx
from batchsolve.formats.whole_files import unpacked
from batchsolve.problems.families import family
from batchsolve.runs.export import export_run

HOME = Path(__file__).resolve().parents[1]
N_WORKERS = 2
N_ROWS = 500  # of each file, if a job has several
N_INSTANCES = 500
MEND_SECONDS = 1.0


@dataclass(frozen=True)
class Job:
    """A command, with its expected result.

    Attributes
    ----------
    arguments : callable
        Takes a folder and the number of earlier starts there; returns the arguments.
    result : callable
        Takes the same and the output of the command; returns the value to compare.
    files : sequence of str
        The files in the folder at the end.
    code : int
        The exit code of a finished run: 1 if the input has invalid rows.
    """

    arguments: Callable[[Path, int], list[str]]
    result: Callable[[Path, int, str], str]
    files: tuple[str, ...] | None
    code: int = 0


def digest(path: Path) -> str:
    """Return a checksum of a file; of a compressed one, of its content."""
    with path.open("rb") as file:
        return hashlib.sha256(unpacked(file).read()).hexdigest()[:16]


def writing(command: str, source: Path, output: str, *options: str, code: int = 0) -> Job:
    """Return the job of a command that makes one file of another, or of a folder."""

    def arguments(folder: Path, begun: int) -> list[str]:
        return [command, str(source), "-o", str(folder / output), *options]

    def result(folder: Path, begun: int, printed: str) -> str:
        return digest(folder / output)

    return Job(arguments, result, (output,), code)


def rewriting(command: str, inputs: Path, suffix: str, *options: str) -> Job:
    """Return the job of a command that makes a table of a corpus, in the same format."""
    how = ("--resume", "--chunk", "100", *options)
    return writing(command, inputs / f"in{suffix}", f"out{suffix}", *how)


def solving(inputs: Path, suffix: str, *options: str) -> Job:
    """Return the job that solves a corpus, from a file to one of the same format."""
    return rewriting("solve", inputs, suffix, "--engine", "dlx", *options)


def solving_a_folder(inputs: Path) -> Job:
    """Return the job that solves the files of a folder into shards in another folder."""

    def arguments(folder: Path, begun: int) -> list[str]:
        return ["solve", str(inputs), "-o", f"{folder}/out/", "--resume", "--engine", "dlx"]

    def result(folder: Path, begun: int, printed: str) -> str:
        parts = sorted((folder / "out").iterdir())
        return " ".join(f"{part.name} {digest(part)}" for part in parts)

    return Job(arguments, result, ("out",))


def deduping(inputs: Path, *options: str) -> Job:
    """Return the job that dedupes puzzles among invalid rows, restarted after each kill."""
    return writing("dedupe", inputs / "spoiled.csv", "out.csv", *options, code=1)


def enumerating(problem: Path | str, *options: str) -> Job:
    """Return the job that writes every solution of a problem."""

    def arguments(folder: Path, begun: int) -> list[str]:
        how = ["--resume", "--engine", "dlx", *options]
        return ["enumerate", str(problem), "-o", str(folder / "run"), *how]

    def result(folder: Path, begun: int, printed: str) -> str:
        kept = set(os.listdir(folder / "run"))
        if kept != {"journal.sqlite", "solutions"}:
            return f"left in the run: {sorted(kept)}"
        export_run(str(folder / "run"), str(folder / "sorted.csv"))
        found = digest(folder / "sorted.csv")
        (folder / "sorted.csv").unlink()
        return found

    return Job(arguments, result, ("run",))


def counting(problem: str) -> Job:
    """Return the job that counts the solutions of a problem, and compares nodes too."""

    def arguments(folder: Path, begun: int) -> list[str]:
        how = ["--resume", "--engine", "dlx", "--budget", "8000", "--json"]
        return ["count", problem, "--run", str(folder / "run"), *how]

    def result(folder: Path, begun: int, printed: str) -> str:
        facts = json.loads(printed)
        return f"{facts['count']} in {facts['nodes']} nodes, {facts['failures'] or 'all'}"

    return Job(arguments, result, ("run",))


def write_instances(folder: Path) -> None:
    """Write easy problems, and a few hard ones among them, each into a file."""
    folder.mkdir()
    easy = [
        write_dlx(family(f"{name}:{n}")) for n in (5, 6, 7, 8) for name in ("queens", "langford")
    ]
    hard = write_dlx(family("queens:11"))
    for k in range(N_INSTANCES):
        (folder / f"{k:04d}.dlx").write_text(hard if k % 160 == 80 else easy[k % len(easy)])


def scaling(problem: str) -> Job:
    """Return the job that measures searches; it cannot be resumed, so it restarts elsewhere."""

    def arguments(folder: Path, begun: int) -> list[str]:
        return ["scale", problem, "-o", str(folder / f"scaling{begun}"), "--repeat", "1"]

    def result(folder: Path, begun: int, printed: str) -> str:
        runs = pyarrow.csv.read_csv(folder / f"scaling{begun}" / "runs.csv").select(
            ["count", "nodes", "complete"]
        )
        return str({tuple(row.values()) for row in runs.to_pylist()})

    return Job(arguments, result, None)


def jobs_in(folder: Path) -> dict[str, Job]:
    """Write the inputs of the jobs into a folder; return the jobs."""
    with open(HOME / "datasets" / "sudoku9.csv", newline="") as source:
        rows = [{name: row[name] for name in ("puzzle", "level")} for row in csv.DictReader(source)]
    table = pa.Table.from_pylist(rows)
    for suffix in (".csv", ".csv.gz"):
        with pa.output_stream(str(folder / f"in{suffix}")) as file:
            pa.csv.write_csv(table, file)
    pa.parquet.write_table(table, folder / "in.parquet", row_group_size=1000)
    spoiled = [
        row["puzzle"] if k % 3 else row["puzzle"][: k % 83] + "x\x7fé"[k % 7 % 3]
        for k, row in enumerate(rows * 4)
    ]
    (folder / "spoiled.csv").write_text("\n".join(["puzzle", *spoiled, ""]), "utf-8")
    (folder / "several").mkdir()
    for begin in range(0, len(table), N_ROWS):
        with pa.output_stream(str(folder / "several" / f"{begin:06d}.csv")) as file:
            pa.csv.write_csv(table.slice(begin, N_ROWS), file)
    write_instances(folder / "instances")
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "grid.txt").write_text("1234" + "." * 32)
    bounds, costs = folder / "bounds.dlx", folder / "costs.dlx"
    bounds.write_text(write_dlx(graphs(8, 3, 3)))
    costs.write_text(write_dlx(with_costs("langford:12")))
    return {
        "solve-csv": solving(folder, ".csv"),
        "solve-gz": solving(folder, ".csv.gz"),
        "solve-parquet": solving(folder, ".parquet"),
        "solve-jsonl": solving(folder, ".jsonl"),
        "solve-folder": solving_a_folder(folder / "several"),
        "solve-canonical": solving(folder, ".csv", "--canonical"),
        "augment": rewriting("augment", folder, ".csv", "-n", "5"),
        "dedupe": deduping(folder),
        "dedupe-symmetry": deduping(folder, "--up-to-symmetry", "--mark"),
        "enumerate": enumerating(folder / "grid.txt", "--budget", "8000"),
        "enumerate-bounds": enumerating(bounds, "--budget", "8000"),
        "enumerate-best": enumerating(costs, "--budget", "400", "--best", "20"),
        "enumerate-symmetry": enumerating("queens:11", "--budget", "8000", "--up-to-symmetry"),
        "count": counting("queens:12"),
        "count-instances": writing("count", folder / "instances", "out.csv", "--resume"),
        "solve-instances": writing("solve", folder / "instances", "out.csv", "--resume"),
        "scale": scaling("queens:9"),
    }


@dataclass(frozen=True)
class Process:
    """A process of this machine, as the operating system describes it."""

    pid: int
    parent: int
    session: int
    command: str


def processes() -> Iterator[Process]:
    """Yield the running processes."""
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            stat = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2]
            state, parent, _, session, *_ = stat.split()
            command = os.fsdecode(Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" "))
            if state not in "ZX":
                yield Process(int(name), int(parent), int(session), command)


def is_worker(process: Process) -> bool:
    """Return True if a process is a worker of loky, Dask or Ray."""
    if "resource_tracker" in process.command:
        return False
    marks = ("popen_loky", "spawn_main", "ray::_do", "ray::IDLE")
    return any(mark in process.command for mark in marks)


def dask_cluster(n_workers: int = N_WORKERS) -> Any:
    """Return a silent Dask cluster on loopback, with workers of one thread."""
    import distributed

    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        memory_limit=0,
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    )


class Cluster:
    """A long-lived cluster on this machine, with two workers, found by its address."""

    def __init__(self, kind: str) -> None:
        self._opened = ExitStack()
        self._kind = kind
        if kind == "dask":
            import dask

            dask.config.set({"distributed.deploy.lost-worker-timeout": "1s"})
            self._cluster = self._opened.enter_context(dask_cluster())
            self.address = self._cluster.scheduler_address
        else:
            from ray.cluster_utils import Cluster as Nodes

            self._cluster = Nodes(
                True,
                head_node_args={"num_cpus": 0, "include_dashboard": False},
                shutdown_at_exit=False,  # with it, only the main thread could add nodes
            )
            self._opened.callback(self._cluster.shutdown)
            self._node = self._join()
            self.address = self._cluster.address

    @contextmanager
    def mended(self) -> Iterator[None]:
        """Replace lost workers, again and again.

        Clusters do so themselves after a kill; Dask does not after SIGTERM.
        """
        over = threading.Event()

        def mend() -> None:
            while not over.wait(MEND_SECONDS):
                self._cluster.scale(N_WORKERS)

        thread = threading.Thread(target=mend)
        if self._kind == "dask":
            self._cluster.scale(N_WORKERS)
            thread.start()
        try:
            yield
        finally:
            over.set()
            if self._kind == "dask":
                thread.join()

    def workers(self) -> list[int]:
        """Return the process numbers of the remaining workers."""
        if self._kind == "dask":
            return [nanny.pid for nanny in self._cluster.workers.values() if nanny.pid]
        raylet = self._node.all_processes["raylet"][0].process.pid
        return [each.pid for each in processes() if is_worker(each) and each.parent == raylet]

    def lose_node(self) -> None:
        """Kill the node of the workers, and let another join."""
        self._cluster.remove_node(self._node, allow_graceful=False)
        self._node = self._join()

    def _join(self) -> Any:
        # give the node its own address, because commands take a node at their address for theirs
        return self._cluster.add_node(num_cpus=N_WORKERS, node_ip_address="127.0.0.2")

    def close(self) -> None:
        """Stop the cluster."""
        self._opened.close()
