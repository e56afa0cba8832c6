"""The promises of every engine, against independent oracles; see also ../test_answers.py.

Some engines walk the tree of dancing links: they are held to `dlx` in everything, and the promises
are checked once for each tree.
"""

import pickle
import re
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from unittest.mock import Mock

import numpy as np
import pytest
from conftest import WHOLE, bounded_problems, coloured_problems, hard_puzzles, problems
from hypothesis import given, strategies as st
from invoking import run_python
from oracles import bounded_covers, covers

from batchsolve import ExactCover, InputError, Stacks, Sudoku, split
from batchsolve.core.interrupts import asking
from batchsolve.engines import MRV_TREE, UNLIMITED, Task, engine_for, engine_names, get_engine
from batchsolve.formats.exact_cover_files import read_dlx
from batchsolve.problems.families import family

SUDOKU_ONLY = [name for name in engine_names() if get_engine(name).sudoku_only]
GENERAL = [name for name in engine_names() if name not in SUDOKU_ONLY]
COLLECTING = [name for name in engine_names() if not get_engine(name).counts_only]
COLOURED = [name for name in engine_names() if get_engine(name).colors]
BOUNDED = [name for name in engine_names() if get_engine(name).bounds]
LARGER_BOXES = [name for name in engine_names() if get_engine(name).least_box > 1]
TREES = [name for name in engine_names() if name == "dlx" or get_engine(name).tree != MRV_TREE]
LIKE_DLX = [name for name in engine_names() if name not in TREES]
SMALL = Sudoku(2, 2)
USUAL = Sudoku(3, 3)

every_engine = pytest.mark.parametrize("engine", engine_names())
every_tree = pytest.mark.parametrize("engine", TREES)
collecting_engines = pytest.mark.parametrize("engine", [e for e in TREES if e in COLLECTING])


def supported(engine):
    """Return a strategy for small problems that an engine can search."""
    tiny = st.sampled_from([Sudoku(*box) for box in ((1, 1), (1, 2), (3, 1))])
    if engine in SUDOKU_ONLY:
        return tiny
    return problems() | coloured_problems() | tiny if engine in COLOURED else problems() | tiny


def clashes(problem, option, chosen):
    """Return True if an option does not exist, or conflicts with the chosen ones."""
    if option >= problem.n_options or option in chosen:
        return True
    mine = problem.coloring(option)
    colorings = map(problem.coloring, chosen)
    both = ((mine[i], color) for other in colorings for i, color in other.items() if i in mine)
    return any(one != other or other == 0 for one, other in both)


def assert_same(outcome, right):
    """Assert that two outcomes are equal in all arrays."""
    for name in ("counts", "nodes", "clash", "weights", "parents"):
        assert getattr(outcome, name).tolist() == getattr(right, name).tolist()
    for name in ("solutions", "frontier"):
        for each in ("offsets", "options", "roots", "all_branches"):
            mine, theirs = (getattr(getattr(which, name), each) for which in (outcome, right))
            assert mine.tolist() == theirs.tolist()


@given(problem=problems(5, 9, 2))
def test_the_oracle_finds_the_covers_of_the_definition(problem):
    assert covers(problem) == bounded_covers(problem)


some = st.integers(1, 12) | st.just(UNLIMITED)
finenesses = st.integers(1, 6) | st.just(UNLIMITED)


