"""Commands, run one after another in one process, under limits of time and memory.

That process is separate from the one that draws and checks, so a crash, a hang or a lack of memory
ends one case and not the whole run.
"""

from __future__ import annotations

import faulthandler
import io
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path

from fuzzing.cases import Done, Draft, Files, Outcome

STDIN = "-"  # the file of this name holds standard input
WRITTEN_NS = 1_000_000_000 * 1_700_000_000  # time of all files, because journals record it
MOST_BYTES = 1 << 30  # of a file
START_SECONDS = 600.0  # to load libraries
CASES_OF_A_PROCESS = 1_000  # its heap grows by 0.1 MB per case
WALKERS = ("dlx", "cells")


def run_commands(draft: Draft) -> Outcome:
    """Run the commands of a draft in this process, in a temporary folder with its files.

    Parameters
    ----------
    draft : Draft
        With its files as they should lie on disk.
    """
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as folder:
        _write(folder, draft.files)
        os.chdir(folder)
        try:
            done = [_run(words, draft.files.get(STDIN, b"")) for words in draft.commands]
        finally:
            os.chdir(before)
        return Outcome(done, _changed(folder, draft.files))


def _write(folder: str, files: Files) -> None:
    for name, data in files.items():
        if name != STDIN:
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            os.utime(path, ns=(WRITTEN_NS, WRITTEN_NS))


def _changed(folder: str, files: Files) -> Files:
    home = Path(folder)
    found = {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file()
    }
    return {name: data for name, data in found.items() if files.get(name) != data}


def _run(words: Sequence[str], typed: bytes) -> Done:
    """Run one command, as ``batchsolve`` does."""
    from batchsolve.cli import app

    code, raised = 0, ""
    with _captured(typed, ["batchsolve", *words]) as (out, err):
        try:
            app(list(words), prog_name="batchsolve")
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1 if error.code else 0
        except BaseException:
            raised = traceback.format_exc()
    said, told = (each.getvalue().decode(errors="backslashreplace") for each in (out, err))
    return Done(code, said, told, raised)


@contextmanager
def _captured(typed: bytes, argv: list[str]) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Replace the standard streams and the command line."""
    before = sys.argv, sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.argv = argv
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(typed)), "utf-8")
    sys.stdout = io.TextIOWrapper(out, "utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(err, "utf-8", "backslashreplace", write_through=True)
    here = sys.stdin, sys.stdout, sys.stderr
    try:
        yield out, err
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = before
        for stream in here:
            with suppress(ValueError):  # closed by the command
                stream.flush()
                stream.detach()  # else the bytes would be closed with the text


# ---- another process ------------------------------------------------------------------------


class Process:
    """A process that runs commands; a new one is started after each that ends.

    Parameters
    ----------
    seconds : float
        Time limit for the commands of a case.
    megabytes : int
        Memory limit, beyond what a process uses after `warm_up`.
    prepare : callable, optional
        Function that the process calls first; the process imports it by name.
    warm_up : Draft
        Commands that it runs next.
    """

    def __init__(
        self,
        seconds: float,
        megabytes: int,
        prepare: Callable[[], None] | None = None,
        warm_up: Draft | None = None,
    ) -> None:
        self._seconds = seconds
        self._begin = megabytes, prepare, WARM_UP if warm_up is None else warm_up
        self._process: multiprocessing.process.BaseProcess | None = None
        self._n_left = 0  # cases until the process is replaced
        self._log = Path(tempfile.mkstemp(prefix="fuzz-", suffix=".log")[1])

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._log.unlink()

    def __call__(self, draft: Draft) -> Outcome:
        """Run the commands of a draft; report it if they end the process."""
        if self._n_left == 0:
            self._end()
        if self._process is None:
            self._start()
        assert self._process is not None
        self._n_left -= 1
        self._connection.send(draft)
        hangs = not self._connection.poll(self._seconds)
        if hangs:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid or 0, signal.SIGABRT)  # it logs its traceback
        else:
            with suppress(EOFError, ConnectionError):
                outcome: Outcome = self._connection.recv()
                return outcome
        self._process.join(10)
        code = self._process.exitcode
        self._stop()
        where = self._log.read_text(errors="replace")[-3000:]
        why = f"hangs: {self._seconds:g} s were not enough" if hangs else f"crashes ({code})"
        return Outcome([], ended=f"{why}\n{where}")

    def _end(self) -> None:
        if self._process is not None:
            with suppress(OSError):
                self._connection.send(None)
            self._process.join(10)
            self._stop()

    def _start(self) -> None:
        self._n_left = CASES_OF_A_PROCESS
        context = multiprocessing.get_context("spawn")  # without the state of this process
        self._connection, theirs = context.Pipe()
        begin = theirs, str(self._log), *self._begin
        self._process = context.Process(target=_serve, args=begin, daemon=True)
        self._process.start()
        theirs.close()
        with suppress(EOFError):
            if self._connection.poll(START_SECONDS):
                self._connection.recv()
                return
        self._stop()
        why = self._log.read_text(errors="replace")
        raise RuntimeError(f"the process that runs commands does not start: {why}")

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None


def _serve(
    connection: Connection,
    log: str,
    megabytes: int,
    prepare: Callable[[], None] | None,
    warm_up: Draft,
) -> None:
    """Run drafts from a connection until it closes or sends None."""
    file = os.open(log, os.O_WRONLY | os.O_TRUNC | os.O_CREAT)
    os.dup2(file, 1)
    os.dup2(file, 2)  # libraries write here when they end the process
    faulthandler.enable(file)
    if prepare is not None:
        prepare()
    run_commands(warm_up)
    _limit_memory(megabytes)
    connection.send(None)
    with suppress(EOFError):
        while (draft := connection.recv()) is not None:
            os.ftruncate(file, 0)
            connection.send(run_commands(draft))


# Commands that load libraries, so that the limits apply to the case alone.
WARM_UP = Draft(
    {
        "in.csv": b"puzzle\n1.....2..3.....4\nx\n",
        "rules.csv": (
            b"puzzle,regions,cages,sums,rules\n"
            b"1.....2..3.....4,aabbaabbccddccdd,AA..............,A=3,\n"
            b"1.....2..3.....4,,AA..............,A=3,nonconsecutive\n"
        ),
        "in.dlx": b"a b | c\na c:x\nb c:x\n",
    },
    [
        *(["solve", "in.csv", "-o", f"out{form}", "-j", "1"] for form in (".csv", ".parquet")),
        *(["solve", "in.csv", "-o", f"{engine}.csv", "--engine", engine] for engine in WALKERS),
        ["solve", "rules.csv", "-o", "ruled.csv", "-j", "1"],
        *(["count", "queens:5", "-j", "1", "--engine", e] for e in (*WALKERS, "memo", "bits")),
        *(["count", "in.dlx", "-j", "1", "--engine", e] for e in ("dlx", "memo", "algorithm-x")),
        ["enumerate", "sudoku:2x2", "-o", "run", "-j", "1"],
        ["estimate", "queens:5", "--probes", "5"],
        ["split", "queens:5", "--depth", "1", "-o", "parts"],
    ],
)


def _limit_memory(megabytes: int) -> None:
    """Limit the memory of this process, so that it runs out before the machine does."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES, MOST_BYTES))
    with suppress(OSError):  # where there is no /proc
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + (megabytes << 20)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
