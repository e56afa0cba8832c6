"""Propagation over many Sudoku grids at once, one grid a lane, emitted as vector code.

A vector holds the candidates of one cell in every grid: bit ``d`` is set while digit ``d`` is
possible. One pass deduces, for all grids at once,

* naked singles: the digit of a cell with one candidate goes from the other cells of its units;
* hidden singles: a digit with one place in a unit is the only candidate there;
* locked candidates: where a line's places for a digit lie in one box, it goes from the box's other
  lines, and where a box's places lie in one line, it goes from the line's other boxes.

Three cells in which a line meets a box are a *segment* here, and locked candidates are a matter of
segments alone. The rows of a band, or the columns of a stack, and their boxes are made of the same
nine segments; such a *chute* is dealt with as a whole, so that what is known of it stays in
registers. The columns already miss the candidates that are locked out in the rows.

All deductions are monotone (fewer candidates never allow fewer deductions), so passes lead to one
fixpoint, whatever they deduce first. Contradictions are found on the way or, at the latest, at
the fixpoint: there each digit of a unit has one place, in a cell that has no other candidate, or
several places, none in such a cell; anything else contradicts.
"""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from batchsolve.engines.lanes.vectors import Vector, VectorArray, align_stack, forget

N_CELLS = 81
ALL_DIGITS = 0x1FF
NINE, THREE = range(9), range(3)

