"""The machine of a measurement, processor time and memory.

Worker processes outlive a run; psutil knows their use. Without psutil, only this process and ended
children are counted.
"""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_PROC = Path("/proc")
_RU_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024
PACKAGES = ("batchsolve", "numpy", "joblib", "pyarrow", "matplotlib")


def machine() -> dict[str, object]:
    """Return processor, cores, memory, system, package versions and the commit, if known.

    Examples
    --------
    >>> sorted(machine())
    ['commit', 'cores', 'memory GB', 'packages', 'processor', 'python', 'system']
    """
    info = _PROC / "cpuinfo"
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
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
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
    if find_spec("psutil") is None:
        return []
    import psutil

    return psutil.Process().children(recursive=True)
