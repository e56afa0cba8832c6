"""Generation: each puzzle is as it was wished; workers, blocks and kills change no byte."""

import os
import random
import re
import signal
import subprocess
import sys
from itertools import islice

import numpy as np
import pyarrow.csv as csv
import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st
from oracles import canonical_form, grids_by_rules

import batchsolve as bs
from batchsolve.cli import app
from batchsolve.problems.variant import grid_problem

GRIDS = {
    "boxes": {"box": (2, 2)},
    "rows and columns": {"box": (1, 4)},
    "diagonals": {"box": (2, 2), "rules": "x"},
    "rows of other rules": {"box": (2, 2), "rules": "disjoint"},
    "regions": {"regions": "AAAB ACBB DCCB DDDC"},
}
IMAGES = {
    "none": lambda r, c: (r, c),
    "rotation": lambda r, c: (3 - r, 3 - c),
    "quarter-turn": lambda r, c: (c, 3 - r),
    "mirror": lambda r, c: (r, 3 - c),
    "diagonal": lambda r, c: (c, r),
}
PATTERN = ["....", "....", ".xxx", "xxxx"]
SOME = {"box": (2, 2), "seed": 5, "minimal": True}


def digits(text):
    return [int(c) if c != "." else 0 for c in text]


def rules_of(grid):
    return grid_problem(4, grid.get("box"), grid.get("rules"), grid.get("regions")).rules


def made_or_refused(*wish, **wishes):
    try:
        return list(bs.generate(*wish, **wishes))
    except bs.InputError as error:
        return str(error)


@given(
    kind=st.sampled_from(sorted(GRIDS)),
    seed=st.integers(0, 2**128 - 1),
    symmetry=st.sampled_from(sorted(IMAGES)),
    minimal=st.booleans(),
    clues=st.none() | st.sampled_from([(4, 7), (5, 16), (6, 6)]),
    pattern=st.none() | st.just("\n".join(PATTERN)),
)
def test_every_puzzle_is_as_it_was_wished(kind, seed, symmetry, minimal, clues, pattern):
    wish = {"symmetry": symmetry, "minimal": minimal, "clues": clues, "pattern": pattern}
    made = made_or_refused(4, seed=seed, node_limit=20_000, jobs=1, **wish, **GRIDS[kind])
    if isinstance(made, str):  # not every wish comes true
        assert re.search("no puzzle after|has several solutions|cells may have one", made)
        return
    rules = rules_of(GRIDS[kind])
    for row in made:
        puzzle, solution = digits(row.puzzle), digits(row.solution)
        assert grids_by_rules(rules, puzzle) == {tuple(solution)}
        places = [divmod(cell, 4) for cell, digit in enumerate(puzzle) if digit]
        assert len(places) == row.clues
        assert clues is None or clues[0] <= row.clues <= clues[1]
        assert {IMAGES[symmetry](*place) for place in places} == set(places)
        assert pattern is None or all(PATTERN[r][c] == "x" for r, c in places)
        for r, c in places if minimal else ():
            fewer = [0 if cell == 4 * r + c else digit for cell, digit in enumerate(puzzle)]
            assert len(grids_by_rules(rules, fewer)) > 1


def test_puzzles_of_9_by_9_are_minimal_and_have_one_solution():
    table = bs.generate_table(50, seed=3, minimal=True, jobs=1)
    problem = bs.Sudoku(3, 3)
    grids = np.array([problem.parse(text) for text in table["puzzle"].to_pylist()])
    found = bs.solve_batch(grids, engine="dlx", jobs=1)
    assert (found.status == "unique").all()
    assert [problem.format(g) for g in found.solutions] == table["solution"].to_pylist()
    places = np.argwhere(grids)
    fewer = grids[places[:, 0]]
    fewer[np.arange(len(fewer)), places[:, 1]] = 0
    assert (bs.solve_batch(fewer, engine="dlx", jobs=1).n_solutions == 2).all()


def test_a_row_depends_on_the_seed_and_its_number_alone(tmp_path):
    whole = bs.generate_table(300, **SOME, jobs=1)
    few = bs.generate_table(100, **SOME, jobs=1)
    assert whole.slice(0, 100) == few
    assert bs.generate_table(300, **SOME, jobs=2, chunk=7) == whole
    assert [row.puzzle for row in islice(bs.generate(**SOME), 20)] == few["puzzle"][:20].to_pylist()
    assert bs.generate_table(300, box=(2, 2), seed=6, minimal=True) != whole


