"""Clusters of Dask and Ray on the hosts of `hosts`, and the commands that use them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hosts import NAMES, Hosts, address

HEAD, *NODES = NAMES
QUIET: dict[str, Any] = {
    "stdin": subprocess.DEVNULL,
    "stdout": subprocess.DEVNULL,
    "stderr": subprocess.DEVNULL,
    "start_new_session": True,
}
REPOSITORY = Path(__file__).resolve().parents[1]
SCHEDULER = "/run/scheduler"  # the file of its process number
START_SECONDS = 60.0
OBJECTS = 100 << 20  # bytes of Ray's object store on a host
DASK_JOINED = """
import sys, distributed
with distributed.Client("tcp://head:8786", timeout=60) as client:
    client.wait_for_workers(int(sys.argv[1]), timeout=60)
"""
STORED = """
import hashlib, sys
from batchsolve.tables.places import file_system
system, path = file_system(sys.argv[1])
from pyarrow import fs
found = system.get_file_info(fs.FileSelector(path, recursive=True))
for one in sorted(found, key=lambda one: one.path):
    if one.is_file:
        with system.open_input_file(one.path) as file:
            print(one.base_name, hashlib.sha256(file.read()).hexdigest()[:16])
"""
PUT = """
import sys
from batchsolve.tables.places import file_system
header, *rows = open(sys.argv[1], "rb").read().splitlines(True)
system, path = file_system(sys.argv[2])
rows = rows * int(sys.argv[4])
n = -(-len(rows) // int(sys.argv[3]))
for k in range(0, len(rows), n):
    with system.open_output_stream(f"{path}/{k // n:03d}.csv", compression=None) as file:
        file.write(header + b"".join(rows[k : k + n]))
"""


@dataclass
class Cluster:
    """A cluster: its scheduler on the head, and a worker on each node.

    Attributes
    ----------
    hosts : Hosts
    kind : {"dask", "ray"}
    threads : int
        Of each worker of Dask; of Ray, as many processes.
    env : dict
        Variables of the environment of all its processes.
    """

    hosts: Hosts
    kind: str
    threads: int = 1
    env: dict[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The address that commands take."""
        return "tcp://head:8786" if self.kind == "dask" else "head:6379"

    @property
    def options(self) -> list[str]:
        """The options of commands that use it."""
        return ["--backend", self.kind, "--scheduler", self.address]

    def start(self, env: dict[str, dict[str, str]] | None = None) -> None:
        """Start it, and wait for its workers; some hosts may have other environments."""
        if self.kind == "dask":
            command = "dask", "scheduler", "--port", "8786", "--no-dashboard"
            self._begin(HEAD, "sh", "-c", f'echo $$ > {SCHEDULER}; exec "$@"', "sh", *command)
        else:
            no = "--include-dashboard=false", "--num-cpus=0", "--disable-usage-stats"
            self._ray(HEAD, "--head", "--port=6379", *no)
        started = [self.join(node, **(env or {}).get(node, {})) for node in NODES]
        for process in started:
            process.wait(START_SECONDS)
        if self.kind == "dask":
            joined = [sys.executable, "-c", DASK_JOINED, str(len(NODES))]
            if (told := self.hosts.run(HEAD, *joined, env=self.env)).returncode:
                raise SystemExit(f"Dask did not start: {told.stderr}")

    def join(self, node: str, **env: str) -> subprocess.Popen[Any]:
        """Start the worker of a host; its environment may differ.

        The process ends when the worker has joined, of Ray, or is on its way, of Dask.
        """
        if self.kind == "dask":
            how = "--nworkers", "1", "--nthreads", str(self.threads), "--no-dashboard"
            self._begin(node, "dask", "worker", self.address, *how, **env)
            return subprocess.Popen(["true"])
        return self._ray_of(node, f"--address={self.address}", f"--num-cpus={self.threads}", **env)

    def kill_scheduler(self) -> None:
        """Kill the scheduler, or what Ray has on the head."""
        if self.kind == "dask":
            self.hosts.run(HEAD, "sh", "-c", f"kill -KILL $(cat {SCHEDULER})")
        else:
            self.hosts.run(HEAD, "sh", "-c", "kill -KILL $(pidof gcs_server raylet)")

    def _begin(self, host: str, *command: str, **env: str) -> subprocess.Popen[Any]:
        return self.hosts.popen(host, *command, env={**self.env, **env}, **QUIET)

    def _ray(self, host: str, *options: str) -> None:
        self._ray_of(host, *options).wait(START_SECONDS)

    def _ray_of(self, host: str, *options: str, **env: str) -> subprocess.Popen[Any]:
        size = f"--object-store-memory={OBJECTS}"
        return self._begin(host, "ray", "start", size, *options, **env)


def batchsolve(hosts: Hosts, *words: object, **how: Any) -> subprocess.CompletedProcess[str]:
    """Run a command of this package on the head."""
    return hosts.run(HEAD, sys.executable, "-m", "batchsolve", *map(str, words), **how)


def put(hosts: Hosts, source: Path, folder: str, files: int = 1, times: int = 1) -> None:
    """Put a text with a header, its rows repeated, as several files into a folder."""
    how = str(source), address(folder), str(files), str(times)
    told = hosts.run(HEAD, sys.executable, "-c", PUT, *how)
    if told.returncode:
        raise RuntimeError(told.stderr)


def stored(hosts: Hosts, folder: str) -> dict[str, str]:
    """Return the checksum of each file in a folder of the S3 server, by its name."""
    told = hosts.run(HEAD, sys.executable, "-c", STORED, address(folder))
    if told.returncode:
        raise RuntimeError(told.stderr)
    return dict(line.split() for line in told.stdout.splitlines())
