"""Rated tables: their columns, their order, and the same bytes however they are made."""

import csv
import json

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from conftest import EASY, rows_of_csv
from invoking import invoke

import batchsolve as bs

HARD = "..95.....36.........578.9.3.....8.24.3.....6....9..1.7....74..25..6...9.72......."
NEW = ["technique", "rating", "backtracks", "backdoor", "steps", "status", "message"]


def test_rows_are_rated_if_they_have_one_solution():
    puzzles = [EASY, "55" + "." * 79, "." * 81, HARD, "123", "1.....2..3.....4"]
    table = pa.table({"id": range(6), "rating": list("abcdef"), "puzzle": puzzles})
    found = bs.rate(table, backdoor=True, steps=True)
    assert found.column_names == ["id", "given_rating", "puzzle", *NEW]
    rows = found.to_pylist()
    assert [row["status"] for row in rows[:4]] == ["unique", "invalid", "multiple", "unique"]
    hardest = [rows[0]["technique"], None, None, "guess", None, None]
    assert [row["technique"] for row in rows] == hardest
    assert [row["rating"] for row in rows] == [1.2, None, None, 8.6, None, None]
    assert rows[0]["backtracks"] == rows[0]["backdoor"] == 0
    assert rows[3]["backtracks"] > 0 < rows[3]["backdoor"]
    assert json.loads(rows[0]["steps"])[0]["fills"]
    assert rows[1]["message"].startswith("digit 5 twice in a row")
    assert rows[4]["message"].startswith("3 characters")
    why = "only 9×9 grids of rows, columns and boxes, without other rules, are rated"
    assert rows[5]["message"] == why


@pytest.mark.parametrize(("n_before", "n_small"), [(0, 1), (0, 5), (12_000, 1)])
def test_grids_of_other_sizes_have_no_ratings_however_many_they_are(tmp_path, n_before, n_small):
    small = ["1.....2..3.....4"]
    table = pa.table({"puzzle": small * n_before + [EASY] * 3 + small * n_small})
    rows = bs.rate(table).to_pylist()[n_before:]
    assert [row["rating"] for row in rows] == [1.2] * 3 + [None] * n_small
    assert [row["status"] for row in rows] == ["unique"] * (3 + n_small)
    assert all("only 9×9 grids" in row["message"] for row in rows[3:])
    pacsv.write_csv(table, tmp_path / "in.csv")
    bs.rate_file(tmp_path / "in.csv", tmp_path / "out.csv")
    written = rows_of_csv(tmp_path / "out.csv")[n_before + 3 :]
    assert [row["technique"] for row in written] == [""] * n_small


def test_rows_with_own_rules_have_no_ratings_beside_others():
    solved = bs.solve(EASY).solution
    boxes = [str(row // 3 * 3 + column // 3) for row in range(9) for column in range(9)]
    others, twin = boxes.copy(), solved.index(solved[0], 9)
    others[0], others[twin] = boxes[twin], boxes[0]
    regions = ["", None, "".join(others), "".join(boxes)]
    table = pa.table({"puzzle": [EASY] * 4, "regions": regions})
    rows = bs.rate(table.append_column("marks", [["", "." * 81, "", ""]])).to_pylist()
    assert [row["rating"] for row in rows] == [1.2, None, None, 1.2]
    assert all("only 9×9 grids" in row["message"] for row in rows[1:3])


def test_the_command_writes_a_table_and_a_summary(tmp_path):
    (tmp_path / "in.csv").write_text(f"puzzle\n{EASY}\n{HARD}\n")
    done = invoke("rate", tmp_path / "in.csv", "--steps", "--json")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [row["rating"] for row in rows] == ["1.2", "8.6"]
    assert json.loads(rows[1]["steps"])
    facts = json.loads(done.stderr.splitlines()[-1])
    assert facts["rows"] == 2
    assert facts["techniques"]["guess"] == 1
