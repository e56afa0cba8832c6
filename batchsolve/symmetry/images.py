"""Random images of puzzles under the symmetries that keep their rules.

The group of a grid of rows, columns and boxes relabels digits, permutes bands, rows within a band,
stacks and columns within a stack, and transposes if boxes are square. Grids with other rules have
the turns and reflections that map every rule to one, and the relabellings that every relation, cage
and mark allows.

The random numbers of a row are a stream of its own, begun with the seed and the number of the row.
Permutations and images are exactly uniform.

`images_of` checks digits; the kernel takes its other indices from the group, which this module
makes.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from batchsolve.arrays import Bytes, Ints, Shorts
from batchsolve.errors import ProblemError
from batchsolve.kernels import helper, kernel
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.rules import RELATIONS, Cells, Rules
from batchsolve.problems.sudoku import Sudoku
from batchsolve.splitmix import GOLDEN, below, mixed, shuffle, stream_of

NO_LABELS, REVERSED, ALL_LABELS = range(3)
"""The ways to relabel digits: none, reversing their order, or all of them."""

_LOST_DRAWS = 16  # images drawn again, beside four for each found, before the orbit is closed


@dataclass(frozen=True, eq=False)
class GridGroup:
    """The symmetries of grids with the same rules.

    Attributes
    ----------
    n_digits : int
    box : (int, int)
        Rows and columns of a box, if bands and stacks are permuted, else (0, 0).
    turns : ndarray of uint16, shape (n, n_cells)
        Without a box: the cell whose digit each cell gets, for every permutation of the cells.
    labels : int
        `NO_LABELS`, `REVERSED` or `ALL_LABELS`.
    moves : ndarray of uint16, shape (g, n_cells)
        Permutations of the cells that generate all of them.
    relabels : ndarray of uint8, shape (h, n_digits + 1)
        Relabellings that generate all of them.
    """

    n_digits: int
    box: tuple[int, int]
    turns: Shorts
    labels: int
    moves: Shorts
    relabels: Bytes

    @property
    def is_trivial(self) -> bool:
        """True if the identity is the only symmetry."""
        return not self.moves.size and not self.relabels.size


class Images(NamedTuple):
    """Images of puzzles, those of a puzzle one after the other.

    Attributes
    ----------
    sources : ndarray of int64, shape (n_images,)
        The puzzle of each, counted from 0.
    puzzles : ndarray of uint8, shape (n_images, n_cells)
    solutions : ndarray of uint8, shape (n_images, n_cells) or (n_images, 0)
    """

    sources: Ints
    puzzles: Bytes
    solutions: Bytes


def images_of(
    group: GridGroup,
    puzzles: Bytes,
    solutions: Bytes,
    numbers: Ints,
    n: int,
    seed: int,
    original: bool = False,
) -> Images:
    """Draw images of puzzles, none of them twice.

    Parameters
    ----------
    group : GridGroup
    puzzles : ndarray of uint8, shape (m, n_cells)
        Digits, 0 for blank cells.
    solutions : ndarray of uint8, shape (m, n_cells) or (m, 0)
        Grids that are moved as their puzzles are, if there are any.
    numbers : ndarray of int64, shape (m,)
        The numbers of the rows, which choose their random numbers.
    n : int
        Images of each; fewer if its orbit has fewer.
    seed : int
        From 0 to 2¹²⁸ - 1.
    original : bool
        Put the puzzle itself before its images, which then differ from it, too.

    Examples
    --------
    >>> group = group_of(Sudoku(2, 2))
    >>> blank, clue = np.zeros((2, 1, 16), np.uint8)
    >>> clue[0, 5] = 1
    >>> [len(images_of(group, each, each, np.array([1]), 100, 7).sources) for each in (blank, clue)]
    [1, 64]
    """
    most_digit = max(puzzles.max(initial=0), solutions.max(initial=0))
    widths = puzzles.shape[1], solutions.shape[1]
    n_cells = group.moves.shape[1]
    if widths not in ((n_cells, n_cells), (n_cells, 0)) or most_digit > group.n_digits:
        raise ValueError(f"no grids of {n_cells} cells and {group.n_digits} digits")
    most = n + original
    drawn, solved = (np.empty((len(puzzles) * most, width), np.uint8) for width in widths)
    n_found = np.empty(len(puzzles), np.int64)
    words = np.array([seed & 2**64 - 1, seed >> 64], np.uint64)
    arrays = (*group.box, group.turns, group.labels, group.moves, group.relabels)
    grids = np.ascontiguousarray(puzzles), np.ascontiguousarray(solutions)
    _draw(*grids, numbers, words, most, original, arrays, drawn, solved, n_found)
    sources = np.repeat(np.arange(len(puzzles)), n_found)
    if len(sources) < len(drawn):
        is_found = (np.arange(most) < n_found[:, None]).reshape(-1)
        drawn, solved = drawn[is_found], solved[is_found]
    return Images(sources, drawn, solved)


@helper
def _shuffle_lines(state, size, groups, within, lines):
    """Permute groups of `size` lines, and the lines within each."""
    n = lines.size
    for k in range(n // size):
        groups[k] = k
    shuffle(state, 0, groups[: n // size])
    for k in range(n // size):
        for x in range(size):
            within[x] = x
        shuffle(state, 0, within[:size])
        for x in range(size):
            lines[k * size + x] = groups[k] * size + within[x]


@helper
def _move(grid, cells, labels, image):
    for cell in range(image.size):
        image[cell] = labels[grid[cells[cell]]]


@helper
def _slot_of(images, slots, image):
    """Return the slot of an image among those found, or the free one where it belongs."""
    key = np.uint64(0)
    for cell in range(image.size):
        key += np.uint64(image[cell]) * (np.uint64(2 * cell + 1) * GOLDEN)
    last = slots.size - 1
    slot = np.intp(mixed(key) & np.uint64(last))
    while slots[slot] >= 0:
        other, cell = images[slots[slot]], 0
        while cell < image.size and other[cell] == image[cell]:
            cell += 1
        if cell == image.size:
            break
        slot = (slot + 1) & last
    return slot


@helper
def _is_orbit(images, n_found, slots, moves, relabels, same_cells, same_labels, image):
    """Return True if no generator of the group makes another image of those found."""
    for k in range(n_found):
        for move in moves:
            _move(images[k], move, same_labels, image)
            if slots[_slot_of(images, slots, image)] < 0:
                return False
        for relabel in relabels:
            _move(images[k], same_cells, relabel, image)
            if slots[_slot_of(images, slots, image)] < 0:
                return False
    return True


@helper
def _draw_cells(state, box_rows, box_columns, turns, lines, cells):
    """Draw a permutation of the cells: of bands, stacks and lines, or one of `turns`."""
    if box_rows == 0:
        cells[:] = turns[below(state, 0, turns.shape[0])]
        return
    rows, columns = lines[0], lines[1]
    _shuffle_lines(state, box_rows, lines[2], lines[3], rows)
    _shuffle_lines(state, box_columns, lines[2], lines[3], columns)
    n = rows.size
    down, right = n, 1
    if box_rows == box_columns and below(state, 0, 2) == 1:
        down, right = 1, n
    for c in range(n):
        columns[c] *= right
    for r in range(n):
        first = np.uint16(down * rows[r])
        for c in range(n):
            cells[r * n + c] = first + columns[c]


@helper
def _draw_labels(state, kind, labels):
    """Draw a relabelling of a kind."""
    n = labels.size - 1
    if kind == ALL_LABELS:
        shuffle(state, 0, labels[1:])
    elif kind == REVERSED:
        is_reversed = below(state, 0, 2) == 1
        for digit in range(1, n + 1):
            labels[digit] = n + 1 - digit if is_reversed else digit


@kernel
def _draw(puzzles, solutions, numbers, words, most, original, group, drawn, solved, n_found):
    """Draw `most` different images of each puzzle; the first is the puzzle itself if `original`.

    Images that repeat are drawn again. After many, they are an orbit if it is closed.
    """
    box_rows, box_columns, turns, kind, moves, relabels = group
    n_cells, n = puzzles.shape[1], relabels.shape[1] - 1
    state, image = np.empty(1, np.uint64), np.empty(n_cells, np.uint8)
    cells, same_cells = np.empty(n_cells, np.uint16), np.arange(n_cells).astype(np.uint16)
    labels, same_labels = np.empty(n + 1, np.uint8), np.arange(n + 1).astype(np.uint8)
    lines = np.empty((4, n), np.uint16)
    n_slots = 4
    while n_slots < 2 * most:
        n_slots *= 2
    slots = np.empty(n_slots, np.int64)
    for k in range(puzzles.shape[0]):
        state[0] = stream_of(words, numbers[k], 0)
        cells[:], labels[:], slots[:] = same_cells, same_labels, -1
        images, found, n_lost = drawn[k * most : (k + 1) * most], 0, 0
        is_drawn = not original
        while found < most:
            if is_drawn:
                _draw_cells(state, box_rows, box_columns, turns, lines, cells)
                _draw_labels(state, kind, labels)
            is_drawn = True
            _move(puzzles[k], cells, labels, image)
            slot = _slot_of(images, slots, image)
            if slots[slot] < 0:
                slots[slot] = found
                images[found] = image
                _move(solutions[k], cells, labels, solved[k * most + found])
                found += 1
                continue
            n_lost += 1
            if n_lost >= 4 * found + _LOST_DRAWS:
                n_lost = 0
                if _is_orbit(images, found, slots, moves, relabels, same_cells, same_labels, image):
                    break
        n_found[k] = found


# ---- groups ---------------------------------------------------------------------------------


def group_of(problem: GridProblem) -> GridGroup:
    """Return the symmetries that keep the rules of a problem.

    Examples
    --------
    >>> from batchsolve.problems.rules import named, plain
    >>> from batchsolve.problems.variant import Variant
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
            lines = [_swapped(n, line, line + 1, 1) for line in range(begin, begin + size - 1)]
            if begin + size < n:
                lines.append(_swapped(n, begin, begin + size, size))
            moves += [cells.take(order, axis) for order in lines]
    if box_rows == box_columns:
        moves.append(cells.T)
    generators = np.array(moves, np.uint16).reshape(len(moves), n * n)
    turns = np.empty((0, n * n), np.uint16)
    relabels = _relabels(n, ALL_LABELS)
    return GridGroup(n, (box_rows, box_columns), turns, ALL_LABELS, generators, relabels)


