"""The output tables of instances: their counts, or their first covers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.errors import counted
from batchsolve.problems.answers import STATUS_NAMES, Answers, Status
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import usual_notation
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.instances import InstanceReader, Instances
from batchsolve.runs.reading import Reading
from batchsolve.settings import UNLIMITED, SearchSettings
from batchsolve.tables.answers import RowSums, with_new_columns


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
    has_times : bool
        True if rows hold times or depend on them, and so differ from run to run.
    """

    def __init__(
        self,
        reader: InstanceReader,
        settings: SearchSettings,
        stats: bool,
        own: list[tuple[str, pa.DataType]],
    ) -> None:
        self.reader, self._stats, self._settings = reader, stats, settings
        self.has_times = stats or settings.time_limit is not None
        new = [
            ("items", pa.int64()),
            ("options", pa.int64()),
            *own,
            ("engine", pa.string()),
            ("message", pa.string()),
        ]
        if stats:
            new += [("nodes", pa.int64()), ("seconds", pa.float64())]
        self.schema = with_new_columns(reader.schema, new)

    def _table(
        self,
        batch: Instances,
        answers: Answers,
        own: list[pa.Array],
        messages: list[str | None],
        status: npt.ArrayLike,
    ) -> tuple[pa.Table, RowSums]:
        """Return the output rows of a batch, and their sums."""
        facts = batch.facts()
        columns: list[Any] = [
            pa.array([each and each.items for each in facts], pa.int64()),
            pa.array([each and each.options for each in facts], pa.int64()),
            *own,
            pa.array([each and each.engine for each in facts], pa.string()),
            pa.array(messages, pa.string()),
        ]
        if self._stats:
            columns += [pa.array(answers.nodes), pa.array(np.round(answers.seconds, 6))]
        table = pa.Table.from_arrays([*batch.table.columns, *columns], schema=self.schema)
        invalid = min(batch.faults, default=None)
        return table, RowSums(
            np.bincount(status, minlength=len(Status)),
            0,
            int(answers.nodes.sum()),
            None if invalid is None else (invalid, batch.faults[invalid]),
        )


class CountTable(_InstanceTable):
    """The output table of counts.

    They are text if the engine only counts, because they often exceed 64 bits then.
    """

    def __init__(self, reader: InstanceReader, settings: SearchSettings, stats: bool) -> None:
        self._fits = not reader.engine.capabilities.counts_only
        kind = pa.int64() if self._fits else pa.string()
        super().__init__(reader, settings, stats, [("count", kind), ("complete", pa.bool_())])

    def rows(self, batch: Instances, answers: Answers) -> tuple[pa.Table, RowSums]:
        """Return the output rows of a batch, and their sums."""
        facts, counts = batch.facts(), counts_of(batch, answers, self._settings)
        if self._fits:
            counts = list(map(_within_64_bits, counts))
        known = [None if each is None else count for each, count in zip(facts, counts, strict=True)]
        exact = [None if each is None else each.count for each in known]
        own = [
            pa.array(exact, pa.int64()) if self._fits else pa.array(map(_text, exact), pa.string()),
            pa.array([each and each.complete for each in known], pa.bool_()),
        ]
        messages, status = [each.message for each in counts], [_status(each) for each in known]
        return self._table(batch, answers, own, messages, status)


class CoverTable(_InstanceTable):
    """The output table of first covers: the names of their options, in the order of options.

    A solved grid is one name, its text.
    """

    def __init__(self, reader: InstanceReader, settings: SearchSettings, stats: bool) -> None:
        own = [
            ("cover", pa.list_(pa.string())),
            ("status", pa.string()),
            ("n_solutions", pa.int64()),
        ]
        super().__init__(reader, settings, stats, own)

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


def _names_of(reading: Reading, cover: npt.NDArray[np.uint32]) -> list[str]:
    """Return the names of the options of a cover, as `CoverRenderer` sorts them."""
    problem = reading.problem
    if not isinstance(problem, GridProblem):
        return list(map(problem.option_name, sorted(cover.tolist())))
    notation = reading.notation or usual_notation(problem.n_digits)
    grids = problem.grids(Stacks.from_lists([cover.tolist()]))
    names: list[str] = notation.decode(grids, np.ones(1, np.bool_)).to_pylist()
    return names


@dataclass(frozen=True)
class RowCount:
    """The count of an instance, and why it is not complete."""

    count: int | None
    complete: bool
    message: str | None


def _within_64_bits(each: RowCount) -> RowCount:
    """Return a count, or a message with it if it has more bits."""
    if each.count is None or each.count < 2**63:
        return each
    found = f"{each.count} solutions{'' if each.complete else ' or more'}"
    why = f"{found}, too many for 64 bits; --engine memo writes counts as text"
    return RowCount(None, False, why if each.message is None else f"{each.message}; {why}")


def counts_of(batch: Instances, answers: Answers, settings: SearchSettings) -> list[RowCount]:
    """Return the count of each instance; a message says why it is not complete."""
    limit = settings.limit or UNLIMITED
    found = []
    for row, count in enumerate(answers.counts):
        why = batch.faults.get(row)
        if settings.limit is not None and count >= limit:
            why = f"has {counted(limit, 'solution')} or more"
        elif row in answers.unfinished:
            why = _why_unfinished(answers, row, settings)
        wanted = int(count) if settings.limit is None else min(int(count), limit)
        found.append(RowCount(wanted, why is None, why))
    return found


def _why_unfinished(answers: Answers, row: int, settings: SearchSettings) -> str:
    """Return why the search of a row failed or stopped."""
    if reason := answers.unfinished[row]:
        return reason
    nodes = int(answers.nodes[row])
    if settings.node_limit is not None and nodes >= settings.node_limit:
        return f"stopped after {counted(settings.node_limit, 'node')}"
    return f"stopped after {settings.time_limit} s"


def _status(count: RowCount | None) -> Status:
    if count is None:
        return Status.INVALID
    if not count.complete:
        return Status.UNFINISHED
    return (Status.UNSOLVABLE, Status.UNIQUE, Status.MULTIPLE)[min(count.count or 0, 2)]


def _text(count: int | None) -> str | None:
    return None if count is None else str(count)
