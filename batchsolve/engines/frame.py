"""Shared parts of the compiled engines: stacks and covers, and the state of a task.

A compiled engine searches below one stack after another. A *walk* goes down and up the tree below a
stack, and writes covers while there is room for them. It ends when the room is full, or at a stack
of the frontier, returns the event and its position, and is called again to go on from there.

The counterpart for engines in Python is `batchsolve.engines.walk`.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from batchsolve.engines.contract import Outcome, Task
from batchsolve.kernels import helper, inlined
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks

MOST_PROBLEMS = 8  # whose data are kept

Made = TypeVar("Made")


def prepared(make: Callable[[ExactCover], Made]) -> Callable[[ExactCover], Made]:
    """Return a function that keeps the data prepared from the last problems, in each process.

    Threads that ask for one problem wait until it is prepared; those that ask for others do not.
    """
    kept: OrderedDict[str, _Prepared[Made]] = OrderedDict()
    lock = threading.Lock()

    def of(problem: ExactCover) -> Made:
        name = problem.fingerprint
        with lock:
            own = kept.setdefault(name, _Prepared())
            kept.move_to_end(name)
            idle = [each for each, other in kept.items() if not other.lock.locked()]
            for each in idle[: max(0, len(kept) - MOST_PROBLEMS)]:
                del kept[each]
        with own.lock:
            if not own.data:
                own.data.append(make(problem))
            return own.data[0]

    return of


class _Prepared(Generic[Made]):
    """The data of one problem, once a thread has made them under the lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.data: list[Made] = []


# ---- stacks and covers ------------------------------------------------------------------------


class StackArrays(NamedTuple):
    """The arrays of a `Stacks`, for kernels to read."""

    offsets: np.ndarray
    options: np.ndarray
    roots: np.ndarray
    n: int


class GrowingStacks(NamedTuple):
    """Stacks that a kernel writes, each below one of its task; the arrays have room for more."""

    offsets: np.ndarray
    options: np.ndarray
    parents: np.ndarray  # stack -> the place in the task of the stack that it descends from
    weights: np.ndarray  # stack -> as in `Outcome`
    n: int


class GrowingCovers(NamedTuple):
    """Covers that a kernel writes in tree order, each below a stack of its task."""

    offsets: np.ndarray
    options: np.ndarray
    parents: np.ndarray  # cover -> the place in the task of the stack that it descends from
    state: np.ndarray  # COVERS, ABOVE, FULL -> the counts named below


COVERS, ABOVE, FULL = range(3)
"""The counts in `GrowingCovers.state`: covers written, those of them that do not descend from the
current stack, and how many there may be until `room_for_covers` is called again."""
_FEW_COVERS = 16

ZERO: Any = np.int64(0)  # numba compiles a helper twice if it is also called with a literal


class Choices(NamedTuple):
    """The choices of a search below a stack of its task."""

    options: np.ndarray  # level -> the option chosen, uint32
    children: np.ndarray  # level -> how many there were to choose from, uint64


def arrays_of(stacks: Stacks) -> StackArrays:
    """Return stacks for a kernel to read."""
    return StackArrays(stacks.offsets, stacks.options, stacks.roots, len(stacks))


def stacks_of(grown: GrowingStacks | GrowingCovers, above: Stacks) -> Stacks:
    """Return the stacks or covers that a kernel wrote below those of its task."""
    n = grown.n if isinstance(grown, GrowingStacks) else int(grown.state[COVERS])
    offsets = grown.offsets[: n + 1]
    return Stacks(offsets, grown.options[: offsets[-1]], above.roots[grown.parents[:n]])


@helper
def no_stacks():
    """Return an empty batch that can grow."""
    return GrowingStacks(
        np.zeros(17, np.int64), np.zeros(256, np.uint32), np.zeros(16, np.int64), np.ones(16), 0
    )


@helper
def no_covers():
    """Return an empty batch that can grow."""
    return GrowingCovers(
        np.zeros(1, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.int64), np.zeros(3, np.int64)
    )


@helper
def no_choices(n_levels):
    """Return room for the choices on `n_levels` levels."""
    return Choices(np.zeros(n_levels, np.uint32), np.ones(n_levels, np.uint64))


@inlined
def stack_at(stacks, k):
    """Return the options of stack `k`."""
    return stacks.options[stacks.offsets[k] : stacks.offsets[k + 1]]


