"""Stacks with branches: what a cut search leaves of a node is a range of its options."""

import numpy as np
import pytest
from conftest import WHOLE, bounded_problems, coloured_problems, problems, wide
from hypothesis import given, strategies as st
from oracles import bounded_covers
from test_engines import BOUNDED, COLLECTING, COLOURED, TREES, assert_same, run_out

from batchsolve import ExactCover, ProblemError, Stacks
from batchsolve.engines import UNLIMITED, Task, get_engine
from batchsolve.problems.stacks import can_branch
from batchsolve.search.scheduler import Piece, Result
from batchsolve.search.tree import TreeSearch
from batchsolve.settings import SearchSettings
from batchsolve.workers import Pool

NATIVE = ["dlx", "bits", "cells", "memo"]


@pytest.mark.parametrize("engine", [name for name in TREES if name in COLOURED])
@given(
    problem=problems() | coloured_problems() | bounded_problems(),
    budget=st.integers(1, 12),
    fineness=st.integers(1, 6) | st.just(UNLIMITED),
)
def test_what_one_engine_leaves_every_other_can_search(engine, problem, budget, fineness):
    """By definition, covers below a stack; for engines that walk one tree see test_engines.py."""
    engines = [name for name in TREES if name in COLOURED]
    if problem.bounds is not None:
        engines = [name for name in engines if name in BOUNDED]
        engine = engine if engine in BOUNDED else engines[0]
    task = Task.of(WHOLE, budget=budget, fineness=fineness)
    left = get_engine(engine).search(problem, task).frontier
    everything, n = bounded_covers(problem), problem.n_options
    for k in range(len(left)):
        one = left[k : k + 1]
        taken, out = {o for o in one[0] if o < n}, {o - n for o in one[0] if o >= n}
        item, first, last = one.all_branches[0].tolist()
        some = {o for o in range(first, last) if item - 1 in problem.option(o)} - taken
        below = {cover for cover in everything if cover >= taken and not cover & out}
        expected = {cover for cover in below if not item or cover & some}
        for name in engines:
            counts, _, found = run_out(name, problem, one, [3, UNLIMITED])
            assert counts[int(one.roots[0])] == len(expected)
            if name in COLLECTING:
                assert {frozenset(map(int, cover)) for _, cover in found} == expected


@pytest.mark.parametrize("engine", ["dlx", "bits", "algorithm-x", "dancing-links", "memo"])
def test_a_wide_node_is_one_stack_for_each_level(engine):
    problem = wide(40, 30)
    outcome = get_engine(engine).search(problem, Task.of(WHOLE, budget=10, fineness=1))
    left = outcome.frontier
    # the root with the item of 30 options first, then covers: 1 + 1 + 8 nodes
    assert [stack.tolist() for stack in left] == [[40], []]
    assert left.branches.tolist() == [[1, 8, 40], [2, 41, 70]]
    assert outcome.weights.tolist() == pytest.approx([32 / 40 / 30, 29 / 30])


@pytest.mark.parametrize("engine", NATIVE)
def test_heavy_ranges_are_cut_evenly_and_light_ones_are_not(engine):
    problem = wide(40, 30)
    left = get_engine(engine).search(problem, Task.of(WHOLE, budget=10, fineness=4)).frontier
    ranges = [[2, 41, 48], [2, 48, 55], [2, 55, 62], [2, 62, 70]]
    assert left.branches.tolist() == [[1, 8, 40], *ranges]
    plain = get_engine(engine).search(problem, Task.of(WHOLE, budget=10, fineness=UNLIMITED))
    assert not plain.frontier.branches.size
    assert len(plain.frontier) == 32 + 29


