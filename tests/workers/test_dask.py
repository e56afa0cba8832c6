"""Dask gives the same results as other backends, also when workers die."""

import logging
import os
import re
import subprocess
import sys
import time
from contextlib import ExitStack
from functools import partial

import pytest
from backends import N_GRIDS, QUEENS, OfClusters, check_no_cluster, clue_row, right, unused_port
from failing import Failing, KillsWhereItIsBrought
from invoking import invoke, run_python
from rooted import Meets, by_root, pieces, scheduled, tasks, work
from soak_jobs import dask_cluster

import batchsolve as bs
from batchsolve.runs.count import count
from batchsolve.search.scheduler import Sizing
from batchsolve.workers import Done, Pool, base
from batchsolve.workers.base import MOST_FLIGHT_SECONDS, ClusterWorkers


@pytest.fixture(scope="module")
def cluster():
    """A Dask cluster of two worker processes, on loopback."""
    with dask_cluster() as cluster:
        yield cluster


@pytest.fixture
def workers(cluster):
    return {"backend": "dask", "address": cluster.scheduler_address}


class TestDask(OfClusters):
    backend = "dask"
    of_other_version = bs.InputError  # found before the search


def test_the_length_of_tasks_grows_with_the_distance_of_workers(workers, monkeypatch):
    with Pool(**workers) as pool:
        assert 0 < pool.workers.flight_seconds() <= MOST_FLIGHT_SECONDS
        run = pool.workers.run

        def late(*call):
            time.sleep(0.5)
            return run(*call)

        monkeypatch.setattr(pool.workers, "run", late)
        sizing = Sizing.of_pool(pool)
    assert sizing.least_seconds >= 0.5
    assert sizing.full_seconds >= 1.5


def test_a_count_does_not_depend_on_the_distance_of_workers(workers, monkeypatch):
    problem, stack = clue_row()
    monkeypatch.setattr(ClusterWorkers, "flight_seconds", lambda workers: MOST_FLIGHT_SECONDS)
    result = count(problem, stack, **workers)
    assert (result.count, result.nodes) == (N_GRIDS, count(problem, stack, jobs=1).nodes)


def test_a_client_that_fails_to_close_at_first_is_closed_again(workers, monkeypatch):
    """It fails if it attempts to connect to a lost scheduler, and has just given up."""
    from distributed.core import ConnectionPool

    close, failed = ConnectionPool.close, []

    async def fail_once(self):
        if not failed:
            failed.append(self)
            raise RuntimeError("Cannot change state of expiring Timeout")
        await close(self)

    monkeypatch.setattr(ConnectionPool, "close", fail_once)
    with Pool(**workers) as pool:
        assert by_root(pool.start(work(), tasks())) == right()
    assert [each.status.name for each in failed] == ["closed"]


def test_few_tasks_are_done_by_all_workers(workers, tmp_path):
    """Dask prefers workers that have what a task needs, here the work."""
    with Pool(**workers) as pool:
        for turn in map(str, range(3)):
            (tmp_path / turn).mkdir()
            done = list(pool.start(Meets(), [(k, tmp_path / turn / str(k)) for k in range(2)]))
            assert len({each.worker for each in done}) == 2


LEAVING = [
    Exception("RuntimeError('ConnectionPool is closed')"),
    ValueError("Can not use replicate to delete data"),
    KeyError("tcp://127.0.0.1:40001"),
    OSError("Timed out trying to connect to tcp://127.0.0.1:40001"),
]


@pytest.mark.parametrize("error", LEAVING)
def test_workers_that_leave_while_a_problem_is_sent_end_no_search(workers, monkeypatch, error):
    import distributed

    monkeypatch.setattr(base, "LOOK_SECONDS", 0.01)
    send, errors = distributed.Client.scatter, [error]

    def fail_once(client, *args, **kwargs):
        if errors:
            raise errors.pop()
        return send(client, *args, **kwargs)

    monkeypatch.setattr(distributed.Client, "scatter", fail_once)
    with Pool(**workers) as pool:
        assert by_root(pool.start(work(), tasks())) == right()
    assert not errors


def test_a_worker_killed_while_it_gets_the_problem_does_not_end_the_search(workers, tmp_path):
    killing = KillsWhereItIsBrought(work(), str(tmp_path / "killed"))
    with Pool(**workers) as pool:
        assert by_root(pool.start(killing, tasks())) == right()
    assert (tmp_path / "killed").exists()


