"""Tests of every backend, which the file of a backend inherits, and the problems they search.

Such a file defines the fixture `workers`: the arguments of a pool of two workers.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from conftest import n_covers
from failing import Failing
from rooted import N_ROOTS, PROBLEM, by_root, scheduled, tasks, work
from soak_jobs import processes

import batchsolve as bs
from batchsolve.problems.families import family
from batchsolve.runs import run as runs
from batchsolve.runs.count import count
from batchsolve.scaling.measure import Plan, read_workloads, run_plan
from batchsolve.workers import Pool

QUEENS, N_QUEENS, N_NODES = family("queens:9"), 352, 3827
CLUES, N_GRIDS = [1, 2, 3, 4], 78_336  # the first cells of a 6×6 grid
MAIN = "from batchsolve.__main__ import main; main()"


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
    found = sorted(row for path in parts for row in pq.read_table(path)[0].to_pylist())
    assert result.count == len(found)
    return found


@cache
def grids():
    """The grids of the clue row, as one thread finds them."""
    with tempfile.TemporaryDirectory() as folder:
        found = enumerated(Path(folder) / "run", jobs=1)
    assert len(set(found)) == len(found) == N_GRIDS
    return found


@cache
def right():
    """The count of each root, as dancing links find it."""
    return {root: n_covers(PROBLEM, [root]) for root in range(N_ROOTS)}


def await_the_end_of_all(leader):
    """Wait until no process of a session runs any more."""
    deadline = time.monotonic() + 100  # on a busy machine agents of Ray took more than 15 s
    while left := [each.command for each in processes() if each.session == leader]:
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


@contextmanager
def enumerating(backend, run):
    """Start a long enumeration by two workers, in a new session; yield it once it keeps covers."""
    pytest.importorskip(f"batchsolve.workers.{backend}")
    command = [sys.executable, "-c", MAIN, "enumerate", "queens:17", "-o", str(run), "--quiet"]
    command += ["--engine", "dlx", "--backend", backend, "--jobs", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, start_new_session=True, text=True, **pipes)
    try:
        while not list(run.glob("solutions/*.parquet")):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.1)
        yield process
    finally:
        process.kill()


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Told(bs.ExactCover):
    """A problem that counts how often it is pickled."""

    pickled = 0

    def __reduce__(self):
        Told.pickled += 1
        return bs.ExactCover, (self.indptr, self.indices, self.n_items, self.n_primary)


class OfEveryBackend:
    """Tests that every backend passes."""

    sends_once = False  # each problem, and not with every task

    def test_counts_are_the_same(self, workers):
        problem = Told(QUEENS.indptr, QUEENS.indices, QUEENS.n_items, QUEENS.n_primary)
        Told.pickled = 0
        result = count(problem, budget=100, engine="dlx", **workers)
        assert (result.count, result.nodes, result.complete) == (N_QUEENS, N_NODES, True)
        assert (result.backend, result.jobs) == (workers["backend"], 2)
        assert result.subproblems > 20
        assert not self.sends_once or Told.pickled == 1

    def test_enumerations_are_the_same(self, workers, tmp_path):
        assert enumerated(tmp_path / "run", budget=4000, **workers) == grids()

    def test_solved_files_are_the_same(self, workers, tmp_path):
        corpus = Path(__file__).parents[1] / "datasets" / "sudoku16.csv"
        bs.solve_file(str(corpus), str(tmp_path / "threads.csv"), jobs=1)
        summary = bs.solve_file(str(corpus), str(tmp_path / "out.csv"), chunk=100, **workers)
        assert summary.jobs == 2
        assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "threads.csv").read_bytes()

    def test_scaling_is_measured(self, workers):
        where = {"jobs": (workers.get("jobs"),), "address": workers.get("address")}
        grid = Plan(backends=(workers["backend"],), engines=("auto",), repeat=1, **where)
        ((run, log),) = run_plan([read_workloads("queens:9")[0]], grid)
        assert (run.count, run.nodes, run.jobs) == (N_QUEENS, N_NODES, 2)
        assert log["nodes"].sum() == N_NODES
        assert run.master > 0

    def test_tasks_that_raise_and_workers_killed_once(self, workers, tmp_path):
        once = Failing([13], "kill", once=str(tmp_path / "killed"))
        with Pool(**workers) as pool:
            if workers["backend"] != "threading":
                assert by_root(pool.start(work(once), tasks())) == right()
                assert (tmp_path / "killed").exists()
            answers = scheduled(pool, Failing([6, 7], "raise"))
        failed = ["the search failed: RuntimeError: a bug in the search"] * 2
        assert [answers.pop(root) for root in (6, 7)] == failed
        assert answers == {root: n for root, n in right().items() if root not in (6, 7)}


class OfClusters(OfEveryBackend):
    """Tests of a backend whose workers are a cluster; its name is `backend`."""

    sends_once = True
    of_other_version = bs.WorkersError  # raised if a worker has another version

    def test_a_worker_of_another_version_is_one_error(self, workers, monkeypatch):
        monkeypatch.setattr(bs, "__version__", "0.0.9")
        why = r"the worker \S+ has batchsolve \S+; install batchsolve 0\.0\.9 there, or stop it"
        with pytest.raises(self.of_other_version, match=f"{why}$"):
            bs.count(QUEENS, budget=100, engine="dlx", **workers)

    @pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="finds processes through /proc")
    @pytest.mark.parametrize(
        ("how", "word", "code"),
        [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143)],
    )
    def test_a_signal_ends_a_run_and_its_cluster(self, how, word, code, tmp_path):
        run = tmp_path / "run"
        with enumerating(self.backend, run) as process:
            if how == signal.SIGINT:  # a terminal tells the whole group
                os.killpg(process.pid, how)
            else:
                process.send_signal(how)
            process.wait(timeout=60)
        assert process.returncode == code
        await_the_end_of_all(process.pid)
        kept = f"what is done is kept in {run}; go on with --resume"
        # no sooner: workers have the same pipes
        assert process.communicate() == ("", f"\nbatchsolve: {word}; {kept}\n")


def check_no_cluster(backend, address, why, monkeypatch, tmp_path):
    """A cluster that is not there is one clear error, and no file is made."""
    monkeypatch.setattr(f"batchsolve.workers.{backend}.CONNECT_SECONDS", 0.5)
    corpus = tmp_path / "in.txt"
    corpus.write_text("1.....2..3.....4\n")
    address = address.format(port=unused_port())
    with pytest.raises(bs.InputError, match=why):
        bs.solve_file(str(corpus), str(tmp_path / "out.csv"), backend=backend, address=address)
    assert os.listdir(tmp_path) == ["in.txt"]  # so the same command can be tried again
