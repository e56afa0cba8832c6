import json
import random
import re
import shutil
import subprocess
import sys
from functools import partial

import numpy as np
import pyarrow.parquet as pq
import pytest
from conftest import DATASETS, coloured_problems, problems, search_in, wide
from every_step import EVERY_STEP, hear
from failing import with_small_files
from hypothesis import given, strategies as st
from invoking import invoke, run_python
from oracles import covers

import batchsolve as bs
from batchsolve.engines import native
from batchsolve.problems.families import family
from batchsolve.runs import journal, run as runs
from batchsolve.runs.count import count, solutions
from batchsolve.runs.export import export_run
from batchsolve.search import scheduler, tree

FOURS, OTHER = bs.Sudoku(2, 2), bs.Sudoku(1, 4)
CUT = {"split_depth": 3, "budget": 20_000}
WAYS = [{"jobs": 1}, {"jobs": 2}, {"jobs": 2, **CUT}, {"jobs": 2, "backend": "loky"}]


SMALL = ["queens:8", "langford:7", "langford:8", "dominoes:6x6", "latin:4", "latin:5", "sudoku:2x2"]


@pytest.mark.parametrize(("name", "chosen"), [*zip(SMALL * 2, WAYS * 4, strict=False)])
def test_counts_and_nodes_are_the_same_however_the_work_is_cut_up(name, chosen):
    """The counts of one task are known; see test_families.py."""
    result, whole = count(name, **chosen), count(name, jobs=1, split_depth=0)
    assert (result.count, result.nodes, result.complete) == (whole.count, whole.nodes, True)


@given(problem=problems() | coloured_problems(), depth=st.integers(0, 3), budget=st.integers(5, 60))
def test_every_cover_comes_once(problem, depth, budget):
    found = [frozenset(c.tolist()) for c in solutions(problem, split_depth=depth, budget=budget)]
    assert len(found) == len(set(found))
    assert set(found) == covers(problem)
    assert count(problem, split_depth=depth, budget=budget).count == len(found)


@pytest.mark.parametrize("limit", [1, 2, 99, 287, 288, 289])
def test_a_limit_is_met_exactly(limit):
    result = count(FOURS, limit=limit, jobs=2)
    assert result.count == min(limit, 288)
    assert result.complete == (limit > 288)
    found = list(solutions(FOURS, limit=limit))
    assert len({tuple(c) for c in found}) == len(found) == min(limit, 288)


def test_a_node_limit_is_never_exceeded():
    problem = family("queens:8")
    for limit, budget in ((1, None), (2, None), (100, None), (100, 5), (1177, None)):
        result = count(problem, node_limit=limit, budget=budget, jobs=2)
        assert (result.nodes, result.complete) == (limit, False)
    assert count(problem, node_limit=1178).complete


def test_a_time_limit_ends_a_long_search():
    result = count(bs.Sudoku(3, 3), time_limit=0.2)
    assert not result.complete
    assert result.nodes > 0


TREES = [("queens:10", 13_256, True), ("edgecovers:6", 55_173, False)]


@pytest.mark.parametrize(("problem", "n_nodes", "is_even"), TREES)
def test_the_finished_share_is_near_that_of_nodes(problem, n_nodes, is_even):
    true, said, low, high = shares(problem, n_nodes, budget=300, engine="dlx")
    assert ((low <= said) & (said <= high)).all()
    assert said.size > 50
    assert said[0] < 0.02
    assert abs(said - true).max() < 0.06
    assert ((high - low).max() < 0.2) == is_even  # by weights, the other is wrong by 0.4
    assert said[-1] == 1


def shares(problem, n_nodes, **how):
    """Return the shares of nodes after each step, those said to be finished, and their bounds."""
    seen = []

    def look(search):
        true = search.totals.nodes / n_nodes
        seen.append((true, search.finished_share, *search.finished_between))

    assert count(problem, on_progress=look, jobs=1, **how).nodes == n_nodes
    return np.array(seen).T


