import os
from unittest.mock import Mock, patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import search_in, typed_rows
from cutting import content_of
from hypothesis import given, strategies as st

import batchsolve as bs
from batchsolve.core.interrupts import asking
from batchsolve.errors import InputError, JournalError, OutputError
from batchsolve.runs import export
from batchsolve.runs.export import export_run, keys_of, sorted_keys, table_of
from batchsolve.runs.journal import Journal, Part
from batchsolve.tables.answers import written_to

NAMES = ["", "a", "a ", "ab", "b", "é", "\uffee", "🧩", '"', ","]
NAMES += ["\0", "\1", "a\0", "a\0\1", "a\0\2"]
LISTS = pa.schema([("options", pa.list_(pa.string()))])
GRIDS = pa.schema([("grid", pa.string())])


def in_order(row):
    return row.encode() if isinstance(row, str) else [name.encode() for name in row]


def make_run(directory, schema, parts, kind="enumerate"):
    """Write a run whose solutions are in these parts, each of them sorted."""
    (directory / "solutions").mkdir(parents=True)
    settings = {"alphabet": "1-9" if schema is GRIDS else None}
    with Journal(str(directory / "journal.sqlite"), kind, settings) as journal:
        for k, rows in enumerate(parts):
            name = f"{k:08d}.parquet"
            table = pa.table([pa.array(sorted(rows, key=in_order), schema.field(0).type)], schema)
            pq.write_table(table, directory / "solutions" / name, store_schema=k % 2 == 0)
            with open(directory / "solutions" / name, "rb") as file:
                journal.record({}, parts=[Part(name, len(rows), written_to(file).checksum)])


def exported(tmp_path, schema, parts, suffix, number):
    folder = tmp_path / str(number)
    directory, output = folder / "run", folder / f"out{suffix}"
    make_run(directory, schema, parts)
    assert export_run(str(directory), str(output), jobs=1 + number % 3) == sum(map(len, parts))
    assert sorted(os.listdir(folder)) == sorted([directory.name, output.name])
    return content_of(output)


@given(st.lists(st.lists(st.sampled_from(NAMES), max_size=4), max_size=60))
def test_lists_are_sorted_name_by_name(rows):
    table = pa.table([pa.array(rows, LISTS.field(0).type)], LISTS)
    table = table_of(sorted_keys(keys_of(table)), LISTS)
    assert table.schema.equals(LISTS)
    assert table.column(0).to_pylist() == sorted(rows, key=in_order)


@pytest.fixture
def small_loads(monkeypatch):
    """Make loads, pages, reads and writes so small that all of them are cut."""
    sizes = {"LOAD_BYTES": 4000, "PAGE_BYTES": 500, "LEAST_PAGE_BYTES": 500}
    for name, size in (sizes | {"_WRITE_BYTES": 300, "_READ_BYTES": 1000}).items():
        monkeypatch.setattr(export, name, size)


def some_lists(rng, n):
    return [[NAMES[k] for k in rng.integers(0, len(NAMES), rng.integers(0, 5))] for _ in range(n)]


def some_grids(rng, n):
    return ["".join(map(str, rng.integers(1, 5, 16))) for _ in range(n)]


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv", ".tsv.gz"])
def test_output_does_not_depend_on_parts(tmp_path, small_loads, monkeypatch, suffix):
    has_lists, rng = suffix in (".parquet", ".jsonl"), np.random.default_rng(3)
    schema, rows = (LISTS, some_lists(rng, 500)) if has_lists else (GRIDS, some_grids(rng, 500))
    outputs = []
    for number, cuts in enumerate(([], [250], [1, 2, 3, 375], range(7, 500, 11))):
        rng.shuffle(rows)
        parts = [part.tolist() for part in np.split(np.array(rows, object), cuts)]
        outputs.append(exported(tmp_path, schema, parts, suffix, number))
    monkeypatch.undo()
    outputs.append(exported(tmp_path, schema, [rows[:350], rows[350:]], suffix, 4))
    assert len(set(outputs)) == 1
    out = tmp_path / f"read{suffix.removesuffix('.gz')}"
    out.write_bytes(outputs[0])
    [name] = schema.names
    assert typed_rows(out, name) == [{name: row} for row in sorted(rows, key=in_order)]
    assert suffix != ".parquet" or pq.read_schema(out).equals(schema)


@pytest.fixture
def sorted_bytes(small_loads, monkeypatch):
    """Return a function that lists the bytes that each call of `sorted_keys` got."""
    spied = Mock(wraps=sorted_keys)
    monkeypatch.setattr(export, "sorted_keys", spied)
    return lambda: [call.args[0].nbytes for call in spied.call_args_list]


def test_rows_that_are_all_alike(tmp_path, sorted_bytes, monkeypatch):
    monkeypatch.setattr(export, "_READ_ROWS", 50)  # the file is smaller than its rows
    rows = [["a", "b"]] * 3000
    data = exported(tmp_path, LISTS, [rows[:1000], rows[1000:]], ".jsonl", 0)
    assert data == b'{"options": ["a", "b"]}\n' * 3000
    assert max(sorted_bytes()) < 2 * 4000


