"""Arrays of unknown origin: they are checked before the core follows them.

The core also gets arrays that end or begin next to memory that must not be touched.
"""

import ctypes
import mmap
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from conftest import SOLVED
from invoking import run_python

import batchsolve as bs
from batchsolve.core import native
from batchsolve.engines import Task, get_engine
from batchsolve.engines.native import Made, Wish, dig_rows
from batchsolve.formats.render import cover_lines
from batchsolve.problems.notation import usual_notation
from batchsolve.problems.rules import Cage, OwnRules, Rules
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Variants
from batchsolve.runs import repeats

GRID = bs.Sudoku(3, 3)


UNFIT = [
    ([0, 10**6], [1], [0]),
    ([0, 1, 0], [1], [0, 1]),
    ([-1, 1], [1], [0]),
    ([0], [1], [0]),
    ([], [], []),
    ([0, 1], [1], []),
    ([[0, 1]], [1], [0]),
]


@pytest.mark.parametrize(("offsets", "options", "roots"), UNFIT)
def test_stacks_that_do_not_fit_together_are_refused(offsets, options, roots):
    with pytest.raises(bs.ProblemError, match="do not fit together"):
        Stacks(np.array(offsets, "i8"), np.array(options, "u4"), np.array(roots, "i8"))


@pytest.mark.parametrize("place", [2, -1, 10**12])
def test_stacks_are_taken_from_places_that_there_are(place):
    with pytest.raises(IndexError, match="places 0 to 1 hold stacks"):
        Stacks.from_lists([[1], [2]]).take([place])


CALLS = bs.count, bs.estimate, bs.draw, partial(bs.split, depth=1), lambda *a: [*bs.solutions(*a)]


@pytest.mark.parametrize("call", CALLS)
def test_a_stack_with_an_option_that_does_not_exist_is_one_error(call):
    with pytest.raises(bs.ProblemError, match="option 5000 does not exist; the last one is 728"):
        call(GRID, [5000])


def test_digits_that_a_grid_does_not_have_clash():
    grids = np.zeros((2, 81), np.uint8)
    grids[0, 5] = 1
    grids[0, 80] = 255
    assert GRID.first_clashes(grids).tolist() == [1, -1]


def test_symmetries_of_another_problem_have_no_images():
    found = bs.symmetries(bs.family("queens:6"))
    with pytest.raises(bs.ProblemError, match=r"another problem: .* an option that does not exist"):
        found.are_least(Stacks.from_lists([[99]]))
    with pytest.raises(bs.ProblemError, match="an image is option 9"):
        bs.Symmetries(np.full((1, 9), 9, np.uint32))


def test_a_grid_has_no_more_cells_than_their_numbers_tell():
    houses, pairs, related = (np.zeros((0, width), np.uint16) for width in (9, 2, 3))
    with pytest.raises(ValueError, match="grids have up to 65,535 cells"):
        native.GridRules(2**16, 9, 0, 0, houses, pairs, related, np.zeros((0, 9), np.uint32))


@pytest.mark.parametrize("wrong", ["option", "low", "high"])
def test_a_graph_has_no_children_or_options_from_elsewhere(wrong):
    graph = bs.solution_graph("queens:6")
    parts = {name: getattr(graph, name).copy() for name in ("option", "low", "high")}
    parts[wrong][-1] = 10**6
    with pytest.raises(bs.ProblemError, match="two children among them"):
        bs.SolutionGraph(graph.problem, **parts, root=graph.root)


@pytest.mark.parametrize("n_digits", [4, 9, 16, 25])
def test_what_is_no_grid_is_read_as_a_blank_one(n_digits):
    notation = usual_notation(n_digits)
    good = notation.decode(np.ones((1, n_digits**2), np.uint8), np.ones(1, np.bool_))[0].as_py()
    bad = good[:-1] + "é"
    grids, faults = notation.encode(pa.array([good, bad, good + good, "", "#" * n_digits**2]))
    assert (faults == -1).tolist() == [True, False, False, False, False]
    assert grids[0].all()
    assert not grids[1:].any()


