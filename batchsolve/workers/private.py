"""All code that uses undocumented parts of joblib, Dask and Ray.

A new version may change them without notice. tests/workers/test_private.py lists them and looks
for them in the installed versions; the reason for each stands where it is used. Names with a
leading underscore in this file are those of the libraries.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import util
from multiprocessing.connection import wait
from typing import Any

import joblib
import joblib.executor
from joblib.externals.loky import reusable_executor
from joblib.parallel import LokyBackend, ThreadingBackend

LOOK_SECONDS = 0.01  # between two looks for failed calls, of which joblib gives no notice
BEFORE_QUEUES = 20  # a priority at exit; queues are closed later, with priority 10


class Parallel(joblib.Parallel):
    """joblib's `Parallel`, but it notes at once that a call has ended, and warns of nothing.

    joblib itself looks for results only every 10 ms, and no option turns off its warning of
    abandoned calls, as after Ctrl-C.
    """

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

    joblib's own passes on calls and results in two more threads.

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
        self.callbacks: weakref.WeakSet[Any] = weakref.WeakSet()  # of the calls that are out

    def submit(self, func: Any, callback: Any = None) -> Any:
        """Hand out a call; joblib takes its result, or its error, from the callback."""
        self.callbacks.add(callback)
        return super().submit(func, callback)

    def fail(self, error: Exception) -> None:
        """Have joblib raise an error for all calls that are out."""
        for callback in list(self.callbacks):
            callback(error)

    @property
    def pool(self) -> Any:
        """The pool; None if it has not started."""
        return self._pool

    def _get_pool(self) -> Any:
        if self._pool is None:
            self._pool = self.start_pool()
        return self._pool

    def effective_n_jobs(self, n_jobs: int) -> int:
        """Return the number of workers, but at least 2: with 1, joblib would call by itself."""
        return max(2, int(super().effective_n_jobs(n_jobs)))

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
    """joblib's backend of loky, but with an executor of its own; the user's stays as it is.

    If ours replaced it, a `Parallel` that the user still has in use would hand its calls to our
    workers, or wait for ever.
    """

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
    """Return True if a worker of loky died or the executor broke, but its thread goes on.

    loky misses the death of a worker that held a lock or had sent half of a result.
    """
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
    """Return the class of joblib's backend of Dask, which joblib exports only by its name."""
    from joblib._dask import DaskDistributedBackend

    return DaskDistributedBackend


def dask_calls(backend: Any) -> list[Any]:
    """Return the calls of joblib's backend of Dask that are out, also those Dask has given up."""
    return list(backend.waiting_futures.futures)


def dask_connection(client: Any) -> Any:
    """Return the connection of a client to its scheduler; None if it is lost.

    Dask silently connects again to a scheduler that was restarted and has no work.
    """
    return client.scheduler_comm if client.status == "running" else None


def dask_cores(client: Any, seconds: float | None = None) -> dict[str, int]:
    """Return the threads of each worker of a cluster; raise an error if no answer comes in time."""
    return dict(client.ncores(callback_timeout=seconds))


def leave_at_exit(cluster: Any) -> None:
    """Keep Dask from closing a cluster at exit: it prints a traceback if that has not started."""
    cluster.shutdown_on_close = False


class EagerPool:
    """A base to put before Ray's pool, which then waits for no actor; some may never start."""

    _new_actor_entry: Callable[[], tuple[Any, int]]

    def _start_actor_pool(self, processes: int) -> None:
        self._pool_actor = None
        self._actor_pool = [self._new_actor_entry() for _ in range(processes)]

    @property
    def actors(self) -> list[Any]:
        """The actors, also those that wait for a machine."""
        return [actor for actor, _ in self._actor_pool]


def ray_threads() -> list[threading.Thread]:
    """Return the threads of Ray's pools that wait for results, also after its shutdown."""
    from ray.util.multiprocessing.pool import ResultThread

    return [thread for thread in threading.enumerate() if isinstance(thread, ResultThread)]


def end_ray_threads() -> None:
    """Have these threads end, as soon as they are back from Ray."""
    for thread in ray_threads():
        number, error = ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(number, error)


@contextmanager
def quiet_ray_threads() -> Iterator[None]:
    """Print no traceback of such a thread, which ends by an error if Ray's head is lost."""
    from ray.util.multiprocessing.pool import ResultThread

    def say(error: threading.ExceptHookArgs) -> None:
        if not isinstance(error.thread, ResultThread):
            before(error)

    before, threading.excepthook = threading.excepthook, say
    try:
        yield
    finally:
        threading.excepthook = before


def asks_for_a_token() -> bool:
    """Return True if Ray requires a token; old versions cannot, and lack the function to ask."""
    try:
        from ray._private.authentication.authentication_utils import is_token_auth_enabled
    except ImportError:
        return False
    return bool(is_token_auth_enabled())
