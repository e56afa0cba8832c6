"""Estimates of search trees against their true sizes."""

import math
from unittest.mock import Mock, patch

import numpy as np
import pytest
from conftest import problems, wide
from hypothesis import given

import batchsolve as bs
from batchsolve.core.interrupts import asking
from batchsolve.engines import get_engine, native
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.estimate import Estimate, estimate, probe

TRUTH = {  # number of nodes by dlx, number of solutions
    "queens:14": (None, 365_596),
    "pentominoes:6x10": (4_280_102, 9_356),
    "datasets/many16.csv#3": (46_758_757, 1_634_329),
}


@pytest.mark.parametrize("name", TRUTH)
def test_intervals_hold_the_truth_or_are_doubted(name):
    nodes, solutions = TRUTH[name]
    guesses = [estimate(bs.read_problem(name), probes=250, seed=seed) for seed in range(6)]
    assert all(g.solutions_low < g.solutions < g.solutions_high for g in guesses)
    held = [g.solutions_low <= solutions <= g.solutions_high for g in guesses]
    assert sum(h or bool(g.doubt) for h, g in zip(held, guesses, strict=True)) >= 5
    assert np.mean([g.solutions for g in guesses]) == pytest.approx(solutions, rel=0.3)
    if nodes is not None:
        assert sum(g.nodes_low <= nodes <= g.nodes_high for g in guesses) >= 3
        assert np.mean([g.nodes for g in guesses]) == pytest.approx(nodes, rel=0.3)


def test_probes_do_not_meet_the_period_of_a_regular_tree():
    guesses = [estimate("dominoes:8x8", probes=200, seed=seed) for seed in range(40)]
    assert sum(g.solutions_low <= 12_988_816 <= g.solutions_high for g in guesses) >= 35


def test_an_estimate_without_spread_holds_the_truth():
    found = estimate("matchings:9", probes=100)
    assert found.solutions_low < 34_459_425 < found.solutions_high
    assert found.solutions_high - found.solutions_low < 1


def test_an_option_of_an_item_that_needs_several_has_its_share(tmp_path):
    problem = bs.ExactCover.from_options([["a"]] * 60, bounds={"a": (30, 30)})
    assert estimate(problem).solutions == pytest.approx(math.comb(60, 30), rel=1e-3)
    problem = bs.ExactCover.from_options([["a"]] * 26, bounds={"a": (13, 13)})
    with bs.Run(tmp_path / "run", problem, engine="dlx") as run:
        share = run.search(node_limit=2_000_000, jobs=1).count / math.comb(26, 13)
    assert bs.runs.run.describe_run(tmp_path / "run")["finished_share"] == pytest.approx(share, 0.1)


def test_a_deep_tree_of_forced_choices_is_searched_whole():
    n = 20_500  # a stop for each node would load as many options
    problem = bs.ExactCover.from_options([[k] for k in range(n)], list(range(n)))
    assert str(estimate(problem, probes=10)).startswith(f"nodes: {n + 1}\nsolutions: 1\n")


@given(problem=problems())
def test_a_small_tree_is_searched_whole(problem):
    truth = bs.count(problem, engine="dlx")
    found = estimate(problem, probes=2)
    assert (found.nodes, found.solutions) == (truth.nodes, truth.count)
    assert (found.nodes_low, found.solutions_high) == (truth.nodes, truth.count)
    assert (found.probes, found.doubt) == (0, "")
    assert found.searched >= truth.nodes


@pytest.mark.parametrize("most_nodes", [1, 7, 10**6])
def test_probes_are_unbiased_however_much_they_search(most_nodes):
    problem = bs.family("queens:7")
    truth = bs.count(problem, engine="dlx")
    begin = Stacks.from_lists([[]]).take(np.zeros(20_000 if most_nodes < 10**6 else 3, np.int64))
    rng = np.random.default_rng(5)
    nodes, covers, _, searched, left = probe(get_engine("dlx"), problem, begin, rng, most_nodes)
    assert nodes.mean() == pytest.approx(truth.nodes, rel=0.03)
    assert covers.mean() == pytest.approx(truth.count, rel=0.1)
    assert searched >= len(begin)
    assert (left == 0) == (most_nodes == 10**6)


