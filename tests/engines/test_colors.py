"""Colours of secondary items: the oracle, and what tells problems apart."""

import numpy as np
from conftest import problems
from hypothesis import given
from oracles import bounded_covers, covers

import batchsolve as bs


@given(problem=problems(5, 9, 2))
def test_the_oracle_finds_the_covers_of_the_definition(problem):
    assert covers(problem) == bounded_covers(problem)


ARRAYS = ([0, 2, 4], [0, 2, 1, 2], 3, 2)


def test_only_the_pattern_of_colours_is_in_the_fingerprint():
    plain = bs.ExactCover(*ARRAYS)
    assert bs.ExactCover(*ARRAYS, colors=[0, 0, 0, 0]).fingerprint == plain.fingerprint
    one = bs.ExactCover(*ARRAYS, colors=[0, 3, 0, 3])
    assert (one.n_colors, one.color_name(3), one.colors.dtype) == (1, "3", np.uint32)
    again = bs.ExactCover(*ARRAYS, colors=[0, 1, 0, 1], color_names=["red"])
    assert (again.fingerprint, again.option_name(0)) == (one.fingerprint, "0 2:red")
    other = bs.ExactCover(*ARRAYS, colors=[0, 2, 0, 1])
    assert len({p.fingerprint for p in (plain, one, other)}) == 3
    assert "n_colors=2" in repr(other)
    assert "colors" not in repr(plain)
