"""Batches of stacks as compiled searches read and write them."""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from batchsolve.problems.stacks import Stacks


class Ragged(NamedTuple):
    """The arrays of a `Stacks` for kernels; those of a growing batch are longer than it is."""

    offsets: np.ndarray
    options: np.ndarray
    roots: np.ndarray
    weights: np.ndarray  # stack -> as in `Outcome`; none in batches that are only read
    n: int


def ragged_of(stacks: Stacks) -> Ragged:
    """Return stacks for a kernel to read."""
    return Ragged(stacks.offsets, stacks.options, stacks.roots, np.ones(0), len(stacks))


def stacks_of(ragged: Ragged) -> Stacks:
    """Return the stacks that a kernel wrote."""
    n = ragged.n
    return Stacks(ragged.offsets[: n + 1], ragged.options[: ragged.offsets[n]], ragged.roots[:n])


@njit(cache=True, nogil=True)
def no_stacks():
    """Return an empty batch that can grow."""
    return Ragged(
        np.zeros(17, np.int64), np.zeros(256, np.uint32), np.zeros(16, np.int64), np.ones(16), 0
    )


@njit(inline="always")
def stack_at(stacks, k):
    """Return the options of stack `k`."""
    return stacks.options[stacks.offsets[k] : stacks.offsets[k + 1]]


@njit(cache=True, nogil=True)
def append(ragged, stacks, k, chosen, children, length):
    """Append stack `k` of a batch, followed by the options chosen on levels 0 .. length - 1.

    Parameters
    ----------
    ragged : Ragged
        The batch that grows.
    stacks : Ragged
    k : int
    chosen : ndarray of uint32
        The option chosen on each level.
    children : ndarray of uint64
        How many there were to choose from; the weight is the product of 1 / children.
    length : int

    Returns
    -------
    Ragged
        The batch; its arrays are replaced by longer ones if they were too short.
    """
    offsets, options, roots, weights, n = ragged
    stack = stack_at(stacks, k)
    begin = offsets[n]
    end = begin + stack.size + length
    if n == roots.size:
        offsets, roots = np.append(offsets, np.zeros(n, np.int64)), np.append(roots, roots)
        weights = np.append(weights, weights)
    if end > options.size:
        options = np.append(options, np.zeros(end, np.uint32))
    options[begin : begin + stack.size] = stack
    weight = 1.0
    for s in range(length):
        options[begin + stack.size + s] = chosen[s]
        weight /= children[s]
    offsets[n + 1] = end
    roots[n] = stacks.roots[k]
    weights[n] = weight
    return Ragged(offsets, options, roots, weights, n + 1)
