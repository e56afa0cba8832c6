"""The steps of a search that work on all lanes at once, as functions for compiled code.

Grids with boxes have a pass that is written for their shape (`passes`), and all others one that
reads their houses (`houses`).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from batchsolve.engines.intrinsics import pointer_to, popcount
from batchsolve.engines.lanes.houses import FormData, HouseChoice, HousePass
from batchsolve.engines.lanes.passes import BoxChoice, BoxPass
from batchsolve.engines.lanes.vectors import VectorArray, align_stack
from batchsolve.kernels import inlined


def _emitter(
    boxes: Any, houses: Any, context: Any, builder: Any, signature: Any, args: Any, n_other: int
) -> Any:
    """Return the emitter of an intrinsic for vectors, whose last arguments are a `Form`.

    Its second argument has `n_other` vectors, or if that is 0 and regions differ, one a cell.
    """
    align_stack(builder)
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


@inlined
def pays_to_choose(stuck, busy):
    """Tell whether enough of the busy lanes are stuck for a choice of branch cells.

    One choice serves all of them, and costs half as much as a pass.
    """
    return 8 * popcount(stuck) >= popcount(busy)


@intrinsic
def lowest_bit(typing_context, bits):
    """Return the position of the lowest one of an integer that is not 0."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return bits(bits), generate
