"""The compilers of kernels and helpers: numba's, with some of its parts replaced.

The replacements take less time to compile, or let Ctrl-C pass; the results are the same.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any

from numba import njit, types
from numba.core import boxing, ir, postproc, pythonapi, transforms
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaRuntimeError
from numba.core.typed_passes import NativeLowering
from numba.core.typing import templates
from numba.np import arrayobj

from batchsolve.errors import InputError
from batchsolve.lowering import LeanContext, LeanLower

_PARTS = ("getitem", "static_getitem", "getiter", "iternext")
"""The expressions whose values are parts of arrays that are held."""
_COUNTED = (types.List, types.ListType, types.DictType, types.Set, types.UnicodeType)
"""The types whose parts are made, or counted, where they are taken."""
_NOT_FOR_PYTHON: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def dispatcher(function: Callable[..., Any], **how: Any) -> Any:
    """Return a function that numba compiles when it is called."""
    compiled: Any = njit(**how)(function)
    if not isinstance(compiled, Dispatcher):
        raise InputError(
            "NUMBA_DISABLE_JIT is set, and batchsolve searches with compiled kernels; unset it"
        )
    return compiled


def helper_of(function: Callable[..., Any], compiler: type[Compiler], **how: Any) -> Any:
    """Compile a function for kernels, once for all constants that they pass.

    Numba would compile it for each constant argument, and for the first value of each variable.
    """
    compiled = dispatcher(function, pipeline_class=compiler, **_NOT_FOR_PYTHON, **how)
    template = compiled.get_call_template

    def template_without_constants(arguments: Any, named: Any) -> Any:
        arguments = tuple(map(types.unliteral, arguments))
        return template(arguments, {name: types.unliteral(each) for name, each in named.items()})

    vars(compiled)["get_call_template"] = template_without_constants
    return compiled


class _HelperCode(JITCodeLibrary):
    """The code of a helper, which becomes machine code in kernels alone.

    Numba would make machine code of each helper, together with all those that it calls.
    """

    @property
    def codegen(self) -> Any:
        """The object to which numba gives the constants of a function: this one."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing; a kernel gets the constants of its helpers when it is compiled."""

    def get_pointer_to_function(self, name: str) -> int:
        """Return that there is no machine code."""
        return 0

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _PartCode(_HelperCode):
    """The code of a helper that is optimised in kernels."""

    def _optimize_final_module(self) -> None:
        passes = self._codegen._module_pass_manager(cost="cheap", opt=0)
        passes, *builder = passes if isinstance(passes, tuple) else [passes]  # by numba's version
        passes.run(self._final_module, *builder)


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(NativeLowering):
    """The pass that writes the code of a kernel.

    It leaves out the counts of the references to arrays, where the function has no lists and
    neither makes nor returns arrays: its caller holds them.
    """

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> type[LeanLower]:
        """The writer of the code."""
        return LeanLower

    def run_pass(self, state: Any) -> bool:
        """Write the code."""
        kinds = [state.return_type]
        for each, signature in state.calltypes.items():
            if isinstance(each, ir.SetItem | ir.StaticSetItem):
                kinds.append(signature.args[-1])  # numba may copy what is assigned
            elif getattr(each, "op", "") not in _PARTS:
                kinds.append(signature.return_type)
        context, models = state.targetctx, state.targetctx.data_model_manager
        counts = any(models[kind].contains_nrt_meminfo() for kind in kinds)
        counts |= any(isinstance(kind, _COUNTED) for kind in state.typemap.values())
        if not (counts or state.func_ir.is_generator):  # that outlives what it is given
            with suppress(NumbaRuntimeError):  # numba makes something: an array by a mask, say
                return self._write(state, LeanContext.of(context, counts=False))
        return self._write(state, LeanContext.of(context, counts=True))

    def _write(self, state: Any, context: LeanContext) -> bool:
        state.targetctx = context
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _HelperLowering(_KernelLowering):
    """The pass that writes the code of a helper."""

    _name = "helper_lowering"
    _code = _HelperCode

    def _write(self, state: Any, context: LeanContext) -> bool:
        state.library = self._code(context.codegen(), state.func_id.func_qualname)
        return super()._write(state, context)


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(_HelperLowering):
    """The same for helpers that are optimised in kernels."""

    _name = "part_lowering"
    _code = _PartCode


