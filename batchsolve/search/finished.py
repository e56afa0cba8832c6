"""The finished share of a tree, estimated in two ways that rarely are wrong together.

*By levels*, stacks of one level are alike (P. C. Chen, *Heuristic sampling: a method for predicting
the performance of tree searching programs*, SIAM J. Comput. 21, 1992): the nodes below one are the
mean of those that tasks have searched there, with what they left. *By weights*, as in Knuth's
probes, the children of a node are alike, so a stack has the product of 1 / (number of children). In
trees with long chains, small subtrees near the root hold most of the weight. Where no task has been
yet, weights stand for levels, too.

Stacks with branches make levels between those of the others, and what is alike there is an option
of a branch. Those that are not possible any more are counted, too: they are as many everywhere.

Both are wrong where a few subtrees hold most of the nodes, as below grids of 16×16. That shows in
what they have said before: the nodes of the whole tree, as estimated in the last part of the
search, differ then. The doubt is the range of all these.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from batchsolve.core.arrays import Bools, Floats, Ints
from batchsolve.engines import Outcome
from batchsolve.problems.exact_cover import ExactCover, owners_of
from batchsolve.problems.stacks import Stacks
from batchsolve.search.scheduler import Piece

LEVELS = 256  # two for each number of options; deeper ones are taken as one
HUGE = 1e100  # nodes of a subtree; a larger one is finished as little
STALE = 1.01  # times as many nodes, after which the share is estimated again
REMEMBERED = 4  # estimates count until so many times as many nodes are visited


class FinishedShare:
    """An estimate of the finished share of a tree.

    Parameters
    ----------
    problem : ExactCover
    start : Piece
        The stacks that are open when the search begins.
    """

    def __init__(self, problem: ExactCover, start: Piece) -> None:
        self._problem, self._start = problem, start
        self._n_open = len(start)
        self._known_at, self._known = -1.0, 0.0
        self._said: list[tuple[int, float, float]] = []  # nodes, and two estimates of all nodes

    def add(self, piece: Piece, outcome: Outcome, searched: Bools, left: Piece) -> None:
        """Add the result of a task: its piece, the stacks it began, and the piece that is left."""
        self._n_open += len(left) - len(piece)
        if not self._n_open:
            return
        at, below = self._levels(piece.stacks), self._levels(left.stacks)
        sizes, sizes_left = self._sizes(piece.stacks), self._sizes(left.stacks)
        new = searched[outcome.parents]
        pairs = at[outcome.parents[new]] * LEVELS + below[new]
        np.add.at(self._left.reshape(-1), pairs, sizes_left[new])
        sums = self._sums
        sums[:2] -= _by_level(at, sizes, piece.weights)
        sums[:2] += _by_level(below, sizes_left, left.weights)
        sums[2] += np.bincount(at[searched], sizes[searched], LEVELS)
        sums[3] += np.bincount(at, outcome.nodes, LEVELS)

    @cached_property
    def _sums(self) -> Floats:
        """The sums of each level: open stacks, their weights, stacks searched, and their nodes."""
        start = self._start.stacks
        sums = np.zeros((4, LEVELS))
        sums[:2] = _by_level(self._levels(start), self._sizes(start), self._start.weights)
        return sums

    @cached_property
    def _left(self) -> Floats:
        """The stacks that tasks at a level left at another; most searches leave none."""
        return np.zeros((LEVELS, LEVELS))

    @property
    def by_weights(self) -> float:
        """The share by weights, from 0 to 1."""
        return min(1.0, max(0.0, 1.0 - float(self._sums[1].sum())))

    def by_levels(self, nodes: int) -> float:
        """Return the share of the visited nodes by levels, from 0 to 1."""
        if not self._n_open:
            return 1.0
        if not self._known_at <= nodes < STALE * self._known_at:
            self._known_at, self._known = nodes, nodes / max(1.0, nodes + self._nodes_left(nodes))
            self._said = [one for one in self._said if one[0] * REMEMBERED >= nodes]
            by_levels, by_weights = self._known, self.by_weights
            wholes = nodes / max(1 / HUGE, by_levels), nodes / max(1 / HUGE, by_weights)
            self._said.append((nodes, *wholes))
        return self._known

    def between(self, nodes: int) -> tuple[float, float]:
        """Return the lowest and the highest share that the estimates so far leave possible."""
        share = self.by_levels(nodes)
        if share == 1.0:
            return 1.0, 1.0
        wholes = [max(1.0, nodes, whole) for _, *both in self._said for whole in both]
        return nodes / max(wholes, default=1.0), nodes / min(wholes, default=1.0)

    def _nodes_left(self, nodes: int) -> float:
        """Estimate the nodes below the open stacks, level by level from the deepest."""
        n_open, weights, searched, visited = self._sums
        is_known = searched > np.diagonal(self._left)
        sizes = np.full(LEVELS, visited.sum() / max(1.0, searched.sum()))
        for k in np.flatnonzero(is_known)[::-1]:
            below = self._left[k, k + 1 :] @ sizes[k + 1 :]
            whole = (visited[k] + below) / (searched[k] - self._left[k, k])
            sizes[: k + 1] = min(HUGE, whole)
        rest = nodes * weights[~is_known].sum() / max(1 / HUGE, self.by_weights)
        return float(n_open[is_known] @ sizes[is_known] + rest)

    @cached_property
    def _first(self) -> int:
        """The fewest options of a stack at the begin."""
        return int(np.diff(self._start.stacks.offsets).min(initial=0))

    def _levels(self, stacks: Stacks) -> Ints:
        levels = 2 * (np.diff(stacks.offsets) - self._first) + stacks.has_branch
        return np.clip(levels, 0, LEVELS - 1)

    def _sizes(self, stacks: Stacks) -> Floats:
        """Return how many options the branches of stacks have; 1 without a branch."""
        sizes = np.ones(len(stacks))
        if stacks.branches.size:
            which = stacks.has_branch
            items, *bounds = stacks.branches[which].astype(np.int64).T
            places = (items - 1) * self._problem.n_options + np.array(bounds)
            first, last = np.searchsorted(self._entries, places)
            sizes[which] = np.maximum(1, last - first)
        return sizes

    @cached_property
    def _entries(self) -> Ints:
        """The entries of the problem by item, and of each item by option."""
        problem = self._problem
        return np.sort(problem.indices.astype(np.int64) * problem.n_options + owners_of(problem))


def _by_level(at: Ints, *each: Floats) -> Floats:
    """Return the sums of some numbers of stacks at each level, given the level of each stack."""
    return np.array([np.bincount(at, numbers, LEVELS) for numbers in each])
