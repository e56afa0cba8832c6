"""Claims about public corpora, for whoever has them: set BATCHSOLVE_CORPORA to their folder."""

import csv
import os
from pathlib import Path

import pytest

import batchsolve as bs

FOLDER = Path(os.environ.get("BATCHSOLVE_CORPORA", "no such folder"))
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="BATCHSOLVE_CORPORA names no folder")

COVERS = {
    "small": 13,
    "one": 1,
    "bell12": 4_213_597,
    "bell13": 27_644_437,
    "matching8": 2_027_025,
    "matching9": 34_459_425,
    "pentomino_6_10": 9_356,
    "junttila_kaski_bell-08": 4_140,
    "junttila_kaski_doublefact-13": 135_135,
    "junttila_kaski_kts15-ptpt-0001": 0,
    "junttila_kaski_kts15-ptpt-0020": 8,
    "junttila_kaski_latin6-blk-00001": 48,
    "junttila_kaski_latin7-blk-00001": 10_752,
    "junttila_kaski_latin7-blk-00008": 27_072,
    "junttila_kaski_sts15-blk-00005": 0,
}


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("kaggle_rated_7034.csv", 7_034),
        ("sudoku9_17clue.txt", 49_158),
        ("sudoku9_top1465.txt", 1_465),
    ],
)
def test_every_puzzle_is_unique(tmp_path, name, rows):
    summary = bs.solve_file(str(FOLDER / name), str(tmp_path / "out.csv"))
    assert (summary.rows, summary.unique, summary.disagree) == (rows, rows, 0)


def test_hexadoku_answers(tmp_path):
    out = tmp_path / "out.csv"
    search = bs.SearchSettings(limit=10_000)
    bs.solve_file(str(FOLDER / "sudoku16_hexadoku.csv"), str(out), search=search)
    with open(out, newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 14
    for row in rows:
        known = row["known_answer"]
        if known == "invalid":
            assert row["status"] == "invalid"
        elif known.isdecimal():
            assert row["n_solutions"] == known
        else:
            assert (row["status"], row["solution"]) == ("unique", known)


def test_25_by_25(tmp_path):
    lines = (FOLDER / "sudoku25.csv").read_text().splitlines()
    (tmp_path / "in.csv").write_text("\n".join(lines[:3]) + "\n")
    search = bs.SearchSettings(limit=1)
    bs.solve_file(str(tmp_path / "in.csv"), str(tmp_path / "out.csv"), search=search)
    with open(tmp_path / "out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    problem = bs.Sudoku(5, 5)
    assert [row["status"] for row in rows] == ["solved", "solved"]
    for row in rows:
        puzzle, solution = (problem.parse(row[name])[None] for name in ("puzzle", "solution"))
        assert problem.check(puzzle, solution).all()


@pytest.mark.parametrize("name", COVERS)
@pytest.mark.parametrize("chosen", [{"jobs": 1}, {"jobs": 2, "split_depth": 2, "budget": 300_000}])
def test_known_counts(name, chosen):
    reading = bs.read_problem(str(FOLDER / "exactcover" / f"{name}.ec"))
    result = bs.count(reading.problem, **chosen)
    assert (result.count, result.complete) == (COVERS[name], True)
