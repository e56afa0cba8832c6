"""What this process and those that it started have used: processor time and memory.

Worker processes live on after a run, so their use is read from ``/proc`` where there is one;
elsewhere only this process and children that have ended are counted.
"""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_RU_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


def cpu_seconds() -> float:
    """Return the processor time of this process, its ended children and its living descendants."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, kinds))
    ticks = os.sysconf("SC_CLK_TCK")
    for fields in _descendants().values():
        used += sum(map(int, fields[11:15])) / ticks  # utime, stime, and those of ended children
    return used


def forget_peak() -> None:
    """Begin anew to watch for the peak of memory, where the system can."""
    for pid in [os.getpid(), *_descendants()]:
        with suppress(OSError):  # not every system has it, nor lets everybody write to it
            (_PROC / str(pid) / "clear_refs").write_text("5")


def peak_bytes(workers: set[int]) -> int:
    """Return the peak of memory of this process and those of its descendants that are workers.

    Pages that processes share are counted once for each.
    """
    others = workers & set(_descendants())
    peaks = [_peak(pid) for pid in [os.getpid(), *others]]
    if peaks[0] is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RU_MAXRSS_UNIT
    return sum(peak or 0 for peak in peaks)


def _peak(pid: int) -> int | None:
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return None
    sizes = [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")]
    return sizes[0] if sizes else None


def _descendants() -> dict[int, list[str]]:
    """Return the processes below this one, with the fields of ``/proc/PID/stat`` from the state."""
    stats = {}
    for path in _PROC.glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:
            continue  # it has ended
        # the name of the command, in brackets, may hold anything
        stats[int(path.parent.name)] = text.rpartition(")")[2].split()
    children: dict[int, list[int]] = {}
    for pid, fields in stats.items():
        children.setdefault(int(fields[1]), []).append(pid)
    found, waiting = {}, [os.getpid()]
    while waiting:
        for pid in children.get(waiting.pop(), []):
            found[pid] = stats[pid]
            waiting.append(pid)
    return found
