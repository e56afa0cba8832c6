"""The one contract that every engine keeps, the registry of engines, and the choice of one.

Given a problem, a batch of stacks, solution limits, a node budget and room for covers, an engine
searches and returns counts, nodes, the covers found, and the frontier. It returns early when the
budget is spent or the room for covers is full; the frontier then says exactly what is left. A
search that is continued from its frontier, however often and in whichever process, finds the same
covers, each once, and visits the same nodes as one that was never interrupted.

An engine is named, or chosen from the registry as `auto`. `auto` is a function of the problem
alone: no clock decides, so every run and every worker makes the same choice. Of exact covers it
chooses between engines that visit the same nodes of one tree. An engine made for grids goes before
them: its tree is smaller, and it was the fastest on all grids measured, with one solution or with
millions. Rows of large grids have a *fallback engine* as well, which takes over a row after a
number of nodes that the size of the grid decides. An engine's module is imported when the engine is
asked for.

The branch item is the first of those with the fewest options (MRV). A *branching rule* changes this
order by handicaps, which are added to the numbers of options: an item with two options or more
seems to have as many more as its handicap. An item with one option or none comes first under every
rule but ``first``, which takes the first item, whatever it has.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Bools, Floats, Ints, UInts
from batchsolve.errors import InputError, check_installed, how_to_install
from batchsolve.problems.exact_cover import ExactCover, places_like
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import MOST_DIGITS
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku
from batchsolve.settings import AUTO
from batchsolve.settings.arguments import FIRST, MRV, SHARP, UNLIMITED as UNLIMITED, checked_branch

FINENESS = 64  # of the frontier of a task; several tasks soon leave enough for many workers

MRV_TREE = "mrv"
"""The tree that dancing links walk: first item with the fewest options, options ascending."""


@dataclass(frozen=True, eq=False)
class Task:
    """A search that one worker is asked for.

    Adjacent stacks of one root share its limit and its allowance and are searched in order.

    Attributes
    ----------
    stacks : Stacks
        The n stacks to search below.
    limits : ndarray of int64, shape (n,)
        Covers of the stack's root that are still wanted.
    allowances : ndarray of int64, shape (n,)
        Nodes that the search of the stack's root may still visit.
    budget : int
        Nodes that the whole task may visit.
    depth : int
        The level at which nodes are handed back as frontier instead of being expanded. Below a
        stack with a branch, the options of the branch lead to level 1.
    fineness : int, or ndarray of int64, shape (n,)
        If several branches of a node remain, they are handed back as stacks with ranges of options:
        of about 1 / fineness of the tree of its stack each, or of one option if that weighs more.
        `UNLIMITED` leaves no branches: a stack for each option. The same for all stacks, or of
        each.
    keep : int
        Covers of each root to hand back; the others are only counted.
    room : int
        Covers that the whole task may find, 1 or more.
    any_order : bool
        True if the stacks of a root, and the branches below them, may be searched in any order
        although its limit may be reached. The covers found for a root with several stacks then need
        not be the first, and the frontier holds the parts before the last of them that were not
        searched.
    whole : bool
        True if the search of a stack must not be cut: it begins only while some of the budget is
        left, and then goes on to its limit, its allowance or its end, without a depth or a room.
        Its result then depends only on the stack, its limit and its allowance; but the covers are
        not always the first in tree order. Only for engines that can do that
        (`Engine.whole_stacks`), and for stacks that each have their own root.
    cheapest : int
        The number of cheapest covers wanted, of all stacks together, which have one root; 0 if
        costs do not matter. Other covers need not be found, but are counted if they are.
    ceilings : ndarray of int64, shape (n,), or None
        The upper bound of the cost of a cover below each stack; None unless the cheapest are
        wanted. Only for engines that look at costs (`Engine.costs`).
    unordered : bool
        True if the options of a cover may stand in any order. Otherwise they stand in the order in
        which they were chosen, by which covers can be put in tree order.
    excluded : bool
        True if covers of items with bounds have the options that were excluded, too, which tell
        their place in tree order: option o as n_options + o.
    """

    stacks: Stacks
    limits: Ints
    allowances: Ints
    budget: int = UNLIMITED
    depth: int = UNLIMITED
    fineness: int | Ints = FINENESS
    keep: int = 0
    room: int = UNLIMITED
    any_order: bool = False
    whole: bool = False
    cheapest: int = 0
    ceilings: Ints | None = None
    unordered: bool = False
    excluded: bool = False

    @classmethod
    def of(
        cls, stacks: Stacks, limit: int = UNLIMITED, allowance: int = UNLIMITED, **others: Any
    ) -> Task:
        """Build a task with the same limit and allowance for every root, and other attributes."""
        limits = np.full(len(stacks), limit, np.int64)
        return cls(stacks, limits, np.full(len(stacks), allowance, np.int64), **others)


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a search.

    Attributes
    ----------
    counts : ndarray of int64 or of Python integers, shape (n,)
        Covers found below each stack of the task; Python integers if one does not fit into int64.
    nodes : ndarray of int64, shape (n,)
        Nodes visited below each stack, its own node included unless it has a branch.
    clash : ndarray of int32, shape (n,)
        -1, or the position in the stack of an option that clashes with one before it, or that
        does not exist; the length of the stack if its branch cannot follow. Such a stack was not
        searched.
    solutions : Stacks
        The covers handed back, in tree order below each stack; their options in order of choice,
        unless the task leaves it open.
    frontier : Stacks
        The stacks left to search, in tree order for each root.
    weights : ndarray of float64, shape (len(frontier),)
        The share that each stack of the frontier has in the tree of the stack it descends from: the
        product of 1 / (number of children) over the nodes between them (Knuth's measure of
        progress).
    parents : ndarray of int64, shape (len(frontier),)
        For each stack of the frontier, the place in the task of the stack it descends from.
    tree_nodes : ndarray of float64, shape (n,), or None
        The nodes of the tree that was searched below each stack, also of subtrees whose counts were
        looked up instead; None if the engine visits them all.
    """

    counts: Ints | npt.NDArray[np.object_]
    nodes: Ints
    clash: npt.NDArray[np.int32]
    solutions: Stacks
    frontier: Stacks
    weights: Floats
    parents: Ints
    tree_nodes: Floats | None = None

    def begun(self, stacks: Stacks) -> Bools:
        """Return True for stacks that were searched; others clash, or are left as they were.

        A branch whose options are no longer possible has no nodes.
        """
        frontier, parents = self.frontier, self.parents
        begun: Bools = self.clash < 0
        if not len(frontier):
            return begun
        is_untouched = np.diff(frontier.offsets) == np.diff(stacks.offsets)[parents]
        is_untouched &= (frontier.all_branches == stacks.all_branches[parents]).all(axis=1)
        begun[parents[is_untouched]] = False
        return begun | (self.nodes > 0)


