"""Workers of a Dask cluster, one that is there or one of this machine, through joblib's backend."""

from __future__ import annotations

import asyncio
import logging
import pickle
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import uuid4

import dask
import distributed
from distributed.comm.addressing import get_address_host_port, parse_address
from joblib._dask import DaskDistributedBackend

from batchsolve.errors import InputError, WorkersError, first_line
from batchsolve.memory import keep_memory
from batchsolve.workers.base import (
    Capabilities,
    Workers,
    cannot_load,
    nobody_left,
    say_that_ports_are_open,
)
from batchsolve.workers.settling import keeping_ctrl_c
from batchsolve.workers.watchdog import Watchdog

LOOPBACK = ("tcp://127.", "tcp://[::1]")  # within this machine
CONNECT_SECONDS = 5  # to find the scheduler
JOIN_SECONDS = 10  # for the first worker to appear
AGAIN_SECONDS = 60  # for one to come when all have died; on a busy machine it took more than ten
CLOSE_SECONDS = 10  # for a cluster whose start was interrupted
ASK_SECONDS = 5  # for the scheduler to say who is there
DEATHS_FORGIVEN = 1  # of workers of this machine, before Dask gives up the task they had
NEVER = "36500 days"

_works: dict[str, Any] = {}  # in a worker: what clients have brought there


@dataclass(frozen=True)
class _OnWorker:
    """What workers do, which every worker has."""

    key: str

    def get(self) -> Any:
        return _works[self.key]


class _Bring(distributed.WorkerPlugin):
    """Brings what workers do to each of them once, also to those that join or begin anew."""

    def __init__(self, key: str, work: Any, is_ours: bool) -> None:
        self._key, self._is_ours = key, is_ours
        self._pickled = pickle.dumps(work)  # else its arrays are views of a message received

    def setup(self, worker: Any) -> None:
        if self._is_ours:  # else the process is somebody else's
            keep_memory()
        _works[self._key] = pickle.loads(self._pickled)

    def teardown(self, worker: Any) -> None:
        _works.pop(self._key, None)


