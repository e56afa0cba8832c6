"""``batchsolve`` and ``python -m batchsolve``."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import suppress


def _leave(signum: int, frame: object) -> None:
    """End at once: no work has begun, and an exception while modules load may be swallowed."""
    print("\nbatchsolve: interrupted", file=sys.stderr, flush=True)
    os._exit(130)


# This runs on import, because only the command line imports this module, and Ctrl-C must end it in
# one line from the start. Where Ctrl-C is ignored, as under nohup, it stays ignored: the shell has
# asked that the command outlive it.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _leave)


def _fill_closed_streams() -> None:
    """Open a substitute for each standard stream that is closed.

    Otherwise workers and libraries would take the next file that is opened for that stream. Output
    to the substitute of standard error is lost; reading or writing the other two raises an error of
    the system, because each is opened for the opposite direction.
    """
    for name, mode, flags in (
        ("stdin", "r", os.O_WRONLY),
        ("stdout", "w", os.O_RDONLY),
        ("stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, flags)  # the lowest free number: that of the stream
            os.set_inheritable(number, True)  # by workers
            stream = open(number, mode, closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)  # it stays open after it is replaced


_fill_closed_streams()  # before anything is opened


def _buffer_output() -> None:
    """Give standard output a buffer, which ``python -u`` leaves out.

    Without one, a write that a signal interrupts, such as Ctrl-Z, may leave bytes behind.
    """
    out = sys.stdout
    if isinstance(out.buffer, io.RawIOBase):
        encoding = out.encoding
        whole = io.BufferedWriter(out.detach())
        sys.stdout = io.TextIOWrapper(whole, encoding, line_buffering=True)
        sys.__stdout__ = sys.stdout  # type: ignore[misc]


class _Messages(io.TextIOWrapper):
    """Standard error that drops messages it cannot write, as on a full disk.

    A lost message must not end the work that it reports.
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
    """A finder that hides pandas.

    Arrow imports pandas, where it is installed, for the first array that it makes; that takes 0.2 s
    and 30 MB and is of no use to a command.
    """

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("commands do without pandas", name=name)


def main() -> None:
    """Run the command line."""
    import atexit
    import gc

    atexit.register(_keep_exit_code)  # the first to be registered is called last
    stream = sys.stderr
    sys.stderr = _Messages(stream.buffer, stream.encoding, stream.errors, line_buffering=True)
    _buffer_output()
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.meta_path.insert(0, _NoPandas())
    try:
        try:
            _share_memory()
            from batchsolve.cli import app
        except ImportError as error:  # of the native core, for instance
            print(f"batchsolve: {error}", file=sys.stderr)
            sys.exit(2)
        app(prog_name="batchsolve")
    except SystemExit as end:
        if isinstance(end.code, int):
            if "ray" in sys.modules:
                _end_at_once(end.code)
            _exit_code.append(end.code)
        raise
    finally:
        gc.freeze()  # the operating system frees what is left


def _share_memory() -> None:
    """Let Arrow take its memory from the C library, unless the user has named an allocator.

    Arrow's own allocator hides what one thread has freed from all others: exports take 140 MB more
    with it. Only GNU's C library is used, which is told to keep memory; others are slow.
    """
    from batchsolve.workers.base import keep_memory

    keep_memory()
    if "CS_GNU_LIBC_VERSION" in os.confstr_names and os.confstr("CS_GNU_LIBC_VERSION"):
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


_exit_code: list[int] = []


def _keep_exit_code() -> None:
    """End with the exit code of the command.

    Python itself would exit as if killed by Ctrl-C if one arrived within `exec` or `eval`, as when
    a dataclass is made, although it was caught outside.
    """
    for code in _exit_code:
        _end_at_once(code)


def _end_at_once(code: int) -> None:
    """End without Python's cleanup, in which threads of Ray crash after Ctrl-C."""
    try:
        sys.stdout.flush()
    except OSError:  # reported already, unless it is a pipe without a reader
        code = code or 2
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
