import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest
from numba.core import config

from batchsolve import kernel_files, kernels

CALLER = """
from collections import namedtuple
from batchsolve.kernels import kernel
from tiny.engines.below.helpers import number
from tiny.tables import others
from tiny.tables.sizes import SIZE

Pair = namedtuple("Pair", "one other")

@kernel
def linked(pair):
    return number() + pair.one

@kernel
def plain():
    return others.one() * SIZE
"""
CALL = """
from tiny.engines.caller import Pair, linked, plain
found = [linked(Pair(1, 7)), plain()]
found += [sum(kernel.stats.cache_hits.values()) for kernel in (linked, plain)]
"""
PRINT = "print(*found)"


SLOW = """
from batchsolve.kernels import kernel

@kernel
def slow_to_compile(x):
"""
SLOW += "".join(f"    x = x * x + {k}\n" for k in range(100)) + "    return x\n"


@pytest.fixture
def tiny(tmp_path):
    """Make a package with two kernels, and helpers and a constant in other files."""
    package = tmp_path / "tiny"
    for folder in ("tables", "runs", "engines/below"):
        (package / folder).mkdir(parents=True)
    (package / "engines" / "caller.py").write_text(CALLER)
    write_helper(package, "engines/below/helpers", "number", 1)
    write_helper(package, "tables/others", "one", 1)
    (package / "tables" / "sizes.py").write_text("SIZE = 1\n")
    return package


def write_helper(package, module, name, number):
    """Write a helper."""
    path = package / f"{module}.py"
    path.write_text(f"from numba import njit\n\n@njit\ndef {name}():\n    return {number}\n")


def run(package, code, *arguments, **variables):
    """Run code in a new process that finds the package; return what it writes."""
    environment = {"NUMBA_CACHE_DIR": str(package.parent / "kept"), **os.environ}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", **variables}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=package.parent,
        env={name: value for name, value in environment.items() if value is not None},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def call(package, kept=None):
    """Call the kernels as in a new process; return their results and which were found on disk."""
    space = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(package.parent)
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.setattr(config, "CACHE_DIR", str((kept or package).parent / "kept"))
        patch.setattr(kernel_files, "_BEGUN", time.time() + 1)
        kernel_files._hash_of_file.cache_clear()
        exec(CALL, space)
    for name in [name for name in sys.modules if name.partition(".")[0] == package.name]:
        del sys.modules[name]
    return tuple(space["found"])


def kept_in(package):
    """Return the files of kernels."""
    return sorted((package.parent / "kept").rglob("*.kernel"))


def test_a_kernel_is_compiled_again_when_something_that_it_uses_has_changed(tiny):
    assert call(tiny) == (2, 1, 0, 0)
    write_helper(tiny, "engines/below/helpers", "number", 4)
    assert call(tiny) == (5, 1, 0, 1)
    (tiny / "tables" / "sizes.py").write_text("SIZE = 3\n")
    assert call(tiny) == (5, 3, 1, 0)
    (tiny / "engines" / "other.py").write_text("# no kernel depends on this\n")
    (tiny / "tables" / "sizes.py").write_text("# nor on this\nSIZE = 3\n")
    assert call(tiny) == (5, 3, 1, 1)


def test_the_fields_of_an_argument_are_part_of_its_type(tiny):
    made = 'Pair = namedtuple("Pair", "one other")'
    (tiny / "engines" / "caller.py").write_text(CALLER.replace(made, "from .pairs import Pair"))
    for fields, result in (("one other", 2), ("other one", 8)):
        text = f"from collections import namedtuple\nPair = namedtuple('Pair', '{fields}')\n"
        (tiny / "engines" / "pairs.py").write_text(text)
        assert call(tiny)[0] == result


def test_a_copy_of_the_package_compiles_nothing(tiny, tmp_path):
    call(tiny)
    (tmp_path / "clone").mkdir()
    copy = shutil.copytree(tiny, tmp_path / "clone" / "tiny", copy_function=shutil.copyfile)
    assert call(copy, kept=tiny) == (2, 1, 1, 1)


