import os
import threading
import time
from collections import deque
from contextlib import closing, suppress

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from batchsolve.errors import OutputError
from batchsolve.tables import packing
from batchsolve.tables.checksums import Written
from batchsolve.tables.encoders import encoder_for
from batchsolve.tables.in_place import Encoded
from batchsolve.tables.outputs import Output, open_output
from batchsolve.tables.packing import Companion, GrowingFile
from batchsolve.whole_files import partial_path


@given(
    pieces=st.lists(st.binary(max_size=30), max_size=10),
    sizes=st.lists(st.integers(1, 50), min_size=1, max_size=20),
)
def test_what_is_not_written_yet_is_waited_for(tmp_path_factory, pieces, sizes):
    path = tmp_path_factory.mktemp("growing") / "plain"
    path.write_bytes(b"")
    read: list[bytes] = []
    with GrowingFile(str(path)) as growing, path.open("ab") as file:

        def read_all() -> None:
            k = 0
            while growing.has_more():
                read.append(growing.read(sizes[k % len(sizes)]))
                k += 1

        reader = threading.Thread(target=read_all)
        reader.start()
        for piece in pieces:
            file.write(piece + b"not yet")  # bytes beyond the end may still change
            file.flush()
            file.truncate(file.tell() - 7)
            growing.grown_to(os.path.getsize(path))
        growing.end_here()
        reader.join()
        assert growing.read(1) == b""
    assert b"".join(read) == b"".join(pieces)
    expected = [sizes[k % len(sizes)] for k in range(len(read))]
    assert [len(each) for each in read[:-1]] == expected[:-1]


def test_nothing_behind_the_end_is_read(tmp_path):
    path = tmp_path / "plain"
    path.write_bytes(b"written, and this is not")
    with GrowingFile(str(path)) as growing:
        growing.grown_to(7)
        assert growing.read(3) == b"wri"
        path.write_bytes(b"WRITTEN, AND THIS, TOO")
        growing.grown_to(len(b"WRITTEN, AND"))
        growing.end_here()
        assert growing.read(100) == b"TTEN, AND"


class Interrupted(deque):
    """The waiters of a condition; the first removal is interrupted, as by Ctrl-C."""

    is_interrupted = False

    def remove(self, waiter):
        if not self.is_interrupted:
            self.is_interrupted = True
            raise KeyboardInterrupt
        super().remove(waiter)


def test_a_reader_hears_that_it_is_given_up_after_an_interrupted_notification(tmp_path):
    path = tmp_path / "plain"
    path.write_bytes(b"1234")
    with GrowingFile(str(path)) as growing:
        waiters = growing._changed._waiters = Interrupted()
        reader = threading.Thread(target=suppressed, args=(growing.read, 3))
        reader.start()
        wait_until(lambda: waiters)
        with pytest.raises(KeyboardInterrupt):
            growing.grown_to(1)
        wait_until(lambda: len(waiters) == 2)  # the one that was woken, and the reader again
        growing.give_up()
        reader.join(timeout=60)
        assert not reader.is_alive()


def suppressed(read, n):
    with suppress(OSError):
        read(n)


def wait_until(is_so):
    for _ in range(6000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError("it never was")


def test_a_file_that_became_shorter_is_an_error(tmp_path):
    path = tmp_path / "plain"
    path.write_bytes(b"1234")
    with GrowingFile(str(path)) as growing:
        growing.grown_to(5)
        with pytest.raises(OSError, match="became shorter"):
            growing.read(5)


def copy(source: GrowingFile, target: str) -> None:
    with open(target, "wb") as file:
        while source.has_more():
            file.write(source.read(1))
            file.flush()


def test_a_companion_is_made_while_the_file_grows(tmp_path):
    source, target = tmp_path / "plain", tmp_path / "copy"
    source.write_bytes(b"abcdef")
    companion = Companion(copy, str(source), str(target), 0)
    companion.grown_to(4)
    while not target.exists() or target.stat().st_size < 4:
        assert threading.active_count() > 1
    companion.grown_to(6)
    companion.finish()
    assert target.read_bytes() == b"abcdef"


@pytest.mark.parametrize("n_bytes", [0, 6])
def test_a_companion_that_is_given_up_leaves_nothing(tmp_path, n_bytes):
    source, target = tmp_path / "plain", tmp_path / "copy"
    source.write_bytes(b"abcdef")
    before = threading.active_count()
    companion = Companion(copy, str(source), str(target), 0)
    companion.grown_to(n_bytes)
    companion.give_up()
    assert os.listdir(tmp_path) == ["plain"]
    assert threading.active_count() == before


def test_what_a_companion_raises_is_raised_in_the_thread_that_waits(tmp_path):
    def fail(source: GrowingFile, target: str) -> None:
        source.read(1)
        raise OSError("the disk is on fire")

    (tmp_path / "plain").write_bytes(b"abc")
    companion = Companion(fail, str(tmp_path / "plain"), str(tmp_path / "copy"), 0)
    companion.grown_to(1)
    with pytest.raises(OSError, match="on fire"):
        companion.finish()
    with pytest.raises(OSError, match="on fire"):
        companion.grown_to(2)
    companion.give_up()


TABLE = pa.table({"a": [f"row {k}" for k in range(1000)]})
suffixes = pytest.mark.parametrize("suffix", [".parquet", ".csv.gz", ".csv.bz2", ".csv.zst"])


@suffixes
def test_an_output_that_is_closed_early_keeps_what_was_taken_only(tmp_path, suffix):
    path = str(tmp_path / f"out{suffix}")
    with closing(open_output(path, TABLE.schema)) as output:
        output.take(Encoded.of(encoder_for(path)(TABLE)))
    assert os.listdir(tmp_path) == [os.path.basename(partial_path(path))]


@suffixes
def test_a_disk_that_is_full_for_the_finished_file_is_told(tmp_path, suffix, monkeypatch):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    path = str(tmp_path / f"out{suffix}")
    partial = tmp_path / f"out{suffix}.partial"
    beside = f"{partial}{'.whole' if suffix == '.parquet' else suffix[4:]}"
    os.symlink("/dev/full", beside)
    monkeypatch.setattr(packing, "PIECE_BYTES", 100)

    def write(output: Output) -> None:
        output.take(Encoded.of(encoder_for(path)(TABLE)))
        output.finish()

    with closing(open_output(path, TABLE.schema)) as output:
        with pytest.raises(OutputError, match="No space left") as error:
            write(output)
        assert str(error.value).startswith(f"{beside}: cannot be written")
    assert os.listdir(tmp_path) == [partial.name]
    written = Written.of(partial.read_bytes())
    with closing(open_output(path, TABLE.schema, written)) as output:
        output.finish()
    assert os.listdir(tmp_path) == [os.path.basename(path)]
