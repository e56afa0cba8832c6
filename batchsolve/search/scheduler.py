"""The scheduler: one queue of pieces, for rows and trees alike.

It knows pieces, budgets and the tasks that are out. Its `Goal` decides which part of a piece is
wanted and what happens to results; the pool knows the workers. Fresh pieces go behind all others
and frontiers go on top, so a search goes deep before it goes wide, and the queue stays short.

The queue holds pieces: a `Piece`, or a `BlockTask`, which is one task. A piece can be `cut`. One
that `is_fresh` gets a full budget, because starting it costs more than a short task saves.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from math import isqrt
from typing import TYPE_CHECKING, Any, Protocol

from batchsolve.search.pieces import FIRST_BUDGET, MOST_OUT, MOST_STACKS, Sizing
from batchsolve.workers.pool import Done, Lost

if TYPE_CHECKING:
    from batchsolve.engines import Outcome
    from batchsolve.errors import BatchsolveError
    from batchsolve.search.open_rows import OpenRows


@dataclass(frozen=True, eq=False)
class Result:
    """The result of a task, of stacks or of a block.

    Attributes
    ----------
    output : object
        What the task has made, such as encoded rows or rendered covers; None if there is nothing.
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
    recounted : int
        The row that a counter is to take over, if the task was not searched for that reason.
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
    recounted: int = -1
    error: BatchsolveError | None = None


class Goal(Protocol):
    """The goal of a search; it decides what is wanted and takes the results."""

    @property
    def enough(self) -> bool:
        """True if nothing more is wanted for now."""
        ...

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
        ...

    def accept(self, piece: Any, result: Result) -> list[Any] | None:
        """Take the result of a piece; return the pieces left of it, or None to reject it."""
        ...

    def lose(self, piece: Any, reason: str) -> list[Any]:
        """Record that a piece cannot be searched; return the pieces to search instead."""
        ...


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
    is_held : bool
        True while no task may be drawn, so that the round ends without losing one.

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
        self._sizing = sizing or Sizing.of(jobs)
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
        """Put the rest of a piece on top; cut it if few pieces wait or if it is large."""
        with self._lock:
            missing = self._sizing.pieces - len(self._queue)
            self._queue.extend(reversed(piece.cut(missing, MOST_STACKS)))

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
                left = self.goal.accept(piece, result.result)
            else:
                left = self._left_of(piece, result)
            del self._out[result.number]
            self._promised -= budget
            self._is_alone = False
            for other in reversed([piece] if left is None else left):
                self.add(other)
            return left is not None

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

    def _budget(self, is_fresh: bool) -> int:
        if self._fixed_budget is not None:
            return self._fixed_budget
        if self._nodes == 0:
            return self._first_budget
        waiting = self._sizing.pieces if is_fresh else len(self._queue) + 1
        return self._sizing.budget(self._nodes / max(self._seconds, 1e-9), waiting)


def run_round(scheduler: Scheduler, results: Generator[Done | Lost]) -> Iterator[Done]:
    """Give the results of a round to a scheduler until its goal has enough; yield those accepted.

    Parameters
    ----------
    scheduler : Scheduler
    results : generator of Done or Lost
        As `Pool.start` returns it; here it is closed.
    """
    # closed here, because an exception in a destructor, such as Ctrl-C, would be lost
    with closing(results):
        for result in results:
            if scheduler.take(result) and isinstance(result, Done):
                yield result
            if scheduler.goal.enough:
                break
    scheduler.take_back()
