import errno
import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from queue import SimpleQueue
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from conftest import PUZZLE, SOLUTION, interrupted_at_each_moment, mixed_puzzles, rows_of_csv
from cutting import small_blocks
from hypothesis import given, strategies as st
from invoking import invoke

import batchsolve as bs
from batchsolve.runs import specs
from batchsolve.runs.outputs import Behind
from batchsolve.tables.columns import number_kinds, number_types, with_numbers


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "in.csv"
    path.write_text(mixed_puzzles(1500))
    return path


@pytest.fixture(scope="module")
def expected(corpus):
    out = corpus.parent / "expected.csv"
    summary = bs.solve_file(corpus, out)
    assert (summary.rows, summary.invalid) == (1500, 65)
    return out


SUFFIXES = ".csv.gz .csv.bz2 .csv.zst .tsv .jsonl .parquet"


@pytest.mark.parametrize("suffix", SUFFIXES.split())
def test_every_format_holds_the_same_rows_and_can_be_read_again(corpus, expected, tmp_path, suffix):
    out, back, as_csv = (tmp_path / name for name in (f"out{suffix}", f"back{suffix}", "back.csv"))
    bs.solve_file(corpus, out)
    summary = bs.solve_file(out, back, column="puzzle")
    assert (summary.rows, summary.invalid, summary.disagree) == (1500, 65, 0)
    bs.solve_file(back, as_csv, column="puzzle")
    for row, found in zip(rows_of_csv(expected), rows_of_csv(as_csv), strict=True):
        assert row.items() <= found.items()


def test_columns_are_kept_and_renamed(tmp_path):
    (tmp_path / "in.csv").write_text(
        "status,puzzle,solution,given_status\nold,1.....2..3.....4,1243342143122134,x\n"
        "old,1.....2..3.....4,1243342143122143,x\nold,1.....2..3.....4,,x\n"
        "old,1.....2........4,1243342143122134,x\n"
    )
    summary = bs.solve_file(str(tmp_path / "in.csv"), str(tmp_path / "out.csv"))
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "given_status_2,puzzle,given_solution,given_status"
        ",solution,status,n_solutions,agrees,message",
        "old,1.....2..3.....4,1243342143122134,x,1243342143122134,unique,1,true,",
        "old,1.....2..3.....4,1243342143122143,x,1243342143122134,unique,1,false,",
        "old,1.....2..3.....4,,x,1243342143122134,unique,1,,",
        "old,1.....2........4,1243342143122134,x,1243342141322314,multiple,2,true,",
    ]
    assert (summary.disagree, summary.complete) == (1, False)


def test_the_column_of_given_solutions_can_be_named_and_is_said(tmp_path):
    path, out, wrong = tmp_path / "in.csv", tmp_path / "out.csv", "1243342143122143"
    path.write_text(f"puzzle,prediction,solution\n{PUZZLE},{wrong},{SOLUTION}\n")
    names = ["solution", "prediction"]
    for (taken, unread), options in ((names, []), (names[::-1], ["--solution-column", names[1]])):
        summary = bs.solve_file(path, out, solution_column=options[-1] if options else None)
        assert (summary.column, summary.solution_column) == ("puzzle", taken)
        assert (summary.disagree, summary.unread_columns) == (taken == names[1], [unread])
        columns = f"solution column {taken!r}; not read: grids in {unread!r}"
        said = invoke("solve", path, "-o", out, *options).stderr
        assert f"puzzle column 'puzzle', {columns}" in said
    table = pa.table({"grid": [wrong], "board": [PUZZLE]})
    assert bs.solve_table(table, solution_column="grid")["agrees"].to_pylist() == [False]


@contextmanager
def fed():
    """Start a command that reads standard input; yield it, and a function that feeds it."""
    command = [sys.executable, "-m", "batchsolve", "solve", "-"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, text=True, bufsize=1, **pipes) as process:

        def feed(text, lines=0):
            process.stdin.write(text)
            process.stdin.flush()
            time.sleep(0.2)  # so that it is read by itself
            return [process.stdout.readline() for _ in range(lines)]

        yield process, feed


ANSWER = f"{SOLUTION},unique,1,\n"


def test_lines_are_answered_as_they_come():
    header = "puzzle,solution,status,n_solutions,message\n"
    with fed() as (process, feed):
        assert feed(f"# one\n{PUZZLE}\n", 2) == [header, f"{PUZZLE},{ANSWER}"]
        assert feed(f"{PUZZLE}\n{PUZZLE}\n", 2) == [f"{PUZZLE},{ANSWER}"] * 2
        feed(PUZZLE[:5])
        assert feed(PUZZLE[5:] + "\n", 1) == [f"{PUZZLE},{ANSWER}"]
        assert process.communicate(PUZZLE)[0] == f"{PUZZLE},{ANSWER}"
    assert process.returncode == 0


