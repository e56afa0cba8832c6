import shutil
from itertools import product

import make_datasets as script
import numpy as np
import pytest
from conftest import DATASETS, hard_puzzles, rows_of_csv
from invoking import run_python
from puzzles import deepening, draws, grids
from puzzles.climbing import MOST_SOLUTIONS, guesses, neighbours
from puzzles.rows import TREES
from puzzles.spoiling import NINE

from batchsolve import count, read_problem, solve_batch, solve_file
from batchsolve.engines import Task, get_engine

BROKEN = {  # the names of the rows of broken.csv, by their status
    "unique": "good zeros-for-blanks blanks-around quoted sixteen solved-grid mixed-blanks numbers "
    "good-again",
    "multiple": "empty-band",
    "unsolvable": "no-solution",
    "invalid": "too-few-fields too-many-fields too-short too-long bad-character question-marks "
    "empty white-space clash-in-row clash-in-column clash-in-box fullwidth-digit rounded-number "
    "word",
}
STATUS_OF_BROKEN = {name: status for status, names in BROKEN.items() for name in names.split()}
BY_NAME = {dataset.name: dataset for dataset in script.DATASETS}


def solved(name, folder, limit=2):
    """Solve a shipped file; return the summary and the rows of the output."""
    output = folder / "out.csv"
    return solve_file(DATASETS / name, output, jobs=1, limit=limit), rows_of_csv(output)


def test_folder_holds_nothing_else_and_is_small():
    files = list(DATASETS.iterdir())
    assert {file.name for file in files} == BY_NAME.keys() | {"README.md"}
    assert sum(file.stat().st_size for file in files) < 3_000_000


@pytest.mark.parametrize("name", BY_NAME)
def test_length_and_header_are_as_described_and_no_puzzle_is_shipped_twice(name):
    header, *lines, end = (DATASETS / name).read_text(encoding="utf-8").split("\n")
    assert (header, len(lines), end) == (BY_NAME[name].header, BY_NAME[name].rows, "")
    puzzles = {row["puzzle"] for row in rows_of_csv(DATASETS / name)}
    assert len(puzzles) == len(lines) or name == "broken.csv"


MADE_AGAIN = [
    *((name, 1) for name in BY_NAME if name != "deep16.csv"),
    ("many16.csv", 0),
    *(("sudoku9.csv", level * 2_500 + k) for level in (1, 2, 3) for k in (0, 1)),
    *(("several.csv", index) for index in (50, 51, 120, 121, 122)),
    *(("broken.csv", index) for index in range(2, len(STATUS_OF_BROKEN))),
]


@pytest.mark.parametrize(("name", "index"), MADE_AGAIN)
def test_any_row_can_be_made_again_alone(name, index):
    lines = (DATASETS / name).read_text(encoding="utf-8").splitlines()
    assert BY_NAME[name].row(index) == lines[index + 1]


@pytest.mark.parametrize("name", ["sudoku9.csv", "sudoku16.csv", "sudoku6.csv", "sudoku4.csv"])
def test_puzzles_are_unique_with_the_given_solution(name, tmp_path):
    summary, rows = solved(name, tmp_path)
    assert summary.unique == summary.rows == BY_NAME[name].rows
    assert summary.complete
    assert all(row["agrees"] == "true" for row in rows)


def test_hard_puzzles_are_unique_and_need_the_guesses_they_say():
    rows = rows_of_csv(DATASETS / "hard9.csv")
    grids, solved_grids = hard_puzzles()
    outcome = get_engine("dlx").search(NINE, Task.of(NINE.stacks(grids), keep=2))
    assert outcome.counts.tolist() == [1] * len(rows)
    assert np.array_equal(NINE.grids(outcome.solutions), solved_grids)
    expected = np.array([int(row["guesses"]) for row in rows])
    assert np.array_equal(guesses(grids), expected)
    assert f"{expected.mean():.0f} on average" in BY_NAME["hard9.csv"].what


def test_neighbours_of_a_puzzle_are_all_that_differ_in_one_clue():
    puzzle = hard_puzzles()[0][0]
    expected = set()
    for given_up in np.flatnonzero(puzzle):
        fewer = puzzle.copy()
        fewer[given_up] = 0
        task = Task.of(NINE.stacks(fewer[None]), keep=1000)
        solutions = NINE.grids(get_engine("dlx").search(NINE, task).solutions)
        for cell, digit in product(np.flatnonzero(fewer == 0), range(1, 10)):
            is_proof = np.count_nonzero(solutions[:, cell] == digit) == 1
            if is_proof and len(solutions) <= MOST_SOLUTIONS:
                expected.add(bytes([*fewer[:cell], digit, *fewer[cell + 1 :]]))
    assert {*map(bytes, neighbours(puzzle[None]))} == expected
    assert len(expected) > 20


def test_large_puzzles_are_unique_within_their_nodes(tmp_path):
    summary, _ = solved("sudoku25.csv", tmp_path)
    assert summary.unique == summary.rows == 20
    assert summary.nodes < 20 * 64_000


def test_levels_are_as_described():
    rows = rows_of_csv(DATASETS / "sudoku9.csv")
    levels = np.repeat(["easy", "medium", "hard", "minimal"], 2_500)
    assert [row["level"] for row in rows] == levels.tolist()
    assert all(int(row["clues"]) == 81 - row["puzzle"].count(".") for row in rows)
    clues = [int(row["clues"]) for row in rows[:7_500]]
    assert clues == sorted(clues, reverse=True)
    assert set(clues) == set(range(26, 46))


