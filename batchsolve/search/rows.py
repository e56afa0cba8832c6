"""Work on the blocks of an input, and the search of their rows; blocks keep their order.

Workers read, search and write. A block is one task. Rows that its budget does not finish come back
as a frontier, which is searched like the frontier of a tree. When the last of these rows is
settled, a second task writes the block. One function reads blocks and another writes answers: this
module knows no files and no kinds of rows.

Work that needs no search is done in one pass over the blocks, or in two; then the output of a row
can depend on all rows before it. A first task looks at a block, the caller decides in the order of
the input, and a second task writes the block. Between the two, only the findings are kept; the
second task reads the block again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Protocol

import numpy as np

from batchsolve.engines import Choice, Engine, Outcome, Task, counter_for
from batchsolve.errors import BatchsolveError, InputError, OutputError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.stacks import Group
from batchsolve.problems.sudoku import Variants
from batchsolve.search.answers import Answers, OpenRows
from batchsolve.search.scheduler import (
    Goal,
    Piece,
    Result,
    Scheduler,
    Sizing,
    nodes_at_once,
    run_round,
)
from batchsolve.settings import UNLIMITED, SearchSettings
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
    """A goal that returns the blocks of an input in their order, each with its output.

    Parameters
    ----------
    decide : callable, optional
        Takes a block and what its first task has found, in the order of the input; returns the
        answers with which a second task writes the block. By default the first writes it.
    """

    enough = False

    def __init__(self, decide: Callable[[Any, Any], Any] | None = None) -> None:
        self._decide = decide
        self._found: dict[int, Result] = {}  # no decision yet
        self._n_decided = 0
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
        """Take the result of a block; return the tasks that follow."""
        if self._decide is None or isinstance(piece, WriteTask):
            self._results[piece.number] = result
            return []
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
            scheduler.take(attempt(work, number, task))
        yield from goal.settled()
        refill()
    while goal.n_open:
        for _ in run_round(scheduler, pool.start(work, scheduler)):
            yield from goal.settled()
            refill()
        yield from goal.settled()
        refill()


def _called(
    read: Callable[[Any], Any], write: Callable[[Any, Any], Any] | None, task: BlockTask
) -> Result:
    """Call `read` with a block, or `write` with a block and what was decided on it."""
    try:
        if isinstance(task, WriteTask):
            assert write is not None
            return Result(write(task.block, task.answers))
        return Result(read(task.block))
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
    return work_in_order(blocks, scheduler, goal, pool, partial(_called, function, None))


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
    goal = BlockGoal(decide)
    scheduler = Scheduler(goal, pool.jobs, UNLIMITED)
    return work_in_order(blocks, scheduler, goal, pool, partial(_called, look, write))


# ---- rows -----------------------------------------------------------------------------------

BESIDE_NODES = 5_000  # of a row whose problem is one of many in its block
FIRST_BLOCK_NODES = 300_000  # before the speed is known; hard blocks of minimal 9×9 grids take half


class Batch(Protocol):
    """The rows of a block."""

    def __len__(self) -> int: ...

    def groups(self) -> Iterable[Group]:
        """Return the stacks of the rows that can be searched, problem by problem."""
        ...


Read = Callable[[Any], Batch]
"""The part of a task that reads a block; it raises `InputError` if that cannot be read."""

Write = Callable[[Any, Any], Any]
"""The part of a task that turns a batch and its answers into the finished output of a block."""


@dataclass(frozen=True, eq=False)
class StackTask:
    """The task of searching stacks of open rows; `problem` is theirs, and `engine` if given."""

    problem: ExactCover
    task: Task
    engine: Engine | None


@dataclass(frozen=True, eq=False)
class RowWork:
    """The work of a worker on tasks of rows."""

    choice: Choice
    settings: SearchSettings
    read: Read
    write: Write
    keep: int = 1

    def __call__(self, task: BlockTask | StackTask) -> Result:
        """Read and search a block, write it, or search stacks of it."""
        if isinstance(task, StackTask):
            engine = task.engine or self.choice.of(task.problem)
            begin = time.perf_counter()
            outcome = engine.search(task.problem, task.task)
            seconds = time.perf_counter() - begin
            return Result(None, int(outcome.nodes.sum()), seconds, outcome)
        try:
            batch = self.read(task.block)
        except InputError as error:
            return Result(error=error)
        if isinstance(task, WriteTask):
            return self._written(batch, task.answers)
        return self._searched(batch, task.number, task.budget)

    def _written(
        self, batch: Batch, answers: Answers, n_nodes: int = 0, seconds: float = 0
    ) -> Result:
        try:
            return Result(self.write(batch, answers), n_nodes, seconds)
        except (InputError, OutputError) as error:
            return Result(error=error)

    def _searched(self, batch: Batch, number: int, budget: int) -> Result:
        settings, n_rows = self.settings, len(batch)
        rows = OpenRows(n_rows, settings, self.keep, self.choice.name)
        left: list[Piece] = []
        n_nodes, seconds = 0, 0.0
        for problem, stacks in self._groups(batch):
            try:
                engine, fallback = self.choice.of(problem), self.choice.fallback_of(problem)
            except InputError as error:
                rows.give_up(stacks, str(error))
                continue
            rows.open(stacks, fallback)
            after = fallback[1] if fallback else UNLIMITED
            keeps_roots = min(after, settings.node_limit or UNLIMITED) < UNLIMITED
            n = len(stacks)
            piece = Piece(stacks, np.ones(n), np.full(n, number), keeps_roots, problem)
            # A problem beside others begins even if one before it took all nodes. So only hard ones
            # are left, few enough for the scheduler to cut them.
            is_beside = n == 1 < n_rows and not engine.capabilities.whole_stacks
            most = min(budget, BESIDE_NODES) if is_beside else budget - n_nodes
            if most <= 0:
                left.append(piece)
                continue
            begin, busy = time.perf_counter(), time.thread_time()
            most = min(most, n * nodes_at_once(problem.n_entries))
            outcome = self._outcome_of(piece, engine, rows, most)
            spent = time.perf_counter() - begin
            n_nodes += int(outcome.nodes.sum())
            seconds += time.thread_time() - busy  # not that of other threads
            left += rows.add(piece, outcome, spent)
        if rows.is_settled:
            return self._written(batch, rows.answers(), n_nodes, seconds)
        return Result(None, n_nodes, seconds, rows=rows, left=left)

    def _outcome_of(self, piece: Piece, engine: Engine, rows: OpenRows, budget: int) -> Outcome:
        """Search the own stacks of rows over one problem."""
        assert piece.problem is not None
        whole = engine.capabilities.whole_stacks
        depth = (None if whole or piece.keeps_roots else self.settings.split_depth) or UNLIMITED
        # with a depth many solved rows would have stacks left
        unordered = depth == UNLIMITED and not piece.keeps_roots
        task = rows.task_of(piece.stacks, budget, whole, depth=depth, unordered=unordered)
        return engine.search(piece.problem, task)

    def _groups(self, batch: Batch) -> Iterator[Group]:
        """Yield the groups of a batch, row by row where rows are not searched side by side."""
        for problem, stacks in batch.groups():
            is_alone = len(stacks) == 1 and not isinstance(problem, Variants)
            if is_alone or not self._are_apart(problem):
                yield problem, stacks
                continue
            for k, row in enumerate(stacks.roots.tolist()):
                one = problem.of_row(row) if isinstance(problem, GridProblem) else problem
                yield one, stacks.between(k, k + 1)

    def _are_apart(self, problem: ExactCover) -> bool:
        """Tell whether the engine takes no rules of rows, or a counter may take over a row."""
        has_own, is_counted = isinstance(problem, Variants), self.keep == 0
        if not has_own and not (is_counted and self.settings.limit is None):
            return False
        with suppress(InputError):  # the error is that of all rows
            if has_own:
                return not self.choice.of(problem).capabilities.sudoku_only
            return bool(counter_for(self.choice.name, problem))
        return False


class RowGoal(BlockGoal):
    """The goal of rows: an answer to each, yielded block by block in the order of the input."""

    def __init__(self, choice: Choice, size: int, counts_at_once: bool = False) -> None:
        super().__init__()
        self._choice, self._size, self._counts_at_once = choice, size, counts_at_once
        self._open: dict[int, OpenRows] = {}

    def begin(self, piece: Any, budget: int, promised: int) -> tuple[Any, Any]:
        """Return the wanted part of a piece, and its task: None if nothing is wanted."""
        if isinstance(piece, WriteTask):
            return piece, piece
        if isinstance(piece, BlockTask):
            return piece, replace(piece, budget=min(piece.budget, self._size * budget))
        number = int(piece.ids[0])
        if number not in self._open:  # its rows were counted without it
            return piece, None
        rows = self._open[number]
        wanted = rows.drop_unwanted(piece)
        if not len(wanted):
            written = self._with_written(number, [])
            return (written[0], written[0]) if written else (wanted, None)
        assert wanted.problem is not None
        if wanted.weighs:
            task = Task.of(wanted.stacks, budget=wanted.weighs)
            return wanted, StackTask(wanted.problem, task, wanted.engine)
        can = (wanted.engine or self._choice).capabilities
        budget = min(budget, nodes_at_once(wanted.problem.n_entries))
        if can.counts_only and self._counts_at_once:
            budget = UNLIMITED
        task = rows.task_of(wanted.stacks, budget, can.whole_stacks, fineness=wanted.fineness)
        return wanted, StackTask(wanted.problem, task, wanted.engine)

    def accept(self, piece: Any, result: Result) -> list[Any]:
        """Take a result; return the pieces and tasks that it leaves."""
        if isinstance(piece, Piece):
            number, outcome = int(piece.ids[0]), result.outcome
            if number not in self._open:
                return []
            rows = self._open[number]
            assert outcome is not None
            left = rows.add(piece, outcome, result.seconds)
            return self._with_written(number, left)
        if result.rows is not None:
            self._open[piece.number] = result.rows
            return self._with_written(piece.number, result.left)
        return super().accept(piece, result)

    def lose(self, piece: Any, reason: str) -> list[Any]:
        """Record rows that cannot be searched; a failed block is first read without a search."""
        if isinstance(piece, Piece):
            number = int(piece.ids[0])
            if number not in self._open:
                return []
            if not self._open[number].is_settled:
                self._open[number].lose(piece, reason)
            return self._with_written(number, [])
        if not isinstance(piece, WriteTask) and piece.budget > 0:
            return [replace(piece, budget=0)]
        return super().lose(piece, reason)

    def _with_written(self, number: int, left: list[Any]) -> list[Any]:
        """Return the pieces left of a block; if there are none, the task that writes it."""
        if left or not self._open[number].is_settled:
            return left
        answers = self._open.pop(number).answers()
        return [WriteTask(number, self._blocks[number], answers=answers)]


def search_rows(
    blocks: Iterable[Any],
    choice: Choice,
    pool: Pool,
    settings: SearchSettings,
    read: Read,
    write: Write,
    size: int = 1,
    waits: Callable[[], bool] = lambda: False,
    keep: int = 1,
) -> Generator[tuple[Any, Any]]:
    """Search blocks; yield each with its output, in order, while workers go on with the next.

    With a node limit or a fallback engine, rows are not split, and all stacks of a row stay in one
    piece, because the place where its search stops must not depend on the workers. Rows are not
    split either if the engine searches whole stacks.

    Parameters
    ----------
    blocks : iterable
    choice : Choice
        A row that has no engine is unfinished.
    pool : Pool
        Entered already.
    settings : SearchSettings
        The engine is ignored. Without a limit, counts are Python integers of any size.
    read, write : callable
        Workers receive and call them.
    size : int
        The size of a block, in usual tasks.
    waits : callable, optional
        Returns True if the next block has not arrived; see `work_in_order`.
    keep : {0, 1}
        First covers of a row to hand back; 0 if rows are only counted.

    Raises
    ------
    InputError, OutputError
        If a block cannot be read or written, after all blocks before it were yielded.
    """
    work = RowWork(choice, settings, read, write, keep)
    # Processes have tables of subtrees of their own, and drop that of a row once they count others.
    # What a task leaves would begin with an empty table in the next process, and perhaps never end.
    goal = RowGoal(choice, size, not pool.workers.in_process and settings.time_limit is None)
    sizing = Sizing.of_pool(pool)
    scheduler = Scheduler(goal, pool.jobs, settings.budget, FIRST_BLOCK_NODES, sizing)
    is_short = not choice.capabilities.whole_stacks
    yield from work_in_order(blocks, scheduler, goal, pool, work, waits, is_short)


def search_block(
    block: Any, choice: Choice, settings: SearchSettings, read: Read, write: Write
) -> Any:
    """Search one block in this thread and return its output, as `search_rows` with one worker.

    A small block is one task, without a pool. A larger one begins again as tasks that can be cut.
    """
    result = RowWork(choice, settings, read, write)(BlockTask(0, block, FIRST_BLOCK_NODES))
    if result.error is not None:
        raise result.error
    if result.rows is None:
        return result.output
    with Pool(jobs=1) as pool:
        [(_, output)] = search_rows([block], choice, pool, settings, read, write)
    return output
