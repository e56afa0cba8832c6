import pickle

import numpy as np
import pytest
from conftest import problems
from hypothesis import given
from oracles import covers
from scipy import sparse

from batchsolve import ExactCover, ProblemError, Sudoku


def test_from_options_orders_items_by_first_use():
    problem = ExactCover.from_options([["b", "s"], ["a"]], secondary=["s"])
    assert problem.item_names == ("b", "a", "s")
    assert (problem.n_items, problem.n_primary, problem.n_options) == (3, 2, 2)
    assert problem.option(0).tolist() == [0, 2]
    assert problem.option_name(0) == "b s"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ExactCover([0, 2], [1, 1], 2), "option 0 names item 1 twice"),
        (lambda: ExactCover([0, 1, 1], [0], 2), "option 1 is empty"),
        (lambda: ExactCover([0, 1, 2], [0, 2], 2), r"option 1 has item 2; items lie in 0 \.\. 1"),
        (lambda: ExactCover([0, 1], [-1], 2), "option 0 has item -1"),
        (lambda: ExactCover([0, 3], [0, 1], 2), "indptr must begin with 0 and end with"),
        (lambda: ExactCover([0, 1], [0], 1, 2), "n_primary must lie in"),
        (lambda: ExactCover([0, 1], [0.5], 1), "indices must hold whole numbers"),
        (lambda: ExactCover([0, 1], [0], 1, item_names=["a", "b"]), "2 item names for 1 items"),
        (lambda: ExactCover.from_options([["a"], []]), "option 1 is empty"),
        (lambda: ExactCover.from_options([["a", "a"]]), "option 0 names item a twice"),
        (lambda: ExactCover.from_options([["a", "z"]], ["a"]), "option 0 names the unknown item"),
        (lambda: ExactCover.from_options([["a"]], ["a"], ["a"]), "item 'a' is declared twice"),
        (lambda: ExactCover.from_matrix([[2]]), "holds 0 and 1 only"),
        (lambda: ExactCover.from_matrix([1, 0]), "a matrix has 2 dimensions"),
        (lambda: ExactCover.from_matrix([[1]], secondary=[1]), "secondary columns must lie in"),
        (lambda: Sudoku(16, 16), "a box of 16×16 gives 256 digits"),
    ],
)
def test_bad_problems_are_refused(build, message):
    with pytest.raises(ProblemError, match=message):
        build()


def test_dense_and_sparse_matrices_build_the_same_problem():
    matrix = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]])
    dense = ExactCover.from_matrix(matrix, secondary=[0])
    assert dense.fingerprint == ExactCover.from_matrix(sparse.coo_array(matrix), [0]).fingerprint
    assert dense.item_names == ("1", "2", "0")
    assert dense.n_primary == 2
    assert covers(dense) == {frozenset({0, 1})}


def test_fingerprint_depends_on_structure_only():
    one = ExactCover([0, 1, 2], [0, 1], 2)
    assert one.fingerprint == ExactCover([0, 1, 2], [0, 1], 2, item_names="ab").fingerprint
    assert one.fingerprint != ExactCover([0, 1, 2], [0, 1], 2, n_primary=1).fingerprint
    assert one.fingerprint != ExactCover([0, 1, 2], [1, 0], 2).fingerprint


@given(problem=problems())
def test_verify_accepts_exactly_the_covers(problem):
    found = covers(problem)
    for cover in found:
        problem.verify(cover)
    subsets = [frozenset({o}) for o in range(problem.n_options)]
    for subset in subsets:
        if subset not in found and problem.n_primary:
            with pytest.raises(ProblemError, match="not a cover"):
                problem.verify(subset)


def test_verify_says_what_is_wrong():
    problem = ExactCover.from_options([["a", "b"], ["b"]])
    with pytest.raises(ProblemError, match="options 0 and 1 both cover item b"):
        problem.verify([0, 1])
    with pytest.raises(ProblemError, match="item a is in none"):
        problem.verify([1])
    with pytest.raises(ProblemError, match="option 2 is not in"):
        problem.verify([2])


def test_sudoku_items_and_options_are_named_like_cells():
    problem = Sudoku(2, 3)
    option = (3 * 6 + 4) * 6 + 1
    assert problem.option_name(option) == "r4c5#2"
    names = [problem.item_name(int(i)) for i in problem.option(option)]
    assert names == ["r4c5", "r4#2", "c5#2", "b4#2"]


def test_arrays_are_read_only_also_in_a_worker_that_a_problem_was_sent_to():
    problem = ExactCover([0, 2], [0, 1], 2, 1, colors=[0, 1], bounds=[[0, 1]], costs=[5])
    for each in (problem, pickle.loads(pickle.dumps(problem))):
        arrays = (each.indptr, each.indices, each.colors, each.bounds, each.costs)
        assert not any(array.flags.writeable for array in arrays)
