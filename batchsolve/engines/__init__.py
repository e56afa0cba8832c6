"""Search engines behind one contract, and the registry that names them."""

from __future__ import annotations

from importlib import import_module

from batchsolve.engines.contract import (
    UNLIMITED,
    Capabilities,
    Engine,
    Outcome,
    Sharing,
    Task,
    check_support,
)
from batchsolve.errors import InputError

__all__ = [
    "UNLIMITED",
    "Capabilities",
    "Engine",
    "Outcome",
    "Sharing",
    "Task",
    "check_support",
    "engine_names",
    "get_engine",
]

_ENGINES = {
    "dlx": ("batchsolve.engines.dlx", "DancingLinks"),
    "lanes": ("batchsolve.engines.lanes", "SudokuLanes"),
    "bits": ("batchsolve.engines.bits", "BitParallel"),
    "cells": ("batchsolve.engines.cells", "Cells"),
    "memo": ("batchsolve.engines.memo", "MemoisedCounting"),
    "algorithm-x": ("batchsolve.engines.algorithm_x", "AlgorithmX"),
    "backtracking": ("batchsolve.engines.backtracking", "Backtracking"),
    "sat": ("batchsolve.engines.sat", "Sat"),
}
_SIZED = {"memo"}


def engine_names() -> list[str]:
    """Return the names of all engines, also of those that need a module not installed here."""
    return list(_ENGINES)


def get_engine(name: str) -> Engine:
    """Return the engine of that name; no other is imported.

    Parameters
    ----------
    name : str
        One of `engine_names`; ``memo`` may be followed by the size of its tables in megabytes:
        ``memo:64``.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> get_engine("memo:64")
    MemoisedCounting(megabytes=64)
    """
    base, colon, size = name.partition(":")
    if base not in _ENGINES or (colon and base not in _SIZED):
        raise InputError(f"no engine is called {name!r}; there is: {', '.join(_ENGINES)}")
    module, engine = _ENGINES[base]
    kind = getattr(import_module(module), engine)
    if not colon:
        return kind()
    if not (size.isascii() and size.isdecimal() and len(size) < 20):
        raise InputError(f"{name!r}: {size!r} is no number of megabytes; write {base}:64")
    return kind(megabytes=int(size))
