"""Compiled kernels, kept on disk until a source file that may be part of them changes.

Numba keeps the machine code of a function on disk, and compiles the function again when the file
that defines it has changed. But helpers from other files are part of that machine code too:
inlined, linked, or emitted by an ``@intrinsic``. A `kernel` is also compiled again when any source
file has changed in its own folder of this package, or in one that its module has compiled helpers
from.

When several processes need a kernel that is not on disk yet, as workers that start together do,
one compiles it and the others wait.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from numba import config, njit, types
from numba.core import boxing, pythonapi
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import rtsys

LOG = logging.getLogger("batchsolve.compiling")
COMPILING = "compiling the kernels of batchsolve that this needs; they are kept for later runs …"
_has_said = False
_PACKAGE = Path(__file__).parent
CHECKS_BOUNDS = bool(getattr(config, "BOUNDSCHECK", None))
"""True if kernels check indices, those of vectors too: ``NUMBA_BOUNDSCHECK=1``, for tests."""

MOST_SECONDS = 120.0  # how long to wait for another process, which may have been stopped
LOOK_SECONDS = 0.02  # between two looks at it
_NOT_FOR_PYTHON: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called; it runs without the interpreter's lock.

    Its machine code is kept beside the source files or, where that is not allowed, in the user's
    cache folder.
    """
    compiled: Any = njit(cache=True, nogil=True)(function)
    # Numba has no public way to say what a cache depends on. If a version of it has other names
    # for these attributes, the cache depends on the function's own file alone.
    with suppress(AttributeError):
        file = compiled._cache._cache_file
        # otherwise code without checks would be loaded in place of code with them
        stamps = CHECKS_BOUNDS, _stamp(Path(__file__)), *map(_stamp, _folders(function))
        file._source_stamp = (file._source_stamp, *stamps)
    with suppress(AttributeError):
        _share_on_disk(compiled)
    return compiled