def _swapped(n: int, one: int, other: int, size: int) -> list[int]:
    """Return the numbers below n with two runs of `size` of them exchanged."""
    order = list(range(n))
    order[one : one + size], order[other : other + size] = (
        order[other : other + size],
        order[one : one + size],
    )
    return order


def _relabels(n: int, kind: int) -> Bytes:
    """Return the relabellings that generate those of a kind."""
    if kind == ALL_LABELS:
        orders = [_swapped(n + 1, digit, digit + 1, 1) for digit in range(1, n)]
    else:
        orders = [[0, *range(n, 0, -1)]] if kind == REVERSED and n > 1 else []
    return np.array(orders, np.uint8).reshape(len(orders), n + 1)


@lru_cache(maxsize=256)
def _group_of_rules(rules: Rules) -> GridGroup:
    """Return the group of turns, reflections and relabellings, each of which keeps the rules."""
    rows, columns = rules.extent
    cell_at = {place: cell for cell, place in enumerate(rules.places)}
    own, turns = _named_by(rules, range(rules.n_cells)), []
    for transposed, down, right in product((False, True), repeat=3):
        high, wide = (columns, rows) if transposed else (rows, columns)
        moved = []
        for r, c in rules.places:
            r, c = (c, r) if transposed else (r, c)
            moved.append(cell_at.get((high - 1 - r if down else r, wide - 1 - c if right else c)))
        cells = [cell for cell in moved if cell is not None]
        if len(cells) == rules.n_cells and _named_by(rules, cells) == own:
            turns.append(cells)
    found = np.unique(np.array(turns, np.uint16), axis=0)
    kind = _label_kind(rules)
    is_identity = (found == np.arange(rules.n_cells)).all(axis=1)
    moves, relabels = found[~is_identity], _relabels(rules.n_digits, kind)
    return GridGroup(rules.n_digits, (0, 0), found, kind, moves, relabels)