@helper
def longer(array, size):
    """Return a longer array that begins with all of the old one.

    A kernel that calls `numpy.append` instead takes 0.2 s longer to load; one that assigns to a
    slice takes 3 s longer to compile, because of the message of an error that it could raise.
    """
    replacement = np.empty(size, array.dtype)
    for x in range(array.size):
        replacement[x] = array[x]
    return replacement


@helper
def append(grown, stacks, k, choices, length):
    """Append stack `k` of a task, followed by the options chosen on levels 0 .. length - 1.

    Parameters
    ----------
    grown : GrowingStacks
    stacks : StackArrays
    k : int
    choices : Choices
        The weight is the product of 1 / children over those levels.
    length : int

    Returns
    -------
    GrowingStacks
        The batch; its arrays are replaced by longer ones if they were too short.
    """
    offsets, options, parents, weights, n = grown
    stack = stack_at(stacks, k)
    begin = offsets[n]
    end = begin + stack.size + length
    if n == parents.size:
        offsets, parents = longer(offsets, 2 * n + 1), longer(parents, 2 * n)
        weights = longer(weights, 2 * n)
    if end > options.size:
        options = longer(options, 4 * end)
    for s in range(stack.size):
        options[begin + s] = stack[s]
    for s in range(length):
        options[begin + stack.size + s] = choices.options[s]
    weight = 1.0
    for s in range(length):
        if choices.children[s] > 1:  # most choices are forced, and a division takes its time
            weight /= choices.children[s]
    offsets[n + 1] = end
    parents[n] = k
    weights[n] = weight
    return GrowingStacks(offsets, options, parents, weights, n + 1)