def test_damaged_files_are_written_anew(tiny):
    call(tiny)
    cut, changed = kept_in(tiny)
    cut.write_bytes(cut.read_bytes()[:40])
    content = bytearray(changed.read_bytes())
    content[len(content) // 2] ^= 1
    changed.write_bytes(content)
    assert call(tiny) == (2, 1, 0, 0)
    assert call(tiny) == (2, 1, 1, 1)


def test_kernels_are_kept_in_a_folder_of_the_users(tiny, tmp_path):
    home = {name: str(tmp_path / "home") for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA")}
    home["NUMBA_CACHE_DIR"] = None
    assert [run(tiny, CALL + PRINT, **home) for _ in range(2)] == ["2 1 0 0\n", "2 1 1 1\n"]
    assert len(list((tmp_path / "home").rglob("*.kernel"))) == 2


def test_where_nothing_can_be_kept_kernels_work_all_the_same(tiny, tmp_path):
    (tmp_path / "kept").write_text("a file, so there can be no folder")
    assert call(tiny) == (2, 1, 0, 0)


FULL = """
import errno, os
from batchsolve import kernel_files

def full(*_):
    raise OSError(errno.ENOSPC, "no space left")

os.replace = full
"""


def test_a_full_folder_is_no_error_and_keeps_nothing(tiny):
    assert run(tiny, FULL + CALL + PRINT) == "2 1 0 0\n"
    assert not kept_in(tiny)
    assert not list((tiny.parent / "kept").rglob("*.kernel*"))


CHANGED = """
import os, pathlib, sys
from tiny.engines import caller
path = pathlib.Path(caller.others.__file__)
path.write_text(path.read_text().replace("return 1", "return 2"))
"""


def test_code_that_is_not_that_of_its_file_is_not_kept(tiny):
    assert run(tiny, CHANGED + CALL + PRINT) == "2 1 0 0\n"
    assert call(tiny) == (2, 2, 1, 0)


def test_kernels_that_are_not_used_are_removed_when_others_are_compiled(tiny):
    call(tiny)
    for path in kept_in(tiny):
        long_ago = time.time() - (kernel_files.MOST_DAYS + 1) * kernel_files.DAY
        os.utime(path, (long_ago, long_ago))
    write_helper(tiny, "tables/others", "one", 2)
    assert call(tiny) == (2, 2, 1, 0)  # what is loaded is in use
    assert len(kept_in(tiny)) == 2
    assert call(tiny) == (2, 2, 1, 1)


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
            env={**os.environ, "NUMBA_CACHE_DIR": str(package.parent / "kept")},
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


@pytest.fixture
def turns(monkeypatch, tmp_path):
    """Make two turns at one kernel."""
    monkeypatch.setattr(kernel_files, "folders", lambda: [tmp_path])
    return [kernel_files.Turn("lock", kernels._CTRL_C.pass_on) for _ in range(2)]


def test_a_process_that_never_ends_its_turn_is_not_waited_for_for_ever(turns, monkeypatch):
    monkeypatch.setattr(kernel_files, "MOST_SECONDS", 0.1)
    assert turns[0].wait()
    assert not turns[0].wait()  # it has its turn already
    assert turns[1].wait()
    for turn in turns:
        turn.end()


@pytest.mark.parametrize("command", ["count queens:4", "solve - -o -"])
def test_a_compiler_that_is_switched_off_is_one_error(command):
    done = subprocess.run(
        [sys.executable, "-m", "batchsolve", *command.split()],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        input="1.....2..3.....4\n",
        capture_output=True,
        text=True,
    )
    [message] = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert message.startswith("batchsolve: NUMBA_DISABLE_JIT is set")


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
from tiny.engines.caller import plain

class Press(event.Listener):
    def on_start(self, _):
        for _ in range(int(sys.argv[1])):
            signal.raise_signal(signal.SIGINT)

    def on_end(self, _):
        pass

signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    with event.install_listener("numba:compile", Press()):
        plain()
except KeyboardInterrupt:
    print(len(plain.signatures), plain(), signal.getsignal(signal.SIGINT).__name__)
"""


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_is_raised_before_the_next_pass_of_the_compiler(tiny, times):
    assert run(tiny, INTERRUPTED, str(times)).split() == ["0", "1", "default_int_handler"]


def test_ctrl_c_is_heard_while_another_process_compiles(turns, monkeypatch):
    assert turns[0].wait()
    monkeypatch.setattr(kernel_files.time, "sleep", lambda _: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt), kernels._CTRL_C:
        turns[1].wait()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    for turn in turns:
        turn.end()


@kernels.helper
def half(number):
    return number // 2


@kernels.kernel
def halves(number):
    return half(number) + half(4) + half(True)


def test_a_helper_is_compiled_once_for_all_constants(monkeypatch, tmp_path):
    monkeypatch.setattr(kernel_files, "folders", lambda: [tmp_path])
    assert halves(10) == 7
    assert len(half.signatures) == 2  # of an integer and of a truth value


@kernels.kernel
def itself(number):
    return number


@pytest.mark.parametrize("compiles", [True, False])
def test_whoever_asks_for_a_kernel_at_hand_waits_for_no_thread_that_compiles(compiles):
    """One that loads a kernel from disk is awaited: another thread may need the same."""
    begun, ends = threading.Event(), threading.Event()

    def work_long():
        with kernels._one_at_a_time():
            kernels._compiles = compiles
            begun.set()
            ends.wait(60)

    thread = threading.Thread(target=work_long)
    thread.start()
    begun.wait()
    if not compiles:
        threading.Timer(0.1, ends.set).start()
    with pytest.raises(kernels.NotAtHandError), kernels.at_hand():
        itself(5.0)  # is neither in this process nor on disk
    assert ends.is_set() != compiles
    ends.set()
    thread.join()
    assert not kernels._compiles
    assert itself(5) == 5
