"""The walk of `batchsolve.engines.cells` as one plain function, which is compiled in a second.

It only counts. NumPy prepares its arrays and Python writes the frontier, so it has no helpers, no
tuples and no arrays that grow: compiling those takes most of the time of an engine.

Stacks of a search begin with the same options, such as the clues of a grid. A residual is built
once, below these. The walk chooses the other options of a stack before it counts nodes.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from itertools import takewhile

import numpy as np
from numba import uint64

from batchsolve.engines import frame
from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.intrinsics import at_most, least_cell, trailing_zeros
from batchsolve.engines.walk import Tally
from batchsolve.kernels import kernel
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Searchable
from batchsolve.settings import UNLIMITED

W = uint64

CLASH = frame.DEEP + 1
"""A walk ended at an option of its stack that clashes with one before it."""
MOST_ITEMS = 2**16 - 129  # as in `batchsolve.engines.cells`
MOST_BITS = 2**28  # NumPy prepares them in 0.1 s
_MOST_IN_A_BYTE = 127
_GROUP = 64  # cells compared at once
_QUAD = 4  # items whose numbers share a word
_NUMBER = 2**16 - 1
_LEVEL, _ENTERED, _BRANCHES, _NODES, _COVERS = range(5)


@kernel
def _walk(
    conflicts, rows, quads, words, per, length,
    alive, cells, left, levels, pick, children,
    place, given, depth, allowed, most,
):  # fmt: skip
    """Continue the search of one residual until an event, which is returned.

    Parameters
    ----------
    conflicts, rows : ndarray of uint64
        Flat (options, words) and (items, words), as in `batchsolve.engines.residual`.
    quads : ndarray of uint64
        Flat (options, words); this and the path are as in `batchsolve.engines.cells`.
    alive, cells, left, levels, pick, children : ndarray
    place : ndarray of int64
        The position: `_LEVEL`, … -> its number.
    given, depth, allowed, most : int
        Levels whose options are given in `pick`, the level at which nodes are handed back, and the
        nodes and covers that may be visited and found.
    """
    level, entered, n_branches = place[_LEVEL], place[_ENTERED] != 0, W(place[_BRANCHES])
    visited, count = place[_NODES], place[_COVERS]
    words, per, length = W(words), W(per), W(length)
    end_cells = length - W(_GROUP)
    covered = W(1) << W(8 * cells.itemsize - 1)
    at, at_cells = n_branches * words, n_branches * length
    o, event = W(0), -1
    while True:
        branches = True
        if entered and level < given:
            o = W(pick[W(level)])
            if (alive[at + (o >> W(6))] >> (o & W(63))) & W(1) == W(0):
                event = CLASH
                break
            branches = False
        elif entered:
            # X2. [Enter level l.]
            if visited == allowed:
                event = frame.SPENT
                break
            # X3. [Choose i.]
            i, size = ~W(0), W(1)
            while i == ~W(0) and size != covered:
                for g in range(W(0), end_cells, W(_GROUP)):
                    low = at_most(cells, at_cells + g, size)
                    if low != W(0):
                        i = g + trailing_zeros(low)
                        size = W(cells[at_cells + i])
                        break
                if i == ~W(0):
                    size = covered
                    for g in range(W(0), end_cells, W(_GROUP)):
                        size = min(size, least_cell(cells, at_cells + g))
            if size != W(0) and size != covered and level == depth:
                event = frame.DEEP
                break
            visited += 1
            if size == W(0):
                entered = False
            elif size == covered:
                count += 1
                entered = False
                if count == most:
                    event = frame.COVER
                    break
            else:
                children[W(level)] = size
                row = i * words
                if size == W(1):
                    lowest = W(0)
                    meet = alive[at] & rows[row]
                    while meet == W(0):
                        lowest += W(1)
                        meet = alive[at + lowest] & rows[row + lowest]
                    o = (lowest << W(6)) | trailing_zeros(meet)
                    branches = False
                else:
                    for w in range(words):
                        left[at + w] = alive[at + w] & rows[row + w]
        if branches:
            if not entered:
                # X8. [Leave level l.]
                if n_branches == W(0):
                    event = frame.DONE
                    break
                n_branches -= W(1)
                at -= words
                at_cells -= length
                level = levels[n_branches]
            # X6. [Try again.]
            lowest = W(0)
            while left[at + lowest] == W(0):
                lowest += W(1)
            rest = left[at + lowest]
            o = (lowest << W(6)) | trailing_zeros(rest)
            rest &= rest - W(1)
            left[at + lowest] = rest
            while rest == W(0) and lowest + W(1) < words:
                lowest += W(1)
                rest = left[at + lowest]
            if rest != W(0):
                for w in range(words):
                    alive[at + words + w] = alive[at + w]
                for x in range(length):
                    cells[at_cells + length + x] = cells[at_cells + x]
                levels[n_branches] = level
                n_branches += W(1)
                at += words
                at_cells += length
        # X5. [Try x_l.]
        pick[W(level)] = o
        for x in range(o * per, (o + W(1)) * per):
            quad = quads[x]
            cells[at_cells + (quad & W(_NUMBER))] |= covered
            cells[at_cells + ((quad >> W(16)) & W(_NUMBER))] |= covered
            cells[at_cells + ((quad >> W(32)) & W(_NUMBER))] |= covered
            cells[at_cells + (quad >> W(48))] |= covered
        row = o * words
        for w in range(words):
            gone = alive[at + w] & conflicts[row + w]
            alive[at + w] ^= gone
            while gone != W(0):
                x = ((w << W(6)) | trailing_zeros(gone)) * per
                gone &= gone - W(1)
                end = x + per
                while x < end:
                    quad = quads[x]
                    cells[at_cells + (quad & W(_NUMBER))] -= W(1)
                    cells[at_cells + ((quad >> W(16)) & W(_NUMBER))] -= W(1)
                    cells[at_cells + ((quad >> W(32)) & W(_NUMBER))] -= W(1)
                    cells[at_cells + (quad >> W(48))] -= W(1)
                    x += W(1)
        level += 1
        entered = True
    place[_LEVEL], place[_ENTERED], place[_BRANCHES] = level, 0, n_branches
    place[_NODES], place[_COVERS] = visited, count
    return event


class Residual:
    """A problem without the options and items that a stack takes away, prepared for the walk.

    Parameters
    ----------
    problem : ExactCover
    stack : list of int
        The options; it ends before one that clashes.

    Attributes
    ----------
    chosen : list of int
        The options.
    options : ndarray of int64
        The options that are left -> their numbers in the problem.
    """

    def __init__(self, problem: ExactCover, stack: list[int]) -> None:
        clash = problem.clash_position(stack)
        self.chosen = stack[:clash] if clash >= 0 else stack
        owner = np.repeat(np.arange(problem.n_options), np.diff(problem.indptr))
        taken = np.zeros(problem.n_items, np.bool_)
        taken[problem.indices[np.isin(owner, self.chosen)]] = True
        is_left = np.bincount(owner, taken[problem.indices], problem.n_options) == 0
        self.options = np.flatnonzero(is_left)
        n, words = self.options.size, self.options.size // 64 + 1
        self._number = np.full(problem.n_options + 1, n)  # n for others, which is never alive
        self._number[self.options] = np.arange(n)
        items, owner = problem.indices[is_left[owner]], self._number[owner[is_left[owner]]]
        firsts = np.searchsorted(owner, np.arange(n + 1))
        has = np.zeros((problem.n_items, 64 * words), np.bool_)
        has[items, owner] = True
        masks = np.packbits(has, axis=1, bitorder="little").view(np.uint64)
        open_items = np.flatnonzero(~taken[: problem.n_primary])
        self._n_open = n_open = open_items.size
        filler = -(-n_open // _GROUP) * _GROUP
        cell = np.full(problem.n_items, filler)
        cell[open_items] = np.arange(n_open)
        per = -(-int(np.diff(firsts).max(initial=1)) // _QUAD)
        quads = np.full((n, per * _QUAD), filler, np.uint16)
        quads[owner, np.arange(owner.size) - firsts[owner]] = cell[items]
        sizes = np.count_nonzero(has[open_items], axis=1)
        kind = np.uint8 if sizes.max(initial=0) <= _MOST_IN_A_BYTE else np.uint16
        self._cells = np.full(filler + _GROUP, np.iinfo(kind).max, kind)
        self._cells[:n_open] = sizes
        self._alive = np.packbits(np.arange(64 * words) < n, bitorder="little").view(np.uint64)
        conflicts = np.bitwise_or.reduceat(masks[items], firsts[:-1])
        arrays = conflicts, masks[open_items], quads.view(np.uint64)
        self._arrays = *map(np.ravel, arrays), words, per, self._cells.size

    def search(self, stack: list[int], tally: Tally) -> None:
        """Count the covers below a stack that begins with `chosen`."""
        base = len(self.chosen)
        given = np.array(stack[base:], np.int64).clip(max=self._number.size - 1)
        n_rows, n_levels = min(self._n_open, self.options.size) + 1, given.size + self._n_open + 1
        alive, left = np.empty((2, n_rows, self._alive.size), np.uint64)
        cells = np.empty((n_rows, self._cells.size), self._cells.dtype)
        alive[0], cells[0] = self._alive, self._cells
        levels, pick = np.empty(n_rows, np.int64), np.empty(n_levels, np.uint64)
        pick[: given.size], children = self._number[given], np.ones(n_levels, np.uint64)
        path = *map(np.ravel, (alive, cells, left)), levels, pick, children
        place = np.array([0, 1, 0, 0, 0])
        bounds = given.size + min(tally.depth, n_levels), tally.nodes_left, tally.covers_left
        event = frame.DEEP
        while event == frame.DEEP:
            event = _walk(*self._arrays, *path, place, given.size, *bounds)
            level, _, n_branches, n_nodes, n_covers = place.tolist()
            if event == CLASH:
                tally.clash(base + level)
                return
            picked = [*self.chosen, *self.options[pick[:level]].tolist()]
            weights = np.divide.accumulate(np.append(1.0, children[:level])).tolist()
            if event in (frame.DEEP, frame.SPENT):
                tally.hand_back(picked, weights[level])
        tally.add(n_nodes, n_covers)
        if tally.wanted:
            for b in reversed(range(n_branches)):
                level = int(levels[b])
                bits = np.unpackbits(left[b].view(np.uint8), bitorder="little")
                for o in self.options[np.flatnonzero(bits)].tolist():
                    tally.hand_back([*picked[: base + level], o], weights[level + 1])


_kept = frame.prepared(lambda problem: list[Residual]())


def _common(stacks: list[list[int]]) -> list[int]:
    """Return the options with which all stacks begin."""
    pairs = zip(min(stacks), max(stacks), strict=False)
    return [o for o, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]


def _residual_of(problem: ExactCover, stacks: list[list[int]]) -> Residual:
    """Return the residual of options with which all stacks begin; that of later tasks, mostly."""
    kept = _kept(problem)
    residual = kept[0] if kept else Residual(problem, _common(stacks))
    chosen = _common([residual.chosen, *stacks])
    if len(chosen) < len(residual.chosen):
        residual = Residual(problem, chosen)
    kept[:] = [residual]
    return residual


def takes(problem: Searchable, task: Task) -> bool:
    """Tell whether a task only counts, and counts all covers, of a problem that is not large."""
    return (
        isinstance(problem, ExactCover)
        and problem.colors is None
        and problem.bounds is None
        and problem.n_primary <= MOST_ITEMS
        and (8 * problem.n_items + problem.n_entries) * problem.n_options <= MOST_BITS
        and not (task.keep or task.cheapest or task.whole)
        and len(task.stacks) > 0
        and int(task.limits.min()) == UNLIMITED
    )


def search(problem: Searchable, task: Task) -> Outcome:
    """Search a task that this engine `takes`; see `batchsolve.engines.contract`."""
    assert isinstance(problem, ExactCover)
    tally, stacks = Tally(task), [stack.tolist() for stack in task.stacks]
    residual = _residual_of(problem, stacks)
    for stack in stacks:
        tally.next_stack()
        if tally.may_begin:
            residual.search(stack, tally)
        elif tally.wanted:
            tally.hand_back(stack)
    return tally.outcome()
