"""Two engines in Python, the bookkeeping of a task, and the depth-first walk that they share.

An engine with a search tree describes a partial cover that grows and shrinks (`PartialCover`), and
`walk` does the rest. An engine of another kind searches below one stack and asks the `Tally` how
much it may still count; `search_batch` calls it for every stack of the task.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil

import numpy as np

from batchsolve.core.interrupts import check_interrupt
from batchsolve.engines import ENOUGH, UNLIMITED, Outcome, Task, handicaps_of
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks, clash_of, options_of_branch

_NO_BRANCH = (0, 0, 0)


@dataclass
class OpenNode:
    """A node that is not searched yet, or its remaining branches.

    Attributes
    ----------
    stack : list of int
    weight : float
        The share of the node in the tree of the stack of the task.
    item : int
        The branch item, counted from 1 as those of branches; 0 if the node is not entered.
    n_branches : int
        The number of branches when the node was entered.
    options : list of int
        Those that remain, the last first.
    """

    stack: list[int]
    weight: float = 1.0
    item: int = 0
    n_branches: int = 1
    options: list[int] = field(default_factory=list)

    def next(self) -> tuple[list[int], float]:
        """Return the next node and its share; take its option away if this node was entered."""
        if not self.item:
            return self.stack, self.weight
        return [*self.stack, self.options.pop()], self.weight / self.n_branches


class Tally:
    """The results of a task so far, and the amounts that may still be counted.

    Attributes
    ----------
    depth : int
        As in `Task`.
    whole : bool
        As in `Task`.
    root : int
        The current root.
    wanted, keep : int
        Its covers still wanted, and still to keep.
    """

    def __init__(self, task: Task) -> None:
        n = len(task.stacks)
        self.depth, self.whole = task.depth, task.whole
        self.root, self.wanted, self.keep = -1, 0, 0
        self._task = task
        self._budget, self._room = task.budget, task.room
        self._allowance = 0
        self._k = -1
        self._counts = [0] * n
        self._nodes = [0] * n
        self._clash = [-1] * n
        self._covers: list[list[int]] = []
        self._cover_roots: list[int] = []
        self._frontier: list[list[int]] = []
        self._branches: list[Sequence[int]] = []
        self._parents: list[int] = []
        self._weights: list[float] = []

    def next_stack(self) -> None:
        """Go on to the next stack of the task; stacks of one root share limit and allowance."""
        self._k += 1
        k, task = self._k, self._task
        root = int(task.stacks.roots[k])
        if k == 0 or root != self.root:
            self.root, self.keep = root, task.keep
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

    def visit(self, n_nodes: int = 1, n_covers: int = 0) -> None:
        """Count nodes, some of which are covers."""
        self._nodes[self._k] += n_nodes
        self._budget -= n_nodes
        self._allowance -= n_nodes
        self._counts[self._k] += n_covers
        self._room -= n_covers
        self.wanted -= n_covers
        self.keep -= min(self.keep, n_covers)

    def cover(self, cover: list[int]) -> None:
        """Count a cover, which is a node too, and keep it if it is one of the first."""
        if self.keep > 0:
            self._covers.append(cover)
            self._cover_roots.append(self.root)
        self.visit(1, 1)

    def clash(self, position: int) -> None:
        """Record the position at which the current stack clashes, or -1."""
        self._clash[self._k] = position

    def hand_back(
        self, stack: list[int], weight: float = 1.0, branch: Sequence[int] = _NO_BRANCH
    ) -> None:
        """Add a stack to the frontier, perhaps with a branch."""
        self._frontier.append(stack)
        self._branches.append(branch)
        self._parents.append(self._k)
        self._weights.append(weight)

    def hand_back_rest(self, node: OpenNode) -> None:
        """Add what is left of a node to the frontier: as ranges, or a stack for each option."""
        n = n_parts = len(node.options)
        fineness = int(np.broadcast_to(self._task.fineness, len(self._counts))[self._k])
        if fineness < UNLIMITED:
            share = node.weight * n / node.n_branches
            n_parts = max(1, min(n, ceil(share * fineness)))
        options = node.options[::-1]
        for part in range(n_parts):
            chunk = options[part * n // n_parts : (part + 1) * n // n_parts]
            if len(chunk) == 1:
                self.hand_back([*node.stack, *chunk], node.weight / node.n_branches)
            else:
                share = node.weight * (len(chunk) / node.n_branches)
                self.hand_back(node.stack, share, (node.item, chunk[0], chunk[-1] + 1))

    def outcome(self) -> Outcome:
        """Return all that was recorded."""
        parents = np.array(self._parents, np.int64)
        return Outcome(
            np.array(self._counts, np.int64),
            np.array(self._nodes, np.int64),
            np.array(self._clash, np.int32),
            Stacks.from_lists(self._covers, self._cover_roots),
            Stacks.from_lists(self._frontier, self._task.stacks.roots[parents], self._branches),
            np.array(self._weights, np.float64),
            parents,
        )


def search_batch(
    problem: ExactCover, task: Task, below: Callable[[ExactCover, OpenNode, Tally], None]
) -> Outcome:
    """Search the stacks of a task, one after another.

    Parameters
    ----------
    problem : ExactCover
    task : Task
    below : callable
        Searches a problem below a stack that is a partial cover, or some branches of it, while the
        tally is open, and hands back the rest unless no more covers are wanted.
    """
    tally = Tally(task)
    for options, branch in zip(task.stacks, task.stacks.all_branches.tolist(), strict=True):
        stack, item = options.tolist(), branch[0]
        tally.next_stack()
        if tally.may_begin:
            position = clash_of(problem, options, branch)
            tally.clash(position)
            if position < 0:
                remaining = options_of_branch(problem, options, branch)[::-1] if item else []
                below(problem, OpenNode(stack, 1.0, item, len(remaining), remaining), tally)
        elif tally.wanted:
            tally.hand_back(stack, 1.0, branch)
    return tally.outcome()


class PartialCover(ABC):
    """A partial cover of one problem that grows and shrinks by one option at a time."""

    def __init__(self) -> None:
        self._stack: list[int] = []

    @abstractmethod
    def choices(self) -> tuple[int, list[int]] | None:
        """Return the branch item and its options, ascending; None if this is a cover.

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


