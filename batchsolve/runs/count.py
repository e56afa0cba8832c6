"""Searches of one problem: its covers are counted or yielded, or the cheapest or first are found.

All workers search, but for the first covers in tree order: one worker finds these.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Unpack, overload

import numpy as np

from batchsolve.core.arrays import UInts
from batchsolve.engines import UNLIMITED, Choice, Task
from batchsolve.errors import BatchsolveError, InputError, InWords, counted, warn_once
from batchsolve.problems.exact_cover import ExactCover, option_numbers
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.symmetries import Symmetries, symmetries
from batchsolve.runs.progress import ROW_BAR, TREE_BAR, OnProgress, Progress, shown, sums_told
from batchsolve.runs.reading import Puzzle, Reading, problem_and_stacks, reading_of
from batchsolve.search.cheapest import CheapestSearch, PricedCover, as_json, checked_wanted
from batchsolve.search.rows import Answers, RowWork
from batchsolve.search.scheduler import Changes, Piece
from batchsolve.search.tree import FIRST_NODES, TreeSearch, check_can_count
from batchsolve.settings import SearchSettings
from batchsolve.settings.keywords import CountFields, GridFields, SearchFields, settings_of
from batchsolve.workers import LOG, Pool

if TYPE_CHECKING:
    from batchsolve.runs.instances import Instances

MOST_IN_BLOCK = 64  # problems of a list in a task
LEAST_BLOCKS = 4  # for each worker, if there are problems enough
FIRST_BUDGET = 100_000  # nodes per task: less than a second, so that Ctrl-C and limits are noticed
OF_SEARCH = ("complete", "engine", "failures", "hint", "symmetries")  # fields of a `Count`

Stack = Sequence[int] | UInts | Stacks
UpToSymmetry = bool | Symmetries


@dataclass(frozen=True, repr=False)
class Count(InWords):
    """The result of a search of one problem: its ``--json`` line.

    Attributes
    ----------
    count : int
        Covers found: an exact integer of any size.
    complete : bool
        True if the whole tree was searched, and this search did not reach the limit.
    nodes, subproblems, rounds : int
        Nodes visited, stacks searched, rounds of tasks; the last two are 0 for problems of a list.
    seconds : float
        Time of the search; for problems of a list, the time that workers spent on it, together.
    engine : str
        The engine that searched, or that would have.
    backend : str
    jobs : int
    failures : list of str
        The reasons why subproblems could not be searched; the count leaves these out.
    hint : str
        Advice on the engine; empty if there is none.
    symmetries : int
        The order of the group under which covers are counted once; 1 if all are counted.

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
    backend: str
    jobs: int
    failures: list[str]
    hint: str = ""
    symmetries: int = 1

    def __str__(self) -> str:
        state = "complete" if self.complete else "not complete"
        by = f" by {self.engine}" if self.engine else ""
        under = f" up to {self.symmetries:,} symmetries" if self.symmetries > 1 else ""
        pieces = {"subproblem": self.subproblems, "round": self.rounds}
        parts = ", ".join(counted(n, noun) for noun, n in pieces.items() if n)
        return (
            f"{counted(self.count, 'solution')}{under}, {state}; {counted(self.nodes, 'node')}"
            f"{' in ' if parts else ''}{parts}; "
            f"{self.seconds:.1f} s{by}{'; ' if self.hint else ''}{self.hint}"
        )


@overload
def count(
    problem: Puzzle,
    stack: Stack = (),
    *,
    on_progress: Callable[[TreeSearch], None] | bool | None = None,
    up_to_symmetry: UpToSymmetry = False,
    **settings: Unpack[CountFields],
) -> Count: ...


@overload
def count(
    problem: list[Any] | tuple[Puzzle, ...],
    *,
    on_progress: OnProgress = None,
    **settings: Unpack[CountFields],
) -> list[Count]: ...


