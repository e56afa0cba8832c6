"""Journals that are interrupted while they are made."""

import sqlite3
from contextlib import closing

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import batchsolve as bs
from batchsolve.runs.journal import Journal


@pytest.fixture
def interrupted(tmp_path):
    """Leave the file of a journal whose tables were not made."""
    pacsv.write_csv(pa.table({"puzzle": ["1.....2..3.....4"]}), tmp_path / "in.csv")
    path = tmp_path / "out.csv.partial.journal"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
    assert path.stat().st_size
    return path


@pytest.mark.parametrize("resume", [False, True])
def test_a_run_begins_where_one_was_interrupted_before_its_first_checkpoint(interrupted, resume):
    folder = interrupted.parent
    assert not Journal.is_begun(str(interrupted))
    assert bs.solve_file(folder / "in.csv", folder / "out.csv", resume=resume).unique == 1
    assert not interrupted.exists()


def test_a_journal_in_use_is_begun(tmp_path):
    path = str(tmp_path / "a.journal")
    assert not Journal.is_begun(path)
    with Journal(path, "solve", {}):
        assert Journal.is_begun(path)
    assert Journal.is_begun(path)
