"""The rows of blocks: their search, the answers so far, and the rows that remain open.

Workers read, search and write. A block is one task. Rows that its budget does not finish come back
as a frontier, which is searched like the frontier of a tree. When the last of these rows is
settled, a second task writes the block. One function reads blocks and another writes answers: this
module knows no files and no kinds of rows.

Many workers may search stacks of one row, in any order. The row's first cover is still the first in
tree order, because stacks show that order: engines try the options of an item in ascending order,
so tree order is the lexicographic order of stacks.

A row that has taken many nodes may move to the *fallback engine*: its results are dropped, and that
engine starts again from the row's own stack. Until then the row is searched in tree order, as under
a node limit, so only its tree decides whether it moves.

A row that is only counted may also move to the engine that counts equal subtrees once, as the
search of one problem does (`batchsolve.search.tree`). Results of tasks that were out are dropped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Bools, Bytes, Floats, Ints
from batchsolve.engines import UNLIMITED, Choice, Engine, Outcome, Task, counter_for, get_engine
from batchsolve.errors import InputError, OutputError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem, SolvedGrids
from batchsolve.problems.stacks import Group, Stacks
from batchsolve.problems.sudoku import Variants
from batchsolve.search import tree
from batchsolve.search.scheduler import BlockGoal, BlockTask, Piece, Result, Scheduler, Sizing
from batchsolve.settings import SearchSettings
from batchsolve.workers import Pool


class Status(IntEnum):
    """The result of the search for a puzzle."""

    UNIQUE = 0
    MULTIPLE = 1
    SOLVED = 2
    UNSOLVABLE = 3
    UNFINISHED = 4
    INVALID = 5


STATUS_NAMES = np.array([status.name.lower() for status in Status])
_OF_FEW = np.array([Status.UNSOLVABLE, Status.UNIQUE, Status.MULTIPLE], np.uint8)


def rows_of_each(status: Bytes) -> dict[str, int]:
    """Return the number of rows of each `Status`, by its name."""
    numbers = np.bincount(status, minlength=len(Status)).tolist()
    return dict(zip(STATUS_NAMES.tolist(), numbers, strict=True))


@dataclass(eq=False)
class Answers:
    """The answers to n consecutive rows.

    Attributes
    ----------
    counts : ndarray of int64 or of Python integers, shape (n,)
        Covers found, at most the limit when the search has ended; Python integers without a limit.
    nodes : ndarray of int64, shape (n,)
        Nodes visited.
    seconds : ndarray of float64, shape (n,)
        The row's share of the time of its tasks, in proportion to nodes.
    clash : ndarray of int32, shape (n,)
        -1, or the place in the row's stack of a clue that clashes with an earlier one.
    first_covers : list of Stacks
        The first cover, in tree order, of every row that has one; any cover if the row was searched
        whole. Roots are rows.
    unfinished : dict of int to (str or None)
        Rows whose search failed, with the reason; None for rows that met their node limit.
    counters : dict of int to str
        Rows whose count began again with another engine, and the name of that engine.
    """

    counts: Ints | npt.NDArray[np.object_]
    nodes: Ints
    seconds: Floats
    clash: npt.NDArray[np.int32]
    first_covers: list[Stacks] = field(default_factory=list)
    unfinished: dict[int, str | None] = field(default_factory=dict)
    counters: dict[int, str] = field(default_factory=dict)

    @classmethod
    def unknown(cls, n: int) -> Answers:
        """Return the answers to n rows before their search."""
        return cls(np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n), np.full(n, -1, "i4"))

    def __len__(self) -> int:
        return self.counts.size

    @property
    def covers(self) -> Stacks:
        """The covers of all rows, in ascending order of their rows."""
        covers = Stacks.concatenate([part for part in self.first_covers if len(part)])
        return covers.take(np.argsort(covers.roots))

    def grids(
        self, problem: GridProblem, holds: Callable[[Ints], Bools] | None = None
    ) -> tuple[Bytes, Ints]:
        """Return the solved grids of all rows, or of those where `holds` is true, and these rows.

        Rows are in ascending order; their grids have the cells and digits of `problem`.
        """
        parts = self.first_covers
        if holds is not None:
            parts = [covers.take(holds(covers.roots)) for covers in parts]
        kept = [covers for covers in parts if len(covers)] or [Stacks.empty()]
        grids, rows = problem.digits_of(kept[0]), kept[0].roots
        if len(kept) > 1:
            grids = np.concatenate([problem.digits_of(covers) for covers in kept])
            rows = np.concatenate([covers.roots for covers in kept])
        if (rows[1:] > rows[:-1]).all():
            return grids, rows
        order = np.argsort(rows)
        return grids[order], rows[order]

    def status(self, limit: int) -> Bytes:
        """Return the `Status` of every row of a search for `limit` solutions."""
        status = _OF_FEW[np.minimum(self.counts, 2).astype(np.int64)]
        status[self.counts >= limit] = Status.SOLVED if limit == 1 else Status.MULTIPLE
        status[self.clash >= 0] = Status.INVALID
        for row in self.unfinished:
            if self.counts[row] < limit:
                status[row] = Status.UNFINISHED
        return status


class OpenRows:
    """The rows of a block during the search.

    Parameters
    ----------
    n : int
        Number of rows.
    settings : SearchSettings
    keep : {0, 1}
        First covers of a row to keep.
    engine : str
        The name of the engine that was chosen for all rows.
    """

    def __init__(self, n: int, settings: SearchSettings, keep: int = 1, engine: str = "") -> None:
        self._limit = settings.limit or UNLIMITED  # covers wanted of each row
        self._keep, self._engine = keep, engine
        self._time_limit = settings.time_limit
        self._node_limit = settings.node_limit or UNLIMITED
        self._answers = Answers.unknown(n)
        # counts of any size, which nothing but the answers needs; None if there is a limit
        self._exact = np.zeros(n, np.object_) if settings.limit is None else None
        self._fallback: Engine | None = None
        self._may_move = np.zeros(n, np.bool_)  # to the fallback engine
        self._is_counted = keep == 0 and settings.limit is None and settings.node_limit is None
        self._starts: list[Stacks] = []  # own stacks of all rows that may move
        self._n_weighed: dict[int, int] = {}  # row -> how often a counter was weighed
        self._on_scales: set[int] = set()  # rows whose counter is weighed now
        self._most_nodes = np.full(n, self._node_limit)  # of each row, by its current engine
        self._pending = np.zeros(n, np.int64)  # stacks not searched yet, and weighings
        self._shared = np.zeros(n, np.bool_)  # True if several tasks searched the row
        # the first cover of a shared row, and the grid if that is cell by cell
        self._best: dict[int, tuple[list[int], GridProblem | None]] = {}

    def open(self, stacks: Stacks, fallback: tuple[Engine, int] | None = None) -> None:
        """Open rows over one problem, by a stack for each, in order.

        They may have a fallback engine, which takes over after a number of nodes.
        """
        self._pending[stacks.roots] = 1
        has_fallback = fallback is not None and fallback[1] < self._node_limit
        if has_fallback or self._is_counted:
            self._starts.append(stacks)
        if fallback is not None and has_fallback:
            self._fallback, self._most_nodes[stacks.roots] = fallback
            self._may_move[stacks.roots] = True

    def give_up(self, stacks: Stacks, reason: str) -> None:
        """Record that some rows cannot be searched."""
        self._answers.unfinished.update(dict.fromkeys(stacks.roots.tolist(), reason))

    @property
    def is_settled(self) -> bool:
        """True if no row is open."""
        return not self._pending.any()

    def answers(self) -> Answers:
        """Return the answers, once all rows are settled."""
        if self._best:
            covers = [options for options, _ in self._best.values()]
            self._answers.first_covers.append(Stacks.from_lists(covers, list(self._best)))
        if self._exact is not None:
            self._answers.counts = self._exact
        return self._answers

    def add(self, piece: Piece, outcome: Outcome, seconds: float) -> list[Piece]:
        """Add the outcome of a piece to the answers; return the pieces that remain."""
        if piece.weighs:
            return self._after_weighing(piece, outcome)
        if self._is_stale(piece):
            return []
        answers, rows, covers = self._answers, piece.stacks.roots, outcome.solutions
        self._add_up(rows, outcome, seconds)
        if self._time_limit is not None:  # a row that has had its time visits no more nodes
            late = rows[answers.seconds[rows] >= self._time_limit]
            self._most_nodes[late] = answers.nodes[late]
        is_shared = self._shared[covers.roots]
        if is_shared.any():
            self._keep_first(covers.take(is_shared))
            covers = covers.take(~is_shared)
        if len(covers):
            answers.first_covers.append(covers)
        if not len(outcome.frontier) and not self._is_counted:
            return []
        ids, weights = piece.ids[outcome.parents], piece.weights[outcome.parents] * outcome.weights
        remaining = replace(piece, stacks=outcome.frontier, weights=weights, ids=ids)
        moved: list[Piece] = []
        if self._fallback is not None and len(remaining):
            remaining, moved = self._hand_over(remaining)
        pieces = [*self._weighed_now(piece), self.drop_unwanted(remaining), *moved]
        return [part for part in pieces if len(part)]

    def _add_up(self, rows: Ints, outcome: Outcome, seconds: float) -> None:
        """Add the results of some stacks to the sums of their rows; update which rows are open.

        A row becomes shared when some of its stacks are left and others are not.
        """
        answers, pending, open_rows = self._answers, self._pending, outcome.frontier.roots
        counts = answers.counts if self._exact is None else self._exact
        np.add.at(counts, rows, outcome.counts.astype(counts.dtype, copy=False))
        np.add.at(answers.nodes, rows, outcome.nodes)
        seconds_of_a_node = seconds / max(1, int(outcome.nodes.sum()))
        np.add.at(answers.seconds, rows, outcome.nodes * seconds_of_a_node)
        answers.clash[rows] = outcome.clash
        np.subtract.at(pending, rows, 1)
        if open_rows.size:
            np.add.at(pending, open_rows, 1)
            self._shared[open_rows] |= (pending[open_rows] > 1) | (answers.nodes[open_rows] > 0)

    def _keep_first(self, covers: Stacks) -> None:
        """Keep the covers of shared rows that come before those known so far."""
        problem = covers.problem if isinstance(covers, SolvedGrids) else None
        for row, cover in zip(covers.roots.tolist(), covers, strict=True):
            options = cover.tolist()
            if row not in self._best or comes_before(options, *self._best[row]):
                self._best[row] = options, problem

    def _hand_over(self, piece: Piece) -> tuple[Piece, list[Piece]]:
        """Move rows that took many nodes; return the stacks of the others, and what moved."""
        rows = piece.stacks.roots
        is_late = self._may_move[rows] & (self._answers.nodes[rows] >= self._most_nodes[rows])
        is_late &= self._answers.counts[rows] < self._limit
        if not is_late.any():
            return piece, []
        movers = np.unique(rows[is_late])
        self._may_move[movers] = False
        self._most_nodes[movers] = self._node_limit
        moved = [self._moved(row, piece, self._fallback) for row in movers.tolist()]
        return piece.take(np.isin(rows, movers, invert=True)), moved

    def _moved(self, row: int, piece: Piece, engine: Engine | None) -> Piece:
        """Drop the results of a row, but not its node count; return its own stack, for an engine.

        The piece has stacks of that row.
        """
        answers = self._answers
        answers.counts[row] = 0
        answers.first_covers = [covers.take(covers.roots != row) for covers in answers.first_covers]
        self._shared[row] = False
        self._best.pop(row, None)
        self._pending[row] = 1
        return self._start_of(row, piece, engine)

    def _start_of(self, row: int, piece: Piece, engine: Engine | None, weighs: int = 0) -> Piece:
        """Return the own stack of a row for an engine; `piece` has stacks of the row."""
        batch = next(stacks for stacks in self._starts if row in stacks.roots)
        problem = piece.problem
        if isinstance(problem, GridProblem):
            problem = problem.of_row(row)
        stacks, ids = batch.take(batch.roots == row), piece.ids[:1]
        return Piece(stacks, np.ones(1), ids, False, problem, engine, weighs)

    def _weighed_now(self, piece: Piece) -> list[Piece]:
        """Return the piece that weighs a counter for the row of a piece, if it is time.

        So the nodes of a row alone say which engine counts it, not the size of its tasks, and the
        output is the same however it was made.
        """
        problem, has_moved = piece.problem, piece.engine is not None and not piece.weighs
        if not self._is_counted or problem is None or has_moved or not len(piece):
            return []
        row = int(piece.stacks.roots[0])
        n_weighed = self._n_weighed.get(row, 0)
        after, n_nodes = tree.weighing(problem, n_weighed)
        is_due = after < self._answers.nodes[row] < self._most_nodes[row]
        if not is_due or row in self._on_scales:
            return []
        if not (counter := counter_for(self._engine, problem)):
            return []
        self._n_weighed[row] = n_weighed + 1
        self._on_scales.add(row)
        self._pending[row] += 1
        return [self._start_of(row, piece, tree.small_counter(counter, n_nodes), n_nodes)]

    def _after_weighing(self, piece: Piece, outcome: Outcome) -> list[Piece]:
        """Let a counter take over its row if it gains enough; return the pieces that follow."""
        row = int(piece.stacks.roots[0])
        self._on_scales.remove(row)
        self._pending[row] -= 1
        is_over = self._answers.nodes[row] >= self._most_nodes[row]  # its results so far stay
        if is_over or row in self._answers.unfinished:
            return []
        if tree.gain_of(outcome) < tree.LEAST_GAIN:
            return self._weighed_now(piece)
        problem = piece.problem
        assert self._exact is not None
        assert problem is not None
        engine = get_engine(counter_for(self._engine, problem)).for_run()
        self._exact[row] = 0
        self._answers.counters[row] = engine.name
        return [self._moved(row, piece, engine)]

    def _is_stale(self, piece: Piece) -> bool:
        """Return whether the row of a piece has moved to a counter since.

        Each row that may move to one is a separate piece.
        """
        return piece.engine is None and int(piece.stacks.roots[0]) in self._answers.counters

    def lose(self, piece: Piece, reason: str) -> None:
        """Record that the search of some rows failed."""
        if self._is_stale(piece):
            return
        np.subtract.at(self._pending, piece.stacks.roots, 1)
        if piece.weighs:
            self._on_scales.difference_update(piece.stacks.roots.tolist())
        else:
            self.give_up(piece.stacks, reason)

    def drop_unwanted(self, piece: Piece) -> Piece:
        """Return the stacks of a piece that can still change an answer."""
        if piece.weighs or not len(piece):
            return piece
        if self._is_stale(piece):
            return piece.between(0, 0)
        rows = piece.stacks.roots
        counts, nodes = self._answers.counts[rows], self._answers.nodes[rows]
        doubtful = (counts >= self._limit) | (nodes >= self._most_nodes[rows])
        if self._answers.unfinished:
            doubtful |= np.isin(rows, list(self._answers.unfinished))
        if not doubtful.any():
            return piece
        wanted = ~doubtful
        for k in np.flatnonzero(doubtful).tolist():
            wanted[k] = self._is_wanted(int(rows[k]), piece.stacks.first_path(k))
        np.subtract.at(self._pending, rows[~wanted], 1)
        return piece.take(wanted)

    def task_of(self, stacks: Stacks, budget: int, whole: bool, **others: Any) -> Task:
        """Return the task that searches wanted stacks; with `whole`, each of them to its end.

        `others` are more attributes of `Task`.
        """
        answers, rows = self._answers, stacks.roots
        most_nodes = self._most_nodes[rows]
        limits = np.maximum(self._limit - answers.counts[rows], 1)
        allowances, any_order = most_nodes - answers.nodes[rows], (most_nodes == UNLIMITED).all()
        keywords = {"keep": self._keep, "any_order": bool(any_order), "whole": whole, **others}
        return Task(stacks, limits, allowances, budget, excluded=True, **keywords)

    def _is_wanted(self, row: int, stack: list[int]) -> bool:
        answers = self._answers
        if row in answers.unfinished:
            return False
        if answers.counts[row] >= self._limit:  # only an earlier first cover matters
            return row in self._best and comes_before(stack, *self._best[row])
        answers.unfinished[row] = None
        return False


def comes_before(stack: list[int], cover: list[int], problem: GridProblem | None = None) -> bool:
    """Return whether a stack that does not lead to a cover comes before it in tree order.

    The options of the cover are in order of choice, with those excluded, or cell by cell of a grid,
    if that is given.
    """
    if problem is None:
        return stack < cover
    n_cells, n_digits = problem.n_cells, problem.n_digits
    inside = (o for o in stack if o < n_cells * n_digits)
    return next((o < mine for o in inside if o != (mine := cover[o // n_digits])), True)


# ---- the search -----------------------------------------------------------------------------

BESIDE_NODES = 5_000  # of a row whose problem is one of many in its block
FIRST_BLOCK_NODES = 300_000  # before the speed is known; hard blocks of minimal 9×9 grids take half


class Batch(Protocol):
    """The rows of a block."""

    def __len__(self) -> int: ...

    def groups(self) -> Iterable[Group]:
        """Return the stacks of the rows that can be searched, problem by problem."""


Read = Callable[[Any], Batch]
"""The part of a task that reads a block; it raises `InputError` if that cannot be read."""

Write = Callable[[Any, Any], Any]
"""The part of a task that turns a batch and its answers into the finished output of a block."""


StackTask = tuple[ExactCover, Task, Engine | None]
"""The task of searching stacks of open rows: their problem, and the engine that took them over."""


@dataclass(frozen=True, eq=False)
class RowWork:
    """The search of rows, and the work of a worker on its tasks.

    Attributes
    ----------
    choice : Choice
        A row that has no engine is unfinished.
    settings : SearchSettings
        The engine is ignored. Without a limit, counts are Python integers of any size.
    read, write : callable
        Workers receive and call them.
    keep : {0, 1}
        First covers of a row to hand back; 0 if rows are only counted.
    """

    choice: Choice
    settings: SearchSettings
    read: Read
    write: Write
    keep: int = 1

    def search(
        self,
        blocks: Iterable[Any],
        pool: Pool,
        size: int = 1,
        waits: Callable[[], bool] = lambda: False,
    ) -> Generator[tuple[Any, Any]]:
        """Search blocks; yield each with its output, in order, while workers go on with the next.

        With a node limit or a fallback engine, rows are not split, and all stacks of a row stay in
        one piece, because the place where its search stops must not depend on the workers. Rows are
        not split either if the engine searches whole stacks.

        Parameters
        ----------
        blocks : iterable
        pool : Pool
            Entered already.
        size : int
            The size of a block, in usual tasks.
        waits : callable, optional
            Returns True if the next block has not arrived; see `BlockGoal`.

        Raises
        ------
        InputError, OutputError
            If a block cannot be read or written, after all blocks before it were yielded.
        """
        choice, settings = self.choice, self.settings
        # Each process has its own table of subtrees, and drops that of a row once it counts others.
        # The rest of a task would begin with an empty table in the next process, and perhaps never
        # end.
        at_once = not pool.workers.in_process and settings.time_limit is None
        goal = RowGoal(choice, size, at_once, settings.budget is not None)
        sizing = Sizing.of_pool(pool)
        scheduler = Scheduler(goal, pool.jobs, settings.budget, FIRST_BLOCK_NODES, sizing)
        is_short = not choice.whole_stacks
        yield from goal.work_in_order(blocks, scheduler, pool, self, waits, is_short)

    def search_alone(self, block: Any) -> Any:
        """Search one block in this thread and return its output, as `search` with one worker.

        A small block is one task, without a pool. A larger one begins again as tasks that can be
        cut.
        """
        result = self(BlockTask(0, block, FIRST_BLOCK_NODES))
        if result.error is not None:
            raise result.error
        if result.rows is None:
            return result.output
        with Pool(jobs=1) as pool:
            [(_, output)] = self.search([block], pool)
        return output

    def __call__(self, task: BlockTask | StackTask) -> Result:
        """Read and search a block, write it, or search stacks of it."""
        if isinstance(task, tuple):
            problem, stack_task, engine = task
            begin = time.perf_counter()
            outcome = (engine or self.choice.of(problem)).search(problem, stack_task)
            return Result(None, int(outcome.nodes.sum()), time.perf_counter() - begin, outcome)
        try:
            batch = self.read(task.block)
        except InputError as error:
            return Result(error=error)
        if task.answers is not None:
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
        pieces: list[Piece] = []
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
            n, whole = len(stacks), engine.whole_stacks
            piece = Piece(stacks, np.ones(n), np.full(n, number), keeps_roots, problem)
            # A problem beside others begins even if one before it took all nodes. So only hard ones
            # are left, few enough for the scheduler to cut them.
            is_beside = n == 1 < n_rows and not whole
            most = min(budget, BESIDE_NODES) if is_beside else budget - n_nodes
            if most <= 0:
                pieces.append(piece)
                continue
            begin, busy = time.perf_counter(), time.thread_time()
            most = min(most, n * piece.nodes_at_once)
            depth = (None if whole or keeps_roots else settings.split_depth) or UNLIMITED
            # with a depth many solved rows would have stacks left
            unordered = depth == UNLIMITED and not keeps_roots
            task = rows.task_of(stacks, most, whole, depth=depth, unordered=unordered)
            outcome = engine.search(problem, task)
            spent = time.perf_counter() - begin
            n_nodes += int(outcome.nodes.sum())
            seconds += time.thread_time() - busy  # not that of other threads
            pieces += rows.add(piece, outcome, spent)
        if rows.is_settled:
            return self._written(batch, rows.answers(), n_nodes, seconds)
        return Result(None, n_nodes, seconds, rows=rows, left=pieces)

    def _groups(self, batch: Batch) -> Iterator[Group]:
        """Yield the groups of a batch, row by row where rows are not searched side by side."""
        for problem, stacks in batch.groups():
            is_alone = len(stacks) == 1 and not isinstance(problem, Variants)
            if is_alone or not self._are_apart(problem):
                yield problem, stacks
                continue
            for k, row in enumerate(stacks.roots.tolist()):
                row_problem = problem.of_row(row) if isinstance(problem, GridProblem) else problem
                yield row_problem, stacks.between(k, k + 1)

    def _are_apart(self, problem: ExactCover) -> bool:
        """Return whether the engine takes no rules of rows, or a counter may take over a row."""
        with suppress(InputError):  # the error is that of all rows
            if isinstance(problem, Variants):
                return not self.choice.of(problem).sudoku_only
            if self.keep == 0 and self.settings.limit is None:
                return bool(counter_for(self.choice.name, problem))
        return False


class RowGoal(BlockGoal):
    """The goal of rows: an answer to each, yielded block by block in the order of the input."""

    def __init__(
        self, choice: Choice, size: int, counts_at_once: bool = False, is_fixed: bool = False
    ) -> None:
        super().__init__()
        self._choice, self._size, self._counts_at_once = choice, size, counts_at_once
        self._is_fixed = is_fixed  # True if the user sets the budgets
        self._open: dict[int, OpenRows] = {}

    def begin(self, piece: Any, budget: int, promised: int) -> tuple[Any, Any]:
        """Return the wanted part of a piece, and its task: None if nothing is wanted."""
        if isinstance(piece, BlockTask):
            return piece, replace(piece, budget=min(piece.budget, self._size * budget))
        number = int(piece.ids[0])
        rows = self._open.get(number)
        if rows is None:  # its rows were counted without it
            return piece, None
        wanted = rows.drop_unwanted(piece)
        if not len(wanted):
            written = self._with_written(number, [])
            return (written[0], written[0]) if written else (wanted, None)
        if wanted.weighs:
            task = Task.of(wanted.stacks, budget=wanted.weighs)
        else:
            by = wanted.engine or self._choice
            budget = min(budget, wanted.nodes_at_once)
            if by.counts_only and self._counts_at_once:
                budget = UNLIMITED
            elif by.counts_only and not self._is_fixed:
                assert wanted.problem is not None
                budget = max(budget, tree.whole_nodes(wanted.problem))
            task = rows.task_of(wanted.stacks, budget, by.whole_stacks, fineness=wanted.fineness)
        return wanted, (wanted.problem, task, wanted.engine)

    def accept(self, piece: Any, result: Result) -> list[Any]:
        """Take a result; return the pieces and tasks that it leaves."""
        if isinstance(piece, Piece):
            number = int(piece.ids[0])
            rows = self._open.get(number)
            if rows is None:
                return []
            assert result.outcome is not None
            return self._with_written(number, rows.add(piece, result.outcome, result.seconds))
        if result.rows is not None:
            self._open[piece.number] = result.rows
            return self._with_written(piece.number, result.left)
        return super().accept(piece, result)

    def lose(self, piece: Any, reason: str) -> list[Any]:
        """Record rows that cannot be searched; a failed block is first read without a search."""
        if isinstance(piece, Piece):
            number = int(piece.ids[0])
            rows = self._open.get(number)
            if rows is None:
                return []
            if not rows.is_settled:
                rows.lose(piece, reason)
            return self._with_written(number, [])
        if piece.answers is None and piece.budget > 0:
            return [replace(piece, budget=0)]
        return super().lose(piece, reason)

    def _with_written(self, number: int, pieces: list[Any]) -> list[Any]:
        """Return the pieces left of a block; if there are none, the task that writes it."""
        if pieces or not self._open[number].is_settled:
            return pieces
        return [BlockTask(number, self._blocks[number], answers=self._open.pop(number).answers())]
