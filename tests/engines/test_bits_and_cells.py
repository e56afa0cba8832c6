"""`cells` and `bits` visit the nodes of dancing links, and hand back the same covers and stacks."""

from unittest.mock import patch

import numpy as np
import pytest
from conftest import WHOLE
from hypothesis import given, strategies as st
from invoking import run_python
from oracles import covers
from test_engines import assert_same

from batchsolve import ExactCover, Stacks
from batchsolve.core import LEVEL
from batchsolve.engines import UNLIMITED, Task, get_engine, native
from batchsolve.problems.families import family


def compare(problem, task, engine="cells"):
    outcome = get_engine(engine).search(problem, task)
    assert_same(outcome, get_engine("dlx").search(problem, task))
    return outcome


@given(data=st.data())
def test_options_of_any_length(data):
    options = [range(k, n) for k in range(20) for n in range(k + 1, 21)]
    chosen = data.draw(st.lists(st.sampled_from(options), min_size=1, max_size=60))
    n = data.draw(st.integers(0, 20))
    compare(ExactCover.from_options(chosen, range(n), range(n, 20)), Task.of(WHOLE))


@pytest.mark.parametrize("engine", ["bits", "cells"])
@pytest.mark.parametrize("name", ["pentominoes:3x20", "queens:8", "langford:7", "sudoku:2x3"])
def test_a_search_goes_on_from_what_is_left(engine, name):
    """For what all pieces find together, see ../test_answers.py."""
    problem, stacks = family(name), WHOLE
    for depth in (2, 3, *[UNLIMITED] * 9):
        room = 7 if depth == 3 else UNLIMITED
        task = Task.of(stacks, budget=5_000, depth=depth, keep=5, room=room)
        stacks = compare(problem, task, engine).frontier


def test_stacks_that_leave_many_options_have_residuals_of_their_own():
    """Options of one item more than cells can count: together too many, alone few enough."""
    n = 2**15 + 8
    options = [[0, 1 + k % 2] for k in range(n)] + [[1], [2]]
    problem = ExactCover.from_options(options, primary=[0, 1, 2])
    compare(problem, Task.of(Stacks.from_lists([[n], [n + 1]]), limit=3, keep=3))
    compare(problem, Task.of(Stacks.from_lists([[], [n]]), limit=3, keep=3))


@pytest.mark.skipif(LEVEL == "sanitized", reason="sanitizers reserve more than the bound")
def test_stacks_that_clash_take_no_memory_for_what_they_leave():
    """The conflicts of a grid of 64×64 with two clues take 8 GB."""
    code = """
import resource, sys
import batchsolve as bs
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, hard))
answer = bs.solve_batch([[1, 1] + [0] * (64 * 64 - 2)], box=(8, 8), engine="cells", jobs=1)
sys.exit(answer.messages[0])
"""
    done = run_python("-c", code)
    assert "digit 1 twice in a row: row 1, column 1 and row 1, column 2" in done.stderr


def test_stacks_that_leave_too_much_are_left_to_dancing_links(monkeypatch):
    problem = family("queens:6")
    monkeypatch.setattr(native, "MOST_OPTIONS", 20)
    in_core = native.core_problem(problem), native.core_task(Task.of(WHOLE))
    assert native.native.search_bits(*in_core, 20) is None
    compare(problem, Task.of(WHOLE, keep=10), "bits")
    monkeypatch.setattr(native.native, "search_links", None)
    outcome = get_engine("bits").search(problem, Task.of(Stacks.from_lists([[1, 9]])))
    assert outcome.counts.tolist() == [len(covers(problem, (1, 9)))]


def test_stacks_that_exclude_options_may_leave_too_much_as_well():
    n = 17_000
    problem = ExactCover(np.arange(n + 1), np.zeros(n, np.uint32), 1, bounds=[[1, 2]])
    task = Task.of(Stacks.from_lists([[n + 5]]), budget=10)
    in_core = native.core_problem(problem), native.core_task(task)
    assert native.native.search_bounded_bits(*in_core) is None
    compare(problem, task, "bits")


def test_large_matrices_are_built_only_for_many_nodes():
    bits, module = get_engine("bits"), native.native
    with patch.object(module, "search_bits", wraps=module.search_bits) as search:
        for how in ({}, {"budget": 5_000}, {"budget": 300}, {"allowance": 1}):
            bits.search(family("queens:5"), Task.of(WHOLE, **how))
    assert [call.args[2] for call in search.call_args_list] == [40_000, 20_000, 4_096, 4_096]
