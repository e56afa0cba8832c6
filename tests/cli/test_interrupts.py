import fcntl
import os
import signal
import subprocess
import sys
import termios
import time

import pytest
from invoking import invoke, press_in, run_python

from batchsolve.cli.terminal import Terminated, interrupts, time_limited
from batchsolve.core.interrupts import TimeIsUp, check_interrupt
from batchsolve.search.graphs import SolutionGraph
from batchsolve.settings import SearchSettings


def run(work):
    with interrupts():
        work(check_interrupt)


def interrupted(work):
    """Run what must be interrupted; return the interrupt."""
    with pytest.raises(KeyboardInterrupt) as caught:
        run(work)
    return caught.value


def test_a_swallowed_interrupt_is_raised_at_the_next_check():
    def work(check):
        check()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        check()
        pytest.fail("the check let it pass")

    interrupted(work)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class Freed:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("is_checked", [True, False])
@pytest.mark.parametrize("meanwhile", [lambda: press_in("distributed.gc"), Freed])
def test_an_interrupt_waits_where_python_would_swallow_and_print_it(meanwhile, is_checked, capsys):
    """In callbacks, and while an object is freed; for the next check, or the end."""
    reached = []

    def work(check):
        meanwhile()
        reached.append("loaded")
        if is_checked:
            check()
            reached.append("checked")

    interrupted(work)
    assert (reached, capsys.readouterr().err) == (["loaded"], "")


def test_an_interrupt_that_was_noted_ends_what_is_printed(tmp_path, monkeypatch):
    sample, file = SolutionGraph.sample, str(tmp_path / "queens.zdd")

    def interrupted(*arguments, **how):
        press_in("distributed.gc")
        return sample(*arguments, **how)

    assert invoke("count", "queens:6", "--memo", "--graph", file, "-q").exit_code == 0
    assert invoke("graph", "queens:6", file, "--sample", "1").exit_code == 0
    monkeypatch.setattr(SolutionGraph, "sample", interrupted)
    monkeypatch.setattr("batchsolve.cli.problems.BLOCK", 2)
    result = invoke("graph", "queens:6", file, "--sample", "10")
    assert (result.exit_code, result.stdout.count("\n")) == (130, 2)


def test_a_second_interrupt_does_not_wait():
    def work(check):
        press_in("distributed.gc")
        press_in("distributed.gc")
        pytest.fail("both waited")

    interrupted(work)


def test_what_is_raised_after_an_interrupt_is_the_interrupt():
    def work(check):
        press_in("distributed.gc")
        error = SystemError("returned a result with an exception set")
        error.add_note("go on with --resume")
        raise error

    assert interrupted(work).__notes__ == ["go on with --resume"]


def test_an_error_in_closing_after_an_interrupt_does_not_hide_how_to_go_on():
    def work(check):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            error.add_note("go on with --resume")
            raise
        finally:
            raise TimeoutError("the cluster did not close")

    assert interrupted(work).__notes__ == ["go on with --resume"]


@pytest.mark.parametrize("module", ["distributed.gc", "batchsolve"])
def test_sigterm_is_another_ctrl_c(module):
    before = signal.getsignal(signal.SIGTERM)

    def work(check):
        press_in(module, signal.SIGTERM)
        check()
        pytest.fail("the check let it pass")

    with pytest.raises(Terminated):
        run(work)
    assert signal.getsignal(signal.SIGTERM) is before


def test_ignored_interrupts_stay_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts():
            signal.raise_signal(signal.SIGINT)
            check_interrupt()
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_time_limit_ends_what_comes_before_a_search():
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TimeIsUp), time_limited(SearchSettings(time_limit=0.01)):
        time.sleep(600)
    with pytest.raises(TimeIsUp), time_limited(SearchSettings(time_limit=1e-9)) as rest:
        rest()
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


class FreedLate:
    def __del__(self):
        time.sleep(0.1)


def test_a_time_limit_that_python_swallows_is_not_printed_and_comes_again(capsys):
    def work():
        FreedLate()
        time.sleep(600)

    with pytest.raises(TimeIsUp), time_limited(SearchSettings(time_limit=0.05)):
        work()
    assert capsys.readouterr().err == ""


def test_what_a_time_limit_leaves_is_for_the_search():
    with time_limited(SearchSettings(time_limit=1e9, limit=3)) as rest:
        left = rest()
        assert left.limit == 3
        assert 0 < left.time_limit < 1e9
    with time_limited(SearchSettings(limit=3)) as rest:
        assert rest() == SearchSettings(limit=3)


def test_a_write_that_a_stop_interrupts_leaves_no_bytes_behind():
    """Under python -u, standard output would have no buffer, and such a write would be short."""
    words = [sys.executable, "-u", "-m", "batchsolve", "sample", "queens:8", "-n", "9000", "-q"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        held = bytes(4)
        while int.from_bytes(held, sys.byteorder) < 60_000:  # of 65,536: the pipe is almost full
            time.sleep(0.1)
            held = fcntl.ioctl(process.stdout, termios.FIONREAD, held)
        for number in (signal.SIGSTOP, signal.SIGCONT):
            process.send_signal(number)
            time.sleep(0.1)
        assert process.stdout.read().count(b"\n") == 9000
    assert process.returncode == 0


IN_EXEC = """
import sys
from batchsolve.__main__ import main

sys.argv = ["batchsolve", "engines"]
try:
    main()
except SystemExit:
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        pass
    raise
"""


def test_an_interrupt_in_exec_does_not_kill_the_process_in_the_end(tmp_path):
    """Python notes a KeyboardInterrupt that leaves exec, and ends by SIGINT though it is caught."""
    (tmp_path / "interrupted.py").write_text(IN_EXEC)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    ended = run_python("-m", "interrupted", env=os.environ | {"PYTHONPATH": path})
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout
