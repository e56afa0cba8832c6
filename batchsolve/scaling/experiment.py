"""A scaling experiment on disk: ``runs.csv``, ``subproblems.parquet`` and ``machine.json``."""

from __future__ import annotations

import json
import os
import platform
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from batchsolve.errors import InputError, disk_errors, first_line, prefixed
from batchsolve.formats.whole_files import whole_file, write_whole
from batchsolve.scaling.measure import TASKS, MeasuredRun, TaskLog
from batchsolve.scaling.speedup import Series, short_names
from batchsolve.settings.arguments import folder_of

SAME_MACHINE = ("processor", "cores", "packages")  # equal for all runs that are compared
PACKAGES = ("batchsolve", "numpy", "joblib", "pyarrow", "matplotlib")
TASK_SCHEMA = pa.schema({name: pa.from_numpy_dtype(TASKS[name]) for name in TASKS.names or ()})


@dataclass(eq=False)
class Experiment:
    """The runs of one experiment.

    Attributes
    ----------
    runs : list of MeasuredRun
    logs : list of TaskLog
        The tasks of each run.
    about : dict
        The machine, the versions, the command.
    """

    runs: list[MeasuredRun]
    logs: list[TaskLog]
    about: dict[str, Any]

    def series(self) -> list[Series]:
        """Return one series for every problem, kind, engine, backend and split depth."""
        names, groups = self.names, dict[tuple[Any, ...], list[MeasuredRun]]()
        for run in self.runs:
            key = (run.problem, run.kind, run.engine, run.backend, run.split_depth)
            groups.setdefault(key, []).append(run)
        return [Series(runs, names[key[0]]) for key, runs in groups.items()]

    @property
    def names(self) -> dict[str, str]:
        """The name of each problem in the report."""
        return short_names(run.problem for run in self.runs)


def directory_for(path: str, resume: bool = False) -> Path:
    """Make the directory of an experiment; it may exist if it is empty or the experiment resumes.

    Raises
    ------
    InputError
        If it holds anything else, is not a directory, or its name is not UTF-8.
    OutputError
        If it cannot be made.
    """
    home = Path(folder_of("the folder of an experiment", path))
    try:
        str(home).encode()
    except UnicodeEncodeError as error:  # Arrow cannot write there, and the report prints the name
        raise InputError(f"{str(path)!r}: is not UTF-8; name another directory") from error
    if home.exists() and not home.is_dir():
        raise InputError(f"{path}: is a file; name a new directory for the experiment")
    begun = (home / "machine.json").exists()
    if home.is_dir() and any(home.iterdir()) and not (begun and resume):
        advice = "go on with `resume`, or name" if begun else "name"
        raise InputError(
            f"{path}: is not empty; an experiment is not written over another: {advice} a new "
            f"directory"
        )
    with disk_errors(str(path)):
        home.mkdir(parents=True, exist_ok=True)
    return home


