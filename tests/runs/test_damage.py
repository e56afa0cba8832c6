"""Random damage to the files of a run: resuming raises one error or is right; never wrong."""

import json
import os
import random
import re
import shutil
from contextlib import contextmanager

import pytest
from cutting import content_of
from invoking import invoke, invoke_as_user

import batchsolve as bs
from batchsolve.errors import BatchsolveError
from batchsolve.formats.json_records import sealed
from batchsolve.runs.export import export_run
from batchsolve.runs.journal import Journal, Part
from batchsolve.runs.run import Run, describe_run

PUZZLE = "1.....2..3.....4"
PROBLEM = bs.Sudoku(2, 2)


def flip(path, rng):
    """Flip one random bit of a file."""
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def change_a_line(path, rng):
    """Change, drop, repeat or move a line of a journal; each is still JSON with a seal."""
    lines = path.read_text().splitlines(keepends=True)
    k = rng.randrange(len(lines) - 1)  # without its last line, a journal is an earlier one
    record = json.loads(lines[k])
    field = rng.choice(sorted(record))
    ways = (
        {k: json.dumps({**record, field: rng.choice([None, [], {}, 0, "x"])}) + "\n"},
        {k: json.dumps({name: record[name] for name in record if name != field}) + "\n"},
        {k: lines[k + 1], k + 1: lines[k]},
        {k: ""},
        {k: 2 * lines[k]},
    )
    changes = rng.choice(ways)
    path.write_text("".join(changes.get(n, line) for n, line in enumerate(lines)))


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
    whole = directory.parent / "whole"
    with Run(whole, PROBLEM, collect=True) as run:
        run.search(jobs=1)
    export_run(str(whole), str(whole.parent / "whole.csv"))
    facts = describe_run(str(directory))
    assert facts["parts"] > 1
    assert facts["outstanding"] > 1
    return directory, (whole.parent / "whole.csv").read_bytes()


def finish(directory):
    """Resume a run; return its export, or None if an error is raised."""
    with naming(directory) as refused:
        with Run(directory, PROBLEM, collect=True, resume=True) as run:
            assert run.search(jobs=1).count == 288
        export_run(str(directory), f"{directory}.csv")
    if refused:
        return None
    with open(f"{directory}.csv", "rb") as file:
        return file.read()


@pytest.mark.parametrize("where", ["journal", "part", "line", "part before the export"])
def test_a_damaged_search_is_refused_or_right(search, tmp_path, where):
    directory, right = search
    rng, n_refused, times = random.Random(where), 0, 20
    for k in range(times):
        copy = tmp_path / str(k)
        shutil.copytree(directory, copy)
        parts = sorted((copy / "solutions").iterdir())
        if where == "journal":
            flip(copy / "journal.jsonl", rng)
        elif where == "line":
            change_a_line(copy / "journal.jsonl", rng)
        else:
            flip(rng.choice(parts), rng)
        if where == "part before the export":
            with pytest.raises(bs.JournalError, match="missing or damaged"):
                export_run(str(copy), str(tmp_path / "out.csv"))
            n_refused += 1
            continue
        found = finish(copy)
        assert found in (None, right)
        n_refused += found is None
    # a flipped end of the last line makes it one that was not kept
    assert n_refused >= times - (where == "journal")


def test_looking_at_a_damaged_run_is_refused(search, tmp_path):
    shutil.copytree(search[0], tmp_path / "run")
    path = tmp_path / "run" / "journal.jsonl"
    path.write_text(path.read_text().replace('"new": [[', '"new": [[9'))
    with pytest.raises(bs.JournalError, match=r"the journal is damaged \(its seal does not"):
        describe_run(str(tmp_path / "run"))


NO_JOURNALS = [
    ("run/journal.jsonl", ["runs", "run"]),
    ("run/journal.jsonl", ["export", "run", "-o", "out.csv"]),
    ("run/journal.jsonl", ["enumerate", "queens:6", "-o", "run", "--resume"]),
    ("run/journal.jsonl", ["draw", "queens:6", "--found", "run", "-o", "out.svg"]),
    ("out.csv.partial.journal", ["solve", "in.csv", "-o", "out.csv"]),
    ("out.csv.partial.journal", ["augment", "in.csv", "-o", "out.csv"]),
    ("out.partial.journal", ["solve", "in.csv", "-o", "out/"]),
]


