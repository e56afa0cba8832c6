"""Counting and enumerating the covers of one problem on all workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Unpack

import numpy as np
import numpy.typing as npt

from batchsolve.engines.choice import engines_for
from batchsolve.errors import InputError, counted
from batchsolve.formats.render import CoverRenderer
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.notation import Notation
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.progress import TREE_BAR, shown, tree_on
from batchsolve.runs.reading import Puzzle, problem_and_stacks
from batchsolve.search.pieces import Changes, Piece
from batchsolve.search.tree import Render, TreeSearch
from batchsolve.search.tree_goal import Totals, TreeGoal
from batchsolve.settings import SearchFields, SearchSettings, settings_of
from batchsolve.symmetry.symmetries import Symmetries, symmetries
from batchsolve.workers.base import LOG
from batchsolve.workers.pool import Pool

Stack = Sequence[int] | npt.NDArray[np.uint32]
UpToSymmetry = bool | Symmetries


@dataclass(frozen=True)
class Count:
    """The result of a search of one problem: its ``--json`` line.

    Attributes
    ----------
    count : int
        Covers found: an exact integer of any size.
    complete : bool
        True if the whole tree was searched.
    nodes, subproblems, rounds : int
        Nodes visited, stacks searched, rounds of tasks.
    seconds : float
        Time of the search.
    engine : str
        The engine that searched, or that would have.
    rates : dict of str to float
        Nodes per second of the engines that were tried.
    backend : str
    jobs : int
    failures : list of str
        The reasons why subproblems could not be searched; the count leaves these out.

    Examples
    --------
    >>> result = count("queens:6")
    >>> result.count, result.complete, result.failures
    (4, True, [])
    >>> print(str(result).partition(";")[0])
    4 solutions, complete
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

    def __str__(self) -> str:
        state = "complete" if self.complete else "not complete"
        return (
            f"{counted(self.count, 'solution')}, {state}; {counted(self.nodes, 'node')} in "
            f"{counted(self.subproblems, 'subproblem')}, {counted(self.rounds, 'round')}; "
            f"{self.seconds:.1f} s"
        )

    def _repr_html_(self) -> str:
        """Return the sums as a table for a notebook."""
        facts = {
            "solutions": f"{self.count:,}",
            "complete": "yes" if self.complete else "no",
            "nodes": f"{self.nodes:,}",
            "seconds": f"{self.seconds:.1f}",
            "engine": self.engine,
        }
        rows = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in facts.items())
        return f"<table>{rows}</table>"


def count(
    problem: Puzzle,
    stack: Stack | Stacks = (),
    *,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    on_progress: Callable[[TreeSearch], None] | bool | None = None,
    up_to_symmetry: UpToSymmetry = False,
    search: SearchSettings | None = None,
    **settings: Unpack[SearchFields],
) -> Count:
    """Count every cover of a problem.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        A problem, the result of `read_problem`, or an argument of it: ``queens:8``, or a file.
    stack : sequence of int, or Stacks
        The options that the covers must contain, or several such stacks, whose counts are added; by
        default the clues that were read, if any.
    jobs : int, optional
        Workers; the number of cores by default.
    backend : {"threading", "loky", "dask", "ray"}
        Threads, processes, or the workers of a cluster.
    address : str, optional
        The scheduler of the cluster; by default a cluster is started on this machine.
    on_progress : callable or True, optional
        Called with the running `TreeSearch` as results arrive; True draws a progress bar.
    up_to_symmetry : bool or Symmetries
        Count each orbit of covers once, under the rotations and reflections of the board
        (`symmetries`), or under a given group. Symmetries that change the stack are not used.
    search : SearchSettings, optional
        The limits, the engine and the other settings of the search.
    **settings
        The same, field by field: ``limit``, ``time_limit``, ``node_limit``, ``split_depth``,
        ``budget``, ``engine``.

    Returns
    -------
    Count

    Raises
    ------
    ProblemError
        If the stack is not a partial cover.

    Examples
    --------
    >>> from batchsolve.problems.sudoku import Sudoku
    >>> result = count(Sudoku(2, 2))
    >>> result.count, result.complete
    (288, True)
    >>> count("queens:8").count, count("queens:8", up_to_symmetry=True).count
    (92, 12)
    """
    chosen = settings_of(count, SearchSettings, search, settings)
    problem, begin = problem_and_stacks(problem, stack)
    group = symmetries_for(problem, stack, begin, up_to_symmetry)
    with Pool(jobs, backend, address) as pool, shown(on_progress, tree_on, TREE_BAR) as tell:
        tree = search_tree(problem, Piece.whole(begin), pool, chosen, group=group)
        for _ in tree.run():
            tell(tree)
        return summary(tree, pool)


