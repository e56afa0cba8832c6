"""Items with bounds: covers by definition, and problems whose answers are known; fingerprints."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from conftest import WHOLE, bounded_problems
from hypothesis import given, strategies as st
from kinds import dominating_queens, graphs
from oracles import bounded_covers
from test_engines import assert_same

import batchsolve as bs
from batchsolve.engines import UNLIMITED, Task, get_engine

DLX, BITS = get_engine("dlx"), get_engine("bits")


@pytest.mark.parametrize("most", [2, 2**16])  # a key of `bits` has room for 2**16 - 1
def test_bits_has_sets_of_several_words(most):
    rng = np.random.default_rng(most)
    sizes = rng.integers(1, 6, 200)
    items = [0, *rng.choice(np.arange(1, 80), 79, replace=False).tolist()]
    options = [[0, *rng.choice(items[1:], size, replace=False).tolist()] for size in sizes]
    bounds = {0: (1, 40), **dict.fromkeys(items[1:30], (1, most))}
    problem = bs.ExactCover.from_options(options, items[:70], items[70:], bounds=bounds)
    for task in (Task.of(WHOLE, budget=20_000, keep=50), Task.of(WHOLE, depth=3)):
        assert_same(BITS.search(problem, task), DLX.search(problem, task))


@pytest.mark.parametrize("engine", [DLX, BITS], ids=["dlx", "bits"])
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
        # covers contain options without primary items only if the stack takes them
        expected = bounded_covers(problem, stack)
    found = [frozenset(cover.tolist()) for cover in outcome.solutions]
    roots = outcome.solutions.roots.tolist()
    every = [everything, expected, expected, everything]
    for root, covers in enumerate(every):
        assert {c for r, c in zip(roots, found, strict=True) if r == root} == covers
    assert outcome.counts.tolist() == list(map(len, every))


@given(problem=bounded_problems())
def test_the_shares_of_a_frontier_add_up(problem):
    assert DLX.search(problem, Task.of(WHOLE, depth=2)).weights.sum() <= 1 + 1e-12
    ended = DLX.search(problem, Task.of(WHOLE, depth=1))
    if ended.nodes[0] == 1 and not ended.counts[0] and len(ended.frontier):
        assert ended.weights.sum() == pytest.approx(1)


def matrices(n):
    """Matrices with two ones in every row and column."""
    lines = [("row", k) for k in range(n)] + [("column", k) for k in range(n)]
    options = [[("row", r), ("column", c)] for r, c in product(range(n), repeat=2)]
    return bs.ExactCover.from_options(options, lines, bounds=dict.fromkeys(lines, (2, 2)))


KNOWN = [
    # queens that attack every square: W. Ahrens, Mathematische Unterhaltungen und Spiele, 1910;
    # OEIS A002564
    (dominating_queens, {(4, 2): 12, (5, 3): 186, (6, 3): 4, (7, 4): 86}),
    # labelled graphs: cubic ones, OEIS A002829; without isolated points, A006129; matchings of
    # any size, which are involutions, A000085
    (graphs, {(4, 3, 3): 1, (6, 3, 3): 70, (8, 3, 3): 19355}),
    (lambda n: graphs(n, 1, n), {(2,): 1, (3,): 4, (4,): 41, (5,): 768, (6,): 27449}),
    (lambda n: bs.family(f"edgecovers:{n}"), {(2,): 1, (5,): 768, (6,): 27449}),
    (lambda n: graphs(n, 0, 1), {(3,): 4, (4,): 10, (5,): 26}),
    (matrices, {(2,): 1, (3,): 6, (4,): 90, (5,): 2040}),  # OEIS A001499
]


@pytest.mark.parametrize(("of", "counts"), KNOWN)
def test_known_counts(of, counts):
    for size, count in counts.items():
        for engine in ("dlx", "bits", "memo:8"):
            assert bs.count(of(*size), engine=engine, jobs=1).count == count, size


@pytest.mark.large
def test_known_counts_of_larger_trees():
    """Knuth shows in The Art of Computer Programming 7.2.2.1 how Algorithm M finds the 4860."""
    for engine in ("dlx", "bits"):
        assert bs.count(dominating_queens(8, 5), engine=engine).count == 4860
    assert bs.count(graphs(10, 3, 3), engine="memo", jobs=1).count == 11180820


def test_bounds_of_one_and_one_are_none():
    plain = bs.ExactCover([0, 1], [0], 1)
    same = bs.ExactCover([0, 1], [0], 1, bounds=[[1, 1]])
    assert same.bounds is None
    assert same.fingerprint == plain.fingerprint
    assert bs.ExactCover.from_options([["x"]], [], ["x"], bounds={}).bounds is None
    wider = bs.ExactCover([0, 1], [0], 1, bounds=[[0, 1]])
    assert wider.fingerprint != plain.fingerprint
    assert (wider.n_bounded, wider.n_decisions, plain.n_decisions) == (1, 2, 1)
    assert "n_bounded=1" in repr(wider)


def test_only_the_pattern_of_colours_is_in_the_fingerprint():
    problem = partial(bs.ExactCover, [0, 2, 4], [0, 2, 1, 2], 3, 2)
    plain = problem()
    assert problem(colors=[0, 0, 0, 0]).fingerprint == plain.fingerprint
    one = problem(colors=[0, 3, 0, 3])
    assert (one.n_colors, one.color_name(3), one.colors.dtype) == (1, "3", np.uint32)
    again = problem(colors=[0, 1, 0, 1], color_names=["red"])
    assert (again.fingerprint, again.option_name(0)) == (one.fingerprint, "0 2:red")
    other = problem(colors=[0, 2, 0, 1])
    assert len({p.fingerprint for p in (plain, one, other)}) == 3
    assert "n_colors=2" in repr(other)
    assert "colors" not in repr(plain)


def test_graphs_of_large_counts():
    assert bs.solution_graph("edgecovers:8").count == 252522481  # OEIS A006129


def test_stacks_with_refusals_are_kept_in_files(tmp_path):
    problem = graphs(4, 1, 2)
    parts = bs.split(problem, depth=3).stacks
    assert any(int(o) >= problem.n_options for stack in parts for o in stack)
    again = bs.Stacks.from_jsonl(parts.to_jsonl(problem), problem)
    assert np.array_equal(again.options, parts.options)
    above = bs.split(problem, depth=3).count
    assert bs.count(problem, again).count + above == bs.count(problem).count
