"""The command line, but it saves every step of a run, prints that, and waits for a byte of input.

Kills can fall between all steps, and a busy machine does not let the run end before them.
"""

EVERY_STEP = """
import sys
import batchsolve.runs.run, batchsolve.search.tree_goal
batchsolve.search.tree_goal.STEP_SECONDS = 0
keep = batchsolve.runs.run.Run.keep

def keep_and_wait(self, step):
    keep(self, step)
    print("kept", flush=True)
    sys.stdin.read(1)

batchsolve.runs.run.Run.keep = keep_and_wait
from batchsolve.cli import app
app()
"""


def hear(process, steps):
    """Wait until a run has kept this number of steps; it begins one more."""
    process.stdin.write(steps * b".")
    process.stdin.flush()
    assert all(process.stdout.readline() == b"kept\n" for _ in range(steps))
