"""Disks that are full or read-only, folders that vanish, clocks that step back."""

import errno
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import chain, repeat
from unittest.mock import DEFAULT, Mock

import pyarrow.parquet as pq
import pytest
from failing import with_small_files

import batchsolve as bs
from batchsolve.problems.families import family
from batchsolve.runs import journal
from batchsolve.runs.journal import Journal
from batchsolve.runs.outputs import OneFile
from batchsolve.runs.run import Run, describe_run
from batchsolve.search import tree
from batchsolve.settings.arguments import JOURNAL

CLUES = "1.......2.......3.......4.......5.......6.......7.......8.......9" + 16 * "."
N_ROWS = 3000


def on_small_disk(folder, script):
    """Run a shell script with a small disk at folder/disk; return the lines of standard error."""
    disk = folder / "disk"
    disk.mkdir()
    shell = f"""
    mount -t tmpfs -o size=300k tmpfs {disk} || exit 77
    batchsolve() {{ {sys.executable} -m batchsolve "$@" --jobs 1 --quiet 2>> {folder}/said; }}
    {script}
    """
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", shell]
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode in (1, 77) and not (folder / "said").exists():
        pytest.skip(f"a small disk cannot be mounted here: {result.stderr}")
    assert result.returncode == 0, result.stderr
    return (folder / "said").read_text().splitlines()


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("puzzle\n" + f"{CLUES}\n" * N_ROWS)
    return path


@pytest.fixture
def expected(corpus, tmp_path):
    bs.solve_file(str(corpus), str(tmp_path / "expected.csv"))
    return (tmp_path / "expected.csv").read_bytes()


def test_a_full_disk_is_said_and_more_room_is_all_it_takes(expected, tmp_path):
    script = """
        batchsolve solve in.csv -o disk/out.csv; [ $? = 2 ] || exit 1
        batchsolve solve in.csv -o disk/out.csv --resume; [ $? = 2 ] || exit 2
        mount -o remount,size=10m disk
        batchsolve solve in.csv -o disk/out.csv --resume; [ $? = 0 ] || exit 3
        cp disk/out.csv . && [ "$(ls disk)" = out.csv ] || exit 4
    """
    said = on_small_disk(tmp_path, script)
    each = [
        "batchsolve: disk/out.csv.partial: cannot be written: No space left on device",
        "batchsolve: the rows done are kept in disk/out.csv.partial; go on with --resume",
    ]
    assert said == 2 * each
    assert (tmp_path / "out.csv").read_bytes() == expected


def test_a_disk_that_is_full_from_the_start_leaves_nothing_in_the_way(expected, tmp_path):
    script = """
        dd if=/dev/zero of=disk/other bs=1k count=296 2> /dev/null
        batchsolve solve in.csv -o disk/out.csv; [ $? = 2 ] || exit 1
        batchsolve enumerate queens:8 -o disk/run > /dev/null; [ $? = 2 ] || exit 2
        mount -o remount,size=10m disk
        batchsolve solve in.csv -o disk/out.csv; [ $? = 0 ] || exit 3
        batchsolve enumerate queens:8 -o disk/run --resume > /dev/null; [ $? = 0 ] || exit 4
        cp -r disk/out.csv disk/run .
    """
    said = on_small_disk(tmp_path, script)
    why = ": cannot be written .* is full.*; .* go on with --resume"
    for line, name in zip(said, ["out.csv.partial.journal", "run/journal.sqlite"], strict=True):
        assert re.fullmatch(f"batchsolve: disk/{name}{why}", line)
    assert (tmp_path / "out.csv").read_bytes() == expected
    assert describe_run(str(tmp_path / "run"))["count"] == 92


def test_a_read_only_disk_is_one_message_for_every_command(corpus, tmp_path):
    script = """
        mount -o remount,ro disk
        batchsolve solve in.csv -o disk/out.csv; [ $? = 2 ] || exit 1
        batchsolve count queens:5 --run disk/run; [ $? = 2 ] || exit 2
        batchsolve enumerate queens:5 -o disk/run; [ $? = 2 ] || exit 3
    """
    said = on_small_disk(tmp_path, script)
    why = "cannot be written: Read-only file system"
    assert said == [f"batchsolve: disk/{name}: {why}" for name in ("out.csv", "run", "run")]


LARGE = {  # command -> the name in its message
    "dedupe in.csv -o out.csv": "out.csv",
    "partition in.csv -o out": "out/train.csv",
    "split queens:9 --depth 4 --files 2 -o out": "out",
}


@pytest.mark.parametrize("words", LARGE)
def test_what_does_not_fit_is_called_by_the_name_of_the_output(tmp_path, words):
    puzzles = [made.puzzle for made in bs.generate(400, seed=1, box=(2, 2))]
    (tmp_path / "in.csv").write_text("\n".join(["puzzle", *puzzles]))
    done = with_small_files(1000, "-m", "batchsolve", *words.split(), cwd=tmp_path)
    why = f"batchsolve: {LARGE[words]}: cannot be written: File too large\n"
    assert (done.returncode, done.stderr) == (2, why)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "in.csv"]


