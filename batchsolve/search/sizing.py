"""How large tasks are, and how many wait, so that workers are busy and end together.

The process that collects results takes them one after another. A *turn* is what it needs for one of
every worker; tasks that took less than a turn would leave workers waiting for it.
"""

from __future__ import annotations

from dataclasses import dataclass

TASK_SECONDS = 0.2  # what a task may take while the pile is high; less when it is low
RESULT_SECONDS = 0.0003  # what a result takes to collect; 0.07 to 0.2 ms were measured
FULL_TURNS, LEAST_TURNS = 5, 1  # what a task takes at least while the pile is high, and low
PIECES_PER_WORKER = 15  # how many tasks should wait, so that work runs out for all at once
FEW_PIECES, MANY_PIECES = 4, 240  # fewer for each worker, down to the former, of more than these
FIRST_BUDGET = 50_000  # while the speed of a worker is not known
LEAST_BUDGET = 5_000  # so that a task is worth handing out


@dataclass(frozen=True)
class Sizing:
    """How large tasks are.

    Attributes
    ----------
    full_seconds, least_seconds : float
        What tasks may take while the pile is high, and when nothing waits.
    pieces : int
        How many pieces make a high pile.
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
        Sizing(full_seconds=0.2, least_seconds=0.0006, pieces=30)
        """
        turn = RESULT_SECONDS * jobs
        return cls(
            max(TASK_SECONDS, FULL_TURNS * turn),
            LEAST_TURNS * turn,
            jobs * min(PIECES_PER_WORKER, max(FEW_PIECES, MANY_PIECES // jobs)),
        )

    def budget(self, rate: float, waiting: int) -> int:
        """Return the nodes that a task may visit.

        Parameters
        ----------
        rate : float
            Nodes that a worker visits in a second.
        waiting : int
            How many pieces are on the pile.
        """
        seconds = max(self.least_seconds, self.full_seconds * min(1.0, waiting / self.pieces))
        return max(LEAST_BUDGET, int(rate * seconds))