def walk(problem: ExactCover, task: Task, begin: Callable[[ExactCover], PartialCover]) -> Outcome:
    """Search a task depth first; a node is a partial cover entered, dead ends and covers too.

    `begin` returns the empty partial cover of a problem.
    """
    here = begin(problem)
    return search_batch(problem, task, lambda _, *rest: _walk_below(here, *rest))


def _walk_below(here: PartialCover, begin: OpenNode, tally: Tally) -> None:
    waiting = [begin]  # what is left below the stack, in reverse tree order
    if begin.item and not begin.options:
        return
    while waiting and tally.is_open:
        check_interrupt()
        node = waiting[-1]
        top, weight = node.next()  # X8. [Leave level l.] if it is shorter than the one before
        if not node.options:
            waiting.pop()
        here.go(top)
        choices = here.choices()
        if choices is None:
            tally.cover(top)
            continue
        item, options = choices
        if options and len(top) - len(begin.stack) >= tally.depth:
            tally.hand_back(top, weight)
        else:
            tally.visit()
            if options:
                waiting.append(OpenNode(top, weight, item + 1, len(options), options[::-1]))
    if tally.wanted:
        for node in reversed(waiting):
            tally.hand_back_rest(node)


# ---- Algorithm X ----------------------------------------------------------------------------


def search_algorithm_x(problem: ExactCover, task: Task, rule: str = "") -> Outcome:
    """Search a task by Algorithm X on Python's own dict and set; see `batchsolve.engines`.

    It is short, and the same idea as dancing links; it walks the same tree, under every rule.
    """
    return walk(problem, task, partial(Matrix, rule=rule))


class Matrix(PartialCover):
    """The matrix as a dict of sets, after Ali Assaf's “Algorithm X in 30 lines”.

    The dict has the options that could still cover each open item. The branch item is the first of
    those with enough options or fewer, or else of those with the fewest, handicaps included. An
    item with a colour stays in the dict, with the options that give it that colour.
    """

    def __init__(self, problem: ExactCover, rule: str = "") -> None:
        super().__init__()
        self._n_primary = problem.n_primary
        numbers: list[int] = handicaps_of(problem, rule).tolist()
        self._enough, self._handicaps = numbers[ENOUGH], numbers[1:]
        self._items = [problem.coloring(o) for o in range(problem.n_options)]
        self._options: dict[int, set[int]] = {i: set() for i in range(problem.n_items)}
        for o, items in enumerate(self._items):
            for i in items:
                self._options[i].add(o)
        self._removed: list[set[int]] = []

    def choices(self) -> tuple[int, list[int]] | None:
        """Return the branch item and its options, ascending; None if this is a cover."""
        # The dict forgets the order of its items, so the item itself breaks ties.
        sizes = [
            (max(len(options) + self._handicaps[i] * (len(options) > 1), self._enough), i)
            for i, options in self._options.items()
            if i < self._n_primary
        ]
        if not sizes:
            return None
        _, item = min(sizes)
        return item, sorted(self._options[item])

    def select(self, o: int) -> None:
        """Add an option: cover its items, or give them its colours."""
        for i, color in self._items[o].items():
            options = self._options[i]
            removed = {other for other in options if not 0 < color == self._items[other][i]}
            for other in removed:
                for j in self._items[other]:
                    if j != i:
                        self._options[j].remove(other)
            if color:
                options -= removed
            else:
                del self._options[i]
            self._removed.append(removed)

    def deselect(self, o: int) -> None:
        """Undo `select`."""
        for i in reversed(self._items[o]):
            removed = self._removed.pop()
            self._options.setdefault(i, set()).update(removed)
            for other in removed:
                for j in self._items[other]:
                    if j != i:
                        self._options[j].add(other)


