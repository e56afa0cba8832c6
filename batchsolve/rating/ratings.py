"""Ratings of many 9×9 puzzles, and the steps that solve one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve import rehearsals
from batchsolve.errors import InputError
from batchsolve.kernels import NotAtHandError, at_hand
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.sudoku import Sudoku
from batchsolve.rating.board import CELLS, DIGITS, N_CELLS, N_OPEN, SIZE, N
from batchsolve.rating.chains import CHAIN_STEP_SIZE, CHAINS_OF_STEP, room_for_chains, use_chains
from batchsolve.rating.guesses import guess_grids
from batchsolve.rating.in_numpy import levels_by_singles
from batchsolve.rating.ladder import DIGITS_OF_STEP, climb
from batchsolve.rating.techniques import GUESS, INVALID, NAMES, NONE, RATINGS, UNRATED
from batchsolve.rating.uniqueness import FIRST_PATTERN, FOUND_SIZE, find_patterns, use_patterns
from batchsolve.settings import UNLIMITED

SINGLES = ("last cell", "hidden single in box", "hidden single in line")
"""Techniques of the search; naked singles may come after direct techniques, which it has not."""

_CELLS = [f"r{cell // N + 1}c{cell % N + 1}" for cell in range(N_CELLS)]
_DIGITS = [[digit + 1 for digit in range(N) if bits >> digit & 1] for bits in range(1 << N)]
_BY_SINGLES = np.zeros(INVALID + 1, np.bool_)
_BY_SINGLES[[*(NAMES.index(name) for name in SINGLES), NONE]] = True
RATING = "rating"
"""The name of a rehearsal."""
_NO_GRIDS = np.empty((0, N_CELLS), np.uint8)
Note = Callable[[int, Any, Any, Any], None]


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
        for, or is more than `MOST_BACKDOOR`.

    Examples
    --------
    >>> grid = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
    >>> ratings = ratings_of(np.array([[int(c) for c in grid.replace(".", "0")]], np.uint8))
    >>> ratings.techniques.tolist(), ratings.values.tolist(), ratings.backtracks.tolist()
    (['hidden single in box'], [1.2], [0])
    """

    levels: npt.NDArray[np.uint8]
    backtracks: npt.NDArray[np.int64]
    backdoors: npt.NDArray[np.int8]

    @property
    def techniques(self) -> npt.NDArray[np.str_]:
        """The names of the hardest techniques."""
        return np.array(NAMES)[self.levels]

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The ratings of Sudoku Explainer; a lower bound for puzzles that need a guess."""
        return RATINGS[self.levels]


def has_ratings(problem: GridProblem) -> bool:
    """Return True for 9×9 grids of rows, columns and boxes."""
    return isinstance(problem, Sudoku) and (problem.box_rows, problem.box_columns) == (3, 3)


def ratings_of(
    grids: npt.NDArray[np.uint8], backdoor: bool = False, uniqueness: bool = False
) -> Ratings:
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
        If the array has another form, or a puzzle has not one solution.
    """
    if grids.ndim != 2 or grids.shape[1] != N_CELLS or grids.dtype != np.uint8:
        raise InputError(
            f"grids to rate are uint8 of shape (n, 81), not {grids.dtype} of {grids.shape}"
        )
    n = len(grids)
    levels = _levels_of(grids, uniqueness)
    backtracks, backdoors = np.zeros(n, np.int64), np.full(n, 0 if backdoor else -1, np.int8)
    rest = np.flatnonzero(~_BY_SINGLES[levels])
    if rest.size:
        searched = backtracks[rest], backdoors[rest]
        guess_grids(grids[rest], searched[0], searched[1] if backdoor else None)
        backtracks[rest], backdoors[rest] = searched
    if (backtracks < 0).any():
        raise InputError(f"grid {int(np.argmax(backtracks < 0))} has not one solution")
    return Ratings(levels, backtracks, backdoors)


def _levels_of(grids: npt.NDArray[np.uint8], uniqueness: bool) -> npt.NDArray[np.uint8]:
    """Return the level of each grid; NumPy finds those of singles before the ladder is compiled."""
    levels = np.full(len(grids), UNRATED, np.uint8)
    if not compile_ahead():
        levels = levels_by_singles(grids)
        if (levels == UNRATED).any() or rehearsals.state_of(RATING) != "running":
            _rehearse_ladder()  # here, while the other process compiles the chains
    rest = np.flatnonzero(levels == UNRATED)
    if rest.size:
        levels[rest] = climbed(grids[rest], uniqueness)[1]
    return levels


def compile_ahead() -> bool:
    """Tell whether the ladder is at hand; if not, begin to compile the kernels elsewhere."""
    try:
        with at_hand():
            _rehearse_ladder()
    except NotAtHandError:
        rehearsals.begin(RATING, _rehearse)
        rehearsals.prefer(RATING)
        return False
    return True


def _rehearse() -> None:
    boards, used, rows = np.empty((0, SIZE), np.uint16), np.empty(0, np.uint8), np.arange(0)
    use_chains(boards, used, rows, used, room_for_chains(), None)
    _rehearse_ladder()


def _rehearse_ladder() -> None:
    climbed(_NO_GRIDS)
    guess_grids(_NO_GRIDS, np.empty(0, np.int64), None)


