"""The keys that identify repeated puzzles of a corpus, and the output table without them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.errors import InputError
from batchsolve.symmetry.canonical import check_shape, first_clashes, forms_of
from batchsolve.tables.keys import UNSEEN, GridHash
from batchsolve.tables.reader import Batch, Reader

FIRST = pa.field("first", pa.string())


@dataclass(frozen=True, eq=False)
class RowKeys:
    """The keys of the rows of a block.

    Attributes
    ----------
    keys : ndarray of uint64, shape (n, 2)
    counted : ndarray of bool, shape (n,)
        Valid rows; the keys of the others are meaningless.
    n_undecided : int
        Number of valid rows whose wanted canonical form was not found; their keys are those of the
        puzzles themselves.
    """

    keys: npt.NDArray[np.uint64]
    counted: npt.NDArray[np.bool_]
    n_undecided: int


@dataclass(frozen=True, eq=False)
class Keyed:
    """The computation of keys of rows.

    Attributes
    ----------
    reader : Reader
    hash : GridHash
    up_to_symmetry : bool
        Give all puzzles of an orbit the same key.

    Raises
    ------
    ProblemError
        If grids of this shape have no canonical form.
    """

    reader: Reader
    hash: GridHash
    up_to_symmetry: bool

    def __post_init__(self) -> None:
        if self.up_to_symmetry:
            check_shape(self.reader.problem)

    def keys(self, batch: Batch) -> RowKeys:
        """Return the keys of some rows."""
        puzzles = batch.puzzles
        counted = first_clashes(self.reader.problem, puzzles) < 0
        counted[list(batch.faults)] = False
        n_undecided = 0
        if self.up_to_symmetry:
            rows = np.flatnonzero(counted)
            forms = forms_of(self.reader.problem, puzzles[rows])
            # a puzzle whose form was not found is not the form of another puzzle
            puzzles[rows[forms.found]] = forms.grids[forms.found]
            n_undecided = int(np.count_nonzero(~forms.found))
        return RowKeys(self.hash.keys(puzzles), counted, n_undecided)


@dataclass
class Places:
    """The files and row numbers of rows that are counted through several files.

    Examples
    --------
    >>> places = Places()
    >>> places.begin_file("a.csv", 0), places.begin_file("b.csv", 10)
    (None, None)
    >>> places.name_of(9), places.name_of(10)
    ('a.csv#10', 'b.csv#1')
    """

    names: list[str] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)

    def begin_file(self, name: str, first: int) -> None:
        """Add a file, with the number of its first row."""
        self.names.append(name)
        self.firsts.append(first)

    def name_of(self, row: int) -> str:
        """Return the name of a row for `batchsolve show`."""
        k = bisect_right(self.firsts, row) - 1
        return f"{self.names[k]}#{row - self.firsts[k] + 1}"


@dataclass(frozen=True, eq=False)
class Decision:
    """The first occurrences of the puzzles of a block.

    Attributes
    ----------
    first : ndarray of int64, shape (n,)
        The first row with the same puzzle, or `UNSEEN` if that is the row itself.
    names : dict of int to str
        The names of these rows, if rows are marked.
    """

    first: npt.NDArray[np.int64]
    names: dict[int, str]


class KeptRows:
    """The output table without repeated rows, or with marks on them.

    Parameters
    ----------
    reader : Reader
    marked : bool
        Keep all rows, and add the column ``first`` that names the first row with the same puzzle.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns of the output.

    Raises
    ------
    InputError
        If the input has a column ``first``.
    """

    def __init__(self, reader: Reader, marked: bool) -> None:
        self._marked = marked
        if marked and FIRST.name in reader.schema.names:
            raise InputError(
                f"the input has a column {FIRST.name} already; rename it, or leave out `mark`"
            )
        self.schema = reader.schema.append(FIRST) if marked else reader.schema

    def table(self, batch: Batch, decision: Decision) -> pa.Table:
        """Return the output rows of a batch."""
        if not self._marked:
            kept = decision.first == UNSEEN
            return batch.table if kept.all() else batch.table.filter(pa.array(kept))
        names = [decision.names.get(row) for row in decision.first.tolist()]
        return batch.table.append_column(FIRST, pa.array(names, pa.string()))
