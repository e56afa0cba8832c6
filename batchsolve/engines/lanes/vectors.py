"""Vectors of a function under construction: LLVM's builder with operators.

An `@intrinsic` of numba writes LLVM code through a builder, one call an instruction. With the
classes of this file such code reads like the computation itself: ``x & ~y`` makes two instructions.
LLVM takes vectors of any width and cuts them up for the machine at hand.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core.cgutils import get_or_insert_function

BITS = 16
"""The width of a lane."""


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
    """An unsigned integer of 16 bits for every lane.

    Operators work lane by lane, modulo 2**16. An integer operand stands for itself in every lane.
    """

    def __init__(self, builder: Any, value: Any) -> None:
        self._builder = builder
        self.value = value

    @classmethod
    def filled(cls, builder: Any, n_lanes: int, number: int) -> Vector:
        """Return a vector with the same number in every lane."""
        kind = ir.VectorType(ir.IntType(BITS), n_lanes)
        return cls(builder, ir.Constant(kind, [number] * n_lanes))

    def _operand(self, other: Vector | int) -> Any:
        if isinstance(other, Vector):
            return other.value
        return ir.Constant(self.value.type, [other] * self.value.type.count)

    def __and__(self, other: Vector | int) -> Vector:
        return Vector(self._builder, self._builder.and_(self.value, self._operand(other)))

    def __or__(self, other: Vector | int) -> Vector:
        return Vector(self._builder, self._builder.or_(self.value, self._operand(other)))

    def __xor__(self, other: Vector | int) -> Vector:
        return Vector(self._builder, self._builder.xor(self.value, self._operand(other)))

    def __invert__(self) -> Vector:
        return Vector(self._builder, self._builder.not_(self.value))

    def __add__(self, other: Vector | int) -> Vector:
        return Vector(self._builder, self._builder.add(self.value, self._operand(other)))

    def __sub__(self, other: Vector | int) -> Vector:
        return Vector(self._builder, self._builder.sub(self.value, self._operand(other)))

    def __lshift__(self, places: int) -> Vector:
        return Vector(self._builder, self._builder.shl(self.value, self._operand(places)))

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

    def popcount(self) -> Vector:
        """Count the ones of every lane."""
        kind = self.value.type
        name = f"llvm.ctpop.v{kind.count}i{BITS}"
        function = get_or_insert_function(self._builder.module, ir.FunctionType(kind, [kind]), name)
        return Vector(self._builder, self._builder.call(function, [self.value]))


class VectorArray:
    """Vectors in memory: an array of uint16, one vector behind the other."""

    def __init__(self, builder: Any, pointer: Any, n_lanes: int) -> None:
        self._builder = builder
        kind = ir.VectorType(ir.IntType(BITS), n_lanes)
        self._base = builder.bitcast(pointer, kind.as_pointer())

    def _place(self, i: int) -> Any:
        return self._builder.gep(self._base, [ir.Constant(ir.IntType(64), i)])

    def __getitem__(self, i: int) -> Vector:
        return Vector(self._builder, self._builder.load(self._place(i), align=BITS // 8))

    def __setitem__(self, i: int, vector: Vector) -> None:
        self._builder.store(vector.value, self._place(i), align=BITS // 8)


def forget(builder: Any) -> None:
    """Make LLVM read memory again from here on, instead of keeping what it read in registers.

    It would keep more vectors than there are registers, and write them to memory for that.
    """
    nothing = ir.FunctionType(ir.VoidType(), [])
    builder.asm(nothing, "", "~{memory}", [], side_effect=True)


def align_stack(builder: Any) -> None:
    """Make the function that is being built keep its vectors on the stack where cache lines begin.

    Callers align the stack to 16 bytes only, and a vector that straddles two lines takes twice as
    long to read: a pass took between 370 and 610 ns, as the environment's length had it.
    """
    attributes = builder.function.attributes
    attributes.alignstack = 64
    attributes.add("nounwind")  # true of what numba compiles; llvmlite writes no attribute without
