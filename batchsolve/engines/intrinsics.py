"""Machine operations for compiled kernels: on words, on vectors of words, on references to arrays.

Numba has no functions for them in nopython mode. A `Words` value is eight words of 64 bits that
live in vector registers; LLVM splits it where the processor's registers are narrower.
"""

# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending
from numba.core import cgutils, types
from numba.extending import models, register_model

from batchsolve.kernel_files import CHECKS_BOUNDS

WIDTH = 8
"""The number of words in a vector."""

intrinsic: Any = extending.intrinsic  # its result takes other arguments than its types say

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, WIDTH)


class _Words(types.Type):
    def __init__(self):
        super().__init__(name="Words")


_words = _Words()


@register_model(_Words)
class _WordsModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _VECTOR)


def _copies(builder, number, vector):
    """Return a vector of this type whose elements are all one number."""
    none = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(none, number, ir.Constant(ir.IntType(32), 0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, none, mask)


def _call(builder, name, kind, *arguments):
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [a.type for a in arguments]), name
    )
    return builder.call(function, arguments)


def pointer_to(context, builder, kind, array, place, n):
    """Return the pointer to n elements of an array, the first of them at a place.

    The array must be contiguous and aligned, or the kernel does not compile. With
    ``NUMBA_BOUNDSCHECK`` it raises `IndexError` where the array has no such elements, as numba's
    own indexing does.
    """
    if kind.layout != "C" or not kind.aligned:
        raise TypeError(f"vectors and shared words need a contiguous, aligned array, not {kind}")
    view = context.make_array(kind)(context, builder, array)
    if CHECKS_BOUNDS:
        last = builder.add(place, ir.Constant(place.type, n - 1))
        cgutils.do_boundscheck(context, builder, last, view.nitems)
    return builder.gep(view.data, [place])


@intrinsic
def popcount(typingctx, word):
    """Return the number of ones in a word."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def trailing_zeros(typingctx, word):
    """Return the place of the lowest one in a word, 64 if it is 0."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), codegen


@intrinsic
def splat(typingctx, word):
    """Return eight copies of a word."""

    def codegen(context, builder, signature, args):
        return _copies(builder, args[0], _VECTOR)

    return _words(types.uint64), codegen


@intrinsic
def load(typingctx, array, place):
    """Return the words ``array[place : place + 8]`` of a C-contiguous array of uint64."""

    def codegen(context, builder, signature, args):
        words = pointer_to(context, builder, signature.args[0], args[0], args[1], WIDTH)
        return builder.load(builder.bitcast(words, _VECTOR.as_pointer()), align=8)

    return _words(array, types.uintp), codegen


@intrinsic
def add_meet(typingctx, total, mask, word):
    """Return ``total`` plus, word by word, the number of ones that ``mask`` and ``word`` share."""

    def codegen(context, builder, signature, args):
        total, mask, word = args
        met = builder.and_(mask, _copies(builder, word, _VECTOR))
        return builder.add(total, _call(builder, "llvm.ctpop.v8i64", _VECTOR, met))

    return _words(_words, _words, types.uint64), codegen


@intrinsic
def at_least(typingctx, vector, word):
    """Return the larger of each word and another."""

    def codegen(context, builder, signature, args):
        other = _copies(builder, args[1], _VECTOR)
        return _call(builder, "llvm.umax.v8i64", _VECTOR, args[0], other)

    return _words(_words, types.uint64), codegen


@intrinsic
def shift_or(typingctx, vector, bits, other):
    """Return ``vector << bits | other``, word by word."""

    def codegen(context, builder, signature, args):
        return builder.or_(builder.shl(args[0], _copies(builder, args[1], _VECTOR)), args[2])

    return _words(_words, types.uint64, _words), codegen


@intrinsic
def branch_keys(typingctx, sizes, tags):
    """Return the keys of eight items with bounds: ``tag + (size << 48) - (size << 16)``.

    If the item has no options, bit 62 is set as well.
    """

    def codegen(context, builder, signature, args):
        sizes, tags = args
        high, low = (_copies(builder, ir.Constant(_WORD, bits), _VECTOR) for bits in (48, 16))
        moved = builder.sub(builder.shl(sizes, high), builder.shl(sizes, low))
        is_empty = builder.icmp_unsigned("==", sizes, ir.Constant(_VECTOR, [0] * WIDTH))
        bit = ir.Constant(_VECTOR, [2**62] * WIDTH)
        no_bit = ir.Constant(_VECTOR, [0] * WIDTH)
        return builder.or_(builder.add(tags, moved), builder.select(is_empty, bit, no_bit))

    return _words(_words, _words), codegen


@intrinsic
def lesser(typingctx, vector, other):
    """Return the smaller of two vectors, word by word."""

    def codegen(context, builder, signature, args):
        return _call(builder, "llvm.umin.v8i64", _VECTOR, args[0], args[1])

    return _words(_words, _words), codegen


