"""What calls of the library must leave as it is in a process of its user, and in its workers.

Processes import this module: it must not import those of all tests, which takes them a second.
"""

import csv
import gc
import logging
import os
import signal
import warnings

import pyarrow as pa

import batchsolve as bs


def surroundings():
    """Return everything that a call could change for the rest of its process."""
    return (
        signal.getsignal(signal.SIGINT),
        signal.getsignal(signal.SIGTERM),
        signal.pthread_sigmask(signal.SIG_BLOCK, []),
        list(warnings.filters),
        dict(os.environ),
        csv.field_size_limit(),
        gc.isenabled(),
        *[logging.getLogger(name).handlers[:] for name in ("", "batchsolve")],
        pa.default_memory_pool().backend_name,
    )


def call(backend="threading"):
    """Call the library; return the answers, and True if nothing in its process has changed."""
    before = surroundings()
    # a small budget, so that there are tasks
    count = bs.count("queens:6", backend=backend, jobs=2, engine="dlx", budget=5).count
    return count, bs.solve("1.....2..3.....4").status, surroundings() == before


RIGHT = (4, "unique", True)


def end_well(backend):
    assert call(backend) == RIGHT


def process():
    return os.getpid(), signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def is_deaf(_):
    """Return True if Ctrl-C is blocked in this process, and ignored."""
    return process()[1] and signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
