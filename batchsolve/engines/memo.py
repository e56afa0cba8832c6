"""Memoised counting: dancing links with a table of earlier counts.

If two partial covers leave the same items (`batchsolve.engines.links`), their subtrees are
equal, and the covers below the second are looked up. So the search counts paths through a graph of
sets instead of the leaves of a tree; that is little work where many partial covers leave the same
set, as in tilings and matchings, and only overhead where hardly any two do.

Items lie in the header list in a narrow order (`batchsolve.engines.item_order`). So of those with
the fewest options the search branches on one whose neighbours it has covered, and finishes a part
of the problem before it begins another, however the items are numbered.

* The *key* is compared as a whole: the hash only says where to look.
* The *table* is one array of a bounded size, which all threads of a process share. A row is a
  *version*, a key, a count of 128 bits, and the *size*, the nodes of the whole subtree; version 0
  marks an empty row. A key may lie in any row of a short window; when all those are taken, the row
  of the least size gives way.
* The sizes of subtrees, visited or looked up, add up to the size of the tree that was searched. So
  a short search tells how often subtrees repeat: `Outcome.tree_nodes` by `Outcome.nodes`.
* Processes on one machine can share a table, too: a file that they map. Every run begins with an
  empty table.
* No thread waits for a row. A thread that writes one makes its version odd first, and even again
  when all words are there; if another thread has made it odd, it does not write. A thread that
  reads one looks at the version before and after, and takes what it read only if both are the same
  even number: then no word of it was written in between (a *sequence lock*, here with the fences
  that H.-J. Boehm, *Can seqlocks get along with programming language memory models?*, MSPC 2012,
  shows to be needed). So a count that is found was stored with exactly this key.
* A count enters the table when nothing below its node was handed back. Covers counted below an
  interrupted node are in the sum of its stack; the others are left in the frontier.

Problems with bounds have the search of `batchsolve.engines.bounded`, and a key of their own: the
options that are left, and how many more of them each item needs and may have.

The sum of a stack has 192 bits. It cannot overflow: it grows by less than 2**128 a node, and no
search visits 2**64 nodes. The count of a node is the difference of that sum on leaving and on
entering; one of more than 128 bits is not stored.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import uint64

from batchsolve.engines import frame, stand_ins
from batchsolve.engines.contract import (
    UNLIMITED,
    Capabilities,
    Outcome,
    Registered,
    Task,
    registered,
)
from batchsolve.engines.intrinsics import (
    fence_acquire,
    fence_release,
    load_acquire,
    load_relaxed,
    replace_word,
    store_relaxed,
    store_release,
)
from batchsolve.engines.item_order import narrow_order
from batchsolve.engines.links import (
    Links,
    U,
    choose,
    commit_others,
    cover,
    flip,
    hand_back,
    hash_of,
    links_of,
    list_uncovered,
    name_choices,
    reselect,
    uncommit_others,
    uncover,
    undo,
    words_of_key,
    write_key,
)
from batchsolve.errors import InputError
from batchsolve.kernels import helper, inlined, kernel
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Searchable

MEGABYTE = 2**20
MOST_MEGABYTES = 2**30

W = uint64

_WINDOW = 8  # rows in which a key may lie
_BESIDE_KEY = 4  # words of a row: its version before the key; a count of two and the size behind
_MOST_SIZE = 2.0**63


class Marks(NamedTuple):
    """The working memory of a search."""

    n_primary: int
    uncovered: np.ndarray  # the items not covered, a bit each
    key: np.ndarray  # room for a key
    sums: np.ndarray  # (levels, 3): level -> the sum on entering its node, lowest word first
    sizes: np.ndarray  # level -> the nodes of its node's subtree, as far as it was searched
    handed: np.ndarray  # level -> the stacks handed back by then; -1 if it was not looked up


def _marks_of(problem: ExactCover, words: int) -> Marks:
    """Return marks for one search of a problem whose keys have `words` words."""
    n_levels = problem.n_items + 1
    return Marks(
        problem.n_primary,
        np.zeros(words, np.uint64),
        np.zeros(words, np.uint64),
        np.zeros((n_levels, 3), np.uint64),
        np.zeros(n_levels, np.float64),
        np.zeros(n_levels, np.int64),
    )


@inlined
def _first_row(key, table):
    """Return where the window of a key begins."""
    return hash_of(key) % W(table.shape[0])


@inlined
def _find(key, table):
    """Look a key up; return whether it was found, its count of two words, and its size.

    A row that another thread writes meanwhile is skipped.
    """
    n_rows, width, words = W(table.shape[0]), W(table.shape[1]), W(key.size)
    flat = table.reshape(table.size)
    row = _first_row(key, table)
    for _ in range(_WINDOW):
        at = row * width
        version = load_acquire(flat, at)
        if version == W(0):
            break
        if version & W(1) == W(0):
            at += W(1)
            w = W(0)
            while w < words and load_relaxed(flat, at + w) == key[w]:
                w += W(1)
            if w == words:
                at += words
                low, high = load_relaxed(flat, at), load_relaxed(flat, at + W(1))
                size = load_relaxed(flat, at + W(2))
                fence_acquire()
                if load_relaxed(flat, row * width) == version:
                    return True, low, high, size
        row += W(1)
        if row == n_rows:
            row = W(0)
    return False, W(0), W(0), W(0)


@inlined
def _store(key, low, high, size, table):
    """Write a count into the first empty row of its window, or over the one of least size.

    If another thread is writing that row, the count is not kept.
    """
    n_rows, width, words = W(table.shape[0]), W(table.shape[1]), W(key.size)
    flat = table.reshape(table.size)
    row = _first_row(key, table)
    place, least = row, ~W(0)
    for _ in range(_WINDOW):
        is_empty = load_relaxed(flat, row * width) == W(0)
        kept = W(0) if is_empty else load_relaxed(flat, row * width + words + W(3))
        if kept < least:
            place, least = row, kept
        if is_empty:
            break
        row += W(1)
        if row == n_rows:
            row = W(0)
    at = place * width
    version = load_relaxed(flat, at)
    if version & W(1) == W(0) and replace_word(flat, at, version, version + W(1)):
        fence_release()
        for w in range(words):
            store_relaxed(flat, at + W(1) + w, key[w])
        store_relaxed(flat, at + words + W(1), low)
        store_relaxed(flat, at + words + W(2), high)
        store_relaxed(flat, at + words + W(3), size)
        store_release(flat, at, version + W(2))


@inlined
def _add(total, low, high):
    """Add a number of 128 bits to one of 192."""
    total[0] += low
    carry = W(total[0] < low)
    total[1] += high
    carry_on = W(total[1] < high)
    total[1] += carry
    carry_on += W(total[1] < carry)
    total[2] += carry_on


@inlined
def _difference(total, before):
    """Subtract a number of 192 bits from one that is no less; return the words."""
    low = total[0] - before[0]
    borrow = W(total[0] < before[0])
    middle = total[1] - before[1]
    borrow_on = W(total[1] < before[1]) + W(middle < borrow)
    return low, middle - borrow, total[2] - before[2] - borrow_on


class Recall(NamedTuple):
    """The table and the working memory of a search with bounds."""

    table: np.ndarray
    key: np.ndarray  # room for a key
    counted: np.ndarray  # the items that may be in several options
    total: np.ndarray  # the sum of the stack
    sums: np.ndarray  # this and the next two: as in `Marks`
    sizes: np.ndarray
    handed: np.ndarray
    state: np.ndarray  # the number of stacks handed back so far


def _recall_of(problem: ExactCover, table: npt.NDArray[np.uint64]) -> Recall:
    """Return the working memory for one search of a problem with bounds."""
    n_levels = problem.n_options + 2
    return Recall(
        table,
        np.zeros(table.shape[1] - _BESIDE_KEY, np.uint64),
        _counted(problem),
        np.zeros(3, np.uint64),
        np.zeros((n_levels, 3), np.uint64),
        np.zeros(n_levels, np.float64),
        np.zeros(n_levels, np.int64),
        np.zeros(1, np.int64),
    )


def _counted(problem: ExactCover) -> npt.NDArray[np.uint32]:
    """Return the items that may be in several options, counted from 1."""
    assert problem.bounds is not None
    return (np.flatnonzero(problem.bounds[:, 1] > 1) + 1).astype(np.uint32)


@inlined
def _write_key_with_bounds(links, usage, recall):
    """Write the key of the current node; an item without options needs none."""
    key = recall.key
    for w in range(key.size):
        key[w] = W(0)
    p = links.right[0]
    while p != 0:
        q = links.down[p]
        while q != p:
            o = W(links.option[q])
            key[o >> W(6)] |= W(1) << (o & W(63))
            q = links.down[q]
        p = links.right[p]
    at = key.size - recall.counted.size
    for x in range(recall.counted.size):
        i = recall.counted[x]
        size, used = links.size[i], usage.used[i]
        if used < usage.most[i] and size > 0:
            need = usage.least[i] - min(used, usage.least[i])
            key[at + x] = W(need) << W(32) | W(min(usage.most[i] - used, size))


@inlined
def enter(level, size, recall):
    """Begin the record of a node: 1 if it is visited, 0 if it is handed back."""
    if recall is not None:
        recall.sizes[level] = size


@inlined
def add_cover(recall):
    """Count a cover."""
    if recall is not None:
        _add(recall.total, W(1), W(0))


@inlined
def is_known(branches, level, links, usage, recall):
    """Tell whether the covers below a node were counted before; add them if so."""
    if recall is None:
        return False
    recall.handed[level] = -1
    if branches == 1:  # a node with one child is left to that child
        return False
    _write_key_with_bounds(links, usage, recall)
    found, low, high, size = _find(recall.key, recall.table)
    if found:
        _add(recall.total, low, high)
        recall.sizes[level] = float(size)
    else:
        recall.sums[level] = recall.total
        recall.handed[level] = recall.state[0]
    return found


@inlined
def add_size(level, recall):
    """Add the nodes below a level to those of its parent."""
    if recall is not None:
        recall.sizes[level - 1] += recall.sizes[level]


@inlined
def remember(level, links, usage, recall):
    """Store the covers below a node that is to be left, unless some were handed back."""
    if recall is None:
        return
    if recall.handed[level] == recall.state[0]:
        low, high, beyond = _difference(recall.total, recall.sums[level])
        if beyond == 0:
            _write_key_with_bounds(links, usage, recall)
            size = W(min(recall.sizes[level], _MOST_SIZE))
            _store(recall.key, low, high, size, recall.table)


@helper
def begin_to_recall(k, n_handed, totals, recall):
    """Go on with the sum of stack `k`."""
    if recall is not None:
        for w in range(3):
            recall.total[w] = totals[k, w]
        recall.state[0] = n_handed


@helper
def end_recalling(k, totals, recall):
    """Write the sum of stack `k`."""
    if recall is not None:
        for w in range(3):
            totals[k, w] = recall.total[w]


@helper
def add_sizes(k, level, sizes, recall):
    """Write the nodes of stack `k` whose search ended at a level."""
    if recall is not None:
        for above in range(max(level, 1)):  # those below were added to their parents
            sizes[k] += recall.sizes[above]


@helper
def _walk(links, table, marks, total, choice, position, bounds, handed):
    """Continue the search from the state of the links until an event.

    Parameters
    ----------
    links : Links
    table : ndarray of uint64
    marks : Marks
    total : ndarray of uint64, shape (3,)
        The sum of the stack; what is counted is added to it.
    choice : ndarray of uint32, shape (n_levels,)
        The node chosen on each level.
    position : Position
    bounds : Bounds
    handed : int
        The number of stacks handed back so far.

    Returns
    -------
    int, Position
        The event, never `COVER`; and where to go on.
    """
    level, entered, visited, _ = position
    depth, allowed = bounds.depth, bounds.allowed
    down, right = links.down, links.right
    uncovered, key, sizes = marks.uncovered, marks.key, marks.sizes
    n_items = U(links.left.size - 1)
    while True:
        if entered:
            # X2. [Enter level l.]
            if visited == allowed:
                return frame.SPENT, frame.Position(level, False, visited, 0)
            sizes[level] = 1.0
            if right[0] == 0:
                visited += 1
                _add(total, W(1), W(0))
                entered = False
            else:
                # X3. [Choose i.]
                best, i = choose(links)
                if best == 0:
                    visited += 1
                    entered = False
                elif level == depth:
                    sizes[level] = 0.0
                    return frame.DEEP, frame.Position(level, False, visited, 0)
                else:
                    visited += 1
                    marks.handed[level] = -1
                    if best > 1:  # a node with one child is left to that child
                        write_key(key, uncovered, links, marks.n_primary)
                        is_known, low, high, size = _find(key, table)
                        if is_known:
                            _add(total, low, high)
                            sizes[level] = float(size)
                            entered = False
                        else:
                            marks.sums[level] = total
                            marks.handed[level] = handed
                    if entered:
                        # X4. [Cover i.]
                        cover(i, links)
                        choice[level] = down[i]
        while True:
            if not entered:
                # X8. [Leave level l.]
                if level == 0:
                    return frame.DONE, frame.Position(level, False, visited, 0)
                level -= 1
                sizes[level] += sizes[level + 1]
                # X6. [Try again.]
                flip(choice[level], links, uncovered)
                uncommit_others(choice[level], links)
                choice[level] = down[choice[level]]
            # X5. [Try x_l.]
            if choice[level] > n_items:
                commit_others(choice[level], links)
                flip(choice[level], links, uncovered)
                level += 1
                entered = True
                break
            # X7. [Backtrack.]
            uncover(choice[level], links)
            entered = False
            if marks.handed[level] == handed:
                low, high, beyond = _difference(total, marks.sums[level])
                if beyond == 0:
                    write_key(key, uncovered, links, marks.n_primary)
                    _store(key, low, high, W(min(sizes[level], _MOST_SIZE)), table)


@kernel
def _search(links, table, marks, totals, sizes, task):
    """Search below every stack of a task; return no covers and the frontier.

    Counts are added to `totals`, and the nodes of the tree that was searched to `sizes`.
    """
    stacks, clash = task.stacks, task.clash
    found, front = frame.no_covers(), frame.no_stacks()
    n_items = links.left.size - 1
    covered = np.zeros(n_items + 1, np.uint32)
    selected = stacks.options[:0]
    choice = np.zeros(n_items + 1, np.uint32)
    choices = frame.no_choices(n_items + 1)
    for k in range(stacks.n):
        bounds, front = frame.begin_stack(task, k, found, front)
        if not frame.may_begin(bounds):
            continue
        # X1. [Initialize.]
        clash[k], selected = reselect(selected, frame.stack_at(stacks, k), links, covered)
        if clash[k] >= 0:
            continue
        list_uncovered(links, covered, marks.uncovered)
        event, position = frame.DEEP, frame.at_the_top()
        while event == frame.DEEP:
            event, position = _walk(
                links, table, marks, totals[k], choice, position, bounds, front.n
            )
            if event != frame.DONE:
                name_choices(links, choice, position.level, choices)
                front = frame.append(front, stacks, k, choices, position.level)
        if frame.is_cut_short(event, bounds):
            front = hand_back(links, choice, position.level, stacks, k, choices, front)
        undo(links, choice, position.level)
        frame.end_stack(task, k, position)
        for level in range(max(position.level, 1)):  # those below were added to their parents
            sizes[k] += marks.sizes[level]
    return found[:], front[:]


_STAND_IN = Registered(
    "memo",
    Capabilities("the same in Python", counts_only=True),
    "batchsolve.engines.walk",
    "count_memoised",
    few_nodes=20_000,
    in_turn=False,
)


@dataclass(frozen=True)
class MemoisedCounting:
    """The engine that counts equal subtrees once.

    Parameters
    ----------
    megabytes : int
        The size of the table of each process; its threads share it.
    run : str
        The run whose tasks share the table; empty if all searches of a problem do.
    file : str
        The file that holds the table for several processes; empty if each has its own.
    """

    megabytes: int = 256
    run: str = field(default="", repr=False)
    file: str = field(default="", repr=False)

    capabilities = registered("memo").capabilities
    stand_in = _STAND_IN

    def __post_init__(self) -> None:
        if not 1 <= self.megabytes <= MOST_MEGABYTES:
            raise InputError(
                f"the size of a table is 1 to {MOST_MEGABYTES} megabytes, not {self.megabytes}"
            )

    @property
    def name(self) -> str:
        """The name of the engine for `get_engine`."""
        return f"memo:{self.megabytes}"

    def for_run(self, run: str, folder: str, problem: ExactCover) -> MemoisedCounting:
        """Return the engine with an empty table; see `Sharing`.

        A file is reserved whole: a process is killed if it writes where the disk has no space.
        """
        own = replace(self, run=run)
        if not folder:
            return own
        n_rows, width = _shape_of_table(problem, self.megabytes)
        name = f"table-{run}-{problem.fingerprint[:16]}-{self.megabytes}"
        file = os.path.join(folder, name)
        if os.path.exists(file):
            return replace(own, file=file)
        try:
            with open(file, "xb") as made:
                os.posix_fallocate(made.fileno(), 0, 8 * n_rows * width)
        except (OSError, AttributeError):  # a full disk, or a system that cannot reserve files
            with suppress(OSError):
                os.remove(file)
            return own
        return replace(own, file=file)

    def search(self, problem: Searchable, task: Task) -> Outcome:
        """Search the stacks of a task; see `batchsolve.engines.contract`."""
        if task.depth < UNLIMITED or task.allowances.min(initial=UNLIMITED) < UNLIMITED:
            return self.compiled(problem, task)
        return stand_ins.search(self.name, self.compiled, self.stand_in, problem, task)

    def compiled(self, problem: Searchable, task: Task) -> Outcome:
        """Search a task by the kernel, which may have to be compiled."""
        assert isinstance(problem, ExactCover)
        least = min(task.room, int(task.limits.min(initial=UNLIMITED)))
        if task.keep or least < UNLIMITED:
            raise InputError(
                f"the engine {self.name!r} only counts, and counts everything: for covers, or a "
                f"limit on their number, leave it out"
            )
        totals = np.zeros((len(task.stacks), 3), np.uint64)
        sizes = np.zeros(len(task.stacks))
        with _shared_table(problem, self) as table:
            if problem.bounds is None:
                marks = _marks_of(problem, table.shape[1] - _BESIDE_KEY)
                arrays: Any = _links_in_order(problem), table, marks, totals, sizes
                outcome = frame.search_task(_search, arrays, task)
            else:
                from batchsolve.engines.bounded import count_with  # compiled when first needed

                recall = _recall_of(problem, table)
                outcome = count_with(recall, totals, sizes, problem, _links_in_order(problem), task)
        counts = [low + (middle << 64) + (high << 128) for low, middle, high in totals.tolist()]
        fits = max(counts, default=0) < 2**63
        exact = np.array(counts, np.int64 if fits else object)
        return replace(outcome, counts=exact, tree_nodes=sizes)


@frame.prepared
def _header_list(problem: ExactCover) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return the items before and behind each in the header list, in a narrow order."""
    ring = np.concatenate([[0], narrow_order(problem) + 1])
    left, right = np.tile(np.arange(problem.n_items + 1, dtype=np.uint32), (2, 1))
    left[ring], right[ring] = np.roll(ring, 1), np.roll(ring, -1)
    return left, right


