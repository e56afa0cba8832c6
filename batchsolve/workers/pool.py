"""The worker pool: runs tasks on joblib, and survives tasks that raise or kill their worker.

Tasks are drawn as workers become free. joblib draws them under a lock that it also needs to hand
back results, so an input that waited for results would deadlock: where nothing is ready, a draw
says so, and the round ends with the tasks that are out.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, count, pairwise
from types import TracebackType

import numpy as np

from batchsolve.engines import Engine, Outcome, Task
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.workers import Here, Shared, get_workers

_Out = dict[int, tuple[int, Task]]  # tasks that are with workers: ticket -> number and task

ORPHAN_SECONDS = 1.0  # how often a worker process looks whether its parent still lives


@dataclass(frozen=True)
class Timing:
    """When and where a task was searched.

    Attributes
    ----------
    begin : float
        Seconds since the epoch, by the clock of the worker's machine.
    seconds : float
        How long it took.
    worker : str
        A process and a thread of it; empty for what the calling process did itself.
    """

    begin: float
    seconds: float
    worker: str


@dataclass(frozen=True, eq=False)
class Done:
    """A task, or a part of one, that was searched; `number` counts the tasks of its round."""

    number: int
    task: Task
    outcome: Outcome
    timing: Timing


@dataclass(frozen=True, eq=False)
class Lost:
    """The part of a task that has one root, which raises or kills every worker that tries it."""

    number: int
    task: Task
    reason: str


class Pool:
    """Workers, and the rounds of tasks that they search.

    Parameters
    ----------
    jobs : int, optional
        Number of workers; the number of cores by default, or all that a cluster has.
    backend : {"threading", "loky", "dask", "ray"}
        Threads, processes that isolate a crash, or the workers of a cluster.
    address : str, optional
        The scheduler of the cluster; by default a cluster on this machine is started.

    Raises
    ------
    InputError
        If `batchsolve.workers.get_workers` does; on entering, if the cluster cannot be reached.

    Notes
    -----
    Use it as a context manager. `start` hands out tasks at once, where the backend can, so that the
    caller can do other work before it asks for the results.
    """

    def __init__(
        self, jobs: int | None = None, backend: str = "threading", address: str | None = None
    ) -> None:
        self.backend = backend
        self._workers = get_workers(backend, jobs, address)
        self._running: Generator[_Attempt] = (a for a in list[_Attempt]())
        self._tickets = count()

    @property
    def jobs(self) -> int:
        """The number of workers; of a cluster it is known once the pool is entered."""
        return self._workers.jobs

    def __enter__(self) -> Pool:
        self._workers.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._abandon()
        finally:
            self._workers.__exit__(kind, error, trace)

    def _abandon(self) -> None:
        """Drop the tasks of a round that nobody waits for; joblib would warn of each."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            self._running.close()

    def start(
        self, engine: Engine, problem: ExactCover, tasks: Iterable[Task]
    ) -> Iterator[Done | Lost]:
        """Hand out a round of tasks; return an iterator over their results, in any order.

        Tasks are drawn as workers become free, in any thread but one at a time. An iterator may
        say that it has nothing and be asked again; the round ends when a draw finds nothing.

        Every root that was drawn comes back: in a `Done`, perhaps of a part of its task, or in a
        `Lost`. The tasks are numbered from 0 as they are drawn.
        """
        out: _Out = {}
        fresh = enumerate(tasks)
        running = self._dispatch(engine, problem, fresh, out)
        return self._collect(engine, problem, fresh, out, running)

    def start_here(
        self, engine: Engine, problem: ExactCover, tasks: Iterable[Task]
    ) -> Iterator[Done | Lost]:
        """Do as `start` does, but search in this process, for what is not worth a worker."""
        out: _Out = {}
        fresh = enumerate(tasks)
        given = self._ticketed(fresh, out)
        running = (_attempt(engine, Here(problem), *ticketed) for ticketed in given)
        for result in self._collect(engine, problem, fresh, out, running):
            if isinstance(result, Done):
                result = replace(result, timing=replace(result.timing, worker=""))
            yield result

    def _dispatch(
        self,
        engine: Engine,
        problem: ExactCover,
        tasks: Iterable[tuple[int, Task]],
        out: _Out,
    ) -> Iterator[_Attempt]:
        search = partial(_attempt, engine, self._workers.share(problem))
        self._running = self._workers.run(search, self._ticketed(tasks, out))
        return self._running

    def _ticketed(self, tasks: Iterable[tuple[int, Task]], out: _Out) -> Iterator[tuple[int, Task]]:
        """Note that numbered tasks are out; pass them on with tickets, never given twice."""

        def give(numbered: tuple[int, Task]) -> tuple[int, Task]:
            ticket = next(self._tickets)
            out[ticket] = numbered
            return ticket, numbered[1]

        return map(give, tasks)

    def _collect(
        self,
        engine: Engine,
        problem: ExactCover,
        fresh: Iterator[tuple[int, Task]],
        out: _Out,
        running: Iterator[_Attempt],
    ) -> Iterator[Done | Lost]:
        """Yield results; send the tasks of a dead worker again, and single out what kills."""
        suspects: list[tuple[int, Task, str]] = []
        seen_dying: set[int] = set()
        while True:
            try:
                for attempt in running:
                    if attempt.ticket not in out:
                        continue  # joblib may hand over what a round found that was given up
                    number, task = out.pop(attempt.ticket)
                    if attempt.outcome is None:
                        suspects.append((number, task, attempt.error))
                    else:
                        yield Done(number, task, attempt.outcome, attempt.timing)
                break
            except self._workers.deaths:
                again = [(n, task) for n, task in out.values() if n not in seen_dying]
                suspects += [(n, task, "") for n, task in out.values() if n in seen_dying]
                seen_dying.update(n for n, _ in out.values())
                out.clear()
                running = self._dispatch(engine, problem, chain(again, fresh), out)
            except GeneratorExit:
                self._abandon()
                raise
        while suspects:
            number, task, error = suspects.pop()
            parts = [task] if not error else _halves(task)
            if not parts:
                yield Lost(number, task, error)
            for part in parts:
                attempt = self._alone(engine, problem, part)
                if attempt.outcome is None:
                    suspects.append((number, part, attempt.error))
                else:
                    yield Done(number, part, attempt.outcome, attempt.timing)

    def _alone(self, engine: Engine, problem: ExactCover, task: Task) -> _Attempt:
        out: _Out = {}
        try:
            running = self._dispatch(engine, problem, [(0, task)], out)
            (attempt,) = (attempt for attempt in running if attempt.ticket in out)
            return attempt
        except self._workers.deaths:
            why = "the search killed its worker process twice"
            return _Attempt(0, None, Timing(0.0, 0.0, ""), why)


