"""Projected counting against the projections of a list of all covers, and known numbers."""

from itertools import count

import pytest
from conftest import bounded_problems, coloured_problems, problems
from hypothesis import given, strategies as st
from invoking import invoke
from oracles import bounded_covers, covers

import batchsolve as bs
from batchsolve.runs import projections


def projected(problem, items, stack=()):
    """Return the projections of all covers, by definition."""
    at_items = {o for o in range(problem.n_options) if set(problem.option(o).tolist()) & items}
    return {cover & at_items for cover in all_covers(problem, stack)}


def all_covers(problem, stack=()):
    return covers(problem, stack) if problem.bounds is None else bounded_covers(problem, stack)


@given(problem=problems(7, 14) | coloured_problems() | bounded_problems(), data=st.data())
def test_projections_are_those_of_the_list(problem, data):
    if not problem.n_items:
        return
    items = data.draw(st.sets(st.integers(0, problem.n_items - 1), min_size=1))
    some = sorted(data.draw(st.sampled_from([(), *sorted(all_covers(problem), key=sorted)])))
    stack = some[: data.draw(st.integers(0, len(some)))]
    if problem.bounds is not None:
        others = sorted(set(range(problem.n_options)) - set(some))
        out = data.draw(st.lists(st.sampled_from(others), unique=True)) if others else []
        stack = [*(problem.n_options + o for o in out), *stack]
    result = bs.count_projections(problem, list(map(str, sorted(items))), stack, jobs=2)
    assert (result.count, result.complete) == (len(projected(problem, items, stack)), True)


# any first row of digits is possible; dominoes cut the first row into pieces of two cells and of
# one, in Fibonacci many ways
KNOWN = [
    ("latin:5", ["r1#*"], 120),
    ("sudoku:2x2", ["r1c?"], 24),
    ("dominoes:4x6", ["r1c*"], 13),
    ("dominoes:8x8", ["r1c*"], 34),
    ("queens:8", ["r1"], 8),
    ("queens:6", ["*"], 4),
    ("edgecovers:4", ["1"], 7),
]


@pytest.mark.parametrize(("name", "items", "number"), KNOWN)
def test_known_numbers(name, items, number):
    assert bs.count_projections(name, items).count == number


def test_a_stack_may_exclude_an_option_before_it_takes_one_that_bars_it():
    problem = bs.ExactCover.from_options([["a"], ["a"], ["b"]], bounds={"b": (0, 2)})
    excluded = problem.n_options
    assert bs.count_projections(problem, ["b"], [excluded, 1]).count == 2
    assert bs.count_projections(problem, ["a"], [excluded, 1]).count == 1


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_many_blocks_of_candidates(backend, monkeypatch):
    monkeypatch.setattr(projections, "BLOCK", 7)
    found = bs.count_projections("queens:7", ["r1", "r2"], jobs=2, backend=backend)
    queens = bs.family("queens:7")
    items = {i for i in range(queens.n_items) if queens.item_name(i) in ("r1", "r2")}
    assert found.count == len(projected(queens, items))
    assert found.subproblems == 30  # pairs of columns at a distance of 2 or more


@pytest.mark.parametrize("most", [1, 3, 6, 11])
def test_a_time_limit_leaves_the_projections_found_so_far(most, monkeypatch):
    monkeypatch.setattr(projections, "BLOCK", 7)
    ticks = count()
    monkeypatch.setattr(projections.time, "monotonic", lambda: next(ticks))
    found = bs.count_projections("queens:7", ["r1", "r2"], jobs=1, time_limit=most)
    assert (found.count, found.complete) == (28, True) or not found.complete
    assert found.count <= 28


def test_a_time_limit_of_the_command_ends_a_projection():
    printed = invoke("count", "latin:7", "--project", "r*", "--time-limit", 0.2)
    assert printed.exit_code == 1
    assert "not complete" in printed.stderr or "the time limit was reached" in printed.stderr