@pytest.mark.parametrize("engine", [*COLOURED, "dancing-links"])
@pytest.mark.parametrize("branch", [[3, 0, 4], [9, 0, 4], [2**32 - 1, 0, 4], [1, 3, 2], [2, 0, 4]])
def test_branches_that_cannot_follow_clash(engine, branch):
    problem = ExactCover.from_options([["a", "c"], ["a"], ["b"], ["b", "c"]], ["a", "b"], ["c"])
    stacks = Stacks.from_lists([[2]], branches=[branch])  # it covers b, and c is secondary
    outcome = get_engine(engine).search(problem, Task.of(stacks))
    assert (outcome.clash.tolist(), outcome.counts.tolist()) == ([1], [0])
    assert not len(outcome.frontier)
    with pytest.raises(ProblemError, match="no branch"):
        stacks.check(problem)


@pytest.mark.parametrize("engine", BOUNDED)
def test_an_item_that_may_be_in_several_more_options_has_no_branches(engine):
    options = [["a"], ["a"], ["a", "b"], ["b"]]
    problem = ExactCover.from_options(options, ["a", "b"], bounds={"a": (1, 2)})
    stacks = Stacks.from_lists([[], [0], [0, 1]], branches=[[1, 0, 4]] * 3)
    outcome = get_engine(engine).search(problem, Task.of(stacks))
    assert outcome.clash.tolist() == [0, 1, 2]
    assert [can_branch(problem, stack, 1, 0, 4) for stack in stacks] == [False] * 3


def test_a_branch_at_a_dead_end_does_not_depend_on_the_stack_before():
    options = [["a"], ["a"], ["a"], ["b"], ["b"], ["c"]]
    problem = ExactCover.from_options(options, ["b", "a", "c"], bounds={"b": (1, 2)})
    dead = [len(options) + 5]  # `c` has no other option
    task = Task.of(Stacks.from_lists([[0, 5], dead], [0, 1], [[0, 0, 0], [2, 0, 3]]))
    right = get_engine("dlx").search(problem, task)
    assert right.nodes.tolist() == [6, 3]
    assert_same(get_engine("bits").search(problem, task), right)


def test_a_branch_without_possible_options_is_done_without_a_node():
    problem = ExactCover.from_options([["a", "b"], ["b"], ["a"]], ["a", "b"])
    for engine in COLOURED:
        stacks = Stacks.from_lists([[1], [1], []], [4, 4, 5], [[1, 0, 1], [1, 0, 3], [0, 0, 0]])
        outcome = get_engine(engine).search(problem, Task.of(stacks))
        assert outcome.counts.tolist() == [0, 1, 2]
        assert outcome.nodes.tolist()[:2] == [0, 1]
        assert outcome.begun(stacks).all()


def test_a_goal_knows_a_branch_that_is_done_from_one_that_waits():
    problem = wide(3, 5)
    stacks = Stacks.from_lists([[3], [4], []], [0] * 3, [[1, 3, 8], [1, 0, 3], [2, 5, 8]])
    piece = Piece(stacks, np.full(3, 1 / 3), np.array([7, 8, 9]))
    engine = get_engine("dlx")
    goal = TreeSearch(problem, SearchSettings(), piece, Pool(1), engine=engine)
    outcome = engine.search(problem, Task.of(stacks, budget=3, fineness=1))
    assert outcome.nodes.tolist() == [0, 3, 0]
    [left] = goal.accept(piece, Result(None, 3, 0.1, outcome, 3))
    assert left.ids.tolist() == [9]
    assert goal.totals.subproblems == 1
    assert goal._changes.balance()[0] == [7, 8]


@pytest.mark.parametrize("how", [{}, {"cheapest": 3, "keep": 3}], ids=["covers", "cheapest"])
def test_without_bound_fineness_leaves_no_branches_however_deep(how):
    n = 90  # items with three options each: weights below 2^-62 on the way to a cover
    indices = np.repeat(np.arange(n), 3)
    costs = np.arange(3 * n) * 7 % 10
    problem = ExactCover(np.arange(3 * n + 1), indices, n, costs=costs)
    ceilings = np.array([UNLIMITED]) if how else None
    whole = Stacks.from_lists([[]])
    task = Task.of(whole, budget=85, fineness=UNLIMITED, ceilings=ceilings, **how)
    left = get_engine("dlx").search(problem, task).frontier
    assert not left.branches.any()
    assert len(left) > 150