def _links_in_order(problem: ExactCover) -> Links:
    """Return links for one search, with the items in a narrow order."""
    left, right = _header_list(problem)
    return links_of(problem)._replace(left=left.copy(), right=right.copy())


def _shape_of_table(problem: ExactCover, megabytes: int) -> tuple[int, int]:
    """Return the number of rows of a table of this size, and the words in a row."""
    if problem.bounds is None:
        width = words_of_key(problem) + _BESIDE_KEY
    else:
        width = (problem.n_options + 63) // 64 + _counted(problem).size + _BESIDE_KEY
    return max(1, megabytes * MEGABYTE // (8 * width)), width


def _new_table(shape: tuple[int, int], file: str) -> npt.NDArray[np.uint64]:
    if file:
        # a row stays unused for ever if a process is killed while it writes the row
        with suppress(OSError):  # the search that made the file is over
            return np.asarray(np.memmap(file, np.uint64, "r+", shape=shape))
    return np.zeros(shape, np.uint64)


@dataclass(eq=False)
class _Table:
    """A table, and the number of searches that use it."""

    rows: npt.NDArray[np.uint64]
    users: int = 0


_TABLES: dict[tuple[str, int, str, str], _Table] = {}
_TABLES_LOCK = threading.Lock()


@contextmanager
def _shared_table(
    problem: ExactCover, engine: MemoisedCounting
) -> Iterator[npt.NDArray[np.uint64]]:
    """Lend the table of a problem to a search; others may use it at the same time.

    It keeps its rows until another problem or run needs a table as large, no search uses this one,
    and more tables are unused than used: workers that take turns with several problems keep them
    all.
    """
    shape = _shape_of_table(problem, engine.megabytes)
    kind = (problem.fingerprint, shape[0], engine.run, engine.file)
    with _TABLES_LOCK:
        unused = [
            each
            for each, table in _TABLES.items()
            if each != kind and not table.users and table.rows.size < 2 * shape[0] * shape[1]
        ]
        n_used = sum(table.users > 0 for table in _TABLES.values())
        for other in unused[: max(0, len(unused) - n_used)]:
            del _TABLES[other]
        if kind in _TABLES:
            _TABLES[kind] = _TABLES.pop(kind)  # the last one used is the last
        else:
            try:
                _TABLES[kind] = _Table(_new_table(shape, engine.file))
            except MemoryError as error:
                raise InputError(
                    f"no memory for a table of {engine.megabytes} MB; name a size"
                ) from error
        table = _TABLES[kind]
        table.users += 1
    try:
        yield table.rows
    finally:
        with _TABLES_LOCK:
            table.users -= 1