def _named_by(rules: Rules, cells: Any) -> tuple[Any, ...]:
    """Return the rules, as sets, with the cells renamed."""

    def renamed(some: Cells) -> frozenset[int]:
        return frozenset(cells[cell] for cell in some)

    pairs = set()
    for a, b, relation in rules.pairs:
        is_ordered = relation == "less"
        pairs.add((cells[a], cells[b], relation) if is_ordered else (renamed((a, b)), relation))
    return (
        {*map(renamed, rules.houses)},
        {*map(renamed, rules.groups)},
        pairs,
        {(renamed(cage.cells), cage.total) for cage in rules.cages},
        {(cells[cell], digits) for cell, digits in rules.marks},
    )


def _label_kind(rules: Rules) -> int:
    """Return the relabellings that every relation of pairs, cage and mark allows."""
    if rules.cages or rules.marks:
        return NO_LABELS
    digits = range(1, rules.n_digits + 1)
    relations = {relation for _, _, relation in rules.pairs} - {"equal"}
    if not relations:
        return ALL_LABELS
    turned = rules.n_digits + 1
    keeps = all(
        RELATIONS[relation](a, b) == RELATIONS[relation](turned - a, turned - b)
        for relation in relations
        for a in digits
        for b in digits
    )
    return REVERSED if keeps else NO_LABELS
