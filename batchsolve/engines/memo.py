"""Memoised counting: dancing links with a table of earlier counts.

If two partial covers leave the same items, their subtrees are equal, and the covers below the
second are looked up (`batchsolve/core/memo.cpp`). So the search counts paths through a graph of
sets instead of the leaves of a tree; that is little work where many partial covers leave the same
set, as in tilings and matchings, and only overhead where hardly any two do.

Items lie in the header list in a *narrow* order, which has a narrow frontier. So of those with the
fewest options the search branches on one whose neighbours it has covered, and finishes a part of
the problem before it begins another, however the items are numbered. Once the first items of an
order are covered, what is left depends on the others that have an option in common with them: the
*frontier*. There are at most as many different remainders as the frontier has subsets. To make the
widest frontier narrow is to find the vertex separation, or the path-width, of the graph of items;
that is NP-hard, so the order is made greedily, as in frontier-based search (J. Kawahara, T. Inoue,
H. Iwashita and S. Minato, *Frontier-based search for enumerating all constrained subgraphs with
compressed representation*, IEICE Transactions, 2017).

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
from batchsolve.core.arrays import Bools, Ints, Words, owners_of
from batchsolve.engines import UNLIMITED, Engine, Outcome, Task, new_run
from batchsolve.engines.native import core_problem, core_task, outcome_of
from batchsolve.errors import InputError
from batchsolve.problems.exact_cover import ExactCover, prepared

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
        engine = replace(self, run=run or new_run(), entries=entries)
        if not shared:
            return engine
        try:
            memory = os.memfd_create(engine.run)
        except (OSError, AttributeError):  # not allowed, or another system than Linux
            return engine
        sharing = replace(engine, file=f"/proc/{os.getpid()}/fd/{memory}")
        weakref.finalize(sharing, os.close, memory)
        return sharing

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search the stacks of a task; see `batchsolve.engines`."""
        with _shared_table(problem, self) as table:
            in_core, entries = _in_core(problem), problem.n_entries / max(1, problem.n_options)
            most_hidden = int(min(UNLIMITED, self.entries / max(1, entries)))
            result, words, tree_nodes = in_core.count(table, core_task(task), most_hidden)
        words = words.astype("<u8", copy=False)
        numbers = [int.from_bytes(row.tobytes(), "little") for row in words]
        kind = np.int64 if max(numbers, default=0) < 2**63 else object
        counts = np.array(numbers, kind)
        return replace(outcome_of(result, task), counts=counts, tree_nodes=tree_nodes)


def with_size(engine: Engine, name: str) -> MemoisedCounting:
    """Return the engine with tables of the size that a number behind its name says."""
    base, colon, number = name.partition(":")
    is_number = number.isascii() and number.isdecimal() and len(number) < 20
    if colon and not (is_number and 1 <= int(number) <= MOST_MEGABYTES):
        raise InputError(
            f"{name!r}: the size of a table is 1 to {MOST_MEGABYTES:,} megabytes; write {base}:64"
        )
    megabytes = int(number or MEGABYTES)
    full_name = f"{base}:{megabytes}"
    return MemoisedCounting(**{**vars(engine), "name": full_name}, megabytes=megabytes)


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
        of_options = np.bincount(owners_of(problem.indptr)[is_primary])
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


