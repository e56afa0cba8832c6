import os
import pickle
import shutil
import signal
import subprocess
import sys

import numba
import pytest

from batchsolve import kernels

CALLER = """
from tiny.engines.below.helpers import number
from tiny.kernels import kernel
from tiny.tables.others import one

@kernel
def linked():
    return number() + 1

@kernel
def plain():
    return one()
"""
CALL = """
from tiny.engines.caller import linked, plain
results = [linked(), plain()]
print(*results, *(sum(kernel.stats.cache_hits.values()) for kernel in (linked, plain)))
"""


SLOW = """
from tiny.kernels import kernel

@kernel
def slow_to_compile(x):
"""
SLOW += "".join(f"    x = x * x + {k}\n" for k in range(100)) + "    return x\n"


@pytest.fixture
def tiny(tmp_path):
    """Make a package with this one's decorator, two kernels, and helpers in other files."""
    package = tmp_path / "tiny"
    for folder in ("tables", "runs", "engines/below"):
        (package / folder).mkdir(parents=True)
    shutil.copy(kernels.__file__, package)
    (package / "engines" / "caller.py").write_text(CALLER)
    write_helper(package, "engines/below/helpers", "number", 1)
    write_helper(package, "tables/others", "one", 1)
    return package


def write_helper(package, module, name, number):
    """Write a helper; its file has the same size and time for every number of one digit."""
    path = package / f"{module}.py"
    path.write_text(
        f"from numba import njit\n\n@njit(inline='always')\ndef {name}():\n    return {number}\n"
    )
    os.utime(path, (10**9, 10**9))


def call(package, **variables):
    """Call the kernels in a new process; return their results and which were found on disk."""
    variables["PYTHONDONTWRITEBYTECODE"] = "1"
    run = subprocess.run(
        [sys.executable, "-c", CALL],
        cwd=package.parent,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(map(int, run.stdout.split()))


def test_an_index_that_names_modules_of_another_version_is_written_anew(tiny):
    call(tiny)
    for index in tiny.rglob("*.nbi"):
        index.write_bytes(pickle.dumps(numba.__version__) + b"ctiny.gone\nLinks\n.")
    assert call(tiny) == (2, 1, 0, 0)
    assert call(tiny) == (2, 1, 1, 1)


def test_a_kernel_is_compiled_again_when_a_helper_in_another_file_has_changed(tiny):
    assert call(tiny) == (2, 1, 0, 0)
    write_helper(tiny, "engines/below/helpers", "number", 4)
    assert call(tiny) == (5, 1, 0, 0)
    write_helper(tiny, "tables/others", "one", 2)
    assert call(tiny) == (5, 2, 0, 0)
    (tiny / "runs" / "other.py").write_text("# no kernel depends on this")
    assert call(tiny) == (5, 2, 1, 1)


def test_kernels_are_found_again_where_nothing_may_be_written_beside_their_source(tiny, tmp_path):
    (tiny / "engines" / "__pycache__").write_text("a file, so there can be no folder")
    home = {name: str(tmp_path / "home") for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA")}
    assert call(tiny, **home) == (2, 1, 0, 0)
    assert call(tiny, **home) == (2, 1, 1, 1)


def test_without_numbas_attributes_kernels_work_all_the_same(tiny):
    path = tiny / "kernels.py"
    path.write_text(path.read_text().replace("._cache_file", "._another_name"))
    assert call(tiny) == (2, 1, 0, 0)
    assert call(tiny) == (2, 1, 1, 1)


WHEN_TOLD = """
import sys
from tiny.engines.caller import slow_to_compile
sys.stdin.read(1)
kind = {"int": int, "float": float, "complex": complex}[sys.argv[1]]
slow_to_compile(kind(1))
print(sum(slow_to_compile.stats.cache_hits.values()))
"""


def call_at_once(package, kinds):
    """Call a kernel in several processes at once; return how many found it on disk."""
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", WHEN_TOLD, kind],
            cwd=package.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for kind in kinds
    ]
    for run in runs:
        run.stdin.write(b"!")
        run.stdin.close()
    return sum(int(run.stdout.read()) for run in runs)


@pytest.mark.parametrize(
    ("kinds", "found"), [(["int"] * 3, 2), (["int", "float", "complex"], 0)], ids=["same", "other"]
)
def test_of_processes_that_begin_together_one_compiles(tiny, kinds, found):
    (tiny / "engines" / "caller.py").write_text(SLOW)
    assert call_at_once(tiny, kinds) == found
    assert call_at_once(tiny, kinds) == 3  # nothing was lost on disk


def test_a_process_that_never_ends_its_turn_is_not_waited_for_for_ever(tiny, monkeypatch):
    turns = [kernels._Turn(str(tiny / "lock")) for _ in range(2)]
    monkeypatch.setattr(kernels, "MOST_SECONDS", 0.1)
    assert turns[0].wait()
    assert not turns[0].wait()  # it has its turn already
    assert turns[1].wait()
    for turn in turns:
        turn.end()


def test_without_a_compiler_kernels_are_plain_functions(tiny):
    code = "from tiny.engines.caller import linked; print(linked())"
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tiny.parent,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "2\n"


LOADED = """
import sys
from batchsolve import Run, count, solve_file
from batchsolve.problems.families import family
for engine in ("dlx", "bits", "cells"):
    assert count(family("queens:6"), jobs=1, engine=engine).count == 4
for problem, solutions in {"queens:6": 4, "sudoku:2x2": 288}.items():
    with Run(f"{sys.argv[2]}-{solutions}", problem, collect=True) as run:
        assert run.search(jobs=1).count == solutions
assert solve_file(sys.argv[1], sys.argv[2], jobs=1).rows == 1
print("numba.np.arraymath" in sys.modules)
"""


def test_kernels_on_disk_are_loaded_without_numpys_mathematics(tmp_path):
    (tmp_path / "in.txt").write_text("1.....2..3.....4\n")
    for name in ("first.csv", "again.csv"):  # the first compiles what is not on disk
        call = [sys.executable, "-c", LOADED, tmp_path / "in.txt", tmp_path / name]
        done = subprocess.run(call, capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


INTERRUPTED = """
import signal, sys
from numba.core import event
from tiny.engines.caller import linked

class Press(event.Listener):
    def on_start(self, _):
        for _ in range(int(sys.argv[1])):
            signal.raise_signal(signal.SIGINT)

    def on_end(self, _):
        pass

signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    with event.install_listener("numba:compile", Press()):
        linked()
except KeyboardInterrupt:
    print(len(linked.signatures), signal.getsignal(signal.SIGINT).__name__)
"""


@pytest.mark.parametrize(("times", "compiled"), [(1, 1), (2, 0)])
def test_ctrl_c_is_held_back_while_numba_compiles_but_only_once(tiny, times, compiled):
    command = [sys.executable, "-c", INTERRUPTED, str(times)]
    run = subprocess.run(command, cwd=tiny.parent, capture_output=True, text=True)
    assert run.stdout.split() == [str(compiled), "default_int_handler"], run.stderr


def test_ctrl_c_is_heard_while_another_process_compiles(tiny, monkeypatch):
    first, second = (kernels._Turn(str(tiny / "lock")) for _ in range(2))
    assert first.wait()
    monkeypatch.setattr(kernels.time, "sleep", lambda _: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt), kernels._CTRL_C:
        second.wait()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
