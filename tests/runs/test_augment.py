"""Augmented tables: their columns, their order, and the same bytes however they are made."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import PUZZLE, SOLUTION, rows_of_csv, write_table
from hypothesis import given, strategies as st
from invoking import invoke, refused

import batchsolve as bs
from batchsolve.tables.columns import delimited, text_layout
from batchsolve.tables.sources import Block, Boundary

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

SHORT, BLANK = "12", "." * 16
RIGHT = {"id": "a", "puzzle": PUZZLE, "solution": SOLUTION}


def written(path, rows):
    write_table(pa.Table.from_pylist(rows), path)
    return str(path)


def test_columns_are_copied_and_solutions_moved(tmp_path):
    rows = [RIGHT, {"id": "b", "puzzle": SHORT}, {"id": "c,d", "puzzle": PUZZLE}]
    rows += [{"id": "e", "puzzle": PUZZLE, "solution": "12"}, {"id": "f", "puzzle": BLANK}]
    rows.append({"id": "g", "puzzle": f"11{BLANK[2:]}"})
    path = written(tmp_path / "in.csv", rows)
    summary = bs.augment_file(path, tmp_path / "out.csv", 3, seed=4)
    found = rows_of_csv(tmp_path / "out.csv")
    assert [row["id"] for row in found] == ["a"] * 3 + ["c,d"] * 3 + ["f"]
    assert [row["source_row"] for row in found] == ["1"] * 3 + ["3"] * 3 + ["5"]
    assert (summary.rows, summary.images, summary.short, summary.invalid) == (6, 7, 1, 3)
    assert summary.first_invalid == "row 2: 2 characters; a 4×4 grid has 16"
    assert not summary.complete
    for row in found[:3]:
        assert bs.solve(row["puzzle"]).solution == row["solution"]
        assert bs.canonical(row["puzzle"]) == bs.canonical(PUZZLE)
    assert [row["solution"] for row in found[3:]] == [""] * 4
    with pytest.raises(bs.InputError, match="row 2: 2 characters"):
        bs.augment_file(path, tmp_path / "out2.csv", stop_on_invalid=True)
    path = written(tmp_path / "clash.csv", [RIGHT, rows[-1]])
    with pytest.raises(bs.InputError, match="row 2: digit 1 twice in a row"):
        bs.augment_file(path, tmp_path / "out3.csv", stop_on_invalid=True)


def test_forms_of_columns_stay(tmp_path):
    digits = pa.array([[int(c) if c != "." else 0 for c in PUZZLE]] * 2, pa.list_(pa.int8()))
    solutions = pa.array([SOLUTION, None], pa.large_string())
    table = pa.table({"puzzle": digits, "solution": solutions, "rating": [1.5, 2.5]})
    images = bs.augment(table, 4, seed=3)
    assert images["puzzle"].type == pa.list_(pa.int8())
    assert images["rating"].to_pylist() == [1.5] * 4 + [2.5] * 4
    assert bs.solve_table(images)["agrees"].to_pylist() == [True] * 4 + [None] * 4
    assert images["solution"].to_pylist()[4:] == [None] * 4
    pq.write_table(table, tmp_path / "in.parquet")
    bs.augment_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 4, seed=3)
    assert pq.read_table(tmp_path / "out.parquet").equals(images)


def test_data_frames_stay_data_frames():
    columns = {"puzzle": [PUZZLE, BLANK], "given": ["x", "y"]}
    found = bs.augment(pa.table(columns), 2, seed=1).to_pylist()
    nested = pl.List(pl.String), pl.Struct({"k": pl.String})
    kinds = [pl.Categorical, *nested, pl.Binary, pl.Enum(["b", "a"])]
    values = ["u", "v"], [["q"], ["r"]], [{"k": "z"}, {"k": "w"}], [b"s", b"t"], ["a", "b"]
    each = enumerate(zip(values, kinds, strict=True))
    more = [pl.Series(str(k), some, kind) for k, (some, kind) in each]
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns).with_columns(more)):
        images = bs.augment(frame, 2, seed=1)
        assert type(images) is type(frame)
        assert images["puzzle"].to_list() == [row["puzzle"] for row in found]
        assert images["source_row"].to_list() == [1, 1, 2]
    assert images["1"].to_list() == [["q"], ["q"], ["r"]]
    assert images.dtypes[2:-1] == kinds


LINE = st.sampled_from(["a,b", "", "\r", " ", '"x\ny",z', "1,2,3", "\ufeffa,b", ","])


@given(st.lists(LINE, min_size=1, max_size=6), st.booleans())
def test_rows_are_counted_as_they_are_parsed(lines, ends):
    data = ("\n".join(lines) + "\n" * ends).encode()
    block = Block(data, text_layout(("p", "q"), delimited, ","), "in.csv", Boundary(0, len(data)))
    if data:
        assert block.n_rows() == len(block.rows()[0])


@pytest.mark.parametrize("form", [".", "0", "-", "0 ", "*,", ". "])
def test_grids_are_written_as_they_were_read(form):
    text = form[1:].join(PUZZLE.replace(".", form[0]))
    images = bs.augment(pa.table({"puzzle": [text]}), 3, original=True)["puzzle"].to_pylist()
    assert images[0] == text
    assert all(sorted(image) == sorted(text) for image in images)


def test_grids_of_several_sizes_stay_in_order():
    six = f"{PUZZLE:.<36}"
    images = bs.augment(pa.table({"puzzle": [PUZZLE, six, PUZZLE, six, SHORT]}), 2, seed=1)
    assert images["source_row"].to_pylist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert [len(text) for text in images["puzzle"].to_pylist()] == [16, 16, 36, 36] * 2


def test_images_of_a_column_of_lists_and_texts_are_texts(tmp_path):
    lines = [{"puzzle": ""}, {"puzzle": [int(c) for c in PUZZLE.replace(".", "0")]}]
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    bs.augment_file(path, out, 1)
    assert len(json.loads(out.read_text())["puzzle"].split(",")) == 16


def test_rows_with_rules_of_their_own_keep_them():
    regions = ["AAABABBBCCCDCDDD", "AAABCCABCDBBCDDD", ""]
    images = bs.augment(pa.table({"puzzle": ["1" + "." * 15] * 3, "regions": regions}), 8, seed=1)
    assert images["source_row"].to_pylist() == [1] * 8 + [2] * 8 + [3] * 8
    moved = [text.translate(str.maketrans("1234", "1111")) for text in images["puzzle"].to_pylist()]
    ends = {"1" + "." * 15, "." * 15 + "1"}
    assert set(moved[:8]) == ends  # as they are, or turned by half
    assert set(moved[8:16]) <= {*ends, "...1" + "." * 12, "." * 12 + "1..."}


def test_rules_that_nothing_keeps_are_an_error():
    table = pa.table({"puzzle": [BLANK]})
    assert bs.augment(table, 2, rules="x+nonconsecutive")["puzzle"].to_pylist() == [BLANK]
    lopsided = "AAAB ACBB ACDB CCDD DDEE".replace(" ", "")
    with pytest.raises(bs.BatchsolveError):
        bs.augment(table, 2, regions=lopsided)


def test_rows_whose_rules_nothing_keeps_are_their_only_images_and_counted(tmp_path, caplog):
    cages, sums = ["AA" + "." * 14, "", "AA"], ["A=3", "", "A=3"]
    table = pa.table({"puzzle": [BLANK, BLANK, SHORT], "cages": cages, "sums": sums})
    pq.write_table(table, tmp_path / "in.parquet")
    out = tmp_path / "out.parquet"
    summary = bs.augment_file(tmp_path / "in.parquet", out, 3)
    assert (summary.rows, summary.images, summary.short, summary.unmoved) == (3, 2, 2, 1)
    why = "2 images, 2 rows with fewer, all of them written, 1 row whose rules no symmetry "
    assert why in str(summary)
    assert pq.read_table(out)["puzzle"].to_pylist() == [BLANK, BLANK]
    made = bs.generate_table(4, box=(2, 2), cages=(1, 2), seed=0)
    with caplog.at_level("WARNING"):
        images = bs.augment(made, 1, seed=0)
    assert images["puzzle"].to_pylist() == made["puzzle"].to_pylist()
    assert "4 rows whose rules no symmetry keeps: each is its only image" in caplog.text
    caplog.clear()
    bs.augment(pa.table({"puzzle": [BLANK]}), 1)
    assert "symmetry" not in caplog.text


def test_grids_that_are_not_moved_are_named(tmp_path):
    (tmp_path / "in.csv").write_text(f"puzzle,guess\n{PUZZLE},{SOLUTION}\n")
    summary = bs.augment_file(tmp_path / "in.csv", tmp_path / "out.csv", 2)
    assert summary.columns.endswith("no solution column; copied as they are: grids in 'guess'")


def test_the_command_says_what_it_took(tmp_path):
    words = "augment", written(tmp_path / "in.csv", [RIGHT]), "--seed", 5, "-n"
    said, as_json = invoke(*words, 2), invoke(*words, 2, "--json")
    header, *images = said.stdout.splitlines()
    assert (header, len(images)) == ("id,puzzle,solution,source_row", 2)
    assert "1 row: 2 images, seed 5; " in said.stderr
    assert "puzzle column 'puzzle', solution column 'solution'" in said.stderr
    facts = json.loads(as_json.stderr)
    assert (facts["images"], facts["solution_column"]) == (2, "solution")
    assert as_json.stdout == said.stdout
    assert "the number of images is 1 to 100,000, not 0" in refused(*words, 0)


def test_columns_of_pandas_keep_their_types():
    kinds = {
        "n": pd.array([7, None, 2**60 + 1], "Int64"),
        "level": pd.Categorical(["b", "a", "b"], ["b", "a"], ordered=True),
        "day": pd.to_datetime(["2024-05-01", None, "2024-05-03"]).tz_localize("Europe/Berlin"),
        "truth": pd.array([True, None, False], "boolean"),
        "puzzle": pd.array([PUZZLE] * 3, "string"),
    }
    given = pd.DataFrame(kinds, index=[5, 6, 7])
    images = bs.augment(given, 2, seed=1)
    assert images.dtypes.drop("source_row").to_dict() == given.dtypes.to_dict()
    assert images["n"].tolist() == [7, 7, pd.NA, pd.NA, 2**60 + 1, 2**60 + 1]
    assert images["level"].tolist() == ["b", "b", "a", "a", "b", "b"]
    assert images["level"].cat.ordered
    assert images["source_row"].tolist() == [1, 1, 2, 2, 3, 3]


def test_images_of_images_of_pandas_keep_the_labels():
    images = bs.augment(pd.DataFrame({"puzzle": [PUZZLE], 0: [1.5]}), 2, seed=1)
    assert list(images.columns) == ["puzzle", 0, "source_row"]
    again = bs.augment(images, 1, seed=2)
    assert list(again.columns) == ["puzzle", 0, "given_source_row", "source_row"]
    assert again.iloc[:, 2:].to_numpy().tolist() == [[1, 1], [1, 2]]


def test_ordered_categories_of_arrow_stay_ordered():
    levels = pa.DictionaryArray.from_arrays([0, 1], ["b", "a"], ordered=True)
    given = pa.table({"puzzle": [PUZZLE] * 2, "level": levels})
    assert bs.augment(given)["level"].type == levels.type


def test_each_call_draws_a_seed_unless_one_is_given(caplog):
    table = pa.table({"puzzle": [PUZZLE]})
    with caplog.at_level("INFO"):
        first, second = bs.augment(table, 8), bs.augment(table, 8)
    assert first != second
    seeds = [int(line.removeprefix("drew the seed ")) for line in caplog.messages[::2]]
    assert bs.augment(table, 8, seed=seeds[1]) == second
    assert bs.generate_table(9, box="2x2") != bs.generate_table(9, box="2x2")
    usual = bs.generate_table(9, box="2x2", wanted=bs.PuzzleSettings())
    assert usual == bs.generate_table(9, box="2x2", seed=0)
