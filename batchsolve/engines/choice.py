"""The engines that may search a problem: one that is named, or all that `auto` may choose from.

For one problem, `auto` means all engines with the same tree: they visit the same nodes, so they may
take turns in one search, and timing them on the way changes no result. An engine made for Sudoku
goes before them: its tree is smaller, and it was the fastest on all grids measured, with one
solution or with millions.

For many problems, these engines take turns in the tasks of each that has several, in each process.
The name of the first stands for them, because the output must not show which is the fastest.

For puzzles in rows, `auto` means the engine that suits the shape of the grids, and perhaps a
fallback engine that takes over a row after a number of nodes. The output depends on the engine's
tree and must not depend on timing, so the shape decides that number, too.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

from batchsolve.engines.contract import (
    MRV_TREE,
    Capabilities,
    Engine,
    Outcome,
    Registered,
    Sharing,
    Task,
    check_support,
    engine_names,
    get_engine,
    new_run,
    registered,
)
from batchsolve.engines.prepared import prepared
from batchsolve.errors import InputError, check_installed, how_to_install
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.small import SmallProblems
from batchsolve.problems.stacks import Searchable
from batchsolve.settings import AUTO

# Nodes of a row before the fallback engine takes over, for each option. `lanes` takes 0.04 s for
# them at 16×16 and 0.1 s at 25×25, as long as `sat` takes for most of these rows. The formulas of
# `sat` grow with the number of options.
NODES_AN_OPTION = 1
ALONE_NODES = 50_000  # of a problem among many, before other engines are loaded for it
MOST_WANTED = 100  # covers of a row: `sat` is slow at more


def engines_for(name: str, problem: ExactCover) -> list[Engine]:
    """Return the engines that may search a problem under a name.

    Parameters
    ----------
    name : str
        A name for `get_engine`, or ``auto``.
    problem : ExactCover

    Returns
    -------
    list of Engine
        One or more. All of them visit the same nodes; the first suits the problem best, by the
        looks of it.

    Raises
    ------
    InputError
        If no engine has that name, or it does not take the problem.
    """
    engines = list(map(get_engine, _names_for(name, problem)))
    if len(engines) > 1 and _is_crowded(problem):
        engines.sort(key=lambda engine: not engine.capabilities.suits_crowded)
    return engines


def _is_crowded(problem: ExactCover) -> bool:
    """Tell whether an option conflicts with so many that a word for 64 of them is quicker.

    Dancing links take out every entry of these options. A word for each item and 64 options is
    read instead, eight at a time.
    """
    each = problem.n_entries / max(1, problem.n_options)
    n_links = each * each * problem.n_entries / max(1, problem.n_items)
    return n_links > problem.n_primary * problem.n_options / (8 * 64)


def _names_for(name: str, problem: ExactCover) -> Iterator[str]:
    """Yield the names of `engines_for`, without importing the engines."""
    if name != AUTO:
        check_support(registered(name), problem)
        yield name
        return
    if isinstance(problem, GridProblem):
        best = engine_for_rows(AUTO, problem)
        if best.capabilities.sudoku_only:
            yield best.name
            return
    for engine in map(registered, engine_names()):
        if engine.capabilities.tree == MRV_TREE and _takes(engine, problem):
            yield engine.name


def counter_for(name: str, problem: ExactCover) -> str:
    """Return the name of the engine that may take over a count of all covers; empty if none may.

    It counts equal subtrees once, so it suits problems in which many subtrees are equal.
    """
    if name != AUTO or registered(next(_names_for(name, problem))).capabilities.tree != MRV_TREE:
        return ""
    each = map(registered, engine_names())
    return next((e.name for e in each if e.capabilities.counts_only and _takes(e, problem)), "")


@dataclass(frozen=True)
class EngineForEach:
    """The engines that a name stands for when many problems are searched, as one engine.

    Attributes
    ----------
    name : str
    run : str
        The name of the run for engines with a table.
    """

    name: str
    run: str = field(default_factory=new_run, repr=False, compare=False)

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the engine, or of none in particular for ``auto``."""
        if self.name == AUTO:
            return Capabilities("the engine that suits each problem")
        return registered(self.name).capabilities

    def of(self, problem: Searchable) -> Engine:
        """Return the first engine for a problem; raises `InputError` if there is none."""
        if isinstance(problem, SmallProblems):  # that of each of them
            problem = problem.problems[0]
        return get_engine(next(_names_for(self.name, problem)))

    def search(self, problem: Searchable, task: Task) -> Outcome:
        """Search a task; see `Engine`."""
        if self.name != AUTO or isinstance(problem, SmallProblems):
            engine = self.of(problem)
            if isinstance(engine, Sharing) and isinstance(problem, ExactCover):
                engine = engine.for_run(self.run, "", problem)
            return engine.search(problem, task)
        turns = _turns_of(problem)
        engine = get_engine(turns.next())
        begin = time.perf_counter()
        outcome = engine.search(problem, task)
        turns.learn(engine.name, int(outcome.nodes.sum()), time.perf_counter() - begin)
        return outcome


