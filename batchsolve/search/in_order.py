"""Work on the blocks of an input, in rounds: read ahead, and return blocks in their order.

Work that needs no search is done in one pass over the blocks, or in two; then the output of a row
can depend on all rows before it. A first task looks at a block, the caller decides in the order of
the input, and a second task writes the block. Between the two, only the findings are kept; the
second task reads the block again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

from batchsolve.errors import BatchsolveError, InputError
from batchsolve.search.scheduler import Goal, Result, Scheduler, run_round
from batchsolve.settings import UNLIMITED
from batchsolve.workers import Pool, Work, attempt

LEAST_AHEAD, AHEAD_PER_WORKER = 8, 4  # blocks read before the first is written


@dataclass(frozen=True, eq=False)
class BlockTask:
    """A task for one block; the scheduler treats it as a piece that cannot be cut.

    Attributes
    ----------
    number : int
        The place of the block in the input.
    block : object
    budget : int
        Nodes within which the block is read and searched.
    """

    number: int
    block: Any
    budget: int = UNLIMITED
    is_fresh: ClassVar[bool] = True
    weighs: ClassVar[int] = 0

    def cut(self, n_pieces: int, most_stacks: int) -> list[Any]:
        """Return the piece as it is."""
        return [self]


@dataclass(frozen=True, eq=False, kw_only=True)
class WriteTask(BlockTask):
    """The task of writing a block, with the answers to its rows."""

    answers: Any


class BlockGoal(Goal):
    """A goal that returns the blocks of an input in their order, each with its output."""

    enough = False

    def __init__(self) -> None:
        self._blocks: dict[int, Any] = {}  # those not returned yet, by number
        self._results: dict[int, Result] = {}
        self._n_opened = self._n_returned = 0

    @property
    def n_open(self) -> int:
        """Number of blocks that are not returned yet."""
        return len(self._blocks)

    def open(self, block: Any) -> BlockTask:
        """Return the task that reads the next block of the input."""
        number = self._n_opened
        self._blocks[number] = block
        self._n_opened += 1
        return BlockTask(number, block)

    def end_with(self, error: InputError) -> None:
        """Note that the next block of the input cannot be read; it is the last."""
        self._results[self.open(None).number] = Result(error=error)

    def settled(self) -> Iterator[tuple[Any, Any]]:
        """Yield the next blocks of the input with their output, up to the first that is open.

        Raises
        ------
        BatchsolveError
            If the next block cannot be read or written.
        """
        while self._n_returned in self._results:
            result = self._results.pop(self._n_returned)
            block = self._blocks.pop(self._n_returned)
            self._n_returned += 1
            if result.error is not None:
                raise result.error
            yield block, result.output

    def begin(self, piece: Any, budget: int, promised: int) -> tuple[Any, Any]:
        """Return a block as its own task."""
        return piece, piece

    def accept(self, piece: Any, result: Result) -> list[Any]:
        """Take the result of a block."""
        self._results[piece.number] = result
        return []

    def lose(self, piece: Any, reason: str) -> list[Any]:
        """Raise an error, because no worker can process the block."""
        raise BatchsolveError(f"a block of rows cannot be read or written: {reason}")


def work_in_order(
    blocks: Iterable[Any],
    scheduler: Scheduler,
    goal: BlockGoal,
    pool: Pool,
    work: Work,
    waits: Callable[[], bool] = lambda: False,
    is_short: bool = False,
) -> Generator[tuple[Any, Any]]:
    """Work on blocks; yield each with its output, in order, while workers go on with the next.

    Parameters
    ----------
    blocks, scheduler, goal, pool, work
    waits : callable, optional
        Returns True if the next block has not arrived; then the blocks before it come first.
    is_short : bool
        True if the first task of a block is short. If it is the only one, this thread does it, as
        the threads of a pool take longer to start than most blocks of a few rows.

    Raises
    ------
    BatchsolveError
        If a block cannot be read or written, after all blocks before it were yielded.
    """
    source = iter(blocks)
    most = max(LEAST_AHEAD, AHEAD_PER_WORKER * pool.jobs)

    def refill() -> None:
        try:
            while goal.n_open < most and not (goal.n_open and waits()):
                scheduler.add_behind(goal.open(next(source)))
        except StopIteration:
            pass
        except InputError as error:  # blocks before it are answered all the same
            goal.end_with(error)

    refill()
    if is_short and pool.workers.in_process and goal.n_open == 1:
        for number, task in islice(scheduler, 1):
            scheduler.take(attempt(work.do, number, task))
        yield from goal.settled()
        refill()
    while goal.n_open:
        for _ in run_round(scheduler, pool.start(work, scheduler)):
            yield from goal.settled()
            refill()
        yield from goal.settled()
        refill()


@dataclass(frozen=True, eq=False)
class _Calls:
    """The calls of `read` with a block, and of `write` with a block and what was decided on it."""

    read: Callable[[Any], Any]
    write: Callable[[Any, Any], Any] | None = None

    def do(self, task: BlockTask) -> Result:
        try:
            if isinstance(task, WriteTask):
                assert self.write is not None
                return Result(self.write(task.block, task.answers))
            return Result(self.read(task.block))
        except BatchsolveError as error:
            return Result(error=error)


def in_one_pass(
    blocks: Iterable[Any], pool: Pool, function: Callable[[Any], Any]
) -> Generator[tuple[Any, Any]]:
    """Call a function with each block; yield each with what it returns, in order.

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
    goal = BlockGoal()
    scheduler = Scheduler(goal, pool.jobs, UNLIMITED)
    return work_in_order(blocks, scheduler, goal, pool, _Calls(function))


class _Decisions(BlockGoal):
    """A goal that decides on findings in the order of the input, and yields blocks likewise."""

    def __init__(self, decide: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self._decide = decide
        self._found: dict[int, Result] = {}  # no decision yet
        self._n_decided = 0

    def accept(self, piece: BlockTask, result: Result) -> list[Any]:
        if isinstance(piece, WriteTask):
            return super().accept(piece, result)
        self._found[piece.number] = result
        decided: list[Any] = []
        while self._n_decided in self._found:
            number = self._n_decided
            found, block = self._found.pop(number), self._blocks[number]
            self._n_decided += 1
            if found.error is None:
                answers = self._decide(block, found.output)
                decided.append(WriteTask(number, block, answers=answers))
            else:
                self._results[number] = found
        return decided


def in_two_passes(
    blocks: Iterable[Any],
    pool: Pool,
    look: Callable[[Any], Any],
    decide: Callable[[Any, Any], Any],
    write: Callable[[Any, Any], Any],
) -> Generator[tuple[Any, Any]]:
    """Look at blocks, decide in order, write them; yield each with its output, in order.

    Parameters
    ----------
    blocks : iterable
    pool : Pool
        Entered already.
    look : callable
        Returns the findings on a block that the decision needs; workers receive and call it.
    decide : callable
        Takes a block and its findings, and returns the decision; called in the order of the blocks,
        up to the first that cannot be read.
    write : callable
        Takes a block and the decision, and returns its output; workers receive and call it.

    Raises
    ------
    BatchsolveError
        If a block cannot be read or written, after all blocks before it were yielded.
    """
    goal = _Decisions(decide)
    scheduler = Scheduler(goal, pool.jobs, UNLIMITED)
    return work_in_order(blocks, scheduler, goal, pool, _Calls(look, write))
