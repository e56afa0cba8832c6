"""Two passes over blocks of rows: workers look at each, the caller decides, workers write.

What becomes of a row can depend on all rows before it. So a block is looked at by a task, what was
found is brought to a decision in the order of the input, and another task writes the block. Between
the two, nothing of a block is kept but what was found: it is read again to be written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from batchsolve.errors import InputError, OutputError
from batchsolve.search.in_order import BlockGoal, Made, ReadTask, WriteTask, work_in_order
from batchsolve.search.scheduler import Scheduler
from batchsolve.settings import UNLIMITED
from batchsolve.workers.pool import Pool


class Passes(Protocol):
    """What workers do with a block; small, and can be sent to them."""

    def look(self, block: Any) -> Any:
        """Return what the decision depends on."""
        ...

    def write(self, block: Any, decision: Any) -> Any:
        """Return the finished output of a block."""
        ...


@dataclass(frozen=True, eq=False)
class _Work:
    passes: Passes

    def do(self, task: ReadTask | WriteTask) -> Made:
        try:
            if isinstance(task, ReadTask):
                return Made(self.passes.look(task.block))
            return Made(self.passes.write(task.block, task.answers))
        except (InputError, OutputError) as error:
            return Made(error=error)

    def halves(self, task: Any) -> list[tuple[int, int, Any]]:
        return []


class _Goal(BlockGoal):
    """Takes what was found in the order of the input, and hands back what was written so."""

    def __init__(self, decide: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self._decide = decide
        self._found: dict[int, Made] = {}  # not decided
        self._n_decided = 0

    def accept(self, piece: ReadTask | WriteTask, made: Made) -> list[Any]:
        if isinstance(piece, WriteTask):
            self._made[piece.number] = made
            return []
        self._found[piece.number] = made
        decided: list[Any] = []
        while self._n_decided in self._found:
            number = self._n_decided
            found, block = self._found.pop(number), self._blocks[number]
            self._n_decided += 1
            if found.error is None:
                decided.append(WriteTask(number, block, self._decide(block, found.output)))
            else:
                self._made[number] = found
        return decided


def in_two_passes(
    blocks: Iterable[Any], pool: Pool, passes: Passes, decide: Callable[[Any, Any], Any]
) -> Iterator[tuple[Any, Any]]:
    """Look at blocks, decide on them in order, write them; yield each with its output, in order.

    Parameters
    ----------
    blocks : iterable
    pool : Pool
        Entered already.
    passes : Passes
    decide : callable
        Takes a block and what was found in it, and returns the decision; it is called in the order
        of the blocks, and not for those behind one that cannot be read.

    Raises
    ------
    InputError, OutputError
        If a block cannot be read or written, after all blocks before it were yielded.
    """
    goal = _Goal(decide)
    scheduler = Scheduler(goal, pool.jobs, UNLIMITED)
    yield from work_in_order(blocks, scheduler, goal, pool, _Work(passes))
