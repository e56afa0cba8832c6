"""Ctrl-C, SIGTERM and the time limit of a command."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType

from batchsolve.core.interrupts import TimeIsUp, asking
from batchsolve.settings import SearchSettings

AGAIN_SECONDS = 0.5
MAX_SECONDS = 1e6  # of a timer of the system; no problem takes longer to read


class Terminated(KeyboardInterrupt):
    """SIGTERM: it ends a command as Ctrl-C does, so that the command stops its workers."""


@contextmanager
def interrupts() -> Iterator[None]:
    """Have `check_interrupt` raise Ctrl-C or SIGTERM again if a library has swallowed it.

    pyarrow swallows Ctrl-C while it looks for pandas, which it does whenever it converts values.
    Dask runs a callback while garbage is collected, which cannot raise. There, the first Ctrl-C
    waits for the check, and a second one is raised at once, although it may be lost. An exception
    after Ctrl-C becomes Ctrl-C, because compiled code may raise another one instead. The end of the
    block is a check as well.
    """
    pressed: type[KeyboardInterrupt] | None = None

    def note(signum: int, frame: FrameType | None) -> None:
        nonlocal pressed
        again, pressed = pressed, _RAISED[signum]
        if again or not _is_in_callback(frame):
            raise pressed

    def check() -> None:
        if pressed:
            raise pressed

    before = {signum: signal.getsignal(signum) for signum in _RAISED}
    heard = [signum for signum, handler in before.items() if handler not in (signal.SIG_IGN, None)]
    for signum in heard:  # the others are ignored, or handled outside of Python
        signal.signal(signum, note)
    try:
        with _unprinted(KeyboardInterrupt), asking(check):
            yield
        check()
    except Exception as error:
        if not pressed:
            raise
        interrupt = pressed()
        for line in _notes_of(error):
            interrupt.add_note(line)
        raise interrupt from error
    finally:
        for signum in heard:
            signal.signal(signum, before[signum])


@contextmanager
def _unprinted(kind: type[BaseException]) -> Iterator[None]:
    """Do not print exceptions of a kind that Python swallows, as it does while it frees objects."""

    def swallowed(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, kind):
            print_swallowed(unraisable)

    print_swallowed, sys.unraisablehook = sys.unraisablehook, swallowed
    try:
        yield
    finally:
        sys.unraisablehook = print_swallowed


def _notes_of(error: BaseException | None) -> Iterator[str]:
    """Yield the notes of an error, and of those that it followed.

    A cluster that is closed after an interrupt may raise another error.
    """
    while error is not None:
        yield from getattr(error, "__notes__", [])
        error = error.__context__


_RAISED: dict[int, type[KeyboardInterrupt]] = {
    signal.SIGINT: KeyboardInterrupt,
    signal.SIGTERM: Terminated,
}


def _is_in_callback(frame: FrameType | None) -> bool:
    """Return True if an exception may be lost, because a callback of Dask is up the stack."""
    while frame is not None:
        if frame.f_globals.get("__name__") == "distributed.gc":
            return True
        frame = frame.f_back
    return False


@contextmanager
def time_limited(search: SearchSettings) -> Iterator[Callable[[], SearchSettings]]:
    """Start the time limit of a search; yield a function that returns the settings for the rest.

    Raises
    ------
    TimeIsUp
        Anywhere in the block, once the time is up.
    """
    if search.time_limit is None:
        yield lambda: search
        return
    end = time.monotonic() + search.time_limit

    def up(signum: int, frame: FrameType | None) -> None:
        raise TimeIsUp

    def remaining() -> SearchSettings:
        seconds = end - time.monotonic()
        if seconds <= 0:
            raise TimeIsUp
        return replace(search, time_limit=seconds)

    before = signal.signal(signal.SIGALRM, up)
    try:
        seconds = min(search.time_limit, MAX_SECONDS)
        # the signal repeats, because a callback that it interrupts cannot raise
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
        with _unprinted(TimeIsUp):
            yield remaining
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        finally:  # the time may be up in the line above
            signal.signal(signal.SIGALRM, before)
