"""The output tables of instances: their counts, or their first covers."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa

from batchsolve.arrays import Bytes, UInts
from batchsolve.errors import counted
from batchsolve.problems.answers import STATUS_NAMES, Answers, Status
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import usual_notation
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.instances import InstanceReader, Instances
from batchsolve.runs.reading import Reading
from batchsolve.settings import UNLIMITED, SearchSettings
from batchsolve.tables.answers import RowSums, with_new_columns
from batchsolve.tables.layouts import DIGITS


class _InstanceTable:
    """An output table: the input columns of instances, then those of their answers.

    Parameters
    ----------
    reader : InstanceReader
    settings : SearchSettings
    stats : bool
        Add the columns ``nodes`` and ``seconds``.
    own : list of (str, pyarrow.DataType)
        The columns between the size of an instance and its engine.

    Attributes
    ----------
    reader : InstanceReader
    schema : pyarrow.Schema
        The columns of the output.
    """

    def __init__(
        self,
        reader: InstanceReader,
        settings: SearchSettings,
        stats: bool,
        own: list[tuple[str, pa.DataType]],
    ) -> None:
        self.reader, self._stats, self._settings = reader, stats, settings
        new = [("items", pa.int64()), ("options", pa.int64()), *own]
        new += [("engine", pa.string()), ("message", pa.string())]
        new += [("nodes", pa.int64()), ("seconds", pa.float64())] if stats else []
        self.schema = with_new_columns(reader.schema, new)

    def _table(
        self,
        batch: Instances,
        answers: Answers,
        own: list[pa.Array],
        messages: list[str | None],
        status: Bytes,
    ) -> tuple[pa.Table, RowSums]:
        """Return the output rows of a batch, and their sums."""
        facts = batch.facts()
        items, options, engines = ([each and each[k] for each in facts] for k in range(3))
        for row, name in answers.counters.items():
            engines[row] = name
        columns = [pa.array(items, pa.int64()), pa.array(options, pa.int64()), *own]
        columns += [pa.array(engines, pa.string()), pa.array(messages, pa.string())]
        if self._stats:
            columns += [pa.array(answers.nodes), pa.array(np.round(answers.seconds, 6))]
        table = pa.Table.from_arrays([*batch.table.columns, *columns], schema=self.schema)
        return table, RowSums.of(status, batch.faults, answers)


class CountTable(_InstanceTable):
    """The output table of counts: text of digits, because a count may have any size."""

    def __init__(self, reader: InstanceReader, settings: SearchSettings, stats: bool) -> None:
        own = [("count", pa.string()), ("complete", pa.bool_())]
        super().__init__(reader, settings, stats, own)
        place = self.schema.get_field_index("count")
        self.schema = self.schema.set(place, pa.field("count", pa.string(), metadata=DIGITS))

    def rows(self, batch: Instances, answers: Answers) -> tuple[pa.Table, RowSums]:
        """Return the output rows of a batch, and their sums."""
        unknown = np.array([facts is None for facts in batch.facts()])  # which finds the faults
        found = counts_of(batch, answers, self._settings)
        digits = [str(Decimal(count)) for count, _ in found]  # `str` alone has 4,300 at most
        own = [
            pa.array(digits, pa.string(), mask=unknown),
            pa.array([why is None for _, why in found], mask=unknown),
        ]
        status = np.where(unknown, Status.INVALID, [_status(*each) for each in found])
        return self._table(batch, answers, own, [why for _, why in found], status)


class CoverTable(_InstanceTable):
    """The output table of first covers: the names of their options, in the order of options.

    A solved grid is one name, its text.
    """

    def __init__(self, reader: InstanceReader, settings: SearchSettings, stats: bool) -> None:
        own = [("cover", pa.list_(pa.string())), ("status", pa.string())]
        super().__init__(reader, settings, stats, [*own, ("n_solutions", pa.int64())])

    def rows(self, batch: Instances, answers: Answers) -> tuple[pa.Table, RowSums]:
        """Return the output rows of a batch, and their sums."""
        facts, limit = batch.facts(), self._settings.limit or UNLIMITED
        status = answers.status(limit)
        status[[row for row, each in enumerate(facts) if each is None]] = Status.INVALID
        names: list[list[str] | None] = [None] * len(batch)
        covers = answers.covers
        for row, cover in zip(covers.roots.tolist(), covers, strict=True):
            names[row] = _names_of(batch.reading(row), cover)
        messages = [batch.faults.get(row) for row in range(len(batch))]
        for row in np.flatnonzero(status == Status.UNFINISHED).tolist():
            messages[row] = _why_unfinished(answers, row, self._settings)
        own = [
            pa.array(names, pa.list_(pa.string())),
            pa.array(STATUS_NAMES[status]),
            pa.array(np.minimum(answers.counts, limit), mask=status == Status.INVALID),
        ]
        return self._table(batch, answers, own, messages, status)


def _names_of(reading: Reading, cover: UInts) -> list[str]:
    """Return the names of the options of a cover, as `CoverRenderer` sorts them."""
    problem = reading.problem
    if not isinstance(problem, GridProblem):
        return list(map(problem.option_name, sorted(cover.tolist())))
    notation = reading.notation or usual_notation(problem.n_digits)
    [grid] = problem.grids(Stacks.from_lists([cover.tolist()]))
    return [notation.write(grid)]


RowCount = tuple[int, str | None]  # and why it is not complete, if it is not


def counts_of(batch: Instances, answers: Answers, settings: SearchSettings) -> list[RowCount]:
    """Return the count of each instance, and why it is not complete, if it is not."""
    limit = settings.limit or UNLIMITED
    found: list[RowCount] = []
    for row, count in enumerate(answers.counts):
        why = batch.faults.get(row)
        if settings.limit is not None and count >= limit:
            why = f"has {counted(limit, 'solution')} or more"
        elif row in answers.unfinished:
            why = _why_unfinished(answers, row, settings)
        wanted = int(count) if settings.limit is None else min(int(count), limit)
        found.append((wanted, why))
    return found


def _why_unfinished(answers: Answers, row: int, settings: SearchSettings) -> str:
    """Return why the search of a row failed or stopped."""
    if reason := answers.unfinished[row]:
        return reason
    nodes = int(answers.nodes[row])
    if settings.node_limit is not None and nodes >= settings.node_limit:
        return f"stopped after {counted(settings.node_limit, 'node')}"
    return f"stopped after {settings.time_limit} s"


def _status(count: int, why: str | None) -> Status:
    if why is not None:
        return Status.UNFINISHED
    return (Status.UNSOLVABLE, Status.UNIQUE, Status.MULTIPLE)[min(count, 2)]
