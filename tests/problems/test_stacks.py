import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

from batchsolve import ExactCover, InputError, ProblemError, Stacks, Sudoku, split
from batchsolve.problems.grids import SolvedGrids

PROBLEM = Sudoku(2, 2)
lists = st.lists(st.lists(st.integers(0, PROBLEM.n_options - 1), max_size=5), max_size=6)


def as_lists(stacks):
    return [stack.tolist() for stack in stacks], stacks.roots.tolist()


@given(rows=lists, base=st.integers(-5, 2**40))
def test_json_lines_give_the_stacks_back(rows, base):
    stacks = Stacks.from_lists(rows, np.arange(len(rows)) + base)
    assert as_lists(Stacks.from_jsonl(stacks.to_jsonl(PROBLEM), PROBLEM)) == as_lists(stacks)


TEXT, OTHER = Stacks.from_lists([[1]]).to_jsonl(PROBLEM), Sudoku(1, 4)
OLDER = TEXT.replace('"version": 3', '"version": 2')
DAMAGED = "damaged: the file was changed after it was written"


REFUSED = [
    (TEXT, OTHER, "belong to another problem"),
    (TEXT + '{"root": 1, "stack": []}\n', PROBLEM, DAMAGED),
    (TEXT.replace(PROBLEM.fingerprint, "0"), OTHER, DAMAGED),
    (TEXT.replace("[1]", "[2]"), OTHER, DAMAGED),
    (OLDER, PROBLEM, "another version of batchsolve .*split again"),
    ("{}", PROBLEM, "line 1: expected the header"),
]


@pytest.mark.parametrize(("text", "problem", "message"), REFUSED)
def test_damaged_and_foreign_stacks_are_refused(text, problem, message):
    with pytest.raises(InputError, match=message):
        Stacks.from_jsonl(text, problem)


def test_an_option_that_does_not_exist_is_refused():
    text = Stacks.from_lists([[PROBLEM.n_options]]).to_jsonl(PROBLEM)
    with pytest.raises(ProblemError, match=r"option \d+ does not exist"):
        Stacks.from_jsonl(text, PROBLEM).check(PROBLEM)


@given(rows=lists, data=st.data())
def test_take_and_concatenate_are_list_operations(rows, data):
    stacks = Stacks.from_lists(rows)
    places = data.draw(st.lists(st.integers(0, max(0, len(rows) - 1)), max_size=8 * bool(rows)))
    taken = stacks.take(places)
    assert as_lists(taken) == ([rows[p] for p in places], places)
    both = Stacks.concatenate([stacks, taken])
    assert as_lists(both) == (rows + [rows[p] for p in places], [*range(len(rows)), *places])
    assert as_lists(stacks.take(np.arange(len(rows)) % 2 == 0))[0] == rows[::2]


def test_places_count_as_in_a_list():
    stacks = Stacks.from_lists([[1], [2, 3], []])
    assert [stacks[k].tolist() for k in (0, -1, -2)] == [[1], [], [2, 3]]
    assert as_lists(stacks[1:]) == ([[2, 3], []], [1, 2])
    for k in (3, -4):
        with pytest.raises(IndexError):
            stacks[k]


@pytest.mark.parametrize("depth", range(7))
def test_a_split_and_its_parts_add_up(depth):
    whole = split(PROBLEM, depth=100)
    parts = split(PROBLEM, depth=depth)
    assert whole.count == 288
    assert len(whole.stacks) == 0
    assert all(len(stack) == depth for stack in parts.stacks)
    rest = [split(PROBLEM, stack, depth=100) for stack in parts.stacks]
    assert parts.count + sum(part.count for part in rest) == whole.count
    assert parts.nodes + sum(part.nodes for part in rest) == whole.nodes


def test_grids_of_stacks_need_only_the_options_between_the_offsets():
    stacks = Stacks(np.array([1, 2, 3]), np.array([9, 5, 63, 4], np.uint32), np.array([0, 1]))
    grids = PROBLEM.grids(stacks)
    assert np.argwhere(grids).tolist() == [[0, 1], [1, 15]]
    assert grids[grids > 0].tolist() == [2, 4]


def test_solved_grids_are_stacks_of_their_options():
    solutions = [[1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 4, 3, 4, 3, 2, 1]] * 2
    solutions[1] = [5 - digit for digit in solutions[0]]
    problem, grids = Sudoku(2, 2), np.array(solutions, np.uint8)
    plain = problem.stacks(grids).with_roots([3, 5])
    solved = SolvedGrids(problem, grids, np.array([3, 5]))
    sent = pickle.loads(pickle.dumps(solved))
    for stacks in (solved, sent, solved.take([0, 1]), Stacks.concatenate([solved])):
        assert stacks.to_jsonl(problem) == plain.to_jsonl(problem)
        assert problem.grids(stacks).tolist() == grids.tolist()
    assert solved.between(1, 2)[0].tolist() == plain[1].tolist()
    assert [cover.tolist() for cover in solved] == [cover.tolist() for cover in plain]
    for which in ([1], np.array([True, True]), np.array([False, True])):
        assert solved.take(which).to_jsonl(problem) == plain.take(which).to_jsonl(problem)


BRANCHED = Stacks.from_lists([[5], [], [2, 5]], [0, 0, 3], [[1, 0, 4], [0, 0, 0], [2, 6, 7]])


def test_branches_stay_with_their_stacks():
    assert BRANCHED.has_branch.tolist() == [True, False, True]
    assert [BRANCHED.first_path(k) for k in range(3)] == [[5, 0], [], [2, 5, 6]]
    assert BRANCHED.take([2, 1]).branches.tolist() == [[2, 6, 7], [0, 0, 0]]
    assert BRANCHED.between(1, 3).branches.tolist() == [[0, 0, 0], [2, 6, 7]]
    assert BRANCHED.with_roots([7, 8, 9]).branches is BRANCHED.branches
    plain = Stacks.from_lists([[1]])
    both = Stacks.concatenate([plain, BRANCHED])
    assert both.branches.tolist() == [[0, 0, 0], [1, 0, 4], [0, 0, 0], [2, 6, 7]]
    assert not Stacks.concatenate([plain, plain]).branches.size
    other = Stacks.from_lists([[5], [], [2, 5]], [0, 0, 3], [[1, 0, 4], [0, 0, 0], [2, 6, 8]])
    unlike = Stacks.from_lists([[5], [], [2, 5]], [0, 0, 3])
    assert len({one.fingerprint for one in (BRANCHED, other, unlike)}) == 3


def test_branches_are_written_and_read():
    problem = ExactCover.from_options([["a", "b"], ["a"], ["b"], ["c"]], ["a", "b", "c"])
    stacks = Stacks.from_lists([[3], [1]], [0, 0], [[1, 0, 2], [0, 0, 0]])
    text = stacks.to_jsonl(problem)
    assert '"branch": [1, 0, 2]' in text
    again = Stacks.from_jsonl(text, problem)
    assert again.fingerprint == stacks.fingerprint
    assert again.branches.tolist() == [[1, 0, 2], [0, 0, 0]]
    again.check(problem)
    for branch in ([1, 0, 2], [2, 2, 1], [2, 0, 5], [9, 0, 2]):  # of four options and three items
        with pytest.raises(ProblemError, match="no branch of the stack"):
            Stacks.from_lists([[1]], branches=[branch]).check(problem)
    Stacks.from_lists([[1]], branches=[[2, 0, 4]]).check(problem)
