"""The decorators of compiled kernels and their helpers.

A *kernel* is called from Python; its machine code is kept on disk (`batchsolve.kernel_files`). A
*helper* is a part of the kernels that call it. As long as a *light kernel* is not compiled, its
counterpart in NumPy runs, or if it has none, Python itself while the arrays are small.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from types import FrameType, FunctionType
from typing import Any

import numpy as np
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

from batchsolve.compilers import (
    HelperCompiler,
    KernelCompiler,
    PartCompiler,
    check_returned,
    dispatcher,
    helper_of,
    parts_replaced,
)
from batchsolve.interrupts import check_interrupt
from batchsolve.kernel_files import KernelFiles

LOG = logging.getLogger("batchsolve.compiling")
COMPILING = "compiling the kernels of batchsolve that this needs; they are kept for later runs …"
LIGHT_SIZE = 50_000  # of all arrays; Python takes some hundredths of a second for them
AWAITS = os.environ.get("BATCHSOLVE_AWAIT_KERNELS", "0") not in ("", "0")
"""True if whatever needs a kernel waits for it: nothing stands in for it meanwhile."""
LIGHT_SECONDS = 0.3 * (not AWAITS)  # of a kernel; compiling it takes as long or longer
AGAIN_SECONDS = 0.1  # between two looks for a light kernel
Light = Callable[..., Any]
SAID_SECONDS = 1.0  # of a kernel; others are not said one by one
LOOK_SECONDS = 0.001  # between two looks at a thread that may only load a kernel
_ONE_AT_A_TIME = threading.RLock()
_compiles = False  # the thread that holds that lock; otherwise it looks for a kernel, or loads it
_n_compiled = 0  # kernels that this process has compiled, or has waited for


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called; it runs without the interpreter's lock."""
    compiled = dispatcher(
        function, pipeline_class=KernelCompiler, nogil=True, no_cfunc_wrapper=True
    )
    files = KernelFiles(function, _CTRL_C.pass_on, _begin_to_compile)
    compile_: Any = compiled.compile

    def compile_alone(signature: Any) -> Any:
        with _one_at_a_time(), _CTRL_C.between_passes(), parts_replaced():
            begin, n_before = time.monotonic(), _n_compiled
            try:
                entry = compile_(signature)
            finally:
                files.end_turn()
            if _n_compiled > n_before:
                _say_how_long(function, time.monotonic() - begin)
            check_returned(compiled)
            result = list(compiled.overloads.values())[-1]
            for environment in result._find_referenced_environments():  # those of helpers, too
                result.codegen.set_env(environment.env_name, environment)
            return entry

    vars(compiled).update(_cache=files, compile=compile_alone)
    return compiled


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Wait until no other thread compiles or loads a kernel.

    Raises
    ------
    NotAtHandError
        In a block of `at_hand`, if one compiles.
    """
    global _compiles
    if _AT_HAND.get():
        while not _ONE_AT_A_TIME.acquire(timeout=LOOK_SECONDS):
            if _compiles:
                raise NotAtHandError
        _ONE_AT_A_TIME.release()  # numba's lock is taken first, as where numba calls a kernel
    with global_compiler_lock, _ONE_AT_A_TIME:
        before = _compiles  # a kernel that is compiled may call one that is loaded
        try:
            yield
        finally:
            _compiles = before


def light_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function as `kernel` does, but for small arrays only after some time in Python.

    Python keeps the types of elements in sums, where the compiler takes 64 bits: convert elements
    of fewer bits (``np.int64(data[x])``) unless their sums fit, or are to wrap around.
    """
    return _light(function, None)


def with_counterpart(counterpart: Light) -> Callable[[Light], Any]:
    """Return a decorator as `light_kernel`, for a function that NumPy can do as well.

    `counterpart` does the same, to arrays of any size.
    """
    return partial(_light, counterpart=counterpart)


def _light(function: Light, counterpart: Light | None) -> Any:
    compiled: Any = kernel(function)
    vars(compiled)["_compile_for_args"] = _Light(compiled, counterpart)
    return compiled


