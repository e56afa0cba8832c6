"""Worker processes of this machine."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from backends import await_the_end_of_all

from batchsolve.workers import Processes


def arrays(*sizes):
    return [np.arange(size) for size in sizes]


SIZES = (0, 1), (10, 9_000), (100_000,), (8_193, 3, 70_001, 8_191)


def test_results_of_any_size_come_back_and_can_be_written_to():
    with Processes(2) as workers:
        found = {sizes: list(workers.run(arrays, iter([sizes] * 5))) for sizes in SIZES}
    for sizes, results in found.items():
        assert len(results) == 5
        for result in results:
            assert [array.tolist() for array in result] == [list(range(size)) for size in sizes]
            assert all(array.flags.aligned and array.flags.writeable for array in result)


def heard(_):
    """Return True unless Ctrl-C is blocked in this process."""
    return signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_workers_are_born_deaf_to_ctrl_c():
    with Processes(2) as workers:
        found = list(workers.run(heard, iter([(k,) for k in range(20)])))
    assert found == [False] * 20
    assert heard(0)


LOSES_ITS_PARENT = """
import os, signal, sys, time
from batchsolve.workers import Processes

with Processes(2) as workers:
    (child,) = workers.run(os.getpid, iter([()]))  # the other worker has had no task
    time.sleep(float(sys.argv[1]))
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("seconds", [0.0, 2.0])
def test_workers_without_a_task_end_with_their_parent(seconds):
    command = [sys.executable, "-c", LOSES_ITS_PARENT, str(seconds)]
    parent = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    assert parent.wait(60) == -signal.SIGKILL
    await_the_end_of_all(parent.pid)


TWO_AT_ONCE = """
from itertools import islice
import batchsolve as bs

one = bs.solutions("queens:16", jobs=2, backend="loky")
assert sum(1 for _ in islice(one, 300_000)) == 300_000  # so many that tasks are with workers
for jobs in (3, 2):
    other = bs.solutions("queens:16", jobs=jobs, backend="loky")
    assert sum(1 for _ in islice(other, 300_000)) == 300_000
    other.close()
    assert sum(1 for _ in islice(one, 100_000)) == 100_000
one.close()
"""


def test_two_searches_do_not_wait_for_each_other_or_end_each_other():
    """loky ends the workers of one executor together, and waits for all before it changes them."""
    parent = subprocess.Popen([sys.executable, "-c", TWO_AT_ONCE], start_new_session=True)
    try:
        assert parent.wait(120) == 0
    finally:
        parent.kill()
    await_the_end_of_all(parent.pid)
