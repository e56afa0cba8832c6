"""The memory of the engine `lanes`: the arrays that its compiled search reads and writes."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple, TypeVar

import numpy as np

from batchsolve.engines.contract import Task
from batchsolve.engines.lanes.form import Form
from batchsolve.problems.row_rules import RowRules

T = TypeVar("T")


class Lanes(NamedTuple):
    """The working memory of a search with n lanes."""

    grid: np.ndarray  # n · cell + lane -> candidates
    regions: np.ndarray  # n · cell + lane -> region, if regions differ from stack to stack
    branch: np.ndarray  # lane -> its branch cell, where it is stuck
    saved: np.ndarray  # level, lane, cell -> candidates before the guess of that level
    rest: np.ndarray  # level, lane -> candidates of the branch cell that are still to be tried
    path: np.ndarray  # lane, level -> the option guessed
    weight: np.ndarray  # level, lane -> the node's share of the tree of its stack
    level: np.ndarray  # lane -> number of guesses
    lowest: np.ndarray  # lane -> a level below which nothing is still to be tried
    stack: np.ndarray  # lane -> the stack below which it searches
    end: np.ndarray  # lane -> the first stack that it will not search after that
    root: np.ndarray  # lane -> the first stack of the root
    segment: np.ndarray  # lane -> the part of the task's trees that it searches
    to_keep: np.ndarray  # lane -> covers that are still to be handed back
    want: np.ndarray  # first stack of a root -> covers still wanted of the root
    allowance: np.ndarray  # first stack of a root -> nodes that its search may still visit
    is_split: np.ndarray  # first stack of a root -> whether several lanes search below it
    # cell -> whether neither the stack nor a guess fills it; then for the marks and every cage of
    # the row, whether the stack chooses its digits
    is_open: np.ndarray
    bits: np.ndarray  # one bit a lane: the sets of lanes named below
    left: np.ndarray  # the amounts that the lanes share, named below


# Sets of lanes: those that have a root; contradict themselves; are solved; need attention; have a
# node that is propagated, but not dealt with; are stuck by the rules of their rows, too.
BUSY, BAD, SOLVED, EVENTS, NEW, SETTLED = range(6)
# Nodes and covers that the task may still count; the first stack no lane has taken; the first stack
# of the root before it; covers kept; stacks of the frontier; segments.
BUDGET, ROOM, NEXT, ROOT, FOUND, HANDED_BACK, SEGMENTS = range(7)


class TaskArrays(NamedTuple):
    """A `Task`, whose budget and room are in `Lanes.left`."""

    offsets: np.ndarray
    options: np.ndarray
    roots: np.ndarray
    own: RowRules | None  # the rules of rows, if there are others than boxes
    rows: np.ndarray  # stack -> its row in `own`
    limits: np.ndarray
    allowances: np.ndarray
    depth: int
    keep: int
    any_order: bool
    unordered: bool


class Covers(NamedTuple):
    """Room for covers, each with the segment it is found in; for one cover more than origins.

    If the order of their options is left open, they are written as digits, into the same memory.
    """

    options: np.ndarray  # cover after cover, each with one option per cell
    digits: np.ndarray  # cover, cell
    origins: np.ndarray

    @classmethod
    def of(cls, options: np.ndarray, n_cells: int, origins: np.ndarray) -> Covers:
        """Return room in these arrays."""
        return cls(options, options.view(np.uint8).reshape(-1, n_cells), origins)

    @property
    def n_cells(self) -> int:
        """Number of options of a cover."""
        return self.digits.shape[1]

    def doubled(self) -> Covers:
        """Return room for twice as many, with those written so far."""
        more = np.empty(len(self.origins) * self.n_cells, self.options.dtype)
        options = np.concatenate([self.options, more])
        return Covers.of(options, self.n_cells, np.tile(self.origins, 2))


class Frontier(NamedTuple):
    """Room for stacks to hand back: as in `Stacks`, but each with the segment it is left of.

    There is room for as many of the longest as there are origins.
    """

    offsets: np.ndarray
    options: np.ndarray
    origins: np.ndarray
    weights: np.ndarray

    def doubled(self) -> Frontier:
        """Return room for twice as many, with those written so far."""
        options = np.empty(2 * len(self.options), np.uint32)
        options[: len(self.options)] = self.options
        return Frontier(
            np.append(self.offsets, self.offsets[1:]),
            options,
            np.tile(self.origins, 2),
            np.tile(self.weights, 2),
        )


class LaneOutput(NamedTuple):
    """The output of a search; `Lanes.left` has the number of covers, stacks and segments written.

    A *segment* is a part of a tree, without gaps in tree order, that one lane searches. It has the
    number of the stack at its top; if a lane takes over the last branches of another, they get a
    new number, and `following` has for every segment the next one below the same stack.
    """

    counts: np.ndarray  # this and the next two: stack -> as in `Outcome`
    nodes: np.ndarray
    clash: np.ndarray
    covers: Covers
    frontier: Frontier
    following: np.ndarray

    def with_more_room(self, left: np.ndarray) -> LaneOutput:
        """Double the room that is full, given `Lanes.left`."""
        covers, frontier, following = self.covers, self.frontier, self.following
        if left[FOUND] == len(covers.origins):
            covers = covers.doubled()
        if left[HANDED_BACK] == len(frontier.origins):
            frontier = frontier.doubled()
        if left[SEGMENTS] == len(following):
            following = np.concatenate([following, np.full(len(following), -1)])
        return self._replace(covers=covers, frontier=frontier, following=following)


def aligned(n: int, kind: np.dtype) -> np.ndarray:
    """Return an array of n integers that begins where a cache line does."""
    n_bytes = n * kind.itemsize
    memory = np.zeros(n_bytes + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    return memory[begin : begin + n_bytes].view(kind)


def kind_of_lanes(n_digits: int) -> np.dtype:
    """Return the integers of a lane, which have a bit for every digit."""
    return np.dtype(np.uint16 if n_digits <= 16 else np.uint32)


_MOST_BYTES = 10_000_000  # of covers, for each search

# Memory of searches that have ended, for the next ones: the first use of fresh pages takes longer
# than some searches. Threads share it, because they live no longer than a call.
_FREE_LANES: deque[Lanes] = deque(maxlen=8)
_FREE_COVERS: deque[Covers] = deque(maxlen=8)


def workspace(form: Form, task: Task, n_cages: int) -> Lanes:
    """Return memory for a new search; a row has at most `n_cages` cages."""
    kept = _taken(_FREE_LANES)
    if kept is None or _shape(form) != _shape_of(kept):
        kept = _new_lanes(form)
    for state in (kept.level, kept.lowest, kept.end):
        state.fill(0)
    kept.stack.fill(-1)
    return kept._replace(
        want=task.limits.copy(),
        allowance=task.allowances.copy(),
        is_split=np.zeros(len(task.stacks), np.bool_),
        is_open=np.zeros(form.shape.n_cells + 1 + n_cages, np.uint8),
        bits=np.array([0, 0, 0, 2 ** len(form.shape.lanes) - 1, 0, 0], np.uint32),
        left=np.array([task.budget, task.room, 0, 0, 0, 0, len(task.stacks)], np.int64),
    )


def _shape(form: Form) -> tuple[Any, ...]:
    """Return what the arrays of lanes depend on."""
    lanes, digits, _, _, free, n_cells = form.shape
    n = n_cells * len(lanes)
    return kind_of_lanes(len(digits)), len(lanes), n, n * len(free)


def _shape_of(lanes: Lanes) -> tuple[Any, ...]:
    """Return the `_shape` that lanes were made for."""
    sizes = (lanes.branch.size, lanes.grid.size, lanes.regions.size)
    return lanes.grid.dtype, *sizes


def _new_lanes(form: Form) -> Lanes:
    """Return lanes without a task."""
    kind, width, n, n_regions = _shape(form)
    n_cells = form.shape.n_cells
    n_levels = n_cells + 1
    of_lanes = ("level", "lowest", "stack", "end", "root", "segment", "to_keep")
    of_task = ("want", "allowance", "is_split", "is_open", "bits", "left")
    return Lanes(
        **{name: np.zeros(width, np.int64) for name in of_lanes},
        **dict.fromkeys(of_task, np.empty(0)),
        grid=aligned(n, kind),
        regions=aligned(n_regions, kind),
        branch=aligned(width, kind),
        saved=np.empty((n_levels, width, n_cells), kind),
        rest=np.zeros((n_levels, width), kind),
        path=np.zeros((width, n_levels), np.uint32),
        weight=np.ones((n_levels, width)),
    )


def room_for_covers(n_stacks: int, n_cells: int) -> Covers:
    """Return room for a cover of every stack, or what an earlier search left if it is more."""
    n_rows = min(max(n_stacks, 256), _MOST_BYTES // (2 * n_cells))
    kept = _taken(_FREE_COVERS)
    if kept is None or len(kept.origins) < n_rows or kept.n_cells != n_cells:
        options = np.empty((n_rows + 1) * n_cells, np.uint16)
        kept = Covers.of(options, n_cells, np.empty(n_rows, np.int64))
    return kept


def free(lanes: Lanes, covers: Covers) -> None:
    """Leave the memory of a search to the next ones."""
    _FREE_LANES.append(lanes)
    if covers.options[covers.n_cells :].nbytes <= _MOST_BYTES:
        _FREE_COVERS.append(covers)


def _taken(kept: deque[T]) -> T | None:
    """Take what was kept last, or None; other threads may take it at any time."""
    try:
        return kept.pop()
    except IndexError:
        return None


def room_for_frontier(longest: int, n_cells: int) -> Frontier:
    """Return room for as many stacks as most frontiers have, given the longest of the task.

    Room that is not written takes no memory; doubling it takes longer than making it large.
    """
    n = 1024
    return Frontier(
        np.zeros(n + 1, np.int64),
        np.empty(n * (longest + n_cells), np.uint32),
        np.zeros(n, np.int64),
        np.ones(n),
    )