def helper(function: Callable[..., Any]) -> Any:
    """Compile a function as a part of every kernel that calls it; Python cannot call it.

    It has no wrappers for Python, which would take half of the time to compile, and no machine code
    of its own on disk.
    """
    return njit(**_NOT_FOR_PYTHON)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function into every kernel that calls it, where the call would cost too much.

    LLVM inlines it. With ``inline="always"`` numba would, and would infer types anew at every call:
    a search then took twice as long to compile.
    """
    return njit(forceinline=True, **_NOT_FOR_PYTHON)(function)


def _share_on_disk(compiled: Any) -> None:
    """Make a function load its machine code fast, and compile it in one process at a time.

    Numba fills its registries before it loads a function, which takes a tenth of a second and is
    left out here; its compiler fills them by itself. And numba reads and writes its index of the
    files on disk as a whole: if two processes add to it at once, one of the entries is lost.
    """
    cache, compile_ = compiled._cache, compiled.compile
    load, guard = cache._load_overload, cache._guard_against_spurious_io_errors
    file = cache._cache_file
    load_index, turn = file._load_index, _Turn(file._index_path + ".lock")

    def load_readable_index() -> Any:
        try:
            return load_index()
        except (ImportError, AttributeError, EOFError, pickle.UnpicklingError):
            return {}  # another version wrote it, with types from modules that are gone

    def load_overload(signature: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)  # reference counts of arrays
        with guard():
            found = load(signature, target_context)
            if found is None and turn.wait():
                found = load(signature, target_context)
            if found is None:
                _say_that_it_compiles()
            return found

    def compile_alone(signature: Any) -> Any:
        with global_compiler_lock, _CTRL_C, _arrays_without_python():  # one thread at a time
            try:
                entry = compile_(signature)
            finally:
                turn.end()
            _check_returned(compiled)
            return entry

    file._load_index = load_readable_index
    cache.load_overload, compiled.compile = load_overload, compile_alone


@contextmanager
def _arrays_without_python() -> Iterator[None]:
    """Make compiled functions return arrays without calling Python.

    Numba unpickles the class of each array that it returns. That runs Python, which raises a Ctrl-C
    that came meanwhile in the middle of making a result: it is lost, or the process crashes. Here
    the class is a constant of the compiled function, as the array's dtype is in numba.
    """
    boxers = getattr(getattr(pythonapi, "_boxers", None), "functions", {})  # not public
    before = boxers.get(types.Array)
    boxers[types.Array] = _box_array
    try:
        yield
    finally:
        boxers[types.Array] = before


def _box_array(kind: Any, value: Any, c: Any) -> Any:
    array_class = c.env_manager.read_const(c.env_manager.add_const(kind.box_type))
    c.pyapi.unserialize = lambda _: array_class
    try:
        return boxing.box_array(kind, value, c)
    finally:
        del c.pyapi.unserialize


def _check_returned(compiled: Any) -> None:
    """Raise `TypeError` if a kernel returns a named tuple; return ``named[:]``, a plain one.

    See `_arrays_without_python`.
    """
    waiting: list[Any] = [each.signature.return_type for each in compiled.overloads.values()]
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, types.BaseNamedTuple):
            raise TypeError(f"{compiled.py_func.__qualname__} returns {kind}; return a plain tuple")
        waiting += getattr(kind, "types", ())  # of a tuple


def _say_that_it_compiles() -> None:
    """Log once that the first call takes long; workers log nothing."""
    global _has_said
    if not _has_said and multiprocessing.parent_process() is None:
        LOG.warning(COMPILING)
    _has_said = True


class _CtrlC:
    """A guard that holds Ctrl-C back while numba works, because numba's callbacks lose exceptions.

    A second Ctrl-C is not held back, nor is anything in other threads, which receive no signals.
    """

    def __init__(self) -> None:
        self._depth = 0  # because a kernel compiles those that it calls
        self._hear: Any = None  # the handler of Ctrl-C outside
        self._is_held = False

    def _note(self, signum: int, frame: FrameType | None) -> None:
        if self._is_held:
            self._hear(signum, frame)
        self._is_held = True

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if self._depth == 0:
            self._hear = signal.getsignal(signal.SIGINT)
            if callable(self._hear):  # neither ignored nor unknown to Python
                signal.signal(signal.SIGINT, self._note)
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth -= 1
        if self._depth == 0:
            if callable(self._hear):
                signal.signal(signal.SIGINT, self._hear)
            self.pass_on()

    def pass_on(self) -> None:
        """Raise a Ctrl-C that was held back, here where it is not lost."""
        if self._is_held and threading.current_thread() is threading.main_thread():
            self._is_held = False
            self._hear(signal.SIGINT, None)


_CTRL_C = _CtrlC()


class _Turn:
    """The right to compile a function, which one process has at a time."""

    def __init__(self, path: str) -> None:
        self._path = path
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
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            end = time.monotonic() + MOST_SECONDS
            while time.monotonic() < end:
                with suppress(BlockingIOError):
                    fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                _CTRL_C.pass_on()
                time.sleep(LOOK_SECONDS)
        return self._file is not None

    def end(self) -> None:
        """End the turn, if it has come."""
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)


def _folders(function: Callable[..., Any]) -> list[Path]:
    """Return the folders of the package that hold a function and its helpers."""
    known = vars(sys.modules[function.__module__]).values()
    helpers = [value.py_func for value in known if hasattr(value, "py_func")]
    modules = {helper.__module__ for helper in [function, *helpers]}
    return sorted({_PACKAGE.joinpath(*module.split(".")[1:2]) for module in modules})


@cache
def _stamp(folder: Path) -> str:
    """Return a hash of a source file, or of those in a folder and below it."""
    digest = hashlib.sha256(folder.read_bytes() if folder.is_file() else b"")
    for path, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                with open(os.path.join(path, name), "rb") as file:
                    digest.update(name.encode() + hashlib.sha256(file.read()).digest())
    return digest.hexdigest()
