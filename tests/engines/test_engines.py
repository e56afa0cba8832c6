import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from conftest import coloured_problems, hard_puzzles, problems
from fuzzing.grids import solutions
from hypothesis import given, strategies as st
from oracles import covers

from batchsolve import ExactCover, InputError, Stacks, Sudoku
from batchsolve.engines import UNLIMITED, Task, check_support, engine_names, get_engine, registered
from batchsolve.engines.choice import engine_for
from batchsolve.formats.exact_cover_files import read_dlx
from batchsolve.problems.families import family

WHOLE = Stacks.from_lists([[]])
SUDOKU_ONLY = [name for name in engine_names() if get_engine(name).capabilities.sudoku_only]
GENERAL = [name for name in engine_names() if name not in SUDOKU_ONLY]
COLLECTING = [name for name in engine_names() if not get_engine(name).capabilities.counts_only]
COLOURED = [name for name in engine_names() if get_engine(name).capabilities.colors]
LARGER_BOXES = [name for name in engine_names() if get_engine(name).capabilities.least_box > 1]
TINY = [Sudoku(*box) for box in ((1, 1), (1, 2), (3, 1))]
SMALL = Sudoku(2, 2)
USUAL = Sudoku(3, 3)

every_engine = pytest.mark.parametrize("engine", engine_names())
collecting_engines = pytest.mark.parametrize("engine", COLLECTING)
engines_for_tiny_boxes = pytest.mark.parametrize(
    "engine", [name for name in engine_names() if name not in LARGER_BOXES]
)
general_engines = pytest.mark.parametrize("engine", GENERAL)


def supported(engine):
    """Return a strategy for small problems that an engine can search."""
    tiny = st.sampled_from(TINY)
    if engine in SUDOKU_ONLY:
        return tiny
    return problems() | coloured_problems() | tiny if engine in COLOURED else problems() | tiny


def clashes(problem, option, chosen):
    """Return True if an option does not exist, or conflicts with the chosen ones."""
    if option >= problem.n_options or option in chosen:
        return True
    mine = problem.coloring(option)
    return any(
        mine[i] != color or color == 0
        for other in chosen
        for i, color in problem.coloring(other).items()
        if i in mine
    )


def assert_same(outcome, right):
    """Assert that two outcomes are equal in all arrays."""
    for name in ("counts", "nodes", "clash", "weights", "parents"):
        assert getattr(outcome, name).tolist() == getattr(right, name).tolist()
    for name in ("solutions", "frontier"):
        for each in ("offsets", "options", "roots"):
            mine, theirs = (getattr(getattr(which, name), each) for which in (outcome, right))
            assert mine.tolist() == theirs.tolist()


some = st.integers(1, 12) | st.just(UNLIMITED)


@pytest.mark.parametrize("engine", ["algorithm-x", "dancing-links"])
@given(data=st.data(), limit=some, allowance=some, budget=some, depth=some)
def test_the_texts_in_python_walk_the_tree_of_the_core(
    engine, data, limit, allowance, budget, depth
):
    has_colors = get_engine(engine).capabilities.colors
    problem = data.draw(problems() | coloured_problems() if has_colors else problems())
    options = range(min(3, problem.n_options + 1))
    stacks = Stacks.from_lists([[], *([o, o + 1] for o in options)])
    task = Task.of(stacks, limit, allowance, budget=budget, depth=depth, keep=2)
    assert_same(get_engine(engine).search(problem, task), get_engine("dlx").search(problem, task))


@st.composite
def hard_stacks(draw):
    """Draw a hard 9×9 puzzle with some more clues, and perhaps without one of its own."""
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
    """Draw a small problem that an engine can search, and one partial cover as its stacks."""
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
    return UNLIMITED if engine in COLLECTING else 0


def run_out(engine, problem, stacks, budgets=(UNLIMITED,), depths=(UNLIMITED,), room=UNLIMITED):
    """Search from frontier to frontier, with budgets and depths in turn, until no stack is left."""
    counts, nodes, found, rounds = {}, {}, [], 0
    while len(stacks):
        outcome = get_engine(engine).search(
            problem,
            Task.of(
                stacks,
                budget=budgets[rounds % len(budgets)],
                depth=depths[rounds % len(depths)],
                keep=keep_all(engine),
                room=room,
            ),
        )
        for root, count, visited in zip(stacks.roots, outcome.counts, outcome.nodes, strict=True):
            counts[int(root)] = counts.get(int(root), 0) + int(count)
            nodes[int(root)] = nodes.get(int(root), 0) + int(visited)
        roots = outcome.solutions.roots.tolist()
        found += list(zip(roots, map(tuple, outcome.solutions), strict=True))
        stacks, rounds = outcome.frontier, rounds + 1
        assert rounds < 100_000
    return counts, nodes, found


