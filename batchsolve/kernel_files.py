"""The machine code of kernels, kept on disk.

A file holds a kernel for one signature. Its name has a hash of all that the code depends on: the
source files and the constants that the kernel reaches, the types of its arguments, the versions of
Python and the compiler, and the processor. Hence a file is never out of date, and other
environments and clones of the package find it. A file that is damaged is written anew. If a source
file has changed since the process began, its code is not that of the file, and is not kept.

When several processes need a kernel that is not on disk, as workers that start together do, one of
them compiles it and the others wait.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.machinery
import logging
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config, sigutils
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

LOG = logging.getLogger("batchsolve.compiling")
CHECKS_BOUNDS = bool(getattr(config, "BOUNDSCHECK", None))
"""True if kernels check indices, those of vectors too: ``NUMBA_BOUNDSCHECK=1``, for tests."""
VERSIONS = (
    importlib.machinery.EXTENSION_SUFFIXES[0],  # of Python and the system
    numba.__version__,
    llvmlite.__version__,
    np.__version__,
)
MOST_SECONDS = 120.0  # how long to wait for another process, which may have been stopped
LOOK_SECONDS = 0.02  # between two looks at it
DAY = 86_400.0
MOST_DAYS = 60  # that a kernel is kept without being loaded
_BEGUN = time.time()
COMPILERS = ("kernels.py", "compilers.py", "lowering.py")  # every kernel depends on them
_SUFFIX = ".kernel"


def folders() -> list[Path]:
    """Return the folders where kernels may be kept, the best first."""
    chosen = getattr(config, "CACHE_DIR", "")  # of `NUMBA_CACHE_DIR`
    if chosen:
        return [Path(chosen) / "batchsolve"]
    of_user = AppDirs("batchsolve", appauthor=False).user_cache_dir
    return [Path(of_user) / "kernels", Path(__file__).parent / "__pycache__"]


class KernelFiles(NullCache):
    """The files of a kernel: what numba calls the cache of a function.

    Parameters
    ----------
    function : function
        The kernel, in Python.
    pause : callable
        Called while another process compiles.
    begin : callable
        Called before this process compiles, or waits for another that does.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        pause: Callable[[], None],
        begin: Callable[[], None],
    ) -> None:
        self._function, self._begin = function, begin
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._turn = Turn(f"{self._name}.lock", pause)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel for a signature, or None: then it is this process's turn to compile.

        Numba would fill its registries first, which takes a tenth of a second; its compiler fills
        them by itself.
        """
        rtsys.initialize(target_context)  # reference counts of arrays
        name = self._file_name(sig, target_context)
        found = _load(name, target_context)
        if found is None:
            self._begin()
            if self._turn.wait():
                found = _load(name, target_context)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel, if it can be and a folder has room."""
        if data.lifted or data.library.has_dynamic_globals:
            return
        content = dumps(data._reduce())
        content = _digest(content) + content
        name = self._file_name(sig, data.target_context)
        if name is None:
            return
        failures = []
        for folder in folders():
            try:
                _write(folder, name, content)
            except OSError as failure:
                failures.append(str(failure))
            else:
                _remove_unused(folder)
                return
        LOG.warning("a kernel cannot be kept for later runs: %s", "; ".join(failures))

    def end_turn(self) -> None:
        """Let other processes compile."""
        self._turn.end()

    def _file_name(self, sig: Any, target_context: Any) -> str | None:
        """Return the name of the file of a signature; None if it cannot be told."""
        arguments, _ = sigutils.normalize_signature(sig)
        processor = target_context.codegen().magic_tuple()
        files, constants = reached_by(self._function)
        try:
            if any(path.stat().st_ctime > _BEGUN for path in files):
                return None
            sources = sorted(map(_hash_of_file, files))
        except OSError:
            return None
        types = list(map(_spelled, arguments))
        key = self._name, VERSIONS, CHECKS_BOUNDS, processor, types, sources, sorted(constants)
        return f"{self._name}-{_digest(repr(key).encode()).hex()[:32]}{_SUFFIX}"


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _load(name: str | None, target_context: Any) -> Any:
    """Return a kernel from the first folder that has it undamaged; None if there is none."""
    for path in (folder / name for folder in folders() if name):
        with suppress(Exception):  # whatever is wrong with the file, the kernel can be compiled
            content = path.read_bytes()
            if _digest(content[32:]) != content[:32]:
                continue
            if time.time() - path.stat().st_mtime > DAY:
                with suppress(OSError):  # a folder that cannot be written to
                    os.utime(path)
            return CompileResult._rebuild(target_context, *pickle.loads(content[32:]))
    return None


