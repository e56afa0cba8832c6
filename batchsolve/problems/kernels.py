"""Compiled kernels, kept on disk until a source file that may be part of them changes.

Numba keeps the machine code of a function on disk, and compiles the function again when the file
that it stands in has changed. But helpers from other files are part of that machine code too:
inlined, linked, or emitted by an ``@intrinsic``. A `kernel` is also compiled again when any source
file has changed in its own folder of this package, or in one that its module has compiled helpers
from.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.runtime import rtsys

_PACKAGE = Path(__file__).parent.parent
_NOT_FOR_PYTHON: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called; it runs without the interpreter's lock.

    Its machine code is kept beside the source files, or where that is not allowed, in a folder of
    the user's.
    """
    compiled: Any = njit(cache=True, nogil=True)(function)
    # Numba has no public way to say what a cache depends on. If a version of it has other names
    # for these attributes, the cache depends on the function's own file alone.
    with suppress(AttributeError):
        file = compiled._cache._cache_file
        file._source_stamp = (file._source_stamp, *map(_stamp, _folders(function)))
    with suppress(AttributeError):
        _load_fast(compiled._cache)
    return compiled


def helper(function: Callable[..., Any]) -> Any:
    """Compile a function as a part of every kernel that calls it; Python cannot.

    It has none of what numba makes so that Python can call it, which is half of the compiling, and
    no machine code of its own on disk.
    """
    return njit(**_NOT_FOR_PYTHON)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function into every kernel that calls it, where the call would cost too much.

    LLVM does it. With ``inline="always"`` numba would do it, and has to infer types anew at every
    place, for which a search took twice as long to compile.
    """
    return njit(forceinline=True, **_NOT_FOR_PYTHON)(function)


def _load_fast(cache: Any) -> None:
    """Have a cache load machine code without all that numba needs to compile, a tenth of a second.

    Numba fills its registries before it loads a function; its compiler does so again by itself.
    """
    load, guard = cache._load_overload, cache._guard_against_spurious_io_errors

    def load_overload(signature: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)  # reference counts of arrays
        with guard():
            return load(signature, target_context)

    cache.load_overload = load_overload


def _folders(function: Callable[..., Any]) -> list[Path]:
    """Return the folders of the package that a function and its helpers stand in."""
    known = vars(sys.modules[function.__module__]).values()
    helpers = [value.py_func for value in known if hasattr(value, "py_func")]
    modules = {helper.__module__ for helper in [function, *helpers]}
    return sorted({_PACKAGE.joinpath(*module.split(".")[1:2]) for module in modules})


@cache
def _stamp(folder: Path) -> str:
    """Return a hash of the source files in a folder and those below it."""
    digest = hashlib.sha256()
    for path, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                with open(os.path.join(path, name), "rb") as file:
                    digest.update(name.encode() + hashlib.sha256(file.read()).digest())
    return digest.hexdigest()
