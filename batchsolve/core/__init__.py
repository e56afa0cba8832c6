"""The native core: C++ compiled when the package is built, for several levels of processor.

`native` is the module of the best level that the processor has. ``BATCHSOLVE_LEVEL`` chooses
another: ``baseline``, ``avx2`` or ``avx512``; results do not depend on it.
"""

import os
from importlib import import_module
from typing import Any


def _chosen_level() -> str:
    """Return the level that the environment names, or the best that the processor has."""
    level = os.environ.get("BATCHSOLVE_LEVEL", "")
    return level or str(import_module("batchsolve.core._baseline").best_level())


LEVEL = _chosen_level()
native: Any = import_module(f"batchsolve.core._{LEVEL}")