@dataclass(frozen=True, eq=False)
class _Attempt:
    """What comes back from a worker: an outcome, or the text of an error."""

    ticket: int
    outcome: Outcome | None
    timing: Timing
    error: str = ""


@cache
def _settle_in() -> None:
    """Make a worker process leave Ctrl-C to its parent, and end when its parent has ended."""
    parent = multiprocessing.parent_process()
    if parent is None or threading.current_thread() is not threading.main_thread():
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def follow() -> None:
        while os.getppid() == parent.pid:
            time.sleep(ORPHAN_SECONDS)
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _attempt(engine: Engine, shared: Shared, ticket: int, task: Task) -> _Attempt:
    """Run in a worker. Errors become records, for an exception would abort the whole round."""
    _settle_in()
    outcome, error = None, ""
    begin, start = time.time(), time.perf_counter()
    try:
        outcome = engine.search(shared.get(), task)
    except Exception as failure:
        error = "the search failed: " + traceback.format_exception_only(failure)[-1].strip()
    worker = f"{os.getpid()}/{threading.get_native_id()}"
    return _Attempt(ticket, outcome, Timing(begin, time.perf_counter() - start, worker), error)


def _halves(task: Task) -> list[Task]:
    """Cut a task between two roots, near its middle; return [] if it has only one root."""
    first_of_root = np.flatnonzero(np.diff(task.stacks.roots)) + 1
    if first_of_root.size == 0:
        return []
    cut = int(first_of_root[first_of_root.size // 2])
    return [_part(task, 0, cut), _part(task, cut, len(task.stacks))]


def _part(task: Task, begin: int, end: int) -> Task:
    return replace(
        task,
        stacks=task.stacks.between(begin, end),
        limits=task.limits[begin:end],
        allowances=task.allowances[begin:end],
    )


def deal(
    stacks: Stacks, limits: np.ndarray, allowances: np.ndarray, groups: np.ndarray, n_tasks: int
) -> list[Task]:
    """Deal stacks out to tasks in order, those of one group to one task.

    Parameters
    ----------
    stacks : Stacks
    limits, allowances : ndarray of int64, shape (n,)
        As in `Task`.
    groups : ndarray of int64, shape (n,)
        Numbers that ascend from 0 without gaps; stacks of the same number stay together.
    n_tasks : int
        How many tasks to make at most.
    """
    bounds = np.linspace(0, groups[-1] + 1, n_tasks + 1).astype(np.int64)
    cuts = np.unique(np.searchsorted(groups, bounds))
    return [
        Task(stacks.between(begin, end), limits[begin:end], allowances[begin:end])
        for begin, end in pairwise(cuts.tolist())
    ]
