"""Threads and processes give the same results, also when they die. Clusters have files alone."""

import os
import signal
import subprocess
import sys
import threading
import time
from copy import copy

import pytest
from backends import OfEveryBackend, await_the_end_of_all, right
from conftest import WHOLE, n_covers
from failing import Failing, HalfAnswered
from rooted import PROBLEM, arrays, by_root, scheduled, tasks, work

import batchsolve as bs
from batchsolve import WorkersError, workers as pools
from batchsolve.search import tree
from batchsolve.search.scheduler import Piece
from batchsolve.search.tree import TreeSearch
from batchsolve.settings import SearchSettings
from batchsolve.workers import BACKENDS, Pool, base, get_workers

OF_THIS_MACHINE = [name for name in BACKENDS if name not in ("dask", "ray")]
both_backends = pytest.mark.parametrize("backend", OF_THIS_MACHINE)


@pytest.fixture(params=OF_THIS_MACHINE)
def workers(request):
    return {"backend": request.param, "jobs": 2}


class TestThisMachine(OfEveryBackend):
    pass


@pytest.fixture(scope="module")
def processes():
    """A pool of two processes, which take some seconds of processor time to start."""
    with Pool(2, "loky") as pool:
        yield pool


def test_workers_that_die_between_rounds_are_replaced():
    with Pool(2, "loky") as pool:
        for seconds in (0.0, 0.3):
            done = list(pool.start(work(), tasks()))
            for pid in {int(each.worker.split("/")[0]) for each in done}:
                os.kill(pid, signal.SIGKILL)
            time.sleep(seconds)
            for _ in range(2):
                assert by_root(pool.start(work(), tasks())) == right()


def test_threads_go_on_after_rounds_that_were_given_up():
    """Also if no result was asked for."""
    with Pool(2) as pool:
        for _ in range(2):
            next(running := pool.start(work(), tasks()))
            running.close()
            pool.start(work(), tasks()).close()
            assert by_root(pool.start(work(), tasks())) == right()


def test_an_error_of_the_tasks_themselves_is_raised():
    def some():
        yield from list(tasks())[:3]
        raise bs.InputError("the file ends in the middle")

    for jobs in (1, 2):
        with Pool(jobs) as pool, pytest.raises(bs.InputError, match="ends in the middle"):
            list(pool.start(work(), some()))


def test_a_result_of_a_round_that_was_given_up_does_not_disturb_the_next(processes, monkeypatch):
    """It may come in after joblib has forgotten that round, and before the next begins."""
    parallel, late = processes.workers._parallel, []
    add = parallel._register_new_job
    monkeypatch.setattr(parallel, "_register_new_job", lambda job: (late.append(job), add(job)))
    next(running := processes.start(work(), tasks()))
    running.close()
    parallel._jobs.append(late[-1])
    assert by_root(processes.start(work(), tasks())) == right()


def test_a_round_that_ends_too_early_is_completed(processes):
    """As it does when a result of an earlier one is counted."""
    running = processes.start(work(), tasks())
    processes.workers._parallel.n_completed_tasks += 3
    assert by_root(running) == right()
    assert by_root(processes.start(work(), [])) == {}
    assert by_root(processes.start(work(), tasks())) == right()


def test_backends_that_cannot_be_used_are_refused(monkeypatch):
    with pytest.raises(bs.InputError, match="'loky' runs on this machine only; it takes no addr"):
        get_workers("loky", address="tcp://127.0.0.1:8786")
    with pytest.raises(bs.InputError, match="uses every worker that the cluster has; leave out"):
        get_workers("dask", jobs=2, address="tcp://127.0.0.1:8786")
    for backend, module in (("dask", "distributed"), ("ray", "ray")):
        monkeypatch.setitem(sys.modules, module, None)
        needs = rf"the backend '{backend}' needs the module '{module}', which is not installed: "
        with pytest.raises(bs.InputError, match=needs + rf"pip install 'batchsolve\[{backend}\]'"):
            get_workers(backend)


# ---- the pool -------------------------------------------------------------------------------


def test_loky_needs_standard_streams(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with pytest.raises(bs.WorkersError, match=r"one is closed; open os\.devnull"):
        bs.count("queens:6", jobs=2, backend="loky")


@both_backends
def test_every_task_comes_back_once_from_one_worker(backend):
    with Pool(1, backend) as pool:
        assert by_root(pool.start(work(), tasks())) == right()
        assert by_root(pool.start(work(), [])) == {}


def test_a_row_that_kills_its_worker_is_singled_out():
    with Pool(2, "loky") as pool:
        answers = scheduled(pool, Failing([13], "kill"))
        assert answers.pop(13) == "the search killed its worker process twice"
        assert answers == {r: c for r, c in right().items() if r != 13}
        assert by_root(pool.start(work(), tasks())) == right()


def test_a_second_answer_to_a_task_is_dropped(monkeypatch):
    """As if two workers had done each task, because one of them was taken for dead."""
    with Pool(2) as pool:
        real = pool.workers.run

        def twice(function, arguments):
            for result in real(function, arguments):
                yield from (result, copy(result))

        monkeypatch.setattr(pool.workers, "run", twice)
        assert by_root(pool.start(work(), tasks())) == right()
        assert by_root(pool.start(work(), tasks())) == right()


def test_what_a_round_that_was_given_up_found_is_dropped(monkeypatch):
    found = []
    with Pool(2) as pool:
        real = pool.workers.run

        def leaking(function, arguments):
            yield from found
            for attempt in real(function, arguments):
                found.append(attempt)
                yield attempt

        monkeypatch.setattr(pool.workers, "run", leaking)
        next(pool.start(work(), tasks()))
        assert found
        assert by_root(pool.start(work(), tasks())) == right()


@pytest.mark.parametrize("error", [MemoryError("no memory"), bs.InputError("no memory, give less")])
def test_an_error_that_is_not_of_a_task_ends_the_search(error, processes):
    with Pool(2) as threads:
        for pool in (threads, processes):
            with pytest.raises(type(error), match="no memory"):
                list(pool.start(work(Failing([6], error)), tasks()))


def test_threads_that_cannot_be_started_are_one_error(monkeypatch):
    start, started = threading.Thread.start, []

    def start_three(thread):
        if len(started) == 3:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_three)
    with pytest.raises(WorkersError, match="only 3 threads could be started; give fewer `jobs`"):
        bs.count("queens:12", jobs=8)
    monkeypatch.undo()
    for thread in started:
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.parametrize("split_depth", [None, 1, 3])
def test_what_fails_is_left_and_the_rest_is_counted(split_depth, monkeypatch):
    monkeypatch.setattr(tree, "FIRST_NODES", 1)  # the first nodes are not below the marked stack
    settings = SearchSettings(engine="dlx", split_depth=split_depth, budget=20)
    with Pool(2) as pool:
        failing = Failing([0], "raise")
        search = TreeSearch(PROBLEM, settings, Piece.whole(WHOLE), pool, engine=failing)
        for _ in search.run():
            pass
    assert search.totals.count == 288 - n_covers(PROBLEM, [0])  # of the grids of 4×4
    assert set(search.failures) == {"the search failed: RuntimeError: a bug in the search"}
    assert not search.complete
    assert len(search.outstanding) == 0


