"""A library is a guest: calls leave the process of the user as it was, whoever started it."""

import asyncio
import csv
import gc
import logging
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import joblib
import pyarrow as pa
import pytest

import batchsolve as bs

STARTS = ["spawn", "fork", "forkserver"]
FORK = pytest.mark.filterwarnings("ignore:.*fork.* may lead to deadlocks:DeprecationWarning")


def surroundings():
    """Return what a call could change for the rest of its process."""
    return (
        signal.getsignal(signal.SIGINT),
        signal.getsignal(signal.SIGTERM),
        signal.pthread_sigmask(signal.SIG_BLOCK, []),
        list(warnings.filters),
        dict(os.environ),
        csv.field_size_limit(),
        gc.isenabled(),
        logging.getLogger().handlers[:],
        logging.getLogger("batchsolve").handlers[:],
        pa.default_memory_pool().backend_name,
    )


def call(backend="threading"):
    """Call the library; return the answer and whether it has left its process as it was."""
    before = surroundings()
    count = bs.count("queens:6", backend=backend, jobs=2).count
    status = bs.solve("1.....2..3.....4").status
    return count, status, surroundings() == before


RIGHT = (4, "unique", True)


def end_well():
    if call() != RIGHT:
        sys.exit(3)


@FORK
@pytest.mark.parametrize("start", STARTS)
def test_calls_in_processes_of_the_user(start):
    context = multiprocessing.get_context(start)
    with ProcessPoolExecutor(1, context) as executor:
        assert executor.submit(call).result() == RIGHT
        assert executor.submit(call).result() == RIGHT  # the process has not ended in between
    with context.Pool(1) as pool:
        assert pool.apply(call) == RIGHT
    process = context.Process(target=end_well)
    process.start()
    process.join()
    assert process.exitcode == 0


def test_calls_in_the_process_of_the_user():
    assert call() == RIGHT
    assert call("loky") == RIGHT


def test_tables_with_long_fields_leave_the_limit_of_the_csv_module(tmp_path):
    path, field = tmp_path / "long.csv", "x" * (200 << 10)
    path.write_text(f"puzzle,note\n1.....2..3.....4,{field},{field}\n1.....2..3.....4,\n")
    before = surroundings()
    summary = bs.solve_file(path, tmp_path / "out.csv")
    assert (summary.unique, summary.invalid) == (1, 1)
    assert surroundings() == before
    assert csv.field_size_limit() == 128 << 10


def test_calls_in_threads_of_the_user():
    with ThreadPoolExecutor(2) as executor:
        assert list(executor.map(call, ["threading"] * 4)) == [RIGHT] * 4

    async def main():
        return await asyncio.gather(*(asyncio.to_thread(call) for _ in range(2)))

    assert asyncio.run(main()) == [RIGHT] * 2


def test_joblib_of_the_user_has_workers_of_its_own():
    in_parallel = joblib.Parallel(2)
    before = in_parallel([joblib.delayed(surroundings)()])
    assert call("loky") == RIGHT  # in workers that ignore Ctrl-C
    assert in_parallel([joblib.delayed(surroundings)()])[0][:3] == before[0][:3]
    assert in_parallel([joblib.delayed(call)()] * 2) == [RIGHT] * 2
    assert joblib.Parallel(2, "threading")([joblib.delayed(call)()] * 2) == [RIGHT] * 2


OF_GLIBC = "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", {})
MEMORY = """
import ctypes, sys
import numpy as np
import batchsolve as bs
from batchsolve.__main__ import main
from batchsolve.workers.processes import Processes

def is_given_back(_=0):
    array = np.empty(16 << 20, np.uint8)
    before = array.ctypes.data - ctypes.sizeof(ctypes.c_size_t)  # its size, and flags
    return bool(ctypes.c_size_t.from_address(before).value & 2)  # if it has pages of its own

assert bs.count("queens:6").count == 4
print(is_given_back())
with Processes(2) as workers:
    print(*workers.run(is_given_back, iter([(0,)])))
sys.argv[1:] = ["count", "queens:4", "-q"]
try:
    main()
except SystemExit:
    print(is_given_back(), flush=True)
"""


@pytest.mark.skipif(not OF_GLIBC, reason="no other C library is told anything")
def test_the_c_library_is_told_to_keep_memory_only_in_workers_and_commands():
    command = [sys.executable, "-c", MEMORY]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.findall("True|False", ended.stdout) == ["True", "False", "False"]


INTERRUPTED = """
import signal
import batchsolve as bs
from batchsolve.workers import base

await_result = base._Parallel.await_result

def interrupted(self):
    await_result(self)
    if self._jobs:  # results that nobody will take
        signal.raise_signal(signal.SIGINT)

base._Parallel.await_result = interrupted
bs.count("queens:8", engine="dlx")
"""


def test_an_interrupted_script_says_nothing_but_that():
    command = [sys.executable, "-W", "always", "-c", INTERRUPTED]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.stderr.endswith("KeyboardInterrupt\n")
    assert "Warning" not in ended.stderr
