"""Arrays of unknown origin: what reaches a kernel was checked, or the kernel checks.

The arrays that a kernel writes by raw pointers end where memory ends that nobody may touch.
"""

import ctypes
import mmap
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import batchsolve as bs
from batchsolve.problems.notation import usual_notation
from batchsolve.problems.stacks import Stacks
from batchsolve.symmetry.canonical import first_clashes

GRID = bs.Sudoku(3, 3)


def stacks(offsets, options, roots):
    return Stacks(
        np.array(offsets, np.int64), np.array(options, np.uint32), np.array(roots, np.int64)
    )


@pytest.mark.parametrize(
    ("offsets", "options", "roots"),
    [
        ([0, 10**6], [1], [0]),
        ([0, 1, 0], [1], [0, 1]),
        ([-1, 1], [1], [0]),
        ([0], [1], [0]),
        ([], [], []),
        ([0, 1], [1], []),
        ([[0, 1]], [1], [0]),
    ],
)
def test_stacks_that_do_not_fit_together_are_refused(offsets, options, roots):
    with pytest.raises(bs.ProblemError, match="do not fit together"):
        stacks(offsets, options, roots)


@pytest.mark.parametrize("place", [2, -1, 10**12])
def test_stacks_are_taken_from_places_that_there_are(place):
    with pytest.raises(IndexError, match="places 0 to 1 hold stacks"):
        Stacks.from_lists([[1], [2]]).take([place])


def test_options_that_do_not_exist_fill_no_grid():
    with pytest.raises(bs.ProblemError, match="option 5000 does not exist"):
        GRID.grids(Stacks.from_lists([[5000]]))


@pytest.mark.parametrize(
    "call",
    [
        lambda stack: bs.count(GRID, stack=stack),
        lambda stack: next(iter(bs.solutions(GRID, stack=stack))),
        lambda stack: bs.split(GRID, depth=1, stack=stack),
        lambda stack: bs.estimate(GRID, stack=stack),
        lambda stack: bs.draw(GRID, stack),
    ],
)
def test_a_stack_with_an_option_that_does_not_exist_is_one_error(call):
    with pytest.raises(bs.ProblemError, match="option 5000 does not exist; the last one is 728"):
        call([5000])


def test_grids_and_solutions_of_other_shapes_are_not_compared():
    for shape in [(2, 81), (5, 16)]:
        with pytest.raises(bs.InputError, match="must both have shape"):
            GRID.check(np.zeros((5, 81), np.uint8), np.zeros(shape, np.uint8))


def test_digits_that_a_grid_does_not_have_clash():
    grids = np.zeros((2, 81), np.uint8)
    grids[0, 5] = 1
    grids[0, 80] = 255
    assert first_clashes(GRID, grids).tolist() == [1, -1]


