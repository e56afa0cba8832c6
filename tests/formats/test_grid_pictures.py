"""Drawings of grids: their lines are where the rules have them, in pictures and in text."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from test_pictures import cells, shapes as shapes_of, steps

from batchsolve.formats.drawings import draw_grid, read_grid
from batchsolve.formats.pictures.boards import outline
from batchsolve.formats.pictures.svg import drawn
from batchsolve.problems.notation import Notation, usual_notation
from batchsolve.problems.rules import NAMED, Cage, Rules, boxes, named, plain
from batchsolve.problems.sudoku import Variant, grid_problem, overlapping

JIGSAW = "AAAB CABB CCDB CDDD"


def shapes(rules, how):
    return shapes_of(Variant(rules), how=how)


@given(cells)
def test_an_inset_outline_is_as_far_from_all_other_cells(some):
    lines = steps(outline(some, 10, inset=3), unit=1)
    upright = [(x, min(y, y_after)) for (x, y), (x_after, y_after) in lines if x == x_after]
    for y in range(60):
        walls = [x for x, top in upright if top == y]
        for x in range(60):
            near = {((y + b) // 10, (x + a) // 10) for a in (-3, 0, 3) for b in (-3, 0, 3)}
            assert sum(wall > x for wall in walls) % 2 == (near <= some)


@pytest.mark.parametrize("name", NAMED)
def test_boxes_are_the_regions_whatever_the_other_rules(name):
    assert (plain(3, 3) + named(name, 3, 3)).regions == tuple(boxes(3, 3))


def test_regions_are_disjoint_houses_that_are_no_lines():
    assert Rules.square(4, ()).regions == ()
    straight = ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 12, 13), (10, 11, 14, 15))
    assert set(Rules.square(4, straight).regions) == set(straight)
    assert Rules.square(1, [[0]]).houses == ((0,), (0,))
    jigsaw = grid_problem(4, rules="x", regions=JIGSAW).rules
    assert len(jigsaw.regions) == 4
    assert jigsaw.regions[0] == (0, 1, 2, 5)


DRAWN_HOUSES = [
    ("x", 2, 0, 0),
    ("windoku", 0, 4, 1),
    ("disjoint", 0, 9, 9),
    ("centerdot", 0, 1, 1),
    ("argyle", 8, 0, 0),
    ("antiknight+antiking+nonconsecutive", 0, 0, 0),
]


@pytest.mark.parametrize(("names", "n_lines", "n_shades", "n_hues"), DRAWN_HOUSES)
def test_houses_are_drawn_as_lines_and_shades(names, n_lines, n_shades, n_hues):
    rules = plain(3, 3) + named(names, 3, 3)
    assert sum(each.get("d").count("M") for each in shapes(rules, "bs-diagonal")) == n_lines
    shades = shapes(rules, "bs-shade")
    assert len(shades) == n_shades
    assert len({shade.get("fill") for shade in shades}) == n_hues


def test_the_diagonals_run_from_corner_to_corner():
    [lines] = shapes(plain(2, 2) + named("x", 2, 2), "bs-diagonal")
    assert lines.get("d") == "M0 0L160 160M160 0L0 160"


def test_cages_marks_and_signs():
    rules = replace(
        plain(3, 3),
        cages=(Cage((0, 1, 9), 12), Cage((3, 4), 10)),
        groups=((12, 13), (12, 22)),
        marks=((5, 0b010101010), (6, 0b101010101), (7, 0b1011), (8, 0b111111111)),
        pairs=(
            *((20, 21, "consecutive"), (22, 23, "double"), (30, 31, "v"), (31, 40, "x")),
            *((50, 51, "less"), (61, 52, "less"), (70, 80, "less"), (10, 11, "apart")),
        ),
    )
    [cages] = shapes(rules, "bs-cage")
    assert cages.get("d").count("M") == 2
    assert len(shapes(rules, "bs-shade")) == 1  # of cells side by side
    assert [text.text for text in shapes(rules, "bs-small")] == ["124", "12", "10"]
    assert ">ABD<" in drawn(Variant(rules), notation=Notation.from_name("A-I", 9)).shapes
    assert sorted(each.tag[-4:] for each in shapes(rules, "bs-dark")) == ["path", "rcle"]
    assert len(shapes(rules, "bs-white")) == len(shapes(rules, "bs-black")) == 1
    assert [letter.text for letter in shapes(rules, "bs-clue")] == ["V", "X"]
    turns = [each.get("transform") for each in shapes(rules, "bs-sign")]
    assert [re.findall(r"rotate\((.*)\)", turn) for turn in turns] == [["0"], ["-90"], ["45"]]
    # the point of a sign is to the cell of the smaller digit, in the middle between both
    assert [re.findall(r"e\((\d+) (\d+)\)", turn)[0] for turn in turns] == [
        ("240", "220"),  # right of row 6, column 6
        ("300", "240"),  # below row 6, column 8
        ("320", "320"),
    ]
    assert len(shapes(rules, "bs-diagonal")) == 1  # joins the two cells at a corner


def test_grids_that_overlap_are_drawn_as_text():
    """For their pictures, see test_docs.py."""
    rules = overlapping("....##....##............##....##....", (2, 2))
    text = draw_grid(Variant(rules), usual_notation(4), [1, 2, 3, 4] * 7)
    assert text == (
        "+-----+-----+      \n"
        "| 1 2 | 3 4 |      \n"
        "| 1 2 | 3 4 |      \n"
        "+-----+-----+-----+\n"
        "| 1 2 | 3 4 | 1 2 |\n"
        "| 3 4 | 1 2 | 3 4 |\n"
        "+-----+-----+-----+\n"
        "      | 1 2 | 3 4 |\n"
        "      | 1 2 | 3 4 |\n"
        "      +-----+-----+\n"
    )


@given(st.permutations("AAAABBBBCCCCDDDD"), st.lists(st.integers(0, 4), min_size=16, max_size=16))
def test_drawings_of_jigsaws_are_read_back_and_have_their_lines(regions, grid):
    problem = grid_problem(4, regions="".join(regions))
    text = draw_grid(problem, usual_notation(4), grid)
    again, _, digits = read_grid(text, alphabet="1234", regions="".join(regions))
    assert (again.rules, digits.tolist()) == (problem.rules, grid)
    lines = text.splitlines()
    for r, row in enumerate([line for line in lines if re.search(r"[.\d]", line)]):
        ends = set(np.cumsum([len(part.split()) for part in row.split("|")]).tolist()) - {0, 4}
        label = regions[4 * r : 4 * r + 4]
        assert ends == {c for c in (1, 2, 3) if label[c] != label[c - 1]}
