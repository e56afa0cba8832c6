"""Random images of puzzles: against all images, found by trying all symmetries."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from oracles import chi_square, moved_in_all_ways, solved
from test_canonical import puzzles

import batchsolve as bs
from batchsolve.problems.grid_symmetries import ALL_LABELS, NO_LABELS, REVERSED, group_of, images_of
from batchsolve.problems.rules import NAMED, Cage, named, plain

ONE = np.array([1])


def orbit(square, box_rows, box_columns):
    """Return all images of a grid, as tuples, by trying all symmetries."""
    orders = [np.array((0, *digits)) for digits in permutations(range(1, len(square) + 1))]
    moved = moved_in_all_ways(square, box_rows, box_columns)
    return {tuple(order[grid].tolist()) for grid in moved for order in orders}


def drawn(problem, grids, n, seed=0, solutions=None, numbers=None, **how):
    grids = np.asarray(grids, np.uint8).reshape(-1, problem.n_cells)
    solutions = grids[:, :0] if solutions is None else np.asarray(solutions, np.uint8)
    numbers = np.arange(len(grids)) if numbers is None else numbers
    return images_of(group_of(problem), grids, solutions, numbers, n, seed, **how)


@settings(max_examples=25)
@given(
    st.sampled_from([(1, 2), (2, 1), (1, 3), (2, 2)]).flatmap(
        lambda box: st.tuples(st.just(box), puzzles(*box))
    ),
    st.integers(0, 2**128 - 1),
    st.booleans(),
)
def test_images_are_different_members_of_the_orbit(case, seed, original):
    box, square = case
    whole = orbit(square, *box)
    for n in (1, 5, len(whole), len(whole) + 3):
        _, images, _ = drawn(bs.Sudoku(*box), square, n, seed, original=original)
        found = list(map(tuple, images.tolist()))
        assert len(set(found)) == len(found) == min(n + original, len(whole))
        assert whole.issuperset(found)
        assert not original or found[0] == tuple(square.reshape(-1).tolist())


@pytest.mark.parametrize("box", [(3, 3), (2, 3), (3, 4), (4, 2), (1, 7), (4, 4)])
def test_images_have_the_same_form_and_their_solutions_solve_them(box):
    problem, rng = bs.Sudoku(*box), np.random.default_rng(3)
    solutions = np.array([solved(*box).reshape(-1)] * 3, np.uint8)
    grids = solutions * (rng.random(solutions.shape) < 0.5)
    sources, images, solved_images = drawn(problem, grids, 20, 5, solutions)
    assert sources.tolist() == np.repeat(range(3), 20).tolist()
    assert problem.check(images, solved_images).all()
    forms = bs.canonical_forms(np.concatenate([grids, images]), problem)
    assert (forms.grids[3:] == forms.grids[sources]).all()


def test_every_image_is_equally_likely():
    grid = np.zeros((1, 16), np.uint8)
    grid[0, [0, 5]] = 1, 2
    every = orbit(grid.reshape(4, 4), 2, 2)
    _, found, _ = drawn(bs.Sudoku(2, 2), np.repeat(grid, 60 * len(every), axis=0), 1, 12)
    assert abs(chi_square([*map(tuple, found.tolist())], every)) < 5


def test_images_depend_on_the_seed_the_number_and_the_row_alone():
    grids = (np.random.default_rng(1).random((40, 81)) < 0.01).astype(np.uint8)
    sources, whole, _ = drawn(bs.Sudoku(3, 3), grids, 3, 2**100)
    for k in (0, 7, 39):
        _, alone, _ = drawn(bs.Sudoku(3, 3), grids[k], 3, 2**100, numbers=np.array([k]))
        assert (alone == whole[sources == k]).all()
    first = [drawn(bs.Sudoku(3, 3), grids[0], 1, seed, numbers=ONE)[1] for seed in range(9)]
    assert len(np.unique(first, axis=0)) > 5


@pytest.mark.parametrize("rule", NAMED)
def test_groups_keep_named_rules(rule):
    problem = bs.Variant(plain(3, 3) + named(rule, 3, 3))
    group = group_of(problem)
    assert len(group.turns) == 8
    assert group.labels == (REVERSED if rule == "nonconsecutive" else ALL_LABELS)
    grid = problem.grids(bs.Stacks.from_lists([next(bs.solutions(problem)).tolist()]))
    _, images, _ = drawn(problem, np.repeat(grid, 3, axis=0), 5)
    assert len(images) == 15
    assert problem.follow_rules(images).all()


def test_groups_keep_regions_cages_and_layouts():
    assert len(group_of(bs.grid_problem(4, regions="AAAB ABBB CCCD CDDD")).turns) == 2
    band = bs.grid_problem(4, regions="AAAABBBBCCCCDDDD")
    assert len(group_of(band).turns) == 8  # the regions are the rows
    caged = bs.Variant(plain(2, 2) + bs.Rules(4, plain(2, 2).places, (), cages=(Cage((0, 1), 5),)))
    assert group_of(caged).labels == NO_LABELS
    assert group_of(caged).is_trivial
    less = bs.Rules(4, plain(2, 2).places, (), pairs=((0, 1, "less"),))
    assert group_of(bs.Variant(plain(2, 2) + less)).is_trivial
    assert len(group_of(bs.grid_problem(9, rules="samurai")).turns) == 8
    assert len(group_of(bs.grid_problem(6, (2, 3), "x")).turns) == 4  # not transposed


def test_wrong_digits_do_not_reach_the_kernel():
    with pytest.raises(ValueError, match="grids of other cells or digits than their group"):
        drawn(bs.Sudoku(2, 2), [5] * 16, 1)
