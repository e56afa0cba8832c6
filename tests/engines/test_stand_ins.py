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
from conftest import coloured_problems, problems
from hypothesis import given, strategies as st

from batchsolve import Stacks, Sudoku, kernel_files, kernels, rehearsals, sample
from batchsolve.engines import UNLIMITED, Task, get_engine, stand_ins
from batchsolve.engines.contract import registered
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


@pytest.mark.parametrize("cut", [{"budget": 20}, {"room": 9}])
def test_a_search_that_is_cut_is_that_of_the_stand_in(monkeypatch, cut):
    calls = []

    def by_kernel(*call):
        calls.append(call)
        if len(calls) == 1:
            raise kernels.NotAtHandError

    monkeypatch.setattr(stand_ins, "MOST_SECONDS", 60.0)
    monkeypatch.setattr(rehearsals, "begin", lambda *_: None)
    monkeypatch.setattr(stand_ins, "_REPLACED", set())
    task = Task.of(Stacks.from_lists([[0, 21]]), **cut)
    stand_in = registered("algorithm-x")
    assert stand_ins.search("any", by_kernel, stand_in, Sudoku(2, 2), task) is not None
    assert len(calls) == 1


CALL = """
import batchsolve as bs
print(bs.count("queens:6", jobs=1).nodes, [s.tolist() for s in bs.solutions("langford:3")])
print([each.nodes for each in bs.count(["queens:4", "queens:7"], jobs=1)])
print(bs.solve("1.....2..3.....4").solution, bs.count(bs.Sudoku(2, 2), engine="lanes").count)
print(bs.count("dominoes:6x6").count, bs.count("dominoes:6x6", engine="memo", jobs=1).count)
print([cover.tolist() for cover in bs.sample("queens:6", 2, seed=1)])
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
        "6728 6728",
        f"{[cover.tolist() for cover in sample('queens:6', 2, seed=1)]}",
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


def test_others_stand_behind_a_preferred_rehearsal(tmp_path):
    names = [f"{tmp_path}/{k}" for k in range(2)]
    for name in names:
        rehearsals.begin(name, partial(time.sleep, 60))
    try:
        rehearsals.prefer(names[0])
        pids = [rehearsals._PROCESSES[name].pid for name in names]
        priorities = [os.getpriority(os.PRIO_PROCESS, pid) for pid in pids]
        assert priorities[0] < priorities[1]
    finally:
        for name in names:
            rehearsals.end(name)


class Odd:
    """An object that cannot be sent."""

    def __reduce__(self):
        raise RuntimeError("no thread can be started")


def test_a_rehearsal_that_cannot_begin_is_over():
    rehearsals.begin("odd", partial(print, Odd()))
    assert rehearsals.state_of("odd") == "over"


def rehearsal(folder, last):
    """Start a rehearsal that takes three seconds, and end its input."""
    sleep = f"import time; time.sleep(3); open({str(folder / 'marker')!r}, 'w')"
    it = subprocess.Popen(
        [sys.executable, "-c", rehearsals.PROGRAM],
        stdin=subprocess.PIPE,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
    )
    for each in (sys.path, "three/seconds", 0, 0.0, partial(exec, sleep)):
        it.stdin.write(pickle.dumps(each))
    it.stdin.write(last)
    it.stdin.close()
    return it


@pytest.mark.parametrize(("last", "code"), [(b"", 1), (rehearsals.GO_ON, 0)])
def test_a_rehearsal_ends_with_the_process_that_asked_unless_let_go(tmp_path, last, code):
    assert rehearsal(tmp_path, last).wait(60) == code
    assert (tmp_path / "marker").exists() == (code == 0)


def test_one_rehearsal_of_a_name_goes_on_alone(tmp_path):
    several = [rehearsal(tmp_path, rehearsals.GO_ON) for _ in range(3)]
    assert sorted(it.wait(60) for it in several) == [0, 1, 1]


LET_GO = """
import sys
from functools import partial
from batchsolve import rehearsals
rehearsals.begin("short", partial(exec, f"import time; time.sleep(2); open({sys.argv[1]!r}, 'w')"))
rehearsals.let_go()
"""


def test_a_rehearsal_that_was_let_go_outlives_the_process_that_asked(tmp_path):
    marker = tmp_path / "marker"
    subprocess.run([sys.executable, "-c", LET_GO, str(marker)], check=True)
    end = time.monotonic() + 60
    while not marker.exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert marker.exists()


FORKED = """
import os, sys, time
from dataclasses import replace
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
