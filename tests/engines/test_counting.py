"""The kernel that only counts visits the nodes of dancing links, and hands back the same stacks."""

from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pytest
from conftest import problems
from hypothesis import given, strategies as st
from test_stand_ins import assert_same, some

import batchsolve as bs
from batchsolve import ExactCover, Stacks, Sudoku, rehearsals
from batchsolve.engines import UNLIMITED, Task, counting, get_engine, stand_ins
from batchsolve.problems.families import family

DATASETS = Path(__file__).parents[2] / "datasets"


def compare(problem, task):
    assert counting.takes(problem, replace(task, limits=np.full_like(task.limits, UNLIMITED)))
    assert_same(counting.search(problem, task), get_engine("dlx").search(problem, task))


@given(
    data=st.data(), problem=problems(), limit=some, allowance=some, budget=some, room=some,
    depth=st.integers(0, 4) | st.just(UNLIMITED),
)  # fmt: skip
def test_it_counts_as_dancing_links_do(data, problem, limit, allowance, budget, room, depth):
    options = st.integers(0, problem.n_options + 1)
    stacks = data.draw(st.lists(st.lists(options, max_size=4), min_size=1, max_size=4))
    if data.draw(st.booleans()):
        stacks = [[*stacks[0], *stack] for stack in stacks]
    roots = sorted(data.draw(st.integers(0, 1)) for _ in stacks)
    stacks = Stacks.from_lists(stacks, roots)
    compare(problem, Task.of(stacks, limit, allowance, budget=budget, depth=depth, room=room))


@pytest.mark.parametrize("n_options", [63, 64, 127, 128, 300])
def test_cells_hold_as_many_options_as_an_item_has(n_options):
    options = [[o % 2, *([2] if o % 3 else [])] for o in range(2 * n_options)]
    problem = ExactCover.from_options(options, primary=[0, 1], secondary=[2])
    compare(problem, Task.of(Stacks.from_lists([[]]), budget=n_options))


@given(data=st.data())
def test_options_of_any_length(data):
    options = [range(k, n) for k in range(20) for n in range(k + 1, 21)]
    chosen = data.draw(st.lists(st.sampled_from(options), min_size=1, max_size=60))
    n_primary = data.draw(st.integers(0, 20))
    problem = ExactCover.from_options(
        chosen, primary=range(n_primary), secondary=range(n_primary, 20)
    )
    compare(problem, Task.of(Stacks.from_lists([[]])))


@pytest.mark.parametrize("problem", [family("pentominoes:3x20"), family("queens:8"), Sudoku(2, 3)])
def test_a_search_goes_on_from_what_is_left(problem):
    right = get_engine("dlx").search(problem, Task.of(Stacks.from_lists([[]]), budget=50_000))
    stacks, n_covers, n_nodes = Stacks.from_lists([[]]), 0, 0
    for depth in (2, 3, *[UNLIMITED] * 99):
        if n_nodes == right.nodes.sum():
            break
        budget = min(5_000, right.nodes.sum() - n_nodes)
        task = Task.of(stacks, budget=budget, depth=depth)
        compare(problem, task)
        outcome = counting.search(problem, task)
        n_covers, n_nodes = n_covers + outcome.counts.sum(), n_nodes + outcome.nodes.sum()
        stacks = outcome.frontier
    assert n_nodes == right.nodes.sum()
    if not len(right.frontier):
        assert (len(stacks), n_covers) == (0, right.counts.sum())


def test_large_trees():
    found = counting.search(family("pentominoes:6x10"), Task.of(Stacks.from_lists([[]])))
    assert found.counts.tolist() == [9356]
    many = bs.read_problem(f"{DATASETS / 'many16.csv'}#3")
    compare(many.problem, Task.of(Stacks.from_lists([many.stack]), budget=300_000))


@pytest.mark.parametrize(("looks", "engine"), [(0, "lanes"), (20, "lanes"), (10**9, "dlx")])
def test_a_count_goes_on_with_the_engine_once_it_is_compiled(monkeypatch, tmp_path, looks, engine):
    states = chain(repeat("running", looks), repeat("over"))
    monkeypatch.setattr(rehearsals, "begin", lambda *_: None)
    monkeypatch.setattr(rehearsals, "state_of", lambda name: next(states))
    monkeypatch.setattr(stand_ins, "MOST_SECONDS", 60.0)
    monkeypatch.setattr(stand_ins, "_COUNTED", {"lanes", "cells"})
    (tmp_path / "grid.txt").write_text("123456" + "." * 30)
    found = bs.count(str(tmp_path / "grid.txt"))
    assert (found.count, found.engine) == (39_168, engine)  # 28,200,960 / 6!
    found = bs.count("pentominoes:3x20", engine="cells", budget=2_000)
    whole = Task.of(Stacks.from_lists([[]]))
    right = get_engine("dlx").compiled(family("pentominoes:3x20"), whole)
    assert (found.count, found.nodes, found.engine) == (8, right.nodes.sum(), "cells")


def test_it_leaves_other_tasks_to_engines():
    plain, whole = family("queens:4"), Stacks.from_lists([[]])
    coloured = ExactCover([0, 2], [0, 1], 2, 1, colors=[0, 1])
    assert counting.takes(plain, Task.of(whole))
    assert not counting.takes(plain, Task.of(whole, keep=1))
    assert not counting.takes(plain, Task.of(whole, limit=2))
    assert not counting.takes(plain, Task.of(Stacks.empty()))
    assert not counting.takes(coloured, Task.of(whole))
    assert not counting.takes(Sudoku(5, 5), Task.of(whole))
