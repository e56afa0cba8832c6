"""Ratings of many 9×9 puzzles, and the steps that solve one.

Techniques are in the order and have the ratings of Sudoku Explainer 1.2.1.
Sudoku Explainer (N. Juillerat, 2006) takes the easiest technique that helps at each step, and rates
a puzzle by the hardest that it took. Every technique here still helps, or is no longer needed, when
there are fewer candidates. So the rating is the least level up to which techniques solve the
puzzle: it does not depend on the order of steps, and equivalent puzzles have the same.

A *direct* technique fills a cell and keeps no eliminations. Direct claiming (1.9) is left out: it
is never needed, because the cell that it fills is a hidden single of its box, or direct pointing
(1.7) fills it. Aligned exclusion (6.2, 7.5) is left out, and the ladder ends before dynamic chains
(8.5). Patterns that assume a unique solution (4.5 to 6.0) are used if asked for; the argument above
does not hold for them, see ``core/rate/uniqueness.h``.

The table is that of the native core, ``core/rate/techniques.h``. A *level* is a place in it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.core import native
from batchsolve.core.arrays import Bytes, Floats, Ints
from batchsolve.core.interrupts import check_interrupt
from batchsolve.errors import InputError
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.sudoku import Sudoku

_LEVELS = native.levels_of_ratings()

NAMES: tuple[str, ...] = tuple(name for name, _ in _LEVELS)
"""The names of levels, the easiest first: those of techniques, ``guess`` and ``none``.

Chains and patterns come once for each rating.
"""

RATINGS = np.array([rating for _, rating in _LEVELS])
"""The ratings of levels; for a guess, a lower bound."""

SCALE = RATINGS[: NAMES.index("none")]
"""The ratings that puzzles with one solution can have, in ascending order."""

N_CELLS = 81

_CELLS = [f"r{cell // 9 + 1}c{cell % 9 + 1}" for cell in range(N_CELLS)]
_AT_ONCE = 256  # grids between two looks for an interrupt


@dataclass(frozen=True, eq=False)
class Ratings:
    """The ratings of n puzzles.

    Attributes
    ----------
    levels : ndarray of uint8, shape (n,)
        The level of the hardest technique that each needs: a place in `NAMES`.
    backtracks : ndarray of int64, shape (n,)
        Dead ends of a search that proves that there is one solution.
    backdoors : ndarray of int8, shape (n,)
        The least number of cells to fill so that singles solve the rest; -1 if it was not looked
        for, or is more than 3.

    Examples
    --------
    >>> grid = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
    >>> ratings = ratings_of(np.array([[int(c) for c in grid.replace(".", "0")]], np.uint8))
    >>> ratings.techniques.tolist(), ratings.values.tolist(), ratings.backtracks.tolist()
    (['hidden single in box'], [1.2], [0])
    """

    levels: Bytes
    backtracks: Ints
    backdoors: npt.NDArray[np.int8]

    @property
    def techniques(self) -> npt.NDArray[np.str_]:
        """The names of the hardest techniques."""
        return np.array(NAMES)[self.levels]

    @property
    def values(self) -> Floats:
        """The ratings of Sudoku Explainer; a lower bound for puzzles that need a guess."""
        return RATINGS[self.levels]


def has_ratings(problem: GridProblem) -> bool:
    """Return True for 9×9 grids of rows, columns and boxes."""
    return isinstance(problem, Sudoku) and (problem.box_rows, problem.box_columns) == (3, 3)


def ratings_of(grids: Bytes, backdoor: bool = False, uniqueness: bool = False) -> Ratings:
    """Return the ratings of 9×9 puzzles that have one solution each.

    Parameters
    ----------
    grids : ndarray of uint8, shape (n, 81)
        Digits, 0 for blank cells.
    backdoor : bool
        Look for backdoors, too.
    uniqueness : bool
        Use patterns that assume a unique solution, which is proved here.

    Raises
    ------
    InputError
        If a puzzle does not have one solution.
    """
    n = len(grids)
    found = Ratings(np.empty(n, np.uint8), np.empty(n, np.int64), np.empty(n, np.int8))
    for begin in range(0, n, _AT_ONCE):
        check_interrupt()
        some = slice(begin, begin + _AT_ONCE)
        rated = native.rate_grids(grids[some], uniqueness, backdoor)
        found.levels[some], found.backtracks[some], found.backdoors[some] = rated
    if (found.backtracks < 0).any():
        raise InputError(
            f"grid {int(np.argmax(found.backtracks < 0))} does not have exactly one solution"
        )
    return found


def steps_text(grid: Bytes, uniqueness: bool = False, names: Sequence[str] = "123456789") -> str:
    """Return the steps that solve a 9×9 puzzle as JSON, each by the easiest technique that helps.

    A step has a ``technique``, its ``rating``, the ``cells`` and ``digits`` of the pattern, and
    what it ``fills`` or ``removes``: digits by cell. Chains have their ``chains``, too: lists of
    nodes such as ``r1c1=5`` and ``r1c2!=5``, each of which follows from the one before, and in
    those of Nishio from all before. Steps end where a guess is needed. The digits are called as
    `names` says, and those that are numbers are numbers in JSON.

    Examples
    --------
    >>> grid = np.array([0, *range(2, 10), *[0] * 72], np.uint8)
    >>> steps = json.loads(steps_text(grid))
    >>> steps[0]["technique"], steps[0]["fills"]
    ('last cell', {'r1c1': 1})
    """
    called = [None, *(int(name) if name.isdigit() else name for name in names)]
    steps = [_step(called, each) for each in native.steps_of(grid, uniqueness)]
    return json.dumps(steps, separators=(",", ":"))


def _step(called: list[int | str | None], step_of_core: Any) -> dict[str, Any]:
    """Return one step in words; see ``core/rate/step.h``."""
    level, cells, digits, chains, filled, removed = step_of_core
    step: dict[str, Any] = {
        "technique": NAMES[level],
        "rating": float(RATINGS[level]),
        "cells": [_CELLS[cell] for cell in cells],
        "digits": [called[digit] for digit in digits],
    }
    if chains:
        step["chains"] = [
            [f"{_CELLS[cell]}{'=' if on else '!='}{called[digit]}" for cell, digit, on in chain]
            for chain in chains
        ]
    if filled:
        step["fills"] = {_CELLS[cell]: called[digit] for cell, digit in filled}
    else:
        by_cell = groupby(removed, key=lambda each: each[0])
        step["removes"] = {
            _CELLS[cell]: [called[digit] for _, digit in some] for cell, some in by_cell
        }
    return step
