"""``batchsolve`` and ``python -m batchsolve``."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import suppress

TYPE_CHECKING = False

if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn


def _leave(signum: int, frame: FrameType | None) -> NoReturn:
    """End at once: nothing is begun yet, and what is raised while modules load may be swallowed."""
    print("\nbatchsolve: interrupted", file=sys.stderr, flush=True)
    os._exit(130)


# Here and not in a function, for whoever imports this module is about to run the command line, and
# Ctrl-C before that is to end it in one line as well. Where it is ignored, as under nohup, it stays
# ignored: the shell has said that the command is to outlive it.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _leave)


def _fill_closed_streams() -> None:
    """Put something in the place of standard streams that are closed.

    Else the next file that is opened would be what workers, and libraries, take for it. What is
    written to standard error is lost; to read or write the others is an error of the system, as
    their numbers are opened the wrong way round.
    """
    for name, mode, how in (
        ("stdin", "r", os.O_WRONLY),
        ("stdout", "w", os.O_RDONLY),
        ("stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, how)  # the lowest that is free: that of the stream
            os.set_inheritable(number, True)  # by workers
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115


_fill_closed_streams()  # before anything is opened


class _Messages(io.TextIOWrapper):
    """Standard error; what cannot be written there, as on a full disk, is lost.

    A message is not worth the work that it tells of.
    """

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()


class _NoPandas:
    """Finds no pandas.

    Arrow would import it, where it is installed, for the first array that it makes: 0.2 s and
    30 MB, of no use to a command.
    """

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("commands do without pandas", name=name)


def main() -> None:
    """Run the command line."""
    import atexit
    import gc

    atexit.register(_keep_exit_code)  # what is registered first is called last
    # Numba makes more than a hundred thousand objects, and no garbage to speak of. To look for
    # some on the way in, and among all of them on the way out, takes longer than most searches.
    gc.set_threshold(250_000)
    said = sys.stderr
    sys.stderr = _Messages(said.buffer, said.encoding, said.errors, line_buffering=True)
    sys.meta_path.insert(0, _NoPandas())
    _share_memory()
    try:
        from batchsolve.cli import app

        app(prog_name="batchsolve")
    except SystemExit as end:
        if isinstance(end.code, int):
            if "ray" in sys.modules:
                _end_at_once(end.code)
            _exit_code.append(end.code)
        raise
    finally:
        gc.freeze()  # all that is left is left to the operating system


def _share_memory() -> None:
    """Let Arrow take its memory from the C library, unless the user has named an allocator.

    Arrow's own keeps what each thread has freed from all others: exports take 140 MB more with it.
    GNU's C library is told to keep memory; others are slow.
    """
    from batchsolve.memory import keep_memory

    keep_memory()
    names = getattr(os, "confstr_names", {})
    if "CS_GNU_LIBC_VERSION" in names and os.confstr("CS_GNU_LIBC_VERSION"):
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


_exit_code: list[int] = []


def _keep_exit_code() -> None:
    """End with the exit code of the command.

    Python itself would end as if killed by Ctrl-C if that was heard within `exec` or `eval`, as in
    the making of a dataclass, although it was caught outside.
    """
    for code in _exit_code:
        _end_at_once(code)


def _end_at_once(code: int) -> NoReturn:
    """End without what Python does in the end: after Ctrl-C, threads of Ray crash in it."""
    try:
        sys.stdout.flush()
    except OSError:  # said already, unless it is a pipe that nobody reads
        code = code or 2
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
