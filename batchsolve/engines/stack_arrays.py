"""Batches of stacks as compiled searches read and write them."""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from batchsolve.problems.kernels import kernel
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


class Choices(NamedTuple):
    """What a search chose below a stack of its task."""

    options: np.ndarray  # level -> the option chosen, uint32
    children: np.ndarray  # level -> how many there were to choose from, uint64


def arrays_of(stacks: Stacks) -> StackArrays:
    """Return stacks for a kernel to read."""
    return StackArrays(stacks.offsets, stacks.options, stacks.roots, len(stacks))


def stacks_of(grown: GrowingStacks, above: Stacks) -> Stacks:
    """Return the stacks that a kernel wrote below those of its task."""
    offsets = grown.offsets[: grown.n + 1]
    return Stacks(offsets, grown.options[: offsets[-1]], above.roots[grown.parents[: grown.n]])


@kernel
def no_stacks():
    """Return an empty batch that can grow."""
    return GrowingStacks(
        np.zeros(17, np.int64), np.zeros(256, np.uint32), np.zeros(16, np.int64), np.ones(16), 0
    )


@kernel
def no_choices(n_levels):
    """Return room for the choices of so many levels."""
    return Choices(np.zeros(n_levels, np.uint32), np.ones(n_levels, np.uint64))


@njit(inline="always")
def stack_at(stacks, k):
    """Return the options of stack `k`."""
    return stacks.options[stacks.offsets[k] : stacks.offsets[k + 1]]


@kernel
def _longer(array, size):
    """Return a longer array that begins with all of the old one."""
    longer = np.empty(size, array.dtype)
    longer[: array.size] = array
    return longer


@kernel
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
        offsets, parents = np.append(offsets, np.zeros(n, np.int64)), np.append(parents, parents)
        weights = np.append(weights, weights)
    if end > options.size:
        options = _longer(options, 4 * end)
    options[begin : begin + stack.size] = stack
    options[begin + stack.size : end] = choices.options[:length]
    weight = 1.0
    for s in range(length):
        if choices.children[s] > 1:  # most choices are forced, and a division takes its time
            weight /= choices.children[s]
    offsets[n + 1] = end
    parents[n] = k
    weights[n] = weight
    return GrowingStacks(offsets, options, parents, weights, n + 1)
