"""Light kernels do the same in Python as in machine code, for every type that they are called with.

Each has a function here that draws arguments for it, small ones and those at the edges of types.
"""

import importlib
import pkgutil
from functools import partial

import numpy as np
import pytest

import batchsolve
from batchsolve import kernels
from batchsolve.engines.lanes.memory import Covers, Frontier
from batchsolve.problems.rules import named, plain
from batchsolve.splitmix import all_below, below
from batchsolve.symmetry import drawing
from batchsolve.symmetry.images import group_of
from batchsolve.tables import repeats

ROUNDS = 40
GROUPS = [
    batchsolve.Sudoku(2, 2),
    batchsolve.Sudoku(2, 3),
    batchsolve.Sudoku(1, 3),
    *(batchsolve.Variant(plain(2, 2) + named(name, 2, 2)) for name in ("x", "nonconsecutive")),
]
TEXTS = [
    b'1.2"3,4\r\n5',
    b" 12  7 ",
    b"-1 0 300 16;9",
    b"\xff\x80\xc3\xa9 ",
    b"",
    b"0 0 1 2",
    b"a" * 300,
]


def light_kernels():
    """Yield the name and the function of every light kernel."""
    for module in pkgutil.walk_packages(batchsolve.__path__, "batchsolve."):
        if not module.name.endswith("__main__"):
            for name, each in vars(importlib.import_module(module.name)).items():
                own = getattr(each, "__module__", "") == module.name
                if own and isinstance(
                    getattr(each, "__dict__", {}).get("_compile_for_args"), kernels._Light
                ):
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


def texts(rng):
    """Draw an Arrow column of text: its data and its offsets."""
    each = [bytes(numbers(rng, rng.integers(0, 20))) for _ in range(rng.integers(0, 4))]
    each += [TEXTS[k] for k in rng.integers(0, len(TEXTS), 3)]
    return np.frombuffer(b"".join(each), np.uint8), np.cumsum([0, *map(len, each)], dtype=np.int32)


def bounded(rng, n, high, kind=np.int64):
    """Draw indices below a number."""
    return rng.integers(0, high, n if high else 0).astype(kind)


def ranked(rng):
    """Draw lists, and a rank for each option."""
    bounds, options = lists(rng, 40)
    return bounds, options, rng.permutation(41).astype(np.uint32)


def in_order(rng):
    bounds, options, rank = ranked(rng)
    return bounds, options, rng.permutation(bounds.size - 1).astype(np.uint32), rank


def gathered(rng):
    bounds, options = lists(rng)
    return bounds, options, bounded(rng, 5, bounds.size - 1)


def joined(rng, kind):
    pieces = [b"", b'"a"', b"12", *([b"x"] * 300)]
    bounds = offsets(rng, 3)
    keys = numbers(rng, bounds[-1], kind, high=min(300, np.iinfo(kind).max))
    text = partial(numbers, rng)
    starts = np.cumsum([0, *map(len, pieces)])
    return (
        bounds,
        keys,
        starts,
        np.frombuffer(b"".join(pieces), np.uint8),
        text(3),
        text(2),
        text(0),
    )


def words(rng):
    bounds = offsets(rng, 20, most=4)
    high = rng.choice(np.array([1, 2**64 - 1], np.uint64))
    return bounds, numbers(rng, bounds[-1], np.uint64, high=high)


def shifts(rng):
    """Draw the shifts of symbols; see `Notation.shifts`."""
    return np.unique(np.append(np.uint8(0), numbers(rng, 3))), numbers(rng, 4)


def framed(rng):
    begins, steps = shifts(rng)
    text = partial(numbers, rng)
    return (
        text((3, 9)),
        bounded(rng, 3, 3, np.uint32),
        begins,
        steps[: begins.size],
        text(4),
        text(2),
    )


def symbols(rng):
    begins, steps = shifts(rng)
    return numbers(rng, rng.choice([0, 1, 700])), begins, steps[: begins.size]


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


def least_of(rng):
    bounds, options = lists(rng, 6)
    images = np.array([rng.permutation(7) for _ in range(4)], np.uint32)
    return bounds, options, images, np.ones(bounds.size - 1, np.bool_)


def encoded(rng, *notation):
    data, bounds = texts(rng)
    n = bounds.size - 1
    n_cells = int(rng.choice([4, 16]))
    return (
        *(data, bounds, *notation, numbers(rng, 256)),
        *(np.zeros((n, n_cells), np.uint8), np.full(n, -1, np.int32)),
    )


def clashes(rng):
    n_digits = int(rng.integers(1, 256))
    grids = numbers(rng, (4, 5), high=min(n_digits + 1, 255))
    indptr = np.arange(5 * n_digits + 1) * 2
    indices = bounded(rng, indptr[-1], 12, np.uint32)
    return grids, n_digits, indptr, indices, 12, np.zeros(4, np.int64)


def filled(rng):
    bounds, options = lists(rng, 50)
    cells, digits = bounded(rng, 40, 9, np.uint16), numbers(rng, 51)
    return bounds, options, cells, digits, np.zeros((bounds.size - 1, 9), np.uint8)


