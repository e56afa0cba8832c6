"""Many grids whose regions differ: a problem for each row, searched side by side."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.errors import InputError, ProblemError
from batchsolve.problems.rules import Rules, regions_of
from batchsolve.problems.variant import Variant


class Jigsaws(Variant):
    """The problems of grids that share all rules but their regions.

    As an exact cover problem it has the shared rules only. The root of a stack is the row whose
    regions hold, so a stack goes from task to task as stacks of one problem do.

    Parameters
    ----------
    rules : Rules
        The shared rules: rows, then columns, then others.
    regions : ndarray of uint8, shape (n, n_cells)
        The region of every cell of every row: 0 .. N - 1, each in N cells.

    Raises
    ------
    ProblemError
        If a region of some row does not have N cells.
    """

    def __init__(self, rules: Rules, regions: npt.NDArray[np.uint8]) -> None:
        super().__init__(rules)
        n = self.n_digits
        if regions.ndim != 2 or regions.shape[1] != n * n or rules.n_cells != n * n:
            raise ProblemError(f"regions must have shape (n, {n * n}), not {regions.shape}")
        sizes = (regions[:, None] == np.arange(n)[:, None]).sum(axis=2)
        if (sizes != n).any():
            row, region = map(int, np.argwhere(sizes != n)[0])
            raise ProblemError(
                f"row {row}: region {region} has {sizes[row, region]} cells; each region has {n}"
            )
        self.regions = np.ascontiguousarray(regions, np.uint8)

    def __repr__(self) -> str:
        return f"Jigsaws({self.n_cells} cells, {self.n_digits} digits, {len(self.regions)} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        return Jigsaws, (self.rules, self.regions)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the shared rules: what an engine prepares does not depend on regions."""
        return hashlib.sha256(f"jigsaws {super().fingerprint}".encode()).hexdigest()

    def at(self, roots: npt.NDArray[np.int64]) -> Jigsaws:
        """Return the problem of the grids with these roots; the roots are counted anew."""
        return Jigsaws(self.rules, self.regions[roots])

    def of_row(self, row: int) -> Variant:
        """Return the problem of a row."""
        regions = regions_of(self.regions[row].tolist(), self.n_digits)
        return Variant(self.rules + Rules(self.n_digits, self.rules.places, tuple(regions)))

    def first_clashes(self, grids: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """Return for each grid the position among its clues of the first that clashes, or -1."""
        if len(grids) != len(self.regions):
            raise InputError(f"{len(grids)} grids for the regions of {len(self.regions)}")
        return self._clashes(grids, self.regions)