@pytest.mark.parametrize(("journal", "words"), NO_JOURNALS)
def test_a_folder_in_the_place_of_a_journal_is_one_message(tmp_path, monkeypatch, journal, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text(f"puzzle\n{PUZZLE}\n")
    os.makedirs(journal)
    done = invoke(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.fullmatch(f"batchsolve: {journal}: cannot be .*: Is a directory\n", done.stderr)


@pytest.mark.parametrize(("journal", "words"), NO_JOURNALS)
def test_a_journal_that_may_not_be_read_is_one_message(tmp_path, monkeypatch, journal, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text(f"puzzle\n{PUZZLE}\n")
    if journal.startswith("run"):
        assert invoke("enumerate", "queens:6", "-o", "run", "--limit", 2).exit_code == 1
    else:
        Journal(journal, "solve", {}).close()
    os.chmod(journal, 0)
    done = invoke_as_user(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(f"batchsolve: {journal}: cannot be .*: Permission denied\n", done.stderr)


def test_a_run_is_looked_at_without_the_right_to_write(tmp_path):
    folder, out = tmp_path / "run", tmp_path / "out.csv"
    with Run(folder, PROBLEM, collect=True) as run:
        run.search(limit=60, jobs=1, budget=30)
    names = sorted(os.listdir(folder))
    os.chmod(folder, 0o555)
    assert "count: 60\n" in invoke_as_user("runs", folder).stdout
    assert invoke_as_user("export", folder, "-o", out).returncode == 1
    assert len(out.read_text().splitlines()) == 61
    assert sorted(os.listdir(folder)) == names


def test_a_run_of_the_format_before_is_refused(tmp_path):
    with Run(tmp_path / "run", PROBLEM) as run:
        run.search(limit=100, jobs=1)
    path = tmp_path / "run" / "journal.jsonl"
    about = json.loads(path.read_text().partition("\n")[0])
    del about["seal"]
    path.write_text(json.dumps(sealed({**about, "version": 8})) + "\n")
    for look in (
        lambda: Run(tmp_path / "run", PROBLEM, resume=True),
        lambda: describe_run(str(tmp_path / "run")),
    ):
        with pytest.raises(bs.JournalError, match="begun by another version"):
            look()


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
    state = Journal.read(str(folder / f"{out}.partial.journal")).state
    # rows that workers wrote after the recorded ones are written again
    os.truncate(folder / f"{out}.partial", state["written"][0])
    return folder, out, right


@pytest.mark.parametrize("where", ["journal", "partial", "line"])
def test_a_damaged_corpus_run_is_refused_or_right(corpus, where):
    folder, out, right = corpus
    rng, n_refused, times = random.Random(where), 0, 10
    partial, journal = folder / f"{out}.partial", folder / f"{out}.partial.journal"
    kept = partial.read_bytes(), journal.read_bytes()
    for _ in range(times):
        if where == "line":
            change_a_line(journal, rng)
        else:
            flip(partial if where == "partial" else journal, rng)
        with naming(partial) as errors:
            bs.solve_file(str(folder / "in.csv"), str(folder / out), jobs=1, resume=True)
        n_refused += len(errors)
        if not errors:
            assert content_of(folder / out) == right
            (folder / out).unlink()
        partial.write_bytes(kept[0])
        journal.write_bytes(kept[1])
        for name in set(os.listdir(folder)) - {"in.csv", partial.name, journal.name}:
            os.remove(folder / name)
    assert n_refused == times if where == "partial" else n_refused > 1


def test_solutions_that_an_emptied_journal_does_not_know_are_left_alone(tmp_path):
    directory = tmp_path / "run"
    with bs.Run(directory, "queens:6", collect=True) as run:
        assert run.search(jobs=1).count == 4
    solutions = {path: path.read_bytes() for path in (directory / "solutions").iterdir()}
    (directory / "journal.jsonl").write_bytes(b"")
    for problem in ("queens:5", "queens:6"):
        with pytest.raises(bs.JournalError, match=r"is empty, but .* holds solutions; delete"):
            bs.Run(directory, problem, collect=True, resume=True)
    assert {path: path.read_bytes() for path in (directory / "solutions").iterdir()} == solutions


@pytest.mark.parametrize("name", ["solutions", "journal.jsonl"])
def test_a_run_reads_and_removes_nothing_behind_a_link(search, tmp_path, name):
    shutil.copytree(search[0], tmp_path / "run")
    others = tmp_path / "others"
    shutil.move(tmp_path / "run" / name, others)
    os.symlink(others, tmp_path / "run" / name)
    if name == "solutions":  # resuming removed files that the journal does not record
        (others / "99999999.parquet").write_text("of another run")
        kept = sorted(os.listdir(others))
    for use in (
        lambda: Run(tmp_path / "run", PROBLEM, collect=True, resume=True),
        lambda: export_run(str(tmp_path / "run"), str(tmp_path / "out.csv")),
    ):
        with pytest.raises(bs.JournalError, match=rf"run/{name}: is a link to .*/others; a run"):
            use()
    if name == "solutions":
        assert sorted(os.listdir(others)) == kept


@pytest.mark.parametrize(
    "name",
    ["../../x.parquet", "/x.parquet", "a/b.parquet", "a\\b.parquet", "..", "", "x\n.parquet"],
)
def test_a_journal_names_only_files_of_its_folder(search, tmp_path, monkeypatch, name):
    shutil.copytree(search[0], tmp_path / "run")
    path = str(tmp_path / "run" / "journal.jsonl")
    with Journal.read(path) as read:
        kind, settings = read.about["kind"], read.about["settings"]
    with Journal(path, kind, settings) as journal:  # with a seal that is right
        monkeypatch.setattr(Journal, "_take", lambda journal, changes: None)
        journal.record(journal.state, parts=[Part(name, 0, 0)])
    monkeypatch.undo()
    for use in (
        lambda: Run(tmp_path / "run", PROBLEM, collect=True, resume=True),
        lambda: export_run(str(tmp_path / "run"), str(tmp_path / "out.csv")),
        lambda: describe_run(str(tmp_path / "run")),
    ):
        with pytest.raises(bs.JournalError, match=r"journal is damaged .* is not the name of"):
            use()


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
        with pytest.raises(
            bs.OutputError, match=r"others/x.csv/: is not empty, and has no journal"
        ):
            bs.solve_file(path, name, jobs=1, resume=True)
    assert (others / "part-000007.parquet").read_text() == "of another run"


def test_rows_of_an_interrupted_run_are_no_link(tmp_path):
    path, out, partial = (tmp_path / name for name in ("in.csv", "out.csv", "out.csv.partial"))
    path.write_text(f"puzzle\n{PUZZLE}\nx\n")
    with pytest.raises(bs.InputError):
        bs.solve_file(path, out, jobs=1, stop_on_invalid=True)
    shutil.move(partial, tmp_path / "other")
    os.symlink(tmp_path / "other", partial)
    with pytest.raises(bs.JournalError, match=r"out.csv.partial: is a link to .*/other; a run"):
        bs.solve_file(path, out, jobs=1, resume=True)
