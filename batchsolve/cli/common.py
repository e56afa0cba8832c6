"""What the commands share: options, exit codes, messages."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from types import FrameType
from typing import Annotated

import typer

from batchsolve.errors import BatchsolveError

EXIT_INCOMPLETE, EXIT_ERROR, EXIT_INTERRUPTED = 1, 2, 130
COMPILE_SECONDS = 1.0  # loading compiled kernels takes less; compiling them takes 5 to 20


class Backend(StrEnum):
    """Where workers live."""

    threading = "threading"
    loky = "loky"
    dask = "dask"
    ray = "ray"


Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", metavar="N", help="Workers; all cores by default.")
]
Where = Annotated[
    Backend, typer.Option("--backend", help="Threads, processes, or the workers of a cluster.")
]
Address = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        "--address",
        metavar="ADDRESS",
        help="The cluster of --backend dask (tcp://host:8786) or ray (host:6379); by default one "
        "is started on this machine.",
    ),
]
EngineName = Annotated[
    str, typer.Option("--engine", metavar="NAME", help="See batchsolve engines.")
]
Box = Annotated[
    str | None,
    typer.Option("--box", metavar="RxC", help="Rows and columns of a box, such as 2x3."),
]
Alphabet = Annotated[
    str | None,
    typer.Option(
        "--alphabet",
        metavar="A",
        help="Symbols of the digits: 1-9A-G, 0-9A-F, A-P, … or numbers.",
    ),
]
Column = Annotated[str | None, typer.Option("--column", metavar="NAME", help="The puzzle column.")]
Budget = Annotated[
    int | None,
    typer.Option("--budget", metavar="N", help="Nodes a task may visit; sized by time by default."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary; errors only.")]


def box_shape(text: str | None) -> tuple[int, int] | None:
    """Return the box shape that ``--box`` says."""
    if text is None:
        return None
    rows, _, columns = text.lower().partition("x")
    if not (rows.isdecimal() and columns.isdecimal()):
        raise typer.BadParameter(f"{text!r} is no box shape; write rows x columns, such as 3x3")
    return int(rows), int(columns)


def exit_with(run: Callable[[], int]) -> None:
    """Run a command; turn what it raises into one message and an exit code."""
    # an interrupted search leaves results that nobody asks for, and joblib warns of each
    warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
    try:
        code = run()
    except KeyboardInterrupt as error:
        print("\n" + "; ".join(["batchsolve: interrupted", *_notes(error)]), file=sys.stderr)
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_ERROR
    except (BatchsolveError, OSError) as error:
        for line in [str(error), *_notes(error)]:
            print(f"batchsolve: {line}", file=sys.stderr)
        code = EXIT_ERROR
    raise typer.Exit(code)


def _notes(error: BaseException) -> list[str]:
    """Return what was noted on an error: how an interrupted run can go on."""
    return getattr(error, "__notes__", [])


@contextmanager
def told_when_compiling(quiet: bool) -> Iterator[None]:
    """Say so on stderr if what is done takes so long that it must be compiling."""
    message = "batchsolve: compiling the search kernels; only the first run does …"
    timer = threading.Timer(COMPILE_SECONDS, lambda: print(message, file=sys.stderr))
    if not quiet:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def interrupts() -> Iterator[Callable[[], None]]:
    """Yield a check that raises Ctrl-C again if a library has swallowed it.

    pyarrow does, when Ctrl-C comes while it looks for pandas, which is whenever it converts values.
    numba loads kernels in callbacks and destructors, out of which nothing can be raised; so there,
    the first Ctrl-C waits for the check, and a second one is raised for what it is worth. What else
    is raised after Ctrl-C, because compiled code stumbled over it, is Ctrl-C, too.
    """
    pressed = False

    def note(signum: int, frame: FrameType | None) -> None:
        nonlocal pressed
        again, pressed = pressed, True
        if again or not _loads_kernels(frame):
            raise KeyboardInterrupt

    def check() -> None:
        if pressed:
            raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield check  # Ctrl-C is ignored, or somebody else's business
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield check
    except Exception as error:
        if not pressed:
            raise
        interrupt = KeyboardInterrupt()
        for line in _notes(error):
            interrupt.add_note(line)
        raise interrupt from error
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _loads_kernels(frame: FrameType | None) -> bool:
    """Whether numba is at work somewhere up the stack of calls."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] in ("numba", "llvmlite"):
            return True
        frame = frame.f_back
    return False


def shows_progress(quiet: bool) -> bool:
    """Whether to draw progress bars: on a terminal only."""
    return not quiet and sys.stderr.isatty()
