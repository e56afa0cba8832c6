"""Passes over blocks that need no search; results come in the order of the blocks.

With two passes, the output of a row can depend on all rows before it. A first task looks at a
block, the caller decides in the order of the input, and a second task writes the block. Between the
two, only the findings are kept; the second task reads the block again.
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
    ReadTask,
    WriteTask,
    work_in_order,
)
from batchsolve.search.scheduler import Result, Scheduler
from batchsolve.settings import UNLIMITED
from batchsolve.workers.pool import Pool


class Passes(Protocol):
    """The two functions that workers call with a block; small enough to send to workers."""

    def look(self, block: Any) -> Any:
        """Return the findings that the decision needs."""
        ...

    def write(self, block: Any, decision: Any) -> Any:
        """Return the finished output of a block."""
        ...


@dataclass(frozen=True, eq=False)
class _Calls:
    function: Callable[[Any], Any]

    def do(self, task: BlockTask) -> Result:
        try:
            return Result(self.function(task))
        except BatchsolveError as error:
            return Result(error=error)


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
        Workers receive and call it.

    Raises
    ------
    BatchsolveError
        If a call raises one, after the results of all calls before it were yielded.
    """
    work = _Calls(partial(_of_block, function))
    for _, output in _worked_on(blocks, BlockGoal(), pool, work):
        yield output


def _of_block(function: Callable[[Any], Any], task: BlockTask) -> Any:
    return function(task.block)


def _worked_on(
    blocks: Iterable[Any], goal: BlockGoal, pool: Pool, work: _Calls
) -> Iterator[tuple[Any, Any]]:
    return work_in_order(blocks, Scheduler(goal, pool.jobs, UNLIMITED), goal, pool, work)


class _Decisions(BlockGoal):
    """A goal that decides on findings in the order of the input, and yields blocks likewise."""

    def __init__(self, decide: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self._decide = decide
        self._found: dict[int, Result] = {}  # no decision yet
        self._n_decided = 0

    def accept(self, piece: ReadTask | WriteTask, result: Result) -> list[Any]:
        if isinstance(piece, WriteTask):
            return super().accept(piece, result)
        self._found[piece.number] = result
        decided: list[Any] = []
        while self._n_decided in self._found:
            number = self._n_decided
            found, block = self._found.pop(number), self._blocks[number]
            self._n_decided += 1
            if found.error is None:
                decided.append(WriteTask(number, block, self._decide(block, found.output)))
            else:
                self._results[number] = found
        return decided


def in_two_passes(
    blocks: Iterable[Any], pool: Pool, passes: Passes, decide: Callable[[Any, Any], Any]
) -> Iterator[tuple[Any, Any]]:
    """Look at blocks, decide in order, write them; yield each with its output, in order.

    Parameters
    ----------
    blocks : iterable
    pool : Pool
        Entered already.
    passes : Passes
    decide : callable
        Takes a block and its findings, and returns the decision; called in the order of the blocks,
        up to the first that cannot be read.

    Raises
    ------
    BatchsolveError
        If a block cannot be read or written, after all blocks before it were yielded.
    """
    return _worked_on(blocks, _Decisions(decide), pool, _Calls(partial(_look_or_write, passes)))


def _look_or_write(passes: Passes, task: ReadTask | WriteTask) -> Any:
    if isinstance(task, ReadTask):
        return passes.look(task.block)
    return passes.write(task.block, task.answers)