def test_a_row_that_kills_every_worker_of_a_cluster_of_one_is_singled_out(monkeypatch):
    """Dask would not begin a worker again that is not back so long after it died."""
    import dask

    monkeypatch.setattr("batchsolve.workers.dask.DEATHS_FORGIVEN", 0)
    lost = {"distributed.deploy.lost-worker-timeout": "100 ms"}
    with dask.config.set(lost), Pool(1, "dask") as pool:
        answers = scheduled(pool, Failing([13], "kill"), [pieces()[3].between(1, 3)])
        assert answers.pop(13) == "the search killed its worker process twice"
        assert answers == {14: right()[14]}
        (done, *_) = pool.start(work(), tasks()[:1])
        assert isinstance(done, Done)
        assert done.worker.split("/")[0] != str(os.getpid())


def test_the_time_of_the_scheduler_is_told(workers):
    with Pool(**workers) as pool:
        before = pool.workers.scheduler_seconds()
        assert by_root(pool.start(work(), tasks())) == right()
        assert pool.workers.scheduler_seconds() > before > 0
    with Pool(1) as pool:  # of threads of this machine
        assert pool.workers.scheduler_seconds() == pool.workers.flight_seconds() == 0.0


INTERRUPTED_START = """
import asyncio, os, signal
import distributed
from batchsolve.workers.dask import DaskWorkers

async def starts(self):
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.sleep(60)

async def closes(self):  # as it does when a worker has not begun
    raise AssertionError("Status.init")

def hear(signum, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGTERM, hear)
distributed.LocalCluster._correct_state = starts
distributed.LocalCluster._close = closes
try:
    with DaskWorkers(1):
        pass
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupted_start_of_dask_says_nothing_more():
    ended = run_python("-c", INTERRUPTED_START, timeout=60)
    assert (ended.stdout, ended.stderr) == ("interrupted\n", "")


@pytest.mark.parametrize("cause", [None, OSError("Too many open files")])
def test_a_dask_worker_that_does_not_start_is_one_clear_error(cause, monkeypatch):
    import distributed

    def fails(self, **_):
        raise RuntimeError("Nanny failed to start.") from cause

    monkeypatch.setattr(distributed.LocalCluster, "__init__", fails)
    said = re.escape(f"did not start ({cause or 'Nanny failed to start.'}); try")
    with pytest.raises(bs.WorkersError, match=said):
        bs.count("queens:6", backend="dask", jobs=1)


def test_clusters_that_overlap_leave_the_settings_of_dask_as_they_were():
    from distributed import config

    logging.getLogger("distributed").addHandler(said := logging.StreamHandler())

    def settings():
        names = "scheduler.allowed-failures", "deploy.lost-worker-timeout"
        variables = map(os.environ.get, ("OMP_NUM_THREADS", "PYTHONHASHSEED"))
        return [*[config.get(f"distributed.{name}") for name in names], said.level, *variables]

    before = settings()
    first, second = Pool(1, "dask"), Pool(1, "dask")
    with ExitStack() as of_second:
        with first:
            of_second.enter_context(second)
            during = settings()
        assert settings() == during
        assert [done.result for done in second.start(abs, enumerate([-2]))] == [2]
    logging.getLogger("distributed").removeHandler(said)
    assert settings() == before != during


def _count_on(scheduler):
    """Return a call that counts on a cluster, with a small budget, so that there are tasks."""
    how = {"backend": "dask", "address": scheduler, "engine": "dlx", "budget": 500}
    return partial(bs.count, "queens:9", **how)


def test_tasks_search_on_their_own_cluster_of_one_thread():
    import distributed

    def working(dask_worker):  # those that have seceded left out
        return len(dask_worker.executors["default"]._threads)

    with dask_cluster(n_workers=1) as cluster, distributed.Client(cluster) as client:
        call = _count_on(cluster.scheduler_address)
        tasks = [client.submit(call, pure=False) for _ in range(3)]
        assert [task.result(timeout=60).count for task in tasks] == [352] * 3
        assert client.submit(abs, -3).result() == 3
        assert list(client.run(working).values()) == [1]


def test_an_address_without_tls_is_refused_where_dask_requires_encryption():
    import dask

    encrypted = dask.config.set({"distributed.comm.require-encryption": True})
    with encrypted, pytest.raises(bs.InputError, match="requires encryption"):
        count(QUEENS, backend="dask", address=f"tcp://127.0.0.1:{unused_port()}")


@pytest.mark.parametrize("is_open", [False, True])
def test_ports_of_a_dask_cluster_that_are_open_are_said(cluster, monkeypatch, is_open):
    if is_open:
        monkeypatch.setattr("batchsolve.workers.dask.LOOPBACK", ())
    address = cluster.scheduler_address
    done = invoke("count", "queens:6", "--backend", "dask", "--scheduler", address, "--quiet")
    assert (done.exit_code, done.stdout) == (0, "4\n")
    said = f"batchsolve: {address}: whoever reaches its ports can run what they like"
    assert done.stderr.startswith(said) == is_open
    assert done.stderr.count("\n") == is_open


def test_a_dask_cluster_without_workers_is_one_clear_error_unless_it_adapts(monkeypatch):
    with dask_cluster(n_workers=0) as cluster:
        with monkeypatch.context() as patch:
            patch.setattr("batchsolve.workers.dask.JOIN_SECONDS", 0.2)
            with pytest.raises(bs.InputError, match=r"no worker has joined in 0\.2 s"):
                _count_on(cluster.scheduler_address)()
        cluster.adapt(minimum=0, maximum=1)
        assert _count_on(cluster.scheduler_address)().count == 352


NOT_THERE = [
    ("tcp://127.0.0.1:{port}", "no Dask scheduler answers .*; write tcp://host:port"),
    ("nowhere", "no Dask scheduler answers .*missing port"),
    ("tls://127.0.0.1:{port}", "names no certificate of the client"),
]


@pytest.mark.parametrize(("address", "why"), NOT_THERE)
def test_a_cluster_that_is_not_there_is_one_clear_error(address, why, monkeypatch, tmp_path):
    check_no_cluster("dask", address, why, monkeypatch, tmp_path)


CALL = 'bs.count("queens:6", backend="dask", jobs=1)'


def ran(script, **how):
    """Run a script; return its errors, and the last line of them."""
    done = run_python(script, timeout=120, **how)
    assert done.returncode == 1
    return done.stderr, done.stderr.splitlines()[-1]


GUARDED = f'import batchsolve as bs\nif __name__ == "__main__":\n    pass\n{CALL}\n'


UNGUARDED = [
    (f"import batchsolve as bs\n{CALL}\n", "InputError: {path}: worker processes import the"),
    (GUARDED, "WorkersError: the Dask cluster of this machine did not start"),
]


@pytest.mark.parametrize(("script", "begins"), UNGUARDED)
def test_a_script_with_a_call_outside_a_guard_is_one_error(script, begins, tmp_path):
    """It names the guard, and worker processes say nothing."""
    path = tmp_path / "script.py"
    path.write_text(script)
    errors, last = ran(path)
    assert last.startswith(f"batchsolve.errors.{begins.format(path=path)}")
    assert last.endswith('put its calls below `if __name__ == "__main__":`')
    assert errors.count(CALL) == 1  # in the traceback of this process alone


def test_a_script_on_standard_input_is_to_be_saved():
    _, last = ran("-", input=f"import batchsolve as bs\n{CALL}\n")
    assert "<stdin> is not a file (python -?); save the script, with its calls below" in last


def test_a_worker_of_another_version_that_joined_later_is_one_error(workers, monkeypatch):
    """The workers that were there first had the version of this process."""
    monkeypatch.setattr("batchsolve.workers.dask.DaskWorkers._check_versions", lambda self: None)
    monkeypatch.setattr(TestDask, "of_other_version", bs.WorkersError)
    TestDask().test_a_worker_of_another_version_is_one_error(workers, monkeypatch)


def test_a_worker_without_batchsolve_is_one_line(cluster, tmp_path):
    (tmp_path / "hide.py").write_text('import sys\nsys.modules["batchsolve"] = None\n')
    how = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    address = cluster.scheduler_address
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
    with subprocess.Popen([*worker, "--preload", tmp_path / "hide.py"], **how) as other:
        try:
            cluster.wait_for_workers(3, 60)
            done = invoke("count", "queens:6", "--backend", "dask", "--scheduler", address)
        finally:
            other.kill()
    lines = [line for line in done.stderr.splitlines() if "lacks" in line]
    assert (done.exit_code, len(lines)) == (2, 1)
    assert f"install batchsolve {bs.__version__} there, or stop it" in lines[0]
