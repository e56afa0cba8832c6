"""Residual problems as bit matrices: what is left of a problem below a partial cover.

A residual holds the options that are still possible and the primary items that are not yet covered,
both renumbered in their old order, so that few words hold a set of options. It consists of

* ``conflicts``: option -> the options that cannot be chosen with it, itself among them,
* ``rows``: item -> its options,
* ``vectors``: the same, eight items side by side: word ``w`` of item ``8 g + k`` is word ``k`` of
  vector ``g * words + w``,
* ``tags``: item -> its number, with the bit `COVERED` once it is covered; changed by the search,
* ``options``, ``items``: the numbers that they have in the problem,
* ``first``, ``covers``: the primary items of option ``o`` are
  ``covers[first[o]:first[o + 1]]``.

Residuals of residuals lie behind one another in one growing array of words, the *arena*; `Extent`
says where. Two options conflict if they share a primary item, or a secondary item to which they do
not give the same colour; nothing but the construction of ``conflicts`` knows about this.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64

from batchsolve.engines.frame import arrays_of, longer, stack_at
from batchsolve.engines.intrinsics import WIDTH
from batchsolve.kernels import helper, inlined, kernel
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks

W = uint64

COVERED = np.uint64(2**63)


_NO_COLORS = np.empty(0, np.uint32)
_NO_COLORS.flags.writeable = False  # as in problems; otherwise its type would differ


class Entries(NamedTuple):
    """The options of a problem, as kernels take them."""

    indptr: np.ndarray  # int64; option o has the entries indptr[o] .. indptr[o + 1] - 1
    indices: np.ndarray  # uint32, entry -> item
    colors: np.ndarray  # uint32, entry -> colour of a secondary item; 0: none
    n_items: int
    n_primary: int


def entries_of(problem: ExactCover) -> Entries:
    """Return the entries of a problem."""
    return Entries(
        problem.indptr,
        problem.indices,
        _NO_COLORS if problem.colors is None else problem.colors,
        problem.n_items,
        problem.n_primary,
    )


class Scratch(NamedTuple):
    """Working space for building residuals."""

    number: np.ndarray  # item of the problem -> its number in the residual being built, or -1
    seen: np.ndarray  # items numbered in the residual being built
    masks: np.ndarray  # flat (items, words): the options of each item
    alive: np.ndarray  # options of the residual to be built, as the problem numbers them
    open_items: np.ndarray  # uncovered primary items, as the problem numbers them


class Extent(NamedTuple):
    """The offsets of the parts of a residual in the arena, and its size."""

    n_options: int
    n_items: int
    words: int
    conflicts: int
    rows: int
    vectors: int
    tags: int
    options: int
    items: int
    first: int
    covers: int
    end: int


@helper
def make_scratch(entries):
    """Return working space for any residual; only `masks` may have to grow."""
    return Scratch(
        np.full(entries.n_items, -1, np.int64),
        np.zeros(entries.n_items, np.int64),
        np.zeros(1024, np.uint64),
        np.zeros(entries.indptr.size - 1, np.int64),
        np.zeros(entries.n_primary, np.int64),
    )


@helper
def _lay_out(entries, options, n_items, begin):
    """Return the place of a residual with these options that begins at `begin`."""
    m = options.size
    words = (m + 63) // 64
    groups = (n_items + WIDTH - 1) // WIDTH
    n_covers = 0
    for k in range(m):
        n_covers += entries.indptr[options[k] + 1] - entries.indptr[options[k]]
    rows = begin + m * words
    vectors = rows + n_items * words
    tags = vectors + groups * WIDTH * words
    numbers = tags + groups * WIDTH
    items = numbers + m
    first = items + n_items
    covers = first + m + 1
    return Extent(
        m,
        n_items,
        words,
        begin,
        rows,
        vectors,
        tags,
        numbers,
        items,
        first,
        covers,
        covers + n_covers,
    )


@helper
def _differ(entries, x, o, i):
    """Tell whether option `o` has item `i` in another colour than entry `x` gives it."""
    for y in range(entries.indptr[o], entries.indptr[o + 1]):
        if entries.indices[y] == i:
            return entries.colors[y] != entries.colors[x]
    return False


@helper
def build(entries, n_alive, n_open, scratch, begin, arena, usage=None):
    """Build the residual of the options and the primary items listed in `scratch`.

    Parameters
    ----------
    entries : Entries
    n_alive, n_open : int
        The number of entries in ``scratch.alive`` and in ``scratch.open_items``; both ascend.
    scratch : Scratch
    begin : int
        The offset in the arena at which it begins; old content is overwritten.
    arena : ndarray of uint64
    usage : Usage, optional
        The options taken for items with bounds: an item that may be in several more makes no
        conflicts.

    Returns
    -------
    Place, ndarray of uint64, Scratch
        The arena and the scratch, replaced by longer ones if they were too short.
    """
    indptr, indices = entries.indptr, entries.indices
    number, seen = scratch.number, scratch.seen
    options = scratch.alive[:n_alive]
    place = _lay_out(entries, options, n_open, begin)
    words = place.words
    if place.end > arena.size:
        arena = longer(arena, 2 * place.end)
    for k in range(n_open):
        seen[k] = scratch.open_items[k]
        number[seen[k]] = k
    n_seen = n_open
    for k in range(n_alive):
        for x in range(indptr[options[k]], indptr[options[k] + 1]):
            if number[indices[x]] < 0:
                number[indices[x]] = n_seen
                seen[n_seen] = indices[x]
                n_seen += 1
    if n_seen * words > scratch.masks.size:
        scratch = Scratch(
            number, seen, np.zeros(2 * n_seen * words, np.uint64), scratch.alive, scratch.open_items
        )
    masks = scratch.masks
    masks[: n_seen * words] = 0
    x_cover = place.covers
    for k in range(n_alive):
        arena[place.options + k] = options[k]
        arena[place.first + k] = x_cover - place.covers
        for x in range(indptr[options[k]], indptr[options[k] + 1]):
            i = number[indices[x]]
            masks[W(i * words + (k >> 6))] |= W(1) << W(k & 63)
            if i < n_open:
                arena[x_cover] = i
                x_cover += 1
    arena[place.first + n_alive] = x_cover - place.covers
    for k in range(n_open):
        arena[place.items + k] = scratch.open_items[k]
    _fill_conflicts(entries, options, number, masks, place, arena, usage)
    _fill_items(masks, place, arena)
    for k in range(n_seen):
        number[seen[k]] = -1
    return place, arena, scratch


@helper
def _fill_conflicts(entries, options, number, masks, place, arena, usage):
    indptr, indices, words = entries.indptr, entries.indices, place.words
    colored = entries.colors.size > 0
    for k in range(options.size):
        row = arena[place.conflicts + k * words : place.conflicts + (k + 1) * words]
        row[:] = 0
        row[k >> 6] = W(1) << W(k & 63)
        for x in range(indptr[options[k]], indptr[options[k] + 1]):
            if usage is not None:
                i = indices[x] + 1
                if usage.used[i] + 1 < usage.most[i]:
                    continue
            mask = masks[number[indices[x]] * words : (number[indices[x]] + 1) * words]
            if not colored or entries.colors[x] == 0:
                for w in range(words):
                    row[w] |= mask[w]
            else:
                for o in range(options.size):
                    if (mask[o >> 6] >> W(o & 63)) & W(1) and _differ(
                        entries, x, options[o], indices[x]
                    ):
                        row[o >> 6] |= W(1) << W(o & 63)


@helper
def _fill_items(masks, place, arena):
    words = place.words
    for i in range(place.n_items):
        for w in range(words):
            arena[place.rows + i * words + w] = masks[i * words + w]
    groups = (place.n_items + WIDTH - 1) // WIDTH
    x = place.vectors
    for g in range(groups):
        for w in range(words):
            for k in range(WIDTH):
                i = g * WIDTH + k
                arena[x] = masks[i * words + w] if i < place.n_items else W(0)
                x += 1
    for i in range(groups * WIDTH):
        arena[place.tags + i] = W(i) if i < place.n_items else COVERED


@helper
def fill_set(alive, at, n_options):
    """Write the set of all options of a residual."""
    for w in range((n_options + 63) // 64):
        n_bits = min(64, n_options - 64 * w)
        alive[at + w] = ~W(0) >> W(64 - n_bits)


@helper
def select(stack, entries, held):
    """Record the items that a stack covers; return -1, or the position of an option that clashes.

    ``held[i]`` is -1 for an item that is not covered, else the colour that it has.
    """
    colored = entries.colors.size > 0
    held[:] = -1
    for s in range(stack.size):
        if stack[s] >= entries.indptr.size - 1:
            return s
        begin, end = entries.indptr[stack[s]], entries.indptr[stack[s] + 1]
        adds_nothing = True
        for x in range(begin, end):
            if is_barred(x, entries, held, colored):
                return s
            adds_nothing &= held[entries.indices[x]] >= 0
        if adds_nothing:  # all its items have their colours already, perhaps by the option itself
            for other in stack[:s]:
                if other == stack[s]:
                    return s
        for x in range(begin, end):
            held[entries.indices[x]] = entries.colors[x] if colored else 0
    return -1


@inlined
def is_barred(x, entries, held, colored):
    """Tell whether entry `x` clashes with the colours in `held`."""
    holds = held[entries.indices[x]]
    return holds >= 0 and (holds == 0 or not colored or holds != entries.colors[x])


@helper
def list_left(entries, held, scratch):
    """List the options and the primary items that a stack leaves; return both numbers."""
    colored = entries.colors.size > 0
    n_alive, n_open = 0, 0
    for o in range(entries.indptr.size - 1):
        is_alive = True
        for x in range(entries.indptr[o], entries.indptr[o + 1]):
            if is_barred(x, entries, held, colored):
                is_alive = False
                break
        if is_alive:
            scratch.alive[n_alive] = o
            n_alive += 1
    for i in range(entries.n_primary):
        if held[i] < 0:
            scratch.open_items[n_open] = i
            n_open += 1
    return n_alive, n_open


@kernel
def leaves_more(entries, stacks, most):
    """Tell whether any of the stacks leaves more than `most` options."""
    held = np.empty(entries.n_items, np.int64)
    scratch = make_scratch(entries)
    for k in range(stacks.n):
        clash = select(stack_at(stacks, k), entries, held)
        if clash < 0 and list_left(entries, held, scratch)[0] > most:
            return True
    return False


def any_leaves_more(problem: ExactCover, stacks: Stacks, most: int) -> bool:
    """Tell whether any of the stacks leaves more than `most` options of a problem."""
    return problem.n_options > most and leaves_more(entries_of(problem), arrays_of(stacks), most)
