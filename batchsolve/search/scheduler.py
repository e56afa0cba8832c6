"""The scheduler: one queue of pieces, for rows and trees alike.

It knows pieces, budgets and the tasks that are out. Its `Goal` decides which part of a piece is
wanted and what happens to results; the pool knows the workers. Fresh pieces go behind all others
and frontiers go on top, so a search goes deep before it goes wide, and the queue stays short.

The queue holds pieces: a `Piece`, or a `BlockTask`, which is one task. A piece can be `cut`. One
that `is_fresh` gets a full budget, because starting it costs more than a short task saves. The
*outstanding* stacks of a tree each have a number and a weight, their share of the tree; `Changes`
hold the difference that some results make.

The collecting process takes results one after another. A *turn* is its time for one result from
every worker; if tasks were shorter than a turn, workers would wait for it.

A block of an input is one task, and blocks keep their order (`in_turn`, `BlockGoal`).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, islice, pairwise
from math import isqrt
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Floats, Ints
from batchsolve.engines import FINENESS, UNLIMITED, Engine, Outcome
from batchsolve.errors import BatchsolveError, InputError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.workers import RESULT_SECONDS, Done, Lost, Pool, Work, attempt, result_seconds

if TYPE_CHECKING:
    from batchsolve.search.rows import OpenRows

TASK_SECONDS = 0.2  # of a task while many pieces wait; less when few do
FULL_TURNS, LEAST_TURNS = 5, 1  # shortest task while many pieces wait, and few
# The same in flights. A worker has one more task at hand, so that shorter ones leave it idle; with
# 50 ms of latency, these took two workers of Dask from 68 to 85 % (benchmarks/results/flight.json).
FULL_FLIGHTS, LEAST_FLIGHTS = 3, 1
PIECES_PER_WORKER = 15  # that should wait, so that all workers run out of work together
# Few workers need fewer each, as they wait less for one another; so do more than MANY_PIECES.
FEW_PIECES, MANY_PIECES = 4, 240
FIRST_BUDGET = 50_000  # before the speed of a worker is known
FIRST_ENTRIES = 10**9  # nodes × entries of the problem: large problems begin with fewer nodes
LEAST_BUDGET = 5_000  # makes a task worth sending, unless these nodes take long
MOST_STACKS = 4096  # in a task; those it does not reach are copied
MOST_OUT = 8  # tasks that a worker may be ahead of the collected results
_LEAST_WEIGHT = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Piece:
    """Stacks that are searched together.

    Attributes
    ----------
    stacks : Stacks
        In tree order.
    weights : ndarray of float64, shape (n,)
        Their shares of the whole tree: products of 1 / (number of children) on the way to them.
    ids : ndarray of int64, shape (n,)
        Keys for the goal: each stack's own number, or the number of the block of its row.
    keeps_roots : bool
        True if stacks of one root must stay together.
    problem : ExactCover, optional
        Their problem, where one search is of several.
    engine : Engine, optional
        The engine that took them over from that of the search, or is weighed.
    weighs : int
        The nodes that the engine visits to be weighed; 0 if its results count.
    """

    stacks: Stacks
    weights: Floats
    ids: Ints
    keeps_roots: bool = False
    problem: ExactCover | None = None
    engine: Engine | None = None
    weighs: int = 0
    is_fresh: ClassVar[bool] = False

    @classmethod
    def whole(cls, stacks: Stacks) -> Piece:
        """Return the piece of a whole search; its stacks are numbered from 0."""
        n = len(stacks)
        return cls(stacks, np.full(n, 1 / max(1, n)), np.arange(n))

    @classmethod
    def join(cls, pieces: Sequence[Piece]) -> Piece:
        """Join pieces, in order."""
        if len(pieces) == 1:
            return pieces[0]
        return cls(
            Stacks.concatenate([piece.stacks for piece in pieces]),
            np.concatenate([np.empty(0), *(piece.weights for piece in pieces)]),
            np.concatenate([np.empty(0, np.int64), *(piece.ids for piece in pieces)]),
        )

    def __len__(self) -> int:
        return len(self.stacks)

    @property
    def fineness(self) -> Ints:
        """How finely the remains of each stack are cut: less finely if they weigh less."""
        return fineness_of(self.weights).astype(np.int64)

    @property
    def nodes_at_once(self) -> int:
        """The nodes of their problem that may take a second."""
        assert self.problem is not None
        return nodes_at_once(self.problem.n_entries)

    def between(self, begin: int, end: int) -> Self:
        """Return the stacks at the places begin .. end - 1."""
        stacks, there = self.stacks.between(begin, end), slice(begin, end)
        return replace(self, stacks=stacks, weights=self.weights[there], ids=self.ids[there])

    def take(self, which: npt.NDArray[Any]) -> Self:
        """Return the stacks at these places, or where a mask is true."""
        stacks = self.stacks.take(which)
        if stacks is self.stacks:
            return self
        return replace(self, stacks=stacks, weights=self.weights[which], ids=self.ids[which])

    def cut(self, n_pieces: int, most_stacks: int) -> list[Self]:
        """Cut into at most `n_pieces` of about equal weight; see `piece_bounds`."""
        if len(self) < 2:
            return [self][: len(self)]
        bounds = piece_bounds(self.weights, n_pieces, most_stacks)
        if self.keeps_roots:
            firsts = np.flatnonzero(np.diff(self.stacks.roots, prepend=-1))
            firsts = np.append(firsts, len(self))
            bounds = np.unique(firsts[np.searchsorted(firsts, bounds)])
        return [self.between(begin, end) for begin, end in pairwise(bounds.tolist())]


@dataclass(eq=False)
class Changes:
    """The changes that some results make to a tree; they are kept together or not at all.

    Attributes
    ----------
    outputs : list of (object, int)
        Rendered covers, and the number of covers in each.
    """

    outputs: list[tuple[Any, int]] = field(default_factory=list)
    _done: list[Ints] = field(default_factory=list)
    _new: list[Piece] = field(default_factory=list)

    def add(self, done: Ints, new: Piece) -> None:
        """Add the changes of one result: the numbers of the stacks done, and new stacks."""
        self._done.append(done)
        self._new.append(new)

    def balance(self) -> tuple[list[int], Piece]:
        """Return the numbers of the stacks done, and the new outstanding stacks.

        Stacks that came and went within these changes are in neither.
        """
        done = np.concatenate([np.empty(0, np.int64), *self._done])
        new = Piece.join(self._new)
        places = np.flatnonzero(np.isin(new.ids, done, invert=True))
        return done[~np.isin(done, new.ids)].tolist(), new.take(places)


@dataclass(frozen=True)
class Sizing:
    """The sizes of tasks.

    Attributes
    ----------
    full_seconds, least_seconds : float
        Seconds of a task while many pieces wait, and while none does.
    pieces : int
        Number of pieces from which on many wait.
    """

    full_seconds: float
    least_seconds: float
    pieces: int

    @classmethod
    def of(
        cls, jobs: int, result_seconds: float = RESULT_SECONDS, flight_seconds: float = 0.0
    ) -> Sizing:
        """Return the sizes of tasks.

        Parameters
        ----------
        jobs : int
            Number of workers.
        result_seconds : float
            To hand out a task and collect its result, one after another.
        flight_seconds : float
            The time that a task and its result spend on the network.

        Examples
        --------
        >>> Sizing.of(2)
        Sizing(full_seconds=0.2, least_seconds=0.0006, pieces=12)
        >>> Sizing.of(2, flight_seconds=0.5).full_seconds
        1.5
        """
        turn = result_seconds * jobs
        pieces = min(PIECES_PER_WORKER, 2 + 2 * jobs, max(FEW_PIECES, MANY_PIECES // jobs))
        full = max(TASK_SECONDS, FULL_TURNS * turn, FULL_FLIGHTS * flight_seconds)
        least = max(LEAST_TURNS * turn, LEAST_FLIGHTS * flight_seconds)
        return cls(full, least, jobs * pieces)

    @classmethod
    def as_for_few(cls, jobs: int) -> Sizing:
        """Return the sizes of tasks of few workers, which need not wait for one another."""
        return cls(TASK_SECONDS, 0.0, PIECES_PER_WORKER * jobs)

    @classmethod
    def of_pool(cls, pool: Pool) -> Sizing:
        """Return the sizes for the workers of a pool, which are asked how far away they are."""
        return cls.of(pool.jobs, result_seconds(pool.backend), pool.workers.flight_seconds())

    def budget(self, rate: float, waiting: int) -> int:
        """Return the nodes that a task may visit.

        Parameters
        ----------
        rate : float
            Nodes that a worker visits per second.
        waiting : int
            Number of waiting pieces.

        Examples
        --------
        >>> [Sizing.of(2).budget(1e6, n) for n in (12, 6, 0)]  # nodes of a microsecond
        [200000, 100000, 5000]
        >>> Sizing.of(2).budget(1e3, 0)  # slow nodes
        200
        """
        full = max(1.0, self.full_seconds * rate)
        least = max(self.least_seconds * rate, min(LEAST_BUDGET, full))
        return int(max(least, full * min(1.0, waiting / self.pieces)))


def first_budget(n_entries: int) -> int:
    """Return the nodes of a task before the speed of a worker is known.

    Parameters
    ----------
    n_entries : int
        Items of all options of the problem; the more, the longer a node takes.

    Examples
    --------
    >>> first_budget(2_916), first_budget(4_000_000)  # 9×9 Sudoku, and 1,000 queens
    (50000, 250)
    """
    return min(FIRST_BUDGET, nodes_at_once(n_entries))


def nodes_at_once(n_entries: int) -> int:
    """Return the nodes that may take a second, of a problem with this many items in all options."""
    return max(1, FIRST_ENTRIES // max(1, n_entries))


def fineness_of(weights: Floats) -> Floats:
    """Return how finely to cut what is left of stacks; see `Piece.fineness`."""
    return np.ceil(FINENESS * weights / max(float(weights.sum()), _LEAST_WEIGHT))


def piece_bounds(weights: Floats, n_pieces: int, most_stacks: int) -> Ints:
    """Return where to cut stacks into at most `n_pieces` of about equal weight.

    A frontier holds few stacks near the root, with most of its weight, and many deep stacks with
    almost none; those stay together. If pieces would be longer than `most_stacks`, there are more.

    Parameters
    ----------
    weights : ndarray of float64, shape (m,)
        Shares of the tree, in tree order; m is 1 or more.
    n_pieces, most_stacks : int

    Returns
    -------
    ndarray of int64, shape (number of pieces + 1,)
        Piece ``k`` is the stacks ``bounds[k] .. bounds[k + 1] - 1``.

    Examples
    --------
    >>> piece_bounds(np.array([4, 1, 1, 2.0]), 2, 99).tolist()
    [0, 1, 4]
    """
    m = weights.size
    whole = weights.sum()
    if whole < m * _LEAST_WEIGHT:  # too deep for weights to tell
        weights, whole = np.ones(m), float(m)
    middles = np.cumsum(weights) - weights / 2
    n = max(1, min(n_pieces, m))
    numbers = (middles / whole * n).astype(np.int64)
    numbers[numbers >= n] = n - 1  # the last stacks may weigh nothing
    begins = numbers[1:] != numbers[:-1]
    begins[most_stacks - 1 :: most_stacks] = True
    return np.concatenate(([0], np.flatnonzero(begins) + 1, [m]))


@dataclass(frozen=True, eq=False)
class Result:
    """The result of a task, of stacks or of a block.

    Attributes
    ----------
    output : object
        The product of the task, such as encoded rows or rendered covers; None without one.
    n_nodes, seconds : int, float
        Nodes visited, and the time that took; for a block of rows, that of the processor.
    outcome : Outcome, optional
        The sums of each stack, and the frontier.
    n_covers : int
        Number of wanted covers.
    rows : OpenRows, optional
        The rows of a block, if some of them have stacks left.
    left : list
        The pieces of these stacks.
    error : BatchsolveError, optional
        The reason why a block cannot be read or written.
    """

    output: Any = None
    n_nodes: int = 0
    seconds: float = 0.0
    outcome: Outcome | None = None
    n_covers: int = 0
    rows: OpenRows | None = None
    left: list[Any] = field(default_factory=list)
    error: BatchsolveError | None = None


class Goal(Protocol):
    """The goal of a search; it decides what is wanted and takes the results."""

    @property
    def has_enough(self) -> bool:
        """True if nothing more is wanted for now."""

    def begin(self, piece: Any, budget: int, promised: int) -> tuple[Any, Any] | None:
        """Return the part of a piece that is still wanted, and the task that searches it.

        The task is None if nothing is wanted; the result is None if the piece has to wait.

        Parameters
        ----------
        piece : Piece or BlockTask
        budget : int
            Nodes that the task may visit.
        promised : int
            Nodes that the tasks now out may visit.
        """

    def accept(self, piece: Any, result: Result) -> list[Any] | None:
        """Take the result of a piece; return the pieces left of it, or None to reject it."""

    def lose(self, piece: Any, reason: str) -> list[Any]:
        """Record that a piece cannot be searched; return the pieces to search instead."""


class Scheduler:
    """A queue that hands out pieces as tasks and takes results.

    Parameters
    ----------
    goal : Goal
    jobs : int
        Number of workers.
    budget : int, optional
        Nodes a task may visit; by default tasks are sized by time.
    first_budget : int
        The same, before the speed of a worker is known.
    sizing : Sizing, optional
        The sizes of tasks; by default those for the number of workers.

    Attributes
    ----------
    sizing : Sizing
    is_held : bool
        True while no task may be drawn, so that the round ends without losing one.
    least_budget : int
        Nodes of a task at least, unless budgets are fixed.

    Notes
    -----
    A scheduler is an iterator of numbered tasks; after it had none, it may be asked again. The
    thread in which a worker becomes free asks it; one lock guards the queue.
    """

    def __init__(
        self,
        goal: Goal,
        jobs: int,
        budget: int | None = None,
        first_budget: int = FIRST_BUDGET,
        sizing: Sizing | None = None,
    ) -> None:
        self.goal = goal
        self._fixed_budget, self._first_budget = budget, first_budget
        self.sizing = sizing or Sizing.of(jobs)
        self._jobs, self._most_out = jobs, MOST_OUT * jobs
        self._lock = threading.RLock()
        self._queue: deque[Any] = deque()  # the top is at the right end
        self._suspects: deque[Any] = deque()  # each is searched alone, once nothing else waits
        self._out: dict[int, tuple[Any, int]] = {}  # number of a task -> its piece and budget
        self._promised = 0  # the sum of those budgets
        self._is_alone = False  # True while a suspect is out, and so nothing else
        self._numbers = count()
        self._nodes, self._seconds = 0.0, 0.0
        self.is_held = False
        self.least_budget = 0  # of tasks whose budgets are not fixed

    def __iter__(self) -> Scheduler:
        return self

    @property
    def is_empty(self) -> bool:
        """True if nothing waits and nothing is out."""
        return not self._queue and not self._suspects and not self._out

    def left(self) -> list[Any]:
        """Return the pieces that wait or are out, in any order."""
        with self._lock:
            return [*self._queue, *self._suspects, *(piece for piece, _ in self._out.values())]

    def add_behind(self, piece: Any) -> None:
        """Put a fresh piece behind all others."""
        with self._lock:
            self._queue.appendleft(piece)

    def add(self, piece: Any) -> None:
        """Put the rest of a piece on top; cut it if few pieces wait or if it is large.

        Pieces that weigh an engine stay above it: they may spare the rest.
        """
        with self._lock:
            missing = self.sizing.pieces - len(self._queue)
            above: list[Any] = []
            while self._queue and self._queue[-1].weighs:
                above.append(self._queue.pop())
            self._queue.extend(reversed(piece.cut(missing, MOST_STACKS)))
            self._queue.extend(reversed(above))

    def take_all(self) -> list[Any]:
        """Take all waiting pieces except suspects, in tree order."""
        with self._lock:
            pieces = list(reversed(self._queue))
            self._queue.clear()
            return pieces

    def clear(self) -> None:
        """Drop all pieces that wait."""
        with self._lock:
            self._queue.clear()
            self._suspects.clear()

    def __next__(self) -> tuple[int, Any]:
        """Return the number of the next task and the task; stop if there is none just now."""
        with self._lock:
            if self.is_held or self._is_alone:
                raise StopIteration
            alone = not self._queue and not self._out and bool(self._suspects)
            if alone:
                self._queue.append(self._suspects.popleft())
            while self._queue and len(self._out) < self._most_out:
                piece = self._queue.pop()
                budget = self._budget(piece.is_fresh)
                # a stack takes at least a node, and preparing more stacks takes time
                if budget < MOST_STACKS:
                    piece, *rest = piece.cut(1, max(1, budget))
                    self._queue.extend(reversed(rest))
                begun = self.goal.begin(piece, budget, self._promised)
                if begun is None:
                    self._queue.append(piece)
                    break
                wanted, task = begun
                if task is not None:
                    return self.hand_out(wanted, budget, alone), task
            raise StopIteration

    def hand_out(self, piece: Any, budget: int, alone: bool = False) -> int:
        """Record that a worker has a piece; return the number of its task."""
        number = next(self._numbers)
        self._out[number] = piece, budget
        self._promised += budget
        self._is_alone = alone
        return number

    def set_rate(self, nodes: float = 0.0) -> None:
        """Set the nodes that a worker visits per second; 0 means unknown."""
        self._nodes, self._seconds = nodes, float(nodes > 0)

    def take(self, result: Done | Lost) -> bool:
        """Give a result to the goal, put back what it leaves; return True if it was accepted."""
        with self._lock:
            piece, budget = self._out[result.number]
            if isinstance(result, Done):
                if result.number >= self._jobs:  # the first task of a worker prepares, too
                    self._nodes += result.result.n_nodes
                    self._seconds += result.result.seconds
                remaining = self.goal.accept(piece, result.result)
            else:
                remaining = self._left_of(piece, result)
            del self._out[result.number]
            self._promised -= budget
            self._is_alone = False
            for other in reversed([piece] if remaining is None else remaining):
                self.add(other)
            return remaining is not None

    def _left_of(self, piece: Any, lost: Lost) -> list[Any]:
        """Search a failed piece in ever smaller parts; give up a stack that fails alone.

        When a worker dies, several tasks are lost; each is searched alone to find the guilty one.
        """
        if lost.died and not self._is_alone:
            self._suspects.append(piece)
            return []
        stacks = piece.cut(1, 1)
        if len(stacks) == 1:
            return self.goal.lose(piece, lost.reason)
        if not lost.died:
            return stacks
        parts = piece.cut(1, isqrt(len(stacks)))  # a death takes longer than many tasks
        self._suspects.extend(parts if len(parts) > 1 else stacks)
        return []

    def take_back(self) -> None:
        """Put the tasks that are out back into the queue; their results are no longer awaited."""
        with self._lock:
            pieces = [piece for piece, _ in self._out.values()]
            self._out.clear()
            self._promised, self._is_alone = 0, False
            self._queue.extend(reversed(pieces))

    def run_round(self, results: Generator[Done | Lost]) -> Iterator[Done]:
        """Take the results of a round until the goal has enough; yield those accepted.

        Parameters
        ----------
        results : generator of Done or Lost
            As `Pool.start` returns it; here it is closed.
        """
        # closed here, because an exception in a destructor, such as Ctrl-C, would be lost
        with closing(results):
            for result in results:
                if self.take(result) and isinstance(result, Done):
                    yield result
                if self.goal.has_enough:
                    break
        self.take_back()

    def _budget(self, is_fresh: bool) -> int:
        if self._fixed_budget is not None:
            return self._fixed_budget
        if self._nodes == 0:
            return max(self._first_budget, self.least_budget)
        waiting = self.sizing.pieces if is_fresh else len(self._queue) + 1
        budget = self.sizing.budget(self._nodes / max(self._seconds, 1e-9), waiting)
        return max(budget, self.least_budget)


# ---- blocks in their order ------------------------------------------------------------------

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
    answers : object, optional
        The answers to its rows, with which the block is written; None before they are known.
    """

    number: int
    block: Any
    budget: int = UNLIMITED
    answers: Any = None
    is_fresh: ClassVar[bool] = True
    weighs: ClassVar[int] = 0

    def cut(self, n_pieces: int, most_stacks: int) -> list[Any]:
        """Return the piece as it is."""
        return [self]


