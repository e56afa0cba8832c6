"""Runs of every kind are killed and resumed: with costs, bounds, up to symmetry, memoised."""

import os
import signal
import subprocess
import sys

import pytest
from every_step import EVERY_STEP, hear
from invoking import invoke
from kinds import graphs, with_costs

from batchsolve.formats.exact_cover_files import write_dlx
from batchsolve.runs.export import export_run
from batchsolve.runs.run import describe_run

KINDS = {
    "costs": (with_costs("langford:11"), ["--best", "20", "--budget", "300"], "threading"),
    "bounds": (graphs(8, 3, 3), ["--budget", "2000"], "loky"),
    "symmetry": ("queens:10", ["--up-to-symmetry", "--budget", "1000"], "threading"),
}
needs_sessions = pytest.mark.skipif(not hasattr(os, "killpg"), reason="kills a session")


def exported(run):
    """Return all solutions of a run, sorted."""
    path = run.with_suffix(".csv")
    export_run(str(run), str(path))
    return path.read_bytes()


def kill_after_steps(words):
    """Start a command; kill it and its workers after some steps."""
    command = [sys.executable, "-c", EVERY_STEP, *words, "--quiet"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        hear(process, 4)
        os.killpg(process.pid, signal.SIGKILL)


@needs_sessions
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_is_killed_goes_on_and_finds_the_same(kind, tmp_path):
    problem, options, backend = KINDS[kind]
    if not isinstance(problem, str):
        (tmp_path / "problem.dlx").write_text(write_dlx(problem))
        problem = str(tmp_path / "problem.dlx")
    words = ["enumerate", problem, "--engine", "dlx", "--resume", "--jobs", "2", *options, "-o"]
    whole, run = tmp_path / "whole", tmp_path / "killed"
    assert invoke(*words, whole).exit_code == 0
    kill_after_steps([*words, str(run), "--backend", backend])
    assert describe_run(str(run))["outstanding"]
    assert invoke(*words, run).exit_code == 0
    assert exported(run) == exported(whole)
    assert len(exported(run).splitlines()) > 20


@needs_sessions
def test_a_memoised_count_that_is_killed_goes_on_to_the_same_sum(tmp_path):
    run = tmp_path / "run"
    words = ["count", "dominoes:10x10", "--memo", "--run", str(run), "--resume", "--jobs", "2"]
    kill_after_steps([*words, "--backend", "loky", "--budget", "500"])
    begun = describe_run(str(run))
    assert begun["outstanding"]
    assert begun["nodes"]
    done = invoke(*words)
    assert done.exit_code == 0
    # P. W. Kasteleyn, The statistics of dimers on a lattice, 1961; OEIS A004003
    assert done.stdout.split() == ["258584046368"]
