"""The graph of the covers of a problem with bounds, drawn option by option.

Options are decided in one order: each is in the cover, or not. The remaining choices depend on the
*frontier*, the items that decided and undecided options share: on the number of options that each
has so far, or on its colour. So the states of the frontier are the nodes of a layer, and equal
states are one node. This is frontier-based search (J. Kawahara, T. Inoue, H. Iwashita and S.
Minato, *Frontier-based search for enumerating all constrained subgraphs with compressed
representation*, IEICE Transactions, 2017), for items in any number of options.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.engines.item_order import entries_in_order, narrow_order
from batchsolve.graphs.diagrams import MEGABYTE, out_of_memory
from batchsolve.interrupts import check_interrupt
from batchsolve.problems.exact_cover import ExactCover

States = npt.NDArray[np.uint32]
_FREE, _TAKEN = 0, 1  # states of a secondary item; its colour and 1 if it has one
_BYTES_OF_A_NODE = 56  # its children in a layer, and the node itself twice
_BYTES_OF_A_STATE = 112  # both of its children, and their places


def order_of_options(problem: ExactCover) -> npt.NDArray[np.int64]:
    """Return the options by their first item in a narrow order, then by their last."""
    entries = entries_in_order(problem, narrow_order(problem))
    begins = problem.indptr[:-1]
    if not begins.size:
        return np.arange(0)
    first, last = np.minimum.reduceat(entries, begins), np.maximum.reduceat(entries, begins)
    return np.lexsort([last, first])


def draw_by_frontier(
    problem: ExactCover, stack: npt.NDArray[np.uint32], megabytes: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.uint32], int]:
    """Return option, low and high of all nodes of the graph, and its root.

    Parameters
    ----------
    problem : ExactCover
        With bounds.
    stack : ndarray of uint32
        The options that the covers contain, and the exclusions.
    megabytes : int
        The memory that nodes may take.

    Raises
    ------
    InputError
        If they take more.
    """
    order = order_of_options(problem)
    low_places, high_places, n_last = _layers(problem, order, stack, megabytes)
    option, low, high = ([np.zeros(2, np.int64)] for _ in range(3))
    n = 2
    places = np.ones(n_last, np.int64)  # node of the next layer -> its number
    for t in range(order.size - 1, -1, -1):
        numbers = np.append(places, 0)  # -1 stands for the terminal 0
        children = np.stack([numbers[low_places[t]], numbers[high_places[t]]], 1)
        pairs, place_of = np.unique(children, axis=0, return_inverse=True)
        has_node = pairs[:, 1] != 0
        number_of = np.where(has_node, n - 1 + np.cumsum(has_node), pairs[:, 0])
        places = number_of[place_of.ravel()]
        option.append(np.full(has_node.sum(), order[t]))
        low.append(pairs[has_node, 0])
        high.append(pairs[has_node, 1])
        n += int(has_node.sum())
    nodes = [np.concatenate(parts).astype(np.uint32) for parts in (option, low, high)]
    return nodes[0], nodes[1], nodes[2], int(places[0]) if places.size else 0


def _layers(
    problem: ExactCover,
    order: npt.NDArray[np.int64],
    stack: npt.NDArray[np.uint32],
    megabytes: int,
) -> tuple[list[npt.NDArray[np.int64]], list[npt.NDArray[np.int64]], int]:
    """Decide one option after another; return the nodes of all layers.

    Returns
    -------
    low, high : list of ndarray of int64
        The places of the children of a layer's nodes in the next layer; -1 if none.
    n_last : int
        Nodes behind the last layer: 1 if there is a cover.
    """
    assert problem.bounds is not None
    undecided = np.bincount(problem.indices, minlength=problem.n_items)  # options of each item
    decided = set(map(int, stack))
    frontier: list[int] = []
    states = np.zeros((1, 0), np.uint32)
    if np.any(undecided[: problem.n_primary] < problem.bounds[:, 0]):
        states = states[:0]
    low, high, n_nodes = [], [], 0
    for o in map(int, order):
        check_interrupt()
        coloring = problem.coloring(o)
        new = [i for i in coloring if i not in frontier]
        frontier += new
        # six copies of both children of all states
        most = len(states) * (_BYTES_OF_A_STATE + 12 * states.itemsize * len(frontier))
        if n_nodes * _BYTES_OF_A_NODE + most > megabytes * MEGABYTE:
            raise out_of_memory(megabytes, n_nodes)
        states = np.concatenate([states, np.zeros((len(states), len(new)), np.uint32)], 1)
        undecided[list(coloring)] -= 1
        may_take = o in decided or min(coloring) < problem.n_primary
        taken, can_take = _take(states, [frontier.index(i) for i in coloring], coloring, problem)
        can_take &= may_take and o + problem.n_options not in decided
        can_leave = np.full(len(states), o not in decided)
        both = np.concatenate([states, taken])
        open_ = _settle(both, frontier, list(coloring), undecided, problem) & np.append(
            can_leave, can_take
        )
        kept = [f for f, i in enumerate(frontier) if undecided[i]]
        frontier = [frontier[f] for f in kept]
        n = len(states)
        states, child = _distinct(both[open_][:, kept])
        places = np.full(2 * n, -1)
        places[open_] = child
        low.append(places[:n])
        high.append(places[n:])
        n_nodes += n
    return low, high, len(states)


def _take(
    states: States, columns: list[int], coloring: dict[int, int], problem: ExactCover
) -> tuple[States, npt.NDArray[np.bool_]]:
    """Return the states after an option with these items and colours, and a mask of valid ones."""
    assert problem.bounds is not None
    after, can_take = states.copy(), np.ones(len(states), np.bool_)
    for f, (i, color) in zip(columns, coloring.items(), strict=True):
        if i < problem.n_primary:
            after[:, f] += 1
            can_take &= after[:, f] <= problem.bounds[i, 1]
        else:
            mine = color + 1 if color else _TAKEN
            can_take &= (after[:, f] == _FREE) | (after[:, f] == (mine if color else _FREE))
            after[:, f] = mine
    return after, can_take


def _settle(
    states: States, frontier: list[int], items: list[int], undecided: Any, problem: ExactCover
) -> npt.NDArray[np.bool_]:
    """Make states that leave the same choices equal; return a mask of those that meet all needs."""
    assert problem.bounds is not None
    is_open = np.ones(len(states), np.bool_)
    for i in items:
        if i < problem.n_primary:
            used, left = states[:, frontier.index(i)], undecided[i]
            least, most = problem.bounds[i]
            is_open &= used + left >= least
            used[(used >= least) & (used + left <= most)] = least
    return is_open


def _distinct(states: States) -> tuple[States, npt.NDArray[np.int64]]:
    """Return the distinct states, and the place of each among them."""
    if not states.shape[1]:
        return states[:1], np.zeros(len(states), np.int64)
    rows = np.ascontiguousarray(states).view(np.dtype((np.void, 4 * states.shape[1]))).ravel()
    _, first, place = np.unique(rows, return_index=True, return_inverse=True)
    return states[first], place
