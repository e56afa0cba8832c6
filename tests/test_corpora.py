"""Claims about public corpora; set BATCHSOLVE_CORPORA to the folder that holds them."""

import os
from pathlib import Path

import pytest
from conftest import rows_of_csv

import batchsolve as bs

FOLDER = Path(os.environ.get("BATCHSOLVE_CORPORA", "no such folder"))
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="BATCHSOLVE_CORPORA names no folder")

COVERS = {
    **{"small": 13, "one": 1, "bell12": 4_213_597, "bell13": 27_644_437, "matching8": 2_027_025},
    **{"matching9": 34_459_425, "pentomino_6_10": 9_356, "junttila_kaski_bell-08": 4_140},
    **{"junttila_kaski_kts15-ptpt-0001": 0, "junttila_kaski_kts15-ptpt-0020": 8},
    **{"junttila_kaski_latin7-blk-00001": 10_752, "junttila_kaski_latin7-blk-00008": 27_072},
    **{"junttila_kaski_latin6-blk-00001": 48, "junttila_kaski_sts15-blk-00005": 0},
    "junttila_kaski_doublefact-13": 135_135,
}
FEW = [name for name, covers in COVERS.items() if 0 < covers < 5_000]


ROWS = {"kaggle_rated_7034.csv": 7034, "sudoku9_17clue.txt": 49_158, "sudoku9_top1465.txt": 1465}


@pytest.mark.parametrize("name", ROWS)
def test_every_puzzle_is_unique(tmp_path, name):
    summary = bs.solve_file(str(FOLDER / name), str(tmp_path / "out.csv"))
    assert (summary.rows, summary.unique, summary.disagree) == (ROWS[name], ROWS[name], 0)


def test_puzzles_of_17_clues_differ_by_more_than_symmetries(tmp_path):
    out = tmp_path / "out.csv"
    bs.solve_file(str(FOLDER / "sudoku9_17clue.txt"), str(out), canonical=True)
    rows = rows_of_csv(out)
    assert len({row["canonical"] for row in rows}) == 49_158
    assert all(row["canonical"] <= row["puzzle"] for row in rows)  # a dot is less than a digit
    # the others have another form, which differs from the second or third row on
    assert sum(row["canonical"] == row["puzzle"] for row in rows) == 47_653


def test_nothing_is_repeated_but_what_symmetries_made(tmp_path):
    path = str(FOLDER / "sudoku9_17clue.txt")
    summary = bs.dedupe([path, path], tmp_path / "out.csv", up_to_symmetry=True)
    assert (summary.kept, summary.repeated, summary.undecided) == (49_158, 49_158, 0)
    summary = bs.dedupe(str(FOLDER / "sudoku9_top1465.txt"), tmp_path / "out.csv", against=[path])
    assert (summary.rows, summary.invalid) == (1_465, 0)


def test_hexadoku_answers(tmp_path):
    bs.solve_file(FOLDER / "sudoku16_hexadoku.csv", tmp_path / "out.csv", limit=10_000)
    rows = rows_of_csv(tmp_path / "out.csv")
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
    bs.solve_file(tmp_path / "in.csv", tmp_path / "out.csv", limit=1)
    rows = rows_of_csv(tmp_path / "out.csv")
    problem = bs.Sudoku(5, 5)
    assert [row["status"] for row in rows] == ["solved", "solved"]
    for row in rows:
        puzzle, solution = (problem.parse(row[name])[None] for name in ("puzzle", "solution"))
        assert problem.check(puzzle, solution).all()


CHOSEN = [
    {"jobs": 1},
    {"jobs": 2},
    {"jobs": 2, "split_depth": 2, "budget": 300_000},
    {"jobs": 2, "split_depth": 4, "budget": 77_777, "backend": "loky"},
    {"jobs": 1, "engine": "memo:64"},
    {"jobs": 2, "engine": "memo:64", "split_depth": 3, "budget": 50_000},
]


@pytest.mark.parametrize("name", COVERS)
@pytest.mark.parametrize("chosen", CHOSEN, ids=str)
def test_known_counts(name, chosen):
    assert count_of(name, **chosen) == COVERS[name]


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("engine", ["algorithm-x", "sat"])
def test_known_counts_by_oracles(name, engine):
    assert count_of(name, engine=engine, jobs=1) == COVERS[name]
    assert count_of(name, engine=engine, jobs=2, split_depth=2, budget=1_000) == COVERS[name]


def test_more_covers_than_plain_search_can_list():
    known = 7_905_853_580_625
    assert count_of("junttila_kaski_doublefact-25", engine="memo", jobs=1) == known
    assert count_of("junttila_kaski_doublefact-25", engine="memo", jobs=2, split_depth=2) == known
    assert count_of("junttila_kaski_doublefact-19", engine="memo:8", jobs=2) == 654_729_075


@pytest.mark.skipif("BATCHSOLVE_PATIENCE" not in os.environ, reason="takes an hour")
@pytest.mark.parametrize("chosen", [*CHOSEN[:3], CHOSEN[4]], ids=str)
def test_known_counts_that_take_long(chosen):
    assert count_of("pento_plus_tetra_2x4x10", **chosen) == 895_536
    if "engine" not in chosen:
        assert count_of("junttila_kaski_doublefact-19", **chosen) == 654_729_075


def count_of(name, **chosen):
    """Count the covers of an instance."""
    result = bs.count(bs.read_problem(str(FOLDER / "exactcover" / f"{name}.ec")).problem, **chosen)
    assert result.complete
    return result.count
