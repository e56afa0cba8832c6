"""Short names for the types of arrays, and lists that are joined in one array.

*Joined lists* are one array of the entries of all, and their *begins*: list k has the entries from
``begins[k]`` to ``begins[k + 1] - 1``. So the begins are one more than the lists. Stacks, options
and the rules of rows are joined lists.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Shorts = npt.NDArray[np.uint16]
UInts = npt.NDArray[np.uint32]
Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def is_masked(values: Any) -> bool:
    """Return whether values are an array of `numpy.ma`, which takes 10 ms to import, with masks."""
    return hasattr(values, "filled") and np.ma.is_masked(values)


def begins_of(lengths: npt.ArrayLike) -> Ints:
    """Return the begins of joined lists of these lengths.

    Examples
    --------
    >>> begins_of([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    """
    sizes = np.asarray(lengths, np.int64)
    begins = np.zeros(sizes.size + 1, np.int64)
    sizes.cumsum(out=begins[1:])
    return begins


def lists_at(begins: Ints, which: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Return the begins of some joined lists, joined anew, and the places of their entries.

    Examples
    --------
    >>> begins, places = lists_at(np.array([0, 2, 2, 3]), np.array([2, 0]))
    >>> begins.tolist(), places.tolist()
    ([0, 1, 3], [2, 0, 1])
    """
    firsts = begins[which]
    lengths = begins[1:][which] - firsts
    new = begins_of(lengths)
    return new, np.arange(new[-1]) + np.repeat(firsts - new[:-1], lengths)


def owners_of(begins: Ints) -> Ints:
    """Return the list that has each entry of joined lists.

    Examples
    --------
    >>> owners_of(np.array([0, 2, 2, 3])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(begins.size - 1), np.diff(begins))
