"""The worker pool: runs tasks on joblib, and survives tasks that raise or kill their worker.

This is the only file that imports joblib. Tasks go out in bounded rounds: joblib consumes its
input under a lock that it also needs to hand back results, so an input that waits for results
would deadlock.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from types import TracebackType
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed

from batchsolve.cover import ExactCover
from batchsolve.engines import Engine, Outcome, Task
from batchsolve.errors import InputError
from batchsolve.stacks import Stacks

BACKENDS = ("threading", "loky")
ORPHAN_SECONDS = 1.0  # how often a worker process looks whether its parent still lives


@dataclass(frozen=True, eq=False)
class Done:
    """A task that was searched."""

    task: Task
    outcome: Outcome
    seconds: float


@dataclass(frozen=True, eq=False)
class Lost:
    """A task of one root that raises, or that kills every worker which tries it."""

    task: Task
    reason: str


class Pool:
    """Workers on this machine.

    Parameters
    ----------
    jobs : int, optional
        Number of workers; the number of cores by default.
    backend : {"threading", "loky"}
        Threads, or processes that isolate a crash.

    Notes
    -----
    Use it as a context manager. `start` hands the tasks out at once, so that the caller can do
    other work before it asks for the results.
    """

    def __init__(self, jobs: int | None = None, backend: str = "threading") -> None:
        if backend not in BACKENDS:
            raise InputError(f"no backend is called {backend!r}; there is: {', '.join(BACKENDS)}")
        if jobs is not None and jobs < 1:
            raise InputError(f"the number of jobs is 1 or more, not {jobs}")
        self.jobs = jobs or cpu_count()
        self.backend = backend
        self._parallel = Parallel(
            n_jobs=self.jobs,
            backend=backend,
            return_as="generator_unordered",
            pre_dispatch="all",
            batch_size=1,
        )

    def __enter__(self) -> Pool:
        self._parallel.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._parallel.__exit__(kind, error, trace)

    def start(
        self, engine: Engine, problem: ExactCover, tasks: Sequence[Task]
    ) -> Iterator[Done | Lost]:
        """Hand out a round of tasks; return an iterator over their results, in any order.

        Every root of the round comes back: in a `Done`, perhaps of a part of its task, or in a
        `Lost`.
        """
        running = self._dispatch(engine, problem, tasks)
        return self._collect(engine, problem, list(tasks), running)

    def _dispatch(
        self, engine: Engine, problem: ExactCover, tasks: Sequence[Task]
    ) -> Iterator[_Attempt]:
        if not tasks:
            return iter(())
        calls = [delayed(_attempt)(engine, problem, k, task) for k, task in enumerate(tasks)]
        return iter(self._parallel(calls))

    def _collect(
        self,
        engine: Engine,
        problem: ExactCover,
        tasks: list[Task],
        running: Iterator[_Attempt],
    ) -> Iterator[Done | Lost]:
        """Yield results; send the tasks of a dead worker again, and single out what kills."""
        suspects: list[tuple[Task, str]] = []
        for deaths in (1, 2):
            back: set[int] = set()
            try:
                for attempt in running:
                    back.add(attempt.index)
                    task = tasks[attempt.index]
                    if attempt.outcome is None:
                        suspects.append((task, attempt.error))
                    else:
                        yield Done(task, attempt.outcome, attempt.seconds)
                break
            except BrokenExecutor:
                tasks = [task for k, task in enumerate(tasks) if k not in back]
                if deaths == 1:
                    running = self._dispatch(engine, problem, tasks)
                else:
                    suspects += [(task, "") for task in tasks]
            except GeneratorExit:
                _abandon(running)
                raise
        while suspects:
            task, error = suspects.pop()
            parts = [task] if not error else _halves(task)
            if not parts:
                yield Lost(task, error)
            for part in parts:
                attempt = self._alone(engine, problem, part)
                if attempt.outcome is None:
                    suspects.append((part, attempt.error))
                else:
                    yield Done(part, attempt.outcome, attempt.seconds)

    def _alone(self, engine: Engine, problem: ExactCover, task: Task) -> _Attempt:
        try:
            (attempt,) = self._dispatch(engine, problem, [task])
            return attempt
        except BrokenExecutor:
            return _Attempt(0, None, 0.0, "the search killed its worker process twice")


@dataclass(frozen=True, eq=False)
class _Attempt:
    """What comes back from a worker: an outcome, or the text of an error."""

    index: int
    outcome: Outcome | None
    seconds: float
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


def _attempt(engine: Engine, problem: ExactCover, index: int, task: Task) -> _Attempt:
    """Run in a worker. Errors become records, for an exception would abort the whole round."""
    _settle_in()
    begin = time.perf_counter()
    try:
        outcome = engine.search(problem, task)
    except Exception as error:
        text = traceback.format_exception_only(error)[-1].strip()
        return _Attempt(index, None, time.perf_counter() - begin, f"the search failed: {text}")
    return _Attempt(index, outcome, time.perf_counter() - begin)


def _abandon(running: Any) -> None:
    """Drop the tasks of a round that nobody waits for; joblib would warn of each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        running.close()


def _halves(task: Task) -> list[Task]:
    """Cut a task between two roots, near its middle; return [] if it has only one root."""
    first_of_root = np.flatnonzero(np.diff(task.stacks.roots)) + 1
    if first_of_root.size == 0:
        return []
    cut = int(first_of_root[first_of_root.size // 2])
    places = np.arange(len(task.stacks))
    return [take(task, places[:cut]), take(task, places[cut:])]


def take(task: Task, places: np.ndarray) -> Task:
    """Return the part of a task that has these of its stacks."""
    return replace(
        task,
        stacks=task.stacks.take(places),
        limits=task.limits[places],
        allowances=task.allowances[places],
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
    whole = Task(stacks, limits, allowances)
    bounds = np.linspace(0, groups[-1] + 1, n_tasks + 1).astype(np.int64)
    cuts = np.unique(np.searchsorted(groups, bounds))
    return [take(whole, np.arange(begin, end)) for begin, end in pairwise(cuts.tolist())]
