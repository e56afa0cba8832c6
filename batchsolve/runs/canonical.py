"""Canonical forms of puzzles and of completed grids, from arrays and from texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from batchsolve.core.arrays import Bytes
from batchsolve.core.interrupts import check_interrupt
from batchsolve.errors import InputError, is_table, named_errors
from batchsolve.formats.drawings import read_grid
from batchsolve.problems.grid_symmetries import NO_ROOM, CanonicalForms, check_shape, forms_of
from batchsolve.problems.grids import GridProblem, as_grids_array
from batchsolve.problems.sudoku import usual_sudoku
from batchsolve.runs.progress import ROW_BAR, OnProgress, shown, sums_told
from batchsolve.settings.arguments import Box, checked_box
from batchsolve.tables.columns import as_text
from batchsolve.tables.frames import text_column

AT_ONCE = 10_000  # grids, which take some tenths of a second


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
    if problem is not None and box is not None:
        raise InputError("the problem has its box; name one of them")
    if isinstance(grids, Iterable) and not hasattr(grids, "__getitem__"):
        grids = list(grids)
    texts = None if is_table(grids) or isinstance(grids, str) else text_column(grids)
    if texts:
        if problem is not None:
            box = check_shape(problem)
        problem, grids = _of_texts(as_text(texts, "grids").to_pylist(), box, alphabet, blank)
    elif alphabet is not None or blank is not None:
        raise InputError("`alphabet` and `blank` are of texts; digits of an array are 1 to N")
    if problem is None:
        problem = usual_sudoku(as_grids_array(grids), checked_box(box))
    check_shape(problem)
    array = problem.as_grids(grids)
    clashes = problem.first_clashes(array)
    for k in np.flatnonzero(clashes >= 0)[:1].tolist():
        what = problem.explain_clash(problem.stack(array[k]).tolist(), int(clashes[k]))
        raise InputError(f"grid {k}: {what}")
    parts = []
    with shown(on_progress, ROW_BAR) as show:
        tell = sums_told(show, len(array))
        for begin in range(0, max(1, len(array)), AT_ONCE):
            check_interrupt()
            parts.append(forms_of(problem, array[begin : begin + AT_ONCE]))
            tell(begin + len(parts[-1]))
    return CanonicalForms.joined(parts)


def _of_texts(
    texts: Iterable[str], box: Box | None, alphabet: str | None, blank: str | None
) -> tuple[GridProblem, Bytes]:
    """Return the problem of texts of one size, and their grids."""
    problems, grids = [], []
    for k, text in enumerate(texts):
        with named_errors(f"grid {k}"):
            problem, _, grid = read_grid(text, box, alphabet, blank=blank)
        problems.append(problem)
        grids.append(grid)
        if problem != problems[0]:
            raise InputError(f"grid {k}: {problem}, and grid 0: {problems[0]}; give one size")
    return problems[0], np.array(grids)


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