def test_the_range_of_the_finished_share_of_a_grid_holds_it(capsys):
    """By levels, 0.24 of this tree seems finished when 0.61 is; and 0.36 by weights."""
    grid = f"{DATASETS / 'many16.csv'}#3"
    true, share, low, high = shares(grid, 3_344_401, budget=20_000, engine="lanes")
    assert true.size > 100
    assert ((low <= share) & (share <= high)).all()
    assert np.mean((low - 0.02 <= true) & (true <= high + 0.02)) > 0.95
    assert (low[-1], high[-1]) == (1, 1)
    count(grid, on_progress=True, jobs=1, budget=20_000, engine="lanes", node_limit=10**5)
    assert re.search(r"of the tree, estimated.*, \d+% to \d+% finished\]", capsys.readouterr().err)


def test_a_run_keeps_the_finished_share(tmp_path):
    run, shares = str(tmp_path / "run"), []
    for _ in range(2):
        how = {"node_limit": 4_000 * (1 + len(shares)), "budget": 300, "jobs": 1}
        done = search_in(runs.Run(run, "queens:10", resume=True, engine="dlx"), **how)
        facts = runs.describe_run(run)
        shares.append(done.nodes / 13_256)
        assert facts["finished_share"] == pytest.approx(shares[-1], abs=0.1)
        low, high = facts["finished_between"]
        assert low <= facts["finished_share"] <= high
    assert shares == pytest.approx([0.302, 0.604], abs=0.001)


def test_an_automatic_depth_has_a_name():
    assert bs.SearchSettings(split_depth="auto") == bs.SearchSettings(split_depth=None)
    how = {"jobs": 1, "engine": "dlx"}
    assert count("queens:9", split_depth="auto", **how).subproblems > 20
    assert count("queens:9", split_depth=1, **how).subproblems == 10


def test_solutions_that_are_missing_are_an_error(monkeypatch):
    def failing(problem, task, rule=""):
        if 35 in task.stacks.options:
            raise RuntimeError
        return search(problem, task, rule)

    search = native.search_links
    monkeypatch.setattr(native, "search_links", failing)
    with pytest.raises(bs.BatchsolveError, match="of 1 subproblem are missing: the search failed"):
        list(bs.solutions("queens:8", engine="dlx", split_depth=1))


def test_a_long_chain_of_forced_options_is_few_subproblems():
    found = count(bs.ExactCover(range(8001), range(8000), 8000), jobs=2)  # an option for each item
    assert (found.count, found.nodes, found.complete) == (1, 8001, True)
    assert found.subproblems < 50


def read_all(directory):
    """Return the solutions that a run has kept, sorted; check that each comes once."""
    parts = (directory / "solutions").glob("*.parquet")
    found = [value for part in parts for value in pq.read_table(part)[0].to_pylist()]
    assert len(set(found)) == len(found)
    return sorted(found)


def test_a_run_goes_on_from_limit_to_limit(tmp_path):
    assert search_in(runs.Run(tmp_path / "whole", FOURS, collect=True)).count == 288
    counts = []
    for limit in range(40, 330, 40):
        run = runs.Run(tmp_path / "run", FOURS, collect=True, resume=True)
        counts.append(search_in(run, limit=limit).count)
    assert counts == [40, 80, 120, 160, 200, 240, 280, 288]
    assert read_all(tmp_path / "run") == read_all(tmp_path / "whole")
    about = runs.describe_run(str(tmp_path / "run"))
    assert (about["complete"], about["outstanding"], about["count"]) == (True, 0, 288)


