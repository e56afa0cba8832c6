"""All code that uses undocumented parts of joblib, Dask and Ray.

A new version may change them without notice. tests/workers/test_private.py lists them and looks
for them in the installed versions; the reason for each stands where it is used. Names with a
leading underscore in this file are those of the libraries.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from multiprocessing import util
from multiprocessing.connection import wait
from queue import Queue, SimpleQueue
from typing import Any

import joblib
import joblib.executor
from joblib.externals.loky import process_executor, reusable_executor
from joblib.parallel import LokyBackend, ParallelBackendBase

LOOK_SECONDS = 0.01  # between two looks for failed calls, of which joblib gives no notice
BEFORE_QUEUES = 20  # a priority at exit; queues are closed later, with priority 10
LAST_SECONDS = 1  # for a thread that ends at once, unless it waits for the dead


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

    def dispatch_next(self) -> None:
        """Hand out another call; at the end of the process, loky would raise an error."""
        if not process_executor._global_shutdown:
            super().dispatch_next()

    def _warn_exit_early(self) -> None:
        pass

    def forget(self) -> None:
        """Forget the results of an abandoned round, because joblib would fail on them.

        Those that have arrived since are among the jobs; without an id, those that still arrive are
        ignored. Calls that were drawn, but not handed out, would be handed out in the next round.
        """
        with self._lock:
            self._call_id = None
            self._jobs.clear()
            self._ready_batches: Queue[Any] = Queue()

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


class FutureBackend(ParallelBackendBase):
    """joblib's backend over calls that are handed out as futures.

    Parameters
    ----------
    submit : callable
        Hands out a call; returns its future.
    cancel : callable
        Takes the futures of calls that are out, but whose results are no longer wanted.

    Notes
    -----
    The caller that waits for results calls `tell`, so errors of handing out the next call are
    raised there, and the threads of Dask and Ray in which calls end need not wait for that.
    """

    supports_retrieve_callback = supports_return_generator = True

    def __init__(
        self,
        submit: Callable[[Callable[[], Any]], Future[Any]],
        cancel: Callable[[list[Future[Any]]], None],
    ) -> None:
        super().__init__()
        self.hand_out, self.give_up = submit, cancel
        self.out: dict[Future[Any], Callable[[Future[Any]], None]] = {}
        self.news: SimpleQueue[Future[Any] | Exception] = SimpleQueue()

    def effective_n_jobs(self, n_jobs: int) -> int:
        """Return the number of workers, but at least 2: with 1, joblib would call by itself."""
        return max(2, n_jobs)

    def submit(self, func: Any, callback: Any = None) -> Future[Any]:
        """Hand out a call; joblib takes its result, or its error, from the callback."""
        future = self.hand_out(func)
        self.out[future] = callback
        future.add_done_callback(self.news.put)
        return future

    def tell(self) -> None:
        """Wait for a call to end; tell joblib, which draws and hands out another."""
        news = self.news.get()
        if isinstance(news, Exception):
            raise news
        if callback := self.out.pop(news, None):  # none for a call of an abandoned round
            callback(news)

    def retrieve_result_callback(self, out: Future[Any]) -> Any:
        """Return the result of a call that has ended, or raise its error."""
        return out.result()

    def fail(self, error: Exception) -> None:
        """Have `tell` raise an error; any thread may call this."""
        self.news.put(error)

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Cancel the calls that are out, so that they do not delay the next ones."""
        out, self.out = list(self.out), {}
        self.give_up(out)


KEPT = (  # where joblib keeps its one executor, and the arguments that it was made with
    (reusable_executor, "_executor"),
    (reusable_executor, "_executor_kwargs"),
    (joblib.executor, "_executor_args"),
)
idle: list[dict[str, Any]] = []  # the same values, by name, of our idle executors


class OwnLokyBackend(LokyBackend):
    """joblib's backend of loky with an executor of its own; the user's stays as it is.

    If ours replaced it, a `Parallel` that the user still has in use would hand its calls to our
    workers, or wait for ever. Likewise, two of ours do not share one: loky ends all its calls with
    those of one, and its width changes only after all its calls, which then cannot go on.
    """

    _workers: Any = None

    @property
    def executor(self) -> Any:
        """The executor; None if it has not started."""
        return self._workers

    def configure(self, n_jobs: int = 1, parallel: Any = None, **options: Any) -> int:
        """Start workers, or reuse idle ones."""
        with reusable_executor._executor_lock:
            ours = idle.pop() if idle else {}
            before = ours.get("_executor")
            users = exchange(ours)
            try:
                width: int = super().configure(n_jobs, parallel, **options)
            finally:
                self.kept = exchange(users)
                if self._workers is None:
                    idle.append(self.kept)
        if self._workers is not before:
            executor = weakref.ref(self._workers)
            util.Finalize(self._workers, end_with_us, [executor], exitpriority=BEFORE_QUEUES)
        return width

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """End all calls, and start other workers unless the process ends.

        The thread that hands out calls may be the last to hold semaphores; if it ended with the
        process, after it has unlinked one, loky would warn of that.
        """
        feeder = getattr(self._workers._call_queue, "_thread", None)
        super().abort_everything(ensure_ready and not process_executor._global_shutdown)
        if feeder is not None:
            feeder.join(LAST_SECONDS)

    def terminate(self) -> None:
        """Leave the workers idle."""
        is_ready = self._workers is not None
        super().terminate()
        if is_ready:
            idle.append(self.kept)


def end_with_us(reference: weakref.ref[Any]) -> None:
    """End workers; a process that `multiprocessing` has started would wait for them for ever.

    loky ends them too, but only after that wait.
    """
    executor = reference()
    if executor is not None:
        executor.terminate(kill_workers=True)


def exchange(values: dict[str, Any]) -> dict[str, Any]:
    """Have joblib keep another executor, or none; return the values of the one it kept."""
    before = {name: getattr(module, name) for module, name in KEPT}
    for module, name in KEPT:
        setattr(module, name, values.get(name))
    return before


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


def dask_cores(client: Any, seconds: float | None = None) -> dict[str, int]:
    """Return the threads of each worker of a cluster; raise an error if no answer comes in time."""
    return dict(client.ncores(callback_timeout=seconds))


def dask_logs_from(level: int) -> AbstractContextManager[None]:
    """Have Dask log nothing below a level."""
    from distributed.utils import silence_logging_cmgr

    return silence_logging_cmgr(level)


def leave_at_exit(cluster: Any) -> None:
    """Keep Dask from closing a cluster at exit: it prints a traceback if that has not started."""
    cluster.shutdown_on_close = False


def asks_for_a_token() -> bool:
    """Return True if Ray requires a token."""
    from ray._private.authentication.authentication_utils import is_token_auth_enabled

    return bool(is_token_auth_enabled())
