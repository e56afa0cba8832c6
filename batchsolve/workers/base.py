"""The base class of workers, which joblib hands calls to, and what several backends need.

A backend declares what it can; the pool asks for that and never for a name.
"""

from __future__ import annotations

import ctypes
import logging
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from itertools import starmap
from math import ceil
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import batchsolve
from batchsolve.errors import WorkersError, warn_once

LOG = logging.getLogger("batchsolve")
RESULT_SECONDS = 0.0003  # to hand out a task and collect its result; measured: 0.07 to 0.2 ms
FLIGHTS = 3  # of calls that find out how far workers are; the first also starts a worker
MOST_FLIGHT_SECONDS = 1.0  # more is a wait for workers that do the tasks of others
TASKS_OUT = 2  # tasks handed out per worker: one runs, and the next is at hand
LOOK_SECONDS = 1.0  # between two looks of a watchdog
AGAIN_SECONDS = 60  # for a worker to join after all have died; on a busy machine it took over 10
_CGROUP = "/sys/fs/cgroup/"
QUOTAS = (  # of processor time in a container, and its periods, of both versions of cgroups
    (_CGROUP + "cpu.max",),
    (_CGROUP + "cpu/cpu.cfs_quota_us", _CGROUP + "cpu/cpu.cfs_period_us"),
)

Shared = Callable[[], Any]
"""A reference to the work of workers, which it returns; it is pickled and sent with every task."""

Arguments = Iterator[tuple[Any, ...]]
"""The arguments of one call after another."""


@cache
def n_cores() -> int:
    """Return the number of cores that this process may use, also within a container."""
    n = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for paths in QUOTAS:
        with suppress(OSError, ValueError):
            quota, period = map(int, " ".join(Path(path).read_text() for path in paths).split())
            n = max(1, min(n, ceil(quota / period))) if quota > 0 else n
    return n


def identity(work: Any) -> Any:
    """Return the work; a reference of this function is sent with all of it."""
    return work


def say_that_ports_are_open(where: str, advice: str) -> None:
    """Warn that everyone who reaches the ports of a cluster can run code there."""
    warn_once(
        f"{where}: whoever reaches its ports can run what they like, in your name; keep it within "
        f"a network that you trust, or {advice} (see docs/clusters.md)"
    )


class Workers:
    """Workers of one backend of joblib, or of none: threads do without it.

    Parameters
    ----------
    jobs : int, optional
        Number of workers; by default the number of cores.
    address : str, optional
        The cluster to join; only some backends can.

    Attributes
    ----------
    joins_clusters : bool
        True if the backend takes the address of a cluster.
    width_is_the_clusters : bool
        True if the backend uses all workers of a cluster that it joins, however many.
    sees_files : bool
        True if workers see this process's files, by absolute paths.
    in_process : bool
        True if workers are threads of this process.
    share_memory : bool
        True if workers are processes of this machine.
    jobs : int
        Number of workers; that of a cluster is known while they are in use.
    deaths : tuple of exception types
        Exceptions that `run` raises when workers have died; those left, or new ones, take more
        calls.

    Notes
    -----
    Use them as a context manager.
    """

    sees_files = True
    joins_clusters = width_is_the_clusters = in_process = share_memory = False
    deaths: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        self.jobs: int = jobs or n_cores()
        self._address = address
        self._opened = ExitStack()
        self._parallel: Any = None

    def __enter__(self) -> Workers:
        from batchsolve.workers.private import Parallel  # joblib, which few problems need

        with self._opened as opened:  # closes again if the rest fails
            backend = self._open(opened)
            self._parallel = Parallel(
                n_jobs=self.jobs,
                backend=backend,
                return_as="generator_unordered",
                pre_dispatch=f"{TASKS_OUT} * n_jobs",
                batch_size=1,
            )
            opened.enter_context(self._parallel)
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._opened.close()

    def _open(self, opened: ExitStack) -> Any:
        """Start or find workers; return a backend of joblib. The stack is closed at the end."""
        raise NotImplementedError

    def share(self, work: Any) -> Shared:
        """Send work to the workers, once; return a reference to it. Here it goes with each task."""
        return partial(identity, work)

    def scheduler_seconds(self) -> float:
        """Return the processor time of a scheduler in a separate process; 0 without one."""
        return 0.0

    def flight_seconds(self) -> float:
        """Return the seconds that a task and its result spend on the network, as measured."""
        return 0.0

    def run(self, function: Callable[..., Any], arguments: Arguments) -> Generator[Any]:
        """Call a function with each of the arguments; yield its results, in any order.

        The first calls are handed out at once if the backend can. More arguments are drawn as
        workers become free, in any thread but one at a time.

        Raises
        ------
        One of `deaths`
            If a worker died, and the backend could not make up for it.
        """
        from joblib import delayed

        self._parallel.forget()
        # unlike a generator, `starmap` can be asked again after it had nothing
        calls = starmap(delayed(function), arguments)
        return self._as_they_come(self._parallel(calls))

    def _as_they_come(self, running: Generator[Any]) -> Generator[Any]:
        try:
            self._await_result()
            for result in running:
                yield result
                self._await_result()
        finally:  # joblib warns if a round that is closed in another thread was not ended before
            with suppress(CancelledError):
                running.throw(CancelledError())

    def _await_result(self) -> None:
        """Wait until a result arrives, or no more can."""
        self._parallel.await_result()


