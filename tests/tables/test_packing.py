import bz2
import gzip
import io
import os
import zlib

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from pyarrow import csv

import batchsolve as bs
from batchsolve.tables import packing

UNPACK = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".zst": lambda data: pa.input_stream(pa.BufferReader(data), compression="zstd").read(),
}
suffixes = pytest.mark.parametrize("suffix", list(UNPACK))
PIECE = 1000


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(packing, "PIECE_BYTES", PIECE)


def packed(folder, data, suffix, threads):
    source, target = folder / "plain", folder / f"packed{suffix}"
    source.write_bytes(data)
    with source.open("rb") as plain:
        packing.compress(plain, str(target), suffix, threads)
    return target


@suffixes
@pytest.mark.parametrize(
    "size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 9 * PIECE, 9 * PIECE + 7]
)
def test_streams_one_after_another_are_the_file(tmp_path, suffix, size):
    data = bytes(k * k % 251 for k in range(size))
    whole = packed(tmp_path, data, suffix, 1).read_bytes()
    assert UNPACK[suffix](whole) == data
    for threads in (2, 3, 64):
        assert packed(tmp_path, data, suffix, threads).read_bytes() == whole


@suffixes
def test_several_streams_are_read_as_one_table(tmp_path, suffix):
    lines = [f"{k % 4 + 1}{'.' * 15}" for k in range(200)]
    packed(tmp_path, "\n".join(lines).encode(), suffix, 2).rename(tmp_path / f"in.txt{suffix}")
    target = tmp_path / f"out.csv{suffix}"
    assert bs.solve_file(str(tmp_path / f"in.txt{suffix}"), str(target)).rows == 200
    table = csv.read_csv(pa.BufferReader(UNPACK[suffix](target.read_bytes())))
    assert table["puzzle"].to_pylist() == lines


@given(data=st.binary(max_size=100), threads=st.integers(1, 4), piece=st.integers(1, 40))
def test_pieces_come_in_order(data, threads, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "PIECE_BYTES", piece)
        pieces = list(packing._packed(io.BytesIO(data), bytes, threads))
    assert b"".join(pieces) == data
    assert {len(each) for each in pieces[:-1]} <= {piece}


def test_few_pieces_are_in_memory_at_once():
    class Source(io.BytesIO):
        n_read = 0

        def read(self, size):
            self.n_read += 1
            return super().read(size)

    source = Source(bytes(50 * PIECE))
    for n_taken, _ in enumerate(packing._packed(source, bytes, 2), 1):
        assert source.n_read - n_taken <= 3


def test_the_header_of_gzip_holds_no_time_and_no_name(tmp_path):
    first = packed(tmp_path, b"abc", ".gz", 1).read_bytes()
    assert first[3:8] == bytes(5)
    assert zlib.decompress(first, 31) == b"abc"


@suffixes
def test_a_full_disk_is_told(suffix):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with pytest.raises(OSError, match="No space left"):
        packing.compress(io.BytesIO(os.urandom(200_000)), "/dev/full", suffix, 2)
