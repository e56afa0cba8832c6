"""Instances: rows that are exact cover problems, in memory, files and tables."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from batchsolve.core.arrays import Bytes, UInts
from batchsolve.engines import UNLIMITED, Choice
from batchsolve.errors import BatchsolveError, InputError, counted, listed, named_errors, quoted
from batchsolve.formats.exact_cover_files import JSON_FIELDS, read_dlx, read_json
from batchsolve.formats.grid_texts import in_one_line
from batchsolve.formats.other_programs import is_grid_document
from batchsolve.problems.families import FAMILIES, family, known_families
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.stacks import Group, Stacks
from batchsolve.runs.reading import FORMS, Reading, form_of, read_content, read_problem, reading_of
from batchsolve.search.rows import Answers, Status
from batchsolve.settings import FileSettings, SearchSettings, settings_that
from batchsolve.tables.answers import STATS, Found, RowTable, RowValues
from batchsolve.tables.columns import BOM, DIGITS, JSON_TEXT, as_text
from batchsolve.tables.detection import json_lines
from batchsolve.tables.places import exists, suffix_of
from batchsolve.tables.sources import FILENAME, Block, BlockSize, Files, Source, Tables, TextSource

COLUMN = "problem"
PROBLEM_SUFFIXES = tuple(f".{form}" for form in FORMS if form != "json")
# some ten problems of .dlx in text, more if there are thousands, or hundreds of names of families
BLOCKS = BlockSize(16 << 10, 128 << 10, 256)
PARTS = BlockSize(256 << 10, 256 << 10, 4096)
MOST_ENTRIES = 10_000  # of a problem that is kept until its answer is written


Facts = tuple[int, int, str]
"""The numbers of items and options of an instance, and the name of its engine."""


@dataclass(eq=False)
class Instances:
    """Some consecutive instances; see `batchsolve.search.rows.Batch`.

    A problem is built when its turn has come; only small ones are kept.

    Attributes
    ----------
    given : sequence
        The instances as they were given.
    read : callable
        Returns the `Reading` of one of them.
    choice : Choice
    table : pyarrow.Table
        The input columns.
    faults : dict of int to str
        The faults of instances that cannot be searched.
    block : Block or None
        The block, with its records; None for problems in memory.
    """

    given: Sequence[Any]
    read: Callable[[Any], Reading]
    choice: Choice
    table: pa.Table = field(default_factory=lambda: pa.table({}))
    faults: dict[int, str] = field(default_factory=dict)
    block: Block | None = None
    _facts: dict[int, Facts] = field(default_factory=dict)
    _kept: dict[int, Reading] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.given)

    def groups(self) -> Iterator[Group]:
        """Yield the stacks of the instances that can be searched; adjacent grids are in one."""
        readings = ((row, self.reading(row)) for row in range(len(self)))
        known = ((row, reading) for row, reading in readings if reading is not None)
        for _, group in groupby(known, key=lambda pair: id(pair[1].problem)):
            rows, same = zip(*group, strict=True)
            yield same[0].problem, Stacks.from_lists([reading.stack for reading in same], rows)

    def statuses(self, answers: Answers, limit: int) -> tuple[Bytes, dict[int, str | None]]:
        """See `batchsolve.tables.reader.Batch`; messages of unfinished rows are missing."""
        self.facts()  # finds the faults
        status = answers.status(limit)
        status[list(self.faults)] = Status.INVALID
        return status, dict(self.faults)

    def facts(self) -> list[Facts | None]:
        """Return the facts about each instance; None for those that cannot be searched."""
        for row in range(len(self)):
            if row not in self._facts:
                self.reading(row)
        return [self._facts.get(row) for row in range(len(self))]

    def reading(self, row: int) -> Reading | None:
        """Build an instance, and note its facts, or its fault if it cannot be searched."""
        if row in self.faults:
            return None
        if row in self._kept:
            return self._kept[row]
        try:
            reading = self.read(self.given[row])
            problem = reading.problem
            if reading.stack.size:
                problem.check_stack(reading.stack.tolist())
            engine = self.choice.of(problem)
        except BatchsolveError as error:
            self.faults[row] = str(error)
            return None
        self._facts[row] = problem.n_items, problem.n_options, engine.name
        if problem.n_entries <= MOST_ENTRIES:
            self._kept[row] = reading
        return reading


# ---- instances in files and tables ----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class InstanceReader:
    """The parser of blocks of instances, as workers receive it.

    Attributes
    ----------
    schema : pyarrow.Schema
        The input columns that the output has, too.
    choice : Choice
    column : str
        The column of problems; empty if they are in other columns.
    filename : bool
        Add the column `FILENAME`.
    """

    schema: pa.Schema
    choice: Choice
    column: str = ""
    filename: bool = False

    def read(self, block: Block) -> Instances:
        """Parse a block, but none of its problems.

        Raises
        ------
        InputError
            If the block cannot be read.
        """
        block = block.loaded()
        table, faults = block.rows()
        read: Callable[[Any], Reading]
        given: Sequence[Any]
        if block.layout.parse is json_lines and not self.column:
            fields = [name for name in table.column_names if name in JSON_FIELDS]
            given, read = table.select(fields).to_pylist(), _of_fields
        elif self.column:
            given = as_text(table, self.column).to_pylist()
            read = partial(_of_text, self.column)
        else:
            names, contents, texts = (column.to_pylist() for column in table.columns)
            given, read = list(zip(names, contents, strict=True)), _of_file
            faults = {row: fault for row, fault in enumerate(texts) if fault}
        if self.filename:
            table = table.append_column(FILENAME, pa.repeat(block.name, len(table)))
        table = table.select(self.schema.names)
        return Instances(given, read, self.choice, table, faults, block)


def _of_file(given: tuple[str, bytes | None]) -> Reading:
    name, content = given
    return read_problem(name) if content is None else read_content(content, name)


def _of_text(column: str, text: str | None) -> Reading:
    """Read the name of a family, or the text of a .dlx."""
    with named_errors(column):
        text = (text or "").strip()
        if not text:
            raise InputError(f"is empty, and fields beside it are not read; expected {_EXPECTED}")
        if "\n" in text:
            return reading_of(read_dlx(text))
        if text.partition(":")[0] in FAMILIES:
            return reading_of(family(text))
        known = f"{known_families()}; solve counts the solutions of grids, up to its limit"
        raise InputError(f"{quoted(text)} is not {_EXPECTED}: {known}")


_EXPECTED = "the text of a .dlx (a line of items, then a line for each option) or a family"


def _of_fields(fields: dict[str, str | None]) -> Reading:
    """Read fields of JSON, each as text."""
    texts = [f"{json.dumps(name)}: {text}" for name, text in fields.items() if text is not None]
    with named_errors("the problem"):
        return reading_of(read_json("{" + ", ".join(texts) + "}"))


def is_problem_file(path: str) -> bool:
    """Return True for names of problem files, of families and of forms of a file; not of tables."""
    suffix = suffix_of(path)
    if suffix in PROBLEM_SUFFIXES:
        return True
    if not exists(path):
        return path.partition(":")[0] in FAMILIES or form_of(path)[0] != ""
    return suffix == ".json" and os.path.isfile(path) and _is_object(path)


def _is_object(path: str) -> bool:
    """Return True if a file holds one JSON object, that of a problem, and not lines of JSON.

    Arrays and documents of puzzles may be large, and are known by their beginning.
    """
    with suppress(OSError, ValueError, RecursionError), open(path, "rb") as file:
        head = file.peek()
        if not head.removeprefix(BOM).lstrip().startswith(b"{") or is_grid_document(head):
            return False
        value = json.load(file)
        return isinstance(value, dict) and "options" in value
    return False


def hold_problems(sources: Sequence[Source], column: str | None) -> bool:
    """Return True if the rows of sources are problems, and not grids.

    Of a table in a file, the first value of the column tells. Standard input is not read ahead:
    there, problems are JSON lines with the field ``options``.
    """
    if not sources:  # reading them raises the error
        return False
    first, name = sources[0], column or COLUMN
    if isinstance(first, Files) or (column is None and _has_fields(first)):
        return True
    if name not in first.layout.schema.names or first.path == "-":
        return False
    for block in Tables(sources[:1], size=BLOCKS).blocks():
        for text in as_text(block.rows()[0], name).to_pylist():
            if text and (text := text.strip()):
                if "\n" in text:
                    return name == COLUMN or not _is_drawn(text)
                return text.partition(":")[0] in FAMILIES
    return False


def _is_drawn(text: str) -> bool:
    """Return True if lines are a grid, and no problem as in a .dlx file."""
    with suppress(BatchsolveError):
        read_dlx(text)
        return False
    return "\n" not in in_one_line(text)


def instances_in(
    sources: Sequence[Source], choice: Choice, settings: FileSettings, in_parts: bool
) -> tuple[Tables, InstanceReader]:
    """Return instances in tables, or in files of which each is a row, and their reader.

    Parameters
    ----------
    sources : sequence of Source
    choice : Choice
    settings : FileSettings
        ``column`` is the column of problems; by default ``problem``, unless JSON lines have
        ``options``.
    in_parts : bool
        True if each block becomes a file.

    Raises
    ------
    InputError
        If the tables cannot be read, have no column of problems, or settings do not suit them.
    """
    column, filename = settings.column, settings.filename
    grids = settings_that("of_grids")
    if unfit := [name for name in grids if getattr(settings, name) not in (None, False)]:
        raise InputError(f"only tables of grids have {listed(unfit)}; leave them out")
    are_files = isinstance(sources[0], Files)
    if are_files and (column is not None or filename):
        raise InputError("only tables have a column of problems, or one of file names")
    if has_fields := column is None and _has_fields(sources[0]):
        sources = list(map(_with_json, sources))
    tables = Tables(sources, filename, PARTS if in_parts else BLOCKS)
    column = "" if has_fields or are_files else column or COLUMN
    if column:
        tables.check_column(column)
    left_out = JSON_FIELDS if has_fields else Files.schema.names[1:] if are_files else ()
    fields = [field for field in tables.schema if field.name not in left_out]
    schema = pa.schema([*fields, FILENAME] if filename else fields)
    return tables, InstanceReader(schema, choice, column, filename)


def _has_fields(source: Source) -> bool:
    """Return True for JSON lines with the fields of problems and without their column."""
    names = source.layout.schema.names
    return source.layout.parse is json_lines and COLUMN not in names and "options" in names


def _with_json(source: Source) -> Source:
    """Return JSON lines whose fields of problems stay JSON, whatever the first lines hold."""
    if not isinstance(source, TextSource):
        return source
    others = [field for field in source.layout.schema if field.name not in JSON_FIELDS]
    fields = [pa.field(name, pa.string(), metadata=JSON_TEXT) for name in JSON_FIELDS]
    return replace(source, layout=replace(source.layout, schema=pa.schema([*others, *fields])))


# ---- output tables --------------------------------------------------------------------------


def instance_table(
    reader: InstanceReader, search: SearchSettings, stats: bool, keep: int
) -> RowTable:
    """Return the output table of first covers, or of counts if none are kept."""
    kinds = {"items": pa.int64(), "options": pa.int64()}
    if keep:
        kinds |= {"cover": _NAMES, "status": pa.string(), "n_solutions": pa.int64()}
    else:
        kinds |= {"count": pa.string(), "complete": pa.bool_()}
    kinds |= {"engine": pa.string(), "message": pa.string()}
    kinds |= STATS if stats else {}
    marks = {"count": DIGITS}
    new = [pa.field(name, kind, metadata=marks.get(name)) for name, kind in kinds.items()]
    return RowTable(reader.schema, pa.schema(new), partial(_covered if keep else _counted, search))


_NAMES = pa.list_(pa.string())


def _covered(search: SearchSettings, batch: Instances, answers: Answers) -> Found:
    """Return the new columns of instances whose first covers were found.

    A cover is the names of its options, in their order; a solved grid is one name, its text.
    """
    values = RowValues(batch, answers, search.limit or UNLIMITED)
    for row in np.flatnonzero(values.status == Status.UNFINISHED).tolist():
        values.messages[row] = _why_unfinished(answers, row, search)
    names: list[list[str] | None] = [None] * len(batch)
    covers = answers.covers
    for row, cover in zip(covers.roots.tolist(), covers, strict=True):
        reading = batch.reading(row)
        assert reading is not None  # it was searched
        options = cover[cover < reading.problem.n_options]  # the others are excluded
        names[row] = _names_of(reading, options)
    return _with_facts(values, {"cover": pa.array(names, _NAMES)})


def _counted(search: SearchSettings, batch: Instances, answers: Answers) -> Found:
    """Return the new columns of instances that were counted.

    Counts are text of digits, because they may have any size.
    """
    values = RowValues(batch, answers, search.limit or UNLIMITED)
    is_invalid = values.status == Status.INVALID
    counts = counts_of(batch, answers, search)
    values.messages = {row: reason for row, (_, reason) in enumerate(counts) if reason is not None}
    values.status[list(values.messages)] = Status.UNFINISHED
    values.status[is_invalid] = Status.INVALID
    digits = [str(Decimal(count)) for count, _ in counts]  # `str` has 4,300 at most
    columns = {
        "count": pa.array(digits, pa.string(), mask=is_invalid),
        "complete": pa.array([reason is None for _, reason in counts], mask=is_invalid),
    }
    return _with_facts(values, columns)


def _with_facts(values: RowValues, columns: dict[str, pa.Array]) -> Found:
    """Add the columns that covers and counts have both."""
    answers, facts = values.answers, values.batch.facts()
    items, options, engines = ([fact and fact[k] for fact in facts] for k in range(3))
    for row, name in answers.counters.items():
        engines[row] = name
    columns |= {"items": pa.array(items, pa.int64()), "options": pa.array(options, pa.int64())}
    columns |= {"engine": pa.array(engines, pa.string()), **values.columns()}
    return values.batch.table, values.sums, columns


def _names_of(reading: Reading, cover: UInts) -> list[str]:
    """Return the names of the options of a cover, as `cover_table` sorts them."""
    problem = reading.problem
    if not isinstance(problem, GridProblem):
        return list(map(problem.option_name, sorted(cover.tolist())))
    assert reading.notation is not None
    [grid] = problem.grids(Stacks.from_lists([cover.tolist()]))
    return [reading.notation.write(grid)]


RowCount = tuple[int, str | None]  # and why it is not complete, if it is not


def counts_of(batch: Instances, answers: Answers, settings: SearchSettings) -> list[RowCount]:
    """Return the count of each instance, and why it is not complete, if it is not."""
    limit = settings.limit or UNLIMITED
    counts: list[RowCount] = []
    for row, count in enumerate(answers.counts):
        reason = batch.faults.get(row)
        if settings.limit is not None and count >= limit:
            reason = f"has {counted(limit, 'solution')} or more"
        elif row in answers.unfinished:
            reason = _why_unfinished(answers, row, settings)
        n_covers = int(count) if settings.limit is None else min(int(count), limit)
        counts.append((n_covers, reason))
    return counts


def _why_unfinished(answers: Answers, row: int, settings: SearchSettings) -> str:
    """Return why the search of a row failed or stopped."""
    if reason := answers.unfinished[row]:
        return reason
    if settings.node_limit is not None and int(answers.nodes[row]) >= settings.node_limit:
        return f"stopped after {counted(settings.node_limit, 'node')}"
    return f"stopped after {settings.time_limit} s"
