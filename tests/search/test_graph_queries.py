"""Sums over all covers of a graph, against a list of all covers."""

import json
from collections import Counter

import pytest
from conftest import coloured_problems, problems
from hypothesis import given, strategies as st
from invoking import invoke
from oracles import covers

import batchsolve as bs
from batchsolve.problems.families import family


@given(problem=problems() | coloured_problems(), data=st.data(), ordered=st.booleans())
def test_sums_are_those_of_the_list(problem, data, ordered):
    weights = data.draw(st.lists(st.integers(-3, 9), min_size=14, max_size=14))
    weights = weights[: problem.n_options]
    graph = bs.solution_graph(problem, ordered=ordered)
    found = covers(problem)
    sizes = Counter(map(len, found))
    assert list(graph.distribution().items()) == sorted(sizes.items())
    sums = Counter(sum(weights[o] for o in cover) for cover in found)
    assert list(graph.distribution(weights).items()) == sorted(sums.items())
    assert bs.distribution(problem) == sizes
    held = Counter(o for cover in found for o in cover)
    assert graph.uses() == [held[o] for o in range(problem.n_options)]


def test_known_distributions():
    # partitions of a set by their number of parts: Stirling numbers of the second kind
    stirling = bs.distribution("partitions:8")
    assert list(stirling.values()) == [1, 127, 966, 1701, 1050, 266, 28, 1]
    # the partner of a point is each of the others in equally many perfect matchings
    graph = bs.solution_graph("matchings:7")
    assert set(graph.uses()) == {graph.count // 13}
    graph = bs.solution_graph("dominoes:14x14")  # 112,202,208,776,036,178,000,000: OEIS A004003
    assert graph.distribution() == {98: 112202208776036178000000}
    assert graph.uses()[0] == graph.count // 2
    assert sum(graph.uses()) == 98 * graph.count


def test_costs_of_covers_below_clues(tmp_path):
    path = tmp_path / "costs.dlx"
    path.write_text("a b c\na b |$25\na |$20\nb |$2\nc\n")
    facts = json.loads(invoke("count", path, "--by", "options", "--json").stdout)
    assert (facts["count"], facts["distribution"]) == (2, [[2, 1], [3, 1]])
    assert bs.distribution(str(path), "cost", stack=[1]) == {22: 1}


def test_sums_that_take_too_much_memory():
    graph = bs.solution_graph(family("latin:4"))
    weights = [7**k for k in range(graph.problem.n_options)]
    assert len(graph.distribution(weights)) == 576
    with pytest.raises(bs.InputError, match="the sums of all covers take more than 1 megabyte"):
        bs.solution_graph("dominoes:6x6").distribution([2**k for k in range(60)], memory=1)
    with pytest.raises(bs.InputError, match="2 weights for 64 options"):
        graph.distribution([1, 2])
