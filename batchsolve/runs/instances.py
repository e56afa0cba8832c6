"""Instances: rows that are exact cover problems of their own, and the table of their counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from batchsolve.engines import registered
from batchsolve.engines.choice import EngineForEach
from batchsolve.errors import BatchsolveError, InputError, counted, listed, named_errors, quoted
from batchsolve.formats.exact_cover_files import JSON_FIELDS, read_dlx, read_json
from batchsolve.problems.answers import Answers, Status
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.families import FAMILIES, family, known_families
from batchsolve.problems.small import MOST_ENTRIES, SmallProblems
from batchsolve.problems.stacks import Group, Stacks
from batchsolve.runs.reading import Puzzle, Reading, read_content, read_problem, reading_of
from batchsolve.settings import UNLIMITED, SearchSettings
from batchsolve.tables.answers import RowSums, with_new_columns
from batchsolve.tables.blocks import Block, BlockSize
from batchsolve.tables.layouts import JSON_TEXT, JsonLines
from batchsolve.tables.reader import FILENAME, as_text
from batchsolve.tables.sources import Files, FilesSource, Source, TextSource
from batchsolve.tables.tables import Tables, open_all

COLUMN = "problem"
MOST_AT_ONCE = 64  # small problems in a group; all of them are in memory
_NO_CLUES = np.empty(0, np.uint32)


class Facts(NamedTuple):
    """The size of an instance, and the engine that searches it."""

    items: int
    options: int
    engine: str


@dataclass(eq=False)
class Instances:
    """Some consecutive instances; see `batchsolve.search.rows.Batch`.

    A problem is built when its turn has come, so that a block does not hold all of them.

    Attributes
    ----------
    given : sequence
        The instances as they were given.
    read : callable
        Returns the `Reading` of one of them.
    engine : EngineForEach
    table : pyarrow.Table
        The input columns.
    faults : dict of int to str
        The faults of instances that cannot be searched.
    number : int
        The number of the block in the output.
    records : bytes or pyarrow.Table
        The records that were parsed.
    """

    given: Sequence[Any]
    read: Callable[[Any], Reading]
    engine: EngineForEach
    table: pa.Table = field(default_factory=lambda: pa.table({}))
    faults: dict[int, str] = field(default_factory=dict)
    number: int = 0
    records: bytes | pa.Table = b""
    _facts: dict[int, Facts] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.given)

    def groups(self) -> Iterator[Group]:
        """Yield the stacks of the instances that can be searched.

        Adjacent grids are in one group, and so are small problems.
        """
        readings = ((row, self._reading(row)) for row in range(len(self)))
        known = ((row, reading) for row, reading in readings if reading is not None)
        plain: list[tuple[int, Reading]] = []
        colored: list[tuple[int, Reading]] = []
        for _, some in groupby(known, key=lambda each: id(each[1].problem)):
            rows, those = zip(*some, strict=True)
            problem = those[0].problem
            if len(rows) == 1 and self._is_small(rows[0], problem):
                waiting = plain if problem.colors is None else colored
                waiting.append((rows[0], those[0]))
                if len(waiting) == MOST_AT_ONCE:
                    yield _side_by_side(waiting)
            else:
                stacks = Stacks.from_lists([reading.stack for reading in those], rows)
                yield Group(problem, stacks)
        for waiting in (plain, colored):
            if waiting:
                yield _side_by_side(waiting)

    def _is_small(self, row: int, problem: ExactCover) -> bool:
        """Return True if the problem of a row may be searched together with others."""
        many = registered(self._facts[row].engine).capabilities.many
        return many and problem.n_entries <= MOST_ENTRIES and problem.bounds is None

    def facts(self) -> list[Facts | None]:
        """Return the facts about each instance; None for those that cannot be searched."""
        for row in range(len(self)):
            if row not in self._facts:
                self._reading(row)
        return [self._facts.get(row) for row in range(len(self))]

    def _reading(self, row: int) -> Reading | None:
        """Build an instance, and note its facts or its fault."""
        if row in self.faults:
            return None
        try:
            reading = self.read(self.given[row])
            problem = reading.problem
            if reading.stack.size:
                problem.check_stack(reading.stack.tolist())
            engine = self.engine.of(problem)
        except BatchsolveError as error:
            self.faults[row] = str(error)
            return None
        self._facts[row] = Facts(problem.n_items, problem.n_options, engine.name)
        return reading


def _side_by_side(waiting: list[tuple[int, Reading]]) -> Group:
    """Return the group of small problems that wait, each with its row; none waits then."""
    rows, readings = zip(*waiting, strict=True)
    waiting.clear()
    stacks = Stacks.from_lists([reading.stack for reading in readings], rows)
    problems = [reading.problem for reading in readings]
    if len(problems) == 1:
        return Group(problems[0], stacks)
    return Group(SmallProblems(problems, stacks.roots), stacks)


def check_counting(engine: EngineForEach, settings: SearchSettings) -> None:
    """Raise `InputError` if an engine cannot count up to the limit."""
    if engine.capabilities.counts_only and settings.limit is not None:
        raise InputError(
            f"the engine {engine.name!r} only counts, and counts everything: for a limit on the "
            f"number of solutions, name another engine"
        )


def problems_as_rows(problems: Sequence[Any], engine: EngineForEach) -> Instances:
    """Return problems in memory, or arguments of `read_problem`, as rows without columns."""
    return Instances(problems, _of_memory, engine)


def _of_memory(problem: Puzzle) -> Reading:
    if isinstance(problem, ExactCover):  # its name is not needed, and takes time
        return Reading(problem, _NO_CLUES, "")
    return reading_of(problem)


# ---- instances in files and tables ----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class InstanceReader:
    """The parser of blocks of instances, as workers receive it.

    Attributes
    ----------
    schema : pyarrow.Schema
        The input columns that the output has, too.
    engine : EngineForEach
    column : str
        The column of problems; empty if they are in other columns.
    filename : bool
        Add the column `FILENAME`.
    """

    schema: pa.Schema
    engine: EngineForEach
    column: str = ""
    filename: bool = False

    def read(self, block: Block) -> Instances:
        """Parse a block, but none of its problems.

        Raises
        ------
        InputError
            If the block cannot be read.
        """
        records = block.records()
        rows = replace(block, data=records).rows()
        table, faults = rows.table, rows.faults
        read: Callable[[Any], Reading]
        given: Sequence[Any]
        if isinstance(block.layout, JsonLines) and not self.column:
            given, read = table.select(_fields_of(table.schema)).to_pylist(), _of_fields
        elif self.column:
            given = as_text(table[self.column], self.column).to_pylist()
            read = partial(_of_text, self.column)
        else:
            names, contents, whys = (column.to_pylist() for column in table.columns)
            given, read = list(zip(names, contents, strict=True)), _of_file
            faults = {row: why for row, why in enumerate(whys) if why}
        if self.filename:
            table = table.append_column(FILENAME, pa.repeat(block.name, len(table)))
        table = table.select(self.schema.names)
        return Instances(given, read, self.engine, table, dict(faults), block.number, records)


def _fields_of(schema: pa.Schema) -> list[str]:
    return [name for name in schema.names if name in JSON_FIELDS]


def _of_file(given: tuple[str, bytes | None]) -> Reading:
    name, content = given
    return read_problem(name) if content is None else read_content(content, name)


def _of_text(column: str, text: str | None) -> Reading:
    """Read the name of a family, or the text of a .dlx."""
    with named_errors(column):
        text = (text or "").strip()
        if not text:
            raise InputError(f"is empty; expected {_EXPECTED}")
        if "\n" in text:
            problem = read_dlx(text)
        elif text.partition(":")[0] in FAMILIES:
            problem = family(text)
        else:
            raise InputError(f"{quoted(text)} is not {_EXPECTED}: {known_families()}")
    return _of_memory(problem)


_EXPECTED = "the text of a .dlx (a line of items, then a line for each option) or a family"


def _of_fields(fields: dict[str, str | None]) -> Reading:
    """Read fields of JSON, each as text."""
    texts = [f"{json.dumps(name)}: {text}" for name, text in fields.items() if text is not None]
    with named_errors("the problem"):
        return _of_memory(read_json("{" + ", ".join(texts) + "}"))


class InstanceTables(Tables):
    """Instances in tables, or in files of which each is a row.

    Parameters
    ----------
    inputs : sequence of str or FilesSource
    engine : EngineForEach
    column : str, optional
        The column of problems; by default ``problem``, unless JSON lines have ``options``.
    filename, size
        As for `Tables`.

    Attributes
    ----------
    column : str
        The column of problems; empty if they are in other columns.
    reader : InstanceReader
        The reader of blocks, which can be sent to workers.
    solution_column : None

    Raises
    ------
    InputError
        If the tables cannot be read, or have no column of problems.
    """

    solution_column = None

    def __init__(
        self,
        inputs: Sequence[str | FilesSource],
        engine: EngineForEach,
        column: str | None = None,
        filename: bool = False,
        size: BlockSize | None = None,
    ) -> None:
        sources = open_all(inputs)
        if has_fields := column is None and _has_fields(sources[0]):
            sources = list(map(_with_json, sources))
        super().__init__(sources, filename, size)
        self.column, left_out = "", Files.schema.names[1:]
        if has_fields:
            left_out = list(JSON_FIELDS)
        elif not isinstance(sources[0], FilesSource):
            self.column, left_out = column or COLUMN, []
            if self.column not in self.columns:
                raise InputError(
                    f"unknown column {quoted(self.column)}; choose the column of problems from "
                    f"{listed(self.columns)}"
                )
        kept = [each for each in self.schema if each.name not in left_out]
        schema = pa.schema([*kept, FILENAME] if filename else kept)
        self.reader = InstanceReader(schema, engine, self.column, filename)


def _has_fields(source: Source) -> bool:
    """Return True for JSON lines with the fields of problems and without their column."""
    names = source.layout.schema.names
    return isinstance(source.layout, JsonLines) and COLUMN not in names and "options" in names


def _with_json(source: Source) -> Source:
    """Return JSON lines whose fields of problems stay JSON, whatever the first lines hold."""
    if not isinstance(source, TextSource):
        return source
    others = [each for each in source.layout.schema if each.name not in JSON_FIELDS]
    fields = [pa.field(name, pa.string(), metadata=JSON_TEXT) for name in JSON_FIELDS]
    return replace(source, layout=JsonLines(pa.schema([*others, *fields])))


# ---- the table of counts --------------------------------------------------------------------


class CountTable:
    """The output table: the input columns of instances, then those of their counts.

    Parameters
    ----------
    reader : InstanceReader
    settings : SearchSettings
    stats : bool
        Add the columns ``nodes`` and ``seconds``.

    Attributes
    ----------
    reader : InstanceReader
    schema : pyarrow.Schema
        The columns of the output. Counts are text if the engine only counts, because only then they
        may exceed 64 bits.
    has_times : bool
        True if rows hold times or depend on them, and so differ from run to run.
    """

    def __init__(self, reader: InstanceReader, settings: SearchSettings, stats: bool) -> None:
        self.reader, self._stats, self._settings = reader, stats, settings
        self.has_times = stats or settings.time_limit is not None
        self._fits = not reader.engine.capabilities.counts_only
        new = [
            ("items", pa.int64()),
            ("options", pa.int64()),
            ("count", pa.int64() if self._fits else pa.string()),
            ("complete", pa.bool_()),
            ("engine", pa.string()),
            ("message", pa.string()),
        ]
        if stats:
            new += [("nodes", pa.int64()), ("seconds", pa.float64())]
        self.schema = with_new_columns(reader.schema, new)

    def rows(self, batch: Instances, answers: Answers) -> tuple[pa.Table, RowSums]:
        """Return the output rows of a batch, and their sums."""
        facts, counts = batch.facts(), counts_of(batch, answers, self._settings)
        known = [None if each is None else count for each, count in zip(facts, counts, strict=True)]
        exact = [None if each is None else each.count for each in known]
        columns: list[Any] = [
            pa.array([each and each.items for each in facts], pa.int64()),
            pa.array([each and each.options for each in facts], pa.int64()),
            pa.array(exact, pa.int64()) if self._fits else pa.array(map(_text, exact), pa.string()),
            pa.array([each and each.complete for each in known], pa.bool_()),
            pa.array([each and each.engine for each in facts], pa.string()),
            pa.array([each.message for each in counts], pa.string()),
        ]
        if self._stats:
            columns += [pa.array(answers.nodes), pa.array(np.round(answers.seconds, 6))]
        table = pa.Table.from_arrays([*batch.table.columns, *columns], schema=self.schema)
        status = [_status(each) for each in known]
        invalid = next((row for row, each in enumerate(known) if each is None), None)
        return table, RowSums(
            np.bincount(status, minlength=len(Status)),
            0,
            int(answers.nodes.sum()),
            None if invalid is None else (invalid, batch.faults[invalid]),
        )


@dataclass(frozen=True)
class RowCount:
    """The count of an instance, and why it is not complete."""

    count: int
    complete: bool
    message: str | None


def counts_of(batch: Instances, answers: Answers, settings: SearchSettings) -> list[RowCount]:
    """Return the count of each instance; a message says why it is not complete."""
    limit = settings.limit or UNLIMITED
    found = []
    for row, (count, nodes) in enumerate(zip(answers.counts, answers.nodes, strict=True)):
        why = batch.faults.get(row)
        if settings.limit is not None and count >= limit:
            why = f"has {counted(limit, 'solution')} or more"
        elif row in answers.unfinished:
            why = answers.unfinished[row] or _stopped(int(nodes), settings)
        wanted = int(count) if settings.limit is None else min(int(count), limit)
        found.append(RowCount(wanted, why is None, why))
    return found


def _stopped(nodes: int, settings: SearchSettings) -> str:
    """Return why a search of so many nodes stopped."""
    if settings.node_limit is not None and nodes >= settings.node_limit:
        return f"stopped after {counted(settings.node_limit, 'node')}"
    return f"stopped after {settings.time_limit} s"


def _status(count: RowCount | None) -> Status:
    if count is None:
        return Status.INVALID
    if not count.complete:
        return Status.UNFINISHED
    return (Status.UNSOLVABLE, Status.UNIQUE, Status.MULTIPLE)[min(count.count, 2)]


def _text(count: int | None) -> str | None:
    return None if count is None else str(count)