@intrinsic
def least_word(typingctx, vector):
    """Return the smallest word."""

    def codegen(context, builder, signature, args):
        return _call(builder, "llvm.vector.reduce.umin.v8i64", _WORD, args[0])

    return types.uint64(_words), codegen


def _atomic_load(order):
    @intrinsic
    def atomic_load(typingctx, array, place):
        def codegen(context, builder, signature, args):
            word = pointer_to(context, builder, signature.args[0], args[0], args[1], 1)
            return builder.load_atomic(word, order, 8)

        return types.uint64(array, types.uintp), codegen

    return atomic_load


def _atomic_store(order):
    @intrinsic
    def atomic_store(typingctx, array, place, word):
        def codegen(context, builder, signature, args):
            at = pointer_to(context, builder, signature.args[0], args[0], args[1], 1)
            builder.store_atomic(args[2], at, order, 8)
            return context.get_dummy_value()

        return types.none(array, types.uintp, types.uint64), codegen

    return atomic_store


def _fence(order):
    @intrinsic
    def fence(typingctx):
        def codegen(context, builder, signature, args):
            builder.fence(order)
            return context.get_dummy_value()

        return types.none(), codegen

    return fence


# Access to words of a C-contiguous array of uint64 that several threads read and write at a time.
# The orders are those of C++: an acquire of a word sees all that another thread wrote before it
# released the word.
load_relaxed, load_acquire = _atomic_load("monotonic"), _atomic_load("acquire")
store_relaxed, store_release = _atomic_store("monotonic"), _atomic_store("release")
fence_acquire, fence_release = _fence("acquire"), _fence("release")


@intrinsic
def replace_word(typingctx, array, place, old, new):
    """Replace a word if it has the expected value; tell whether it had (compare and swap)."""

    def codegen(context, builder, signature, args):
        at = pointer_to(context, builder, signature.args[0], args[0], args[1], 1)
        return builder.extract_value(builder.cmpxchg(at, args[2], args[3], "acq_rel", "acquire"), 1)

    return types.boolean(array, types.uintp, types.uint64, types.uint64), codegen


def _cells_at(context, builder, array_type, array, place):
    """Load 64 elements of an array, of any unsigned type."""
    cells = pointer_to(context, builder, array_type, array, place, 64)
    vector = ir.VectorType(cells.type.pointee, 64)
    return builder.load(builder.bitcast(cells, vector.as_pointer()), align=1)


@intrinsic
def at_most(typingctx, array, place, bound):
    """Return a bit for each of ``array[place : place + 64]``: 1 if it is no larger than a bound.

    The array is C-contiguous and holds unsigned integers of any width.
    """

    def codegen(context, builder, signature, args):
        cells = _cells_at(context, builder, signature.args[0], args[0], args[1])
        kind = cells.type.element
        bound = args[2] if kind.width == 64 else builder.trunc(args[2], kind)
        bounds = _copies(builder, bound, cells.type)
        return builder.bitcast(builder.icmp_unsigned("<=", cells, bounds), _WORD)

    return types.uint64(array, types.uintp, types.uint64), codegen


@intrinsic
def least_cell(typingctx, array, place):
    """Return the smallest of ``array[place : place + 64]``, unsigned integers of any width."""

    def codegen(context, builder, signature, args):
        cells = _cells_at(context, builder, signature.args[0], args[0], args[1])
        kind = cells.type.element
        least = _call(builder, f"llvm.vector.reduce.umin.v64i{kind.width}", kind, cells)
        return least if kind.width == 64 else builder.zext(least, _WORD)

    return types.uint64(array, types.uintp), codegen


@intrinsic
def borrowed(typingctx, arrays):
    """Return a tuple of the same arrays without their owners, which must outlive it.

    It may hold tuples of arrays, numbers and truth values. Numba counts references to the owner of
    every array that a function is given, with atomic instructions: a call with twenty arrays takes
    half a microsecond for that alone. Arrays that are lent must be used once more after the last
    call that borrows them, or numba frees them before it.
    """

    def codegen(context, builder, signature, args):
        return _without_owners(context, builder, signature.return_type, args[0])

    return arrays(arrays), codegen


def _without_owners(context, builder, kind, value):
    """Return an array, a number or a tuple of such, the arrays without owners."""
    if isinstance(kind, types.Number | types.Boolean | types.NoneType):
        return value
    if isinstance(kind, types.Array):
        view = context.make_array(kind)(context, builder, value)
        view.meminfo = ir.Constant(view.meminfo.type, None)
        return view._getvalue()
    parts = [
        _without_owners(context, builder, part, builder.extract_value(value, place))
        for place, part in enumerate(kind.types)
    ]
    return context.make_tuple(builder, kind, parts)
