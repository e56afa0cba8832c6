"""Shared parts of the engines in Python: the bookkeeping of a task, and a depth-first walk.

An engine with a search tree describes a partial cover that grows and shrinks (`PartialCover`), and
`walk` does the rest. An engine of another kind searches below one stack and asks the `Tally` how
much it may still count; `search_batch` calls it for every stack of the task.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial

import numpy as np

from batchsolve.engines.contract import Outcome, Task
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks


class Tally:
    """The results of a task so far, and the amounts that may still be counted.

    Attributes
    ----------
    depth : int
        As in `Task`.
    whole : bool
        As in `Task`.
    wanted : int
        Covers still wanted of the current root.
    """

    def __init__(self, task: Task) -> None:
        n = len(task.stacks)
        self.depth, self.whole = task.depth, task.whole
        self.wanted = 0
        self._task = task
        self._budget, self._room = task.budget, task.room
        self._allowance = self._keep = 0
        self._k, self._root = -1, -1
        self._counts = [0] * n
        self._nodes = [0] * n
        self._clash = [-1] * n
        self._covers: list[list[int]] = []
        self._cover_roots: list[int] = []
        self._frontier: list[list[int]] = []
        self._parents: list[int] = []
        self._weights: list[float] = []

    def next_stack(self) -> None:
        """Go on to the next stack of the task; stacks of one root share limit and allowance."""
        self._k += 1
        k, task = self._k, self._task
        root = int(task.stacks.roots[k])
        if k == 0 or root != self._root:
            self._root, self._keep = root, task.keep
            self.wanted, self._allowance = int(task.limits[k]), int(task.allowances[k])

    @property
    def nodes_left(self) -> int:
        """Nodes that may be counted now."""
        return self._allowance if self.whole else min(self._budget, self._allowance)

    @property
    def covers_left(self) -> int:
        """Covers that may be counted now."""
        return min(self.wanted, self._room)

    @property
    def is_open(self) -> bool:
        """True if the search may go on."""
        return self.nodes_left > 0 and self.covers_left > 0

    @property
    def may_begin(self) -> bool:
        """True if the search of another stack may begin."""
        return self.is_open and self._budget > 0

    def visit(self, n_nodes: int = 1) -> None:
        """Count nodes other than covers."""
        self._nodes[self._k] += n_nodes
        self._budget -= n_nodes
        self._allowance -= n_nodes

    def cover(self, cover: list[int]) -> None:
        """Count a cover, which is a node too, and keep it if it is one of the first."""
        self.visit()
        self._counts[self._k] += 1
        self._room -= 1
        self.wanted -= 1
        if self._keep > 0:
            self._keep -= 1
            self._covers.append(cover)
            self._cover_roots.append(self._root)

    def clash(self, position: int) -> None:
        """Record the position at which the current stack clashes, or -1."""
        self._clash[self._k] = position

    def hand_back(self, stack: list[int], weight: float = 1.0) -> None:
        """Add a stack to the frontier."""
        self._frontier.append(stack)
        self._parents.append(self._k)
        self._weights.append(weight)

    def outcome(self) -> Outcome:
        """Return all that was recorded."""
        parents = np.array(self._parents, np.int64)
        return Outcome(
            np.array(self._counts, np.int64),
            np.array(self._nodes, np.int64),
            np.array(self._clash, np.int32),
            Stacks.from_lists(self._covers, self._cover_roots),
            Stacks.from_lists(self._frontier, self._task.stacks.roots[parents]),
            np.array(self._weights, np.float64),
            parents,
        )


def search_batch(
    problem: ExactCover, task: Task, below: Callable[[list[int], Tally], None]
) -> Outcome:
    """Search the stacks of a task, one after another.

    Parameters
    ----------
    problem : ExactCover
    task : Task
    below : callable
        Searches below a stack that is a partial cover while the tally is open, and hands back
        the rest unless no more covers are wanted.
    """
    tally = Tally(task)
    for options in task.stacks:
        stack = options.tolist()
        tally.next_stack()
        if tally.may_begin:
            position = problem.clash_position(stack)
            tally.clash(position)
            if position < 0:
                below(stack, tally)
        elif tally.wanted:
            tally.hand_back(stack)
    return tally.outcome()


class PartialCover(ABC):
    """A partial cover of one problem that grows and shrinks by one option at a time."""

    def __init__(self) -> None:
        self._stack: list[int] = []

    @abstractmethod
    def choices(self) -> list[int] | None:
        """Return the options of the branch item, ascending; None if this is a cover.

        They depend on nothing but the set of options selected.
        """

    @abstractmethod
    def select(self, o: int) -> None:
        """Add an option that clashes with none of those selected."""

    @abstractmethod
    def deselect(self, o: int) -> None:
        """Take back the option that was added last."""

    def go(self, stack: list[int]) -> None:
        """Go to the partial cover of a stack."""
        while self._stack != stack[: len(self._stack)]:
            self.deselect(self._stack.pop())
        for o in stack[len(self._stack) :]:
            self.select(o)
            self._stack.append(o)


def walk(problem: ExactCover, task: Task, here: PartialCover) -> Outcome:
    """Search a task depth first; a node is a partial cover entered, dead ends and covers too."""
    return search_batch(problem, task, partial(_walk_below, here))


def _walk_below(here: PartialCover, stack: list[int], tally: Tally) -> None:
    waiting = [(stack, 1.0)]  # what is left below the stack, with weights, in reverse tree order
    while waiting and tally.is_open:
        top, weight = waiting.pop()
        here.go(top)
        choices = here.choices()
        if choices is None:
            tally.cover(top)
        elif choices and len(top) - len(stack) == tally.depth:
            tally.hand_back(top, weight)
        else:
            tally.visit()
            waiting += [([*top, o], weight / len(choices)) for o in reversed(choices)]
    if tally.wanted:
        for top, weight in reversed(waiting):
            tally.hand_back(top, weight)
