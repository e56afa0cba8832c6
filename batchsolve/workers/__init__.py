"""Workers, and the pool that runs tasks on them and survives tasks that raise or kill their worker.

`Work` is a function that does a task; the pool does not look into it. Tasks are drawn as workers
become free. joblib draws them under a lock that it also needs to hand back results, so an iterator
of tasks that waits for results would deadlock. If no task is ready, it stops instead, and the round
ends with the tasks that are out.

Threads do without joblib, which only this package imports.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import chain, count
from queue import SimpleQueue
from typing import Any
from weakref import WeakSet

from batchsolve.core.interrupts import asking
from batchsolve.errors import BatchsolveError, InputError, WorkersError, check_installed, counted
from batchsolve.settings.arguments import text_of, whole_number, word_of
from batchsolve.workers import base
from batchsolve.workers.base import LOG as LOG, RESULT_SECONDS as RESULT_SECONDS, Arguments, Workers

# name -> module and class, imported on demand, because some need packages that may be missing; and
# the seconds in which the busiest process hands out a task and collects its result, as measured
_BACKENDS = {
    "threading": ("batchsolve.workers", "Threads", RESULT_SECONDS),
    "loky": ("batchsolve.workers", "Processes", RESULT_SECONDS),
    "dask": ("batchsolve.workers.dask", "DaskWorkers", 0.003),
    "ray": ("batchsolve.workers.ray", "RayWorkers", 0.001),
}
_NEEDS = {"dask": "distributed", "ray": "ray"}  # backend (also the name of its extra) -> module

BACKENDS = tuple(_BACKENDS)
MOST_JOBS = 10_000  # which are more than any one machine runs at once


def get_workers(backend: str, jobs: int | None = None, address: str | None = None) -> Workers:
    """Return workers of a backend, not yet started.

    Parameters
    ----------
    backend : {"threading", "loky", "dask", "ray"}
    jobs : int, optional
        Number of workers; by default the number of cores, or all workers of a cluster.
    address : str, optional
        The scheduler of a cluster; by default a cluster on this machine is started.

    Raises
    ------
    InputError
        If the backend is unknown, lacks a module, or does not take an address or a number of
        workers.

    Examples
    --------
    >>> get_workers("threading", jobs=2).jobs
    2
    """
    word_of("backend", text_of("a backend", backend), BACKENDS)
    if jobs is not None:
        jobs = whole_number("the number of jobs", jobs, 1, MOST_JOBS)
    if address is not None:
        text_of("the address of a cluster", address)
    if backend in _NEEDS:
        check_installed(f"the backend {backend!r}", _NEEDS[backend], extra=backend)
    module, name, _ = _BACKENDS[backend]
    workers: type[Workers] = getattr(import_module(module), name)
    if address is not None and not workers.joins_clusters:
        raise InputError(f"the backend {backend!r} runs on this machine only; it takes no address")
    if address is not None and jobs is not None and workers.width_is_the_clusters:
        raise InputError(
            f"the backend {backend!r} uses every worker that the cluster has; leave out jobs={jobs}"
        )
    return workers(jobs, address)


def result_seconds(backend: str) -> float:
    """Return the seconds in which a backend hands out a task and collects its result.

    Examples
    --------
    >>> result_seconds("threading"), result_seconds("dask")
    (0.0003, 0.003)
    """
    return _BACKENDS[backend][2]


Numbered = tuple[int, Any]  # the caller's number of a task, and the task
_Out = dict[int, Numbered]  # tasks that are with workers: ticket -> number and task

KILLED = "the search killed its worker process twice"
# errors that are not of one task, because all others would fail, too
_NOT_OF_A_TASK = (BatchsolveError, MemoryError, base.WrongVersionError)


Work = Callable[[Any], Any]
"""The function that workers call with each task. It is sent to them: it can be pickled."""


@dataclass(eq=False)
class Done:
    """A finished task.

    Attributes
    ----------
    number : int
        The caller's number of the task.
    task, result : object
    begin : float
        Seconds since the epoch, by the clock of the worker's machine.
    seconds : float
        Duration of the task.
    worker : str
        The id of the process and the name of the thread; empty if the calling process did the task
        itself.
    """

    number: int
    task: Any
    result: Any
    begin: float
    seconds: float
    worker: str


@dataclass(eq=False)
class Lost:
    """A task that failed.

    Attributes
    ----------
    number : int
        The caller's number of the task.
    task : object
    reason : str
    died : bool
        True if workers died twice while the task was out; another task that was out may be to
        blame. False if the task raised an error.
    """

    number: int
    task: Any
    reason: str
    died: bool = False


class Pool:
    """Workers, and the rounds of tasks that they run.

    Parameters
    ----------
    jobs : int, optional
        Number of workers; by default the number of cores, or all workers of a cluster.
    backend : {"threading", "loky", "dask", "ray"}
        Threads, processes that isolate a crash, or the workers of a cluster.
    address : str, optional
        The scheduler of the cluster; by default a cluster on this machine is started.

    Attributes
    ----------
    backend : str
    workers : Workers
        The workers themselves, which say what they can.

    Raises
    ------
    InputError
        If `batchsolve.workers.get_workers` raises it; on entering, if no cluster can be reached.

    Notes
    -----
    Use it as a context manager. `start` hands out tasks at once if the backend can, so that the
    caller can do other work before it asks for the results.
    """

    def __init__(
        self, jobs: int | None = None, backend: str = "threading", address: str | None = None
    ) -> None:
        self.backend = backend
        self.workers = get_workers(backend, jobs, address)
        self._running: Generator[Done | Lost] = (none for none in list[Done]())
        self._tickets = count()

    @property
    def jobs(self) -> int:
        """The number of workers; that of a cluster is known once the pool is entered."""
        return self.workers.jobs

    def __enter__(self) -> Pool:
        self.workers.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self._running.close()  # drops its tasks
        finally:
            self.workers.__exit__(*error)

    def start(self, work: Work, tasks: Iterable[Numbered]) -> Generator[Done | Lost]:
        """Hand out a round of numbered tasks; return an iterator over their results, in any order.

        Tasks are drawn as workers become free, in any thread but one at a time. The round ends when
        a draw finds no task; the iterator may be asked again later.

        Every task that was drawn comes back in a `Done` or a `Lost`.
        """
        out: _Out = {}
        fresh = iter(tasks)
        return self._collect(work, fresh, out, self._dispatch(work, fresh, out))

    def _dispatch(self, work: Work, tasks: Iterable[Numbered], out: _Out) -> Iterator[Done | Lost]:
        do = partial(_attempt, self.workers.share(work))
        try:
            self._running = self.workers.run(do, self._ticketed(tasks, out))
        except self.workers.deaths as death:  # of workers that were idle until then
            self._running = _raising(death)
        return self._running

    def _ticketed(self, tasks: Iterable[Numbered], out: _Out) -> Iterator[tuple[int, Any]]:
        """Record numbered tasks as out; pass them on, each with a ticket used only once."""

        def give(numbered: Numbered) -> tuple[int, Any]:
            ticket = next(self._tickets)
            out[ticket] = numbered
            return ticket, numbered[1]

        return map(give, tasks)

    def _collect(
        self, work: Work, fresh: Iterator[Numbered], out: _Out, running: Iterator[Done | Lost]
    ) -> Generator[Done | Lost]:
        """Yield results; send tasks that were out when a worker died again, but only once."""
        seen_dying: set[int] = set()
        while True:
            has_died = False
            try:
                for result in running:
                    if result.number not in out:
                        continue  # joblib may hand over a result of an abandoned round
                    result.number, result.task = out.pop(result.number)
                    yield result
            except self.workers.deaths:
                has_died = True
            except GeneratorExit:
                self._running.close()  # drops its tasks
                raise
            if not out and not has_died:
                break
            # send the rest again; without a death, joblib took a result of an abandoned round for
            # one of theirs
            again = []
            for number, task in out.values():
                if number in seen_dying and has_died:
                    yield Lost(number, task, KILLED, died=True)
                else:
                    again.append((number, task))
            if has_died:
                seen_dying.update(number for number, _ in again)
            out.clear()
            running = self._dispatch(work, chain(again, fresh), out)


def _raising(error: BaseException) -> Generator[Done | Lost]:
    raise error
    yield  # makes this function a generator


def attempt(work: Work, number: int, task: Any) -> Done | Lost:
    """Do a task in this thread; return an error as a record."""
    begin, start = time.time(), time.perf_counter()
    try:
        result = work(task)
    except _NOT_OF_A_TASK:
        raise
    except Exception as failure:
        why = traceback.format_exception_only(failure)[-1].strip()
        return Lost(number, task, f"the search failed: {why}")
    return Done(number, task, result, begin, time.perf_counter() - start, "")


def _attempt(shared: base.Shared, ticket: int, task: Any) -> Done | Lost:
    """Do a task in a worker; an exception would abort the round.

    The record has the ticket as its number, and no task: the caller has both.
    """
    done = attempt(lambda task: shared()(task), ticket, task)
    done.task = None
    if isinstance(done, Done):
        done.worker = f"{os.getpid()}/{threading.current_thread().name}"
    return done


# ---- threads --------------------------------------------------------------------------------

PATIENCE = 5.0  # seconds that leaving a pool, and the end of the process, wait for running calls


class Threads(Workers):
    """Threads of this process, each of which draws its own calls and hands back its own results.

    They start with a round of calls. joblib's threads are those of
    `multiprocessing.pool.ThreadPool`, in which two more threads pass on every call and every
    result. Both need the interpreter's lock, and workers would wait for it.

    One worker is the calling thread. Leaving waits for running calls, which may be writing files
    that the caller then removes.
    """

    in_process = True
    _rounds: Sequence[_Round] = ()  # the last, and others that were given up

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: Any) -> None:
        _end(self._rounds)

    def run(self, function: Callable[..., Any], arguments: Arguments) -> Generator[Any]:
        """See `Workers.run`."""
        if self.jobs == 1:
            return (function(*values) for values in arguments)
        for other in self._rounds:
            other.is_over = True
        last = _Round(self.jobs, function, arguments)
        self._rounds = [*(other for other in self._rounds if other.is_running), last]
        return last.results()


class _Round:
    """Threads that draw calls and make them, until a draw finds none.

    They end with the process, whatever they do; for threads of a `ThreadPoolExecutor`, Python would
    wait without end.

    Attributes
    ----------
    is_over : bool
        True to draw no more calls, and to end running ones where they look for interrupts.
    """

    def __init__(self, n_threads: int, function: Callable[..., Any], arguments: Arguments) -> None:
        self.is_over = False
        self._function, self._arguments = function, arguments
        self._drawing = threading.Lock()
        # True and a result; or False, at the end of a thread, and its error or None
        self._results: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
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
                while (values := self._draw()) is not None:
                    self._results.put((True, self._function(*values)))
        except BaseException as error:  # is raised where results are taken
            end = error
        self._results.put((False, end))

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
                is_result, value = self._results.get()
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


def _end(rounds: Sequence[_Round]) -> None:
    """End rounds, and wait for their threads, but no longer than `PATIENCE`."""
    until = time.monotonic() + PATIENCE
    for round_ in rounds:
        round_.is_over = True
    for round_ in rounds:
        round_.join(until)


# ---- processes ------------------------------------------------------------------------------

GRACE_SECONDS = 5.0  # much longer than loky itself takes to notice a death
ORPHAN_SECONDS = 1.0  # between two looks of a worker process whether its parent still lives


class Processes(Workers):
    """Processes of loky, which isolate a crash.

    loky waits for results and for the deaths of workers at once. But a worker that dies while it
    writes a result leaves half of it in the pipe, and may leave the lock for writing held. Then the
    thread of loky that reads waits for the other half, other workers wait for the lock, and no
    death is noticed. Likewise, a thread that hands out tasks waits for ever if all workers die
    while it writes. A watchdog notices both.
    """

    share_memory = True

    def __enter__(self) -> Workers:
        if sys.stdout is None or sys.stderr is None:  # which loky flushes
            raise WorkersError(
                "the processes of loky need standard output and standard error, and one is closed; "
                "open os.devnull in its place, or take threads (the backend threading)"
            )
        try:
            return super().__enter__()
        except OSError as error:
            raise WorkersError(
                f"the processes of loky cannot start ({error.strerror}); they need open files and "
                f"room in /dev/shm: allow more, or take threads (the backend threading)"
            ) from error

    def _open(self, opened: ExitStack) -> Any:
        from batchsolve.workers.private import OwnLokyBackend, end_wait, waits_for_the_dead

        # An initializer, because a worker may be idle: if we were killed before its first task, it
        # would wait for minutes.
        backend = OwnLokyBackend(initializer=settle_in, initargs=(os.getpid(),))

        def stuck() -> Any:
            """Return loky's executor if it waits for the dead; after deaths there is another."""
            executor = backend.executor
            return executor if executor is not None and waits_for_the_dead(executor) else None

        opened.enter_context(base.watched(stuck, end_wait, GRACE_SECONDS))
        return backend

    def run(self, function: Callable[..., Any], arguments: Arguments) -> Generator[Any]:
        """See `Workers.run`."""
        with base.keeping_ctrl_c():
            return super().run(function, arguments)


def settle_in(parent: int) -> None:
    """Prepare a process that we have started as a worker, before its first task.

    It ignores Ctrl-C, which its parent handles, and ends when its parent has ended. A process that
    the user has started never calls this, though tasks may run there.

    Parameters
    ----------
    parent : int
        The id of the process that has started it.
    """
    base.keep_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def follow() -> None:
        while os.getppid() == parent:
            time.sleep(ORPHAN_SECONDS)
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
