"""Workers of a Ray cluster, one that is there or one of this machine, through Ray's backend."""

from __future__ import annotations

import logging
import os
import pickle
import socket
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

# Ray prints what happens to workers on standard output, which is for data; it reads this once.
os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")

import ray
from ray.util.joblib.ray_backend import RayBackend

from batchsolve.errors import InputError
from batchsolve.workers.base import Capabilities, Workers, cannot_load

CONNECT_SECONDS = 5
DEATHS_FORGIVEN = 1  # of workers, before Ray gives up the task they had


@dataclass(frozen=True)
class _InStore:
    """What workers do, in Ray's object store; a worker takes it out once."""

    pickled: ray.ObjectRef

    def get(self) -> Any:
        return _unpickled(self.pickled)


@lru_cache(maxsize=1)
def _unpickled(pickled: ray.ObjectRef) -> Any:
    work: Any = pickle.loads(ray.get(pickled))
    return work


class _Backend(RayBackend):
    """Ray's backend, which starts new workers after an interruption only if there is more to do."""

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Stop the workers."""
        self.terminate()

    def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Any:
        """Submit calls, to new workers if the last were stopped."""
        if self._pool is None:
            super().abort_everything(ensure_ready=True)
        return super().submit(func, callback)


class RayWorkers(Workers):
    """Workers of a Ray cluster.

    Parameters
    ----------
    jobs : int, optional
        How many; by default as many as the cluster has CPUs.
    address : str, optional
        The head of a cluster, ``host:port``, or ``auto`` on one of its machines. Otherwise Ray is
        started on this machine, unless it is already initialised in this process.
    """

    capabilities: ClassVar = Capabilities(streams=False, joins_clusters=True, sees_files=False)

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        super().__init__(jobs, address)
        self._wanted = jobs
        self.deaths = (
            ray.exceptions.RayActorError,
            ray.exceptions.OutOfMemoryError,
            ray.exceptions.ObjectLostError,
        )
        self._opened = ExitStack()
        self._shared: tuple[Any, _InStore] | None = None

    def _open(self) -> tuple[Any, dict[str, Any]]:
        with self._opened as opened:  # closed again if the rest fails
            if not ray.is_initialized():
                self._connect()
                opened.callback(ray.shutdown)
            cpus = int(ray.cluster_resources().get("CPU", 0))
            if cpus < (self._wanted or 1):
                raise InputError(f"the Ray cluster has {cpus} CPUs, not {self._wanted or 1}")
            self.jobs = self._wanted or cpus
            self._opened = opened.pop_all()
        revived = {"max_restarts": -1, "max_task_retries": DEATHS_FORGIVEN}
        spread = {"num_cpus": 1, "scheduling_strategy": "SPREAD"}
        return _Backend(), {"ray_remote_args": {**revived, **spread}}

    def _connect(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if self._address is None:
            ray.init("local", num_cpus=self.jobs, include_dashboard=False, **quiet)
            return
        host, _, port = self._address.rpartition(":")
        try:
            if self._address != "auto":  # Ray itself would try for a minute
                socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
            ray.init(self._address, **quiet)
        except (OSError, ValueError, RuntimeError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(
                f"{self._address}: no Ray cluster answers ({reason}); write host:port, or auto"
            ) from error

    def _close(self) -> None:
        self._shared = None
        self._opened.close()

    def share(self, work: Any) -> _InStore:
        """Put what workers do into the object store, once."""
        if self._shared is None or self._shared[0] is not work:
            self._shared = work, _InStore(ray.put(pickle.dumps(work)))
        return self._shared[1]

    def run(
        self, function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]
    ) -> Generator[Any]:
        """Call a function with each of the arguments; see `Workers.run`."""

        def as_bytes(values: tuple[Any, ...]) -> tuple[Any, ...]:
            # Ray hands arrays out read-only, and for such the kernels would be compiled once more
            return function, pickle.dumps(values)

        try:
            for result in super().run(_call, map(as_bytes, arguments)):
                yield pickle.loads(result)
        except ray.exceptions.RayTaskError as error:  # before the call, which reports its own
            where = self._address or "the Ray cluster"
            raise InputError(f"{where}: {cannot_load(error)}") from error


def _call(function: Callable[..., Any], values: bytes) -> bytes:
    return pickle.dumps(function(*pickle.loads(values)))
