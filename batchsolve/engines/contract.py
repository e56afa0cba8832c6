"""The one contract that every engine keeps.

Given a problem, a batch of stacks, solution limits, a node budget and room for covers, an engine
searches and returns counts, nodes, the covers found, and the frontier. It returns early when the
budget is spent or the room for covers is full; the frontier then says exactly what is left. A
search that is continued from its frontier, however often and in whichever process, finds the same
covers, each once, and visits the same nodes as one that was never interrupted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from batchsolve.engines.registry import Described, engine_names, registered
from batchsolve.errors import InputError, check_installed
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku
from batchsolve.settings import UNLIMITED


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
        The level at which nodes are handed back as frontier instead of being expanded.
    keep : int
        Covers of each root to hand back; the others are only counted.
    room : int
        Covers that the whole task may find, 1 or more.
    any_order : bool
        True if the stacks of a root, and the branches below them, may be searched in any order
        although its limit may be reached. The covers found then need not be the first, and the
        frontier holds the parts before the last of them that were not searched.
    whole : bool
        True if the search of a stack must not be cut: it begins only while some of the budget is
        left, and then goes on to its limit, its allowance or its end, without a depth or a room.
        Its result then depends only on the stack, its limit and its allowance; but the covers are
        not always the first in tree order. Only for engines that can do that
        (`Capabilities.whole_stacks`), and for stacks that each have a root of their own.
    cheapest : int
        The number of cheapest covers wanted, of all stacks together, which have one root; 0 if
        costs do not matter. Other covers need not be found, but are counted if they are.
    ceilings : ndarray of int64, shape (n,), or None
        The upper bound of the cost of a cover below each stack; None unless the cheapest are
        wanted. Only for engines that look at costs (`Capabilities.costs`).
    unordered : bool
        True if the options of a cover may stand in any order. Otherwise they stand in the order in
        which they were chosen, by which covers can be put in tree order.
    """

    stacks: Stacks
    limits: npt.NDArray[np.int64]
    allowances: npt.NDArray[np.int64]
    budget: int = UNLIMITED
    depth: int = UNLIMITED
    keep: int = 0
    room: int = UNLIMITED
    any_order: bool = False
    whole: bool = False
    cheapest: int = 0
    ceilings: npt.NDArray[np.int64] | None = None
    unordered: bool = False

    @classmethod
    def of(
        cls,
        stacks: Stacks,
        limit: int = UNLIMITED,
        allowance: int = UNLIMITED,
        budget: int = UNLIMITED,
        depth: int = UNLIMITED,
        keep: int = 0,
        room: int = UNLIMITED,
        any_order: bool = False,
        whole: bool = False,
    ) -> Task:
        """Build a task with the same limit and allowance for every root."""
        n = len(stacks)
        limits = np.full(n, limit, np.int64)
        allowances = np.full(n, allowance, np.int64)
        return cls(stacks, limits, allowances, budget, depth, keep, room, any_order, whole)


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a search.

    Attributes
    ----------
    counts : ndarray of int64 or of Python integers, shape (n,)
        Covers found below each stack of the task; Python integers if one does not fit into int64.
    nodes : ndarray of int64, shape (n,)
        Nodes visited below each stack, its own node included.
    clash : ndarray of int32, shape (n,)
        -1, or the position in the stack of an option that clashes with one before it, or that
        does not exist. Such a stack was not searched.
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
    """

    counts: npt.NDArray[np.int64] | npt.NDArray[np.object_]
    nodes: npt.NDArray[np.int64]
    clash: npt.NDArray[np.int32]
    solutions: Stacks
    frontier: Stacks
    weights: npt.NDArray[np.float64]
    parents: npt.NDArray[np.int64]


class Engine(Described, Protocol):
    """A search kernel. Engines hold nothing but their settings and can be pickled.

    Each engine defines its own nodes. But a stack that was searched has at least one, and unless
    the capabilities say otherwise, the sum below a stack does not depend on budgets, depths and
    room.
    """

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search a task; several threads may call it at once.

        Raises
        ------
        InputError
            If `check_support` does, or the engine only counts and is asked for more.
        """
        ...


@runtime_checkable
class Sharing(Protocol):
    """An engine whose searches in several processes can share a table."""

    def shared_in(self, folder: str, problem: ExactCover) -> Engine:
        """Return a copy of the engine that keeps its table in a folder.

        Return the engine itself if the folder has no room.
        """
        ...


def check_support(engine: Described, problem: ExactCover) -> None:
    """Check that an engine can search a problem, here and now.

    Raises
    ------
    InputError
        If the engine does not take such problems, or a module that it needs is not installed.
    """
    can = engine.capabilities
    if can.sudoku_only and not isinstance(problem, Sudoku):
        _check_grid(engine, problem)
        return
    if isinstance(problem, Sudoku):
        most = can.most_digits or problem.n_digits
        if min(problem.box_rows, problem.box_columns) < can.least_box or problem.n_digits > most:
            raise InputError(
                f"the engine {engine.name!r} solves Sudoku with boxes of {can.least_box} rows and "
                f"columns or more, up to {most}×{most}, not {problem!r}"
            )
    if problem.n_primary < problem.n_items and not can.secondary_items:
        raise InputError(f"the engine {engine.name!r} takes no secondary items: {problem!r}")
    if problem.colors is not None and not can.colors:
        raise _takes_none(engine, problem, "colors", "colours")
    if problem.bounds is not None and not can.bounds:
        raise _takes_none(engine, problem, "bounds", "bounds of items")
    if can.module:
        check_installed(f"the engine {engine.name!r}", can.module, can.extra)


def _check_grid(engine: Described, problem: ExactCover) -> None:
    """Check that an engine for Sudoku can search a grid with other rules."""
    can = engine.capabilities
    if not isinstance(problem, GridProblem):
        raise InputError(f"the engine {engine.name!r} solves Sudoku only, not {problem!r}")
    if not can.rules:
        raise InputError(f"the engine {engine.name!r} knows rows, columns and boxes only")
    most = can.most_digits or problem.n_digits
    if problem.n_digits > most:
        raise InputError(
            f"the engine {engine.name!r} solves grids of up to {most} digits, not {problem!r}"
        )


def _takes_none(engine: Described, problem: ExactCover, capability: str, what: str) -> InputError:
    """Return the error for a capability that an engine lacks; it names the engines that have it."""
    those = [n for n in engine_names() if getattr(registered(n).capabilities, capability)]
    return InputError(
        f"the engine {engine.name!r} takes no {what}: {problem!r}; these engines do: "
        f"{', '.join(those)}"
    )
