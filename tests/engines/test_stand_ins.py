"""Answers before kernels are compiled are those that kernels give."""

import json
import os
import pickle
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest
from conftest import coloured_problems, hard_puzzles, problems
from hypothesis import given, strategies as st

from batchsolve import Stacks, Sudoku, kernel_files, kernels, rehearsals
from batchsolve.engines import UNLIMITED, Task, get_engine, lanes, stand_ins
from batchsolve.engines.contract import registered
from batchsolve.engines.lanes import SudokuLanes, in_python
from batchsolve.engines.lanes.search import LONG
from batchsolve.engines.stand_ins import is_at_hand
from batchsolve.problems.families import family
from batchsolve.problems.small import SmallProblems

WHOLE = Stacks.from_lists([[]])
some = st.integers(1, 12) | st.just(UNLIMITED)


def assert_same(outcome, right):
    for name in ("counts", "nodes", "clash", "weights", "parents"):
        assert getattr(outcome, name).tolist() == getattr(right, name).tolist()
    for name in ("solutions", "frontier"):
        for each in ("offsets", "options", "roots"):
            mine, theirs = (getattr(getattr(which, name), each) for which in (outcome, right))
            assert mine.tolist() == theirs.tolist()


@given(
    problem=problems() | coloured_problems(), limit=some, allowance=some, budget=some, depth=some
)
def test_the_stand_in_visits_the_same_nodes(problem, limit, allowance, budget, depth):
    options = range(min(3, problem.n_options + 1))
    stacks = Stacks.from_lists([[], *([o, o + 1] for o in options)])
    task = Task.of(stacks, limit, allowance, budget=budget, depth=depth, keep=2)
    assert_same(*(get_engine(name).search(problem, task) for name in ("algorithm-x", "dlx")))


def test_the_stand_in_searches_many_problems():
    many = SmallProblems([family("queens:5"), Sudoku(2, 2)], np.array([3, 8]))
    task = Task.of(Stacks.from_lists([[], [0], []], [3, 3, 8]), limit=20)
    assert_same(*(get_engine(name).search(many, task) for name in ("algorithm-x", "dlx")))


GRIDS = {box: Sudoku(*box) for box in ((2, 2), (2, 3), (3, 2), (3, 3))}


@given(
    data=st.data(), box=st.sampled_from([*GRIDS]), limit=st.integers(1, 4), any_order=st.booleans()
)
def test_the_stand_in_of_lanes_visits_the_same_nodes(data, box, limit, any_order):
    problem = GRIDS[box]
    clues = st.lists(st.integers(0, problem.n_options - 1), max_size=4)
    rows = data.draw(st.lists(clues, min_size=1, max_size=3))
    if box == (3, 3):
        hard = [problem.stack(grid).tolist() for grid in hard_puzzles()[0][:5]]
        rows = [data.draw(st.sampled_from(hard))[data.draw(st.integers(0, 3)) :]]
    task = Task.of(Stacks.from_lists(rows), limit, 200, keep=limit, any_order=any_order)
    mine, right = in_python.search(problem, task), SudokuLanes().compiled(problem, task)
    short = right.nodes < LONG if any_order else right.nodes < 200
    for name in ("counts", "nodes", "clash"):
        assert getattr(mine, name)[short].tolist() == getattr(right, name)[short].tolist()
    wanted = np.flatnonzero(short)
    mine, right = (
        each.solutions.take(np.isin(each.solutions.roots, wanted)) for each in (mine, right)
    )
    if not any_order:
        assert mine.roots.tolist() == right.roots.tolist()
        assert mine.options.tolist() == right.options.tolist()


@pytest.mark.parametrize(
    ("stand_in", "cut", "is_final"),
    [
        (lanes._STAND_IN, {}, True),
        (lanes._STAND_IN, {"budget": 20}, False),  # lanes search several branches at once
        (lanes._STAND_IN, {"room": 9}, False),
        (registered("algorithm-x"), {"budget": 20}, True),
        (registered("algorithm-x"), {"room": 9}, True),
    ],
)
def test_a_search_that_the_kernel_would_cut_elsewhere_is_the_kernels(
    monkeypatch, stand_in, cut, is_final
):
    calls = []

    def by_kernel(*call):
        calls.append(call)
        if len(calls) == 1:
            raise kernels.NotAtHandError

    monkeypatch.setattr(stand_ins, "MOST_SECONDS", 60.0)
    monkeypatch.setattr(rehearsals, "begin", lambda *_: None)
    task = Task.of(Stacks.from_lists([[0, 21]]), **cut)
    found = stand_ins.search("any", by_kernel, stand_in, GRIDS[2, 2], task)
    assert (found is not None, len(calls)) == (is_final, 1 if is_final else 2)


CALL = """
import batchsolve as bs
print(bs.count("queens:6", jobs=1).nodes, [s.tolist() for s in bs.solutions("langford:3")])
print([each.nodes for each in bs.count(["queens:4", "queens:7"], jobs=1)])
print(bs.solve("1.....2..3.....4").solution, bs.count(bs.Sudoku(2, 2)).count)
print(bs.count("dominoes:8x8").count, bs.count("dominoes:8x8", engine="memo", jobs=1).count)
"""