class WrongVersionError(ImportError):
    """A worker has another version of this package than the process that asks it, or none."""


def check_version(wanted: str, version: str | None, worker: str) -> None:
    """Raise `WrongVersionError` unless a worker has the version of the process that asks it."""
    if version != wanted:
        has = f"has batchsolve {version}" if version else "lacks batchsolve"
        raise WrongVersionError(
            f"the worker {worker} {has}; install batchsolve {wanted} there, or stop it"
        )


def cannot_load(error: Exception) -> str:
    """Return a message for workers of a cluster that cannot load what they receive, with advice."""
    reason = str(error).strip().splitlines()[-1]
    if isinstance(error, WrongVersionError):
        return reason.rpartition("WrongVersionError: ")[2]  # Ray may put a traceback before it
    return f"a worker cannot load batchsolve ({reason}); install this version on every worker"


@contextmanager
def watched(
    stuck: Callable[[], Any],
    end: Callable[[Any], None],
    grace: float,
    where: str = "",
    there: Callable[[], set[str]] = set,
) -> Iterator[None]:
    """Poll for workers that are gone, in a thread.

    Parameters
    ----------
    stuck : callable
        Returns the object that waits for workers that are gone, or None.
    end : callable
        Takes an object that has been stuck for `grace` seconds, and ends its wait, for instance by
        an exception in the thread that waits for results.
    grace : float
        Seconds in which the workers may come back, or others may join.
    where : str, optional
        The name of a cluster; then the user is told of workers that are lost, and of waits.
    there : callable, optional
        Returns the names of its workers, or of their machines; may raise any error, for instance if
        the scheduler is lost.
    """
    over = threading.Event()

    def say_who_is_lost(before: set[str]) -> set[str]:
        """Warn of workers that were there at the last look; return those that are there now."""
        now = before
        with suppress(Exception):
            now = there()
        lost = sorted(before - now)
        if lost and not over.is_set():
            tasks = "others do the tasks" if now else "no worker is left"
            LOG.warning("%s: lost %s; %s", where, ", ".join(lost), tasks)
        return now

    def watch() -> None:
        before, since = None, 0.0  # the object that was stuck at the last look, and since when
        known = say_who_is_lost(set())
        while not over.wait(LOOK_SECONDS):
            known = say_who_is_lost(known)
            now = stuck()
            if where and now is not None and before is None:
                wait = "%s: too few workers; waiting up to %g s for others to join"
                LOG.warning(wait, where, grace)
            if now is None or now is not before:
                before, since = now, time.monotonic()
            elif time.monotonic() - since >= grace:
                end(now)
                before = None

    thread = threading.Thread(target=watch, daemon=True)
    try:
        thread.start()
        yield
    finally:
        over.set()
        if thread.ident is not None:
            thread.join()


