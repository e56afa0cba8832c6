"""Runs of every kind are killed and resumed: trees with costs, bounds and so on, and tables."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import mixed_puzzles
from every_step import EVERY_STEP, ended_by, hear
from invoking import invoke
from kinds import graphs, with_costs
from soak_jobs import is_worker, processes

from batchsolve.formats.exact_cover_files import write_dlx
from batchsolve.problems.families import family
from batchsolve.runs.export import export_run
from batchsolve.runs.run import describe_run

KINDS = {  # the name of a problem, the text of the file of that name, and options
    "grid.txt": ("123456456" + "." * 27, ["--budget", "300", "--backend", "loky"]),
    "costs.dlx": (write_dlx(with_costs("langford:8")), ["--best", "20", "--budget", "50"]),
    "bounds.dlx": (write_dlx(graphs(7, 2, 2)), ["--budget", "200"]),
    "queens:10": ("", ["--up-to-symmetry", "--budget", "1000"]),
}
needs_sessions = pytest.mark.skipif(not hasattr(os, "killpg"), reason="kills a session")


def exported(run):
    """Return all solutions of a run, sorted."""
    path = run.with_suffix(".csv")
    export_run(str(run), str(path))
    return path.read_bytes()


def kill_after_steps(words, and_a_worker_before=False):
    """Start a command; kill it and its workers after some steps.

    If workers are processes, the command has to go on after one was killed before.
    """
    command = [sys.executable, "-c", EVERY_STEP, *words, "--quiet"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        hear(process, 4)
        mine = [each for each in processes() if each.parent == process.pid]
        for worker in [each.pid for each in mine if is_worker(each)][:and_a_worker_before]:
            os.kill(worker, signal.SIGKILL)
            hear(process, 3)
        os.killpg(process.pid, signal.SIGKILL)
        process.stdout.read()  # until none is left that has its files, as one that was just forked


@needs_sessions
@pytest.mark.parametrize("name", KINDS)
def test_a_run_that_is_killed_goes_on_and_finds_the_same(name, here):
    text, options = KINDS[name]
    if text:
        Path(name).write_text(text)
    words = ["enumerate", name, "--engine", "dlx", "--resume", "--jobs", "2", *options, "-o"]
    whole, run = here / "whole", here / "killed"
    assert invoke(*words, whole).exit_code == 0
    kill_after_steps([*words, str(run)], and_a_worker_before=True)
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
    # P. W. Kasteleyn, The statistics of dimers on a lattice, 1961; OEIS A004003
    assert (done.exit_code, done.stdout.split()) == (0, ["258584046368"])


def words_of(command, folder):
    """Return a command of tables, with an input that it makes if it needs one."""
    source = folder / "in"
    if command == "generate":
        return ["generate", "-n", 240, "--box", "2x2", "--seed", 5, "--minimal", "--chunk", 10]
    if command == "solve":
        source.write_text(mixed_puzzles(1200))
        return ["solve", source, "--chunk", 50]
    source.mkdir()
    names = [f"{name}:{n}" for n in range(4, 7) for name in ("queens", "langford", "matchings")]
    for k in range(28):
        text = write_dlx(family(names[k % 9])) if k % 25 else "a b\na x\n"
        (source / f"{k:03}.dlx").write_text(text)
    (source / "017.dlx").write_text(write_dlx(family("queens:10")))
    return ["count", source, "--chunk", 2, "--jobs", 2, "--budget", 2000, "--backend", "loky"]


TABLES = {  # command -> the output, the signal, and how many chunks there are before it
    "solve": (".csv", signal.SIGKILL, (8, 14)),
    "generate": (".parquet", signal.SIGINT, (8, 14)),
    "count": (".csv", signal.SIGKILL, (5, 7)),
}


@needs_sessions
@pytest.mark.parametrize("command", TABLES)
def test_a_table_that_is_interrupted_goes_on_to_the_same_bytes(command, tmp_path):
    suffix, how, chunks = TABLES[command]
    words, whole, out = words_of(command, tmp_path), *(tmp_path / f"{n}{suffix}" for n in "wo")
    code = invoke(*words, "-o", whole).exit_code
    *interrupted, (last, _, _) = ended_by(how, [*words, "-o", out], out, chunks)
    assert interrupted
    for ended, messages, is_whole in interrupted:
        assert ended == (130 if how == signal.SIGINT else -how)
        if how == signal.SIGINT and not is_whole:
            assert messages.strip().count("\n") == 0
            assert "interrupted; the rows done are kept in" in messages
    assert last in (code, 130, -how)  # the code of a whole run, unless killed after its last step
    assert out.read_bytes() == whole.read_bytes()
    left = {f".{out.name}.batchsolve"} if last == -how else set()  # which the next writer removes
    assert set(os.listdir(tmp_path)) <= {"in", out.name, whole.name} | left
