"""The command line, but it waits at every step of a run, so that kills can fall between all steps.

A busy machine does not let the run end before them.
"""

import os
import random
import signal
import subprocess
import sys
import time

EVERY_STEP = """
import sys
from unittest.mock import patch
import batchsolve.runs.run
patch("batchsolve.search.tree.STEP_SECONDS", 0).start()
keep = batchsolve.runs.run.Run.keep

def keep_and_wait(self, step):
    keep(self, step)
    print("kept", flush=True)
    sys.stdin.read(1)

batchsolve.runs.run.Run.keep = keep_and_wait
from batchsolve.__main__ import main
main()
"""


def hear(process, steps):
    """Wait until a run has kept this number of steps; it begins one more."""
    process.stdin.write(steps * b".")
    process.stdin.flush()
    assert all(process.stdout.readline() == b"kept\n" for _ in range(steps))


EVERY_CHUNK = """
import sys, time
from unittest.mock import patch
from batchsolve.__main__ import main
from batchsolve.runs.outputs import OneFile
patch("batchsolve.runs.specs.JOURNAL_SECONDS", 0).start()
take = OneFile.take

def take_when_told(self, *chunk):
    sys.stdin.read(1)
    time.sleep(0.005)  # there are as many records on a fast machine
    parts = take(self, *chunk)
    print("taken", flush=True)
    return parts

OneFile.take = take_when_told
main()  # which ends at once, as Python with threads in C++ may abort at its end
"""


def ended_by(how, words, out, chunks):
    """Run a command of tables until it is done, and send a signal after some chunks of each run.

    Yield the exit code and the messages of each run, and whether it has made the output; all but
    the last run leave a journal.
    """
    command = [sys.executable, "-c", EVERY_CHUNK, *map(str, words), "--resume", "--quiet"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    rng = random.Random(how)
    for _ in range(100):
        n_chunks = rng.randrange(*chunks)
        process = subprocess.Popen(command, text=True, start_new_session=True, **pipes)
        process.stdin.write("." * (n_chunks + 4))
        process.stdin.flush()
        for _ in range(n_chunks):
            process.stdout.readline()
        time.sleep(0.01 * rng.random())
        if how == signal.SIGKILL:  # workers, too
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        _, messages = process.communicate()
        yield process.returncode, messages, os.path.exists(out)
        if not os.path.exists(f"{out}.partial.journal"):
            return
