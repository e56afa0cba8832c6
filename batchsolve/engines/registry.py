"""The registry of engines: their names, capabilities and modules.

Code that chooses an engine looks here, because importing its module takes time: that prepares its
kernels for compiling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from batchsolve.errors import InputError
from batchsolve.settings import AUTO

MRV_TREE = "mrv"
"""The tree that dancing links walk: first item with the fewest options, options ascending."""


@dataclass(frozen=True)
class Capabilities:
    """The capabilities of an engine; callers ask for one of these, never for a name.

    Attributes
    ----------
    description : str
        The engine in a few words.
    secondary_items : bool
        True if it takes problems with secondary items.
    colors : bool
        True if it takes problems whose secondary items have colours.
    bounds : bool
        True if it takes problems whose primary items have bounds.
    costs : bool
        True if it can look for the cheapest covers.
    sudoku_only : bool
        True if it takes no problem but a `Sudoku` or, with `rules`, any grid.
    rules : bool
        True if an engine for Sudoku takes grids with other rules, too, by their `rules`.
    least_box : int
        The fewest rows, and columns, that the boxes of a `Sudoku` may have.
    most_digits : int or None
        The largest number of digits of a `Sudoku` that it takes; None if any.
    tree : str
        The name of its search tree, if other engines share it; else empty.
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
    suits_grids_from : int or None
        The number of digits from which on it suits grids of Sudoku; None if others always suit
        them better. Of several engines that suit a grid, the fastest is one that takes Sudoku only,
        or else the one with the largest number here.
    takes_over_grids_from : int or None
        The number of digits from which on it is the fallback engine for grids with large search
        trees; None if it never is.
    """

    description: str
    secondary_items: bool = True
    colors: bool = False
    bounds: bool = False
    costs: bool = False
    sudoku_only: bool = False
    rules: bool = False
    least_box: int = 1
    most_digits: int | None = None
    tree: str = ""
    counts_only: bool = False
    reproducible_nodes: bool = True
    whole_stacks: bool = False
    module: str = ""
    extra: str = ""
    suits_grids_from: int | None = None
    takes_over_grids_from: int | None = None


class Described(Protocol):
    """An engine, or the description of one that is not imported."""

    @property
    def name(self) -> str:
        """The name of the engine."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the engine."""
        ...


@dataclass(frozen=True)
class Registered:
    """The description of an engine that need not be imported.

    Attributes
    ----------
    name : str
    capabilities : Capabilities
    module, kind : str
        The module of its class, and the name of the class.
    has_size : bool
        True if the size of its tables may follow its name: ``memo:64``.
    """

    name: str
    capabilities: Capabilities
    module: str
    kind: str
    has_size: bool = False


_ENGINES = {
    engine.name: engine
    for engine in (
        Registered(
            "dlx",
            Capabilities(
                "dancing links over arrays (Knuth's Algorithms X, C, M and C$)",
                colors=True,
                bounds=True,
                costs=True,
                tree=MRV_TREE,
                suits_grids_from=1,
            ),
            "batchsolve.engines.dlx",
            "DancingLinks",
        ),
        Registered(
            "lanes",
            Capabilities(
                "Sudoku, many grids at once in SIMD lanes",
                secondary_items=False,
                sudoku_only=True,
                rules=True,
                least_box=2,
                most_digits=32,  # a set of digits is a word of 32 bits
                suits_grids_from=4,
            ),
            "batchsolve.engines.lanes",
            "SudokuLanes",
        ),
        Registered(
            "bits",
            Capabilities(
                "bit-parallel search of residual problems",
                colors=True,
                tree=MRV_TREE,
            ),
            "batchsolve.engines.bits",
            "BitParallel",
        ),
        Registered(
            "cells",
            Capabilities(
                "options counted down in cells of a byte",
                colors=True,
                tree=MRV_TREE,
                # at 16 digits it takes a third of the time of `dlx`; at 12, as long
                suits_grids_from=13,
            ),
            "batchsolve.engines.cells",
            "Cells",
        ),
        Registered(
            "memo",
            Capabilities(
                "dancing links that count like subtrees once; memo:64 has a table of 64 MB",
                colors=True,
                counts_only=True,
                reproducible_nodes=False,
            ),
            "batchsolve.engines.memo",
            "MemoisedCounting",
            has_size=True,
        ),
        Registered(
            "algorithm-x",
            Capabilities("Knuth's Algorithm X on a dict of sets, in Python", colors=True),
            "batchsolve.engines.algorithm_x",
            "AlgorithmX",
        ),
        Registered(
            "backtracking",
            Capabilities("Sudoku cell by cell, in Python", sudoku_only=True),
            "batchsolve.engines.backtracking",
            "Backtracking",
        ),
        Registered(
            "sat",
            Capabilities(
                "reduction to SAT, with the solvers of python-sat",
                colors=True,
                whole_stacks=True,
                module="pysat",
                extra="sat",
                takes_over_grids_from=16,
            ),
            "batchsolve.engines.sat",
            "Sat",
        ),
    )
}


def engine_names() -> list[str]:
    """Return the names of all engines, also of those that need a module not installed here."""
    return list(_ENGINES)


def registered(name: str) -> Registered:
    """Return the description of the engine of that name, without importing it.

    Parameters
    ----------
    name : str
        As `batchsolve.engines.get_engine` takes it.

    Raises
    ------
    InputError
        If no engine has that name.

    Examples
    --------
    >>> registered("lanes").capabilities.sudoku_only
    True
    """
    base, colon, _ = str(name).partition(":")
    if base not in _ENGINES or (colon and not _ENGINES[base].has_size):
        raise InputError(f"unknown engine {name!r}; choose from {', '.join([AUTO, *_ENGINES])}")
    return _ENGINES[base]
