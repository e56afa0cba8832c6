"""The finished file of a run, made of the plain one while it grows: compressed, or Parquet.

Compression and row groups need all rows in order. They begin with the first row, while workers
write the rest; begun after the last row, they would keep all workers waiting.

Each piece of a compressed file is a separate stream (a member in gzip, a frame in Zstandard); all
three formats allow several streams in one file. Pieces and row groups are cut at fixed places, so
the result does not depend on the number of threads or on the blocks of the run.
"""

from __future__ import annotations

import bz2
import io
import os
import shutil
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from batchsolve.tables.encoders import array_header
from batchsolve.workers.base import n_cores


class GrowingFile(io.RawIOBase):
    """A file that is still being written; a reader waits for the bytes that are missing.

    Everybody is notified, although there is one reader: Ctrl-C in a notification leaves a waiter
    that is gone in the queue of the condition, before the reader.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  never reads ahead
        self._place = self._end = 0
        self._is_whole = self._is_given_up = False
        self._changed = threading.Condition()

    def grown_to(self, end: int) -> None:
        """Set the number of bytes that are written."""
        with self._changed:
            self._end = end
            self._changed.notify_all()

    def end_here(self) -> None:
        """Note that the file is complete."""
        with self._changed:
            self._is_whole = True
            self._changed.notify_all()

    def give_up(self) -> None:
        """Raise an error in the reader."""
        with self._changed:
            self._is_given_up = True
            self._changed.notify_all()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def readable(self) -> bool:
        """Return True."""
        return True

    def has_more(self) -> bool:
        """Return True if more bytes follow; wait until that is known."""
        return self._available(1) > 0

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; only the end of the file can leave it partly empty."""
        n = self._available(len(buffer))
        left = memoryview(buffer)[:n]
        while left:
            n_read = self._file.readinto(left)
            if not n_read:
                raise OSError("it became shorter while it was read")
            left = left[n_read:]
        self._place += n
        return n

    def _available(self, wanted: int) -> int:
        """Wait until `wanted` bytes can be read, or the last ones; return their number."""

        def is_known() -> bool:
            enough = self._end - self._place >= wanted
            return enough or self._is_whole or self._is_given_up

        with self._changed:
            self._changed.wait_for(is_known)
            if self._is_given_up:
                raise OSError("it is not wanted any more")
            return min(wanted, self._end - self._place)


class Companion:
    """A thread that makes another file of one that grows.

    Parameters
    ----------
    make : callable
        Takes a `GrowingFile` and the path of the file to make.
    source, target : str
    end : int
        Number of bytes that are written already.
    """

    def __init__(
        self, make: Callable[[GrowingFile, str], None], source: str, target: str, end: int
    ) -> None:
        self.target = target
        self._make = make
        self._source = GrowingFile(source)
        self._source.grown_to(end)
        self._error: BaseException | None = None
        # a daemon, so that the program ends even if an error prevents a call of give_up
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with self._source:
                self._make(self._source, self.target)
        except BaseException as error:  # raised in the thread that waits for the file
            self._error = error

    def grown_to(self, end: int) -> None:
        """Go on up to an offset; raise the error of the thread, if any."""
        self._source.grown_to(end)
        if self._error is not None:
            raise self._error

    def finish(self) -> None:
        """Wait until the file is complete, and sync it; raise the error of the thread, if any."""
        self._source.end_here()
        self._thread.join()
        if self._error is not None:
            raise self._error
        with open(self.target, "r+b") as file:
            os.fsync(file.fileno())

    def give_up(self) -> None:
        """Stop the thread, and remove the unfinished file."""
        self._source.give_up()
        self._thread.join()
        with suppress(OSError):  # the file may have been moved; otherwise the next run replaces it
            os.remove(self.target)


PIECE_BYTES = 3_600_000  # four blocks of bzip2
GZIP_LEVEL = 4  # three times as fast as 6, with 5 % more bytes
GZIP_FORMAT = 31  # zlib's wbits for the widest window and a gzip header without name and time
ROW_GROUP = 65_536

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": partial(zlib.compress, level=GZIP_LEVEL, wbits=GZIP_FORMAT),
    ".bz2": bz2.compress,
    ".zst": partial(pa.compress, codec="zstd", asbytes=True),
}


def compress(plain: Any, target: str, suffix: str, threads: int) -> None:
    """Write a compressed copy of a file.

    Parameters
    ----------
    plain : binary file
    target : str
    suffix : {".gz", ".bz2", ".zst"}
    threads : int
        Number of pieces compressed at once, at most one per core.
    """
    with open(target, "wb") as packed:
        for stream in _packed(plain, PACKERS[suffix], min(threads, n_cores())):
            packed.write(stream)


def _packed(plain: Any, pack: Callable[[bytes], bytes], threads: int) -> Iterator[bytes]:
    """Yield the streams of a file in order, at least one; memory holds only a few pieces."""
    waiting: deque[Future[bytes]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        piece = plain.read(PIECE_BYTES)
        waiting.append(pool.submit(pack, piece))
        while piece := plain.read(PIECE_BYTES):
            if len(waiting) > threads:
                yield waiting.popleft().result()
            waiting.append(pool.submit(pack, piece))
        while waiting:
            yield waiting.popleft().result()


def count_rows(plain: GrowingFile, target: str, schema: pa.Schema) -> None:
    """Write a NumPy file with the number of rows in its header.

    Parameters
    ----------
    plain : GrowingFile
        The rows as encoded for ``.npy``.
    target : str
    schema : pyarrow.Schema
    """
    n_cells = schema.field("solution").type.list_size
    with open(target, "wb") as file:
        shutil.copyfileobj(plain, file)
        n_bytes = file.tell() - len(array_header(0, n_cells))
        file.seek(0)
        file.write(array_header(n_bytes // n_cells, n_cells))


def regroup(streams: GrowingFile, target: str, schema: pa.Schema) -> None:
    """Convert Arrow streams to a Parquet file with row groups of one size.

    Parameters
    ----------
    streams : GrowingFile
        The rows as encoded for ``.parquet``.
    target : str
    schema : pyarrow.Schema
    """
    with open(target, "wb") as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for table in _row_groups(streams):
            writer.write_table(table, row_group_size=ROW_GROUP)


def _row_groups(streams: GrowingFile) -> Iterator[pa.Table]:
    """Yield tables of `ROW_GROUP` rows; the last one may have fewer.

    Each column is one chunk, because Parquet pages end where chunks end.
    """
    waiting: list[pa.Table] = []
    n_waiting = 0
    while streams.has_more():
        with pa.ipc.open_stream(streams) as stream:
            waiting.append(stream.read_all())
        n_waiting += len(waiting[-1])
        if n_waiting >= ROW_GROUP:
            rest = pa.concat_tables(waiting)
            while len(rest) >= ROW_GROUP:
                yield rest.slice(0, ROW_GROUP).combine_chunks()
                rest = rest.slice(ROW_GROUP)
            waiting, n_waiting = [rest], len(rest)
    if n_waiting:
        yield pa.concat_tables(waiting).combine_chunks()