@helper
def room_for_covers(covers, keep, most_options):
    """Make room for at least one more cover, up to `keep`; record in the state how many fit.

    Parameters
    ----------
    covers : GrowingCovers
    keep : int
        The number of further covers to keep.
    most_options : int
        The upper bound of the number of options in a cover; 1 or more.

    Returns
    -------
    GrowingCovers
        The same covers; longer arrays replace those that are too short.
    """
    offsets, options, parents, state = covers
    n = state[COVERS]
    if keep > 0:
        if n == parents.size:
            more = max(n, _FEW_COVERS)
            offsets, parents = longer(offsets, n + more + 1), longer(parents, n + more)
        if offsets[n] + most_options > options.size:
            options = longer(options, 4 * offsets[n] + min(keep, _FEW_COVERS) * most_options)
        fit = min(parents.size - n, (options.size - offsets[n]) // most_options)
        keep = min(keep, fit)
    state[FULL] = n + keep
    return GrowingCovers(offsets, options, parents, state)


@inlined
def has_room(covers):
    """Tell whether another cover is to be written."""
    return covers.state[COVERS] < covers.state[FULL]


@inlined
def append_cover(covers, stack, k, outer, base, names, first, pick, level):
    """Append stack `k`, followed by the choices on the levels above `level`.

    Neighbours in a search tree differ in their last few options: the options before those are
    copied from the previous cover.

    Parameters
    ----------
    covers : GrowingCovers
        With room for one more.
    stack : ndarray of uint32
        The options of stack `k`.
    k : int
    outer : ndarray of uint32
        The options chosen on levels 0 .. base - 1.
    base : int
    names : ndarray of uint32 or uint64
        The option that is chosen on a later level is ``names[first + pick[level]]``.
    first : int
    pick : ndarray of uint32 or uint64
    level : int

    Returns
    -------
    bool
        True if the room is full now.
    """
    offsets, options, parents, state = covers
    n, length = state[COVERS], np.uintp(stack.size)
    begin = np.uintp(offsets[n])
    same = np.uintp(0)
    if n > state[ABOVE]:
        before = np.uintp(offsets[n - 1])
        above = np.uintp(min(level, np.int64(begin - before - length)))
        while same < min(above, np.uintp(base)) and options[before + length + same] == outer[same]:
            same += np.uintp(1)
        if same >= np.uintp(base):
            while (
                same < above
                and options[before + length + same] == names[np.uintp(first) + np.uintp(pick[same])]
            ):
                same += np.uintp(1)
        for x in range(length + same):
            options[begin + x] = options[before + x]
    else:
        for x in range(length):
            options[begin + x] = stack[x]
    at = begin + length
    while same < np.uintp(base):
        options[at + same] = outer[same]
        same += np.uintp(1)
    for s in range(same, np.uintp(level)):
        options[at + s] = names[np.uintp(first) + np.uintp(pick[s])]
    offsets[n + 1] = at + np.uintp(level)
    parents[n] = k
    state[COVERS] = n + 1
    return n + 1 == state[FULL]


# ---- a task -----------------------------------------------------------------------------------


BUDGET, ROOM, ALLOWANCE, WANTED, KEEP = range(5)
"""The amounts in `TaskState.left`: the first two of the task, the others of the current root.

`KEEP` is not an amount left, but the number of covers of all roots at which this one has enough.
"""

DONE, SPENT, COVER, DEEP = range(4)
"""The events that end a walk:

* `DONE`: the tree is exhausted,
* `SPENT`: at a node that it may not visit, because it has visited all nodes allowed,
* `COVER`: after a cover, the last that there is room for or that may be found,
* `DEEP`: at a node at the depth limit that is neither a cover nor a dead end.
"""


class TaskState(NamedTuple):
    """A task, its results so far, and the amounts that may still be visited and found."""

    stacks: StackArrays
    limits: np.ndarray
    allowances: np.ndarray
    depth: int
    keep: int
    left: np.ndarray  # BUDGET, ROOM, ... -> how much is left of it
    counts: np.ndarray  # this and the next two: stack -> as in `Outcome`
    nodes: np.ndarray
    clash: np.ndarray


class Bounds(NamedTuple):
    """The bounds of the search below one stack."""

    depth: int  # the level at which nodes are handed back
    allowed: int  # nodes that may be visited
    most: int  # covers that may be found
    wanted: int  # covers that were wanted, though there may be no room for all


class Position(NamedTuple):
    """The position of a walk below a stack."""

    level: int
    entered: bool  # True: the node at `level` was just entered; False: that level is to be left
    nodes: int  # visited so far
    covers: int  # found so far


@helper
def begin_stack(task, k, found, front):
    """Go on to stack `k`; stacks of one root share limit and allowance.

    Returns its `Bounds`, and the frontier. If nothing may be visited or found, the search does not
    begin, and a stack whose covers are still wanted goes to the frontier unchanged.
    """
    left, roots, state = task.left, task.stacks.roots, found.state
    state[ABOVE] = state[COVERS]
    if k == 0 or roots[k] != roots[k - 1]:
        left[ALLOWANCE], left[WANTED] = task.allowances[k], task.limits[k]
        left[KEEP] = task.keep + state[COVERS]
    allowed, most = min(left[BUDGET], left[ALLOWANCE]), min(left[WANTED], left[ROOM])
    bounds = Bounds(task.depth, allowed, most, left[WANTED])
    if not may_begin(bounds) and bounds.wanted > 0:
        front = append(front, task.stacks, k, no_choices(0), ZERO)
    return bounds, front


@inlined
def may_begin(bounds):
    """Tell whether anything may still be visited and found."""
    return bounds.allowed > 0 and bounds.most > 0


@helper
def at_the_top():
    """Return the position of a walk that has not begun."""
    return Position(0, True, 0, 0)


@helper
def with_room(task, k, n_levels, found):
    """Return `found` with room for more covers below stack `k`, if any are to be kept.

    Only this makes `found` longer; call it again after a walk that ended with `COVER`.
    """
    stacks = task.stacks
    most_options = max(stacks.offsets[k + 1] - stacks.offsets[k] + n_levels, 1)
    return room_for_covers(found, task.left[KEEP] - found.state[COVERS], most_options)


@inlined
def is_cut_short(event, bounds):
    """Tell whether a search that ended with this event left branches to be searched."""
    return event == SPENT or bounds.most < bounds.wanted


@inlined
def end_stack(task, k, position):
    """Record the nodes visited and the covers found below stack `k`."""
    left = task.left
    task.nodes[k], task.counts[k] = position.nodes, position.covers
    left[BUDGET] -= position.nodes
    left[ALLOWANCE] -= position.nodes
    left[WANTED] -= position.covers
    left[ROOM] -= position.covers


def search_task(search: Callable[..., Any], arrays: tuple[Any, ...], task: Task) -> Outcome:
    """Call a compiled search of a task with the arrays of its problem."""
    n = len(task.stacks)
    state = TaskState(
        arrays_of(task.stacks),
        task.limits,
        task.allowances,
        task.depth,
        task.keep,
        np.array([task.budget, task.room, 0, 0, 0], np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.full(n, -1, np.int32),
    )
    covers, stacks = search(*arrays, state)
    found, front = GrowingCovers(*covers), GrowingStacks(*stacks)
    return Outcome(
        state.counts,
        state.nodes,
        state.clash,
        stacks_of(found, task.stacks),
        stacks_of(front, task.stacks),
        front.weights[: front.n],
        front.parents[: front.n],
    )
