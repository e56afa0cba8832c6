"""Every backend gives the same results, also when workers die."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from failing import Failing
from rooted import by_root, scheduled, tasks, work
from soak_jobs import dask_cluster, processes

import batchsolve as bs
from batchsolve import errors
from batchsolve.cli import app
from batchsolve.problems.families import family
from batchsolve.runs import run as runs
from batchsolve.runs.count import count
from batchsolve.scaling.measure import Plan, read_workload, run_plan
from batchsolve.workers import BACKENDS, get_workers
from batchsolve.workers.pool import Done, Pool

QUEENS, N_QUEENS, N_NODES = family("queens:9"), 352, 3827
CLUES, N_GRIDS = [1, 2, 3, 4], 78_336  # the first cells of a 6×6 grid


@pytest.fixture(scope="module")
def cluster():
    """A Dask cluster of two worker processes, on loopback."""
    pytest.importorskip("distributed")
    with dask_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def ray():
    """Ray on this machine, with two workers; pools of this process find it."""
    ray = pytest.importorskip("batchsolve.workers.ray").ray
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]))
        ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.fixture(params=BACKENDS)
def workers(request):
    """The arguments of a pool of two workers, for each of the backends."""
    if request.param == "dask":
        return {"backend": "dask", "address": request.getfixturevalue("cluster").scheduler_address}
    if request.param == "ray":
        request.getfixturevalue("ray")
    return {"backend": request.param, "jobs": 2}


def clue_row():
    problem = bs.Sudoku(2, 3)
    return problem, problem.stack(np.array(CLUES + [0] * 32))


def enumerated(directory, **options):
    """Enumerate the grids of the clue row; return the grids in order of their symbols."""
    problem, stack = clue_row()
    with runs.Run(str(directory), problem, stack, collect=True) as run:
        result = run.search(**options)
    assert result.complete
    parts = (directory / "solutions").glob("*.parquet")
    found = sorted(tuple(row) for p in parts for row in pq.read_table(p)[0].to_pylist())
    assert result.count == len(found)
    return found


@pytest.fixture(scope="module")
def grids(tmp_path_factory):
    found = enumerated(tmp_path_factory.mktemp("threads") / "run", jobs=1)
    assert len(set(found)) == len(found) == N_GRIDS
    return found


def test_counts_are_the_same(workers):
    result = count(QUEENS, budget=100, **workers)
    assert (result.count, result.nodes, result.complete) == (N_QUEENS, N_NODES, True)
    assert (result.backend, result.jobs) == (workers["backend"], 2)
    assert count(QUEENS, limit=100, **workers).count == 100


def test_enumerations_are_the_same(workers, grids, tmp_path):
    assert enumerated(tmp_path / "run", budget=4000, **workers) == grids


def test_solved_files_are_the_same(workers, tmp_path):
    corpus = Path(__file__).parents[2] / "datasets" / "sudoku16.csv"
    bs.solve_file(str(corpus), str(tmp_path / "threads.csv"), jobs=1)
    summary = bs.solve_file(str(corpus), str(tmp_path / "out.csv"), chunk=100, **workers)
    assert summary.jobs == 2
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "threads.csv").read_bytes()


def test_scaling_is_measured(workers):
    where = {"jobs": (workers.get("jobs"),), "address": workers.get("address")}
    grid = Plan(backends=(workers["backend"],), engines=("auto",), repeat=1, **where)
    ((run, log),) = run_plan([read_workload("queens:9")], grid)
    assert (run.count, run.nodes, run.jobs) == (N_QUEENS, N_NODES, 2)
    assert sum(log.nodes) == N_NODES
    assert run.master > 0


@pytest.mark.parametrize("workers", ["dask"], indirect=True)
def test_a_run_is_resumed_on_another_backend(workers, grids, tmp_path):
    problem, stack = clue_row()
    with runs.Run(str(tmp_path / "run"), problem, stack, collect=True) as run:
        assert run.search(limit=1000, jobs=2).count == 1000
        assert run.search(limit=50_000, **workers).count == 50_000
        assert run.search(jobs=2).count == len(grids)


class Killer:
    """Kills a worker process of a Dask cluster when a third of the tree is finished."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.killed = None

    def __call__(self, search):
        if self.killed is None and search.finished_share > 1 / 3:
            self.killed = self.cluster.workers[0].pid
            os.kill(self.killed, signal.SIGKILL)
            assert not search.complete


def test_a_count_survives_the_death_of_a_dask_worker(cluster):
    problem, stack = clue_row()
    killer = Killer(cluster)
    options = {"backend": "dask", "address": cluster.scheduler_address, "budget": 8000}
    result = count(problem, stack, on_progress=killer, **options)
    assert killer.killed is not None
    assert (result.count, result.complete, result.failures) == (N_GRIDS, True, [])
    assert result.nodes == count(problem, stack, jobs=1).nodes


