"""Workers of a Dask cluster, existing or started on this machine, through joblib's backend."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import sys
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from inspect import currentframe
from pathlib import Path
from pydoc import locate
from typing import Any
from uuid import uuid4

import dask
import distributed
from distributed.comm import get_address_host_port, parse_address

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
    keeping_ctrl_c,
    say_that_ports_are_open,
)
from batchsolve.workers.private import (
    dask_backend,
    dask_calls,
    dask_connection,
    dask_cores,
    leave_at_exit,
)

LOOPBACK = ("tcp://127.", "tcp://[::1]")  # within this machine
CONNECT_SECONDS = 5  # to find the scheduler
JOIN_SECONDS = 10  # for the first worker to appear
CLOSE_SECONDS = 10  # to close a cluster whose start was interrupted
ASK_SECONDS = 5  # for the scheduler to list its workers
DEATHS_FORGIVEN = 1  # of workers of this machine, before Dask gives up their task
NEVER = "36500 days"

_works: dict[str, Any] = {}  # in a worker process: the work that clients have sent, by key


def _work_of(key: str) -> Any:
    work = _works[key]
    if isinstance(work, WrongVersionError):  # Dask would not tell of an error in the plugin's setup
        raise work
    return work


class _Bring(distributed.WorkerPlugin):
    """A plugin that delivers work once to each worker, including those that join or restart."""

    def __init__(self, key: str, work: Any, is_ours: bool) -> None:
        self._key, self._is_ours = key, is_ours
        self._version = batchsolve.__version__
        self._pickled = pickle.dumps(work)  # else its arrays would be views of Dask's message

    def setup(self, worker: Any) -> None:
        try:
            check_version(self._version, batchsolve.__version__, worker.address)
        except WrongVersionError as error:
            _works[self._key] = error
            return
        if self._is_ours:  # we started the process
            keep_memory()
        _works[self._key] = pickle.loads(self._pickled)

    def teardown(self, worker: Any) -> None:
        _works.pop(self._key, None)


_OfJoblib: Any = dask_backend()


class _Backend(_OfJoblib):
    """joblib's backend, but it also reports tasks that Dask has given up."""

    def effective_n_jobs(self, n_jobs: int) -> int:
        """Return the number of workers, but at least 2: with 1, joblib would call by itself.

        Without workers, joblib would try one call, and be unusable if that failed. Here all calls
        wait for workers, and `DaskWorkers` gives up if none joins.
        """
        return max(2, sum(dask_cores(self.client).values()) or n_jobs)

    def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Future[Any]:
        """Submit calls; report those that fail in Dask itself; joblib would await them for ever."""
        future: Future[Any] = super().submit(func, callback)

        def tell(done: Future[Any]) -> None:
            error = done.exception()
            if error is not None and callback is not None:
                callback(error)

        future.add_done_callback(tell)
        return future

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Cancel abandoned calls, so that they do not delay the next ones."""
        abandoned = dask_calls(self)
        super().abort_everything(ensure_ready)
        if dask_connection(self.client) is not None:
            self.client.cancel(abandoned)


class DaskWorkers(ClusterWorkers):
    """Workers of a Dask cluster.

    Parameters
    ----------
    jobs : int, optional
        Worker processes of the cluster that is started on this machine if no address is given.
    address : str, optional
        The scheduler of a cluster, such as ``tcp://10.0.0.1:8786``. All threads of the cluster are
        used.
    """

    width_is_the_clusters = True
    of_ours = "the Dask cluster of this machine"
    deaths = (distributed.KilledWorker, CancelledError, asyncio.CancelledError)

    def _join(self, opened: ExitStack) -> Any:
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
        opened.callback(_close_client, client)
        self._client = client
        self._connection = dask_connection(client)
        try:
            listens_at = client.scheduler_info()["address"]
            self.jobs = self._width()
        except (OSError, KeyError) as error:  # a closed scheduler does not know its address
            raise self._lost() from error
        if not listens_at.startswith(("tls://", *LOOPBACK)):
            say_that_ports_are_open(listens_at, "set up TLS")
        self._backend = _Backend(client=client)
        self._check_versions()
        return self._backend

    def _check_versions(self) -> None:
        """Raise `InputError` if a worker lacks this version of the package.

        Workers that join later check that themselves. Here they are asked by a function that they
        have in any case.
        """
        try:
            found = self._client.run(locate, "batchsolve.__version__", on_error="return")
            for worker, version in found.items():
                if not isinstance(version, OSError):  # it was lost meanwhile
                    known = version if isinstance(version, str) else None
                    check_version(batchsolve.__version__, known, worker)
        except OSError:
            self._check_scheduler()
        except WrongVersionError as error:
            raise InputError(f"{self._where}: {error}") from error

    def scheduler_seconds(self) -> float:
        """Return the processor time of the scheduler, if this process does not run it itself."""
        if self._address is None:
            return 0.0
        seconds: float = self._client.run_on_scheduler(time.process_time)
        return seconds

    def _there(self) -> set[str]:
        """Return the addresses of the workers."""
        return set(dask_cores(self._client, ASK_SECONDS))

    def _stuck(self) -> Any:
        """Return joblib's backend if no worker is left."""
        with suppress(Exception):  # the scheduler may be lost, which Dask itself reports
            if not self._there():
                return self._backend
        return None

    def _give_up(self, backend: _Backend) -> None:
        self._given_up.set()
        self._client.cancel(dask_calls(backend))  # which thus fail for joblib

    def run(
        self, function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]
    ) -> Generator[Any]:
        """Call a function with each of the arguments; see `Workers.run`.

        Raises
        ------
        WorkersError
            If the scheduler is lost, or no worker is left and none has joined for `AGAIN_SECONDS`.
        InputError
            If a worker that has joined has another version of this package.
        """
        if self._given_up.is_set():
            raise self._nobody_left()
        self._check_scheduler()
        try:
            return self._of_our_version(super().run(function, arguments))
        except (OSError, RuntimeError):  # the first calls are handed out here
            self._check_scheduler()
            raise

    def _of_our_version(self, results: Generator[Any]) -> Generator[Any]:
        try:
            yield from results
        except WrongVersionError as error:
            raise InputError(f"{self._where}: {error}") from error

    @property
    def _is_connected(self) -> bool:
        """True if the scheduler was never lost; one that was started again has no work."""
        connection = dask_connection(self._client)
        return connection is not None and connection is self._connection

    def _check_scheduler(self) -> None:
        """Raise `WorkersError` if the scheduler is lost."""
        if not self._is_connected:
            raise self._lost()

    def _lost(self) -> WorkersError:
        return WorkersError(f"{self._where}: the scheduler is lost; start it again")

    def _width(self) -> int:
        """Return the number of threads of the cluster."""
        try:
            self._client.wait_for_workers(1, timeout=JOIN_SECONDS)
        except TimeoutError as error:
            raise InputError(f"{self._where}: no worker has joined in {JOIN_SECONDS} s") from error
        width = sum(dask_cores(self._client).values())
        if not width:  # the worker was lost in that moment
            raise WorkersError(f"{self._where}: no worker is left; start others")
        return width

    def _send(self, work: Any) -> Shared:
        """Send work to the workers; the scheduler sends it to those that join later.

        Raises
        ------
        InputError
            If a worker cannot load it, because this package is not installed there.
        WorkersError
            If the scheduler is lost meanwhile, or a worker cannot be reached for `AGAIN_SECONDS`.
        """
        key = f"batchsolve-{uuid4().hex}"
        self._opened.callback(self._forget, key)
        self._bring(key, work)
        return partial(_work_of, key)

    def _bring(self, key: str, work: Any) -> None:
        """Send work to all workers; if one dies meanwhile, send it again to the others.

        Dask raises the same error for a lost scheduler, and notices that loss soon afterwards.
        """
        plugin = _Bring(key, work, self._address is None)
        end = time.monotonic() + base.AGAIN_SECONDS
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
            # a worker that has just joined may lack it, and any worker may be lost
            with suppress(KeyError, OSError):
                self._client.unregister_worker_plugin(key)


