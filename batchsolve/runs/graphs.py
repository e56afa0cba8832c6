"""All covers of a problem as a graph, and covers drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from batchsolve.engines import check_support, get_engine
from batchsolve.errors import InputError
from batchsolve.graphs.drawing import draw
from batchsolve.graphs.solution_graph import SolutionGraph, checked_draws
from batchsolve.interrupts import asking
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.count import Stack
from batchsolve.runs.estimate import weighted_covers
from batchsolve.runs.reading import Puzzle, problem_and_stack
from batchsolve.settings import GRAPH_MEGABYTES, whole_number

MOST_MEGABYTES = 2**30


def solution_graph(
    problem: Puzzle,
    stack: Stack = (),
    *,
    memory: int = GRAPH_MEGABYTES,
    ordered: bool = True,
    check: Callable[[], None] | None = None,
) -> SolutionGraph:
    """Draw the graph of all covers of a problem, by a search that remembers what it has seen.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    stack : sequence of int
        The options that the covers must contain; by default the clues that were read, or none.
    memory : int
        Megabytes that nodes and tables may take while it is drawn. The graph has 12 bytes a node,
        and 8 or more once its covers are counted.
    ordered : bool
        Whether options must come in the same order on all paths: then it can be saved, and equal
        sets of covers have equal graphs. It can have far more nodes, or fewer.
    check : callable, optional
        Called every few tenths of a second; may raise, to end it.

    Returns
    -------
    SolutionGraph

    Raises
    ------
    ProblemError
        If the stack is no partial cover.
    InputError
        If the graph takes more memory, or items have bounds.

    Examples
    --------
    >>> graph = solution_graph("dominoes:12x12")
    >>> graph.count
    53060477521960000
    >>> solution_graph("latin:5", memory=1)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: the graph of all covers takes more than 1 megabyte, ...
    """
    memory = whole_number("memory", memory, 1, MOST_MEGABYTES)
    problem, begin = problem_and_stack(problem, stack)
    if problem.bounds is not None:
        raise InputError(
            f"a graph of solutions has no room for bounds of items: {problem!r}; count or "
            f"enumerate it"
        )
    with asking(check):
        return draw(problem, begin[0], megabytes=memory, ordered=ordered)


@dataclass(frozen=True, eq=False)
class Samples:
    """Covers drawn at random.

    Attributes
    ----------
    covers : Stacks
        One stack a cover, in the order in which they were drawn.
    count : int or None
        How many covers there are; None if they were not counted, for the samples have weights.
    weights : list of int or None
        What each cover stands for, the reciprocal of its chance; None if all chances are equal.
    probes : int
        The probes that found weighted covers; the others ended without one. The sum of the weights,
        divided by this, estimates the number of covers.

    Examples
    --------
    >>> drawn = sample("queens:8", 3, seed=1)
    >>> drawn.covers, drawn.count, drawn.weights
    (Stacks(3 stacks of 8 options), 92, None)
    """

    covers: Stacks
    count: int | None
    weights: list[int] | None = None
    probes: int = 0

    def __len__(self) -> int:
        return len(self.covers)

    def __iter__(self) -> Iterator[npt.NDArray[np.uint32]]:
        return iter(self.covers)


def sample(
    problem: Puzzle,
    n: int,
    *,
    stack: Stack = (),
    seed: int = 0,
    distinct: bool = False,
    weighted: bool = False,
    memory: int = GRAPH_MEGABYTES,
    check: Callable[[], None] | None = None,
) -> Samples:
    """Draw covers of a problem at random, each with exactly the same chance.

    The graph of all covers is drawn first, and numbers of covers are drawn from it.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    n : int
        How many covers.
    stack : sequence of int
        The options that the covers must contain; by default the clues that were read, or none.
    seed : int
        Seed of the random numbers, 0 or more. The same seed draws the same covers.
    distinct : bool
        Whether no cover is drawn twice.
    weighted : bool
        Draw by random probes instead, which take hardly any memory (D. E. Knuth, CS-TR-74-442,
        1974): chances are not equal, and every cover comes with the reciprocal of its chance.
    memory : int
        Megabytes that the graph may take while it is drawn.
    check : callable, optional
        Called every few tenths of a second; may raise, to end it.

    Returns
    -------
    Samples

    Raises
    ------
    InputError
        If the graph takes more memory, there are no covers or fewer than wanted, or probes hardly
        ever find one.

    Examples
    --------
    >>> drawn = sample("latin:4", 1000, seed=7)
    >>> drawn.count, len({tuple(sorted(cover)) for cover in drawn.covers.options.reshape(-1, 16)})
    (576, 470)
    >>> len(sample("latin:8", 5, weighted=True).weights)
    5
    """
    n, seed = checked_draws(n, seed)  # before a graph is drawn, which may take long
    if weighted:
        if distinct:
            raise InputError("weighted samples are drawn one by one; leave out distinct")
        with asking(check):
            return _weighted(problem, n, stack, seed)
    problem, begin = problem_and_stack(problem, stack)  # no advice where that is the error
    try:
        graph = solution_graph(problem, begin[0], memory=memory, ordered=False, check=check)
    except InputError as error:
        error.add_note("or draw `weighted` samples, which need no graph")
        raise
    return Samples(graph.sample(n, seed, distinct=distinct), graph.count)


def _weighted(problem: Puzzle, n: int, stack: Stack, seed: int) -> Samples:
    problem, begin = problem_and_stack(problem, stack)
    engine = get_engine("dlx")
    check_support(engine, problem)
    covers, weights, probes = weighted_covers(engine, problem, begin[0].tolist(), n, seed)
    return Samples(covers, None, weights, probes)
