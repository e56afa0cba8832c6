"""Exact cover with a byte for each item: how many options it has left, counted down.

Choosing an option takes away the options that conflict with it, word by word as
`batchsolve.engines.bits` does, and every option that goes is counted down in the cells of its
items. The branch item is found by comparing 64 cells at once. A cell has 8 bits, or 16 if an item
has more than 127 options; the highest of them says that the item is covered.

Nothing is ever undone. The options that are left and the cells form one short row; a node with
several children copies it for all of them but the last. Forced choices, which are most choices in
grids of Sudoku, copy nothing, and the way back from the end of a chain of them is one step.
(Knuth's dancing cells, *The Art of Computer Programming* 7.2.2.3, likewise restore nothing but
sizes, but move every option that goes within the sets of its items.)

Stacks of a search begin with the same options, such as the clues of a grid. A *residual* is built
once, below these; the walk chooses the other options of a stack before it counts nodes. The tree is
that of `batchsolve.engines.dlx`, node by node: the branch item is the first of those with at most
one option, or else of those with the fewest, and options are tried in ascending order. An empty
item behind a forced one does not cut the search short: dancing links do not see it.

The kernel is one plain function, without helpers, tuples and arrays that grow: compiling those
takes most of the time of an engine, and this one is compiled in a second. NumPy prepares its arrays
and reads the frontier from them.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

import numpy as np
import numpy.typing as npt
from numba import uint64

from batchsolve.engines import dlx, frame
from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.intrinsics import at_most, least_cell, trailing_zeros
from batchsolve.engines.residual import any_leaves_more
from batchsolve.engines.walk import Tally
from batchsolve.kernels import kernel
from batchsolve.problems.exact_cover import ExactCover, fitting, held_by
from batchsolve.problems.stacks import Stacks

W = uint64

FULL, GROW, CLASH = range(frame.DEEP + 1, frame.DEEP + 4)
"""Events: the room for covers is full; a node may need one more row than the path has; an option of
the stack clashes with one before it."""
MOST_OPTIONS = 2**15 - 1  # a cell has 15 bits for them; their conflicts take 130 MB
MOST_ITEMS = 2**16 - 129  # the numbers of items, and of the cell that fills up, have 16 bits
_MOST_IN_A_BYTE = 127
_GROUP = 64  # cells compared at once
_QUAD = 4  # items whose numbers share a word
_NUMBER = 2**16 - 1
_ROOM = 2**16  # numbers of covers in the room for them
_FEW_ROWS = 16
_LEVEL, _ENTERED, _BRANCHES, _NODES, _COVERS, _KEPT = range(6)


@kernel
def _walk(
    conflicts, rows, quads, words, per, length,
    alive, cells, left, levels, pick, children, covers,
    place, given, depth, allowed, most,
):  # fmt: skip
    """Continue the search of one residual until an event, which is returned.

    A branch is a node that has children still to be tried. Branches are numbered from the top; row
    `n_branches` of `alive` and `cells`, behind those of all branches, is that of the current node.

    Parameters
    ----------
    conflicts, rows : ndarray of uint64
        Flat (options, words): the options that cannot be chosen with each, itself among them; flat
        (items, words): the options of each.
    quads : ndarray of uint64
        Flat (options, per): the primary items of each, four to a word. The cell behind all others
        fills up the words.
    words, per, length : int
        Words of a set of options, words of quads, and cells of a row.
    alive, cells, left : ndarray
        Flat (branches + 1, ...): the options that are left, how many of them each item has, and the
        children to be tried.
    levels : ndarray of int64
        Branch -> its level.
    pick, children : ndarray of uint64
        Level -> the option chosen there, and how many children the node has.
    covers : ndarray of uint64, shape (n, levels + 1)
        Receives covers while there is room: the number of their options, and these.
    place : ndarray of int64
        The position: `_LEVEL`, … -> its number.
    given, depth, allowed, most : int
        Levels whose options are given in `pick`, the level at which nodes are handed back, and the
        nodes and covers that may be visited and found.
    """
    level, entered, n_branches = place[_LEVEL], place[_ENTERED] != 0, W(place[_BRANCHES])
    visited, count, kept = place[_NODES], place[_COVERS], 0
    words, per, length = W(words), W(per), W(length)
    end_cells, n_rows = length - W(_GROUP), W(levels.size)
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
            if size != W(0) and size != covered:
                if level == depth:
                    event = frame.DEEP
                    break
                if size > W(1) and n_branches + W(1) == n_rows:
                    event = GROW
                    break
            visited += 1
            if size == W(0):
                entered = False
            elif size == covered:
                count += 1
                entered = False
                if kept < covers.shape[0]:
                    covers[kept, 0] = level
                    for s in range(W(level)):
                        covers[kept, s + W(1)] = pick[s]
                    kept += 1
                    if kept == covers.shape[0]:
                        event = FULL
                if count == most:
                    event = frame.COVER
                if event != -1:
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
    place[_LEVEL], place[_ENTERED], place[_BRANCHES] = level, event == GROW, n_branches
    place[_NODES], place[_COVERS], place[_KEPT] = visited, count, kept
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
        held = held_by(problem, self.chosen)
        is_left = fitting(problem, held)
        is_left[self.chosen] = False
        self.options = np.flatnonzero(is_left)
        open_items = np.flatnonzero(held[: problem.n_primary] < 0)
        n, self._n_open = self.options.size, open_items.size
        words = n // 64 + 1
        self._number = np.full(problem.n_options + 1, n)  # n for others, which is never alive
        self._number[self.options] = np.arange(n)
        lengths, entries = problem.entries_of(self.options)
        firsts = np.append(0, np.cumsum(lengths))
        owner = np.repeat(np.arange(n), lengths)
        place = np.arange(owner.size) - firsts[owner]  # within the option
        items = problem.indices[entries]
        per = -(-int(lengths.max(initial=1)) // _QUAD)
        filler = -(-self._n_open // _GROUP) * _GROUP
        cell = np.full(problem.n_items, filler)
        cell[open_items] = np.arange(self._n_open)
        quads = np.full((n, per * _QUAD), filler, np.uint16)
        quads[owner, place] = cell[items]
        sizes = np.bincount(items, minlength=problem.n_items)[open_items]
        kind = np.uint8 if sizes.max(initial=0) <= _MOST_IN_A_BYTE else np.uint16
        self._cells = np.full(filler + _GROUP, np.iinfo(kind).max, kind)
        self._cells[: self._n_open] = sizes
        self._alive = np.packbits(np.arange(64 * words) < n, bitorder="little").view(np.uint64)
        rows = _sets(items, owner, problem.n_items, words)
        conflicts = _sets(np.arange(n), np.arange(n), n, words)
        alike = np.zeros((1, words), np.uint64)
        kind_of = np.zeros(items.size, np.int64)
        if problem.colors is not None:
            colors = problem.colors[entries].astype(np.int64)
            _, kind_of = np.unique(
                items * (colors.max(initial=0) + 1) + colors, return_inverse=True
            )
            alike = _sets(kind_of, owner, int(kind_of.max(initial=0)) + 1, words)
            alike[kind_of[colors == 0]] = 0
        for k in range(int(lengths.max(initial=0))):
            these = np.flatnonzero(lengths > k)
            entry = firsts[these] + k
            conflicts[these] |= rows[items[entry]] & ~alike[kind_of[entry]]
        flat = (*map(np.ravel, (conflicts, rows[open_items], quads.view(np.uint64))),)
        self._arrays = *flat, words, per, self._cells.size

    def search(self, stack: list[int], tally: Tally) -> list[Stacks]:
        """Search below a stack that begins with `chosen`; return the covers to be kept."""
        base = len(self.chosen)
        given = np.array(stack[base:], np.int64).clip(max=self._number.size - 1)
        n_levels = given.size + self._n_open + 1
        path = [  # `alive`, `cells`, `left` and `levels` of the walk
            np.empty((_FEW_ROWS, self._alive.size), np.uint64),
            np.empty((_FEW_ROWS, self._cells.size), self._cells.dtype),
            np.empty((_FEW_ROWS, self._alive.size), np.uint64),
            np.empty(_FEW_ROWS, np.int64),
        ]
        path[0][0], path[1][0] = self._alive, self._cells
        pick, children = np.ones((2, n_levels), np.uint64)
        pick[: given.size] = self._number[given]
        place, found = np.array([0, 1, 0, 0, 0, 0]), list[Stacks]()
        depth, allowed = given.size + min(tally.depth, n_levels), tally.nodes_left
        most, keep = tally.covers_left, tally.keep
        event = FULL
        while event in (FULL, GROW, frame.DEEP):
            if event == GROW:
                path = [np.concatenate([rows, np.empty_like(rows)]) for rows in path]
            n_kept = min(keep, most, max(1, _ROOM // n_levels))
            covers = np.empty((n_kept, n_levels + 1), np.uint64)
            arrays = *self._arrays, *map(np.ravel, path), pick, children, covers
            event = _walk(*arrays, place, given.size, depth, allowed, most)
            level, _, n_branches, n_nodes, n_covers, n_kept = place.tolist()
            if event == CLASH:
                tally.clash(base + level)
                return []
            if n_kept:
                keep -= n_kept
                found.append(self._named(covers[:n_kept], tally.root))
            picked = [*self.chosen, *self.options[pick[:level]].tolist()]
            weights = np.divide.accumulate(np.append(1.0, children[:level])).tolist()
            if event in (frame.DEEP, frame.SPENT):
                tally.hand_back(picked, weights[level])
        tally.visit(n_nodes, n_covers)
        if tally.wanted:
            left, levels = path[2:]
            for b in reversed(range(n_branches)):
                level = int(levels[b])
                bits = np.unpackbits(left[b].view(np.uint8), bitorder="little")
                for o in self.options[np.flatnonzero(bits)].tolist():
                    tally.hand_back([*picked[: base + level], o], weights[level + 1])
        return found

    def _named(self, covers: npt.NDArray[np.uint64], root: int) -> Stacks:
        """Return covers that the walk has written as stacks of a root."""
        sizes = covers[:, 0].astype(np.int64)
        is_used = np.arange(covers.shape[1] - 1) < sizes[:, None]
        picked = self.options[covers[:, 1:][is_used].astype(np.int64)]
        offsets = np.append(0, np.cumsum(sizes + len(self.chosen)))
        options = np.empty(offsets[-1], np.uint32)
        begins = np.arange(len(self.chosen)) + offsets[:-1, None]
        is_chosen = np.zeros(options.size, np.bool_)
        is_chosen[begins] = True
        options[begins], options[~is_chosen] = self.chosen, picked
        return Stacks(offsets, options, np.full(len(covers), root))


def _sets(
    rows: npt.NDArray[np.integer], members: npt.NDArray[np.int64], n: int, words: int
) -> npt.NDArray[np.uint64]:
    """Return `n` sets of bits; `rows` says which set has each of the members."""
    sets = np.zeros((n, words), np.uint64)
    bits = np.uint64(1) << (members & 63).astype(np.uint64)
    np.bitwise_or.at(sets, (rows, members >> 6), bits)
    return sets


_kept = frame.prepared(lambda problem: list[Residual]())


def _common(stacks: list[list[int]]) -> list[int]:
    """Return the options with which all stacks begin."""
    pairs = zip(min(stacks), max(stacks), strict=False)
    return [o for o, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]


def _residual_of(problem: ExactCover, stacks: list[list[int]]) -> Residual | None:
    """Return the residual of options with which all stacks begin; that of later tasks, mostly.

    Return None if they leave too many options.
    """
    kept = _kept(problem)
    before = kept.copy()  # another thread may change it
    chosen = _common([*(each.chosen for each in before), *stacks])
    for residual in before:
        if len(chosen) == len(residual.chosen):
            return residual
    if any_leaves_more(problem, Stacks.from_lists([chosen]), MOST_OPTIONS):
        return None
    residual = Residual(problem, chosen)
    kept[:] = [residual]
    return residual


def search(problem: ExactCover, task: Task) -> Outcome:
    """Search a task; see `batchsolve.engines.contract`.

    A task with a stack that leaves more than `MOST_OPTIONS` options, or a problem with more than
    `MOST_ITEMS` primary items, is left to dancing links, which search the same tree.
    """
    if problem.n_primary > MOST_ITEMS or any_leaves_more(problem, task.stacks, MOST_OPTIONS):
        return dlx.search(problem, task)
    tally, stacks = Tally(task), [stack.tolist() for stack in task.stacks]
    residual, covers = _residual_of(problem, stacks) if stacks else None, list[Stacks]()
    for stack in stacks:
        tally.next_stack()
        if tally.may_begin:
            covers += (residual or Residual(problem, stack)).search(stack, tally)
        elif tally.wanted:
            tally.hand_back(stack)
    return replace(tally.outcome(), solutions=Stacks.concatenate(covers))
