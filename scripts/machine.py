"""Describe the machine and the versions that a measurement was made with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path


def machine() -> dict[str, object]:
    """Return processor, cores, memory, system and package versions."""
    info = Path("/proc/cpuinfo")
    models = [
        line.split(":", 1)[1].strip()
        for line in (info.read_text().splitlines() if info.exists() else [])
        if line.startswith("model name")
    ]
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "memory GB": round(pages * size / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {
            name: version(name) for name in ("batchsolve", "numpy", "numba", "joblib", "pyarrow")
        },
    }


if __name__ == "__main__":
    print(machine())