def _affordable_table(shape: tuple[int, int], engine: MemoisedCounting) -> Words:
    """Return a new table; without memory for the default size, one of half of it, and so on."""
    try:
        return _new_table(shape, engine)
    except MemoryError as error:
        n_rows, width = shape
        if engine.megabytes != MEGABYTES or 8 * n_rows * width < MEGABYTE:
            raise InputError(
                f"no memory for a table of {engine.megabytes:,} MB; name a smaller size"
            ) from error
    # not in a file, whose size is that of the tables of other processes
    return _affordable_table((n_rows // 2, width), replace(engine, file=""))


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
            key
            for key, table in _TABLES.items()
            if key != kind and not _USERS[key] and table.size < 2 * n_rows * width
        ]
        n_used = sum(_USERS[key] > 0 for key in _TABLES)
        for other in unused[: max(0, len(unused) - n_used)]:
            del _TABLES[other], _USERS[other]
        if kind in _TABLES:
            _TABLES[kind] = _TABLES.pop(kind)  # the last one used is the last
        else:
            _TABLES[kind] = _affordable_table((n_rows, width), engine)
        table = _TABLES[kind]
        _USERS[kind] += 1
    try:
        yield table
    finally:
        with _TABLES_LOCK:
            _USERS[kind] -= 1


# ---- narrow orders --------------------------------------------------------------------------

MOST_ITEMS = 4096  # whose neighbours take 16 MB, and which are ordered within a second


def _neighbours(problem: ExactCover) -> Bools:
    """Return for each two items whether an option has both."""
    near = np.zeros((problem.n_items, problem.n_items), np.bool_)
    items, owner = problem.indices, owners_of(problem.indptr)
    for apart in range(1, int(np.diff(problem.indptr).max(initial=0))):
        pairs = np.flatnonzero(owner[apart:] == owner[:-apart])
        near[items[pairs], items[pairs + apart]] = True
    return near | near.T


def _greedy(near: Bools, n_primary: int, first: int) -> Ints:
    """Return the primary items from a first one on; the next widens the frontier least.

    Ties go to the item that has been in the frontier for longest, then to the first.
    """
    n_items = len(near)
    is_met = np.zeros(n_items, np.bool_)  # placed, or in the frontier
    since = np.full(n_items, n_items)  # when an item came into the frontier
    more = near[:n_primary].sum(axis=1)  # by how much an item would widen the frontier
    is_placed = np.zeros(n_primary, np.bool_)
    order = np.zeros(n_primary, np.int64)
    item = first
    for n in range(n_primary):
        if n > 0:
            rank = more * (n_items + 1) + since[:n_primary]
            item = int(np.argmin(np.where(is_placed, rank.max() + 1, rank)))
        order[n], is_placed[item] = item, True
        is_new = near[item] & ~is_met
        is_new[item] = not is_met[item]
        is_met |= is_new
        since[is_new] = n
        more -= near[is_new, :n_primary].sum(axis=0)
        more -= is_new[:n_primary]
    return order


def _n_subsets(near: Bools, order: Ints) -> float:
    """Return the logarithm of the number of subsets of all frontiers, one after each item."""
    n = order.size
    met = near[order]
    is_met = met.any(axis=0)
    begin = np.where(is_met, met.argmax(axis=0), n)
    # a primary item stays until its turn, others until that of the last
    end = np.where(is_met, n - 1 - met[::-1].argmax(axis=0), 0)
    end[order] = np.arange(n)
    stays = begin < end
    changes = np.bincount(begin[stays], minlength=n) - np.bincount(end[stays], minlength=n)
    return float(np.logaddexp2.reduce(np.cumsum(changes).astype(np.float64)))


def narrow_order(problem: ExactCover) -> Ints:
    """Return the primary items in an order with a narrow frontier.

    Parameters
    ----------
    problem : ExactCover
        If it has more than `MOST_ITEMS` items, they keep their order.

    Returns
    -------
    ndarray of int64, shape (n_primary,)

    Examples
    --------
    >>> from batchsolve.problems.families import family
    >>> board = family("dominoes:2x4")
    >>> [board.item_names[i] for i in narrow_order(board)]  # not row by row
    ['r1c1', 'r2c1', 'r1c2', 'r2c2', 'r1c3', 'r2c3', 'r1c4', 'r2c4']
    """
    natural = np.arange(problem.n_primary)
    if not 0 < problem.n_primary <= problem.n_items <= MOST_ITEMS:
        return natural
    near = _neighbours(problem)
    fewest = int(np.argmin(near[: problem.n_primary].sum(axis=1)))
    firsts = dict.fromkeys([0, fewest, problem.n_primary - 1])
    orders = [natural, *(_greedy(near, problem.n_primary, first) for first in firsts)]
    return min(orders, key=lambda order: _n_subsets(near, order))


def entries_in_order(problem: ExactCover, order: Ints) -> Ints:
    """Return the items of all options, the primary ones numbered by their place in an order."""
    rank = np.arange(problem.n_items)
    rank[order] = np.arange(problem.n_primary)
    return rank[problem.indices]
