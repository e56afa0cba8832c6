"""Steps that all runs over a corpus share: blocks for workers, and columns of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from batchsolve.errors import InputError
from batchsolve.search.passes import in_one_pass
from batchsolve.tables.blocks import Block, Position
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.layouts import RowsError
from batchsolve.tables.number_columns import number_kinds_of_block, number_types
from batchsolve.tables.reader import Reader
from batchsolve.workers.pool import Pool


@dataclass
class FilePlace:
    """The current input file, its number, and how many of its rows are done."""

    name: str = ""
    source: int = -1
    rows: int = 0

    def pass_by(self, block: Block, n_rows: int) -> None:
        """Count the rows of a block as done."""
        if block.source != self.source:
            self.name, self.source, self.rows = block.name, block.source, 0
        self.rows += n_rows

    def located(self, error: RowsError) -> RowsError:
        """Return an error of the next block with its row numbers counted from the file's start."""
        return error.after(self.rows if error.name == self.name else 0)


def blocks_for(
    pool: Pool, corpus: Corpus, begin: Position | None = None, most_rows: int | None = None
) -> Iterator[Block]:
    """Cut a corpus into blocks (see `Corpus.blocks`) that the workers of a pool can read."""
    blocks = corpus.blocks(begin, most_rows)
    return blocks if pool.sees_files else map(Block.carried, blocks)


def reader_of_numbers(corpus: Corpus, pool: Pool) -> Reader:
    """Return the reader of a corpus that reads text columns of numbers as numbers.

    A Parquet column has one type, so workers first look at all rows.
    """
    names = corpus.perhaps_numbers()
    if not names:
        return corpus.reader
    blocks = blocks_for(pool, corpus, Position(0, 0))
    try:
        with closing(in_one_pass(blocks, pool, partial(number_kinds_of_block, names))) as found:
            return replace(corpus.reader, numbers=number_types(found))
    except InputError:  # the run will meet the same error and report it
        return corpus.reader