class _Light:
    """The compiling of a light kernel: what numba calls when it has no code for some arguments."""

    def __init__(self, compiled: Any, counterpart: Light | None) -> None:
        self._function, self._compile = compiled.py_func, compiled._compile_for_args
        self.counterpart = counterpart
        self._seconds = 0.0  # spent in Python
        self._next_look = 0.0  # for the kernel on disk, which takes half a millisecond

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return the function to call."""
        is_small = self.counterpart is not None or _size_of(arguments) <= LIGHT_SIZE
        if self._seconds >= LIGHT_SECONDS or not is_small:
            return self._compile(*arguments, **named)
        if time.monotonic() < self._next_look:
            return self._run
        begin = time.thread_time()
        try:
            with at_hand():
                return self._compile(*arguments, **named)
        except NotAtHandError:
            self._seconds += time.thread_time() - begin
            self._next_look = time.monotonic() + AGAIN_SECONDS
            return self._run

    def _run(self, *arguments: Any, **named: Any) -> Any:
        begin = time.thread_time()
        with np.errstate(over="ignore"):  # integers are as in machine code
            found = (self.counterpart or _in_python(self._function))(*arguments, **named)
        self._seconds += time.thread_time() - begin
        return found


def _size_of(value: Any) -> int:
    """Return the number of elements of arrays."""
    if isinstance(value, tuple):
        return sum(map(_size_of, value))
    return value.size if isinstance(value, np.ndarray) else 1


@cache
def _in_python(function: Any) -> Any:
    """Return a function that calls the helpers of another in Python."""
    space = {
        name: _in_python(value.py_func) if isinstance(value, Dispatcher) else value
        for name, value in function.__globals__.items()
        if name in function.__code__.co_names or name == "__builtins__"
    }
    return FunctionType(function.__code__, space, function.__name__, function.__defaults__)


def helper(function: Callable[..., Any]) -> Any:
    """Compile a function as a part of every kernel that calls it; Python cannot call it."""
    return helper_of(function, HelperCompiler)


def part(function: Callable[..., Any]) -> Any:
    """Compile a function as `helper` does, but leave most of optimising to its kernels.

    Compiling takes two thirds of the time. Kernels are slower if their innermost loops call parts.
    """
    return helper_of(function, PartCompiler)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function into every kernel that calls it, where the call would cost too much.

    LLVM inlines it. With ``inline="always"`` numba would, and would infer types anew at every call:
    a search then took twice as long to compile.
    """
    return helper_of(function, HelperCompiler, forceinline=True)


class NotAtHandError(Exception):
    """A kernel has to be compiled."""


_AT_HAND: ContextVar[bool] = ContextVar("at_hand", default=False)


@contextmanager
def at_hand() -> Iterator[None]:
    """Raise `NotAtHandError` in the block where a kernel would be compiled, or awaited."""
    token = _AT_HAND.set(True)
    try:
        yield
    finally:
        _AT_HAND.reset(token)


def _begin_to_compile() -> None:
    """Log once that the first call takes long; workers log nothing."""
    global _compiles, _n_compiled
    if _AT_HAND.get():
        raise NotAtHandError
    _compiles = True
    if _n_compiled == 0 and multiprocessing.parent_process() is None:
        LOG.warning(COMPILING)
    _n_compiled += 1


def _say_how_long(function: Callable[..., Any], seconds: float) -> None:
    """Log how long a kernel was awaited."""
    if seconds >= SAID_SECONDS and multiprocessing.parent_process() is None:
        name = function.__module__.removeprefix("batchsolve.")
        LOG.warning("… compiled %s in %.1f s", name, seconds)


class _BeforeEach(event.Listener):
    """A listener to numba's events that calls a function when one begins."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call

    def on_start(self, event: Any) -> None:
        """Call the function."""
        self._call()

    def on_end(self, event: Any) -> None:
        """Do nothing."""


class _CtrlC:
    """A guard that holds Ctrl-C back while numba works, because numba's callbacks lose exceptions.

    It is raised before the next pass of the compiler. A second Ctrl-C is not held back, nor is
    anything in other threads, which receive no signals.
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

    @contextmanager
    def between_passes(self) -> Iterator[None]:
        """Hold Ctrl-C back until the next pass of the compiler begins, or all are done."""
        with self, event.install_listener("numba:run_pass", _BeforeEach(self.pass_on)):
            yield

    def pass_on(self) -> None:
        """Raise a Ctrl-C that was held back, or another interrupt, here where it is not lost."""
        check_interrupt()
        if self._is_held and threading.current_thread() is threading.main_thread():
            self._is_held = False
            self._hear(signal.SIGINT, None)


_CTRL_C = _CtrlC()