class KernelCompiler(Compiler):
    """The compiler of kernels."""

    _lowering: type[NativeLowering] = _KernelLowering

    def define_pipelines(self) -> Any:
        """Return numba's passes, with one of ours that writes the code."""
        [passes] = super().define_pipelines()
        passes.passes = [
            (self._lowering if each is NativeLowering else each, text)
            for each, text in passes.passes
        ]
        passes.finalize()
        return [passes]


class HelperCompiler(KernelCompiler):
    """The compiler of helpers."""

    _lowering = _HelperLowering


class PartCompiler(KernelCompiler):
    """The compiler of helpers that are optimised in kernels."""

    _lowering = _PartLowering


@contextmanager
def parts_replaced() -> Iterator[None]:
    """Replace parts of numba in the block, which compiles a kernel."""
    with ExitStack() as parts:
        for replace in (
            _arrays_without_python,
            _shape_errors_without_text,
            _overloads_as_helpers,
            _call_types_once,
            _lifetimes_once,
            _without_garbage_collection,
        ):
            parts.enter_context(replace())
        yield


@partial(helper_of, compiler=HelperCompiler)
def _raise_shape_error(_source: Any, _target: Any) -> None:
    raise ValueError("an array does not fit where it is assigned")


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Give an attribute of numba, which may not be public, another value in the block."""
    before = getattr(owner, name, None)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _shape_errors_without_text() -> AbstractContextManager[None]:
    """Make a wrong shape in an assignment an error that names none: words take long to compile."""
    return _replaced(arrayobj, "raise_with_shape_context", _raise_shape_error)


@contextmanager
def _arrays_without_python() -> Iterator[None]:
    """Make compiled functions return arrays without calling Python.

    Numba unpickles the class of each array that it returns. That runs Python, which raises a Ctrl-C
    that came meanwhile in the middle of making a result: it is lost, or the process crashes. Here
    the class is a constant of the compiled function, as the array's dtype is in numba.
    """
    boxers = getattr(getattr(pythonapi, "_boxers", None), "functions", {})  # not public
    before = boxers.get(types.Array)
    boxers[types.Array] = _box_array
    try:
        yield
    finally:
        boxers[types.Array] = before


def _box_array(kind: Any, value: Any, c: Any) -> Any:
    array_class = c.env_manager.read_const(c.env_manager.add_const(kind.box_type))
    c.pyapi.unserialize = lambda _: array_class
    try:
        return boxing.box_array(kind, value, c)
    finally:
        del c.pyapi.unserialize


def _overloads_as_helpers() -> AbstractContextManager[None]:
    """Compile the functions of numpy as helpers; numba would make machine code of each."""
    overloads: Any = getattr(templates, "_OverloadFunctionTemplate", None)  # not public
    before = getattr(overloads, "_get_jit_decorator", None)
    if before is None:
        return nullcontext()

    def decorator(self: Any) -> Any:
        return partial(before(self), pipeline_class=HelperCompiler, no_cfunc_wrapper=True)

    return _replaced(overloads, "_get_jit_decorator", decorator)


def _call_types_once() -> AbstractContextManager[None]:
    """Find the types of each call of numba's own functions once; it would look them up again.

    Compiling takes a tenth less time.
    """
    before, found = types.BaseFunction.get_call_type, dict[Any, Any]()

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        key = function, tuple(args), tuple(kws.items())
        if key not in found:
            found[key] = before(function, context, args, kws)
        return found[key]

    return _replaced(types.BaseFunction, "get_call_type", get_call_type)


def _lifetimes_once() -> AbstractContextManager[None]:
    """Find the lifetimes of variables before code is written; numba would after each pass, too.

    Compiling takes a tenth less time.
    """
    before = postproc.PostProcessor.run

    def run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        code = self.func_ir
        if emit_dels or code.is_generator:
            before(self, emit_dels, extend_lifetimes)
        else:
            code.blocks = transforms.canonicalize_cfg(code.blocks)
            code.variable_lifetime = postproc.VariableLifetime(code.blocks)  # found if needed

    return _replaced(postproc.PostProcessor, "run", run)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Collect no cycles while numba works: it makes many objects, and would take a tenth longer."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def check_returned(compiled: Any) -> None:
    """Raise `TypeError` if a kernel returns a named tuple; return ``named[:]``, a plain one.

    See `_arrays_without_python`.
    """
    waiting: list[Any] = [each.signature.return_type for each in compiled.overloads.values()]
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, types.BaseNamedTuple):
            raise TypeError(f"{compiled.py_func.__qualname__} returns {kind}; return a plain tuple")
        waiting += getattr(kind, "types", ())  # of a tuple
