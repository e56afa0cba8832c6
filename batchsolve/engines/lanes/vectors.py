"""Vectors of a function under construction: LLVM's builder with operators.

An `@intrinsic` of numba writes LLVM code through a builder, one call an instruction. With the
classes of this file such code reads like the computation itself: ``x & ~y`` makes two instructions.
LLVM takes vectors of any width and cuts them up for the machine at hand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core.cgutils import alloca_once, for_range, get_or_insert_function

_PLACE = ir.IntType(64)
_CACHE_LINE = 64  # bytes


class Mask:
    """A truth value for every lane."""

    def __init__(self, builder: Any, value: Any) -> None:
        self._builder = builder
        self._value = value

    def __and__(self, other: Mask) -> Mask:
        return Mask(self._builder, self._builder.and_(self._value, other._value))

    def __or__(self, other: Mask) -> Mask:
        return Mask(self._builder, self._builder.or_(self._value, other._value))

    def __invert__(self) -> Mask:
        return Mask(self._builder, self._builder.not_(self._value))

    def select(self, yes: Vector, no: Vector) -> Vector:
        """Take each lane from `yes` where it is true, from `no` elsewhere."""
        return Vector(self._builder, self._builder.select(self._value, yes.value, no.value))

    def bits(self) -> Any:
        """Return an unsigned integer of 32 bits with one bit a lane, lane 0 the lowest."""
        n_lanes = self._value.type.count
        packed = self._builder.bitcast(self._value, ir.IntType(n_lanes))
        return packed if n_lanes == 32 else self._builder.zext(packed, ir.IntType(32))


class Vector:
    """An unsigned integer for every lane.

    Operators work lane by lane, modulo 2 to the number of its bits. An integer operand stands for
    itself in every lane.
    """

    def __init__(self, builder: Any, value: Any) -> None:
        self._builder = builder
        self.value = value

    def _operand(self, other: Vector | int) -> Any:
        if isinstance(other, Vector):
            return other.value
        return ir.Constant(self.value.type, [other] * self.value.type.count)

    def __and__(self, other: Vector | int) -> Vector:
        return Vector(self._builder, self._builder.and_(self.value, self._operand(other)))

    def __or__(self, other: Vector | int) -> Vector:
        return Vector(self._builder, self._builder.or_(self.value, self._operand(other)))

    def __invert__(self) -> Vector:
        return Vector(self._builder, self._builder.not_(self.value))

    def __add__(self, other: Vector | int) -> Vector:
        return Vector(self._builder, self._builder.add(self.value, self._operand(other)))

    def __sub__(self, other: Vector | int) -> Vector:
        return Vector(self._builder, self._builder.sub(self.value, self._operand(other)))

    def __mul__(self, factor: int) -> Vector:
        return Vector(self._builder, self._builder.mul(self.value, self._operand(factor)))

    def equals(self, other: Vector | int) -> Mask:
        """Compare every lane."""
        compared = self._builder.icmp_unsigned("==", self.value, self._operand(other))
        return Mask(self._builder, compared)

    def __gt__(self, other: Vector | int) -> Mask:
        compared = self._builder.icmp_unsigned(">", self.value, self._operand(other))
        return Mask(self._builder, compared)

    def largest(self, other: Vector) -> Vector:
        """Take the larger number in every lane."""
        return (self > other).select(self, other)

    def smallest(self, other: Vector) -> Vector:
        """Take the smaller number in every lane."""
        return (self > other).select(other, self)

    def popcount(self) -> Vector:
        """Count the ones of every lane."""
        kind = self.value.type
        name = f"llvm.ctpop.v{kind.count}i{kind.element.width}"
        function = get_or_insert_function(self._builder.module, ir.FunctionType(kind, [kind]), name)
        return Vector(self._builder, self._builder.call(function, [self.value]))


class Place:
    """A place in an array that is known only when the code runs: an integer with operators.

    It must be the left operand.
    """

    def __init__(self, builder: Any, value: Any) -> None:
        self._builder = builder
        self.value = value

    def __add__(self, number: int) -> Place:
        return Place(self._builder, self._builder.add(self.value, _place(number)))

    def __mul__(self, factor: int) -> Place:
        return Place(self._builder, self._builder.mul(self.value, _place(factor)))


def _place(i: Place | int) -> Any:
    return i.value if isinstance(i, Place) else ir.Constant(_PLACE, i)


class VectorArray:
    """Vectors in memory, one behind the other.

    Parameters
    ----------
    builder
        The builder that writes the code.
    kind
        The type of a vector.
    pointer
        The address of the first vector.
    alignment : int
        The alignment of every vector in bytes.
    """

    def __init__(self, builder: Any, kind: Any, pointer: Any, alignment: int) -> None:
        self._builder = builder
        self.kind = kind
        self._alignment = alignment
        self._base = builder.bitcast(pointer, kind.as_pointer())

    @classmethod
    def on_stack(cls, builder: Any, kind: Any, n: int) -> VectorArray:
        """Make an array of n vectors that lasts as long as the function.

        LLVM keeps its vectors in registers if all places are known when the code is written.
        """
        pointer = alloca_once(builder, ir.ArrayType(kind, n))
        pointer.align = _CACHE_LINE
        return cls(builder, kind, pointer, _CACHE_LINE)

    def _place(self, i: Place | int) -> Any:
        return self._builder.gep(self._base, [_place(i)])

    def __getitem__(self, i: Place | int) -> Vector:
        loaded = self._builder.load(self._place(i), align=self._alignment)
        return Vector(self._builder, loaded)

    def __setitem__(self, i: Place | int, vector: Vector) -> None:
        self._builder.store(vector.value, self._place(i), align=self._alignment)


class Emitter:
    """A writer of code over the grids of all lanes.

    Parameters
    ----------
    builder
        The builder that writes the code.
    grid : VectorArray
        The candidates of every cell.
    other : VectorArray or None
        The other argument of the step.
    """

    def __init__(self, builder: Any, grid: VectorArray, other: Any) -> None:
        self.builder, self.grid, self.other = builder, grid, other
        self.none = grid[0] & 0

    def array(self, n: int) -> VectorArray:
        """Return an array of n vectors."""
        return VectorArray.on_stack(self.builder, self.grid.kind, n)

    def zeros(self, n: int) -> VectorArray:
        """Return an array of n vectors of zeros."""
        array = self.array(n)
        for i in range(n):
            array[i] = self.none
        return array


def single_of(x: Vector) -> Vector:
    """Return the candidate of a cell that has no other, else nothing."""
    return (x & (x - 1)).equals(0).select(x, x & 0)


def once_and_twice(vectors: list[Vector]) -> tuple[Vector, Vector]:
    """Return the bits that one or more, and that two or more, of some vectors have."""
    once, twice = vectors[0], vectors[0] & 0
    for x in vectors[1:]:
        once, twice = once | x, twice | (once & x)
    return once, twice


def repeat(builder: Any, n: int, write: Callable[[Place], None]) -> None:
    """Write code as a loop over the numbers below n."""
    with for_range(builder, ir.Constant(_PLACE, n)) as loop:
        write(Place(builder, loop.index))


def forget(builder: Any) -> None:
    """Make LLVM read memory again from here on, instead of keeping what it read in registers.

    Otherwise it keeps more vectors than there are registers, and has to spill them to memory.
    """
    nothing = ir.FunctionType(ir.VoidType(), [])
    builder.asm(nothing, "", "~{memory}", [], side_effect=True)


def align_stack(builder: Any) -> None:
    """Make the function under construction align its vectors on the stack to cache lines.

    Callers align the stack to 16 bytes only, and a vector that straddles two lines takes twice as
    long to read: a pass took 370 to 610 ns, depending on the length of the environment.
    """
    attributes = builder.function.attributes
    attributes.alignstack = 64
    attributes.add("nounwind")  # true of numba's code; without it llvmlite writes no attributes
