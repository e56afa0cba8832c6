"""Covers as rows of a table: how solutions of a problem are written down."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.notation import Notation, usual_notation
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku

GRID, OPTIONS = "grid", "options"


def covers_table(problem: ExactCover, covers: Stacks, notation: Notation | None = None) -> pa.Table:
    """Return covers as a table of one column, sorted.

    Parameters
    ----------
    problem : ExactCover
    covers : Stacks
        Complete covers, in any order.
    notation : Notation, optional
        How grids are written; the usual alphabet by default.

    Returns
    -------
    pyarrow.Table
        For a `Sudoku` the column ``grid``, text. Otherwise the column ``options``, lists of the
        names of options in ascending order of their numbers.
    """
    if isinstance(problem, Sudoku):
        written = notation or usual_notation(problem.n_digits)
        column = written.decode(problem.grids(covers), np.ones(len(covers), np.bool_))
        return pa.table({GRID: column.take(pc.sort_indices(column))})
    rows = sorted(sorted(cover.tolist()) for cover in covers)
    names = [[problem.option_name(o) for o in row] for row in rows]
    return pa.table({OPTIONS: pa.array(names, pa.list_(pa.string()))})
