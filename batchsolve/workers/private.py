"""All code that uses undocumented parts of joblib, Dask and Ray.

A new version may change them without notice. `USES` lists them, each with the reason, and `SEEN_IN`
the versions in which they were seen; tests/workers/test_private.py compares the installed versions.
Names with a leading underscore in this file are those of the libraries.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import util
from multiprocessing.connection import wait
from typing import Any, NamedTuple

import joblib
import joblib.executor
from joblib.externals.loky import reusable_executor
from joblib.externals.loky.backend import resource_tracker as resource_tracker
from joblib.parallel import LokyBackend, ThreadingBackend

LOOK_SECONDS = 0.01  # between two looks for failed calls, of which joblib gives no notice
BEFORE_QUEUES = 20  # a priority at exit; queues are closed later, with priority 10


class PrivateUse(NamedTuple):
    """Undocumented names of a library that we use.

    Attributes
    ----------
    owner : str
        The module or the class that has the names: ``module`` or ``module:class``.
    names : str
        The names, with spaces between them.
    why : str
        The reason.
    """

    owner: str
    names: str
    why: str


SEEN_IN = {"joblib": "1.6.0", "distributed": "2026.8.0", "ray": "2.60.0"}

USES = (
    PrivateUse(
        "joblib.parallel:Parallel",
        "_lock _jobs _call_id",
        "joblib fails on results of a round that was abandoned, unless we make it forget them",
    ),
    PrivateUse(
        "joblib.parallel:Parallel",
        "_aborting n_dispatched_tasks n_completed_tasks print_progress",
        "joblib itself looks for results only every 10 ms",
    ),
    PrivateUse(
        "joblib.parallel:Parallel",
        "_warn_exit_early",
        "joblib warns of abandoned calls, as after Ctrl-C, and no option prevents it",
    ),
    PrivateUse(
        "joblib.parallel:ThreadingBackend",
        "_pool _get_pool apply_async close terminate abort_everything",
        "joblib takes no other pool; its own passes on calls and results in two more threads",
    ),
    PrivateUse(
        "joblib.parallel:LokyBackend",
        "_workers configure",
        "joblib takes no executor of our own",
    ),
    PrivateUse(
        "joblib.externals.loky.reusable_executor",
        "_executor_lock _executor _executor_kwargs",
        "loky keeps one executor, the user's; if ours replaced it, a `Parallel` that the user "
        "still has in use would hand its calls to our workers, or wait for ever",
    ),
    PrivateUse(
        "joblib.executor", "_executor_args", "joblib reuses the executor for equal arguments"
    ),
    PrivateUse(
        "joblib.executor:MemmappingExecutor",
        "terminate kill_workers _flags _executor_manager_thread _processes _call_queue "
        "_result_queue",
        "loky misses the death of a worker that held a lock or had sent half of a result",
    ),
    PrivateUse(
        "joblib.externals.loky.process_executor:_ExecutorFlags",
        "broken",
        "the executor has broken, but its thread may still wait",
    ),
    PrivateUse(
        "joblib.externals.loky.backend.queues:SimpleQueue",
        "_writer",
        "closing this end wakes a thread that waits for the other half of a result",
    ),
    PrivateUse(
        "joblib.externals.loky.backend.queues:Queue",
        "_reader",
        "closing this end wakes a thread that writes to dead workers",
    ),
    PrivateUse(
        "joblib.externals.loky.backend.resource_tracker",
        "register unregister",
        "after this process is killed, loky's tracker removes folders; Python's cannot",
    ),
    PrivateUse(
        "joblib._dask:DaskDistributedBackend",
        "client waiting_futures abort_everything effective_n_jobs submit",
        "joblib exports this backend only by its name; it waits for ever for tasks that Dask has "
        "given up",
    ),
    PrivateUse(
        "distributed.client:as_completed", "futures", "these calls are out, and we cancel them"
    ),
    PrivateUse(
        "distributed.client:Client",
        "scheduler_comm status",
        "Dask silently connects again to a scheduler that was restarted and has no work",
    ),
    PrivateUse(
        "distributed.utils:SyncMethodMixin",
        "callback_timeout",
        "a question to a lost scheduler would wait for ever",
    ),
    PrivateUse(
        "distributed.deploy.spec:SpecCluster",
        "shutdown_on_close",
        "at exit, Dask would print a traceback for a cluster whose start was interrupted",
    ),
    PrivateUse(
        "ray.util.multiprocessing:Pool",
        "_start_actor_pool _pool_actor _actor_pool _new_actor_entry",
        "Ray's pool waits until all actors have started, but some may never start",
    ),
    PrivateUse(
        "ray.util.multiprocessing.pool",
        "ResultThread",
        "Ray's pools leave threads behind, which would ask for results after its shutdown",
    ),
    PrivateUse(
        "ray._private.authentication.authentication_utils",
        "is_token_auth_enabled",
        "without tokens, everyone who reaches Ray's ports can run code, and we warn of that",
    ),
)


class Parallel(joblib.Parallel):
    """joblib's `Parallel`, but it notes at once that a call has ended, and warns of nothing."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.ended = threading.Lock()  # free if a call has ended since it was last taken

    def print_progress(self) -> None:
        """Note that a call has ended; joblib calls this then, in one thread at a time."""
        if self.ended.locked():
            self.ended.release()

    def _warn_exit_early(self) -> None:
        pass

    def forget(self) -> None:
        """Forget the results of an abandoned round, because joblib would fail on them.

        Those that have arrived since are among the jobs; without an id, those that still arrive are
        ignored.
        """
        with self._lock:
            self._call_id = None
            self._jobs.clear()

    def await_result(self) -> None:
        """Wait until a result arrives, or no more can."""
        while self.is_awaited():
            if self.n_dispatched_tasks - self.n_completed_tasks > self.n_jobs:
                time.sleep(LOOK_SECONDS)  # more calls wait, and workers are faster undisturbed
            else:
                self.ended.acquire(timeout=LOOK_SECONDS)

    def is_awaited(self) -> bool:
        """Return True if no result has arrived, but one still can."""
        with self._lock:
            return not (self._jobs or self._aborting) and (
                self.n_completed_tasks < self.n_dispatched_tasks
            )


