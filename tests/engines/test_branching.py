"""Branching rules: the tree of each is that of a plain search, and its covers are the same.

Then stacks with branches, of nodes of which a search has visited a part.
"""

from fnmatch import fnmatchcase

import numpy as np
import pytest
from conftest import WHOLE, bounded_problems, coloured_problems, problems, wide
from hypothesis import given, strategies as st
from invoking import invoke, refused
from oracles import bounded_covers, covers
from test_engines import BOUNDED, COLLECTING, COLOURED, TREES, assert_same, clashes, run_out

import batchsolve as bs
from batchsolve import ExactCover, Stacks
from batchsolve.engines import UNLIMITED, Task, get_engine
from batchsolve.problems.stacks import can_branch
from batchsolve.search.scheduler import Piece, Result
from batchsolve.search.tree import TreeSearch
from batchsolve.settings import SearchSettings
from batchsolve.workers import Pool

PATTERNS = {"sharp": "[#]*", "sharp:2*": "2*", "sharp:[13]": "[13]"}
rules = st.sampled_from(["first", "sharp", "sharp:2*", "sharp:[13]"])
some = st.integers(1, 12) | st.just(UNLIMITED)


def named(problem, sharp):
    """Return a problem whose items have numbers as names, with a # before those that are sharp."""
    names = tuple("#" * (i in sharp) + str(i) for i in range(problem.n_items))
    problem.__dict__.update(item_names=names)  # without a look at the options
    return problem


def nodes_by_definition(problem, rule, chosen=()):
    """Return the nodes below a partial cover, with the lists of options built anew at each."""
    taken = {i for o in chosen for i in problem.option(o).tolist()}
    left = [o for o in range(problem.n_options) if not clashes(problem, o, chosen)]
    uncovered = set(range(problem.n_primary)) - taken
    lists = {i: [o for o in left if i in problem.option(o)] for i in uncovered}
    if not lists:
        return 1

    def place(i):
        n, name = len(lists[i]), problem.item_name(i)
        if rule == "first":
            return (i,)
        if n <= 1:
            return 0, 0, i
        return 1 + (not fnmatchcase(name, PATTERNS[rule])), n, i

    tried = lists[min(lists, key=place)]
    return 1 + sum(nodes_by_definition(problem, rule, (*chosen, o)) for o in tried)


@given(
    problem=problems(),
    sharp=st.sets(st.integers(0, 6)),
    rule=rules,
    budgets=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    depths=st.lists(st.sampled_from([0, 1, 2, UNLIMITED]), min_size=1, max_size=3),
)
def test_each_rule_finds_the_covers_and_visits_its_own_nodes(problem, sharp, rule, budgets, depths):
    problem, engine = named(problem, sharp), f"dlx:{rule}"
    _, nodes, straight = run_out(engine, problem, WHOLE)
    assert {frozenset(cover) for _, cover in straight} == covers(problem)
    assert nodes == {0: nodes_by_definition(problem, rule)}
    _, in_pieces, found = run_out(engine, problem, WHOLE, budgets, [*depths, UNLIMITED])
    assert (in_pieces, sorted(found)) == (nodes, sorted(straight))


@given(
    problem=problems(), sharp=st.sets(st.integers(0, 6)), rule=rules, limit=some, budget=some,
    depth=some,
)  # fmt: skip
def test_algorithm_x_knows_the_rule(problem, sharp, rule, limit, budget, depth):
    task = Task.of(WHOLE, limit, budget=budget, depth=depth, keep=UNLIMITED)
    engines = (get_engine(f"{name}:{rule}") for name in ("algorithm-x", "dlx"))
    assert_same(*(engine.search(named(problem, sharp), task) for engine in engines))


plain = bounded_problems().filter(lambda problem: problem.colors is None)  # one kernel is enough


@given(problem=plain, sharp=st.sets(st.integers(0, 6)), rule=rules, budget=some)
def test_rules_and_bounds(problem, sharp, rule, budget):
    counts, _, found = run_out(f"dlx:{rule}", named(problem, sharp), WHOLE, [budget])
    assert {frozenset(cover) for _, cover in found} == bounded_covers(problem)
    assert counts == {0: len(bounded_covers(problem))}


def test_settings_name_the_engine():
    for engine in ("auto", "dlx", "dlx:first"):
        assert bs.SearchSettings(engine=engine, branch="first").engine == "dlx:first"
    assert bs.SearchSettings(engine="algorithm-x", branch="sharp").engine == "algorithm-x:sharp"
    assert bs.SearchSettings(engine="bits", branch="mrv").engine == "bits"
    result = bs.count("queens:8", branch="sharp:r*", jobs=1)
    assert (result.count, result.engine) == (92, "dlx:sharp:r*")
    assert bs.count(bs.ExactCover.from_options([["a[1]"]]), branch="sharp:a[1]").count == 1
    assert len(bs.split("queens:6", depth=1, engine="dlx:first").stacks) == 6
    assert len(bs.split("queens:6", depth=1, engine="auto").stacks) == 6


def test_a_run_keeps_its_rule(tmp_path):
    count = ["count", "queens:8", "--run", tmp_path / "run", "--jobs", 1]
    first = invoke(*count, "--branch", "first", "--node-limit", 50, "--budget", 20)
    assert first.exit_code == 1
    assert "dlx:first" in refused(*count, "--resume")
    assert invoke(*count, "--resume", "--branch", "first").stdout == "92\n"


# ---- stacks with branches: what a cut search leaves of a node is a range of its options ------


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
    outcome = get_engine(engine).search(wide(40, 30), Task.of(WHOLE, budget=10, fineness=1))
    left = outcome.frontier
    # the root with the item of 30 options first, then covers: 1 + 1 + 8 nodes
    assert [stack.tolist() for stack in left] == [[40], []]
    assert left.branches.tolist() == [[1, 8, 40], [2, 41, 70]]
    assert outcome.weights.tolist() == pytest.approx([32 / 40 / 30, 29 / 30])


@pytest.mark.parametrize("engine", ["dlx", "bits", "cells", "memo"])
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
    with pytest.raises(bs.ProblemError, match="no branch"):
        stacks.check(problem)


@pytest.mark.parametrize("engine", BOUNDED)
def test_an_item_that_may_be_in_several_more_options_has_no_branches(engine):
    options = [["a"], ["a"], ["a", "b"], ["b"]]
    problem = ExactCover.from_options(options, ["a", "b"], bounds={"a": (1, 2)})
    stacks = Stacks.from_lists([[], [0], [0, 1]], branches=[[1, 0, 4]] * 3)
    assert get_engine(engine).search(problem, Task.of(stacks)).clash.tolist() == [0, 1, 2]
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
    task = Task.of(WHOLE, budget=85, fineness=UNLIMITED, ceilings=ceilings, **how)
    left = get_engine("dlx").search(problem, task).frontier
    assert not left.branches.any()
    assert len(left) > 150
