"""Items with bounds: covers by definition, and problems whose answers are known."""

from itertools import cycle, product

import numpy as np
import pytest
from conftest import bounded_problems
from hypothesis import given, strategies as st
from kinds import dominating_queens, graphs
from oracles import bounded_covers
from test_engines import run_out

import batchsolve as bs
from batchsolve.engines import UNLIMITED, Task, check_support, engine_names, get_engine, new_run

WHOLE = bs.Stacks.from_lists([[]])
DLX, BITS = get_engine("dlx"), get_engine("bits")

both_engines = pytest.mark.parametrize("engine", [DLX, BITS], ids=["dlx", "bits"])


@both_engines
@given(
    problem=bounded_problems(),
    budgets=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    depths=st.lists(st.sampled_from([0, 1, 2, UNLIMITED]), min_size=1, max_size=3),
    room=st.integers(1, 4),
)
def test_finds_the_covers_of_the_definition_however_cut(engine, problem, budgets, depths, room):
    counts, nodes, straight = run_out(engine.name, problem, WHOLE)
    found = [cover for _, cover in straight]
    assert set(map(frozenset, found)) == bounded_covers(problem)
    assert len(set(map(frozenset, found))) == len(found) == counts[0]
    for cover in found:
        problem.verify(cover)
    pieces = run_out(engine.name, problem, WHOLE, budgets, [*depths, UNLIMITED], room)
    assert pieces[:2] == (counts, nodes)
    assert sorted(sorted(cover) for _, cover in pieces[2]) == sorted(map(sorted, found))


def everything(outcome):
    arrays = outcome.counts, outcome.nodes, outcome.clash, outcome.weights, outcome.parents
    stacks = [[stack.tolist() for stack in some] for some in (outcome.solutions, outcome.frontier)]
    return *(array.tolist() for array in arrays), stacks


@given(
    data=st.data(),
    problem=bounded_problems(),
    few=st.tuples(*[st.integers(1, 20) | st.just(UNLIMITED)] * 4),
    depth=st.sampled_from([0, 1, 2, UNLIMITED]),
)
def test_bits_has_everything_as_dancing_links_have_it(data, problem, few, depth):
    stack = st.lists(st.integers(0, problem.n_decisions), max_size=3)
    stacks = bs.Stacks.from_lists([[], *data.draw(st.lists(stack, max_size=3))])
    budget, room, limit, allowance = few
    how = {"budget": budget, "room": room, "limit": limit, "allowance": allowance}
    task = Task.of(stacks, depth=depth, keep=3, **how)
    assert everything(BITS.search(problem, task)) == everything(DLX.search(problem, task))


@pytest.mark.parametrize("most", [2, 2**16])  # a key of `bits` has room for 2**16 - 1
def test_bits_has_sets_of_several_words(most):
    rng = np.random.default_rng(most)
    sizes = rng.integers(1, 6, 200)
    items = [0, *rng.choice(np.arange(1, 80), 79, replace=False).tolist()]
    options = [[0, *rng.choice(items[1:], size, replace=False).tolist()] for size in sizes]
    bounds = {0: (1, 40), **dict.fromkeys(items[1:30], (1, most))}
    problem = bs.ExactCover.from_options(options, items[:70], items[70:], bounds=bounds)
    for task in (Task.of(WHOLE, budget=20_000, keep=50), Task.of(WHOLE, depth=3)):
        assert everything(BITS.search(problem, task)) == everything(DLX.search(problem, task))


@given(
    problem=bounded_problems(),
    budgets=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    depths=st.lists(st.sampled_from([0, 1, 2, UNLIMITED]), min_size=1, max_size=3),
)
def test_memo_counts_the_covers_of_the_definition_however_cut(problem, budgets, depths):
    engine, stacks = get_engine("memo:1").for_run(new_run(), "", problem), WHOLE
    count, rounds, nodes, tree = 0, 0, 0, 0
    for budget, depth in zip(cycle(budgets), cycle([*depths, UNLIMITED])):
        outcome = engine.search(problem, Task.of(stacks, budget=budget, depth=depth))
        count += int(outcome.counts.sum())
        nodes += int(outcome.nodes.sum())
        tree += int(outcome.tree_nodes.sum())
        stacks, rounds = outcome.frontier, rounds + 1
        if not len(stacks):
            break
        assert rounds < 100_000
    assert count == len(bounded_covers(problem))
    assert nodes <= tree