def test_symmetries_of_another_problem_have_no_images():
    found = bs.symmetries(bs.family("queens:6"))
    with pytest.raises(bs.ProblemError, match="option 99 does not exist"):
        found.are_least(Stacks.from_lists([[99]]))
    with pytest.raises(bs.ProblemError, match="an image is option 9"):
        bs.Symmetries(np.full((1, 9), 9, np.uint32))


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
    rows = [f"{'1' * 80}{c}\n" for c in ("x", "é", "\x7f", "1", ".")] * 2_000
    (tmp_path / "in.csv").write_text("puzzle\n" + "".join(rows), "utf-8")
    command = [sys.executable, "-m", "batchsolve", "dedupe", "in.csv", "-o", "out.csv"]
    done = subprocess.run([*command, "--box", "3x3"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + len(rows)


_PAGE = mmap.PAGESIZE
_KEPT = []  # memory of arrays below, which may be lent to kernels


def guarded(shape, kind=np.float64):
    """Return an array of zeros at whose end memory begins that may not be touched."""
    kind = np.dtype(kind)
    n_bytes = int(np.prod(shape)) * kind.itemsize
    pages = -(-max(n_bytes, 1) // _PAGE)
    memory = mmap.mmap(-1, (pages + 1) * _PAGE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    mprotect = ctypes.CDLL(None, use_errno=True).mprotect
    assert mprotect(ctypes.c_void_p(begin + pages * _PAGE), _PAGE, 0) == 0
    _KEPT.append(memory)
    first = pages * _PAGE - n_bytes
    return np.frombuffer(memory, np.uint8, n_bytes, first).view(kind).reshape(shape)


class GuardedNumpy:
    """NumPy, whose new arrays are guarded."""

    empty = zeros = staticmethod(guarded)

    @staticmethod
    def full(shape, value, kind=np.int64):
        array = guarded(shape, kind)
        array[...] = value
        return array

    @staticmethod
    def ones(shape, kind=np.float64):
        return GuardedNumpy.full(shape, 1, kind)

    def __getattr__(self, name):
        return getattr(np, name)


_SHAPES = [(2, 3), (3, 3), (4, 5)]  # integers of 16 bits and of 32


def search_guarded():
    """Search with `lanes` and `memo` in guarded memory; print what was counted."""
    from batchsolve.engines import memo
    from batchsolve.engines.contract import Task
    from batchsolve.engines.lanes import SudokuLanes, best_width, memory

    bs.count("dominoes:2x2", engine="memo")  # which compiles it with the NumPy that numba knows
    memory.np = memo.np = GuardedNumpy()
    memory._aligned = guarded
    for shape in _SHAPES:
        problem = bs.Sudoku(*shape)
        puzzles = Stacks.from_lists([[], [0], [1, 1]] * 3)
        for unordered in (False, True):
            memory._THREAD.__dict__.clear()
            task = Task.of(puzzles, limit=40, allowance=300, keep=40)
            outcome = SudokuLanes(best_width(problem.n_digits)).search(
                problem, replace(task, unordered=unordered)
            )
            assert outcome.clash.tolist() == [-1, -1, 1] * 3
            assert (outcome.counts > 0).tolist() == [True, True, False] * 3
    print(bs.count("dominoes:6x6", engine="memo").count)


@pytest.mark.skipif(os.name != "posix", reason="guarded pages are asked for as POSIX has it")
def test_lanes_and_memo_write_nothing_past_their_arrays():
    """A process of its own, for a fault would end it."""
    code = "import test_untrusted_arrays as t; t.search_guarded()"
    here = os.path.dirname(__file__)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code], cwd=here, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["6728"]


def read_past_arrays():
    """Print what becomes of vectors and words that lie past the ends of arrays."""
    from numba import njit

    from batchsolve.engines.intrinsics import at_most, load_relaxed
    from batchsolve.engines.lanes.passes import propagate

    word = njit(lambda array, place: load_relaxed(array, np.uintp(place)))
    cells = njit(lambda array, place: at_most(array, np.uintp(place), np.uint64(3)))
    form = ((0,) * 8, (0,) * 3, (0,) * 3)
    grids = njit(lambda array: propagate(array, form))
    array = np.zeros(64, np.uint64)
    for call in (
        lambda: word(array, 63),
        lambda: word(array, 64),
        lambda: cells(array, 0),
        lambda: cells(array, 1),
        lambda: grids(np.zeros(8 * 81, np.uint16)),
        lambda: grids(np.zeros(8 * 81 - 1, np.uint16)),
        lambda: word(array[::2], 3),
    ):
        try:
            call()
            print("read")
        except (IndexError, TypeError) as error:
            print(type(error).__name__)


def test_vectors_are_checked_where_indices_are():
    code = "import test_untrusted_arrays as t; t.read_past_arrays()"
    here, environment = os.path.dirname(__file__), os.environ | {"NUMBA_BOUNDSCHECK": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=here, env=environment, capture_output=True, text=True
    )
    past = "read IndexError " * 3 + "TypeError"
    assert done.stdout.split() == past.split(), done.stderr
