"""Search engines behind one contract, and the registry that names them."""

from __future__ import annotations

from batchsolve.engines.contract import UNLIMITED, Capabilities, Engine, Outcome, Task
from batchsolve.errors import InputError

__all__ = ["UNLIMITED", "Capabilities", "Engine", "Outcome", "Task", "engine_names", "get_engine"]


def _load() -> dict[str, Engine]:
    from batchsolve.engines.dlx import DancingLinks

    return {engine.name: engine for engine in (DancingLinks(),)}


def engine_names() -> list[str]:
    """Return the names of all engines."""
    return list(_load())


def get_engine(name: str) -> Engine:
    """Return the engine of that name.

    Raises
    ------
    InputError
        If there is none.
    """
    engines = _load()
    if name not in engines:
        raise InputError(f"no engine is called {name!r}; there is: {', '.join(engines)}")
    return engines[name]