@pytest.mark.parametrize("suffix", [".csv", ".parquet", "/"])
def test_the_same_bytes_for_all_workers_and_blocks(tmp_path, suffix):
    written = set()
    for k, how in enumerate(({"jobs": 1}, {"jobs": 2}, {"jobs": 2, "chunk": 7})):
        if suffix == "/" and "chunk" in how:
            continue
        out = tmp_path / f"{k}{suffix}"
        assert bs.generate_file(str(out) + ("/" if suffix == "/" else ""), 300, **SOME, **how)
        files = sorted(out.iterdir()) if suffix == "/" else [out]
        written.add(b"".join(file.read_bytes() for file in files))
    assert len(written) == 1


SLOW = """
import time
import batchsolve.cli, batchsolve.runs.solve_file as solve_file
from batchsolve.runs.journal import Journal
solve_file.JOURNAL_SECONDS = 0
record, take = Journal.record, solve_file.FileRun._take
Journal.record = lambda self, *a, **k: (record(self, *a, **k), print("recorded"))
solve_file.FileRun._take = lambda self, *a: (time.sleep(0.005), take(self, *a))
batchsolve.cli.app()
"""


def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path):
    whole, out = tmp_path / "whole.parquet", tmp_path / "out.parquet"
    bs.generate_file(whole, 1500, **SOME)
    command = [sys.executable, "-u", "-c", SLOW, "generate", "-n", "1500", "--box", "2x2"]
    command += ["--seed", "5", "--minimal", "-o", str(out), "--resume", "--chunk", "10", "--quiet"]
    rng, kills = random.Random(1), 0
    for _ in range(50):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for _ in range(rng.randrange(8, 20)):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if not os.path.exists(f"{out}.partial.journal"):
            break
        kills += 1
    assert kills > 1
    assert out.read_bytes() == whole.read_bytes()


def test_only_the_same_wishes_are_resumed(tmp_path):
    out = tmp_path / "out.csv"
    code = SLOW.replace("time.sleep(0.005)", "1 / 0")
    command = [sys.executable, "-c", code, "generate", "-n", "9", "--box", "2x2", "-o", str(out)]
    subprocess.run(command, capture_output=True)
    with pytest.raises(bs.JournalError, match="had seed = 0, this one has 1"):
        bs.generate_file(out, 9, box=(2, 2), seed=1, resume=True)
    assert bs.generate_file(out, 9, box=(2, 2), resume=True).rows == 9


WISHES = {
    "has several solutions: two digits without a clue": {"clues": (0, 2)},
    "had 4 to 6 clues, not 9 to 16": {"clues": (9, 16), "minimal": True},
    "puzzles of 9×9 without other rules have one": {"rating": (1, 2)},
    "17 or more are wanted, and 16 cells": {"clues": (17, 20)},
    "a pattern has a character for each of 16 cells": {"pattern": "x..x"},
    "had several solutions with all clues that the pattern": {"pattern": "xxxx" + "." * 12},
    "a puzzle of 2 clues has several": {"pattern": "xx" + "." * 14},
    "unknown symmetry 'both'": {"symmetry": "both"},
    "seed is 0 or more": {"seed": -1},
    "are those of `minimal` puzzles": {"weights": True},
    "no attempt was finished": {"rules": "nonconsecutive"},
    "stats: puzzles that are made have none": {"stats": True},
    "only grids of rows, columns and boxes": {"unlike": "a.csv", "rules": "x"},
}


@pytest.mark.parametrize("why", WISHES)
def test_impossible_wishes_are_one_clear_error(why):
    with pytest.raises(bs.InputError, match=why):
        bs.generate_table(20, **{"box": (2, 2), "node_limit": 5_000, **WISHES[why]})


def test_the_row_without_a_puzzle_is_named_and_those_before_it_are_kept(tmp_path):
    out = tmp_path / "out.csv"
    words = ["generate", "-n", "100", "--box", "2x2", "--clues", "6", "--minimal", "--chunk", "5"]
    result = CliRunner().invoke(app, [*words, "--node-limit", "300", "-o", str(out)])
    assert result.exit_code == 2
    assert "no puzzle after 300 nodes" in result.stderr
    row = int(result.stderr.split("row ")[1].split(":")[0])
    kept = (tmp_path / "out.csv.partial").read_text().splitlines()
    assert len(kept) == 1 + (row - 1) // 5 * 5