@collecting_engines
@given(data=st.data())
def test_finds_exactly_the_covers_of_the_oracle(engine, data):
    problem, start = data.draw(starts(engine))
    counts, _, found = run_out(engine, problem, start)
    solutions = [frozenset(map(int, cover)) for _, cover in found]
    assert set(solutions) == covers(problem, tuple(start[0].tolist()))
    assert len(solutions) == len(set(solutions)) == counts[0]
    assert found == sorted(found)  # in lexicographic order


@collecting_engines
@given(
    data=st.data(),
    budgets=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    depths=st.lists(st.sampled_from([0, 1, 2, UNLIMITED]), min_size=1, max_size=3),
    room=st.integers(1, 4),
)
def test_any_budgets_depths_and_room_give_the_same(engine, data, budgets, depths, room):
    problem, start = data.draw(starts(engine))
    straight = run_out(engine, problem, start)
    pieces = run_out(engine, problem, start, budgets, [*depths, UNLIMITED], room)
    assert pieces[0] == straight[0]
    assert pieces[1] == straight[1]
    assert sorted(pieces[2]) == sorted(straight[2])


@pytest.mark.parametrize("engine", sorted(set(engine_names()) - set(COLLECTING)))
@given(
    data=st.data(),
    budgets=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    depths=st.lists(st.sampled_from([0, 1, 2, UNLIMITED]), min_size=1, max_size=3),
)
def test_any_budgets_and_depths_give_the_count_of_the_oracle(engine, data, budgets, depths):
    problem, start = data.draw(starts(engine))
    counts, nodes, _ = run_out(engine, problem, start, budgets, [*depths, UNLIMITED])
    assert counts[0] == len(covers(problem, tuple(start[0].tolist())))
    assert nodes[0] > 0


@every_engine
@given(
    data=st.data(),
    budget=st.integers(0, 20),
    depth=st.sampled_from([0, 1, 2, UNLIMITED]),
    room=st.integers(1, 4),
)
def test_the_frontier_is_in_tree_order_and_weighted(engine, data, budget, depth, room):
    problem, start = data.draw(starts(engine))
    room = room if engine in COLLECTING else UNLIMITED
    task = Task.of(start, budget=budget, depth=depth, keep=keep_all(engine), room=room)
    outcome = get_engine(engine).search(problem, task)
    frontier = [stack.tolist() for stack in outcome.frontier]
    assert frontier == sorted(frontier)
    assert outcome.nodes[0] <= budget
    assert outcome.counts[0] <= room
    assert len(outcome.weights) == len(frontier)
    assert np.all(outcome.weights > 0)
    assert outcome.weights.sum() < 1 + 1e-9
    if outcome.nodes[0] == 0:
        assert (frontier, outcome.weights.tolist()) == ([start[0].tolist()], [1.0])


@every_engine
@given(
    data=st.data(),
    roots=st.lists(st.integers(5, 7), max_size=6),
    budget=st.integers(0, 60),
    allowance=st.integers(0, 20),
    depth=st.sampled_from([0, 1, 2, UNLIMITED]),
)
def test_the_frontier_says_which_stacks_it_descends_from(
    engine, data, roots, budget, allowance, depth
):
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


@every_engine
def test_a_task_of_no_stacks(engine):
    outcome = get_engine(engine).search(SMALL, Task.of(Stacks.empty(), keep=keep_all(engine)))
    sizes = [len(part) for part in vars(outcome).values() if part is not None]
    assert sizes == [0] * len(sizes)


@engines_for_tiny_boxes
@given(data=st.data())
def test_stacks_are_partial_covers(engine, data):
    problem = data.draw(supported(engine))
    option = st.integers(0, problem.n_options)  # one past the end: an option that does not exist
    stacks = data.draw(st.lists(st.lists(option, max_size=3), max_size=5))
    outcome = get_engine(engine).search(
        problem, Task.of(Stacks.from_lists(stacks), keep=keep_all(engine))
    )
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
    problem, start = data.draw(starts(engine))
    _, _, everything = run_out(engine, problem, start)
    task = Task.of(start.take([0, 0, 0]).with_roots([0, 1, 2]), limit=limit, keep=keep)
    outcome = get_engine(engine).search(problem, task)
    wanted = min(limit, len(everything))
    assert outcome.counts.tolist() == [wanted] * 3
    assert len(outcome.frontier) == 0
    first = [cover for _, cover in everything[: min(wanted, keep)]]
    assert [tuple(cover) for cover in outcome.solutions] == first * 3


