"""A library is a guest: calls change nothing in the user's process, however it was started."""

import asyncio
import importlib
import logging
import multiprocessing
import os
import re
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from copy import deepcopy
from functools import partial

import joblib
import pytest
from invoking import run_python
from surroundings import RIGHT, call, end_well, is_deaf, process, surroundings

import batchsolve as bs
from batchsolve.workers import Processes

FORK = pytest.mark.filterwarnings("ignore:.*fork.* may lead to deadlocks:DeprecationWarning")


def exit_code(context, backend):
    """Return the exit code of a process of the user that calls the library."""
    process = context.Process(target=end_well, args=[backend], daemon=backend == "threading")
    process.start()
    process.join(120)
    process.kill()
    process.join()
    return process.exitcode


@FORK
@pytest.mark.parametrize("start", ["spawn", "fork", "forkserver"])
def test_calls_in_processes_of_the_user(start):
    """As in the workers of a loader of a data set, whose first row its user has looked at.

    They end, though they have started workers.
    """
    context = multiprocessing.get_context(start)
    assert call() == RIGHT
    with ProcessPoolExecutor(1, context) as executor:
        assert executor.submit(call).result() == RIGHT
        assert executor.submit(call).result() == RIGHT  # the process is still the same
    assert [exit_code(context, backend) for backend in ("threading", "loky")] == [0, 0]


def test_tables_with_long_fields_leave_the_limit_of_the_csv_module(tmp_path):
    path, field = tmp_path / "long.csv", "x" * (200 << 10)
    path.write_text(f"puzzle,note\n1.....2..3.....4,{field},{field}\n1.....2..3.....4,\n")
    before = surroundings()
    summary = bs.solve_file(path, tmp_path / "out.csv")
    assert (summary.unique, summary.invalid) == (1, 1)
    assert surroundings() == before


def test_calls_in_threads_of_the_user():
    with ThreadPoolExecutor(2) as executor:
        assert list(executor.map(call, ["threading"] * 4)) == [RIGHT] * 4

    async def main():
        return await asyncio.gather(*(asyncio.to_thread(call) for _ in range(2)))

    assert asyncio.run(main()) == [RIGHT] * 2


def test_joblib_of_the_user_has_workers_of_its_own():
    calls = [joblib.delayed(process)()] * 6
    with joblib.Parallel(2) as in_parallel:
        before = set(in_parallel(calls))
        going_on = joblib.Parallel(2, return_as="generator")(calls)
        next(going_on)
        assert call("loky") == RIGHT  # whose workers ignore Ctrl-C
        assert not any(ignores for _, ignores in [*going_on, *in_parallel(calls)])
        for worker, _ in before:
            os.kill(worker, 0)  # raises if it has ended
    assert joblib.Parallel(2)([joblib.delayed(call)()] * 2) == [RIGHT] * 2
    assert joblib.Parallel(2, "threading")([joblib.delayed(call)()] * 2) == [RIGHT] * 2


def test_workers_are_deaf_to_interrupts_also_after_a_death():
    with Processes(2) as workers:
        found = list(workers.run(is_deaf, iter([(k,) for k in range(20)])))
        with pytest.raises(workers.deaths):
            list(workers.run(os._exit, iter([(1,)])))
        found += workers.run(is_deaf, iter([(k,) for k in range(4)]))
    assert found == [True] * 24


def test_dask_of_the_user_stays_as_it_is():
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    local = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}

    def state():
        return (
            distributed.default_client(),
            client.status,
            client.run(lambda dask_worker: (os.getpid(), sorted(dask_worker.plugins))),
            deepcopy(dask.config.config),
            logging.getLogger("distributed").level,
            joblib.parallel.get_active_backend()[0].__class__,
        )

    with distributed.Client(**local) as client:
        before = state()
        assert client.gather([client.submit(call, pure=False) for _ in range(4)]) == [RIGHT] * 4
        assert state() == before
        with joblib.parallel_config(backend="dask"):
            inside = state()
            assert call() == RIGHT
            assert joblib.Parallel(2)([joblib.delayed(call)()] * 2) == [RIGHT] * 2
            assert state() == inside
        around = surroundings()
        assert bs.count("queens:6", backend="dask", address=client.scheduler.address).count == 4
        assert surroundings() == around
        assert state() == before
        assert client.submit(abs, -3).result() == 3


