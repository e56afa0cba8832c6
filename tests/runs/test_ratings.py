"""Ratings and steps against slow techniques on sets, and what no symmetry may change."""

import json
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from oracles import Pencilmarks, dead_ends, easiest_step, is_backdoor, rating, shuffled

import batchsolve as bs
from batchsolve.core import native
from batchsolve.runs.rate import N_CELLS, NAMES, RATINGS, ratings_of, steps_text

# puzzles made by removing random clues, one for each rating that came up without chains, and some
# that need chains, with the first word of the technique; that of 8.6 is beyond the ladder
PUZZLES = """\
..832...5...6....3693...12..17...8..9..53..72..67.....8...93.4..6.258..15..4..2.. 1.2
.7.3.9.26.9...247..4.....8.......6..63.....4....8.6537..4....5.91...8......5138.4 1.5
74.9..3........7....1...2...83..........76.9.2...1....35.86.......14......9..5..7 1.7
..4..98..3.5.....6...4.....14.6......2.....67..7...2...1....9.....91.52..7...8... 2.0
.95..4.....6......82.7.3........1.4.....97..5.8.....6..548..17.....3.8.2......... 2.3
....5....3..81.....6......4.........1..57.4.34.6..27...2..475..85..6....6.4....9. 2.5
.4..32.5.8....9..46......3...9..16......5...8.7..8..9...85...4.9.........2..96..1 2.6
4..1.....3.........5....138..236...7........6.4.5.1.9.7....4.8.....8..5......27.9 2.8
.481653..6.78...2.9......8...........9..........612.....17......63.4...9.8.....74 3.0
..38...5..6......4...93.6..87.....1......7..52..58.7...2.7..4984...9.3....93..... 3.2
4.67......8..2..37...5...8.3..1..........714.7...95....23.......9.8...6.8...4.5.. 3.4
.....9...2...8.9...69..317..576...3.....74..6....3......8.2..9....8..6.15..4..8.. 3.6
........31..3.64272.79.....5....72.8.7......6....1..758.5.7...97.4..35.........6. 3.8
.8..69.5.......94.........6.5.1....2913..4.8....3.5.6...4......8..9.6...7.2.1.5.. 4.0
....75.....42...........3651...4.6839........3..1..24.....2.....874.......6.9..2. 4.2
......4....8.2...34...638.7...8......9.74..5.5..........128.6..94.....78..3....1. 4.4
5.91...8.......4....2.79....5...3.......1.83.....682.17....2..34...3.1.83...9.5.. 5.0
..5.....4....78.5.971.5...86....2.8.2.......7....4.2...5.2.9........61....9785... 5.2
..36.4.....8...........157.25.........48.......95.74.3.9.........2.5..8714..3...9 6.5 x-cycle
.5..8...1.371...8...4.7.9.2....97.....2...5.91.......4.4.35....6..........3.29... 6.6 turbot
.....58.9....37.2....49...16.5....3..98...4..7..5.2.........7854....1..2.8....... 6.6 y-cycle
95.........3..7..1.4.3.6....8.........7....2.3..6..9.....28..54...9..6..5....4.7. 6.7 forcing
.....21....43..6..6.....9.82..43..5..7.9..84.....8.....8.7.4.....9........385...7 6.9 y-cycle
.2...39....6....4.75......25..41.8..3...8...5.18.9.6......76.9..8......6...8..... 7.1 xy-cycle
52..........6.2..5.....913..4.2..........13..97..5.....63...5......9..482........ 7.2 forcing
....6..895......4..8.4.7..632......1..4..562.6....1.....1.......5.3.9.....31...54 7.4 xy-cycle
1.........3.....8..9.6.2..3..17.36....6..84..2.7...3.8...4..5.7...5.........21.4. 7.6 nishio
....29..5...4..1..6.2......85.........72...1.4...6.....75.3.4.818.....7...4.5.9.. 8.3 region
....46..77.....5..3.4........12..7.....43......3...8.9.6.9..2....71....55....8..6 8.3 cell
..95.....36.........578.9.3.....8.24.3.....6....9..1.7....74..25..6...9.72....... 8.6 guess
"""
NAMES_BY_RATING = dict(zip(map(str, RATINGS[::-1]), NAMES[::-1], strict=True))  # the first of each
ROWS = [line.split(maxsplit=2) for line in PUZZLES.splitlines()]
LEVELS = set(zip(NAMES, RATINGS.tolist(), strict=True))
VALUES = [float(row[1]) for row in ROWS]
UNIQUE = """\
...7.....1.......4364.........62........15.2..2..345.6..72.9..3.3....6....2....87 4.5 rectangle
.5....4..432...........85....83.........9.12....6...3.5....6....6.....1.9.7..5.6. 4.6 loop
.....9.........2415.4.62..719...7..46....1...42.5...........6.3....5..8.9....67.5 4.7 rectangle
9.6..3.2.....7.8..8.4....5....53..6......14....9..7.8...3.....5.1.9.537.6........ 5.6 bug
..6..79....8.29....15......7..3...1...98..5..8...5............1...486.9.......86. 5.7 bug
"""
UNIQUE = [line.split() for line in UNIQUE.splitlines()]
parse = bs.Sudoku(3, 3).parse
GRIDS = np.array([parse(text) for text, *_ in ROWS])
UNIQUE_GRIDS = np.array([parse(text) for text, *_ in UNIQUE])
QUAD = "...34.5.7..3....14............4..7......56.3.3...294..4....2..65....81...68....7."
HIDDEN_QUAD = parse(QUAD)  # not unique


