"""The splitter: expansion of a search tree to depth *d*, whose partial covers are stacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from batchsolve.engines import Task, check_support, get_engine
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.reading import Puzzle, problem_and_stack
from batchsolve.settings import whole_number

BLOCK = 4096  # stacks expanded by one level at a time, between checks for Ctrl-C


@dataclass(frozen=True, eq=False)
class Split:
    """The stacks at the depth of a split, and the sums above them.

    Attributes
    ----------
    stacks : Stacks
        The partial covers at depth d that are neither complete nor dead ends, in tree order.
        Every root is 0.
    count : int
        Covers above or at depth d.
    nodes : int
        Nodes visited: all above depth d, and the covers and dead ends at depth d.

    Examples
    --------
    >>> parts = split("queens:6", depth=1)
    >>> len(parts.stacks), parts.count, parts.nodes
    (6, 0, 1)
    """

    stacks: Stacks
    count: int
    nodes: int


def split(
    problem: Puzzle,
    stack: Sequence[int] | npt.NDArray[np.uint32] = (),
    depth: int = 1,
    engine: str = "dlx",
) -> Split:
    """Expand the search tree below a stack to a depth.

    Searching all returned stacks, and adding `count` and `nodes`, gives the same sums as searching
    the stack itself.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    stack : sequence of int
        The stack to begin at; by default the clues that were read, or the whole problem.
    depth : int
        Number of options to choose beyond the stack.
    engine : str
        The engine whose tree is expanded.

    Raises
    ------
    ProblemError
        If two options of the stack clash.
    InputError
        If the depth is out of bounds, or the engine does not support the problem.

    Examples
    --------
    >>> from batchsolve.problems.sudoku import Sudoku
    >>> parts = split(Sudoku(2, 2), depth=2)
    >>> len(parts.stacks), parts.count, parts.nodes
    (8, 0, 5)
    """
    depth = whole_number("a split depth", depth)
    problem, begin = problem_and_stack(problem, stack)
    kernel = get_engine(engine)
    check_support(kernel, problem)
    count, nodes = 0, 0
    for _ in range(max(depth, 1)):
        parts = []
        for k in range(0, len(begin), BLOCK):
            some = begin.between(k, min(k + BLOCK, len(begin)))
            outcome = kernel.search(problem, Task.of(some, depth=min(depth, 1)))
            count += int(outcome.counts.sum())
            nodes += int(outcome.nodes.sum())
            parts.append(outcome.frontier)
        begin = Stacks.concatenate(parts)
        if not len(begin):
            break
    return Split(begin, count, nodes)
