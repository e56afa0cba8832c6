"""Work on blocks of an input, in rounds: blocks are read ahead, and handed back in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from batchsolve.errors import InputError
from batchsolve.search.scheduler import Draws, Goal, Scheduler, run_round
from batchsolve.workers.pool import Pool, Work

LEAST_AHEAD, AHEAD_PER_WORKER = 8, 4  # blocks that may be read before the first is written


class BlockGoal(Goal, Protocol):
    """A goal that hands back what was made of blocks."""

    @property
    def n_open(self) -> int:
        """Number of blocks that are not handed back."""
        ...

    def open(self, block: Any) -> Any:
        """Return the next block of the input as a piece."""
        ...

    def settled(self) -> Iterator[tuple[Any, Any]]:
        """Hand back the next blocks of the input with their output, up to the first still open.

        Raises
        ------
        InputError, OutputError
            If the next block cannot be read or written.
        """
        ...


def most_ahead(jobs: int) -> int:
    """Return how many blocks may be read before the first of them is handed back.

    Examples
    --------
    >>> most_ahead(1), most_ahead(16)
    (8, 64)
    """
    return max(LEAST_AHEAD, AHEAD_PER_WORKER * jobs)


def work_in_order(
    blocks: Iterable[Any], scheduler: Scheduler, goal: BlockGoal, pool: Pool, work: Work
) -> Iterator[tuple[Any, Any]]:
    """Work on blocks; yield each with its output, in order, while the next are worked on.

    Raises
    ------
    InputError, OutputError
        If a block cannot be read or written, after all blocks before it were yielded.
    """
    source = iter(blocks)
    failure: InputError | None = None
    exhausted = False

    def refill() -> None:
        nonlocal exhausted, failure
        while not exhausted and goal.n_open < most_ahead(pool.jobs):
            try:
                block = next(source, None)
            except InputError as error:
                block, failure = None, error  # what was read before it is answered all the same
            exhausted = block is None
            if block is not None:
                scheduler.add_behind(goal.open(block))

    refill()
    while goal.n_open:
        tasks = Draws(scheduler)
        for _ in run_round(scheduler, goal, pool, work, tasks):
            yield from goal.settled()
            refill()
        yield from goal.settled()
        refill()
    if failure is not None:
        raise failure
