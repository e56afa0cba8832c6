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
    """Threads of this process, which start with a round of calls; joblib has no part in them.

    One worker is the calling thread. Leaving waits for running calls, which may be writing files
    that the caller then removes.
    """

    in_process = True

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        super().__init__(jobs, address)
        self._rounds: list[_Round] = []  # the last, and others that were given up

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: Any) -> None:
        _end(self._rounds)

    def run(
        self, function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]
    ) -> Generator[Any]:
        """See `Workers.run`."""
        if self.jobs == 1:
            return (function(*each) for each in arguments)
        for each in self._rounds:
            each.is_over = True
        self._rounds = [each for each in self._rounds if each.is_running]
        self._rounds.append(_Round(self.jobs, function, arguments))
        return self._rounds[-1].results()


class _Round:
    """Threads that draw calls and make them, until a draw finds none.

    They end with the process, whatever they do; for threads of a `ThreadPoolExecutor`, Python would
    wait without end.

    Attributes
    ----------
    is_over : bool
        True to draw no more calls, and to end running ones where they look for interrupts.
    """

    def __init__(
        self, n_threads: int, function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]
    ) -> None:
        self.is_over = False
        self._function, self._arguments = function, arguments
        self._drawing = threading.Lock()
        # True and a result; or False, at the end of a thread, and its error or None
        self._found: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        _ROUNDS.add(self)
        try:
            for k in range(n_threads):
                thread = threading.Thread(target=self._work, name=f"worker-{k}", daemon=True)
                thread.start()
                self._threads.append(thread)
        except (RuntimeError, MemoryError) as error:  # "can't start new thread"
            self.is_over = True
            started = counted(len(self._threads), "thread")
            raise WorkersError(f"only {started} could be started; give fewer `jobs`") from error

    @property
    def is_running(self) -> bool:
        """True if a thread has not ended."""
        return any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        end = None
        try:
            with asking(self._check):
                while (each := self._draw()) is not None:
                    self._found.put((True, self._function(*each)))
        except BaseException as error:  # is raised where results are taken
            end = error
        self._found.put((False, end))

    def _draw(self) -> tuple[Any, ...] | None:
        with self._drawing:
            return None if self.is_over else next(self._arguments, None)

    def _check(self) -> None:
        """End a call whose result is no longer wanted, where it looks for interrupts."""
        if self.is_over:
            raise WorkersError("the pool has been left")

    def results(self) -> Generator[Any]:
        """Yield the results of the calls; raise the error of one that was not caught."""
        n_at_work = len(self._threads)
        try:
            while n_at_work:
                is_result, value = self._found.get()
                if is_result:
                    yield value
                elif value is None:
                    n_at_work -= 1
                else:
                    raise value
        finally:
            self.is_over = True

    def join(self, until: float) -> None:
        """Wait for the other threads to end, up to a time of the monotonic clock."""
        for thread in self._threads:
            if thread is not threading.current_thread():  # which may be collecting garbage
                thread.join(max(0.0, until - time.monotonic()))


_ROUNDS: WeakSet[_Round] = WeakSet()


@atexit.register
def _end_threads() -> None:
    """End the threads of rounds, which may be running abandoned calls, or were never left.

    Python unwinds a thread that comes back from the core while the interpreter ends, which aborts
    the process. The iterator of a search that is not used up leaves its pool open.
    """
    _end(list(_ROUNDS))


def _end(rounds: list[_Round]) -> None:
    """End rounds, and wait for their threads, but no longer than `PATIENCE`."""
    until = time.monotonic() + PATIENCE
    for each in rounds:
        each.is_over = True
    for each in rounds:
        each.join(until)
