"""How large tasks are, how many pieces wait, and where a frontier is cut.

The process that collects results takes them one after another. A *turn* is what it needs for one of
every worker; tasks that took less than a turn would leave workers waiting for it.

`task_nodes` and `piece_bounds` are plain functions of numbers and arrays, so that the simulation
(`batchsolve.scaling.simulation`) compiles and calls the very rules that the scheduler follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

TASK_SECONDS = 0.2  # what a task may take while many pieces wait; less when few do
RESULT_SECONDS = 0.0003  # what a result takes to collect; 0.07 to 0.2 ms were measured
FULL_TURNS, LEAST_TURNS = 5, 1  # what a task takes at least while many pieces wait, and few
PIECES_PER_WORKER = 15  # how many tasks should wait, so that work runs out for all at once
# Fewer for each of few workers, who wait less for one another, and of more than MANY_PIECES in all.
FEW_PIECES, MANY_PIECES = 4, 240
FIRST_BUDGET = 50_000  # while the speed of a worker is not known
FIRST_ENTRIES = 10**9  # nodes × entries of the problem, so that large ones begin with fewer nodes
LEAST_BUDGET = 5_000  # so that a task is worth handing out, unless these nodes take long
MOST_STACKS = 4096  # in a task; those that it does not come to are copied
MOST_OUT = 8  # tasks a worker may be ahead of what was collected
STACKS_PER_WORKER = 30  # how many subproblems an automatic split aims at
SPLIT_NODES = 20_000  # nodes that an automatic split may visit; some hundredths of a second


@dataclass(frozen=True)
class Sizing:
    """How large tasks are.

    Attributes
    ----------
    full_seconds, least_seconds : float
        What tasks may take while many pieces wait, and when none does.
    pieces : int
        How many pieces are many.
    """

    full_seconds: float
    least_seconds: float
    pieces: int

    @classmethod
    def of(cls, jobs: int) -> Sizing:
        """Return what suits a number of workers.

        Examples
        --------
        >>> Sizing.of(2)
        Sizing(full_seconds=0.2, least_seconds=0.0006, pieces=12)
        """
        turn = RESULT_SECONDS * jobs
        pieces = min(PIECES_PER_WORKER, 2 + 2 * jobs, max(FEW_PIECES, MANY_PIECES // jobs))
        return cls(max(TASK_SECONDS, FULL_TURNS * turn), LEAST_TURNS * turn, jobs * pieces)

    def budget(self, rate: float, waiting: int) -> int:
        """Return the nodes that a task may visit.

        Parameters
        ----------
        rate : float
            Nodes that a worker visits in a second.
        waiting : int
            How many pieces wait.
        """
        return int(task_nodes(waiting / self.pieces, *self.bounds(rate)))

    def bounds(self, rate: float) -> tuple[float, float]:
        """Return the nodes of a task while many pieces wait, and the fewest of any.

        Examples
        --------
        >>> Sizing.of(2).bounds(1e6), Sizing.of(2).bounds(1e3)  # nodes of a microsecond, or slow
        ((200000.0, 5000.0), (200.0, 200.0))
        """
        full = max(1.0, self.full_seconds * rate)
        return full, max(self.least_seconds * rate, min(float(LEAST_BUDGET), full))


def first_budget(n_entries: int) -> int:
    """Return the nodes of a task while the speed of a worker is not known.

    Parameters
    ----------
    n_entries : int
        Items of all options of the problem: the more there are, the longer a node takes.

    Examples
    --------
    >>> first_budget(2_916), first_budget(4_000_000)  # 9×9 Sudoku, and 1,000 queens
    (50000, 250)
    """
    return max(1, min(FIRST_BUDGET, FIRST_ENTRIES // max(1, n_entries)))


def task_nodes(share: float, full: float, least: float) -> float:
    """Return the nodes of a task: `full` of them, or a smaller share when few pieces wait.

    Parameters
    ----------
    share : float
        How many pieces wait, as a share of how many should.
    full, least : float
        Nodes of a task when enough pieces wait, and the fewest of any.
    """
    return max(least, full * min(1.0, share))


def piece_bounds(
    weights: npt.NDArray[np.float64], n_pieces: int, most_stacks: int
) -> npt.NDArray[np.int64]:
    """Return where to cut stacks into at most n pieces of about equal weight.

    A frontier holds few stacks near the root of the tree, with most of its weight, and many far
    down with hardly any; those stay together. There are more pieces if they were too long.

    Parameters
    ----------
    weights : ndarray of float64, shape (m,)
        Shares of the tree, in tree order; m is 1 or more.
    n_pieces, most_stacks : int

    Returns
    -------
    ndarray of int64, shape (number of pieces + 1,)
        Piece ``k`` is the stacks ``bounds[k] .. bounds[k + 1] - 1``.

    Examples
    --------
    >>> piece_bounds(np.array([4, 1, 1, 2.0]), 2, 99).tolist()
    [0, 1, 4]
    """
    m = weights.size
    whole = weights.sum()
    if whole < m * np.finfo(np.float64).tiny:  # too far down to tell
        weights = np.ones(m)
        whole = float(m)
    middles = np.cumsum(weights) - weights / 2
    n = max(1, min(n_pieces, m))
    numbers = (middles / whole * n).astype(np.int64)
    numbers = np.minimum(numbers, n - 1)  # the last stacks may weigh nothing
    lengths = np.arange(m) // most_stacks
    cuts = np.flatnonzero((np.diff(numbers) != 0) | (np.diff(lengths) != 0)) + 1
    bounds = np.empty(cuts.size + 2, np.int64)
    bounds[0], bounds[1:-1], bounds[-1] = 0, cuts, m
    return bounds