def climbed(
    grids: npt.NDArray[np.uint8], uniqueness: bool = False, note: Note | None = None
) -> tuple[Any, Any]:
    """Solve grids by the easiest techniques that help, as far as the ladder goes.

    Parameters
    ----------
    grids : ndarray of uint8, shape (n, 81)
    uniqueness : bool
        Use patterns that assume a unique solution.
    note : callable, optional
        Called with the level of each step, its pattern, and the board before and after it; then
        there is one grid, and a step uses a technique once.

    Returns
    -------
    (ndarray of uint16, shape (n, `SIZE`), ndarray of uint8, shape (n,))
        The last boards, and the levels of the hardest techniques.
    """
    n, least = len(grids), FIRST_PATTERN if uniqueness else GUESS
    boards, levels = np.empty((n, SIZE), np.uint16), np.full(n, UNRATED, np.uint8)
    ends, used, rows = np.full(n, least, np.uint8), np.empty(n, np.uint8), np.arange(n)
    step = None if note is None else np.zeros(CHAIN_STEP_SIZE, np.uint16)
    room: Any = None
    climb(grids, boards, levels, rows, ends, used, 0, step)
    while rows.size:
        before = None if note is None else boards[0].copy()
        climb(grids, boards, levels, rows, ends, used, UNLIMITED if note is None else 1, step)
        stuck = rows[used[rows] == GUESS]
        if uniqueness and stuck.size:
            stuck = _use_patterns(grids, boards, levels, stuck, ends, used, step)
        if stuck.size:
            room = room or room_for_chains()
            use_chains(boards, levels, stuck, used, room, step)
        rows = rows[(used[rows] < GUESS) & (boards[rows, N_OPEN] > 0)]
        if note is not None and used[0] < GUESS:
            note(used[0], step, before, boards[0])
    return boards, levels


def _use_patterns(
    grids: Any, boards: Any, levels: Any, stuck: Any, ends: Any, used: Any, step: Any
) -> Any:
    """Use patterns, or a technique that is easier; return the rows where neither helps."""
    found, room = np.empty((len(grids), FOUND_SIZE), np.int64), np.empty((6, FOUND_SIZE), np.int64)
    find_patterns(boards, stuck, ends, found, room)
    climb(grids, boards, levels, stuck, ends, used, 1, step)
    stuck = stuck[used[stuck] == GUESS]
    by_patterns = stuck[ends[stuck] < GUESS]
    use_patterns(boards, by_patterns, found, step)
    used[by_patterns] = ends[by_patterns]
    known = np.where(levels[by_patterns] == NONE, 0, levels[by_patterns])
    levels[by_patterns] = np.maximum(known, ends[by_patterns])
    ends[:] = FIRST_PATTERN
    return stuck[used[stuck] == GUESS]


def steps_text(grid: npt.NDArray[np.uint8], uniqueness: bool = False) -> str:
    """Return the steps that solve a 9×9 puzzle as JSON, each by the easiest technique that helps.

    A step has a ``technique``, its ``rating``, the ``cells`` and ``digits`` of the pattern, and
    what it ``fills`` or ``removes``: digits by cell. Chains have their ``chains``, too: lists of
    nodes such as ``r1c1=5`` and ``r1c2!=5``, each of which follows from the one before, and in
    those of Nishio from all before. Steps end where a guess is needed.

    Examples
    --------
    >>> grid = np.array([0, *range(2, 10), *[0] * 72], np.uint8)
    >>> steps = json.loads(steps_text(grid))
    >>> steps[0]["technique"], steps[0]["fills"]
    ('last cell', {'r1c1': 1})
    """
    steps: list[dict[str, Any]] = []
    grids = np.ascontiguousarray(grid, np.uint8).reshape(1, N_CELLS)
    climbed(grids, uniqueness, lambda *each: steps.append(_step(*each)))
    return json.dumps(steps, separators=(",", ":"))


def _step(level: int, pattern: Any, before: Any, after: Any) -> dict[str, Any]:
    """Return one step, from the boards before and after it."""
    step: dict[str, Any] = {
        "technique": NAMES[level],
        "rating": float(RATINGS[level]),
        "cells": [_CELLS[cell] for cell in np.flatnonzero(pattern[:N_CELLS]).tolist()],
        "digits": _DIGITS[pattern[DIGITS_OF_STEP]],
    }
    chains = _chains(pattern[CHAINS_OF_STEP:].tolist())
    if chains:
        step["chains"] = chains
    filled = np.flatnonzero(after[DIGITS:N_OPEN] != before[DIGITS:N_OPEN]).tolist()
    if filled:
        step["fills"] = {_CELLS[cell]: int(after[DIGITS + cell]) for cell in filled}
    else:
        removed = before[CELLS:N_CELLS] & ~after[CELLS:N_CELLS]
        cells = np.flatnonzero(removed).tolist()
        step["removes"] = {_CELLS[cell]: _DIGITS[removed[cell]] for cell in cells}
    return step


def _chains(nodes: list[int]) -> list[list[str]]:
    """Return the chains of a step in words; 0 is behind each."""
    chains: list[list[str]] = [[]]
    for node, following in pairwise([*nodes, 0]):
        if node:
            cell, digit = divmod(node - 1 >> 1, N)
            chains[-1].append(f"{_CELLS[cell]}{'=' if node - 1 & 1 else '!='}{digit + 1}")
        elif following:
            chains.append([])
    return chains if chains[0] else []
