"""Random damage to the files of a run: resuming raises one error or is right; never wrong."""

import os
import random
import re
import shutil
import sqlite3
from contextlib import contextmanager

import pytest
from conftest import PUZZLE, flip, search_in
from cutting import content_of, contents
from invoking import invoke, invoke_as_user, refused

import batchsolve as bs
from batchsolve.errors import BatchsolveError
from batchsolve.runs.export import export_run
from batchsolve.runs.journal import VERSION, Journal, Part
from batchsolve.runs.run import Run, describe_run

PROBLEM = bs.Sudoku(2, 2)


CHANGED_ROWS = {
    "stacks": [("options", b"\1\0\0\0"), ("weight", 0.125), ("number", 9**9), ("options", "text")],
    "run": [("state", "{}"), ("state", None), ("seal", "0" * 16), ("about", "[]")],
    "parts": [("rows", 1), ("checksum", 1), ("checksum", "x")],
}


def change_a_row(path, rng):
    """Change or delete a row of a journal, which stays a valid database."""
    table = rng.choice(list(CHANGED_ROWS))
    column, value = rng.choice([*CHANGED_ROWS[table], (None, None)])
    with sqlite3.connect(path) as journal:
        rows = journal.execute(f"SELECT rowid FROM {table}").fetchall()
        if rows:
            (row,) = rng.choice(rows)
            if column is None:
                journal.execute(f"DELETE FROM {table} WHERE rowid = ?", [row])
            else:
                journal.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", [value, row])
    journal.close()


@contextmanager
def naming(path):
    """Yield a list for the errors raised in this context; check that each names a path."""
    raised = []
    try:
        yield raised
    except BatchsolveError as error:
        raised.append(error)
    assert all(str(path) in str(error) for error in raised)


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    """Make an interrupted run with parts and outstanding stacks; return it and its final result."""
    directory = tmp_path_factory.mktemp("damage") / "run"
    with Run(directory, PROBLEM, collect=True) as run:
        run.search(limit=60, jobs=1, budget=30)
        run.search(limit=150, jobs=1, budget=30)
    whole = directory.with_name("whole")
    search_in(Run(whole, PROBLEM, collect=True), jobs=1)
    export_run(str(whole), f"{whole}.csv")
    facts = describe_run(str(directory))
    assert min(facts["parts"], facts["outstanding"]) > 1
    return directory, whole.with_suffix(".csv").read_bytes()


def finish(directory):
    """Resume a run; return its export, or None if an error is raised."""
    with naming(directory) as refused:
        assert search_in(Run(directory, PROBLEM, collect=True, resume=True), jobs=1).count == 288
        export_run(str(directory), f"{directory}.csv")
    return None if refused else directory.with_suffix(".csv").read_bytes()


@pytest.mark.parametrize("where", ["journal", "part", "row"])
def test_a_damaged_search_is_refused_or_right(search, tmp_path, where):
    """Parts that are damaged before an export: test_export.py."""
    directory, right = search
    rng, n_refused, times = random.Random(where), 0, 20
    for k in range(times):
        copy = tmp_path / str(k)
        shutil.copytree(directory, copy)
        if where == "row":
            change_a_row(copy / "journal.sqlite", rng)
        else:
            parts = sorted((copy / "solutions").iterdir())
            flip(copy / "journal.sqlite" if where == "journal" else rng.choice(parts), rng)
        found = finish(copy)
        assert found in (None, right)
        n_refused += found is None
    # some bits of a page have no meaning
    assert n_refused == times if where == "part" else n_refused > 2


def resume(run):
    Run(run, PROBLEM, collect=True, resume=True)


def export(run):
    export_run(str(run), f"{run}.csv")


LOOKS = [resume, export, describe_run]
SEAL = r"the journal is damaged \(its seal does not"
AGED = f"""UPDATE run SET about = replace(about, '"version": {VERSION}', '"version": 3')"""
CHANGES = [
    ("DELETE FROM stacks WHERE number = (SELECT max(number) FROM stacks)", SEAL),
    ("ALTER TABLE stacks RENAME COLUMN weight TO other", "the journal is damaged"),
    ("ALTER TABLE parts RENAME COLUMN rows TO other", "the journal is damaged"),
    (AGED, "begun by another version"),
]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_looking_at_a_damaged_run_is_refused(search, tmp_path, change, message, look):
    shutil.copytree(search[0], tmp_path / "run")
    with sqlite3.connect(tmp_path / "run" / "journal.sqlite") as journal:
        journal.execute(change)
    journal.close()
    with pytest.raises(bs.JournalError, match=message):
        look(tmp_path / "run")
    assert os.listdir(tmp_path) == ["run"]


