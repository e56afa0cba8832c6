"""Workers of a Dask cluster, existing or started on this machine, through joblib."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path
from pydoc import locate
from typing import Any

import dask
import distributed
from distributed.comm import get_address_host_port, parse_address

import batchsolve
from batchsolve.errors import InputError, WorkersError, first_line
from batchsolve.workers import base
from batchsolve.workers.base import ClusterWorkers
from batchsolve.workers.private import dask_cores, dask_logs_from, leave_at_exit

LOOPBACK = ("tcp://127.", "tcp://[::1]")  # within this machine
CONNECT_SECONDS = 5  # to find the scheduler
JOIN_SECONDS = 10  # for the first worker to appear
CLOSE_SECONDS = 10  # to close a cluster whose start was interrupted
ASK_SECONDS = 5  # for the scheduler to list its workers
DEATHS_FORGIVEN = 1  # of workers of this machine, before Dask gives up their task
NEVER = "36500 days"
SILENT = logging.CRITICAL + 1  # Dask calls it critical that a client has left after Ctrl-C


class _Packed:
    """Pickled work. Dask brings it to each worker, which unpickles it for its first call."""

    def __init__(self, pickled: bytes) -> None:
        self._pickled = pickled  # not the work, whose arrays would be views of Dask's message

    def __reduce__(self) -> Any:
        return _Packed, (self._pickled,)

    @cached_property
    def work(self) -> Any:
        return pickle.loads(self._pickled)


_of_this_thread = threading.local()  # in a worker: the packed work of the call that a thread makes


def _work() -> Any:
    return _of_this_thread.packed.work


@cache
def _prepare(version: str, is_ours: bool) -> None:
    base.check_version(version, batchsolve.__version__, distributed.get_worker().address)
    if is_ours:  # we started the process
        base.keep_memory()


def _with_work(packed: _Packed, call: Callable[[], Any]) -> Any:
    _of_this_thread.packed = packed
    try:
        return call()
    finally:
        del _of_this_thread.packed


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
    prepare = staticmethod(_prepare)

    _packed: Any = None  # the work, among the data of the workers
    _threads = 0  # of the cluster, at the last look

    def _join(self, opened: ExitStack) -> None:
        cluster: Any = self._address
        if cluster is None:
            cluster = opened.enter_context(_local_cluster(self.jobs))
        try:
            if self._address is not None:
                _check_address(self._address)
                _await_scheduler(self._address)
                with suppress(ValueError, AttributeError, KeyError):  # no task, or it has seceded
                    distributed.secede()  # because a task that waits keeps its thread from ours
                    opened.callback(distributed.rejoin)
            client = distributed.Client(cluster, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self._address}: no Dask scheduler answers ({first_line(error)}); "
                "write tcp://host:port, or tls://host:port for one with TLS"
            ) from error
        opened.callback(_close_client, client)
        self._client: Any = client
        with self._asking():
            scheduler = client.scheduler_info()
            self._scheduler, listens_at = scheduler["id"], scheduler["address"]
            self.jobs = self._width()
        if not listens_at.startswith(("tls://", *LOOPBACK)):
            base.say_that_ports_are_open(listens_at, "set up TLS")
        self._check_versions()

    def _check_versions(self) -> None:
        """Raise `InputError` if a worker lacks this version of the package.

        Workers that join later check that themselves. Here they are asked by a function that they
        have in any case.
        """
        try:
            versions = self._client.run(locate, "batchsolve.__version__", on_error="return")
            for worker, version in versions.items():
                if not isinstance(version, OSError):  # it was lost meanwhile
                    known = version if isinstance(version, str) else None
                    base.check_version(batchsolve.__version__, known, worker)
        except OSError:
            self._check_scheduler()
        except base.WrongVersionError as error:
            raise InputError(f"{self._where}: {error}") from error

    def scheduler_seconds(self) -> float:
        """Return the processor time of the scheduler, if this process does not run it itself."""
        if self._address is None:
            return 0.0
        return self._client.run_on_scheduler(time.process_time)

    def _there(self) -> set[str]:
        """Return the addresses of the workers."""
        cores = dask_cores(self._client, ASK_SECONDS)
        self._threads = sum(cores.values())
        return set(cores)

    def run(self, function: Callable[..., Any], arguments: base.Arguments) -> Generator[Any]:
        """Call a function with each of the arguments; see `ClusterWorkers.run`."""
        self._check_scheduler()
        self._parallel.n_jobs = self._threads or self.jobs  # others may have joined
        return super().run(function, arguments)

    def _submit(self, call: Callable[[], Any]) -> Future[Any]:
        task = self._client.submit(_with_work, self._packed, call, pure=False)
        result = self._result_of(task)
        future = asyncio.run_coroutine_threadsafe(result, self._client.loop.asyncio_loop)
        self._calls[future] = task
        return future

    async def _result_of(self, task: Any) -> Any:
        try:
            return await self._client.gather(task, asynchronous=True)
        except OSError as error:
            if task.status == "error":  # the error of the call
                raise
            raise self._lost() from error

    def _cancel(self, calls: list[Future[Any]]) -> None:
        if self._client.status == "running":
            self._client.cancel([self._calls[call] for call in calls])

    def _check_scheduler(self) -> None:
        """Raise `WorkersError` if the scheduler is lost; one that was started again has no work."""
        with self._asking():
            is_connected = self._client.status == "running"
            if not (is_connected and self._client.scheduler_info()["id"] == self._scheduler):
                raise self._lost()

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Have a scheduler that does not answer told as lost."""
        try:
            yield
        except (OSError, KeyError) as error:  # a closed scheduler does not know its address
            raise self._lost() from error

    def _lost(self) -> WorkersError:
        return WorkersError(f"{self._where}: the scheduler is lost; start it again")

    def _width(self) -> int:
        """Return the number of threads of the cluster."""
        wanted = self._client.submit(int, pure=False)  # one that adapts to its tasks has none yet
        try:
            self._client.wait_for_workers(1, timeout=JOIN_SECONDS)
        except TimeoutError as error:
            raise InputError(f"{self._where}: no worker has joined in {JOIN_SECONDS} s") from error
        wanted.release()
        width = sum(dask_cores(self._client).values())
        if not width:  # the worker was lost in that moment
            raise WorkersError(f"{self._where}: no worker is left; start others")
        return width

    def _send(self, work: Any) -> base.Shared:
        """Send work to all workers; those that join later get it from them.

        If all that have it die, the calls that need it are cancelled, and it is sent again; also if
        Dask fails to send it, with any error, because a worker leaves meanwhile.

        Raises
        ------
        WorkersError
            If the scheduler is lost, or there is no worker for `AGAIN_SECONDS`.
        """
        self._check_scheduler()
        packed = _Packed(pickle.dumps(work))
        until = time.monotonic() + base.AGAIN_SECONDS
        while True:
            try:
                self._packed = self._client.scatter(
                    packed,
                    broadcast=True,  # because Dask hands out few tasks only to workers that have it
                    hash=False,
                    timeout=max(0.0, until - time.monotonic()),
                )
                return _work
            except MemoryError:
                raise
            except Exception as error:
                self._check_scheduler()
                if time.monotonic() >= until:
                    raise self._nobody_left() from error
                time.sleep(base.LOOK_SECONDS)


