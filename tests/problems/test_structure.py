"""Symmetries of the structure: all of them by brute force, known groups and known numbers."""

from collections import Counter
from itertools import permutations
from math import factorial, prod

import numpy as np
import pytest
from conftest import bounded_problems, problems, problems_with_costs
from hypothesis import given, strategies as st
from invoking import invoke
from macmahon import macmahon
from oracles import bounded_covers, covers, orbits

import batchsolve as bs


def structure(problem, image):
    """Return what a symmetry keeps: the options of each item by colour, and the costs of options.

    The options are named by their images.
    """
    held = [{} for _ in range(problem.n_items)]
    for o in range(problem.n_options):
        for i, c in problem.coloring(o).items():
            held[i].setdefault(c, set()).add(image[o])
    items = set()
    for i, by_color in enumerate(held):
        is_primary = i < problem.n_primary
        bounds = tuple(problem.bounds[i]) if is_primary and problem.bounds is not None else (1, 1)
        plain = frozenset(by_color.pop(0, ()))
        items.add((is_primary and bounds, plain, frozenset(map(frozenset, by_color.values()))))
    costs = [0] * problem.n_options if problem.costs is None else problem.costs.tolist()
    return items, {image[o]: cost for o, cost in enumerate(costs)}


@given(problems(5, 6, 2) | problems_with_costs() | bounded_problems(), st.data())
def test_all_symmetries_are_found(problem, data):
    if problem.n_options > 6:
        return
    some = sorted(data.draw(st.sampled_from([(), *bounded_covers(problem)])))
    stack = some[: data.draw(st.integers(0, len(some)))]
    images = bs.structure_symmetries(problem, stack).images.tolist()
    options = range(problem.n_options)
    before = structure(problem, options)
    every = {
        image
        for image in permutations(options)
        if structure(problem, image) == before and {image[o] for o in stack} == set(stack)
    }
    costs = [0] * problem.n_options if problem.costs is None else problem.costs.tolist()
    alike = Counter((frozenset(problem.coloring(o).items()), costs[o], o in stack) for o in options)
    assert {tuple(image) for image in images} <= every
    assert len(images) * prod(map(factorial, alike.values())) == len(every)
    found = bounded_covers(problem, stack)
    up_to = bs.Symmetries(np.array(images, np.uint32).reshape(len(images), -1))
    count = bs.count(problem, stack, jobs=1, up_to_symmetry=up_to).count
    assert count == len(orbits(found, images))


# Latin squares: main classes, OEIS A003090; grids of 2x2 boxes: E. Russell and F. Jarvis; Steiner
# systems: one each (Handbook of Combinatorial Designs); partitions of a set up to its permutations
# are those of its size, A000041; edge covers are graphs without isolated points, A002494
KNOWN = {
    **{"queens:6": (8, 1), "langford:7": (2, 26), "pentominoes:3x20": (4, 2)},
    **{"latin:3": (1296, 1), "latin:4": (82944, 2), "sudoku:2x2": (3072, 2)},
    **{"steiner:7": (5040, 1), "partitions:5": (120, 7), "edgecovers:5": (120, 23)},
}


@pytest.mark.parametrize(("name", "known"), KNOWN.items())
def test_known_numbers_up_to_the_symmetries_of_the_structure(name, known):
    group = bs.structure_symmetries(bs.family(name))
    assert (len(group), bs.count(name, up_to_symmetry=group).count) == known


def test_colours_are_permuted():
    # 2 turns, the mirror, and the exchange of the colours that are not on the border
    assert len(bs.structure_symmetries(macmahon(4, 6, 3))) == 8
    problem = macmahon(2, 3, 2)
    group = bs.structure_symmetries(problem)
    assert len(group) == 4
    found = covers(problem)
    assert bs.count(problem, up_to_symmetry=group).count == len(orbits(found, group.images))


def test_symmetries_of_a_puzzle_keep_its_clues(tmp_path):
    grid = tmp_path / "grid.txt"
    grid.write_text("1..2........3..4")
    printed = invoke("count", grid, "--symmetries", "structure", "--json")
    reading = bs.read_problem(str(grid))
    clues = tuple(reading.stack.tolist())
    group = bs.structure_symmetries(reading.problem, clues)
    assert len(group) > 1
    expected = len(orbits(covers(reading.problem, clues), group.images))
    assert f'"count": {expected},' in printed.stdout
    assert f'"symmetries": {len(group)}' in printed.stdout


def test_symmetries_that_change_exclusions_do_not_count():
    problem = bs.ExactCover.from_options([["a", k] for k in "xyz"], ["a"], list("xyz"))
    problem = bs.ExactCover(problem.indptr, problem.indices, 4, 1, bounds=[[1, 2]])
    group = bs.structure_symmetries(problem)
    assert len(group) == 6
    for stack in ([3], [0, 4]):
        chosen, excluded = [o for o in stack if o < 3], [o - 3 for o in stack if o > 2]
        kept = group.stabiliser(chosen).stabiliser(excluded)
        found = bounded_covers(problem, stack)
        count = bs.count(problem, stack, up_to_symmetry=group).count
        assert count == len(orbits(found, kept.images))
        assert len(bs.structure_symmetries(problem, stack)) == len(kept)


def test_colours_are_permuted_for_each_item_by_itself():
    options = [["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"]]
    colors = [{"x": "red"}, {"x": "blue"}, {"y": "red"}, {"y": "blue"}]
    problem = bs.ExactCover.from_options(options, secondary=["x", "y"], colors=colors)
    group = bs.structure_symmetries(problem)
    assert [1, 0, 2, 3] in group.images.tolist()  # red and blue exchanged at x alone
    assert len(group) == 8
    assert bs.count(problem).count == 4
    assert bs.count(problem, up_to_symmetry=group).count == 1
