"""`solve_batch` with a problem for each grid."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from oracles import grids_by_rules

import batchsolve as bs
from batchsolve.problems.rules import Cage, Rules, named, plain, regions_of
from batchsolve.problems.sudoku import Variant
from batchsolve.runs import solve as solving

PLAIN = plain(2, 2)
LAYOUTS = ["AAABACBBCCBDCDDD", "AABBAABBCCDDCCDD", "ABBBAABDACDDCCCD"]
JIGSAWS = [Rules.square(4, regions_of(list(text), 4)) for text in LAYOUTS]
KINDS = [
    PLAIN,
    PLAIN + named("x", 2, 2),
    PLAIN + Rules(4, PLAIN.places, (), cages=(Cage((0, 1), 5),)),
    *JIGSAWS,
    Rules.square(4, regions_of(list("AAAABBBBCCCCDDDD"), 4)),  # its regions are its rows
    *(rules + named("antiking", 2, 2) for rules in JIGSAWS[:1]),
]


@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=12),
    clues=st.lists(st.tuples(st.integers(0, 15), st.integers(1, 4)), min_size=12, max_size=12),
    engine=st.sampled_from(["auto", "dlx"]),
    jobs=st.sampled_from([1, 2]),
    block=st.sampled_from([48, 10**6]),
)
def test_each_grid_is_solved_by_its_own_problem(kinds, clues, engine, jobs, block):
    grids = np.zeros((len(kinds), 16), np.uint8)
    for grid, (cell, digit) in zip(grids, clues, strict=False):
        grid[cell] = digit
    problems = [Variant(rules) for rules in kinds]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solving, "BLOCK_CELLS", block)
        found = bs.solve_batch(grids, problems, limit=400, engine=engine, jobs=jobs)
    for k, rules in enumerate(kinds):
        solutions = grids_by_rules(rules, grids[k].tolist())
        assert found.n_solutions[k] == len(solutions)
        if solutions:
            assert tuple(found.solutions[k].tolist()) in solutions


def test_a_sudoku_for_each_grid():
    grids = np.zeros((3, 36), np.uint8)
    grids[:, [0, 8]] = 1, 1  # in one box of 2×3, and in two of 3×2
    found = bs.solve_batch(grids, [bs.Sudoku(2, 3), bs.Sudoku(3, 2), bs.Sudoku(2, 3)], engine="dlx")
    assert found.status.tolist() == ["invalid", "multiple", "invalid"]
    assert list(found.messages) == [0, 2]
