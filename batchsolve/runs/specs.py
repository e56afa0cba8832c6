"""Specifications of runs over rows, and the passes that carry them out.

A run reads rows in blocks, workers find answers to the rows of a block and write it, and the sums
are added up. *Solve*, *count*, *rate*, *augment* and *generate* differ in what is read, in the way
to the answers, in the columns added and in the sums: `Spec` says these. `tables_of` makes tables in
memory of it, and `batchsolve.runs.files` goes from file to file.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pyarrow as pa

from batchsolve.engines.choice import EnginesByShape, RowEngines
from batchsolve.runs.corpora import FilePlace
from batchsolve.runs.progress import Progress, Summary
from batchsolve.search.in_order import each_with_output, in_two_passes
from batchsolve.search.rows import Write, search_rows
from batchsolve.settings import SearchSettings
from batchsolve.tables.answers import RowTable
from batchsolve.tables.blocks import Block
from batchsolve.tables.layouts import RowsError
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
    engines: RowEngines | EnginesByShape,
    search: SearchSettings,
    source: Any,
    size: int = 1,
    keep: int = 1,
) -> Work:
    """Return the pass in which rows are searched; see `search_rows`."""

    def work(
        blocks: Iterator[Any], pool: Pool, read: Read, write: Write, first: int = 1
    ) -> Outputs:
        return search_rows(blocks, engines, pool, search, read, write, size, source.waits, keep)

    return work


def in_one_look(
    blocks: Iterator[Any], pool: Pool, read: Read, write: Write, first: int = 1
) -> Outputs:
    """Do the pass in which rows need no answers."""
    return each_with_output(blocks, pool, partial(_written, read, write))


def with_numbers_of_rows(
    blocks: Iterator[Block], pool: Pool, read: Read, write: Write, first: int = 1
) -> Outputs:
    """Do the pass in which the answer to a block is the number of its first row."""

    def count(block: Block, n_rows: int) -> int:
        nonlocal first
        first += n_rows
        return first - n_rows

    yield from in_two_passes(blocks, pool, Block.n_rows, count, partial(_written, read, write))


def _written(read: Read, write: Write, block: Any, answers: Any = None) -> Any:
    return write(read(block), answers)


@dataclass(frozen=True, eq=False)
class Spec:
    """What a run does with rows.

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
        The sums of the run; other kinds of runs have sums of their own.
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
        engines: RowEngines | EnginesByShape,
        search: SearchSettings,
        size: int = 1,
        keep: int = 1,
    ) -> Spec:
        """Return a specification whose rows are searched; see `search_rows`."""
        same = {name: getattr(search, name) for name in SAME_SEARCH}
        return replace(
            self,
            work=searching(engines, search, self.source, size, keep),
            same={**same, "engine": engines.identity, **self.same},
            engine=engines.name,
            advice=engines.missing if search.node_limit is not None else "",
        )


def tables_of(spec: Spec, pool: Pool) -> Iterator[pa.Table]:
    """Yield an empty output table, then those of each block, and add their sums."""
    table = spec.table(spec.reader)
    yield table.schema.empty_table()
    blocks = spec.source.blocks()
    with closing(spec.work(blocks, pool, spec.reader.read, table.rows, 1)) as outputs:
        for _, (part, sums) in outputs:
            spec.totals.add(sums)
            yield part


def table_of(spec: Spec, pool: Pool) -> pa.Table:
    """Return the output table."""
    return pa.concat_tables(list(tables_of(spec, pool)))


def followed(
    outputs: Outputs, source: Any, totals: Any, tell: Callable[[Progress], None]
) -> Iterator[Any]:
    """Yield the outputs of blocks, which have `n_rows`; tell of the progress after each.

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
                yield output
                expected = source.expected_rows(n_rows, block.end)
                tell(Progress(output.n_rows, totals, expected))
    except RowsError as error:
        raise place.located(error) from None
