import copy
import pickle

import numpy as np
import pytest
from conftest import changed, coloured_problems, n_covers, problems, problems_with_costs
from hypothesis import given, strategies as st
from oracles import covers
from scipy import sparse

import batchsolve as bs
from batchsolve import ExactCover, ProblemError, Sudoku
from batchsolve.engines import get_engine
from batchsolve.formats import exact_cover_files as files


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


@given(problem=problems() | coloured_problems())
def test_verify_accepts_exactly_the_covers(problem):
    found = covers(problem)
    for cover in found:
        problem.verify(cover)
    for o in range(problem.n_options):
        if {o} not in found and problem.n_primary:
            with pytest.raises(ProblemError, match="not a cover"):
                problem.verify([o])


# The small example in Knuth's section on colours: items p q r | x y.
TOY = ExactCover.from_options(
    [["p", "q", "x", "y"], ["p", "r", "x", "y"], ["p", "x"], ["q", "x"], ["r", "y"]],
    secondary=["x", "y"],
    colors=[{"y": "A"}, {"x": "A"}, {"x": "B"}, {"x": "A"}, {"y": "B"}],
)
PLAIN = ExactCover.from_options([["a", "b"], ["b"]])
ONLY_COLOURS = ExactCover([0, 1, 2], [0, 0], 1, 0, colors=[1, 1])
TWICE = ExactCover([0, 1, 2, 3], [0, 0, 0], 1, item_names=["a"], bounds=[[2, 2]])
verify, check_stack = ExactCover.verify, ExactCover.check_stack
NO_COVERS = [
    (verify, PLAIN, [0, 1], "options 0 and 1 both cover item b"),
    (verify, PLAIN, [1], "item a is in none"),
    (verify, PLAIN, [2], "option 2 is not in"),
    (verify, TOY, [2, 3], "both cover item x, and not in the same"),
    (verify, ONLY_COLOURS, [1, 0, 0], "option 0 is there twice"),
    (verify, TWICE, [1], "item a is in 1 option, fewer than 2"),
    (verify, TWICE, [0, 1, 2], "item a is in options 0, 1 and 2, more than 2"),
    (check_stack, TOY, (2, 3), "^not a partial cover: options 2 and 3 both cover item x, and "),
    (check_stack, ONLY_COLOURS, [1, 0, 0], "option 0 is there twice"),
    (check_stack, TWICE, [1, 4], "option 1 is decided twice"),
    (check_stack, TWICE, [6], "option 6 does not exist"),
    (check_stack, TWICE, [0, 1, 2], "item a is in options 0, 1 and 2, more than 2"),
]


@pytest.mark.parametrize(("check", "problem", "options", "message"), NO_COVERS)
def test_what_is_wrong_with_a_cover_is_said(check, problem, options, message):
    with pytest.raises(ProblemError, match=message):
        check(problem, options)


COVERS = [(TOY, [1, 3]), (ONLY_COLOURS, [0, 1]), (TWICE, [0, 2])]


@pytest.mark.parametrize(("problem", "cover"), COVERS)
def test_options_may_share_an_item_in_one_colour_and_within_bounds(problem, cover):
    problem.check_stack(cover)
    problem.verify(cover)


def test_sudoku_items_and_options_are_named_like_cells():
    problem = Sudoku(2, 3)
    option = (3 * 6 + 4) * 6 + 1
    assert problem.option_name(option) == "r4c5#2"
    names = [problem.item_name(int(i)) for i in problem.option(option)]
    assert names == ["r4c5", "r4#2", "c5#2", "b4#2"]


GAPS = {
    "matrix": lambda: ExactCover.from_matrix([[1, 0], [0, 0], [0, 1], [0, 0]]),
    "sparse": lambda: ExactCover.from_matrix(sparse.csr_matrix([[1, 0], [0, 0], [0, 1], [0, 0]])),
    "json": lambda: files.read_json('{"options": [["a"], [], ["b"], []]}'),
    "sets": lambda: files.read_sets("2 4\n1 1\n0\n1 2\n0\n"),
    "ec": lambda: files.read_ec("p ec 2\ns 1\ns\ns 2\ns\n"),
}


