"""Blocks of other sizes, for tests that look at where they are cut."""

from contextlib import contextmanager
from unittest.mock import patch

from batchsolve.runs.destinations import OneFile, Parts
from batchsolve.tables import blocks, corpus
from batchsolve.tables.blocks import BlockSize


@contextmanager
def small_blocks(size):
    """Blocks of so many bytes, and so many rows of a table."""
    tasks = BlockSize(max(1, size // 4), size, 1 + size // 16)
    files = BlockSize(size, size, 1 + size // 16)
    with (
        patch.object(blocks, "LINE_BYTES", max(1, size // 8)),
        patch.object(corpus, "TASKS", tasks),
        patch.object(OneFile, "block_size", tasks),
        patch.object(Parts, "block_size", files),
    ):
        yield
