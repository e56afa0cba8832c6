"""Threads of this process, each of which draws its own calls and hands back its own results.

joblib's threads are those of `multiprocessing.pool.ThreadPool`, in which two more threads pass on
every call and every result. Both need the interpreter's lock, and workers would wait for it.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Generator, Iterator
from queue import SimpleQueue
from typing import Any
from weakref import WeakSet

from batchsolve.core.interrupts import asking
from batchsolve.errors import WorkersError, counted
from batchsolve.workers.base import Workers

PATIENCE = 5.0  # seconds that leaving a pool, and the end of the process, wait for running calls


class Threads(Workers):
    """Threads of this process, which start at the first call; joblib has no part in them.

    One worker is the calling thread. Leaving waits for running calls, which may be writing files
    that the caller then removes.
    """

    in_process = True

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        super().__init__(jobs, address)
        self._pools: list[_ThreadPool] = []  # the last is in use

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: Any) -> None:
        self._end_all()
        _join(self._pools)

    def _end_all(self) -> None:
        for pool in self._pools:
            pool.end()

    def run(
        self, function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]
    ) -> Generator[Any]:
        """See `Workers.run`."""
        if self.jobs == 1:
            return (function(*each) for each in arguments)
        if not (self._pools and self._pools[-1].is_free):
            self._end_all()
            self._pools.append(_ThreadPool(self.jobs))
        return self._pools[-1].results(function, arguments)


class _ThreadPool:
    """Threads that make the calls of one round after another.

    They end with the process, whatever they do; for threads of a `ThreadPoolExecutor`, Python would
    wait without end.
    """

    def __init__(self, n_threads: int) -> None:
        self._rounds: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._n_at_work = 0  # threads that have not yet ended their part of the round
        self._is_over = False
        _POOLS.add(self)
        try:
            for _ in range(n_threads):
                thread = threading.Thread(target=self._work, daemon=True)
                thread.start()
                self._threads.append(thread)
        except (RuntimeError, MemoryError) as error:  # "can't start new thread"
            self.end()
            started = counted(len(self._threads), "thread")
            raise WorkersError(f"only {started} could be started; give fewer `jobs`") from error

    @property
    def is_free(self) -> bool:
        """True if the pool can begin a round; False after a round that was given up."""
        return not (self._is_over or self._n_at_work)

    def _work(self) -> None:
        with asking(self._check):
            while (take_part := self._rounds.get()) is not None:
                take_part()

    def _check(self) -> None:
        """End a call whose result is no longer wanted, where it looks for interrupts."""
        if self._is_over:
            raise WorkersError("the pool has been left")

    def results(
        self, function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]
    ) -> Generator[Any]:
        """Begin a round of calls; return an iterator over their results, which raises errors."""
        found: SimpleQueue[tuple[bool, Any]] = SimpleQueue()  # True, result; False, error or None
        drawing = threading.Lock()

        def draw() -> tuple[Any, ...] | None:
            with drawing:
                return None if self._is_over else next(arguments, None)

        def take_part() -> None:
            end = None
            try:
                while (each := draw()) is not None:
                    found.put((True, function(*each)))
            except BaseException as error:  # for the thread that waits for results
                end = error
            found.put((False, end))

        self._n_at_work = len(self._threads)
        for _ in self._threads:
            self._rounds.put(take_part)
        return self._taken(found)

    def _taken(self, found: SimpleQueue[tuple[bool, Any]]) -> Generator[Any]:
        try:
            while self._n_at_work:
                is_result, value = found.get()
                if is_result:
                    yield value
                elif value is None:
                    self._n_at_work -= 1
                else:
                    raise value
        finally:
            if self._n_at_work:
                self.end()

    def end(self) -> None:
        """Draw no more calls, and let each thread end after its running call."""
        self._is_over = True
        for _ in self._threads:
            self._rounds.put(None)

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
        pool.end()
    _join(pools)


def _join(pools: list[_ThreadPool]) -> None:
    """Wait for the threads of pools to end, but no longer than `PATIENCE`."""
    until = time.monotonic() + PATIENCE
    for pool in pools:
        pool.join(until)
