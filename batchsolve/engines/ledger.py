"""What the compiled engines share: the bookkeeping of a task.

What engines in Python have for this is in `batchsolve.engines.walk`.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.ragged import StackArrays, arrays_of, stacks_of

BUDGET, ROOM, ALLOWANCE, WANTED, KEEP = range(5)
"""What `Ledger.left` counts: the first two of the task, the others of the root at hand."""


class Ledger(NamedTuple):
    """A task, what was found in it so far, and how much may still be visited and found."""

    stacks: StackArrays
    limits: np.ndarray
    allowances: np.ndarray
    depth: int
    keep: int
    left: np.ndarray  # BUDGET, ROOM, ... -> how much is left of it
    counts: np.ndarray  # this and the next two: stack -> as in `Outcome`
    nodes: np.ndarray
    clash: np.ndarray


@njit(inline="always")
def turn_page(ledger, k):
    """Go on to stack `k`; if of the same root as the one before it, it shares what is left.

    Returns how many covers of the root are wanted, how many nodes may be visited now, and how many
    covers found.
    """
    left, roots = ledger.left, ledger.stacks.roots
    if k == 0 or roots[k] != roots[k - 1]:
        left[ALLOWANCE], left[WANTED] = ledger.allowances[k], ledger.limits[k]
        left[KEEP] = ledger.keep
    allowed, most = min(left[BUDGET], left[ALLOWANCE]), min(left[WANTED], left[ROOM])
    return left[WANTED], allowed, most


@njit(inline="always")
def close_page(ledger, k, visited, count):
    """Enter the nodes visited and the covers found below stack `k`."""
    left = ledger.left
    ledger.nodes[k], ledger.counts[k] = visited, count
    left[BUDGET] -= visited
    left[ALLOWANCE] -= visited
    left[WANTED] -= count
    left[ROOM] -= count


def run(search: Callable[..., Any], arrays: tuple[Any, ...], task: Task) -> Outcome:
    """Call a compiled search of a task with the arrays of its problem."""
    n = len(task.stacks)
    ledger = Ledger(
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
    found, front = search(*arrays, ledger)
    return Outcome(
        ledger.counts,
        ledger.nodes,
        ledger.clash,
        stacks_of(found, task.stacks),
        stacks_of(front, task.stacks),
        front.weights[: front.n],
        front.parents[: front.n],
    )
