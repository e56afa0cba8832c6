"""Symmetries of grids: canonical forms of puzzles, and random images of them.

The group of a grid of rows, columns and boxes relabels digits, permutes bands, rows within a band,
stacks and columns within a stack, and transposes if boxes are square; other boxes would change
their shape. Grids with other rules have the turns and reflections that map every rule to one, and
the relabellings that every relation, cage and mark allows.

The *canonical form* of a puzzle of rows, columns and boxes is the lexicographic minimum of its
orbit, read row by row with blank cells as 0. Sudoku programs call it the *row-minlex* form. Two
puzzles are the same up to symmetry if and only if their forms are equal.

The core finds forms (``core/symmetry/forms.h``; it refuses grids whose clues clash) and draws
images (``core/symmetry/images.h``). Each row has a stream of random numbers, seeded by the seed and
the number of the row; images are exactly uniform.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from math import factorial
from typing import NamedTuple

import numpy as np

from batchsolve.core import native
from batchsolve.core.arrays import Bools, Bytes, Ints, Shorts
from batchsolve.errors import InWords, ProblemError, counted
from batchsolve.problems.exact_cover import check_kind
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.rules import Rules, are_allowed
from batchsolve.problems.sudoku import Sudoku

MOST_STATES = 1 << 17
"""States of a search at a time; 9×9 puzzles, even the most symmetric ones, need some hundreds."""

NO_SYMMETRY = "only grids of rows, columns and boxes, without other rules, have canonical forms"
NO_ROOM = f"no canonical form: more than {MOST_STATES:,} ways to begin one are equally good"

_MOST_ORDERS = factorial(8)  # of stacks, all of which are tried
_MOST_SYMMETRIES = 2**63 - 1  # which are counted


@dataclass(frozen=True, eq=False, repr=False)
class CanonicalForms(InWords):
    """The canonical forms of puzzles.

    Attributes
    ----------
    grids : ndarray of uint8, shape (n, N²)
        The forms; 0 everywhere where none was found.
    symmetries : ndarray of int64, shape (n,)
        The order of the stabiliser of each puzzle: ways to permute rows and columns, and to
        transpose, that change nothing but labels. It is 0 where no form was found, because too many
        ways to begin one were equally good.
    transposed : ndarray of bool, shape (n,)
        True where the puzzle is transposed first.
    rows, columns : ndarray of uint8, shape (n, N)
        The row, or column, of the puzzle (perhaps transposed) at each row, or column, of the form.
        Digits are relabelled in the order in which they come there.

    Examples
    --------
    >>> forms = forms_of(Sudoku(2, 2), np.array([[0, 0, 3, 0] + [0] * 12], np.uint8))
    >>> forms.grids[0].tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    >>> forms.symmetries.tolist()
    [8]
    """

    grids: Bytes
    symmetries: Ints
    transposed: Bools
    rows: Bytes
    columns: Bytes

    @classmethod
    def joined(cls, parts: list[CanonicalForms]) -> CanonicalForms:
        """Return the forms of one part after another."""
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def __str__(self) -> str:
        n = int(np.count_nonzero(self.found))
        missing = "" if n == len(self) else f", {len(self) - n:,} of them not found"
        return f"{counted(len(self), 'canonical form')}{missing}"

    def __len__(self) -> int:
        return len(self.grids)

    @property
    def found(self) -> Bools:
        """True where a form was found, shape (n,)."""
        return self.symmetries > 0


def check_shape(problem: GridProblem) -> tuple[int, int]:
    """Check that grids of this shape have canonical forms here; return the shape of the boxes.

    Raises
    ------
    ProblemError
        If there are too many orders of stacks to try, or symmetries to count.

    Examples
    --------
    >>> check_shape(Sudoku(5, 5))
    Traceback (most recent call last):
        ...
    batchsolve.errors.ProblemError: grids of 25×25 with boxes of 5×5 have too many symmetries for \