def names_of(levels):
    return [NAMES[level] for level in levels.tolist()]


def test_every_technique_has_its_rating():
    levels, *_ = ratings_of(GRIDS)
    assert RATINGS[levels].tolist() == VALUES
    for name, (_, rating_, *word) in zip(names_of(levels), ROWS, strict=True):
        assert name.split()[0] == word[0] if word else name == NAMES_BY_RATING[rating_]


# the oracle takes a second or less for each of these, and up to a minute for others
NISHIO, CELL = (next(k for k, row in enumerate(ROWS) if name in row) for name in ("nishio", "cell"))
QUICK = {*(k for k, value in enumerate(VALUES) if value < 7.3), NISHIO, CELL}


def test_patterns_of_uniqueness_have_their_ratings_if_they_are_asked_for():
    levels, *_ = ratings_of(UNIQUE_GRIDS, uniqueness=True)
    assert RATINGS[levels].tolist() == [float(value) for _, value, _ in UNIQUE]
    assert [name.split()[-1] for name in names_of(levels)] == [name for *_, name in UNIQUE]
    assert (RATINGS[ratings_of(UNIQUE_GRIDS)[0]] > RATINGS[levels]).all()


@pytest.mark.parametrize("uniqueness", [False, True])
@settings(max_examples=8)
@given(k=st.sampled_from(range(len(GRIDS) + len(UNIQUE))), seed=st.integers(0, 2**32))
def test_ratings_are_those_of_the_oracle_and_of_all_images(uniqueness, k, seed):
    grid = [*GRIDS, *UNIQUE_GRIDS][k]
    images = _images(grid, seed, 20)
    levels, _, backdoors = ratings_of(images, uniqueness=uniqueness, backdoor=True)
    assert set(levels) == set(ratings_of(grid[None], uniqueness=uniqueness)[0])
    assert len(set(backdoors)) == 1
    if k in QUICK or (uniqueness and k >= len(GRIDS)):
        assert rating(images[0].tolist(), uniqueness) == RATINGS[levels[0]]


@settings(max_examples=1)
@given(st.sampled_from(sorted(QUICK)), st.integers(0, 2**32), st.integers(0, 3))
@example(CELL, 0, 0)
@example(len(GRIDS), 0, 0)
def test_all_techniques_together_leave_what_the_oracle_leaves(k, seed, n_removed):
    grid = [*GRIDS, HIDDEN_QUAD][k].copy()
    grid[np.random.default_rng(seed).permutation(np.flatnonzero(grid))[:n_removed]] = 0
    steps = json.loads(steps_text(grid))
    marks, found = Pencilmarks(grid.tolist()), Pencilmarks(grid.tolist())
    while marks.candidates and easiest_step(marks) < 8.6:
        pass
    for step in steps:
        for cell, digits in step.get("removes", {}).items():
            found.candidates[place_of(cell)] -= set(digits)
        for cell, digit in step.get("fills", {}).items():
            found.fill(place_of(cell), digit)
    assert found.candidates == marks.candidates
    if k == len(GRIDS):
        assert "hidden quad" in {step["technique"] for step in steps}


@pytest.mark.parametrize("value", [2.3, 3.8, 5.2, 8.6])
def test_backtracks_are_the_dead_ends_of_the_oracle(value):
    grid = GRIDS[VALUES.index(value)]
    found = ratings_of(grid[None])[1].tolist()
    assert found == [dead_ends(Pencilmarks(grid.tolist()))]
    labels = np.r_[0, np.random.default_rng(1).permutation(9) + 1].astype(np.uint8)
    assert ratings_of(labels[grid][None])[1].tolist() == found


