"""`lanes` against `dlx`, on usual grids that are cut into pieces; other shapes: test_agreement.py.

Promises of every engine are in test_engines.py.
"""

import os
import pickle
from functools import cache, partial
from importlib.util import find_spec
from operator import attrgetter

import numpy as np
import pytest
from conftest import hard_puzzles
from hypothesis import given, strategies as st
from invoking import run_python
from oracles import shuffled, solved
from test_engines import run_out

from batchsolve import Stacks, Sudoku, core
from batchsolve.core import NEEDS, best_level
from batchsolve.engines import UNLIMITED, Task, get_engine

USUAL = Sudoku(3, 3)
DLX, LANES = get_engine("dlx"), get_engine("lanes")
SOLVED = solved(3, 3).reshape(-1)

CELL = np.arange(81)
UNITS = np.array([CELL // 9, 9 + CELL % 9, 18 + CELL // 27 * 3 + CELL % 9 // 3])
IS_PEER = (UNITS[:, :, None] == UNITS[:, None, :]).any(axis=0)


def solved_grids(n, rng):
    """Solved grids: random images of one."""
    square = SOLVED.reshape(9, 9)
    return np.array([shuffled(square, 3, 3, rng).reshape(-1) for _ in range(n)], np.uint8)


def random_grids(n, seed, clues):
    """Grids with random numbers of clues, three in ten with one digit changed at random.

    Half of those with fewer clues come from puzzles that have one solution or nearly so.
    """
    rng = np.random.default_rng(seed)
    grids = solved_grids(min(n, 500), rng)[np.arange(n) % 500]
    n_clues = rng.integers(clues[0], clues[1] + 1, n)
    grids[rng.random((n, 81)).argsort(axis=1).argsort(axis=1) >= n_clues[:, None]] = 0
    changed = np.flatnonzero(rng.random(n) < 0.3)
    grids[changed, rng.integers(0, 81, changed.size)] = rng.integers(1, 10, changed.size)
    return grids


@cache
def whole_search():
    """Return a search that is not cut, which finds the same at every level of processor."""
    grids = np.concatenate([random_grids(1000, 1, (20, 40)), guessing_grids(1000, 1)])
    return partial(LANES.search, USUAL, Task.of(USUAL.stacks(grids), limit=9, keep=3))


CALL = "import pickle, sys; pickle.dump(pickle.load(sys.stdin.buffer)(), sys.stdout.buffer)"


def test_a_level_that_was_not_built_is_not_chosen(monkeypatch):
    monkeypatch.setattr(core, "find_spec", lambda name: None)
    assert best_level() == "baseline"


@pytest.mark.parametrize("level", ["baseline", *NEEDS])
def test_every_level_gives_the_same(level):
    if find_spec(f"batchsolve.core._{level}") is None:
        pytest.skip(f"the core is not built for {level}")
    if level != "baseline" and [*NEEDS].index(level) < [*NEEDS, "baseline"].index(best_level()):
        pytest.skip(f"the processor has no {level}")
    how = {"env": os.environ | {"BATCHSOLVE_LEVEL": level}, "text": False, "check": True}
    done = run_python("-c", CALL, input=pickle.dumps(whole_search()), **how)
    found, right = pickle.loads(done.stdout), whole_search()()
    for name in ("counts", "nodes", "clash", "solutions.options", "solutions.roots"):
        assert np.array_equal(attrgetter(name)(found), attrgetter(name)(right)), name


def guessing_grids(n, seed, spared=0):
    """Hard puzzles with up to four more clues; some clues spared.

    Every fourth has a wrong digit that clashes with no clue.
    """
    rng = np.random.default_rng(seed)
    puzzles, solutions = hard_puzzles()
    which = rng.integers(0, len(puzzles), n)
    grids, solutions = puzzles[which], solutions[which]
    for k in range(n):
        grids[k, rng.permutation(np.flatnonzero(grids[k]))[:spared]] = 0
        is_wrong = k % 4 == 3
        n_more = 2 * spared + (0 if is_wrong else rng.integers(0, 5))
        cells = rng.permutation(np.flatnonzero(grids[k] == 0))[:n_more]
        grids[k, cells] = solutions[k, cells]
        if is_wrong:
            cell = rng.choice(np.flatnonzero(grids[k] == 0))
            no = {int(solutions[k, cell]), *grids[k, IS_PEER[cell]].tolist()}
            grids[k, cell] = next((d for d in range(1, 10) if d not in no), 0)
    return grids


budgets = st.lists(st.integers(8, 200), min_size=1, max_size=4)  # fewer: test_engines.py


@given(
    seed=st.integers(0, 2**20),
    budgets=budgets,
    depths=st.lists(st.sampled_from([0, 1, 2, 5, UNLIMITED]), max_size=3),
    allowance=st.sampled_from([10, 33, 100, UNLIMITED]),
    room=st.integers(1, 30),
    n_pieces=st.integers(1, 3),
)
def test_batches_may_be_cut_into_any_pieces(seed, budgets, depths, allowance, room, n_pieces):
    stacks = USUAL.stacks(guessing_grids(10, seed, spared=seed % 2))
    counts, nodes, found = run_out("lanes", USUAL, stacks)
    how = {"allowance": allowance, "room": room, "n_pieces": n_pieces}
    pieces = run_out("lanes", USUAL, stacks, budgets, [*depths, UNLIMITED], **how)
    assert (*pieces[:2], sorted(pieces[2])) == (counts, nodes, sorted(found))
    expected = DLX.search(USUAL, Task.of(stacks, keep=UNLIMITED))
    assert [*counts.values()] == expected.counts.tolist()
    right = zip(expected.solutions.roots.tolist(), map(frozenset, expected.solutions), strict=True)
    assert {(root, frozenset(cover)) for root, cover in found} == {*right}


@given(st.integers(0, 2**20), st.integers(1, 40), budgets, st.integers(10, 100), st.integers(1, 30))
def test_limits_stop_at_the_same_node_however_interrupted(seed, limit, budgets, allowance, room):
    grids = np.concatenate([guessing_grids(6, seed), random_grids(6, seed, clues=(17, 30))])
    stacks = USUAL.stacks(grids)
    counts, nodes, found = run_out("lanes", USUAL, stacks, limit=limit)
    how = {"limit": limit, "allowance": allowance, "room": room}
    pieces = run_out("lanes", USUAL, stacks, budgets, **how)
    assert (*pieces[:2], sorted(pieces[2])) == (counts, nodes, sorted(found))
    assert [*counts.values()] == DLX.search(USUAL, Task.of(stacks, limit=limit)).counts.tolist()
    roots, covers = [root for root, _ in found], Stacks.from_lists([cover for _, cover in found])
    assert USUAL.check(grids[roots], USUAL.grids(covers)).all()


def test_most_grids_of_these_tests_need_guesses():
    spared = [guessing_grids(200, seed, spared=seed) for seed in range(2)]
    for grids in (*spared, random_grids(100, 0, clues=(17, 30))):
        outcome = LANES.search(USUAL, Task.of(USUAL.stacks(grids), limit=100))
        assert np.count_nonzero(outcome.nodes > 1) > 50
    outcome = LANES.search(USUAL, Task.of(USUAL.stacks(spared[0])))
    for count in (0, 1):
        assert np.count_nonzero((outcome.nodes > 5) & (outcome.counts == count)) > 10
    outcome = LANES.search(USUAL, Task.of(USUAL.stacks(spared[1])))
    assert np.count_nonzero((outcome.nodes > 5) & (outcome.counts > 1)) > 10


def test_malformed_stacks_clash_and_are_not_searched():
    good = USUAL.stack(SOLVED).tolist()
    stacks = [[0, 0], [0, 1], [0, 9], [0, 81], [0, 90], [729], [5, 2**32 - 1], [], good, [*good, 3]]
    outcome = LANES.search(USUAL, Task.of(Stacks.from_lists(stacks), limit=1, keep=1))
    assert outcome.clash.tolist() == [1, 1, 1, 1, 1, 0, 1, -1, -1, 81]
    assert outcome.counts.tolist() == [0] * 7 + [1, 1, 0]
    assert np.array_equal(outcome.nodes > 0, outcome.clash < 0)
    assert outcome.solutions[1].tolist() == good


def test_what_is_not_searched_is_handed_back_as_it_is():
    """However long: clashes are found only when a stack is searched."""
    stacks = Stacks.from_lists([[5] * n for n in (0, 1, 2000)] * 20, roots=np.arange(60) // 4)
    for task in (Task.of(stacks, budget=0), Task.of(stacks, allowance=0)):
        outcome = LANES.search(USUAL, task)
        assert outcome.nodes.sum() == 0
        assert [s.tolist() for s in outcome.frontier] == [s.tolist() for s in stacks]
        assert outcome.frontier.roots.tolist() == stacks.roots.tolist()


def sparse_grid(n_blanks, seed):
    """The stack of a solved grid with that many blank cells."""
    rng = np.random.default_rng(seed)
    grid = solved_grids(1, rng)
    grid[0, rng.permutation(grid.size)[:n_blanks]] = 0
    return USUAL.stacks(grid)


@given(
    seed=st.integers(0, 2**20),
    n_blanks=st.integers(40, 58),
    budgets=st.lists(st.integers(1, 2000), min_size=1, max_size=3),
    room=st.sampled_from([1, 7, 1000, UNLIMITED]),
)
def test_one_grid_is_searched_by_all_lanes_as_by_one(seed, n_blanks, budgets, room):
    """A finite allowance keeps a root in one lane; then all covers come in tree order."""
    stack = sparse_grid(n_blanks, seed)
    alone = LANES.search(USUAL, Task.of(stack, allowance=3000, keep=UNLIMITED))
    if len(alone.frontier):
        return
    many = LANES.search(USUAL, Task.of(stack, keep=UNLIMITED))
    assert (many.counts[0], many.nodes[0]) == (alone.counts[0], alone.nodes[0])
    assert [c.tolist() for c in many.solutions] == [c.tolist() for c in alone.solutions]
    first = LANES.search(USUAL, Task.of(stack, keep=2)).solutions
    assert [c.tolist() for c in first] == [c.tolist() for c in alone.solutions][:2]
    counts, nodes, covers = run_out("lanes", USUAL, stack, budgets, room=room)
    assert (counts[0], nodes[0]) == (alone.counts[0], alone.nodes[0])
    assert sorted(covers) == sorted((0, tuple(c.tolist())) for c in alone.solutions)


@pytest.mark.parametrize("used", [{"allowance": UNLIMITED - 9999}, {"limit": UNLIMITED - 9999}])
def test_what_is_left_of_no_bound_is_none(used):
    """Lanes share the grid in later tasks of a row as in the first, so they stop in one state."""
    stack = sparse_grid(58, seed=1)
    first, later = (LANES.search(USUAL, Task.of(stack, budget=3000, **how)) for how in ({}, used))
    assert len(first.frontier) > 20
    assert [s.tolist() for s in later.frontier] == [s.tolist() for s in first.frontier]


@given(st.integers(0, 2**20), st.integers(45, 60), st.integers(1, 30), st.integers(50, 6000))
def test_in_any_order_nothing_before_the_last_cover_is_lost(seed, n_blanks, limit, budget):
    stacks = sparse_grid(n_blanks, seed)
    straight = LANES.search(USUAL, Task.of(stacks, limit=limit, keep=limit))
    expected = [c.tolist() for c in straight.solutions]
    found = []
    while len(stacks):
        task = Task.of(stacks, limit, budget=budget, keep=limit, any_order=True)
        outcome = LANES.search(USUAL, task)
        assert outcome.counts.sum() <= limit
        covers = [c.tolist() for c in outcome.solutions]
        assert covers == sorted(covers)
        assert len(covers) == outcome.counts.sum()
        found = sorted(found + covers)[:limit]
        left = [s.tolist() for s in outcome.frontier]
        assert left == sorted(left)
        wanted = [s for s in left if len(found) < limit or s < found[-1]]
        stacks = Stacks.from_lists(wanted, [0] * len(wanted))
    assert found == expected