def test_a_count_has_more_digits_than_python_writes(tmp_path, request):
    request.addfinalizer(partial(sys.set_int_max_str_digits, sys.get_int_max_str_digits()))
    sys.set_int_max_str_digits(640)
    items = [f"i{k}" for k in range(9)]
    options, bounds = [[item] for item in items * 250], dict.fromkeys(items, (0, 250))
    problem = bs.ExactCover.from_options(options, bounds=bounds)
    with bs.Run(tmp_path / "run", problem, engine="memo") as run:
        found = run.search()
    with bs.Run(tmp_path / "run", problem, engine="memo", resume=True) as run:
        assert run.search().count == found.count == 2**2250
    assert len(str(found)) > 677 + 677 // 3
    with pytest.raises(MemoryError), journal.Journal(tmp_path / "a.sqlite", "count", {})._errors():
        raise MemoryError


def test_clues_that_clash_are_an_error_that_names_their_row(tmp_path):
    (tmp_path / "in.csv").write_text(f"puzzle\n{'.' * 16}\n11{'.' * 14}\n")
    why = r"in\.csv#2: not a partial cover: digit 1 twice in a row"
    with pytest.raises(bs.ProblemError, match=why):
        bs.count(tmp_path / "in.csv#2")


def test_a_run_knows_the_name_of_its_problem(tmp_path):
    (tmp_path / "in.csv").write_text(f"puzzle\n12{'.' * 14}\n")
    row = f"{tmp_path / 'in.csv'}#1"
    reading = bs.read_problem(row)
    begun = {
        "queens:6": {"problem": "queens:6"},
        row: {"problem": reading},
        "mine": {"problem": reading, "name": "mine"},
        "Sudoku(2, 2)": {"problem": bs.Sudoku(2, 2)},
    }
    for k, (name, how) in enumerate(begun.items()):
        with runs.Run(tmp_path / str(k), **how):
            pass
        assert runs.describe_run(str(tmp_path / str(k)))["name"] == name
    # a run resumes under another name of the same problem, and keeps its own
    assert search_in(runs.Run(tmp_path / "0", bs.family("queens:6"), resume=True)).count == 4
    assert runs.describe_run(str(tmp_path / "0"))["name"] == "queens:6"


HAD = r"had problem = 'Sudoku\(2, 2\)'"
REFUSED = [
    (HAD + r", this one has 'Sudoku\(1, 4\)'", [OTHER, [0]], {}),
    (HAD + " with other contents, this one has 'Sudoku", [OTHER], {"name": "Sudoku(2, 2)"}),
    (r"had problem = .*, this one has 'a\.txt'", [FOURS, [0]], {"name": "a.txt"}),
    ("the interrupted run had stack = ", [FOURS, [0]], {}),
    ("the journal of a run of another kind, count, and not enumerate", [FOURS], {"collect": True}),
]


@pytest.mark.parametrize(("message", "parts", "how"), REFUSED)
def test_other_runs_are_refused_with_a_reason(tmp_path, message, parts, how):
    search_in(runs.Run(tmp_path / "run", FOURS), limit=3)
    with pytest.raises(bs.JournalError, match=message):
        runs.Run(tmp_path / "run", *parts, resume=True, **how)


def test_a_folder_that_is_not_empty_is_resumed_or_refused(tmp_path):
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / runs.JOURNAL).touch()
    why = r"^[^:]*begun: a run is kept there; go on with `resume`"
    with pytest.raises(bs.OutputError, match=why):
        runs.Run(tmp_path / "begun", FOURS)
    assert search_in(runs.Run(tmp_path / "begun", FOURS, resume=True)).count == 288
    with pytest.raises(bs.OutputError, match=why):
        runs.Run(tmp_path / "begun", FOURS)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").touch()
    with pytest.raises(bs.OutputError, match="is not empty"):
        runs.Run(tmp_path / "full", FOURS, resume=True)