@pytest.mark.parametrize("engine", LIKE_DLX)
@given(
    data=st.data(), limit=some, allowance=some, budget=some, room=some, fineness=finenesses,
    depth=st.integers(0, 4) | st.just(UNLIMITED), keep=st.integers(0, 5),
)  # fmt: skip
def test_engines_that_walk_the_tree_of_dancing_links_do_all_as_they(
    engine, data, limit, allowance, budget, room, fineness, depth, keep
):
    problem = data.draw(supported(engine) | st.just(SMALL))
    if engine in BOUNDED and data.draw(st.booleans()):
        problem = data.draw(bounded_problems())
    options = st.integers(0, problem.n_decisions + 1)
    stacks = data.draw(st.lists(st.lists(options, max_size=4), min_size=1, max_size=4))
    if data.draw(st.booleans()):
        stacks = [[*stacks[0], *stack] for stack in stacks]
    roots = sorted(data.draw(st.integers(0, 1)) for _ in stacks)
    branch = st.tuples(st.integers(1, problem.n_items + 1), options, options) | st.just((0, 0, 0))
    branches = [data.draw(branch) for _ in stacks] if data.draw(st.booleans()) else ()
    task = Task.of(
        Stacks.from_lists(stacks, roots, branches), limit, allowance,
        budget=budget, room=room, fineness=fineness, depth=depth, keep=keep,
    )  # fmt: skip
    assert_same(get_engine(engine).search(problem, task), get_engine("dlx").search(problem, task))


@st.composite
def hard_stacks(draw):
    """Draw a hard 9×9 puzzle with some more clues, and perhaps without one of its clues."""
    number = draw(st.integers(0, 99))
    puzzle, solution = (grids[number] for grids in hard_puzzles())
    blank, given = np.flatnonzero(puzzle == 0).tolist(), np.flatnonzero(puzzle).tolist()
    less = draw(st.booleans())
    more = draw(st.permutations(blank))[: draw(st.integers(1, 3)) + 5 * less]
    cells = draw(st.permutations(given))[less:] + more
    return [9 * cell + int(solution[cell]) - 1 for cell in cells]


