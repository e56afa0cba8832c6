"""Runs of every kind are killed and resumed: with costs, bounds, up to symmetry, memoised."""

import os
import signal
import subprocess
import sys

import pytest
from every_step import EVERY_STEP
from kinds import regular_graphs, with_costs

from batchsolve.formats.exact_cover_files import write_dlx
from batchsolve.runs.export import export_run
from batchsolve.runs.run import describe_run

KINDS = {
    "costs": (with_costs("langford:11"), ["--best", "20", "--budget", "300"]),
    "bounds": (regular_graphs(8, 3), ["--budget", "2000"]),
    "symmetry": ("queens:10", ["--up-to-symmetry", "--budget", "1000"]),
}


def exported(run):
    """Return all solutions of a run, sorted."""
    path = run.with_suffix(".csv")
    export_run(str(run), str(path))
    return path.read_bytes()


@pytest.fixture(scope="module", params=KINDS)
def command(request, tmp_path_factory):
    """Return a command of each kind, and its whole output without kills."""
    problem, options = KINDS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    if not isinstance(problem, str):
        (folder / "problem.dlx").write_text(write_dlx(problem))
        problem = str(folder / "problem.dlx")
    command = [sys.executable, "-c", EVERY_STEP, "enumerate", problem, "--engine", "dlx"]
    command += ["--resume", "--quiet", "--jobs", "2", *options]
    whole = folder / "whole"
    done = subprocess.run([*command, "-o", str(whole)], stdout=subprocess.DEVNULL)
    assert done.returncode == 0
    return command, exported(whole)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="kills a session")
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_run_that_is_killed_goes_on_and_finds_the_same(command, backend, tmp_path):
    command, wanted = command
    run = tmp_path / "killed"
    killed = [*command, "--backend", backend, "-o", str(run)]
    process = subprocess.Popen(killed, stdout=subprocess.PIPE, start_new_session=True)
    for _ in range(4):
        assert process.stdout.readline() == b"kept\n"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert describe_run(str(run))["outstanding"]
    assert subprocess.run(killed, stdout=subprocess.DEVNULL).returncode == 0
    assert exported(run) == wanted
    assert len(wanted.splitlines()) > 20


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="kills a session")
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_memoised_count_that_is_killed_goes_on_to_the_same_sum(backend, tmp_path):
    run = tmp_path / "run"
    command = [sys.executable, "-c", EVERY_STEP, "count", "dominoes:10x10", "--memo", "--quiet"]
    command += ["--run", str(run), "--resume", "--jobs", "2", "--backend", backend]
    killed = subprocess.Popen(
        [*command, "--budget", "500"], stdout=subprocess.PIPE, start_new_session=True
    )
    for _ in range(4):
        assert killed.stdout.readline() == b"kept\n"
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    begun = describe_run(str(run))
    assert begun["outstanding"]
    assert begun["nodes"]
    done = subprocess.run(command, capture_output=True)
    assert done.returncode == 0
    # P. W. Kasteleyn, The statistics of dimers on a lattice, 1961; OEIS A004003
    assert done.stdout.split()[-1] == b"258584046368"