def test_an_enumeration_survives_the_death_of_a_dask_worker(cluster, grids, tmp_path):
    killer = Killer(cluster)
    options = {"backend": "dask", "address": cluster.scheduler_address, "budget": 8000}
    assert enumerated(tmp_path / "run", on_progress=killer, **options) == grids
    assert killer.killed is not None


class Told(bs.ExactCover):
    """A problem that counts how often it is pickled."""

    pickled = 0

    def __reduce__(self):
        Told.pickled += 1
        arrays = (self.indptr, self.indices, self.n_items, self.n_primary)
        return bs.ExactCover, arrays


@pytest.mark.parametrize("workers", ["dask", "ray"], indirect=True)
def test_a_problem_is_sent_once_and_not_with_every_task(workers):
    problem = Told(QUEENS.indptr, QUEENS.indices, QUEENS.n_items, QUEENS.n_primary)
    Told.pickled = 0
    result = count(problem, budget=100, engine="dlx", **workers)
    assert result.count == N_QUEENS
    assert result.subproblems > 20
    assert Told.pickled == 1


@pytest.fixture(scope="module")
def right():
    with Pool(1) as pool:
        return by_root(pool.start(work(), tasks()))


@pytest.mark.parametrize("workers", ["dask", "ray"], indirect=True)
def test_tasks_that_raise_and_workers_killed_once(workers, right, tmp_path):
    once = Failing([13], "kill", once=str(tmp_path / "killed"))
    with Pool(**workers) as pool:
        assert by_root(pool.start(work(once), tasks())) == right
        assert (tmp_path / "killed").exists()
        answers = scheduled(pool, Failing([7], "raise"))
    assert answers.pop(7) == "the search failed: RuntimeError: a bug in the search"
    assert answers == {root: n for root, n in right.items() if root != 7}


class KillsWhereItIsBrought:
    """Work that kills the first process that unpickles it."""

    def __init__(self, work, once):
        self.work, self.once = work, once

    def __reduce__(self):
        return _brought, (self.work, self.once)


def _brought(work, once):
    with suppress(FileExistsError):
        os.close(os.open(once, os.O_CREAT | os.O_EXCL))
        os.kill(os.getpid(), signal.SIGKILL)
    return work


@pytest.mark.parametrize("workers", ["dask"], indirect=True)
def test_a_worker_killed_while_it_gets_the_problem_does_not_end_the_search(
    workers, right, tmp_path
):
    killing = KillsWhereItIsBrought(work(), str(tmp_path / "killed"))
    with Pool(**workers) as pool:
        assert by_root(pool.start(killing, tasks())) == right
    assert (tmp_path / "killed").exists()


@pytest.mark.parametrize("workers", ["dask"], indirect=True)
def test_a_worker_that_never_got_the_problem_does_not_fail_a_search_that_is_over(workers, right):
    def forget(dask_worker):
        for name in [name for name in dask_worker.plugins if name.startswith("batchsolve")]:
            del dask_worker.plugins[name]

    with Pool(**workers) as pool:
        assert by_root(pool.start(work(), tasks())) == right
        pool._workers._client.run(forget)


@pytest.mark.parametrize("workers", ["ray"], indirect=True)
def test_sigterm_to_a_worker_of_ray_does_not_end_the_run(workers, right, tmp_path):
    """Ray has it raise SystemExit, which joblib would hand to this process."""
    once = Failing([13], "terminate", once=str(tmp_path / "terminated"))
    with Pool(**workers) as pool:
        assert by_root(pool.start(work(once), tasks())) == right
    assert (tmp_path / "terminated").exists()


@pytest.mark.parametrize("workers", ["ray"], indirect=True)
def test_news_of_a_death_that_ray_cannot_read_is_a_death(workers, right, ray, monkeypatch):
    broken = []
    with Pool(**workers) as pool:
        real = pool._workers.run

        def run(function, arguments):
            if not broken:
                broken.append(next(arguments))
                raise ray.exceptions.RaySystemError("no answer")
            yield from real(function, arguments)

        monkeypatch.setattr(pool._workers, "run", run)
        assert by_root(pool.start(work(), tasks())) == right
    assert broken


def test_a_row_that_kills_every_worker_of_a_cluster_of_one_is_singled_out(monkeypatch, right):
    """With one worker joblib would search in this process, and the row would kill that.

    Dask would not begin a worker again that is not back so long after it died.
    """
    module = pytest.importorskip("batchsolve.workers.dask")
    monkeypatch.setattr(module, "DEATHS_FORGIVEN", 0)
    lost = {"distributed.deploy.lost-worker-timeout": "100 ms"}
    with module.dask.config.set(lost), Pool(1, "dask") as pool:
        answers = scheduled(pool, Failing([13], "kill"))
        assert answers.pop(13) == "the search killed its worker process twice"
        assert answers == {root: n for root, n in right.items() if root != 13}
        (done, *_) = pool.start(work(), tasks()[:1])
        assert isinstance(done, Done)
        assert done.timing.worker.split("/")[0] != str(os.getpid())


