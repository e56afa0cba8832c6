"""Small blocks, so that tests cut inputs in many places."""

from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa

from batchsolve.runs.outputs import OneFile, Parts
from batchsolve.tables import sources
from batchsolve.tables.sources import BlockSize


@contextmanager
def small_blocks(size):
    """Use blocks of `size` bytes, and of a number of table rows that grows with it."""
    tasks = BlockSize(max(1, size // 4), size, 1 + size // 16)
    files = BlockSize(size, size, 1 + size // 16)
    with (
        patch.object(sources, "LINE_BYTES", max(1, size // 8)),
        patch.object(sources, "TASKS", tasks),
        patch.object(OneFile, "block_size", tasks),
        patch.object(Parts, "block_size", files),
    ):
        yield


def content_of(path):
    """Return the bytes of a file, decompressed: compression depends on where blocks end."""
    with pa.input_stream(str(path)) as file:
        return file.read()


def contents(folder):
    """Return the bytes of each file of a folder, by its name."""
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def opened(path, schema, written=None):
    """Return an output that is a file, open."""
    output = OneFile(str(path))
    output.open(schema, written, ())
    return output
