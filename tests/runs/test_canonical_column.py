"""The column of canonical forms: the same bytes however the rows are solved and written."""

import json

import pyarrow as pa
from conftest import typed_rows, write_table
from invoking import refused

import batchsolve as bs

PUZZLES = ["1.....2..3.....4", "4000003001000002", "12" + "." * 14, "11" + "." * 14, "12", "." * 16]
FORMS = ["...1.2....3.4...", "...1.2....3.4...", "." * 14 + "12", None, None, "." * 16]


def test_tables_and_files_of_every_format_have_the_column(tmp_path):
    table = pa.table({"puzzle": PUZZLES})
    solved = bs.solve_table(table, canonical=True, stats=True)
    assert solved["canonical"].to_pylist() == FORMS
    assert solved.column_names[-4:] == ["message", "canonical", "nodes", "seconds"]
    write_table(table, tmp_path / "in.csv")
    for out in (tmp_path / f"out{suffix}" for suffix in (".csv", ".jsonl", ".parquet")):
        bs.solve_file(tmp_path / "in.csv", out, canonical=True)
        rows = typed_rows(out, "canonical")
        assert list(rows[0])[-2:] == ["message", "canonical"]
        assert [row["canonical"] for row in rows] == FORMS
        assert [row["status"] for row in rows][3:5] == ["invalid", "invalid"]


def test_grids_that_are_too_large_are_refused_before_anything_is_written(tmp_path):
    (tmp_path / "in.txt").write_text(" ".join(["."] * 625) + "\n")
    said = refused("solve", tmp_path / "in.txt", "-o", tmp_path / "out.csv", "--canonical")
    assert "grids of 25×25 with boxes of 5×5 have too many symmetries" in said
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


def test_numbers_are_written_as_numbers(tmp_path):
    (tmp_path / "in.txt").write_text("2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1\n")
    bs.solve_file(tmp_path / "in.txt", tmp_path / "out.jsonl", canonical=True, alphabet="numbers")
    row = json.loads((tmp_path / "out.jsonl").read_text())
    assert row["canonical"] == "0 0 0 0 0 0 0 1 0 0 0 0 0 2 0 0"
