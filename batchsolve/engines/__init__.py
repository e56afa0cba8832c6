"""Search engines with one contract, looked up by name."""

from __future__ import annotations

from importlib import import_module

from batchsolve.engines.contract import (
    UNLIMITED,
    Engine,
    Outcome,
    Sharing,
    Task,
    check_support,
)
from batchsolve.engines.registry import Capabilities, engine_names, registered
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
    "registered",
]


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
        If no engine has that name, or the size is not valid.

    Examples
    --------
    >>> get_engine("memo:64")
    MemoisedCounting(megabytes=64)
    """
    known = registered(name)
    kind = getattr(import_module(known.module), known.kind)
    base, colon, size = name.partition(":")
    if not colon:
        return kind()
    if not (size.isascii() and size.isdecimal() and len(size) < 20):
        raise InputError(f"{name!r}: {size!r} is not a number of megabytes; write {base}:64")
    return kind(megabytes=int(size))
