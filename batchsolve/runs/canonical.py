"""Canonical forms of puzzles and of completed grids, from arrays and from texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from batchsolve.core.interrupts import check_interrupt
from batchsolve.errors import InputError
from batchsolve.formats.drawings import read_grid
from batchsolve.problems.grid_symmetries import NO_ROOM, CanonicalForms, check_shape, forms_of
from batchsolve.problems.grids import GridProblem
from batchsolve.runs.progress import ROW_BAR, OnProgress, shown, sums_told
from batchsolve.runs.solve import rows_of
from batchsolve.settings import FileSettings
from batchsolve.settings.arguments import Box, checked_box


def canonical_forms(
    grids: Any,
    problem: GridProblem | None = None,
    *,
    box: Box | None = None,
    alphabet: str | None = None,
    blank: str | None = None,
    on_progress: OnProgress = None,
) -> CanonicalForms:
    """Return the canonical forms of puzzles or of completed grids.

    Parameters
    ----------
    grids : array_like of int, shape (n, N²) or (n, N, N); or n texts
        Digits 1 .. N, 0 for blank cells; or a list, an array or a series of puzzles of one size, as
        `canonical` takes one.
    problem : Sudoku, optional
        The shape of the boxes; by default the usual one for N, or `box`.
    box : (int, int), optional
        As in `canonical`, in place of a problem.
    alphabet, blank : str, optional
        As in `canonical`, for texts.
    on_progress : callable or True, optional
        See `Progress`.

    Returns
    -------
    CanonicalForms

    Raises
    ------
    InputError
        If clues of a grid clash, or texts are of several sizes.
    ProblemError
        If grids of this shape have too many symmetries; see `check_shape`.

    Notes
    -----
    Completed 9×9 grids are looked up in a table; the rest is a search, row by row.

    Examples
    --------
    >>> from batchsolve.problems.sudoku import Sudoku
    >>> grids = [[2, 1, 3, 4, 3, 4, 2, 1, 1, 2, 4, 3, 4, 3, 1, 2]]
    >>> forms = canonical_forms(grids, Sudoku(2, 2))
    >>> forms.grids[0].tolist(), forms.symmetries.tolist()
    ([1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 4, 3, 4, 3, 2, 1], [32])
    >>> canonical_forms(["1.....2..3.....4", "4.....3..1.....2"]).grids.tolist() == [
    ...     [0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0]
    ... ] * 2
    True
    """
    if isinstance(grids, Iterable) and not hasattr(grids, "__getitem__"):
        grids = list(grids)
    if problem is not None:
        check_shape(problem)
    written = FileSettings("puzzle", alphabet=alphabet, blank=blank, box=checked_box(box))
    problem, _, blocks, read, n = rows_of(grids, problem, written)
    check_shape(problem)
    parts, done = [forms_of(problem, np.empty((0, problem.n_cells), np.uint8))], 0
    with shown(on_progress, ROW_BAR) as show:
        tell = sums_told(show, n)
        for block in blocks:
            check_interrupt()
            batch = read(block)
            if faults := batch.invalid_rows():
                raise InputError(f"grid {done + min(faults)}: {faults[min(faults)]}")
            digits = np.empty((len(batch), problem.n_cells), np.uint8)
            for some in batch.grids:
                digits[some.rows] = some.puzzles
            parts.append(forms_of(problem, digits))
            done += len(batch)
            tell(done)
    return CanonicalForms.joined(parts)


def canonical(
    text: str, *, box: Box | None = None, alphabet: str | None = None, blank: str | None = None
) -> str:
    """Return the canonical form of one puzzle, in its alphabet and in one line.

    Digits of one character are not separated; `solve_table` keeps the separators of a puzzle.

    Parameters
    ----------
    text : str
        The puzzle, as characters or numbers, or as a drawing.
    box : (int, int), optional
        Rows and columns of a box; by default the usual ones for the size of the puzzle.
    alphabet : str, optional
        The alphabet, where the text leaves it open.
    blank : str, optional
        The characters of blank cells; by default ``.0*_-`` without those that are digits.

    Raises
    ------
    InputError
        If the text is not a puzzle, its clues clash, or too many ways to begin a form are equally
        good.
    ProblemError
        If grids of this shape have too many symmetries; see `check_shape`.

    Examples
    --------
    >>> canonical("1.....2..3.....4"), canonical("4.....3..1.....2")
    ('...1.2....3.4...', '...1.2....3.4...')
    """
    problem, notation, grid = read_grid(text, box, alphabet, blank=blank)
    forms = canonical_forms(grid[None], problem)
    if not forms.found[0]:
        raise InputError(NO_ROOM)
    return notation.write(forms.grids[0])