def test_records_are_answered_as_they_come_and_not_before_they_are_whole():
    with fed() as (process, feed):
        assert feed(f"id,puzzle\n1,{PUZZLE}\n2,", 2)[1] == f"1,{PUZZLE},{ANSWER}"
        assert feed(f"{PUZZLE}\n", 1) == [f"2,{PUZZLE},{ANSWER}"]
        feed('"a\n')
        assert feed(f'b",{PUZZLE}\n', 2) == ['"a\n', f'b",{PUZZLE},{ANSWER}']
        assert process.communicate()[0] == ""


def test_solutions_can_be_an_array(corpus, tmp_path):
    bs.solve_file(corpus, tmp_path / "out.parquet")
    texts = pq.read_table(tmp_path / "out.parquet")["solution"].to_pylist()
    wanted = [[int(c) for c in text or "0" * 81] for text in texts]
    for k, how in enumerate(({"jobs": 2}, {"chunk": 7, "jobs": 1}, {"backend": "loky", "jobs": 2})):
        bs.solve_file(corpus, tmp_path / f"{k}.npy", **how)
        array = np.load(tmp_path / f"{k}.npy")
        assert (array.dtype, array.shape) == (np.uint8, (1500, 81))
        assert array.tolist() == wanted
    assert sorted(os.listdir(tmp_path)) == ["0.npy", "1.npy", "2.npy", "out.parquet"]
    bs.solve_file(tmp_path / "0.npy", tmp_path / "again.npy", limit=1)
    again = np.load(tmp_path / "again.npy")
    assert np.array_equal(again[array.any(axis=1)], array[array.any(axis=1)])


def test_an_array_of_no_rows_or_of_more_than_solutions(tmp_path):
    (tmp_path / "in.csv").write_text("puzzle\n")
    bs.solve_file(tmp_path / "in.csv", tmp_path / "out.npy", box=(4, 4))
    assert np.load(tmp_path / "out.npy").shape == (0, 256)
    with pytest.raises(bs.InputError, match=r"holds solutions alone; leave out 'stats'"):
        bs.solve_file(tmp_path / "in.csv", tmp_path / "out.npy", stats=True)
    with pytest.raises(bs.InputError, match="the name must say the format"):
        bs.solve_file(tmp_path / "in.csv", tmp_path / "out.npy.gz")


def test_fields_that_must_not_be_null_are_written(tmp_path):
    field = pa.field("a", pa.int8(), nullable=False)
    table = pa.table({"puzzle": [PUZZLE], "note": pa.array([{"a": 1}], pa.struct([field]))})
    pq.write_table(table, tmp_path / "in.parquet")
    bs.solve_file(tmp_path / "in.parquet", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet")["note"].to_pylist() == [{"a": 1}]


def test_nulls_of_dictionaries_are_written(tmp_path):
    coded = pa.DictionaryArray.from_arrays([0, 1], pa.array([PUZZLE, None]))
    feather.write_feather(pa.table({"puzzle": coded}), tmp_path / "in.arrow")
    bs.solve_file(tmp_path / "in.arrow", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet")["puzzle"].to_pylist() == [PUZZLE, None]


NOT_IN_PARQUET = [
    pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([5])]),
    pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), pa.array(["x"])),
    pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    pa.array([{}], pa.struct([])),
    pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([[1]])),
]


@pytest.mark.parametrize("target", ["out.parquet", "parts/"])
@pytest.mark.parametrize("note", NOT_IN_PARQUET, ids=lambda note: str(note.type))
def test_columns_that_parquet_cannot_hold_are_refused_first(note, target, tmp_path):
    feather.write_feather(pa.table({"puzzle": [PUZZLE], "note": note}), tmp_path / "in.arrow")
    done = invoke("solve", tmp_path / "in.arrow", "-o", f"{tmp_path}/{target}")
    refused = f"column 'note' has the type {note.type}, which Parquet cannot hold; write .jsonl"
    assert (done.exit_code, done.stderr[:12], refused in done.stderr) == (2, "batchsolve: ", True)
    assert (os.listdir(tmp_path), "resume" in done.stderr) == (["in.arrow"], False)
    bs.solve_file(tmp_path / "in.arrow", tmp_path / "out.jsonl")


