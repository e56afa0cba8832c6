"""Find where each thing that a pool sends is unpickled: python unpickling.py BACKEND ADDRESS.

It prints each thing, with the kinds of processes that have unpickled it.
"""

import os
import sys
import tempfile
from pathlib import Path

from batchsolve.workers import Pool

N_TASKS = 8


class Marked:
    """Something that notes in a file that it is unpickled, and where."""

    def __init__(self, name, notes):
        self.name, self.notes = name, notes

    def __reduce__(self):
        return _unpickled, (self.name, self.notes)


def _unpickled(name, notes):
    with open(notes, "a") as file:  # short lines, which are written whole
        file.write(f"{name} {_kind()}\n")
    return Marked(name, notes)


def _kind():
    command = Path("/proc/self/cmdline").read_text().replace("\0", " ")
    for mark, kind in {
        "unpickling.py": "command",
        "dask scheduler": "scheduler",
        "dask worker": "nanny",
        "spawn_main": "worker",
        "ray::": "worker",
    }.items():
        if mark in command:
            return kind
    return command


class MarkedWork:
    """Work that is marked, and whose results are."""

    def __init__(self, notes):
        self.notes, self.mark = notes, Marked("work", notes)

    def __call__(self, task):
        """Return a marked result."""
        return Marked("result", self.notes)


def main(backend, address):
    """Do some tasks, and print where what was unpickled."""
    with tempfile.TemporaryDirectory() as folder:
        notes = os.path.join(folder, "notes")
        tasks = [(k, Marked("task", notes)) for k in range(N_TASKS)]
        with Pool(None, backend, address) as pool:
            assert len(list(pool.start(MarkedWork(notes), tasks))) == N_TASKS
        found = sorted(set(Path(notes).read_text().splitlines()))
    print("\n".join(found))


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(__file__))
    import unpickling  # whose classes workers find by this name

    unpickling.main(*sys.argv[1:])
