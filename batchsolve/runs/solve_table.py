"""Solving a table in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypedDict, TypeVar, Unpack, overload

import pyarrow as pa

from batchsolve.problems.answers import Answers
from batchsolve.runs.solve import answered
from batchsolve.settings import AUTO, SearchSettings, whole_number
from batchsolve.tables.answers import AnswerTable
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.frames import arrow_table, with_columns_of
from batchsolve.tables.reader import Batch
from batchsolve.tables.sources import TableSource
from batchsolve.workers.pool import Pool


class DataFrame(Protocol):
    """A data frame of pandas or polars."""

    @property
    def columns(self) -> Any:
        """Its columns, or their names."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        ...


Frame = TypeVar("Frame", bound=DataFrame)


class TableFields(TypedDict, total=False):
    """The settings of `solve_table`."""

    column: str | None
    solution_column: str | None
    box: tuple[int, int] | None
    alphabet: str | None
    blank: str | None
    stats: bool
    canonical: bool
    limit: int
    jobs: int | None
    backend: str
    address: str | None
    engine: str
    node_limit: int | None


@overload
def solve_table(table: Frame, **settings: Unpack[TableFields]) -> Frame: ...


@overload
def solve_table(table: Any, **settings: Unpack[TableFields]) -> pa.Table: ...


def solve_table(
    table: Any,
    *,
    column: str | None = None,
    solution_column: str | None = None,
    box: tuple[int, int] | None = None,
    alphabet: str | None = None,
    blank: str | None = None,
    stats: bool = False,
    canonical: bool = False,
    limit: int = 2,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    engine: str = AUTO,
    node_limit: int | None = None,
) -> Any:
    """Solve a column of puzzles; return the table with columns of answers.

    Parameters
    ----------
    table : pyarrow.Table, pandas or polars data frame, or anything with ``__arrow_c_stream__``
    column : str, optional
        The puzzle column; by default found by its name or its shape.
    solution_column : str, optional
        The column of given solutions; by default found by its name.
    box : (int, int), optional
        Rows and columns of a box; by default the usual ones for the size of the puzzles.
    alphabet : str, optional
        Symbols of the digits; by default found from the whole column.
    blank : str, optional
        The characters of blank cells; by default those of ``.0*_-`` that are not digits.
    stats : bool
        Add the columns ``nodes`` and ``seconds``.
    canonical : bool
        Add the column ``canonical``, the canonical form of each puzzle.
    limit : int
        As in `solve_file`.
    jobs : int, optional
        As in `solve_file`.
    backend : str
        As in `solve_file`.
    address : str, optional
        As in `solve_file`.
    engine : str
        As in `solve_file`.
    node_limit : int, optional
        As in `solve_file`.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        A table of the same library, or else of Arrow: all columns of `table`, then ``solution``,
        ``status``, ``n_solutions``, ``agrees`` (if solutions are given) and ``message``. In pandas,
        integers and booleans are nullable: ``Int64`` and ``boolean``. If the puzzles are lists, so
        are the solutions.

    Raises
    ------
    InputError
        If the argument is not a table, or its puzzle column cannot be found.
    ProblemError
        If canonical forms are wanted of grids that are too large; see `canonical_forms`.

    Examples
    --------
    >>> table = pa.table({"id": [7, 8], "puzzle": ["1.....2..3.....4", "11.............."]})
    >>> solved = solve_table(table)
    >>> solved.column_names
    ['id', 'puzzle', 'solution', 'status', 'n_solutions', 'message']
    >>> solved["solution"].to_pylist(), solved["status"].to_pylist()
    (['1243342143122134', None], ['unique', 'invalid'])
    """
    limit = whole_number("limit", limit, 1)
    source = TableSource(arrow_table(table))
    corpus = Corpus([source], column, box, alphabet, blank, solution_column=solution_column)
    settings = SearchSettings(limit=limit, node_limit=node_limit, engine=engine)
    answers = AnswerTable(corpus.reader, limit, stats, canonical)
    with Pool(jobs, backend, address) as pool:
        parts = list(answered(corpus, _Tables(answers), settings, pool))
    return with_columns_of(pa.concat_tables([answers.schema.empty_table(), *parts]), table)


@dataclass(frozen=True, eq=False)
class _Tables:
    """A writer that adds columns of answers to the rows of a block."""

    answers: AnswerTable

    def write(self, batch: Batch, answers: Answers) -> pa.Table:
        return self.answers.rows(batch, answers)[0]
