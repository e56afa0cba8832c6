"""Passes over blocks that are not searched: what workers make of them, in order.

In two passes, workers look at each block, the caller decides, and workers write: what becomes of a
row can depend on all rows before it. So a block is looked at by a task, what was found is brought
to a decision in the order of the input, and another task writes the block. Between the two, nothing
of a block is kept but what was found: it is read again to be written.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from batchsolve.errors import BatchsolveError
from batchsolve.search.in_order import (
    BlockGoal,
    BlockTask,
    Made,
    ReadTask,
    WriteTask,
    work_in_order,
)
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
    function: Callable[[Any], Any]

    def do(self, task: BlockTask) -> Made:
        try:
            return Made(self.function(task))
        except BatchsolveError as error:
            return Made(error=error)


def in_one_pass(
    blocks: Iterable[Any], pool: Pool, function: Callable[[Any], Any]
) -> Generator[Any]:
    """Call a function with each block; yield what it returns, in the order of the blocks.

    Parameters
    ----------
    blocks : iterable
    pool : Pool
        Entered already.
    function : callable
        Called by workers, and sent to them.

    Raises
    ------
    BatchsolveError
        If a call raises one, after what those before it returned was yielded.
    """
    work = _Work(partial(_of_block, function))
    for _, output in _worked_on(blocks, BlockGoal(), pool, work):
        yield output


def _of_block(function: Callable[[Any], Any], task: BlockTask) -> Any:
    return function(task.block)


def _worked_on(
    blocks: Iterable[Any], goal: BlockGoal, pool: Pool, work: _Work
) -> Iterator[tuple[Any, Any]]:
    return work_in_order(blocks, Scheduler(goal, pool.jobs, UNLIMITED), goal, pool, work)


class _Goal(BlockGoal):
    """Takes what was found in the order of the input, and hands back what was written so."""

    def __init__(self, decide: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self._decide = decide
        self._found: dict[int, Made] = {}  # not decided
        self._n_decided = 0

    def accept(self, piece: ReadTask | WriteTask, made: Made) -> list[Any]:
        if isinstance(piece, WriteTask):
            return super().accept(piece, made)
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
    BatchsolveError
        If a block cannot be read or written, after all blocks before it were yielded.
    """
    return _worked_on(blocks, _Goal(decide), pool, _Work(partial(_look_or_write, passes)))


def _look_or_write(passes: Passes, task: ReadTask | WriteTask) -> Any:
    if isinstance(task, ReadTask):
        return passes.look(task.block)
    return passes.write(task.block, task.answers)
