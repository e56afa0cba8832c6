"""The native core: C++ compiled when the package is built, for several levels of processor.

`native` is the module of the best level that was built and the processor has. ``BATCHSOLVE_LEVEL``
chooses another: ``baseline``, ``avx2`` or ``avx512``; results do not depend on it.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

NEEDS = {  # level -> what the processor must have; the best level comes first
    "avx512": {
        *("avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_vpopcntdq", "avx512_bitalg"),
        *("avx2", "bmi1", "bmi2", "abm"),
    },
    "avx2": {"avx2", "bmi1", "bmi2", "abm"},
}


def best_level() -> str:
    """Return the best level that was built and the processor and the system support."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            first = file.read(1 << 13)  # the lines of one processor
    except OSError:
        return "baseline"
    flags = next((line for line in first.splitlines() if line.startswith("flags")), "").split()
    fitting = (level for level, needs in NEEDS.items() if needs <= {*flags})
    return next((level for level in fitting if find_spec(f"{__name__}._{level}")), "baseline")


def _load() -> tuple[str, Any]:
    """Return the level that is chosen, and its module."""
    level = os.environ.get("BATCHSOLVE_LEVEL") or best_level()
    try:
        return level, import_module(f"batchsolve.core._{level}")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"the native core for the level {level!r} is not in {os.path.dirname(__file__)}: the "
            f"levels are baseline, avx2 and avx512 (BATCHSOLVE_LEVEL), and the package must be "
            f"installed (pip install .), and not be hidden by its sources: start Python elsewhere"
        ) from error


LEVEL, native = _load()
