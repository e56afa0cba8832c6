"""Measurements of how searches scale: a grid of runs, with time and memory of each.

A *workload* is one problem, counted whole by any number of workers (strong scaling), or a batch of
stacks that grows with the workers (weak scaling): for each worker a fixed number of rows of a
corpus, or of copies of one problem.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Floats
from batchsolve.core.interrupts import check_interrupt
from batchsolve.engines import UNLIMITED, Engine, Task, engine_for, visits_the_same_nodes
from batchsolve.errors import BatchsolveError, InputError, ProblemError, counted
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.reading import TABLE_SUFFIXES, read_problem
from batchsolve.search.scheduler import LEAST_BUDGET, Piece
from batchsolve.search.tree import TreeSearch, TreeWork
from batchsolve.settings import AUTO, FileSettings, Plan, SearchSettings
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.places import suffix_of
from batchsolve.workers import LOG, Lost, Pool, get_workers, result_seconds

WARM_SECONDS = 2.0  # longest wait for other workers once the first has started
WARM_NODES = 1_000  # of a task that warms up a worker
BURST_RESULTS = 1000  # of short tasks that measure the cost of a result; 0.3 s of threads
QUANTILES = {"median": 0.5, "p90": 0.9, "p99": 0.99}
_PROC = Path("/proc")
_RU_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024
BURST_STACKS = 256  # to begin with, because a problem may be small


class ScalingError(BatchsolveError):
    """Runs of the same work disagree, or work was lost."""


@dataclass(frozen=True, eq=False)
class Workload:
    """The work of a run: a problem, and the stacks to search.

    Attributes
    ----------
    name : str
    problem : ExactCover
    stacks : Stacks
        The stacks to begin with; under weak scaling, the stacks that are dealt out to workers.
    per_worker : int, optional
        Under weak scaling, the number of stacks for each worker. They are taken in turn, and again
        from the first if there are too few.
    """

    name: str
    problem: ExactCover
    stacks: Stacks
    per_worker: int | None = None

    @property
    def kind(self) -> str:
        """Either ``strong`` or ``weak``."""
        return "strong" if self.per_worker is None else "weak"

    def begin(self, jobs: int) -> Stacks:
        """Return the stacks to search with this number of workers."""
        if self.per_worker is None:
            return self.stacks
        return self.stacks.take(np.arange(self.per_worker * jobs) % len(self.stacks))


def read_workloads(
    text: str, per_worker: int | None = None, by: str | None = None, **reading: Any
) -> list[Workload]:
    """Read the workload that `text` names, or one for each value of a column of a corpus.

    Parameters
    ----------
    text : str
        A problem, as in `batchsolve.runs.reading.read_problem`; for weak scaling also a corpus.
    per_worker : int, optional
        Rows of the corpus, or copies of the problem, for each worker.
    by : str, optional
        A column of the corpus.
    **reading
        Box, alphabet, blank and column, as in `read_problem`.

    Raises
    ------
    InputError
        If the problem is not found, no row of the corpus can be searched, or `by` is given without
        a corpus under weak scaling.
    """
    is_corpus = (
        per_worker is not None and suffix_of(text) in TABLE_SUFFIXES and os.path.isfile(text)
    )
    if by is not None and not is_corpus:
        raise InputError(f"{text}: only the rows of a corpus have values of a column ({by!r})")
    if not is_corpus:
        with _naming(text):
            source = read_problem(text, **reading)
            source.problem.check_stack(source.stack)
        stack = Stacks.from_lists([source.stack.tolist()])
        return [Workload(text, source.problem, stack, per_worker)]
    problem, parts = Corpus([text], FileSettings(**reading)).stacks(by)
    if not parts:
        raise InputError(f"{text}: no row can be searched")
    ends = {value: f", {by} {value}" if value else f", no {by}" for value in parts}
    names = {value: text if by is None else text + end for value, end in ends.items()}
    return [Workload(names[v], problem, stacks, per_worker) for v, stacks in parts.items()]


@contextmanager
def _naming(workload: str) -> Iterator[None]:
    """Prefix the errors of a workload with its name, unless they begin with the name of its file.

    Errors that do not concern one workload stay: lost workers, an unknown backend.
    """
    try:
        yield
    except (InputError, ProblemError, ScalingError) as error:
        if not str(error).startswith(workload.partition("#")[0]):
            error.args = (f"{workload}: {error}",)
        raise


@dataclass(frozen=True)
class MeasuredRun:
    """One run and its measurements: a row of ``runs.csv``.

    Attributes
    ----------
    run : int
    problem, kind, engine, backend : str
    jobs, split_depth, repeat : int
        The split depth is None where it is automatic.
    wall, cpu : float
        Seconds of the run, and of processor time, added over all processors.
    count, nodes : int
    complete : bool
        True if the whole tree was searched.
    stacks, subproblems, tasks, rounds : int
        Stacks to begin with, stacks searched, tasks handed out to workers, rounds of tasks.
    task_median, task_p90, task_p99, task_max : float
        Seconds of a task.
    busy, busy_nodes : float, int
        Seconds of the workers' tasks, added; nodes visited in them.
    idle_share : float
        Share of the workers' time in which they had no task.
    serial_share : float
        Share of the time in which no worker was busy, because the tree was split, engines were
        tried or results collected.
    split_seconds : float
        Seconds of splitting.
    split_nodes : int
        Nodes visited in splitting.
    gap : float
        Median of the seconds between a worker's tasks.
    master : float
        Seconds that a result keeps the collecting process busy while short tasks follow each other.
    peak_mb : float
        Peak memory of all processes, in units of 2^20 bytes.
    """

    run: int
    problem: str
    kind: str
    engine: str
    backend: str
    jobs: int
    split_depth: int | None
    repeat: int
    wall: float
    cpu: float
    count: int
    nodes: int
    complete: bool
    stacks: int
    subproblems: int
    tasks: int
    rounds: int
    task_median: float
    task_p90: float
    task_p99: float
    task_max: float
    busy: float
    busy_nodes: int
    idle_share: float
    serial_share: float
    split_seconds: float
    split_nodes: int
    gap: float
    master: float
    peak_mb: float

    def __str__(self) -> str:
        return (
            f"{self.problem}: {self.engine}, {self.backend}, {counted(self.jobs, 'worker')}, depth "
            f"{self.depth}: {self.wall:.3f} s, {counted(self.nodes, 'node')}, "
            f"idle {self.idle_share:.1%}"
        )

    @property
    def depth(self) -> int | str:
        """The split depth, or ``auto``."""
        return "auto" if self.split_depth is None else self.split_depth


TASKS = np.dtype(
    [
        ("run", np.int32),
        ("task", np.int32),
        ("begin", np.float64),
        ("seconds", np.float64),
        ("worker", np.int32),
        ("nodes", np.int64),
        ("stacks", np.int32),
        ("split", np.bool_),
    ]
)
TaskLog = npt.NDArray[Any]
"""The times and nodes of tasks, of the type `TASKS`: the rows of ``subproblems.parquet``.

