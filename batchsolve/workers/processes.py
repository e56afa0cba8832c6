"""Processes of this machine, started by loky.

loky waits for results and for the deaths of workers at once. But a worker that dies while it writes
a result leaves half of it in the pipe, and may leave the lock for writing held. Then the thread of
loky that reads waits for the other half, other workers wait for the lock, and no death is noticed.
Likewise, a thread that hands out tasks waits for ever if all workers die while it writes. A
watchdog notices both.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import lru_cache, partial
from multiprocessing import current_process
from typing import Any

import cloudpickle

from batchsolve.workers.base import Shared, Watchdog, Workers, keep_memory, keeping_ctrl_c, n_cores
from batchsolve.workers.private import (
    Executor,
    end_wait,
    is_broken,
    waits_for_the_dead,
)

GRACE_SECONDS = 5.0  # much longer than loky itself takes to notice a death
ORPHAN_SECONDS = 1.0  # between two looks of a worker process whether its parent still lives
IDLE_SECONDS = 300  # after which workers without a task end
ALIGNMENT = 64  # bytes

# the executor that the last pool has left, by the process and the number of workers; it ends when
# it is forgotten
_idle: dict[tuple[int, int], Executor] = {}


class Processes(Workers):
    """Processes of loky, which isolate a crash; the next pool with as many reuses them."""

    share_memory = True

    def _open(self) -> None:
        self._files: list[str] = []
        self._executor = _idle.pop((os.getpid(), self.jobs), None)
        self._watchdog = Watchdog(self._stuck, end_wait, GRACE_SECONDS)

    @property
    def _are_none(self) -> bool:
        """True if this process makes the calls; a daemonic one may not have children."""
        return self.jobs == 1 or current_process().daemon

    def _stuck(self) -> Executor | None:
        """Return the executor if it waits for the dead."""
        executor = self._executor
        return executor if executor is not None and waits_for_the_dead(executor) else None

    def _close(self) -> None:
        self._watchdog.stop()
        _idle.clear()
        if self._executor is not None:
            _idle[os.getpid(), self.jobs] = self._executor
        for path in self._files:
            os.unlink(path)

    def _send(self, work: Any) -> Shared:
        """Write work to a file, which workers map into their memory."""
        if self._are_none:
            return super()._send(work)
        number, path = tempfile.mkstemp(prefix="batchsolve-")
        self._files.append(path)
        buffers: list[pickle.PickleBuffer] = []
        # also classes of the user's script, which workers do not import
        pickled = cloudpickle.dumps(work, protocol=5, buffer_callback=buffers.append)
        parts = [memoryview(pickled), *(buffer.raw() for buffer in buffers)]
        places = []
        with open(number, "wb") as file:
            for part in parts:
                file.seek(-file.tell() % ALIGNMENT, os.SEEK_CUR)
                places.append((file.tell(), file.tell() + len(part)))
                file.write(part)
        return partial(_mapped, path, tuple(places))

    def run(
        self, function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]
    ) -> Generator[Any]:
        """See `Workers.run`."""
        if self._are_none:
            return (function(*each) for each in arguments)
        with keeping_ctrl_c():
            return super().run(function, arguments)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        if self._executor is None or is_broken(self._executor):
            threads = os.environ.get("OMP_NUM_THREADS", str(max(1, n_cores() // self.jobs)))
            # An initializer, because a worker may be idle: if we were killed before its first task,
            # it would wait for minutes.
            self._executor = Executor(
                self.jobs,
                timeout=IDLE_SECONDS,
                initializer=settle_in,
                initargs=(os.getpid(),),
                env={"OMP_NUM_THREADS": threads},
            )
        future: Future[Any] = self._executor.submit(function, *arguments)
        return future

    def _cancel(self, calls: list[Future[Any]]) -> None:
        """End the workers."""
        if self._executor is not None:
            self._executor.kill()
            self._executor = None


_files_of_parent: list[str] = []  # in a worker


@lru_cache(maxsize=1)
def _mapped(path: str, places: tuple[tuple[int, int], ...]) -> Any:
    """Return the work of a file; its arrays are those of all workers until they are written to."""
    _files_of_parent.append(path)
    with open(path, "rb") as file:
        memory = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    pickled, *buffers = (memory[begin:end] for begin, end in places)
    return pickle.loads(pickled, buffers=buffers)


def settle_in(parent: int) -> None:
    """Prepare a process that we have started as a worker, before its first task.

    It ignores Ctrl-C, which its parent handles, and ends when its parent has ended. A process that
    the user has started never calls this, though tasks may run there.

    Parameters
    ----------
    parent : int
        The id of the process that has started it.
    """
    keep_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def follow() -> None:
        while os.getppid() == parent:
            time.sleep(ORPHAN_SECONDS)
        for path in _files_of_parent:
            with suppress(OSError):
                os.unlink(path)
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
