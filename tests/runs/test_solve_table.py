"""Puzzles in memory: tables of several libraries, texts and digits, all with the same answers."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import DATASETS, PUZZLE, SOLUTION, rows_of_csv, typed_rows, write_table

import batchsolve as bs
from batchsolve.tables.columns import is_list, is_text, storage_of, without_views


def rows_of(name, n=60):
    """Return the first rows of a data set, each with as many fields as there are columns."""
    rows = rows_of_csv(DATASETS / name)[:n]
    return [{key: value or "" for key, value in row.items() if key} for row in rows]


@pytest.mark.parametrize("name", ["several.csv", "broken.csv", "sudoku16.csv", "sudoku25.csv"])
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_table_has_the_answers_of_a_file(name, backend, tmp_path):
    # the search of `lanes` is compiled for each size, and no other test with checks has this one
    n, engine = (20, "dlx") if name == "sudoku25.csv" else (60, "auto")
    table = pa.Table.from_pylist(rows_of(name, n))
    solved = bs.solve_table(table, jobs=2, backend=backend, engine=engine)
    answers = ["solution", "status", "n_solutions", "message"]
    for path in (tmp_path / "in.csv", tmp_path / "in.parquet"):
        write_table(table, path)
        bs.solve_file(path, tmp_path / "out.parquet", engine=engine)
        found = pq.read_table(tmp_path / "out.parquet")
        assert found.select(answers).equals(solved.select(answers))
    assert found.equals(solved)


def test_data_frames_of_pandas_keep_their_index_and_columns():
    given = {"name": pd.Categorical(["a", "b", "a"]), "puzzle": [PUZZLE, None, "11.............."]}
    frame = pd.DataFrame(given | {"status": [1.5, 2.5, np.nan], 0: [5, 6, 7]}, index=[7, 7, 3])
    frame = type("Frame", (pd.DataFrame,), {})(frame.rename_axis("x", axis=1))  # as of geopandas
    before = frame.copy()
    solved = bs.solve_table(frame, column="puzzle")
    pd.testing.assert_frame_equal(frame, before)
    assert type(solved) is pd.DataFrame
    assert solved.index.tolist() == [7, 7, 3]
    names = ["name", "puzzle", "given_status", 0, "solution", "status", "n_solutions", "message"]
    assert solved.columns.tolist() == names
    pd.testing.assert_series_equal(solved["name"], frame["name"])
    pd.testing.assert_series_equal(solved["given_status"], frame["status"], check_names=False)
    assert solved["status"].tolist() == ["unique", "invalid", "invalid"]
    assert solved["solution"].tolist()[0] == SOLUTION
    assert solved["solution"].isna().tolist() == [False, True, True]


@pytest.mark.parametrize("puzzles", [[PUZZLE], [PUZZLE, "11.............."]])
def test_integers_and_booleans_of_pandas_are_nullable_whether_a_row_is_invalid_or_not(puzzles):
    solved = bs.solve_table(pd.DataFrame({"puzzle": puzzles, "answer": SOLUTION}), stats=True)
    kinds = {name: str(solved[name].dtype) for name in ("n_solutions", "agrees", "nodes")}
    assert kinds == {"n_solutions": "Int64", "agrees": "boolean", "nodes": "Int64"}
    assert solved["n_solutions"].isna().tolist() == [puzzle != PUZZLE for puzzle in puzzles]
    assert solved[solved["agrees"].fillna(False)]["puzzle"].tolist() == [PUZZLE]


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum([PUZZLE, "." * 16, SOLUTION])], ids=str)
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_categories_of_polars_are_texts(kind, backend):
    given = pl.DataFrame({"puzzle": [PUZZLE, "." * 16] * 2, "solution": [SOLUTION, None] * 2})
    frame = given.cast(kind)
    solved = bs.solve_table(frame, jobs=1, backend=backend)
    assert (type(solved), solved["puzzle"].dtype) == (pl.DataFrame, kind)
    assert solved.cast(pl.String).equals(bs.solve_table(given).cast(pl.String))
    assert solved["agrees"].to_list() == [True, None] * 2
    batch = bs.solve_batch(frame["puzzle"], jobs=1, backend=backend)
    assert batch.status.tolist() == ["unique", "multiple"] * 2


LISTS = [pa.list_(pa.int64()), pa.large_list(pa.int8()), pa.list_(pa.uint8(), 16)]
MORE = [pa.list_(pa.float32()), pa.list_(pa.string()), pa.large_list(pa.string_view())]
SQUARES = [pa.list_(pa.list_(pa.int16())), pa.list_(pa.list_(pa.int32(), 4), 4)]
TENSOR = pa.fixed_shape_tensor(pa.uint8(), (4, 4))


@pytest.mark.parametrize("kind", [*LISTS, *MORE, *SQUARES, TENSOR], ids=str)
def test_solutions_of_lists_are_lists_of_the_same_type(kind, tmp_path):
    storage = storage_of(kind)
    blank = "." if is_text(storage.value_type) else 0
    texts = [PUZZLE, "11..............", "12.............."]
    is_square = is_list(storage.value_type)

    def value(text):
        cells = [blank if c == "." else type(blank)(c) for c in text]
        return [cells[k : k + 4] for k in range(0, 16, 4)] if is_square else cells

    column = pa.array(map(value, texts), storage)
    table = pa.table({"puzzle": column if storage is kind else kind.wrap_array(column)})
    wanted = [value(SOLUTION), None, value("1234341221434321")]
    pq.write_table(table, tmp_path / "in.parquet")
    for out in (tmp_path / "out.jsonl", tmp_path / "out.parquet"):
        bs.solve_file(tmp_path / "in.parquet", out, canonical=True)
        assert [row["solution"] for row in typed_rows(out)] == wanted
    solved = bs.solve_table(table, canonical=True)
    assert solved["solution"].to_pylist() == wanted
    # files are read without views, from which Arrow cannot take rows
    kind_read = without_views(table).schema.field("puzzle").type
    for schema, wanted_kind in ((solved.schema, kind), (pq.read_schema(out), kind_read)):
        for name in ("puzzle", "solution", "canonical"):
            assert schema.field(name).type == wanted_kind


SQUARE = [[1, 0, 0, 0], [0, 0, 2, 0], [0, 3, 0, 0], [0, 0, 0, 4]]
LINE = [digit for row in SQUARE for digit in row]
ARRAYS = [np.array(LINE, np.int16), np.array(SQUARE, np.uint8)]


@pytest.mark.parametrize("cell", [LINE, tuple(LINE), SQUARE, *ARRAYS])
@pytest.mark.parametrize("missing", [None, np.nan])
def test_lists_in_cells_of_pandas_stay_what_they_are(cell, missing):
    frame = pd.DataFrame({"id": ["a", "b"], "puzzle": [missing, cell]})
    for made in (*bs.solve_table(frame)["solution"][1:], *bs.augment(frame, seed=1)["puzzle"]):
        assert type(made) is type(cell)
        assert np.shape(made) == np.shape(cell)
        assert getattr(made, "dtype", None) == getattr(cell, "dtype", None)
    solution = bs.solve_table(frame)["solution"].tolist()
    assert (solution[0], "".join(map(str, np.ravel(solution[1])))) == (None, SOLUTION)


def test_lists_of_arrow_in_pandas_stay_of_arrow():
    kind = pd.ArrowDtype(pa.list_(pa.int8()))
    frame = pd.DataFrame({"puzzle": pd.array([LINE], dtype=kind)})
    assert bs.solve_table(frame)["solution"].dtype == kind


def test_solutions_of_lists_can_be_read_again(tmp_path):
    tensors = TENSOR.wrap_array(pa.array([LINE], TENSOR.storage_type))
    pq.write_table(pa.table({"puzzle": tensors}), tmp_path / "in.parquet")
    (tmp_path / "in.jsonl").write_text(json.dumps({"puzzle": LINE}) + "\n")
    pairs = ("out.csv", "in.jsonl"), ("again.csv", "out.csv"), ("b.jsonl", "out.csv")
    for name, given in (*pairs, ("c.csv", "in.parquet"), ("d.csv", "c.csv")):
        summary = bs.solve_file(tmp_path / given, tmp_path / name)
        assert (summary.unique, summary.disagree) == (1, 0)
    assert rows_of_csv(tmp_path / "again.csv")[0]["agrees"] == "true"


@pytest.mark.parametrize("shape", [(4,), (4, 4), (2, 2, 4)])
def test_tensors_beside_the_puzzles_are_kept(shape, tmp_path):
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((1, *shape), np.uint8))
    pq.write_table(pa.table({"e": tensors, "puzzle": [PUZZLE]}), tmp_path / "in.parquet")
    bs.solve_file(tmp_path / "in.parquet", tmp_path / "out.parquet")
    for table in (tmp_path / "out.parquet", tmp_path / "in.parquet"):
        solved = bs.solve_table(pq.read_table(table).select(["e", "puzzle"]))
        assert (solved["e"].type, solved["solution"][0].as_py()) == (tensors.type, SOLUTION)
    assert pq.read_table(tmp_path / "out.parquet")["e"].combine_chunks().equals(tensors)


def test_tensors_with_permuted_axes_are_no_grids():
    grids = np.zeros((1, 6, 6), np.uint8).transpose(0, 2, 1)
    table = pa.table({"puzzle": pa.FixedShapeTensorArray.from_numpy_ndarray(grids)})
    with pytest.raises(bs.InputError, match=r"axes in the order \[1, 0\]; store a copy"):
        bs.solve_table(table)


def test_other_tables_come_back_as_tables_of_arrow():
    table = pa.table({"puzzle": [PUZZLE] * 3, "id": [1, 2, 3]})
    [batch] = table.to_batches()
    right = bs.solve_table(table)
    unknown = SimpleNamespace(__arrow_c_stream__=table.__arrow_c_stream__)  # of another library
    for other in (batch, unknown, table.to_reader()):
        assert bs.solve_table(other).equals(right)
    empty = bs.solve_table(table.slice(0, 0))
    assert (empty.num_rows, empty.schema) == (0, right.schema)
    slices = pa.Table.from_batches([batch[:2], batch[2:2], batch[2:]])
    assert bs.solve_table(slices).equals(right)
    assert bs.augment(slices, 2, seed=1).equals(bs.augment(table, 2, seed=1))


def test_many_blocks_of_rows_texts_and_digits_keep_their_order():
    table, problem = pa.Table.from_pylist(rows_of("sudoku9.csv", 5000)), bs.Sudoku(3, 3)
    solved = bs.solve_table(table, jobs=2, stats=True)
    solutions = table["solution"].to_pylist()
    assert solved["solution"].to_pylist() == solutions
    assert solved["puzzle"].equals(table["puzzle"])
    pairs = pl.Series("x", [[1, 2], None] * 2500, pl.Array(pl.Int8, 2))
    frame = pl.DataFrame({"puzzle": table["puzzle"], "x": pairs})
    assert bs.solve_table(frame)["x"].equals(pairs, null_equal=True)
    assert solved["agrees"].to_pylist() == [True] * 5000
    assert min(solved["nodes"].to_pylist()) >= 1
    texts = table["puzzle"].to_pylist()
    texts[2500], solutions[2500] = "11" + "." * 79, None
    by_text = bs.solve_batch(texts, jobs=2)
    by_digit = bs.solve_batch(np.array([problem.parse(text) for text in texts]), jobs=2)
    assert by_text.text() == by_digit.text() == solutions
    for name in ("solutions", "status", "n_solutions", "nodes"):
        assert np.array_equal(getattr(by_text, name), getattr(by_digit, name))
    assert by_text.messages == by_digit.messages
    assert list(by_text.messages) == [2500]


TEXTS = [PUZZLE, "11..............", "." * 16, "1.....2..3.....x", None]


SERIES = {
    "list": list,
    "array": lambda texts: np.array(texts, object),
    "arrow": pa.array,
    "chunked": lambda texts: pa.chunked_array([texts[:2], texts[2:]]),
    "pandas": pd.Series,
    "polars": pl.Series,
}


@pytest.mark.parametrize("kind", SERIES)
def test_texts_are_solved_like_digits(kind):
    result = bs.solve_batch(SERIES[kind](TEXTS))
    assert len(result) == len(TEXTS)
    assert result.status.tolist() == ["unique", "invalid", "multiple", "invalid", "invalid"]
    texts = result.text()
    assert texts[0] == SOLUTION
    assert [text is None for text in texts] == [False, True, False, True, True]
    assert result.n_solutions.tolist() == [1, 0, 2, 0, 0]
    assert set(result.messages) == {1, 3, 4}
    assert "digit 1 twice in a row" in result.messages[1]
    assert "'x'" in result.messages[3]
    assert repr(result) == "BatchResult(5 rows: 3 invalid, 1 multiple, 1 unique)"


TEXTS_OF_ROWS = ["12..............", PUZZLE, None, PUZZLE]
ROWS_OF_TABLES = {
    "texts": pa.array(TEXTS_OF_ROWS),
    "large texts": pa.array(TEXTS_OF_ROWS, pa.large_string()),
    "categories": pa.array(TEXTS_OF_ROWS).dictionary_encode(),
    "lists": pa.array([[0] * 16, [*range(1, 5), *[0] * 12], None, LINE]),
    "rows": pa.array([[[0] * 4] * 4, SQUARE, None, SQUARE], pa.list_(pa.list_(pa.int8(), 4), 4)),
}


@pytest.mark.parametrize("kind", ROWS_OF_TABLES)
def test_a_part_of_a_table_is_solved_like_a_table(kind):
    others = {"id": range(4), "is": [None, True, False, True], "names": [["a"], ["b"], [], None]}
    given = pa.table({"puzzle": ROWS_OF_TABLES[kind], **others})
    solved = bs.solve_table(given[1:])
    assert solved["status"].to_pylist()[1:] == ["invalid", "unique"]
    copied = bs.solve_table(pa.Table.from_pylist(given[1:].to_pylist(), given.schema))
    assert (solved.schema, solved.to_pylist()) == (copied.schema, copied.to_pylist())


@pytest.mark.parametrize("kind", ["int8", "uint8", "uint16", "int64"])
@pytest.mark.parametrize("shape", [(0, 4, 4), (0, 16), (3, 4, 4), (3, 16)])
def test_solutions_have_the_shape_and_the_type_of_the_grids(shape, kind):
    n, problem = shape[0], bs.Sudoku(2, 2)
    grids = np.tile(problem.parse(PUZZLE), n).reshape(shape).astype(kind)
    result = bs.solve_batch(grids, problem)
    assert (result.solutions.shape, result.solutions.dtype) == (shape, kind)
    assert (result.text(), result.status.tolist()) == ([SOLUTION] * n, ["unique"] * n)


def test_numbers_in_lists_are_texts_of_series_and_digits_of_lists():
    assert bs.solve_batch([LINE]).text() == [SOLUTION]
    assert bs.solve_batch(pa.array([LINE])).text() == [" ".join(SOLUTION)]


@pytest.mark.parametrize("grids", [[], (), np.array([]), pa.array([], pa.string())])
def test_no_grids_have_no_answers(grids):
    result = bs.solve_batch(grids)
    assert (len(result), result.solutions.shape, result.text()) == (0, (0, 81), [])
    assert bs.solve_batch(grids, bs.Sudoku(2, 2)).solutions.shape == (0, 16)


@pytest.mark.parametrize("kind", [pa.null(), pa.float64(), pa.int64(), pa.string()])
def test_a_column_of_nulls_alone_is_empty_whatever_its_type(kind):
    with pytest.raises(bs.InputError, match=r"holds no grids: it is empty, .* the first 3 rows;"):
        bs.solve_table(pa.table({"puzzle": pa.nulls(3, kind)}))
    solved = bs.solve_table(pa.table({"puzzle": [PUZZLE], "solution": pa.nulls(1, kind)}))
    assert (solved["status"].to_pylist(), solved["agrees"].to_pylist()) == (["unique"], [None])
    assert len(bs.solve_table(pa.table({"puzzle": pa.nulls(0, kind)}))) == 0


def test_lists_that_are_null_are_empty():
    solved = bs.solve_table(pa.table({"puzzle": [[1] + [0] * 15, None, []]}))
    assert solved["message"].to_pylist()[1:] == ["no grid; a 4×4 grid has 16 numbers"] * 2


def damaged():
    """Return damaged texts of Arrow, one of which ends beyond the others."""
    offsets, data = np.array([0, 1000, 32], np.int32), b"." * 32
    return pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def union():
    """Return a column of a type that no table can be cut in."""
    values = [pa.array([1, 2])]
    types, places = pa.array([0, 0], pa.int8()), pa.array([0, 1], pa.int32())
    return pa.UnionArray.from_dense(types, places, values)


def test_an_error_of_arrow_names_the_column_and_what_to_do():
    sparse = pd.arrays.SparseArray([0, 1])
    kinds = [(pa.table, damaged()), (pa.table, union())]
    for make, column in [*kinds, (pd.DataFrame, sparse), (pd.DataFrame, [1, "a"])]:
        table = make({"puzzle": [PUZZLE] * 2, "x": column})
        with pytest.raises(bs.InputError, match=r"^column 'x': .*; convert it, or leave it out$"):
            bs.solve_table(table)


def test_what_polars_cannot_export_is_named():
    puzzle, large = pl.Series("puzzle", [PUZZLE]), pl.Series("x", [10**20], dtype=pl.Int128)
    with pytest.raises(bs.InputError, match=r"column 'x' holds integers .*pl\.String"):
        bs.solve_table(pl.DataFrame([puzzle, large]))
    with pytest.raises(bs.InputError, match=r"the series holds integers .*pl\.String"):
        bs.solve_batch(large)
    objects = pl.Series("x", [object()], dtype=pl.Object)
    with pytest.raises(bs.InputError, match="column 'x' holds objects of Python; convert it"):
        bs.solve_table(pl.DataFrame([puzzle, objects]))


def test_a_series_is_not_a_table():
    for made in (pd.Series, pl.Series, pa.array, lambda values: pa.chunked_array([values])):
        with pytest.raises(bs.InputError, match=r"a table is .*, not a .*: solve_batch takes"):
            bs.solve_table(made([PUZZLE]))
    with pytest.raises(bs.InputError, match="not a Series"):
        bs.solve_table(pd.Series([10**80]))


def test_missing_texts_are_empty_and_other_values_are_named():
    for missing in (None, float("nan"), np.float64("nan"), pd.NA):
        for grids in ([PUZZLE, missing], np.array([PUZZLE, missing], object)):
            assert bs.solve_batch(grids).status.tolist() == ["unique", "invalid"]
    for value in (5, [1] * 16, PUZZLE[:15] + "\udcff"):
        with pytest.raises(bs.InputError, match=r"^grid 1: .* is not text of UTF-8; give all"):
            bs.solve_batch([PUZZLE, value])
    with pytest.raises(bs.InputError, match=r"the array: .*convert it"):
        bs.solve_batch(damaged())


def test_a_column_is_found_by_its_grids_and_metadata_of_tables_are_kept():
    table = pa.table({"0": [PUZZLE]}).replace_schema_metadata({"made": "here"})
    assert bs.solve_table(table).schema.metadata == {b"made": b"here"}
