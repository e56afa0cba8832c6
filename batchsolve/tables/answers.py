"""The output table of a corpus: the input columns with the answers beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.search.collector import STATUS_NAMES, Sheet, Status
from batchsolve.tables.corpus import Batch, Corpus


class AnswerTable:
    """Puts the answers of a sheet beside the input columns of its rows.

    An input column whose name an answer needs is kept as ``given_…``.

    Parameters
    ----------
    corpus : Corpus
    limit : int
        Solutions that were looked for.
    stats : bool
        Whether to add the columns ``nodes`` and ``seconds``.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns of the output.
    """

    def __init__(self, corpus: Corpus, limit: int, stats: bool) -> None:
        self._corpus = corpus
        self._limit = limit
        self._stats = stats
        new: list[tuple[str, pa.DataType]] = [
            ("solution", pa.string()),
            ("status", pa.string()),
            ("n_solutions", pa.int64()),
        ]
        if corpus.solution_column is not None:
            new.append(("agrees", pa.bool_()))
        new.append(("message", pa.string()))
        if stats:
            new += [("nodes", pa.int64()), ("seconds", pa.float64())]
        answers = {name for name, _ in new}
        taken = answers.union(corpus.columns)
        names: list[str] = []
        for name in corpus.columns:
            kept = name
            while kept in answers or (kept != name and kept in taken):
                kept = f"given_{kept}"
            taken.add(kept)
            names.append(kept)
        given = [column.with_name(name) for column, name in zip(corpus.schema, names, strict=True)]
        self.schema = pa.schema([*given, *(pa.field(name, kind) for name, kind in new)])

    def rows(self, batch: Batch, sheet: Sheet) -> tuple[pa.Table, tuple[int, str] | None]:
        """Return the output rows, and the first invalid row with what is wrong, if any."""
        problem = self._corpus.problem
        status = sheet.status(self._limit)
        status[list(batch.faults)] = Status.INVALID
        grids = np.zeros((len(sheet), problem.n_cells), np.uint8)
        for found in sheet.solutions():
            problem.write_grids(found, grids)
        has_solution = grids[:, 0] != 0
        messages = dict(sheet.lost) | self._clashes(batch, sheet) | batch.faults
        counted = pa.array(np.minimum(sheet.counts, self._limit), mask=status == Status.INVALID)
        columns: list[Any] = [
            self._corpus.notation.decode(grids[has_solution], has_solution),
            pa.array(STATUS_NAMES).take(pa.array(status)),
            counted,
        ]
        if batch.given is not None:
            columns.append(self._agreement(batch, status, grids))
        notes = [messages.get(k) for k in range(len(sheet))] if messages else None
        columns.append(pa.array(notes, pa.string()) if notes else pa.nulls(len(sheet), pa.string()))
        if self._stats:
            columns += [pa.array(sheet.nodes), pa.array(np.round(sheet.seconds, 6))]
        table = pa.Table.from_arrays([*batch.table.columns, *columns], schema=self.schema)
        invalid = np.flatnonzero(status == Status.INVALID)
        first = int(invalid[0]) if invalid.size else None
        return table, None if first is None else (first, messages[first])

    def _clashes(self, batch: Batch, sheet: Sheet) -> dict[int, str]:
        problem = self._corpus.problem
        return {
            row: problem.explain_clash(
                problem.stack(batch.puzzles[row]).tolist(), int(sheet.clash[row])
            )
            for row in np.flatnonzero(sheet.clash >= 0).tolist()
        }

    def _agreement(
        self,
        batch: Batch,
        status: npt.NDArray[np.uint8],
        grids: npt.NDArray[np.uint8],
    ) -> pa.Array:
        """Compare given solutions: with the only one, or else with the rules and the clues."""
        assert batch.given is not None
        assert batch.has_given is not None
        agrees = self._corpus.problem.check(batch.puzzles, batch.given)
        same = (grids == batch.given).all(axis=1)
        agrees = np.where(status == Status.UNIQUE, same, agrees)
        agrees &= status != Status.UNSOLVABLE
        return pa.array(agrees, mask=~batch.has_given | (status == Status.INVALID))
