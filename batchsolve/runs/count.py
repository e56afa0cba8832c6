"""Counting and listing every cover of one problem, on all workers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from batchsolve.engines.choice import AUTO, engines_for
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.notation import Notation
from batchsolve.problems.render import covers_table
from batchsolve.problems.stacks import Stacks
from batchsolve.search.pieces import Outstanding, Step
from batchsolve.search.tree_search import Totals, TreeSearch, TreeSettings
from batchsolve.workers.pool import Pool

Stack = Sequence[int] | npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Count:
    """What a search of one problem came to: its ``--json`` line.

    Attributes
    ----------
    count : int
        Covers found, exact however many.
    complete : bool
        Whether the whole tree was searched.
    nodes, subproblems, rounds : int
        Nodes visited, stacks searched, rounds of tasks.
    seconds : float
        Time of the search.
    engine : str
        The engine that searched, or that was chosen to.
    rates : dict of str to float
        Nodes a second of the engines that it was chosen from.
    backend : str
    jobs : int
    failures : list of str
        Why subproblems could not be searched; they are left out of the count.
    """

    count: int
    complete: bool
    nodes: int
    subproblems: int
    rounds: int
    seconds: float
    engine: str
    rates: dict[str, float]
    backend: str
    jobs: int
    failures: list[str]


def count(
    problem: ExactCover,
    stack: Stack | Stacks = (),
    *,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    engine: str = AUTO,
    on_progress: Callable[[TreeSearch], None] | None = None,
    **settings: Any,
) -> Count:
    """Count every cover of a problem.

    Parameters
    ----------
    problem : ExactCover
    stack : sequence of int, or Stacks
        The options that the covers must contain, or several such stacks, whose counts are added; by
        default every cover counts.
    jobs, backend, address, engine
        Workers, where they live, and what they run.
    on_progress : callable, optional
        Called with the running `TreeSearch` as results come.
    **settings
        The fields of `batchsolve.search.tree_search.TreeSettings`: ``limit``, ``time_limit``, ``node_limit``,
        ``split_depth``, ``budget``.

    Returns
    -------
    Count

    Raises
    ------
    ProblemError
        If the stack is no partial cover.

    Examples
    --------
    >>> from batchsolve.problems.sudoku import Sudoku
    >>> result = count(Sudoku(2, 2))
    >>> result.count, result.complete
    (288, True)
    """
    with Pool(jobs, backend, address) as pool:
        search = _search(problem, stack, engine, pool, TreeSettings(**settings), lambda step: None)
        for _ in search.run():
            if on_progress is not None:
                on_progress(search)
        return summary(search, pool)


def solutions(
    problem: ExactCover,
    stack: Stack = (),
    *,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    engine: str = AUTO,
    **settings: Any,
) -> Iterator[npt.NDArray[np.uint32]]:
    """Find the covers of a problem, each once, as they are found.

    The iterator can be closed at any moment; nothing is searched far ahead of what was taken.

    Parameters
    ----------
    problem, stack, jobs, backend, address, engine, **settings
        As for `count`.

    Yields
    ------
    ndarray of uint32
        The options of a cover: those of the stack, then the others in the order of their choice.

    Examples
    --------
    >>> from batchsolve.problems.sudoku import Sudoku
    >>> found = solutions(Sudoku(2, 2))
    >>> len(next(found)), len(list(found))
    (16, 287)
    """
    found: list[Stacks] = []
    chosen = TreeSettings(collect=True, **settings)
    with Pool(jobs, backend, address) as pool:
        search = _search(
            problem, stack, engine, pool, chosen, lambda step: found.extend(step.covers)
        )
        for _ in search.run():
            yield from _drain(found)
        yield from _drain(found)


def stream(
    problem: ExactCover,
    stack: Stack,
    file: TextIO,
    *,
    notation: Notation | None = None,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    engine: str = AUTO,
    on_progress: Callable[[TreeSearch], None] | None = None,
    **settings: Any,
) -> Count:
    """Write the covers of a problem to a text file as JSON lines, as they are found.

    Parameters
    ----------
    problem, stack, jobs, backend, address, engine, on_progress, **settings
        As for `count`.
    file : text file
    notation : Notation, optional
        How grids are written.

    Returns
    -------
    Count
    """

    def write(step: Step) -> None:
        if step.covers:
            table = covers_table(problem, Stacks.concatenate(step.covers), notation)
            file.write("".join(json.dumps(row) + "\n" for row in table.to_pylist()))

    chosen = TreeSettings(collect=True, **settings)
    with Pool(jobs, backend, address) as pool:
        search = _search(problem, stack, engine, pool, chosen, write)
        for _ in search.run():
            if on_progress is not None:
                on_progress(search)
        return summary(search, pool)


def _drain(found: list[Stacks]) -> Iterator[npt.NDArray[np.uint32]]:
    while found:
        yield from found.pop(0)


def _search(
    problem: ExactCover,
    stack: Stack | Stacks,
    engine: str,
    pool: Pool,
    settings: TreeSettings,
    keep: Callable[[Step], None],
) -> TreeSearch:
    stacks = stack if isinstance(stack, Stacks) else Stacks.from_lists([np.asarray(stack).tolist()])
    for one in stacks:
        problem.check_stack(one)
    begin = Outstanding.whole(stacks)
    return TreeSearch(problem, engines_for(engine, problem), pool, settings, begin, Totals(), keep)


def summary(search: TreeSearch, pool: Pool) -> Count:
    """Return what a search came to."""
    totals = search.totals
    return Count(
        totals.count,
        search.complete,
        totals.nodes,
        totals.subproblems,
        totals.rounds,
        totals.seconds,
        search.engine,
        search.rates,
        pool.backend,
        pool.jobs,
        search.failures,
    )
