"""Tables that are answered one after another, of every library that makes tables."""

from itertools import count, pairwise

import polars as pl
import pyarrow as pa
import pytest
from conftest import PUZZLE, SOLUTION, frame_of
from hypothesis import given, settings, strategies as st

import batchsolve as bs

TEXTS = [PUZZLE, "11..............", "12..............", PUZZLE.replace("4", "x"), "." * 16, None]
TABLE = pa.table({"id": list(range(60)), "puzzle": TEXTS * 10})


@given(st.lists(st.integers(0, 60)), st.booleans(), st.sampled_from([1, 2]))
@settings(max_examples=15, deadline=None)
def test_the_answers_do_not_depend_on_where_a_table_is_cut(cuts, stats, jobs):
    ends = sorted({*cuts, 0, 60})
    tables = [TABLE.slice(0, 0)]
    tables += [TABLE.slice(begin, end - begin) for begin, end in pairwise(ends)]
    found = list(bs.solve_stream(iter(tables), jobs=jobs, stats=stats, alphabet="1-4"))
    assert list(map(len, found)) == list(map(len, tables))
    whole = bs.solve_table(TABLE, stats=stats, alphabet="1-4")
    joined = pa.concat_tables(found)
    assert joined.schema == whole.schema
    names = [name for name in whole.column_names if name != "seconds"]
    assert joined.select(names).equals(whole.select(names))


def test_a_table_is_answered_before_the_next_is_asked_for():
    asked = []

    def tables():
        for k in count():
            asked.append(k)
            yield TABLE.slice(k, 1)

    solved = bs.solve_stream(tables(), jobs=2)
    assert asked == []
    for k in range(6):
        assert next(solved)["puzzle"].to_pylist() == [TEXTS[k]]
        assert asked == list(range(k + 1))
    solved.close()


def test_readers_of_arrow_are_read_batch_by_batch():
    relation = type("Relation", (), {"columns": [], "__len__": lambda _: 60})()  # as of DuckDB
    with pytest.raises(bs.InputError, match="functions of tables take its collect"):
        bs.solve_stream(pl.LazyFrame({"puzzle": [PUZZLE]}))
    relation.__arrow_c_stream__ = TABLE.__arrow_c_stream__
    for given_table in (TABLE.to_reader(7), TABLE.to_batches(7), TABLE, relation):
        tables = list(bs.solve_stream(given_table))
        assert pa.concat_tables(tables).equals(bs.solve_table(TABLE))
        assert all(type(table) is pa.Table for table in tables)
    assert list(map(len, bs.solve_stream(TABLE.to_reader(40)))) == [40, 20]


def hugging_face():
    """Return the package `datasets`, if it is installed; the folder of that name is none."""
    pytest.importorskip("datasets.arrow_dataset")
    return pytest.importorskip("datasets")


@pytest.mark.parametrize("streams", [False, True])
def test_datasets_of_hugging_face_are_solved(streams):
    dataset = hugging_face().Dataset.from_dict({"puzzle": [PUZZLE] * 5, "id": list(range(5))})
    dataset = dataset.to_iterable_dataset() if streams else dataset.select([4, 2, 0])
    [table] = bs.solve_stream(dataset)
    assert table["id"].to_pylist() == ([0, 1, 2, 3, 4] if streams else [4, 2, 0])
    assert set(table["solution"].to_pylist()) == {SOLUTION}
    if streams:
        with pytest.raises(bs.InputError, match="not a IterableDataset: functions of tables"):
            bs.solve_table(dataset)
    else:
        with pytest.raises(bs.InputError, match=r"LazyBatch: map over data.with_format\('arrow'\)"):
            dataset.map(bs.solve_table, batched=True)
    mapped = dataset.with_format("arrow").map(bs.solve_table, batched=True, batch_size=2)
    assert [row["status"] for row in mapped.with_format(None)] == ["unique"] * len(table)


def test_grids_of_hugging_face_come_back_as_such():
    datasets = hugging_face()
    grid = [[1, 0, 0, 0], [0, 0, 2, 0], [0, 3, 0, 0], [0, 0, 0, 4]]
    features = datasets.Features({"puzzle": datasets.Array2D((4, 4), "uint8")})
    dataset = datasets.Dataset.from_dict({"puzzle": [grid] * 3}, features=features)
    solved = dataset.with_format("arrow").map(bs.solve_table, batched=True)
    assert solved.features["solution"] == features["puzzle"]
    assert "".join(map(str, solved.with_format("numpy")[0]["solution"].flatten())) == SOLUTION


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_one_data_frame_is_cut_into_data_frames(library, monkeypatch):
    monkeypatch.setattr("batchsolve.runs.solve_tables.ROWS_OF_A_TABLE", 25)
    frame = frame_of(library, TABLE)
    found = list(bs.solve_stream(frame, alphabet="1-4"))
    assert [type(each) for each in found] == [type(frame)] * 3
    assert [each.shape[0] for each in found] == [25, 25, 10]
    whole = bs.solve_table(TABLE, alphabet="1-4")["status"].to_pylist()
    assert [status for each in found for status in each["status"]] == whole


def test_columns_that_are_not_read_may_differ():
    tables = [pa.table({"puzzle": [PUZZLE], "x": [1]}), pa.table({"y": ["a"], "puzzle": [PUZZLE]})]
    names = [table.column_names[:2] for table in bs.solve_stream(tables)]
    assert names == [["puzzle", "x"], ["y", "puzzle"]]


RULES = [  # the columns of rules of tables, and the number of grids of each
    ([{}, {"rules": "x"}, {}, {"regions": "AAAABBBBCCCCDDDD"}], [288, 48, 288, 576]),
    ([{"rules": None, "box": None}, {"rules": "x", "box": ""}, {"box": "1x4"}], [288, 48, 576]),
]


@pytest.mark.parametrize(("columns", "counts"), RULES)
def test_later_tables_may_have_other_columns_of_rules(columns, counts):
    tables = [pa.Table.from_pylist([{"puzzle": "." * 16, **row}]) for row in columns]
    found = pa.concat_tables(bs.solve_stream(tables, limit=999), promote_options="default")
    assert found["n_solutions"].to_pylist() == counts


def test_a_stream_may_be_empty():
    assert list(bs.solve_stream([])) == []
    [table] = bs.solve_stream([TABLE.slice(0, 0)])
    assert table.schema == bs.solve_table(TABLE.slice(0, 0)).schema


WRONG = [
    (pa.table({"grid": [PUZZLE]}), "table 2: has no column 'puzzle'"),
    (TABLE.append_column("Rules", TABLE["puzzle"]), "table 2: column 'Rules' may hold rules of"),
    (pa.table([[PUZZLE], [1], [2]], ["puzzle", "a", "a"]), "table 2: names the column 'a' twice"),
    ({"puzzle": [PUZZLE]}, "a table is one of Arrow, .*, not a dict: ma"),
]


@pytest.mark.parametrize(("later", "why"), WRONG)
def test_tables_before_a_wrong_one_are_answered(later, why):
    solved = bs.solve_stream([TABLE, later])
    assert len(next(solved)) == 60
    with pytest.raises(bs.InputError, match=why):
        next(solved)