@collecting_engines
@given(data=st.data(), depth=st.integers(0, 3))
def test_adjacent_stacks_of_one_root_share_their_limit(engine, data, depth):
    problem, start = data.draw(starts(engine))
    kernel = get_engine(engine)
    split = kernel.search(problem, Task.of(start, depth=depth, keep=UNLIMITED))
    outcome = kernel.search(problem, Task.of(split.frontier, limit=1, keep=5))
    total = run_out(engine, problem, split.frontier)[0].get(0, 0)
    assert outcome.counts.sum() == len(outcome.solutions) == min(1, total)


@every_engine
@given(data=st.data(), allowance=st.integers(1, 30))
def test_an_allowance_is_never_exceeded_and_nothing_is_lost(engine, data, allowance):
    problem, start = data.draw(starts(engine))
    counts, nodes, _ = run_out(engine, problem, start)
    outcome = get_engine(engine).search(problem, Task.of(start, allowance=allowance))
    assert outcome.nodes[0] <= allowance
    assert outcome.nodes[0] == allowance or not len(outcome.frontier)
    rest = run_out(engine, problem, outcome.frontier)
    assert outcome.counts[0] + rest[0].get(0, 0) == counts[0]
    if get_engine(engine).capabilities.reproducible_nodes:
        assert outcome.nodes[0] == min(allowance, nodes[0])
        assert outcome.nodes[0] + rest[1].get(0, 0) == nodes[0]


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


@collecting_engines
@given(clues=st.lists(st.tuples(st.integers(0, 15), st.integers(1, 4)), max_size=6))
def test_sudoku_grids_agree_with_cell_by_cell_search(engine, clues):
    grid = np.zeros(16, np.uint8)
    for cell, digit in clues:
        grid[cell] = digit
    task = Task.of(SMALL.stacks(grid[None]), keep=UNLIMITED)
    outcome = get_engine(engine).search(SMALL, task)
    found = SMALL.grids(outcome.solutions).tolist()
    assert sorted(found) == sorted(solutions(grid.tolist()))
    if outcome.clash[0] >= 0:
        stack = SMALL.stack(grid).tolist()
        assert "twice in a" in SMALL.explain_clash(stack, int(outcome.clash[0]))


@collecting_engines
def test_a_puzzle_has_its_one_solution(engine, one_puzzle):
    problem = Sudoku(3, 3)
    puzzle, solution = one_puzzle
    task = Task.of(problem.stacks(problem.parse(puzzle)[None]), keep=2)
    outcome = get_engine(engine).search(problem, task)
    grids = [problem.format(grid) for grid in problem.grids(outcome.solutions)]
    assert grids == [solution]


