"""Masked arrays: the data below a mask are never read as values."""

import numpy as np
import pytest

import batchsolve as bs

SOLVED = np.array([int(c) for c in "1243342143122134"])
MASK = np.arange(16) > 1  # the cells left, 1 and 2, leave several solutions
PUZZLE = np.where(MASK, 0, SOLVED)


FLAT = np.ma.array(SOLVED, mask=MASK)
SQUARE = FLAT.reshape(4, 4)


@pytest.mark.parametrize("grids", [FLAT[None], SQUARE[None], [FLAT], [SQUARE]], ids=range(4))
def test_masked_cells_are_blank(grids):
    sudoku = bs.Sudoku(2, 2)
    assert bs.solve_batch(grids).status.tolist() == ["multiple"]
    assert sudoku.as_grids(grids).tolist() == [PUZZLE.tolist()]
    assert sudoku.stack(grids[0]).tolist() == sudoku.stack(PUZZLE).tolist()
    assert sudoku.format(grids[0]) == sudoku.format(PUZZLE)
    forms = bs.canonical_forms(grids, sudoku)
    assert forms.grids.tolist() == bs.canonical_forms([PUZZLE], sudoku).grids.tolist()


def test_a_masked_text_is_no_puzzle():
    texts = np.ma.array(["1.....2..3.....4"] * 2, mask=[False, True])
    assert bs.solve_batch(texts).status.tolist() == ["unique", "invalid"]


def test_an_array_without_a_masked_value_is_one():
    assert bs.ExactCover.from_matrix(np.ma.array([[1, 0], [0, 1]], mask=False)).n_options == 2
