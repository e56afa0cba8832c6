"""The output table of rated puzzles: the input columns, then the columns of their ratings."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from batchsolve.errors import ProblemError
from batchsolve.problems.answers import Answers, Status
from batchsolve.rating.ratings import has_ratings, ratings_of, steps_text
from batchsolve.rating.techniques import NAMES
from batchsolve.settings import PROVES_UNIQUENESS
from batchsolve.tables.answers import STATUS_TEXTS, RowSums, sparse_text, with_new_columns
from batchsolve.tables.reader import Batch, Reader
from batchsolve.tables.shapes import Shape

NOT_RATED = "only 9×9 grids of rows, columns and boxes, without other rules, are rated"

RATED_DIGITS = 9
_NAMES = pa.array(NAMES)


class RatedTable:
    """The output table: the input columns of rows, then the columns of their ratings.

    Parameters
    ----------
    reader : Reader
        The reader of the rows.
    backdoor : bool
        Add the column ``backdoor``.
    steps : bool
        Add the column ``steps``.
    uniqueness : bool
        Use patterns that assume a unique solution.

    Attributes
    ----------
    reader : Reader
    schema : pyarrow.Schema
    has_times : bool
        False: the rows of a block are always the same.

    Raises
    ------
    ProblemError
        If no row can be a plain 9×9 grid.
    """

    has_times = False

    def __init__(self, reader: Reader, backdoor: bool, steps: bool, uniqueness: bool) -> None:
        if not _may_be_rated(reader):
            raise ProblemError(NOT_RATED)
        self.reader, self._backdoor, self._steps = reader, backdoor, steps
        self._uniqueness = uniqueness
        new = [("technique", pa.string()), ("rating", pa.float64()), ("backtracks", pa.int64())]
        new += [("backdoor", pa.int64())] if backdoor else []
        new += [("steps", pa.string())] if steps else []
        new += [("status", pa.string()), ("message", pa.string())]
        self.schema = with_new_columns(reader.schema, new)

    def rows(self, batch: Batch, answers: Answers) -> tuple[pa.Table, RowSums]:
        """Return the output rows of a batch, and their sums, with the rows of each technique."""
        n = len(answers)
        status, messages = batch.statuses(answers, PROVES_UNIQUENESS)
        rated, puzzles = np.zeros(n, np.bool_), np.zeros((n, 81), np.uint8)
        notations = np.empty(n, object)
        for grids in batch.grids:
            some = grids.rows[status[grids.rows] == Status.UNIQUE]
            if _is_rated(grids.shape):
                rated[some] = True
                puzzles[some] = grids.puzzles_of(some)
                notations[some] = grids.shape.notation
            else:
                messages |= dict.fromkeys(some.tolist(), NOT_RATED)
        puzzles = puzzles[rated]
        found = ratings_of(puzzles, self._backdoor, self._uniqueness)
        at = pa.array(np.cumsum(rated) - 1, mask=~rated)
        columns = [
            _NAMES.take(pa.array(found.levels)),
            pa.array(found.values),
            pa.array(found.backtracks),
        ]
        if self._backdoor:
            columns.append(pa.array(found.backdoors.astype(np.int64), mask=found.backdoors < 0))
        if self._steps:
            texts = (
                steps_text(puzzle, self._uniqueness, notation.names)
                for puzzle, notation in zip(puzzles, notations[rated], strict=True)
            )
            columns.append(pa.array(texts, pa.string()))
        columns = [column.take(at) for column in columns]
        columns += [STATUS_TEXTS.take(pa.array(status)), sparse_text(messages, n)]
        table = pa.Table.from_arrays([*batch.table.columns, *columns], schema=self.schema)
        levels = np.bincount(found.levels, minlength=len(NAMES))
        return table, RowSums.of(status, messages, answers, levels=levels)


def _may_be_rated(reader: Reader) -> bool:
    """Return True if rows are rated, or grids of other shapes among the first rows may be."""
    shapes, names = reader.shapes, reader.main.rules.names
    are_mixed = not shapes.is_one and not names
    has_others = shapes.has_boxes or any(form.n_digits == RATED_DIGITS for form in shapes.known)
    return _is_rated(reader.main) or (are_mixed and has_others)


def _is_rated(shape: Shape) -> bool:
    return not shape.rules.names and has_ratings(shape.problem)
