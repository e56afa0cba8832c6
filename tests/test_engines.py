import numpy as np
import pytest
from conftest import problems
from hypothesis import given
from hypothesis import strategies as st
from oracles import covers, sudoku_solutions

from batchsolve import ExactCover, InputError, Stacks, Sudoku
from batchsolve.engines import UNLIMITED, Task, engine_names, get_engine

pytestmark = pytest.mark.parametrize("engine", engine_names())
WHOLE = Stacks.from_lists([[]])


def run_out(engine, problem, stacks, budgets=(UNLIMITED,), depths=(UNLIMITED,), room=UNLIMITED):
    """Search from frontier to frontier, with budgets and depths in turn, until nothing is left."""
    counts, nodes, found, rounds = {}, {}, [], 0
    while len(stacks):
        outcome = get_engine(engine).search(
            problem,
            Task.of(
                stacks,
                budget=budgets[rounds % len(budgets)],
                depth=depths[rounds % len(depths)],
                keep=UNLIMITED,
                room=room,
            ),
        )
        for root, count, visited in zip(stacks.roots, outcome.counts, outcome.nodes, strict=True):
            counts[int(root)] = counts.get(int(root), 0) + int(count)
            nodes[int(root)] = nodes.get(int(root), 0) + int(visited)
        roots = outcome.solutions.roots.tolist()
        found += list(zip(roots, map(tuple, outcome.solutions), strict=True))
        stacks, rounds = outcome.frontier, rounds + 1
        assert rounds < 100_000
    return counts, nodes, found


@given(problem=problems())
def test_finds_exactly_the_covers_of_the_oracle(engine, problem):
    counts, _, found = run_out(engine, problem, WHOLE)
    solutions = [frozenset(map(int, cover)) for _, cover in found]
    assert set(solutions) == covers(problem)
    assert len(solutions) == len(set(solutions)) == counts[0]


@given(
    problem=problems(),
    budgets=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    depths=st.lists(st.sampled_from([0, 1, 2, UNLIMITED]), min_size=1, max_size=3),
    room=st.integers(0, 12),
)
def test_any_budgets_depths_and_room_give_the_same(engine, problem, budgets, depths, room):
    straight = run_out(engine, problem, WHOLE)
    pieces = run_out(engine, problem, WHOLE, budgets, [*depths, UNLIMITED], room)
    assert pieces[0] == straight[0]
    assert pieces[1] == straight[1]
    assert sorted(pieces[2]) == sorted(straight[2])


@given(problem=problems(), data=st.data())
def test_stacks_are_partial_covers(engine, problem, data):
    option = st.integers(0, problem.n_options)  # one past the end: an option that does not exist
    stacks = data.draw(st.lists(st.lists(option, max_size=3), max_size=5))
    outcome = get_engine(engine).search(problem, Task.of(Stacks.from_lists(stacks), keep=UNLIMITED))
    for k, stack in enumerate(stacks):
        sets = [set(map(int, problem.option(o))) if o < problem.n_options else None for o in stack]
        clash = next(
            (p for p, s in enumerate(sets) if s is None or any(s & t for t in sets[:p])), -1
        )
        assert outcome.clash[k] == clash
        expected = covers(problem, tuple(stack)) if clash < 0 else set()
        assert outcome.counts[k] == len(expected)
        mine = outcome.solutions.take(outcome.solutions.roots == k)
        assert {frozenset(map(int, cover)) for cover in mine} == expected


@given(problem=problems(), limit=st.integers(1, 4), keep=st.integers(0, 3))
def test_limits_stop_each_root_and_keep_the_first_covers(engine, problem, limit, keep):
    _, _, everything = run_out(engine, problem, WHOLE)
    task = Task.of(Stacks.from_lists([[], [], []]), limit=limit, keep=keep)
    outcome = get_engine(engine).search(problem, task)
    wanted = min(limit, len(everything))
    assert outcome.counts.tolist() == [wanted] * 3
    assert len(outcome.frontier) == 0
    first = [cover for _, cover in everything[: min(wanted, keep)]]
    assert [tuple(cover) for cover in outcome.solutions] == first * 3


@given(problem=problems(), depth=st.integers(0, 3))
def test_adjacent_stacks_of_one_root_share_their_limit(engine, problem, depth):
    kernel = get_engine(engine)
    split = kernel.search(problem, Task.of(WHOLE, depth=depth, keep=UNLIMITED))
    outcome = kernel.search(problem, Task.of(split.frontier, limit=1, keep=5))
    total = run_out(engine, problem, split.frontier)[0].get(0, 0)
    assert outcome.counts.sum() == len(outcome.solutions) == min(1, total)


@given(problem=problems(), allowance=st.integers(1, 30))
def test_an_allowance_is_never_exceeded_and_nothing_is_lost(engine, problem, allowance):
    counts, nodes, _ = run_out(engine, problem, WHOLE)
    outcome = get_engine(engine).search(problem, Task.of(WHOLE, allowance=allowance))
    assert outcome.nodes[0] == min(allowance, nodes[0])
    rest = run_out(engine, problem, outcome.frontier)
    assert outcome.counts[0] + rest[0].get(0, 0) == counts[0]
    assert outcome.nodes[0] + rest[1].get(0, 0) == nodes[0]


@given(problem=problems())
def test_solutions_come_in_lexicographic_order(engine, problem):
    _, _, found = run_out(engine, problem, WHOLE)
    covers_in_order = [list(map(int, cover)) for _, cover in found]
    assert covers_in_order == sorted(covers_in_order)


@given(clues=st.lists(st.tuples(st.integers(0, 15), st.integers(1, 4)), max_size=6))
def test_sudoku_grids_agree_with_cell_by_cell_search(engine, clues):
    problem = Sudoku(2, 2)
    grid = np.zeros(16, np.uint8)
    for cell, digit in clues:
        grid[cell] = digit
    task = Task.of(problem.stacks(grid[None]), keep=UNLIMITED)
    outcome = get_engine(engine).search(problem, task)
    expected = sudoku_solutions(grid.tolist(), 2, 2)
    found = sorted(map(tuple, problem.grids(outcome.solutions).tolist()))
    assert found == sorted(expected)
    if outcome.clash[0] >= 0:
        stack = problem.stack(grid).tolist()
        assert "twice in a" in problem.explain_clash(stack, int(outcome.clash[0]))


def test_published_counts(engine):
    for problem, expected in ((Sudoku(2, 2), 288), (Sudoku(1, 5), 161_280)):
        outcome = get_engine(engine).search(problem, Task.of(WHOLE))
        assert outcome.counts.tolist() == [expected]


def test_a_problem_without_primary_items_has_one_cover(engine):
    problem = ExactCover([0, 1], [0], 1, n_primary=0)
    outcome = get_engine(engine).search(problem, Task.of(WHOLE, keep=1))
    assert outcome.counts.tolist() == [1]
    assert [cover.tolist() for cover in outcome.solutions] == [[]]


def test_a_problem_without_options_has_none(engine):
    problem = ExactCover([0], [], 2)
    outcome = get_engine(engine).search(problem, Task.of(WHOLE))
    assert outcome.counts.tolist() == [0]
    assert outcome.nodes.tolist() == [1]


def test_an_unknown_engine_is_refused(engine):
    with pytest.raises(InputError, match=f"no engine is called 'x{engine}'; there is: .*dlx"):
        get_engine(f"x{engine}")
