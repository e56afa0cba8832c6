"""Colours of secondary items: problems whose answers are known."""

from itertools import product

import numpy as np
import pytest
from conftest import problems
from hypothesis import given
from oracles import bounded_covers, covers
from test_engines import COLOURED

import batchsolve as bs

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
    cells = product(range(n), repeat=2)
    return bs.ExactCover.from_options(options, secondary=list(cells), colors=colors)


@given(problem=problems(5, 9, 2))
def test_the_oracle_finds_the_covers_of_the_definition(problem):
    assert covers(problem) == bounded_covers(problem)


@coloured_engines
def test_word_squares(engine):
    grids = product(WORDS, repeat=3)
    expected = sum(all("".join(c) in WORDS for c in zip(*g, strict=True)) for g in grids)
    assert expected > 10
    assert bs.count(word_squares(WORDS), engine=engine, jobs=1).count == expected


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