def test_names_do_not_stutter_however_often_a_table_is_solved(tmp_path):
    table = pa.table({"puzzle": [PUZZLE], "solution": [SOLUTION]})
    for _ in range(3):
        table = bs.solve_table(table)
        assert len(set(table.column_names)) == table.num_columns
    kept = [name for name in table.column_names if name.startswith("given_solution")]
    assert kept == ["given_solution", "given_solution_2", "given_solution_3"]
    assert not any("given_given" in name for name in table.column_names)


@pytest.mark.parametrize("out", ["out.parquet", "out/"])
def test_numbers_of_a_csv_are_numbers_in_parquet(tmp_path, out):
    rows = ["id,late,zip,rating,none,puzzle,solution,status"]
    rows += [f"{k},{k},0{k},{k}.5,,1234341221434321,1234341221434321,{k}" for k in range(300)]
    rows += ["-7,x,1,,,1234341221434321,1234341221434321,3", ""]
    (tmp_path / "in.csv").write_text("\n".join(rows))
    for how in ({}, {"jobs": 1, "backend": "loky"}):
        with small_blocks(1000):
            bs.solve_file(tmp_path / "in.csv", f"{tmp_path}/{out}", **how)
        table = pq.read_table(tmp_path / out)
        kinds = {field.name: str(field.type) for field in table.schema}
        right = {"id": "int64", "rating": "double", "given_status": "int64"}
        right |= dict.fromkeys(("late", "zip", "none", "puzzle", "given_solution"), "string")
        assert kinds | right == kinds
        assert table["id"].to_pylist() == [*range(300), -7]
        assert table["rating"].to_pylist() == [*(k + 0.5 for k in range(300)), None]
        assert table["late"].to_pylist()[-2:] == ["299", "x"]
        shutil.rmtree(tmp_path / "out", ignore_errors=True)


def test_whole_numbers_of_16_digits_stay_text_for_they_can_be_grids():
    table = pa.table({"id": ["1", "-999999999999999"], "grid": ["1", "1234000000000000"]})
    assert number_types([number_kinds(["id", "grid"], table)]) == {"id": pa.int64()}


@given(st.lists(st.from_regex(r"-?[0-9]{0,20}(\.[0-9]{0,18})?", fullmatch=True)))
def test_columns_of_numbers_can_be_written_as_they_were(values):
    table = pa.table({"x": pa.array(values, pa.string())})
    kinds = number_types(number_kinds(["x"], part) for part in (table[:2], table[2:]))
    if kinds:
        column = with_numbers(table, kinds)["x"]
        plain = [value.removesuffix(".0") for value in values]
        assert pc.fill_null(column.cast(pa.string()), "").to_pylist() == plain


def test_a_column_of_numbers_that_changes_meanwhile_is_an_error():
    table = pa.table({"id": ["7", "x"]})
    with pytest.raises(bs.InputError, match="held only numbers when it was read before"):
        with_numbers(table, {"id": pa.int64()})


def test_a_node_limit_leaves_rows_unfinished_in_the_same_way_always(corpus, tmp_path):
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    assert bs.solve_file(corpus, one, chunk=10_000, node_limit=4).unfinished > 10
    bs.solve_file(corpus, other, chunk=64, node_limit=4, budget=500, split_depth=4)
    assert one.read_bytes() == other.read_bytes()


class Syncing:
    """A stand-in for a run and its output, with a disk that is slow until let go."""

    unrecorded, last_recorded = (), 0
    record_behind = specs.FileRun.record_behind

    def __init__(self):
        self.output = self
        self.let_go = SimpleQueue()
        self.noted = 0

    def sync(self):
        self.let_go.get()

    def state(self):
        return {}

    def note(self, *record):
        self.noted += 1


@pytest.mark.usefixtures("_garbage_stays")
def test_ctrl_c_at_any_moment_of_a_record_ends_the_run(monkeypatch):
    """An interrupt while a lock was held once made the thread that waits for the disk hang."""
    monkeypatch.setattr(specs, "JOURNAL_SECONDS", 0)

    def go(interrupted):
        run = Syncing()
        with Behind() as behind:
            try:
                sys.settrace(interrupted)
                run.record_behind(behind)
                run.record_behind(behind)
                run.let_go.put(None)
                time.sleep(0.005)
                run.record_behind(behind)
            finally:
                sys.settrace(None)
                run.let_go.put(None)
        return run.noted == 1

    assert interrupted_at_each_moment(go)