class PoolBackend(ThreadingBackend):
    """joblib's backend of threads, but with another pool, which starts at the first call.

    Parameters
    ----------
    start_pool : callable
        Starts a pool with the methods of a `multiprocessing.pool.Pool` that joblib uses:
        `apply_async`, `close` and `terminate`.
    """

    _pool: Any

    def __init__(self, start_pool: Callable[[], Any]) -> None:
        super().__init__()
        self.start_pool = start_pool

    @property
    def pool(self) -> Any:
        """The pool; None if it has not started."""
        return self._pool

    def _get_pool(self) -> Any:
        if self._pool is None:
            self._pool = self.start_pool()
        return self._pool

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Stop the pool; another starts at the next call."""
        self.terminate()


KEPT = (  # where joblib keeps its one executor, and the arguments that it was made with
    (reusable_executor, "_executor"),
    (reusable_executor, "_executor_kwargs"),
    (joblib.executor, "_executor_args"),
)
ours: dict[str, Any] = {}  # the same values of our executor, by name


class OwnLokyBackend(LokyBackend):
    """joblib's backend of loky, but with an executor of its own; the user's stays as it is."""

    _workers: Any = None

    @property
    def executor(self) -> Any:
        """The executor; None if it has not started."""
        return self._workers

    def configure(self, n_jobs: int = 1, parallel: Any = None, **options: Any) -> int:
        """Start workers, or reuse those of the last call."""
        with reusable_executor._executor_lock:
            before = ours.get("_executor")
            exchange()
            try:
                width: int = super().configure(n_jobs, parallel, **options)
            finally:
                exchange()
        if self._workers is not before:
            executor = weakref.ref(self._workers)
            util.Finalize(self._workers, end_with_us, [executor], exitpriority=BEFORE_QUEUES)
        return width


def end_with_us(reference: weakref.ref[Any]) -> None:
    """End workers; a process that `multiprocessing` has started would wait for them for ever.

    loky ends them too, but only after that wait.
    """
    executor = reference()
    if executor is not None:
        executor.terminate(kill_workers=True)


def exchange() -> None:
    """Swap our executor and the one that joblib keeps."""
    for module, name in KEPT:
        own, ours[name] = ours.get(name), getattr(module, name)
        setattr(module, name, own)


def waits_for_the_dead(executor: Any) -> bool:
    """Return True if a worker of loky died or the executor broke, but its thread goes on."""
    manager = executor._executor_manager_thread
    if manager is None or not manager.is_alive():
        return False
    if executor._flags.broken is not None:
        return True
    with suppress(OSError):  # loky has just noticed a death, and closed a sentinel
        return bool(wait([process.sentinel for process in list(executor._processes.values())], 0))
    return False


def end_wait(executor: Any) -> None:
    """Kill the other workers of loky, and close the ends of pipes that keep threads waiting."""
    for process in list(executor._processes.values()):
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    with suppress(OSError, AttributeError):  # an executor that has ended has no queues
        executor._result_queue._writer.close()  # so that the reader finds the end of the pipe
        executor._call_queue._reader.close()  # so that the writer finds a pipe without reader


def dask_backend() -> Any:
    """Return the class of joblib's backend of Dask, which imports Dask."""
    from joblib._dask import DaskDistributedBackend

    return DaskDistributedBackend


def dask_calls(backend: Any) -> list[Any]:
    """Return the calls of joblib's backend of Dask that are out."""
    return list(backend.waiting_futures.futures)


def dask_connection(client: Any) -> Any:
    """Return the connection of a client to its scheduler; None if it is lost."""
    return client.scheduler_comm if client.status == "running" else None


def dask_cores(client: Any, seconds: float | None = None) -> int:
    """Return the number of threads of a cluster; raise an error if no answer comes in time."""
    return int(sum(client.ncores(callback_timeout=seconds).values()))


def leave_at_exit(cluster: Any) -> None:
    """Keep Dask from closing a cluster when this process ends."""
    cluster.shutdown_on_close = False


class EagerPool:
    """A base to put before Ray's pool, which then does not wait for its actors to start."""

    _new_actor_entry: Callable[[], tuple[Any, int]]

    def _start_actor_pool(self, processes: int) -> None:
        self._pool_actor = None
        self._actor_pool = [self._new_actor_entry() for _ in range(processes)]

    @property
    def actors(self) -> list[Any]:
        """The actors, also those that wait for a machine."""
        return [actor for actor, _ in self._actor_pool]


def ray_threads() -> list[threading.Thread]:
    """Return the threads of Ray's pools that wait for results."""
    from ray.util.multiprocessing.pool import ResultThread

    return [thread for thread in threading.enumerate() if isinstance(thread, ResultThread)]


def asks_for_a_token() -> bool:
    """Return True if Ray requires a token; old versions cannot, and lack the function to ask."""
    try:
        from ray._private.authentication.authentication_utils import is_token_auth_enabled
    except ImportError:
        return False
    return bool(is_token_auth_enabled())
