"""Propagation over many Sudoku grids at once, one grid a lane, emitted as vector code.

A vector holds the candidates of one cell in every grid: bit ``d`` is set while digit ``d`` is
possible. One pass deduces, for all grids and in this order,

* naked singles: the digit of a cell with one candidate goes from the other cells of its units;
* hidden singles: a digit with one place in a unit is the only candidate there;
* locked candidates: where a line's places for a digit lie in one box, it goes from the box's other
  lines, and where a box's places lie in one line, it goes from the line's other boxes.

Three cells in which a line meets a box are a *segment* here. What a segment has, and what it has
twice, is computed once for its line and its box; and locked candidates are a matter of segments
alone.

All deductions are monotone (fewer candidates never allow fewer deductions), so passes lead to one
fixpoint, whatever they deduce first. Contradictions are found on the way or, at the latest, at
the fixpoint: there each digit of a unit has one place, in a cell that has no other candidate, or
several places, none in such a cell; anything else contradicts.

Whoever edits this file or `vectors` must touch `lanes_search`: numba keeps its compiled code.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from batchsolve.engines.vectors import Vector, VectorArray, align_stack, forget

N_CELLS = 81
ALL_DIGITS = 0x1FF
NINE, THREE = range(9), range(3)

COLUMN = [cell % 9 for cell in range(N_CELLS)]

# Segment s = 3·line + k of a direction is where the line meets the k-th box on its way.
ROW_SEGMENTS = [[9 * (s // 3) + 3 * (s % 3) + k for k in THREE] for s in range(27)]
COLUMN_SEGMENTS = [[9 * (3 * (s % 3) + k) + s // 3 for k in THREE] for s in range(27)]


def _box(line: int, k: int, across: bool) -> int:
    """Return the box in which the k-th segment of a line lies."""
    return 3 * k + line // 3 if across else 3 * (line // 3) + k


def _any(vectors: list[Vector]) -> Vector:
    return reduce(Vector.__or__, vectors)


def _all(vectors: list[Vector]) -> Vector:
    return reduce(Vector.__and__, vectors)


def _twice(a: Vector, b: Vector, c: Vector) -> Vector:
    """Return the bits that two or three of three vectors have."""
    return (a & b) | (c & (a | b))


def _naked(x: Vector) -> Vector:
    """Return the candidate of a cell that has no other, else nothing."""
    return (x & (x - 1)).equals(0).select(x, x ^ x)


class _Direction:
    """The segments of all rows, or of all columns, and what is known of them."""

    def __init__(self, segments: list[list[int]], across: bool) -> None:
        self.segments = segments
        self.box = [_box(s // 3, s % 3, across) for s in range(27)]
        self.in_box = [[s for s in range(27) if self.box[s] == b] for b in NINE]

    def of_line(self, values: list[Vector], line: int) -> list[Vector]:
        return values[3 * line : 3 * line + 3]

    def of_box(self, values: list[Vector], box: int) -> list[Vector]:
        return [values[s] for s in self.in_box[box]]

    def locked_out(self, once: list[Vector]) -> list[Vector]:
        """Return for every segment the digits that its line or its box needs elsewhere."""
        by_line, by_box = [], []
        for s in range(27):
            line, box = self._others(s)
            by_line.append(once[s] & ~(once[line[0]] | once[line[1]]))
            by_box.append(once[s] & ~(once[box[0]] | once[box[1]]))
        return [
            _any([by_box[o] for o in self._others(s)[0]] + [by_line[o] for o in self._others(s)[1]])
            for s in range(27)
        ]

    def _others(self, s: int) -> tuple[list[int], list[int]]:
        line = [o for o in range(3 * (s // 3), 3 * (s // 3) + 3) if o != s]
        return line, [o for o in self.in_box[self.box[s]] if o != s]


ROWS = _Direction(ROW_SEGMENTS, False)
COLUMNS = _Direction(COLUMN_SEGMENTS, True)


def _emit_pass(builder: Any, grid: VectorArray, draft: VectorArray, n_lanes: int) -> list[Any]:
    """Emit one pass; return bits for the lanes that contradict, stay the same, and are solved."""
    none = Vector.filled(builder, n_lanes, 0)

    # The digits that are naked singles in each unit.
    row, column, box = [none] * 9, [none] * 9, [none] * 9
    for s, cells in enumerate(ROW_SEGMENTS):
        naked = [_naked(grid[cell]) for cell in cells]
        for cell, x in zip(cells, naked, strict=True):
            column[COLUMN[cell]] |= x
        row[s // 3] |= (both := _any(naked))
        box[ROWS.box[s]] |= both
    forget(builder)

    # Naked singles go from the other cells; what is then possible once and twice in a segment.
    once_row, twice_row = [], []
    for s, cells in enumerate(ROW_SEGMENTS):
        taken = row[s // 3] | box[ROWS.box[s]]
        here = []
        for cell in cells:
            x = grid[cell]
            left = x & ~(taken | column[COLUMN[cell]])
            # Nothing is left in naked singles, and in cells that contradict them.
            draft[cell] = y = left.equals(0).select(x, left)
            here.append(y)
        once_row.append(_any(here))
        twice_row.append(_twice(*here))
    forget(builder)
    once_column, twice_column = [], []
    for cells in COLUMN_SEGMENTS:
        here = [draft[cell] for cell in cells]
        once_column.append(_any(here))
        twice_column.append(_twice(*here))

    # The same for units, and whether it fits together.
    missing, clash, lone, several = none, none, none, none
    twice: dict[str, list[Vector]] = {"row": [], "column": [], "box": []}
    for kind, direction, once_of, twice_of, single in (
        ("row", ROWS, once_row, twice_row, row),
        ("column", COLUMNS, once_column, twice_column, column),
        ("box", ROWS, once_row, twice_row, box),
    ):
        part = direction.of_box if kind == "box" else direction.of_line
        for unit in NINE:
            ones = part(once_of, unit)
            two = _any([_twice(*ones), *part(twice_of, unit)])
            missing |= ~_any(ones)
            clash |= single[unit] & two
            lone |= ~(single[unit] | two)
            if kind == "row":
                several |= two
            twice[kind].append(two)

    # Hidden singles and locked candidates.
    row_out, column_out = ROWS.locked_out(once_row), COLUMNS.locked_out(once_column)
    changed = none
    forget(builder)
    for s, cells in enumerate(ROW_SEGMENTS):
        not_single = twice["row"][s // 3] & twice["box"][ROWS.box[s]]
        for cell in cells:
            c = COLUMN[cell]
            left = draft[cell] & ~(row_out[s] | column_out[3 * c + cell // 27])
            hidden = left & ~(not_single & twice["column"][c])
            y = hidden.equals(0).select(left, hidden)
            changed |= grid[cell] & ~y  # a pass only takes candidates away
            grid[cell] = y

    bad = ~((missing & ALL_DIGITS) | clash).equals(0)
    same = changed.equals(0)
    bad |= same & ~(lone & ALL_DIGITS).equals(0)
    solved = several.equals(0) & ~bad
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
        box[ROWS.box[s]] += pairs
    forget(builder)
    best = none
    for s, cells in enumerate(ROW_SEGMENTS):
        pairs = row[s // 3] + box[ROWS.box[s]]
        for cell in cells:
            size = grid[cell].popcount()
            rank = (pairs + column[COLUMN[cell]] + ((9 << 12) + 127 - cell)) - (size << 12)
            best = best.largest(size.equals(1).select(none, rank))
    place[0] = none + 127 - (best & 127)


def _pointer(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


@intrinsic
def propagate(typing_context, grid, draft, lanes):
    """Make one pass over the grids of all lanes.

    Parameters
    ----------
    grid : ndarray of uint16, shape (81, n)
        Candidates of every cell in every lane; updated.
    draft : ndarray of uint16, shape (81, n)
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
        kinds = signature.args
        first, second = (
            VectorArray(builder, _pointer(context, builder, kinds[k], args[k]), kinds[2].count)
            for k in range(2)
        )
        align_stack(builder)
        masks = _emit_pass(builder, first, second, kinds[2].count)
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
        kinds = signature.args
        first, second = (
            VectorArray(builder, _pointer(context, builder, kinds[k], args[k]), kinds[2].count)
            for k in range(2)
        )
        align_stack(builder)
        _emit_branch(builder, first, second, kinds[2].count)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def lowest_bit(typing_context, bits):
    """Return the position of the lowest one of an integer that is not 0."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return bits(bits), generate


@intrinsic
def borrowed(typing_context, arrays):
    """Return a tuple of the same arrays without their owners, who must outlive it.

    numba counts references to owners with atomic instructions; where there is no owner it leaves
    them out.
    """

    def generate(context, builder, signature, args):
        kind = signature.return_type
        views = []
        for place, array in enumerate(kind.types):
            value = builder.extract_value(args[0], place)
            view = context.make_array(array)(context, builder, value)
            view.meminfo = ir.Constant(view.meminfo.type, None)
            views.append(view._getvalue())
        return context.make_tuple(builder, kind, views)

    return arrays(arrays), generate
