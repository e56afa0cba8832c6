"""A description of the machine, the versions and the commit behind a measurement."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("batchsolve", "numpy", "numba", "joblib", "pyarrow", "matplotlib")


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
        "memory GB": round(_memory_bytes() / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "commit": commit(),
    }


def _memory_bytes() -> int:
    if find_spec("psutil") is None:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    import psutil

    return int(psutil.virtual_memory().total)


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