NO_JOURNALS = [
    ("run/journal.sqlite", ["runs", "run"]),
    ("run/journal.sqlite", ["export", "run", "-o", "out.csv"]),
    ("run/journal.sqlite", ["enumerate", "queens:6", "-o", "run", "--resume"]),
    ("run/journal.sqlite", ["draw", "queens:6", "--found", "run", "-o", "out.svg"]),
    ("out.csv.partial.journal", ["solve", "in.csv", "-o", "out.csv"]),
    ("out.csv.partial.journal", ["augment", "in.csv", "-o", "out.csv"]),
    ("out.partial.journal", ["solve", "in.csv", "-o", "out/"]),
]


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
@pytest.mark.parametrize(("journal", "words"), NO_JOURNALS)
def test_a_folder_or_pipe_in_the_place_of_a_journal_is_one_message(here, journal, words, make):
    (here / "in.csv").write_text(f"puzzle\n{PUZZLE}\n")
    os.makedirs("run", exist_ok=True)
    make(journal)
    assert refused(*words).startswith(f"batchsolve: {journal}: is not a file; move it away, and")


def test_a_journal_that_may_not_be_read_is_one_message(here):
    (here / "in.csv").write_text(f"puzzle\n{PUZZLE}\n")
    assert invoke("enumerate", "queens:6", "-o", "run", "--limit", 2).exit_code == 1
    for name in ("out.csv", "out"):
        Journal(f"{name}.partial.journal", "solve", {}).close()
    for journal, _ in NO_JOURNALS:
        os.chmod(journal, 0)
    ends = invoke_as_user(*(words for _, words in NO_JOURNALS))
    for (journal, _), (code, out, message) in zip(NO_JOURNALS, ends, strict=True):
        assert (code, out) == (2, "")
        assert re.fullmatch(f"batchsolve: {journal}: cannot be .*: Permission denied\n", message)


def test_a_run_is_looked_at_without_the_right_to_write(tmp_path):
    ended, killed = folders = tmp_path / "ended", tmp_path / "killed"
    with Run(ended, PROBLEM, collect=True) as run:
        run.search(limit=60, jobs=1, budget=30)
        shutil.copytree(ended, killed)  # with the folder of the lock
    names = [sorted(os.listdir(folder)) for folder in folders]
    commands = []
    for folder in folders:
        os.chmod(folder, 0o555)
        commands += ["runs", folder], ["export", folder, "-o", f"{folder}.csv"]
    ends = invoke_as_user(*commands)
    for folder, looked, exported in zip(folders, ends[::2], ends[1::2], strict=True):
        assert "count: 60\n" in looked[1]
        assert exported[0] == 1
        assert len(folder.with_suffix(".csv").read_text().splitlines()) == 61
    assert [sorted(os.listdir(folder)) for folder in folders] == names


@pytest.fixture(scope="module", params=[".csv", ".jsonl.gz", ".parquet"])
def corpus(request, tmp_path_factory):
    """Return a folder with an interrupted run over a corpus, the output's name, the right bytes."""
    folder = tmp_path_factory.mktemp("corpus")
    path, out = folder / "in.csv", f"out{request.param}"
    path.write_text("puzzle\n" + f"{PUZZLE}\n" * 160 + "x\n" + f"{PUZZLE}\n" * 140)
    bs.solve_file(str(path), str(folder / out), jobs=1)
    right = content_of(folder / out)
    (folder / out).unlink()
    with pytest.raises(bs.InputError):  # records all rows before the one that stops it
        bs.solve_file(str(path), str(folder / out), jobs=1, chunk=20, stop_on_invalid=True)
    with Journal(str(folder / f"{out}.partial.journal")) as journal:
        n_bytes = journal.state()["written"][0]
    # rows that workers wrote after the recorded ones are written again
    os.truncate(folder / f"{out}.partial", n_bytes)
    return folder, out, right


