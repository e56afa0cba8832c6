"""Memoised counting: dancing links with a table of earlier counts.

If two partial covers leave the same items, their subtrees are equal, and the covers below the
second are looked up (`batchsolve/core/memo.h`). So the search counts paths through a graph of sets
instead of the leaves of a tree; that is little work where many partial covers leave the same set,
as in tilings and matchings, and only overhead where hardly any two do.

Items lie in the header list in a narrow order (`batchsolve.engines.item_order`). So of those with
the fewest options the search branches on one whose neighbours it has covered, and finishes a part
of the problem before it begins another, however the items are numbered.

The table is one array of a bounded size, which all threads of a process share. Processes on one
machine can share one, too: memory that they map. Every run begins with an empty table. Its rows
have as many words for a count as the largest may need.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from batchsolve.core import native
from batchsolve.core.arrays import Words
from batchsolve.engines import (
    UNLIMITED,
    Engine,
    Outcome,
    Task,
    new_run,
)
from batchsolve.engines.item_order import narrow_order
from batchsolve.engines.native import core_problem, core_task, outcome_of
from batchsolve.errors import InputError
from batchsolve.problems.exact_cover import ExactCover, owners_of, prepared

MEGABYTE = 2**20
MEGABYTES = 256  # of a table by default
MOST_MEGABYTES = 2**30


@dataclass(frozen=True)
class MemoisedCounting(Engine):
    """The engine that counts equal subtrees once.

    Attributes
    ----------
    megabytes : int
        The size of the table of each process; its threads share it.
    run : str
        The run whose tasks share the table; empty if all searches of a problem do.
    file : str
        The memory, as a file, that holds the table for several processes; empty if each has its
        own.
    entries : int
        Entries of options that a search may take out of lists, about; it stops then. Problems with
        bounds do not count them.
    """

    megabytes: int = MEGABYTES
    run: str = field(default="", repr=False)
    file: str = field(default="", repr=False)
    entries: int = field(default=UNLIMITED, repr=False)

    def for_run(
        self, run: str = "", entries: int = UNLIMITED, shared: bool = False
    ) -> MemoisedCounting:
        """Return the engine with an empty table; see `Engine`.

        The memory of a shared table is freed when this engine is, and all processes have ended that
        use it.
        """
        own = replace(self, run=run or new_run(), entries=entries)
        if not shared:
            return own
        try:
            memory = os.memfd_create(own.run)
        except (OSError, AttributeError):  # not allowed, or another system than Linux
            return own
        sharing = replace(own, file=f"/proc/{os.getpid()}/fd/{memory}")
        weakref.finalize(sharing, os.close, memory)
        return sharing

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search the stacks of a task; see `batchsolve.engines`."""
        with _shared_table(problem, self) as table:
            in_core, entries = _in_core(problem), problem.n_entries / max(1, problem.n_options)
            most_hidden = int(min(UNLIMITED, self.entries / max(1, entries)))
            found, words, tree_nodes = in_core.count(table, core_task(task), most_hidden)
        n = len(task.stacks)
        numbers = words.astype("<u8", copy=False).reshape(n, words.size // max(1, n))
        found_counts = [int.from_bytes(each.tobytes(), "little") for each in numbers]
        kind = np.int64 if max(found_counts, default=0) < 2**63 else object
        counts = np.array(found_counts, kind)
        return replace(outcome_of(found, task), counts=counts, tree_nodes=tree_nodes)


def with_size(engine: Engine, name: str) -> MemoisedCounting:
    """Return the engine with tables of the size that a number behind its name says."""
    base, colon, number = name.partition(":")
    is_number = number.isascii() and number.isdecimal() and len(number) < 20
    if colon and not (is_number and 1 <= int(number) <= MOST_MEGABYTES):
        raise InputError(
            f"{name!r}: the size of a table is 1 to {MOST_MEGABYTES:,} megabytes; write {base}:64"
        )
    megabytes = int(number or MEGABYTES)
    named = f"{base}:{megabytes}"
    return MemoisedCounting(named, engine.capabilities, engine.module, megabytes=megabytes)


@prepared
def _in_core(problem: ExactCover) -> Any:
    """Return a problem as the core counts it, its primary items in a narrow order."""
    order = narrow_order(problem).astype(np.uint32)
    return native.memo(core_problem(problem), order, words_of_counts(problem))


def words_of_counts(problem: ExactCover) -> int:
    """Return an upper bound of the words that the number of covers has.

    Without bounds, a search branches on different items, at most once for each option of a cover,
    and on an item at most into its options. With bounds, it chooses for every item at most as many
    of its options as the upper bound says. A cover is at most any set of options.

    Examples
    --------
    >>> from batchsolve.problems.families import family
    >>> words_of_counts(family("dominoes:2x2")), words_of_counts(family("dominoes:10x10"))
    (1, 2)
    """
    is_primary = problem.indices < problem.n_primary
    sizes = np.bincount(problem.indices[is_primary], minlength=problem.n_primary)
    if problem.bounds is None:
        of_options = np.bincount(owners_of(problem)[is_primary])
        least = of_options[of_options > 0].min(initial=max(1, problem.n_primary))
        bits = -np.sort(-np.log2(np.maximum(sizes, 1)))[: problem.n_primary // least]
    else:
        bits = np.minimum(sizes, problem.bounds[:, 1] * np.log2(sizes + 1))
    n_bits = int(min(bits.sum(), problem.n_options)) + 3
    return -(-n_bits // 64)


def _new_table(shape: tuple[int, int], engine: MemoisedCounting) -> Words:
    if engine.file:
        # once the search that made the memory is over, another file may have its place
        with suppress(OSError), open(engine.file, "r+b") as memory:
            name = os.readlink(f"/proc/self/fd/{memory.fileno()}")
            if name.startswith(f"/memfd:{engine.run}"):
                memory.truncate(8 * shape[0] * shape[1])
                # a row stays unused for ever if a process is killed while it writes the row
                return np.asarray(np.memmap(memory, np.uint64, "r+", shape=shape))
    return np.zeros(shape, np.uint64)


_Kind = tuple[str, int, str]  # fingerprint of the problem, number of rows, run
_TABLES: dict[_Kind, Words] = {}
_USERS: Counter[_Kind] = Counter()  # the searches that use each table
_TABLES_LOCK = threading.Lock()


@contextmanager
def _shared_table(problem: ExactCover, engine: MemoisedCounting) -> Iterator[Words]:
    """Lend the table of a problem to a search; others may use it at the same time.

    It keeps its rows until another problem or run needs a table as large, no search uses this one,
    and more tables are unused than used: workers that take turns with several problems keep them
    all.
    """
    width = _in_core(problem).table_width
    n_rows = max(1, engine.megabytes * MEGABYTE // (8 * width))
    kind = (problem.fingerprint, n_rows, engine.run)
    with _TABLES_LOCK:
        unused = [
            each
            for each, table in _TABLES.items()
            if each != kind and not _USERS[each] and table.size < 2 * n_rows * width
        ]
        n_used = sum(_USERS[each] > 0 for each in _TABLES)
        for other in unused[: max(0, len(unused) - n_used)]:
            del _TABLES[other], _USERS[other]
        if kind in _TABLES:
            _TABLES[kind] = _TABLES.pop(kind)  # the last one used is the last
        else:
            try:
                _TABLES[kind] = _new_table((n_rows, width), engine)
            except MemoryError as error:
                raise InputError(
                    f"no memory for a table of {engine.megabytes:,} MB; name a smaller size"
                ) from error
        table = _TABLES[kind]
        _USERS[kind] += 1
    try:
        yield table
    finally:
        with _TABLES_LOCK:
            _USERS[kind] -= 1
