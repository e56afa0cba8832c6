"""Search engines behind one contract, and the registry that names them."""

from __future__ import annotations

from importlib import import_module

from batchsolve.engines.contract import (
    UNLIMITED,
    Capabilities,
    Engine,
    Outcome,
    Task,
    check_bounds,
    check_support,
)
from batchsolve.errors import InputError

__all__ = [
    "UNLIMITED",
    "Capabilities",
    "Engine",
    "Outcome",
    "Task",
    "check_bounds",
    "check_support",
    "engine_names",
    "get_engine",
]

_ENGINES = {
    "dlx": ("batchsolve.engines.dlx", "DancingLinks"),
    "algorithm-x": ("batchsolve.engines.algorithm_x", "AlgorithmX"),
    "backtracking": ("batchsolve.engines.backtracking", "Backtracking"),
    "sat": ("batchsolve.engines.sat", "Sat"),
}


def engine_names() -> list[str]:
    """Return the names of all engines, also of those that need a module not installed here."""
    return list(_ENGINES)


def get_engine(name: str) -> Engine:
    """Return the engine of that name; no other is imported.

    Raises
    ------
    InputError
        If there is none.
    """
    if name not in _ENGINES:
        raise InputError(f"no engine is called {name!r}; there is: {', '.join(_ENGINES)}")
    module, engine = _ENGINES[name]
    return getattr(import_module(module), engine)()
