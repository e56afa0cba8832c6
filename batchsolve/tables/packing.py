"""Conversion of a plain file to the finished one: compression by several threads, or Parquet.

Each piece of a compressed file is a separate stream (a member in gzip, a frame in Zstandard); all
three formats allow several streams in one file. Pieces and row groups are cut at fixed places, so
the result does not depend on the number of threads or on the blocks of the run.
"""

from __future__ import annotations

import bz2
import shutil
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from joblib import cpu_count

from batchsolve.tables.encoders import array_header
from batchsolve.tables.growing import GrowingFile

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
        for stream in _packed(plain, PACKERS[suffix], min(threads, cpu_count())):
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
        The rows as encoded by `Digits`.
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
        The rows as encoded by `ArrowStreams`.
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
