"""The `Outcome` of the engine `lanes`: its covers and frontier, put in tree order."""

from __future__ import annotations

import numpy as np

from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.lanes.memory import FOUND, HANDED_BACK, SEGMENTS, LaneOutput
from batchsolve.kernels import helper, light_kernel
from batchsolve.problems.grids import GridProblem, SolvedGrids
from batchsolve.problems.stacks import Stacks


def outcome_of(problem: GridProblem, task: Task, written: LaneOutput, left: np.ndarray) -> Outcome:
    """Return the outcome of a task from the output of its search and `Lanes.left`."""
    roots = task.stacks.roots
    order, of_covers, left_offsets, left_options, weights, parents = _in_tree_order(
        written.covers, written.frontier, written.following, left, roots, task.keep
    )
    if task.unordered:  # then covers were written as digits
        digits = written.covers.digits.take(order, axis=0)
        solutions: Stacks = SolvedGrids(problem, digits, of_covers)
    else:
        covers = written.covers
        every = covers.options.reshape(-1, covers.n_cells)
        options = every.take(order, axis=0).astype(np.uint32)
        if problem.cover_size > problem.n_cells:
            grids = problem.grids(Stacks.equally_long(options, of_covers))
            options = np.concatenate([options, problem.other_options(grids)], axis=1)
        solutions = Stacks.equally_long(options, of_covers)
    handed_back = Stacks(left_offsets, left_options, roots[parents])
    return Outcome(
        written.counts, written.nodes, written.clash, solutions, handed_back, weights, parents
    )


@light_kernel
def _in_tree_order(covers, frontier, following, left, roots, keep):
    """Put covers and frontier in tree order.

    Returns
    -------
    order, of_covers : ndarray of int64, shape (n,)
        The places of the first covers of each root, as many as are to be kept; and their roots.
    left_offsets, left_options, weights, parents : ndarray of int64, uint32, float64, int64
        The frontier.
    """
    places, tops = _places_of_segments(following, roots.size, left[SEGMENTS])
    segments = covers.origins[: left[FOUND]]
    order = _order(places, segments)
    of_covers = np.empty(order.size, np.int64)
    n = before = 0  # covers that are kept, and those of the present root before this one
    for k in order:
        root = roots[tops[segments[k]]]
        before = before + 1 if n > 0 and of_covers[n - 1] == root else 0
        if before < keep:
            order[n], of_covers[n] = k, root
            n += 1
    first_covers = order[:n].copy()

    segments = frontier.origins[: left[HANDED_BACK]]
    order = _order(places, segments)
    left_offsets, left_options = gather(frontier.offsets, frontier.options, order)
    weights, parents = frontier.weights[order], tops[segments[order]]
    return first_covers, of_covers[:n], left_offsets, left_options, weights, parents


@helper
def gather(offsets, options, places):
    """Return the offsets and the options of the stacks at some places, as copies."""
    bounds = np.zeros(places.size + 1, np.int64)
    for k in range(places.size):
        bounds[k + 1] = bounds[k] + offsets[places[k] + 1] - offsets[places[k]]
    copies = np.empty(bounds[-1], np.uint32)
    for k in range(places.size):
        begin = offsets[places[k]]
        for x in range(bounds[k + 1] - bounds[k]):
            copies[bounds[k] + x] = options[begin + x]
    return bounds, copies


@helper
def _places_of_segments(following, n_stacks, n):
    """Return the places of segments in tree order, and the stacks at their tops."""
    places, tops = np.empty(n, np.int64), np.empty(n, np.int64)
    place = 0
    for stack in range(n_stacks):
        segment = stack
        while segment >= 0:
            places[segment], tops[segment] = place, stack
            place += 1
            segment = following[segment]
    return places, tops


@helper
def _order(places, segments):
    """Return the order by places of segments; those of one segment stay as they are.

    A counting sort.
    """
    begins = np.zeros(places.size + 1, np.int64)
    for segment in segments:
        begins[places[segment] + 1] += 1
    for place in range(places.size):
        begins[place + 1] += begins[place]
    order = np.empty(segments.size, np.int64)
    for k in range(segments.size):
        place = places[segments[k]]
        order[begins[place]] = k
        begins[place] += 1
    return order