def test_a_run_that_found_no_workers_is_not_in_the_way(tmp_path, monkeypatch):
    def gone(*_):
        raise bs.InputError("no cluster answers")

    new, old = tmp_path / "new", tmp_path / "old"
    search_in(runs.Run(old, FOURS), limit=3)
    for directory, resume in ((new, False), (old, True)):
        with monkeypatch.context() as patched:
            patched.setattr(runs.Pool, "__enter__", gone)
            with pytest.raises(bs.InputError) as raised:
                search_in(runs.Run(directory, FOURS, resume=resume))
        assert bool(getattr(raised.value, "__notes__", [])) == resume
    assert not new.exists()
    assert search_in(runs.Run(new, FOURS)).count == 288
    assert search_in(runs.Run(old, FOURS, resume=True)).count == 288


def test_what_a_user_has_made_stays_though_a_run_was_not_begun(tmp_path):
    (tmp_path / "mine").mkdir()
    for name in ("mine", "new"):
        with pytest.raises(ZeroDivisionError), runs.Run(tmp_path / name, FOURS):
            1 // (tmp_path / name / "notes.txt").write_text("")
        assert (tmp_path / name / "notes.txt").exists()
        assert search_in(runs.Run(tmp_path / name, FOURS, resume=True)).count == 288


