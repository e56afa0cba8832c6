"""Threads of this process, each of which takes its own calls and hands back its own results.

joblib's own threads are those of `multiprocessing.pool.ThreadPool`, in which two more threads pass
on every call and every result. Both need the interpreter's lock, and workers would wait for it.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any
from weakref import WeakSet

from batchsolve.core.interrupts import asking
from batchsolve.errors import WorkersError, counted
from batchsolve.workers.base import Workers

PATIENCE = 5.0  # seconds that leaving a pool, and the end of the process, wait for running calls

_Call = tuple[Callable[[], Any], Callable[[Any], None]]  # a function, and one that takes its result


class Threads(Workers):
    """Threads of this process, which start at the first call.

    One worker is the calling thread, without joblib. Leaving waits for running calls, which may be
    writing files that the caller then removes.
    """

    in_process = True

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: Any) -> None:
        if self._parallel is not None:
            super().__exit__(*error)
            self._parallel = None
            _join(self._pools)

    def run(
        self, function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]
    ) -> Generator[Any]:
        """See `Workers.run`."""
        if self.jobs == 1:
            return (function(*each) for each in arguments)
        if self._parallel is None:
            super().__enter__()
        return super().run(function, arguments)

    def _open(self) -> Any:
        from batchsolve.workers.private import PoolBackend

        self._pools: list[_ThreadPool] = []
        return PoolBackend(self._started)

    def _started(self) -> _ThreadPool:
        self._pools.append(_ThreadPool(self.jobs))
        return self._pools[-1]


class _ThreadPool:
    """The part of a `multiprocessing.pool.ThreadPool` that joblib uses.

    Its threads end with the process, whatever they do; for threads of a `ThreadPoolExecutor`,
    Python would wait without end.
    """

    def __init__(self, n_threads: int) -> None:
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._is_over = False
        _POOLS.add(self)
        try:
            for _ in range(n_threads):
                thread = threading.Thread(target=self._work, daemon=True)
                thread.start()
                self._threads.append(thread)
        except (RuntimeError, MemoryError) as error:  # "can't start new thread"
            self.terminate()
            started = counted(len(self._threads), "thread")
            raise WorkersError(f"only {started} could be started; give fewer `jobs`") from error

    def _work(self) -> None:
        with asking(self._check):
            while (call := self._calls.get()) is not None:
                function, take = call
                take(function())

    def _check(self) -> None:
        """End a call whose result is no longer wanted, where it looks for interrupts."""
        if self._is_over:
            raise WorkersError("the pool has been left")

    def apply_async(
        self,
        function: Callable[[], Any],
        arguments: tuple[()],
        callback: Callable[[Any], None],
        error_callback: Callable[[Any], None],
    ) -> None:
        """Queue a function, which catches its own errors; `callback` takes its result."""
        self._calls.put((function, callback))

    def close(self) -> None:
        """Do nothing: joblib queues no more calls."""

    def terminate(self) -> None:
        """Drop the calls that wait, and let each thread end after its running call."""
        self._is_over = True
        with suppress(Empty):
            while True:
                self._calls.get_nowait()
        for _ in self._threads:
            self._calls.put(None)

    def join(self, until: float) -> None:
        """Wait for the other threads to end, up to a time of the monotonic clock."""
        for thread in self._threads:
            if thread is not threading.current_thread():  # which may be collecting garbage
                thread.join(max(0.0, until - time.monotonic()))


_POOLS: WeakSet[_ThreadPool] = WeakSet()


@atexit.register
def _end_threads() -> None:
    """End the threads of pools, which may be running abandoned calls, or were never left.

    Python unwinds a thread that comes back from the core while the interpreter ends, which aborts
    the process. The iterator of a search that is not used up leaves its pool open.
    """
    pools = list(_POOLS)
    for pool in pools:
        pool.terminate()
    _join(pools)


def _join(pools: list[_ThreadPool]) -> None:
    """Wait for the threads of pools to end, but no longer than `PATIENCE`."""
    until = time.monotonic() + PATIENCE
    for pool in pools:
        pool.join(until)