def count(
    problem: Any,
    stack: Any = (),
    *,
    on_progress: Any = None,
    up_to_symmetry: UpToSymmetry = False,
    **settings: Unpack[CountFields],
) -> Any:
    """Count every cover of a problem, or of each of many.

    Parameters
    ----------
    problem : ExactCover, Reading or str, or a list of them
        A problem, the result of `read_problem`, or an argument of it: ``queens:8``, or a file. The
        problems of a list are searched side by side, each with the limits of the settings, as the
        rows of `count_file` are.
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
        Called with the running `TreeSearch` as results arrive, or with a `Progress` for a list;
        True draws a progress bar.
    up_to_symmetry : bool or Symmetries
        Count each orbit of covers once, under the rotations and reflections of the board
        (`symmetries`), or under a given group, such as that of `structure_symmetries`. Symmetries
        that change the stack are not used.
    search : SearchSettings, optional
        The limits, the engine and the other settings of the search.
    **settings
        The fields of `search`, in its place: ``limit``, ``time_limit``, ``node_limit``,
        ``split_depth``, ``budget``, ``engine``, ``branch``. For texts, ``box``, ``rules``,
        ``regions``, ``alphabet`` and ``blank``, as in `read_problem`.

    Returns
    -------
    Count, or a list of them

    Raises
    ------
    InputError
        If a problem cannot be read or searched.
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
    >>> [result.count for result in count(["queens:4", "langford:3", Sudoku(2, 2)])]
    [2, 2, 288]
    """
    workers, search = settings_of(count, settings, SearchSettings)
    notation = {
        name: value for name, value in settings.items() if name in GridFields.__annotations__
    }
    if isinstance(problem, list | tuple):
        if isinstance(stack, Stacks) or option_numbers(stack) or up_to_symmetry is not False:
            raise InputError(
                "problems of a list are counted whole: leave out the stack and up_to_symmetry, or "
                "count them one by one"
            )
        with Pool(**workers) as pool, shown(on_progress, ROW_BAR) as tell:
            return _counts_of_each(problem, notation, pool, search, tell)
    keywords = {**workers, "up_to_symmetry": up_to_symmetry, "on_progress": on_progress}
    return _counted(reading_of(problem, **notation), stack, {}, search=search, **keywords)


def _counted(
    problem: Puzzle,
    stack: Stack,
    tree: dict[str, Any],
    *,
    search: SearchSettings,
    up_to_symmetry: UpToSymmetry,
    on_progress: Callable[[TreeSearch], None] | bool | None,
    **workers: Any,
) -> Count:
    """Search the tree of a problem to its end; `tree` are further arguments of `TreeSearch`."""
    problem, begin = problem_and_stacks(problem, stack)
    tree["symmetries"] = symmetries_for(problem, stack, begin, up_to_symmetry)
    with Pool(**workers) as pool, shown(on_progress, TREE_BAR) as tell:
        return searched(TreeSearch(problem, search, Piece.whole(begin), pool, **tree), pool, tell)


