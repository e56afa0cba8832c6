"""All covers of a problem as a graph, and covers drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from batchsolve.core.arrays import UInts
from batchsolve.core.interrupts import asking
from batchsolve.engines import engine_for
from batchsolve.errors import InputError, InWords, counted, grouped
from batchsolve.problems.attributes import costs_of
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.count import Stack
from batchsolve.runs.estimate import weighted_covers
from batchsolve.runs.progress import COVER_BAR, OnProgress, shown, sums_told
from batchsolve.runs.reading import Puzzle, problem_and_stacks
from batchsolve.search.graph_drawing import draw
from batchsolve.search.graphs import SolutionGraph, checked_draws
from batchsolve.settings import GRAPH_MEGABYTES
from batchsolve.settings.arguments import flag_of, text_of, whole_number, word_of

MOST_MEGABYTES = 2**30
DISTRIBUTIONS = ("options", "cost")


def solution_graph(
    problem: Puzzle,
    stack: Stack = (),
    *,
    memory: int = GRAPH_MEGABYTES,
    ordered: bool = True,
    check: Callable[[], object] | None = None,
) -> SolutionGraph:
    """Build the graph of all covers of a problem by a search that memoizes subproblems.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    stack : sequence of int
        The options that the covers must contain; by default the clues that were read, or none.
    memory : int
        Upper bound of the megabytes of nodes and tables during the search. The graph takes 12 bytes
        per node, and 8 or more in addition once its covers are counted.
    ordered : bool
        Keep options in the same order on all paths: then the graph can be saved, and equal sets of
        covers have equal graphs. It can have far more nodes, or fewer.
    check : callable, optional
        Called every few tenths of a second; may raise to stop the search.

    Returns
    -------
    SolutionGraph

    Raises
    ------
    ProblemError
        If the stack is not a partial cover.
    InputError
        If the graph takes more memory.

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
    problem, begin = problem_and_stacks(problem, stack, is_one=True)
    with asking(check):
        return draw(problem, begin[0], megabytes=memory, ordered=flag_of("ordered", ordered))


def distribution(
    problem: Puzzle,
    by: str = "options",
    *,
    stack: Stack = (),
    memory: int = GRAPH_MEGABYTES,
    check: Callable[[], object] | None = None,
) -> dict[int, int]:
    """Count the covers of each size, or of each cost.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    by : {"options", "cost"}
        The number of options of a cover, or the sum of their costs.
    stack : sequence of int
        The options that the covers must contain; by default the clues that were read, or none.
    memory : int
        As for `solution_graph`, and the upper bound of the megabytes that the sums may take.
    check : callable, optional
        As for `solution_graph`.

    Returns
    -------
    dict of int to int
        For each size or cost that occurs, ascending, the exact number of covers.

    Raises
    ------
    InputError
        If the graph or the sums take more memory, or the problem has no costs.

    Examples
    --------
    >>> distribution("partitions:4")
    {1: 1, 2: 7, 3: 6, 4: 1}
    >>> from batchsolve.problems.exact_cover import ExactCover
    >>> options = [["a", "b"], ["a"], ["b"]]
    >>> distribution(ExactCover.from_options(options, costs=[25, 20, 2]), "cost")
    {22: 1, 25: 1}
    """
    word_of("sum", text_of("by", by), DISTRIBUTIONS)
    problem, begin = problem_and_stacks(problem, stack, is_one=True)
    weights = costs_of(problem) if by == "cost" else None
    graph = solution_graph(problem, begin[0], memory=memory, ordered=False, check=check)
    with asking(check):
        return graph.distribution(weights, memory=memory)


@dataclass(frozen=True, eq=False, repr=False)
class Samples(InWords):
    """Covers drawn at random.

    Attributes
    ----------
    covers : Stacks
        One stack per cover, in the order of the draws.
    count : int or None
        The number of all covers; None for weighted samples, which do not count them.
    weights : list of int or None
        The weight of each cover, the reciprocal of its probability; None if all are equally likely.
    probes : int
        The number of probes made for weighted samples; some of them found no cover. The last one
        found one: the sum of the other weights, divided by ``probes - 1``, estimates the number of
        covers.

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

    def __str__(self) -> str:
        of = "" if self.count is None else f" of {grouped(self.count)}"
        weighted = "" if self.weights is None else f", weighted, of {counted(self.probes, 'probe')}"
        return f"{counted(len(self), 'cover')}{of}{weighted}"

    def __len__(self) -> int:
        return len(self.covers)

    def __iter__(self) -> Iterator[UInts]:
        return iter(self.covers)


def sample(
    problem: Puzzle,
    n: int,
    *,
    stack: Stack = (),
    seed: int = 0,
    distinct: bool = False,
    weighted: bool = False,
    memory: int | None = None,
    on_progress: OnProgress = None,
) -> Samples:
    """Draw covers of a problem at random, all with exactly the same probability.

    The function first builds the graph of all covers, and then draws from it.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    n : int
        Number of covers.
    stack : sequence of int
        The options that the covers must contain; by default the clues that were read, or none.
    seed : int
        Seed of the random numbers, 0 or more. The same seed draws the same covers.
    distinct : bool
        Draw no cover twice.
    weighted : bool
        Draw by sampling probes instead (D. E. Knuth, CS-TR-74-442, 1974), which need little memory,
        unless items have tens of thousands of options: covers are not equally likely, and each has
        a weight, the reciprocal of its probability.
    memory : int, optional
        As for `solution_graph`; weighted samples need none.
    on_progress : callable or True, optional
        See `Progress`; its rows are the covers drawn: all at once after the graph is built, or some
        of the weighted ones.

    Returns
    -------
    Samples

    Raises
    ------
    InputError
        If the graph takes more memory, the problem has no covers or fewer than wanted, or probes
        hardly ever find one.

    Examples
    --------
    >>> drawn = sample("latin:4", 1000, seed=7)
    >>> drawn.count, len({tuple(sorted(cover)) for cover in drawn.covers.options.reshape(-1, 16)})
    (576, 470)
    >>> len(sample("latin:8", 5, weighted=True).weights)
    5
    """
    n, seed, distinct = checked_draws(n, seed, distinct)  # before the search, which may take long
    if flag_of("weighted", weighted) and distinct:
        raise InputError("weighted samples are drawn one by one; leave out distinct")
    if weighted and memory is not None:
        raise InputError("weighted samples are drawn without a graph; leave out `memory`")
    megabytes = GRAPH_MEGABYTES if memory is None else memory
    whole_number("memory", megabytes, 1, MOST_MEGABYTES)  # no advice where these are the error
    problem, begin = problem_and_stacks(problem, stack, is_one=True)
    with shown(on_progress, COVER_BAR) as show:
        tell = sums_told(show, n)
        if weighted:
            engine = engine_for("dlx", problem)
            drawn = weighted_covers(engine, problem, begin[0].tolist(), n, seed, tell)
            return Samples(drawn[0], None, *drawn[1:])
        try:
            graph = solution_graph(problem, begin[0], memory=megabytes, ordered=False)
        except InputError as error:
            error.add_note("or draw `weighted` samples, which need no graph")
            raise
        covers = graph.sample(n, seed, distinct=distinct)
        tell(n)
    return Samples(covers, graph.count)
