"""Projected counting: the different parts that solutions have at some items.

The *projection* of a cover to some items is the set of its options that have at least one of them.
A problem of these options alone, in which the other items are secondary, has all projections among
its covers. Each is a stack over the whole problem, and the stacks are rows that need one cover.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial

import numpy as np
import numpy.typing as npt

from batchsolve.engines import Engine, Task
from batchsolve.engines.choice import EngineForEach, RowEngines, engines_for
from batchsolve.engines.sat import left_of
from batchsolve.errors import InputError, quoted
from batchsolve.interrupts import check_interrupt
from batchsolve.problems.answers import Answers
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Group, Stacks
from batchsolve.runs.count import FIRST_BUDGET, Count, Stack
from batchsolve.runs.instances import check_engine
from batchsolve.runs.progress import ROW_BAR, Progress, Summary, rows_on, shown
from batchsolve.runs.reading import Puzzle, problem_and_stack
from batchsolve.search.rows import search_rows
from batchsolve.settings import AUTO, UNLIMITED, SearchSettings
from batchsolve.workers.pool import Pool

BLOCK = 4096  # candidates in a task


def count_projections(
    problem: Puzzle,
    items: Sequence[str],
    stack: Stack = (),
    *,
    engine: str = AUTO,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    on_progress: Callable[[Progress], None] | bool | None = None,
) -> Count:
    """Count the different sets of options that solutions have at some items.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`; without bounds.
    items : sequence of str
        Names of primary items, or patterns such as ``r1c*``. Of each solution, only the options
        with at least one of these items count.
    stack : sequence of int
        The options that the solutions must contain; by default the clues that were read, or none.
    engine : str
        The engine that looks for a solution to each candidate.
    jobs : int, optional
        As for `count`.
    backend : {"threading", "loky", "dask", "ray"}
        As for `count`.
    address : str, optional
        As for `count`.
    on_progress : callable or True, optional
        Called with a `Progress`, of which candidates are the rows; True draws a progress bar.

    Returns
    -------
    Count
        Its subproblems are the candidates: partial covers of the items, with solutions or without.

    Raises
    ------
    InputError
        If an item is unknown or secondary, or the problem has bounds.

    Examples
    --------
    >>> count_projections("queens:6", ["r1"]).count  # columns of the queen in the first row
    4
    >>> count_projections("latin:4", ["r1#*", "c1#*"]).count  # first rows with first columns
    144
    """
    begin = time.monotonic()
    problem, [given] = problem_and_stack(problem, stack)
    wanted = _numbers_of(problem, items)
    if problem.bounds is not None:
        raise InputError(
            f"projections are of problems without bounds, not of {problem!r}; enumerate it"
        )
    source = _Candidates(problem, wanted, given)
    each = EngineForEach(engine)
    settings = SearchSettings(engine=engine, limit=1)
    check_engine(each, settings, keep=0)
    n_found, n_nodes, n_rows, failures = 0, 0, 0, list[str]()
    with Pool(jobs, backend, address) as pool, shown(on_progress, rows_on, ROW_BAR) as tell:
        read = partial(_Rows, problem)
        rows = search_rows(source, RowEngines(each), pool, settings, read, _sums_of, keep=0)
        for _, (n, found, visited, lost) in rows:
            n_found, n_nodes, n_rows = n_found + found, n_nodes + visited, n_rows + n
            failures += lost
            tell(Progress(n, Summary(rows=n_rows, solved=n_found)))
        seconds, name = time.monotonic() - begin, each.of(problem).name
        nodes, where = n_nodes + source.n_nodes, (pool.backend, pool.jobs)
        return Count(n_found, not failures, nodes, n_rows, 0, seconds, name, {}, *where, failures)


def _numbers_of(problem: ExactCover, items: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the numbers of the items with these names or patterns."""
    names = [problem.item_name(i) for i in range(problem.n_items)]
    numbers = set[int]()
    for item in items:
        exact = [i for i, name in enumerate(names) if name == item]
        those = exact or [i for i, name in enumerate(names) if fnmatchcase(name, item)]
        if not those:
            raise InputError(f"no item is called {quoted(item)}; the first is {quoted(names[0])}")
        if those[-1] >= problem.n_primary:
            raise InputError(
                f"item {quoted(names[those[-1]])} is secondary; name primary items, which all "
                f"solutions cover"
            )
        numbers.update(those)
    return np.array(sorted(numbers), np.int64)


@dataclass(eq=False)
class _Candidates:
    """The partial covers of some items, as blocks of stacks over the whole problem.

    Attributes
    ----------
    n_nodes : int
        Nodes visited so far.
    """

    problem: ExactCover
    items: npt.NDArray[np.int64]
    given: npt.NDArray[np.uint32]
    n_nodes: int = 0

    def __iter__(self) -> Iterator[Stacks]:
        """Yield the candidates, each once."""
        small, options = _at_items(self.problem, self.items, self.given)
        others = np.setdiff1d(self.given, options).astype(np.uint32)
        inside = np.flatnonzero(np.isin(options, self.given))
        engine: Engine = engines_for(AUTO, small)[0]
        left = Stacks.from_lists([inside.tolist()])
        while len(left):
            check_interrupt()
            outcome = engine.search(
                small,
                Task.of(
                    left.with_roots(np.zeros(len(left), np.int64)),
                    budget=FIRST_BUDGET,
                    keep=UNLIMITED,
                    room=BLOCK,
                    unordered=True,
                ),
            )
            left, found = outcome.frontier, outcome.solutions
            self.n_nodes += int(outcome.nodes.sum())
            if n := len(found):
                places = np.repeat(found.offsets[:-1], others.size)
                stacks = np.insert(options[found.options], places, np.tile(others, n))
                offsets = found.offsets + others.size * np.arange(n + 1)
                yield Stacks(offsets, stacks, np.arange(n))


def _at_items(
    problem: ExactCover, items: npt.NDArray[np.int64], given: npt.NDArray[np.uint32]
) -> tuple[ExactCover, npt.NDArray[np.uint32]]:
    """Return the problem of the options with these items, and their numbers in the whole problem.

    Options that clash with those given are left out; the other items are secondary.
    """
    has_some = np.add.reduceat(np.isin(problem.indices, items), problem.indptr[:-1]) > 0
    fitting = np.union1d(left_of(problem, given.tolist()).options, given)
    options = fitting[has_some[fitting]].astype(np.uint32)
    order = np.concatenate([items, np.setdiff1d(np.arange(problem.n_items), items)])
    number = np.empty(problem.n_items, np.int64)
    number[order] = np.arange(problem.n_items)
    sizes = np.diff(problem.indptr)
    kept = np.repeat(np.isin(np.arange(problem.n_options), options), sizes)
    small = ExactCover(
        np.concatenate([[0], np.cumsum(sizes[options])]),
        number[problem.indices[kept]],
        problem.n_items,
        len(items),
        colors=None if problem.colors is None else problem.colors[kept],
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
        return [Group(self.problem, self.stacks)]


def _sums_of(rows: _Rows, answers: Answers) -> tuple[int, int, int, list[str]]:
    """Return the numbers of candidates, of those with a solution, and of nodes; and failures."""
    lost = [str(reason) for reason in answers.unfinished.values()]
    return len(rows), int(np.sum(answers.counts > 0)), int(answers.nodes.sum()), lost