@pytest.mark.parametrize("seconds", [0.0, 0.05, 1.0])
def test_workers_that_die_between_rounds_are_replaced(right, seconds):
    with Pool(2, "loky") as pool:
        done = list(pool.start(work(), tasks()))
        for pid in {int(each.timing.worker.split("/")[0]) for each in done}:
            os.kill(pid, signal.SIGKILL)
        time.sleep(seconds)
        for _ in range(2):
            assert by_root(pool.start(work(), tasks())) == right


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_result_of_a_round_that_was_given_up_does_not_disturb_the_next(right, backend):
    """It may come in after joblib has forgotten that round, and before the next begins."""
    with Pool(2, backend) as pool:
        parallel = pool._workers._parallel
        late = []
        add = parallel._register_new_job
        parallel._register_new_job = lambda job: (late.append(job), add(job))
        next(running := pool.start(work(), tasks()))
        running.close()
        parallel._jobs.append(late[-1])
        assert by_root(pool.start(work(), tasks())) == right


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_round_that_ends_too_early_is_completed(right, backend):
    """As it does when a result of an earlier one is counted."""
    with Pool(2, backend) as pool:
        running = pool.start(work(), tasks())
        pool._workers._parallel.n_completed_tasks += 3
        assert by_root(running) == right
        assert by_root(pool.start(work(), tasks())) == right


MAIN = "from batchsolve.__main__ import main; main()"


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="finds processes through /proc")
@pytest.mark.parametrize(
    ("how", "word", "code"),
    [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143)],
)
@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_a_signal_ends_a_run_and_its_cluster(backend, how, word, code, tmp_path):
    pytest.importorskip({"dask": "distributed", "ray": "ray"}[backend])
    run = tmp_path / "run"
    command = [sys.executable, "-c", MAIN, "enumerate", "queens:17", "-o", str(run), "--quiet"]
    process = subprocess.Popen(
        [*command, "--backend", backend, "--jobs", "2"],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while not list(run.glob("solutions/*.parquet")):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.1)
        if how == signal.SIGINT:  # a terminal tells the whole group
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        process.wait(timeout=60)
    finally:
        process.kill()
    assert process.returncode == code
    deadline = time.monotonic() + 100  # on a busy machine agents of Ray took more than 15 s
    while left := in_session(process.pid):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
    kept = f"what is done is kept in {run}; go on with --resume"
    # no sooner, for workers have the same pipes
    assert process.communicate() == ("", f"\nbatchsolve: {word}; {kept}\n")


@pytest.mark.parametrize("told", [True, False])
def test_sigterm_while_ray_starts_does_as_before(monkeypatch, told):
    """Ray takes SIGTERM for itself when it starts, and has it raise SystemExit."""
    module = pytest.importorskip("batchsolve.workers.ray")
    heard = []

    def starts(*_, **__):
        signal.signal(signal.SIGTERM, lambda signum, _: sys.exit(signum))
        if told:
            signal.raise_signal(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, lambda signum, _: heard.append(signum))
    try:
        monkeypatch.setattr(module.RayWorkers, "_connect", starts)
        monkeypatch.setattr(module.ray, "is_initialized", lambda: False)
        monkeypatch.setattr(module.ray, "shutdown", lambda: None)  # it takes SIGTERM's handler
        monkeypatch.setattr(module, "_cpus", lambda: 0)
        with pytest.raises(SystemExit if told else bs.InputError):
            module.RayWorkers(1)._open()
        assert heard == [signal.SIGTERM] * told
        signal.raise_signal(signal.SIGTERM)  # the handler is back
        assert len(heard) == 1 + told
    finally:
        signal.signal(signal.SIGTERM, before)


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
    pytest.importorskip("distributed")
    command = [sys.executable, "-c", INTERRUPTED_START]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.stdout, ended.stderr) == ("interrupted\n", "")


STUCK_AFTER_SIGTERM = """
import ctypes, os, signal, sys, threading
from batchsolve.workers.ray import _ending_after_sigterm

heard = []
signal.signal(signal.SIGTERM, lambda signum, _: heard.append(signum))
signal.siginterrupt(signal.SIGTERM, False)  # compiled code goes on as if nothing had happened
empty, _ = os.pipe()
with _ending_after_sigterm(0.5):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
    if sys.argv[1] == "stuck":
        ctypes.CDLL(None).read(empty, ctypes.create_string_buffer(1), 1)
    while not heard:
        pass
print("ended by itself")
"""