def test_small_searches_compile_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CALL],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    right = {
        name: get_engine("dlx").search(family(name), Task.of(WHOLE, keep=9))
        for name in ("queens:6", "langford:3", "queens:4", "queens:7")
    }
    nodes = {name: int(outcome.nodes[0]) for name, outcome in right.items()}
    covers = [each.tolist() for each in right["langford:3"].solutions]
    each = [nodes["queens:4"], nodes["queens:7"]]
    found = [
        f"{nodes['queens:6']} {covers}",
        f"{each}",
        "1243342143122134 288",
        "12988816 12988816",
    ]
    assert (done.stdout.splitlines(), done.stderr) == (found, "")  # it does not say that it does


def when_over(name):
    """Wait for the end of a rehearsal and return its process."""
    end = time.monotonic() + 60
    while rehearsals.state_of(name) == "running" and time.monotonic() < end:
        time.sleep(0.01)
    assert rehearsals.state_of(name) == "over"
    return rehearsals._PROCESSES[name]


def test_a_rehearsal_is_a_call_in_another_process(tmp_path, monkeypatch):
    (tmp_path / "pickle.py").write_text("raise SystemExit(9)")  # not the current folder's modules
    monkeypatch.chdir(tmp_path)
    name, marker = str(tmp_path), tmp_path / "marker"
    assert rehearsals.state_of(name) == "none"
    rehearsals.begin(name, marker.touch)
    process = when_over(name)
    assert (process.returncode, marker.exists()) == (0, True)
    end = time.monotonic() + 60
    while not process.stdin.closed and time.monotonic() < end:
        time.sleep(0.01)
    assert process.stdin.closed


class Odd:
    """An object that cannot be sent."""

    def __reduce__(self):
        raise RuntimeError("no thread can be started")


def test_a_rehearsal_that_cannot_begin_is_over():
    rehearsals.begin("odd", partial(print, Odd()))
    assert rehearsals.state_of("odd") == "over"


def test_a_rehearsal_ends_with_the_process_that_asked():
    with subprocess.Popen([sys.executable, "-c", rehearsals.PROGRAM], stdin=subprocess.PIPE) as it:
        for each in (sys.path, 0, partial(time.sleep, 60)):
            it.stdin.write(pickle.dumps(each))
        it.stdin.close()
        assert it.wait(30) == 1


FORKED = """
import os, sys, time
from functools import partial
from batchsolve import rehearsals
rehearsals.begin("sleep", partial(time.sleep, 60))
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
    time.sleep(2 * rehearsals.LOOK_SECONDS)
    print(rehearsals.state_of("sleep"))
"""


def test_a_fork_of_the_process_that_asked_ends_no_rehearsal():
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("running\n", "")


def test_an_engine_is_at_hand_once_its_kernels_are():
    get_engine("bits").search(Sudoku(2, 2), Task.of(WHOLE))
    assert is_at_hand(get_engine("bits"), Sudoku(2, 2), WHOLE)
    assert rehearsals.state_of("bits") == "none"


@kernels.light_kernel
def light(numbers):
    total = np.uint8(0)
    for k in range(numbers.size):
        total = np.uint8(total + half(numbers[k]))
    return total


@kernels.helper
def half(number):
    return number // np.uint8(2)


def test_light_kernels_run_in_python_for_a_while(monkeypatch, tmp_path):
    monkeypatch.setattr(kernel_files, "folders", lambda: [tmp_path])
    monkeypatch.setattr(kernels, "LIGHT_SECONDS", 60.0)
    few = np.full(9, 255, np.uint8)
    assert light(few) == 9 * 127 % 256
    assert light(few) == 9 * 127 % 256
    assert light.signatures == []
    assert light(np.full(kernels.LIGHT_SIZE + 1, 4, np.uint8)) == 2 * (kernels.LIGHT_SIZE + 1) % 256
    assert len(light.signatures) == 1
    assert light(few) == 9 * 127 % 256


ROWS = [
    *("1.....2..3.....4", "11..............", "1234341221434321", "................", "12 x"),
    *("1.2..." + "." * 30, "." * 80, "4.....8.5.3" + "." * 70, "9" * 81, "8" + "." * 80),
    *(" ".join(["16", "0", "3"] + ["0"] * 253), " ".join(["17"] + ["0"] * 255), ""),
]
TABLES = """
import sys, json
from batchsolve import kernels, count, solutions, solve_table, solve_batch, Sudoku, family, Stacks
import numpy as np, pyarrow as pa
if sys.argv[1] == "python":
    kernels._Light.__call__ = lambda self, *_, **__: self._run
else:
    kernels.LIGHT_SECONDS = 0.0
texts = json.loads(sys.argv[2])
table = pa.table({"puzzle": texts, "id": [f'"{k},' for k in range(len(texts))]})
for limit in (1, 2):
    print(solve_table(table, limit=limit, canonical=False, jobs=1).to_pylist())
grids = np.zeros((3, 81), np.uint8)
grids[1, :2], grids[2, 5] = 7, 200
try:
    print(solve_batch(grids).status)
except ValueError as error:
    print(error)
found = solve_batch(grids[:2], jobs=1)
print(found.text(), found.messages)
print(count("queens:6", jobs=1, up_to_symmetry=True).count)
"""


def test_tables_are_the_same_with_light_kernels_in_python():
    command = [sys.executable, "-c", TABLES]
    in_python, compiled = (
        subprocess.run([*command, how, json.dumps(ROWS)], capture_output=True, check=True).stdout
        for how in ("python", "compiled")
    )
    assert in_python == compiled
