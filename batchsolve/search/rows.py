"""Searching rows that arrive in blocks: workers read, search and write a block; answers keep order.

A block is one task. Rows that its budget does not finish come back as a frontier, which is searched
like that of any tree; when the last of them is settled, the block is one more task, which writes
all of its rows. How a block is read and how its answers are written is for the `Reader` and the
`Writer`: this module knows neither files nor what the rows are.

Stacks of one row may be searched by many workers, in any order. The row's first cover is
nevertheless the first in tree order, because that order can be read off the stacks: engines try
the options of an item in ascending order, so tree order is the lexicographic order of stacks.

A row that has taken many nodes may be *handed over*: what was found is forgotten, and another
engine begins anew with the row's own stack. Until then the row is searched as under a node limit,
in tree order: whether it is handed over depends on nothing but its tree.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from batchsolve.engines import Engine, Outcome, Task
from batchsolve.engines.choice import Handover
from batchsolve.errors import BatchsolveError, InputError, OutputError
from batchsolve.problems.answers import Answers
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.search.in_order import BlockGoal, OneTask, most_ahead, work_in_order
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


class OpenRows:
    """The rows of a block while some of them are searched.

    Parameters
    ----------
    n : int
        Number of rows.
    stacks : Stacks
        A stack for every row that is searched, in order.
    limit, node_limit : int
        Covers wanted of each row, and nodes that its search may visit.
    after : int
        Nodes after which a row is handed over; `UNLIMITED` if none is.
    """

    def __init__(self, n: int, stacks: Stacks, limit: int, node_limit: int, after: int) -> None:
        self._limit, self._node_limit = limit, node_limit
        self._answers = Answers.unknown(n)
        self._own = stacks if after < node_limit else Stacks.empty()  # of rows that may yet go
        self._most_nodes = np.full(n, min(after, node_limit))  # of each row, by its present engine
        self._pending = np.zeros(n, np.int32)  # stacks that are not searched yet
        self._pending[stacks.roots] = 1
        self._shared = np.zeros(n, np.bool_)  # whether a row was searched in several tasks
        self._best: dict[int, npt.NDArray[np.uint32]] = {}  # the first cover of such a row, so far
        self._covers: list[Stacks] = []

    @property
    def is_settled(self) -> bool:
        """Whether no row is open."""
        return not self._pending.any()

    def answers(self) -> Answers:
        """Return the answers, once all rows are settled."""
        covers = list(self._covers)
        if self._best:
            rows = list(self._best)
            covers.append(Stacks.from_lists([self._best[row].tolist() for row in rows], rows))
        self._answers.covers = Stacks.concatenate(covers)
        return self._answers

    def add(self, stacks: Stacks, outcome: Outcome, covers: Stacks, seconds: float) -> None:
        """Take a result into account.

        Parameters
        ----------
        stacks : Stacks
            What was searched.
        outcome : Outcome
        covers : Stacks
            The first cover of each row that was found.
        seconds : float
        """
        answers, rows = self._answers, stacks.roots
        _tally(answers.counts, rows, outcome.counts)
        _tally(answers.nodes, rows, outcome.nodes)
        _tally(answers.seconds, rows, outcome.nodes * (seconds / max(1, outcome.nodes.sum())))
        answers.clash[rows] = outcome.clash
        left = outcome.frontier.roots
        _tally(self._pending, rows, -1)
        if left.size:
            np.add.at(self._pending, left, 1)
            self._shared[left] |= (self._pending[left] > 1) | (answers.nodes[left] > 0)
        alone = ~self._shared[covers.roots]
        if alone.any():
            self._covers.append(covers.take(alone))
        for k in np.flatnonzero(~alone).tolist():
            row, cover = int(covers.roots[k]), covers[k]
            if row not in self._best or cover.tolist() < self._best[row].tolist():
                self._best[row] = cover

    def hand_over(self, left: Piece) -> tuple[Piece, Stacks]:
        """Return what is left of rows that stay, and the own stacks of those handed over now."""
        if not len(self._own):
            return left, Stacks.empty()
        rows = left.stacks.roots
        counts, nodes = self._answers.counts[rows], self._answers.nodes[rows]
        late = (nodes >= self._most_nodes[rows]) & (counts < self._limit)
        is_late = np.zeros(len(self._answers), np.bool_)
        is_late[rows[late]] = True
        goes = is_late[self._own.roots]
        if not goes.any():
            return left, Stacks.empty()
        own = self._own.take(goes)
        self._own = self._own.take(~goes)
        self._forget(own.roots)
        self._pending[own.roots] = 1
        self._most_nodes[own.roots] = self._node_limit
        return left.take(np.isin(rows, own.roots, invert=True)), own

    def _forget(self, rows: npt.NDArray[np.int64]) -> None:
        """Forget what was found of some rows, but not how many nodes that took."""
        self._answers.counts[rows] = 0
        self._shared[rows] = False
        self._covers = [covers.take(~np.isin(covers.roots, rows)) for covers in self._covers]
        for row in rows.tolist():
            self._best.pop(row, None)

    def keep_open_only(self) -> None:
        """Forget the own stacks of rows that are settled."""
        self._own = self._own.take(self._pending[self._own.roots] > 0)

    def lose(self, stacks: Stacks, reason: str) -> None:
        """Note that the search of some rows failed."""
        _tally(self._pending, stacks.roots, -1)
        self._answers.unfinished.update(dict.fromkeys(stacks.roots.tolist(), reason))

    def drop_unwanted(self, piece: Piece) -> Piece:
        """Return the stacks of a piece that an answer still depends on."""
        rows = piece.stacks.roots
        counts, nodes = self._answers.counts[rows], self._answers.nodes[rows]
        doubtful = (counts >= self._limit) | (nodes >= self._most_nodes[rows])
        if self._answers.unfinished:
            doubtful |= np.isin(rows, list(self._answers.unfinished))
        if not doubtful.any():
            return piece
        wanted = ~doubtful
        for k in np.flatnonzero(doubtful).tolist():
            wanted[k] = self._is_wanted(int(rows[k]), piece.stacks[k])
        _tally(self._pending, rows[~wanted], -1)
        return piece.take(wanted)

    def task_of(self, stacks: Stacks, budget: int, whole: bool) -> Task:
        """Return the task that searches stacks which are wanted, perhaps each of them whole."""
        rows = stacks.roots
        limits = np.maximum(self._limit - self._answers.counts[rows], 1)
        allowances = self._most_nodes[rows] - self._answers.nodes[rows]
        any_order = bool((self._most_nodes[rows] == UNLIMITED).all())
        return Task(stacks, limits, allowances, budget, keep=1, any_order=any_order, whole=whole)

    def _is_wanted(self, row: int, stack: npt.NDArray[np.uint32]) -> bool:
        answers = self._answers
        if row in answers.unfinished:
            return False
        if answers.counts[row] >= self._limit:  # a cover before the first is all that matters
            return stack.tolist() < self._best[row].tolist()
        answers.unfinished[row] = None
        return False


def _tally(sums: npt.NDArray[Any], rows: npt.NDArray[np.int64], values: Any) -> None:
    """Add values to the sums of their rows, which ascend."""
    if (np.diff(rows) > 0).all():
        sums[rows] += values  # ten times as fast as where a row is there twice
    else:
        np.add.at(sums, rows, values)


@dataclass(frozen=True, eq=False)
class ReadTask:
    """A block to be read and searched; with a budget of 0 nodes it is only read."""

    block: Any
    budget: int


@dataclass(frozen=True, eq=False)
class LateTask:
    """A row that is handed over, to be searched by the other engine."""

    engine: Engine
    task: Task


@dataclass(frozen=True, eq=False)
class WriteTask:
    """A block whose rows are settled, to be written."""

    block: Any
    answers: Answers


@dataclass(frozen=True, eq=False)
class BlockResult:
    """What a worker made of a block.

    Attributes
    ----------
    output : object
        The finished output; None if some rows are open.
    rows : OpenRows or None
        The rows, if some are open.
    left, weights : Stacks, ndarray of float64
        Their frontier.
    late : Stacks
        The own stacks of rows that are handed over.
    n_nodes, seconds : int, float
        Nodes visited, and how long that took.
    error : InputError or OutputError or None
        Why the block cannot be read or written.
    """

    output: Any = None
    rows: OpenRows | None = None
    left: Stacks = field(default_factory=Stacks.empty)
    weights: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    late: Stacks = field(default_factory=Stacks.empty)
    n_nodes: int = 0
    seconds: float = 0.0
    error: InputError | OutputError | None = None


@dataclass(frozen=True, eq=False)
class RowWork:
    """What a worker does with a task of rows."""

    engine: Engine
    problem: ExactCover
    reader: Reader
    writer: Writer
    limit: int
    node_limit: int
    after: int
    depth: int

    def do(self, task: ReadTask | WriteTask | LateTask | Task) -> BlockResult | Found:
        """Read and search a block, search stacks of it, or write it."""
        if isinstance(task, ReadTask):
            return self._read(task)
        if isinstance(task, WriteTask):
            return self._write(task)
        begin = time.perf_counter()
        if isinstance(task, LateTask):
            outcome = task.engine.search(self.problem, task.task)
        else:
            outcome = self.engine.search(self.problem, task)
        seconds = time.perf_counter() - begin
        return Found(outcome, outcome.solutions, seconds, int(outcome.counts.sum()))

    def halves(self, task: Any) -> list[tuple[int, int, Task]]:
        """Cut a task of stacks in two, between two rows; a block is one piece."""
        if not isinstance(task, Task):
            return []
        firsts = np.flatnonzero(np.diff(task.stacks.roots)) + 1
        return halves_at(task, int(firsts[firsts.size // 2])) if firsts.size else []

    def _write(self, task: WriteTask) -> BlockResult:
        try:
            batch = self.reader.read(task.block)
            return BlockResult(self.writer.write(batch, task.answers))
        except (InputError, OutputError) as error:
            return BlockResult(error=error)

    def _read(self, task: ReadTask) -> BlockResult:
        try:
            batch = self.reader.read(task.block)
        except InputError as error:
            return BlockResult(error=error)
        stacks = batch.stacks(self.problem)
        rows = OpenRows(len(batch), stacks, self.limit, self.node_limit, self.after)
        left, late = Piece.whole(stacks), Stacks.empty()
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
            rows.add(stacks, outcome, outcome.solutions, seconds)
            n_nodes = int(outcome.nodes.sum())
            left = Piece(outcome.frontier, outcome.weights, outcome.parents)
            left, late = rows.hand_over(left)
            left = rows.drop_unwanted(left)
            rows.keep_open_only()
        if rows.is_settled:
            try:
                output = self.writer.write(batch, rows.answers())
            except OutputError as error:
                return BlockResult(error=error)
            return BlockResult(output, n_nodes=n_nodes, seconds=seconds)
        return BlockResult(None, rows, left.stacks, left.weights, late, n_nodes, seconds)


@dataclass(frozen=True, eq=False)
class _Unread(OneTask):
    """A block that waits to be read."""

    number: int
    block: Any
    is_searched: bool = True  # in the same task; not after that has failed


@dataclass(frozen=True, eq=False)
class _Unwritten(OneTask):
    """A block whose rows are settled, and that waits to be written."""

    number: int


@dataclass(frozen=True, eq=False)
class _Late:
    """Rows of a block that are handed over, and wait to be searched, each in a task of its own."""

    number: int
    stacks: Stacks
    is_fresh = True

    def cut(self, n_pieces: int, most_stacks: int) -> list[_Late]:
        each = range(len(self.stacks))
        return [_Late(self.number, self.stacks.between(k, k + 1)) for k in each]


class RowGoal(BlockGoal):
    """The goal of rows: an answer to each, handed back block by block in the order of the input."""

    def __init__(
        self, keeps_roots: bool, whole: bool, late_engine: Engine | None, size: int
    ) -> None:
        super().__init__()
        self._keeps_roots, self._whole, self._late_engine = keeps_roots, whole, late_engine
        self._size = size
        self._open: dict[int, OpenRows] = {}

    def _fresh(self, number: int, block: Any) -> _Unread:
        return _Unread(number, block)

    def begin(self, piece: Any, budget: int, promised: int) -> tuple[Any, Any]:
        """Return what is still wanted of a piece, and its task; None for the task if nothing is."""
        if isinstance(piece, _Unread):
            budget = min(UNLIMITED, self._size * budget) if piece.is_searched else 0
            return piece, ReadTask(piece.block, budget)
        if isinstance(piece, _Unwritten):
            rows = self._open[piece.number]
            return piece, WriteTask(self._blocks[piece.number], rows.answers())
        if isinstance(piece, _Late):
            task = self._open[piece.number].task_of(piece.stacks, budget, whole=True)
            assert self._late_engine is not None
            return piece, LateTask(self._late_engine, task)
        number = int(piece.ids[0])
        rows = self._open[number]
        wanted = rows.drop_unwanted(piece)
        if len(wanted):
            return wanted, rows.task_of(wanted.stacks, budget, self._whole)
        if rows.is_settled:
            return self.begin(_Unwritten(number), budget, promised)
        return wanted, None

    def accept(self, piece: Any, result: BlockResult | Found) -> list[Any]:
        """Take what was found; return what is left to be done."""
        if isinstance(result, Found):
            number = piece.number if isinstance(piece, _Late) else int(piece.ids[0])
            rows, outcome = self._open[number], result.outcome
            rows.add(piece.stacks, outcome, result.output, result.seconds)
            weights = outcome.weights
            if isinstance(piece, Piece):
                weights = piece.weights[outcome.parents] * weights
            left = Piece(outcome.frontier, weights, np.full(weights.size, number))
            left, late = rows.hand_over(left)
            return self._left(number, left.stacks, left.weights, late)
        if result.rows is None:
            self._made[piece.number] = result
            self._open.pop(piece.number, None)
            return []
        self._open[piece.number] = result.rows
        return self._left(piece.number, result.left, result.weights, result.late)

    def lose(self, piece: Any, reason: str) -> list[Any]:
        """Note that rows cannot be searched; a block that failed is read without a search first."""
        if isinstance(piece, Piece | _Late):
            number = piece.number if isinstance(piece, _Late) else int(piece.ids[0])
            self._open[number].lose(piece.stacks, reason)
            return self._left(number, Stacks.empty(), np.empty(0), Stacks.empty())
        if isinstance(piece, _Unread) and piece.is_searched:
            return [_Unread(piece.number, piece.block, is_searched=False)]
        raise BatchsolveError(f"a block of rows cannot be read or written: {reason}")

    def _left(
        self, number: int, stacks: Stacks, weights: npt.NDArray[np.float64], late: Stacks
    ) -> list[Any]:
        """Return what is left of a block: stacks, or the block itself to be written."""
        left: list[Any] = [_Late(number, late)] if len(late) else []
        if len(stacks):
            ids = np.full(len(stacks), number)
            left.append(Piece(stacks, weights, ids, self._keeps_roots))
        return left or ([_Unwritten(number)] if self._open[number].is_settled else [])


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
        self._work = RowWork(engine, problem, reader, writer, limit, node_limit, after, depth)
        self._pool = pool
        self._goal = RowGoal(keeps_roots, whole, handover.engine if handover else None, size)
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
