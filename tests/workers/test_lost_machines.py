"""A cluster that loses machines during a search, for good or until another joins."""

import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager

import pytest
from backends import unused_port
from soak_jobs import dask_cluster

import batchsolve as bs
from batchsolve.engines import Task, get_engine
from batchsolve.problems.families import family
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.count import count
from batchsolve.search.tree import TreeWork
from batchsolve.workers import Pool, base

QUEENS, N_QUEENS, N_NODES = family("queens:12"), 14_200, 241_498
WORK = TreeWork(get_engine("algorithm-x"), QUEENS)
TASKS = [(7, Task.of(Stacks.from_lists([[]]), budget=100))]
# by default Ray takes about 18 s to notice a lost machine, and more on busy machines
SOON_MISSED = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_failure_threshold": 3,
}


class Loses:
    """A callback that loses machines of a cluster, each at a share of the tree.

    Workers on a lost machine take tasks for some more seconds. Once none is left, results are taken
    slowly, `pause` seconds each; otherwise all might be done before the loss is noticed.
    """

    def __init__(self, *losses, pause=0.0):
        self.losses, self.pause = list(losses), pause

    def __call__(self, search):
        while self.losses and search.finished_share > self.losses[0][0]:
            assert not search.complete
            self.losses.pop(0)[1]()
        if not self.losses:
            time.sleep(self.pause)


@pytest.fixture(scope="module")
def cluster():
    """Yield a Ray cluster of a head without a CPU."""
    module = pytest.importorskip("batchsolve.workers.ray")
    from ray.cluster_utils import Cluster

    module.ray.shutdown()
    # the head has its own address, because this process takes it for its machine
    head = {"num_cpus": 0, "include_dashboard": False, "_system_config": SOON_MISSED}
    cluster = Cluster(True, head_node_args=head)
    yield cluster
    cluster.shutdown()


@pytest.fixture
def machines(cluster, monkeypatch):
    """Yield the address of a Ray cluster, and how to lose each of two machines with a CPU."""
    module = pytest.importorskip("batchsolve.workers.ray")
    monkeypatch.setattr(base, "AGAIN_SECONDS", 0.5)
    nodes = [cluster.add_node(num_cpus=1, node_ip_address=f"127.0.0.{k}") for k in (2, 3)]
    try:
        yield cluster.address, [lambda n=n: cluster.remove_node(n, False) for n in nodes]
    finally:
        module.ray.shutdown()
        for node in cluster.worker_nodes & {*nodes}:
            cluster.remove_node(node)


def test_ray_goes_on_with_machines_that_are_left_and_without_any_ends(machines, tmp_path, caplog):
    address, (lose, lose_the_other) = machines
    how = {"engine": "algorithm-x", "budget": 100, "backend": "ray", "address": address}
    result = count(family("queens:10"), on_progress=Loses((0.1, lose), pause=0.05), **how)
    assert (result.count, result.nodes, result.failures) == (724, 13_256, [])
    assert (result.complete, result.jobs) == (True, 1)
    losses = [(0.1, lose_the_other)]  # later, the rest may be done already
    ends_and_is_resumed(tmp_path / "run", losses, backend="ray", address=address)
    wait = f"{address}: too few workers; waiting up to 0.5 s for others to join"
    assert wait in caplog.messages


def test_ray_goes_on_at_once_if_machines_are_lost_between_rounds(machines):
    ray = pytest.importorskip("ray")
    address, (lose, _) = machines
    with Pool(2, "ray", address) as pool:
        lose()
        while ray.cluster_resources().get("CPU") != 1:
            time.sleep(0.1)
        results = list(pool.start(WORK, TASKS))
        while pool.jobs != 1:
            time.sleep(0.1)
    assert [(done.number, done.result.n_nodes) for done in results] == [(7, 100)]


@contextmanager
def started_dask(address=None, n_workers=1):
    """Start a Dask scheduler and workers as processes; yield the address and the scheduler."""
    distributed = pytest.importorskip("distributed")
    address = address or f"tcp://127.0.0.1:{unused_port()}"
    arguments = ["--host", "127.0.0.1", "--port", address.rpartition(":")[2], "--no-dashboard"]
    how = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    commands = [["distributed.cli.dask_scheduler", *arguments]]
    commands += [["distributed.cli.dask_worker", address, "--no-nanny"]] * n_workers
    processes = [subprocess.Popen([sys.executable, "-m", *each], **how) for each in commands]
    try:
        with distributed.Client(address, timeout=60, set_as_default=False) as client:
            if n_workers:
                client.wait_for_workers(n_workers, timeout=60)
        yield address, processes[0]
    finally:
        for process in processes:
            process.kill()
            process.wait()