@st.composite
def usual_stacks(draw):
    """Draw a solved 9×9 grid with 45 to 60 cells kept, or a few fewer and a guess."""
    cells = draw(st.permutations(range(81)))[: draw(st.integers(45, 60))]
    stack = [9 * cell + (3 * (cell // 9) + cell // 27 + cell) % 9 for cell in cells]
    guess = draw(st.integers(0, USUAL.n_options - 1))
    items = set(map(int, USUAL.option(guess)))
    if draw(st.booleans()):
        stack = [o for o in stack if items.isdisjoint(map(int, USUAL.option(o)))] + [guess]
    return stack


@st.composite
def starts(draw, engine):
    """Draw a small problem without bounds for an engine, and one partial cover as its stacks."""
    if engine in LARGER_BOXES and draw(st.booleans()):
        return USUAL, Stacks.from_lists([draw(hard_stacks() | usual_stacks())])
    problem = SMALL if engine in LARGER_BOXES else draw(supported(engine) | st.just(SMALL))
    stack, covered = [], set()
    if problem.colors is not None:
        for o in draw(st.lists(st.integers(0, problem.n_options - 1), max_size=3)):
            stack += [] if clashes(problem, o, stack) else [o]
    if isinstance(problem, Sudoku):
        # With five clues, about ten of the 288 grids of 4×4 are left.
        least = 5 if problem is SMALL else 0
        options = st.integers(0, problem.n_options - 1)
        for o in draw(st.lists(options, unique=True, min_size=least, max_size=8)):
            items = set(map(int, problem.option(o)))
            if not items & covered:
                stack.append(o)
                covered |= items
    return problem, Stacks.from_lists([stack])


def keep_all(engine):
    """Return the number of covers to ask of an engine: all, or 0 if it returns none."""
    return 0 if get_engine(engine).counts_only else UNLIMITED


def run_out(
    engine, problem, stacks, budgets=(UNLIMITED,), depths=(UNLIMITED,), limit=UNLIMITED,
    allowance=UNLIMITED, n_pieces=1, **how,
):  # fmt: skip
    """Search from frontier to frontier until no stack is left; return what each root has.

    Budgets and depths take turns. The stacks of a round are searched in some pieces.
    """
    counts, nodes, found, rounds = Counter(), Counter(), [], 0
    while len(stacks):
        left = []
        for begin, end in pairwise(np.linspace(0, len(stacks), n_pieces + 1).astype(int)):
            part = stacks.between(begin, end)
            cut = {"budget": budgets[rounds % len(budgets)], "depth": depths[rounds % len(depths)]}
            task = Task.of(part, limit, allowance, keep=keep_all(engine), **cut, **how)
            if limit < UNLIMITED:
                task.limits[:] = [limit - counts[root] for root in part.roots.tolist()]
            outcome = get_engine(engine).search(problem, task)
            check_bounds(task, outcome)
            for k, root in enumerate(part.roots.tolist()):
                counts[root] += int(outcome.counts[k])
                nodes[root] += int(outcome.nodes[k])
            roots = outcome.solutions.roots.tolist()
            found += zip(roots, map(tuple, outcome.solutions), strict=True)
            left.append(outcome.frontier)
            rounds += 1
        stacks = Stacks.concatenate(left)
        stacks = stacks.take(np.argsort(stacks.roots, kind="stable"))
        assert rounds < 100_000
    return counts, nodes, found


def check_bounds(task, outcome):
    """Assert that a search kept to the bounds of its task, and left its stacks in tree order."""
    roots, frontier = task.stacks.roots, outcome.frontier
    assert outcome.nodes.sum() <= task.budget
    assert outcome.counts.sum() <= task.room
    for root in set(roots.tolist()):
        mine, left = np.flatnonzero(roots == root), np.flatnonzero(frontier.roots == root)
        assert outcome.nodes[mine].sum() <= task.allowances[mine[0]]
        assert outcome.counts[mine].sum() <= task.limits[mine[0]]
        paths = [frontier.first_path(k) for k in left.tolist()]
        assert paths == sorted(paths)
        if outcome.counts[mine].sum() == task.limits[mine[0]]:
            assert not paths
        assert outcome.weights[left].sum() < len(mine) + 1e-9
    assert len(outcome.weights) == len(frontier)
    assert np.all(outcome.weights > 0)


@every_tree
@given(
    data=st.data(),
    budgets=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    allowance=st.integers(1, 30),
    depths=st.lists(st.sampled_from([0, 1, 2, UNLIMITED]), min_size=1, max_size=3),
    room=st.integers(1, 4),
    fineness=finenesses,
)
def test_finds_the_covers_however_cut(engine, data, budgets, allowance, depths, room, fineness):
    problem, start = data.draw(starts(engine))
    expected = covers(problem, tuple(start[0].tolist()))
    if engine in BOUNDED and data.draw(st.booleans()):
        problem, start = data.draw(bounded_problems()), WHOLE
        expected = bounded_covers(problem)
    counts, nodes, straight = run_out(engine, problem, start)
    room = room if engine in COLLECTING else UNLIMITED
    cut = {"allowance": allowance, "fineness": fineness, "room": room}
    pieces = run_out(engine, problem, start, budgets, [*depths, UNLIMITED], **cut)
    assert counts[0] == pieces[0][0] == len(expected)
    first = get_engine(engine).search(problem, Task.of(start, allowance=allowance))
    assert first.nodes[0] == allowance or not len(first.frontier)
    if get_engine(engine).reproducible_nodes:
        assert pieces[1] == nodes
        assert first.nodes[0] == min(allowance, nodes[0])
    if engine in COLLECTING:
        found = [cover for _, cover in straight]
        assert set(map(frozenset, found)) == expected
        assert len(found) == len(expected)
        assert sorted(sorted(cover) for _, cover in pieces[2]) == sorted(map(sorted, found))
    if problem.bounds is None:
        assert straight == sorted(straight) == sorted(pieces[2])  # in lexicographic order


@every_tree
@given(
    data=st.data(),
    roots=st.lists(st.integers(5, 7), max_size=6),
    budget=st.integers(0, 60),
    allowance=st.integers(0, 20),
    depth=st.sampled_from([0, 1, 2, UNLIMITED]),
)
def test_the_frontier_says_of_which_stacks_it_is(engine, data, roots, budget, allowance, depth):
    problem, start = data.draw(starts(engine))
    split = get_engine(engine).search(problem, Task.of(start, depth=1)).frontier
    several = Stacks.concatenate([start, split])
    places = data.draw(st.lists(st.integers(0, len(several) - 1), min_size=6, max_size=6))
    stacks = several.take(places[: len(roots)]).with_roots(roots)
    task = Task.of(stacks, allowance=allowance, budget=budget, depth=depth)
    outcome = get_engine(engine).search(problem, task)
    left, parents = outcome.frontier, outcome.parents
    assert (parents.dtype, parents.shape) == (np.int64, (len(left),))
    assert left.roots.tolist() == stacks.roots[parents].tolist()
    for stack, parent in zip(left, parents, strict=True):
        above = stacks[parent].tolist()
        assert stack[: len(above)].tolist() == above
    for k in np.flatnonzero((outcome.nodes == 0) & (outcome.clash < 0)):
        mine = np.flatnonzero(parents == k)
        assert [left[x].tolist() for x in mine] == [stacks[k].tolist()]
        assert outcome.weights[mine].tolist() == [1.0]


@every_engine
def test_a_task_of_no_stacks(engine):
    outcome = get_engine(engine).search(SMALL, Task.of(Stacks.empty(), keep=keep_all(engine)))
    sizes = [len(part) for part in vars(outcome).values() if part is not None]
    assert sizes == [0] * len(sizes)


@pytest.mark.parametrize("engine", [name for name in TREES if name not in LARGER_BOXES])
@given(data=st.data())
def test_stacks_are_partial_covers(engine, data):
    problem = data.draw(supported(engine))
    option = st.integers(0, problem.n_options)  # one past the end: an option that does not exist
    stacks = data.draw(st.lists(st.lists(option, max_size=3), max_size=5))
    task = Task.of(Stacks.from_lists(stacks), keep=keep_all(engine))
    outcome = get_engine(engine).search(problem, task)
    for k, stack in enumerate(stacks):
        clash = next((p for p, o in enumerate(stack) if clashes(problem, o, stack[:p])), -1)
        assert outcome.clash[k] == clash
        expected = covers(problem, tuple(stack)) if clash < 0 else set()
        assert outcome.counts[k] == len(expected)
        if engine in COLLECTING:
            mine = outcome.solutions.take(outcome.solutions.roots == k)
            assert {frozenset(map(int, cover)) for cover in mine} == expected


@collecting_engines
@given(data=st.data(), limit=st.integers(1, 4), keep=st.integers(0, 3))
def test_limits_stop_each_root_and_keep_the_first_covers(engine, data, limit, keep):
    """Adjacent stacks of one root share its limit."""
    problem, start = data.draw(starts(engine))
    _, _, everything = run_out(engine, problem, start)
    task = Task.of(start.take([0, 0, 0, 0]).with_roots([0, 1, 2, 2]), limit=limit, keep=keep)
    outcome = get_engine(engine).search(problem, task)
    n, wanted = len(everything), min(limit, len(everything))
    assert outcome.counts.tolist() == [*[wanted] * 3, min(limit - wanted, n)]
    assert len(outcome.frontier) == 0
    covers, most = [cover for _, cover in everything], min(limit, keep)
    assert [tuple(c) for c in outcome.solutions] == covers[:most] * 2 + (covers * 2)[:most]


@collecting_engines
@given(data=st.data())
def test_only_the_order_of_options_may_differ_where_it_is_left_open(engine, data):
    problem, start = data.draw(starts(engine))
    task = Task.of(start, keep=UNLIMITED)
    ordered = get_engine(engine).search(problem, task)
    free = get_engine(engine).search(problem, replace(task, unordered=True))
    assert list(map(sorted, free.solutions)) == list(map(sorted, ordered.solutions))
    assert free.counts.tolist() == ordered.counts.tolist()
    assert free.nodes.tolist() == ordered.nodes.tolist()


@every_engine
def test_threads_may_share_an_engine(engine):
    shared = pickle.loads(pickle.dumps(get_engine(engine)))
    with ThreadPoolExecutor(4) as threads:
        tasks = [Task.of(WHOLE)] * 4
        outcomes = list(threads.map(lambda task: shared.search(SMALL, task), tasks))
    assert [outcome.counts.tolist() for outcome in outcomes] == [[288]] * 4


COLOURS = ExactCover([0, 1, 2], [0, 0], 1, 0, colors=[1, 1])
BOUNDS = ExactCover([0, 1], [0], 1, bounds=[[0, 1]])
SHAPES = r"up to 32 digits, with boxes of 2 rows and columns or more, not Sudoku"
REFUSED = [
    *((name, BOUNDS, "solves grids of digits only, not ExactCover") for name in SUDOKU_ONLY),
    *((name, COLOURS, "takes no colours.*: dlx") for name in GENERAL if name not in COLOURED),
    *((name, BOUNDS, "no bounds of items.* do: dlx") for name in GENERAL if name not in BOUNDED),
    *((name, Sudoku(*box), SHAPES) for name in LARGER_BOXES for box in ((1, 9), (9, 1), (6, 6))),
]


@pytest.mark.parametrize(("engine", "problem", "message"), REFUSED)
def test_engines_refuse_what_they_cannot_search(engine, problem, message):
    with pytest.raises(InputError, match=message):
        split(problem, engine=engine)


@pytest.mark.parametrize("engine", [e for e in engine_names() if get_engine(e).module])
def test_an_engine_without_its_module_says_how_to_install_it(engine, monkeypatch):
    kernel = get_engine(engine)
    monkeypatch.setitem(sys.modules, kernel.module.partition(".")[0], None)
    assert engine in engine_names()
    with pytest.raises(InputError, match=rf"pip install 'batchsolve\[{engine}\]'"):
        kernel.search(SMALL, Task.of(WHOLE))


@pytest.mark.parametrize(
    ("load", "modules"),
    [("get_engine('memo')", {"memo", "native"}), ("engine_for('auto', Sudoku(3, 3))", set())],
)
def test_loading_an_engine_imports_no_other(load, modules):
    imports = "import sys; from batchsolve import Sudoku; from batchsolve.engines import "
    code = f"{imports} engine_for, get_engine; {load}; print(*sys.modules)"
    run = run_python("-c", code, check=True)
    assert {*re.findall(r"batchsolve\.engines\.(\w+)", run.stdout)} == modules


FASTEST = [
    ("lanes", "sudoku:2x2 sudoku:3x3 sudoku:4x4 sudoku:4x8"),
    ("cells", "sudoku:1x1 sudoku:1x9 sudoku:6x6 latin:6 latin:9"),
    ("bits", "pentominoes:6x10 queens:12 langford:12 steiner:15 partitions:10"),
    ("dlx", "edgecovers:6 latin:12 dominoes:10x10 matchings:10"),
]


@pytest.mark.parametrize(("engine", "names"), FASTEST)
def test_auto_chooses_the_engine_that_was_the_fastest_on_each_family(engine, names):
    assert {engine_for("auto", family(name)).name for name in names.split()} == {engine}


@pytest.mark.parametrize(("color", "engine"), [("", "dlx"), (":1", "bits")])
def test_auto_chooses_dancing_links_for_long_lists_without_colours(color, engine):
    keyed = [f"k{n % 7}{color} k{(n + 1) % 7}{color}" for n in range(600)]
    lines = [f"{item} {each}" for item in "abc" for each in keyed]
    keys = " ".join(f"k{n}" for n in range(7))
    assert engine_for("auto", read_dlx("\n".join([f"a b c | {keys}", *lines]))).name == engine


def test_auto_chooses_bits_for_options_at_random():
    rng = np.random.default_rng(1)
    options = [rng.choice(300, 3, replace=False).tolist() for _ in range(1200)]
    assert engine_for("auto", ExactCover.from_options(options)).name == "bits"


@pytest.mark.parametrize("engine", ["algorithm-x", "dancing-links", "sat"])
def test_engines_in_python_end_where_they_look_for_interrupts(engine):
    """A call of the native core ends within its budget of nodes, which takes them minutes."""
    check = Mock(side_effect=[*[None] * 4, KeyboardInterrupt])
    with pytest.raises(KeyboardInterrupt), asking(check):
        get_engine(engine).search(family("queens:8"), Task.of(WHOLE))
    assert check.call_count == 5
