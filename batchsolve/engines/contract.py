"""The one contract that every engine keeps.

Given a problem, a batch of stacks, solution limits, a node budget and a solution buffer, an engine
searches and returns counts, nodes, the covers found, and the frontier. It returns early when the
budget is spent or the buffer is full; the frontier then says exactly what is left. A search that
is continued from its frontier, however often and by whomever, finds the same covers, each once,
and visits the same nodes as one that was never interrupted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from batchsolve.cover import ExactCover
from batchsolve.stacks import Stacks

UNLIMITED = 2**62
"""A limit, allowance, budget or depth that no search reaches."""


@dataclass(frozen=True, eq=False)
class Task:
    """What one worker is asked to search.

    Adjacent stacks of one root share its limit and its allowance and are searched in order.

    Attributes
    ----------
    stacks : Stacks
        Where to search, n stacks.
    limits : ndarray of int64, shape (n,)
        How many covers of the stack's root are still wanted.
    allowances : ndarray of int64, shape (n,)
        How many nodes the search of the stack's root may still visit.
    budget : int
        How many nodes the whole task may visit.
    depth : int
        The level at which nodes are handed back as frontier instead of being expanded.
    keep : int
        How many covers of each root to hand back; the others are only counted.
    room : int
        How many options the solution buffer holds. It takes at least one cover.
    """

    stacks: Stacks
    limits: npt.NDArray[np.int64]
    allowances: npt.NDArray[np.int64]
    budget: int = UNLIMITED
    depth: int = UNLIMITED
    keep: int = 0
    room: int = UNLIMITED

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
    ) -> Task:
        """Build a task with the same limit and allowance for every root."""
        n = len(stacks)
        limits = np.full(n, limit, np.int64)
        allowances = np.full(n, allowance, np.int64)
        return cls(stacks, limits, allowances, budget, depth, keep, room)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a search returns.

    Attributes
    ----------
    counts : ndarray of int64, shape (n,)
        Covers found below each stack of the task.
    nodes : ndarray of int64, shape (n,)
        Nodes visited below each stack, its own node included.
    clash : ndarray of int32, shape (n,)
        -1, or the position in the stack of an option that clashes with one before it, or that
        does not exist. Such a stack was not searched.
    solutions : Stacks
        The covers handed back, in tree order below each stack; options in order of choice.
    frontier : Stacks
        What is left to search, in tree order for each root.
    """

    counts: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int64]
    clash: npt.NDArray[np.int32]
    solutions: Stacks
    frontier: Stacks


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do; callers ask for a capability, never for a name."""

    secondary_items: bool
    description: str


class Engine(Protocol):
    """A search kernel. Engines are stateless and can be pickled by reference."""

    name: str
    capabilities: Capabilities

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search; must be safe to call from several threads at once."""
        ...
