"""Exact cover as a satisfiability problem, for the solvers of python-sat.

An option is a variable. Of the options of a primary item at least one is true; of two options that
share an item, other than in the same colour, at most one is. The formula of a stack holds only the
options that can be added to the stack and the items that it leaves uncovered, so it is small where
there are many clues. The solver finds a cover; a *blocking clause* then rules this cover out, and
the solver is called again, until no cover is left. Every stack of a task has its own solver,
which is freed with it: earlier searches never change a result.

The solver finds covers in no order. Their order, and with it the tree, is read off the covers: the
branch item is the first uncovered primary item, so the options beyond a stack were chosen in the
order of their first items. A node is a partial cover with a cover below it, or a stack of the task
that has none. Where more nodes or covers lie below a stack than may be counted, the stack is cut:
each option of the branch item makes a new stack, which inherits the covers that are known
below it. So neither the nodes nor the first covers depend on the order in which the solver finds
covers.

The first covers in tree order take hundreds of calls of the solver, any covers one each. Any will
do for a stack that is searched whole, as rows are: they are always the same, because the solver is
new. Its nodes are the partial covers above those found, and the conflicts that the solver met. So a
limit on nodes limits the solver too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count, pairwise, takewhile
from operator import eq
from typing import NamedTuple

import numpy as np

from batchsolve.core.arrays import Bools, Ints, owners_of
from batchsolve.core.interrupts import check_interrupt
from batchsolve.engines import UNLIMITED, Outcome, Task, check_support, get_engine
from batchsolve.engines.walk import OpenNode, Tally, search_batch
from batchsolve.problems.exact_cover import ExactCover, fitting, options_with

SOLVER = "glucose4"  # with proofs of uniqueness, the fastest of those that release the interpreter
MOST_BLOCKED = 100  # covers below one stack before it is cut: blocking clauses slow the solver down
SLICE = 1000  # conflicts in one call of the solver, a few hundredths of a second
MOST_IN_PAIRS = 12  # options of an item up to which a clause for every two of them is best


def search(problem: ExactCover, task: Task) -> Outcome:
    """Search a task; see `batchsolve.engines`."""
    check_support(get_engine("sat"), problem)
    return search_batch(problem, task, _search_below)


_Branch = tuple[list[int], float, list[list[int]]]
"""A stack that is still to be searched, its weight, and the known covers that are not counted."""


def _search_below(problem: ExactCover, node: OpenNode, tally: Tally) -> None:
    """Search below a stack, as `search_batch` asks; of its branch, below each option."""
    stack = node.stack
    formula = _Formula(problem, stack, tally)
    waiting: list[_Branch] = [(stack, 1.0, [])]  # in reverse tree order
    if node.item:
        waiting = [([*stack, o], 1 / node.n_branches, []) for o in node.options]
    try:
        while waiting and tally.is_open:
            waiting += reversed(_search_branch(formula, stack, waiting, tally))
        if tally.wanted:
            for top, weight, known in reversed(waiting):
                if tally.whole or formula.covers(top, known, 1):
                    tally.hand_back(top, weight)
    finally:
        formula.solver.delete()


def _search_branch(
    formula: _Formula, stack: list[int], waiting: list[_Branch], tally: Tally
) -> list[_Branch]:
    """Search the last of the branches that wait below a stack, or cut it into others.

    It goes on waiting if it is searched whole and its allowance does not suffice.
    """
    top, weight, known = branch = waiting[-1]
    # Above the depth of a split every stack is cut, so one cover tells enough.
    most = min(tally.covers_left, MOST_BLOCKED) if tally.depth >= UNLIMITED else 0
    any_will_do = tally.whole and tally.covers_left <= most
    extra = 0 if any_will_do else 1  # a cover that shows that there are more
    covers = formula.covers(top, known[:most] if any_will_do else known, most + extra)
    is_small = len(covers) <= most or covers == [top]
    branches: list[_Branch] = []
    if tally.nodes_left == 0:  # the solver met too many conflicts
        return branches
    if not covers:
        tally.visit(1 if top is stack else 0)
    elif is_small and (n_nodes := _n_nodes(top, covers)) <= tally.nodes_left:
        tally.visit(n_nodes - len(covers))
        for cover in covers:
            tally.cover(cover)
    elif any_will_do:
        tally.visit(tally.nodes_left)
        return branches
    elif len(top) - len(stack) >= tally.depth:
        tally.hand_back(top, weight)
    else:
        branches = _cut(formula, branch, covers)
        tally.visit()
    waiting.pop()
    return branches


def _cut(formula: _Formula, branch: _Branch, covers: list[list[int]]) -> list[_Branch]:
    """Cut a branch with these covers into branches, one for each option."""
    stack, weight, _ = branch
    options = formula.choices(stack)
    below: dict[int, list[list[int]]] = {o: [] for o in options}
    for cover in covers:
        below[cover[len(stack)]].append(cover)
    return [([*stack, o], weight / len(options), below[o]) for o in options]


def _n_nodes(stack: list[int], covers: list[list[int]]) -> int:
    """Count the partial covers from a stack to ascending covers below it, both included."""
    shared = (sum(takewhile(bool, map(eq, *two))) for two in pairwise([stack, *covers]))
    return 1 + sum(map(len, covers)) - sum(shared)


class _Formula:
    """The formula of the residual problem of a stack, and its solver.

    Its variables from 1 on are the options that can be added to the stack, ascending.
    """

    def __init__(self, problem: ExactCover, stack: list[int], tally: Tally) -> None:
        from pysat.solvers import Solver

        self._tally = tally
        self._problem = problem
        residual = residual_of(problem, stack)
        options, firsts = residual.options.tolist(), residual.first.tolist()
        self._options, self._first = options, dict(zip(options, firsts, strict=True))
        self._variable = {o: v for v, o in enumerate(options, 1)}
        clauses, n_variables = clauses_of(residual)
        self._new_variable = count(n_variables + 1)
        self._n_given = len(stack)
        self.solver = Solver(SOLVER, bootstrap_with=clauses)
        self._n_conflicts = 0

    def choices(self, stack: list[int]) -> list[int]:
        """Return the options of the branch item below a stack that is not a cover, ascending."""
        fits, held = fitting(self._problem, stack)
        item = int(np.flatnonzero(held[: self._problem.n_primary] < 0)[0])
        return options_with(self._problem, item, fits)

    def covers(self, stack: list[int], known: list[list[int]], most: int) -> list[list[int]]:
        """Add covers below a stack to the known ones, up to `most`; return them in tree order."""
        covers = list(known)
        # The blocking clauses hold while this is assumed; afterwards it is false for good.
        blocking = next(self._new_variable)
        assumptions = [blocking, *self._chosen(stack)]
        for cover in covers:
            self._block(blocking, cover)
        while len(covers) < most and (solution := self._solve(stack, assumptions)) is not None:
            covers.append(solution)
            self._block(blocking, solution)
        self.solver.add_clause([-blocking])
        return sorted(covers)

    def _chosen(self, stack: list[int]) -> list[int]:
        return [self._variable[o] for o in stack[self._n_given :]]

    def _block(self, blocking: int, cover: list[int]) -> None:
        self.solver.add_clause([-blocking, *(-v for v in self._chosen(cover))])

    def _solve(self, stack: list[int], assumptions: list[int]) -> list[int] | None:
        """Return a cover below a stack in order of choice; None if none is found.

        The solver works in slices and lets other threads work meanwhile, so Ctrl-C is noticed
        between two of them. A slice goes on where the one before it ended.
        """
        is_satisfiable, tally = None, self._tally
        while is_satisfiable is None:
            check_interrupt()
            self.solver.conf_budget(SLICE)
            is_satisfiable = self.solver.solve_limited(assumptions, expect_interrupt=True)
            if tally.whole:  # the conflicts of the slice are nodes
                before = self._n_conflicts
                self._n_conflicts = self.solver.accum_stats()["conflicts"]
                tally.visit(min(self._n_conflicts - before, tally.nodes_left))
                if tally.nodes_left == 0:
                    return None
        if not is_satisfiable:
            return None
        true = {o for o, v in zip(self._options, self.solver.get_model(), strict=False) if v > 0}
        return [*stack, *sorted(true.difference(stack), key=self._first.__getitem__)]


class Residual(NamedTuple):
    """The residual problem of a stack.

    An entry says that a remaining option, counted from 1, has an item which the stack does not
    cover. Entries ascend by items, those of one item by options.
    """

    options: Ints  # that can be added to the stack, with a primary item
    first: Ints  # their first items
    owners: Ints  # of the entries: their options, counted from 1
    colors: Ints | None  # of the entries
    sizes: Ints  # of the items: how many entries they have
    is_required: Bools  # of the items: whether primary and not covered


def residual_of(problem: ExactCover, stack: list[int]) -> Residual:
    """Return the residual problem of a stack."""
    items, owners = problem.indices.astype(np.int64), owners_of(problem.indptr)
    first = np.minimum.reduceat(items, problem.indptr[:-1])
    fits, held = fitting(problem, stack)
    # Options without primary items are in a cover only if the stack has them.
    is_usable = fits & (first < problem.n_primary)
    options = np.flatnonzero(is_usable)
    number = np.zeros(problem.n_options, np.int64)
    number[options] = np.arange(1, options.size + 1)
    kept = np.flatnonzero(is_usable[owners] & (held[items] < 0))
    kept = kept[np.argsort(items[kept], kind="stable")]
    return Residual(
        options,
        first[options],
        number[owners[kept]],
        None if problem.colors is None else problem.colors[kept].astype(np.int64),
        np.bincount(items[kept], minlength=problem.n_items),
        (held < 0) & (np.arange(problem.n_items) < problem.n_primary),
    )


def clauses_of(residual: Residual) -> tuple[Iterator[Sequence[int]], int]:
    """Return the clauses of a formula, and the number of their variables."""
    n_variables = residual.options.size
    long: list[list[int]] = []
    pairs = [np.empty((0, 2), np.int64)]  # of literals
    starts = np.cumsum(residual.sizes) - residual.sizes
    for size in np.unique(residual.sizes).tolist():
        items = np.flatnonzero(residual.sizes == size)
        places = starts[items][:, None] + np.arange(size)
        members = residual.owners[places]
        # The clause of an item without options is empty: nothing makes it true.
        long += members[residual.is_required[items]].tolist()
        colors = None if residual.colors is None else residual.colors[places]
        if size <= MOST_IN_PAIRS or (colors is not None and colors.any()):
            pairs.append(_allow_one(members, colors))
        else:
            more, n_variables = _allow_one_in_grids(members, n_variables)
            pairs += more
    first, second = np.concatenate(pairs).T.tolist()
    return chain(long, zip(first, second, strict=True)), n_variables


def _allow_one(rows: Ints, colors: Ints | None = None) -> Ints:
    """Return pairs that let at most one variable of each row be true, or those of one colour."""
    first, second = np.triu_indices(rows.shape[1], 1)
    pairs = np.stack([-rows[:, first], -rows[:, second]], axis=2)
    if colors is None:
        return pairs.reshape(-1, 2)
    return pairs[(colors[:, first] == 0) | (colors[:, first] != colors[:, second])]


def _allow_one_in_grids(rows: Ints, n_variables: int) -> tuple[list[Ints], int]:
    """Return pairs that let at most one variable of each row be true, with new variables.

    The variables of a row stand in a grid. One that is true makes a variable of its line and one of
    its column true, and of these at most one is (the product encoding; Chen, "A new SAT encoding of
    the at-most-one constraint", 2010). Also returns how many variables there are then.
    """
    n, size = rows.shape
    width = int(np.ceil(np.sqrt(size)))
    pairs: list[Ints] = []
    for place in np.divmod(np.arange(size), width):
        n_places = int(place.max()) + 1
        new = n_variables + 1 + np.arange(n * n_places).reshape(n, n_places)
        n_variables += new.size
        pairs += [np.stack([-rows, new[:, place]], axis=2).reshape(-1, 2), _allow_one(new)]
    return pairs, n_variables
