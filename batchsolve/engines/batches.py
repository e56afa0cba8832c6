"""Batches of stacks as compiled searches read and write them."""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from batchsolve.kernels import helper, inlined
from batchsolve.problems.stacks import Stacks


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