def added(rng):
    rows = bounded(rng, 6, 5)
    sums = *numbers(rng, (2, 5), np.int64), rng.random(5), np.zeros(5, np.int32)
    found = *numbers(rng, (2, 6), np.int64), numbers(rng, 6, np.int32)
    pending = numbers(rng, 5, np.int32)
    return sums, pending, np.zeros(5, np.bool_), rows, found, rng.random(), bounded(rng, 4, 5)


def record(rng):
    data = texts(rng)[0]
    return data, int(rng.integers(0, data.size + 1)), int(rng.choice([0, 44])), int(rng.integers(9))


def hashed(rng):
    n_cells = int(rng.choice([4, 6, 81]))
    factors = numbers(rng, (4, 1 + -(-n_cells // 4)), np.uint64)
    return numbers(rng, (5, n_cells)), factors, np.zeros((5, 2), np.uint64)


def seen_keys(rng):
    """Draw a table of keys with some in it, and others to be added."""
    keys, rows = np.zeros((16, 2), np.uint64), np.full(16, -1)
    old, new = rng.integers(0, 4, (2, 6, 2)).astype(np.uint64) * np.uint64(2**63 - 1)
    repeats._add_in_python(keys, rows, old, np.ones(6, np.bool_), 0, np.zeros(6, np.int64))
    return keys, rows, new, rng.random(6) < 0.8, 6, np.full(6, -1)


def images(rng):
    """Draw puzzles of few clues, so that images repeat, and room for their images."""
    group = group_of(GROUPS[rng.integers(len(GROUPS))])
    m, most, n_cells = rng.integers(1, 4), int(rng.integers(1, 9)), group.moves.shape[1]
    drawn, solved = np.zeros((2, m * most, n_cells), np.uint8)
    grids, solutions = rng.integers(0, group.n_digits + 1, (2, m, n_cells), np.uint8)
    grids[rng.random(grids.shape) < rng.choice([0.5, 0.9, 1])] = 0
    arrays = (*group.box, group.turns, group.labels, group.moves, group.relabels)
    seed, original = numbers(rng, 2, np.uint64), bool(rng.integers(2))
    if rng.random() < 0.5:
        solutions, solved = solutions[:, :0], solved[:, :0]
    ids = bounded(rng, m, 1 << 40)
    return grids, solutions, ids, seed, most, original, arrays, drawn, solved, np.zeros(m, np.int64)


DRAW = {
    "engines.lanes.results._in_tree_order": in_tree_order,
    "engines.lanes.results._options": lambda rng: (
        *(numbers(rng, (4, 3), np.uint16), bounded(rng, 5, 4)),
    ),
    "formats.render._ascending": lists,
    "formats.render._frame": framed,
    "formats.render._gather_ranks": in_order,
    "formats.render._is_less": lambda rng: (np.uint32(1), np.uint32(0), *words(rng)),
    "formats.render._join": lambda rng: joined(rng, rng.choice([np.uint8, np.int32])),
    "formats.render._pack_lists": lambda rng: (*ranked(rng), int(rng.choice([6, 32]))),
    "formats.render._sorted_order": words,
    "problems.grids._fill_grids": filled,
    "problems.grids._stacks_of": lambda rng: (numbers(rng, (3, 9)), int(rng.integers(256))),
    "problems.notation._decode_numbers": lambda rng: (numbers(rng, (3, 9)), 32, 46),
    "problems.notation._decode_symbols": symbols,
    "problems.notation._encode_numbers": lambda rng: encoded(rng, int(rng.choice([4, 255]))),
    "problems.notation._encode_symbols": encoded,
    "problems.notation.trim": lambda rng: (numbers(rng, 9, high=33), 0, 9),
    "problems.stacks.gather": gathered,
    "problems.sudoku._find_clashes": clashes,
    "problems.survey._survey": texts,
    "problems.variants._wrong_region": lambda rng: (numbers(rng, (3, 16), high=4), 4),
    "search.open_rows._add_up": added,
    "symmetry.drawing.draw": images,
    "symmetry.symmetries._find_least": least_of,
    "tables.blocks._record_end": record,
    "tables.checksums._with_zeros": lambda rng: (
        *(int(numbers(rng, 1, np.uint32)[0]), int(rng.integers(0, 2**40))),
    ),
    "tables.repeats._add": seen_keys,
    "tables.repeats._hash": hashed,
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


def test_images_that_numpy_draws_some_at_a_time_are_the_same(monkeypatch):
    light, rng = LIGHT["symmetry.drawing.draw"], np.random.default_rng(1)
    for n_cells in rng.choice([1, 20, 60], ROUNDS):
        monkeypatch.setattr(drawing, "_MOST_AT_ONCE", n_cells)
        arguments = images(rng)
        others = copied(arguments)
        light(*arguments)
        drawing._draw_at_once(*others)
        assert seen(others) == seen(arguments)


def test_many_random_numbers_are_those_that_come_one_after_the_other():
    bounds = np.array(
        [1, 2, 3 << 29, 7, 3 << 29, 5 << 28, 2] * 5, np.uint64
    )  # many are drawn again
    states = np.array([0, 1, 2**64 - 1, 2**63], np.uint64)
    found, after = all_below(states, bounds)
    one_by_one = kernels._in_python(below.py_func)
    with np.errstate(over="ignore"):
        for k in range(states.size):
            assert [one_by_one(states, k, bound) for bound in bounds] == found[k].tolist()
    assert states.tolist() == after.tolist()