def test_a_quota_that_is_met_at_a_sync_loses_nothing(corpus, expected, tmp_path, monkeypatch):
    """Network file systems report a full quota only then."""
    out = tmp_path / "out.csv"
    full = repeat(OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)))
    sync = Mock(wraps=os.fsync, side_effect=chain([DEFAULT] * 2, full))
    with monkeypatch.context() as patch:
        patch.setattr("batchsolve.runs.specs.JOURNAL_SECONDS", 0)
        patch.setattr("os.fsync", sync)
        why = "cannot be written: Disk quota exceeded"
        with pytest.raises(bs.OutputError, match=why) as failed:
            bs.solve_file(str(corpus), str(out), chunk=10, jobs=1)
    assert sync.call_count > 2
    assert any("go on with `resume`" in note for note in failed.value.__notes__)
    bs.solve_file(str(corpus), str(out), resume=True)
    assert out.read_bytes() == expected


def losing(folder, moved, step):
    """Return a callback that deletes a folder at a step, or renames it, and a list of the steps."""
    steps = []

    def lose(progress):
        steps.append(progress)
        if len(steps) == step and moved:
            folder.rename(folder.with_name("elsewhere"))
        elif len(steps) == step:
            shutil.rmtree(folder)

    return lose, steps


@pytest.mark.parametrize("moved", [False, True])
def test_a_folder_that_vanishes_is_noticed_at_the_next_step(corpus, tmp_path, monkeypatch, moved):
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setattr("batchsolve.runs.specs.JOURNAL_SECONDS", 0)
    lose, steps = losing(folder, moved, 3)
    with pytest.raises(bs.OutputError, match="was moved or deleted while the run") as failed:
        bs.solve_file(str(corpus), str(folder / "out.csv"), chunk=10, jobs=1, on_progress=lose)
    assert 3 <= len(steps) < 100
    assert not hasattr(failed.value, "__notes__")  # there is nothing to resume
    if moved:
        (tmp_path / "elsewhere").rename(folder)
        bs.solve_file(str(corpus), str(folder / "out.csv"), resume=True)
        assert os.listdir(folder) == ["out.csv"]


@pytest.mark.parametrize(("collect", "moved"), [(False, True), (True, False)])
def test_a_run_whose_folder_vanishes_ends_at_its_next_step(tmp_path, monkeypatch, collect, moved):
    monkeypatch.setattr(tree, "STEP_SECONDS", 0)
    folder = tmp_path / "run"
    lose, steps = losing(folder, moved, 1)
    with (
        Run(str(folder), family("queens:8"), collect=collect) as run,
        pytest.raises(bs.OutputError, match="was moved or deleted while the run was") as failed,
    ):
        run.search(on_progress=lose, jobs=1, budget=10)
    assert 0 < len(steps) < 100
    assert not hasattr(failed.value, "__notes__")


def test_a_clock_that_steps_back_changes_nothing(corpus, expected, tmp_path, monkeypatch):
    """As if it were set during a run; every reading is an hour before the previous one."""
    readings = iter(range(1_700_000_000, 0, -3600))
    monkeypatch.setattr(time, "time", lambda: float(next(readings)))
    out = tmp_path / "out.csv"
    bs.solve_file(str(corpus), str(out), chunk=100, jobs=2)
    assert out.read_bytes() == expected
    with Run(str(tmp_path / "run"), family("queens:8"), collect=True) as run:
        assert not run.search(jobs=2, budget=50, node_limit=300).complete
        result = run.search(jobs=2, budget=50)
    assert result.count == 92
    assert 0 <= result.seconds < 3600
    parts = sorted((tmp_path / "run" / "solutions").iterdir())
    assert sum(pq.read_metadata(part).num_rows for part in parts) == 92


@pytest.mark.parametrize("resume", [False, True])
def test_a_run_begins_where_one_was_interrupted_before_its_first_checkpoint(here, resume):
    """The file of its journal is there, without tables."""
    (here / "in.csv").write_text("puzzle\n1.....2..3.....4\n")
    path = here / "out.csv.partial.journal"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 1")  # writes a page
    assert path.stat().st_size
    assert not Journal.is_begun(str(path))
    assert bs.solve_file("in.csv", "out.csv", resume=resume).unique == 1
    assert not path.exists()


def test_an_output_that_cannot_be_closed_hides_no_earlier_error(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(OneFile, "close", Mock(side_effect=[bs.OutputError("no space"), None]))
    with pytest.raises(KeyboardInterrupt) as error:
        bs.solve_file(corpus, tmp_path / "out.csv", on_progress=Mock(side_effect=KeyboardInterrupt))
    assert "out.csv.partial; go on with `resume`" in error.value.__notes__[0]


def test_a_journal_that_has_just_been_made_is_not_called_damaged(tmp_path):
    (tmp_path / JOURNAL).touch()
    with pytest.raises(bs.JournalError, match="is empty; the run has just begun, so look again"):
        describe_run(str(tmp_path))


def test_a_lock_that_another_process_keeps_is_said_to_be_one(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "_WAIT_SECONDS", 0.0)
    path = str(tmp_path / "a.journal")
    assert not Journal.is_begun(path)
    with Journal(path, "solve", {}) as mine, closing(sqlite3.connect(path)) as other:
        assert Journal.is_begun(path)
        other.execute("BEGIN")
        other.execute("SELECT * FROM run").fetchall()
        with pytest.raises(bs.OutputError, match=r"\(database is locked\); end the process that"):
            mine.record({"rows": 1})
        other.rollback()
        mine.record({"rows": 2})
        assert mine.state() == {"rows": 2}
    assert Journal.is_begun(path)