def test_estimates_do_not_depend_on_how_many_probes_search_at_once(monkeypatch):
    whole = estimate("queens:14", probes=300, seed=3)
    monkeypatch.setattr("batchsolve.runs.estimate.STOPS_AT_ONCE", 7)
    assert estimate("queens:14", probes=300, seed=3) == whole


@pytest.mark.parametrize(("problem", "engine"), [("queens:6", "dlx"), ("sudoku:2x2", "lanes")])
def test_auto_is_the_engine_that_suits_the_problem(problem, engine):
    assert estimate(problem, engine="auto") == estimate(problem, engine=engine)


def test_a_check_that_raises_ends_probes_after_some_of_them(monkeypatch):
    monkeypatch.setattr("batchsolve.runs.estimate.STOPS_AT_ONCE", 7)
    begin = Stacks.from_lists([[]] * 300)
    rng, check = np.random.default_rng(5), Mock(side_effect=KeyboardInterrupt)
    spied = patch.object(native, "search_links", wraps=native.search_links)
    with spied as search, pytest.raises(KeyboardInterrupt), asking(check):
        probe(get_engine("dlx"), bs.family("queens:14"), begin, rng)
    assert [len(call.args[1].stacks) for call in search.call_args_list] == [7]
    with pytest.raises(KeyboardInterrupt), asking(check):
        estimate("queens:14", probes=300)


def test_doubt_is_said():
    assert "no probe found a solution" in estimate("dominoes:9x9", probes=10).doubt
    uneven = estimate("edgecovers:7")  # whose 1,887,284 solutions most probes miss
    assert uneven.doubt == "the interval of nodes needs 6,561 probes or more"
    trusted = estimate("queens:14", probes=500)
    assert (trusted.doubt, type(trusted)) == ("", Estimate)


def test_a_large_branch_that_all_probes_miss_is_not_searched_to_its_end(monkeypatch):
    monkeypatch.setattr("batchsolve.runs.estimate.TOP_NODES", 1)
    monkeypatch.setattr("batchsolve.runs.estimate.SEARCHED_NODES", 10_000)
    many = list("bcdefgh")
    options = [["a", "x"]] * 100 + [[*many, "x"]] + [[b, "x"] for b in many for _ in range(100)]
    colors = [{"x": "light"}] * 99 + [{"x": "heavy"}, {"x": "light"}] + [{"x": "heavy"}] * 700
    problem = bs.ExactCover.from_options(options, ["a", *many], ["x"], colors=colors)
    found = estimate(problem, probes=5)
    assert found.nodes_high < 1000 < found.searched < 100_000
    assert found.doubt.startswith("the probes missed most of the tree: a search of ")


def test_probes_search_less_where_stops_leave_many_stacks():
    found = estimate(wide(*[600] * 20), probes=1000)
    assert found.solutions == pytest.approx(600.0**20)
    assert found.searched < 1000 * 25


@pytest.mark.filterwarnings("error")
def test_estimates_are_as_large_as_floating_point_numbers(monkeypatch):
    monkeypatch.setattr("batchsolve.runs.estimate.SEARCHED_NODES", 1000)
    found = estimate(wide(*[2] * 600), probes=5)  # of squares beyond them
    solutions = [found.solutions_low, found.solutions, found.solutions_high]
    assert solutions == pytest.approx([2.0**600] * 3)
    assert found.nodes == pytest.approx(2.0**601, rel=0.01)
    assert found.doubt == "the interval of nodes needs 50 probes or more"
    # the sum over the probes is beyond them
    assert estimate(wide(*[2] * 1022), probes=5).nodes == pytest.approx(2.0**1023, rel=0.01)
    with pytest.raises(bs.InputError, match=r"more than 2e\+308 nodes, too many to be estimated"):
        estimate(wide(*[2] * 1100), probes=5)
