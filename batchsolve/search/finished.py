"""The finished share of a tree, estimated in two ways that rarely are wrong together.

*By levels*, stacks of one level are alike (P. C. Chen, *Heuristic sampling: a method for predicting
the performance of tree searching programs*, SIAM J. Comput. 21, 1992): the nodes below one are the
mean of those that tasks have searched there, with what they left. *By weights*, as in Knuth's
probes, the children of a node are alike, so a stack has the product of 1 / (number of children). In
trees with long chains, small subtrees near the root hold most of the weight. Where no task has been
yet, weights stand for levels, too. Stacks with branches make levels between those of the others.
"""

from __future__ import annotations

import numpy as np

from batchsolve.arrays import Bools, Floats, Ints
from batchsolve.engines import Outcome
from batchsolve.problems.stacks import Stacks
from batchsolve.search.scheduler import Piece

LEVELS = 256  # two for each number of options; deeper ones are taken as one
HUGE = 1e100  # nodes of a subtree; a larger one is finished as little
STALE = 1.01  # times as many nodes, after which the share is estimated again


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

    def add(self, piece: Piece, outcome: Outcome, searched: Bools, left: Piece) -> None:
        """Add the result of a task: its piece, the stacks it began, and the piece that is left."""
        at, below = self._levels(piece.stacks), self._levels(left.stacks)
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
        return self._known

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
        levels = 2 * (np.diff(stacks.offsets) - self._first) + stacks.has_branch
        return np.clip(levels, 0, LEVELS - 1)
