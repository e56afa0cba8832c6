"""The scheduler: one queue of pieces, for rows and trees alike.

It knows pieces, budgets and who is busy with what. What is wanted of a piece, and what to do with
what was found, is for its `Goal` to say; where workers are, for the pool. Fresh pieces go behind
all others and frontiers go on top, so that a search goes deep before it goes wide and what waits
stays short.

What waits is a `Piece`, or a `BlockTask`, which is one task. It can be `cut`; and `is_fresh` says
whether its task gets a full budget, for beginning it costs more than a short task saves.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from math import isqrt
from typing import Any, Protocol

from batchsolve.search.rules import FIRST_BUDGET, MOST_OUT, MOST_STACKS, Sizing
from batchsolve.settings import UNLIMITED
from batchsolve.workers.pool import Done, Lost, Pool, Work


class Goal(Protocol):
    """What is searched for."""

    @property
    def enough(self) -> bool:
        """Whether nothing more is wanted, for now."""
        ...

    def begin(self, piece: Any, budget: int, promised: int) -> tuple[Any, Any] | None:
        """Return what is still wanted of a piece, and the task that searches it.

        The task is None if nothing is wanted; all is None if the piece has to wait.

        Parameters
        ----------
        piece : Piece or BlockTask
        budget : int
            Nodes that the task may visit.
        promised : int
            Nodes that the tasks which are out may visit.
        """
        ...

    def accept(self, piece: Any, result: Any) -> list[Any] | None:
        """Take what was found in a piece; return what is left of it, or None to refuse it all."""
        ...

    def lose(self, piece: Any, reason: str) -> list[Any]:
        """Note that a piece cannot be searched; return what to do instead."""
        ...


@dataclass(frozen=True)
class _Out:
    """A piece that is with a worker; alone, if nothing else may be out."""

    piece: Any
    budget: int
    alone: bool


class Scheduler:
    """Hands out pieces as tasks, and takes results.

    Parameters
    ----------
    goal : Goal
    jobs : int
        Number of workers.
    budget : int, optional
        Nodes a task may visit; sized by time by default.
    first_budget : int
        The same, while the speed of a worker is not known.

    Attributes
    ----------
    most_nodes : int
        Nodes a task may visit, however they are sized; while it is 0, none is drawn.

    Notes
    -----
    A scheduler is an iterator of numbered tasks, which may be asked again after it had none. It is
    asked in whatever thread a worker becomes free; one lock guards the queue.
    """

    def __init__(
        self,
        goal: Goal,
        jobs: int,
        budget: int | None = None,
        first_budget: int = FIRST_BUDGET,
    ) -> None:
        self.goal = goal
        self._fixed_budget, self._first_budget = budget, first_budget
        self._sizing = Sizing.of(jobs)
        self._jobs, self._most_out = jobs, MOST_OUT * jobs
        self._lock = threading.RLock()
        self._queue: deque[Any] = deque()  # the top is at the right end
        self._suspects: deque[Any] = deque()  # each is searched alone, when nothing else waits
        self._out: dict[int, _Out] = {}
        self._numbers = count()
        self._nodes, self._seconds = 0.0, 0.0
        self.most_nodes = UNLIMITED

    def __iter__(self) -> Scheduler:
        return self

    @property
    def n_waiting(self) -> int:
        """How many pieces wait for a worker, but for suspects."""
        return len(self._queue)

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits and nothing is out."""
        return not self._queue and not self._suspects and not self._out

    def left(self) -> list[Any]:
        """Return the pieces that wait or are out, in no certain order."""
        with self._lock:
            return [*self._queue, *self._suspects, *(out.piece for out in self._out.values())]

    def add_behind(self, piece: Any) -> None:
        """Let a fresh piece wait behind all others."""
        with self._lock:
            self._queue.appendleft(piece)

    def add(self, piece: Any) -> None:
        """Put what is left of a piece on top; cut it up if few pieces wait, or if it is large."""
        with self._lock:
            missing = self._sizing.pieces - len(self._queue)
            self._queue.extend(reversed(piece.cut(missing, MOST_STACKS)))

    def take_all(self) -> list[Any]:
        """Take all that waits, but for suspects, in tree order."""
        with self._lock:
            pieces = list(reversed(self._queue))
            self._queue.clear()
            return pieces

    def __next__(self) -> tuple[int, Any]:
        """Return the next task and its number, if there is anything to do just now."""
        with self._lock:
            if self.most_nodes == 0 or any(out.alone for out in self._out.values()):
                raise StopIteration
            alone = not self._queue and not self._out and bool(self._suspects)
            if alone:
                self._queue.append(self._suspects.popleft())
            while self._queue and len(self._out) < self._most_out:
                promised = sum(out.budget for out in self._out.values())
                piece = self._queue.pop()
                budget = min(self._budget(piece.is_fresh), self.most_nodes)
                # a stack takes a node, and preparing for others takes time
                if budget < MOST_STACKS:
                    piece, *rest = piece.cut(1, max(1, budget))
                    self._queue.extend(reversed(rest))
                begun = self.goal.begin(piece, budget, promised)
                if begun is None:
                    self._queue.append(piece)
                    break
                wanted, task = begun
                if task is not None:
                    return self.hand_out(wanted, budget, alone), task
            raise StopIteration

    def hand_out(self, piece: Any, budget: int, alone: bool = False) -> int:
        """Note that a piece is with a worker; return the number of its task."""
        number = next(self._numbers)
        self._out[number] = _Out(piece, budget, alone)
        return number

    def set_rate(self, nodes: float = 0.0) -> None:
        """Say how many nodes a worker visits in a second, as far as that is known."""
        self._nodes, self._seconds = nodes, float(nodes > 0)

    def take(self, result: Done | Lost) -> bool:
        """Give a result to the goal and put back what it leaves; return whether it was accepted."""
        with self._lock:
            out = self._out[result.number]
            if isinstance(result, Done):
                if result.number >= self._jobs:  # the first task of a worker loads kernels, too
                    self._nodes += result.result.n_nodes
                    self._seconds += result.result.seconds
                left = self.goal.accept(out.piece, result.result)
            else:
                left = self._left_of(out, result)
            del self._out[result.number]
            for other in reversed([out.piece] if left is None else left):
                self.add(other)
            return left is not None

    def _left_of(self, out: _Out, lost: Lost) -> list[Any]:
        """Have what failed searched in ever smaller parts; give up a stack that fails by itself.

        A worker that dies takes tasks along that are not to blame: each is searched alone first.
        """
        if lost.died and not out.alone:
            self._suspects.append(out.piece)
            return []
        stacks = out.piece.cut(1, 1)
        if len(stacks) == 1:
            return self.goal.lose(out.piece, lost.reason)
        if not lost.died:
            return stacks
        parts = out.piece.cut(1, isqrt(len(stacks)))  # a death takes longer than many tasks
        self._suspects.extend(parts if len(parts) > 1 else stacks)
        return []

    def take_back(self) -> None:
        """Put what is out back into the queue, for its results are not waited for."""
        with self._lock:
            pieces = [out.piece for out in self._out.values()]
            self._out.clear()
            self._queue.extend(reversed(pieces))

    def _budget(self, is_fresh: bool) -> int:
        if self._fixed_budget is not None:
            return self._fixed_budget
        if self._nodes == 0:
            return self._first_budget
        waiting = self._sizing.pieces if is_fresh else len(self._queue) + 1
        return self._sizing.budget(self._nodes / max(self._seconds, 1e-9), waiting)


def run_round(
    scheduler: Scheduler,
    pool: Pool,
    work: Work,
    tasks: Iterator[tuple[int, Any]] | None = None,
    here: bool = False,
) -> Iterator[Done]:
    """Search tasks until a draw finds nothing, or the goal has enough; yield accepted results.

    Parameters
    ----------
    tasks : iterator of (int, task), optional
        As they are drawn; by default all that the scheduler has.
    here : bool
        Search in this process instead of the workers.
    """
    start = pool.start_here if here else pool.start
    # closed here, for what is raised while a destructor closes it, such as Ctrl-C, is lost
    with closing(start(work, scheduler if tasks is None else tasks)) as results:
        for result in results:
            if scheduler.take(result) and isinstance(result, Done):
                yield result
            if scheduler.goal.enough:
                break
    scheduler.take_back()
