"""First clashes of clues, against a set of covered items, and regions of the wrong size."""

import numpy as np
import pytest

import batchsolve as bs
from batchsolve.problems.rules import OwnRules, Rules, plain
from batchsolve.problems.sudoku import Variants


def first_clash(problem, grid):
    covered = set()
    for position, cell in enumerate(np.flatnonzero(grid).tolist()):
        if grid[cell] > problem.n_digits:
            return position
        items = set(problem.option(cell * problem.n_digits + int(grid[cell]) - 1).tolist())
        if covered & items:
            return position
        covered |= items
    return -1


BOXES = [(1, 1), (2, 2), (2, 3), (3, 3), (1, 7), (8, 8), (5, 13)]
OTHERS = [bs.grid_problem(n, rules="x+antiking") for n in (4, 9, 36)]


@pytest.mark.parametrize("problem", [*(bs.Sudoku(*box) for box in BOXES), *OTHERS], ids=repr)
def test_first_clashes_are_those_of_sets_of_items(problem):
    rng = np.random.default_rng(0)
    n, size = problem.n_digits, (60 if problem.n_digits < 20 else 4, problem.n_cells)
    is_clue = rng.random(size) < rng.random((size[0], 1)) ** 3
    grids = (rng.integers(1, n + 2, size) * is_clue).astype(np.uint8)
    found = problem.first_clashes(grids).tolist()
    assert found == [first_clash(problem, grid) for grid in grids]
    assert problem.first_clashes(grids[:0]).tolist() == []
    if n in (6, 9):
        assert {-1, 1, 2, 3} <= {*found}


CHANGED = [(5, 2, "region 1 has 3"), (14, 2, "region 2 has 5"), (15, 200, "region 3 has 3")]


@pytest.mark.parametrize(("cell", "region", "what"), CHANGED)
def test_a_region_of_the_wrong_size_is_named(cell, region, what):
    square = plain(2, 2)
    shared = Rules(4, square.places, square.houses[:8])
    regions = np.tile(np.repeat(np.arange(4, dtype=np.uint8), 4), (3, 1))
    given = OwnRules.blank(3)._replace(regions=regions)
    assert len(Variants(shared, given)) == 3
    regions[1, cell] = region
    with pytest.raises(bs.ProblemError, match=f"row 1: {what} cells; each region has 4"):
        Variants(shared, given)


@pytest.mark.parametrize("rules", [None, "x"])
def test_two_digits_in_a_cell_are_both_named(rules):
    problem = bs.grid_problem(4, rules=rules)
    assert problem.explain_clash([0, 1], 1) == "digits 1 and 2 in one cell: row 1, column 1"


def test_the_first_clue_that_another_clashes_with_is_named():
    grid = np.zeros(16, np.uint8)
    grid[[2, 9, 10]] = 1  # the last is in the column of the first, and in the row of the second
    problem = bs.Sudoku(2, 2)
    stack = problem.stack(grid).tolist()
    what = "digit 1 twice in a column: row 1, column 3 and row 3, column 3"
    assert problem.explain_clash(stack, 2) == what