COLUMN = [cell % 9 for cell in range(N_CELLS)]
BOX = [cell // 27 * 3 + cell % 9 // 3 for cell in range(N_CELLS)]
# Segment s = 3·row + k is where the row meets the k-th box on its way.
ROW_SEGMENTS = [[3 * s + k for k in THREE] for s in range(27)]
# The segments of a band's or a stack's lines and boxes.
LINES = [[(line, box) for box in THREE] for line in THREE]
BOXES = [[(line, box) for line in THREE] for box in THREE]


def _any(vectors: list[Vector]) -> Vector:
    return reduce(Vector.__or__, vectors)


def _twice(a: Vector, b: Vector, c: Vector) -> Vector:
    """Return the bits that two or three of three vectors have."""
    return (a & b) | (c & (a | b))


def _naked(x: Vector) -> Vector:
    """Return the candidate of a cell that has no other, else nothing."""
    return (x & (x - 1)).equals(0).select(x, x ^ x)


class _Chute:
    """Three lines that pass through three boxes: the rows of a band, or the columns of a stack.

    ``once[line, box]`` are the digits that are possible where the two meet, ``twice[line, box]``
    those that are possible in two or three of the three cells.
    """

    def __init__(self) -> None:
        self.once: dict[tuple[int, int], Vector] = {}
        self.twice: dict[tuple[int, int], Vector] = {}

    def add(self, line: int, box: int, cells: list[Vector]) -> None:
        """Add the segment with these cells."""
        self.once[line, box] = _any(cells)
        self.twice[line, box] = _twice(*cells)

    def locked_out(self) -> dict[tuple[int, int], Vector]:
        """Return for every segment the digits that its line or its box needs elsewhere."""
        here = self.once
        in_line = {(i, k): here[i, k] & ~_any([here[i, o] for o in _others(k)]) for i, k in here}
        in_box = {(i, k): here[i, k] & ~_any([here[o, k] for o in _others(i)]) for i, k in here}
        return {
            (i, k): _any([in_box[i, o] for o in _others(k)] + [in_line[o, k] for o in _others(i)])
            for i, k in here
        }


def _others(k: int) -> list[int]:
    return [o for o in THREE if o != k]


class _Review:
    """Digits that speak against a grid, gathered from all of its units."""

    def __init__(self, none: Vector) -> None:
        self.missing = none  # they have no place
        self.clash = none  # they are the only candidate of a cell, and possible in another
        self.lone = none  # they have one place, in a cell with other candidates

    def unit(self, chute: _Chute, segments: list[tuple[int, int]], naked: Vector) -> Vector:
        """Look at a unit with these naked singles; return the digits with several places."""
        once = [chute.once[s] for s in segments]
        several = _any([_twice(*once), *(chute.twice[s] for s in segments)])
        self.missing |= ~_any(once)
        self.clash |= naked & several
        self.lone |= ~(naked | several)
        return several


def _naked_singles(
    grid: VectorArray, none: Vector
) -> tuple[list[Vector], list[Vector], list[Vector]]:
    """Return the digits that are naked singles in every row, column and box."""
    row, column, box = [none] * 9, [none] * 9, [none] * 9
    for s, cells in enumerate(ROW_SEGMENTS):
        naked = [_naked(grid[cell]) for cell in cells]
        for cell, x in zip(cells, naked, strict=True):
            column[COLUMN[cell]] |= x
        row[s // 3] |= (both := _any(naked))
        box[BOX[cells[0]]] |= both
    return row, column, box


def _emit_pass(builder: Any, grid: VectorArray, draft: VectorArray, n_lanes: int) -> list[Any]:
    """Emit one pass; return bits for the lanes that contradict, stay the same, and are solved."""
    none = Vector.filled(builder, n_lanes, 0)
    row, column, box = _naked_singles(grid, none)
    forget(builder)

    review, undecided = _Review(none), none
    row_out, not_single = {}, {}
    for band in THREE:
        rows = _Chute()
        for k, i in product(THREE, THREE):
            y, b = 3 * band + i, 3 * band + k
            taken = row[y] | box[b]
            cells = []
            for x in range(3 * k, 3 * k + 3):
                here = grid[9 * y + x]
                left = here & ~(taken | column[x])
                # Nothing is left in naked singles, and in cells that contradict them.
                draft[9 * y + x] = left = left.equals(0).select(here, left)
                cells.append(left)
            rows.add(i, k, cells)
        in_row = [review.unit(rows, LINES[i], row[3 * band + i]) for i in THREE]
        in_box = [review.unit(rows, BOXES[k], box[3 * band + k]) for k in THREE]
        undecided |= _any(in_row)
        for (i, k), out in rows.locked_out().items():
            row_out[3 * band + i, k] = out
            not_single[3 * band + i, k] = in_row[i] & in_box[k]
        forget(builder)

    changed = none
    for stack in THREE:
        columns = _Chute()
        for i, k in product(THREE, THREE):
            x = 3 * stack + i
            cells = [draft[9 * y + x] & ~row_out[y, stack] for y in range(3 * k, 3 * k + 3)]
            columns.add(i, k, cells)
        in_column = [review.unit(columns, LINES[i], column[3 * stack + i]) for i in THREE]
        column_out = columns.locked_out()
        forget(builder)
        for y, i in product(NINE, THREE):
            cell = 9 * y + 3 * stack + i
            left = draft[cell] & ~(row_out[y, stack] | column_out[i, y // 3])
            hidden = left & ~(not_single[y, stack] & in_column[i])
            left = hidden.equals(0).select(left, hidden)
            changed |= grid[cell] & ~left  # a pass only takes candidates away
            grid[cell] = left
        forget(builder)

    bad = ~((review.missing & ALL_DIGITS) | review.clash).equals(0)
    same = changed.equals(0)
    bad |= same & ~(review.lone & ALL_DIGITS).equals(0)
    solved = undecided.equals(0) & ~bad
    return [bad.bits(), (same & ~bad & ~solved).bits(), solved.bits()]


def _emit_branch(builder: Any, grid: VectorArray, place: VectorArray, n_lanes: int) -> None:
    """Emit the choice of the branch cell of every grid.

    It is a cell with the fewest candidates, two or more, or with none. Of those with two, it is one
    with the most such cells in its row, column and box. Ties go to the first.

    The largest rank wins. From the highest bit down it holds 9 less the number of candidates (four
    bits), the pairs around the cell (five), and 127 less the cell's number (seven).
    """
    none = Vector.filled(builder, n_lanes, 0)
    pair = Vector.filled(builder, n_lanes, 1 << 7)
    row, column, box = [none] * 9, [none] * 9, [none] * 9
    for s, cells in enumerate(ROW_SEGMENTS):
        pairs = none
        for cell in cells:
            here = grid[cell].popcount().equals(2).select(pair, none)
            column[COLUMN[cell]] += here
            pairs += here
        row[s // 3] += pairs
        box[BOX[cells[0]]] += pairs
    forget(builder)
    best = none
    for s, cells in enumerate(ROW_SEGMENTS):
        pairs = row[s // 3] + box[BOX[cells[0]]]
        for cell in cells:
            size = grid[cell].popcount()
            rank = (pairs + column[COLUMN[cell]] + ((9 << 12) + 127 - cell)) - (size << 12)
            best = best.largest(size.equals(1).select(none, rank))
    place[0] = none + 127 - (best & 127)


def _vector_arrays(
    context: Any, builder: Any, signature: Any, args: Any
) -> tuple[VectorArray, VectorArray, int]:
    """Prepare an intrinsic for vectors; return its two arrays and the number of lanes."""
    align_stack(builder)
    n_lanes = signature.args[2].count
    first, second = (
        VectorArray(builder, context.make_array(kind)(context, builder, array).data, n_lanes)
        for kind, array in zip(signature.args[:2], args[:2], strict=True)
    )
    return first, second, n_lanes


@intrinsic
def propagate(typing_context, grid, draft, lanes):
    """Make one pass over the grids of all lanes.

    Parameters
    ----------
    grid : ndarray of uint16, shape (81 · n,)
        Candidates of every cell in every lane, cell by cell; updated.
    draft : ndarray of uint16, shape (81 · n,)
        Room for the pass.
    lanes : tuple of n integers
        Its length fixes the number of lanes when the pass is compiled: at most 32.

    Returns
    -------
    bad, same, solved : uint32
        Bits of the lanes that contradict themselves; of those that do not, but where nothing has
        changed; and of those where every digit has one place in every unit. A grid of the last
        kind is solved if every cell has one candidate, and contradicts itself if not.
    """
    signature = types.UniTuple(types.uint32, 3)(grid, draft, lanes)

    def generate(context, builder, signature, args):
        masks = _emit_pass(builder, *_vector_arrays(context, builder, signature, args))
        return context.make_tuple(builder, signature.return_type, masks)

    return signature, generate


@intrinsic
def choose_cells(typing_context, grid, place, lanes):
    """Choose the branch cell of every lane.

    Parameters
    ----------
    grid, lanes
        As for `propagate`.
    place : ndarray of uint16, shape (n,)
        Gets the cells.
    """
    signature = types.void(grid, place, lanes)

    def generate(context, builder, signature, args):
        _emit_branch(builder, *_vector_arrays(context, builder, signature, args))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def lowest_bit(typing_context, bits):
    """Return the position of the lowest one of an integer that is not 0."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return bits(bits), generate