def about(arguments: Sequence[str], plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return the command, its plan, the date, the host and facts about the machine."""
    return {
        "command": shlex.join(["batchsolve", *arguments]),
        "plan": dict(plan),
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "host": platform.node(),
        **machine(),
    }


def machine() -> dict[str, object]:
    """Return processor, cores, memory, system, package versions and the commit, if known.

    Examples
    --------
    >>> sorted(machine())
    ['commit', 'cores', 'memory GB', 'packages', 'processor', 'python', 'system']
    """
    info = Path("/proc/cpuinfo")
    models = [
        line.split(":", 1)[1].strip()
        for line in (info.read_text().splitlines() if info.exists() else [])
        if line.startswith("model name")
    ]
    return {
        "processor": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "memory GB": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: release for name in PACKAGES if (release := _version(name))},
        "commit": commit(),
    }


def commit() -> str | None:
    """Return the commit of the git checkout that this package runs from; None without a checkout.

    A plus sign follows if tracked files were changed since.
    """
    home = Path(__file__).resolve().parents[2]
    if not (home / ".git").exists():
        return None
    command = ["git", "-C", str(home), "describe", "--always", "--abbrev=40", "--dirty=+"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def begin_experiment(home: Path, about: dict[str, Any]) -> Experiment:
    """Write the description of an experiment without runs; check and return any other.

    Raises
    ------
    InputError
        If the experiment in the directory has another plan, or was made on another machine.
    """
    if not (home / "runs.csv").exists():
        write_whole(home / "machine.json", json.dumps(about, indent=1, ensure_ascii=False) + "\n")
        return Experiment([], [], about)
    before = read_experiment(str(home))
    then, now = _compared(before.about), _compared(json.loads(json.dumps(about)))
    for name in [*then, *now]:
        if then.get(name) != now.get(name):
            raise InputError(
                f"{home}: the experiment there has {name} = {then.get(name)!r}, this one "
                f"{now.get(name)!r}; go on with the same command and version on "
                f"the same machine, or name a new directory"
            )
    return before


def _compared(about: dict[str, Any]) -> dict[str, Any]:
    """Return what all runs of an experiment have in common."""
    return about.get("plan", {}) | {name: about.get(name) for name in SAME_MACHINE}


def write_experiment(home: Path, experiment: Experiment) -> None:
    """Write the tables of an experiment; a killed process leaves the old ones."""
    rows, log = runs_rows(experiment.runs), np.concatenate(experiment.logs)
    tasks = pa.table({name: log[name] for name in TASK_SCHEMA.names})
    with whole_file(home / "subproblems.parquet") as file:
        pq.write_table(tasks, file, compression="zstd")
    # last, because only runs that it lists count as made
    write_csv(home / "runs.csv", rows)


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write a table of rows, which have the same names."""
    with whole_file(path) as file:
        pacsv.write_csv(pa.Table.from_pylist(rows), file)


def runs_rows(runs: Sequence[MeasuredRun]) -> list[dict[str, Any]]:
    """Return runs as rows of a table; an automatic depth is ``auto``."""
    # a count may be too large for an integer column
    return [asdict(run) | {"split_depth": str(run.depth), "count": str(run.count)} for run in runs]


def read_experiment(path: str) -> Experiment:
    """Read what `write_experiment` wrote.

    Raises
    ------
    InputError
        If the directory holds no experiment, or a file of it is missing or damaged.
    """
    home = Path(folder_of("the folder of an experiment", path))
    if not (home / "machine.json").exists():
        raise InputError(f"{os.fspath(path)}: holds no experiment; machine.json is missing")
    with _opened(home / "machine.json") as file:
        facts = json.load(file)
        if not isinstance(facts, dict) or not isinstance(facts.get("plan", {}), dict):
            raise ValueError("it describes no experiment")
    if not (home / "runs.csv").exists():
        return Experiment([], [], facts)
    with _opened(home / "runs.csv") as file:
        runs = _read_runs(file)
    with _opened(home / "subproblems.parquet") as file:
        logs = _read_logs(file, runs)
    return Experiment(runs, logs, facts)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file of an experiment; raise one error that names it if it cannot be read."""
    try:
        with path.open("rb") as file:
            yield file
    except (OSError, ValueError, RecursionError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or first_line(error)
        raise InputError(
            f"{path}: is missing or damaged ({reason}); put back a copy of it, or measure again "
            f"into a new directory"
        ) from error


def _read_runs(file: BinaryIO) -> list[MeasuredRun]:
    kinds = get_type_hints(MeasuredRun)
    text = pacsv.ConvertOptions(column_types=dict.fromkeys(kinds, pa.string()))
    rows = pacsv.read_csv(file, convert_options=text)
    if rows.column_names != list(kinds) or not len(rows):
        raise ValueError("it is not a table of runs")
    runs: list[MeasuredRun] = []
    for line, row in enumerate(rows.to_pylist(), 2):
        with prefixed(f"line {line}", InputError, ValueError):
            runs.append(MeasuredRun(**{k: _value(k, row[k], kinds[k]) for k in kinds}))
            if runs[-1].run != line - 2:
                raise ValueError(f"run {line - 2} is missing or not in its place")
    return runs


def _read_logs(file: BinaryIO, runs: list[MeasuredRun]) -> list[TaskLog]:
    tasks = pq.read_table(file)
    if not tasks.schema.equals(TASK_SCHEMA):
        raise ValueError("it is not a table of tasks")
    log = np.empty(len(tasks), TASKS)
    for name in TASK_SCHEMA.names:
        log[name] = tasks[name]
    return [log[log["run"] == run.run] for run in runs]


def _value(name: str, text: str, kind: Any) -> Any:
    """Parse a field of a run."""
    if kind is str:
        return text
    if kind is bool and text in ("true", "false"):
        return text == "true"
    if kind == int | None and text == "auto":
        return None
    value = float(text) if kind is float else int(text)
    most = np.inf if name == "count" else 2**63
    if kind is bool or not 0 <= value < most or (not value and name in ("wall", "jobs")):
        raise ValueError(f"{name} is {text}")
    return value
