"""Tables with the same columns, as one stream of blocks of rows."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from queue import SimpleQueue

import pyarrow as pa

from batchsolve.errors import InputError, listed, quoted, shortened, twice
from batchsolve.tables.blocks import TASKS, Block, BlockSize, Boundary
from batchsolve.tables.reader import FILENAME
from batchsolve.tables.sources import Source, TextSource, name_of, open_source


class Tables:
    """Tables with the same columns, as one stream of rows.

    Parameters
    ----------
    inputs : sequence of str or Source
        Files, ``-`` for standard input, or tables that are already open.
    filename : bool
        Rows get a column with the name of the file that they are from.
    size : BlockSize, optional
        The size of blocks; by default `TASKS`.

    Attributes
    ----------
    schema : pyarrow.Schema
        The input columns.

    Raises
    ------
    InputError
        If the tables cannot be read.
    """

    column: str  # of kinds that have one

    def __init__(
        self, inputs: Sequence[str | Source], filename: bool = False, size: BlockSize | None = None
    ) -> None:
        if not inputs:
            raise InputError("no input; name a file, or - for standard input")
        self._size = size or TASKS
        self._sources = open_all(inputs)
        self.schema = self._sources[0].layout.schema
        self._check_schemas()
        known = [source.length for source in self._sources if source.length is not None]
        self._ends = list(accumulate(known)) if len(known) == len(self._sources) else []
        if (name := twice(self.columns)) is not None:
            path = self._sources[0].path
            raise InputError(f"{path}: names the column {quoted(name)} twice; rename one")
        if filename and FILENAME.name in self.columns:
            raise InputError(
                f"{name_of(self._sources[0].path)}: has a column {FILENAME.name} already; rename "
                f"it, or leave out `filename`"
            )
        self._kept: list[Block] = []
        self._rest = self._blocks_from(Boundary(0, 0))

    @property
    def columns(self) -> list[str]:
        """Names of the input columns."""
        return list(self.schema.names)

    @property
    def given_column(self) -> str | None:
        """The column of puzzles or problems; empty for fields or files, None for blank grids."""
        return self.column if self.column in ("", *self.columns) else None

    def check_column(self, name: str) -> None:
        """Raise `InputError` unless an input column has this name."""
        if name not in self.columns:
            raise InputError(f"unknown column {quoted(name)}; choose from {listed(self.columns)}")

    def blocks(
        self, begin: Boundary | None = None, most_rows: int | None = None
    ) -> Iterator[Block]:
        """Cut the corpus into blocks; standard input can be cut once.

        Parameters
        ----------
        begin : Boundary, optional
            The end of an earlier block; by default the first record.
        most_rows : int, optional
            Upper bound of the records of a block; by default a block has about a megabyte.

        Raises
        ------
        InputError
            After the last block that could be read, if a file is damaged.
        """
        whole = chain(self._kept, self._rest) if begin is None else self._blocks_from(begin)
        self._kept, self._rest = [], self._blocks_from(Boundary(0, 0))
        for block in whole:
            if most_rows is None:
                yield block
            else:
                yield from block.parts(most_rows)

    def blocks_before(self, end: Boundary) -> Iterator[Block]:
        """Cut the records before the end of an earlier block; the last block may go beyond it."""
        for block in self._blocks_from(Boundary(0, 0)):
            if block.source > end.source:
                break
            yield block
            if block.end >= end:
                break

    def _blocks_from(self, begin: Boundary) -> Iterator[Block]:
        for number, source in enumerate(self._sources[begin.source :], begin.source):
            offset = begin.offset if number == begin.source else 0
            yield from source.blocks(number, offset, self._size)

    def expected_rows(self, n_rows: int, position: Boundary | None) -> int | None:
        """Estimate the number of all rows from those before a position; None if unknown."""
        if position is None or not self._ends:
            return None
        before = position.offset + (self._ends[position.source - 1] if position.source else 0)
        return round(n_rows * self._ends[-1] / before) if before else None

    def _check_schemas(self) -> None:
        """Raise an error if files have different columns."""
        for source in self._sources:
            if not source.layout.schema.equals(self.schema):
                raise InputError(
                    f"{name_of(source.path)}: has the columns {_describe(source.layout.schema)} "
                    f"where {name_of(self._sources[0].path)} has {_describe(self.schema)}; solve "
                    f"them apart"
                )

    def waits(self) -> bool:
        """Return True if the next rows of standard input have not arrived yet."""
        return any(isinstance(each, TextSource) and each.waits() for each in self._sources)


def _describe(schema: pa.Schema) -> str:
    return shortened(", ".join(f"{field.name} ({field.type})" for field in schema))


OPENED_AT_ONCE = 8


def open_all(inputs: Sequence[str | Source]) -> list[Source]:
    """Open tables.

    Parameters
    ----------
    inputs : sequence of str or Source
        Paths, and tables that are already open.

    Returns
    -------
    list of Source

    Raises
    ------
    InputError
        If tables cannot be opened; the error is that of the first one.

    Notes
    -----
    Ctrl-C ends the wait at any moment. An executor would not do: within the code of a `Future`,
    Ctrl-C can leave a lock taken; a thread would wait for it forever, and the executor for the
    thread.
    """
    if len(inputs) == 1:
        return [_opened(inputs[0])]
    waiting = deque(range(len(inputs)))
    opened: SimpleQueue[tuple[int, Source | Exception] | None] = SimpleQueue()

    def open_some() -> None:
        while waiting:
            try:
                k = waiting.popleft()
            except IndexError:  # another thread was faster
                break
            try:
                opened.put((k, _opened(inputs[k])))
            except Exception as error:
                waiting.clear()  # tables after the first error are not opened
                opened.put((k, error))
        opened.put(None)

    n_threads = min(OPENED_AT_ONCE, len(inputs))
    found: dict[int, Source | Exception] = {}
    try:
        for _ in range(n_threads):
            threading.Thread(target=open_some, daemon=True).start()
        for _ in range(n_threads):
            found.update(iter(opened.get, None))
    finally:
        waiting.clear()
    sources = []
    for _, source in sorted(found.items()):
        if isinstance(source, Exception):
            raise source
        sources.append(source)
    return sources


def _opened(one: str | Source) -> Source:
    return open_source(one) if isinstance(one, str) else one
