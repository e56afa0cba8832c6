"""Random streams that stay the same on every machine and with every version of NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


class Draws:
    """The random permutations for one row of a dataset.

    They sort the raw output of a bit generator, because that is the only random output that NumPy
    keeps the same from version to version.

    Parameters
    ----------
    *seed : int
        The seed of this stream; each stream has another.

    Examples
    --------
    >>> Draws(1, 2).permutation(5).tolist() == Draws(1, 2).permutation(5).tolist()
    True
    """

    def __init__(self, *seed: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(seed))

    def permutation(self, n: int) -> npt.NDArray[np.intp]:
        """Return 0 .. n - 1 in random order."""
        return np.argsort(self._bits.random_raw(n), kind="stable")
