"""Answers before kernels are compiled are those that kernels give."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from conftest import coloured_problems, hard_puzzles, problems
from hypothesis import given, strategies as st

from batchsolve import Stacks, Sudoku, kernel_files, kernels, rehearsals, sample
from batchsolve.engines import UNLIMITED, Task, get_engine, lanes, stand_ins
from batchsolve.engines.contract import registered
from batchsolve.engines.lanes import SudokuLanes, in_numpy
from batchsolve.engines.stand_ins import is_at_hand
from batchsolve.problems.families import family
from batchsolve.problems.rules import plain
from batchsolve.problems.small import SmallProblems
from batchsolve.problems.variant import Variant, grid_problem

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


SUDOKU = [Sudoku(2, 2), Sudoku(2, 3), Sudoku(3, 3)]
NAMED = ["x", "antiknight", "antiking+nonconsecutive", "x+disjoint"]
WITH_RULES = [grid_problem(4, rules=rules) for rules in NAMED]
MARKS = Variant(
    replace(plain(2, 2), marks=((0, 3), (6, 7)), pairs=((1, 2, "less"), (1, 2, "gap2")))
)


@given(
    data=st.data(),
    problem=st.sampled_from([*SUDOKU, *WITH_RULES, MARKS]),
    limit=st.sampled_from([1, 2, 5, UNLIMITED]),
    allowance=st.sampled_from([3, 30, 300]),
    depth=st.sampled_from([1, 3, UNLIMITED]),
    unordered=st.booleans(),
)
def test_the_stand_in_of_lanes_visits_the_same_nodes(
    data, problem, limit, allowance, depth, unordered
):
    most = problem.n_options - (problem is MARKS)
    clues = st.lists(st.integers(0, most), max_size=6) | st.lists(
        st.integers(0, problem.n_cells - 1), unique=True, max_size=problem.n_digits
    ).map(lambda cells: [c * problem.n_digits + c % problem.n_digits for c in cells])
    rows = data.draw(st.lists(clues, min_size=0, max_size=5))
    if problem.n_digits == 9:
        hard = [problem.stack(grid).tolist() for grid in hard_puzzles()[0][:9]]
        rows += [data.draw(st.sampled_from(hard))[data.draw(st.integers(0, 2)) :]]
    roots = np.sort(data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows))))
    task = Task.of(Stacks.from_lists(rows, roots), limit, allowance, keep=2, depth=depth)
    task = replace(task, unordered=unordered)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stand_ins, "MOST_SECONDS", 60.0)
        mine, right = in_numpy.search(problem, task), SudokuLanes().compiled(problem, task)
    assert_same(mine, right)
    if unordered:
        assert mine.solutions.digits.tolist() == right.solutions.digits.tolist()


@pytest.mark.parametrize("cut", [{"budget": 20}, {"room": 9}])
def test_the_stand_in_of_lanes_hands_back_what_is_left(monkeypatch, cut):
    monkeypatch.setattr(stand_ins, "MOST_SECONDS", 60.0)
    problem, whole = Sudoku(2, 2), Stacks.from_lists([[0], [1], [2, 17], [2]], [0, 0, 1, 3])
    right = in_numpy.search(problem, Task.of(whole))
    counts, nodes, stacks = np.zeros(4, np.int64), 0, whole
    while len(stacks):
        outcome = in_numpy.search(problem, Task.of(stacks, **cut))
        assert outcome.nodes.sum() <= cut.get("budget", UNLIMITED)
        assert outcome.counts.sum() <= cut.get("room", UNLIMITED)
        np.add.at(counts, stacks.roots, outcome.counts)
        nodes, stacks = nodes + outcome.nodes.sum(), outcome.frontier
    assert (counts.tolist(), nodes) == ([144, 24, 0, 72], right.nodes.sum())


def test_rows_of_an_ordinary_corpus_do_not_wait_for_lanes(monkeypatch):
    monkeypatch.setattr(stand_ins, "MOST_SECONDS", 60.0)
    monkeypatch.setattr(rehearsals, "begin", lambda *_: None)

    def by_kernel(*_):
        raise kernels.NotAtHandError

    problem, grids = Sudoku(3, 3), hard_puzzles()[1][:300].copy()
    grids[:, ::3] = 0
    task = Task.of(problem.stacks(grids), limit=2, keep=1, any_order=True)
    found = stand_ins.search("any", by_kernel, lanes._STAND_IN, problem, task)
    assert_same(found, SudokuLanes().compiled(problem, replace(task, any_order=False)))


def test_a_stand_in_ends_when_it_has_had_its_time(monkeypatch):
    monkeypatch.setattr(stand_ins, "MOST_SECONDS", 0.0)
    with pytest.raises(stand_ins.TooLongError):
        in_numpy.search(Sudoku(2, 2), Task.of(WHOLE))


@pytest.mark.parametrize(
    ("stand_in", "cut", "is_final"),
    [
        (lanes._STAND_IN, {}, True),
        (lanes._STAND_IN, {"budget": 20}, False),  # lanes search several branches at once
        (lanes._STAND_IN, {"room": 9}, False),
        (lanes._STAND_IN, {"budget": 20, "unordered": True}, True),  # rows, of a busy machine
        (lanes._STAND_IN, {"room": 9, "unordered": True}, False),
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
    monkeypatch.setattr(stand_ins, "_REPLACED", set())
    task = Task.of(Stacks.from_lists([[0, 21]]), **cut)
    found = stand_ins.search("any", by_kernel, stand_in, Sudoku(2, 2), task)
    assert (found is not None, len(calls)) == (is_final, 1 if is_final else 2)


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


def test_a_rehearsal_ends_with_the_process_that_asked(tmp_path):
    marker, program = tmp_path / "marker", [sys.executable, "-c", rehearsals.PROGRAM]
    sleep = f"import time; time.sleep(3); open({str(marker)!r}, 'w')"
    with subprocess.Popen(program, stdin=subprocess.PIPE) as it:
        for each in (sys.path, 0, 0.0, partial(exec, sleep)):
            it.stdin.write(pickle.dumps(each))
        it.stdin.close()
        assert it.wait(60) == 1
    assert not marker.exists()


COMMAND = """
import sys, time
from functools import partial
from batchsolve import rehearsals
from batchsolve.cli.commands import app
rehearsals.begin("sleep", partial(time.sleep, 60))
try:
    app(sys.argv[1:])
finally:
    process = rehearsals._PROCESSES["sleep"]
    print(process.wait(10))
"""


@pytest.mark.parametrize(("problem", "code"), [("queens:6", 0), ("queens:x", 2)])
def test_a_command_ends_its_rehearsals(problem, code):
    command = [sys.executable, "-c", COMMAND, "show", problem]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == code
    assert done.stdout.splitlines()[-1] == str(-signal.SIGKILL)


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
