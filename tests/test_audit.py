"""The audit of a training and a test table finds what was put into them."""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pytest

import batchsolve as bs

DATASETS = Path(__file__).parent.parent / "datasets"


def made_up(n, n_leaks, n_wrong):
    """Return a training and a test table.

    Some rows of the test table are images of rows of the other, and some have a wrong solution. The
    column ``rating`` has the nodes of a search.
    """
    text = pacsv.ConvertOptions(column_types={"puzzle": pa.string(), "solution": pa.string()})
    table = pacsv.read_csv(DATASETS / "sudoku9.csv", convert_options=text).slice(10_000 - n)
    table = table.select(["puzzle", "solution"])
    nodes = bs.solve_table(table, stats=True, engine="dlx")["nodes"]
    table = table.append_column("rating", nodes)
    train, test = table.slice(n // 5), table.slice(0, n // 5)
    leaks = bs.augment(train.slice(0, n_leaks), seed=1).drop_columns("source_row")
    solutions = pc.replace_substring(test["solution"].slice(0, n_wrong), "1", "2")
    wrong = test.slice(0, n_wrong).set_column(1, "solution", solutions)
    return train, pa.concat_tables([leaks, train.slice(n_leaks, 2), wrong, test.slice(n_wrong)])


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    paths = [str(folder / name) for name in ("train.csv", "test.csv")]
    for path, table in zip(paths, made_up(200, 7, 3), strict=True):
        pacsv.write_csv(table, path)
    return paths


def test_faults_are_counted(tables):
    from audit_corpus import audit

    found = audit(*tables)
    none = dict.fromkeys(("invalid", "unsolvable", "multiple", "disagree"), 0)
    repeated = {"repeated": 0, "repeated_up_to_symmetry": 0}
    assert found["train"]["faults"] == {"rows": 160, **none, **repeated}
    known = {"known": 2, "known_up_to_symmetry": 9}
    assert found["test"]["faults"] == {"rows": 49, **none, **repeated, **known, "disagree": 3}
    ratings = found["train"]["ratings"]
    assert sum(row["rows"] for row in ratings["techniques"]) == 160
    assert 0.3 < ratings["rank_correlation"]["backtracks"] < 1


def test_the_text_has_every_number(tables, monkeypatch, capsys):
    from audit_corpus import main

    monkeypatch.setattr(sys, "argv", ["audit_corpus.py", *tables])
    main()
    text = capsys.readouterr().out
    assert "rows                                                     160          49\n" in text
    assert "test: the column rating, and ours\n  rank correlation with our rating" in text


def test_ranks_are_those_of_spearman():
    from audit_corpus import rank_correlation

    stats = pytest.importorskip("scipy.stats")
    one, two = [3, 1, 4, 1, 5, 9, 2], [2.5, 7, 1, 8, 2.5, 8, 1]
    found = rank_correlation(pa.chunked_array([one]), pa.chunked_array([two]))
    assert found == pytest.approx(stats.spearmanr(one, two).statistic)
    assert rank_correlation(pa.chunked_array([one]), pa.chunked_array([[1] * 7])) is None
