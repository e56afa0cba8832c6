"""Ctrl-C in long loops: who hears it says how, and the loops ask; and the end of a time limit.

An exception that is raised while a library loads code or converts values can be lost. A command
notes Ctrl-C instead and raises it where a loop asks; see `batchsolve.cli.terminal.interrupts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_CHECKS: ContextVar[tuple[Callable[[], object], ...]] = ContextVar("checks", default=())


class TimeIsUp(BaseException):
    """A time limit was reached; the input is not at fault.

    It is not an `Exception`, so that readers do not report it as an error of their file.
    """


def check_interrupt() -> None:
    """Raise an interrupt that was noted; call it where a loop can end."""
    for check in _CHECKS.get():
        check()


@contextmanager
def asking(check: Callable[[], object] | None) -> Iterator[None]:
    """Have `check_interrupt` call a function as well, which may raise."""
    token = _CHECKS.set((*_CHECKS.get(), *([check] if check else [])))
    try:
        yield
    finally:
        _CHECKS.reset(token)
