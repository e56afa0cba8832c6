"""Columns of cages and sums, read by the core where each label of a cage is one character."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from batchsolve.arrays import Bools, Ints
from batchsolve.core import native
from batchsolve.problems.notation import buffers
from batchsolve.problems.row_rules import NO_SUM, Given


def read_cages(cages: pa.Array, sums: pa.Array, n: int, rows: Ints) -> tuple[Given, Bools]:
    """Return the cages of some rows of a block; True for each row that is read.

    Other rows are written in another way, or wrong: `batchsolve.formats.grid_rules.read_cages`
    tells.

    Parameters
    ----------
    cages, sums : pyarrow.Array
        The texts of all rows of the block.
    n : int
        Number of digits.
    rows : ndarray of int64
        The rows to read; all others get no cages.

    Examples
    --------
    >>> given, is_read = read_cages(pa.array(["AA.B"]), pa.array(["A=3 B=?"]), 2, np.arange(1))
    >>> given.totals[0], given.cells_of.tolist(), given.cage_cells.tolist()
    (np.int64(3), [0, 2, 3], [0, 1, 3])
    """
    is_wanted = np.zeros(len(cages), np.uint8)
    is_wanted[rows] = 1
    found = native.read_cages(*buffers(cages), *buffers(sums), n, is_wanted, NO_SUM)
    cages_of, totals, cells_of, cells, is_read = found
    given = Given.blank(len(cages))._replace(
        cages_of=cages_of, totals=totals, cells_of=cells_of, cage_cells=cells
    )
    return given, is_read.view(np.bool_)