def _check_address(address: str) -> None:
    """Raise ValueError for an address that Dask would try for seconds and end with a TypeError."""
    get_address_host_port(address)
    connection = distributed.Security().get_connection_args("client")
    encrypted = parse_address(address)[0] == "tls"
    if encrypted and connection["ssl_context"] is None:
        raise ValueError("Dask's configuration names no certificate of the client")
    if connection["require_encryption"] and not encrypted:
        raise ValueError("Dask's configuration requires encryption")


def _close_client(client: Any) -> None:
    """Close a client, though Dask may fail to end an attempt to connect that has just run out."""
    try:
        client.close()
    except RuntimeError:
        client.close()  # by now, that attempt is over


class _LocalCluster(distributed.LocalCluster):
    """A cluster of this machine that is closed at once if its start is interrupted.

    Dask would close it when the process ends, and print a traceback if a worker had not started.
    """

    def __init__(self, **how: Any) -> None:
        try:
            super().__init__(**how)
        except BaseException:
            with suppress(Exception):
                self.close(timeout=CLOSE_SECONDS)
            leave_at_exit(self)
            raise


UNGUARDED = (
    "worker processes import the script, which would start workers in each of them; put its calls "
    'below `if __name__ == "__main__":`'
)


def check_main() -> None:
    """Raise `InputError` if worker processes cannot import the script of this process.

    They import it anew, unless it is a module of its own (``python -m``) or has no file.
    """
    main = sys.modules["__main__"]
    path, spec = getattr(main, "__file__", None), getattr(main, "__spec__", None)
    if path is None or (spec is not None and spec.name.endswith("__main__")):
        return
    try:
        source = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise InputError(
            f"worker processes import the script, and {path} is not a file (python -?); save the "
            f'script, with its calls below `if __name__ == "__main__":`'
        ) from None
    if "__name__" not in source:
        raise InputError(f"{path}: {UNGUARDED}")


def _is_imported_by_a_worker() -> bool:
    """Return True if this is called while a worker process imports the script."""
    frame = currentframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals["__name__"] == "__mp_main__":
            return True
        frame = frame.f_back
    return False


@contextmanager
def _local_cluster(jobs: int) -> Iterator[Any]:
    """Start processes of one thread each on this machine, and stop them at the end."""
    if _is_imported_by_a_worker():
        os._exit(1)  # the process that has started it says why, once
    check_main()
    settings = {
        "distributed.scheduler.allowed-failures": DEATHS_FORGIVEN,
        # Time after a death at which Dask looks for the worker, and gives up its place for good if
        # it is missing, even if it has been restarted since and has just died again.
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
        except RuntimeError as error:  # a worker was killed before it had started
            raise WorkersError(
                f"the Dask cluster of this machine did not start ({first_line(error)}); try again; "
                f"if this is a script: {UNGUARDED}"
            ) from error
        with cluster:
            yield cluster
