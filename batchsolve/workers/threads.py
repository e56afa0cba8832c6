"""Threads of this process, each of which takes its own calls and hands back its own results.

joblib's own threads are those of `multiprocessing.pool.ThreadPool`, in which two more threads pass
on every call and every result. Both need the interpreter's lock, and workers would wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from batchsolve.errors import WorkersError, counted
from batchsolve.interrupts import asking
from batchsolve.workers.base import Workers

_Call = tuple[Callable[[], Any], Callable[[Any], None]]  # a function, and one that takes its result


class Threads(Workers):
    """Threads of this process, which start at the first call.

    One worker is the calling thread, without joblib.
    """

    in_process = True

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: Any) -> None:
        if self._parallel is not None:
            super().__exit__(*error)
            self._parallel = None

    def run(
        self, function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]
    ) -> Generator[Any]:
        """See `Workers.run`."""
        if self.jobs == 1:
            return (function(*each) for each in arguments)
        if self._parallel is None:
            super().__enter__()
        return super().run(function, arguments)

    def _open(self) -> tuple[Any, dict[str, Any]]:
        from batchsolve.workers.private import PoolBackend

        return PoolBackend(lambda: _ThreadPool(self.jobs)), {}


class _ThreadPool:
    """The part of a `multiprocessing.pool.ThreadPool` that joblib uses.

    Its threads end with the process, whatever they do; for threads of a `ThreadPoolExecutor`,
    Python would wait.
    """

    def __init__(self, n_threads: int) -> None:
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._n_threads, self._is_over = 0, False
        try:
            for _ in range(n_threads):
                threading.Thread(target=self._work, daemon=True).start()
                self._n_threads += 1
        except (RuntimeError, MemoryError) as error:  # "can't start new thread"
            self.terminate()
            started = counted(self._n_threads, "thread")
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
        for _ in range(self._n_threads):
            self._calls.put(None)