# ---- dancing links --------------------------------------------------------------------------


def search_dancing_links(problem: ExactCover, task: Task) -> Outcome:
    """Search a task by dancing links; see `batchsolve.engines`.

    This is ``docs/algorithm.md`` in executable form. The data structure is the one of *The Art of
    Computer Programming* 7.2.2.1, Algorithm X, under the names of `batchsolve/core/links.h`; `walk`
    searches from stack to stack. Nodes ``0 .. n_items`` are the root and the headers of the items'
    lists; behind them stand the nodes of the options, each option between two spacers. Every node
    has an item (TOP) and its neighbours in the item's list (ULINK, DLINK); headers also have LLINK
    and RLINK.
    """
    return walk(problem, task, Links)


class Links(PartialCover):
    """The dancing links of a problem without colours and bounds.

    The branch item is the first with at most one option, or else of those with the fewest.

    Attributes
    ----------
    top, up, down : ndarray of int64, shape (n_nodes,)
        Node -> its item, 0 for a spacer; the node above; the node below. The node above a spacer is
        the first node of the option before it, the node below it the last of the option behind it.
    left, right : ndarray of int64, shape (n_items + 1,)
        Item -> the active primary items around it.
    size : ndarray of int64, shape (n_items + 1,)
        Item -> the number of options in its list.
    first : ndarray of int64, shape (n_options,)
        Option -> its first node.
    """

    def __init__(self, problem: ExactCover) -> None:
        super().__init__()
        n_items, n_options = problem.n_items, problem.n_options
        # X1. [Initialize.]
        n_nodes = n_items + 1 + problem.n_entries + n_options + 1
        headers = np.arange(n_items + 1)
        self.top = np.zeros(n_nodes, np.int64)
        self.up, self.down, self.option = np.zeros((3, n_nodes), np.int64)
        self.up[headers] = self.down[headers] = headers
        self.left, self.right = np.tile(headers, (2, 1))
        ring = np.arange(problem.n_primary + 1)
        self.left[ring], self.right[ring] = np.roll(ring, 1), np.roll(ring, -1)
        self.size = np.zeros(n_items + 1, np.int64)
        self.first = problem.indptr[:-1] + np.arange(n_options) + n_items + 2
        for o in range(n_options):
            self._add_option(o, 1 + problem.option(o).astype(np.int64))

    def _add_option(self, o: int, items: np.ndarray) -> None:
        """Append the nodes of an option to the lists of its items, and a spacer behind them."""
        p = int(self.first[o])
        last = p + items.size - 1
        for q, i in enumerate(items, p):
            self.top[q], self.up[q], self.down[q] = i, self.up[i], i
            self.down[self.up[i]] = self.up[i] = q
            self.size[i] += 1
        self.option[p : last + 1] = o
        self.down[p - 1], self.up[last + 1] = last, p

    def choices(self) -> tuple[int, list[int]] | None:
        """Return the branch item and its options, ascending; None if this is a cover."""
        # X2. [Enter level l.]
        if self.right[0] == 0:
            return None
        # X3. [Choose i.]
        item = i = self.right[0]
        while i != 0 and self.size[item] > 1:
            if self.size[i] < self.size[item]:
                item = i
            i = self.right[i]
        options, p = [], self.down[item]
        while p != item:
            options.append(int(self.option[p]))
            p = self.down[p]
        return int(item) - 1, options

    def select(self, o: int) -> None:
        """X4. [Cover i.] X5. [Try x_l.]: cover the items of an option."""
        for i in self._items(o):
            self._cover(i)

    def deselect(self, o: int) -> None:
        """X6. [Try again.] X7. [Backtrack.]: uncover them, the last first."""
        for i in reversed(self._items(o)):
            self._uncover(i)

    def _items(self, o: int) -> list[int]:
        p = q = int(self.first[o])
        while self.top[q] != 0:
            q += 1
        return [int(i) for i in self.top[p:q]]

    def _cover(self, i: int) -> None:
        """Hide the options of an item, and take it out of the header list."""
        p = self.down[i]
        while p != i:
            self._hide(p)
            p = self.down[p]
        left, right = self.left[i], self.right[i]
        self.right[left], self.left[right] = right, left

    def _uncover(self, i: int) -> None:
        self.right[self.left[i]] = self.left[self.right[i]] = i
        p = self.up[i]
        while p != i:
            self._unhide(p)
            p = self.up[p]

    def _hide(self, p: int) -> None:
        """Take the other nodes of p's option out of their lists."""
        q = p + 1
        while q != p:
            if self.top[q] == 0:
                q = self.up[q]
            else:
                up, down = self.up[q], self.down[q]
                self.down[up], self.up[down] = down, up
                self.size[self.top[q]] -= 1
                q += 1

    def _unhide(self, p: int) -> None:
        q = p - 1
        while q != p:
            if self.top[q] == 0:
                q = self.down[q]
            else:
                self.down[self.up[q]] = self.up[self.down[q]] = q
                self.size[self.top[q]] += 1
                q -= 1
