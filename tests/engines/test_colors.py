"""Colours of secondary items: problems whose answers are known."""

from itertools import product

import numpy as np
import pytest
from conftest import problems
from hypothesis import given
from oracles import bounded_covers, covers
from test_engines import COLOURED

import batchsolve as bs

# The small example in Knuth's section on colours: items p q r | x y.
TOY = bs.ExactCover.from_options(
    [["p", "q", "x", "y"], ["p", "r", "x", "y"], ["p", "x"], ["q", "x"], ["r", "y"]],
    secondary=["x", "y"],
    colors=[{"y": "A"}, {"x": "A"}, {"x": "B"}, {"x": "A"}, {"y": "B"}],
)
WORDS = ["are", "ate", "bat", "bee", "ear", "eat", "eel", "ere", "era", "rat", "tar", "tea", "tee"]

coloured_engines = pytest.mark.parametrize("engine", COLOURED)


def word_squares(words):
    """Choose a word for each row and each column; the letter of a cell is its item's colour."""
    n = len(words[0])
    options, colors = [], []
    for line, word in product(range(n), words):
        for kind in ("row", "column"):
            cells = [(line, k) if kind == "row" else (k, line) for k in range(n)]
            options.append([(kind, line), *cells])
            colors.append(dict(zip(cells, word, strict=True)))
    return bs.ExactCover.from_options(
        options, secondary=list(product(range(n), range(n))), colors=colors
    )


@given(problem=problems(5, 9, 2))
def test_the_oracle_finds_the_covers_of_the_definition(problem):
    assert covers(problem) == bounded_covers(problem)


@coloured_engines
def test_word_squares(engine):
    grids = product(WORDS, repeat=3)
    expected = sum(all("".join(c) in WORDS for c in zip(*g, strict=True)) for g in grids)
    assert expected > 10
    assert bs.count(word_squares(WORDS), engine=engine, jobs=1).count == expected


def test_two_options_share_an_item_only_in_one_colour():
    TOY.check_stack([1, 3])
    TOY.verify([1, 3])
    for stack, reason in {
        (2, 3): "options 2 and 3 both cover item x, and not in the same colour",
        (0, 3): "options 0 and 3 both cover item q",
        (3, 3): "option 3 is there twice",
    }.items():
        with pytest.raises(bs.ProblemError, match=f"not a partial cover: {reason}"):
            TOY.check_stack(stack)
    with pytest.raises(bs.ProblemError, match="both cover item x, and not in the same"):
        TOY.verify([2, 3])
    only_colours = bs.ExactCover([0, 1, 2], [0, 0], 1, 0, colors=[1, 1])
    only_colours.verify([0, 1])
    for check in (only_colours.verify, only_colours.check_stack):
        with pytest.raises(bs.ProblemError, match="option 0 is there twice"):
            check([1, 0, 0])


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
