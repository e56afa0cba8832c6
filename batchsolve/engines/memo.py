"""Memoised counting: dancing links with a table of earlier counts.

If two partial covers leave the same items (`batchsolve.engines.links`), their subtrees are
equal, and the covers below the second are looked up (`batchsolve.engines.recall`). So the search
counts paths through a graph of sets instead of the leaves of a tree; that is little work where many
partial covers leave the same set, as in tilings and matchings, and only overhead where hardly any
two do.

Items lie in the header list in a narrow order (`batchsolve.engines.item_order`). So of those with
the fewest options the search branches on one whose neighbours it has covered, and finishes a part
of the problem before it begins another, however the items are numbered.

The table is one array of a bounded size, which all threads of a process share. Processes on one
machine can share one, too: a file that they map. Every run begins with an empty table.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

import numpy as np

from batchsolve.arrays import UInts, Words
from batchsolve.engines import frame, stand_ins
from batchsolve.engines.contract import (
    UNLIMITED,
    Capabilities,
    Outcome,
    Registered,
    Task,
    exact_counts,
    registered,
)
from batchsolve.engines.item_order import narrow_order
from batchsolve.engines.links import (
    Links,
    U,
    W,
    choose,
    commit_others,
    cover,
    flip,
    hand_back,
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
from batchsolve.engines.recall import (
    BESIDE_KEY,
    MOST_SIZE,
    Recall,
    add,
    add_one,
    difference,
    end_recalling,
    find,
    store,
)
from batchsolve.errors import InputError
from batchsolve.kernels import helper, kernel
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Searchable

MEGABYTE = 2**20
MOST_MEGABYTES = 2**30
LEAST_WORDS = 2  # of a count in a row


@helper
def _walk(links, recall, total, choice, position, bounds):
    """Continue the search from the state of the links until an event.

    Parameters
    ----------
    links : Links
    recall : Recall
    total : ndarray of uint64
        The sum of the stack; what is counted is added to it.
    choice : ndarray of uint32, shape (n_levels,)
        The node chosen on each level.
    position : Position
    bounds : Bounds

    Returns
    -------
    int, Position
        The event, never `COVER`; and where to go on.
    """
    level, entered, visited, _ = position
    depth, allowed = bounds.depth, bounds.allowed
    down, right = links.down, links.right
    table, key, uncovered, sizes = recall.table, recall.key, recall.uncovered, recall.sizes
    count = recall.covers
    handed = recall.n_handed[0]
    n_items = U(links.left.size - 1)
    while True:
        if entered:
            # X2. [Enter level l.]
            if visited == allowed:
                return frame.SPENT, frame.Position(level, False, visited, 0)
            sizes[level] = 1.0
            if right[0] == 0:
                visited += 1
                add_one(total)
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
                    recall.handed[level] = -1
                    if best > 1:  # a node with one child is left to that child
                        write_key(key, uncovered, links, recall.n_primary)
                        is_known, size = find(key, count, table)
                        if is_known:
                            add(total, count)
                            sizes[level] = float(size)
                            entered = False
                        else:
                            recall.sums[level] = total
                            recall.handed[level] = handed
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
            if recall.handed[level] == handed:
                if difference(total, recall.sums[level], count):
                    write_key(key, uncovered, links, recall.n_primary)
                    store(key, count, W(min(sizes[level], MOST_SIZE)), table)
                elif level > 0:  # that of the stack itself is in its sum
                    recall.beyond[0] = 1
                    allowed = visited


@kernel
def _search(links, recall, task):
    """Search below every stack of a task; return no covers and the frontier."""
    stacks, clash = task.stacks, task.clash
    found, front = frame.no_covers(), frame.no_stacks()
    n_items = links.left.size - 1
    covered = np.zeros(n_items + 1, np.uint32)
    selected = stacks.options[:0]
    choice = np.zeros(n_items + 1, np.uint32)
    choices = frame.no_choices(n_items + 1)
    for k in range(stacks.n):
        bounds, front = frame.begin_stack(task, k, found, front)
        if not frame.may_begin(bounds) or recall.beyond[0]:
            continue
        # X1. [Initialize.]
        clash[k], selected = reselect(selected, frame.stack_at(stacks, k), links, covered)
        if clash[k] >= 0:
            continue
        list_uncovered(links, covered, recall.uncovered)
        event, position = frame.DEEP, frame.at_the_top()
        while event == frame.DEEP:
            recall.n_handed[0] = front.n
            event, position = _walk(links, recall, recall.totals[k], choice, position, bounds)
            if event != frame.DONE:
                name_choices(links, choice, position.level, choices)
                front = frame.append(front, stacks, k, choices, position.level)
        if frame.is_cut_short(event, bounds):
            front = hand_back(links, choice, position.level, stacks, k, choices, front)
        undo(links, choice, position.level)
        frame.end_stack(task, k, position)
        end_recalling(k, position.level, recall)
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
        """Return the engine with an empty table; see `Sharing`."""
        own = replace(self, run=run)
        if not folder:
            return own
        name = f"table-{run}-{problem.fingerprint[:16]}-{self.megabytes}"
        shape = _shape_of_table(problem, self.megabytes, LEAST_WORDS)
        return replace(own, file=_reserved(os.path.join(folder, name), shape))

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
        words = _words_of_counts(problem)
        while True:
            n_words = words[0]
            with _shared_table(problem, self, n_words) as table:
                recall = _recall_of(problem, table, n_words, len(task.stacks))
                outcome = _searched(problem, task, recall)
            if not recall.beyond[0]:
                break
            words[0] = max(words[0], 2 * n_words)
        sums = recall.totals.astype("<u8")
        counts = exact_counts([int.from_bytes(each.tobytes(), "little") for each in sums])
        return replace(outcome, counts=counts, tree_nodes=recall.tree_nodes)


def _searched(problem: ExactCover, task: Task, recall: Recall) -> Outcome:
    """Search a task by the kernel that the problem needs."""
    links = _links_in_order(problem)
    if problem.bounds is None:
        return frame.search_task(_search, (links, recall), task)
    from batchsolve.engines import bounded  # compiled when first needed

    return bounded.search(problem, task, links=links, recall=recall)


@frame.prepared
def _words_of_counts(problem: ExactCover) -> list[int]:
    """Return the words of a count in a row, one number; it grows when a count does not fit.

    Few problems need more than the least, and wider rows are fewer.
    """
    return [LEAST_WORDS]


def _recall_of(problem: ExactCover, table: Words, n_words: int, n_stacks: int) -> Recall:
    """Return the working memory for one search of a problem."""
    n_key = table.shape[1] - BESIDE_KEY - n_words
    n_levels = max(problem.n_items, problem.n_options) + 2
    return Recall(
        table,
        np.zeros(n_key, np.uint64),
        np.zeros(n_words, np.uint64),
        problem.n_primary,
        np.zeros(n_key, np.uint64),
        _counted(problem),
        np.zeros((n_stacks, n_words + 1), np.uint64),
        np.zeros(n_stacks),
        np.zeros((n_levels, n_words + 1), np.uint64),
        np.zeros(n_levels),
        np.zeros(n_levels, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )


def _counted(problem: ExactCover) -> UInts:
    """Return the items that may be in several options, counted from 1."""
    most = np.ones(0) if problem.bounds is None else problem.bounds[:, 1]
    return (np.flatnonzero(most > 1) + 1).astype(np.uint32)


@frame.prepared
def _header_list(problem: ExactCover) -> tuple[UInts, UInts]:
    """Return the items before and behind each in the header list, in a narrow order."""
    ring = np.concatenate([[0], narrow_order(problem) + 1])
    left, right = np.tile(np.arange(problem.n_items + 1, dtype=np.uint32), (2, 1))
    left[ring], right[ring] = np.roll(ring, 1), np.roll(ring, -1)
    return left, right


def _links_in_order(problem: ExactCover) -> Links:
    """Return links for one search, with the items in a narrow order."""
    left, right = _header_list(problem)
    return links_of(problem)._replace(left=left.copy(), right=right.copy())


def _shape_of_table(problem: ExactCover, megabytes: int, n_words: int) -> tuple[int, int]:
    """Return the number of rows of a table of this size, and the words in a row."""
    if problem.bounds is None:
        n_key = words_of_key(problem)
    else:
        n_key = (problem.n_options + 63) // 64 + _counted(problem).size
    width = n_key + n_words + BESIDE_KEY
    return max(1, megabytes * MEGABYTE // (8 * width)), width


def _reserved(file: str, shape: tuple[int, int]) -> str:
    """Make the file of a table, unless it is there; return its name, or nothing if it cannot be.

    A file is reserved whole: a process is killed if it writes where the disk has no space.
    """
    if os.path.exists(file):
        return file
    made = f"{file}.{os.getpid()}.{threading.get_ident()}"
    try:
        with open(made, "xb") as new:
            os.posix_fallocate(new.fileno(), 0, 8 * shape[0] * shape[1])
        with suppress(FileExistsError):  # another process was faster
            os.link(made, file)
    except (OSError, AttributeError):  # a full disk, or a system that cannot reserve files
        return ""
    finally:
        with suppress(OSError):
            os.remove(made)
    return file


def _new_table(shape: tuple[int, int], file: str) -> Words:
    if file:
        # a row stays unused for ever if a process is killed while it writes the row
        with suppress(OSError):  # the search that made the file is over
            return np.asarray(np.memmap(file, np.uint64, "r+", shape=shape))
    return np.zeros(shape, np.uint64)


_Kind = tuple[str, tuple[int, int], str, str]  # fingerprint of the problem, shape, run, file
_TABLES: dict[_Kind, Words] = {}
_USERS: Counter[_Kind] = Counter()  # the searches that use each table
_TABLES_LOCK = threading.Lock()


@contextmanager
def _shared_table(
    problem: ExactCover, engine: MemoisedCounting, n_words: int = LEAST_WORDS
) -> Iterator[Words]:
    """Lend the table of a problem to a search; others may use it at the same time.

    It keeps its rows until another problem or run needs a table as large, no search uses this one,
    and more tables are unused than used: workers that take turns with several problems keep them
    all.
    """
    shape, file = _shape_of_table(problem, engine.megabytes, n_words), engine.file
    if file and n_words > LEAST_WORDS:
        file = _reserved(f"{file}-{n_words}", shape)
    kind = (problem.fingerprint, shape, engine.run, file)
    with _TABLES_LOCK:
        unused = [
            each
            for each, table in _TABLES.items()
            if each != kind and not _USERS[each] and table.size < 2 * shape[0] * shape[1]
        ]
        n_used = sum(_USERS[each] > 0 for each in _TABLES)
        for other in unused[: max(0, len(unused) - n_used)]:
            del _TABLES[other], _USERS[other]
        if kind in _TABLES:
            _TABLES[kind] = _TABLES.pop(kind)  # the last one used is the last
        else:
            try:
                _TABLES[kind] = _new_table(shape, file)
            except MemoryError as error:
                raise InputError(
                    f"no memory for a table of {engine.megabytes} MB; name a size"
                ) from error
        table = _TABLES[kind]
        _USERS[kind] += 1
    try:
        yield table
    finally:
        with _TABLES_LOCK:
            _USERS[kind] -= 1