def test_a_run_does_not_go_on_in_another_working_directory(tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        run = runs.Run("run", FOURS, collect=True)
        if name == "a":
            search_in(run)
    monkeypatch.chdir(tmp_path / "a")
    with pytest.raises(bs.InputError, match="b/run when the run was opened; go back to that"):
        search_in(run)
    assert search_in(runs.Run("run", FOURS, collect=True, resume=True)).count == 288


@pytest.fixture(scope="module")
def clue_row(tmp_path_factory):
    """Write a 6×6 grid with 6,528 solutions."""
    grid = tmp_path_factory.mktemp("grid") / "grid.txt"
    grid.write_text("123456456" + "." * 27)
    return grid


def test_a_run_that_is_going_on_is_described_by_its_last_checkpoint(clue_row, tmp_path):
    out = str(tmp_path / "run")
    command = [sys.executable, "-c", EVERY_STEP, "enumerate", str(clue_row), "-o", out]
    command += ["--jobs", "1", "--budget", "300", "--engine", "dlx", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        seen = []
        for _ in range(3):
            hear(process, 2)
            facts = json.loads(invoke("runs", out, "--json").output)
            assert (facts["kind"], facts["complete"]) == ("enumerate", False)
            seen.append((facts["count"], facts["nodes"], facts["finished_share"]))
        process.kill()
    assert seen == sorted(seen)
    assert len(set(seen)) == 3
    after = runs.describe_run(out)  # it began another step, and perhaps kept that
    assert (after["count"], after["nodes"]) >= seen[-1][:2]


def test_a_run_of_this_process_is_described_while_it_goes_on(tmp_path):
    folder = str(tmp_path / "run")
    with runs.Run(folder, family("queens:8"), collect=True) as run:
        run.search(node_limit=300, budget=20, jobs=1)
        facts = runs.describe_run(folder)
        assert (facts["complete"], facts["kind"]) == (False, "enumerate")
        assert facts["outstanding"] == len(run._journal.stacks()) > 0
        assert export_run(folder, str(tmp_path / "out.csv")) == facts["count"] > 0
        with pytest.raises(bs.OutputError, match="is being written by another run"):
            runs.Run(folder, family("queens:8"), collect=True, resume=True)
        # the refused one has not freed the lock of the first
        done = run_python("-m", "batchsolve", "enumerate", "queens:8", "-o", folder, "--resume")
        assert "is being written by another run" in done.stderr
        assert run.search(jobs=1).count == 92
        assert runs.describe_run(folder)["complete"]
    assert runs.describe_run(folder)["count"] == 92


def test_a_full_disk_loses_nothing(clue_row, tmp_path):
    """The journal cannot be written after some steps."""
    out = tmp_path / "run"
    words = ["enumerate", str(clue_row), "-o", str(out), "--resume", "--budget", "300", "--quiet"]

    result = with_small_files(30_000, "-c", EVERY_STEP, *words)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert f"{out}/journal.sqlite" in result.stderr
    assert "--resume" in result.stderr
    assert invoke(*words).exit_code == 0
    assert len(read_all(out)) == 6_528


def test_settings_that_do_not_go_together_leave_no_run(tmp_path):
    run = bs.Run(tmp_path / "run", "queens:6", engine="memo")
    with pytest.raises(bs.InputError, match="only counts"), run:
        run.search(limit=3)
    assert not (tmp_path / "run").exists()


def test_what_a_power_cut_leaves_of_a_checkpoint_is_the_earlier_one(tmp_path, monkeypatch):
    """The test copies the files while checkpoints are written."""
    monkeypatch.setattr("batchsolve.search.tree.STEP_SECONDS", 0)
    seal = journal.Journal._seal

    def copied_and_sealed(self):
        if self.stacks():
            shutil.copytree(tmp_path / "run", tmp_path / f"copy{len(list(tmp_path.iterdir()))}")
        return seal(self)

    with runs.Run(tmp_path / "run", FOURS, collect=True) as run:
        monkeypatch.setattr(journal.Journal, "_seal", copied_and_sealed)
        assert run.search(jobs=1, budget=30).count == 288
    monkeypatch.setattr(journal.Journal, "_seal", seal)
    copies = [path for path in tmp_path.iterdir() if path.name.startswith("copy")]
    assert any((copy / "journal.sqlite-journal").exists() for copy in copies)
    went_back = 0
    for copy in random.Random(5).sample(copies, 20):
        before = len(list((copy / "solutions").iterdir()))
        with runs.Run(copy, FOURS, collect=True, resume=True) as run:
            went_back += len(list((copy / "solutions").iterdir())) < before
            assert run.search().count == 288
        assert len(read_all(copy)) == 288
    assert went_back > 3


SEARCH = [(tree.TreeSearch, "accept"), (scheduler.Scheduler, "add"), (scheduler.Changes, "add")]
RUN = [(runs.Run, "write_parts"), (runs.Run, "keep"), (journal.Journal, "record")]


@pytest.mark.parametrize("resumed", [False, True])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("of", [*SEARCH, (scheduler.Changes, "balance"), *RUN])
def test_ctrl_c_in_the_middle_of_a_step_undoes_it(tmp_path, monkeypatch, of, after, resumed):
    monkeypatch.setattr("batchsolve.search.tree.STEP_SECONDS", 0)
    (owner, name), real, calls = of, getattr(*of), []

    def interrupted(*arguments, **named):
        calls.append(name)
        if len(calls) == 8 and not after:
            raise KeyboardInterrupt
        result = real(*arguments, **named)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(owner, name, interrupted)
    with runs.Run(tmp_path / "run", FOURS, collect=True) as run:
        with pytest.raises(KeyboardInterrupt):
            run.search(jobs=1, budget=30)
        if not resumed:
            assert run.search(jobs=1, budget=30).count == 288
    if resumed:
        run = runs.Run(tmp_path / "run", FOURS, collect=True, resume=True)
        assert search_in(run, jobs=1, budget=30).count == 288
    assert len(read_all(tmp_path / "run")) == 288


def test_a_wide_search_leaves_few_stacks_and_goes_on_from_its_journal(tmp_path):
    n, nodes, left = 1_000, 0, []
    problem, how = wide(n, n), {"jobs": 1, "budget": 80_000}
    while not left or left[-1]:
        run = runs.Run(tmp_path / "run", problem, engine="dlx", resume=True)
        found = search_in(run, node_limit=nodes + 220_000, **how)
        nodes = found.nodes
        left.append(runs.describe_run(tmp_path / "run")["outstanding"])
    assert (found.count, nodes, found.complete) == (n * n, n * n + n + 1, True)
    assert 1 < max(left) < 100