def _write(folder: Path, name: str, content: bytes) -> None:
    """Write a file that others see complete or not at all; raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    number, partial = tempfile.mkstemp(dir=folder, prefix=name)
    try:
        with open(number, "wb") as file:
            file.write(content)
        os.chmod(partial, 0o644)
        os.replace(partial, folder / name)
    except BaseException:
        os.unlink(partial)
        raise


def _remove_unused(folder: Path) -> None:
    """Remove the kernels that were not loaded for long, and what killed processes have left."""
    for path in folder.glob(f"*{_SUFFIX}*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > MOST_DAYS * DAY:
                path.unlink()


def _spelled(kind: Any) -> str:
    """Return a type in words, with the fields of named tuples."""
    parts = "".join(map(_spelled, getattr(kind, "types", ())))
    return f"{kind}{getattr(kind, 'fields', '')}{parts}"


# ---- what a kernel depends on ---------------------------------------------------------------


def reached_by(function: Callable[..., Any]) -> tuple[set[Path], set[str]]:
    """Return the source files and the constants that a compiled function depends on.

    They are those that its code names, and the code of all that it names, within its package. An
    ``@overload`` stands in the file of the function that it is of.
    """
    package = function.__module__.partition(".")[0] + "."
    waiting: list[tuple[str, Any]] = [(function.__name__, function)]
    files, constants, seen = {Path(__file__).with_name(name) for name in COMPILERS}, set(), set()
    while waiting:
        name, each = waiting.pop()
        each = _in_python(each)
        if isinstance(each, FunctionType | type):
            if each not in seen and f"{each.__module__}.".startswith(package):
                files.add(Path(str(sys.modules[each.__module__].__file__)))
                waiting += _named_in(each, package)
            seen.add(each)
            constants.add(f"{name}={each.__module__}.{each.__qualname__}")
        elif isinstance(each, tuple | list | dict):
            waiting += (
                (name, part) for part in (each.values() if isinstance(each, dict) else each)
            )
        elif not isinstance(each, ModuleType):
            value = each.tobytes() if isinstance(each, np.ndarray) else each
            constants.add(f"{name}={value!r}".partition(" at 0x")[0])
    return files, constants


def _in_python(value: Any) -> Any:
    """Return the Python function in a compiled or otherwise decorated one; other values as is."""
    if not isinstance(value, ModuleType | type):
        for inner in ("py_func", "_defn", "__wrapped__", "__func__", "fget"):
            if hasattr(value, inner):
                return _in_python(getattr(value, inner))
    return value


def _named_in(value: Any, package: str) -> Iterator[tuple[str, Any]]:
    """Yield the names and values that a function or a class uses."""
    if isinstance(value, type):
        yield from vars(value).items()
        yield from ((base.__name__, base) for base in value.__bases__)
        return
    names, space = set(_names_in(value.__code__)), value.__globals__
    yield from ((name, space[name]) for name in names & space.keys())
    for name in names & space.keys():
        if f"{getattr(space[name], '__name__', '')}.".startswith(package):
            inner = vars(space[name])
            yield from ((each, inner[each]) for each in names & inner.keys())
    for inside in [*(value.__closure__ or ()), *(value.__defaults__ or ())]:
        yield value.__name__, getattr(inside, "cell_contents", inside)


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


@cache
def _hash_of_file(path: Path) -> str:
    return _digest(path.read_bytes()).hex()


# ---- one process compiles, the others wait ----------------------------------------------------


def open_lock(name: str) -> int:
    """Open a lock file beside kernels, in the best folder where that is possible.

    Raises
    ------
    OSError
        If no folder can hold it.
    """
    why = OSError("there is no folder for kernels")
    for folder in folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            why = error
    raise why


class Turn:
    """The right to compile a function, which one process has at a time.

    Parameters
    ----------
    name : str
        The name of a lock file.
    pause : callable
        Called between two looks at it.
    """

    def __init__(self, name: str, pause: Callable[[], None]) -> None:
        self._name, self._pause = name, pause
        self._file: int | None = None

    def wait(self) -> bool:
        """Wait for the turn, or until `MOST_SECONDS` have passed.

        Returns
        -------
        bool
            True if another process may have compiled the function meanwhile.
        """
        if self._file is not None:
            return False
        with suppress(OSError):  # no file or no lock is possible there: go without a turn
            self._file = open_lock(self._name)
            end = time.monotonic() + MOST_SECONDS
            while time.monotonic() < end:
                with suppress(BlockingIOError):
                    fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                self._pause()
                time.sleep(LOOK_SECONDS)
        return self._file is not None

    def end(self) -> None:
        """End the turn, if it has come."""
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)