@dataclass(frozen=True)
class Engine:
    """A search engine, and its capabilities; callers ask for one of these, never for a name.

    Engines hold nothing but their settings and can be pickled. Each defines its own nodes. But a
    stack without a branch that was searched has at least one, and unless `reproducible_nodes` says
    otherwise, the sum below a stack does not depend on budgets, depths and room.

    Attributes
    ----------
    name : str
    description : str
        The engine in a few words.
    entry : str
        The function that searches a task, after its module, which is not imported before; empty
        for an engine of another class.
    colors : bool
        True if it takes problems whose secondary items have colours.
    bounds : bool
        True if it takes problems whose primary items have bounds.
    costs : bool
        True if it can look for the cheapest covers.
    sudoku_only : bool
        True if it takes grids alone, by their `rules`; each row may have its own.
    least_box : int
        The fewest rows, and columns, that the boxes of a `Sudoku` may have.
    most_digits : int
        The largest number of digits of a grid.
    tree : str
        The name of its search tree, if other engines share it; else empty.
    rules : bool
        True if a branching rule may follow its name: ``dlx:first``. Then its function has a keyword
        ``rule``.
    branch : str
        The branching rule that its name ends with; empty for ``mrv``.
    counts_only : bool
        True if it only counts covers, and all of them: it takes no `keep`, no limits and no `room`.
    reproducible_nodes : bool
        True if the sum of nodes below a stack is the same in every search, however it is cut up.
    whole_stacks : bool
        True if it takes tasks whose stacks are searched whole; then it searches rows this way.
    module : str
        A module that must be installed for it; empty if it needs none.
    extra : str
        The extra of this package that installs `module`.
    has_table : bool
        True if it has a table that the tasks of a run share; a number behind its name is the size.
    """

    name: str
    description: str
    entry: str = ""
    colors: bool = False
    bounds: bool = False
    costs: bool = False
    sudoku_only: bool = False
    least_box: int = 1
    most_digits: int = MOST_DIGITS
    tree: str = ""
    rules: bool = False
    branch: str = ""
    counts_only: bool = False
    reproducible_nodes: bool = True
    whole_stacks: bool = False
    module: str = ""
    extra: str = ""
    has_table: bool = False

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search a task of a problem that `check_support` accepts.

        Several threads may call it at once.
        """
        module, function = self.entry.split(":")
        search: Callable[..., Outcome] = getattr(_module(module), function)
        rule = self.branch
        return search(problem, task, rule=rule) if rule else search(problem, task)

    def under(self, rule: str) -> Engine:
        """Return this engine under a branching rule: with its own tree, and blind to costs."""
        return replace(self, name=f"{self.name}:{rule}", branch=rule, tree="", costs=False)

    def for_run(self, run: str = "", entries: int = UNLIMITED, shared: bool = False) -> Engine:
        """Return the engine for all tasks of a new run: with an empty table, if it has one.

        Parameters
        ----------
        run : str
            A name that no other run has; by default a new one.
        entries : int
            Entries of options that each task may take out of lists, about.
        shared : bool
            True if processes of this machine are to share the table, where they can.
        """
        return self


_module = cache(import_module)


def new_run() -> str:
    """Return a name that no other run has, on any machine."""
    return os.urandom(8).hex()


_ENGINES = {
    engine.name: engine
    for engine in (
        Engine(
            "dlx",
            "dancing links over arrays (Knuth's Algorithms X, C, M and C$)",
            "batchsolve.engines.native:search_links",
            colors=True,
            bounds=True,
            costs=True,
            tree=MRV_TREE,
            rules=True,
        ),
        Engine(
            "lanes",
            "Sudoku, many grids at once in SIMD lanes",
            "batchsolve.engines.native:search_grids",
            sudoku_only=True,
            least_box=2,
            most_digits=32,  # a set of digits is a word of 32 bits
        ),
        Engine(
            "bits",
            "bit-parallel search of residual problems",
            "batchsolve.engines.native:search_bits",
            colors=True,
            bounds=True,
            tree=MRV_TREE,
        ),
        Engine(
            "cells",
            "options counted down in cells of a byte",
            "batchsolve.engines.native:search_cells",
            colors=True,
            tree=MRV_TREE,
        ),
        Engine(
            "memo",
            "dancing links that count like subtrees once; memo:64 has a table of 64 MB",
            colors=True,
            bounds=True,
            counts_only=True,
            reproducible_nodes=False,
            has_table=True,
        ),
        Engine(
            "algorithm-x",
            "Knuth's Algorithm X on a dict of sets, in Python",
            "batchsolve.engines.walk:search_algorithm_x",
            colors=True,
            tree=MRV_TREE,
            rules=True,
        ),
        Engine(
            "dancing-links",
            "dancing links over NumPy arrays, in Python",
            "batchsolve.engines.walk:search_dancing_links",
            tree=MRV_TREE,
        ),
        Engine(
            "sat",
            "reduction to SAT, with the solvers of python-sat",
            "batchsolve.engines.sat:search",
            colors=True,
            whole_stacks=True,
            module="pysat.solvers",
            extra="sat",
        ),
    )
}


def engine_names() -> list[str]:
    """Return the names of all engines, also of those that need a module not installed here."""
    return list(_ENGINES)


def engines_with(capability: str) -> list[str]:
    """Return the names of the engines that have a capability.

    Examples
    --------
    >>> engines_with("costs")
    ['dlx']
    """
    return [name for name, engine in _ENGINES.items() if getattr(engine, capability)]


def get_engine(name: str) -> Engine:
    """Return the engine of that name; its search is imported when it is first used.

    Parameters
    ----------
    name : str
        One of `engine_names`; some may be followed by a number: ``memo:64`` has tables of 64
        megabytes, and others by a branching rule: ``dlx:first``.

    Raises
    ------
    InputError
        If no engine has that name, the number is not valid, or it does not take the branching rule.

    Examples
    --------
    >>> get_engine("lanes").sudoku_only, get_engine("memo:64").name
    (True, 'memo:64')
    """
    base, *settings = str(name).split(":")
    known = _ENGINES.get(base)
    if settings and known and not known.rules and {FIRST, SHARP} & {*settings}:
        raise _lacks(base, "takes no branching rule", "rules")
    if known is None or (settings and not (known.has_table or known.rules)):
        raise InputError(f"unknown engine {name!r}; choose from {', '.join([AUTO, *_ENGINES])}")
    if known.has_table:
        from batchsolve.engines.memo import with_size  # which is an engine itself

        return with_size(known, name)
    rule = checked_branch(":".join(settings)) if settings else MRV
    return known if rule == MRV else known.under(rule)


def _lacks(name: str, what: str, capability: str) -> InputError:
    """Return the error for an engine that lacks a capability; it names those that have it."""
    names = ", ".join(engines_with(capability))
    return InputError(f"the engine {name!r} {what}; these engines do: {names}")


def check_support(engine: Engine, problem: ExactCover, has_costs: bool = False) -> None:
    """Check that an engine can search a problem, here and now.

    Parameters
    ----------
    engine : Engine
    problem : ExactCover
    has_costs : bool
        True if the cheapest covers are wanted.

    Raises
    ------
    InputError
        If the engine does not take such problems, or a module that it needs is not installed.
    """
    if has_costs and not engine.costs:
        raise _lacks(engine.name, "does not look at costs", "costs")
    if engine.sudoku_only:
        _check_grid(engine, problem)
        return
    if problem.colors is not None and not engine.colors:
        raise _lacks(engine.name, f"takes no colours: {problem!r}", "colors")
    if problem.bounds is not None and not engine.bounds:
        raise _lacks(engine.name, f"takes no bounds of items: {problem!r}", "bounds")
    if engine.branch not in ("", FIRST) and not is_sharp(problem, engine.branch).any():
        raise InputError(
            f"no primary item is one that the branching rule {engine.branch!r} prefers; {SHARP!r} "
            f"prefers items whose names begin with #, and '{SHARP}:r1c*' those like r1c*"
        )
    if engine.module:
        check_installed(f"the engine {engine.name!r}", engine.module, engine.extra)


def _check_grid(engine: Engine, problem: ExactCover) -> None:
    """Check that an engine for grids can search a problem."""
    if not isinstance(problem, GridProblem):
        raise InputError(f"the engine {engine.name!r} solves grids of digits only, not {problem!r}")
    boxes = (problem.box_rows, problem.box_columns) if isinstance(problem, Sudoku) else ()
    if (
        problem.n_digits > engine.most_digits
        or min(boxes, default=engine.least_box) < engine.least_box
    ):
        raise InputError(
            f"the engine {engine.name!r} solves grids of up to {engine.most_digits} digits, with "
            f"boxes of {engine.least_box} rows and columns or more, not {problem!r}"
        )


# ---- branching rules ------------------------------------------------------------------------

ENOUGH = 0
"""The place, among the handicaps, of the number of options at which the choice ends."""


def is_sharp(problem: ExactCover, rule: str) -> Bools:
    """Return, for each primary item, whether ``sharp`` or ``sharp:ITEMS`` prefers it.

    Examples
    --------
    >>> is_sharp(ExactCover.from_options([["#a", "b"]]), "sharp").tolist()
    [True, False]
    """
    names = [*map(problem.item_name, range(problem.n_primary))]
    preferred = places_like(rule.partition(":")[2] or "[#]*", names)
    return np.isin(np.arange(problem.n_primary), preferred)


def handicaps_of(problem: ExactCover, rule: str) -> UInts:
    """Return the handicaps of the items, counted from 1, under a rule.

    The number at place `ENOUGH` is 1, or the largest under ``first``.

    Parameters
    ----------
    problem : ExactCover
    rule : str
        As `batchsolve.settings.arguments.checked_branch` takes it; empty for ``mrv``.

    Returns
    -------
    ndarray of uint32, shape (n_items + 1,)
    """
    handicaps = np.zeros(problem.n_items + 1, np.uint32)
    handicaps[ENOUGH] = 2**32 - 1 if rule == FIRST else 1
    if rule not in ("", FIRST):
        handicaps[1 : problem.n_primary + 1] = ~is_sharp(problem, rule) * problem.n_options
    return handicaps


# ---- the choice of an engine ----------------------------------------------------------------

FEW_OPTIONS = 9  # of a primary item, on average, up to which counting in cells is quickest
MOST_IN_CELLS = 1_000  # options, up to which that holds
WIDE = 500  # options of a primary item, on average; dancing links leave such a list in one step
FALLBACK, FALLBACK_DIGITS = "sat", 16  # the fallback engine, and the fewest digits of its grids
# Nodes of a row before the fallback engine takes over, for each digit of each cell. `lanes` takes
# 0.04 s for them at 16×16 and 0.1 s at 25×25, as long as `sat` takes for most of these rows. The
# formulas of `sat` grow with the number of digits and cells.
NODES_A_DIGIT = 1
MOST_WANTED = 100  # covers of a row: `sat` is slow at more


def engine_for(name: str, problem: ExactCover, has_costs: bool = False) -> Engine:
    """Return the engine that searches a problem.

    Parameters
    ----------
    name : str
        A name for `get_engine`, or ``auto``.
    problem : ExactCover
    has_costs : bool
        True if the cheapest covers are wanted.

    Raises
    ------
    InputError
        If no engine has that name, or it does not take the problem, or its costs.
    """
    if name == AUTO:
        eligible = map(get_engine, engines_with("costs") if has_costs else _by_speed(problem))
        return next(engine for engine in eligible if _takes(engine, problem))
    engine = get_engine(name)
    check_support(engine, problem, has_costs)
    return engine


def _by_speed(problem: ExactCover) -> tuple[str, ...]:
    """Return the engines that `auto` may choose, the one that suits the problem best first.

    `dlx` takes every problem.
    """
    if isinstance(problem, GridProblem):
        return "lanes", "cells", "dlx"
    sizes = np.bincount(problem.indices, minlength=problem.n_items)[: problem.n_primary]
    n = max(1, sizes.size)
    mean = float(sizes.sum()) / n
    mean_size = problem.n_entries / max(1, problem.n_options)
    if mean_size > 2 and mean <= FEW_OPTIONS and problem.n_options <= MOST_IN_CELLS:
        return "cells", "bits", "dlx"
    if mean > WIDE and sizes.sum() <= 2 * problem.n_options and problem.colors is None:
        return ("dlx",)
    # A word for each item and 64 options is read instead of entries, eight at a time. Where items
    # have uneven numbers of options, the search soon leaves few of them, and those words are few.
    n_words = problem.n_primary * problem.n_options / (8 * 64)
    is_crowded = problem.entries_of_a_node > n_words
    is_uneven = float(sizes @ sizes) / n - mean * mean > mean / 2
    return ("bits", "dlx") if is_uneven or (mean_size > 2 and is_crowded) else ("dlx",)


def _takes(engine: Engine, problem: ExactCover) -> bool:
    try:
        check_support(engine, problem)
    except InputError:
        return False
    return True


def counter_for(name: str, problem: ExactCover, is_row: bool = True) -> str:
    """Return the name of the engine that may take over a count of all covers; empty if none may.

    It counts equal subtrees once, so it suits problems in which many subtrees are equal. Grids that
    are rows stay with the engine that searches them side by side.
    """
    if name != AUTO or (is_row and engine_for(name, problem).tree != MRV_TREE):
        return ""
    counters = engines_with("counts_only")
    return next((counter for counter in counters if _takes(get_engine(counter), problem)), "")


def visits_the_same_nodes(name: str) -> bool:
    """Return True if the engines of a name visit the same nodes, however a search is cut up."""
    return name == AUTO or get_engine(name).reproducible_nodes


@dataclass(frozen=True)
class Choice:
    """The choice of engines for many problems, as workers receive it.

    Attributes
    ----------
    name : str
        A name for `get_engine`, or ``auto``.
    fallback : str
        The fallback engine for large grids; empty if there is none. Workers do not decide that.
    main : GridProblem, optional
        The problem of most rows, if they are grids.
    missing : str
        The way to install the fallback engine that these lack; empty if they lack none.
    run : str
        The name of the run for engines with a table.
    """

    name: str
    fallback: str = ""
    main: GridProblem | None = None
    missing: str = ""
    run: str = field(default_factory=new_run, repr=False, compare=False)

    @classmethod
    def for_grids(
        cls, name: str, problem: GridProblem, limit: int, sizes_vary: bool = True
    ) -> Choice:
        """Return the choice for rows of grids, given the problem of most rows.

        Raises
        ------
        InputError
            If no engine has that name, or it cannot solve these puzzles.
        """
        if engine_for(name, problem).counts_only:
            raise InputError(f"the engine {name!r} only counts; it solves no puzzles")
        if name != AUTO or limit > MOST_WANTED or not (sizes_vary or _is_large(problem)):
            return cls(name, main=problem)
        if _takes(get_engine(FALLBACK), problem):
            return cls(name, FALLBACK, problem)
        missing = (
            f"rows of more than {_nodes_before_fallback(problem):,} nodes would go to the "
            f"engine {FALLBACK!r}: {how_to_install(get_engine(FALLBACK).extra)}"
        )
        return cls(name, main=problem, missing=missing if _is_large(problem) else "")

    @property
    def counts_only(self) -> bool:
        """True if the engine that is named has this capability; see `Engine`."""
        return self.name != AUTO and get_engine(self.name).counts_only

    @property
    def whole_stacks(self) -> bool:
        """True if the engine that is named has this capability; see `Engine`."""
        return self.name != AUTO and get_engine(self.name).whole_stacks

    def of(self, problem: ExactCover) -> Engine:
        """Return the engine for a problem; raises `InputError` if there is none."""
        return engine_for(self.name, problem).for_run(self.run)

    def fallback_of(self, problem: ExactCover) -> tuple[Engine, int] | None:
        """Return the engine that takes over rows of a problem, and after how many nodes."""
        if not self.fallback or not _is_large(problem):
            return None
        return get_engine(self.fallback), _nodes_before_fallback(problem)

    @property
    def names(self) -> str:
        """The names of the engines for most rows, as in ``lanes, sat``."""
        if self.main is None:
            return self.name
        engine = engine_for(self.name, self.main).name
        has_fallback = self.fallback and _is_large(self.main)
        return f"{engine}, {self.fallback}" if has_fallback else engine

    @property
    def identity(self) -> str:
        """The engine that was named and those that it stands for, in words, for a journal."""
        words = self.name if self.names == self.name else f"{self.name} ({self.names})"
        fallback = self.main and self.fallback_of(self.main)
        if fallback:
            return f"{words} after {fallback[1]} nodes"
        return f"{words}, with the fallback engine for large grids" if self.fallback else words


def _is_large(problem: ExactCover) -> TypeGuard[GridProblem]:
    return isinstance(problem, GridProblem) and problem.n_digits >= FALLBACK_DIGITS


def _nodes_before_fallback(problem: GridProblem) -> int:
    """Return a number that the size of a grid decides: the rules of other rows play no part."""
    return NODES_A_DIGIT * problem.n_cells * problem.n_digits