def test_no_clue_of_a_minimal_puzzle_can_be_spared():
    for text in [row["puzzle"] for row in rows_of_csv(DATASETS / "sudoku9.csv")][7_500::500]:
        fewer = [f"{text[:k]}.{text[k + 1 :]}" for k in range(81) if text[k] != "."]
        assert set(solve_batch(fewer).status.tolist()) == {"multiple"}


def test_expected_counts_are_found(tmp_path):
    _, rows = solved("several.csv", tmp_path, limit=1_000)
    for row in rows:
        found = "invalid" if row["status"] == "invalid" else row["n_solutions"]
        assert found == row["expected"], row["id"]
    counts = [int(row["expected"]) for row in rows if row["expected"] != "invalid"]
    assert sorted(set(counts))[:3] == [0, 2, 4]
    assert 400 < max(counts) <= 500


def test_broken_rows_are_reported_in_their_place(tmp_path):
    summary, rows = solved("broken.csv", tmp_path)
    assert {row["id"]: row["status"] for row in rows} == STATUS_OF_BROKEN
    assert len(STATUS_OF_BROKEN) == len(rows)
    assert all(bool(row["message"]) == (row["status"] == "invalid") for row in rows)
    assert not summary.complete


def test_command_line_makes_the_same_bytes_with_more_workers(tmp_path, capsys):
    made = run_python(script.__file__, "--out", tmp_path, "--only", "sudoku4.csv", "--jobs", "2")
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")
    assert {file.name for file in tmp_path.iterdir()} == {"sudoku4.csv", "README.md"}
    shipped = (DATASETS / "sudoku4.csv").read_bytes()
    assert (tmp_path / "sudoku4.csv").read_bytes() == shipped
    assert script.main(["--out", str(tmp_path), "--check"]) == 0
    (tmp_path / "sudoku4.csv").write_bytes(shipped.replace(b".", b"0", 1))
    capsys.readouterr()
    assert script.main(["--out", str(tmp_path), "--check"]) == 1
    assert capsys.readouterr().out == "differ from README.md: sudoku4.csv\n"


def test_the_page_with_its_checksums_can_be_made_again(tmp_path):
    for name in BY_NAME:
        shutil.copy(DATASETS / name, tmp_path)
    script.write_readme(tmp_path)
    assert (tmp_path / "README.md").read_bytes() == (DATASETS / "README.md").read_bytes()


def test_puzzles_with_many_solutions_have_as_many_as_they_say():
    rows = rows_of_csv(DATASETS / "many16.csv")
    for row in rows:
        reading = read_problem(f"{DATASETS / 'many16.csv'}#id={row['id']}")
        assert count(reading.problem, reading.stack).count == int(row["expected"])
    assert int(rows[-1]["expected"]) > 1_000_000


def test_deep_puzzles_have_the_solutions_and_the_first_the_tree_they_say():
    rows = rows_of_csv(DATASETS / "deep16.csv")
    puzzles = np.array([deepening.SIXTEEN.parse(row["puzzle"]) for row in rows])
    task = Task.of(deepening.SIXTEEN.stacks(puzzles), budget=3 * deepening.MOST_NODES)
    outcome = deepening.LANES.search(deepening.SIXTEEN, task)
    assert outcome.counts.tolist() == [int(row["expected"]) for row in rows]
    assert len(outcome.frontier) == 0
    for row, least in zip(rows, TREES, strict=True):
        assert int(row["nodes"]) >= least
    first = Task.of(deepening.SIXTEEN.stacks(puzzles[:1]))
    assert deepening.CELLS.search(deepening.SIXTEEN, first).nodes[0] == int(rows[0]["nodes"])


def test_the_search_for_deep_puzzles_finds_what_it_says(monkeypatch):
    monkeypatch.setattr(deepening, "STARTS", 1)
    least = 20_000
    puzzle, n_solutions, n_nodes = deepening.deep_puzzle(draws.Draws(1), least)
    assert deepening.is_easy_for_lanes(puzzle)
    assert n_nodes >= least
    assert 1 <= n_solutions <= deepening.MOST_SOLUTIONS
    result = count(deepening.SIXTEEN, deepening.SIXTEEN.stack(puzzle), engine="cells")
    assert (result.count, result.nodes) == (n_solutions, n_nodes)


def test_a_neighbour_keeps_the_solution_and_most_of_the_clues():
    grid = grids.random_grid(deepening.SIXTEEN, draws.Draws(2))
    puzzle = grid.copy()
    puzzle[100:] = 0
    for k in range(20):
        other = deepening.neighbour(puzzle, grid, draws.Draws(3, k))
        assert set(other[other > 0] - grid[other > 0]) <= {0}
        n_given_up = np.count_nonzero((puzzle > 0) & (other == 0))
        n_added = np.count_nonzero((puzzle == 0) & (other > 0))
        assert (n_given_up, n_added) in {(1, 1), (2, 2), (2, 1)}


@pytest.mark.parametrize("n_clues", [14, 81])
def test_an_estimate_of_a_tree_is_near_the_truth(n_clues):
    puzzle = hard_puzzles()[0][0].copy()
    puzzle[np.flatnonzero(puzzle)[n_clues:]] = 0
    truth = deepening.CELLS.search(NINE, Task.of(NINE.stacks(puzzle[None]), allowance=2 * 10**6))
    estimate = deepening.estimated_nodes(puzzle, draws.Draws(4), NINE)
    if len(truth.frontier):
        assert estimate > 2 * 10**6
    else:
        assert estimate == pytest.approx(truth.nodes[0], rel=0.2)