@both_engines
@given(data=st.data(), problem=bounded_problems())
def test_a_stack_may_take_and_refuse_options(engine, data, problem):
    entries = st.integers(0, problem.n_decisions)
    stack = data.draw(st.lists(entries, max_size=4)) if problem.n_options else []
    position = problem.clash_position(stack)
    again = bs.Stacks.from_lists([[], stack, stack, []])
    outcome = engine.search(problem, Task.of(again, keep=UNLIMITED))
    assert outcome.clash.tolist() == [-1, position, position, -1]
    everything = bounded_covers(problem)
    if position >= 0:
        assert problem.explain_clash(stack, position)
        with pytest.raises(bs.ProblemError, match="not a partial cover"):
            problem.check_stack(stack)
        expected = set()
    else:
        taken = {o for o in stack if o < problem.n_options}
        refused = {o - problem.n_options for o in stack if o >= problem.n_options}
        expected = bounded_covers(problem, tuple(taken), tuple(refused))
        # covers contain options without primary items only if the stack takes them
    found = [frozenset(cover.tolist()) for cover in outcome.solutions]
    roots = outcome.solutions.roots.tolist()
    for root, covers in enumerate([everything, expected, expected, everything]):
        assert {c for r, c in zip(roots, found, strict=True) if r == root} == covers
    assert outcome.counts.tolist() == [
        len(everything),
        len(expected),
        len(expected),
        len(everything),
    ]


@given(problem=bounded_problems())
def test_the_shares_of_a_frontier_add_up(problem):
    outcome = DLX.search(problem, Task.of(WHOLE, depth=2))
    ended = DLX.search(problem, Task.of(WHOLE, depth=1))
    assert outcome.weights.sum() <= 1 + 1e-12
    if ended.nodes[0] == 1 and not ended.counts[0] and len(ended.frontier):
        assert ended.weights.sum() == pytest.approx(1)


@given(problem=bounded_problems(), limit=st.integers(1, 4))
def test_limits_and_workers_change_nothing(problem, limit):
    covers = bounded_covers(problem)
    assert bs.count(problem, jobs=1, limit=limit).count == min(limit, len(covers))
    found = bs.solutions(problem, jobs=2, budget=3)
    assert {frozenset(cover.tolist()) for cover in found} == covers


# W. Ahrens, Mathematische Unterhaltungen und Spiele, 1910; OEIS A002564. For 8x8, Knuth shows
# in The Art of Computer Programming 7.2.2.1 how Algorithm M finds the 4860.
@pytest.mark.parametrize(
    ("n", "queens", "count"), [(4, 2, 12), (5, 3, 186), (6, 3, 4), (7, 4, 86), (8, 5, 4860)]
)
def test_queens_that_attack_every_square(n, queens, count):
    for engine in ("dlx", "bits"):
        assert bs.count(dominating_queens(n, queens), engine=engine).count == count


# OEIS A002829
@pytest.mark.parametrize(("n", "count"), [(4, 1), (6, 70), (8, 19355), (10, 11180820)])
def test_labelled_cubic_graphs(n, count):
    if n < 10:
        assert bs.count(graphs(n, 3, 3)).count == count
    assert bs.count(graphs(n, 3, 3), engine="memo", jobs=1).count == count


@pytest.mark.parametrize(("n", "count"), [(2, 1), (3, 4), (4, 41), (5, 768), (6, 27449)])
def test_labelled_graphs_without_isolated_points(n, count):  # OEIS A006129
    assert bs.count(graphs(n, 1, n)).count == count
    assert bs.count(f"edgecovers:{n}").count == count


@pytest.mark.parametrize("n", [3, 4, 5])
def test_matchings_of_any_size(n):
    numbers = [1, 1, 2, 4, 10, 26]  # involutions, OEIS A000085
    assert bs.count(graphs(n, 0, 1)).count == numbers[n]


@pytest.mark.parametrize(("n", "count"), [(2, 1), (3, 6), (4, 90), (5, 2040)])  # OEIS A001499
def test_matrices_with_two_ones_in_every_line(n, count):
    lines = [("row", k) for k in range(n)] + [("column", k) for k in range(n)]
    options = [[("row", r), ("column", c)] for r, c in product(range(n), repeat=2)]
    problem = bs.ExactCover.from_options(options, lines, bounds=dict.fromkeys(lines, (2, 2)))
    assert bs.count(problem).count == count


