"""Canonical forms: against trying all symmetries, and against published counts."""

from math import factorial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import PUZZLE, SOLVED as LEAST
from hypothesis import given, settings, strategies as st
from oracles import canonical_form, lines_in_all_orders, shuffled, solved

import batchsolve as bs
from batchsolve.core import native
from batchsolve.problems import grid_symmetries as symmetric_grids

# Grids that are their own canonical forms: the one with the most symmetries (Russell, Jarvis
# 2006), the least, and the greatest, which has 72 symmetries (Red Ed, Sudoku Players' Forum,
# 2007).
MOST_CANONICAL = "123456789456789123789123456231564897564897231897231564312645978645978312978312645"
GREATEST = "123456789457893612986217354274538196531964827698721435342685971715349268869172543"


def applied(forms, k, square):
    """Apply the transformation that was found to a grid, in labels of the form."""
    moved = (square.T if forms.transposed[k] else square)[forms.rows[k]][:, forms.columns[k]]
    labels = {0: 0}
    return [labels.setdefault(digit, len(labels)) for digit in moved.reshape(-1).tolist()]


def grids_of(box_rows, box_columns, stack=()):
    problem = bs.Sudoku(box_rows, box_columns)
    covers = [cover.tolist() for cover in bs.solutions(problem, stack)]
    return problem.grids(bs.Stacks.from_lists(covers))


@st.composite
def puzzles(draw, box_rows, box_columns):
    """Draw puzzles with every number of clues, many of them symmetric."""
    n = box_rows * box_columns
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    square = shuffled(solved(box_rows, box_columns), box_rows, box_columns, rng)
    kept = draw(st.sampled_from(["cells", "digits", "rows", "boxes"]))
    share = draw(st.floats(0, 1))
    if kept == "digits":
        square = square * np.isin(square, np.flatnonzero(rng.random(n + 1) < share))
    elif kept == "rows":
        square = square * (rng.random((n, 1)) < share)
    elif kept == "boxes":
        boxes = rng.random((box_columns, box_rows)) < share
        square = square * np.kron(boxes, np.ones((box_rows, box_columns), int))
    else:
        square = square * (rng.random((n, n)) < share)
    return square


def check_form(square, box):
    forms = bs.canonical_forms(square.reshape(1, -1), bs.Sudoku(*box))
    least, ways = canonical_form(square, *box)
    assert tuple(forms.grids[0].tolist()) == least
    assert forms.symmetries[0] == ways


