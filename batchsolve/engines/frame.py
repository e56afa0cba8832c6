"""Shared parts of the compiled engines: the state of a task while it is searched.

A compiled engine searches below one stack after another. A *walk* goes down and up the tree below a
stack, and writes covers while there is room for them. It ends when the room is full, or at a stack
of the frontier, returns the event and its position, and is called again to go on from there.

The counterpart for engines in Python is `batchsolve.engines.walk`.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from batchsolve.engines.batches import (
    ABOVE,
    COVERS,
    ZERO,
    GrowingCovers,
    GrowingStacks,
    StackArrays,
    append,
    arrays_of,
    no_choices,
    room_for_covers,
    stacks_of,
)
from batchsolve.engines.contract import Outcome, Task
from batchsolve.kernels import helper, inlined

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