class ClusterWorkers(Workers):
    """Workers of a cluster, which is joined, or started on this machine.

    A watchdog ends the search if the cluster lacks workers for `AGAIN_SECONDS`.

    Attributes
    ----------
    of_ours : str
        The name of a cluster of this machine, in messages.
    unloadable : tuple of exception types
        Exceptions that `run` raises when workers cannot load a call.
    prepare : callable
        Prepares a worker, which calls it with a version of this package and True if its process is
        ours; raises `WrongVersionError` if it has another version.
    """

    joins_clusters = True
    sees_files = False
    of_ours = ""
    unloadable: tuple[type[Exception], ...] = (ImportError, AttributeError)
    prepare: Callable[[str, bool], None]

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        super().__init__(jobs, address)
        self._wanted = jobs
        self._is_ours = address is None  # the processes of workers, which serve this run alone
        self._backend: Any = None
        self._shared: tuple[Any, Shared] | None = None
        self._calls: WeakKeyDictionary[Future[Any], Any] = WeakKeyDictionary()  # the cluster's own

    @property
    def _where(self) -> str:
        """The name of the cluster in messages."""
        return self._address or self.of_ours

    def _open(self, opened: ExitStack) -> Any:
        from batchsolve.workers.private import FutureBackend

        self._join(opened)
        self._backend = FutureBackend(self._submit, self._cancel)
        arguments = self._stuck, self._give_up, AGAIN_SECONDS, self._where, self._there
        opened.enter_context(watched(*arguments))
        return self._backend

    def __exit__(self, *error: Any) -> None:
        self._shared = None
        super().__exit__(*error)

    def _join(self, opened: ExitStack) -> None:
        """Join or start the cluster. The stack is closed at the end."""
        raise NotImplementedError

    def _submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Hand out a call."""
        raise NotImplementedError

    def _cancel(self, calls: list[Future[Any]]) -> None:
        """Cancel calls."""
        raise NotImplementedError

    def _there(self) -> set[str]:
        """Return the names of the workers, or of their machines."""
        raise NotImplementedError

    def _send(self, work: Any) -> Shared:
        """Send work to the workers; return a reference to it."""
        raise NotImplementedError

    def _stuck(self) -> Any:
        """Return the backend if no worker is left."""
        with suppress(Exception):  # the scheduler may be lost, which ends the search by itself
            if not self._there():
                return self._backend
        return None

    def _give_up(self, stuck: Any) -> None:
        stuck.fail(self._nobody_left())

    def _nobody_left(self) -> WorkersError:
        why = f"no worker is left, and none has joined in {AGAIN_SECONDS} s"
        return WorkersError(f"{self._where}: {why}")

    def share(self, work: Any) -> Shared:
        """Send work to the workers, once; return a reference to it."""
        if self._shared is None or self._shared[0] is not work:
            self._shared = work, self._send(work)
        return self._shared[1]

    def run(self, function: Callable[..., Any], arguments: Arguments) -> Generator[Any]:
        """Call a function with each of the arguments; see `Workers.run`.

        More are drawn only while a result is awaited.

        Raises
        ------
        WorkersError
            If the scheduler is lost, no worker is left and none has joined for `AGAIN_SECONDS`, or
            a worker lacks this version of this package.
        """
        prepare = partial(self.prepare, batchsolve.__version__, self._is_ours)

        def pickled(values: tuple[Any, ...]) -> tuple[Any, ...]:
            # The worker checks the version before it loads ours; and in results as they are, Ray
            # makes arrays read-only, into which the rows of a block are added up.
            return prepare, function, pickle.dumps(values)

        return self._of_our_version(super().run(_prepared, map(pickled, arguments)))

    def _of_our_version(self, results: Generator[bytes]) -> Generator[Any]:
        try:
            for result in results:
                yield pickle.loads(result)
        except self.deaths:
            self._shared = None  # the work may be lost, too
            raise
        except self.unloadable as error:
            raise WorkersError(f"{self._where}: {cannot_load(error)}") from error

    def _await_result(self) -> None:
        while self._parallel.is_awaited():
            self._backend.tell()

    def flight_seconds(self) -> float:
        """Return the seconds that a call of nothing takes; 0 on this machine."""
        if self._address is None:
            return 0.0
        seconds = MOST_FLIGHT_SECONDS
        with suppress(*self.deaths):
            for _ in range(FLIGHTS):
                begin = time.perf_counter()
                list(self.run(int, iter([()])))
                seconds = min(seconds, time.perf_counter() - begin)
        return seconds


def _prepared(prepare: Callable[[], None], function: Callable[..., Any], values: bytes) -> bytes:
    """Call a function in a worker, with pickled arguments; return its pickled result."""
    prepare()
    return pickle.dumps(function(*pickle.loads(values)))


@contextmanager
def keeping_ctrl_c() -> Iterator[None]:
    """Block Ctrl-C; threads and processes that are started meanwhile never see it.

    A worker ignores Ctrl-C by itself, but only after its imports; until then Ctrl-C would end it
    with a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # beforehand, because its start unblocks Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ---- memory ---------------------------------------------------------------------------------

# For GNU's C library: arrays of up to ARRAY_BYTES come from the heap of the process, and up to
# KEPT_BYTES of freed memory stay in it. By default the library maps and unmaps pages for every
# array of a megabyte; that took a third of a worker's time and halted others in a virtual machine.
M_TRIM_THRESHOLD, KEPT_BYTES = -1, 32 << 20
M_MMAP_THRESHOLD, ARRAY_BYTES = -3, 32 << 20


def keep_memory() -> None:
    """Make the C library keep the memory of freed arrays.

    This cannot be undone: call it only in processes of our own, commands and workers.
    """
    with suppress(OSError, AttributeError, TypeError):  # other systems have no such function
        allocator = ctypes.CDLL(None)
        allocator.mallopt(M_MMAP_THRESHOLD, ARRAY_BYTES)
        allocator.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