def test_a_worker_that_dies_with_half_of_its_answer_written_holds_nobody_up(tmp_path, monkeypatch):
    monkeypatch.setattr(pools, "GRACE_SECONDS", 0.2)
    monkeypatch.setattr(base, "LOOK_SECONDS", 0.1)
    with Pool(2, "loky") as pool:
        found = list(pool.start(HalfAnswered(str(tmp_path / "once")), enumerate("abcdef")))
    assert (tmp_path / "once").exists()
    assert sorted(done.number for done in found) == list(range(6))
    assert {len(done.result) for done in found} == {100_000}


class Waiting:
    """Work that says that it has begun, and waits for leave to end."""

    def __init__(self):
        self.begun, self.may_end = threading.Event(), threading.Event()

    def __call__(self, task):
        self.begun.set()
        assert self.may_end.wait(60)


def test_leaving_a_pool_waits_for_no_task_of_another(monkeypatch):
    monkeypatch.setattr(pools, "PATIENCE", 60.0)
    work = Waiting()

    def go_through(work, tasks):
        with Pool(2) as pool:
            list(pool.start(work, tasks))

    long = threading.Thread(target=go_through, args=[work, [(0, None)]])
    short = threading.Thread(target=go_through, args=[work, []])
    long.start()
    try:
        assert work.begun.wait(60)
        short.start()
        short.join(30)
        assert not short.is_alive()
    finally:
        work.may_end.set()
        long.join()
        short.join()


def test_leaving_a_pool_waits_for_its_abandoned_tasks():
    work, ended = Waiting(), []

    def give_up():
        with Pool(2) as pool:
            next(pool.start(OneWaits(work, ended), [(0, False), (1, True)]))

    caller = threading.Thread(target=give_up)
    caller.start()
    assert work.begun.wait(60)
    work.may_end.set()
    caller.join()
    assert ended == [True]


class OneWaits:
    """Work whose task ``True`` waits; the other ends when that has begun."""

    def __init__(self, waiting, ended):
        self.waiting, self.ended = waiting, ended

    def __call__(self, task):
        if not task:
            assert self.waiting.begun.wait(60)
            return
        self.waiting(task)
        self.ended.append(True)


# ---- worker processes -----------------------------------------------------------------------


SIZES = (0, 1), (10, 9_000), (100_000,), (8_193, 3, 70_001, 8_191)


def test_results_of_any_size_come_back_and_can_be_written_to(processes):
    found = {sizes: [*processes.workers.run(arrays, iter([sizes] * 5))] for sizes in SIZES}
    for sizes, results in found.items():
        assert len(results) == 5
        for result in results:
            assert [array.tolist() for array in result] == [list(range(size)) for size in sizes]
            assert all(array.flags.aligned and array.flags.writeable for array in result)


LOSES_ITS_PARENT = """
import os, signal, sys, time
from batchsolve.workers import Processes

with Processes(2) as workers:
    (child,) = workers.run(os.getpid, iter([()]))  # the other worker has had no task
    time.sleep(float(sys.argv[1]))
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("seconds", [0.0, 2.0])
def test_workers_without_a_task_end_with_their_parent(seconds):
    command = [sys.executable, "-c", LOSES_ITS_PARENT, str(seconds)]
    parent = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    assert parent.wait(60) == -signal.SIGKILL
    await_the_end_of_all(parent.pid)


TWO_AT_ONCE = """
from itertools import islice
import batchsolve as bs

one = bs.solutions("queens:16", jobs=2, backend="loky")
assert sum(1 for _ in islice(one, 20_000)) == 20_000  # so many that tasks are with workers
for jobs in (3, 2):
    other = bs.solutions("queens:16", jobs=jobs, backend="loky")
    assert sum(1 for _ in islice(other, 20_000)) == 20_000
    other.close()
    assert sum(1 for _ in islice(one, 10_000)) == 10_000
one.close()
"""


def test_two_searches_do_not_wait_for_each_other_or_end_each_other():
    """loky ends the workers of one executor together, and waits for all before it changes them."""
    parent = subprocess.Popen([sys.executable, "-c", TWO_AT_ONCE], start_new_session=True)
    try:
        assert parent.wait(120) == 0
    finally:
        parent.kill()
    await_the_end_of_all(parent.pid)
