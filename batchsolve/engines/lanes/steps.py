"""The steps of a search that work on all lanes at once, as functions for compiled code.

Grids with boxes have a pass that is written for their shape (`passes`), and all others one that
reads their houses (`houses`).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types, uint32

from batchsolve.engines.intrinsics import intrinsic, pointer_to, popcount
from batchsolve.engines.lanes.houses import FormData, HouseChoice, HousePass
from batchsolve.engines.lanes.memory import BAD, BUSY, EVENTS, SETTLED, SOLVED
from batchsolve.engines.lanes.passes import BoxChoice, BoxPass
from batchsolve.engines.lanes.rows import SAME, WRONG, review_row
from batchsolve.engines.lanes.vectors import VectorArray, align_stack
from batchsolve.kernels import inlined


def _emitter(
    boxes: Any, houses: Any, context: Any, builder: Any, signature: Any, args: Any, n_other: int
) -> Any:
    """Return the emitter of an intrinsic for vectors, whose last arguments are a `Form`.

    Its second argument has `n_other` vectors, or if that is 0 and regions differ, one a cell.
    """
    form = FormData(context, builder, signature.args[-2:], args[-2:])
    n_lanes = form.count("lanes")
    rows, columns = form.count("box_rows"), form.count("box_columns")
    index = ir.IntType(64)
    n_cells = index((rows * columns) ** 2) if rows else form.number("n_cells")
    n_regions = n_cells if form.count("free") else None
    arrays: list[VectorArray | None] = []
    for place, n_vectors in enumerate((n_cells, index(n_other) if n_other else n_regions)):
        kind, array = signature.args[place], args[place]
        if n_vectors is None:
            arrays.append(None)
            continue
        last = builder.mul(builder.sub(n_vectors, index(1)), index(n_lanes))
        pointer_to(context, builder, kind, array, last, n_lanes)  # checks the size
        data = pointer_to(context, builder, kind, array, index(0), n_lanes)
        vector = ir.VectorType(data.type.pointee, n_lanes)
        arrays.append(VectorArray(builder, vector, data, vector.element.width // 8))
    return boxes(builder, *arrays, rows, columns) if rows else houses(builder, *arrays, form)


@intrinsic
def keep_vectors_aligned(typing_context):
    """Make the kernel that calls this align its vectors on the stack; see `align_stack`."""

    def generate(context, builder, signature, args):
        align_stack(builder)
        return context.get_dummy_value()

    return types.none(), generate


@intrinsic
def propagate(typing_context, grid, regions, form, rules):
    """Make one pass over the grids of all lanes.

    Parameters
    ----------
    grid : ndarray of uint16 or uint32, shape (n_cells · n_lanes,)
        Candidates of every cell in every lane, cell by cell; updated. Its integers have a bit for
        every digit.
    regions : ndarray, dtype of `grid`, shape (n_cells · n_lanes,) or (0,)
        The region of every cell in every lane, for a form of regions that differ.
    form : Shape
    rules : RuleArrays or None

    Returns
    -------
    bad, same, solved : uint32
        Bits of the lanes that contradict themselves; of those that do not, but where nothing has
        changed; and of those where every digit has one place in every unit. A grid of the last
        kind is solved if every cell has one candidate, and contradicts itself if not.
    """
    signature = types.UniTuple(types.uint32, 3)(grid, regions, form, rules)

    def generate(context, builder, signature, args):
        emitter = _emitter(BoxPass, HousePass, context, builder, signature, args, 0)
        return context.make_tuple(builder, signature.return_type, emitter.emit())

    return signature, generate


@intrinsic
def choose_cells(typing_context, grid, branch, form, rules):
    """Choose the branch cell of every lane.

    Parameters
    ----------
    grid, form, rules
        As for `propagate`.
    branch : ndarray, shape (n_lanes,), dtype of `grid`
        Receives the cells.

    Returns
    -------
    uint32
        Bits of the lanes where a cell has no candidate.
    """
    signature = types.uint32(grid, branch, form, rules)

    def generate(context, builder, signature, args):
        emitter = _emitter(BoxChoice, HouseChoice, context, builder, signature, args, 1)
        return emitter.emit()

    return signature, generate


@intrinsic
def lowest_bit(typing_context, bits):
    """Return the position of the lowest one of an integer that is not 0."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return bits(bits), generate


@inlined
def find_events(form, rules, own, rows, places, w, bits):
    """Propagate the grids of all lanes until some of them need attention.

    Parameters
    ----------
    form : Shape
    rules : RuleArrays or None
    own : RowRules or None
        The rules of rows, if there are others than boxes.
    rows : ndarray of int64
        Place -> a row of `own`.
    places : ndarray of int64, shape (n_lanes,)
        The place in `rows` of the grid in each lane.
    w : Lanes
        Or another named tuple with its fields `grid`, `regions` and `branch`.
    busy : uint32
        Bits of the lanes that are looked at.
    settled : uint32
        Bits of the lanes where the rules of their rows lead no further.

    Returns
    -------
    bad, solved, events, settled : uint32
        Bits of lanes: that contradict themselves; that are solved, unless a cell is empty; that
        need attention, because they are either or because propagation leads no further, and then
        have a branch cell.
    """
    busy, settled = bits[BUSY], bits[SETTLED]
    bad = stuck = solved = events = uint32(0)
    while events == 0:
        bad, stuck, solved = propagate(w.grid, w.regions, form, rules)
        stuck, solved = uint32(stuck & busy), uint32(solved & busy)
        if own is not None:
            n = uint32(len(form.lanes))
            waiting = uint32((stuck | solved) & ~settled)
            while waiting != 0:
                lane = lowest_bit(waiting)
                bit = uint32(uint32(1) << lane)
                waiting &= uint32(waiting - uint32(1))
                found = review_row(own, rows[places[lane]], rules.relations, n, w.grid, lane)
                if found == SAME:
                    settled |= bit
                    continue
                stuck &= ~bit
                solved &= ~bit
                if found == WRONG:
                    bad |= bit
        events = uint32(uint32(bad | solved) & busy)
        # one choice serves all lanes that are stuck, and costs half as much as a pass
        if 8 * popcount(stuck) >= popcount(busy):
            events = uint32(events | stuck)
        else:
            stuck = uint32(0)
    if stuck != 0:
        bad |= choose_cells(w.grid, w.branch, form, rules) & stuck
    bits[BAD], bits[SOLVED], bits[EVENTS] = bad, solved, events
    bits[SETTLED] = settled & ~events