Tasks are numbered in the order of their results. ``begin`` and ``seconds`` are the start of a task,
in seconds after that of its run, and its duration. Workers are numbered in the order of their first
results; -1 is the process that hands out tasks, which splits the tree and tries engines. ``split``
is true if the task split the tree.
"""


def of_workers(log: TaskLog) -> TaskLog:
    """Return the tasks that workers ran."""
    return log[log["worker"] >= 0]


def _shares(log: TaskLog, wall: float, jobs: int) -> dict[str, Any]:
    """Return the fields of a `MeasuredRun` that its tasks determine."""
    tasks, split = of_workers(log), log[log["split"]]
    begin, seconds = tasks["begin"], tasks["seconds"]
    busy = float(seconds.sum())
    quantiles = np.quantile(seconds if tasks.size else 0.0, list(QUANTILES.values()))
    return {
        **{f"task_{name}": q for name, q in zip(QUANTILES, quantiles.tolist(), strict=True)},
        "tasks": tasks.size,
        "task_max": float(seconds.max(initial=0.0)),
        "busy": busy,
        "busy_nodes": int(tasks["nodes"].sum()),
        "idle_share": max(0.0, 1 - busy / (jobs * wall)),
        "serial_share": max(0.0, 1 - covered(begin, begin + seconds) / wall),
        "split_seconds": float(split["seconds"].sum()),
        "split_nodes": int(split["nodes"].sum()),
        "gap": _median_gap(tasks),
    }


def covered(begins: Floats, ends: Floats) -> float:
    """Return the length of the union of intervals.

    Examples
    --------
    >>> covered(np.array([0.0, 1.0, 5.0]), np.array([2.0, 3.0, 6.0]))
    4.0
    """
    order = np.argsort(begins)
    begins, ends = begins[order], np.maximum.accumulate(ends[order])
    before = np.concatenate([[-np.inf], ends[:-1]])
    return float(np.maximum(0.0, ends - np.maximum(begins, before)).sum())


def _median_gap(log: TaskLog) -> float:
    """Return the median time between the tasks of one worker, 0 if none has two."""
    log = np.sort(log, order=["worker", "begin"])
    gaps = log["begin"][1:] - (log["begin"] + log["seconds"])[:-1]
    same = np.diff(log["worker"]) == 0
    return max(0.0, float(np.median(gaps[same]))) if same.any() else 0.0


def check_plan(workloads: list[Workload], plan: Plan) -> None:
    """Raise `InputError` if a run cannot be made.

    A backend or an engine may be unknown, or an engine may not be able to search a problem.
    """
    for workload, engine in product(workloads, plan.engines):
        with _naming(workload.name):
            engine_for(engine, workload.problem)
    for backend, jobs in product(plan.backends, plan.jobs):
        get_workers(backend, jobs, plan.address)


def run_plan(
    workloads: list[Workload], plan: Plan, made: Sequence[MeasuredRun] = ()
) -> Iterator[tuple[MeasuredRun, TaskLog]]:
    """Make the missing runs of a grid; yield each with its tasks.

    Every combination has its first run before any has its second, so that drifts of the machine
    affect all alike. The workers of every run are warmed up before its clock starts.

    Parameters
    ----------
    workloads : list of Workload
    plan : Plan
    made : sequence of MeasuredRun
        The runs of the grid that are there already: its first ones.

    Raises
    ------
    InputError
        If a run cannot be made, or was stopped before it visited a node.
    ScalingError
        If runs of the same work differ in their nodes or their count.
    """
    check_plan(workloads, plan)
    combinations = product(workloads, plan.engines, plan.backends, plan.jobs, plan.split_depths)
    seen: dict[tuple[str, str, int], MeasuredRun] = {}
    for run in made:
        _check_same_work(run, seen)
    wanted = list(product(range(plan.repeat), combinations))
    for number, (repeat, combination) in list(enumerate(wanted))[len(made) :]:
        workload, engine, backend, jobs, depth = combination
        label: dict[str, Any] = {"run": number, "repeat": repeat, "split_depth": depth}
        label |= {"engine": engine, "backend": backend}
        run, log = measure(workload, jobs, plan, label)
        if not run.complete and run.nodes == 0:
            raise InputError(
                f"{run.problem}, engine {run.engine}: the time limit was reached before a node was "
                f"visited, so its speed is unknown; raise the limit"
            )
        _check_same_work(run, seen)
        LOG.info("%s", run)
        yield run, log


def _check_same_work(run: MeasuredRun, seen: dict[tuple[str, str, int], MeasuredRun]) -> None:
    """Raise an error if a complete run differs from the first run of the same work."""
    if not run.complete:
        return
    first = seen.setdefault((run.problem, run.engine, run.stacks), run)
    same_nodes = not visits_the_same_nodes(run.engine) or first.nodes == run.nodes
    if first.count != run.count or not same_nodes:
        raise ScalingError(
            f"{run.problem}, engine {run.engine}: run {run.run} counted {run.count:,} covers in "
            f"{run.nodes:,} nodes, run {first.run} {first.count:,} in {first.nodes:,}; they must "
            f"agree. This is a fault of the program or of the machine: none of the runs can be "
            f"trusted"
        )


def measure(
    workload: Workload, jobs: int | None, plan: Plan, label: dict[str, Any]
) -> tuple[MeasuredRun, TaskLog]:
    """Make one run.

    Parameters
    ----------
    workload : Workload
    jobs : int, optional
        Number of workers; by default all that the backend has.
    plan : Plan
        The plan whose budget, time limit and address are used.
    label : dict
        Run, repeat, split depth, engine and backend: fields of `MeasuredRun`.
    """
    engine = engine_for(label["engine"], workload.problem)
    with Pool(jobs, label["backend"], plan.address) as pool, _naming(workload.name):
        jobs = pool.jobs
        stacks = workload.begin(jobs)
        master = _result_seconds(pool, workload.problem, stacks)
        _warm_up(pool, engine, workload.problem, stacks)
        settings = plan.settings(label["split_depth"])
        search = TreeSearch(workload.problem, settings, Piece.whole(stacks), pool, engine=engine)
        check_interrupt()
        forget_peak()
        cpu, begin = cpu_seconds(), time.perf_counter()
        log, processes = _log_of(search)
        log["run"], wall = label["run"], time.perf_counter() - begin
        cpu, peak = max(0.0, cpu_seconds() - cpu), peak_bytes(processes)
    if search.failures:
        raise ScalingError(f"{workload.name}: {search.failures[0]}")
    totals = asdict(search.totals)
    del totals["seconds"]
    run = MeasuredRun(
        problem=workload.name,
        kind=workload.kind,
        jobs=jobs,
        wall=wall,
        cpu=cpu,
        complete=search.complete,
        stacks=len(stacks),
        master=master,
        peak_mb=peak / 2**20,
        **_shares(log, wall, jobs),
        **label,
        **totals,
    )
    return run, log


def _result_seconds(pool: Pool, problem: ExactCover, stacks: Stacks) -> float:
    """Measure the cost of a result, with short tasks: to draw a task, hand it out and collect it.

    A single worker may run in the collecting thread; then the cost is the time between its tasks.
    If workers are threads, it is the processor time of the collecting thread; if they are
    processes, that of this process or of the scheduler, whichever is busier. Warm workers up again
    afterwards: joblib ends processes that a round leaves behind.
    """
    engine = engine_for(AUTO, problem)
    _warm_up(pool, engine, problem, stacks)
    begin = Piece.whole(stacks.take(np.zeros(BURST_STACKS, np.int64)))
    seconds = BURST_RESULTS * result_seconds(pool.backend)
    settings = SearchSettings(split_depth=0, budget=LEAST_BUDGET, time_limit=seconds)
    search = TreeSearch(problem, settings, begin, pool, engine=engine)
    check_interrupt()

    def clocks() -> Floats:
        here = time.perf_counter(), time.thread_time(), time.process_time()
        return np.array([*here, pool.workers.scheduler_seconds()])

    starts = [clocks()]
    log, processes = _log_of(search, lambda: starts.append(clocks()))
    after_first = len(log) > 1  # which has to wait until workers have got the problem
    wall, thread, process, scheduler = clocks() - starts[after_first]
    log = log[after_first:]
    here = os.getpid() in processes
    if pool.jobs == 1 and here:
        spent = wall - float(log["seconds"].sum())
    elif here:
        spent = thread
    else:
        spent = max(process, scheduler)
    return max(0.0, spent) / max(1, len(log))


def _log_of(
    search: TreeSearch, at_first: Callable[[], object] = lambda: None
) -> tuple[TaskLog, set[int]]:
    """Search; return the log of the tasks, and the ids of the processes in which workers ran.

    `at_first` is called after the first task.
    """
    rows, epoch = list[tuple[Any, ...]](), time.time()
    numbers: dict[str, int] = {}
    for done in search.run():
        worker = numbers.setdefault(done.worker, len(numbers)) if done.worker else -1
        task, nodes = done.task, done.result.n_nodes
        times = done.begin - epoch, done.seconds
        facts = nodes, len(task.stacks), task.depth != UNLIMITED
        rows.append((0, len(rows), *times, worker, *facts))
        if len(rows) == 1:
            at_first()
        check_interrupt()
    return np.array(rows, TASKS), {int(name.partition("/")[0]) for name in numbers}


def _warm_up(pool: Pool, engine: Engine, problem: ExactCover, stacks: Stacks) -> None:
    """Hand out small tasks until every worker has done one, or `WARM_SECONDS` have passed."""
    seen: set[str] = set()
    first = stacks.between(0, 1)
    only_counts = engine.counts_only
    task = Task.of(first, depth=1) if only_counts else Task.of(first, budget=WARM_NODES)
    work = TreeWork(engine, problem)
    deadline = float("inf")
    while len(seen) < pool.jobs and time.monotonic() < deadline:
        check_interrupt()
        for result in pool.start(work, enumerate([task] * (4 * pool.jobs))):
            if isinstance(result, Lost):
                raise ScalingError(result.reason)
            deadline = min(deadline, time.monotonic() + WARM_SECONDS)
            seen.add(result.worker)
            check_interrupt()


# ---- processor time and memory --------------------------------------------------------------

# Worker processes outlive a run; psutil knows their use. Without psutil, only this process and
# children that have ended are counted.


def cpu_seconds() -> float:
    """Return the processor time of this process, its ended children and its living descendants."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, kinds))
    for process in _descendants():
        with suppress(Exception):  # of psutil: it has ended
            times = process.cpu_times()
            used += times.user + times.system + times.children_user + times.children_system
    return used


def forget_peak() -> None:
    """Reset the peak of memory, where the system can."""
    for pid in [os.getpid(), *(process.pid for process in _descendants())]:
        with suppress(OSError):  # not every system has this file or lets every user write to it
            (_PROC / str(pid) / "clear_refs").write_text("5")


def peak_bytes(workers: set[int]) -> int:
    """Return the sum of the memory peaks of this process and of its workers, in bytes.

    Pages that processes share are counted once for each.
    """
    others = workers.intersection(process.pid for process in _descendants())
    peaks = [_peak(pid) for pid in [os.getpid(), *others]]
    if peaks[0] is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RU_MAXRSS_UNIT
    return sum(peak or 0 for peak in peaks)


def _peak(pid: int) -> int | None:
    """Return the peak memory of a process from ``/proc``; None if it cannot be read."""
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return None
    sizes = [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")]
    return sizes[0] if sizes else None


def _descendants() -> list[Any]:
    """Return the processes below this one, as psutil describes them; none without psutil."""
    try:
        from psutil import Process
    except ImportError:
        return []
    return Process().children(recursive=True)
