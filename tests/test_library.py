"""The package as a library: the arguments of functions, and the content of results."""

import ast
import inspect
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from conftest import PUZZLE as GRID
from invoking import invoke, run_python

import batchsolve as bs


def test_every_public_name_is_found_and_shown():
    assert set(bs.__all__) <= set(dir(bs))
    for name in bs.__all__:
        public = getattr(bs, name)
        assert public.__doc__, name
        assert isinstance(public, str) or ">>> " in inspect.getdoc(public), name
    with pytest.raises(AttributeError, match="no attribute 'slove'"):
        _ = bs.slove


def test_no_module_gives_a_constant_two_values():
    """Two modules became one, and the constant of the one got the value of the other."""
    for path in Path(bs.__file__).parent.rglob("*.py"):
        nodes = [each for each in ast.parse(path.read_text()).body if isinstance(each, ast.Assign)]
        names = Counter(ast.unparse(target) for node in nodes for target in node.targets)
        assert max(names.values(), default=1) == 1, f"{path}: {names.most_common(1)}"


def test_a_first_answer_does_without_pandas():
    """Arrow would import it, where installed, at the first array made of values."""
    calls = f'bs.solve("{GRID}"); bs.canonical("{GRID}"); bs.count("queens:6")'
    script = f'import batchsolve as bs, sys; {calls}; assert "pandas" not in sys.modules'
    done = run_python("-c", script)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(params=["name", "file", "path of a row", "reading", "problem"])
def one_grid(request, tmp_path):
    """Return the same grid in every form that a user may give it in."""
    (tmp_path / "grid.txt").write_text("12" + "." * 14)
    (tmp_path / "in.csv").write_text(f"puzzle\n{GRID}\n12{'.' * 14}\n")
    as_file = str(tmp_path / "grid.txt")
    return {
        "name": ("sudoku:2x2", [0, 5]),
        "file": (as_file, ()),
        "path of a row": (f"{tmp_path / 'in.csv'}#2", ()),
        "reading": (bs.read_problem(as_file), ()),
        "problem": (bs.Sudoku(2, 2), [0, 5]),
    }[request.param]


def test_functions_of_one_problem_take_it_in_every_form(one_grid, tmp_path):
    problem, stack = one_grid
    assert bs.count(problem, stack).count == 24
    covers = list(bs.solutions(problem, stack))
    assert len(covers) == 24
    assert all({0, 5} <= set(cover.tolist()) for cover in covers)
    guess = bs.estimate(problem, stack, probes=50)
    assert guess.solutions_low <= 24 <= guess.solutions_high
    parts = bs.split(problem, stack, depth=2)
    assert bs.count(problem, parts.stacks).count + parts.count == 24
    with bs.Run(tmp_path / "run", problem, stack) as run:
        assert run.search(limit=10).count == 10
    with bs.Run(tmp_path / "run", problem, stack, resume=True) as run:
        assert run.search().count == 24


def test_a_stack_without_the_clues_that_were_read_is_refused(tmp_path):
    (tmp_path / "grid.txt").write_text(GRID)
    reading = bs.read_problem(str(tmp_path / "grid.txt"))
    assert bs.count(reading, [*reading.stack.tolist(), 5]).count == 1
    clueless = ([5], np.array([5], np.uint32), bs.Stacks.from_lists([reading.stack.tolist(), [5]]))
    for stack in clueless:
        with pytest.raises(bs.InputError, match=r"grid\.txt: a stack to begin with lacks some of"):
            bs.count(reading, stack)


def test_a_run_writes_grids_as_they_were_read(tmp_path):
    (tmp_path / "grid.txt").write_text("AB" + "." * 14)
    reading = bs.read_problem(str(tmp_path / "grid.txt"), alphabet="A-D")
    with bs.Run(tmp_path / "run", reading, collect=True) as run:
        run.search()
    from batchsolve.runs.export import export_run

    export_run(str(tmp_path / "run"), str(tmp_path / "out.csv"))
    lines = (tmp_path / "out.csv").read_text().split()
    assert len(lines) == 1 + 24
    assert all(re.fullmatch("AB[A-D]{14}", line) for line in lines[1:])