def solutions(
    problem: Puzzle,
    stack: Stack = (),
    *,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    up_to_symmetry: UpToSymmetry = False,
    search: SearchSettings | None = None,
    **settings: Unpack[SearchFields],
) -> Iterator[npt.NDArray[np.uint32]]:
    """Yield the covers of a problem, each once, as they are found.

    The iterator can be closed at any moment; the search runs only a little ahead of it.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    stack : sequence of int, or Stacks
        As for `count`.
    jobs : int, optional
        As for `count`.
    backend : {"threading", "loky", "dask", "ray"}
        As for `count`.
    address : str, optional
        As for `count`.
    up_to_symmetry : bool or Symmetries
        As for `count`. Each orbit yields one cover, its lexicographic minimum.
    search : SearchSettings, optional
        As for `count`.
    **settings
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
    chosen = settings_of(solutions, SearchSettings, search, settings)
    problem, begin = problem_and_stacks(problem, stack)
    group = symmetries_for(problem, stack, begin, up_to_symmetry)
    with Pool(jobs, backend, address) as pool:
        whole = Piece.whole(begin)
        tree = search_tree(problem, whole, pool, chosen, collect=True, group=group)
        for done in tree.run():
            if done.result.output is not None:
                yield from done.result.output


def write_covers(
    problem: ExactCover,
    stack: Stack,
    file: BinaryIO,
    *,
    notation: Notation | None = None,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    on_progress: Callable[[TreeSearch], None] | None = None,
    up_to_symmetry: UpToSymmetry = False,
    search: SearchSettings | None = None,
    **settings: Unpack[SearchFields],
) -> Count:
    """Write the covers of a problem to a file as JSON lines while they are found.

    Parameters
    ----------
    problem, stack, jobs, backend, address, on_progress, up_to_symmetry, search, **settings
        As for `solutions`.
    file : binary file
    notation : Notation, optional
        The notation of grids.

    Returns
    -------
    Count
    """
    chosen = settings_of(write_covers, SearchSettings, search, settings)
    problem, begin = problem_and_stacks(problem, stack)
    renderer = CoverRenderer(problem, notation)

    def write(changes: Changes) -> None:
        for lines, _ in changes.outputs:
            file.write(lines)
        file.flush()

    with Pool(jobs, backend, address) as pool:
        group = symmetries_for(problem, stack, begin, up_to_symmetry)
        whole = Piece.whole(begin)
        tree = search_tree(
            problem, whole, pool, chosen, None, write, True, renderer.json_lines, group
        )
        for _ in tree.run():
            if on_progress is not None:
                on_progress(tree)
        return summary(tree, pool)


def search_tree(
    problem: ExactCover,
    begin: Piece,
    pool: Pool,
    settings: SearchSettings,
    totals: Totals | None = None,
    keep: Callable[[Changes], None] = lambda changes: None,
    collect: bool = False,
    render: Render | None = None,
    group: Symmetries | None = None,
) -> TreeSearch:
    """Return the search of a tree, up to symmetry if a group is given; see `TreeGoal`."""
    if group is not None and not collect:  # workers check covers and then drop them
        collect, render = True, _forget
    goal = TreeGoal(problem, settings, begin, totals, keep, collect)
    return TreeSearch(goal, engines_for(settings.engine, problem), pool, render, group)


def _forget(covers: Stacks) -> None:
    """Drop covers that are only counted."""


def symmetries_for(
    problem: ExactCover, stack: Iterable[int] | Stacks, begin: Stacks, wanted: UpToSymmetry
) -> Symmetries | None:
    """Return the wanted symmetries that keep a stack; None if none are wanted."""
    if wanted is False:
        return None
    group = symmetries(problem) if wanted is True else wanted
    if not isinstance(group, Symmetries):
        raise InputError(f"up_to_symmetry is True or a group of Symmetries, not {group!r}")
    if group.images.shape[1] != problem.n_options:
        raise InputError(f"{group!r} are not of {problem!r}")
    if isinstance(stack, Stacks):
        raise InputError(
            "a part of a search cannot be counted up to symmetry: what symmetries make of its "
            "solutions may be in other parts"
        )
    kept = group.that_keep([o for o in begin[0].tolist() if o < problem.n_options])
    if len(kept) == 1:
        LOG.warning(
            "no symmetries are known that leave the problem and its clues as they are: every "
            "solution counts; name some in a group of Symmetries (--symmetries FILE)"
        )
    return kept


def summary(search: TreeSearch, pool: Pool) -> Count:
    """Return the result of a search, and log it."""
    totals = search.totals
    result = Count(
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
    LOG.info("%s", result)
    for reason in result.failures:
        LOG.info("a subproblem was left out: %s", reason)
    return result
