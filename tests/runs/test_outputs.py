"""Outputs keep what they take, and finished files are made of it while it comes."""

import gzip
import os
import zlib
from contextlib import closing
from queue import SimpleQueue

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cutting import opened

from batchsolve.errors import OutputError
from batchsolve.formats.whole_files import partial_path
from batchsolve.runs import outputs
from batchsolve.runs.outputs import Behind
from batchsolve.tables.answers import PACKERS, OutputRows, Written, encoder_for

TABLE = pa.table({"a": [f"row {k}" for k in range(1000)]})


def settle_at_last(behind):
    while behind.is_busy:
        behind.settle()


def test_a_call_is_followed_by_the_second_one_or_by_its_error():
    let_go, made = SimpleQueue(), []
    with Behind() as behind:
        behind.do(let_go.get, lambda: made.append("then"))
        behind.settle()
        assert (made, behind.is_busy) == ([], True)
        let_go.put(None)
        settle_at_last(behind)
        assert made == ["then"]
        behind.do(lambda: 1 / 0, lambda: made.append("never"))
        with pytest.raises(ZeroDivisionError):
            settle_at_last(behind)
    assert (made, behind.is_busy) == (["then"], False)


def test_the_header_of_gzip_holds_no_time_and_no_name():
    first = PACKERS[".gz"](b"abc")
    assert first[3:8] == bytes(5)
    assert zlib.decompress(first, 31) == b"abc"


def test_rows_that_leave_nothing_are_no_stream():
    assert encoder_for("x.jsonl.gz")(TABLE[:0]) == b""


def test_a_compressed_table_without_rows_is_a_whole_stream(tmp_path):
    path = str(tmp_path / "x.jsonl.gz")
    with closing(opened(path, TABLE.schema)) as output:
        output.finish()
    with gzip.open(path) as file:
        assert file.read() == b""


@pytest.mark.parametrize("suffix", [".parquet", ".csv.gz", ".npy"])
def test_an_output_that_is_closed_early_keeps_what_was_taken_only(tmp_path, suffix):
    path, table = str(tmp_path / f"out{suffix}"), TABLE
    if suffix == ".npy":
        table = pa.table({"solution": pa.array([[1, 2]], pa.list_(pa.uint8(), 2))})
    with closing(opened(path, table.schema)) as output:
        output.take(OutputRows(table).encoded(encoder_for(path)(table)))
    assert os.listdir(tmp_path) == [os.path.basename(partial_path(path))]


def test_a_disk_that_is_full_for_the_finished_file_is_told(tmp_path, monkeypatch):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    path, partial = str(tmp_path / "out.parquet"), tmp_path / "out.parquet.partial"
    os.symlink("/dev/full", f"{partial}.whole")
    monkeypatch.setattr(outputs, "ROW_GROUP", 100)
    with closing(opened(path, TABLE.schema)) as output:
        output.take(OutputRows(TABLE).encoded(encoder_for(path)(TABLE)))
        with pytest.raises(OutputError, match="No space left") as error:
            output.finish()
        assert str(error.value).startswith(f"{partial}: cannot be written")
    assert os.listdir(tmp_path) == [partial.name]
    with closing(opened(path, TABLE.schema, Written.of(partial.read_bytes()))) as output:
        output.finish()
    assert os.listdir(tmp_path) == ["out.parquet"]
    assert pq.read_table(path).equals(TABLE)
