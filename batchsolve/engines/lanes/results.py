"""From what the engine `lanes` wrote to an `Outcome`: covers and frontier in tree order."""

from __future__ import annotations

import numpy as np

from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.lanes.memory import FOUND, HANDED_BACK, SEGMENTS, Written
from batchsolve.problems.kernels import kernel
from batchsolve.problems.stacks import Stacks


def outcome_of(task: Task, written: Written, left: np.ndarray) -> Outcome:
    """Return the outcome of a task, given what was written and `Lanes.left`."""
    roots = task.stacks.roots
    covers, frontier = written.covers, written.frontier
    places, stacks = _order_of_segments(written.following, len(roots), left[SEGMENTS])

    segments = covers.origins[: left[FOUND]]
    order = _in_tree_order(places, segments)
    roots_found = roots[stacks[segments[order]]]
    kept = _first_of_each(roots_found, task.keep)
    options = _copied(covers.options, order[kept])
    offsets = np.arange(len(options) + 1) * options.shape[1]
    solutions = Stacks(offsets, options.reshape(-1), roots_found[kept])

    segments = frontier.origins[: left[HANDED_BACK]]
    parents = stacks[segments]
    offsets = frontier.offsets[: len(segments) + 1]
    handed_back = Stacks(offsets, frontier.options[: offsets[-1]], roots[parents])
    order = _in_tree_order(places, segments)
    weights = frontier.weights[order]
    return Outcome(*written.result, solutions, handed_back.take(order), weights, parents[order])


def _order_of_segments(
    following: np.ndarray, n_stacks: int, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of n segments in tree order, and the stack above each of them."""
    steps, stacks = np.zeros(n, np.int64), np.arange(n)  # steps from the stack's own segment
    n_more = np.zeros(n_stacks, np.int64)
    for stack in np.flatnonzero(following[:n_stacks] >= 0).tolist():
        segment = int(following[stack])
        while segment >= 0:
            n_more[stack] += 1
            steps[segment], stacks[segment] = n_more[stack], stack
            segment = int(following[segment])
    own_places = np.arange(n_stacks) + np.cumsum(n_more) - n_more
    return own_places[stacks] + steps, stacks


@kernel
def _in_tree_order(places, segments):
    """Sort by the places of segments; those of one segment stay in order. A counting sort."""
    begins = np.zeros(places.size + 1, np.int64)
    for k in range(segments.size):
        begins[places[segments[k]] + 1] += 1
    for place in range(places.size):
        begins[place + 1] += begins[place]
    order = np.empty(segments.size, np.int64)
    for k in range(segments.size):
        place = places[segments[k]]
        order[begins[place]] = k
        begins[place] += 1
    return order


@kernel
def _copied(rows, order):
    """Copy rows of options in another order; one pass over them is all that this costs."""
    options = np.empty((order.size, rows.shape[1]), np.uint32)
    for k in range(order.size):
        row = rows[order[k]]
        for x in range(row.size):
            options[k, x] = row[x]
    return options


def _first_of_each(roots: np.ndarray, n: int) -> np.ndarray:
    """Return the places of the first n of each root; those of one root are adjacent."""
    is_first = np.concatenate([[True], roots[1:] != roots[:-1]])[: len(roots)]
    begins = np.flatnonzero(is_first)
    places = np.arange(len(roots))
    return places[places - begins[np.cumsum(is_first) - 1] < n]