@given(st.one_of(puzzles(2, 2), puzzles(1, 3), puzzles(3, 1), puzzles(1, 4)))
def test_small_puzzles_have_the_least_of_all_forms(square):
    n = len(square)
    for box in [(rows, n // rows) for rows in (1, 2, 3) if n % rows == 0]:
        if bs.Sudoku(*box).first_clashes(square.reshape(1, -1).astype(np.uint8))[0] < 0:
            check_form(square, box)


@settings(max_examples=6)
@given(puzzles(2, 3))
def test_6x6_puzzles_have_the_least_of_all_forms(square):
    check_form(square, (2, 3))


@pytest.mark.parametrize("box", [(3, 3), (2, 4), (3, 2), (3, 4), (4, 4), (1, 7)])
def test_a_form_does_not_depend_on_the_puzzle_that_it_is_made_of(box):
    problem = bs.Sudoku(*box)
    n = problem.n_digits

    @settings(max_examples=15)
    @given(puzzles(*box), st.integers(0, 2**32))
    def check(square, seed):
        rng = np.random.default_rng(seed)
        others = [square] + [shuffled(square, *box, rng) for _ in range(3)]
        forms = bs.canonical_forms(np.array(others), problem)
        assert (forms.grids == forms.grids[0]).all()
        assert (forms.symmetries == forms.symmetries[0]).all()
        assert forms.symmetries[0] > 0
        for k, other in enumerate(others):
            assert applied(forms, k, other) == forms.grids[k].tolist()
        assert (bs.canonical_forms(forms.grids[:1], problem).grids[0] == forms.grids[0]).all()
        assert forms.grids[0].tolist() <= min(other.reshape(n * n).tolist() for other in others)

    check()


def test_all_4x4_grids_are_of_two_classes():
    forms = bs.canonical_forms(grids_of(2, 2), bs.Sudoku(2, 2))
    _, first, sizes = np.unique(forms.grids, axis=0, return_index=True, return_counts=True)
    assert sorted(sizes.tolist()) == [96, 192]
    group = 2 * (2 * 2**2) ** 2 * factorial(4)
    assert sorted((group // forms.symmetries[first]).tolist()) == [96, 192]


def test_all_6x6_grids_are_of_as_many_classes_as_their_symmetries_say():
    # one grid in 6! has 123456 as its first row; the others differ from it only in labels
    grids = grids_of(2, 3, [cell * 6 + cell for cell in range(6)])
    assert len(grids) == 28_200_960 // factorial(6)
    forms = bs.canonical_forms(grids, bs.Sudoku(2, 3))
    _, first = np.unique(forms.grids, axis=0, return_index=True)
    assert len(first) == 49
    group = (factorial(3) * 2**3) * (2 * 6**2) * factorial(6)
    assert (group // forms.symmetries[first]).sum() == 28_200_960
    assert (group % forms.symmetries[first] == 0).all()


def test_known_grids_have_the_forms_and_symmetries_that_others_found():
    problem = bs.Sudoku(3, 3)
    grids = np.array([problem.parse(grid) for grid in (MOST_CANONICAL, LEAST, GREATEST)])
    forms = bs.canonical_forms(grids, problem)
    assert (forms.grids == grids).all()
    assert forms.symmetries.tolist() == [648, 3, 72]


def test_grids_are_looked_up_in_a_table_that_the_search_agrees_with():
    problem = bs.Sudoku(3, 3)
    rng = np.random.default_rng(3)
    clues = np.zeros((40, 81), np.uint8)
    for clue in clues:
        clue[rng.permutation(81)[:2]] = rng.permutation(9)[:2] + 1
    grids = bs.solve_batch(clues, limit=1).solutions
    grids = np.concatenate([grids, problem.parse(MOST_CANONICAL)[None]])
    assert grids.all()
    forms = bs.canonical_forms(grids, problem)
    searched, symmetries, *_ = native.canonical_forms(grids, 3, 3, 10_000, False)
    assert (searched == forms.grids).all()
    assert (symmetries == forms.symmetries).all()


@pytest.mark.parametrize("clues", [{0: 5, 8: 5}, {0: 5, 72: 5}, {0: 5, 10: 5}, {80: 10}])
def test_the_core_takes_no_grids_that_break_rules(clues):
    grid = np.zeros((1, 81), np.uint8)
    grid[0, list(clues)] = list(clues.values())
    for by_table in (False, True):
        with pytest.raises(ValueError, match="clues of a grid clash"):
            native.canonical_forms(grid, 3, 3, 1000, by_table)


def test_forms_of_grids_and_of_puzzles_stand_where_they_belong():
    problem = bs.Sudoku(3, 3)
    grid = problem.parse(MOST_CANONICAL)
    mixed = np.array([grid * 0, grid, grid * (grid == 9), grid])
    forms = bs.canonical_forms(mixed, problem)
    assert forms.symmetries.tolist() == [3_359_232, 648, 72, 648]
    assert forms.grids.astype(bool).sum(axis=1).tolist() == [0, 81, 9, 81]
    assert bs.canonical_forms(mixed[:0], problem).grids.shape == (0, 81)


def test_an_empty_grid_has_all_symmetries_that_there_are():
    columns, rows = (len(list(lines_in_all_orders(6, size))) for size in (3, 2))
    empty = {(2, 3): rows * columns, (3, 2): rows * columns, (4, 4): 2 * 24**10}
    for box, symmetries in empty.items():
        forms = bs.canonical_forms(np.zeros((1, (box[0] * box[1]) ** 2), int), bs.Sudoku(*box))
        assert forms.symmetries.tolist() == [symmetries]
        assert not forms.grids.any()


def test_a_search_without_room_finds_no_form(monkeypatch):
    monkeypatch.setattr(symmetric_grids, "MOST_STATES", 20)
    problem, pattern = bs.Sudoku(2, 4), solved(2, 4)
    forms = bs.canonical_forms(np.array([pattern, pattern * 0]), problem)
    assert forms.found.tolist() == [False, True]
    assert not forms.grids[0].any()
    with pytest.raises(bs.InputError, match="no canonical form: more than"):
        bs.canonical("".join(map(str, pattern.reshape(-1).tolist())), box=(2, 4))


@pytest.mark.parametrize("make", [np.array, pa.array, pd.Series, pl.Series, iter])
@pytest.mark.parametrize("form", ["texts", "digits"])
def test_grids_may_come_in_columns(make, form):
    puzzles = [PUZZLE, PUZZLE[::-1], "." * 16]
    digits = [[int(digit) for digit in puzzle.replace(".", "0")] for puzzle in puzzles]
    forms = bs.canonical_forms(make(puzzles if form == "texts" else digits))
    assert forms.grids.tolist() == bs.canonical_forms(digits).grids.tolist()


def test_one_puzzle_is_written_as_it_was_read():
    assert bs.canonical("1?????2??3?????4", blank="?") == "???1?2????3?4???"
    assert bs.canonical("D.....A..B.....C", alphabet="A-D") == "...A.B....C.D..."
