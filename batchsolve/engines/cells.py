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

The search runs on a *residual* (`batchsolve.engines.residual`): what the stack leaves of the
problem. The tree is that of `batchsolve.engines.dlx`, node by node: the branch item is the first of
those with at most one option, or else of those with the fewest, and options are tried in ascending
order. An empty item behind a forced one does not cut the search short: dancing links do not see it.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64

from batchsolve.engines import dlx, frame
from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.intrinsics import at_most, borrowed, least_cell, popcount, trailing_zeros
from batchsolve.engines.residual import (
    any_leaves_more,
    build,
    entries_of,
    fill_set,
    list_left,
    make_scratch,
    select,
)
from batchsolve.kernels import helper, inlined, kernel
from batchsolve.problems.exact_cover import ExactCover

W = uint64

MOST_OPTIONS = 2**15 - 1  # a cell has 15 bits for them; their conflicts take 130 MB
MOST_ITEMS = 2**16 - 129  # the numbers of items, and of the cell that fills up, have 16 bits
_MOST_IN_A_BYTE = 127
_GROUP = 64  # cells compared at once
_QUAD = 4  # items whose numbers share a word
_NUMBER = 2**16 - 1


_FULL = frame.DEEP + 1
"""A walk ended at a node, not yet visited, that may need one more row than the path has."""
_FEW_ROWS = 16


class Trail(NamedTuple):
    """The working memory of a walk.

    A branch is a node that has children still to be tried. Branches are numbered from the top; row
    `n_branches` of `alive` and `cells`, behind those of all branches, is that of the current node.
    """

    alive: np.ndarray  # flat (branches + 1, words): the options that are left
    cells: np.ndarray  # flat (branches + 1, length): how many of these options each item has
    left: np.ndarray  # flat (branches + 1, words): the children to be tried
    length: np.uint64  # cells of a row
    n_rows: int  # rows of these arrays that may be used
    level: np.ndarray  # branch -> its level
    pick: np.ndarray  # level -> the option chosen there, as the residual numbers it
    children: np.ndarray  # level -> how many children the node has


class Quads(NamedTuple):
    """The primary items of every option, four to a word.

    If an option has fewer items than that, the cell behind all others fills up the words.
    """

    words: np.ndarray  # flat (options, per)
    per: np.uint64  # words an option