class BlockGoal(Goal):
    """A goal that returns the blocks of an input in their order, each with its output.

    Parameters
    ----------
    decide : callable, optional
        Takes a block and what its first task has found, in the order of the input; returns the
        answers with which a second task writes the block. By default the first writes it.
    """

    has_enough = False

    def __init__(self, decide: Callable[[Any, Any], Any] | None = None) -> None:
        self._decide = decide
        self._findings: dict[int, Result] = {}  # no decision yet
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
        if self._decide is None or piece.answers is not None:
            self._results[piece.number] = result
            return []
        self._findings[piece.number] = result
        decided: list[Any] = []
        while self._n_decided in self._findings:
            number = self._n_decided
            first, block = self._findings.pop(number), self._blocks[number]
            self._n_decided += 1
            if first.error is None:
                decided.append(BlockTask(number, block, answers=self._decide(block, first.output)))
            else:
                self._results[number] = first
        return decided

    def lose(self, piece: Any, reason: str) -> list[Any]:
        """Raise an error, because no worker can process the block."""
        raise BatchsolveError(f"a block of rows cannot be read or written: {reason}")

    def work_in_order(
        self,
        blocks: Iterable[Any],
        scheduler: Scheduler,
        pool: Pool,
        work: Work,
        waits: Callable[[], bool] = lambda: False,
        is_short: bool = False,
    ) -> Generator[tuple[Any, Any]]:
        """Work on blocks; yield each with its output, in order, while workers go on with the next.

        Parameters
        ----------
        blocks, scheduler, pool, work
        waits : callable, optional
            Returns True if the next block has not arrived; then the blocks before it come first.
        is_short : bool
            True if the first task of a block is short. If it is the only one, this thread does it,
            as the threads of a pool take longer to start than most blocks of a few rows.

        Raises
        ------
        BatchsolveError
            If a block cannot be read or written, after all blocks before it were yielded.
        """
        source = iter(blocks)
        most = max(LEAST_AHEAD, AHEAD_PER_WORKER * pool.jobs)

        def refill() -> None:
            try:
                while self.n_open < most and not (self.n_open and waits()):
                    scheduler.add_behind(self.open(next(source)))
            except StopIteration:
                pass
            except InputError as error:  # blocks before it are answered all the same
                self.end_with(error)

        refill()
        if is_short and pool.workers.in_process and self.n_open == 1:
            for number, task in islice(scheduler, 1):
                scheduler.take(attempt(work, number, task))
            yield from self.settled()
            refill()
        while self.n_open:
            for _ in scheduler.run_round(pool.start(work, scheduler)):
                yield from self.settled()
                refill()
            yield from self.settled()
            refill()


