"""Small exact cover problems that an engine searches side by side, in one call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from batchsolve.arrays import Ints
from batchsolve.errors import ProblemError
from batchsolve.problems.exact_cover import ExactCover

MOST_ENTRIES = 10_000  # of a small problem; above, a call for each costs little beside its search


@dataclass(frozen=True, eq=False)
class SmallProblems:
    """A problem for each of some rows; the root of a stack is the row of its problem.

    Attributes
    ----------
    problems : sequence of ExactCover
        All of them have colours, or none has.
    rows : ndarray of int64, shape (n,)
        Their rows, ascending.
    """

    problems: list[ExactCover]
    rows: Ints

    @property
    def n_entries(self) -> int:
        """Number of entries of the largest problem."""
        return max(problem.n_entries for problem in self.problems)

    def of_row(self, row: int) -> ExactCover:
        """Return the problem of a row."""
        return self.problems[int(self.places_of(np.array([row]))[0])]

    def of_rows(self, rows: Ints) -> SmallProblems:
        """Return the problems of some rows, which are ascending."""
        places = self.places_of(rows).tolist()
        return SmallProblems([self.problems[place] for place in places], rows)

    def places_of(self, roots: Ints) -> Ints:
        """Return the places of the problems of some roots.

        Raises
        ------
        ProblemError
            If a root is not among the rows.
        """
        places = np.searchsorted(self.rows, roots)
        known = self.rows[np.minimum(places, self.rows.size - 1)] == roots
        if not known.all():
            raise ProblemError(f"row {roots[~known][0]} has no problem")
        return places.astype(np.int64, copy=False)
