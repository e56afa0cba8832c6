"""Which engines may search a problem: one that is named, or all that `auto` may choose from.

For one problem, `auto` means the engines of one tree: they visit the same nodes, so they may take
turns in one search, and which of them is fastest can be measured on the way without changing a
result. For puzzles in rows it means the engine that suits the shape of the grids: what is written
there depends on the engine's tree, and must not depend on timing.
"""

from __future__ import annotations

from batchsolve.engines import engine_names, get_engine
from batchsolve.engines.contract import MRV_TREE, Engine, check_support
from batchsolve.errors import InputError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.sudoku import Sudoku
from batchsolve.settings import AUTO


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
        return max(suited, key=_suitability)
    engine = get_engine(name)
    check_support(engine, problem)
    if engine.capabilities.counts_only:
        raise InputError(f"the engine {name!r} only counts; it solves no puzzles")
    return engine


def _suitability(engine: Engine) -> tuple[bool, int]:
    """Return a key by which the fastest of the engines that suit a shape is the last."""
    can = engine.capabilities
    return can.sudoku_only, can.suits_grids_from or 0


def _suits(engine: Engine, problem: Sudoku) -> bool:
    least = engine.capabilities.suits_grids_from
    return least is not None and least <= problem.n_digits and _takes(engine, problem)
