"""Problems that cannot be are refused in one message.

Other content of problem files is in tables/test_reading.py.
"""

import numpy as np
import pytest

import batchsolve as bs
from batchsolve import ExactCover, Rules, Stacks, Variant

TWO = "....##\n....##\n......\n......\n##....\n##...."
PLACE = ((0, 0),)
ONE, FIRST, stacks = np.array([0, 1]), np.array([1], np.uint32), Stacks.from_lists
UNFIT = r"^stacks of \(2,\) offsets, .* branches do not fit together"


def one(**parts):
    return ExactCover([0, 1], [0], 1, **parts)


def coloured(colors, names=None):
    return ExactCover([0, 2, 4], [0, 2, 1, 2], 3, 2, colors=colors, color_names=names)


def named(**parts):
    return ExactCover.from_options([["a"]], **parts)


def drawn(drawing, n=4):
    return bs.grid_problem(n, drawing=drawing)


def masked(values):
    array = np.ma.array(values)
    array[..., -1] = np.ma.masked
    return array


REFUSED = [
    (lambda: ExactCover([0, 2], [1, 1], 2), "option 0 names item 1 twice"),
    (lambda: ExactCover([0, 2, 1], [0], 2), "indptr descends behind option 1"),
    (lambda: ExactCover([0, 3], [0, 1], 2), "indptr must begin with 0 and end with"),
    (lambda: ExactCover([0, 1], [0], 1, 2), "n_primary is 0 to 1, not 2"),
    (lambda: ExactCover([0, 1], [0.5], 1), "indices must hold whole numbers"),
    (lambda: ExactCover([0, 1], [0], 1, 0, colors=np.uint64([2**64 - 1])), "^colors .* 63 bits"),
    (lambda: one(item_names=["a", "b"]), "2 item names for 1 items"),
    (lambda: ExactCover.from_matrix([[2]]), "holds 0 and 1 only"),
    (lambda: ExactCover.from_matrix([[1, 1]], secondary=[False, True]), "must hold whole numbers"),
    (lambda: ExactCover.from_matrix([1, 0]), "a matrix has 2 dimensions"),
    (lambda: ExactCover.from_matrix([[1]], secondary=[1]), "secondary columns must lie in"),
    *(
        (lambda what=what, names=names: one(**{what: names}), f"^{what} are a sequence of texts, ")
        for what in ("item_names", "option_names", "color_names")
        for names in ([1], [None], [b"a"], 1)
    ),
    # bounds and colours
    (lambda: one(bounds=[[2, 1]]), "item 0 has the bounds 2 and 1; the lower bound is 0 or more "),
    (lambda: one(bounds=[[-1, 1]]), "the lower bound is 0 or more"),
    (lambda: one(bounds=[[0, 0]]), "the upper bound is 1 to 2,147,483,647"),
    (lambda: one(bounds=[[1.0, 2.0]]), "whole numbers"),
    (lambda: named(bounds={"a": 3}), "a least and a most"),
    (lambda: named(bounds={"a": (3, 2)}), "'a' has the bounds 3 and 2"),
    (lambda: coloured([0, -1, 0, 1]), "option 0 gives item 2 the colour -1; colours lie in 1"),
    (lambda: coloured([0, 1, 0, 2**32 - 1]), "option 1 gives item 2 the colour 4294967295"),
    (lambda: coloured([0, 1, 0, 2], ["red"]), "1 colour names, but the highest colour is 2"),
    (lambda: named(colors=[None]), "colours of option 0 must be a mapping of items, not None"),
    # rules of grids
    (lambda: bs.grid_problem(6, "3x3", "x"), "a box of 3×3 does not give 6 digits"),
    (lambda: bs.grid_problem(9, rules="knight"), "unknown rule 'knight'; choose from x,"),
    (lambda: bs.grid_problem(6, rules="windoku"), "no rule 'windoku' for boxes of 2×3"),
    (lambda: bs.grid_problem(3, None, "disjoint", "AABACBCCB"), "'disjoint' for boxes of 1×3"),
    (lambda: bs.grid_problem(4, regions="AAAAABBBCCCCDDDD"), "region 'A' has 5 cells; each regi"),
    (lambda: Variant(Rules(2, PLACE, PLACE)), "a house of 2 digits has 2 different"),
    (lambda: Variant(Rules(2, PLACE, [[0, 1]])), "rules are tuples of tuples"),
    (lambda: Variant(Rules(2, PLACE, (), ((1,),))), "a rule names cell 1; cells are 0 to"),
    (lambda: Variant(Rules(2, PLACE, (), (), ((0, 0, "less"),))), "a pair is two cells"),
    # drawings of grids
    (lambda: drawn("##\n##"), "has no cells"),
    (lambda: drawn(TWO, 9), "the cell in row 1, column 1 is in no grid of 9×9 cells"),
    (lambda: drawn(TWO + "."), "the cell in row 6, column 7 is in no grid of 4×4 cells"),
    (lambda: drawn("." * 10), "a drawing in one line is a square, .* not 10"),
    # tilings
    (lambda: bs.tiling("2x2", {"A": "X"}, use={"B": "once"}), "use names the unknown piece 'B'"),
    (lambda: bs.tiling("2x2", {"A:B": "X"}), "'A:B' cannot name a piece"),
    (lambda: bs.tiling("2x2", {"A": ""}), "piece A: the piece is empty"),
    (lambda: bs.tiling("2x2", "I4", kind="both"), "unknown kind of pieces 'both'"),
    (lambda: bs.tiling("2x2", "I4", kind=2), "a kind of pieces is text, not 2"),
    (lambda: bs.tiling("2x2", "I4", fill="no"), "fill is True or False, not 'no'"),
    (lambda: bs.tiling("2x2", "I4", use=None), 'a text such as "2..3", or a number, not None'),
    (lambda: bs.tiling("2x2", {1: "XX"}), "drawings by name, or a list of both, not {1: 'XX'}"),
    (lambda: bs.tiling("2x2", [("I", "XX")]), r"of both, not \[\('I', 'XX'\)\]"),
    (lambda: bs.tiling([["#", "."]], "I2"), "a board is one text, or an array of booleans"),
    (lambda: bs.tiling([1, 1], "I2"), "a board has 2 or 3 dimensions, not 1"),
    (lambda: bs.tiling([[1], [1, 1]], "I2"), "the board is an array, or lists of equal length"),
    # stacks
    (lambda: Stacks([0, 1], [1], [0]), r"^offsets .* arrays of int64, .* not \[0, 1\]; Stacks.fr"),
    (lambda: Stacks(ONE, np.array([1.5]), ONE[:1]), "options .* of uint32, not .*1.5"),
    (lambda: Stacks(ONE, FIRST, None), "roots .* of int64, .*, not None"),
    (lambda: Stacks(ONE * 1.0, FIRST, ONE[:1]), "^offsets .*, not .*0., 1."),
    (lambda: Stacks(ONE, FIRST, ONE[:1], np.zeros((2, 3), np.uint32)), "branches of three numbers"),
    (lambda: stacks(None), "^stacks are lists of option numbers, not None"),
    *(
        (lambda lists=lists: stacks(lists), "^a stack is a list of option numbers, not")
        for lists in ([None], [[1.5]], ["ab"], [3], [[[1]]])
    ),
    (lambda: stacks([[-1]]), "32 bits"),
    (lambda: stacks([[1]], [0, 1]), "^2 roots for 1 stacks"),
    (lambda: stacks([[1]], [None]), r"^roots must hold whole numbers of 63 bits, not \[None\]"),
    (lambda: stacks([[1]], None, 5), "^branches of stacks must have 2 dimensions, not 0"),
    (lambda: stacks([[1]], None, [[1, 0]]), UNFIT),
    (lambda: stacks([[1]], None, [[0] * 3] * 2), UNFIT),
    (lambda: stacks([[1]], None, [[1, 0.5, 2]]), "^branches of stacks must hold whole numbers"),
    (lambda: stacks([[1]], None, [[-1, 0, 2]]), "^branches of stacks hold numbers of 32 b.*-1"),
    (lambda: stacks([[1]], None, [[1, 0, 2**32]]), "^branches of stacks hold numbers of 32 bits"),
    (lambda: stacks([[1]], None, [[0, 1, 2]]), "^branches of stacks name an item, counted from 1"),
    # masked arrays
    (lambda: ExactCover(masked([0, 1, 2]), [0, 1], 2), "indptr has masked values; fill them"),
    (lambda: ExactCover([0, 1, 2], masked([0, 1]), 2), "indices has masked values; fill them"),
    (lambda: one(costs=masked([1])), "costs has masked values; fill them"),
    (lambda: ExactCover.from_matrix(masked([[1, 0]])), "the matrix has masked values; fill them"),
    (lambda: bs.tiling(masked([[1, 1]]), ["XX"]), "the board has masked values; fill them"),
]


@pytest.mark.parametrize(("build", "message"), REFUSED)
def test_problems_that_cannot_be_are_refused(build, message):
    with pytest.raises((bs.ProblemError, bs.InputError), match=message):
        build()