@FORK
def test_ray_of_the_user_stays_as_it_is():
    ray = pytest.importorskip("ray")
    importlib.import_module("batchsolve.workers.ray")  # sets variables, unless they are set
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)

    @ray.remote
    def worker():
        time.sleep(0.1)  # so that both are asked
        return os.getpid(), repr(signal.getsignal(signal.SIGTERM)).partition(" at ")[0]

    def workers():
        return set(ray.get([worker.remote() for _ in range(4)]))

    try:
        before = workers()
        kept = ray.remote(num_cpus=0)(Counter).remote("abba")
        assert ray.get(kept.total.remote()) == 4
        assert call("ray") == RIGHT
        assert ray.get(kept.total.remote()) == 4
        assert bs.count("queens:9", backend="ray", jobs=2, budget=100, engine="dlx").count == 352
        assert workers() == before  # also their handlers of SIGTERM
    finally:
        ray.shutdown()
    processes = joblib.Parallel(2, "multiprocessing")([joblib.delayed(os.getppid)()] * 2)
    assert processes == [os.getpid()] * 2  # not workers of Ray


CELLS = [
    "import os, signal, threading, batchsolve as bs; print(bs.count('queens:6').count)",
    """before = signal.getsignal(signal.SIGINT)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()  # as the button does
bs.count("queens:30")""",
    "print(bs.count('queens:6').count, signal.getsignal(signal.SIGINT) == before)",
]


def test_a_notebook_goes_on_after_an_interruption(tmp_path):
    nbclient = pytest.importorskip("nbclient")
    v4 = importlib.import_module("nbformat.v4")
    notebook = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in CELLS])
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, allow_errors=True, resources=where).execute()
    counted, interrupted, again = (cell.outputs[-1] for cell in notebook.cells)
    assert counted.text == "4\n"
    assert interrupted.ename == "KeyboardInterrupt"
    assert again.text == "4 True\n"


OF_GLIBC = "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", {})
MEMORY = """
import ctypes, sys
import numpy as np
import batchsolve as bs
from batchsolve.__main__ import main
from batchsolve.workers import Processes

def is_given_back(_=0):
    array = np.empty(16 << 20, np.uint8)
    before = array.ctypes.data - ctypes.sizeof(ctypes.c_size_t)  # its size, and flags
    return bool(ctypes.c_size_t.from_address(before).value & 2)  # if it has private pages

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
    ended = run_python("-c", MEMORY, check=True)
    assert re.findall("True|False", ended.stdout) == ["True", "False", "False"]


INTERRUPTED = """
import signal
import batchsolve as bs
from batchsolve.workers.private import Parallel

await_result = Parallel.await_result

def interrupted(self):
    await_result(self)
    if self._jobs:  # results that are never taken
        signal.raise_signal(signal.SIGINT)

Parallel.await_result = interrupted
bs.count("queens:11", engine="dlx", backend="loky", jobs=2)
"""


def test_an_interrupted_script_says_nothing_but_that():
    ended = run_python("-W", "always", "-c", INTERRUPTED)
    assert ended.stderr.endswith("KeyboardInterrupt\n")
    assert "Warning" not in ended.stderr


UNUSED = """
import batchsolve as bs
puzzles = bs.generate(box=(2, 2), cages=(1, 2))
covers = bs.solutions("queens:11", jobs=2)
others = bs.generate(backend="loky", jobs=2)  # without end, so workers have tasks
next(puzzles), next(covers), next(others)
closed = bs.solutions("queens:12", jobs=2, engine="dlx")
next(closed)
closed.close()  # its threads are still searching
"""


def test_iterators_that_are_not_used_up_let_the_process_end():
    ended = run_python("-c", UNUSED)
    assert (ended.returncode, ended.stderr) == (0, "")


DAEMON = """
import threading, time
import batchsolve as bs
threading.Thread(target=bs.count, args=("queens:16",), kwargs={"jobs": 1}, daemon=True).start()
time.sleep(0.3)
"""


def test_a_daemon_thread_in_the_core_lets_the_process_end():
    ended = run_python("-c", DAEMON)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.filterwarnings("error")
def test_an_iterator_may_be_closed_in_another_thread():
    covers = bs.solutions("queens:9", engine="dlx", budget=100, jobs=2, backend="loky")
    with ThreadPoolExecutor(1) as other:
        assert len(other.submit(next, covers).result()) == 9
        covers.close()


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_ctrl_c_while_a_thread_starts_leaves_none(tmp_path, monkeypatch, backend):
    (tmp_path / "in.csv").write_text("puzzle\n1.....2..3.....4\n")
    call = partial(bs.solve_file, tmp_path / "in.csv", tmp_path / "out.csv", backend=backend)
    call()
    before, start = {*threading.enumerate()}, threading.Thread.start

    def interrupted(thread):
        start(thread)
        if thread.name.startswith("Thread-"):
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        call()
    for left in {*threading.enumerate()} - before:
        left.join(10)
        assert not left.is_alive()
