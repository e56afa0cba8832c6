"""Ray gives the same results as other backends, also when workers die."""

import os
import signal
import sys
import time
from concurrent.futures import Future
from itertools import pairwise
from pathlib import Path

import pytest
from backends import OfClusters, check_no_cluster, enumerating, right, unused_port
from failing import Failing
from invoking import run_python
from rooted import by_root, tasks, work
from soak_jobs import processes

import batchsolve as bs
from batchsolve.workers import Pool, base


@pytest.fixture(scope="module")
def ray():
    """Ray on this machine, with two workers; pools of this process find it."""
    ray = pytest.importorskip("batchsolve.workers.ray").ray
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]))
        ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.fixture
def workers(ray):
    return {"backend": "ray", "jobs": 2}


class TestRay(OfClusters):
    backend = "ray"


def test_sigterm_to_a_worker_of_ray_does_not_end_the_run(workers, tmp_path):
    """Ray has it raise SystemExit, which would be the result of the call."""
    once = Failing([13], "terminate", once=str(tmp_path / "terminated"))
    with Pool(**workers) as pool:
        assert by_root(pool.start(work(once), tasks())) == right()
    assert (tmp_path / "terminated").exists()


def test_news_of_a_death_that_ray_cannot_read_is_a_death(workers, ray, monkeypatch):
    broken = []
    with Pool(**workers) as pool:
        real = pool.workers.run

        def run(function, arguments):
            if not broken:
                broken.append(next(arguments))
                raise ray.exceptions.RaySystemError("no answer")
            yield from real(function, arguments)

        monkeypatch.setattr(pool.workers, "run", run)
        assert by_root(pool.start(work(), tasks())) == right()
    assert broken


def test_one_worker_of_ray_is_no_part_of_this_process(ray):
    """As when all other machines are lost; a search that kills its worker would end the command."""
    with Pool(1, "ray") as pool:
        done = list(pool.start(work(), tasks()))
    assert by_root(done) == right()
    assert {each.worker.partition("/")[0] for each in done}.isdisjoint({str(os.getpid())})
    done.sort(key=lambda each: each.begin)  # one after the other, though Ray has two CPUs
    assert all(a.begin + a.seconds < b.begin + 0.001 for a, b in pairwise(done))


def test_ray_without_its_head_is_one_clear_error(ray, monkeypatch):
    """Ray itself would end this process, a minute later."""
    monkeypatch.setattr(base, "LOOK_SECONDS", 0.1)
    address = ray.get_runtime_context().gcs_address

    def search():
        with Pool(2, "ray", address) as pool:
            pool.workers._head = "127.0.0.1", ":", str(unused_port())
            list(pool.start(time.sleep, [(0, 2.0)]))

    with pytest.raises(bs.WorkersError, match=f"^{address}: the head is lost; start it again$"):
        search()


def test_ray_without_the_raylet_of_this_machine_is_one_clear_error(workers, ray, monkeypatch):
    lost = Future()
    lost.set_exception(ray.exceptions.LocalRayletDiedError())
    monkeypatch.setattr("batchsolve.workers.ray.RayWorkers._submit", lambda self, call: lost)
    why = "^the Ray cluster: the raylet of this machine is lost; start Ray again$"
    with Pool(**workers) as pool, pytest.raises(bs.WorkersError, match=why):
        list(pool.start(work(), tasks()[:1]))


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
        monkeypatch.setattr(module, "_machines", dict)
        with pytest.raises(SystemExit if told else bs.InputError):
            module.RayWorkers(1).__enter__()
        assert heard == [signal.SIGTERM] * told
        signal.raise_signal(signal.SIGTERM)  # the handler is back
        assert len(heard) == 1 + told
    finally:
        signal.signal(signal.SIGTERM, before)


TWO = """
import threading
import batchsolve as bs

def count(problem):
    counts.append(bs.count(problem, backend="ray", jobs=1).count)

if __name__ == "__main__":
    counts = []
    threads = [threading.Thread(target=count, args=[p]) for p in ("queens:6", "queens:10")]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    print(sorted(counts))
"""


def test_searches_of_two_threads_share_the_ray_of_the_first(tmp_path):
    """Processes of Ray end with the thread that has started them."""
    pytest.importorskip("ray")
    (tmp_path / "two.py").write_text(TWO)
    done = run_python(tmp_path / "two.py")
    assert done.stdout == "[4, 724]\n", done.stderr


def test_an_address_of_another_ray_than_that_of_this_process_is_refused(ray):
    here = ray.get_runtime_context().gcs_address
    assert bs.count("queens:6", backend="ray", address=here).count == 4
    with pytest.raises(bs.InputError, match=f"Ray is initialised in this process for {here}"):
        bs.count("queens:6", backend="ray", address="127.0.0.1:1")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="finds processes through /proc")
def test_sigterm_to_a_command_and_to_the_head_of_ray_ends_the_command(tmp_path):
    """Ray itself would try for a minute to reach its head, and end the command with code 1."""
    with enumerating("ray", tmp_path / "run") as process:
        of_session = [each for each in processes() if each.session == process.pid]
        (head,) = (each.pid for each in of_session if "gcs_server" in each.command)
        os.kill(head, signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    assert process.returncode == 143
    assert "batchsolve: terminated; what is done is kept in" in process.communicate()[1]


@pytest.mark.parametrize("asks", [False, True])
def test_a_ray_cluster_that_asks_for_no_token_is_said(workers, monkeypatch, caplog, asks):
    monkeypatch.setattr("batchsolve.workers.ray.asks_for_a_token", lambda: asks)
    with Pool(**workers):
        pass
    assert ("set RAY_AUTH_MODE=token" in caplog.text) != asks


NOT_THERE = [
    ("127.0.0.1:{port}", "no Ray cluster answers .*refused.*; write host:port, or auto"),
    ("nowhere", "no Ray cluster answers"),
]


@pytest.mark.parametrize(("address", "why"), NOT_THERE)
def test_a_cluster_that_is_not_there_is_one_clear_error(address, why, monkeypatch, tmp_path):
    module = pytest.importorskip("batchsolve.workers.ray")
    module.ray.shutdown()  # also the one of this module, whose tests come before this
    check_no_cluster("ray", address, why, monkeypatch, tmp_path)
