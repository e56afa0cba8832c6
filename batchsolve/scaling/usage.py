"""Processor time and memory used by this process and those that it started.

Worker processes outlive a run, and psutil tells how much they used. Without psutil, only this
process and children that have ended are counted.
"""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

_PROC = Path("/proc")
_RU_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


def sees_processes() -> bool:
    """Return True if the use of other processes is counted."""
    return find_spec("psutil") is not None


def cpu_seconds() -> float:
    """Return the processor time of this process, its ended children and its living descendants."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, kinds))
    if not sees_processes():
        return used
    import psutil

    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it has ended
            times = process.cpu_times()
            used += times.user + times.system + times.children_user + times.children_system
    return used


def forget_peak() -> None:
    """Reset the peak of memory, where the system can."""
    for pid in [os.getpid(), *_descendants()]:
        with suppress(OSError):  # not every system has this file or lets every user write to it
            (_PROC / str(pid) / "clear_refs").write_text("5")


def peak_bytes(workers: set[int]) -> int:
    """Return the sum of the memory peaks of this process and of its workers, in bytes.

    Pages that processes share are counted once for each.
    """
    others = workers & _descendants()
    peaks = [_peak(pid) for pid in [os.getpid(), *others]]
    if peaks[0] is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RU_MAXRSS_UNIT
    return sum(peak or 0 for peak in peaks)


def _peak(pid: int) -> int | None:
    """Return the peak of a process, which psutil does not know; None if it cannot be read."""
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return None
    sizes = [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")]
    return sizes[0] if sizes else None


def _descendants() -> set[int]:
    """Return the processes below this one."""
    if not sees_processes():
        return set()
    import psutil

    return {process.pid for process in psutil.Process().children(recursive=True)}
