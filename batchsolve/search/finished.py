"""The finished share of a tree, estimated in two ways that rarely are wrong together.

*By levels*, stacks of one level are alike (P. C. Chen, *Heuristic sampling: a method for predicting
the performance of tree searching programs*, SIAM J. Comput. 21, 1992): the nodes below one are the
mean of those that tasks have searched there, with what they left. *By weights*, as in Knuth's
probes, the children of a node are alike, so a stack has the product of 1 / (number of children). In
trees with long chains, small subtrees near the root hold most of the weight. Where no task has been
yet, weights stand for levels, too.

Both are wrong where a few subtrees hold most of the nodes, as below grids of 16×16. That shows in
what they have said before: the nodes of the whole tree, as estimated in the last part of the
search, differ then. The doubt is the range of all these.
"""

from __future__ import annotations

import numpy as np

from batchsolve.arrays import Floats, Ints
from batchsolve.engines import Outcome
from batchsolve.problems.stacks import Stacks
from batchsolve.search.scheduler import Piece

LEVELS = 256  # deeper ones are taken as one
HUGE = 1e100  # nodes of a subtree; a larger one is finished as little
STALE = 1.01  # times as many nodes, after which the share is estimated again
REMEMBERED = 4  # estimates count until so many times as many nodes are visited


class FinishedShare:
    """An estimate of the finished share of a tree.

    Parameters
    ----------
    start : Piece
        The stacks that are open when the search begins.
    """

    def __init__(self, start: Piece) -> None:
        self._first = int(np.diff(start.stacks.offsets).min(initial=0))
        self._open, self._weights, self._searched, self._nodes = np.zeros((4, LEVELS))
        self._left = np.zeros((LEVELS, LEVELS))  # stacks that tasks at a level left at another
        self._count(self._levels(start.stacks), start.weights, 1)
        self._known_at, self._known = -1.0, 0.0
        self._said: list[tuple[int, float, float]] = []  # nodes, and two estimates of all nodes

    def add(self, piece: Piece, outcome: Outcome, left: Piece) -> None:
        """Add the result of a task: its piece, and the piece that is left of it."""
        at, below = self._levels(piece.stacks), self._levels(left.stacks)
        searched = outcome.nodes > 0
        new = searched[outcome.parents]
        self._searched += np.bincount(at[searched], minlength=LEVELS)
        self._nodes += np.bincount(at, outcome.nodes, LEVELS)
        np.add.at(self._left.reshape(-1), at[outcome.parents[new]] * LEVELS + below[new], 1)
        self._count(at, piece.weights, -1)
        self._count(below, left.weights, 1)

    @property
    def by_weights(self) -> float:
        """The share by weights, from 0 to 1."""
        return min(1.0, max(0.0, 1.0 - float(self._weights.sum())))

    def by_levels(self, nodes: int) -> float:
        """Return the share of the visited nodes by levels, from 0 to 1."""
        if not self._open.any():
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
        known = np.flatnonzero(self._searched)
        deepest = known[-1] if known.size else -1
        sizes = np.full(LEVELS, self._nodes.sum() / max(1.0, self._searched.sum()))
        for k in known[::-1]:
            below = self._left[k, k + 1 :] @ sizes[k + 1 :]
            whole = (self._nodes[k] + below) / max(1.0, self._searched[k] - self._left[k, k])
            sizes[: k + 1] = min(HUGE, whole)
        unknown = self._weights[deepest + 1 :].sum()
        rest = nodes * unknown / max(1 / HUGE, self.by_weights)
        return float(self._open[: deepest + 1] @ sizes[: deepest + 1] + rest)

    def _count(self, at: Ints, weights: Floats, sign: int) -> None:
        self._open += sign * np.bincount(at, minlength=LEVELS)
        self._weights += sign * np.bincount(at, weights, LEVELS)

    def _levels(self, stacks: Stacks) -> Ints:
        return np.clip(np.diff(stacks.offsets) - self._first, 0, LEVELS - 1)