canonical forms; those up to 20×20 with boxes of 4×5 have forms
    """
    if isinstance(problem, GridProblem) and not isinstance(problem, Sudoku):
        raise ProblemError(NO_SYMMETRY)
    check_kind(problem, Sudoku)
    height, width, n = problem.box_rows, problem.box_columns, problem.n_digits
    stacks, bands = n // width, n // height
    symmetries = factorial(stacks) * factorial(width) ** stacks * (1 + (height == width))
    symmetries *= factorial(bands) * factorial(height) ** bands
    if factorial(stacks) > _MOST_ORDERS or symmetries > _MOST_SYMMETRIES:
        raise ProblemError(
            f"grids of {n}×{n} with boxes of {height}×{width} have too many symmetries for "
            f"canonical forms; those up to 20×20 with boxes of 4×5 have forms"
        )
    return height, width


def forms_of(problem: GridProblem, grids: Bytes) -> CanonicalForms:
    """Return the forms of grids, whose clues must not clash; see `batchsolve.canonical_forms`."""
    result = native.canonical_forms(grids, *problem.box, MOST_STATES, problem.box == (3, 3))
    forms, symmetries, transposed, rows, columns = result
    return CanonicalForms(forms, symmetries, transposed.view(np.bool_), rows, columns)


# ---- images --------------------------------------------------------------------------------

NO_LABELS, REVERSED, ALL_LABELS = range(3)
"""The ways to relabel digits: none, reversing their order, or all of them."""


class GridGroup(NamedTuple):
    """The symmetries of grids with the same rules, as the core takes them.

    Attributes
    ----------
    n_digits, box_rows, box_columns : int
        The box is 0 × 0 unless bands and stacks are permuted.
    labels : int
        `NO_LABELS`, `REVERSED` or `ALL_LABELS`.
    turns : ndarray of uint16, shape (n, n_cells)
        Without a box: the cell whose digit each cell gets, for every permutation of the cells.
    moves : ndarray of uint16, shape (g, n_cells)
        Permutations of the cells that generate all of them.
    relabels : ndarray of uint8, shape (h, n_digits + 1)
        Relabellings that generate all of them.
    """

    n_digits: int
    box_rows: int
    box_columns: int
    labels: int
    turns: Shorts
    moves: Shorts
    relabels: Bytes

    @property
    def is_trivial(self) -> bool:
        """True if the identity is the only symmetry."""
        return not self.moves.size and not self.relabels.size


Images = tuple[Ints, Bytes, Bytes]
"""The sources, puzzles and solutions of images, puzzle by puzzle; see `images_of`."""


def images_of(
    group: GridGroup,
    puzzles: Bytes,
    solutions: Bytes,
    numbers: Ints,
    n: int,
    seed: int,
    original: bool = False,
) -> Images:
    """Draw different images of puzzles.

    Parameters
    ----------
    group : GridGroup
    puzzles : ndarray of uint8, shape (m, n_cells)
        Digits, 0 for blank cells.
    solutions : ndarray of uint8, shape (m, n_cells) or (m, 0)
        Grids that are moved as their puzzles are.
    numbers : ndarray of int64, shape (m,)
        The numbers of the rows; with the seed, each chooses a stream of random numbers.
    n : int
        Images of each; fewer if its orbit has fewer.
    seed : int
        From 0 to 2¹²⁸ - 1.
    original : bool
        Put the puzzle itself before its images, which then differ from it, too.

    Returns
    -------
    sources : ndarray of int64, shape (n_images,)
        The puzzle of each image, counted from 0.
    puzzles : ndarray of uint8, shape (n_images, n_cells)
    solutions : ndarray of uint8, shape (n_images, n_cells) or (n_images, 0)

    Examples
    --------
    >>> group = group_of(Sudoku(2, 2))
    >>> blank, clue = np.zeros((2, 1, 16), np.uint8)
    >>> clue[0, 5] = 1
    >>> [len(images_of(group, grid, grid, np.array([1]), 100, 7)[0]) for grid in (blank, clue)]
    [1, 64]
    """
    keys = np.array([seed & 2**64 - 1, seed >> 64], np.uint64)
    most = n + original
    images: Images = native.draw_images(puzzles, solutions, numbers, keys, most, original, group)
    return images


# ---- groups ---------------------------------------------------------------------------------


def group_of(problem: GridProblem) -> GridGroup:
    """Return the symmetries that keep the rules of a problem.

    Examples
    --------
    >>> from batchsolve.problems.rules import named, plain
    >>> from batchsolve.problems.sudoku import Variant
    >>> diagonals, steps = (named(rule, 3, 3) for rule in ("x", "nonconsecutive"))
    >>> group = group_of(Variant(plain(3, 3) + diagonals))
    >>> len(group.turns), group.labels == ALL_LABELS
    (8, True)
    >>> group_of(Variant(plain(3, 3) + steps)).labels == REVERSED
    True
    """
    if isinstance(problem, Sudoku):
        return _group_of_boxes(problem.box_rows, problem.box_columns)
    return _group_of_rules(problem.rules)


def check_symmetric(problem: GridProblem) -> None:
    """Raise `ProblemError` if the identity is the only symmetry of a problem."""
    if group_of(problem).is_trivial:
        raise ProblemError(
            "no symmetry but the identity keeps these rules, so that every image of a puzzle would "
            "be the puzzle itself"
        )


@lru_cache(maxsize=16)
def _group_of_boxes(box_rows: int, box_columns: int) -> GridGroup:
    n = box_rows * box_columns
    cells, moves = np.arange(n * n, dtype=np.uint16).reshape(n, n), []
    for axis, size in ((0, box_rows), (1, box_columns)):
        for begin in range(0, n, size):
            lines = [_swapped(n, line, 1) for line in range(begin, begin + size - 1)]
            if begin + size < n:
                lines.append(_swapped(n, begin, size))
            moves += [cells.take(order, axis) for order in lines]
    if box_rows == box_columns:
        moves.append(cells.T)
    generators = np.array(moves, np.uint16).reshape(len(moves), n * n)
    turns, relabels = np.empty((0, n * n), np.uint16), _relabels(n, ALL_LABELS)
    return GridGroup(n, box_rows, box_columns, ALL_LABELS, turns, generators, relabels)


def _swapped(n: int, begin: int, size: int) -> list[int]:
    """Return the numbers below n with two runs of `size`, one behind the other, exchanged."""
    middle, end = begin + size, begin + 2 * size
    return [*range(begin), *range(middle, end), *range(begin, middle), *range(end, n)]


def _relabels(n: int, kind: int) -> Bytes:
    """Return the relabellings that generate those of a kind."""
    if kind == ALL_LABELS:
        orders = [_swapped(n + 1, digit, 1) for digit in range(1, n)]
    else:
        orders = [[0, *range(n, 0, -1)]] if kind == REVERSED and n > 1 else []
    return np.array(orders, np.uint8).reshape(len(orders), n + 1)


@lru_cache(maxsize=256)
def _group_of_rules(rules: Rules) -> GridGroup:
    """Return the group of turns, reflections and relabellings that keep the rules."""
    drawn = np.full(rules.extent, -1)  # the cell at each place, -1 outside
    drawn[tuple(zip(*rules.places, strict=True))] = np.arange(rules.n_cells)
    named, turns = rules.as_sets(), []
    for turned in (np.rot90(board, k) for board in (drawn, drawn.T) for k in range(4)):
        if np.array_equal(turned < 0, drawn < 0):
            cells = turned[drawn >= 0].tolist()
            turns += [cells] if rules.as_sets(cells) == named else []
    distinct = np.unique(np.array(turns, np.uint16), axis=0)
    kind = _label_kind(rules)
    is_identity = (distinct == np.arange(rules.n_cells)).all(axis=1)
    moves, relabels = distinct[~is_identity], _relabels(rules.n_digits, kind)
    return GridGroup(rules.n_digits, 0, 0, kind, distinct, moves, relabels)


def _label_kind(rules: Rules) -> int:
    """Return the kind of relabellings that all pairs, cages and marks allow."""
    if rules.cages or rules.marks:
        return NO_LABELS
    relations = {relation for _, _, relation in rules.pairs} - {"equal"}
    if not relations:
        return ALL_LABELS
    tables = [are_allowed(rules.n_digits, relation) for relation in relations]
    keeps = all(np.array_equal(allowed, allowed[::-1, ::-1]) for allowed in tables)
    return REVERSED if keeps else NO_LABELS