def test_no_smaller_backdoor_exists():
    found = ratings_of(GRIDS, backdoor=True)[2].tolist()
    assert {0, 1} <= set(found)
    for grid, size in zip(GRIDS[::16].tolist(), found[::16], strict=True):
        text = bs.solve("".join(map(str, grid))).solution
        digits = [(cell, int(text[cell])) for cell in range(N_CELLS) if not grid[cell]]
        for n in range(min(size, 1) + 1):
            exists = any(is_backdoor(grid, dict(some)) for some in combinations(digits, n))
            assert exists == (n == size)


@pytest.mark.parametrize("uniqueness", [False, True])
def test_steps_lead_to_the_solution_and_never_remove_its_digits(uniqueness):
    grids = [*GRIDS, *UNIQUE_GRIDS]
    values = RATINGS[ratings_of(np.array(grids), uniqueness=uniqueness)[0]]
    for value, grid in zip(values, grids, strict=True):
        steps, marks = json.loads(steps_text(grid, uniqueness)), Pencilmarks(grid.tolist())
        solution = bs.solve("".join(map(str, grid))).solution
        cells = {f"r{i // 9 + 1}c{i % 9 + 1}": int(solution[i]) for i in range(81)}
        filled = {cell: digit for step in steps for cell, digit in step.get("fills", {}).items()}
        assert filled.items() <= cells.items()
        for step in steps:
            assert ("fills" in step) != ("removes" in step)
            assert step["cells"]
            assert step["digits"]
            assert (step["technique"], step["rating"]) in LEVELS
            for chain in step.get("chains", []):
                assert_that_nodes_follow(marks, chain, step["technique"])
            for cell, digits in step.get("removes", {}).items():
                assert cells[cell] not in digits
                marks.candidates[place_of(cell)] -= set(digits)
            for cell, digit in step.get("fills", {}).items():
                marks.fill(place_of(cell), digit)
        assert (len(filled) == grid.tolist().count(0)) == (value < 8.6)
        assert value == 8.6 or max(step["rating"] for step in steps) == value


def place_of(cell):
    return int(cell[1]) - 1, int(cell[3]) - 1


def assert_that_nodes_follow(marks, chain, technique):
    """Assert that each node of a chain follows from the last one; of a proof, from all before."""
    nodes = [(place_of(node), int(node[-1]), "!" not in node) for node in chain]
    assert all(digit in marks.candidates[cell] for cell, digit, _ in nodes)
    for k, ((cell, digit, is_on), (other, then, is_then)) in enumerate(pairwise(nodes)):
        if technique == "nishio" and is_then:
            on = {node[0] for node in nodes[: k + 1]}
            houses = [house for house in marks.houses if other in house]
            others = [marks.places(house, then) - {other} for house in houses]
            assert any(all(marks.peers[each] & on for each in some) for some in others)
        elif technique == "nishio":
            assert any(other in marks.peers[node[0]] for node in nodes[: k + 1])
        elif is_on:
            assert not is_then
            assert cell == other or (digit == then and other in marks.peers[cell])
        elif cell == other:
            assert is_then
            assert marks.candidates[cell] == {digit, then}
        else:
            assert is_then
            assert digit == then
            assert {cell, other} in [marks.places(house, digit) for house in marks.houses]


@pytest.mark.parametrize("clues", [[], [1, 1], [10]])
def test_the_last_of_many_grids_is_rated_and_checked(clues):
    grids = np.tile(GRIDS[:1], (300, 1))
    assert RATINGS[ratings_of(grids)[0]].tolist() == [VALUES[0]] * 300
    grids[299] = clues + [0] * (81 - len(clues))
    with pytest.raises(bs.InputError, match="grid 299 does not have exactly one solution"):
        ratings_of(grids)


def test_the_native_core_takes_no_other_arrays_than_grids():
    grids = GRIDS.copy()
    with pytest.raises(ValueError, match="81 cells"):
        native.rate_grids(grids[:, :80].copy(), False, False)
    with pytest.raises(ValueError, match="81 cells"):
        native.steps_of(grids[0, :80].copy(), False)
    with pytest.raises(TypeError):
        native.rate_grids(grids[0], False, False)


def test_no_grids_have_no_ratings():
    assert ratings_of(GRIDS[:0])[0].size == 0
    solved = parse(bs.solve("." * 81, limit=1).solution)
    levels, *_ = ratings_of(solved[None])
    assert (names_of(levels), RATINGS[levels].tolist()) == (["none"], [0.0])
    assert json.loads(steps_text(solved)) == []


def _images(grid, seed, n):
    """Return random images of a grid, drawn apart from the package."""
    rng, square = np.random.default_rng(seed), grid.reshape(9, 9)
    return np.array([shuffled(square, 3, 3, rng).reshape(-1) for _ in range(n)], np.uint8)
