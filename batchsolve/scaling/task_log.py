"""A log of when and where tasks ran, and figures from it: idle share, gaps, quantiles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.settings import UNLIMITED
from batchsolve.workers.pool import Done

QUANTILES = {"median": 0.5, "p90": 0.9, "p99": 0.99}


@dataclass(eq=False)
class TaskLog:
    """The times and nodes of tasks: the rows of ``subproblems.parquet``, as columns.

    Attributes
    ----------
    begin, seconds : list of float
        Start of a task, in seconds after that of its run, and its duration.
    worker : list of int
        Workers, numbered in the order of their first results; -1 is the process that hands out
        tasks, which splits the tree and tries engines.
    nodes, stacks : list of int
        Nodes visited, and stacks in the task.
    split : list of bool
        True if the task split the tree.
    """

    begin: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    worker: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    stacks: list[int] = field(default_factory=list)
    split: list[bool] = field(default_factory=list)

    numbers: dict[str, int] = field(default_factory=dict)

    def add(self, done: Done, epoch: float) -> None:
        """Add a finished task."""
        name = done.timing.worker
        number = self.numbers.setdefault(name, len(self.numbers)) if name else -1
        self.begin.append(done.timing.begin - epoch)
        self.seconds.append(done.timing.seconds)
        self.worker.append(number)
        self.nodes.append(done.result.n_nodes)
        self.stacks.append(len(done.task.stacks))
        self.split.append(done.task.depth != UNLIMITED)

    def processes(self) -> set[int]:
        """Return the ids of the processes in which workers ran."""
        return {int(name.partition("/")[0]) for name in self.numbers}

    def of_workers(self) -> tuple[npt.NDArray[Any], ...]:
        """Return begin, seconds and worker of the tasks that workers ran."""
        worker = np.array(self.worker, np.int64)
        mine = worker >= 0
        return np.array(self.begin)[mine], np.array(self.seconds)[mine], worker[mine]

    def shares(self, wall: float, jobs: int) -> dict[str, Any]:
        """Return the fields of a `Run` that follow from its tasks."""
        begin, seconds, worker = self.of_workers()
        split, here = np.array(self.split, np.bool_), np.array(self.worker, np.int64) < 0
        nodes = np.array(self.nodes, np.int64)
        quantiles = {
            f"task_{name}": float(np.quantile(seconds, q)) if seconds.size else 0.0
            for name, q in QUANTILES.items()
        }
        busy = float(seconds.sum())
        return {
            **quantiles,
            "tasks": int(seconds.size),
            "task_max": float(seconds.max(initial=0.0)),
            "busy": busy,
            "busy_nodes": int(nodes[~here].sum()),
            "idle_share": max(0.0, 1 - busy / (jobs * wall)),
            "serial_share": max(0.0, 1 - covered(begin, begin + seconds) / wall),
            "split_seconds": float(np.array(self.seconds)[split].sum()),
            "split_nodes": int(nodes[split].sum()),
            "gap": _median_gap(begin, seconds, worker),
        }


def covered(begins: npt.NDArray[np.float64], ends: npt.NDArray[np.float64]) -> float:
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


def _median_gap(
    begin: npt.NDArray[np.float64],
    seconds: npt.NDArray[np.float64],
    worker: npt.NDArray[np.int64],
) -> float:
    """Return the median time between the tasks of one worker, 0 if none has two."""
    order = np.lexsort((begin, worker))
    gaps = begin[order][1:] - (begin + seconds)[order][:-1]
    same = worker[order][1:] == worker[order][:-1]
    return max(0.0, float(np.median(gaps[same]))) if same.any() else 0.0
