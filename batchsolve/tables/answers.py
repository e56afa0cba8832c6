"""The output table of a corpus: the input columns, then the columns of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
import pyarrow as pa

from batchsolve.arrays import Bools, Bytes, Ints
from batchsolve.problems.answers import STATUS_NAMES, Answers, Status
from batchsolve.problems.notation import MINUS_ONE, Notation, numbers
from batchsolve.tables.blocks import is_list, is_number, is_text, storage_of
from batchsolve.tables.reader import Batch, Reader
from batchsolve.tables.shapes import Grids, Rows, Shape, forms_of_shape

STATUS_TEXTS = pa.array(STATUS_NAMES)


@dataclass(frozen=True, eq=False)
class RowSums:
    """The sums of some consecutive rows of a corpus.

    Attributes
    ----------
    tally : ndarray of int64, shape (number of `Status`,)
        Rows of each status.
    disagree : int
        Rows whose given solution is wrong.
    nodes : int
        Nodes visited.
    first_invalid : (int, str) or None
        The first invalid row, counted from 0, and its fault.
    levels : ndarray of int64, optional
        Rows whose hardest technique is each of `batchsolve.rating.techniques.NAMES`.
    """

    tally: Ints
    disagree: int
    nodes: int
    first_invalid: tuple[int, str] | None
    levels: Ints | None = None

    @classmethod
    def of(
        cls,
        status: Bytes,
        messages: Mapping[int, str | None],
        answers: Answers,
        disagree: int = 0,
        levels: Ints | None = None,
    ) -> RowSums:
        """Return the sums of rows of some statuses."""
        invalid = np.flatnonzero(status == Status.INVALID)[:1].tolist()
        first = (invalid[0], str(messages[invalid[0]])) if invalid else None
        tally = np.bincount(status, minlength=len(Status))
        return cls(tally, disagree, int(answers.nodes.sum()), first, levels)


def grid_type(kind: pa.DataType, n_digits: int) -> pa.DataType:
    """Return the type of a column of grids beside puzzles: their own, if it can hold grids; text.

    Lists of numbers or texts can, of all cells or of rows.
    """
    sizes, leaf = [], storage_of(kind)
    while is_list(leaf):
        sizes.append(leaf.list_size if pa.types.is_fixed_size_list(leaf) else None)
        leaf = leaf.value_type
    shape = {1: (n_digits**2,), 2: (n_digits, n_digits)}.get(len(sizes), ())
    fits = all(size in (None, wanted) for size, wanted in zip(sizes, shape, strict=False))
    return kind if shape and fits and (is_number(leaf) or is_text(leaf)) else pa.string()


def grid_column(kind: pa.DataType, notation: Notation, grids: Bytes, where: Bools) -> pa.Array:
    """Return a column of a `grid_type` with the grids where `where` is true, else null."""
    if is_text(kind):
        return notation.decode(grids, where)
    storage, names = storage_of(kind), notation.names
    is_flat, leaf = not is_list(storage.value_type), storage
    while is_list(leaf):
        leaf = leaf.value_type
    symbols = pa.array([notation.blank, *names])
    if not is_text(leaf):
        usual = MINUS_ONE if "0" in names else "0"
        blank = {".": None, MINUS_ONE: MINUS_ONE}.get(notation.blank, usual)
        symbols = pa.array([blank, *names]).cast(leaf)
    digits = np.zeros((len(where), grids.shape[1]), np.uint8)
    digits[where] = grids
    column, n_rows = symbols.take(pa.array(digits.reshape(-1))), grids.shape[1]
    if not is_flat:
        n_rows = notation.n_digits
        column = pa.FixedSizeListArray.from_arrays(column, n_rows)
    column = pa.FixedSizeListArray.from_arrays(column, n_rows, mask=pa.array(~where))
    column = column.cast(storage)
    return column if storage is kind else kind.wrap_array(column)


class AnswerTable:
    """The output table: the input columns of rows, then the columns of their answers.

    The names of its columns are those of `with_new_columns`.

    Parameters
    ----------
    reader : Reader
        The reader of the rows.
    limit : int
        The limit of solutions.
    stats : bool
        Add the columns ``nodes`` and ``seconds``.
    canonical : bool
        Add the column ``canonical``.
    as_digits : bool
        Write solutions as lists of digits, whatever the form of the puzzles.

    Attributes
    ----------
    reader : Reader
    schema : pyarrow.Schema
        The columns of the output.
    has_times : bool
        True if rows hold times, and so differ from run to run.

    Raises
    ------
    ProblemError
        If `canonical` is set and grids of this shape have no canonical form.
    """

    def __init__(
        self,
        reader: Reader,
        limit: int,
        stats: bool,
        canonical: bool = False,
        as_digits: bool = False,
    ) -> None:
        if canonical:
            reader.main.check_has_forms()
        self.reader, self._as_digits, self._limit = reader, as_digits, limit
        self.has_times, self._canonical = stats, canonical
        kind = self._type_of(reader.main)
        new = [("solution", kind), ("status", pa.string()), ("n_solutions", pa.int64())]
        new += [] if reader.solution_column is None else [("agrees", pa.bool_())]
        new += [("message", pa.string())]
        new += [("canonical", kind)] if canonical else []
        new += [("nodes", pa.int64()), ("seconds", pa.float64())] if stats else []
        self.schema = with_new_columns(reader.schema, new)

    def _type_of(self, shape: Shape) -> pa.DataType:
        if self._as_digits:
            return pa.list_(pa.uint8(), shape.problem.n_cells)
        kind = self.reader.schema.field(self.reader.column).type
        return grid_type(kind, shape.notation.n_digits)

    def _column(self, shape: Shape, grids: Bytes, where: Bools) -> pa.Array:
        """Return a column of grids of a shape."""
        notation = numbers(shape.problem.n_digits) if self._as_digits else shape.notation
        return grid_column(self._type_of(shape), notation, grids, where)

    def rows(self, batch: Batch, answers: Answers) -> tuple[pa.Table, RowSums]:
        """Return the output rows of a batch, and their sums."""
        n = len(answers)
        status, messages = batch.statuses(answers, self._limit)
        solved = [solved_among(grids, answers) for grids in batch.grids]
        solutions = [
            self._column(grids.shape, digits, has)
            for grids, (digits, _, has) in zip(batch.grids, solved, strict=True)
        ]
        columns: list[Any] = [
            _in_order(solutions, batch),
            STATUS_TEXTS.take(pa.array(status)),
            pa.array(np.minimum(answers.counts, self._limit), mask=status == Status.INVALID),
        ]
        disagree, forms = 0, []
        if self.reader.solution_column is not None:
            agrees, known = _agreement(batch, status, solved)
            columns.append(pa.array(agrees, mask=~known))
            disagree = int(np.count_nonzero(known & ~agrees))
        if self._canonical:
            # a search that failed has not checked the clues
            valid = (status != Status.INVALID) & (batch.first_clashes() < 0)
            each = [self._forms(grids, valid[grids.rows], messages) for grids in batch.grids]
            forms = [_in_order(each, batch)]
        columns += [sparse_text(messages, n), *forms]
        if self.has_times:
            columns += [pa.array(answers.nodes), pa.array(np.round(answers.seconds, 6))]
        table = pa.Table.from_arrays([*batch.table.columns, *columns], schema=self.schema)
        return table, RowSums.of(status, messages, answers, disagree)

    def _forms(self, grids: Grids, is_valid: Bools, messages: dict[int, str | None]) -> pa.Array:
        """Return the canonical forms of valid puzzles; add a message if one was not found."""
        found, forms, why = forms_of_shape(grids, np.flatnonzero(is_valid))
        has_form = np.zeros(len(is_valid), np.bool_)
        has_form[found] = True
        for row in grids.rows[is_valid & ~has_form].tolist():
            messages[row] = messages.get(row) or why
        return self._column(grids.shape, forms, has_form)


Solved = tuple[Bytes, Rows, Bools]
"""The digits of the solutions of the grids of one shape; the places of the solved grids among all
of the shape; and True for each grid with a solution."""


def solved_among(grids: Grids, answers: Answers) -> Solved:
    """Return the solutions of grids among the answers to the rows of a block."""
    has_all = len(grids.rows) == len(answers)
    covers = answers.covers if has_all else answers.covers_where(grids.holds)
    places = grids.places(covers.roots)
    has = np.zeros(len(grids.rows), np.bool_)
    has[places] = True
    return grids.shape.problem.digits_of(covers), places, has


def _in_order(columns: list[pa.Array], batch: Batch) -> pa.Array:
    """Join columns of the grids of each shape, in the order of the rows of the block."""
    if len(columns) == 1:
        return columns[0]
    places = np.empty(len(batch), np.int64)
    places[np.concatenate([grids.rows for grids in batch.grids])] = np.arange(len(batch))
    return pa.concat_arrays(columns).take(pa.array(places))


def _agreement(batch: Batch, status: Bytes, solved: list[Solved]) -> tuple[Bools, Bools]:
    """Check given solutions against the unique solution, or else the rules and the clues.

    Returns
    -------
    agrees, known : ndarray of bool, shape (n,)
        True where the given solution is right; true where a valid row has a given solution.
    """
    agrees, has_given = np.zeros((2, len(status)), np.bool_)
    for grids, (digits, places, _) in zip(batch.grids, solved, strict=True):
        assert grids.given is not None
        given = grids.given if len(places) == len(grids.rows) else grids.given[places]
        agrees[grids.rows[places]] = (digits == given).all(axis=1)
        has_given[grids.rows] = grids.has_given
    others = np.flatnonzero(status != Status.UNIQUE)
    if others.size:
        agrees[others] = batch.check(others)
        agrees &= status != Status.UNSOLVABLE
    return agrees, has_given & (status != Status.INVALID)


def sparse_text(values: dict[int, str | None], n: int) -> pa.Array:
    """Return a column of n texts, null where `values` has none."""
    if not values:
        return pa.nulls(n, pa.string())
    places = np.full(n, -1)
    places[list(values)] = np.arange(len(values))
    texts = pa.array(values.values(), pa.string())
    return texts.take(pa.array(places, mask=places < 0))


def with_new_columns(given: pa.Schema, new: Sequence[tuple[str, pa.DataType]]) -> pa.Schema:
    """Return the schema of an output: the input columns, then new ones.

    An input column with the name of a new column is renamed to ``given_…``, or to ``given_…_2``
    (``_3`` and so on) if that name is taken.

    Examples
    --------
    >>> given = pa.schema([("nodes", pa.string()), ("id", pa.string())])
    >>> with_new_columns(given, [("nodes", pa.int64())]).names
    ['given_nodes', 'id', 'nodes']
    """
    answers = {name for name, _ in new}
    taken = answers.union(given.names)
    names: list[str] = []
    for name in given.names:
        kept = name
        if name in answers:
            others = chain([""], (f"_{k}" for k in count(2)))
            wanted = (f"given_{name}{each}" for each in others)
            kept = next(free for free in wanted if free not in taken)
        taken.add(kept)
        names.append(kept)
    renamed = [column.with_name(name) for column, name in zip(given, names, strict=True)]
    return pa.schema([*renamed, *(pa.field(name, kind) for name, kind in new)])
