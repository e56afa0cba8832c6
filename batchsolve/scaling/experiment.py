"""A scaling experiment on disk: ``runs.csv``, ``subproblems.parquet`` and ``machine.json``."""

from __future__ import annotations

import json
import os
import platform
import shlex
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from batchsolve.engines.choice import visits_the_same_nodes
from batchsolve.errors import InputError
from batchsolve.scaling.machine import machine
from batchsolve.scaling.measure import Run
from batchsolve.scaling.task_log import TaskLog
from batchsolve.tables.outputs import disk_errors

TASK_SCHEMA = pa.schema(
    [
        ("run", pa.int32()),
        ("task", pa.int32()),
        ("begin", pa.float64()),
        ("seconds", pa.float64()),
        ("worker", pa.int32()),
        ("nodes", pa.int64()),
        ("stacks", pa.int32()),
        ("split", pa.bool_()),
    ]
)


@dataclass(eq=False)
class Experiment:
    """Runs that were made together.

    Attributes
    ----------
    runs : list of Run
    logs : list of TaskLog
        The tasks of each run.
    about : dict
        The machine, the versions, the command.
    """

    runs: list[Run]
    logs: list[TaskLog]
    about: dict[str, Any]

    def series(self) -> list[Series]:
        """Return the runs of every problem, kind, engine, backend and split depth."""
        groups: dict[tuple[Any, ...], list[Run]] = {}
        for run in self.runs:
            key = (run.problem, run.kind, run.engine, run.backend, run.split_depth)
            groups.setdefault(key, []).append(run)
        return [Series(runs) for runs in groups.values()]

    def widest(self) -> Run:
        """Return the run with the most workers, and of these the first: that of the Gantt chart."""
        return max(self.runs, key=lambda run: (run.jobs, -run.run))


@dataclass(eq=False)
class Series:
    """Runs that differ in the number of workers only."""

    runs: list[Run]

    @property
    def first(self) -> Run:
        """The first run, for what they have in common."""
        return self.runs[0]

    @property
    def name(self) -> str:
        """What tells the series from others."""
        run = self.first
        depth = "auto" if run.split_depth is None else run.split_depth
        weak = ", weak" if run.kind == "weak" else ""
        return f"{short_name(run.problem)}{weak}, {run.engine}, {run.backend}, depth {depth}"

    @property
    def workers(self) -> list[int]:
        """The numbers of workers, ascending."""
        return sorted({run.jobs for run in self.runs})

    def at(self, jobs: int) -> list[Run]:
        """Return the runs with so many workers."""
        return [run for run in self.runs if run.jobs == jobs]

    def wall(self, jobs: int) -> float:
        """Return the median time with so many workers."""
        return statistics.median(run.wall for run in self.at(jobs))

    def speedups(self) -> dict[int, float]:
        """Return the speed-up at every number of workers: how much more work is done in a second.

        The work is counted in nodes where they are reproducible, else in stacks. It is compared
        with one worker, or with the fewest there are, whose efficiency is then taken to be 1.
        """
        by_nodes = visits_the_same_nodes(self.first.engine)

        def speed(jobs: int) -> float:
            runs = self.at(jobs)
            return statistics.median((r.nodes if by_nodes else r.stacks) / r.wall for r in runs)

        least = self.workers[0]
        return {jobs: least * speed(jobs) / speed(least) for jobs in self.workers}


def short_name(problem: str) -> str:
    """Return the name of a problem without the folders of its file.

    Examples
    --------
    >>> short_name("datasets/many16.csv#3")
    'many16.csv#3'
    """
    return problem.rpartition("/")[2]


def new_directory(path: str) -> Path:
    """Make a directory, which must not hold anything.

    Raises
    ------
    InputError
        If it does, or is no directory, or its name is not UTF-8.
    OutputError
        If it cannot be made.
    """
    home = Path(path)
    try:
        str(home).encode()
    except UnicodeEncodeError as error:  # Arrow writes no such file, and the report names it
        raise InputError(f"{str(path)!r}: is not UTF-8; name another directory") from error
    if home.exists() and not home.is_dir():
        raise InputError(f"{path}: is a file; name a new directory for the experiment")
    if home.is_dir() and any(home.iterdir()):
        raise InputError(
            f"{path}: is not empty; an experiment is not written over another: name a new directory"
        )
    with disk_errors(str(path)):
        home.mkdir(parents=True, exist_ok=True)
    return home


def about(arguments: Sequence[str]) -> dict[str, Any]:
    """Return the command, when and where it runs, and what is known of the machine."""
    return {
        "command": shlex.join(["batchsolve", *arguments]),
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "host": platform.node(),
        **machine(),
    }


def write_experiment(home: Path, experiment: Experiment) -> None:
    """Write the tables of an experiment, and what made it."""
    with disk_errors(str(home)):
        pacsv.write_csv(runs_table(experiment.runs), home / "runs.csv")
        pq.write_table(tasks_table(experiment), home / "subproblems.parquet", compression="zstd")
        text = json.dumps(experiment.about, indent=1, ensure_ascii=False) + "\n"
        (home / "machine.json").write_text(text)


def runs_table(runs: Iterable[Run]) -> pa.Table:
    """Return runs as a table; an automatic depth is ``auto``."""
    rows = [asdict(run) for run in runs]
    for row in rows:
        row["split_depth"] = "auto" if row["split_depth"] is None else str(row["split_depth"])
        row["count"] = str(row["count"])  # it may be too large for a table
    columns = {f.name: [row[f.name] for row in rows] for f in fields(Run)}
    return pa.table(columns)


def tasks_table(experiment: Experiment) -> pa.Table:
    """Return the tasks of all runs as one table."""
    tables = []
    for run, log in zip(experiment.runs, experiment.logs, strict=True):
        n = len(log.begin)
        columns = [
            np.full(n, run.run),
            np.arange(n),
            *map(np.asarray, (getattr(log, name) for name in TASK_SCHEMA.names[2:])),
        ]
        arrays = [pa.array(c, f.type) for c, f in zip(columns, TASK_SCHEMA, strict=True)]
        tables.append(pa.Table.from_arrays(arrays, schema=TASK_SCHEMA))
    return pa.concat_tables(tables)


def read_experiment(path: str) -> Experiment:
    """Read what `write_experiment` wrote.

    Raises
    ------
    InputError
        If the directory holds no experiment.
    """
    home = Path(path)
    if not (home / "machine.json").exists():
        raise InputError(f"{os.fspath(path)}: holds no experiment; there is no machine.json")
    kinds = get_type_hints(Run)
    text = pacsv.ConvertOptions(column_types={f.name: pa.string() for f in fields(Run)})
    rows = pacsv.read_csv(home / "runs.csv", convert_options=text).to_pylist()
    runs = [Run(**{name: _value(row[name], kinds[name]) for name in row}) for row in rows]
    tasks = pq.read_table(home / "subproblems.parquet")
    logs = []
    for run in runs:
        mine = tasks.filter(pc.equal(tasks["run"], run.run)).to_pydict()
        logs.append(TaskLog(*(mine[name] for name in TASK_SCHEMA.names[2:])))
    return Experiment(runs, logs, json.loads((home / "machine.json").read_text()))


def _value(text: str, kind: Any) -> Any:
    """Return a field of a run from its text."""
    if kind is bool:
        return text == "true"
    if kind == int | None:
        return None if text == "auto" else int(text)
    return kind(text)