def test_no_puzzle_is_like_those_of_a_file(tmp_path):
    def forms(table):
        return [canonical_form(digits(text), 2, 2)[0] for text in table["puzzle"].to_pylist()]

    csv.write_csv(bs.generate_table(5, **SOME), tmp_path / "first.csv")
    known = set(forms(bs.generate_table(5, **SOME)))
    without = bs.generate_table(100, **SOME)
    others = bs.generate_table(100, **SOME, unlike=(tmp_path / "first.csv",))
    assert not known.intersection(forms(others))
    same = [k for k, form in enumerate(forms(without)) if form not in known]
    assert 0 < len(same) < 100
    assert others.take(same) == without.take(same)


def test_a_row_that_cannot_be_compared_is_named(tmp_path):
    (tmp_path / "known.csv").write_text("puzzle\n1.....2..3.....4\n11..............\n")
    with pytest.raises(bs.InputError, match=r"known\.csv: row 2 is invalid"):
        bs.generate_table(5, **SOME, unlike=[tmp_path / "known.csv"])


def test_no_rows_are_a_table_with_columns(tmp_path):
    bs.generate_file(tmp_path / "none.csv", 0)
    assert (tmp_path / "none.csv").read_text() == "puzzle,solution,clues\n"
    assert bs.generate_table(0).column_names == ["puzzle", "solution", "clues"]


def test_a_table_of_puzzles_says_by_which_rules_they_are_solved(tmp_path):
    for name, how in GRIDS.items():
        out = tmp_path / f"{name}.csv"
        bs.generate_file(out, 10, **how, seed=1)
        summary = bs.solve_file(out, tmp_path / "solved.csv")
        assert (summary.unique, summary.disagree) == (10, 0)


def test_weighted_rows_stand_for_all_minimal_puzzles():
    problem = bs.Sudoku(2, 2)
    grids = np.array(sorted(grids_by_rules(problem.rules, [0] * 16)))
    orbits = np.unique(bs.canonical_forms(problem, grids).grids, axis=0, return_counts=True)
    each = [n * minimal_puzzles(grid) for grid, n in zip(*orbits, strict=True)]
    wanted = sum(each) / np.sum(each)
    table = bs.generate_table(20_000, box=(2, 2), minimal=True, weights=True, seed=2)
    clues, weights = np.array(table["clues"]), np.array(table["weight"])
    for k in range(17):
        share = weights[clues == k].sum() / weights.sum()
        error = np.sqrt((weights**2 * ((clues == k) - share) ** 2).sum()) / weights.sum()
        assert abs(share - wanted[k]) <= 5 * error < 0.05


def minimal_puzzles(grid):
    """Count the minimal puzzles of a grid by number of clues: all sets of clues are tried."""
    sets = np.arange(2**16)
    clues = (sets[:, None] >> np.arange(16) & 1).astype(bool)
    found = bs.solve_batch(np.where(clues, grid, 0).astype(np.uint8), limit=2)
    is_unique = found.n_solutions == 1
    is_minimal = is_unique.copy()
    for cell in range(16):
        is_minimal &= ~(clues[:, cell] & is_unique[sets & ~(1 << cell)])
    return np.bincount(clues[is_minimal].sum(axis=1), minlength=17)


def test_ratings_are_as_wished():
    for low, high in ((2.6, 4.4), (5.0, float("inf"))):
        table = bs.generate_table(40, seed=5, rating=(low, high))
        rated = bs.rate(table.select(["puzzle"])).to_pydict()
        assert all(low <= value <= high for value in rated["rating"])
        assert table.slice(0, 9).equals(bs.generate_table(9, seed=5, rating=(low, high)))
    with pytest.raises(bs.InputError, match="had another rating"):
        bs.generate_table(1, rating=(1.0, 1.0), clues=(22, 25), node_limit=3000)
    with pytest.raises(bs.InputError, match="a rating is a pair such as"):
        bs.generate_table(1, rating=(3, 2))
