"""Arrays without owners, which compiled code borrows in frequent calls.

numba counts references to the owner of every array that a function is given, with atomic
instructions: a call with twenty arrays takes half a microsecond for that alone. Arrays that are
lent must be used once more after the last call that borrows them, or numba frees them before it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _borrowed(typing_context: Any, arrays: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _without_owners(context, builder, signature.return_type, args[0])

    return arrays(arrays), generate


borrowed: Any = intrinsic(_borrowed)
"""Return a tuple of the same arrays without their owners, which must outlive it.

It may hold tuples of arrays, numbers and truth values.
"""


def _without_owners(context: Any, builder: Any, kind: Any, value: Any) -> Any:
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
