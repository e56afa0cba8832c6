"""Workers of a Ray cluster, existing or started on this machine, through joblib."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, lru_cache, partial
from typing import Any

# Without this, Ray reports on workers on standard output, which is for data. Ray reads the variable
# when it is imported.
os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")

import ray
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

import batchsolve
from batchsolve.errors import InputError, WorkersError, first_line
from batchsolve.workers import base
from batchsolve.workers.base import ClusterWorkers
from batchsolve.workers.private import asks_for_a_token

CONNECT_SECONDS = 5
HEAD_SECONDS = 30  # for a lost head to answer; after 60 s Ray would end this process
DEATHS_FORGIVEN = 1  # of workers, before Ray gives up their task; see `_join`


@lru_cache(maxsize=1)
def _unpickled(pickled: ray.ObjectRef) -> Any:
    """Return work from Ray's object store; each worker loads it once."""
    return pickle.loads(ray.get(pickled))


@cache
def _prepare(version: str, is_ours: bool) -> None:
    """Prepare this worker; SIGTERM ends a process of ours at once, and others do its task.

    Ray's own handler raises `SystemExit`, which would be the result of the call, and be raised in
    the process that waits for it.
    """
    base.check_version(version, batchsolve.__version__, socket.gethostname())
    if is_ours:  # no others use this process, because Ray was initialised by us
        base.keep_memory()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class RayWorkers(ClusterWorkers):
    """Workers of a Ray cluster.

    Parameters
    ----------
    jobs : int, optional
        Number of workers; by default the number of CPUs of the cluster.
    address : str, optional
        The head of a cluster, ``host:port``, or ``auto`` on one of its machines. Otherwise Ray is
        started on this machine, unless it is already initialised in this process.
    """

    of_ours = "the Ray cluster"
    deaths = (
        ray.exceptions.WorkerCrashedError,
        ray.exceptions.NodeDiedError,
        ray.exceptions.OutOfMemoryError,
        ray.exceptions.ObjectLostError,
        ray.exceptions.RaySystemError,  # raised if Ray cannot read the report of a death
    )
    unloadable = (ray.exceptions.RayTaskError, base.WrongVersionError)
    prepare = staticmethod(_prepare)

    def _join(self, opened: ExitStack) -> None:
        self._is_ours, is_first = opened.enter_context(_initialised(self._connect))
        if not asks_for_a_token():
            where = self._address or "Ray, which listens on all addresses of this machine"
            base.say_that_ports_are_open(where, "set RAY_AUTH_MODE=token")
        cpus = sum(_machines().values())
        if cpus < (self._wanted or 1):
            raise InputError(f"the Ray cluster has {cpus} CPUs, not {self._wanted or 1}")
        self.jobs = self._wanted or cpus
        self._head = ray.get_runtime_context().gcs_address.rpartition(":")
        if not is_first:
            self._check_address("".join(self._head))
        strategy: Any = "SPREAD"
        if self.jobs < cpus:  # Ray makes as many calls at once as there are CPUs
            group = placement_group([{"CPU": 1}] * self.jobs, strategy="SPREAD")
            if not is_first:  # Ray removes it at its shutdown
                opened.callback(remove_placement_group, group)
            strategy = PlacementGroupSchedulingStrategy(group)
        # calls that are out when Ray ends with the run would be tried again, and Ray report errors
        retries = 0 if self._is_ours and self._address is None else DEATHS_FORGIVEN
        options = {"num_cpus": 1, "scheduling_strategy": strategy, "max_retries": retries}
        self._do = ray.remote(**options)(_do)

    def _check_address(self, here: str) -> None:
        """Raise `InputError` if Ray is initialised in this process for another cluster."""
        if self._address in (None, "auto", here):
            return
        host, _, port = str(self._address).rpartition(":")
        with suppress(OSError):
            host = socket.gethostbyname(host)
        if port != self._head[2] or not (host == self._head[0] or host.startswith("127.")):
            raise InputError(
                f"{self._address}: Ray is initialised in this process for {here}; leave out the "
                f"address, or call ray.shutdown() first"
            )

    def _there(self) -> set[str]:
        """Return the machines of the cluster; end the search if its head is lost."""
        try:
            host, _, port = self._head
            socket.create_connection((host, int(port)), HEAD_SECONDS).close()
        except OSError:
            # Ray would wait for its head, and end the process
            self._backend.fail(WorkersError(f"{self._where}: the head is lost; start it again"))
            raise
        machines = _machines()
        self.jobs = min(self.jobs, sum(machines.values())) or self.jobs
        return set(machines)

    def _of_our_version(self, results: Generator[bytes]) -> Generator[Any]:
        try:
            yield from super()._of_our_version(results)
        except ray.exceptions.LocalRayletDiedError as error:
            why = "the raylet of this machine is lost; start Ray again"
            raise WorkersError(f"{self._where}: {why}") from error

    def _submit(self, call: Callable[[], Any]) -> Future[Any]:
        task = self._do.remote(call)
        future: Future[Any] = task.future()
        self._calls[future] = task
        return future

    def _cancel(self, calls: list[Future[Any]]) -> None:
        """Let calls end: Ray aborts this process if it cancels one that has just ended."""

    def _send(self, work: Any) -> base.Shared:
        """Put work into the object store."""
        return partial(_unpickled, ray.put(pickle.dumps(work)))

    def _connect(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if self._address is None:
            ray.init("local", num_cpus=self.jobs, include_dashboard=False, **quiet)
            return
        host, _, port = self._address.rpartition(":")
        try:
            if self._address != "auto":  # try the port first, because Ray would try for a minute
                socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
            ray.init(self._address, **quiet)
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            raise InputError(
                f"{self._address}: no Ray cluster answers ({first_line(error)}); write host:port, "
                "or auto, and give the cluster's token, if it has one (see docs/clusters.md)"
            ) from error


_counting, _starting = threading.Lock(), threading.Lock()
_n_users = 0  # searches that use Ray as one of them initialises it
_keeper = ThreadPoolExecutor(1)  # processes of Ray end with the thread that has started them


@contextmanager
def _initialised(connect: Callable[[], None]) -> Iterator[tuple[bool, bool]]:
    """Initialise Ray unless it is; the last of the searches that use it then shuts it down.

    Yields True if a search has initialised it, and True if this one has.
    """
    global _n_users
    with _counting:
        is_ours = _n_users > 0 or not ray.is_initialized()
        _n_users += is_ours
    try:
        is_main = threading.current_thread() is threading.main_thread()
        begin = _begun if is_main else lambda connect: _keeper.submit(_begun, connect).result()
        yield is_ours, is_ours and begin(connect)
    finally:
        with _counting:
            _n_users -= is_ours
            if is_ours and not _n_users:
                ray.shutdown()


def _begun(connect: Callable[[], None]) -> bool:
    """Initialise Ray unless it is; return True if that was done now."""
    with _starting, _keeping_sigterm():
        is_first: bool = not ray.is_initialized()
        if is_first:
            connect()
        return is_first


def _machines() -> dict[str, int]:
    """Return the CPUs of the machines that the cluster still has, by their addresses."""
    return {
        f"{node['NodeManagerAddress']} (node {node['NodeID'][:8]})": int(node["Resources"]["CPU"])
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU")
    }


@contextmanager
def _keeping_sigterm() -> Iterator[None]:
    """Keep the handler of SIGTERM; Ray installs its own as it starts, which raises SystemExit."""
    if threading.current_thread() is not threading.main_thread():  # Ray changes nothing there
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    except SystemExit as error:
        signal.signal(signal.SIGTERM, before)
        if error.code == signal.SIGTERM:
            signal.raise_signal(signal.SIGTERM)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _do(call: Callable[[], Any]) -> Any:
    return call()
