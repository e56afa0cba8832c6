"""Rounds of calls, which workers outside this process make."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from itertools import islice
from queue import SimpleQueue
from typing import Any


class Round:
    """Calls that are handed out as workers become free, until a draw finds none.

    A thread hands out the first calls at once, and then one for each that has ended, because the
    caller may be busy with a result.

    Parameters
    ----------
    submit : callable
        Hands out a call of a function with arguments; returns a future of `concurrent.futures`.
    cancel : callable
        Takes the futures of calls whose results are no longer wanted.
    most_out : int
        Number of calls that may be out at once.
    function : callable
    arguments : iterator of tuples
        The arguments of each call; it may be asked again after it had none.
    """

    def __init__(
        self,
        submit: Callable[..., Future[Any]],
        cancel: Callable[[list[Future[Any]]], None],
        most_out: int,
        function: Callable[..., Any],
        arguments: Iterator[tuple[Any, ...]],
    ) -> None:
        self._submit, self._cancel = submit, cancel
        self._function, self._arguments = function, arguments
        self._out: set[Future[Any]] = set()
        # both end with None: calls as they end, and those whose results are to be taken
        self._ended: SimpleQueue[Future[Any] | None] = SimpleQueue()
        self._found: SimpleQueue[Future[Any] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._go_on, args=[most_out], daemon=True)
        self._thread.start()

    def _hand_out(self, n: int) -> bool:
        """Draw up to `n` calls and hand them out; return True if there was one."""
        drawn = False
        for each in islice(self._arguments, n):
            future = self._submit(self._function, *each)
            self._out.add(future)
            future.add_done_callback(self._ended.put)
            drawn = True
        return drawn

    def _go_on(self, most_out: int) -> None:
        has_more = True
        try:
            self._hand_out(most_out)
            while self._out and (future := self._ended.get()) is not None:
                self._out.discard(future)
                self._found.put(future)
                has_more = has_more and self._hand_out(1)
        except BaseException as error:  # is raised where results are taken
            self.fail(error)
        self._found.put(None)

    def results(self) -> Generator[Any]:
        """Yield the results of the calls; raise the error of one that failed."""
        try:
            while (future := self._found.get()) is not None:
                yield future.result()
        finally:
            self.close()

    def fail(self, error: BaseException) -> None:
        """Raise an error where results are taken, after those that have arrived."""
        failed: Future[Any] = Future()
        failed.set_exception(error)
        self._found.put(failed)

    def close(self) -> None:
        """Hand out no more, and cancel the calls that are out."""
        self._ended.put(None)
        if self._thread is not threading.current_thread():  # which may be collecting garbage
            self._thread.join()
        out, self._out = list(self._out), set()
        if out:
            self._cancel(out)
