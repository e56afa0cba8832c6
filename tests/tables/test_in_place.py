"""Blocks that workers write in place make the same file as blocks that are appended."""

import errno
import os
import pickle
import subprocess
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import batchsolve as bs
from batchsolve.tables import in_place
from batchsolve.tables.checksums import Written
from batchsolve.tables.in_place import NUMBERS, Encoded, InPlace
from batchsolve.tables.outputs import open_output
from batchsolve.whole_files import partial_path
from batchsolve.workers.pool import Pool

SCHEMA = pa.schema([("puzzle", pa.string())])
HEADER = b"puzzle\n"
PUZZLE = "1.....2..3.....4"


@given(
    blocks=st.lists(st.binary(max_size=9), min_size=1, max_size=8),
    made=st.randoms(use_true_random=False),
    ahead=st.integers(1, 8),
    most=st.integers(0, 8),
)
def test_the_file_is_that_of_blocks_appended_in_order(blocks, made, ahead, most, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("x") / "out.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_place, "MOST_BLOCKS", most)
        output = open_output(path, SCHEMA, known=np.zeros(NUMBERS, np.int64))
        encoded, taken, n_placed = {}, 0, 0
        while taken < len(blocks):
            # blocks start in order; any of those at work may be the next to finish
            at_work = [k for k in range(taken, min(taken + ahead, len(blocks))) if k not in encoded]
            if at_work and (taken not in encoded or made.random() < 0.7):
                k = made.choice(at_work)
                encoded[k] = Encoded.of(blocks[k], k, output.in_place)
                n_placed += encoded[k].data is None
                continue
            output.take(encoded[taken])
            taken += 1
            assert output.written() == Written.of(HEADER + b"".join(blocks[:taken]))
    output.finish()
    output.close()
    with open(path, "rb") as file:
        assert file.read() == HEADER + b"".join(blocks)
    if ahead == 1:
        assert n_placed == min(most, len(blocks))


def test_a_block_whose_place_is_not_known_is_left_to_be_written(tmp_path):
    output = open_output(str(tmp_path / "out.csv"), SCHEMA, known=np.zeros(NUMBERS, np.int64))
    second, first = (Encoded.of(data, k, output.in_place) for k, data in ((1, b"cd"), (0, b"ab")))
    third = Encoded.of(b"ef", 2, output.in_place)
    assert [block.data for block in (first, second, third)] == [None, b"cd", None]
    assert [first.begin, third.begin] == [7, 11]
    for block in (first, second, third):
        output.take(block)
    output.close()
    assert (tmp_path / "out.csv.partial").read_bytes() == b"puzzle\nabcdef"


def test_numbers_are_shared_with_processes_and_gone_with_them():
    with Pool(1, "loky") as pool:
        numbers = pool.numbers(3)
        copy = pickle.loads(pickle.dumps(numbers))
        copy[1] = -5
        assert [numbers[k] for k in range(3)] == [0, -5, 0]
        (file,) = (name for name in os.listdir(pool.folder))
    assert not os.path.exists(os.path.join(pool.folder, file))


def test_nothing_is_written_to_a_file_that_is_closed_or_gone(tmp_path):
    path = str(tmp_path / "out.csv")
    output = open_output(path, SCHEMA, known=np.zeros(NUMBERS, np.int64))
    os.rename(partial_path(path), path)
    assert Encoded.of(b"ab", 0, output.in_place).data == b"ab"
    os.rename(path, partial_path(path))
    assert Encoded.of(b"ab", 0, output.in_place).data is None
    output.close()
    assert Encoded.of(b"cd", 1, output.in_place).data == b"cd"


def test_workers_that_outlive_the_main_process_write_nothing(tmp_path):
    output = open_output(str(tmp_path / "out.csv"), SCHEMA, known=np.zeros(NUMBERS, np.int64))
    mine = output.in_place
    assert Encoded.of(b"ab", 0, replace(mine, owner=os.getppid())).data is None
    with subprocess.Popen(["true"]) as other:
        pass
    assert Encoded.of(b"cd", 1, replace(mine, owner=other.pid)).data == b"cd"
    output.close()


def test_nothing_is_written_to_another_file_of_the_same_name(tmp_path):
    path = tmp_path / "out.csv.partial"
    output = open_output(str(tmp_path / "out.csv"), SCHEMA, known=np.zeros(NUMBERS, np.int64))
    path.rename(tmp_path / "moved")
    path.write_bytes(b"of another run")
    assert Encoded.of(b"ab", 0, output.in_place).data == b"ab"
    output.close()
    assert path.read_bytes() == b"of another run"


def test_a_closed_output_ends_with_the_last_block_that_was_taken(tmp_path):
    output = open_output(str(tmp_path / "out.csv"), SCHEMA, known=np.zeros(NUMBERS, np.int64))
    blocks = [Encoded.of(data, k, output.in_place) for k, data in enumerate((b"ab", b"cd"))]
    output.take(blocks[0])
    output.close()
    assert (tmp_path / "out.csv.partial").read_bytes() == b"puzzle\nab"


def test_a_block_that_was_made_in_two_ways_is_an_error_and_what_is_before_it_is_kept(tmp_path):
    output = open_output(str(tmp_path / "out.csv"), SCHEMA, known=np.zeros(NUMBERS, np.int64))
    Encoded.of(b"abc", 0, output.in_place)  # by a worker that died before it could report this
    second = Encoded.of(b"de", 1, output.in_place)
    output.take(Encoded.of(b"ab", 0, output.in_place))
    with pytest.raises(bs.OutputError, match="two workers made different rows of the same block"):
        output.take(second)
    assert output.written() == Written.of(b"puzzle\nab")
    output.close()


@pytest.fixture
def placed(monkeypatch):
    """Return a list to which each block is added that worker threads write in place."""
    done, write = [], InPlace.write

    def counted(self, number, data):
        begin = write(self, number, data)
        done.extend([] if begin is None else [begin])
        return begin

    monkeypatch.setattr(InPlace, "write", counted)
    return done


@pytest.mark.parametrize("stats", [False, True])
def test_workers_write_all_blocks_but_those_whose_size_may_change(tmp_path, placed, stats):
    (tmp_path / "in.txt").write_text(f"{PUZZLE}\n" * 100)
    bs.solve_file(tmp_path / "in.txt", tmp_path / "out.csv", jobs=1, chunk=10, stats=stats)
    assert len(placed) == (0 if stats else 10)
    placed.clear()
    bs.dedupe(tmp_path / "in.txt", tmp_path / "out.csv", jobs=1, chunk=10)
    assert len(placed) == 10


def test_what_a_worker_cannot_write_the_main_process_writes(tmp_path, placed, monkeypatch):
    (tmp_path / "in.txt").write_text(f"{PUZZLE}\n" * 100)
    bs.solve_file(tmp_path / "in.txt", tmp_path / "right.csv", jobs=2, chunk=10)
    placed.clear()

    def full(file, data, begin):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(in_place, "_write_at", full)
    bs.solve_file(tmp_path / "in.txt", tmp_path / "out.csv", jobs=2, chunk=10)
    assert not placed
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "right.csv").read_bytes()