def test_dedupe_keeps_its_memory_whole_where_rows_are_invalid(tmp_path):
    rows = [f"{'1' * 80}{c}\n" for c in ("x", "é", "\x7f", "1", ".")] * 500
    (tmp_path / "in.csv").write_text("puzzle\n" + "".join(rows), "utf-8")
    command = ["dedupe", "in.csv", "-o", "out.csv", "--box", "3x3"]
    done = run_python("-m", "batchsolve", *command, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + len(rows)


_TEXT = np.frombuffer(b"12.4", np.uint8)
_UINTS = np.zeros(1, np.uint32)
_REFUSED = (
    "ascend, within|each text is|does not exist|two words for each"
    "|of another shape|of other cells|do not fit together"
)


def _read(offsets, n_texts=1):
    grids = np.empty((n_texts, 4), np.uint8), np.empty(n_texts, np.int32)
    texts = np.array(offsets, np.int32), _TEXT
    native.read_symbols(texts, np.zeros(256, np.uint8), 0, *grids)


def _add_keys(n_slots):
    table = np.zeros((n_slots, 2), np.uint64), np.full(n_slots, -1)
    native.add_keys(*table, table[0][:1], np.ones(1, np.bool_), np.zeros(1, np.int64))


def _draw(puzzle, n_digits, move):
    puzzles, turns = np.array([puzzle], np.uint8), np.empty((0, len(puzzle)), np.uint16)
    keys, moves = np.zeros(2, np.uint64), np.array([move], np.uint16)
    group = n_digits, 1, n_digits, 2, turns, moves, np.zeros((1, n_digits + 1), np.uint8)
    native.draw_images(puzzles, puzzles, np.zeros(1, np.int64), keys, 3, False, group)


UNFIT_CALLS = [
    lambda: _read([0, 5]),
    lambda: _read([-1, 4]),
    lambda: _read([4, 0]),
    lambda: _read([0, 4], 2),
    lambda: _read([]),
    lambda: native.survey((np.array([0, 9], np.int32), _TEXT)),
    lambda: _add_keys(3),
    lambda: native.least_covers((np.array([0, 1]), _UINTS + 1), _UINTS[None]),
    lambda: native.least_covers((np.array([0, 1]), _UINTS), _UINTS[None] + 1),
    lambda: native.canonical_forms(np.zeros((1, 16), np.uint8), 2, 3, 9, False),
    lambda: _draw([0, 0, 0, 9], 2, [0, 1, 2, 3]),
    lambda: _draw([0, 0, 0, 1], 2, [0, 1, 2, 4]),
    lambda: _draw([0, 0, 0], 2, [0, 1, 2]),
]


@pytest.mark.parametrize("call", UNFIT_CALLS)
def test_the_core_refuses_arrays_that_do_not_fit_together(call):
    with pytest.raises(ValueError, match=_REFUSED):
        call()


def _search(**amounts):
    get_engine("dlx").search(GRID, Task.of(Stacks.from_lists([[]]), **amounts, budget=9))


def _take_taxes(highest):
    options, ends, fixed = np.zeros(1, np.int64), np.array([0, 1]), np.ones(1, np.int64)
    native.take_taxes(options, ends, fixed, np.ones(1, np.int64), highest, 1)


def _dig(digit, nodes=0):
    units, no_cells = (np.arange(82), np.arange(81, dtype=np.uint16)), np.zeros(0, np.uint16)
    wish = Wish(units, no_cells, no_cells, 0, 81, True, False, 1, False, 10**6, 10**6, 10**6)
    made = Made.of_rows(1, 81)
    made.solutions[:], made.nodes[:] = digit, nodes
    dig_rows(GRID, wish, np.zeros(2, np.uint64), np.zeros(1, np.int64), made)


OUT_OF_BOUNDS = [
    (lambda limit: _search(limit=limit), 0, -1, "limits and allowances are 0 or more"),
    (lambda nodes: _search(allowance=nodes), 0, -1, "limits and allowances are 0 or more"),
    (_take_taxes, 0, -1, "the options of the items do not fit together"),
    (_dig, 9, 10, "a solution has another digit"),
    (lambda nodes: _dig(9, nodes), 0, 2**63 - 1, "a number is too large to count on"),
]


@pytest.mark.parametrize(("call", "good", "bad", "why"), OUT_OF_BOUNDS)
def test_the_core_refuses_amounts_and_digits_out_of_bounds(call, good, bad, why):
    call(good)
    with pytest.raises(ValueError, match=why):
        call(bad)


_PAGE = mmap.PAGESIZE


def guarded_memory(n_bytes, at_end):
    """Return zero bytes that end or begin next to memory that must not be touched."""
    pages = -(-max(n_bytes, 1) // _PAGE)
    memory = mmap.mmap(-1, (pages + 2) * _PAGE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for page in (0, pages + 1):
        assert ctypes.pythonapi.mprotect(ctypes.c_void_p(begin + page * _PAGE), _PAGE, 0) == 0
    first = (pages + 1) * _PAGE - n_bytes if at_end else _PAGE
    return np.frombuffer(memory, np.uint8, n_bytes, first)


class GuardedCall:
    """A call of the core with copies, in guarded memory, of the arrays that Python gives it.

    Arrays that share memory still do.
    """

    def __init__(self, at_end):
        self._at_end = at_end
        self._rooms, self._copies = {}, []

    def copy(self, value):
        """Return an argument with its arrays copied to guarded memory."""
        if isinstance(value, tuple):
            parts = map(self.copy, value)
            return value._make(parts) if hasattr(value, "_make") else tuple(parts)
        if not isinstance(value, np.ndarray):
            return value
        last = sum((n - 1) * step for n, step in zip(value.shape, value.strides, strict=True))
        place = value.ctypes.data, last + value.itemsize if value.size else 0
        if place not in self._rooms:
            self._rooms[place] = guarded_memory(place[1], self._at_end)
        copy = np.ndarray(value.shape, value.dtype, self._rooms[place], strides=value.strides)
        copy[...] = value
        copy.flags.writeable = value.flags.writeable
        self._copies.append((value, copy))
        return copy

    def copy_back(self):
        """Copy the results back."""
        for value, copy in self._copies:
            if value.flags.writeable:
                value[...] = copy


_ROWS = {
    "none": [],
    "one": [SOLVED],
    "many": [SOLVED[:k] + "." * (81 - k) for k in (81, 80, 81, 60, 60)] * 60,
    "bad": ["", "é" * 40, SOLVED[1:], SOLVED * 2, SOLVED[1:] + "\x7f", "11" + "." * 79, '"1,""2"'],
    "numbers": [" ".join(SOLVED), "0;" * 80 + "9", "-1 " * 81, "1 " * 80, "99999 " * 81, "x é"],
}


def work():
    """Search with several engines; read, solve, dedupe and write rows of every kind, and none."""
    done = [bs.count("dominoes:4x4", engine=engine).count for engine in ("memo:1", "dlx")]
    puzzles = Task.of(Stacks.from_lists([[], [0], [1, 1]] * 3), limit=40, allowance=300, keep=40)
    shared, regions = Rules.square(4, ()), np.repeat(np.arange(4, dtype=np.uint8), 4)
    own = Rules(4, shared.places, (), (), ((2, 3, "less"),), (Cage((0, 1, 4), 7),), ((9, 3),))
    rows = Variants(shared, OwnRules.of([own] * 9, np.tile(regions, (9, 1))))
    others = [*(bs.grid_problem(4, rules=name) for name in ("x", "antiknight")), rows]
    # integers of 16 bits and of 32
    for problem in (bs.Sudoku(2, 3), bs.Sudoku(5, 5), *others):
        for unordered in (False, True):
            found = get_engine("lanes").search(problem, replace(puzzles, unordered=unordered))
            done.append((found.clash.tolist(), found.counts.tolist()))
    with TemporaryDirectory() as folder:
        for name, rows in _ROWS.items():
            source, out = Path(folder, name + ".csv"), Path(folder, "out.csv")
            lines = ["puzzle|solution", *(f"{row}|{SOLVED}" for row in rows)]
            source.write_text("\n".join(lines), "utf-8")
            for engine in ("lanes", "bits", "cells"):
                bs.solve_file(source, out, engine=engine, box=(3, 3), canonical=True)
                done.append(out.read_bytes())
            for up_to_symmetry in (False, True):
                bs.dedupe(source, out, box=(3, 3), up_to_symmetry=up_to_symmetry)
                done.append(out.read_bytes())
    grids = np.tile(np.frombuffer(SOLVED.encode(), np.uint8) - ord("0"), (50, 1))
    queens = bs.family("queens:6")
    for n in (0, 1, 50):
        covers = Stacks.from_lists([[k % 36, 0, 35 - k % 36] for k in range(n)])
        done.append(GRID.check(grids[:n], grids[:n]).tolist())
        done.append(cover_lines(GRID, None, GRID.stacks(grids[:n])).to_pybytes())
        done.append(cover_lines(queens, None, covers).to_pybytes())
        done.append(get_engine("bits").search(queens, Task.of(covers)).clash.tolist())
        done.append(covers.take(np.arange(0, n, 2)).options.tolist())
    return done


def work_guarded():
    """Work in guarded memory and without; print the functions of the core that Python called."""
    names = set()

    def guarded(name, function, at_end):
        def call_guarded(*arguments):
            names.add(name)
            guard = GuardedCall(at_end)
            result = function(*map(guard.copy, arguments))
            guard.copy_back()
            return result

        return call_guarded

    def work_in_guarded_memory(at_end):
        for name, function in functions.items():
            setattr(native, name, guarded(name, function, at_end))
        return work()

    functions = {name: getattr(native, name) for name in dir(native) if name[0] != "_"}
    functions = {name: each for name, each in functions.items() if callable(each)}
    patch.object(repeats, "_FIRST_SLOTS", 4).start()  # so that they must grow
    done = [work_in_guarded_memory(at_end) for at_end in (True, False)]
    for name, function in functions.items():
        setattr(native, name, function)
    assert done == [work()] * 2
    print(*names)


_FUNCTIONS = """
    Problem memo links search_links search_bits search_sparse
    search_grids read_symbols read_numbers survey
"""


def test_the_core_touches_nothing_beyond_its_arrays(tmp_path):
    """A fault ends the process of the work."""
    code = "import test_untrusted_arrays as t; t.work_guarded()"
    where = {"cwd": os.path.dirname(__file__), "env": os.environ | {"TMPDIR": str(tmp_path)}}
    done = run_python("-X", "faulthandler", "-c", code, **where)
    assert done.returncode == 0, done.stderr
    assert set(_FUNCTIONS.split()) <= set(done.stdout.split())