@engines_for_tiny_boxes
@pytest.mark.parametrize(
    ("box", "clues", "expected"),
    [((2, 2), [], 288), ((1, 5), [1, 2, 3, 4, 5], 161_280 // 120)],
    ids=["4×4", "Latin squares of order 5, first row in order"],
)
def test_published_counts(engine, box, clues, expected):
    problem = Sudoku(*box)
    grid = np.zeros(problem.n_cells, np.uint8)
    grid[: len(clues)] = clues
    outcome = get_engine(engine).search(problem, Task.of(problem.stacks(grid[None])))
    assert outcome.counts.tolist() == [expected]


def test_dancing_links_count_all_latin_squares_of_order_5():
    outcome = get_engine("dlx").search(Sudoku(1, 5), Task.of(WHOLE))
    assert outcome.counts.tolist() == [161_280]


@general_engines
def test_a_problem_without_primary_items_has_one_cover(engine):
    problem = ExactCover([0, 1], [0], 1, n_primary=0)
    outcome = get_engine(engine).search(problem, Task.of(WHOLE, keep=min(1, keep_all(engine))))
    assert outcome.counts.tolist() == [1]
    if engine in COLLECTING:
        assert [cover.tolist() for cover in outcome.solutions] == [[]]


@general_engines
def test_a_problem_without_options_has_none(engine):
    problem = ExactCover([0], [], 2)
    outcome = get_engine(engine).search(problem, Task.of(WHOLE))
    assert outcome.counts.tolist() == [0]
    assert outcome.nodes.tolist() == [1]


@every_engine
def test_threads_may_share_an_engine(engine):
    shared = pickle.loads(pickle.dumps(get_engine(engine)))
    with ThreadPoolExecutor(4) as threads:
        tasks = [Task.of(WHOLE)] * 8
        outcomes = list(threads.map(lambda task: shared.search(SMALL, task), tasks))
    assert [outcome.counts.tolist() for outcome in outcomes] == [[288]] * 8


@general_engines
def test_engines_for_any_problem_support_any_problem(engine):
    check_support(get_engine(engine), ExactCover([0, 1], [0], 2, n_primary=1))


@pytest.mark.parametrize("engine", SUDOKU_ONLY)
def test_engines_for_sudoku_refuse_other_problems(engine):
    kernel, problem = get_engine(engine), ExactCover([0, 1], [0], 1)
    check_support(kernel, SMALL)
    for ask in (check_support, lambda kernel, problem: kernel.search(problem, Task.of(WHOLE))):
        with pytest.raises(InputError, match="solves grids of digits only, not ExactCover"):
            ask(kernel, problem)


@pytest.mark.parametrize("engine", LARGER_BOXES)
@pytest.mark.parametrize("box", [(1, 9), (9, 1), (6, 6)])
def test_engines_for_some_shapes_refuse_other_grids(engine, box):
    message = r"boxes of 2 rows and columns or more, up to 32×32, not Sudoku"
    with pytest.raises(InputError, match=message):
        get_engine(engine).search(Sudoku(*box), Task.of(WHOLE))


@pytest.mark.parametrize("engine", [e for e in engine_names() if get_engine(e).capabilities.module])
def test_an_engine_without_its_module_says_how_to_install_it(engine, monkeypatch):
    kernel = get_engine(engine)
    monkeypatch.setitem(sys.modules, kernel.capabilities.module, None)
    assert engine in engine_names()
    with pytest.raises(InputError, match=rf"pip install 'batchsolve\[{engine}\]'"):
        kernel.search(SMALL, Task.of(WHOLE))


@pytest.mark.parametrize(
    ("load", "engines"),
    [
        ("get_engine('memo')", ["dlx", "bits", "cells", "memo"]),  # they share the native core
        ("choice.engine_for('auto', Sudoku(3, 3))", []),
    ],
)
def test_loading_an_engine_imports_no_other(load, engines):
    imports = "import sys; from batchsolve import Sudoku; from batchsolve.engines import "
    code = f"{imports} choice, get_engine; {load}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [n for n in engine_names() if registered(n).module in run.stdout.split()]
    assert loaded == engines


@pytest.mark.parametrize(
    ("box", "name"),
    [
        ((1, 1), "cells"),
        ((2, 2), "lanes"),
        ((3, 3), "lanes"),
        ((1, 9), "cells"),
        ((4, 4), "lanes"),
        ((4, 8), "lanes"),
        ((6, 6), "cells"),
    ],
)
def test_grids_are_searched_in_lanes_or_else_in_cells(box, name):
    assert engine_for("auto", Sudoku(*box)).name == name


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("pentominoes:6x10", "bits"),
        ("queens:12", "bits"),
        ("langford:12", "bits"),
        ("steiner:15", "bits"),
        ("partitions:10", "bits"),
        ("edgecovers:6", "dlx"),
        ("latin:6", "cells"),
        ("latin:9", "cells"),
        ("latin:12", "dlx"),
        ("dominoes:10x10", "dlx"),
        ("matchings:10", "dlx"),
    ],
)
def test_auto_chooses_the_engine_that_was_the_fastest_on_each_family(name, engine):
    assert engine_for("auto", family(name)).name == engine


@pytest.mark.parametrize(("color", "engine"), [("", "dlx"), (":1", "bits")])
def test_auto_chooses_dancing_links_for_long_lists_without_colours(color, engine):
    keyed = [f"k{n % 7}{color} k{(n + 1) % 7}{color}" for n in range(600)]
    lines = [f"{item} {each}" for item in "abc" for each in keyed]
    keys = " ".join(f"k{n}" for n in range(7))
    problem = read_dlx("\n".join([f"a b c | {keys}", *lines]))
    assert engine_for("auto", problem).name == engine


def test_auto_chooses_bits_for_options_at_random():
    rng = np.random.default_rng(1)
    options = [rng.choice(300, 3, replace=False).tolist() for _ in range(1200)]
    assert engine_for("auto", ExactCover.from_options(options)).name == "bits"


@every_engine
def test_an_unknown_engine_is_refused(engine):
    with pytest.raises(InputError, match=f"unknown engine 'x{engine}'; choose from auto, dlx"):
        get_engine(f"x{engine}")
