"""Searches of exact cover problems by every engine that takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from answers import problems, starts
from answers.cases import Answer, Case
from answers.problems import problem as problem_of, random_names
from answers.searching import can, once, to_the_end
from batchsolve import InputError, Stacks
from batchsolve.engines import UNLIMITED, Task, check_support, get_engine

COMPILED = ("dlx", "bits", "cells", "memo:16")
IN_PYTHON = ("algorithm-x", "sat")

Way = Mapping[str, Any]

FIRST: Way = {"keep": 30}
CUTS: dict[str, Way] = {
    "budget 50": {"budget": 50, "keep": 9},
    "depth 2": {"depth": 2, "keep": 9},
    "limit 3": {"limit": 3, "keep": 2},
    "budget 7, room 2": {"budget": 7, "room": 2, "keep": 2},
    "allowance 20": {"allowance": 20, "keep": 9},
    "room 1": {"room": 1, "keep": 1},
    "depth 3, budget 40": {"depth": 3, "budget": 40, "keep": UNLIMITED},
    "budget 0": {"budget": 0},
    "limit 4, any order": {"limit": 4, "budget": 30, "keep": 4, "any_order": True},
    "depth 1, unordered": {"depth": 1, "keep": 5, "unordered": True},
    "budget 1": {"budget": 1, "keep": 5},
    "depth 0": {"depth": 0, "keep": 5},
}
CUT_STACKS: Way = {"budget": 60, "limit": 4, "allowance": 25, "keep": 3}
CUT_COUNTS: Way = {"budget": 60, "allowance": 25}
RULES = ("first", "sharp", "sharp:[b1]*", "sharp:[!#]*")
SHARP_PROBLEMS = ("sharp items", "queens:6", "langford:6", "dominoes:4x4", "latin:3", "matchings:4")


def cases() -> Iterator[Case]:
    """Return the cases of all chapters."""
    yield from _small()
    yield from _larger()
    yield from _odd()
    yield from _bounded()
    yield from _priced()
    yield from _branching()


def _small() -> Iterator[Case]:
    """Return small problems, searched in every way by the compiled engines."""
    names = [*problems.SMALL]
    for kind in ("plain", "wide", "secondary", "colours", "many colours"):
        names += random_names(kind, 6)
    for k, name in enumerate(names):
        for engine in _engines_for(COMPILED, name):
            yield from _in_all_ways(engine, name, k)
        for engine in _engines_for(IN_PYTHON, name):
            yield from _in_python(engine, name)


def _larger() -> Iterator[Case]:
    """Return larger problems: the count, and the stacks that a budget leaves."""
    for k, name in enumerate(problems.LARGER):
        for engine in _engines_for(COMPILED, name):
            yield _case(engine, name, "first 30", FIRST)
            yield _case(engine, name, "budget 999", {"budget": 999, "keep": 9})
            yield from _some_cuts(engine, name, k, 1)
    for name in ("matchings:6", "dominoes:6x6", "partitions:8", "graphs 7 2 2"):
        for size in ("memo", "memo:64", "memo:1"):
            yield _case(size, name, "first 30", FIRST)


def _odd() -> Iterator[Case]:
    """Return problems of odd shapes."""
    for k, name in enumerate(problems.ODD):
        for engine in _engines_for(COMPILED, name):
            yield _case(engine, name, "first 30", FIRST)
            yield _case(engine, name, "stacks cut", _cut_stacks(engine), several=True)
            yield from _some_cuts(engine, name, k, 1)
        for engine in _engines_for(IN_PYTHON, name):
            yield from _in_python(engine, name)


def _bounded() -> Iterator[Case]:
    """Return problems whose items have bounds."""
    names = [*problems.BOUNDED, *random_names("bounds", 8), *random_names("bounds colours", 6)]
    for k, name in enumerate(names):
        for engine in _engines_for(COMPILED, name):
            yield from _in_all_ways(engine, name, k)


def _priced() -> Iterator[Case]:
    """Return searches for the cheapest covers."""
    names = [*random_names("costs", 5), *random_names("costs secondary", 5)]
    names += [*random_names("bounds costs", 5), "priced langford:7", "priced queens:7"]
    names += ["priced dominoes:4x4", "priced pentominoes:3x20"]
    for name in names:
        for n in (1, 5):
            yield Case("dlx", f"{name}: cheapest {n}", partial(_cheapest, name, n))
        yield Case("dlx", f"{name}: cheapest 2, ceilings", partial(_below_ceilings, name))
        yield Case("dlx", f"{name}: cheapest 3, pieces", partial(_cheapest_in_pieces, name))


def _branching() -> Iterator[Case]:
    """Return searches under branching rules."""
    for name in (*SHARP_PROBLEMS, *random_names("colours", 3), *random_names("bounds", 3)):
        for rule in RULES:
            for engine in _engines_for([f"dlx:{rule}", f"algorithm-x:{rule}"], name):
                yield _case(engine, name, "first 30", FIRST)
                yield _case(engine, name, "budget 50", CUTS["budget 50"])
                if engine.startswith("dlx"):
                    yield _case(engine, name, "stacks cut", CUT_STACKS, several=True)
                    yield from _pieces(engine, name)


def _engines_for(engines: Sequence[str], name: str) -> Iterator[str]:
    """Return the engines that take a problem."""
    for engine in engines:
        try:
            check_support(get_engine(engine), problem_of(name))
        except InputError:
            continue
        yield engine


def _in_all_ways(engine: str, name: str, k: int) -> Iterator[Case]:
    yield _case(engine, name, "first 30", FIRST)
    yield _case(engine, name, "stacks", {"keep": 4}, several=True)
    yield _case(engine, name, "stacks cut", _cut_stacks(engine), several=True)
    yield from _some_cuts(engine, name, k, 2)
    yield from _pieces(engine, name)


def _in_python(engine: str, name: str) -> Iterator[Case]:
    yield _case(engine, name, "first 30", {"limit": 300, "keep": 30})
    yield _case(engine, name, "stacks cut", _cut_stacks(engine), several=True)


def _some_cuts(engine: str, name: str, k: int, n: int) -> Iterator[Case]:
    """Return n of the cuts, others for each problem."""
    cuts = {word: way for word, way in CUTS.items() if _takes(engine, way)}
    for x in range(n):
        word = list(cuts)[(n * k + x) % len(cuts)]
        yield _case(engine, name, word, cuts[word])


def _pieces(engine: str, name: str) -> Iterator[Case]:
    """Return a search that is cut again and again, to its end."""
    answer = partial(_searched_in_pieces, engine, name)
    yield Case(engine, f"{name}: pieces", answer)


def _takes(engine: str, way: Way) -> bool:
    return not (can(engine, "counts_only") and {"limit", "room"} & way.keys())


def _cut_stacks(engine: str) -> Way:
    if can(engine, "counts_only"):
        return CUT_COUNTS
    return {"limit": 4} if engine == "sat" else CUT_STACKS


def _case(engine: str, name: str, word: str, way: Way, several: bool = False) -> Case:
    answer = partial(_searched, engine, name, way, several)
    return Case(engine, f"{name}: {word}", answer)


def _searched(engine: str, name: str, way: Way, several: bool) -> Answer:
    problem = problem_of(name)
    stacks = starts.several(problem, name) if several else starts.whole()
    return once(engine, problem, _task(engine, stacks, way))


def _searched_in_pieces(engine: str, name: str) -> Answer:
    keep = {} if can(engine, "counts_only") else {"keep": UNLIMITED, "room": 60}
    task = _task(engine, starts.several(problem_of(name), name, 4), keep)
    return to_the_end(engine, problem_of(name), task, (40, 7, 900, 1), (UNLIMITED, 2, UNLIMITED))


def _task(engine: str, stacks: Stacks, way: Way) -> Task:
    """Return a task; an engine that only counts keeps nothing."""
    keeps = not can(engine, "counts_only")
    return Task.of(
        stacks, **{word: value for word, value in way.items() if keeps or word != "keep"}
    )


def _cheapest(name: str, n: int) -> Answer:
    problem = problem_of(name)
    return once("dlx", problem, _task_of_cheapest(starts.whole(), n, UNLIMITED))


def _cheapest_in_pieces(name: str) -> Answer:
    task = _task_of_cheapest(starts.whole(), 3, UNLIMITED)
    return to_the_end("dlx", problem_of(name), task, (25, 60), (UNLIMITED, 1))


def _below_ceilings(name: str) -> Answer:
    """Search for cheapest covers below stacks of one root, with half of all costs to spend."""
    problem = problem_of(name)
    assert problem.costs is not None
    stacks = starts.several(problem, name).with_roots([0] * starts.N_STACKS)
    task = _task_of_cheapest(stacks, 2, int(problem.costs.sum()) // 3)
    return once("dlx", problem, replace(task, budget=200))


def _task_of_cheapest(stacks: Stacks, n: int, ceiling: int) -> Task:
    return Task.of(stacks, cheapest=n, keep=n, ceilings=np.full(len(stacks), ceiling, np.int64))