class _Turns:
    """The engines for one problem, which take turns in its tasks until the fastest is known.

    The first engine searches alone at first, because loading another takes longer than a small
    problem. The first task of each loads kernels and builds arrays, so the second one tells how
    fast it is.
    """

    def __init__(self, problem: ExactCover) -> None:
        names = list(_names_for(AUTO, problem))
        self._first, *others = names
        self._next = deque([*others, *names] if others else [])
        self._rates = dict.fromkeys(names, 0.0)
        self._known: set[str] = set()
        self._n_nodes = 0

    def next(self) -> str:
        """Return the engine of the next task."""
        if self._n_nodes < ALONE_NODES:
            return self._first
        with suppress(IndexError):  # several threads ask
            return self._next.popleft()
        return max(self._rates, key=self._rates.__getitem__)

    def learn(self, name: str, n_nodes: int, seconds: float) -> None:
        """Take the nodes and the time of a task."""
        self._n_nodes += n_nodes
        if name in self._known:
            self._rates[name] = n_nodes / max(seconds, 1e-9)
        self._known.add(name)


_turns_of = prepared(_Turns)


def engine_for_cheapest(name: str, problem: ExactCover) -> Engine:
    """Return the engine that a name stands for in a search for the cheapest covers.

    Raises
    ------
    InputError
        If no engine has that name, or it does not look at costs or does not take the problem.
    """
    costing = [n for n in engine_names() if registered(n).capabilities.costs]
    engine = get_engine(costing[0] if name == AUTO else name)
    if not engine.capabilities.costs:
        raise InputError(
            f"the engine {name!r} does not look at costs; these engines do: {', '.join(costing)}"
        )
    check_support(engine, problem)
    return engine


def _takes(engine: Engine, problem: ExactCover) -> bool:
    try:
        check_support(engine, problem)
    except InputError:
        return False
    return True


def visits_the_same_nodes(name: str) -> bool:
    """Tell whether the engines under a name visit the same nodes, however a search is cut up."""
    return name == AUTO or registered(name).capabilities.reproducible_nodes


def engine_for_rows(name: str, problem: GridProblem) -> Engine:
    """Return the engine that a name stands for when puzzles of one shape are solved.

    Raises
    ------
    InputError
        If no engine has that name, or it cannot solve these puzzles.
    """
    if name == AUTO:  # the fastest of those that suit the shape
        return get_engine(next(e.name for e in _by_speed() if _suits(e, problem)))
    engine = get_engine(name)
    check_support(engine, problem)
    if engine.capabilities.counts_only:
        raise InputError(f"the engine {name!r} only counts; it solves no puzzles")
    return engine


@cache
def _by_speed() -> list[Registered]:
    """Return the engines for grids, those that are faster on the larger ones first."""
    can = {each: each.capabilities for each in map(registered, engine_names())}
    return sorted(
        (each for each in can if can[each].suits_grids_from is not None),
        key=lambda each: (can[each].sudoku_only, can[each].suits_grids_from or 0),
        reverse=True,
    )


@dataclass(frozen=True)
class Handover:
    """The fallback engine for rows with large search trees.

    Attributes
    ----------
    engine : Engine
        Searches such a row from the start.
    after : int
        Nodes that the first engine visits before it gives up a row.
    """

    engine: Engine
    after: int