def test_only_the_same_run_is_resumed(corpus, tmp_path, expected):
    interrupted = tmp_path / "out.csv"
    with pytest.raises(bs.InputError):
        bs.solve_file(corpus, interrupted, stop_on_invalid=True)
    others = {"limit": 5, "canonical": True, "blank": "._", "rules": "x", "stats": True}
    for name, other in others.items():
        with pytest.raises(bs.JournalError, match=f"the interrupted run had {name} = "):
            bs.solve_file(corpus, interrupted, resume=True, **{name: other})
    it = re.escape(f"{corpus} of {corpus.stat().st_size:,} bytes, changed ")
    os.utime(corpus, ns=(0, 1_700_000_000_123_456_789))
    now = f"'{it}2023-11-14 22:13:20.123456789 UTC'; resume with the same input"
    with pytest.raises(bs.JournalError, match=f"had inputs = '{it}.*', this one has {now}"):
        bs.solve_file(corpus, interrupted, resume=True)


def test_after_a_stop_the_run_can_go_on_without_stopping(corpus, tmp_path, expected):
    out = tmp_path / "out.csv"
    with pytest.raises(bs.InputError, match=r"row 8: digit 5 twice in a row: row 1, col") as caught:
        bs.solve_file(corpus, out, stop_on_invalid=True)
    assert not out.exists()
    kept = f"the rows done are kept in {out}.partial"
    assert caught.value.__notes__ == [f"{kept}; go on with `resume`, and without `stop_on_invalid`"]
    bs.solve_file(corpus, out, resume=True)
    assert out.read_bytes() == expected.read_bytes()


@pytest.mark.parametrize("suffix", ["/", ".csv"])
def test_after_a_fault_of_the_input_the_advice_can_be_followed(tmp_path, suffix):
    source, out = tmp_path / "in.csv", f"{tmp_path}/out{suffix}"
    lines = [b"puzzle", *[b"1.....2..3.....4"] * 20_000]
    whole = b"\n".join(lines)
    lines[19_500] = b"1.....2..3.....\xff"  # after the sample
    source.write_bytes(b"\n".join(lines))
    kept = out if suffix == "/" else f"{out}.partial"
    journal = f"{tmp_path}/out{suffix.strip('/')}.partial.journal"
    with small_blocks(20_000):
        with pytest.raises(bs.InputError, match="not UTF-8 text") as caught:
            bs.solve_file(source, out)
        assert caught.value.__notes__ == [
            f"the rows done are kept in {kept}; mend that, and delete {kept} and {journal} "
            f"or name another output, to begin again"
        ]
        source.write_bytes(whole)
        with pytest.raises(bs.JournalError, match="had inputs"):
            bs.solve_file(source, out, resume=True)
        os.remove(journal)
        shutil.rmtree(kept) if suffix == "/" else os.remove(kept)
        assert bs.solve_file(source, out).unique == 20_000


def test_a_run_that_made_no_output_leaves_no_journal(corpus, tmp_path, monkeypatch):
    fail = Mock(side_effect=OSError(errno.EMFILE, "Too many open files"))
    monkeypatch.setattr("batchsolve.runs.outputs.OneFile.open", fail)
    with pytest.raises(OSError, match="Too many open files"):
        bs.solve_file(corpus, tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_json_summary(corpus, tmp_path):
    done = invoke("solve", corpus, "-o", (tmp_path / "out.csv"), "--json")
    facts = json.loads(done.stdout)
    names = "rows unique multiple solved unsolvable unfinished invalid disagree nodes seconds"
    names += " rows_per_second engine backend jobs column form solution_column rule_columns"
    names += " unread_columns"
    assert set(facts) == set(names.split())
    assert (facts["column"], facts["solution_column"]) == ("puzzle", None)
    kinds = ("unique", "multiple", "solved", "unsolvable", "unfinished", "invalid")
    assert facts["rows"] == sum(facts[kind] for kind in kinds) == 1500
    assert (done.exit_code, done.stderr) == (1, "")


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_read_the_file_that_is_meant_wherever_they_stand(tmp_path, monkeypatch, backend):
    for name, puzzle in (("a", "1.....2..3.....4"), ("b", "2.....1..3.....4")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "in.txt").write_text(f"{puzzle}\n" * 5_000)
        monkeypatch.chdir(tmp_path / name)
        assert bs.solve_file("in.txt", "out.csv", jobs=2, backend=backend).unique == 5_000
        lines = (tmp_path / name / "out.csv").read_text().splitlines()[1:]
        assert {line.split(",")[0] for line in lines} == {puzzle}
