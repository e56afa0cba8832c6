"""Projected counting: the different parts that solutions have at some items.

The *projection* of a cover to some items is the set of its options that have at least one of them.
A problem of these options alone, in which the other items need no options, has all projections
among its covers. Each is a stack over the whole problem, and the stacks are rows that need one
cover. Where these items do not fix the number of options, the stack excludes the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from batchsolve.core.arrays import Ints, UInts, begins_of
from batchsolve.core.interrupts import TimeIsUp, check_interrupt
from batchsolve.engines import Choice, Engine, Task, engine_for
from batchsolve.engines.sat import residual_of
from batchsolve.errors import InputError, listed, prefixed, quoted
from batchsolve.problems.exact_cover import ExactCover, places_like
from batchsolve.problems.stacks import Group, Stacks
from batchsolve.runs.count import FIRST_BUDGET, Count, Stack
from batchsolve.runs.progress import ROW_BAR, OnProgress, Progress, Summary, shown
from batchsolve.runs.reading import Puzzle, problem_and_stacks
from batchsolve.search.rows import Answers, RowWork
from batchsolve.search.tree import check_can_count
from batchsolve.settings import AUTO, SearchSettings
from batchsolve.settings.arguments import UNLIMITED, texts_in
from batchsolve.workers import Pool

BLOCK = 4096  # candidates in a task


def count_projections(
    problem: Puzzle,
    items: Sequence[str],
    stack: Stack = (),
    *,
    engine: str = AUTO,
    time_limit: float | None = None,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    on_progress: OnProgress = None,
) -> Count:
    """Count the different sets of options that solutions have at some items.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    items : sequence of str
        Names of items, or patterns such as ``r1c*``. Of each solution, only the options with at
        least one of these items count.
    stack : sequence of int
        The options that the solutions must contain; by default the clues that were read, or none.
    engine : str
        The engine that looks for a solution to each candidate.
    time_limit : float, optional
        Seconds after which the search stops; the result then has the projections found so far.
    jobs : int, optional
        As for `count`.
    backend : {"threading", "loky", "dask", "ray"}
        As for `count`.
    address : str, optional
        As for `count`.
    on_progress : callable or True, optional
        See `Progress`; candidates are the rows.

    Returns
    -------
    Count
        Its subproblems are the candidates: partial covers of the items, with solutions or without.

    Raises
    ------
    InputError
        If an item is unknown, or the engine takes no bounds and needs them: to exclude options at
        items of which a solution may have more or fewer.

    Examples
    --------
    >>> count_projections("queens:6", ["r1"]).count  # columns of the queen in the first row
    4
    >>> count_projections("latin:4", ["r1#*", "c1#*"]).count  # first rows with first columns
    144
    """
    begin = time.monotonic()
    settings = SearchSettings(engine=engine, limit=1, time_limit=time_limit)
    settings = replace(settings, time_limit=None)  # that of a candidate
    problem, [chosen] = problem_and_stacks(problem, stack, is_one=True)
    numbers = _numbers_of(problem, items)
    choice = Choice(engine)
    check_can_count(choice, everything=False)
    choice.of(problem)
    excludes = not _are_fixed(problem, numbers)
    if excludes and problem.bounds is None:
        problem, numbers = _with_exclusions(problem), numbers + (numbers >= problem.n_primary)
        with prefixed("projections to these items need stacks without an option", InputError):
            choice.of(problem)

    def look_at_clock() -> bool:
        if time_limit is not None and time.monotonic() - begin >= time_limit:
            raise TimeIsUp
        return False

    visited: list[int] = []
    source = _candidates(problem, numbers, chosen, excludes, look_at_clock, visited)
    n_found, n_nodes, n_rows, failures = 0, 0, 0, list[str]()
    complete = True
    with Pool(jobs, backend, address) as pool, shown(on_progress, ROW_BAR) as tell:
        work = RowWork(choice, settings, partial(_Rows, problem), _sums_of, keep=0)
        rows = work.search(source, pool, waits=look_at_clock)
        try:
            for _, (n, n_new, nodes, lost) in rows:
                n_found, n_nodes, n_rows = n_found + n_new, n_nodes + nodes, n_rows + n
                failures += lost
                tell(Progress(n, Summary(rows=n_rows, solved=n_found)))
        except TimeIsUp:
            complete = False
        seconds, name = time.monotonic() - begin, choice.of(problem).name
        nodes, where = n_nodes + sum(visited), (pool.backend, pool.jobs)
        complete = complete and not failures
        return Count(n_found, complete, nodes, n_rows, 0, seconds, name, *where, failures)


def _numbers_of(problem: ExactCover, items: Sequence[str]) -> Ints:
    """Return the numbers of the items with these names or patterns."""
    names = [problem.item_name(i) for i in range(problem.n_items)]
    numbers, patterns = set[int](), texts_in(items, "items")
    if isinstance(items, str) or not patterns:
        raise InputError(f"items are a list of names or patterns, such as ['r1c*'], not {items!r}")
    for item in patterns:
        if not (matches := places_like(item, names)):
            raise InputError(
                f"no item is called {quoted(item)}; there are {listed(names) or 'none'}"
            )
        numbers.update(matches)
    return np.array(sorted(numbers), np.int64)


def _are_fixed(problem: ExactCover, items: Ints) -> bool:
    """Return True if all solutions have equally many options at each of some items."""
    if items[-1] >= problem.n_primary:
        return False
    return problem.bounds is None or bool(np.all(np.diff(problem.bounds[items]) == 0))


def _with_exclusions(problem: ExactCover) -> ExactCover:
    """Return the same problem with bounds, so that its stacks can exclude options.

    Another primary item, the last, is in no option; it may be in one.
    """
    n = problem.n_primary
    indices, bounds = problem.indices + (problem.indices >= n), [*[(1, 1)] * n, (0, 1)]
    sizes = problem.n_items + 1, n + 1
    return ExactCover(problem.indptr, indices, *sizes, colors=problem.colors, bounds=bounds)


def _candidates(
    problem: ExactCover,
    items: Ints,
    chosen: UInts,
    excludes: bool,
    look_at_clock: Callable[[], object],
    visited: list[int],
) -> Iterator[Stacks]:
    """Yield the partial covers of some items, each once, in blocks of stacks over the problem.

    Parameters
    ----------
    problem : ExactCover
    items : ndarray of int64
    chosen : ndarray of uint32
        The stack that all of them contain.
    excludes : bool
        True if a stack excludes the options at these items that it does not take.
    look_at_clock : callable
        Called before each task; may raise.
    visited : list of int
        The nodes of each task are added to it.
    """
    small, options = _at_items(problem, items, chosen)
    others = np.setdiff1d(chosen, options)[::-1].astype(np.uint32)  # exclusions first
    engine: Engine = engine_for(AUTO, small)
    stacks = Stacks.from_lists([np.flatnonzero(np.isin(options, chosen)).tolist()])
    while len(stacks):
        check_interrupt()
        look_at_clock()
        stacks = stacks.with_roots(np.zeros(len(stacks), np.int64))
        task = Task.of(stacks, budget=FIRST_BUDGET, keep=UNLIMITED, room=BLOCK, unordered=True)
        outcome = engine.search(small, task)
        stacks, covers = outcome.frontier, outcome.solutions
        visited.append(int(outcome.nodes.sum()))
        if len(covers) and excludes:
            yield _with_excluded(covers, options, others, problem.n_options)
        elif len(covers):
            places = np.repeat(covers.offsets[:-1], others.size)
            entries = np.insert(options[covers.options], places, np.tile(others, len(covers)))
            offsets = covers.offsets + others.size * np.arange(len(covers) + 1)
            yield Stacks(offsets, entries, np.arange(len(covers)))


def _with_excluded(covers: Stacks, options: UInts, others: UInts, n_options: int) -> Stacks:
    """Return candidates as stacks that exclude the other options at their items."""
    excluded = others[others >= n_options] - n_options
    stacks = []
    for cover in covers:
        chosen = options[cover]
        rest = np.setdiff1d(np.setdiff1d(options, chosen), excluded)  # before they are barred
        stacks.append([*(rest + n_options).tolist(), *others.tolist(), *chosen.tolist()])
    return Stacks.from_lists(stacks)


def _at_items(problem: ExactCover, items: Ints, chosen: UInts) -> tuple[ExactCover, UInts]:
    """Return the problem of the options with these items, and their numbers in the whole problem.

    The other items need no options. Those that may be in one only are secondary. An option without
    a primary item gets a new one, which is in one option at most.
    """
    bounds = np.ones((problem.n_primary, 2), np.int64) if problem.bounds is None else problem.bounds
    firsts = np.minimum.reduceat(problem.indices, problem.indptr[:-1])
    fitting = np.flatnonzero(firsts < problem.n_primary)
    if problem.bounds is None:
        fitting = residual_of(problem, chosen.tolist()).options
    fitting = np.union1d(fitting, chosen[chosen < problem.n_options])
    is_at_items = np.add.reduceat(np.isin(problem.indices, items), problem.indptr[:-1]) > 0
    options = fitting[is_at_items[fitting]].astype(np.uint32)
    wide = np.setdiff1d(np.flatnonzero(bounds[:, 1] > 1), items)
    primary = np.concatenate([items[items < problem.n_primary], wide])
    others = np.setdiff1d(np.arange(problem.n_items), primary)
    begins, kept = problem.entries_of(options)
    indices, sizes = problem.indices[kept], np.diff(begins)
    lacks = ~np.isin(indices, primary)
    lone = (
        np.flatnonzero(np.add.reduceat(lacks, begins[:-1]) == sizes) if options.size else begins[1:]
    )
    number = np.empty(problem.n_items, np.int64)
    number[primary] = np.arange(primary.size)
    number[others] = primary.size + lone.size + np.arange(others.size)
    bounds_of = np.concatenate([bounds[primary], np.tile([0, 1], (lone.size, 1))])
    bounds_of[items[items < problem.n_primary].size : primary.size, 0] = 0
    sizes[lone] += 1
    small = ExactCover(
        begins_of(sizes),
        np.insert(number[indices], begins[lone], primary.size + np.arange(lone.size)),
        problem.n_items + lone.size,
        primary.size + lone.size,
        colors=None if problem.colors is None else np.insert(problem.colors[kept], begins[lone], 0),
        bounds=bounds_of,
    )
    return small, options


@dataclass(frozen=True, eq=False)
class _Rows:
    """Candidates as rows; see `batchsolve.search.rows.Batch`."""

    problem: ExactCover
    stacks: Stacks

    def __len__(self) -> int:
        return len(self.stacks)

    def groups(self) -> list[Group]:
        """Return the one group of all stacks."""
        return [(self.problem, self.stacks)]


def _sums_of(rows: _Rows, answers: Answers) -> tuple[int, int, int, list[str]]:
    """Return the numbers of candidates, of those with a solution, and of nodes; and failures."""
    lost = [str(reason) for reason in answers.unfinished.values()]
    return len(rows), int(np.sum(answers.counts > 0)), int(answers.nodes.sum()), lost
