"""Projected counting against the projections of a list of all covers, and known numbers."""

import json

import pytest
from click.testing import CliRunner
from conftest import coloured_problems, problems
from hypothesis import given, strategies as st
from oracles import covers

import batchsolve as bs
from batchsolve.cli import app
from batchsolve.runs import projections


def cli(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def projected(problem, items, stack=()):
    """Return the projections of all covers, by definition."""
    at_items = {o for o in range(problem.n_options) if set(problem.option(o).tolist()) & items}
    return {cover & at_items for cover in covers(problem, stack)}


@given(problem=problems(7, 14) | coloured_problems(), data=st.data())
def test_projections_are_those_of_the_list(problem, data):
    if not problem.n_primary:
        return
    items = data.draw(st.sets(st.integers(0, problem.n_primary - 1), min_size=1))
    some = sorted(data.draw(st.sampled_from([(), *sorted(covers(problem), key=sorted)])))
    stack = tuple(some[: data.draw(st.integers(0, len(some)))])
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
]


@pytest.mark.parametrize(("name", "items", "number"), KNOWN)
def test_known_numbers(name, items, number):
    assert bs.count_projections(name, items).count == number


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_many_blocks_of_candidates(backend, monkeypatch):
    monkeypatch.setattr(projections, "BLOCK", 7)
    found = bs.count_projections("queens:7", ["r1", "r2"], jobs=2, backend=backend)
    queens = bs.family("queens:7")
    items = {i for i in range(queens.n_items) if queens.item_name(i) in ("r1", "r2")}
    assert found.count == len(projected(queens, items))
    assert found.subproblems == 30  # pairs of columns at a distance of 2 or more


def test_the_command(tmp_path):
    printed = cli("count", "queens:6", "--project", "r1", "--project", "r2")
    assert (printed.exit_code, printed.stdout) == (0, "4\n")
    assert "4 projections of 20 candidates; " in printed.stderr
    grid = tmp_path / "grid.txt"
    grid.write_text("12..............")
    facts = json.loads(cli("count", grid, "--project", "r1c*", "--json").stdout)
    assert (facts["count"], facts["complete"], facts["subproblems"]) == (2, True, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["queens:6", "--project", "x"], "no item is called 'x'; the first is 'r4'"),
        (["queens:6", "--project", "*"], "is secondary; name primary items"),
        (["edgecovers:4", "--project", "1"], "projections are of problems without bounds"),
        (["queens:6", "--project", "r1", "--limit", 2], "--project goes with --engine only"),
        (["queens:6", "--project", "r1", "--engine", "memo"], "only counts"),
        (["queens:6", "queens:5", "--project", "r1"], "for one problem, without -o"),
    ],
)
def test_wrong_usage(arguments, message):
    refused = cli("count", *arguments)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert message in refused.stderr