def _check_address(address: str) -> None:
    """Raise ValueError for an address that Dask would try for seconds and end with a TypeError."""
    get_address_host_port(address)
    if dask.config.get("distributed.client.security-loader") is not None:
        return  # it may know other certificates
    connection = distributed.Security().get_connection_args("client")
    encrypted = parse_address(address)[0] == "tls"
    if encrypted and connection["ssl_context"] is None:
        raise ValueError("Dask's configuration names no certificate of the client")
    if connection["require_encryption"] and not encrypted:
        raise ValueError("Dask's configuration requires encryption")


def _await_scheduler(address: str) -> None:
    """Wait until a scheduler listens: a client that finds none leaves a thread and open files.

    One of TLS is not asked, because it would log that no handshake followed.
    """
    where, until = get_address_host_port(address), time.monotonic() + CONNECT_SECONDS
    while parse_address(address)[0] == "tcp":
        try:
            return socket.create_connection(where, CONNECT_SECONDS).close()
        except OSError:
            if time.monotonic() >= until:
                raise
            time.sleep(base.LOOK_SECONDS)


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

    def __init__(self, **keywords: Any) -> None:
        try:
            super().__init__(**keywords)
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

    They import it anew, unless it is a named module (``python -m``) or has no file.
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
    imported = sys.modules["__mp_main__"]  # until then; as a rule it is the same as `__main__`
    return imported.__name__ == "__mp_main__" and imported is not sys.modules["__main__"]


_OF_ALL_CLUSTERS = {  # of a process
    "distributed.scheduler.allowed-failures": DEATHS_FORGIVEN,
    # Time after a death at which Dask looks for the worker, and gives up its place for good if it
    # is missing, even if it has been restarted since and has just died again.
    "distributed.deploy.lost-worker-timeout": NEVER,
}
_counting, _n_users, _set = threading.Lock(), 0, ExitStack()


@contextmanager
def _variables_of_workers() -> Iterator[None]:
    """Restore the variables that Dask sets here for the worker processes that it starts."""
    theirs = dask.config.get("distributed.nanny.pre-spawn-environ") or ()
    names = [*theirs, "PYTHONHASHSEED", "__DASK_PARENT_PID"]
    before = {name: os.environ[name] for name in names if name in os.environ}
    yield
    for name in names:
        os.environ.pop(name, None)
    os.environ.update(before)


@contextmanager
def _our_settings() -> Iterator[None]:
    """Change settings of Dask, unless another cluster has; the last one that ends restores them.

    If each restored what it had found, the last would leave what the first had set.
    """
    global _n_users
    with _counting:
        if not _n_users:
            _set.enter_context(dask.config.set(_OF_ALL_CLUSTERS))
            _set.enter_context(dask_logs_from(SILENT))
            _set.enter_context(_variables_of_workers())
        _n_users += 1
    try:
        yield
    finally:
        with _counting:
            _n_users -= 1
            if not _n_users:
                _set.close()


@contextmanager
def _local_cluster(jobs: int) -> Iterator[Any]:
    """Start processes of one thread each on this machine, and stop them at the end."""
    if _is_imported_by_a_worker():
        os._exit(1)  # the process that has started it says why, once
    check_main()
    with _our_settings():
        try:
            with base.keeping_ctrl_c():
                cluster = _LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    memory_limit=0,
                    dashboard_address="127.0.0.1:0",
                    silence_logs=SILENT,
                )
        except RuntimeError as error:  # such as: a worker was killed before it had started
            cause: BaseException = error  # of which Dask says nothing
            while (before := cause.__cause__ or cause.__context__) is not None:
                cause = before
            raise WorkersError(
                f"the Dask cluster of this machine did not start ({first_line(cause)}); try again; "
                f"if this is a script: {UNGUARDED}"
            ) from error
        with cluster:
            yield cluster