@pytest.mark.parametrize("form", GAPS)
def test_options_without_items_are_in_no_cover_and_keep_their_numbers(form, caplog):
    problem = GAPS[form]()
    assert (problem.n_options, problem.n_primary) == (4, 2)
    assert [sorted(cover.tolist()) for cover in bs.solutions(problem)] == [[0, 2]]
    assert caplog.messages == ["2 options without items (the first is option 1): in no cover"]


def test_a_warning_is_given_once_in_a_loop_of_calls(caplog):
    for _ in range(3):
        GAPS["json"]()
        files.read_json('{"options": [[]]}')
        bs.count("steiner:7", up_to_symmetry=True)
    said = ["2 options without", "1 option without ", "no symmetries are"]
    assert [message[:17] for message in caplog.messages] == said


@given(problems(5, 8, 2) | problems_with_costs(), st.lists(st.integers(0, 8), max_size=3))
def test_engines_find_the_same_covers_beside_options_without_items(problem, gaps):
    gaps = sorted(min(gap, problem.n_options) for gap in gaps)
    indptr = np.insert(problem.indptr, [gap + 1 for gap in gaps], problem.indptr[gaps])
    costs = None if problem.costs is None else np.insert(problem.costs, gaps, 0)
    wider = changed(problem, indptr=np.sort(indptr), costs=costs)
    kept = np.delete(np.arange(wider.n_options), np.flatnonzero(np.diff(np.sort(indptr)) == 0))
    for name in ("dlx", "bits", "memo", "auto"):
        can = None if name == "auto" else get_engine(name)
        if can and problem.bounds is not None and not can.bounds:
            continue
        assert bs.count(wider, engine=name).count == n_covers(problem), name
    found = {tuple(sorted(cover.tolist())) for cover in bs.solutions(wider)}
    assert found == {tuple(kept[sorted(c.tolist())]) for c in bs.solutions(problem)}
    assert bs.solution_graph(wider).count == len(found)


def test_a_problem_with_options_without_items_is_read_as_it_was_written():
    problem = GAPS["json"]()
    assert files.read_json(files.write_json(problem)).fingerprint == problem.fingerprint
    assert files.write_dlx(problem) == "a b | (none)\na\n(none)\nb\n(none)\n"


@pytest.mark.parametrize("matrix", [[[1, 0], [0, 1]], np.eye(2, dtype=int), sparse.eye(2)])
@pytest.mark.parametrize("ask", [bs.count, bs.estimate])
def test_a_matrix_is_no_problem_until_it_is_made_one(ask, matrix):
    with pytest.raises(bs.InputError, match=r"make one by ExactCover\.from_matrix"):
        ask(matrix)


WITH_ALL = ExactCover([0, 2], [0, 1], 2, 1, colors=[0, 1], bounds=[[0, 1]], costs=[5])
OF_EACH_CLASS = [WITH_ALL, Sudoku(2, 2), bs.Variant(Sudoku(2, 2).rules)]


@pytest.mark.parametrize("send", [lambda x: x, copy.copy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("problem", OF_EACH_CLASS, ids=lambda problem: type(problem).__name__)
def test_problems_stay_as_they_were_made(problem, send):
    problem = send(problem)
    count = bs.count(problem).count
    arrays = ["indptr", "indices", "colors", "bounds", "costs"]
    others = "n_items n_primary item_names option_names color_names n_digits rules"
    for name in (*arrays, *others.split()):
        with pytest.raises(AttributeError, match=f"^{name} of .* cannot be set: a problem stays"):
            setattr(problem, name, 10**9)
    each = [getattr(problem, name) for name in arrays]
    assert not any(array.flags.writeable for array in each if array is not None)
    assert bs.count(problem).count == count


def test_arrays_of_a_problem_are_copies():
    arrays = np.array([0, 1, 2]), np.array([0, 1])
    bounds, costs = np.array([[1, 2], [1, 1]]), np.array([3, 4])
    problem = ExactCover(*arrays, 2, bounds=bounds, costs=costs)
    for array in (*arrays, bounds, costs):
        array[:] = 0
    assert (problem.indptr.tolist(), problem.costs.tolist()) == ([0, 1, 2], [3, 4])
    assert problem.bounds.tolist() == [[1, 2], [1, 1]]