@pytest.mark.parametrize("where", ["journal", "partial", "row"])
def test_a_damaged_corpus_run_is_refused_or_right(corpus, tmp_path, where):
    folder, out, right = corpus
    rng, n_refused, times = random.Random(where), 0, 10
    for k in range(times):
        copy = tmp_path / str(k)
        shutil.copytree(folder, copy)
        partial, journal = copy / f"{out}.partial", copy / f"{out}.partial.journal"
        if where == "row":
            change_a_row(journal, rng)
        else:
            flip(partial if where == "partial" else journal, rng)
        with naming(partial) as errors:
            bs.solve_file(folder / "in.csv", copy / out, jobs=1, resume=True)
        assert errors or content_of(copy / out) == right
        n_refused += len(errors)
    assert n_refused == times if where == "partial" else n_refused > 1


def test_solutions_that_an_emptied_journal_does_not_know_are_left_alone(tmp_path):
    directory = tmp_path / "run"
    assert search_in(bs.Run(directory, "queens:6", collect=True), jobs=1).count == 4
    solutions = contents(directory / "solutions")
    (directory / "journal.sqlite").write_bytes(b"")
    for problem in ("queens:5", "queens:6"):
        with pytest.raises(bs.JournalError, match=r"is empty, but .* holds solutions; delete"):
            bs.Run(directory, problem, collect=True, resume=True)
    assert contents(directory / "solutions") == solutions


@pytest.mark.parametrize("name", ["solutions", "journal.sqlite"])
def test_a_run_reads_and_removes_nothing_behind_a_link(search, tmp_path, name):
    shutil.copytree(search[0], tmp_path / "run")
    others = tmp_path / "others"
    shutil.move(tmp_path / "run" / name, others)
    os.symlink(others, tmp_path / "run" / name)
    if name == "solutions":  # resuming removed files that the journal does not record
        (others / "99999999.parquet").write_text("of another run")
        kept = sorted(os.listdir(others))
    for look in (resume, export):
        with pytest.raises(bs.JournalError, match=rf"run/{name}: is a link to .*/others; a run"):
            look(tmp_path / "run")
    if name == "solutions":
        assert sorted(os.listdir(others)) == kept


NO_NAMES = ["../../x.parquet", "/x.parquet", "a/b.parquet", "a\\b.parquet", "..", "", "x\n.parquet"]


@pytest.mark.parametrize("name", NO_NAMES)
def test_a_journal_names_only_files_of_its_folder(search, tmp_path, name):
    shutil.copytree(search[0], tmp_path / "run")
    path = str(tmp_path / "run" / "journal.sqlite")
    with Journal(path) as read:
        kind, settings = read.about["kind"], read.about["settings"]
    with Journal(path, kind, settings) as journal:  # with a seal that is right
        journal.record(journal.state(), parts=[Part(name, 0, 0)])
    for look in LOOKS:
        with pytest.raises(bs.JournalError, match=r"journal is damaged .* is not the name of"):
            look(tmp_path / "run")


def test_what_is_written_to_a_link_is_kept_beside_its_target(tmp_path):
    """So a folder that is replaced by a link is not taken for that of the interrupted run."""
    path, out, others = tmp_path / "in.csv", tmp_path / "out", tmp_path / "others" / "x.csv"
    path.write_text(f"puzzle\nx\n{PUZZLE}\n")
    with pytest.raises(bs.InputError):
        bs.solve_file(path, f"{out}/", jobs=1, stop_on_invalid=True)
    shutil.rmtree(out)
    others.mkdir(parents=True)
    (others / "part-000007.parquet").write_text("of another run")
    os.symlink(others, out)
    for name in (f"{out}", f"{out}/"):
        with pytest.raises(bs.OutputError, match=r"x.csv/: is not empty, and has no journal"):
            bs.solve_file(path, name, jobs=1, resume=True)
    assert (others / "part-000007.parquet").read_text() == "of another run"


def test_a_run_whose_rows_or_journal_are_elsewhere_is_not_resumed(here):
    partial = here / "out.csv.partial"
    (here / "in.csv").write_text(f"puzzle\n{PUZZLE}\nx\n")
    resumed = "solve", "in.csv", "-o", "out.csv", "--resume"
    assert "row 2" in refused(*resumed, "--stop-on-invalid")
    before = partial.read_text()
    partial.rename("other")
    assert "out.csv.partial: is gone; delete" in refused(*resumed)
    partial.symlink_to("other")
    assert "out.csv.partial: is a link to other; a run" in refused(*resumed)
    os.replace("other", partial)
    os.remove("out.csv.partial.journal")
    assert "has no journal" in refused(*resumed)
    assert partial.read_text() == before