def test_bounds_of_one_and_one_are_none():
    plain = bs.ExactCover([0, 1], [0], 1)
    same = bs.ExactCover([0, 1], [0], 1, bounds=[[1, 1]])
    assert same.bounds is None
    assert same.fingerprint == plain.fingerprint
    wider = bs.ExactCover([0, 1], [0], 1, bounds=[[0, 1]])
    assert wider.fingerprint != plain.fingerprint
    assert (wider.n_bounded, wider.n_decisions, plain.n_decisions) == (1, 2, 1)
    assert "n_bounded=1" in repr(wider)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (
            [[2, 1]],
            "item 0 has the bounds 2 and 1; the lower bound is 0 or more and not",
        ),
        ([[-1, 1]], "the lower bound is 0 or more"),
        ([[0, 0]], "the upper bound is 1 to 2,147,483,647"),
        ([[1, 1], [1, 1]], r"bounds of shape \(2, 2\)"),
        ([1, 1], "bounds must have 2 dimensions, not 1"),
        ([[1.0, 2.0]], "whole numbers"),
    ],
)
def test_bounds_that_cannot_be(bounds, message):
    with pytest.raises(bs.ProblemError, match=message):
        bs.ExactCover([0, 1], [0], 1, bounds=bounds)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"x": (1, 2)}, "'x', which is not a primary item"),
        ({"a": (1,)}, "a least and a most"),
        ({"a": 3}, "a least and a most"),
        ({"a": (3, 2)}, "'a' has the bounds 3 and 2"),
    ],
)
def test_bounds_by_name_that_cannot_be(bounds, message):
    with pytest.raises(bs.ProblemError, match=message):
        bs.ExactCover.from_options([["a", "x"]], secondary=["x"], bounds=bounds)


def test_other_engines_say_that_they_take_no_bounds():
    problem = graphs(4, 3, 3)
    for name in engine_names():
        engine = get_engine(name)
        if not engine.capabilities.bounds and not engine.capabilities.sudoku_only:
            with pytest.raises(bs.InputError, match=r"takes no bounds of items.*these .* do: dlx"):
                check_support(engine, problem)


@given(data=st.data(), problem=bounded_problems())
def test_graphs_hold_the_covers_of_the_definition(data, problem):
    entries = st.integers(0, max(0, problem.n_decisions - 1))
    stack = data.draw(st.lists(entries, max_size=3)) if problem.n_options else []
    if problem.clash_position(stack) >= 0:
        stack = []
    taken = tuple(o for o in set(stack) if o < problem.n_options)
    refused = tuple(o - problem.n_options for o in set(stack) if o >= problem.n_options)
    covers = bounded_covers(problem, taken, refused)
    graph = bs.solution_graph(problem, stack)
    assert graph.is_ordered
    assert graph.count == len(covers)
    assert {frozenset(cover.tolist()) for cover in graph} == covers
    if covers:
        assert {frozenset(c.tolist()) for c in bs.sample(problem, 5, stack=stack).covers} <= covers


def test_graphs_of_large_counts_and_of_too_little_memory():
    assert bs.solution_graph("edgecovers:8").count == 252522481  # OEIS A006129
    with pytest.raises(bs.InputError, match="takes more than 1 megabyte"):
        bs.solution_graph(graphs(12, 3, 3), memory=1)


def test_what_is_wrong_with_a_cover():
    problem = bs.ExactCover([0, 1, 2, 3], [0, 0, 0], 1, item_names=["a"], bounds=[[2, 2]])
    problem.verify([0, 2])
    with pytest.raises(bs.ProblemError, match="item a is in 1 option, fewer than 2"):
        problem.verify([1])
    with pytest.raises(bs.ProblemError, match="item a is in options 0, 1 and 2, more than 2"):
        problem.verify([0, 1, 2])
    with pytest.raises(bs.ProblemError, match="option 1 is decided twice"):
        problem.check_stack([1, 4])
    with pytest.raises(bs.ProblemError, match="option 6 does not exist"):
        problem.check_stack([6])
    with pytest.raises(bs.ProblemError, match="item a is in options 0, 1 and 2, more than 2"):
        problem.check_stack([0, 1, 2])


def test_stacks_with_refusals_are_kept_in_files(tmp_path):
    problem = graphs(4, 1, 2)
    parts = bs.split(problem, depth=3).stacks
    assert any(int(o) >= problem.n_options for stack in parts for o in stack)
    again = bs.Stacks.from_jsonl(parts.to_jsonl(problem), problem)
    assert np.array_equal(again.options, parts.options)
    assert bs.count(problem, again).count + bs.split(problem, depth=3).count == (
        bs.count(problem).count
    )