@inlined
def _row_length(n_items):
    """Return the number of cells in a row: whole groups for the items, and one group to fill up."""
    return W((n_items + _GROUP - 1) // _GROUP * _GROUP + _GROUP)


@helper
def _fit(path, place, n_rows):
    """Return a path with at least `n_rows` rows for a residual, and the content of the old one.

    Longer arrays replace those that are too short.
    """
    alive, cells, left, _, _, level, pick, children = path
    length, n_levels = _row_length(place.n_items), place.n_items + 1
    if alive.size < n_rows * place.words:
        alive = frame.longer(alive, alive.size + n_rows * place.words)
        left = frame.longer(left, left.size + n_rows * place.words)
    if W(cells.size) < W(n_rows) * length:
        cells = frame.longer(cells, W(cells.size) + W(n_rows) * length)
    if level.size < n_rows:
        level = frame.longer(level, level.size + n_rows)
    if pick.size < n_levels:
        pick = frame.longer(pick, pick.size + n_levels)
    return Trail(alive, cells, left, length, n_rows, level, pick, children)


@helper
def _quads_of(arena, place, words):
    """Return the quads of a residual, written into `words` if they fit."""
    longest = W(1)
    for o in range(place.n_options):
        longest = max(longest, arena[place.first + o + 1] - arena[place.first + o])
    per = (longest + W(_QUAD - 1)) // W(_QUAD)
    if W(words.size) < W(place.n_options) * per:
        words = np.empty(W(place.n_options) * per, np.uint64)
    filler = _row_length(place.n_items) - W(_GROUP)
    for o in range(place.n_options):
        x, end = arena[place.first + o], arena[place.first + o + 1]
        for y in range(per):
            word = W(0)
            for shift in range(0, 16 * _QUAD, 16):
                i = arena[W(place.covers) + x] if x < end else filler
                x += W(1)
                word |= i << W(shift)
            words[W(o) * per + W(y)] = word
    return Quads(words, per)


@helper
def _start(arena, place, path):
    """Write the row of the topmost node."""
    fill_set(path.alive, 0, place.n_options)
    path.cells[: path.length - W(_GROUP)] = ~path.cells.dtype.type(0)
    for i in range(place.n_items):
        size = W(0)
        for w in range(place.words):
            size += popcount(arena[place.rows + i * place.words + w])
        path.cells[i] = size


@inlined
def _first_at_most(cells, at, n_groups, bound):
    """Return the first item whose cell is no larger than `bound`, or any number if none is."""
    for g in range(n_groups):
        low = at_most(cells, at + W(g) * W(_GROUP), bound)
        if low != W(0):
            return W(g) * W(_GROUP) + trailing_zeros(low)
    return ~W(0)


@helper
def _walk(arena, place, quads, path, n_branches, position, bounds, stack, k, found):
    """Continue the search of one residual until an event; write covers while there is room.

    Parameters
    ----------
    arena : ndarray of uint64
    place : Place
    quads : Quads
    path : Trail
    n_branches : int
        The number of branches in the path.
    position : Position
    bounds : Bounds
    stack : ndarray of uint32
        The options of stack `k`.
    k : int
    found : GrowingCovers
        Receives covers while there is room.

    Returns
    -------
    int, int, Position
        The event, and where to go on: the number of branches, and the position.
    """
    alive, cells, left, length, n_rows, _, pick, children = path
    level, entered, visited, count = position
    depth, allowed, most, _ = bounds
    per, quads = quads.per, quads.words
    covered = W(1) << W(8 * cells.itemsize - 1)
    words, conflicts, rows = W(place.words), W(place.conflicts), W(place.rows)
    n_groups = (W(place.n_items) + W(_GROUP - 1)) // W(_GROUP)
    at, at_cells = W(n_branches) * words, W(n_branches) * length
    o = W(0)
    while True:
        branches = True
        if entered:
            # X2. [Enter level l.]
            if visited == allowed:
                return frame.SPENT, n_branches, frame.Position(level, False, visited, count)
            # X3. [Choose i.]
            i = _first_at_most(cells, at_cells, n_groups, W(1))
            if i != ~W(0):
                size = W(cells[at_cells + i])
            else:
                size = W(covered)
                for g in range(n_groups):
                    size = min(size, least_cell(cells, at_cells + W(g) * W(_GROUP)))
                if size < covered:
                    i = _first_at_most(cells, at_cells, n_groups, size)
            if size == W(0):
                visited += 1
                entered = False
            elif size == W(covered):
                visited += 1
                count += 1
                is_full = count == most
                if frame.has_room(found):
                    is_full |= frame.append_cover(
                        found, stack, k, stack, 0, arena, place.options, pick, level
                    )
                if is_full:
                    return frame.COVER, n_branches, frame.Position(level, False, visited, count)
                entered = False
            elif level == depth:
                return frame.DEEP, n_branches, frame.Position(level, False, visited, count)
            elif size > W(1) and n_branches + 1 == n_rows:
                return _FULL, n_branches, frame.Position(level, True, visited, count)
            else:
                visited += 1
                children[W(level)] = size
                row = rows + i * words
                if size == W(1):
                    lowest = W(0)
                    meet = alive[at] & arena[row]
                    while meet == W(0):
                        lowest += W(1)
                        meet = alive[at + lowest] & arena[row + lowest]
                    o = (lowest << W(6)) | trailing_zeros(meet)
                    branches = False
                else:
                    for w in range(words):
                        left[at + W(w)] = alive[at + W(w)] & arena[row + W(w)]
        if branches:
            if not entered:
                # X8. [Leave level l.]
                if n_branches == 0:
                    return frame.DONE, n_branches, frame.Position(level, False, visited, count)
                n_branches -= 1
                at -= words
                at_cells -= length
                level = path.level[W(n_branches)]
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
                    alive[at + words + W(w)] = alive[at + W(w)]
                for x in range(length):
                    cells[at_cells + length + W(x)] = cells[at_cells + W(x)]
                path.level[W(n_branches)] = level
                n_branches += 1
                at += words
                at_cells += length
        # X5. [Try x_l.]
        pick[W(level)] = o
        for x in range(o * per, (o + W(1)) * per):
            quad = quads[W(x)]
            cells[at_cells + (quad & W(_NUMBER))] |= covered
            cells[at_cells + ((quad >> W(16)) & W(_NUMBER))] |= covered
            cells[at_cells + ((quad >> W(32)) & W(_NUMBER))] |= covered
            cells[at_cells + (quad >> W(48))] |= covered
        row = conflicts + o * words
        for w in range(words):
            gone = alive[at + W(w)] & arena[row + W(w)]
            alive[at + W(w)] ^= gone
            while gone != W(0):
                x = ((W(w) << W(6)) | trailing_zeros(gone)) * per
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


@helper
def _name_choices(arena, place, level, pick, chosen):
    """Write the choices on all levels above `level` as options of the problem."""
    for s in range(level):
        chosen[s] = arena[W(place.options) + pick[s]]


@helper
def _hand_back(arena, place, path, n_branches, stacks, k, choices, front):
    """Write the children still to be tried to the frontier; `choices` is overwritten."""
    while n_branches > 0:
        n_branches -= 1
        level = path.level[n_branches]
        for o in range(place.n_options):
            if (path.left[n_branches * place.words + (o >> 6)] >> W(o & 63)) & W(1):
                choices.options[level] = arena[place.options + o]
                front = frame.append(front, stacks, k, choices, level + 1)
    return front


@kernel
def _search(entries, cells, task):
    """Search below every stack of a task; return covers and the frontier.

    Only the type of `cells` matters.
    """
    task = borrowed(task)
    stacks, clash = task.stacks, task.clash
    found, front = frame.no_covers(), frame.no_stacks()
    held = np.empty(entries.n_items, np.int64)
    scratch = make_scratch(entries)
    arena, quads = np.empty(1024, np.uint64), Quads(np.empty(0, np.uint64), W(0))
    choices = frame.no_choices(entries.n_primary + 1)
    none = np.empty(0, np.uint64)
    path = Trail(none, cells, none, W(0), frame.ZERO, np.empty(0, np.int64), none, choices.children)
    for k in range(stacks.n):
        bounds, front = frame.begin_stack(task, k, found, front)
        if not frame.may_begin(bounds):
            continue
        # X1. [Initialize.]
        stack = frame.stack_at(stacks, k)
        clash[k] = select(stack, entries, held)
        if clash[k] >= 0:
            continue
        n_alive, n_open = list_left(entries, held, scratch)
        place, arena, scratch = build(entries, n_alive, n_open, scratch, frame.ZERO, arena)
        path = _fit(path, place, np.int64(_FEW_ROWS))
        quads = _quads_of(arena, place, quads.words)
        _start(arena, place, path)
        event, n_branches, position = frame.COVER, frame.ZERO, frame.at_the_top()
        while event >= frame.COVER and position.covers < bounds.most:
            if event == frame.COVER:
                found = frame.with_room(task, k, n_open, found)
            lent, drawn, here, written = borrowed((arena, quads, path, found))
            event, n_branches, position = _walk(
                lent, place, drawn, here, n_branches, position, bounds, stack, k, written
            )
            if event == _FULL:
                path = _fit(path, place, 2 * path.n_rows)
            elif event in (frame.DEEP, frame.SPENT):
                _name_choices(arena, place, position.level, path.pick, choices.options)
                front = frame.append(front, stacks, k, choices, position.level)
        if frame.is_cut_short(event, bounds):
            _name_choices(arena, place, position.level, path.pick, choices.options)
            front = _hand_back(arena, place, path, n_branches, stacks, k, choices, front)
        frame.end_stack(task, k, position)
    return found[:], front[:]


def search(problem: ExactCover, task: Task) -> Outcome:
    """Search a task; see `batchsolve.engines.contract`.

    A task with a stack that leaves more than `MOST_OPTIONS` options, or a problem with more than
    `MOST_ITEMS` primary items, is left to dancing links, which search the same tree.
    """
    if problem.n_primary > MOST_ITEMS or any_leaves_more(problem, task.stacks, MOST_OPTIONS):
        return dlx.search(problem, task)
    arrays = entries_of(problem), np.empty(0, _cell(problem))
    return frame.search_task(_search, arrays, task)


def _cell(problem: ExactCover) -> type[np.uint8] | type[np.uint16]:
    """Return the type of cells that the number of options of every item fits into."""
    sizes = np.bincount(problem.indices, minlength=1)[: problem.n_primary]
    return np.uint8 if sizes.max(initial=0) <= _MOST_IN_A_BYTE else np.uint16
