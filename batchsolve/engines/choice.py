"""Which engines may search a problem: one that is named, or all that `auto` may choose from.

For one problem, `auto` means the engines of one tree: they visit the same nodes, so they may take
turns in one search, and which of them is fastest can be measured on the way without changing a
result. For puzzles in rows it means the engine that suits the shape of the grids, and perhaps
another that takes over a row after a number of nodes: what is written there depends on the engine's
tree, and must not depend on timing. So the shape decides that number, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from batchsolve.engines import engine_names, get_engine
from batchsolve.engines.contract import MRV_TREE, Engine, check_support
from batchsolve.errors import InputError, how_to_install
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.sudoku import Sudoku
from batchsolve.settings import AUTO

# So many nodes take `cells` as long as `sat` takes for most rows that come so far: 0.01 s at 16×16
# and 0.06 s at 25×25. So a row takes at most about twice as long as by the better of the two. The
# formulas of `sat` grow with the number of options.
NODES_AN_OPTION = 32


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
        One or more. All of them visit the same nodes.

    Raises
    ------
    InputError
        If there is no such engine, or it does not take the problem.
    """
    if name != AUTO:
        engine = get_engine(name)
        check_support(engine, problem)
        return [engine]
    candidates = map(get_engine, engine_names())
    return [e for e in candidates if e.capabilities.tree == MRV_TREE and _takes(e, problem)]


def _takes(engine: Engine, problem: ExactCover) -> bool:
    try:
        check_support(engine, problem)
    except InputError:
        return False
    return True


def visits_the_same_nodes(name: str) -> bool:
    """Whether the engines under a name visit the same nodes, however a search is cut up."""
    return name == AUTO or get_engine(name).capabilities.reproducible_nodes


def engine_for_rows(name: str, problem: Sudoku) -> Engine:
    """Return the engine that searches puzzles of one shape under a name.

    Raises
    ------
    InputError
        If there is no such engine, or it cannot solve these puzzles.
    """
    if name == AUTO:
        suited = [e for e in map(get_engine, engine_names()) if _suits(e, problem)]
        return max(suited, key=lambda e: e.capabilities.suits_grids_from or 0)
    engine = get_engine(name)
    check_support(engine, problem)
    if engine.capabilities.counts_only:
        raise InputError(f"the engine {name!r} only counts; it solves no puzzles")
    return engine


@dataclass(frozen=True)
class Handover:
    """The engine that rows go to which have taken many nodes.

    Attributes
    ----------
    engine : Engine
        It begins such a row anew.
    after : int
        The nodes of a row by the first engine.
    """

    engine: Engine
    after: int


def handover_for_rows(name: str, problem: Sudoku) -> Handover | None:
    """Return what becomes of rows that the engine under a name is long at; None if it keeps them.

    Only ``auto`` hands rows over, and only if the other engine can be had here.
    """
    late = _late_engines(name, problem)
    return next((late for late in late if _takes(late.engine, problem)), None)


def missing_for_rows(name: str, problem: Sudoku) -> str:
    """Say what would help with rows that take many nodes, and how to install it.

    Returns
    -------
    str
        Empty if nothing is missing.
    """
    if handover_for_rows(name, problem) is not None:
        return ""
    for late in _late_engines(name, problem):
        return (
            f"rows of more than {late.after:,} nodes would go to the engine {late.engine.name!r}: "
            f"{how_to_install(late.engine.capabilities.extra)}"
        )
    return ""


def _late_engines(name: str, problem: Sudoku) -> list[Handover]:
    if name != AUTO:
        return []
    least = {e: e.capabilities.takes_over_grids_from for e in map(get_engine, engine_names())}
    after = NODES_AN_OPTION * problem.n_options
    return [Handover(e, after) for e, n in least.items() if n is not None and n <= problem.n_digits]


def _suits(engine: Engine, problem: Sudoku) -> bool:
    least = engine.capabilities.suits_grids_from
    return least is not None and least <= problem.n_digits and _takes(engine, problem)