def test_what_is_returned_is_shown_in_short(tmp_path):
    (tmp_path / "a<b.txt").write_text(GRID)
    reading = bs.read_problem(str(tmp_path / "a<b.txt"))
    assert repr(reading).endswith("a<b.txt', Sudoku(2, 2), 4 clues)")
    assert repr(bs.Stacks.empty()) == "Stacks(0 stacks)"
    with bs.Run(tmp_path / "run", "queens:6") as run:
        assert repr(run).startswith(f"Run('{tmp_path / 'run'}', ExactCover(")


def test_notebooks_show_grids_and_tables(tmp_path):
    (tmp_path / "a<b.ec").write_text("p ec 2 3\ns 1 2\ns 1\ns 2\n")
    (tmp_path / "grid.txt").write_text(GRID)
    grid = bs.read_problem(str(tmp_path / "grid.txt"))._repr_html_()
    digits = re.findall(r'class="bs-clue"[^>]*>([^<>]*)</text>', grid)
    assert digits == [symbol for symbol in GRID if symbol != "."]
    cover = bs.read_problem(str(tmp_path / "a<b.ec"))._repr_html_()
    assert "a&lt;b.ec" in cover
    assert "<tr><th>options</th><td>" in cover
    table = bs.solve_batch([GRID, "11.............."] * 10)._repr_html_()
    assert "20 rows: 10 invalid, 10 unique" in table
    assert table.count("<tr>") == 11
    assert table.count("1243342143122134") == 5


def test_what_a_command_says_is_logged(tmp_path, caplog):
    (tmp_path / "in.txt").write_text(f"{GRID}\n")
    with caplog.at_level("INFO", "batchsolve"):
        summary = bs.solve_file(tmp_path / "in.txt", tmp_path / "out.csv")
        result = bs.count("queens:6")
        with bs.Run(tmp_path / "run", "queens:7") as run:
            run.search(limit=1, jobs=1)
        with bs.Run(tmp_path / "run", "queens:7", resume=True) as run:
            run.search()
    said = [record.getMessage() for record in caplog.records if record.name == "batchsolve"]
    assert [str(summary), str(result)] == [one for one in said if "queens" not in one][:2]
    assert str(summary).startswith("1 row: 1 unique; ")
    assert str(result).startswith("4 solutions, complete; ")
    assert any(one.startswith(f"{tmp_path}/run goes on after ") for one in said)


def test_answers_are_shown_as_grids_in_notebooks():
    answer = bs.solve(GRID)
    shown = answer._repr_html_()
    assert shown.startswith("<p>unique, 1 solution found</p><div><svg")
    assert re.findall(r'class="bs-digit"[^>]*>([^<>]*)</text>', shown) == list(answer.solution)
    assert "bs-frame" in bs.solve("1" + "." * 8, regions="AAB ACB CCB")._repr_html_()
    assert answer.message is None
    wrong = bs.solve("11..............")
    assert (wrong.status, wrong.solution) == ("invalid", None)
    assert wrong.message == "digit 1 twice in a row: row 1, column 1 and row 1, column 2"
    assert wrong._repr_html_() == f"<p>invalid, {wrong.message}</p>"


def test_a_run_of_the_library_is_resumed_by_the_command(tmp_path):
    (tmp_path / "grid.txt").write_text("1234" + "." * 12)
    reading = bs.read_problem(str(tmp_path / "grid.txt"))
    with bs.Run(tmp_path / "run", reading) as run:
        run.search(limit=1, jobs=1)
    command = ["count", str(tmp_path / "grid.txt"), "--run", str(tmp_path / "run"), "--resume"]
    done = invoke(*command)
    assert (done.exit_code, done.stdout) == (0, f"{bs.count(reading).count}\n")


KERNELS = [  # calls, and sizes that take no time and minutes
    ("bs.split('queens:{}', depth=7)", 6, 16),
    ("bs.estimate('queens:20', probes={})", 3, 1_000_000),
    ("bs.solution_graph('dominoes:{0}x{0}')", 4, 18),
]


@pytest.mark.parametrize(("call", "small", "large"), KERNELS)
def test_ctrl_c_in_a_kernel_is_raised(call, small, large):
    program = f"""
import os, signal, threading, batchsolve as bs
{call.format(small)}
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    {call.format(large)}
except KeyboardInterrupt:
    print("raised")
"""
    ran = run_python("-c", program)
    assert (ran.returncode, ran.stdout.split()) == (0, ["raised"]), ran.stderr
