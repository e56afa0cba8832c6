"""Workers of a Ray cluster, existing or started on this machine, through Ray's pool."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, lru_cache, partial
from typing import Any

# Without this, Ray reports on workers on standard output, which is for data. Ray reads these
# variables when it is imported.
os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
# Without this, a thread that still asks for a result after Ray's shutdown would start Ray again.
os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")

import ray
from ray.util.multiprocessing import Pool

import batchsolve
from batchsolve.errors import InputError, WorkersError, first_line
from batchsolve.workers import base
from batchsolve.workers.base import (
    ClusterWorkers,
    Shared,
    WrongVersionError,
    cannot_load,
    check_version,
    keep_memory,
    say_that_ports_are_open,
    say_that_we_wait,
)
from batchsolve.workers.private import (
    EagerPool,
    PoolBackend,
    asks_for_a_token,
    end_ray_threads,
    quiet_ray_threads,
    ray_threads,
)

CONNECT_SECONDS = 5
HEAD_SECONDS = 30  # for a lost head to answer; after 60 s Ray would end this process
LOOK_SECONDS = 0.1
END_SECONDS = 5  # for a thread to end after its pool's workers were killed
TERM_SECONDS = 30  # to end after SIGTERM; Ray tries for 60 s to reach a head that is gone
DEATHS_FORGIVEN = 1  # of workers, before Ray gives up their task
REMOTE = {  # how Ray places workers and restarts them
    "num_cpus": 1,
    "scheduling_strategy": "SPREAD",
    "max_restarts": -1,
    "max_task_retries": DEATHS_FORGIVEN,
}


@lru_cache(maxsize=1)
def _unpickled(pickled: ray.ObjectRef) -> Any:
    """Return work from Ray's object store; each worker loads it once."""
    work: Any = pickle.loads(ray.get(pickled))
    return work


class _RayPool(EagerPool, Pool):
    """Ray's pool, but it hands out calls at once, and can be given up.

    Attributes
    ----------
    head_is_lost : bool
        True once the calls that were out have failed for that reason.
    """

    head_is_lost = False

    def give_up(self) -> None:
        """Kill all actors, also those that wait for a machine; all calls out then fail."""
        for actor in self.actors:
            ray.kill(actor)

    def terminate(self) -> None:
        """See `Pool`."""
        if not self.head_is_lost:
            super().terminate()


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
        ray.exceptions.RayActorError,
        ray.exceptions.OutOfMemoryError,
        ray.exceptions.ObjectLostError,
        ray.exceptions.RaySystemError,  # raised if Ray cannot read the report of a death
    )

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        super().__init__(jobs, address)
        self._wanted = jobs
        # Ray's own backend would permanently turn joblib's pools of processes into pools of Ray
        self._backend = PoolBackend(lambda: _RayPool(self.jobs, ray_remote_args=REMOTE))

    def _join(self, opened: ExitStack) -> Any:
        opened.enter_context(_ending_after_sigterm())
        opened.enter_context(quiet_ray_threads())
        if not ray.is_initialized():
            with _keeping_sigterm():
                self._connect()
            opened.callback(ray.shutdown)
        opened.callback(_let_threads_end)
        if not asks_for_a_token():
            where = self._address or "Ray, which listens on all addresses of this machine"
            say_that_ports_are_open(where, "set RAY_AUTH_MODE=token")
        cpus = _cpus()
        if cpus < (self._wanted or 1):
            raise InputError(f"the Ray cluster has {cpus} CPUs, not {self._wanted or 1}")
        self.jobs = self._wanted or cpus
        self._head = ray.get_runtime_context().gcs_address.rpartition(":")
        return self._backend

    def _there(self) -> set[str]:
        """Return the machines of the cluster; end the search if its head is lost."""
        try:
            host, _, port = self._head
            socket.create_connection((host, int(port)), HEAD_SECONDS).close()
        except OSError:
            if (pool := self._backend.pool) is not None and not pool.head_is_lost:
                pool.head_is_lost = True
                end_ray_threads()  # Ray would wait for its head, and end the process
                lost = WorkersError(f"{self._where}: the head is lost; start it again")
                self._backend.fail(lost)
            raise
        return _machines()

    def _stuck(self) -> _RayPool | None:
        """Return the pool if its actors outnumber the CPUs, because machines were lost."""
        if self._backend.pool is None or self._backend.pool.head_is_lost:
            return None
        with suppress(Exception):  # Ray raises various exceptions if the head is lost
            if _cpus() < self.jobs:
                return self._backend.pool
        return None

    def _give_up(self, pool: _RayPool) -> None:
        self._given_up.set()
        pool.give_up()

    def _lacks_machines(self) -> bool:
        """Wait for other machines if CPUs are too few for new workers; return True if none came."""
        end, has_said = time.monotonic() + base.AGAIN_SECONDS, False
        while self._backend.pool is None and _cpus() < self.jobs:  # Ray's pool would not start
            if not has_said:
                say_that_we_wait(self._where, base.AGAIN_SECONDS)
                has_said = True
            if time.monotonic() >= end:
                return True
            time.sleep(LOOK_SECONDS)
        return False

    def _go_on_with_what_is_left(self) -> None:
        """Reduce the number of workers, after machines were lost for too long."""
        left = _cpus()
        if not left:
            raise self._nobody_left()
        self.jobs = self._parallel.n_jobs = min(left, self.jobs)
        self._given_up.clear()

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
            reason = first_line(error)
            raise InputError(
                f"{self._address}: no Ray cluster answers ({reason}); write host:port, or auto, "
                "and give the cluster's token, if it has one (see docs/clusters.md)"
            ) from error

    def _send(self, work: Any) -> Shared:
        """Put work into the object store."""
        return partial(_unpickled, ray.put(pickle.dumps(work)))

    def run(
        self, function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]
    ) -> Generator[Any]:
        """Call a function with each of the arguments; see `Workers.run`."""

        def as_bytes(values: tuple[Any, ...]) -> tuple[Any, ...]:
            # The worker checks the version before it loads ours; and in results as they are, Ray
            # makes arrays read-only, into which the rows of a block are added up.
            return batchsolve.__version__, function, pickle.dumps(values)

        if self._given_up.is_set() or self._lacks_machines():
            self._go_on_with_what_is_left()
        try:
            for result in super().run(_call, map(as_bytes, arguments)):
                yield pickle.loads(result)
        except (
            ray.exceptions.RayTaskError,
            WrongVersionError,
        ) as error:  # not from the call, which returns its errors
            raise InputError(f"{self._where}: {cannot_load(error)}") from error


