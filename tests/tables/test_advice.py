"""Advice names the column and the kind of file that is there."""

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.orc
import pytest
from invoking import invoke

import batchsolve as bs

PUZZLE = "1.....2..3.....4"
RECORD = {"r": 1, "c": 2, "v": 3}


@pytest.mark.parametrize("made", [pl.DataFrame, pd.DataFrame, pa.table])
def test_a_column_of_integers_is_named(made):
    with pytest.raises(bs.InputError, match=r"'quizzes' holds integers, .* leading zeros.*") as why:
        bs.solve_table(made({"quizzes": [123, 456]}))
    assert "schema_overrides={'quizzes': pl.String}" in str(why.value)
    table = made({"puzzle": [PUZZLE], "guess": [5]})
    with pytest.raises(bs.InputError, match=r"column 'guess' holds integers.*\{'guess': pl\.Str"):
        bs.evaluate(table, prediction="guess")


SERIES = [
    (pl.Series([1, 2]), "the series holds integers, .* polars with pl.String"),
    (pd.Series([1, 2]), "the series holds integers, "),
    (pa.array([1.5]), "the array holds numbers .double., which do not keep leading zeros"),
]


@pytest.mark.parametrize(("values", "said"), SERIES)
def test_a_series_has_no_column(values, said):
    with pytest.raises(bs.InputError, match=said) as why:
        bs.solve_batch(values)
    assert "'puzzle'" not in str(why.value)


OTHERS = [
    ([[RECORD]], r"lists of objects \(r, c, v\); a grid is text, or a list of digits"),
    ([RECORD], r"objects \(r, c, v\); a grid is text, or a list of digits"),
    ([[True] * 16], "values of bool; a grid is text, or a list of digits"),
]


@pytest.mark.parametrize(("values", "said"), OTHERS)
def test_other_values_have_no_leading_zeros(values, said):
    with pytest.raises(bs.InputError, match=f"column 'puzzle' holds {said}"):
        bs.solve_table(pa.table({"puzzle": values}))


TABLE = pa.table({"puzzle": [PUZZLE] * 50})


def plain(data):
    return lambda path: path.write_bytes(data)


KINDS = {
    "compressed, perhaps twice; unpack it": plain(gzip.compress(gzip.compress(PUZZLE.encode()))),
    "a table in ORC": lambda path: pyarrow.orc.write_table(TABLE, str(path)),
    "UTF-16 text; convert it: iconv": plain(f"puzzle\n{PUZZLE}\n".encode("utf-16")),
    "UTF-16 text; convert it: iconv -f utf-16be": plain(f"puzzle\n{PUZZLE}".encode("utf-16-be")),
    "UTF-32 text": plain(f"puzzle\n{PUZZLE}\n".encode("utf-32")),
    "an encrypted table in Parquet": plain(b"PARE\xe1" + bytes(100)),
    "an SQLite database": plain(b"SQLite format 3\0" + bytes(300)),
    "a pickle of Python, which is never loaded": plain(b"\x80\x04\x95" + bytes(300)),
    "compressed by xz": plain(b"\xfd7zXZ\0" + bytes(100)),
    "a PDF": plain(b"%PDF-1.5\n\xe2\xe3\xcf\xd3" + bytes(300)),
    "a table in Arrow IPC (Feather)": plain(b"FEA1" + bytes(100)),  # of the first version
    "a binary file": plain(b"\x7fELF\x02\x01\xff" + bytes(300)),
    "a tar archive; unpack it": plain(b"in.csv".ljust(257, b"\0") + b"ustar" + bytes(100)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_not_text_is_called_what_it_is(kind, tmp_path):
    KINDS[kind](tmp_path / "in.csv")
    files = tmp_path / "in.csv", tmp_path / "out.csv"
    for call in (bs.solve_file, bs.dedupe, bs.augment_file, lambda name, _: bs.read_problem(name)):
        with pytest.raises(bs.InputError) as why:
            call(*files)
        assert f"not UTF-8 text, but {kind}" in str(why.value)


@pytest.mark.parametrize("made", [pl.DataFrame, pd.DataFrame, pa.table])
@pytest.mark.parametrize("blank", [0, -1, None, float("nan"), "."])
def test_columns_of_cells_become_one_of_puzzles(made, blank):
    cells = [[blank if c == "." else type(blank or 0)(c)] * 2 for c in PUZZLE]
    table = {"id": [1, 2], **{f"c{k}": cell for k, cell in enumerate(cells)}, "n": [3, 4]}
    for call in (bs.solve_table, bs.augment, bs.dedupe):
        answers = pl.DataFrame(call(made(table)))
        assert answers.columns[:3] == ["id", "n", "puzzle"]
        assert {*answers.to_dict().get("status", ["unique"])} == {"unique"}
    with pytest.raises(bs.InputError, match="write the cells of each grid into one column"):
        bs.solve_table(made(dict(sorted(table.items()))))


def test_arrays_in_an_archive_are_to_be_saved_apart(tmp_path):
    grids = np.zeros((1, 81), np.uint8)
    np.savez(tmp_path / "one.npz", grids)
    assert bs.dedupe(tmp_path / "one.npz").num_rows == 1
    np.savez(tmp_path / "in.npz", puzzle=grids, solution=grids)
    with pytest.raises(bs.InputError, match=r"arrays of NumPy \(.npz\); save .* as \.npy"):
        bs.dedupe(tmp_path / "in.npz", tmp_path / "out.csv")
    with pytest.raises(bs.InputError, match=r"no array is called 'indptr'; .* as \.npy"):
        bs.read_problem(tmp_path / "in.npz")


def test_names_of_strata_are_escaped(tmp_path):
    odd, name = "\x1b]0;x\x07\x9b2J\nb", "by\x1b[2J"
    table = pd.DataFrame({"puzzle": [PUZZLE], "pred": [PUZZLE], name: [odd]})
    judged = bs.evaluate(table, by=name)
    table.to_csv(tmp_path / "in.csv", index=False)
    printed = invoke("evaluate", tmp_path / "in.csv", "--by", name)
    assert printed.exit_code == 0, printed.stderr
    for text in (str(judged), printed.stdout, printed.stderr):
        assert all(c.isprintable() or c == "\n" for c in text)
    assert r"\x1b]0;x\x07\x9b2J\nb" in str(judged)
    assert len(str(judged).splitlines()) == 3
