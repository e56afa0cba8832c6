"""The engine that searches a problem: one that is named, or the one that `auto` chooses.

`auto` is a function of the problem alone: no clock decides, so every run and every worker makes the
same choice. Of exact covers it chooses between engines that visit the same nodes of one tree. An
engine made for grids goes before them: its tree is smaller, and it was the fastest on all grids
measured, with one solution or with millions.

Rows of large grids have a *fallback engine* as well, which takes over a row after a number of nodes
that the size of the grid decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from batchsolve.engines import (
    MRV_TREE,
    Capabilities,
    Engine,
    check_support,
    engines_with,
    get_engine,
    new_run,
)
from batchsolve.errors import InputError, how_to_install
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem
from batchsolve.settings import AUTO

FEW_OPTIONS = 9  # of a primary item, on average, up to which counting in cells is quickest
MOST_IN_CELLS = 1_000  # options, up to which that holds
WIDE = 500  # options of a primary item, on average; dancing links leave such a list in one step
FALLBACK, FALLBACK_DIGITS = "sat", 16  # the fallback engine, and the fewest digits of its grids
# Nodes of a row before the fallback engine takes over, for each option. `lanes` takes 0.04 s for
# them at 16×16 and 0.1 s at 25×25, as long as `sat` takes for most of these rows. The formulas of
# `sat` grow with the number of options.
NODES_AN_OPTION = 1
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
    each = problem.n_entries / max(1, problem.n_options)
    if each > 2 and mean <= FEW_OPTIONS and problem.n_options <= MOST_IN_CELLS:
        return "cells", "bits", "dlx"
    if mean > WIDE and sizes.sum() <= 2 * problem.n_options and problem.colors is None:
        return ("dlx",)
    # A word for each item and 64 options is read instead of entries, eight at a time. Where items
    # have uneven numbers of options, the search soon leaves few of them, and those words are few.
    n_words = problem.n_primary * problem.n_options / (8 * 64)
    is_crowded = entries_of_a_node(problem) > n_words
    is_uneven = float(sizes @ sizes) / n - mean * mean > mean / 2
    return ("bits", "dlx") if is_uneven or (each > 2 and is_crowded) else ("dlx",)


def entries_of_a_node(problem: ExactCover) -> float:
    """Return how many entries dancing links take out for an option, on average at the root.

    They are those of all options that conflict with it, if items have equal numbers of options.
    """
    each = problem.n_entries / max(1, problem.n_options)
    return min(each * each * problem.n_entries / max(1, problem.n_items), problem.n_entries)


def _takes(engine: Engine, problem: ExactCover) -> bool:
    try:
        check_support(engine, problem)
    except InputError:
        return False
    return True


def counter_for(name: str, problem: ExactCover) -> str:
    """Return the name of the engine that may take over a count of all covers; empty if none may.

    It counts equal subtrees once, so it suits problems in which many subtrees are equal.
    """
    if name != AUTO or engine_for(name, problem).capabilities.tree != MRV_TREE:
        return ""
    counters = engines_with("counts_only")
    return next((each for each in counters if _takes(get_engine(each), problem)), "")


def visits_the_same_nodes(name: str) -> bool:
    """Return True if the engines of a name visit the same nodes, however a search is cut up."""
    return name == AUTO or get_engine(name).capabilities.reproducible_nodes


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
        if engine_for(name, problem).capabilities.counts_only:
            raise InputError(f"the engine {name!r} only counts; it solves no puzzles")
        if name != AUTO or limit > MOST_WANTED or not (sizes_vary or _is_large(problem)):
            return cls(name, main=problem)
        if _takes(get_engine(FALLBACK), problem):
            return cls(name, FALLBACK, problem)
        missing = (
            f"rows of more than {NODES_AN_OPTION * problem.n_options:,} nodes would go to the "
            f"engine {FALLBACK!r}: {how_to_install(get_engine(FALLBACK).capabilities.extra)}"
        )
        return cls(name, main=problem, missing=missing if _is_large(problem) else "")

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the engine, or of none in particular for ``auto``."""
        if self.name == AUTO:
            return Capabilities("the engine that suits each problem")
        return get_engine(self.name).capabilities

    def of(self, problem: ExactCover) -> Engine:
        """Return the engine for a problem; raises `InputError` if there is none."""
        return engine_for(self.name, problem).for_run(self.run)

    def fallback_of(self, problem: ExactCover) -> tuple[Engine, int] | None:
        """Return the engine that takes over rows of a problem, and after how many nodes."""
        if not self.fallback or not _is_large(problem):
            return None
        return get_engine(self.fallback), NODES_AN_OPTION * problem.n_options

    @property
    def names(self) -> str:
        """The names of the engines for most rows, as in ``lanes, sat``."""
        if self.main is None:
            return self.name
        has_fallback = self.fallback and _is_large(self.main)
        return engine_for(self.name, self.main).name + f", {self.fallback}" * bool(has_fallback)

    @property
    def identity(self) -> str:
        """The engines in words, for a journal."""
        found = self.main and self.fallback_of(self.main)
        if found:
            return f"{self.names} after {found[1]} nodes"
        return self.names + ", with the fallback engine for large grids" * bool(self.fallback)


def _is_large(problem: ExactCover) -> bool:
    return isinstance(problem, GridProblem) and problem.n_digits >= FALLBACK_DIGITS
