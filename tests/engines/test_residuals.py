"""Engines that search residual problems visit the same nodes as dancing links."""

import numpy as np
import pytest
from oracles import covers

from batchsolve import ExactCover, Stacks
from batchsolve.engines import Task, get_engine, native
from batchsolve.problems.families import family
from batchsolve.runs.reading import read_problem

WHOLE = Stacks.from_lists([[]])

both_engines = pytest.mark.parametrize("engine", ["bits", "cells"])


def outcome_of(engine, problem, **settings):
    outcome = get_engine(engine).search(problem, Task.of(WHOLE, **settings))
    stacks = [[stack.tolist() for stack in s] for s in (outcome.solutions, outcome.frontier)]
    return outcome.counts.tolist(), outcome.nodes.tolist(), outcome.weights.tolist(), stacks


@both_engines
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("queens:8", 92),
        ("langford:7", 52),
        ("dominoes:6x6", 6728),
        ("pentominoes:3x20", 8),
        ("latin:4", 576),
        ("sudoku:2x2", 288),
    ],
)
def test_known_counts_and_the_nodes_of_dancing_links(engine, name, count):
    problem = read_problem(name).problem
    mine, links = outcome_of(engine, problem), outcome_of("dlx", problem)
    assert mine == links
    assert mine[0] == [count]


@both_engines
@pytest.mark.parametrize("name", ["queens:7", "langford:7", "pentominoes:4x15", "sudoku:2x3"])
@pytest.mark.parametrize("budget", [1000, 4001])
def test_a_search_that_is_interrupted_inside_a_residual_goes_on(engine, name, budget):
    problem = read_problem(name).problem
    for settings in ({"budget": budget}, {"room": 7, "budget": budget}, {"depth": 5}):
        mine = outcome_of(engine, problem, keep=5, **(settings | {"allowance": 20_000}))
        links = outcome_of("dlx", problem, keep=5, **(settings | {"allowance": 20_000}))
        assert mine == links


def test_stacks_that_leave_too_much_are_left_to_dancing_links(monkeypatch):
    problem = family("queens:6")
    expected, whole = outcome_of("bits", problem, keep=10), native.core_task(Task.of(WHOLE))
    monkeypatch.setattr(native, "MOST_OPTIONS", 20)
    assert native.native.search_bits(native.core_problem(problem), whole, 20) is None
    assert outcome_of("bits", problem, keep=10) == expected
    monkeypatch.setattr(native.native, "search_links", None)
    outcome = get_engine("bits").search(problem, Task.of(Stacks.from_lists([[1, 9]])))
    assert outcome.counts.tolist() == [len(covers(problem, (1, 9)))]


def test_stacks_that_exclude_options_may_leave_too_much_as_well():
    n = 17_000
    problem = ExactCover(np.arange(n + 1), np.zeros(n, np.uint32), 1, bounds=[[1, 2]])
    task = Task.of(Stacks.from_lists([[n + 5]]), budget=10)
    in_core = native.core_problem(problem), native.core_task(task)
    assert native.native.search_bounded_bits(*in_core) is None
    searched = [get_engine(engine).search(problem, task) for engine in ("bits", "dlx")]
    assert searched[0].frontier.options.tolist() == searched[1].frontier.options.tolist()


def test_large_matrices_are_built_only_for_many_nodes(monkeypatch):
    most = []
    search = native.native.search_bits

    def spy(problem, task, most_options):
        most.append(most_options)
        return search(problem, task, most_options)

    monkeypatch.setattr(native.native, "search_bits", spy)
    bits = get_engine("bits")
    for how in ({}, {"budget": 5_000}, {"budget": 300}, {"allowance": 1}):
        bits.search(family("queens:5"), Task.of(WHOLE, **how))
    assert most == [40_000, 20_000, 4_096, 4_096]
