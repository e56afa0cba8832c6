"""Grids with per-row rules: counts by hand and by brute force, and `lanes` against `dlx`."""

import itertools
import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, strategies as st
from oracles import grids_by_rules

import batchsolve as bs
from batchsolve.engines import UNLIMITED, Task, get_engine
from batchsolve.problems.rules import NAMED, RELATIONS, Cage, OwnRules, Rules, named, plain
from batchsolve.problems.sudoku import Variant, Variants

DLX, LANES, SAT = map(get_engine, ("dlx", "lanes", "sat"))
BLANK = (0,) * 16


def grids_of(problem, engine, clues=None, **settings):
    """All solved grids of a problem, found by an engine."""
    grid = np.zeros(problem.n_cells, np.uint8) if clues is None else np.array(clues, np.uint8)
    task = Task.of(bs.Stacks.from_lists([problem.stack(grid).tolist()]), keep=10**6, **settings)
    outcome = engine.search(problem, task)
    assert len(outcome.frontier) == 0
    for cover in itertools.islice(outcome.solutions, 5):
        problem.verify(cover.tolist())
    return set(map(tuple, problem.grids(outcome.solutions).tolist()))


BESIDE = {
    cell: {cell - 4, cell + 4} | {near for near in (cell - 1, cell + 1) if near // 4 == cell // 4}
    for cell in range(16)
}


@cache
def layouts(left=frozenset(range(16))):
    """All ways to cut cells of a 4x4 grid into connected regions of four cells."""
    if not left:
        return [()]
    shapes = {frozenset([min(left)])}
    for _ in range(3):
        shapes = {
            shape | {near}
            for shape in shapes
            for cell in shape
            for near in BESIDE[cell] & (left - shape)
        }
    return [(tuple(sorted(s)), *rest) for s in shapes for rest in layouts(left - s)]


def test_all_layouts_of_regions_of_four():
    """There are 117 layouts (OEIS A172477); counts agree with filling cell by cell."""
    assert len(set(layouts())) == 117
    for regions in layouts()[::4]:
        rules = Rules.square(4, regions)
        grids = grids_by_rules(rules, BLANK)
        assert grids_of(Variant(rules), LANES) == grids == grids_of(Variant(rules), DLX)


FITTING = [name for name, (*_, fits) in NAMED.items() if fits(2, 2)]


@pytest.mark.parametrize("names", [*FITTING, "x+antiknight", "windoku+disjoint"])
def test_named_rules_by_brute_force(names):
    rules = plain(2, 2) + named(names, 2, 2)
    grids = grids_by_rules(rules, BLANK)
    assert grids_of(Variant(rules), DLX) == grids == grids_of(Variant(rules), LANES)


@pytest.mark.parametrize("name", NAMED)
def test_named_rules_of_usual_grids(name):
    """`lanes` and `dlx` find as many grids with the same first rows; they follow the rule."""
    rules = plain(3, 3) + named(name, 3, 3)
    problem = Variant(rules)
    first = problem.grids(bs.Stacks.from_lists([next(bs.solutions(problem, engine="lanes"))]))[0]
    stack = problem.stack(np.where(np.arange(81) < 36, first, 0))
    counts = [bs.count(problem, stack, engine=e, limit=50, jobs=1).count for e in ("dlx", "lanes")]
    assert counts[0] == counts[1] > 0
    for solution in itertools.islice(bs.solutions(problem, engine="lanes", jobs=1), 3):
        grid = problem.grids(bs.Stacks.from_lists([solution]))[0]
        assert grids_by_rules(rules, grid.tolist()) == {tuple(grid.tolist())}


@st.composite
def rules_of_four(draw):
    """Rules of a 4x4 grid: regions, groups, pairs, cages and marks."""
    cells = st.integers(0, 15)
    regions = draw(st.sampled_from(layouts()))
    some = st.lists(cells, min_size=2, max_size=4, unique=True).map(tuple)
    pairs = st.tuples(cells, cells, st.sampled_from(sorted(RELATIONS)))
    cages = some.flatmap(lambda c: st.builds(Cage, st.just(c), st.integers(3, 10)))
    return Rules(
        4,
        Rules.square(4, ()).places,
        Rules.square(4, regions).houses[: draw(st.integers(6, 12))],
        tuple(draw(st.lists(some, max_size=2))),
        tuple(p for p in draw(st.lists(pairs, max_size=3)) if p[0] != p[1]),
        tuple(draw(st.lists(cages, max_size=3))),
        tuple(draw(st.lists(st.tuples(cells, st.integers(1, 15)), max_size=3))),
    )


@pytest.mark.parametrize("box", [2, 3, 4, 5])
def test_every_relation_of_cells_is_checked(box):
    """Numbers of relations and digits do not fit in bytes."""
    n, random = box * box, np.random.default_rng(0)
    first = [(i % box * box + i // box + j) % n for i in range(n) for j in range(n)]
    grids = np.array([random.permutation(n)[first] + 1 for _ in range(20)], np.uint8)
    for name, allows in RELATIONS.items():
        pairs = (0, 1, name), (n + 2, 2 * n + 2, name)
        right = [all(allows(int(grid[a]), int(grid[b])) for a, b, _ in pairs) for grid in grids]
        problem = Variant(replace(plain(box, box), pairs=pairs))
        assert problem.check(grids * 0, grids).tolist() == right


def test_grids_of_six_with_diagonals():
    """The first row is 1 to 6; each of its orders has as many grids."""
    rules = plain(2, 3) + named("x", 2, 3)
    first = (1, 2, 3, 4, 5, 6) + (0,) * 30
    grids = grids_by_rules(rules, first)
    problem = Variant(rules)
    assert grids_of(problem, DLX, first) == grids == grids_of(problem, LANES, first)
    assert bs.count(problem, engine="dlx", jobs=1).count == 720 * len(grids)


@st.composite
def rows_of_four(draw):
    """Rows of 4x4 grids that share a named rule: own rules, regions or none, clues."""
    shared = Rules.square(4, ()) if draw(st.booleans()) else plain(2, 2)
    rule = draw(st.sampled_from(["", "x", "antiking", "nonconsecutive"]))
    shared = shared + named(rule, 2, 2) if rule else shared
    n = draw(st.integers(1, 6))
    rules = draw(st.lists(rules_of_four(), min_size=n, max_size=n))
    own = [replace(each, houses=()) for each in rules]
    regions = None
    if len(shared.houses) < 12:
        regions = np.zeros((n, 16), np.uint8)
        for row in regions:
            for region, cells in enumerate(draw(st.sampled_from(layouts()))):
                row[list(cells)] = region
    clues = st.lists(st.integers(0, 4), max_size=16)
    grids = np.zeros((n, 16), np.uint8)
    for grid in grids:
        some = draw(clues)
        grid[: len(some)] = some
    return Variants(shared, OwnRules.of(own, regions)), grids


@given(rows_of_four())
def test_rows_whose_rules_differ(rows):
    """Grids side by side, each with its rules, have the solutions of each problem alone.

    Those are found by brute force, and by engines that search one grid.
    """
    problem, grids = rows
    assert problem.cover_size == 16
    assert problem.at(np.empty(0, np.int64)).first_clashes(grids[:0]).size == 0
    outcome = LANES.search(problem, Task.of(problem.stacks(grids), keep=1000))
    found = [set() for _ in grids]
    for root, grid in zip(outcome.solutions.roots, problem.grids(outcome.solutions), strict=True):
        found[root].add(tuple(grid.tolist()))
    for row, grid in enumerate(grids):
        one = problem.of_row(row)
        assert one.n_entries == one.indices.size
        assert found[row] == grids_by_rules(one.rules, grid)
        for engine in (DLX, LANES, SAT):
            assert grids_of(one, engine, grid) == found[row]
        clash = one.clash_position(one.stack(grid).tolist())
        assert outcome.clash[row] == clash == problem.first_clashes(grids)[row]
        full = np.array(sorted(found[row]) or [[1] * 16], np.uint8)
        assert problem.at(np.full(len(full), row)).check(full * 0, full).all() == bool(found[row])
    assert [len(each) for each in found] == outcome.counts.tolist()
    sent = pickle.loads(pickle.dumps(problem))
    assert sent.first_clashes(grids).tolist() == outcome.clash.tolist()


@given(rows_of_four(), st.integers(1, 40), st.data())
def test_frontiers_of_rows_whose_rules_differ(rows, budget, data):
    """Engines take over stacks of rows from one another, with the options of cages and marks."""
    problem, grids = rows
    left, total = problem.stacks(grids), np.zeros(len(grids), np.int64)
    whole = LANES.search(problem, Task.of(left)).counts
    while len(left):
        engine, first = data.draw(st.sampled_from([DLX, LANES])), left
        if engine is DLX:
            is_first = left.roots == left.roots[0]
            first, left = left.take(is_first), left.take(~is_first)
            one = problem.of_row(int(first.roots[0]))
            outcome = DLX.search(one, Task.of(first, budget=budget, fineness=UNLIMITED))
            left = bs.Stacks.concatenate([each for each in (outcome.frontier, left) if len(each)])
        else:
            outcome = LANES.search(problem, Task.of(left, budget=budget))
            left = outcome.frontier
        np.add.at(total, first.roots, outcome.counts)
        budget *= 2
    assert total.tolist() == whole.tolist()


KILLER = """
    AABBBCDDD EEEEFCGGG HHIIFJJKK HLLMMMNNK OOPPQRRSS TUUVQVWWX TYYVVVZZX abbbcdddX aaeecffgg
"""


def cage_of(own, cage):
    """Return the cells of a cage, and its sets of digits."""
    _, (begins, all_cells), sets_of = own.cages
    cells = all_cells[slice(*begins[cage : cage + 2])]
    return cells.tolist(), own.digit_sets()[slice(*sets_of[cage])].tolist()


def test_cages_that_follow_from_others():
    """They hold in every grid, and lie in a house or in a cage."""
    labels = "".join(KILLER.split())
    full = np.array([(3 * (c // 9) + c // 27 + c) % 9 + 1 for c in range(81)], np.uint8)
    cells = {label: [c for c in range(81) if labels[c] == label] for label in labels}
    parts = [part for each in cells.values() for part in (each[:2], each[2:]) if part]
    parts = [part for part in parts if len(set(full[part].tolist())) == len(part)]
    cages = [Cage(tuple(part), int(full[part].sum())) for part in parts]
    rules = replace(plain(3, 3), cages=tuple(cages))
    own = Variant(rules).row_rules
    followed = range(len(cages), len(own.cages[2]))
    assert len(followed) > 10
    together = [set(cells) for cells in (*rules.houses, *(cage.cells for cage in cages))]
    for cage in followed:
        cells, sets = cage_of(own, cage)
        assert any(some.issuperset(cells) for some in together)
        assert sum(1 << (d - 1) for d in full[cells].tolist()) in sets


def test_cages_that_follow_do_not_depend_on_the_rows_beside():
    """Of large grids, only the sets of some sizes and sums are listed."""
    shared, every = plain(4, 4), 16 * 17 // 2
    # a cage leaves two cells of the first row, and one leaves four of the fourth
    cages = Cage(tuple(range(14)), every - 6), Cage(tuple(range(48, 60)), every - 10)
    row = Rules(16, shared.places, (), cages=cages)
    other = replace(row, cages=(Cage((0, 1, 2, 3), 10),))  # as large as what is left of the fourth
    alone, beside = (Variants(shared, OwnRules.of(r)).row_rules for r in ([row], [row, other]))
    found = [cage_of(alone, cage) for cage in range(alone.cages[0][1])]
    assert found == [cage_of(beside, cage) for cage in range(beside.cages[0][1])]
    assert ([14, 15], [0b10001, 0b1010]) in found


@given(rules_of_four(), st.lists(st.integers(0, 90), max_size=8))
def test_clashes_of_random_stacks(rules, stack):
    """Options of cages and marks may stand in stacks, and clash as others do."""
    problem = Variant(rules)
    task = Task.of(bs.Stacks.from_lists([stack]))
    one, other = DLX.search(problem, task), LANES.search(problem, task)
    assert one.counts.tolist() == other.counts.tolist()
    assert one.clash.tolist() == [problem.clash_position(stack)]
    if one.clash[0] >= 0 or other.clash[0] >= 0:
        assert one.clash.tolist() == other.clash.tolist()
