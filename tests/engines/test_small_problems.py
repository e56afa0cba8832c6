"""Small problems side by side: each has the result that it has alone."""

from itertools import pairwise

import numpy as np
import pytest
from conftest import coloured_problems, problems
from hypothesis import given, strategies as st
from oracles import covers

import batchsolve as bs
from batchsolve import ProblemError, Stacks
from batchsolve.engines import UNLIMITED, Task, engine_names, get_engine, registered
from batchsolve.problems.small import MOST_ENTRIES, SmallProblems
from batchsolve.runs import count
from batchsolve.search import rows as row_search

MANY = [name for name in engine_names() if registered(name).capabilities.many]
engines_that_take_many = pytest.mark.parametrize("engine", MANY)


def of_one_kind(all_of_them):
    """Keep problems with colours, or those without, whichever the first one is."""
    return [p for p in all_of_them if (p.colors is None) == (all_of_them[0].colors is None)]


several = st.lists(problems() | coloured_problems(), min_size=1, max_size=6).map(of_one_kind)


@st.composite
def side_by_side(draw):
    """Draw small problems in rows that are not adjacent, and stacks over them, also bad ones."""
    given_problems = draw(several)
    rows = draw(st.sets(st.integers(0, 99), min_size=(n := len(given_problems)), max_size=n))
    small = SmallProblems(given_problems, np.array(sorted(rows)))
    stacks, roots = [], []
    for row, problem in zip(sorted(rows), given_problems, strict=True):
        for _ in range(draw(st.integers(0, 3))):
            stacks.append(draw(st.lists(st.integers(0, problem.n_options), max_size=3)))
            roots.append(row)
    order = draw(st.permutations(range(len(roots))))
    return small, Stacks.from_lists([stacks[k] for k in order], [roots[k] for k in order])


@engines_that_take_many
@given(
    drawn=side_by_side(),
    limit=st.sampled_from([1, 2, UNLIMITED]),
    allowance=st.sampled_from([1, 5, UNLIMITED]),
    depth=st.sampled_from([0, 1, UNLIMITED]),
)
def test_each_has_the_result_that_it_has_alone(engine, drawn, limit, allowance, depth):
    small, stacks = drawn
    how = {"limit": limit, "allowance": allowance, "depth": depth, "keep": UNLIMITED}
    together = get_engine(engine).search(small, Task.of(stacks, **how))
    covers = zip(together.solutions.roots.tolist(), together.solutions, strict=True)
    found = [(row, cover.tolist()) for row, cover in covers]
    left = list(zip(together.parents.tolist(), together.frontier, strict=True))
    begins = np.flatnonzero(np.diff(stacks.roots, prepend=-1)).tolist()
    for begin, end in pairwise([*begins, len(stacks)]):
        row = int(stacks.roots[begin])
        alone = get_engine(engine).search(
            small.of_row(row), Task.of(stacks.between(begin, end), **how)
        )
        for name in ("counts", "nodes", "clash"):
            assert getattr(together, name)[begin:end].tolist() == getattr(alone, name).tolist()
        n = len(alone.solutions)
        assert found[:n] == [(row, cover.tolist()) for cover in alone.solutions]
        found = found[n:]
        mine = [stack.tolist() for parent, stack in left if begin <= parent < end]
        assert mine == [stack.tolist() for stack in alone.frontier]
    assert not found


@given(drawn=side_by_side())
def test_a_root_without_a_problem_is_an_error(drawn):
    small, _ = drawn
    for row in set(range(-1, 101)) - set(small.rows.tolist()):
        with pytest.raises(ProblemError, match=f"row {row} has no problem"):
            small.places_of(np.array([row]))


@given(
    given_problems=st.lists(problems() | coloured_problems(), max_size=8),
    budget=st.sampled_from([None, 1, 30]),
    limit=st.sampled_from([None, 2]),
    few=st.sampled_from([1, 3, row_search.SMALL_NODES]),
)
def test_lists_are_counted_as_their_problems_are(given_problems, budget, limit, few):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_search, "SMALL_NODES", few)
        found = bs.count(given_problems, jobs=1, engine="dlx", budget=budget, limit=limit)
    alone = [bs.count(p, jobs=1, engine="dlx", limit=limit) for p in given_problems]
    counts = [len(covers(p)) for p in given_problems]
    assert [each.count for each in found] == [min(n, limit or n) for n in counts]
    if limit is None:
        assert [each.nodes for each in found] == [each.nodes for each in alone]


def test_large_problems_have_groups_of_their_own(monkeypatch):
    taken = []
    search = row_search.search_each
    monkeypatch.setattr(
        row_search,
        "search_each",
        lambda engine, problem, task: (taken.append(problem), search(engine, problem, task))[1],
    )
    names = ["queens:5", "queens:6", "queens:60", "edgecovers:4", "sudoku:2x2", "sudoku:2x2"]
    assert bs.family("queens:60").n_entries > MOST_ENTRIES
    monkeypatch.setattr(count, "LEAST_BLOCKS", 1)
    found = bs.count(["dominoes:4x4", *names], jobs=1, limit=1000)
    assert [each.count for each in found] == [36, 10, 4, 1000, 41, 288, 288]
    kinds = [type(problem).__name__ for problem in taken]
    assert kinds.count("SmallProblems") == 1
    small = next(problem for problem in taken if isinstance(problem, SmallProblems))
    assert [problem.n_options for problem in small.problems] == [24, 25, 36]


def test_small_problems_that_no_task_has_begun_stay_together(monkeypatch):
    taken = []

    def search(engine, problem, task):
        outcome = search_each(engine, problem, task)
        taken.append((problem, task.stacks.roots, outcome.nodes))
        return outcome

    search_each = row_search.search_each
    monkeypatch.setattr(row_search, "search_each", search)
    monkeypatch.setattr(row_search, "SMALL_NODES", 20)
    monkeypatch.setattr(count, "LEAST_BLOCKS", 1)
    found = bs.count([f"queens:{4 + k % 5}" for k in range(50)], jobs=1, budget=100)
    assert [each.count for each in found] == [2, 10, 4, 40, 92] * 10
    begun = set()
    for problem, roots, nodes in taken:
        if not isinstance(problem, SmallProblems):
            assert begun.issuperset(roots.tolist())
        begun.update(roots[nodes > 0].tolist())
    assert any(isinstance(problem, SmallProblems) for problem, _, _ in taken[1:])