def _called(
    look: Callable[[Any], Any], write: Callable[[Any, Any], Any] | None, task: BlockTask
) -> Result:
    """Call `look` with a block, or `write` with a block and the decision on it."""
    try:
        if task.answers is None or write is None:
            return Result(look(task.block))
        return Result(write(task.block, task.answers))
    except BatchsolveError as error:
        return Result(error=error)


def in_turn(
    blocks: Iterable[Any],
    pool: Pool,
    look: Callable[[Any], Any],
    decide: Callable[[Any, Any], Any] | None = None,
    write: Callable[[Any, Any], Any] | None = None,
) -> Generator[tuple[Any, Any]]:
    """Call a function with each block; yield each block with the result, in order.

    Or look at blocks, decide in their order, and write them, so that the output of a row can depend
    on all rows before it. Between the two, only the findings are kept; the second task of a block
    reads it again.

    Parameters
    ----------
    blocks : iterable
    pool : Pool
        Entered already.
    look : callable
        The function, or the one that returns the findings on a block that the decision needs;
        workers receive and call it.
    decide : callable, optional
        Takes a block and its findings, and returns the decision, which is not None; called in the
        order of the blocks, up to the first that cannot be read.
    write : callable, optional
        Takes a block and the decision, and returns its output; workers receive and call it.

    Raises
    ------
    BatchsolveError
        If a call raises one, after the results of all calls before it were yielded.
    """
    goal = BlockGoal(decide)
    scheduler = Scheduler(goal, pool.jobs, UNLIMITED)
    return goal.work_in_order(blocks, scheduler, pool, partial(_called, look, write))