def _counts_of_each(
    problems: Sequence[Puzzle],
    notation: dict[str, Any],
    pool: Pool,
    settings: SearchSettings,
    tell: Callable[[Progress], None],
) -> list[Count]:
    """Count problems side by side, a block of them to a task; `notation` is for texts of grids."""
    from batchsolve.runs.instances import Instances

    choice = Choice(settings.engine)
    check_can_count(choice, everything=settings.limit is None)
    n = len(problems)
    size = max(1, min(MOST_IN_BLOCK, n // (LEAST_BLOCKS * pool.jobs)))
    blocks = (problems[begin : begin + size] for begin in range(0, n, size))
    read = partial(Instances, read=partial(reading_of, **notation), choice=choice)
    write = partial(_counts_of_rows, settings, pool.backend, pool.jobs)
    work = RowWork(choice, settings, read, write, keep=0)
    counts, tell_count = list[Count](), sums_told(tell, n)
    for _, rows in work.search(blocks, pool):
        for result in rows:
            if isinstance(result, str):
                raise InputError(f"problem {len(counts)} of the list: {result}")
            counts.append(result)
        tell_count(len(counts))
    return counts


def _counts_of_rows(
    settings: SearchSettings, backend: str, jobs: int, batch: Instances, answers: Answers
) -> list[Count | str]:
    """Return the count of each problem, or why it cannot be searched."""
    from batchsolve.runs.instances import counts_of

    results: list[Count | str] = []
    counts = counts_of(batch, answers, settings)
    for row, ((count, reason), facts) in enumerate(zip(counts, batch.facts(), strict=True)):
        if facts is None:
            results.append(batch.faults[row])
            continue
        lost, engine = answers.unfinished.get(row), answers.counters.get(row, facts[2])
        nodes, seconds = int(answers.nodes[row]), float(answers.seconds[row])
        sums = count, reason is None, nodes, 0, 0, seconds
        results.append(Count(*sums, engine, backend, jobs, [] if lost is None else [lost]))
    return results


def solutions(
    problem: Puzzle,
    stack: Stack = (),
    *,
    up_to_symmetry: UpToSymmetry = False,
    on_progress: Callable[[TreeSearch], None] | bool | None = None,
    **settings: Unpack[SearchFields],
) -> Iterator[UInts]:
    """Yield the covers of a problem, each once, as they are found.

    The iterator can be closed at any moment; the search runs only a little ahead of it. It ends
    early at a limit; `count` says whether a search is complete.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    stack : sequence of int, or Stacks
        As for `count`.
    up_to_symmetry : bool or Symmetries
        As for `count`. Each orbit yields one cover, its lexicographic minimum.
    on_progress : callable or True, optional
        As for `count` of one problem; called before the covers of a result are yielded.
    **settings
        As for `count`: ``jobs``, ``backend``, ``address``, ``limit``, ``engine``, ….

    Yields
    ------
    ndarray of uint32
        The options of a cover: those of the stack, then the others in the order of their choice.

    Raises
    ------
    BatchsolveError
        At the end, if a subproblem could not be searched, so that covers are missing.

    Examples
    --------
    >>> from batchsolve.problems.sudoku import Sudoku
    >>> covers = solutions(Sudoku(2, 2))
    >>> len(next(covers)), len(list(covers))
    (16, 287)
    """
    workers, search = settings_of(solutions, settings, SearchSettings)
    problem, begin = problem_and_stacks(problem, stack)
    group = symmetries_for(problem, stack, begin, up_to_symmetry)
    with Pool(**workers) as pool, shown(on_progress, TREE_BAR) as tell:
        tree = TreeSearch(problem, search, Piece.whole(begin), pool, collect=True, symmetries=group)
        for done in tree.run():
            tell(tree)
            if done.result.output is not None:
                yield from done.result.output
        if tree.failures:
            lost = counted(len(tree.failures), "subproblem")
            raise BatchsolveError(f"the solutions of {lost} are missing: {tree.failures[0]}")


def write_covers(reading: Reading, stack: Stack, file: BinaryIO, **keywords: Any) -> Count:
    """Write the covers of a problem to a file as JSON lines while they are found.

    Parameters
    ----------
    reading : Reading
        The problem, and the notation of grids.
    file : binary file
    stack, **keywords
        As for `count`: ``search``, ``up_to_symmetry``, ``on_progress``, ``jobs``, ….

    Returns
    -------
    Count
    """
    from batchsolve.formats.render import cover_lines

    render = partial(cover_lines, reading.problem, reading.notation)

    def write(changes: Changes) -> None:
        for lines, _ in changes.outputs:
            file.write(lines)
        file.flush()

    tree = {"keep": write, "collect": True, "render": render}
    return _counted(reading, stack, tree, **keywords)


def symmetries_for(
    problem: ExactCover, stack: Iterable[int] | Stacks, begin: Stacks, up_to_symmetry: UpToSymmetry
) -> Symmetries | None:
    """Return the wanted symmetries that keep a stack; None if none are wanted."""
    if up_to_symmetry is False:
        return None
    group = symmetries(problem) if up_to_symmetry is True else up_to_symmetry
    if not isinstance(group, Symmetries):
        raise InputError(f"up_to_symmetry is True or a group of Symmetries, not {group!r}")
    if group.images.shape[1] != problem.n_options:
        raise InputError(f"{group!r} are not of {problem!r}")
    if isinstance(stack, Stacks):
        raise InputError(
            "a part of a search cannot be counted up to symmetry: what symmetries make of its "
            "solutions may be in other parts"
        )
    chosen = begin[0] < problem.n_options  # the others are exclusions
    group = group.stabiliser(begin[0][chosen]).stabiliser(begin[0][~chosen] % problem.n_options)
    if len(group) == 1:
        more = (
            "; structure_symmetries (--symmetries structure) finds those that the board does not "
            "show"
        )
        warn_once(
            f"no symmetries are known that leave the problem and its clues as they are: every "
            f"solution counts{more if up_to_symmetry is True else ''}"
        )
    return group


def searched(search: TreeSearch, pool: Pool, tell: Callable[[TreeSearch], None]) -> Count:
    """Search to the end, and tell of the progress; return the result, and log it."""
    for _ in search.run():
        tell(search)
    fields: dict[str, Any] = {name: getattr(search, name) for name in OF_SEARCH}
    result = Count(**vars(search.totals), **fields, backend=pool.backend, jobs=pool.jobs)
    LOG.info("%s", result)
    for reason in result.failures:
        LOG.info("a subproblem was left out: %s", reason)
    return result


# ---- the cheapest covers --------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class CheapestCovers(InWords):
    """The cheapest covers of a problem.

    Attributes
    ----------
    covers : list of PricedCover
        Ascending by cost; of equal ones, the first in tree order.
    count : Count
        The result of the search. If it is not complete, cheaper covers may exist. With several
        workers, the number of nodes depends on the order in which they find covers.

    Examples
    --------
    >>> options = [["a", "b"], ["a"], ["b"]]
    >>> problem = ExactCover.from_options(options, costs=[25, 20, 2])
    >>> result = cheapest(problem, 2)
    >>> result.covers
    [PricedCover(cost=22, options=[1, 2]), PricedCover(cost=25, options=[0])]
    >>> result.count.complete
    True
    """

    covers: list[PricedCover]
    count: Count

    def __str__(self) -> str:
        state = "" if self.count.complete else ", not complete"
        costs = ""
        if self.covers:
            costs = f"; costs {self.covers[0].cost:,} to {self.covers[-1].cost:,}"
        return f"{counted(len(self.covers), 'cheapest cover')}{state}{costs}"


def cheapest(
    problem: Puzzle,
    wanted: int = 1,
    stack: Stack = (),
    *,
    on_progress: Callable[[TreeSearch], None] | bool | None = None,
    **settings: Unpack[SearchFields],
) -> CheapestCovers:
    """Find the cheapest covers of a problem with costs.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`; its options have costs.
    wanted : int
        Number of covers, up to 100,000.
    stack : sequence of int
        The options that the covers must contain.
    on_progress : callable or True, optional
        As for `count`.
    **settings
        As for `count`: ``jobs``, ``engine``, …; but ``limit`` is not allowed.

    Returns
    -------
    CheapestCovers

    Raises
    ------
    InputError
        If the problem has no costs.

    Examples
    --------
    >>> options = [["a", "b"], ["a"], ["b"]]
    >>> problem = ExactCover.from_options(options, costs=[25, 20, 2])
    >>> cheapest(problem).covers
    [PricedCover(cost=22, options=[1, 2])]
    """
    workers, search = settings_of(cheapest, settings, SearchSettings)
    problem, begin = problem_and_stacks(problem, stack, is_one=True)
    wanted, covers = checked_wanted(problem, wanted), list[PricedCover]()
    with Pool(**workers) as pool, shown(on_progress, TREE_BAR) as tell:
        tree = CheapestSearch(problem, wanted, covers, search, Piece.whole(begin), pool)
        return CheapestCovers(covers, searched(tree, pool, tell))


def write_cheapest(
    reading: Reading, stack: Stack, wanted: int, file: BinaryIO, **keywords: Any
) -> Count:
    """Write the cheapest covers of a problem to a file as JSON lines, once they are found.

    Parameters
    ----------
    reading : Reading
        The problem.
    stack, wanted, **keywords
        As for `cheapest`.
    file : binary file

    Returns
    -------
    Count
    """
    result = cheapest(reading, wanted, stack, **keywords)
    for cover in result.covers:
        file.write((json.dumps(as_json(reading.problem, cover)) + "\n").encode())
    file.flush()
    return result.count


# ---- the first covers in tree order ---------------------------------------------------------


def first_covers(
    problem: Puzzle,
    stack: Stack = (),
    *,
    limit: int,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    search: SearchSettings | None = None,
) -> tuple[list[UInts], Count]:
    """Find the first covers of a problem, in tree order.

    One worker searches, because a cover is known to be among the first only once everything before
    it was searched.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    stack : sequence of int
        The options that the covers must contain; by default the clues that were read, if any.
    limit : int
        The largest number of covers to find.
    on_progress : callable
        Called with a `Progress` after some nodes; its rows are the covers.
    search : SearchSettings, optional
        Limits on nodes and time, the budget, and the engine.

    Returns
    -------
    list of ndarray of uint32, Count
        The covers, in tree order, and the result of the search.

    Raises
    ------
    ProblemError
        If the stack is not a partial cover.
    InputError
        If the engine is unknown or only counts.

    Examples
    --------
    >>> from batchsolve.problems.families import dominoes
    >>> [sorted(cover.tolist()) for cover in first_covers(dominoes(2, 3), limit=2)[0]]
    [[0, 4, 5], [1, 2, 6]]
    """
    settings = search or SearchSettings()
    choice = Choice(settings.engine)
    check_can_count(choice, everything=False)
    problem, stacks = problem_and_stacks(problem, stack, is_one=True)
    engine = choice.of(problem)
    max_nodes = UNLIMITED if settings.node_limit is None else settings.node_limit
    seconds = float("inf") if settings.time_limit is None else settings.time_limit
    begin = time.monotonic()
    covers: list[UInts] = []
    nodes, tell = 0, sums_told(on_progress, limit)
    while len(stacks) and len(covers) < limit:
        if nodes >= max_nodes or time.monotonic() - begin >= seconds:
            break
        wanted = limit - len(covers)
        few = UNLIMITED if nodes else FIRST_NODES
        # with one root, all stacks share the limit and are searched in order
        stacks = stacks.with_roots(np.zeros(len(stacks), np.int64))
        budget = min(settings.budget or FIRST_BUDGET, max_nodes - nodes, few)
        outcome = engine.search(problem, Task.of(stacks, limit=wanted, budget=budget, keep=wanted))
        nodes += int(outcome.nodes.sum())
        covers += [cover.copy() for cover in outcome.solutions]
        stacks = outcome.frontier
        tell(len(covers))
    complete = len(covers) < limit and not len(stacks)
    spent = time.monotonic() - begin
    return covers, Count(len(covers), complete, nodes, 0, 0, spent, engine.name, "", 1, [])
