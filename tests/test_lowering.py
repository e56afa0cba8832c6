"""Kernels do what their Python functions do, where less code is written for them and elsewhere."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numba import njit
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python, rtsys

from batchsolve.kernels import _in_python, helper, kernel, part

THREE = np.array([7, 8, 9], np.uint8)
BYTES = np.arange(24, dtype=np.uint8)
WORDS = BYTES.view(np.int64)  # the same bytes, which must be aligned
NONE = np.zeros((0, 2), np.int64)
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "A": lambda array: np.repeat(array, 2, axis=1)[:, ::2],
}
SMALL = st.integers(-6, 6)


def check(compiled, *arguments):
    """Compare a kernel with its Python function: what it returns or raises, and what it stores."""
    found = [outcome(each, arguments) for each in (compiled, _in_python(compiled.py_func))]
    assert found[0] == found[1]
    return found[0][0]


def outcome(function, arguments):
    arguments = [np.copy(each, "K") if np.ndim(each) else each for each in arguments]
    try:
        returned = function(*arguments)
    except ValueError as error:
        returned = error.args
    return plain(returned), plain(arguments)


def plain(value):
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


@kernel
def elements(a, i, j):
    place = i, j
    a[place] = 2.75
    a[np.uint8(1), -1] += 3
    a[-2][0] = True
    row = a[j]
    for k in range(2):
        row[k] += a[i, k] + a[place]
        row = a[k]
    row[-1] -= 1
    return a[place], a[i], row, a[:, j].copy(), a[1, 1:]


@pytest.mark.parametrize("layout", LAYOUTS)
@given(i=st.integers(-3, 2), j=st.integers(-3, 2))
def test_elements_and_rows(layout, i, j):
    check(elements, LAYOUTS[layout](np.arange(9).reshape(3, 3)), i, j)


@helper
def down(n):
    return range(n, 0, -2)


@kernel
def ranges(first, last):
    kept, i, total = range(first, last), 50, 0
    for i in kept:
        if i == 4:
            continue
        for k in range(i):
            total = total * 3 + k
    for k in kept:
        total += 7 * k
    for k in down(last):
        total = total * 5 + k
        if k == 1:
            break
    else:
        total += 1
    for k in range(last, first, -1):
        total = total * 3 + k
    return total % 1_000_003, i


@given(SMALL, SMALL)
def test_ranges(first, last):
    check(ranges, first, last)


@helper
def evens(n):
    for i in range(n):
        if i % 2 == 0:
            yield i


@part
def odd(n):
    if n > 4:
        raise ValueError("too large", n)
    return n if n % 2 else None


@helper
def square(n, log):
    log[0] += 1
    found = odd(n)
    return 0 if found is None else found * found


@kernel
def calls(n, log):
    total = 0
    for i in range(n):
        found = np.full(2, i)
        total += square(i, log) + found[1]
    for i in evens(n):
        total += i
    return total


@kernel
def caught(n, log):
    total = 0
    for i in range(n):
        try:
            total += square(i, log) if i != 5 else 50
        except Exception:
            total += 100
    return total


@pytest.mark.parametrize("n", [0, 4, 5, 6, 8])
def test_calls_and_their_errors(n):
    check(calls, n, np.zeros(1, np.int64))
    check(caught, n, np.zeros(1, np.int64))


@kernel
def constants(i):
    total = BYTES[i] + WORDS[-1] + len(NONE)
    for row in NONE:
        total += row[0]
    return total, THREE, BYTES, WORDS, NONE


def test_constants():
    check(constants, 0)
    assert constants(0)[3].ctypes.data % WORDS.itemsize == 0


@helper
def made(n):
    return np.arange(n)


@helper
def each_of(array):
    for i in range(len(array)):
        yield array[i]


@kernel
def from_a_generator(n):
    total = 0
    for x in each_of(made(n)):
        made(n)[:] = 7
        total = total * 3 + x
    return total


@kernel
def chosen(a, places):
    total = 0
    for x in a[places]:
        total = total * 3 + x
    return total


@kernel
def letters(text):
    total = 0
    for letter in text:
        if letter == "a":
            total += 1
    return total


def test_what_kernels_make_is_held():
    check(from_a_generator, 5)
    check(chosen, np.arange(5), np.array([3, 1]))


@kernel
def arrays(n):
    kept = last = made(n)
    for i in range(n):
        last = made(i + 1)
        if i % 3 == 1:
            kept = last[1:]
    if n > 6:
        raise ValueError(len(kept))
    return kept, (last, kept)


def test_references_are_counted():
    check(arrays, 5)
    check(letters, "bad data")
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        for n in list(range(8)) * 20:
            outcome(arrays, [n])
            letters("abc" * n)
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0


@kernel
def power(x, y):
    return x**y  # by a function of numba's own


def test_numba_of_the_user_gets_no_functions_that_were_compiled_for_kernels():
    own = cpu_target.target_context.cached_internal_func
    own.clear()  # it is found again when it is needed
    assert power(3, 4) == 81
    assert not own
    assert njit(lambda x, y: x**y)(3, 4) == 81
    assert own
