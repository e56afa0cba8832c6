"""Searching rows that arrive in blocks: workers read, search and write a block; answers keep order.

A block is one task. Rows that its budget does not finish come back as a frontier, which is searched
like that of any tree; when the last of them is settled, the block is one more task, which writes
all of its rows. How a block is read and how its answers are written is for the `Reader` and the
`Writer`: this module knows neither files nor what the rows are.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from batchsolve.engines import Engine, Task
from batchsolve.engines.choice import Handover
from batchsolve.errors import InputError, OutputError
from batchsolve.problems.answers import Answers
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.search.in_order import BlockGoal, BlockTask, Made, most_ahead, work_in_order
from batchsolve.search.open_rows import LatePiece, OpenRows
from batchsolve.search.pieces import Piece
from batchsolve.search.scheduler import Scheduler
from batchsolve.search.tree import Found, halves_at
from batchsolve.settings import UNLIMITED, SearchSettings
from batchsolve.workers.pool import Pool


class Batch(Protocol):
    """The rows of a block."""

    def __len__(self) -> int: ...

    def stacks(self, problem: Any) -> Stacks:
        """Return the stacks of the rows that can be searched; roots are rows."""
        ...


class Reader(Protocol):
    """How workers read a block."""

    def read(self, block: Any) -> Batch:
        """Return the rows of a block; raises `InputError` if it cannot be read."""
        ...


class Writer(Protocol):
    """How workers write the answers to a block."""

    def write(self, batch: Any, answers: Answers) -> Any:
        """Return the finished output of a block."""
        ...


@dataclass(frozen=True, eq=False)
class ReadTask(BlockTask):
    """A block that is to be read and searched; with a budget of 0 nodes it is only read."""

    budget: int = UNLIMITED


@dataclass(frozen=True, eq=False)
class WriteTask(BlockTask):
    """A block whose rows are settled, and that is to be written."""

    answers: Answers


@dataclass(frozen=True, eq=False)
class LateTask:
    """A row that is handed over, to be searched by the other engine."""

    task: Task


@dataclass(frozen=True, eq=False)
class BlockResult(Made):
    """What a worker made of a block of which perhaps some rows are open: those, and their stacks.

    Such a block has no output yet.
    """

    rows: OpenRows | None = None
    left: list[Piece] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class RowWork:
    """What a worker does with a task of rows."""

    engine: Engine
    late_engine: Engine | None
    problem: ExactCover
    reader: Reader
    writer: Writer
    limit: int
    node_limit: int
    after: int
    depth: int
    keeps_roots: bool

    def do(self, task: ReadTask | WriteTask | LateTask | Task) -> Made | Found:
        """Read and search a block, write it, or search stacks of it."""
        if isinstance(task, ReadTask | WriteTask):
            try:
                return self._read(task) if isinstance(task, ReadTask) else self._write(task)
            except (InputError, OutputError) as error:
                return Made(error=error)
        engine = self.engine
        if isinstance(task, LateTask):
            assert self.late_engine is not None
            engine, task = self.late_engine, task.task
        begin = time.perf_counter()
        outcome = engine.search(self.problem, task)
        seconds = time.perf_counter() - begin
        return Found(outcome, None, seconds, int(outcome.counts.sum()))

    def halves(self, task: Any) -> list[tuple[int, int, Task]]:
        """Cut a task of stacks in two, between two rows; a block is one piece."""
        if not isinstance(task, Task):
            return []
        firsts = np.flatnonzero(np.diff(task.stacks.roots)) + 1
        return halves_at(task, int(firsts[firsts.size // 2])) if firsts.size else []

    def _write(self, task: WriteTask) -> Made:
        return Made(self.writer.write(self.reader.read(task.block), task.answers))

    def _read(self, task: ReadTask) -> BlockResult:
        batch = self.reader.read(task.block)
        stacks = batch.stacks(self.problem)
        rows = OpenRows(len(batch), stacks, self.limit, self.node_limit, self.after)
        n = len(stacks)
        piece = Piece(stacks, np.ones(n), np.full(n, task.number), self.keeps_roots)
        left = [piece]
        n_nodes, seconds = 0, 0.0
        if task.budget > 0:
            begin = time.perf_counter()
            whole = self.engine.capabilities.whole_stacks
            # a row that its own stack solves has one cover, and no other to be compared with
            search = replace(
                rows.task_of(stacks, task.budget, whole), depth=self.depth, unordered_levels=1
            )
            outcome = self.engine.search(self.problem, search)
            seconds = time.perf_counter() - begin
            n_nodes = int(outcome.nodes.sum())
            left = rows.add(piece, outcome, seconds)
        if rows.is_settled:
            output = self.writer.write(batch, rows.answers())
            return BlockResult(output, n_nodes=n_nodes, seconds=seconds)
        return BlockResult(n_nodes=n_nodes, seconds=seconds, rows=rows, left=left)


class RowGoal(BlockGoal):
    """The goal of rows: an answer to each, handed back block by block in the order of the input."""

    first_task = ReadTask

    def __init__(self, whole: bool, size: int) -> None:
        super().__init__()
        self._whole, self._size = whole, size
        self._open: dict[int, OpenRows] = {}

    def begin(self, piece: Any, budget: int, promised: int) -> tuple[Any, Any]:
        """Return what is still wanted of a piece, and its task; None for the task if nothing is."""
        if isinstance(piece, ReadTask):
            return piece, replace(piece, budget=min(piece.budget, self._size * budget))
        if isinstance(piece, WriteTask):
            return piece, piece
        number = int(piece.ids[0])
        rows = self._open[number]
        if isinstance(piece, LatePiece):
            return piece, LateTask(rows.task_of(piece.stacks, budget, whole=True))
        wanted = rows.drop_unwanted(piece)
        if len(wanted):
            return wanted, rows.task_of(wanted.stacks, budget, self._whole)
        written = self._with_written(number, [])
        return (written[0], written[0]) if written else (wanted, None)

    def accept(self, piece: Any, result: Made | Found) -> list[Any]:
        """Take what was found; return what is left to be done."""
        if isinstance(result, Found):
            number = int(piece.ids[0])
            left = self._open[number].add(piece, result.outcome, result.seconds)
            return self._with_written(number, left)
        if isinstance(result, BlockResult) and result.rows is not None:
            self._open[piece.number] = result.rows
            return result.left
        self._made[piece.number] = result
        return []

    def lose(self, piece: Any, reason: str) -> list[Any]:
        """Note that rows cannot be searched; a block that failed is read without a search first."""
        if isinstance(piece, Piece):
            number = int(piece.ids[0])
            self._open[number].lose(piece.stacks, reason)
            return self._with_written(number, [])
        if isinstance(piece, ReadTask) and piece.budget > 0:
            return [replace(piece, budget=0)]
        return super().lose(piece, reason)

    def _with_written(self, number: int, left: list[Any]) -> list[Any]:
        """Return what is left of a block; if that is nothing, the block itself, to be written."""
        if left or not self._open[number].is_settled:
            return left
        answers = self._open.pop(number).answers()
        return [WriteTask(number, self._blocks[number], answers)]


class RowSearch:
    """A search of rows.

    Parameters
    ----------
    problem : ExactCover
    engine : Engine
    pool : Pool
        Entered already.
    settings : SearchSettings
        Its limit is given; its engine is not looked at.
    reader : Reader
    writer : Writer
    handover : Handover, optional
        What becomes of rows that take many nodes; by default they stay with the engine.
    size : int
        How many times as much as a usual task a block holds.

    Attributes
    ----------
    most_ahead : int
        How many blocks may be read before the first of them is handed back.

    Notes
    -----
    Under a node limit, or where rows may be handed over, rows are not split, and all stacks of a
    row stay in one piece: where its search stops must not depend on who searches what. Nor are they
    if the engine searches stacks whole.
    """

    def __init__(
        self,
        problem: ExactCover,
        engine: Engine,
        pool: Pool,
        settings: SearchSettings,
        reader: Reader,
        writer: Writer,
        handover: Handover | None = None,
        size: int = 1,
    ) -> None:
        limit = settings.limit or UNLIMITED
        node_limit = settings.node_limit or UNLIMITED
        if handover is not None and handover.after >= node_limit:
            handover = None
        whole = engine.capabilities.whole_stacks
        keeps_roots = settings.node_limit is not None or handover is not None
        depth = (None if whole or keeps_roots else settings.split_depth) or UNLIMITED
        after = handover.after if handover else UNLIMITED
        self._work = RowWork(
            engine,
            handover.engine if handover else None,
            problem,
            reader,
            writer,
            limit,
            node_limit,
            after,
            depth,
            keeps_roots,
        )
        self._pool = pool
        self._goal = RowGoal(whole, size)
        self._scheduler = Scheduler(self._goal, pool.jobs, settings.budget)
        self.most_ahead = most_ahead(pool.jobs)

    def run(self, blocks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Search blocks; yield each with its output, in order, while the next are worked on.

        Raises
        ------
        InputError, OutputError
            If a block cannot be read or written, after all blocks before it were yielded.
        """
        yield from work_in_order(blocks, self._scheduler, self._goal, self._pool, self._work)