NONE_LEFT = r"no worker is left, and none has joined in 0\.5 s"


def ends_and_is_resumed(directory, losses, why=NONE_LEFT, **workers):
    """Lose all machines; check that one clear error is raised, and resume the run elsewhere."""
    with bs.Run(directory, QUEENS, engine="dlx") as run, pytest.raises(bs.WorkersError, match=why):
        run.search(on_progress=Loses(*losses, pause=0.3), budget=1000, **workers)
    with bs.Run(directory, QUEENS, engine="dlx", resume=True) as run:
        result = run.search()
    assert (result.count, result.nodes, result.complete) == (N_QUEENS, N_NODES, True)


def test_losses_and_waits_are_said(monkeypatch, caplog):
    monkeypatch.setattr(base, "LOOK_SECONDS", 0.001)
    looks = iter([{"a", "b"}, {"a", "b"}, {"b", "c"}, OSError("no scheduler"), {"b"}, set()])
    ended = threading.Event()

    def there():
        found = next(looks, set())
        if isinstance(found, OSError):
            raise found
        known[:] = [found]
        return found

    known = [set()]
    stuck = lambda: None if known[0] else "calls"  # noqa: E731
    with base.watched(stuck, lambda _: ended.set(), 0.02, "the cluster", there):
        assert ended.wait(30)
    assert caplog.messages[:4] == [
        "the cluster: lost a; others do the tasks",
        "the cluster: lost c; others do the tasks",
        "the cluster: lost b; no worker is left",
        "the cluster: too few workers; waiting up to 0.02 s for others to join",
    ]


def test_dask_without_workers_is_one_clear_error(monkeypatch, tmp_path):
    monkeypatch.setattr(base, "AGAIN_SECONDS", 0.5)
    with dask_cluster() as cluster:
        losses = [(0.1, lambda: cluster.scale(0))]
        address = cluster.scheduler_address
        ends_and_is_resumed(tmp_path / "run", losses, backend="dask", address=address)


def test_dask_without_its_scheduler_is_one_clear_error(tmp_path, capfd):
    with started_dask() as (address, scheduler):
        why = f"^{address}: the scheduler is lost; start it"
        losses = [(0.1, scheduler.kill)]
        ends_and_is_resumed(tmp_path / "run", losses, why, backend="dask", address=address)
    assert "Failed to reconnect" not in capfd.readouterr().err


@pytest.mark.parametrize("asked", ["scheduler_info", "wait_for_workers"])
def test_a_dask_scheduler_lost_as_soon_as_it_answered_is_one_clear_error(monkeypatch, asked):
    distributed = pytest.importorskip("distributed")
    with started_dask(n_workers=0) as (address, scheduler):
        ask = getattr(distributed.Client, asked)

        def ask_nobody(client, *args, **kwargs):
            scheduler.kill()
            scheduler.wait()
            return ask(client, *args, **kwargs)

        monkeypatch.setattr(distributed.Client, asked, ask_nobody)
        with pytest.raises(bs.WorkersError, match=f"^{address}: the scheduler is lost; start it"):
            count(QUEENS, backend="dask", address=address)


def test_a_dask_scheduler_begun_anew_is_one_clear_error(monkeypatch):
    """Its workers lack the problem, so all tasks from then on would fail."""
    monkeypatch.setattr("batchsolve.workers.dask.CONNECT_SECONDS", 60)

    def search(address, scheduler, anew):
        with Pool(None, "dask", address) as pool:
            assert [done.result.n_nodes for done in pool.start(WORK, TASKS)] == [100]
            client = pool.workers._client
            connection = client.scheduler_comm
            scheduler.kill()
            scheduler.wait()
            anew.enter_context(started_dask(address, n_workers=0))
            while client.scheduler_comm in (None, connection) or client.status != "running":
                time.sleep(0.01)
            list(pool.start(WORK, TASKS))

    with (
        ExitStack() as anew,
        started_dask() as (address, scheduler),
        pytest.raises(bs.WorkersError, match=f"^{address}: the scheduler is lost; start it"),
    ):
        search(address, scheduler, anew)