@dataclass(frozen=True)
class RowEngines:
    """The engines for puzzles of one shape.

    Attributes
    ----------
    engine : Engine
    handover : Handover, optional
        The fallback engine. Only ``auto`` has one, and only if it is installed and few covers of
        each row are wanted.
    missing : str
        How to install the fallback engine; empty if nothing is missing.
    """

    engine: Engine
    handover: Handover | None = None
    missing: str = ""

    @property
    def name(self) -> str:
        """The names of both, as in ``lanes, sat``."""
        names = [self.engine.name]
        return ", ".join(names if self.handover is None else [*names, self.handover.engine.name])

    @property
    def identity(self) -> str:
        """The engines in words, for a journal."""
        return self.name + (f" after {self.handover.after} nodes" if self.handover else "")

    def of(self, problem: Searchable) -> RowEngines:
        """Return the engines for a problem: these."""
        return self


@dataclass(frozen=True, kw_only=True)
class EnginesByShape(RowEngines):
    """The engines for puzzles of several shapes: those of most rows, and how others get theirs.

    Attributes
    ----------
    wanted : str
        The name that stands for them.
    limit : int
    problem : GridProblem
        The problem of most rows.
    has_fallback : bool
        True if large grids have a fallback engine; workers do not decide that.
    """

    wanted: str
    limit: int
    problem: GridProblem
    has_fallback: bool

    @classmethod
    def under(
        cls, name: str, problem: GridProblem, limit: int, sizes_vary: bool = True
    ) -> EnginesByShape:
        """Return the engines that a name stands for, given the problem of most rows."""
        main = engines_for_rows(name, problem, limit)
        has_fallback = main.handover is not None
        if sizes_vary and not has_fallback:
            fallback = _fallback(name, limit)
            has_fallback = fallback is not None and _is_installed(fallback)
        return cls(
            main.engine,
            main.handover,
            main.missing,
            wanted=name,
            limit=limit,
            problem=problem,
            has_fallback=has_fallback,
        )

    @property
    def identity(self) -> str:
        """The engines in words, for a journal."""
        is_for_others = self.has_fallback and self.handover is None
        return super().identity + ", with the fallback engine for large grids" * is_for_others

    def of(self, problem: Searchable) -> RowEngines:
        """Return the engines for a grid; raises `InputError` as `engine_for_rows`."""
        if problem is self.problem:
            return self
        assert isinstance(problem, GridProblem)
        handover = _best_handover(self.wanted, problem, self.limit) if self.has_fallback else None
        return RowEngines(engine_for_rows(self.wanted, problem), handover)


def engines_for_rows(name: str, problem: GridProblem, limit: int) -> RowEngines:
    """Return the engines that a name stands for when puzzles of one shape are solved.

    Raises
    ------
    InputError
        As `engine_for_rows`.
    """
    engine, fallback = engine_for_rows(name, problem), _best_handover(name, problem, limit)
    if fallback is None or _is_installed(registered(fallback.engine.name)):
        return RowEngines(engine, fallback)
    return RowEngines(
        engine,
        missing=f"rows of more than {fallback.after:,} nodes would go to the engine "
        f"{fallback.engine.name!r}: {how_to_install(fallback.engine.capabilities.extra)}",
    )


def _fallback(name: str, limit: int) -> Registered | None:
    """Return the fallback engine for large grids, installed or not."""
    if name != AUTO or limit > MOST_WANTED:
        return None
    each = map(registered, engine_names())
    return next((e for e in each if e.capabilities.takes_over_grids_from is not None), None)


def _is_installed(engine: Registered) -> bool:
    can = engine.capabilities
    with suppress(InputError):
        check_installed(engine.name, can.module, can.extra)
        return True
    return False


def _best_handover(name: str, problem: GridProblem, limit: int) -> Handover | None:
    """Return when the fallback engine, installed or not, takes over grids of a problem."""
    engine = _fallback(name, limit)
    least = None if engine is None else engine.capabilities.takes_over_grids_from
    if engine is None or least is None or least > problem.n_digits:
        return None
    return Handover(get_engine(engine.name), NODES_AN_OPTION * problem.n_options)


def _suits(engine: Engine, problem: GridProblem) -> bool:
    least = engine.capabilities.suits_grids_from
    return least is not None and least <= problem.n_digits and _takes(engine, problem)
