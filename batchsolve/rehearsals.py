"""Calls that are made ahead in processes of our own, for the kernels that they compile.

The process that asks for one can go on meanwhile: with slower code, or with kernels that it has.
The result is dropped; the kernels are found on disk. The process that asked is never a worker. When
it ends, so does the other.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from batchsolve import kernels

PROGRAM = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from batchsolve.rehearsals import rehearse; rehearse()"
)
LOOK_SECONDS = 0.2  # between two looks at a process
LOWEST_PRIORITY = 19

_BEGINS = threading.Lock()
_PROCESSES: dict[str, subprocess.Popen[bytes] | None] = {}  # by name; None if it cannot be started


def begin(name: str, call: Callable[[], Any], niceness: int = 0, delay: float = 0.0) -> None:
    """Begin a rehearsal of a call, unless there was one of that name.

    `niceness` lowers the priority of its process, which waits for `delay` seconds first.
    """
    with _BEGINS:
        if name in _PROCESSES:
            return
        process = None
        is_python = Path(sys.executable or "").name.startswith("python")  # and no other program
        if is_python and multiprocessing.parent_process() is None and not kernels.AWAITS:
            with suppress(Exception):  # a problem of the caller's own, no memory, no threads, …
                message = b"".join(map(pickle.dumps, (sys.path, niceness, delay, call)))
                process = _started(message)
        _PROCESSES[name] = process


def _started(message: bytes) -> subprocess.Popen[bytes]:
    """Start a process that reads a message; its input stays open while this process lives."""
    process = subprocess.Popen(
        [sys.executable, "-I" if sys.flags.isolated else "-P", "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is not for it
    )
    try:
        threading.Thread(target=_look_after, args=(process, message), daemon=True).start()
    except BaseException:
        process.kill()
        process.communicate()
        raise
    return process


def _look_after(process: subprocess.Popen[bytes], message: bytes) -> None:
    """Send a message to a process; take its exit code when it ends, so that nothing is left."""
    assert process.stdin is not None
    with suppress(OSError, ValueError):  # it has ended
        process.stdin.write(message)
        process.stdin.flush()
    while process.poll() is None:  # `wait` would hold a lock, and a fork of this process copy it
        time.sleep(LOOK_SECONDS)
    with suppress(OSError):
        process.stdin.close()


def state_of(name: str) -> str:
    """Return ``none`` if no rehearsal of that name was begun, ``running`` or ``over``."""
    if name not in _PROCESSES:
        return "none"
    process = _PROCESSES[name]
    return "running" if process is not None and process.poll() is None else "over"


def prefer(*names: str) -> None:
    """Give all others that are running the lowest priority."""
    for name, process in list(_PROCESSES.items()):
        if name not in names and process is not None and process.poll() is None:
            _be_nice(process.pid, LOWEST_PRIORITY)


def _be_nice(pid: int, niceness: int) -> None:
    """Lower the priority of a process, and that of its session if it leads one.

    Linux may share the processor between sessions first (`man 7 sched`, autogroups).
    """
    with suppress(OSError):  # it has ended, or there are no such groups
        if niceness > os.getpriority(os.PRIO_PROCESS, pid):
            os.setpriority(os.PRIO_PROCESS, pid, niceness)
            if os.getsid(pid) == pid:
                Path(f"/proc/{pid}/autogroup").write_text(str(niceness))


def end(name: str) -> None:
    """End a rehearsal, if it is still running."""
    process = _PROCESSES.get(name)
    if process is not None:
        process.kill()


def end_all() -> None:
    """End all rehearsals that are still running, as a command that has ended leaves nothing."""
    for name in list(_PROCESSES):
        end(name)


def rehearse() -> None:
    """Make the call that comes from standard input."""
    niceness, delay, call = (pickle.load(sys.stdin.buffer) for _ in range(3))
    _be_nice(os.getpid(), niceness)
    threading.Thread(target=_end_after_input, daemon=True).start()
    time.sleep(delay)
    try:
        call()
        kernels.LIGHT_SECONDS = 0.0  # these are compiled last, as they are not awaited
        call()
    finally:
        os._exit(0)  # at a usual end, Python aborts: the thread still reads


def _end_after_input() -> None:
    """End with the process that asked."""
    sys.stdin.buffer.read()
    os._exit(1)
