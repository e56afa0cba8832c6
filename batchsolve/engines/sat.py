"""Exact cover as a satisfiability problem, for the solvers of python-sat.

An option is a variable. Of the options of a primary item at least one is true; of two options that
share an item, other than in the same colour, at most one is. Assuming that the options of a stack
are true, the solver finds a cover below the stack; a *blocking clause* then rules this cover out,
and the solver is asked again, until nothing is left.

The solver finds covers in no order. Their order, and with it the tree, is read off the covers: the
branch item is the first uncovered primary item, so the options beyond a stack were chosen in the
order of their first items. A node is a partial cover with a cover below it, or a stack of the task
that has none. Where more nodes or covers lie below a stack than may be counted, the stack is cut:
each option of the branch item makes a stack of its own, which inherits the covers that are known
below it. So the nodes, and what is found first, do not depend on what the solver finds first.
"""

from __future__ import annotations

from itertools import combinations, count
from typing import Any, NamedTuple

from batchsolve.engines.contract import UNLIMITED, Capabilities, Outcome, Task, check_support
from batchsolve.engines.walk import Tally, search_batch
from batchsolve.problems.exact_cover import ExactCover

SOLVER = "cadical153"
MOST_BLOCKED = 100  # covers below one stack before it is cut: blocking clauses slow the solver down


class Sat:
    """A reduction to SAT; all solutions through blocking clauses."""

    name = "sat"
    capabilities = Capabilities(
        "reduction to SAT, with the solvers of python-sat", colors=True, module="pysat", extra="sat"
    )

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search the stacks of a task; see `batchsolve.engines.contract`."""
        check_support(self, problem)
        from pysat.solvers import Solver

        with Solver(SOLVER) as solver:
            return search_batch(problem, task, _Formula(problem, solver).search_below)


class _Branch(NamedTuple):
    """A stack that is still to be searched."""

    stack: list[int]
    weight: float
    known: list[list[int]]  # covers found below it that are not yet counted


class _Formula:
    """The formula of a problem in a solver. Option ``o`` is variable ``o + 1``."""

    def __init__(self, problem: ExactCover, solver: Any) -> None:
        self._solver = solver
        self._n_primary = problem.n_primary
        self._items = [problem.coloring(o) for o in range(problem.n_options)]
        self._first = [min(items) for items in self._items]
        self._options: list[list[int]] = [[] for _ in range(problem.n_items)]
        for o, items in enumerate(self._items):
            for i in items:
                self._options[i].append(o)
        self._new_variable = count(problem.n_options + 1)
        for i, options in enumerate(self._options):
            if i < self._n_primary:
                solver.add_clause([o + 1 for o in options])
            for one, other in combinations(options, 2):
                if not 0 < self._items[one][i] == self._items[other][i]:
                    solver.add_clause([-one - 1, -other - 1])

    def search_below(self, stack: list[int], tally: Tally) -> None:
        """Search below a stack, as `search_batch` asks."""
        waiting = [_Branch(stack, 1.0, [])]  # in reverse tree order
        while waiting and tally.is_open:
            top, weight, known = branch = waiting.pop()
            # Above the depth of a split every stack is cut, so one cover tells enough.
            most = min(tally.covers_left, MOST_BLOCKED) if tally.depth >= UNLIMITED else 0
            covers = self._covers(top, known, most + 1)
            is_small = len(covers) <= most or covers == [top]
            if not covers:
                tally.visit(1 if top is stack else 0)
            elif is_small and (n_nodes := _n_nodes(top, covers)) <= tally.nodes_left:
                tally.visit(n_nodes - len(covers))
                for cover in covers:
                    tally.cover(cover)
            elif len(top) - len(stack) == tally.depth:
                tally.hand_back(top, weight)
            else:
                tally.visit()
                waiting += reversed(self._cut(branch, covers))
        if tally.wanted:
            for top, weight, known in reversed(waiting):
                if self._covers(top, known, 1):
                    tally.hand_back(top, weight)

    def _covers(self, stack: list[int], known: list[list[int]], most: int) -> list[list[int]]:
        """Add covers below a stack to the known ones, up to `most`; return them in tree order."""
        covers = list(known)
        # While this is assumed the blocking clauses hold; then it is false for ever.
        blocking = next(self._new_variable)
        assumptions = [blocking, *(o + 1 for o in stack)]
        for cover in covers:
            self._block(blocking, cover)
        while len(covers) < most and self._solver.solve(assumptions=assumptions):
            covers.append(self._in_order(stack, self._solver.get_model()))
            self._block(blocking, covers[-1])
        self._solver.add_clause([-blocking])
        return sorted(covers)

    def _block(self, blocking: int, cover: list[int]) -> None:
        self._solver.add_clause([-blocking, *(-o - 1 for o in cover)])

    def _in_order(self, stack: list[int], model: list[int]) -> list[int]:
        """Return the cover of a model: the stack, then the other options in order of choice.

        Options without primary items are free in a model; they belong to a cover only if the
        stack has them.
        """
        true = {v - 1 for v in model if 0 < v <= len(self._items)}
        rest = [o for o in true.difference(stack) if self._first[o] < self._n_primary]
        return [*stack, *sorted(rest, key=self._first.__getitem__)]

    def _cut(self, branch: _Branch, covers: list[list[int]]) -> list[_Branch]:
        """Return the branches of a branch with these covers."""
        stack, weight, _ = branch
        covered = {i: c for o in stack for i, c in self._items[o].items()}
        item = next(i for i in range(self._n_primary) if i not in covered)
        options = [
            o
            for o in self._options[item]
            if all(i not in covered or 0 < c == covered[i] for i, c in self._items[o].items())
        ]
        below: dict[int, list[list[int]]] = {o: [] for o in options}
        for cover in covers:
            below[cover[len(stack)]].append(cover)
        return [_Branch([*stack, o], weight / len(options), below[o]) for o in options]


def _n_nodes(stack: list[int], covers: list[list[int]]) -> int:
    """Count the partial covers from a stack to covers below it, both included."""
    return len({tuple(c[:end]) for c in covers for end in range(len(stack), len(c) + 1)})
