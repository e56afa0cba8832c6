"""Less LLVM code for kernels than numba writes, with the same results.

For an element of an array numba writes some thirty instructions, for a loop over a range a hundred,
for a call twenty. LLVM removes nearly all of them, but first Python writes, prints and parses them,
which takes a quarter of the time of compiling. Here an array is used field by field, a range with
the step one counts without a division, a called function reports an error where its caller would,
and a constant array is a constant. Numba writes whatever else there is.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from typing import Any

from llvmlite import ir as llvm
from numba.core import callconv, cgutils, ir, types
from numba.core.cpu import CPUContext
from numba.core.ir_utils import get_definition, guard
from numba.core.lowering import Lower
from numba.np.arrayobj import load_item, store_item

MOST_BYTES = 1_000_000  # of a constant array; numba may refer to larger ones
_INTP = cgutils.intp_t
_OWN: dict[bool, dict[Any, Any]] = {True: {}, False: {}}
"""Functions of numba's that kernels call, with counts of references or not: not the user's."""
_SCALARS = (types.Integer, types.Boolean, types.Float)


class LeanContext(CPUContext):
    """A context of numba whose calls and constant arrays are short."""

    counted: LeanContext
    """The same with counts of references; code that takes arguments from Python needs them."""

    @classmethod
    def of(cls, context: Any, counts: bool) -> LeanContext:
        """Return a context like another, with or without counts of references to arrays."""
        lean = copy.copy(context)
        lean.__class__ = cls
        lean.counted = lean
        lean.cached_internal_func = _OWN[True]
        if counts:
            return lean
        return lean.subtarget(enable_nrt=False, cached_internal_func=_OWN[False])

    @property
    def call_conv(self) -> Any:
        """The convention of calls."""
        return _Calls(self)

    def make_constant_array(self, builder: Any, typ: Any, ary: Any) -> Any:
        """Return a constant array; its data are in the module once."""
        if typ.layout != "C" or ary.nbytes > MOST_BYTES:
            return super().make_constant_array(builder, typ, ary)
        content = ary.tobytes()
        name = f".const.array.{hashlib.sha256(content).hexdigest()[:32]}"
        data = builder.module.globals.get(name)
        if data is None:
            value = cgutils.create_constant_array(llvm.IntType(8), bytearray(content))
            data = cgutils.global_constant(builder, name, value)
        align = self.get_abi_alignment(self.get_data_type(typ.dtype))
        data.align = max(data.align or 1, align)  # arrays of other types may have the same bytes
        model = self.data_model_manager[typ]
        kind = model.get_value_type()
        fields = [each(None) for each in kind.elements]
        for field, part in (
            ("nitems", _INTP(ary.size)),
            ("itemsize", _INTP(ary.itemsize)),
            ("data", data.bitcast(kind.elements[model.get_field_position("data")])),
            ("shape", _constants(ary.shape)),
            ("strides", _constants(ary.strides)),
        ):
            fields[model.get_field_position(field)] = part
        return llvm.Constant(kind, fields)


def _constants(numbers: Sequence[int]) -> Any:
    return cgutils.create_constant_array(_INTP, list(map(_INTP, numbers)))


class _Calls(callconv.CPUCallConv):
    """The convention of calls, where the called function reports an error as its caller would."""

    def call_function(
        self, builder: Any, callee: Any, resty: Any, argtys: Any, args: Any, attrs: Any = None
    ) -> Any:
        """Write a call; return its status and its result."""
        caller = builder.function.args
        takes = callee.function_type.args[1]
        if attrs or len(caller) < 2 or caller[1].type != takes or hasattr(builder, "_in_try_block"):
            return super().call_function(builder, callee, resty, argtys, args, attrs)
        result = cgutils.alloca_once(builder, self.get_return_type(resty).pointee)
        given = self._get_arg_packer(argtys).as_arguments(builder, args)
        code = builder.call(callee, [result, caller[1], *given])
        return _Status(builder, code), self.context.get_returned_value(
            builder, resty, builder.load(result)
        )

    def return_status_propagate(self, builder: Any, status: Any) -> None:
        """Return the error of a call."""
        if isinstance(status, _Status):
            self._return_errcode_raw(builder, status.code)
        else:
            super().return_status_propagate(builder, status)


class _Status:
    """The status of a call; see `numba.core.callconv.Status`."""

    def __init__(self, builder: Any, code: Any) -> None:
        self._builder, self.code = builder, code

    def _is(self, how: str, code: Any) -> Any:
        return self._builder.icmp_signed(how, self.code, code)

    @property
    def is_none(self) -> Any:
        """The function has returned None in place of a value."""
        return self._is("==", callconv.RETCODE_NONE)

    @property
    def is_ok(self) -> Any:
        """The function has returned."""
        return self._builder.or_(self._is("==", callconv.RETCODE_OK), self.is_none)

    @property
    def is_error(self) -> Any:
        """The function has raised an error."""
        return self._builder.not_(self.is_ok)

    @property
    def is_stop_iteration(self) -> Any:
        """A generator has ended."""
        return self._is("==", callconv.RETCODE_STOPIT)


class LeanLower(Lower):
    """The writer of a function's code."""

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Make room for a variable."""
        return cgutils.alloca_once(self.builder, lltype, name=name)

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Write the function that Python calls."""
        self.context = self.context.counted
        super().create_cpython_wrapper(release_gil)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store a variable; what it had before is not read, unless references to it are counted."""
        if name in self._singly_assigned_vars or self._is_counted(name):
            super().storevar(value, name, argidx)
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """Delete a variable; unless references to it are counted, nothing is to be done."""
        if self._is_counted(name):
            super().delvar(name)
        elif name not in self._blk_local_varmap:
            self._singly_assigned_vars.discard(name)

    def _is_counted(self, name: str) -> bool:
        model = self.context.data_model_manager[self.typeof(name)]
        return bool(self.context.enable_nrt and model.contains_nrt_meminfo())

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Return the value of an expression."""
        found = None
        if expr.op == "getiter":
            found = self._begin_of_range(expr)
        elif expr.op == "iternext":
            found = self._next_of_range(expr)
        elif expr.op in ("pair_first", "pair_second") and not self._is_counted(expr.value.name):
            found = self._at(self.loadvar(expr.value.name), int(expr.op == "pair_second"))
        return super().lower_expr(resty, expr) if found is None else found

    # ---- elements and rows of arrays ----------------------------------------------------------

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Return an element of an array, or a part of it that is in one piece."""
        array, kind = self.loadvar(value.name), self.typeof(value.name)
        returned, indices = signature.return_type, self._indices(kind, index)
        if indices and len(indices) == kind.ndim and returned == kind.dtype:
            found = load_item(self.context, self.builder, kind, self._place(kind, array, indices))
        elif indices and self._is_part(kind, returned, len(indices)):
            found = self._part(kind, returned, array, indices)
            self.incref(returned, found)
        else:
            return super().lower_getitem(resty, expr, value, index, signature)
        return self.context.cast(self.builder, found, returned, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Store an element of an array."""
        kind, given = self.typeof(target_var.name), self.typeof(value_var.name)
        indices = self._indices(kind, index_var)
        if not indices or len(indices) < kind.ndim or not isinstance(given, _SCALARS):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        place = self._place(kind, self.loadvar(target_var.name), indices)
        value = self.context.cast(self.builder, self.loadvar(value_var.name), given, kind.dtype)
        store_item(self.context, self.builder, kind, value, place)
        return None

    def _indices(self, kind: Any, index: Any) -> list[tuple[Any, Any]]:
        """Return the integers of an index and their types; none if numba is to write the code."""
        if not isinstance(kind, types.Array) or kind.layout != "C":
            return []
        if not isinstance(kind.dtype, _SCALARS):
            return []
        value = self.loadvar(index.name)
        given: Any = self.typeof(index.name)
        found = [(value, given)]
        if isinstance(given, types.BaseTuple):
            kinds: Any = given
            found = [(self._at(value, k), each) for k, each in enumerate(kinds)]
        if len(found) > kind.ndim or not all(isinstance(each, types.Integer) for _, each in found):
            return []
        return found

    def _is_part(self, kind: Any, returned: Any, n: int) -> bool:
        return (
            type(returned) is types.Array
            and returned.dtype == kind.dtype
            and returned.ndim == kind.ndim - n
            and returned.layout == "C"
        )

    def _place(self, kind: Any, array: Any, indices: Any) -> Any:
        """Return the pointer to an element, or to the first of a part."""
        offset, shape = None, self._field(array, "shape", kind)
        for axis in range(kind.ndim):
            length = self._at(shape, axis)
            if offset is not None:
                offset = self.builder.mul(offset, length)
            if axis < len(indices):
                index = self._checked(indices[axis], length, axis)
                offset = index if offset is None else self.builder.add(offset, index)
        return self.builder.gep(self._field(array, "data", kind), [offset])

    def _checked(self, given: tuple[Any, Any], length: Any, axis: int) -> Any:
        """Return an index that counts from the begin of an axis; check it, if that is wanted."""
        index, kind = given
        constant = index.constant if isinstance(index, llvm.Constant) else None
        index = self.context.cast(
            self.builder, index, kind, types.intp if kind.signed else types.uintp
        )
        if kind.signed and not (isinstance(constant, int) and constant >= 0):
            is_behind = self.builder.icmp_signed("<", index, _INTP(0))
            behind = self.builder.add(index, length)
            index = self.builder.select(is_behind, behind, index)
        if self.context.enable_boundscheck:
            cgutils.do_boundscheck(self.context, self.builder, index, length, axis)
        return index

    def _part(self, kind: Any, returned: Any, array: Any, indices: Any) -> Any:
        """Return the array of all elements with some first indices."""
        part = llvm.Constant(self.context.get_value_type(returned), llvm.Undefined)
        n_items = _INTP(1)
        for field in ("shape", "strides"):
            rest = llvm.Constant(llvm.ArrayType(_INTP, returned.ndim), llvm.Undefined)
            for axis in range(returned.ndim):
                each = self._at(self._field(array, field, kind), len(indices) + axis)
                rest = self.builder.insert_value(rest, each, axis)
                if field == "shape":
                    n_items = self.builder.mul(n_items, each)
            part = self._with_field(part, returned, field, rest)
        part = self._with_field(part, returned, "nitems", n_items)
        place = self._place(kind, array, indices)
        part = self._with_field(part, returned, "data", place)
        for field in ("meminfo", "parent", "itemsize"):
            part = self._with_field(part, returned, field, self._field(array, field, kind))
        return part

    def _with_field(self, array: Any, kind: Any, field: str, value: Any) -> Any:
        position = self.context.data_model_manager[kind].get_field_position(field)
        return self.builder.insert_value(array, value, position)

    def _field(self, array: Any, field: str, kind: Any) -> Any:
        """Return a field of an array."""
        return self._at(array, self.context.data_model_manager[kind].get_field_position(field))

    def _at(self, value: Any, place: int) -> Any:
        """Return a part of a tuple or another structure."""
        if isinstance(value, llvm.Constant) and isinstance(value.constant, list | tuple):
            return value.constant[place]
        return self.builder.extract_value(value, place)

    # ---- loops over ranges --------------------------------------------------------------------

    def _begin_of_range(self, expr: Any) -> Any:
        """Return an iterator of a range whose step is one."""
        if self.typeof(expr.value.name) != types.range_state64_type:
            return None
        call = guard(get_definition, self.func_ir, expr.value)
        if not isinstance(call, ir.Expr) or call.op != "call":
            return None
        function = guard(get_definition, self.func_ir, call.func)
        is_range = getattr(function, "value", None) is range  # and no function that returns one
        if not is_range or len(call.args) > 2 or call.kws or call.vararg:
            return None
        state, builder = self.loadvar(expr.value.name), self.builder
        start, stop = self._at(state, 0), self._at(state, 1)
        left = builder.sub(stop, start)
        left = builder.select(builder.icmp_signed(">", left, _INTP(0)), left, _INTP(0))
        at, n_left = cgutils.alloca_once(builder, _INTP), cgutils.alloca_once(builder, _INTP)
        builder.store(start, at)
        builder.store(left, n_left)
        kind = self.context.get_value_type(types.range_iter64_type)
        iterator = llvm.Constant(kind, llvm.Undefined)
        for place, value in enumerate((at, stop, _INTP(1), n_left)):
            iterator = builder.insert_value(iterator, value, place)
        return iterator

    def _next_of_range(self, expr: Any) -> Any:
        """Return the next number of a range, and whether there is one."""
        if self.typeof(expr.value.name) != types.range_iter64_type:
            return None
        iterator, builder = self.loadvar(expr.value.name), self.builder
        at, left = self._at(iterator, 0), self._at(iterator, 3)
        number, n_left = builder.load(at), builder.load(left)
        builder.store(builder.add(number, self._at(iterator, 2)), at)
        builder.store(builder.sub(n_left, _INTP(1)), left)
        pair = self.context.get_value_type(types.Pair(types.intp, types.boolean))
        found = builder.insert_value(llvm.Constant(pair, llvm.Undefined), number, 0)
        return builder.insert_value(found, builder.icmp_signed(">", n_left, _INTP(0)), 1)
