"""Processes of this machine, started by loky. Their results come back through files in memory.

loky sends results through a pipe, in pieces of 64 KB that a thread of the receiving process joins.
For a megabyte, that takes as long as a worker needs to compute it. Pickle's protocol 5 can leave
out large buffers; they are written to a file, which the receiver maps.

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
import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import util
from multiprocessing.connection import wait
from typing import Any

import joblib.executor
import numpy as np
import numpy.typing as npt
from joblib.externals.loky import reusable_executor
from joblib.parallel import LokyBackend

from batchsolve.workers.base import Numbers, Workers
from batchsolve.workers.folders import SharedFolder
from batchsolve.workers.settling import keeping_ctrl_c, settle_in
from batchsolve.workers.watchdog import Watchdog

LARGE_BYTES = 64 << 10
ALIGNED = 64  # bytes: the alignment that numpy and pyarrow prefer
GRACE_SECONDS = 5.0  # much longer than loky itself takes to notice a death
BEFORE_QUEUES = 20  # a priority at exit; queues are closed later, with priority 10

_KEPT = (  # where joblib keeps its one executor of loky, and the arguments that it was made with
    (reusable_executor, "_executor"),
    (reusable_executor, "_executor_kwargs"),
    (joblib.executor, "_executor_args"),
)
_ours: dict[str, Any] = {}  # the same values of our executor, by name


class _Backend(LokyBackend):
    """joblib's backend, with an executor of its own.

    The executor that joblib keeps is the user's. If ours replaced it, a `Parallel` that the user
    still has in use would hand its calls to our workers, or wait for ever.
    """

    def configure(self, n_jobs: int = 1, parallel: Any = None, **options: Any) -> int:
        """Start workers, or reuse those of the last call."""
        with reusable_executor._executor_lock:
            before = _ours.get("_executor")
            _exchange()
            try:
                width: int = super().configure(n_jobs, parallel, **options)
            finally:
                _exchange()
        if self._workers is not before:
            ours = weakref.ref(self._workers)
            util.Finalize(self._workers, _end_with_us, [ours], exitpriority=BEFORE_QUEUES)
        return width


def _end_with_us(ours: weakref.ref[Any]) -> None:
    """End workers; a process that `multiprocessing` has started would wait for them for ever.

    loky ends them too, but only after that wait.
    """
    executor = ours()
    if executor is not None:
        executor.terminate(kill_workers=True)


def _exchange() -> None:
    """Swap our executor and the one that joblib keeps."""
    for module, name in _KEPT:
        ours, _ours[name] = _ours.get(name), getattr(module, name)
        setattr(module, name, ours)


class Processes(Workers):
    """Processes of loky, which isolate a crash; they write large results to files in `folder`."""

    _watchdog: Watchdog | None = None

    def _open(self) -> tuple[Any, dict[str, Any]]:
        self._shared = SharedFolder()
        self.folder = self._shared.path
        self._watchdog = Watchdog(self._stuck, _end, GRACE_SECONDS)
        # An initializer, because a worker may be idle: if we were killed before its first task, it
        # would wait for minutes.
        return _Backend(initializer=settle_in, initargs=(os.getpid(),)), {}

    def _stuck(self) -> Any:
        """Return loky's executor if it waits for the dead; joblib makes another after deaths."""
        executor = getattr(getattr(self._parallel, "_backend", None), "_workers", None)
        return executor if executor is not None and _waits_for_the_dead(executor) else None

    def _close(self) -> None:
        if self._watchdog is not None:
            self._watchdog.stop()
        self._shared.remove()

    def numbers(self, n: int) -> Numbers | None:
        """See `Workers.numbers`."""
        try:
            file, path = tempfile.mkstemp(dir=self.folder)
            # Write zeros now: a process that later touched memory that the file system lacks would
            # be killed.
            with open(file, "wb") as zeros:
                zeros.write(bytes(n * np.int64().nbytes))
            _mapped(path)
        except OSError:
            return None
        return _Mapped(path)

    def run(
        self, function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]
    ) -> Generator[Any]:
        """See `Workers.run`."""
        with keeping_ctrl_c():
            return _opened(super().run(_Packing(function, self.folder), arguments))


@dataclass(frozen=True)
class _Mapped:
    """Numbers in a file; see `Workers.numbers`."""

    path: str

    def __getitem__(self, place: int) -> int:
        return int(_mapped(self.path)[place])

    def __setitem__(self, place: int, number: int) -> None:
        _mapped(self.path)[place] = number


@lru_cache(maxsize=2)
def _mapped(path: str) -> npt.NDArray[np.int64]:
    return np.asarray(np.memmap(path, np.int64, "r+"))


def _waits_for_the_dead(executor: Any) -> bool:
    """Return True if a worker died or the executor broke, but its thread goes on."""
    manager = executor._executor_manager_thread
    if manager is None or not manager.is_alive():
        return False
    if executor._flags.broken is not None:
        return True
    with suppress(OSError):  # loky has just noticed a death, and closed a sentinel
        return bool(wait([process.sentinel for process in list(executor._processes.values())], 0))
    return False


def _end(executor: Any) -> None:
    """Kill the other workers, and close the ends of pipes that keep threads waiting."""
    for process in list(executor._processes.values()):
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    with suppress(OSError, AttributeError):  # an executor that has ended has no queues
        executor._result_queue._writer.close()  # so that the reader finds the end of the pipe
        executor._call_queue._reader.close()  # so that the writer finds a pipe without reader


def _opened(parcels: Generator[_Parcel]) -> Generator[Any]:
    with closing(parcels):
        for parcel in parcels:
            yield parcel.open()


@dataclass(frozen=True)
class _Parcel:
    """A packed result.

    Attributes
    ----------
    pickled : bytes
        The result without its large buffers.
    path : str
        The file of the large buffers; empty if there are none.
    bounds : list of (int, int)
        The begin and the end of each large buffer in the file.
    """

    pickled: bytes
    path: str
    bounds: list[tuple[int, int]]

    def open(self) -> Any:
        """Unpack the result, and remove its file."""
        if not self.path:
            return pickle.loads(self.pickled)
        with open(self.path, "rb") as file:
            content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
        os.unlink(self.path)
        buffers = [content[begin:end] for begin, end in self.bounds]
        return pickle.loads(self.pickled, buffers=buffers)


@dataclass(frozen=True)
class _Packing:
    """A call of a function in a worker that packs its result."""

    function: Callable[..., Any]
    folder: str

    def __call__(self, *arguments: Any) -> _Parcel:
        result = self.function(*arguments)
        with suppress(OSError):  # memory for files is limited; fall back to the pipe
            return _pack(result, self.folder)
        return _Parcel(pickle.dumps(result), "", [])


def _pack(result: Any, folder: str) -> _Parcel:
    large: list[memoryview] = []

    def is_small(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes >= LARGE_BYTES:
            large.append(raw)
        return raw.nbytes < LARGE_BYTES

    pickled = pickle.dumps(result, protocol=5, buffer_callback=is_small)
    if not large:
        return _Parcel(pickled, "", [])
    number, path = tempfile.mkstemp(dir=folder)
    bounds, end = [], 0
    try:
        with open(number, "wb", buffering=0) as file:
            for raw in large:
                begin = -(-end // ALIGNED) * ALIGNED
                end = begin + raw.nbytes
                file.seek(begin)
                if file.write(raw) < raw.nbytes:
                    raise OSError("no memory left for files")
                bounds.append((begin, end))
    except OSError:
        os.unlink(path)
        raise
    return _Parcel(pickled, path, bounds)
