"""Workers that joblib hands calls to: what every backend has.

A backend says what it can do in its `Capabilities`; the pool asks for those and never for a name.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import starmap
from types import TracebackType
from typing import Any, ClassVar, Protocol

from joblib import Parallel, cpu_count, delayed

from batchsolve.errors import WorkersError

LOG = logging.getLogger("batchsolve")
LOOK_SECONDS = 0.01  # how often to look whether a call has failed, which nothing says
TASKS_OUT = 2  # tasks that a worker has or waits for, so that it need not wait for the next draw


@dataclass(frozen=True)
class Capabilities:
    """What a backend can do.

    Attributes
    ----------
    streams : bool
        Whether results come back while other calls still run. Otherwise all calls that were drawn
        come back before the first result does.
    joins_clusters : bool
        Whether it takes the address of a cluster.
    width_is_the_clusters : bool
        Whether it uses all the workers of a cluster that it joins, however many.
    sees_files : bool
        Whether workers can open the files that this process can, by absolute paths.
    """

    streams: bool = True
    joins_clusters: bool = False
    width_is_the_clusters: bool = False
    sees_files: bool = True


class Shared(Protocol):
    """What workers do, wherever a worker finds it; it can be pickled and sent with every task."""

    def get(self) -> Any:
        """Return the work."""
        ...


@dataclass(frozen=True, eq=False)
class Here:
    """What workers do, at hand, or coming along with each task."""

    work: Any

    def get(self) -> Any:
        """Return the work."""
        return self.work


def say_that_ports_are_open(where: str, how: str) -> None:
    """Warn that whoever reaches the ports of a cluster can run code there, as they can."""
    LOG.warning(
        "%s: whoever reaches its ports can run what they like, in your name; keep it within a "
        "network that you trust, or %s (see docs/clusters.md)",
        where,
        how,
    )


class Numbers(Protocol):
    """Whole numbers of 64 bits, at first 0, that all workers see; each is read or set at once."""

    def __getitem__(self, place: int, /) -> int: ...

    def __setitem__(self, place: int, number: int, /) -> None: ...


class Workers:
    """Workers of one backend of joblib.

    Parameters
    ----------
    jobs : int, optional
        How many; the number of cores by default.
    address : str, optional
        The cluster to join, for backends that can.

    Attributes
    ----------
    capabilities : Capabilities
    jobs : int
        How many there are; of a cluster this is known while they are in use.
    folder : str
        Where workers that are processes of this machine find files while they are in use; empty if
        they are not.
    deaths : tuple of exception types
        What `run` raises when workers have died; those that are left, or new ones, take more calls.

    Notes
    -----
    Use them as a context manager.
    """

    capabilities: ClassVar[Capabilities] = Capabilities()
    folder = ""

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        self.jobs: int = jobs or cpu_count()
        self.deaths: tuple[type[BaseException], ...] = (BrokenExecutor,)
        self._address = address
        self._parallel: Any = None

    def __enter__(self) -> Workers:
        backend, options = self._open()
        self._parallel = _Parallel(
            n_jobs=self.jobs,
            backend=backend,
            return_as="generator_unordered" if self.capabilities.streams else "list",
            pre_dispatch=f"{TASKS_OUT} * n_jobs",
            batch_size=1,
            **options,
        )
        self._parallel.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._parallel.__exit__(kind, error, trace)
        finally:
            self._close()

    def _open(self) -> tuple[Any, dict[str, Any]]:
        """Start workers, or find them; return a backend of joblib and options for it."""
        raise NotImplementedError

    def _close(self) -> None:
        """Stop what was started."""

    def share(self, work: Any) -> Shared:
        """Bring what workers do to them, once; return how they find it."""
        return Here(work)

    def numbers(self, n: int) -> Numbers | None:
        """Return numbers that workers they are sent to share with us; None if they cannot."""
        return None

    def run(
        self, function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]]
    ) -> Generator[Any]:
        """Call a function with each of the arguments; yield what it returns, in any order.

        The first calls are handed out at once, where the backend can. More arguments are drawn as
        workers become free, in any thread but one at a time.

        Raises
        ------
        One of `deaths`
            If a worker died, and the backend could not make up for it.
        """
        with self._parallel._lock:
            # Results of a round that was given up: those that have come in since wait among the
            # jobs, and those that come in before the next round has an id would. joblib would
            # stumble over them.
            self._parallel._call_id = None
            self._parallel._jobs.clear()
        # unlike a generator, it can be asked again after it had nothing
        calls = starmap(delayed(function), arguments)
        if self.capabilities.streams:
            return self._as_they_come(self._parallel(calls))
        return self._run_whole(calls)

    def _as_they_come(self, running: Generator[Any]) -> Generator[Any]:
        with closing(running):
            self._parallel.await_result()
            for result in running:
                yield result
                self._parallel.await_result()

    def _run_whole(self, calls: Iterator[Any]) -> Generator[Any]:
        yield from self._parallel(calls)


class _Parallel(Parallel):
    """Knows at once when a call has ended, where joblib looks every 10 ms.

    It says nothing of calls that were given up, as after Ctrl-C, where joblib warns.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._ended = threading.Lock()  # free if a call has ended since it was last taken

    def print_progress(self) -> None:
        """Note that a call has ended; joblib asks for it then, in one thread at a time."""
        if self._ended.locked():
            self._ended.release()

    def _warn_exit_early(self) -> None:
        pass

    def await_result(self) -> None:
        """Wait until there is a result, or none is to come."""
        while self._is_awaited():
            if self.n_dispatched_tasks - self.n_completed_tasks > self.n_jobs:
                time.sleep(LOOK_SECONDS)  # workers have more to do, and do it faster undisturbed
            else:
                self._ended.acquire(timeout=LOOK_SECONDS)

    def _is_awaited(self) -> bool:
        with self._lock:
            return not (self._jobs or self._aborting) and (
                self.n_completed_tasks < self.n_dispatched_tasks
            )


def nobody_left(where: str, seconds: float) -> WorkersError:
    """Return the error of a cluster whose workers are lost, and which none has joined since."""
    return WorkersError(f"{where}: no worker is left, and none has joined in {seconds} s")


def cannot_load(error: Exception) -> str:
    """Say what to do about workers of a cluster that cannot load what is sent to them."""
    reason = str(error).strip().splitlines()[-1]
    return f"a worker cannot load batchsolve ({reason}); install this version on every worker"
