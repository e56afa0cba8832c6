"""A file has one writer at a time, and rows that an interrupted run left stay."""

import errno
import fcntl
import os
from pathlib import Path
from unittest.mock import Mock, patch

import pytest
from conftest import EASY, PUZZLE, SOLUTION
from invoking import invoke, refused

import batchsolve as bs
from batchsolve.formats.whole_files import lent_folder, only_writer, whole_file

ROWS = f"{PUZZLE}\n" * 3
WRITERS = {
    "sample": ("sample", "queens:6", "-n", "3", "-o", "out.jsonl"),
    "draw": ("draw", "queens:6", "-o", "out.svg"),
    "convert": ("convert", "queens:6", "-o", "out.dlx"),
    "graph": ("count", "dominoes:4x4", "--memo", "--graph", "out.zdd"),
    "evaluate": ("evaluate", "answers.csv", "--html", "out.html"),
    "dedupe": ("dedupe", "in.txt", "-o", "out.csv"),
    "solve": ("solve", "in.txt", "-o", "out.csv"),
    "count": ("count", "queens:6", "queens:5", "-o", "out.csv"),
    "augment": ("augment", "in.txt", "-o", "out.csv", "-n", "2"),
    "generate": ("generate", "-n", "2", "--box", "2x2", "-o", "out.csv"),
    "rate": ("rate", "in9.txt", "-o", "out.csv"),
}
MORE = {
    "export": ("export", "run", "-o", "out.csv"),
    "parts": ("solve", "in.txt", "-o", "out.d/"),
    "partition": ("partition", "in.txt", "-o", "out.d"),
    "scale": ("scale", "queens:6", "-o", "out.d"),
    "enumerate": ("enumerate", "queens:6", "-o", "out.d"),
    "run": ("count", "queens:6", "--run", "out.d"),
    "split": ("split", "queens:6", "--depth", "2", "-o", "out.d"),
}
RUNS = ("solve", "count", "augment", "generate", "rate")  # these can be resumed


def output_of(name):
    return next(word for word in WRITERS[name] if word.startswith("out."))


@pytest.fixture(autouse=True)
def _folder(here):
    (here / "in.txt").write_text(ROWS)
    (here / "in9.txt").write_text(f"{EASY}\n")
    answer = f"{PUZZLE},{SOLUTION},{SOLUTION}\n"
    (here / "answers.csv").write_text(f"puzzle,solution,prediction\n{answer}")


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_is_being_written_is_refused(name):
    out, inputs = output_of(name), sorted(os.listdir())
    with whole_file(out) as file:
        file.write(b"whole")
        why = f"{out}: is being written by another run; wait until it ends"
        assert why in refused(*WRITERS[name])
    assert Path(out).read_bytes() == b"whole"
    done = invoke(*WRITERS[name])
    assert done.exit_code == 0, done.output
    assert sorted(os.listdir()) == sorted([*inputs, out])
    assert Path(out).read_bytes() != b"whole"


@pytest.mark.parametrize("name", sorted(set(WRITERS) - set(RUNS)))
def test_rows_of_an_interrupted_run_are_not_overwritten(name):
    out = output_of(name)
    kept = [f"{out}.partial", f"{out}.partial.journal"]
    for path in kept:
        Path(path).write_text(path)
    with only_writer(out):  # the run goes on
        said = refused(*WRITERS[name])
    assert f"{out}: is being written by another run; wait until it ends" in said
    assert "interrupted" not in said
    said = refused(*WRITERS[name])
    assert f"{kept[0]}: an interrupted run (of solve, for instance) left its rows" in said
    assert f"go on with that run and --resume, delete {' and '.join(kept)}" in said
    assert not os.path.exists(out)
    assert [Path(path).read_text() for path in kept] == kept


@pytest.mark.parametrize("name", RUNS)
def test_rows_of_a_run_of_another_kind_are_said_to_be_so(name):
    other, out = ("augment" if name == "solve" else "solve"), output_of(name)
    Path("in.txt").write_text(ROWS + "x\n")
    refused(*WRITERS[other], "--stop-on-invalid")
    why = f"{out}.partial: an interrupted run ({other}) left its rows there; go on with that run "
    assert why in refused(*WRITERS[name])
    why = f"the journal of a run of another kind, {other}, and not "
    assert why in refused(*WRITERS[name], "--resume")


@pytest.mark.parametrize("folder", ["run", "run/solutions"])
@pytest.mark.parametrize("name", [*WRITERS, *MORE])
def test_a_file_in_the_folder_of_a_run_is_no_output(name, folder):
    def contents():
        return {path: path.read_bytes() for path in Path("run").rglob("*.*")}

    assert invoke("enumerate", "queens:6", "-o", "run").exit_code == 0
    before = contents()
    words = (WRITERS | MORE)[name]
    said = refused(*(f"{folder}/{word}" if word.startswith("out.") else word for word in words))
    assert "lies in the folder of a run; " in said
    assert contents() == before


def test_of_two_writers_the_one_that_fails_leaves_nothing_and_the_other_goes_on():
    with whole_file("out.txt") as file:
        file.write(b"a")
        with pytest.raises(bs.OutputError, match="is being written"), whole_file("out.txt"):
            pass
        file.write(b"b")
    with pytest.raises(ZeroDivisionError), whole_file("out.txt") as file:
        file.write(bytes([1 // 0]))
    assert Path("out.txt").read_bytes() == b"ab"
    assert sorted(os.listdir()) == ["answers.csv", "in.txt", "in9.txt", "out.txt"]


def test_without_locks_the_names_of_two_writers_still_differ(monkeypatch):
    flock = Mock(side_effect=OSError(errno.ENOLCK, "No locks available"))
    monkeypatch.setattr(fcntl, "flock", flock)
    with whole_file("out.txt") as one, whole_file("out.txt") as other:
        one.write(b"one")
        other.write(b"other")
    assert Path("out.txt").read_bytes() == b"one"  # the last to end
    assert ".out.txt.batchsolve" not in os.listdir()


def test_a_writer_that_opens_the_lock_of_one_that_has_just_ended_tries_again(monkeypatch):
    opened, before = [], only_writer("out.txt")
    before.__enter__()

    def late(path, flags, *mode, really=os.open, **where):
        file = really(path, flags, *mode, **where)
        if str(path).endswith("lock") and flags & os.O_CREAT:
            opened.append(file)
            if len(opened) == 1:
                before.__exit__(None, None, None)
        return file

    monkeypatch.setattr(os, "open", late)
    with whole_file("out.txt") as file:
        file.write(b"whole")
        assert len(opened) == 2
        with pytest.raises(bs.OutputError, match="is being written"), whole_file("out.txt"):
            pass
    assert os.path.getsize("out.txt") == 5


def test_a_run_that_was_killed_before_it_had_a_journal_is_begun(tmp_path):
    os.makedirs(lent_folder(f"{tmp_path}/run/journal.sqlite"))
    with bs.Run(tmp_path / "run", "queens:6") as run:
        assert run.search().count == 4


def test_ctrl_c_while_a_writer_cleans_up_leaves_the_name_free(here):
    with patch("shutil.rmtree", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        bs.solve_file("in.txt", "out.csv")
    bs.solve_file("in.txt", "out.csv")
    assert not list(here.glob(".*"))
