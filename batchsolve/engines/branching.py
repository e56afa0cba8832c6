"""Branching rules: handicaps of items, which are added to their numbers of options.

The branch item is the first of those with the fewest options (MRV). A rule changes this order: an
item with two options or more seems to have as many more as its handicap. An item with one option or
none comes first under every rule but ``first``, which takes the first item, whatever it has.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

import numpy as np
import numpy.typing as npt

from batchsolve.problems.exact_cover import ExactCover
from batchsolve.settings import FIRST

ENOUGH = 0
"""The place, among the handicaps, of the number of options at which the choice ends."""

_SHARP_NAMES = "[#]*"


def is_sharp(problem: ExactCover, rule: str) -> npt.NDArray[np.bool_]:
    """Return, for each primary item, whether ``sharp`` or ``sharp:ITEMS`` prefers it.

    Examples
    --------
    >>> is_sharp(ExactCover.from_options([["#a", "b"]]), "sharp").tolist()
    [True, False]
    """
    pattern = rule.partition(":")[2] or _SHARP_NAMES
    names = map(problem.item_name, range(problem.n_primary))
    return np.array([fnmatchcase(name, pattern) for name in names], np.bool_)


def handicaps_of(problem: ExactCover, rule: str) -> npt.NDArray[np.uint32]:
    """Return the handicaps of the items, counted from 1, under a rule.

    The number at place `ENOUGH` is 1, or the largest under ``first``.

    Parameters
    ----------
    problem : ExactCover
    rule : str
        As `batchsolve.settings.checked_branch` takes it; empty for ``mrv``.

    Returns
    -------
    ndarray of uint32, shape (n_items + 1,)
    """
    handicaps = np.zeros(problem.n_items + 1, np.uint32)
    handicaps[ENOUGH] = 2**32 - 1 if rule == FIRST else 1
    if rule not in ("", FIRST):
        handicaps[1 : problem.n_primary + 1] = ~is_sharp(problem, rule) * problem.n_options
    return handicaps
