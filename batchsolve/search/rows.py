"""The search of rows that arrive in blocks: workers read, search and write; answers keep order.

A block is one task. Rows that its budget does not finish come back as a frontier, which is searched
like the frontier of a tree. When the last of these rows is settled, a second task writes the block.
One function reads blocks and another writes answers: this module knows no files and no kinds of
rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from batchsolve.engines import FINENESS, Engine, Outcome, Task
from batchsolve.engines.choice import Choice
from batchsolve.errors import InputError, OutputError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Group, Stacks
from batchsolve.problems.variant import Variants
from batchsolve.search import tree
from batchsolve.search.answers import Answers, OpenRows
from batchsolve.search.in_order import BlockGoal, BlockTask, WriteTask, work_in_order
from batchsolve.search.scheduler import Piece, Result, Scheduler, Sizing, nodes_at_once
from batchsolve.settings import UNLIMITED, SearchSettings
from batchsolve.workers import Pool

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
    """The task of searching stacks of open rows; `problem` is theirs, and `engine` if given.

    A `counter` with a task of its own is weighed first. If it gains enough, it takes over its row.
    Without a task, it is only weighed.
    """

    problem: ExactCover
    task: Task | None
    engine: Engine | None = None
    counter: tuple[Engine, Task] | None = None


@dataclass(frozen=True, eq=False)
class RowWork:
    """The work of a worker on tasks of rows."""

    choice: Choice
    settings: SearchSettings
    read: Read
    write: Write
    keep: int = 1
    in_process: bool = True

    def do(self, task: BlockTask | StackTask) -> Result:
        """Read and search a block, write it, or search stacks of it."""
        if isinstance(task, StackTask):
            if task.counter is not None:
                counter, top = task.counter
                if tree.gain_of(counter.search(task.problem, top)) >= tree.LEAST_GAIN:
                    return Result(recounted=int(top.stacks.roots[0]))
            if task.task is None:
                return Result()
            engine = task.engine or self.choice.of(task.problem)
            begin = time.perf_counter()
            if engine.capabilities.counts_only and not self.in_process:
                most = self.settings.time_limit or float("inf")
                outcome = counted_at_once(engine, task.problem, task.task, most)
            else:
                outcome = search_each(engine, task.problem, task.task)
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
        settings = self.settings
        rows = OpenRows(len(batch), settings, self.keep)
        left: list[Piece] = []
        n_nodes, seconds = 0, 0.0
        for problem, stacks in batch.groups():
            try:
                engine, fallback = self.choice.of(problem), self.choice.fallback_of(problem)
            except InputError as error:
                rows.give_up(stacks, str(error))
                continue
            rows.open(problem, stacks, fallback)
            after = fallback[1] if fallback else UNLIMITED
            keeps_roots = min(after, settings.node_limit or UNLIMITED) < UNLIMITED
            n = len(stacks)
            piece = Piece(stacks, np.ones(n), np.full(n, number), keeps_roots, problem)
            # A problem beside others begins even if one before it took all nodes. So only hard ones
            # are left, few enough for the scheduler to cut them.
            is_beside = n == 1 < len(batch) and not engine.capabilities.whole_stacks
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
        if rows.is_settled and not rows.outgrown():
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
        return search_each(engine, piece.problem, task)


class RowGoal(BlockGoal):
    """The goal of rows: an answer to each, yielded block by block in the order of the input."""

    def __init__(self, choice: Choice, size: int) -> None:
        super().__init__()
        self._choice, self._size = choice, size
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
        if len(wanted):
            assert wanted.problem is not None
            if rows.is_settled:
                counter = rows.counter_to_weigh(wanted, self._choice.name)
                return wanted, StackTask(wanted.problem, None, None, counter)
            budget = min(budget, nodes_at_once(wanted.problem.n_entries))
            whole = (wanted.engine or self._choice).capabilities.whole_stacks
            task = rows.task_of(wanted.stacks, budget, whole, fineness=wanted.fineness)
            counter = rows.counter_to_weigh(wanted, self._choice.name)
            return wanted, StackTask(wanted.problem, task, wanted.engine, counter)
        written = self._with_written(number, [])
        if written and isinstance(written[0], Piece):
            return self.begin(written[0], budget, promised)
        return (written[0], written[0]) if written else (wanted, None)

    def accept(self, piece: Any, result: Result) -> list[Any]:
        """Take a result; return the pieces and tasks that it leaves."""
        if isinstance(piece, Piece):
            number = int(piece.ids[0])
            if number not in self._open:
                return []
            rows = self._open[number]
            if result.outcome is None:
                if result.recounted < 0:
                    return self._with_written(number, [])
                return rows.recount(result.recounted, piece, self._choice.name)
            return self._with_written(number, rows.add(piece, result.outcome, result.seconds))
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
        if (late := self._open[number].late_weighing(number, self._choice.name)) is not None:
            return [late]
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
    work = RowWork(choice, settings, read, write, keep, pool.in_process)
    goal = RowGoal(choice, size)
    sizing = Sizing.of_pool(pool)
    scheduler = Scheduler(goal, pool.jobs, settings.budget, FIRST_BLOCK_NODES, sizing)
    yield from work_in_order(blocks, scheduler, goal, pool, work, waits)


def search_block(
    block: Any, choice: Choice, settings: SearchSettings, read: Read, write: Write
) -> Any:
    """Search one block in this thread and return its output, as `search_rows` with one worker.

    A small block is one task, without a pool. A larger one begins again as tasks that can be cut.
    """
    result = RowWork(choice, settings, read, write).do(BlockTask(0, block, FIRST_BLOCK_NODES))
    if result.error is not None:
        raise result.error
    if result.rows is None:
        return result.output
    with Pool(jobs=1) as pool:
        [(_, output)] = search_rows([block], choice, pool, settings, read, write)
    return output


def search_each(engine: Engine, problem: ExactCover, task: Task) -> Outcome:
    """Search a task; one row after another if their regions differ and the engine takes none."""
    if not isinstance(problem, Variants) or engine.capabilities.rules:
        return engine.search(problem, task)
    stacks, left = task.stacks, task.budget
    outcomes = []
    begins = np.flatnonzero(np.diff(stacks.roots, prepend=-1)).tolist()
    for begin, end in pairwise([*begins, len(stacks)]):
        some = np.arange(begin, end)
        part = replace(
            task,
            stacks=stacks.take(some),
            limits=task.limits[some],
            allowances=task.allowances[some],
            fineness=np.broadcast_to(task.fineness, len(stacks))[some],
            budget=left,
        )
        outcome = engine.search(problem.of_row(int(stacks.roots[begin])), part)
        outcomes.append(replace(outcome, parents=outcome.parents + begin))
        left = max(0, left - int(outcome.nodes.sum()))
    return _joined(outcomes)


def counted_at_once(engine: Engine, problem: ExactCover, task: Task, seconds: float) -> Outcome:
    """Count below the stacks of a task to the end, with an engine that keeps a table of subtrees.

    Processes have tables of their own, and drop that of a row once they count others. What a task
    leaves would begin with an empty table in the next process, and perhaps never end.

    Parameters
    ----------
    seconds : float
        The search stops when a task of the usual size ends after this time.
    """
    end = time.monotonic() + seconds
    outcome = search_each(engine, problem, task)
    counts = outcome.counts.astype(object)
    task = replace(task, fineness=FINENESS)
    while len(left := outcome.frontier) and time.monotonic() < end:
        parents, weights = outcome.parents, outcome.weights
        most = np.full(len(left), UNLIMITED)
        rest = replace(task, stacks=left, limits=most, allowances=most)
        more = search_each(engine, problem, rest)
        np.add.at(counts, parents, more.counts.astype(object))
        np.add.at(outcome.nodes, parents, more.nodes)
        outcome = replace(
            outcome,
            frontier=more.frontier,
            parents=parents[more.parents],
            weights=weights[more.parents] * more.weights,
        )
    return replace(outcome, counts=counts)


def _joined(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of a task from those of its parts; their parents are the task's."""

    def arrays(name: str) -> npt.NDArray[Any]:
        return np.concatenate([getattr(outcome, name) for outcome in outcomes])

    return Outcome(
        arrays("counts"),
        arrays("nodes"),
        arrays("clash"),
        Stacks.concatenate([outcome.solutions for outcome in outcomes]),
        Stacks.concatenate([outcome.frontier for outcome in outcomes]),
        arrays("weights"),
        arrays("parents"),
    )
