"""Compressing a whole file by several threads.

Each piece of the file becomes a stream of its own: gzip calls them members, bzip2 streams,
Zstandard frames, and all three say that streams one after another are the file in one. Pieces are
cut at fixed places, so what comes out does not depend on the number of threads.
"""

from __future__ import annotations

import bz2
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import IO

import pyarrow as pa
from joblib import cpu_count

PIECE_BYTES = 3_600_000  # four blocks of bzip2
GZIP_LEVEL = 4  # three times as fast as 6, for a twentieth more bytes
GZIP_FORMAT = 31  # of zlib: the widest window, and gzip's header without a name and a time

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": partial(zlib.compress, level=GZIP_LEVEL, wbits=GZIP_FORMAT),
    ".bz2": bz2.compress,
    ".zst": partial(pa.compress, codec="zstd", asbytes=True),
}


def compress_file(source: str, target: str, suffix: str, threads: int) -> None:
    """Write a compressed copy of a file, and make it durable.

    Parameters
    ----------
    source, target : str
    suffix : {".gz", ".bz2", ".zst"}
    threads : int
        How many pieces are compressed at once, on as many cores.
    """
    with open(source, "rb") as plain, open(target, "wb") as packed:
        for stream in _packed(plain, PACKERS[suffix], min(threads, cpu_count())):
            packed.write(stream)
        packed.flush()
        os.fsync(packed.fileno())


def _packed(plain: IO[bytes], pack: Callable[[bytes], bytes], threads: int) -> Iterator[bytes]:
    """Yield the streams of a file in order, one or more; few pieces are in memory at once."""
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