@pytest.mark.parametrize(
    ("how", "code", "out", "error"),
    [("stuck", 143, "", "\nbatchsolve: terminated\n"), ("free", 0, "ended by itself\n", "")],
)
def test_sigterm_ends_a_process_that_ray_keeps_in_compiled_code(how, code, out, error):
    pytest.importorskip("ray")
    command = [sys.executable, "-c", STUCK_AFTER_SIGTERM, how]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, out, error)


def test_a_dask_worker_killed_while_it_starts_is_one_clear_error(monkeypatch):
    distributed = pytest.importorskip("distributed")

    def fails(self, **_):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed.LocalCluster, "__init__", fails)
    with pytest.raises(bs.WorkersError, match=r"did not start \(Nanny failed to start\.\); try"):
        bs.count("queens:6", backend="dask", jobs=1)


def in_session(leader):
    """Return the processes of a session that still run."""
    return [process.command for process in processes() if process.session == leader]


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_an_address_without_tls_is_refused_where_dask_requires_encryption():
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")
    with (
        dask.config.set({"distributed.comm.require-encryption": True}),
        pytest.raises(bs.InputError, match="requires encryption"),
    ):
        count(QUEENS, backend="dask", address=f"tcp://127.0.0.1:{unused_port()}")


@pytest.mark.parametrize("is_open", [False, True])
def test_ports_of_a_dask_cluster_that_are_open_are_said(cluster, monkeypatch, is_open):
    if is_open:
        monkeypatch.setattr("batchsolve.workers.dask.LOOPBACK", ())
    address = cluster.scheduler_address
    done = CliRunner().invoke(
        app, ["count", "queens:6", "--backend", "dask", "--scheduler", address, "--quiet"]
    )
    assert (done.exit_code, done.stdout) == (0, "4\n")
    said = f"batchsolve: {address}: whoever reaches its ports can run what they like"
    assert done.stderr.startswith(said) == is_open
    assert done.stderr.count("\n") == is_open


@pytest.mark.parametrize("asks", [False, True])
def test_a_ray_cluster_that_asks_for_no_token_is_said(ray, monkeypatch, caplog, asks):
    monkeypatch.setattr("batchsolve.workers.ray._asks_for_a_token", lambda: asks)
    assert count(QUEENS, backend="ray", jobs=2).count == N_QUEENS
    assert ("set RAY_AUTH_MODE=token" in caplog.text) != asks


def test_a_dask_cluster_without_workers_is_one_clear_error(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("batchsolve.workers.dask.JOIN_SECONDS", 0.2)
    with (
        dask_cluster(n_workers=0) as cluster,
        pytest.raises(bs.InputError, match=r"no worker has joined in 0\.2 s"),
    ):
        count(QUEENS, backend="dask", address=cluster.scheduler_address)


def test_backends_that_cannot_be_used_are_refused(monkeypatch):
    with pytest.raises(bs.InputError, match="'loky' runs on this machine only; it takes no addr"):
        get_workers("loky", address="tcp://127.0.0.1:8786")
    with pytest.raises(bs.InputError, match="uses every worker that the cluster has; leave out"):
        get_workers("dask", jobs=2, address="tcp://127.0.0.1:8786")
    monkeypatch.setattr(errors, "find_spec", lambda module: None)
    for backend, module in (("dask", "distributed"), ("ray", "ray")):
        needs = rf"the backend '{backend}' needs the module '{module}', which is not installed: "
        with pytest.raises(bs.InputError, match=needs + rf"pip install 'batchsolve\[{backend}\]'"):
            get_workers(backend)


@pytest.mark.parametrize(
    ("backend", "address", "why"),
    [
        ("dask", "tcp://127.0.0.1:{port}", "no Dask scheduler answers .*; write tcp://host:port"),
        ("dask", "nowhere", "no Dask scheduler answers .*missing port"),
        ("dask", "tls://127.0.0.1:{port}", "names no certificate of the client"),
        ("ray", "127.0.0.1:{port}", "no Ray cluster answers .*refused.*; write host:port, or auto"),
        ("ray", "nowhere", "no Ray cluster answers"),
    ],
)
def test_a_cluster_that_is_not_there_is_one_clear_error(
    backend, address, why, monkeypatch, tmp_path
):
    module = pytest.importorskip(f"batchsolve.workers.{backend}")
    monkeypatch.setattr(module, "CONNECT_SECONDS", 0.5)
    if backend == "ray":
        module.ray.shutdown()  # also the one of this module, whose tests come before this
    corpus = tmp_path / "in.txt"
    corpus.write_text("1.....2..3.....4\n")
    address = address.format(port=unused_port())
    with pytest.raises(bs.InputError, match=why):
        bs.solve_file(str(corpus), str(tmp_path / "out.csv"), backend=backend, address=address)
    assert os.listdir(tmp_path) == ["in.txt"]  # so the same command can be tried again