class _Backend(DaskDistributedBackend):
    """Joblib's backend, which also says when Dask has given up a task."""

    def effective_n_jobs(self, n_jobs: int) -> int:
        """Return the number of workers, but at least 2: joblib keeps the calls of 1 to itself.

        Where there is none now, it would try one call and could not be used again if that failed;
        here all calls wait for workers, and `DaskWorkers` gives up where none comes.
        """
        width = int(sum(self.client.ncores().values()))
        return max(2, width or n_jobs)

    def cancel(self) -> None:
        """Cancel all calls; to whoever waits for them, they have failed."""
        self.client.cancel(list(self.waiting_futures.futures))

    def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Future[Any]:
        """Submit calls; joblib would wait for ever for those that fail outside themselves."""
        future: Future[Any] = super().submit(func, callback)

        def tell(done: Future[Any]) -> None:
            error = done.exception()
            if error is not None and callback is not None:
                callback(error)

        future.add_done_callback(tell)
        return future

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Cancel what nobody waits for, so that it does not stand before what is next."""
        abandoned = list(self.waiting_futures.futures)
        super().abort_everything(ensure_ready)
        if self.client.status == "running":
            self.client.cancel(abandoned)


class DaskWorkers(Workers):
    """Workers of a Dask cluster.

    Parameters
    ----------
    jobs : int, optional
        Worker processes of the cluster of this machine that is started where no address is given.
    address : str, optional
        The scheduler of a cluster, such as ``tcp://10.0.0.1:8786``. All its threads are used.
    """

    capabilities: ClassVar = Capabilities(
        joins_clusters=True, width_is_the_clusters=True, sees_files=False
    )

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        super().__init__(jobs, address)
        self.deaths = (distributed.KilledWorker, CancelledError, asyncio.CancelledError)
        self._opened = ExitStack()
        self._shared: tuple[Any, _OnWorker] | None = None
        self._given_up = threading.Event()  # whether no worker was left for too long

    def _open(self) -> tuple[Any, dict[str, Any]]:
        with self._opened as opened:  # closed again if the rest fails
            cluster = self._address or opened.enter_context(_local_cluster(self.jobs))
            try:
                if self._address is not None:
                    _check_address(self._address)
                client = distributed.Client(cluster, timeout=CONNECT_SECONDS, set_as_default=False)
            except (OSError, ValueError) as error:
                reason = first_line(error)
                raise InputError(
                    f"{self._address}: no Dask scheduler answers ({reason}); "
                    "write tcp://host:port, or tls://host:port for one with TLS"
                ) from error
            self._client = opened.enter_context(client)
            self._connection = client.scheduler_comm
            try:
                listens_at = client.scheduler_info()["address"]
                self.jobs = self._width()
            except (OSError, KeyError) as error:  # it knows no address once it has closed itself
                raise self._lost() from error
            if not listens_at.startswith(("tls://", *LOOPBACK)):
                say_that_ports_are_open(listens_at, "set up TLS")
            backend = _Backend(client=client)
            watchdog = Watchdog(self._stuck, self._give_up, AGAIN_SECONDS)
            opened.callback(watchdog.stop)
            self._opened = opened.pop_all()
        return backend, {}

    def _stuck(self) -> Any:
        """Return joblib's backend if there is no worker any more."""
        with suppress(Exception):  # the scheduler may be lost, of which Dask itself tells
            if not self._client.ncores(callback_timeout=ASK_SECONDS):
                return self._parallel._backend
        return None

    def _give_up(self, backend: _Backend) -> None:
        self._given_up.set()
        backend.cancel()

    def run(
        self, function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]
    ) -> Generator[Any]:
        """Call a function with each of the arguments; see `Workers.run`.

        Raises
        ------
        WorkersError
            If the scheduler is lost; or no worker is left, and none has come for `AGAIN_SECONDS`.
        """
        if self._given_up.is_set():
            raise nobody_left(self._where, AGAIN_SECONDS)
        self._check_scheduler()
        try:
            return super().run(function, arguments)
        except (OSError, RuntimeError):  # the first calls are handed out here
            self._check_scheduler()
            raise

    @property
    def _is_connected(self) -> bool:
        """Whether the scheduler is there, and always was: one that is begun anew knows no work."""
        client = self._client
        return client.status == "running" and client.scheduler_comm is self._connection

    def _check_scheduler(self) -> None:
        """Raise `WorkersError` if the scheduler is lost."""
        if not self._is_connected:
            raise self._lost()

    def _lost(self) -> WorkersError:
        return WorkersError(f"{self._where}: the scheduler is lost; start it again")

    @property
    def _where(self) -> str:
        """The cluster, as messages name it."""
        return self._address or "the Dask cluster of this machine"

    def _width(self) -> int:
        """Return the number of threads of the cluster."""
        try:
            self._client.wait_for_workers(1, timeout=JOIN_SECONDS)
        except TimeoutError as error:
            raise InputError(f"{self._where}: no worker has joined in {JOIN_SECONDS} s") from error
        width = int(sum(self._client.ncores().values()))
        if not width:  # it was lost in that moment
            raise WorkersError(f"{self._where}: no worker is left; start others")
        return width

    def _close(self) -> None:
        self._opened.close()

    def share(self, work: Any) -> _OnWorker:
        """Bring what workers do to them, once; the scheduler brings it to those that join later.

        Raises
        ------
        InputError
            If a worker cannot read it, for this package is not installed there.
        WorkersError
            If the scheduler is lost meanwhile, or workers are for longer than `AGAIN_SECONDS`.
        """
        if self._shared is None or self._shared[0] is not work:
            key = f"batchsolve-{uuid4().hex}"
            self._opened.callback(self._forget, key)
            self._bring(key, work)
            self._shared = work, _OnWorker(key)
        return self._shared[1]

    def _bring(self, key: str, work: Any) -> None:
        """Bring work to all workers; one that dies meanwhile fails it, and the others get it again.

        Dask says the same of a scheduler that is lost, and notes that soon afterwards.
        """
        plugin = _Bring(key, work, self._address is None)
        end = time.monotonic() + AGAIN_SECONDS
        while True:
            try:
                self._client.register_plugin(plugin, name=key)
            except (ImportError, AttributeError) as error:
                raise InputError(f"{self._where}: {cannot_load(error)}") from error
            except OSError as error:
                self._check_scheduler()
                if time.monotonic() > end:
                    raise WorkersError(
                        f"{self._where}: a worker cannot be reached ({first_line(error)}); stop it"
                    ) from error
            else:
                return

    def _forget(self, key: str) -> None:
        if self._is_connected:
            # a worker that has just joined may not have got it, and any may be lost
            with suppress(KeyError, OSError):
                self._client.unregister_worker_plugin(key)


def _check_address(address: str) -> None:
    """Raise ValueError for an address that Dask would try for seconds, to end in a TypeError."""
    get_address_host_port(address)
    connection = distributed.Security().get_connection_args("client")
    encrypted = parse_address(address)[0] == "tls"
    if encrypted and connection["ssl_context"] is None:
        raise ValueError("Dask's configuration names no certificate of the client")
    if connection["require_encryption"] and not encrypted:
        raise ValueError("Dask's configuration requires encryption")


class _LocalCluster(distributed.LocalCluster):
    """A cluster of this machine, which is closed at once if its start is interrupted.

    Dask would close it when the process ends, and print a traceback if a worker had not begun.
    """

    def __init__(self, **how: Any) -> None:
        try:
            super().__init__(**how)
        except BaseException:
            with suppress(Exception):
                self.close(timeout=CLOSE_SECONDS)
            self.shutdown_on_close = False
            raise


@contextmanager
def _local_cluster(jobs: int) -> Iterator[Any]:
    """Start processes of one thread each on this machine, and stop them in the end."""
    settings = {
        "distributed.scheduler.allowed-failures": DEATHS_FORGIVEN,
        # So long after a death Dask looks whether the worker is there, and closes its place for
        # good if not, though it may have come again since, and have died once more.
        "distributed.deploy.lost-worker-timeout": NEVER,
    }
    with dask.config.set(settings):
        try:
            with keeping_ctrl_c():
                cluster = _LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    memory_limit=0,
                    dashboard_address="127.0.0.1:0",
                    silence_logs=logging.CRITICAL,
                )
        except RuntimeError as error:  # a worker was killed before it had begun
            raise WorkersError(
                f"the Dask cluster of this machine did not start ({first_line(error)}); try again"
            ) from error
        with cluster:
            yield cluster
