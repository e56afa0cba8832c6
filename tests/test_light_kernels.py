"""Light kernels do the same in Python as in machine code, for every type that they are called with.

Each has a function here that draws arguments for it, small ones and those at the edges of types.
"""

import importlib
import pkgutil

import numpy as np
import pytest

import batchsolve
from batchsolve import kernels
from batchsolve.engines.lanes.memory import Covers, Frontier
from batchsolve.graphs.solution_graph import as_words

ROUNDS = 40


def light_kernels():
    """Yield the name and the function of every light kernel."""
    for module in pkgutil.walk_packages(batchsolve.__path__, "batchsolve."):
        if not module.name.endswith("__main__"):
            for name, each in vars(importlib.import_module(module.name)).items():
                own = getattr(each, "__module__", "") == module.name
                if own and isinstance(getattr(each, "_compile_for_args", None), kernels._Light):
                    yield f"{module.name.removeprefix('batchsolve.')}.{name}", each


LIGHT = dict(light_kernels())


def numbers(rng, n, kind=np.uint8, low=0, high=None):
    """Draw numbers, many of them at the ends of their range."""
    high = np.iinfo(kind).max if high is None else high
    drawn = rng.integers(low, high, n, kind, endpoint=True)
    return np.where(rng.random(n) < 0.3, rng.choice(np.array([low, high], kind)), drawn)


def offsets(rng, n, kind=np.int64, most=9):
    """Draw the offsets of some lists, of which some are empty."""
    return np.append(0, np.cumsum(rng.integers(0, most, n))).astype(kind)


def lists(rng, high=0xFFFFFFFF):
    """Draw some lists of options."""
    bounds = offsets(rng, rng.integers(1, 6), most=rng.choice([2, 9, 99]))
    return bounds, numbers(rng, bounds[-1], np.uint32, high=high)


def bounded(rng, n, high, kind=np.int64):
    """Draw indices below a number."""
    return rng.integers(0, high, n if high else 0).astype(kind)


def in_tree_order(rng):
    n_stacks, n = 3, 8
    following = np.full(n, -1, np.int64)
    tops = [*range(n_stacks)]
    for segment in range(n_stacks, n):
        k = rng.integers(n_stacks)
        following[tops[k]] = segment
        tops[k] = segment
    bounds, options = lists(rng)
    n_left = bounds.size - 1
    covers = Covers(np.zeros(0, np.uint16), np.zeros((0, 4), np.uint8), bounded(rng, 7, n))
    frontier = Frontier(bounds, options, bounded(rng, n_left, n), rng.random(n_left))
    left = np.array([0, 0, 0, 0, 5, n_left, n])
    return covers, frontier, following, left, np.array([4, 4, 9]), int(rng.integers(0, 3))


def clashes(rng):
    n_digits = int(rng.integers(1, 256))
    grids = numbers(rng, (4, 5), high=min(n_digits + 1, 255))
    indptr = np.arange(5 * n_digits + 1) * 2
    indices = bounded(rng, indptr[-1], 12, np.uint32)
    return grids, n_digits, indptr, indices, 12, np.zeros(4, np.int64)


def graph(rng):
    """Draw option, low and high of the nodes of a diagram."""
    n = int(rng.integers(2, 20))
    low, high = (
        np.array([0, 0, *(rng.integers(0, x) for x in range(2, n))], np.uint32) for _ in range(2)
    )
    return numbers(rng, n, np.uint32, high=99), low, high


def counted(rng):
    _, low, high = graph(rng)
    counts = np.zeros((low.size, int(rng.integers(1, 3))), np.uint64)
    return low, high, counts


def descended(rng):
    option, low, high = graph(rng)
    each = [0, int(rng.choice([1, 2**63]))]
    for x in range(2, low.size):
        each.append(each[low[x]] + each[high[x]])
    counts = as_words(each, 8)
    wanted = [int(rng.integers(0, min(each[-1], 2**62))) for _ in range(3) if each[-1]]
    covers = np.zeros((len(wanted), low.size), np.uint32)
    sizes = np.zeros(len(wanted), np.int64)
    return option, low, high, counts, low.size - 1, as_words(wanted, 8), covers, sizes


DRAW = {
    "engines.lanes.results._in_tree_order": in_tree_order,
    "engines.lanes.results._options": lambda rng: (
        *(numbers(rng, (4, 3), np.uint16), bounded(rng, 5, 4)),
    ),
    "graphs.solution_graph._count": counted,
    "graphs.solution_graph._descend": descended,
    "graphs.solution_graph._longest": lambda rng: graph(rng)[1:],
    "graphs.solution_graph._reachable": lambda rng: (*graph(rng)[1:], 1),
    "problems.sudoku._find_clashes": clashes,
    "problems.variants._wrong_region": lambda rng: (numbers(rng, (3, 16), high=4), 4),
}


def copied(value):
    """Return arguments with copies of arrays."""
    if isinstance(value, tuple):
        parts = map(copied, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value.copy() if isinstance(value, np.ndarray) else value


def seen(value):
    """Return values that can be compared, with the types of arrays."""
    if isinstance(value, tuple):
        return tuple(map(seen, value))
    return (value.dtype.str, value.tolist()) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("name", sorted(LIGHT))
def test_a_light_kernel_does_the_same_in_python(name, monkeypatch):
    light, rng = LIGHT[name], np.random.default_rng(0)
    for _ in range(ROUNDS):
        arguments = DRAW[name](rng)
        others = [copied(arguments) for _ in range(2)]
        found = light(*arguments)
        same = kernels._in_python(light.py_func), vars(light)["_compile_for_args"].counterpart
        for each, in_python in zip(others, same, strict=True):
            if in_python is not None:
                with np.errstate(over="ignore"):
                    assert seen(in_python(*each)) == seen(found)
                assert seen(each) == seen(arguments)
