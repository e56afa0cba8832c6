"""Steps that all runs over a corpus share: its files, blocks for workers, columns of numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from batchsolve.errors import InputError
from batchsolve.search.in_order import in_one_pass
from batchsolve.tables.blocks import Block, Boundary
from batchsolve.tables.checksums import Sums, joined, sums_of
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.inputs import Tables
from batchsolve.tables.layouts import RowsError
from batchsolve.tables.places import exists, facts_of, is_address
from batchsolve.tables.reader import Reader, number_kinds_of_block, number_types
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


def refuse_own_output(inputs: Sequence[str], paths: Sequence[str], output: str) -> None:
    """Raise an error if the output is among the inputs.

    Parameters
    ----------
    inputs, paths : sequence of str
        The arguments, and the files that they stand for.
    output : str

    Raises
    ------
    InputError
    """
    for path in paths:
        are_there = path != "-" and os.path.exists(path) and os.path.exists(output)
        if are_there and os.path.samefile(path, output):
            raise InputError(f"{path}: is both input and output; write to another file")
    for folder in filter(os.path.isdir, inputs):
        if _lies_in(output, folder):
            raise InputError(
                f"{output}: lies in {folder}, all of which is input; write elsewhere, or "
                f"name the files, as in '{os.path.join(folder, '*.csv')}'"
            )


def _lies_in(path: str, folder: str) -> bool:
    if path == "-" or is_address(path):
        return False
    inner, outer = os.path.realpath(path), os.path.realpath(folder)
    return os.path.commonpath([inner, outer]) == outer


def identity_of(path: str) -> str:
    """Return the name, size and time of a file for the journal; a name of no file as it is."""
    if not exists(path):
        return path
    try:
        facts = facts_of(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or 'cannot be read'}") from error
    changed = str(np.datetime64(facts.changed, "ns")).replace("T", " ")
    return f"{path} of {facts.size:,} bytes, changed {changed} UTC"


def blocks_for(
    pool: Pool, corpus: Tables, begin: Boundary | None = None, most_rows: int | None = None
) -> Iterator[Block]:
    """Cut a corpus into blocks (see `Corpus.blocks`) that the workers of a pool can read."""
    return _for_workers(pool, corpus.blocks(begin, most_rows))


def _for_workers(pool: Pool, blocks: Iterator[Block]) -> Iterator[Block]:
    return blocks if pool.sees_files else map(Block.carried, blocks)


def sums_before(corpus: Tables, end: Boundary, pool: Pool) -> Sums:
    """Read the records before the end of an earlier block again; return their checksums.

    Raises
    ------
    InputError
        If they cannot be read.
    """
    blocks = _for_workers(pool, corpus.blocks_before(end))
    with closing(in_one_pass(blocks, pool, partial(_sums_until, end))) as found:
        return reduce(joined, found, ())


def _sums_until(end: Boundary, block: Block) -> Sums:
    """Return the checksums of the records of a block before a point."""
    records = block.records()
    if block.end > end:
        records = records[: max(0, len(records) - (block.end.offset - end.offset))]
    return sums_of(records)


def reader_of_numbers(corpus: Corpus, pool: Pool) -> Reader:
    """Return the reader of a corpus that reads text columns of numbers as numbers.

    A Parquet column has one type, so workers first look at all rows.
    """
    names = corpus.perhaps_numbers()
    if not names:
        return corpus.reader
    blocks = blocks_for(pool, corpus, Boundary(0, 0))
    try:
        with closing(in_one_pass(blocks, pool, partial(number_kinds_of_block, names))) as found:
            return replace(corpus.reader, numbers=number_types(found))
    except InputError:  # the run will meet the same error and report it
        return corpus.reader
