"""Many problems, each a row: each has the result that it has alone."""

import pytest
from conftest import coloured_problems, problems
from hypothesis import given, strategies as st
from oracles import covers

import batchsolve as bs
from batchsolve.runs import count
from batchsolve.search import rows as row_search


@given(
    given_problems=st.lists(problems() | coloured_problems(), max_size=8),
    budget=st.sampled_from([None, 1, 30]),
    limit=st.sampled_from([None, 2]),
    few=st.sampled_from([1, 3, row_search.BESIDE_NODES]),
)
def test_lists_are_counted_as_their_problems_are(given_problems, budget, limit, few):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_search, "BESIDE_NODES", few)
        found = bs.count(given_problems, jobs=1, engine="dlx", budget=budget, limit=limit)
    alone = [bs.count(p, jobs=1, engine="dlx", limit=limit) for p in given_problems]
    counts = [len(covers(p)) for p in given_problems]
    assert [each.count for each in found] == [min(n, limit or n) for n in counts]
    if limit is None:
        assert [each.nodes for each in found] == [each.nodes for each in alone]


def test_a_hard_problem_does_not_keep_those_behind_it_from_beginning(monkeypatch):
    taken = []

    def search(engine, problem, task):
        outcome = search_each(engine, problem, task)
        taken.append((task.stacks.roots.tolist(), int(outcome.nodes.sum())))
        return outcome

    search_each = row_search.search_each
    monkeypatch.setattr(row_search, "search_each", search)
    monkeypatch.setattr(row_search, "BESIDE_NODES", 50)
    monkeypatch.setattr(count, "LEAST_BLOCKS", 1)
    found = bs.count(["queens:8"] + [f"queens:{4 + k % 2}" for k in range(9)], jobs=1, budget=100)
    assert [each.count for each in found] == [92] + [2, 10] * 4 + [2]
    assert [roots for roots, _ in taken[:10]] == [[row] for row in range(10)]
    assert taken[0][1] == 50
    assert {row for roots, _ in taken[10:] for row in roots} == {0}