def _let_threads_end() -> None:
    """Wait for threads of Ray's pools, which would ask for results after Ray's shutdown."""
    for thread in ray_threads():
        thread.join(END_SECONDS)


def _machines() -> set[str]:
    """Return the addresses of the machines that the cluster still has."""
    return {
        f"{node['NodeManagerAddress']} (node {node['NodeID'][:8]})"
        for node in ray.nodes()
        if node["Alive"]
    }


def _cpus() -> int:
    """Return the number of CPUs of the machines that the cluster still has."""
    return int(ray.cluster_resources().get("CPU", 0))


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


@contextmanager
def _ending_after_sigterm(seconds: float = TERM_SECONDS) -> Iterator[None]:
    """End this process some time after SIGTERM, if it has not ended by then.

    Python handles a signal between two of its own instructions. Ray's head may have been terminated
    too; then Ray stays in compiled code while it tries to reach the head, and ends the process with
    code 1.
    """
    if threading.current_thread() is not threading.main_thread():  # only it handles signals
        yield
        return
    heard, tells = socket.socketpair()
    tells.setblocking(False)

    def watch() -> None:
        while signum := heard.recv(1):
            if signum[0] == signal.SIGTERM and signal.getsignal(signal.SIGTERM) != signal.SIG_IGN:
                if not over.wait(seconds):
                    print("\nbatchsolve: terminated", file=sys.stderr, flush=True)
                    os._exit(128 + signal.SIGTERM)
                return

    over = threading.Event()
    before = signal.set_wakeup_fd(tells.fileno(), warn_on_full_buffer=False)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        over.set()
        tells.close()  # ends the watcher
        watcher.join()
        heard.close()


@cache
def _settle_in(version: str) -> None:
    """Prepare this worker, a process of our pool: SIGTERM ends it at once, and others do its task.

    Raises
    ------
    WrongVersionError
        If it has another version of this package than the process that asks.

    Ray's own handler raises `SystemExit`. joblib would take that for the result of the call, and
    raise it in the process that waits for it.
    """
    check_version(version, batchsolve.__version__, socket.gethostname())
    keep_memory()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _call(version: str, function: Callable[..., Any], values: bytes) -> bytes:
    _settle_in(version)
    return pickle.dumps(function(*pickle.loads(values)))
