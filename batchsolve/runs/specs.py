"""Specifications of runs over rows, and the passes that carry them out.

A run reads rows in blocks, workers find answers to the rows of a block and write it, and the sums
are added up. *Solve*, *count*, *rate*, *augment*, *generate* and *dedupe* differ in the rows that
are read, the way to the answers, the columns added and the sums: `Spec` says these. `tables_of`
makes tables in memory of it, and `batchsolve.runs.files` goes from file to file. *Evaluate* and
lists of problems have no output table: they make the same passes, and add up.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from batchsolve.engines.choice import Choice
from batchsolve.errors import InputError
from batchsolve.runs.progress import Progress, Summary
from batchsolve.search.in_order import each_with_output, in_one_pass, in_two_passes
from batchsolve.search.rows import Write, search_rows
from batchsolve.settings import SearchSettings
from batchsolve.tables.answers import RowTable
from batchsolve.tables.blocks import Block, Boundary
from batchsolve.tables.checksums import Sums, joined, sums_of
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.layouts import RowsError
from batchsolve.tables.places import exists, facts_of, is_address
from batchsolve.tables.reader import Reader, number_kinds_of_block, number_types
from batchsolve.tables.sources import Tables
from batchsolve.workers.pool import Pool

SAME_SEARCH = ("limit", "node_limit", "time_limit")

Read = Callable[[Any], Any]
"""Returns the rows of a block, which `write` takes with their answers."""

Outputs = Generator[tuple[Any, Any]]
"""Blocks in order, each with what `write` has returned."""

Work = Callable[[Iterator[Any], Pool, Read, Write, int], Outputs]
"""A pass over blocks. Workers `read` each, find answers to its rows, and call `write` with both;
the last argument is the number of the first row, counted from 1."""


def searching(
    choice: Choice,
    search: SearchSettings,
    source: Any,
    size: int = 1,
    keep: int = 1,
) -> Work:
    """Return the pass in which rows are searched; see `search_rows`."""

    def work(
        blocks: Iterator[Any], pool: Pool, read: Read, write: Write, first: int = 1
    ) -> Outputs:
        return search_rows(blocks, choice, pool, search, read, write, size, source.waits, keep)

    return work


def in_one_look(
    blocks: Iterator[Any], pool: Pool, read: Read, write: Write, first: int = 1
) -> Outputs:
    """Do the pass in which rows need no answers."""
    return each_with_output(blocks, pool, partial(written, read, write))


def with_numbers_of_rows(
    blocks: Iterator[Block], pool: Pool, read: Read, write: Write, first: int = 1
) -> Outputs:
    """Do the pass in which the answer to a block is the number of its first row."""

    def count(block: Block, n_rows: int) -> int:
        nonlocal first
        first += n_rows
        return first - n_rows

    yield from in_two_passes(blocks, pool, Block.n_rows, count, partial(written, read, write))


def written(read: Read, write: Write, block: Any, answers: Any = None) -> Any:
    """Read a block and write it, given the answers to its rows; workers call it."""
    return write(read(block), answers)


@dataclass(frozen=True, eq=False)
class Spec:
    """The specification of a run over rows.

    Attributes
    ----------
    kind : str
        The kind of the run, for its journal.
    source : Tables or RowNumbers
        The rows, in blocks, and the names of their columns.
    reader : Reader or InstanceReader or Maker
        The reader of blocks, which workers receive.
    table : callable
        Returns the output table, given the reader.
    work : Work
        By default, rows need no answers.
    totals : Summary
        The sums of the run; each kind of run has its sums.
    same : mapping of str to object
        The settings that must be the same in a resumed run, in JSON types.
    engine : str
        The names of the engines; empty if rows are not searched.
    advice : str
        Advice on unfinished rows.
    """

    kind: str
    source: Any
    reader: Any
    table: Callable[[Any], RowTable]
    work: Work = in_one_look
    totals: Any = field(default_factory=Summary)
    same: Mapping[str, Any] = field(default_factory=dict)
    engine: str = ""
    advice: str = ""

    def searched(
        self,
        choice: Choice,
        search: SearchSettings,
        size: int = 1,
        keep: int = 1,
    ) -> Spec:
        """Return a specification whose rows are searched; see `search_rows`."""
        same = {name: getattr(search, name) for name in SAME_SEARCH}
        return replace(
            self,
            work=searching(choice, search, self.source, size, keep),
            same={**same, "engine": choice.identity, **self.same},
            engine=choice.names,
            advice=choice.missing if search.node_limit is not None else "",
        )


def tables_of(spec: Spec, pool: Pool, most_rows: int | None = None) -> Iterator[pa.Table]:
    """Yield an empty output table, then those of each block, and add their sums."""
    table = spec.table(spec.reader)
    yield table.schema.empty_table()
    blocks = spec.source.blocks(None, most_rows)
    with closing(spec.work(blocks, pool, spec.reader.read, table.rows, 1)) as outputs:
        for _, (part, sums) in outputs:
            spec.totals.add(sums)
            yield part


def table_of(spec: Spec, pool: Pool, most_rows: int | None = None) -> pa.Table:
    """Return the output table."""
    return pa.concat_tables(list(tables_of(spec, pool, most_rows)))


def followed(
    outputs: Outputs, source: Any, totals: Any, tell: Callable[[Progress], None]
) -> Iterator[tuple[Any, Any]]:
    """Yield blocks and their outputs, which have `n_rows`; tell of the progress after each.

    Raises
    ------
    RowsError
        With row numbers counted from the beginning of the file.
    """
    place, n_rows = FilePlace(), 0
    try:
        with closing(outputs):
            for block, output in outputs:
                place.pass_by(block, output.n_rows)
                n_rows += output.n_rows
                yield block, output
                expected = source.expected_rows(n_rows, block.end)
                tell(Progress(output.n_rows, totals, expected))
    except RowsError as error:
        raise place.located(error) from None


# ---- files ----------------------------------------------------------------------------------


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


def identity_of(path: Any) -> str:
    """Return the name, size and time of a file for the journal; a name of no file as it is.

    Of a table, the names and the sums of its columns.
    """
    if not isinstance(path, str):
        return f"{path.path} of {path.table.column_names}, {sums_of(path.table)}"
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
    return blocks if pool.sees_files else (block.carried() for block in blocks)


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