def test_each_row_is_sorted_twice_and_little_at_once(tmp_path, sorted_bytes):
    rows = some_grids(np.random.default_rng(4), 8_000)
    with patch.object(export, "_keys_between", wraps=export._keys_between) as read_page:
        exported(tmp_path, GRIDS, [rows[k : k + 200] for k in range(0, 8_000, 200)], ".csv", 0)
    n_bytes, n_runs = 8_000 * 20, 40
    assert max(sorted_bytes()) < 10_000 + n_runs * 500
    assert sum(sorted_bytes()) < 2.5 * n_bytes
    n_pages, n_ranges = n_bytes / 500, n_bytes / 4000
    assert n_pages <= read_page.call_count <= 1.5 * (n_pages + n_ranges * n_runs)


@pytest.mark.parametrize("schema", [GRIDS, LISTS], ids=["grids", "lists"])
@pytest.mark.parametrize(("suffix", "data"), [(".csv", b"%s\n"), (".jsonl", b"")])
def test_no_solutions(tmp_path, schema, suffix, data):
    data = data.replace(b"%s", schema.names[0].encode())
    assert exported(tmp_path, schema, [], suffix, 0) == data
    assert exported(tmp_path, schema, [[]], suffix, 1) == data


@pytest.mark.parametrize("column", ["grid", "options"])
def test_the_column_of_a_run_without_solutions_is_that_of_its_problem(tmp_path, column):
    run, output, sudoku = str(tmp_path / "run"), tmp_path / "out.csv", bs.Sudoku(2, 2)
    unsolvable = sudoku, sudoku.stack(sudoku.parse("123....4........"))
    of_column = unsolvable if column == "grid" else ["queens:3"]
    assert search_in(bs.Run(run, *of_column, collect=True), jobs=1).count == 0
    assert export_run(run, str(output), jobs=1) == 0
    assert output.read_text() == f"{column}\n"


def overwrite(part):
    data = part.read_bytes()
    part.write_bytes(data[:100] + b"\xff" * 2000 + data[2100:])


DAMAGES = {
    "missing": lambda part: part.unlink(),
    "cut": lambda part: part.write_bytes(part.read_bytes()[:-100]),
    "overwritten": overwrite,
    "fewer rows": lambda part: pq.write_table(pq.read_table(part).slice(1), part),
    "other columns": lambda part: pq.write_table(pa.table({"x": range(1000)}), part),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_missing_and_damaged_parts(tmp_path, small_loads, damage):
    rng = np.random.default_rng(5)
    make_run(tmp_path / "run", GRIDS, [some_grids(rng, 1000) for _ in range(3)])
    DAMAGES[damage](tmp_path / "run" / "solutions" / "00000002.parquet")
    match = "00000002.parquet: is missing or damaged, and 1,000 solutions .*; delete .*run to begin"
    with pytest.raises(JournalError, match=match):
        export_run(str(tmp_path / "run"), str(tmp_path / "out.csv"))
    assert os.listdir(tmp_path) == ["run"]


def test_a_full_disk_leaves_nothing_behind(tmp_path, small_loads, monkeypatch):
    make_run(tmp_path / "run", GRIDS, [some_grids(np.random.default_rng(6), 1000)])

    fail = Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr(export.tempfile, "mkstemp", fail)
    (tmp_path / "out.csv").write_text("what was there before")
    match = r"out\.csv.*: cannot be written: No space left on device"
    with pytest.raises(OutputError, match=match):
        export_run(str(tmp_path / "run"), str(tmp_path / "out.csv"))
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "run"]
    assert (tmp_path / "out.csv").read_text() == "what was there before"


def test_an_export_that_is_ended_at_any_check_leaves_nothing_behind(tmp_path, small_loads):
    parts = [some_grids(np.random.default_rng(8), 700) for _ in range(3)]
    make_run(tmp_path / "run", GRIDS, parts)
    (tmp_path / "out.csv").write_text("what was there before")
    for n_checks in range(100):
        check = Mock(side_effect=[*[None] * n_checks, KeyboardInterrupt])
        try:
            with asking(check):
                rows = export_run(str(tmp_path / "run"), str(tmp_path / "out.csv"), 2)
        except KeyboardInterrupt:
            assert sorted(os.listdir(tmp_path)) == ["out.csv", "run"]
            assert (tmp_path / "out.csv").read_text() == "what was there before"
        else:
            break
    assert n_checks > 10
    assert rows == 2100
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 2101


def test_exports_are_refused_with_a_reason(tmp_path):
    make_run(tmp_path / "run", GRIDS, [], kind="count")
    run = str(tmp_path / "run")
    with pytest.raises(InputError, match="a run that only counts has no solutions to export"):
        export_run(run, str(tmp_path / "out.csv"))
    for name in ("-", "out.txt", "out", "out.npy", "out/", f"{tmp_path}", "s3://bucket/out"):
        why = r"export writes one file, \.parquet, or \.csv"
        with pytest.raises(InputError, match=why) as told:
            export_run(run, name)
        assert "solutions alone" not in str(told.value)
        assert str(told.value).startswith(f"{name}: ")
    with pytest.raises(OutputError, match="does not exist"):
        export_run(run, str(tmp_path / "nowhere" / "out.csv"))
    with pytest.raises(JournalError, match="there is no journal"):
        export_run(str(tmp_path / "other"), str(tmp_path / "out.csv"))
